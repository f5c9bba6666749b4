"""Fuzzes what makes HTML of texts: Markdown, what people typed, transcripts, and comparisons.

Whatever is written, the HTML has known elements, attributes, classes and destinations only, closed in order, and is
of bounded size; and nothing fails, not even below the net that catches the parser's errors.
"""

import datetime as dt
import hashlib
import re
from typing import get_args

from hypothesis import strategies as st

from memosite.facts.json_text import clean_text
from memosite.facts.parsed import Order
from memosite.formats.turns import blocks, last_turn_at, local_time, parse_conversation
from memosite.markdown import tokens as markdown_tokens
from memosite.markdown.html import fences, passage_anchors, to_html, to_typed_html
from memosite.markdown.plain import read_places
from memosite.markdown.tokens import read_body
from memosite.render.difference import compare, compare_turns, cut_to, html_bytes
from tests.support.fuzzing import PAGES, fuzz
from tests.support.mutations import mutated, mutated_lines
from tests.support.plain import plain_text
from tests.support.strict_html import passage_ids, read

TARGET = "../t/index.html"
LINKS = dict.fromkeys(
    ["x.md", "decisions/x.md", "a b+(1).md", "2026-05-01-1430--a--b--c", "決定/一.md", "[", "*"], TARGET
)
TEXTS_OF_PEOPLE = [text[:6_000] for text in PAGES.values()]
SEEDS = [
    *TEXTS_OF_PEOPLE,
    "# A\n\n== B ==\n\n- [ ] a\n  1. b\n\n> c\n> > d\n\n| a | b |\n|:--|--:|\n| `x` | ~~z~~ |\n\n```py\nx = 1\n```\n",
    "a[^1] and b[^n]\n\n[^1]: one\n\n    two\n\n[^n]: > quoted\n\n[r]: <x.md> 'title'\n\n[r] ![i](x.md) <https://a.example>",
    '[a](javascript:alert(1)) [b](data:text/html,x) [c](x.md#d "e") <script>f</script> &#106;avascript: &lt;',
    "    code\n\n~~~~html\n<b>\n~~~\n~~~~\n\n***a** _b*_ `` c ` d `` \\* <!-- e --> https://a.example/(b). *x.md*",
]
TALKS = [
    *(text for text in TEXTS_OF_PEOPLE if text.startswith(("# Claude Code Transcript", "## User"))),
    (
        "# T\n\n---\n\n## 🧑 Ada <sub>5/1/2026, 2:30:00 PM</sub>\n\nhi\n\n---\n\n"
        "## 🤖 Assistant *(m)* <sub>5/1/2026, 2:31:00 PM</sub>\n"
        "\n> **🔧 Bash** <sub>2:31:05 PM</sub>\n> ```\n> ls\n> ```\n\n<ide_selection>x\ny</ide_selection>\n\nyes\n"
    ),
    "## User\n\n```\n## Assistant\n```\n\n## Assistant\n\n<system-reminder>a</system-reminder>\n\n## Human\n\nb\n",
]
WORDS = (
    *("# ", "## ", "== ", " ==", "- ", "1. ", "> ", "| a | b |", "|---|:-:|", "```", "~~~~", "    ", "\t", "[^1]"),
    *("[^1]: ", "[a](x.md)", "![", "](", "[a]: ", "<https://", "<a@b.c>", "&#x6A;", "&Tab;", "x.md", "`", "**", "__"),
    *("~~", "\\", "---", "===", "<script>", "<!--", "]]>", "</pre>", "https://a.example/(b)", "mailto:a"),
    *("javascript:", "//e.example", "## User", "## Assistant", "## 🧑 Ada <sub>5/1/2026, 2:30:00 PM</sub>"),
    *("> **🔧 Bash**", "<a_b>", "</a_b>", "- [x] "),
)
PIECES = [
    *"\n\n\n      \t>>--*_~`|#=[](){}<>!&;:\\\"'/.",
    *("\n\n", "\n# ", "\n## a\n", "\n== b ==\n", "\n- ", "\n- [x] ", "\n1. ", "\n> ", "\n    ", "\n---\n", "\n===\n"),
    *("[^1]", "[^b]", "\n[^1]: ", "\n[^b]: a\n", "\n    > ", "[^", "\n```json\n", "\n```", "\n~~~ js\n"),
    *("\n|a|b|\n|-|:-:|\n|", "**", "~~", "``", "[a](", "![b](", "](", "[a]: ", "\n[a]: x.md\n", "[a][b]"),
    *("<a href=x onclick=y>", "<script>", "<!--", "<![CDATA[", "</p>", "</div>", "style=", "onerror=", "&quot;"),
    *("&#x22;", "&#10;", "&#0;", "javascript:", "data:text/html,", "https://", "https://a.b/c", "mailto:a@b", "//c"),
    *("x.md", "decisions/x.md", "../decisions/x.md#b", "2026-04-30-1100--a--b--c", "a b+(1).md", "#a", "#b", "word"),
    *("é", "\x00", "\ud800", "\u202e", "\ufeff", "决定", "\r", "\x0b", "\u2028"),
]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(
    st.characters(exclude_categories=()), max_size=60
)
TEXTS = (
    mutated_lines(SEEDS, WORDS)
    | mutated([seed.encode() for seed in SEEDS], [word.encode() for word in WORDS]).map(
        lambda data: data.decode("utf-8", "replace")
    )
    | HOSTILE
)
KEYS = st.dictionaries(st.sampled_from([piece for piece in PIECES if piece.strip()]), st.just(TARGET), max_size=8)
CONVERSATIONS = mutated_lines(TALKS, WORDS)
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def check_size(html: str, text: str) -> None:
    """A page does not outgrow its text without bound."""
    size = len(text.encode("utf-8", "surrogatepass"))
    assert len(html.encode("utf-8")) <= 20 * size + 3_000_000


