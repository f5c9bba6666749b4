"""[I/O] Runs git safely on untrusted repos, through a private git folder; changes git's index for `mark-read` alone.

    HEAD, refs, packed-refs, shallow ─► checked, bounded, copied ─┐
    the two settings that say how objects and refs are stored ────┼─► a folder of our own (`View`) ◄── git
    objects ─► checked: no links, no pipes ───────────────────────┘

So a repo's configuration, what that includes, its hooks, attributes and anything that a newer git may read there
cannot run a program, lead out of the source or be waited for (SPEC 2.3). Only `fetch` into our own cache and
`mark-read` let git write to a repo itself: there, what its configuration could run is switched off on the command line,
which takes precedence.

Each call runs one program without a shell, in a clean environment: neither the user's nor the system's
configuration, no prompts, no locks, no lazy fetches, no replaced objects, no grafted commits. It has limits of time,
memory and output, and ends with this process. Only plumbing is called, and none that reads the work tree: comparing it
would run filters.

Whenever git writes an index, it compares each entry that may have changed since ("racily clean") with its file, and
on the way runs the filters that attributes name (SPEC 2.3). So git works here on a copy of the index, beside an empty
folder in the place of the work tree: there is no file to compare, and no attributes.
"""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType

from memosite.facts.errors import SourceError
from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.run.processes import Child, Limits, SlowError, WordyError
from memosite.sources.forges import in_our_words, is_out_of_memory, last_line
from memosite.store.safe_files import NotAFileError, beginning_of, open_file

# Makes a private git folder for reading a repo: git sees its objects, and nothing else of it.


LINE_BYTES = 4096
"""The most that is read of a file that should hold one line, such as HEAD."""


CONFIG_BYTES = 1 << 20
"""The largest configuration of a repo that is read."""


REFS_BYTES = 1 << 26
"""The largest `packed-refs` and `shallow` that are read."""


REFS_LIMIT = 100_000
"""How many refs that are files of their own are read."""


OBJECTS_LIMIT = 4_000_000
"""How many files a repo may keep its objects in."""


_DEPTH = 8
"""How many folders deep refs are."""


_NAME = regex(rb"refs/[^\x00-\x20\x7f~^:?*\[\\]+")


_NO_NAME = regex(rb"\.\.|@\{|//|/\.|\.lock$|\.lock/|[/.]$")


_HASH = regex(rb"(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])")


_PACKED = regex(rb"(?m)^([0-9a-f]{40}|[0-9a-f]{64}) (refs/[^\n]+)$")


_FORMAT = regex(r"(?im)^\s*objectformat\s*=\s*\"?(sha1|sha256)\"?\s*$")


_REFTABLE = regex(r"(?im)^\s*refstorage\s*=\s*\"?reftable\"?\s*$")


class UnreadableRepoError(Exception):
    """A repo that git is not asked about; the text says why, for pages too."""


def common_folder(git_dir: Path) -> Path:
    """The folder of refs, objects and configuration: of a further work tree it is that of the first one."""
    shared = line_of(git_dir / "commondir")
    return Path(os.path.normpath(git_dir / shared)) if shared else git_dir


def line_of(file: Path) -> str:
    """The first line of a file in a git folder, such as HEAD; "" if it cannot be read, or is no regular file."""
    begun = (beginning_of(file, LINE_BYTES) or b"").strip()
    return begun.partition(b"\n")[0].decode("utf-8", "surrogateescape").strip()


