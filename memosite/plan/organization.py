"""Plans the page of the organization: all positions, charts and relationships, and who writes to whom.

A chart is laid out in whole pixels:

    positions, edges ─► who is under whom ─► sizes, from the leaves up ─► places, from the top down

A position is under its first manager; further managers, cycles and all other relationships are lighter lines
behind the boxes. Positions that manage nobody are stacked below their manager, branches are side by side, in as
many rows as it takes to stay within `MAX_WIDTH`, so that 200 positions are as readable as 5. Without recursion.
"""

import unicodedata
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import median_low
from typing import ClassVar, Final, Literal, TypeAlias, get_args

from memosite.archive.mailboxes import open_for
from memosite.archive.model import Artifact, Library, Memo, Position, other_name
from memosite.archive.urls import ORGANIZATION, part_page
from memosite.facts.file import LABEL_CHARS
from memosite.facts.names import make_id
from memosite.facts.parsed import BROADCAST, Organization, Ref, Relationship, Seat
from memosite.facts.patterns import regex
from memosite.facts.phrases import joined, phrase, phrases
from memosite.facts.texts import cut_line
from memosite.facts.times import Moment
from memosite.facts.values import Struct, Value, field, replace
from memosite.pages import PAGE_CHARS, Bars, Cell, Page, PictureColumn, PictureRow, Reference, RelationshipRow, shade_of
from memosite.plan.artifact_page import SUBJECT_CHARS, shown_extra
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.dates import duration, seconds_between
from memosite.plan.page import head_of, part_links, part_title
from memosite.plan.positions import Activity, received, relationship_row


class SeatRow(Value):
    """A position in the table of seats; `organizations` counts those that have it, if it stands for several."""

    position: Reference
    organizations: int = 0
    status: str
    incumbent: str
    last_sent: Moment | None
    unread: int
    is_unread_known: bool
    """Whether it is known of all memos to it whether they are read."""
    oldest_unread: Moment | None
    open_to: int
    open_from: int


class ExchangeCell(Value):
    """How many memos one position sent to another, how many of them it answered, and the median time to do so."""

    number: int
    shade: int
    answered: int
    median: str


class Exchange(Value):
    """Who writes to whom: a row for each sender, a cell for each recipient, None where there is nothing.

    It has `shown` of `total` memos, counted once for each recipient; `left_out` is how many positions it has not.
    """

    positions: tuple[Reference, ...]
    rows: tuple[tuple[ExchangeCell | None, ...], ...]
    shown: int
    total: int
    left_out: int


class ChartLine(Value):
    """A line of a chart as an SVG path; `words` say what a lighter one means."""

    path: str
    kind: Literal["rank", "other"]
    words: str = ""


class ChartBox(Value):
    """A position in a chart: its upper left corner in pixels, three lines of text that fit, and all in `words`."""

    x: int
    y: int
    link: Reference
    label: str
    note: str
    status: Literal["staffed", "vacant", "shared", "informal", "organization", ""]
    words: str
    counts: str = ""


class Chart(Value):
    """An organization as a drawing of `width` by `height` pixels; lines come before the boxes, which cover them."""

    width: int
    height: int
    boxes: tuple[ChartBox, ...]
    lines: tuple[ChartLine, ...]
    keys: tuple[tuple[str, str], ...] = ()
    """What each form of its boxes stands for; `line_keys` is the same of lines."""
    line_keys: tuple[tuple[str, str], ...] = ()


class OrganizationSection(Value):
    """One orgdef: mission, positions, relationships, charter (heading and Markdown)."""

    id: str
    anchor: str
    name: str
    version: str
    mission: str
    relationships: tuple[RelationshipRow, ...]
    relationships_total: int = 0
    charter: tuple[tuple[str, str], ...]
    place: str
    chart: Chart | None = None


