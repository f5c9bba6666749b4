"""Takes snapshots of an archive at one time, and compares two of them (SPEC 8, diff)."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from memosite.archive.history import LifeEvent
from memosite.archive.model import UNDATED, Archive, Artifact, Copy, Life, Memo, Who, author_of, who_wrote
from memosite.archive.urls import page_of
from memosite.facts.parsed import Ref
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import Value, replace

T = TypeVar("T")

_BELOW = 5_000
"""The most replies below one memo that are searched for an answer."""

SnapshotKey = tuple[str, str]
"""Kind and id."""

Days = Mapping[str, Collection[Ref]]
"""By day in UTC, what had an event or a date on it; with `_ALWAYS` and `_NOW`."""

_ALWAYS: Final = ""
"""In place of a day: what has no date, and without a history was there at any time."""

_NOW: Final = "now"
"""In place of a day, and after all of them: what is otherwise than its events and dates say, such as a file in the work
tree that was moved and not committed."""


class ArtifactState(Value):
    """The compared state of one artifact. `boxes` are the mailboxes of its copies by source; "" where not known.

    `date` is an instant in UTC, `day` the day on the writer's clock.
    """

    key: SnapshotKey
    short_subject: str
    sender: str = ""
    to: tuple[str, ...] = ()
    date: str = ""
    day: str = ""
    page: str = ""
    action: str = ""
    boxes: tuple[tuple[str, str], ...] = ()

    @property
    def who(self) -> Who | None:
        """Who wrote a memo to whom, or who filed a note."""
        if self.key[0] == "memo":
            return who_wrote(self.sender, self.to)
        return Who(author_of(self.sender)) if self.key[0] == "note" else None


Snapshot = Mapping[SnapshotKey, ArtifactState]


class HistoryStep(Value):
    """A change of one artifact: from which state, to which, and where if that is one repo."""

    state: ArtifactState
    before: str
    after: str
    source: str = ""


class Difference(Value):
    """What is new, gone or moved between mailboxes, and how actions changed; each by date and id."""

    new: tuple[ArtifactState, ...]
    gone: tuple[ArtifactState, ...]
    moved: tuple[HistoryStep, ...]
    actions: tuple[HistoryStep, ...]

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.new or self.gone or self.moved or self.actions)


def compare(before: Snapshot, after: Snapshot) -> Difference:
    """Compare two snapshots. A mailbox or action that is not known in one of them is no change."""
    both = sorted(((before[key], after[key]) for key in after if key in before), key=lambda pair: _order(pair[1]))
    return Difference(
        new=tuple(sorted((after[key] for key in after if key not in before), key=_order)),
        gone=tuple(sorted((before[key] for key in before if key not in after), key=_order)),
        moved=tuple(
            HistoryStep(state=now, before=box, after=new, source=source)
            for was, now in both
            for source, box, new in _moves(dict(was.boxes), dict(now.boxes))
        ),
        actions=tuple(
            HistoryStep(state=now, before=was.action or "none", after=now.action or "none")
            for was, now in both
            if was.action != now.action
        ),
    )


def _moves(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for source in sorted({*was, *now}):
        box, new = was.get(source, "none"), now.get(source, "none")
        if box != new and box and new:
            yield source, box, new


def _order(state: ArtifactState) -> tuple[str, SnapshotKey]:
    return (state.date or "~", state.key)


# Where snapshots come from


def snapshot_of(archive: Archive, keys: Iterable[Ref] | None = None) -> dict[SnapshotKey, ArtifactState]:
    """The archive as it is; with `keys` these alone."""
    return {ref: _state(artifact) for ref, artifact in _chosen(archive.artifacts, keys)}


def snapshot_at(
    archive: Archive, end: dt.datetime, keys: Iterable[Ref] | None = None
) -> dict[SnapshotKey, ArtifactState]:
    """The archive as it was before an instant, as far as git and the dates of memos say; with `keys` these alone.

    Without a history, a memo counts from its sent date, and its mailbox at that time is not known.
    """
    found: dict[SnapshotKey, ArtifactState] = {}
    for ref, artifact in _chosen(archive.artifacts, keys):
        copies = [copy for copy in artifact.copies if _was_there(copy, artifact, end)]
        if copies:
            boxes = tuple(sorted({copy.file.source: _box_at(copy, end) for copy in copies}.items()))
            found[ref] = replace(_state(artifact), boxes=boxes, action=_action_at(archive, artifact, end))
    for ref, removal in _chosen(archive.removed, keys):
        if not removal.stem or removal.is_former:  # its name must not be shown, and its id is made of it
            continue
        begun, gone = removal.events[0].at, removal.events[-1].at
        if begun and begun.instant < end and not (gone and gone.instant < end):
            found[ref] = ArtifactState(key=ref, short_subject=removal.stem, date=begun.utc, day=begun.day)
    return found


def _chosen(values: Mapping[Ref, T], keys: Iterable[Ref] | None) -> Iterable[tuple[Ref, T]]:
    return values.items() if keys is None else [(key, one) for key in keys if (one := values.get(key)) is not None]


def snapshot_of_lines(
    ids: Iterable[SnapshotKey], lines: Iterable[Mapping[str, Any]]
) -> dict[SnapshotKey, ArtifactState]:
    """The snapshot of a published ledger, with what the machine's archive beside it says of each artifact."""
    found = {key: ArtifactState(key=key, short_subject=key[1]) for key in ids}
    for line in lines:
        key = (str(line.get("kind")), str(line.get("id")))
        copies = [copy for copy in _list(line, "copies") if isinstance(copy, Mapping)]
        if key in found:
            found[key] = ArtifactState(
                key=key,
                short_subject=str(line.get("short_subject") or key[1]),
                sender=str(line.get("from") or ""),
                to=tuple(map(str, _list(line, "to"))),
                date=str(line.get("date") or ""),
                day=_day_of(line),
                page=str(line.get("url") or ""),
                action=str(line.get("action") or ""),
                boxes=tuple(sorted({str(one.get("source")): str(one.get("mailbox") or "") for one in copies}.items())),
            )
    return found


