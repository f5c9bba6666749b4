"""The page of a transcript for an auditor: outline, strip of turns, times, attachments, and its search box."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.cli import main
from memosite.facts.times import read_moment
from memosite.plan.indexes import find_written
from tests.support.archives import read_folders, transcript_of
from tests.support.chromium import Browser, chromium
from tests.support.facts import archive_of, envelope, transcript
from tests.support.memos import write_memo, write_transcript
from tests.support.pages import found
from tests.support.pictures import ReadPicture, check_pictures
from tests.support.sites import build_site

NAME = "2026-05-01-1430--engineer--barges"
SAID = "There are 39 barges in the lock, and none of them may leave before noon."
PEOPLE = [{"position": "engineer", "session_arc": "arc-1"}, {"position": "director"}]
TALK = (
    ("🧑 User", "4:30:00 PM", "How many barges are in the lock?"),
    ("🤖 Assistant *(m-1)*", "4:30:05 PM", f"{SAID}\n\n> **🔧 Bash** <sub>5/1/2026, 4:30:05 PM</sub>\n> count barges"),
    ("🧑 User", "4:31:00 PM", ">"),
    ("🧑 User", "4:31:30 PM", "[Request interrupted by user for tool use]"),
    ("🧑 User", "4:32:00 PM", "[Image: source: /home/somebody/pictures/lock at noon.png]\n[Image #2]"),
    ("🤖 Assistant *(m-1)*", "4:32:10 PM", "A lighthouse."),
    ("🧑 User", "4:33:00 PM", "> why\n\nThe lighthouse, please."),
    ("🧑 User", "11:30:00 PM", "Good night."),
)


def talk(turns: tuple[tuple[str, str, str], ...] = TALK) -> str:
    """A stamped body of these turns."""
    return "".join(f"---\n\n## {who} <sub>5/1/2026, {at}</sub>\n\n{text}\n\n" for who, at, text in turns)


def write_site(folder: Path, text: str, started: str = "2026-05-01T14:30:00Z", **fields: str) -> Path:
    """A folder with one transcript, and its page once it is built."""
    write_transcript(folder / "transcripts/engineer", NAME, text=text, participants=PEOPLE, started=started, **fields)
    return folder / "_site/transcripts" / NAME / "index.html"


def words(page: Path, path: str) -> list[str]:
    """The words of elements."""
    return [" ".join(one.text_content().split()) for one in html.parse(page).xpath(path)]


def head(page: Path) -> str:
    """The line at the head of a page, but that it is redacted."""
    return words(page, "//p[@class='envelope']")[0].removesuffix(" · redacted")


def strip(page: Path) -> ReadPicture:
    """The strip of a page; its numbers are those of its table."""
    (found,) = check_pictures(page)
    return found


def test_the_outline_has_numbers_and_times_attachments_names_and_the_strip_60_columns(tmp_path: Path) -> None:
    """No noise; what was attached stands for a turn without words; how many lines are folded is said."""
    log = "\n".join(f"line {number}" for number in range(712))
    page = write_site(tmp_path, talk((*TALK, ("🧑 User", "11:40:00 PM", log))))
    build_site(tmp_path)
    assert words(page, "//nav[@class='outline']//li/a")[:4] == [
        "1 · 16:30 How many barges are in the lock?",
        "5 · 16:32 [Image: source: /home/somebody/pictures/lock at noon.png] [Image #2]",
        "7 · 16:33 why The lighthouse, please.",
        "8 · 23:30 Good night.",
    ]
    assert [f"t{number}" for number in range(1, 10)] == html.parse(page).xpath("//section/@id")
    assert words(page, "//section[@id='t5']/p") == ["Attached: lock at noon.png, Image #2"]
    assert "/home/somebody/pictures/lock at noon.png" in words(page, "//section[@id='t5']")[0]
    assert words(page, "//section[@id='t1']/p") == []
    assert words(page, "//details[@class='long']/summary") == ["700 more lines"]
    page = write_site(tmp_path, f"## User\n\n{'a ' * 60}\n\n## Assistant\n\n{'b ' * 60}\n\n" * 2_000)
    build_site(tmp_path)
    found = strip(page)
    said = html.parse(page).findtext(".//figcaption[@id='_strip-caption']")
    assert said.endswith("67 in each column. No turn is cited, mentioned or quoted elsewhere.")
    assert found.columns[0] == "1–67" and found.columns[-1] == "3,954–4,000" and len(found.columns) == 60
    assert sum(number or 0 for row in found.table for number in row) == 4_000
    assert found.links[0] == "#t1" and not found.links[-1].startswith("#")
    part, _, anchor = found.links[-1].partition("#")
    assert html.parse(page.parent / part).xpath(f"//section[@id='{anchor}']")
    assert check_pictures(page.parent / "2/index.html") == []


def test_times_are_as_written_and_in_utc_each_once_also_over_midnight(tmp_path: Path) -> None:
    """Head, outline and turns have the clock of the session; a day is shown where it is another."""
    page = write_site(tmp_path, talk(), started="2026-05-01T23:30:00Z")
    build_site(tmp_path)
    assert head(page).endswith("2026-05-01 16:30 (23:30 UTC) · ongoing")
    times = words(page, "//section/header/span[contains(@class, 'when')]")
    assert times[0] == "16:30:00 (23:30:00 UTC)" and times[-1] == "23:30:00 (2026-05-02 06:30:00 UTC)"
    assert html.parse(page).xpath("//section/header//time/@title")[0] == "5/1/2026, 4:30:00 PM"
    assert words(page, "//details[@class='tool']/summary") == ["Bash count barges"]
    write_site(tmp_path, talk(), started="2026-05-01T16:30:00Z", ended="2026-05-01T23:30:00Z")
    build_site(tmp_path)
    assert head(page).endswith("2026-05-01 16:30 to 23:30 UTC")
    assert words(page, "//section/header/span[contains(@class, 'when')]")[0] == "16:30:00 UTC"
    assert html.parse(page).xpath("//section/header//time/@datetime")[0] == "2026-05-01T16:30:00Z"
    turns = (("🧑 User", "11:20:00 PM", "Still here?"), ("🤖 Assistant *(m)*", "11:50:00 PM", "Yes."))
    text = talk((*turns, ("🧑 User", "12:10:00 AM", "Good night."))).replace("5/1/2026, 12:", "5/2/2026, 12:")
    clock = "2026-05-01 23:20 to 2026-05-02 00:15"
    for started, ended, utc in (
        ("2026-05-02T06:20:00Z", "2026-05-02T07:15:00Z", "2026-05-02 06:20 – 07:15 UTC"),
        ("2026-05-01T23:20:00-07:00", "2026-05-02T00:15:00-07:00", "2026-05-02 06:20 – 07:15 UTC"),
        ("2026-05-01T21:20:00Z", "2026-05-01T22:15:00Z", "21:20 – 2026-05-01 22:15 UTC"),
    ):
        page = write_site(tmp_path, text, started=started, ended=ended)
        build_site(tmp_path)
        assert head(page).endswith(f"{clock} ({utc})")
        outline = ["1 · 23:20 Still here?", "3 · 2026-05-02 00:10 Good night."]
        assert words(page, "//nav[@class='outline']//li/a") == outline
        times = [time.split(" (")[0] for time in words(page, "//section/header/span[contains(@class, 'when')]")]
        assert times == ["23:20:00", "23:50:00", "2026-05-02 00:10:00"]


def test_the_strip_shows_who_speaks_and_what_is_cited_and_mentioned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell for each turn; a range of turns counts each of them; the table has the same links."""
    page = write_site(tmp_path, talk())
    cite = ["cite", f"transcript/{NAME}#t2", "--quote", SAID, "--format", "markdown", "--site", str(tmp_path)]
    assert main(cite) == 0
    cited = capsys.readouterr().out
    body = f"See [the picture]({NAME}.body.md#t6) and [all](../../transcripts/engineer/{NAME}.body.md).\n\n{cited}"
    write_memo(tmp_path / "memos/inbox", "2026-05-02-0900--director--engineer--lock", sender="director", body=body)
    build_site(tmp_path)
    found = strip(page)
    assert (found.anchor, found.columns) == ("_strip", tuple("12345678"))
    assert dict(zip(found.labels, found.table, strict=True)) == {
        "People": (1, 0, 1, 1, 1, 0, 1, 1),
        "Assistant": (0, 1, 0, 0, 0, 1, 0, 0),
        "With tool calls": (0, 1, 0, 0, 0, 0, 0, 0),
        "Cited": (0, 1, 0, 0, 0, 0, 0, 0),
        "Mentioned": (0, 1, 0, 0, 0, 1, 0, 0),  # a citation has a link to its turn
    }
    assert found.links[:2] == ("#t1", "#t3")
    assert "No turn is cited" not in html.parse(page).findtext(".//figcaption[@id='_strip-caption']")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two transcripts and a memo that have the same words."""
    root = tmp_path_factory.mktemp("org")
    write_site(root, talk())
    write_transcript(root / "transcripts/engineer", "other", text="## User\n\nWhere is the lighthouse?\n")
    write_memo(root / "memos/inbox", "2026-05-02-0900--director--engineer--lock", body="The lighthouse.")
    return build_site(root)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with chromium() as found:
        yield found


def test_the_search_box_marks_turns_and_leads_to_the_search_of_this_transcript(site: Path, browser: Browser) -> None:
    """Also from disk: turns of the page are marked as words are typed, Enter searches all of the transcript."""
    browser.complaints.clear()
    browser.open(f"{site.as_uri()}/transcripts/{NAME}/index.html")
    browser.value("document.getElementById('_within').focus()")
    browser.type("Lighthouse")
    status = "document.querySelector('.within [role=status]').textContent"
    browser.wait_for(f"{status} === '2 turns on this page'")
    hits = "[...document.querySelectorAll('.within li a')].map((link) => link.textContent)"
    assert browser.value(hits) == ["t6", "t7"]
    assert browser.value("[...document.querySelectorAll('.turn.hit')].map((turn) => turn.id)") == ["t6", "t7"]
    assert browser.value("document.querySelector('.hits path').getAttribute('d')") == "M5 0h.9v1h-.9zM6 0h.9v1h-.9z"
    browser.press("Enter")
    browser.wait_for("location.href.includes('/search/') && document.getElementById('_query').value")
    assert browser.value("document.getElementById('_query').value") == f"transcript:{NAME} Lighthouse"
    found = "[...document.querySelectorAll('#_hits a')].map((link) => new URL(link.href).hash)"
    browser.wait_for("document.getElementById('_status').textContent === '2 results in 1 item'")
    assert [one.partition(":~:")[0] for one in browser.value(found)] == ["#t6", "#t7"]
    assert browser.complaints == []


def test_without_a_script_the_search_box_is_a_plain_form_and_a_short_talk_has_no_strip(site: Path) -> None:
    """It sends the field to the search page. Without a script, which writes the answers, the style sheet hides it."""
    page = html.parse(site / "transcripts" / NAME / "index.html")
    (form,) = page.xpath("//form[@class='within']")
    assert (form.get("action"), form.method) == ("../../search/index.html", "GET")
    assert form.xpath(".//input[@type='hidden']/@value") == [f"transcript:{NAME}"]
    assert check_pictures(site / "transcripts/other/index.html") == []


# What the participants of a conversation wrote meanwhile


def written(*memos: Any, positions: tuple[str, ...] = ("engineer",), **fields: Any) -> list[str]:
    """The ids of what was written during a conversation from two to four o'clock, unless it is said otherwise."""
    known = {"sent": "2026-05-01T14:00:00Z", "ended": read_moment("2026-05-01T16:00:00Z")} | fields
    archive = archive_of(transcript("talk", positions=positions, **known), *memos)
    found = find_written(archive.artifacts.values())
    assert set(found) <= {("transcript", "talk")}
    return [id_ for _, id_ in found.get(("transcript", "talk"), ())]


