"""[I/O] Writes an export to a stream, a file or a maildir; it appears only once it is complete.

Unread messages are in `new/`, the rest in `cur/` with the flags S (seen), F (its action is open) and R (answered).
Names are made of the order of arrival and the artifact's identity, so a message always keeps its name. A folder
that memosite wrote is brought up to date file by file: each appears complete; messages no longer exported are removed.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from memosite.archive.model import Artifact
from memosite.exporters.mail import Composer, Export, is_answered, is_flagged, is_unread
from memosite.facts.errors import ConfigError, OutputError
from memosite.store.safe_files import open_over

# Writes an export to a stream or a file; a file appears only once it is complete.


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


# Exports a maildir: a folder with a file for each message, which mail readers open directly.


MARKER = ".memosite-maildir"
"""The file that says memosite made the folder and may replace what it wrote there."""


_MARKER_TEXT = b"memosite exports to this maildir; the next export replaces the messages of this one.\n"


_FOLDERS = ("tmp", "new", "cur")


_OURS = re.compile(r"\d{10,}\.[0-9a-f]{16}\.memosite(?::2,[A-Z]*)?", re.ASCII)


_LATEST = 2**31 - 1


def write_maildir(job: Export, target: Target) -> None:
    """Write one file for each artifact, and remove those of an earlier export that are not among them.

    Raises `ConfigError` for a stream, `OutputError` for a folder that is not memosite's maildir.
    """
    if not isinstance(target, Path):
        raise ConfigError("--format maildir: found no folder to write, expected one; name it with -o")
    try:
        _prepare(target)
        _prune(target, keep=_deliver_all(job, target))
    except OSError as error:
        raise OutputError(f"{target}: cannot be written ({error.strerror})") from error


def _prepare(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise OutputError(f"{root}: found a file, expected a folder for the maildir")
    root.mkdir(exist_ok=True)
    names = {path.name for path in root.iterdir()}
    if names and MARKER not in names:
        raise OutputError(f"{root}: found a folder that is not empty and not memosite's; name a new or an empty one")
    if any((root / name).is_symlink() for name in (MARKER, *_FOLDERS)):
        raise OutputError(f"{root}: found symbolic links in memosite's maildir, expected folders; remove them")
    with os.fdopen(open_over(root / MARKER), "wb") as stream:
        stream.write(_MARKER_TEXT)
    for name in _FOLDERS:
        (root / name).mkdir(exist_ok=True)


def _deliver_all(job: Export, root: Path) -> set[str]:
    """Write every message, first into `tmp/`; the names of all, below the folder."""
    composer = Composer(job)
    delivered = set()
    for artifact in job.artifacts():
        name = file_name(artifact)
        temporary = root / "tmp" / name.rpartition("/")[2]
        with os.fdopen(open_over(temporary), "wb") as stream:
            stream.write(composer.compose(artifact))
        # Some readers show a file's time as the date of delivery; it must not be that of the export.
        seconds = min(max(int(artifact.date.instant.timestamp()), 0), _LATEST) if artifact.date else 0
        os.utime(temporary, (seconds, seconds))
        temporary.replace(root / name)
        delivered.add(name)
    return delivered


def _prune(root: Path, *, keep: set[str]) -> None:
    """Remove messages of earlier exports; other files in the maildir stay."""
    for folder in _FOLDERS:
        for path in sorted((root / folder).iterdir()):
            if _OURS.fullmatch(path.name) and f"{folder}/{path.name}" not in keep:
                path.unlink()


def file_name(artifact: Artifact) -> str:
    """The path of an artifact's message in the maildir: `new/…`, or `cur/…` with its flags in order."""
    identity = hashlib.sha256("/".join(artifact.ref).encode("utf-8")).hexdigest()[:16]
    name = f"{artifact.arrival:010d}.{identity}.memosite"
    if is_unread(artifact):
        return f"new/{name}"
    flags = ("F" if is_flagged(artifact) else "") + ("R" if is_answered(artifact) else "") + "S"
    return f"cur/{name}:2,{flags}"
