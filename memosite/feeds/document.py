"""Reads feeds strictly (FEEDS, watch 2), and makes the HTML content of their items, with absolute links only.

Half a document would look like a feed that lost items, so any fault rejects all of it. A document type
declaration is refused before anything is parsed: entities and the network are never touched.

Feed readers show the content of an item in place of its description, inside their own pages. So only plain elements of
a body's HTML stay, without ids, classes and roles; other links become text (FEEDS, content:encoded).
"""

import re
import unicodedata
from collections.abc import Iterable
from html import escape
from posixpath import normpath
from typing import Final

import lxml.html
from lxml import etree

from memosite.facts.characters import printable
from memosite.facts.layout import place_of
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.patterns import regex
from memosite.facts.values import Value
from memosite.feeds import CONTROLS, MEMO, FeedItem, clean

# Parses a feed strictly: a complete, well-formed RSS document in UTF-8, or none of it (FEEDS, watch 2).


_ATOM_LINK = "{http://www.w3.org/2005/Atom}link"


_ARCHIVE = "{http://purl.org/syndication/history/1.0}archive"


_BOM = b"\xef\xbb\xbf"


_BEFORE_ROOT = regex(rb"\s+|<\?.*?\?>|<!--.*?-->", re.DOTALL)


_ANNOUNCEMENT = "new memo: "


_LONGEST = 4096
"""The longest path and guid, in bytes: that of a path on Linux."""


MEMO_FIELDS = (
    *("repo", "from", "to", "subject", "sent", "action_required", "sha256"),
    *("thread_id", "in_reply_to", "body_ref", "state", "former"),
)
"""The fields of an item besides its path, as the elements `memo:…` are called."""


_MEMO_TAGS = tuple((name, f"{{{MEMO}}}{name}") for name in MEMO_FIELDS)