def at(clock: str, stem: str = "", **fields: Any) -> Any:
    """A memo of the engineer that was sent at this time."""
    return envelope(stem or f"at-{clock.replace(':', '')}", sent=f"2026-05-01T{clock}:00Z", **fields)


def test_only_what_a_participant_sent_counts() -> None:
    """Between start and end, with both; not what came to one, and nobody's twice."""
    memos = [at(clock) for clock in ("16:01", "16:00", "15:00", "14:00", "13:59")]
    assert written(*memos) == ["at-1400", "at-1500", "at-1600"]
    assert written(envelope("2026-05-01-1500--engineer--director--guess", sent="")) == []
    assert written(at("15:00"), ended=None) == []
    assert written(at("15:00"), ended=read_moment("2026-05-01T13:00:00Z")) == []
    memos = [
        at("15:00", "from-engineer", to="director"),
        at("15:10", "to-engineer", sender="strategist", to="engineer"),
        at("15:20", "from-director", sender="director", to="engineer"),
    ]
    assert written(*memos) == ["from-engineer"]
    assert written(*memos, positions=("engineer", "director", "engineer")) == ["from-engineer", "from-director"]


def turns(*stamps: str) -> str:
    """A body whose turns have these stamps."""
    return "".join(f"---\n\n## 🧑 User <sub>{stamp}</sub>\n\nHello.\n\n" for stamp in stamps)


