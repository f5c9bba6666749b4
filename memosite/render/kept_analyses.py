"""[I/O] Keeps in the cache what was analyzed of the last search blocks, rendered again with each new artifact.

    analyses/<block>.cache   for each artifact of the block, by the digest of its card, its documents as `BlockHit`s

It holds words of texts. So a build removes the file of any other block, and what is not in the block any more is in no
file that is written. The file is signed (`keys`), and counts for one program. Losing it costs only time.
"""

import marshal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from memosite.search.blocks import Analyses, BlockHit, SearchBlock
from memosite.search.documents import Stretch
from memosite.store.cache import program_digest, read_signed, write_signed
from memosite.store.values import MODELS, digest_of

FOLDER = "analyses"


class KeptAnalyses:
    """The analyses of some blocks, in a part of the cache; without a part, none."""

    def __init__(self, part: Path | None) -> None:
        """Keep those of no block, until `begin`."""
        self._folder = part / FOLDER if part else None
        self._names: frozenset[str] = frozenset()

    def begin(self, names: Iterable[str]) -> None:
        """Keep those of these blocks from now on, and remove all others."""
        self._names = frozenset(names)
        if self._folder is None:
            return
        with suppress(OSError):
            for file in self._folder.iterdir():
                if file.stem not in self._names:
                    file.unlink()

    def load(self, block: SearchBlock, analyses: Analyses) -> None:
        """Add what the last build found in the block, if it is one that is kept and `analyses` have not all."""
        if block.name not in self._names or all(analyses.peek(card) for card in block.cards):
            return
        known = self._read(block.name)
        for card in block.cards if known else ():
            found = known.get(digest_of(card, MODELS))
            if found is not None and analyses.peek(card) is None:
                analyses.add(card, tuple(map(_hit, found)))

    def save(self, block: SearchBlock, analyses: Analyses) -> None:
        """Write what `analyses` have of the block, if it is one that is kept."""
        file = self._file(block.name)
        if block.name not in self._names or file is None:
            return
        found = {digest_of(card, MODELS): analyses.peek(card) for card in block.cards}
        values = {digest: list(map(_values, hits)) for digest, hits in found.items() if hits is not None}
        write_signed(file, marshal.dumps((program_digest(), values), 2))

    def _file(self, name: str) -> Path | None:
        return self._folder / f"{name}.cache" if self._folder else None

    def _read(self, name: str) -> dict[str, list[Any]]:
        with suppress(ValueError, EOFError, TypeError):
            file = self._file(name)
            data = read_signed(file) if file else None
            program, values = marshal.loads(data or b"")  # noqa: S302 - signed by this user
            if program == program_digest():
                return dict(values)
        return {}


def _values(hit: BlockHit) -> tuple[object, ...]:
    return hit.is_tools, hit.words, hit.files, hit.row, [(one.start, one.text) for one in hit.stretches]


def _hit(values: tuple[Any, ...]) -> BlockHit:
    is_tools, words, files, row, stretches = values
    found = tuple(Stretch(start=start, text=text) for start, text in stretches)
    return BlockHit(is_tools=is_tools, words=words, files=files, row=row, stretches=found)
