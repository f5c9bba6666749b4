"""[I/O] Search for commands and saved searches: with the index as far as there is one, and a scan of the rest.

cards ──► compare with those in the index ──► Search(index, scan of what the index does not hold)
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from memosite.archive.model import Archive
from memosite.config.schema import Config, left_out_by
from memosite.facts.errors import OutputError
from memosite.facts.rules import withheld_for_secrets
from memosite.facts.values import Value
from memosite.search.answer import Scan, Search
from memosite.search.documents import Card, TextOf, describe
from memosite.search.whoosh.index import (
    Difference,
    IndexSeal,
    OpenIndex,
    compare,
    making_index,
    newest_of,
    open_index,
    read_digests,
    remove_outdated,
    update_index,
)
from memosite.search.whoosh.reader import IndexReader
from memosite.search_language import Analyzer
from memosite.store.shelf import Shelf

LITTLE = 200_000
"""So many characters are indexed before the answer: it takes less than half a second."""


class Searchable(Value, dict=True):
    """What is searched of an archive, and the part of the cache that may have an index of it.

    Where that has none, the index of another archive may serve, in the part `fallback`: equal artifacts are found in
    it. `made_of` is what the archive is as of, without the newest date. `jobs` processes scan.
    """

    part: Path
    cards: tuple[Card, ...]
    text_of: TextOf
    analyzer: Analyzer
    made_of: IndexSeal
    keeps_former: bool
    jobs: int
    fallback: Path | None = None

    @contextlib.contextmanager
    def search(self) -> Iterator[Search]:
        """Search with the index as it is now, and scan what it does not hold."""
        newest = newest_of(self.cards)
        with self._open() as index:
            difference = self._difference(index)
            scan = Scan(
                cards=tuple(card for card in self.cards if card.key in difference.changed),
                text_of=self.text_of,
                analyzer=self.analyzer,
                newest=newest,
                jobs=self.jobs,
            )
            reader = None
            if index:
                without = difference.former
                reader = IndexReader(index=index, newest=newest, without=without, analyzer=self.analyzer)
            yield Search(index=reader, scan=scan if scan.cards else None)

    def remove_outdated(self) -> None:
        """Remove an index that may hold what nothing may hold any more, if the cache can be written."""
        with contextlib.suppress(OutputError):
            remove_outdated(self.part, self.made_of, keeps_former=True)
            if not self.keeps_former:
                with open_index(self.part) as index:
                    has_former = bool(self._difference(index).former)
                if has_former:
                    remove_outdated(self.part, self.made_of, keeps_former=False)

    def is_indexed(self) -> bool:
        """Whether the index has all artifacts as they are, and no others."""
        with open_index(self.part) as index:
            return index is not None and not self._difference(index)

    def unindexed(self) -> int:
        """How many artifacts a search has to look into, since no index holds them as they are."""
        with self._open() as index:
            return len(self._difference(index).changed)

    def index_little(self) -> bool:
        """Bring the index up to date if little has changed and nobody else does it; whether it is up to date then."""
        with open_index(self.part) as index:
            difference = self._difference(index)
            if not difference and index and self.made_of.inputs in {"", index.seal.inputs}:
                return True
        if not self._is_little(difference):
            return False
        with contextlib.suppress(OutputError), making_index(self.part, waits=False) as partial:
            if partial is not None:
                self.index(partial, str)
                return True
        return False

    def index(self, partial: Path, say: Callable[[str], object]) -> None:
        """Bring the index up to date, in a folder from `making_index`."""
        update_index(
            self.part,
            partial,
            self.cards,
            self.text_of,
            self.analyzer,
            made_of=self.made_of,
            keeps_former=self.keeps_former,
            say=say,
        )

    @contextlib.contextmanager
    def _open(self) -> Iterator[OpenIndex | None]:
        """The first index that may be used."""
        for part in filter(None, (self.part, self.fallback)):
            with open_index(part) as found:
                if found and found.seal.holds_as_much(self.made_of):
                    yield found
                    return
        yield None

    def _difference(self, index: OpenIndex | None) -> Difference:
        return compare(read_digests(index.folder) if index else {}, self._digests)

    @cached_property
    def _digests(self) -> Mapping[str, str]:
        return {card.key: card.digest for card in self.cards}

    def _is_little(self, difference: Difference) -> bool:
        left = LITTLE
        for card in self.cards:
            if card.key in difference.changed:
                digests = [*(digest for digest, _ in card.texts), *filter(None, [card.conversation])]
                left -= sum(len(self.text_of(digest)) for digest in digests)
                if left < 0:
                    return False
        return True


def searchable(archive: Archive, shelf: Shelf, config: Config, *, jobs: int, inputs: str = "") -> Searchable:
    """What is searched of an archive whose texts are on the shelf.

    `inputs` is the digest of what the archive was read from, if it was taken before (see `inputs`).
    """
    analyzer = Analyzer()
    return Searchable(
        part=config.cache / config.audience,
        cards=tuple(describe(archive, artifact, analyzer) for artifact in archive.artifacts.values()),
        text_of=shelf.text,
        analyzer=analyzer,
        made_of=IndexSeal(
            inputs=inputs,
            rules=left_out_by(config.erase, config.secrets),
            withheld=withheld_for_secrets(archive.all_findings),
        ),
        keeps_former=config.audience == "internal",
        jobs=jobs,
    )
