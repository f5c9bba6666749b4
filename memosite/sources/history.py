"""[I/O] Reads the git history of a source: one full `git log`, then only new commits; former contents (SPEC 2.3).

    events of files ─┐
    commits ─────────┼─► cache ─► the next build asks git for new commits only, and nothing if the repo is unchanged
    files of HEAD ───┘

What follows from the commits is cached, and continued while each new commit has the one before as its only parent. A
merge may bring commits from long ago: then all are replayed. So that git need not read these again, either, the commits
of a repo with merges are cached, too: what a commit changed stays true. What git does not know is reported, never
guessed.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar

from memosite.archive.history import (
    CommitCard,
    Events,
    FileChange,
    FormerSecrets,
    History,
    HistoryCommit,
    HistoryProblem,
    LifeEvent,
    RedactedName,
    Replay,
    Screen,
    replay,
)
from memosite.facts.contents import is_confidential
from memosite.facts.file import File
from memosite.facts.layout import place_of
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import BodyFile, Envelope, Parsed, RecordFile, Text
from memosite.facts.patterns import regex
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import Value, field, replace
from memosite.formats.sessions.places import CHECKPOINTS
from memosite.formats.systems import can_concern
from memosite.sources.git import GitError, GitLimitError, Holding, Repo, TooMuchError, git, git_tokens, viewed
from memosite.sources.listing import shown_path
from memosite.sources.objects import (
    CONTENTS_LIMIT,
    Objects,
    TreeEntry,
    commit_cards,
    find_commits,
    list_commit,
    naming_sessions,
    read_contents,
)
from memosite.store.shelf import Shelf
from memosite.store.state import COMMITS, EVENTS, LINES, TREE, Row, Rows, State, Table
from memosite.store.values import read_value, value_bytes

T = TypeVar("T")


# What is known of the git history of a source: in memory, and as rows.


def name_of(repo: Repo, prefix: str) -> str:
    """What a repo's cached history is known by. Its folder's inode: a cache that came with a clone has another one."""
    return f"{prefix}|{repo.git_dir.stat().st_ino}"


class Log(Value):
    """All commits that lead up to one, by their ids, each after its parents."""

    name: str = ""
    head: str = ""
    commits: Mapping[str, HistoryCommit] = field(default_factory=dict)


class _Files(Value):
    """What is known of a history beside its events and its tree, `counts` of which there are.

    It is that of the repo of this `name` at the commit `head`, to which `ref` led when the repo was in the state `at`;
    `words` are those of texts that mean a commit, each with its whole id, "" for none, as git said then.
    """

    name: str = ""
    head: str = ""
    ref: str = ""
    at: str = ""
    committed: Moment | None = None
    foreign: tuple[str, ...] = ()
    names: tuple[RedactedName, ...] = ()
    counts: tuple[int, int] = (0, 0)
    words: Mapping[str, str] = field(default_factory=dict)


class _Commits(Value):
    """What is said of the commits of a line: the repo's name, up to which commit they lead, how many they are."""

    name: str = ""
    head: str = ""
    count: int = 0


