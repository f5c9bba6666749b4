"""Archive documents and windows of feeds (FEEDS, window; RFC 5005), and what never changes in them (item)."""

import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import pytest

from memosite.plan import feeds
from tests.support.feeds.documents import feed_files, read_feed
from tests.support.files import write_json
from tests.support.memos import send, write_memo, write_org
from tests.support.pages import found
from tests.support.sites import build_site, copy_example
from tests.support.watches import watch

BASE = "https://archive.example.org/a/"
START = dt.datetime(2026, 1, 1, 9, tzinfo=dt.UTC)
Feeds = dict[str, list[tuple[str, str]]]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repo whose feeds have blocks and windows of five, in place of fifty."""
    monkeypatch.setattr(feeds, "BLOCK", 5)
    write_json(tmp_path / "repo/memosite.yml", {"feeds": {"window": 5}})
    return tmp_path / "repo"


def write_many(repo: Path, numbers: range, *, hours: int = 1000, mailbox: str = "read", **fields: Any) -> None:
    """Memos to the director, one every so many hours, named by their number."""
    for number in numbers:
        sent = START + dt.timedelta(hours=hours * number)
        name = f"{sent:%Y-%m-%d-%H%M}--engineer--director--memo-{number}"
        write_memo(repo / "memos" / mailbox, name, sent=sent.isoformat(), **fields)


def write_late(repo: Path, mailbox: str = "read") -> None:
    """A memo that is older than all others."""
    name = "2020-01-01-0900--engineer--director--late"
    write_memo(repo / "memos" / mailbox, name, sent="2020-01-01T09:00:00Z")


def build(repo: Path, base_url: str | None = BASE) -> Path:
    """Build over what is there, and give the folder of the director's feed."""
    return build_site(repo, output=repo.parent / "out", base_url=base_url) / "positions/director"


def names(file: Path) -> list[str]:
    """The last words of the guids, in document order."""
    return [guid.rpartition("--")[2].removeprefix("memo-") for guid in found(read_feed(file), "//guid/text()")]


def link(file: Path, relation: str) -> list[str]:
    """Where a feed leads."""
    return found(read_feed(file), f"/rss/channel/*[local-name()='link' and @rel='{relation}']/@href")


def walk(feed: Path) -> list[str]:
    """What a reader finds who follows `prev-archive` to its end."""
    seen = names(feed)
    while previous := link(feed, "prev-archive"):
        feed = feed.parent / previous[0].rpartition("/")[2]
        seen += names(feed)
    return seen


def test_archive_documents_hold_everything_in_blocks_of_fifty_by_arrival(tmp_path: Path) -> None:
    """Also what is still in the window; a watch of either feed finds all; only the feed for people has texts."""
    write_many(tmp_path / "repo", range(120), hours=24, body="A long story.")
    folder = build(tmp_path / "repo")
    blocks = [folder / f"feed-{number}.xml" for number in (1, 2, 3)]
    assert sorted(folder.glob("feed-[0-9]*.xml")) == blocks
    assert [len(names(block)) for block in blocks] == [50, 50, 20]
    assert [set(names(block)) for block in blocks] == [
        {str(number) for number in chunk} for chunk in (range(50), range(50, 100), range(100, 120))
    ]
    for number, block in enumerate(blocks, 1):
        assert read_feed(block).find("channel/{http://purl.org/syndication/history/1.0}archive") is not None
        assert link(block, "current") == [f"{BASE}positions/director/feed.xml"]
        assert link(block, "self") == [f"{BASE}positions/director/feed-{number}.xml"]
        assert link(block, "prev-archive") == ([f"{BASE}positions/director/feed-{number - 1}.xml"] * (number > 1))
    assert link(folder / "feed.xml", "prev-archive") == [f"{BASE}positions/director/feed-2.xml"]
    assert read_feed(folder / "feed.xml").find("channel/{http://purl.org/syndication/history/1.0}archive") is None
    for name in ("feed.xml", "feed-full.xml"):
        assert names(folder / name) == [str(number) for number in range(119, 69, -1)]
        done = watch("--once", "--since", "all", folder / name, folder=tmp_path / name)
        assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 120)
    plain, full = ((folder / name).read_bytes() for name in ("feed.xml", "feed-full.xml"))
    assert (plain.count(b"A long story"), full.count(b"A long story")) == (0, 50)
    assert b"encoded" not in plain.partition(b"<item>")[2]


@pytest.mark.parametrize(
    ("gone", "base_url"), [(range(5), None), (range(5, 10), BASE), (range(10, 15), None), (range(15), BASE)]
)
def test_a_document_without_memos_ends_no_walk(repo: Path, tmp_path: Path, gone: range, base_url: str | None) -> None:
    """Memos of a year are removed: their archive document is empty, which a subscriber takes for a broken one."""
    write_many(repo, range(17))
    folder = build(repo, base_url)
    for number in gone:
        next((repo / "memos/read").glob(f"*--memo-{number}.openthing")).unlink()
    build(repo, base_url)
    left = {str(number) for number in range(17) if number not in gone}
    assert set(walk(folder / "feed.xml")) == left
    done = watch("--once", "--since", "all", folder / "feed.xml", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.rpartition("-")[2].removesuffix(".openthing") for line in done.stdout.splitlines()} == left
    assert (folder / f"feed-{gone.start // 5 + 1}.xml").is_file()


