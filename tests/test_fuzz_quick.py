"""Compares the quick parser of Markdown with markdown-it, which is the measure: nobody can tell which one read a text.

Of whatever is written, HTML, words, headings, anchors and the lines of passages are equal.
"""

import re
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import strategies as st
from markdown_it.token import Token

from memosite.facts.json_text import clean_text
from memosite.markdown import quick
from memosite.markdown import tokens as markdown_tokens
from memosite.markdown.html import passage_anchors, to_html
from memosite.markdown.plain import read_places, read_spans
from memosite.markdown.tokens import read_body
from tests.support.fuzzing import PAGES, fuzz
from tests.support.mutations import mutated_lines
from tests.support.plain import plain_text

LINKS = dict.fromkeys(["x.md", "a b", "#", "word", "a & b", "a<b"], "../t/index.html")


def everything(text: str) -> tuple[object, ...]:
    """All that is made of a text."""
    markdown_tokens.read_body.cache_clear()
    html = to_html(text, links=LINKS, prefix="p-", with_passages=True)
    anchors = tuple(passage_anchors(text))
    places = read_places(clean_text(text)), read_spans(clean_text(text))
    return html, plain_text(text), read_body(text).headings, anchors, places


def check(text: str) -> None:
    """Whether it was read quickly or not, the text is what it is to markdown-it."""
    with patch.object(markdown_tokens, "read_quickly", return_value=None):
        expected = everything(text)
    assert everything(text) == expected


def is_quick(text: str) -> bool:
    """Whether a text needs no markdown-it for its blocks."""
    return quick.read_quickly(markdown_tokens.printable_text(text), markdown_tokens._spans) is not None


SPAN_TEXTS = [
    *("word", "two words", "x.md", "10", "1.", "é", "中文", "✅", "—", "“q”", "…", "(par)", "it's", ",", ".", ":"),
    *("`code`", "`a_b()`", "`a|b`", "`a\\|b`", "`` a`b ``", "` `", "`", "``", "`a\nb`", "**bold**", "*it*", "_it_"),
    *("__b__", "***bi***", "**a *b* c**", "*a **b** c*", "**b**:", "**b:**", "a**b**c", "*", "**", "_", "__"),
    *("***", "*a*b", "a*b*c", "“**b**”", "—*a*", "é*b*é", "**中**文", "*\u00a0a*", "*(a)*b", "snake_case_x"),
    *("__init__", "_a", "a_", "2 * 3", "*a", "a*", "**a", "a**", "🧿*a*", "*a*\u2028", "\U0001fac8_", "[l](x.md)"),
    *("[`c`](https://a.b/c_d)", "**[l](a)**", "[a](<b c>)", '[a](b "t")', "[a]()", "[[a](b)](c)", "[a](b(c))"),
    *("![i](c)", "[a]", "[ ]", "[x]", "[a][b]", "[*a](b*)", "[a_b](c)", "[a *b](c)*", "](", "[", "]"),
    *("https://a.b/c?d=1_2", "<https://a.b>", "<a@b.c>", "<b>", "</b>", "<b c='d'>", "<!-- e -->", "a<b", "<", ">"),
    *("\\*no\\*", "\\`", "\\", "\\\n", "\\|", "&amp;", "&lt;b&gt;", "&copy", "&nope;", "&#35;", "&#0;", "a & b"),
    *("~~s~~", "!", "#", "-", "+", "|", "=", "==", "~", "$x$", "[^1]", "  ", "\u00a0", "\u3000", "\t"),
    *("\x00", "\ud800"),
]
SPANS = st.sampled_from(SPAN_TEXTS)
LINES: st.SearchStrategy[str] = st.tuples(st.lists(SPANS, min_size=1, max_size=5), st.sampled_from([" ", " ", ""])).map(
    lambda case: case[1].join(case[0])
)
MARKS = st.lists(
    st.sampled_from(
        [
            *("", "", "", "- ", "- ", "  ", "  ", "> ", "> ", "* ", "+ ", "1. ", "2) ", "9. ", "   ", "    ", " "),
            *("\t", "- [ ] ", "- [x] ", "# ", "## ", "#", "####### ", "== ", "=== ", "| ", "|", "-", ">", "-  "),
            "1.    ",
        ]
    ),
    max_size=3,
).map("".join)
WHOLE = st.sampled_from(
    [
        *("", "", "", "", "---", "***", "- - -", "===", "--", "```", "```py", "~~~", "````", "|---|", "|---|:-:|"),
        *("--:|-", "| a | b |", "| a |", "a | b", "|---|---|", "== a ==", "== a", "[^1]: a", "[a]: b", "<div>"),
        *("    a", "  ```"),
    ]
)
ENDS = st.sampled_from(["", "", "", "", "", " |", "|", " ==", " ===", " #", "##", "  ", "\\", " "])
TEXTS = st.tuples(
    st.lists(st.tuples(MARKS, LINES | LINES | WHOLE, ENDS).map("".join), max_size=14),
    st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", "\r"]),
    st.sampled_from(["\n", "", "\n\n", "  "]),
).map(lambda case: case[1].join(case[0]) + case[2])
"""Lines that begin, continue and end blocks within blocks, as people write them and somewhat beside it."""

