"""[I/O] What files said when they were parsed last, so that a file that did not change is not even read.

    file's state (size, time, inode …) ─► as it was? ─► Parsed, and the digests of what it put on the shelf

One file of the cache holds one source. It is signed (`keys`): a cache that somebody else made is none. A file that was
written less than `RECENT` before it was read may be written again within the same tick of the disk's clock; it is not
remembered, and so read again next time, as git does it.
"""

import hashlib
import pickle
import time
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from memosite.cache import write_whole
from memosite.facts import Parsed
from memosite.keys import is_signed, own_key, sign
from memosite.program import program_digest
from memosite.sources.listing import FileStamp

RECENT = 2_000_000_000
"""Nanoseconds: no disk keeps times more coarsely (FAT keeps every other second)."""

_SIGNATURE_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A file as it was parsed: its result without bytes, and the SHA-256 of each of those."""

    token: Hashable
    parsed: Parsed
    shelved: tuple[str, ...]


Key = tuple[str, str]
"""A path, and how it was parsed."""


class ParseCache:
    """What was parsed of one source. Without a folder nothing is remembered."""

    def __init__(self, folder: Path | None, source: str) -> None:
        """Open what is known of a source."""
        self._key = own_key() if folder is not None else None
        name = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._file = folder / "parsed" / f"{name}.cache" if folder is not None else None
        self._program = program_digest()
        self._known = self._read()
        self._now: dict[Key, Remembered] = {}
        self._is_new = False

    def get(self, key: Key, stamp: FileStamp | None) -> Remembered | None:
        """What the file said, if it is as it was."""
        known = self._known.get(key)
        if known is None or stamp is None or known.token != stamp.token:
            return None
        self._now[key] = known
        return known

    def put(self, key: Key, stamp: FileStamp, parsed: Parsed, shelved: tuple[str, ...]) -> None:
        """Remember what a file said, whose state was this before it was read."""
        self._is_new = True
        if stamp.changed < time.time_ns() - RECENT:
            self._now[key] = Remembered(token=stamp.token, parsed=parsed, shelved=shelved)

    def close(self) -> None:
        """Write down what was asked for or put, if that is something else than what was read."""
        if self._file is None or self._key is None or not (self._is_new or len(self._now) != len(self._known)):
            return
        data = pickle.dumps((self._program, self._now), protocol=5)
        write_whole(self._file, sign(self._key, data) + data)

    def _read(self) -> dict[Key, Remembered]:
        if self._file is None or self._key is None:
            return {}
        try:
            whole = self._file.read_bytes()
        except OSError:
            return {}
        signature, data = whole[:_SIGNATURE_BYTES], whole[_SIGNATURE_BYTES:]
        if not is_signed(self._key, data, signature):
            return {}
        program, known = pickle.loads(data)  # noqa: S301 - signed with a key that lies in no repo
        return known if program == self._program else {}
