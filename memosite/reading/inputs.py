"""[I/O] Digests all inputs of an archive without reading them, to find whether anything changed.

    config, program, ledger ──┐
    sources: names, states ───┼─► states of files ──► digest as of a moment
    git: HEAD, refs, objects ─┘

Files that are recent as of that moment are compared by contents, too (`sources/look.py`). The moment is part of the
digest: a later comparison uses the same moment, so that a file gives the same digest when it is no longer recent.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Collection, Iterable
from operator import attrgetter
from pathlib import Path

from memosite.archive.ledger import LEDGER_PATH
from memosite.config.schema import Config, SourceConfig
from memosite.facts.patterns import regex
from memosite.facts.values import Value, field
from memosite.sources.folder import holding_repo, list_manuscripts, repo_at
from memosite.sources.git import GitError, Repo, common_folder, line_of
from memosite.sources.listing import RECENT
from memosite.sources.look import FileLook, Look, LookAt, changed, content_of, look_at, state_of
from memosite.sources.objects import HEAD, WHOLE_HASH, commit_at
from memosite.sources.tree import last_fetched
from memosite.store.cache import program_digest

_DIGEST = regex(r"[0-9]{1,20}-[0-9a-f]{64}", re.ASCII)


class Inputs(Value, apart=("looks",)):
    """The digest as of now, and whether it is unchanged since the known one.

    If so, `digest` is the known one, or one that is compared faster the next time. `looks` are the snapshots of sources
    that are folders, by name: the reader takes them out, so that only a caller notified of changes keeps them.
    """

    digest: str
    is_same: bool
    looks: dict[str, Look] = field(default_factory=dict)


def compare_inputs(
    config: Config,
    known: str,
    *,
    also: Iterable[Path] = (),
    opened: Iterable[object] = (),
    with_ledger: bool = True,
    now: int | None = None,
    look: LookAt = look_at,
) -> Inputs:
    """The digest of what an archive is read from and of the files below the folders `also`, and whether it is `known`.

    Call it before the archive is read: later changes then count as changed. `now` is in nanoseconds
    since 1970 (default: the clock). Remotes count as they were last fetched. "" is no known digest. A caller that is
    notified of changes gives another `look`, which walks only changed folders.

    A build leaves out the ledger, which is one of its own outputs, and passes what it has `opened` before: which
    commits, and which theme. Later changes do not count as built.
    """
    moment = time.time_ns() if now is None else now
    states = _States(look)
    states.say(*map(repr, opened))
    if with_ledger:
        states.look_at(config.output / LEDGER_PATH)
    _collect(config, also, states)
    if states.was(known):
        was_slow = states.has_recent(_moment_of(known)) and not states.has_recent(moment)
        return Inputs(digest=states.digest(moment) if was_slow else known, is_same=True, looks=states.looks)
    return Inputs(digest=states.digest(moment), is_same=False, looks=states.looks)


def compare_repo(repo: Repo, known: str) -> str:
    """The digest of a repo's HEAD and objects; `known` if they are unchanged since then.

    Call it before git runs.
    """
    moment = time.time_ns()
    states = _States()
    _add_head(repo, states)
    _add_objects(repo, states)
    return known if states.was(known) else states.digest(moment)


class _States:
    """The inputs: words, and files or folders with their states, in the order of adding; and snapshots."""

    def __init__(self, look: LookAt = look_at) -> None:
        self.looks: dict[str, Look] = {}
        self._look = look
        self._words: list[tuple[str, ...]] = []
        self._files: list[tuple[str, FileLook]] = []
        self._contents: dict[str, str] = {}

    def say(self, *words: str) -> None:
        """Add words."""
        self._words.append(words)

    def add(self, path: str, status: os.stat_result) -> None:
        """Add a file or folder with its state."""
        self._files.append((path, state_of(status)))

    def look_at(self, path: Path) -> None:
        """Add a file that may be missing."""
        try:
            self.add(str(path), os.lstat(path))
        except OSError as error:
            self.say(str(path), str(error.errno))
        except ValueError:  # a name from a repo may hold anything
            self.say(repr(path))

    def look_into(self, source: SourceConfig, root: Path, holes: Collection[str]) -> None:
        """Add a snapshot of the folder of a source."""
        self.looks[source.name] = self._look(str(root), include=source.include, exclude=source.exclude, holes=holes)

    def was(self, known: str) -> bool:
        """Whether the inputs are unchanged since a digest was taken; "" is no digest."""
        return bool(_DIGEST.fullmatch(known)) and self.digest(_moment_of(known)) == known

    def has_recent(self, moment: int) -> bool:
        """Whether any contents have to be read for the digest as of a moment."""
        since = moment - RECENT
        return any(changed(state) >= since for _, state in self._files) or any(
            look.has_recent(moment) for look in self.looks.values()
        )

    def digest(self, moment: int) -> str:
        """The digest as of a moment; the moment is its first part."""
        since = moment - RECENT
        files = [
            (path, state, self._content(path, state) if changed(state) >= since else "") for path, state in self._files
        ]
        looks = [(name, look.digest(moment)) for name, look in self.looks.items()]
        return f"{moment}-{hashlib.sha256(repr((self._words, files, looks)).encode()).hexdigest()}"

    def _content(self, path: str, state: FileLook) -> str:
        if path not in self._contents:
            self._contents[path] = content_of(path, state[0])
        return self._contents[path]


def _moment_of(digest: str) -> int:
    return int(digest.partition("-")[0])


def _collect(config: Config, also: Iterable[Path], states: _States) -> None:
    states.say(program_digest(), repr(config), shutil.which("git") or "no git")
    for folder in also:
        _add_folder(folder, states)
    roots = [source.root for source in config.sources if source.root is not None]
    holes = frozenset(str(path) for path in (*roots, *config.written))
    manuscripts = list_manuscripts(config.site, config.citations, holes=config.written)
    for path in manuscripts:
        states.look_at(path)
    if manuscripts:
        from memosite.quotes.citations import CONVERTED_ENDINGS  # noqa: PLC0415 - a tenth of a command, rarely needed

        if any(path.suffix.lower() in CONVERTED_ENDINGS for path in manuscripts):
            states.say(shutil.which("pandoc") or "no pandoc")
    for source in config.sources:
        states.say("source", source.name)
        if source.root is None:
            states.say(last_fetched(source.git or "", source.ref or HEAD, cache=config.cache))
        else:
            _add_source(config, source, source.root, holes, states)


def _add_folder(folder: Path, states: _States) -> None:
    """All files below a folder of a theme, and the targets of its links."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            states.look_at(path)
            if path.is_symlink():
                states.look_at(Path(os.path.realpath(path)))


