"""A memo to all asks each position: who has not answered has it to do, wherever that is said (SPEC 3, actions)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from memosite.archive.mailboxes import open_for
from memosite.archive.model import Archive
from memosite.cli import main
from memosite.facts.parsed import Envelope, Seat
from memosite.plan.actions import owed, sort_asked
from tests.support.archives import memo
from tests.support.facts import archive_of, envelope, organization
from tests.support.feeds.documents import read_feed
from tests.support.memos import write_memo, write_org
from tests.support.pages import found
from tests.support.pictures import check_pictures
from tests.support.sites import build_site

SEATS = ("baker", "carter", "dyer", "ewer")
ACME = organization("acme", *SEATS, Seat(id="founder", name="Founder", status="vacant"))
NAME = "2026-05-01-0900--baker--all--which-day"
PARTS = {"unread", "to-do", "waiting", "memos"}


def owing(archive: Archive, id_: str = "m") -> tuple[str, ...]:
    """Who has not done what a memo asks."""
    return memo(archive, id_).owed_by


def request(**fields: object) -> Envelope:
    """A memo to all that asks for something."""
    return envelope("m", **{"sender": "baker", "to": "all", "action_required": True, **fields})  # type: ignore[arg-type]


def answer(stem: str, sender: str, to: str = "m") -> Envelope:
    """A reply to the baker."""
    return envelope(stem, sender=sender, to="baker", in_reply_to=to, sent="2026-05-02T09:00:00Z")


def test_one_answer_is_not_that_of_the_others() -> None:
    """Who has not answered has it to do, unless it is closed or nobody can be named, who then owe it together."""
    archive = archive_of(ACME, request(), answer("a", "carter"))
    one = memo(archive, "m")
    assert (one.action, [(state.position, state.action) for state in one.recipients]) == (
        "answered", [("all", "answered")]
    )  # fmt: skip
    assert owing(archive) == ("dyer", "ewer")
    assert [open_for(one, {id_}) for id_ in SEATS] == [False, False, True, True]
    later = envelope("n", sender="baker", to="all", supersedes="m", sent="2026-05-03T09:00:00Z")
    assert owing(archive_of(ACME, request(), answer("a", "carter"), closed={"m"})) == ()
    assert owing(archive_of(ACME, request(), answer("a", "carter"), later)) == ()
    assert owing(archive_of(request())) == ("all",)
    many = organization("acme", *(f"p{number}" for number in range(501)))
    archive = archive_of(many, request())
    assert owing(archive) == ("all",)
    assert open_for(memo(archive, "m"), {"p7"}) and not open_for(memo(archive, "m"), {"baker"})
    assert owing(archive_of(ACME, request(to=("dyer", "all")))) == ("dyer", "carter", "ewer")
    archive = archive_of(ACME, request(), envelope("n", sender="fuller", to="dyer"))
    assert owing(archive) == ("carter", "dyer", "ewer", "fuller")
    two = (organization("x-org", "baker", "smith"), organization("y-org", "smith"))
    assert owing(archive_of(*two, request())) == ("x-org~smith", "y-org~smith")
    assert owing(archive_of(*two, request(), answer("a", "smith"))) == ()
    assert owing(archive_of(*two, request(), answer("a", "x-org/smith"))) == ("y-org~smith",)
    assert owing(archive_of(*two, request(sender="smith"))) == ("baker",)


@st.composite
def conversations(draw: st.DrawFn) -> list[Envelope]:
    """Memos to some positions or to all, each a reply to an earlier one or to none."""
    memos: list[Envelope] = []
    for number in range(draw(st.integers(1, 9))):
        to = draw(st.lists(st.sampled_from((*SEATS, "all")), min_size=1, max_size=3, unique=True))
        memos.append(envelope(
            f"m{number}", sender=draw(st.sampled_from(SEATS)), to=to, sent=f"2026-05-{number + 1:02d}T09:00:00Z",
            action_required=draw(st.booleans()),
            in_reply_to=draw(st.sampled_from([None, *(one.stem for one in memos)])),
        ))  # fmt: skip
    return memos


def naive_owing(memos: Sequence[Envelope], asks: Envelope) -> set[str]:
    """Who owes an answer, by looking at each position and each memo."""
    if not asks.action_required:
        return set()
    by_stem = {one.stem: one for one in memos}

    def is_below(one: Envelope) -> bool:
        above = by_stem.get(one.in_reply_to[0]) if one.in_reply_to else None
        return above is not None and (above is asks or is_below(above))

    asked = {one for one in asks.to if one != "all"}
    asked |= {one for one in SEATS if "all" in asks.to and one != asks.sender}
    return {one for one in asked if not any(other.sender == one and is_below(other) for other in memos)}


@given(conversations())
def test_who_owes_an_answer_is_as_by_looking_at_every_memo(memos: list[Envelope]) -> None:
    """In the archive, in the lists by position, and for who waits."""
    archive = archive_of(ACME, *memos)
    expected = {one.stem: naive_owing(memos, one) for one in memos}
    assert {one.stem: set(owing(archive, one.stem)) for one in memos} == expected
    asked = sort_asked(archive.memos())
    for seat in SEATS:
        to_do = {one.id for one in asked.asked_of([seat])}
        assert to_do == {stem for stem, owes in expected.items() if seat in owes}
        sent = {one.stem for one in memos if one.sender == seat}
        assert {one.id for one in asked.asked_by([seat])} == {stem for stem in sent if expected[stem]}
    pairs = {(who, whom, one.id) for who, whom, found in owed(asked) for one in found}
    sender = {one.stem: one.sender for one in memos}
    assert pairs == {(who, sender[m], m) for m, owes in expected.items() for who in owes if who != sender[m]}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baker asks everybody; the carter has answered, the dyer and the director have not."""
    mill = tmp_path_factory.mktemp("everybody") / "mill"
    write_org(mill, "mill", positions=["baker", "carter", "director", "dyer"])
    asks: dict[str, Any] = {"sender": "baker", "to": "all", "action_required": True}
    write_memo(mill / "memos/inbox", NAME, sent="2026-05-01T09:00:00Z", subject="Which day", **asks)
    reply: dict[str, Any] = {"sender": "carter", "to": "baker", "in_reply_to": NAME, "sent": "2026-05-09T09:00:00Z"}
    write_memo(mill / "memos/inbox", "2026-05-09-0900--carter--baker--monday", subject="Monday", **reply)
    return build_site(mill.parent)


