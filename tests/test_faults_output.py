"""A disk that fails at any write, power that is lost at any moment, clocks that jump, files of others in the output.

Whole files, an intact ledger, and no lost item.
"""

import datetime as dt
import errno
import os
import random
import re
import shutil
import stat
import time
from pathlib import Path

import pytest
from lxml import etree

import memosite.build
from memosite.archive.seals import SEALS_PATH
from memosite.cli import main
from memosite.config.loading import load_config
from tests.support.disk import Disk, PowerLostError
from tests.support.memos import write_memo
from tests.support.sites import build_site, tree_bytes

FAULTS = int(os.environ.get("MEMOSITE_KILLS", "2"))
LEDGER = "archive/ledger.jsonl"
ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT)
UNFINISHED = ".memosite-unfinished"


@pytest.fixture
def organization(tmp_path: Path) -> Path:
    """A site folder with a built site of a few memos; its feeds have archive documents."""
    site = tmp_path / "organization"
    for number in range(4):
        arrive(site, number)
    (site / "memosite.yml").write_text("sources: [{path: engine}]\nfeeds: {window: 2, days: 0}\n")
    build(site)
    return site


def arrive(site: Path, number: int) -> None:
    """A memo arrives."""
    name = f"2026-05-{number % 28 + 1:02}-{number:04}--engineer--director--memo-{number}"
    write_memo(site / "engine/memos/inbox", name, to="director", sender="engineer", subject=f"Memo {number}")


def build(site: Path) -> None:
    """Build in this process."""
    build_site(site, "--jobs", 1)


def whole(site: Path) -> dict[str, bytes]:
    """The files that readers may fetch."""
    return {path: data for path, data in tree_bytes(site / "_site").items() if not path.startswith(UNFINISHED)}


def guids(feed: bytes) -> set[str]:
    """The guids of a feed, which has to be one."""
    return {one.text or "" for one in etree.fromstring(feed).iter("guid")}


def calls_of_a_build(site: Path, folder: Path) -> int:
    """How many calls a build makes below a folder when a memo arrives."""
    disk = Disk(folder)
    arrive(site, 10)
    with disk.watched():
        build(site)
    return len(disk.done)


