"""[I/O] `memosite build` and `serve`: build a site, serve it, and build it again when something changes."""

import argparse
import contextlib
import datetime as dt
import gc
import sys
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from memosite.build import build
from memosite.commands.arguments import Tell, hushed
from memosite.commands.places import configured, shown_path
from memosite.commands.report import check_of, fails, summary, withheld_lines
from memosite.config.schema import Config
from memosite.facts.errors import ConfigError, MemositeError
from memosite.remake.memory import Memory
from memosite.remake.report import BuildReport, Listener
from memosite.run.progress import Profile, show_if_possible, shown, silent
from memosite.run.workers import default_jobs

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
    elsewhere: Run | None = None
    if options.cluster is not None:
        from memosite.run.cluster import cluster_at  # noqa: PLC0415 - Dask need not be installed

        elsewhere = cluster_at(options.cluster).run
    if options.jobs is not None and options.jobs < 1:
        raise ConfigError(f"--jobs must be 1 or more, not {options.jobs}")
    with contextlib.nullcontext(silent) if options.quiet else shown() as told:
        profile = Profile(told)
        report = build(
            config,
            clock=now,
            jobs=options.jobs or default_jobs(),
            run_elsewhere=elsewhere,
            previous=options.previous,
            progress=profile,
        )
    if not options.quiet:
        show(sum_up(report, config, options, asks_for_address=config.base_url is None))
    else:
        for line in withheld_lines(report.withheld, check_of(options, config)):
            say(f"memosite: {line}")
    if options.profile:
        show("\n".join(profile.lines()))
    return not report.failed and not report.withheld and not fails(report.findings, options.fail_on)


def now() -> dt.datetime:
    """The current time of this machine's clock."""
    return dt.datetime.now(dt.UTC)


def sum_up(report: BuildReport, config: Config, options: argparse.Namespace, *, asks_for_address: bool = False) -> str:
    """The summary of a build, with the path of the home page and the command that names every finding."""
    return summary(
        report,
        index=shown_path(config.output / "index.html"),
        check=check_of(options, config),
        audience=config.audience if config.outputs or config.audience != "internal" else "",
        is_seen=sys.stdout.isatty(),
        asks_for_address=asks_for_address,
    )


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