class KnownHistory:
    """Caches the history of one source: in memory, and as rows of a line, if there is a state."""

    def __init__(self, state: State | None = None, line: str = "") -> None:
        """Name the line. Its rows are loaded when they are needed."""
        self._state = state or State(None)
        self._line = line
        self._said = _Files()
        self._read = History()
        self._log: Log | None = None
        self._files_row = self._log_row = b""
        self._events: _Numbered[tuple[LifeEvent, ...]] = _Numbered(self._state[EVENTS], line)
        self._commits: _Numbered[HistoryCommit] = _Numbered(self._state[COMMITS], line)
        self._tree: Mapping[str, str] = {}
        self._is_new = self._is_log_new = False

    def get(self, name: str) -> History:
        """The history cached under this name, with the contents of its commit; empty without it."""
        if self._said.name != name:
            self._said, self._read, self._is_new = _Files(name=name), History(), False
            with self._state.reading():
                self._load(name)
        return self._read

    def _load(self, name: str) -> None:
        row = self._state[LINES].get(self._line, _FILES)
        said: _Files = read_value(row, _Files) if row else _Files()
        self._files_row = b""
        if row is None or said.name != name:
            return
        events = self._events.load()
        tree = {str(path): blob.decode("ascii") for (_, path), blob in self._state[TREE].items(self._line)}
        if said.counts == (len(events), len(tree)):
            self._files_row, self._tree, self._said = row, tree, said
            self._read = History(
                commit=said.head, committed=said.committed, tree=dict(sorted(tree.items())), foreign=said.foreign,
                events=events, names=said.names,
            )  # fmt: skip

    def state(self, name: str, ref: str) -> str:
        """The state of the repo in which `ref` led to the history that is cached; "" if that is not known."""
        return self._said.at if self.get(name).tree is not None and self._said.ref == ref else ""

    def note_state(self, ref: str, state: str) -> None:
        """The history that was put last is what `ref` leads to as long as the repo is in this state."""
        if self._said.name and (ref, state) != (self._said.ref, self._said.at):
            self._said, self._is_new = replace(self._said, ref=ref, at=state, words={}), True

    @property
    def words(self) -> Mapping[str, str]:
        """The commits that words mean in the state that was noted last; "" for those that mean none."""
        return self._said.words

    def note_words(self, words: Mapping[str, str]) -> None:
        """Note what words mean in the state that was noted last."""
        if self._said.at and words != self._said.words:
            self._said, self._is_new = replace(self._said, words=words), True

    def put(self, name: str, read: History) -> None:
        """Keep the history in memory under a name; `write` saves it."""
        self._said, self._read, self._is_new = _Files(name=name), read, True

    def log(self, name: str) -> Log:
        """The commits cached under this name, which may lead up to an earlier commit; none if there are none."""
        if self._log is None or self._log.name != name:
            self._log, self._is_log_new, self._log_row = Log(name=name), False, b""
            with self._state.reading():
                row = self._state[LINES].get(self._line, _COMMITS)
                said: _Commits = read_value(row, _Commits) if row else _Commits()
                commits = self._commits.load() if said.name == name else {}
            if row and commits and said.count == len(commits):
                self._log, self._log_row = Log(name=name, head=said.head, commits=commits), row
        return self._log

    def put_log(self, log: Log) -> None:
        """Keep the commits in memory; `write` saves them."""
        self._log, self._is_log_new = log, True

    def write(self) -> None:
        """Save what is new: the rows that changed, as long as those that are there are what was read or saved last."""
        lines, read = self._state[LINES], self._read
        if self._is_new and read.tree is not None:
            self._said = replace(
                self._said, head=read.commit, committed=read.committed, foreign=read.foreign, names=read.names,
                counts=(len(read.events), len(read.tree)),
            )  # fmt: skip
            row = value_bytes(self._said)
            with self._state.writing():
                is_ours = self._files_row != b"" and self._files_row == lines.get(self._line, _FILES)
                tree = self._state[TREE]
                if not is_ours:
                    tree.remove([(self._line,)])
                    self._tree = {}
                self._events.write(read.events, is_anew=not is_ours)
                tree.remove((self._line, path) for path in self._tree.keys() - read.tree.keys())
                tree.put(
                    ((self._line, path), blob.encode("ascii"))
                    for path, blob in read.tree.items()
                    if self._tree.get(path) != blob
                )
                lines.put([((self._line, _FILES), row)])
            self._files_row, self._tree = row, read.tree
        if self._is_log_new and self._log is not None:
            row = value_bytes(_Commits(name=self._log.name, head=self._log.head, count=len(self._log.commits)))
            with self._state.writing():
                is_ours = self._log_row != b"" and self._log_row == lines.get(self._line, _COMMITS)
                self._commits.write(self._log.commits, is_anew=not is_ours)
                lines.put([((self._line, _COMMITS), row)])
            self._log_row = row
        self._is_new = self._is_log_new = False


_FILES, _COMMITS = "files", "commits"

NUMBERED: Mapping[Table, Any] = {EVENTS: tuple[int, tuple[LifeEvent, ...]], COMMITS: tuple[int, HistoryCommit]}
"""What a row holds: a number, by which rows have their order, and a value."""


