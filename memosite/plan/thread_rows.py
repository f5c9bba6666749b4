"""Plans the rows of threads: all of them on a thread's page, a slice of them on a memo's."""

from dataclasses import replace

from memosite.archive.model import Thread
from memosite.pages.parts import Reference, Row
from memosite.plan.context import Context

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


def thread_slice(context: Context, start: str, thread: Thread, place: int) -> tuple[Row, ...]:
    """The slice of a thread around one of its memos."""
    first = max(0, place - SLICE)
    entries = thread.entries[first : place + SLICE + 1]
    shallowest = min(entry.indent for entry in entries)
    return tuple(
        thread_row(context, start, thread, first + index, is_current=first + index == place, less_depth=shallowest)
        for index in range(len(entries))
    )


def neighbours(context: Context, start: str, thread: Thread, place: int) -> tuple[Reference | None, Reference | None]:
    """The memos before and after one in its thread, if they are near."""

    def nearest(step: int) -> Reference | None:
        index = place + step
        while 0 <= index < len(thread.entries) and abs(index - place) <= SLICE * 4:
            if not thread.entries[index].is_ghost:
                return context.artifact(start, thread.entries[index].ref)
            index += step
        return None

    return nearest(-1), nearest(1)
