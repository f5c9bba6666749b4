"""The pipeline on one screen: read, plan, make what is stale, write (see ARCHITECTURE.md).

open_sources ─► read ─► Archive ─► plan ─► make_site ─► prune ─► BuildReport
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping

from memosite import __version__
from memosite.archive.ledger import LEDGER_PATH, Ledger, read_ledger
from memosite.archive.model import Archive, SourceInfo
from memosite.config.loading import Config
from memosite.facts.errors import BusyError
from memosite.facts.findings import Severity
from memosite.pages.parts import Site
from memosite.plan import Context, SavedSearch, Unit, Written, plan
from memosite.plan.traced import Digests, common_values
from memosite.reading.opening import Opened, open_sources
from memosite.reading.previous import known_ledger
from memosite.reading.reader import read_archive
from memosite.remake.making import Maker, make_site
from memosite.remake.manifest import Seal
from memosite.remake.memory import STATUS_PATH, Memory
from memosite.remake.order import BuildReport, Order, in_utc, status_bytes
from memosite.render.theme import Theme
from memosite.resolve import Rules
from memosite.sources.look import Look
from memosite.store.cache import open_cache
from memosite.store.output import FileState, OutputFolder
from memosite.store.program import program_digest
from memosite.store.shelf import Shelf


def read(order: Order, opened: Opened, *, looks: dict[str, Look]) -> tuple[Archive, Ledger]:
    """The archive of the sources, and the ledger with everything new in it; `looks` are what was seen of folders."""
    config, memory = order.config, order.memory
    memory.ledger = known_ledger(config.output, order.previous, memory.ledger)
    archive, ledger = read_archive(
        opened.sources, rules_of(config, opened.infos), memory.ledger, memory.shelf, cache=memory.cache,
        parsed=memory.parsed, recall=memory.recall, looks=looks, jobs=order.jobs, progress=order.progress,
    )  # fmt: skip
    memory.note_parsed()
    return archive, ledger


def make(
    order: Order,
    archive: Archive,
    ledger: Ledger,
    *,
    theme: Theme,
    output: OutputFolder,
    ledger_state: FileState | None,
    inputs: str,
    started: dt.datetime,
) -> BuildReport:
    """Plan the site, make what is stale of it, remove what is gone, and remember what was made of what.

    `ledger_state` is how the ledger lay there when it was read, `inputs` the digest of all that was read.
    """
    memory, progress = order.memory, order.progress
    progress("plan", 0, 0)
    context = context_of(order.config, archive, memory.shelf)
    units = (static_unit(theme), *plan(context, ledger, saved_searches(order.config, archive, memory.shelf)))
    output.open()
    try:
        _check_ledger(output, ledger_state)
        is_ours = memory.is_ours(output)
        maker = _maker(context, theme, memory, output=output)
        made = make_site(
            units, maker, jobs=order.jobs, progress=progress, run_elsewhere=order.run_elsewhere, audience=order.audience
        )
        progress("finish", 0, 0)
        finished = order.clock()
        told = status(archive, finished)
        status_state = output.write(STATUS_PATH, status_bytes(told))
        output.prune(made.former if maker.last.units and is_ours else None)
        report = _report(archive, output, seconds=(finished - started).total_seconds())
        memory.note(made.manifest, maker.digests, _seal(inputs, report, told), status_state)
        output.leave()
    finally:
        output.unlock()
    return report


def _maker(context: Context, theme: Theme, memory: Memory, *, output: OutputFolder) -> Maker:
    digests = Digests(context, before=memory.digests)
    return Maker(
        context=context,
        digests=digests,
        renderer=memory.renderer(theme),
        read_bytes=memory.shelf.get,
        last=memory.manifest,
        common=common_digests(context, theme, digests),
        output=output,
        is_there=memory.will_build(output),
    )


def _report(archive: Archive, output: OutputFolder, *, seconds: float) -> BuildReport:
    return BuildReport(
        kinds=Counter(artifact.kind for artifact in archive.artifacts.values()),
        sources=len(archive.sources),
        findings=Counter(str(finding.severity) for finding in archive.findings),
        written=output.written,
        unchanged=output.unchanged,
        removed=output.removed,
        collisions=tuple(output.collisions),
        seconds=seconds,
    )


def _check_ledger(output: OutputFolder, state: FileState | None) -> None:
    """Raise `BusyError` if the ledger is not the one that was read: what another build noted in it would be lost."""
    if output.state(LEDGER_PATH) != state:
        raise BusyError(f"{output.root}: another build wrote there meanwhile; run the command again")


def _seal(inputs: str, report: BuildReport, told: Mapping[str, object]) -> Seal:
    return Seal(
        inputs=inputs,
        kinds=report.kinds,
        sources=report.sources,
        findings=report.findings,
        collisions=report.collisions,
        status=told,
        files=report.written + report.unchanged,
    )


def common_digests(context: Context, theme: Theme, digests: Digests) -> dict[str, str]:
    """What every unit is made of besides what it reads, by what it is."""
    return {"program": program_digest(), "theme": theme.digest, "site": digests.of_value(common_values(context))}


def static_unit(theme: Theme) -> Unit:
    """The theme's static files, below `static/`."""
    files = [Written(path=f"static/{name}", data=theme.static[name]) for name in sorted(theme.static)]
    return Unit(name="static", make=lambda _: files, is_traced=False)