class OrganizationPage(Page):
    """All positions, and each orgdef; `unreadable` are those that cannot be read, `rests` what is shown as it is."""

    template: ClassVar[str] = "organization.html"

    organizations: tuple[OrganizationSection, ...]
    seats: tuple[SeatRow, ...]
    seats_total: int = 0
    chart: Chart | None = None
    """Of several organizations, one map of all."""
    exchange: Exchange | None = None
    replies: Bars | None = None
    unreadable: tuple[Reference, ...] = ()
    rests: tuple[Reference, ...] = ()


class PositionsAtAGlance(Value):
    """The positions in which anything happens, and those that are `quiet`; `total` counts all of both."""

    active: tuple[SeatRow, ...]
    quiet: tuple[Reference, ...]
    total: int
    since: str


# Lays out the chart of an organization: the positions of boxes and lines, in whole pixels.


BOX: Final = (216, 68)
"""Width and height of a position's box."""


MAX_WIDTH: Final = 860
"""The width that branches side by side may take."""


MAX_LINES: Final = 150
"""The most lighter lines that are drawn; the table of relationships has all."""


_INDENT, _GAP, _LEVEL = 26, 12, 34  # of what is stacked; between neighbours; between levels


_COLUMN = 8  # positions that are stacked


_MARGIN = 8


_BULGE = 16  # how far a bent line leaves the row or column that it runs along


_Status: TypeAlias = Literal["staffed", "vacant", "shared", "informal", "organization"]


_STATUSES: Final[tuple[_Status, ...]] = get_args(_Status)


_KEYS = (
    ("organization", phrase("organization")), ("staffed", phrase("held by somebody")), ("vacant", phrase("vacant")),
    ("shared", phrase("held by several")), ("informal", phrase("informal")), ("", phrase("status not stated")),
)  # fmt: skip


_LINE_KEYS = (("rank", phrase("reports to, or is part of")), ("other", phrase("other relationship")))


_INSIDE = BOX[0] - 24  # pixels for text


_LABEL, _NOTE = 16, 13  # font sizes with some room: fonts differ


class Seated(Value):
    """A position to be drawn; `note` is who holds it, or its status, `counts` what waits there."""

    id: str
    link: Reference
    note: str
    status: str
    counts: str = ""


class Edge(Value):
    """A line from one position to another, by their ids; `is_rank` if `to` manages `sender`."""

    sender: str
    to: str
    words: str
    is_rank: bool


class _Node(Struct):
    """A position while it is placed.

    `rows` are what is below it: branches, and columns of leaves; `is_column` if that is one column of leaves. `own` is
    how far its own box is from the left of its branch.
    """

    below: list[str] = field(default_factory=list)
    rows: list[list[tuple[str, ...]]] = field(default_factory=list)
    is_column: bool = False
    own: int = 0
    width: int = BOX[0]
    height: int = BOX[1]
    x: int = 0
    y: int = 0


def draw(seated: Sequence[Seated], edges: Sequence[Edge]) -> Chart | None:
    """The chart of an organization; None if there are no positions. Equal input gives an equal chart."""
    if not seated:
        return None
    known = {one.id for one in seated}
    within = [edge for edge in edges if edge.sender in known and edge.to in known and edge.sender != edge.to]
    managers = _managers(within)
    nodes = {one.id: _Node() for one in seated}
    for id_ in nodes:
        if id_ in managers:
            nodes[managers[id_]].below.append(id_)
    roots = sorted((id_ for id_ in nodes if id_ not in managers), key=lambda id_: not nodes[id_].below)
    order = list(roots)
    for id_ in order:  # it grows while it is read: from the top down
        order += nodes[id_].below
    for id_ in reversed(order):
        _measure(nodes, nodes[id_])
    width, height = _place_roots(nodes, roots)
    lines: list[ChartLine] = []
    for id_ in order:
        lines += _place_below(nodes, nodes[id_])
    others = [edge for edge in within if not (edge.is_rank and managers.get(edge.sender) == edge.to)]
    boxes, every = tuple(_box(nodes[one.id], one) for one in seated), (*_lighter(nodes, others), *lines)
    forms, kinds = {box.status for box in boxes}, {line.kind for line in every}
    return Chart(
        width=width + 2 * _MARGIN + _BULGE * bool(others),
        height=height + 2 * _MARGIN + _BULGE * bool(others),
        boxes=boxes,
        lines=every,
        keys=tuple(key for key in _KEYS if key[0] in forms),
        line_keys=tuple(key for key in _LINE_KEYS if key[0] in kinds),
    )


