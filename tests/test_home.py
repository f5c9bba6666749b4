"""The home page: what waits for people, how active positions are, what is new; ages there and on other pages."""

import datetime as dt
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lxml import html as lxml_html
from playwright.sync_api import Browser, Page

from memosite.pages import Bars, Cell, Grid, PictureColumn, PictureRow, Reference, Sparks
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo, write_note, write_org
from tests.support.pages import bad_links
from tests.support.pictures import ReadPicture, check_pictures
from tests.support.repos import Repo
from tests.support.sites import build_site

NEWEST = dt.date(2026, 5, 31)
KINDS = ("under 7 days", "7 to 29 days", "30 days or more")


def write(
    repo: Path, days_ago: int, name: str, *, to: str | list[str] = "director", sender: str = "engineer", **fields: Any
) -> Path:
    """A memo that was sent so many days before the newest."""
    day = NEWEST - dt.timedelta(days=days_ago)
    stem = f"{day}-0900--{sender}--{to}--{name}"
    return write_memo(repo / "memos/inbox", stem, sender=sender, to=to, sent=f"{day}T09:00:00Z", **fields)


def home(folder: Path) -> Any:
    """The home page of a site folder, built."""
    return lxml_html.parse(build_site(folder, output=folder.parent / "out") / "index.html")


def waiting(page: Any) -> str:
    """What home says of what waits."""
    return " ".join(page.xpath("//section[@id='waiting']")[0].text_content().split())


def picture(folder: Path, anchor: str) -> ReadPicture:
    """A picture of the built home page."""
    return next(one for one in check_pictures(folder.parent / "out/index.html") if one.anchor == anchor)


