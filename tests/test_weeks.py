"""Weeks: what arrived in each, told as it was when the week ended, with a feed of those that have."""

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.cli import main
from tests.support.feeds.documents import read_feed
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo, write_note, write_transcript
from tests.support.pages import bad_links, found
from tests.support.repos import Repo
from tests.support.session_logs import ClaudeLog
from tests.support.sites import build_site, tree_bytes

BASE = "https://archive.example.org/"
ASKED = "2026-05-04-0900--engineer--director--lamp"
BOTH = "2026-05-05-0900--director--engineer-and-pilot--buoys"
Capture = pytest.CaptureFixture[str]


def write(repo: Path, name: str, **fields: Any) -> Path:
    """A memo that says when it was sent, from whom and to whom, as its name does."""
    stamp, sender, to, _ = name.split("--")
    sent = f"{stamp[:10]}T{stamp[11:13]}:{stamp[13:]}:00Z"
    return write_memo(repo / "memos/read", name, **{"sender": sender, "to": to.split("-and-"), "sent": sent} | fields)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two questions, an answer, a decision, a proposal, a note and a session in one week; a memo of the week after."""
    folder = tmp_path / "repo"
    write(folder, ASKED, subject="May I <b>light</b> the lamp?", body="The lamp is out.", action_required=True)
    write(folder, BOTH, subject="Count the buoys", body="All twelve of them.", action_required=True)
    reply = "2026-05-06-0900--pilot--director--counted"
    write(folder, reply, subject="Eleven", body="One drifted off.", in_reply_to=f"{BOTH}.openthing")
    write(folder, "2026-05-06-1000--pilot--director--tide", subject="The tide", body="It is high at noon.")
    write_note(folder / "notes/director", "2026-05-06-1100--director--note", sent="2026-05-06T11:00:00Z")
    write_transcript(folder / "transcripts/engineer", "2026-05-08-1430--engineer--talk", started="2026-05-08T14:30:00Z")
    text = "# Paint the pier\n\nStatus: Accepted\nDate: 2026-05-07\nDecided: 2026-05-07 by director\n\nIn green.\n"
    write_text(folder / "docs/decisions/2026-05-07-paint.md", text)
    write_text(
        folder / "docs/decisions/proposals/2026-05-07-bell.md",
        "# A bell\n\nStatus: Proposed\nDate: 2026-05-07\n\nLoud.\n",
    )
    write(folder, "2026-05-11-0900--engineer--pilot--later", subject="Later", body="Of another week.")
    return folder


def build(repo: Path) -> Path:
    """Build over what is there."""
    return build_site(repo, output=repo.parent / "out", base_url=BASE)


def told(output: Path, week: str) -> dict[str, list[str]]:
    """The subjects on the page of a week, by section."""
    page = html.parse(output / f"weeks/{week}/index.html")
    return {
        str(section.get("id")): [str(one.text_content()) for one in section.xpath(".//a[@class='subject']")]
        for section in page.xpath("//section[@class='list'][.//a[@class='subject']]")
    }


def test_a_week_tells_what_was_decided_asked_and_answered_each_with_a_line_of_its_text(repo: Path) -> None:
    """And who wrote to whom: drawn, and as a table. What a memo says writes no HTML."""
    output = build(repo)
    assert told(output, "2026-W19") == {
        "decided": ["Paint the pier"],
        "waits": ["May I <b>light</b> the lamp?", "Count the buoys", "A bell"],
        "answers": ["Eleven"],
        "written": ["The tide"],
        "sessions": ["About 2026-05-08-1430--engineer--talk"],
        "others": ["About 2026-05-06-1100--director--note"],
    }
    page = html.parse(output / "weeks/2026-W19/index.html")
    lines = found(page, "//li[@class='row']/p[@class='line']/text()")
    assert {"The lamp is out.", "One drifted off.", "It is high at noon."} <= set(lines)
    rows = {
        row.xpath("string(a[@class='subject'])"): " ".join(row.text_content().split())
        for row in page.xpath("//li[@class='row']")
    }
    assert rows["Count the buoys"].endswith("not answered by the end of the week: engineer"), "the pilot has answered"
    assert rows["A bell"].endswith("not decided by the end of the week")
    assert "as it stood when the week ended on 2026-05-10" in page.xpath("string(//header[@class='title'])")
    assert rows["Paint the pier"].endswith("decided by director")
    assert rows["Eleven"].endswith("answers Count the buoys")
    order = found(page, "//section[@class='list']/@id")
    assert order == ["decided", "waits", "answers", "written", "who", "sessions", "others", "days"], (
        "what happened is first"
    )
    [table] = page.xpath("//figure[@id='who-wrote-to-whom']//table")
    pairs = [" ".join(row.text_content().split()) for row in table.xpath("tbody/tr")]
    assert (pairs[0].split()[:3], len(pairs)) == (["pilot", "to", "director2"], 4)
    later = html.parse(output / "weeks/2026-W20/index.html")
    assert not later.xpath("//figure"), "one value throughout is no picture"
    assert " ".join(later.xpath("string(//section[@id='who']//li)").split()) == "engineer to pilot 1 · Mo"
    assert list(bad_links(output)) == []


def test_a_week_ends_when_a_later_one_begins_to_arrive_and_never_changes_then(repo: Path) -> None:
    """Not by what comes late with an old date, nor by an answer: what is told is what was known by its end."""
    output = build(repo)
    ended, running = output / "weeks/2026-W19/index.html", output / "weeks/2026-W20/index.html"
    kickers = [html.parse(page).xpath("string(//p[contains(@class, 'kicker')])") for page in (ended, running)]
    assert kickers == ["Week 2026-W19", "Week 2026-W20 · nothing has arrived since 2026-05-11"]
    before = ended.read_bytes()
    write(repo, "2026-05-05-1000--pilot--engineer--late", subject="Late", body="Found below a net.")
    answer = "2026-05-12-0900--director--engineer--lit"
    write(repo, answer, subject="Light it", in_reply_to=f"{ASKED}.openthing")
    kept = {path: (output / path).stat().st_mtime_ns for path in ("weeks/2026-W19/index.html",)}
    build(repo)
    assert ended.read_bytes() == before and {path: (output / path).stat().st_mtime_ns for path in kept} == kept
    now = told(output, "2026-W20")
    assert now == {"answers": ["Light it"], "written": ["Later", "Late"]}, "in the week in which they came"
    assert 'by the end of the week: <a href="../../positions/director/index.html">' in before.decode()


def test_a_week_names_who_had_not_answered_a_memo_to_all_by_its_end(repo: Path) -> None:
    """Without who answered in it; later answers, a later end and a seat that came later change nothing of it."""
    asks = "2026-05-05-1000--director--all--fog"
    write(repo, asks, subject="Who has a horn?", body="One line, please.", action_required=True)
    reply = f"{asks}.openthing"
    write(repo, "2026-05-06-1200--pilot--director--horn", subject="I have", body="A small one.", in_reply_to=reply)
    output = build(repo)
    page = output / "weeks/2026-W19/index.html"

    def left() -> str:
        [row] = html.parse(page).xpath("//section[@id='waits']//li[a[.='Who has a horn?']]")
        return " ".join(row.text_content().split()).partition("not answered by the end of the week: ")[2]

    assert left() == "engineer"
    assert "Not answered yet by engineer" in html.parse(output / f"memos/{asks}/index.html").xpath(
        "string(//header[@class='title'])"
    )
    before = page.read_bytes()
    write(repo, "2026-05-12-0900--engineer--director--bell", subject="A bell", body="No horn.", in_reply_to=reply)
    write(repo, "2026-05-12-1000--cook--director--soup", subject="Soup", body="At noon.")
    build(repo)
    assert page.read_bytes() == before
    write(repo, "2026-05-13-0900--director--all--closed", subject="Closed: horns", in_reply_to=reply)
    build(repo)
    assert "Not answered yet" not in html.parse(output / f"memos/{asks}/index.html").xpath(
        "string(//header[@class='title'])"
    )
    assert page.read_bytes() == before


def decide(repo: Path, day: str, name: str, head: str) -> None:
    """A decision of a day, with its status and what it supersedes."""
    write_text(
        repo / f"docs/decisions/{day}-{name}.md", f"# {name.title()}\n\nStatus: {head}\nDate: {day}\n\nSo be it.\n"
    )


def test_a_week_marks_what_was_rejected_or_superseded_by_its_end(repo: Path, capsys: Capture) -> None:
    """On its page, in its counts, in the list, the feed and `diff`; what came later changes nothing of it."""
    write_json(repo / "memosite.yml", {"title": "Quay"})
    decide(repo, "2026-05-04", "rope", "Accepted")
    decide(repo, "2026-05-05", "chain", "Accepted\nSupersedes: 2026-05-04-rope.md")
    decide(repo, "2026-05-04", "anchor", "Rejected")
    decide(repo, "2026-05-05", "crane", "Accepted")
    decide(repo, "2026-05-06", "winch", "Proposed")
    output = build(repo)
    page = output / "weeks/2026-W19/index.html"
    rows = {
        row.xpath("string(a[@class='subject'])"): " ".join(row.text_content().split())
        for row in html.parse(page).xpath("//section[@id='decided']//li[@class='row']")
    }
    assert "superseded So be it. superseded this week by Chain" in rows["Rope"]
    assert rows["Anchor"].endswith("rejected So be it.")
    assert not any("rejected" in rows[one] or "superseded" in rows[one] for one in ("Chain", "Crane", "Paint the pier"))
    counts = "5 decided (1 rejected, 1 superseded), 4 new and waiting"
    assert counts in html.parse(page).xpath("string(//p[@class='envelope'])")
    listed = html.parse(output / "weeks/index.html").xpath("string(//main)")
    assert counts in listed and "Decided: Chain" in listed, "the first that held"
    [content] = found(read_feed(output / "weeks/feed.xml"), "//item/*[local-name()='encoded']/text()")
    assert "Rejected: " in content and "Superseded: " in content
    assert main(["diff", "--week", "2026-W19", "--site", str(repo), "--format", "json"]) == 0
    told_now = json.loads(capsys.readouterr().out)["told"]
    stands = {one["subject"]: (one["standing"], one["successor"]) for one in told_now}
    assert stands["Rope"] == ("superseded", "document/repo.docs.decisions.2026-05-05-chain.md")
    assert (stands["Anchor"], stands["Chain"]) == (("rejected", None), (None, None))
    before = page.read_bytes()
    for name in ("crane", "winch", "anchor"):
        day = {"crane": "05", "winch": "06", "anchor": "04"}[name]
        decide(repo, "2026-05-12", f"new {name}", f"Accepted\nSupersedes: 2026-05-{day}-{name}.md")
    build(repo)
    assert page.read_bytes() == before


def test_the_feed_has_an_item_for_each_week_that_has_ended_and_digests_go_on(repo: Path) -> None:
    """The running week and day are pages only; home, digests and feeds lead to weeks."""
    output = build(repo)
    feed = read_feed(output / "weeks/feed.xml")
    assert found(feed, "//guid/text()") == ["tag:memosite.invalid,2026:archive/week/2026-W19"]
    [title] = found(feed, "//item/title/text()")
    assert title.startswith("Week of 4–10 May 2026: 1 decided, 3 new and waiting, 1 answer")
    [content] = found(feed, "//item/*[local-name()='encoded']/text()")
    assert f'<a href="{BASE}memos/{ASKED}/">May I &lt;b&gt;light&lt;/b&gt; the lamp?</a>' in content
    assert "2026-05-11" not in " ".join(found(read_feed(output / "digests/feed.xml"), "//guid/text()"))
    assert "Nothing has arrived since 2026-05-11." in (output / "digests/2026-05-11/index.html").read_text()
    for page, link in (
        ("index.html", "weeks/2026-W20/index.html"), ("index.html", "weeks/2026-W19/index.html"),
        ("digests/2026-05-06/index.html", "../../weeks/2026-W19/index.html"),
        ("digests/index.html", "2026-05-11/index.html"), ("feeds/index.html", "../weeks/feed.xml"),
        ("timeline/index.html", "../weeks/index.html"),
        ("weeks/2026-W19/index.html", "../../digests/2026-05-06/index.html"),
    ):  # fmt: skip
        assert link in found(html.parse(output / page), "//main//a/@href"), page
    leads = " ".join(html.parse(output / "index.html").xpath("string(//p[a[.='All weeks']])").split())
    newest, before = "11–17 May 2026: 1 item, nothing since 2026-05-11", "4–10 May 2026: 8 items"
    assert leads == f"Newest weeks: {newest} · {before} · All weeks"
    weeks = found(html.parse(output / "weeks/index.html"), "//main//span[@class='subject']/a/text()")
    assert weeks == ["11–17 May 2026", "4–10 May 2026"], "dates lead"
    said = [" ".join(one.text_content().split()) for one in html.parse(output / "weeks/index.html").xpath("//main//li")]
    assert said[0] == "11–17 May 2026 1 item 2026-W20 · 1 other memo · nothing has arrived since 2026-05-11"
    assert said[1].startswith("4–10 May 2026 8 items 2026-W19 · 1 decided, 3 new and waiting, 1 answer, 1 other memo,")
    assert said[1].endswith("Decided: Paint the pier · New and waiting: May I <b>light</b> the lamp?")
    for path in repo.glob("memos/read/2026-05-11*"):
        path.unlink()
    build(repo)
    assert '"../index.html"' in (output / "weeks/2026-W20/index.html").read_text(), "its address leads on"


def test_what_has_no_date_is_in_no_week(repo: Path) -> None:
    """Neither in the newest; the list of weeks says how many there are, and leads to them. Git's day is a date."""
    for name in ("someday", "whenever"):
        write_memo(repo / "memos/read", f"{name}--pilot--director--lost", sent=None, subject=f"Lost {name}")
    output = build(repo)
    assert told(output, "2026-W20") == {"written": ["Later"]}
    listed = " ".join(html.parse(output / "weeks/index.html").xpath("string(//main)").split())
    assert listed.endswith("the lamp? In no week: 2 items without a date.")
    [link] = found(html.parse(output / "weeks/index.html"), "//a[starts-with(., '2 items')]/@href")
    assert "Lost someday" in (output / "weeks" / link).read_text()
    in_git = Repo(repo)
    in_git.git("add", "memos/read/someday--pilot--director--lost.openthing")
    in_git.git("commit", "-qm", "found", at="2026-05-13T10:00:00Z")
    build(repo)
    assert told(output, "2026-W20") == {"written": ["Later", "Lost someday"]}
    assert "1 item without a date" in (output / "weeks/index.html").read_text()


