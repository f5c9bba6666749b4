"""Plans the pages of saved searches: queries of the configuration, which are answered before planning."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memosite.archive.ledger import Ledger
from memosite.archive.urls import saved_page
from memosite.facts.phrases import phrase
from memosite.pages.models import GonePage, ListPage
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.head import page_head
from memosite.plan.pagination import part_count, part_links, plan_parts
from memosite.plan.removed import tombstone
from memosite.plan.sections import section


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """A query of the configuration, and what it finds."""

    name: str
    query: str
    found: frozenset[tuple[str, str]]


def plan_saved_searches(
    context: Context, ledger: Ledger, searches: Sequence[SavedSearch]
) -> Iterator[ListPage | GonePage]:
    """The page of each search: everything that it finds, newest first, in parts where the list is long.

    Searches that are not saved any more get tombstones.
    """
    for saved in searches:
        yield from _plan_saved(context, saved)
    for name in former_searches(ledger, searches):
        yield tombstone(context, saved_page(name), name)


def _plan_saved(context: Context, saved: SavedSearch) -> Iterator[ListPage]:
    here = saved_page(saved.name)
    found = [artifact for ref, artifact in context.archive.artifacts.items() if ref in saved.found]
    yield ListPage(
        **page_head(context, here, title=saved.name, section="search"),
        feeds=(Reference(label=saved.name, href="feed.xml"),),
        parts=part_links(here, here, part_count(found), None),
        intro=phrase("Results of: {query}", query=saved.query),
        sections=(section(context, here, phrase("Results"), found, anchor="found", empty=phrase("No results.")),),
    )
    yield from plan_parts(context, here, saved.name, found, section_name="search")


def published_searches(searches: Iterable[SavedSearch]) -> Iterator[tuple[str, str]]:
    """The pages of saved searches, as the ledger knows them."""
    for saved in searches:
        yield "saved", saved.name


def former_searches(ledger: Ledger, searches: Iterable[SavedSearch]) -> tuple[str, ...]:
    """The names of searches that had a page and are not saved any more; case is ignored, as on some disks."""
    now = {saved.name.casefold() for saved in searches}
    return tuple(name for kind, name in ledger.others if kind == "saved" and name.casefold() not in now)
