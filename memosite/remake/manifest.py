"""[I/O] The manifest: what each unit of the last build read and wrote, so that the next build makes only what is stale.

It is rows of the file that remembers (`state.py`), by output folder. They change at the end of a build, all at once.
A manifest of which a row is missing, damaged or not ours is none: everything is made again, which costs only time.
"""

import json
import marshal
from array import array
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from memosite.facts.values import Value, field
from memosite.store.output import FileState
from memosite.store.state import BUILDS, FILES, READS, UNITS, State

ManifestRead = tuple[str, Any]


class ManifestOutput(Value):
    """A file of the site: the fingerprint of its model, and its file state. `state` is None if it was not written.

    Two units may claim one path; only the first writes it.
    """

    path: str
    fingerprint: str
    state: FileState | None


class Made(Value):
    """A unit as it was made: its reads, by number, and its outputs.

    `given` is the digest of what it was given besides. `reads` is None if it was not traced.
    """

    given: str
    reads: tuple[int, ...] | None
    outputs: tuple[ManifestOutput, ...]


class Reads:
    """What units read, each with a number and the digest of what was found. Most are read by several units.

    A number keeps its meaning from build to build, as long as there is a unit that has it.
    """

    def __init__(self, known: Iterable[tuple[int, ManifestRead, str]] = ()) -> None:
        """Begin with these."""
        self._numbers: dict[ManifestRead, int] = {}
        self._digests: dict[int, str] = {}
        for number, read, digest in known:
            self._numbers[read] = number
            self._digests[number] = digest
        self._next = max(self._digests, default=-1) + 1

    def __iter__(self) -> Iterator[tuple[int, ManifestRead, str]]:
        """The number of each read, the read and its digest."""
        return ((number, read, self._digests[number]) for read, number in self._numbers.items())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._digests)

    def note(self, read: ManifestRead, digest: str) -> int:
        """The number of a read; this is its digest from now on."""
        number = self._numbers.setdefault(read, self._next)
        self._next = max(self._next, number + 1)
        self._digests[number] = digest
        return number

    def keep(self, numbers: set[int]) -> None:
        """Forget the reads that no unit has any more: all but these."""
        if len(numbers) < len(self._digests):
            self._numbers = {read: number for read, number in self._numbers.items() if number in numbers}
            self._digests = {number: self._digests[number] for number in self._numbers.values()}


class Units(Mapping[str, Made]):
    """Units by name, each kept as its rows and read when it is asked for: of 100,000 artifacts there are 70,000."""

    def __init__(self, rows: Iterable[tuple[str, bytes, bytes]] = ()) -> None:
        """Begin with these rows."""
        self._rows = {name: (row, files) for name, row, files in rows}
        self._read: dict[str, Made] = {}
        self.keeps_read = False
        """Whether what was read of a row is kept, of as many units as are worth the memory."""

    def __getitem__(self, name: str) -> Made:
        """The unit of this name."""
        made = self._read.get(name)
        if made is None:
            made = _made(*self._rows[name])
            if self.keeps_read and len(self._read) < _MOST_READ:
                self._read[name] = made
        return made

    def __contains__(self, name: object) -> bool:
        """Whether there is one of this name; its rows are not read."""
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._rows)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._rows)

    def rows(self) -> Iterator[tuple[str, bytes, bytes]]:
        """The name of each unit, its row, and the row of its files."""
        return ((name, *rows) for name, rows in self._rows.items())

    def states(self) -> Iterator[tuple[str, FileState]]:
        """Each file of the units, and its file state."""
        return _states(files for _, files in self._rows.values())

    def note(self, name: str, made: Made) -> None:
        """Note the reads and outputs of a unit."""
        self._rows[name] = _rows(made)

    def keep(self, name: str, made: Made, others: "Units") -> None:
        """Copy a unit from other `Units`."""
        self._rows[name] = others._rows[name]
        if name in others._read:
            self._read[name] = made


_MOST_READ = 30_000


class Manifest(Value):
    """The units of the last build, and their reads. `common` are the digests of what all of them are made of."""

    common: Mapping[str, str] = field(default_factory=dict)
    reads: Reads = field(default_factory=Reads)
    units: Units = field(default_factory=Units)

    def reads_of(self, made: Made) -> list[ManifestRead]:
        """What one of its units read."""
        known = {number: read for number, read, _ in self.reads}
        return [known[number] for number in made.reads or ()]


class BuildSeal(Value):
    """The inputs and the report of a build: with equal inputs and unchanged outputs the site is up to date.

    `inputs` is a digest of all that was read; the rest is what a report says. `kinds` counts artifacts, `findings`
    those of each severity; `withheld` is what is not published for a secret (places and kinds), `redacted` how many
    secrets were redacted, in how many files; `unread` are files that are not read, and why.
    """

    inputs: str = ""
    kinds: Mapping[str, int] = field(default_factory=dict)
    sources: int = 0
    findings: Mapping[str, int] = field(default_factory=dict)
    collisions: tuple[str, ...] = ()
    status: Mapping[str, object] = field(default_factory=dict)
    files: int = 0
    withheld: tuple[str, ...] = ()
    redacted: tuple[int, int] = (0, 0)
    unread: tuple[str, ...] = ()


