"""Defines the parts of the page of a position that show its stream (see `pages`)."""

from dataclasses import dataclass

from memosite.pages.parts import ListSection, Reference
from memosite.pages.pictures import Sparks


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierMonth:
    """A month that is not on the page, or not whole: `total` artifacts, where the newest part of it is, and the others.

    `targets` are the anchors of the month and of its weeks.
    """

    month: Reference
    total: int
    also: tuple[Reference, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What a position sent, received and filed: `shown` rows of it by month, and the `earlier` months.

    `heading` is a section without rows, that of all months.
    """

    heading: ListSection
    months: tuple[ListSection, ...]
    shown: int
    earlier: tuple[EarlierMonth, ...]
    drawn: Sparks | None
