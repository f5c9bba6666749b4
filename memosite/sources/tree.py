"""[I/O] Tree sources: the files of one commit, from a repo's objects, here or fetched from a remote (SPEC 2.3).

A path is only a key into the commit's list and never opened, so no name in a tree can escape. Symbolic links and
submodules are named in notes and not followed; the same limits hold as for folders.

What is fetched is kept in one bare repo of the cache per address, named by the address's hash: `git/<hash>`, with
`<hash>.json` (what was fetched when) and `<hash>.lock` (one writer at a time) beside it. If fetching fails, the commit
that was fetched last is read. No shell, no prompts, no credentials but those of ssh-agent, no submodules, no LFS, no
protocol but the address's own, all within `FETCH_SECONDS` (SPEC 2.3).
"""

import datetime as dt
import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote

from memosite.facts import rules
from memosite.facts.characters import printable
from memosite.facts.errors import SourceError
from memosite.facts.findings import Finding
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import Value, replace
from memosite.sources import listing
from memosite.sources.folder import repo_at
from memosite.sources.forges import parse_git_url, refusal, without_secrets
from memosite.sources.git import LINE_BYTES, GitError, Holding, Repo, View, git, view_folder
from memosite.sources.listing import limit_of
from memosite.sources.objects import WHOLE_HASH, CommitHead, Objects, commit_at, list_commit
from memosite.store.cache import open_cache
from memosite.store.locks import locked
from memosite.store.safe_files import beginning_of, read_file

if TYPE_CHECKING:
    from memosite.facts.file import File

# Tree sources: the files of one commit, read from the repo's objects without a checkout (SPEC 2.3).


NO_REF = ""
"""The ref of a source that had no commit at the time as of which it is read."""


_KINDS = {"100": "file", "120": "link", "160": "submodule"}


LONGEST_PATH = 4096
"""The longest path that is looked at, as on most disks."""


class Tree(Value):
    """The contents of a commit: the hashes of blobs by path, and the entries of each folder by name."""

    blobs: Mapping[str, str]
    folders: Mapping[str, tuple[listing.FolderEntry, ...]]
    unusable: tuple[tuple[str, str], ...] = ()
    """Paths that are not read, and why: `memos/../x`, which only a tree made by hand holds, or a damaged folder."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Folders that are left out since there is too much in them."""


EMPTY_TREE = Tree(blobs=MappingProxyType({}), folders=MappingProxyType({"": ()}))
"""The contents of no commit."""


class TreeSource(listing.Source, apart=("objects",)):
    """One commit of a repo to read.

    `ref` is as configured; `prefix` is the folder of the commit's tree that the source is,
    "" for all of it. `tree` holds what `read_tree` found, by paths below the prefix; `objects` gives the bytes.
    `holes` are folders below the prefix that are not part of it. Without a `commit` there is nothing in it.
    """

    repo: Repo
    commit: str
    committed: Moment | None
    ref: str
    tree: Tree
    objects: Objects
    prefix: str = ""
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

    def list_files(self) -> listing.Listing:
        """The files to read. Raises `SourceError` if there are too many files."""

        def list_folder(folder: str) -> tuple[listing.FolderEntry, ...]:
            if folder not in self.tree.folders:  # a name that is a file and a folder at once: a tree made by hand
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            return self.tree.folders[folder]

        def head_of(path: str) -> bytes:
            data = self._data(path)
            return data[: listing.SNIFFED] if isinstance(data, bytes) else b""

        found = listing.list_source(self, list_folder, head_of, called=self.name, holes=self.holes)
        unusable = (
            listing.finding_on(rules.FILE_UNREADABLE, self, path, why) for path, why in self.tree.unusable[:100]
        )
        skipped = (listing.finding_on(rules.FOLDER_TOO_LARGE, self, path, why) for path, why in self.tree.skipped[:100])
        return replace(found, findings=(*self.findings, *found.findings, *unusable, *skipped))

    def read_file(self, path: str) -> "File | Finding":
        """The bytes of one file, or the finding that says why it was left out."""
        from memosite.facts.file import File  # noqa: PLC0415 - nothing is read where nothing has changed

        data = self._data(path)
        if isinstance(data, bytes):
            return File(source=self.name, path=listing.shown_path(path), data=data)
        if isinstance(data, int):
            return listing.too_large(self, path, data)
        return listing.finding_on(rules.FILE_UNREADABLE, self, path, data)

    def _data(self, path: str) -> bytes | int | str:
        """A file's bytes; its size if that is over the limit; else why there are none."""
        blob = self.tree.blobs.get(path)
        if blob is None:
            return "it is not in the commit"
        try:
            data = self.objects.blob(blob, limit=limit_of(path))
        except GitError as error:
            return f"its bytes cannot be read ({error.public})"
        return "its bytes are missing from the repo" if data is None else data

    def stamp(self, path: str) -> listing.FileStamp | None:  # noqa: ARG002 - as of any source
        """Always None: bytes cannot be read again once the source is closed, so they are read while it is open."""
        return None

    def has_file(self, path: str) -> bool:
        """Whether a path leads to a file or folder of the commit."""
        return path in self.tree.blobs or (path != "" and path in self.tree.folders)


