"""Answers queries from an open Whoosh index: what matches, in which order, with excerpts and hints.

Whoosh keeps and finds postings; what a query means is decided in `match`, as it is in the browser.
"""

import datetime as dt
import difflib
import json
import math
import zlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Literal, TypeAlias

from whoosh.matching import NullMatcher
from whoosh.reading import TermNotFound
from whoosh.scoring import bm25

from memosite.search.excerpt import ExcerptPiece, make_excerpt
from memosite.search.match import KEYS, match, wanted_words
from memosite.search.whoosh.fields import UNDATED, read_positions
from memosite.search.whoosh.index import OpenIndex
from memosite.search_language.analyzer import Analyzer
from memosite.search_language.syntax import KeyTerm, QueryNode, Words, leaves

Sort: TypeAlias = Literal["date", "score"]

SUBJECT_WEIGHT = 3.0
"""How much more a word counts in the subject than in the text."""

MOST_TERMS = 20_000
"""Terms among which a similar one is sought."""

_B, _K1 = 0.75, 1.2  # the usual ones, as in Whoosh
_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing found. `file` is its page's file with the anchor, below the site.

    `date` is ISO 8601 in UTC, `day` the writer's day, as pages show it; both are "" for none.
    """

    kind: str
    id: str
    turn: int
    system: str
    subject: str
    label: str
    who: str
    day: str
    date: str
    file: str
    path: str
    excerpt: tuple[ExcerptPiece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """The hits to be shown, and how many there are in all."""

    hits: tuple[Hit, ...]
    total: int


@dataclass(frozen=True, kw_only=True)
class IndexReader:
    """Reads one open index; it has the `Postings` that `match` asks for."""

    index: OpenIndex
    analyzer: Analyzer = field(default_factory=Analyzer)

    def find(self, query: QueryNode, *, sort: Sort = "date", limit: int | None = None) -> SearchAnswer:
        """What a query finds: newest first, or the best first by BM25F and then the newest."""
        found = match(query, self)
        if not found:  # an index without documents has no columns
            return SearchAnswer(hits=(), total=0)
        order = self.index.reader.column_reader("order")
        documents = sorted(found, key=order.__getitem__)
        if sort == "score":
            scores = self._scores(wanted_words(query), found)
            documents.sort(key=lambda document: -scores.get(document, 0.0))
        shown = documents[:limit]
        return SearchAnswer(
            hits=tuple(self._hit(document, wanted_words(query)) for document in shown), total=len(documents)
        )

    def refs(self, query: QueryNode) -> frozenset[tuple[str, str]]:
        """Kind and id of every artifact that a query finds, of whatever turn."""
        facts = (json.loads(self.index.reader.stored_fields(one)["facts"][0]) for one in match(query, self))
        return frozenset((one["kind"], one["id"]) for one in facts)

    def suggest(self, query: QueryNode) -> tuple[str, ...]:
        """For words and values that are nowhere, the most similar ones that are somewhere, as they would be typed."""
        found = []
        for leaf, wanted in leaves(query):
            if wanted and isinstance(leaf, Words) and not leaf.prefix:
                missing = [term for term in leaf.terms if not self.documents(leaf.field, term)]
                found += [near for term in missing if (near := self._similar(leaf.field, term, term[:1]))]
            if wanted and isinstance(leaf, KeyTerm) and not leaf.prefix and not match(leaf, self):
                term = f"{leaf.field}:{leaf.value}"
                found += [near for near in [self._similar(KEYS, term, f"{leaf.field}:")] if near]
        return tuple(dict.fromkeys(found))

    def _similar(self, field: str, term: str, beginning: str) -> str | None:
        candidates = islice(self.expand(field, beginning), MOST_TERMS)
        near = difflib.get_close_matches(term, candidates, n=3, cutoff=0.75)
        return min(near, key=lambda one: (-len(self.documents(field, one)), one), default=None)

    # What `match` asks for

    def all(self) -> Set[int]:
        """Every document."""
        return self._all

    @cached_property
    def _all(self) -> frozenset[int]:
        return frozenset(self.index.reader.all_doc_ids())

    def documents(self, field: str, term: str) -> Set[int]:
        """The documents that have a term in a field."""
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

    def dated(self, start: int | None, end: int | None) -> Set[int]:
        """The documents with a date in a half-open range."""
        return {
            document
            for document in self._all
            if (date := self._dates[document]) != UNDATED
            and (start is None or date >= start)
            and (end is None or date < end)
        }

    @cached_property
    def _dates(self) -> Mapping[int, int]:
        reader = self.index.reader.column_reader("date")
        return {document: reader[document] for document in self._all}

    def newest(self) -> int | None:
        """The newest date of all."""
        return self.index.newest

    def _scores(self, wanted: Collection[Words], among: Set[int]) -> dict[int, float]:
        """BM25F of each document over all words of a query, in the text and once more in the subject."""
        terms = dict.fromkeys(
            term
            for one in wanted
            for term in (self.expand(one.field, one.terms[-1]) if one.prefix else one.terms)
            if one.field != "name"
        )
        scores: dict[int, float] = {}
        for field_name, weight in (("text", 1.0), ("subject", SUBJECT_WEIGHT)):
            for term in terms:
                for document, score in self._term_scores(field_name, term):
                    if document in among:
                        scores[document] = scores.get(document, 0.0) + weight * score
        return scores

    def _term_scores(self, field_name: str, term: str) -> Iterator[tuple[int, float]]:
        reader = self.index.reader
        total = len(self._all)
        found = self.documents(field_name, term)
        rarity = math.log(total / (len(found) + 1)) + 1 if found else 0.0
        mean = reader.field_length(field_name) / max(total, 1) or 1.0
        matcher = reader.postings(field_name, term.encode()) if found else NullMatcher()
        while matcher.is_active():
            length = reader.doc_field_length(matcher.id(), field_name, 1)
            yield matcher.id(), bm25(rarity, matcher.weight(), length, mean, _B, _K1)
            matcher.next()

    def _hit(self, document: int, wanted: Collection[Words]) -> Hit:
        written, body = self.index.reader.stored_fields(document)["facts"]
        facts = json.loads(written)
        date = self._date(document)
        return Hit(**facts, date=date, excerpt=make_excerpt(zlib.decompress(body).decode(), wanted, self.analyzer))

    def _date(self, document: int) -> str:
        date = self.index.reader.column_reader("date")[document]
        if date == UNDATED:
            return ""
        moment = _EPOCH + dt.timedelta(milliseconds=date)
        return moment.isoformat(timespec="milliseconds" if date % 1000 else "seconds") + "Z"
