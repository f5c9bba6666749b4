"""Waits until something is so: the one place where tests wait for what has no event of its own."""

import time
from collections.abc import Callable
from typing import TypeVar

DEADLINE = 300.0
"""Seconds after which what a test waits for counts as not coming, however much else the machine does.

A test that passes never waits so long."""

Seen = TypeVar("Seen")


def wait_until(condition: Callable[[], Seen], *, seconds: float = DEADLINE) -> Seen:
    """Ask again and again until `condition()` is true in a boolean sense, and give what it returned.

    Raises AssertionError with what was last returned when that takes longer than `seconds`.
    """
    end = time.monotonic() + seconds
    while not (seen := condition()):
        assert time.monotonic() < end, f"it did not happen within {seconds:g} seconds; last seen: {seen!r}"
        time.sleep(0.02)
    return seen
