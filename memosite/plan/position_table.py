"""Plans the table of positions, which the home page and the organization show (in the code, seats)."""

from collections.abc import Collection, Iterable

from memosite.archive.mailboxes import open_for
from memosite.archive.model import Memo, Position
from memosite.facts.parsed import BROADCAST
from memosite.facts.texts import cut_line
from memosite.pages.organization import SeatRow
from memosite.pages.overviews import PositionsAtAGlance
from memosite.plan.activity import Activity
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.position_items import received

SEATS = 300
"""The most positions in a table of seats that is not alone on its page."""

HOLDER_CHARS = 300
"""The most characters that a page shows of a holder's name."""

_LINE_CHARS = 60  # of a holder's name in a table, where it has one line


def listed_positions(context: Context) -> list[Position]:
    """Positions that are listed or have anything to show, the listed first, then by id; unions if memos name them."""
    positions = [position for position in context.archive.positions.values() if not position.union_of or position.names]
    return sorted(positions, key=lambda position: (not position.seats, context.label(position.id)))


def at_a_glance(context: Context, start: str, found: Activity) -> PositionsAtAGlance:
    """The positions of the home page: quiet ones sent nothing in the weeks of `found`, and nothing waits for them."""
    every = listed_positions(context)
    rows = seat_rows(context, start, every[:SEATS])
    is_active = [
        bool(row.unread or row.open_to or row.open_from or found.counts.get(one.id))
        for one, row in zip(every, rows, strict=False)
    ]
    return PositionsAtAGlance(
        active=tuple(row for row, active in zip(rows, is_active, strict=True) if active),
        quiet=tuple(row.position for row, active in zip(rows, is_active, strict=True) if not active),
        total=len(every),
        since=found.weeks[0].isoformat() if found.weeks else "",
    )


def seat_rows(context: Context, start: str, positions: Iterable[Position]) -> tuple[SeatRow, ...]:
    """The rows of these positions in a table of seats."""
    return tuple(seat_row(context, start, position) for position in positions)


def seat_row(context: Context, start: str, position: Position) -> SeatRow:
    """A position in the table of seats."""
    members = {position.id, *position.union_of}
    index = context.seats
    sent = [index.newest_sent[id_] for id_ in members if id_ in index.newest_sent]
    newest = max(sent, key=lambda memo: memo.sort_key, default=None)
    inbox = _unread(context, position)
    oldest = min((memo for memo in inbox if memo.date), key=lambda memo: memo.sort_key, default=None)
    owed = {memo.ref: memo for id_ in (*members, BROADCAST) for memo in index.owed.get(id_, ())}
    seats = [seat for _, seat in position.seats]
    return SeatRow(
        position=context.position(start, position.id),
        organizations=len(position.union_of),
        status=seats[0].status or "" if len(seats) == 1 else "",
        incumbent=cut_line(seats[0].incumbent or "", _LINE_CHARS) if len(seats) == 1 else "",
        last_sent=stamp(newest.date) if newest else None,
        unread=len(inbox),
        is_unread_known=bool(inbox) or _is_reading_known(context, position),
        oldest_unread=stamp(oldest.date) if oldest else None,
        open_to=sum(open_for(memo, members) for memo in owed.values()),
        open_from=sum(index.open_from.get(id_, 0) for id_ in members),
    )


def _is_reading_known(context: Context, position: Position) -> bool:
    """Whether it is known of all memos of `received` that a position without unread ones has read them."""
    members, index = {position.id, *position.union_of}, context.seats
    if any(memo.sender_position not in members for id_ in members for memo in index.unsure.get(id_, ())):
        return False
    known = {
        ref for id_ in members for ref in index.known_broadcasts.get(context.archive.positions[id_].repo or "", ())
    }
    return all(
        memo.ref in known
        or memo.sender_position in members
        or any(state.position in members for state in memo.recipients)
        for memo in context.broadcasts
    )


def _unread(context: Context, position: Position) -> Collection[Memo]:
    """The memos of `received` that are unread for a position, in no order."""
    members = {position.id, *position.union_of}
    repos = {context.archive.positions[member].repo for member in members} - {None}
    if len(repos) > 1:  # a memo to all is unread there if it is so in all of them together
        return [memo for memo in received(context, position) if context.is_unread(memo, position.id)]
    index = context.seats
    found = {memo.ref: memo for id_ in members for memo in index.unread.get(id_, ())}
    for repo in repos:
        for memo in index.unread_broadcasts.get(repo or "", ()):
            if memo.sender_position not in members:
                found[memo.ref] = memo
    return found.values()
