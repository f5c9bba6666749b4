"""Actions and mailboxes: the state of a memo's action for each recipient, and who has not read it yet (SPEC 3)."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import get_args

from memosite.archive.mailboxes import is_unread
from memosite.archive.model import Action, Copy, RecipientState
from memosite.facts.parsed import BROADCAST, Ref
from memosite.resolve.threads import Forest

_DEGREE: Mapping[Action, int] = {state: degree for degree, state in enumerate(get_args(Action))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Who of those asked has answered a memo; of a broadcast, how many positions did."""

    by: tuple[str, ...] = ()
    count: int = 0


class Answering:
    """Finds who answered a memo: who replied anywhere below it, in logarithmic time, or answered it too."""

    def __init__(
        self,
        forest: Forest,
        sender_of: Mapping[Ref, str | None],
        union_of: Mapping[str, str],
        also: Mapping[Ref, Iterable[str | None]] = MappingProxyType({}),
    ) -> None:
        """Index the walk through the trees by sender. `sender_of` gives positions; ghosts have none.

        `union_of` maps the position of one organization to the position that joins all of its id: any of them
        answers for the union, but not the other way round. `also` are the senders of memos elsewhere that answered
        a memo, too.
        """
        self._also = {ref: {one for one in senders if one is not None} for ref, senders in also.items()}
        self._forest = forest
        self._senders_below = _count_senders_below(forest, sender_of)
        self._sent: dict[str, list[int]] = defaultdict(list)
        self._members: dict[str, set[str]] = defaultdict(set)
        for place, ref in enumerate(forest.order):
            sender = sender_of.get(ref)
            if sender is not None:
                self._sent[sender].append(place)
                if sender in union_of:
                    self._members[union_of[sender]].add(sender)

    def has_answer(self, ref: Ref, *, by: str) -> bool:
        """Whether this position, or one that answers for it, answered the memo."""
        return any(self._has_answered(one, ref) for one in (by, *self._members.get(by, ())))

    def _has_answered(self, position: str, ref: Ref) -> bool:
        return self._has_sent(position, ref) or position in self._also.get(ref, ())

    def _has_sent(self, position: str, ref: Ref) -> bool:
        places = self._sent.get(position)
        if not places:
            return False
        after = bisect_right(places, self._forest.first[ref])
        return after < len(places) and places[after] <= self._forest.last[ref]

    def answered(self, ref: Ref, *, sender: str | None, recipients: Iterable[str], is_action: bool) -> Answered:
        """Which recipients have answered an action (positions only); for a broadcast, how many positions replied."""
        named = tuple(recipients)
        return Answered(
            by=tuple(one for one in named if one != BROADCAST and self.has_answer(ref, by=one)) if is_action else (),
            count=self.count_answering(ref, but=sender) if BROADCAST in named else 0,
        )

    def count_answering(self, ref: Ref, *, but: str | None) -> int:
        """How many positions other than this one answered the memo."""
        elsewhere = sum(not self._has_sent(one, ref) for one in self._also.get(ref, ()) if one != but)
        return self._senders_below[ref] - (but is not None and self._has_sent(but, ref)) + elsewhere


def _count_senders_below(forest: Forest, sender_of: Mapping[Ref, str | None]) -> dict[Ref, int]:
    """How many positions sent anything below each memo; the smaller set is always merged into the larger one."""
    below: dict[Ref, set[str]] = {}
    counts: dict[Ref, int] = {}
    for ref in reversed(forest.order):
        found = below.pop(ref, set())
        counts[ref] = len(found)
        parent = forest.parent.get(ref)
        if parent is None:
            continue
        sender = sender_of.get(ref)
        if sender is not None:
            found.add(sender)
        smaller, larger = sorted((found, below.get(parent, set())), key=len)
        larger |= smaller
        below[parent] = larger
    return counts


def recipient_states(
    recipients: Iterable[str],
    *,
    is_action: bool,
    is_discharged: bool,
    is_superseded: bool,
    copies: tuple[Copy, ...],
    repo_of: Mapping[str, str | None],
    answered: Answered,
) -> tuple[RecipientState, ...]:
    """The state of each recipient (positions, or `all`)."""
    states = []
    for recipient in recipients:
        action: Action | None = None
        if is_action:
            has_answered = answered.count > 0 if recipient == BROADCAST else recipient in answered.by
            undone: Action = "superseded" if is_superseded else "open"
            action = "discharged" if is_discharged else "answered" if has_answered else undone
        unread = None if recipient == BROADCAST else is_unread(copies, repo_of.get(recipient))
        states.append(RecipientState(position=recipient, action=action, unread=unread))
    return tuple(states)


def least_done(states: Iterable[RecipientState]) -> Action | None:
    """The memo's own state: the least done of its recipients'."""
    actions = [state.action for state in states if state.action is not None]
    return min(actions, key=_DEGREE.__getitem__, default=None)
