"""The pipeline on one screen: read, plan, render, write (see ARCHITECTURE.md).

load_config ─► read_archive ─► plan ─► render ─► write ─► BuildReport
"""

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from memosite import __version__
from memosite.cache import open_cache
from memosite.config import Config, check_output
from memosite.feeds import FeedFile
from memosite.findings import Severity
from memosite.ledger import Ledger, read_ledger
from memosite.model import Archive, SourceInfo
from memosite.output import OutputFolder
from memosite.page_parts import Site
from memosite.pages import Page
from memosite.plan import Context, FeedRules, Planned, Stored, plan
from memosite.read import read_archive
from memosite.render import Renderer
from memosite.resolve import Rules
from memosite.shelf import Shelf
from memosite.sources.folder import FolderSource
from memosite.sources.git import holding_repo
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


def build(config: Config, *, clock: Clock, jobs: int = 1) -> BuildReport:
    """Build the whole site. Raises `MemositeError` for what the environment gets wrong, never for content.

    Configuration, theme, output folder and ledger are checked before anything is written. Pages are rendered by
    `jobs` processes; their number makes no difference to what is written.
    """
    started = clock()
    theme = load_theme(config.theme)
    check_output(config)
    output = OutputFolder(config.output)
    output.check()
    ledger = read_ledger(config.output)
    with Shelf() as shelf:
        archive, ledger = read_archive(
            folder_sources(config), rules_of(config), ledger, shelf, cache=open_cache(config.cache)
        )
        context = context_of(config, archive, shelf)
        renderer = Renderer(theme, shelf.text)
        output.open()
        try:
            pages = _write_files(plan(context, ledger), output, shelf)
            for path, data in run(partial(_render, renderer), pages, jobs=jobs):
                output.write(path, data)
            write_static(theme, output)
            finished = clock()
            output.write(STATUS_PATH, status(archive, finished))
            output.close()
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


def _write_files(planned: Iterable[Planned], output: OutputFolder, shelf: Shelf) -> Iterator[Page | FeedFile]:
    """Write what needs no rendering, originals from the shelf and bytes as they are, and pass the pages on."""
    for one in planned:
        if isinstance(one, Page | FeedFile):
            yield one
        elif isinstance(one, Stored):
            output.write(one.path, shelf.get(one.sha256))
        else:
            output.write(one.path, one.data)


def _render(renderer: Renderer, one: Page | FeedFile) -> tuple[str, bytes]:
    return one.path, renderer.render_feed(one) if isinstance(one, FeedFile) else renderer.render(one)


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
            }
            for source in archive.sources
        ],
    }
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def load_archive(config: Config, shelf: Shelf) -> tuple[Archive, Ledger]:
    """The archive of a site, with the ids that its published site gave; nothing is written."""
    ledger = read_ledger(config.output)
    cache = open_cache(config.cache) if config.cache.is_dir() else None  # who only reads leaves no folder behind
    return read_archive(folder_sources(config), rules_of(config), ledger, shelf, cache=cache)


def folder_sources(config: Config) -> tuple[FolderSource, ...]:
    """The configuration's sources as folders to read, each without the others, the output and the cache."""
    roots = [source.root for source in config.sources]
    return tuple(
        FolderSource(
            name=source.name,
            root=source.root,
            include=source.include,
            exclude=source.exclude,
            documents=config.documents,
            holding=holding_repo(source.root, site=config.site, enclosing=config.history == "enclosing"),
            holes=tuple(hole for hole in (*roots, config.output, config.cache) if source.root in hole.parents),
        )
        for source in config.sources
    )


def rules_of(config: Config) -> Rules:
    """What the configuration says about resolving."""
    return Rules(
        sources=tuple(
            SourceInfo(name=source.name, web=source.web, include=source.include) for source in config.sources
        ),
        aliases=config.aliases,
        people=config.people,
        closed=config.closed,
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