def _managers(edges: Iterable[Edge]) -> dict[str, str]:
    """The manager of each position in the chart: the first one named that makes no cycle."""
    found: dict[str, str] = {}
    for edge in edges:
        if not edge.is_rank or edge.sender in found:
            continue
        above: str | None = edge.to
        while above is not None and above != edge.sender:
            above = found.get(above)
        if above is None:
            found[edge.sender] = edge.to
    return found


def _measure(nodes: dict[str, _Node], node: _Node) -> None:
    """The size of a branch, those below it being measured already: leaves in columns first, then branches."""
    if not node.below:
        return
    leaves = [id_ for id_ in node.below if not nodes[id_].below]
    units = [tuple(leaves[start : start + _COLUMN]) for start in range(0, len(leaves), _COLUMN)]
    units += [(id_,) for id_ in node.below if nodes[id_].below]
    rows: list[list[tuple[str, ...]]] = []
    left = MAX_WIDTH
    for unit in units:
        width = _size(nodes, unit)[0]
        if not rows or left + width > MAX_WIDTH:
            rows.append([])
            left = 0
        rows[-1].append(unit)
        left += width + 2 * _GAP
    sizes = [[_size(nodes, unit) for unit in row] for row in rows]
    widest = max(sum(width for width, _ in row) + 2 * _GAP * (len(row) - 1) for row in sizes)
    node.rows = rows
    node.is_column = len(units) == 1 and not nodes[units[0][0]].below
    node.width = max(BOX[0], widest + _INDENT * (len(rows) > 1))
    node.height = BOX[1] + sum(_LEVEL + max(height for _, height in row) for row in sizes)
    if len(rows) == 1 and not node.is_column:
        node.own = _above(nodes, rows[0], (node.width - BOX[0]) // 2)


def _above(nodes: dict[str, _Node], row: Iterable[tuple[str, ...]], middle: int) -> int:
    """Where the box above a single row of branches begins: in the middle, but straight above a branch near that."""
    left, found = 0, []
    for unit in row:
        if nodes[unit[0]].below:
            found.append(left + nodes[unit[0]].own)
        left += _size(nodes, unit)[0] + 2 * _GAP
    nearest = min(found, key=lambda own: abs(own - middle), default=middle)
    return nearest if abs(nearest - middle) < BOX[0] // 4 else middle


def _size(nodes: dict[str, _Node], unit: tuple[str, ...]) -> tuple[int, int]:
    """Width and height of a branch, or of a column of leaves with the line beside it."""
    if nodes[unit[0]].below:
        return nodes[unit[0]].width, nodes[unit[0]].height
    return BOX[0] + _INDENT, len(unit) * (BOX[1] + _GAP) - _GAP


def _place_roots(nodes: dict[str, _Node], roots: Iterable[str]) -> tuple[int, int]:
    """Put those without a manager side by side, in as many rows as it takes; return the size of all."""
    x = y = row = width = 0
    for id_ in roots:
        node = nodes[id_]
        if x and x + node.width > MAX_WIDTH:
            x, y, row = 0, y + row + _LEVEL, 0
        _put(node, x, y)
        width, row = max(width, x + node.width), max(row, node.height)
        x += node.width + 2 * _GAP
    return width, y + row


def _put(node: _Node, left: int, top: int) -> None:
    node.x, node.y = left + node.own, top


def _place_below(nodes: dict[str, _Node], node: _Node) -> Iterable[ChartLine]:
    """Put what is below a position, row by row, and draw the lines to it."""
    bottom = node.y + BOX[1]
    if node.is_column:
        yield from _stack([nodes[id_] for id_ in node.rows[0][0]], node.x, bottom + _LEVEL, start=bottom)
        return
    is_single = len(node.rows) == 1
    trunk = node.x + (BOX[0] if is_single else _INDENT) // 2
    begin = node.x - node.own if is_single else node.x + _INDENT
    top = bottom + _LEVEL
    for row in node.rows:
        left, fork = begin, top - _LEVEL // 2
        stem = f"M{trunk + _MARGIN} {bottom + _MARGIN}V{fork + _MARGIN}"
        for unit in row:
            first = nodes[unit[0]]
            if first.below:
                _put(first, left, top)
                yield ChartLine(path=f"{stem}H{first.x + BOX[0] // 2 + _MARGIN}V{top + _MARGIN}", kind="rank")
            else:
                yield ChartLine(path=f"{stem}H{left + _INDENT // 2 + _MARGIN}", kind="rank")
                yield from _stack([nodes[id_] for id_ in unit], left, top, start=fork)
            left += _size(nodes, unit)[0] + 2 * _GAP
        top += max(_size(nodes, unit)[1] for unit in row) + _LEVEL


def _stack(nodes: Iterable[_Node], left: int, top: int, *, start: int) -> Iterable[ChartLine]:
    """Put branches one below the other beside a line that begins at `start`."""
    for node in nodes:
        _put(node, left + _INDENT, top)
        x, y = left + _INDENT // 2 + _MARGIN, node.y + BOX[1] // 2 + _MARGIN
        yield ChartLine(path=f"M{x} {start + _MARGIN}V{y}H{node.x + _MARGIN}", kind="rank")
        top += node.height + _GAP


def _lighter(nodes: dict[str, _Node], edges: Sequence[Edge]) -> Iterable[ChartLine]:
    """Bent lines from box to box, one for each pair; their meaning is given in words."""
    words: dict[tuple[str, str], list[str]] = defaultdict(list)
    for edge in edges:
        words[min(edge.sender, edge.to), max(edge.sender, edge.to)].append(edge.words)
    for (one, other), said in list(words.items())[:MAX_LINES]:
        (ax, ay), (bx, by) = (
            (node.x + BOX[0] // 2 + _MARGIN, node.y + BOX[1] // 2 + _MARGIN) for node in (nodes[one], nodes[other])
        )
        # Along a row or a column a straight line would be hidden by the boxes between.
        aside = BOX[0] + 2 * _BULGE if abs(ax - bx) < BOX[0] // 2 else 0
        below = BOX[1] + 2 * _BULGE if abs(ay - by) < BOX[1] // 2 else 0
        path = f"M{ax} {ay}Q{(ax + bx) // 2 + aside} {(ay + by) // 2 + below} {bx} {by}"
        yield ChartLine(path=path, kind="other", words="; ".join(dict.fromkeys(said)))


def _box(node: _Node, seated: Seated) -> ChartBox:
    return ChartBox(
        x=node.x + _MARGIN,
        y=node.y + _MARGIN,
        link=seated.link,
        label=fitted(seated.link.label, _LABEL),
        note=fitted(seated.note, _NOTE),
        counts=fitted(seated.counts, _NOTE),
        status=next((known for known in _STATUSES if known == seated.status), ""),
        words=joined(
            ", ", dict.fromkeys(part for part in (seated.link.label, seated.note, seated.status, seated.counts) if part)
        ),
    )


def fitted(text: str, size: int) -> str:
    """As much of a text as fits into a box at this font size, with an ellipsis where it is cut."""
    left = _INSIDE - size
    for index, char in enumerate(text):
        left -= _char_width(char) * size // 100
        if left < -size // 2 and index < len(text) - 1:
            return text[:index].rstrip() + "…"
    return text


def _char_width(char: str) -> int:
    """A generous width in hundredths of the font size: fonts differ, and what is too wide is clipped."""
    if unicodedata.east_asian_width(char) in "WF":
        return 105
    if char in "iljtfrI.,:;'|!()[] ":
        return 40
    return 90 if char in "mwMW@%—…" else 72 if char.isupper() else 60


# Plans the table of positions, which the home page and the organization show (in the code, seats).


SEATS = 300
"""The most positions in a table of seats that is not alone on its page."""


_LINE_CHARS = 60  # of a holder's name in a table, where it has one line


def listed_positions(context: Context) -> list[Position]:
    """Positions that are listed or have anything to show, the listed first, then by id; unions if memos name them."""
    positions = [position for position in context.archive.positions.values() if not position.union_of or position.names]
    return sorted(positions, key=lambda position: (not position.seats, context.label(position.id)))


def at_a_glance(context: Context, start: str, found: Activity, *, most: int) -> PositionsAtAGlance:
    """The positions of the home page: quiet ones sent nothing in the weeks of `found`, and nothing waits for them.

    Of the others, `most` have a row: those for whom most waits.
    """
    every = listed_positions(context)
    rows = [seat_row(context, start, position) for position in every[:SEATS]]
    active: list[SeatRow] = []
    quiet: list[SeatRow] = []
    for one, row in zip(every, rows, strict=False):
        is_active = row.unread or row.open_to or row.open_from or found.counts.get(one.id)
        (active if is_active else quiet).append(row)
    busiest = sorted(active, key=lambda row: -(row.open_to + row.unread))[:most]
    return PositionsAtAGlance(
        active=tuple(row for row in active if row in busiest),
        quiet=tuple(row.position for row in quiet),
        total=len(every),
        since=found.weeks[0].isoformat() if found.weeks else "",
    )


def seat_row(context: Context, start: str, position: Position) -> SeatRow:
    """A position in the table of seats."""
    members, index = position.members, context.seats
    sent = [index.newest_sent[id_] for id_ in members if id_ in index.newest_sent]
    newest = max(sent, key=lambda memo: memo.sort_key, default=None)
    inbox = _unread(context, position)
    oldest = min((memo for memo in inbox if memo.date), key=lambda memo: memo.sort_key, default=None)
    owed: dict[Ref, Artifact] = {memo.ref: memo for id_ in (*members, BROADCAST) for memo in index.owed.get(id_, ())}
    owed |= {one.ref: one for one in context.archive.waiting_besides_memos(members)}
    seats = [seat for _, seat in position.seats]
    return SeatRow(
        position=context.position(start, position.id),
        organizations=len(position.union_of),
        status=seats[0].status or "" if len(seats) == 1 else "",
        incumbent=cut_line(seats[0].holder, _LINE_CHARS) if len(seats) == 1 else "",
        last_sent=newest.date if newest else None,
        unread=len(inbox),
        is_unread_known=bool(inbox) or _is_reading_known(context, position),
        oldest_unread=oldest.date if oldest else None,
        open_to=sum(open_for(one, members) for one in owed.values()),
        open_from=sum(index.open_from.get(id_, 0) for id_ in members),
    )


def _is_reading_known(context: Context, position: Position) -> bool:
    """Whether it is known of all memos of `received` that a position without unread ones has read them."""
    members, index = position.members, context.seats
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
    members, index = position.members, context.seats
    repos = {context.archive.positions[member].repo for member in members} - {None}
    if len(repos) > 1:  # a memo to all is unread there if it is so in all of them together
        return [memo for memo in received(context, position) if context.is_unread(memo, position.id)]
    found = {memo.ref: memo for id_ in members for memo in index.unread.get(id_, ())}
    for repo in repos:
        for memo in index.unread_broadcasts.get(repo or "", ()):
            if memo.sender_position not in members:
                found[memo.ref] = memo
    return found.values()


# Plans who writes to whom on the page of the organization: how many memos, and how long answers take.


POSITIONS = 12
"""The most positions in the matrix."""


_Pair = tuple[str, str]


def plan_exchange(context: Context) -> tuple[Exchange | None, Bars | None]:
    """A matrix of the positions that exchange most, and how long replies take; None if nobody writes to anybody."""
    counts, times = _exchanged(context)
    return (_exchange(context, counts, times) if counts else None), _replies(context, times)


def _exchange(context: Context, counts: Counter[_Pair], times: Mapping[_Pair, Sequence[float]]) -> Exchange:
    traffic: Counter[str] = Counter()
    for (sender, to), number in counts.items():
        traffic[sender] += number
        traffic[to] += number
    shown = sorted(sorted(traffic, key=lambda id_: (-traffic[id_], id_))[:POSITIONS])
    pairs = {(one, other): counts[one, other] for one in shown for other in shown if counts[one, other]}
    most = max(pairs.values(), default=1)
    cells = {
        pair: ExchangeCell(
            number=number,
            shade=shade_of(number, most),
            answered=len(times.get(pair, ())),
            median=duration(median_low(times[pair])) if times.get(pair) else "",
        )
        for pair, number in pairs.items()
    }
    return Exchange(
        positions=tuple(context.position(ORGANIZATION, id_) for id_ in shown),
        rows=tuple(tuple(cells.get((one, other)) for other in shown) for one in shown),
        shown=sum(pairs.values()),
        total=counts.total(),
        left_out=len(traffic) - len(shown),
    )


_DAYS = (1, 7, 30)
"""Where the next column of the time to a reply begins."""


_WITHIN = (phrase("under a day"), phrase("1 to 6 days"), phrase("7 to 29 days"), phrase("30 days or more"))


def _replies(context: Context, times: Mapping[_Pair, Sequence[float]]) -> Bars | None:
    """How long the replies of each position took, of those with the most; None of a single reply."""
    taken: dict[str, list[float]] = defaultdict(list)
    for (_, who), seconds in times.items():
        taken[who] += seconds
    if sum(map(len, taken.values())) < 2:
        return None
    shown = sorted(taken, key=lambda id_: (-len(taken[id_]), id_))[:POSITIONS]
    counts = {id_: Counter(bisect(_DAYS, seconds / 86_400) for seconds in taken[id_]) for id_ in shown}
    said = [phrase("Replies by how long they took from when the memo was sent.")]
    if len(taken) > len(shown):
        said.append(phrase("The {shown} positions of {total} that replied most.", shown=len(shown), total=len(taken)))
    return Bars(
        anchor="time-to-reply",
        caption=joined(" ", said),
        corner=phrase("Position"),
        columns=tuple(PictureColumn(label=label) for label in _WITHIN),
        rows=tuple(
            PictureRow(
                label=context.position(ORGANIZATION, id_),
                cells=tuple(
                    Cell(number=counts[id_][place], words=joined(": ", (label, counts[id_][place])))
                    for place, label in enumerate(_WITHIN)
                ),
                note=joined(
                    " · ",
                    (
                        phrases("{n:,} reply", "{n:,} replies", len(taken[id_])),
                        phrase("median {time}", time=duration(median_low(taken[id_]))),
                    ),
                ),
            )
            for id_ in shown
        ),
    )


def _exchanged(context: Context) -> tuple[Counter[_Pair], dict[_Pair, list[float]]]:
    """For each sender and recipient the number of memos, and the seconds that the answered ones waited.

    Memos to all and to oneself are left out.
    """
    counts: Counter[_Pair] = Counter()
    times: dict[_Pair, list[float]] = defaultdict(list)
    for memo in context.memos:
        if memo.kind != "memo" or memo.sender_position is None:
            continue
        for to in {state.position for state in memo.recipients} - {BROADCAST, memo.sender_position}:
            counts[memo.sender_position, to] += 1
            waited = _waited(context, memo, to)
            if waited is not None:
                times[memo.sender_position, to].append(waited)
    return counts, times


def _waited(context: Context, memo: Memo, to: str) -> float | None:
    """The seconds until a recipient first answered; None if it did not, or if a date is only in a file name."""
    position = context.archive.positions.get(to)
    members = position.members if position else (to,)
    replies = (context.archive.artifacts.get(ref) for ref in (*memo.replies, *memo.also_answered_by))
    dates = [one.date for one in replies if isinstance(one, Memo) and one.sender_position in members and one.date]
    return seconds_between(memo.date, min(dates, key=lambda date: date.instant, default=None))


_DRAWN, _EDGES = 300, 2_000  # positions and relationships of one drawing


def plan_organization(context: Context) -> Iterator[OrganizationPage]:
    """All positions, and each orgdef with its relationships and charter; in parts where there is too much of them.

    Nothing where there are neither.
    """
    if not context.site.has_positions:
        return
    positions = listed_positions(context)
    edges = max((len(organization.relationships) for organization in context.archive.organizations), default=0)
    is_long = len(positions) > SEATS or edges > LIST_LIMIT
    count = -(-max(len(positions), edges) // LIST_LIMIT) if is_long else 0
    libraries = [one for one in context.archive.artifacts.values() if isinstance(one, Library)]
    unreadable = [context.artifact(ORGANIZATION, one.ref) for one in libraries if one.card.broken == "orgdef"]
    rests = [context.artifact(ORGANIZATION, one.ref) for one in libraries if one.card.rest]
    exchange, replies = plan_exchange(context)
    drawn = _map(context)
    for number in range(count + 1):
        start = part_page(ORGANIZATION, number) if number else ORGANIZATION
        chunk = slice((number - 1) * LIST_LIMIT, number * LIST_LIMIT) if number else slice(0, LIST_LIMIT)
        shown = positions[chunk] if number else positions[:SEATS]
        yield OrganizationPage(
            **head_of(context, start, title=part_title(phrase("Organization"), number), section="org"),
            parts=part_links(start, ORGANIZATION, count, number or None),
            organizations=tuple(_sections(context, start, chunk, is_part=number > 0, is_drawn=drawn is None)),
            chart=None if number else drawn,
            seats=tuple(seat_row(context, start, position) for position in shown),
            seats_total=len(positions),
            exchange=None if number else exchange,
            replies=None if number else replies,
            unreadable=() if number else tuple(unreadable),
            rests=() if number else tuple(rests),
        )


def _sections(
    context: Context, start: str, chunk: slice, *, is_part: bool, is_drawn: bool
) -> Iterable[OrganizationSection]:
    """The orgdefs with these of their relationships; in a part those that have any there, without the charter."""
    for organization, anchor in zip(
        context.archive.organizations, _anchors(context.archive.organizations), strict=True
    ):
        edges = organization.relationships[chunk]
        if edges or not is_part:
            yield OrganizationSection(
                id=organization.id,
                anchor=anchor,
                name=organization.name,
                version=organization.version,
                mission="" if is_part else cut_line(organization.mission, SUBJECT_CHARS),
                relationships=tuple(relationship_row(context, start, organization, edge) for edge in edges),
                relationships_total=len(organization.relationships),
                charter=() if is_part else tuple(_charter(organization)),
                place=f"{organization.source}/{organization.path}",
                chart=None
                if is_part or not is_drawn
                else draw(
                    [_seated(context, organization, seat) for seat in organization.seats[:_DRAWN]],
                    [_edge(edge) for edge in organization.relationships[:_EDGES]],
                ),
            )


def _map(context: Context) -> Chart | None:
    """All organizations in one drawing, each a box above its positions, with what is between them; None of few or many.

    Ids there are those of organizations by number, and of their seats behind a slash.
    """
    organizations = context.archive.organizations
    if len(organizations) < 2 or sum(len(one.seats) for one in organizations) > _DRAWN:
        return None
    known = {f"{number}/{seat.id}" for number, one in enumerate(organizations) for seat in one.seats}
    nodes = {  # of a position, in the first organization that has it
        context.seat_positions.get((one.id, seat.id)): f"{number}/{seat.id}"
        for number, one in reversed(list(enumerate(organizations)))
        for seat in one.seats
    }
    seated: list[Seated] = []
    edges: list[Edge] = []
    for number, (one, anchor) in enumerate(zip(organizations, _anchors(organizations), strict=True)):

        def end(name: str, one: Organization = one, number: int = number) -> str:
            outside = context.archive.position_of.get(name.removeprefix("external:"))
            if name == one.id:
                return str(number)
            return nodes.get(outside, "") if name.startswith("external:") and outside else f"{number}/{name}"

        within = [_edge(edge) for edge in one.relationships[:_EDGES]]
        mine = [
            replace(
                edge, sender=end(edge.sender), to=end(edge.to), is_rank=edge.is_rank and "external:" not in edge.words
            )
            for edge in within
        ]
        mine = [edge for edge in mine if {edge.sender, edge.to} <= {*known, str(number)}]
        managed = _managers(mine)
        link = Reference(label=cut_line(one.name, LABEL_CHARS), href=f"#{anchor}")
        seated.append(Seated(id=str(number), link=link, note="", status="organization"))
        for seat in one.seats:
            drawn = replace(_seated(context, one, seat), id=f"{number}/{seat.id}")
            seated.append(drawn)
            if drawn.id not in managed:
                mine.append(Edge(sender=drawn.id, to=str(number), words="", is_rank=True))
        edges += mine
    return draw(seated, edges)


_PLAIN: Mapping[str, str] = {
    "x.org.memo location": phrase("where its memos are"),
    "metadata": phrase("other facts"),
    "roledef:Role": phrase("roles"),
}
"""What people read in the place of names of fields."""


_NAMESPACE = regex(r"^(?:\w+def:|x\.(?:\w+\.)*)")
"""What stands before the name of a field of an extension, and before a type: `jobdef:Job`, `x.org.seal`."""


def _charter(organization: Organization) -> Iterable[tuple[str, str]]:
    """The texts of a charter, together no longer than half a page may be: seats and relationships are there, too."""
    left = PAGE_CHARS // 2
    for heading, text in organization.charter:
        name = _PLAIN.get(heading) or cut_line(_NAMESPACE.sub("", heading) or heading, LABEL_CHARS)
        yield name, shown_extra(text, limit=max(left, 0))
        left -= len(text)


def _seated(context: Context, organization: Organization, seat: Seat) -> Seated:
    """A position by the id that it has in this organization, with what else the orgdef calls it, and its holder."""
    id_ = context.seat_positions.get((organization.id, seat.id))
    name = other_name(seat.name, seat.id)
    return Seated(
        id=seat.id,
        link=replace(context.position(ORGANIZATION, id_), label=cut_line(seat.id, LABEL_CHARS)),
        note=cut_line(joined(" · ", [one for one in (name, seat.holder or seat.status) if one]), LABEL_CHARS),
        status=seat.status or "",
        counts=_counts(context, id_),
    )


def _counts(context: Context, position: str | None) -> str:
    """What waits in a position's mailbox: "3 unread, 2 to do"."""
    if position is None:
        return ""
    row = seat_row(context, ORGANIZATION, context.archive.positions[position])
    unread = [phrase("{n:,} unread", n=row.unread)] if row.unread else []
    to_do = [phrase("{n:,} to do", n=row.open_to)] if row.open_to else []
    return joined(", ", (*unread, *to_do))


def _anchors(organizations: Iterable[Organization]) -> Iterator[str]:
    """An anchor for each organization, made of its id; of equal ones the later have a number."""
    seen: Counter[str] = Counter()
    for organization in organizations:
        anchor = f"org-{make_id(organization.id)}"
        seen[anchor] += 1
        yield anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor]}"


def _edge(edge: Relationship) -> Edge:
    """A relationship as a line; `directs` is `reports_to` seen from above."""
    ends = (edge.to, edge.sender) if edge.type == "directs" else (edge.sender, edge.to)
    words = f"{edge.sender} {edge.type.replace('_', ' ')} {edge.to}"
    return Edge(sender=ends[0], to=ends[1], words=cut_line(words, 200), is_rank=edge.type in {"directs", "reports_to"})