DELIMITERS = st.lists(
    st.sampled_from(
        [
            *("*", "**", "_", "__", "***", "a", "b", " ", "`", "``"),
            *("(", ")", ".", "“", "é", "[", "](x)", "\n", "中", "—"),
        ]
    ),
    max_size=14,
).map("".join)
PIECES = [
    *("- ", "  - ", "1. ", "> ", "# ", "## a", "== b ==", "```", "    ", "| a | b |", "|---|---|", "---", "`", "*"),
    *("**", "_", "__", "[a](", "](b)", "[", "<b>", "<", "\\", "&amp;", "~~", "[x] ", "  ", "—", "é"),
]

KNOWN = [
    *("    ```\n    ```", "- - a\n   b", "* -\n\n\n  - 1", "+    a\n    #", "1. ```\n\n1. `", "```\n    ", "- # *"),
    *("- a\n  -", "|a\n:-", "é|\n--", "s\na|`\n-|-", "a|\n|-\n|", "||\n-:", "| a | b |\n|---|---|\n| c |"),
    *("a\n| b | c |\n|---|---|", "[*é.**](x)", "[*\\\n](b)", "\\ \nb", "\\  \nb", "a b\\ a", "http://\\!", "* \\\n✅"),
    *("# *b* #", "```\\_", "    a", "- a\u00a0", "\u3000a", "*a*\U0001fae8", "a\n== b ==", "== b ==\nc", "== b ==\n"),
    *("> == b ==", "`== a ==`\n\n== b ==  ", "- > a\n  > b", "> - a\n>   b", "> a\nb", "> a\n>\n> b", "- a\nb"),
    *(
        "- a\n\n  b\n- c",
        "1) a\n2. b",
        "-\n\n  a",
        "- a|\n---",
        "# a|\n---",
        " ===  a ===",
        "== a= ==",
        " * **",
        "> - ---",
    ),
    *(
        "```\n ```\n```",
        "* # [x] a",
        "- [ ]\n  a",
        "- > > a\n  > > b",
        "a & b *c* x",
        "`a<b` a<b <b>",
        "[<b>](x.md)",
        "\u0661. a",
    ),
    *("`&<` &<", "[`a_b`](x.md) a", "a\n  b\n   c", "- a\n      b", "## a\n\n  - b\n  - c\n"),
]
"""Where the two parsers differ, or did while this was written."""

BLOCKS = [
    *("", "a", "a\nb", "*a* `b`", "# a *b*", "## a #", "a\n---", "== a ==", "=== a ===", "== a b", "```\nc\n```"),
    *("```py\nc\n\n  d\n```", "````\nc\n```\n````", "```\nc\n```x", "~~~\nc\n~~~", "    c", "---", "- a\n- b"),
    *("1. a", "3. a\n4. b", "> a\n> b", "[a](b.md) x [c]", "<b>c</b> d", "a | b", "| a | b |\n|---|:-:|\n| c | d |"),
    *("| a |\n|--:|", "a | b\n--|--\nc | d", "| a | b\n|---|---|", " | a |\n |---|", "| a\\| b |\n|---|"),
    *("|a|\n|-|\nb", "\\*a", "` a `", "\u00a0a", "a\n  b", "*a*\U0001fae8 b", "\\#", "==  ==", "   == a =="),
]
IN_BLOCKS = (
    *("{}", "> {}", "- {}", "1. {}", "-   {}", "10) {}", " - {}", "> - {}", "- > {}", "- - {}", "- a\n  - {}"),
    *("- a\n\n  {}", "> a\n>\n> {}", "1. a\n2. {}"),
)
IN_SPANS = (
    "{}", "x {} y", "- {}", "*{}*", "[{}](u)", "\U0001fae8 {}", "{}\n== é ==", "# {}", "| {} |\n|---|", "> {}\n> b",
)  # fmt: skip


def placed(text: str, place: str) -> str:
    """A text within other blocks, its further lines as deep as its first."""
    before = place.rpartition("\n")[2].partition("{}")[0]
    return place.format(text.replace("\n", "\n" + re.sub("[^>]", " ", before)))


CONSTRUCTS = {
    *(placed(block, place) for block in BLOCKS for place in IN_BLOCKS),
    *(
        f"{one}\n{other}"
        for one in BLOCKS
        for other in ("\na", "\n- a", "\n    c", "\n== a ==", "\n| a |\n|--:|", *BLOCKS)
    ),
    *(placed(span, place) for span in SPAN_TEXTS for place in IN_SPANS),
    *(mark * depth + "a" for mark in ("- ", "> ") for depth in (7, 8, 9)),
}
"""Each block within each other and before each other, each span in each place."""


