"""What each feed holds, and what an item tells of its artifact (FEEDS, which feeds and item)."""

import re
import shlex
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from lxml import html as lxml_html

from memosite.cli import main
from memosite.facts.times import read_moment
from memosite.feeds import Enclosure, Feed, FeedItem, rfc822, to_rss
from tests.support.feeds.documents import NAMESPACES, read_feed
from tests.support.files import write_text
from tests.support.memos import write_memo, write_note, write_org, write_transcript
from tests.support.pages import found
from tests.support.sites import build_site

ASK = "2026-05-01-0900--engineer--director--ask"
ANSWER = "2026-05-02-0900--director--engineer--answer"
NEWS = "2026-05-03-0900--engineer--all--news"
SOURCES = "sources: [{path: engineer}, {path: director}]\n"
ODD = "2026-05-04-0900--engineer--director--odd"
HOSTILE = "a\x00b\x0b\ufffe\ud800<script>&\"']]>\u0085\u2028"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Three seats, two with a repo of their own; a memo lies in both, read in that of its reader."""
    folder = tmp_path / "site"
    seats = [{"id": seat, "name": seat, "working_directory": f"/home/{seat}"} for seat in ("engineer", "director")]
    write_org(folder / "engineer/org", positions=[*seats, "archivist"])
    for place in ("engineer/memos/archive", "director/memos/read"):
        write_memo(folder / place, ASK, action_required=True, thread_id="asked", sent="2026-05-01T09:00:00-04:00")
    write_memo(folder / "director/memos/inbox", NEWS, to="all", sent="2026-05-03T09:00:00Z")
    write_memo(folder / "director/memos/inbox", ODD, sent="soon")
    write_note(folder / "engineer/notes/engineer", "2026-05-05-0900--engineer--note")
    write_transcript(folder / "engineer/transcripts/engineer", "2026-05-05-1000--engineer--talk")
    write_text(folder / "engineer/docs/adr/0001-first.md", "# First\n")
    return folder


def answer(site: Path) -> None:
    """The director answers the engineer, which discharges what was asked."""
    fields = {"from": "director", "to": "engineer", "in_reply_to": ASK, "thread_id": "asked"}
    write_memo(site / "engineer/memos/inbox", ANSWER, sent="2026-05-02T09:00:00Z", extra=fields)


def build(site: Path) -> Path:
    """Build over what is there."""
    return build_site(site, output=site.parent / "out", base_url="https://archive.example.org/")


def names(file: Path) -> list[str]:
    """The last words of the ids, in document order."""
    return [guid.rpartition("--")[2] for guid in found(read_feed(file), "//guid/text()")]


def item(file: Path, name: str) -> "etree._Element":
    """The item of an artifact."""
    (one,) = [one for one in read_feed(file).iter("item") if (one.findtext("guid") or "").endswith(name)]
    return one


def test_each_feed_holds_what_it_is_for(site: Path) -> None:
    """Memos to a seat and to all, newest first, its notes, its transcripts; threads, systems, searches; everything."""
    answer(site)
    write_text(site / "engineer/.wyren/memory.md", "# Memory\n\n## Decisions\n\n- We use rope. [session abc]\n")
    (site / "memosite.yml").write_text(f"{SOURCES}feeds: {{searches: {{the-answer: answer}}}}\n")
    output = build(site)
    held = {
        "positions/director/feed.xml": ["odd", "news", "ask"],
        "positions/director/feed-full.xml": ["odd", "news", "ask"], "positions/director/notes.xml": [],
        "positions/engineer/feed.xml": ["news", "answer"], "positions/engineer/notes.xml": ["note"],
        "positions/engineer/transcripts.xml": ["talk"], "positions/archivist/feed.xml": ["news"],
        "threads/asked/feed.xml": ["answer", "ask"], "saved/the-answer/feed.xml": ["answer"],
    }  # fmt: skip
    assert {path: names(output / path) for path in held} == held
    everything = found(read_feed(output / "feed.xml"), "//guid/text()")
    assert len(everything) == 8 and any("/document/" in guid for guid in everything)
    assert [path.parent.name for path in output.glob("systems/*/feed.xml")] == ["wyren"]
    assert len(names(output / "systems/wyren/feed.xml")) == 1 and not list(output.rglob("*.atom"))
    feeds = ("positions/director/feed.xml", "positions/engineer/notes.xml", "feed.xml")
    told = [read_feed(output / path).findtext("channel/memo:position", namespaces=NAMESPACES) for path in feeds]
    assert told == ["director", "engineer", None]


def test_open_actions_come_and_go_also_by_configuration(site: Path) -> None:
    """What is answered, or closed by its id, is not announced any more."""
    of_director = site.parent / "out/positions/director/feed.xml"
    assert names(build(site) / "actions/feed.xml") == ["ask"]
    assert found(read_feed(of_director), "//category/text()") == ["action-required"]
    closed = f"actions: {{closed: {{{ASK}: {{on: 2026-05-20, by: director, why: done}}}}}}\n"
    (site / "memosite.yml").write_text(SOURCES + closed)
    assert names(build(site) / "actions/feed.xml") == []
    (site / "memosite.yml").unlink()
    answer(site)
    assert names(build(site) / "actions/feed.xml") == []
    assert found(read_feed(of_director), "//category/text()") == []


def test_an_item_tells_path_state_what_it_answers_and_its_date(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The path in the reader's own repo, though the sender keeps a copy; the guid of what it answers (RFC 4685)."""
    answer(site)
    output = build(site)
    asked = item(output / "positions/director/feed.xml", "--ask")
    assert asked.findtext("guid") == f"tag:memosite.invalid,2026:archive/memo/{ASK}"
    assert asked.findtext("description") == f"new memo: memos/read/{ASK}.openthing"
    assert asked.findtext("pubDate") == "Fri, 01 May 2026 09:00:00 -0400"
    told = [asked.findtext(f"memo:{name}", namespaces=NAMESPACES) for name in ("path", "repo", "state", "thread_id")]
    assert told == [f"memos/read/{ASK}.openthing", "director", "read", "asked"]
    reply = item(output / "positions/engineer/feed.xml", "--answer")
    assert found(reply, "*[local-name()='in-reply-to']/@ref") == [asked.findtext("guid")]
    assert reply.findtext("memo:in_reply_to", namespaces=NAMESPACES) == ASK
    odd = item(output / "positions/director/feed.xml", "--odd")
    assert odd.find("pubDate") is None and odd.findtext("memo:sent", namespaces=NAMESPACES) in {None, ""}
    main(["check", str(site)])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "date-invalid" in line]
    assert f"director/memos/inbox/{ODD}.openthing" in line


