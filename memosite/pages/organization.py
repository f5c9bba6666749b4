"""Defines the parts of page models for an organization: charts, seats, relationships."""

from dataclasses import dataclass
from typing import Literal

from memosite.pages.parts import Reference, Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipRow:
    """One edge of the organization."""

    type: str
    sender: Reference
    to: Reference
    description: str
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartBox:
    """A position in a chart: its upper left corner in pixels, three lines of text that fit, and all in `words`."""

    x: int
    y: int
    link: Reference
    label: str
    note: str
    status: Literal["staffed", "vacant", "shared", "informal", ""]
    words: str
    counts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLine:
    """A line of a chart as an SVG path; `words` say what a lighter one means."""

    path: str
    kind: Literal["rank", "other"]
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """An organization as a drawing of `width` by `height` pixels; lines come before the boxes, which cover them."""

    width: int
    height: int
    boxes: tuple[ChartBox, ...]
    lines: tuple[ChartLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationSection:
    """One orgdef: mission, positions, relationships, charter (heading and Markdown)."""

    id: str
    anchor: str
    name: str
    version: str
    mission: str
    relationships: tuple[RelationshipRow, ...]
    relationships_total: int = 0
    charter: tuple[tuple[str, str], ...]
    place: str
    chart: Chart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatFacts:
    """A position as one orgdef lists it; `other_name` is its name if that is more than its id in other letters."""

    organization: str
    name: str
    other_name: str = ""
    status: str
    incumbent: str
    description: str
    role: str
    extra: str = ""
    relationships: tuple[RelationshipRow, ...]
    relationships_total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRow:
    """A position in the table of seats; `organizations` counts those that have it, if it stands for several."""

    position: Reference
    organizations: int = 0
    status: str
    incumbent: str
    last_sent: Stamp | None
    unread: int
    is_unread_known: bool
    """Whether it is known of all memos to it whether they are read."""
    oldest_unread: Stamp | None
    open_to: int
    open_from: int
