"""Long memos and documents: contents, edits after receipt, callouts, folded text, diagrams."""

import re
from html import unescape
from pathlib import Path

from lxml import html

from memosite.markdown.html import to_html
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.plain import plain_text
from tests.support.repos import Repo
from tests.support.sites import build_site

NAME = "2026-05-01-1430--engineer--director--barges"
FILLING = "The lock is full. " * 300


def shown(text: str) -> str:
    """The HTML of a text that mentions nothing."""
    return to_html(text, links={})


def parts(number: int) -> str:
    """A text under a title, with sections and one below each."""
    return "# Barges\n\n" + "".join(f"## Part {n}\n\n{FILLING}\n\n### Detail\n\nx\n\n" for n in range(number))


def listed(page: Path) -> list[tuple[str, str]]:
    """The list of contents: words and targets, each of which is on the page."""
    tree = html.parse(page)
    links = tree.xpath("//nav[@class='outline']//a")
    assert all(tree.xpath("//*[@id=$id]", id=link.get("href")[1:]) for link in links)
    return [(link.text_content(), link.get("href")) for link in links]


def test_long_memos_and_documents_have_contents(tmp_path: Path) -> None:
    """Two levels below the title; short texts, or with few headings, are read from the top."""
    write_memo(tmp_path / "memos/inbox", NAME, body=parts(3))
    write_text(tmp_path / "decisions/barges.md", f"---\ntitle: Barges\n---\n{parts(4)}")
    site = build_site(tmp_path)
    expected = [("Part 0", "#part-0"), ("Detail", "#detail"), ("Part 1", "#part-1"), ("Detail", "#detail-2")]
    assert listed(site / "memos" / NAME / "index.html")[:4] == expected
    (document,) = (site / "documents").glob("*/index.html")
    assert len(listed(document)) == 8


def test_texts_that_are_short_or_have_few_headings_have_none(tmp_path: Path) -> None:
    """They are read from the top."""
    write_memo(tmp_path / "memos/inbox", NAME, body="## A\n\n## B\n\n## C\n\n## D\n\n## E\n")
    write_memo(tmp_path / "memos/inbox", "other", body=f"# A\n\n{FILLING}\n\n## B\n\n{FILLING}\n\n## C\n\nx\n")
    site = build_site(tmp_path)
    assert listed(site / "memos" / NAME / "index.html") == []
    assert listed(site / "memos/other/index.html") == []


def test_an_edit_after_receipt_is_in_the_head(tmp_path: Path) -> None:
    """With its day, and a link to what was changed; not where nothing was."""
    repo = Repo(tmp_path / "office")
    write_memo(repo.root / "memos/inbox", NAME, body="Forty barges.")
    repo.commit("received", at="2026-05-02T12:00:00Z")
    site = build_site(tmp_path)
    page = site / "memos" / NAME / "index.html"
    assert "Edited after receipt" not in page.read_text()
    write_memo(repo.root / "memos/inbox", NAME, body="Thirty-nine barges.")
    repo.commit("corrected", at="2026-05-03T12:00:00Z")
    build_site(tmp_path)
    (link,) = html.parse(page).xpath("//header[@class='title']//a[starts-with(., 'Edited after receipt, 2026-')]")
    path, _, anchor = link.get("href").partition("#")
    assert html.parse(page.parent / path).xpath("//*[@id=$id]", id=anchor)


def test_callouts_have_their_name() -> None:
    """In the letters that were written; folded text loses nothing, and a diagram is code that says what it is."""
    assert shown("> [!NOTE]\n> Mind *this*.") == (
        '<blockquote>\n<p><strong class="callout">NOTE</strong><br>\nMind <em>this</em>.</p>\n</blockquote>\n'
    )
    assert '<strong class="callout">warning</strong></p>' in shown("> [!warning]\n>\n> Mind.")
    for other in (
        *("> [!NOTE] same line", "[!NOTE]\nno quotation", "> Mind.\n>\n> [!NOTE]\n> late"),
        *("> [!OTHER]\n> x", "> - [!NOTE]\n"),
    ):
        assert "callout" not in shown(other), other
    written = "<details open>\n<summary>The log & more</summary>\n\nA line.\n\n</details>\n"
    made = shown(written)
    assert '<span class="tag">&lt;summary&gt;</span><strong>The log &amp; more</strong>' in made
    assert "".join(unescape(re.sub(r"<[^>]*>", "", made)).split()) == "".join(written.split())
    assert "tag" not in shown("`<details>`\n\n```\n<details>\n```\n")
    assert plain_text(written).startswith("<details open>")
    assert '<code class="language-mermaid">' in shown("```mermaid\ngraph TD; A--&gt;B\n```\n")
    css = Path(__file__).parents[1].joinpath("static/memosite.css").read_text()
    assert '.language-mermaid::before { content: "Mermaid diagram' in css