def _add_source(config: Config, source: SourceConfig, root: Path, holes: Collection[str], states: _States) -> None:
    own = repo_at(root)
    if source.ref is not None or (isinstance(own, Repo) and own.top is None):
        repo = holding_repo(root, site=root, enclosing=True).repo
        ref = source.ref or HEAD
        is_commit = WHOLE_HASH.fullmatch(ref) is not None  # which stands for itself
        states.say((ref if is_commit else _commit_at(repo, ref)) if repo else repr(own))
        if repo:
            _add_objects(repo, states)
        return
    holding = holding_repo(root, site=config.site, enclosing=config.history == "enclosing")
    states.say(repr(holding))
    if holding.repo is not None:
        _add_head(holding.repo, states)
        _add_objects(holding.repo, states)
    states.look_into(source, root, holes)


# Git, by its files: running git takes longer than all the rest


def _add_head(repo: Repo, states: _States) -> None:
    """Add HEAD's commit, and the few other files that affect how history is read.

    Whether a file is unread depends on the commit, never on git's index.
    """
    common = common_folder(repo.git_dir)
    for name in ("config", "packed-refs", "shallow", "reftable/tables.list"):
        states.look_at(common / name)
    line = line_of(repo.git_dir / "HEAD")
    for _ in range(5):  # as many links as git follows
        states.say(line)
        name = line.removeprefix("ref:").strip()
        if name == line:
            return
        if not name.startswith("refs/") or ".." in name.split("/"):
            states.say(_commit_at(repo, HEAD))
            return
        line = line_of(repo.git_dir / name) or line_of(common / name)


def _add_objects(repo: Repo, states: _States) -> None:
    """Add which objects exist: a commit that a memo mentions may come with any fetch."""
    common = common_folder(repo.git_dir)
    states.look_at(common / "shallow")
    states.look_at(common / "config")
    try:
        with os.scandir(common / "objects") as scanned:
            folders = sorted((one for one in scanned if one.is_dir(follow_symlinks=False)), key=attrgetter("path"))
    except OSError:
        return
    for folder in folders:
        try:
            states.add(folder.path, folder.stat(follow_symlinks=False))
        except OSError as error:  # removed meanwhile
            states.say(folder.path, str(error.errno))


def _commit_at(repo: Repo, ref: str) -> str:
    try:
        commit = commit_at(repo, ref)
    except GitError as error:
        return error.public  # git's own words name a folder that is another one each time
    return commit.hash if commit else ""
