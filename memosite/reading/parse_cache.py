"""[I/O] Keeps parse results by the file's state, so that unchanged files are not even read.

    file's state (size, time, inode …) ─► unchanged? ─► Parsed, and the digests of what it put on the shelf

In a process that reads repeatedly the git history of each source is cached, too. A file that was written less than
`RECENT` before it was read may be written again within the same tick of the disk's clock; it is not cached, and so read
again next time, as git does it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from memosite.archive.history import History
from memosite.facts.parsed import Parsed, RecordPart
from memosite.facts.values import Value
from memosite.formats.system import FilePlace
from memosite.reading.scans import KnownScans
from memosite.sources.git import Holding
from memosite.sources.history import KnownPast
from memosite.sources.listing import RECENT, FileStamp, Source
from memosite.sources.look import Look
from memosite.store.state import COMMITS, ENTRIES, EVENTS, HOLDERS, LINES, PARSED, SCANS, TREE, VERSIONS, Key, State
from memosite.store.values import pickled, read_value, value_bytes

if TYPE_CHECKING:
    from memosite.reading.versions import KnownVersions


class Remembered(Value):
    """A cached parse result, without the file's bytes but with their SHA-256."""

    token: tuple[int, ...] | None
    parsed: Parsed
    shelved: tuple[str, ...]


ParseKey = tuple[str, str]
"""A path, and how it was parsed."""


class Former(Value):
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


class ParseCache:
    """The parse results of one source."""

    def __init__(self, state: State, source: str) -> None:
        """Load what is saved of a source."""
        self._rows, self._holder_rows = state[PARSED], state[HOLDERS]
        self._state = state
        self._source = source
        self._known = {(str(path), str(how)): _remembered(value) for (_, path, how), value in self._rows.items(source)}
        self._saved: Mapping[ParseKey, Remembered] = self._known
        self._now: dict[ParseKey, Remembered] = {}
        self._holders: dict[str, ParseKey] | None = None
        self._left_out: frozenset[str] = frozenset()

    def get(self, key: ParseKey, stamp: FileStamp | None) -> Remembered | None:
        """The parse result of a file, if it is up to date."""
        known = self._known.get(key)
        if known is None or stamp is None or known.token != stamp.token:
            return None
        self._now[key] = known
        return known

    def put(self, key: ParseKey, stamp: FileStamp, parsed: Parsed, shelved: tuple[str, ...], *, moment: int) -> None:
        """Cache a parse result with the file's state, taken at a moment before it was read."""
        if stamp.changed < moment - RECENT:
            self._now[key] = Remembered(token=stamp.token, parsed=parsed, shelved=shelved)

    def note(self, key: ParseKey, parsed: Parsed, shelved: tuple[str, ...]) -> None:
        """Note what a file put on the shelf whose parse result is not cached: a file of a commit."""
        place = Parsed(source=parsed.source, path=parsed.path)
        self._now[key] = Remembered(token=None, parsed=place, shelved=shelved)

    def shelved(self) -> Iterator[str]:
        """The digests of all bytes that files put on the shelf, as far as their parse results are cached."""
        return chain.from_iterable(one.shelved for one in self._known.values() if one.token is not None)

    def holder(self, digest: str) -> ParseKey:
        """The file that put the bytes of a digest on the shelf. Raises `KeyError` if no cached one did."""
        if self._holders is None:
            self._holders = {digest: key for key, one in self._known.items() for digest in one.shelved}
        return self._holders[digest]

    def begin(self) -> None:
        """Begin a round: forget which entries a failed round used."""
        self._now = {}

    def close(self) -> None:
        """End a round: keep only the entries that were used or put in it."""
        self._holders = None
        self._known, self._now = self._now, {}

    def leave_out(self, paths: frozenset[str]) -> None:
        """Never save the parse results of these files, and remove them if they were saved before."""
        self._left_out = paths

    def write(self) -> None:
        """Save what differs from what was saved last."""
        kept = {key: one for key, one in self._known.items() if one.parsed.path not in self._left_out}
        new = {key: one for key, one in kept.items() if self._saved.get(key) != one}
        gone = [key for key in self._saved if key not in kept]
        former = {row for key in (*new, *gone) if key in self._saved for row in self._held(key, self._saved[key])}
        holders = {row for key, one in new.items() for row in self._held(key, one)}
        with self._state.writing():
            self._rows.put(((self._source, *key), _written(one)) for key, one in new.items())
            self._rows.remove((self._source, *key) for key in gone)
            self._holder_rows.put((row, b"") for row in sorted(holders - former))
            self._holder_rows.remove(former - holders)
        self._saved = kept

    def _held(self, key: ParseKey, one: Remembered) -> Iterator[Key]:
        return ((digest, self._source, *key) for digest in one.shelved)


