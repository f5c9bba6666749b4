"""Paginates long lists in parts, numbered from the oldest, so that full ones never change (SPEC 4)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from memosite.archive.model import Artifact
from memosite.archive.urls import part_page, relative
from memosite.facts.parsed import Text
from memosite.facts.phrases import phrase
from memosite.pages.models import ArtifactPage, ListPage
from memosite.pages.parts import Body, PagePart, Reference, cut_text
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.head import page_head
from memosite.plan.sections import section

T = TypeVar("T")
P = TypeVar("P", bound=ArtifactPage)


def in_parts(items: Sequence[T], limit: int = LIST_LIMIT) -> list[Sequence[T]]:
    """Chunks in order of arrival: full ones change only by edits (SPEC 4)."""
    return [items[start : start + limit] for start in range(0, len(items), limit)] or [()]


def part_count(items: Sequence[object], *, shown: int = LIST_LIMIT) -> int:
    """How many parts a list has of which its page shows at most this many entries; 0 if it fits there."""
    return len(in_parts(items)) if len(items) > shown else 0


def part_links(start: str, page: str, count: int, current: int | None, *, first: str = "") -> tuple[PagePart, ...]:
    """Links to the parts of a page, numbered from 1; `first` is the page of part 1 if that is not its own."""
    return tuple(
        PagePart(
            label=str(number),
            href=relative(start, first if first and number == 1 else part_page(page, number)),
            is_current=number == current,
        )
        for number in range(1, count + 1)
    )


def part_title(title: str, number: int | None) -> str:
    """The title of a part; without a number, or as part 0, of the page that has the parts."""
    return phrase("{title}, page {number}", title=title, number=number) if number else title


def plan_part(
    context: Context,
    page: str,
    title: str,
    number: int,
    chunk: Sequence[Artifact],
    *,
    section_name: str,
    viewer: str | None = None,
) -> ListPage:
    """One of the parts of `plan_parts`, counted from 1. It names only what was there before it."""
    start = part_page(page, number)
    return ListPage(
        **page_head(context, start, title=part_title(title, number), section=section_name),
        intro="",
        parts=part_links(start, page, number, number),
        sections=(
            section(
                context, start, phrase("Page {number}", number=number), chunk, anchor=f"part-{number}", viewer=viewer
            ),
        ),
        previous=Reference(label=title, href=relative(start, page)),
    )


def plan_parts(
    context: Context,
    page: str,
    title: str,
    artifacts: Sequence[Artifact],
    *,
    section_name: str,
    viewer: str | None = None,
    shown: int = LIST_LIMIT,
) -> Iterable[ListPage]:
    """The parts of a list that is too long for its page: everything in order of arrival, 500 a part."""
    if not part_count(artifacts, shown=shown):
        return
    for number, chunk in enumerate(in_parts(artifacts), 1):
        yield plan_part(context, page, title, number, chunk, section_name=section_name, viewer=viewer)


def in_verbatim_parts(context: Context, here: str, text: Text | None, page_at: Callable[[str], P]) -> Iterator[P]:
    """An artifact's page, and its further parts if its text is one to be shown as it is, and is long."""
    if text is None:
        yield page_at(here)
        return
    ranges = cut_text(context.text_of(text.sha256))
    for number, span in enumerate(ranges, 1):
        start = here if number == 1 else part_page(here, number)
        body = Body(sha256=text.sha256, form="verbatim", chars=text.chars, span=span)
        parts = part_links(start, here, len(ranges), number, first=here) if len(ranges) > 1 else ()
        yield replace(page_at(start), body=body, is_cut=False, parts=parts)


def with_neighbours(items: Sequence[T]) -> Iterator[tuple[T, tuple[T | None, T | None]]]:
    """Each item with the one before it and the one after it."""
    for place, item in enumerate(items):
        yield item, (items[place - 1] if place else None, items[place + 1] if place + 1 < len(items) else None)
