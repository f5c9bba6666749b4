"""[I/O] Indexes of texts beside the kept archive, as the last command left them in the cache.

    quotes.index   by which bare quotes are found (`quotes/index.py`)
    names.index    by which texts that name a file or a commit are found (`facts/texts.py`)

Each has items with the digests of their texts, for the kept archive of a token, and the row of each text; signed.
The first command that needs an index makes all rows, later ones those of new texts. Rows tell something of a text, so
each build removes those of texts that its archive does not have. Losing a file costs only time.
"""

import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memosite.facts.texts import make_row
from memosite.store.cache import read_signed, refuse_link, write_signed

Items = Sequence[tuple[str, Sequence[str], Any]]
"""The names of items in order, each with the digests of its texts, and what else the index keeps of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKind:
    """An index: its file, what makes the row of a text, and a version, which changes with what is kept."""

    file: str
    version: int
    make_row: Callable[[str], bytes]


def _quote_row(text: str) -> bytes:
    from memosite.quotes.index import make_row as make_quote_row  # noqa: PLC0415 - most commands make no rows

    return make_quote_row(text)


QUOTES: Final = RowKind(file="quotes.index", version=2, make_row=_quote_row)
NAMES: Final = RowKind(file="names.index", version=1, make_row=make_row)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRows:
    """The rows of an index in a part of the cache, for the kept archive of a token; of what is not kept, none are."""

    kind: RowKind
    part: Path | None = None
    token: str = ""
    is_current: Callable[[], bool] = lambda: False

    def read(self, list_items: Callable[[], Items], text_of: Callable[[str], str]) -> tuple[Items, dict[str, bytes]]:
        """The items, and the row of each of their texts by its digest."""
        token, items, known = _read(self.part, self.kind) if self.part else ("", (), {})
        if not self.token or token != self.token:
            items = list_items()
            digests = dict.fromkeys(digest for _, some, _ in items for digest in some)
            known = {digest: known.get(digest) or self.kind.make_row(text_of(digest)) for digest in digests}
            if self.part and self.is_current():
                _write(self.part, self.kind, self.token, items, known)
        return items, known


def prune_rows(part: Path, digests: Callable[[], Iterable[str]]) -> None:
    """Remove the rows of all texts but these, and the items: they may name what is not there any more."""
    for kind in (QUOTES, NAMES):
        if (part / kind.file).is_file():
            _, items, known = _read(part, kind)
            keys = set(digests())
            if items or not known.keys() <= keys:
                _write(part, kind, "", (), {digest: row for digest, row in known.items() if digest in keys})


def forget_rows(part: Path) -> None:
    """Remove all rows."""
    for kind in (QUOTES, NAMES):
        refuse_link(part / kind.file)
        (part / kind.file).unlink(missing_ok=True)


def _read(part: Path, kind: RowKind) -> tuple[str, Items, dict[str, bytes]]:
    with suppress(ValueError, EOFError, TypeError):
        version, token, items, known = marshal.loads(read_signed(part / kind.file) or b"")  # noqa: S302 - signed by this user
        if version == kind.version:
            return token, items, known
    return "", (), {}


def _write(part: Path, kind: RowKind, token: str, items: Items, known: Mapping[str, bytes]) -> None:
    refuse_link(part / kind.file)
    listed = [(name, list(some), more) for name, some, more in items]
    write_signed(part / kind.file, marshal.dumps((kind.version, token, listed, dict(known)), 2))
