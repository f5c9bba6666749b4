"""[I/O] Reads the objects of a repo: blobs, commits and trees, former contents, and who wrote a line.

All that `git cat-file` knows is asked for here: what objects are (`object_heads`), and their bytes, one after the other
and each within a limit (`Objects`).

A tree of a hundred kilobytes can stand for ten million paths, one that is damaged ends git. So each distinct tree of a
commit is read once, and the paths below it are counted before any is made. If there are too many, the files at the top
are listed, and its folders as a whole, from the smallest on, as long as there is room: counts decide what is read.

`git blame` reads a commit, never the work tree, with `-w` and `-C`: who indented a line anew, or moved it from another
file in the same commit, has not written it. Nothing that a repo configures is run (`sources/git.py`).
"""

import datetime as dt
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import NamedTuple, Self

from memosite.archive.history import CommitCard
from memosite.facts.errors import SourceError
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import Value
from memosite.run.processes import Child, SlowError
from memosite.sources.git import GitError, GitLimitError, Repo, TooMuchError, git, start_git, viewed

# What `git cat-file` says of objects, and their bytes: of all at once, or one after the other.


HEAD = "HEAD"
"""What is read of a repo unless a source names something else."""


ANSWER_SECONDS = 60
"""The longest that git may be silent when asked for an object."""


