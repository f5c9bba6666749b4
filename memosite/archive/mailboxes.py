"""Where a memo is for whom: in which mailbox, whether it is unread, and whether it asks for something (SPEC 3)."""

from collections import Counter
from collections.abc import Collection, Iterable

from memosite.archive.model import Copy, Memo
from memosite.facts.parsed import BROADCAST, Mailbox
from memosite.facts.phrases import joined, phrase, phrases

_NOWHERE = phrase("in memos/ without mailboxes, where git does not tell")


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
            known = set(repos) - {None}
            here = tuple(copy for copy in memo.copies if copy.file.source in known)
            if here and is_unread(here, None):
                return True
    return False


def unread_for(memo: Memo, members: Collection[str], repos: Collection[str | None]) -> str:
    """What is said of a memo that is unread for a position, the same in all lists; "" if it is not."""
    if not is_unread_for(memo, members, repos):
        return ""
    return phrase("unread (delivered, not received)") if is_unreceived_by(memo, repos) else phrase("unread")


def why_unknown(memo: Memo, members: Collection[str], repos: Iterable[str | None]) -> str:
    """Why nobody can know whether a position has read a memo, in a few words; "" if that is known, or is not asked."""
    if memo.kind != "memo" or memo.sender_position in members:
        return ""
    mine = [state.unread for state in memo.recipients if state.position in members]
    if mine:
        return _NOWHERE if None in mine and True not in mine else ""
    if not memo.is_broadcast:
        return ""
    known = set(repos) - {None}
    here = tuple(copy for copy in memo.copies if copy.file.source in known)
    if not here:
        return phrase("to all, without a copy in its repo") if known else phrase("to all, without a repo of its own")
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
        "Not known of 1 memo whether it is read: {reasons}.",
        "Not known of {n:,} memos whether they are read: {reasons}.",
        total,
        reasons=joined(", ", each),
    )


def open_for(memo: Memo, members: Collection[str]) -> bool:
    """Whether a memo asks something of one of these positions that is not done."""
    if BROADCAST in memo.owed_by and memo.sender_position not in members:
        return True
    return any(one in members for one in memo.owed_by)
