"""[I/O] `memosite build`, `serve` and `explain`: build a site, serve it, say what a file of it was made of."""

import argparse
import contextlib
import datetime as dt
import gc
import sys
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from memosite.build import build
from memosite.commands.arguments import Tell, hushed
from memosite.commands.places import configured, shown_path
from memosite.commands.report import check_of, fails, limited, plural, summary, withheld_lines
from memosite.config.loading import load_contract
from memosite.config.schema import Config
from memosite.facts.errors import ConfigError, MemositeError, StateError
from memosite.plan import plan_site
from memosite.plan.traced import Digests, TracedRead
from memosite.reading.archive import open_archive
from memosite.reading.published import known_seals
from memosite.remake.making import common_digests
from memosite.remake.manifest import Made, Manifest, manifest_file, read_manifest
from memosite.remake.memory import STATUS_PATH, Memory
from memosite.remake.report import BuildReport, Listener
from memosite.remake.stale import WHOLE, decide, shown_read
from memosite.render.theme import load_theme
from memosite.run.progress import Profile, show_if_possible, shown, silent
from memosite.run.workers import default_jobs
from memosite.store.cache import open_part
from memosite.store.output import OutputFolder

if TYPE_CHECKING:
    from memosite.run.workers import Run
    from memosite.serve import Changed, Rebuilt

# `memosite build`: builds a site, shows its progress, and sums up what it did.


