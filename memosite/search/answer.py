"""Parses the queries of commands and answers them: from an index, from a scan, or each for a part of the archive."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from memosite.facts.characters import masked
from memosite.facts.errors import ConfigError
from memosite.search.hints import sought_terms, suggest
from memosite.search.match import wanted_words
from memosite.search_language.analyzer import Analyzer
from memosite.search_language.query import parse_query
from memosite.search_language.syntax import QueryError, QueryNode, Words

if TYPE_CHECKING:
    from memosite.search.hits import Hit
    from memosite.search.scan import Place, Scan
    from memosite.search.whoosh.reader import IndexReader

Sort: TypeAlias = Literal["date", "score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query as typed, and as parsed."""

    text: str
    node: QueryNode


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """The hits to be shown, how many there are in all, and hints if there is none."""

    hits: "tuple[Hit, ...]"
    total: int
    hints: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Search:
    """The search of one archive: the index, and a scan of what the index does not hold."""

    index: "IndexReader | None" = None
    scan: "Scan | None" = None

    def find(self, query: QueryNode, *, sort: Sort = "date", limit: int | None = None) -> SearchResults:
        """Find the hits of a query: newest first, or the best first by BM25F and then the newest.

        If there are none, with hints: similar words and values of the archive. Only what is in the index has a score.
        """
        indexed = self.index.find(query) if self.index else []
        scanned = self.scan.find([query])[0] if self.scan else []
        found: list[tuple[bytes, int | Place]] = [*indexed, *((place.order, place) for place in scanned)]
        ordered = [one for _, one in sorted(found, key=lambda pair: pair[0])]
        wanted = wanted_words(query)
        if self.index and sort == "score":
            scores = self.index.scores(wanted, {document for _, document in indexed})
            ordered.sort(key=lambda one: -scores[one] if isinstance(one, int) else 0.0)
        hits = tuple(self._hits(ordered[:limit], wanted))
        hints = () if ordered else suggest(query, _Vocabulary(search=self, terms=tuple(sought_terms(query))))
        return SearchResults(hits=hits, total=len(ordered), hints=hints)

    def _hits(self, shown: "Sequence[int | Place]", wanted: Sequence[Words]) -> "Iterator[Hit]":
        indexed = self.index.hits((one for one in shown if isinstance(one, int)), wanted) if self.index else iter(())
        places = [one for one in shown if not isinstance(one, int)]
        scanned = self.scan.hits(places, wanted) if self.scan else iter(())
        return (next(indexed if isinstance(one, int) else scanned) for one in shown)

    def refs(self, queries: Sequence[QueryNode]) -> list[frozenset[tuple[str, str]]]:
        """Kind and id of all artifacts that match, for each of several queries."""
        indexed = (self.index.refs(one) if self.index else frozenset() for one in queries)
        found = self.scan.find(queries) if self.scan else [[] for _ in queries]
        scanned = (self.scan.refs(places) if self.scan else frozenset() for places in found)
        return [one | other for one, other in zip(indexed, scanned, strict=True)]


@dataclass(frozen=True, kw_only=True)
class _Vocabulary:
    """The terms of index and scan together, as far as `terms` are sought."""

    search: Search
    terms: tuple[tuple[str, str, str], ...]

    def count(self, field: str, term: str) -> int:
        indexed = len(self.search.index.documents(field, term)) if self.search.index else 0
        return indexed + self._scanned[field, term]

    def beginning(self, field: str, start: str) -> Iterable[str]:
        indexed = self.search.index.beginning(field, start) if self.search.index else ()
        scanned = {term for name, term in self._scanned if name == field and term.startswith(start)}
        return sorted({*scanned, *indexed}) if scanned else indexed

    @cached_property
    def _scanned(self) -> Counter[tuple[str, str]]:
        beginnings = {(field, start) for field, _, start in self.terms}
        return self.search.scan.count(beginnings) if self.search.scan and beginnings else Counter()


def read_query(text: str) -> Query:
    """Read a query from the command line. Raises `ConfigError` that points at the place."""
    try:
        return Query(text=text, node=parse_query(text, Analyzer()))
    except QueryError as error:
        shown = masked(text)  # what was typed may hold anything
        start = max(0, error.position - 60)
        raise ConfigError(
            f"{error.message}\n  {shown[start : start + 120]}\n  {' ' * (error.position - start)}^\n"
            f"  for example: {error.example}"
        ) from error
