"""[I/O] Folder sources: lists and reads the files of a folder on disk; finds its repo, and the manuscripts beside it.

Nothing outside a source is read (SPEC 9): symbolic links are not followed, neither files nor folders, and a path
is only ever one that the walk itself found. Files of other tools in the same folders are skipped.
"""

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from memosite.facts import rules
from memosite.facts.characters import printable
from memosite.facts.errors import MovedError, SourceError
from memosite.facts.findings import Finding
from memosite.facts.layout import matches_any
from memosite.formats.systems import begins_as_record
from memosite.sources import listing
from memosite.sources.git import CONFIG_BYTES, Holding, Repo, line_of
from memosite.sources.listing import limit_of
from memosite.sources.look import Look, changed, list_folder, state_of
from memosite.store.safe_files import NotAFileError, beginning_of, open_file

if TYPE_CHECKING:
    from memosite.facts.file import File

# Reads the first bytes of a file, which distinguish some records from other Markdown (SPEC 2.2).


def starts_as_record(path: Path) -> bool:
    """Whether a regular file begins as a record does."""
    return begins_as_record(head_of(path))


def head_of(path: Path) -> bytes:
    """The first bytes of a regular file; none if it cannot be read, or is a link."""
    return beginning_of(path, listing.SNIFFED) or b""


# Finds the git repo that a folder belongs to, by its files alone: git is not run, and no link is followed.


def repo_at(folder: Path) -> Repo | str | None:
    """The repo whose work tree's top (or whose bare self) this folder is; None if it is none.

    A text is the reason why it is not read: a `.git` that leads elsewhere counts only if git itself made it
    so, for a further work tree or a submodule, and what it leads to knows this folder.
    """
    entry = folder / ".git"
    try:
        mode = entry.lstat().st_mode
    except OSError:
        return (_borrowed(folder) or Repo(git_dir=folder, top=None)) if _is_git_dir(folder) else None
    if stat.S_ISLNK(mode):
        return "its .git is a symbolic link, which is not followed"
    if stat.S_ISDIR(mode):
        is_repo = _is_git_dir(entry)
        return (_borrowed(entry) or Repo(git_dir=entry, top=folder)) if is_repo else "its .git folder holds no repo"
    return _linked(folder, entry)


def holding_repo(root: Path, *, site: Path, enclosing: bool = False) -> Holding:
    """The repo of a source's folder: its own, or one whose top is at or below the site (SPEC 2.3).

    A repo that merely encloses both counts only if the configuration says so.
    """
    for folder in (root, *root.parents):
        found = repo_at(folder)
        if isinstance(found, str):
            return Holding(why_not=found, is_odd=True)
        if found is None or (found.top is None and folder != root):
            continue
        if not (enclosing or folder == root or folder.is_relative_to(site)):
            return Holding(why_not="it is a folder inside another repo; set history: enclosing to use that one")
        inside = root.relative_to(folder).as_posix()
        return Holding(repo=found, prefix="" if inside == "." else f"{inside}/")
    return Holding(why_not="it is not a git repo")


