"""Archive documents and windows of feeds: nothing is lost, however late it arrives (FEEDS, window; RFC 5005)."""

import datetime as dt
from pathlib import Path

import pytest

from tests.support.feeds.documents import read_feed
from tests.support.files import write_json
from tests.support.memos import write_memo
from tests.support.pages import found
from tests.support.sites import build_site
from tests.support.watches import watch

BASE = "https://archive.example.org/a/"
START = dt.datetime(2026, 1, 1, 9, tzinfo=dt.UTC)


def write_many(repo: Path, numbers: range, *, hours: int = 24, mailbox: str = "read") -> None:
    """Memos to the director, one every so many hours, named by their number."""
    for number in numbers:
        sent = START + dt.timedelta(hours=hours * number)
        name = f"{sent:%Y-%m-%d-%H%M}--engineer--director--memo-{number}"
        write_memo(repo / "memos" / mailbox, name, sent=sent.isoformat())


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
    """Also what is still in the window; each leads to the one before it and to the feed."""
    write_many(tmp_path / "repo", range(120))
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


@pytest.mark.parametrize(
    ("gone", "base_url"), [(range(50), None), (range(50, 100), BASE), (range(100, 150), None), (range(150), BASE)]
)
def test_a_document_that_lost_all_its_memos_ends_no_walk(tmp_path: Path, gone: range, base_url: str | None) -> None:
    """Memos of a year are removed: their archive document is empty, which a subscriber takes for a broken one."""
    repo = tmp_path / "repo"
    write_many(repo, range(170))
    folder = build(repo, base_url)
    for number in gone:
        next((repo / "memos/read").glob(f"*--memo-{number}.openthing")).unlink()
    build(repo, base_url)
    left = {str(number) for number in range(170) if number not in gone}
    assert set(walk(folder / "feed.xml")) == left
    done = watch("--once", "--since", "all", folder / "feed.xml", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.rpartition("-")[2].removesuffix(".openthing") for line in done.stdout.splitlines()} == left
    assert (folder / f"feed-{gone.start // 50 + 1}.xml").is_file()


@pytest.mark.parametrize(("window", "base_url"), [(1, BASE), (50, None)])
def test_a_walk_along_the_archive_finds_everything(tmp_path: Path, window: int, base_url: str | None) -> None:
    """However small the window; what is in no full document is in the feed itself."""
    write_many(tmp_path / "repo", range(149), hours=1000)
    write_json(tmp_path / "repo/memosite.yml", {"feeds": {"window": window, "days": 0}})
    folder = build(tmp_path / "repo", base_url)
    assert set(walk(folder / "feed.xml")) == {str(number) for number in range(149)}


def test_a_full_document_never_changes_its_members(tmp_path: Path) -> None:
    """A late memo with an old date joins the end, a removed one leaves its place, a moved one tells its new path."""
    repo = tmp_path / "repo"
    write_many(repo, range(60))
    folder = build(repo)
    before = names(folder / "feed-1.xml")
    write_many(repo, range(60, 70))
    build(repo)
    write_memo(repo / "memos/inbox", "2020-01-01-0900--engineer--director--late", sent="2020-01-01T09:00:00Z")
    next((repo / "memos/read").glob("*--memo-7.openthing")).unlink()
    moved = next((repo / "memos/read").glob("*--memo-9.openthing"))
    (repo / "memos/archive").mkdir()
    moved.rename(repo / "memos/archive" / moved.name)
    build(repo)
    after = names(folder / "feed-1.xml")
    assert after == [name for name in before if name != "7"]
    assert f"new memo: memos/archive/{moved.name}" in found(read_feed(folder / "feed-1.xml"), "//description/text()")
    assert "late" in names(folder / "feed.xml")
    assert names(folder / "feed-2.xml")[0] == "late"
    assert len(names(folder / "feed-2.xml")) == 21


def test_what_joins_a_feed_later_does_not_move_what_is_there(tmp_path: Path) -> None:
    """A position gets another name: older memos under it come after what full documents hold."""
    repo = tmp_path / "repo"
    for number in range(10):
        name = f"2025-01-{number + 1:02d}-0900--engineer--boss--old-{number}"
        write_memo(repo / "memos/read", name, to="boss", sent=f"2025-01-{number + 1:02d}T09:00:00Z")
    write_many(repo, range(60))
    folder = build(repo)
    before = (folder / "feed-1.xml").read_bytes()
    write_json(repo / "memosite.yml", {"positions": {"aliases": {"boss": "director"}}})
    build(repo)
    assert (folder / "feed-1.xml").read_bytes() == before
    assert {f"old-{number}" for number in range(10)} <= set(names(folder / "feed.xml"))
    assert (folder.parent / "boss/feed.xml").read_bytes() == (folder / "feed.xml").read_bytes()


