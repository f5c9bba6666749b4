"""Feeds as values, and as RSS 2.0, JSON Feed 1.1 and OPML 2.0 (FEEDS, channel and items); `document` reads RSS.

An item's guid depends only on the authority and the item's identity, so it never changes when a memo is read,
archived or edited, when the site moves or a repo is renamed. What XML 1.0 forbids becomes U+FFFD, in JSON too. There
the machine-readable fields of an item are in `_memo`, under their RSS names.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote

from lxml import etree

from memosite.facts.json_text import to_json
from memosite.facts.patterns import regex
from memosite.facts.times import Moment
from memosite.facts.values import Value

if TYPE_CHECKING:
    from memosite.pages import Body

# Feeds as values, and as RSS 2.0 (FEEDS, channel and items).


MEMO = "https://memosite.invalid/ns/memo/1"


_NAMESPACES = {
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "fh": "http://purl.org/syndication/history/1.0",
    "memo": MEMO,
    "thr": "http://purl.org/syndication/thread/1.0",
}


_OLDEST = 1900  # the first year in mail dates (RFC 5322, 3.3); readers misread earlier ones


CONTROLS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of what no announced path holds: control characters, what reorders or breaks lines."""


_FORBIDDEN = regex("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Enclosure(Value):
    """A published original: its absolute address, its exact length in bytes, its media type."""

    url: str
    length: int
    type: str


ITEM_BYTES: Final = 100_000
"""The most bytes that the text of one item takes in a feed; what is longer is to be read on its page."""


_MARKUP: Final = regex("[<>&]")
_ENCODED: Final = regex("[<>&%]")


class FeedItem(Value):
    """An artifact as a feed announces it. `path` is its present path, of a memo in the position's own repo.

    `sent` is the date for machines, "" if there is none; `notice` replaces the line `new memo: <path>` where an item is
    no artifact. `former` are guids that it had before. `contents` are the texts of a feed for people, `reason` is why
    there are none if they were erased, `rows` what a digest lists: address or None, subject, and who wrote to whom.
    `most_bytes` is how much of a feed its texts may take.
    """

    guid: str
    title: str
    path: str
    repo: str
    sender: str
    to: str
    subject: str
    sha256: str
    action_required: bool
    sent: str = ""
    is_open: bool = False
    link: str | None = None
    date: Moment | None = None
    thread_id: str | None = None
    in_reply_to: str | None = None
    parent_guid: str | None = None
    body_ref: str | None = None
    state: str | None = None
    former: tuple[str, ...] = ()
    enclosure: Enclosure | None = None
    notice: str = ""
    contents: "tuple[Body, ...]" = ()
    reason: str = ""
    most_bytes: int = ITEM_BYTES
    rows: tuple[tuple[str | None, str, str], ...] = ()

    @property
    def line(self) -> str:
        """The one line that every reader shows, some of them as HTML: no path may be markup (FEEDS, item)."""
        path = _ENCODED.sub(lambda char: f"%{ord(char[0]):02X}", self.path) if _MARKUP.search(self.path) else self.path
        return self.notice or f"new memo: {path}"


class Feed(Value):
    """A feed's channel and items, newest first.

    `link` and `address` are absolute, None without a base_url; `address` is that of this document. `position` is
    None for a feed of no position. `archive_of` is the address of the feed whose archive document this is (RFC
    5005), None for the feed itself; `previous` that of the archive document before it. `has_content` says that
    items carry their text.
    """

    title: str
    description: str
    language: str
    generator: str
    fallback_link: str
    items: tuple[FeedItem, ...]
    position: str | None = None
    link: str | None = None
    address: str | None = None
    ttl: int = 5
    is_archive: bool = False
    archive_of: str | None = None
    previous: str | None = None
    has_content: bool = False


class FeedFile(Value):
    """A feed in one of its forms, at its path below the site."""

    path: str
    form: Literal["rss", "json"]
    feed: Feed


def tag_uri(authority: str, archive_id: str, kind: str, id_: str) -> str:
    """The guid of an artifact: `tag:<authority>:<archive_id>/<kind>/<id>` (RFC 4151, which allows ASCII alone)."""
    return f"tag:{authority}:{archive_id}/{kind}/{quote(id_, safe='~')}"


def to_rss(feed: Feed, html: Mapping[str, str] | None = None) -> bytes:
    """The feed as RSS 2.0, UTF-8, the same bytes for the same feed; `html` is the content of items by guid."""
    rss = etree.Element("rss", {"version": "2.0"}, nsmap=_NAMESPACES)
    if not feed.is_archive:  # archive documents are fixed, and nobody follows them
        text = clean("\n".join(("", *introduction(feed), "")))
        rss.append(etree.Comment(re.sub("-(?=-)", "- ", text)))  # XML has no two hyphens in a row there
    channel = etree.SubElement(rss, "channel")
    _add(channel, "title", feed.title)
    _add(channel, "link", feed.link or feed.fallback_link)
    _add(channel, "description", feed.description)
    _add(channel, "language", feed.language)
    _add(channel, "generator", feed.generator)
    newest = max((item.date.instant for item in feed.items if item.date and _has_rfc822(item.date)), default=None)
    if newest is not None:
        _add(channel, "lastBuildDate", format_datetime(newest))
    _add(channel, "ttl", str(feed.ttl))
    links = {"self": feed.address, "current": feed.archive_of, "prev-archive": feed.previous}
    for relation, address in links.items():
        if address is not None:
            attributes = {"rel": relation, "href": clean(address), "type": "application/rss+xml"}
            etree.SubElement(channel, _name("atom", "link"), attributes)
    if feed.is_archive:
        etree.SubElement(channel, _name("fh", "archive"))
    if feed.position is not None:
        _add(channel, _name("memo", "position"), feed.position)
    known = html or {}
    for item in feed.items:
        _add_item(channel, item, known.get(item.guid))
    return _written(rss)


def _written(root: "etree._Element") -> bytes:
    text: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True)
    return text


