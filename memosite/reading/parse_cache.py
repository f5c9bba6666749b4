"""[I/O] What files said when they were parsed last, so that a file that did not change is not even read.

In a process that reads again and again it also keeps what git told of each source.

    file's state (size, time, inode …) ─► as it was? ─► Parsed, and the digests of what it put on the shelf

One file of the cache holds one source. It is signed (`keys`): a cache that somebody else made is none. A file that was
written less than `RECENT` before it was read may be written again within the same tick of the disk's clock; it is not
remembered, and so read again next time, as git does it.
"""

import hashlib
import pickle
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from memosite.archive.history import History
from memosite.facts.parsed import Parsed
from memosite.sources.git import Holding
from memosite.sources.listing import RECENT, FileStamp, Source
from memosite.sources.look import Look
from memosite.sources.past import KnownPast
from memosite.store.keys import read_signed, write_signed
from memosite.store.program import program_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A file as it was parsed: its result without bytes, and the SHA-256 of each of those."""

    token: Hashable
    parsed: Parsed
    shelved: tuple[str, ...]


ParseKey = tuple[str, str]
"""A path, and how it was parsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """What reading a source gave: all of its files, and the folders in it that are repos of their own.

    It gives the same again as long as the digest of a look at it as of the moment is the same, and so are the folders
    that organizations name for memos.
    """

    source: Source
    moment: int
    digest: str
    memo_folders: tuple[str, ...]
    parsed: list[Parsed]
    repos: tuple[str, ...]


class SourceCaches:
    """What is known of several sources: what was parsed, in a file each.

    As long as this lives, too: what git told of each, and what it gave as a whole.
    """

    def __init__(self, folder: Path | None) -> None:
        """Without a folder nothing outlives this value."""
        self._folder = folder
        self._by_source: dict[str, ParseCache] = {}
        self._formers: dict[str, Former] = {}
        self._pasts: dict[str, KnownPast] = {}
        self._histories: dict[str, tuple[object, History]] = {}

    def of(self, source: str) -> "ParseCache":
        """What was parsed of a source."""
        if source not in self._by_source:
            self._by_source[source] = ParseCache(self._folder, source)
        return self._by_source[source]

    def former(self, source: Source, look: Look | None) -> Former | None:
        """What a source gave when it was read last, if nothing in it has changed since."""
        former = self._formers.get(source.name)
        if former is None or look is None or former.source != source or look.digest(former.moment) != former.digest:
            return None
        return former

    def keep(self, former: Former) -> None:
        """Remember what a source gave."""
        self._formers[former.source.name] = former

    def forget(self, source: str) -> None:
        """Have all files of a source looked at the next time."""
        self._formers.pop(source, None)

    def past(self, source: str, holding: Holding) -> KnownPast:
        """What is known of what git told of a source."""
        known = self._pasts.get(source)
        if known is None or known.holding != holding:
            if known is not None:
                known.write()
            known = self._pasts[source] = KnownPast(self._folder, holding)
        return known

    def history(self, source: str, of: object, read: Callable[[], History]) -> History:
        """The history of a source, read if it was `of` something else than now; it lives no longer than this value.

        One that is not whole is asked for again: git may have been missing, or out of memory. One that is equal to
        the former one is that.
        """
        known = self._histories.get(source)
        if known is None or known[0] != of or known[1].why_not:
            history = read()
            known = of, known[1] if known is not None and known[1] == history else history
            self._histories[source] = known
        return known[1]

    def write(self) -> None:
        """Write down what is new."""
        for cache in self._by_source.values():
            cache.write()
        for past in self._pasts.values():
            past.write()


class ParseCache:
    """What was parsed of one source. Without a folder nothing is written down."""

    def __init__(self, folder: Path | None, source: str) -> None:
        """Open what is known of a source."""
        name = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._file = folder / "parsed" / f"{name}.cache" if folder is not None else None
        self._program = program_digest()
        self._known = self._read()
        self._now: dict[ParseKey, Remembered] = {}
        self._holders: dict[str, ParseKey] | None = None
        self._is_new = False

    def get(self, key: ParseKey, stamp: FileStamp | None) -> Remembered | None:
        """What the file said, if it is as it was."""
        known = self._known.get(key)
        if known is None or stamp is None or known.token != stamp.token:
            return None
        self._now[key] = known
        return known

    def put(self, key: ParseKey, stamp: FileStamp, parsed: Parsed, shelved: tuple[str, ...], *, moment: int) -> None:
        """Remember what a file said, whose state was this at a moment before it was read."""
        self._is_new = True
        if stamp.changed < moment - RECENT:
            self._now[key] = Remembered(token=stamp.token, parsed=parsed, shelved=shelved)

    def shelved(self) -> Iterator[str]:
        """The digests of all that files put on the shelf, as far as that is known."""
        return chain.from_iterable(one.shelved for one in self._known.values())

    def holder(self, digest: str) -> ParseKey:
        """The file that put the bytes of a digest on the shelf. Raises `KeyError` if none did that is known."""
        if self._holders is None:
            self._holders = {digest: key for key, one in self._known.items() for digest in one.shelved}
        return self._holders[digest]

    def begin(self) -> None:
        """Begin a round: what one that failed came by is not known to be there still."""
        self._now = {}

    def close(self) -> None:
        """End a round: what was asked for or put is what is known from now on."""
        self._holders = None
        self._is_new = self._is_new or len(self._now) != len(self._known)
        self._known, self._now = self._now, {}

    def write(self) -> None:
        """Write down what is known, if that is something else than what was read."""
        if self._file is not None and self._is_new:
            write_signed(self._file, self._program.encode() + pickle.dumps(self._known, protocol=5))
        self._is_new = False

    def _read(self) -> dict[ParseKey, Remembered]:
        data = read_signed(self._file) if self._file is not None else None
        program = self._program.encode()
        if data is None or not data.startswith(program):  # another version has other classes
            return {}
        known: dict[ParseKey, Remembered] = pickle.loads(data[len(program) :])  # noqa: S301 - signed with a key that lies in no repo
        return known
