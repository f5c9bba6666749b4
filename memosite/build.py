"""Builds the site: the whole pipeline, step by step.

    check ─► open ─► compare ─┬─ nothing changed ───────────────────────────► report
                              └─► read ─► plan ─► make ─► prune ─► remember ─► report

A site stays lean, or stays as it is: addresses that were published have to answer for ever (SPEC 4).
"""

from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from memosite.archive.ledger import LEDGER_PATH, Ledger
from memosite.archive.seals import SealLog
from memosite.config.loading import check_output, contract_folder, load_contract
from memosite.config.schema import Config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.layout import CONFIG_NAME
from memosite.facts.rules import withheld_for_secrets
from memosite.facts.values import Value, replace
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.reading.published import known_ledger, known_seals, previous_folder
from memosite.remake import report
from memosite.remake.manifest import BuildSeal
from memosite.remake.memory import STATUS_PATH, Memory
from memosite.render.theme import load_theme, theme_folders
from memosite.run.progress import Progress, silent
from memosite.store.cache import INDEX_FOLDER, PARTIAL_INDEX_FOLDER, has_folder, open_part
from memosite.store.output import OutputFolder

if TYPE_CHECKING:
    from memosite.archive.model import Archive
    from memosite.reading.keeping import Keeping
    from memosite.run.workers import Run

# Checks that a site stays lean, or stays as it is: addresses that were published have to answer for ever (SPEC 4).


_ANEW = "to change it, publish to an empty folder at another address"


def check_lean(config: Config, ledger: Ledger) -> None:
    """Raise a `ConfigError` if the site of this `ledger` was published in the other way."""
    if not ledger.arrivals or config.lean == ledger.is_lean:
        return
    file = printable(str(config.file or config.site / CONFIG_NAME))
    place = f"{file}:{config.lean_line}" if config.lean_line else file
    number = len(ledger.arrivals)
    if config.lean:
        raise ConfigError(
            f"{place}: lean: found true, expected false: the ledger of this site ({LEDGER_PATH}) has published JSON, "
            f"Markdown and originals of {number} items at addresses of their own, which have to answer for ever; "
            "remove the line, or, if nobody was given this site, remove the folder "
            f"{printable(str(config.output))}; {_ANEW}"
        )
    raise ConfigError(
        f"{place}: lean: found {'false' if config.lean_line else 'nothing'}, expected true: the ledger of this site "
        f"({LEDGER_PATH}) has published JSON, Markdown and originals of {number} items in bundles, whose addresses "
        f"have to answer for ever; write lean: true; {_ANEW}"
    )


# Builds a site.


