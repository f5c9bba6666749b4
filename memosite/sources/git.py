"""[I/O] Runs git safely on untrusted repos: runs none of their programs, never prompts, writes nothing.

Each call runs one program without a shell, in a clean environment: neither the user's nor the system's
configuration, no prompts, no locks, no lazy fetches, no replaced objects, no grafted commits. What a repo's own
configuration could run is switched off on the command line, which takes precedence (SPEC 2.3). Only plumbing that
never reads the work tree is called: comparing it would run the filters that attributes name.
"""

import os
import re
import signal
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from memosite.facts.errors import SourceError
from memosite.sources.git_urls import without_secrets
from memosite.store.safe_files import beginning_of

LIMIT_SECONDS = 600
"""The longest that one call on a local repo may take."""

LINE_BYTES = 4096
"""The most that is read of a file that should hold one line, such as HEAD."""

_SAFE = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"),
    *("-c", "core.attributesFile=/dev/null", "-c", "core.excludesFile=/dev/null", "-c", "core.askPass="),
    *("-c", "core.sshCommand=ssh -oBatchMode=yes", "-c", "core.alternateRefsCommand="),
    *("-c", "credential.helper=", "-c", "gpg.program=false", "-c", "gpg.ssh.program=false"),
    *("-c", "gpg.x509.program=false", "-c", "log.showSignature=false", "-c", "log.mailmap=false"),
    *("-c", "log.showRoot=true", "-c", "log.follow=false", "-c", "diff.external="),
    *("-c", "i18n.logOutputEncoding=UTF-8"),
    *("-c", "diff.ignoreSubmodules=none", "-c", "diff.noprefix=false", "-c", "diff.relative=false"),
    *("-c", "fetch.recurseSubmodules=false", "-c", "submodule.recurse=false", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false", "-c", "uploadpack.packObjectsHook=", "-c", "safe.directory=*"),
    *("-c", "safe.bareRepository=all", "-c", "protocol.allow=never"),
)
_KEPT = ("PATH", "TMPDIR")
_SET = {
    "GIT_ADVICE": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "LC_ALL": "C",
    "SSH_ASKPASS": "",
}
_REMOVED = re.compile(r"[^\x20-\x7e\xa0-\U0010ffff]+")


class GitError(SourceError):
    """A call of git that failed; its text is git's own last line, without passwords in URLs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repo:
    """A git repo to read: its git folder, and the top of its work tree (None if it is bare)."""

    git_dir: Path
    top: Path | None


def git(
    repo: Repo,
    *arguments: str,
    given: bytes = b"",
    seconds: float = LIMIT_SECONDS,
    extra: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    held: Sequence[int] = (),
) -> bytes:
    """The output of one call of git. `extra` are options before the command; they override the safe ones.

    `held` are open files, such as locks, that stay open as long as git or anything it started runs.
    Raises `GitError` if git fails, takes longer, or is not there.
    """
    with start_git(repo, *arguments, extra=extra, environment=environment, held=held) as process:
        try:
            printed, said = process.communicate(given, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} took more than {seconds:.0f} s") from error
        finally:
            end_git(process)
    if process.returncode:
        raise GitError(_last_line(said) or f"git {arguments[0]} failed with exit code {process.returncode}")
    return printed


def git_tokens(repo: Repo, *arguments: str) -> Iterator[bytes]:
    """The output of one call of git, streamed in pieces between NUL bytes.

    Raises `GitError`, after the pieces that came, if git fails or is not there.
    """
    with start_git(repo, *arguments, given=subprocess.DEVNULL, said=subprocess.DEVNULL) as process:
        try:
            yield from _split(_stream(process.stdout))
            process.wait(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} does not end") from error
        finally:
            end_git(process)
    if process.returncode:
        raise GitError(f"git {arguments[0]} failed with exit code {process.returncode}")


def start_git(
    repo: Repo,
    *arguments: str,
    extra: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    given: int = subprocess.PIPE,
    said: int = subprocess.PIPE,
    held: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start git; `end_git` ends it. Its work tree is the one given here, whatever `core.worktree` says.

    Raises `GitError` if git is not there.
    """
    tree = f"--work-tree={repo.top}" if repo.top else "--bare"
    command = ["git", "--no-pager", "--no-optional-locks", *_SAFE, *extra, f"--git-dir={repo.git_dir}", tree]
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        return subprocess.Popen(  # noqa: S603 - a fixed program, no shell
            [*command, *arguments],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=said,
            cwd=repo.top or repo.git_dir,
            env=kept | _SET | dict(environment or {}),
            start_new_session=True,  # its children end with it
            pass_fds=held,
        )
    except OSError as error:
        raise GitError(
            f"git cannot be run ({error.strerror}); install it, or read the source without history"
        ) from error


