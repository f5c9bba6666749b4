"""Kinds of pages that the example has none of, in a real browser: withheld, captures, other systems, long pages.

Each kind of page is known to axe either here or in `test_browser.py`; here, too, is what each page loads, and what a
screen reader is told of pictures.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, CDPSession, Page

from benchmarks.as_memodef import write_site
from benchmarks.organization import artifacts
from tests.support.browsers import check_html, violations
from tests.support.golden_sites import DREDGE, golden_sites
from tests.support.servers import serve_folder
from tests.support.sites import build_site, shared_folder, tree_bytes

RARE = (
    "site/_site/transcripts/2026-05-05-1331--master--north-mark-from-the-tablet/captures/index.html",
    "site/_site/entities/north-pier-186c3ce1/index.html",
    "site/_site/systems/memory-store/status/index.html",
    "site/_site/records/mif/office.3b9f2c71-8d40-4e6a-a1c5-7f20d96b4e13/index.html",
    "site/_site/libraries/harbour-forms/index.html",
    "site/_site/decisions/by-position/index.html",
    "site/_site/decisions/proposals/index.html",
    "site/_site/actions/all/index.html",
    f"withheld/_site/memos/{DREDGE}/index.html",
    "withheld/_site/threads/dredging-2026/index.html",
)
WHOLE = ("index.html", "actions/index.html", "actions/open/index.html", "org/index.html", "timeline/index.html",
         "digests/index.html", "feeds/index.html", "health/index.html", "decisions/index.html")  # fmt: skip
"""Pages that grow with the archive."""
LONGEST = ("memos/*/index.html", "notes/*/index.html", "transcripts/*/index.html", "threads/*/index.html",
           "positions/*/index.html", "positions/*/actions/index.html", "timeline/*/*/index.html",
           "digests/*/index.html")  # fmt: skip
"""Kinds of which the page with most bytes counts."""
LOADED = """performance.getEntriesByType("resource").map((one) => new URL(one.name).pathname.slice(1))
  .filter((path) => /\\/static\\/.*(css|js)$/.test(path))"""
SCREENS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((390, "light"), (1440, "dark"))


@pytest.fixture(scope="module")
def sites() -> Path:
    """A folder with the golden site, the same with a memo withheld, and a generated organization."""
    return shared_folder("kinds", write_sites)


def write_sites(folder: Path) -> None:
    """Write and build them. 160 artifacts fill the screen of each page, and some weeks are of two months."""
    folder.mkdir()
    for name in ("site", "withheld"):
        (folder / name).symlink_to(golden_sites() / name)
    write_site(folder / "many", islice(artifacts(600, seed=1), 160), with_git=True)
    build_site(folder / "many")


@pytest.fixture(scope="module")
def pages(sites: Path) -> tuple[str, ...]:
    """A page of each kind: those of which there are few, and the longest ones of the generated organization."""
    many = sites / "many/_site"
    found = [many / name for name in WHOLE]
    found += [max(many.glob(pattern), key=lambda page: page.stat().st_size) for pattern in LONGEST]
    return *RARE, *(page.relative_to(sites).as_posix() for page in found)


@pytest.fixture(scope="module")
def address(sites: Path) -> Iterator[str]:
    """Where all of them are served."""
    with serve_folder(sites) as found:
        yield found


def test_rare_and_long_pages_are_small_and_accessible_on_a_phone(
    browser: Browser, address: str, sites: Path, pages: tuple[str, ...]
) -> None:
    """Not wider than the window, less than 60 kB of style and script; axe finds nothing; pictures can be heard.

    Headings that skip a level are among what axe finds. On a wide screen in the dark, axe looks at rare pages alone:
    at short ones of the other kinds in `test_browser.py`.
    """
    found, figures = [], 0
    for width, theme in SCREENS:
        context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 800})
        page = context.new_page()
        session = context.new_cdp_session(page)
        for path in pages:
            page.goto(address + path)
            page.wait_for_function("() => !document.querySelector('.in-pieces')")  # what is not laid out has no size
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            found += violations(page) if theme == "light" or path in RARE else []
            if theme == "light":
                assert bytes_of(page, sites) < 60_000, path
                page.evaluate("document.querySelectorAll('figure details').forEach((one) => { one.open = true; })")
                figures += heard(session, path) if page.locator("figure").count() else 0
        context.close()
    assert found == []
    assert figures > 5


def test_a_page_loads_less_style_and_script_than_it_may(browser: Browser, address: str, sites: Path) -> None:
    """Those of search 110 kB, that for missing addresses 60 kB."""
    page = browser.new_page()
    for path, most in (("many/_site/search/index.html?q=the", 110_000), ("site/_site/404.html", 60_000)):
        page.goto(address + path, wait_until="networkidle")
        assert bytes_of(page, sites) < most
    page.close()
    assert (sites / "site/_site/static/cite.js").stat().st_size < 16_000  # it comes when it is first used


def bytes_of(page: Page, sites: Path) -> int:
    """The bytes of the styles and scripts that a page asks for, as they are, not compressed."""
    files = [sites / path for path in set(page.evaluate(LOADED)) if (sites / path).is_file()]
    assert any(file.name == "memosite.css" for file in files)
    return sum(file.stat().st_size for file in files)


def heard(session: CDPSession, path: str) -> int:
    """How many pictures a screen reader hears: the caption as name, a table below; nothing of the drawing."""
    nodes = {node["nodeId"]: node for node in session.send("Accessibility.getFullAXTree")["nodes"]}
    figures = [node for node in nodes.values() if _role(node) == "figure" and not node["ignored"]]
    for figure in figures:
        roles = [_role(node) for node in _below(nodes, figure)]
        assert figure["name"]["value"].strip(), path
        assert roles.count("table") == 1, path
        assert not [role for role in roles if role.startswith(("Svg", "graphics", "img", "image"))], path
    return len(figures)


def test_the_nu_html_checker_finds_no_error_in_rare_pages(sites: Path) -> None:
    """Withheld and redirected pages, captures and records of all systems."""
    before, after = (tree_bytes(sites / name / "_site") for name in ("site", "withheld"))
    withheld = [name for name, data in after.items() if name.endswith(".html") and before.get(name) != data]
    assert f"memos/{DREDGE}/index.html" in withheld
    checked = check_html(sites / "site/_site", *(sites / "withheld/_site" / name for name in withheld))
    assert checked == ""


MARKED = """() => {
  const monday = (row) => {
    const day = new Date(row.querySelector("time").dateTime.slice(0, 10));
    day.setUTCDate(day.getUTCDate() - (day.getUTCDay() + 6) % 7);
    return "week-" + day.toISOString().slice(0, 10);
  };
  const rows = [...document.querySelectorAll("#stream .row")];
  const plain = getComputedStyle(document.body).backgroundColor;
  return rows.filter((row) => row.id).map((first) => {
    location.hash = first.id;
    const marked = rows.filter((row) => !["rgba(0, 0, 0, 0)", plain].includes(getComputedStyle(row).backgroundColor));
    const expected = rows.filter((row) => monday(row) === first.id);
    return { week: first.id, lists: new Set(expected.map((row) => row.parentElement)).size,
      isRight: marked.length === expected.length && marked.every((row) => expected.includes(row)) };
  });
}"""
"""Which rows are marked at the address of each week, compared with the dates of all rows."""


def test_the_address_of_a_week_marks_its_rows_and_headings_count_what_is_shown(
    browser: Browser, address: str, sites: Path
) -> None:
    """Also where a month begins in it; months of positions and of decisions, and who owes whom, are counted anew."""
    page = browser.new_page()
    weeks = []
    for path in sorted(sites.glob("many/_site/positions/*/index.html")):
        page.goto(address + path.relative_to(sites).as_posix())
        weeks += page.evaluate(MARKED)
    assert {1, 2} <= {week["lists"] for week in weeks}
    assert [week["week"] for week in weeks if not week["isRight"]] == []
    counted = """() => [...document.querySelectorAll("#stream h3:not([hidden])")].map((head) =>
      [Number(head.querySelector(".total").textContent),
       [...head.nextElementSibling.querySelectorAll(".row")].filter((row) => !row.hidden).length])"""
    before = page.evaluate(counted)
    page.select_option("#way", "sent")
    after = page.evaluate(counted)
    assert after != before and all(said == seen > 0 for said, seen in (*before, *after))
    page.select_option("#way", "")
    assert page.evaluate(counted) == before
    page.close()
    page = browser.new_page(viewport={"width": 390, "height": 800})
    counted = """() => [...document.querySelectorAll("[data-rows]:not([hidden])")].flatMap((section) => {
      const total = section.querySelector("h2 > .total");
      return total ? [[Number(total.textContent), section.querySelectorAll(".row:not([hidden])").length]] : []; })"""
    page.goto(f"{address}site/_site/decisions/index.html")
    before = page.evaluate(counted)
    page.fill("#filter", page.locator(".row .subject").first.inner_text())
    after = page.evaluate(counted)
    assert before != after and all(said == seen for said, seen in (*before, *after))
    page.fill("#filter", "")
    assert page.evaluate(counted) == before
    page.goto(f"{address}many/_site/actions/index.html")
    rows = page.locator(".owed tbody tr:visible")
    every = rows.count()
    assert page.locator(".owed tbody td:visible > a[href*='memos/']").count() == every > 0  # also on a narrow screen
    name = rows.first.locator("th").inner_text()
    page.fill("#filter", name)
    assert 0 < rows.count() < every and all(name in one for one in rows.all_inner_texts())
    page.close()


def _role(node: dict[str, object]) -> str:
    role = node.get("role")
    return str(role["value"]) if isinstance(role, dict) else ""


def _below(nodes: dict[str, dict[str, object]], node: dict[str, object]) -> Iterator[dict[str, object]]:
    """What a screen reader can reach below a node."""
    ids = node.get("childIds")
    for id_ in ids if isinstance(ids, list) else []:
        if id_ in nodes:
            if not nodes[id_]["ignored"]:
                yield nodes[id_]
            yield from _below(nodes, nodes[id_])
