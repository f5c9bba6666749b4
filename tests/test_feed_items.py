"""What each feed holds, and what an item tells of its artifact (FEEDS, which feeds and item)."""

import re
import shlex
from pathlib import Path

import pytest
from lxml import etree
from lxml import html as lxml_html

from memosite.cli import main
from tests.support.feeds.documents import NAMESPACES, read_feed
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo, write_note, write_org, write_transcript
from tests.support.pages import found
from tests.support.sites import build_site

ASK = "2026-05-01-0900--engineer--director--ask"
ANSWER = "2026-05-02-0900--director--engineer--answer"
NEWS = "2026-05-03-0900--engineer--all--news"
ODD = "2026-05-04-0900--engineer--director--odd"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with two seats, each with a repo of its own; a memo lies in both, read in that of its reader."""
    folder = tmp_path / "site"
    seats = [{"id": seat, "name": seat, "working_directory": f"/home/{seat}"} for seat in ("engineer", "director")]
    write_org(folder / "engineer/org", positions=seats)
    write_memo(folder / "engineer/memos/archive", ASK, action_required=True, thread_id="asked")
    write_memo(folder / "director/memos/read", ASK, action_required=True, thread_id="asked")
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
    """Memos to a seat and to all; its notes; its transcripts; threads; what asks for something; everything."""
    answer(site)
    output = build(site)
    held = {
        "positions/director/feed.xml": ["odd", "news", "ask"],
        "positions/director/feed-full.xml": ["odd", "news", "ask"],
        "positions/director/notes.xml": [],
        "positions/engineer/feed.xml": ["news", "answer"],
        "positions/engineer/notes.xml": ["note"],
        "positions/engineer/transcripts.xml": ["talk"],
        "threads/asked/feed.xml": ["answer", "ask"],
    }
    assert {path: names(output / path) for path in held} == held
    everything = found(read_feed(output / "feed.xml"), "//guid/text()")
    assert len(everything) == 7
    assert any("/document/" in guid for guid in everything)
    assert not list(output.rglob("*.atom"))


def test_open_actions_come_and_go(site: Path) -> None:
    """What is answered is not announced any more."""
    assert names(build(site) / "actions/feed.xml") == ["ask"]
    assert found(read_feed(site.parent / "out/positions/director/feed.xml"), "//category/text()") == ["action-required"]
    answer(site)
    assert names(build(site) / "actions/feed.xml") == []
    assert found(read_feed(site.parent / "out/positions/director/feed.xml"), "//category/text()") == []


def test_records_have_a_feed_a_system(site: Path) -> None:
    """Of each system that the archive holds."""
    write_text(site / "engineer/.wyren/memory.md", "# Memory\n\n## Decisions\n\n- We use rope. [session abc]\n")
    output = build(site)
    assert [path.parent.name for path in output.glob("systems/*/feed.xml")] == ["wyren"]
    assert len(names(output / "systems/wyren/feed.xml")) == 1


def test_the_path_is_that_in_the_readers_own_repo(site: Path) -> None:
    """Where it lies now, though the sender keeps a copy."""
    answer(site)
    asked = item(build(site) / "positions/director/feed.xml", "--ask")
    assert asked.findtext("description") == f"new memo: memos/read/{ASK}.openthing"
    told = [asked.findtext(f"memo:{name}", namespaces=NAMESPACES) for name in ("path", "repo", "state", "thread_id")]
    assert told == [f"memos/read/{ASK}.openthing", "director", "read", "asked"]


def test_a_reply_names_the_guid_of_what_it_answers(site: Path) -> None:
    """RFC 4685; and the field as it was written."""
    answer(site)
    output = build(site)
    reply = item(output / "positions/engineer/feed.xml", "--answer")
    asked = item(output / "positions/director/feed.xml", "--ask")
    assert found(reply, "*[local-name()='in-reply-to']/@ref") == [asked.findtext("guid")]
    assert reply.findtext("memo:in_reply_to", namespaces=NAMESPACES) == ASK


def test_a_date_that_cannot_be_read_is_left_out_and_found(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The memo is announced all the same."""
    odd = item(build(site) / "positions/director/feed.xml", "--odd")
    assert odd.find("pubDate") is None
    assert odd.findtext("memo:sent", namespaces=NAMESPACES) in {None, ""}
    main(["check", str(site)])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "date-invalid" in line]
    assert f"director/memos/inbox/{ODD}.openthing" in line


def test_only_the_feed_for_people_holds_texts_and_of_the_newest_fifty(tmp_path: Path) -> None:
    """The other one notifies: it holds the line and no body."""
    for number in range(60):
        name = f"2026-05-01-09{number:02d}--engineer--director--m{number}"
        write_memo(tmp_path / "repo/memos/inbox", name, sent=f"2026-05-01T09:{number:02d}:00Z", body="A long story.")
    folder = build(tmp_path / "repo") / "positions/director"
    assert b"A long story" not in (folder / "feed.xml").read_bytes()
    assert b"encoded" not in b"".join((folder / "feed.xml").read_bytes().partition(b"<item>")[1:])
    assert (folder / "feed-full.xml").read_bytes().count(b"A long story") == 50
    assert names(folder / "feed-full.xml") == [f"m{number}" for number in range(59, 9, -1)]


def test_a_feed_names_its_position(site: Path) -> None:
    """Those of no seat name none."""
    output = build(site)
    feeds = ("positions/director/feed.xml", "positions/engineer/notes.xml", "feed.xml")
    told = [read_feed(output / path).findtext("channel/memo:position", namespaces=NAMESPACES) for path in feeds]
    assert told == ["director", "engineer", None]


def test_the_commands_of_the_page_are_words_of_a_shell(tmp_path: Path) -> None:
    """Whatever an address holds, and a seat is called."""
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-01-0900--a--b--c", to="-o'brien & co; $(id)~", sender="z")
    base = "https://archive.example.org/a'b&c/"
    build_site(tmp_path / "repo", output=tmp_path / "out", base_url=base)
    page = lxml_html.parse(tmp_path / "out/feeds/index.html")
    commands = [shlex.split(line) for pre in page.getroot().iter("pre") for line in pre.text_content().splitlines()]
    named = [word for words in commands for word in words if word.startswith("https:")]
    assert len(named) == 6
    assert all(url.startswith(f"{base}positions/") for url in named)
    (add,) = [words for words in commands if words[:2] == ["r2e", "add"]]
    assert re.fullmatch(r"\w[\w.-]*", add[2])


def test_a_configuration_that_closes_an_action_closes_it_in_feeds(site: Path) -> None:
    """By the id of the memo."""
    sources = [{"path": "engineer"}, {"path": "director"}]
    closed = {ASK: {"on": "2026-05-20", "by": "director", "why": "done"}}
    write_json(site / "memosite.yml", {"sources": sources, "actions": {"closed": closed}})
    assert names(build(site) / "actions/feed.xml") == []