def build(
    config: Config,
    *,
    clock: report.Clock,
    jobs: int = 1,
    use_network: bool = True,
    previous: str | None = None,
    run_elsewhere: "Run | None" = None,
    progress: Progress = silent,
    listener: report.Listener = report.NO_LISTENER,
    memory: Memory | None = None,
    changed: Iterable[str] | None = None,
) -> report.BuildReport:
    """Build the whole site. Raises `MemositeError` for faults of the environment, never for content.

    Units are made by `jobs` processes, or planned here and rendered by `run_elsewhere`; the bytes are the same. Without
    `use_network` remotes are taken from the cache. `previous` is a published site, a folder or an address, to
    continue from. `progress` is called with each step, and may raise to stop between two; the `listener` is notified
    of what is written. A caller that builds again gives a `memory`, which it writes to the cache itself, and the paths
    that have `changed` if it is sure of them.
    """
    began = clock()
    theme = load_theme(config.theme, config.language)
    check_output(config)
    output = OutputFolder(config.output, previous=previous_folder(previous), audience=config.audience)
    output.check()  # before any source is opened
    with ExitStack() as stack:
        memory = memory or stack.enter_context(Memory(writes_at_once=True))
        is_internal = config.audience == "internal"
        memory.open(open_part(config.cache, config.audience), config.output, keeps_history=is_internal)
        last = memory.seal if previous is None and memory.is_ours(output) else BuildSeal()
        handle = stack.enter_context(
            open_archive(config, use_network=use_network, shelf=memory.shelf, state=memory.state)
        )
        bundled, look = (*theme_folders(config.theme), contract_folder()), memory.look(changed)
        opened = (theme.digest, *handle.opened.state)
        inputs = handle.inputs(last.inputs, also=bundled, opened=opened, with_ledger=False, look=look)
        if inputs.is_same and not memory.force_full_once and memory.is_whole(output):
            return report.of_unchanged(output, memory, last, clock=clock, began=began)

        from memosite.secrets.engine import loading_rules  # noqa: PLC0415 - half a second, for what is rarely needed

        with loading_rules():
            from memosite.plan import plan_site  # noqa: PLC0415
            from memosite.remake.making import make_site, maker_of  # noqa: PLC0415

            ledger_state = output.state(LEDGER_PATH)
            is_ledger_lost = ledger_state is None and previous is None and output.state("index.html") is not None
            read = _read(config, handle, memory, previous=previous, jobs=jobs, progress=progress)
        archive = read.archive
        _clean_index(config, archive)
        progress("plan", 0, 0)
        site = plan_site(
            config, replace(archive, for_operator=()), read.ledger, memory.shelf, static=theme.static,
            contract=load_contract(), known=memory.passages, jobs=jobs, seals=read.seals,
        )  # fmt: skip
        memory.note_passages()
        with output.writing():
            output.refuse_if_changed(LEDGER_PATH, ledger_state)
            memory.analyses.begin(site.last_blocks if run_elsewhere is None else ())
            maker = maker_of(site.context, theme, memory, output)
            made = make_site(
                site.units, maker, jobs=jobs, progress=progress, run_elsewhere=run_elsewhere, listener=listener
            )
            progress("finish", 0, 0)
            finished = clock()
            status = report.status_of(archive, finished)
            status_state = output.write(STATUS_PATH, report.status_bytes(status))
            output.prune(made.former)
            seconds = max(0.0, (finished - began).total_seconds())  # the clock may have been set back
            taken_back = read.known.not_in(read.ledger)
            result = report.of_build(
                archive, output, inputs=inputs.digest, status=status, seconds=seconds,
                is_ledger_lost=is_ledger_lost, taken_back=taken_back,
            )  # fmt: skip
            memory.note(made.manifest, maker.digests, result, status_state)
        if read.keeping is not None:
            read.keeping.seal()
        return result


class _Read(Value):
    """What a build reads: the archive with its ledger, the ledger and the sealed log that it goes on from."""

    archive: "Archive"
    ledger: Ledger
    known: Ledger
    seals: SealLog
    keeping: "Keeping | None"


def _read(
    config: Config, handle: ArchiveHandle, memory: Memory, *, previous: str | None, jobs: int, progress: Progress
) -> _Read:
    """Read the archive, going on from what is published; it is kept for commands, which `seal` lets count."""
    known = memory.ledger = known_ledger(config, previous, memory.ledger)
    check_lean(config, known)
    seals = memory.seals = known_seals(config, previous, known, memory.seals)
    keeping = handle.keeping() if memory.writes_at_once else None
    archive, ledger = handle.read(
        ledger=known, previous=previous, parsed=memory.parsed, recall=memory.recall, jobs=jobs, progress=progress
    )
    memory.note_parsed()
    if keeping is not None:
        keeping.keep(archive, beside=jobs > 1)
    if known.published and not ledger.published:
        memory.forget_units()
    return _Read(archive=archive, ledger=ledger, known=known, seals=seals, keeping=keeping)


def _clean_index(config: Config, archive: "Archive") -> None:
    """Remove the search index if it may hold words of what is left out now; the next search makes it anew."""
    part = config.cache / config.audience
    if not (has_folder(part, INDEX_FOLDER) or has_folder(part, PARTIAL_INDEX_FOLDER)):
        return
    from memosite.config.schema import left_out_by  # noqa: PLC0415 - few caches have an index
    from memosite.search.whoosh.index import IndexSeal, remove_outdated  # noqa: PLC0415

    rules = left_out_by(config.erase, config.secrets)
    made_of = IndexSeal(rules=rules, withheld=withheld_for_secrets(archive.all_findings))
    remove_outdated(part, made_of, keeps_former=config.audience == "internal")
