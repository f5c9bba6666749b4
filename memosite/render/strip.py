"""Draws all turns of a transcript as one strip: who speaks, where tools are called, what is cited and mentioned.

A cell counts turns: of one column each if they are few, else of as many as make `COLUMNS` columns.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from memosite.facts.phrases import joined, phrase
from memosite.formats.turns import Turn, TurnList, blocks
from memosite.pages.parts import Body, Reference
from memosite.pages.pictures import Cell, Grid, PictureColumn, PictureRow
from memosite.render.outline import part_of

COLUMNS: Final = 60
"""The most columns, however many turns there are."""

FEWEST: Final = 6
"""A shorter conversation is seen at a glance."""

_MARKS: Final = 4  # numbers above the drawing
_RANGE = re.compile(r"t([1-9][0-9]{0,8})(?:-t([1-9][0-9]{0,8}))?(?=[.-]|\Z)")
_HASH = re.compile(r"t-[0-9a-f]{8}(?:-[0-9]+)?(?=[.]|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The picture, and how many turns a column has."""

    picture: Grid
    turns: int


def strip_of(conversation: TurnList, body: Body) -> Strip | None:
    """The strip of a transcript; None for a short one, and on parts other than the first."""
    turns = conversation.turns
    is_first = body.turns is None or not (body.turns.first or body.turns.start)
    if len(turns) < FEWEST or not is_first:
        return None
    size = -(-len(turns) // COLUMNS)
    known = (body.cited_turns, body.mentioned_turns, tuple(anchor for anchor, _, _ in body.shared))
    cited, mentioned, shared = (_ordinals(anchors, turns) for anchors in known)
    rows: tuple[tuple[str, Callable[[Turn], bool]], ...] = (
        (phrase("People"), lambda turn: turn.is_person),
        (phrase("Assistant"), lambda turn: not turn.is_person),
        (phrase("With tool calls"), _calls_tools),
        (phrase("Cited"), lambda turn: turn.ordinal in cited),
        (phrase("Mentioned"), lambda turn: turn.ordinal in mentioned),
        (phrase("With shared passages"), lambda turn: turn.ordinal in shared),
    )
    found = [(label, [turn for turn in turns if belongs(turn)]) for label, belongs in rows]
    width = -(-len(turns) // size)
    picture = Grid(
        anchor="_strip",
        caption=_caption(len(turns), size, is_known=bool(cited or mentioned or shared)),
        corner=phrase("Turns"),
        columns=tuple(_columns(width, size, len(turns))),
        rows=tuple(_row(label, some, width, size, body) for label, some in found if some),
    )
    return Strip(picture=picture, turns=size)


def _caption(total: int, size: int, *, is_known: bool) -> str:
    said = (
        phrase("All {total:,} turns in order, {size:,} in each column.", total=total, size=size)
        if size > 1
        else phrase("All {total:,} turns in order.", total=total)
    )
    return said if is_known else joined(" ", (said, phrase("No turn is cited, mentioned or quoted elsewhere.")))


def _columns(width: int, size: int, total: int) -> Iterator[PictureColumn]:
    """A column for each group of turns; some have the number of their first one above the drawing."""
    step = max(1, -(-width // _MARKS))
    for place in range(width):
        first, last = place * size + 1, min((place + 1) * size, total)
        label = f"{first:,}" if first == last else f"{first:,}–{last:,}"
        yield PictureColumn(label=label, mark="" if place % step else f"{first:,}")


def _row(label: str, turns: Iterable[Turn], width: int, size: int, body: Body) -> PictureRow:
    """A cell leads to the first of the turns that it counts."""
    columns: list[list[Turn]] = [[] for _ in range(width)]
    for turn in turns:
        columns[(turn.ordinal - 1) // size].append(turn)
    return PictureRow(
        label=Reference(label=label),
        cells=tuple(_cell(label, some, body) if some else Cell(number=0) for some in columns),
    )


def _cell(label: str, turns: list[Turn], body: Body) -> Cell:
    href = f"{part_of(turns[0].ordinal - 1, body)}#{body.prefix}{turns[0].anchor}"
    return Cell(
        number=len(turns),
        href=href,
        words=phrase("{label}, from turn {turn}: {number}", label=label, turn=turns[0].ordinal, number=len(turns)),
    )


def _calls_tools(turn: Turn) -> bool:
    return "🔧" in turn.text and any(block.kind == "tool" for block in blocks(turn.text))


def _ordinals(anchors: Iterable[str], turns: tuple[Turn, ...]) -> set[int]:
    """The turns that anchors name: by number, as a range, by hash, or by a passage of one."""
    hashes = {turn.hash_anchor: turn.ordinal for turn in turns if turn.hash_anchor} if anchors else {}
    found: set[int] = set()
    for anchor in anchors:
        if match := _RANGE.match(anchor):
            first, last = int(match[1]), min(int(match[2] or match[1]), len(turns))
            found.update(range(first, last + 1))
        elif match := _HASH.match(anchor):
            found.update(filter(None, (hashes.get(match[0]),)))
    return found
