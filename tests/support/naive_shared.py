"""Second opinions on what texts share: two texts at a time, all of their words; and all texts of some rows at once."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from memosite.quotes.index import SHARED, Shared, common_pairs, common_runs, pair_passages
from memosite.quotes.source import bare_matches

Key = TypeVar("Key")

PLACES = 16  # of one run of words in a text that are tried


def sharing_pairs(rows: Mapping[Key, bytes]) -> list[tuple[Key, Key]]:
    """All pairs of texts that may share a passage of 20 words or more, by what is kept of each; in their order."""
    return list(common_pairs(common_runs(rows), rows))


def find_shared(rows: Mapping[Key, bytes], text_of: Callable[[Key], str]) -> list[tuple[Key, Key, Shared]]:
    """The passages of 20 words or more that texts share, as long as each can be, in the order of the rows."""
    found = pair_passages(common_pairs(common_runs(rows), rows), text_of)
    return [(*pair, passage) for pair, passages in found.items() for passage in passages]


def shared_passages(text: str, other: str, *, least: int = SHARED) -> tuple[Shared, ...]:
    """The passages of so many words or more that two texts share, in the order of the first; each word is in one.

    Words are compared without punctuation, case and marks. Of a passage that the other text has several times, the
    place is named at which most of it is.
    """
    ours, theirs = list(bare_matches(text)), list(bare_matches(other))
    words, others = [match[0].lower() for match in ours], [match[0].lower() for match in theirs]
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, run in enumerate(run_hashes(others, least)):
        if len(places[run]) < PLACES:
            places[run].append(place)
    found = []
    start = 0
    runs = run_hashes(words, least)
    while start < len(runs):
        tried = [(same_words(words, start, others, place), -place) for place in places.get(runs[start], ())]
        length, place = max(tried, default=(0, 0))
        if length < least:
            start += 1
            continue
        ends = ours[start], ours[start + length - 1], theirs[-place], theirs[length - place - 1]
        found.append(
            Shared(
                words=length,
                start=ends[0].start(),
                end=ends[1].end(),
                other_start=ends[2].start(),
                other_end=ends[3].end(),
            )
        )
        start += length
    return tuple(found)


def same_words(words: Sequence[str], start: int, others: Sequence[str], place: int) -> int:
    """How many words are the same from two places on."""
    most = min(len(words) - start, len(others) - place)
    return next((step for step in range(most) if words[start + step] != others[place + step]), most)


def run_hashes(words: Sequence[str], length: int) -> list[int]:
    """Each run of so many words as a number; equal runs have the same one in this process."""
    numbers = list(map(hash, words))
    return [hash(tuple(numbers[at : at + length])) for at in range(len(numbers) - length + 1)]
