"""[I/O] Runs git safely on untrusted repos: runs none of their programs, never prompts, always ends.

Each call runs one program without a shell, in a clean environment: neither the user's nor the system's
configuration, no prompts, no locks, no lazy fetches, no replaced objects, no grafted commits. It has limits of time,
memory and output, and ends with this process. What a repo's own configuration could run is not there, since git
reads a view of the repo (`git_view`); where git has to write to a repo, it is switched off on the command line, which
takes precedence (SPEC 2.3). Only plumbing is called, and none that reads the work tree: comparing it would run
filters.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from memosite.facts.errors import SourceError
from memosite.run.processes import Child, Limits, SlowError, WordyError
from memosite.sources.git_messages import in_our_words, is_out_of_memory, last_line
from memosite.sources.git_view import UnreadableRepoError, View

LIMIT_SECONDS = 600
"""The longest that one call on a local repo may take."""

MEMORY_BYTES = 1 << 30
"""The most memory that a git process may use, and any that it starts; mapped files do not count."""

OUTPUT_BYTES = 1 << 28
"""The most that one call may print, if its output is taken as a whole."""

STREAM_BYTES = 1 << 30
"""The most that one call may print, if its output is taken piece by piece."""

TOKENS_LIMIT = 4_000_000
"""The most pieces that one call may print."""

TOKEN_BYTES = 1 << 20
"""The longest of these pieces."""

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


class GitError(SourceError):
    """A call of git that failed; its text is git's own last line, without passwords in URLs.

    Git's own words name files of this machine. Pages and findings show `public` instead: our words for it.
    """

    def __init__(self, text: str, *, public: str = "") -> None:
        """Without other words for it, the text is public: it is our own."""
        super().__init__(text)
        self.public = public or text


class GitLimitError(GitError):
    """A call that took too much time or memory: on another machine, or on another day, it might not."""


class TooMuchError(GitError):
    """A call that printed too much: what is read is too large, on every machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repo:
    """A git repo to read: its git folder, and the top of its work tree (None if it is bare).

    `view` is what git reads in its place, if that is made already.
    """

    git_dir: Path
    top: Path | None
    view: View | None = field(default=None, compare=False, repr=False)


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
    is_odd: bool = False
    """Whether there is something that looks like a repo, but is none that may be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One call of git; see `git`."""

    arguments: Sequence[str]
    limits: Limits
    extra: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    held: Sequence[int] = ()
    is_writing: bool = False


def _limits(output: int, *, seconds: float | None = None) -> Limits:
    return Limits(seconds=LIMIT_SECONDS if seconds is None else seconds, memory=MEMORY_BYTES, output=output)


@contextmanager
def viewed(repo: Repo) -> Iterator[Repo]:
    """The repo with a view of it that serves all calls in the block; it is made by the first one."""
    if repo.view is not None:
        yield repo
        return
    view = View(repo.git_dir)
    try:
        yield replace(repo, view=view)
    finally:
        view.close()


def git(
    repo: Repo,
    *arguments: str,
    given: bytes = b"",
    seconds: float | None = None,
    extra: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    held: Sequence[int] = (),
    is_writing: bool = False,
) -> bytes:
    """The output of one call of git. `extra` are options before the command; they override the safe ones.

    `held` are open files, such as locks, that stay open as long as git or anything it started runs. A call that
    is writing works on the repo itself, all others on a view of it.
    Raises `GitError` if git fails, takes too long or too much memory, prints too much, or is not there.
    """
    limits = _limits(OUTPUT_BYTES, seconds=seconds)
    call = _Call(
        arguments=arguments, limits=limits, extra=extra, environment=environment or {}, held=held, is_writing=is_writing
    )
    with _started(repo, call) as child:
        return b"".join(_pieces(child, arguments[0], given))


def configured(written: bytes, key: str) -> str:
    """A setting of a repo's configuration, of which the bytes are given, "" without it; nothing is included.

    Raises `GitError` if git is not there.
    """
    arguments = ("config", "--file", "-", "--no-includes", "--get", key)
    limits = _limits(TOKEN_BYTES)
    nowhere = Repo(git_dir=Path(os.devnull), top=Path("/"))
    child = _start(nowhere, _Call(arguments=arguments, limits=limits, is_writing=True))
    try:
        return b"".join(child.pieces(written)).decode("utf-8", "replace").strip()
    except (SlowError, WordyError):
        return ""
    finally:
        child.close()


