"""[I/O] Reads the commit of a source, or the last one that could be read: a source fails alone (SPEC 9)."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memosite.config.schema import SourceConfig
from memosite.facts import source_rules
from memosite.facts.errors import SourceError
from memosite.facts.findings import Finding, Location, Rule
from memosite.sources.git import GitError, Repo, TooMuchError
from memosite.sources.objects import CommitHead, commit_at
from memosite.sources.tree import EMPTY_TREE, Tree, read_tree
from memosite.store.cache import read_whole, write_whole

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
NO_COMMIT = CommitHead(hash="", committed=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRead:
    """A commit and its files, with the finding if it is not the one that was to be read."""

    commit: CommitHead
    tree: Tree
    findings: tuple[Finding, ...] = ()


def read_commit(
    repo: Repo, find: Callable[[], CommitHead], source: SourceConfig, prefix: str, *, cache: Path
) -> CommitRead:
    """The commit that is found, with its files below a folder; if git fails, the last one that could be read.

    A commit that is too large for any machine has no files. Raises `SourceError` if git fails and what was read
    before cannot be read again: publishing nothing would take it back.
    """
    kept = _kept(cache, source, prefix)
    try:
        commit = find()
        tree = read_tree(repo, commit.hash, prefix)
    except TooMuchError as error:
        found = _finding(source_rules.FOLDER_TOO_LARGE, source, error)
        return CommitRead(commit=commit, tree=EMPTY_TREE, findings=(found,))
    except GitError as error:
        return _last(repo, kept, source, prefix, error)
    if cache.is_dir():
        write_whole(kept, commit.hash.encode("ascii"))
    return CommitRead(commit=commit, tree=tree)


def _last(repo: Repo, kept: Path, source: SourceConfig, prefix: str, error: GitError) -> CommitRead:
    name = (read_whole(kept) or b"").decode("ascii", "replace")
    finding = _finding(source_rules.SOURCE_FAILED, source, error)
    if not _HASH.fullmatch(name):
        return CommitRead(commit=NO_COMMIT, tree=EMPTY_TREE, findings=(finding,))
    try:
        commit = commit_at(repo, name)
        if commit is not None:
            return CommitRead(commit=commit, tree=read_tree(repo, commit.hash, prefix), findings=(finding,))
    except GitError as again:
        raise SourceError(f"{source.root or source.git}: git cannot read this repo any more ({again})") from again
    raise SourceError(f"{source.root or source.git}: git cannot read this repo any more ({error})")


def _kept(cache: Path, source: SourceConfig, prefix: str) -> Path:
    """The file of the cache with the commit of a source that was read last."""
    name = f"{source.root}\0{source.git}\0{source.ref}\0{prefix}".encode("utf-8", "surrogateescape")
    return cache / "commits" / hashlib.sha256(name).hexdigest()[:24]


def _finding(rule: Rule, source: SourceConfig, error: GitError) -> Finding:
    return Finding(rule=rule, location=Location(source=source.name, path=""), message=f"not read: {error.public}")
