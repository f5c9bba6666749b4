"""[I/O] Reads the git history of a source: one full `git log`, then only new commits (SPEC 2.3).

What follows from the commits is cached, and continued while each new commit has the one before as its only parent. A
merge may bring commits from long ago: then all are replayed. So that git need not read these again, either, the commits
of a repo with merges are cached, too: what a commit changed stays true. What git does not know is reported, never
guessed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memosite.archive.history import FileChange, History, HistoryCommit, HistoryProblem, RedactedName
from memosite.archive.replay import Events, Replay, replay
from memosite.facts.times import Moment, read_moment
from memosite.formats.systems import can_concern
from memosite.sources.git import GitError, GitLimitError, Repo, TooMuchError, git, git_tokens
from memosite.sources.git_trees import TreeEntry, list_commit
from memosite.sources.known_history import HistoryRead, KnownHistory, Log, name_of
from memosite.sources.listing import shown_path
from memosite.sources.objects import Objects

ScreenNames = Callable[[Iterable[str]], Mapping[str, str]]
"""Those of some names that hold a secret, each with the name as it may be shown (`reading/gate.py`)."""

_REGULAR = "100"
"""How the mode of a regular file begins in git: links and submodules have no content here."""
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


def read_history(
    repo: Repo, screen_names: ScreenNames, *, prefix: str = "", commit: str = "HEAD", known: KnownHistory | None = None
) -> History:
    """The history of the folder `prefix` of a repo ("" for all of it, else ending in a slash) up to a commit.

    Paths that hold secrets are left out of it, and authors redacted. The `known` part is not read again. Never raises
    for git's errors: the history says why it is incomplete.
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
    except GitLimitError as error:
        return _failed(_Line(repo, screen_names, prefix, "", known or KnownHistory(None)), error)
    except GitError:
        return _without_commits(repo, commit)
    try:
        is_shallow, _, head = told.decode("ascii").strip().partition("\n")
        line = _Line(repo, screen_names, prefix, head, known or KnownHistory(None))
        if is_shallow == "true":
            tree, foreign = line.read_tree(head)
            why_not = "the clone is shallow: its first commits are missing"
            return History(commit=head, committed=line.committed(), tree=tree, foreign=foreign, why_not=why_not)
        return line.read().history
    except GitLimitError as error:
        return _failed(line, error)
    except GitError as error:
        return History(why_not=_unreadable(error), problem="unreadable")


def _failed(line: "_Line", error: GitError) -> History:
    """What was known before time or memory ran out."""
    before = line.known()
    return History(
        commit=before.head, events=before.events, names=before.names, why_not=_unreadable(error), problem="failed"
    )


def _without_commits(repo: Repo, commit: str) -> History:
    try:
        git(repo, "rev-parse", "--git-dir")
        target = git(repo, "symbolic-ref", "--quiet", commit).decode("utf-8", "replace").strip()
        git(repo, "show-ref", "--verify", "--quiet", target)
    except GitError as error:
        if "exit code 1" in str(error) and commit == "HEAD":
            return History(why_not="the repo has no commit yet", tree={})
        problem: HistoryProblem = "failed" if isinstance(error, GitLimitError) else "unreadable"
        return History(why_not=_unreadable(error), problem=problem)
    return History(problem="unreadable", why_not="its HEAD leads to a missing commit")


def _unreadable(error: GitError) -> str:
    """Why git cannot read a repo, without the folders of this machine: pages are published (SPEC 10)."""
    return f"git cannot read it: {error.public}"