def _written(one: Remembered) -> bytes:
    is_open = isinstance(one.parsed.fact, RecordPart)  # only the systems know what other facts there are
    return pickled(one) if is_open else value_bytes(one)


def _remembered(value: bytes) -> Remembered:
    found: Remembered = read_value(value, Remembered)
    return found


class SourceCaches:
    """The caches of several sources: parse results, scans, git histories, and versions of list files.

    In memory only: the former contents that histories show, and the last result of each source as a whole.
    """

    def __init__(self, state: State | None = None, *, keeps_history: bool = True) -> None:
        """Without a state all caches are in memory only.

        Unless it `keeps_history`, so are those of what git knows, and of scans, which name contents by their digests.
        """
        self._state = state or State(None)
        self._past_state = self._state if keeps_history else State(None)
        self._by_source: dict[str, ParseCache] = {}
        self._formers: dict[str, Former] = {}
        self._pasts: dict[str, KnownPast] = {}
        self._scans: dict[str, KnownScans] = {}
        self._versions: dict[str, KnownVersions] = {}
        self._histories: dict[str, tuple[object, History]] = {}
        self._all: frozenset[str] = frozenset()

    def of(self, source: str) -> ParseCache:
        """The parse cache of a source."""
        if source not in self._by_source:
            self._by_source[source] = ParseCache(self._state, source)
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
            known = self._pasts[source] = KnownPast(self._past_state, holding)
        return known

    def versions(self, source: str) -> "KnownVersions":
        """The cached versions of list files of a source."""
        if source not in self._versions:
            from memosite.reading.versions import KnownVersions  # noqa: PLC0415 - loads resolve; only reading needs it

            self._versions[source] = KnownVersions(self._past_state, source)
        return self._versions[source]

    def scans(self, source: str) -> KnownScans:
        """The cached scans for secrets of a source."""
        if source not in self._scans:
            self._scans[source] = KnownScans(self._past_state, source)
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

    def leave_out(self, files: Collection[FilePlace]) -> None:
        """Never save the parse results of these files, by source and path; in memory they stay."""
        for source, cache in self._by_source.items():
            cache.leave_out(frozenset(path for name, path in files if name == source))

    def note_all(self, sources: Iterable[str]) -> None:
        """These are all sources that there are: what is saved of others is removed with the next `write`."""
        self._all = frozenset(sources)

    def _remove_others(self) -> None:
        """Remove the rows of other sources, and of lines that nothing was read of: another branch is read again."""
        for source in map(str, self._state[PARSED].firsts()):
            if source not in self._all:
                other = ParseCache(self._state, source)
                other.close()
                other.write()
        of_sources, of_lines = {"", *self._all}, {past.line for past in self._pasts.values()}
        for table, kept in ((SCANS, of_sources), (VERSIONS, of_sources), (ENTRIES, of_sources), (LINES, of_lines),
                            (EVENTS, of_lines), (TREE, of_lines), (COMMITS, of_lines)):  # fmt: skip
            rows = self._past_state[table]
            rows.remove((first,) for first in rows.firsts() if first not in kept)

    def write(self) -> None:
        """Save what is new or changed, and remove what is gone."""
        with self._state.writing(), self._past_state.writing():
            if self._all:
                self._remove_others()
            for parsed in self._by_source.values():
                parsed.write()
            for past in self._pasts.values():
                past.write()
            for versions in self._versions.values():
                versions.write()
            for scans in self._scans.values():
                scans.write()
