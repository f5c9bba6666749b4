"""The git history of a source as values: the commits, and what happened to each file (SPEC 2.3).

The key of a file is its folder without the mailbox, and its name: `memos/2026-….openthing` is one file whether it is
in `inbox/` or in `read/`. So a move is found however much was edited with it; similarity is never guessed.
`replay` makes the history of each file of the commits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from memosite.facts.entries import RecordEntry
from memosite.facts.layout import MAILBOXES, join_path
from memosite.facts.parsed import Mailbox
from memosite.facts.secret_rules import SecretHit
from memosite.facts.times import Moment

EventKind = Literal["received", "moved", "edited", "removed", "restored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerSecrets:
    """The secrets in a former content of the file at a path."""

    path: str
    hits: tuple[SecretHit, ...]


class RedactedName(NamedTuple):
    """The name of a file or of an author, with the names of rules in the place of secrets."""

    kind: Literal["path", "author"]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A change of one path in a commit: the blob id afterwards, "" if the path is gone."""

    path: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCommit:
    """One commit, with its changes against its first parent that can concern an artifact.

    `names` are those in it that hold a secret, without it: the author's, and paths, whose changes are left out.
    """

    id: str
    parents: tuple[str, ...]
    at: Moment | None
    author: str
    changes: tuple[FileChange, ...] = ()
    names: tuple[RedactedName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeEvent:
    """One event in the history of a file.

    `path` is where it was afterwards on the branch read (for `removed`: before), `mailbox` the box of that path.
    `before` and `after` are the blob ids around the event. `commit` made it; `merge` is the merge that brought it to
    the branch read, "" if none did.
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

    @property
    def arrival(self) -> str:
        """The commit with which the branch read had it: the file is at `path` there."""
        return self.merge or self.commit


HistoryProblem = Literal["", "unreadable", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The git history of one source, as of one commit.

    `why_not` is the reason why there are no events, "" if they are complete. `tree` maps each path of that commit that
    can concern an artifact to its blob id; None if even that is not known. `foreign` are folders that are
    repos of their own. `events` are by `file_key`, oldest first. `confidential` are keys of removed files whose last
    content was confidential. `blobs` maps ids of content to the SHA-256 under which it is on the shelf.
    `secrets` are those that were found in these contents, by blob id. `names` are names that hold a secret, without it:
    paths, which are in nothing else here, and authors.
    `commits` maps a commit as written in a text to its whole id. `entries` are those of versions of list files, by
    record system and blob id; a version whose entries are not known is missing. `problem` is what kept git from reading
    the history: the repo is damaged, special or too large; or time and memory ran out, and the events are those known
    before.
    """

    commit: str = ""
    committed: Moment | None = None
    why_not: str = ""
    tree: Mapping[str, str] | None = None
    foreign: tuple[str, ...] = ()
    events: Mapping[str, tuple[LifeEvent, ...]] = field(default_factory=dict)
    confidential: frozenset[str] = frozenset()
    blobs: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, FormerSecrets] = field(default_factory=dict)
    names: tuple[RedactedName, ...] = ()
    commits: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[tuple[str, str], tuple[RecordEntry, ...]] = field(default_factory=dict)
    problem: HistoryProblem = ""


def file_key(path: str) -> str:
    """The key of a file, which stays the same while it moves between mailboxes."""
    folder, _, name = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    if last in MAILBOXES:
        folder = above
    return join_path(folder, name)


def paths_of(key: str) -> list[str]:
    """All paths where the file with this key may be."""
    folder, _, name = key.rpartition("/")
    boxes = (join_path(folder, box) for box in MAILBOXES)
    paths = (key, *(f"{box}/{name}" for box in boxes))
    return sorted(path for path in paths if file_key(path) == key)


def mailbox_of(path: str) -> Mailbox:
    """The mailbox that a path is in."""
    folders = path.split("/")
    return MAILBOXES.get(folders[-2] if len(folders) > 1 else "", "flat")
