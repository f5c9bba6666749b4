"""The source of passages: which characters of a body are cited (SPEC 7, docs/citations.md)."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memosite.markdown.html import to_html
from memosite.markdown.plain import read_places, read_spans
from tests.support.fuzzing import fuzz
from tests.support.naive_passages import naive_passages
from tests.support.strict_html import passage_ids


def shown(text: str) -> list[tuple[str, str]]:
    """The passages of a text: kind and source."""
    return [(one.kind, text[one.begin : one.end]) for one in read_spans(text)]


SHAPES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "nothing": ("", []),
    "blank lines": ("\n  \n\n", []),
    "a paragraph": ("  One,\n  two.  \n", [("paragraph", "One,\n  two.")]),
    "no final line end": ("One", [("paragraph", "One")]),
    "headings": (
        "# A b ##\n\nSet\nhere\n---\n\n== C ==\n\n## # ##\n\n##\n",
        [("heading", "A b"), ("heading", "Set\nhere"), ("heading", "C"), ("heading", "#"), ("paragraph", "")],
    ),
    "a list": (
        "- one\n  goes on\n\n  more\n- two\n  1. deep\n",
        [("item", "one\n  goes on"), ("paragraph", "more"), ("item", "two"), ("item", "deep")],
    ),
    "a list without its indent": ("- one\ngoes on\n", [("item", "one\ngoes on")]),
    "lists that begin with a list": ("- - a\n  - b\n", [("item", "a"), ("item", "a"), ("item", "b")]),
    "empty items": ("-\n- \n-\n  a\n", [("item", ""), ("item", ""), ("item", "a")]),
    "items that begin with other blocks": (
        "- ***\n  a\n- ```\n  ```\n  b\n- | c |\n  |---|\n\n  d\n- > > e\n",
        [
            *[("item", "a"), ("paragraph", "a"), ("item", "b"), ("code", ""), ("paragraph", "b")],
            *[("item", ""), ("paragraph", "d"), ("item", "e"), ("paragraph", "e")],
        ],
    ),
    "tasks": ("- [ ] open\n- [x] done\n", [("item", "[ ] open"), ("item", "[x] done")]),
    "an item that is a heading": ("- # A\n  b\n", [("item", "A"), ("heading", "A"), ("paragraph", "b")]),
    "an item that is code": (
        "- ```\n  a\n    b\n  ```\n",
        [("item", "a\n    b"), ("code", "a\n    b")],
    ),
    "an item that is a quote": ("- > a\n  > b\n", [("item", "a\n  > b"), ("paragraph", "a\n  > b")]),
    "a quote": ("> a\n> b\n>\n> - c\n", [("paragraph", "a\n> b"), ("item", "c")]),
    "a quote that goes on without its mark": ("> a\nb\n", [("paragraph", "a\nb")]),
    "code": ("```py\n\n  a\n\n\n```\n~~~\n~~~\n", [("code", "\n  a\n\n"), ("code", "")]),
    "code that is not closed": ("```\na\n\nb\n", [("code", "a\n\nb")]),
    "code by indentation": ("    a\n\n      b\n\nc\n", [("code", "a\n\n      b"), ("paragraph", "c")]),
    "code behind a tab": ("\ta\n\tb\n", [("code", "a\n\tb")]),
    "code in a quote": ("> ```\n>   a\n> b\n> ```\n", [("code", "  a\n> b")]),
    "an indented fence": ("  ```\n  a\n b\n  ```\n", [("code", "a\n b")]),
    "a table": ("| a | b |\n|---|---|\n| c | d |\n\ne\n", [("paragraph", "e")]),
    "HTML": ("<div>\n<b>a</b>\n\n<!-- c -->\n", [("paragraph", "<div>\n<b>a</b>"), ("paragraph", "<!-- c -->")]),
    "footnotes": (
        "a[^1]\n\n[^1]: note\n\n    more\n\nb\n",
        [("paragraph", "a[^1]"), ("paragraph", "note"), ("paragraph", "more"), ("paragraph", "b")],
    ),
    "a footnote in an item": ("- [^1]: note\n\n  b\n", [("item", "note"), ("paragraph", "note"), ("paragraph", "b")]),
    "definitions": ("[a]: https://a.example\n\n[a] b\n", [("paragraph", "[a] b")]),
    "odd spaces": ("\u00a0\na\u00a0\n\u00a0\n", [("paragraph", "a")]),
    "what no page may hold": ("a\x01\x7fb\n", [("paragraph", "a\x01\x7fb")]),
    "a byte order mark": ("\ufeff# a\n", [("heading", "a")]),
    "another script": ("- 早上 *好*\n- שלום\n", [("item", "早上 *好*"), ("item", "שלום")]),
}  # fmt: skip
"""Bodies with the passages that they have."""


@pytest.mark.parametrize("name", SHAPES)
def test_the_source_of_a_passage_is_what_its_block_holds(name: str) -> None:
    """From its first character to its last, as they are in the text."""
    text, expected = SHAPES[name]
    assert shown(text) == expected


@pytest.mark.parametrize("name", SHAPES)
def test_anchors_of_passages_are_those_of_the_page(name: str) -> None:
    """And none is on the page but these and those of footnotes."""
    text, _ = SHAPES[name]
    assert {one.anchor for one in read_spans(text)} == passage_ids(text) == read_places(text).anchors


def test_code_is_named_by_its_first_lines() -> None:
    """What is appended to code moves no anchor; where passages have none, or a body is verbatim, code has none."""
    first = hashlib.sha256(b"a\nb").hexdigest()[:8]
    for text in (
        *("```\na\nb\n```", "```\na\nb", "```\na\nb\n\nmore", "    a\n    b\n\n    more", "> ~~~\n> a\n> b\n> ~~~"),
    ):
        assert [one.anchor for one in read_spans(text)] == [f"c-{first}"]
    assert [one.anchor for one in read_spans("```\na\nb\n```\n" * 2)] == [f"c-{first}", f"c-{first}-2"]
    assert "id=" not in to_html("a\n\n```\nb\n```", links={})
    assert read_spans("> " * 50 + "a") == ()
    assert read_spans("[" * 400_000) == ()


WORDS = st.sampled_from(["one", "two, three.", "*four*", "`five`", "[six](x.md)", "sieben äöü", "八", "9 10", "<b>"])
LINES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
CODE = st.lists(st.one_of(LINES, LINES.map("  {}".format), st.just("")), max_size=4).map(
    lambda lines: ["a", *lines, "z"]
)


def fenced(code: list[str], fence: str) -> list[str]:
    """Code between fences."""
    return [f"{fence}txt", *code, fence]


LEAVES: st.SearchStrategy[list[str]] = st.one_of(
    st.lists(LINES, min_size=1, max_size=3),
    st.tuples(st.integers(1, 4), LINES, st.sampled_from(["", " ##"])).map(
        lambda one: ["#" * one[0] + f" {one[1]}{one[2]}"]
    ),
    LINES.map(lambda line: [f"== {line} =="]),
    st.builds(fenced, CODE, st.sampled_from(["```", "~~~", "````"])),
    st.just(["| a | b |", "|---|---|", "| c | d |"]),
)


def quoted(lines: list[str]) -> list[str]:
    """Lines in a quote."""
    return [f"> {line}".rstrip() for line in lines]


def listed(items: list[list[str]], mark: str) -> list[str]:
    """Lines as the items of a list."""
    return [
        (f"{mark} " if not number else " " * (len(mark) + 1) if line else "") + line
        for lines in items
        for number, line in enumerate(lines)
    ]


def apart(several: list[list[str]]) -> list[str]:
    """Blocks with an empty line between them."""
    return [line for lines in several for line in [*lines, ""]][:-1]


BLOCKS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(apart).map(quoted),
        st.builds(
            listed,
            st.lists(st.lists(inner, min_size=1, max_size=3).map(apart), min_size=1, max_size=3),
            st.sampled_from(["-", "*", "+", "1.", "12)"]),
        ),
    ),
    max_leaves=8,
)
BODIES = st.lists(BLOCKS, max_size=6).map(apart).map("\n".join)


@fuzz(BODIES, examples=400)
def test_another_way_of_splitting_finds_the_same(text: str) -> None:
    """It reads line by line and knows no library."""
    assert [(one.kind, one.begin, one.end) for one in read_spans(text)] == naive_passages(text)


@settings(deadline=None, max_examples=100)
@given(BODIES, BODIES)
def test_passages_stay_when_text_is_appended(text: str, more: str) -> None:
    """Their anchors, their places and their sources, if it begins with something else than what continues them."""
    before = read_spans(f"{text}\n\n# End")
    assert read_spans(f"{text}\n\n# End\n\n{more}")[: len(before)] == before


def test_many_passages_take_linear_time() -> None:
    """In quadratic time this would not end."""
    assert len(read_spans("a\n\n- b\n\n```\nc\n```\n\n" * 6_000)) == 18_000
    assert len(read_spans("- a\n" * 30_000)) == 30_000
