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
    """Who of those asked has answered a memo; of a broadcast how many positions did, and the `rest` of those asked."""

    by: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
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
        self._union_of = union_of
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

    def answered(
        self, ref: Ref, *, sender: str | None, recipients: Iterable[str], everybody: Iterable[str], is_action: bool
    ) -> Answered:
        """Which recipients have answered an action, and which of `everybody`, if it is asked of them, have not."""
        named = tuple(recipients)
        is_broadcast = BROADCAST in named
        asked = tuple(one for one in named if one != BROADCAST) if is_action else ()
        rest = everybody if is_action and is_broadcast else ()
        return Answered(
            by=tuple(one for one in asked if self.has_answer(ref, by=one)),
            rest=tuple(one for one in rest if not self._has_answered_or_sent(one, ref, sender)),
            count=self.count_answering(ref, but=sender) if is_broadcast else 0,
        )

    def _has_answered_or_sent(self, position: str, ref: Ref, sender: str | None) -> bool:
        """Whether a position did; by a name that several have it cannot be told which, so none is waited for."""
        names = {position, self._union_of.get(position, position)}
        return sender in names or any(self._has_answered(one, ref) for one in names)

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


def owed_by(states: Iterable[RecipientState], answered: Answered, *, is_superseded: bool) -> tuple[str, ...]:
    """Who has not done what a memo asks; of a broadcast by name, `all` if nobody can be named and nobody has answered.

    That the state of a broadcast is answered once anybody has (SPEC 3) is no answer of the others.
    """
    owing: dict[str, None] = {}
    for state in states:
        if state.position != BROADCAST:
            owing |= {state.position: None} if state.action == "open" else {}
        elif state.action in {"open", "answered"} and not is_superseded:
            owing |= dict.fromkeys(answered.rest or ([BROADCAST] if state.action == "open" else []))
    return tuple(owing)


def least_done(states: Iterable[RecipientState]) -> Action | None:
    """The memo's own state: the least done of its recipients'."""
    actions = [state.action for state in states if state.action is not None]
    return min(actions, key=_DEGREE.__getitem__, default=None)
