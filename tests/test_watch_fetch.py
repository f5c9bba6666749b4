"""Getting documents, within bounds and with credentials; reading feeds strictly: whole and well-formed, or nothing."""

import contextlib
import os
import socket
import threading
import tracemalloc
from pathlib import Path

import pytest

from memosite.facts.errors import ConfigError
from memosite.feeds import MEMO
from memosite.feeds.document import FeedDocument, ReceivedItem, Rejected, read_document, refusal
from memosite.fetch import Failed, Fetched, FetchOutcome, Unchanged
from memosite.fetch.client import Credentials, Fetcher, read_credentials
from memosite.watch.deliver import AnnouncedMemo, as_json
from tests.support.feeds import misdeeds
from tests.support.feeds.publisher import FEED, Misdeed, Publisher, Publishing, Request, guid, publishing
from tests.support.servers import trusted
from tests.support.watches import no_proxy

__all__ = ["no_proxy"]


def get(published: Publishing, misdeed: Misdeed | None = None, fetcher: Fetcher | None = None) -> FetchOutcome:
    """Ask for the feed once."""
    published.misdeed = misdeed
    return (fetcher or Fetcher(timeout=60)).get(published.feed)


def reason(answer: FetchOutcome) -> str:
    """Why there was no document."""
    assert isinstance(answer, Failed), answer
    return answer.reason


def drip(request: Request, _: bytes | None) -> None:
    """A byte now and then, without end."""
    request.send_response(200)
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    while True:
        request.wfile.write(b" ")
        request.wfile.flush()
        request.server.publishing.pause.wait(0.01)


def silent(request: Request, _: bytes | None) -> None:
    """No answer at all until the test is over."""
    request.server.publishing.pause.wait(30)


def endless(request: Request, _: bytes | None) -> None:
    """A body without a length and without an end."""
    request.send_response(200)
    request.end_headers()
    while True:
        request.wfile.write(b" " * 65_536)


def test_validators_are_sent_together_and_redirects_are_followed() -> None:
    """If-Modified-Since only beside an ETag; the address is where the document was at last."""
    with publishing(Publisher(states=["inbox"])) as published:
        first = get(published)
        assert isinstance(first, Fetched) and first.etag
        fetcher = Fetcher()
        again = fetcher.get(published.feed, etag=first.etag, last_modified=first.last_modified)
        assert isinstance(again, Unchanged)
        fetcher.get(published.feed, last_modified=first.last_modified)
        asked = [headers for _, headers in published.requests]
    assert asked[1]["if-none-match"] == first.etag and asked[1]["if-modified-since"] == first.last_modified
    assert not {"if-none-match", "if-modified-since"} & (asked[0].keys() | asked[2].keys())

    def moved(request: Request, _: bytes | None) -> None:
        request.give(200, b"here") if "new" in request.path else request.give(301, Location="/new/feed.xml#top")

    with publishing(Publisher()) as published:
        answer = get(published, moved)
        assert answer == Fetched(address=f"{published.root}/new/feed.xml", data=b"here")


def test_what_is_no_document_is_a_reason() -> None:
    """Errors, short bodies, bounds, redirects that lead nowhere or elsewhere."""
    for misdeed, word in (
        (misdeeds.error(404), "404"), (misdeeds.error(500), "500"), (misdeeds.error(204), "204"),
        (misdeeds.short(0.5), "expected"), (misdeeds.short(0.0), "found 0 bytes"),
        (misdeeds.chunked_half, "end of the connection"), (misdeeds.hung_up, "closed"),
        (misdeeds.blunt, "304 to an unconditional"), (misdeeds.looping, "redirects"),
        (misdeeds.wandering, "redirects"), (misdeeds.body(b"x", Content_Length="-1"), "Content-Length"),
        (misdeeds.body(b"", Content_Length=str(17 << 20)), "expected at most"),
        (misdeeds.body(b"x", Content_Encoding="gzip"), "gzip"),
        (lambda request, _: request.give(302, Location="file:///etc/passwd"), "file:///etc/passwd"),
        (lambda request, _: request.give(302, Location="ftp://127.0.0.1/"), "ftp"),
        (lambda request, _: request.give(302, Location="http://user:word@127.0.0.1/"), "redirect to"),
        (lambda request, _: request.give(302, Location="http://127.0.0.1:x/"), ""),
        (lambda request, _: request.give(302), "302"), (endless, "found more than"),
    ):  # fmt: skip
        with publishing(Publisher(states=["inbox"])) as published:
            assert word in reason(get(published, misdeed))


def test_a_server_that_drips_or_says_nothing_is_left() -> None:
    """Silence ends after the timeout, and everything after the time for the whole; at once, if that is over."""
    with publishing(Publisher(states=["inbox"])) as published:
        assert reason(get(published, silent, Fetcher(timeout=0.1))) == "no answer within 0.1 s"
        assert reason(get(published, drip, Fetcher(timeout=60, whole=0.2))) == "not done within 0.2 s"
        assert reason(get(published, drip, Fetcher(timeout=60, whole=1e-6))) == "not done within 1e-06 s"
        published.pause.set()