def subjects(page: Any, section: str) -> list[str]:
    """The items that a section lists."""
    return [str(one) for one in page.xpath(f"//section[@id='{section}']//a[@class='subject']/text()")]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repo in a site folder, with a memo of the newest day that waits for nobody."""
    folder = tmp_path / "site/repo"
    write(folder, 0, "newest", to="engineer", sender="tester")
    return folder


def test_an_archive_without_positions_speaks_of_none(tmp_path: Path) -> None:
    """Documents alone: nobody is to be named in memosite.yml, and no page of an organization is made or linked."""
    site, out = tmp_path / "site", tmp_path / "out"
    write_text(site / "docs/adr/0001-gate.md", "# The gate\n\nStatus: accepted\n\nIt is of oak.\n")
    page = home(site)
    assert not page.xpath("//section[@id='waiting']") and subjects(page, "newest") == ["The gate"]
    assert not (out / "org").exists() and not list(bad_links(out))
    for path in out.rglob("*.html"):
        assert "org/index.html" not in path.read_text() and "positions: {" not in path.read_text(), path
    write_text(site / "docs/adr/0002-lock.md", "# The lock\n\nStatus: awaiting the director\n")
    assert "positions: {" not in waiting(home(site))
    write_note(site / "notes/warden", "2026-05-01-0900--warden--file--gate", sender="warden")
    assert "positions: {" in waiting(home(site)) and (out / "org/index.html").exists()


def test_what_waits_for_people_is_a_bar_for_each_position_by_age(repo: Path) -> None:
    """Open actions and unread memos, counted from the newest day; what waits longest comes first, the oldest named."""
    chance = random.Random(21)
    expected = {"director": Counter[int](), "keeper": Counter[int]()}
    asked: list[tuple[int, str]] = []
    for number, days in enumerate((0, 6, 7, 29, 30, *(chance.randrange(1, 90) for _ in range(20)))):
        to = chance.choice(("director", "director", "keeper"))
        write(repo, days, f"m-{number}", to=to, subject=f"Wait {days} {number}", action_required=number % 2 == 0)
        expected[to][0 if days < 7 else 1 if days < 30 else 2] += 1
        asked.append((days, f"Wait {days} {number}"))
    write(repo, 3, "for-others", to="engineer", sender="director", action_required=True)
    write_json(repo.parent / "memosite.yml", {"positions": {"people": ["director", "keeper"]}})
    page = home(repo.parent)
    found = picture(repo.parent, "waiting-by-age")
    assert found.columns == KINDS
    assert dict(zip(found.labels, found.drawn, strict=True)) == {
        name: tuple(count[age] for age in range(3)) for name, count in expected.items()
    }
    assert found.labels == ("director", "keeper")
    oldest = sorted(asked, key=lambda one: -one[0])
    listed = subjects(page, "waiting")
    assert len(listed) == 4 and listed[:3] == [subject for _, subject in oldest[:3]]
    assert "Waiting for people 25" in waiting(page) and "counted to 2026-05-31" in waiting(page)
    assert "The oldest 4 of 25." in waiting(page)


@pytest.mark.parametrize(
    ("sent", "newest"),
    [("2026-05-24T23:30:00Z", "2026-05-31T01:00:00Z"), ("2026-05-24T22:00:00-04:00", "2026-05-31T01:00:00+02:00")],
)
def test_home_and_the_board_count_ages_in_one_way(tmp_path: Path, sent: str, newest: str) -> None:
    """In days as they are written and shown, to the newest of them: hours and offsets do not count."""
    memos = tmp_path / "site/repo/memos/read"
    write_memo(memos, "ask", sent=sent, action_required=True)
    write_memo(memos, "newest", to="engineer", sender="tester", sent=newest)
    page = home(tmp_path / "site")
    assert "counted to 2026-05-31" in waiting(page)
    assert picture(tmp_path / "site", "waiting-by-age").drawn == ((0, 1, 0),)
    board = lxml_html.parse(tmp_path / "out/actions/index.html").getroot()
    assert board.xpath("//section[@id='position-director']//*[@class='since']/text()") == ["7 days"]


def test_it_is_said_for_whom_something_waits_and_for_whom_nothing_does(repo: Path) -> None:
    """If no position is known to be a person's, home says how to say whose is; a director is one by default."""
    write(repo, 3, "ask", to="keeper", action_required=True)
    said = waiting(home(repo.parent))
    assert "Nothing is waiting" not in said
    assert "No position is known to be held by a person" in said and "positions: {people: [" in said
    assert "1 action is open." in said
    write(repo, 5, "from", to="engineer", sender="director", action_required=True)
    said = waiting(home(repo.parent))
    assert "Nothing is waiting for director." in said and "2 actions are open for others." in said
    write(repo, 5, "to", action_required=True)
    assert "director 1 · oldest 2026-05-26" in waiting(home(repo.parent))
    write_json(repo.parent / "memosite.yml", {"positions": {"people": ["keeper"]}})
    assert "keeper 1 · oldest 2026-05-28" in waiting(home(repo.parent))


def test_an_open_action_for_all_waits_for_people_too_and_it_is_said_for_whom(repo: Path) -> None:
    """Not for who asked for it; the people come first."""
    write(repo, 5, "everybody", to="all", sender="keeper", action_required=True)
    write(repo, 5, "read-me", to="all", sender="keeper")
    write(repo, 10, "before", to="engineer", sender="director")
    write_json(repo.parent / "memosite.yml", {"positions": {"people": ["director", "keeper"]}})
    assert "waiting for director, engineer, tester" in waiting(home(repo.parent))
    found = picture(repo.parent, "waiting-by-age")
    assert dict(zip(found.labels, found.drawn, strict=True)) == {"director": (1, 0, 0)}
    write(repo, 9, "both", to="all", sender="tester", action_required=True)
    page = home(repo.parent)
    rows = page.xpath("//section[@id='waiting']/ol[@class='rows']/li/*[@class='facts']")
    said = [" ".join(row.text_content().partition("waiting for")[2].split()) for row in rows]
    assert said == ["director, keeper, engineer · repo", "director, engineer, tester · repo"]


