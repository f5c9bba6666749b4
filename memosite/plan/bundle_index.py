"""Divides the twins and originals of a lean site into bundles: by month, and by size within a month (SPEC 4)."""

from collections.abc import Iterable

from memosite.archive.lines import SHARED_BYTES
from memosite.archive.model import Artifact, Record
from memosite.archive.urls import month_of
from memosite.facts.parsed import Ref

BUNDLE_BYTES = 1_000_000
"""The most bytes of sources that a bundle is made of, unless one artifact alone has more."""

_ENTRY_BYTES = 1_500  # what a twin says besides the text: limits how many artifacts are in a bundle


def find_bundles(artifacts: Iterable[Artifact]) -> dict[Ref, str]:
    """The bundle of each artifact, such as `2026/05/1`, given them in order of arrival.

    Sizes are those of the sources, so that what is said elsewhere of an artifact moves nothing; a new artifact only
    makes the last bundle of its month longer, or begins one.
    """
    found: dict[Ref, str] = {}
    last: dict[str, tuple[int, int]] = {}
    for artifact in artifacts:
        month, size = month_of(artifact), _size(artifact)
        number, filled = last.get(month, (1, 0))
        if filled and filled + size > BUNDLE_BYTES:
            number, filled = number + 1, 0
        last[month] = number, filled + size
        found[artifact.ref] = f"{month}/{number}"
    return found


def _size(artifact: Artifact) -> int:
    """Roughly how many bytes an artifact adds to each file of a bundle."""
    files = sum(copy.file.bytes for copy in artifact.copies)
    if isinstance(artifact, Record) and artifact.card.line is not None:
        files = min(files, SHARED_BYTES)
    return _ENTRY_BYTES + files + artifact.chars * len(artifact.copies)
