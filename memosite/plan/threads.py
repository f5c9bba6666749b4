"""Plans the pages of threads: the whole conversation in reading order, split between memos where it gets too long."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote

from memosite.archive.lines import is_redacted
from memosite.archive.model import Memo, Thread
from memosite.archive.notices import notice_of
from memosite.archive.urls import part_page, relative, thread_page
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.facts.texts import before_table, cut_line
from memosite.pages.models import ThreadPage
from memosite.pages.parts import PAGE_CHARS, Reference
from memosite.pages.threads import ThreadMember
from memosite.plan.addresses import twins_of_thread
from memosite.plan.citations import citation_of
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.files import Written
from memosite.plan.head import page_head
from memosite.plan.lanes import draw_lanes
from memosite.plan.memos import memo_bodies
from memosite.plan.pagination import part_links
from memosite.plan.thread_facts import (
    anchor_of,
    answered_entry,
    entry_link,
    perhaps_answered_by,
    reply_time,
    sum_up,
    waiting_positions,
)
from memosite.plan.thread_rows import thread_row
from memosite.plan.twins import Twin, list_twin, twin_files

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
        entry.ref: page for page, (begin, end) in zip(pages, ranges, strict=True) for entry in thread.entries[begin:end]
    }
    title = context.thread_label(thread.id)
    for number, (start, (begin, end)) in enumerate(zip(pages, ranges, strict=True), 1):
        opened = _opened(context, thread, begin, end) if total > UNFOLDED else set(range(begin, end))
        members = tuple(
            replace(_member(context, start, thread, index, page_of), is_folded=index not in opened)
            for index in range(begin, end)
        )
        yield ThreadPage(
            **page_head(context, start, title=title),
            feeds=(Reference(label=phrase("This thread"), href=relative(start, here + "feed.xml")),),
            twins=twins_of_thread(context, start, thread),
            parts=part_links(start, here, len(ranges), number, first=here) if len(ranges) > 1 else (),
            id=thread.id,
            name=thread.name,
            tree=tuple(replace(member.row, href=f"#{quote(member.anchor)}") for member in members),
            members=members,
            total=total,
            lanes=draw_lanes(context, start, thread, begin, end),
            whole=sum_up(context, here, thread, page_of) if number == 1 else None,
        )
    if not context.site.is_lean:
        yield from twin_files(here, thread_twin(context, here, thread))


def _opened(context: Context, thread: Thread, begin: int, end: int) -> set[int]:
    """The entries of one part of a long thread that are not folded: the first and the newest."""
    memos = [index for index in range(begin, end) if not thread.entries[index].is_ghost]
    dates = ((index, context.archive.artifacts[thread.entries[index].ref].date) for index in memos)
    newest = max(((date.instant, index) for index, date in dates if date), default=None)
    return {*memos[:1], *([newest[1]] if newest else memos[-1:])}


def thread_twin(context: Context, start: str, thread: Thread) -> Twin:
    """The twin of a thread of two or more memos, with links from the page or folder `start`."""
    memos = [context.archive.artifacts[ref] for ref in thread.memos]
    title = context.thread_label(thread.id)
    return list_twin(context, start, title, memos, facts={"thread": thread.name}, in_order=True)


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
        preview="" if memo.withheld else cut_line(before_table(memo.summary), PREVIEW),
        citation=None if memo.withheld or is_redacted(memo) else citation_of(context, memo),
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