def test_home_says_how_much_is_open_for_others_and_names_all_for_whom_an_item_waits(repo: Path) -> None:
    """With a link to the actions; so many that are neither listed nor counted for people. One left over is shown."""
    for number in range(5):
        write(repo, 10 + number, f"mine-{number}", subject=f"Mine {number}", action_required=True)
    page = home(repo.parent)
    assert len(subjects(page, "waiting")) == 5 and "The oldest" not in waiting(page)
    assert "open for others" not in page.xpath("string(//main)")
    write(repo, 20, "shared", to=["engineer", "director"], sender="keeper", subject="Shared", action_required=True)
    write(repo, 3, "theirs", to="engineer", sender="director", subject="Theirs", action_required=True)
    page = home(repo.parent)
    assert subjects(page, "waiting") == ["Shared", "Mine 4", "Mine 3", "Mine 2"]
    [row] = page.xpath("//section[@id='waiting']//li[a[.='Shared']]")
    assert "waiting for director, engineer" in " ".join(row.text_content().split())
    assert "waiting for" not in page.xpath("string(//section[@id='waiting']//li[a[.='Mine 4']])")
    assert "The oldest 4 of 6. Each position's page lists all that waits for it. 1 more is open for others." in waiting(
        page
    )
    [link] = page.xpath("//header[@class='title']//a[.='1 more']/@href")
    assert link == "actions/index.html"
    write(repo, 2, "theirs-too", to="keeper", sender="director", action_required=True)
    assert "2 more are open for others" in home(repo.parent).xpath("string(//header[@class='title'])")


def test_a_document_whose_status_awaits_somebody_waits(repo: Path) -> None:
    """For the people that it names, or for nobody in particular; not if it names other positions alone."""
    write(repo, 2, "cites", to="engineer", sender="director", body="See decisions/0001-gate.md")
    statuses = {
        "Awaiting Director ratification": "director", "accepted with modifications; awaiting director": "director",
        "pending": "Nobody in particular", "awaiting ratification": "Nobody in particular",
        "waiting for the engineer": None, "accepted": None, "superseded by 0002, which is pending": None,
        "impending": None,
    }  # fmt: skip
    for status, expected in statuses.items():
        text = f"---\ntitle: The gate\nstatus: {status}\ndate: 2026-05-20\n---\n\nText.\n"
        write_text(repo / "decisions/0001-gate.md", text)
        page = home(repo.parent)
        assert ("Nothing is waiting for director." in waiting(page)) == (expected is None), status
        if expected is not None:
            found = picture(repo.parent, "waiting-by-age")
            assert dict(zip(found.labels, found.drawn, strict=True)) == {expected: (0, 1, 0)}
            assert subjects(page, "waiting") == ["The gate"]
            assert f"{expected} 1 · 1 document · oldest 2026-05-20" in waiting(page)


def test_what_has_no_date_waits_as_well_and_a_slip_in_one_date_ages_nothing(repo: Path) -> None:
    """In a column of its own, last in the list; the year 9999 is not the day from which ages and weeks count."""
    undated: dict[str, Any] = {"sent": None, "subject": "Lost", "action_required": True}
    write_memo(repo / "memos/inbox", "someday--engineer--director--lost", **undated)
    write(repo, 40, "old", subject="Old", action_required=True)
    stem = "9999-01-01-0900--engineer--tester--slip"
    write_memo(repo / "memos/inbox", stem, sender="engineer", to="tester", sent="9999-01-01T09:00:00Z")
    page = home(repo.parent)
    found = picture(repo.parent, "waiting-by-age")
    assert found.columns == (*KINDS, "no date") and found.drawn == ((0, 0, 1, 1),)
    assert subjects(page, "waiting") == ["Old", "Lost"]
    assert picture(repo.parent, "activity").columns[-1] == "2026-05-25"


