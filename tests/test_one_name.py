"""One date, one name, one author: whatever shows an item, a position or a thread says what its page says."""

import email
import json
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html

from memosite.cli import main
from tests.support.files import write_text
from tests.support.memos import write_memo, write_org, write_transcript
from tests.support.pages import found
from tests.support.search import browse
from tests.support.sites import build_site

Capture = pytest.CaptureFixture[str]
LATE = "2026-05-01T23:30:00-07:00"
"""The second of May in UTC; for its writer, and on every page, the first."""
DAY = "2026-05-01"
SEAT = "x-spec~strategist"
NAME = "x-strategist"
THREAD, TITLE = "Gate & Fence", "The gate is closed"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two organizations with a strategist each; a thread, a note, a transcript and a broadcast, all sent late."""
    root = tmp_path_factory.mktemp("site")
    for organization in ("x-spec", "y-org"):
        write_org(root / "repo/org", organization, positions=["strategist", "engineer"])
    memos = root / "repo/memos/read"
    write_memo(memos, "first", subject=TITLE, sender="x-engineer", to=NAME, sent=LATE, thread_id=THREAD)
    back: dict[str, Any] = {"sender": NAME, "to": "x-engineer", "in_reply_to": "first", "action_required": True}
    write_memo(memos, "reply", subject="Re", sent=LATE, **back)
    write_memo(memos, "far", subject="Far", sender="y-strategist", to="all", sent=LATE)
    write_memo(root / "repo/notes/x-strategist", "note", subject="Note", sender=NAME, to="file", sent=LATE)
    spoken = {"participants": [{"position": NAME, "session_arc": "a"}], "started": LATE, "subject": "Talk"}
    write_transcript(root / f"repo/transcripts/{NAME}", "talk", text="## User\n\nHello.\n", **spoken)
    (root / "memosite.yml").write_text("title: Acme\nfeeds: {searches: {late: 'with:x-strategist'}}\n")
    build_site(root, base_url="https://acme.example/")
    return root


def page(site: Path, name: str) -> "html.HtmlElement":
    """A page of the site."""
    return html.parse(site / "_site" / name / "index.html").getroot()


def threads(site: Path) -> list[Path]:
    """The folders of the pages of threads."""
    return sorted(one.parent for one in (site / "_site/threads").glob("*/index.html"))


def position_names(site: Path) -> list[str]:
    """What the table of positions calls them."""
    return [cell.text_content() for cell in page(site, "org").xpath("//section[@id='positions']//th[@scope='row']")]


def test_pages_call_a_position_by_one_name_and_hits_and_comparisons_have_their_day(site: Path, capsys: Capture) -> None:
    """In lists, tables, headings; browser, command line, Markdown, ledgers; machines are told the instant."""
    assert position_names(site) == ["x-engineer", NAME, "y-org/engineer", "y-strategist"]
    for id_, name in (("x-spec~engineer", "x-engineer"), ("y-org~engineer", "y-org/engineer"), (SEAT, NAME)):
        assert page(site, f"positions/{id_}").findtext(".//h1") == name
    both = page(site, "positions/strategist").find(".//header[@class='title']").text_content()
    assert f"Stands for {NAME}, y-strategist" in both
    boxes = found(page(site, "org"), "//a[starts-with(@class, 'box')]//text[1]/text()")
    assert sorted(boxes) == ["X-Spec", "Y-Org", "engineer", "engineer", "strategist", "strategist"]
    days = {time.text for time in page(site, f"positions/{SEAT}").iterfind(".//li//time")}
    assert days == {DAY}
    (answer,) = browse(site / "_site", ["sent:2026"], limit=50)
    assert len(answer["rows"]) == 6 and {row[7] for row in answer["rows"]} == {DAY}
    assert main(["search", "--site", str(site), "kind:memo"]) == 0
    assert capsys.readouterr().out.count(f"  {DAY} · memo · ") == 3
    assert main(["search", "--site", str(site), "--json", "kind:memo"]) == 0
    assert {hit["date"] for hit in json.loads(capsys.readouterr().out)["hits"]} == {"2026-05-02T06:30:00Z"}
    lists = [f"positions/{SEAT}", "timeline/2026/05", *(f"threads/{one.name}" for one in threads(site))]
    for name in lists:
        listed = (site / "_site" / name / "index.md").read_text(encoding="utf-8")
        assert f"{DAY} " in listed and "2026-05-02" not in listed
    ledger = str(site / "_site/archive/ledger.jsonl")
    for between in ("2026-01-01..", f"{site / 'none.jsonl'}..{ledger}"):
        (site / "none.jsonl").write_text("", encoding="utf-8")
        for form, begin in (("text", f"  {DAY}  "), ("markdown", f"- {DAY} "), ("json", '"2026-05-02T06:30:00Z"')):
            main(["diff", between, "--site", str(site), "--format", form])
            said = capsys.readouterr().out
            assert said.count(begin) == 5, (between, form, said)


def test_a_name_of_several_positions_says_so_and_a_memo_what_is_written_too(tmp_path: Path) -> None:
    """In tables, at links; aliases have the position's name, what an orgdef calls it is beside."""
    for organization in ("x-spec", "y-org"):
        write_org(tmp_path / "repo/org", organization, positions=["director"])
    write_memo(tmp_path / "repo/memos/inbox", "asked", sender="clerk", to="director")
    build_site(tmp_path)
    assert position_names(tmp_path) == ["director in 2 organizations", "x-spec/director", "y-org/director", "clerk"]
    titles = found(page(tmp_path, "timeline/2026/05"), "//a[text()='director']/@title")
    assert titles == ["Stands for x-spec/director, y-org/director"]
    tmp_path /= "two"
    write_org(tmp_path / "repo/org", "town", positions=[{"id": "desk", "name": "Lending desk", "incumbent": "Ann"}])
    for number, to in enumerate(("desk", "town/desk", "counter")):
        write_memo(tmp_path / "repo/memos/inbox", f"m{number}", sender="clerk", to=to)
    (tmp_path / "memosite.yml").write_text("positions: {aliases: {counter: desk}}\n")
    build_site(tmp_path)
    assert found(page(tmp_path, "timeline/2026/05"), "//a[contains(@href, '/desk/')]/text()") == ["desk"] * 3
    written = [" ".join(found(page(tmp_path, f"memos/m{number}"), "//a[contains(@href, '/desk/')]/text()")[:1])
               for number in range(3)]  # fmt: skip
    assert written == ["desk", "desk (written town/desk)", "desk (written counter)"]
    head = page(tmp_path, "positions/desk").find(".//header[@class='title']")
    assert head.findtext("h1") == "desk" and "Lending desk · Held by Ann" in head.text_content()
    (box,) = page(tmp_path, "org").xpath("//a[starts-with(@class, 'box')]")
    assert found(box, ".//text/text()")[:2] == ["desk", "Lending desk · Ann"]