def test_what_joins_a_feed_late_is_in_the_window_though_its_block_is_full_at_once(tmp_path: Path) -> None:
    """Else a subscriber finds nothing new there, and never looks into the archive."""
    repo = tmp_path / "repo"
    write_memo(repo / "memos/read", "2025-01-01-0900--engineer--boss--old", to="boss", sent="2025-01-01T09:00:00Z")
    write_many(repo, range(49))
    write_json(repo / "memosite.yml", {"feeds": {"window": 1, "days": 0}})
    assert "old" not in walk(build(repo) / "feed.xml")
    (repo / "memosite.yml").write_text("feeds: {window: 1, days: 0}\npositions: {aliases: {boss: director}}\n")
    folder = build(repo)
    assert "old" in names(folder / "feed-1.xml")
    assert "old" in names(folder / "feed.xml")


def test_a_watch_of_either_feed_finds_everything(tmp_path: Path) -> None:
    """The one for people holds fifty; what came before them is in the same documents."""
    write_many(tmp_path / "repo", range(130))
    folder = build(tmp_path / "repo")
    for name in ("feed.xml", "feed-full.xml"):
        done = watch("--once", "--since", "all", folder / name, folder=tmp_path / name)
        assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 130)


def test_archive_documents_of_a_feed_that_goes_on_elsewhere_stay(tmp_path: Path) -> None:
    """An address once published answers for ever (SPEC 4)."""
    repo = tmp_path / "repo"
    write_many(repo, range(60))
    folder = build(repo)
    before = names(folder / "feed-1.xml")
    write_json(repo / "memosite.yml", {"positions": {"aliases": {"director": "head"}}})
    build(repo)
    assert names(folder / "feed-1.xml") == before
    assert names(folder / "feed.xml") == names(folder.parent / "head/feed.xml")


def test_the_window_goes_by_arrival(tmp_path: Path) -> None:
    """A memo that comes late with an old date is among the newest, and unread ones stay however old they are."""
    repo = tmp_path / "repo"
    write_many(repo, range(1), mailbox="inbox")
    write_many(repo, range(1, 300))
    build(repo)
    write_memo(repo / "memos/read", "2020-01-01-0900--engineer--director--late", sent="2020-01-01T09:00:00Z")
    folder = build(repo)
    shown = names(folder / "feed.xml")
    assert shown[-1] == "late"
    assert shown[-2] == "0"
    assert shown[:-2] == [str(number) for number in range(299, 250, -1)]


def test_a_feed_reaches_back_thirty_days_from_the_newest(tmp_path: Path) -> None:
    """Where more than fifty arrive in that time."""
    write_many(tmp_path / "repo", range(400), hours=6)
    assert names(build(tmp_path / "repo") / "feed.xml") == [str(number) for number in range(399, 278, -1)]


def test_a_date_far_ahead_does_not_hold_the_window_open(tmp_path: Path) -> None:
    """A slip of the pen in one memo is not believed."""
    repo = tmp_path / "repo"
    write_many(repo, range(100))
    write_memo(repo / "memos/read", "9999-12-31-0900--engineer--director--slip", sent="9999-12-31T09:00:00Z")
    build(repo)
    write_many(repo, range(100, 200))
    assert set(names(build(repo) / "feed.xml")) == {str(number) for number in range(150, 200)}


def test_every_feed_has_archive_documents(tmp_path: Path) -> None:
    """The whole archive's, a thread's: whatever is longer than one block."""
    repo = tmp_path / "repo"
    for number in range(60):
        sent = START + dt.timedelta(days=number)
        name = f"{sent:%Y-%m-%d-%H%M}--a--director--memo-{number}"
        write_memo(repo / "memos/read", name, thread_id="long", sent=sent.isoformat())
    output = build(repo).parent.parent
    assert len(names(output / "feed-1.xml")) == len(names(output / "threads/long/feed-1.xml")) == 50
    assert len(names(output / "threads/long/feed.xml")) == 50
    assert len(set(walk(output / "threads/long/feed.xml"))) == len(set(walk(output / "feed.xml"))) == 60
