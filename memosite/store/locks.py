"""[I/O] Locks between processes: the one place that takes them.

A lock is of a file, or of a folder. It ends with the process that holds it, and with those that inherited its handle:
workers of a killed build still write, and git still fetches. Where Python has no `fcntl`, SQLite's own lock of a file
takes its place; that ends with the process alone.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from memosite.store.safe_files import open_lock, open_shared_lock

try:
    import fcntl
except ImportError:  # no Unix
    HAS_FCNTL = False
else:
    HAS_FCNTL = True

FOR_EVER: Final = 10**9
_PAUSE: Final = 0.05


class Lock:
    """The lock of a file, which is made if it is missing, or of a folder. Several may hold one that is shared."""

    def __init__(self, path: Path, *, is_shared: bool = False) -> None:
        """Open it. Raises `OSError` if that fails: for a link, a folder that cannot be written, none to share."""
        self._is_shared = is_shared
        self._sql: sqlite3.Connection | None = None
        self.handle = _open(path, is_shared=is_shared)
        """What a program has to inherit to hold it, too."""
        if not HAS_FCNTL:
            file = path / _IN_FOLDER if path.is_dir() else path
            self._sql = sqlite3.connect(file, isolation_level=None, timeout=0, check_same_thread=False)

    def take(self, *, seconds: float = 0) -> bool:
        """Wait for so long at most, and tell whether it is held now."""
        end = time.monotonic() + seconds
        while not (is_held := self._try()) and time.monotonic() < end:
            time.sleep(_PAUSE)
        return is_held

    def _try(self) -> bool:
        if self._sql is None:
            try:
                fcntl.flock(self.handle, (fcntl.LOCK_SH if self._is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True
        with suppress(sqlite3.OperationalError):
            self._sql.execute("BEGIN" if self._is_shared else "BEGIN EXCLUSIVE")
            self._sql.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            return True
        if self._sql.in_transaction:
            self._sql.execute("ROLLBACK")
        return False

    def release(self) -> None:
        """Close it; whoever inherited it may hold it still."""
        if self._sql is not None:
            self._sql.close()
        os.close(self.handle)


@contextmanager
def locked(path: Path, *, is_shared: bool = False, seconds: float = FOR_EVER) -> Iterator[Lock | None]:
    """The lock, held within the block; None if another process has it for so long, or if there is nothing to share."""
    try:
        lock = Lock(path, is_shared=is_shared)
    except OSError:
        if not is_shared:
            raise
        yield None
        return
    try:
        yield lock if lock.take(seconds=seconds) else None
    finally:
        lock.release()


_IN_FOLDER: Final = ".memosite-lock"


def _open(path: Path, *, is_shared: bool) -> int:
    if path.is_dir():
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return open_shared_lock(path) if is_shared else open_lock(path)
