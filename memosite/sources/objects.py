"""[I/O] Reads blobs and commits of a repo through one long-running `git cat-file --batch`."""

import datetime as dt
import os
import re
import time
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from memosite.facts.times import Moment
from memosite.run.processes import Child, SlowError
from memosite.sources.git import GitError, GitLimitError, Repo, git, start_git, viewed

HEAD = "HEAD"
"""What is read of a repo unless a source names something else."""

ANSWER_SECONDS = 60
"""The longest that git may be silent when asked for an object."""

_COMMITTER = re.compile(rb"(?m)^committer .*> (\d{1,12}) ([+-])(\d\d)([0-5]\d)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitHead:
    """A commit: its whole hash, and when it was committed, if known."""

    hash: str
    committed: Moment | None


def commit_at(repo: Repo, ref: str) -> CommitHead | None:
    """The commit that a branch, a tag, a hash or `HEAD` leads to; None if there is none, or it leads to no commit.

    Raises `GitError` if git cannot read the repo.
    """
    printed = git(repo, "cat-file", "--batch", given=f"{ref}^{{commit}}\n".encode("utf-8", "surrogateescape"))
    first, _, rest = printed.partition(b"\n")
    match first.split(b" "):
        case [found, b"commit", _]:
            return CommitHead(hash=found.decode("ascii"), committed=_committed(rest.partition(b"\n\n")[0]))
    return None


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
        return self._get(name, b"blob", limit)

    def tree(self, name: str, *, limit: int) -> bytes | None:
        """The bytes of a tree by its hash; None if there is no such tree, or it is larger."""
        found = self._get(name, b"tree", limit)
        return None if isinstance(found, int) else found

    def hash_of(self, name: str) -> str:
        """The hash of what an expression names. Raises `GitError` if it names nothing."""
        printed = git(self._repo, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return printed.decode("ascii", "replace").strip()

    def _get(self, name: str, kind: bytes, limit: int) -> bytes | int | None:
        if self._process != os.getpid():  # git answers the process that started it
            self._process, self._child = os.getpid(), None
        child = self._child or self._start()
        try:
            child.ask(name.encode("ascii") + b"\n")
            match self._line().split(b" "):
                case [_, found, size] if found == kind and int(size) <= limit:
                    return self._bytes(int(size))
                case [_, found, size] if found == kind:
                    self._end()
                    return int(size)
                case [_, b"missing"]:
                    return None
                case _:  # another kind of object, whose bytes would follow
                    self._end()
                    return None
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

    def _line(self) -> bytes:
        end_at = time.monotonic() + ANSWER_SECONDS
        while (end := self._read.find(b"\n")) < 0:
            self._more(end_at)
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line

    def _bytes(self, size: int) -> bytes:
        end_at = time.monotonic() + ANSWER_SECONDS
        while len(self._read) <= size:  # plus a line break
            self._more(end_at)
        data = bytes(self._read[:size])
        del self._read[: size + 1]
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End git."""
        self.close()
