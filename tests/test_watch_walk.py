"""From a feed through its archives: no gap behind the window, and nothing committed that is not certain."""

from pathlib import Path

import pytest

from memosite.feeds.document import FeedDocument, ReceivedItem, read_document
from memosite.fetch import Failed, Fetched, FetchOutcome
from memosite.watch.policy import Bounds, archive_address, walk
from tests.support.feeds import misdeeds
from tests.support.feeds.publisher import FEED, Misdeed, Publisher, Request, answer_well, guid, publishing
from tests.support.watches import no_proxy, watch_of

__all__ = ["no_proxy"]


def test_an_old_unread_memo_does_not_hide_what_came_behind_it(tmp_path: Path) -> None:
    """Though 200 were read since; a walk ends at the first archive that is known."""
    publisher = Publisher()
    publisher.arrive(60)
    with publishing(publisher) as published, watch_of(published.feed, tmp_path) as (watching, notebook):
        watching.cycle()
        publisher.read(*range(1, 60))
        publisher.arrive(200, state="read")
        watching.cycle()
        assert notebook.guids == publisher.guids()
        watching.cycle()
        assert len(notebook.guids) == 260
    tmp_path = tmp_path / "known"
    publisher = Publisher(block=10, window=10)
    publisher.arrive(45, state="read")
    with publishing(publisher) as published, watch_of(published.feed, tmp_path, interval=1000.0) as (watching, _):
        watching.cycle()
        published.requests.clear()
        publisher.arrive(20, state="read")
        watching.cycle()
        watching.cycle()
        paths = [path.rpartition("/")[2] for path, _ in published.requests]
    assert paths == ["feed.xml", "feed-6.xml", "feed-5.xml", "feed-4.xml", "feed.xml"]


IN_ARCHIVES: dict[str, Misdeed] = {
    "missing": misdeeds.error(404), "broken": misdeeds.error(500), "empty file": misdeeds.body(b""),
    "empty channel": misdeeds.body(misdeeds.RSS), "cut off": misdeeds.truncated(0.7), "redirect loop": misdeeds.looping,
}  # fmt: skip
AT_ALL = {name: misdeeds.only_archives(misdeed) for name, misdeed in IN_ARCHIVES.items()}
AT_ALL |= {"loop": misdeeds.newest_archive_for_all, "catch-all": misdeeds.feed_for_all}


@pytest.mark.parametrize("misdeed", AT_ALL.values(), ids=AT_ALL)
def test_a_walk_that_does_not_reach_its_end_commits_nothing(misdeed: Misdeed, tmp_path: Path) -> None:
    """Not even what is certain, nor the validators: the next poll finds it all."""
    publisher = Publisher(block=20, window=20)
    publisher.arrive(10)
    with publishing(publisher) as published, watch_of(published.feed, tmp_path) as (watching, notebook):
        watching.cycle()
        publisher.read(*range(10))
        publisher.arrive(90, state="read")
        published.misdeed = misdeed
        watching.cycle()
        watching.cycle()
        assert len(notebook.guids) == 10 and "archive http://127.0.0.1" in notebook.said[0]
        assert len(notebook.said) == 1
        published.misdeed = None
        watching.cycle()
        assert notebook.guids == publisher.guids()


def read_by_walk(documents: dict[str, bytes]) -> tuple[ReceivedItem, ...] | Failed:
    """Walk over documents by their addresses, from `feed.xml` of example.org, knowing nothing yet."""
    answers = {f"https://example.org/{name}": data for name, data in documents.items()}

    def get(address: str) -> FetchOutcome:
        return Fetched(address=address, data=answers[address]) if address in answers else Failed(reason="404")

    first = read_document(documents["feed.xml"])
    assert isinstance(first, FeedDocument)
    return walk(first, "https://example.org/feed.xml", unknown=frozenset, get=get, bounds=Bounds())


def test_what_is_no_further_archive_does_not_end_the_walk() -> None:
    """An old copy of the feed in an archive's place leads nowhere, and would hide a gap; two never share an item."""
    small, large = Publisher(block=5, window=5, states=["inbox"] * 3), Publisher(block=5, window=5, states=["read"] * 9)
    feed, old = large.document("/feed.xml") or b"", small.document("/feed.xml") or b""
    found = read_by_walk({"feed.xml": feed, "feed-1.xml": old})
    assert isinstance(found, Failed) and "no fh:archive" in found.reason
    publisher = Publisher(block=5, window=5, states=["read"] * 17)
    documents = {name: publisher.document(f"/{name}") or b"" for name in ("feed.xml", "feed-3.xml", "feed-1.xml")}
    documents["feed-2.xml"] = documents["feed-3.xml"].replace(b"feed-2.xml", b"feed-1.xml")
    found = read_by_walk(documents)
    assert isinstance(found, Failed) and "items of a newer archive" in found.reason


@pytest.mark.parametrize("bounds", [Bounds(archives=10), Bounds(bytes=5000)])
def test_a_walk_is_bounded(bounds: Bounds, tmp_path: Path) -> None:
    """In documents and in bytes."""
    publisher = Publisher(block=2, window=2)
    publisher.arrive(40, state="read")
    with publishing(publisher) as published, watch_of(published.feed, tmp_path, bounds=bounds) as (watching, notebook):
        watching.cycle()
        assert not notebook.memos and "found more than" in notebook.said[0]


