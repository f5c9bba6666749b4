"""Sources that change or vanish while they are read, between builds, and while a preview or a watch runs."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.store import safe_files
from tests.support.commands import command_line, running
from tests.support.memos import write_body, write_memo
from tests.support.servers import fetch, free_port
from tests.support.sites import build_site, tree_bytes
from tests.support.waiting import DEADLINE, wait_until

NAME = "2026-05-01-1430--engineer--director--report"
Meanwhile = Callable[[str, Callable[[], object]], None]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A built site of one configured source with two memos, one of them with a body of its own."""
    folder = tmp_path / "site"
    inbox = folder / "engine/memos/inbox"
    write_memo(inbox, NAME, to="director", content={"body_ref": f"{NAME}.body.md"})
    write_body(inbox, NAME, "The report.\n")
    write_memo(inbox, "2026-05-02-0900--engineer--director--other", to="director")
    (folder / "memosite.yml").write_text("sources: [{path: engine}]\n")
    build_site(folder, "--jobs", 1)
    return folder


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Iterator[Meanwhile]:
    """Lets something happen just before the first file is opened whose path ends so."""
    real = safe_files.open_file
    steps: list[tuple[str, Callable[[], object]]] = []

    def open_file(path: Path) -> object:
        if steps and str(path).endswith(steps[0][0]):
            steps.pop(0)[1]()
        return real(path)

    monkeypatch.setattr("memosite.sources.folder.open_file", open_file)
    yield lambda ending, step: steps.append((ending, step))
    assert steps == []


def published(site: Path) -> dict[str, bytes]:
    """What readers may fetch."""
    return {path: data for path, data in tree_bytes(site / "_site").items() if not path.startswith(".memosite-")}


def move(site: Path, box: str = "read") -> None:
    """Mark the report as read, as `git mv` does."""
    memos = site / "engine/memos"
    (memos / box).mkdir(exist_ok=True)
    for ending in (".openthing", ".body.md"):
        (memos / "inbox" / f"{NAME}{ending}").rename(memos / box / f"{NAME}{ending}")


@pytest.mark.parametrize("ending", [f"{NAME}.openthing", f"{NAME}.body.md"])
def test_a_memo_that_moves_while_it_is_read_is_where_it_went(
    ending: str, site: Path, meanwhile: Meanwhile, tmp_path: Path
) -> None:
    """Not removed, and not without its text: the source is listed again."""
    meanwhile(ending, lambda: move(site))
    cache = tmp_path / "cache"
    build_site(site, "--jobs", 1, "--cache", cache)
    found = published(site)
    assert b"The report." in found[f"memos/{NAME}/index.html"]
    build_site(site, "--jobs", 1, "--cache", cache)
    assert published(site) == found


