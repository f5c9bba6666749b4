"""Archive documents and windows of feeds: nothing is lost, however late it arrives (FEEDS, window; RFC 5005)."""

import datetime as dt
from pathlib import Path

import pytest

from memosite.plan import feeds
from tests.support.feeds.documents import read_feed
from tests.support.files import write_json
from tests.support.memos import send, write_memo
from tests.support.pages import found
from tests.support.sites import build_site
from tests.support.watches import watch

BASE = "https://archive.example.org/a/"
START = dt.datetime(2026, 1, 1, 9, tzinfo=dt.UTC)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repo whose feeds have blocks and windows of five, in place of fifty."""
    monkeypatch.setattr(feeds, "BLOCK", 5)
    write_json(tmp_path / "repo/memosite.yml", {"feeds": {"window": 5}})
    return tmp_path / "repo"


def write_many(repo: Path, numbers: range, *, hours: int = 1000, mailbox: str = "read", **fields: str) -> None:
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
    """Also what is still in the window; each leads to the one before it and to the feed.

    A watch of the feed for people, which holds fifty, finds what came before them in the same documents.
    """
    write_many(tmp_path / "repo", range(120), hours=24)
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


@pytest.mark.parametrize(
    ("gone", "base_url"), [(range(5), None), (range(5, 10), BASE), (range(10, 15), None), (range(15), BASE)]
)
def test_a_document_that_lost_all_its_memos_ends_no_walk(
    repo: Path, tmp_path: Path, gone: range, base_url: str | None
) -> None:
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
    assert "late" in names(folder / "feed.xml")
    assert names(folder / "feed-2.xml") == ["late", "7", "6", "5"]


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
    assert "old" in names(folder / "feed-1.xml")
    assert "old" in names(folder / "feed.xml")


def test_archive_documents_of_a_feed_that_goes_on_elsewhere_stay(repo: Path) -> None:
    """An address once published answers for ever (SPEC 4). Every feed has them: the whole archive's, a thread's."""
    write_many(repo, range(6), thread_id="long")
    folder = build(repo)
    output, thread = folder.parent.parent, folder.parent.parent / "threads/long"
    assert (
        len(names(output / "feed-1.xml")) == len(names(thread / "feed-1.xml")) == len(names(thread / "feed.xml")) == 5
    )
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
