"""Reads the stamps of turns, which are local times without a zone, and tells what they are in UTC (SPEC 4)."""

import datetime as dt
import re
from contextlib import suppress

_CLOCK = r"(?:, *| +|T)(?P<h>[0-9]{1,2}):(?P<min>[0-9]{2})(?::(?P<s>[0-9]{2}))?(?: *(?P<half>[AaPp])\.?[Mm]\.?)?"
_STAMPS = (
    re.compile(r"(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})/(?P<y>[12][0-9]{3})" + _CLOCK),
    re.compile(r"(?P<d>[0-9]{1,2})\.(?P<m>[0-9]{1,2})\.(?P<y>[12][0-9]{3})" + _CLOCK),
    re.compile(r"(?P<y>[12][0-9]{3})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})" + _CLOCK),
)
_SPACES = {0x00A0: " ", 0x2009: " ", 0x202F: " "}  # white space that locales put before AM and PM
_FURTHEST_OFFSET = dt.timedelta(hours=14, minutes=30)


def local_time(written: str) -> dt.datetime | None:
    """Return the time of a stamp in US, German or ISO form; None for anything else."""
    text = written.translate(_SPACES)
    match = next((match for pattern in _STAMPS if (match := pattern.fullmatch(text))), None)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[part] or 0) for part in ("y", "m", "d", "h", "min", "s"))
    half = match["half"]
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half in "Pp" else 0)
    with suppress(ValueError):  # 2/30/2026
        return dt.datetime(year, month, day, hour, minute, second)
    return None


def clock_of(written: str | None, day: str = "") -> str:
    """A stamp in the notation of all pages, with seconds if it has them: without its day if that is `day`."""
    local = local_time(written or "")
    if written is None or local is None:
        return written or ""
    clock = f"{local:%H:%M:%S}" if written.count(":") > 1 else f"{local:%H:%M}"
    return clock if f"{local.date()}" == day else f"{local.date()} {clock}"


def utc_offset(started: dt.datetime | None, first: dt.datetime | None) -> dt.timedelta | None:
    """Return local time less UTC, from the same moment given in both; None where no time zone has that offset."""
    if started is None or first is None:
        return None
    instant = started if started.utcoffset() is not None else started.replace(tzinfo=dt.UTC)
    minute = dt.timedelta(minutes=1)
    offset = round((first.replace(tzinfo=dt.UTC) - instant) / minute) * minute
    return offset if abs(offset) <= _FURTHEST_OFFSET and not offset % (15 * minute) else None


def last_turn_at(span: tuple[dt.datetime, dt.datetime] | None, *, started: dt.datetime | None) -> dt.datetime | None:
    """The UTC time of the last turn, by the `span` of a conversation; None where it cannot be told."""
    offset = utc_offset(started, span[0]) if span else None
    return (span[1] - offset).replace(tzinfo=dt.UTC) if span and offset is not None else None
