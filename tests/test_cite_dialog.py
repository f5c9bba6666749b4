"""The Cite dialog, in Chromium: what it writes, how it is used, and where its links lead (SPEC 7)."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from playwright.sync_api import Browser, Page

from memosite.archive.cite import Citation, range_digest
from memosite.cli import main
from memosite.facts.values import as_dict, replace
from memosite.formats.turns import TurnList, parse_conversation
from memosite.quotes.citations import read_html, read_markdown, read_plain
from memosite.quotes.forms import to_html
from tests.support.browsers import COLOURS, below, violations
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.servers import serve_folder
from tests.support.sites import build_site, shared_site

REPO = Path(__file__).parent.parent
TALK, LONG = "2026-05-01-1430--engineer--short", "2026-05-02-1430--engineer--long"
MEMO = "2026-05-04-0900--engineer--director--tides"
REPLY = "2026-05-04-1000--director--engineer--tides"
STRUCK = "2026-05-05-1000--engineer--director--struck"
BODY = """The gauge was read at noon, and it was unable to settle.

Two boats waited. The gauge was read at noon — 2.5 m, it's said, as (before) they left, *slowly*.

- Ask the pilot & the “master”, off-duty.
"""

CALLED = Citation(
    ref="transcript/a#t2", url="https://archive.example.org/transcripts/a/#t2", title="The load",
    speaker="strategist (arc 3)", time="2026-04-21T13:00:00Z", quote="Two loads", sha256="0f" * 32,
)  # fmt: skip
HOSTILE = "*a* [b](javascript:c) <script>\n# d `e` |f| &amp; \"g\" 'h' ~ \\ \u00a0\u2003“é”\x85 _i_"
CITATIONS = (
    CALLED,
    replace(CALLED, speaker="", time="", quote="", note="raw, confidential", commit="1a2b3c4d" * 5),
    replace(CALLED, title=HOSTILE, speaker=HOSTILE, quote=HOSTILE, time="5/21/2026, 9:22:47 PM"),
    replace(CALLED, quote="", url="https://archive.example.org/it's/?a=1&b=2#t2"),
)

SELECT = """([first, start, last, end]) => {
  const text = (selector, words, isEnd) => {
    const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const at = walker.currentNode.data.indexOf(words);
      if (at >= 0) return [walker.currentNode, at + (isEnd ? words.length : 0)];
    }
  };
  getSelection().setBaseAndExtent(...text(first, start, false), ...text(last, end, true));
}"""
"""Selects from words in one place to words in another."""

MARKED = """(id) => {
  const place = document.querySelector(":target");
  const { top, bottom } = place?.getBoundingClientRect() ?? {};
  const isSeen = document.readyState === "complete" && top < innerHeight - 20 && bottom > 20;
  const isMarked = isSeen && getComputedStyle(place).backgroundColor !== "rgba(0, 0, 0, 0)";
  return isMarked && place.closest(`[id="${id}"]`) !== null;
}"""
"""Whether the passage is shown, and marked."""


def script(expression: str, *values: object) -> Any:
    """What an expression about `citing`, the functions of the dialog's script, is worth for some values."""
    source = (REPO / "static" / "cite.js").read_text()
    program = f"const values = {json.dumps(values)}; {source}; console.log(JSON.stringify({expression}))"
    run = subprocess.run(["node", "-"], input=program, capture_output=True, text=True, timeout=600, check=True)
    return json.loads(run.stdout)


def fields(citation: Citation) -> dict[str, str]:
    """A citation as the page tells it to the script."""
    return {**as_dict(citation), "check": citation.check}


