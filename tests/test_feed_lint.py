"""Every feed of a site, held to the errors that the W3C feed validator knows, and the other forms to theirs (FEEDS)."""

import datetime as dt
import json
import re
import shlex
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree
from lxml import html as lxml_html

from memosite.facts.values import replace
from memosite.feeds import Feed, to_rss
from memosite.feeds.document import Rejected, read_document
from tests.support.feeds.documents import NAMESPACES, feed_files
from tests.support.memos import write_memo, write_note, write_transcript
from tests.support.pages import found
from tests.support.sites import EXAMPLE, build_site

BASE = "https://archive.example.org/m/"
ALWAYS = ("path", "repo", "from", "to", "subject", "sent", "action_required", "sha256")
KNOWN = (*ALWAYS, "thread_id", "in_reply_to", "body_ref", "state")
IS_LOG = re.compile(r"--(?:claude-code|specstory|aider)--")
TAG = re.compile(r"tag:[a-z0-9.@_-]+,\d{4}(-\d\d){0,2}:[\w.~%-]+/[a-z]+/[\w.~%-]+", re.ASCII)
DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")
CHANNEL = ("title", "link", "description", "language", "generator", "lastBuildDate", "ttl")
_EMPTY = Feed(title="", description="", language="en", generator="x", fallback_link="urn:x", items=())
ITEM = ("title", "link", "guid", "pubDate", "description", "category", "enclosure")


def write_hostile(folder: Path) -> None:
    """Memos that try to break a feed: markup, forbidden characters, odd addresses, no subject, no date."""
    awkward = "]]></title><script>alert(1)</script> & \x00\x0b\ufffe \u2028"
    inbox = folder / "memos/inbox"
    hostile: tuple[dict[str, object], ...] = (
        {"subject": awkward, "body": f"{awkward}\n\n[x](javascript:alert(2)) ![y](//evil.example/a) [z](../../z.md)"},
        {"subject": " \u200b", "sent": "soon", "from": "  "},
        {"subject": "x" * 20_000, "thread_id": awkward, "to": ", ".join(f"p{one}" for one in range(400))},
        {"subject": "Ünïcödé", "body": "# Head\n\n<iframe src='//evil.example'></iframe>\n\n[up](#head) <b onclick=x>"},
        {"in_reply_to": f"2026-05-01-0900--engineer--director--{'ä' * 5}-0", "action_required": True},
        {"sent": "0001-01-01T00:00:00Z", "body": "```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n2. y\n"},
    )
    for number, fields in enumerate(hostile):
        write_memo(inbox, f"2026-05-01-0900--engineer--director--{'ä' * 5}-{number}", extra=fields)
    write_note(folder / "notes/director", "2026-05-01-0900--director--note")
    write_transcript(folder / "transcripts/director", "2026-05-01-0900--director--talk")


