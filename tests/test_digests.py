"""Digests: what arrived on each closed day or week, by the archive's own dates."""

from pathlib import Path
from typing import Any

import pytest
from lxml import html as lxml_html

from tests.support.feeds.documents import read_feed
from tests.support.files import write_json
from tests.support.memos import write_memo, write_note
from tests.support.pages import bad_links, found
from tests.support.sites import build_site

PREFIX = "tag:memosite.invalid,2026:archive/digest/"


def write_day(repo: Path, day: str, name: str = "m", **fields: Any) -> Path:
    """A memo of a day."""
    return write_memo(repo / "memos/read", f"{day}-0900--engineer--director--{name}", sent=f"{day}T09:00:00Z", **fields)


def build(repo: Path) -> Path:
    """Build over what is there."""
    return build_site(repo, output=repo.parent / "out", base_url="https://archive.example.org/")


def days(output: Path) -> list[str]:
    """What the feed announces, newest first."""
    feed = read_feed(output / "digests/feed.xml")
    return [guid.removeprefix(PREFIX) for guid in found(feed, "//guid/text()")]


def subjects(output: Path, day: str) -> list[str]:
    """What a digest lists."""
    return found(lxml_html.parse(output / f"digests/{day}/index.html"), "//main//a[@class='subject']/text()")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """News of three days in two weeks; the last day is still open."""
    folder = tmp_path / "repo"
    write_day(folder, "2026-05-01", "one", subject="One", action_required=True)
    write_day(folder, "2026-05-01", "two", subject="Two")
    write_note(folder / "notes/director", "2026-05-03-0900--director--note", sent="2026-05-03T09:00:00Z")
    write_day(folder, "2026-05-04", "three", subject="Three")
    return folder


def test_a_day_is_closed_when_a_later_one_has_news(repo: Path) -> None:
    """By the archive's own dates; days without news have no digest."""
    output = build(repo)
    assert days(output) == ["2026-05-03", "2026-05-01"]
    assert subjects(output, "2026-05-01") == ["Two", "One"]
    assert subjects(output, "2026-05-04") == ["Three"], "so far"
    write_day(repo, "2026-05-07")
    assert days(build(repo)) == ["2026-05-04", "2026-05-03", "2026-05-01"]
    assert list(bad_links(output)) == []
    feed = read_feed(output / "digests/feed.xml")
    assert found(feed, "//item/title/text()")[1:] == ["2026-05-03: 1 note", "2026-05-01: 2 memos"]
    assert found(feed, "//item/pubDate/text()")[2] == "Sat, 02 May 2026 00:00:00 +0000"
    content = found(feed, "//item/*[local-name()='encoded']/text()")[2]
    assert content.startswith("digest of 2026-05-01: 2 memos")
    page = "https://archive.example.org/memos/2026-05-01-0900--engineer--director--one/"
    assert f'<a href="{page}">One</a> (engineer to director; action open)' in content


def test_what_comes_late_is_in_the_digest_of_its_day_and_a_slip_in_a_date_stops_none(repo: Path) -> None:
    """A digest that is out never changes, nothing is missing from all; a memo of the year 9999 closes no day."""
    output = build(repo)
    before = subjects(output, "2026-05-01")
    write_day(repo, "2026-05-01", "late", subject="Late")
    write_day(repo, "9999-01-01", "slip")
    build(repo)
    write_day(repo, "2026-05-08")
    build(repo)
    write_day(repo, "2026-05-09")
    assert days(build(repo)) == ["2026-05-08", "2026-05-04", "2026-05-03", "2026-05-01"]
    assert subjects(output, "2026-05-01") == before
    assert subjects(output, "2026-05-04")[-2:] == ["Three", "Late"]


def test_digests_of_weeks_begin_on_monday_and_are_a_list(repo: Path) -> None:
    """Under the date of the Monday; where days were, there is a way on. A calendar has days."""
    output = build(repo)
    write_json(repo / "memosite.yml", {"feeds": {"digest": "weekly"}})
    build(repo)
    assert days(output) == ["week-2026-04-27"]
    assert "One" in subjects(output, "2026-04-27")
    assert "digests/" in (output / "digests/2026-05-01/index.html").read_text()
    page = lxml_html.parse(output / "digests/index.html")
    assert page.xpath("//table") == []
    assert [one.text for one in page.xpath("//ul[@class='months']//a")] == [
        "Week from 2026-05-04",
        "Week from 2026-04-27",
    ]
    assert list(bad_links(output)) == []


def test_days_are_a_calendar_with_how_much_arrived_and_one_day_has_no_digest_yet(repo: Path, tmp_path: Path) -> None:
    """The newest month first, weeks from Monday; each day that has a digest leads to it."""
    write_day(repo, "2026-02-28", "early")
    page = lxml_html.parse(build(repo) / "digests/index.html")
    months = page.xpath("//table[@class='calendar']")
    assert [month.findtext("caption") for month in months] == ["May 2026", "February 2026"]
    weeks = [[cell.text_content() for cell in row.findall("td")] for row in months[0].findall("tbody/tr")]
    assert weeks[0] == ["", "", "", "", "1 2", "2", "3 1"] and len(weeks) == 5
    assert weeks[4] == ["25", "26", "27", "28", "29", "30", "31"]
    assert months[0].xpath(".//a/@href") == [f"2026-05-{day}/index.html" for day in ("01", "03", "04")]
    assert months[0].xpath(".//td[@class]/@class") == ["shade-4", "shade-2", "shade-2"]
    assert months[1].xpath(".//a/@href") == ["2026-02-28/index.html"]
    # Its page and its feed are there, empty.
    write_day(tmp_path / "single/repo", "2026-05-01")
    output = build(tmp_path / "single/repo")
    assert days(output) == []
    assert [one.get("href") for one in lxml_html.parse(output / "digests/index.html").xpath("//td/a")] == [
        "2026-05-01/index.html"
    ], "so far"