def test_the_dialog_writes_what_the_command_line_writes_and_fragments_find_these_words() -> None:
    """Ranges have the digest of digests, quotes whole words; if none can be told apart, there is no fragment."""
    formats = "values.map((one) => [citing.toMarkdown(one), citing.toHtml(one), citing.toText(one)])"
    written = script(formats, *map(fields, CITATIONS))
    assert written == [[one.markdown, to_html(one), one.text] for one in CITATIONS]
    for one, (markdown, page, text) in zip(CITATIONS, written, strict=True):
        found = [read_markdown(markdown), read_html(page), read_plain(text)]
        assert [[read.sha256 for read in reads] for reads in found] == [[one.sha256]] * 3
    for turns in (2, 7, 500):
        cited = [
            replace(
                CALLED, ref=f"transcript/a#t{number}", sha256=f"{number:064x}", speaker=f"s{number % 2}", note="raw"
            )
            for number in range(2, turns + 2)
        ]
        found = script("citing.rangeOf(values)", *map(fields, cited))
        assert found["check"] == f"sha256:{range_digest(one.sha256 for one in cited)} (raw)"
        assert (found["ref"], found["speaker"]) == (f"transcript/a#t2-t{turns + 1}", "s0, s1")
    cases = {
        ("he was un", "able to", ""): (2, 0), ("about 2.", "5 percent", ""): (2, 0),
        ("it ", "can", "'t, he (said)"): (0, 2), ("(see ", "this", "). Then"): (0, 0),
        ("one", " two ", "three"): (0, 0), ("二つの", "港", "です"): (0, 0),
    }  # fmt: skip
    found = script("values.map((one) => citing.toWholeWords(...one))", *cases)
    assert [tuple(one) for one in found] == list(cases.values())
    words = "w " * 60
    fragments: dict[tuple[tuple[str, ...], str, str], str | None] = {
        (("in time",), "", ""): "in%20time",
        (("a-b, c & d (e)",), "", ""): "a%2Db%2C%20c%20%26%20d%20%28e%29",
        ((f"{words}end",), "", ""): "w%20w%20w%20w%20w%20w,w%20w%20w%20w%20w%20end",
        (("First of all.", "And the last"), "", ""): "First%20of%20all.,And%20the%20last",
        (("in time",), "Not IN\n tîme. Then ", "Then "): "Then-,in%20time",
        (("in time",), "Then in time. Then ", "Then "): None,
        (("in time",), "in time. ", ""): None,
    }
    found = script("values.map((one) => citing.textFragment(...one))", *fragments)
    assert found == [f":~:text={expected}" if expected else "" for expected in fragments.values()]


def write_sources(repo: Path) -> None:
    """A memo, a short transcript, and one of three parts."""
    write_memo(repo / "memos/inbox", MEMO, body=BODY)
    answer = "Two boats waited. I saw the ferry and the pilot boat at the new pier.\n"
    write_memo(repo / "memos/inbox", REPLY, sender="director", to="engineer", body=answer, in_reply_to=MEMO)
    tool = "> **🔧 Bash**\n> ```\n> hidden output\n> ```"
    answer = f"The pilot does.\n\n{tool}\n\nAt *noon*, that is."
    talk = f"## User\n\nWho reads it?\n\n## Assistant\n\n{answer}\n\n## User\n\nThanks.\n"
    write_transcript(repo / "transcripts/engineer", TALK, text=talk)
    long = "".join(
        f"## {'User' if number % 2 else 'Assistant'}\n\nmurmur {number} of the tide\n\n{'word ' * 12_000}\n\n"
        for number in range(1, 9)
    )
    write_transcript(repo / "transcripts/engineer", LONG, text=long)
    struck = "I do ~~not~~ agree[^1] with it.\n\n> Nobody does.\n\n[^1]: Of May.\n"
    write_memo(repo / "memos/inbox", STRUCK, body=struck)


@pytest.fixture(scope="module")
def site() -> Path:
    """The built site."""
    return shared_site("dialog", write_sources, base_url="https://quay.example/")


@pytest.fixture(scope="module")
def sources(site: Path) -> Path:
    """The repo of which it was built."""
    return site.parent


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that nobody has used before, and that has nothing to complain of, a violated policy among it."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    found = context.new_page()
    said: list[str] = []
    found.on("console", lambda message: said.append(message.text))
    found.on("pageerror", lambda error: said.append(str(error)))
    yield found
    context.close()
    assert said == []


