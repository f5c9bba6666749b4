"""The built example organization in a real browser: Chromium, over http and from disk.

`scripts/set-up dev` installs what this needs: Chromium, Node.js with the packages of tests/browser, Java and w3m.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from lxml import html
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route

from tests.support.browsers import COLOURS, check_html, violations
from tests.support.files import ROOT
from tests.support.servers import Handler, serve_folder
from tests.support.sites import shared_site

KINDS = {
    "home": "index.html",
    "organization": "org/index.html",
    "position": "positions/catalogue-engineer/index.html",
    "memo": "memos/2026-04-21-0900--strategist--catalogue-engineer--cutover-weekend-plan/index.html",
    "broadcast": "memos/2026-04-22-1000--director--all--closed-for-the-changeover-25-to-27-april/index.html",
    "note": "notes/2026-03-20-1745--catalogue-engineer--file--what-the-export-hides/index.html",
    "thread": "threads/trial-loads-2026-04/index.html",
    "thread to all": "threads/2026-04-22-1000--director--all--closed-for-the-changeover-25-to-27-april/index.html",
    "transcript": "transcripts/2026-04-14-0922--local-history-archivist--albums-and-the-trial-load/index.html",
    "record": "records/memory-store/website.decision.pickup-window-seven-open-days/index.html",
    "document": "documents/catalogue.docs.adr.0001-merge-on-isbn-and-edition.md/index.html",
    "library": "libraries/fernhill-memo-templates/index.html",
    "decisions": "decisions/index.html",
    "decisions in force": "decisions/in-force/index.html",
    "systems": "systems/index.html",
    "system": "systems/memory-store/index.html",
    "entities": "entities/index.html",
    "actions": "actions/index.html",
    "answered actions": "actions/answered/index.html",
    "actions of a position": "positions/catalogue-engineer/actions/index.html",
    "citations": "citations/index.html",
    "digests": "digests/index.html",
    "digest": "digests/2026-03-06/index.html",
    "week": "weeks/2026-W17/index.html",
    "weeks": "weeks/index.html",
    "timeline": "timeline/index.html",
    "month": "timeline/2026/04/index.html",
    "health": "health/index.html",
    "changes": "memos/2026-04-29-1045--archivist--strategist--gazette-microfilm-hours/changes/index.html",
    "gone": "memos/2026-03-17-1105--front-desk--web-engineer--keys-of-the-side-door/index.html",
    "ghost": "memos/2026-03-30-1200--county-network--catalogue-engineer--union-catalogue-cutoff/index.html",
    "search": "search/index.html",
    "feeds": "feeds/index.html",
    "contract": "spec/index.html",
    "contract of feeds": "spec/feeds/index.html",
    "not found": "404.html",
}
"""A page of each kind."""
ALIKE = {"broadcast", "thread to all", "decisions in force", "system", "answered actions", "contract of feeds"}
"""Kinds with template and scripts of another one."""
Theme = Literal["light", "dark"]

TOPS = """() => [...document.querySelectorAll("header, h1, h2, h3, p, form, details, li, tr, footer")]
  .filter((place) => place.checkVisibility())
  .map((place) => Math.round(place.getBoundingClientRect().top))"""
"""Where the parts of a page are."""

TOPS_IN_VIEW = f"() => ({TOPS})().filter((top) => top > 0 && top < innerHeight)"
"""Of a transcript, what is out of view is laid out later (`test_pieces.py`)."""

LAYOUT_SHIFT = """() => new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().map((entry) => entry.value)))
    .observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve([]))));
})"""


@pytest.fixture(scope="module")
def site() -> Path:
    """The example organization with its history, built."""
    script = ROOT / "scripts" / "example-repos"
    return shared_site("repos", lambda folder: subprocess.run([sys.executable, script, folder], check=True))


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that nobody has used before, on a system that likes it light."""
    found = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light", locale="en-GB")
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page of it."""
    return context.new_page()


@pytest.fixture
def phone(page: Page) -> Page:
    """A page on a phone."""
    page.set_viewport_size({"width": 390, "height": 800})
    return page


def shown_theme(page: Page) -> str:
    """Whether a page is light or dark, by the colour of its paper."""
    colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return "dark" if colour == "rgb(21, 23, 26)" else "light"


class Silent:
    """A page that holds every page it goes to to silence, and to few requests, all of its own site."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.page, self.base = context.new_page(), base
        self.said: list[str] = []
        self.requests: list[Request] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request))  # noqa: PLW0108 # it keeps a mark on it

    def go(self, path: str) -> None:
        """Load a page: no message on the console, a violated policy among them; no request that leaves the site.

        At most seven of its own: what a few kinds of pages need is in files by itself, such as pictures and filters.
        """
        self.requests.clear()
        self.page.goto(self.base + path, wait_until="networkidle" if path == KINDS["home"] else "load")
        apart = ("/search", "/icon.svg")  # search, and what a browser asks for once, for its tabs
        own = [request.url for request in self.requests if not any(one in request.url for one in apart)]
        assert len(own) - 1 <= 7, (path, own)
        addresses = [request.url for request in self.requests]
        assert all(address.startswith((self.base, "data:")) for address in addresses), addresses
        assert self.said == [], path


