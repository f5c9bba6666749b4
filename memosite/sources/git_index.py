"""[I/O] Reads and changes git's index without ever letting git see the work tree.

Whenever git writes an index, it compares each entry that may have changed since ("racily clean") with its file, and
on the way runs the filters that attributes name (SPEC 2.3). So git works here on a copy of the index, beside an empty
folder in the place of the work tree: there is no file to compare, and no attributes.
"""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memosite.sources.git import GitError, Repo, git
from memosite.store.safe_files import NotAFileError, open_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """An entry of the index; its stage is "0" unless a merge has left a conflict."""

    mode: str
    blob: str
    stage: str = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scratch:
    """A repo with an index of its own, and an empty folder as its work tree."""

    repo: Repo
    index: Path

    def git(self, *arguments: str, given: bytes = b"") -> bytes:
        """The output of one call of git."""
        where = {"GIT_INDEX_FILE": str(self.index)}
        return git(self.repo, *arguments, given=given, environment=where, extra=_WHOLE, is_writing=True)


_WHOLE = ("-c", "core.splitIndex=false", "-c", "core.untrackedCache=keep")
"""An index is written as one file; what git remembers about untracked files of the real work tree stays."""


@contextmanager
def _scratch(repo: Repo, index: bytes | None) -> Iterator[_Scratch]:
    """A repo to work in, with an index of these bytes; None is no index yet."""
    with tempfile.TemporaryDirectory(prefix="memosite-") as folder:
        top = Path(folder, "empty")
        top.mkdir()
        found = _Scratch(repo=Repo(git_dir=repo.git_dir, top=top), index=Path(folder, "index"))
        if index is not None:
            found.index.write_bytes(index)
        yield found


def staged(repo: Repo, paths: Iterable[str]) -> dict[str, Staged]:
    """The entries of the index at these paths. Raises `GitError` if the index cannot be read."""
    with _scratch(repo, _bytes_of(repo.git_dir / "index")[0]) as scratch:
        return _entries(scratch, paths)


def change_index(repo: Repo, removed: Iterable[str], added: Mapping[str, Staged]) -> None:
    """Remove and add entries; nothing else in the index changes. Raises `GitError` if another git has locked it.

    The index keeps its time: of the other files git goes on to compare those that were written since.
    """
    index, lock = repo.git_dir / "index", repo.git_dir / "index.lock"
    with _locked(lock) as handle:
        before, state = _bytes_of(index)
        with _scratch(repo, before) as scratch:
            scratch.git("update-index", "-z", "--index-info", given=_lines(removed, added))
            with os.fdopen(os.dup(handle), "wb") as stream:
                stream.write(scratch.index.read_bytes())
        if state is not None:
            os.fchmod(handle, stat.S_IMODE(state.st_mode))
            os.utime(handle, ns=(state.st_atime_ns, state.st_mtime_ns))
        lock.replace(index)


def tree_after(repo: Repo, commit: str, removed: Iterable[str], added: Mapping[str, Staged]) -> str:
    """Write the tree of a commit ("" for none) with some entries removed and added, and give its hash."""
    with _scratch(repo, None) as scratch:
        scratch.git("read-tree", commit or "--empty")
        scratch.git("update-index", "-z", "--index-info", given=_lines(removed, added))
        return scratch.git("write-tree").decode("ascii").strip()


@contextmanager
def _locked(lock: Path) -> Iterator[int]:
    """Git's own lock of an index, open for writing; it is removed unless it was moved into place."""
    try:
        handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise GitError(f"{lock}: the index cannot be locked ({error.strerror}); is another git running?") from error
    try:
        yield handle
    finally:
        os.close(handle)
        with suppress(FileNotFoundError):
            lock.unlink()


def _bytes_of(index: Path) -> tuple[bytes | None, os.stat_result | None]:
    """The bytes and the state of an index; None if there is none yet."""
    try:
        with open_file(index) as stream:
            return stream.read(), os.fstat(stream.fileno())
    except FileNotFoundError:
        return None, None
    except NotAFileError as error:
        raise GitError(f"{index}: found no regular file, expected git's index") from error
    except OSError as error:
        raise GitError(f"{index}: git's index cannot be read ({error.strerror})") from error


def _entries(scratch: _Scratch, paths: Iterable[str]) -> dict[str, Staged]:
    wanted = list(paths)
    if not wanted:
        return {}
    found = {}
    for line in filter(None, scratch.git("ls-files", "--stage", "-z", "--", *wanted).split(b"\0")):
        head, _, path = line.partition(b"\t")
        mode, blob, stage = head.decode("ascii").split(" ")
        found[os.fsdecode(path)] = Staged(mode=mode, blob=blob, stage=stage)
    return found


def _lines(removed: Iterable[str], added: Mapping[str, Staged]) -> bytes:
    """Changes as `git update-index --index-info` reads them: mode 0 removes an entry."""
    width = max((len(entry.blob) for entry in added.values()), default=40)
    gone = (f"0 {'0' * width}\t".encode() + os.fsencode(path) + b"\0" for path in removed)
    come = (f"{entry.mode} {entry.blob}\t".encode() + os.fsencode(path) + b"\0" for path, entry in added.items())
    return b"".join((*gone, *come))
