"""The output folder: atomic, its own, and nothing left over."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from memosite.facts.errors import OutputError
from memosite.facts.layout import SITE_MARKER
from memosite.store.output import OutputFolder
from tests.support.commands import command_line
from tests.support.memos import write_memo
from tests.support.sites import tree_bytes


def written(root: Path, files: dict[str, bytes]) -> OutputFolder:
    """An output folder with these files in it, finished."""
    output = OutputFolder(root)
    output.open()
    for path, data in files.items():
        output.write(path, data)
    output.prune()
    output.leave()
    output.unlock()
    return output


def test_a_folder_that_was_empty_is_not_searched_for_what_is_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100,000 artifacts that took minutes, and there can be nothing."""
    for name in ("first", "second"):
        output = OutputFolder(tmp_path / "site")
        output.open()
        output.write(f"memos/{name}/index.html", b"<p>")
        with monkeypatch.context() as patched:
            if name == "first":
                patched.setattr("memosite.store.output.os.walk", None)
            output.prune()
        output.leave()
        output.unlock()
    assert not (tmp_path / "site/memos/first").exists()


def test_what_is_not_made_any_more_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """Only below memosite's own folders: a CNAME somebody put beside them stays."""
    root = tmp_path / "site"
    written(root, {"memos/a/index.html": b"a", "memos/b/index.html": b"b"})
    (root / "CNAME").write_text("archive.example.org")
    output = written(root, {"memos/a/index.html": b"a"})
    assert tree_bytes(root).keys() == {".gitignore", ".memosite-site", "CNAME", "memos/a/index.html"}
    assert not (root / "memos/b").exists()
    assert (output.written, output.unchanged, output.removed) == (0, 3, 1)


def test_a_folder_in_which_nothing_is_left_is_removed(tmp_path: Path) -> None:
    """Also memosite's own at the top, whether or not it is known what was in it; not with a file of somebody else."""
    root = tmp_path / "site"
    for known in (None, ["libraries/forms/index.html"]):
        written(root, {"libraries/forms/index.html": b"a", "index.html": b"b"})
        output = OutputFolder(root)
        output.open()
        output.write("index.html", b"b")
        output.prune(known)
        output.leave()
        output.unlock()
        assert not (root / "libraries").exists()
    written(root, {"libraries/forms/index.html": b"a"})
    (root / "libraries/letter.txt").write_text("mine")
    written(root, {"index.html": b"b"})
    assert [path.name for path in (root / "libraries").iterdir()] == ["letter.txt"]


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """Not empty and without the marker: nothing is written."""
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(OutputError, match="not made by memosite"):
        OutputFolder(tmp_path).open()
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_one_path_is_written_once(tmp_path: Path) -> None:
    """Two pages of one address would be a mistake of ours; it is told and stops nothing."""
    output = OutputFolder(tmp_path / "site")
    output.open()
    output.write("a", b"1")
    output.write("a", b"2")
    output.prune()
    output.leave()
    output.unlock()
    assert output.collisions == ["a"]
    assert (tmp_path / "site/a").read_bytes() == b"1"


def test_a_link_in_the_output_is_replaced_not_followed(tmp_path: Path) -> None:
    """Nothing outside the output is ever written."""
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    root = tmp_path / "site"
    written(root, {"index.html": b"1"})
    (root / "index.html").unlink()
    (root / "index.html").symlink_to(outside)
    written(root, {"index.html": b"mine"})
    assert not (root / "index.html").is_symlink()
    assert outside.read_text() == "mine"


def test_what_somebody_puts_into_a_new_site_meanwhile_leads_nowhere(tmp_path: Path) -> None:
    """A folder that this build has not made is looked at; a path may be a file's and then a folder's."""
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


def test_a_file_may_become_a_folder_and_a_folder_a_file(tmp_path: Path) -> None:
    """What an earlier build left where it is in the way goes."""
    root = tmp_path / "site"
    for files in ({"static/a": b"1"}, {"static/a/b": b"2"}, {"static/a": b"3"}):
        written(root, files)
        assert {path: data for path, data in tree_bytes(root).items() if path.startswith("static/")} == files


def test_a_pipe_in_the_output_is_not_waited_for(tmp_path: Path) -> None:
    """It is empty, as the file may be that belongs there."""
    root = tmp_path / "site"
    written(root, {"archive/2026/05.jsonl": b""})
    (root / "archive/2026/05.jsonl").unlink()
    os.mkfifo(root / "archive/2026/05.jsonl")
    written(root, {"archive/2026/05.jsonl": b""})
    assert (root / "archive/2026/05.jsonl").is_file()


def test_nothing_is_removed_behind_a_link(tmp_path: Path) -> None:
    """A folder of the site that somebody replaced by a link leads to files that are not ours."""
    root, mine = tmp_path / "site", tmp_path / "mine"
    written(root, {"memos/a/index.html": b"1", "index.html": b"1"})
    mine.mkdir()
    (mine / "index.html").write_text("mine")
    (root / "memos/a/index.html").unlink()
    (root / "memos/a").rmdir()
    (root / "memos/a").symlink_to(mine)
    output = OutputFolder(root)
    output.open()
    output.prune(["memos/a/index.html"])
    output.unlock()
    assert (mine / "index.html").read_text() == "mine"


def test_an_unwritable_folder_is_said_in_one_line(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "site").write_text("a file")
    with pytest.raises(OutputError, match="site"):
        OutputFolder(tmp_path / "site").open()


def test_a_killed_build_leaves_whole_files_and_the_next_one_completes_it(tmp_path: Path) -> None:
    """Killed at many moments: every file there is one of a finished build, and the next build ends equal to it."""
    repo = tmp_path / "repo"
    for number in range(60):
        write_memo(repo / "memos/inbox", f"2026-05-01-{number:04d}--engineer--director--memo-{number}", to="director")
    command = command_line("build", repo, "--quiet", "--jobs", 1, "-o")
    subprocess.run([*command, str(tmp_path / "whole")], check=True)
    whole = tree_bytes(tmp_path / "whole")
    killed = 0
    for step in range(6):
        target = tmp_path / f"killed-{step}"
        process = subprocess.Popen([*command, str(target)], stderr=subprocess.DEVNULL)
        wanted = step * len(whole) // 6 + 1
        while process.poll() is None and count_files(target) < wanted:
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        there = {path: data for path, data in tree_bytes(target).items() if not path.startswith(".memosite-unfinished")}
        assert all(whole[path] == data for path, data in there.items())
        subprocess.run([*command, str(target)], check=True)
        assert tree_bytes(target) == whole
    assert killed > 3
    assert (tmp_path / "whole" / SITE_MARKER).exists()


def count_files(folder: Path) -> int:
    """How many files are below a folder now."""
    return sum(len(files) for _, _, files in os.walk(folder))