def test_activity_counts_what_each_position_did_week_by_week(repo: Path) -> None:
    """Those that did most first, in the last nine weeks; each cell leads to that week on the position's page."""
    chance, expected = random.Random(7), Counter[tuple[str, str]]()
    expected["tester", "2026-05-25"] = 1
    for number in range(700):  # May has so many that its page has parts
        days = chance.randrange(25) if number < 600 else chance.randrange(150)
        sender = f"seat-{chance.randrange(5) * chance.randrange(4)}"
        write(repo, days, f"m-{number}", sender=sender, to="engineer")
        day = NEWEST - dt.timedelta(days=days)
        expected[sender, str(day - dt.timedelta(days=day.weekday()))] += 1
    day = NEWEST - dt.timedelta(days=3)
    write_note(repo / "notes/seat-0", f"{day}-0900--seat-0--note", sender="seat-0", sent=f"{day}T09:00:00Z")
    expected["seat-0", "2026-05-25"] += 1
    [figure] = home(repo.parent).xpath("//*[@id='activity']")
    assert figure.xpath(".//*[local-name()='text']/text()") == ["Apr", "May"]  # March has no room
    found = picture(repo.parent, "activity")
    assert found.columns[0] == "2026-03-30" and len(found.columns) == 9
    drawn = {
        (label, week): number
        for label, numbers in zip(found.labels, found.drawn, strict=True)
        for week, number in zip(found.columns, numbers, strict=True)
        if number
    }
    shown = {key: number for key, number in expected.items() if key[0] in found.labels and key[1] in found.columns}
    assert drawn == shown
    totals = Counter[str]()
    for (sender, week), number in expected.items():
        totals[sender] += number if week in found.columns else 0
    assert list(found.labels) == sorted(totals, key=lambda one: (-totals[one], one))[:8]
    assert any("/1/index.html" in link for link in found.links)
    for (label, week), link in zip(
        ((label, week) for label in found.labels for week in found.columns if (label, week) in drawn),
        found.links,
        strict=True,
    ):
        page, _, anchor = link.partition("#")
        assert anchor == f"week-{week}" and f"positions/{label}/" in page
        row = lxml_html.parse(repo.parent.parent / "out" / page).getroot().get_element_by_id(anchor)
        day = dt.date.fromisoformat(row.find(".//time").get("datetime")[:10])
        assert str(day - dt.timedelta(days=day.weekday())) == week


@pytest.mark.parametrize(
    "holder", [{"kind": "shared", "name": "Ada and a session"}, [{"kind": "human"}, {"kind": "x"}]]
)
def test_what_waits_for_a_position_that_a_person_shares_waits_for_a_person(repo: Path, holder: object) -> None:
    """Whether the orgdef says so in a word, or names several holders of whom one is human."""
    write_org(repo / "org", "acme", positions=[{"id": "desk", "name": "Desk", "incumbent": holder}])
    write(repo, 3, "shared", to="desk", action_required=True)
    page = home(repo.parent)
    subjects = page.xpath("//section[@id='waiting']//a[@class='subject']/@href")
    assert any("shared" in href for href in subjects)
    assert any(link.text_content() == "desk" for link in page.xpath("//section[@id='waiting']//a"))


def test_positions_are_a_line_each_and_quiet_ones_are_folded(repo: Path) -> None:
    """A paragraph on who holds a position does not push down what is new; an empty archive says nothing false."""
    holder = {"name": "A session that is described at length. " * 40}
    positions = [{"id": "engineer", "name": "Engineer", "incumbent": holder}]
    positions += [{"id": f"idle-{number}", "name": f"Idle {number}"} for number in range(27)]
    write_org(repo / "org", "acme", positions=positions)
    page = home(repo.parent)
    rows = page.xpath("//section[@id='positions']//table[@class='seats glance']/tbody/tr")
    assert [row.find("th").text_content() for row in rows] == ["engineer", "tester"]
    assert 20 < len(rows[0].findall("td")[-1].text_content()) <= 61
    (quiet,) = page.xpath("//section[@id='positions']//details")
    assert quiet.findtext("summary") == "27 quiet positions" and "open" not in quiet.attrib
    assert len(quiet.findall(".//a")) == 27
    for memo in (repo / "memos/inbox").iterdir():
        memo.unlink()
    page = home(repo.parent)
    assert "No position is known" in waiting(page) and page.xpath("//figure") == []


