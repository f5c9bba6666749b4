"""The search page in a real browser, from disk and over http, under the content security policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from memosite.cli import main
from tests.support.chromium import Browser, chromium
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.servers import Handler, SendingParts, serve_folder
from tests.support.sites import build_site

HITS = "[...document.querySelectorAll('#_hits a')].map((link) => link.textContent)"
STATUS = "document.getElementById('_status').textContent"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site with memos, a note and a transcript; one memo is hostile."""
    root = tmp_path_factory.mktemp("org")
    folder = root / "memos/inbox"
    write_memo(folder, "2026-01-01-0900--engineer--director--tides", subject="Tide tables", body="The tide is high.")
    write_memo(folder, "2026-02-01-0900--director--engineer--ebb", sender="director", to="engineer", subject="Ebb",
               body="No tide for once, but ebb.", sent="2026-02-01T09:00:00Z")  # fmt: skip
    write_memo(folder, "évil <img src=x onerror=alert(1)>", subject="<img src=x onerror=alert(1)>", body="<b>ferry</b>")
    tool = "> **🔧 Bash**\n> ```\n> anemometer --now\n> ```"
    turns = f"## User\n\nWhen is high water?\n\n## Assistant\n\nThe lighthouse knows.\n\n{tool}\n"
    write_transcript(root / "transcripts/engineer", "talk", text=turns, subject="A talk")
    return build_site(root)


@contextmanager
def addressed(site: Path, how: str) -> Iterator[str]:
    """A site's address: on disk, or served below a prefix, with parts of files or without."""
    if how == "file":
        yield site.as_uri()
        return
    with serve_folder(site.parent, SendingParts if how == "parts" else Handler) as folder:
        yield f"{folder}{site.name}"


