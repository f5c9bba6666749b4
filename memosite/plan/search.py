"""Plans search: its page, saved searches, the list of blocks, and the blocks themselves, each as a closed model."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from memosite.archive.ledger import Ledger
from memosite.archive.model import Artifact, Transcript
from memosite.archive.urls import SEARCH, relative, saved_page
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.facts.values import Value
from memosite.pages import ListPage, Page, Reference
from memosite.plan.context import Context, Unit, Written, traced_unit
from memosite.plan.dates import by_arrival
from memosite.plan.page import head_of, part_count, part_links, plan_parts, section
from memosite.plan.removed import GonePage, tombstone
from memosite.search.blocks import LOGS, SearchBlock, StateBlock, cut_blocks, list_blocks, make_block
from memosite.search.documents import describe
from memosite.search_language import Analyzer


class SearchPage(Page):
    """The search box, for what `static/search-page.js` shows."""

    template: ClassVar[str] = "search.html"

    saved: tuple[Reference, ...] = ()


# Plans the pages of saved searches: queries of the configuration, which are answered before planning.


class SavedSearch(Value):
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
        here = saved_page(saved.name)
        found = [artifact for ref, artifact in context.archive.artifacts.items() if ref in saved.found]
        yield ListPage(
            **head_of(context, here, title=saved.name, section="search"),
            feeds=(Reference(label=saved.name, href="feed.xml"),),
            parts=part_links(here, here, part_count(found), None),
            intro=phrase("Results of: {query}", query=saved.query),
            sections=(section(context, here, phrase("Results"), found, anchor="found", empty=phrase("No results.")),),
        )
        yield from plan_parts(context, here, saved.name, found, section_name="search")
    for name in former_searches(ledger, searches):
        yield tombstone(context, saved_page(name), name)


def former_searches(ledger: Ledger, searches: Iterable[SavedSearch]) -> tuple[str, ...]:
    """The names of searches that had a page and are not saved any more; case is ignored, as on some disks."""
    now = {saved.name.casefold() for saved in searches}
    return tuple(name for kind, name in ledger.others if kind == "saved" and name.casefold() not in now)


BLOCK = "block/"
"""What the name of a unit begins with that makes a block of this name."""


Members = tuple[str, tuple[Ref, ...]]
"""The name of a block, and its artifacts."""


def plan_search(
    context: Context, searches: Sequence[SavedSearch], blocks: Sequence[Members]
) -> Iterator[SearchPage | Written]:
    """The search page, with links to saved searches, and the file that names the blocks."""
    yield SearchPage(
        **head_of(context, SEARCH, title=phrase("Search"), section="search"),
        saved=tuple(
            Reference(label=saved.name, href=relative(SEARCH, saved_page(saved.name)), title=saved.query)
            for saved in searches
        ),
    )
    path, data = list_blocks([name for name, _ in blocks])
    yield Written(path=path, data=data)


def block_members(context: Context) -> list[Members]:
    """What each block holds."""
    logs: list[Artifact] = []
    others: list[Artifact] = []
    for artifact in context.archive.artifacts.values():
        (logs if isinstance(artifact, Transcript) and artifact.log else others).append(artifact)
    blocks = [*cut_blocks(others, by_arrival), *cut_blocks(logs, by_arrival, LOGS)]
    return [(name, tuple(artifact.ref for artifact in members)) for name, members in blocks]


def block_units(blocks: Iterable[Members]) -> Iterator[Unit]:
    """A unit for each block."""
    for name, members in blocks:
        unit, given_as = f"{BLOCK}{name}", "the list of items in it"
        yield traced_unit(unit, plan_block, name=name, members=members, given_as=given_as, weight=len(members))


def plan_block(context: Context, name: str, members: Sequence[Ref]) -> tuple[SearchBlock, StateBlock]:
    """A block: what is searched of its artifacts. Each part has its fingerprint: words outlive what becomes of them."""
    analyzer, artifacts = Analyzer(), context.archive.artifacts
    return make_block(name, (describe(context.archive, artifacts[ref], analyzer) for ref in members))
