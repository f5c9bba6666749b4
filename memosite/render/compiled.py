"""[I/O] Keeps compiled templates in the cache: to compile those of a few pages takes longer than to render them.

They are Python bytecode, which runs: so the file is signed (`keys`), and counts for one program and one Python only.
They have the words of one language, so it counts for that only, too. jinja2 compares the digest of each template's
source, which covers a site's own theme.
"""

import marshal
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from memosite.render.catalogue import ENGLISH, Catalogue
from memosite.store.cache import program_digest, read_signed, write_signed


def compiled_file(cache: Path) -> Path:
    """The path of the compiled templates in a part of the cache."""
    return cache / "templates" / "compiled.cache"


class CompiledTemplates(jinja2.BytecodeCache):
    """The bytecode of templates by their names; without a file only in memory."""

    def __init__(self, file: Path | None, words: Catalogue = ENGLISH) -> None:
        """Load what an earlier build compiled in this language."""
        self._file = file
        self._made_by = program_digest().encode() + words.digest.encode() + MAGIC_NUMBER
        self._known = self._load()
        self._is_new = False

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give jinja2 the bytecode of a template, which it takes if the source is the same."""
        if bucket.key in self._known:
            bucket.bytecode_from_string(self._known[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Take the bytecode of a template that was compiled now."""
        self._known[bucket.key] = bucket.bytecode_to_string()
        self._is_new = True

    def write(self) -> None:
        """Save the file, if anything was compiled."""
        if self._file is not None and self._is_new:
            write_signed(self._file, self._made_by + marshal.dumps(self._known))
            self._is_new = False

    def _load(self) -> dict[str, bytes]:
        data = read_signed(self._file) if self._file is not None else None
        if data is None or not data.startswith(self._made_by):
            return {}
        known: dict[str, bytes] = marshal.loads(data[len(self._made_by) :])  # noqa: S302 - signed
        return known
