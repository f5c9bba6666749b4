"""[I/O] The manifest: what each unit of the last build read and wrote, so that the next build makes only what is stale.

It is in the cache, one for each output folder, as JSON lines: what is common to all pages, then all reads with their
digests, then each unit with the numbers of its reads and with its outputs. A manifest that is missing, damaged, of
another version or of another folder is ignored: everything is made again, which costs only time. It is signed (`keys`),
since it also says what to remove.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from memosite.store.cache import read_signed, write_signed
from memosite.store.output import FileState

VERSION = 3

_SEAL, _LAST, _STATES = ".seal", ".last", ".states"

ManifestRead = tuple[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestOutput:
    """A file of the site: the fingerprint of its model, and its file state. `state` is None if it was not written.

    Two units may claim one path; only the first writes it.
    """

    path: str
    fingerprint: str
    state: FileState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A unit as it was made: its reads, by number, and its outputs.

    `given` is the digest of what it was given besides. `reads` is None if it was not traced.
    """

    given: str
    reads: tuple[int, ...] | None
    outputs: tuple[ManifestOutput, ...]


class Reads:
    """What units read, each with a number and the digest of what was found. Most are read by several units.

    A number keeps its meaning from build to build, unless everything is made again.
    """

    def __init__(self, known: Iterable[tuple[ManifestRead, str]] = ()) -> None:
        """Begin with these, which are numbered in their order from 0."""
        self._digests: dict[ManifestRead, str] = dict(known)
        self._numbers = {read: number for number, read in enumerate(self._digests)}

    def __iter__(self) -> Iterator[tuple[ManifestRead, str]]:
        """Each read with its digest, by number."""
        return iter(self._digests.items())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._digests)

    def note(self, read: ManifestRead, digest: str) -> int:
        """The number of a read; this is its digest from now on."""
        self._digests[read] = digest
        return self._numbers.setdefault(read, len(self._numbers))


class Units(Mapping[str, Made]):
    """Units by name, each kept as its line and read when it is asked for: of 100,000 artifacts there are 70,000."""

    def __init__(self) -> None:
        """Begin empty."""
        self._lines: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._read: dict[str, Made] = {}
        self.keeps_read = False
        """Whether what was read of a line is kept, of as many units as are worth the memory."""

    def __getitem__(self, name: str) -> Made:
        """The unit of this name."""
        made = self._read.get(name)
        if made is None:
            made = _read_line(self._lines[name])
            if self.keeps_read and len(self._read) < _MOST_READ:
                self._read[name] = made
        return made

    def __contains__(self, name: object) -> bool:
        """Whether there is one of this name; its line is not read."""
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        """The names, in the order in which they were noted."""
        return iter(self._lines)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._lines)

    def lines(self) -> Iterable[str]:
        """The lines, as a manifest holds them."""
        return self._lines.values()

    def files(self) -> Iterator[str]:
        """Lines for the files of the units that were noted: the state of each, and its path."""
        return (lines for lines in self._files.values() if lines)

    def states(self) -> Iterator[tuple[str, FileState]]:
        """Each file of the units that were noted, and its file state then."""
        return _read_states(chain.from_iterable(lines.split("\n") for lines in self.files()))

    def note(self, name: str, made: Made) -> None:
        """Note the reads and outputs of a unit."""
        self._lines[name] = _line(name, made)
        self._files[name] = _file_lines(made)

    def note_line(self, line: str) -> None:
        """Note a unit by its line. Raises `ValueError` if the line is invalid."""
        name, _ = _NAMES.raw_decode(line, 1)
        self._lines[str(name)] = line

    def keep(self, name: str, made: Made, others: "Units") -> None:
        """Copy a unit from other `Units`."""
        self._lines[name] = others._lines[name]
        self._files[name] = others._files[name] if name in others._files else _file_lines(made)
        if name in others._read:
            self._read[name] = made


_MOST_READ = 30_000


_NAMES = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The units of the last build, and their reads. `common` are the digests of what all of them are made of."""

    common: Mapping[str, str] = field(default_factory=dict)
    reads: Reads = field(default_factory=Reads)
    units: Units = field(default_factory=Units)

    def reads_of(self, made: Made) -> list[ManifestRead]:
        """What one of its units read."""
        known = [read for read, _ in self.reads]
        return [known[number] for number in made.reads or ()]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSeal:
    """The inputs and the report of a build: with equal inputs and unchanged outputs the site is up to date.

    `inputs` is a digest of all that was read; the rest is what a report says. `kinds` counts artifacts, `findings`
    those of each severity; `withheld` is what is not published for a secret (places and kinds), `redacted` how many
    secrets were redacted, in how many files; `unread` are files that are not read, and why. The outputs are in a
    file of their own, which is read ten times as fast as the manifest.
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


