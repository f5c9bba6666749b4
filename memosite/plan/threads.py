"""Plans the pages of threads, what sums each up, its picture, and the lists of threads (SPEC 4).

The picture of a thread holds the table that it draws, with the place of each mark, so that a test can read the table
off the drawing.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from statistics import median
from typing import ClassVar, Literal, TypeAlias
from urllib.parse import quote

from memosite.archive.cite import Citation
from memosite.archive.lines import Notice, body_texts, notice_of
from memosite.archive.mailboxes import states_of
from memosite.archive.model import UNDATED, Artifact, Memo, Thread, ThreadEntry
from memosite.archive.urls import THREADS, WAITING_THREADS, part_page, relative, thread_page
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.facts.texts import beginning, cut_line, one_line, shared_room
from memosite.facts.times import Moment
from memosite.facts.values import Struct, Value, field, replace
from memosite.pages import PAGE_CHARS, Body, Page, Reference, Row, View
from memosite.plan import page
from memosite.plan.artifact_page import memo_bodies
from memosite.plan.context import (
    ADDRESSEES,
    LIST_LIMIT,
    Context,
    Unit,
    Written,
    age,
    as_of,
    few,
    newest_day,
    traced_unit,
)
from memosite.plan.dates import duration, seconds_between
from memosite.plan.mentions import citation_of


class WaitingFor(Value):
    """A memo of a thread whose action is open, since when, and for whom."""

    memo: Reference
    since: Moment | None
    positions: tuple[Reference, ...]
    total: int


class ThreadPosition(Value):
    """Who took part in a thread, from when to when, how long its replies took, and how many actions wait for it."""

    position: Reference
    repo: str
    sent: int
    first: Moment | None
    last: Moment | None
    median: str
    waiting: int


class ThreadSummary(Value):
    """What the first page of a thread says of all of it; totals count what is not listed, too."""

    first: Moment | None
    last: Moment | None
    senders: int
    positions: tuple[ThreadPosition, ...]
    positions_total: int
    waiting: tuple[WaitingFor, ...]
    waiting_total: int


# A thread as a picture: a lane for each position, a mark for each memo, an arrow for each reply.


MarkState: TypeAlias = Literal["sent", "waiting", "missing"]


class LaneMark(Value):
    """A memo: the number of its lane, its place in the width (of 1,000), and the numbers of the marks it replies to."""

    memo: Reference
    lane: int
    at: int
    when: Moment | None
    state: MarkState
    answers: tuple[int, ...] = ()
    after: str = ""


class Lanes(Value):
    """The memos of a thread in order of time; `left_out` is how many older ones are not drawn."""

    lanes: tuple[Reference, ...]
    marks: tuple[LaneMark, ...]
    left_out: int = 0

    @property
    def height(self) -> int:
        """Of the drawing, with a line for dates."""
        return LANE * len(self.lanes) + 22

    @property
    def arrows(self) -> Iterator[tuple[LaneMark, LaneMark]]:
        """From what is replied to, to the reply."""
        for mark in self.marks:
            for number in mark.answers:
                yield self.marks[number], mark

    @property
    def ends(self) -> tuple[Moment, ...]:
        """The first and the last date."""
        dated = [mark.when for mark in self.marks if mark.when]
        return (dated[0], dated[-1]) if dated else ()

    @property
    def states(self) -> frozenset[MarkState]:
        """Which states there are."""
        return frozenset(mark.state for mark in self.marks)


class ThreadMember(Value):
    """A memo of a thread with its texts; a ghost has none, and of one without content a `notice` says why.

    `after` is how long it took to reply to `answers`, which is None if that is the memo above it. `waits_for` are those
    who have not done what it asks. Of one that `is_folded`, the page shows `preview` first. One that `is_apart` replies
    to nothing here, nor does anything to it: it is in the thread that it names, and not in order of time.
    """

    row: Row
    anchor: str
    summary: Body | None
    body: Body | None
    notice: Notice | None = None
    answers: Reference | None = None
    after: str = ""
    waits_for: tuple[Reference, ...] = ()
    perhaps_answered_by: tuple[Reference, ...] = ()
    is_folded: bool = False
    is_apart: bool = False
    preview: str = ""
    citation: Citation | None = None


class ThreadPage(Page):
    """A whole conversation: the tree, and every memo of it in reading order; on its first page what sums it up."""

    template: ClassVar[str] = "thread.html"

    id: str
    name: str
    tree: tuple[Row, ...]
    members: tuple[ThreadMember, ...]
    total: int
    whole: ThreadSummary | None = None
    lanes: Lanes | None = None


class ThreadSlice(Value):
    """Some entries of a thread, around one of its memos, and the memos before and after that, if they are near.

    `thread` is a link to all of it, None if it has no page of its own; `total` is how many memos it has.
    """

    thread: Reference | None
    total: int
    rows: tuple[Row, ...]
    previous: Reference | None
    next: Reference | None


LANE: int = 30
"""The height of a lane in pixels, with its name above the line."""


class ThreadRow(Value):
    """A thread in a list, which is sorted by `date`: from when to when, of whom, and who has not answered.

    `missing` memos have replies, and are in no repo. `since` is the date of its oldest open action, `age` that action's
    age, if ages are counted on the page.
    """

    href: str
    short_subject: str
    date: Moment | None
    memos: int
    missing: int
    first: Moment | None
    last: Moment | None
    senders: tuple[Reference, ...]
    waits_for: tuple[Reference, ...]
    since: Moment | None
    age: str = ""


class ThreadsPage(Page):
    """The first of `total` threads of a list, or a part of all; ages are counted to `newest`."""

    template: ClassVar[str] = "threads.html"

    intro: str
    newest: str
    views: tuple[View, ...]
    rows: tuple[ThreadRow, ...]
    total: int
    is_waiting: bool = False
    actions: int = 0
    """Of threads that wait: how many open actions they have, and how many there are in all (`open_actions`)."""
    open_actions: int = 0


# Plans what sums up a thread: who took part and when, how long replies took, and who has not answered.


_POSITIONS = 20
"""The most positions of a thread that its page lists, those with most memos."""


_WAITING = 10
"""The most memos whose action is open, the oldest."""


class _Part(Struct):
    """What one position did in a thread, while it is counted."""

    id: str | None = None
    written: str = ""
    dates: list[Moment | None] = field(default_factory=list)
    sent: int = 0
    replies: list[float] = field(default_factory=list)
    waiting: int = 0


def sum_up(context: Context, start: str, thread: Thread, page_of: Mapping[Ref, str]) -> ThreadSummary:
    """What is said of a whole thread on its first page; `page_of` says on which part each of its entries is."""
    found = _listed(context, thread)
    parts = _parts(context, found.memos)
    first, last = _first_and_last(memo.date for memo in found.memos)
    shown = sorted(parts, key=lambda part: (-part.sent, -part.waiting))[:_POSITIONS]
    return ThreadSummary(
        first=first,
        last=last,
        senders=sum(part.sent > 0 for part in parts),
        positions=tuple(_position(context, start, part) for part in parts if part in shown),
        positions_total=len(parts),
        waiting=tuple(
            WaitingFor(
                memo=entry_link(context, start, memo.ref, page_of),
                since=memo.date,
                positions=waiting_positions(context, start, memo),
                total=len(memo.owed_by),
            )
            for memo in found.waiting[:_WAITING]
        ),
        waiting_total=len(found.waiting),
    )


def _parts(context: Context, memos: Iterable[Memo]) -> list[_Part]:
    """What each position did, in the order in which they first appear."""
    found: dict[str, _Part] = defaultdict(_Part)
    for memo in memos:
        part = found[memo.sender_position or memo.sender]
        part.id, part.written = memo.sender_position, part.written or memo.sender
        part.sent += 1
        part.dates.append(memo.date)
        seconds = reply_seconds(context, memo)
        if seconds is not None:
            part.replies.append(seconds)
        for id_ in memo.owed_by:
            asked = found[id_]
            asked.id = id_
            asked.waiting += 1
    return list(found.values())


def _position(context: Context, start: str, part: _Part) -> ThreadPosition:
    known = context.archive.positions.get(part.id) if part.id else None
    first, last = _first_and_last(part.dates)
    return ThreadPosition(
        position=context.position(start, part.id, part.written if known is None else ""),
        repo=known.repo or "" if known else "",
        sent=part.sent,
        first=first,
        last=last,
        median=duration(median(part.replies)) if part.replies else "",
        waiting=part.waiting,
    )


def _first_and_last(dates: Iterable[Moment | None]) -> tuple[Moment | None, Moment | None]:
    known = sorted((date for date in dates if date), key=attrgetter("instant"))
    return (known[0], known[-1]) if known else (None, None)


def waiting_positions(context: Context, start: str, memo: Memo) -> tuple[Reference, ...]:
    """Links to those who have not done what a memo asks; of many, the first."""
    return few(memo.owed_by, partial(context.position, start))


def perhaps_answered_by(context: Context, start: str, memo: Memo) -> tuple[Reference, ...]:
    """Links to the missing memos that may have answered a memo; of many, to the first."""
    ghosts = context.possible_replies.get(memo.ref, ())[:ADDRESSEES] if memo.owed_by else ()
    return tuple(context.artifact(start, (ghost.kind, ghost.id)) for ghost in ghosts)


def anchor_of(ref: Ref) -> str:
    """The id on its thread's page of a memo or ghost."""
    return f"{ref[0]}-{ref[1]}"