class _Numbered(Generic[T]):
    """A mapping whose values are rows of a line, with numbers that keep its order: a change writes what it touches."""

    def __init__(self, rows: Rows, line: str) -> None:
        """Begin without any."""
        self._rows = rows
        self._line = line
        self._numbers: dict[str, int] = {}
        self._saved: Mapping[str, T] = {}

    def load(self) -> Mapping[str, T]:
        """What is saved, in its order."""
        kind = NUMBERED[self._rows.table]
        rows = [(str(key), *read_value(value, kind)) for (_, key), value in self._rows.items(self._line)]
        rows.sort(key=itemgetter(1))
        self._numbers = {key: number for key, number, _ in rows}
        self._saved = {key: one for key, _, one in rows}
        return self._saved

    def write(self, now: Mapping[str, T], *, is_anew: bool) -> None:
        """Save what is another object than what was saved last, or comes in another place."""
        if is_anew:
            self._rows.remove([(self._line,)])
            self._numbers, self._saved = {}, {}
        last, free = -1, max(self._numbers.values(), default=-1) + 1
        changed: list[Row] = []
        numbers: dict[str, int] = {}
        for key, one in now.items():
            number = self._numbers.get(key, -1)
            is_in_place = number > last
            if not is_in_place:
                number, free = free, free + 1
            numbers[key] = last = number
            if not is_in_place or self._saved.get(key) is not one:
                changed.append(((self._line, key), value_bytes((number, one))))
        self._rows.remove((self._line, key) for key in self._numbers.keys() - now.keys())
        self._rows.put(changed)
        self._numbers, self._saved = numbers, now


ScreenNames = Callable[[Iterable[str]], Mapping[str, str]]
"""Those of some names that hold a secret, each with the name as it may be shown (`reading/gate.py`)."""


_REGULAR = "100"
"""How the mode of a regular file begins in git: links and submodules have no content here."""


_FORMAT = "--format=tformat:%x01%H%x1f%P%x1f%cI%x1f%an"


