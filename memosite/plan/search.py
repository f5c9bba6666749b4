"""Plans search: its page, the list of blocks, and the blocks themselves, each as a closed model."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from memosite.archive.urls import SEARCH, relative, saved_page
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.pages.models import SearchPage
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.dates import by_arrival
from memosite.plan.files import Written
from memosite.plan.head import page_head
from memosite.plan.saved_searches import SavedSearch
from memosite.plan.units import Unit
from memosite.search.blocks import SearchBlock, cut_blocks, list_blocks
from memosite.search.documents import describe
from memosite.search_language.analyzer import Analyzer

BLOCK = "block/"
"""What the name of a unit begins with that makes a block of this name."""

Members = tuple[str, tuple[Ref, ...]]
"""The name of a block, and its artifacts."""


def plan_search(
    context: Context, searches: Sequence[SavedSearch], blocks: Sequence[Members]
) -> Iterator[SearchPage | Written]:
    """The search page, with links to saved searches, and the file that names the blocks."""
    yield SearchPage(
        **page_head(context, SEARCH, title=phrase("Search"), section="search"),
        saved=tuple(
            Reference(label=saved.name, href=relative(SEARCH, saved_page(saved.name)), title=saved.query)
            for saved in searches
        ),
    )
    path, data = list_blocks([name for name, _ in blocks])
    yield Written(path=path, data=data)


def block_members(context: Context) -> list[Members]:
    """What each block holds."""
    blocks = cut_blocks(context.archive.artifacts.values(), by_arrival)
    return [(name, tuple(artifact.ref for artifact in members)) for name, members in blocks]


def block_units(blocks: Iterable[Members]) -> Iterator[Unit]:
    """A unit for each block."""
    for name, members in blocks:
        make = partial(plan_block, name=name, members=members)
        yield Unit(
            name=f"{BLOCK}{name}", make=make, given=members, given_as="the list of items in it", weight=len(members)
        )


def plan_block(context: Context, name: str, members: Sequence[Ref]) -> Iterator[SearchBlock]:
    """A block: what is searched of its artifacts."""
    analyzer, artifacts = Analyzer(), context.archive.artifacts
    yield SearchBlock(name=name, cards=tuple(describe(context.archive, artifacts[ref], analyzer) for ref in members))
