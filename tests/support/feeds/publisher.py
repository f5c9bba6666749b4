"""A publisher of feeds for tests: memos that arrive and are read, RFC 5005 archives, and a server that misbehaves."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lxml import etree

from memosite.feeds import Feed, FeedItem, to_rss

ATOM = "http://www.w3.org/2005/Atom"
HISTORY = "http://purl.org/syndication/history/1.0"
FEED = "/positions/director/feed.xml"


@dataclass
class Publisher:
    """What a site publishes for one position; `states` has the mailbox of each memo, `written` what was last made."""

    block: int = 50
    window: int = 50
    base: str = ""
    states: list[str] = field(default_factory=list)
    written: dict[str, tuple[object, bytes]] = field(default_factory=dict)

    def arrive(self, count: int = 1, state: str = "inbox") -> None:
        """Let memos arrive."""
        self.states += [state] * count

    def read(self, *numbers: int) -> None:
        """Move memos to read/."""
        for number in numbers:
            self.states[number] = "read"

    def guids(self) -> list[str]:
        """The guids of all memos, in order of arrival."""
        return [guid(number) for number in range(len(self.states))]

    def item(self, number: int) -> FeedItem:
        """A memo as the feed announces it."""
        state = self.states[number]
        return FeedItem(
            guid=guid(number), title=f"Memo {number}", repo="repo", sender="engineer", to="director", sha256="0" * 64,
            path=f"memos/{state}/2026-05-01-0900--engineer--director--{number}.openthing",
            subject=f"Memo <{number}> “ä”", action_required=number % 3 == 0, state=state,
        )  # fmt: skip

    def document(self, path: str) -> bytes | None:
        """The document at a path of the site, None if there is none."""
        full = len(self.states) // self.block
        folder, _, name = path.rpartition("/")
        if name == "feed.xml":
            rest = len(self.states) - full * self.block
            shown = [
                number
                for number, state in enumerate(self.states)
                if state == "inbox" or number >= len(self.states) - max(self.window, rest)
            ]
            return self._write(path, shown[::-1], previous=f"{folder}/feed-{full}.xml" if full else None)
        stem = name.removeprefix("feed-").removesuffix(".xml")
        number = int(stem) if stem.isdigit() else 0
        if not 1 <= number <= full:
            return None
        start = (number - 1) * self.block
        shown = list(range(start, start + self.block))[::-1]
        previous = f"{folder}/feed-{number - 1}.xml" if number > 1 else None
        return self._write(path, shown, previous=previous, is_archive=True)

    def _write(self, path: str, numbers: list[int], *, previous: str | None, is_archive: bool = False) -> bytes:
        made_of = self.base, previous, is_archive, numbers, [self.states[number] for number in numbers]
        if self.written.get(path, (None, b""))[0] != made_of:
            self.written[path] = made_of, self._made(path, numbers, previous=previous, is_archive=is_archive)
        return self.written[path][1]

    def _made(self, path: str, numbers: list[int], *, previous: str | None, is_archive: bool) -> bytes:
        feed = Feed(
            title="Memos", description="Memos", language="en", generator="test", position="director",
            fallback_link="urn:memosite:test", items=tuple(self.item(number) for number in numbers),
            address=self.base + path if self.base else None,
        )  # fmt: skip
        root = etree.fromstring(to_rss(feed))
        (channel,) = root.iterchildren("channel")  # a comment is before it
        if previous:
            name = previous.rpartition("/")[2]
            link = etree.Element(f"{{{ATOM}}}link", {"rel": "prev-archive", "href": self.base + previous})
            if not self.base:
                link.set("href", name)
            channel.insert(0, link)
        if is_archive:
            channel.insert(0, etree.Element(f"{{{HISTORY}}}archive"))
        return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


def guid(number: int) -> str:
    """The guid of a memo."""
    return f"tag:example.org,2026:test/memo/{number}"


Misdeed = Callable[["Request", bytes | None], None]


class Request(BaseHTTPRequestHandler):
    """One request to the server of a `Publishing`."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        """Answer well, or do the misdeed that the test asks for."""
        publishing = self.server.publishing
        with publishing.lock:
            publishing.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            document = publishing.find(self.path)
            misdeed = publishing.misdeed
        try:
            if misdeed is None:
                answer_well(self, document)
            else:
                misdeed(self, document)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.close_connection = True

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - its name in the standard library
        """Say nothing."""

    def give(self, status: int, body: bytes = b"", **headers: str) -> None:
        """An answer with a body; `Content_Length` may lie."""
        self.send_response(status)
        named = {"Content_Length": str(len(body)), "Content_Type": "application/rss+xml"} | headers
        for name, value in named.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


def answer_well(request: Request, document: bytes | None) -> None:
    """What a good server does, with an ETag."""
    if document is None:
        request.give(404, b"<html><body>not found</body></html>", Content_Type="text/html")
        return
    etag = f'"{hash(document):x}"'
    if request.headers["If-None-Match"] == etag:
        request.give(304, Content_Length="", ETag=etag)
    else:
        request.give(200, document, ETag=etag, Last_Modified="Fri, 01 May 2026 09:00:00 GMT")


class Server(ThreadingHTTPServer):
    """The server of a `Publishing`."""

    daemon_threads = True
    request_queue_size = 64
    publishing: "Publishing"


class Publishing:
    """A publisher on a socket: `misdeed` instead of good answers, which may wait for `pause`; `extra` documents."""

    def __init__(self, publisher: Publisher, server: Server) -> None:
        """Publish through a server that runs already."""
        self.publisher = publisher
        self.lock = threading.Lock()
        self.pause = threading.Event()
        self.misdeed: Misdeed | None = None
        self.extra: dict[str, bytes] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.root = (
            f"http{'s' if isinstance(server.socket, ssl.SSLSocket) else ''}://127.0.0.1:{server.server_address[1]}"
        )
        self.feed = self.root + FEED
        server.publishing = self

    def find(self, path: str) -> bytes | None:
        """The document at a path."""
        return self.extra.get(path) or (self.publisher.document(path) if path.startswith("/positions/") else None)


@contextmanager
def publishing(publisher: Publisher | None = None, *, tls: ssl.SSLContext | None = None) -> Iterator[Publishing]:
    """A publisher on 127.0.0.1, until the block ends."""
    server = Server(("127.0.0.1", 0), Request)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    found = Publishing(publisher or Publisher(), server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.pause.set()
        server.shutdown()
        server.server_close()
