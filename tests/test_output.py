"""What is written: the output folder, the cache, and files that somebody else may have put there."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.facts.errors import OutputError
from memosite.facts.layout import SITE_MARKER
from memosite.store.cache import open_cache, write_whole
from memosite.store.output import OutputFolder
from memosite.store.safe_files import NotAFileError, beginning_of, open_file, open_lock, open_new, open_over
from tests.support.commands import command_line
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import tree_bytes

# The output folder: atomic, its own, and nothing left over


def written(root: Path, files: dict[str, bytes], known: Iterable[str] | None = None) -> OutputFolder:
    """An output folder with these files in it, finished; `known` is what was in it before, if that is known."""
    output = OutputFolder(root)
    output.open()
    for path, data in files.items():
        output.write(path, data)
    output.prune(known)
    output.leave()
    output.unlock()
    return output


def test_a_folder_that_was_empty_is_not_searched_for_what_is_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100,000 artifacts that took minutes, and there can be nothing."""
    with monkeypatch.context() as patched:
        patched.setattr("memosite.store.output.os.walk", None)
        written(tmp_path / "site", {"memos/first/index.html": b"<p>"})
    written(tmp_path / "site", {"memos/second/index.html": b"<p>"})
    assert not (tmp_path / "site/memos/first").exists()


def test_what_is_not_made_any_more_is_removed_with_its_folder_and_nothing_else(tmp_path: Path) -> None:
    """Only below memosite's own folders: a CNAME beside them stays, and so does a file of somebody in them."""
    root = tmp_path / "site"
    written(root, {"memos/a/index.html": b"a", "memos/b/index.html": b"b"})
    (root / "CNAME").write_text("archive.example.org")
    output = written(root, {"memos/a/index.html": b"a"})
    assert tree_bytes(root).keys() == {".gitignore", ".memosite-site", "CNAME", "memos/a/index.html"}
    assert not (root / "memos/b").exists()
    assert (output.written, output.unchanged, output.removed) == (0, 3, 1)
    tmp_path /= "two"
    root = tmp_path / "site"
    for known in (None, ["libraries/forms/index.html"]):
        written(root, {"libraries/forms/index.html": b"a", "index.html": b"b"})
        written(root, {"index.html": b"b"}, known)
        assert not (root / "libraries").exists()
    written(root, {"libraries/forms/index.html": b"a"})
    (root / "libraries/letter.txt").write_text("mine")
    written(root, {"index.html": b"b"})
    assert [path.name for path in (root / "libraries").iterdir()] == ["letter.txt"]


def test_a_folder_of_somebody_else_is_refused_and_one_path_is_written_once(tmp_path: Path) -> None:
    """Not empty and without the marker, or a file; two pages of one address are told, and stop nothing."""
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(OutputError, match="not made by memosite"):
        OutputFolder(tmp_path).open()
    with pytest.raises(OutputError, match=r"letter\.txt"):
        OutputFolder(tmp_path / "letter.txt").open()
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    output = OutputFolder(tmp_path / "site")
    output.open()
    output.write("a", b"1")
    output.write("a", b"2")
    output.prune()
    output.leave()
    output.unlock()
    assert output.collisions == ["a"]
    assert (tmp_path / "site/a").read_bytes() == b"1"


def test_a_link_and_a_pipe_in_the_output_are_replaced_and_nothing_removed_behind_a_link(tmp_path: Path) -> None:
    """Nothing outside is ever written, no pipe waited for; a folder that became a link is not ours."""
    root, outside = tmp_path / "site", tmp_path / "outside.txt"
    outside.write_text("mine")
    files = {"index.html": b"mine", "archive/2026/05.jsonl": b""}
    written(root, files)
    for path in files:
        (root / path).unlink()
    (root / "index.html").symlink_to(outside)
    os.mkfifo(root / "archive/2026/05.jsonl")
    written(root, files)
    assert not (root / "index.html").is_symlink()
    assert outside.read_text() == "mine"
    assert (root / "archive/2026/05.jsonl").is_file()
    tmp_path /= "two"
    root, mine = tmp_path / "site", tmp_path / "mine"
    written(root, {"memos/a/index.html": b"1", "index.html": b"1"})
    mine.mkdir()
    (mine / "index.html").write_text("mine")
    (root / "memos/a/index.html").unlink()
    (root / "memos/a").rmdir()
    (root / "memos/a").symlink_to(mine)
    written(root, {}, ["memos/a/index.html"])
    assert (mine / "index.html").read_text() == "mine"


def test_what_somebody_puts_into_a_new_site_leads_nowhere_and_files_may_become_folders(tmp_path: Path) -> None:
    """A folder that this build has not made is looked at; what an earlier one left in the way goes."""
    root, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    output = OutputFolder(root)
    output.open()
    output.write("memos/a/index.html", b"a")
    (root / "memos/b").symlink_to(elsewhere)
    (root / "threads").symlink_to(elsewhere)
    (root / "memos/d").mkdir()
    (root / "memos/d/index.html").write_bytes(b"d")
    for path in ("memos/b/index.html", "threads/t/index.html", "memos/c", "memos/c/index.html", "memos/d/index.html"):
        output.write(path, path[6:7].encode())
    output.leave()
    output.unlock()
    assert not [*elsewhere.iterdir()]
    assert (output.written, output.unchanged) == (7, 1)
    assert tree_bytes(root / "memos") == {f"{name}/index.html": name.encode() for name in "abcd"}
    tmp_path /= "two"
    root = tmp_path / "site"
    for files in ({"static/a": b"1"}, {"static/a/b": b"2"}, {"static/a": b"3"}):
        written(root, files)
        assert {path: data for path, data in tree_bytes(root).items() if path.startswith("static/")} == files