def shifts(silent: Silent, path: str) -> list[float]:
    """What shifts when a page is loaded: each time, not once.

    On a busy machine Chromium paints a page of which it has read a part, and a table gets its widths with its last row.
    """
    found: list[float] = []
    for _ in range(3):
        silent.go(path)
        found = silent.page.evaluate(LAYOUT_SHIFT)
        if not found:
            break
    return found


def test_a_page_that_arrives_in_pieces_keeps_its_head_where_it_is(browser: Browser, site: Path) -> None:
    """What every page begins with is painted before the rest of it is there: its name, its search, its switch."""
    style = (site / "static/memosite.css").read_text(encoding="utf-8")
    head = (site / "index.html").read_text(encoding="utf-8").partition('<header class="site">')[2]
    ends = [head.index(end) for end in ("<button", "<nav", "</nav>")]
    for width in (390, 1280):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.set_content(f"<!doctype html><html data-theme=light><style>{style}</style><body></body></html>")
        places = []
        for end in ends:
            page.evaluate("(html) => { document.body.innerHTML = html }", '<header class="site">' + head[:end])
            places.append(page.evaluate("JSON.stringify(document.querySelector('.find').getBoundingClientRect())"))
        page.close()
        assert len(set(places)) == 1, (width, places)


@pytest.mark.parametrize(("width", "theme", "other"), [(360, "light", "dark"), (1280, "dark", "light")])
def test_a_page_of_each_kind_is_silent_still_and_accessible(
    browser: Browser, server: str, width: int, theme: Theme, other: Theme
) -> None:
    """No message, no layout shift on load, nothing wider than the window, nothing that axe finds (WCAG 2.2 AA).

    All rules on a phone; of each template once all rules on a wide screen, and those on colours in both themes.
    """
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, locale="en-GB")
    silent, found = Silent(context, server), []
    page = silent.page
    for name, path in KINDS.items():
        assert shifts(silent, path) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        found += violations(page) if width == 360 or name not in ALIKE else []
        if name not in ALIKE:
            page.emulate_media(color_scheme=other)
            found += violations(page, only=COLOURS)
            page.emulate_media(color_scheme=theme)
    context.close()
    assert found == []


def test_pages_are_silent_from_disk(context: BrowserContext, site: Path) -> None:
    """Also there; but the page for missing addresses, whose links start from the top of a server."""
    silent = Silent(context, f"{site.as_uri()}/")
    for name, path in KINDS.items():
        if name != "not found":
            silent.go(path)


