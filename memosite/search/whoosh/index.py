"""[I/O] The search index in the cache: where it lies, whether it can be trusted, and how it is opened.

    seal ──► every file as the last update left it? ──► nothing changed that the archive is read from? ──► open

The index is used only if every file of it is the very one that the last update left: name, size, inode and time of
change stand in its seal. So an update that was killed, a damaged disk and a folder that somebody else put there (a
cache may come with a cloned repo, and Whoosh reads its own files by unpickling) are all told, and made anew.

`indexing` brings an index up to date; here is only what an answer needs that finds it so.
"""

import contextlib
import fcntl
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memosite.facts.errors import OutputError
from memosite.store.cache import INDEX_FOLDER, open_cache
from memosite.store.safe_files import beginning_of, open_lock

with warnings.catch_warnings():
    # Compiled for the first time, a module of Whoosh may warn of its own spelling; nothing of it concerns us.
    warnings.simplefilter("ignore", SyntaxWarning)
    from whoosh import index

    from memosite.search.whoosh.fields import schema

INDEX_VERSION = 4
"""Of the schema, of what the analyzer finds and of what is shown: an index of another version is made anew."""

_SEAL = "seal.json"
_SEAL_BYTES = 1 << 20
_LOCK = "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSeal:
    """What the index is as of: the digest of what the archive was read from ("" if nobody knows), the newest date.

    `rules` says by which settings content was left out when it was made, `withheld` what was withheld for a secret.
    With others the index is made anew: its files keep words of documents that were deleted, until they are merged.
    """

    inputs: str = ""
    newest: int | None = None
    rules: str = ""
    withheld: tuple[str, ...] = ()

    def holds_as_much(self, other: "IndexSeal") -> bool:
        """Whether what an index with this seal holds may be in one with the other."""
        return (self.rules, self.withheld) == (other.rules, other.withheld)


UNKNOWN = IndexSeal()
"""That of cards of which nobody knows what they are as of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIndex:
    """An index that is up to date, to be read by `reader.Reader`; `reader` is Whoosh's."""

    reader: Any
    newest: int | None
    withheld: tuple[str, ...] = ()


@contextlib.contextmanager
def locked(cache: Path) -> Iterator[Path]:
    """The folder of the index, held for one process at a time; who comes second finds it up to date.

    Raises `OutputError` if the cache cannot be written, or if a link lies in it.
    """
    try:
        if open_cache(cache) is None:
            raise OutputError(f"{cache}: the search index cannot be written; name another folder with --cache")
        handle = open_lock(cache / _LOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield cache / INDEX_FOLDER
        finally:
            os.close(handle)
    except OSError as error:
        message = f"{error.filename or cache}: the search index cannot be written ({error.strerror or error})"
        raise OutputError(f"{message}; name another folder with --cache") from error


def open_reader(folder: Path, seal: IndexSeal) -> OpenIndex:
    """Open an index whose seal was read; it may be updated afterwards without the reader noticing."""
    return OpenIndex(
        reader=index.open_dir(str(folder), schema=schema()).reader(), newest=seal.newest, withheld=seal.withheld
    )


def read_seal(folder: Path) -> tuple[IndexSeal | None, str]:
    """The seal of an index; None if it has to be made anew, with the reason if there is one there."""
    if not folder.exists():
        return None, ""
    try:
        value = json.loads(beginning_of(folder / _SEAL, _SEAL_BYTES) or b"")
        if value["version"] != INDEX_VERSION:
            return None, "it was made by another version of memosite"
        if value["files"] != _files_of(folder):
            return None, "it is damaged, or was not made here"
        return IndexSeal(
            inputs=str(value["inputs"]), newest=value["newest"], rules=str(value["rules"]),
            withheld=tuple(value["withheld"]),
        ), ""  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None, "it is damaged, or was not finished"


def remove_outdated(cache: Path, made_of: IndexSeal, *, keeps_former: bool) -> None:
    """Remove an index that may hold words that nothing may hold any more; the next search makes it anew."""
    with locked(cache) as folder:
        seal, _ = read_seal(folder)
        if seal is None or not keeps_former or not seal.holds_as_much(made_of):
            shutil.rmtree(folder, ignore_errors=True)


def write_seal(folder: Path, seal: IndexSeal) -> None:
    """Seal an index as it now is."""
    write_file(folder / _SEAL, json.dumps({"version": INDEX_VERSION, "files": _files_of(folder), **asdict(seal)}))


def break_seal(folder: Path) -> None:
    """To be called before an index is changed: should the update be killed, the index counts as damaged."""
    (folder / _SEAL).unlink()


def write_file(path: Path, text: str) -> None:
    """Write a file of the index whole, once the disk has it; the lock is held."""
    partial = path.with_name(f".{path.name}")
    partial.unlink(missing_ok=True)
    with partial.open("x") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(path)


def _files_of(folder: Path) -> list[list[object]]:
    """Every file of the index with its size, inode and time of change; the last two cannot be made to order.

    What begins with a dot is left over from an update that was killed, and read by nobody.
    """
    found: list[list[object]] = []
    for path in sorted(folder.iterdir()):
        if path.name != _SEAL and not path.name.startswith("."):
            status = path.lstat()
            found.append([path.name, status.st_size, status.st_ino, status.st_ctime_ns])
    return found
