"""Takes pieces of turns that are too long for one page (SPEC 4): a part shows one piece, the next part goes on.

Blocks keep the numbers that they have in the whole turn, so that anchors are the same wherever a turn is split.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memosite.formats.turns import TurnBlock, blocks
from memosite.markdown.typed import fences, passage_anchors


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some lines of a turn, all of them unless it is split, and its blocks, each with its number in the turn.

    Lines are counted from 0 in the piece. What of a block is on other parts is left out of it.
    """

    lines: Sequence[str]
    blocks: tuple[tuple[int, TurnBlock], ...]
    whole: tuple[TurnBlock, ...]
    """The blocks of the whole turn, by the lines of the whole turn."""
    before: int
    """How many lines the piece comes after; one that is split between pieces does not count."""
    begins_in_line: bool

    def anchors(self, number: int) -> Iterator[tuple[int, str]]:
        """The anchors of a block's passages that begin in this piece, each with its line."""
        block = self.whole[number]
        for line, anchor in passage_anchors(block.text):
            here = block.start + line - self.before
            if self.begins_in_line <= here < len(self.lines):
                yield here, anchor


def piece_of(text: str, start: int = 0, stop: int | None = None) -> Piece:
    """The piece of a turn's text between two characters."""
    begins_in_line = start > 0 and text[start - 1] != "\n"
    ends_in_line = stop is not None and text[stop - 1] != "\n"
    lines = text[start:stop].split("\n")
    if stop is not None and not ends_in_line:
        lines.pop()  # the next piece has it
    before = text.count("\n", 0, start)
    whole = blocks(text)
    first, end = before + begins_in_line, before + len(lines) - ends_in_line  # the lines that are here as a whole
    found: list[tuple[int, TurnBlock]] = []
    for number, block in enumerate(whole):
        here = replace(block, start=max(block.start - before, 0), end=min(block.end - before, len(lines)))
        if here.start >= here.end:
            continue
        if block.start < first or block.end > end:
            offset = here.start + before - block.start
            here = replace(here, text=_text_of_piece(block, lines[here.start : here.end], offset))
        found.append((number, here))
    return Piece(lines=lines, blocks=tuple(found), whole=whole, before=before, begins_in_line=begins_in_line)


def _text_of_piece(block: TurnBlock, lines: Sequence[str], offset: int) -> str:
    """The text of some lines of a block, from the given one on; code that is split has its fences in each piece."""
    text = list(lines)
    if block.kind == "tool":
        text = [line[1:].removeprefix(" ") if line.startswith(">") else line for line in text[offset == 0 :]]
        offset = max(offset - 1, 0)
    all_lines = block.text.split("\n")
    end = offset + len(text)
    for first, last in fences(all_lines):
        if first < offset < last:
            text.insert(0, all_lines[first])
        if first < end < last:
            text.append(all_lines[last - 1])
    return "\n".join(text)
