"""Matches a query: set algebra over the documents of an index, the same as in the browser.

    QueryNode ──► for each leaf the documents that have it ──► intersection, union, difference ──► numbers of documents

The index is whatever has `Postings`: Whoosh on the command line, a few dictionaries in a test.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import Protocol, assert_never

from memosite.search_language.syntax import Ago, And, Dates, KeyTerm, Not, Or, QueryNode, Words, leaves

DAY = 86_400_000
"""Milliseconds."""

KEYS = "keys"
"""The field in which an index keeps `from:engineer` and its like, as one term each."""


class Postings(Protocol):
    """The interface of an index for matching. Documents are numbers."""

    def all(self) -> Set[int]:
        """Every document."""

    def documents(self, field: str, term: str) -> Set[int]:
        """The documents that have a term in a field."""

    def positions(self, field: str, term: str, among: Set[int]) -> Mapping[int, Sequence[int]]:
        """The positions of a term in each of some documents, in ascending order."""

    def expand(self, field: str, prefix: str) -> Iterable[str]:
        """The terms of a field with this prefix."""

    def dated(self, start: int | None, end: int | None) -> Set[int]:
        """The documents with a date from `start` on and before `end`, in milliseconds."""

    def newest(self) -> int | None:
        """The newest date of all, None if no document has one."""


def match(node: QueryNode, postings: Postings) -> Set[int]:
    """The documents that match a query. It recurses: queries are no deeper than `query.DEEPEST`."""
    match node:
        case Words():
            return _match_words(node, postings)
        case KeyTerm():
            return _match_terms(KEYS, f"{node.field}:{node.value}", postings, is_prefix=node.prefix)
        case Dates():
            return postings.dated(node.start, node.end)
        case Ago():
            newest = postings.newest()
            if newest is None:
                return set()
            edge = newest - node.days * DAY
            return postings.dated(edge, None) if node.newer else postings.dated(None, edge)
        case And():
            return _match_all(node.parts, postings)
        case Or():
            return set[int]().union(*(match(part, postings) for part in node.parts))
        case Not():
            return postings.all() - match(node.part, postings)
    assert_never(node)


def _match_all(parts: Collection[QueryNode], postings: Postings) -> Set[int]:
    found: Set[int] | None = None
    for part in parts:
        if isinstance(part, Not):
            continue
        these = match(part, postings)
        found = these if found is None else found & these
        if not found:
            return found
    found = postings.all() if found is None else found
    for part in parts:
        if isinstance(part, Not):
            found = found - match(part.part, postings)
    return found


def _match_terms(field: str, term: str, postings: Postings, *, is_prefix: bool) -> Set[int]:
    if not is_prefix:
        return postings.documents(field, term)
    return set[int]().union(*(postings.documents(field, each) for each in postings.expand(field, term)))


def _match_words(words: Words, postings: Postings) -> Set[int]:
    """The documents in which the terms are at consecutive positions."""
    last = len(words.terms) - 1
    choices = [
        tuple(postings.expand(words.field, term)) if words.prefix and index == last else (term,)
        for index, term in enumerate(words.terms)
    ]
    found: Set[int] | None = None
    for terms in choices:
        these = set[int]().union(*(postings.documents(words.field, term) for term in terms))
        found = these if found is None else found & these
        if not found:
            return set()
    assert found is not None  # noqa: S101 - there is at least one term
    return found if last == 0 else _in_sequence(words.field, choices, found, postings)


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
        case And(parts=parts):
            return And(parts=tuple(widened(part, may_match, is_wanted=is_wanted) for part in parts))
        case Or(parts=parts):
            return Or(parts=tuple(widened(part, may_match, is_wanted=is_wanted) for part in parts))
        case Not(part=part):
            return Not(part=widened(part, may_match, is_wanted=not is_wanted))
        case Dates() | Ago():
            return node
    assert_never(node)
