"""Files of the site that need no rendering, and saved searches, which the build hands to planning."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memosite.archive.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file of the site whose bytes are known."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A file of the site whose bytes lie on the shelf: an original."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """A query of the configuration, and what it finds."""

    name: str
    query: str
    found: frozenset[tuple[str, str]]


def published_searches(searches: Iterable[SavedSearch]) -> Iterator[tuple[str, str]]:
    """The pages of saved searches, as the ledger knows them."""
    for saved in searches:
        yield "saved", saved.name


def former_searches(ledger: Ledger, searches: Iterable[SavedSearch]) -> tuple[str, ...]:
    """The names of searches that had a page and are not saved any more; case makes no other folder everywhere."""
    now = {saved.name.casefold() for saved in searches}
    return tuple(name for kind, name in ledger.others if kind == "saved" and name.casefold() not in now)
