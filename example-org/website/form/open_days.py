"""Say until which day a book that has arrived is kept: seven open days, the first one after the day it came.

Use: python open_days.py 2026-06-11
"""

import sys
from datetime import date, timedelta

KEPT = 7
CLOSED_WEEKDAYS = {6, 0}  # Sunday, Monday
HOLIDAYS = {date(2026, 6, 19), date(2026, 7, 4)}


def is_open(day: date) -> bool:
    """Whether the doors are open on a day."""
    return day.weekday() not in CLOSED_WEEKDAYS and day not in HOLIDAYS


def last_day(came: date) -> date:
    """The last day on which a book that came on this day waits at the desk."""
    day, left = came, KEPT
    while left:
        day += timedelta(days=1)
        left -= is_open(day)
    return day


if __name__ == "__main__":
    until = last_day(date.fromisoformat(sys.argv[1]))
    print(f"until {until:%A} {until.day} {until:%B}")
