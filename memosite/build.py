"""The pipeline on one screen: read, plan, make what is stale, write (see ARCHITECTURE.md).

load_config ─► as it was? ─► read_archive ─► plan ─► make_site ─► prune ─► BuildReport
"""

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

from memosite import __version__
from memosite.cache import open_cache
from memosite.config import Config, check_output
from memosite.errors import BusyError
from memosite.findings import Severity
from memosite.inputs import Inputs, compare_inputs
from memosite.ledger import LEDGER_PATH, Ledger, read_ledger
from memosite.making import NOBODY, Audience, Maker, make_site
from memosite.manifest import Seal
from memosite.memory import STATUS_PATH, Memory
from memosite.model import Archive, SourceInfo
from memosite.output import FileState, OutputFolder
from memosite.page_parts import Site
from memosite.plan import Context, FeedRules, SavedSearch, Unit, Written, plan
from memosite.plan.traced import Digests, common_values
from memosite.previous import known_ledger, previous_folder
from memosite.program import program_digest
from memosite.progress import Progress, silent
from memosite.read import read_archive
from memosite.resolve import Rules
from memosite.shelf import Shelf
from memosite.sources.opening import open_sources
from memosite.theme import Theme, load_theme, theme_folders
from memosite.workers import Run

Clock = Callable[[], dt.datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What a build read and did. `kinds` counts artifacts, `findings` those of each severity."""

    kinds: Mapping[str, int]
    sources: int
    findings: Mapping[str, int]
    written: int
    unchanged: int
    removed: int
    collisions: tuple[str, ...]
    seconds: float


def build(
    config: Config,
    *,
    clock: Clock,
    jobs: int = 1,
    use_network: bool = True,
    previous: str | None = None,
    run_elsewhere: Run | None = None,
    progress: Progress = silent,
    audience: Audience = NOBODY,
    memory: Memory | None = None,
) -> BuildReport:
    """Build the whole site. Raises `MemositeError` for what the environment gets wrong, never for content.

    Configuration, theme, output folder and ledger are checked before anything is written. Units are made by `jobs`
    processes; their number makes no difference to what is written. Without `use_network` remotes are taken from the
    cache, if they are there. `previous` is a published site, a folder or an address, to go on from. With
    `run_elsewhere` that renders what is planned here. `progress` is told of each step, and may raise to stop between
    two of them; the `audience` is told what of the site is new and there. Who builds again gives a `memory`, and writes
    it down himself when there is time.
    """
    with nullcontext(memory) if memory else Memory(writes_at_once=True) as kept:
        return _build(
            config, kept, clock=clock, jobs=jobs, use_network=use_network, previous=previous,
            run_elsewhere=run_elsewhere, progress=progress, audience=audience,
        )  # fmt: skip


def _build(
    config: Config,
    memory: Memory,
    *,
    clock: Clock,
    jobs: int,
    use_network: bool,
    previous: str | None,
    run_elsewhere: Run | None,
    progress: Progress,
    audience: Audience,
) -> BuildReport:
    started = clock()
    theme = load_theme(config.theme)
    check_output(config)
    output = OutputFolder(config.output, previous=previous_folder(previous))
    output.check()
    ledger_state = output.state(LEDGER_PATH)
    memory.ledger = ledger = known_ledger(config.output, previous, memory.ledger)
    cache = open_cache(config.cache)
    memory.open(cache, config.output)
    is_ours = memory.is_ours(output)
    seal = memory.seal if is_ours and previous is None else Seal()
    with open_sources(config, use_network=use_network) as opened:
        themes = theme_folders(config.theme)
        commits = ((info.name, info.commit) for info in opened.infos)
        loaded = (theme.digest, *opened.findings, *commits)
        inputs = compare_inputs(config, seal.inputs, also=themes, opened=loaded, with_ledger=False)
        if inputs.is_same and not memory.is_thorough and memory.is_whole(output):
            return _as_it_was(seal, output, memory, started=started, clock=clock)
        archive, ledger = read_archive(
            opened.sources, rules_of(config, opened.infos), ledger, memory.shelf, cache=cache, parsed=memory.parsed,
            recall=memory.recall, looks=inputs.looks, jobs=jobs, progress=progress,
        )  # fmt: skip
    memory.note_parsed()
    progress("plan", 0, 0)
    context = context_of(config, archive, memory.shelf)
    units = (static_unit(theme), *plan(context, ledger, saved_searches(config, archive, memory.shelf)))
    output.open()
    try:
        _check_ledger(output, ledger_state)
        is_ours = memory.is_ours(output)
        maker = _maker(context, theme, memory, output=output)
        made = make_site(units, maker, jobs=jobs, progress=progress, run_elsewhere=run_elsewhere, audience=audience)
        progress("finish", 0, 0)
        finished = clock()
        told = status(archive, finished)
        status_state = output.write(STATUS_PATH, _status_bytes(told))
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


def _as_it_was(seal: Seal, output: OutputFolder, memory: Memory, *, started: dt.datetime, clock: Clock) -> BuildReport:
    """What is built of the same, and lies there as it was left, is current: only `status.json` tells a new time."""
    output.open()
    try:
        finished = clock()
        is_ours = memory.is_ours(output)
        state = output.write(STATUS_PATH, _status_bytes({**seal.status, "built": _utc(finished)}))
        if is_ours:
            memory.note_status(state)
    finally:
        output.leave()
        output.unlock()
    seconds = (finished - started).total_seconds()
    return BuildReport(
        kinds=seal.kinds,
        sources=seal.sources,
        findings=seal.findings,
        written=output.written,
        unchanged=seal.files,
        removed=0,
        collisions=seal.collisions,
        seconds=seconds,
    )


def _seal(inputs: Inputs, report: BuildReport, told: Mapping[str, object]) -> Seal:
    return Seal(
        inputs=inputs.digest,
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
        "built": _utc(now),
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


def _status_bytes(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _utc(now: dt.datetime) -> str:
    return now.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


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
    if not config.feeds.searches:
        return ()
    from memosite.search.command import open_search, read_query  # noqa: PLC0415 - few builds need Whoosh

    with open_search(archive, shelf, config, say=lambda _: None) as search:
        return tuple(
            SavedSearch(name=name, query=query, found=search.refs(read_query(query)))
            for name, query in config.feeds.searches.items()
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
        feeds=FeedRules(
            window=config.feeds.window,
            days=config.feeds.days,
            ttl=config.feeds.ttl,
            full_content=config.feeds.full_content,
            is_weekly=config.feeds.digest == "weekly",
        ),
    )
