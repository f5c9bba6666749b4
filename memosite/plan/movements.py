"""Plans what moved in the last days, which the home page shows: received, read, archived, removed."""

import datetime as dt
from collections.abc import Sequence
from itertools import chain

from memosite.archive.history import LifeEvent
from memosite.archive.model import Artifact, Memo
from memosite.archive.urls import artifact_page, page_of, relative
from memosite.facts.parsed import Ref
from memosite.facts.times import Moment
from memosite.pages.lives import MovementRow
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.history import STEPS, event_label

MOVEMENTS = 30
_AT_ONCE = 2 * MOVEMENTS  # memos that are searched before those that cannot be shown are dropped
MOVEMENT_DAYS = 7
"""The home page shows what moved in the days before the last movement: the clock is not read."""

_Movement = tuple[Moment, str, LifeEvent, Artifact | Ref]


def movements(context: Context, start: str) -> tuple[MovementRow, ...]:
    """What was received, read, archived or removed in the last days, newest first."""
    found = _last_movements(context)
    return tuple(
        MovementRow(
            date=stamp(at),
            label=event_label(what, event) if isinstance(what, Artifact) else event.kind,
            subject=_reference(context, start, what),
            source=source,
            who=event.who,
        )
        for at, source, event, what in found
        if (found[0][0].instant - at.instant).days < MOVEMENT_DAYS
    )


def _last_movements(context: Context) -> list[_Movement]:
    """The last movements, newest first: what arrived last is looked at first, and most others are then too old."""
    found: list[_Movement] = []
    for ref, removal in context.archive.removed.items():
        event = removal.events[-1]
        if event.at is not None and removal.stem and removal.kind != "record":
            found.append((event.at, removal.source, event, ref))
    oldest: dt.datetime | None = None  # of those that may be shown so far
    of_memos: list[list[_Movement]] = []
    for memo in reversed(context.memos):
        if memo.kind == "memo" and (moved := _movements_since(oldest, memo)):
            of_memos.append(moved)
            if len(of_memos) >= _AT_ONCE:
                found, of_memos = _last(of_memos, found), []
                oldest = found[-1][0].instant
    return _last(of_memos, found)


def _movements_since(oldest: dt.datetime | None, memo: Memo) -> list[_Movement]:
    return [
        (event.at, copy.file.source, event, memo)
        for copy in memo.copies
        if copy.life
        for event in copy.life.events[-STEPS:]
        if event.at is not None and (oldest is None or event.at.instant >= oldest)
    ]


def _last(of_memos: Sequence[list[_Movement]], found: list[_Movement]) -> list[_Movement]:
    """The movements that may be shown, newest first; at equal times the memo that arrived first comes first."""
    every = [*chain.from_iterable(reversed(of_memos)), *found]
    return sorted(every, key=lambda one: (one[0].instant, one[1], one[2].path), reverse=True)[:MOVEMENTS]


def _reference(context: Context, start: str, what: Artifact | Ref) -> Reference:
    if isinstance(what, Artifact):
        return Reference(label=what.short_subject, href=relative(start, page_of(what)))
    return Reference(label=context.archive.removed[what].stem, href=relative(start, artifact_page(what)))