_HEAD, _SEAL, _STATUS = "head", "seal", "status"
_TOGETHER: Final = 16  # reads in a row: as many as fit into a page of SQLite, which is written whole


def key_of(output: Path) -> str:
    """The key of an output folder: several may be built with one cache."""
    return blake2b(bytes(output.resolve()), digest_size=8).hexdigest()


def read_status(state: State, output: str) -> FileState | None:
    """The file state of `status.json`, which each build writes, when the last build of this output folder ended.

    If it is different now, somebody else built there since (with another cache, or as another user), or the
    folder is another one: a manifest and a seal may say too little of it.
    """
    data = state[BUILDS].get(output, _STATUS)
    size_time_inode = json.loads(data) if data is not None else ()
    return tuple(size_time_inode) or None


def write_status(state: State, output: str, status: FileState | None) -> None:
    """Write down the file state of `status.json` now."""
    with state.writing():
        state[BUILDS].put([((output, _STATUS), json.dumps(status or ()).encode())])


def read_seal(state: State, output: str) -> BuildSeal:
    """The seal of the last build; an empty one if there was none."""
    data = state[BUILDS].get(output, _SEAL)
    known: dict[str, Any] = json.loads(data) if data is not None else {}
    known |= {name: tuple(value) for name, value in known.items() if type(value) is list}
    return BuildSeal(**known)


def read_manifest(state: State, output: str) -> Manifest:
    """The manifest of the last build, whole; an empty one if there was none, or if anything of it is missing."""
    with state.reading():
        head = state[BUILDS].get(output, _HEAD)
        units, files, reads = (state[table].items(output) for table in (UNITS, FILES, READS))
    if head is None or not state.is_kept:
        return Manifest()
    common, *counts = json.loads(head)
    known = Reads(read for _, data in reads for read in marshal.loads(data))  # noqa: S302 - signed by this user
    names = [str(name) for (_, name), _ in units]
    if counts != [len(units), len(known)] or names != [name for (_, name), _ in files]:
        return Manifest()
    rows = ((name, row, of) for name, (_, row), (_, of) in zip(names, units, files, strict=True))
    return Manifest(common=common, reads=known, units=Units(rows))


def read_states(state: State, output: str) -> Iterator[tuple[str, FileState]]:
    """Every file of the last build, and its state then; empty if anything of it is missing."""
    with state.reading():
        head = state[BUILDS].get(output, _HEAD)
        files = state[FILES].items(output)
    if head is None or json.loads(head)[1] != len(files):
        files = []
    return _states(data for _, data in files)


def write_manifest(state: State, output: str, manifest: Manifest, seal: BuildSeal, status: FileState | None) -> None:
    """Write what has changed of a manifest and its seal: all of it, or nothing."""
    head = json.dumps([dict(manifest.common), len(manifest.units), len(manifest.reads)])
    values = json.dumps({name: getattr(seal, name) for name in BuildSeal.__struct_fields__})
    with state.writing():
        state[UNITS].replace((((output, name), row) for name, row, _ in manifest.units.rows()), output)
        state[FILES].replace((((output, name), files) for name, _, files in manifest.units.rows()), output)
        state[READS].replace(_read_rows(output, manifest.reads), output)
        state[BUILDS].put([((output, _HEAD), head.encode()), ((output, _SEAL), values.encode())])
        write_status(state, output, status)


def _read_rows(output: str, reads: Reads) -> Iterator[tuple[tuple[str | int, ...], bytes]]:
    numbered = sorted(reads, key=lambda read: read[0])
    for number, some in groupby(numbered, key=lambda read: read[0] // _TOGETHER):
        yield (output, number), marshal.dumps(list(some), 2)


def _rows(made: Made) -> tuple[bytes, bytes]:
    """The row of a unit, and that of its files: equal bytes for equal ones."""
    reads = None if made.reads is None else array("I", sorted(made.reads)).tobytes()
    files = [(one.path, one.fingerprint, *(one.state or ())) for one in made.outputs]
    return marshal.dumps((made.given, reads), 2), marshal.dumps(files, 2)


def _made(row: bytes, files: bytes) -> Made:
    given, reads = marshal.loads(row)  # noqa: S302 - signed by this user
    found = tuple(
        ManifestOutput(path=path, fingerprint=fingerprint, state=tuple(state) or None)
        for path, fingerprint, *state in marshal.loads(files)  # noqa: S302 - as above
    )
    return Made(given=given, reads=None if reads is None else tuple(array("I", reads)), outputs=found)


def _states(rows: Iterable[bytes]) -> Iterator[tuple[str, FileState]]:
    for row in rows:
        for path, _, *state in marshal.loads(row):  # noqa: S302 - signed by this user
            if state:
                yield path, tuple(state)