def repos_inside(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """The folders below a source that contain these files and are repos of their own."""
    return tuple(sorted(folder for folder in folders_of(paths) if os.path.lexists(root / folder / ".git")))


def folders_of(paths: Iterable[str]) -> set[str]:
    """All folders that contain these files, at any depth, except the root."""
    folders: set[str] = set()
    for deepest in {path.rpartition("/")[0] for path in paths}:
        folder = deepest
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _is_git_dir(folder: Path) -> bool:
    head = folder / "HEAD"
    has_head = head.is_symlink() or head.is_file()
    return has_head and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _borrowed(git_dir: Path, *, common: Path | None = None) -> str | None:
    """Why a git folder cannot be read by itself: its refs or objects may be those of a repo that is no source.

    `common` is the folder that it shares with the work tree it was added to, if it is such a one.
    """
    shared = git_dir / "commondir"
    if common is None and (shared.exists() or shared.is_symlink()):
        return "its .git shares the folder of another repo"
    if common is not None and not _is_same(git_dir / (line_of(shared) or "."), common):
        return "its .git shares the folder of a repo that does not know it"
    place = common or git_dir
    if (place / "objects/info/alternates").exists():
        return "its .git borrows objects of another repo (objects/info/alternates)"
    parts = (place / name for name in ("config", "packed-refs", "objects", "refs", "objects/info", "objects/pack"))
    if any(part.is_symlink() for part in parts) or any(map(_has_links, (place / "objects", place / "objects/pack"))):
        return "its .git holds symbolic links, which are not followed"
    return None


def _has_links(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_symlink() for entry in entries)
    except OSError:
        return False


def special_file(git_dir: Path) -> Path | None:
    """A file in a repo's folder that git would wait for: a pipe, a socket or a device; None if there is none."""
    for folder, folders, files in os.walk(git_dir):
        for name in (*files, *(name for name in folders if Path(folder, name).is_symlink())):
            try:
                mode = Path(folder, name).stat().st_mode
            except OSError:
                continue
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                return Path(folder, name)
    return None


def _linked(folder: Path, entry: Path) -> Repo | str:
    """The repo that a `.git` file names, if it names this folder in turn."""
    written = line_of(entry).removeprefix("gitdir:").strip()
    if not written or "\0" in written:
        return "its .git file names no folder"
    git_dir = Path(os.path.normpath(folder / written))
    back = line_of(git_dir / "gitdir")
    if back and _is_same(git_dir / back, entry):
        return _borrowed(git_dir, common=git_dir.parent.parent) or Repo(git_dir=git_dir, top=folder)
    work_tree = _work_tree(git_dir)
    if work_tree and "modules" in git_dir.parts and _is_same(git_dir / work_tree, folder):
        return _borrowed(git_dir) or Repo(git_dir=git_dir, top=folder)
    return "its .git file leads to a repo that does not know it"


def _work_tree(git_dir: Path) -> str:
    text = (beginning_of(git_dir / "config", CONFIG_BYTES) or b"").decode("utf-8", "surrogateescape")
    found = re.search(r"(?m)^\s*worktree\s*=\s*(.+?)\s*$", text)
    return found[1] if found else ""


def _is_same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return False


# The source: its files, and how they are read.


_READINGS = 3
"""How often a file is read that changes meanwhile."""


class FolderSource(listing.Source):
    """A folder to read. `holes` are folders in it that are not part of it: other sources, the output, the cache."""

    root: Path
    holes: tuple[Path, ...] = ()
    holding: Holding | None = None

    def list_files(self, look: Look | None = None) -> listing.Listing:
        """The files to read, from the snapshot of the folder if there is one.

        Raises `SourceError` if the folder cannot be listed, or if there are too many files.
        """

        def entries(folder: str) -> Sequence[listing.FolderEntry]:
            return look.entries(folder) if look is not None and folder in look else list_folder(self.root / folder)

        root = self.root.resolve()
        holes = (hole.resolve() for hole in self.holes)
        return listing.list_source(
            self,
            entries,
            lambda path: head_of(self.root / path),
            called=str(self.root),
            holes=frozenset(hole.relative_to(root).as_posix() for hole in holes if root in hole.parents),
        )

    def read_file(self, path: str) -> "File | Finding":
        """The bytes of one file that a walk found, or the finding that says why it was left out."""
        from memosite.facts.file import File  # noqa: PLC0415 - nothing is read where nothing has changed

        try:
            with open_file(self.root / path) as stream:
                status, data = _read_still(stream.fileno(), limit_of(path))
        except NotAFileError:
            return listing.finding_on(rules.FILE_UNREADABLE, self, path, "it is not a regular file")
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError):  # a memo on its way to `read/` is not removed
                raise self._moved(path) from error
            return listing.finding_on(rules.FILE_UNREADABLE, self, path, f"it cannot be opened ({error.strerror})")
        if data is None or len(data) > limit_of(path):
            return listing.too_large(self, path, status.st_size)
        return File(source=self.name, path=listing.shown_path(path), data=data)

    def _moved(self, path: str) -> SourceError:
        """The error for a file that was listed and is not there any more."""
        if not self.root.is_dir():
            advice = "put it back, or remove it from the sources"
            return SourceError(f"{self.root}: the folder of this source was removed while it was read; {advice}")
        shown = printable(str(self.root / path))
        return MovedError(f"{shown}: moved or removed while it was read; nothing was written, run the command again")

    def stamp(self, path: str) -> listing.FileStamp | None:
        """The state of a file, as git's index has it."""
        try:
            found = os.lstat(f"{self.root}/{path}")
        except OSError:
            return None
        state = state_of(found)
        return listing.FileStamp(token=state, changed=changed(state))

    def has_file(self, path: str) -> bool:
        """Whether a normal relative path leads to a file or folder of the source; no link is followed on the way."""
        place = self.root
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


def _read_still(handle: int, limit: int) -> tuple[os.stat_result, bytes | None]:
    """The state of an open file and its bytes, None if there are too many. One that is being written is read again.

    What is written for longer is as it was read last: it has changed since, so the next build reads it.
    """
    status = os.fstat(handle)
    for _ in range(_READINGS):
        if status.st_size > limit:
            return status, None
        os.lseek(handle, 0, os.SEEK_SET)
        before, data = status, _read_whole(handle, status.st_size, limit)
        status = os.fstat(handle)
        if (status.st_size, status.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
            break
    return status, data


def _read_whole(handle: int, expected: int, limit: int) -> bytes:
    """All bytes of an open file, one more than the limit at most: it may grow while it is read."""
    parts = []
    size = 0
    while size <= limit:
        part = os.read(handle, min(max(expected - size, 0), limit) + 1)
        if not part:
            break
        parts.append(part)
        size += len(part)
        if size == expected:  # the end was asked for with it
            break
    return b"".join(parts)


# Lists the manuscripts whose citations of the archive are checked: `citations` in memosite.yml (SPEC 7).


_UNREAD = frozenset({"node_modules"})


def list_manuscripts(site: Path, globs: Collection[str], *, holes: Collection[Path]) -> list[Path]:
    """The files below the site folder that a glob matches, in order; no links, and nothing below a hole."""
    found = {Path(place, name) for place, names in _below(site, globs, holes) for name in names}
    named = (path for path in found if matches_any(path.relative_to(site).as_posix(), globs))
    return sorted(path for path in named if not path.is_symlink())


def manuscript_folders(site: Path, globs: Collection[str], *, holes: Collection[Path]) -> Iterator[Path]:
    """The folders in which such files may be."""
    return (Path(place) for place, _ in _below(site, globs, holes))


def _fixed(glob: str) -> str:
    """The folders that a glob begins with, as they are: only below them is looked."""
    parts = PurePosixPath(glob).parts[:-1]
    first = next((number for number, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    return "/".join(parts[:first])


def _below(site: Path, globs: Collection[str], holes: Collection[Path]) -> Iterator[tuple[str, list[str]]]:
    """The folders that a glob may reach, with the names of their files."""
    for root in sorted({site / _fixed(glob) for glob in globs}):
        for place, folders, names in os.walk(root):
            folders[:] = (
                folder for folder in folders
                if not folder.startswith(".") and folder not in _UNREAD and Path(place, folder) not in holes
            )  # fmt: skip
            yield place, names
