"""[I/O] Opens untrusted files safely: follows no symbolic link and waits for no pipe. Syncs files to the disk.

A folder that is read, and a cache that came with a clone, may contain a link to another place, or a pipe without
a writer.
"""

import errno
import os
import stat
from io import FileIO
from pathlib import Path
from typing import BinaryIO


class NotAFileError(OSError):
    """The path is not a regular file but a folder, a pipe or a device."""


def open_file(path: str | Path) -> FileIO:
    """Open a regular file for reading, without a buffer. Raises `OSError`, `NotAFileError` for anything else."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotAFileError(f"{path}: not a regular file")
    return FileIO(handle)


def read_file(path: str | Path) -> bytes:
    """The bytes of a regular file. Raises `OSError`, `NotAFileError` for anything else."""
    with open_file(path) as stream:
        return stream.readall()


def beginning_of(path: str | Path, limit: int) -> bytes | None:
    """The first bytes of a regular file; None if it cannot be read."""
    try:
        with open_file(path) as stream:
            return stream.read(limit)
    except (OSError, ValueError):  # an untrusted name may contain anything
        return None


def open_new(path: Path, *, mode: int = 0o666) -> BinaryIO:
    """Create a file and open it for writing. Raises `OSError` if the name exists."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")


def open_over(path: str | Path) -> int:
    """Open a file for writing from its beginning, whether it is there or not; a link of that name is an `OSError`."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def open_lock(path: Path) -> int:
    """Open an empty lock file, and create it if missing; a link of that name is an `OSError`."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def open_shared_lock(path: Path) -> int:
    """Open a lock file only to share the lock: `OSError` if it is missing, or a link."""
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def sync_folder(path: str | Path) -> None:
    """Wait until the names in a folder are on the disk: a file moved there has its name after a power loss, too.

    Some disks (shared ones, mostly) cannot be asked; they keep names in their own time.
    """
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.EBADF, errno.ENOTSUP}:
            raise
    finally:
        os.close(folder)
