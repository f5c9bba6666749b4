"""[I/O] The cache folder: what costs only time to lose, kept out of git.

It lies in the site folder, so it may have come with a cloned repo: a link in it would lead writing and removing to
somewhere else, and is refused (SPEC 9).
"""

import os
from contextlib import suppress
from pathlib import Path

from memosite.facts.errors import OutputError
from memosite.store.safe_files import open_file, open_new


def open_cache(folder: Path) -> Path | None:
    """Make the cache folder ready, with a .gitignore that keeps it out of git; None where it cannot be written.

    Raises `OutputError` if a link lies in it.
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


def refuse_link(path: Path) -> None:
    """Raise `OutputError` if a link lies where a file or folder of ours belongs."""
    if path.is_symlink():
        message = f"{path}: found a symbolic link, expected what memosite wrote into its cache"
        raise OutputError(f"{message}; remove the link, or name another folder with --cache")


def read_whole(file: Path) -> bytes | None:
    """A file of the cache; None if there is none that can be read."""
    try:
        with open_file(file) as stream:
            return stream.read()
    except OSError:
        return None


def write_whole(file: Path, data: bytes) -> None:
    """Write a file of the cache, whole or not at all; if it cannot be written, it is made again next time.

    What lay there before is then gone, too: it would tell of an earlier build than the last one. Raises `OutputError`
    if its folder is a link.
    """
    refuse_link(file.parent)
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.unlink(missing_ok=True)  # a build that was killed had our number, or somebody planted it
        try:
            with open_new(partial) as stream:
                stream.write(data)
            partial.replace(file)
        except OSError:
            file.unlink(missing_ok=True)
        finally:
            partial.unlink(missing_ok=True)
