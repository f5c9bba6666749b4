"""[I/O] Caches parse results by file state, so that unchanged files are not even read.

In a process that reads repeatedly it also caches the git history of each source.

    file's state (size, time, inode …) ─► unchanged? ─► Parsed, and the digests of what it put on the shelf

One file of the cache holds one source. It is signed (`keys`): others' caches are ignored. A file that was written
less than `RECENT` before it was read may be written again within the same tick of the disk's clock; it is not cached,
and so read again next time, as git does it.
"""

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.archive.history import History
from memosite.facts.parsed import Parsed
from memosite.formats.system import FilePlace
from memosite.reading.scans import KnownScans
from memosite.sources.git import Holding
from memosite.sources.history import KnownPast
from memosite.sources.listing import RECENT, FileStamp, Source
from memosite.sources.look import Look
from memosite.store.cache import program_digest, read_signed, write_signed
from memosite.store.values import read_value, value_bytes

if TYPE_CHECKING:
    from memosite.reading.versions import KnownVersions


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A cached parse result, without the file's bytes but with their SHA-256."""

    token: Hashable
    parsed: Parsed
    shelved: tuple[str, ...]


ParseKey = tuple[str, str]
"""A path, and how it was parsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """The last result of reading a source: all of its files, and the folders in it that are repos of their own.

    It is up to date as long as the digest of the source's snapshot as of the moment is the same, and so are the folders
    that organizations name for memos, and the secrets that are allowed.
    """

    source: Source
    moment: int
    digest: str
    memo_folders: tuple[str, ...]
    parsed: list[Parsed]
    repos: tuple[str, ...]
    allowed: frozenset[str]
    keys: dict[str, ParseKey]


class SourceCaches:
    """The caches of several sources: parse results and versions of list files, in one file for each.

    In memory only: the git history of each, and its last result as a whole.
    """

    def __init__(self, folder: Path | None, *, keeps_history: bool = True) -> None:
        """Without a folder all caches are in memory only.

        Unless it `keeps_history`, so are those of what git knows, and of scans, which name contents by their digests.
        """
        self._folder = folder
        self._past_folder = folder if keeps_history else None
        self._by_source: dict[str, ParseCache] = {}
        self._formers: dict[str, Former] = {}
        self._pasts: dict[str, KnownPast] = {}
        self._scans: dict[str, KnownScans] = {}
        self._versions: dict[str, KnownVersions] = {}
        self._histories: dict[str, tuple[object, History]] = {}

    def of(self, source: str) -> "ParseCache":
        """The parse cache of a source."""
        if source not in self._by_source:
            self._by_source[source] = ParseCache(self._folder, source)
        return self._by_source[source]

    def former(self, source: Source, look: Look | None, allowed: frozenset[str]) -> Former | None:
        """The last result of a source, if it is up to date."""
        former = self._formers.get(source.name)
        if former is None or look is None or (former.source, former.allowed) != (source, allowed):
            return None
        return former if look.digest(former.moment) == former.digest else None

    def keep(self, former: Former) -> None:
        """Keep the result of a source."""
        self._formers[former.source.name] = former

    def forget(self, source: str) -> None:
        """Drop the result of a source, so that all its files are checked the next time."""
        self._formers.pop(source, None)

    def past(self, source: str, holding: Holding) -> KnownPast:
        """The cached git history of a source."""
        known = self._pasts.get(source)
        if known is None or known.holding != holding:
            if known is not None:
                known.write()
            known = self._pasts[source] = KnownPast(self._past_folder, holding)
        return known

    def versions(self, source: str) -> "KnownVersions":
        """The cached versions of list files of a source."""
        if source not in self._versions:
            folder = self._past_folder / "versions" if self._past_folder is not None else None
            from memosite.reading.versions import KnownVersions  # noqa: PLC0415 - loads resolve; only reading needs it

            self._versions[source] = KnownVersions(folder / cache_name(source) if folder is not None else None)
        return self._versions[source]

    def scans(self, source: str) -> KnownScans:
        """The cached scans for secrets of a source."""
        if source not in self._scans:
            folder = self._past_folder / "scans" if self._past_folder is not None else None
            self._scans[source] = KnownScans(folder / cache_name(source) if folder is not None else None)
        return self._scans[source]

    def history(self, source: str, of: object, read: Callable[[], History]) -> History:
        """The history of a source, cached in memory; it is read if `of`, the state it was read from, has changed.

        An incomplete one is read again: git may have been missing, or out of memory. One that is equal to the former
        one is the same object.
        """
        known = self._histories.get(source)
        if known is None or known[0] != of or known[1].why_not:
            history = read()
            known = of, known[1] if known is not None and known[1] == history else history
            self._histories[source] = known
        return known[1]

    def holders(self) -> Iterator[tuple[str, FilePlace]]:
        """The digests of all bytes that files put on the shelf, as far as they are saved, each with its file."""
        for source, cache in self._by_source.items():
            for digest, path in cache.saved():
                yield digest, (source, path)

    def leave_out(self, files: Collection[FilePlace]) -> None:
        """Never save the parse results of these files, by source and path; in memory they stay."""
        for source, cache in self._by_source.items():
            cache.leave_out(frozenset(path for name, path in files if name == source))

    def write(self) -> None:
        """Save new entries to the cache."""
        for cache in self._by_source.values():
            cache.write()
        for past in self._pasts.values():
            past.write()
        for versions in self._versions.values():
            versions.write()
        for scans in self._scans.values():
            scans.write()


def cache_name(source: str) -> str:
    """The name of a source's file in a folder of the cache."""
    return f"{hashlib.sha256(source.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.cache"


