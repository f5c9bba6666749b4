"""Defines the parts of page models that sum up an archive: years of the timeline."""

from dataclasses import dataclass

from memosite.pages.parts import Reference
from memosite.pages.pictures import Sparks


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineYear:
    """The months of a year, drawn day by day in `days` unless the year is long ago."""

    year: str
    months: tuple[tuple[Reference, int], ...]
    days: Sparks | None = None
