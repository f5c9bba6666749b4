"""Aligns the turns of two recordings: which turn of the one is which of the other.

Turns with the same text belong together, then turns that begin alike, then those between them in their order. Only
texts that are unique decide in the middle (as in a patience diff), so the time is linear, whatever the texts repeat.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeAlias

from memosite.formats.turns import Turn

_Pair: TypeAlias = tuple[int, int]
_Gap: TypeAlias = tuple[int, int, int, int]
"""Two ranges without a pair, half-open: of the one from, to; of the other from, to."""

_LETTER = re.compile(r"[^\W_]")
_BEGINNING = 100


def align(old: Sequence[Turn], new: Sequence[Turn]) -> Iterator[tuple[Turn | None, Turn | None]]:
    """All turns of both, in their orders, those that belong together as a pair."""
    pairs: list[_Pair] = []
    for key in (_text, _beginning):
        keys, others = list(map(key, old)), list(map(key, new))
        for step in (_ends, _unique, _ends):
            gaps = _gaps(pairs, len(old), len(new))
            pairs = sorted([*pairs, *chain.from_iterable(step(keys, others, gap) for gap in gaps)])
    left = right = 0
    for one, other in pairs:
        yield from _in_order(old[left:one], new[right:other])
        yield old[one], new[other]
        left, right = one + 1, other + 1
    yield from _in_order(old[left:], new[right:])


def _text(turn: Turn) -> str:
    return turn.digest


def _beginning(turn: Turn) -> str:
    """The first letters and digits, which capture tools agree on however they mark up the text."""
    return "".join(match[0] for match in islice(_LETTER.finditer(turn.text[:2_000]), _BEGINNING)).casefold()


def _gaps(pairs: Iterable[_Pair], old: int, new: int) -> list[_Gap]:
    """The ranges between pairs where both have turns."""
    found = []
    left = right = 0
    for one, other in (*pairs, (old, new)):
        if left < one and right < other:
            found.append((left, one, right, other))
        left, right = one + 1, other + 1
    return found


def _ends(keys: Sequence[str], others: Sequence[str], gap: _Gap) -> Iterator[_Pair]:
    """What is equal at the beginning and at the end of a gap."""
    left, left_end, right, right_end = gap
    while left < left_end and right < right_end and keys[left] == others[right]:
        yield left, right
        left, right = left + 1, right + 1
    while left < left_end and right < right_end and keys[left_end - 1] == others[right_end - 1]:
        left_end, right_end = left_end - 1, right_end - 1
        yield left_end, right_end


def _unique(keys: Sequence[str], others: Sequence[str], gap: _Gap) -> list[_Pair]:
    """What is in each range of a gap once, as far as it is in the same order in both."""
    left, left_end, right, right_end = gap
    once = [key for key, number in Counter(keys[left:left_end]).items() if number == 1]
    counted = Counter(others[right:right_end])
    wanted = {key for key in once if counted[key] == 1}
    where = {others[place]: place for place in range(right, right_end)}
    return _increasing([(place, where[keys[place]]) for place in range(left, left_end) if keys[place] in wanted])


def _increasing(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The longest series of these pairs that is in order on both sides (patience sorting)."""
    tops: list[int] = []
    last: list[int] = []  # for each length, the number of the pair that the series ends with
    before: list[int | None] = []
    for number, (_, other) in enumerate(pairs):
        length = bisect_left(tops, other)
        before.append(last[length - 1] if length else None)
        tops[length : length + 1] = [other]
        last[length : length + 1] = [number]
    found: list[_Pair] = []
    at = last[-1] if last else None
    while at is not None:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _in_order(old: Sequence[Turn], new: Sequence[Turn]) -> Iterator[tuple[Turn | None, Turn | None]]:
    """Turns that nothing joins: in their order, a person's with a person's; what is left over stands alone."""
    left = right = 0
    while left < len(old) or right < len(new):
        rest, other_rest = len(old) - left, len(new) - right
        if rest and other_rest and old[left].is_person == new[right].is_person:
            yield old[left], new[right]
            left, right = left + 1, right + 1
        elif rest > other_rest:
            yield old[left], None
            left += 1
        else:
            yield None, new[right]
            right += 1