def status(archive: Archive, now: dt.datetime) -> dict[str, object]:
    """What `status.json` tells, the one file with a clock (SPEC 4)."""
    severities = Counter(finding.severity for finding in archive.findings)
    return {
        "v": 1,
        "built": in_utc(now),
        "outcome": "ok",
        "generator": f"memosite {__version__}",
        "artifacts": len(archive.artifacts),
        "findings": {str(severity): severities[severity] for severity in Severity},
        "sources": [
            {
                "name": source.name,
                "commit": source.commit or None,
                "date": source.committed.utc if source.committed else None,
                "last_fetched": source.last_fetched.utc if source.last_fetched else None,
            }
            for source in archive.sources
        ],
    }


def load_archive(config: Config, shelf: Shelf, ledger: Ledger | None = None) -> tuple[Archive, Ledger]:
    """The archive of a site, with the ids that its published site gave, or this ledger; nothing is written."""
    ledger = read_ledger(config.output) if ledger is None else ledger
    with open_sources(config) as opened:
        cache = open_cache(config.cache) if config.cache.is_dir() else None  # who only reads leaves no folder behind
        return read_archive(opened.sources, rules_of(config, opened.infos), ledger, shelf, cache=cache)


def rules_of(config: Config, sources: tuple[SourceInfo, ...]) -> Rules:
    """What the configuration says about resolving what is read from these sources."""
    return Rules(sources=sources, aliases=config.aliases, people=config.people, closed=config.closed)


def saved_searches(config: Config, archive: Archive, shelf: Shelf) -> tuple[SavedSearch, ...]:
    """What the queries of the configuration find; the search index is opened only if there are any."""
    if not config.searches:
        return ()
    from memosite.search.command import open_search, read_query  # noqa: PLC0415 - few builds need Whoosh

    with open_search(archive, shelf, config, say=lambda _: None) as search:
        return tuple(
            SavedSearch(name=name, query=query, found=search.refs(read_query(query)))
            for name, query in config.searches.items()
        )


def context_of(config: Config, archive: Archive, shelf: Shelf) -> Context:
    """What pages are planned with."""
    return Context(
        archive=archive,
        site=Site(
            title=config.title,
            language=config.language,
            base_url=config.base_url,
            generator=f"memosite {__version__}",
            has_records=any(artifact.kind == "record" for artifact in archive.artifacts.values()),
        ),
        read_text=shelf.text,
        archive_id=config.archive_id,
        authority=config.authority,
        feeds=config.feeds,
    )
