"""Says how old something is, counted from the newest date of the archive: the output has no clock."""

import datetime as dt

from memosite.facts.phrases import phrases
from memosite.facts.times import Moment
from memosite.pages.parts import Stamp
from memosite.plan.context import Context


def newest_day(context: Context) -> dt.date | None:
    """The newest date of the archive, to which ages are counted; a single date far ahead of all others is none."""
    times = context.arrival_times.values()
    return max(times).date() if times else None


def as_of(day: dt.date | None) -> Stamp | None:
    """A day as pages show it."""
    return Stamp(utc=day.isoformat(), shown=day.isoformat(), day=day.isoformat()) if day else None


def age(moment: Moment | None, day: dt.date | None) -> str:
    """How many days something was old on a day, in words; "" if it has no date or is newer."""
    if moment is None or day is None or (days := (day - moment.instant.date()).days) < 0:
        return ""
    return phrases("{n} day", "{n} days", days)
