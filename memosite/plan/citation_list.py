"""Plans the page of all citations that are made of the archive: those that do not hold come first (SPEC 7)."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from memosite.archive.citations import CitationState
from memosite.archive.urls import CITATIONS, part_page
from memosite.facts.phrases import phrase
from memosite.pages.citations import CitationsPage
from memosite.plan.cited_by import citation_row
from memosite.plan.context import Context
from memosite.plan.head import page_head
from memosite.plan.pagination import in_parts, part_links

_STATES: tuple[CitationState, ...] = get_args(CitationState)


def plan_citations(context: Context) -> Iterator[CitationsPage]:
    """The page of all citations, 500 a part."""
    citations = sorted(context.archive.citations, key=lambda one: _STATES.index(one.state))
    counted = Counter(one.state for one in citations)
    chunks = in_parts(citations)
    for number, chunk in enumerate(chunks, 1):
        start = CITATIONS if number == 1 else part_page(CITATIONS, number)
        yield CitationsPage(
            **page_head(context, start, title=phrase("Citations"), section="health"),
            parts=part_links(start, CITATIONS, len(chunks), number, first=CITATIONS) if len(chunks) > 1 else (),
            counts=tuple((state, counted[state]) for state in _STATES if counted[state]),
            rows=tuple(citation_row(context, start, one) for one in chunk),
        )
