"""Matches a query: set algebra over the documents of an index, the same as in the browser; hits and excerpts.

    QueryNode ──► for each leaf the documents that have it ──► intersection, union, difference ──► numbers of documents
    document ──► hit, with the excerpt that shows most of the query's words          no document ──► similar words

The index is whatever has `Postings`: Whoosh on the command line, a few dictionaries in a test.
"""

import difflib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple, Protocol, assert_never

from memosite.facts.values import Value, replace
from memosite.search.documents import read_lines
from memosite.search_language import (
    DAY,
    Ago,
    Analyzer,
    And,
    Dates,
    KeyTerm,
    Not,
    Or,
    QueryNode,
    Word,
    Words,
    leaves,
    moment_of,
)

if TYPE_CHECKING:
    from memosite.search.documents import SearchDocument

KEYS = "keys"
"""The field in which an index keeps `from:engineer` and its like, as one term each."""


class Postings(Protocol):
    """The interface of an index for matching. Documents are numbers."""

    @property
    def all(self) -> Set[int]:
        """Every document."""

    @property
    def dates(self) -> Mapping[int, int]:
        """The dates of all documents that have one, in milliseconds."""

    @property
    def newest(self) -> int | None:
        """The newest date of the whole archive, None if nothing has one."""

    def documents(self, field: str, term: str) -> Set[int]:
        """The documents that have a term in a field."""

    def positions(self, field: str, term: str, among: Set[int]) -> Mapping[int, Sequence[int]]:
        """The positions of a term in each of some documents, in ascending order."""

    def expand(self, field: str, prefix: str) -> Iterable[str]:
        """The terms of a field with this prefix."""


def match(node: QueryNode, postings: Postings) -> Set[int]:
    """The documents that match a query. It recurses: queries are no deeper than `search_language.DEEPEST`."""
    match node:
        case Words():
            return _match_words(node, postings)
        case KeyTerm():
            term = f"{node.field}:{node.value}"
            if not node.prefix:
                return postings.documents(KEYS, term)
            return set[int]().union(*(postings.documents(KEYS, each) for each in postings.expand(KEYS, term)))
        case Dates():
            return _dated(postings, node.start, node.end)
        case Ago():
            if postings.newest is None:
                return set()
            edge = postings.newest - node.days * DAY
            return _dated(postings, edge, None) if node.newer else _dated(postings, None, edge)
        case And():
            return _match_all(node.parts, postings)
        case Or():
            return set[int]().union(*(match(part, postings) for part in node.parts))
        case Not():
            return postings.all - match(node.part, postings)
    assert_never(node)


def _dated(postings: Postings, start: int | None, end: int | None) -> Set[int]:
    """The documents with a date from `start` on and before `end`."""
    dates = postings.dates.items()
    return {document for document, date in dates if (start is None or date >= start) and (end is None or date < end)}


def _match_all(parts: Collection[QueryNode], postings: Postings) -> Set[int]:
    wanted = [part for part in parts if not isinstance(part, Not)]
    found = _in_all(match(part, postings) for part in wanted) if wanted else postings.all
    for part in parts if found else ():
        if isinstance(part, Not):
            found = found - match(part.part, postings)
    return found


def _in_all(sets: Iterator[Set[int]]) -> Set[int]:
    """What all of some sets hold, of which there is at least one; no more are asked for once nothing is left."""
    found = next(sets)
    while found and (these := next(sets, None)) is not None:
        found = found & these
    return found


def _match_words(words: Words, postings: Postings) -> Set[int]:
    """The documents in which the terms are at consecutive positions."""
    last = len(words.terms) - 1
    choices = [
        tuple(postings.expand(words.field, forms[0])) if words.prefix and index == last else forms
        for index, forms in enumerate(words.forms)
    ]
    found = _in_all(set[int]().union(*(postings.documents(words.field, term) for term in terms)) for terms in choices)
    return _in_sequence(words.field, choices, found, postings) if found and last else found


def _in_sequence(field: str, choices: Sequence[Iterable[str]], found: Set[int], postings: Postings) -> Set[int]:
    ends: dict[int, set[int]] = {}
    for index, terms in enumerate(choices):
        places: dict[int, set[int]] = {}
        for term in terms:
            for document, positions in postings.positions(field, term, found).items():
                places.setdefault(document, set()).update(positions)
        if index == 0:
            ends = places
            continue
        ends = {
            document: following
            for document, before in ends.items()
            if (following := {place + 1 for place in before} & places.get(document, set()))
        }
        found = ends.keys()
    return set(ends)


def wanted_words(node: QueryNode) -> tuple[Words, ...]:
    """The words that a query looks for, without those under NOT: excerpts mark them, scores count them."""
    return tuple(dict.fromkeys(leaf for leaf, wanted in leaves(node) if wanted and isinstance(leaf, Words)))


