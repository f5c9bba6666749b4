"""Cuts what is searched of a document into lines with anchors, and these into pieces of a few kilobytes.

    parts of the body ──► lines: the words of a block, and the anchor that leads to it ──► pieces, for the browser

A hit shows some of these lines: `excerpt` chooses them for commands, `static/search.js` does for the search page, which
loads only the piece that it shows.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter, sub
from typing import NamedTuple

from memosite.facts.texts import one_line
from memosite.markdown.places import FRONT_MATTER
from memosite.markdown.plain import plain_lines
from memosite.search.documents import MOST_CHARS, SearchDocument
from memosite.search_language.analyzer import Analyzer

TEXT_CHARS = 8_000
"""Characters after which a piece of text ends: a hit loads one of them, and the texts of its group."""

_END = re.compile(r"\r\n?|\n")


class Line(NamedTuple):
    """A block of a text in one line. `number` is that of the body's line on which it begins, counted from 0."""

    number: int
    anchor: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """Consecutive lines of a document, as `written_lines`; before them its texts have `start` words."""

    start: int
    text: str


def lines_of(document: SearchDocument) -> Iterator[Line]:
    """The lines of a document's body, without front matter, in the order in which its words are counted."""
    before = 0
    for text, prefix in document.parts:
        front = FRONT_MATTER.match(text)
        body = text[front.end() if front else 0 :][:MOST_CHARS]
        first = before + (front[0].count("\n") if front else 0)
        for number, anchor, words in sorted(plain_lines(body), key=itemgetter(0)):
            if line := one_line(words):
                yield Line(first + number, prefix + anchor if anchor and prefix is not None else "", line)
        before += len(_END.findall(text)) + 2


def written_lines(lines: Iterable[Line]) -> str:
    """Lines as one text: before a line its anchor and a tab, if the line before has another. For `read_lines`."""
    same = groupby(lines, itemgetter(1))
    return "\n".join(
        f"{anchor}\t" * bool(anchor or at) + "\n".join(line.text for line in found)
        for at, (anchor, found) in enumerate(same)
    )


def read_lines(text: str) -> list[tuple[str, str]]:
    """The anchor and the words of each line."""
    found: list[tuple[str, str]] = []
    anchor = ""
    for line in text.split("\n") if text else ():
        before, tab, words = line.rpartition("\t")
        anchor = before if tab else anchor
        found.append((anchor, words))
    return found


def text_pieces(document: SearchDocument, analyzer: Analyzer) -> tuple[TextPiece, ...]:
    """The pieces of a document; none if its body says nothing."""
    lines = [short for line in lines_of(document) for short in _cut(line)]
    if not lines:
        return ()
    chosen: list[list[Line]] = [[]]
    size = 0
    for line in lines:
        if size > 0 and size + len(line.text) > TEXT_CHARS:
            chosen.append([])
            size = 0
        chosen[-1].append(line)
        size += len(line.text) + 1
    starts = _starts(document, chosen, analyzer) if len(chosen) > 1 else [0]
    return tuple(TextPiece(start=start, text=written_lines(one)) for start, one in zip(starts, chosen, strict=True))


class TextGroups:
    """Groups the pieces of documents that are loaded together, in order.

    What is cut has groups of its own, but for its last piece.
    """

    def __init__(self) -> None:
        """Without groups."""
        self.groups: list[list[str]] = []
        self._left = 0

    def add(self, pieces: Sequence[TextPiece]) -> list[int]:
        """Add a document's pieces; gives the group of the first one, its place there, and how many words each one has.

        The others are the first ones of the groups that follow; of the last one the words are not given.
        """
        if not pieces:
            return []
        for piece in pieces:
            if len(pieces) > 1 or len(piece.text) > self._left:
                self.groups.append([])
                self._left = TEXT_CHARS
            self.groups[-1].append(piece.text)
            self._left -= len(piece.text)
        first = len(self.groups) - len(pieces)
        starts = [piece.start for piece in pieces]
        return [first, len(self.groups[first]) - 1, *map(sub, starts[1:], (0, *starts[1:]))]


def _cut(line: Line) -> Iterator[Line]:
    """A line that is longer than a piece, as several."""
    text = line.text
    while len(text) > TEXT_CHARS:
        end = text.rfind(" ", 0, TEXT_CHARS) + 1 or TEXT_CHARS
        yield line._replace(text=text[:end].rstrip())
        text = text[end:]
    yield line._replace(text=text)


def _starts(document: SearchDocument, chosen: list[list[Line]], analyzer: Analyzer) -> list[int]:
    """How many words come before each of these groups of lines: positions count so (`positions_of`)."""
    *others, body = document.texts
    written = _END.split(body)
    start = sum(max(_count(text, analyzer) + 1, 2) for text in others)
    found: list[int] = []
    number = 0
    for before, lines in pairwise([[], *chosen]):
        first = lines[0].number
        if before and before[0].number == first:  # both are of one long line
            found.append(found[-1] + _count(" ".join(line.text for line in before), analyzer))
            continue
        start += _count("\n".join(written[number:first]), analyzer)
        number = first
        found.append(start)
    return found


def _count(text: str, analyzer: Analyzer) -> int:
    return len(analyzer.terms(text)[0])
