"""Page model of the lists and filters that a page leads to."""

from dataclasses import dataclass

from memosite.pages.parts import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A list or filter: a link to a page of its own, and how many it has; the one that is shown is no link."""

    page: Reference
    total: int | None