def test_a_disk_that_fails_at_any_write_leaves_whole_files(
    organization: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line and exit code 2; the next build completes the site, as one does that nothing disturbed."""
    rng = random.Random(20261123)
    calls = calls_of_a_build(organization, organization / "_site")
    for number in range(FAULTS):
        before = whole(organization)
        arrive(organization, 20 + number)
        code, step = rng.choice(ERRORS), rng.randrange(calls - 1)
        disk = Disk(organization / "_site", failing_at=step, error=OSError(code, os.strerror(code), "a file"))
        with disk.watched():
            ended = main(["build", str(organization), "--jobs", "1", "--quiet"])
        said = capsys.readouterr().err
        left = whole(organization)
        build(organization)
        after = whole(organization)
        assert (ended, said.count("\n")) == (2, 1), (step, said)
        assert os.strerror(code) in said and str(organization / "_site") in said
        assert "run the command again" in said or "choose another folder with -o" in said
        changed = [path for path, data in left.items() if data not in {before.get(path), after.get(path)}]
        assert changed == [], step
        assert before[LEDGER] in {left[LEDGER], left[LEDGER][: len(before[LEDGER])]}
    assert whole(organization) == built_elsewhere(organization)


def built_elsewhere(site: Path) -> dict[str, bytes]:
    """The site as an undisturbed build makes it that goes on from its ledger."""
    elsewhere = site.parent / "elsewhere"
    build_site(site, "--jobs", 1, "--cache", site.parent / "cache", "--previous", site / "_site", output=elsewhere)
    return {path: data for path, data in tree_bytes(elsewhere).items() if not path.startswith(UNFINISHED)}


def test_a_power_loss_at_any_moment_spares_the_ledger_and_the_feeds(organization: Path) -> None:
    """What was not synced is empty then, the cache included: no page is unknown to the ledger, no feed lost an item."""
    rng = random.Random(20261124)
    calls = calls_of_a_build(organization, organization)
    for number in range(FAULTS):
        before = whole(organization)
        arrive(organization, 20 + number)
        step = rng.randrange(calls) if number % 4 else None  # None: right after the build
        disk = Disk(organization, failing_at=step, error=PowerLostError())
        with disk.watched():
            if step is None:
                build(organization)
            else:
                with pytest.raises(PowerLostError):
                    main(["build", str(organization), "--jobs", "1", "--quiet"])
        disk.lose_power()
        left = whole(organization)
        assert left[LEDGER].startswith(before[LEDGER])
        known = re.findall(rb'"kind": "memo", "id": "([^"]+)"', left[LEDGER])
        assert set(re.findall(rb'"id": "memo/([^"]+)"', left[SEALS_PATH])) <= set(known)
        assert {path.split("/")[1].encode() for path in left if path.startswith("memos/2")} <= set(known)
        for path in (path for path in before if re.fullmatch(r"(positions/.*/)?feed(-full)?\.xml", path)):
            assert guids(left[path]) - guids(before[path]) or guids(left[path]) == guids(before[path]), path
        for path in (path for path in left if re.search(r"/feed-\d+\.xml$", path)):
            assert guids(left[path]), path
        build(organization)
        assert whole(organization).keys() >= before.keys()
        assert all(whole(organization).values()), step
    assert whole(organization) == built_elsewhere(organization)


def test_the_ledger_is_on_the_disk_before_pages_and_these_before_feeds(organization: Path) -> None:
    """The order of calls: sync ledger and log, move them, sync their folder; then pages; then feeds, each synced."""
    disk = Disk(organization / "_site")
    arrive(organization, 10)
    with disk.watched():
        build(organization)
    root = organization / "_site"
    moved = [one.path.relative_to(root).as_posix() for one in disk.done if one.what == "replace"]
    assert moved[:2] == [LEDGER, SEALS_PATH]
    places = {path: place for place, path in enumerate(moved)}
    pages = [place for path, place in places.items() if path.endswith(".html")]
    feeds = [place for path, place in places.items() if re.search(r"feed[^/]*\.(xml|json)$", path)]
    assert pages and feeds and max(pages) < min(feeds)
    said = [(one.what, one.path.relative_to(root).as_posix()) for one in disk.done]
    synced = [said.index(("fsync", folder)) for folder in ("archive", ".")]
    assert said.index(("replace", SEALS_PATH)) < min(synced) < said.index(("replace", moved[2]))
    lasting = {path.relative_to(root).as_posix() for path in disk.lasting}
    assert lasting == {LEDGER, SEALS_PATH, *(moved[place] for place in feeds)}


def test_nobody_waits_for_the_disk_at_first_and_one_that_cannot_sync_names_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only ledger and log are synced where nobody can have read; some shared disks answer EINVAL for a folder."""
    arrive(tmp_path, 1)
    disk = Disk(tmp_path / "_site")
    with disk.watched():
        build(tmp_path)
    assert {path.relative_to(tmp_path / "_site").as_posix() for path in disk.lasting} == {LEDGER, SEALS_PATH}
    real = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    arrive(tmp_path, 2)
    build(tmp_path)
    assert (tmp_path / "_site" / LEDGER).read_bytes()


def test_an_output_that_may_only_be_read_is_said_in_one_line_and_no_lock_is_left(
    organization: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """File, reason, remedy; nothing has changed. The next build of the process is not told of another one."""
    before = whole(organization)
    arrive(organization, 10)
    for step in (0, 4):
        error = OSError(errno.EROFS, "Read-only file system")
        with Disk(organization / "_site", failing_at=step, error=error).watched():
            assert main(["build", str(organization), "--jobs", "1"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "Read-only file system" in said and "choose another folder with -o" in said
        assert whole(organization) == before
    for step in range(8):
        arrive(organization, 20 + step)
        disk = Disk(organization / "_site", failing_at=step, error=OSError(errno.ENOSPC, "No space left"))
        with disk.watched():
            assert main(["build", str(organization), "--jobs", "1", "--quiet"]) == 2
        assert len(disk.done) == step  # the one before has left no lock
    build(organization)


# Files of others, and clocks


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


def test_times_of_published_files_only_grow_and_a_build_takes_no_negative_time(site: Path) -> None:
    """Else a server would say that a feed is as it was (304); the clock may be set back meanwhile."""
    feed = site / "_site/feed.xml"
    later = int(time.time()) + YEARS
    os.utime(feed, (later, later))
    write_memo(site / "memos/inbox", "second")
    build_site(site, "--jobs", 1)
    assert feed.stat().st_mtime == later + 1
    for name in ("third", "third"):  # the second time nothing has changed
        write_memo(site / "memos/inbox", name)
        moments = iter((dt.datetime(2030, 1, 1, tzinfo=dt.UTC), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)))
        assert memosite.build.build(load_config(site), clock=lambda moments=moments: next(moments)).seconds == 0  # type: ignore[misc]
