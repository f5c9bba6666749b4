"""[I/O] `memosite serve`: builds a site, serves it, and builds it again when something changes."""

import argparse
import contextlib
import gc
from collections.abc import Callable
from pathlib import Path
from threading import Event

from memosite.build import build
from memosite.commands.build import load, now, sum_up
from memosite.facts.errors import ConfigError, MemositeError
from memosite.remake.listener import Listener
from memosite.remake.memory import Memory
from memosite.run.progress import shown, silent
from memosite.run.workers import default_jobs
from memosite.serve.server import Changed, Rebuilt, check_port, serve

Tell = Callable[[str], None]


def run(options: argparse.Namespace, *, show: Tell, say: Tell) -> None:
    """Serve the site until interrupted. `show` gets the report of each build, `say` the errors meanwhile."""
    check_port(options.port)
    config = load(options, options.audience)
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

    def rebuild(self, changed: Changed, stop: Event, listener: Listener) -> Rebuilt:
        """Build after a change, until `stop` is set."""

        def go_on(_stage: str, _done: int, _total: int) -> None:
            if stop.is_set():
                raise MemositeError("interrupted")

        config = load(self._options, self._options.audience)
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
