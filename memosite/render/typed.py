"""Prepares what a person typed for `turns.html`: verbatim, what is long folded (SPEC 4).

a turn's text ─► blocks ─┬─► tool calls, which the capture put there
                         └─► runs: everything between them ─► TypedText (beginning, rest as HTML)
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from markupsafe import Markup

from memosite.facts.phrases import phrases
from memosite.facts.texts import cut_line
from memosite.formats.turns import TurnBlock
from memosite.markdown.typed import fences, to_typed_html
from memosite.passages.anchors import block_prefix
from memosite.render.pieces import Piece

LONG: Final = 40
"""Inputs of more lines than these are folded, as far as they are higher than `BEGINNING`."""

BEGINNING: Final = 12
"""How many lines of a long input are shown."""

_WIDTH: Final = 90  # characters that fit on a line of a page, roughly
_SUMMARY_CHARS: Final = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedText:
    """What was typed without a break: what is shown, and the folded rest with a line that says what it is."""

    kind: ClassVar[str] = "typed"
    shown: Markup
    rest: Markup
    summary: str


def typed_parts(piece: Piece, links: Mapping[str, str], turn: str) -> Iterator[TypedText | tuple[str, TurnBlock]]:
    """What was typed in a turn and its tool calls, each with the prefix of its anchors, in order.

    `turn` is the anchor of the turn.
    """
    lines = piece.lines
    targets: dict[int, list[str]] = defaultdict(list)
    position = 0
    for number, block in piece.blocks:
        prefix = block_prefix(turn, number)
        if block.kind == "tool":
            yield from _run(lines, position, block.start, targets, links)
            yield prefix, block
            position = block.end
        else:
            for line, anchor in piece.anchors(number):
                targets[line].append(prefix + anchor)
    yield from _run(lines, position, len(lines), targets, links)


def _run(
    lines: Sequence[str], start: int, end: int, targets: Mapping[int, Sequence[str]], links: Mapping[str, str]
) -> Iterator[TypedText]:
    """What is typed between two lines, less the blank line that the capture has put at either end."""
    if not any(map(str.strip, lines[start:end])):
        return
    start += not lines[start].strip()
    end -= end < len(lines) and not lines[end - 1].strip()
    run = lines[start:end]
    cut = _beginning(run)
    html = [
        to_typed_html(
            run[first:last],
            links=links,
            targets={
                line - start - first: targets[line] for line in range(start + first, start + last) if line in targets
            },
            is_end=last == len(run),
        )
        for first, last in ((0, cut), (cut, len(run)))
    ]
    yield TypedText(
        shown=Markup(html[0]),  # noqa: S704 # what `to_typed_html` has written
        rest=Markup(html[1]),  # noqa: S704
        summary=_summary(run, cut),
    )


def _beginning(lines: Sequence[str]) -> int:
    """How many lines are shown: all, unless they are too many; fenced code is not cut apart."""
    heights = [1 + len(line) // _WIDTH for line in lines]
    if sum(heights) <= LONG:
        return len(lines)
    shown = height = 0
    while height + heights[shown] <= BEGINNING:
        height += heights[shown]
        shown += 1
    return next((start for start, end in fences(lines) if start < shown < end), shown)


def _summary(lines: Sequence[str], cut: int) -> str:
    """The line for what is folded: how much it is, and its first words if nothing of it is shown; "" for nothing."""
    rest = len(lines) - cut
    if not rest:
        return ""
    if cut:
        return phrases("{n:,} more line", "{n:,} more lines", rest)
    first = next((line for line in lines if line.strip()), "")
    return phrases("{begin} ({n:,} line)", "{begin} ({n:,} lines)", rest, begin=cut_line(first[:1_000], _SUMMARY_CHARS))
