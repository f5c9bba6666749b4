"""Rendering: a page of each class, as a good page, with hostile content, and with faulty themes."""

import types
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from lxml import html as lxml_html

from memosite.facts.errors import ConfigError
from memosite.facts.findings import Severity
from memosite.facts.values import Value, replace
from memosite.pages import PAGE_CHARS, ArtifactPage, ListPage, ListSection, Page, Row, TurnRange, VariantRow
from memosite.plan.actions import ActionListPage, ActionsPage
from memosite.plan.decisions import DecisionsPage
from memosite.plan.feed_page import FeedsPage
from memosite.plan.health import HealthPage
from memosite.plan.home import HomePage
from memosite.plan.memos import MemoPage
from memosite.plan.organization import Chart, ChartBox, ChartLine, OrganizationPage
from memosite.plan.positions import PositionPage
from memosite.plan.records import RecordPage
from memosite.plan.removed import GonePage, NotFoundPage
from memosite.plan.search import SearchPage
from memosite.plan.sessions import SessionsPage
from memosite.plan.threads import ThreadMember, ThreadPage, ThreadsPage
from memosite.plan.transcripts import TranscriptPage
from memosite.render.difference import compare
from memosite.render.renderer import Renderer
from memosite.render.theme import Theme, load_theme
from tests.support.page_samples import (
    MEMO_TEXT,
    SITE,
    TALK,
    TEXTS,
    body,
    page_of,
    ref,
    renderer_of,
    sample,
    sample_pages,
    shelve,
    talk,
)

THEME = load_theme(None)
RENDERER = renderer_of(THEME, TEXTS.__getitem__)
HOSTILE = "\"'><script>alert(1)</script><b onclick=alert(2)>&amp; javascript:alert(3)"
NEEDED = {"href", "here", "root", "base_path", "path", "anchor", "links", "title", "language", "sha256"}
VOID = {"br", "hr", "img", "input", "link", "meta", "wbr"}
NOT_IN_A_PARAGRAPH = {"p", "div", "ul", "ol", "dl", "pre", "table", "section", "h1", "h2", "h3", "h4", "details", "nav"}


class Structure(HTMLParser):
    """Holds a page to what browsers need not mend: each tag closed in order, no block within a paragraph."""

    def __init__(self) -> None:
        """Start outside of every element."""
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a block within a paragraph, and an attribute given twice."""
        if "p" in self.open and tag in NOT_IN_A_PARAGRAPH:
            self.faults.append(f"<{tag}> within <p> at {self.getpos()}")
        if len({name for name, _ in attrs}) < len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice at {self.getpos()}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note an end tag that closes something else."""
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")


def rendered(page: Page, renderer: Renderer = RENDERER) -> lxml_html.HtmlElement:
    """A page's HTML, held to what every page must be, as a tree."""
    data = renderer.render(page)
    text = data.decode()
    assert text.startswith("<!doctype html>\n") and text.endswith("</html>\n")
    structure = Structure()
    structure.feed(text)
    assert (structure.faults, structure.open) == ([], [])
    tree = lxml_html.document_fromstring(text)
    top = page.base_path if isinstance(page, NotFoundPage) else page.root
    assert tree.xpath("//style | //iframe | //img | //base | //form[not(@role='search')]") == []
    actions = [action for form in tree.iter("form") if (action := form.get("action")) is not None]
    assert all(action.endswith("search/index.html") and "//" not in action for action in actions)
    first, *others = [(dict(script.attrib), script.text) for script in tree.iter("script")]
    assert first == ({"async": "", "fetchpriority": "high", "src": f"{top}static/memosite.js"}, None)
    assert all("defer" in attributes and not text for attributes, text in others)
    scripted = (
        HomePage, SearchPage, ArtifactPage, ActionsPage, ActionListPage, PositionPage, DecisionsPage, ThreadsPage,
        ListPage, NotFoundPage, FeedsPage, HealthPage, SessionsPage,
    )  # fmt: skip
    assert not others or isinstance(page, scripted)
    assert tree.xpath("//*[@style or @*[starts-with(name(), 'on')]]") == [] and tree.xpath("count(//h1)") == 1
    return tree


