"""Writes feeds as JSON Feed 1.1, and lists of feeds as OPML 2.0.

The machine-readable fields of an item are in `_memo`, under their RSS names.
"""

import json
from dataclasses import dataclass

from lxml import etree

from memosite.facts.times import Moment
from memosite.feeds.rss import Feed, FeedItem, clean, introduction, memo_fields


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
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n".encode()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineFeed:
    """A feed in a list of feeds."""

    title: str
    address: str
    page: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineGroup:
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
    text: bytes = etree.tostring(opml, encoding="UTF-8", xml_declaration=True, pretty_print=True)
    return text
