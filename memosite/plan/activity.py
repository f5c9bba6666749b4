"""Plans the activity of the last weeks: what each position sent, wrote or recorded, week by week."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memosite.archive.model import Artifact, Memo, Transcript
from memosite.archive.urls import HOME, UNDATED_MONTH, index_file
from memosite.pages.pictures import Cell, Grid, PictureColumn, PictureRow
from memosite.plan.context import Context
from memosite.plan.dates import day_of, month_name
from memosite.plan.months import page_within_month

WEEKS = 13
_ROWS = 10
_WEEK = dt.timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """The weeks of the picture, by their Mondays, and how much each position did in each.

    `first` maps a position and a week to the first of these artifacts: its time, and where its day is on the timeline.
    """

    weeks: tuple[dt.date, ...]
    counts: Mapping[str, Counter[dt.date]]
    first: Mapping[tuple[str, dt.date], tuple[dt.datetime, str]]


def find_activity(context: Context, months: Mapping[str, Sequence[Artifact]]) -> Activity:
    """What happened in the last weeks, by dates in UTC; of all `months` only the last ones are looked at."""
    newest = max(context.arrival_times.values(), default=None)
    if newest is None:
        return Activity(weeks=(), counts={}, first={})
    last = _monday(newest.date())
    weeks = tuple(last - _WEEK * back for back in reversed(range(WEEKS)) if (last - dt.date.min) >= _WEEK * back)
    counts: dict[str, Counter[dt.date]] = defaultdict(Counter)
    first: dict[tuple[str, dt.date], tuple[dt.datetime, str]] = {}
    for artifact, page in _since(months, weeks[0]):
        position, date = _who(artifact), artifact.date
        if position is None or date is None:
            continue
        week = _monday(date.instant.date())
        if weeks[0] <= week <= last:
            counts[position][week] += 1
            place = date.instant, f"{page}#{day_of(artifact)}"
            first[position, week] = min(first.get((position, week), place), place)
    return Activity(weeks=weeks, counts=counts, first=first)


def _since(months: Mapping[str, Sequence[Artifact]], day: dt.date) -> Iterator[tuple[Artifact, str]]:
    """The artifacts of a day's month and of those after it, with the page that lists each."""
    for month, artifacts in months.items():
        if month != UNDATED_MONTH and month >= _month(day):
            for number, artifact in enumerate(artifacts):
                yield artifact, index_file(page_within_month(month, number, len(artifacts)))


def _who(artifact: Artifact) -> str | None:
    """Whose doing an artifact is."""
    if isinstance(artifact, Memo):
        return artifact.sender_position
    return artifact.role if isinstance(artifact, Transcript) else None


def _month(day: dt.date) -> str:
    return f"{day.year:04d}/{day.month:02d}"


def _monday(day: dt.date) -> dt.date:
    return day - dt.timedelta(days=day.weekday())


def draw_activity(context: Context, found: Activity) -> Grid | None:
    """Weeks × positions, those that did most. A cell leads to the first day of the week with anything of it."""
    totals = {id_: count.total() for id_, count in found.counts.items()}
    shown = sorted(totals, key=lambda id_: (-totals[id_], id_))[:_ROWS]
    if not shown:
        return None
    picture = Grid(
        anchor="activity",
        caption="",
        corner="Position",
        columns=tuple(_columns(found.weeks)),
        rows=tuple(_row(context, found, id_) for id_ in shown),
    )
    more = f" The {len(shown)} most active of {len(totals)} positions." if len(totals) > len(shown) else ""
    words = f"Memos, notes and transcripts by position, in weeks from Monday; the darkest is {picture.most:,}.{more}"
    return replace(picture, caption=words)


def _columns(weeks: Sequence[dt.date]) -> Iterator[PictureColumn]:
    """A column for each week; the first of a month is marked if there is room before the next mark."""
    months = [_month(week) for week in weeks]
    for number, (week, month) in enumerate(zip(weeks, months, strict=True)):
        is_first = month not in months[:number]
        has_room = all(later == month for later in months[number + 1 : number + 2])
        yield PictureColumn(label=week.isoformat(), mark=month_name(month)[:3] if is_first and has_room else "")


def _row(context: Context, found: Activity, id_: str) -> PictureRow:
    label = context.position(HOME, id_)
    return PictureRow(
        label=label,
        cells=tuple(
            Cell(number=number, href=found.first[id_, week][1], words=f"{week}: {number:,}")
            if (number := found.counts[id_][week])
            else Cell(number=0)
            for week in found.weeks
        ),
    )