def test_a_site_on_disk_that_was_built_for_an_address_is_walked(tmp_path: Path) -> None:
    """Its links are absolute, and lead nowhere from here. Items come oldest first, with the path of now."""
    publisher = Publisher(block=5, window=5, base="https://memos.example.org")
    publisher.arrive(17)
    publisher.read(3)
    folder = tmp_path / FEED.strip("/").rpartition("/")[0]
    folder.mkdir(parents=True)
    for name in ("feed.xml", "feed-1.xml", "feed-2.xml", "feed-3.xml"):
        (folder / name).write_bytes(publisher.document(f"/positions/director/{name}") or b"")
    with watch_of((folder / "feed.xml").as_uri(), tmp_path) as (watching, notebook):
        watching.cycle()
    assert notebook.guids == publisher.guids() and notebook.memos[3].path.startswith("memos/read/")


def picky(request: Request, document: bytes | None) -> None:
    """A proxy that answers 400 to each conditional question."""
    request.give(400) if request.headers["If-None-Match"] else answer_well(request, document)


@pytest.mark.parametrize("misdeed", [misdeeds.stale, picky])
def test_a_server_that_misjudges_validators_is_asked_without_them_at_times(misdeed: Misdeed, tmp_path: Path) -> None:
    """After ten answers of 304, or of 400: either would silence a feed for ever."""
    publisher = Publisher(states=["inbox"])
    with publishing(publisher) as published, watch_of(published.feed, tmp_path) as (watching, notebook):
        watching.cycle()
        published.misdeed = misdeed
        publisher.arrive()
        for _ in range(12):
            watching.cycle()
        assert notebook.guids == [guid(0), guid(1)]
        assert not notebook.said or misdeed is picky


@pytest.mark.parametrize(("since", "expected"), [("all", [0, 1, 2, 3]), ("inbox", [1, 3]), ("now", [])])
def test_a_first_run_announces_what_it_is_told_to(since: str, expected: list[int], tmp_path: Path) -> None:
    """Unread memos of the archives, too; afterwards everything is new."""
    publisher = Publisher(block=2, window=2, states=["read", "inbox", "read", "inbox"])
    with publishing(publisher) as published, watch_of(published.feed, tmp_path, since=since) as (watching, notebook):
        watching.cycle()
        assert notebook.guids == [guid(number) for number in expected]
        publisher.arrive(state="read")
        watching.cycle()
        assert notebook.guids == [guid(number) for number in [*expected, 4]]


def test_a_first_run_that_fails_is_still_the_first_run(tmp_path: Path) -> None:
    """Otherwise everything that was ever read would be announced. One of an empty feed counts: what comes is new."""
    publisher = Publisher(block=2, window=2, states=["read"] * 5 + ["inbox"])
    with publishing(publisher) as published, watch_of(published.feed, tmp_path, since="inbox") as (watching, notebook):
        published.misdeed = misdeeds.only_archives(misdeeds.error(404))
        watching.cycle()
        published.misdeed = None
        watching.cycle()
    assert notebook.guids == [guid(5)]
    new, folder = Publisher(), tmp_path / "empty"
    with publishing(new) as published, watch_of(published.feed, folder, since="inbox") as (watching, notebook):
        watching.cycle()
        new.arrive(2, state="read")
        watching.cycle()
    assert notebook.guids == new.guids()


BUILT_FOR = ("https://b.example/p/x/feed.xml",)
A, DISK, LOCAL = "https://a.example/p/x/feed.xml", "file:///s/p/x/feed.xml", "http://127.0.0.1:8000/p/x/feed.xml"
THIRD = "https://b.example/p/x/feed-3.xml"
ADDRESSES: list[tuple[str, str, tuple[str, ...], str | None]] = [
    (A, "feed-3.xml", (), "https://a.example/p/x/feed-3.xml"),
    (A, "../y/feed-3.xml", (), "https://a.example/p/y/feed-3.xml"),
    (A, "https://a.example:443/p/feed-3.xml#a", (), "https://a.example:443/p/feed-3.xml"),
    *((A, href, (), None) for href in (THIRD, "http://a.example/p/x/feed-3.xml", "file:///etc/passwd", "http://[")),
    (DISK, "feed-3.xml", (), "file:///s/p/x/feed-3.xml"),
    (DISK, "../y/feed-3.xml", (), "file:///s/p/y/feed-3.xml"),
    (DISK, "/etc/passwd", (), None),
    (DISK, "%2E%2E/%2e%2e/secret", (), None),
    (DISK, THIRD, BUILT_FOR, "file:///s/p/x/feed-3.xml"),
    ("file:///s/p/z/feed.xml", THIRD, BUILT_FOR, "file:///s/p/x/feed-3.xml"),
    ("file:///s/_site/feed.xml", "https://b.example/m/feed-3.xml", ("https://b.example/m/feed.xml",),
     "file:///s/_site/feed-3.xml"),
    (LOCAL, THIRD, BUILT_FOR, "http://127.0.0.1:8000/p/x/feed-3.xml"),
    (LOCAL, "https://c.example/p/x/feed-3.xml", BUILT_FOR, None),
]  # fmt: skip


def test_archives_lie_beside_their_feed() -> None:
    """Of one origin; a site that is read elsewhere than it was built for takes its archives from there."""
    for address, href, bases, expected in ADDRESSES:
        document = FeedDocument(items=(ReceivedItem(guid="g", path="p"),), previous=href, bases=bases)
        found = archive_address(document, address)
        assert found == expected if expected else isinstance(found, Failed), (address, href)
