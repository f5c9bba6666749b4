"""[I/O] Keeps compiled templates: to compile those of a few pages takes longer than to render them.

    bundled template ─► the user's state folder, for all sites
    a site's own one ─► the cache of the site

They are Python bytecode, which runs: so each file is signed (`keys`), and counts for one program and one Python only.
It has the words of one language, so it counts for that only, too. jinja2 compares the digest of the template's source.
"""

import hashlib
from contextlib import suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from memosite.facts.errors import StateError
from memosite.render.theme import Theme
from memosite.store.cache import program_digest, read_signed, state_home, write_signed


class CompiledTemplates(jinja2.BytecodeCache):
    """The bytecode of a theme's templates, each in a file named for the template.

    A few languages have files beside each other; how many there are is bounded, however often a catalogue is edited.
    """

    def __init__(self, theme: Theme, cache: Path | None) -> None:
        """Keep those of the site in a part of its cache, if it has one."""
        self._own = cache / "templates" if cache else None
        self._bundled: Path | None = None
        with suppress(StateError):
            self._bundled = state_home() / "templates"
        self._theme = theme
        self._made_by = program_digest().encode() + theme.words.digest.encode() + MAGIC_NUMBER

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002 - as jinja2 calls it
        """The name of the template, by which its file is found."""
        return name

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give jinja2 the bytecode of a template, which it takes if the source is the same."""
        file = self._file(bucket.key)
        data = read_signed(file) if file else None
        if data is not None and data.startswith(self._made_by):
            bucket.bytecode_from_string(data[len(self._made_by) :])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the bytecode of a template that was compiled now."""
        file = self._file(bucket.key)
        if file is not None:
            write_signed(file, self._made_by + bucket.bytecode_to_string())

    def _file(self, name: str) -> Path | None:
        folder = self._own if name in self._theme.own else self._bundled
        named = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        return folder and folder / f"{named}-{self._theme.words.digest[:1]}.compiled"