def texts(tree: lxml_html.HtmlElement, path: str) -> list[str]:
    """The words of the elements at a path, each on one line."""
    return [" ".join(element.text_content().split()) for element in tree.xpath(path)]


def changed(value: Any, hint: Any, name: str, change: Any) -> Any:
    """A model with `change(name, hint, value)` applied to everything in it that is not a model or a tuple."""
    if isinstance(value, Value):
        hints = get_type_hints(type(value))
        return replace(
            value,
            **{field: changed(getattr(value, field), hints[field], field, change) for field in value.__struct_fields__},
        )
    if isinstance(value, tuple):
        return tuple(changed(item, None, name, change) for item in value)
    return change(name, hint, value)


def is_a_word(hint: Any) -> bool:
    """Whether a field holds one of a few words, such as a mailbox."""
    kinds = get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)
    return any(get_origin(kind) is Literal for kind in kinds)


def made_hostile(name: str, hint: Any, value: Any) -> Any:
    """Hostile text in place of every text that is not one of a few words."""
    if isinstance(value, Severity) or not isinstance(value, str) or not value or is_a_word(hint) or name == "started":
        return value
    if value in TEXTS:
        return shelve(f"{TEXTS[value]}\n\n{HOSTILE}\n\n[x](javascript:alert(4))\n\n![x](https://evil.example/x.png)")
    return HOSTILE


def made_bare(name: str, hint: Any, value: Any) -> Any:
    """Nothing in place of everything that may be absent."""
    if isinstance(value, str) and not is_a_word(hint) and name not in NEEDED:
        return "" if value not in TEXTS else value
    if type(None) in get_args(hint) and name != "total":  # that of a view on home
        return None
    return {bool: False, int: 0}.get(type(value), value)


def without_lists(page: Page) -> Page:
    """A page all of whose tuples are empty and whose optional parts are absent."""
    hints = get_type_hints(type(page))
    changes: dict[str, Any] = {}
    for field in page.__struct_fields__:
        if type(None) in get_args(hints[field]):
            changes[field] = None
        elif isinstance(getattr(page, field), tuple):
            changes[field] = ()
    return replace(page, **changes)


def named(page: Page) -> str:
    """The name of a page's class, for the names of tests."""
    return type(page).__name__


every_page = pytest.mark.parametrize("page", sample_pages(), ids=named)


@every_page
def test_a_page_is_complete_in_order_and_within_its_policy(page: Page) -> None:
    """Landmarks, nothing inline; headings descend by one level, hrefs lead somewhere; equal models, equal bytes."""
    tree = rendered(page)
    assert tree.get("lang") == "en" and texts(tree, "//h1") == [page.title]
    assert (
        len(tree.xpath("//body/header//nav")) == len(tree.xpath("//body/main")) == len(tree.xpath("//body/footer")) == 1
    )
    assert tree.xpath("//body/a[1]/@href") == ["#_main"]
    assert "default-src 'none'" in tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert tree.xpath("//meta[@name='viewport' or @name='color-scheme']/@name") == ["viewport", "color-scheme"]
    assert tree.xpath("//link[@rel='stylesheet']/@href")[0] == f"{page.root}static/memosite.css"
    assert tree.xpath("//link[@rel='canonical']/@href") == [page.canonical]
    alternates = {link.get("href"): link.get("type") for link in tree.xpath("//link[@rel='alternate']")}
    assert alternates == {
        "feed.xml": "application/rss+xml", "index.json": "application/json", "index.md": "text/markdown"
    }  # fmt: skip
    tree = rendered(page)
    levels = [int(str(heading.tag)[1]) for heading in tree.xpath("//h1|//h2|//h3|//h4|//h5|//h6")]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))
    ids = [str(id_) for id_ in tree.xpath("//@id")]
    assert len(ids) == len(set(ids))
    for href in map(str, tree.xpath("//a/@href")):
        assert href[1:] in ids if href.startswith("#") else href.rpartition("/")[2], href
    folder = "" if page.section == "home" else f"{page.section}/"
    marked = tree.xpath("//body/header//a[@aria-current='page']/@href")
    assert marked == ([f"{page.root}{folder}index.html"] if page.section else [])
    assert renderer_of(load_theme(None), TEXTS.__getitem__, cache_bytes=0).render(page) == RENDERER.render(page)


