"""Replays the commits of a repo into the history of each file: received, moved, edited, removed (SPEC 2.3).

The key of a file is its folder without the mailbox, and its name: `memos/2026-….openthing` is one file whether it is
in `inbox/` or in `read/`. So a move is found however much was edited with it; similarity is never guessed.
The history is that of the branch read: its commits, each against the first parent. A change that a merge brought is
attributed to the commit that made it, if one did.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from memosite.facts.layout import MAILBOXES, join_path
from memosite.facts.parsed import Mailbox
from memosite.facts.times import Moment

EventKind = Literal["received", "moved", "edited", "removed", "restored"]

_FURTHEST: dict[Mailbox, int] = {"archive": 0, "read": 1, "inbox": 2, "flat": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A change of one path in a commit: the blob ids before and after, "" where there was none."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCommit:
    """One commit, with its changes against its first parent that can concern an artifact."""

    id: str
    parents: tuple[str, ...]
    at: Moment | None
    author: str
    changes: tuple[FileChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeEvent:
    """One event in the history of a file.

    `path` is where it was afterwards (for `removed`: before), `mailbox` the box of that path. `before` and `after`
    are the blob ids around the event. `commit` made it; `merge` is the merge that brought it, "" if none did.
    """

    kind: EventKind
    at: Moment | None
    who: str
    commit: str
    path: str
    before: str = ""
    after: str = ""
    merge: str = ""

    @property
    def mailbox(self) -> Mailbox:
        """The mailbox it was in; `flat` outside of all."""
        return mailbox_of(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The git history of one source, as of one commit.

    `why_not` is the reason why there are no events, "" if they are complete. `tree` maps each path of that commit that
    can concern an artifact to its blob id; None if even that is not known. `foreign` are folders that are
    repos of their own. `events` are by `file_key`, oldest first. `confidential` are keys of removed files whose last
    content was confidential. `blobs` maps ids of content to the SHA-256 under which it is on the shelf.
    `commits` maps a commit as written in a text to its whole id.
    """

    commit: str = ""
    committed: Moment | None = None
    why_not: str = ""
    tree: Mapping[str, str] | None = None
    foreign: tuple[str, ...] = ()
    events: Mapping[str, tuple[LifeEvent, ...]] = field(default_factory=dict)
    confidential: frozenset[str] = frozenset()
    blobs: Mapping[str, str] = field(default_factory=dict)
    commits: Mapping[str, str] = field(default_factory=dict)


def file_key(path: str) -> str:
    """The key of a file, which stays the same while it moves between mailboxes."""
    folder, _, name = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    if last in MAILBOXES:
        folder = above
    return join_path(folder, name)


def _paths_of(key: str) -> list[str]:
    """All paths where the file with this key may be."""
    folder, _, name = key.rpartition("/")
    boxes = (join_path(folder, box) for box in MAILBOXES)
    paths = (key, *(f"{box}/{name}" for box in boxes))
    return sorted(path for path in paths if file_key(path) == key)


def mailbox_of(path: str) -> Mailbox:
    """The mailbox that a path is in."""
    folders = path.split("/")
    return MAILBOXES.get(folders[-2] if len(folders) > 1 else "", "flat")


Brought = Mapping[tuple[str, str, str], HistoryCommit]
"""The commit that made of a path a content, by the merge that brought it, the path and the content's id."""


def split_trunk(commits: Iterable[HistoryCommit], head: str) -> tuple[list[HistoryCommit], Brought, str]:
    """Separate the commits of the branch itself, oldest first, from those that merges brought.

    `commits` come newest first, each before its parents. The last value is the first parent of the oldest trunk
    commit: where a partial history goes on, "" at a root.
    """
    trunk: list[HistoryCommit] = []
    others: dict[str, HistoryCommit] = {}
    following = head
    for commit in commits:
        if commit.id == following:
            trunk.append(commit)
            following = commit.parents[0] if commit.parents else ""
        else:
            others[commit.id] = commit
    trunk.reverse()
    return trunk, _brought(trunk, others), following


def _brought(trunk: Iterable[HistoryCommit], others: Mapping[str, HistoryCommit]) -> Brought:
    """What each merge brought: the commits that no earlier one has. A merge makes nothing itself."""
    order = {id_: place for place, id_ in enumerate(others)}
    left = dict(others)
    made: dict[tuple[str, str, str], HistoryCommit] = {}
    for merge in trunk:
        found, waiting = [], list(merge.parents[1:])
        while waiting:
            commit = left.pop(waiting.pop(), None)
            if commit is not None:
                found.append(commit)
                waiting += commit.parents
        for commit in sorted(found, key=lambda one: order[one.id]):
            for change in commit.changes if len(commit.parents) < 2 else ():
                made.setdefault((merge.id, change.path, change.after), commit)
    return made


