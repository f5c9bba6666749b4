"""[I/O] Reads the versions of list files from git and keeps their entries, so that each is parsed once."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from memosite.archive.history import History
from memosite.facts.file import File
from memosite.facts.names import RecordEntry
from memosite.facts.parsed import Parsed
from memosite.facts.rules import SecretHit
from memosite.facts.values import Value
from memosite.formats.systems import split_file
from memosite.reading.screen import Screen
from memosite.resolve.lives import ListFile, Version, list_files
from memosite.sources.git import GitError, Repo
from memosite.sources.objects import read_contents
from memosite.store.state import ENTRIES, VERSIONS, State
from memosite.store.values import DIGEST_BYTES, digest_of, read_value, value_bytes

VERSIONS_BYTES = 100_000_000
"""The most bytes of versions that are read of one source. What goes beyond has no history (SPEC 9)."""

_Key = tuple[str, str]
_ID = 2 * DIGEST_BYTES
_Row = tuple[int, tuple[SecretHit, ...], str]
"""A version as it is saved: its size, the secrets in it, and the ids of its entries."""


class _Split(Value):
    """A version of a list file, split: its size, its entries with their ids, and the secrets in it; nothing else."""

    bytes: int
    ids: tuple[str, ...]
    entries: Version
    secrets: tuple[SecretHit, ...]


class KnownVersions:
    """The versions of list files of one source, by record system and blob id, and their entries.

    An entry is a row of its own, since most are in all versions.
    """

    def __init__(self, state: State, source: str) -> None:
        """Load what is saved of a source."""
        self._state = state
        self._source = source
        self._known: dict[_Key, _Split] = {}
        with state.reading():
            self._entries = {
                str(id_): read_value(value, RecordEntry) for (_, id_), value in state[ENTRIES].items(source)
            }
            for (_, system, blob), value in state[VERSIONS].items(source):
                size, secrets, joined = read_value(value, _Row)
                ids = tuple([joined[start : start + _ID] for start in range(0, len(joined), _ID)])
                entries = tuple([self._entries[id_] for id_ in ids if id_ in self._entries])
                if len(entries) == len(ids):  # what another process removed meanwhile is read again
                    self._known[str(system), str(blob)] = _Split(bytes=size, ids=ids, entries=entries, secrets=secrets)
        self._saved: Mapping[_Key, _Split] = self._known

    def read(
        self, repo: Repo, history: History, parsed: Iterable[Parsed], source: str, screen: Screen
    ) -> Mapping[_Key, Version]:
        """The entries of all versions of the list files of a source, as far as git has them and the limit allows."""
        lists = sorted(list_files(history, parsed), key=lambda one: one.path)
        wanted = {(one.system.name, blob): one for one in lists for blob in one.blobs}
        valid = {key: one for key, one in self._known.items() if screen.agrees(one.secrets)}
        missing = {key: one for key, one in wanted.items() if key not in valid}
        size = sum(valid[key].bytes for key in wanted if key in valid)
        known = valid | dict(_split_versions(repo, missing, source, screen, room=VERSIONS_BYTES - size))
        self._known = _within({key: known[key] for key in wanted if key in known})
        return {key: one.entries for key, one in self._known.items()}

    def write(self) -> None:
        """Save what differs from what was saved last, and no entry that is in no version any more."""
        new = {key: one for key, one in self._known.items() if self._saved.get(key) is not one}
        gone = self._saved.keys() - self._known.keys()
        if not new and not gone:
            return
        entries = {
            id_: one for split in self._known.values() for id_, one in zip(split.ids, split.entries, strict=True)
        }
        added, left = entries.keys() - self._entries.keys(), self._entries.keys() - entries.keys()
        values = {key: value_bytes((one.bytes, one.secrets, "".join(one.ids))) for key, one in new.items()}
        with self._state.writing():
            self._state[VERSIONS].remove((self._source, *key) for key in gone)
            self._state[VERSIONS].put(((self._source, *key), value) for key, value in values.items())
            self._state[ENTRIES].remove((self._source, id_) for id_ in left)
            self._state[ENTRIES].put(((self._source, id_), value_bytes(entries[id_])) for id_ in sorted(added))
        self._entries, self._saved = entries, self._known


def _split_versions(
    repo: Repo, wanted: Mapping[_Key, ListFile], source: str, screen: Screen, *, room: int
) -> Iterator[tuple[_Key, _Split]]:
    """Versions that are not known, read in one go and split; none beyond the room for them."""
    shared: dict[RecordEntry, tuple[str, RecordEntry]] = {}
    by_blob = {blob: (system, one) for (system, blob), one in wanted.items()}
    try:
        for blob, data in read_contents(repo, by_blob):
            room -= len(data)
            if room < 0:
                return
            system, one = by_blob[blob]
            screened = screen.file(File(source=source, path=one.path, data=data))
            entries = split_file(screened.file, one.system)
            for entry in entries:
                if entry not in shared:
                    shared[entry] = digest_of(entry), entry
            ids, same = zip(*(shared[entry] for entry in entries), strict=True) if entries else ((), ())
            yield (system, blob), _Split(bytes=len(data), ids=ids, entries=same, secrets=screened.hits)
    except GitError:  # a partial clone: what is not there has no history
        return


def _within(known: Mapping[_Key, _Split]) -> dict[_Key, _Split]:
    """The versions up to the limit, whichever were cached."""
    sizes = accumulate(one.bytes for one in known.values())
    return {key: one for (key, one), size in zip(known.items(), sizes, strict=True) if size <= VERSIONS_BYTES}
