"""The bounds of one file: how many of its records, positions and turns are shown one by one (SPEC 9).

A file publishes at most 20 times its bytes and 3 MB. Each bound follows from this and from how much one of them takes
on pages, in feeds and in the search: of many that say next to nothing fewer are shown.
"""

from collections.abc import Iterable
from itertools import accumulate
from urllib.parse import quote

RECORDS = 100
"""How many records of a file get pages; others only if they had one before."""

POSITIONS = 500
TURNS = 20_000


NAMED = 50
"""How many positions that no orgdef lists a memo, note or transcript adds; others only if they had a page before."""

LABEL_CHARS = 120
"""The longest name of a position that a page shows; the twins have it whole."""


def most_positions(chars: int, names: Iterable[tuple[str, str]]) -> int:
    """How many positions of an orgdef of this length get pages, given the id and the name of each.

    A position takes some 9 kB, and its id, which is in each of its addresses, is repeated 60 times.
    """
    sizes = (9_400 + 65 * len(quote(id_[:200])) + 8 * len(quote(name[:120])) for id_, name in names)
    left = 2_700_000 + 15 * chars
    return min(POSITIONS, sum(size <= left for size in accumulate(sizes)))


def most_turns(chars: int) -> int:
    """How many turns of a transcript of this length are read as such; each takes some 720 bytes."""
    return min(TURNS, 3_300 + chars // 65)


def most_citations(chars: int, turns: int, size: int) -> int:
    """How many turns of a transcript offer citations of their own, if one takes as many bytes."""
    return max(100, (2_400_000 + 10 * chars - 720 * turns) // size)


def most_turns_found(chars: int, size: int) -> int:
    """How many turns of a transcript a search finds one by one, if a result takes as many bytes."""
    return (300_000 + 4 * chars) // size
