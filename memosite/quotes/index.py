"""Finds which of very many texts may hold a quote, without comparing the quote with each of them.

    text ─► words ─► runs of 3 words, as numbers ─► of neighbouring runs the lesser (winnowing) ─► a row, as bytes
    quote ─► the same numbers ─► rows that have them

Winnowing (Schleimer, Wilkerson, Aiken 2003) keeps a run of words wherever it is, so that of every 4 words of a quote
at least one run is kept, in the quote and in each text that holds it. What is found are candidates, for `judge`.
For few quotes most texts need no row: one that has the letters of no kept run, word after word, has none of the runs.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from sys import byteorder
from typing import Final, Generic, TypeVar
from zlib import crc32

from memosite.quotes.words import folded_words

LEAST: Final = 4
"""The least words of a quote that is found whatever else the texts hold."""

_RUN: Final = 3
_MOST_LETTERS: Final = 100  # kept runs that are looked for by their letters: for more, rows take less time
_BETWEEN: Final = r"[\W_]*"  # words; those of scripts without spaces follow each other at once
_Key = TypeVar("_Key", bound=Hashable)


def make_row(text: str) -> bytes:
    """What the index keeps of a text: about two bytes for each of its words."""
    return _packed(_kept(_runs(folded_words(text))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Generic[_Key]):
    """A text that may hold a quote, and how many of the quote's runs of words it has, from 0 to 1."""

    key: _Key
    share: float


class QuoteIndex(Generic[_Key]):
    """The rows of many texts."""

    def __init__(self, rows: Mapping[_Key, bytes]) -> None:
        """Take rows of `make_row` by the keys of their texts."""
        self.rows = rows

    @classmethod
    def of(cls, texts: Iterable[tuple[_Key, str]]) -> "QuoteIndex[_Key]":
        """The index of texts."""
        return cls({key: make_row(text) for key, text in texts})

    def find(self, quotes: Sequence[str], *, limit: int = 50) -> list[tuple[Candidate[_Key], ...]]:
        """For each quote the texts that may hold it, the likeliest first, in one pass over all rows.

        A text that holds a quote of 4 words or more has a share of 1 and is found, unless `limit` others have it too.
        A text with another form of it has a lower share, and is the earlier the rarer the runs are that it has. Else
        rows keep their order.
        """
        kept = [set(_unpacked(make_row(quote))) for quote in quotes]
        wanted: set[int] = set().union(*kept)
        have = {key: some for key, row in self.rows.items() if (some := wanted.intersection(_unpacked(row)))}
        holders = Counter(one for some in have.values() for one in some)
        return [tuple(islice(_ranked(runs, have, holders), limit)) for runs in kept]


def letters_of(quotes: Iterable[str]) -> Callable[[str], bool]:
    """Tells whether a text may have a kept run of any of these quotes: the letters of its words, one after the other.

    An index of the texts that may have one finds for these quotes what the index of all texts finds.
    """
    wanted: dict[str, tuple[str, re.Pattern[str]]] = {}
    for quote in quotes:
        words = folded_words(quote)
        runs = _runs(words)
        kept = _kept(runs)
        for place, run in enumerate(runs):
            if run in kept:
                run_words = words[place : place + _RUN]
                pattern = re.compile(_BETWEEN.join(map(re.escape, run_words)))
                wanted[" ".join(run_words)] = max(run_words, key=len), pattern
        if len(wanted) > _MOST_LETTERS:
            return lambda _: True

    def may_have(text: str) -> bool:
        lowered = text.lower()
        return any(longest in lowered and pattern.search(lowered) for longest, pattern in wanted.values())

    return may_have


def words_of(quote: str) -> Callable[[str], bool]:
    """Tells whether a text may have the words of a quote that is too short for an index, one after the other."""
    words = list(map(re.escape, folded_words(quote)))
    before, after = (r"(?<![^\W_])", r"(?![^\W_])") if quote.isascii() else ("", "")
    pattern = re.compile(f"{before}{_BETWEEN.join(words)}{after}")
    return lambda text: bool(words) and pattern.search(text.lower()) is not None


def _ranked(runs: set[int], have: Mapping[_Key, set[int]], holders: Mapping[int, int]) -> Iterator[Candidate[_Key]]:
    """The texts that have any of a quote's runs: first those with all of them, then those with the rarest."""
    hits = [(key, found) for key, some in have.items() if (found := runs & some)]
    hits.sort(key=lambda hit: (len(hit[1]) < len(runs), -sum(1 / holders[one] for one in sorted(hit[1]))))
    for key, found in hits:
        yield Candidate(key=key, share=len(found) / len(runs))


def _kept(runs: Sequence[int]) -> set[int]:
    """Of each two neighbouring runs the lesser; a single run."""
    return set(map(min, runs, islice(runs, 1, None))) or set(runs)


def _runs(words: Sequence[str]) -> list[int]:
    """Each run of words as a number of 32 bits; the same on every machine."""
    text = " ".join(words)
    sizes = map(len, words if text.isascii() else map(str.encode, words))
    data, ends = f"{text} ".encode(), list(accumulate(map((1).__add__, sizes), initial=0))
    return [crc32(data[start:end]) for start, end in zip(ends, ends[_RUN:], strict=False)]


def _packed(numbers: Iterable[int]) -> bytes:
    packed = array("I", sorted(numbers))
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _unpacked(data: bytes) -> "array[int]":
    numbers = array("I")
    numbers.frombytes(data)
    if byteorder == "big":
        numbers.byteswap()
    return numbers
