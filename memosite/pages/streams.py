"""The page model of a position, and of its stream (see `pages`)."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.pages.actions import ActionGroup
from memosite.pages.feeds import Following
from memosite.pages.models import Page
from memosite.pages.organization import SeatFacts
from memosite.pages.parts import ListSection, Reference, Row, Stamp
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionPage(Page):
    """A position: who holds it, what waits for it, its stream, and its notes by session (`arcs`)."""

    template: ClassVar[str] = "position.html"

    id: str
    names: tuple[str, ...]
    seats: tuple[SeatFacts, ...]
    repo: str
    union_of: tuple[Reference, ...]
    inbox: ListSection
    actions: tuple[ActionGroup, ...]
    missing: tuple[ListSection, ...]
    stream: Stream
    arcs: tuple[ListSection, ...]
    digests: Reference
    following: Following
    longest: Row | None = None  # what waits longest for it
    longest_since: Stamp | None = None
    newest: Stamp | None = None  # the day to which ages are counted, if there are any
