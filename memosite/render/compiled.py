"""[I/O] Keeps compiled templates: to compile those of a few pages takes longer than to render them.

    bundled template ─► the file that remembers in the user's state folder, for all sites
    a site's own one ─► that of the site

They are Python bytecode, which runs: only rows that this user's memosite signed count, for one program and one Python.
It has the words of one language, so it counts for that only, too. jinja2 compares the digest of the template's source.
"""

from contextlib import suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from memosite.facts.errors import OutputError, StateError
from memosite.render.theme import Theme
from memosite.store.cache import remove_former, state_home
from memosite.store.state import TEMPLATES, State


class CompiledTemplates(jinja2.BytecodeCache):
    """The bytecode of a theme's templates. What was compiled is kept when `write` is called.

    All are read at once, before any process is forked. A few languages are kept beside each other; how many there are
    is bounded, however often a catalogue is edited.
    """

    def __init__(self, theme: Theme, state: State) -> None:
        """Keep those of the site in its own file."""
        self._theme = theme
        self._words = theme.words.digest[:1]
        self._made_by = theme.words.digest.encode() + MAGIC_NUMBER
        self._own = state
        self._new: dict[str, bytes] = {}
        self._known = self._read(state, is_own=True) if theme.own else {}
        with _bundled() as bundled:
            self._known |= self._read(bundled, is_own=False)

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002 - as jinja2 calls it
        """The name of the template, by which its row is found."""
        return name

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give jinja2 the bytecode of a template, which it takes if the source is the same."""
        data = self._known.pop(bucket.key, b"")  # the environment keeps what it took
        if data.startswith(self._made_by):
            bucket.bytecode_from_string(data[len(self._made_by) :])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Note the bytecode of a template that was compiled now."""
        self._new[bucket.key] = self._made_by + bucket.bytecode_to_string()

    def write(self) -> None:
        """Keep what was compiled since."""
        if self._new:
            self._write(self._own, is_own=True)
            with _bundled() as bundled:
                self._write(bundled, is_own=False)
                if bundled.folder:
                    remove_former(bundled.folder)
            self._new = {}

    def _read(self, state: State, *, is_own: bool) -> dict[str, bytes]:
        rows = state[TEMPLATES].items(self._words)
        return {str(name): data for (_, name), data in rows if (name in self._theme.own) == is_own}

    def _write(self, state: State, *, is_own: bool) -> None:
        rows = [((self._words, name), data) for name, data in self._new.items() if (name in self._theme.own) == is_own]
        if rows:
            with state.writing():
                state[TEMPLATES].put(rows)


def _bundled() -> State:
    """The file of the user; one that keeps nothing if there is no place for it."""
    folder: Path | None = None
    with suppress(StateError):
        folder = state_home()
    with suppress(OutputError):  # a link
        return State(folder)
    return State(None)
