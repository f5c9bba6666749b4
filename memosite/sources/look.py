"""[I/O] Takes a snapshot of a folder in one walk: all names, and the states of the files that are read.

    scandir, lstat ─► Look ─┬─► digest: whether anything changed since (`inputs`, `read`)
                            ├─► the entries of each folder (`listing`)
                            └─► the state of each file (`parse_cache`)

The state of a file is its size, times and inode, as in git's index. A file may be written twice within one tick of
the disk's clock, so a file written less than `RECENT` before the moment of a snapshot, or dated later,
is compared by its contents too.

Folders that are never read (`.git`, `node_modules`) or are excluded are not walked: a memo that mentions a new file
there gets its link with the next change of anything else.
"""

import hashlib
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, Protocol

from memosite.facts.layout import SKIPPED_FOLDERS, UNREAD_FOLDERS, join_path, matches_any, place_of
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.texts import IMAGE_SUFFIXES
from memosite.formats.systems import READ_SUFFIXES
from memosite.sources.listing import FOREIGN_MARKERS, RECENT, EntryKind, FolderEntry, is_foreign
from memosite.store.safe_files import NotAFileError, open_file

FileLook = tuple[int, int, int, int, int, int]
"""Mode, size, when written, when changed (both in nanoseconds since 1970), inode, disk."""

_KINDS: Mapping[str, EntryKind] = {"f": "file", "d": "folder", "l": "link", "o": "other"}
"""By a letter each, of which a look keeps one a file."""
_name = attrgetter("name")


class LookAt(Protocol):
    """Takes a snapshot of a source's folder."""

    def __call__(self, root: str, *, include: Sequence[str], exclude: Sequence[str], holes: Collection[str]) -> "Look":
        """The snapshot; see `look_at`."""


class FolderLook(NamedTuple):
    """The entries of a folder, by name; each kind is a letter.

    A state is None where only the name counts, and the error number if it cannot be read.
    """

    names: tuple[str, ...]
    kinds: str
    states: tuple[FileLook | int | None, ...]


class Look:
    """A snapshot of a folder. A subfolder that cannot be listed is the error number instead."""

    def __init__(
        self, root: str, folders: Mapping[str, FolderLook | int], *, repos: frozenset[str], newest: int, moment: int
    ) -> None:
        """Keep `folders` by path, as they were from the `moment` on.

        `repos` are those of them that hold a `.git`; `newest` is the newest time of all files.
        """
        self.moment = moment
        self.repos = repos
        self._root = root
        self._folders = folders
        self._newest = newest
        self._digest = hashlib.sha256(repr((list(folders.items()), sorted(repos))).encode()).hexdigest()
        self._contents: dict[str, str] = {}

    def __contains__(self, folder: str) -> bool:
        """Whether the snapshot includes this folder."""
        return folder in self._folders

    def entries(self, folder: str) -> Sequence[FolderEntry]:
        """The entries of a folder of the snapshot. Raises `OSError` if it could not be listed."""
        found = self._folders[folder]
        if isinstance(found, int):
            raise OSError(found, os.strerror(found))
        return [FolderEntry(name, _KINDS[kind]) for name, kind in zip(found.names, found.kinds, strict=True)]

    def states(self) -> dict[str, FileLook]:
        """The states of files by path."""
        return dict(self._files())

    def has_recent(self, moment: int) -> bool:
        """Whether any file is so recent, as of a moment, that its contents count."""
        return self._newest >= moment - RECENT

    def digest(self, moment: int) -> str:
        """The digest of the whole snapshot as of a moment."""
        if not self.has_recent(moment):
            return self._digest
        since = moment - RECENT
        recent = [(path, self._content(path, state)) for path, state in self._files() if changed(state) >= since]
        return f"{self._digest}{hashlib.sha256(repr(recent).encode()).hexdigest()}"

    def _files(self) -> Iterator[tuple[str, FileLook]]:
        for folder, found in self._folders.items():
            if not isinstance(found, int):
                for name, state in zip(found.names, found.states, strict=True):
                    if isinstance(state, tuple):
                        yield join_path(folder, name), state

    def _content(self, path: str, state: FileLook) -> str:
        if path not in self._contents:
            self._contents[path] = content_of(f"{self._root}/{path}", state[0])
        return self._contents[path]


