"""[I/O] The output folder: writes files atomically and only if changed; removes those no longer made.

A reader never sees half a file (SPEC 9): bytes go to a file beside the others and are moved into place, with a time
in whole seconds that only grows, by which feed readers notice new content (FEEDS, bytes). The folder has a marker:
memosite refuses to write into a folder without one.

Power may be lost at any moment. Pages can be made again, and the next build sees which were lost. The ledger cannot,
and readers must not find a feed empty: these are on the disk before they are moved into place, and the ledger is in its
place before anything is written after it.
"""

import contextlib
import errno
import os
import re
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Literal

from memosite.facts.errors import BusyError, OutputError
from memosite.facts.layout import SITE_MARKER
from memosite.facts.patterns import regex
from memosite.store.locks import Lock
from memosite.store.safe_files import open_over, read_file, sync_folder

_UNFINISHED = ".memosite-unfinished"
_OWNED = (
    "actions", "archive", "citations", "decisions", "digests", "documents", "entities", "feeds", "health", "libraries",
    "memos", "notes", "org", "positions", "records", "saved", "search", "sessions", "spec", "static", "systems",
    "threads", "timeline", "transcripts", "weeks",
)  # fmt: skip
_OURS = regex(
    r"static/.+|.+/copies/[^/]+|.+/original[^/]*|archive/.+/files-\d+\.zip|"
    r".+\.(?:html|jsonl?|md|xml|js|opml|openthing|opencatalog)",
    re.DOTALL | re.ASCII,
)
"""Paths in memosite's own folders that it may have written; any other file there is somebody else's."""
_MARKER_TEXT = "This folder is made by memosite: the next build overwrites its files.\n"
_AUDIENCE = "audience: "


FileState = tuple[int, int, int]
"""How a file lies there: its size, its time in nanoseconds, and its inode."""

Synced = Literal["never", "published", "always"]
"""Which files are on the disk before they are in their place: with "published" if the folder was not empty before,
since readers may know it."""