def test_the_commands_of_the_page_are_words_of_a_shell(tmp_path: Path) -> None:
    """Whatever an address holds, and a seat is called."""
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-01-0900--a--b--c", to="-o'brien & co; $(id)~", sender="z")
    base = "https://archive.example.org/a'b&c/"
    build_site(tmp_path / "repo", output=tmp_path / "out", base_url=base)
    page = lxml_html.parse(tmp_path / "out/feeds/index.html")
    commands = [shlex.split(line) for pre in page.getroot().iter("pre") for line in pre.text_content().splitlines()]
    named = [word for words in commands for word in words if word.startswith("https:")]
    assert len(named) == 6 and all(url.startswith(f"{base}positions/") for url in named)
    (add,) = [words for words in commands if words[:2] == ["r2e", "add"]]
    assert re.fullmatch(r"\w[\w.-]*", add[2])


def test_without_an_address_there_is_no_link_and_no_enclosure(site: Path) -> None:
    """A feed that was not published anywhere must not pretend."""
    feed = read_feed(build_site(site, output=site.parent / "out") / "positions/director/feed.xml")
    assert found(feed, "//item/link | //enclosure | //*[local-name()='link' and @rel='self']") == []
    assert found(feed, "/rss/channel/link/text()") == ["urn:memosite:archive"]


def test_every_date_has_an_rfc_822_form() -> None:
    """The instant survives."""
    for text in ("2026-05-01T09:00:00+05:30", "2026-05-01T09:00:00Z", "2026-05-01", "1999-12-31T23:59:59.5Z"):
        moment = read_moment(text)
        assert moment is not None
        assert parsedate_to_datetime(rfc822(moment)) == moment.instant.replace(microsecond=0)


def test_a_path_is_told_as_it_is_unless_it_could_break_a_line(tmp_path: Path) -> None:
    """Spaces of any kind are part of a name; what controls or reorders becomes U+FFFD."""
    inbox = tmp_path / "repo/memos/inbox"
    write_memo(inbox, "2026-05-01-0900--engineer--director--a\u00a0b\u3000c")
    write_memo(inbox, "2026-05-02-0900--engineer--director--d\nnew memo: e\u202ef")
    build_site(tmp_path / "repo", output=tmp_path / "out")
    assert found(read_feed(tmp_path / "out/positions/director/feed.xml"), "//item/description/text()") == [
        "new memo: memos/inbox/2026-05-02-0900--engineer--director--d\ufffdnew memo: e\ufffdf.openthing",
        "new memo: memos/inbox/2026-05-01-0900--engineer--director--a\u00a0b\u3000c.openthing",
    ]


