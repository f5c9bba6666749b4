"""Says how old something is, counted from the newest date of the archive: the output has no clock."""

import datetime as dt

from memosite.facts.phrases import phrases
from memosite.facts.times import Moment
from memosite.pages.parts import Stamp
from memosite.plan.context import Context


def newest_day(context: Context) -> dt.date | None:
    """The newest date of the archive as written, to which ages are counted; a date far ahead of all others is none."""
    times = context.arrival_times
    if not times:
        return None
    ref = max(times, key=lambda one: (times[one], one))
    date = context.archive.artifacts[ref].date
    return _day(date) if date and date.instant == times[ref] else times[ref].date()


def as_of(day: dt.date | None) -> Stamp | None:
    """A day as pages show it."""
    return Stamp(utc=day.isoformat(), shown=day.isoformat(), day=day.isoformat()) if day else None


def age(moment: Moment | None, day: dt.date | None) -> str:
    """How many days something was old on a day, in words; "" if it has no date or is newer."""
    days = days_old(moment, day)
    return "" if days is None or days < 0 else phrases("{n} day", "{n} days", days)


def days_old(moment: Moment | None, day: dt.date | None) -> int | None:
    """The days from a date as it is written, and shown, to a day; None without one of them."""
    return None if moment is None or day is None else (day - _day(moment)).days


def _day(moment: Moment) -> dt.date:
    return dt.date.fromisoformat(moment.day)
