"""The HTML of each template as a file to read and to compare with: the specification of the page.

`tests/golden/<template>.html` is a page of the small site in `tests/golden/site`, written for reading (`golden_html`).
A template may have several, `<template>.<what is special about the page>.html`. What all pages have in common, head,
navigation and foot, is in `base.html` alone.

Whoever changes a template on purpose has the files written again, and reads the difference:

    MEMOSITE_GOLDEN=write ./test tests/test_golden.py
"""

import difflib
import os
import re
from pathlib import Path

import pytest

from memosite import __version__
from tests.support.golden_html import readable
from tests.support.golden_sites import BUILT, GOLDEN, golden_sites

TEMPLATES = Path(__file__).parent.parent / "templates"
SWITCH = "MEMOSITE_GOLDEN"
PAGES = {
    "404": "404.html",
    "base": "index.html",
    "citations": "citations/index.html",
    "captures": "transcripts/2026-05-05-1331--master--north-mark-from-the-tablet/captures/index.html",
    "contract": "spec/feeds/index.html",
    "changes": "memos/2026-04-30-1000--master--director--soundings/changes/index.html",
    "digests": "digests/index.html",
    "document": "documents/office.decisions.0001-dredge.md/index.html",
    "entities": "entities/index.html",
    "entity": "entities/north-pier-186c3ce1/index.html",
    "feeds": "feeds/index.html",
    "ghost": "memos/2026-05-05-0900--clerk--master--which-barge/index.html",
    "gone": "memos/2026-05-02-0900--clerk--master--keys/index.html",
    "health": "health/index.html",
    "home": "index.html",
    "library": "libraries/harbour-forms/index.html",
    "list": "timeline/2026/05/index.html",
    "actions": "actions/index.html",
    "decisions": "decisions/index.html",
    "action_list": "positions/master/actions/index.html",
    "list.system": "systems/memory-store/status/index.html",
    "memo": "memos/2026-05-04-1100--director--master--dredge/index.html",
    "memo.note": "notes/2026-05-07-1200--master--file--depths/index.html",
    "organization": "org/index.html",
    "position": "positions/master/index.html",
    "record": "records/memory-store/pier.decision.steel/index.html",
    "record.mif": "records/mif/office.3b9f2c71-8d40-4e6a-a1c5-7f20d96b4e13/index.html",
    "redirect": "positions/pilot/index.html",
    "search": "search/index.html",
    "sessions": "sessions/index.html",
    "systems": "systems/index.html",
    "thread": "threads/dredging-2026/index.html",
    "thread.withheld": "threads/dredging-2026/index.html",
    "threads": "timeline/threads/index.html",
    "timeline": "timeline/index.html",
    "week": "weeks/2026-W19/index.html",
    "weeks": "weeks/index.html",
    "transcript.session": "transcripts/2026-05-01-1400--claude-code--5f0c1d6e-7a6b-4c61-9a56-1f7f5f0f9a01/index.html",
    "transcript": "transcripts/2026-05-05-1330--master--north-mark/index.html",
    "withheld": "memos/2026-05-04-1100--director--master--dredge/index.html",
}
"""The page that each golden file shows."""
SITES = {
    "thread.withheld": "withheld",
    "withheld": "withheld",
    "sessions": "sessions",
    "transcript.session": "sessions",
}
"""Those of the site in which a memo is published without its content, and of the one of sessions."""
_COMMON = (
    "<meta charset", '<meta http-equiv="Content-Security-Policy"', '<meta name="viewport"', '<meta name="color-scheme"',
    '<meta name="referrer"', '<meta name="generator"', '<link rel="icon"', "<script async",
)  # fmt: skip
"""How the lines of the head begin that all pages have."""
_BASE_SHEET = re.compile(r'<link rel="stylesheet" href="[./]*static/memosite\.css">')
_FOOT = re.compile(r'<p><a href="[./]*feeds/index\.html">Feeds</a> · ')


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_its_golden_file_says_and_that_can_be_read(name: str) -> None:
    """If that was meant to change: see the module. It is short, and knows no moment and no version."""
    site = golden_sites() / SITES.get(name, "site")
    html = (site / "_site" / PAGES[name]).read_text(encoding="utf-8").replace(f"memosite {__version__}", "memosite")
    page = readable(_without_main(html) if name == "base" else _own_part(html))
    if name == "contract":
        page = _beginning(page)
    file = GOLDEN / f"{name}.html"
    if os.environ.get(SWITCH) == "write":
        file.write_text(page, encoding="utf-8")
    golden = file.read_text(encoding="utf-8") if file.is_file() else ""
    before, after = golden.splitlines(keepends=True), page.splitlines(keepends=True)
    difference = "".join(difflib.unified_diff(before, after, f"tests/golden/{name}.html", PAGES[name]))
    if difference:
        advice = f"If this was meant to change: {SWITCH}=write ./test tests/test_golden.py"
        pytest.fail(f"{difference}\n{advice}", pytrace=False)
    text = (GOLDEN / f"{name}.html").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 395
    assert not re.search(rf"{BUILT:%Y-%m-%d}|memosite [0-9]|/tmp/|{re.escape(str(GOLDEN))}", text)


def _without_main(html: str) -> str:
    """What all pages have in common, of one of them."""
    return re.sub(r"(<main [^>]*>).*(</main>)", r"\1<!-- see the other pages -->\2", html, flags=re.DOTALL)


def _beginning(page: str) -> str:
    """The first lines of the contract, which is longer than what its template does with it."""
    lines = page.splitlines(keepends=True)
    return "".join(lines[:60]) + "<!-- and so on -->\n"


def _own_part(html: str) -> str:
    """What a page has of its own: in its head, in `<main>`, and in its foot."""
    head, body = html.partition("</head>")[::2]
    lines = [line for line in head.partition("<head>")[2].splitlines() if not line.startswith(_COMMON)]
    own = "\n".join(line for line in lines if not _BASE_SHEET.fullmatch(line))
    main = body[body.index("<main ") : body.index('<footer class="site">')]
    foot = body[body.index('<footer class="site">') : body.index("</body>")]
    lines = [line for line in foot.splitlines() if not _FOOT.match(line)]
    return f"<head>\n{own}</head>\n{main}" + ("\n".join(lines) if len(lines) > 2 else "")


def test_each_template_has_a_golden_file_and_what_is_not_closed_is_told() -> None:
    """A page is what extends another template and is not itself extended; `base` is shown, too."""
    sources = {file.stem: file.read_text(encoding="utf-8") for file in TEMPLATES.glob("*.html")}
    bases = {name: re.findall(r'{%-? extends "(.+?)\.html"', source) for name, source in sources.items()}
    pages = {name for name, found in bases.items() if found} - {base for found in bases.values() for base in found}
    files = {file.name.removesuffix(".html") for file in GOLDEN.glob("*.html")}
    assert files == set(PAGES) and {name.partition(".")[0] for name in files} == pages | {"base"}
    assert readable('<p class="a  b">One\n  <b>two</b></p>') == '<p class="a  b">One <b>two</b></p>\n'
    for html in ("<p><b></p></b>", "<div><p></div>", "<p>"):
        with pytest.raises(AssertionError, match=r"expected|closed"):
            readable(html)
