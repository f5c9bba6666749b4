"""Defines the parts of page models for git history: histories, edits after receipt, movements."""

from dataclasses import dataclass

from memosite.pages.parts import Reference, Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeStep:
    """One step of a history: what happened, when, by whom, how long after the step before it, in which commit."""

    label: str
    date: Stamp | None
    who: str
    after: str = ""
    commit: Reference | None = None
    merge: Reference | None = None
    changes: Reference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeLine:
    """The history of one copy. `pending` is what is not committed, `why_not` why git cannot say.

    `left_out` is how many steps before the last ones are not shown.
    """

    source: str
    steps: tuple[LifeStep, ...]
    pending: str
    why_not: str
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRow:
    """An edit after receipt: the contents before and after by digest, "" where they cannot be had."""

    anchor: str
    date: Stamp | None
    who: str
    source: str
    file: str
    commit: Reference
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MovementRow:
    """Something that happened to a memo in its repo."""

    date: Stamp | None
    label: str
    subject: Reference
    source: str
    who: str