def test_home_answers_in_the_order_in_which_a_director_asks(example_site: Path) -> None:
    """What waits, what happened, what is new, who does what; and every link leads somewhere."""
    page = lxml_html.parse(example_site / "index.html")
    headings = [one.text for one in page.xpath("//div[@class='text']/section/h2")]
    assert [heading.strip() for heading in headings] == [
        "Waiting for people", "Activity", "Newest", "Positions", "Recent moves",
    ][: len(headings)]  # fmt: skip
    assert len(headings) >= 4
    waiting = [one.tag for one in page.xpath("//section[@id='waiting']/*[self::ol or self::figure]")]
    assert waiting == ["ol", "figure"], "what waits, then its picture"
    (newest,) = page.xpath("//section[@id='newest']")
    days = newest.xpath("./ol/li/*[@class='date']/time/text()")
    assert len(days) == 5 and days == sorted(days, reverse=True)
    others = ["timeline/index.html", "timeline/undated/index.html"]
    assert newest.xpath("./p//a/@href") == others, "the others are there"
    assert {one.form for one in check_pictures(example_site / "index.html")} == {"bars", "grid"}
    assert [one for one in bad_links(example_site) if one.page == "index.html"] == [], "citations may be broken"


# Ages: counted to the newest date at build time, to today by a script; all pages agree both ways

PEOPLE = ("director", "keeper")
AGED = {
    "home": ("index.html", "#waiting"),
    "board": ("actions/index.html", "#position-director"),
    "position": ("positions/director/index.html", "section:has(#open-actions)"),
    "actions of a position": ("positions/director/actions/index.html", "section:has(#to-do)"),
    "decisions": ("decisions/index.html", "main"),
}
"""Pages that show ages, with the part that lists what waits."""


@pytest.fixture(scope="module")
def days() -> list[tuple[str, int]]:
    """For whom memos wait, and how many days before the newest date they were sent; at 22:00 west of UTC."""
    chance = random.Random(21)
    ages = (0, 6, 7, 29, 30, *(chance.randrange(1, 60) for _ in range(20)))
    return [(chance.choice(PEOPLE), age) for age in ages]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, days: list[tuple[str, int]]) -> Path:
    """A site in which as much waits for people."""
    folder = tmp_path_factory.mktemp("ages")
    for number, (to, age) in enumerate(days):
        day = NEWEST - dt.timedelta(days=age)
        sent, subject = f"{day}T22:00:00-04:00", f"{to} {number}"
        name = f"{day}-2200--engineer--{to}--m-{number}"
        write_memo(folder / "repo/memos/inbox", name, sent=sent, to=to, subject=subject, action_required=True)
    write_text(folder / "repo/decisions/2026-05-21-boats.md", "# Boats\n\nStatus: proposed\nDate: 2026-05-21\n")
    write_json(folder / "memosite.yml", {"positions": {"people": list(PEOPLE)}})
    return build_site(folder)


def open_page(browser: Browser, site: Path, name: str, later: int | None) -> Page:
    """A page as it is so many days after the newest date; None without a script."""
    page = browser.new_context(java_script_enabled=later is not None).new_page()
    if later is not None:
        now = dt.datetime.combine(NEWEST + dt.timedelta(days=later), dt.time(9), tzinfo=dt.UTC)
        page.add_init_script(f"Date.now = () => {now.timestamp() * 1000:.0f}")
    page.goto((site / AGED[name][0]).as_uri())
    return page


def ages_of(page: Page, name: str) -> dict[str, str]:
    """What a page says of the age of each memo, by subject."""
    rows = page.locator(f"{AGED[name][1]} .row:has(.since)")
    return {row.locator(".subject").inner_text(): row.locator(".since").inner_text() for row in rows.all()}