def test_digests_have_what_their_week_has(repo: Path) -> None:
    """Day by day, session logs and all; what has no date is in neither. The feed of digests announces no log."""
    write_memo(repo / "memos/read", "someday--pilot--director--lost", sent=None, subject="Lost")
    write_json(repo / "forms.opencatalog", {"type": "memodef:Library", "id": "forms", "name": "Forms", "items": []})
    for day in ("2026-05-08", "2026-05-09", "2026-05-12"):
        key = f"5e55{day[-2:]}00-0000-4c61-9a56-1f7f5f0f9a02"
        ClaudeLog(key, day=day).ask().say("It is done.").write(repo / f"sessions/{key}.jsonl")
    output = build(repo)
    for week, days in (("2026-W19", 6), ("2026-W20", 2)):
        here = html.parse(output / f"weeks/{week}/index.html")
        in_digests: list[str] = []
        for item in here.xpath("//section[@id='days']//li"):
            [digest] = found(item, "a/@href")
            listed = found(html.parse(output / "weeks" / week / digest), "//main//a[@class='subject']/text()")
            assert item.findtext("span") == str(len(listed)), digest
            in_digests += listed
        assert sorted(in_digests) == sorted(found(here, "//main//a[@class='subject']/text()"))
        assert len(here.xpath("//section[@id='days']//li")) == days
    assert told(output, "2026-W20")["sessions"] == ["Oil the hinges of the north gate, please."]
    week = html.parse(output / "weeks/2026-W19/index.html")
    assert "1 other memo, 1 transcript, 2 sessions, 1 note" in week.xpath("string(//p[@class='envelope'])")
    headings = found(week, "//section[@id='written' or @id='sessions']/h2/text()")
    assert [one.strip() for one in headings] == ["Other memos", "Transcripts and sessions"], (
        "in the words of the counts"
    )
    [link] = html.parse(output / "index.html").xpath("//header//a[.='3 of them sessions']")
    assert link.get("href") == "sessions/index.html" and link.getparent().text_content().count("4 transcripts") == 1
    assert len(html.parse(output / "sessions/index.html").xpath("//li[@class='row']")) == 3
    page = html.parse(output / "digests/2026-05-09/index.html")
    assert found(page, "//section/@id") == ["sessions"] and "2026-05-08" in found(page, "//main//a/text()")
    [undated] = found(html.parse(output / "digests/index.html"), "//main//a[contains(., 'without a date')]/text()")
    assert undated == "2 items without a date", "the memo and the library"
    announced = found(read_feed(output / "digests/feed.xml"), "//guid/text()")
    assert [one.rpartition("/")[2] for one in announced] == [
        *("2026-05-11", "2026-05-08", "2026-05-07", "2026-05-06", "2026-05-05", "2026-05-04")
    ], "a day that has logs alone has no item, and ends the day before it"
    [content] = found(read_feed(output / "digests/feed.xml"), "//item[2]/*[local-name()='encoded']/text()")
    assert "1 transcript" in content and "hinges" not in content


