"""[I/O] Reads the history of a source: one `git log` for each repo, and afterwards only what is new (SPEC 2.3).

What was read is kept in the cache with the commit it goes to. When that commit is no longer part of the branch's own
line, as after a rebase, everything is read again. Whatever git cannot tell is said in words, never made up.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from memosite.cache import read_whole, write_whole
from memosite.history import Change, Commit, EventKind, History, LifeEvent, Replay, can_concern, split_trunk
from memosite.sources.git import GitError, Repo, git, git_tokens
from memosite.sources.listing import shown_path
from memosite.times import Moment, read_moment

CACHE_VERSION = 2
CONTENT_LIMIT = 2 * 1024 * 1024
"""The largest former content that is read, in bytes."""
CONTENTS_LIMIT = 20_000
"""How many former contents of one source are read."""
_KINDS = frozenset(get_args(EventKind))
_IDS = re.compile(r"[0-9a-f ]+")
_FORMAT = "--format=tformat:%x01%H%x1f%P%x1f%cI%x1f%an"
_LOG = ("log", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--topo-order")
_LOG_ALSO = ("--diff-merges=first-parent", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8", "-O/dev/null")


def read_history(repo: Repo, *, prefix: str = "", commit: str = "HEAD", cache: Path | None = None) -> History:
    """The history of the folder `prefix` of a repo ("" for all of it, else ending in a slash) up to a commit.

    `cache` is a file in which to keep it. Never raises for what git says: the history tells why it is not whole.
    """
    try:
        head = git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    except GitError:
        return _without_commits(repo, commit)
    try:
        known = _State(repo, prefix, head.decode("ascii").strip())
        tree, foreign = known.read_tree(known.head)
        is_shallow, committed = known.facts()
        history = History(commit=known.head, committed=committed, tree=tree, foreign=foreign)
        if is_shallow:
            return replace(history, why_not="the clone is shallow: its first commits are missing")
        return replace(history, events=known.read_events(cache))
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


class _State:
    """Reads one source's history as of one commit."""

    def __init__(self, repo: Repo, prefix: str, head: str) -> None:
        self._repo = repo
        self._prefix = prefix.encode("utf-8", "surrogateescape")
        # The number of the folder on this disk: a cache that came along with a clone was not written here.
        self._name = f"{prefix}|{CACHE_VERSION}|{repo.git_dir.stat().st_ino}"
        self.head = head

    def facts(self) -> tuple[bool, Moment | None]:
        """Whether the repo is shallow, and the date of the commit."""
        is_shallow = git(self._repo, "rev-parse", "--is-shallow-repository").strip() == b"true"
        written = git(self._repo, "log", "-1", "--format=%cI", "--no-show-signature", self.head)
        return is_shallow, read_moment(written.decode("utf-8", "replace").strip())

    def read_tree(self, commit: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """What lies in a commit, by path; and the folders in it that are repos of their own."""
        tree: dict[str, str] = {}
        foreign: list[str] = []
        for token in git_tokens(self._repo, "ls-tree", "-r", "-z", "--full-tree", commit):
            head, _, raw = token.partition(b"\t")
            mode, _, blob = head.split(b" ")
            path = self._path(raw)
            if path is not None and mode == b"160000":
                foreign.append(path)
            elif path is not None and can_concern(path):
                tree[path] = blob.decode("ascii")
        return tree, tuple(sorted(foreign))

    def read_events(self, cache: Path | None) -> dict[str, tuple[LifeEvent, ...]]:
        """The lives of all files, from the cache as far as it goes."""
        base, events = _read_cache(cache, self._name)
        if base == self.head:
            return events
        if base and self._is_ancestor(base):
            trunk, brought, below = split_trunk(self._commits(f"{base}..{self.head}"), self.head)
            if below == base:
                replay = Replay(brought, events=events, tree=self.read_tree(base)[0])
                return self._finish(replay, trunk, cache)
        trunk, brought, _ = split_trunk(self._commits(self.head), self.head)
        return self._finish(Replay(brought), trunk, cache)

    def _finish(self, replay: Replay, trunk: Iterable[Commit], cache: Path | None) -> dict[str, tuple[LifeEvent, ...]]:
        for commit in trunk:
            replay.apply(commit)
        events = replay.events()
        _write_cache(cache, self._name, self.head, events)
        return events

    def _is_ancestor(self, base: str) -> bool:
        try:
            git(self._repo, "merge-base", "--is-ancestor", base, self.head)
        except GitError:
            return False
        return True

    def _commits(self, revisions: str) -> Iterator[Commit]:
        """The commits of a range, newest first, each before its parents."""
        tokens = git_tokens(self._repo, *_LOG, *_LOG_ALSO, _FORMAT, revisions, "--")
        head: bytes | None = None
        changes: list[Change] = []
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


def _commit(head: bytes, changes: list[Change]) -> Commit:
    id_, parents, at, author = head[1:].split(b"\x1f", 3)
    return Commit(
        id=id_.decode("ascii"),
        parents=tuple(parents.decode("ascii").split()),
        at=read_moment(at.decode("ascii", "replace")),
        author=" ".join(author.decode("utf-8", "replace").split())[:200],
        changes=tuple(changes),
    )


def _change(raw: bytes, path: str) -> Change:
    """`:100644 000000 <before> <after> D`; what is no regular file counts as nothing."""
    before_mode, after_mode, before, after, _ = raw[1:].decode("ascii").split(" ")
    return Change(
        path=path,
        before=before if before_mode.startswith("100") else "",
        after=after if after_mode.startswith("100") else "",
    )


# The cache


def _read_cache(file: Path | None, name: str) -> tuple[str, dict[str, tuple[LifeEvent, ...]]]:
    """The commit that the cache goes to, and the lives in it; nothing if it is not there or not ours."""
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
    """The whole ids of commits by what texts write for them; what is none, or stands for several, is left out."""
    asked = list(dict.fromkeys(written))
    if not asked:
        return {}
    given = _lines(f"{one}^{{commit}}".encode("ascii") for one in asked)
    try:
        answers = git(repo, "cat-file", "--batch-check=%(objectname) %(objecttype)", given=given).splitlines()
    except GitError:
        return {}
    if len(answers) != len(asked):
        return {}
    pairs = zip(asked, (answer.split(b" ") for answer in answers), strict=True)
    found = {one: answer[0].decode("ascii") for one, answer in pairs if len(answer) == 2 and answer[1] == b"commit"}
    return {one: id_ for one, id_ in found.items() if id_.startswith(one)}  # a branch may be called like a commit


def _lines(ids: Iterable[bytes]) -> bytes:
    return b"".join(id_ + b"\n" for id_ in ids)
