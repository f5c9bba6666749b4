"""[I/O] The index by which bare quotes are found (`quotes/index.py`), as the last command left it in the cache.

    quotes.index   which texts each item has, for the kept archive of a token; the rows of texts by digest; signed

The first command that looks for a quote makes all rows, later ones those of new texts. Rows tell something of a text,
so each build removes those of texts that its archive does not have. Losing the file costs only time.
"""

import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from memosite.quotes.index import VERSION, make_row
from memosite.store.cache import refuse_link
from memosite.store.keys import read_signed, write_signed

FILE: Final = "quotes.index"

TextsOf = Sequence[tuple[str, Sequence[str]]]
"""The names of items in order, each with the digests of its texts."""


class QuoteRows:
    """The rows of an archive that is kept in this part of the cache: `is_current` tells whether it still is."""

    def __init__(self, part: Path, token: str, is_current: Callable[[], bool]) -> None:
        """Nothing is read yet; `token` tells the archive from others."""
        self._part = part
        self._token = token
        self._is_current = is_current

    def rows(self, list_texts: Callable[[], TextsOf], text_of: Callable[[str], str]) -> dict[tuple[str, int], bytes]:
        """The row of each text, by the name of its item and its number among that item's texts."""
        token, texts, known = _read(self._part)
        if token != self._token:
            texts = list_texts()
            digests = dict.fromkeys(digest for _, some in texts for digest in some)
            known = {digest: known.get(digest) or make_row(text_of(digest)) for digest in digests}
            if self._is_current():
                _write(self._part, self._token, texts, known)
        return {(name, number): known[digest] for name, some in texts for number, digest in enumerate(some)}


def prune_rows(part: Path, digests: Callable[[], Iterable[str]]) -> None:
    """Remove the rows of all texts but these."""
    if (part / FILE).is_file():
        _, _, known = _read(part)
        keys = set(digests())
        if not known.keys() <= keys:
            _write(part, "", (), {digest: row for digest, row in known.items() if digest in keys})


def forget_rows(part: Path) -> None:
    """Remove all rows."""
    refuse_link(part / FILE)
    (part / FILE).unlink(missing_ok=True)


def _read(part: Path) -> tuple[str, TextsOf, dict[str, bytes]]:
    with suppress(ValueError, EOFError, TypeError):
        version, token, texts, known = marshal.loads(read_signed(part / FILE) or b"")  # noqa: S302 - signed by this user
        if version == VERSION:
            return token, texts, known
    return "", (), {}


def _write(part: Path, token: str, texts: TextsOf, known: Mapping[str, bytes]) -> None:
    refuse_link(part / FILE)
    listed = [(name, list(some)) for name, some in texts]
    write_signed(part / FILE, marshal.dumps((VERSION, token, listed, dict(known)), 2))