def test_a_new_memo_makes_the_running_week_alone(repo: Path) -> None:
    """Of all pages of weeks; one that answers an ended week as well."""
    output = build(repo)
    before = {path: data for path, data in tree_bytes(output).items() if path.startswith("weeks/")}
    reply = f"{ASKED}.openthing"
    write(repo, "2026-05-12-0900--director--engineer--lit", subject="Light it", in_reply_to=reply)
    build(repo)
    after = {path: data for path, data in tree_bytes(output).items() if path.startswith("weeks/")}
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed == {"weeks/2026-W20/index.html", "weeks/index.html"}
    fresh = build_site(repo, output=repo.parent / "fresh", base_url=BASE)
    assert {path: data for path, data in tree_bytes(fresh).items() if path.startswith("weeks/")} == after


def test_diff_prints_a_week(repo: Path, capsys: Capture) -> None:
    """The newest, or the one that is named; a week without news is refused with one that has any."""
    write_json(repo / "memosite.yml", {"title": "Quay"})
    assert main(["diff", "--week", "--site", str(repo)]) == 0
    assert capsys.readouterr().out.startswith(
        "Week 2026-W20, 2026-05-11 – 2026-05-17, nothing has arrived since 2026-05-11\n\nOther memos (1)\n"
    )
    assert main(["diff", "--week", "2026-W19", "--site", str(repo)]) == 0
    said = capsys.readouterr().out
    assert (
        "not answered by the end of the week: engineer)  All twelve of them." in said
        and "\nNew and waiting (3)\n" in said
    )
    assert main(["diff", "--week", "2026-W19", "--site", str(repo), "--format", "json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["week"], value["is_running"], len(value["told"])) == ("2026-W19", False, 8)
    assert main(["diff", "--week", "2026-W19", "--site", str(repo), "--format", "markdown"]) == 0
    assert "## New and waiting\n\n- 2026-05-04 engineer to director: [May I \\<b\\>light" in capsys.readouterr().out
    for words in (["--week", "2026-W01"], ["2026-05-01..", "--week", "2026-W19"], []):
        assert main(["diff", *words, "--site", str(repo)]) == 2
        assert "expected" in capsys.readouterr().err
    assert main(["diff", "--week", "2026-W19", "--site", str(repo), "--budget", "150"]) == 0
    assert "memosite diff --week 2026-W19 --budget 0" in capsys.readouterr().out