@every_page
def test_a_page_is_made_of_hostile_text_and_of_what_little_is_known(page: Page) -> None:
    """What stands in fields and texts comes out escaped; empty fields and absent parts give a page."""
    tree = rendered(changed(page, None, "", made_hostile))
    assert tree.xpath("//b[@onclick]") == [] and "<script>alert(1)</script>" in tree.text_content()
    for href in map(str, tree.xpath("//a/@href | //link[@rel!='icon']/@href")):
        assert not href.strip().lower().startswith(("javascript:", "data:", "vbscript:")), href
    for poor in (changed(page, None, "", made_bare), without_lists(page)):
        tree = rendered(poor)
        assert "None" not in tree.text_content()
        assert (
            tree.xpath("//a[@href='' or @href='#' or @href='None'][not(ancestor::svg)] | //time[@datetime='None']")
            == []
        )


# Pages of memos


def memo(text: str = MEMO_TEXT, form: str = "markdown", **changes: Any) -> MemoPage:
    """A memo with this text and no other."""
    return sample(MemoPage, **{"body": body(text, form=form), "summary": None, "variants": ()} | changes)


def test_the_head_of_a_memo_says_its_subject_its_mailbox_and_who_has_read_it() -> None:
    """The whole subject where it says more than the title; what is no character does not reach the page."""
    data = RENDERER.render(replace(memo(), title="a\x00b\x1bc\ud800d"))
    assert b'<h1 dir="auto">a?b?c?d</h1>' in data
    assert len(rendered(memo()).xpath("//header/p[@class='subject']")) == 1
    assert rendered(memo(subject=memo().title)).xpath("//header/p[@class='subject']") == []
    page = memo(sender=ref("a"), to=(ref("b"), ref("c", None)), mailbox="inbox", unread="unread by 1 of 2", answers=1)
    (said,) = texts(rendered(page), "//header/p[@class='envelope']")
    assert said.startswith("From a to b, c · inbox · unread by 1 of 2 · ") and " · 1 reply " in said
    assert rendered(memo(summary=None)).xpath("//section[@class='summary'] | //h2[@class='label']") == []


