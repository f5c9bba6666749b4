"""Kinds of pages that the example has none of, in a real browser: withheld, captures, other systems, long pages.

Each kind of page is known to axe either here or in `test_browser.py`; here, too, is what each page loads, and what a
screen reader is told of pictures.
"""

import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Response

from benchmarks.as_memodef import write_site
from benchmarks.organization import artifacts
from tests.support.browsers import open_chromium
from tests.support.files import ROOT
from tests.support.golden_sites import DREDGE, build_golden, build_withheld
from tests.support.servers import serve_folder
from tests.support.sites import build_site

TOOLS = ROOT / "tests" / "browser" / "node_modules"
AXE = """axe.run({ preload: false, rules: { "target-size": { enabled: true } } })
  .then((result) => result.violations)"""
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


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the golden site, the same with a memo withheld, and a generated organization."""
    folder = tmp_path_factory.mktemp("kinds")
    build_withheld(build_golden(folder / "site"))
    write_site(folder / "many", islice(artifacts(600, seed=1), 600), with_git=True)
    build_site(folder / "many")
    return folder


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with open_chromium() as found:
        yield found


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1440, "dark")])
def test_axe_finds_nothing_on_rare_and_on_long_pages(
    browser: Browser, address: str, pages: tuple[str, ...], width: int, theme: str
) -> None:
    """All rules, headings that skip a level among them; and no page is wider than its window."""
    rules = (TOOLS / "axe-core" / "axe.min.js").read_text()
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 800})  # type: ignore[arg-type] # as parametrized
    page = context.new_page()
    found: list[tuple[str, str, str]] = []
    for path in pages:
        page.goto(address + path)
        page.wait_for_function("() => !document.querySelector('.in-pieces')")  # what is not laid out has no size yet
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        page.evaluate(rules)
        found += [(path, rule["id"], node["html"]) for rule in page.evaluate(AXE) for node in rule["nodes"]]
    context.close()
    assert found == []


def test_the_nu_html_checker_finds_no_error_in_rare_pages(sites: Path) -> None:
    """Withheld and redirected pages, captures and records of all systems."""
    jar = TOOLS / "vnu-jar" / "build" / "dist" / "vnu.jar"
    command = ["java", "-jar", str(jar), "--errors-only", "--skip-non-html", "--format", "gnu"]
    checked = subprocess.run(
        [*command, str(sites / "site/_site"), str(sites / "withheld/_site")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (checked.stderr, checked.returncode) == ("", 0)


def test_a_page_loads_less_than_60_kb_of_style_and_script(
    browser: Browser, address: str, pages: tuple[str, ...]
) -> None:
    """As they are, not compressed; of search 110 kB."""
    page = browser.new_page()
    loaded: list[Response] = []
    page.on("response", lambda response: loaded.append(response))  # noqa: PLW0108 # it keeps a mark on what it is given
    for path in (*pages, "many/_site/search/index.html?q=the", "site/_site/404.html"):
        loaded.clear()
        page.goto(address + path, wait_until="networkidle")
        sizes = {
            response.url: len(response.body())
            for response in loaded
            if response.ok and response.request.resource_type in {"script", "stylesheet"} and "/static/" in response.url
        }
        assert sum(sizes.values()) < (110_000 if "/search/" in path else 60_000), (path, sizes)
    page.close()


def test_a_screen_reader_hears_the_name_of_a_picture_and_its_table(
    browser: Browser, address: str, pages: tuple[str, ...]
) -> None:
    """In Chromium's accessibility tree: a figure with its caption as name, a table below; nothing of the drawing."""
    page = browser.new_page()
    session = page.context.new_cdp_session(page)
    seen = 0
    for path in pages:
        page.goto(address + path)
        page.evaluate("document.querySelectorAll('figure details').forEach((one) => { one.open = true; })")
        if not page.locator("figure").count():
            continue
        nodes = {node["nodeId"]: node for node in session.send("Accessibility.getFullAXTree")["nodes"]}
        for figure in [node for node in nodes.values() if _role(node) == "figure" and not node["ignored"]]:
            below = list(_below(nodes, figure))
            assert figure["name"]["value"].strip(), path
            assert sum(_role(node) == "table" for node in below) == 1, path
            assert not [_role(node) for node in below if _role(node).startswith(("Svg", "graphics", "img", "image"))], (
                path
            )
            seen += 1
    page.close()
    assert seen > 5


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


def test_the_address_of_a_week_marks_all_of_its_rows(browser: Browser, address: str, sites: Path) -> None:
    """Also where a month begins in it; a filter counts anew what each month has."""
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


def test_headings_of_a_filtered_page_count_what_is_shown(browser: Browser, address: str) -> None:
    """Months of decisions said how many they have in all; the table of who owes whom kept all rows."""
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
