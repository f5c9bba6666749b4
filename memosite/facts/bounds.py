"""The bounds of one file: how many of its records, positions and turns are shown one by one (SPEC 9).

A file publishes at most 20 times its bytes and 3 MB. Each bound follows from this and from how much one of them takes
on pages, in feeds and in the search: of many that say next to nothing fewer are shown.
"""

RECORDS = 100
"""How many records of a file get pages; others only if they had one before."""

POSITIONS = 500
TURNS = 20_000


def most_positions(chars: int) -> int:
    """How many positions of an orgdef of this length get pages; others only if they had one before."""
    return min(POSITIONS, 200 + chars // 500)


def most_turns(chars: int) -> int:
    """How many turns of a transcript of this length are read as such."""
    return min(TURNS, 1_500 + chars // 40)


def most_citations(chars: int) -> int:
    """How many turns of a transcript of this length offer citations of their own."""
    return 1_000 + chars // 400