def test_copies_with_other_content_are_compared_in_words_and_line_by_line() -> None:
    """Texts and envelopes, the files folded; what lines share is not marked; a diff of huge texts is bounded."""
    head = '{"memodef": "0.4.0", "type": "memodef:Memo", "from": "a", "to": ["b"], "subject": "Plan",\n"body": '
    variant = sample(
        VariantRow, file="x.openthing", shown_envelope=shelve(head + '"One.\\nTwo.\\nThree."}'),
        other_envelope=shelve(head + '"One.\\n2.\\nThree."}'), shown_body=shelve(MEMO_TEXT), other_body=shelve("Ice."),
    )  # fmt: skip
    tree = rendered(memo(variants=(variant,)))
    text, envelope = tree.xpath("//section[@class='variants']//div[starts-with(@class, 'diff')]")
    assert " ".join(envelope.text_content().split()) == "One. 2.Two. Three."
    assert (envelope.xpath("del/text()"), envelope.xpath("ins/text()"), text.xpath("del/text()")) == (
        ["2."], ["Two."], ["Ice."],
    )  # fmt: skip
    assert tree.xpath("//ul[contains(@class, 'said')]/li/text()")[-1] == "1 word of the text changed"
    (lines,) = tree.xpath("//section[@class='variants']//details/pre[@class='diff']")
    assert [line.text_content() for line in lines if line.get("class") in {"ins", "del"}] == ["-2.\\n", "+Two.\\n"]
    found = compare("Two loads, on Friday.\nSame.\nGone", "Two trial loads, on Friday.\nSame.\nNew words")
    assert found.lines[1:] == (
        ("del", (("-Two ", False), ("loads, on Friday.", False))),
        ("ins", (("+Two ", False), ("trial ", True), ("loads, on Friday.", False))), ("same", ((" Same.", False),)),
        ("del", (("-Gone", False),)), ("ins", (("+New words", False),)),
    )  # fmt: skip
    counts, others = ("".join(f"{number % most}\n" for number in range(9_000)) for most in (9_000, 7))
    envelope = shelve("{}")
    variant = VariantRow(
        label="x", file="x.openthing", shown_envelope=envelope, other_envelope=envelope, shown_body=shelve(counts),
        other_body=shelve(others),
    )  # fmt: skip
    tree = rendered(memo(variants=(variant,)))
    assert len(tree.xpath("//div[contains(@class, 'diff')]/*")) < 4_100
    assert "Only the beginning of the two texts is compared." in tree.text_content()


def test_a_text_that_would_not_fit_a_page_is_cut_and_its_front_matter_folded() -> None:
    """HTML may be many times as long as its source; YAML at the head is not taken for a heading."""
    for text, form in [("&" * (PAGE_CHARS + 1), "verbatim"), ("&" * 590_000, "markdown")]:
        page = memo(text, form, is_cut=form == "verbatim", originals=(ref("one.openthing"), ref("one.body.md")))
        tree = rendered(page)
        assert "Only the beginning of this text is shown." in tree.text_content()
        assert any(said.endswith("Original file: one.openthing, one.body.md.") for said in texts(tree, "//p"))
        assert len(RENDERER.render(page)) < 1_000_000
    tree = rendered(memo("---\ntitle: One record\nstatus: accepted\n---\n\n# One record\n"))
    folded = tree.xpath("//details[@class='front-matter']/pre")[0].text_content()
    assert folded == "\ntitle: One record\nstatus: accepted\n"
    assert "status: accepted" not in " ".join(texts(tree, "//h2 | //h3"))
    tree = rendered(memo(f"---\nkey: {'&' * 200_000}\n---\nThe text itself."))
    assert texts(tree, "//details[@class='front-matter']/pre")[0].endswith("&…")
    assert "The text itself." in texts(tree, "//p")


# Pages of transcripts


def transcript(text: str = TALK, **changes: Any) -> TranscriptPage:
    """The page of a conversation."""
    return sample(TranscriptPage, body=talk(text, **changes), variants=())


def test_tool_calls_are_folded_and_asides_are_quiet_unless_a_person_typed_them() -> None:
    """A call shows its name and first line, typed text is as typed; hostile speakers and tools stay text."""
    tree = rendered(transcript())
    assert texts(tree, "//details[@class='tool']/summary") == ["Bash water --all 09:22:50"]
    assert texts(tree, "//p[@class='tool']") == ["Glob 09:22:51"]
    typed = tree.xpath("//section[@id='t1']/div/pre[@class='typed']")
    aside = "<ide_selection>The ficus is selected.</ide_selection>"
    assert aside in "".join(pre.text_content() for pre in typed)
    assert tree.xpath("//section[@id='t2']//pre[@class='typed']") == []
    tree = rendered(transcript(f"## User\n\nA?\n\n## Assistant\n\n{aside}\n"))
    assert texts(tree, "//aside") == ["ide_selection The ficus is selected."]
    bad = "<script>alert(1)</script>"
    text = (
        f"---\n\n## 🧑 {bad} *({bad})* <sub>4/14/2026, 9:22:47 AM</sub>\n\n> **🔧 {bad}** <sub>{bad}</sub>\n> {bad}\n"
    )
    text += f"\n> **🔧 {bad}**\n> ```\n> {bad}\n> ```\n\n{bad}\n"
    tree = rendered(transcript(text))
    assert texts(tree, "//section[@id='t1']//h2") == [bad]
    assert texts(tree, "//section[@id='t1']/details[@class='tool']/summary") == [f"{bad} {bad}"]
    tree = rendered(transcript("A: hello\n<b>B</b>: hi\n"))
    assert tree.xpath("//pre[@class='verbatim']")[0].text_content() == "\nA: hello\n<b>B</b>: hi\n"