@pytest.fixture(params=["file", "parts"])
def address(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    """The site's address: from disk, and on a server that sends parts; one that does not, has the demonstration."""
    with addressed(site, request.param) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with chromium() as found:
        yield found


def test_words_are_found_as_they_are_typed_and_a_hit_opens_at_its_turn(address: str, browser: Browser) -> None:
    """The query is in the address; going back shows the answer again; a subject counts most where the best is asked."""
    browser.complaints.clear()
    browser.open(f"{address}/search/index.html")
    browser.wait_for("document.activeElement?.id === '_query'")
    browser.type("tide")
    said = "2 results, with words that begin with “tide”"
    assert browser.wait_for(f"{STATUS} === '{said}' && {HITS}") == ["Tide tables", "Ebb"]
    marked = browser.value("[...document.querySelectorAll('mark')].map((mark) => mark.textContent)")
    assert marked == ["Tide", "tide", "tide"]
    assert "q=tide" in browser.value("location.href")
    browser.press("ArrowDown")
    browser.press("Enter")
    browser.wait_for("document.querySelector('h1')?.textContent === 'Tide tables'")
    browser.go(-1)
    assert browser.wait_for(f"location.href.includes('/search/') && {HITS}.length && {HITS}") == ["Tide tables", "Ebb"]
    assert browser.complaints == []
    browser.open(f"{address}/search/index.html?q=lighthouse")
    browser.wait_for(f"{STATUS} === '1 result'")
    href = browser.value("document.querySelector('#_hits a').getAttribute('href')")
    assert href.endswith("#t2:~:text=The%20lighthouse%20knows."), "the words are named, too"
    browser.value("document.querySelector('#_hits a').click()")
    browser.wait_for("location.hash === '#t2' && document.querySelector('#t2') !== null")
    browser.open(f"{address}/search/index.html?q=tide")
    assert browser.wait_for(f"{STATUS} === '2 results' && {HITS}") == ["Tide tables", "Ebb"]
    browser.value("document.getElementById('_order').value = 'best'")
    browser.value("document.getElementById('_order').dispatchEvent(new Event('change'))")
    browser.wait_for("location.search === '?q=tide&order=best'")
    browser.open(f"{address}/search/index.html?q=ebb+OR+high&order=best")
    assert browser.wait_for(f"{STATUS} === '3 results' && {HITS}")[0] == "Ebb"
    assert browser.value("document.getElementById('_order').value") == "best"


def test_a_word_finds_its_plural_and_while_it_is_typed_what_begins_so_and_the_page_says_which(
    tmp_path: Path, browser: Browser
) -> None:
    """Entered, it is whole again, unless nothing has it; a date that is counted back from is named."""
    for day, subject in enumerate(("Barcode of the van", "Barcodes", "Barcoding", "The van"), 1):
        sent = f"2026-03-0{day}T09:00:00Z"
        write_memo(tmp_path / "memos/inbox", f"2026-03-0{day}--a", subject=subject, body="It came.", sent=sent)
    page = f"{build_site(tmp_path).as_uri()}/search/index.html"
    marks = "[...document.querySelectorAll('#_hits a mark')].map((one) => one.textContent)"
    for query, said, hits in (
        ("barcode", "2 results", ["Barcodes", "Barcode of the van"]),
        ("%22barcode%22", "1 result", ["Barcode of the van"]),
        ("barco", "3 results, with words that begin with “barco”", ["Barcoding", "Barcodes", "Barcode of the van"]),
        ("van+barco", "1 result, with words that begin with “barco”", ["Barcode of the van"]),
        ("barcodes*", "1 result", ["Barcodes"]),
        ("after:2d", "3 results. Counted back from 2026-03-04, the newest date of the archive.",
         ["The van", "Barcoding", "Barcodes"]),
    ):  # fmt: skip
        browser.open(f"{page}?q={query}")
        assert browser.wait_for(f"{STATUS} === '{said}' && {HITS}") == hits, query
        assert bool(browser.value(marks)) == (query != "after:2d")
    write_memo(tmp_path / "memos/inbox", "2026-03-05--a", subject="Barcod", body="So.", sent="2026-03-05T09:00:00Z")
    build_site(tmp_path)
    browser.open(f"{page}?q=barcod")
    browser.wait_for(f"{STATUS} === '1 result. 3 more with longer words: barcod*' && {HITS}.length === 1")
    browser.value("document.querySelector('#_status a').click()")
    browser.wait_for(f"document.getElementById('_query').value === 'barcod*' && {STATUS} === '4 results'")


def test_every_page_has_a_search_box_facets_narrow_and_what_could_be_sought_is_offered(
    address: str, browser: Browser
) -> None:
    """By Enter, a form without its script; faults with their place; similar and fewer words, tools: as queries."""
    for page in ("index.html", "timeline/2026/02/index.html", "health/index.html"):
        browser.open(f"{address}/{page}")
        browser.press("/")
        browser.wait_for("document.activeElement?.name === 'q'")
        browser.complaints.clear()  # the server of the test before may have ended while it was asked
        browser.type("ebb")
        browser.press("Enter")
        browser.wait_for(f"location.href.endsWith('/search/index.html?q=ebb') && {STATUS} === '1 result'")
        assert browser.value("document.querySelectorAll('input[type=search]').length") == 1
        assert browser.complaints == []
    browser.open(f"{address}/search/index.html?q=kind:memo")
    browser.wait_for("document.querySelectorAll('#_facets a').length")
    facets = "[...document.querySelectorAll('#_facets li')].map((item) => item.textContent)"
    assert {"memo 3", "memodef 3", "director 3", "engineer 3", "2026 3"} <= set(browser.value(facets))
    month = "[...document.querySelectorAll('#_facets a')].find((link) => link.textContent === '2026')"
    browser.value(f"{month}.click()")
    browser.wait_for("document.getElementById('_query').value === 'kind:memo sent:2026'")
    browser.wait_for(f"{month}?.getAttribute('aria-current') === 'true'")
    browser.go(-1)
    browser.wait_for("document.getElementById('_query').value === 'kind:memo'")
    browser.go(1)
    browser.wait_for("document.getElementById('_query').value === 'kind:memo sent:2026'")
    browser.wait_for(f"{STATUS} === '3 results'")
    offered = "[...document.querySelectorAll('#_status a')].map((link) => link.textContent)"
    browser.open(f"{address}/search/index.html?q=nosuchword")
    browser.wait_for(f"{STATUS}.startsWith('No results. Try a shorter word, or how it begins')")
    for query, words, links in (
        ("foo:bar", "There is no filter foo:, so it was searched as text; filters are subject:, from:", None),
        ("from:nobody", "Nobody in the archive is called nobody.", ["../org/index.html"]),
        ("from:directr", "Nobody in the archive is called directr. with:director",
         ["?q=with%3Adirector", "../org/index.html"]),
        ("kind:decision", "decisions have pages of their own", ["../decisions/index.html"]),
    ):  # fmt: skip
        browser.open(f"{address}/search/index.html?q={query}")
        browser.wait_for(f"{STATUS}.includes('{words}')")
        found = browser.value("[...document.querySelectorAll('#_status a')].map((one) => one.getAttribute('href'))")
        assert links is None or found == links, query
        assert browser.value("document.getElementById('_order').value") == "newest", "no results have no order"
    browser.open(f"{address}/search/index.html?q=(tide")
    said = browser.wait_for(f"{STATUS}.includes('never closed') && {STATUS}")
    assert said.splitlines()[1:3] == ["(tide", "^"]
    for query, instead in (
        ("lighthuose", "lighthouse"), ("ebb+nosuchword", "ebb"), ("anemometer", "in:tools anemometer"),
        ("anemometer+OR+x9", "in:tools (anemometer OR x9)"), ("in:text+anemometer", "in:text"),
    ):  # fmt: skip
        browser.open(f"{address}/search/index.html?q={query}")
        assert browser.wait_for(f"{offered}.length && {offered}")[0] == instead and browser.value(HITS) == []
        if instead not in {"ebb", "in:text"}:
            browser.value("document.querySelector('#_status a').click()")
            browser.wait_for(f"document.getElementById('_query').value === '{instead}' && {STATUS} === '1 result'")


@pytest.fixture(params=[390, 1280])
def width(request: pytest.FixtureRequest, browser: Browser) -> Iterator[int]:
    """The width of the window, of a phone or wide."""
    width: int = request.param
    browser.send("Emulation.setDeviceMetricsOverride", width=width, height=700, deviceScaleFactor=1, mobile=False)
    yield width
    browser.send("Emulation.clearDeviceMetricsOverride")


def test_the_search_box_stays_in_view_and_hides_no_target(width: int, example_site: Path, browser: Browser) -> None:
    """On a phone the first row of the head, else all of it; what an address names is below it."""
    page = next((example_site / "transcripts").glob("*/index.html"))
    browser.open(f"{page.as_uri()}#t5")
    browser.wait_for("scrollY > 500")
    box, target = (f"document.querySelector('{one}').getBoundingClientRect()" for one in (".find", "#t5"))
    assert browser.value(f"{box}.top >= 0 && {box}.bottom <= {target}.top")
    assert browser.value("document.documentElement.scrollWidth") <= width


@pytest.mark.usefixtures("width")
def test_words_that_the_outline_has_too_lead_to_their_turn(example_site: Path, browser: Browser) -> None:
    """The browser marks those of the outline, which are first, and stays there."""
    page = next((example_site / "transcripts").glob("*/index.html"))
    browser.open(page.as_uri())
    last = "[...document.querySelectorAll('.outline a[href^=\"#t\"]')].at(-1)"
    anchor = browser.value(f"{last}.hash")
    words = " ".join(browser.value(f"{last}.closest('li, p, div').textContent").split()[-7:-2])
    assert words in browser.value(f"document.querySelector('{anchor}').textContent")
    browser.open((example_site / "index.html").as_uri())
    browser.open(f"{page.as_uri()}{anchor}:~:text={quote(words)}")
    box = f"document.querySelector('{anchor}').getBoundingClientRect()"
    browser.wait_for(f"scrollY > 500 && {box}.top < 700 && {box}.bottom > 0")
    assert browser.value("document.querySelector(':target').id") == anchor[1:]
    query = quote(f'"{words}"')
    with serve_folder(example_site) as server:
        browser.open(f"{server}search/index.html?q={query}")
        browser.wait_for("document.querySelectorAll('#_hits a').length")
        browser.value("document.querySelector('#_hits a').click()")
        browser.wait_for("!document.querySelector('#_hits')")
        browser.wait_for(f"scrollY > 500 && {box}.top < 700 && {box}.bottom > 0")


@pytest.mark.parametrize("how", ["file", "http"])
def test_the_demonstration_is_searched(how: str, example_site: Path, browser: Browser) -> None:
    """By words, by facets, back and forward, and a hit opens at its turn; the policy has nothing to complain of."""
    browser.complaints.clear()
    box = "document.getElementById('_query').value"
    kind = "[...document.querySelectorAll('#_facets a')].find((link) => link.textContent === 'transcript')"
    with addressed(example_site, how) as address:
        browser.open(f"{address}/search/index.html")
        browser.wait_for("document.activeElement?.id === '_query'")
        browser.type("shelf")
        browser.wait_for(f"{STATUS}.includes(' results') && {kind} !== undefined")
        browser.value(f"{kind}.click()")
        browser.wait_for(f"{box} === 'shelf kind:transcript' && {STATUS} === '1 result'")
        browser.go(-1)
        browser.wait_for(f"{box} === 'shelf' && {STATUS}.includes(' results')")
        browser.go(1)
        browser.wait_for(f"{box} === 'shelf kind:transcript' && {STATUS} === '1 result'")
        browser.value("document.querySelector('#_hits a').click()")
        browser.wait_for("location.hash === '#t11' && document.querySelector('#t11') !== null")
    assert browser.complaints == []


def test_words_of_a_passage_are_found_first_and_results_of_one_thread_are_together(
    tmp_path: Path, browser: Browser
) -> None:
    """Phrases and three words are answered by the best match; what two captures both have is shown once."""
    folder = tmp_path / "memos/inbox"
    for day, body in enumerate(
        ("The ferry leaves at noon.", "At noon the ferry leaves, leaves, leaves.", "The ferry. At noon it leaves."), 1
    ):
        name = f"2026-01-0{day}-0900--engineer--director--n{day}"
        write_memo(folder, name, subject=f"Day {day}", body=body, sent=f"2026-01-0{day}T09:00:00Z")
    search = f"{build_site(tmp_path).as_uri()}/search/index.html"
    order = "document.getElementById('_order')"
    for query, shown, days in (
        ("ferry+leaves", "newest", ["Day 3", "Day 2", "Day 1"]),
        ("ferry+leaves+at+noon", "best", ["Day 1", "Day 2", "Day 3"]),
        ("%22at+noon%22", "best", ["Day 3", "Day 2", "Day 1"]),
        ("ferry+leaves+at+noon&order=newest", "newest", ["Day 3", "Day 2", "Day 1"]),
        ("kind:memo+from:engineer+to:director", "newest", ["Day 3", "Day 2", "Day 1"]),
    ):
        browser.open(f"{search}?q={query}")
        assert browser.wait_for(f"{STATUS} === '3 results' && {HITS}") == days, query
        assert browser.value(f"{order}.value") == shown, query
    browser.open(f"{search}?q=ferry+leaves+at+noon")
    browser.wait_for(f"{HITS}[0] === 'Day 1'")
    browser.value(f"{order}.value = 'newest'")
    browser.value(f"{order}.dispatchEvent(new Event('change'))")
    browser.wait_for(f"{HITS}[0] === 'Day 3' && location.search.endsWith('&order=newest')")
    tmp_path /= "two"
    folder = tmp_path / "memos/inbox"
    names = [f"2026-01-0{day}-0900--engineer--director--{day}" for day in (1, 2, 3)]
    for name, subject, parent in zip(names, ("One", "Two", "Three"), (None, None, names[0]), strict=True):
        sent = f"{name[:10]}T09:00:00Z"
        write_memo(folder, name, subject=subject, body="ferry", sent=sent, in_reply_to=parent)
    arc = "0a1b2c3d-0000-4000-8000-00000000000a"
    people = [{"position": "engineer", "session_arc": arc}]
    for name in ("2026-01-05-0900--engineer--talk", "2026-01-06-0900--engineer--talk"):
        text = "## User\n\nWhere is the lighthouse?\n\n## Assistant\n\nA lighthouse by the pier.\n"
        write_transcript(tmp_path / "transcripts/engineer", name, text=text, subject="A talk", participants=people)
    site = build_site(tmp_path)
    entries = "[...document.querySelectorAll('#_hits > li')].map((one) => one.querySelectorAll('a').length)"
    browser.open(f"{site.as_uri()}/search/index.html?q=ferry")
    assert browser.wait_for(f"{STATUS} === '3 results' && {HITS}") == ["Three", "One", "Two"]
    assert browser.value(entries) == [2, 1]
    assert browser.value("document.querySelector('#_hits summary').textContent") == "1 more in this thread"
    browser.open(f"{site.as_uri()}/search/index.html?q=lighthouse")
    browser.wait_for(f"{STATUS} === '4 results in 2 items'")
    assert browser.value(entries) == [2]


@pytest.mark.parametrize("how", ["file", "http"])
def test_a_hit_shows_its_passage_and_leads_to_it_also_far_down(how: str, tmp_path: Path, browser: Browser) -> None:
    """However long a text is: the passage with most of the words, marked; its anchor and its words in the address."""
    day = "Tide and ebb, as on every day of the **year**: the ferry and the harbour are far apart in this log."
    found = "The *harbour* has no [late ferry](https://example.org/ferry) today."
    write_memo(tmp_path / "memos/inbox", "long", subject="Log", body="\n\n".join([*[day] * 900, found, *[day] * 900]))
    answers = "[...document.querySelectorAll('#_hits li > p:last-child')].map((one) => one.textContent)"
    marked = "[...document.querySelectorAll('#_hits mark')].map((one) => one.textContent)"
    with addressed(build_site(tmp_path), how) as address:
        browser.open(f"{address}/search/index.html?q=late+harbour")
        browser.wait_for(f"{STATUS} === '1 result'")
        assert "The harbour has no late ferry today." in browser.value(answers)[0]
        assert set(browser.value(marked)) == {"harbour", "late"}
        assert browser.value("document.querySelector('#_hits a').getAttribute('href')").endswith(
            ":~:text=The%20harbour%20has%20no%20late%20ferry"
        )
        browser.value("document.querySelector('#_hits a').click()")
        paragraph = "[...document.querySelectorAll('p')].find((one) => one.textContent.startsWith('The harbour'))"
        place = f"{paragraph}?.getBoundingClientRect()"
        browser.wait_for(f"scrollY > 5000 && {place}.top >= 0 && {place}.bottom <= innerHeight")
        assert browser.value(f"location.hash === '#' + {paragraph}.id")


def test_a_server_that_sends_parts_sends_only_what_a_query_needs(example_site: Path, browser: Browser) -> None:
    """The first answer tells whether it does; one that sends whole files is not asked for parts again."""
    asked: dict[type[Handler], list[tuple[str, int]]] = {SendingParts: [], Handler: []}
    found = []
    for handler, ranges in asked.items():

        class Noting(handler):  # type: ignore[misc, valid-type]
            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002 - as called
                if "/search/" in self.path and self.path.endswith(".js"):
                    ranges.append((self.headers.get("Range", ""), int(code)))  # noqa: B023 - used before the next

        with serve_folder(example_site.parent, Noting) as address:
            browser.open(f"{address}{example_site.name}/search/index.html?q=shelf+holds")
            browser.wait_for(f"{STATUS}.includes('results') && document.querySelectorAll('#_facets h2').length")
            found.append(browser.value(HITS))
    assert found[0] == found[1]
    pieces = [range_ for range_, code in asked[SendingParts] if code == 206]
    assert len(pieces) == len(asked[SendingParts]) - 4, "all but the list of blocks, their heads, and that of states"
    moved = sum(int(last) - int(first) + 1 for first, last in (one[6:].split("-") for one in pieces))
    assert moved < sum(path.stat().st_size for path in (example_site / "search").glob("[ts]0/**/[ithe][0-9]*.js")) / 2
    assert sum(range_ != "" for range_, _ in asked[Handler]) == 1, "one part was asked for, and the whole came"


@contextmanager
def kept_of(former: Path, kept: str, site: Path, handler: type[Handler]) -> Iterator[str]:
    """The address of a site behind a cache that has a file, or a folder, of a former build of it."""

    class Keeping(handler):  # type: ignore[misc, valid-type]
        def translate_path(self, path: str) -> str:
            if kept in path and "?" not in path:
                return str(former / path[path.index(kept) :])
            found: str = super().translate_path(path)
            return found

    with serve_folder(site, Keeping) as address:
        yield address


def test_files_of_different_builds_are_never_mixed(tmp_path: Path, browser: Browser) -> None:
    """A cache that kept heads of the last build, or one piece of it: everything is asked for anew, or nothing found."""
    folder = tmp_path / "org/memos/inbox"
    names = [f"2026-01-{number + 1:02}-0900--engineer--director--tides" for number in range(30)]
    for name in names:
        write_memo(folder, name, subject=f"Tide {name[8:10]}")
    former = build_site(tmp_path / "org", output=tmp_path / "former")
    (folder.parent / "read").mkdir()
    (folder / f"{names[6]}.openthing").rename(folder.parent / f"read/{names[6]}.openthing")
    moved = build_site(tmp_path / "org", output=tmp_path / "moved")
    write_memo(folder, "2026-02-01-0900--engineer--director--ebb", subject="Ebb and tide", sent="2027-02-01T09:00:00Z")
    site = build_site(tmp_path / "org", output=tmp_path / "site")
    assert (former / "search/t0/head.js").read_bytes() == (moved / "search/t0/head.js").read_bytes()
    words, states = (
        [f"search/t0/{part}{name}.js" for name in ("head", "t0", *more)]
        for part, more in (("", ("h0",)), ("states/", ("g0", "i0")))
    )
    for handler in (SendingParts, Handler):
        for kept in ("search/blocks.js", *words, *states, "search/t0/states/"):
            with kept_of(former, kept, site, handler) as address:
                browser.open(f"{address}search/index.html?q=tide+with:engineer")
                browser.wait_for(f"{STATUS} === '31 results' && document.querySelectorAll('#_facets h2').length")
                assert browser.value(HITS)[0] == "Ebb and tide", (handler, kept)
        for kept in states:
            with kept_of(former, kept, moved, handler) as address:
                browser.open(f"{address}search/index.html?q=tide+box:read")
                assert browser.wait_for(f"{STATUS} === '1 result' && {HITS}") == ["Tide 07"], (handler, kept)
    assert not (site / "search/t0/block.js").exists(), "an older page asks for it, and would not know the states"
    listed = site / "search/blocks.js"
    listed.write_bytes(listed.read_bytes().replace(b'"v":4', b'"v":3'))
    browser.open(f"{site.as_uri()}/search/index.html?q=tide")
    browser.wait_for(f"{STATUS}.startsWith('Search files did not load.')")
    assert browser.value(HITS) == []


def test_hostile_content_is_shown_as_text_and_no_older_answer_takes_the_place_of_a_newer(
    address: str, browser: Browser
) -> None:
    """No element is made of it, nothing runs, nobody else is asked; however quickly one types."""
    browser.open(f"{address}/search/index.html")  # the page before, of another address, asks for nothing any more
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(f"{address}/search/index.html?q=ferry")
    browser.wait_for(f"{STATUS} === '1 result'")
    assert browser.value(HITS) == ["<img src=x onerror=alert(1)>"]
    assert browser.value("document.querySelectorAll('#_hits img, #_hits b').length") == 0
    assert browser.complaints == []
    assert [one for one in browser.requests if not one.startswith((address, "data:"))] == []
    browser.value("document.querySelector('#_hits a').click()")
    browser.wait_for("document.querySelector('h1')?.textContent.includes('<img')")
    browser.open(f"{address}/search/index.html")
    browser.wait_for("document.activeElement?.id === '_query'")
    type_ = "(text) => { const box = document.getElementById('_query'); box.value = text; box.form.requestSubmit(); }"
    browser.value(f"['tide', 'ebb', 'kind:memo', 'lighthouse', 'ferry'].forEach({type_})")
    browser.wait_for(f"{STATUS} === '1 result' && {HITS}[0].startsWith('<img')")
    browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => 1)")
    assert browser.value(HITS) == ["<img src=x onerror=alert(1)>"]


