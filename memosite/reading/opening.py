"""[I/O] Opens the sources that a configuration names: folders, and commits of repos, which may have to be fetched.

If git fails, the last commit that could be read is read again: a source fails alone (SPEC 9).
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path

from memosite.archive.model import SourceInfo
from memosite.config.schema import Config, SourceConfig
from memosite.facts import rules
from memosite.facts.errors import SourceError
from memosite.facts.findings import Finding
from memosite.facts.values import Value, replace
from memosite.formats.sessions.places import LogsOf
from memosite.sources.folder import FolderSource, holding_repo, repo_at
from memosite.sources.forges import below, file_template
from memosite.sources.git import GitError, Repo, TooMuchError, UnreadableRepoError, configured, read_config, viewed
from memosite.sources.listing import Source
from memosite.sources.objects import HEAD, WHOLE_HASH, CommitHead, Objects, commit_at
from memosite.sources.tree import EMPTY_TREE, NO_REF, Tree, TreeSource, fetch, read_tree
from memosite.store.cache import read_whole, write_whole

# Reads the commit of a source, or the last one that could be read: a source fails alone (SPEC 9).


NO_COMMIT = CommitHead(hash="", committed=None)


class CommitRead(Value):
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
        found = rules.FOLDER_TOO_LARGE.finding(f"not read: {error.public}", source=source.name)
        return CommitRead(commit=commit, tree=EMPTY_TREE, findings=(found,))
    except GitError as error:
        return _last(repo, kept, source, prefix, error)
    if cache.is_dir():
        write_whole(kept, commit.hash.encode("ascii"))
    return CommitRead(commit=commit, tree=tree)


def _last(repo: Repo, kept: Path, source: SourceConfig, prefix: str, error: GitError) -> CommitRead:
    name = (read_whole(kept) or b"").decode("ascii", "replace")
    finding = rules.SOURCE_FAILED.finding(f"not read: {error.public}", source=source.name)
    if not WHOLE_HASH.fullmatch(name):
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


# Opens all sources.


class Opened(Value):
    """Sources to read, with their facts for pages, in the order of the configuration, and errors in opening."""

    sources: tuple[Source, ...]
    infos: tuple[SourceInfo, ...]
    findings: tuple[Finding, ...]

    @property
    def state(self) -> tuple[object, ...]:
        """The part that is compared to find changes: the commits that are read, and the errors."""
        return (*self.findings, *((info.name, info.commit) for info in self.infos))


@contextmanager
def open_sources(config: Config, *, use_network: bool = True) -> Iterator[Opened]:
    """The sources of a configuration, to be read within the block. Remotes are fetched, or read from the cache.

    Raises `SourceError` for a ref that is not there, and for a remote that was never fetched and cannot be.
    """
    holes = _holes(config)
    with ExitStack() as stack:
        opened = [_open(config, source, stack, holes, use_network=use_network) for source in config.sources]
        trees = (source for source, _ in opened if isinstance(source, TreeSource))
        yield Opened(
            sources=tuple(source for source, _ in opened),
            infos=tuple(info for _, info in opened),
            findings=tuple(finding for tree in trees for finding in tree.findings),
        )


def _holes(config: Config) -> Mapping[Path, list[Path]]:
    """By the root of each source, the folders below it that are not part of it: other sources, output and cache."""
    roots = dict.fromkeys(source.root for source in config.sources if source.root is not None)
    holes: dict[Path, list[Path]] = defaultdict(list)
    for hole in (*roots, *config.written):
        for folder in hole.parents:
            if folder in roots:
                holes[folder].append(hole)
    return holes


def _open(
    config: Config, source: SourceConfig, stack: ExitStack, holes: Mapping[Path, list[Path]], *, use_network: bool
) -> tuple[Source, SourceInfo]:
    if source.root is None:
        return _open_remote(config, source, stack, use_network=use_network)
    own = repo_at(source.root)
    is_bare = isinstance(own, Repo) and own.top is None
    if source.ref is None and not is_bare:
        return _open_folder(config, source, source.root, holes=tuple(holes.get(source.root, ())))
    holding = holding_repo(source.root, site=source.root, enclosing=True)  # a configured ref means this repo
    repo, prefix = holding.repo, holding.prefix.rstrip("/")
    if repo is None:
        raise SourceError(f"{source.root}: found no repo to read a ref of: {holding.why_not}")
    repo = stack.enter_context(viewed(repo))
    if source.ref == NO_REF:
        read = CommitRead(commit=NO_COMMIT, tree=EMPTY_TREE)
    else:
        read = read_commit(repo, lambda: _commit(source, repo, source.ref or HEAD), source, prefix, cache=config.cache)
    inside = tuple(hole.relative_to(source.root).as_posix() for hole in holes.get(source.root, ()))
    tree = _tree_source(config, source, stack, repo=repo, read=read, prefix=prefix, holes=inside)
    return tree, _info(tree, source.web or _web_of(repo, prefix))


def _open_folder(
    config: Config, source: SourceConfig, root: Path, *, holes: tuple[Path, ...]
) -> tuple[FolderSource, SourceInfo]:
    """Open a folder with its uncommitted files; links to its forge name no commit."""
    holding = holding_repo(root, site=config.site, enclosing=config.history == "enclosing")
    folder = FolderSource(
        name=source.name,
        root=root,
        include=source.include,
        exclude=source.exclude,
        documents=config.documents,
        logs=LogsOf(config.sessions.is_all, config.sessions.include),
        holding=holding,
        holes=holes,
    )
    web = source.web or (_web_of(holding.repo, holding.prefix.rstrip("/")) if holding.repo else None)
    return folder, SourceInfo(name=source.name, web=web, include=source.include)


def _open_remote(
    config: Config, source: SourceConfig, stack: ExitStack, *, use_network: bool
) -> tuple[TreeSource, SourceInfo]:
    url = source.git or ""
    fetched = fetch(url, source.ref or HEAD, cache=config.cache, use_network=use_network)
    repo = stack.enter_context(viewed(fetched.repo))
    read = read_commit(repo, lambda: fetched.commit, source, "", cache=config.cache)
    tree = _tree_source(config, source, stack, repo=repo, read=read)
    info = _info(tree, source.web or file_template(url))
    if not fetched.problem:
        return tree, info
    at = f"{fetched.commit.hash[:12]}, fetched on {fetched.fetched.utc}"
    found = rules.REMOTE_NOT_FETCHED.finding(f"not fetched ({fetched.problem}); read at {at}", source=source.name)
    return replace(tree, findings=(found, *tree.findings)), replace(info, last_fetched=fetched.fetched)


def _tree_source(
    config: Config,
    source: SourceConfig,
    stack: ExitStack,
    *,
    repo: Repo,
    read: CommitRead,
    prefix: str = "",
    holes: tuple[str, ...] = (),
) -> TreeSource:
    return TreeSource(
        name=source.name,
        repo=repo,
        commit=read.commit.hash,
        committed=read.commit.committed,
        ref=HEAD if source.ref is None else source.ref,
        tree=read.tree,
        objects=stack.enter_context(Objects(repo)),
        prefix=prefix,
        include=source.include,
        exclude=source.exclude,
        documents=config.documents,
        logs=LogsOf(config.sessions.is_all, config.sessions.include),
        holes=holes,
        findings=read.findings,
    )


def _commit(source: SourceConfig, repo: Repo, ref: str) -> CommitHead:
    commit = commit_at(repo, ref)
    if commit is None:
        raise SourceError(f'{source.root}: found no commit at "{ref}", expected a branch, a tag or a commit of it')
    return commit


def _info(tree: TreeSource, web: str | None) -> SourceInfo:
    return SourceInfo(
        name=tree.name,
        web=web,
        web_ref=tree.commit,
        include=tree.include,
        ref=tree.ref,
        commit=tree.commit,
        committed=tree.committed,
    )


def _web_of(repo: Repo, prefix: str) -> str | None:
    """Where the forge that a repo was cloned from shows its files. Only the repo's own configuration is asked."""
    try:
        written = read_config(repo.git_dir)
        origin = _origin(written) if b"url" in written.lower() else ""
    except (GitError, UnreadableRepoError):
        return None
    template = file_template(origin) if origin else None
    return below(template, prefix) if template else None


@lru_cache(maxsize=64)
def _origin(written: bytes) -> str:
    """The URL that a repo was cloned from, according to its configuration, cached until that changes."""
    return configured(written, "remote.origin.url")
