"""[I/O] Keeps what was analyzed of the last search blocks, rendered again with each new artifact.

For each artifact of a block, by the digest of its card, its documents as `BlockHit`s are a row. They hold words of
texts: so a build removes the rows of any other block, and of what is not in the block any more. Blocks are rendered in
any process, so each time the file is opened anew.
"""

import marshal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memosite.search.blocks import Analyses, BlockHit, SearchBlock
from memosite.search.documents import Stretch
from memosite.store.state import ANALYSES, State
from memosite.store.values import digest_of


class KeptAnalyses:
    """The analyses of some blocks, in a part of the cache; without a part, none."""

    def __init__(self, part: Path | None) -> None:
        """Keep those of no block, until `begin`."""
        self._part = part
        self._names: frozenset[str] = frozenset()

    def begin(self, names: Iterable[str]) -> None:
        """Keep those of these blocks from now on, and remove all others."""
        self._names = frozenset(names)
        with State(self._part) as state:
            kept = state[ANALYSES].keys()
            others = {(block,) for block, _ in kept if block not in self._names}
            if others:
                with state.writing():
                    state[ANALYSES].remove(others)

    def load(self, block: SearchBlock, analyses: Analyses) -> None:
        """Add what the last build found in the block, if it is one that is kept and `analyses` have not all."""
        if block.name not in self._names or all(analyses.peek(card) for card in block.cards):
            return
        with State(self._part) as state:
            known = {card: data for (_, card), data in state[ANALYSES].items(block.name)}
        for card in block.cards if known else ():
            data = known.get(digest_of(card))
            if data is not None and analyses.peek(card) is None:
                analyses.add(card, tuple(map(_hit, marshal.loads(data))))  # noqa: S302 - signed by this user

    def save(self, block: SearchBlock, analyses: Analyses) -> None:
        """Write what `analyses` have of the block, if it is one that is kept."""
        if block.name not in self._names:
            return
        found = {digest_of(card): analyses.peek(card) for card in block.cards}
        rows = (
            ((block.name, card), marshal.dumps([_values(hit) for hit in hits], 2))
            for card, hits in found.items()
            if hits is not None
        )
        with State(self._part) as state, state.writing():
            state[ANALYSES].replace(rows, block.name)


def _values(hit: BlockHit) -> tuple[object, ...]:
    return hit.is_tools, hit.words, hit.files, hit.row, [(one.start, one.text) for one in hit.stretches]


def _hit(values: tuple[Any, ...]) -> BlockHit:
    is_tools, words, files, row, stretches = values
    found = tuple(Stretch(start=start, text=text) for start, text in stretches)
    return BlockHit(is_tools=is_tools, words=words, files=files, row=row, stretches=found)