def listed(repo: Path, text: str, *, sent: tuple[str, ...], **fields: object) -> list[str]:
    """Build a transcript that begins at 14:30 UTC, and memos of these times; the memos that its page lists."""
    write_transcript(repo / "transcripts/engineer", "talk", text=text, **{"started": "2026-05-01T14:30:00Z"} | fields)
    for time in sent:
        write_memo(repo / "memos", f"at-{time.replace(':', '')}", sent=f"2026-05-01T{time}Z")
    page = build_site(repo, output=repo.parent / "out") / "transcripts/talk/index.html"
    heading = "//h2[text()='Written during this session']"
    return [href.split("/")[-2] for href in found(html.parse(page), f"{heading}/..//a[@class='subject']/@href")]


def test_without_an_end_the_last_turn_is_the_end(tmp_path: Path) -> None:
    """By its stamp in local time, that second included; a stated end counts more."""
    text = turns("5/1/2026, 4:30:00 PM", "5/1/2026, 5:00:00 PM", "5/1/2026, 6:10:05 PM")
    sent = ("14:29:59", "14:30:00", "15:59:00", "16:10:05", "16:10:06")
    assert listed(tmp_path / "repo", text, sent=sent) == ["at-143000", "at-155900", "at-161005"]
    text = turns("5/1/2026, 2:30:00 PM", "5/1/2026, 5:00:00 PM")
    assert listed(tmp_path / "two/repo", text, sent=("15:30:00", "16:30:00"), ended="2026-05-01T16:00:00Z") == [
        "at-153000"
    ]


