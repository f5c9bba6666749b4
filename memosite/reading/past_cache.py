"""[I/O] Where archives as of former times are kept, as long as nothing forbids it (SPEC 8, reading the past).

    <cache>/past/<rules>-<time>/internal/   what an archive as of that time keeps, as the present one does: its own file
                                            that remembers, and its own search index
    <cache>/past/<rules>-<time>/commits     the commits that were read: a repo and a commit on each line

Each time has a part of the cache of its own, not rows beside those of the present. What may not be kept any more, or
was asked for longest ago, then goes as a whole, with its index, and nothing of it stays in free pages of any file.

The rules are what decides what may be kept: the program, and what memosite.yml says of secrets. Whenever the present
is read anew, what was kept under other rules is removed, and what is of commits that no branch or tag has any more.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from memosite.config.schema import Config, SourceConfig
from memosite.sources.folder import holding_repo
from memosite.sources.git import GitError, Repo
from memosite.sources.objects import is_reachable
from memosite.sources.tree import NO_REF
from memosite.store.cache import open_own, program_digest, read_whole, refuse_link, write_whole

MOST: Final = 3
"""How many times are kept, those that were read last."""

_FOLDER: Final = "past"
_COMMITS: Final = "commits"


def past_cache(config: Config, sources: Iterable[SourceConfig]) -> Path:
    """The cache for an archive of these sources, each with its commit as `ref`; nothing is kept where it is missing.

    There is none where something is erased, or where no build has made a cache.
    """
    folder = config.cache / _FOLDER
    if config.erase or not config.cache.is_dir():
        return folder / "none"
    refuse_link(folder)
    listed = tuple(sources)
    time = hashlib.sha256(repr([(one.name, str(one.root), one.ref) for one in listed]).encode()).hexdigest()
    place = folder / f"{_rules(config)}-{time[:16]}"
    if open_own(folder) and open_own(place):
        with suppress(OSError):
            os.utime(place)
        lines = (f"{one.root}\0{one.ref}" for one in listed if one.ref != NO_REF)
        write_whole(place / _COMMITS, "\n".join(lines).encode("utf-8", "surrogateescape"))
        for outdated in sorted(_places(folder), key=_age)[MOST:]:
            shutil.rmtree(outdated, ignore_errors=True)
    return place


def prune_past(config: Config) -> None:
    """Remove what may not be kept any more."""
    folder = config.cache / _FOLDER
    for place in _places(folder):
        if config.erase or not place.name.startswith(f"{_rules(config)}-") or not _is_whole(config, place):
            shutil.rmtree(place, ignore_errors=True)


def forget_past(config: Config) -> None:
    """Keep nothing of former times."""
    for place in _places(config.cache / _FOLDER):
        shutil.rmtree(place, ignore_errors=True)


def _places(folder: Path) -> list[Path]:
    refuse_link(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        return sorted(Path(one.path) for one in entries if one.is_dir(follow_symlinks=False))
    return []


def _age(place: Path) -> float:
    with suppress(OSError):
        return -place.stat().st_mtime
    return 0.0


def _rules(config: Config) -> str:
    return hashlib.sha256(repr((program_digest(), config.secrets)).encode()).hexdigest()[:16]


def _is_whole(config: Config, place: Path) -> bool:
    """Whether each commit that was read is still in its history: who rewrites a history takes something back."""
    try:
        return all(is_reachable(repo, commit) if repo else False for repo, commit in _read(config, place))
    except GitError:
        return False


def _read(config: Config, place: Path) -> Iterator[tuple[Repo | None, str]]:
    written = (read_whole(place / _COMMITS) or b"\0").decode("utf-8", "surrogateescape")
    for line in filter(None, written.split("\n")):
        root, _, commit = line.partition("\0")
        yield (holding_repo(Path(root), site=config.site, enclosing=True).repo if root else None), commit
