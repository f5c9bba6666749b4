"""Plans the activity of the last weeks: what each position sent, wrote or recorded, week by week."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memosite.archive.model import Artifact, Memo, Transcript
from memosite.archive.urls import HOME, UNDATED_MONTH
from memosite.facts.phrases import joined, phrase
from memosite.pages.pictures import Cell, Grid, PictureColumn, PictureRow
from memosite.plan.context import Context
from memosite.plan.dates import month_mark
from memosite.plan.stream import monday, week_links

WEEKS = 13
_DRAWN_WEEKS, _DRAWN_ROWS = 9, 8
_WEEK = dt.timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """The last weeks, by their Mondays, and how much each position did in each."""

    weeks: tuple[dt.date, ...]
    counts: Mapping[str, Counter[dt.date]]


def find_activity(context: Context, months: Mapping[str, Sequence[Artifact]]) -> Activity:
    """What happened in the last weeks, by dates in UTC; of all `months` only the last ones are looked at."""
    newest = max(context.arrival_times.values(), default=None)
    if newest is None:
        return Activity(weeks=(), counts={})
    last = monday(newest.date())
    weeks = tuple(last - _WEEK * back for back in reversed(range(WEEKS)) if (last - dt.date.min) >= _WEEK * back)
    counts: dict[str, Counter[dt.date]] = defaultdict(Counter)
    for artifact in _since(months, weeks[0]):
        position, date = _who(artifact), artifact.date
        if position is None or date is None:
            continue
        week = monday(date.instant.date())
        if weeks[0] <= week <= last:
            counts[position][week] += 1
    return Activity(weeks=weeks, counts=counts)


def _since(months: Mapping[str, Sequence[Artifact]], day: dt.date) -> Iterator[Artifact]:
    """The artifacts of a day's month and of those after it."""
    for month, artifacts in months.items():
        if month != UNDATED_MONTH and month >= _month(day):
            yield from artifacts


def _who(artifact: Artifact) -> str | None:
    """Whose doing an artifact is."""
    if isinstance(artifact, Memo):
        return artifact.sender_position
    return artifact.role if isinstance(artifact, Transcript) else None


def _month(day: dt.date) -> str:
    return f"{day.year:04d}/{day.month:02d}"


def draw_activity(context: Context, found: Activity) -> Grid | None:
    """Weeks × positions, those that did most. A cell leads to the week on the position's page."""
    weeks = found.weeks[-_DRAWN_WEEKS:]
    sums = {id_: sum(count[week] for week in weeks) for id_, count in found.counts.items()}
    totals = {id_: number for id_, number in sums.items() if number}
    shown = sorted(totals, key=lambda id_: (-totals[id_], id_))[:_DRAWN_ROWS]
    if not shown:
        return None
    picture = Grid(
        anchor="activity",
        caption="",
        corner=phrase("Position"),
        columns=tuple(_columns(weeks)),
        rows=tuple(_row(context, found.counts[id_], weeks, id_) for id_ in shown),
    )
    words = phrase(
        "Memos, notes and transcripts by position, in weeks from Monday (UTC); the most is {most:,}.", most=picture.most
    )
    if len(totals) > len(shown):
        more = phrase("The {shown} most active of {total} positions.", shown=len(shown), total=len(totals))
        words = joined(" ", (words, more))
    return replace(picture, caption=words)


def _columns(weeks: Sequence[dt.date]) -> Iterator[PictureColumn]:
    """A column for each week; the first of a month is marked if there is room before the next mark."""
    months = [_month(week) for week in weeks]
    for number, (week, month) in enumerate(zip(weeks, months, strict=True)):
        is_first = month not in months[:number]
        has_room = all(later == month for later in months[number + 1 : number + 2])
        yield PictureColumn(label=week.isoformat(), mark=month_mark(month) if is_first and has_room else "")


def _row(context: Context, counts: Counter[dt.date], weeks: Sequence[dt.date], id_: str) -> PictureRow:
    position = context.archive.positions.get(id_)
    links = week_links(context, HOME, position) if position else {}
    return PictureRow(
        label=context.position(HOME, id_),
        cells=tuple(
            Cell(number=number, href=links.get(week.isoformat()), words=f"{week}: {number:,}")
            if (number := counts[week])
            else Cell(number=0)
            for week in weeks
        ),
    )
