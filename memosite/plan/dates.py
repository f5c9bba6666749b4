"""Formats dates and months for pages, counts by week, and sorts lists: by date, newest first, or by arrival."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TypeVar

from memosite.archive.model import Artifact
from memosite.archive.urls import UNDATED_MONTH, month_of
from memosite.facts.phrases import phrase, phrases
from memosite.facts.times import Moment
from memosite.pages import Cell, PictureColumn, PictureRow, Reference

A = TypeVar("A", bound=Artifact)

by_arrival = attrgetter("arrival")
"""The order in which everything is kept."""
_by_date = attrgetter("date.instant", "id")

_MONTHS = (
    phrase("January"), phrase("February"), phrase("March"), phrase("April"), phrase("May"), phrase("June"),
    phrase("July"), phrase("August"), phrase("September"), phrase("October"), phrase("November"), phrase("December"),
)  # fmt: skip
_MARKS = (
    phrase("Jan"), phrase("Feb"), phrase("Mar"), phrase("Apr"), phrase("May"), phrase("Jun"),
    phrase("Jul"), phrase("Aug"), phrase("Sep"), phrase("Oct"), phrase("Nov"), phrase("Dec"),
)  # fmt: skip


def seconds_between(before: Moment | None, after: Moment | None) -> float | None:
    """How long a step took; None if it is not known, or if the clocks disagree."""
    if before is None or after is None or "name" in {before.origin, after.origin}:
        return None
    seconds = (after.instant - before.instant).total_seconds()
    return seconds if seconds >= 0 else None


def duration(seconds: float) -> str:
    """`3 days`: a time in the largest fitting unit."""
    if days := int(seconds // 86_400):
        return phrases("{n} day", "{n} days", days)
    if hours := int(seconds // 3_600):
        return phrases("{n} hour", "{n} hours", hours)
    if minutes := int(seconds // 60):
        return phrases("{n} minute", "{n} minutes", minutes)
    return phrase("under a minute")


def newest_first(artifacts: Iterable[A]) -> list[A]:
    """By date, newest first; what has no date comes last, the later arrived first."""
    dated: list[A] = []
    undated: list[A] = []
    for artifact in artifacts:
        (dated if artifact.date else undated).append(artifact)
    dated.sort(key=_by_date, reverse=True)
    undated.sort(key=by_arrival, reverse=True)
    return dated + undated


def newest(artifacts: Sequence[Artifact], limit: int) -> list[Artifact]:
    """The first of `newest_first`: of a long list, which is mostly in order, few are sorted."""
    if len(artifacts) > 4 * limit:
        last = sorted((one.date.instant for one in artifacts[-2 * limit :] if one.date), reverse=True)
        if len(last) >= limit:  # nothing older than the last of these can be among the newest
            since = last[limit - 1]
            artifacts = [one for one in artifacts if one.date and one.date.instant >= since]
    return newest_first(artifacts)[:limit]


def month_name(month: str) -> str:
    """`2026/05` as "May 2026"."""
    if month == UNDATED_MONTH:
        return phrase("Undated")
    year, _ = month.split("/")
    return phrase("{month} {year}", month=month_alone(month), year=year)


def month_alone(month: str) -> str:
    """`2026/05` as "May"."""
    return _MONTHS[int(month.partition("/")[2]) - 1]


def month_mark(month: str) -> str:
    """The first letters of the name of a month."""
    return _MARKS[int(month.partition("/")[2]) - 1]


_WEEKDAYS = (
    phrase("Monday"), phrase("Tuesday"), phrase("Wednesday"), phrase("Thursday"), phrase("Friday"), phrase("Saturday"),
    phrase("Sunday"),
)  # fmt: skip


def day_name(day: str) -> str:
    """A day (ISO 8601) as a page of its month calls it: "Friday, 22 May"."""
    date = dt.date.fromisoformat(day)
    month = month_alone(f"{date.year}/{date.month}")
    return phrase("{weekday}, {day} {month}", weekday=_WEEKDAYS[date.weekday()], day=date.day, month=month)


def span_name(first: dt.date, last: dt.date) -> str:
    """Some days, as people say them: "4–10 May 2026"."""
    months = tuple(month_alone(f"{day.year}/{day.month}") for day in (first, last))
    if first.year != last.year:
        return phrase(
            "{day} {month} {year} – {last} {last_month} {last_year}",
            day=first.day, month=months[0], year=first.year, last=last.day, last_month=months[1], last_year=last.year,
        )  # fmt: skip
    if first.month != last.month:
        return phrase(
            "{day} {month} – {last} {last_month} {year}",
            day=first.day, month=months[0], last=last.day, last_month=months[1], year=last.year,
        )  # fmt: skip
    return phrase("{day}–{last} {month} {year}", day=first.day, last=last.day, month=months[0], year=first.year)


def by_month(artifacts: Iterable[Artifact]) -> dict[str, list[Artifact]]:
    """Artifacts of each month, in order of arrival; months in order of time, the undated last."""
    together: dict[tuple[int, int] | None, list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        instant = artifact.date.instant if artifact.date else None
        together[(instant.year, instant.month) if instant else None].append(artifact)
    found = {month_of(some[0]): some for some in together.values()}
    return {month: found[month] for month in sorted(found, key=lambda month: (month == UNDATED_MONTH, month))}


def monday(day: dt.date) -> dt.date:
    """The first day of a day's week (ISO 8601)."""
    return day - dt.timedelta(days=day.weekday())


def weeks_between(first: dt.date, last: dt.date) -> Iterator[dt.date]:
    """The Mondays from one to another."""
    return (first + dt.timedelta(weeks=number) for number in range((last - first).days // 7 + 1))


_MARK_PIXELS, _PHONE_PIXELS = 26, 229
"""How wide the mark of a month is, and the columns of a grid on a phone."""


def week_columns(weeks: Sequence[dt.date]) -> tuple[PictureColumn, ...]:
    """A column for each week; the first of a month is marked if there is room before and behind it."""
    months = [f"{week.year:04d}/{week.month:02d}" for week in weeks]
    room = -(-len(weeks) * _MARK_PIXELS // _PHONE_PIXELS)
    marks: dict[int, str] = {}
    for number, month in enumerate(months):
        is_first, is_last = month not in months[max(number - 5, 0) : number], months[number + 1 : number + 2] != [month]
        if is_first and not (is_last and number + 1 < len(months)) and number - max(marks, default=-room) >= room:
            marks[number] = month_mark(month)
    return tuple(PictureColumn(label=week.isoformat(), mark=marks.get(number, "")) for number, week in enumerate(weeks))


def week_row(
    label: Reference, counts: Mapping[dt.date, int], weeks: Iterable[dt.date], links: Mapping[str, str]
) -> PictureRow:
    """A row of a grid with such columns; a cell leads where `links` says for its week."""
    return PictureRow(
        label=label,
        cells=tuple(
            Cell(number=number, href=links.get(week.isoformat()), words=f"{week}: {number:,}")
            if (number := counts.get(week, 0))
            else Cell(number=0)
            for week in weeks
        ),
    )
