"""Finds the passage of a text that is most like a quote that is not in it, and what differs, word by word.

    pairs of neighbouring words of the quote ─► where the text has them ─► the densest stretch ─► word diff

Linear: nothing is compared with everything. The diff keeps to common words that are unique on both sides, and
compares what is between these only if that is short.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from heapq import nlargest
from itertools import groupby, islice, pairwise
from operator import itemgetter
from typing import Final, TypeAlias

from memosite.quotes.editorial import Edited
from memosite.quotes.layers import Reading, edited
from memosite.quotes.source import Source
from memosite.quotes.typography import plain_signs
from memosite.quotes.verdict import Change, Span, Tier, Verdict
from memosite.quotes.words import bare_matches, bare_words

_ENOUGH: Final = 0.6  # of a quote's words in the same order: less is another text, not a changed one
_MOST_WORDS: Final = 2_000  # of a quote and of a passage that are compared
_SHORT: Final = 40_000  # the most pairs of words that are compared one by one

_STRETCHES: Final = 4  # of a text that are compared with a quote
_TRIED: Final = 16  # that are looked at for each of these: most overlap
_LONGEST: Final = 40  # characters around a word that are shown with it
_BEFORE = re.compile(r"\S*\Z")
_AFTER = re.compile(r"\S*")

_Pairs: TypeAlias = list[tuple[int, int]]


def find_nearest(quote: Source, source: Source, editing: Edited | None, passages: Sequence[Span] = ()) -> Verdict:
    """*Changed*, with the nearest words, or *not found*.

    They reach no further than the passages that they begin and end in.
    """
    said = " ".join(one.ways[0] for one in editing.fragments) if editing else quote.at("marks").reading.text
    asked = bare_words(said)
    words = bare_words(source.text)
    kept, window = max(
        ((align(asked[:_MOST_WORDS], words[slice(*one)]), one) for one in _densest(asked, words)),
        key=lambda pair: len(pair[0]),
        default=([], (0, 0)),
    )
    if len(kept) < max(2, _ENOUGH * min(len(asked), _MOST_WORDS)):
        return Verdict(tier=Tier.NOT_FOUND)
    near = list(islice(bare_matches(source.text), *window))
    first, last = _fitting(kept, len(asked), len(near))
    span = _within(
        _whole_words(source.text, near[first].start(), near[last - 1].end()),
        (near[kept[0][1]].start(), near[kept[-1][1]].end()),
        passages,
    )
    found, others = Source(source.text[slice(*span)]).at("marks").reading.text.split(), said.split()
    found = _without_marks_around(found, others)
    changes = tuple(word_diff(found[:_MOST_WORDS], others[:_MOST_WORDS]))
    return Verdict(tier=Tier.CHANGED, spans=(span,), changes=changes, is_cut=max(len(found), len(others)) > _MOST_WORDS)


def _within(span: Span, known: Span, passages: Sequence[Span]) -> Span:
    """A span without what is beyond the passages that its first and its last known word are in."""
    starts = (max(span[0], start) for start, end in passages if start <= known[0] < end)
    ends = (min(span[1], end) for start, end in passages if start < known[1] <= end)
    return next(starts, span[0]), next(ends, span[1])


def _without_marks_around(found: Sequence[str], quote: Sequence[str]) -> list[str]:
    """The words of a source without the marks before the first and after the last, if the quote has left them out."""
    bare = [*found]
    if bare[0].endswith(quote[0]) and not bare_words(bare[0].removesuffix(quote[0])):
        bare[0] = quote[0]
    if bare[-1].startswith(quote[-1]) and not bare_words(bare[-1].removeprefix(quote[-1])):
        bare[-1] = quote[-1]
    return bare


def word_diff(source: Sequence[str], quote: Sequence[str]) -> Iterator[Change]:
    """Which words both have, and which only one; runs of words as one."""
    rows: list[Change] = []
    done = (0, 0)
    pairs = align(list(map(_plain, source)), list(map(_plain, quote)))
    for pair in (*pairs, (len(source), len(quote))):
        rows += (("source", word) for word in source[done[0] : pair[0]])
        rows += (("quote", word) for word in quote[done[1] : pair[1]])
        if pair[0] < len(source):
            rows.append(("same", source[pair[0]]))
        done = pair[0] + 1, pair[1] + 1
    for kind, run in groupby(rows, key=lambda row: row[0]):
        yield kind, " ".join(words for _, words in run)


def _plain(word: str) -> str:
    """A word as it is compared: with typographic signs as plain ones."""
    return word if word.isalnum() else edited(Reading(word), plain_signs(word)).text


def _whole_words(text: str, start: int, end: int) -> Span:
    """A span that reaches to the white space around it, as far as a word is long."""
    before, after = _BEFORE.search(text, max(start - _LONGEST, 0), start), _AFTER.match(text, end, end + _LONGEST)
    return before.start() if before else start, after.end() if after else end


def align(one: Sequence[Hashable], other: Sequence[Hashable]) -> _Pairs:
    """Pairs of places with equal words, in order on both sides."""
    pairs: _Pairs = []
    todo = [((0, len(one)), (0, len(other)))]
    while todo:
        (start, end), (start2, end2) = todo.pop()
        while start < end and start2 < end2 and one[start] == other[start2]:
            pairs.append((start, start2))
            start, start2 = start + 1, start2 + 1
        while start < end and start2 < end2 and one[end - 1] == other[end2 - 1]:
            end, end2 = end - 1, end2 - 1
            pairs.append((end, end2))
        anchors = _anchors(one[start:end], other[start2:end2])
        if not anchors:
            pairs += ((start + i, start2 + j) for i, j in _compare(one[start:end], other[start2:end2]))
            continue
        done = (start, start2)
        for i, j in anchors:
            pairs.append((start + i, start2 + j))
            todo.append(((done[0], start + i), (done[1], start2 + j)))
            done = start + i + 1, start2 + j + 1
        todo.append(((done[0], end), (done[1], end2)))
    return sorted(pairs)


def _anchors(one: Sequence[Hashable], other: Sequence[Hashable]) -> _Pairs:
    """Words that each side has once, the longest run of them that is in order on both (patience)."""
    counts, counts2 = Counter(one), Counter(other)
    places = {word: place for place, word in enumerate(other)}
    found = [(place, places[word]) for place, word in enumerate(one) if counts[word] == 1 and counts2.get(word) == 1]
    ends: list[int] = []
    lasts: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(found):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        lasts[length : length + 1] = [number]
        before.append(lasts[length - 1] if length else -1)
    chain: _Pairs = []
    number = lasts[-1] if lasts else -1
    while number >= 0:
        chain.append(found[number])
        number = before[number]
    return chain[::-1]


def _compare(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """The longest common subsequence of two short runs; of long ones without a common unique word, nothing."""
    if not one or not other or len(one) * len(other) > _SHORT:
        return
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            best[i][j] = best[i + 1][j + 1] + 1 if one[i] == other[j] else max(best[i + 1][j], best[i][j + 1])
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1


def _densest(asked: Sequence[str], words: Sequence[str]) -> Iterator[Span]:
    """The few stretches of a text that have most of a quote's pairs of words, with some words around them."""
    wanted = set(pairwise(asked))
    hits = [(place, pair) for place, pair in enumerate(pairwise(words)) if pair in wanted]
    width = min(len(asked), _MOST_WORDS) * 5 // 4 + 2
    chosen: list[Span] = []
    for _, start, end in nlargest(_TRIED * _STRETCHES, _stretches(hits, width), key=itemgetter(0)):
        if len(chosen) < _STRETCHES and all(end <= other[0] or start >= other[1] for other in chosen):
            chosen.append((start, end))
    for start, end in chosen:
        margin = max(4, width - (end - start))
        yield max(start - margin, 0), min(end + margin, len(words))


def _stretches(hits: Sequence[tuple[int, tuple[str, str]]], width: int) -> Iterator[tuple[int, int, int]]:
    """For each pair of words how many different ones are in the stretch that ends with it, and the stretch."""
    inside: Counter[tuple[str, str]] = Counter()
    first = 0
    for place, pair in hits:
        inside[pair] += 1
        while hits[first][0] < place - width:
            gone = hits[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        yield len(inside), hits[first][0], place + 2


def _fitting(kept: _Pairs, asked: int, near: int) -> Span:
    """The part of a window that stands for the quote: from its first word to its last, as far as they are known."""
    (first_asked, first), (last_asked, last) = kept[0], kept[-1]
    return max(first - first_asked, 0), min(last + asked - last_asked, near)
