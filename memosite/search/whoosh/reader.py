"""Answers queries from an open Whoosh index: what matches, in which order, and what is shown of it.

Whoosh keeps and finds postings; what a query means is decided in `match`, as it is in the browser.
"""

import json
import math
import zlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from whoosh.matching import NullMatcher
from whoosh.reading import TermNotFound
from whoosh.scoring import bm25

from memosite.facts.values import Value, field
from memosite.search.match import match
from memosite.search.whoosh import UNDATED, read_positions
from memosite.search.whoosh.index import OpenIndex
from memosite.search_language import Analyzer, QueryNode, Words

if TYPE_CHECKING:
    from memosite.search.match import Hit

SUBJECT_WEIGHT = 3.0
"""How much more a word counts in the subject than in the text."""

_B, _K1 = 0.75, 1.2  # the usual ones, as in Whoosh


class IndexReader(Value, dict=True):
    """Reads one open index; it has the `Postings` that `match` asks for.

    Documents of artifacts `without`, by their keys, are not there: they changed since. `newest` is the newest date
    of the whole archive.
    """

    index: OpenIndex
    newest: int | None
    without: frozenset[str] = frozenset()
    analyzer: Analyzer = field(default_factory=Analyzer)

    def find(self, query: QueryNode) -> list[tuple[bytes, int]]:
        """The documents that match a query, with their places among hits, in order."""
        found = match(query, self)
        if not found:  # an index without documents has no columns
            return []
        order = self.index.reader.column_reader("order")
        return sorted((order[document], document) for document in found)

    def refs(self, query: QueryNode) -> frozenset[tuple[str, str]]:
        """Kind and id of every artifact that a query finds, of whatever turn."""
        facts = (json.loads(self.index.reader.stored_fields(document)["facts"][0]) for document in match(query, self))
        return frozenset((found["kind"], found["id"]) for found in facts)

    def hits(self, documents: Iterable[int], wanted: Collection[Words]) -> "Iterator[Hit]":
        """What is shown of documents."""
        from memosite.search.match import make_hit  # noqa: PLC0415 - `export` shows no hits

        for document in documents:
            facts, body = self.index.reader.stored_fields(document)["facts"]
            date = self.index.reader.column_reader("date")[document]
            shown = zlib.decompress(body).decode()
            yield make_hit(json.loads(facts), None if date == UNDATED else date, shown, wanted, self.analyzer)

    def beginning(self, field: str, start: str) -> Iterable[str]:
        """The terms of a field with this beginning that any document has, in order.

        The files of an index keep terms of documents that were deleted.
        """
        terms = self.expand(field, start)
        is_sure = not self.without and not self.index.reader.has_deletions()
        return terms if is_sure else (term for term in terms if self.documents(field, term))

    # What `match` asks for

    @cached_property
    def all(self) -> Set[int]:
        """Every document."""
        return frozenset(self.index.reader.all_doc_ids()) - self._hidden

    @cached_property
    def _hidden(self) -> frozenset[int]:
        return frozenset(document for key in self.without for document in self._having("key", key))

    def documents(self, field: str, term: str) -> Set[int]:
        """The documents that have a term in a field."""
        return self._having(field, term) - self._hidden

    def _having(self, field: str, term: str) -> set[int]:
        try:
            return set(self.index.reader.postings(field, term.encode()).all_ids())
        except TermNotFound:
            return set()

    def positions(self, field: str, term: str, among: Set[int]) -> Mapping[int, Sequence[int]]:
        """Where in each of some documents a term stands."""
        found: dict[int, array[int]] = {}
        try:
            matcher = self.index.reader.postings(field, term.encode())
        except TermNotFound:
            return found
        while matcher.is_active():
            document = matcher.id()
            if document in among:
                found[document] = read_positions(matcher.value())
            matcher.next()
        return found

    def expand(self, field: str, prefix: str) -> Iterable[str]:
        """The terms of a field that begin so, in order."""
        return (term.decode() for term in self.index.reader.expand_prefix(field, prefix.encode()))

    @cached_property
    def dates(self) -> Mapping[int, int]:
        """The dates of all documents that have one."""
        if not self.all:  # an index without documents has no columns
            return {}
        reader = self.index.reader.column_reader("date")
        return {document: date for document in self.all if (date := reader[document]) != UNDATED}

    def scores(self, wanted: Collection[Words], among: Set[int]) -> Mapping[int, float]:
        """BM25F of each of some documents over all words of a query, in the text and once more in the subject."""
        terms = dict.fromkeys(
            term
            for words in wanted
            for term in (self.expand(words.field, words.terms[-1]) if words.prefix else chain(*words.forms))
            if words.field != "name"
        )
        scores = dict.fromkeys(among, 0.0)
        for field_name, weight in (("text", 1.0), ("subject", SUBJECT_WEIGHT)):
            for term in terms:
                for document, score in self._term_scores(field_name, term):
                    if document in among:
                        scores[document] += weight * score
        return scores

    def _term_scores(self, field_name: str, term: str) -> Iterator[tuple[int, float]]:
        reader = self.index.reader
        total = len(self.all)
        found = self.documents(field_name, term)
        rarity = math.log(total / (len(found) + 1)) + 1 if found else 0.0
        mean = reader.field_length(field_name) / max(total, 1) or 1.0
        matcher = reader.postings(field_name, term.encode()) if found else NullMatcher()
        while matcher.is_active():
            length = reader.doc_field_length(matcher.id(), field_name, 1)
            yield matcher.id(), bm25(rarity, matcher.weight(), length, mean, _B, _K1)
            matcher.next()
