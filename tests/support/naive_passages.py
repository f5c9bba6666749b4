"""Splits Markdown into passages in the plainest way, line by line: a second opinion on `markdown/plain.py`.

It knows what a careful author writes: lists and quotes in lists and quotes, whose lines all have their marks. It knows
nothing of tabs, definitions, footnotes, headings by an underline, and lines that continue a paragraph without a mark.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias

Line: TypeAlias = tuple[int, str]
"""What is left of a line within its containers, and where in the text that begins."""

Found: TypeAlias = tuple[str, int, int]
"""A passage: kind, begin, end."""

FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6} +(.*?)(?: +#+)? *")
SECTION = re.compile(r" {0,3}(={2,6}) +(.*?) +\1 *")
RULE = re.compile(r" {0,3}(?:-{3,}|\*{3,}) *")
MARK = re.compile(r" {0,3}(?:[-*+]|\d+[.)]) +(?=\S)")
CONTAINED = 4  # columns of indented code


@dataclass
class Block:
    """A block: what it is, its passages, and the place that an item which begins with it would have."""

    kind: str
    found: list[Found] = field(default_factory=list)
    place: tuple[int, int] | None = None


def naive_passages(text: str) -> list[Found]:
    """The passages of a text, in order."""
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    return [one for block in blocks(lines) for one in block.found]


def blocks(lines: list[Line]) -> Iterator[Block]:
    """The blocks of some lines."""
    while lines:
        at, line = lines[0]
        if not line.strip():
            lines = lines[1:]
            continue
        block, used = block_of(lines, at, line)
        yield block
        lines = lines[used:]


def block_of(lines: list[Line], at: int, line: str) -> tuple[Block, int]:
    """The block that begins on the first line, and how many lines it takes."""
    if fence := FENCE.match(line):
        code = list(takewhile(lambda one: not closes(one[1], fence[2]), lines[1:]))
        return code_of(code, len(fence[1])), len(code) + 2
    if line.startswith(" " * CONTAINED):
        code = list(takewhile(lambda one: not one[1].strip() or one[1].startswith(" " * CONTAINED), lines))
        while not code[-1][1].strip():
            code.pop()
        return code_of(code, CONTAINED), len(code)
    for pattern, group in ((HEADING, 1), (SECTION, 2)):
        if heading := pattern.fullmatch(line):
            return leaf("heading", at + heading.start(group), at + heading.end(group)), 1
    if RULE.fullmatch(line) or line.startswith("|"):
        return Block("other"), 1
    if line.startswith(">"):
        quoted = list(takewhile(lambda one: one[1].startswith(">"), lines))
        inner = list(blocks([(begin + len(mark_of(one)), one[len(mark_of(one)) :]) for begin, one in quoted]))
        found = [one for block in inner for one in block.found]
        return Block("quote", found, inner[0].place if inner else None), len(quoted)
    if mark := MARK.match(line):
        return item_of(lines, mark.end())
    said = [lines[0], *takewhile(lambda one: not begins_block(one[1]), lines[1:])]
    end, last = said[-1]
    return leaf("paragraph", at + len(line) - len(line.lstrip()), end + len(last.rstrip())), len(said)


def leaf(kind: str, begin: int, end: int) -> Block:
    """A block that is one passage."""
    return Block("leaf", [(kind, begin, end)], (begin, end))


def code_of(lines: list[Line], indent: int) -> Block:
    """Code, less so many spaces before its first line."""
    at, first = lines[0]
    end, last = lines[-1]
    return leaf("code", at + min(indent, len(first) - len(first.lstrip(" "))), end + len(last))


def item_of(lines: list[Line], width: int) -> tuple[Block, int]:
    """An item, and how many lines it takes; its first paragraph is the item itself."""
    (at, line), rest = lines[0], lines[1:]
    more = list(takewhile(lambda one: not one[1].strip() or one[1].startswith(" " * width), rest))
    inner = list(blocks([(at + width, line[width:]), *((begin + width, one[width:]) for begin, one in more)]))
    begin, end = inner[0].place or (at + len(line), at + len(line))
    found = [one for block in inner for one in block.found]
    if inner[0].kind == "leaf" and found[0][0] == "paragraph":
        del found[0]
    return Block("item", [("item", begin, end), *found], inner[0].place), 1 + len(more)


def mark_of(line: str) -> str:
    """The mark of a quote."""
    return "> " if line.startswith("> ") else ">"


def closes(line: str, fence: str) -> bool:
    """Whether a line closes fenced code."""
    mark = FENCE.fullmatch(line.rstrip())
    return mark is not None and mark[2].startswith(fence)


def begins_block(line: str) -> bool:
    """Whether a paragraph ends before this line; code by indentation does not end one."""
    patterns = (FENCE.match, HEADING.fullmatch, SECTION.fullmatch, RULE.fullmatch, MARK.match)
    return not line.strip() or line.startswith((">", "|")) or any(pattern(line) for pattern in patterns)
