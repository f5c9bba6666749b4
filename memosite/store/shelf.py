"""[I/O] The shelf stores the bytes of one build on disk by their SHA-256, to keep memory small.

Bytes are put while files are read and read back while pages are rendered: what is published is exactly what was
parsed, even if a source changes meanwhile. The bytes of an unchanged file that was not
read are promised: they are read on demand, and must have the same digest. The shelf is one append-only
file without a name, so nothing of it outlives the build, and equal bytes (the copies of a broadcast) are kept once.
It is written and read at given offsets and without a buffer, so forked worker processes share it.
"""

import hashlib
import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Self

from memosite.facts.errors import OutputError, SourceError

Recover = Callable[[str], Iterable[bytes]]
"""Reads the bytes of a file again that had those of this digest among them; what else it gives is not kept."""

CHANGED = "a file changed while the archive was read; run the command again"
_RECOVERED_BYTES = 32 * 2**20


class Shelf:
    """Bytes by digest. Raises `KeyError` for a digest that was never put, `OutputError` if the disk is full."""

    def __init__(self) -> None:
        """Open an empty shelf in the system's folder for temporary files."""
        self._file = tempfile.TemporaryFile(prefix="memosite-", buffering=0)  # noqa: SIM115 - closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        self._promised: dict[str, Recover] = {}
        self._fetch: Callable[[str], bytes | None] | None = None
        self._recovered: OrderedDict[str, bytes] = OrderedDict()  # not in the file: worker processes share that
        self._recovered_bytes = 0

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their SHA-256 in hex."""
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._places:
            written = 0
            while written < len(data):
                written += self._write(memoryview(data)[written:], self._end + written)
            self._places[digest] = (self._end, len(data))
            self._end += len(data)
        return digest

    def _write(self, data: memoryview, place: int) -> int:
        try:
            return os.pwrite(self._file.fileno(), data, place)
        except OSError as error:
            raise OutputError(
                f"{tempfile.gettempdir()}: what was read cannot be kept there ({error.strerror}); "
                "make room, or name another folder in TMPDIR"
            ) from error

    def promise(self, digests: Iterable[str], recover: Recover) -> None:
        """Load the bytes of these digests on demand, unless they are here."""
        self._promised.update(dict.fromkeys((one for one in digests if one not in self._places), recover))

    def has(self, digest: str) -> bool:
        """Whether the bytes of a digest are here, or promised."""
        return digest in self._places or digest in self._promised

    def fetch_missing(self, fetch: Callable[[str], bytes | None]) -> None:
        """Let a function give, put or promise the bytes of a digest that are not here, if it can."""
        self._fetch = fetch

    def get(self, digest: str) -> bytes:
        """The bytes of a digest. Raises `SourceError` if they were promised and their file has changed since."""
        place = self._places.get(digest)
        if place is not None:
            return os.pread(self._file.fileno(), place[1], place[0])
        if digest not in self._recovered:
            if digest not in self._promised and self._fetch is not None:
                if (data := self._fetch(digest)) is not None:
                    self._remember(digest, data)
                    self._forget_many()
                    return data
                if digest in self._places:
                    return self.get(digest)
                if digest not in self._promised:
                    raise SourceError(CHANGED)
            self._recover(digest)
        return self._recovered[digest]

    def _recover(self, digest: str) -> None:
        for data in self._promised[digest](digest):
            found = hashlib.sha256(data).hexdigest()
            if found not in self._promised:
                continue
            self._remember(found, data)
        if digest not in self._recovered:
            raise SourceError(CHANGED)
        self._recovered.move_to_end(digest)
        self._forget_many()

    def _remember(self, digest: str, data: bytes) -> None:
        if self._recovered.setdefault(digest, data) is data:
            self._recovered_bytes += len(data)
        self._recovered.move_to_end(digest)

    def _forget_many(self) -> None:
        while self._recovered_bytes > _RECOVERED_BYTES and len(self._recovered) > 1:
            self._recovered_bytes -= len(self._recovered.popitem(last=False)[1])

    def text(self, digest: str) -> str:
        """The bytes of a digest as text; they were put as UTF-8."""
        return self.get(digest).decode("utf-8", "replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._file.close()