def entry_link(context: Context, start: str, ref: Ref, page_of: Mapping[Ref, str]) -> Reference:
    """A link to a memo or ghost in its thread, from one of the thread's parts."""
    part = "" if page_of[ref] == start else relative(start, page_of[ref])
    return Reference(label=context.archive.short_subject(ref), href=f"{part}#{quote(anchor_of(ref))}")


def reply_time(context: Context, memo: Memo) -> str:
    """How long a memo took to reply to what it replies to, its own sender's memo as well; "" if that is not known."""
    parent = parent_of(context, memo)
    seconds = seconds_between(parent.date, memo.date) if parent else None
    return "" if seconds is None else duration(seconds)


def reply_seconds(context: Context, memo: Memo) -> float | None:
    """How long a memo took to reply to another position; None if it does not, or if that is not known."""
    parent = parent_of(context, memo)
    if parent is None or (parent.sender_position or parent.sender) == (memo.sender_position or memo.sender):
        return None
    return seconds_between(parent.date, memo.date)


def parent_of(context: Context, memo: Memo) -> Memo | None:
    """The memo of the archive that a memo replies to."""
    parent = context.archive.artifacts.get(memo.parent) if memo.parent else None
    return parent if isinstance(parent, Memo) else None


def answered_entry(context: Context, memo: Memo) -> Ref | None:
    """What a memo replies to, a missing memo as well."""
    ghost = context.archive.ghosts.get(memo.ghost_parent) if memo.ghost_parent else None
    return memo.parent or ((ghost.kind, ghost.id) if ghost else None)