class View:
    """A private git folder for one repo. It is made when it is first needed; close it."""

    def __init__(self, git_dir: Path) -> None:
        """The repo's git folder is only read."""
        self._git_dir = git_dir
        self._made: tempfile.TemporaryDirectory[str] | None = None

    @cached_property
    def folder(self) -> Path:
        """The folder. Raises `UnreadableRepoError`, and `OSError` if it cannot be written."""
        common = common_folder(self._git_dir)
        _check_objects(self.objects)
        head = _head(self._git_dir / "HEAD")
        config = read_config(self._git_dir).decode("utf-8", "replace")
        refs, links = _refs(common)
        shallow = _whole(common / "shallow", REFS_BYTES)
        self._made = tempfile.TemporaryDirectory(prefix="memosite-")
        folder = Path(self._made.name)
        (folder / "objects/info").mkdir(parents=True)
        (folder / "objects/info/alternates").write_bytes(_quoted(self.objects))
        (folder / "refs").mkdir()
        (folder / "HEAD").write_bytes(head)
        (folder / "config").write_text(_config(config))
        (folder / "packed-refs").write_bytes(b"".join(b"%s %s\n" % (refs[name], name) for name in sorted(refs)))
        for name, target in links.items():
            place = folder / os.fsdecode(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(target)
        if shallow is not None:
            (folder / "shallow").write_bytes(shallow)
        if _REFTABLE.search(config):
            _copy(common / "reftable", folder / "reftable")
        return folder

    @property
    def objects(self) -> Path:
        """The folder of the repo's objects, which git reads where it is."""
        return common_folder(self._git_dir) / "objects"

    def close(self) -> None:
        """Remove the folder."""
        if self._made is not None:
            self._made.cleanup()
            self._made = None
            self.__dict__.pop("folder", None)


def read_config(git_dir: Path) -> bytes:
    """The bytes of a repo's configuration, b"" if there is none. Raises `UnreadableRepoError`."""
    return _whole(common_folder(git_dir) / "config", CONFIG_BYTES) or b""


def _quoted(path: Path) -> bytes:
    """A path as a line of `alternates`, in quotes as of C."""
    written = os.fsencode(path)
    for character, escape in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        written = written.replace(character, escape)
    return b'"%s"\n' % written


def _config(written: str) -> str:
    """The configuration of a view: how objects and refs are stored, and nothing else."""
    kind = _FORMAT.search(written)
    is_plain = (kind is None or kind[1].lower() == "sha1") and not _REFTABLE.search(written)
    lines = ["[core]", f"\trepositoryformatversion = {0 if is_plain else 1}"]
    if not is_plain:
        lines.append("[extensions]")
    if kind is not None and kind[1].lower() == "sha256":
        lines.append("\tobjectformat = sha256")
    if _REFTABLE.search(written):
        lines.append("\trefstorage = reftable")
    return "\n".join([*lines, ""])


def _head(file: Path) -> bytes:
    """What HEAD says. As a link, which old versions of git wrote, it is not followed but read."""
    if file.is_symlink():
        target = os.fsencode(file.readlink())
        if not _is_name(target):
            raise UnreadableRepoError("its HEAD is a link to something else than a ref")
        return b"ref: %s\n" % target
    written = _whole(file, LINE_BYTES)
    if written is None:
        raise UnreadableRepoError("it has no HEAD")
    return written


def _is_name(name: bytes) -> bool:
    return _NAME.fullmatch(name) is not None and _NO_NAME.search(name) is None


def _refs(common: Path) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """All refs that lead to an object, by name, and those that lead to other refs, as they are written."""
    packed = _whole(common / "packed-refs", REFS_BYTES) or b""
    refs = {name: found for found, name in _PACKED.findall(packed) if _is_name(name)}
    links: dict[bytes, bytes] = {}
    for number, (name, file) in enumerate(_loose(common / "refs", b"refs", _DEPTH)):
        if number >= REFS_LIMIT:
            raise UnreadableRepoError(f"it has more than {REFS_LIMIT:,} refs that are files of their own")
        if not _is_name(name):
            continue
        written = (_whole(file, LINE_BYTES) or b"").strip()
        found = _HASH.match(written)
        if found is not None:
            refs[name] = found[0]
        elif written.startswith(b"ref:") and _is_name(written[4:].strip()):
            links[name] = written + b"\n"
            refs.pop(name, None)
    return refs, links


def _loose(folder: Path, name: bytes, depth: int) -> Iterator[tuple[bytes, Path]]:
    """The files below a folder of refs, by the name of the ref. Anything else there is refused."""
    with _listed(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        below = b"%s/%s" % (name, os.fsencode(entry.name))
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _loose(Path(entry.path), below, depth - 1)
        else:
            _refuse_special(entry, "refs")
            yield below, Path(entry.path)


def _check_objects(objects: Path) -> None:
    """Refuse objects that are links or pipes, or borrowed: they lead out of the source, or are waited for."""
    if os.path.lexists(objects / "info/alternates"):
        raise UnreadableRepoError("its .git borrows objects of another repo (objects/info/alternates)")
    waiting, seen = [objects], 0
    while waiting:
        with _listed(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                else:
                    _refuse_special(entry, "objects")
        if seen > OBJECTS_LIMIT:
            raise UnreadableRepoError(f"its objects are in more than {OBJECTS_LIMIT:,} files")


def _refuse_special(entry: "os.DirEntry[str]", what: str) -> None:
    if entry.is_symlink():
        raise UnreadableRepoError(f"its {what} hold symbolic links, which are not followed")
    if not entry.is_file(follow_symlinks=False):
        raise UnreadableRepoError(f"its {what} hold something that is not a regular file, such as a pipe")


@contextmanager
def _listed(folder: Path) -> "Iterator[Iterator[os.DirEntry[str]]]":
    """The entries of a folder that is no link. Raises `UnreadableRepoError` if it cannot be listed."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise UnreadableRepoError(f"its {folder.name} is not its own folder")
        entries = os.scandir(folder)
    except OSError as error:
        raise UnreadableRepoError(f"its {folder.name} cannot be listed ({error.strerror})") from error
    with entries:
        yield entries


def _whole(file: Path, limit: int) -> bytes | None:
    """The bytes of a regular file, None if there is none. Raises `UnreadableRepoError` for a link or pipe."""
    try:
        with BufferedReader(open_file(file)) as stream:  # one read of a bare file may give less than all
            data = stream.read(limit + 1)
    except FileNotFoundError:
        return None
    except NotAFileError as error:
        raise UnreadableRepoError(f"its {file.name} is not a regular file") from error
    except OSError as error:
        said = "is a symbolic link" if file.is_symlink() else f"cannot be read ({error.strerror})"
        raise UnreadableRepoError(f"its {file.name} {said}") from error
    if len(data) > limit:
        raise UnreadableRepoError(f"its {file.name} has more than {limit:,} bytes")
    return data


def _copy(folder: Path, into: Path) -> None:
    """Copy the files of a folder, as many bytes at most as refs may have."""
    into.mkdir()
    left = REFS_BYTES
    with _listed(folder) as entries:
        for entry in entries:
            _refuse_special(entry, "refs")
            data = _whole(Path(entry.path), left) or b""
            left -= len(data)
            (into / entry.name).write_bytes(data)


# Runs git safely on untrusted repos: runs none of their programs, never prompts, always ends.


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
    "LC_ALL": "C",
    **dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_GRAFT_FILE", "HOME"), os.devnull),
    **dict.fromkeys(("GIT_ALLOW_PROTOCOL", "GIT_ASKPASS", "SSH_ASKPASS"), ""),
    **dict.fromkeys(("GIT_ADVICE", "GIT_OPTIONAL_LOCKS", "GIT_PROTOCOL_FROM_USER", "GIT_TERMINAL_PROMPT"), "0"),
    **dict.fromkeys(("GIT_ATTR_NOSYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_LFS_SKIP_SMUDGE", "GIT_LITERAL_PATHSPECS"), "1"),
    **dict.fromkeys(("GIT_NO_LAZY_FETCH", "GIT_NO_REPLACE_OBJECTS"), "1"),
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


class Repo(Value, apart=("view",)):
    """A git repo to read: its git folder, and the top of its work tree (None if it is bare).

    `view` is what git reads in its place, if that is made already.
    """

    git_dir: Path
    top: Path | None
    view: View | None = None


class Holding(Value):
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
    environment: Mapping[str, str] = MappingProxyType({}),
    held: Sequence[int] = (),
    is_writing: bool = False,
) -> bytes:
    """The output of one call of git. `extra` are options before the command; they override the safe ones.

    `held` are open files, such as locks, that stay open as long as git or anything it started runs. A call that
    is writing works on the repo itself, all others on a view of it.
    Raises `GitError` if git fails, takes too long or too much memory, prints too much, or is not there.
    """
    limits = _limits(OUTPUT_BYTES, seconds=seconds)
    with viewed(repo) as seen:
        child = _start(seen, arguments, limits, extra=extra, environment=environment, held=held, is_writing=is_writing)
        with closing(child):
            return b"".join(_pieces(child, arguments[0], given))


def configured(written: bytes, key: str) -> str:
    """A setting of a repo's configuration, of which the bytes are given, "" without it; nothing is included.

    Raises `GitError` if git is not there.
    """
    arguments = ("config", "--file", "-", "--no-includes", "--get", key)
    nowhere = Repo(git_dir=Path(os.devnull), top=Path("/"))
    with suppress(SlowError, WordyError), closing(_start(nowhere, arguments, _limits(TOKEN_BYTES))) as child:
        return b"".join(child.pieces(written)).decode("utf-8", "replace").strip()
    return ""


def git_tokens(repo: Repo, *arguments: str) -> Iterator[bytes]:
    """The output of one call of git, streamed in pieces between NUL bytes, `TOKENS_LIMIT` at most.

    Raises `GitError`, after the pieces that came, if git fails, prints more, or is not there.
    """
    with viewed(repo) as seen, closing(_start(seen, arguments, _limits(STREAM_BYTES))) as child:
        for number, token in enumerate(_split(_pieces(child, arguments[0]), arguments[0])):
            if number >= TOKENS_LIMIT:
                text = f"more than {TOKENS_LIMIT:,} entries"
                raise TooMuchError(f"git {arguments[0]} prints {text}", public=text)
            yield token


def start_git(repo: Repo, *arguments: str) -> Child:
    """Start git to talk with it. The repo has a view (`viewed`). Raises `GitError` if git is not there."""
    return _start(repo, arguments, _limits(STREAM_BYTES))


def _start(
    repo: Repo,
    arguments: Sequence[str],
    limits: Limits,
    *,
    extra: Sequence[str] = (),
    environment: Mapping[str, str] = MappingProxyType({}),
    held: Sequence[int] = (),
    is_writing: bool = False,
) -> Child:
    """Start git; see `git`. Its work tree is the one given here, whatever `core.worktree` says."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    folder, objects = repo.git_dir, {}
    if not is_writing and repo.view is not None:
        folder, objects = view_folder(repo.view), {"GIT_OBJECT_DIRECTORY": str(repo.view.objects)}
    tree = f"--work-tree={repo.top}" if repo.top else "--bare"
    command = ["git", "--no-pager", "--no-optional-locks", *_SAFE, *extra, f"--git-dir={folder}", tree]
    try:
        return Child(
            [*command, *arguments],
            limits=limits,
            environment=kept | _SET | objects | dict(environment),
            folder=repo.top or folder,
            held=held,
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
        text = f"more than {child.limits.output:,} bytes"
        raise TooMuchError(f"git {command} prints {text}", public=text) from error
    if not child.returncode:
        return
    if is_out_of_memory(child.said):
        raise GitLimitError(f"git {command} needs more than {MEMORY_BYTES >> 20:,} MB of memory")
    if child.is_killed_by_limit:
        raise _too_slow(command, child.limits.seconds)
    said = last_line(child.said) or f"git {command} failed with exit code {child.returncode}"
    raise GitError(said, public=in_our_words(child.said, command, child.returncode))


def _too_slow(command: str, seconds: float) -> GitLimitError:
    return GitLimitError(f"git {command} took more than {seconds:.0f} s")


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


# Reads and changes git's index without ever letting git see the work tree.


class Staged(Value):
    """An entry of the index; its stage is "0" unless a merge has left a conflict."""

    mode: str
    blob: str
    stage: str = "0"


class _Scratch(Value):
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
