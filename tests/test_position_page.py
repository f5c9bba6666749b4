"""The page of a position: its stream by month, and how to follow it."""

import datetime as dt
import random
import shlex
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import etree, html

from tests.support.chromium import chromium
from tests.support.memos import write_memo, write_note
from tests.support.pages import found
from tests.support.pictures import check_pictures
from tests.support.servers import serve_folder
from tests.support.sites import build_site

FIRST = dt.date(2026, 1, 5)


def write(repo: Path, day: dt.date, name: str, *, sender: str = "tester", to: str = "engineer") -> str:
    """A memo of a day."""
    stem = f"{day}-0900--{sender}--{to}--{name}"
    write_memo(repo / "memos/read", stem, sender=sender, to=to, sent=f"{day}T09:00:00Z")
    return stem


def test_one_stream_says_what_was_sent_and_received_by_month(tmp_path: Path) -> None:
    """Newest first; a memo to itself was sent; what was published as anchors is still there."""
    repo = tmp_path / "repo"
    write(repo, dt.date(2026, 5, 4), "to-it")
    write(repo, dt.date(2026, 4, 1), "to-all", to="all")
    write(repo, dt.date(2026, 5, 5), "from-it", sender="engineer", to="tester")
    write(repo, dt.date(2026, 4, 2), "own", sender="engineer", to="engineer")
    write(repo, dt.date(2026, 5, 6), "of-others", to="clerk")
    write_note(repo / "notes/engineer", "2026-05-06-0900--engineer--note", sender="engineer")
    page = build_site(repo) / "positions/engineer/index.html"
    tree = html.parse(page)
    stream = "//section[@id='stream']"
    assert found(tree, f"{stream}/h3/@id")[:2] == ["2026-05", "2026-04"]
    ways = {row.findtext("a"): row.get("data-way") for row in tree.xpath(f"{stream}//li")}
    said = {row.findtext("a"): row.find("span[@class='facts']").text_content() for row in tree.xpath(f"{stream}//li")}
    assert Counter(ways.values()) == {"sent": 2, "received": 2, "note": 1}
    assert any(text.startswith("received from tester to all") for text in said.values())
    assert any(text.startswith("received from tester\xa0") for text in said.values())
    assert any(text.startswith("sent to tester") for text in said.values())
    ids = set(found(tree, "//@id"))
    assert {"received", "sent", "notes", "transcripts", "week-2026-05-04", "week-2026-03-30"} <= ids
    assert found(tree, "//a[.='Digests']/@href") == ["../../digests/index.html"]
    (picture,) = check_pictures(page)
    assert picture.labels == ("Sent", "Received") and picture.columns[-1] == "2026-05-04"
    assert [sum(row) for row in picture.drawn] == [2, 2]


def test_every_month_and_week_of_a_long_stream_is_reached(tmp_path: Path) -> None:
    """By links from the first page, counted a second time here; each week that was ever linked keeps its anchor."""
    repo, chance = tmp_path / "repo", random.Random(3)
    days = [FIRST + dt.timedelta(days=chance.randrange(300)) for _ in range(350)]
    for number, day in enumerate(days):
        ends = ("tester", "engineer") if number % 3 else ("engineer", "tester")
        write(repo, day, f"m-{number}", sender=ends[0], to=ends[1])
    site = build_site(repo)
    page = site / "positions/engineer/index.html"
    tree = html.parse(page)
    shown = found(tree, "//section[@id='stream']//li//time/@datetime")
    assert [day[:10] for day in shown] == [str(day) for day in sorted(days, reverse=True)[:100]]
    ids = found(tree, "//@id")
    assert len(ids) == len(set(ids))
    weeks = {day - dt.timedelta(days=day.weekday()) for day in days}
    assert {f"week-{week}" for week in weeks} | {f"{day:%Y-%m}" for day in days} <= set(ids)
    listed = Counter[str]()
    for item in tree.xpath("//h2[.='Earlier']/../ul/li"):
        total = int(item.find("span[@class='facts']").text.split(",")[0])
        for link in item.findall(".//a"):
            file, _, anchor = link.get("href").partition("#")
            part = html.parse(page.parent / file).getroot()
            assert part.get_element_by_id(anchor).tag == "section"
            assert part.xpath("//span[starts-with(@id, 'part-')]")
        listed[item.find("a").get("href").partition("#")[2]] = total
    expected = Counter(f"{day:%Y-%m}" for day in days) - Counter(day[:7] for day in shown)
    assert listed == expected
    (picture,) = check_pictures(page)
    assert picture.columns[-1] == f"{max(days):%Y-%m}" and len(picture.columns) == 24
    assert sum(map(sum, picture.drawn)) == 350
    for link in picture.links:
        file, _, anchor = link.partition("#")
        target = (page.parent / file if file else page).resolve()
        assert html.parse(target).getroot().get_element_by_id(anchor) is not None


