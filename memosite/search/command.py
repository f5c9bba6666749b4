"""Search for commands and saved searches: opens the index of an archive and restricts the archive to a query's hits."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import MappingProxyType

from memosite.archive.model import Archive
from memosite.config.loading import Config
from memosite.config.policy import left_out_by
from memosite.search.answer import Search, read_query
from memosite.search.documents import describe
from memosite.search.whoosh.index import IndexSeal
from memosite.search.whoosh.indexing import open_index
from memosite.search.whoosh.reader import IndexReader
from memosite.search_language.analyzer import Analyzer
from memosite.store.shelf import Shelf

__all__ = ["open_search", "read_query", "restrict"]


@contextlib.contextmanager
def open_search(
    archive: Archive,
    shelf: Shelf,
    config: Config,
    *,
    say: Callable[[str], None],
    inputs: str = "",
    withheld: tuple[str, ...] = (),
) -> Iterator[Search]:
    """Bring the index in the cache up to date with an archive whose texts are on the shelf, and open it.

    `inputs` is the digest of what the archive was read from, if it was taken before (see `inputs`); `withheld` is what
    was withheld for a secret then.
    """
    analyzer = Analyzer()
    cards = [describe(archive, artifact, analyzer) for artifact in archive.artifacts.values()]
    made_of = IndexSeal(inputs=inputs, rules=left_out_by(config.erase, config.secrets), withheld=withheld)
    found = open_index(
        config.cache / config.audience,
        cards,
        shelf.text,
        analyzer,
        say,
        made_of=made_of,
        keeps_former=config.audience == "internal",
    )
    with contextlib.closing(found.reader):
        yield Search(reader=IndexReader(index=found, analyzer=analyzer))


def restrict(archive: Archive, shelf: Shelf, config: Config, text: str, *, say: Callable[[str], None]) -> Archive:
    """The archive with only the artifacts that match a query; threads and positions are kept, for context."""
    query = read_query(text)
    with open_search(archive, shelf, config, say=say) as search:
        refs = search.refs(query)
    kept = {ref: artifact for ref, artifact in archive.artifacts.items() if ref in refs}
    return replace(archive, artifacts=MappingProxyType(kept))
