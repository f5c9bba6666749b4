"""Crawls a built site on disk: every link of every page, as a browser would follow it from file://."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import etree, html

from tests.support.bundles import keys_of


@dataclass(frozen=True)
class BadLink:
    """A link that does not do what SPEC 4 asks of links."""

    page: str
    href: str
    why: str


def pages(site: Path) -> list[Path]:
    """Every HTML page of a site, in order."""
    return sorted(site.rglob("*.html"))


def bad_links(site: Path) -> Iterator[BadLink]:
    """Internal links that lead nowhere, out of the site, to no file name, or to an anchor that is not there."""
    anchors: dict[Path, set[str]] = {}
    for page in pages(site):
        if page.name == "404.html":
            continue
        for href in _hrefs(page):
            for why in _problems(site, page, href, anchors):
                yield BadLink(page=page.relative_to(site).as_posix(), href=href, why=why)


def found(tree: "etree._Element | etree._ElementTree", xpath: str) -> list[str]:
    """What an XPath finds, as strings."""
    values = tree.xpath(xpath)
    assert isinstance(values, list)
    return [str(value) for value in values]


def _hrefs(page: Path) -> list[str]:
    # The icon stands in the page itself, so that no page asks for more than three files.
    return found(html.parse(page), "//*[not(@rel='icon')]/@href | //@src")


def _problems(site: Path, page: Path, href: str, anchors: dict[Path, set[str]]) -> Iterator[str]:
    parts = urlsplit(href)
    if parts.scheme or parts.netloc:
        if parts.scheme not in {"http", "https", "mailto", "tag"}:
            yield "a scheme that nobody should follow"
        return
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
    if parts.path.endswith("/") or parts.path in {".", ".."}:
        yield "it ends in a folder, which file:// shows as a listing"
    elif not target.is_relative_to(site.resolve()):
        yield "it leads out of the site"
    elif not target.is_file():
        yield "no such file"
    elif parts.fragment:
        if target not in anchors:
            anchors[target] = _anchors(target)
        if unquote(parts.fragment) not in anchors[target]:
            yield "no such anchor"


def _anchors(target: Path) -> set[str]:
    """What a fragment may name in a file: an id of a page, or a key in a bundle."""
    if target.suffix == ".html":
        return set(found(html.parse(target), "//@id"))
    return set(keys_of(target)) if "archive" in target.parts else set()
