"""Finds missing memos that may have answered what is asked: they count as no answers (SPEC 3, actions)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from memosite.archive.model import Archive, Ghost, Memo
from memosite.facts.parsed import Ref

_Pair = tuple[str, str | None]
"""Who is asked, and who asks."""
_Found = Mapping[Ref, Sequence[Ghost]]


def possible_replies(archive: Archive, memos: Iterable[Memo]) -> dict[Ref, tuple[Ghost, ...]]:
    """For each of all memos that somebody has not answered, the missing memos that may have, by their names."""
    ghosts = _by_pair(archive)
    owed: dict[_Pair, list[Memo]] = defaultdict(list)
    for memo in memos if ghosts else ():
        for one in memo.owed_by:
            owed[one, memo.sender_position].append(memo)
    found: dict[Ref, dict[str, Ghost]] = defaultdict(dict)
    for pair, asked in owed.items():
        for ref, some in _assign(ghosts.get(pair, ()), asked).items():
            found[ref] |= {ghost.id: ghost for ghost in some}
    return {ref: tuple(one.values()) for ref, one in found.items()}


class PossibleReplies:
    """The same for few memos of an archive of which only what is needed is loaded."""

    def __init__(self, archive: Archive) -> None:
        """Nothing is looked at before it is asked for."""
        self._archive = archive
        self._assigned: dict[_Pair, _Found] = {}

    def of(self, memo: Memo) -> tuple[Ghost, ...]:
        """The missing memos that may have answered a memo."""
        pairs = [(one, memo.sender_position) for one in memo.owed_by]
        found = (ghost for pair in pairs if pair in self._ghosts for ghost in self._of_pair(pair).get(memo.ref, ()))
        return tuple({ghost.id: ghost for ghost in found}.values())

    @cached_property
    def _ghosts(self) -> Mapping[_Pair, Sequence[Ghost]]:
        return _by_pair(self._archive)

    def _of_pair(self, pair: _Pair) -> _Found:
        if pair not in self._assigned:
            groups = self._archive.groups
            sent = frozenset(groups.get(f"position/{pair[1]}", ()))
            refs = dict.fromkeys((*groups.get(f"position/{pair[0]}", ()), *groups.get("broadcasts", ())))
            both = (self._archive.artifacts[ref] for ref in refs if ref in sent)
            asked = [one for one in both if isinstance(one, Memo) and _is_owed(one, pair)]
            self._assigned[pair] = _assign(self._ghosts[pair], asked)
        return self._assigned[pair]


def _is_owed(memo: Memo, pair: _Pair) -> bool:
    return memo.sender_position == pair[1] and pair[0] in memo.owed_by


def _assign(ghosts: Iterable[Ghost], memos: Iterable[Memo]) -> dict[Ref, list[Ghost]]:
    """Which memos of a pair a missing one may have answered: those of its thread, else the newest before it."""
    found: dict[Ref, list[Ghost]] = defaultdict(list)
    asked = sorted((memo for memo in memos if memo.date), key=lambda memo: memo.sort_key)
    for ghost in ghosts:
        earlier = [one for one in asked if ghost.date and one.date and one.date.instant <= ghost.date.instant]
        for memo in [one for one in earlier if one.thread == ghost.thread] or earlier[-1:]:
            found[memo.ref].append(ghost)
    return found


def missing_of(archive: Archive) -> dict[str, tuple[Ghost, ...]]:
    """The missing memos from and to each position, the newest first; those of its members are a union's, too."""
    found: dict[str, dict[str, Ghost]] = defaultdict(dict)
    positions = archive.positions.values() if archive.ghosts else ()
    union_of = {member: one.id for one in positions for member in one.union_of}
    for ghost in sorted(archive.ghosts.values(), key=_newest, reverse=True):
        for id_ in {*_pair(archive, ghost)} - {""}:
            for one in {id_, union_of.get(id_, id_)}:
                found[one][ghost.id] = ghost
    return {id_: tuple(ghosts.values()) for id_, ghosts in found.items()}


def _newest(ghost: Ghost) -> tuple[float, str]:
    return ghost.date.instant.timestamp() if ghost.date else float("-inf"), ghost.id


def _by_pair(archive: Archive) -> dict[_Pair, list[Ghost]]:
    found: dict[_Pair, list[Ghost]] = defaultdict(list)
    for ghost in archive.ghosts.values():
        found[_pair(archive, ghost)].append(ghost)
    return dict(found)


def _pair(archive: Archive, ghost: Ghost) -> tuple[str, str]:
    """From whom a missing memo is, and to whom, by its name; "" where that is no position."""
    return archive.position_of.get(ghost.sender or "", ""), archive.position_of.get(ghost.to or "", "")