def hits(capsys: Capture, site: Path, query: str) -> list[str]:
    """The ids that the command line finds, in order."""
    assert main(["search", "--site", str(site), "--json", query]) == 0
    return sorted(hit["id"] for hit in json.loads(capsys.readouterr().out)["hits"])


def test_a_facet_calls_a_position_as_its_page_does_and_a_thread_is_found_by_id_and_title(
    site: Path, capsys: Capture
) -> None:
    """By the name and by the id, which worked before; the same on the command line, and as feeds say."""
    assert page(site, f"positions/{SEAT}").findtext(".//h1") == NAME
    (answer,) = browse(site / "_site", ["sent:2026"], limit=50)
    counted = dict(answer["facets"]["position"])
    assert counted[NAME] == 4 and not any("~" in name for name in counted)
    for name, count in counted.items():
        (narrowed,) = browse(site / "_site", [f"with:{name}"], limit=50)
        assert len({(kind, id_) for kind, id_, *_ in narrowed["hits"]}) == count, name
    queries = [f"with:{NAME}", f"with:{SEAT}", f"from:{NAME}", f"from:{SEAT}", f"to:{NAME}"]
    by_name, by_id, sent, sent_by_id, to = browse(site / "_site", queries, limit=50)
    assert by_name["hits"] == by_id["hits"] and sent["hits"] == sent_by_id["hits"]
    assert (len(sent["hits"]), len(to["hits"])) == (2, 1)
    for field in ("with", "from", "to"):
        assert hits(capsys, site, f"{field}:{NAME}") == hits(capsys, site, f"{field}:{SEAT}") != []
    (folder,) = threads(site)
    title = page(site, f"threads/{folder.name}").findtext(".//h1")
    assert title == TITLE
    assert etree.parse(folder / "feed.xml").findtext("channel/title") == f"Acme: {TITLE}"
    queries = [f"thread:{folder.name}", f'thread:"{THREAD}"', f'thread:"{title}"']
    answers = browse(site / "_site", queries, limit=50)
    assert [sorted(hit[1] for hit in one["hits"]) for one in answers] == [["first", "reply"]] * 3
    assert all(set(hits(capsys, site, query)) == {"first", "reply"} for query in queries)


