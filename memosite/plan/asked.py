"""Sorts actions: what each position has to do, what it waits for, and what is done, each oldest first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from memosite.archive.model import Action, Memo
from memosite.facts.parsed import BROADCAST

_oldest_first = attrgetter("sort_key")
_NONE: Mapping[str, Sequence[Memo]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Memos that ask for something: `every` in order of arrival, all others oldest first.

    `of` holds them by state and by the position that they ask, which may be all; a memo to several has a state for
    each. What is asked of all is open for all, and for each who has not answered. `waiting` holds what anybody has not
    done by the position that asks.
    """

    every: Sequence[Memo]
    of: Mapping[Action, Mapping[str, Sequence[Memo]]]
    waiting: Mapping[str, Sequence[Memo]]

    def asked_of(self, positions: Iterable[str], state: Action = "open") -> tuple[Memo, ...]:
        """What is asked of these positions, in one state."""
        return _together(self.of.get(state, _NONE), positions)

    def asked_by(self, positions: Iterable[str]) -> tuple[Memo, ...]:
        """What these positions ask for and nobody has answered."""
        return _together(self.waiting, positions)


def _together(found: Mapping[str, Sequence[Memo]], positions: Iterable[str]) -> tuple[Memo, ...]:
    lists = [found[one] for one in positions if one in found]
    if len(lists) < 2:
        return tuple(lists[0]) if lists else ()
    return tuple(sorted({memo.ref: memo for one in lists for memo in one}.values(), key=_oldest_first))


def sort_asked(memos: Iterable[Memo]) -> Asked:
    """Look at all memos and notes once."""
    every = [memo for memo in memos if memo.action is not None]
    of: dict[Action, dict[str, list[Memo]]] = {}
    waiting: dict[str, list[Memo]] = defaultdict(list)
    for memo in sorted(every, key=_oldest_first):
        for state, position in _asked_states(memo):
            of.setdefault(state, {}).setdefault(position, []).append(memo)
        if memo.owed_by and memo.sender_position is not None:
            waiting[memo.sender_position].append(memo)
    return Asked(every=tuple(every), of=of, waiting=waiting)


def _asked_states(memo: Memo) -> Iterable[tuple[Action, str]]:
    """The states of what a memo asks, with the position that it asks; a broadcast is also open for all, by SPEC 4."""
    found = dict.fromkeys((state.action, state.position) for state in memo.recipients if state.action is not None)
    found |= dict.fromkeys(("open", one) for one in memo.owed_by)
    if memo.owed_by and any(state.position == BROADCAST and state.action for state in memo.recipients):
        found["open", BROADCAST] = None
    return found


def states_of(memo: Memo) -> frozenset[Action]:
    """The states in which what a memo asks is for anybody."""
    return frozenset(state for state, _ in _asked_states(memo))


def owed(asked: Asked) -> list[tuple[str, str, Sequence[Memo]]]:
    """Who owes whom an answer to which memos, the pair that waits longest first. Nobody owes one to himself."""
    pairs: dict[tuple[str, str], list[Memo]] = defaultdict(list)
    for position, memos in asked.of.get("open", _NONE).items():
        for memo in memos:
            if memo.sender_position not in {None, position} and position in memo.owed_by:
                pairs[position, memo.sender_position].append(memo)
    found = [(who, whom, memos) for (who, whom), memos in pairs.items()]
    return sorted(found, key=lambda one: (one[2][0].sort_key, one[0], one[1]))


def by_number(asked: Mapping[str, Sequence[Memo]]) -> list[str]:
    """Positions, those with the most memos first; all of them together come last."""
    return sorted(asked, key=lambda id_: (id_ == BROADCAST, -len(asked[id_]), id_))
