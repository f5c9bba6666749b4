"""[I/O] Opens the sources that a configuration names: folders on disk, refs and remotes as trees of commits."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from memosite.archive.model import SourceInfo
from memosite.config.loading import Config, SourceConfig
from memosite.facts import source_rules
from memosite.facts.errors import SourceError
from memosite.facts.findings import Finding, Location
from memosite.reading.commits import NO_COMMIT, CommitRead, read_commit
from memosite.sources.folder import FolderSource
from memosite.sources.forges import below, file_template
from memosite.sources.git import GitError, Repo, configured, viewed
from memosite.sources.git_view import UnreadableRepoError, read_config
from memosite.sources.listing import Source
from memosite.sources.objects import HEAD, CommitHead, Objects, commit_at
from memosite.sources.remote import FetchedRemote, fetch
from memosite.sources.repos import holding_repo, repo_at
from memosite.sources.tree import EMPTY_TREE, NO_REF, TreeSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
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
    web = source.web or _web_of(repo, prefix)
    ref = HEAD if source.ref is None else source.ref
    return tree, _info(source, web=web, commit=read.commit, web_ref=read.commit.hash, ref=ref)


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
        holding=holding,
        holes=holes,
    )
    web = source.web or (_web_of(holding.repo, holding.prefix.rstrip("/")) if holding.repo else None)
    return folder, _info(source, web=web)


def _open_remote(
    config: Config, source: SourceConfig, stack: ExitStack, *, use_network: bool
) -> tuple[TreeSource, SourceInfo]:
    url, ref = source.git or "", source.ref or HEAD
    fetched = fetch(url, ref, cache=config.cache, use_network=use_network)
    findings = (_not_fetched(source, fetched),) if fetched.problem else ()
    repo = stack.enter_context(viewed(fetched.repo))
    read = read_commit(repo, lambda: fetched.commit, source, "", cache=config.cache)
    tree = _tree_source(config, source, stack, repo=repo, read=read, findings=findings)
    return tree, _info(
        source,
        web=source.web or file_template(url),
        commit=read.commit,
        web_ref=read.commit.hash,
        ref=ref,
        fetched=fetched if fetched.problem else None,
    )


def _tree_source(
    config: Config,
    source: SourceConfig,
    stack: ExitStack,
    *,
    repo: Repo,
    read: CommitRead,
    prefix: str = "",
    holes: tuple[str, ...] = (),
    findings: tuple[Finding, ...] = (),
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
        holes=holes,
        findings=(*findings, *read.findings),
    )


def _commit(source: SourceConfig, repo: Repo, ref: str) -> CommitHead:
    commit = commit_at(repo, ref)
    if commit is None:
        raise SourceError(f'{source.root}: found no commit at "{ref}", expected a branch, a tag or a commit of it')
    return commit


def _info(
    source: SourceConfig,
    *,
    web: str | None,
    commit: CommitHead | None = None,
    web_ref: str = HEAD,
    ref: str = "",
    fetched: FetchedRemote | None = None,
) -> SourceInfo:
    return SourceInfo(
        name=source.name,
        web=web,
        web_ref=web_ref,
        include=source.include,
        ref=ref,
        commit=commit.hash if commit else "",
        committed=commit.committed if commit else None,
        last_fetched=fetched.fetched if fetched else None,
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


def _not_fetched(source: SourceConfig, fetched: FetchedRemote) -> Finding:
    place = Location(source=source.name, path="")
    at = f"{fetched.commit.hash[:12]}, fetched on {fetched.fetched.utc}"
    return Finding(
        rule=source_rules.REMOTE_NOT_FETCHED, location=place, message=f"not fetched ({fetched.problem}); read at {at}"
    )