def run_build(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Build the site, or each of several outputs; whether nothing failed or was withheld, and findings are fine."""
    are_fine = [_build(options, config, show, say) for config in _configs(options)]
    return all(are_fine)


def _configs(options: argparse.Namespace) -> list[Config]:
    """A configuration for each audience to build for: all that memosite.yml has an output for, unless one is named."""
    first = configured(options, output=options.output)
    if options.audience is not None or len(first.outputs) < 2:
        return [first]
    if options.previous is not None:
        raise ConfigError(
            f"--previous {options.previous}: expected --audience with it, since there are several outputs"
        )
    return [configured(options, output=options.output, audience=audience) for audience in first.outputs]


def _build(options: argparse.Namespace, config: Config, show: Tell, say: Tell) -> bool:
    """Build one output; whether nothing failed or was withheld for a secret, and findings are below what fails."""
    elsewhere = _elsewhere(options.cluster)
    with contextlib.nullcontext(silent) if options.quiet else shown() as told:
        profile = Profile(told)
        report = build(
            config,
            clock=now,
            jobs=_jobs(options.jobs),
            run_elsewhere=elsewhere,
            previous=options.previous,
            progress=profile,
        )
    if not options.quiet:
        show(sum_up(report, config, options))
    else:
        for line in withheld_lines(report.withheld, check_of(options, config)):
            say(f"memosite: {line}")
    if options.profile:
        show("\n".join(profile.lines()))
    return not report.failed and not report.withheld and not fails(report.findings, options.fail_on)


def now() -> dt.datetime:
    """The current time of this machine's clock."""
    return dt.datetime.now(dt.UTC)


def sum_up(report: BuildReport, config: Config, options: argparse.Namespace) -> str:
    """The summary of a build, with the path of the home page and the command that names every finding."""
    return summary(
        report,
        index=shown_path(config.output / "index.html"),
        check=check_of(options, config),
        audience=config.audience if config.outputs or config.audience != "internal" else "",
        is_seen=sys.stdout.isatty(),
    )


def _jobs(wanted: int | None) -> int:
    if wanted is not None and wanted < 1:
        raise ConfigError(f"--jobs must be 1 or more, not {wanted}")
    return wanted or default_jobs()


def _elsewhere(cluster: str | None) -> "Run | None":
    if cluster is None:
        return None
    from memosite.run.cluster import cluster_at  # noqa: PLC0415 - Dask need not be installed

    return cluster_at(cluster).run


# `memosite serve`: builds a site, serves it, and builds it again when something changes.


def run_serve(options: argparse.Namespace, _show: Tell, say: Tell) -> None:
    """Serve the site until interrupted, whether anybody reads the report of each build or not."""
    from memosite.serve import check_port, serve  # noqa: PLC0415 - a build needs no server

    show = hushed if options.quiet else show_if_possible
    check_port(options.port)
    config = configured(options, output=options.output)
    with Memory() as memory:
        with contextlib.nullcontext(silent) if options.quiet else shown() as told:
            report = build(config, clock=now, jobs=default_jobs(), progress=told, memory=memory)
        show(sum_up(report, config, options))
        memory.write()
        memory.force_full_once = True  # while nobody waits: what other processes computed is not memoized here
        builder = _Builder(options, memory, served=config.output, show=show)
        serve(
            config,
            port=options.port,
            rebuild=builder.rebuild,
            settle=builder.settle,
            say=show,
            warn=lambda text: say(f"memosite: {text}"),
        )


class _Builder:
    """Builds the site repeatedly, each time with the current configuration and the memory of the last build."""

    def __init__(self, options: argparse.Namespace, memory: Memory, *, served: Path, show: Tell) -> None:
        self._options = options
        self._memory = memory
        self._served = served
        self._show = show

    def rebuild(self, changed: "Changed", stop: Event, listener: Listener) -> "Rebuilt":
        """Build after a change, until `stop` is set."""
        from memosite.serve import Rebuilt  # noqa: PLC0415 - as above

        def go_on(_stage: str, _done: int, _total: int) -> None:
            if stop.is_set():
                raise MemositeError("interrupted")

        config = configured(self._options, output=self._options.output)
        if config.output != self._served:
            moved = f"output: now {config.output}, but {self._served} is served"
            raise ConfigError(f"{moved}; start memosite serve again")
        gc.disable()  # garbage collection takes a tenth of the time that somebody waits for
        try:
            report = build(
                config,
                clock=now,
                jobs=default_jobs(),
                use_network=False,
                progress=go_on,
                listener=listener,
                memory=self._memory,
                changed=changed,
            )
        finally:
            gc.enable()
        is_new = report.written > 1 or report.removed > 0  # status.json is written in any case
        if is_new:
            self._show(sum_up(report, config, self._options))
        return Rebuilt(config=config, is_new=is_new)

    def settle(self) -> bool:
        """Check what the last build assumed, and write what is remembered to the cache; whether the site is whole."""
        is_whole = self._memory.check()  # first: an error while writing must not skip the check
        self._memory.write()
        return is_whole


# Explains a file of the site: what it was made of, whether it is stale, and why.


_SHOWN = 40
"""The most reads that are listed."""


def run_explain(options: argparse.Namespace, show: Tell, _say: Tell) -> None:
    """Explain the file that the command line names."""
    show("\n".join(explain(configured(options, output=options.output), options.path)))


def explain(config: Config, path: str) -> list[str]:
    """Lines about an output, named by its path in the site, on disk, or its address.

    Raises `ConfigError` if it is no file of the site, `StateError` if nothing is known of the last build.
    """
    cache = open_part(config.cache, config.audience)
    manifest = read_manifest(manifest_file(cache, config.output)) if cache else Manifest()
    if not manifest.units:
        raise StateError(f"{config.output}: no record of a build; run memosite build first")
    wanted = _in_site(config, path)
    if wanted == STATUS_PATH:
        return [f"{STATUS_PATH} shows when and from what the site was built; every build writes it"]
    name, made = _maker_of(manifest, wanted)
    return [
        f"made as   {name}, with {len(made.outputs)} {plural('file', len(made.outputs))}",
        *_shown_reads(manifest.reads_of(made) if made.reads is not None else None),
        f"now       {_reason(config, manifest, name) or 'up to date; the next build keeps it'}",
    ]


def _in_site(config: Config, path: str) -> str:
    """The path of a file in the site; a folder means its page."""
    if "://" in path:
        base = urlsplit(config.base_url or "").path or "/"
        try:
            found = unquote(urlsplit(path).path).removeprefix(base)
        except ValueError as error:
            raise ConfigError(f"{path}: no address ({error}), expected that of a page of the site") from error
    elif (named := Path(path).resolve()).is_relative_to(config.output):
        found = named.relative_to(config.output).as_posix()
        found = f"{found}/" if Path(path).is_dir() else found
    else:
        found = path.removeprefix("/")
    return f"{found}index.html" if found == "" or found.endswith("/") else found


def _maker_of(manifest: Manifest, path: str) -> tuple[str, Made]:
    for wanted in (path, f"{path}/index.html"):
        for name, made in manifest.units.items():
            if any(output.path == wanted for output in made.outputs):
                return name, made
    near = get_close_matches(path, [output.path for made in manifest.units.values() for output in made.outputs], n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ConfigError(f"{path}: no file that the last build made, expected a path in the site{hint}")


def _shown_reads(reads: Sequence[TracedRead] | None) -> list[str]:
    if reads is None:
        return ["of        the whole archive"]
    found = sorted(map(shown_read, reads))
    counts = Counter(mapping for mapping, _ in reads)
    lines = [f"of        {', '.join(f'{number} {name}' for name, number in sorted(counts.items())) or 'itself alone'}"]
    return [*lines, *(f"          {line}" for line in limited(found, _SHOWN))]


def _reason(config: Config, manifest: Manifest, name: str) -> str:
    """Why the unit is stale; "" if it is up to date."""
    theme, output = load_theme(config.theme, config.language), OutputFolder(config.output)
    with open_archive(config) as handle:
        archive, ledger = handle.read()
        seals = known_seals(config, None, ledger)
        site = plan_site(
            config, archive, ledger, handle.shelf, static=theme.static, contract=load_contract(), seals=seals
        )
        units = [unit for unit in site.units if unit.name == name]
        if not units:
            return "outdated: what it showed was removed"
        digests = Digests(site.context)
        common = common_digests(site.context, digests, theme=theme.digest)
        [decision] = decide(units, manifest, common=common, digests=digests, is_there=output.is_as_left)
    return decision.why if decision.why in {"", WHOLE} else f"outdated: {decision.why}"
