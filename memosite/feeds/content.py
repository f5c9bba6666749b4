"""Makes the HTML content of items in feeds for people: the item's line, then its text, with absolute links only.

Feed readers show it in place of the description, inside their own pages. So only plain elements of a body's HTML
stay, without ids, classes and roles; other links become text (FEEDS, content:encoded).
"""

from collections.abc import Iterable
from html import escape
from typing import Final

import lxml.html
from lxml import etree

from memosite.feeds.rss import FeedItem, clean

_KEPT: Final = frozenset(
    (
        *(
            "a",
            "blockquote",
            "br",
            "code",
            "del",
            "em",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "li",
            "ol",
            "p",
            "pre",
        ),
        *("s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
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
