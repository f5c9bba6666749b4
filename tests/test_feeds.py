"""The feed of a position: what every reader relies on (FEEDS)."""

import datetime as dt
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from memosite.facts.times import read_moment
from memosite.feeds import Enclosure, Feed, FeedItem, rfc822, tag_uri, to_rss
from tests.support.feeds.documents import read_feed
from tests.support.memos import write_memo, write_org
from tests.support.pages import found
from tests.support.sites import build_site

MEMO = "{https://memosite.invalid/ns/memo/1}"
ALWAYS = ("path", "repo", "from", "to", "subject", "sent", "action_required", "sha256")


def feed_of(site: Path, position: str) -> "etree._Element":
    """The feed of a position of a built site."""
    return read_feed(site / "positions" / position / "feed.xml")


@pytest.fixture
def organization(tmp_path: Path) -> Path:
    """One repo with three memos to the director, one of them read, one to all."""
    repo = tmp_path / "repo"
    write_memo(repo / "memos/inbox", "2026-05-01-0900--engineer--director--one", to="director", action_required=True)
    write_memo(
        repo / "memos/read", "2026-05-02-0900--engineer--director--two", to="director", sent="2026-05-02T09:00:00-04:00"
    )
    write_memo(repo / "memos/inbox", "2026-05-03-0900--engineer--all--three", to="all", sent="2026-05-03T09:00:00Z")
    write_memo(repo / "memos/inbox", "2026-05-04-0900--director--engineer--four", sender="director", to="engineer")
    return repo


def test_a_feed_announces_the_memos_to_the_position_and_to_all(organization: Path, tmp_path: Path) -> None:
    """Newest first by (sent, id), each once, with its path as the only text."""
    build_site(organization, output=tmp_path / "out")
    feed = feed_of(tmp_path / "out", "director")
    ids = [guid.rpartition("/")[2] for guid in found(feed, "//guid/text()")]
    assert [id_.rpartition("--")[2] for id_ in ids] == ["three", "two", "one"]
    assert found(feed, "//item/description/text()")[1] == f"new memo: memos/read/{ids[1]}.openthing"
    assert found(feed, "//item/category/text()") == ["action-required"]


def test_an_item_holds_every_field_of_the_machine(organization: Path, tmp_path: Path) -> None:
    """All are there in every item, since some readers stop at a missing one."""
    build_site(organization, output=tmp_path / "out")
    for item in feed_of(tmp_path / "out", "director").iter("item"):
        assert all(item.find(MEMO + name) is not None for name in ALWAYS)


def test_a_guid_is_made_of_configuration_and_identity_alone(organization: Path, tmp_path: Path) -> None:
    """It stays when the site moves, and never looks like an address."""
    build_site(organization, output=tmp_path / "one")
    build_site(organization, output=tmp_path / "two", base_url="https://archive.example.org/memos/")
    one, two = (feed_of(tmp_path / name, "director") for name in ("one", "two"))
    assert found(one, "//guid/text()") == found(two, "//guid/text()")
    assert found(one, "//guid/@isPermaLink") == ["false"] * 3
    assert all(guid.startswith("tag:memosite.invalid,2026:archive/memo/2026-") for guid in found(one, "//guid/text()"))


def test_without_an_address_there_is_no_link_and_no_enclosure(organization: Path, tmp_path: Path) -> None:
    """A feed that was not published anywhere must not pretend."""
    build_site(organization, output=tmp_path / "out")
    feed = feed_of(tmp_path / "out", "director")
    assert found(feed, "//item/link | //enclosure | //*[local-name()='link' and @rel='self']") == []
    assert found(feed, "/rss/channel/link/text()") == ["urn:memosite:archive"]


def test_with_an_address_links_are_absolute_and_lengths_exact(organization: Path, tmp_path: Path) -> None:
    """The enclosure is the published original, byte for byte."""
    build_site(organization, output=tmp_path / "out", base_url="https://archive.example.org/m/")
    feed = feed_of(tmp_path / "out", "director")
    assert found(feed, "//*[local-name()='link' and @rel='self']/@href") == [
        "https://archive.example.org/m/positions/director/feed.xml"
    ]
    for url, length in zip(found(feed, "//enclosure/@url"), found(feed, "//enclosure/@length"), strict=True):
        original = tmp_path / "out" / url.removeprefix("https://archive.example.org/m/")
        assert original.stat().st_size == int(length)


def test_dates_are_rfc_822_with_the_written_zone(organization: Path, tmp_path: Path) -> None:
    """And with the right weekday, which strict readers check."""
    build_site(organization, output=tmp_path / "out")
    dates = found(feed_of(tmp_path / "out", "director"), "//pubDate/text()")
    assert dates[1] == "Sat, 02 May 2026 09:00:00 -0400"
    assert all(parsedate_to_datetime(date).strftime("%a") == date[:3] for date in dates)


@pytest.mark.parametrize(
    "text", ["2026-05-01T09:00:00+05:30", "2026-05-01T09:00:00Z", "2026-05-01", "1999-12-31T23:59:59.5Z"]
)
def test_every_date_has_an_rfc_822_form(text: str) -> None:
    """The instant survives."""
    moment = read_moment(text)
    assert moment is not None
    assert parsedate_to_datetime(rfc822(moment)) == moment.instant.replace(microsecond=0)