def test_the_outline_and_each_part_count_the_turns_of_a_transcript() -> None:
    """Under the prefix of the text; a short talk needs no outline, only the first part has the preamble."""
    asked = "".join(f"## User\n\nQuestion **{n}**?\n\n## Assistant\n\nYes.\n\n" for n in range(3))
    tree = rendered(transcript(asked, prefix="x-"))
    assert texts(tree, "//nav[@class='outline']//summary") == ["Outline 6 turns"]
    assert texts(tree, "//nav[@class='outline']//li/a/span[2]") == [f"Question {n}?" for n in range(3)]
    assert tree.xpath("//nav[@class='outline']//li/@value") == ["1", "3", "5"]
    assert tree.xpath("//nav[@class='outline']//a/@href") == ["#x-t1", "#x-t3", "#x-t5"]
    short = rendered(transcript("## User\n\nA?\n\n## Assistant\n\nB.\n"))
    assert short.xpath("//nav[@class='outline']") == []
    tree = rendered(transcript(turns=TurnRange(first=1, end=3), prefix="x-"))
    assert tree.xpath("//section[contains(@class, 'turn')]/@id") == ["x-t2", "x-t3"]
    assert tree.xpath("//section[@class='preamble']") == []


# What is kept of texts


class Read(list[str]):
    """Which texts were read, by their digests."""

    def __call__(self, digest: str) -> str:
        """Read one."""
        self.append(digest)
        return TEXTS[digest]


def test_a_text_shown_on_many_pages_is_read_once() -> None:
    """With ids and links for each page; the cache is bounded, and what was not used for longest makes room."""
    renderer = renderer_of(THEME, read := Read())
    text = body("# Plan \x1a\n\nSee [above](#plan).", prefix="")
    first = rendered(memo(body=text), renderer)
    member = sample(ThreadMember, row=row("Plan"), summary=None, notice=None, body=replace(text, prefix='m1"-'))
    second = rendered(sample(ThreadPage, members=(member,)), renderer)
    assert read == [text.sha256]
    assert first.xpath("//h3/@id") == ["plan"]
    assert second.xpath("//section//h4/@id | //section//h3/@id") == ['m1"-plan']
    assert "Plan \ufffd" in texts(first, "//h3")[0]
    renderer = renderer_of(THEME, read := Read())
    text = body("# 1 one\n\nSee a.md, [part](<b.md#s t>) and [below](#1-one).", prefix="1")
    for href, kept in (("../a/?x=1&y=2", "#s%20t"), ("https://b.example/'a'", "#s%20t"), ("../a/index.html", "#at")):
        links = (("a.md", href), ("b.md", href + ("#at" if kept == "#at" else "")))
        page = rendered(memo(body=replace(text, links=links)), renderer)
        assert page.xpath("//a[.='a.md']/@href") == [href]
        assert page.xpath("//a[.='part']/@href") == [href + kept]
        assert page.xpath("//a[.='below']/@href") == ["#11-one"]
    assert read == [text.sha256, text.sha256]  # anew only where a link begins to name a place of its own
    for last in [".", "\u2014"]:
        renderer = renderer_of(THEME, read := Read(), cache_bytes=6_000)
        one, two, three = (body(f"{name} " * 800 + last) for name in ("a", "b", "c"))
        for text in (one, two, one, three, one, two):
            renderer.render(memo(body=text))
        assert read == [text.sha256 for text in (one, two, three, two)]


