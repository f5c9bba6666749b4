"""How to follow a position: its page and `/feeds/` have what is to be copied."""

import shlex
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import etree, html

from tests.support.chromium import chromium
from tests.support.memos import write_memo
from tests.support.servers import serve_folder
from tests.support.sites import build_site

BASE = "https://memos.example.org/"


@pytest.mark.parametrize("base", [BASE, None])
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
        local = base or "http://127.0.0.1:8000/"
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
    """Each choice has the command of that position and leads to the others, without a script."""
    tree = html.parse(example_site / "feeds/index.html").getroot()
    choices = tree.xpath("//h2[.='Follow a position']/following-sibling::details")
    links = [choice.find(".//a").get("href") for choice in choices]
    pages = (example_site / "positions").glob("*/index.html")
    assert len(links) == len(set(links)) == sum('id="follow"' in one.read_text() for one in pages) > 5
    for choice, link in zip(choices, links, strict=True):
        page, _, anchor = link.partition("#")
        there = html.parse(example_site / "feeds" / page).getroot()
        assert there.get_element_by_id(anchor) is not None
        assert there.get_element_by_id("_watch").text_content() == choice.findtext("./p/code")


def test_what_is_copied_is_said(example_site: Path) -> None:
    """By keyboard; where the clipboard is not to be had, the text is selected, and that is said."""
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
