"""[I/O] Finds the sources below a folder without a memosite.yml: folders that hold a store, or their git repos.

The rules are SPEC 2.1. Stores are recognized by folder and file names alone; only Markdown that may be a record of
no store is recognized by its first bytes.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memosite.config.schema import SourceConfig, clean_name
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, SourceError
from memosite.facts.layout import SITE_MARKER, SKIPPED_FOLDERS, UNREAD_FOLDERS, place_of
from memosite.facts.names import BODY_SUFFIX, CATALOG_SUFFIX, ENVELOPE_SUFFIX
from memosite.formats.system import RecordSystem
from memosite.formats.systems import SYSTEMS, has_record_name
from memosite.sources.sniff import starts_as_record

FOLDER_DEPTH = 40
"""How many folders below the site are entered, one in the other."""

FOLDER_LIMIT = 200_000
"""How many folders are looked into in all."""

SNIFF_LIMIT = 20_000
"""How many Markdown files are looked into in all, to find records among them."""

_STORES = ("memos", "notes", "transcripts")
_STORE_DEPTH = 3
_ENVIRONMENT = "pyvenv.cfg"


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitedFolder:
    """One folder on the way: its parts below the site, the names of its files, and the git repo around it.

    `repo` is the number of parts that lead to the repo's top, None outside every repo. Links are left out.
    """

    parts: tuple[str, ...]
    files: tuple[str, ...]
    repo: int | None


def _memodef_store(folder: VisitedFolder) -> int | None:
    if not any(name.lower().endswith((ENVELOPE_SUFFIX, BODY_SUFFIX)) for name in folder.files):
        return None
    first = max(0, len(folder.parts) - _STORE_DEPTH)
    near = next((index for index in range(first, len(folder.parts)) if folder.parts[index] in _STORES), None)
    if near is not None:
        return near
    return next((index for index in range(first - 1, -1, -1) if folder.parts[index] in _STORES), None)


def _orgdef_store(folder: VisitedFolder) -> int | None:
    if not folder.parts or folder.parts[-1] != "org":
        return None
    has_any = any(name.lower().endswith((ENVELOPE_SUFFIX, CATALOG_SUFFIX)) for name in folder.files)
    return len(folder.parts) - 1 if has_any else None


def _record_store(system: RecordSystem, folder: VisitedFolder) -> int | None:
    return system.store_in(folder.parts, folder.files)


STORES: tuple[Callable[[VisitedFolder], int | None], ...] = (
    _memodef_store,
    _orgdef_store,
    *(partial(_record_store, system) for system in SYSTEMS),
)
"""What tells a store: given a folder with files in it, the number of parts that lead to what holds the store."""


def discover(site: Path, *, ignore: Sequence[Path]) -> tuple[SourceConfig, ...]:
    """The sources at or below a folder, by path. Output and cache are ignored; links are not followed.

    Raises `ConfigError` if there are none, `SourceError` if the folder cannot be read or holds too many.
    """
    site = site.resolve()
    found = _roots(site, walk(site, ignore=ignore))
    if not found:
        raise ConfigError(_nothing_found(site))
    roots = sorted(found)
    return tuple(
        SourceConfig(name=name, root=site.joinpath(*parts))
        for name, parts in zip(_names(site, roots), roots, strict=True)
    )


def _roots(site: Path, folders: Iterable[VisitedFolder]) -> set[tuple[str, ...]]:
    """The parts that lead to each source.

    Some records may be in any folder: those outside of every repo and of every other source belong to the folder
    directly below the site that they are in.
    """
    found: set[tuple[str, ...]] = set()
    loose: list[tuple[str, ...]] = []
    left = SNIFF_LIMIT
    for folder in folders:
        root = _source_root(folder)
        repo = None if folder.repo is None else folder.parts[: folder.repo]
        if root is not None:
            found.add(root)
        if root is not None or (_is_inside(folder.parts, found) if repo is None else repo in found):
            continue
        has_record = any(map(has_record_name, folder.files))
        names = [] if has_record else _markdown_names(folder)[:left]
        left -= len(names)
        if has_record or any(starts_as_record(site.joinpath(*folder.parts, name)) for name in names):
            if repo is None:
                loose.append(folder.parts)
            else:
                found.add(repo)
    return found | {parts[:1] for parts in loose if not _is_inside(parts, found)}


def _is_inside(parts: tuple[str, ...], roots: Collection[tuple[str, ...]]) -> bool:
    return any(parts[:depth] in roots for depth in range(len(parts) + 1))


def _markdown_names(folder: VisitedFolder) -> list[str]:
    if place_of("/".join((*folder.parts, "-"))) is not None:
        return []
    names = (name for name in folder.files if name.lower().endswith(".md"))
    return [name for name in names if not name.lower().endswith(BODY_SUFFIX)]


def _source_root(folder: VisitedFolder) -> tuple[str, ...] | None:
    """The parts that lead to the source a folder belongs to, None if it is not part of a store."""
    for tell in STORES:
        holder = tell(folder)
        if holder is not None:
            return folder.parts[: holder if folder.repo is None else folder.repo]
    return None


def walk(site: Path, *, ignore: Sequence[Path]) -> Iterator[VisitedFolder]:
    """Every folder that may hold artifacts, a folder before those in it, by name.

    Left out are ignored folders and those of samples (see `layout`), virtual environments, sites
    written by memosite, what is to be ignored, and what cannot be read. The site's own name does not matter.
    """
    ignored = {str(path.resolve()) for path in ignore}
    waiting: list[tuple[tuple[str, ...], int | None]] = [((), None)]
    looked_into = 0
    while waiting:
        parts, repo = waiting.pop()
        looked_into += 1
        if looked_into > FOLDER_LIMIT:
            raise SourceError(
                f"{printable(str(site))}: more than {FOLDER_LIMIT:,} folders to search; name sources in memosite.yml"
            )
        try:
            files, folders, is_repo = _list(site.joinpath(*parts))
        except OSError as error:
            if not parts:
                raise SourceError(f"{printable(str(site))}: cannot be read ({error.strerror})") from error
            continue
        if SITE_MARKER in files or (parts and _ENVIRONMENT in files):
            continue
        repo = len(parts) if is_repo else repo
        yield VisitedFolder(parts=parts, files=files, repo=repo)
        if len(parts) < FOLDER_DEPTH:
            waiting += [
                ((*parts, name), repo)
                for name in reversed(folders)
                if _is_entered(name) and str(site.joinpath(*parts, name)) not in ignored
            ]


def _is_entered(name: str) -> bool:
    return name not in UNREAD_FOLDERS and name not in SKIPPED_FOLDERS


def _list(folder: Path) -> tuple[tuple[str, ...], list[str], bool]:
    """The names of the files and of the folders in a folder, sorted, and whether it is the top of a git repo."""
    files, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif entry.is_file(follow_symlinks=False):
                files.append(entry.name)
    return tuple(sorted(files)), sorted(folders), ".git" in files or ".git" in folders


def _names(site: Path, roots: Sequence[tuple[str, ...]]) -> list[str]:
    """A name for each root: its folder's; on a clash its path with `-`; if that clashes too, a number after it."""
    own = [clean_name(site.joinpath(*parts).name) for parts in roots]
    times = Counter(name.casefold() for name in own)
    wanted = [
        clean_name("-".join(parts)) if parts and times[name.casefold()] > 1 else name
        for name, parts in zip(own, roots, strict=True)
    ]
    reserved = {name.casefold() for name in wanted}
    taken: set[str] = set()
    names = []
    for name in wanted:
        free, number = name, 1
        while free.casefold() in taken or (number > 1 and free.casefold() in reserved):
            number += 1
            free = f"{name}-{number}"
        taken.add(free.casefold())
        names.append(free)
    return names


def _nothing_found(site: Path) -> str:
    shown = printable(str(site))
    if (site / SITE_MARKER).exists():
        return f"{shown}: found a site that memosite wrote, expected the repos it is made from; name their folder"
    if site.name in (*_STORES, *(name for system in SYSTEMS for name in system.store_names)):
        return f"{shown}: found a {site.name} folder alone, expected the folder that holds it; name {site.parent}"
    *names, last = sorted(system.name for system in SYSTEMS)
    return (
        f"{shown}: found no memos/, notes/ or transcripts/ below it with an .openthing or .body.md file, no org/ "
        f"with an orgdef, and no store of {', '.join(names)} or {last}, expected at least one; "
        "name the folder of the site with --site, or sources in memosite.yml, see memosite init --help"
    )
