"""Long lists in parts, numbered from the oldest, so that full parts never change (SPEC 4)."""

from collections.abc import Sequence
from typing import TypeVar

from memosite.archive.urls import part_page, relative
from memosite.pages.parts import Part
from memosite.plan.context import LIST_LIMIT

T = TypeVar("T")


def in_parts(items: Sequence[T], limit: int = LIST_LIMIT) -> list[Sequence[T]]:
    """Chunks in order of arrival: full ones never change but by edits (SPEC 4)."""
    return [items[start : start + limit] for start in range(0, len(items), limit)] or [()]


def part_links(start: str, page: str, count: int, current: int | None, *, first: str = "") -> tuple[Part, ...]:
    """Links to the parts of a page, numbered from 1; `first` is the page of part 1 if that is not its own."""
    return tuple(
        Part(
            label=str(number),
            href=relative(start, first if first and number == 1 else part_page(page, number)),
            is_current=number == current,
        )
        for number in range(1, count + 1)
    )