def introduction(feed: Feed) -> Iterable[str]:
    """What a feed is and how to follow it, in lines for somebody who sees its source, as browsers show it."""
    yield "This is a feed, which programs read to announce what is new."
    if feed.address is None or "--" in feed.address:  # an XML comment must not hold two hyphens in a row
        yield "To follow it, give its address to a feed reader, or to the command: memosite watch"
    else:
        yield f"To follow it, give its address to a feed reader, or run: memosite watch {shlex.quote(feed.address)}"
    if feed.link is not None and "--" not in feed.link:
        yield f"Its page, with other ways to follow it: {feed.link}"


def _add_item(channel: "etree._Element", item: FeedItem, html: str | None) -> None:
    one = etree.SubElement(channel, "item")
    _add(one, "title", item.title)
    if item.link is not None:
        _add(one, "link", item.link)
    etree.SubElement(one, "guid", {"isPermaLink": "false"}).text = clean(item.guid)
    if item.date is not None and _has_rfc822(item.date):
        _add(one, "pubDate", rfc822(item.date))
    _add(one, _name("dc", "creator"), item.sender)
    _add(one, "description", item.line)
    if html is not None:
        _add(one, _name("content", "encoded"), html)
    if item.is_open:
        _add(one, "category", "action-required")
    if item.enclosure is not None:
        file = item.enclosure
        attributes = {"url": clean(file.url), "length": str(file.length), "type": clean(file.type)}
        etree.SubElement(one, "enclosure", attributes)
    if item.parent_guid is not None:
        etree.SubElement(one, _name("thr", "in-reply-to"), {"ref": clean(item.parent_guid)})
    for name, value in memo_fields(item):
        _add(one, _name("memo", name), value)


def memo_fields(item: FeedItem) -> Iterable[tuple[str, str]]:
    """The machine-readable fields: the first eight always (feed2exec stops at a missing one), the others if known."""
    yield "path", item.path
    yield "repo", item.repo
    yield "from", item.sender
    yield "to", item.to
    yield "subject", item.subject
    yield "sent", item.sent
    yield "action_required", "true" if item.action_required else "false"
    yield "sha256", item.sha256
    for name in ("thread_id", "in_reply_to", "body_ref", "state"):
        if value := getattr(item, name):
            yield name, value
    if item.former:
        yield "former", " ".join(item.former)