class _Line:
    """Reads one source's history up to one commit."""

    def __init__(self, repo: Repo, screen_names: ScreenNames, prefix: str, head: str, known: KnownHistory) -> None:
        self._repo = repo
        self._screen_names = screen_names
        self._prefix = prefix.encode("utf-8", "surrogateescape")
        self._name = name_of(repo, prefix)
        self._known = known
        self._head = head

    def known(self) -> HistoryRead:
        """What was read before."""
        return self._known.get(self._name)

    def read(self) -> HistoryRead:
        """The histories of all files and the contents of the commit, starting from what is known."""
        known = self._known.get(self._name)
        if known.head != self._head or known.tree is None:
            next(self._list(self._head), None)  # first: git would go through each path of a tree that is too large
            known = self._go_on(known) or self._at_head(*self._replayed(known.events))
            self._known.put(known)
        return known

    def _go_on(self, known: HistoryRead) -> HistoryRead | None:
        """The known history plus newer commits; None if they do not simply follow on it."""
        if known.head == self._head:
            return self._at_head(known.events, known.names)
        new = self._since(known.head)
        if not new or not _is_straight(new, known.head):
            return None
        before = self.read_tree(known.head)[0] if known.tree is None else known.tree
        telling = Replay({}, events=known.events, tree=before)
        for commit in reversed(new):
            telling.apply(commit)
        names = _names((*known.names, *(name for commit in new for name in commit.names)))
        if known.tree is None:
            return self._at_head(telling.events(), names)
        tree, foreign = self._tree_after(known.head, known.tree, known.foreign)
        return HistoryRead(
            name=self._name,
            head=self._head,
            events=telling.events(),
            names=names,
            committed=new[0].at,
            tree=tree,
            foreign=foreign,
        )

    def _replayed(self, known: Events) -> tuple[Events, tuple[RedactedName, ...]]:
        """The histories that follow from all commits, and the names. A history that is as it was is the same object."""
        log = self._known.log(self._name)
        new = self._since(log.head)
        if new is None:
            log, new = Log(), self._screened(self._commits(self._head))
        commits = {**log.commits, **{commit.id: commit for commit in reversed(new)}}
        try:
            events, reached = replay(commits, self._head)
        except ValueError as error:
            raise GitError("its commits do not lead back to a first one") from error
        left = {id_: commit for id_, commit in commits.items() if id_ in reached}
        if any(len(commit.parents) > 1 for commit in commits.values()):
            self._known.put_log(Log(name=self._name, head=self._head, commits=left))
        names = _names(name for commit in left.values() for name in commit.names)
        return {key: old if (old := known.get(key)) == found else found for key, found in events.items()}, names

    def _since(self, known: str) -> list[HistoryCommit] | None:
        """The commits that a known one does not lead up to, newest first; None if it no longer exists."""
        try:
            return self._screened(self._commits(f"{known}..{self._head}")) if known else None
        except GitLimitError:
            raise
        except GitError:
            return None

    def _at_head(self, events: Events, names: tuple[RedactedName, ...]) -> HistoryRead:
        tree, foreign = self.read_tree(self._head)
        return HistoryRead(
            name=self._name,
            head=self._head,
            events=events,
            names=names,
            committed=self.committed(),
            tree=tree,
            foreign=foreign,
        )

    def committed(self) -> Moment | None:
        """The date of the commit."""
        written = git(self._repo, "log", "-1", "--format=%cI", "--no-show-signature", self._head)
        return read_moment(written.decode("utf-8", "replace").strip())

    def read_tree(self, commit: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """The contents of a commit, by path; and the folders in it that are repos of their own."""
        tree: dict[str, str] = {}
        foreign: list[str] = []
        for mode, raw, blob in self._list(commit):
            path = self._path(raw)
            if path is not None and mode == "160000":
                foreign.append(path)
            elif path is not None and mode.startswith(_REGULAR) and can_concern(path):
                tree[path] = blob
        hidden = self._screen_names((*tree, *foreign))
        for path in hidden:
            tree.pop(path, None)
        return tree, tuple(sorted(set(foreign).difference(hidden)))

    def _list(self, commit: str) -> Iterator[TreeEntry]:
        with Objects(self._repo) as objects:
            entries, skipped = list_commit(objects, commit)
            if skipped:
                raise TooMuchError(f"{skipped[0].why}", public=f"its commit is too large: {skipped[0].why}")
            yield from entries

    def _tree_after(
        self, base: str, tree: Mapping[str, str], foreign: Iterable[str]
    ) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """The contents of the commit, derived from those of an earlier one."""
        after, repos = dict(tree), set(foreign)
        added: dict[str, str] = {}
        tokens = git_tokens(self._repo, *_DIFF, base, self._head, "--")
        for token in tokens:
            _, mode, _, blob, _ = token.split(b" ")
            path = self._path(next(tokens, b""))
            if path is None:
                continue
            if "\ufffd" in path:  # several paths may be shown alike
                return self.read_tree(self._head)
            after.pop(path, None)
            added.pop(path, None)
            repos.discard(path)
            if mode == b"160000":
                repos.add(path)
            elif mode.startswith(_REGULAR.encode()) and can_concern(path):
                added[path] = blob.decode("ascii")
        hidden = self._screen_names((*added, *repos))
        after |= {path: blob for path, blob in added.items() if path not in hidden}
        repos.difference_update(hidden)
        return dict(sorted(after.items())), tuple(sorted(repos))

    def _screened(self, commits: Iterable[HistoryCommit]) -> list[HistoryCommit]:
        """The commits with no name that holds a secret."""
        found = list(commits)
        paths = (change.path for commit in found for change in commit.changes)
        hidden = self._screen_names((*(commit.author for commit in found), *paths))
        return [_without_names(commit, hidden) for commit in found] if hidden else found

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


def _without_names(commit: HistoryCommit, hidden: Mapping[str, str]) -> HistoryCommit:
    paths = (RedactedName("path", hidden[one.path]) for one in commit.changes if one.path in hidden)
    author = hidden.get(commit.author)
    return replace(
        commit,
        author=author or commit.author,
        changes=tuple(change for change in commit.changes if change.path not in hidden),
        names=(*paths, *([RedactedName("author", author)] if author else ())),
    )


def _names(found: Iterable[RedactedName]) -> tuple[RedactedName, ...]:
    return tuple(sorted(set(found)))


def _change(raw: bytes, path: str) -> FileChange:
    """`:100644 000000 <before> <after> D`; anything but a regular file counts as absent."""
    _, mode, _, after, _ = raw.decode("ascii").split(" ")
    return FileChange(path=path, after=after if mode.startswith(_REGULAR) else "")


def _is_straight(new: Sequence[HistoryCommit], below: str) -> bool:
    """Whether commits, newest first, go on from one below them without merges."""
    parents = [commit.parents for commit in new]
    return bool(new) and parents == [(commit.id,) for commit in new[1:]] + [(below,)]
