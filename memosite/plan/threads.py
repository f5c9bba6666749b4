"""Plans the pages of threads: the whole conversation in reading order, split between memos where it gets too long."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from memosite.archive.model import Memo, Thread, ThreadEntry
from memosite.archive.notices import notice_of
from memosite.archive.urls import part_page, relative, thread_page
from memosite.pages.models import ThreadPage
from memosite.pages.parts import PAGE_CHARS, Reference, Row, ThreadMember
from memosite.plan.addresses import twins_of_thread
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.files import Written
from memosite.plan.head import page_head
from memosite.plan.memos import memo_bodies
from memosite.plan.pagination import part_links
from memosite.plan.thread_rows import thread_row
from memosite.plan.twins import Twin, list_twin, twin_files


def plan_thread(context: Context, thread: Thread) -> Iterator[ThreadPage | Written]:
    """The page of a thread of two or more memos, or its parts, and its twins; none for a thread of one (SPEC 4)."""
    if len(thread.memos) < 2:
        return
    here = thread_page(thread.id)
    ranges = _ranges(context, thread)
    first = context.thread(here, thread.id)
    for number, (begin, end) in enumerate(ranges, 1):
        start = here if number == 1 else part_page(here, number)
        rows = tuple(thread_row(context, start, thread, index) for index in range(begin, end))
        yield ThreadPage(
            **page_head(context, start, title=first.label),
            feeds=(Reference(label="This thread", href=relative(start, here + "feed.xml")),),
            twins=twins_of_thread(context, start, thread),
            parts=part_links(start, here, len(ranges), number, first=here) if len(ranges) > 1 else (),
            id=thread.id,
            name=thread.name,
            tree=tuple(
                replace(row, href=f"#{quote(anchor_of(entry))}")
                for row, entry in zip(rows, thread.entries[begin:end], strict=True)
            ),
            members=tuple(
                _member(context, start, thread, index, row) for index, row in zip(range(begin, end), rows, strict=True)
            ),
            total=len(thread.memos),
        )
    if not context.site.is_lean:
        yield from twin_files(here, thread_twin(context, here, thread))


def thread_twin(context: Context, start: str, thread: Thread) -> Twin:
    """The twin of a thread of two or more memos, with links from the page or folder `start`."""
    memos = [context.archive.artifacts[ref] for ref in thread.memos]
    title = context.thread_label(thread.id)
    return list_twin(context, start, title, memos, facts={"thread": thread.name}, in_order=True)


def anchor_of(entry: ThreadEntry) -> str:
    """The id on its thread's page of a memo or ghost."""
    return f"{entry.ref[0]}-{entry.ref[1]}"


def _member(context: Context, start: str, thread: Thread, index: int, row: Row) -> ThreadMember:
    entry = thread.entries[index]
    memo = context.archive.artifacts.get(entry.ref)
    anchor = anchor_of(entry)
    summary, body = memo_bodies(context, start, memo, prefix=f"m{index}-") if isinstance(memo, Memo) else (None, None)
    notice = notice_of(memo) if memo else None
    return ThreadMember(row=row, anchor=anchor, summary=summary, body=body, notice=notice)


def _ranges(context: Context, thread: Thread) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    start, size = 0, 0
    for index, entry in enumerate(thread.entries):
        memo = context.archive.artifacts.get(entry.ref)
        weight = 500 + (min(memo.chars, PAGE_CHARS) + 500 if memo else 0)
        if index > start and (size + weight > PAGE_CHARS or index - start >= LIST_LIMIT):
            ranges.append((start, index))
            start, size = index, 0
        size += weight
    return [*ranges, (start, len(thread.entries))]
