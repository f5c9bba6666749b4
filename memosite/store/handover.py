"""[I/O] What one process made, for the processes that were forked beside it: texts are parsed once, whoever needs them.

It is one append-only file without a name. Each process appends what it made, and reads on in it when it looks for
something that it does not know yet. An entry is its key, its size and its bytes, appended at once; one that is not
there whole yet is not there. So nobody waits, and what is missing is made again.
"""

import fcntl
import hashlib
import os
import tempfile
import weakref
from struct import Struct
from typing import Final

from memosite.facts.errors import OutputError

_HEAD: Final = Struct("<16sI")
"""A key, and how many bytes follow."""

MOST_BYTES: Final = 256 * 2**20
"""What is kept, or little more: 10,000 artifacts take less than half of it, and disks for temporary files are small."""


class Handover:
    """Bytes by what they were made of. To be opened before processes are forked.

    Raises `OutputError` if the disk is full.
    """

    def __init__(self) -> None:
        """Open an empty one in the system's folder for temporary files; it is closed when nobody has it any more."""
        with tempfile.TemporaryFile(prefix="memosite-", buffering=0) as file:
            self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)
        fcntl.fcntl(self._file, fcntl.F_SETFL, fcntl.fcntl(self._file, fcntl.F_GETFL) | os.O_APPEND)
        self._places: dict[bytes, int] = {}
        self._read = 0

    def hand_over(self, made_of: str, data: bytes) -> None:
        """Leave bytes for all processes, as long as there is room."""
        if self._read >= MOST_BYTES:
            return
        entry = _HEAD.pack(_key(made_of), len(data)) + data
        try:
            is_whole = os.write(self._file, entry) == len(entry)
        except OSError as error:
            raise _full(error.strerror) from error
        if not is_whole:  # what others append after it could not be read
            raise _full("no space left")

    def has(self, made_of: str) -> bool:
        """Whether any process has left what is made of this text."""
        return self._place(_key(made_of)) is not None

    def find(self, made_of: str) -> bytes | None:
        """The bytes that were made of this text, if any process has left them."""
        place = self._place(_key(made_of))
        if place is None:
            return None
        _, size = _HEAD.unpack(os.pread(self._file, _HEAD.size, place))
        return os.pread(self._file, size, place + _HEAD.size)

    def _place(self, key: bytes) -> int | None:
        if key not in self._places:
            self._read_on()
        return self._places.get(key)

    def _read_on(self) -> None:
        """Learn where the entries are that were appended meanwhile."""
        end = os.fstat(self._file).st_size
        while self._read + _HEAD.size <= end:
            key, size = _HEAD.unpack(os.pread(self._file, _HEAD.size, self._read))
            following = self._read + _HEAD.size + size
            if following > end:
                break
            self._places[key] = self._read
            self._read = following


def _key(made_of: str) -> bytes:
    return hashlib.blake2b(made_of.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _full(why: str | None) -> OutputError:
    return OutputError(
        f"{tempfile.gettempdir()}: what was made cannot be kept there ({why}); "
        "make room, or name another folder in TMPDIR"
    )
