"""Plans what sums up a thread: who took part and when, how long replies took, and who has not answered."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from urllib.parse import quote

from memosite.archive.model import Memo, Thread
from memosite.archive.urls import relative
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.facts.times import Moment
from memosite.pages.parts import Reference
from memosite.pages.threads import ThreadPosition, ThreadSummary, WaitingFor
from memosite.plan.context import ADDRESSEES, Context
from memosite.plan.dates import duration, seconds_between, stamp

_POSITIONS = 20
"""The most positions of a thread that its page lists, those with most memos."""
_WAITING = 10
"""The most memos whose action is open, the oldest."""


@dataclass(slots=True)
class _Part:
    """What one position did in a thread, while it is counted."""

    id: str | None = None
    written: str = ""
    dates: list[Moment] = field(default_factory=list)
    sent: int = 0
    replies: list[float] = field(default_factory=list)
    waiting: int = 0


def sum_up(context: Context, start: str, thread: Thread, page_of: Mapping[Ref, str]) -> ThreadSummary:
    """What is said of a whole thread on its first page; `page_of` says on which part each of its entries is."""
    memos = [one for ref in thread.memos if isinstance(one := context.archive.artifacts[ref], Memo)]
    parts = _parts(context, memos)
    dated = sorted((memo.date for memo in memos if memo.date), key=lambda date: date.instant)
    open_memos = sorted((memo for memo in memos if memo.owed_by), key=lambda memo: memo.sort_key)
    shown = sorted(parts, key=lambda part: (-part.sent, -part.waiting))[:_POSITIONS]
    return ThreadSummary(
        first=stamp(dated[0]) if dated else None,
        last=stamp(dated[-1]) if dated else None,
        senders=sum(part.sent > 0 for part in parts),
        positions=tuple(_position(context, start, part) for part in parts if part in shown),
        positions_total=len(parts),
        waiting=tuple(_waiting(context, start, memo, page_of) for memo in open_memos[:_WAITING]),
        waiting_total=len(open_memos),
    )


def _parts(context: Context, memos: Iterable[Memo]) -> list[_Part]:
    """What each position did, in the order in which they first appear."""
    found: dict[str, _Part] = defaultdict(_Part)
    for memo in memos:
        part = found[memo.sender_position or memo.sender]
        part.id, part.written = memo.sender_position, part.written or memo.sender
        part.sent += 1
        if memo.date:
            part.dates.append(memo.date)
        seconds = reply_seconds(context, memo)
        if seconds is not None:
            part.replies.append(seconds)
        for id_ in memo.owed_by:
            asked = found[id_]
            asked.id = id_
            asked.waiting += 1
    return list(found.values())


def _position(context: Context, start: str, part: _Part) -> ThreadPosition:
    known = context.archive.positions.get(part.id) if part.id else None
    dates = sorted(part.dates, key=lambda date: date.instant)
    return ThreadPosition(
        position=context.position(start, part.id, part.written if known is None else ""),
        repo=known.repo or "" if known else "",
        sent=part.sent,
        first=stamp(dates[0]) if dates else None,
        last=stamp(dates[-1]) if dates else None,
        median=duration(median(part.replies)) if part.replies else "",
        waiting=part.waiting,
    )


def _waiting(context: Context, start: str, memo: Memo, page_of: Mapping[Ref, str]) -> WaitingFor:
    return WaitingFor(
        memo=entry_link(context, start, memo.ref, page_of),
        since=stamp(memo.date),
        positions=waiting_positions(context, start, memo),
        total=len(memo.owed_by),
    )


def waiting_positions(context: Context, start: str, memo: Memo) -> tuple[Reference, ...]:
    """Links to those who have not done what a memo asks; of many, the first."""
    shown = tuple(context.position(start, id_) for id_ in memo.owed_by[:ADDRESSEES])
    more = len(memo.owed_by) - len(shown)
    return (*shown, Reference(label=phrase("{more} more", more=more))) if more else shown


def perhaps_answered_by(context: Context, start: str, memo: Memo) -> tuple[Reference, ...]:
    """Links to the missing memos that may have answered a memo; of many, to the first."""
    ghosts = context.possible_replies.get(memo.ref, ())[:ADDRESSEES] if memo.owed_by else ()
    return tuple(context.artifact(start, (ghost.kind, ghost.id)) for ghost in ghosts)


def anchor_of(ref: Ref) -> str:
    """The id on its thread's page of a memo or ghost."""
    return f"{ref[0]}-{ref[1]}"


def entry_link(context: Context, start: str, ref: Ref, page_of: Mapping[Ref, str]) -> Reference:
    """A link to a memo or ghost in its thread, from one of the thread's parts."""
    page = "" if page_of[ref] == start else relative(start, page_of[ref])
    return Reference(label=context.archive.short_subject(ref), href=f"{page}#{quote(anchor_of(ref))}")


def reply_time(context: Context, memo: Memo) -> str:
    """How long a memo took to reply to what it replies to, its own sender's memo as well; "" if that is not known."""
    parent = parent_of(context, memo)
    seconds = seconds_between(parent.date, memo.date) if parent else None
    return "" if seconds is None else duration(seconds)


def reply_seconds(context: Context, memo: Memo) -> float | None:
    """How long a memo took to reply to another position; None if it does not, or if that is not known."""
    parent = parent_of(context, memo)
    if parent is None or (parent.sender_position or parent.sender) == (memo.sender_position or memo.sender):
        return None
    return seconds_between(parent.date, memo.date)


def parent_of(context: Context, memo: Memo) -> Memo | None:
    """The memo of the archive that a memo replies to."""
    parent = context.archive.artifacts.get(memo.parent) if memo.parent else None
    return parent if isinstance(parent, Memo) else None


def answered_entry(context: Context, memo: Memo) -> Ref | None:
    """What a memo replies to, a missing memo as well."""
    ghost = context.archive.ghosts.get(memo.ghost_parent) if memo.ghost_parent else None
    return memo.parent or ((ghost.kind, ghost.id) if ghost else None)
