"""[I/O] Reads the versions of list files from git and caches their entries, so that each is parsed once.

A file of the cache holds those of one source. It is signed, as that of parse results is, and for the same reason.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from memosite.archive.history import History
from memosite.facts.file import File
from memosite.facts.names import RecordEntry
from memosite.facts.parsed import Parsed
from memosite.facts.rules import SecretHit
from memosite.formats.systems import split_file
from memosite.reading.screen import Screen
from memosite.resolve.lives import ListFile, Version, list_files
from memosite.sources.git import GitError, Repo
from memosite.sources.objects import read_contents
from memosite.store.cache import program_digest, read_signed, write_signed
from memosite.store.values import read_value, value_bytes

VERSIONS_BYTES = 100_000_000
"""The most bytes of versions that are read of one source. What goes beyond has no history (SPEC 9)."""

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """A version of a list file, split: its size, its entries, and the secrets in it; nothing else is kept of it."""

    bytes: int
    entries: Version
    secrets: tuple[SecretHit, ...]


class KnownVersions:
    """The versions of list files of one source, by record system and blob id, and their entries."""

    def __init__(self, folder: Path | None, source: str) -> None:
        """Load the cache file, if there is one."""
        name = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._file = folder / "versions" / f"{name}.cache" if folder else None
        self._program = program_digest().encode()
        self._known = self._load()
        self._is_new = False

    def read(
        self, repo: Repo, history: History, parsed: Iterable[Parsed], source: str, screen: Screen
    ) -> Mapping[_Key, Version]:
        """The entries of all versions of the list files of a source, as far as git has them and the limit allows."""
        lists = sorted(list_files(history, parsed), key=lambda one: one.path)
        wanted = {(one.system.name, blob): one for one in lists for blob in one.blobs}
        valid = {key: one for key, one in self._known.items() if screen.agrees(one.secrets)}
        missing = {key: one for key, one in wanted.items() if key not in valid}
        size = sum(valid[key].bytes for key in wanted if key in valid)
        read = dict(_split_versions(repo, missing, source, screen, room=VERSIONS_BYTES - size))
        known = valid | read
        self._is_new = self._is_new or bool(read) or len(wanted) < len(self._known)
        self._known = _within({key: known[key] for key in wanted if key in known})
        return {key: one.entries for key, one in self._known.items()}

    def write(self) -> None:
        """Save the cache, if it differs from what was loaded."""
        if self._file is not None and self._is_new:
            write_signed(self._file, self._program + value_bytes(self._known))
        self._is_new = False

    def _load(self) -> dict[_Key, _Split]:
        data = read_signed(self._file) if self._file is not None else None
        if data is None or not data.startswith(self._program):  # another version splits otherwise
            return {}
        known: dict[_Key, _Split] = read_value(data[len(self._program) :])
        return known


def _split_versions(
    repo: Repo, wanted: Mapping[_Key, ListFile], source: str, screen: Screen, *, room: int
) -> Iterator[tuple[_Key, _Split]]:
    """Versions that are not known, read in one go and split; none beyond the room for them."""
    shared: dict[RecordEntry, RecordEntry] = {}
    by_blob = {blob: (system, one) for (system, blob), one in wanted.items()}
    try:
        for blob, data in read_contents(repo, by_blob):
            room -= len(data)
            if room < 0:
                return
            system, one = by_blob[blob]
            screened = screen.file(File(source=source, path=one.path, data=data))
            entries = split_file(screened.file, one.system)
            same = tuple(shared.setdefault(entry, entry) for entry in entries)  # most are in all versions
            yield (system, blob), _Split(bytes=len(data), entries=same, secrets=screened.hits)
    except GitError:  # a partial clone: what is not there has no history
        return


def _within(known: Mapping[_Key, _Split]) -> dict[_Key, _Split]:
    """The versions up to the limit, whichever were cached."""
    sizes = accumulate(one.bytes for one in known.values())
    return {key: one for (key, one), size in zip(known.items(), sizes, strict=True) if size <= VERSIONS_BYTES}