def read_tree(repo: Repo, commit: str, prefix: str = "") -> Tree:
    """Read the contents of a commit below a folder. Raises `GitError` if it cannot be listed or is too large."""
    blobs: dict[str, str] = {}
    folders: dict[str, dict[str, listing.FolderEntry]] = {"": {}}
    unusable: dict[str, str] = {}
    with Objects(repo) as objects:
        entries, skipped = list_commit(objects, commit, os.fsencode(prefix))
        for mode, written, name in entries:
            path = os.fsdecode(written)
            if mode == "missing":
                unusable[path] = "a folder whose tree is missing or damaged; it was not read"
                continue
            if len(path) > LONGEST_PATH or not {"", ".", ".."}.isdisjoint(path.split("/")):
                unusable[path] = "a path that no folder can have; it was not read"
                continue
            kind = _KINDS.get(mode[:3], "other")
            _place(folders, path, kind)
            if kind == "file":
                blobs.setdefault(path, name)
    return Tree(
        blobs=MappingProxyType(blobs),
        folders=MappingProxyType({path: tuple(sorted(entries.values())) for path, entries in folders.items()}),
        unusable=tuple(unusable.items()),
        skipped=tuple((os.fsdecode(one.path), one.why) for one in skipped),
    )


def _place(folders: dict[str, dict[str, listing.FolderEntry]], path: str, kind: str) -> None:
    """Add an entry to its folder, and each new folder to its parent."""
    entry = listing.FolderEntry(path.rpartition("/")[2], kind)  # type: ignore[arg-type] # one of the kinds
    while True:
        folder = path.rpartition("/")[0]
        is_known = folder in folders
        folders.setdefault(folder, {}).setdefault(entry.name, entry)
        if is_known:
            return
        path, entry = folder, listing.FolderEntry(folder.rpartition("/")[2], "folder")


# Fetches refs of remotes into the cache; if that fails, gives the commit that was last fetched.


FETCH_SECONDS = 300
"""The longest that fetching one ref may take, and that another build's fetch of it is waited for."""


_CONFIGS = {
    "sha1": b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    "sha256": b"[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n",
}
"""All that a repo of the cache is configured with; one that is configured otherwise is not ours and is made anew."""


_OPTIONS = (
    *("-c", "fetch.unpackLimit=1", "-c", "fetch.prune=false", "-c", "fetch.writeCommitGraph=false"),
    *("-c", "http.followRedirects=initial", "-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60"),
    *("-c", "core.sshCommand=ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=15"),
)


_KEPT = {
    "ssh": ("HOME", "SSH_AUTH_SOCK"),
    "https": ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "GIT_SSL_CAINFO"),
}


