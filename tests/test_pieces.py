"""Long transcripts are laid out in pieces, and nobody can tell: in Chromium, which does it, from a server."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.support.memos import write_transcript
from tests.support.servers import serve_folder
from tests.support.sites import build_site

TURNS = 60
NEVER_IDLE = "window.requestIdleCallback = () => 0"
"""A browser that is never idle leaves the page in pieces."""

WAITING = """() => [...document.querySelectorAll(".turn")]
  .filter((turn) => getComputedStyle(turn).contentVisibility === "auto").length"""
"""How many turns are laid out only when they are in view."""

TOPS = """() => [...document.querySelectorAll(".turn > *, footer.site")]
  .map((place) => Math.round(place.getBoundingClientRect().top + scrollY))"""
"""Where the parts of a page are."""

SEEN = """() => [...document.querySelectorAll(".turn[id]")]
  .map((turn) => [turn.id, Math.round(turn.getBoundingClientRect().top)]).find(([, top]) => top > 0)"""
"""The first turn that begins in view or below it, and where."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A transcript whose turns have from three lines to three hundred."""
    root = tmp_path_factory.mktemp("long")
    texts = ("There are 39 barges in the lock.\n\n" * (1 + turn * 37 % 60) for turn in range(TURNS))
    talk = "".join(f"## {'Assistant' if turn % 2 else 'User'}\n\n{text}" for turn, text in enumerate(texts))
    write_transcript(root / "transcripts/engineer", "barges", text=talk)
    with serve_folder(build_site(root)) as found:
        yield f"{found}transcripts/barges/index.html"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that nobody has used before."""
    found = browser.new_context(viewport={"width": 1280, "height": 800})
    yield found
    found.close()


@pytest.fixture
def busy(context: BrowserContext, address: str) -> Page:
    """The transcript in a browser that is never idle."""
    page = context.new_page()
    page.add_init_script(NEVER_IDLE)
    page.goto(address)
    assert page.evaluate(WAITING) == TURNS
    return page


def whole(page: Page) -> None:
    """Wait until all of the page is laid out."""
    page.wait_for_function("() => !document.documentElement.matches('.in-pieces')")
    assert page.evaluate(WAITING) == 0


def test_soon_everything_is_where_it_is_on_a_page_laid_out_at_once(context: BrowserContext, address: str) -> None:
    """Without anything of it left."""
    page = context.new_page()
    page.goto(address)
    whole(page)
    assert page.evaluate("() => document.documentElement.className") == ""
    tops = page.evaluate(TOPS)
    page.goto("about:blank")
    page.goto(f"{address}#t1")
    assert page.evaluate(WAITING) == 0 and page.evaluate(TOPS) == tops


@pytest.mark.parametrize("fragment", ["#t40", "#:~:text=39%20barges"])
def test_an_address_of_a_place_has_its_page_laid_out_at_once(
    context: BrowserContext, address: str, fragment: str
) -> None:
    """Also of a passage, which scripts do not see."""
    page = context.new_page()
    page.add_init_script(NEVER_IDLE)
    page.goto(address + fragment)
    assert page.evaluate(WAITING) == 0


@pytest.mark.parametrize("is_busy", [True, False], ids=["in pieces", "whole"])
@pytest.mark.parametrize("down", [700, 9_000])
def test_the_place_of_a_reader_is_kept_by_reload_and_by_going_back(
    context: BrowserContext, address: str, down: int, *, is_busy: bool
) -> None:
    """Whether all was laid out or not when they went to it."""
    page = context.new_page()
    if is_busy:
        page.add_init_script(NEVER_IDLE)
    page.goto(address)
    if not is_busy:
        whole(page)
    page.mouse.move(400, 400)
    page.mouse.wheel(0, down)
    page.wait_for_function(f"() => scrollY > {down} - 100")
    whole(page)
    page.wait_for_timeout(100)
    seen = page.evaluate(SEEN)
    page.reload()
    page.wait_for_function("() => scrollY > 0")
    assert page.evaluate(SEEN) == seen
    page.goto("about:blank")
    page.go_back()
    page.wait_for_function("() => scrollY > 0")
    assert page.evaluate(SEEN) == seen


@pytest.mark.parametrize("is_clicked", [True, False], ids=["in the outline", "by a script"])
def test_a_link_to_a_turn_leads_there_while_the_page_is_in_pieces(busy: Page, *, is_clicked: bool) -> None:
    """The first touch lays out everything; also where nobody touched the page."""
    if is_clicked:
        busy.locator(".outline a[href='#t41']").click()
    else:
        busy.evaluate("() => { location.hash = '#t41'; }")
    whole(busy)
    top = "document.getElementById('t41').getBoundingClientRect().top"
    busy.wait_for_function(f"() => {top} >= 50 && {top} <= 90")


def test_nothing_moves_before_a_reader_who_has_jumped(busy: Page) -> None:
    """The turn that they came to stays where it is, when what is above it is laid out."""
    scrolled, number, top = busy.evaluate("""() => {
      scrollTo(0, 20_000);
      const tops = [...document.querySelectorAll(".turn")].map((turn) => Math.round(turn.getBoundingClientRect().top));
      const number = tops.findLastIndex((top) => top <= 0);
      return [scrollY, number, tops[number]];
    }""")
    whole(busy)
    busy.wait_for_timeout(100)
    assert busy.evaluate("() => scrollY") != scrolled, "the turns above are not as long as was thought"
    found = busy.locator(".turn").nth(number).evaluate("(turn) => turn.getBoundingClientRect().top")
    assert abs(found - top) <= 1


def test_the_end_is_reached_by_its_key(busy: Page) -> None:
    """A key lays out everything first."""
    busy.keyboard.press("End")
    whole(busy)
    busy.wait_for_function("() => Math.abs(scrollY + innerHeight - document.documentElement.scrollHeight) < 2")


def test_all_of_it_is_printed(busy: Page) -> None:
    """On as many sheets as of a page that was laid out at once."""
    sheets = busy.pdf().count(b"/Type /Page\n")
    busy.reload()
    assert busy.evaluate(WAITING) == 0 and sheets == busy.pdf().count(b"/Type /Page\n") > 10


def test_without_a_script_all_is_laid_out_at_once(browser: Browser, address: str) -> None:
    """Nothing would lay out the rest."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.evaluate(WAITING) == 0
    context.close()