def manifest_file(cache: Path, output: Path) -> Path:
    """The path of the manifest of an output folder; what else is known of its last build is beside it."""
    return cache / "manifests" / f"{blake2b(bytes(output.resolve()), digest_size=8).hexdigest()}.jsonl"


def read_last(file: Path) -> FileState | None:
    """The file state of `status.json`, which each build writes, when the build of this manifest ended.

    If it is different now, somebody else built there since (with another cache, or as another user), or the
    folder is another one: a manifest and a seal may say too little of it.
    """
    try:
        size, time, inode = json.loads(read_signed(file.with_suffix(_LAST)) or b"[]")
    except (ValueError, TypeError, RecursionError):
        return None
    return size, time, inode


def write_last(file: Path, state: FileState | None) -> None:
    """Write down the file state of `status.json` now."""
    write_signed(file.with_suffix(_LAST), json.dumps(state).encode())


def read_seal(file: Path) -> BuildSeal:
    """The seal beside a manifest; an empty one if there is none that can be read."""
    try:
        known = json.loads(read_signed(file.with_suffix(_SEAL)) or b"{}")
        return BuildSeal(
            inputs=known["inputs"],
            kinds={str(kind): int(number) for kind, number in known["kinds"].items()},
            sources=int(known["sources"]),
            findings={str(severity): int(number) for severity, number in known["findings"].items()},
            collisions=tuple(map(str, known["collisions"])),
            status=dict(known["status"]),
            files=int(known["files"]),
            withheld=tuple(map(str, known["withheld"])),
            redacted=(int(known["redacted"][0]), int(known["redacted"][1])),
            unread=tuple(map(str, known["unread"])),
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return BuildSeal()


def write_seal(file: Path, seal: BuildSeal) -> None:
    """Write a seal beside its manifest, whole or not at all."""
    data = json.dumps({name: getattr(seal, name) for name in BuildSeal.__slots__}).encode()
    write_signed(file.with_suffix(_SEAL), data)


def read_manifest(file: Path) -> Manifest:
    """The manifest in a file; an empty one if there is none that can be read."""
    try:
        head, *lines = (read_signed(file) or b"{}").decode().split("\n")
        first = json.loads(head)
        if first["v"] != VERSION or first["units"] + 1 != len(lines):
            return Manifest()
        reads = Reads(_read_reads(lines[0]))
        units = Units()
        for line in lines[1:]:
            units.note_line(line)
        return Manifest(common=dict(first["common"]), reads=reads, units=units)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return Manifest()


def read_states(file: Path) -> Iterator[tuple[str, FileState]]:
    """Every file of the site of this manifest, and its state when the manifest was written; empty if not known."""
    return _read_states((read_signed(file.with_suffix(_STATES)) or b"").decode("utf-8", "replace").split("\n"))


def _read_states(lines: Iterable[str]) -> Iterator[tuple[str, FileState]]:
    for line in lines:
        size, _, rest = line.partition(" ")
        time, _, rest = rest.partition(" ")
        inode, _, path = rest.partition(" ")
        if path:
            yield path, (int(size), int(time), int(inode))


def write_manifest(file: Path, manifest: Manifest) -> None:
    """Write a manifest with the states of its files, each whole or not at all."""
    write_signed(file.with_suffix(_STATES), "\n".join(manifest.units.files()).encode("utf-8", "surrogatepass"))
    head = json.dumps({"v": VERSION, "units": len(manifest.units), "common": dict(manifest.common)})
    reads = json.dumps([(*read, digest) for read, digest in manifest.reads])
    write_signed(file, "\n".join((head, reads, *manifest.units.lines())).encode())


def _read_reads(line: str) -> Iterator[tuple[ManifestRead, str]]:
    for mapping, key, digest in json.loads(line):
        yield (mapping, tuple(key) if type(key) is list else key), digest


def _line(name: str, made: Made) -> str:
    outputs = [(one.path, one.fingerprint, one.state) for one in made.outputs]
    return json.dumps([name, made.given, made.reads, outputs])


def _file_lines(made: Made) -> str:
    written = ((one.state, one.path) for one in made.outputs if one.state is not None)
    return "\n".join(f"{size} {time} {inode} {path}" for (size, time, inode), path in written)


def _read_line(line: str) -> Made:
    _, given, reads, outputs = json.loads(line)
    found = tuple(
        ManifestOutput(path=path, fingerprint=fingerprint, state=tuple(state) if state else None)
        for path, fingerprint, state in outputs
    )
    return Made(given=given, reads=None if reads is None else tuple(reads), outputs=found)
