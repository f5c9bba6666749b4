"""Plans the stream of a position: what it sent, received and filed, newest first, by month, with its weeks.

    everything that involves it, by arrival ─┬─► the newest 200: on its page
                                             └─► parts of 500, which never change once they are full

Each month and each week has an anchor. Of those that are not on the page (any more), the page keeps the anchors beside
links to the parts, so that an address of a week stays valid.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memosite.archive.model import Artifact, Memo, Position
from memosite.archive.urls import UNDATED_MONTH, month_of, part_page, position_page, relative
from memosite.facts.parsed import BROADCAST
from memosite.facts.phrases import phrase
from memosite.pages.models import ListPage
from memosite.pages.parts import ListSection, Reference, Row
from memosite.pages.pictures import Cell, PictureColumn, PictureRow, Sparks
from memosite.pages.streams import EarlierMonth, Stream
from memosite.plan.context import Context
from memosite.plan.dates import month_name, newest, newest_first
from memosite.plan.pagination import in_parts, part_count, plan_part
from memosite.plan.position_items import involving

SHOWN = 100
"""The most rows of the stream on the page of a position."""
IN_PARTS = 100
"""A position with more than so many artifacts has parts."""
_WEEKS, _MONTHS = 26, 24
_TARGETS = ("received", "sent", "notes", "transcripts")
"""Anchors that the page had for parts of the stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """What is in a stream: `shown` on its page, the newest first; `parts` hold everything, in order of arrival."""

    page: str
    shown: Sequence[Artifact]
    parts: Sequence[Sequence[Artifact]]

    def places(self, key: Callable[[Artifact], str]) -> dict[str, str]:
        """The page that has the newest artifact of each week or month; what has no key is left out."""
        found = {key(one): self.page for one in self.shown}
        last: dict[str, tuple[dt.datetime, str]] = {}
        for number, chunk in enumerate(self.parts, 1):
            for one in chunk:
                name = key(one)
                if name not in found and one.date is not None:
                    place = one.date.instant, part_page(self.page, number)
                    last[name] = max(last.get(name, place), place)
        places = found | {name: page for name, (_, page) in last.items()}
        return {name: page for name, page in places.items() if name}


def find_entries(position: Position, everything: Sequence[Artifact]) -> Entries:
    """The stream of a position, from everything that involves it."""
    parts = in_parts(everything) if part_count(everything, shown=IN_PARTS) else ()
    return Entries(page=position_page(position.id), shown=newest(everything, SHOWN), parts=parts)


def week_links(context: Context, start: str, position: Position) -> Mapping[str, str]:
    """Where each week of a position's stream is, by its Monday (ISO 8601)."""
    places = find_entries(position, involving(context, position)).places(week_of)
    return {week: f"{relative(start, page)}#{_week_anchor(week)}" for week, page in places.items()}


def monday(day: dt.date) -> dt.date:
    """The first day of a day's week (ISO 8601)."""
    return day - dt.timedelta(days=day.weekday())


def week_of(artifact: Artifact) -> str:
    """The Monday of an artifact's week, by its date in UTC; "" without a date."""
    return monday(artifact.date.instant.date()).isoformat() if artifact.date else ""


def _week_anchor(week: str) -> str:
    return f"week-{week}"


def _month_anchor(month: str) -> str:
    return month.replace("/", "-")


def plan_stream(context: Context, start: str, position: Position, everything: Sequence[Artifact]) -> Stream:
    """The newest of a stream by month, what leads to the rest, and a picture of it."""
    entries = find_entries(position, everything)
    months = entries.places(month_of)
    weeks = entries.places(week_of)
    return Stream(
        heading=ListSection(
            heading=phrase("Sent, received and filed"),
            anchor="stream",
            rows=(),
            total=len(everything),
            targets=_TARGETS,
        ),
        months=_by_month(context, start, entries.shown, position),
        shown=len(entries.shown),
        earlier=tuple(_earlier(start, entries, months, weeks)),
        drawn=_draw(start, position, everything, months=months, weeks=weeks),
    )


def _by_month(
    context: Context, start: str, artifacts: Iterable[Artifact], position: Position
) -> tuple[ListSection, ...]:
    """Months, newest first; the first row of each week has the anchor of the week."""
    members = {position.id, *position.union_of}
    months: dict[str, list[Row]] = defaultdict(list)
    weeks = {""}
    for one in newest_first(artifacts):
        week = week_of(one)
        anchor = "" if week in weeks else _week_anchor(week)
        months[month_of(one)].append(_row(context, start, one, position.id, members, anchor=anchor))
        weeks.add(week)
    return tuple(
        ListSection(heading=month_name(month), anchor=_month_anchor(month), rows=tuple(rows), total=len(rows))
        for month, rows in months.items()
    )


def _row(context: Context, start: str, artifact: Artifact, viewer: str, members: set[str], *, anchor: str) -> Row:
    """A row that says what it is to the position, which is not named again."""
    row, way = context.row(start, artifact, viewer=viewer), way_of(artifact, members)
    alone = isinstance(artifact, Memo) and len(artifact.recipients) == 1 == len(row.to) and not artifact.is_broadcast
    return replace(
        row,
        way=way,
        anchor=anchor,
        sender=None if way == "sent" else row.sender,
        to=() if way == "received" and alone else row.to,
    )