def widened(
    node: QueryNode, may_match: Callable[[Words | KeyTerm], bool | None], *, is_wanted: bool = True
) -> QueryNode:
    """A query that finds whatever this one finds, and maybe more, by what is known of words and values beforehand.

    `may_match` tells of each whether it may match; None for what can be looked up.
    """
    match node:
        case Words() | KeyTerm():
            answer = may_match(node)
            if answer is None:
                return node
            return And(parts=()) if answer and is_wanted else Or(parts=())  # all documents, or none
        case And(parts=parts) | Or(parts=parts):
            return replace(node, parts=tuple(widened(part, may_match, is_wanted=is_wanted) for part in parts))
        case Not(part=part):
            return Not(part=widened(part, may_match, is_wanted=not is_wanted))
        case Dates() | Ago():
            return node
    assert_never(node)


# Cuts the excerpt of a text that shows most of a query's words, marks them, and finds the anchor that leads there.


LENGTH = 240
"""The longest excerpt, in characters."""


BEFORE = 40
"""At most so many characters stand before the first marked word."""


MOST_WORDS = 1_000
"""Of so many words that are sought, the first ones, the best place for an excerpt is chosen."""


class ExcerptPiece(Value):
    """A piece of an excerpt, marked or not."""

    text: str
    is_marked: bool = False


class Excerpt(Value):
    """The passage that a hit shows. `anchor` is that of the line where most of the words begin, "" if there is none."""

    anchor: str = ""
    pieces: tuple[ExcerptPiece, ...] = ()


def make_excerpt(lines: Sequence[tuple[str, str]], wanted: Collection[Words], analyzer: Analyzer) -> Excerpt:
    """The excerpt of a document from its lines, each with its anchor; its beginning if no word matches."""
    line = " ".join(text for _, text in lines)
    found = _wanted_words(line, wanted, analyzer)
    best = _best_start(found) if found else 0
    start = 0 if best <= BEFORE else line.find(" ", best - BEFORE, best) + 1 or best - BEFORE
    end = min(len(line), start + LENGTH)
    if end < len(line):
        end = max(line.rfind(" ", start, end), *(word.end for word in found if start < word.end <= end), 0)
    pieces = [ExcerptPiece(text="… " if start else "")]
    place = start
    for first, last in _merged([word for word in found if start <= word.start and word.end <= end]):
        pieces += [ExcerptPiece(text=line[place:first]), ExcerptPiece(text=line[first:last], is_marked=True)]
        place = last
    pieces.append(ExcerptPiece(text=line[place:end] + (" …" if end < len(line) else "")))
    ends = list(accumulate(len(text) + 1 for _, text in lines))
    anchor = lines[bisect_right(ends, best)][0] if found else ""
    return Excerpt(anchor=anchor, pieces=tuple(piece for piece in pieces if piece.text))


class _Found(NamedTuple):
    """A word of a line that a query looks for, and what of the query it is."""

    start: int
    end: int
    term: str


def _wanted_words(line: str, wanted: Collection[Words], analyzer: Analyzer) -> list[_Found]:
    """The words of a line that a query looks for; of a phrase only whole matches."""
    if not wanted:
        return []
    whole = {term for leaf in wanted for forms in leaf.forms for term in forms}
    begun = tuple(leaf.terms[-1] for leaf in wanted if leaf.prefix)
    words = list(islice(analyzer.find(line, lambda term: term in whole or term.startswith(begun)), MOST_WORDS))
    places: dict[str, list[Word]] = {}
    for word in words:
        places.setdefault(word.term, []).append(word)
    found: set[_Found] = set()
    for leaf in wanted:
        chains = [[word] for word in _words_at(leaf, 0, words, places)]
        for index in range(1, len(leaf.terms)):
            following = {word.position: word for word in _words_at(leaf, index, words, places)}
            chains = [
                [*chain, following[chain[-1].position + 1]] for chain in chains if chain[-1].position + 1 in following
            ]
        for chain in chains:
            found |= {
                _Found(word.start, word.end, f"{term}*" if leaf.prefix and term is leaf.terms[-1] else term)
                for term, word in zip(leaf.terms, chain, strict=True)
            }
    return sorted(found)


def _words_at(leaf: Words, index: int, words: Sequence[Word], places: dict[str, list[Word]]) -> list[Word]:
    forms = leaf.forms[index]
    if leaf.prefix and index == len(leaf.terms) - 1:
        return [word for word in words if word.term.startswith(forms)]
    return [word for term in forms for word in places.get(term, ())]


def _best_start(found: Sequence[_Found]) -> int:
    """The start of the excerpt with the most different words, and these the nearest together; the first such one."""
    best, most, least = found[0].start, 0, 0
    for first, word in enumerate(found):
        terms: set[str] = set()
        last = word.start
        for other in islice(found, first, None):
            if other.end > word.start + LENGTH - BEFORE:
                break
            if other.term not in terms:
                terms.add(other.term)
                last = other.start
        if (len(terms), least) > (most, last - word.start):
            best, most, least = word.start, len(terms), last - word.start
    return best