class OutputFolder:
    """A published site on disk. `written` and `unchanged` count files."""

    def __init__(self, root: Path, *, previous: Path | None = None, audience: str = "internal") -> None:
        """Nothing is touched before `open`. A file equal to one of the site `previous` gets its time."""
        self.root = root
        self._audience = audience
        self._previous = previous
        self.written = 0
        self.unchanged = 0
        self.removed = 0
        self.collisions: list[str] = []
        self._paths: set[str] = set()
        self._folders: set[str] = set()
        self._new_folders: set[str] = set()
        self._unsynced: set[Path] = set()
        self._lock: Lock | None = None
        self.was_left_unfinished = False
        self._was_empty = False

    def check(self) -> None:
        """Raise `OutputError` if the folder is not memosite's: not empty and without its marker."""
        try:
            self._refuse_links()
            names = {entry.name for entry in self.root.iterdir()}
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unwritable(str(self.root), error, what="the output folder cannot be read") from error
        if names - {_UNFINISHED} and SITE_MARKER not in names:  # a build may be killed before it sets its marker
            raise OutputError(
                f"{self.root}: not empty, and not made by memosite (no {SITE_MARKER} in it); "
                "choose another folder with -o, or empty this one"
            )
        if SITE_MARKER in names and (found := audience_of(self.root)) != self._audience:
            raise OutputError(
                f"{self.root}: found a site for the audience {found}, expected one for {self._audience}: neither may "
                "be written over the other; choose another folder with -o or outputs, or empty this one"
            )

    def _refuse_links(self) -> None:
        """Refuse links in the output: they could redirect writes and removals out of it (SPEC 9)."""
        for folder in (self.root, *(self.root / name for name in _OWNED)):
            if folder.is_symlink():
                raise OutputError(f"{folder}: a symbolic link; memosite writes to a folder itself, remove the link")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Open the folder for the block, and mark the build as complete when the block ends without an error."""
        try:
            self.open()
            yield
            self.leave()
        finally:
            self.unlock()

    def refuse_if_changed(self, path: str, state: FileState | None) -> None:
        """Raise `BusyError` if a file is not the one that was read: another build's changes would be lost."""
        if self.state(path) != state:
            raise BusyError(f"{self.root}: another build wrote there meanwhile; run the command again")

    def open(self) -> None:
        """Make the folder ready to write: marker, a .gitignore that keeps it out of git, no unfinished files."""
        self.check()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self.lock()
            self.was_left_unfinished = is_unfinished(self.root)
            shutil.rmtree(self.root / _UNFINISHED, ignore_errors=True)
            self._was_empty = not any(self.root.iterdir())
            (self.root / _UNFINISHED).mkdir()
        except OSError as error:
            raise _unwritable(str(self.root), error, what="the output folder cannot be made") from error
        named = "" if self._audience == "internal" else f"{_AUDIENCE}{self._audience}\n"  # as it always was
        self.write(SITE_MARKER, f"{_MARKER_TEXT}{named}".encode())
        self.write(".gitignore", b"*\n")

    def lock(self) -> None:
        """Lock the folder for writing. Raises `BusyError` if another build has it, `OSError` if there is no folder."""
        self._lock = Lock(self.root)
        if not self._lock.take():
            self.unlock()
            raise BusyError(f"{self.root}: another build is writing there; wait for it to end")

    def state(self, path: str) -> FileState | None:
        """The state of a file of the site; None if it is no file."""
        try:
            found = os.lstat(f"{self.root}/{path}")
        except OSError:
            return None
        return (found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None

    def is_as_left(self, path: str, state: FileState | None) -> bool:
        """Whether a file is unchanged since it was written."""
        return state is not None and self.state(path) == state

    def is_whole(self, states: Iterable[tuple[str, FileState]]) -> bool:
        """Whether the last build completed, and all these files are unchanged since."""
        if is_unfinished(self.root):
            return False
        unchanged = (self.state(path) == state for path, state in states)
        return next(unchanged, False) and all(unchanged)

    def keep_all(self, paths: Collection[str]) -> bool:
        """Count files as `keep` does, if none of their paths is taken; return whether so."""
        if len(set(paths)) < len(paths) or not self._paths.isdisjoint(paths):
            return False
        self._paths.update(paths)
        self.unchanged += len(paths)
        return True

    def keep(self, path: str, state: FileState | None) -> FileState | None:
        """Count an up-to-date file as one of this build; None if another file has its path."""
        if not self._claim(path):
            return None
        self.unchanged += 1
        return state

    def write(self, path: str, data: bytes, *, synced: Synced = "never") -> FileState | None:
        """Write one file of the site, unless it has these bytes already, and return its state.

        A power loss spares a file that is `synced`; its name is on the disk after the next `sync`.

        Should two files have one path, the first stays: no content may stop a build. They are in `collisions`, and
        the second has no state.
        """
        if not self._claim(path):
            return None
        target = f"{self.root}/{path}"
        try:
            found = None if self._is_in_new_folder(path) else _lstat(target)
            if found is not None and _holds(target, found, data):
                self.unchanged += 1
                return self.state(path)
            self._make_folder(path)
            if found is not None:
                self._make_room(path)
                found = _lstat(target)
            is_synced = synced == "always" or (synced == "published" and not self._was_empty)
            self._replace(path, target, found, data, is_synced=is_synced)
        except OSError as error:
            raise _unwritable(target, error) from error
        self.written += 1
        return self.state(path)

    def _replace(self, path: str, target: str, found: os.stat_result | None, data: bytes, *, is_synced: bool) -> None:
        """Replace the file by these bytes."""
        unfinished = f"{self.root}/{_UNFINISHED}/file"
        file = open_over(unfinished)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(file, left) :]
            second = self._second(path, data, now=os.fstat(file), replaced=found)
            os.utime(file, (second, second))
            if is_synced:
                os.fsync(file)
                self._unsynced.add(Path(target).parent)
        finally:
            os.close(file)
        os.replace(unfinished, target)  # noqa: PTH105 - pathlib takes as long as writing

    def sync(self) -> None:
        """Wait until the files that are `synced` have their names on the disk, with the folders that they are in."""
        above = (folder for one in self._unsynced for folder in (one, *one.parents))
        folders = {folder for folder in above if folder.is_relative_to(self.root)}
        if folders and self._was_empty:
            folders.add(self.root.parent)  # the root may be new
        self._unsynced.clear()
        for folder in sorted(folders, reverse=True):
            try:
                sync_folder(folder)
            except OSError as error:
                raise _unwritable(str(folder), error) from error

    def _claim(self, path: str) -> bool:
        if path in self._paths:
            self.collisions.append(path)
            return False
        self._paths.add(path)
        return True

    def _second(self, path: str, data: bytes, *, now: os.stat_result, replaced: os.stat_result | None) -> int:
        """A whole second, later than that of the replaced file: servers answer 304 to new content with an old time.

        A file that replaces one of the previous site has its time, or a later one.
        """
        second = int(now.st_mtime)
        if replaced is not None:
            return max(second, int(replaced.st_mtime) + 1)
        former = f"{self._previous}/{path}"
        known = _lstat(former) if self._previous is not None else None
        if known is None:
            return second
        return int(known.st_mtime) if _holds(former, known, data) else max(second, int(known.st_mtime) + 1)

    def _is_in_new_folder(self, path: str) -> bool:
        """Whether this build has made the folder of a file, so that nothing else is in it; makes it in a new folder."""
        folder = path.rpartition("/")[0]
        if not folder:
            return self._was_empty
        if folder not in self._folders and self._is_in_new_folder(folder):
            with contextlib.suppress(FileExistsError):
                os.mkdir(f"{self.root}/{folder}")  # noqa: PTH102 - pathlib takes as long again
                self._folders.add(folder)
                self._new_folders.add(folder)
        return folder in self._new_folders

    def _make_folder(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        if folder and folder not in self._folders:
            self._make_folder(folder)
            step = self.root / folder
            found = _lstat(str(step))
            if found is not None and not stat.S_ISDIR(found.st_mode):  # a link out of the output, or a file
                step.unlink()
            step.mkdir(exist_ok=True)
            self._folders.add(folder)

    def _make_room(self, path: str) -> None:
        """Remove a folder of an earlier build in the place of a file, unless this build writes into it.

        One that holds a file of somebody else stays, and so the file cannot be written.
        """
        target = self.root / path
        if path.partition("/")[0] not in _OWNED or path in self._folders or not target.is_dir():
            return
        if target.is_symlink():
            target.unlink()
        elif all(_OURS.fullmatch(f"{path}/{one.name}") for one in target.rglob("*") if not one.is_dir()):
            shutil.rmtree(target)

    def prune(self, known: Iterable[str] | None = None) -> None:
        """Remove files of earlier builds that this one did not write, in memosite's own folders; then empty folders.

        `known` are paths that include all files to remove, if that is certain; else the folders are searched.
        """
        if self._was_empty:
            return
        try:
            if known is None or self.was_left_unfinished:
                self._remove_what_is_found()
            else:
                self._remove_known(known)
        except OSError as error:
            raise _unwritable(error.filename or str(self.root), error, what="cannot be removed") from error

    def leave(self) -> None:
        """Mark the build as complete; the next build completes one that is not marked."""
        self.sync()
        shutil.rmtree(self.root / _UNFINISHED, ignore_errors=True)

    def _remove_known(self, known: Iterable[str]) -> None:
        for path in sorted(set(known) - self._paths, reverse=True):
            file = self.root / path
            if self._is_led_astray(file):
                continue
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                if not stat.S_ISDIR(file.lstat().st_mode):
                    file.unlink()
                    self.removed += 1
            for folder in file.parents:
                if folder == self.root:
                    break
                try:
                    folder.rmdir()
                except OSError:  # it contains something else
                    break

    def _is_led_astray(self, file: Path) -> bool:
        """Whether a parent folder of a file is a link: its target is not ours to remove."""
        return any(folder.is_symlink() for folder in file.parents if folder.is_relative_to(self.root))

    def _remove_what_is_found(self) -> None:
        for path in (*self.root.glob("sitemap*.xml"), *self.root.glob("feed-[0-9]*.xml")):
            self._remove(path)
        for owned in _OWNED:
            for folder, folders, files in os.walk(self.root / owned, topdown=False):
                below = owned + folder[len(str(self.root / owned)) :]
                for name in files:
                    if f"{below}/{name}" not in self._paths and _OURS.fullmatch(f"{below}/{name}"):
                        self._remove(Path(folder, name))
                for path in (Path(folder, name) for name in folders if f"{below}/{name}" not in self._folders):
                    if path.is_symlink():
                        self._remove(path)
                    elif not any(path.iterdir()):
                        path.rmdir()
            with contextlib.suppress(OSError):  # missing, or not empty
                (self.root / owned).rmdir()

    def unlock(self) -> None:
        """Release the lock; if a build is killed, its process's end releases it."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _remove(self, path: Path) -> None:
        """Remove a file that is not of this build."""
        if path.relative_to(self.root).as_posix() not in self._paths:
            path.unlink()
            self.removed += 1


def is_unfinished(root: Path) -> bool:
    """Whether a build is writing to this folder, or was interrupted."""
    return (root / _UNFINISHED).exists()


def audience_of(root: Path) -> str:
    """The audience that the site in a folder was built for, as its marker says."""
    try:
        said = read_file(root / SITE_MARKER).decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise OutputError(f"{root / SITE_MARKER}: cannot be read ({error.strerror})") from error
    return next((line.removeprefix(_AUDIENCE) for line in said if line.startswith(_AUDIENCE)), "internal")


_AGAIN = "and run the command again, which completes the site"
_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), f"make room {_AGAIN}"),
    **dict.fromkeys((errno.EISDIR, errno.ENOTEMPTY), f"move away the folder that is in its place {_AGAIN}"),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "make it writable, or choose another folder with -o"),
}


def _unwritable(path: str, error: OSError, *, what: str = "cannot be written") -> OutputError:
    advice = _ADVICE.get(error.errno or 0, f"check the disk {_AGAIN}")
    return OutputError(f"{path}: {what} ({error.strerror}); {advice}")


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _holds(path: str, found: os.stat_result, data: bytes) -> bool:
    """Whether the entry found at a path is a file with these bytes."""
    return stat.S_ISREG(found.st_mode) and found.st_size == len(data) and Path(path).read_bytes() == data