def check_html(html: str, prefix: str = "") -> None:
    """Well-formed, each id with its prefix, each link to a place that is allowed, and nothing that no page may hold."""
    reader = read(html)
    assert all(name.startswith(prefix) for name in reader.ids)
    for href in reader.hrefs:
        assert href.startswith((TARGET, f"#{prefix}")) or re.match(r"(?i)(https?://[^/\s]|mailto:.)", href)
        assert href[1:] in reader.ids or not href.startswith("#")
    assert not CONTROLS.search("".join(reader.words))


@fuzz(
    st.tuples(TEXTS, KEYS | st.just(LINKS), st.sampled_from(["", "p-", '"><x']), st.integers(-1, 9)),
    examples=400,
    known=[
        ("- # A\n  b\n", LINKS, "p-", 2),
        ("- > a\n  ---\n  b\n- c", LINKS, "p-", 2),
        ("[a <https://b.c> ![d](e)](f)\n\n[f]: x", {"f": TARGET}, "", 2),
    ],
)
def test_markdown_becomes_safe_html(case: tuple[str, dict[str, str], str, int]) -> None:
    """With the words of its plain text, and with places that lead to ids of it."""
    text, links, prefix, level = case
    html = to_html(text, links=links, prefix=prefix, base_level=level, with_passages=True)
    assert to_html(text, links=links, prefix=prefix, base_level=level, with_passages=True) == html
    check_html(html, prefix)
    check_size(html, text)
    ids = {name.removeprefix(prefix) for name in read(html).ids}
    body = read_body(text)
    assert {heading.anchor for heading in body.headings} <= ids
    anchors = [anchor for _, anchor in passage_anchors(text)]
    assert set(anchors) == ids and len(set(anchors)) == len(anchors)
    lines = body.source.count("\n") + 1
    assert all(0 <= line < lines for line, _ in passage_anchors(text))
    assert len(plain_text(text)) <= 4 * len(text) + 1_000