@pytest.mark.parametrize(("window", "base_url"), [(1, BASE), (5, None)])
def test_a_walk_along_the_archive_finds_everything(repo: Path, window: int, base_url: str | None) -> None:
    """However small the window; what is in no full document is in the feed itself."""
    write_many(repo, range(14))
    write_json(repo / "memosite.yml", {"feeds": {"window": window, "days": 0}})
    assert set(walk(build(repo, base_url) / "feed.xml")) == {str(number) for number in range(14)}


def test_a_full_document_never_changes_its_members(repo: Path) -> None:
    """A late memo with an old date joins the end, a removed one leaves its place, a moved one tells its new path."""
    write_many(repo, range(6))
    folder = build(repo)
    before = names(folder / "feed-1.xml")
    write_many(repo, range(6, 8))
    build(repo)
    write_late(repo, "inbox")
    next((repo / "memos/read").glob("*--memo-2.openthing")).unlink()
    moved = next((repo / "memos/read").glob("*--memo-3.openthing"))
    (repo / "memos/archive").mkdir()
    moved.rename(repo / "memos/archive" / moved.name)
    build(repo)
    assert names(folder / "feed-1.xml") == [name for name in before if name != "2"] == ["4", "3", "1", "0"]
    assert f"new memo: memos/archive/{moved.name}" in found(read_feed(folder / "feed-1.xml"), "//description/text()")
    assert "late" in names(folder / "feed.xml") and names(folder / "feed-2.xml") == ["late", "7", "6", "5"]
    assert set(walk(folder / "feed.xml")) == {"0", "1", "3", "4", "5", "6", "7", "late"}


def test_what_joins_a_feed_later_does_not_move_what_is_there(repo: Path) -> None:
    """A position gets another name: older memos under it come after what full documents hold."""
    for number in range(2):
        name = f"2025-01-{number + 1:02d}-0900--engineer--boss--old-{number}"
        write_memo(repo / "memos/read", name, to="boss", sent=f"2025-01-{number + 1:02d}T09:00:00Z")
    write_many(repo, range(6))
    folder = build(repo)
    before = (folder / "feed-1.xml").read_bytes()
    write_json(repo / "memosite.yml", {"feeds": {"window": 5}, "positions": {"aliases": {"boss": "director"}}})
    build(repo)
    assert (folder / "feed-1.xml").read_bytes() == before
    assert {"old-0", "old-1"} <= set(names(folder / "feed.xml"))
    assert (folder.parent / "boss/feed.xml").read_bytes() == (folder / "feed.xml").read_bytes()


def test_what_joins_a_feed_late_is_in_the_window_though_its_block_is_full_at_once(repo: Path) -> None:
    """Else a subscriber finds nothing new there, and never looks into the archive."""
    send(repo / "memos/read", "2025-01-01-0900--engineer--boss--old")
    write_many(repo, range(4))
    settings = {"feeds": {"window": 1, "days": 0}}
    write_json(repo / "memosite.yml", settings)
    assert "old" not in walk(build(repo) / "feed.xml")
    write_json(repo / "memosite.yml", settings | {"positions": {"aliases": {"boss": "director"}}})
    folder = build(repo)
    assert "old" in names(folder / "feed-1.xml") and "old" in names(folder / "feed.xml")


def test_archive_documents_of_a_feed_that_goes_on_elsewhere_stay(repo: Path) -> None:
    """An address once published answers for ever (SPEC 4). Every feed has them: the whole archive's, a thread's."""
    write_many(repo, range(6), thread_id="long")
    folder = build(repo)
    output, thread = folder.parent.parent, folder.parent.parent / "threads/long"
    for file in (output / "feed-1.xml", thread / "feed-1.xml", thread / "feed.xml"):
        assert len(names(file)) == 5
    assert len(set(walk(thread / "feed.xml"))) == len(set(walk(output / "feed.xml"))) == 6
    before = names(folder / "feed-1.xml")
    write_json(repo / "memosite.yml", {"feeds": {"window": 5}, "positions": {"aliases": {"director": "head"}}})
    build(repo)
    assert names(folder / "feed-1.xml") == before
    assert names(folder / "feed.xml") == names(folder.parent / "head/feed.xml")


def test_the_window_goes_by_arrival(repo: Path) -> None:
    """A memo that comes late with an old date is among the newest, and unread ones stay however old they are."""
    write_many(repo, range(1), mailbox="inbox")
    write_many(repo, range(1, 20))
    build(repo)
    write_late(repo)
    assert names(build(repo) / "feed.xml") == ["19", "18", "17", "16", "0", "late"]


