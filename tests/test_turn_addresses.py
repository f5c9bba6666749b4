"""Every address that a site prints of a turn opens that turn, in Chromium, over http and from disk (SPEC 4, 7)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import urljoin

import pytest
from lxml import html
from playwright.sync_api import Browser, Page

from memosite.cli import main
from memosite.formats.turns import TurnList, parse_conversation
from memosite.pages import OUTLINE, Reference, Site, cut_turns
from memosite.plan.removed import RedirectPage
from memosite.render.renderer import Renderer
from memosite.render.theme import load_theme
from tests.support.browsers import below
from tests.support.memos import write_memo, write_transcript
from tests.support.pages import found
from tests.support.sites import shared_site

LONG, SHORT, MANY = "2026-05-01-1430--engineer--long", "2026-05-02-1430--engineer--short", "2026-05-03-1430--many"
"""A transcript in parts, one on a single page, and one with more turns than an outline names."""

MEMO, TURNS = "2026-05-04-0900--engineer--director--m", 27
"""A memo that mentions a turn of the long transcript, which has so many."""

PASTED, SPLIT = "2026-05-04-1430--engineer--pasted", "2026-05-05-1430--engineer--split"
"""One in which a person pasted two logs, and one in which a turn is longer than a page."""

AT_TOP = """(id) => {
  const place = document.getElementById(id);
  const turn = place?.closest("section.turn");
  const { top } = place?.getBoundingClientRect() ?? { top: NaN };
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  return document.readyState === "complete" && (Math.abs(top) < 90 || (isAtEnd && top < innerHeight)) ? turn?.id : "";
}"""
"""The turn that is shown where a reader looks first, below the bar; the last ones cannot be scrolled up so far."""


def talk(turns: int, words: int, word: str = "whisper") -> str:
    """A person asks, the assistant answers, looks something up, and answers once more."""
    written = []
    for number in range(1, turns + 1):
        speaker = "User" if number % 3 == 1 else "Assistant"
        tool = f"\n\n> **🔧 Bash**\n> ```\n> output of the {word} {number}\n> ```\n" if number % 3 == 2 else ""
        written.append(f"## {speaker}\n\n{word} {number}\n\n{'word ' * words}{tool}\n")
    return "\n".join(written)


@pytest.fixture(scope="module")
def sources(site: Path) -> Path:
    """A repo with the transcripts, and a memo that mentions a turn."""
    return site.parent


@pytest.fixture(scope="module")
def site() -> Path:
    """The built site, in which the long transcript once had another id."""
    site = shared_site("turns", write_sources, base_url="https://quay.example/")
    page = RedirectPage(
        site=Site(title="Quay", language="en", base_url=None, generator="memosite"),
        path="transcripts/former/index.html", root="../../", title="former", section="",
        target=Reference(label=LONG, href=f"../{LONG}/index.html"),
    )  # fmt: skip
    (site / page.path).parent.mkdir(exist_ok=True)
    with NamedTemporaryFile(dir=site, delete=False) as written:
        written.write(Renderer(load_theme(None), str).render(page))
    Path(written.name).rename(site / page.path)  # other processes read and write it as well
    return site


def write_sources(repo: Path) -> None:
    """A turn of the long transcript is a ninth of a page: parts are as long as ever, begin with a person."""
    folder = repo / "transcripts/engineer"
    write_transcript(folder, LONG, text=talk(TURNS, 5_400, "murmur"))
    write_transcript(folder, SHORT, text=talk(7, 100))
    write_transcript(folder, MANY, text=talk(OUTLINE + 400, 1))
    log = "\n\n".join(f"ferry  {number} is\\late" for number in range(700))
    write_transcript(folder, PASTED, text=f"## User\n\n{log}\n\n## Assistant\n\nWell.\n\n## User\n\nAgain:\n\n{log}\n")
    huge = "\n\n".join(f"passage {number} {'word ' * 400}" for number in range(340))
    write_transcript(folder, SPLIT, text=f"{talk(3, 1)}\n## Assistant\n\n{huge}\n\n{talk(3, 1)}")
    body = f"See [what was said](../../transcripts/engineer/{LONG}.openthing#t22)."
    write_memo(repo / "memos/inbox", MEMO, body=body)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that nobody has used before."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


def turns_of(sources: Path, name: str) -> TurnList:
    """The turns of a transcript, read from its file."""
    text = (sources / f"transcripts/engineer/{name}.body.md").read_text(encoding="utf-8")
    return parse_conversation(text, started=None)


def parts(site: Path, name: str) -> list[Path]:
    """The files of a transcript's page and of its parts."""
    folder = site / "transcripts" / name
    numbered = sorted(folder.glob("[0-9]*/index.html"), key=lambda path: int(path.parent.name))
    return [folder / "index.html", *numbered]