# Plans the rows of threads: all of them on a thread's page, a slice of them on a memo's.


SLICE = 5
"""How many entries of its thread a memo's page shows before and after it."""


def thread_row(
    context: Context, start: str, thread: Thread, index: int, *, is_current: bool = False, less_depth: int = 0
) -> Row:
    """One entry of a thread: a memo, or one that is missing."""
    entry = thread.entries[index]
    depth = entry.indent - less_depth
    if entry.is_ghost:
        row = context.ghost_row(start, context.archive.ghosts[entry.ref[1]], depth=depth)
    else:
        row = context.row(start, context.archive.artifacts[entry.ref], depth=depth)
    before = thread.entries[index - 1] if index else entry
    is_next = entry.depth == before.depth + 1 and entry.indent == before.indent
    if not (is_current or is_next or entry.continues or entry.continued_from):
        return row
    return replace(
        row,
        is_current=is_current,
        is_next=is_next,
        continues=tuple(context.thread(start, id_) for id_ in entry.continues),
        continued_from=context.thread(start, entry.continued_from) if entry.continued_from else None,
    )


def thread_slice(context: Context, start: str, memo: Memo) -> ThreadSlice | None:
    """The slice of its thread around a memo; None if it is alone in it."""
    thread, place = context.placed[memo.ref]
    if len(thread.entries) < 2:
        return None

    def nearest(step: int) -> Reference | None:
        index = place + step
        while 0 <= index < len(thread.entries) and abs(index - place) <= SLICE * 4:
            if not thread.entries[index].is_ghost:
                return context.artifact(start, thread.entries[index].ref)
            index += step
        return None

    shown = range(max(0, place - SLICE), min(place + SLICE + 1, len(thread.entries)))
    shallowest = min(thread.entries[index].indent for index in shown)
    return ThreadSlice(
        thread=context.thread(start, memo.thread) if len(thread.memos) > 1 else None,
        total=len(thread.memos),
        rows=tuple(
            thread_row(context, start, thread, index, is_current=index == place, less_depth=shallowest)
            for index in shown
        ),
        previous=nearest(-1),
        next=nearest(1),
    )


