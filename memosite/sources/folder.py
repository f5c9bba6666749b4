"""[I/O] Folder sources: which files may belong to the archive, and their bytes.

Nothing outside a source is read (SPEC 9): symbolic links are not followed, neither files nor folders, and a path
is only ever one that the walk itself found. What other tools keep in the same folders is left alone.
"""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memosite.discover import SITE_MARKER
from memosite.errors import SourceError
from memosite.findings import Finding, Location
from memosite.formats.document import File
from memosite.formats.places import record_system
from memosite.layout import SKIPPED_FOLDERS, UNREAD_FOLDERS, matches_glob, place_of
from memosite.names import BODY_SUFFIX, ENVELOPE_SUFFIX
from memosite.sources.git import Holding
from memosite.sources.sniff import has_record_head

FILE_LIMIT = 32 * 1024 * 1024
"""The largest file that is read, in bytes (SPEC 9)."""

FILES_LIMIT = 2_000_000
"""The largest number of files and folders that are looked at in one source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSource:
    """A folder to read. `holes` are folders in it that are not part of it: other sources, the output, the cache."""

    name: str
    root: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    holes: tuple[Path, ...] = ()
    holding: Holding | None = None
    """The repo its history is read from; None if nobody asks for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a walk through a source found, as paths relative to it: regular files only, never links.

    `candidates` are to be read; `others` lie where an envelope may name them in its `body_ref`: in a store, beside
    an envelope, or named as bodies are. `records` are those of the candidates that only a record's adapter may read:
    they lie where another memory system keeps its files, or begin as a record does, and are no documents.
    """

    source: FolderSource
    candidates: tuple[str, ...]
    others: frozenset[str]
    findings: tuple[Finding, ...]
    records: frozenset[str] = frozenset()


def list_files(source: FolderSource) -> Listing:
    """Walk a source. Raises `SourceError` if its root cannot be listed, or if there are too many files."""
    found = _Found(source=source)
    for folder, entries in _walk(source, found.findings):
        found.add(folder, entries)
    documents = {path for path in found.markdown if _is_document(path, source.documents, found.roots)}
    begun = (path for path in found.markdown if path not in documents and has_record_head(source.root / path))
    records = frozenset({*found.records, *begun} - documents)
    return Listing(
        source=source,
        candidates=tuple(sorted({*found.candidates, *documents, *records})),
        others=frozenset(found.others).difference(documents),
        findings=tuple(found.findings),
        records=records,
    )


@dataclass(kw_only=True)
class _Found:
    """The files of a walk by what they may be, and the working roots that the stores among them tell of."""

    source: FolderSource
    candidates: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    markdown: list[str] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    roots: set[str] = field(default_factory=lambda: {""})

    def add(self, folder: str, entries: "list[os.DirEntry[str]]") -> None:
        """Sort the entries of one folder, its subfolders apart."""
        place = place_of(_join(folder, "-"))
        if place is not None:
            self.roots.add(place.root)
        holds_bodies = place is not None or any(entry.name.lower().endswith(ENVELOPE_SUFFIX) for entry in entries)
        for entry in entries:
            name = entry.name
            path = _join(folder, name)
            is_body = name.lower().endswith(BODY_SUFFIX)
            is_wanted = name.lower().endswith((ENVELOPE_SUFFIX, ".opencatalog")) or _is_included(path, self.source)
            is_record = not is_body and record_system(path) is not None
            if not entry.is_file(follow_symlinks=False):
                if is_wanted or is_record or _would_hold_artifacts(path):
                    self.findings.append(_not_a_file(self.source, path, entry))
                continue
            if is_wanted or (is_body and place is not None):
                self.candidates.append(path)
                continue
            if is_body or holds_bodies:
                self.others.append(path)
            if is_record:
                self.records.append(path)
            if place is None and not is_body and name.lower().endswith((".md", ".markdown")):
                self.markdown.append(path)


def _would_hold_artifacts(path: str) -> bool:
    """Whether a folder of this path would be a store, or lie in one."""
    return place_of(f"{path}/-") is not None or record_system(f"{path}/-.md") is not None


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _walk(source: FolderSource, findings: list[Finding]) -> "Iterator[tuple[str, list[os.DirEntry[str]]]]":
    """Each folder that is not skipped or somebody else's, with what is in it and not excluded, subfolders apart."""
    holes = set(_relative_holes(source))
    pending = [""]
    seen = 0
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(source.root / folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            if not folder:
                raise SourceError(f"{source.root}: the source cannot be read ({error.strerror})") from error
            findings.append(_finding("file-unreadable", source, folder, f"it cannot be listed ({error.strerror})"))
            continue
        seen += len(entries)
        if seen > FILES_LIMIT:
            raise SourceError(
                f"{source.root}: more than {FILES_LIMIT} files; exclude in memosite.yml the folders that do not count"
            )
        names = {entry.name for entry in entries}
        is_foreign = SITE_MARKER in names or "pyvenv.cfg" in names
        if folder and is_foreign and place_of(f"{folder}/x") is None:  # in a store, such a file hides nothing
            continue
        here = []
        for entry in entries:
            path = _join(folder, entry.name)
            if any(matches_glob(path, pattern) for pattern in source.exclude):
                continue
            if not entry.is_dir(follow_symlinks=False):
                here.append(entry)
            elif entry.name not in UNREAD_FOLDERS and entry.name not in SKIPPED_FOLDERS and path not in holes:
                pending.append(path)
        yield folder, here


def _relative_holes(source: FolderSource) -> Iterator[str]:
    root = source.root.resolve()
    for hole in source.holes:
        resolved = hole.resolve()
        if root in resolved.parents:
            yield resolved.relative_to(root).as_posix()


def _is_included(path: str, source: FolderSource) -> bool:
    return any(matches_glob(path, pattern) for pattern in source.include)


def _is_document(path: str, patterns: tuple[str, ...], roots: Collection[str]) -> bool:
    """Documents are sought at the source's root and at each working root, which may lie below it (SPEC 2.2)."""
    parts = path.split("/")
    for depth in range(len(parts)):
        if "/".join(parts[:depth]) in roots:
            below = "/".join(parts[depth:])
            if any(matches_glob(below, pattern) for pattern in patterns):
                return True
    return False


def read_file(source: FolderSource, path: str) -> File | Finding:
    """The bytes of one file that a walk found, or the finding that says why it was left out."""
    try:
        handle = os.open(source.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb", buffering=0) as stream:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return _finding("file-unreadable", source, path, "it is not a regular file")
            data = _read_whole(stream.fileno(), status.st_size) if status.st_size <= FILE_LIMIT else None
    except OSError as error:
        return _finding("file-unreadable", source, path, f"it cannot be opened ({error.strerror})")
    if data is None or len(data) > FILE_LIMIT:
        message = f"it has {status.st_size} bytes; files over {FILE_LIMIT} are not read"
        return _finding("file-too-large", source, path, message)
    return File(source=source.name, path=shown_path(path), data=data)


def _read_whole(handle: int, expected: int) -> bytes:
    """All bytes of an open file, one more than the limit at most: it may grow while it is read."""
    parts = []
    size = 0
    while size <= FILE_LIMIT:
        part = os.read(handle, min(max(expected - size, 0), FILE_LIMIT) + 1)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def has_file(source: FolderSource, path: str) -> bool:
    """Whether a normal relative path leads to a file or folder of the source; no link is followed on the way."""
    place = source.root
    for part in path.split("/"):
        if part in {"", ".", ".."}:
            return False
        place /= part
        try:
            mode = place.lstat().st_mode
        except (OSError, ValueError):
            return False
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return False
    return True


def shown_path(path: str) -> str:
    """A path as texts can hold it: bytes in it that are not UTF-8 become U+FFFD."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _not_a_file(source: FolderSource, path: str, entry: "os.DirEntry[str]") -> Finding:
    if entry.is_symlink():
        return _finding("link-not-followed", source, path, "a symbolic link; it was not followed")
    return _finding("file-unreadable", source, path, "it is not a regular file")


def _finding(rule: str, source: FolderSource, path: str, message: str) -> Finding:
    return Finding(rule=rule, location=Location(source=source.name, path=shown_path(path)), message=message)