def turns_of(sources: Path, name: str) -> TurnList:
    """The turns of a transcript, read from its file."""
    text = (sources / f"transcripts/engineer/{name}.body.md").read_text(encoding="utf-8")
    return parse_conversation(text, started=None)


def offered(page: Page) -> dict[str, str]:
    """The formats that the open dialog offers, by their labels."""
    page.wait_for_selector("dialog.citing[open]")
    labels = page.locator("dialog.citing label").all_inner_texts()
    return {label: page.get_by_label(label, exact=True).input_value() for label in labels}


def link_of(formats: dict[str, str]) -> str:
    """The first link that the dialog offers: that for others."""
    return next(iter(formats.values()))


def leave(page: Page) -> None:
    """Close the dialog by key, and wait until it is gone: the next key is meant for the page."""
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_cite_at_a_turn_opens_it_and_escape_gives_the_focus_back(
    page: Page, site: Path, sources: Path, base: str
) -> None:
    """By keyboard alone: Enter, a copy that is confirmed in words and aloud, Escape. Nothing moves."""
    page.goto(f"{base}transcripts/{TALK}/index.html")
    cite = page.locator("#t2 > .cite > summary")
    top = cite.bounding_box()
    cite.focus()
    page.keyboard.press("Enter")
    formats = offered(page)
    assert list(formats) == ["Published link", "Link on this machine only", "Markdown", "HTML", "Text"]
    assert link_of(formats) == f"https://quay.example/transcripts/{TALK}/#t2"
    end = "" if base.startswith("http") else "index.html"
    assert formats["Link on this machine only"] == f"{base}transcripts/{TALK}/{end}#t2"
    written = html.parse(site / f"transcripts/{TALK}/index.html")
    said = " ".join(written.xpath("string(//section[@id='t2']/details/p)").split())
    assert formats["Text"] == said, "with the address that others can open"
    [read] = read_markdown(formats["Markdown"])
    turn = turns_of(sources, TALK).turns[1]
    assert (read.ref, read.sha256, read.quote) == (f"transcript/{TALK}#t2", turn.digest, "The pilot does.")
    assert page.evaluate("document.activeElement.textContent") == "Copy Published link"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Copied Markdown").wait_for()
    assert page.locator("dialog [role=status]").inner_text() == "Markdown copied."
    assert page.evaluate("navigator.clipboard.readText()") == formats["Markdown"]
    leave(page)
    assert page.evaluate("document.activeElement.matches('#t2 > .cite > summary')")
    assert cite.bounding_box() == top and page.locator("#t2 > .cite[open]").count() == 0


def test_without_an_address_of_its_own_a_site_is_cited_where_it_is_read(
    page: Page, sources: Path, tmp_path: Path
) -> None:
    """From disk the dialog says that the link works there only, and gives the path; what is copied verifies."""
    site = build_site(sources, output=tmp_path / "site")
    says = page.get_by_text("The link works on this machine only.")
    with serve_folder(site) as server:
        for base, end in ((server, ""), (f"{site.as_uri()}/", "index.html")):
            page.goto(f"{base}transcripts/{TALK}/index.html")
            page.locator("#t2 > .cite > summary").click()
            formats = offered(page)
            assert link_of(formats) == f"{base}transcripts/{TALK}/{end}#t2"
            assert says.count() == (not base.startswith("http"))
            if end:
                assert says.locator("code").inner_text() == f"transcripts/{TALK}/index.html#t2"
            leave(page)
            page.evaluate(SELECT, ["#t2", "pilot", "#t2", "does"])
            page.keyboard.press("c")
            assert link_of(offered(page)) == f"{link_of(formats)}:~:text=pilot%20does"
            if end:
                assert says.locator("code").inner_text() == f"transcripts/{TALK}/index.html#t2"
            for name, text in formats.items():
                assert name == "Link" or link_of(formats) in text
                paper = write_text(tmp_path / f"paper.{'html' if name == 'HTML' else 'md'}", text)
                assert name in ("Link", "Text") or main(["verify", str(paper), "--site", str(sources)]) == 0
            page.goto(link_of(formats))
            page.wait_for_function(MARKED, arg="t2")