@fuzz(HOSTILE.filter(lambda text: "!" not in text), examples=300)
def test_plain_text_has_the_words_that_a_reader_sees(text: str) -> None:
    """HTML and plain text hold the same words in the same order; the bars of tables are no words."""
    plain, shown = plain_text(text), "".join(read(to_html(text, links=LINKS)).words)
    assert "".join(plain.replace("|", " ").split()) == "".join(shown.replace("|", " ").split())


@fuzz(st.tuples(HOSTILE, HOSTILE), examples=300, known=[("a\n\n- b\n- c", "- d\n\ne")])
def test_anchors_do_not_move_when_text_is_appended(case: tuple[str, str]) -> None:
    """A citation of a heading, a paragraph or an item holds when a transcript grows; those of headings are words.

    That of a definition of a link does until something refers to it.
    """
    text, more = case
    anchors = [found.anchor for found in read_body(text).headings]
    assert [found.anchor for found in read_body(f"{text}\n\n{more}").headings][: len(anchors)] == anchors
    assert len(set(anchors)) == len(anchors)
    assert all(re.fullmatch(r"[^\W_]+(-[^\W_]+)*", anchor) and len(anchor) <= 60 for anchor in anchors)
    text = f"{text}\n\nThe *end*."
    definitions = {found.anchor for found in read_body(text).passages if found.content.startswith("[")}
    assert passage_ids(text) - definitions <= passage_ids(f"{text}\n\nMore. {more}")


MARKS = st.lists(
    st.sampled_from(["> ", "- ", "1. ", "  ", "    ", "# ", "| ", "```", "\t", "[^1]: "]), max_size=14
).map("".join)


@fuzz(st.lists(MARKS, max_size=12), examples=300)
def test_no_line_is_dropped(marks: list[str]) -> None:
    """However blocks are nested, each line's word is shown, unless it names the language of a fence."""
    text = "\n".join(f"{mark}word{number}." for number, mark in enumerate(marks))
    shown = "".join(read(to_html(text, links=LINKS)).words)
    for name, words in (("html", shown), ("plain", plain_text(text))):
        for number, mark in enumerate(marks):
            assert f"word{number}." in words or "```" in mark, name


FORMS = st.sampled_from(
    [
        *("{}", "{}", "", "", "[{}]: {}", "[a]: {}", "[b]: <{}> '{}'", "[a]:", "[^a]: {}", "[^{}]: {}", "[^{}]:"),
        *("{} [a] [^a]", "[{}][b]", "![{}][a]", "| {} | {} |", "|---|---|", "| {} | {} | {} |", "{} | {}", "|{}|||{}"),
        *("```{} {} {}", "```{{{}}} {}", "```{}", "```", "~~~ {}", "<!-- {} -->", "{} <!-- {}", "{} --> {}", "<!--"),
        *("-->", "# {} <!-- {} -->", '[{}]({} "{}")', "![{}]({} '{}')", '[![{}](a "{}")](b "{}")', "<{}>", "&{};"),
        *("\\{}", ":::{} {}", "== {} ==", "{}\n===", "<b title='{}'>", "{}  ", "[ ] {}", "---"),
    ]
)
COMMENTS = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@fuzz(
    st.lists(st.tuples(MARKS.map(lambda marks: marks[:8]), FORMS), max_size=14),
    examples=600,
    known=[
        [("", "[{}]: {}"), ("", "{}")],
        [("- ", "[{}]: {}"), ("  ", "{}")],
        [("", "| {} | {} |"), ("", "|---|---|"), ("", "| {} | {} | {} |")],
        [("", "[a]: {}"), ("", "[a]: {}"), ("", ""), ("", "{} [a]")],
    ],
)
def test_every_word_is_on_the_page_but_those_of_comments(lines: list[tuple[str, str]]) -> None:
    """To a reader who knows of Markdown only where comments are; what a link leads to, and is called, is in tags."""
    count = 0
    written = []
    for marks, form in lines:
        fields = form.count("{}")
        written.append(marks + form.format(*(f"w{number:03}" for number in range(count, count + fields))))
        count += fields
    text = "\n".join(written)
    html = to_html(text, links={}, with_passages=True)
    check_html(html)
    for word in re.findall(r"w\d{3}", COMMENTS.sub("", text)):
        assert word in html, word