@pytest.mark.parametrize("drips", [b"\x16\x03\x03\x40\x00", b"HTTP/1.1 200 OK\r\nA: "], ids=["TLS", "head"])
def test_a_server_that_drips_before_its_answer_is_left(drips: bytes) -> None:
    """While TLS shakes hands, and within a header: each byte comes in time, the answer never."""
    is_over = threading.Event()

    def serve(listening: socket.socket) -> None:
        with listening.accept()[0] as connection, contextlib.suppress(OSError):
            connection.sendall(drips)
            while not is_over.wait(0.01):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        scheme = "http" if drips.startswith(b"HTTP") else "https"
        try:
            answer = Fetcher(timeout=60, whole=0.2).get(f"{scheme}://127.0.0.1:{listening.getsockname()[1]}/")
        finally:
            is_over.set()
            thread.join()
    assert reason(answer) == "not done within 0.2 s"


def test_retry_after_goes_by_the_servers_own_clock() -> None:
    """A number of seconds, or a date: two clocks that differ do not matter."""
    for header, date, wait in (
        ("120", "", 120.0), ("Fri, 01 May 2026 10:00:00 GMT", "Fri, 01 May 2026 09:58:00 GMT", 120.0),
        ("Fri, 01 May 2026 10:00:00 GMT", "Fri, 01 May 2026 11:00:00 GMT", 0.0), ("soon", "", None), ("-5", "", None),
    ):  # fmt: skip

        def busy(request: Request, _: bytes | None, header: str = header, date: str = date) -> None:
            request.send_response_only(503)
            for name, value in (("Retry-After", header), ("Date", date), ("Content-Length", "0")):
                if value:
                    request.send_header(name, value)
            request.end_headers()

        with publishing() as published:
            answer = get(published, busy)
        assert isinstance(answer, Failed) and answer.wait == wait


