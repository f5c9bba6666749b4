"""[I/O] Lists the files of a commit, and is not led astray by trees that name their children again and again.

A tree of a hundred kilobytes can stand for ten million paths, one that is damaged ends git. So each distinct tree is
read once, and the paths below it are counted before any is made. If there are too many, the files at the top are
listed, and its folders as a whole, from the smallest on, as long as there is room: counts decide what is read.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from memosite.facts.errors import SourceError
from memosite.sources.git import GitError, TooMuchError
from memosite.sources.objects import Objects

PATHS_LIMIT = 500_000
"""How many files and folders of one commit are listed."""

ENTRIES_LIMIT = 2_000_000
"""How many entries all distinct trees of a commit may have."""

TREE_BYTES = 1 << 25
"""The largest single tree that is read."""

FOLDER = "40000"


class TreeEntry(NamedTuple):
    """One entry of a tree: its mode as git writes it, its name, and the hash of what it names."""

    mode: str
    name: bytes
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A folder of a commit that was not listed, and why."""

    path: bytes
    why: str


Trees = Mapping[str, tuple[TreeEntry, ...] | None]
"""Distinct trees by hash; None for one that is missing or damaged."""


def list_commit(objects: Objects, commit: str, prefix: bytes = b"") -> tuple[Iterator[TreeEntry], list[Skipped]]:
    """The files, links and submodules below a folder of a commit, named by their paths; and what was left out.

    Raises `GitError` if the folder's own tree cannot be read, `TooMuchError` if its trees are too large, and
    `SourceError` if there is no such folder.
    """
    top = _top(objects, commit, prefix)
    trees = _read_all(objects, top, width=len(top) // 2)
    if trees[top] is None:
        raise GitError("its tree is missing or damaged")
    folders, skipped = _chosen(top, trees)
    return _files(folders, trees, top), skipped


def _top(objects: Objects, commit: str, prefix: bytes) -> str:
    """The hash of the tree of a folder of a commit."""
    found = objects.hash_of(f"{commit}^{{tree}}")
    width = len(found) // 2
    for name in filter(None, prefix.split(b"/")):
        entries = _parsed(objects.tree(found, limit=TREE_BYTES), width=width) or ()
        found = next((one.hash for one in entries if one.name == name and one.mode == FOLDER), "")
        if not found:
            raise SourceError(f"the folder {os.fsdecode(prefix)} is not in the commit {commit}")
    return found


def _read_all(objects: Objects, top: str, *, width: int) -> Trees:
    trees: dict[str, tuple[TreeEntry, ...] | None] = {}
    waiting, seen = [top], 0
    while waiting:
        name = waiting.pop()
        if name in trees:
            continue
        entries = trees[name] = _parsed(objects.tree(name, limit=TREE_BYTES), width=width)
        seen += len(entries or ())
        if seen > ENTRIES_LIMIT:
            raise TooMuchError(f"its trees have more than {ENTRIES_LIMIT:,} entries")
        waiting += [one.hash for one in entries or () if one.mode == FOLDER]
    return trees


def _parsed(data: bytes | None, *, width: int) -> tuple[TreeEntry, ...] | None:
    """The entries of a tree; None if it is missing or malformed."""
    if data is None:
        return None
    entries, place = [], 0
    while place < len(data):
        space, end = data.find(b" ", place), data.find(b"\0", place)
        if not place < space < end or end + width >= len(data) or not data[place:space].isdigit():
            return None
        mode = data[place:space].decode("ascii").lstrip("0")
        entries.append(TreeEntry(mode, data[space + 1 : end], data[end + 1 : end + 1 + width].hex()))
        place = end + 1 + width
    return tuple(entries)


def _counted(top: str, trees: Trees) -> dict[str, int]:
    """How many paths are below each tree, without going through them."""
    counts: dict[str, int] = {}
    waiting = [top]
    while waiting:
        name = waiting[-1]
        entries = trees[name] or ()
        missing = [one.hash for one in entries if one.mode == FOLDER and one.hash not in counts]
        if missing and name not in counts:
            waiting += missing
            continue
        waiting.pop()
        counts[name] = len(entries) + sum(counts[one.hash] for one in entries if one.mode == FOLDER)
    return counts


def _chosen(top: str, trees: Trees) -> tuple[list[TreeEntry], list[Skipped]]:
    """The folders at the top that are listed as a whole, in their order, and those that are not."""
    counts = _counted(top, trees)
    entries = trees[top] or ()
    folders = [one for one in entries if one.mode == FOLDER]
    if counts[top] <= PATHS_LIMIT:
        return folders, []
    left, chosen, skipped = PATHS_LIMIT - len(entries), set(), []
    for one in sorted(folders, key=lambda one: (counts[one.hash], one.name)):
        if counts[one.hash] <= left:
            chosen.add(one.name)
            left -= counts[one.hash]
        else:
            why = f"it has {counts[one.hash]:,} files and folders, expected at most {PATHS_LIMIT:,}"
            skipped.append(Skipped(path=one.name, why=why))
    return [one for one in folders if one.name in chosen], skipped


def _files(folders: list[TreeEntry], trees: Trees, top: str) -> Iterator[TreeEntry]:
    """Every entry that is no folder, by its path; a folder that cannot be read is an entry of the mode "missing"."""
    chosen = set(folders)
    waiting = [(b"", one) for one in reversed(trees[top] or ()) if one.mode != FOLDER or one in chosen]
    while waiting:
        above, one = waiting.pop()
        path = above + one.name
        if one.mode != FOLDER:
            yield TreeEntry(one.mode, path, one.hash)
            continue
        entries = trees[one.hash]
        if entries is None:
            yield TreeEntry("missing", path, one.hash)
        waiting += [(path + b"/", each) for each in reversed(entries or ())]