def test_the_rows_of_the_stream_are_filtered_and_what_is_copied_is_said(example_site: Path) -> None:
    """By what they are to the position; where there is no clipboard, the text is selected, and that is said."""
    page = example_site / "positions/director/index.html"
    expected = Counter(found(html.parse(page), "//section[@id='stream']//li/@data-way"))
    with chromium() as browser:
        browser.open(page.as_uri())
        for way in ("sent", "received", "transcript"):
            browser.value(
                f"(() => {{ const way = document.getElementById('way'); way.value = {way!r};"
                " way.dispatchEvent(new Event('change')); return way.value; })()"
            )
            seen = "[...document.querySelectorAll('#stream .row')].filter((row) => row.offsetParent).length"
            assert browser.value(seen) == expected[way] > 0
            empty = "[...document.querySelectorAll('#stream h3')].filter((one) => one.offsetParent &&"
            empty += " ![...one.nextElementSibling.children].some((row) => row.offsetParent)).length"
            assert browser.value(empty) == 0
        assert browser.complaints == []
    file = example_site / "positions/director/index.html"
    press = "document.querySelector('[data-copy=_watch]').click()"
    said = "document.getElementById('_copied').textContent"
    with serve_folder(example_site) as address, chromium() as browser:
        for place in (f"{address}positions/director/index.html#follow", f"{file.as_uri()}#follow"):
            browser.open(place)
            colours = [
                browser.value(f"getComputedStyle(document.querySelector('{one}')).backgroundColor")
                for one in ("#follow", "#follow > details > summary")
            ]
            assert colours[0] == "rgba(0, 0, 0, 0)" != colours[1]  # the heading alone is marked
            browser.value("window.kept = ''; navigator.clipboard.writeText = async (text) => { window.kept = text; }")
            browser.value("document.querySelector('[data-copy=_watch]').focus()")
            browser.press("Enter")
            browser.wait_for(f"{said} === 'Command copied.'")
            assert browser.value("window.kept") == browser.value("document.getElementById('_watch').textContent")
            assert browser.value("document.querySelector('[data-copy=_watch]').textContent") == "Copied Command"
            browser.value("navigator.clipboard.writeText = () => Promise.reject(new Error())")
            browser.value(press)
            browser.wait_for(f"{said}.includes('selected: press Ctrl+C')")
            assert "memosite watch" in browser.value("getSelection().toString()")
        assert browser.complaints == []


@pytest.mark.parametrize("base", ["https://memos.example.org/", None])
def test_the_commands_and_the_list_of_a_position_name_its_feeds(tmp_path: Path, base: str | None) -> None:
    """They are words of a shell, of a name in any script as well, and each address is that of a file."""
    name = "läut & $(x)"
    write_memo(tmp_path / "org/memos/inbox", "2026-05-01-1430--engineer--other--one", to=name)
    site = build_site(tmp_path / "org", base_url=base)
    pages = sorted((site / "positions").glob("*/index.html"))
    assert len(pages) == 2
    for page in pages:
        tree = html.parse(page).getroot()
        texts = {one.get("id"): one.text_content() for one in tree.xpath("//section[@id='follow']//pre")}
        local = base or "ADDRESS/"
        words = shlex.split(texts["_watch"])
        assert words[:2] == ["memosite", "watch"]
        assert len(words) == 3
        assert (site / unquote(words[2].removeprefix(local))) == page.parent / "feed.xml"
        assert (page.parent / "feed.xml").is_file()
        assert shlex.split(texts["_once"]) == ["memosite", "watch", "--once", words[2]]
        outlines = etree.fromstring(texts["_opml"].encode()).findall(".//outline[@type='rss']")
        addresses = [unquote(one.get("xmlUrl", "").removeprefix(local)) for one in outlines]
        assert [(site / one).is_file() for one in addresses] == [True] * 3
        assert ("base_url" in tree.xpath("string(//section[@id='follow'])")) is (base is None)