def test_a_token_goes_to_its_own_server_and_nowhere_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not along a redirect, nor without encryption; what netrc has for the machine goes, not what it has for all."""
    tls = trusted(tmp_path, monkeypatch)
    monkeypatch.setenv("MEMOSITE_TOKEN", "s3cret")
    with publishing(tls=tls) as published, publishing(tls=tls) as other:
        credentials = read_credentials([published.feed])
        published.misdeed = lambda request, _: request.give(302, Location=other.feed)
        Fetcher(credentials).get(published.feed)
        assert published.requests[0][1]["authorization"] == "Bearer s3cret"
        assert "authorization" not in other.requests[0][1]
        assert "s3cret" not in repr(credentials)
        with pytest.raises(ConfigError, match="2 servers"):
            read_credentials([published.feed, other.feed])
    with pytest.raises(ConfigError, match="expected https"):
        read_credentials(["http://127.0.0.1/feed.xml"])
    assert Credentials(token="t").header("https://example.org/") is None
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login director password open\ndefault login a password b\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.delenv("MEMOSITE_TOKEN")
    with publishing(tls=tls) as published, publishing() as plain:
        Fetcher(read_credentials([published.feed])).get(published.feed)
        assert published.requests[0][1]["authorization"] == "Basic ZGlyZWN0b3I6b3Blbg=="
        Fetcher(read_credentials([plain.feed])).get(plain.feed)
        assert "authorization" not in plain.requests[0][1]
    assert read_credentials(["https://example.org/"]).header("https://example.org/") is None
    netrc.write_text("machine 127.0.0.1 nonsense\n")
    with pytest.raises(ConfigError, match=r"netrc:2: cannot be read as netrc"):
        read_credentials([FEED])


def test_files_are_read_and_pipes_are_not_waited_for(tmp_path: Path) -> None:
    """Also a name with odd letters."""
    path = tmp_path / "feed ä#.xml"
    path.write_bytes(b"text")
    assert Fetcher().get(path.as_uri()) == Fetched(address=path.as_uri(), data=b"text")
    assert reason(Fetcher(limit=3).get(path.as_uri())) == "found more than 3 bytes"
    assert reason(Fetcher().get((tmp_path / "gone").as_uri())) == "No such file or directory"
    os.mkfifo(tmp_path / "pipe")
    assert "expected a file" in reason(Fetcher().get((tmp_path / "pipe").as_uri()))
    assert "directory" in reason(Fetcher().get(tmp_path.as_uri()))


PUBLISHER = Publisher(states=["inbox", "read", "inbox"])
GOOD = PUBLISHER.document(FEED) or b""


def document(data: bytes) -> FeedDocument:
    """A document that is expected to be good."""
    found = read_document(data)
    assert isinstance(found, FeedDocument), found
    return found


def test_what_is_no_feed_is_rejected_with_the_reason() -> None:
    """HTML, a wrong charset, entities, no guid, a cut at every byte but the last; each field of a whole one is read."""
    for data, word in [
        (b"", "empty"), (b" \n", "empty"), (b"<html><body/></html>", "<html>"),
        (b"<!DOCTYPE html><html><body>hotel</body></html>", "DOCTYPE"),
        (b'<?xml version="1.0"?><!-- a --> <!DOCTYPE rss SYSTEM "file:///etc/passwd">' + misdeeds.RSS[21:], "DOCTYPE"),
        (misdeeds.BOMB + b"]><rss><channel>&e9;</channel></rss>", "DOCTYPE"), (misdeeds.bomb(GOOD), "DOCTYPE"),
        (b'<?xml version="1.0"?><rss><channel>&nbsp;</channel></rss>', "well-formed"), (b"<rss/>", "0 channels"),
        (b"<rss><channel/><channel/></rss>", "2 channels"), (GOOD + b"<rss/>", "well-formed"),
        (GOOD.decode().encode("latin-1", "replace"), "UTF-8"), (GOOD.decode().encode("utf-16"), "UTF-8"),
        (GOOD.replace(b"UTF-8", b"ISO-8859-1", 1), "ISO-8859-1"),
        (misdeeds.without_guid(GOOD), "item 3: found 0 guids"),
        (GOOD.replace(b"<guid", b"<guid>x</guid><guid", 1), "item 1: found 2 guids"),
        (b"<rss><channel><item><guid>g</guid></item></channel></rss>", "item 1: found 0 paths"),
        (b"{}", "well-formed"),
    ]:  # fmt: skip
        found = read_document(data)
        assert isinstance(found, Rejected) and word in found.reason
    first = document(GOOD).items[0]
    assert (first.guid, first.path) == (guid(2), "memos/inbox/2026-05-01-0900--engineer--director--2.openthing")
    assert (first.field("from"), first.field("subject"), first.field("state")) == ("engineer", "Memo <2> “ä”", "inbox")
    assert [item.is_asked for item in document(GOOD).items] == [False, False, True]
    whole = GOOD.rstrip()
    assert isinstance(read_document(whole), FeedDocument)
    assert [end for end in range(len(whole)) if isinstance(read_document(whole[:end]), FeedDocument)] == []
    assert document(misdeeds.RSS).items == () and document(b"\xef\xbb\xbf" + GOOD) == document(GOOD)
    assert document(misdeeds.doubled(GOOD)).items == document(GOOD).items
    item = b"<item><guid>g</guid><description>new memo: memos/inbox/a b.openthing</description></item>"
    assert document(b"<rss><channel>" + item + b"</channel></rss>").items[0].path == "memos/inbox/a b.openthing"


def test_a_path_that_leads_elsewhere_or_acts_on_a_terminal_is_refused() -> None:
    """Whoever writes a memo chooses its name; a subject must not end a line; sixteen MB of comments take no memory."""
    bad = ["/etc/passwd", "memos/../../etc/passwd", "..", "memos/inbox/a\nb", "a\x1b[31m", "a\u0085b", "a\u2028b"]
    good = ["memos/inbox/a..b.openthing", "memos/inbox/ä ö – 日本.openthing", "...", "a\ufffdb", "a.git/-b"]
    bad += ["-rf", ".git/config", "memos/inbox/.GIT/a.openthing"]
    for path in (*bad, *good, "a\u202eb", "a/" * 2500):
        assert (refusal(ReceivedItem(guid="g", path=path)) is None) == (path in good), path
    of_repo = ["README.md", "a.openthing", "memos/inbox/run.sh", "memos.openthing", "x/notes/a.body.md", "memos"]
    memos = ["memos/inbox/a.openthing", "x/notes/b/c.OPENTHING", "transcripts/d.openthing", "memos/e.openthing"]
    for path in (*of_repo, *memos):
        assert refusal(ReceivedItem(guid="g", path=path)) is None
        assert (refusal(ReceivedItem(guid="g", path=path, is_of_repo=True)) is None) == (path in memos), path
    assert refusal(ReceivedItem(guid="a\nb", path="p")) == "its guid holds control characters"
    breaks = "a&#10;new memo: b&#13;\u0085\u2028\u2029\u009b2J"
    item = f"<item><guid>g</guid><title>{breaks}</title><link>{breaks}</link><m:path>p</m:path>"
    item += f"<m:subject>{breaks}</m:subject></item>"
    feed = f'<rss xmlns:m="{MEMO}"><channel>{item}</channel></rss>'
    found = document(feed.encode()).items[0]
    line = as_json(AnnouncedMemo(feed="f", item=found, path=found.path))
    assert {found.title, found.link, found.field("subject")} == {"a new memo: b     2J"}
    assert line.splitlines() == [line]
    data = b"<!---->" * 1_000_000 + b"<!DOCTYPE rss><rss/>"
    tracemalloc.start()
    rejected = read_document(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rejected == Rejected(reason="found a DOCTYPE, expected none")
    assert most < 3 * len(data)