def test_a_folder_that_is_removed_while_it_is_listed_is_listed_again(
    site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its memos went elsewhere: they are there."""
    real = os.scandir
    steps = [lambda: (site / "engine/memos/inbox").rename(site / "engine/memos/archive")]

    def scandir(path: object) -> object:
        if str(path).endswith("memos/inbox") and steps:
            steps.pop()()
        return real(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", scandir)
    build_site(site, "--jobs", 1, "--cache", tmp_path / "cache")
    assert steps == []
    page = published(site)[f"memos/{NAME}/index.html"]
    assert b"The report." in page and b"was removed" not in page


def test_a_source_that_vanishes_while_it_is_read_leaves_the_site_as_it_was(
    site: Path, meanwhile: Meanwhile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that names the folder, and exit code 2; when it is back, so is everything."""
    before = published(site)
    meanwhile(f"{NAME}.openthing", lambda: (site / "engine").rename(tmp_path / "away"))
    cache = str(tmp_path / "cache")
    assert main(["build", str(site), "--quiet", "--jobs", "1", "--cache", cache]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"{site / 'engine'}: the folder of this source was removed" in said
    assert published(site) == before and main(["build", str(site), "--quiet", "--cache", cache]) == 2
    assert "memosite.yml:1: sources[0].path" in capsys.readouterr().err
    assert published(site) == before
    (tmp_path / "away").rename(site / "engine")
    assert main(["build", str(site), "--quiet", "--cache", cache]) == 0 and published(site) == before


def test_files_that_move_for_ever_end_the_command(
    site: Path, meanwhile: Meanwhile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After three readings one line says which file it was, and nothing is written."""
    before = published(site)
    place = site / "engine/memos"
    (place / "read").mkdir()
    for source, target in (("inbox", "read"), ("read", "inbox"), ("inbox", "read")):
        old, new = (place / box / f"{NAME}.openthing" for box in (source, target))
        meanwhile(f"{source}/{old.name}", partial(old.rename, new))
    assert main(["build", str(site), "--quiet", "--jobs", "1", "--cache", str(tmp_path / "cache")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"{NAME}.openthing: moved or removed while it was read" in said
    assert published(site) == before


def test_a_file_that_is_written_while_it_is_read_is_read_whole(
    site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Half of the old and half of the new is nobody's text."""
    body = site / f"engine/memos/inbox/{NAME}.body.md"
    body.write_text("old " * 1000)
    real = os.read
    steps = [lambda: body.write_text("new " * 1000)]

    def read(handle: int, count: int) -> bytes:
        if steps and os.path.realpath(f"/proc/self/fd/{handle}") == str(body):
            data = real(handle, 2000)
            steps.pop()()
            return data
        return real(handle, count)

    monkeypatch.setattr(os, "read", read)
    build_site(site, "--jobs", 1, "--cache", tmp_path / "cache")
    page = published(site)[f"memos/{NAME}/index.html"]
    assert steps == [] and b"new new" in page and b"old old" not in page


def test_a_preview_outlives_its_source(tmp_path: Path) -> None:
    """It shows the last good site and says why; when the folder, outside of the site folder, is back, it goes on."""
    write_memo(tmp_path / "engine/memos/inbox", "first")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/memosite.yml").write_text("sources: [{path: ../engine}]\n")
    port = free_port()
    address = f"http://127.0.0.1:{port}/memos/first/index.html"
    words = command_line("serve", tmp_path / "site", "--port", port, "--quiet")
    with running(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: fetch(address))
        (tmp_path / "engine").rename(tmp_path / "away")
        wait_until(lambda: "Not rebuilt" in fetch(address))
        write_memo(tmp_path / "away/memos/inbox", "second")
        (tmp_path / "away").rename(tmp_path / "engine")
        wait_until(lambda: (page := fetch(address)) and "Not rebuilt" not in page)
        assert (tmp_path / "site/_site/memos/second/index.html").exists()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=DEADLINE)
    assert process.returncode == 128 + signal.SIGTERM
    assert "../engine" in said and "Traceback" not in said


def test_a_watch_outlives_its_source(site: Path, tmp_path: Path) -> None:
    """It says so once, announces nothing twice, and goes on when the folder is back."""
    places = ("--site", site, "--position", "director", "--state", tmp_path / "state.sqlite")
    words = command_line("watch", "--since", "all", "--interval", 0.1, *places)
    with running(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        announced = {process.stdout.readline(), process.stdout.readline()}
        (site / "engine").rename(tmp_path / "away")
        lost = process.stderr.readline()  # which words depend on whether the round had begun
        assert "sources[0].path" in lost or "the source cannot be read" in lost
        write_memo(tmp_path / "away/memos/inbox", "2026-05-03-0900--engineer--director--third", to="director")
        (tmp_path / "away").rename(site / "engine")
        assert "third.openthing" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=DEADLINE)
    assert len(announced) == 2 and (process.returncode, out) == (0, "") and "works again" in said


def test_two_builds_at_once_share_a_cache(site: Path, tmp_path: Path) -> None:
    """Of one output the second is refused with what to do, of two outputs both are whole."""
    places = [tmp_path / name for name in ("out", "shared", "shared")]
    words = ("build", site, "--quiet", "--jobs", 2, "--cache", tmp_path / "cache")
    builds = [
        subprocess.Popen(command_line(*words, "-o", place), stderr=subprocess.PIPE, text=True) for place in places
    ]
    said = [process.communicate(timeout=DEADLINE)[1] for process in builds]
    codes = [process.returncode for process in builds]
    assert (codes[0], said[0]) == (0, "") and sorted(codes[1:]) in ([0, 0], [0, 2])
    for code, text in zip(codes[1:], said[1:], strict=True):
        assert text == "" if code == 0 else "another build" in text and text.count("\n") == 1
    assert tree_bytes(tmp_path / "out") == tree_bytes(tmp_path / "shared") == tree_bytes(site / "_site")
