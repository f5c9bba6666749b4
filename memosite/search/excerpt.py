"""Cuts the excerpt of a text that shows most of a query's words, and marks them."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from memosite.facts.texts import cut_line, one_line
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


def make_excerpt(text: str, wanted: Collection[Words], analyzer: Analyzer) -> tuple[ExcerptPiece, ...]:
    """The excerpt of a prepared text, as pieces; its beginning if no word matches."""
    line = one_line(text)
    found = _wanted_words(line, wanted, analyzer)
    if not found:
        shown = cut_line(line, LENGTH)
        return (ExcerptPiece(text=shown),) if shown else ()
    start = _best_start(found)
    start = 0 if start <= BEFORE else _after_space(line, start - BEFORE, start)
    end = min(len(line), start + LENGTH)
    if end < len(line):
        end = max(line.rfind(" ", start, end), *(word.end for word in found if start < word.end <= end), 0)
    inside = _merged([word for word in found if start <= word.start and word.end <= end])
    pieces = [ExcerptPiece(text="… " if start else "")]
    place = start
    for first, last in inside:
        pieces += [ExcerptPiece(text=line[place:first]), ExcerptPiece(text=line[first:last], is_marked=True)]
        place = last
    pieces.append(ExcerptPiece(text=line[place:end] + (" …" if end < len(line) else "")))
    return tuple(piece for piece in pieces if piece.text)


def _wanted_words(line: str, wanted: Collection[Words], analyzer: Analyzer) -> list[Word]:
    """The words of a line that a query looks for; of a phrase only whole matches."""
    if not wanted:
        return []
    whole = {term for one in wanted for term in one.terms}
    begun = tuple(one.terms[-1] for one in wanted if one.prefix)
    words = list(islice(analyzer.find(line, lambda term: term in whole or term.startswith(begun)), MOST_WORDS))
    places: dict[str, list[Word]] = {}
    for word in words:
        places.setdefault(word.term, []).append(word)
    found: dict[tuple[int, int], Word] = {}
    for one in wanted:
        ends = _words_at(one, 0, words, places)
        chains = {word.position: [word] for word in ends}
        for index in range(1, len(one.terms)):
            following = {word.position: word for word in _words_at(one, index, words, places)}
            chains = {
                position + 1: [*chain, following[position + 1]]
                for position, chain in chains.items()
                if position + 1 in following
            }
        for chain in chains.values():
            found |= {(word.start, word.end): word for word in chain}
        if len(one.terms) == 1:
            found |= {(word.start, word.end): word for word in ends}
    return [found[key] for key in sorted(found)]


def _words_at(one: Words, index: int, words: Sequence[Word], places: dict[str, list[Word]]) -> list[Word]:
    term = one.terms[index]
    if one.prefix and index == len(one.terms) - 1:
        return [word for word in words if word.term.startswith(term)]
    return places.get(term, [])


def _best_start(found: Sequence[Word]) -> int:
    """The start of the excerpt with the most different words; the first such one."""
    best, most = 0, 0
    inside: Counter[str] = Counter()
    last = 0
    for first, word in enumerate(found):
        while last < len(found) and found[last].end <= word.start + LENGTH - BEFORE:
            inside[found[last].term] += 1
            last += 1
        if len(inside) > most:
            best, most = first, len(inside)
        if last > first:
            inside[word.term] -= 1
            if not inside[word.term]:
                del inside[word.term]
        else:  # a word longer than an excerpt
            last = first + 1
    return found[best].start


def _after_space(line: str, start: int, end: int) -> int:
    space = line.find(" ", start, end)
    return space + 1 if space >= 0 else start


def _merged(words: Sequence[Word]) -> list[tuple[int, int]]:
    """The spans of words; those that overlap or touch are merged."""
    places: list[tuple[int, int]] = []
    for word in words:
        if places and word.start <= places[-1][1]:
            places[-1] = (places[-1][0], max(places[-1][1], word.end))
        else:
            places.append((word.start, word.end))
    return places
