"""Finds which items may name a file or a commit, and which files they are, without loading all of them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memosite.agents.sessions import span_of
from memosite.archive.model import Archive, Artifact, Document, Memo, Record, Transcript
from memosite.facts.marks import make_row, marks_of
from memosite.facts.parsed import Ref, Text

Item = tuple[str, Sequence[str], Any]
"""The name of an artifact, the digests of its texts, and: the row of its subject, its files, its times."""

_SECOND: Final = 1.0
"""Times are kept as seconds, which are not exact."""


def list_items(archive: Archive) -> list[Item]:
    """What an index keeps of each artifact that can name something, in the order of the archive."""
    return [_item(one) for one in archive.artifacts.values() if not one.withheld]


def _item(artifact: Artifact) -> Item:
    span = span_of(artifact) if isinstance(artifact, Transcript) else None
    files = [(copy.file.source, copy.file.path) for copy in artifact.copies]
    times = [one.timestamp() for one in span] if span else None
    digests = [text.sha256 for text in bodies_of(artifact)]
    return "/".join(artifact.ref), digests, (make_row(artifact.subject), files, times)


def bodies_of(artifact: Artifact) -> list[Text]:
    """The texts of an artifact that can name something."""
    match artifact:
        case Memo(broken=False):
            variant = artifact.variants[0]
            known = (variant.envelope.body, variant.text)
            return list({text.sha256: text for text in known if text}.values())
        case Transcript(broken=False):
            text = artifact.variants[0].text
            return [text] if text else []
        case Document():
            return [artifact.head.text] if artifact.head.text else []
        case Record():
            return [artifact.card.text] if artifact.card.text else []
    return []


class Mentions:
    """The index of an archive: its items, and the rows of their texts by digest."""

    def __init__(self, items: Sequence[Item], rows: Mapping[str, bytes]) -> None:
        """Take them as `list_items` has them."""
        self._items = {_ref(name): more for name, _, more in items}
        self._rows = {_ref(name): b"".join((more[0], *(rows[one] for one in some))) for name, some, more in items}

    def __contains__(self, ref: Ref) -> bool:
        """Whether an artifact can name something, and is no transcript."""
        return ref in self._items and not _is_transcript(ref)

    def named(self, name: str) -> set[Ref]:
        """The artifact of this name, if it can name something and is no transcript."""
        return {ref for ref in (_ref(name),) if ref in self}

    def naming(self, written: str) -> Iterator[Ref]:
        """The artifacts, but transcripts, that may name this; of others it is certain that they do not."""
        marks = marks_of(written)
        return (ref for ref in self._items if not _is_transcript(ref) and self._has(ref, marks))

    def at(self, ending: str) -> set[Ref]:
        """The artifacts, but transcripts, one of whose files is at a path that ends in this, after a `/`."""
        return {
            ref
            for ref, (_, files, _) in self._items.items()
            if not _is_transcript(ref) and any(f"/{source}/{path}".endswith(f"/{ending}") for source, path in files)
        }

    def sessions(self, moments: Sequence[datetime], written: str) -> Iterator[Ref]:
        """The transcripts within whose times one of these moments may be, or that may name this."""
        marks = marks_of(written)
        for ref, (_, _, times) in self._items.items():
            if _is_transcript(ref) and (_may_hold(times, moments) or self._has(ref, marks)):
                yield ref

    def _has(self, ref: Ref, marks: set[bytes]) -> bool:
        row = self._rows[ref]
        return all(mark in row for mark in marks)


def _may_hold(times: Sequence[float] | None, moments: Sequence[datetime]) -> bool:
    if times is None:
        return False
    begin, end = times
    return any(begin - _SECOND <= one.timestamp() <= end + _SECOND for one in moments)


def _ref(name: str) -> Ref:
    kind, _, id_ = name.partition("/")
    return kind, id_  # type: ignore[return-value]


def _is_transcript(ref: Ref) -> bool:
    return ref[0] == "transcript"
