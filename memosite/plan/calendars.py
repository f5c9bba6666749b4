"""Plans calendars: months in which anything happened, a line for each week."""

from calendar import Calendar
from collections.abc import Mapping

from memosite.pages.overviews import CalendarDay, CalendarMonth
from memosite.pages.pictures import shade_of
from memosite.plan.dates import month_name


def calendar_months(days: Mapping[str, tuple[int, str]]) -> tuple[CalendarMonth, ...]:
    """The months of these days (ISO 8601), newest first; of each day a number above 0, and where it leads."""
    most = max((number for number, _ in days.values()), default=1)
    weeks = Calendar()
    return tuple(
        CalendarMonth(
            label=month_name(month.replace("-", "/")),
            weeks=tuple(
                tuple(_day(days, f"{month}-{day:02d}", most) if day else None for day in week)
                for week in weeks.monthdayscalendar(*map(int, month.split("-")))
            ),
        )
        for month in sorted({day[:7] for day in days}, reverse=True)
    )


def _day(days: Mapping[str, tuple[int, str]], day: str, most: int) -> CalendarDay:
    if day not in days:
        return CalendarDay(day=int(day[8:]))
    number, href = days[day]
    return CalendarDay(day=int(day[8:]), number=number, shade=shade_of(number, most), href=href)
