"""A text that quotes are looked for in, at each level of exactness; a level is prepared when it is first asked for."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from memosite.quotes.layers import Edit, Reading, edited, spaced
from memosite.quotes.marks import find_marks
from memosite.quotes.typography import close_dashes, plain_signs
from memosite.quotes.verdict import Span
from memosite.quotes.words import EDGE, edge

Level: TypeAlias = Literal["exact", "space", "marks", "signs"]
"""What two texts may differ in: nothing; white space; also Markdown marks; also typographic signs."""

LEVELS: tuple[Level, ...] = get_args(Level)

_EDGES = re.compile(EDGE)
_FEW = 8  # places at which words are looked for as they are, before anything is prepared


@dataclass(frozen=True, slots=True)
class Needle:
    """Words to look for, as they are and with the edges of words."""

    plain: str
    edged: str


class Prepared:
    """A text at one level, ready for searching: its reading, and, once words of it may be there, that with edges."""

    def __init__(self, reading: Reading) -> None:
        """Nothing is prepared yet."""
        self.reading = reading

    @cached_property
    def edged(self) -> str:
        """The reading with the edges of words."""
        return edge(self.reading.text)

    @cached_property
    def needle(self) -> Needle:
        """All of it as words to look for."""
        return Needle(self.reading.text.strip(), self.edged.strip())

    def may_have(self, needle: Needle) -> bool:
        """Whether the words are there, maybe within others; much faster than to prepare for `find`."""
        return needle.plain in self.reading.text

    def find(self, needle: str, start: int = 0, end: int | None = None) -> int:
        """Where a needle with edges is from a place on; -1 if it is not there."""
        return self.edged.find(needle, start, len(self.edged) if end is None else end)

    def find_all(self, needle: str) -> Iterator[int]:
        """All places of a needle, the first one first."""
        place = self.find(needle)
        while place >= 0:
            yield place
            place = self.find(needle, place + 1)

    def source_span(self, start: int, end: int) -> Span:
        """The span of the text itself that a span of `edged` is read from."""
        first = start - self.edged.count(EDGE, 0, start)
        return self.reading.source_span(first, first + len(self.edged[start:end].replace(EDGE, "")))

    def places_of(self, spans: Sequence[Span]) -> list[Span]:
        """Spans of the text itself as spans of `edged`."""
        edges = [match.start() - number for number, match in enumerate(_EDGES.finditer(self.edged))]
        places = ((self.reading.place_of(start), self.reading.place_of(end)) for start, end in spans)
        return [(start + bisect_left(edges, start), end + bisect_right(edges, end)) for start, end in places]


class Source:
    """One text with its levels. Keep it as long as several quotes are judged by it."""

    def __init__(self, text: str) -> None:
        """Nothing is prepared yet."""
        self.text = text

    def at(self, level: Level) -> Prepared:
        """The text at a level."""
        prepared: Prepared = getattr(self, f"_{level}")
        return prepared

    def exact_spans(self, quote: str) -> Iterator[Span]:
        """Where the very words are between white space or the ends of the text: found without preparing anything.

        Not of a quote with a number at an end: the number may go on behind the space, as `12 500` does.
        """
        place = -1 if quote[:1].isdigit() or quote[-1:].isdigit() else self.text.find(quote)
        for _ in range(_FEW):
            if place < 0:
                return
            end = place + len(quote)
            before, after = self.text[max(place - 1, 0) : place], self.text[end : end + 1]
            if quote and (not before or before.isspace()) and (not after or after.isspace()):
                yield place, end
            place = self.text.find(quote, place + 1)

    @cached_property
    def _clean(self) -> Reading:
        return Reading(self.text.replace(EDGE, "\ufffd"))

    @cached_property
    def _exact(self) -> Prepared:
        return Prepared(self._clean)

    @cached_property
    def _space(self) -> Prepared:
        return Prepared(spaced(self._clean))

    @cached_property
    def _found_marks(self) -> tuple[Edit, ...]:
        return find_marks(self._clean.text)

    @cached_property
    def _marks(self) -> Prepared:
        return Prepared(spaced(edited(self._clean, self._found_marks)))

    @cached_property
    def _signs(self) -> Prepared:
        return _with_signs(edited(self._clean, _merged(self._found_marks, plain_signs(self._clean.text))))

    @cached_property
    def unmarked_signs(self) -> Prepared:
        """The typographic signs read as plain, with all marks as they are: for a quote that holds `__init__`."""
        return _with_signs(edited(self._clean, plain_signs(self._clean.text)))


def _with_signs(reading: Reading) -> Prepared:
    reading = spaced(reading)
    return Prepared(edited(reading, close_dashes(reading.text)))


def _merged(edits: tuple[Edit, ...], others: Iterator[Edit]) -> Iterator[Edit]:
    """Both in order; of two that overlap, the one of `edits`."""
    done = 0
    number = 0
    for other in others:
        while number < len(edits) and edits[number][0] < other[1]:
            yield edits[number]
            done = edits[number][1]
            number += 1
        if other[0] >= done:
            yield other
    yield from edits[number:]