def test_a_feed_reaches_back_thirty_days_from_the_newest(repo: Path) -> None:
    """Where more than the window holds arrive in that time."""
    write_many(repo, range(40), hours=24)
    assert names(build(repo) / "feed.xml") == [str(number) for number in range(39, 8, -1)]


def test_a_date_far_ahead_does_not_hold_the_window_open(repo: Path) -> None:
    """A slip of the pen in one memo is not believed."""
    write_many(repo, range(10))
    send(repo / "memos/read", "9999-12-31-0900--engineer--director--slip")
    build(repo)
    write_many(repo, range(10, 20))
    assert set(names(build(repo) / "feed.xml")) == {str(number) for number in range(15, 20)}


def items_of(organization: Path, output: Path, base_url: str = BASE) -> Feeds:
    """Build, and give guid and link of each item of each feed."""
    build_site(organization, output=output, base_url=base_url)
    return {path.relative_to(output).as_posix(): items(path) for path in feed_files(output)}


def items(path: Path) -> list[tuple[str, str]]:
    """Guid and link of each item."""
    tree = read_feed(path)
    return list(zip(found(tree, "//item/guid/text()"), found(tree, "//item/link/text()"), strict=True))


def test_ids_stay_whatever_happens_to_memos_the_cache_the_site_and_its_repos(tmp_path: Path) -> None:
    """Links and order, too; a site that moves has ids that name none of its places, a renamed repo other records."""
    organization = copy_example(tmp_path / "organization")
    before = items_of(organization, tmp_path / "out")
    for file in list(organization.glob("*/memos/inbox/*")):
        (file.parent.parent / "read").mkdir(exist_ok=True)
        file.rename(file.parent.parent / "read" / file.name)
    for file in organization.glob("*/memos/read/*.openthing"):
        file.write_text(file.read_text().replace('"subject": "', '"subject": "Corrected: '))
    assert items_of(organization, tmp_path / "out") == before, "all was marked as read, and memos were edited"
    shutil.rmtree(organization / ".memosite", ignore_errors=True)
    moved = items_of(organization, tmp_path / "new", "http://127.0.0.1:8000/")
    assert {
        path: [(guid, link.replace("http://127.0.0.1:8000/", BASE)) for guid, link in items]
        for path, items in moved.items()
    } == before, "it has moved, and nothing is known of it"
    assert moved != before
    (organization / "website").rename(organization / "site")
    config = organization / "memosite.yml"
    config.write_text(config.read_text().replace("path: website", "path: site"))
    after = items_of(organization, tmp_path / "out")
    feeds = [path for path in before if path.startswith(("positions/", "threads/", "actions/"))]
    assert len(feeds) > 20 and {path: before[path] for path in feeds} == {path: after[path] for path in feeds}


def test_ids_stay_when_a_second_organization_has_the_same_positions(tmp_path: Path) -> None:
    """The feed of a plain id stays as the union; the new organization's seats get feeds of their own."""
    repo = tmp_path / "repo"
    write_org(repo / "org", "acme", positions=["director", "engineer"])
    write_memo(repo / "memos/inbox", "2026-05-01-0900--engineer--director--one")
    before = items_of(repo, tmp_path / "out")
    write_org(repo / "org", "other", positions=["director", "engineer"])
    after = items_of(repo, tmp_path / "out")
    assert {path: after[path] for path in before} == before and "positions/other~director/feed.xml" in after


def test_an_unchanged_feed_keeps_its_time_and_a_changed_one_gets_a_later_second(tmp_path: Path) -> None:
    """However fast builds follow each other: servers compare whole seconds (FEEDS, bytes)."""
    repo, output = tmp_path / "repo", tmp_path / "out"
    names = [f"2026-05-01-090{number}--engineer--director--m" for number in range(3)]
    times: list[dict[str, int]] = []
    for name in names:
        write_memo(repo / "memos/inbox", name)
        items_of(repo, output)
        items_of(repo, output)
        times.append({path.parent.name: path.stat().st_mtime_ns for path in output.glob("positions/*/feed.xml")})
    assert all(time % 10**9 == 0 for found in times for time in found.values())
    assert sorted({found["director"] for found in times}) == [found["director"] for found in times]
    assert len({found["engineer"] for found in times}) == 1


def test_without_feeds_for_people_there_are_none(tmp_path: Path) -> None:
    """`feeds.full_content: false` publishes paths alone."""
    repo = tmp_path / "repo"
    write_memo(repo / "memos/inbox", "2026-05-01-0900--engineer--director--m")
    assert "positions/director/feed-full.xml" in items_of(repo, tmp_path / "out")
    write_json(repo / "memosite.yml", {"feeds": {"full_content": False}})
    after = items_of(repo, tmp_path / "out")
    assert not [path for path in after if path.endswith("-full.xml")]
    assert "feed-full" not in (tmp_path / "out/positions/director/index.html").read_text()
