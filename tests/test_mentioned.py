"""Where artifacts are mentioned: "Mentioned in" leads to the passage and shows its sentence (SPEC 3, links)."""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import html

from memosite.cli import main
from memosite.facts.texts import CHARS, Sentence, sentence_around
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.sites import build_site, built_from_nothing, tree_bytes

PLAN = "2026-05-01-0900--director--engineer--the-plan"
LATER = "2026-05-02-0900--engineer--director--the-answer"
TALK = "2026-05-03-1000--engineer--the-session"
ENVELOPE = f"{PLAN}.openthing"


class Site:
    """A site with a memo that others mention."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memo(PLAN, "We wait for the tide.")

    def memo(self, name: str, text: str) -> None:
        """Let a memo say this."""
        sender, to = name.split("--")[1:3]
        write_memo(self.folder / "office/memos/inbox", name, sender=sender, to=to, body=text)

    def talk(self, *turns: str, **fields: object) -> None:
        """Let the people of a transcript say this, in turn."""
        said = "\n\n".join(f"## {'Assistant' if n % 2 else 'User'}\n\n{turn}" for n, turn in enumerate(turns))
        write_transcript(self.folder / "office/transcripts/engineer", TALK, text=f"{said}\n", **fields)

    def page(self, path: str) -> html.HtmlElement:
        """A page of the site as it was built last."""
        return html.fromstring((self.folder / "_site" / path).read_bytes())

    def twin(self, path: str) -> list[dict[str, str]]:
        """Where a twin says that its artifact is mentioned."""
        found: list[dict[str, str]] = json.loads((self.folder / "_site" / path / "index.json").read_text())[
            "mentioned_in"
        ]
        return found

    def rows(self, path: str = f"memos/{PLAN}") -> list[html.HtmlElement]:
        """The rows of "Mentioned in" on a page."""
        return list(self.page(f"{path}/index.html").xpath("//section[h2='Mentioned in']//li"))

    def led_to(self, row: html.HtmlElement, path: str = f"memos/{PLAN}") -> str:
        """The words of the element that the link of a row leads to."""
        (href,) = row.xpath("./a[contains(@class, 'subject')]/@href")
        page, _, anchor = href.partition("#")
        (found,) = self.page(f"{path}/{page}").xpath(f"//*[@id='{anchor}']")
        return one_line(found)


def one_line(element: html.HtmlElement) -> str:
    """The words of an element."""
    words = element.xpath(".//text()[not(parent::a[@class='anchor'])]")
    return " ".join("".join(map(str, words)).split())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """The site."""
    return Site(tmp_path / "site")


def test_a_row_leads_to_the_paragraph_and_shows_its_sentence(site: Site) -> None:
    """With the mention marked, be it the label of a link, and nothing of the sentences around it."""
    site.memo(LATER, f"First this.\n\nWe met. As `{ENVELOPE}` says, **nobody** leaves. The rest is known.\n\nLast.")
    build_site(site.folder)
    (row,) = site.rows()
    assert site.led_to(row).startswith("We met. As")
    assert one_line(row.xpath(".//p")[0]) == f"As {ENVELOPE} says, nobody leaves."
    assert row.xpath(".//mark/text()") == [ENVELOPE]
    (said,) = site.twin(f"memos/{PLAN}")
    assert (said["by"], said["sentence"]) == (f"memo/{LATER}", f"As {ENVELOPE} says, nobody leaves.")
    assert said["url"].startswith(f"../{LATER}/index.html#p-")
    text = (site.folder / "_site" / f"memos/{PLAN}/index.md").read_text()
    assert "## Mentioned in\n\n- [" in text and f"]({said['url']}): As {ENVELOPE} says" in text
    site.memo(LATER, f"So it is.\n\nThis is in [the\n`plan`](../archive/{ENVELOPE}), as we know.")
    build_site(site.folder)
    (row,) = site.rows()
    assert one_line(row.xpath(".//p")[0]) == "This is in the plan, as we know."
    assert row.xpath(".//mark/text()") == ["the plan"]


def test_rows_lead_to_turns_on_any_part_and_related_memos_both_ways(site: Site) -> None:
    """Each turn once, by number; a memo that is named in a field alone leads to the page."""
    said = f"Look at {ENVELOPE}, and at {ENVELOPE} again."
    site.talk("Hello.", f"Reading.\n\n- one\n- {said}", "And?", f"{said}", f"Also {PLAN}.")
    build_site(site.folder)
    (row,) = site.rows()
    (href,) = row.xpath("./a[contains(@class, 'subject')]/@href")
    assert re.search(r"#t2-p-[0-9a-f]{8}$", href)
    assert site.led_to(row) == said
    assert [one_line(one) for one in row.xpath(".//p[2]/a")] == ["turn 4", "turn 5"]
    assert [one["url"].partition("#")[2].partition("-")[0] for one in site.twin(f"memos/{PLAN}")] == ["t2", "t4", "t5"]
    site.talk("Hello.", f"I wrote {ENVELOPE} now.", related_memos=[ENVELOPE, f"{LATER}.openthing"])
    site.memo(LATER, "Nobody mentions this.")
    build_site(site.folder)
    rows = site.page(f"transcripts/{TALK}/index.html").xpath("//section[h2='Related memos']//li")
    assert [[one_line(one) for one in row.xpath(".//p")] for row in rows] == [
        [f"I wrote {ENVELOPE} now.", "Mentioned in turn 2"],
        [],
    ]
    assert rows[0].xpath(".//p[2]/a/@href")[0].startswith("index.html#t2-p-")
    (named,) = site.rows()
    assert site.led_to(named) == f"I wrote {ENVELOPE} now."
    (alone,) = site.rows(f"memos/{LATER}")
    assert alone.xpath("./a/@href") == [f"../../transcripts/{TALK}/index.html"]
    assert alone.xpath(".//p") == [] and site.twin(f"memos/{LATER}") == []
    long = "word " * 12_000
    site.talk(*[long] * 8, f"It is in {PLAN}.")
    build_site(site.folder)
    (row,) = site.rows()
    href = row.xpath("./a/@href")[0]
    assert href.startswith(f"../../transcripts/{TALK}/index.html#t9-p-")
    first, last = (site.page(f"transcripts/{TALK}/{one}index.html") for one in ("", "3/"))
    assert [len(one.xpath(f"//*[@id='{href.partition('#')[2]}']")) for one in (first, last)] == [0, 1]
    assert "3/index.html#t9" in first.xpath("//a/@href")


@pytest.mark.parametrize(
    ("text", "led_to", "shown"),
    [
        pytest.param(f"# Of {PLAN} alone\n\nMore.", f"Of {PLAN} alone", f"Of {PLAN} alone", id="heading"),
        pytest.param(f"Before.\n\n```\na\nb {PLAN} c\nd\n```\n", f"a b {PLAN} c d", f"b {PLAN} c", id="code"),
        pytest.param(f"Before.\n\n| a | b |\n|---|---|\n| x | {PLAN} |\n", "Before.", f"x | {PLAN} |", id="table"),
        pytest.param(f"> Quoted. Of {PLAN}.\n", f"Quoted. Of {PLAN}.", f"Of {PLAN}.", id="quote"),
        pytest.param(f"- a\n  - b e.g. {PLAN}! So.\n  - c\n", f"b e.g. {PLAN}! So.", f"b e.g. {PLAN}!", id="item"),
    ],
)
def test_a_mention_is_found_in_every_kind_of_block(site: Site, text: str, led_to: str, shown: str) -> None:
    """A table has no passages: the one before it is nearest."""
    site.memo(LATER, text)
    build_site(site.folder)
    (row,) = site.rows()
    assert (site.led_to(row), one_line(row.xpath(".//p")[0])) == (led_to, shown)


def test_withheld_artifacts_show_no_sentence_and_edits_plan_the_mentioned_page_again(site: Site) -> None:
    """What a page does not show, no other shows; each incremental build gives what one from nothing gives."""
    key = "AKIA" + "Z7QH3XWMK2TPLV5D"
    site.memo(LATER, f"The key of {ENVELOPE} is {key}, as agreed.")
    assert main(["build", str(site.folder), "--quiet"]) == 1
    assert not [name for name, data in tree_bytes(site.folder / "_site").items() if b"as agreed" in data]
    site.memo(LATER, f"As {PLAN} says.")
    build_site(site.folder)
    edits: tuple[Callable[[], object], ...] = (
        lambda: site.memo(LATER, f"New.\n\nAs {PLAN} says."),
        lambda: site.talk("Hello.", f"I wrote {ENVELOPE} now."),
        lambda: site.talk("Hello.", "Wait.", f"I wrote {ENVELOPE} now.", related_memos=[ENVELOPE]),
        lambda: site.memo(LATER, "Nothing."),
        lambda: site.memo(PLAN, "Nothing changes this."),
    )
    for number, edit in enumerate(edits):
        edit()
        build_site(site.folder)
        assert tree_bytes(site.folder / "_site") == built_from_nothing(site.folder, site.folder.parent / f"{number}")


def _words(chance: random.Random, names: list[str]) -> Iterator[str]:
    for _ in range(chance.randrange(1, 12)):
        yield chance.choice(["tide", "lock", "**barge**", "the `gate`", "waits.", "and", "é", "so?", "(see", "x)"])
        if chance.random() < 0.12:
            name = chance.choice(names)
            yield chance.choice(
                [name, f"`{name}.openthing`", f"[it]({name}.openthing)", f"memos/inbox/{name}.openthing."]
            )


def _block(chance: random.Random, names: list[str]) -> str:
    line = " ".join(_words(chance, names))
    other = " ".join(_words(chance, names))
    forms = ("{0}", "{0}\n{1}", "## {0}", "- {0}\n- {1}", "1. {0}\n\n   {1}", "> {0}\n> {1}", "| a |\n|---|\n| {0} |")
    return chance.choice(forms).format(line, other)


def _nearest(link: html.HtmlElement) -> str:
    """The id of the nearest element that is around a link of a body, or begins before it."""
    for one in (link, *link.iterancestors()):
        if one.get("id") and not one.get("id").startswith("_"):
            return str(one.get("id"))
    before = link.xpath("preceding::*[ancestor::*[contains(@class, 'prose')]]/@id")
    return str(before[-1]) if before else ""


@pytest.mark.parametrize("seed", range(2))
def test_places_are_those_of_the_links_on_the_pages(tmp_path: Path, seed: int) -> None:
    """Every link in the text of a page has its place, in generated texts of all forms."""
    chance = random.Random(seed)
    site = Site(tmp_path / "site")
    names = [PLAN, *(f"2026-05-0{day}-0900--engineer--director--memo-{day}" for day in range(2, 8))]
    for name in names:
        site.memo(name, "\n\n".join(_block(chance, names) for _ in range(chance.randrange(1, 9))))
    site.talk(*("\n\n".join(_block(chance, names) for _ in range(3)) for _ in range(6)))
    build_site(site.folder)
    found = 0
    for name in names:
        said = {(one["by"], unquote(one["url"].partition("#")[2])) for one in site.twin(f"memos/{name}")}
        for by in (*(f"memos/{one}" for one in names if one != name), f"transcripts/{TALK}"):
            page = site.page(f"{by}/index.html")
            places = [
                _nearest(one)
                for one in page.xpath(f"//*[contains(@class, 'prose')]//a[contains(@href, '/{name}/index.html')]")
            ]
            kept = list(dict.fromkeys(re.sub(r"^(t\d+).*", r"\1", one) for one in places))
            told = [re.sub(r"^(t\d+).*", r"\1", anchor) for ref, anchor in said if ref == by.replace("s/", "/", 1)]
            assert set(told) == (set(kept) - {""} or set(kept)), (name, by)  # what no anchor leads to comes last
            found += len(kept)
    assert found > 5


def test_sentences() -> None:
    """Plain words; a stop ends a sentence before white space only, and not after a single letter."""
    for block, mark, expected in [
        ("One. Two X three. Four.", "X", ("Two ", "X", " three.")),
        ("X", "X", ("", "X", "")),
        ("a X? b", "X", ("a ", "X", "?")),
        ("Dr. A. X e.g. b! c", "X", ("A. ", "X", " e.g. b!")),
        ("これは。その X です。次", "X", ("その ", "X", " です。")),
        ("**a** `X`, [b](c) d", "X", ("a ", "X", ", b d")),
        ("> a\n> - X\n> b", "X", ("a - ", "X", " b")),
        ("a \ue000 X \ue001 b", "X", ("a ", "X", " b")),
    ]:
        start = block.index(mark)
        found = sentence_around(block, start, start + len(mark))
        assert (found.before, found.marked, found.after) == expected, block


@pytest.mark.parametrize("before", ["", "word " * 80, "x" * 3_000, "é" * 200])
@pytest.mark.parametrize("after", ["", " word" * 80, "y" * 3_000, "\U0001f469\u200d\U0001f680" * 100])
@pytest.mark.parametrize("marked", ["X", "name-" * 200])
def test_sentences_are_bounded(before: str, marked: str, after: str) -> None:
    """Whatever is around the mention, which is always there."""
    found = sentence_around(before + marked + after, len(before), len(before + marked))
    assert found.marked and len(found.line) <= CHARS + 10 and found != Sentence()


def test_the_front_of_a_document_leads_to_the_page(site: Site) -> None:
    """No passage has it."""
    write_text(site.folder / "office/decisions/0001-tide.md", f"# Tide\n\nSee {PLAN}.\n")
    build_site(site.folder)
    (row,) = site.rows()
    assert site.led_to(row) == f"See {PLAN}."