@pytest.mark.parametrize("denial", ["writeText = () => Promise.reject(new Error())", "writeText = undefined"])
@pytest.mark.usefixtures("site")
def test_without_the_clipboard_the_text_is_selected(page: Page, server: str, denial: str) -> None:
    """Ready for the reader's own copy, and said so."""
    page.goto(f"{server}transcripts/{TALK}/index.html")
    page.evaluate(f"() => {{ navigator.clipboard.{denial}; }}")
    page.locator("#t2 > .cite > summary").click()
    page.get_by_role("button", name="Copy Text").click()
    page.get_by_text("Text selected: press Ctrl+C to copy.").wait_for()
    area = page.get_by_label("Text", exact=True)
    chosen = area.evaluate("(area) => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert chosen == area.input_value() != "" and area.evaluate("(area) => area === document.activeElement")


def test_selected_words_of_a_turn_are_cited_by_mouse_and_those_of_several_as_a_range(
    page: Page, sources: Path, base: str
) -> None:
    """Folded calls are left out, marked; the selection comes back; a range has the digest of digests."""
    page.goto(f"{base}transcripts/{TALK}/index.html")
    box = page.locator("#t2 .prose.speech p").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    pick = page.get_by_role("button", name="Cite", exact=True)
    pick.click()
    assert read_plain(offered(page)["Text"])[0].quote in ("The pilot", "The pilot does")
    leave(page)
    assert page.evaluate("getSelection().toString()") in ("The pilot", "The pilot does")
    page.evaluate(SELECT, ["#t2", "pilot", "#t2 > div:last-of-type", "that is"])
    pick.click()
    formats = offered(page)
    [read] = read_markdown(formats["Markdown"])
    turn = turns_of(sources, TALK).turns[1]
    assert (read.quote, read.sha256) == ("pilot does. […] At noon, that is", turn.digest)
    assert link_of(formats).endswith("#t2:~:text=pilot%20does.,At%20noon%2C%20that%20is")
    page.get_by_role("button", name="Close").click()
    page.wait_for_selector("dialog", state="detached")
    page.evaluate("getSelection().removeAllRanges()")
    page.wait_for_selector(".pick", state="hidden")
    page.goto(f"{base}transcripts/{TALK}/index.html")
    page.evaluate(SELECT, ["#t2", "pilot", "#t3", "Thanks"])
    page.keyboard.press("c")
    formats = offered(page)
    [read] = read_html(formats["HTML"])
    turns = turns_of(sources, TALK).turns
    assert (read.ref, read.quote) == (f"transcript/{TALK}#t2-t3", "pilot does. […] At noon, that is. […] Thanks")
    assert read.sha256 == range_digest(turn.digest for turn in turns[1:])
    assert link_of(formats).endswith("#t2:~:text=pilot%20does.,Thanks")
    page.goto(f"{base}transcripts/{LONG}/index.html")
    page.evaluate(SELECT, ["#t2", "murmur 2", "#t3", "of the tide"])
    page.keyboard.press("c")
    [read] = read_html(offered(page)["HTML"])
    assert (read.ref, read.quote[:20]) == (f"transcript/{LONG}#t2-t3", "murmur 2 of the tide")
    assert read.quote.endswith("word […] murmur 3 of the tide") or read.quote.endswith("word murmur 3 of the tide"), (
        read
    )
    assert len(read.quote) < 400 and " […] " in read.quote


def test_the_page_of_a_thread_cites_each_memo_itself(page: Page, base: str) -> None:
    """By its Cite, by what is selected, and by the key for the one in view; the link opens the memo's own page."""
    page.goto(f"{base}threads/{MEMO}/index.html")
    page.locator(".member .cite > summary").nth(1).click()
    [read] = read_html(offered(page)["HTML"])
    assert read.ref == f"memo/{REPLY}"
    leave(page)
    page.evaluate(SELECT, [".member:nth-of-type(2) .prose", "boats waited", ".member:nth-of-type(2) .prose", "ferry"])
    page.keyboard.press("c")
    formats = offered(page)
    [read] = read_markdown(formats["Markdown"])
    assert (read.ref, read.quote) == (f"memo/{REPLY}", "boats waited. I saw the ferry")
    passage = (page.locator(".member .prose p").last.get_attribute("id") or "").partition("-")[2]
    assert passage.startswith("p-")
    assert link_of(formats).endswith(f"memos/{REPLY}/#{passage}:~:text=boats%20waited.%20I%20saw%20the%20ferry")
    leave(page)
    page.goto(below(base, link_of(formats)))
    page.wait_for_function(MARKED, arg=passage)
    page.goto(f"{base}threads/{MEMO}/index.html")
    page.keyboard.press("c")
    assert read_html(offered(page)["HTML"])[0].ref == f"memo/{MEMO}"


def test_selected_words_of_a_memo_are_cited_with_their_passage(page: Page, base: str) -> None:
    """Whole words; words that are twice on the page are told apart; the link marks the passage and the words."""
    page.goto(f"{base}memos/{MEMO}/index.html")
    page.evaluate(SELECT, [".text .prose", "able to", ".text .prose", "settle"])
    page.keyboard.press("c")
    assert read_plain(offered(page)["Text"])[0].quote == "unable to settle"
    leave(page)
    page.evaluate(SELECT, [".text .prose p:nth-of-type(2)", "gauge was", ".text .prose p:nth-of-type(2)", "read at"])
    page.keyboard.press("c")
    formats = offered(page)
    [read] = read_markdown(formats["Markdown"])
    passage = page.locator(".text .prose p").nth(1).get_attribute("id")
    assert (read.ref, read.quote) == (f"memo/{MEMO}", "gauge was read at")
    assert link_of(formats).endswith(f"#{passage}:~:text=Two%20boats%20waited.%20The-,gauge%20was%20read%20at")
    page.goto("about:blank")
    page.goto(below(base, link_of(formats)))
    page.wait_for_function(MARKED, arg=passage)


def test_words_that_are_struck_out_or_only_carried_are_cited_so(
    page: Page, sources: Path, base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `~~` around them; without a speaker, where they are tool output or a block quote. `verify` says the same."""
    opened = "document.querySelectorAll('details.tool').forEach((one) => { one.open = true; })"
    for path, start, end, quote, note in (
        (f"memos/{STRUCK}", "I do", "with it", "I do ~~not~~ agree with it", ""),
        (f"memos/{STRUCK}", "Nobody", "does", "Nobody does", "quoted in a turn of engineer"),
        (f"transcripts/{TALK}", "hidden", "output", "hidden output", "quoted in a turn of engineer arc-1"),
    ):
        page.goto(f"{base}{path}/index.html")
        page.evaluate(opened)
        body = "main .tool .prose" if "transcripts" in path else "main .text"
        page.evaluate(SELECT, [body, start, body, end])
        page.keyboard.press("c")
        written = offered(page)["Markdown"]
        [read] = read_markdown(written)
        assert (read.quote, read.note, read.speaker == "") == (quote, note, bool(note))
        paper = write_text(tmp_path / "paper.md", written)
        assert main(["verify", str(paper), "--site", str(sources)]) == 0
        assert ("quoted in" in capsys.readouterr().out) == bool(note)


def test_every_link_that_is_copied_shows_its_passage(page: Page, site: Path, sources: Path, base: str) -> None:
    """Of the last turn of each part and of words in it; where every turn opens, test_turn_addresses.py tells."""
    parts = sorted((site / "transcripts" / LONG).glob("**/index.html"), key=lambda path: (len(path.parts), path))
    turns: list[str] = []
    for part in parts:
        page.goto(f"{base}{part.relative_to(site).as_posix()}")
        turns += page.locator(".turn").evaluate_all("(turns) => turns.map((turn) => turn.id)")
        id_ = turns[-1]
        page.locator(f"#{id_} > .cite > summary").evaluate("(summary) => summary.click()")
        whole = link_of(offered(page))
        assert whole.endswith(f"/transcripts/{LONG}/#{id_}")
        leave(page)
        page.evaluate(SELECT, [f"#{id_} .prose", "murmur", f"#{id_} .prose", "tide"])
        page.keyboard.press("c")
        link = link_of(offered(page))
        assert link.startswith(whole)
        page.goto("about:blank")
        page.goto(below(base, link))
        page.wait_for_function(MARKED, arg=id_)
        assert page.url.endswith(link.partition("#")[2])  # also of a part that the script has gone on to
    assert len(parts) > 2
    assert turns == [turn.anchor for turn in turns_of(sources, LONG).turns]


def test_a_browser_without_text_fragments_marks_the_passage(page: Page, site: Path, server: str) -> None:
    """It takes the words for a part of the anchor, as Chromium does with a mark that it does not know."""
    source = (site / "static/memosite.js").read_text()
    page.route("**/memosite.js", lambda route: route.fulfill(body=source.replace(":~:", ":-:")))
    page.goto(f"{server}transcripts/{TALK}/index.html#t2:-:text=pilot")
    page.wait_for_function("() => document.querySelector(':target')?.id === 't2'")


def test_the_dialog_is_loaded_when_it_is_first_used_and_offers_nothing_outside_of_texts(page: Page, base: str) -> None:
    """By words that are selected, too; a page that is only read does without; titles are copied, not cited."""
    page.goto(f"{base}transcripts/{TALK}/index.html", wait_until="load")
    loaded = "typeof citing !== 'undefined'"
    assert not page.evaluate(loaded)
    page.evaluate(SELECT, ["#t2", "pilot", "#t2", "does"])
    page.wait_for_selector(".pick", state="visible")
    assert page.evaluate(loaded)
    page.goto(f"{base}memos/{MEMO}/index.html")
    page.evaluate(SELECT, [".rest", "Id", ".rest", "Id"])
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert not page.locator(".pick").is_visible()


@pytest.mark.usefixtures("site")
def test_a_dialog_that_cannot_be_loaded_leaves_the_citation(browser: Browser, server: str) -> None:
    """As without a script: Cite shows it, and hides it again."""
    page = browser.new_page()
    page.route("**/cite.js", lambda route: route.abort())
    page.goto(f"{server}transcripts/{TALK}/index.html")
    cite = page.locator("#t2 > .cite")
    for is_open in (True, False):
        cite.locator("summary").click()
        page.wait_for_function(f"() => document.querySelector('#t2 > .cite').open === {str(is_open).lower()}")
    page.close()


def test_without_a_script_a_turn_has_its_link_and_its_citation(browser: Browser, base: str) -> None:
    """The link leads to the same place; the citation can be read and copied as it is."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}transcripts/{TALK}/index.html")
    page.locator("#t2 > .cite > summary").click()
    page.locator("#t2 > .cite a").click()
    assert page.url.endswith("#t2")
    context.close()


@pytest.mark.parametrize(("width", "theme", "other"), [(360, "light", "dark"), (1280, "dark", "light")])
@pytest.mark.usefixtures("site")
def test_axe_finds_nothing_in_the_dialog(browser: Browser, server: str, width: int, theme: Any, other: Any) -> None:
    """WCAG 2.2 AA of the open dialog and of the button below a selection; neither makes a page scroll sideways."""
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(f"{server}transcripts/{TALK}/index.html")
    page.evaluate(SELECT, ["#t2", "pilot", "#t2", "does"])
    page.wait_for_selector(".pick", state="visible")
    assert violations(page) == []
    page.emulate_media(color_scheme=other)
    assert violations(page, only=COLOURS) == []
    page.keyboard.press("c")
    offered(page)
    assert violations(page, only=COLOURS) == []
    page.emulate_media(color_scheme=theme)
    assert violations(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