def _list(line: Mapping[str, Any], name: str) -> list[Any]:
    """A field that is a list in what memosite wrote; empty if it is anything else."""
    value = line.get(name)
    return value if isinstance(value, list) else []


def _day_of(line: Mapping[str, Any]) -> str:
    """The writer's day, from the instant and the offset that a line has."""
    instant = read_moment(str(line.get("date") or ""))
    written = read_moment(f"2000-01-01T00:00:00{line.get('offset') or ''}")
    return replace(instant, offset=written.offset if written else None).day if instant else ""


def _state(artifact: Artifact) -> ArtifactState:
    """The state of an artifact as it is."""
    memo = artifact if isinstance(artifact, Memo) else None
    return ArtifactState(
        key=artifact.ref,
        short_subject=artifact.short_subject,
        sender=memo.sender if memo else "",
        to=memo.to if memo else (),
        date=artifact.date.utc if artifact.date else "",
        day=artifact.date.day if artifact.date else "",
        page=page_of(artifact),
        action=(memo.action or "") if memo else "",
        boxes=tuple(sorted({copy.file.source: copy.mailbox or "" for copy in artifact.copies}.items())),
    )


def _was_there(copy: Copy, artifact: Artifact, end: dt.datetime) -> bool:
    if copy.life is None or not copy.life.events:
        return artifact.date is None or artifact.date.instant < end
    last = _last_before(copy.life, end)
    return last is not None and last.kind != "removed"


def _box_at(copy: Copy, end: dt.datetime) -> str:
    """The mailbox of a copy before an instant; "" where it is not known, and for what has none."""
    if copy.mailbox is None or copy.life is None:
        return ""
    last = _last_before(copy.life, end)
    return last.mailbox if last else ""


