"""[I/O] What is known of the git history of a source: in memory, and in files of the cache.

events of files ─┐
commits ─────────┼─► cache ─► the next build asks git for new commits only, and nothing if the repo is unchanged
files of HEAD ───┘
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from memosite.archive.history import History, HistoryCommit, RedactedName
from memosite.archive.replay import Events
from memosite.facts.times import Moment
from memosite.sources.git import Repo
from memosite.sources.history_cache import (
    HeadFiles,
    read_commits,
    read_events,
    read_head_files,
    write_commits,
    write_events,
    write_head_files,
)

CACHE_VERSION = 5


def name_of(repo: Repo, prefix: str) -> str:
    """What a repo's cached history is known by. Its folder's inode: a cache that came with a clone has another one."""
    return f"{prefix}|{CACHE_VERSION}|{repo.git_dir.stat().st_ino}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRead:
    """The history read up to a commit: the events of all files.

    `name` identifies folder and repo; `tree` and `foreign` are the contents of the commit, if known.
    """

    name: str = ""
    head: str = ""
    events: Events = field(default_factory=dict)
    names: tuple[RedactedName, ...] = ()
    committed: Moment | None = None
    tree: Mapping[str, str] | None = None
    foreign: tuple[str, ...] = ()

    @property
    def history(self) -> History:
        """The history of the source."""
        return History(
            commit=self.head,
            committed=self.committed,
            tree=self.tree,
            foreign=self.foreign,
            events=self.events,
            names=self.names,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """All commits that lead up to one, by their ids, each after its parents."""

    name: str = ""
    head: str = ""
    commits: Mapping[str, HistoryCommit] = field(default_factory=dict)


class KnownHistory:
    """Caches the history of one source: in memory, and in files of the cache, if there are any."""

    def __init__(self, file: Path | None) -> None:
        """Name the file. Commits and files of HEAD are in others beside it; each is loaded when it is needed."""
        self._file = file
        self._log_file = file.with_suffix(".commits.json") if file else None
        self._head_file = file.with_suffix(".head.json") if file else None
        self._read: HistoryRead | None = None
        self._log: Log | None = None
        self._files = HeadFiles()
        self._is_new = self._is_log_new = self._are_files_new = False

    def get(self, name: str) -> HistoryRead:
        """The history cached under this name; empty if there is none."""
        if self._read is None or self._read.name != name:
            head, events, names = read_events(self._file, name)
            self._read = HistoryRead(name=name, head=head, events=events, names=names)
            self._is_new = self._are_files_new = False
            self._files = read_head_files(self._head_file, name)
            if self._files.head == head:
                self._read = replace(
                    self._read, committed=self._files.committed, tree=self._files.tree, foreign=self._files.foreign
                )
        return self._read

    def state(self, name: str, ref: str) -> str:
        """The state of the repo in which `ref` led to the history that is cached; "" if that is not known."""
        known = self.get(name)
        return self._files.state if self._files.ref == ref and known.tree is not None else ""

    def note_state(self, ref: str, state: str) -> None:
        """The history that was put last is what `ref` leads to as long as the repo is in this state."""
        if self._read is not None and (ref, state) != (self._files.ref, self._files.state):
            self._files, self._are_files_new = replace(self._files, ref=ref, state=state), True

    def put(self, read: HistoryRead) -> None:
        """Keep the history in memory; `write` saves it."""
        self._is_new = (
            self._is_new or self._read is None or (read.name, read.head) != (self._read.name, self._read.head)
        )
        self._read, self._are_files_new = read, True
        self._files = HeadFiles(head=read.head, committed=read.committed, tree=read.tree, foreign=read.foreign)

    def log(self, name: str) -> Log:
        """The commits cached under this name, which may lead up to an earlier commit; none if there are none."""
        if self._log is None or self._log.name != name:
            head, commits = read_commits(self._log_file, name)
            self._log, self._is_log_new = Log(name=name, head=head, commits=commits), False
        return self._log

    def put_log(self, log: Log) -> None:
        """Keep the commits in memory; `write` saves them."""
        self._log, self._is_log_new = log, True

    def write(self) -> None:
        """Save new entries to the files."""
        if self._is_new and self._read is not None:
            write_events(self._file, self._read.name, self._read.head, self._read.events, self._read.names)
        if self._are_files_new and self._read is not None:
            write_head_files(self._head_file, self._read.name, self._files)
        if self._is_log_new and self._log is not None:
            write_commits(self._log_file, self._log.name, self._log.head, self._log.commits)
        self._is_new = self._is_log_new = self._are_files_new = False
