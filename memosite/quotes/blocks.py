"""Reads Markdown and plain text into the blocks that quotations are looked for in: paragraphs, and block quotes.

A block knows on which line each of its characters is. `<q>` is read as a pair of quotation marks of its own, so that
one search finds all kinds.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

OPEN, CLOSE = "\ue000", "\ue001"
"""Stand for `<q>` and `</q>` in the text of a block."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_QUOTED = re.compile(r" {0,3}(?:> ?)+")
_ALERT = re.compile(r"\[!\w+\]\s*\Z")
_ITEM = re.compile(r"[ \t]*(?:[*+-]|\d{1,9}[.)])[ \t]+|#{1,6}[ \t]+")
_TAG = re.compile(r"<(/?)(q|blockquote)\b[^<>]{0,500}>", re.IGNORECASE)


_LINK = re.compile(
    r"\]\(<([^<>\n]{1,2000})>\)|(https?://[^()\s<>\"]{1,2000}(?:\([^()\s<>\"]{0,200}\)[^()\s<>\"]{0,200}){0,5})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A paragraph, or what a block quote quotes. `starts` are where its lines begin in `text`, `lines` their numbers.

    `links` are the addresses that HTML links to from it, or gives as the source of the quote, `lead` is the text before
    the first of these links. `figure` is the number of the element of HTML that holds all of a quote, 0 if none does.
    """

    is_quote: bool
    text: str
    starts: tuple[int, ...]
    lines: tuple[int, ...]
    links: tuple[str, ...] = ()
    lead: str = ""
    figure: int = 0

    def line_of(self, place: int) -> int:
        """The line of the manuscript that a character is on."""
        return self.lines[max(bisect_right(self.starts, place) - 1, 0)]


def block_of(
    rows: Iterable[tuple[int, str]], *, is_quote: bool, links: tuple[str, ...] = (), lead: str = "", figure: int = 0
) -> Block:
    """A block of lines with their numbers."""
    kept = list(rows)
    starts: list[int] = []
    length = 0
    for _, row in kept:
        starts.append(length)
        length += len(row) + 1
    return Block(
        is_quote=is_quote,
        text="\n".join(row for _, row in kept),
        starts=tuple(starts) or (0,),
        lines=tuple(line for line, _ in kept) or (1,),
        links=links,
        lead=lead,
        figure=figure,
    )


def links_in(text: str) -> list[str]:
    """The addresses in a text or a Markdown document, in their order."""
    return [match[1] or match[2].rstrip(".,;:!?'”’»]") for match in _LINK.finditer(text)]


def markdown_blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown document; code is none."""
    yield from _Blocks(is_markdown=True).read(text)


def plain_blocks(text: str) -> Iterator[Block]:
    """The blocks of a plain text; lines that begin with `>` are a block quote, as in mail."""
    yield from _Blocks(is_markdown=False).read(text)


class _Blocks:
    """Collects lines until a block ends."""

    def __init__(self, *, is_markdown: bool) -> None:
        self.is_markdown = is_markdown
        self.rows: list[tuple[int, str]] = []
        self.is_quote = False
        self.in_tag = False  # within <blockquote>
        self.fence = ""

    def read(self, text: str) -> Iterator[Block]:
        for number, line in enumerate(text.split("\n"), 1):
            yield from self._line(number, line)
        yield from self._end()

    def _line(self, number: int, line: str) -> Iterator[Block]:
        fence = _FENCE.match(line) if self.is_markdown else None
        if self.fence or fence:
            yield from self._end()
            self.fence = self._fence_after(fence[1] if fence else "", line)
            return
        if not line.strip() and not (self.in_tag and self.rows):
            yield from self._end()
            return
        quoted = _QUOTED.match(line)
        row = line[quoted.end() :] if quoted else line
        if self.is_markdown and "<" in row:
            row, begins, ends = _tags(row)
            if begins:
                yield from self._end()
                self.in_tag = True
            if ends and self.in_tag:
                yield from self._add(number, row, is_quote=True)
                yield from self._end()
                self.in_tag = False
                return
        yield from self._add(number, row, is_quote=self.in_tag or quoted is not None)

    def _fence_after(self, fence: str, line: str) -> str:
        if not self.fence:
            return fence
        return "" if fence.startswith(self.fence) and not line.strip().strip("`~") else self.fence

    def _add(self, number: int, row: str, *, is_quote: bool) -> Iterator[Block]:
        item = _ITEM.match(row)
        if self.rows and (is_quote != self.is_quote or (item and not is_quote)):
            yield from self._end()
        if _ALERT.match(row) and is_quote:
            row = ""
        self.is_quote = is_quote
        self.rows.append((number, row[item.end() :] if item and not is_quote else row))

    def _end(self) -> Iterator[Block]:
        if any(row.strip() for _, row in self.rows):
            yield block_of(self.rows, is_quote=self.is_quote)
        self.rows = []


def _tags(row: str) -> tuple[str, bool, bool]:
    """A line without its tags of quotes, and whether a block quote begins and ends on it."""
    found = [(match[2].lower(), match[1]) for match in _TAG.finditer(row)]
    begins, ends = ("blockquote", "") in found, ("blockquote", "/") in found
    return _TAG.sub(_mark, row), begins, ends


def _mark(match: re.Match[str]) -> str:
    if match[2].lower() == "blockquote":
        return " "
    return CLOSE if match[1] else OPEN