WHOLE_HASH = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""The hash of an object, with SHA-1 or SHA-256."""


_COMMITTER = regex(rb"(?m)^committer .*> (\d{1,12}) ([+-])(\d\d)([0-5]\d)$")


class CommitHead(Value):
    """A commit: its whole hash, and when it was committed, if known."""

    hash: str
    committed: Moment | None


class ObjectHead(NamedTuple):
    """What git says of an object: its hash, its kind (such as `blob`), and how many bytes it has."""

    hash: str
    kind: str
    size: int


def _head(line: bytes) -> ObjectHead | None:
    """What a line of `git cat-file --batch` says; None of an object that is missing, or that a name does not tell."""
    match line.decode("utf-8", "replace").split(" "):
        case [hash_, kind, size] if size.isdecimal():
            return ObjectHead(hash_, kind, int(size))
    return None


def object_heads(repo: Repo, names: Iterable[str]) -> dict[str, ObjectHead]:
    """What git says of objects by their hashes, or by other names of them in one line each; without unknown ones.

    Raises `GitError` if git cannot read the repo.
    """
    asked = [name for name in dict.fromkeys(names) if "\n" not in name]
    if not asked:
        return {}
    given = "".join(f"{name}\n" for name in asked).encode("utf-8", "surrogateescape")
    told = git(repo, "cat-file", "--batch-check", given=given).splitlines()
    return {name: head for name, head in zip(asked, map(_head, told), strict=False) if head is not None}


def commit_at(repo: Repo, ref: str) -> CommitHead | None:
    """The commit that a branch, a tag, a hash or `HEAD` leads to; None if there is none, or it leads to no commit.

    Raises `GitError` if git cannot read the repo.
    """
    printed = git(repo, "cat-file", "--batch", given=f"{ref}^{{commit}}\n".encode("utf-8", "surrogateescape"))
    first, _, rest = printed.partition(b"\n")
    head = _head(first)
    if head is None or head.kind != "commit":
        return None
    return CommitHead(hash=head.hash, committed=_committed(rest.partition(b"\n\n")[0]))


def _committed(header: bytes) -> Moment | None:
    written = _COMMITTER.search(header)
    if written is None:
        return None
    minutes = int(written[3]) * 60 + int(written[4])
    try:
        instant = dt.datetime.fromtimestamp(int(written[1]), dt.UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return Moment(instant=instant, offset=-minutes if written[2] == b"-" else minutes)


class Objects:
    """The objects of a repo. Raises `GitError` if git ends or stops answering; the next call restarts it."""

    def __init__(self, repo: Repo) -> None:
        """Git is started by the first call."""
        self._stack = ExitStack()
        self._repo = self._stack.enter_context(viewed(repo))
        self._child: Child | None = None
        self._read = bytearray()
        self._process = os.getpid()

    def blob(self, name: str, *, limit: int) -> bytes | int | None:
        """The bytes of a blob by its hash; its size if that is over the limit, None if there is no such blob."""
        return self._get(name, "blob", limit)

    def tree(self, name: str, *, limit: int) -> bytes | None:
        """The bytes of a tree by its hash; None if there is no such tree, or it is larger."""
        found = self._get(name, "tree", limit)
        return None if isinstance(found, int) else found

    def hash_of(self, name: str) -> str:
        """The hash of what an expression names. Raises `GitError` if it names nothing."""
        printed = git(self._repo, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return printed.decode("ascii", "replace").strip()

    def _get(self, name: str, kind: str, limit: int) -> bytes | int | None:
        if self._process != os.getpid():  # git answers the process that started it
            self._process, self._child = os.getpid(), None
        child = self._child or self._start()
        try:
            child.ask(name.encode("ascii") + b"\n")
            head = _head(line := self._take(lambda: self._read.find(b"\n")))
            if head is not None and head.kind == kind and head.size <= limit:
                size = head.size  # plus a line break
                return self._take(lambda: size if len(self._read) > size else -1)
            if not line.endswith(b" missing"):  # the bytes would follow
                self._end()
            return head.size if head is not None and head.kind == kind else None
        except OSError as error:
            self._end()
            raise GitError("git cat-file ended: the repo is damaged") from error
        except GitError:
            self._end()
            raise

    def _start(self) -> Child:
        self._child = start_git(self._repo, "cat-file", "--batch")
        self._read.clear()
        return self._child

    def _take(self, end_of: Callable[[], int]) -> bytes:
        """What git answers up to an end, which is negative as long as it has not come."""
        end_at = time.monotonic() + ANSWER_SECONDS
        while (end := end_of()) < 0:
            self._more(end_at)
        data = bytes(self._read[:end])
        del self._read[: end + 1]
        return data

    def _more(self, end_at: float) -> None:
        try:
            data = self._child.more(end_at - time.monotonic()) if self._child else b""
        except SlowError as error:
            raise GitLimitError(f"git cat-file gave no answer for {ANSWER_SECONDS} s") from error
        if not data:
            raise GitError("git cat-file ended: the repo is damaged")
        self._read += data

    def _end(self) -> None:
        child, self._child = self._child, None
        self._read.clear()
        if child is not None:
            child.close()

    def close(self) -> None:
        """End git; what was read stays valid."""
        self._end()
        self._stack.close()

    def __enter__(self) -> Self:
        """Close at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End git."""
        self.close()


# Lists the files of a commit, and is not led astray by trees that name their children again and again.


PATHS_LIMIT = 500_000
"""How many files and folders of one commit are listed."""


ENTRIES_LIMIT = 2_000_000
"""How many entries all distinct trees of a commit may have."""


TREE_BYTES = 1 << 25
"""The largest single tree that is read."""


FOLDER = "40000"


class TreeEntry(NamedTuple):
    """One entry of a tree: its mode as git writes it, its name, and the hash of what it names."""

    mode: str
    name: bytes
    hash: str


class Skipped(NamedTuple):
    """A folder of a commit that was not listed, and why."""

    path: bytes
    why: str


Trees = Mapping[str, tuple[TreeEntry, ...] | None]
"""Distinct trees by hash; None for one that is missing or damaged."""


def list_commit(objects: Objects, commit: str, prefix: bytes = b"") -> tuple[Iterator[TreeEntry], list[Skipped]]:
    """The files, links and submodules below a folder of a commit, named by their paths; and what was left out.

    Raises `GitError` if the folder's own tree cannot be read, `TooMuchError` if its trees are too large, and
    `SourceError` if there is no such folder.
    """
    top = _top(objects, commit, prefix)
    trees = _read_all(objects, top, width=len(top) // 2)
    if trees[top] is None:
        raise GitError("its tree is missing or damaged")
    folders, skipped = _chosen(top, trees)
    return _files(folders, trees, top), skipped


def _top(objects: Objects, commit: str, prefix: bytes) -> str:
    """The hash of the tree of a folder of a commit."""
    found = objects.hash_of(f"{commit}^{{tree}}")
    width = len(found) // 2
    for name in filter(None, prefix.split(b"/")):
        entries = _parsed(objects.tree(found, limit=TREE_BYTES), width=width) or ()
        found = next((entry.hash for entry in entries if entry.name == name and entry.mode == FOLDER), "")
        if not found:
            raise SourceError(f"the folder {os.fsdecode(prefix)} is not in the commit {commit}")
    return found


def _read_all(objects: Objects, top: str, *, width: int) -> Trees:
    trees: dict[str, tuple[TreeEntry, ...] | None] = {}
    waiting, seen = [top], 0
    while waiting:
        name = waiting.pop()
        if name in trees:
            continue
        entries = trees[name] = _parsed(objects.tree(name, limit=TREE_BYTES), width=width)
        seen += len(entries or ())
        if seen > ENTRIES_LIMIT:
            raise TooMuchError(f"its trees have more than {ENTRIES_LIMIT:,} entries")
        waiting += [entry.hash for entry in entries or () if entry.mode == FOLDER]
    return trees


def _parsed(data: bytes | None, *, width: int) -> tuple[TreeEntry, ...] | None:
    """The entries of a tree; None if it is missing or malformed."""
    if data is None:
        return None
    entries, place = [], 0
    while place < len(data):
        space, end = data.find(b" ", place), data.find(b"\0", place)
        if not place < space < end or end + width >= len(data) or not data[place:space].isdigit():
            return None
        mode = data[place:space].decode("ascii").lstrip("0")
        entries.append(TreeEntry(mode, data[space + 1 : end], data[end + 1 : end + 1 + width].hex()))
        place = end + 1 + width
    return tuple(entries)


def _counted(top: str, trees: Trees) -> dict[str, int]:
    """How many paths are below each tree, without going through them."""
    counts: dict[str, int] = {}
    waiting = [top]
    while waiting:
        name = waiting[-1]
        entries = trees[name] or ()
        missing = [entry.hash for entry in entries if entry.mode == FOLDER and entry.hash not in counts]
        if missing and name not in counts:
            waiting += missing
            continue
        waiting.pop()
        counts[name] = len(entries) + sum(counts[entry.hash] for entry in entries if entry.mode == FOLDER)
    return counts


def _chosen(top: str, trees: Trees) -> tuple[list[TreeEntry], list[Skipped]]:
    """The folders at the top that are listed as a whole, in their order, and those that are not."""
    counts = _counted(top, trees)
    entries = trees[top] or ()
    folders = [entry for entry in entries if entry.mode == FOLDER]
    if counts[top] <= PATHS_LIMIT:
        return folders, []
    left, chosen, skipped = PATHS_LIMIT - len(entries), set(), []
    for entry in sorted(folders, key=lambda entry: (counts[entry.hash], entry.name)):
        if counts[entry.hash] <= left:
            chosen.add(entry.name)
            left -= counts[entry.hash]
        else:
            why = f"it has {counts[entry.hash]:,} files and folders, expected at most {PATHS_LIMIT:,}"
            skipped.append(Skipped(entry.name, why))
    return [entry for entry in folders if entry.name in chosen], skipped


def _files(folders: list[TreeEntry], trees: Trees, top: str) -> Iterator[TreeEntry]:
    """Every entry that is no folder, by its path; a folder that cannot be read is an entry of the mode "missing"."""
    chosen = set(folders)
    waiting = [(b"", entry) for entry in reversed(trees[top] or ()) if entry.mode != FOLDER or entry in chosen]
    while waiting:
        above, entry = waiting.pop()
        path = above + entry.name
        if entry.mode != FOLDER:
            yield TreeEntry(entry.mode, path, entry.hash)
            continue
        entries = trees[entry.hash]
        if entries is None:
            yield TreeEntry("missing", path, entry.hash)
        waiting += [(path + b"/", each) for each in reversed(entries or ())]


# Reads from git what files were before, and which commits a text means.


CONTENT_LIMIT = 2 * 1024 * 1024
"""The largest former content that is read, in bytes."""


CONTENTS_LIMIT = 20_000
"""How many former contents of one source are read."""


def read_contents(repo: Repo, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Former contents of files by their ids, those that are there and not too large."""
    with viewed(repo) as seen, Objects(seen) as objects:
        for head in object_heads(seen, list(dict.fromkeys(ids))[:CONTENTS_LIMIT]).values():
            is_small = head.kind == "blob" and head.size <= CONTENT_LIMIT
            data = objects.blob(head.hash, limit=CONTENT_LIMIT) if is_small else None
            if isinstance(data, bytes):
                yield head.hash, data