class Replay:
    """Replays the commits of a branch, oldest first. `at` is the content of every path before them, by key."""

    def __init__(
        self,
        brought: Brought,
        *,
        events: Mapping[str, Iterable[LifeEvent]] | None = None,
        tree: Mapping[str, str] | None = None,
    ) -> None:
        """Continue after these events, at this tree."""
        self._brought = brought
        self._events: dict[str, Sequence[LifeEvent]] = {key: tuple(known) for key, known in (events or {}).items()}
        self._tree = tree or {}
        self._at: dict[str, dict[str, str]] = {}

    def apply(self, commit: HistoryCommit) -> None:
        """Add the changes of one commit of the branch to the histories of its files."""
        by_key: dict[str, list[FileChange]] = defaultdict(list)
        for change in commit.changes:
            by_key[file_key(change.path)].append(change)
        states = {key: (self._before(key), _after(self._before(key), changes)) for key, changes in by_key.items()}
        for old, new in _resettled(states):
            self._events[new] = [*self._events.get(new, ()), *self._events.pop(old, ())]
            states[new] = (states.pop(old)[0], states[new][1])
            self._at[old] = {}
        for key, (before, after) in states.items():
            self._at[key] = after
            steps = list(self._steps(commit, key, before, after, by_key[key]))
            if steps:
                self._life(key).extend(steps)

    def _before(self, key: str) -> dict[str, str]:
        """Where a file is so far, and with which content."""
        if key not in self._at:
            self._at[key] = {path: self._tree[path] for path in _paths_of(key) if path in self._tree}
        return self._at[key]

    def _life(self, key: str) -> list[LifeEvent]:
        """The history of a file, to append to."""
        life = self._events.get(key, ())
        if not isinstance(life, list):
            life = self._events[key] = list(life)
        return life

    def _steps(
        self,
        commit: HistoryCommit,
        key: str,
        before: Mapping[str, str],
        after: Mapping[str, str],
        changes: list[FileChange],
    ) -> Iterator[LifeEvent]:
        was, now = _furthest(before), _furthest(after)
        if was is None and now is None:
            return
        known = was if now is None else now
        maker = commit
        if len(commit.parents) > 1:
            change = next((one for one in changes if one.path == known), changes[0])
            maker = self._brought.get((commit.id, change.path, change.after), commit)
        kinds: list[EventKind] = []
        if was is None:
            kinds.append("restored" if self._events.get(key) else "received")
        elif now is None:
            kinds.append("removed")
        else:
            if was.rpartition("/")[0] != now.rpartition("/")[0]:
                kinds.append("moved")
            if before[was] != after[now]:
                kinds.append("edited")
        for kind in kinds:
            yield LifeEvent(
                kind=kind,
                at=maker.at,
                who=maker.author,
                commit=maker.id,
                path=known or "",
                before=before[was] if was else "",
                after=after[now] if now else "",
                merge=commit.id if maker is not commit else "",
            )

    def events(self) -> dict[str, tuple[LifeEvent, ...]]:
        """The histories of all files so far, by key; those of unchanged files are the same objects as were given."""
        return {key: tuple(found) for key, found in self._events.items()}


def _after(before: Mapping[str, str], changes: Iterable[FileChange]) -> dict[str, str]:
    after = dict(before)
    for change in changes:
        after.pop(change.path, None)
        if change.after:
            after[change.path] = change.after
    return after


def _resettled(states: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]]) -> list[tuple[str, str]]:
    """Files that one commit moved to a folder that is no mailbox, as in a cleanup: keys before and after."""
    gone: dict[str, list[str]] = defaultdict(list)
    come: dict[str, list[str]] = defaultdict(list)
    for key, (before, after) in states.items():
        if bool(before) != bool(after):
            (gone if before else come)[key.rpartition("/")[2]].append(key)
    return [(gone[name][0], come[name][0]) for name in gone if len(gone[name]) == len(come.get(name, ())) == 1]


def _furthest(paths: Mapping[str, str]) -> str | None:
    """Of several places of one file, the one furthest through the mailboxes."""
    return min(paths, key=lambda path: (_FURTHEST[mailbox_of(path)], path), default=None)
