"""Plans search: its page, the list of blocks, and the blocks themselves, each as a closed model."""

from collections.abc import Iterator

from memosite.pages import SearchPage
from memosite.plan.context import Context
from memosite.plan.files import Written
from memosite.search.analyzer import Analyzer
from memosite.search.blocks import Block, cut_blocks, list_blocks
from memosite.search.documents import describe
from memosite.urls import SEARCH, index_file


def plan_search(context: Context) -> Iterator[SearchPage | Written]:
    """The search page, and the file that names the blocks."""
    yield SearchPage(
        site=context.site,
        path=index_file(SEARCH),
        root="../",
        title="Search",
        section="search",
        canonical=context.canonical(SEARCH),
    )
    names = [name for name, _ in cut_blocks(context.archive.artifacts.values(), lambda artifact: artifact.arrival)]
    path, data = list_blocks(names)
    yield Written(path=path, data=data)


def plan_blocks(context: Context) -> Iterator[Block]:
    """The blocks, one at a time, so that memory holds the cards of one."""
    analyzer = Analyzer()
    artifacts = context.archive.artifacts.values()
    for name, members in cut_blocks(artifacts, lambda artifact: artifact.arrival):
        yield Block(name=name, cards=tuple(describe(context.archive, artifact, analyzer) for artifact in members))
