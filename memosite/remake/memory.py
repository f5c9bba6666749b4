"""[I/O] Keeps what a build leaves for the next one: in the cache, and in memory for a process that builds again.

    build ─► Memory ─┬─► the next build of the same process: nothing is read again
                     └─► write ─► cache ─► a build of another process

Losing it costs only time. It is kept for one output folder and one cache; with others it starts empty.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from memosite.archive.ledger import Ledger
from memosite.archive.seals import SealLog
from memosite.facts.errors import BusyError
from memosite.reading.parse_cache import SourceCaches
from memosite.remake.manifest import (
    BuildSeal,
    Manifest,
    key_of,
    read_manifest,
    read_seal,
    read_states,
    read_status,
    write_manifest,
    write_status,
)
from memosite.render.theme import Theme
from memosite.run.recall import Recall
from memosite.sources.look import LookAt, Looks, look_at
from memosite.store.output import FileState, OutputFolder
from memosite.store.shelf import Shelf
from memosite.store.state import State

if TYPE_CHECKING:
    from memosite.plan.shared_passages import KnownPassages
    from memosite.plan.traced import Digests
    from memosite.remake.stale import IsThere
    from memosite.render.compiled import CompiledTemplates
    from memosite.render.kept_analyses import KeptAnalyses
    from memosite.render.renderer import Renderer

STATUS_PATH = "status.json"
"""The one file that each build writes."""


def _was_written(_path: str, state: FileState | None) -> bool:
    return state is not None


class Memory:
    """What is known of the last build: `ledger` and `seals` as read, `digests` if this process made its archive."""

    def __init__(self, *, writes_at_once: bool = False) -> None:
        """Begin with an empty shelf; `open` loads the rest. Unless it `writes_at_once`, call `write`."""
        self.shelf = Shelf()
        self.state = State(None)
        self.writes_at_once = writes_at_once
        self.parsed = SourceCaches(self.state)
        self.recall = Recall(forgets=writes_at_once)
        self._looks = None if writes_at_once else Looks()
        self._passages: KnownPassages | None = None
        self._analyses: KeptAnalyses | None = None
        self.ledger: Ledger | None = None
        self.seals = SealLog()
        self.digests: Digests | None = None
        self._place: tuple[Path | None, Path] | None = None
        self._output = ""
        self._manifest: Manifest | None = None
        self._seal: BuildSeal | None = None
        self._status: FileState | None = None
        self._renderer: tuple[str, Renderer] | None = None
        self._compiled: CompiledTemplates | None = None
        self._is_noted = False
        self._is_sound = False
        self.force_full_once = False
        """Whether the next build reads and plans everything although nothing changed, so that this process knows it."""

    def __enter__(self) -> Self:
        """Keep it until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the shelf, and the file that remembers."""
        self.shelf.__exit__(None, None, None)
        self.state.close()

    def open(self, cache: Path | None, output: Path, *, keeps_history: bool = True) -> None:
        """Continue from the last build of this output folder; without a cache only what is in memory is known.

        Unless it `keeps_history`, the cache holds nothing of what git knows.
        """
        if (cache, output) == self._place:
            return
        self._place = cache, output
        self.state.close()
        self.state = State(cache)
        self._output = key_of(output)
        self.parsed = SourceCaches(self.state, keeps_history=keeps_history)
        self.recall = Recall(forgets=self.writes_at_once)
        self.digests = self._passages = self._analyses = self._renderer = self._compiled = None
        self._is_sound = False
        self._manifest = self._seal = None
        self._status = read_status(self.state, self._output)
        self._is_noted = False

    def forget_units(self) -> None:
        """Make everything again: what was read for the last build may not be named any more."""
        self._manifest, self.digests, self._is_sound = Manifest(), None, False

    def look(self, changed: Iterable[str] | None) -> LookAt:
        """How a build looks at the folders of sources if nothing but these paths has changed, or if it is not known."""
        if self._looks is None:
            return look_at
        self._looks.forget(changed)
        return self._looks.look_at

    def is_ours(self, output: OutputFolder) -> bool:
        """Whether the last build in this output folder is the one that is known: its `status.json` is unchanged."""
        return output.is_as_left(STATUS_PATH, self._status)

    @property
    def manifest(self) -> Manifest:
        """The manifest of the last build; empty if it is not known."""
        if self._manifest is None:
            self._manifest = read_manifest(self.state, self._output)
            self._manifest.units.keeps_read = not self.writes_at_once
        return self._manifest

    @property
    def seal(self) -> BuildSeal:
        """The inputs and the report of the last build; empty if they are not known."""
        if self._seal is None:
            self._seal = read_seal(self.state, self._output)
        return self._seal

    def is_whole(self, output: OutputFolder) -> bool:
        """Whether all files of the last build are there unchanged."""
        if self._manifest is not None:
            return output.is_whole(self._manifest.units.states())
        return output.is_whole(read_states(self.state, self._output))

    def will_build(self, output: OutputFolder) -> "IsThere":
        """A check whether a file is there unchanged, for a build that now begins to write.

        A process that builds again does not look at each file before browsers may reload, but afterwards (`check`):
        it trusts what its own last build left, if that was completed and nobody else has built there since.
        """
        is_believed = self._is_sound and not self.writes_at_once and self.is_ours(output)
        self._is_sound = False
        return _was_written if is_believed else output.is_as_left

    def check(self) -> bool:
        """Whether the last build of this process was right about the files that it did not look at.

        Then files of sources are as they were seen, and those of the site unchanged. Otherwise the next build
        looks at each.
        """
        are_true = self._looks is None or self._looks.are_true()
        if self._is_sound and self._place is not None and self._manifest is not None:
            self._is_sound = OutputFolder(self._place[1]).is_whole(self._manifest.units.states())
            return self._is_sound and are_true
        return are_true

    def renderer(self, theme: Theme) -> "Renderer":
        """The renderer of pages with this theme and the texts of the shelf."""
        from memosite.render.compiled import CompiledTemplates  # noqa: PLC0415 - as below
        from memosite.render.renderer import Renderer  # noqa: PLC0415 - not needed where nothing has changed

        if self._renderer is None or self._renderer[0] != theme.digest:
            self._compiled = CompiledTemplates(theme, self.state)
            renderer = Renderer(theme, self.shelf.text, compiled=self._compiled, kept=self.analyses)
            self._renderer = theme.digest, renderer
        return self._renderer[1]

    @property
    def analyses(self) -> "KeptAnalyses":
        """What the last build analyzed of the last search block."""
        if self._analyses is None:
            from memosite.render.kept_analyses import KeptAnalyses  # noqa: PLC0415 - as below

            self._analyses = KeptAnalyses(self.state.folder)
        return self._analyses

    def note_parsed(self) -> None:
        """Remember what was read, even if the build fails."""
        if self.writes_at_once:
            self.parsed.write()

    @property
    def passages(self) -> "KnownPassages":
        """The passages that texts shared in the last build."""
        if self._passages is None:
            from memosite.remake.known_passages import read_known  # noqa: PLC0415 - as below

            self._passages = read_known(self.state)
        return self._passages

    def note_passages(self) -> None:
        """Remember these passages, even if the build fails."""
        if self.writes_at_once:
            self._write_passages()

    def _write_passages(self) -> None:
        from memosite.remake.known_passages import write_known  # noqa: PLC0415 - as below

        write_known(self.state, self.passages)

    def note(self, manifest: Manifest, digests: "Digests", seal: BuildSeal, status: FileState | None) -> None:
        """Remember a build that has ended; `status` is the file state of `status.json` now.

        The next build compares what units read with what these `digests` found: they belong to the manifest.
        """
        digests.forget_before()
        self._manifest, self.digests, self._seal, self._status = manifest, digests, seal, status
        self._manifest.units.keeps_read = not self.writes_at_once
        self._is_noted = self._is_sound = True
        self.force_full_once = False
        if self.writes_at_once:  # the output is still locked
            self._write_build()

    def note_status(self, status: FileState | None) -> None:
        """Remember the file state of `status.json` after a build that changed nothing else."""
        self._status = status
        if self._is_noted:  # what a server has not written yet is what this status belongs to
            self._write_build()
        else:
            write_status(self.state, self._output, status)

    def write(self) -> None:
        """Write what is new to the cache, unless another process has built there since or is building."""
        self.parsed.write()
        if self._passages is not None:
            self._write_passages()
        if not self._is_noted or self._place is None:
            return
        output = OutputFolder(self._place[1])
        try:
            output.lock()
        except (BusyError, OSError):
            return
        try:
            if self.is_ours(output):
                self._write_build()
        finally:
            output.unlock()

    def _write_build(self) -> None:
        if self._compiled is not None:
            self._compiled.write()
        write_manifest(self.state, self._output, self.manifest, self.seal, self._status)
        self._is_noted = False