class FetchedRemote(Value):
    """A ref of a remote in the cache. `problem` says why it could not be fetched now, "" if it could.

    `fetched` is when that commit was found at the remote, by this machine's clock.
    """

    repo: Repo
    commit: CommitHead
    fetched: Moment
    problem: str = ""


class _Place(Value):
    """Where the cache keeps an address."""

    url: str
    folder: Path

    @property
    def repo(self) -> Repo:
        return Repo(git_dir=self.folder, top=None)

    @property
    def state(self) -> Path:
        return self.folder.with_suffix(".json")

    @property
    def lock(self) -> Path:
        return self.folder.with_suffix(".lock")


def fetch(url: str, ref: str, *, cache: Path, use_network: bool = True) -> FetchedRemote:
    """Fetch a ref of a remote, or give its last fetched commit if that fails or the network is not to be used.

    Raises `SourceError` if it was never fetched, and if the cache cannot be written.
    """
    shown = printable(without_secrets(url))
    found = refusal(url)
    if found is not None:
        raise SourceError(f"{shown}: found {found}, expected an address that can be fetched")
    try:
        place = _Place(url=url, folder=_folder(cache) / _name(url))
        known = None if use_network else _last_good(place, ref, problem="")
        if known is not None:
            return known
        with locked(place.lock, seconds=FETCH_SECONDS) as lock:  # git holds it, too: a fetch of a killed build goes on
            problem, said = "another build has been fetching it all the time", ""
            if lock is not None:
                try:
                    return _fetch(place, ref, lock.handle)
                except GitError as error:
                    problem, said = error.public, str(error)
        known = _last_good(place, ref, problem=problem)
    except OSError as error:
        raise SourceError(f"{error.filename or cache}: the cache cannot be written ({error.strerror})") from error
    if known is None:
        raise SourceError(f"{shown}: {ref} cannot be fetched ({said or problem}), and it never was")
    return known


def last_fetched(url: str, ref: str, *, cache: Path) -> str:
    """The last fetched commit of a ref according to the cache; "" if it never was. Git is not run."""
    entry = _entries(_Place(url=url, folder=cache / "git" / _name(url))).get(ref)
    name = entry.get("commit") if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) else ""


def _name(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:32]


def _folder(cache: Path) -> Path:
    """The folder of all fetched repos. Raises `OutputError` for a link in its place."""
    open_cache(cache)
    folder = cache / "git"
    folder.mkdir(exist_ok=True, mode=0o700)
    folder.chmod(0o700)  # earlier versions made it for everybody
    return folder


def _fetch(place: _Place, ref: str, lock: int) -> FetchedRemote:
    """Fetch a ref; the lock is held. Raises `GitError`."""
    _prepare(place)
    try:
        _run(place, ref, lock)
    except GitError as error:
        if "mismatched algorithms" not in str(error):
            raise
        is_sha1 = beginning_of(place.folder / "config", LINE_BYTES) == _CONFIGS["sha1"]
        shutil.rmtree(place.folder)
        _make(place, _CONFIGS["sha256" if is_sha1 else "sha1"])
        _run(place, ref, lock)
    commit = commit_at(place.repo, _local(ref))
    if commit is None:
        raise GitError(f"{ref} leads to no commit")
    fetched = dt.datetime.now(dt.UTC).replace(microsecond=0)
    _remember(place, ref, commit, fetched)
    return FetchedRemote(repo=place.repo, commit=commit, fetched=Moment(instant=fetched, offset=0))


def _local(ref: str) -> str:
    return f"refs/memosite/{hashlib.sha256(ref.encode()).hexdigest()[:32]}"


