"""Plans what git tells: the life lines of artifacts, edits after receipt, and what moved in the last days."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from memosite.archive.history import LifeEvent
from memosite.archive.model import Artifact, Copy, Life, Memo, Removal
from memosite.archive.urls import artifact_page, changes_page, index_file, page_of, relative
from memosite.facts.parsed import Ref
from memosite.facts.times import Moment
from memosite.pages.lives import EditRow, LifeLine, LifeStep, MovementRow
from memosite.pages.models import ChangesPage
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.dates import stamp

LINES = 20
"""The most copies whose life lines a page shows."""
STEPS = 40
"""The most steps of one life line, the last ones."""
EDITS = 50
"""The most edits that a page of changes shows, the last ones."""
MOVEMENTS = 30
_AT_ONCE = 2 * MOVEMENTS  # memos that are looked through before what cannot be shown is dropped
MOVEMENT_DAYS = 7
"""The home shows what moved in the days before the last movement: no clock is asked."""

_Movement = tuple[Moment, str, LifeEvent, Artifact | Ref]

_IN_BOX = {"read": "read", "archive": "archived", "inbox": "put back into the inbox", "flat": "moved"}
_PENDING = {
    "delivered": "delivered, not yet received: nobody has committed it",
    "moved": "moved since, not yet committed",
    "edited": "edited since, not yet committed",
}


def life_lines(context: Context, artifact: Artifact, start: str) -> tuple[LifeLine, ...]:
    """The life of each copy of an artifact, as far as git was asked."""
    edits = {(source, event.commit): number for number, (source, event) in enumerate(_edits(artifact)[-EDITS:], 1)}
    return tuple(_line(context, artifact, copy, start, edits) for copy in artifact.copies[:LINES] if copy.life)


def _line(context: Context, artifact: Artifact, copy: Copy, start: str, edits: dict[tuple[str, str], int]) -> LifeLine:
    source, life = copy.file.source, copy.life or Life()
    steps = []
    before: Moment | None = None
    events = _distinct(life.events)
    left_out = max(len(events) - STEPS, 0)
    if isinstance(artifact, Memo) and artifact.kind == "memo" and artifact.date and life.events:
        before = artifact.date
        steps.append(LifeStep(label="sent", date=stamp(before), who=artifact.sender))
    before = events[left_out - 1].at if left_out else before
    for event in events[left_out:]:
        step = _step(context, artifact, source, event, before)
        number = edits.get((source, event.commit)) if event.kind == "edited" else None
        if number is not None:
            changes = Reference(label="changes", href=f"{relative(start, changes_page(artifact))}#e{number}")
            step = replace(step, changes=changes)
        steps.append(step)
        before = event.at or before
    return LifeLine(
        source=source if len(artifact.copies) > 1 else "",
        steps=tuple(steps),
        pending=_PENDING.get(life.state or "", ""),
        why_not=life.why_not,
        left_out=left_out,
    )


def _distinct(events: Sequence[LifeEvent]) -> list[LifeEvent]:
    """The steps without those that say again what one commit did: to an envelope and to its body."""
    return list({(event.commit, event.kind): event for event in events}.values())


def _step(context: Context, artifact: Artifact, source: str, event: LifeEvent, before: Moment | None) -> LifeStep:
    return LifeStep(
        label=_label(artifact, event),
        date=stamp(event.at),
        who=event.who,
        after=latency(before, event.at),
        commit=context.commit(source, event.commit),
        merge=context.commit(source, event.merge) if event.merge else None,
    )


def _label(artifact: Artifact, event: LifeEvent) -> str:
    is_memo = artifact.kind == "memo"
    if event.kind == "moved":
        return _IN_BOX[event.mailbox] if is_memo else "moved"
    if event.kind == "received":
        if not is_memo:
            return "committed"
        return f"received, straight into {event.mailbox}/" if event.mailbox in {"read", "archive"} else "received"
    if event.kind == "edited":
        return "edited after receipt" if is_memo else "edited"
    return event.kind


def latency(before: Moment | None, after: Moment | None) -> str:
    """How long a step took, in the largest fitting unit; "" if it is not known, or if the clocks disagree."""
    if before is None or after is None or before.origin == "name":
        return ""
    seconds = (after.instant - before.instant).total_seconds()
    if seconds < 0:
        return ""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        number = int(seconds // size)
        if number:
            return f"after {number} {unit}{'s' if number != 1 else ''}"
    return "at once"


# Edits after receipt


def _edits(artifact: Artifact) -> list[tuple[str, LifeEvent]]:
    """The edits of a memo or a note after its receipt, with their sources, oldest first."""
    if artifact.kind not in {"memo", "note"}:
        return []
    found = ((copy.file.source, event) for copy in artifact.copies if copy.life for event in copy.life.events)
    edits = [(source, event) for source, event in found if event.kind == "edited"]
    return sorted(edits, key=lambda edit: (edit[1].at.instant.timestamp() if edit[1].at else 0.0, edit[0]))


def has_changes(artifact: Artifact) -> bool:
    """Whether an artifact has a page of changes."""
    if artifact.kind not in {"memo", "note"}:
        return False
    for copy in artifact.copies:
        for event in copy.life.events if copy.life else ():
            if event.kind == "edited":
                return True
    return False


def plan_changes(context: Context, artifact: Artifact) -> Iterable[ChangesPage]:
    """The page of what was edited after receipt, if anything was (SPEC 2.3)."""
    edits = _edits(artifact)
    if not edits:
        return
    start = changes_page(artifact)
    blobs = context.archive.blobs
    yield ChangesPage(
        site=context.site,
        path=index_file(start),
        root="../" * start.count("/"),
        title=artifact.short_subject,
        canonical=context.canonical(start),
        artifact=Reference(label=artifact.short_subject, href=relative(start, page_of(artifact))),
        edits=tuple(
            EditRow(
                anchor=f"e{number}",
                date=stamp(event.at),
                who=event.who,
                source=source,
                file=event.path,
                commit=context.commit(source, event.commit),
                before=blobs.get(event.before, ""),
                after=blobs.get(event.after, ""),
            )
            for number, (source, event) in enumerate(edits[-EDITS:], 1)
        ),
        left_out=max(len(edits) - EDITS, 0),
    )


# The last days, and what is gone


def movements(context: Context, start: str) -> tuple[MovementRow, ...]:
    """What was received, read, archived or removed in the last days, newest first."""
    found = _last_movements(context)
    return tuple(
        MovementRow(
            date=stamp(at),
            label=_label(what, event) if isinstance(what, Artifact) else event.kind,
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
        if event.at is not None and removal.stem:
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
    """What may be shown of these, newest first; of what is equal, that of the memo that arrived first."""
    every = [*chain.from_iterable(reversed(of_memos)), *found]
    return sorted(every, key=lambda one: (one[0].instant, one[1], one[2].path), reverse=True)[:MOVEMENTS]


def _reference(context: Context, start: str, what: Artifact | Ref) -> Reference:
    if isinstance(what, Artifact):
        return Reference(label=what.short_subject, href=relative(start, page_of(what)))
    return Reference(label=context.archive.removed[what].stem, href=relative(start, artifact_page(what)))


def removal_line(context: Context, removal: Removal) -> LifeLine:
    """The life line of something that was removed: dates, who, and in which commit."""
    steps = []
    left_out = max(len(removal.events) - STEPS, 0)
    before: Moment | None = removal.events[left_out - 1].at if left_out else None
    for event in removal.events[left_out:]:
        label = {"received": "received", "moved": _IN_BOX[event.mailbox]}.get(event.kind, event.kind)
        steps.append(
            LifeStep(
                label=label,
                date=stamp(event.at),
                who=event.who,
                after=latency(before, event.at),
                commit=context.commit(removal.source, event.commit),
            )
        )
        before = event.at or before
    return LifeLine(source=removal.source, steps=tuple(steps), pending="", why_not="", left_out=left_out)


def waiting_since(memo: Memo, repo: str | None) -> Moment | None:
    """Since when a memo waits: when it came into this repo, else when it was sent."""
    here = (copy for copy in memo.copies if copy.file.source == repo)
    received = next((copy.received for copy in here if copy.received is not None), None)
    return received or memo.date
