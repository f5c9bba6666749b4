"""Reads the times of a MIF record as rows to be shown: validity, time to live, decay and use.

All is relative to the record's own dates, never to the clock: a site built twice is the same (SPEC 2.2,
mif; MIF 1.0, 9).
"""

import calendar
import datetime as dt
import re
from collections.abc import Iterator

from memosite.facts.json_text import shown
from memosite.facts.times import Moment
from memosite.formats.mif import rules as mif_rules
from memosite.formats.mif.fields import MifFields

_PART = r"([0-9]{1,9}(?:[.,][0-9]{1,9})?)"
_DURATION = re.compile(
    r"P(?=[0-9T])(?:([0-9]{1,6})Y)?(?:([0-9]{1,6})M)?"
    rf"(?:{_PART}W)?(?:{_PART}D)?(?P<clock>T(?=[0-9])(?:{_PART}H)?(?:{_PART}M)?(?:{_PART}S)?)?"
)

FieldRow = tuple[str, str]
"""A label and a value to be shown."""


def show_moment(moment: Moment) -> str:
    """A date for people, with the writer's time of day and zone: `2026-01-24`, `2026-01-24 14:30 UTC`."""
    local = moment.local
    if local.time() == dt.time():
        return local.date().isoformat()
    zone = "" if moment.zone is None else " UTC" if not moment.offset else f" {moment.zone}"
    return f"{local.isoformat(' ', timespec='minutes')}{zone}"


def after(moment: Moment, duration: str) -> Moment | None:
    """The moment an ISO 8601 duration later, in the writer's calendar; None if there is no such moment.

    A month later than the 31st is the last day of the month; years and months are whole numbers.
    """
    match = _DURATION.fullmatch(duration)
    if match is None:
        return None
    years, months = int(match[1] or 0), int(match[2] or 0)
    weeks, days, hours, minutes, seconds = (float((match[part] or "0").replace(",", ".")) for part in (3, 4, 6, 7, 8))
    local = moment.local
    month = local.year * 12 + local.month - 1 + years * 12 + months
    try:
        last = calendar.monthrange(month // 12, month % 12 + 1)[1]
        local = local.replace(year=month // 12, month=month % 12 + 1, day=min(local.day, last))
        local += dt.timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        instant = local.replace(tzinfo=dt.UTC) - dt.timedelta(minutes=moment.offset or 0)
    except (ValueError, OverflowError):
        return None
    return Moment(instant=instant, offset=moment.offset)


def read_times(
    top: MifFields, *, created: Moment | None, modified: Moment | None, is_early: bool
) -> tuple[FieldRow, ...]:
    """The rows of `temporal`; its fields are understood at the top as well. `is_early` asks for the rules of 0.1."""
    times = _Times(top, created=created, modified=modified)
    if is_early and times.start and times.recorded and times.start.instant > times.recorded.instant:
        message = f'"valid_from" is {show_moment(times.start)}, after "recorded_at", {show_moment(times.recorded)}'
        times.below.note(mif_rules.VALID_FROM, message, "valid_from")
    return tuple(times.rows())


class _Times:
    """The dates and durations of one record."""

    def __init__(self, top: MifFields, *, created: Moment | None, modified: Moment | None) -> None:
        self.below = top.object("temporal")
        self._top = top
        decay = self.below if self.below.has("decay") else top
        self._decay = decay.object("decay")
        names = ("valid_from", "validFrom")
        self.start, _ = self._place(*names).moment(*names)
        names = ("valid_until", "validUntil")
        self.is_open = self._place(*names).is_null(*names)
        self.end, _ = self._place(*names).moment(*names)
        names = ("recorded_at", "recordedAt")
        self.recorded, _ = self._place(*names).moment(*names)
        names = ("last_accessed", "lastAccessed")
        self.accessed, _ = self._place(*names).moment(*names)
        self.reinforced, _ = self._decay.moment("last_reinforced", "lastReinforced")
        self.created, self.modified = created, modified

    def _place(self, *names: str) -> MifFields:
        return self._top if not self.below.has(*names) and self._top.has(*names) else self.below

    def rows(self) -> Iterator[FieldRow]:
        """What is to be shown, in this order."""
        valid = self._valid()
        if valid:
            yield "Valid", valid
        if self.recorded:
            yield "Recorded", show_moment(self.recorded)
        decay = self._faded()
        if decay:
            yield "Decay", decay
        names = ("access_count", "accessCount")
        count = self._place(*names).text(*names)
        times = f"{count} {'time' if count == '1' else 'times'}" if count else ""
        last = f"last {show_moment(self.accessed)}" if self.accessed else ""
        if times or last:
            yield "Recalled", ", ".join(filter(None, (times, last)))

    def _valid(self) -> str:
        ttl = self._duration(self._place("ttl"), "ttl")
        base, name = (self.recorded, "recorded_at") if self.recorded else (self.created, "created")
        limit = after(base, ttl) if ttl and base else None
        until = ""
        if limit:
            is_by_day = "T" not in ttl
            until = limit.local.date().isoformat() if is_by_day else show_moment(limit)
        because = f"ttl {ttl} from {name}" if limit else f"ttl {ttl}" if ttl else ""
        start = show_moment(self.start) if self.start else ""
        if self.end:
            span = f"{start} to {show_moment(self.end)}" if start else f"until {show_moment(self.end)}"
            return f"{span}; {because}" + (f" ends {until}" if until else "") if because else span
        if until:
            return f"{start} to {until} ({because})" if start else f"until {until} ({because})"
        span = f"from {start}" + (", no end" if self.is_open else "") if start else ""
        return "; ".join(filter(None, (span, because)))

    def _faded(self) -> str:
        """The decay, and its strength with the latest date the record gives: when the strength was written."""
        decay = self._decay
        half_life = self._duration(decay, "half_life", "halfLife")
        strength = decay.share(mif_rules.FIELD, "strength", "currentStrength", "current_strength")
        if strength:
            dates = (self.reinforced, self.accessed, self.modified, self.recorded, self.created)
            known = [moment for moment in dates if moment]
            latest = max(known, key=lambda moment: moment.instant, default=None)
            strength = f"strength {strength}" + (f" as of {show_moment(latest)}" if latest else "")
        parts = (decay.text("model"), half_life and f"half-life {half_life}", strength)
        return ", ".join(filter(None, parts))

    def _duration(self, fields: MifFields, *names: str) -> str:
        name = next((name for name in names if fields.has(name)), names[0])
        text = fields.text(*names)
        if text and _DURATION.fullmatch(text) is None:
            fields.note(
                mif_rules.DATE, f'"{name}" is "{shown(text)}", expected an ISO 8601 duration such as P90D', name
            )
        return text