def find_commits(repo: Repo, written: Iterable[str]) -> dict[str, str]:
    """Full ids of commits by abbreviation, without unknown and ambiguous ones. Raises `GitError` if git fails."""
    heads = object_heads(repo, (f"{one}^{{commit}}" for one in written))
    found = {name.removesuffix("^{commit}"): head.hash for name, head in heads.items()}
    return {name: id_ for name, id_ in found.items() if id_.startswith(name)}  # a branch may have the name of a commit


_CARD = "--format=tformat:%H%x1f%(trailers:only=true,unfold=true)%x1f%s"


_TRAILER = regex(r"([A-Za-z][A-Za-z0-9-]{0,60}):[ \t]*([^\s]{8,200})[ \t]*")


_SESSION_ID = regex(r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}-)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)


_CHECKPOINT = regex(r"[0-9a-f]{12}")


_NAMING = (
    *("--extended-regexp", "--regexp-ignore-case", "--max-count=50000"),
    "--grep=^[a-z][a-z0-9-]*:[ \t]*([0-9]{4}-[0-9]{2}-[0-9]{2}-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[ \t]*$",
    "--grep=^entire-checkpoint:[ \t]*[0-9a-f]{12}[ \t]*$",
)


_SUBJECT = 200  # characters


_NAMED = 20  # sessions by one commit


