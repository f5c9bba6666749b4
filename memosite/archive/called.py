"""Says what positions are called on pages, in feeds and in search (SPEC 3, positions)."""

from collections.abc import Iterable

from memosite.facts.bounds import LABEL_CHARS
from memosite.facts.parsed import Seat
from memosite.facts.texts import cut_line


def name_of(id_: str, names: Iterable[str], seats: Iterable[tuple[str, Seat]]) -> str:
    """The one name of a position for people: its id.

    Of one of several positions of that id, it is what memos call it alone, the first of `names`, else
    `ORGANIZATION/ID`.
    """
    if "~" not in id_:
        return id_
    qualified = (f"{organization}/{seat.id}" for organization, seat in seats)
    return cut_line(next((name for some in (names, qualified) for name in some), id_), LABEL_CHARS)


def other_name(name: str, id_: str) -> str:
    """What an orgdef calls a position, if that is more than its id in other letters ("Front desk"); else ""."""
    is_same = name.casefold().replace(" ", "-") == id_.rpartition("~")[2].casefold()
    return "" if is_same else name