def _has_rfc822(moment: Moment) -> bool:
    return moment.instant.year > _OLDEST or min(moment.local.year, moment.instant.year) >= _OLDEST


def rfc822(moment: Moment) -> str:
    """A date in RFC 822 form, numeric zone as written (UTC if none was)."""
    offset = moment.offset or 0
    sign, minutes = ("-", -offset) if offset < 0 else ("+", offset)
    text = format_datetime(moment.local)
    return f"{text.rsplit(' ', 1)[0]} {sign}{minutes // 60:02d}{minutes % 60:02d}"


def _name(prefix: str, name: str) -> str:
    return f"{{{_NAMESPACES[prefix]}}}{name}"


def clean(text: str) -> str:
    """The text with U+FFFD for every character that XML 1.0 forbids."""
    return text if text.isprintable() else _FORBIDDEN.sub("\ufffd", text)


def _add(parent: "etree._Element", name: str, text: str) -> None:
    etree.SubElement(parent, name).text = clean(text)


# Writes feeds as JSON Feed 1.1, and lists of feeds as OPML 2.0.


def to_json_feed(feed: Feed) -> bytes:
    """The feed as JSON Feed 1.1; what XML forbids becomes U+FFFD here too, so that both forms agree."""
    value: dict[str, object] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": clean(feed.title),
        "description": clean(feed.description),
        "user_comment": clean("\n".join(introduction(feed))),
        "language": feed.language,
    }
    if feed.link is not None:
        value["home_page_url"] = clean(feed.link)
    if feed.address is not None:
        value["feed_url"] = clean(feed.address)
    value["items"] = [_item(item) for item in feed.items]
    return to_json(value)


def _item(item: FeedItem) -> dict[str, object]:
    entry: dict[str, object] = {"id": clean(item.guid), "title": clean(item.title), "content_text": clean(item.line)}
    if item.link is not None:
        entry["url"] = clean(item.link)
    if item.date is not None:
        entry["date_published"] = rfc3339(item.date)
    entry["authors"] = [{"name": clean(item.sender)}]
    if item.is_open:
        entry["tags"] = ["action-required"]
    if item.enclosure is not None:
        one = item.enclosure
        entry["attachments"] = [{"url": clean(one.url), "mime_type": one.type, "size_in_bytes": one.length}]
    entry["_memo"] = {name: clean(text) for name, text in memo_fields(item)}
    return entry


def rfc3339(moment: Moment) -> str:
    """A date in RFC 3339 form, with the offset as written (UTC if none was)."""
    return moment.local.isoformat(timespec="seconds") + (moment.zone or "+00:00")


class OutlineFeed(Value):
    """A feed in a list of feeds."""

    title: str
    address: str
    page: str


class OutlineGroup(Value):
    """Feeds under a heading; with `include`, the address of another list instead."""

    title: str
    feeds: tuple[OutlineFeed, ...] = ()
    include: str | None = None


def to_opml(title: str, groups: tuple[OutlineGroup, ...]) -> bytes:
    """A subscription list, OPML 2.0. Its outlines name RSS feeds, which every reader takes."""
    opml = etree.Element("opml", {"version": "2.0"})
    etree.SubElement(etree.SubElement(opml, "head"), "title").text = clean(title)
    body = etree.SubElement(opml, "body")
    for group in groups:
        name = clean(group.title)
        if group.include is not None:
            etree.SubElement(body, "outline", {"text": name, "type": "include", "url": clean(group.include)})
            continue
        outline = etree.SubElement(body, "outline", {"text": name, "title": name})
        for feed in group.feeds:
            attributes = {"type": "rss", "text": feed.title, "title": feed.title, "xmlUrl": feed.address}
            if feed.page:
                attributes["htmlUrl"] = feed.page
            etree.SubElement(outline, "outline", {key: clean(text) for key, text in attributes.items()})
    if not len(body):
        etree.SubElement(body, "outline", {"text": clean(title)})
    return _written(opml)