# Plans the picture of a thread: who wrote when, what is a reply to what, and what waits or is missing.


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
        return (memo.sender_position, "") if memo.sender_position else (None, memo.author)
    written = context.archive.ghosts[entry.ref[1]].who.sender
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
        return LaneMark(memo=link, lane=lane, at=place, when=ghost.date, state="missing")
    state: MarkState = "waiting" if memo.owed_by else "sent"
    answers = (answered_entry(context, memo), *memo.also_answers)
    return LaneMark(
        memo=link,
        lane=lane,
        at=place,
        when=memo.date,
        state=state,
        answers=tuple(dict.fromkeys(numbers[ref] for ref in answers if ref is not None and ref in numbers)),
        after=reply_time(context, memo),
    )


# Plans the pages of threads: the whole conversation in reading order, split between memos where it gets too long.


UNFOLDED = 5
"""The most memos of a thread whose texts are all shown."""


PREVIEW = 200
"""The most characters that a folded memo shows of its summary: two lines."""


def plan_thread(context: Context, thread: Thread) -> Iterator[ThreadPage | Written]:
    """The page of a thread of two or more memos, or its parts, and its twins; none for a thread of one (SPEC 4)."""
    if len(thread.memos) < 2:
        return
    here, total = thread_page(thread.id), len(thread.memos)
    ranges = _ranges(context, thread)
    pages = [here if number == 1 else part_page(here, number) for number in range(1, len(ranges) + 1)]
    page_of = {
        entry.ref: part for part, (begin, end) in zip(pages, ranges, strict=True) for entry in thread.entries[begin:end]
    }
    for number, (start, (begin, end)) in enumerate(zip(pages, ranges, strict=True), 1):
        opened = _opened(context, thread, begin, end) if total > UNFOLDED else set(range(begin, end))
        members = tuple(
            replace(_member(context, start, thread, index, page_of), is_folded=index not in opened)
            for index in range(begin, end)
        )
        yield ThreadPage(
            **page.head_of(context, start, title=context.thread_label(thread.id)),
            feeds=(Reference(label=phrase("This thread"), href=relative(start, here + "feed.xml")),),
            twins=page.twins_of_thread(context, start, thread),
            parts=page.part_links(start, here, len(ranges), number, first=here) if len(ranges) > 1 else (),
            id=thread.id,
            name=thread.name,
            tree=tuple(replace(member.row, href=f"#{quote(member.anchor)}") for member in members),
            members=members,
            total=total,
            lanes=draw_lanes(context, start, thread, begin, end),
            whole=sum_up(context, here, thread, page_of) if number == 1 else None,
        )
    if not context.site.is_lean:
        yield from page.twin_files(here, thread_twin(context, here, thread))


def _opened(context: Context, thread: Thread, begin: int, end: int) -> set[int]:
    """The entries of one part of a long thread that are not folded: the first and the newest."""
    memos = [index for index in range(begin, end) if not thread.entries[index].is_ghost]
    dates = ((index, context.archive.artifacts[thread.entries[index].ref].date) for index in memos)
    newest = max(((date.instant, index) for index, date in dates if date), default=None)
    return {*memos[:1], *([newest[1]] if newest else memos[-1:])}


TWIN_CHARS = 60_000
"""The most characters of texts that the twin of a thread has."""


def thread_twin(context: Context, start: str, thread: Thread) -> page.Twin:
    """The twin of a thread of two or more memos with their texts, in reading order; links are from `start`.

    Where not all have room, the list has the first memo and the newest, and theirs are the texts that are cut last.
    """
    entries = [entry for entry in thread.entries if not entry.is_ghost]
    memos = [context.archive.artifacts[entry.ref] for entry in entries]
    found = ((place, *page.list_entry(context, start, memos[place])) for place in context.archive.shown_first(entries))
    first = page.fitting(found, lambda one: max(page.entry_bytes(one[1]) + 200, len(one[2].encode("utf-8", "replace"))))
    wholes = [_twin_text(context, memos[place]) for place, *_ in first]
    given = zip(first, wholes, shared_room([len(whole) for whole in wholes], TWIN_CHARS), strict=True)
    shown, below = [], []
    for (place, fields, line), whole, room in sorted(given, key=lambda one: one[0][0]):
        memo, text = memos[place], beginning(whole, room)
        answered = answered_entry(context, memo) if isinstance(memo, Memo) else None
        more = {"characters_left": len(whole) - len(text)} if len(text) < len(whole) else {}
        depth = {"depth": entries[place].depth, "replies_to": "/".join(answered) if answered else None}
        shown.append(fields | depth | {"text": text} | more)
        rest = f"\n\n[{len(whole) - len(text):,} more characters: the link in the list above]" if more else ""
        below.append(
            (line.removeprefix("- "), f"## {one_line(memo.subject)}\n\n{text.rstrip()}{rest}\n" if text else "")
        )
    title, missing = context.thread_label(thread.id), len(thread.entries) - len(memos)
    left_out, onward = len(memos) - len(shown), relative(start, page.EVERYTHING)
    fields = {
        "title": title,
        "thread": thread.name,
        "total": len(memos),
        "shown": len(shown),
        "missing": missing,
        "more": {"left_out": left_out, "all": onward} if left_out else None,
        "entries": shown,
    }
    said = f"{len(memos)} in all, {len(shown)} listed" + (f", {missing} missing" if missing else "")
    rest = f" {left_out} more: see {onward}." if left_out else ""
    head = f"# {title}\n\nthread: {one_line(thread.name)}\n{said}.{rest} The line in which the text of each begins:\n\n"
    return page.Twin(fields=fields, text=page.texts_below_list(head, below))


