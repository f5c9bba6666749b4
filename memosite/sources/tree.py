"""[I/O] Tree sources: the files of one commit, read from the repo's objects without a checkout (SPEC 2.3).

A path is only a key into the commit's list and never opened, so no name in a tree can escape. Symbolic links and
submodules are named in notes and not followed; the same limits hold as for folders.
"""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from memosite.facts import rules, source_rules
from memosite.facts.findings import Finding
from memosite.facts.times import Moment
from memosite.sources.git import GitError, Holding, Repo
from memosite.sources.git_trees import list_commit
from memosite.sources.listing import (
    FILE_LIMIT,
    SNIFFED,
    FileStamp,
    FolderEntry,
    Listing,
    finding_on,
    list_source,
    shown_path,
    too_large,
)
from memosite.sources.objects import Objects

if TYPE_CHECKING:
    from memosite.facts.file import File

NO_REF = ""
"""The ref of a source that had no commit at the time as of which it is read."""

_KINDS = {"100": "file", "120": "link", "160": "submodule"}
LONGEST_PATH = 4096
"""The longest path that is looked at, as on most disks."""

_MISSING = "its bytes are missing from the repo"


_NO_PATH = "a path that no folder can have; it was not read"
_DAMAGED = "a folder whose tree is missing or damaged; it was not read"


class Blob(NamedTuple):
    """A file's bytes in a repo: their hash."""

    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The contents of a commit: blobs by path, and the entries of each folder by name."""

    blobs: Mapping[str, Blob]
    folders: Mapping[str, tuple[FolderEntry, ...]]
    unusable: tuple[tuple[str, str], ...] = ()
    """Paths that are not read, and why: `memos/../x`, which only a tree made by hand holds, or a damaged folder."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Folders that are left out since there is too much in them."""


EMPTY_TREE = Tree(blobs=MappingProxyType({}), folders=MappingProxyType({"": ()}))
"""The contents of no commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSource:
    """One commit of a repo to read.

    `ref` is as configured; `prefix` is the folder of the commit's tree that the source is,
    "" for all of it. `tree` holds what `read_tree` found, by paths below the prefix; `objects` gives the bytes.
    `holes` are folders below the prefix that are not part of it. Without a `commit` there is nothing in it.
    """

    name: str
    repo: Repo
    commit: str
    committed: Moment | None
    ref: str
    tree: Tree
    objects: Objects = field(compare=False)
    prefix: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    holes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What opening the source found, to stand beside what listing it finds."""

    @property
    def holding(self) -> Holding:
        """The repo and the commit its history is read from."""
        if self.ref == NO_REF:
            return Holding(why_not="the repo has no commit yet")
        prefix = f"{self.prefix}/" if self.prefix else ""
        return Holding(repo=self.repo, prefix=prefix, commit=self.commit, line=self.ref)

    def list_files(self) -> Listing:
        """The files to read. Raises `SourceError` if there are too many files."""
        return _list_files(self)

    def read_file(self, path: str) -> "File | Finding":
        """The bytes of one file, or the finding that says why it was left out."""
        return _read_file(self, path)

    def stamp(self, path: str) -> FileStamp | None:  # noqa: ARG002 - as of any source
        """Always None: bytes cannot be read again once the source is closed, so they are read while it is open."""
        return None

    def has_file(self, path: str) -> bool:
        """Whether a path leads to a file or folder of the commit."""
        return path in self.tree.blobs or (path != "" and path in self.tree.folders)


def read_tree(repo: Repo, commit: str, prefix: str = "") -> Tree:
    """Read the contents of a commit below a folder. Raises `GitError` if it cannot be listed or is too large."""
    blobs: dict[str, Blob] = {}
    folders: dict[str, dict[str, FolderEntry]] = {"": {}}
    unusable: dict[str, str] = {}
    with Objects(repo) as objects:
        entries, skipped = list_commit(objects, commit, os.fsencode(prefix))
        for mode, written, name in entries:
            path = os.fsdecode(written)
            if not _is_usable(path) or mode == "missing":
                unusable[path] = _NO_PATH if mode != "missing" else _DAMAGED
                continue
            kind = _KINDS.get(mode[:3], "other")
            _place(folders, path, kind)
            if kind == "file":
                blobs.setdefault(path, Blob(name))
    return Tree(
        blobs=MappingProxyType(blobs),
        folders=MappingProxyType({path: tuple(sorted(entries.values())) for path, entries in folders.items()}),
        unusable=tuple(unusable.items()),
        skipped=tuple((os.fsdecode(one.path), one.why) for one in skipped),
    )


def _is_usable(path: str) -> bool:
    return len(path) <= LONGEST_PATH and not any(part in {"", ".", ".."} for part in path.split("/"))


def _place(folders: dict[str, dict[str, FolderEntry]], path: str, kind: str) -> None:
    """Add an entry to its folder, and each new folder to its parent."""
    entry = FolderEntry(path.rpartition("/")[2], kind)  # type: ignore[arg-type] # one of the kinds
    while True:
        folder = path.rpartition("/")[0]
        is_known = folder in folders
        folders.setdefault(folder, {}).setdefault(entry.name, entry)
        if is_known:
            return
        path, entry = folder, FolderEntry(folder.rpartition("/")[2], "folder")


def _list_files(source: TreeSource) -> Listing:
    def list_folder(folder: str) -> tuple[FolderEntry, ...]:
        if folder not in source.tree.folders:  # a name that is a file and a folder at once: a tree made by hand
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return source.tree.folders[folder]

    def head_of(path: str) -> bytes:
        data = _data(source, path)
        return data[:SNIFFED] if isinstance(data, bytes) else b""

    listing = list_source(source, list_folder, head_of, called=source.name, holes=source.holes)
    unusable = (finding_on(rules.FILE_UNREADABLE, source, path, why) for path, why in source.tree.unusable[:100])
    skipped = (finding_on(source_rules.FOLDER_TOO_LARGE, source, path, why) for path, why in source.tree.skipped[:100])
    return Listing(
        source=source,
        candidates=listing.candidates,
        others=listing.others,
        findings=(*source.findings, *listing.findings, *unusable, *skipped),
        records=listing.records,
        images=listing.images,
    )


def _read_file(source: TreeSource, path: str) -> "File | Finding":
    from memosite.facts.file import File  # noqa: PLC0415 - nothing is read where nothing has changed

    data = _data(source, path)
    if isinstance(data, bytes):
        return File(source=source.name, path=shown_path(path), data=data)
    if isinstance(data, int):
        return too_large(source, path, data)
    return finding_on(rules.FILE_UNREADABLE, source, path, data)


def _data(source: TreeSource, path: str) -> bytes | int | str:
    """A file's bytes; its size if that is over the limit; else why there are none."""
    blob = source.tree.blobs.get(path)
    if blob is None:
        return "it is not in the commit"
    try:
        data = source.objects.blob(blob.hash, limit=FILE_LIMIT)
    except GitError as error:
        return f"its bytes cannot be read ({error.public})"
    return _MISSING if data is None else data
