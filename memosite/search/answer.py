"""Parses the queries of commands and answers them: from an index, from a scan, or each for a part of the archive.

Hits of both are put in one order. A scan needs no index: it looks into the texts of what may match.

    cards ──► of which fields and dates may match ──► documents ──► that have the letters of the words ──► match

Each step asks `match` the query `widened` by what is not known yet, so that none of them decides what a query means,
and nothing is lost. Of the documents that are left only the words of the query are analyzed.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

from memosite.facts.characters import masked
from memosite.facts.errors import ConfigError
from memosite.facts.values import Value
from memosite.run.workers import run
from memosite.search.documents import (
    Card,
    Choose,
    SearchDocument,
    TextOf,
    documents,
    lines_of,
    positions_of,
    terms_of,
    written_lines,
)
from memosite.search.match import (
    KEYS,
    Hit,
    facts_of,
    make_hit,
    match,
    people_in,
    sought_terms,
    suggest,
    wanted_words,
    widened,
)
from memosite.search_language import (
    Analyzer,
    KeyTerm,
    QueryError,
    QueryNode,
    WordField,
    Words,
    leaves,
    may_compose,
    parse_query,
)

if TYPE_CHECKING:
    from memosite.search.whoosh.reader import IndexReader

# Finds what queries match without an index: looks into the texts, and analyzes only what may match.


_Positions = Mapping[str, Sequence[int]]


_NOTHING: Mapping[int, Sequence[int]] = {}


class MemoryPostings:
    """`Postings` of a few documents, in memory."""

    def __init__(self, newest: int | None) -> None:
        """Without documents; `newest` is the newest date of the whole archive."""
        self._terms: dict[tuple[str, str], dict[int, Sequence[int]]] = {}
        self._dates: dict[int, int | None] = {}
        self.newest = newest

    def add(
        self,
        number: int,
        *,
        keys: Iterable[tuple[str, str]],
        date: int | None,
        words: Mapping[WordField, _Positions] | None = None,
    ) -> None:
        """Add a document: fields with values, and words with their positions."""
        self._dates[number] = date
        for field, value in keys:
            self._terms.setdefault((KEYS, f"{field}:{value}"), {})[number] = ()
        for name, found in (words or {}).items():
            for term, positions in found.items():
                self._terms.setdefault((name, term), {})[number] = positions

    @property
    def all(self) -> Set[int]:
        """Every document."""
        return self._dates.keys()

    def documents(self, field: str, term: str) -> Set[int]:
        """The documents that have a term in a field."""
        return self._terms.get((field, term), _NOTHING).keys()

    def positions(self, field: str, term: str, among: Set[int]) -> Mapping[int, Sequence[int]]:
        """The positions of a term in each of some documents."""
        return {number: found for number, found in self._terms.get((field, term), _NOTHING).items() if number in among}

    def expand(self, field: str, prefix: str) -> Iterable[str]:
        """The terms of a field with this prefix."""
        return [term for name, term in self._terms if name == field and term.startswith(prefix)]

    @property
    def dates(self) -> Mapping[int, int]:
        """The dates of all documents that have one."""
        return {number: date for number, date in self._dates.items() if date is not None}


class Place(Value):
    """A document that was found: where it stands among hits, and which one it is of which card."""

    order: bytes
    card: int
    document: int


class Scan(Value, dict=True):
    """Some cards that are searched without an index, by `jobs` processes; `newest` is the archive's newest date."""

    cards: Sequence[Card]
    text_of: TextOf
    analyzer: Analyzer
    newest: int | None
    jobs: int = 1

    def find(self, queries: Sequence[QueryNode]) -> list[list[Place]]:
        """The documents that match each of several queries, in the order of the cards."""
        found: list[list[Place]] = [[] for _ in queries]
        wide = (match(widened(query, _of_card), self._postings) for query in queries)
        looked_at = sorted(set[int]().union(*wide))
        looker = _Looker(scan=self, queries=queries)
        results = run(lambda number: looker.look(self.cards[number]), looked_at, jobs=self.jobs)
        for number, places in zip(looked_at, results, strict=True):
            for all_found, these in zip(found, places, strict=True):
                all_found += [Place(order=order, card=number, document=document) for order, document in these]
        return found

    @cached_property
    def _postings(self) -> MemoryPostings:
        postings = MemoryPostings(self.newest)
        for number, card in enumerate(self.cards):
            postings.add(number, keys=card.keys, date=card.date)
        return postings

    def refs(self, places: Iterable[Place]) -> frozenset[tuple[str, str]]:
        """Kind and id of the artifacts of documents."""
        return frozenset((card.kind, card.id) for card in (self.cards[place.card] for place in places))

    def hits(self, places: Iterable[Place], wanted: Collection[Words]) -> Iterator[Hit]:
        """What is shown of documents that were found."""
        known: tuple[int, list[SearchDocument]] = (-1, [])
        for place in places:
            if place.card != known[0]:  # turns of a transcript stand together
                known = place.card, list(documents(self.cards[place.card], self.text_of))
            document = known[1][place.document]
            shown = written_lines(lines_of(document))
            yield make_hit(facts_of(document), document.card.date, shown, wanted, self.analyzer)

    def count(self, beginnings: Collection[tuple[str, str]]) -> Counter[tuple[str, str]]:
        """In how many documents each term is that begins so, by field."""
        found: Counter[tuple[str, str]] = Counter()
        for counts in run(lambda card: self._count(card, beginnings), self.cards, jobs=self.jobs):
            found.update(counts)
        return found

    def _count(self, card: Card, beginnings: Collection[tuple[str, str]]) -> Counter[tuple[str, str]]:
        """The same of the documents of a card."""
        found: Counter[tuple[str, str]] = Counter()
        starts = {name: tuple(start for field, start in beginnings if field == name) for name, _ in beginnings}
        for document in documents(card, self.text_of):
            for name, texts in document.fields.items():
                terms = terms_of(texts, self.analyzer) if name in starts else ()
                found.update((name, term) for term in terms if term.startswith(starts[name]))
            keys = {f"{field}:{value}" for field, value in document.keys}
            found.update((KEYS, key) for key in keys if key.startswith(starts.get(KEYS, ())))
        return found