_BREAKS = regex("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What ends a line for some program, or acts on a terminal."""


class ReceivedItem(Value):
    """A memo as a feed announces it. `memo` holds the `MEMO_FIELDS` that the item has, in their order.

    `is_of_repo`: the path is to be looked up in a repo of the subscriber.
    """

    guid: str
    path: str
    title: str = ""
    link: str = ""
    is_asked: bool = False
    memo: tuple[tuple[str, str], ...] = ()
    is_of_repo: bool = False

    def field(self, name: str) -> str:
        """One of `MEMO_FIELDS`, "" if the item does not have it."""
        return dict(self.memo).get(name, "")


class FeedDocument(Value):
    """A feed or an archive of one: items in document order, and the links that RFC 5005 gives, as written."""

    items: tuple[ReceivedItem, ...]
    is_archive: bool = False
    previous: str | None = None
    bases: tuple[str, ...] = ()
    """Where the publisher says that this feed lies (`self`, `current`)."""


class Rejected(Value):
    """Why a document was rejected."""

    reason: str


def read_document(data: bytes) -> FeedDocument | Rejected:
    """The document in these bytes, or why they are rejected. Of items with the same guid the first counts."""
    if not data.strip():
        return Rejected(reason="found an empty document, expected RSS")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Rejected(reason=f"found bytes that are not UTF-8 at {error.start}, expected RSS in UTF-8")
    root = _parse(data.removeprefix(_BOM))
    if isinstance(root, Rejected):
        return root
    channels = root.findall("channel")
    if root.tag != "rss" or len(channels) != 1:
        shown = f"<{printable(str(root.tag))[:40]}> with {len(channels)} channels"
        return Rejected(reason=f"found {shown}, expected <rss> with one")
    return _read_channel(channels[0])


def _parse(data: bytes) -> "etree._Element | Rejected":
    at = 0
    while before := _BEFORE_ROOT.match(data, at):  # one after the other: a repeated group remembers each of a million
        at = before.end()
    if data.startswith(b"<!DOCTYPE", at):
        return Rejected(reason="found a DOCTYPE, expected none")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        return Rejected(reason=f"not well-formed XML: {printable(str(error))[:200]}")
    written = root.getroottree().docinfo
    if written.internalDTD is not None or written.doctype:
        return Rejected(reason="found a DOCTYPE, expected none")
    if (written.encoding or "UTF-8").upper() not in {"UTF-8", "US-ASCII", "ASCII"}:
        return Rejected(reason=f"found the encoding {printable(str(written.encoding))[:40]}, expected UTF-8")
    return root


def _read_channel(channel: "etree._Element") -> FeedDocument | Rejected:
    items: dict[str, ReceivedItem] = {}
    for number, element in enumerate(channel.iterchildren("item"), 1):
        item = _read_item(element)
        if isinstance(item, Rejected):
            return Rejected(reason=f"item {number}: {item.reason}")
        items.setdefault(item.guid, item)
    links = [(link.get("rel", ""), link.get("href", "").strip()) for link in channel.iterchildren(_ATOM_LINK)]
    previous = {href for rel, href in links if rel == "prev-archive"}
    if len(previous) > 1:
        return Rejected(reason=f"found {len(previous)} links to a previous archive, expected one")
    return FeedDocument(
        items=tuple(items.values()),
        is_archive=channel.find(_ARCHIVE) is not None,
        previous=next(iter(previous), None),
        bases=tuple(href for rel, href in links if rel in {"self", "current"} and href),
    )


def _read_item(element: "etree._Element") -> ReceivedItem | Rejected:
    texts: dict[str, list[str]] = {}
    for child in element:
        texts.setdefault(str(child.tag), []).append(
            "".join(map(str, child.itertext())) if len(child) else child.text or ""
        )
    guids = [guid.strip() for guid in texts.get("guid", ())]
    if len(guids) != 1 or not guids[0]:
        return Rejected(reason=f"found {len([guid for guid in guids if guid])} guids, expected one")
    said = texts.get("description", [""])[0]
    announced = [said.removeprefix(_ANNOUNCEMENT)] if said.startswith(_ANNOUNCEMENT) else []
    paths = texts.get(f"{{{MEMO}}}path", announced)
    if len(paths) != 1 or not paths[0].strip():
        return Rejected(reason=f"found {len([path for path in paths if path.strip()])} paths, expected one")
    memo = [(name, _in_one_line(texts.get(tag, [""])[0])) for name, tag in _MEMO_TAGS]
    is_asked = ("action_required", "true") in memo or "action-required" in texts.get("category", ())
    return ReceivedItem(
        guid=guids[0],
        path=paths[0],
        title=_in_one_line(texts.get("title", [""])[0]),
        link=_in_one_line(texts.get("link", [""])[0].strip()),
        is_asked=is_asked,
        memo=tuple((name, value) for name, value in memo if value),
    )


def _in_one_line(text: str) -> str:
    """A text without line breaks, so that a command can print it safely."""
    return _BREAKS.sub(" ", text)


def refusal(item: ReceivedItem) -> str | None:
    """Why an item is not passed on: its path could lead out of the repo, or be unsafe in a terminal or a script."""
    if item.path.startswith("/"):
        return "its path begins with /"
    if item.path.startswith("-"):
        return "its path begins with -"
    folders = item.path.casefold().split("/")
    if found := next((folder for folder in folders if folder in {"..", ".git"}), ""):
        return f"its path holds {found}"
    for what, text in (("path", item.path), ("guid", item.guid)):
        if not text.isprintable() and any(unicodedata.category(char) in CONTROLS for char in text):
            return f"its {what} holds control characters"
    if max(len(text.encode("utf-8", "replace")) for text in (item.path, item.guid)) > _LONGEST:
        return f"its path or guid is longer than {_LONGEST} bytes"
    is_plain = normpath(item.path) == item.path  # `./x` and `file:///x` are no paths of a repo
    is_memo = place_of(item.path) is not None and folders[-1].endswith(ENVELOPE_SUFFIX)
    if item.is_of_repo and not (is_plain and is_memo):
        return "its path is no memo's, below memos/, notes/ or transcripts/, and --repo is looked into for memos alone"
    return None


# Makes the HTML content of items in feeds for people: the item's line, then its text, with absolute links only.


_KEPT: Final = frozenset(
    (
        *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p"),
        *("pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
    )
)


_WHOLE: Final = ("https://", "http://", "mailto:")


def item_html(item: FeedItem, texts: Iterable[str | None], *, too_long: str) -> str:
    """The content of an item: its line, then these texts as `markdown.html` has written them, and a digest's rows.

    None stands for a text that is too long; `too_long` says so. Where texts were erased, there is the reason.
    """
    parts = [f"<p>{escape(item.reason, quote=False)}</p>\n"] if item.reason else []
    left = item.most_bytes
    for text in texts:
        shown = plain_html(text, page=item.link) if text is not None and left > 0 else ""
        left = left - len(shown.encode("utf-8", "replace")) if text is not None else 0
        parts.append(shown if left > 0 else f"<p>{escape(too_long, quote=False)}</p>\n")
    if item.rows:
        rows = (f"<li>{_row(*row)}</li>\n" for row in item.rows)
        parts.append(f"<ul>\n{''.join(rows)}</ul>\n")
    line, content = escape(item.line, quote=False), "".join(parts)
    return f"{line}<br>\n{content}" if content else f"{line}\n"


def _row(address: str | None, subject: str, who: str) -> str:
    label = escape(subject, quote=False)
    named = f'<a href="{escape(address)}">{label}</a>' if address else label
    return f"{named} ({escape(who, quote=False)})" if who else named


def plain_html(html: str, *, page: str | None) -> str:
    """The HTML with plain elements and absolute links alone; `page` is the address for links within the text."""
    if not html.strip():
        return ""
    root = lxml.html.fragment_fromstring(clean(html), create_parent="div")
    for element in list(root.iterdescendants()):
        if not isinstance(element.tag, str):
            element.drop_tree()
        elif element.tag == "summary":
            element.tag = "p"
            element.attrib.clear()
        elif element.tag not in _KEPT or element.get("class") == "anchor":
            element.drop_tree() if element.get("class") == "anchor" else element.drop_tag()
        else:
            _make_plain(element, page)
    inner: bytes = etree.tostring(root, encoding="UTF-8", method="html")
    return inner.decode().removeprefix("<div>").removesuffix("</div>").strip() + "\n"


def _make_plain(element: "lxml.html.HtmlElement", page: str | None) -> None:
    href = element.get("href", "") if element.tag == "a" else ""
    start = element.get("start", "") if element.tag == "ol" else ""
    element.attrib.clear()
    if href.startswith("#") and page is not None:
        href = page + href
    if href.lower().startswith(_WHOLE):
        element.set("href", href)
    elif element.tag == "a":
        element.drop_tag()
    if start:
        element.set("start", start)