def git_tokens(repo: Repo, *arguments: str, limit: int = TOKENS_LIMIT) -> Iterator[bytes]:
    """The output of one call of git, streamed in pieces between NUL bytes, as many as the limit at most.

    Raises `GitError`, after the pieces that came, if git fails, prints more, or is not there.
    """
    with _started(repo, _Call(arguments=arguments, limits=_limits(STREAM_BYTES))) as child:
        for number, token in enumerate(_split(_pieces(child, arguments[0]), arguments[0])):
            if number >= limit:
                raise TooMuchError(f"git {arguments[0]} prints more than {limit:,} entries", public=_too_much(limit))
            yield token


def start_git(repo: Repo, *arguments: str) -> Child:
    """Start git to talk with it. The repo has a view (`viewed`). Raises `GitError` if git is not there."""
    return _start(repo, _Call(arguments=arguments, limits=_limits(STREAM_BYTES)))


@contextmanager
def _started(repo: Repo, call: _Call) -> Iterator[Child]:
    """Git while it runs; it is ended with the block."""
    with viewed(repo) as seen:
        child = _start(seen, call)
        try:
            yield child
        finally:
            child.close()


def _start(repo: Repo, call: _Call) -> Child:
    """Start git. Its work tree is the one given here, whatever `core.worktree` says."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    folder, objects = repo.git_dir, {}
    if not call.is_writing and repo.view is not None:
        folder, objects = view_folder(repo.view), {"GIT_OBJECT_DIRECTORY": str(repo.view.objects)}
    tree = f"--work-tree={repo.top}" if repo.top else "--bare"
    command = ["git", "--no-pager", "--no-optional-locks", *_SAFE, *call.extra, f"--git-dir={folder}", tree]
    try:
        return Child(
            [*command, *call.arguments],
            limits=call.limits,
            environment=kept | _SET | objects | dict(call.environment),
            folder=repo.top or folder,
            held=call.held,
        )
    except OSError as error:
        text = f"git cannot be run ({error.strerror}); install it, or read the source without history"
        raise GitError(text) from error


def view_folder(view: View) -> Path:
    """The folder of a view. Raises `GitError` if there can be none."""
    try:
        return view.folder
    except UnreadableRepoError as error:
        raise GitError(str(error)) from error
    except OSError as error:
        raise GitError(f"no folder for temporary files can be written ({error.strerror})") from error


def _pieces(child: Child, command: str, given: bytes = b"") -> Iterator[bytes]:
    """What git prints. Raises `GitError` if it fails or exceeds a limit."""
    try:
        yield from child.pieces(given)
    except SlowError as error:
        raise _too_slow(command, child.limits.seconds) from error
    except WordyError as error:
        most = child.limits.output
        raise TooMuchError(
            f"git {command} prints more than {most:,} bytes", public=f"more than {most:,} bytes"
        ) from error
    if not child.returncode:
        return
    if is_out_of_memory(child.said):
        text = f"git {command} needs more than {MEMORY_BYTES >> 20:,} MB of memory"
        raise GitLimitError(text)
    if child.is_killed_by_limit:
        raise _too_slow(command, child.limits.seconds)
    said = last_line(child.said) or f"git {command} failed with exit code {child.returncode}"
    raise GitError(said, public=in_our_words(child.said, command, child.returncode))


def _too_slow(command: str, seconds: float) -> GitLimitError:
    return GitLimitError(f"git {command} took more than {seconds:.0f} s")


def _too_much(limit: int) -> str:
    return f"more than {limit:,} entries"


def _split(stream: Iterator[bytes], command: str) -> Iterator[bytes]:
    rest = b""
    for data in stream:
        *tokens, rest = (rest + data).split(b"\0")
        yield from tokens
        if len(rest) > TOKEN_BYTES:
            text = f"an entry of more than {TOKEN_BYTES:,} bytes"
            raise TooMuchError(f"git {command} prints {text}", public=text)
    if rest:
        yield rest