def _of_card(leaf: Words | KeyTerm) -> bool | None:
    """Whether an artifact may have a document that matches: words are not known, nor which documents there are."""
    return True if isinstance(leaf, Words) or leaf.field in {"file", "in"} else None


class _Looker(Value, dict=True):
    """Looks for several queries into the documents of a card."""

    scan: Scan
    queries: Sequence[QueryNode]

    def look(self, card: Card) -> list[list[tuple[bytes, int]]]:
        """The documents that match each query: their order among hits, and their number."""
        found = list(documents(card, self.scan.text_of))
        analyzer, chosen = self.scan.analyzer, self._chosen.items()
        postings = MemoryPostings(self.scan.newest)
        for number, document in enumerate(found):
            if self._may_match(document):
                words = {name: positions_of(document.fields[name], analyzer, choose) for name, choose in chosen}
                postings.add(number, keys=document.keys, date=card.date, words=words)
        matches = (sorted(match(query, postings)) for query in self.queries)
        return [[(found[number].order, number) for number in numbers] for numbers in matches]

    def _may_match(self, document: SearchDocument) -> bool:
        alone = MemoryPostings(self.scan.newest)
        alone.add(0, keys=document.keys, date=document.card.date)
        may_match = _letters_of(document, self.scan.analyzer)
        return any(match(widened(query, may_match), alone) for query in self.queries)

    @cached_property
    def _chosen(self) -> dict[WordField, Choose]:
        words = [leaf for query in self.queries for leaf, _ in leaves(query) if isinstance(leaf, Words)]
        fields = {leaf.field for leaf in words}
        return {name: _choice([leaf for leaf in words if leaf.field == name]) for name in fields}


