"""Finds which of very many texts may hold a quote, and which share passages, without comparing each pair.

Of each text a row of numbers is kept, which stand for runs of its words; texts with equal numbers are looked at.

    text ─► words ─► runs of 3 words, as numbers ─► of neighbouring runs the lesser (winnowing) ─► a row, as bytes
    quote ─► the same numbers ─► rows that have them

Winnowing (Schleimer, Wilkerson, Aiken 2003) keeps a run of words wherever it is, so that of every 4 words of a quote
at least one run is kept, in the quote and in each text that holds it. What is found are candidates, for `judge`.
For few quotes most texts need no row: one that has the letters of no kept run, word after word, has none of the runs.

For passages that texts share there are rows of another kind: winnowing numbers all runs of words and keeps few of
them, but here only those at anchors are numbered, which takes a third of the time.

    text ─► words ─► anchors ─► the 8 words from each anchor on, as a number: what is kept of a text
    numbers that several texts have ─► pairs of texts ─► their words around these are compared

Anchors are words of 8 letters or more. Where 13 words in a row are none, those of 6 letters or more among them are
anchors, too; where 13 in a row are neither, all of these are. So whether a word is an anchor is settled within any 13
words around it that have no more eminent ones, and of 20 words that two texts share, at least one of the first 13 is
an anchor in both.
"""

import re
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations, islice, product
from sys import byteorder
from typing import Final, Generic, TypeVar
from zlib import crc32

from memosite.facts.values import Value
from memosite.quotes.source import bare_bytes, bare_matches, folded_words

LEAST: Final = 4
"""The least words of a quote that is found whatever else the texts hold."""


_RUN: Final = 3


_MOST_LETTERS: Final = 100  # kept runs that are looked for by their letters: for more, rows take less time


_BETWEEN: Final = r"[\W_]*"  # words; those of scripts without spaces follow each other at once


_Key = TypeVar("_Key", bound=Hashable)


def make_row(text: str) -> bytes:
    """What the index keeps of a text: about two bytes for each of its words."""
    return pack_runs(_kept(_run_numbers(folded_words(text))))


class Candidate(Value, Generic[_Key]):
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
        kept = [set(unpack_runs(make_row(quote))) for quote in quotes]
        wanted: set[int] = set().union(*kept)
        have = {key: some for key, row in self.rows.items() if (some := wanted.intersection(unpack_runs(row)))}
        holders = Counter(run for some in have.values() for run in some)
        return [tuple(islice(_ranked(runs, have, holders), limit)) for runs in kept]


def letters_of(quotes: Iterable[str]) -> Callable[[str], bool]:
    """Tells whether a text may have a kept run of any of these quotes: the letters of its words, one after the other.

    An index of the texts that may have one finds for these quotes what the index of all texts finds.
    """
    wanted: dict[str, tuple[str, re.Pattern[str]]] = {}
    for quote in quotes:
        words = folded_words(quote)
        runs = _run_numbers(words)
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
    hits.sort(key=lambda hit: (len(hit[1]) < len(runs), -sum(1 / holders[run] for run in sorted(hit[1]))))
    for key, found in hits:
        yield Candidate(key=key, share=len(found) / len(runs))


def _kept(runs: Sequence[int]) -> set[int]:
    """Of each two neighbouring runs the lesser; a single run."""
    return set(map(min, runs, islice(runs, 1, None))) or set(runs)


def _run_numbers(words: Sequence[str]) -> list[int]:
    """Each run of words as a number of 32 bits; the same on every machine."""
    text = " ".join(words)
    sizes = map(len, words if text.isascii() else map(str.encode, words))
    data, ends = f"{text} ".encode(), list(accumulate(map((1).__add__, sizes), initial=0))
    return [crc32(data[start:end]) for start, end in zip(ends, ends[_RUN:], strict=False)]


def pack_runs(numbers: Iterable[int]) -> bytes:
    """Runs of words as a row has them: their numbers in order, each in four bytes."""
    packed = array("I", sorted(numbers))
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_runs(data: bytes) -> "array[int]":
    """The numbers of the runs of words in a row."""
    numbers = array("I")
    numbers.frombytes(data)
    if byteorder == "big":
        numbers.byteswap()
    return numbers