def test_an_old_unread_memo_stays_in_the_window(tmp_path: Path) -> None:
    """All unread, and the newest fifty by arrival (FEEDS, window)."""
    repo = tmp_path / "repo"
    start = dt.datetime(2026, 1, 1, 9, tzinfo=dt.UTC)
    for number in range(120):
        sent = start + dt.timedelta(days=number)
        name = f"{sent:%Y-%m-%d-%H%M}--engineer--director--memo-{number}"
        write_memo(repo / f"memos/{'read' if number else 'inbox'}", name, to="director", sent=sent.isoformat())
    build_site(repo, output=tmp_path / "out")
    guids = found(feed_of(tmp_path / "out", "director"), "//guid/text()")
    assert guids[-1].endswith("memo-0")
    assert [guid.rpartition("-")[2] for guid in guids[:-1]] == [str(number) for number in range(119, 69, -1)]


def test_a_path_is_told_as_it_is_unless_it_could_break_a_line(tmp_path: Path) -> None:
    """Spaces of any kind are part of a name; what controls or reorders becomes U+FFFD."""
    inbox = tmp_path / "repo/memos/inbox"
    write_memo(inbox, "2026-05-01-0900--engineer--director--a\u00a0b\u3000c")
    write_memo(inbox, "2026-05-02-0900--engineer--director--d\nnew memo: e\u202ef")
    build_site(tmp_path / "repo", output=tmp_path / "out")
    assert found(feed_of(tmp_path / "out", "director"), "//item/description/text()") == [
        "new memo: memos/inbox/2026-05-02-0900--engineer--director--d\ufffdnew memo: e\ufffdf.openthing",
        "new memo: memos/inbox/2026-05-01-0900--engineer--director--a\u00a0b\u3000c.openthing",
    ]


HOSTILE = "a\x00b\x0b\ufffe\ud800<script>&\"']]>\u0085\u2028"


def test_no_character_can_break_a_feed() -> None:
    """What XML 1.0 forbids becomes U+FFFD; the rest is escaped once."""
    item = FeedItem(
        guid=HOSTILE, title=HOSTILE, path=HOSTILE, repo=HOSTILE, sender=HOSTILE, to=HOSTILE, subject=HOSTILE,
        sha256="0", action_required=False, link=HOSTILE, thread_id=HOSTILE, parent_guid=HOSTILE,
        enclosure=Enclosure(url=HOSTILE, length=1, type="application/json"),
    )  # fmt: skip
    feed = Feed(
        title=HOSTILE,
        description=HOSTILE,
        language="en",
        generator="g",
        position=HOSTILE,
        fallback_link=HOSTILE,
        items=(item,),
    )
    tree = etree.fromstring(to_rss(feed))
    assert found(tree, "//item/title/text()") == ["a\ufffdb\ufffd\ufffd\ufffd<script>&\"']]>\u0085\u2028"]


WORDS = st.text(st.sampled_from("a \u00e9\U0001f600&<>\"'\r\n\t]\x00\x7f\x85\ud800\ufffe\u2028")).map("a".__add__)
"""Texts of what has to be escaped, and no text of spaces alone, which a parser may leave out."""


@given(title=WORDS, path=WORDS, guid=WORDS, parent=st.none() | WORDS, url=st.none() | WORDS, html=st.none() | WORDS)
def test_an_item_is_written_as_a_library_would_write_it(
    *, title: str, path: str, guid: str, parent: str | None, url: str | None, html: str | None
) -> None:
    """Items are written by hand, since there are hundreds in a feed: read and written by lxml they are the same."""
    item = FeedItem(
        guid=guid, title=title, path=path, repo="r", sender="s", to="", subject=title, sha256="0",
        action_required=False, is_open=True, link=url, parent_guid=parent, date=read_moment("2026-05-01T09:00:00Z"),
        enclosure=None if url is None else Enclosure(url=url, length=1, type=title),
    )  # fmt: skip
    feed = Feed(
        title="t", description="d", language="en", generator="g", fallback_link="urn:f", items=(item, item),
        is_archive=True, position="p",
    )  # fmt: skip
    written = to_rss(feed, {} if html is None else {guid: html})
    tree = etree.fromstring(written, etree.XMLParser(remove_blank_text=True))
    for element in tree.iter("{*}to", "{*}sent"):
        element.text = ""  # what is read as nothing at all
    assert etree.tostring(tree, encoding="UTF-8", xml_declaration=True, pretty_print=True) == written


def test_a_feed_of_a_position_without_memos_is_empty_and_well_formed(organization: Path, tmp_path: Path) -> None:
    """Positions have a feed before they have memos."""
    write_org(organization / "org", positions=["archivist"])
    build_site(organization, output=tmp_path / "out")
    feed = feed_of(tmp_path / "out", "archivist")
    assert [guid.rpartition("--")[2] for guid in found(feed, "//guid/text()")] == ["three"]


def test_the_tag_is_an_rfc_4151_uri() -> None:
    """Authority, archive, kind, id."""
    assert tag_uri("example.org,2026", "a", "memo", "x") == "tag:example.org,2026:a/memo/x"