def way_of(artifact: Artifact, members: set[str]) -> str:
    """What an artifact is to these positions: sent, received, or else its kind."""
    if isinstance(artifact, Memo) and artifact.kind == "memo":
        if artifact.sender_position in members:
            return "sent"
        if any(state.position in members or state.position == BROADCAST for state in artifact.recipients):
            return "received"
    return artifact.kind


def _earlier(
    start: str, entries: Entries, months: Mapping[str, str], weeks: Mapping[str, str]
) -> Iterator[EarlierMonth]:
    """The months that are not shown whole, newest first, with the parts that have them."""
    shown = frozenset(one.ref for one in entries.shown)
    parts: dict[str, list[int]] = defaultdict(list)
    anchors: dict[str, dict[str, None]] = defaultdict(dict)
    totals: Counter[str] = Counter()
    taken = {""} | {week for week, page in weeks.items() if page == entries.page}
    for number, chunk in enumerate(entries.parts, 1):
        for one in chunk:
            if one.ref in shown:
                continue
            month = month_of(one)
            totals[month] += 1
            if number not in parts[month][-1:]:
                parts[month].append(number)
            week = week_of(one)
            if week not in taken:
                anchors[month][week] = None
                taken.add(week)
    for month in sorted(totals, key=lambda month: (month != UNDATED_MONTH, month), reverse=True):
        links = [
            Reference(
                label=f"page {number}",
                href=f"{relative(start, part_page(entries.page, number))}#{_month_anchor(month)}",
            )
            for number in reversed(parts[month])
        ]
        own = () if months.get(month) == entries.page else (_month_anchor(month),)
        yield EarlierMonth(
            month=replace(links[0], label=month_name(month)),
            total=totals[month],
            also=tuple(links[1:]),
            targets=(*own, *map(_week_anchor, anchors[month])),
        )


def _draw(
    start: str,
    position: Position,
    everything: Iterable[Artifact],
    *,
    months: Mapping[str, str],
    weeks: Mapping[str, str],
) -> Sparks | None:
    """Memos sent and received: by week if they are from half a year at most, else by month, the newest two years."""
    members = {position.id, *position.union_of}
    memos = [(way, one) for one in everything if (way := way_of(one, members)) in {"sent", "received"} and one.date]
    days = [one.date.instant.date() for _, one in memos if one.date]
    if not days:
        return None
    spans = _weeks_between(monday(min(days)), monday(max(days)))
    is_weekly = len(spans) <= _WEEKS
    key, places, anchor = (week_of, weeks, _week_anchor) if is_weekly else (month_of, months, _month_anchor)
    names = spans if is_weekly else _months_before(max(days))
    counts = Counter((way, key(one)) for way, one in memos)
    picture = Sparks(
        anchor="sent-and-received",
        caption="",
        corner=phrase("Week from") if is_weekly else phrase("Month"),
        columns=tuple(PictureColumn(label=name.replace("/", "-")) for name in names),
        rows=tuple(
            PictureRow(
                label=Reference(label=label),
                cells=tuple(
                    Cell(
                        number=number,
                        href=f"{relative(start, places[name])}#{anchor(name)}",
                        words=f"{name.replace('/', '-')}: {number:,}",
                    )
                    if (number := counts[way, name])
                    else Cell(number=0)
                    for name in names
                ),
                note=f"{sum(counts[way, name] for name in names):,}",
            )
            for way, label in (("sent", phrase("Sent")), ("received", phrase("Received")))
        ),
    )
    first, last = (name.replace("/", "-") for name in (names[0], names[-1]))
    return replace(picture, caption=_caption(first, last, picture.most, is_weekly=is_weekly))


def _caption(first: str, last: str, most: int, *, is_weekly: bool) -> str:
    if is_weekly:
        return phrase(
            "Memos, a bar for each week from Monday (UTC), {first} to {last}; the highest is {most:,}.",
            first=first,
            last=last,
            most=most,
        )
    return phrase(
        "Memos, a bar for each month (UTC), {first} to {last}; the highest is {most:,}.",
        first=first,
        last=last,
        most=most,
    )


def _weeks_between(first: dt.date, last: dt.date) -> list[str]:
    """The Mondays from one to another; one too many to draw if there are more."""
    number = min((last - first).days // 7, _WEEKS) + 1
    return [(first + dt.timedelta(days=7 * place)).isoformat() for place in range(number)]


def _months_before(day: dt.date) -> list[str]:
    """The months up to that of a day, oldest first."""
    last = 12 * day.year + day.month - 1
    numbers = range(max(last - _MONTHS + 1, 12), last + 1)
    return [f"{number // 12:04d}/{number % 12 + 1:02d}" for number in numbers]


def stream_parts(
    context: Context, position: Position, title: str, everything: Sequence[Artifact]
) -> Iterator[ListPage]:
    """The parts of a stream: everything in order of arrival, 500 a part, each by month."""
    page = position_page(position.id)
    for number, chunk in enumerate(find_entries(position, everything).parts, 1):
        part = plan_part(context, page, title, number, (), section_name="org", viewer=position.id)
        first, *others = _by_month(context, part_page(page, number), chunk, position)
        yield replace(part, sections=(replace(first, targets=(f"part-{number}",)), *others))