def _last_before(life: Life, end: dt.datetime) -> LifeEvent | None:
    return next((event for event in reversed(life.events) if event.at and event.at.instant < end), None)


def _action_at(archive: Archive, artifact: Artifact, end: dt.datetime) -> str:
    """The state of an action before an instant: by the memos sent before it, or discharged on an earlier day."""
    if not isinstance(artifact, Memo) or artifact.action is None:
        return ""
    discharge = artifact.discharge
    if discharge is not None and (not discharge.on or discharge.on[:10] < end.date().isoformat()):
        return "discharged"
    asked = {state.position for state in artifact.recipients}
    waiting, looked = list(artifact.replies), 0
    answering = _sent_before(archive, artifact.also_answered_by, end)
    while waiting and looked < _BELOW:
        found = _sent_before(archive, [waiting.pop()], end)
        looked += 1
        answering += found
        waiting += [ref for reply in found for ref in reply.replies]
    senders = {reply.sender_position for reply in answering} - {None, artifact.sender_position}
    if asked and asked <= senders | ({"all"} if senders else set()):
        return "answered"
    return "superseded" if _sent_before(archive, artifact.superseded_by, end) else "open"


def _sent_before(archive: Archive, refs: Iterable[Ref], end: dt.datetime) -> list[Memo]:
    known = (archive.artifacts[ref] for ref in refs)
    return [one for one in known if isinstance(one, Memo) and one.date is not None and one.date.instant < end]


# What may differ between two times


def days_of(archive: Archive) -> dict[str, tuple[Ref, ...]]:
    """What happened on each day: between two times nothing else differs, but for actions that this answered."""
    found: dict[str, list[Ref]] = defaultdict(list)
    for ref, artifact in archive.artifacts.items():
        for day in _days(artifact):
            found[day].append(ref)
    for ref, removal in archive.removed.items():
        for day in {_day(event.at) for event in (removal.events[0], removal.events[-1]) if event.at}:
            found[day].append(ref)
    told, now = snapshot_at(archive, UNDATED), snapshot_of(archive)
    found[_NOW] = [ref for ref in (*archive.artifacts, *archive.removed) if _differ(told.get(ref), now.get(ref))]
    return {day: tuple(found[day]) for day in sorted(found)}


def _differ(was: ArtifactState | None, now: ArtifactState | None) -> bool:
    """Whether `compare` finds a difference between two states of one artifact; None if it was not there."""
    if was is None or now is None:
        return was is not now
    return was.action != now.action or any(_moves(dict(was.boxes), dict(now.boxes)))


def _days(artifact: Artifact) -> set[str]:
    moments = [event.at for copy in artifact.copies if copy.life for event in copy.life.events]
    found = {_day(moment) for moment in (*moments, artifact.date) if moment}
    if isinstance(artifact, Memo) and artifact.discharge and artifact.discharge.on:
        found.add(artifact.discharge.on[:10])
    return found if artifact.date else found | {_ALWAYS}


def _day(moment: Moment) -> str:
    return moment.instant.date().isoformat()


def may_differ(archive: Archive, days: Days, one: dt.datetime | None, other: dt.datetime | None) -> set[Ref]:
    """All that may differ between two instants, in any order; None is the very beginning, then now."""
    ends = sorted(end.date().isoformat() for end in (one, other) if end)
    first, last = ends[0] if one else _ALWAYS, ends[-1] if other else _NOW
    found = {ref for day in days if first <= day <= last for ref in days[day]}
    waiting = list(found)
    while waiting:  # their dates tell since when others are answered, or superseded
        memo = archive.artifacts.get(waiting.pop())
        if isinstance(memo, Memo):
            above = {*((memo.parent,) if memo.parent else ()), *memo.also_answers, *memo.supersedes} - found
            found |= above
            waiting += above
    return found
