"""The cache folder: it may have come with a cloned repo, so nothing in it leads anywhere else."""

import os
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.facts.errors import OutputError
from memosite.store.cache import open_cache, write_whole
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import tree_bytes


def test_a_cache_keeps_itself_out_of_git(tmp_path: Path) -> None:
    """With a .gitignore, which may be there already and is then left alone."""
    cache = tmp_path / "a/cache"
    assert open_cache(cache) == cache
    assert (cache / ".gitignore").read_text() == "*\n"
    (cache / ".gitignore").write_text("own\n")
    assert open_cache(cache) == cache
    assert (cache / ".gitignore").read_text() == "own\n"


def test_a_cache_that_cannot_be_made_is_none(tmp_path: Path) -> None:
    """A file is in its way."""
    (tmp_path / "cache").write_text("")
    assert open_cache(tmp_path / "cache") is None


PLANTED = {
    "a .gitignore that leads nowhere yet": (".gitignore", "new"),
    "a .gitignore that leads to a file": (".gitignore", "precious"),
    "a folder": ("history", ""),
    "a folder that is not there yet": ("search", "new"),
    "the lock": ("lock", "new"),
    "the cache itself": ("", ""),
}
"""Where in the cache a link lies, and where in another folder it leads."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A repo with a memo, and an empty cache in it, as it may come with a clone."""
    repo = Repo(tmp_path / "site")
    write_memo(repo.root / "memos/inbox", "one")
    repo.commit()
    (repo.root / ".memosite").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/precious").write_text("text")
    return repo.root


@pytest.mark.parametrize("command", [["build"], ["search", "text", "--site"], ["check"]])
@pytest.mark.parametrize("link", PLANTED)
def test_a_planted_link_is_refused(
    link: str, command: list[str], site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By every command, with an error that names it; what it leads to stays as it is."""
    elsewhere = site.parent / "elsewhere"
    place, target = PLANTED[link]
    if not place:
        (site / ".memosite").rmdir()
    (site / ".memosite" / place).symlink_to(elsewhere / target)
    before = tree_bytes(elsewhere)
    assert main([*command, str(site)]) == 2
    assert "symbolic link" in capsys.readouterr().err
    assert tree_bytes(elsewhere) == before


def test_a_planted_partial_file_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    """Whatever link lies where a file of the cache is written first."""
    cache = tmp_path / "cache"
    (cache / "history").mkdir(parents=True)
    precious = tmp_path / "precious"
    precious.write_text("text")
    for name in (".one.json.partial", f".one.json.{os.getpid()}.partial", "one.json"):
        (cache / "history" / name).symlink_to(precious)
    write_whole(cache / "history/one.json", b"{}")
    assert precious.read_text() == "text"
    assert (cache / "history/one.json").read_bytes() == b"{}"
    assert not (cache / "history/one.json").is_symlink()


def test_a_file_is_not_written_through_a_linked_folder(tmp_path: Path) -> None:
    """Even if the link came after the cache was opened."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/history").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="symbolic link"):
        write_whole(tmp_path / "cache/history/one.json", b"{}")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_file_that_cannot_be_written_is_made_again_next_time(tmp_path: Path) -> None:
    """A folder in its place is no error."""
    (tmp_path / "one.json").mkdir()
    (tmp_path / "one.json/file").write_text("")
    write_whole(tmp_path / "one.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["one.json"]