def look_at(root: str, *, include: Sequence[str], exclude: Sequence[str], holes: Collection[str]) -> Look:
    """Take a snapshot of a source's folder, with the names of all files: memos may link to any of them.

    `include` and `exclude` are the source's globs, `holes` whole paths of folders that are not part of it.
    """
    moment = time.time_ns()
    folders: dict[str, FolderLook | int] = {}
    repos: set[str] = set()
    newest = 0
    pending = [""]
    while pending:
        path = pending.pop()
        try:
            with os.scandir(f"{root}/{path}" if path else root) as scanned:
                entries = sorted(scanned, key=_name)
        except OSError as error:
            folders[path] = error.errno or 0
            continue
        names = {entry.name for entry in entries}
        if path and ".git" in names:
            repos.add(path)
        if is_foreign(path, names):
            names &= FOREIGN_MARKERS
            folders[path] = FolderLook(tuple(sorted(names)), "o" * len(names), (None,) * len(names))
            continue
        if exclude:
            entries = [one for one in entries if not matches_any(join_path(path, one.name), exclude)]
        kinds = "".join(map(_kind, entries))
        pending += [
            join_path(path, one.name)
            for one, kind in zip(entries, kinds, strict=True)
            if kind == "d" and one.name not in UNREAD_FOLDERS and one.path not in holes
        ]
        states, newest = _states(path, entries, kinds, include, newest)
        folders[path] = FolderLook(tuple(map(_name, entries)), kinds, tuple(states))
    return Look(root, folders, repos=frozenset(repos), newest=newest, moment=moment)


class Looks:
    """Snapshots that are retaken only where something changed, for a caller that is notified of changes (serve)."""

    def __init__(self) -> None:
        """Begin without any."""
        self._known: dict[tuple[object, ...], Look] = {}
        self._asked: set[tuple[object, ...]] = set()

    def look_at(self, root: str, *, include: Sequence[str], exclude: Sequence[str], holes: Collection[str]) -> Look:
        """As the function of this name, or the last snapshot if it is up to date."""
        key = root, tuple(include), tuple(exclude), frozenset(holes)
        self._asked.add(key)
        if key not in self._known:
            self._known[key] = look_at(root, include=include, exclude=exclude, holes=holes)
        return self._known[key]

    def forget(self, changed: Iterable[str] | None = None) -> None:
        """Mark the folders of these paths as stale; all folders if that is not known, or if a path is in none.

        Snapshots not used since the last call are dropped: the configuration has changed.
        """
        roots = {str(key[0]) for key in self._known}
        touched: set[str] = set()
        for path in changed or ():
            holding = {root for root in roots if path == root or path.startswith(f"{root}/")}
            if not holding:
                changed = None
                break
            touched |= holding
        kept = self._asked if changed else set()
        self._known = {key: look for key, look in self._known.items() if key in kept and key[0] not in touched}
        self._asked = set()

    def are_true(self) -> bool:
        """Whether all snapshots are up to date; those that are not are marked as stale."""
        before = len(self._known)
        for key, look in list(self._known.items()):
            root, include, exclude, holes = key
            now = look_at(root, include=include, exclude=exclude, holes=holes)  # type: ignore[arg-type] # as they came
            if now.digest(look.moment) != look.digest(look.moment):
                del self._known[key]
        return len(self._known) == before


def _states(
    folder: str, entries: Sequence["os.DirEntry[str]"], kinds: str, include: Sequence[str], newest: int
) -> tuple[list[FileLook | int | None], int]:
    """The states of the files in a folder that may be read, and the newest of their times and `newest`."""
    states: list[FileLook | int | None] = []
    is_sample = any(part in SKIPPED_FOLDERS for part in folder.split("/"))
    place = place_of(f"{folder}/-") if folder else None
    is_read = place is not None or any(one.name.lower().endswith(ENVELOPE_SUFFIX) for one in entries)
    for entry, kind in zip(entries, kinds, strict=True):
        if kind == "d" or is_sample or not (is_read or _may_be_read(join_path(folder, entry.name), include)):
            states.append(None)
            continue
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError as error:  # removed meanwhile
            states.append(error.errno or 0)
            continue
        _, _, written, last, _, _ = state = state_of(found)
        if written > newest or last > newest:
            newest = max(written, last)
        states.append(state)
    return states, newest


def state_of(found: os.stat_result) -> FileLook:
    """The parts of a file's state that are compared."""
    return found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


def changed(state: FileLook) -> int:
    """When a file was last written, or otherwise changed, in nanoseconds since 1970."""
    return max(state[2], state[3])


def content_of(path: str, mode: int) -> str:
    """SHA-256 of a file's bytes, or of a folder's names; unreadable ones count as empty."""
    try:
        if stat.S_ISDIR(mode):
            return hashlib.sha256(repr(sorted(one.name for one in Path(path).iterdir())).encode()).hexdigest()
        with open_file(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except NotAFileError:
        return ""
    except OSError as error:
        return str(error.errno)


def list_folder(folder: Path) -> list[FolderEntry]:
    """The entries of a folder now. Raises `OSError` if it cannot be listed."""
    with os.scandir(folder) as scanned:
        return [FolderEntry(entry.name, _KINDS[_kind(entry)]) for entry in sorted(scanned, key=_name)]


def _kind(entry: "os.DirEntry[str]") -> str:
    if entry.is_file(follow_symlinks=False):
        return "f"
    if entry.is_dir(follow_symlinks=False):
        return "d"
    return "l" if entry.is_symlink() else "o"


def _may_be_read(path: str, include: Sequence[str]) -> bool:
    return path.lower().endswith((*READ_SUFFIXES, *IMAGE_SUFFIXES)) or matches_any(path, include)