_AT_ONCE = 500  # ids on one command line


def naming_sessions(repo: Repo, tip: str) -> list[CommitCard]:
    """The commits up to this one whose trailers name a session or a checkpoint of one. Raises `GitError`."""
    printed = git(repo, "log", "-z", *_QUIET, *_NAMING, _CARD, tip, "--")
    return [card for card in _cards(printed) if card.sessions or card.checkpoints]


def commit_cards(repo: Repo, ids: Iterable[str]) -> list[CommitCard]:
    """What commits say, by their whole ids. Raises `GitError`."""
    wanted = list(ids)
    found: list[CommitCard] = []
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        found += _cards(git(repo, "log", "-z", "--no-walk=unsorted", *_QUIET, _CARD, *some, "--"))
    return found


def _cards(printed: bytes) -> Iterator[CommitCard]:
    for one in printed.decode("utf-8", "replace").split("\0"):
        hash_, mark, rest = one.strip("\n").partition("\x1f")
        trailers, _, subject = rest.rpartition("\x1f")
        said = [match.groups() for line in trailers.split("\n") if (match := _TRAILER.fullmatch(line))]
        checkpoints = (value for name, value in said if name.casefold() == "entire-checkpoint")
        sessions = (match[1].lower() for _, value in said if (match := _SESSION_ID.fullmatch(value)))
        if mark:
            yield CommitCard(
                id=hash_,
                subject=cut_line(subject, _SUBJECT),
                sessions=tuple(dict.fromkeys(sessions))[:_NAMED],
                checkpoints=tuple(dict.fromkeys(filter(_CHECKPOINT.fullmatch, checkpoints)))[:_NAMED],
            )


# Finds the commit that a branch was at at a former time (SPEC 8, reading the past).


def commit_before(repo: Repo, tip: str, instant: dt.datetime) -> str:
    """The newest commit that was made by an instant, by the line of first parents; "" if there is none.

    A commit of another branch that was merged later is on none of its lines: nobody who read the branch had it.
    Raises `GitError` if git cannot read the repo.
    """
    second = int(instant.timestamp())
    printed = git(repo, "rev-list", "--first-parent", "--max-count=1", f"--min-age={second}", tip, "--")
    return printed.decode("ascii", "replace").strip()


