"""Finds what is before and after an artifact in the list that a reader pages through, in order of arrival.

Memos to a position (the first recipient), or to everybody; notes and transcripts of a position; documents of a source.
An artifact that arrives changes only the page of the one before it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from memosite.archive.model import Artifact, Document, Memo, Transcript
from memosite.archive.urls import page_of, relative
from memosite.facts.parsed import BROADCAST, Ref
from memosite.facts.phrases import phrase
from memosite.pages.neighbours import Neighbours
from memosite.pages.parts import Reference


class ListEntry(NamedTuple):
    """An artifact of a list: its page, and what it is called."""

    page: str
    label: str


class ListPlace(NamedTuple):
    """The place of an artifact in its list: what the list is called, and what is before and after it."""

    of: str
    previous: ListEntry | None
    next: ListEntry | None


def list_places(artifacts: Iterable[Artifact], label: Callable[[str], str]) -> dict[Ref, ListPlace]:
    """The places of all artifacts that are in a list of two or more; `label` names a position."""
    lists: dict[tuple[str, str], list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        if (of := _list_of(artifact)) is not None:
            lists[artifact.kind, of].append(artifact)
    places: dict[Ref, ListPlace] = {}
    for (kind, of), members in lists.items():
        words = _words(kind, of, label)
        entries = [ListEntry(page_of(one), one.short_subject) for one in members]
        for one, before, after in zip(members, [None, *entries], [*entries[1:], None], strict=False):
            if before or after:
                places[one.ref] = ListPlace(words, before, after)
    return places


def _list_of(artifact: Artifact) -> str | None:
    """The position or the source whose list an artifact is in."""
    match artifact:
        case Memo(kind="memo"):
            is_to_all = artifact.is_broadcast or not artifact.recipients
            return (BROADCAST if artifact.is_broadcast else None) if is_to_all else artifact.recipients[0].position
        case Memo() | Transcript():
            return artifact.role
        case Document():
            return artifact.head.file.source
    return None


def _words(kind: str, of: str, label: Callable[[str], str]) -> str:
    match kind:
        case "memo" if of == BROADCAST:
            return phrase("memo to everybody")
        case "memo":
            return phrase("memo to {position}", position=label(of))
        case "document":
            return phrase("document of {source}", source=of)
        case "note":
            return phrase("note of {position}", position=label(of))
    return phrase("transcript of {position}", position=label(of))


def neighbours_of(start: str, place: ListPlace | None) -> Neighbours | None:
    """The links to what is before and after, as the page `start` shows them."""
    if place is None:
        return None
    previous, following = (
        Reference(label=one.label, href=relative(start, one.page)) if one else None
        for one in (place.previous, place.next)
    )
    return Neighbours(of=place.of, previous=previous, next=following)
