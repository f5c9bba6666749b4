"""The rows of citations, as the page of all citations and the page of what is cited show them."""

from dataclasses import dataclass

from memosite.archive.citations import CitationState
from memosite.pages.parts import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedRow:
    """One citation: what makes it, at which place, and what it cites; the words, and whether they hold."""

    by: Reference
    to: Reference
    quote: str
    state: CitationState
    said: str
