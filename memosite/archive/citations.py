"""Citations that are made of an archive, with what was found of each (SPEC 7, citations)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memosite.facts.findings import Location
from memosite.facts.parsed import Ref

CitationState = Literal["broken", "not judged", "holds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCitation:
    """A citation that a text of the archive, or a manuscript, makes of the archive.

    `by` is the artifact that makes it, at the anchor `by_anchor` of its page; None for a manuscript. `to` is what is
    cited, None if that is not in the archive; `anchor` is where on its page. `written` is the reference as written.
    `said` is the verdict in words.
    """

    location: Location
    by: Ref | None
    by_anchor: str
    to: Ref | None
    anchor: str
    written: str
    quote: str
    state: CitationState
    said: str


def by_cited(citations: Iterable[MadeCitation]) -> dict[Ref, tuple[MadeCitation, ...]]:
    """The citations of each artifact that has any, in order of arrival of what makes them."""
    found: dict[Ref, list[MadeCitation]] = defaultdict(list)
    for one in citations:
        if one.to is not None:
            found[one.to].append(one)
    return {ref: tuple(some) for ref, some in found.items()}
