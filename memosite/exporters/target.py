"""[I/O] Writes an export to a stream or a file; a file appears only once it is complete."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from memosite.facts.errors import OutputError
from memosite.store.safe_files import open_over

Target = Path | BinaryIO
"""A file, a folder (maildir), or a stream of bytes such as standard output."""


def write_chunks(target: Target, chunks: Iterable[bytes]) -> None:
    """Write the chunks to a stream, or to a file that replaces the one of its name when all are written.

    A device or a pipe (`/dev/stdout`) is written to, never replaced; a symbolic link to a file stays one. Raises
    `OutputError` if a path cannot be written; errors of a stream are the caller's.
    """
    if not isinstance(target, Path):
        target.writelines(chunks)
        return
    try:
        path = target.resolve()
        mode = path.stat().st_mode if path.exists() else stat.S_IFREG
        if stat.S_ISDIR(mode):
            raise OutputError(f"{target}: found a folder, expected the name of a file")
        if stat.S_ISREG(mode):
            _replace(path, chunks)
        else:
            with path.open("wb") as stream:
                stream.writelines(chunks)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"{target}: cannot be written ({reason})") from error


def _replace(path: Path, chunks: Iterable[bytes]) -> None:
    # Beside the target, so that the last step is a rename; named for the process, so that two do not share it.
    temporary = path.with_name(f".memosite-{os.getpid()}.tmp")
    try:
        with os.fdopen(open_over(temporary), "wb") as stream:
            stream.writelines(chunks)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
