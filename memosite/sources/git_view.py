"""[I/O] Makes a private git folder for reading a repo: git sees its objects, and nothing else of it.

    HEAD, refs, packed-refs, shallow ─► checked, bounded, copied ─┐
    the two settings that say how objects and refs are stored ────┼─► a folder of our own ◄── git
    objects ─► checked: no links, no pipes ───────────────────────┘

So a repo's configuration, what that includes, its hooks, attributes and anything that a newer git may read there
cannot run a program, lead out of the source or be waited for (SPEC 2.3). Only `fetch` into our own cache and
`mark-read` let git write to a repo itself.
"""

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from memosite.store.safe_files import NotAFileError, beginning_of, open_file

LINE_BYTES = 4096
"""The most that is read of a file that should hold one line, such as HEAD."""

CONFIG_BYTES = 1 << 20
"""The largest configuration of a repo that is read."""

REFS_BYTES = 1 << 26
"""The largest `packed-refs` and `shallow` that are read."""

REFS_LIMIT = 100_000
"""How many refs that are files of their own are read."""

OBJECTS_LIMIT = 4_000_000
"""How many files a repo may keep its objects in."""

_DEPTH = 8
"""How many folders deep refs are."""

_NAME = re.compile(rb"refs/[^\x00-\x20\x7f~^:?*\[\\]+")
_NO_NAME = re.compile(rb"\.\.|@\{|//|/\.|\.lock$|\.lock/|[/.]$")
_HASH = re.compile(rb"(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])")
_PACKED = re.compile(rb"(?m)^([0-9a-f]{40}|[0-9a-f]{64}) (refs/[^\n]+)$")
_FORMAT = re.compile(r"(?im)^\s*objectformat\s*=\s*\"?(sha1|sha256)\"?\s*$")
_REFTABLE = re.compile(r"(?im)^\s*refstorage\s*=\s*\"?reftable\"?\s*$")


class UnreadableRepoError(Exception):
    """A repo that git is not asked about; the text says why, for pages too."""


def common_folder(git_dir: Path) -> Path:
    """The folder of refs, objects and configuration: of a further work tree it is that of the first one."""
    shared = line_of(git_dir / "commondir")
    return Path(os.path.normpath(git_dir / shared)) if shared else git_dir


def line_of(file: Path) -> str:
    """The first line of a file in a git folder, such as HEAD; "" if it cannot be read, or is no regular file."""
    begun = (beginning_of(file, LINE_BYTES) or b"").strip()
    return begun.partition(b"\n")[0].decode("utf-8", "surrogateescape").strip()


