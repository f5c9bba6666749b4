"""Cuts the excerpt of a text that shows most of a query's words, marks them, and finds the anchor that leads there."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import NamedTuple

from memosite.search_language.analyzer import Analyzer, Word
from memosite.search_language.syntax import Words

LENGTH = 240
"""The longest excerpt, in characters."""

BEFORE = 40
"""At most so many characters stand before the first marked word."""


MOST_WORDS = 1_000
"""Of so many words that are sought, the first ones, the best place for an excerpt is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptPiece:
    """A piece of an excerpt, marked or not."""

    text: str
    is_marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The passage that a hit shows. `anchor` is that of the line where most of the words begin, "" if there is none."""

    anchor: str = ""
    pieces: tuple[ExcerptPiece, ...] = ()


def make_excerpt(lines: Sequence[tuple[str, str]], wanted: Collection[Words], analyzer: Analyzer) -> Excerpt:
    """The excerpt of a document from its lines, each with its anchor; its beginning if no word matches."""
    line = " ".join(text for _, text in lines)
    found = _wanted_words(line, wanted, analyzer)
    best = _best_start(found) if found else 0
    start = 0 if best <= BEFORE else _after_space(line, best - BEFORE, best)
    end = min(len(line), start + LENGTH)
    if end < len(line):
        end = max(line.rfind(" ", start, end), *(word.end for word in found if start < word.end <= end), 0)
    pieces = [ExcerptPiece(text="… " if start else "")]
    place = start
    for first, last in _merged([word for word in found if start <= word.start and word.end <= end]):
        pieces += [ExcerptPiece(text=line[place:first]), ExcerptPiece(text=line[first:last], is_marked=True)]
        place = last
    pieces.append(ExcerptPiece(text=line[place:end] + (" …" if end < len(line) else "")))
    ends = list(accumulate(len(text) + 1 for _, text in lines))
    anchor = lines[bisect_right(ends, best)][0] if found else ""
    return Excerpt(anchor=anchor, pieces=tuple(piece for piece in pieces if piece.text))


class _Found(NamedTuple):
    """A word of a line that a query looks for, and what of the query it is."""

    start: int
    end: int
    term: str


def _wanted_words(line: str, wanted: Collection[Words], analyzer: Analyzer) -> list[_Found]:
    """The words of a line that a query looks for; of a phrase only whole matches."""
    if not wanted:
        return []
    whole = {term for one in wanted for term in one.terms}
    begun = tuple(one.terms[-1] for one in wanted if one.prefix)
    words = list(islice(analyzer.find(line, lambda term: term in whole or term.startswith(begun)), MOST_WORDS))
    places: dict[str, list[Word]] = {}
    for word in words:
        places.setdefault(word.term, []).append(word)
    found: set[_Found] = set()
    for one in wanted:
        chains = [[word] for word in _words_at(one, 0, words, places)]
        for index in range(1, len(one.terms)):
            following = {word.position: word for word in _words_at(one, index, words, places)}
            chains = [
                [*chain, following[chain[-1].position + 1]] for chain in chains if chain[-1].position + 1 in following
            ]
        for chain in chains:
            found |= {
                _Found(word.start, word.end, f"{term}*" if one.prefix and term is one.terms[-1] else term)
                for term, word in zip(one.terms, chain, strict=True)
            }
    return sorted(found)


def _words_at(one: Words, index: int, words: Sequence[Word], places: dict[str, list[Word]]) -> list[Word]:
    term = one.terms[index]
    if one.prefix and index == len(one.terms) - 1:
        return [word for word in words if word.term.startswith(term)]
    return places.get(term, [])


def _best_start(found: Sequence[_Found]) -> int:
    """The start of the excerpt with the most different words, and these the nearest together; the first such one."""
    best, most, least = found[0].start, 0, 0
    for first, word in enumerate(found):
        terms: set[str] = set()
        last = word.start
        for other in islice(found, first, None):
            if other.end > word.start + LENGTH - BEFORE:
                break
            if other.term not in terms:
                terms.add(other.term)
                last = other.start
        if (len(terms), least) > (most, last - word.start):
            best, most, least = word.start, len(terms), last - word.start
    return best


def _after_space(line: str, start: int, end: int) -> int:
    space = line.find(" ", start, end)
    return space + 1 if space >= 0 else start


def _merged(words: Sequence[_Found]) -> list[tuple[int, int]]:
    """The spans of words; those that overlap or touch are merged."""
    places: list[tuple[int, int]] = []
    for word in words:
        if places and word.start <= places[-1][1]:
            places[-1] = (places[-1][0], max(places[-1][1], word.end))
        else:
            places.append((word.start, word.end))
    return places
