"""[I/O] The shelf keeps the bytes of one build by their SHA-256, so that the archive in memory need not.

Bytes are put while files are read and taken while pages are rendered: what is published is exactly what was
parsed, even if a source changes meanwhile. The shelf is one append-only file without a name, so nothing of it
outlives the build, and equal bytes (the copies of a broadcast) are kept once. It is written and read at given
offsets and without a buffer, so worker processes that were forked share it.
"""

import hashlib
import os
import tempfile
from typing import Self


class Shelf:
    """Bytes by digest. Raises `KeyError` for a digest that was never put, `OSError` if the disk is full."""

    def __init__(self) -> None:
        """Open an empty shelf in the system's folder for temporary files."""
        self._file = tempfile.TemporaryFile(prefix="memosite-", buffering=0)  # noqa: SIM115 - closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their SHA-256 in hex."""
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._places:
            written = 0
            while written < len(data):
                written += os.pwrite(self._file.fileno(), memoryview(data)[written:], self._end + written)
            self._places[digest] = (self._end, len(data))
            self._end += len(data)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of a digest."""
        offset, length = self._places[digest]
        return os.pread(self._file.fileno(), length, offset)

    def text(self, digest: str) -> str:
        """The bytes of a digest as text; they were put as UTF-8."""
        return self.get(digest).decode("utf-8", "replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._file.close()
