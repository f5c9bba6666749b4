"""Plans the whole site of a configuration: the context of all pages, and every unit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memosite import __version__
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive
from memosite.archive.seals import SealLog
from memosite.config.contract import Contract
from memosite.config.schema import Config
from memosite.pages.parts import Site
from memosite.plan import Context, SavedSearch, Unit, Written, plan
from memosite.plan.search import BLOCK
from memosite.plan.shared_passages import KnownPassages, find_shared_links
from memosite.store.shelf import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePlan:
    """The units of a site, in the order in which they are written, and the context in which they are planned."""

    context: Context
    units: tuple[Unit, ...]

    @property
    def last_block(self) -> str:
        """The name of the search block to which the next artifact is added, unless it is full; "" if there is none."""
        names = (unit.name.removeprefix(BLOCK) for unit in reversed(self.units) if unit.name.startswith(BLOCK))
        return next(names, "")


def plan_site(
    config: Config,
    archive: Archive,
    ledger: Ledger,
    shelf: Shelf,
    *,
    static: Mapping[str, bytes],
    contract: Contract,
    seals: SealLog,
    known: KnownPassages | None = None,
    jobs: int = 1,
) -> SitePlan:
    """Everything the site consists of, `status.json` apart, with the `static` files of its theme by name.

    `ledger` is the one that holds this archive, `seals` the sealed log as it was published last. `jobs` processes look
    for what texts share and for what saved searches find. `known` are the passages that texts shared in the last
    build, and are updated.
    """
    shared = find_shared_links(archive, shelf.text, known or KnownPassages(), jobs=jobs)
    context = replace(context_of(config, archive, shelf), shared=shared)
    saved = _saved_searches(config, archive, shelf, jobs)
    units = (_static_unit(static), *plan(context, ledger, saved, contract=contract, seals=seals))
    return SitePlan(context=context, units=units)


def _static_unit(static: Mapping[str, bytes]) -> Unit:
    """The theme's static files, below `static/`."""
    files = [Written(path=f"static/{name}", data=static[name]) for name in sorted(static)]
    return Unit(name="static", make=lambda _: files, is_traced=False)


def _saved_searches(config: Config, archive: Archive, shelf: Shelf, jobs: int) -> tuple[SavedSearch, ...]:
    """What the queries of the configuration find, in the search index as it is and by a scan of the rest."""
    if not config.searches:
        return ()
    from memosite.search.answer import read_query  # noqa: PLC0415 - few builds need Whoosh
    from memosite.search.command import searchable  # noqa: PLC0415 - as above

    with searchable(archive, shelf, config, jobs=jobs).search() as search:
        found = search.refs([read_query(query).node for query in config.searches.values()])
    return tuple(
        SavedSearch(name=name, query=query, found=refs)
        for (name, query), refs in zip(config.searches.items(), found, strict=True)
    )


def context_of(config: Config, archive: Archive, shelf: Shelf) -> Context:
    """The context that pages are planned with."""
    return Context(
        archive=archive,
        site=Site(
            title=config.title,
            language=config.language,
            base_url=config.base_url,
            generator=f"memosite {__version__}",
            has_records=any(artifact.kind == "record" for artifact in archive.artifacts.values()),
            is_lean=config.lean,
        ),
        text_of=shelf.text,
        archive_id=config.archive_id,
        authority=config.authority,
        feeds=config.feeds,
    )