@pytest.mark.parametrize("later", [None, 0, 25, 400])
def test_pages_agree_on_ages(
    browser: Browser, site: Path, tmp_path: Path, days: list[tuple[str, int]], later: int | None
) -> None:
    """Each says to which day it counts; bars and their table move with the rows."""
    expected = {
        f"{to} {number}": f"{age + (later or 0)} day{'' if age + (later or 0) == 1 else 's'}"
        for number, (to, age) in enumerate(days)
    }
    of_director = {subject: age for subject, age in expected.items() if subject.startswith("director")}
    for name in AGED:
        page = open_page(browser, site, name, later)
        said = "Ages are counted to 2026-05-31, the newest date of the archive." if later is None else "to today."
        assert page.locator("[data-counted]").inner_text().endswith(said), name
        if name == "decisions":
            assert f"{10 + (later or 0)} days" in page.locator(".since").first.inner_text()
        elif name == "home":
            shown = ages_of(page, name)
            assert len(shown) == 4 and shown.items() <= expected.items()
            (tmp_path / "home.html").write_text(
                lxml_html.tostring(lxml_html.fromstring(page.content()), encoding="unicode")
            )
            found = next(one for one in check_pictures(tmp_path / "home.html") if one.anchor == "waiting-by-age")
            counts = Counter((to, sum(age + (later or 0) >= least for least in (7, 30))) for to, age in days)
            nobody = "Nobody in particular"  # for whom the decision waits
            counts[nobody, sum(10 + (later or 0) >= least for least in (7, 30))] = 1
            assert dict(zip(found.labels, found.drawn, strict=True)) == {
                to: tuple(counts[to, column] for column in range(3)) for to in (*PEOPLE, nobody)
            }
        else:
            assert ages_of(page, name) == of_director, name
        page.context.close()


# Pictures: each draws the numbers of its table, and the table those of the archive


def write_day(repo: Path, day: str, name: str, time: str = "09:00", **fields: object) -> Path:
    """A memo of a day."""
    stem = f"{day}-{time.replace(':', '')}--engineer--director--{name}"
    return write_memo(repo / "memos/read", stem, sent=f"{day}T{time}:00Z", **fields)  # type: ignore[arg-type] # as written there


def columns(*labels: str) -> tuple[PictureColumn, ...]:
    """Columns of a table."""
    return tuple(PictureColumn(label=label) for label in labels)


def row(label: str, *numbers: int | None) -> PictureRow:
    """A row of a table."""
    cells = tuple(None if number is None else Cell(number=number) for number in numbers)
    return PictureRow(label=Reference(label=label), cells=cells)


def test_the_timeline_has_a_bar_for_each_day(tmp_path: Path) -> None:
    """As many as the archive has, by the day in UTC, on one scale for a year; and each month leads to its page."""
    chance, expected = random.Random(21), dict[tuple[str, int], int]()
    for number in range(120):
        day = dt.date(2025, 11, 1) + dt.timedelta(days=chance.randrange(150))
        write_day(tmp_path / "repo", day.isoformat(), f"m-{number}")
        key = f"{day:%Y-%m}", day.day
        expected[key] = expected.get(key, 0) + 1
    site = build_site(tmp_path / "repo", output=tmp_path / "out")
    found = {one.anchor: one for one in check_pictures(site / "timeline/index.html")}
    assert sorted(found) == ["days-2025", "days-2026"], "weeks of one position say no more than the days"
    months = {"November": 11, "December": 12, "January": 1, "February": 2, "March": 3}
    drawn = {
        (f"{anchor[5:]}-{months[label]:02d}", day): number
        for anchor, one in found.items()
        for label, numbers in zip(one.labels, one.drawn, strict=True)
        for day, number in enumerate(numbers, 1)
        if number
    }
    assert drawn == expected
    assert found["days-2026"].table[1][28:] == (None, None, None), "February 2026 has 28 days"
    assert list(bad_links(site)) == []


def test_what_has_no_date_is_among_the_newest_and_in_no_month(tmp_path: Path) -> None:
    """Behind all that has one, 5 in all; where there are no positions, 20. The timeline says once how much it is."""
    for number in range(30):
        write_text(tmp_path / f"site/docs/adr/{number:04}-gate.md", f"# Gate {number}\n\nStatus: accepted\n\nOf oak.\n")
    write_text(
        tmp_path / "site/docs/adr/0030-lock.md", "# The lock\n\nStatus: accepted\nDate: 2026-05-30\n\nOf iron.\n"
    )
    page = home(tmp_path / "site")
    listed = subjects(page, "newest")
    assert (listed[0], len(listed)) == ("The lock", 20) and set(listed[1:]) <= {
        f"Gate {number}" for number in range(30)
    }
    said = " ".join(page.xpath("string(//section[@id='newest'])").split())
    assert said.endswith("Showing 20 of 31. All of them, by month. Among them: 30 items without a date.")
    timeline = " ".join(lxml_html.parse(tmp_path / "out/timeline/index.html").xpath("string(//main)").split())
    assert timeline.endswith("2026 1 May 1 item In no month: 30 items without a date.") and "Undated" not in timeline
    write(tmp_path / "site", 0, "newest")
    assert subjects(home(tmp_path / "site"), "newest")[1] == "The lock"
    assert len(subjects(home(tmp_path / "site"), "newest")) == 5


