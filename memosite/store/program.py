"""[I/O] Digests memosite's own code, so that pages made by another version of it are made again."""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import memosite
from memosite.store.digests import digest_of

_PACKAGE = Path(memosite.__file__).parent
_WRITERS = {
    "jinja2": "jinja2",
    "kingfisher-secret-scanner": "kingfisher_sdk",
    "lxml": "lxml",
    "markdown-it-py": "markdown_it",
    "markupsafe": "markupsafe",
    "mdit-py-plugins": "mdit_py_plugins",
    "pygments": "pygments",
    "pyromark": "pyromark",
    "pyyaml": "yaml",
    "whoosh-reloaded": "whoosh",
}
"""What is written, found or remembered depends on these libraries: each with its package."""


@lru_cache(maxsize=1)
def program_digest(package: Path = _PACKAGE) -> str:
    """The digest of the program: memosite's modules by path, size and time, Python by version.

    A library counts by its first file, which an upgrade writes anew: asking for versions is a tenth of a command.
    """
    found = sorted((file.relative_to(package).as_posix(), file.stat()) for file in _files(package))
    states = [(name, state.st_size, state.st_mtime_ns) for name, state in found]
    return digest_of((states, tuple(sys.version_info), [first_file(library) for library in _WRITERS.values()]))


def first_file(library: str) -> tuple[str, int, int]:
    """The file of a package that is imported first, without importing it: path, size and time in nanoseconds."""
    spec = find_spec(library)
    if spec is not None and spec.origin:
        with suppress(OSError):
            state = Path(spec.origin).stat()
            return spec.origin, state.st_size, state.st_mtime_ns
    return "", 0, 0


@lru_cache(maxsize=1)
def portable_digest(*others: str, package: Path = _PACKAGE) -> str:
    """As `program_digest`, plus these other libraries, with modules by content: file times differ between machines."""
    found = sorted((file.relative_to(package).as_posix(), file) for file in _files(package))
    contents = [(name, hashlib.sha256(file.read_bytes()).digest()) for name, file in found]
    from importlib.metadata import version  # noqa: PLC0415 - takes a tenth of a command, and only a cluster asks

    return digest_of((contents, tuple(sys.version_info), [version(name) for name in (*_WRITERS, *others)]))


def _files(package: Path) -> Iterator[Path]:
    """The modules, and the rules for secrets."""
    return (file for file in package.rglob("*") if file.suffix in {".py", ".yml"})
