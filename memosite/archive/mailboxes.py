"""Whom a memo waits for: mailboxes, what is unread, what asks for something, what may have answered it (SPEC 3)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from memosite.archive.model import Action, Archive, Artifact, Copy, Ghost, Memo
from memosite.facts.parsed import BROADCAST, Mailbox, Ref
from memosite.facts.phrases import joined, phrase, phrases

ShownAction = Action | Literal["partly"]
"""How far an action is. `partly`: a memo to all that somebody has answered, and others have to."""


_ACTIONS: Mapping[str, str] = {
    "open": phrase("open"),
    "superseded": phrase("superseded"),
    "answered": phrase("answered"),
    "discharged": phrase("closed"),
    "partly": phrase("partly answered"),
}


def action_word(action: str | None) -> str:
    """The word for the state of an action; data, queries and anchors keep the value."""
    return _ACTIONS.get(action or "", action or "")


# Where a memo is for whom: in which mailbox, whether it is unread, and whether it asks for something (SPEC 3).


_NOWHERE = phrase("in a folder without inbox/ and read/, and not in git")


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


def is_unreceived(copies: tuple[Copy, ...], repo: str | None) -> bool:
    """Whether a memo was delivered to a repo and not received there: each copy is in the inbox or flat, in no commit.

    False where git does not know: without a repo, without a commit yet, or where its history is incomplete.
    """
    here = [copy for copy in copies if repo is not None and copy.file.source == repo]
    return bool(here) and all(
        copy.mailbox in {"inbox", "flat"}
        and copy.life is not None
        and copy.life.state == "delivered"
        and not copy.life.events
        and not copy.life.why_not
        for copy in here
    )


def is_unreceived_by(memo: Memo, repos: Iterable[str | None]) -> bool:
    """Whether a memo was delivered to one of a position's repos, and received in none of them."""
    held = {copy.file.source for copy in memo.copies} & (set(repos) - {None})
    return memo.kind == "memo" and bool(held) and all(is_unreceived(memo.copies, repo) for repo in held)


def is_unread_by_any(memo: Memo) -> bool:
    """Whether a memo is unread for any of its recipients; one to `all` if it is so in any repo that has a copy."""
    return _unread_among(memo)[0] > 0


def unread_by_any(memo: Memo) -> str:
    """What is said of a memo that is unread for any of its recipients, of several by how many; "" if it is not."""
    unread, total = _unread_among(memo)
    if unread in {0, total}:
        return phrase("unread") if unread else ""
    if memo.is_broadcast:
        return phrase("unread in {unread} of {total} repos", unread=unread, total=total)
    return phrase("unread by {unread} of {total}", unread=unread, total=total)


def _unread_among(memo: Memo) -> tuple[int, int]:
    """For how many a memo is unread, and of how many: its recipients; of one to `all`, the repos that have a copy."""
    if memo.kind != "memo":
        return 0, 0
    if not memo.is_broadcast:
        return sum(bool(state.unread) for state in memo.recipients), len(memo.recipients)
    held: dict[str, list[Copy]] = {}
    for copy in memo.copies:
        held.setdefault(copy.file.source, []).append(copy)
    return sum(bool(is_unread(tuple(copies), None)) for copies in held.values()), len(held)


def _copies_in(memo: Memo, repos: Iterable[str | None]) -> tuple[Copy, ...]:
    """The copies of a memo in the repos of a position."""
    known = set(repos) - {None}
    return tuple(copy for copy in memo.copies if copy.file.source in known)


def mailbox_at(copies: tuple[Copy, ...], repo: str | None) -> Mailbox | None:
    """The mailbox of a memo for its recipient: that of the copy furthest through the mailboxes."""
    order: tuple[Mailbox, ...] = ("archive", "read", "inbox", "flat")
    boxes = {copy.mailbox for copy in copies_at(copies, repo)}
    return next((box for box in order if box in boxes), None)


def is_unread_for(memo: Memo, members: Collection[str], repos: Iterable[str | None]) -> bool:
    """Whether a memo is unread for a position: for one of `members`, or one to `all` that is in one of its repos."""
    if memo.kind != "memo":
        return False
    for state in memo.recipients:
        if state.position in members and state.unread:
            return True
        if state.position == BROADCAST and memo.sender_position not in members:
            here = _copies_in(memo, repos)
            if here and is_unread(here, None):
                return True
    return False


def unread_for(memo: Memo, members: Collection[str], repos: Collection[str | None]) -> str:
    """What is said of a memo that is unread for a position, the same in all lists; "" if it is not."""
    if not is_unread_for(memo, members, repos):
        return ""
    return phrase("unread (delivered, not committed yet)") if is_unreceived_by(memo, repos) else phrase("unread")


def why_unknown(memo: Memo, members: Collection[str], repos: Iterable[str | None]) -> str:
    """Why nobody can know whether a position has read a memo, in a few words; "" if that is known, or is not asked."""
    if memo.kind != "memo" or memo.sender_position in members:
        return ""
    mine = [state.unread for state in memo.recipients if state.position in members]
    if mine:
        return _NOWHERE if None in mine and True not in mine else ""
    if not memo.is_broadcast:
        return ""
    here = _copies_in(memo, repos)
    if not here:
        has_repo = set(repos) - {None}
        return (
            phrase("sent to all, with no copy in its repo") if has_repo else phrase("sent to all, and it has no repo")
        )
    return _NOWHERE if is_unread(here, None) is None else ""