def test_a_path_is_no_markup_where_it_is_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is percent-encoded there, if it could be; its element has it as it is, and `watch` reads that one."""
    inbox, stamp = tmp_path / "repo/memos/inbox", "2026-05-01-0900--engineer--director"
    names = {
        f"{stamp}--a<svg onload=alert(1)>&amp;100%41": f"{stamp}--a%3Csvg onload=alert(1)%3E%26amp;100%2541",
        f"{stamp}--b 100%41": f"{stamp}--b 100%41",
    }
    for name in names:
        write_memo(inbox, name)
    build_site(tmp_path / "repo", output=tmp_path / "out")
    path = tmp_path / "out/positions/director/feed.xml"
    told = [tuple(found(read_feed(path), f"//item/{tag}/text()")) for tag in ("description", "*[local-name()='path']")]
    assert set(zip(*told, strict=True)) == {
        (f"new memo: memos/inbox/{line}.openthing", f"memos/inbox/{name}.openthing") for name, line in names.items()
    }
    for page in ("positions/director/feed-full.xml", "positions/director/feed.json"):
        written = (tmp_path / "out" / page).read_text()
        assert "onload=alert(1)%3E" in written
    watch = ["watch", str(path), "--once", "--since", "all", "--state", str(tmp_path / "state"), "--quiet"]
    assert main(watch) == 0
    assert set(capsys.readouterr().out.splitlines()) == {f"new memo: memos/inbox/{name}.openthing" for name in names}


def test_no_character_can_break_a_feed() -> None:
    """What XML 1.0 forbids becomes U+FFFD; the rest is escaped once."""
    item = FeedItem(
        guid=HOSTILE, title=HOSTILE, path=HOSTILE, repo=HOSTILE, sender=HOSTILE, to=HOSTILE, subject=HOSTILE,
        sha256="0", action_required=False, link=HOSTILE, thread_id=HOSTILE, parent_guid=HOSTILE,
        enclosure=Enclosure(url=HOSTILE, length=1, type="application/json"),
    )  # fmt: skip
    feed = Feed(
        title=HOSTILE, description=HOSTILE, language="en", generator="g", position=HOSTILE, fallback_link=HOSTILE,
        items=(item,),
    )  # fmt: skip
    tree = etree.fromstring(to_rss(feed))
    assert found(tree, "//item/title/text()") == ["a\ufffdb\ufffd\ufffd\ufffd<script>&\"']]>\u0085\u2028"]


WORDS = st.text(st.sampled_from("a \u00e9\U0001f600&<>\"'\r\n\t]\x00\x7f\x85\ud800\ufffe\u2028")).map("a".__add__)
"""Texts of what has to be escaped, and no text of spaces alone, which a parser may leave out."""


@given(title=WORDS, path=WORDS, guid=WORDS, parent=st.none() | WORDS, url=st.none() | WORDS, html=st.none() | WORDS)
def test_an_item_is_written_as_a_library_would_write_it(
    *, title: str, path: str, guid: str, parent: str | None, url: str | None, html: str | None
) -> None:
    """Items are written by hand, since there are hundreds in a feed: read and written by lxml they are the same."""
    item = FeedItem(
        guid=guid, title=title, path=path, repo="r", sender="s", to="", subject=title, sha256="0",
        action_required=False, is_open=True, link=url, parent_guid=parent, date=read_moment("2026-05-01T09:00:00Z"),
        enclosure=None if url is None else Enclosure(url=url, length=1, type=title),
    )  # fmt: skip
    feed = Feed(
        title="t", description="d", language="en", generator="g", fallback_link="urn:f", items=(item, item),
        is_archive=True, position="p",
    )  # fmt: skip
    written = to_rss(feed, {} if html is None else {guid: html})
    tree = etree.fromstring(written, etree.XMLParser(remove_blank_text=True))
    for element in tree.iter("{*}to", "{*}sent"):
        element.text = ""  # what is read as nothing at all
    assert etree.tostring(tree, encoding="UTF-8", xml_declaration=True, pretty_print=True) == written
