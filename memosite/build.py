"""The pipeline on one screen: read, plan, render, write (see ARCHITECTURE.md).

load_config ─► read_archive ─► plan ─► render ─► write ─► BuildReport
"""

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memosite import __version__
from memosite.cache import open_cache
from memosite.config import Config, check_output
from memosite.findings import Severity
from memosite.ledger import Ledger, read_ledger
from memosite.making import Maker
from memosite.manifest import Made, Manifest, Output, manifest_file, read_manifest, write_manifest
from memosite.model import Archive, SourceInfo
from memosite.output import OutputFolder
from memosite.page_parts import Site
from memosite.plan import Context, FeedRules, SavedSearch, Unit, plan
from memosite.plan.traced import Digests, common_values
from memosite.previous import known_ledger, previous_folder
from memosite.program import program_digest
from memosite.progress import Progress, silent
from memosite.read import read_archive
from memosite.render import Renderer
from memosite.resolve import Rules
from memosite.shelf import Shelf
from memosite.sources.opening import open_sources
from memosite.stale import decide
from memosite.theme import Theme, load_theme
from memosite.workers import run

STATUS_PATH = "status.json"
Clock = Callable[[], dt.datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What a build did."""

    archive: Archive
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
    progress: Progress = silent,
) -> BuildReport:
    """Build the whole site. Raises `MemositeError` for what the environment gets wrong, never for content.

    Configuration, theme, output folder and ledger are checked before anything is written. Units are made by `jobs`
    processes; their number makes no difference to what is written. Without `use_network` remotes are taken from the
    cache, if they are there. `previous` is a published site, a folder or an address, to go on from. `progress` is
    told of each step, and may raise to stop between two of them.
    """
    started = clock()
    theme = load_theme(config.theme)
    check_output(config)
    output = OutputFolder(config.output, previous=previous_folder(previous))
    output.check()
    ledger = known_ledger(config.output, previous)
    cache = open_cache(config.cache)
    with Shelf() as shelf:
        with open_sources(config, use_network=use_network) as opened:
            rules = rules_of(config, opened.infos)
            archive, ledger = read_archive(
                opened.sources, rules, ledger, shelf, cache=cache, jobs=jobs, progress=progress
            )
        progress("plan", 0, 0)
        context = context_of(config, archive, shelf)
        units = tuple(plan(context, ledger, saved_searches(config, archive, shelf)))
        last = read_manifest(manifest_file(cache, config.output)) if cache else Manifest()
        output.open()
        try:
            made = _make(
                units, last=last, context=context, theme=theme, shelf=shelf, output=output, jobs=jobs, progress=progress
            )
            progress("finish", 0, 0)
            write_static(theme, output)
            finished = clock()
            output.write(STATUS_PATH, status(archive, finished))
            output.close(last.paths() if last.units else None)
            if cache:
                write_manifest(manifest_file(cache, config.output), made)
        finally:
            output.unlock()
    return BuildReport(
        archive=archive,
        written=output.written,
        unchanged=output.unchanged,
        removed=output.removed,
        collisions=tuple(output.collisions),
        seconds=(finished - started).total_seconds(),
    )


def _make(
    units: Sequence[Unit],
    *,
    last: Manifest,
    context: Context,
    theme: Theme,
    shelf: Shelf,
    output: OutputFolder,
    jobs: int,
    progress: Progress,
) -> Manifest:
    """Make what is stale, write it, and note what was made of what."""
    digests = Digests(context)
    common = {"program": program_digest(), "theme": theme.digest, "site": digests.of_value(common_values(context))}

    def is_there(one: Output) -> bool:
        return one.state is not None and output.state(one.path) == one.state

    progress("decide", 0, 0)
    reasons = decide(units, last, common=common, digests=digests, is_there=output.is_as_left)
    maker = Maker(
        context=context,
        digests=digests,
        renderer=Renderer(theme, shelf.text),
        read_bytes=shelf.get,
        known=last.units.get if last.common == common else lambda _: None,
        is_there=output.is_as_left,
    )
    stale = [unit for unit, why in zip(units, reasons, strict=True) if why]
    weights = [unit.weight for unit in stale]
    results = run(lambda place: maker.make(stale[place]), range(len(stale)), jobs=jobs, weight=weights.__getitem__)
    noted: dict[str, Made] = {}
    done = 0
    for unit, why in zip(units, reasons, strict=True):
        made = last.units.get(unit.name)
        states = {one.path: one.state for one in made.outputs} if made else {}
        if why or made is None:
            progress("make", done, len(stale))
            done += 1
            result = next(results)
            outputs = tuple(
                Output(
                    path=path,
                    fingerprint=fingerprint,
                    state=output.keep(path, states[path]) if data is None else output.write(path, data),
                )
                for path, fingerprint, data in result.outputs
            )
            noted[unit.name] = Made(reads=result.reads, outputs=outputs)
        else:
            kept = (replace(one, state=output.keep(one.path, one.state)) for one in made.outputs)
            noted[unit.name] = Made(reads=made.reads, outputs=tuple(kept))
    next(results, None)  # there is no more, and so the processes end
    return Manifest(common=common, units=noted)


def common_digests(context: Context, theme: Theme, digests: Digests) -> dict[str, str]:
    """What every unit is made of besides what it reads, by what it is."""
    return {"program": program_digest(), "theme": theme.digest, "site": digests.of_value(common_values(context))}


def write_static(theme: Theme, output: OutputFolder) -> None:
    """Write the theme's static files below `static/`."""
    for name in sorted(theme.static):
        output.write(f"static/{name}", theme.static[name])


def status(archive: Archive, now: dt.datetime) -> bytes:
    """`status.json`: the one file with a clock (SPEC 4)."""
    severities = Counter(finding.severity for finding in archive.findings)
    value = {
        "v": 1,
        "built": now.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
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
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


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
