"""The board of actions: by position, oldest first, who waits for whom and how long; also if there are many (SPEC 4)."""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html
from playwright.sync_api import Browser

from memosite.cli import main
from memosite.commands.diff import diff
from tests.support.feeds.documents import read_feed
from tests.support.memos import write_memo
from tests.support.pages import bad_links, found
from tests.support.pictures import check_pictures
from tests.support.sites import build_site

MANY = 620
"""More open actions than one list may have."""
SEATS = ("mason", "smith", "weaver")


@dataclass(frozen=True)
class Shown:
    """A row of a page of actions, with its headings."""

    position: str
    group: str
    date: str
    age: str
    name: str
    who: tuple[str, ...]


def rows_of(file: Path) -> list[Shown]:
    """All rows of a page of actions, from top to bottom."""
    rows = []
    for row in html.parse(file).getroot().iter("li"):
        if (row.get("class") or "").split()[:1] == ["row"]:
            section = next(one for one in row.iterancestors("section"))
            rows.append(
                Shown(
                    position=words(section, "./h2"),
                    group=words(row, "./../preceding-sibling::*[self::h2 or self::h3][1]"),
                    date=words(row, ".//time"),
                    age=words(row, ".//*[@class='since']"),
                    name=found(row, "./a/@href")[0].split("/")[-2],
                    who=tuple(found(row, "./*[@class='facts']/a/text()")),
                )
            )
    return rows


def words(element: "etree._Element", xpath: str) -> str:
    """The text of what an XPath finds, without numbers of entries."""
    text = "".join(found(element, f"{xpath}//text()[not(parent::*[@class='total'])]"))
    return " ".join(text.split())