def test_a_killed_build_leaves_whole_files_and_the_next_one_completes_it(tmp_path: Path) -> None:
    """Killed at many moments: every file there is one of a finished build, and the next build ends equal to it."""
    repo = tmp_path / "repo"
    for number in range(20):
        write_memo(repo / "memos/inbox", f"2026-05-01-{number:04d}--engineer--director--memo-{number}", to="director")
    command = command_line("build", repo, "--quiet", "--jobs", 1, "-o")
    assert main([*command[3:], str(tmp_path / "whole")]) == 0
    whole = tree_bytes(tmp_path / "whole")
    killed = 0
    for step in range(3):
        target = tmp_path / f"killed-{step}"
        process = subprocess.Popen([*command, str(target)], stderr=subprocess.DEVNULL)
        wanted = step * len(whole) // 3 + 1
        while process.poll() is None and count_files(target) < wanted:
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        there = {path: data for path, data in tree_bytes(target).items() if not path.startswith(".memosite-unfinished")}
        assert all(whole[path] == data for path, data in there.items())
        assert main([*command[3:], str(target)]) == 0 and tree_bytes(target) == whole
    assert killed > 1
    assert (tmp_path / "whole" / SITE_MARKER).exists()


def count_files(folder: Path) -> int:
    """How many files are below a folder now."""
    return sum(len(files) for _, _, files in os.walk(folder))


# The cache folder: it may have come with a cloned repo, so nothing in it leads anywhere else


PLANTED = {
    "a .gitignore that leads nowhere yet": (".gitignore", "new"),
    "a .gitignore that leads to a file": (".gitignore", "precious"),
    "a folder": ("history", ""),
    "a folder that is not there yet": ("search", "new"),
    "the lock": ("lock", "new"),
    "the cache itself": ("", ""),
}
"""Where in the cache a link lies, and where in another folder it leads."""


@pytest.mark.parametrize("link", PLANTED)
def test_a_planted_link_is_refused(link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By every command, with an error that names it; what it leads to stays as it is."""
    repo = Repo(tmp_path / "site")
    write_memo(repo.root / "memos/inbox", "one")
    repo.commit()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("text")
    before = tree_bytes(elsewhere)
    place, target = PLANTED[link]
    if place:
        (repo.root / ".memosite").mkdir()
    (repo.root / ".memosite" / place).symlink_to(elsewhere / target)
    for command in (["build"], ["search", "text", "--site"], ["check"]):
        assert main([*command, str(repo.root)]) == 2
        assert "symbolic link" in capsys.readouterr().err
        assert tree_bytes(elsewhere) == before


def test_a_cache_keeps_out_of_git_and_is_not_written_through_a_link(tmp_path: Path) -> None:
    """A .gitignore that is there stays; a folder in a file's place is no error, nor is a cache that cannot be made."""
    (tmp_path / "one.json").mkdir()
    (tmp_path / "one.json/file").write_text("")
    write_whole(tmp_path / "one.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["one.json"]
    cache = tmp_path / "a/cache"
    assert open_cache(cache) == cache and (cache / ".gitignore").read_text() == "*\n"
    (cache / ".gitignore").write_text("own\n")
    assert open_cache(cache) == cache and (cache / ".gitignore").read_text() == "own\n"
    assert open_cache(cache / ".gitignore") is None
    cache, precious = tmp_path / "cache", tmp_path / "precious"
    (cache / "history").mkdir(parents=True)
    precious.write_text("text")
    for name in (".one.json.partial", f".one.json.{os.getpid()}.partial", "one.json"):
        (cache / "history" / name).symlink_to(precious)
    write_whole(cache / "history/one.json", b"{}")
    assert precious.read_text() == "text"
    assert (cache / "history/one.json").read_bytes() == b"{}" and not (cache / "history/one.json").is_symlink()
    (tmp_path / "elsewhere").mkdir()
    (cache / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="symbolic link"):
        write_whole(cache / "linked/one.json", b"{}")
    assert not list((tmp_path / "elsewhere").iterdir())


# Files of somebody else: no link is followed, no pipe waited for


def open_handles() -> int:
    """How many files this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_only_regular_files_are_read_and_written_and_none_through_a_link(tmp_path: Path) -> None:
    """A pipe would never answer; nothing stays open; a new file has the mode asked for, writing over begins anew."""
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
    assert (beginning_of(file, 3), beginning_of(file, 100)) == (b"a l", b"a letter")
    for nothing in (tmp_path, tmp_path / "nowhere", f"{tmp_path}/\0"):
        assert beginning_of(nothing, 3) is None
    target, link = tmp_path / "target", tmp_path / "other"
    target.write_bytes(b"kept")
    link.symlink_to(target)
    openings: tuple[Callable[[Path], object], ...] = (open_new, open_over, open_lock)
    for opening in openings:
        with pytest.raises(OSError, match=r"symbolic links|File exists"):
            opening(link)
    assert target.read_bytes() == b"kept"
    with open_new(tmp_path / "key", mode=0o600) as stream:
        stream.write(b"secret")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        open_new(tmp_path / "key")
    with os.fdopen(open_over(tmp_path / "key"), "wb") as stream:
        stream.write(b"open")
    assert (tmp_path / "key").read_bytes() == b"open"
