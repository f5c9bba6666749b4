"""What is read off a text: its summary, what it mentions, where its links lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.texts import (
    MENTIONS,
    SUMMARY,
    before_table,
    cut_line,
    describe_text,
    find_destinations,
    find_mentions,
    summarize,
)
from memosite.formats.systems import RECORD_IDS

STEM = "2026-05-01-1430--engineer--director--gate-is-green"


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("see decisions/x.md.", ("decisions/x.md",)),
        ("see `decisions/x.md`, (proposals/y.md) and “z.md”", ("decisions/x.md", "proposals/y.md", "z.md")),
        (f"as {STEM} said", (STEM,)),
        (f"as {STEM}.", (STEM,)),
        (f"**{STEM}** and _{STEM}2_", (STEM, f"{STEM}2")),
        (f"memos/inbox/{STEM}.openthing", (f"memos/inbox/{STEM}.openthing",)),
        (f"{STEM}.body.md", (f"{STEM}.body.md",)),
        (f"{STEM}.openthing (again {STEM})", (f"{STEM}.openthing", STEM)),
        ("org/office.opencatalog", ("org/office.opencatalog",)),
        ("README.MD:42 and x.md#part", ("README.MD", "x.md")),
        ("x.md#L7, `a/x.md#L7-L9`, x.md#lines-3:4. x.md#L7x", ("x.md#L7", "a/x.md#L7-L9", "x.md#lines-3:4", "x.md")),
        ("x.md twice, x.md", ("x.md",)),
        ("../up/x.md and ./here.md", ("../up/x.md", "./here.md")),
        ("repo:decisions/x.md", ("decisions/x.md",)),
        (f"see:memos/{STEM}:-x.openthing", (f"memos/{STEM}:-x.openthing",)),
        (f"{STEM}re:-x-7 and {STEM}: more", (f"{STEM}re:-x-7", STEM)),
        ("https://git.example.org/a/decisions/x.md?plain=1", ("https://git.example.org/a/decisions/x.md",)),
        ("(https://git.example.org/a/blob/v/x.md?plain=1#L7).", ("https://git.example.org/a/blob/v/x.md?plain=1#L7",)),
        ("[x](HTTP://codeberg.org/a/b/src/tag/v/x.json)", ("HTTP://codeberg.org/a/b/src/tag/v/x.json",)),
        ("https://raw.githubusercontent.com/a/b/c/d!", ("https://raw.githubusercontent.com/a/b/c/d",)),
        ("xhttps://github.com/a/b/blob/c/d", ()),
        (f"memos/inbox/{STEM}, ../x/{STEM}.", (f"memos/inbox/{STEM}", f"../x/{STEM}")),
        (f"_memos/{STEM}_ and @memos/{STEM}", (f"memos/{STEM}",)),
        (f"https://example.org/memos/{STEM}/", (STEM,)),
        ("in decisions/gate, a/docs/adr/0001-x.", ("decisions/gate", "a/docs/adr/0001-x")),
        ("decisions/gate.py, decisions/gate/, notes/(x), memos/read()", ()),
        ("見memos/inbox/gate。", ("memos/inbox/gate",)),
        ("s:/projects/gate/memos/x.openthing", ("s:/projects/gate/memos/x.openthing",)),
        ("S:\\projects\\gate\\src\\gate.ts.", ("S:\\projects\\gate\\src\\gate.ts",)),
        ("in s:/projects/gate/memos/ there", ("s:/projects/gate/memos/",)),
        ("/home/ada/gate/src/x.py, ~/gate/y.py", ("/home/ada/gate/src/x.py", "~/gate/y.py")),
        ("詳細はdecisions/x.mdを、「計画.md」も", ("詳細はdecisions/x.md", "計画.md")),
        ("参照：decisions/x.md", ("decisions/x.md",)),
        ("notes.md.openthing", ("notes.md.openthing",)),
        ("| decisions/x.md | y.md |", ("decisions/x.md", "y.md")),
        *(
            (text, ())
            for text in (
                *("", "and/or, docs/a/b", "x.md5 and x.mdx and x.md.gz and x.openthings", "the .md files and *.md"),
                *("2026-05-01 to 2026-05-02", "https://example.org/a/b", "2026-05-01--2026-05-03"),
                *("a 12026-05-01-1430--x", "ratio 3:/4"),
            )
        ),
    ],
)
def test_names_ids_and_paths_are_mentions(text: str, mentions: tuple[str, ...]) -> None:
    """As written, in order, each once, without the punctuation around them."""
    assert find_mentions(text, RECORD_IDS) == mentions


@pytest.mark.parametrize(
    ("text", "destinations"),
    [
        ("[a](x.md) ![b](y.svg)", ("x.md", "y.svg")),
        ('[a](../x_(y).md "title")', ("../x_(y).md",)),
        ("[a](<my file.md>)", ("my file.md",)),
        ("[a]( x.md )", ("x.md",)),
        ("[a][r]\n\n[r]: docs/x.md 'title'\n[s]:\n  <docs/y z.md>", ("docs/x.md", "docs/y z.md")),
        ("[a](x.md) [b](x.md#part)", ("x.md", "x.md#part")),
        ("[r]: last.md\n\n[a](first.md)", ("last.md", "first.md")),
        ("[a](javascript:alert(1))", ("javascript:alert(1)",)),
        ("[a](https://example.org) [b](HTTP://x) [c](mailto:a@b.c) [d](#part) [^1]: note", ()),
        ("[a]() ] (x.md)", ()),
    ],
)
def test_link_targets_are_destinations(text: str, destinations: tuple[str, ...]) -> None:
    """Inline and by reference, as written, in order, each once; the web is left out."""
    assert find_destinations(text) == destinations


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# Title\n\nFirst *line*.\nSecond.", "Title First *line*. Second."),
        ("---\ntitle: x\n---\n\nAfter the head.", "After the head."),
        ("---\n\nBetween rules.\n\n---\n\nAfter.", "Between rules. After."),
        ("== Context ==\n\nThe gate is **green**.", "Context The gate is green."),
        ("- one\n- two\n1. three\n> four", "one two three four"),
        ("Use `body_ref` in `__init__.py`, __not__ snake_case.", "Use body_ref in __init__.py, not snake_case."),
        ("[the plan](decisions/x.md) ![chart](y.svg)", "the plan chart"),
        ("```python\nx = 1\n```\nDone.", "x = 1 Done."),
        ("Title\n=====\n\nText", "Title Text"),
        ("a\x1b[31m\tb\x07", "a [31m b"),
        ("", ""),
    ],
)
def test_a_summary_is_the_beginning_in_plain_words(text: str, summary: str) -> None:
    """Marks of Markdown go, words stay."""
    assert summarize(text) == summary


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Five steps.\n\n| Step | By |\n|---|:--|\n| Survey | May |", "Five steps. …"),
        ("| Step | By |\n|---|---|\n| Survey | May |", "Step | By | ---|---| Survey | May |"),
        ("Either a | b. No table.", "Either a | b. No table."),
    ],
)
def test_before_a_table_a_summary_ends(text: str, shown: str) -> None:
    """With the last sentence before it; one that is a table alone stays."""
    assert before_table(summarize(text)) == shown


def test_mentions_are_bounded() -> None:
    """The first ones count; a summary is cut at a word, within its bound."""
    summary = summarize("word " * 400)
    assert summary.endswith("word…")
    assert len(summary) <= SUMMARY
    mentions = find_mentions(" ".join(f"a{number}.md" for number in range(MENTIONS + 5)), RECORD_IDS)
    assert len(mentions) == MENTIONS
    assert mentions[0] == "a0.md"
    destinations = find_destinations(" ".join(f"[x](a{number}.md)" for number in range(MENTIONS + 5)))
    assert len(destinations) == MENTIONS


@given(st.text(max_size=300), st.integers(2, 60))
def test_a_cut_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    """A line that was cut says so; one that was not is the text itself."""
    line = cut_line(text, limit)
    assert len(line) <= limit
    assert line == " ".join(line.split())
    assert line.endswith("…") or line == " ".join(line.split())


HOSTILE = {
    "suffixes": ".md" * 700_000,
    "paths without an end": "a.md/" * 400_000,
    "white space": " " * 2_000_000,
    "line ends": "\n" * 2_000_000,
    "links that open": "](" * 1_000_000,
    "links that never close": "](a" + "(b" * 1_000_000,
    "definitions": "[a]:\n" * 400_000,
    "brackets": "[" * 2_000_000,
    "stamps": "2026-05-01-1430--" * 120_000,
    "slashes": "/a" * 1_000_000,
    "drives": "a:/" * 600_000,
    "ticks": "`" * 2_000_000,
    "underlines": "__a" * 600_000,
    "one long word": "a" * 2_000_000 + ".md",
    "rules": "-" * 2_000_000,
    "folders": "memos/" * 330_000,
    "names in folders": "memos/a" * 280_000,
    "addresses": "http://" * 280_000,
    "pages of files": "http://a/blob/b " * 120_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_two_megabytes_of_spite_come_to_an_end(text: str) -> None:
    """No pattern tries every way to read a text: what is found is bounded by the text and by `MENTIONS`."""
    known, data = describe_text(text, RECORD_IDS)
    assert len(known.mentions) <= MENTIONS
    assert sum(map(len, (*known.mentions, *known.destinations))) <= len(data)
    assert len(known.summary) <= SUMMARY
