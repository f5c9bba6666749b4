"""Finds the transcripts that are captures of one session: only those that name the same UUID (SPEC 4)."""

from collections import defaultdict
from collections.abc import Iterable

from memosite.archive.model import Artifact, Transcript
from memosite.archive.sessions import sessions_of
from memosite.facts.parsed import Ref

_MOST = 50  # captures of one session


def find_captures(artifacts: Iterable[Artifact]) -> dict[Ref, tuple[Ref, ...]]:
    """For each transcript that has any, the other captures of its session, in order of arrival."""
    by_session: dict[str, list[Ref]] = defaultdict(list)
    for artifact in artifacts:
        if isinstance(artifact, Transcript):
            for uuid in sessions_of(artifact):
                by_session[uuid].append(artifact.ref)
    found: dict[Ref, dict[Ref, None]] = defaultdict(dict)
    for refs in by_session.values():
        for ref in refs[:_MOST]:
            found[ref] |= {other: None for other in refs[:_MOST] if other != ref}
    return {ref: tuple(others) for ref, others in found.items()}