# Other pages


def row(subject: str, **changes: Any) -> Row:
    """A row of a list."""
    return Row(kind="memo", href="../x/index.html", short_subject=subject, **changes)


def test_the_tree_of_a_thread_has_twelve_levels_and_a_chart_says_what_it_is() -> None:
    """Other threads are named; each box is in words or a link; sizes are attributes, colours in the style sheet."""
    rows = (
        row("lost", is_ghost=True, depth=0),
        row("one", depth=1, continued_from=ref("trial loads")),
        row("two", depth=40, continues=(ref("the next"), ref("another"))),
    )
    members = tuple(
        sample(ThreadMember, row=one, anchor=f"memo-{one.short_subject}", body=None, summary=None) for one in rows
    )
    tree = rendered(sample(ThreadPage, tree=rows, members=members))
    assert tree.xpath("//ol[@class='tree']/li/@class") == ["depth-0 ghost", "depth-1", "depth-12"]
    _, one, two = (texts(tree, f"//section[@id='{member.anchor}']")[0] for member in members)
    assert "Continues from trial loads" in one and "Continues in the next, another" in two
    boxes = (
        sample(ChartBox, status="staffed", link=ref("Director")),
        sample(ChartBox, status="vacant", link=ref("Desk", None), words="Desk, vacant"),
    )
    lines = (
        ChartLine(path="M8 8V80", kind="rank"),
        ChartLine(path="M8 8V9", kind="other", words="Desk helps Director"),
    )
    (first, *_) = page_of(OrganizationPage).organizations
    organization = replace(first, chart=Chart(width=300, height=150, boxes=boxes, lines=lines))
    svg = rendered(sample(OrganizationPage, organizations=(organization,), chart=None)).xpath("//svg[@role='group']")[0]
    by_id = {element.get("id"): element.text_content() for element in svg.xpath("./title | ./desc")}
    assert by_id[svg.get("aria-labelledby")].startswith("Chart: ") and by_id[svg.get("aria-describedby")]
    assert svg.xpath(".//a/@class") == ["box staffed"] and svg.xpath(".//g/title/text()") == ["Desk, vacant"]
    assert svg.xpath("./path[@class='other']/title/text()") == ["Desk helps Director"]
    assert svg.xpath(".//@style | .//@fill[. != 'none']") == []


def test_a_list_that_is_cut_or_empty_says_so_and_a_record_what_took_its_place() -> None:
    """The newest of how many; relations from the first, events from the last; what is superseded is struck."""
    rows = (row("Two"), row("One", is_superseded=True, successor=ref("Two"), source="governance"))
    sections = (
        ListSection(heading="Sent", anchor="sent", rows=rows, total=240),
        ListSection(heading="Notes", anchor="notes", rows=(), total=0, empty="Nothing yet."),
    )
    tree = rendered(sample(ListPage, sections=sections))
    assert texts(tree, "//section[@id='sent']/p") == ["Showing the newest 2 of 240."]
    assert texts(tree, "//section[@id='notes']/p") == ["Nothing yet."]
    assert texts(tree, "//li[contains(@class, 'superseded')]//s[@title='superseded']") == ["One"]
    assert texts(tree, "//li[contains(@class, 'superseded')]/span[@class='facts']") == [
        "memo · superseded by Two · governance"
    ]
    totals = (("relations", 400), ("history", 700))
    page = sample(RecordPage, is_superseded=True, successor=ref("Two"), totals=totals, outdated=(), is_cut=False)
    tree = rendered(page)
    assert texts(tree, "//h1/s") == [page.title] and "Superseded by Two." in texts(tree, "//p[@class='notice']")
    assert "Showing the first 2 of 400. All of them:" in tree.text_content()
    assert "Showing the last 2 of 700. All of them:" in tree.text_content()
    page = replace(page, is_superseded=False)
    assert rendered(page).xpath("//s[ancestor::h1] | //p[@class='notice']") == []


