"""Defines the parts of page models that sum up an archive: what waits for people, activity, years of the timeline."""

from dataclasses import dataclass

from memosite.pages.organization import SeatRow
from memosite.pages.parts import Reference, Row, Stamp
from memosite.pages.pictures import Bars, Sparks


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits for the `people` of an archive: `oldest` are the first of `total`, with ages counted to `newest`.

    `unknown` are those for whom more may wait, with what nobody can know.
    """

    people: tuple[Reference, ...]
    bars: Bars | None
    oldest: tuple[Row, ...]
    total: int
    newest: Stamp | None = None
    unknown: tuple[tuple[Reference, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionsAtAGlance:
    """The positions in which anything happens, and those that are `quiet`; `total` counts all of both."""

    active: tuple[SeatRow, ...]
    quiet: tuple[Reference, ...]
    total: int
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineYear:
    """The months of a year, drawn day by day in `days` unless the year is long ago."""

    year: str
    months: tuple[tuple[Reference, int], ...]
    days: Sparks | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarDay:
    """A day of a month; if there is anything on it, how much, in which shade, and where it leads."""

    day: int
    number: int = 0
    shade: int = 0
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarMonth:
    """A month as weeks from Monday to Sunday; None before its first and after its last day."""

    label: str
    weeks: tuple[tuple[CalendarDay | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeCell:
    """How many memos one position sent to another, how many of them it answered, and the median time to do so."""

    number: int
    shade: int
    answered: int
    median: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Who writes to whom: a row for each sender, a cell for each recipient, None where there is nothing.

    It has `shown` of `total` memos, counted once for each recipient; `left_out` is how many positions it has not.
    """

    positions: tuple[Reference, ...]
    rows: tuple[tuple[ExchangeCell | None, ...], ...]
    shown: int
    total: int
    left_out: int
