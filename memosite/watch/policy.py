"""Decides what is announced, when a feed is fetched again, and how many memos may be delivered now."""

import datetime as dt
import json
from dataclasses import dataclass
from typing import Literal

from memosite.feeds.document import ReceivedItem, refusal

Since = Literal["inbox", "all", "now"]
Fate = Literal["pending", "skipped", "refused"]

UNCONDITIONAL_EACH = 11
"""Of so many questions in a row that gave nothing new, one is asked without validators: they may be the trouble."""
LONGEST_WAIT = 3600.0
"""The longest pause between two polls of a feed that fails, in seconds, unless the interval is longer."""
LONGEST_RETRY_AFTER = 86_400.0
"""A server that asks for more is asked again after a day: clocks and configurations are wrong sometimes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most `count` memos in `seconds`. `text` is how the user wrote it."""

    count: int
    seconds: float
    text: str


def fate(item: ReceivedItem, *, since: Since, is_first: bool, only_asked: bool) -> Fate:
    """The fate of an item that is seen for the first time; `is_first` is the first run of its feed."""
    if refusal(item):
        return "refused"
    if only_asked and not item.is_asked:
        return "skipped"
    if is_first and (since == "now" or (since == "inbox" and item.field("state") != "inbox")):
        return "skipped"
    return "pending"


def pause(interval: float, failures: int, wait: float | None) -> float:
    """Seconds until a feed is fetched again, after so many failures in a row."""
    if not failures:
        return interval
    longest = max(interval, LONGEST_WAIT)
    return max(min(interval * 2.0 ** min(failures, 20), longest), min(wait or 0.0, LONGEST_RETRY_AFTER))


def time_alone(not_before: float | None, now: float) -> float:
    """Seconds left of a server's Retry-After; one too far in the future means that the clock was changed."""
    left = (not_before or now) - now
    return left if 0 < left <= LONGEST_RETRY_AFTER else 0.0


def publisher_problem(data: bytes, now: dt.datetime, max_age: float) -> str | None:
    """A publisher's problem by its `status.json`: too old, from the future, not readable; None without one."""
    try:
        built = dt.datetime.fromisoformat(json.loads(data)["built"])
        age = (now - built).total_seconds()
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return "status.json cannot be read: found no time in `built`"
    if age < -300:
        return f"status.json was built in the future, at {built.isoformat()}: one of the two clocks is wrong"
    if age > max_age:
        return f"the site is {duration(age)} old (built {built.isoformat()}), expected at most {duration(max_age)}"
    return None


def duration(seconds: float) -> str:
    """A time span in a readable unit."""
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f}{unit}"
    return f"{seconds:.0f}s" if seconds >= 10 else f"{seconds:.3g}s"
