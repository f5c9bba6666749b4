"""Parses dates and times leniently; moments sort by instant and keep their written offset.

The source of the rules is SPEC 2.2 (times) and SPEC 3 (dates): the offset as written is kept, a time
without zone is taken as UTC, and a file name's stamp (`2026-05-01-1430`) is the fallback.
"""

import datetime as dt
from functools import cached_property
from typing import Literal

from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.patterns import regex
from memosite.facts.values import Value

UTC = dt.UTC

# ISO 8601, calendar dates in the extended and the basic format, with as many parts of the time as were written
_CLOCK = r"(?P<hour>[0-9]{2})(?:(?P<colon>:?)(?P<minute>[0-9]{2})(?:(?P=colon)(?P<second>[0-9]{2}))?)?"
_ISO = regex(
    r"(?P<year>[0-9]{4})(?P<dash>-?)(?P<month>[0-9]{2})(?P=dash)(?P<day>[0-9]{2})"
    rf"(?:[Tt ]{_CLOCK}(?P<fraction>[.,][0-9]{{1,9}})?"
    r"\s?(?P<zone>[Zz]|(?P<sign>[+-])(?P<zone_hour>[0-9]{2})(?::?(?P<zone_minute>[0-5][0-9]))?)?)?"
)


class Moment(Value, dict=True):
    """An instant in UTC, the offset it was written with (minutes east, None = no zone given), and its origin.

    How it is written is computed once: it stands in every list that shows its item.
    """

    instant: dt.datetime
    offset: int | None
    origin: Literal["field", "name"] = "field"

    @cached_property
    def utc(self) -> str:
        """ISO 8601 in UTC, seconds or milliseconds: machine output."""
        spec = "milliseconds" if self.instant.microsecond else "seconds"
        return self.instant.isoformat(timespec=spec).replace("+00:00", "Z")

    @property
    def zone(self) -> str | None:
        """The offset as `+HH:MM`, None if none was written."""
        if self.offset is None:
            return None
        sign, minutes = ("-", -self.offset) if self.offset < 0 else ("+", self.offset)
        return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"

    @property
    def local(self) -> dt.datetime:
        """The wall-clock time of the writer, without zone."""
        try:
            return (self.instant + dt.timedelta(minutes=self.offset or 0)).replace(tzinfo=None)
        except OverflowError:
            return self.instant.replace(tzinfo=None)

    @cached_property
    def day(self) -> str:
        """The day on the writer's clock: as people are shown it everywhere."""
        return self.local.date().isoformat()

    @property
    def clock(self) -> str:
        """The time on the writer's clock, with the offset; "" if none was given."""
        return self.shown[11:]

    @cached_property
    def shown(self) -> str:
        """As people are shown it: the writer's clock and the offset as written; the day alone if no time was given."""
        local = self.local
        if self.offset is None and (local.hour, local.minute, local.second) == (0, 0, 0):
            return self.day
        shown = local.strftime("%Y-%m-%d %H:%M") if local.year >= 1000 else local.isoformat(" ", "minutes")
        if self.zone is None:
            return shown
        return f"{shown} {self.zone.replace('-', '−')}" if self.offset else f"{shown} UTC"


def read_moment(text: str) -> Moment | None:
    """Read an ISO 8601 date or date-time; None if it is anything else (a placeholder, a year out of range).

    A date alone is its midnight; 24:00 is the midnight after, a leap second the second after it. Fractions of a
    second beyond microseconds are cut; week and ordinal dates are not read.
    """
    match = _ISO.fullmatch(text.strip())
    if match is None or (match["fraction"] and match["second"] is None):
        return None
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):
        return None
    zone_hour, zone_minute = int(match["zone_hour"] or 0), int(match["zone_minute"] or 0)
    if zone_hour > 23:
        return None
    offset = zone_hour * 60 + zone_minute
    if match["sign"] == "-":
        offset = -offset
    clock = dt.timedelta(
        hours=hour,
        minutes=minute - offset,
        seconds=second,
        microseconds=int((match["fraction"] or ".0")[1:7].ljust(6, "0")),
    )
    try:
        day = dt.datetime(int(match["year"]), int(match["month"]), int(match["day"]), tzinfo=UTC)
        instant = day + clock
    except (ValueError, OverflowError):
        return None
    return Moment(instant=instant, offset=offset if match["zone"] else None)


_LIKE_DATE = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ].*)?")


def is_like_date(text: str) -> bool:
    """Whether a text was meant to be a date: it is written as one, whatever day it names."""
    return _LIKE_DATE.fullmatch(text.strip()) is not None


def asked_date(written: str, *, of: str, expected: str) -> Moment | None:
    """The date that somebody asks for, or None for anything else: digits alone may be a commit.

    Raises `ConfigError` if it is written as a date and names no day: what it is `of`, and what was `expected`.
    """
    if "-" in written and (found := read_moment(written)):
        return found
    if is_like_date(written):
        raise ConfigError(f'{of} "{printable(written)}": found an invalid date, {expected}')
    return None


def read_stamp(stamp: str) -> Moment | None:
    """Read the stamp of a file name, `2026-05-01-1430` or `2026-05-01`; its zone is not known and taken as UTC."""
    date, clock = stamp[:10], stamp[11:]
    moment = read_moment(f"{date}T{clock[:2]}:{clock[2:]}" if clock else date)
    return None if moment is None else Moment(instant=moment.instant, offset=None, origin="name")
