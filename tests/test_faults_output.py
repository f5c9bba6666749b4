"""A disk that fails at any write, and power that is lost at any moment: whole files, an intact ledger, no lost item."""

import errno
import os
import random
import re
import stat
from pathlib import Path

import pytest
from lxml import etree

from memosite.archive.seals import SEALS_PATH
from memosite.cli import main
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


def test_a_build_that_fails_while_it_opens_the_output_leaves_no_lock(organization: Path) -> None:
    """The next build of the same process, as of `serve`, is not told that another one is writing."""
    for step in range(8):
        arrive(organization, 20 + step)
        disk = Disk(organization / "_site", failing_at=step, error=OSError(errno.ENOSPC, "No space left"))
        with disk.watched():
            assert main(["build", str(organization), "--jobs", "1", "--quiet"]) == 2
        assert len(disk.done) == step
        build(organization)


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


def test_nobody_waits_for_the_disk_where_nobody_can_have_read_yet(tmp_path: Path) -> None:
    """A first build of ten thousand memos would sync as many feeds; only ledger and log are."""
    arrive(tmp_path, 1)
    disk = Disk(tmp_path / "_site")
    with disk.watched():
        build(tmp_path)
    assert {path.relative_to(tmp_path / "_site").as_posix() for path in disk.lasting} == {LEDGER, SEALS_PATH}


def test_a_disk_that_cannot_sync_names_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some shared disks answer EINVAL for a folder; any other error is told."""
    real = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    arrive(tmp_path, 1)
    build(tmp_path)
    assert (tmp_path / "_site" / LEDGER).read_bytes()


@pytest.mark.parametrize("how", ["folder", "file"])
def test_an_output_that_may_only_be_read_is_said_in_one_line(
    how: str, organization: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which file, why, and what to do; nothing of the site has changed."""
    before = whole(organization)
    arrive(organization, 10)
    disk = Disk(
        organization / "_site",
        failing_at=0 if how == "folder" else 4,
        error=OSError(errno.EROFS, "Read-only file system"),
    )
    with disk.watched():
        assert main(["build", str(organization), "--jobs", "1"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "Read-only file system" in said and "choose another folder with -o" in said
    assert whole(organization) == before