def ids(part: Path) -> list[str]:
    """The turns that a part shows, in order."""
    return found(html.parse(part), "//section[contains(@class, 'turn')]/@id")


def addresses(site: Path, name: str, xpath: str) -> list[str]:
    """Addresses within all parts of a transcript, absolute or below the site."""
    printed = []
    for part in parts(site, name):
        here = f"{part.relative_to(site).as_posix()}"
        printed += [urljoin(here, address) for address in found(html.parse(part), xpath)]
    return printed


def opened(page: Page, address: str, id_: str) -> str:
    """The turn that an address opens in a window that was elsewhere before."""
    page.goto("about:blank")
    page.goto(address)
    return shown(page, id_)


def shown(page: Page, id_: str) -> str:
    """The turn that is at the top when the page has come to rest."""
    turn = page.wait_for_function(AT_TOP, arg=id_, timeout=300_000).json_value()
    assert page.evaluate("location.hash") == f"#{id_}"
    return str(turn)


def wrong(page: Page, base: str, printed: list[str]) -> list[str]:
    """The addresses that do not open the turn whose number they end in."""
    turns = [address.partition("#")[2] for address in printed]
    pairs = zip(printed, turns, strict=True)
    return [address for address, turn in pairs if opened(page, below(base, address), turn) != turn]


def test_the_list_of_parts_names_the_first_turn_of_each(site: Path, sources: Path) -> None:
    """Who has neither a script nor the outline still finds a turn by its number; transcripts are as long as said."""
    assert [len(parts(site, name)) > 3 for name in (LONG, SHORT, MANY, SPLIT)] == [True, False, True, True]
    assert len(turns_of(sources, LONG).turns) == TURNS
    assert int(ids(parts(site, MANY)[-1])[-1][1:]) > OUTLINE
    for part in parts(site, MANY):
        label = html.parse(part).xpath("string((//nav[@class='parts'])[1]//a[@aria-current])")
        assert re.search(r"from turn (\d+)", label)[1] == ids(part)[0].removeprefix("t")  # type: ignore[index]


@pytest.mark.parametrize("name", [LONG, SHORT])
def test_every_address_that_cite_prints_opens_its_turn(
    page: Page, site: Path, sources: Path, base: str, name: str
) -> None:
    """Of people and assistants; the first and the last turn of each part, from disk the first; those by hash, too."""
    printed = addresses(site, name, "//section/details[@class='cite']//a/text()")
    turns = turns_of(sources, name).turns
    assert [address.partition("#")[2] for address in printed] == [turn.anchor for turn in turns]
    assert all(f"/transcripts/{name}/#" in address for address in printed)
    ends = (0, -1) if base.startswith("http") else (0,)
    tried = [int(ids(part)[end][1:]) - 1 for part in parts(site, name) for end in ends]
    assert wrong(page, base, [printed[number] for number in tried]) == []
    for turn in [turns[number] for number in tried[1::2]]:
        assert turn.hash_anchor
        address = f"{base}transcripts/{name}/index.html#{turn.hash_anchor}"
        assert opened(page, address, turn.hash_anchor) == turn.anchor