def test_each_construct_is_what_it_is_to_markdown_it() -> None:
    """Also as tokens; and as many are read quickly, with as few spans left to markdown-it, as when this was written."""
    left, quickly = [], 0

    def spans(content: str) -> list[Token]:
        left.append(content)
        return markdown_tokens._spans(content)

    for text in CONSTRUCTS:
        check(text)
        source = markdown_tokens.printable_text(text)
        found, (full, _) = quick.read_quickly(source, spans), markdown_tokens._read_fully(source)
        if found is not None:
            quickly += 1
            assert [*shapes(found)] == [*shapes(full)], text
    # Constructs, those that are read quickly, and blocks of these whose spans are left to markdown-it.
    assert (len(CONSTRUCTS), quickly, len(left)) == (3442, 1549, 388)
    rows = "|a|\n|-|\n" + "|b|\n" * 4_998
    assert is_quick(rows) and not is_quick(f"{rows}|b|\n")


def shapes(tokens: list[Token]) -> Iterator[tuple[object, ...]]:
    """What tokens are; a whole block is what opens it, its words, and what closes it."""
    for token in tokens:
        if token.type == "block":
            name = "paragraph" if token.tag == "p" else "heading"
            yield f"{name}_open", token.tag, 1, token.hidden
            yield "inline", "", 0, False
            yield f"{name}_close", token.tag, -1, token.hidden
        else:
            yield token.type, token.tag, token.nesting, token.hidden


@fuzz(TEXTS, examples=250, known=[*KNOWN, *PAGES.values()])
def test_blocks_are_what_they_are_to_markdown_it(text: str) -> None:
    """Lists, quotes, tables, code, in any order and depth."""
    check(text)


@fuzz(DELIMITERS, examples=150)
def test_emphasis_is_what_it_is_to_markdown_it(text: str) -> None:
    """Beside letters, punctuation and white space of any script."""
    check(text)


@fuzz(mutated_lines([text[:3_000] for text in PAGES.values()], PIECES), examples=80)
def test_damaged_pages_are_what_they_are_to_markdown_it(text: str) -> None:
    """What people wrote, with something put in, taken out or moved."""
    check(text)


@fuzz(st.characters(exclude_categories=["Cs"]), examples=100)
def test_any_character_may_stand_anywhere(char: str) -> None:
    """Beside emphasis, in links, and where blocks begin and end."""
    check(f"{char}*a*x\n\n_a_{char}\n\nx**{char}a**x\n\nx{char}_b_ *b{char}*c\n\n[{char}](x{char}y) `{char}`")
    check(f"{char} a\n{char}b {char}\n\n# {char}\n\n- {char}\n- a{char}\n\n| {char} | b{char} |\n|---|---|\n\n> {char}")


USUAL = """# Title of `it`, **bold**

A paragraph of *words* with [a link](https://a.example/b_c), snake_case — and `code`.
It goes on in a second line.

== A section ==

- one
- **two** — and more
  - nested `x`
- [ ] open

1. first

   with a second paragraph
2. second

> quoted
> twice

| what | where |
|---|:-:|
| `a` | b |

```json
{"a": [1]}
```

---

It has <tags>, ~~marks~~, \\*escapes\\* and ![images](c.png), too.
"""


def test_what_is_usual_is_read_quickly() -> None:
    """And most of the example, counted in characters: else all of this would be in vain."""
    for block in (USUAL, *USUAL.strip().split("\n\n")):
        assert is_quick(block) or block.startswith(("   with", "2. "))
        check(block)
    texts = [
        text
        for path, text in PAGES.items()
        if path.startswith("example-org/") and "specstory" not in path and "aider" not in path
    ]
    assert sum(len(text) for text in texts if is_quick(text)) > 0.8 * sum(map(len, texts))


class PanicException(BaseException):
    """As Rust's bindings raise it, which tell no public name."""


def test_native_code_that_gives_up_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its panic is no `Exception`; markdown-it then reads the text. An interruption is no panic."""
    tried: list[object] = []

    def panic(*given: object, **_: object) -> None:
        tried.append(given)
        raise PanicException

    monkeypatch.setattr(quick, "_native", panic)
    markdown_tokens.read_body.cache_clear()
    assert to_html("a *b*", links={}) == "<p>a <em>b</em></p>\n"
    assert tried == [("# a *b*",)]

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(quick, "_native", interrupt)
    with pytest.raises(KeyboardInterrupt):
        quick.read_quickly("a *b*", markdown_tokens._spans)


HOSTILE = (
    *("|a", "| a |\n|---|\n\n", "== a ==\n\n", "- ", "1. ", "> ", "> a\n", "*a **b ", "[a](", "<a ", "\U0001fae8*"),
    "a\u00a0",
)


def test_hostile_text_is_read_in_linear_time() -> None:
    """Up to the bounds of a body; in quadratic time this would not end."""
    blanks, bars = " " * 500_000, "|" * 60_000
    others = (f"# {blanks}#", f"== {'= ' * 250_000}a", f"```{blanks}x\n```", f"|\n{':' * 500_000}x")
    lines = (f"{bars}\n|{'-' * 60_000}", "- a\n" + "  b\n" * 30_000)
    for source in (*(piece * (200_000 // len(piece)) for piece in HOSTILE), *others, *lines):
        quick.read_quickly(source[: markdown_tokens.MAX_CHARS], lambda _: [])