def _merged(words: Sequence[_Found]) -> list[tuple[int, int]]:
    """The spans of words; those that overlap or touch are merged."""
    places: list[tuple[int, int]] = []
    for word in words:
        if places and word.start <= places[-1][1]:
            places[-1] = (places[-1][0], max(places[-1][1], word.end))
        else:
            places.append((word.start, word.end))
    return places


# Hits: what is shown of a document that a query finds, and the order in which hits stand.


_WAITED_FOR = 20


class Hit(Value):
    """One thing found. `file` is its page's file below the site, with the anchor of the passage that `excerpt` shows.

    `date` is ISO 8601 in UTC, `day` the writer's day, as pages show it; both are "" for none. `status` is the state of
    a memo's action or the status of another item. `waits_for` are the ids, with spaces, of the first of those `waiting`
    who owe an answer, `owing` says so in words.
    """

    kind: str
    id: str
    turn: int
    system: str
    short_subject: str
    label: str
    who: str
    day: str
    date: str
    file: str
    path: str
    excerpt: tuple[ExcerptPiece, ...]
    status: str = ""
    waits_for: str = ""
    waiting: int = 0
    owing: str = ""


def facts_of(document: "SearchDocument") -> dict[str, str | int]:
    """What a hit shows of a document, without its date and excerpt; an index keeps it."""
    card = document.card
    return {
        "kind": card.kind,
        "id": card.id,
        "turn": document.turn,
        "system": card.system,
        "short_subject": card.short_subject,
        "label": document.label,
        "who": card.who,
        "day": card.day,
        "file": document.file,
        "path": card.path,
        "status": card.status,
        "waits_for": " ".join(card.waits_for[:_WAITED_FOR]),
        "waiting": len(card.waits_for),
        "owing": card.owing,
    }


def make_hit(
    facts: Mapping[str, str | int], date: int | None, shown: str, wanted: Collection[Words], analyzer: Analyzer
) -> Hit:
    """A hit of `facts_of` a document, its date in milliseconds since 1970 and its `written_lines`."""
    excerpt = make_excerpt(read_lines(shown), wanted, analyzer)
    file = f"{facts['file']}#{excerpt.anchor}" if excerpt.anchor else facts["file"]
    timespec = "milliseconds" if date and date % 1000 else "seconds"
    written = "" if date is None else f"{moment_of(date).isoformat(timespec=timespec)}Z"
    known = {**facts, "file": file, "date": written}
    return Hit(**known, excerpt=excerpt.pieces)  # type: ignore[arg-type] # as `facts_of` made them


# Finds hints for a query without hits: similar words and values that are somewhere in the archive.


MOST_TERMS = 20_000
"""Terms among which a similar one is sought."""


class Vocabulary(Protocol):
    """The terms of all documents."""

    def count(self, field: str, term: str) -> int:
        """How many documents have a term in a field."""

    def beginning(self, field: str, start: str) -> Iterable[str]:
        """The terms of a field with this beginning that any document has, in order."""


def sought_terms(query: QueryNode) -> Iterator[tuple[str, str, str]]:
    """The terms of which similar ones would be a hint: field, term, and how a similar one has to begin."""
    for leaf, wanted in leaves(query):
        if wanted and isinstance(leaf, Words) and not leaf.prefix:
            yield from ((leaf.field, term, term[:1]) for term in leaf.terms)
        if wanted and isinstance(leaf, KeyTerm) and not leaf.prefix:
            yield KEYS, f"{leaf.field}:{leaf.value}", f"{leaf.field}:"


def people_in(query: QueryNode) -> Iterator[KeyTerm]:
    """The conditions that name who wrote something or to whom."""
    for leaf, _ in leaves(query):
        if isinstance(leaf, KeyTerm) and leaf.field in {"from", "to", "with"} and not leaf.prefix:
            yield leaf


def suggest(query: QueryNode, vocabulary: Vocabulary) -> tuple[str, ...]:
    """For words and values that are nowhere, the most similar ones that are somewhere, as they would be typed."""
    found = [
        _similar(vocabulary, field, term, start)
        for field, term, start in sought_terms(query)
        if not vocabulary.count(field, term)
    ]
    return tuple(dict.fromkeys(filter(None, found)))


def _similar(vocabulary: Vocabulary, field: str, term: str, start: str) -> str | None:
    candidates = islice(vocabulary.beginning(field, start), MOST_TERMS)
    near = difflib.get_close_matches(term, candidates, n=3, cutoff=0.75)
    return min(near, key=lambda other: (-vocabulary.count(field, other), other), default=None)
