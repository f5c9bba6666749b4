"""Defines what the page of an artifact says of decisions: their track, and citations that are outdated."""

from dataclasses import dataclass

from memosite.pages.parts import Reference, Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackStep:
    """A step on the way of a decision: a proposal, a decision, or a record of it. `standing` is "" if unknown."""

    role: str
    item: Reference
    date: Stamp | None
    standing: str
    source: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedCitation:
    """A decision that is cited and not in force any more, and what took its place, since when."""

    decision: Reference
    successor: Reference | None
    since: Stamp | None
