"""[I/O] The cache folder: what costs only time to lose, kept out of git.

It lies in the site folder, so it may have come with a cloned repo: a link in it would lead writing and removing to
somewhere else, and is refused (SPEC 9).
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from memosite.facts.errors import OutputError


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
            _write_new(ignore, b"*\n")
    except OSError:
        return None
    return folder


def refuse_link(path: Path) -> None:
    """Raise `OutputError` if a link lies where a file or folder of ours belongs."""
    if path.is_symlink():
        message = f"{path}: found a symbolic link, expected what memosite wrote into its cache"
        raise OutputError(f"{message}; remove the link, or name another folder with --cache")


def read_whole(file: Path) -> bytes | None:
    """A file of the cache; None if there is none that can be read. Links are not followed, pipes not waited for."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            return stream.read() if stat.S_ISREG(os.fstat(handle).st_mode) else None
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
            _write_new(partial, data)
            partial.replace(file)
        except OSError:
            file.unlink(missing_ok=True)
        finally:
            partial.unlink(missing_ok=True)


def _write_new(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as stream:
        stream.write(data)