@pytest.mark.parametrize("text", ["## User\n\nHello.\n", "No turns.\n", "", turns("5/1/2026, 2:37:00 PM")])
def test_without_a_time_of_the_last_turn_nothing_is_listed(text: str, tmp_path: Path) -> None:
    """A body without stamps, without turns, no body, and stamps that fit no time zone tell no end."""
    assert listed(tmp_path / "repo", text, sent=("14:35:00",)) == []


def test_a_list_that_a_page_cannot_hold_is_counted(tmp_path: Path) -> None:
    """A stamp may be years later: then the page shows the first 500, and stays under 1 MB."""
    sent = [f"{hour}:{minute:02d}:{second:02d}" for hour in (15, 16) for minute in range(60) for second in range(5)]
    text = turns("5/1/2026, 2:30:00 PM", "5/1/2027, 2:30:00 PM")
    shown = listed(tmp_path / "repo", text, sent=tuple(sent))
    assert (shown[0], shown[-1], len(shown)) == ("at-150000", "at-163904", 500)
    assert "Showing the first 500 of 600." in (tmp_path / "out/transcripts/talk/index.html").read_text(encoding="utf-8")


def test_the_last_turn_is_the_same_that_the_page_shows(tmp_path: Path) -> None:
    """Also when the clocks went back, and with an offset as the envelope has it."""
    text = turns("2026-10-25 02:30:00", "2026-10-25 02:50:00", "2026-10-25 02:10:00", "2026-10-25 04:00:00")
    write_transcript(tmp_path / "repo/transcripts/engineer", "talk", text=text, started="2026-10-25T02:30:00+02:00")
    last = transcript_of(read_folders(tmp_path / "repo"), "talk").last_turn
    assert last is not None and (last.utc, last.zone) == ("2026-10-25T03:00:00Z", "+02:00")
    page = build_site(tmp_path / "repo", output=tmp_path / "out") / "transcripts/talk/index.html"
    assert found(html.parse(page), "//section[@id='t4']//time/@datetime") == [last.utc]
