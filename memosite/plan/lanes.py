"""Plans the picture of a thread: who wrote when, what is a reply to what, and what waits or is missing."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from memosite.archive.model import Memo, Thread, ThreadEntry
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.pages.lanes import LaneMark, Lanes, MarkState
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.thread_facts import anchor_of, answered_entry, reply_time

_DRAWN = 60
"""The most memos that are drawn, the newest."""
_LANES = 8
_OTHERS = phrase("others")


def draw_lanes(context: Context, start: str, thread: Thread, begin: int, end: int) -> Lanes | None:
    """The picture of the entries of one page of a thread; None of a single one."""
    entries = thread.entries[begin:end]
    times = _times(context, entries)
    in_order = sorted(range(len(entries)), key=lambda index: (times[index], index))
    shown = in_order[-_DRAWN:]
    if len(shown) < 2:
        return None
    names = [_sender(context, entries[index]) for index in shown]
    lanes = _lanes(names)
    places = _places([times[index] for index in shown])
    numbers = {entries[index].ref: number for number, index in enumerate(shown)}
    return Lanes(
        lanes=tuple(Reference(label=_OTHERS) if name is None else context.position(start, *name) for name in lanes),
        marks=tuple(
            _mark(context, entries[index], lanes.get(name, len(lanes) - 1), place, numbers)
            for index, name, place in zip(shown, names, places, strict=True)
        ),
        left_out=len(entries) - len(shown),
    )


_Name = tuple[str | None, str]
"""A position's id, if it has one, and what is written."""


def _sender(context: Context, entry: ThreadEntry) -> _Name:
    memo = context.archive.artifacts.get(entry.ref)
    if isinstance(memo, Memo):
        return (memo.sender_position, "") if memo.sender_position else (None, memo.sender or phrase("unknown"))
    written = context.archive.ghosts[entry.ref[1]].sender or phrase("unknown")
    id_ = context.archive.position_of.get(written)
    return (id_, "") if id_ else (None, written)


def _lanes(names: Sequence[_Name]) -> dict[_Name | None, int]:
    """The number of each lane, in order of appearance; of many, the busiest have one, and the rest share the last."""
    busiest = {name for name, _ in Counter(names).most_common(_LANES - 1)}
    every = dict.fromkeys(names)
    shown: list[_Name | None] = [name for name in every if len(every) <= _LANES or name in busiest]
    if len(every) > _LANES:
        shown.append(None)
    return {name: number for number, name in enumerate(shown)}


def _times(context: Context, entries: Iterable[ThreadEntry]) -> list[dt.datetime]:
    """When each was sent; what has no date is drawn where the one before it is, in reading order."""
    found: list[dt.datetime | None] = []
    for entry in entries:
        one = context.archive.artifacts.get(entry.ref) or context.archive.ghosts[entry.ref[1]]
        found.append(one.date.instant if one.date else found[-1] if found else None)
    first = next((time for time in found if time), dt.datetime.min.replace(tzinfo=dt.UTC))
    return [time or first for time in found]


def _places(times: Sequence[dt.datetime]) -> list[int]:
    """Places in the width: half by time, half by rank, so that busy hours are stretched and nothing is hidden."""
    span = (times[-1] - times[0]).total_seconds()
    places = []
    for rank, time in enumerate(times):
        even = rank / (len(times) - 1)
        share = (even + (time - times[0]).total_seconds() / span) / 2 if span else even
        places.append(20 + round(960 * share))
    return places


def _mark(context: Context, entry: ThreadEntry, lane: int, place: int, numbers: Mapping[Ref, int]) -> LaneMark:
    memo = context.archive.artifacts.get(entry.ref)
    link = Reference(label=context.archive.short_subject(entry.ref), href=f"#{quote(anchor_of(entry.ref))}")
    if not isinstance(memo, Memo):
        ghost = context.archive.ghosts[entry.ref[1]]
        return LaneMark(memo=link, lane=lane, at=place, when=stamp(ghost.date), state="missing")
    state: MarkState = "waiting" if memo.owed_by else "sent"
    answers = (answered_entry(context, memo), *memo.also_answers)
    return LaneMark(
        memo=link,
        lane=lane,
        at=place,
        when=stamp(memo.date),
        state=state,
        answers=tuple(dict.fromkeys(numbers[ref] for ref in answers if ref is not None and ref in numbers)),
        after=reply_time(context, memo),
    )
