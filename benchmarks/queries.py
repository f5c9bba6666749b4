"""Cuts queries from the texts of an invented organization: words as common as they are there."""

import random
import re
from itertools import islice, pairwise

from benchmarks.organization import artifacts

EACH = 10
"""Queries of a kind: the median and the worst of them are printed."""


def make_queries(memos: int, *, seed: int) -> dict[str, list[str]]:
    """Queries of each kind, cut from texts all over the archive: words as common as they are there."""
    rng = random.Random(seed)
    texts = [one.text for one in islice(artifacts(memos, seed=seed), 0, memos, max(1, memos // (4 * EACH)))]
    # The first and the last word of a run may be parts of others.
    runs = [run.split()[1:-1] for run in re.findall(r"[a-z]+(?: [a-z]+){9,}", "\n".join(texts))]
    chosen = rng.sample([words for words in map(_long, runs) if words], EACH)
    return {
        "one word": [rng.choice(neighbours) for neighbours, _ in chosen],
        "two words": [" ".join(apart) for _, apart in chosen],
        "phrase": [f'"{" ".join(neighbours)}"' for neighbours, _ in chosen],
    }


def _long(words: list[str]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Two long words of a run that are neighbours, and the first and last long ones; None if there are none."""
    long = [word for word in words if len(word) > 3]
    neighbours = next((pair for pair in pairwise(words) if min(map(len, pair)) > 3), None)
    return (neighbours, (long[0], long[-1])) if neighbours else None
