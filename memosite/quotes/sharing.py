"""Finds which of very many texts share passages of 20 words or more, without comparing every pair (SPEC 7).

    text ─► words ─► anchors ─► the 8 words from each anchor on, as a number: what is kept of a text
    numbers that several texts have ─► pairs of texts ─► `shared_passages` compares their words

Anchors are words of 8 letters or more. Where 13 words in a row are none, those of 6 letters or more among them are
anchors, too; where 13 in a row are neither, all of these are. So whether a word is an anchor is settled within any 13
words around it that have no more eminent ones, and of 20 words that two texts share, at least one of the first 13 is
an anchor in both. Unlike winnowing, which numbers all runs of words and keeps few of them, only those at anchors are
numbered: this takes a third of the time.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from sys import byteorder
from typing import Final, TypeVar
from zlib import crc32

from memosite.quotes.words import bare_bytes, bare_matches

SHARED: Final = 20
"""The least words of a shared passage (SPEC 7, shared passages)."""

MOST_HOLDERS: Final = 32
"""The most texts that share a run of words before it is boilerplate, and no sign of a passage that two share."""

VERSION: Final = 1
"""Changes with what is kept of a text."""

_RUN: Final = 8
_WINDOW: Final = SHARED - _RUN + 1  # in so many neighbouring words an anchor is
_LETTERS: Final = (8, 6, 1)
_PLACES: Final = 16  # of one run of words in a text that are tried
_Key = TypeVar("_Key", bound=Hashable)


def share_row(text: str) -> bytes:
    """What is kept of a text, to find what it shares with others: about one byte for each of its words."""
    words = bare_bytes(text)
    numbers = array("I", sorted({run for _, run in _runs_at_anchors(words)}))
    if byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes() if len(words) >= SHARED else b""


def _runs_at_anchors(words: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Where each anchor is, and its run of words as a number of 32 bits, the same on every machine."""
    join = b" ".join
    last = len(words) - _RUN + 1
    return ((at, crc32(join(words[at : at + _RUN]))) for at in _anchors(words) if at < last)


def _anchors(words: Sequence[bytes]) -> list[int]:
    """The places of the anchors."""
    sizes = list(map(len, words))
    eminent = [place for place, size in enumerate(sizes) if size >= _LETTERS[0]]
    return _with_gaps(sizes, eminent, 0, len(sizes), 1)


def _with_gaps(sizes: Sequence[int], places: Iterable[int], start: int, end: int, level: int) -> list[int]:
    """Places from `start` to `end`, and where a window of words has none, those of the next level in the gap."""
    found: list[int] = []
    begin = start
    for place in (*places, end):
        if place - begin >= _WINDOW and level < len(_LETTERS):
            lesser = [at for at in range(begin, place) if sizes[at] >= _LETTERS[level]]
            found += _with_gaps(sizes, lesser, begin, place, level + 1)
        if place < end:
            found.append(place)
        begin = place + 1
    return found


def sharing_pairs(rows: Mapping[_Key, bytes]) -> list[tuple[_Key, _Key]]:
    """All pairs of texts that may share a passage of 20 words or more, by what is kept of each; in their order."""
    order = {key: number for number, key in enumerate(rows)}
    found = {pair for keys in _holders(rows).values() for pair in combinations(keys, 2)}
    return sorted(found, key=lambda pair: (order[pair[0]], order[pair[1]]))


def _holders(rows: Mapping[_Key, bytes]) -> dict[int, list[_Key]]:
    """The runs of words that several texts have, boilerplate apart, each with its texts in their order."""
    seen: set[int] = set()
    several: set[int] = set()
    for row in rows.values():
        runs = _unpacked(row)
        several |= seen.intersection(runs)
        seen.update(runs)
    found: defaultdict[int, list[_Key]] = defaultdict(list)
    for key, row in rows.items():
        for one in several.intersection(_unpacked(row)):
            found[one].append(key)
    return {one: keys for one, keys in sorted(found.items()) if len(keys) <= MOST_HOLDERS}


def find_shared(rows: Mapping[_Key, bytes], text_of: Callable[[_Key], str]) -> "list[tuple[_Key, _Key, Shared]]":
    """The passages of 20 words or more that texts share, as long as each can be, in the order of the rows.

    Only the words around runs that both have are compared, so that texts which share little cost little.
    """
    holders = _holders(rows)
    wanted: defaultdict[_Key, set[int]] = defaultdict(set)
    for run, keys in holders.items():
        for key in keys:
            wanted[key].add(run)
    worded = {key: _Worded(text_of(key), runs) for key, runs in wanted.items()}
    found: defaultdict[tuple[_Key, _Key], dict[tuple[int, int], int]] = defaultdict(dict)
    for run, keys in holders.items():
        for key, other in combinations(keys, 2):
            _extend(worded[key], worded[other], run, found[key, other])
    order = {key: number for number, key in enumerate(rows)}
    sharing = dict.fromkeys(key for pair, some in found.items() if some for key in pair)
    spans = {key: list(bare_matches(text_of(key))) for key in sharing}
    return [
        (*pair, _shared(spans[pair[0]][place : place + length], spans[pair[1]][at : at + length]))
        for pair in sorted(found, key=lambda pair: (order[pair[0]], order[pair[1]]))
        for (place, at), length in sorted(found[pair].items())
    ]


class _Worded:
    """The words of a text as numbers, and where each of some runs begins; of many places the first."""

    def __init__(self, text: str, runs: set[int]) -> None:
        words = bare_bytes(text)
        self.words = array("q", map(hash, words))
        self.places: defaultdict[int, list[int]] = defaultdict(list)
        for place, run in _runs_at_anchors(words):
            if run in runs and len(self.places[run]) < _PLACES:
                self.places[run].append(place)


def _extend(one: _Worded, other: _Worded, run: int, found: dict[tuple[int, int], int]) -> None:
    """Note where two texts have the same words around a run, and how many: by the places where they begin."""
    for place, at in product(one.places[run], other.places[run]):
        if any(0 <= place - begin == at - begin2 < size for (begin, begin2), size in found.items()):
            continue  # within one that is known
        before = after = 0
        words, others = one.words, other.words
        while before < min(place, at) and words[place - before - 1] == others[at - before - 1]:
            before += 1
        most = min(len(words) - place, len(others) - at)
        while after < most and words[place + after] == others[at + after]:
            after += 1
        if before + after >= SHARED:
            found[place - before, at - before] = before + after


def _unpacked(data: bytes) -> "array[int]":
    numbers = array("I")
    numbers.frombytes(data)
    if byteorder == "big":
        numbers.byteswap()
    return numbers


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
    for place, run in enumerate(_runs(others, least)):
        if len(places[run]) < _PLACES:
            places[run].append(place)
    found = []
    start = 0
    runs = _runs(words, least)
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


def _runs(words: Sequence[str], length: int) -> list[int]:
    """Each run of so many words as a number; equal runs have the same one in this process."""
    numbers = list(map(hash, words))
    return [hash(tuple(numbers[at : at + length])) for at in range(len(numbers) - length + 1)]