def test_turns_that_the_outline_does_not_name_are_found(page: Page, sources: Path, base: str) -> None:
    """The last of two thousand and more, the first that is not named, by number and by hash; the last that is."""
    turns = turns_of(sources, MANY).turns
    last, first = turns[-1], turns[OUTLINE]
    tried = [(last.anchor, last), (first.hash_anchor or "", first)]
    if base.startswith("http"):
        named = turns[OUTLINE - 1]
        tried += [(last.hash_anchor or "", last), (first.anchor, first), (named.anchor, named)]
    for anchor, turn in tried:
        assert opened(page, f"{base}transcripts/{MANY}/index.html#{anchor}", anchor) == turn.anchor


def test_passages_of_turns_on_other_parts_and_of_one_that_is_split_are_found(page: Page, site: Path, base: str) -> None:
    """By the address of the transcript; a split turn where it begins, what follows where it is."""
    for part in parts(site, LONG):
        anchor = found(html.parse(part), "//section[@class='turn']//p[contains(@id, '-p-')]/@id")[-2]
        turn = anchor.partition("-")[0]
        assert opened(page, f"{base}transcripts/{LONG}/index.html#{anchor}", anchor) == turn
    for part in parts(site, SPLIT)[1:]:  # before it there are three turns
        anchor = found(html.parse(part), "//section//p[contains(@id, 't4-p-')]/@id")[-1]
        page.goto("about:blank")
        page.goto(f"{base}transcripts/{SPLIT}/index.html#{anchor}")
        page.wait_for_function(AT_TOP.replace('closest("section.turn")', "closest('p')"), arg=anchor)
        assert page.url.startswith(f"{base}{part.relative_to(site).as_posix()}")
    tried = [("", "t1"), ("", "t4"), ("", "t7"), ("2/", "t1"), ("2/", "t5"), ("3/", "t4"), ("3/", "t7")]
    for number, turn in tried if base.startswith("http") else tried[1::2]:
        assert opened(page, f"{base}transcripts/{SPLIT}/{number}index.html#{turn}", turn) == turn


def test_an_address_within_a_folded_input_unfolds_it(page: Page, site: Path, base: str) -> None:
    """Pasted logs do not fill the page; what is cited of them is shown, as it was typed."""
    file = site / "transcripts" / PASTED / "index.html"
    anchor = str(html.parse(file).xpath("string(//section[@id='t3']//span[contains(., 'ferry  555 ')]/@id)"))
    page.goto(f"{base}transcripts/{PASTED}/index.html")
    assert page.evaluate("document.documentElement.scrollHeight") < 3_000
    assert page.locator("details.long").count() == 2
    assert opened(page, f"{base}transcripts/{PASTED}/index.html#{anchor}", anchor) == "t3"
    assert page.locator("details.long[open]").count() == 1
    assert page.locator(f"[id='{anchor}']").inner_text() == "ferry  555 is\\late"
    lines = "(pre) => pre.innerText.trimEnd() === pre.textContent.trimEnd()"
    assert all(page.locator("#t3 pre.typed").nth(number).evaluate(lines) for number in range(2))


def test_an_address_opens_its_turn_from_another_part_and_where_the_transcript_is_open(page: Page, base: str) -> None:
    """Whatever an earlier version had on that part; a link to a turn of this page, of another part, and back.

    The page at the address of a former id leads on, with the anchor.
    """
    last = f"t{TURNS - 1}"
    assert opened(page, f"{base}transcripts/{LONG}/2/index.html#t3", "t3") == "t3"
    assert opened(page, f"{base}transcripts/{LONG}/2/index.html#{last}", last) == last
    page.goto(f"{base}transcripts/{LONG}/index.html")
    for turn in ("t3", "t22", "t5"):
        page.evaluate("(turn) => { location.hash = turn }", turn)
        assert shown(page, turn) == turn
    assert opened(page, f"{base}transcripts/former/index.html#t3", "t3") == "t3"
    assert f"/{LONG}/index.html" in page.url
    assert opened(page, f"{base}transcripts/former/index.html#t22", "t22") == "t22"


