"""[I/O] Lists the manuscripts whose citations of the archive are checked: `citations` in memosite.yml (SPEC 7)."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from memosite.facts.layout import matches_any

_UNREAD = frozenset({"node_modules"})


def list_manuscripts(site: Path, globs: Collection[str], *, holes: Collection[Path]) -> list[Path]:
    """The files below the site folder that a glob matches, in order; no links, and nothing below a hole."""
    roots = {site / _fixed(glob) for glob in globs}
    found = {path for root in roots for path in _files_below(root, frozenset(holes))}
    return sorted(path for path in found if matches_any(path.relative_to(site).as_posix(), globs))


def _fixed(glob: str) -> str:
    """The folders that a glob begins with, as they are: only below them is looked."""
    parts = PurePosixPath(glob).parts[:-1]
    first = next((number for number, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    return "/".join(parts[:first])


def _files_below(root: Path, holes: frozenset[Path]) -> Iterator[Path]:
    for place, folders, names in os.walk(root):
        folders[:] = (
            one for one in folders
            if not one.startswith(".") and one not in _UNREAD and Path(place, one) not in holes
        )  # fmt: skip
        yield from (path for name in names if not (path := Path(place, name)).is_symlink())
