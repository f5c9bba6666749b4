"""A disk that fails, or whose power is lost: notes what is done to files below a folder, and fails one of the calls."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_BY_NAME = ("mkdir", "rmdir", "unlink", "utime")
_WRITING = os.O_WRONLY | os.O_RDWR


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Something that was done to a file or folder; of one that is moved, `path` is where to."""

    what: str
    path: Path


class PowerLostError(BaseException):
    """The power was lost: the process ends here, and nobody tidies up."""


class Disk:
    """What was `done` below a folder, in order. The call `failing_at` raises `error` instead, and so do those after.

    `lasting` are the files whose bytes were synced before they were moved into place, `passing` those that were not.
    """

    def __init__(self, root: Path, *, failing_at: int | None = None, error: BaseException | None = None) -> None:
        """Let this call fail, counted from 0."""
        self.root = root
        self.done: list[Done] = []
        self.lasting: set[Path] = set()
        self.passing: set[Path] = set()
        self._failing_at = failing_at
        self._error = error
        self._synced: set[Path] = set()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A block in which all that this process does to the files goes through here."""
        with pytest.MonkeyPatch.context() as patched:
            for name in ("open", "write", "fsync", "replace", *_BY_NAME):
                patched.setattr(os, name, self._noting(name, getattr(os, name)))
            yield

    def _noting(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            path = self._path(name, arguments, named)
            if path is not None and (path == self.root or self.root in path.parents):
                self._note(name, path, arguments)
            return real(*arguments, **named)

        return noted

    def _note(self, name: str, path: Path, arguments: tuple[Any, ...]) -> None:
        if self._failing_at is not None and len(self.done) >= self._failing_at and self._error is not None:
            raise self._error
        self.done.append(Done(what=name, path=path))
        if name == "fsync":
            self._synced.add(path)
        elif name == "replace":
            is_synced = Path(arguments[0]) in self._synced
            self._synced.discard(Path(arguments[0]))
            (self.lasting if is_synced else self.passing).add(path)
            (self.passing if is_synced else self.lasting).discard(path)

    @staticmethod
    def _path(name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Path | None:
        """The file that a call is about; None of one that only reads, or that names it by an open folder."""
        if named.get("dir_fd") is not None or (name == "open" and not arguments[1] & _WRITING):
            return None
        first = arguments[1] if name == "replace" else arguments[0]
        return Path(f"/proc/self/fd/{first}").readlink() if isinstance(first, int) else Path(os.fsdecode(first))

    def lose_power(self) -> None:
        """Empty each file that was moved into place before its bytes were on the disk; its name and time stay."""
        for path in self.passing:
            found = path.stat()
            os.truncate(path, 0)
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