def test_months_of_the_timeline_are_a_line_each_the_newest_first(browser: Browser, tmp_path: Path) -> None:
    """On a wide screen all bars begin at one place, beside the names of their months, on a phone at the margin."""
    for month in (1, 2, 3):
        for day in (1, 2, 30 if month != 2 else 3):
            write_day(tmp_path / "repo", f"2026-{month:02}-{day:02}", f"m-{month}-{day}")
    site = build_site(tmp_path / "repo", output=tmp_path / "out")
    page = browser.new_context(viewport={"width": 1440, "height": 800}).new_page()
    page.goto((site / "timeline/index.html").as_uri())
    assert page.locator(".sparks a").all_inner_texts() == ["March", "February", "January"]
    box = "all => all.map((one) => one.getBoundingClientRect())"
    names, bars = page.locator(".sparks a").evaluate_all(box), page.locator(".sparks svg").evaluate_all(box)
    assert len({bar["left"] for bar in bars}) == 1
    for name, bar in zip(names, bars, strict=True):
        assert bar["top"] - 4 <= name["top"] <= bar["bottom"] and 0 < bar["left"] - name["left"] < 150
    page.set_viewport_size({"width": 390, "height": 800})
    assert {bar["left"] for bar in page.locator(".sparks svg").evaluate_all(box)} == {18}


def test_what_waits_for_the_directors_of_two_organizations_is_a_bar_for_each(tmp_path: Path) -> None:
    """And one for the name alone, where it stands for both; what waits for everybody waits for that."""
    site = tmp_path / "site"
    for name in ("quay", "yard"):
        write_org(site / name / "org", name, positions=["director"])
        write(site / name, 3, name, to=f"{name}/director", action_required=True)
    write(site / "other", 0, "newest", to="engineer", sender="tester")
    write(site / "other", 9, "both", to="director", action_required=True)
    page = home(site)
    found = picture(site, "waiting-by-age")
    assert dict(zip(found.labels, found.drawn, strict=True)) == {
        "quay/director": (1, 0, 0),
        "yard/director": (1, 0, 0),
        "director": (0, 1, 0),
    }
    assert "Waiting for people 3" in waiting(page)


def test_the_timeline_shows_who_wrote_how_much_in_each_week_of_a_year(tmp_path: Path) -> None:
    """The weeks from the first to the last with anything, as many marks of months as have room, also on a phone."""
    chance, expected = random.Random(42), Counter[tuple[str, str]]()
    for number in range(150):
        day, sender = dt.date(2026, 1, 5) + dt.timedelta(days=chance.randrange(350)), chance.choice(("keeper", "smith"))
        write_memo(
            tmp_path / "repo/memos/read", f"{day}-0900--{sender}--director--m-{number}", sender=sender,
            sent=f"{day}T09:00:00Z",
        )  # fmt: skip
        expected[sender, (day - dt.timedelta(days=day.weekday())).isoformat()] += 1
    page = build_site(tmp_path / "repo", output=tmp_path / "out") / "timeline/index.html"
    weeks = next(one for one in check_pictures(page) if one.anchor == "weeks-2026")
    drawn = {
        (label, week): number
        for label, numbers in zip(weeks.labels, weeks.drawn, strict=True)
        for week, number in zip(weeks.columns, numbers, strict=True)
        if number
    }
    assert drawn == expected and len(weeks.columns) == 50
    marks = lxml_html.parse(page).xpath("//figure[@id='weeks-2026']//*[name()='text']/@x")
    places = [float(mark.rstrip("%")) for mark in marks]
    assert len(places) >= 5 and min(b - a for a, b in pairwise(places)) > 11


