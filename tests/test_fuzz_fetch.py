"""Fuzzes what a server answers: any bytes are a document, an unchanged one, or a failure with a reason."""

from hypothesis import strategies as st

from memosite.fetch import Failed, Fetched, Unchanged
from memosite.fetch.client import Fetcher
from tests.support.fuzzing import fuzz
from tests.support.mutations import mutated
from tests.support.servers import raw_server

ANSWERS = [
    b'HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n<rss/',
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
    b"HTTP/1.0 503 Busy\r\nRetry-After: Fri, 01 May 2026 14:30:00 GMT\r\nDate: Fri, 01 May 2026 14:00:00 GMT\r\n\r\n",
    b"HTTP/1.1 429 x\r\nRetry-After: 120\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: ftp://user@[::1/x\r\n\r\n",
]
WORDS = (
    b"HTTP/1.1 ", b"200", b"301", b"999", b"Content-Length: ", b"Content-Encoding: gzip\r\n", b"Location: //[\r\n",
    b"\r\n\r\n", b"Retry-After: ", b"Date: ", b"ETag: ", b"-1", b"9" * 5_000, b"\r\n ", b"ffffffffffffffff\r\n",
    b"Location: file:///etc\r\n", b"Thu, 31 Dec 9999 23:59:59 -2359", b"Mon, 00 Foo 0000",
    b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1 100 Continue\r\n\r\n",
)  # fmt: skip


@fuzz(st.tuples(mutated(ANSWERS, WORDS), st.sampled_from([None, '"a"'])), examples=60)
def test_any_answer_is_a_document_or_a_failure(case: tuple[bytes, str | None]) -> None:
    """Within the limits, and with a reason on one line."""
    answer, etag = case
    with raw_server(answer) as (address, _):
        found = Fetcher(timeout=60, whole=120, limit=1_000).get(f"{address}/feed.xml", etag=etag)
    match found:
        case Fetched(data=data):
            assert len(data) <= 1_000
        case Unchanged():
            assert etag
        case Failed(reason=reason, wait=wait):
            assert reason.isprintable() and (wait is None or wait >= 0)
