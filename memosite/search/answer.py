"""Parses the queries of commands and answers them from an open index."""

from dataclasses import dataclass

from memosite.facts.characters import masked
from memosite.facts.errors import ConfigError
from memosite.search.whoosh.reader import Hit, IndexReader, Sort
from memosite.search_language.analyzer import Analyzer
from memosite.search_language.query import parse_query
from memosite.search_language.syntax import QueryError, QueryNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query as typed, and as parsed."""

    text: str
    node: QueryNode


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """The hits to be shown, how many there are in all, and hints if there is none."""

    hits: tuple[Hit, ...]
    total: int
    hints: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Search:
    """The search of one archive."""

    reader: IndexReader

    def find(self, query: Query, *, sort: Sort = "date", limit: int | None = None) -> SearchResults:
        """Find the hits of a query; if there are none, hints: similar words and values of the archive."""
        answer = self.reader.find(query.node, sort=sort, limit=limit)
        hints = () if answer.total else self.reader.suggest(query.node)
        return SearchResults(hits=answer.hits, total=answer.total, hints=hints)

    def refs(self, query: Query) -> frozenset[tuple[str, str]]:
        """Kind and id of all artifacts that match a query."""
        return self.reader.refs(query.node)


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
