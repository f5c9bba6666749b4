"""The page of all citations of an archive."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.archive.citations import CitationState
from memosite.pages.cited import CitedRow
from memosite.pages.models import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationsPage(Page):
    """All citations of the archive, those that do not hold first."""

    template: ClassVar[str] = "citations.html"

    counts: tuple[tuple[CitationState, int], ...]
    rows: tuple[CitedRow, ...]