def _run(place: _Place, ref: str, lock: int) -> None:
    url = parse_git_url(place.url)
    protocol = url.protocol if url else ""
    environment = {name: os.environ[name] for name in _KEPT.get(protocol, ()) if name in os.environ}
    with _local_view(unquote(url.path)) if url and protocol == "file" else nullcontext(place.url) as address:
        git(
            place.repo,
            *("fetch", "--quiet", "--force", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"),
            *("--no-auto-maintenance", "--update-shallow", address, f"+{ref}:{_local(ref)}"),
            seconds=FETCH_SECONDS,
            extra=_OPTIONS,
            environment={**environment, "GIT_ALLOW_PROTOCOL": protocol},
            held=(lock,),
            is_writing=True,
        )


@contextmanager
def _local_view(path: str) -> Iterator[str]:
    """The address of a view of a repo on this machine, from which git fetches in its place. Raises `GitError`."""
    for place in (Path(path), Path(path + ".git")):
        repo = repo_at(place.parent if place.name == ".git" else place)
        if isinstance(repo, str):
            raise GitError(repo)
        if repo is not None:
            view = View(repo.git_dir)
            try:
                yield f"file://{view_folder(view)}"
            finally:
                view.close()
            return
    raise GitError("there is no repo")


# The repos of the cache


def _prepare(place: _Place) -> None:
    """Make the repo if it is not there or not ours, and remove leftovers of a killed fetch."""
    if not _is_ours(place.folder):
        if place.folder.is_symlink():
            place.folder.unlink()
        elif place.folder.exists():
            shutil.rmtree(place.folder)
        _make(place, _CONFIGS["sha1"])
    for left in (*place.folder.rglob("*.lock"), *place.folder.glob("objects/pack/tmp_*")):
        left.unlink(missing_ok=True)


def _is_ours(folder: Path) -> bool:
    """Whether a repo is made and configured as we do, with nothing that leads out of it."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode) or (folder / "objects/info/alternates").exists():
            return False
        parts = {name: (folder / name).lstat().st_mode for name in ("HEAD", "config", "objects", "refs")}
        is_whole = all(stat.S_ISDIR(parts[name]) == (name in {"objects", "refs"}) for name in parts)
        is_plain = not any(stat.S_ISLNK(mode) for mode in parts.values())
        return is_whole and is_plain and beginning_of(folder / "config", LINE_BYTES) in _CONFIGS.values()
    except OSError:
        return False


def _make(place: _Place, config: bytes) -> None:
    """Make a bare repo without hooks and refs; it is moved into place when it is complete."""
    unfinished = place.folder.with_suffix(".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / "objects" / "pack").mkdir(parents=True)
    (unfinished / "refs").mkdir()
    (unfinished / "config").write_bytes(config)
    (unfinished / "HEAD").write_bytes(b"ref: refs/heads/none\n")
    unfinished.rename(place.folder)


# What was fetched when


def _last_good(place: _Place, ref: str, *, problem: str) -> FetchedRemote | None:
    """The commit that was last fetched, if the cache still has it."""
    entry = _entries(place).get(ref)
    if not isinstance(entry, Mapping) or not _is_ours(place.folder):
        return None
    name, written = entry.get("commit"), entry.get("fetched")
    if not isinstance(name, str) or not isinstance(written, str) or not WHOLE_HASH.fullmatch(name):
        return None
    fetched = read_moment(written)
    with suppress(GitError):
        commit = commit_at(place.repo, name)
        if commit is not None and fetched is not None:
            return FetchedRemote(repo=place.repo, commit=commit, fetched=fetched, problem=problem)
    return None


def _entries(place: _Place) -> Mapping[str, object]:
    try:
        value = json.loads(read_file(place.state))
    except (OSError, ValueError, RecursionError):
        return {}
    refs = value.get("refs") if isinstance(value, dict) else None
    return refs if isinstance(refs, dict) else {}


def _remember(place: _Place, ref: str, commit: CommitHead, fetched: dt.datetime) -> None:
    """Record atomically what was fetched."""
    written = fetched.isoformat().replace("+00:00", "Z")
    refs = {**_entries(place), ref: {"commit": commit.hash, "fetched": written}}
    unfinished = place.state.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    unfinished.write_text(json.dumps({"v": 1, "url": without_secrets(place.url), "refs": refs}, indent=1), "utf-8")
    unfinished.replace(place.state)