def test_the_list_of_feeds_lets_the_reader_choose_a_position(example_site: Path) -> None:
    """Each choice has the feed of that position, and its page with the other commands, to which a list leads, too."""
    tree = html.parse(example_site / "feeds/index.html").getroot()
    choices = tree.xpath("//select[@id='position']/option")
    links = [choice.get("data-page") for choice in choices]
    pages = (example_site / "positions").glob("*/index.html")
    assert len(links) == len(set(links)) == sum('id="follow"' in one.read_text() for one in pages) > 5
    for choice, link in zip(choices, links, strict=True):
        page, _, anchor = link.partition("#")
        there = html.parse(example_site / "feeds" / page).getroot()
        assert there.get_element_by_id(anchor) is not None
        assert there.get_element_by_id("_watch").text_content().endswith(f"/{choice.get('data-feed')}")
        assert tree.xpath(f"//ul[@class='feeds']//a[@href='{page}']")


def test_what_is_unread_and_to_do_is_listed_once(tmp_path: Path) -> None:
    """Under what is to do; the inbox counts all that is unread, says how much of it is there, and lists the rest."""
    inbox, day = tmp_path / "repo/memos/inbox", "2026-05-04"
    for name, asks in (("report", True), ("slip", True), ("notice", False)):
        stem = f"{day}-0900--tester--engineer--{name}"
        write_memo(inbox, stem, sender="tester", to="engineer", sent=f"{day}T09:00:00Z", action_required=asks)
    said = []
    for kept in ("report slip notice", "report slip", "report", "notice", ""):
        for memo in inbox.glob("*.openthing"):
            if memo.stem.rpartition("--")[2] not in kept.split():
                (tmp_path / "away").mkdir(exist_ok=True)
                memo.rename(tmp_path / "away" / memo.name)
        for memo in (tmp_path / "away").glob("*.openthing"):
            if memo.stem.rpartition("--")[2] in kept.split():
                memo.rename(inbox / memo.name)
        write_memo(tmp_path / "repo/memos/read", f"{day}-0800--tester--engineer--old", sender="tester", to="engineer")
        page = html.parse(build_site(tmp_path / "repo") / "positions/engineer/index.html")
        sections = [f"//section[h2/@id='{one}']" for one in ("open-actions",)] + ["//section[@id='inbox']"]
        listed = [[href.split("--")[-1].split("/")[0] for href in found(page, f"{one}//a[@class='subject']/@href")] for one in sections]  # fmt: skip  # noqa: E501
        (inbox_section,) = page.xpath(sections[1])
        notes = [" ".join(one.text_content().split()) for one in inbox_section.xpath("./p")]
        said.append((*map(sorted, listed), inbox_section.xpath("string(h2/span)"), notes))
        links = [link for one in inbox_section.xpath("./p/a") for link in one.xpath("@href")]
        assert all(page.xpath(f"//*[@id='{link[1:]}']") for link in links)
    both, one = ("2 unread memos that ask for something are under To do.", "1 unread memo that asks for something is under To do.")  # fmt: skip  # noqa: E501
    assert said == [
        (["report", "slip"], ["notice"], "3", [both]),
        (["report", "slip"], [], "2", [both]),
        (["report"], [], "1", [one]),
        ([], ["notice"], "1", []),
        ([], [], "", ["No unread memos."]),
    ]