def write_request(folder: Path, number: int, **fields: Any) -> str:
    """A memo that asks for something, sent on one of the days of April and May."""
    sender, to = fields.pop("sender"), fields.pop("to")
    day, minute = f"2026-{4 + number % 60 // 30:02d}-{1 + number % 30:02d}", f"{8 + number // 60:02d}{number % 60:02d}"
    target = to if isinstance(to, str) else "-and-".join(to)
    name = f"{day}-{minute}--{sender}--{target}--r{number}"
    sent = f"{day}T{minute[:2]}:{minute[2:]}:00Z"
    write_memo(folder / "memos", name, sender=sender, to=to, sent=sent, action_required=True, **fields)
    return name


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Requests between three positions, one of them to two, of whom one has answered; and a newest memo."""
    yard = tmp_path_factory.mktemp("few") / "yard"
    write_request(yard, 3, sender="mason", to="smith")
    write_request(yard, 1, sender="weaver", to="smith")
    both = write_request(yard, 2, sender="mason", to=["smith", "weaver"])
    write_request(yard, 5, sender="smith", to="all")
    name = "2026-05-01-0900--weaver--mason--done"
    write_memo(yard / "memos", name, sender="weaver", to="mason", sent="2026-05-01T09:00:00Z", in_reply_to=both)
    write_request(yard, 9, sender="smith", to="mason", metadata={"discharged": {"on": "2026-04-11", "by": "mason"}})
    return build_site(yard.parent)


def test_the_board_shows_how_many_waited_for_whom_at_the_end_of_each_week(few: Path, tmp_path: Path) -> None:
    """Until each replied, or all was closed; the last week is what waits now. What was always so is not drawn."""
    (drawn,) = check_pictures(few / "actions/index.html")
    assert drawn.columns == ("2026-03-30", "2026-04-06", "2026-04-13", "2026-04-20", "2026-04-27")
    assert dict(zip(drawn.labels, drawn.table, strict=True)) == {
        "smith": (3, 3, 3, 3, 3), "weaver": (1, 2, 2, 2, 1), "mason": (0, 1, 1, 1, 1)
    }  # fmt: skip
    write_request(tmp_path / "yard", 3, sender="mason", to="smith")
    write_request(tmp_path / "yard", 4, sender="mason", to="smith", metadata={"discharged": {"by": "smith"}})
    assert check_pictures(build_site(tmp_path / "yard", output=tmp_path / "out") / "actions/index.html") == []
    write_request(tmp_path / "yard", 20, sender="mason", to="smith")
    page = build_site(tmp_path / "yard", output=tmp_path / "out") / "actions/index.html"
    assert [one.table for one in check_pictures(page)] == [((1, 1, 1, 2),)]
    assert "Not counted: 1 closed on an unknown day." in html.parse(page).xpath("string(//figcaption)")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More requests than a list may have, between three positions."""
    yard = tmp_path_factory.mktemp("many") / "yard"
    for number in range(MANY):
        to = SEATS[number % 3 // 2]  # most of them to the first
        write_request(yard, number, sender=SEATS[2 - number % 2], to=to if to != SEATS[2 - number % 2] else "mason")
    return build_site(yard.parent)


def test_actions_are_by_position_and_oldest_first_with_who_owes_whom_and_a_feed_for_each_state(few: Path) -> None:
    """With age and the other's name, the pair that waits longest first; each recipient has a state."""
    shown = [(row.position, row.group, row.name[-2:], row.age, row.who) for row in rows_of(few / "actions/index.html")]
    assert shown == [
        ("smith", "To do", "r1", "29 days", ("weaver",)), ("smith", "To do", "r2", "28 days", ("mason",)),
        ("smith", "To do", "r3", "27 days", ("mason",)), ("mason", "To do", "r5", "25 days", ("smith",)),
        ("weaver", "To do", "r5", "25 days", ("smith",)),
        ("Everybody", "To do", "r5", "25 days", ("smith", "mason", "weaver")),
    ]  # fmt: skip
    board = html.parse(few / "actions/index.html").getroot()
    waiting = {one.get("id"): one for one in board.xpath("//p[starts-with(@id, 'waiting-')]")}
    assert {id_: " ".join(one.text_content().split()) for id_, one in waiting.items()} == {
        "waiting-smith": "Waiting on others: 1 memo, for mason, weaver, the oldest since 2026-04-06",
        "waiting-mason": "Waiting on others: 2 memos, for smith, the oldest since 2026-04-03",
        "waiting-weaver": "Waiting on others: 1 memo, for smith, the oldest since 2026-04-02",
    }, "they are to do for others, and listed there"
    (there,) = waiting["waiting-mason"].xpath("./a[1]/@href")
    page, _, anchor = there.partition("#")
    listed = [row for row in rows_of(few / "actions" / page) if row.group == "Waiting on others"]
    assert anchor == "waiting" and [row.name[-2:] for row in listed] == ["r2", "r3"]
    table = board.xpath("//section[@id='owed']//tbody/tr")
    assert [" ".join("".join(row.itertext()).split()) for row in table] == [
        "smithweaver12026-04-0229 days", "smithmason22026-04-0328 days", "masonsmith12026-04-0625 days",
        "weaversmith12026-04-0625 days",
    ]  # fmt: skip
    said = words(board, "//article/p[@class='facts'][1]")
    assert said.startswith("Owed: 5 replies to 4 memos. A memo to everybody is listed for each position")
    ids = set(found(board, "//@id"))
    assert {"open-for-smith", "open-for-all", "open", "superseded", "answered", "discharged"} <= ids, "former anchors"
    done = [(row.group, row.name[-2:]) for row in rows_of(few / "positions/weaver/actions/index.html")]
    assert done == [
        ("To do", "r5"), ("Waiting on others", "r1"), ("Answered, superseded and closed", "r2")
    ]  # fmt: skip
    assert [row.position for row in rows_of(few / "actions/answered/index.html")] == ["weaver"]
    assert [row.position for row in rows_of(few / "actions/closed/index.html")] == ["mason"]
    (moved,) = html.parse(few / "actions/discharged/index.html").xpath("//meta[@http-equiv='refresh']/@content")
    assert moved.endswith("../closed/index.html"), "its address before has the name that data have"
    for path, tab in {"": "Overview", "open/": "Open", "closed/": "Closed"}.items():
        shown = html.parse(few / f"actions/{path}index.html")
        assert shown.xpath("//nav[@aria-label='States']//*[@aria-current]/text()") == [tab]
        assert len(shown.xpath("//nav[@aria-label='States']//a")) == 4
    feeds = {state: few / f"actions/{state}/feed.xml" for state in ("superseded", "answered", "discharged")}
    feeds["open"] = few / "actions/feed.xml"
    names = {
        state: [one.split("--")[-1] for one in found(read_feed(file), "//guid/text()")] for state, file in feeds.items()
    }
    assert {state: sorted(one) for state, one in names.items()} == {
        "open": ["r1", "r2", "r3", "r5"], "superseded": [], "answered": ["r2"], "discharged": ["r9"]
    }  # fmt: skip
    for state, file in feeds.items():
        page = few / "actions" / {"discharged": "closed"}.get(state, state)
        linked = found(html.parse(page / "index.html"), "//link[@type='application/rss+xml']/@href")
        assert [(page / href).resolve() for href in linked] == [file.resolve()]


def test_a_row_says_by_what_when_and_by_whom_an_action_ended_and_how_many_have_answered(tmp_path: Path) -> None:
    """With a link to the reply, or the closing note; and only what waits has an age, which the page explains."""
    yard, at = tmp_path / "yard", "2026-05-01-0900"
    both = write_request(yard, 2, sender="mason", to=["smith", "weaver"])
    everybody = write_request(yard, 5, sender="smith", to="all")
    for number, (parent, to) in enumerate({both: "mason", everybody: "smith"}.items()):
        name = f"{at}--weaver--{to}--done{number}"
        sent = f"2026-05-0{1 + number}T09:00:00Z"
        write_memo(yard / "memos", name, sender="weaver", to=to, sent=sent, in_reply_to=parent, subject=f"D{number}")
    closed = {"on": "2026-04-11", "by": "mason", "disposition": "settled <i>at</i> the quay"}
    write_request(yard, 9, sender="smith", to=["mason", "weaver"], metadata={"discharged": closed})
    old = write_request(yard, 10, sender="smith", to="mason")
    new: dict[str, Any] = {"sender": "smith", "to": "mason", "sent": "2026-05-03T09:00:00Z", "subject": "Instead"}
    write_memo(yard / "memos", "2026-05-03-0900--smith--mason--new", metadata={"supersedes": [old]}, **new)
    output = build_site(tmp_path)
    answered = ["Answered by D0 on 2026-05-01 by weaver", "Answered by D1 on 2026-05-02 by weaver"]
    note = "Closed on 2026-04-11 by mason: settled <i>at</i> the quay"
    ends = {"answered": answered, "closed": [note, note], "superseded": ["Superseded by Instead on 2026-05-03"]}
    for state, lines in ends.items():
        page = html.parse(output / f"actions/{state}/index.html").getroot()
        assert [" ".join(one.text_content().split()) for one in page.find_class("ended")] == lines
        for href in found(page, "//p[@class='facts ended']/a/@href"):
            assert (output / "actions" / state / href).is_file()
        assert found(page, "//*[@data-counted]") == [], "no row has an age"
        assert words(page, "//header/p[@class='facts']").startswith(state.capitalize())
    assert "4 in 5 rows" not in words(page, "//header"), "each is listed once"
    assert "1 in 2 rows" in words(html.parse(output / "actions/closed/index.html").getroot(), "//header")
    shown = (output / "actions/open/index.html").read_text()
    assert "answered by 1 of 2" in shown and "data-counted" in shown
    mine = html.parse(output / "positions/weaver/actions/index.html").getroot()
    assert {" ".join(one.text_content().split()) for one in mine.find_class("ended")} >= {answered[0], note}
    write_memo(yard / "memos", f"{at}--weaver--mason--done0", sender="weaver", to="mason", sent="2026-05-01T09:00:00Z",
               in_reply_to=both, subject="Another word")  # fmt: skip
    build_site(tmp_path)
    assert "Another word" in (output / "positions/weaver/actions/index.html").read_text(), "a row depends on the reply"


def test_pages_of_positions_have_their_actions_and_boards_of_many_the_oldest_of_each(few: Path, many: Path) -> None:
    """Oldest first; a position's page shows more, its parts all; every link leads somewhere."""
    shown = [(row.group, row.name[-2:], row.age, row.who) for row in rows_of(few / "positions/smith/index.html")]
    assert shown[:4] == [
        ("To do", "r1", "29 days", ("weaver",)), ("To do", "r2", "28 days", ("mason",)),
        ("To do", "r3", "27 days", ("mason",)), ("Waiting on others", "r5", "25 days", ("mason", "weaver")),
    ]  # fmt: skip
    page = html.parse(few / "positions/smith/index.html")
    assert found(page, "//h2[@id='open-actions']/following::span[@class='since'][1]/@data-since") == ["2026-04-02"]
    page = html.parse(many / "positions/mason/index.html")
    assert found(page, "//section[h2/@id='open-actions']/p/a/@href") == ["actions/index.html"]
    to_do, waiting = open_requests(many)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    board = rows_of(many / "actions/index.html")
    for row in board:
        groups[row.position, row.group].append(row.name)
    assert 195 < len(board) <= 200, "short lists leave room for long ones"
    assert groups.keys() == {(position, "To do") for position in to_do}
    for (position, _), names in groups.items():
        assert names == to_do[position][: len(names)]
    headings = html.parse(many / "actions/index.html").xpath("//section[starts-with(@id, 'position-')]/h2/a/text()")
    assert {*headings} == {*to_do, *waiting}
    order = found(
        html.parse(many / "actions/index.html"), "//article/nav[@class='contents']/following-sibling::section/@id"
    )
    assert order[:2] == ["over-time", "owed"] and order[2].startswith("position-"), "where to go comes first"
    pages = sorted((many / "positions/mason/actions").glob("*/index.html"))
    listed = [row for page in pages for row in found(html.parse(page), "//ol[@class='rows']/li/a/@href")]
    assert {href.split("/")[-2] for href in listed} == {*to_do["mason"], *waiting["mason"]}
    assert max(len(rows_of(page)) for page in (many / "actions").rglob("index.html")) <= 500
    assert [*bad_links(few), *bad_links(many)] == []


def test_a_position_that_only_waits_is_found_by_its_name(browser: Browser, many: Path) -> None:
    """It has no row of its own on the board; positions of another name are hidden."""
    page = browser.new_page()
    page.goto((many / "actions/index.html").as_uri())
    page.get_by_label("Filter this page").fill("weaver")
    page.locator("#position-weaver h2", has_text="weaver").wait_for()
    page.get_by_label("Filter this page").fill("nobody of this name")
    page.locator("#position-weaver").wait_for(state="hidden")
    page.close()


def open_requests(output: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What each position has to do and waits for, oldest first, by the archive for machines alone."""
    to_do, waiting = defaultdict(list), defaultdict(list)
    lines = [json.loads(line) for file in output.glob("archive/2*/*.jsonl") for line in file.read_text().splitlines()]
    for line in sorted(lines, key=lambda line: (line["date"], line["id"])):
        if line["action"] == "open":
            waiting[line["from"]].append(line["id"])
            for one in line["recipients"]:
                to_do[one["position"]].append(line["id"])
    return to_do, waiting


def test_the_actions_of_a_position_that_is_gone_have_an_address(tmp_path: Path) -> None:
    """With a page for the present name, or one that says that it was removed."""
    write_request(tmp_path / "yard", 1, sender="mason", to="smith")
    extra = write_request(tmp_path / "yard", 2, sender="mason", to="joiner")
    output = build_site(tmp_path)
    assert "r2" in (output / "positions/joiner/actions/index.html").read_text()
    (tmp_path / f"yard/memos/{extra}.openthing").unlink()
    build_site(tmp_path)
    assert "This item was removed" in (output / "positions/joiner/actions/index.html").read_text()


# References: what is answered too and what is superseded, on pages, boards, twins and in search


ASK = "2026-05-01-1430--engineer--director--gate"
TOO = "2026-05-01-1500--engineer--director--crane"
MOOT = "2026-05-01-1600--engineer--director--buoy"
AGAIN = "2026-05-02-0900--engineer--director--buoy-again"
REPLY = "2026-05-09-0900--director--engineer--re"
STATES = ("open", "superseded", "answered", "discharged")


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four requests, of which one answer answers two, and the last supersedes the third."""
    site = tmp_path_factory.mktemp("references") / "site"
    memos = site / "quay/memos"
    for number, name in enumerate((ASK, TOO, MOOT)):
        write_memo(memos, name, sent=f"2026-05-01T{14 + number}:30:00Z", action_required=True)
    write_memo(
        memos, AGAIN, sent="2026-05-02T09:00:00Z", action_required=True, metadata={"supersedes": f"{MOOT}.openthing"}
    )
    write_memo(
        memos, REPLY, sender="director", to="engineer", sent="2026-05-09T09:00:00Z",
        in_reply_to=f"2026-05-01-1430 AND memos/{TOO} (bundled response)",
    )  # fmt: skip
    return build_site(site)


def facts(output: Path, id_: str) -> list[str]:
    """The lines on a memo's page that tell of other memos."""
    page = html.parse(output / f"memos/{id_}/index.html")
    return [" ".join(text.split()) for text in found(page, "//header//p[@class='facts']/descendant-or-self::*/text()")]


def twin(output: Path, id_: str) -> dict[str, Any]:
    """The JSON of a memo's page."""
    text = (output / f"memos/{id_}/index.json").read_text()
    return dict(json.loads(text))


def test_pages_twins_lines_search_and_differences_know_what_is_answered_too_and_superseded(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At both ends, of the memo and of each recipient; each state has a page; none of it, no field for it."""
    assert facts(output, REPLY) == ["Also answers", f"About {TOO}"]
    assert facts(output, TOO) == ["Also answered by", f"About {REPLY}"]
    assert facts(output, AGAIN) == ["Supersedes", f"About {MOOT}"]
    assert facts(output, MOOT) == ["Superseded by", f"About {AGAIN}"] and facts(output, ASK) == []
    assert twin(output, REPLY)["also_answers"] == [f"memo/{TOO}"]
    assert twin(output, TOO)["also_answered_by"] == [f"memo/{REPLY}"]
    assert twin(output, MOOT)["superseded_by"] == [f"memo/{AGAIN}"]
    assert twin(output, AGAIN)["supersedes"] == [f"memo/{MOOT}"] and "supersedes" not in twin(output, ASK)
    assert f"Superseded-By: memo/{AGAIN}\n" in (output / f"memos/{MOOT}/index.md").read_text()
    pages = {state: html.parse(output / f"actions/{state}/index.html") for state in STATES}
    rows = {state: len(found(page, "//ol[@class='rows']/li/@class")) for state, page in pages.items()}
    assert rows == {"open": 1, "superseded": 1, "answered": 2, "discharged": 0}
    board = html.parse(output / "actions/index.html")
    assert len(found(board, "//ol[@class='rows']/li/@class")) == 1, "for whom it is to do"
    assert "buoy-again" in (output / "actions/feed.xml").read_text()
    assert MOOT not in (output / "actions/feed.xml").read_text()
    lines = [json.loads(line) for line in (output / "archive/2026/05.jsonl").read_text().splitlines()]
    states = {line["id"]: (line["action"], [one["action"] for one in line["recipients"]]) for line in lines}
    assert states == {
        ASK: ("answered", ["answered"]),
        TOO: ("answered", ["answered"]),
        MOOT: ("superseded", ["superseded"]),
        AGAIN: ("open", ["open"]),
        REPLY: (None, [None]),
    }
    assert main(["search", "is:superseded", "--json", "--site", str(output.parent)]) == 0
    assert [hit["id"] for hit in json.loads(capsys.readouterr().out)["hits"]] == [MOOT]
    found_then = diff("2026-05-02..2026-05-02", site=output.parent)
    assert [(step.before, step.after, step.state.key[1]) for step in found_then.actions] == [
        ("open", "superseded", MOOT)
    ]
    later = diff("2026-05-03..2026-05-09", site=output.parent)
    assert [(step.before, step.after, step.state.key[1]) for step in later.actions] == [
        ("open", "answered", ASK),
        ("open", "answered", TOO),
    ]


def test_of_many_pairs_the_board_names_the_ten_that_wait_longest(tmp_path: Path) -> None:
    """The rest is below, with each position."""
    for number in range(14):
        write_request(tmp_path / "yard", number, sender="mason", to=f"smith-{number}")
    board = html.parse(build_site(tmp_path) / "actions/index.html").getroot()
    assert words(board, "//section[@id='owed']//tbody/tr/th").count("smith-") == 10
    assert "Showing the 10 oldest of 14" in words(board, "//section[@id='owed']/p")
