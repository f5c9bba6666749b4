"""[I/O] Reads the git history of a source: one full `git log`, then only new commits (SPEC 2.3).

The result is cached with the last commit read. When that commit is no longer on the branch's first-parent line, as
after a rebase, everything is read again. What git does not know is reported, never guessed.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from memosite.archive.history import EventKind, FileChange, History, HistoryCommit, LifeEvent, Replay, split_trunk
from memosite.facts.times import Moment, read_moment
from memosite.formats.systems import can_concern
from memosite.sources.git import GitError, Repo, git, git_tokens
from memosite.sources.listing import shown_path
from memosite.store.cache import read_whole, write_whole

CACHE_VERSION = 3
CONTENT_LIMIT = 2 * 1024 * 1024
"""The largest former content that is read, in bytes."""
CONTENTS_LIMIT = 20_000
"""How many former contents of one source are read."""
_REGULAR = "100"
"""How the mode of a regular file begins in git: links and submodules have no content here."""
_KINDS = frozenset(get_args(EventKind))
_IDS = re.compile(r"[0-9a-f ]+")
_FORMAT = "--format=tformat:%x01%H%x1f%P%x1f%cI%x1f%an"
_LOG = ("log", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--topo-order")
_DIFF = (
    "diff-tree",
    "-r",
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--no-ext-diff",
    "--ignore-submodules=none",
    "-O/dev/null",
)
_LOG_ALSO = ("--diff-merges=first-parent", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8", "-O/dev/null")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRead:
    """The history read from a branch's first-parent line: the events of all files up to a commit.

    `name` identifies folder and repo; `tree` and `foreign` are the contents of the commit, if known.
    """

    name: str = ""
    head: str = ""
    events: Mapping[str, tuple[LifeEvent, ...]] = field(default_factory=dict)
    committed: Moment | None = None
    tree: Mapping[str, str] | None = None
    foreign: tuple[str, ...] = ()


class KnownHistory:
    """Caches the history of one source: in memory, and in a file of the cache, if there is one."""

    def __init__(self, file: Path | None) -> None:
        """Load the file."""
        self._file = file
        self._read: HistoryRead | None = None
        self._is_new = False

    def get(self, name: str) -> HistoryRead:
        """The history cached under this name; empty if there is none."""
        if self._read is None or self._read.name != name:
            head, events = _read_cache(self._file, name)
            self._read = HistoryRead(name=name, head=head, events=events)
            self._is_new = False
        return self._read

    def put(self, read: HistoryRead) -> None:
        """Keep the history in memory; `write` saves it."""
        self._is_new = (
            self._is_new or self._read is None or (read.name, read.head) != (self._read.name, self._read.head)
        )
        self._read = read

    def write(self) -> None:
        """Save new entries to the file."""
        if self._is_new and self._read is not None:
            _write_cache(self._file, self._read.name, self._read.head, self._read.events)
        self._is_new = False


def read_history(repo: Repo, *, prefix: str = "", commit: str = "HEAD", known: KnownHistory | None = None) -> History:
    """The history of the folder `prefix` of a repo ("" for all of it, else ending in a slash) up to a commit.

    The `known` part is not read again. Never raises for git's errors: the history says why it is incomplete.
    """
    try:
        told = git(
            repo,
            "rev-parse",
            "--is-shallow-repository",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{commit}^{{commit}}",
        )
    except GitError:
        return _without_commits(repo, commit)
    try:
        is_shallow, _, head = told.decode("ascii").strip().partition("\n")
        line = _Line(repo, prefix, head, known or KnownHistory(None))
        if is_shallow == "true":
            tree, foreign = line.read_tree(head)
            why_not = "the clone is shallow: its first commits are missing"
            return History(commit=head, committed=line.committed(), tree=tree, foreign=foreign, why_not=why_not)
        read = line.read()
        return History(commit=head, committed=read.committed, tree=read.tree, foreign=read.foreign, events=read.events)
    except GitError as error:
        return History(why_not=_unreadable(repo, error))


def _without_commits(repo: Repo, commit: str) -> History:
    try:
        git(repo, "rev-parse", "--git-dir")
        target = git(repo, "symbolic-ref", "--quiet", commit).decode("utf-8", "replace").strip()
        git(repo, "show-ref", "--verify", "--quiet", target)
    except GitError as error:
        if "exit code 1" in str(error) and commit == "HEAD":
            return History(why_not="the repo has no commit yet", tree={})
        return History(why_not=_unreadable(repo, error))
    return History(why_not="its HEAD leads to no commit that is there")


def _unreadable(repo: Repo, error: GitError) -> str:
    """Why git cannot read a repo, without the folders of this machine: pages are published (SPEC 10)."""
    text = str(error).replace(str(repo.git_dir), ".git")
    return f"git cannot read it: {text.replace(str(repo.top), '.') if repo.top else text}"


class _Line:
    """Reads one source's history up to one commit."""

    def __init__(self, repo: Repo, prefix: str, head: str, known: KnownHistory) -> None:
        self._repo = repo
        self._prefix = prefix.encode("utf-8", "surrogateescape")
        # The folder's inode: a cache that came along with a clone has another one.
        self._name = f"{prefix}|{CACHE_VERSION}|{repo.git_dir.stat().st_ino}"
        self._known = known
        self._head = head

    def read(self) -> HistoryRead:
        """The histories of all files and the contents of the commit, starting from what is known."""
        known = self._known.get(self._name)
        if known.head != self._head or known.tree is None:
            known = self._go_on(known) or self._read_all()
            self._known.put(known)
        return known

    def _go_on(self, known: HistoryRead) -> HistoryRead | None:
        """The known history plus newer commits; None if it is not on the branch's first-parent line."""
        if known.head == self._head:
            return self._at_head(known.events)
        if not known.head:
            return None
        try:
            trunk, brought, below = split_trunk(self._commits(f"{known.head}..{self._head}"), self._head)
        except GitError:  # that commit no longer exists
            return None
        if below != known.head:
            return None
        before = self.read_tree(known.head)[0] if known.tree is None else known.tree
        replay = Replay(brought, events=known.events, tree=before)
        for commit in trunk:
            replay.apply(commit)
        if known.tree is None:
            return self._at_head(replay.events())
        tree, foreign = self._tree_after(known.head, known.tree, known.foreign)
        return HistoryRead(
            name=self._name, head=self._head, events=replay.events(), committed=trunk[-1].at, tree=tree, foreign=foreign
        )

    def _read_all(self) -> HistoryRead:
        trunk, brought, _ = split_trunk(self._commits(self._head), self._head)
        replay = Replay(brought)
        for commit in trunk:
            replay.apply(commit)
        return self._at_head(replay.events())

    def _at_head(self, events: Mapping[str, tuple[LifeEvent, ...]]) -> HistoryRead:
        tree, foreign = self.read_tree(self._head)
        return HistoryRead(
            name=self._name, head=self._head, events=events, committed=self.committed(), tree=tree, foreign=foreign
        )

    def committed(self) -> Moment | None:
        """The date of the commit."""
        written = git(self._repo, "log", "-1", "--format=%cI", "--no-show-signature", self._head)
        return read_moment(written.decode("utf-8", "replace").strip())

    def read_tree(self, commit: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """The contents of a commit, by path; and the folders in it that are repos of their own."""
        tree: dict[str, str] = {}
        foreign: list[str] = []
        for token in git_tokens(self._repo, "ls-tree", "-r", "-z", "--full-tree", commit):
            head, _, raw = token.partition(b"\t")
            mode, _, blob = head.split(b" ")
            path = self._path(raw)
            if path is not None and mode == b"160000":
                foreign.append(path)
            elif path is not None and mode.startswith(_REGULAR.encode()) and can_concern(path):
                tree[path] = blob.decode("ascii")
        return tree, tuple(sorted(foreign))

    def _tree_after(
        self, base: str, tree: Mapping[str, str], foreign: Iterable[str]
    ) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """The contents of the commit, derived from those of an earlier one."""
        after, repos = dict(tree), set(foreign)
        tokens = git_tokens(self._repo, *_DIFF, base, self._head, "--")
        for token in tokens:
            _, mode, _, blob, _ = token.split(b" ")
            path = self._path(next(tokens, b""))
            if path is None:
                continue
            if "\ufffd" in path:  # several paths may be shown alike
                return self.read_tree(self._head)
            after.pop(path, None)
            repos.discard(path)
            if mode == b"160000":
                repos.add(path)
            elif mode.startswith(_REGULAR.encode()) and can_concern(path):
                after[path] = blob.decode("ascii")
        return dict(sorted(after.items())), tuple(sorted(repos))

    def _commits(self, revisions: str) -> Iterator[HistoryCommit]:
        """The commits of a range, newest first, each before its parents."""
        tokens = git_tokens(self._repo, *_LOG, *_LOG_ALSO, _FORMAT, revisions, "--")
        head: bytes | None = None
        changes: list[FileChange] = []
        for token in tokens:
            if token.startswith(b"\x01"):
                if head is not None:
                    yield _commit(head, changes)
                head, changes = token, []
            elif token.lstrip(b"\n").startswith(b":"):
                path = self._path(next(tokens, b""))
                if path is not None and can_concern(path):
                    changes.append(_change(token.lstrip(b"\n"), path))
        if head is not None:
            yield _commit(head, changes)

    def _path(self, raw: bytes) -> str | None:
        """A path as the source has it; None outside of it."""
        if not raw.startswith(self._prefix):
            return None
        return shown_path(raw[len(self._prefix) :].decode("utf-8", "surrogateescape"))


def _commit(head: bytes, changes: list[FileChange]) -> HistoryCommit:
    id_, parents, at, author = head[1:].split(b"\x1f", 3)
    return HistoryCommit(
        id=id_.decode("ascii"),
        parents=tuple(parents.decode("ascii").split()),
        at=read_moment(at.decode("ascii", "replace")),
        author=" ".join(author.decode("utf-8", "replace").split())[:200],
        changes=tuple(changes),
    )


def _change(raw: bytes, path: str) -> FileChange:
    """`:100644 000000 <before> <after> D`; anything but a regular file counts as absent."""
    before_mode, after_mode, before, after, _ = raw[1:].decode("ascii").split(" ")
    return FileChange(
        path=path,
        before=before if before_mode.startswith(_REGULAR) else "",
        after=after if after_mode.startswith(_REGULAR) else "",
    )


# The cache


def _read_cache(file: Path | None, name: str) -> tuple[str, dict[str, tuple[LifeEvent, ...]]]:
    """The last commit in the cache and the histories up to it; nothing if the file is missing or not ours."""
    if file is None:
        return "", {}
    try:
        value = json.loads(read_whole(file) or b"{}")
        if value["name"] != name:
            return "", {}
        authors, dates = value["who"], [read_moment(text) for text in value["at"]]
        head, events = value["head"], {}
        for key, found in value["events"].items():
            events[key] = tuple(
                LifeEvent(
                    kind=cast(EventKind, kind),
                    at=dates[at],
                    who=authors[who],
                    commit=commit,
                    path=path,
                    before=before,
                    after=after,
                    merge=merge,
                )
                for kind, at, who, commit, path, before, after, merge in found
                if kind in _KINDS and isinstance(path, str) and _IDS.fullmatch(f"{commit} {before} {after} {merge}")
            )
            if not found or len(events[key]) != len(found):
                return "", {}
        is_ours = _IDS.fullmatch(head) is not None and all(isinstance(one, str) for one in authors)
        return (head, events) if is_ours else ("", {})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return "", {}


def _write_cache(file: Path | None, name: str, head: str, events: Mapping[str, tuple[LifeEvent, ...]]) -> None:
    if file is None:
        return
    who: dict[str, int] = {}
    at: dict[str, int] = {}
    lives = {
        key: [
            (
                one.kind,
                at.setdefault(_written(one.at), len(at)),
                who.setdefault(one.who, len(who)),
                *(one.commit, one.path, one.before, one.after, one.merge),
            )
            for one in found
        ]
        for key, found in events.items()
    }
    value = {"name": name, "head": head, "who": list(who), "at": list(at), "events": lives}
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    write_whole(file, data)


def _written(moment: Moment | None) -> str:
    if moment is None:
        return ""
    sign = "-" if (moment.offset or 0) < 0 else "+"
    minutes = abs(moment.offset or 0)
    return f"{moment.local.isoformat()}{sign}{minutes // 60:02d}:{minutes % 60:02d}"


# Former contents


def read_contents(repo: Repo, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Former contents of files by their ids, those that are there and not too large."""
    wanted = [id_.encode("ascii") for id_ in list(dict.fromkeys(ids))[:CONTENTS_LIMIT]]
    if not wanted:
        return
    sizes = git(repo, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", given=_lines(wanted))
    small = [line.split(b" ")[0] for line in sizes.splitlines() if _is_small(line)]
    for start in range(0, len(small), 64):
        batch = small[start : start + 64]
        yield from _contents(git(repo, "cat-file", "--batch", given=_lines(batch)))


def _contents(printed: bytes) -> Iterator[tuple[str, bytes]]:
    place = 0
    while place < len(printed):
        end = printed.index(b"\n", place)
        id_, _, size = printed[place:end].split(b" ")
        yield id_.decode("ascii"), printed[end + 1 : end + 1 + int(size)]
        place = end + 2 + int(size)


def _is_small(line: bytes) -> bool:
    parts = line.split(b" ")
    return len(parts) == 3 and parts[1] == b"blob" and int(parts[2]) <= CONTENT_LIMIT


def find_commits(repo: Repo, written: Iterable[str]) -> dict[str, str]:
    """Full ids of commits by abbreviation, without unknown and ambiguous ones. Raises `GitError` if git fails."""
    asked = list(dict.fromkeys(written))
    if not asked:
        return {}
    given = _lines(f"{one}^{{commit}}".encode("ascii") for one in asked)
    answers = git(repo, "cat-file", "--batch-check=%(objectname) %(objecttype)", given=given).splitlines()
    if len(answers) != len(asked):
        return {}
    pairs = zip(asked, (answer.split(b" ") for answer in answers), strict=True)
    found = {one: answer[0].decode("ascii") for one, answer in pairs if len(answer) == 2 and answer[1] == b"commit"}
    return {one: id_ for one, id_ in found.items() if id_.startswith(one)}  # a branch may have the name of a commit


def _lines(ids: Iterable[bytes]) -> bytes:
    return b"".join(id_ + b"\n" for id_ in ids)