def page(site: Path, path: str) -> html.HtmlElement:
    """A page of the site."""
    return html.parse(site / path / "index.html").getroot()


def sections(site: Path, path: str) -> dict[str, list[str]]:
    """The rows of the lists of a page of actions, by position and heading."""
    rows: dict[str, list[str]] = {}
    for row in page(site, path).xpath("//li[contains(@class, 'row')]"):
        [section] = row.xpath("ancestor::section[1]")
        above = section.xpath("./h2//text()[not(parent::*[@class='total'])]")
        above += row.xpath("./../preceding-sibling::h3[1]//text()[not(parent::*[@class='total'])]")
        said = "".join(row.xpath("./*[@class='facts']//text()")).partition("\xa0·")[0]
        rows.setdefault("/".join(filter(None, map(str.strip, above))), []).append(" ".join(said.split()))
    return rows


def test_the_board_names_who_has_not_answered_and_pages_of_positions_agree(site: Path) -> None:
    """For each of them it is to do, and for who asked it waits on these; so say the thread and the memo."""
    board = sections(site, "actions")
    assert board["dyer/To do"] == board["director/To do"] == ["asked by baker of everybody"]
    assert "carter/To do" not in board
    waiting = " ".join(page(site, "actions").xpath("string(//*[@id='waiting-baker'])").split())
    assert waiting == "Waiting on others: 1 memo, for director, dyer, the oldest since 2026-05-01"
    excerpts = page(site, "actions").xpath("//section//ol[@class='rows']//p[@class='line']/ancestor::section/@id")
    assert excerpts == ["position-all"], "what it says is there once"
    assert board["Everybody/To do"] == ["asked by baker, waiting for director, dyer"]
    table = page(site, "actions").xpath("//section[@id='owed']//tbody/tr/th")
    assert ["".join(one.itertext()) for one in table] == ["director", "dyer"]
    said = " ".join("".join(page(site, f"threads/{NAME}").itertext()).split())
    assert "Not answered yet by director, dyer" in said
    assert "Not answered yet by director, dyer" in " ".join("".join(page(site, f"memos/{NAME}").itertext()).split())
    todo = "//section[h2/@id='open-actions']//a[@class='subject']"
    for position, expected in (("dyer", 1), ("director", 1), ("carter", 0), ("baker", 0)):
        assert len(page(site, f"positions/{position}").xpath(todo)) == expected, position
        assert len(sections(site, f"positions/{position}/actions").get("To do", [])) == expected, position


