"""[I/O] What was found of shared passages last, in a part of the cache: `shared.cache`, signed.

It has the rows of all texts of the archive, and how passages begin. Each build writes it anew as soon as it has read
the archive, without what is not in that any more. Losing it costs only time.
"""

import marshal
from contextlib import suppress
from pathlib import Path
from typing import Final

from memosite.plan.shared_passages import Common, End, KnownPassages
from memosite.quotes.index import VERSION
from memosite.store.cache import program_digest, read_signed, write_signed

FILE: Final = "shared.cache"


def read_known(part: Path) -> KnownPassages:
    """What is in a part of the cache; nothing if another version of the program wrote it."""
    with suppress(ValueError, EOFError, TypeError):
        version, rows, common, pairs = marshal.loads(read_signed(part / FILE) or b"")  # noqa: S302 - signed by this user
        if version == _version():
            found = {
                pair: (state, tuple(Common(words, End(*one), End(*other)) for words, one, other in some))
                for pair, (state, some) in pairs.items()
            }
            return KnownPassages(rows=rows, common=common, pairs=found)
    return KnownPassages()


def write_known(part: Path, known: KnownPassages) -> None:
    """Write what is known, if it is new."""
    if not known.is_new:
        return
    pairs = {
        pair: (state, [(one.words, tuple(one.one), tuple(one.other)) for one in some])
        for pair, (state, some) in known.pairs.items()
    }
    write_signed(part / FILE, marshal.dumps((_version(), known.rows, known.common, pairs), 2))
    known.is_new = False


def _version() -> str:
    return f"{VERSION} {program_digest()}"