def test_every_picture_of_the_example_draws_its_table(example_site: Path) -> None:
    """On every page."""
    found = [one for page in sorted(example_site.rglob("*.html")) for one in check_pictures(page)]
    assert {one.form for one in found} >= {"sparks"}


def test_bars_grids_and_sparks_have_one_scale_and_a_cell_for_each_column() -> None:
    """Pieces one behind the other, four shades; nothing is drawn for 0; a row of another length is refused."""
    picture = Bars(
        anchor="a", caption="", corner="", columns=columns("new", "old", "older"),
        rows=(row("one", 1, 0, 4), row("two", 0, 3, 0), row("none", 0, None, 0)),
    )  # fmt: skip
    assert picture.longest == 5 and [shade for _, shade in picture.keys] == [2, 3, 4]
    drawn = [[(mark.at, mark.size, mark.shade) for mark in marks] for _, marks in picture.drawn]
    assert drawn == [[(0, 1, 2), (1, 4, 4)], [(0, 3, 3)], []]
    grid = Grid(anchor="a", caption="", corner="", columns=columns(*"abcde"), rows=(row("one", 1, 25, 26, 0, 100),))
    assert [[(mark.at, mark.shade) for mark in marks] for _, marks in grid.drawn] == [[(0, 1), (1, 1), (2, 2), (4, 4)]]
    assert Sparks(anchor="a", caption="", corner="", columns=columns("a", "b"), rows=(row("one", 1, 7),)).most == 7
    assert Sparks(anchor="a", caption="", corner="", columns=columns("a"), rows=(row("one", 0),)).most == 1
    with pytest.raises(ValueError, match="a row of the picture a"):
        Bars(anchor="a", caption="", corner="", columns=columns("new", "old"), rows=(row("one", 1),))


@pytest.mark.parametrize(("waits", "said"), [(30, ""), (5, " · 25 more are open for others")])
def test_home_is_short_on_a_phone_and_its_head_says_what_waits(
    browser: Browser, tmp_path: Path, waits: int, said: str
) -> None:
    """However much waits and moves; what arrived is not said again among the moves, and no item moves twice."""
    repo = Repo(tmp_path / "site/repo")
    names = [f"harbour-strategist-{number}" for number in range(20)]
    write_org(repo.root / "org", "acme", positions=names)
    for number in range(30):
        to, subject = names[number % 20], f"Wait {number} " + "for what nobody can say in few words " * 3
        write(repo.root, number, f"m-{number}", to=to, sender=names[-1], subject=subject, action_required=True)
    repo.commit("all")
    for number in range(10):
        memo = next((repo.root / "memos/inbox").glob(f"*--m-{number}.openthing"))
        for box in ("read", "archive"):
            (repo.root / f"memos/{box}").mkdir(parents=True, exist_ok=True)
            memo = memo.rename(repo.root / f"memos/{box}/{memo.name}")
            repo.commit(f"{box} {number}")
    write_json(tmp_path / "site/memosite.yml", {"positions": {"people": names if waits == 30 else names[10:15]}})
    site = build_site(tmp_path / "site")
    page = browser.new_context(viewport={"width": 390, "height": 800}).new_page()
    page.goto((site / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.body.scrollHeight") <= 4000
    head = page.get_by_text(
        f"{waits} wait for people, the oldest since {'2026-05-02' if waits == 30 else '2026-05-17'}{said}"
    )
    assert head.is_visible() and head.evaluate("one => one.getBoundingClientRect().top") < 400
    moves = lxml_html.parse(site / "index.html").xpath("//section[contains(., 'Recent moves')]//li")
    shown = [move.xpath("string(.//a[@class='subject'])") for move in moves]
    assert len(shown) == len(set(shown)) == 5
    assert {move.xpath("string(*[@class='facts'])").split()[0] for move in moves} == {"archived"}
