"""[I/O] Finds the git repo that a folder belongs to, by its files alone: git is not run, and no link is followed."""

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from memosite.sources.git import Holding, Repo
from memosite.sources.git_view import CONFIG_BYTES, line_of
from memosite.store.safe_files import beginning_of


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