def first_commit(repo: Repo, tip: str) -> str:
    """The first commit on the line of first parents. Raises `GitError` if git cannot read the repo."""
    printed = git(repo, "rev-list", "--first-parent", "--max-parents=0", tip, "--").decode("ascii", "replace").split()
    return printed[-1] if printed else ""


def has_folder(repo: Repo, commit: str, folder: str) -> bool:
    """Whether a commit has a folder."""
    return any(head.kind == "tree" for head in object_heads(repo, [f"{commit}:{folder}"]).values())


def is_shallow(repo: Repo) -> bool:
    """Whether the first commits of a clone are missing."""
    return git(repo, "rev-parse", "--is-shallow-repository").strip() == b"true"


def is_reachable(repo: Repo, commit: str) -> bool:
    """Whether HEAD, a branch or a tag has a commit among its ancestors. Raises `GitError` if there is none such."""
    return not git(repo, "rev-list", "--max-count=1", commit, "--not", "--all", "--").strip()


# Asks git which commits wrote the lines of a file, and what these commits say of themselves.


_FACTS = "--format=tformat:%H%x1f%aI%x1f%cI%x1f%an%x1f%s%x1f%b"


_QUIET = ("--no-show-signature", "--no-mailmap", "--encoding=UTF-8")


class Written(Value):
    """What a commit wrote of a file: the lines as they are now, by number, and the file's name in that commit."""

    commit: str
    path: str
    lines: tuple[tuple[int, str], ...]


class CommitFacts(Value):
    """What a commit says: when it was written and committed, by whom, and why."""

    hash: str
    authored: Moment | None
    committed: Moment | None
    author: str
    subject: str
    body: str

    @property
    def moments(self) -> tuple[dt.datetime, ...]:
        """When it was written, and when it was committed, as far as it says so."""
        return tuple(one.instant for one in (self.authored, self.committed) if one)


def blame(repo: Repo, commit: str, path: str, *, line: int | None = None) -> list[Written]:
    """Which commits wrote the lines of a file as it is in a commit, or one line of it. Raises `GitError`."""
    only = ("-L", f"{line},{line}") if line else ()
    options = ("blame", "-w", "-C", "--no-textconv", "--line-porcelain", "--encoding=none")
    printed = git(repo, *options, *only, commit, "--", path)
    lines: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    hash_, number, name = "", 0, ""
    for raw in printed.split(b"\n"):
        if raw.startswith(b"\t"):
            lines[hash_, name].append((number, raw[1:].decode("utf-8", "replace").rstrip("\r")))
            hash_ = ""
        elif raw and not hash_:
            words = raw.split(b" ")
            hash_, number = words[0].decode("ascii"), int(words[2])
        elif raw.startswith(b"filename "):
            name = raw.removeprefix(b"filename ").decode("utf-8", "surrogateescape")
    return [Written(commit=key[0], path=key[1], lines=tuple(found)) for key, found in lines.items()]


def commit_facts(repo: Repo, commit: str) -> CommitFacts:
    """What a commit says. Raises `GitError`."""
    printed = git(repo, "log", "-1", *_QUIET, _FACTS, commit, "--").decode("utf-8", "replace")
    hash_, authored, committed, author, subject, body = printed.split("\x1f", 5)
    return CommitFacts(
        hash=hash_,
        authored=read_moment(authored),
        committed=read_moment(committed),
        author=" ".join(author.split()),
        subject=" ".join(subject.split()),
        body=body.strip(),
    )


def subjects_between(repo: Repo, tip: str, begin: dt.datetime, end: dt.datetime) -> dict[str, str]:
    """The first lines of the messages of all commits that were committed between two times, by hash."""
    ages = (f"--max-age={int(begin.timestamp())}", f"--min-age={int(end.timestamp()) + 1}")
    printed = git(repo, "log", "-z", *_QUIET, *ages, "--format=tformat:%H%x1f%s", tip, "--")
    pairs = (one.split("\x1f", 1) for one in printed.decode("utf-8", "replace").split("\0") if "\x1f" in one)
    return {hash_.strip(): " ".join(subject.split()) for hash_, subject in pairs}