# Finds which of very many texts share passages of 20 words or more, without comparing every pair (SPEC 7).


SHARED: Final = 20
"""The least words of a shared passage (SPEC 7, shared passages)."""


MOST_PAIRED: Final = 8
"""The most texts that share a run of words of which each is paired with each; of more, each with the first."""


MOST_HOLDERS: Final = 32
"""The most texts that share a run of words before it is boilerplate, and no sign of a passage that two share."""


_SHARED_RUN: Final = 8


_WINDOW: Final = SHARED - _SHARED_RUN + 1  # in so many neighbouring words an anchor is


_LETTERS: Final = (8, 6, 1)


_STEP: Final = 2**28  # so many numbers are looked through at once


_PLACES: Final = 16  # of one run of words in a text that are tried


def share_row(text: str) -> bytes:
    """What is kept of a text, to find what it shares with others: about one byte for each of its words."""
    words = bare_bytes(text)
    return pack_runs({run for _, run in _runs_at_anchors(words)}) if len(words) >= SHARED else b""


def _runs_at_anchors(words: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Where each anchor is, and its run of words as a number of 32 bits, the same on every machine."""
    sizes = list(map(len, words))
    begins = [0, *accumulate(map((1).__add__, sizes))]
    text = memoryview(b" ".join(words))
    last = len(words) - _SHARED_RUN + 1
    return ((at, crc32(text[begins[at] : begins[at + _SHARED_RUN] - 1])) for at in _anchors(sizes) if at < last)


def _anchors(sizes: Sequence[int]) -> Iterator[int]:
    """The places of the anchors, by the letters of each word."""
    eminent = [place for place, size in enumerate(sizes) if size >= _LETTERS[0]]
    return _with_gaps(sizes, eminent, 0, len(sizes), 1)


def _with_gaps(sizes: Sequence[int], places: Iterable[int], start: int, end: int, level: int) -> Iterator[int]:
    """Places from `start` to `end`, and where a window of words has none, those of the next level in the gap."""
    begin = start
    for place in (*places, end):
        if place - begin >= _WINDOW and level < len(_LETTERS):
            lesser = [at for at in range(begin, place) if sizes[at] >= _LETTERS[level]]
            yield from _with_gaps(sizes, lesser, begin, place, level + 1)
        if place < end:
            yield place
        begin = place + 1


def common_runs(rows: Mapping[_Key, bytes]) -> dict[int, list[_Key]]:
    """The runs of words that several texts have, boilerplate, too, each with its texts."""
    unpacked = list(map(unpack_runs, rows.values()))
    several: set[int] = set()
    for low in range(0, 2**32, _STEP):  # a set of all numbers of 10,000 texts takes 300 MB
        seen: set[int] = set()
        for runs in unpacked:
            part = runs[bisect_left(runs, low) : bisect_left(runs, low + _STEP)]
            several |= seen.intersection(part)
            seen.update(part)
    return _holders(rows, several)


def changed_runs(
    common: Mapping[int, list[_Key]], rows: Mapping[_Key, bytes], others: Iterable[bytes]
) -> dict[int, list[_Key]]:
    """What `common_runs` says of these rows, from what it said before the `others` came or went, which takes less time.

    The rows are those that are there now; a changed text counts as one that went and one that came.
    """
    touched = {run for row in others for run in unpack_runs(row)}
    return {run: keys for run, keys in common.items() if run not in touched} | _holders(rows, touched)


def _holders(rows: Mapping[_Key, bytes], runs: set[int]) -> dict[int, list[_Key]]:
    found: defaultdict[int, list[_Key]] = defaultdict(list)
    for key, row in rows.items():
        for run in runs.intersection(unpack_runs(row)):
            found[run].append(key)
    return {run: keys for run, keys in found.items() if len(keys) > 1}


def common_pairs(common: Mapping[int, Sequence[_Key]], order: Iterable[_Key]) -> dict[tuple[_Key, _Key], list[int]]:
    """The pairs of texts that have runs in common, boilerplate apart, with these runs; in this order of the texts.

    Of a run that more than a few have, each is paired with the first in this order alone.
    """
    places = {key: number for number, key in enumerate(order)}
    found: defaultdict[tuple[_Key, _Key], list[int]] = defaultdict(list)
    for run, keys in sorted(common.items()):
        first, *others = sorted(keys, key=places.__getitem__)
        if len(keys) > MOST_HOLDERS:
            continue
        some = combinations((first, *others), 2) if len(keys) <= MOST_PAIRED else product([first], others)
        for pair in some:
            found[pair].append(run)
    return {pair: found[pair] for pair in sorted(found, key=lambda pair: (places[pair[0]], places[pair[1]]))}


class Shared(Value):
    """A passage that two texts share: from which character to which in the one, and in the other."""

    words: int
    start: int
    end: int
    other_start: int
    other_end: int


_WIDTH: Final = 8


class _Worded:
    """The words of a text as numbers of 8 bytes, and where each of some runs begins; of many places the first."""

    def __init__(self, text: str, runs: set[int]) -> None:
        words = bare_bytes(text)
        self.count = len(words)
        self.data = array("q", map(hash, words)).tobytes()
        self.places: defaultdict[int, list[int]] = defaultdict(list)
        for place, run in _runs_at_anchors(words):
            if run in runs and len(self.places[run]) < _PLACES:
                self.places[run].append(place)

    def part(self, start: int, end: int) -> bytes:
        return self.data[start * _WIDTH : end * _WIDTH]


def pair_passages(
    pairs: Mapping[tuple[_Key, _Key], Sequence[int]],
    text_of: Callable[[_Key], str],
    *,
    apply: Callable[[Callable[[_Key], _Worded], Iterable[_Key]], Iterable[_Worded]] = map,
) -> dict[tuple[_Key, _Key], tuple[Shared, ...]]:
    """The passages of 20 words or more around the runs that each pair of texts has in common.

    Only the words around these are compared, so that texts which share little cost little. `apply` applies a pure
    function to each text, perhaps in other processes.
    """
    wanted: defaultdict[_Key, set[int]] = defaultdict(set)
    for pair, runs in pairs.items():
        for key in pair:
            wanted[key].update(runs)
    worded = dict(zip(wanted, apply(lambda key: _Worded(text_of(key), wanted[key]), wanted), strict=True))
    found = {pair: _extended(worded[pair[0]], worded[pair[1]], runs) for pair, runs in pairs.items()}
    sharing = dict.fromkeys(key for pair, some in found.items() if some for key in pair)
    spans = {key: [match.span() for match in bare_matches(text_of(key))] for key in sharing}
    return {
        (one, other): tuple(
            _shared(spans[one][place : place + length], spans[other][at : at + length])
            for (place, at), length in sorted(some.items())
        )
        for (one, other), some in found.items()
    }


def _extended(one: _Worded, other: _Worded, runs: Iterable[int]) -> dict[tuple[int, int], int]:
    """Where two texts have the same words around these runs, and how many: by the places where they begin."""
    found: dict[tuple[int, int], int] = {}
    ends: dict[int, int] = {}  # by how much later it is in the other text: where the last one that was compared ends
    for place, at in sorted(both for run in runs for both in product(one.places[run], other.places[run])):
        if place < ends.get(at - place, 0):
            continue
        before = _same(lambda size: one.part(place - size, place) == other.part(at - size, at), min(place, at))  # noqa: B023
        after = _same(
            lambda size: one.part(place, place + size) == other.part(at, at + size),  # noqa: B023
            min(one.count - place, other.count - at),
        )
        ends[at - place] = place + after
        if before + after >= SHARED:
            found[place - before, at - before] = before + after
    return found


def _same(are_equal: Callable[[int], bool], most: int) -> int:
    """The greatest number up to `most` for which parts of this size are equal, as all smaller ones then are."""
    high = 1
    while high <= most and are_equal(high):
        high *= 2
    low, high = high // 2, min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if are_equal(middle) else (low, middle)
    return low


def _shared(ours: Sequence[tuple[int, int]], theirs: Sequence[tuple[int, int]]) -> Shared:
    return Shared(words=len(ours), start=ours[0][0], end=ours[-1][1], other_start=theirs[0][0], other_end=theirs[-1][1])
