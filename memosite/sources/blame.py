"""[I/O] Asks git which commits wrote the lines of a file, and what these commits say of themselves.

`git blame` reads a commit, never the work tree, with `-w` and `-C`: who indented a line anew, or moved it from another
file in the same commit, has not written it. Nothing that a repo configures is run (`sources/git.py`).
"""

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass

from memosite.facts.times import Moment, read_moment
from memosite.sources.git import Repo, git

_FACTS = "--format=tformat:%H%x1f%aI%x1f%cI%x1f%an%x1f%s%x1f%b"
_QUIET = ("--no-show-signature", "--no-mailmap", "--encoding=UTF-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a commit wrote of a file: the lines as they are now, by number, and the file's name in that commit."""

    commit: str
    path: str
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFacts:
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
