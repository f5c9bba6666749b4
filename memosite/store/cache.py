"""[I/O] The cache folder: what can be made again, kept out of git; the key that signs it, the digest of the program.

It is in the site folder, which may be a clone of an untrusted repo. A link in it would redirect writes and removals,
and is refused (SPEC 9). What is unpickled, and what lists files to remove, is signed (`store/state.py`) with a key that
is in the user's state folder and in no repo. What another version of memosite made does not count: it is known by the
digest of the program.
"""

import hashlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import memosite
from memosite.facts.errors import OutputError, StateError
from memosite.facts.patterns import regex
from memosite.store.safe_files import open_file, open_new
from memosite.store.values import digest_of


def open_cache(folder: Path) -> Path | None:
    """Make the cache folder ready, with a .gitignore that keeps it out of git; None where it cannot be written.

    Nobody else of this machine may look into what we make: it has texts, also those that are not published. Raises
    `OutputError` if it contains a link.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
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

    What earlier versions wrote is removed: beside the parts, where it was not screened for secrets, and in them, where
    `state.sqlite` has taken its place. Raises `OutputError` if either contains a link.
    """
    if open_cache(folder) is None:
        return None
    _remove_former(folder, {**_FORMER, INDEX_FOLDER: _FORMER_INDEX})
    part = open_own(folder / name)
    if part is not None:
        remove_former(part)
    return part


def remove_former(place: Path) -> None:
    """Remove what earlier versions wrote into a folder that now has `state.sqlite`."""
    _remove_former(place, _FORMER)


def open_own(folder: Path) -> Path | None:
    """The same for a folder within the cache, which is closed to others also where it was made otherwise."""
    found = open_cache(folder)
    with suppress(OSError):
        if found and stat.S_IMODE(found.stat().st_mode) & 0o077:
            found.chmod(0o700)
    return found


_FORMER = dict.fromkeys(
    ("parsed", "history", "versions", "manifests", "scans", "templates", "analyses"),
    regex(r"([0-9a-f]{16,24}(-[0-9a-z])?|[a-z]+\d*)(\.[a-z]+)+"),
)
"""The folders of earlier versions, with the names of the files that these wrote."""


_FORMER_INDEX = regex(r"seal\.json|state\.json|lock|_?MAIN_[\w.]+")


_FORMER_FILES = regex(r"archive\.(sqlite|seal|new-[0-9a-f]+)|(quotes|names)\.index|shared\.cache")


def _remove_former(place: Path, folders: Mapping[str, re.Pattern[str]]) -> None:
    with suppress(OSError):
        for path in sorted(place.iterdir()):
            if path.name in folders:
                _remove_folder(path, folders[path.name])
            elif _FORMER_FILES.fullmatch(path.name):
                path.unlink()


def _remove_folder(folder: Path, files: re.Pattern[str]) -> None:
    """Remove these files, and the folder if nothing else is in it."""
    with suppress(OSError):
        for path in list(folder.iterdir()):
            if files.fullmatch(path.name):
                path.unlink()
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


# The key of a user, by which memosite trusts only what it wrote itself.


KEY_BYTES = 32


def state_home() -> Path:
    """The folder of memosite's state for this user (XDG base directories, where only absolute paths count).

    Raises `StateError` for a user without a home.
    """
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        return (named if named.is_absolute() else Path("~/.local/state").expanduser()) / "memosite"
    except RuntimeError as error:
        raise StateError(
            "this user has no home folder; name a folder for what is remembered in XDG_STATE_HOME"
        ) from error


def own_key() -> bytes | None:
    """The key of this user, made when it is first asked for; None where it can be neither read nor kept.

    A damaged one is replaced, which invalidates all signatures. If two processes make one at the same time, the later
    one wins.
    """
    with suppress(OSError, StateError):
        file = state_home() / "key"
        found = _read_key(file)
        if found is None:
            _make_key(file)
            found = _read_key(file)
        return found
    return None


def _read_key(file: Path) -> bytes | None:
    found = read_whole(file)
    return found if found is not None and len(found) == KEY_BYTES else None


def _make_key(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # else who may write there puts a key of their own
    partial = file.with_name(f".key.{secrets.token_hex(8)}")
    try:
        with open_new(partial, mode=0o600) as stream:
            stream.write(secrets.token_bytes(KEY_BYTES))
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


# Digests memosite's own code, so that pages made by another version of it are made again.


PACKAGE = Path(memosite.__file__).parent
"""The program: what any module wrote into a cache depends on all of it."""


_WRITERS = {
    "jinja2": "jinja2",
    "kingfisher-secret-scanner": "kingfisher_sdk",
    "lxml": "lxml",
    "markdown-it-py": "markdown_it",
    "markupsafe": "markupsafe",
    "mdit-py-plugins": "mdit_py_plugins",
    "msgspec": "msgspec",
    "pygments": "pygments",
    "pyromark": "pyromark",
    "pyyaml": "yaml",
    "whoosh-reloaded": "whoosh",
}
"""What is written, found or remembered depends on these libraries: each with its package."""


@lru_cache(maxsize=1)
def program_digest() -> str:
    """The digest of the program: memosite's modules by path, size and time, Python by version.

    A library counts by its first file, which an upgrade writes anew: asking for versions is a tenth of a command.
    """
    found = [(name, file.stat()) for name, file in _modules()]
    states = [(name, state.st_size, state.st_mtime_ns) for name, state in found]
    return digest_of((states, tuple(sys.version_info), [first_file(library) for library in _WRITERS.values()]))


def first_file(library: str) -> tuple[str, int, int]:
    """The file of a package that is imported first, without importing it: path, size and time in nanoseconds."""
    spec = find_spec(library)
    if spec is not None and spec.origin:
        with suppress(OSError):
            state = Path(spec.origin).stat()
            return spec.origin, state.st_size, state.st_mtime_ns
    return "", 0, 0


@lru_cache(maxsize=1)
def portable_digest(*others: str) -> str:
    """As `program_digest`, plus these other libraries, with modules by content: file times differ between machines."""
    contents = [(name, hashlib.sha256(file.read_bytes()).digest()) for name, file in _modules()]
    from importlib.metadata import version  # noqa: PLC0415 - takes a tenth of a command, and only a cluster asks

    return digest_of((contents, tuple(sys.version_info), [version(name) for name in (*_WRITERS, *others)]))


def _modules() -> list[tuple[str, Path]]:
    """The modules, and the rules for secrets, by their paths in the package."""
    files = (file for file in PACKAGE.rglob("*") if file.suffix in {".py", ".yml"})
    return sorted((file.relative_to(PACKAGE).as_posix(), file) for file in files)
