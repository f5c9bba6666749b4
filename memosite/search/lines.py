"""Cuts what is searched of a document into lines with anchors, and these into stretches of a few kilobytes.

    parts of the body ──► lines: the words of a block, and the anchor that leads to it ──► stretches, for the browser

A hit shows some of these lines: `excerpt` chooses them for commands, `static/search.js` does for the search page, which
loads few stretches of a long text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter, sub
from typing import NamedTuple, TypeAlias

from memosite.facts.texts import one_line
from memosite.markdown.places import FRONT_MATTER
from memosite.markdown.plain import plain_lines
from memosite.search.documents import MOST_CHARS, SearchDocument
from memosite.search_language.analyzer import Analyzer

STRETCH = 8_000
"""Characters after which a stretch ends: a hit loads one of them, and the short texts that are loaded together."""

BodyLine: TypeAlias = tuple[int, str, str]
"""A line of a Markdown text as the number, anchor and text of a `Line`, without a prefix."""

FindLines: TypeAlias = Callable[[str], list[BodyLine]]
"""Finds the lines of a text as `body_lines` does."""

_END = re.compile(r"\r\n?|\n")


class Line(NamedTuple):
    """A block of a text in one line. `number` is that of the body's line on which it begins, counted from 0."""

    number: int
    anchor: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Consecutive lines of a document, as `written_lines`; before them its texts have `start` words."""

    start: int
    text: str


def body_lines(body: str) -> list[BodyLine]:
    """The lines of a Markdown text in the order of the source."""
    found = sorted(plain_lines(body), key=itemgetter(0))
    return [(number, anchor, line) for number, anchor, words in found if (line := one_line(words))]


def lines_of(document: SearchDocument, find: FindLines = body_lines) -> Iterator[Line]:
    """The lines of a document's body, without front matter, in the order in which its words are counted."""
    before = 0
    for text, prefix in document.parts:
        front = FRONT_MATTER.match(text)
        body = text[front.end() if front else 0 :][:MOST_CHARS]
        first = before + (front[0].count("\n") if front else 0)
        for number, anchor, line in find(body):
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


def stretches_of(document: SearchDocument, analyzer: Analyzer, find: FindLines) -> tuple[Stretch, ...]:
    """The stretches of a document; none if its body says nothing."""
    lines = [short for line in lines_of(document, find) for short in _cut(line)]
    if not lines:
        return ()
    chosen: list[list[Line]] = [[]]
    size = 0
    for line in lines:
        if size > 0 and size + len(line.text) > STRETCH:
            chosen.append([])
            size = 0
        chosen[-1].append(line)
        size += len(line.text) + 1
    starts = _starts(document, chosen, analyzer) if len(chosen) > 1 else [0]
    return tuple(Stretch(start=start, text=written_lines(one)) for start, one in zip(starts, chosen, strict=True))


class TextPieces:
    """Puts the stretches of documents into pieces of a block, in order: several short texts in one."""

    def __init__(self) -> None:
        """Without texts."""
        self._pieces: list[list[bytes]] = []  # a text with a single character beyond Latin-1 takes twice as much
        self._left = 0

    def add(self, stretches: Sequence[Stretch]) -> list[int]:
        """Add a document; gives the piece of its first stretch, the place there, and how many words each one has.

        The others are the first ones of the pieces that follow; of the last one the words are not given.
        """
        if not stretches:
            return []
        for one in stretches:
            if len(stretches) > 1 or len(one.text) > self._left:
                self._pieces.append([])
                self._left = STRETCH
            self._pieces[-1].append(one.text.encode("utf-8", "surrogatepass"))
            self._left -= len(one.text)
        first = len(self._pieces) - len(stretches)
        starts = [one.start for one in stretches]
        return [first, len(self._pieces[first]) - 1, *map(sub, starts[1:], (0, *starts[1:]))]

    def give_up(self) -> Iterator[list[str]]:
        """Yield the pieces in their order, and keep none."""
        self._pieces.reverse()
        while self._pieces:
            yield [text.decode("utf-8", "surrogatepass") for text in self._pieces.pop()]


def _cut(line: Line) -> Iterator[Line]:
    """A line that is longer than a stretch, as several."""
    text = line.text
    while len(text) > STRETCH:
        end = text.rfind(" ", 0, STRETCH) + 1 or STRETCH
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
