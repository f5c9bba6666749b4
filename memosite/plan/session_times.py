"""Formats when a transcript began and ended: by the clock of its turns, and in UTC (SPEC 4)."""

import datetime as dt
from dataclasses import replace

from memosite.archive.model import Transcript
from memosite.facts.times import Moment
from memosite.formats.stamps import utc_offset
from memosite.pages.transcripts import SessionTimes
from memosite.plan.dates import stamp


def session_times(transcript: Transcript) -> SessionTimes:
    """The times at the head of its page."""
    began, ended = transcript.date, transcript.ended
    first, last = stamp(began), stamp(ended)
    offset = _offset(transcript, began) if began else None
    if began is None or first is None or offset is None:
        return SessionTimes(began=first, ended=last, utc="", day=first.day if first else "")
    moments = [began, ended] if ended else [began]
    local = [replace(one, offset=offset).local for one in moments]
    shown = [_shown(local[0]), *(_shown(one, local[0]) for one in local[1:])]
    utc = " – ".join(_shown(one.instant.replace(tzinfo=None), there) for one, there in zip(moments, local, strict=True))
    if not offset:
        shown[-1] += " UTC"
    return SessionTimes(
        began=replace(first, shown=shown[0]),
        ended=replace(last, shown=shown[1]) if last else None,
        utc=f"{utc} UTC" if offset else "",
        day=f"{local[0].date()}",
    )


def _offset(transcript: Transcript, began: Moment) -> int | None:
    """How many minutes the clock of a session is before UTC: by its turns, else as its start was written."""
    text = transcript.variants[0].text
    offset = utc_offset(began.instant, text.span[0]) if text and text.span and began.origin == "field" else None
    return began.offset if offset is None else offset // dt.timedelta(minutes=1)


def _shown(one: dt.datetime, other: dt.datetime | None = None) -> str:
    """A time, without its day if that of the other one is the same."""
    is_said = other is not None and one.date() == other.date()
    return f"{one:%H:%M}" if is_said else one.isoformat(" ", "minutes")
