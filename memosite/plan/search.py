"""Plans search: its page, the list of blocks, and the blocks themselves, each as a closed model."""

from collections.abc import Iterator, Sequence

from memosite.archive.ledger import Ledger
from memosite.archive.urls import SEARCH, index_file, relative, saved_page
from memosite.facts.parsed import Ref
from memosite.pages.models import GonePage, ListPage, SearchPage
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.dates import by_arrival
from memosite.plan.files import SavedSearch, Written, former_searches
from memosite.plan.home import gone
from memosite.plan.lists import part_count, plan_parts, section
from memosite.plan.parts import part_links
from memosite.search.blocks import Block, cut_blocks, list_blocks
from memosite.search.documents import describe
from memosite.search_language.analyzer import Analyzer


def plan_search(
    context: Context, searches: Sequence[SavedSearch], blocks: Sequence[str]
) -> Iterator[SearchPage | ListPage | Written]:
    """The search page, saved searches, and the file that names the blocks."""
    yield SearchPage(
        site=context.site,
        path=index_file(SEARCH),
        root="../",
        title="Search",
        section="search",
        canonical=context.canonical(SEARCH),
        saved=tuple(
            Reference(label=saved.name, href=relative(SEARCH, saved_page(saved.name)), title=saved.query)
            for saved in searches
        ),
    )
    for saved in searches:
        yield from _plan_saved(context, saved)
    path, data = list_blocks(blocks)
    yield Written(path=path, data=data)


def plan_former_searches(context: Context, ledger: Ledger, searches: Sequence[SavedSearch]) -> Iterator[GonePage]:
    """Where searches were that are not saved any more."""
    for name in former_searches(ledger, searches):
        yield gone(context, saved_page(name), name)


def _plan_saved(context: Context, saved: SavedSearch) -> Iterator[ListPage]:
    """The page of a saved search: everything that it finds, newest first, in parts where that is much."""
    here = saved_page(saved.name)
    found = [artifact for ref, artifact in context.archive.artifacts.items() if ref in saved.found]
    yield ListPage(
        site=context.site,
        path=index_file(here),
        root="../../",
        title=saved.name,
        section="search",
        canonical=context.canonical(here),
        feeds=(Reference(label=saved.name, href="feed.xml"),),
        parts=part_links(here, here, part_count(found), None),
        intro=f"What is found by: {saved.query}",
        sections=(section(context, here, "Found", found, empty="Nothing is found."),),
    )
    yield from plan_parts(context, here, saved.name, found, section_name="search")


def block_members(context: Context) -> list[tuple[str, tuple[Ref, ...]]]:
    """The name of each block, and its artifacts."""
    blocks = cut_blocks(context.archive.artifacts.values(), by_arrival)
    return [(name, tuple(artifact.ref for artifact in members)) for name, members in blocks]


def plan_block(context: Context, name: str, members: Sequence[Ref]) -> Iterator[Block]:
    """A block: what is searched of its artifacts."""
    analyzer, artifacts = Analyzer(), context.archive.artifacts
    yield Block(name=name, cards=tuple(describe(context.archive, artifacts[ref], analyzer) for ref in members))