def unknown_line(memos: Iterable[Memo], members: Collection[str], repos: Iterable[str | None]) -> str:
    """What is said of memos of which nobody can know whether a position has read them; "" if there are none."""
    held = tuple(repos)
    reasons = Counter(why for memo in memos if (why := why_unknown(memo, members, held)))
    if not reasons:
        return ""
    total = reasons.total()
    each = (phrase("{number:,} {reason}", number=number, reason=why) for why, number in sorted(reasons.items()))
    return phrases(
        "It is not known whether 1 memo was read: {reasons}.",
        "It is not known whether {n:,} memos were read: {reasons}.",
        total,
        reasons=joined(", ", each),
    )


def received_line(memos: Collection[Memo], members: Collection[str], repos: Iterable[str | None]) -> str:
    """What is said of memos that a position got in a flat `memos/` and has not answered; "" if there are none.

    They are received, and count as read; but no mailbox tells whether they are. `memos` are those from it, too.
    """
    held = tuple(repos)
    mine = (memo for memo in memos if memo.sender_position in members)
    answered = {ref for memo in mine for ref in (memo.parent, *memo.also_answers)}
    total = sum(memo.ref not in answered and _is_only_received(memo, members, held) for memo in memos)
    return (
        phrases(
            "It is not known whether 1 memo was read: its folder has no inbox/ and read/.",
            "It is not known whether {n:,} memos were read: their folder has no inbox/ and read/.",
            total,
        )
        if total
        else ""
    )


def _is_only_received(memo: Memo, members: Collection[str], repos: tuple[str | None, ...]) -> bool:
    """Whether a memo to a position is not unread, and all that tells is that a flat folder of its repo has it."""
    is_mine = any(state.position in members or state.position == BROADCAST for state in memo.recipients)
    if memo.kind != "memo" or not is_mine or memo.sender_position in members:
        return False
    here = _copies_in(memo, repos) or (() if memo.is_broadcast else memo.copies)
    return (
        bool(here)
        and all(copy.mailbox == "flat" for copy in here)
        and not is_unread_for(memo, members, repos)
        and not why_unknown(memo, members, repos)
    )


def open_for(item: Artifact, members: Collection[str]) -> bool:
    """Whether an item waits for one of these positions: for what a memo asks of it, or for its decision."""
    if isinstance(item, Memo) and BROADCAST in item.owed_by and item.sender_position not in members:
        return True
    return any(one in members for one in item.owed_by)


def states_by_position(item: Artifact) -> dict[tuple[Action, str], None]:
    """The states of what an item asks, each with whom it asks; what waits is open for whom it waits.

    A memo to all is open for all, too, as long as it is for anybody (SPEC 4).
    """
    asked = item.recipients if isinstance(item, Memo) else ()
    found = dict.fromkeys((state.action, state.position) for state in asked if state.action is not None)
    found |= dict.fromkeys(("open", position) for position in item.owed_by)
    if item.owed_by and any(state.position == BROADCAST and state.action for state in asked):
        found["open", BROADCAST] = None
    return found


def states_of(item: Artifact) -> frozenset[Action]:
    """The states in which what an item asks is for anybody."""
    return frozenset(state for state, _ in states_by_position(item))


def action_for(item: Artifact, members: Collection[str]) -> Action | None:
    """The state of what an item asks for one of these positions, if it asks them; else that of the item as a whole."""
    if open_for(item, members):
        return "open"
    if not isinstance(item, Memo):
        return "open" if item.owed_by else None
    return next((state.action for state in item.recipients if state.position in members and state.action), item.action)


def shown_action(item: Artifact, members: Collection[str]) -> ShownAction | None:
    """The state of an action as people are shown it; of a memo to all `answered` only to those who did."""
    action = action_for(item, members)
    is_asked = bool(members) and not (isinstance(item, Memo) and item.sender_position in members)
    return "partly" if action == "answered" and item.owed_by and not is_asked else action


def wait_of(item: Artifact) -> dict[str, object] | None:
    """How an item waits, for machines: for whom, since when (UTC), why, how that ends, what else is the same matter.

    None if it waits for nobody. What is only to be read is not here: that is said of each copy.
    """
    if not item.owed_by:
        return None
    is_asked = isinstance(item, Memo)
    return {
        "for": list(item.waits_for),
        "since": item.date.utc if item.date else None,
        "why": "action requested" if is_asked else "decision pending",
        "ends": "reply, or closed action" if is_asked else "status that decides, or decision that names it",
        "same_matter": ["/".join(ref) for ref in item.same_matter],
    }


# Finds missing memos that may have answered what is asked: they count as no answers (SPEC 3, actions).


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
            memos = (one for one in both if isinstance(one, Memo))
            asked = [memo for memo in memos if memo.sender_position == pair[1] and pair[0] in memo.owed_by]
            self._assigned[pair] = _assign(self._ghosts[pair], asked)
        return self._assigned[pair]


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
    for ghost in sorted(archive.ghosts.values(), key=_instant, reverse=True):
        for id_ in {*_pair(archive, ghost)} - {""}:
            for one in {id_, union_of.get(id_, id_)}:
                found[one][ghost.id] = ghost
    return {id_: tuple(ghosts.values()) for id_, ghosts in found.items()}


def _instant(ghost: Ghost) -> tuple[float, str]:
    return ghost.date.instant.timestamp() if ghost.date else float("-inf"), ghost.id


def _by_pair(archive: Archive) -> dict[_Pair, list[Ghost]]:
    found: dict[_Pair, list[Ghost]] = defaultdict(list)
    for ghost in archive.ghosts.values():
        found[_pair(archive, ghost)].append(ghost)
    return dict(found)


def _pair(archive: Archive, ghost: Ghost) -> tuple[str, str]:
    """From whom a missing memo is, and to whom, by its name; "" where that is no position."""
    return archive.position_of.get(ghost.sender or "", ""), archive.position_of.get(ghost.to or "", "")
