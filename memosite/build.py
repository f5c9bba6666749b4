"""Builds the site, or finds that there is nothing to build.

load_config ─► open sources ─► as it was? ─┬─ yes ─► BuildReport
                                          └─ no ──► pipeline ─► BuildReport

Nothing that only the pipeline needs is imported here: to find that nothing has changed takes less time than that.
"""

import datetime as dt
from collections.abc import Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from memosite.archive.ledger import LEDGER_PATH
from memosite.config.loading import Config, check_output
from memosite.reading.inputs import compare_inputs
from memosite.reading.opening import open_sources
from memosite.reading.previous import previous_folder
from memosite.remake.audience import NOBODY, Audience
from memosite.remake.manifest import Seal
from memosite.remake.memory import STATUS_PATH, Memory
from memosite.remake.order import BuildReport, Clock, Order, in_utc, status_bytes
from memosite.render.theme import load_theme, theme_folders
from memosite.run.progress import Progress, silent
from memosite.store.cache import open_cache
from memosite.store.output import OutputFolder

if TYPE_CHECKING:
    from memosite.run.workers import Run


def build(
    config: Config,
    *,
    clock: Clock,
    jobs: int = 1,
    use_network: bool = True,
    previous: str | None = None,
    run_elsewhere: "Run | None" = None,
    progress: Progress = silent,
    audience: Audience = NOBODY,
    memory: Memory | None = None,
    changed: Iterable[str] | None = None,
) -> BuildReport:
    """Build the whole site. Raises `MemositeError` for what the environment gets wrong, never for content.

    Configuration, theme and output folder are checked before sources are opened, and the ledger before the site is
    written. Units are made by `jobs` processes; their number makes no difference to what is written. Without
    `use_network` remotes are taken from the cache, if they are there. `previous` is a published site, a folder or an
    address, to go on from. With `run_elsewhere` that renders what is planned here. `progress` is told of each step, and
    may raise to stop between two of them. The `audience` is told what of the site is new and there. Who builds again
    gives a `memory`, and writes it down himself when there is time; and, if he knows for sure, the paths of what has
    `changed` in sources since.
    """
    with nullcontext(memory) if memory else Memory(writes_at_once=True) as kept:
        order = Order(
            config=config, memory=kept, clock=clock, jobs=jobs, use_network=use_network, previous=previous,
            run_elsewhere=run_elsewhere, progress=progress, audience=audience, changed=changed,
        )  # fmt: skip
        return _build(order)


def _build(order: Order) -> BuildReport:
    config, memory, started = order.config, order.memory, order.clock()
    theme = load_theme(config.theme)
    check_output(config)
    output = OutputFolder(config.output, previous=previous_folder(order.previous))
    output.check()
    memory.open(open_cache(config.cache), config.output)
    seal = memory.seal if order.previous is None and memory.is_ours(output) else Seal()
    with open_sources(config, use_network=order.use_network) as opened:
        commits = ((info.name, info.commit) for info in opened.infos)
        loaded = (theme.digest, *opened.findings, *commits)
        themes = theme_folders(config.theme)
        inputs = compare_inputs(
            config, seal.inputs, also=themes, opened=loaded, with_ledger=False, look=memory.look(order.changed)
        )
        if inputs.is_same and not memory.is_thorough and memory.is_whole(output):
            return _as_it_was(order, seal, output, started=started)
        from memosite.remake.pipeline import make, read  # noqa: PLC0415 - half a second, for what is rarely needed

        ledger_state = output.state(LEDGER_PATH)
        archive, ledger = read(order, opened, looks=inputs.looks)
    return make(
        order, archive, ledger, theme=theme, output=output, ledger_state=ledger_state, inputs=inputs.digest,
        started=started,
    )  # fmt: skip


def _as_it_was(order: Order, seal: Seal, output: OutputFolder, *, started: dt.datetime) -> BuildReport:
    """What is built of the same, and lies there as it was left, is current: only `status.json` tells a new time."""
    memory = order.memory
    output.open()
    try:
        finished = order.clock()
        is_ours = memory.is_ours(output)
        state = output.write(STATUS_PATH, status_bytes({**seal.status, "built": in_utc(finished)}))
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