@pytest.fixture(scope="module", params=["example", "hostile"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that knows its address."""
    output = tmp_path_factory.mktemp("lint") / "out"
    source = EXAMPLE
    if request.param == "hostile":
        source = output.parent / "repo"
        write_hostile(source)
    return build_site(source, output=output, base_url=BASE)


def is_absolute(url: str) -> bool:
    """Whether an address is one of http that holds nothing that is no part of an address."""
    return bool(urlsplit(url).netloc) and re.fullmatch(r"https?://[!-~]+", url) is not None


def text(element: "etree._Element", path: str) -> str:
    """The text of an element that is there once."""
    (one,) = element.findall(path, NAMESPACES)
    return one.text or ""


def test_every_feed_is_valid(site: Path) -> None:
    """Namespaces, counts, dates with the right weekday, absolute addresses, guids, ttl, self link."""
    files = feed_files(site)
    assert len(files) > 20
    for file in files:
        tree = etree.fromstring(file.read_bytes(), etree.XMLParser(resolve_entities=False))
        assert (tree.tag, tree.get("version")) == ("rss", "2.0") and dict(tree.nsmap) == NAMESPACES
        (channel,) = tree.iterchildren(etree.Element)
        for name in CHANNEL:
            assert len(channel.findall(name)) <= 1
        assert text(channel, "title").strip() and text(channel, "description").strip()
        assert is_absolute(text(channel, "link")) and int(text(channel, "ttl")) > 0
        lint_links(site, file, channel)
        items = channel.findall("item")
        guids = [text(item, "guid") for item in items]
        assert len(guids) == len(set(guids))
        newest = [parsedate_to_datetime(date) for date in found(channel, "item/pubDate/text()")]
        last = [format_datetime(max(newest).astimezone(dt.UTC))] if newest else []
        assert found(channel, "lastBuildDate/text()") == last
        for item in items:
            lint_item(site, item)


def lint_links(site: Path, file: Path, channel: "etree._Element") -> None:
    """Links of a channel are absolute, and lead to what is there; the self link to the feed, or to its true name."""
    for link in channel.findall("atom:link", NAMESPACES):
        href = str(link.get("href"))
        assert is_absolute(href) and href.startswith(BASE)
        target = site / unquote(href.removeprefix(BASE))
        assert target.is_file()
        if link.get("rel") == "self":
            assert target.name == file.name
    assert len(channel.findall("atom:link[@rel='self']", NAMESPACES)) == 1


def lint_item(site: Path, item: "etree._Element") -> None:
    """An item has each element once, all of the machine's fields, and says the exact bytes of its original.

    That of a session is not published: its item has the digest alone.
    """
    for name in ITEM:
        assert len(item.findall(name)) <= 1
    guid = item.find("guid")
    assert guid is not None and guid.get("isPermaLink") == "false"
    assert TAG.fullmatch(guid.text or "")
    assert text(item, "title").strip() and text(item, "dc:creator").strip()
    page = site / unquote(text(item, "link").removeprefix(BASE)) / "index.html"
    assert page.is_file()
    assert "inbox" not in text(item, "link")
    for date in found(item, "pubDate/text()"):
        assert DATE.fullmatch(date) and parsedate_to_datetime(date).strftime("%a") == date[:3]
    fields = [etree.QName(one).localname for one in item if str(one.tag).startswith(f"{{{NAMESPACES['memo']}}}")]
    assert fields[: len(ALWAYS)] == list(ALWAYS) and len(fields) == len(set(fields))
    assert set(fields) <= set(KNOWN)
    if not any(kind in (guid.text or "") for kind in ("/digest/", "/week/")):
        assert text(item, "description") == f"new memo: {text(item, 'memo:path')}"
        enclosure = item.find("enclosure")
        if enclosure is None:
            assert IS_LOG.search(text(item, "link")) and re.fullmatch("[0-9a-f]{64}", text(item, "memo:sha256"))
            return
        data = (site / unquote(str(enclosure.get("url")).removeprefix(BASE))).read_bytes()
        assert is_absolute(str(enclosure.get("url"))) and int(str(enclosure.get("length"))) == len(data)
        assert text(item, "memo:sha256") == sha256(data).hexdigest()
        assert enclosure.get("type") in {"application/json", "text/markdown", "application/jsonl", "text/plain"}
    for content in item.findall("content:encoded", NAMESPACES):
        lint_content(content.text or "", text(item, "description"))


def lint_content(content: str, line: str) -> None:
    """Content begins with the item's line, and holds nothing that runs, loads, or leads to a relative address."""
    tree = lxml_html.fragment_fromstring(content, create_parent="div")
    assert (tree.text or "").startswith(line.replace("\r", ""))
    assert not tree.xpath("//script | //style | //iframe | //img | //form | //object | //@*[starts-with(name(), 'on')]")
    assert not tree.xpath("//@id | //@class | //@style | //@src")
    for href in map(str, tree.xpath("//@href")):
        assert href.startswith("mailto:") or urlsplit(href).scheme in {"http", "https"}


def test_json_feeds_say_the_same_and_the_list_of_feeds_names_every_feed(site: Path) -> None:
    """Ids, paths and dates are those of the RSS document beside it; OPML has threads in a list of their own."""
    files = sorted(site.rglob("feed.json"))
    assert site / "feed.json" in files
    for file in files:
        value = json.loads(file.read_bytes())
        rss = etree.fromstring(file.with_suffix(".xml").read_bytes())
        assert value["version"] == "https://jsonfeed.org/version/1.1"
        assert [one["id"] for one in value["items"]] == found(rss, "//guid/text()")
        assert [one["content_text"] for one in value["items"]] == found(rss, "//item/description/text()")
        digests = found(rss, "//item/*[local-name()='sha256']/text()")
        assert [one["_memo"]["sha256"] for one in value["items"] if one["_memo"]["sha256"]] == digests
        assert is_absolute(value["feed_url"])
        assert all(isinstance(one["id"], str) and one["authors"][0]["name"] for one in value["items"])
        dates = [one["date_published"] for one in value["items"] if "date_published" in one]
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", date) for date in dates)
    opml, threads = (etree.fromstring((site / name).read_bytes()) for name in ("feeds.opml", "feeds/threads.opml"))
    assert opml.get("version") == "2.0"
    assert found(opml, "/opml/body/outline[@type='include']/@url") == [f"{BASE}feeds/threads.opml"]
    urls = [*found(opml, "//outline[@type='rss']/@xmlUrl"), *found(threads, "//outline[@type='rss']/@xmlUrl")]
    listed = {unquote(url.removeprefix(BASE)) for url in urls}
    assert len(urls) == len(listed) and all((site / path).is_file() for path in listed)
    published = {path.relative_to(site).as_posix() for path in feed_files(site)}
    folders = {path.rpartition("/")[0] for path in listed}
    rest = {path for path in published - listed if not re.search(r"-\d+\.xml$", path)}
    assert not {path for path in rest if path.rpartition("/")[0] in folders}
    assert all(outline.get("text") for outline in opml.iter("outline"))


def test_feeds_are_named_by_their_pages_and_say_what_they_are(site: Path) -> None:
    """A reader finds it by its page; in a browser, all but fixed archive documents have a comment above all else."""
    for file in feed_files(site):
        document = etree.parse(file)
        comments = list(document.iter(etree.Comment))
        if document.find(".//fh:archive", NAMESPACES) is not None:
            assert comments == []
            continue
        page = file.parent / "index.html"
        if page.is_file() and b'http-equiv="refresh"' not in page.read_bytes():
            links = found(lxml_html.parse(page), "//link[@rel='alternate' and @type='application/rss+xml']/@href")
            assert file.name in links, page
        (comment,) = comments
        following = comment.getnext()
        assert following is not None and following.tag == "channel"
        lines = (comment.text or "").strip().splitlines()
        own, link = document.find(".//atom:link[@rel='self']", NAMESPACES), document.findtext("./channel/link") or ""
        assert own is not None
        address = own.get("href") or ""
        assert lines[0] == "This is a feed, which programs read to announce what is new."
        if "--" in address:
            assert lines[1].endswith("memosite watch")
        else:
            assert shlex.split(lines[1].partition(", or run: ")[2]) == ["memosite", "watch", address]
        assert "--" in link or lines[2] == f"Its page, with other ways to follow it: {link}"
        beside = file.with_suffix(".json")
        if beside.exists():
            said = json.loads(beside.read_text())["user_comment"].splitlines()
            assert said[0] == lines[0] and len(said) == len(lines)


def test_a_title_cannot_end_the_comment_of_a_feed() -> None:
    """Nor make it malformed: two hyphens end a comment, a last one breaks it."""
    for title in ("--><rss><!--", "--", "a---b-", "-\n--\x00-", "-" * 500):
        for address in (None, BASE + "feed.xml", BASE + "positions/a--b/feed.xml", BASE + "positions/-->/feed.xml"):
            data = to_rss(replace(_EMPTY, title=title, address=address, link=address))
            root = etree.fromstring(data)
            assert root.tag == "rss" and not isinstance(read_document(data), Rejected)
            comment, channel = root
            assert "memosite watch" in (comment.text or "") and channel.tag == "channel"