class View:
    """A private git folder for one repo. It is made when it is first needed; close it."""

    def __init__(self, git_dir: Path) -> None:
        """The repo's git folder is only read."""
        self._git_dir = git_dir
        self._made: tempfile.TemporaryDirectory[str] | None = None

    @cached_property
    def folder(self) -> Path:
        """The folder. Raises `UnreadableRepoError`, and `OSError` if it cannot be written."""
        common = common_folder(self._git_dir)
        _check_objects(self.objects)
        head = _head(self._git_dir / "HEAD")
        config = read_config(self._git_dir).decode("utf-8", "replace")
        refs, links = _refs(common)
        shallow = _whole(common / "shallow", REFS_BYTES)
        self._made = tempfile.TemporaryDirectory(prefix="memosite-")
        folder = Path(self._made.name)
        (folder / "objects/info").mkdir(parents=True)
        (folder / "objects/info/alternates").write_bytes(_quoted(self.objects))
        (folder / "refs").mkdir()
        (folder / "HEAD").write_bytes(head)
        (folder / "config").write_text(_config(config))
        (folder / "packed-refs").write_bytes(b"".join(b"%s %s\n" % (refs[name], name) for name in sorted(refs)))
        for name, target in links.items():
            place = folder / os.fsdecode(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(target)
        if shallow is not None:
            (folder / "shallow").write_bytes(shallow)
        if _REFTABLE.search(config):
            _copy(common / "reftable", folder / "reftable")
        return folder

    @property
    def objects(self) -> Path:
        """The folder of the repo's objects, which git reads where it is."""
        return common_folder(self._git_dir) / "objects"

    def close(self) -> None:
        """Remove the folder."""
        if self._made is not None:
            self._made.cleanup()
            self._made = None
            self.__dict__.pop("folder", None)


def read_config(git_dir: Path) -> bytes:
    """The bytes of a repo's configuration, b"" if there is none. Raises `UnreadableRepoError`."""
    return _whole(common_folder(git_dir) / "config", CONFIG_BYTES) or b""


def _quoted(path: Path) -> bytes:
    """A path as a line of `alternates`, in quotes as of C."""
    written = os.fsencode(path)
    for character, escape in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        written = written.replace(character, escape)
    return b'"%s"\n' % written


def _config(written: str) -> str:
    """The configuration of a view: how objects and refs are stored, and nothing else."""
    kind = _FORMAT.search(written)
    is_plain = (kind is None or kind[1].lower() == "sha1") and not _REFTABLE.search(written)
    lines = ["[core]", f"\trepositoryformatversion = {0 if is_plain else 1}"]
    if not is_plain:
        lines.append("[extensions]")
    if kind is not None and kind[1].lower() == "sha256":
        lines.append("\tobjectformat = sha256")
    if _REFTABLE.search(written):
        lines.append("\trefstorage = reftable")
    return "\n".join([*lines, ""])


def _head(file: Path) -> bytes:
    """What HEAD says. As a link, which old versions of git wrote, it is not followed but read."""
    if file.is_symlink():
        target = os.fsencode(file.readlink())
        if not _is_name(target):
            raise UnreadableRepoError("its HEAD is a link to something else than a ref")
        return b"ref: %s\n" % target
    written = _whole(file, LINE_BYTES)
    if written is None:
        raise UnreadableRepoError("it has no HEAD")
    return written


def _is_name(name: bytes) -> bool:
    return _NAME.fullmatch(name) is not None and _NO_NAME.search(name) is None


def _refs(common: Path) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """All refs that lead to an object, by name, and those that lead to other refs, as they are written."""
    packed = _whole(common / "packed-refs", REFS_BYTES) or b""
    refs = {name: found for found, name in _PACKED.findall(packed) if _is_name(name)}
    links: dict[bytes, bytes] = {}
    for number, (name, file) in enumerate(_loose(common / "refs", b"refs", _DEPTH)):
        if number >= REFS_LIMIT:
            raise UnreadableRepoError(f"it has more than {REFS_LIMIT:,} refs that are files of their own")
        if not _is_name(name):
            continue
        written = (_whole(file, LINE_BYTES) or b"").strip()
        found = _HASH.match(written)
        if found is not None:
            refs[name] = found[0]
        elif written.startswith(b"ref:") and _is_name(written[4:].strip()):
            links[name] = written + b"\n"
            refs.pop(name, None)
    return refs, links


def _loose(folder: Path, name: bytes, depth: int) -> Iterator[tuple[bytes, Path]]:
    """The files below a folder of refs, by the name of the ref. Anything else there is refused."""
    with _listed(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        below = b"%s/%s" % (name, os.fsencode(entry.name))
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _loose(Path(entry.path), below, depth - 1)
        else:
            _refuse_special(entry, "refs")
            yield below, Path(entry.path)


def _check_objects(objects: Path) -> None:
    """Refuse objects that are links or pipes, or borrowed: they lead out of the source, or are waited for."""
    if os.path.lexists(objects / "info/alternates"):
        raise UnreadableRepoError("its .git borrows objects of another repo (objects/info/alternates)")
    waiting, seen = [objects], 0
    while waiting:
        with _listed(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                else:
                    _refuse_special(entry, "objects")
        if seen > OBJECTS_LIMIT:
            raise UnreadableRepoError(f"its objects are in more than {OBJECTS_LIMIT:,} files")


def _refuse_special(entry: "os.DirEntry[str]", what: str) -> None:
    if entry.is_symlink():
        raise UnreadableRepoError(f"its {what} hold symbolic links, which are not followed")
    if not entry.is_file(follow_symlinks=False):
        raise UnreadableRepoError(f"its {what} hold something that is not a regular file, such as a pipe")


@contextmanager
def _listed(folder: Path) -> "Iterator[Iterator[os.DirEntry[str]]]":
    """The entries of a folder that is no link. Raises `UnreadableRepoError` if it cannot be listed."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise UnreadableRepoError(f"its {folder.name} is not its own folder")
        entries = os.scandir(folder)
    except OSError as error:
        raise UnreadableRepoError(f"its {folder.name} cannot be listed ({error.strerror})") from error
    with entries:
        yield entries


def _whole(file: Path, limit: int) -> bytes | None:
    """The bytes of a regular file, None if there is none. Raises `UnreadableRepoError` for a link or pipe."""
    try:
        with open_file(file) as stream:
            parts = []
            left = limit
            while left >= 0 and (part := stream.read(left + 1)):
                parts.append(part)
                left -= len(part)
    except FileNotFoundError:
        return None
    except NotAFileError as error:
        raise UnreadableRepoError(f"its {file.name} is not a regular file") from error
    except OSError as error:
        said = "is a symbolic link" if file.is_symlink() else f"cannot be read ({error.strerror})"
        raise UnreadableRepoError(f"its {file.name} {said}") from error
    if left < 0:
        raise UnreadableRepoError(f"its {file.name} has more than {limit:,} bytes")
    return b"".join(parts)


def _copy(folder: Path, into: Path) -> None:
    """Copy the files of a folder, as many bytes at most as refs may have."""
    into.mkdir()
    left = REFS_BYTES
    with _listed(folder) as entries:
        for entry in entries:
            _refuse_special(entry, "refs")
            data = _whole(Path(entry.path), left) or b""
            left -= len(data)
            (into / entry.name).write_bytes(data)
