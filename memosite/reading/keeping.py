"""[I/O] Keeps an archive from one command to the next: is what was kept up to date? If not, what was read is kept."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING

from memosite.archive.ledger import LEDGER_PATH
from memosite.archive.model import Archive
from memosite.config.schema import Audience, Config
from memosite.facts.rules import failures
from memosite.facts.values import replace
from memosite.reading.inputs import compare_inputs
from memosite.reading.kept import Kept, Seal, forget_kept, open_kept, seal_kept, write_kept
from memosite.sources.look import Look, look_at
from memosite.store.safe_files import read_file
from memosite.store.state import State

if TYPE_CHECKING:
    from memosite.run.workers import Beside


class Keeping:
    """An archive as it is kept in a part of the cache, and the state of all that it is read from."""

    def __init__(
        self, config: Config, audience: Audience, state: State, looks: Mapping[str, Look], *, has_ledger: bool = True
    ) -> None:
        """Look at the sources, unless there are snapshots of them; to be made before anything is read.

        It is kept through the `state`. `has_ledger` is whether the archive continues the published ledger.
        """
        self._has_ledger = has_ledger
        self._config = config
        self._state = state
        self._kept = open_kept(state.folder) if state.folder else None
        taken = {
            (str(source.root), source.include, source.exclude): looks[source.name]
            for source in config.sources
            if source.name in looks
        }

        def look(root: str, *, include: Sequence[str], exclude: Sequence[str], holes: Collection[str]) -> Look:
            found = taken.get((root, tuple(include), tuple(exclude)))
            return found or look_at(root, include=include, exclude=exclude, holes=holes)

        former = self._kept.seal.inputs if self._kept else ""
        as_read = replace(config, base_url=None)  # no part of an archive: that knows its `address` alone
        self._inputs = compare_inputs(as_read, former, opened=("kept", audience), with_ledger=False, look=look)
        self.looks = self._inputs.looks
        self.token = ""
        self._writer: Beside | None = None

    def recalled(self) -> Kept | None:
        """What is kept, if it is up to date; it is sealed anew if the next comparison has fewer contents to read."""
        kept = self._kept
        if kept is None or not self._inputs.is_same or kept.seal.ledger != self._ledger():
            return None
        self.token = kept.seal.token
        if self._inputs.digest != kept.seal.inputs:
            self.seal()
        return kept

    def keep(self, archive: Archive, *, beside: bool = False) -> None:
        """Write what was read now, in another process if `beside`; it counts once it is sealed."""
        self._leave()
        if failures(archive.all_findings):  # the next command tries again
            forget_kept(self._state)
            return
        token = token_hex(8)
        if not beside:
            self.token = token if write_kept(self._state, archive, token=token) else ""
            return
        from memosite.run.workers import Beside  # noqa: PLC0415 - most commands start no process

        def write() -> None:
            with State(self._state.folder) as state:  # a connection belongs to its process
                if not write_kept(state, archive, token=token):
                    raise OSError(state.why_not)

        with suppress(OSError):
            self._writer = Beside(write)
            self.token = token

    def seal(self) -> None:
        """Let what was written count, with the ledger as it is published now."""
        is_written = self._writer is None or self._writer.wait()
        if self.token and is_written:
            seal_kept(self._state, Seal(token=self.token, inputs=self._inputs.digest, ledger=self._ledger()))

    def close(self) -> None:
        """End what still writes: nothing will seal it."""
        self._leave()
        if self._writer is not None:
            self._writer.end()

    def _leave(self) -> None:
        """Stop reading: what is removed goes from the file when nobody reads it any more."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _ledger(self) -> str:
        """The SHA-256 of the published ledger; "" if there is none, or none that counts."""
        if not self._has_ledger:
            return ""
        try:
            return hashlib.sha256(read_file(self._config.output / LEDGER_PATH)).hexdigest()
        except OSError:
            return ""
