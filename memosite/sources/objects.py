"""[I/O] Reads blobs and commits of a repo through one long-running `git cat-file --batch`."""

import datetime as dt
import os
import re
import select
import subprocess
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Self, cast

from memosite.facts.times import Moment
from memosite.sources.git import GitError, Repo, end_git, git, start_git

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
        self._repo = repo
        self._process: subprocess.Popen[bytes] | None = None
        self._read = bytearray()

    def blob(self, name: str, *, limit: int) -> bytes | int | None:
        """The bytes of a blob by its hash; its size if that is over the limit, None if there is no such blob."""
        process = self._process or self._start()
        try:
            os.write(cast(IO[bytes], process.stdin).fileno(), name.encode("ascii") + b"\n")
            match self._line().split(b" "):
                case [_, b"blob", size] if int(size) <= limit:
                    return self._bytes(int(size))
                case [_, b"blob", size]:
                    self.close()
                    return int(size)
                case [_, b"missing"]:
                    return None
                case _:  # another kind of object, whose bytes would follow
                    self.close()
                    return None
        except OSError as error:
            self.close()
            raise GitError(f"git cat-file ended ({error.strerror})") from error
        except GitError:
            self.close()
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = start_git(self._repo, "cat-file", "--batch", said=subprocess.DEVNULL)
        self._read.clear()
        return self._process

    def _line(self) -> bytes:
        while (end := self._read.find(b"\n")) < 0:
            self._more()
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line

    def _bytes(self, size: int) -> bytes:
        while len(self._read) <= size:  # plus a line break
            self._more()
        data = bytes(self._read[:size])
        del self._read[: size + 1]
        return data

    def _more(self) -> None:
        handle = cast(IO[bytes], cast("subprocess.Popen[bytes]", self._process).stdout).fileno()
        waiting = select.poll()
        waiting.register(handle, select.POLLIN | select.POLLHUP)
        if not waiting.poll(ANSWER_SECONDS * 1000):
            raise GitError(f"git cat-file gave no answer for {ANSWER_SECONDS} s")
        data = os.read(handle, 1 << 18)
        if not data:
            raise GitError("git cat-file ended: the repo is damaged")
        self._read += data

    def close(self) -> None:
        """End git; what was read stays valid."""
        if self._process is not None:
            end_git(self._process)
            for stream in (self._process.stdin, self._process.stdout):
                cast(IO[bytes], stream).close()
            self._process = None
            self._read.clear()

    def __enter__(self) -> Self:
        """Close at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End git."""
        self.close()
