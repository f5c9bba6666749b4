"""[I/O] Indexes of texts beside the kept archive, as the last command left them in the cache.

    quotes   by which bare quotes are found (`quotes/index.py`)
    names    by which texts that name a file or a commit are found (`facts/texts.py`)

Each has items with the digests of their texts, which are kept with the archive, and the row of each text. The first
command that needs an index makes all rows, later ones those of new texts. Rows tell something of a text, so each build
removes those of texts that its archive does not have.
"""

import marshal
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from memosite.facts.texts import make_row
from memosite.facts.values import Value, field
from memosite.store.state import KEPT, TEXTS, State

Items = Sequence[tuple[str, Sequence[str], Any]]
"""The names of items in order, each with the digests of its texts, and what else the index keeps of it."""

ITEMS: Final = "items"


class RowKind(Value):
    """An index: its name, and what makes the row of a text; where that changes, so does the version of `TEXTS`."""

    name: str
    make_row: Callable[[str], bytes]


def _quote_row(text: str) -> bytes:
    from memosite.quotes.index import make_row as make_quote_row  # noqa: PLC0415 - most commands make no rows

    return make_quote_row(text)


QUOTES: Final = RowKind(name="quotes", make_row=_quote_row)
NAMES: Final = RowKind(name="names", make_row=make_row)


class TextRows(Value):
    """The rows of an index, as far as they are kept: items `is_current` tells to be those of the archive that is."""

    kind: RowKind
    state: State = field(default_factory=lambda: State(None))
    is_current: Callable[[], bool] = lambda: False

    def read(self, list_items: Callable[[], Items], text_of: Callable[[str], str]) -> tuple[Items, dict[str, bytes]]:
        """The items, and the row of each of their texts by its digest."""
        rows, place = self.state[TEXTS], (ITEMS, self.kind.name, "")
        with self.state.reading():
            written = self.state[KEPT].get(*place) if self.is_current() else None
            known = {str(digest): row for (_, digest), row in rows.items(self.kind.name)}
        if written is not None:
            return marshal.loads(written), known  # noqa: S302 - signed by this user
        items = list_items()
        digests = dict.fromkeys(digest for _, some, _ in items for digest in some)
        found = {digest: known.get(digest) or self.kind.make_row(text_of(digest)) for digest in digests}
        with self.state.writing():
            if self.is_current():
                listed = marshal.dumps([(name, list(some), more) for name, some, more in items], 2)
                self.state[KEPT].put([(place, listed)])
                rows.put(((self.kind.name, digest), row) for digest, row in found.items() if digest not in known)
        return items, found


def prune_rows(state: State, digests: Collection[str]) -> None:
    """Remove the rows of all texts but these, within `writing`."""
    known = state[TEXTS].keys()
    state[TEXTS].remove(key for key in known if key[1] not in digests)
