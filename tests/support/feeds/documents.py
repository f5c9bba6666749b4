"""Reads the RSS documents of a built site."""

from pathlib import Path

from lxml import etree

NAMESPACES = {
    "atom": "http://www.w3.org/2005/Atom", "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/", "fh": "http://purl.org/syndication/history/1.0",
    "memo": "https://memosite.invalid/ns/memo/1", "thr": "http://purl.org/syndication/thread/1.0",
}  # fmt: skip
"""What a feed may hold besides RSS, by the prefixes that it has there."""


def feed_files(output: Path) -> list[Path]:
    """Every RSS document of a site, in order."""
    return [path for path in sorted(output.rglob("*.xml")) if b"<rss" in path.read_bytes()[:100]]


def read_feed(file: Path) -> "etree._Element":
    """The `rss` element of a feed."""
    return etree.fromstring(file.read_bytes())