_LOG = ("log", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--topo-order")


_DIFF = (
    *("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff"),
    *("--ignore-submodules=none", "-O/dev/null"),
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
        options = ("--is-shallow-repository", "--verify", "--quiet", "--end-of-options")
        told = git(repo, "rev-parse", *options, f"{commit}^{{commit}}")
    except GitLimitError as error:
        return _failed(_Line(repo, screen_names, prefix, "", known or KnownHistory()), error)
    except GitError:
        return _without_commits(repo, commit)
    try:
        is_shallow, _, head = told.decode("ascii").strip().partition("\n")
        line = _Line(repo, screen_names, prefix, head, known or KnownHistory())
        if is_shallow == "true":
            tree, foreign = line.read_tree(head)
            why_not = "the clone is shallow: its first commits are missing"
            return History(commit=head, committed=line.committed(), tree=tree, foreign=foreign, why_not=why_not)
        return line.read()
    except GitLimitError as error:
        return _failed(line, error)
    except GitError as error:
        return History(why_not=_unreadable(error), problem="unreadable")


def _failed(line: "_Line", error: GitError) -> History:
    """What was known before time or memory ran out."""
    return replace(line.known(), committed=None, tree=None, foreign=(), why_not=_unreadable(error), problem="failed")


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
        self._entries: Iterator[TreeEntry] | None = None

    def known(self) -> History:
        """What was read before."""
        return self._known.get(self._name)

    def read(self) -> History:
        """The histories of all files and the contents of the commit, starting from what is known."""
        known = self.known()
        if known.commit != self._head or known.tree is None:
            self._entries = self._list(self._head)  # first: git would go through each path of a tree too large
            known = self._go_on(known) or self._at_head(*self._replayed(known.events))
            self._known.put(self._name, known)
        return known

    def _go_on(self, known: History) -> History | None:
        """The known history plus newer commits; None if they do not simply follow on it."""
        if known.commit == self._head:
            return self._at_head(known.events, known.names, self.committed())
        new = self._since(known.commit)
        if not new or not _is_straight(new, known.commit):
            return None
        before = self.read_tree(known.commit)[0] if known.tree is None else known.tree
        telling = Replay({}, events=known.events, tree=before)
        for commit in reversed(new):
            telling.apply(commit)
        names = _names((*known.names, *(name for commit in new for name in commit.names)))
        if known.tree is None:
            return self._at_head(telling.events(), names, new[0].at)
        tree, foreign = self._tree_after(known.commit, known.tree, known.foreign)
        return History(
            commit=self._head, committed=new[0].at, tree=tree, foreign=foreign, events=telling.events(), names=names
        )

    def _replayed(self, known: Events) -> tuple[Events, tuple[RedactedName, ...], Moment | None]:
        """What `_at_head` takes, as it follows from all commits. A history that is as it was is the same object."""
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
        kept = {key: old if (old := known.get(key)) == found else found for key, found in events.items()}
        return kept, names, commits[self._head].at

    def _since(self, known: str) -> list[HistoryCommit] | None:
        """The commits that a known one does not lead up to, newest first; None if it no longer exists."""
        try:
            return self._screened(self._commits(f"{known}..{self._head}")) if known else None
        except GitLimitError:
            raise
        except GitError:
            return None

    def _at_head(self, events: Events, names: tuple[RedactedName, ...], committed: Moment | None) -> History:
        tree, foreign = self.read_tree(self._head)
        return History(commit=self._head, committed=committed, tree=tree, foreign=foreign, events=events, names=names)

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
        if self._entries is not None and commit == self._head:
            entries, self._entries = self._entries, None
            return entries
        with Objects(self._repo) as objects:
            entries, skipped = list_commit(objects, commit)
        if skipped:
            raise TooMuchError(f"{skipped[0].why}", public=f"its commit is too large: {skipped[0].why}")
        return entries

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
    return [commit.parents for commit in new] == [(commit.id,) for commit in new[1:]] + [(below,)]


# Reads a source's git history for one build, and the former contents that pages show.


EDITS = 50
"""How many edits of one file are shown, the newest."""


_COMMIT = regex(r"[0-9a-f]{7,64}")


class KnownPast:
    """Keeps the git history of one source between builds, so that git is asked for new commits only.

    It holds only the last history and its inputs. Former contents must stay on the shelf as long as it lives.
    """

    def __init__(self, state: State, holding: Holding) -> None:
        """Load what is saved of the line (a branch): that stays while its commits change."""
        self.holding = holding
        self.line = _line_of(holding)
        self._known = KnownHistory(state if holding.repo else State(None), self.line)
        self.state, self._base = self._last()
        self._contents: dict[str, str] = {}
        self._is_open: dict[str, bool] = {}
        self._secrets: dict[str, FormerSecrets] = {}
        self._allowed: frozenset[str] = frozenset()
        self._cards: tuple[object, Mapping[str, CommitCard]] = (None, {})

    def _last(self) -> tuple[str, History]:
        """The state of the repo in which its history was cached, and that history: no git is asked for it."""
        repo, prefix, ref = self.holding.repo, self.holding.prefix, self.holding.commit
        name = name_of(repo, prefix) if repo else ""
        state = self._known.state(name, ref) if repo else ""
        return state, self._known.get(name) if state else History()

    def write(self) -> None:
        """Save new entries to the cache."""
        self._known.write()

    def read(self, repo: Repo, parsed: Sequence[Parsed], shelf: Shelf, *, state: str, screen: Screen) -> History:
        """The history of a source whose files were parsed. Former contents are on the shelf afterwards, screened.

        `state` is a digest of the repo's HEAD and objects, taken before.
        """
        with viewed(repo) as seen:
            return self._read(seen, parsed, shelf, state=state, screen=screen)

    def _read(self, repo: Repo, parsed: Sequence[Parsed], shelf: Shelf, *, state: str, screen: Screen) -> History:
        if state != self.state or self._base.why_not:
            self.state = state
            self._base = read_history(
                repo, screen.names, prefix=self.holding.prefix, commit=self.holding.commit, known=self._known
            )
            if not self._base.why_not:
                self._known.note_state(self.holding.commit, state)
        if screen.allowed != self._allowed:
            self._allowed = screen.allowed
            self._contents, self._is_open, self._secrets = {}, {}, {}
        history = self._base
        if not history.events:
            return history
        gone = {key: events[-1] for key, events in history.events.items() if _is_removed(key, events)}
        removed = {key: event.before for key, event in gone.items()}
        facts = (result for result in parsed if isinstance(result.fact, Envelope | BodyFile))
        edits = (event for one in facts for event in _edits(history, one.path))
        self._read_contents(repo, _paths_of((*gone.values(), *edits)), removed.values(), shelf, screen)
        return replace(
            history,
            blobs=self._contents,
            secrets=self._secrets,
            confidential=frozenset(key for key, blob in removed.items() if not self._is_open.get(blob)),
            commits=self._commits(repo, parsed),
        )

    def _read_contents(
        self, repo: Repo, paths: Mapping[str, str], removed: Collection[str], shelf: Shelf, screen: Screen
    ) -> None:
        """Put contents on the shelf by their blob ids, each with a former path; `removed` are checked for secrecy."""
        wanted = list(paths)[:CONTENTS_LIMIT]
        judged = frozenset(removed).intersection(wanted)
        contents = {id_: self._contents[id_] for id_ in wanted if id_ in self._contents}
        is_open = {id_: self._is_open[id_] for id_ in judged if id_ in self._is_open}
        secrets = {id_: self._secrets[id_] for id_ in contents if id_ in self._secrets}
        new = [id_ for id_ in wanted if id_ not in contents or (id_ in judged and id_ not in is_open)]
        try:
            for id_, read in read_contents(repo, new) if new else ():
                screened = screen.file(File(source="", path=paths[id_], data=read))
                contents[id_] = shelf.put(screened.file.data.decode("utf-8", "replace").replace("\r\n", "\n").encode())
                if screened.hits:
                    secrets[id_] = FormerSecrets(path=paths[id_], hits=screened.hits)
                if id_ in judged:
                    is_open[id_] = not is_confidential(screened.file)
        except GitError:  # a partial clone: what is not there is not shown
            pass
        self._contents = {id_: contents[id_] for id_ in wanted if id_ in contents}
        self._is_open, self._secrets = is_open, secrets

    def cards(self, repo: Repo, written: Sequence[str], screen: Screen) -> Mapping[str, CommitCard]:
        """The commits that session logs name in these words, and those that name a session, without secrets.

        By the words and by whole ids; none if git fails. It is asked only if the repo or the words changed.
        """
        of = (self.state, tuple(written), screen.allowed)
        if self._cards[0] != of:
            try:
                with viewed(repo) as seen:
                    found = find_commits(seen, written)
                    is_naming = self._base.commit and CHECKPOINTS not in self.holding.line
                    cards = [*(naming_sessions(seen, self._base.commit) if is_naming else ())]
                    cards += commit_cards(seen, set(found.values()).difference(card.id for card in cards))
            except GitError:
                found, cards = {}, []
            hidden = screen.names(card.subject for card in cards)
            by_id = {card.id: card._replace(subject=hidden.get(card.subject, card.subject)) for card in cards}
            self._cards = of, by_id | {word: by_id[id_] for word, id_ in found.items() if id_ in by_id}
        return self._cards[1]

    def _commits(self, repo: Repo, parsed: Iterable[Parsed]) -> dict[str, str]:
        """The commits that texts mean, by the words for them. Git is asked once for each, in each of its states."""
        mentioned = dict.fromkeys(_mentioned(parsed))
        known = {} if self._base.why_not else self._known.words
        new = [name for name in mentioned if name not in known]
        try:
            found = find_commits(repo, new) if new else {}
        except GitError:
            return {name: known[name] for name in mentioned if known.get(name)}
        words = {name: known[name] if name in known else found.get(name, "") for name in mentioned}
        if not self._base.why_not:
            self._known.note_words(words)
        return {name: id_ for name, id_ in words.items() if id_}


def _line_of(holding: Holding) -> str:
    git_dir = holding.repo.git_dir if holding.repo else ""
    name = f"{git_dir}\0{holding.prefix}\0{holding.line}".encode("utf-8", "surrogateescape")
    return hashlib.sha256(name).hexdigest()[:24]


def _edits(history: History, path: str) -> list[LifeEvent]:
    place = place_of(path)
    if place is not None and place.store == "transcripts":  # they grow while they go on
        return []
    return [event for event in history.at(path) if event.kind == "edited"][-EDITS:]


def _paths_of(events: Iterable[LifeEvent]) -> dict[str, str]:
    """The ids of the contents that pages show of these events, each with its first path."""
    paths: dict[str, str] = {}
    for event in events:
        for id_ in (event.before, event.after) if event.kind == "edited" else (event.before,):
            paths.setdefault(id_, event.path)
    return paths


def _is_removed(key: str, events: tuple[LifeEvent, ...]) -> bool:
    return events[-1].kind == "removed" and key.endswith(ENVELOPE_SUFFIX) and place_of(key) is not None


def _mentioned(parsed: Iterable[Parsed]) -> Iterator[str]:
    """The words in texts that look like commit ids."""
    for result in parsed:
        for text in _texts(result):
            yield from (name for name in text.mentions if _COMMIT.fullmatch(name))


def _texts(parsed: Parsed) -> Iterator[Text]:
    fact = parsed.fact
    for record in fact.records if isinstance(fact, RecordFile) else (fact,):
        text = record.body if isinstance(record, Envelope) else getattr(record, "text", None)
        if isinstance(text, Text):
            yield text
