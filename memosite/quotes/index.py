"""Finds which of very many texts may hold a quote, and which texts share passages, without comparing every pair.

    text ─► words ─► runs of 3 and of 8 words, as numbers ─► of neighbouring runs the least number (winnowing)
         ─► two sorted arrays, as bytes: a row of a store          quote ─► the same numbers ─► rows that have them

Winnowing (Schleimer, Wilkerson, Aiken 2003) keeps a run of words wherever it is, so that two texts with the same
passage keep the same runs of it: of every 4 words of a quote at least one, of every 20 words of a shared passage at
least one. Rows depend on their text alone: a store keeps them per artifact, and makes only those of new texts.
What is found are candidates, for `judge` and `shared_passages`, which compare the words.
"""

import re
import struct
from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, islice
from sys import byteorder
from typing import Final, Generic, TypeVar
from zlib import crc32

from memosite.quotes.words import bare_matches, folded_words

SHARED: Final = 20
"""The least words of a shared passage (SPEC 7, shared passages)."""

LEAST: Final = 4
"""The least words of a quote that is found whatever else the texts hold."""

MOST_HOLDERS: Final = 32
"""The most texts that share a run of words before it is boilerplate, and no sign of a passage that two share."""

VERSION: Final = 1
"""Changes with what a row holds."""

_SHORT, _LONG = 3, 8
_HEAD = struct.Struct("<I")
_PLACES = 16  # of one run of words in a text that are tried
_Key = TypeVar("_Key", bound=Hashable)


def make_row(text: str) -> bytes:
    """What the index keeps of a text: about three bytes for each of its words."""
    data, ends = _bytes_of(folded_words(text))
    short = _runs(data, ends, _SHORT)
    pairs = _lesser(short, 1)
    least = _packed(set(pairs or short))
    return _HEAD.pack(len(least)) + least + _packed(_long_runs(data, ends, short, pairs))


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
        kept = [set(_short(make_row(quote))) for quote in quotes]
        wanted: set[int] = set().union(*kept)
        have = {key: some for key, row in self.rows.items() if (some := wanted.intersection(_short(row)))}
        holders = Counter(one for some in have.values() for one in some)
        return [tuple(islice(_ranked(runs, have, holders), limit)) for runs in kept]

    def sharing(self, row: bytes) -> tuple[_Key, ...]:
        """The texts that may share a passage of 20 words or more with the text of a row, the row's own included."""
        wanted = set(_long(row))
        hits = {key: wanted.intersection(_long(other)) for key, other in self.rows.items()}
        holders = Counter(one for some in hits.values() for one in some)
        common = {one for one, count in holders.items() if count > MOST_HOLDERS}
        return tuple(key for key, some in hits.items() if some - common)

    def pairs(self) -> list[tuple[_Key, _Key]]:
        """All pairs of texts that may share a passage of 20 words or more, in the order of the rows."""
        seen: set[int] = set()
        twice: set[int] = set()
        for row in self.rows.values():
            runs = set(_long(row))
            twice |= runs & seen
            seen |= runs
        holders: defaultdict[int, list[_Key]] = defaultdict(list)
        for key, row in self.rows.items():
            for one in twice.intersection(_long(row)):
                holders[one].append(key)
        found: dict[tuple[_Key, _Key], None] = {}
        for one in sorted(holders):
            if len(holders[one]) <= MOST_HOLDERS:
                found |= dict.fromkeys(combinations(holders[one], 2))
        order = {key: number for number, key in enumerate(self.rows)}
        return sorted(found, key=lambda pair: (order[pair[0]], order[pair[1]]))


def _ranked(runs: set[int], have: Mapping[_Key, set[int]], holders: Mapping[int, int]) -> Iterator[Candidate[_Key]]:
    """The texts that have any of a quote's runs: first those with all of them, then those with the rarest."""
    hits = [(key, found) for key, some in have.items() if (found := runs & some)]
    hits.sort(key=lambda hit: (len(hit[1]) < len(runs), -sum(1 / holders[one] for one in sorted(hit[1]))))
    for key, found in hits:
        yield Candidate(key=key, share=len(found) / len(runs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A passage that two texts share: from which character to which in the one, and in the other."""

    words: int
    start: int
    end: int
    other_start: int
    other_end: int


def shared_passages(text: str, other: str, *, least: int = SHARED) -> tuple[Shared, ...]:
    """The passages of so many words or more that two texts share, in the order of the first; each word is in one.

    Words are compared without punctuation, case and marks. Of a passage that the other text has several times, the
    place is named at which most of it is.
    """
    ours, theirs = list(bare_matches(text)), list(bare_matches(other))
    words, others = [match[0].lower() for match in ours], [match[0].lower() for match in theirs]
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, run in enumerate(_runs(*_bytes_of(others), least)):
        if len(places[run]) < _PLACES:
            places[run].append(place)
    found = []
    start = 0
    runs = _runs(*_bytes_of(words), least)
    while start < len(runs):
        tried = [(_common(words, start, others, place), -place) for place in places.get(runs[start], ())]
        length, place = max(tried, default=(0, 0))
        if length < least:
            start += 1
            continue
        found.append(_shared(ours[start : start + length], theirs[-place : length - place]))
        start += length
    return tuple(found)


def _shared(ours: Sequence[re.Match[str]], theirs: Sequence[re.Match[str]]) -> Shared:
    return Shared(
        words=len(ours),
        start=ours[0].start(),
        end=ours[-1].end(),
        other_start=theirs[0].start(),
        other_end=theirs[-1].end(),
    )


def _common(words: Sequence[str], start: int, others: Sequence[str], place: int) -> int:
    """How many words are the same from two places on."""
    pairs = (
        (words[start + step], others[place + step]) for step in range(min(len(words) - start, len(others) - place))
    )
    most = min(len(words) - start, len(others) - place)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), most)


def _bytes_of(words: Sequence[str]) -> tuple[bytes, list[int]]:
    """Words as bytes, each followed by a space, and where each begins and the last one ends."""
    text = " ".join(words)
    sizes = map(len, words if text.isascii() else map(str.encode, words))
    return f"{text} ".encode(), list(accumulate(map((1).__add__, sizes), initial=0))


def _runs(data: bytes, ends: Sequence[int], length: int) -> list[int]:
    """Each run of so many words as a number of 32 bits; the same on every machine."""
    return [crc32(data[start:end]) for start, end in zip(ends, ends[length:], strict=False)]


def _lesser(runs: list[int], step: int) -> list[int]:
    """The lesser of each two runs that are so far apart."""
    return list(map(min, runs, islice(runs, step, None)))


def _long_runs(data: bytes, ends: Sequence[int], short: list[int], pairs: list[int]) -> set[int]:
    """Runs of 8 words, each where the least of 13 neighbouring short runs begins: one in each run of 20 words."""
    windows = pairs
    for step in (2, 4, 5):  # least of 4, of 8, of 13
        windows = _lesser(windows, step)
    anchors = set(windows)
    starts = [place for place, run in enumerate(short[: len(ends) - _LONG]) if run in anchors]
    return {crc32(data[ends[place] : ends[place + _LONG]]) for place in starts}


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


def _short(row: bytes) -> "array[int]":
    (size,) = _HEAD.unpack_from(row)
    return _unpacked(row[_HEAD.size : _HEAD.size + size])


def _long(row: bytes) -> "array[int]":
    (size,) = _HEAD.unpack_from(row)
    return _unpacked(row[_HEAD.size + size :])
