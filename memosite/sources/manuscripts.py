"""[I/O] Lists the manuscripts whose citations of the archive are checked: `citations` in memosite.yml (SPEC 7)."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from memosite.facts.layout import matches_any

_UNREAD = frozenset({"node_modules"})


def list_manuscripts(site: Path, globs: Collection[str], *, holes: Collection[Path]) -> list[Path]:
    """The files below the site folder that a glob matches, in order; no links, and nothing below a hole."""
    found = {Path(place, name) for place, names in _below(site, globs, holes) for name in names}
    named = (path for path in found if matches_any(path.relative_to(site).as_posix(), globs))
    return sorted(path for path in named if not path.is_symlink())


def manuscript_folders(site: Path, globs: Collection[str], *, holes: Collection[Path]) -> Iterator[Path]:
    """The folders in which such files may be."""
    return (Path(place) for place, _ in _below(site, globs, holes))


def _fixed(glob: str) -> str:
    """The folders that a glob begins with, as they are: only below them is looked."""
    parts = PurePosixPath(glob).parts[:-1]
    first = next((number for number, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    return "/".join(parts[:first])


def _below(site: Path, globs: Collection[str], holes: Collection[Path]) -> Iterator[tuple[str, list[str]]]:
    """The folders that a glob may reach, with the names of their files."""
    for root in sorted({site / _fixed(glob) for glob in globs}):
        for place, folders, names in os.walk(root):
            folders[:] = (
                one for one in folders
                if not one.startswith(".") and one not in _UNREAD and Path(place, one) not in holes
            )  # fmt: skip
            yield place, names