def test_every_hit_opens_its_turn(
    page: Page, sources: Path, site: Path, base: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of words and of the output of tools, on the command line and in the browser, whose first answer has not all."""
    told: list[str] = []
    linked: list[str] = []
    for query, hits in (("murmur", TURNS), ("murmur in:tools", TURNS // 3)):
        words = ["search", "--site", str(sources), "--limit", "100", "--json", "--base-url", "https://quay.example/"]
        assert main([*words, query]) == 0
        told += [hit["url"] for hit in json.loads(capsys.readouterr().out)["hits"]]
        page.goto(f"{base}search/index.html?q={query}")
        page.wait_for_function(f"() => document.getElementById('_status').textContent === '{hits} results in 1 item'")
        while (before := page.locator("#_hits a").count()) < hits:
            page.locator("#_more").click()
            page.wait_for_function(f"() => document.querySelectorAll('#_hits a').length > {before}")
        linked += page.locator("#_hits a").evaluate_all("(links) => links.map((link) => link.href.split(':~:')[0])")
    from_disk = [sorted(below(f"{site.as_uri()}/", address) for address in printed) for printed in (told, linked)]
    assert from_disk[0] == from_disk[1]
    assert len(told) == TURNS + TURNS // 3 and lost(site, told) == []
    assert wrong(page, base, linked[::7]) == []


def lost(site: Path, printed: list[str]) -> list[str]:
    """The addresses whose own file does not show the turn."""
    files = [(one, below(f"{site.as_uri()}/", one).partition("#")) for one in printed]
    return [
        one for one, (file, _, anchor) in files
        if not found(html.parse(file.removeprefix("file://")), f"//section[@id='{anchor}']/@id")
    ]  # fmt: skip


def test_every_link_of_the_outline_and_of_a_memo_opens_its_turn(page: Page, site: Path, base: str) -> None:
    """The contents name what people said; a memo may name any turn."""
    outline = addresses(site, LONG, "//nav[@class='outline']//a/@href")
    here = f"memos/{MEMO}/index.html"
    memo = [urljoin(here, href) for href in found(html.parse(site / here), "//div[@class='prose']//a/@href")]
    assert [address.partition("#")[2] for address in memo] == ["t22"]
    assert len(outline) > TURNS // 3 and wrong(page, base, [*outline[::3], *memo]) == []


def test_without_a_script_the_address_of_a_turn_leads_to_a_page_that_links_to_it(
    browser: Browser, site: Path, base: str
) -> None:
    """Its row in the outline, or else the list of parts, says where it is; the page is loaded once for all turns."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    first, *others = parts(site, LONG)
    part_of = {turn: part.relative_to(first.parent).as_posix() for part in others for turn in ids(part)}
    anchors = [f"t{number}" for number in range(1, TURNS + 1)]
    for anchor in reversed(anchors):
        page.goto(f"{base}transcripts/{LONG}/index.html#{anchor}")
        row = page.locator(f"section[id={anchor}], li:has([id={anchor}])")
        box = row.bounding_box()
        assert box and 0 <= box["y"] < 800
        if row.get_attribute("id") != anchor:
            assert (row.locator("a").get_attribute("href") or "").partition("#")[0] == part_of.pop(anchor)
    assert part_of == {}
    context.close()


def test_the_end_of_a_full_part_does_not_move_when_turns_are_appended() -> None:
    """Else the address of a part would lose its turns (SPEC 4)."""
    body = "".join(f"## User\n\n{'word ' * 200}\n\n" for _ in range(3_000))
    texts = parse_conversation(body, started=None).turns
    whole = cut_turns(texts)
    for count in (300, 301, 777, OUTLINE, OUTLINE + 1):
        assert cut_turns(texts[:count])[:-1] == whole[: len(cut_turns(texts[:count])) - 1]
