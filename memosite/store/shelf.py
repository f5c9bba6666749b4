"""[I/O] The shelf stores the bytes of one build on disk by their SHA-256; what one process hands over to others.

Bytes are put on the shelf while files are read, and read back while pages are rendered: what is published is exactly
what was parsed, even if a source changes meanwhile. The bytes of an unchanged file that was not read are promised: they
are read on demand, and must have the same digest. Equal bytes (the copies of a broadcast) are kept once.

A handover has what one process made for all others. Each appends what it made, and reads on when it looks for something
that it does not know yet. An entry is its key, its size and its bytes, appended at once; one that is not there whole
yet is not there. So nobody waits, and what is missing is made again.

Each is one append-only file without a name, so nothing of it outlives the build. The shelf is written and read at given
offsets and without a buffer, so forked processes share it.
"""

import hashlib
import os
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from struct import Struct
from typing import Final, Self

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
            raise _full("read", error.strerror) from error

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
            if found in self._promised:
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


# What one process made, for the processes that were forked beside it: texts are parsed once, whoever needs them.


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
        with tempfile.NamedTemporaryFile(prefix="memosite-", buffering=0) as file:
            self._file = os.open(file.name, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._file)
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
            raise _full("made", error.strerror) from error
        if not is_whole:  # what others append after it could not be read
            raise _full("made", "no space left")

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


def _full(how: str, why: str | None) -> OutputError:
    return OutputError(
        f"{tempfile.gettempdir()}: what was {how} cannot be kept there ({why}); "
        "make room, or name another folder in TMPDIR"
    )