@fuzz(TEXTS, examples=120)
def test_the_parser_below_does_not_fail_and_what_was_typed_is_shown_as_typed(text: str) -> None:
    """What catches its errors is not what makes checks pass; character for character, but for what no page may hold."""
    markdown_tokens._parser().parse(markdown_tokens.printable_text(text), {})
    places = read_places(clean_text(text))
    assert all(1 <= line <= places.end and anchor in places.anchors for line, anchor in places.lines)
    for fragment in ("a", "#", "%", text[:50]):
        assert places.named(fragment) is None or places.named(fragment) in places.anchors
    lines = markdown_tokens.printable_text(text).split("\n")
    html = to_typed_html(lines, links=LINKS, targets={0: ["a"], len(lines) - 1: ["b", "c"]})
    reader = read(html)
    assert "".join(reader.words) == "\n".join(lines)
    check_size(html, text)
    assert all(0 <= start < end <= len(lines) for start, end in fences(lines))


STARTED = [
    None,
    *map(dt.datetime.fromisoformat, ("2026-05-01T14:30:00-04:00", "0001-01-01T00:00:00+14:00", "9999-12-31")),
]


@fuzz(st.tuples(CONVERSATIONS, st.sampled_from(STARTED)), examples=120)
def test_a_transcript_is_cut_into_turns(case: tuple[str, dt.datetime | None]) -> None:
    """In the order of its lines, each as it stands there, with an address of its own, and blocks that are lines."""
    text, started = clean_text(case[0]).removeprefix("\ufeff"), case[1]
    found = parse_conversation(text, started=started)
    assert found == parse_conversation(text, started=started)
    last_turn_at(found.span, started=started)
    lines = text.split("\n")
    assert [turn.ordinal for turn in found.turns] == list(range(1, len(found.turns) + 1))
    assert all(lines[turn.line - 1].startswith("## ") for turn in found.turns)
    assert [turn.line for turn in found.turns] == sorted({turn.line for turn in found.turns})
    anchors = [turn.hash_anchor for turn in found.turns if turn.hash_anchor]
    assert len(set(anchors)) == len(anchors)
    position = 0
    for turn in found.turns:
        position = text.index(turn.text, position) + len(turn.text)
        assert turn.digest == hashlib.sha256(turn.text.encode("utf-8", "surrogatepass")).hexdigest()
        spans = [(block.start, block.end) for block in blocks(turn.text)]
        assert all(0 <= start < end <= turn.text.count("\n") + 1 for start, end in spans)
        assert spans == sorted(spans)


@fuzz(st.tuples(CONVERSATIONS, CONVERSATIONS), examples=60)
def test_two_texts_are_compared(texts: tuple[str, str]) -> None:
    """Line by line and turn by turn, within the room there is."""
    old, new = texts
    diff = compare(old, new)
    if not diff.is_cut:
        removed = {"".join(words for words, _ in line)[1:] for kind, line in diff.lines if kind == "del"}
        assert all(line in old for line in removed)
    assert html_bytes(cut_to(diff, 2_000)) <= 2_000
    turns = [parse_conversation(text, started=None) for text in texts]
    assert compare_turns(turns[0], turns[1], names=("this", "that"), limit=20_000).bytes <= 21_000


STAMPS = ["5/1/2026, 2:30:00 PM", "2026-05-01T14:30:00-04:00", "12:00:00 AM", "13/13/2026, 25:61:61 XM"]


@fuzz(mutated_lines(STAMPS, ["AM", " ", "2", "/", ":", "٣", "\u202f"]), examples=100)
def test_a_stamp_is_a_time_or_none(text: str) -> None:
    """Any digits in any order; to the second, and without a zone."""
    for found in (local_time(text, order) for order in get_args(Order)):
        assert found is None or (found.tzinfo is None and not found.microsecond)
