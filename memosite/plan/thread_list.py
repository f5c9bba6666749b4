"""Plans the lists of threads: last active first, waiting longest first, and all in order of arrival (SPEC 4)."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from types import MappingProxyType

from memosite.archive.model import UNDATED, Memo, Thread
from memosite.archive.urls import THREADS, WAITING_THREADS, part_page, relative, thread_page
from memosite.facts.phrases import phrase
from memosite.pages.parts import Reference
from memosite.pages.thread_list import ThreadRow, ThreadsPage
from memosite.pages.views import View
from memosite.plan.ages import age, as_of, newest_day
from memosite.plan.context import ADDRESSEES, Context
from memosite.plan.dates import stamp
from memosite.plan.head import page_head
from memosite.plan.pagination import in_parts, part_count, part_links, part_title
from memosite.plan.units import Unit

_SHOWN = 200
"""The most threads on a page that is not a part."""

_TITLE = phrase("Threads")
_TITLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        THREADS: (_TITLE, phrase("Memos joined by replies, or by the thread that they name; the last active first.")),
        WAITING_THREADS: (
            phrase("Threads: waiting longest"),
            phrase("Where somebody has not answered, the oldest open action first."),
        ),
    }
)
"""The title and the introduction of each list."""
_VIEWS: Mapping[str, str] = MappingProxyType(
    {THREADS: phrase("Last active"), WAITING_THREADS: phrase("Waiting longest")}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
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
    artifacts = context.archive.artifacts
    memos = [one for ref in thread.memos if isinstance(one := artifacts[ref], Memo)]
    waiting = sorted((memo for memo in memos if memo.owed_by), key=attrgetter("sort_key"))
    return Listed(thread=thread, memos=memos, waiting=waiting)


def thread_list_units(context: Context, whole: Callable[..., Unit]) -> Iterator[Unit]:
    """A unit for the pages that change with each memo, and one for each part of all threads."""
    yield whole("threads", _plan_lists)
    threads = [one.thread for one in list_threads(context, context.archive.threads.values())]
    for number, chunk in enumerate(in_parts(threads), 1) if part_count(threads, shown=_SHOWN) else ():
        given = (number, *chunk)
        make = partial(_plan_part, number=number, chunk=chunk)
        yield Unit(name=f"threads/{number}", make=make, given=given, given_as="its threads", weight=len(chunk) // 10)


def _plan_lists(context: Context) -> Iterator[ThreadsPage]:
    every = list_threads(context, context.archive.threads.values())
    newest = sorted(every, key=lambda one: one.newest, reverse=True)
    waiting = sorted((one for one in every if one.waiting), key=lambda one: one.waiting[0].sort_key)
    lists = {THREADS: newest, WAITING_THREADS: waiting}
    day, parts = newest_day(context), part_count(every, shown=_SHOWN)
    for start, found in lists.items():
        title, intro = _TITLES[start]
        is_waiting = start == WAITING_THREADS
        yield ThreadsPage(
            **page_head(context, start, title=title, section="timeline"),
            parts=part_links(start, THREADS, parts, None),
            intro=intro,
            newest=as_of(day),
            views=tuple(_view(start, page, _VIEWS[page], len(some)) for page, some in lists.items()),
            rows=tuple(_row(context, start, one, day, is_waiting=is_waiting) for one in found[:_SHOWN]),
            total=len(found),
            is_waiting=is_waiting,
        )


def thread_views(context: Context, start: str) -> tuple[View, ...]:
    """Links to the lists of threads that have any."""
    every = list_threads(context, context.archive.threads.values())
    counts = {THREADS: len(every), WAITING_THREADS: sum(1 for one in every if one.waiting)}
    return tuple(_view(start, page, _VIEWS[page], total) for page, total in counts.items() if total)


def _view(start: str, page: str, label: str, total: int | None) -> View:
    href = None if page == start else relative(start, page)
    return View(page=Reference(label=label, href=href), total=total)


def _plan_part(context: Context, *, number: int, chunk: Sequence[Thread]) -> Iterator[ThreadsPage]:
    """One of the parts, counted from 1, without ages: they would change with each memo."""
    start = part_page(THREADS, number)
    rows = tuple(_row(context, start, _listed(context, thread), None) for thread in chunk)
    yield ThreadsPage(
        **page_head(context, start, title=part_title(_TITLE, number), section="timeline"),
        parts=part_links(start, THREADS, number, number),
        intro=phrase("By the arrival of their first memos."),
        newest=None,
        views=(_view(start, THREADS, _TITLE, None),),
        rows=rows,
        total=len(rows),
    )


def _row(context: Context, start: str, one: Listed, day: dt.date | None, *, is_waiting: bool = False) -> ThreadRow:
    dates = sorted((memo.date for memo in one.memos if memo.date), key=attrgetter("instant"))
    first, last = (stamp(dates[0]), stamp(dates[-1])) if dates else (None, None)
    oldest = one.waiting[0].date if one.waiting else None
    senders = {memo.sender_position or memo.sender: memo for memo in reversed(one.memos)}
    owing = dict.fromkeys(id_ for memo in one.waiting for id_ in memo.owed_by)
    return ThreadRow(
        href=relative(start, thread_page(one.thread.id)),
        subject=context.thread_label(one.thread.id),
        date=stamp(oldest) if is_waiting else last,
        memos=len(one.memos),
        missing=sum(entry.is_ghost for entry in one.thread.entries),
        first=first,
        last=last,
        senders=_few(
            [context.position(start, memo.sender_position, memo.sender) for memo in reversed(senders.values())]
        ),
        waits_for=_few([context.position(start, id_) for id_ in owing]),
        since=stamp(oldest),
        age=age(oldest, day),
    )


def _few(positions: Sequence[Reference]) -> tuple[Reference, ...]:
    """The first of many."""
    more = len(positions) - ADDRESSEES
    shown = tuple(positions[:ADDRESSEES])
    return (*shown, Reference(label=phrase("{more} more", more=more))) if more > 0 else shown