def _twin_text(context: Context, memo: Artifact) -> str:
    notice = notice_of(memo)
    return notice.text if notice else page.artifact_text(context, memo, body_texts(memo))


def _member(context: Context, start: str, thread: Thread, index: int, page_of: Mapping[Ref, str]) -> ThreadMember:
    entry = thread.entries[index]
    row = thread_row(context, start, thread, index)
    memo = context.archive.artifacts.get(entry.ref)
    if not isinstance(memo, Memo):
        return ThreadMember(row=row, anchor=anchor_of(entry.ref), summary=None, body=None)
    summary, body = memo_bodies(context, start, memo, prefix=f"m{index}-")
    answered = answered_entry(context, memo)
    is_above = index > 0 and thread.entries[index - 1].ref == answered
    is_shown = answered is not None and answered in page_of and not is_above
    has_reply = index + 1 < len(thread.entries) and thread.entries[index + 1].depth > entry.depth
    return ThreadMember(
        row=row,
        anchor=anchor_of(entry.ref),
        summary=summary,
        body=body,
        notice=notice_of(memo),
        answers=entry_link(context, start, answered, page_of) if answered and is_shown else None,
        after=reply_time(context, memo),
        waits_for=waiting_positions(context, start, memo),
        perhaps_answered_by=perhaps_answered_by(context, start, memo),
        is_apart=index > 0 and not (entry.depth or entry.continued_from or entry.continues or has_reply),
        preview="" if memo.withheld else cut_line(memo.summary, PREVIEW, is_prose=True),
        citation=None if memo.withheld or memo.is_redacted else citation_of(context, memo),
    )


def _ranges(context: Context, thread: Thread) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    start, size = 0, 0
    for index, entry in enumerate(thread.entries):
        memo = context.archive.artifacts.get(entry.ref)
        weight = 500 + (min(memo.chars, PAGE_CHARS) + 1_000 if memo else 0)  # with its citation
        if index > start and (size + weight > PAGE_CHARS or index - start >= LIST_LIMIT):
            ranges.append((start, index))
            start, size = index, 0
        size += weight
    return [*ranges, (start, len(thread.entries))]


# Plans the lists of threads: last active first, waiting longest first, and all in order of arrival (SPEC 4).


_SHOWN = 200
"""The most threads on a page that is not a part."""


_TITLE = phrase("Threads")


_TITLES: Mapping[str, tuple[str, str]] = {
    THREADS: (_TITLE, phrase("Memos joined by replies, or by the thread that they name; the last active first.")),
    WAITING_THREADS: (
        phrase("Threads: waiting longest"),
        phrase("Threads in which somebody has not answered, the oldest open action first."),
    ),
}
"""The title and the introduction of each list."""


_VIEWS: Mapping[str, str] = {THREADS: phrase("Last active"), WAITING_THREADS: phrase("Waiting longest")}


class Listed(Value):
    """A thread of two or more memos; `waiting` are those whose action is open, the oldest first."""

    thread: Thread
    memos: Sequence[Memo]
    waiting: Sequence[Memo]

    @property
    def newest(self) -> tuple[dt.datetime, str]:
        """By its newest memo; without any date first."""
        dates = (memo.date.instant for memo in self.memos if memo.date)
        return max(dates, default=UNDATED.replace(year=1)), self.thread.id


def list_threads(context: Context, threads: Iterable[Thread]) -> list[Listed]:
    """Those of these threads that have a page, by the arrival of their first memos."""
    found = [_listed(context, thread) for thread in threads if len(thread.entries) > 1]
    found = [one for one in found if len(one.memos) > 1]
    return sorted(found, key=lambda one: min(memo.arrival for memo in one.memos))


