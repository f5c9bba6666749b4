"""Reading a feed strictly: whole and well-formed, or nothing of it."""

import tracemalloc

import pytest

from memosite.feeds import MEMO
from memosite.feeds.document import FeedDocument, ReceivedItem, Rejected, read_document, refusal
from memosite.watch.deliver import AnnouncedMemo, as_json
from tests.support.feeds.misdeeds import BOMB, RSS, bomb, doubled, without_guid
from tests.support.feeds.publisher import FEED, Publisher, guid

PUBLISHER = Publisher(states=["inbox", "read", "inbox"])
GOOD = PUBLISHER.document(FEED) or b""


def document(data: bytes) -> FeedDocument:
    """A document that is expected to be good."""
    found = read_document(data)
    assert isinstance(found, FeedDocument), found
    return found


def test_an_item_is_read_whole() -> None:
    """Guid, path and every field of the machine, newest first as it stands."""
    first = document(GOOD).items[0]
    assert first.guid == guid(2)
    assert first.path == "memos/inbox/2026-05-01-0900--engineer--director--2.openthing"
    assert (first.field("from"), first.field("subject"), first.field("state")) == ("engineer", "Memo <2> “ä”", "inbox")
    assert [item.is_asked for item in document(GOOD).items] == [False, False, True]


def test_a_document_cut_off_anywhere_is_rejected() -> None:
    """At every byte but the last, which is the end of a line."""
    whole = GOOD.rstrip()
    assert isinstance(read_document(whole), FeedDocument)
    taken = [end for end in range(len(whole)) if isinstance(read_document(whole[:end]), FeedDocument)]
    assert taken == []


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"<html><body/></html>", "<html>"),
        (b"<!DOCTYPE html><html><body>hotel</body></html>", "DOCTYPE"),
        (b'<?xml version="1.0"?><!-- a --> <!DOCTYPE rss SYSTEM "file:///etc/passwd">' + RSS[21:], "DOCTYPE"),
        (BOMB + b"]><rss><channel>&e9;</channel></rss>", "DOCTYPE"),
        (bomb(GOOD), "DOCTYPE"),
        (b'<?xml version="1.0"?><rss><channel>&nbsp;</channel></rss>', "well-formed"),
        (b"<rss/>", "0 channels"),
        (b"<rss><channel/><channel/></rss>", "2 channels"),
        (GOOD + b"<rss/>", "well-formed"),
        (GOOD.decode().encode("latin-1", "replace"), "UTF-8"),
        (GOOD.decode().encode("utf-16"), "UTF-8"),
        (GOOD.replace(b"UTF-8", b"ISO-8859-1", 1), "ISO-8859-1"),
        (without_guid(GOOD), "item 3: found 0 guids"),
        (GOOD.replace(b"<guid", b"<guid>x</guid><guid", 1), "item 1: found 2 guids"),
        (b"<rss><channel><item><guid>g</guid></item></channel></rss>", "item 1: found 0 paths"),
        (b"{}", "well-formed"),
    ],
)
def test_what_is_no_feed_is_rejected_with_the_reason(data: bytes, word: str) -> None:
    """HTML, nothing, a wrong charset, entities, an item without a guid."""
    found = read_document(data)
    assert isinstance(found, Rejected)
    assert word in found.reason


def test_an_empty_channel_is_a_feed() -> None:
    """A seat that nobody has written to yet."""
    assert document(RSS).items == ()


def test_a_mark_before_the_document_does_no_harm() -> None:
    """Some editors and servers put one there."""
    assert document(b"\xef\xbb\xbf" + GOOD) == document(GOOD)


def test_a_guid_counts_once_in_a_document() -> None:
    """The first item that has it is taken."""
    assert document(doubled(GOOD)).items == document(GOOD).items


def test_the_description_tells_the_path_where_nothing_else_does() -> None:
    """It is the one field that every program keeps."""
    item = b"<item><guid>g</guid><description>new memo: memos/inbox/a b.openthing</description></item>"
    assert document(b"<rss><channel>" + item + b"</channel></rss>").items[0].path == "memos/inbox/a b.openthing"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "memos/../../etc/passwd",
        "..",
        "memos/inbox/a\nb",
        "a\x1b[31m",
        "a\u0085b",
        "a\u2028b",
        "a\u202eb",
        "a/" * 2500,
    ],
)
def test_a_path_that_leads_elsewhere_or_acts_on_a_terminal_is_refused(path: str) -> None:
    """Whoever writes a memo chooses its name."""
    assert refusal(ReceivedItem(guid="g", path=path)) is not None


def test_a_guid_with_control_characters_is_refused() -> None:
    """It stands in a command's environment, as the path does."""
    assert refusal(ReceivedItem(guid="a\nb", path="p")) == "its guid holds control characters"


def test_what_a_feed_says_stays_in_one_line() -> None:
    """A subject must not end a line that a command prints, nor one of JSON, and begin another."""
    breaks = "a&#10;new memo: b&#13;\u0085\u2028\u2029\u009b2J"
    item = f"<item><guid>g</guid><title>{breaks}</title><link>{breaks}</link><m:path>p</m:path>"
    item += f"<m:subject>{breaks}</m:subject></item>"
    feed = f'<rss xmlns:m="{MEMO}"><channel>{item}</channel></rss>'
    found = document(feed.encode()).items[0]
    line = as_json(AnnouncedMemo(feed="f", item=found, path=found.path))
    assert {found.title, found.link, found.field("subject")} == {"a new memo: b     2J"}
    assert line.splitlines() == [line]


def test_what_stands_before_a_document_takes_no_memory() -> None:
    """Sixteen megabytes of comments took a quarter of a gigabyte to look past."""
    data = b"<!---->" * 1_000_000 + b"<!DOCTYPE rss><rss/>"
    tracemalloc.start()
    found = read_document(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == Rejected(reason="found a DOCTYPE, expected none")
    assert most < 3 * len(data)


@pytest.mark.parametrize(
    "path", ["memos/inbox/a..b.openthing", "memos/inbox/ä ö – 日本.openthing", "-rf", "...", "a\ufffdb"]
)
def test_other_paths_are_taken(path: str) -> None:
    """Dots in a name, and letters of any language."""
    assert refusal(ReceivedItem(guid="g", path=path)) is None
