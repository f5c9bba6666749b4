"""[I/O] The output folder: files written atomically, only when they change; what is no longer made is removed.

A reader never sees half a file (SPEC 9): bytes go to a file beside the others and are moved into place. The folder
carries a marker, so that memosite recognizes its own and refuses to write into anybody else's.
"""

import os
import shutil
from pathlib import Path

from memosite.discover import SITE_MARKER
from memosite.errors import OutputError

_UNFINISHED = ".memosite-unfinished"
_OWNED = (
    "actions", "archive", "citations", "decisions", "digests", "documents", "entities", "feeds", "health", "libraries",
    "memos", "notes", "org", "positions", "records", "saved", "search", "static", "systems", "threads", "timeline",
    "transcripts",
)  # fmt: skip
_MARKER_TEXT = "This folder is made by memosite: what lies in it is overwritten by the next build.\n"


class OutputFolder:
    """A published site on disk. `written` and `unchanged` count files."""

    def __init__(self, root: Path) -> None:
        """Name the folder; nothing is touched before `open`."""
        self.root = root
        self.written = 0
        self.unchanged = 0
        self.removed = 0
        self._paths: set[str] = set()
        self._folders: set[str] = set()

    def check(self) -> None:
        """Raise `OutputError` if the folder is somebody else's: not empty and without memosite's marker."""
        try:
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

    def open(self) -> None:
        """Make the folder ready to write: marker, a .gitignore that keeps it out of git, no unfinished files."""
        self.check()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(self.root / _UNFINISHED, ignore_errors=True)
            (self.root / _UNFINISHED).mkdir()
        except OSError as error:
            raise OutputError(f"{self.root}: the output folder cannot be made ({error.strerror})") from error
        self.write(SITE_MARKER, _MARKER_TEXT.encode())
        self.write(".gitignore", b"*\n")

    def write(self, path: str, data: bytes) -> None:
        """Write one file of the site, if its bytes are not there already. Each path may be written once."""
        if path in self._paths:
            raise OutputError(f"two files of the site have one path: {path}; please report this as a bug")
        self._paths.add(path)
        target = self.root / path
        try:
            if self._is_there(target, data):
                self.unchanged += 1
                return
            self._make_folder(path)
            unfinished = self.root / _UNFINISHED / "file"
            unfinished.write_bytes(data)
            unfinished.replace(target)
        except OSError as error:
            raise OutputError(f"{target}: cannot be written ({error.strerror})") from error
        self.written += 1

    @staticmethod
    def _is_there(target: Path, data: bytes) -> bool:
        try:
            if target.is_symlink() or target.stat().st_size != len(data):
                return False
            return target.read_bytes() == data
        except (FileNotFoundError, NotADirectoryError):
            return False

    def _make_folder(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        if folder and folder not in self._folders:
            (self.root / folder).mkdir(parents=True, exist_ok=True)
            self._folders.add(folder)

    def close(self) -> None:
        """Remove what earlier builds wrote into memosite's own folders and this one did not; then what is empty."""
        for owned in _OWNED:
            for folder, folders, files in os.walk(self.root / owned, topdown=False):
                for name in files:
                    path = Path(folder, name)
                    if path.relative_to(self.root).as_posix() not in self._paths:
                        path.unlink()
                        self.removed += 1
                for name in folders:
                    if not any(Path(folder, name).iterdir()):
                        Path(folder, name).rmdir()
        shutil.rmtree(self.root / _UNFINISHED, ignore_errors=True)
