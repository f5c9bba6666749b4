"""[I/O] The cache folder: files that can be made again, kept out of git.

It is in the site folder, so it may have come with a cloned repo: a link in it would redirect writes and removals,
and is refused (SPEC 9).
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from memosite.facts.errors import OutputError
from memosite.store.safe_files import open_file, open_new


def open_cache(folder: Path) -> Path | None:
    """Make the cache folder ready, with a .gitignore that keeps it out of git; None where it cannot be written.

    Raises `OutputError` if it contains a link.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                refuse_link(Path(entry.path))
        ignore = folder / ".gitignore"
        if not ignore.exists():
            with open_new(ignore) as stream:
                stream.write(b"*\n")
    except OSError:
        return None
    return folder


def open_part(folder: Path, name: str) -> Path | None:
    """Make a part of the cache ready, with the cache around it: each audience has one; None where it cannot be written.

    What versions without audiences wrote beside the parts is removed: it was not screened for secrets. Raises
    `OutputError` if either contains a link.
    """
    if open_cache(folder) is None:
        return None
    for former, files in _FORMER.items():
        with suppress(OSError):
            _remove_former(folder / former, files)
    return open_cache(folder / name)


_NAMED = r"[0-9a-f]{16,24}\.[a-z]+"
_FORMER = {
    **dict.fromkeys(("parsed", "history", "versions", "manifests"), re.compile(_NAMED)),
    "search": re.compile(r"seal\.json|state\.json|lock|_?MAIN_[\w.]+"),
}
"""The folders in a cache of versions without audiences, with the names of the files that these wrote."""


def _remove_former(folder: Path, files: re.Pattern[str]) -> None:
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if files.fullmatch(entry.name)]
    for name in names:
        (folder / name).unlink()
    folder.rmdir()


INDEX_FOLDER = "search"
"""The folder of the search index in a part of the cache."""

PARTIAL_INDEX_FOLDER = "search.partial"
"""The folder in which the next search index is made."""


def has_folder(part: Path, name: str) -> bool:
    """Whether a part of the cache has a folder."""
    return (part / name).is_dir()


def refuse_link(path: Path) -> None:
    """Raise `OutputError` if a link is in the place of a file or folder of ours."""
    if path.is_symlink():
        message = f"{path}: found a symbolic link, expected what memosite wrote into its cache"
        raise OutputError(f"{message}; remove the link, or name another folder with --cache")


def read_whole(file: Path) -> bytes | None:
    """Read a file of the cache; None if it is missing or unreadable."""
    try:
        with open_file(file) as stream:
            return stream.read()
    except OSError:
        return None


def write_whole(file: Path, data: bytes) -> None:
    """Write a file of the cache atomically; if that fails, it is made again next time.

    The old file is then removed, too: it would be from an earlier build than the last one. Raises `OutputError`
    if its folder is a link.
    """
    refuse_link(file.parent)
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.unlink(missing_ok=True)  # left by a killed build with our process id, or planted
        try:
            with open_new(partial) as stream:
                stream.write(data)
            partial.replace(file)
        except OSError:
            file.unlink(missing_ok=True)
        finally:
            partial.unlink(missing_ok=True)