def _letters_of(document: SearchDocument, analyzer: Analyzer) -> Callable[[Words | KeyTerm], bool | None]:
    """Tells of words whether a document has the letters of each: without them it has not the word."""
    folded: dict[WordField, list[str]] = {}

    def may_match(leaf: Words | KeyTerm) -> bool | None:
        if isinstance(leaf, KeyTerm):
            return None
        if leaf.field not in folded:
            folded[leaf.field] = [analyzer.fold(text) for text in document.fields[leaf.field]]
        texts = folded[leaf.field]
        return all(
            any(any(term in text for term in forms) or may_compose(text) for text in texts) for forms in leaf.forms
        )

    return may_match


def _choice(words: Collection[Words]) -> Choose:
    """Chooses the terms that any of these words asks for."""
    whole = {term for leaf in words for forms in (leaf.forms[:-1] if leaf.prefix else leaf.forms) for term in forms}
    begun = tuple(leaf.terms[-1] for leaf in words if leaf.prefix)

    def choose(terms: Collection[str]) -> Set[str]:
        return whole.intersection(terms) | ({term for term in terms if term.startswith(begun)} if begun else set())

    return choose


Sort: TypeAlias = Literal["date", "score"]


class Query(Value):
    """A query as typed, and as parsed."""

    text: str
    node: QueryNode


class SearchResults(Value):
    """The hits to be shown, how many there are in all, and hints if there is none.

    `nobody` are names that were asked for and that no item has, if nothing was found.
    """

    hits: tuple[Hit, ...]
    total: int
    hints: tuple[str, ...]
    nobody: tuple[str, ...] = ()


class Search(Value):
    """The search of one archive: the index, and a scan of what the index does not hold."""

    index: "IndexReader | None" = None
    scan: Scan | None = None

    @property
    def newest(self) -> int | None:
        """The newest date of the archive, in milliseconds, from which `after:2w` counts back."""
        return self.index.newest if self.index else self.scan.newest if self.scan else None

    def find(self, query: QueryNode, *, sort: Sort = "date", limit: int | None = None) -> SearchResults:
        """Find the hits of a query: newest first, or the best first by BM25F and then the newest.

        If there are none, with hints: similar words and values of the archive. Only what is in the index has a score.
        """
        indexed = self.index.find(query) if self.index else []
        scanned = self.scan.find([query])[0] if self.scan else []
        found: list[tuple[bytes, int | Place]] = [*indexed, *((place.order, place) for place in scanned)]
        ordered = [place for _, place in sorted(found, key=itemgetter(0))]
        wanted = wanted_words(query)
        if self.index and sort == "score":
            scores = self.index.scores(wanted, {document for _, document in indexed})
            ordered.sort(key=lambda place: -scores[place] if isinstance(place, int) else 0.0)
        hits = tuple(self._hits(ordered[:limit], wanted))
        if ordered:
            return SearchResults(hits=hits, total=len(ordered), hints=())
        people = {leaf.value: (KEYS, f"with:{leaf.value}", "with:") for leaf in people_in(query)}
        vocabulary = _Vocabulary(search=self, terms=(*sought_terms(query), *people.values()))
        nobody = tuple(name for name, (field, term, _) in people.items() if not vocabulary.count(field, term))
        return SearchResults(hits=hits, total=0, hints=suggest(query, vocabulary), nobody=nobody)

    def _hits(self, shown: Sequence[int | Place], wanted: Sequence[Words]) -> Iterator[Hit]:
        numbers = [place for place in shown if isinstance(place, int)]
        places = [place for place in shown if not isinstance(place, int)]
        indexed = self.index.hits(numbers, wanted) if self.index else iter(())
        scanned = self.scan.hits(places, wanted) if self.scan else iter(())
        return (next(indexed if isinstance(place, int) else scanned) for place in shown)

    def refs(self, queries: Sequence[QueryNode]) -> list[frozenset[tuple[str, str]]]:
        """Kind and id of all artifacts that match, for each of several queries."""
        indexed = (self.index.refs(query) if self.index else frozenset() for query in queries)
        found = self.scan.find(queries) if self.scan else [[] for _ in queries]
        scanned = (self.scan.refs(places) if self.scan else frozenset() for places in found)
        return [refs | other for refs, other in zip(indexed, scanned, strict=True)]


class _Vocabulary(Value, dict=True):
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