def test_only_who_answered_sees_it_answered_and_each_state_has_what_its_page_and_its_feed_have(site: Path) -> None:
    """For all others it is partly answered: on lists, on its page and for who asked; Home counts it for people."""
    state = f"//li[a[contains(@href, '{NAME}')]]/*[contains(@class, 'state')]/text()"
    assert page(site, "timeline/2026/05").xpath(state) == ["partly answered"]
    assert page(site, "positions/baker").xpath(f"//section[@id='stream']{state}") == ["partly answered"]
    assert page(site, "positions/carter").xpath(f"//section[@id='stream']{state}") == ["answered"]
    assert page(site, "positions/dyer").xpath(f"//section[@id='stream']{state}") == ["open"]
    head = page(site, f"memos/{NAME}").xpath("//header//*[contains(@class, 'state')]/text()")
    assert head == ["partly answered"]
    [bars] = [one for one in check_pictures(site / "index.html") if one.anchor == "waiting-by-age"]
    assert dict(zip(bars.labels, map(sum, bars.drawn), strict=True)) == {"director": 1}
    rows = html.parse(site / "index.html").xpath(f"//section[@id='waiting']//li[a[contains(@href, '{NAME}')]]")
    assert [row.xpath("span/@data-since") for row in rows] == [["2026-05-01"]]  # the carter has answered
    for state, feed in (("open", "actions/feed.xml"), ("answered", "actions/answered/feed.xml")):
        assert [one.rpartition("/")[2] for one in found(read_feed(site / feed), "//guid/text()")] == [NAME]
        assert len(page(site, f"actions/{state}").xpath("//li[contains(@class, 'row')]")) > 0
    assert sections(site, "actions/open")["dyer"] == ["asked by baker of everybody"]
    lines = (site / "archive/2026/05.jsonl").read_text().splitlines()
    [line] = [one for one in map(json.loads, lines) if one["id"] == NAME]
    assert (line["action"], line["recipients"]) == ("answered", [{"position": "all", "action": "answered"}])


def test_commands_agree(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`inbox` lists what is asked first, `brief` what is to do and waited for, `thread` who has not answered."""

    def printed(*words: str) -> str:
        assert main([*words, "--site", str(site.parent)]) == 0
        return capsys.readouterr().out

    def told(*words: str) -> dict[str, list[list[str]]]:
        answer = json.loads(printed(*words, "--json"))
        return {name: [one["states"] for one in part] for name, part in answer.items() if name in PARTS}

    since = "replied to since by memo/2026-05-09-0900--carter--baker--monday"
    assert told("brief", "dyer")["to-do"] == [["action open", since, "not answered by director, dyer"]]
    assert told("brief", "carter")["to-do"] == []
    assert ["action partly answered", since, "not answered by director, dyer"] in told("brief", "baker")["waiting"]
    assert "not answered by director, dyer" in told("thread", NAME)["memos"][0]
    assert "not answered by director, dyer" in printed("show", NAME)
