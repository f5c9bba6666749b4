"""[I/O] What memosite itself is made of: pages made by another version of it are made again."""

from importlib.metadata import version
from pathlib import Path

from memosite.values import digest_of

_PACKAGE = Path(__file__).parent
_WRITERS = ("lxml", "markupsafe")  # what is written depends on their versions; the theme counts the others


def program_digest(package: Path = _PACKAGE) -> str:
    """The digest of memosite's modules, by name, size and time, and of libraries that write pages and feeds."""
    files = sorted(package.rglob("*.py"))
    states = [(file.name, found.st_size, found.st_mtime_ns) for file in files for found in [file.stat()]]
    return digest_of((states, [version(name) for name in _WRITERS]))
