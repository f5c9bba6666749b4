"""Files of others in the output, and clocks that jump."""

import datetime as dt
import os
import shutil
import time
from pathlib import Path

import pytest

from memosite.build import build
from memosite.cli import main
from memosite.config.loading import load_config
from tests.support.memos import write_memo
from tests.support.sites import build_site, tree_bytes

NAME = "2026-05-01-1430--a--b--first"
FOREIGN = ("CNAME", "mine.html", "mine/index.html", "memos/mine.txt", "archive/2026/.DS_Store", f"memos/{NAME}/a.jpg")
YEARS = 10 * 365 * 86_400


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A built site of one memo."""
    write_memo(tmp_path / "site/memos/inbox", NAME)
    build_site(tmp_path / "site", "--jobs", 1)
    return tmp_path / "site"


@pytest.mark.parametrize("lost", ["nothing", "cache", "memo", "cache and memo"])
def test_files_of_others_in_the_output_stay(lost: str, site: Path) -> None:
    """Also below memosite's own folders, and where nothing is known of the last build; pages of former builds go."""
    for path in FOREIGN:
        (site / "_site" / path).parent.mkdir(parents=True, exist_ok=True)
        (site / "_site" / path).write_text("mine")
    former = site / "_site/memos/former/index.html"
    if "cache" in lost:
        shutil.rmtree(site / ".memosite")
        former.parent.mkdir()
        former.write_text("a page of a former build")
    write_memo(site / "memos/inbox", "second")
    if "memo" in lost:
        (site / f"memos/inbox/{NAME}.openthing").unlink()
    build_site(site, "--jobs", 1)
    assert {path: (site / "_site" / path).read_text() for path in FOREIGN} == dict.fromkeys(FOREIGN, "mine")
    assert not former.exists()


def test_a_folder_of_somebody_in_the_place_of_a_page_stays(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says which it is and what to do, and exit code 2; an empty one, a pipe or a link gives way."""
    whole = tree_bytes(site / "_site")
    places = [site / "_site" / path for path in ("index.html", f"memos/{NAME}/index.html", "status.json", "feed.xml")]
    for place in places:
        place.unlink()
        place.mkdir()
        (place / "mine.txt").write_text("mine")
        assert main(["build", str(site), "--jobs", "1"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"{place}: cannot be written" in said and "move away the folder" in said
        assert (place / "mine.txt").read_text() == "mine"
        shutil.rmtree(place)
        os.mkfifo(place)
    build_site(site, "--jobs", 1)
    assert tree_bytes(site / "_site") == whole
    for place in places:
        place.unlink()
        place.symlink_to(site / "memos/inbox" / f"{NAME}.openthing")
    build_site(site, "--jobs", 1)
    assert tree_bytes(site / "_site") == whole and not any(place.is_symlink() for place in places)


@pytest.mark.parametrize("jump", [-YEARS, 3600])
def test_no_change_is_missed_when_the_clock_jumps(jump: int, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two builds, and back again: files count by their states, feeds by the dates of memos."""
    real = time.time_ns
    memo = site / f"memos/inbox/{NAME}.openthing"
    for step, offset in enumerate((jump, 0, jump)):
        with monkeypatch.context() as patched:
            patched.setattr(time, "time_ns", lambda offset=offset: real() + offset * 10**9)
            write_memo(memo.parent, NAME, subject=f"Subject {step}")
            moment = time.time_ns()
            os.utime(memo, ns=(moment, moment))
            build_site(site, "--jobs", 1)
            page = (site / f"_site/memos/{NAME}/index.html").read_text()
            assert f"Subject {step}" in page
            write_memo(memo.parent, NAME, subject=f"Subject {step + 3}")  # of the same size, and as old
            os.utime(memo, ns=(moment, moment))
            build_site(site, "--jobs", 1)
            assert f"Subject {step + 3}" in (site / f"_site/memos/{NAME}/index.html").read_text()
    clean = site.parent / "clean"
    build_site(site, "--jobs", 1, "--cache", site.parent / "cache", "--previous", site / "_site", output=clean)
    assert tree_bytes(clean) == tree_bytes(site / "_site")


def test_times_of_published_files_only_grow_although_the_clock_goes_back(site: Path) -> None:
    """A server would answer that a feed is as it was (304) if its new content had an older time."""
    feed = site / "_site/feed.xml"
    later = int(time.time()) + YEARS
    os.utime(feed, (later, later))
    write_memo(site / "memos/inbox", "second")
    build_site(site, "--jobs", 1)
    assert feed.stat().st_mtime == later + 1


def test_a_build_takes_no_negative_time(site: Path) -> None:
    """The clock may be set back while it runs."""
    for name in ("second", "second"):  # the second time nothing has changed
        write_memo(site / "memos/inbox", name)
        moments = iter((dt.datetime(2030, 1, 1, tzinfo=dt.UTC), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)))
        assert build(load_config(site), clock=lambda moments=moments: next(moments)).seconds == 0  # type: ignore[misc]