class ParseCache:
    """The parse results of one source. Without a folder nothing is saved."""

    def __init__(self, folder: Path | None, source: str) -> None:
        """Load the cache of a source."""
        self._file = folder / "parsed" / cache_name(source) if folder is not None else None
        self._program = program_digest()
        self._known = self._read()
        self._now: dict[ParseKey, Remembered] = {}
        self._holders: dict[str, ParseKey] | None = None
        self._left_out: frozenset[str] = frozenset()
        self._never_cached: dict[str, str] = {}
        self._is_new = False

    def get(self, key: ParseKey, stamp: FileStamp | None) -> Remembered | None:
        """The parse result of a file, if it is up to date."""
        known = self._known.get(key)
        if known is None or stamp is None or known.token != stamp.token:
            return None
        self._now[key] = known
        return known

    def put(self, key: ParseKey, stamp: FileStamp, parsed: Parsed, shelved: tuple[str, ...], *, moment: int) -> None:
        """Cache a parse result with the file's state, taken at a moment before it was read."""
        self._is_new = True
        if stamp.changed < moment - RECENT:
            self._now[key] = Remembered(token=stamp.token, parsed=parsed, shelved=shelved)

    def note(self, path: str, shelved: tuple[str, ...]) -> None:
        """Note what a file put on the shelf whose parse result is not cached: a file of a commit."""
        self._never_cached.update(dict.fromkeys(shelved, path))

    def shelved(self) -> Iterator[str]:
        """The digests of all bytes that files put on the shelf, as far as cached."""
        return chain.from_iterable(one.shelved for one in self._known.values())

    def saved(self) -> Iterator[tuple[str, str]]:
        """As `shelved`, each with the path of its file, without what is never saved."""
        for one in self._known.values():
            if one.parsed.path not in self._left_out:
                yield from ((digest, one.parsed.path) for digest in one.shelved)
        yield from ((digest, path) for digest, path in self._never_cached.items() if path not in self._left_out)

    def holder(self, digest: str) -> ParseKey:
        """The file that put the bytes of a digest on the shelf. Raises `KeyError` if no cached one did."""
        if self._holders is None:
            self._holders = {digest: key for key, one in self._known.items() for digest in one.shelved}
        return self._holders[digest]

    def begin(self) -> None:
        """Begin a round: forget which entries a failed round used."""
        self._now = {}
        self._never_cached = {}

    def close(self) -> None:
        """End a round: keep only the entries that were used or put in it."""
        self._holders = None
        self._is_new = self._is_new or len(self._now) != len(self._known)
        self._known, self._now = self._now, {}

    def leave_out(self, paths: frozenset[str]) -> None:
        """Never save the parse results of these files, and remove them if they were saved before."""
        self._is_new = self._is_new or paths != self._left_out
        self._left_out = paths

    def write(self) -> None:
        """Save the cache, if it differs from what was loaded."""
        if self._file is not None and self._is_new:
            saved = {key: one for key, one in self._known.items() if one.parsed.path not in self._left_out}
            write_signed(self._file, self._program.encode() + value_bytes(saved))
        self._is_new = False

    def _read(self) -> dict[ParseKey, Remembered]:
        data = read_signed(self._file) if self._file is not None else None
        program = self._program.encode()
        if data is None or not data.startswith(program):  # another version has other classes
            return {}
        known: dict[ParseKey, Remembered] = read_value(data[len(program) :])
        return known
