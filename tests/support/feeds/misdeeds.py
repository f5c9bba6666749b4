"""Everything that a server, a proxy or a half-finished publisher was seen to do to a feed (FEEDS)."""

import random
from collections.abc import Callable

from lxml import etree

from tests.support.feeds.publisher import FEED, Misdeed, Request, answer_well

RSS = b'<?xml version="1.0"?>\n<rss version="2.0"><channel><title>t</title></channel></rss>'
BOMB = b"<!DOCTYPE rss [" + b"".join(
    b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10 if n else b"ha" * 10) for n in range(10)
)


def error(status: int) -> Misdeed:
    """An error page with a status."""
    return lambda request, _: request.give(status, b"<html><body>sorry</body></html>", Content_Type="text/html")


def truncated(fraction: float) -> Misdeed:
    """A document cut off, with a Content-Length that agrees with it."""
    return lambda request, document: request.give(200, (document or b"")[: int(len(document or b"") * fraction)])


def short(fraction: float) -> Misdeed:
    """A body shorter than its Content-Length, cut where it may be well-formed."""

    def act(request: Request, document: bytes | None) -> None:
        body = document or RSS
        request.give(200, body[: int(len(body) * fraction)], Content_Length=str(len(body)))

    return act


def body(made: bytes, **headers: str) -> Misdeed:
    """Always the same body with status 200."""
    return lambda request, _: request.give(200, made, **headers)


def changed(change: Callable[[bytes], bytes]) -> Misdeed:
    """The document, changed."""
    return lambda request, document: request.give(200, change(document)) if document else answer_well(request, None)


def doubled(document: bytes) -> bytes:
    """Each item twice, the second time as if it lay elsewhere."""
    root = etree.fromstring(document)
    for item in list(root.iterfind("channel/item")):
        again = etree.fromstring(etree.tostring(item))
        for path in again.iter("{https://memosite.invalid/ns/memo/1}path"):
            path.text = "memos/archive/elsewhere.openthing"
        root[-1].append(again)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


def without_guid(document: bytes) -> bytes:
    """One item has lost its guid."""
    root = etree.fromstring(document)
    for found in list(root.iter("guid"))[-1:]:
        found.getparent().remove(found)  # type: ignore[union-attr]
    return etree.tostring(root)


def bomb(document: bytes) -> bytes:
    """A billion laughs before the document."""
    return BOMB + b"]>" + document.partition(b"?>")[2].replace(b"<title>", b"<title>&e9;", 1)


def only_archives(misdeed: Misdeed) -> Misdeed:
    """The feed is served well, its archives are not."""

    def act(request: Request, document: bytes | None) -> None:
        if request.path == FEED:
            answer_well(request, document)
        else:
            misdeed(request, document)

    return act


def looping(request: Request, _: bytes | None) -> None:
    """A redirect to itself."""
    request.give(302, Location=request.path)


def wandering(request: Request, _: bytes | None) -> None:
    """A redirect to ever new places."""
    request.give(302, Location=f"{request.path}x")


def stale(request: Request, document: bytes | None) -> None:
    """Unchanged, whatever happened; unless asked without validators."""
    if request.headers["If-None-Match"]:
        request.give(304, Content_Length="")
    else:
        answer_well(request, document)


def blunt(request: Request, document: bytes | None) -> None:
    """304, though nobody asked whether anything changed."""
    if request.headers["If-None-Match"]:
        answer_well(request, document)
    else:
        request.give(304, Content_Length="")


def newest_archive_for_all(request: Request, document: bytes | None) -> None:
    """Each archive is the newest one: a walk would never end, or end too soon."""
    newest = request.server.publishing.find(FEED.replace("feed.xml", f"feed-{_newest(request)}.xml"))
    answer_well(request, document if request.path == FEED else newest)


def feed_for_all(request: Request, document: bytes | None) -> None:
    """Each archive is the feed itself, as a catch-all page would be."""
    answer_well(request, document and request.server.publishing.find(FEED))


def _newest(request: Request) -> int:
    publisher = request.server.publishing.publisher
    return len(publisher.states) // publisher.block


def hung_up(request: Request, _: bytes | None) -> None:
    """The connection ends without an answer."""
    request.close_connection = True


def chunked_half(request: Request, document: bytes | None) -> None:
    """A chunked answer that ends in the middle."""
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    request.wfile.write(b"%x\r\n" % len(document or RSS) + (document or RSS)[:100])


def any_misdeed(chance: random.Random) -> Misdeed:
    """One of them all."""
    return chance.choice([
        error(chance.choice([400, 401, 403, 404, 408, 410, 429, 500, 502, 503, 504])), truncated(chance.random()),
        short(chance.random()), body(b""), body(b"  \n"), body(b"<html><body/></html>"), body(RSS), body(b'{"v": 1}'),
        body(b"<!DOCTYPE html><html><body>Welcome to the hotel's network</body></html>"),
        body(b"\x1f\x8b\x08\x00garbage", Content_Encoding="gzip"),
        changed(doubled), changed(without_guid), changed(bomb), changed(lambda document: b"\xef\xbb\xbf" + document),
        changed(lambda document: document.decode().encode("latin-1", "replace")),
        changed(lambda document: document.decode().encode("utf-16")),
        changed(lambda document: document.replace(b"UTF-8", b"ISO-8859-1", 1)),
        changed(lambda document: document + b"<rss/>"),
        looping, wandering, stale, blunt, hung_up, chunked_half, newest_archive_for_all, feed_for_all,
        only_archives(error(404)), only_archives(body(RSS)), only_archives(truncated(chance.random())),
        only_archives(looping),
    ])  # fmt: skip