def test_twins_feeds_and_mail_call_a_position_as_its_page_does(site: Path, tmp_path: Path) -> None:
    """Markdown, RSS and mail are for people; JSON and CSV keep ids."""
    twin = (site / "_site/memos/reply/index.md").read_text(encoding="utf-8")
    assert "Action: open (x-engineer)" in twin
    feed = (site / f"_site/positions/{SEAT}/transcripts.xml").read_text(encoding="utf-8")
    said = found(etree.fromstring(feed.encode()), "//item//text()[not(parent::guid)]")
    assert NAME in " ".join(said) and SEAT not in " ".join(said)
    assert main(["export", "--site", str(site), "--format", "mbox", "-o", str(tmp_path / "all.mbox")]) == 0
    mail = (tmp_path / "all.mbox").read_text(encoding="utf-8")
    talk = next(part for part in mail.split("\nFrom ") if "Subject: Talk" in part)
    assert NAME in email.message_from_string(talk.partition("\n")[2])["From"]
    assert "~" not in "".join(line for line in mail.splitlines() if line.startswith(("From:", "To:")))


# Who wrote an item to whom

ID = "2026-05-01-1430--desk--all--keys"
MANY = list("abcdefg")


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site with a memo that names nobody as its author, and seven recipients."""
    site = tmp_path_factory.mktemp("who")
    memo = {"catdef": "1.4", "memodef": "0.4.0", "type": "memodef:Memo", "to": MANY, "subject": "Keys of the door"}
    text = json.dumps(memo | {"sent": "2026-05-01T14:30:00Z", "body": "They hang in the hall."})
    write_text(site / f"desk/memos/inbox/{ID}.openthing", text)
    write_text(site / "memosite.yml", "sources: [{path: desk}]\nbase_url: https://example.org/\narchive_id: hall\n")
    build_site(site)
    return site


def printed(capsys: Capture, *words: object) -> str:
    """What a command prints; `diff` and `show` end with 0."""
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_the_first_four_of_many_are_named_and_an_unknown_author_is_said_so(hall: Path, capsys: Capture) -> None:
    """By commands and twins, with how many more; on pages, in the feed and in the header of a mail."""
    who = "unknown to a, b, c, d and 3 more"
    assert who in printed(capsys, "search", "hall", "--site", hall)
    assert f"{who}: Keys of the door" in printed(capsys, "diff", "2026-04-01..2026-06-01", "--site", hall)
    assert f"{who}: [Keys of the door]" in (hall / "_site/timeline/2026/05/index.md").read_text()
    for command in (("show", ID), ("inbox", "a")):
        assert who.replace(" to ", " → ") in printed(capsys, *command, "--site", hall)
    built = hall / "_site"
    assert "From: unknown\nTo: a, b, c, d, e, f, g\n" in (built / f"memos/{ID}/index.md").read_text()
    for page in (f"memos/{ID}/index.html", "timeline/2026/05/index.html", "positions/a/index.html"):
        text = (built / page).read_text()
        assert ">unknown<" in text and "nobody" not in text
    assert "<dc:creator>unknown</dc:creator>" in (built / "feed.xml").read_text()
    mail = printed(capsys, "export", "--format", "mbox", "--site", hall).partition("\n")[2]
    assert str(email.message_from_string(mail)["From"]).startswith('"unknown" <')
