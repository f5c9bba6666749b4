"""Rows of lists: a line of the text, no word that a heading above says already, records by date."""

import base64
from pathlib import Path

import pytest
from lxml import html
from playwright.sync_api import Browser

from memosite.facts.times import read_moment
from memosite.facts.values import replace
from memosite.plan.context import EXCERPT
from tests.support.files import write_text
from tests.support.memos import write_memo, write_note, write_org, write_transcript
from tests.support.record_pages import planned, record
from tests.support.sites import build_site

LONG = "The lamp is out since Tuesday. " + "Nobody has oil, and the boat comes on Friday at the latest. " * 6


def rows_of(page: Path, within: str = "main") -> dict[str, tuple[str, str]]:
    """Of each row of a page, by its subject, what else it says in one line, and the line of its text."""
    return {
        row.xpath("string(*[contains(@class, 'subject')])"): (
            " ".join(row.xpath("string(*[@class='facts'])").split()),
            row.xpath("string(p[@class='line'])"),
        )
        for row in html.parse(page).xpath(f"//{within}//li[contains(@class, 'row')]")
    }


def test_a_month_has_one_clock_and_keeps_the_anchors_of_other_days(tmp_path: Path) -> None:
    """Days and times of its page are in UTC, as the month is, in order; a time without a zone stays as it is."""
    for number, sent in enumerate((
        "2026-04-30T23:30:00-04:00", "2026-05-01T09:00:00+02:00", "2026-05-01T08:00:00Z", "2026-05-01T06:30:00",
        "2026-06-01T01:00:00+02:00", "2026-05-02",
    )):  # fmt: skip
        write_memo(tmp_path / "repo/memos/read", f"m-{number}", sent=sent, subject=f"Memo {number}")
    page = html.parse(build_site(tmp_path / "repo", output=tmp_path / "out") / "timeline/2026/05/index.html")
    shown = {
        section.get("id"): [
            " ".join(row.xpath("string(span[@class='date'])").split()) for row in section.xpath(".//li")
        ]
        for section in page.xpath("//section[@class='list']")
    }
    assert shown == {
        "2026-05-31": ["23:00 UTC"], "2026-05-02": [""], "2026-05-01": ["08:00 UTC", "07:00 UTC", "06:30", "03:30 UTC"]
    }  # fmt: skip
    assert page.xpath("string(//header[@class='title']/p)") == "Days and times are in UTC."
    headings = [str(one) for one in page.xpath("//section/h2/text()[normalize-space()]")]
    assert [one.strip() for one in headings] == ["Sunday, 31 May", "Saturday, 2 May", "Friday, 1 May"]
    anchors = {"2026-04-30": "2026-05-01", "2026-06-01": "2026-05-31"}
    assert {one.get("id"): one.getparent().get("id") for one in page.xpath("//section/span[@id]")} == anchors
    assert not (tmp_path / "out/timeline/2026/06").exists() and not (tmp_path / "out/timeline/2026/04").exists()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Memos between two seats, a decision, and a memory of wyren in a repo of that name."""
    folder = tmp_path_factory.mktemp("rows")
    write_org(folder / "harbour/org", positions=["director", "engineer"])
    lamp = "2026-05-04-0900--engineer--director--lamp"
    write_memo(
        folder / "harbour/memos/inbox", lamp, sender="engineer", to=["director"], subject="The <b>lamp</b>",
        body=LONG, action_required=True, sent="2026-05-04T09:00:00Z",
    )  # fmt: skip
    write_note(
        folder / "harbour/notes/director", "2026-05-05-0900--director--oil", subject="Oil for the lamp",
        body="Oil for the lamp, which burns two litres in a night.", sent="2026-05-05T09:00:00Z",
    )  # fmt: skip
    decision = "# Paint the pier\n\nStatus: Accepted\nDate: 2026-05-07\n\nIn green, as the boats are.\n"
    write_text(folder / "harbour/docs/decisions/2026-05-07-paint.md", decision)
    write_text(folder / "wyren/.wyren/memory.md", "## Decisions\n- Lamps: never lit by day [session 7a2e, turn 1]\n")
    write_text(folder / "memosite.yml", "sources:\n  - path: harbour\n  - path: wyren\n")
    return build_site(folder)


def test_every_list_has_a_line_of_the_text_which_writes_no_html_and_is_short(site: Path) -> None:
    """On home, positions, months, decisions, actions: not the whole text, and nothing that the subject has said."""
    for page in ("index.html", "positions/director/index.html", "timeline/2026/05/index.html", "actions/index.html"):
        _, line = rows_of(site / page)["The <b>lamp</b>"]
        assert LONG.startswith(line.rstrip("…")) and 60 < len(line) <= EXCERPT, page
    assert rows_of(site / "decisions/index.html")["Paint the pier"][1] == "In green, as the boats are."
    assert rows_of(site / "index.html")["Oil for the lamp"][1] == "… which burns two litres in a night."


def test_a_row_below_its_day_has_the_time_of_day_if_one_is_known(site: Path) -> None:
    """On the clock of the writer, as dates are; what has a day alone repeats nothing."""
    rows = html.parse(site / "timeline/2026/05/index.html").xpath("//li[contains(@class, 'row')]")
    said = {
        row.xpath("string(a[@class='subject'])"): (
            row.xpath("string(*[@class='date'])").strip(),
            row.xpath(".//@title"),
        )
        for row in rows
    }
    assert said["The <b>lamp</b>"][0] == "09:00 UTC" and "2026-05-04 09:00 UTC" in said["The <b>lamp</b>"][1]
    assert said["Paint the pier"][0] == ""


def test_no_row_repeats_the_headings_above_it(site: Path) -> None:
    """Neither the system, the section, the source nor the state; what they do not say stays."""
    assert rows_of(site / "systems/wyren/index.html")["Lamps: never lit by day"][0] == ""
    assert rows_of(site / "systems/wyren/kind/index.html")["Lamps: never lit by day"][0] == ""
    to_do = rows_of(site / "positions/director/index.html", "section[h2[@id='open-actions']]")
    assert to_do["The <b>lamp</b>"][0] == "asked by engineer · unread · harbour"
    assert rows_of(site / "decisions/by-source/index.html")["Paint the pier"][0] == (
        "decider not stated · in the repo of director"
    )
    assert rows_of(site / "timeline/2026/05/index.html")["Oil for the lamp"][0] == "engineer · note · harbour"
    accepted = html.parse(site / "decisions/accepted/index.html")
    assert accepted.xpath("//a[@class='subject']") and not accepted.xpath("//*[contains(@class, 'state')]")


@pytest.mark.parametrize(
    ("subject", "summary", "line"),
    [
        ("Lamp", "lamp", ""),
        ("Lamp", "Lamp.", ""),
        ("Lamp", "Lamps are out", "Lamps are out"),
        ("The lamp is out, and…", "The lamp is out, and nobody has oil", "… nobody has oil"),
        ("The lamp is ou...", "The lamp is out", "… out"),
        ("Lamp", "", ""),
        ("", "The lamp is out", "The lamp is out"),
    ],
)
def test_a_line_goes_on_where_the_subject_ends(subject: str, summary: str, line: str) -> None:
    """Where the text begins with the subject, as of transcripts and bullets."""
    assert record("0a", system="mif", short_subject=subject, summary=summary).excerpt == line


def test_records_are_sorted_by_date_and_those_of_one_time_as_in_their_file() -> None:
    """Bullets, too: their file has the newest last."""
    days = ["2026-05-01", "2026-05-03", "2026-05-03", None]
    found = planned(
        *(
            replace(record(f"decisions.{line}", system="wyren", line=line), date=read_moment(day) if day else None)
            for line, day in enumerate(days, 3)
        )
    )
    shown = [row.short_subject for row in found["systems/wyren/kind/index.html"].sections[0].rows]
    assert shown == [f"Title of decisions.{line}" for line in (4, 5, 3, 6)]


@pytest.mark.parametrize(
    "title", ["<command-message>deploy is running…</command-message>", "Base directory for this skill: /home/x/skills"]
)
def test_a_transcript_is_called_by_the_first_words_of_a_person_not_by_the_line_of_a_harness(
    tmp_path: Path, title: str
) -> None:
    """Its address stays that of its file; the line of the text has no tool call."""
    text = (
        f"## User\n\n{title}\n\n## User\n\nWhich ferry is grey? I wonder.\n\n"
        "> **🔧 Read** <sub>5/1/2026, 2:30:09 PM</sub>\n> ferries.txt\n\n## Assistant\n\nThe second.\n"
    )
    name = "2026-05-01-1430--engineer--base-directory-for-this-skill"
    write_transcript(tmp_path / "repo/transcripts/engineer", name, subject=title, text=text)
    site = build_site(tmp_path / "repo")
    page = html.parse(site / f"transcripts/{name}/index.html")
    assert page.findtext(".//h1") == "Which ferry is grey? I wonder."
    assert rows_of(site / "index.html")["Which ferry is grey? I wonder."][1] == ""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_highlight_hides_nothing_of_the_line_above(browser: Browser, tmp_path: Path, theme: str) -> None:
    """What hangs into the highlighted line, as of a tight heading in a tall font, is still seen below it."""
    words = ("gypqj", "jpygq", "acemo", "suvxz")
    memo = "2026-05-01-0900--engineer--director--tall"
    write_memo(
        tmp_path / "repo/memos/inbox", memo, body=f"{words[0]} {words[1]}\n{words[2]} {words[3]}", subject="Tall"
    )
    address = (build_site(tmp_path / "repo") / f"memos/{memo}/index.html").as_uri()
    page = browser.new_page(color_scheme=theme)  # type: ignore[arg-type]

    def seen(fragment: str) -> list[int]:
        """The lightness of each pixel where the second line begins, below descenders of the first."""
        page.goto("about:blank")
        page.goto(address + fragment)
        box = page.evaluate(
            "() => { const p = document.querySelector('.prose p'); p.style.cssText = 'width: 12ch; line-height: 0.7';"
            " const { x, y, height, width } = p.getBoundingClientRect();"
            " return { x, y: y + height / 2, width, height: height / 8 }; }"
        )
        image = base64.b64encode(page.screenshot(clip=box)).decode()
        page.goto("about:blank")
        found: list[int] = page.evaluate(
            "async (image) => { const one = new Image(); one.src = `data:image/png;base64,${image}`;"
            " await one.decode();"
            " const board = new OffscreenCanvas(one.width, one.height).getContext('2d'); board.drawImage(one, 0, 0);"
            " const { data } = board.getImageData(0, 0, one.width, one.height);"
            " return [...data].filter((_, place) => place % 4 === 1); }",
            image,
        )
        return found

    plain, marked = seen(""), seen(f"#:~:text={words[2]}%20{words[3]}")
    ground = max(plain) if theme == "light" else min(plain)
    inked = [place for place, light in enumerate(plain) if abs(light - ground) > 100]
    assert inked and plain != marked
    ground = max(marked) if theme == "light" else min(marked)
    assert sum(abs(marked[place] - ground) > 60 for place in inked) > 0.8 * len(inked)
