"""[I/O] Folder sources: lists and reads the files of a folder on disk.

Nothing outside a source is read (SPEC 9): symbolic links are not followed, neither files nor folders, and a path
is only ever one that the walk itself found. Files of other tools in the same folders are skipped.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.facts import rules
from memosite.facts.characters import printable
from memosite.facts.errors import MovedError, SourceError
from memosite.facts.findings import Finding
from memosite.sources.git import Holding
from memosite.sources.listing import (
    FILE_LIMIT,
    FileStamp,
    FolderEntry,
    Listing,
    finding_on,
    list_source,
    shown_path,
    too_large,
)
from memosite.sources.look import Look, changed, list_folder, state_of
from memosite.sources.sniff import head_of
from memosite.store.safe_files import NotAFileError, open_file

if TYPE_CHECKING:
    from memosite.facts.file import File

_READINGS = 3
"""How often a file is read that changes meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSource:
    """A folder to read. `holes` are folders in it that are not part of it: other sources, the output, the cache."""

    name: str
    root: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    holes: tuple[Path, ...] = ()
    holding: Holding | None = None
    """The repo its history is read from; None if nobody asks for it."""

    def list_files(self, look: Look | None = None) -> Listing:
        """The files to read, from the snapshot of the folder if there is one."""
        return list_files(self, look)

    def read_file(self, path: str) -> "File | Finding":
        """The bytes of one file, or the finding that says why it was left out."""
        return read_file(self, path)

    def stamp(self, path: str) -> FileStamp | None:
        """The state of a file, as git's index has it."""
        try:
            found = os.lstat(f"{self.root}/{path}")
        except OSError:
            return None
        state = state_of(found)
        return FileStamp(token=state, changed=changed(state))

    def has_file(self, path: str) -> bool:
        """Whether a path leads to a file or folder."""
        return has_file(self, path)


def list_files(source: FolderSource, look: Look | None = None) -> Listing:
    """Walk a folder. Raises `SourceError` if it cannot be listed, or if there are too many files."""

    def entries(folder: str) -> Sequence[FolderEntry]:
        return look.entries(folder) if look is not None and folder in look else list_folder(source.root / folder)

    return list_source(
        source,
        entries,
        lambda path: head_of(source.root / path),
        called=str(source.root),
        holes=frozenset(_relative_holes(source)),
    )


def _relative_holes(source: FolderSource) -> Iterator[str]:
    root = source.root.resolve()
    for hole in source.holes:
        resolved = hole.resolve()
        if root in resolved.parents:
            yield resolved.relative_to(root).as_posix()


def read_file(source: FolderSource, path: str) -> "File | Finding":
    """The bytes of one file that a walk found, or the finding that says why it was left out."""
    from memosite.facts.file import File  # noqa: PLC0415 - nothing is read where nothing has changed

    try:
        with open_file(source.root / path) as stream:
            status, data = _read_still(stream.fileno())
    except NotAFileError:
        return finding_on(rules.FILE_UNREADABLE, source, path, "it is not a regular file")
    except OSError as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError):  # a memo on its way to `read/` is not removed
            raise _moved(source, path) from error
        return finding_on(rules.FILE_UNREADABLE, source, path, f"it cannot be opened ({error.strerror})")
    if data is None or len(data) > FILE_LIMIT:
        return too_large(source, path, status.st_size)
    return File(source=source.name, path=shown_path(path), data=data)


def _moved(source: FolderSource, path: str) -> SourceError:
    """The error for a file that was listed and is not there any more."""
    if not source.root.is_dir():
        advice = "put it back, or remove it from the sources"
        return SourceError(f"{source.root}: the folder of this source was removed while it was read; {advice}")
    shown = printable(str(source.root / path))
    return MovedError(f"{shown}: moved or removed while it was read; nothing was written, run the command again")


def _read_still(handle: int) -> tuple[os.stat_result, bytes | None]:
    """The state of an open file and its bytes, None if there are too many. One that is being written is read again.

    What is written for longer is as it was read last: it has changed since, so the next build reads it.
    """
    status = os.fstat(handle)
    for _ in range(_READINGS):
        if status.st_size > FILE_LIMIT:
            return status, None
        os.lseek(handle, 0, os.SEEK_SET)
        before, data = status, _read_whole(handle, status.st_size)
        status = os.fstat(handle)
        if (status.st_size, status.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
            break
    return status, data


def _read_whole(handle: int, expected: int) -> bytes:
    """All bytes of an open file, one more than the limit at most: it may grow while it is read."""
    parts = []
    size = 0
    while size <= FILE_LIMIT:
        part = os.read(handle, min(max(expected - size, 0), FILE_LIMIT) + 1)
        if not part:
            break
        parts.append(part)
        size += len(part)
        if size == expected:  # the end was asked for with it
            break
    return b"".join(parts)


def has_file(source: FolderSource, path: str) -> bool:
    """Whether a normal relative path leads to a file or folder of the source; no link is followed on the way."""
    place = source.root
    for part in path.split("/"):
        if part in {"", ".", ".."}:
            return False
        place /= part
        try:
            mode = place.lstat().st_mode
        except (OSError, ValueError):
            return False
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return False
    return True
