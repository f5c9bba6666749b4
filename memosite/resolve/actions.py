"""Actions and mailboxes: the state of a memo's action for each recipient, and who has not read it yet (SPEC 3)."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memosite.archive.model import Action, Copy, Memo, RecipientState
from memosite.facts.parsed import BROADCAST, Mailbox, Ref
from memosite.resolve.threads import Forest

_DEGREE: dict[Action, int] = {"open": 0, "answered": 1, "discharged": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Who of those asked has answered a memo; of a broadcast, how many positions did."""

    by: tuple[str, ...] = ()
    count: int = 0


class Replies:
    """Finds who replied anywhere below a memo, in logarithmic time."""

    def __init__(self, forest: Forest, sender_of: Mapping[Ref, str | None], union_of: Mapping[str, str]) -> None:
        """Index the walk through the trees by sender. `sender_of` gives positions; ghosts have none.

        `union_of` maps the position of one organization to the position that joins all of its id: any of them
        answers for the union, but not the other way round.
        """
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

    def has_reply(self, ref: Ref, *, by: str) -> bool:
        """Whether this position sent anything below the memo in its tree."""
        return self._has_sent(by, ref) or any(self._has_sent(member, ref) for member in self._members.get(by, ()))

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
            by=tuple(one for one in named if one != BROADCAST and self.has_reply(ref, by=one)) if is_action else (),
            count=self.count_repliers(ref, but=sender) if BROADCAST in named else 0,
        )

    def count_repliers(self, ref: Ref, *, but: str | None) -> int:
        """How many positions other than this one sent anything below the memo."""
        return self._senders_below[ref] - (but is not None and self._has_sent(but, ref))


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
            action = "discharged" if is_discharged else "answered" if has_answered else "open"
        unread = None if recipient == BROADCAST else is_unread(copies, repo_of.get(recipient))
        states.append(RecipientState(position=recipient, action=action, unread=unread))
    return tuple(states)


def least_done(states: Iterable[RecipientState]) -> Action | None:
    """The memo's own state: the least done of its recipients'."""
    actions = [state.action for state in states if state.action is not None]
    return min(actions, key=_DEGREE.__getitem__, default=None)


def copies_at(copies: tuple[Copy, ...], repo: str | None) -> tuple[Copy, ...]:
    """The copies in a position's repo; all of them where there is none there."""
    return tuple(copy for copy in copies if copy.file.source == repo) or copies


def is_unread(copies: tuple[Copy, ...], repo: str | None) -> bool | None:
    """Whether a memo is unread in a repo: in its inbox and nowhere further on; None if that cannot be known.

    In a flat `memos/` it is unread until it is committed; without git that is unknown (SPEC 3, unread).
    """
    here = copies_at(copies, repo)
    boxes = {copy.mailbox for copy in here}
    if boxes & {"read", "archive"}:
        return False
    if "inbox" in boxes:
        return True
    states = {copy.life.state for copy in here if copy.life} - {None}
    return states == {"delivered"} if states else None


def is_unread_by_any(memo: Memo) -> bool:
    """Whether a memo is unread for any of its recipients; a broadcast also if it is in inboxes only."""
    return any(state.unread for state in memo.recipients) or (memo.is_broadcast and memo.mailbox == "inbox")


def mailbox_at(copies: tuple[Copy, ...], repo: str | None) -> Mailbox | None:
    """The mailbox of a memo for its recipient: that of the copy furthest through the mailboxes."""
    order: tuple[Mailbox, ...] = ("archive", "read", "inbox", "flat")
    boxes = {copy.mailbox for copy in copies_at(copies, repo)}
    return next((box for box in order if box in boxes), None)