def _listed(context: Context, thread: Thread) -> Listed:
    memos = [one for ref in thread.memos if isinstance(one := context.archive.artifacts[ref], Memo)]
    waiting = sorted((memo for memo in memos if memo.owed_by), key=attrgetter("sort_key"))
    return Listed(thread=thread, memos=memos, waiting=waiting)


def thread_list_units(context: Context, whole: Callable[..., Unit]) -> Iterator[Unit]:
    """A unit for the pages that change with each memo, and one for each part of all threads."""
    yield whole("threads", _plan_lists)
    threads = [one.thread for one in list_threads(context, context.archive.threads.values())]
    for number, chunk in enumerate(page.in_parts(threads), 1) if page.part_count(threads, shown=_SHOWN) else ():
        name, weight = f"threads/{number}", len(chunk) // 10
        yield traced_unit(name, _plan_part, number=number, chunk=tuple(chunk), given_as="its threads", weight=weight)


def _plan_lists(context: Context) -> Iterator[ThreadsPage]:
    every = list_threads(context, context.archive.threads.values())
    newest = sorted(every, key=lambda one: one.newest, reverse=True)
    waiting = sorted((one for one in every if one.waiting), key=lambda one: one.waiting[0].sort_key)
    lists = {THREADS: newest, WAITING_THREADS: waiting}
    day, parts = newest_day(context), page.part_count(every, shown=_SHOWN)
    open_actions = sum("open" in states_of(one) for one in context.archive.artifacts.values())
    for start, found in lists.items():
        title, intro = _TITLES[start]
        is_waiting = start == WAITING_THREADS
        yield ThreadsPage(
            **page.head_of(context, start, title=title, section="timeline"),
            parts=page.part_links(start, THREADS, parts, None),
            intro=intro,
            newest=as_of(day),
            views=tuple(_view(start, target, _VIEWS[target], len(some)) for target, some in lists.items()),
            rows=tuple(_row(context, start, one, day, is_waiting=is_waiting) for one in found[:_SHOWN]),
            total=len(found),
            is_waiting=is_waiting,
            actions=sum(len(one.waiting) for one in waiting) if is_waiting else 0,
            open_actions=open_actions if is_waiting else 0,
        )


def thread_views(context: Context, start: str) -> tuple[View, ...]:
    """Links to the lists of threads that have any."""
    every = list_threads(context, context.archive.threads.values())
    counts = {THREADS: len(every), WAITING_THREADS: sum(1 for one in every if one.waiting)}
    return tuple(_view(start, target, _VIEWS[target], total) for target, total in counts.items() if total)


def _view(start: str, target: str, label: str, total: int | None) -> View:
    href = None if target == start else relative(start, target)
    return View(page=Reference(label=label, href=href), total=total)


def _plan_part(context: Context, *, number: int, chunk: Sequence[Thread]) -> Iterator[ThreadsPage]:
    """One of the parts, counted from 1, without ages: they would change with each memo."""
    start = part_page(THREADS, number)
    rows = tuple(_row(context, start, _listed(context, thread), None) for thread in chunk)
    yield ThreadsPage(
        **page.head_of(context, start, title=page.part_title(_TITLE, number), section="timeline"),
        parts=page.part_links(start, THREADS, number, number),
        intro=phrase("By the arrival of their first memos."),
        newest="",
        views=(_view(start, THREADS, _TITLE, None),),
        rows=rows,
        total=len(rows),
    )


def _row(context: Context, start: str, one: Listed, day: dt.date | None, *, is_waiting: bool = False) -> ThreadRow:
    first, last = _first_and_last(memo.date for memo in one.memos)
    oldest = one.waiting[0].date if one.waiting else None
    senders = {memo.sender_position or memo.sender: memo for memo in reversed(one.memos)}
    owing = dict.fromkeys(id_ for memo in one.waiting for id_ in memo.owed_by)
    return ThreadRow(
        href=relative(start, thread_page(one.thread.id)),
        short_subject=context.thread_label(one.thread.id),
        date=oldest if is_waiting else last,
        memos=len(one.memos),
        missing=sum(entry.is_ghost for entry in one.thread.entries),
        first=first,
        last=last,
        senders=few(
            [*reversed(senders.values())], lambda memo: context.position(start, memo.sender_position, memo.sender)
        ),
        waits_for=few([*owing], partial(context.position, start)),
        since=oldest,
        age=age(oldest, day),
    )