def test_navigation_and_rows_are_the_same_on_all_pages_and_right_for_any_address() -> None:
    """Records where there are any, one template for actions; for missing addresses nothing is relative."""
    column = """<span class="facts">{% if row.asked_by and row.of_all %}"""
    board = THEME.templates["board.html"]
    assert column in board
    renderer = renderer_of(own_theme(board=board.replace(column, f"<em>soon</em>{column}")), TEXTS.__getitem__)
    changed = {named(page) for page in sample_pages() if renderer.render(page) != RENDERER.render(page)}
    assert changed == {"PositionPage", "ActionsPage", "ActionListPage"}
    of_timeline = memo(section="timeline")  # the section of a page itself is always there
    without = replace(of_timeline, site=replace(SITE, has_records=False))
    path = "//body/header//a[contains(@href, 'systems/')]"
    assert (texts(rendered(of_timeline), path), texts(rendered(without), path)) == (["Records"], [])
    tree = rendered(replace(page_of(NotFoundPage), root="", feeds=(), twins=(), parts=()))
    links = list(map(str, tree.xpath("//a/@href | //link[@rel='stylesheet']/@href | //script/@src")))
    links = [link for link in links if link != "#_main"]
    for from_disk in ("static/memosite.css", "static/not-found.js"):
        assert links.count(from_disk) == 1
        links.remove(from_disk)
    assert all(link.startswith("/prefix/") for link in links)


# Themes


def own_theme(**templates: str) -> Theme:
    """The bundled theme with templates of a site before it."""
    own = {f"{name}.html": source for name, source in templates.items()}
    return replace(THEME, templates={**THEME.templates, **own}, own=frozenset(own))


def test_faults_of_a_sites_own_templates_name_them_and_styles_ask_for_nothing() -> None:
    """StrictUndefined catches silence, a lost text is not blamed on them; no style sheet names an address."""
    for source, message in [
        ("\n\n{{ page.id | shout }}", r"templates/gone\.html, line 3: No filter named 'shout'"),
        ("{% extends 'nowhere.html' %}", r"there is no template .*nowhere\.html"),
        ("\n{{ page.id / 2 }}", r"templates/gone\.html, line 2: TypeError"),
        ("{{ page.id | body }}", r"templates/gone\.html, line 1: AttributeError"),
        ("{% from 'macros.html' import nothing %}{{ nothing() }}", r"templates/gone\.html, line 1: UndefinedError"),
    ]:
        with pytest.raises(ConfigError, match=message):
            renderer_of(own_theme(gone=source), TEXTS.__getitem__).render(page_of(GonePage))
    renderer = renderer_of(own_theme(gone="<p>\n{{ page.colour }}</p>"), TEXTS.__getitem__)
    with pytest.raises(ConfigError, match=r"templates/gone\.html, line 2: .*colour"):
        renderer.render(page_of(GonePage))
    with pytest.raises(ConfigError, match=r"theme: macros\.html: "):
        renderer_of(own_theme(macros=""), TEXTS.__getitem__).render(memo())
    lost = replace(body("gone"), sha256="0" * 64)
    with pytest.raises(KeyError):
        RENDERER.render(memo(body=lost))
    sheet = THEME.static["memosite.css"].decode()
    for text in (file.decode() for name, file in THEME.static.items() if name.endswith(".css")):
        assert "url(" not in text and "@import" not in text
    assert "color-scheme: light dark" in sheet and "@media print" in sheet
