"""Finds hints for a query without hits: similar words and values that are somewhere in the archive."""

import difflib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol

from memosite.search.match import KEYS
from memosite.search_language.syntax import KeyTerm, QueryNode, Words, leaves

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
    return min(near, key=lambda one: (-vocabulary.count(field, one), one), default=None)