def end_git(process: subprocess.Popen[bytes]) -> None:
    """End git and everything it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _stream(stream: IO[bytes] | None) -> Iterator[bytes]:
    while stream is not None and (data := stream.read(1 << 18)):
        yield data


def _split(stream: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for data in stream:
        *tokens, rest = (rest + data).split(b"\0")
        yield from tokens
    if rest:
        yield rest


def _last_line(said: bytes) -> str:
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    text = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
    return without_secrets(_REMOVED.sub(" ", text.removeprefix("fatal: ").removeprefix("error: ")))[:300].strip()


# Which repo a folder belongs to


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


def common_folder(repo: Repo) -> Path:
    """The folder of refs, objects and configuration: of a further work tree it is that of the first one."""
    shared = line_of(repo.git_dir / "commondir")
    return Path(os.path.normpath(repo.git_dir / shared)) if shared else repo.git_dir


def line_of(file: Path) -> str:
    """The one line of a file in a git folder, such as HEAD; "" if it cannot be read."""
    return (beginning_of(file, LINE_BYTES) or b"").decode("utf-8", "surrogateescape").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The repo whose history covers a folder, and the folder's path in it ("" or ending in a slash).

    `commit` is the one whose history is read, and `line` the ref that led to it, such as a branch. Without a repo
    `why_not` is the reason.
    """

    repo: Repo | None = None
    prefix: str = ""
    commit: str = "HEAD"
    line: str = "HEAD"
    why_not: str = ""


def holding_repo(root: Path, *, site: Path, enclosing: bool = False) -> Holding:
    """The repo of a source's folder: its own, or one whose top is at or below the site (SPEC 2.3).

    A repo that merely encloses both counts only if the configuration says so.
    """
    for folder in (root, *root.parents):
        found = repo_at(folder)
        if isinstance(found, str):
            return Holding(why_not=found)
        if found is None or (found.top is None and folder != root):
            continue
        if not (enclosing or folder == root or folder.is_relative_to(site)):
            return Holding(why_not="it is not a repo itself; the one around it counts with history: enclosing")
        inside = root.relative_to(folder).as_posix()
        return Holding(repo=found, prefix="" if inside == "." else f"{inside}/")
    return Holding(why_not="it is no git repo")


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
    if common is not None and not _is_same(git_dir / (_first_line(shared) or "."), common):
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


def _linked(folder: Path, entry: Path) -> Repo | str:
    """The repo that a `.git` file names, if it names this folder in turn."""
    written = _first_line(entry).removeprefix("gitdir:").strip()
    if not written or "\0" in written:
        return "its .git file names no folder"
    git_dir = Path(os.path.normpath(folder / written))
    back = _first_line(git_dir / "gitdir")
    if back and _is_same(git_dir / back, entry):
        return _borrowed(git_dir, common=git_dir.parent.parent) or Repo(git_dir=git_dir, top=folder)
    work_tree = _work_tree(git_dir / "config")
    if work_tree and "modules" in git_dir.parts and _is_same(git_dir / work_tree, folder):
        return _borrowed(git_dir) or Repo(git_dir=git_dir, top=folder)
    return "its .git file leads to a repo that does not know it"


def _first_line(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(4096).decode("utf-8", "surrogateescape").split("\n", 1)[0].strip()
    except (OSError, ValueError):  # a name from a repo may hold anything
        return ""


def _work_tree(config: Path) -> str:
    try:
        with config.open("rb") as stream:
            text = stream.read(1 << 16).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    found = re.search(r"(?m)^\s*worktree\s*=\s*(.+?)\s*$", text)
    return found[1] if found else ""


def _is_same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return False
