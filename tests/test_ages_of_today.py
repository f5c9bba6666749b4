"""Ages: counted to the newest date of the archive at build time, to today by a script; all pages agree both ways."""

import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import html
from playwright.sync_api import Browser, Page

from tests.support.browsers import open_chromium
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo
from tests.support.pictures import check_pictures
from tests.support.sites import build_site

NEWEST = dt.date(2026, 5, 31)
PEOPLE = ("director", "keeper")
PAGES = {
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
        write_memo(
            folder / "repo/memos/inbox",
            f"{day}-2200--engineer--{to}--m-{number}",
            sent=f"{day}T22:00:00-04:00",
            to=to,
            subject=f"{to} {number}",
            action_required=True,
        )
    write_text(folder / "repo/decisions/2026-05-21-boats.md", "# Boats\n\nStatus: proposed\nDate: 2026-05-21\n")
    write_json(folder / "memosite.yml", {"positions": {"people": list(PEOPLE)}})
    return build_site(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with open_chromium() as found:
        yield found


def open_page(browser: Browser, site: Path, name: str, later: int | None) -> Page:
    """A page as it is so many days after the newest date; None without a script."""
    page = browser.new_context(java_script_enabled=later is not None).new_page()
    if later is not None:
        now = dt.datetime.combine(NEWEST + dt.timedelta(days=later), dt.time(9), tzinfo=dt.UTC)
        page.add_init_script(f"Date.now = () => {now.timestamp() * 1000:.0f}")
    page.goto((site / PAGES[name][0]).as_uri())
    return page


def ages_of(page: Page, name: str) -> dict[str, str]:
    """What a page says of the age of each memo, by subject."""
    rows = page.locator(f"{PAGES[name][1]} .row:has(.since)")
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
    for name in PAGES:
        page = open_page(browser, site, name, later)
        said = "Ages are counted to 2026-05-31, the newest date of the archive." if later is None else "to today."
        assert page.locator("[data-counted]").inner_text().endswith(said), name
        if name == "decisions":
            assert f"pending {10 + (later or 0)} days" in page.locator(".since").first.inner_text()
        elif name == "home":
            shown = ages_of(page, name)
            assert len(shown) == 10 and shown.items() <= expected.items()
            (tmp_path / "home.html").write_text(html.tostring(html.fromstring(page.content()), encoding="unicode"))
            found = next(one for one in check_pictures(tmp_path / "home.html") if one.anchor == "waiting-by-age")
            counts = Counter((to, sum(age + (later or 0) >= least for least in (7, 30))) for to, age in days)
            assert dict(zip(found.labels, found.drawn, strict=True)) == {
                to: tuple(counts[to, column] for column in range(3)) for to in PEOPLE
            }
        else:
            assert ages_of(page, name) == of_director, name
        page.context.close()
