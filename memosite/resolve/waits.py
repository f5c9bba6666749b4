"""Finds for whom decisions, proposals and records wait, so that they have `owed_by` as memos have (SPEC 3, waiting)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from memosite.archive.model import Artifact, Document, Position, Record, nearest_member
from memosite.facts.parsed import SOMEBODY, Organization, Ref
from memosite.facts.patterns import regex
from memosite.formats.status import awaiting_clauses, sort_of, standing_of, who_may_decide

_LINKS = 200
"""How many links of a record, each way, are looked at for what else is of its matter."""

_WORD = regex(r"\w+")
_SORTS = ("decision", "proposal", "other")


class Matter(NamedTuple):
    """For whom an item waits, and which others of its matter do, too: the fields of `Artifact` by these names."""

    owed_by: tuple[str, ...]
    same_matter: tuple[Ref, ...]


def find_waits(
    artifacts: Mapping[Ref, Artifact], positions: Mapping[str, Position], organizations: Iterable[Organization]
) -> dict[Ref, Matter]:
    """The documents and records that wait for somebody.

    A matter is one of them: its decision, else its proposal, else the record that arrived first. Of one matter are a
    proposal and the decision on it, and what records of decisions in another system mention, are mentioned by, or are
    called like in the same source.
    """
    pending = {ref: one for ref, one in artifacts.items() if _is_pending(one, artifacts)}
    ordered = sorted(pending.values(), key=_rank)
    first_of: dict[Ref, Ref] = {}
    called: dict[tuple[str, str], list[Ref]] = defaultdict(list)
    for one in ordered:
        title = one.copies[0].file.source, _words(one.subject)
        same: Iterable[Ref] = one.decided_in if isinstance(one, Document) else ()
        if isinstance(one, Record) and sort_of(one) == "decision":
            near = (*one.beside(_LINKS), *called[title])
            same = [ref for ref in near if ref in first_of and pending[ref].system != one.system]
        first_of[one.ref] = next((first_of[ref] for ref in same if ref in first_of), one.ref)
        called[title].append(one.ref)
    others: dict[Ref, list[Ref]] = defaultdict(list)
    for ref, first in first_of.items():
        if ref != first:
            others[first].append(ref)
    names = _Names(positions, organizations) if pending else None
    return {
        ref: Matter(tuple(names.awaited_by(one)) or (SOMEBODY,), tuple(others[ref]))
        for ref, one in pending.items()
        if first_of[ref] == ref and names is not None
    }


def _rank(artifact: Artifact) -> tuple[bool, int, int]:
    """Which of a matter comes first."""
    return artifact.kind != "document", _SORTS.index(sort_of(artifact)), artifact.arrival


def _is_pending(artifact: Artifact, artifacts: Mapping[Ref, Artifact]) -> bool:
    """Whether a document or a record is not decided: its status says so, and what decided on it is not decided."""
    if artifact.withheld or not isinstance(artifact, Document | Record) or artifact.is_superseded:
        return False
    decided_in = artifact.decided_in if isinstance(artifact, Document) else ()
    if decided_in and not any(standing_of(artifacts[ref]) == "pending" for ref in decided_in if ref in artifacts):
        return False
    if sort_of(artifact) == "other":
        return bool(awaiting_clauses(_whole_status(artifact)))
    return standing_of(artifact) == "pending"


def _whole_status(artifact: Document | Record) -> str:
    return artifact.said_status if isinstance(artifact, Record) else artifact.head.status or ""


class _Names:
    """Finds the positions that a status names; of a name that several organizations have, the one whose repo it is."""

    def __init__(self, positions: Mapping[str, Position], organizations: Iterable[Organization]) -> None:
        self._positions = positions
        self._words: dict[str, list[str]] = defaultdict(list)
        for position in positions.values():
            for name in {_words(name) for name in (position.id, position.name, *position.names)}:
                self._words[name].append(position.id)
        self._organizations = tuple(organizations)

    def awaited_by(self, artifact: Artifact) -> Iterator[str]:
        """The positions that the first clauses which name any name, each once."""
        if isinstance(artifact, Document | Record):
            source = artifact.copies[0].file.source
            for clauses in who_may_decide(_whole_status(artifact)):
                said = "".join(map(_words, clauses))
                ids = [id_ for name, some in self._words.items() if name.strip() and name in said for id_ in some]
                found = dict.fromkeys(
                    nearest_member(self._positions, self._organizations, id_, source)
                    for id_ in self._without_members(ids)
                )
                if found:
                    yield from sorted(found)
                    return

    def _without_members(self, ids: Iterable[str]) -> set[str]:
        """Positions without those that another of them stands for: all of these have its name."""
        found = set(ids)
        return found - {member for id_ in found for member in self._positions[id_].union_of}


def _words(text: str) -> str:
    """The words of a text, with a space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