def test_what_narrows_a_search_has_room_beside_its_answer_and_pushes_nothing_down(page: Page, server: str) -> None:
    """No word of it is broken, the page is not wider than the window; it comes after the answers into its place."""
    for width in (390, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(server + "search/index.html?q=hold")
        page.locator("#_facets h2").first.wait_for()
        boxes = [head.bounding_box() for head in page.locator("#_facets h2").all()]
        assert all(box and box["height"] < 40 for box in boxes)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        hit = page.locator("#_hits > li").first
        top = hit.evaluate("(hit) => hit.getBoundingClientRect().top")
        page.locator("#_facets").evaluate("(facets) => facets.replaceChildren()")
        assert hit.evaluate("(hit) => hit.getBoundingClientRect().top") == top
        label, order = page.locator("label[for=_order]").bounding_box(), page.locator("#_order").bounding_box()
        assert label and order
        middle = label["y"] + label["height"] / 2, order["y"] + order["height"] / 2
        assert abs(middle[0] - middle[1]) < 8, "they are in one line"


def test_the_navigation_takes_two_lines_on_a_phone(phone: Page, server: str) -> None:
    """With all that a site may have; each entry can be touched."""
    phone.goto(server + KINDS["home"])
    boxes = phone.locator("header.site li a").evaluate_all("all => all.map((one) => one.getBoundingClientRect())")
    assert len(boxes) == 8 and len({round(box["top"]) for box in boxes}) == 2
    assert all(box["height"] >= 24 for box in boxes)


def test_names_dates_and_who_has_not_answered_are_seen_on_a_phone(phone: Page, server: str) -> None:
    """Names beside the picture of activity end in an ellipsis; dates of positions are whole; no table is scrolled."""
    phone.goto(server + KINDS["thread to all"])
    phone.locator(".parties > summary").click()
    assert phone.locator(".took-part th").last.is_visible()
    assert phone.locator(".scroll:has(.took-part)").evaluate("(part) => part.scrollWidth <= part.clientWidth")
    phone.goto(server + KINDS["home"])
    names = phone.locator(".picture .named")
    assert names.count() > 4
    assert names.first.evaluate("(name) => getComputedStyle(name).textOverflow") == "ellipsis"
    phone.goto(server + KINDS["organization"])
    dates = phone.locator(".glance td:has(time):visible")
    assert dates.count() > 4
    assert all(cell.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth") for cell in dates.all())


@pytest.mark.parametrize("width", [360, 1280])
def test_scripts_that_come_late_move_nothing(page: Page, server: str, width: int) -> None:
    """All parts of a page are where they were when it was first painted; Chromium itself counts no such shift."""
    page.set_viewport_size({"width": width, "height": 800})
    held: list[Route] = []
    painted: set[str] = set()

    def hold(route: Route) -> None:
        if page.url in painted:  # what late scripts load in turn
            route.continue_()
        else:
            held.append(route)

    page.route("**/static/*.js", hold)
    for name, path in KINDS.items():
        if name in ALIKE:
            continue
        page.goto(server + path, wait_until="commit")
        page.wait_for_function(
            "() => performance.getEntriesByType('paint').length && document.readyState !== 'loading'"
        )
        places = TOPS_IN_VIEW if name == "transcript" else TOPS
        before = page.evaluate(places)
        painted.add(page.url)
        while held:
            held.pop().continue_()
        page.wait_for_load_state("load")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert page.evaluate(places) == before, name


def test_what_every_page_does_waits_for_no_script_of_its_own(context: BrowserContext, site: Path) -> None:
    """While the script of boards is on its way, the common one is ready: the theme can be switched."""
    started, switched = threading.Event(), threading.Event()

    class Slow(Handler):
        """Sends the end of the page when the common script runs, and the page's own when the theme is switched."""

        def do_GET(self) -> None:  # noqa: N802 # the name is given
            if self.path.endswith("board.js"):
                switched.wait(30)
            if not self.path.endswith("actions/index.html"):
                super().do_GET()
                return
            page = (site / KINDS["actions"]).read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page[:-100])
            self.wfile.flush()
            started.wait(30)
            self.wfile.write(page[-100:])

    with serve_folder(site, Slow) as address:
        page = context.new_page()
        try:
            page.goto(address + KINDS["actions"], wait_until="commit")
            page.wait_for_function("() => document.documentElement.dataset.theme === ''")
            assert page.evaluate("document.readyState") == "loading"
            started.set()
            page.wait_for_function("() => document.readyState === 'interactive'")
            page.get_by_role("button", name="Dark theme").click()
            assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        finally:
            started.set()
            switched.set()


def test_a_chosen_theme_is_kept_over_pages_until_it_is_the_systems_own(page: Page, base: str) -> None:
    """The switch is remembered, also by a page that the browser kept; switching back leaves it to the system."""
    page.goto(base + KINDS["home"])
    assert shown_theme(page) == "light"
    page.get_by_role("button", name="Dark theme").click()
    assert shown_theme(page) == "dark"
    page.get_by_role("link", name="Timeline").click()
    page.wait_for_url("**/timeline/index.html")
    assert shown_theme(page) == "dark"
    assert page.get_by_role("button", name="Dark theme").get_attribute("aria-pressed") == "true"
    page.goto(base + KINDS["memo"])
    assert shown_theme(page) == "dark"
    page.get_by_role("button", name="Dark theme").click()
    assert shown_theme(page) == "light"
    page.emulate_media(color_scheme="dark")
    page.goto(base + KINDS["home"])
    assert shown_theme(page) == "dark"
    page.emulate_media(color_scheme="light")
    page.goto(base + KINDS["timeline"])
    page.get_by_role("button", name="Dark theme").click()
    page.go_back()
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")


def test_the_theme_is_chosen_without_waiting_for_the_style_sheet(page: Page, server: str) -> None:
    """Nothing is painted before the style sheet is there; by then the theme must be."""
    page.goto(server + KINDS["home"])
    page.get_by_role("button", name="Dark theme").click()
    held: list[Route] = []
    page.route("**/memosite.css", lambda route: held.append(route))  # noqa: PLW0108 # it keeps a mark on what it is given
    page.goto(server + KINDS["memo"], wait_until="commit")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'", polling=10)
    assert page.evaluate("performance.getEntriesByType('paint').length") == 0
    held.pop().continue_()
    page.wait_for_function("() => performance.getEntriesByType('paint').length")


def test_nothing_is_painted_in_the_other_theme_while_the_script_is_on_its_way(page: Page, server: str) -> None:
    """A late script finds an empty page; one that never comes does not keep the text from its reader."""
    page.goto(server + KINDS["home"])
    page.get_by_role("button", name="Dark theme").click()
    held: list[Route] = []
    page.route("**/memosite.js", lambda route: held.append(route))  # noqa: PLW0108 # as above
    page.add_init_script("""
      const look = () => {
        if (document.body && getComputedStyle(document.body).visibility === "hidden") window.wasHidden = true;
        requestAnimationFrame(look);
      };
      look();
    """)
    page.goto(server + KINDS["memo"], wait_until="commit")
    page.wait_for_function("() => window.wasHidden && getComputedStyle(document.body).visibility === 'visible'")
    assert page.evaluate("document.documentElement.dataset.theme") is None
    held.pop().continue_()
    page.wait_for_load_state("load")


def test_keys_go_from_entry_to_entry_through_a_thread_and_to_its_pages(page: Page, base: str) -> None:
    """`j` and `k` move the focus, and it can be seen; `n` and `p` lead to the memos before and after, `t` to all.

    With Control they belong to the browser.
    """
    page.goto(base + KINDS["month"])
    subjects = page.locator("main a.subject")
    page.keyboard.press("Control+j")
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.textContent")
    for key in "jjk":
        page.keyboard.press(key)
    assert [first, page.evaluate("document.activeElement.textContent")] == subjects.all_text_contents()[:2]
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.goto(base + KINDS["memo"])
    first = page.url
    for key, address in (("n", "**load-finished**"), ("p", first), ("t", "**/threads/**")):
        page.keyboard.press(key)
        page.wait_for_url(address)
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.querySelectorAll('.member')[1]")


def test_the_help_sheet_names_the_keys_of_this_page_and_a_week_is_in_view(page: Page, server: str) -> None:
    """`?` opens and closes it, other keys rest meanwhile; of a month's first week its heading is seen, too."""
    page.goto(server + KINDS["memo"])
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    assert {"j", "k", "n", "t", "?", "Esc"} <= set(sheet.locator("kbd").all_text_contents())
    page.keyboard.press("t")
    assert sheet.is_visible()
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    page.goto(server + KINDS["timeline"])
    page.get_by_role("button", name="Keyboard").click()
    assert "t" not in page.locator("dialog kbd").all_text_contents()
    page.goto(f"{server}positions/web-engineer/index.html#week-2026-05-18")
    head = "document.querySelector('header.site').getBoundingClientRect().bottom"
    month = "document.getElementById('2026-05').getBoundingClientRect().top"
    page.wait_for_function(f"() => {month} >= {head} && {month} < innerHeight / 2")
    assert page.locator(":target").evaluate("(row) => getComputedStyle(row).boxShadow") != "none"


def test_texts_and_tool_calls_fold_and_unfold_and_the_outline_follows_the_reader(page: Page, server: str) -> None:
    """All at once and one by one. The outline stays in view, and marks the words that were read last."""
    page.goto(server + KINDS["thread"])
    texts = page.locator(".member .fold")
    assert texts.count() > 2
    page.get_by_role("button", name="Collapse all").click()
    assert page.locator(".fold[open]").count() == 0 and not page.locator(".member .prose").first.is_visible()
    texts.first.locator("summary").click()
    assert page.locator(".fold[open]").count() == 1
    page.get_by_role("button", name="Expand all").click()
    assert page.locator(".fold[open]").count() == texts.count()
    page.goto(server + KINDS["transcript"])
    page.evaluate("document.querySelectorAll('.turn.person')[8].scrollIntoView()")
    page.wait_for_function("() => document.querySelectorAll('.outline a')[8].ariaCurrent === 'true'")
    assert page.locator(".outline [aria-current]").count() == 1
    box = page.locator(".outline a").nth(8).bounding_box()
    assert box and 0 <= box["y"] <= 800
    assert page.locator(".tool[open]").count() == 0
    assert page.locator("details.tool summary code").first.is_visible()
    page.get_by_role("button", name="Expand all tool calls").click()
    assert page.locator(".tool[open]").count() == page.locator("details.tool").count()


REPLACE = "threads/2026-03-02-1015--director--strategist--replace-stackmaster-before-summer/index.html"


def test_a_link_to_something_folded_opens_it(browser: Browser, base: str) -> None:
    """A memo, a place in its text, how a position is followed; with a script and without; others stay folded."""
    for has_script in (True, False):
        context = browser.new_context(java_script_enabled=has_script)
        page = context.new_page()
        page.goto(base + REPLACE)
        members = page.locator(".member")
        assert members.count() == 9
        closed = [not one.locator(".prose").last.is_visible() for one in members.all()]
        assert closed == [False, *[True] * 6, False, True], "the first and the newest are open"
        assert all(members.nth(place).locator(".preview").is_visible() for place in range(1, 7))
        member = str(members.nth(3).get_attribute("id"))
        inside = str(members.nth(1).locator(".prose [id]").first.get_attribute("id"))
        for anchor, place in ((member, 3), (inside, 1)):
            page.goto("about:blank")
            page.goto(f"{base}{REPLACE}#{anchor}")
            page.locator(f'[id="{anchor}"]').wait_for()
            assert members.nth(place).locator(".prose").last.is_visible()
            assert not members.nth(5).locator(".prose").last.is_visible()
            top = f"document.getElementById({json.dumps(anchor)}).getBoundingClientRect().top"
            page.wait_for_function(f"() => {top} >= -5 && {top} <= 600")  # it is in view
        page.goto(base + KINDS["position"])
        assert not page.locator("#_watch").is_visible()
        page.get_by_role("link", name="Follow this position").click()
        page.locator("#_watch").wait_for()
        page.goto("about:blank")
        page.goto(f"{base}{KINDS['position']}#follow")
        page.locator("#_watch").wait_for()
        context.close()


def test_what_came_since_the_last_visit_is_marked(page: Page, base: str) -> None:
    """Nothing at first; then what was not there, with words for those who do not see the mark."""
    page.goto(base + KINDS["home"])
    assert page.locator(".row.new").count() == 0
    page.evaluate("""() => {
      const key = Object.keys(localStorage).find((name) => name.startsWith("memosite-seen"));
      const visits = JSON.parse(localStorage.getItem(key));
      localStorage.setItem(key, JSON.stringify({ before: [], seen: visits.seen.slice(2), at: visits.at - 7200000 }));
    }""")
    page.reload()
    page.locator(".row.new").nth(1).wait_for()
    assert page.locator(".row.new").count() == 2
    assert "new since your last visit" in page.locator(".row.new").first.inner_text()
    assert "2 new since your last visit" in page.locator("#newest h2").inner_text()


def test_the_table_of_seats_is_sorted_by_any_column_and_dates_say_how_long_ago(page: Page, server: str) -> None:
    """The most first, then the least, those with nothing below; the absolute date stays: pages get saved."""
    page.goto(server + KINDS["home"])
    column = page.locator(".seats tbody td:nth-child(3)")
    page.get_by_role("button", name="Unread", exact=True).click()
    falling = [int(text.split()[0]) for text in column.all_inner_texts() if text.strip()]
    page.get_by_role("button", name="Unread", exact=True).click()
    rising = [int(text.split()[0]) for text in column.all_inner_texts() if text.strip()]
    assert falling == sorted(falling, reverse=True) and rising == falling[::-1]
    assert column.all_inner_texts()[-1].strip() == ""
    assert page.locator("th[aria-sort=ascending]").inner_text() == "Unread"
    page.goto(server + KINDS["memo"])
    page.clock.install()
    assert "2026-04-21 09:00 −04:00 · " in page.locator(".envelope").first.inner_text()
    assert page.locator(".envelope .ago").inner_text().endswith(" ago")


def test_home_tells_the_age_of_the_build_where_it_can(context: BrowserContext, site: Path, server: str) -> None:
    """Over http a line, which warns when the build is old; from disk nothing, and nothing on the console."""
    page = context.new_page()
    page.goto(server)
    page.wait_for_function("() => document.querySelector('.age').textContent.startsWith('Built 20')")
    status = json.loads((site / "status.json").read_text()) | {"built": "2026-05-01T06:00:00Z"}
    page.route("**/status.json", lambda route: route.fulfill(json=status))
    page.goto(server)
    page.wait_for_function("() => document.querySelector('.age.old')?.textContent.includes('Last built')")
    page.goto((site / "index.html").as_uri(), wait_until="networkidle")
    assert page.locator(".age").inner_text() == ""


def test_without_a_script_everything_is_there_and_nothing_that_does_nothing(browser: Browser, base: str) -> None:
    """All texts of a thread, the outline and the turns; no button that would need a script."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(base + KINDS["thread"])
    assert all(text.is_visible() for text in page.locator(".member .prose").all())
    page.goto(base + KINDS["transcript"])
    assert page.locator(".outline a").first.is_visible()
    assert not any(button.is_visible() for button in page.locator("button").all())
    context.close()


def test_the_nu_html_checker_finds_no_error(site: Path) -> None:
    """Every page of the site is valid HTML."""
    assert check_html(site) == ""


def test_what_the_script_decides_is_right() -> None:
    """Its own tests, without a browser."""
    checked = subprocess.run(
        ["node", "--test", ROOT / "tests/browser/memosite.test.mjs"], capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("kind", ["home", "memo", "thread", "transcript"])
def test_a_text_browser_shows_it_in_order(site: Path, kind: str) -> None:
    """In w3m the title comes before the texts, and the way to the rest of the site before both."""
    path = site / KINDS[kind]
    shown = subprocess.run(
        ["w3m", "-dump", "-cols", "100", str(path)], capture_output=True, text=True, timeout=600, check=True
    ).stdout
    title = html.parse(path).findtext(".//h1")
    words = " ".join(html.parse(path).xpath("string((//div[contains(@class, 'prose')]/p)[1])").split()[:3])
    assert title
    assert shown.index(title, shown.index("Organization")) < shown.rindex(words or "Newest")


def test_on_paper_nothing_is_cut_and_everything_is_black_on_white(page: Page, server: str) -> None:
    """A page printed in the dark theme is light, without navigation; folded memos are whole, without beginnings."""
    page.emulate_media(color_scheme="dark", media="print")
    page.goto(server + KINDS["memo"])
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.get_by_role("navigation", name="Site").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.goto(server + REPLACE)
    assert all(text.is_visible() for text in page.locator(".member .prose").all())
    assert not any(line.is_visible() for line in page.locator(".preview").all())
