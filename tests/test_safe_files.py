"""Files that somebody else may have put there: no link is followed, no pipe waited for."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memosite.store.safe_files import NotAFileError, beginning_of, open_file, open_lock, open_new, open_over


def open_handles() -> int:
    """How many files this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A pipe would never answer, a link may lead anywhere; nothing stays open."""
    file, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    file.write_bytes(b"a letter")
    link.symlink_to(file)
    os.mkfifo(pipe)
    before = open_handles()
    with open_file(file) as stream:
        assert stream.read() == b"a letter"
    for other in (pipe, tmp_path):
        with pytest.raises(NotAFileError):
            open_file(other)
    with pytest.raises(OSError, match="symbolic links"):
        open_file(link)
    assert open_handles() == before


def test_the_beginning_of_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    """No more than the limit is read, and no name is an error."""
    (tmp_path / "file").write_bytes(b"a letter")
    assert beginning_of(tmp_path / "file", 3) == b"a l"
    assert beginning_of(tmp_path / "file", 100) == b"a letter"
    assert beginning_of(tmp_path, 3) is None
    assert beginning_of(tmp_path / "nowhere", 3) is None
    assert beginning_of(f"{tmp_path}/\0", 3) is None


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """Whoever puts a link where a file is to be written does not choose what is overwritten."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"kept")
    link.symlink_to(target)
    openings: tuple[Callable[[Path], object], ...] = (open_new, open_over, open_lock)
    for opening in openings:
        with pytest.raises(OSError, match=r"symbolic links|File exists"):
            opening(link)
    assert target.read_bytes() == b"kept"


def test_a_new_file_is_only_made_where_there_is_none(tmp_path: Path) -> None:
    """It has the mode asked for; writing over begins anew."""
    with open_new(tmp_path / "key", mode=0o600) as stream:
        stream.write(b"secret")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        open_new(tmp_path / "key")
    with os.fdopen(open_over(tmp_path / "key"), "wb") as stream:
        stream.write(b"open")
    assert (tmp_path / "key").read_bytes() == b"open"
