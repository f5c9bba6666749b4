"""[I/O] Digests memosite's own code, so that pages made by another version of it are made again."""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import memosite
from memosite.store.digests import digest_of

_PACKAGE = Path(memosite.__file__).parent
_WRITERS = (
    "jinja2",
    "kingfisher-secret-scanner",
    "lxml",
    "markdown-it-py",
    "markupsafe",
    "mdit-py-plugins",
    "pygments",
    "pyromark",
    "pyyaml",
    "whoosh-reloaded",
)
"""What is written, found or remembered depends on their versions."""


@lru_cache(maxsize=1)
def program_digest(package: Path = _PACKAGE) -> str:
    """The digest of the program: memosite's modules by path, size and time, Python and the libraries by version."""
    found = sorted((file.relative_to(package).as_posix(), file.stat()) for file in _files(package))
    states = [(name, state.st_size, state.st_mtime_ns) for name, state in found]
    return digest_of((states, *_around(_WRITERS)))


@lru_cache(maxsize=1)
def portable_digest(*others: str, package: Path = _PACKAGE) -> str:
    """As `program_digest`, plus these other libraries, with modules by content: file times differ between machines."""
    found = sorted((file.relative_to(package).as_posix(), file) for file in _files(package))
    contents = [(name, hashlib.sha256(file.read_bytes()).digest()) for name, file in found]
    return digest_of((contents, *_around((*_WRITERS, *others))))


def _files(package: Path) -> Iterator[Path]:
    """The modules, and the rules for secrets."""
    return (file for file in package.rglob("*") if file.suffix in {".py", ".yml"})


def _around(libraries: Iterable[str]) -> tuple[tuple[object, ...], list[str]]:
    return tuple(sys.version_info), [version(name) for name in libraries]
