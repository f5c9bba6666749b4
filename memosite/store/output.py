"""[I/O] The output folder: files written atomically, only when they change; what is no longer made is removed.

A reader never sees half a file (SPEC 9): bytes go to a file beside the others and are moved into place, with a time
in whole seconds that only grows, by which readers of feeds know that something is new (FEEDS, bytes). The folder
carries a marker, so that memosite recognizes its own and refuses to write into anybody else's.
"""

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from memosite.facts.errors import BusyError, OutputError
from memosite.facts.layout import SITE_MARKER
from memosite.store.safe_files import open_over

_UNFINISHED = ".memosite-unfinished"
_OWNED = (
    "actions", "archive", "citations", "decisions", "digests", "documents", "entities", "feeds", "health", "libraries",
    "memos", "notes", "org", "positions", "records", "saved", "search", "spec", "static", "systems", "threads",
    "timeline", "transcripts",
)  # fmt: skip
_MARKER_TEXT = "This folder is made by memosite: what lies in it is overwritten by the next build.\n"


FileState = tuple[int, int, int]
"""How a file lies there: its size, its time in nanoseconds, and its inode."""


class OutputFolder:
    """A published site on disk. `written` and `unchanged` count files."""

    def __init__(self, root: Path, *, previous: Path | None = None) -> None:
        """Name the folder; nothing is touched before `open`. A file as the site `previous` has it gets its time."""
        self.root = root
        self._previous = previous
        self.written = 0
        self.unchanged = 0
        self.removed = 0
        self.collisions: list[str] = []
        self._paths: set[str] = set()
        self._folders: set[str] = set()
        self._lock: int | None = None
        self.was_left_unfinished = False
        self._was_empty = False

    def check(self) -> None:
        """Raise `OutputError` if the folder is somebody else's: not empty and without memosite's marker."""
        try:
            self._refuse_links()
            names = {entry.name for entry in self.root.iterdir()}
        except FileNotFoundError:
            return
        except OSError as error:
            raise OutputError(f"{self.root}: the output folder cannot be read ({error.strerror})") from error
        if names - {_UNFINISHED} and SITE_MARKER not in names:  # a build may be killed before it sets its marker
            raise OutputError(
                f"{self.root}: not empty, and not made by memosite (no {SITE_MARKER} in it); "
                "choose another folder with -o, or empty this one"
            )

    def _refuse_links(self) -> None:
        """A link in the output could lead writing and removing out of it (SPEC 9)."""
        for folder in (self.root, *(self.root / name for name in _OWNED)):
            if folder.is_symlink():
                raise OutputError(f"{folder}: a symbolic link; memosite writes to a folder itself, remove the link")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Open the folder for the block, and say that the build is whole when the block ends without an error."""
        self.open()
        try:
            yield
            self.leave()
        finally:
            self.unlock()

    def refuse_if_changed(self, path: str, state: FileState | None) -> None:
        """Raise `BusyError` if a file is not the one that was read: what another build wrote in it would be lost."""
        if self.state(path) != state:
            raise BusyError(f"{self.root}: another build wrote there meanwhile; run the command again")

    def open(self) -> None:
        """Make the folder ready to write: marker, a .gitignore that keeps it out of git, no unfinished files."""
        self.check()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self.lock()
            self.was_left_unfinished = (self.root / _UNFINISHED).exists()
            shutil.rmtree(self.root / _UNFINISHED, ignore_errors=True)
            self._was_empty = not any(self.root.iterdir())
            (self.root / _UNFINISHED).mkdir()
        except OSError as error:
            raise OutputError(f"{self.root}: the output folder cannot be made ({error.strerror})") from error
        self.write(SITE_MARKER, _MARKER_TEXT.encode())
        self.write(".gitignore", b"*\n")

    def lock(self) -> None:
        """Keep others from writing there. Raises `BusyError` if somebody does, `OSError` if there is no folder."""
        self._lock = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.unlock()
            raise BusyError(f"{self.root}: another build is writing there; wait for it to end") from error

    def state(self, path: str) -> FileState | None:
        """How a file of the site lies there; None if it is no file."""
        try:
            found = os.lstat(f"{self.root}/{path}")
        except OSError:
            return None
        return (found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None

    def is_as_left(self, path: str, state: FileState | None) -> bool:
        """Whether a file lies there as it was left."""
        return state is not None and self.state(path) == state

    def is_whole(self, states: Iterable[tuple[str, FileState]]) -> bool:
        """Whether the last build came to its end, and all these files lie there as they were left."""
        if (self.root / _UNFINISHED).exists():
            return False
        is_empty = True
        for path, state in states:
            is_empty = False
            if self.state(path) != state:
                return False
        return not is_empty

    def keep_all(self, paths: Collection[str]) -> bool:
        """Count files as `keep` does, if no other one has any of their paths; whether none has."""
        if len(set(paths)) < len(paths) or not self._paths.isdisjoint(paths):
            return False
        self._paths.update(paths)
        self.unchanged += len(paths)
        return True

    def keep(self, path: str, state: FileState | None) -> FileState | None:
        """Count a file as one of this build that lies there as it has to; None if another one has its path."""
        if not self._claim(path):
            return None
        self.unchanged += 1
        return state

    def write(self, path: str, data: bytes) -> FileState | None:
        """Write one file of the site, if its bytes are not there already, and tell how it lies there then.

        Should two files have one path, the first stays: no content may stop a build. They are in `collisions`, and
        the second has no state.
        """
        if not self._claim(path):
            return None
        target = f"{self.root}/{path}"
        try:
            found = _lstat(target)
            if found is not None and _holds(target, found, data):
                self.unchanged += 1
                return self.state(path)
            self._make_folder(path)
            if found is not None:
                self._make_room(path)
                found = _lstat(target)
            self._replace(path, target, found, data)
        except OSError as error:
            raise OutputError(f"{target}: cannot be written ({error.strerror})") from error
        self.written += 1
        return self.state(path)

    def _replace(self, path: str, target: str, found: os.stat_result | None, data: bytes) -> None:
        """Put the bytes in the place of what was found there."""
        unfinished = f"{self.root}/{_UNFINISHED}/file"
        file = open_over(unfinished)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(file, left) :]
            second = self._second(path, data, now=os.fstat(file), replaced=found)
            os.utime(file, (second, second))
        finally:
            os.close(file)
        os.replace(unfinished, target)  # noqa: PTH105 - pathlib takes as long as writing

    def _claim(self, path: str) -> bool:
        if path in self._paths:
            self.collisions.append(path)
            return False
        self._paths.add(path)
        return True

    def _second(self, path: str, data: bytes, *, now: os.stat_result, replaced: os.stat_result | None) -> int:
        """A whole second, later than that of what is replaced: servers answer 304 to new content with an old time.

        What stands in the place of a previous site's file has the time of that, or a later one.
        """
        second = int(now.st_mtime)
        if replaced is not None:
            return max(second, int(replaced.st_mtime) + 1)
        former = f"{self._previous}/{path}"
        known = _lstat(former) if self._previous is not None else None
        if known is None:
            return second
        return int(known.st_mtime) if _holds(former, known, data) else max(second, int(known.st_mtime) + 1)

    def _make_folder(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        if folder and folder not in self._folders:
            parts = folder.split("/")
            for index in range(1, len(parts) + 1):
                path_so_far = "/".join(parts[:index])
                if path_so_far not in self._folders:
                    step = self.root / path_so_far
                    found = _lstat(str(step))
                    if found is not None and not stat.S_ISDIR(found.st_mode):  # a link, that leads out, or a file
                        step.unlink()
                    step.mkdir(exist_ok=True)
                    self._folders.add(path_so_far)

    def _make_room(self, path: str) -> None:
        """Remove a folder of an earlier build that stands where a file belongs, unless this build writes into it."""
        target = self.root / path
        if path.partition("/")[0] in _OWNED and path not in self._folders and target.is_dir():
            shutil.rmtree(target) if not target.is_symlink() else target.unlink()

    def prune(self, known: Iterable[str] | None = None) -> None:
        """Remove what earlier builds wrote into memosite's own folders and this one did not; then what is empty.

        `known` are the paths among which all that has to go is, if that is sure; else the folders are searched.
        """
        if self._was_empty:
            return
        try:
            if known is None or self.was_left_unfinished:
                self._remove_what_is_found()
            else:
                self._remove_known(known)
        except OSError as error:
            raise OutputError(f"{error.filename or self.root}: cannot be removed ({error.strerror})") from error

    def leave(self) -> None:
        """Say that the build is whole; one that never says so is completed by the next one."""
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
                except OSError:  # something else lies in it
                    break

    def _is_led_astray(self, file: Path) -> bool:
        """Whether a link lies on the way to a file: what it leads to is not ours to remove."""
        return any(folder.is_symlink() for folder in file.parents if folder.is_relative_to(self.root))

    def _remove_what_is_found(self) -> None:
        for path in (*self.root.glob("sitemap*.xml"), *self.root.glob("feed-[0-9]*.xml")):
            self._remove(path)
        for owned in _OWNED:
            for folder, folders, files in os.walk(self.root / owned, topdown=False):
                below = owned + folder[len(str(self.root / owned)) :]
                for name in files:
                    if f"{below}/{name}" not in self._paths:
                        self._remove(Path(folder, name))
                for path in (Path(folder, name) for name in folders if f"{below}/{name}" not in self._folders):
                    if path.is_symlink():
                        self._remove(path)
                    elif not any(path.iterdir()):
                        path.rmdir()

    def unlock(self) -> None:
        """Let the next build write; a build that stops in the middle lets go when its process ends."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _remove(self, path: Path) -> None:
        """Remove a file that this build did not make."""
        if path.relative_to(self.root).as_posix() not in self._paths:
            path.unlink()
            self.removed += 1


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _holds(path: str, found: os.stat_result, data: bytes) -> bool:
    """Whether what was found at a path is a file of these bytes."""
    return stat.S_ISREG(found.st_mode) and found.st_size == len(data) and Path(path).read_bytes() == data
