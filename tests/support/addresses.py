"""Reads the addresses that a built site has published: its files, the anchors of its pages, the ids of its feeds.

`python -m tests.support.addresses SITE` prints them as `tests/published/example-org.txt` holds them: a file a line, its
anchors on one line below it, and each id of a feed on a line of its own.

    actions/feed.xml
      tag:example.org,2026:archive/memo/2026-05-01-0900--a--b--x
    actions/index.html
      #_main #open-for-director
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lxml import etree

FEED_SUFFIXES = ("feed.json", ".xml")
_ATOM_LINK = "{http://www.w3.org/2005/Atom}link"
_JSON_FEED = "https://jsonfeed.org/version/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlPage:
    """What an HTML file answers with: where its ids are, and where it sends its reader on, "" if nowhere."""

    ids: frozenset[str]
    title: str
    moved_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed document: the ids of its items, and the address of the next older archive document, "" if none."""

    ids: tuple[str, ...]
    older: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The addresses of a site: files by path, with the anchors of each page and the ids of each feed."""

    files: tuple[str, ...]
    anchors: Mapping[str, frozenset[str]]
    feeds: Mapping[str, frozenset[str]]


class _PageReader(HTMLParser):
    """Notes what an address of a page depends on."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.title = ""
        self.moved_to = ""
        self._is_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take ids, and the target of a redirect."""
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(found["id"] or "")
        if tag == "meta" and found.get("http-equiv") == "refresh":
            self.moved_to = (found.get("content") or "").partition("url=")[2]
        self._is_title = tag == "title" and not self.title

    def handle_data(self, data: str) -> None:
        """Take the first title."""
        if self._is_title:
            self.title += data

    def handle_endtag(self, tag: str) -> None:
        """End the title."""
        self._is_title = self._is_title and tag != "title"


def read_page(file: Path) -> HtmlPage:
    """Read an HTML file of a site. An id that a page has twice fails: a link to it could mean either."""
    reader = _PageReader()
    reader.feed(file.read_text(encoding="utf-8"))
    reader.close()
    assert len(reader.ids) == len(set(reader.ids)), f"{file}: an id twice"
    return HtmlPage(ids=frozenset(reader.ids), title=reader.title, moved_to=reader.moved_to)


def read_feed(file: Path) -> Feed:
    """Read an RSS 2.0 or JSON Feed document. Fails if it is neither."""
    return _read_json_feed(file) if file.suffix == ".json" else _read_rss(file)


def _read_json_feed(file: Path) -> Feed:
    value = json.loads(file.read_text(encoding="utf-8"))
    assert value["version"].startswith(_JSON_FEED), f"{file}: no JSON Feed"
    assert isinstance(value["title"], str), f"{file}: no title"
    return Feed(ids=tuple(item["id"] for item in value["items"]), older=value.get("next_url", ""))


def _read_rss(file: Path) -> Feed:
    root = etree.fromstring(file.read_bytes())
    assert (root.tag, root.get("version")) == ("rss", "2.0"), f"{file}: no RSS 2.0"
    channel = root.find("channel")
    assert channel is not None, f"{file}: no channel"
    assert channel.findtext("title"), f"{file}: no title"
    older = [link.get("href", "") for link in channel.iterfind(_ATOM_LINK) if link.get("rel") == "prev-archive"]
    return Feed(ids=tuple(guid.text or "" for guid in channel.iterfind("item/guid")), older="".join(older))


def is_feed(path: str) -> bool:
    """Whether a file of a site is a feed document, by its name: every `.xml` is, but the parts of a sitemap."""
    return path.endswith(FEED_SUFFIXES) and not path.rpartition("/")[2].startswith("sitemap")


def feed_with_archive(site: Path, path: str) -> frozenset[str]:
    """The ids of a feed and its archive; a JSON Feed or a full-text one leads to the archive of the feed beside it."""
    ids: set[str] = set()
    waiting, seen = [path], set()
    if path.endswith(("feed.json", "feed-full.xml")):
        waiting.append(urljoin(path, "feed.xml"))
    while waiting:
        document = waiting.pop()
        if document in seen or not (site / document).is_file():
            continue
        seen.add(document)
        feed = read_feed(site / document)
        ids.update(feed.ids)
        if feed.older:
            waiting.append(urljoin(document, feed.older))
    return frozenset(ids)


def page_at(site: Path, path: str) -> tuple[str, HtmlPage]:
    """The page that a browser shows for the path of a page, redirects followed, and the path it is at in the end."""
    seen: list[str] = []
    while True:
        assert path not in seen, f"{seen}: a redirect that comes back"
        seen.append(path)
        assert (site / path).is_file(), f"{' -> '.join(seen)}: nothing there"
        page = read_page(site / path)
        if not page.moved_to:
            return path, page
        target = urljoin(path, page.moved_to)
        assert not urlsplit(target).scheme, f"{path}: leads out of the site, to {target}"
        path = f"{target}index.html" if target.endswith("/") else target


def is_address(path: str) -> bool:
    """Whether people and feeds link to a file of a site: not to what a page loads, nor to what marks a folder."""
    is_loaded = path.startswith(("static/", "search/")) and not path.endswith(".html")
    return not is_loaded and not path.startswith(".")


def paths_of(site: Path) -> Iterator[str]:
    """The files of a site that are addresses, sorted."""
    paths = (file.relative_to(site).as_posix() for file in sorted(site.rglob("*")) if file.is_file())
    return filter(is_address, paths)


def published_by(site: Path) -> Published:
    """The addresses of the site in a folder."""
    files = tuple(paths_of(site))
    return Published(
        files=files,
        anchors={path: read_page(site / path).ids for path in files if path.endswith(".html")},
        feeds={path: frozenset(read_feed(site / path).ids) for path in files if is_feed(path)},
    )


def to_text(published: Published) -> str:
    """Addresses as text: see the module."""
    lines = []
    for path in published.files:
        lines.append(path)
        if published.anchors.get(path):
            lines.append("  " + " ".join(f"#{anchor}" for anchor in sorted(published.anchors[path])))
        lines += [f"  {guid}" for guid in sorted(published.feeds.get(path, ()))]
    return "".join(f"{line}\n" for line in lines)


def from_text(text: str) -> Published:
    """Addresses as `to_text` wrote them."""
    files: list[str] = []
    below: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("  "):
            below[files[-1]] += line.split()
        else:
            files.append(line)
            below[line] = []
    return Published(
        files=tuple(files),
        anchors={path: frozenset(a[1:] for a in below[path]) for path in files if path.endswith(".html")},
        feeds={path: frozenset(below[path]) for path in files if is_feed(path)},
    )


if __name__ == "__main__":
    print(to_text(published_by(Path(sys.argv[1]))), end="")
