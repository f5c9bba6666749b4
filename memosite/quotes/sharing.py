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
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
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
    last = len(words) - _RUN + 1
    join = b" ".join
    numbers = array("I", sorted({crc32(join(words[at : at + _RUN])) for at in _anchors(words) if at < last}))
    if byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes() if len(words) >= SHARED else b""


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
    seen: set[int] = set()
    several: set[int] = set()
    for row in rows.values():
        runs = _unpacked(row)
        several |= seen.intersection(runs)
        seen.update(runs)
    holders: defaultdict[int, list[_Key]] = defaultdict(list)
    for key, row in rows.items():
        for one in several.intersection(_unpacked(row)):
            holders[one].append(key)
    found: set[tuple[_Key, _Key]] = set()
    for keys in holders.values():
        if len(keys) <= MOST_HOLDERS:
            found.update(combinations(keys, 2))
    order = {key: number for number, key in enumerate(rows)}
    return sorted(found, key=lambda pair: (order[pair[0]], order[pair[1]]))


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