def test_saved_searches_become_pages_for_ever_and_one_that_cannot_be_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what they find, a link from search, and a word when they are gone; the error names its line."""
    write_memo(tmp_path / "memos/inbox", "one", subject="Tide tables")
    write_memo(tmp_path / "memos/inbox", "two", subject="Ferries")
    page = tmp_path / "_site/saved/tides/index.html"
    for searches, said in (
        ("{tides: 'subject:tid*'}", "Tide tables"), ("{}", "This item was removed"), ("{tides: tide}", "Tide tables"),
        ("{}", "This item was removed"),
    ):  # fmt: skip
        write_text(tmp_path / "memosite.yml", f"feeds: {{searches: {searches}}}\n")
        for _ in range(2):
            build_site(tmp_path)
            assert said in page.read_text() and "Ferries" not in page.read_text()
            assert page.with_name("feed.xml").exists()
        link = 'href="../saved/tides/index.html"' in (tmp_path / "_site/search/index.html").read_text()
        assert link == (searches != "{}")
    write_text(tmp_path / "memosite.yml", "feeds: {searches: {Tides: tide}}\n")
    build_site(tmp_path)
    assert (tmp_path / "_site/saved/Tides/index.html").is_file() and not page.exists()
    tmp_path /= "two"
    for searches, said in [
        ("{tides: '(tide'}", "this parenthesis is never closed"),
        ("{'a b': tide}", "a name of letters, digits"),
        ("{tides: x, Tides: y}", "names that differ"),
        ("[tide]", "a mapping from names to queries"),
    ]:
        write_memo(tmp_path / "memos/inbox", "one")
        (tmp_path / "memosite.yml").write_text(f"title: Tides\nfeeds:\n  searches: {searches}\n")
        assert main(["build", str(tmp_path), "--quiet"]) == 2, searches
        found = capsys.readouterr().err
        assert "memosite.yml:3:" in found, searches
        assert said in found, searches
