"""What is read off a text: its summary, what it mentions, where its links lead."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memosite.facts import texts
from memosite.facts.names import NAMES, first_stem, read_names, whole_name
from memosite.formats.systems import RECORD_IDS
from tests.support.references import naive_names

STEM = "2026-05-01-1430--engineer--director--gate-is-green"


def test_names_and_paths_are_mentions_and_link_targets_destinations() -> None:
    """As written, in order, each once, without the punctuation around them."""
    for text, mentions in [
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
    ]:
        assert texts.find_mentions(text, RECORD_IDS) == mentions
    for text, destinations in [
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
    ]:
        assert texts.find_destinations(text) == destinations


def test_a_summary_is_what_a_text_says_first_in_plain_words() -> None:
    """Marks of Markdown go, words stay; what heads a text, tables and code are no part of what it says."""
    for text, summary in [
        ("# Title\n\nFirst *line*.\nSecond.", "First line. Second."),
        ("---\ntitle: x\n---\n\nAfter the head.", "After the head."),
        ("---\n\nBetween rules.\n\n---\n\nAfter.", "Between rules. After."),
        ("== Context ==\n\nThe gate is **green**.", "The gate is green."),
        (
            "Oak it is.\n\n## Why\n\n- It lasts\n- We have some\n\n## And now?\n\nSaw.",
            "Oak it is. Why: It lasts · We have some · And now? Saw.",
        ),
        ("Oak it is.\n\n## Why", "Oak it is."),
        ("# A\n\n## B", "A · B"),
        ("# A C#\n\n## B ##\n\n== D ==\n\n#", "A C# · B · D"),
        ("- one\n- [x] two\n1. three\n> four", "one · two · three four"),
        ("> [!NOTE]\n> Low water.", "Low water."),
        ("Use `body_ref` in `__init__.py`, __not__ snake_case.", "Use body_ref in __init__.py, not snake_case."),
        (
            "A *word\nor two*, _all_ of `a *b* c`, ***bold***, 2 * 3 * 4, docs/**/*.md and a/*.md b/*.",
            "A word or two, all of a *b* c, bold, 2 * 3 * 4, docs/**/*.md and a/*.md b/*.",
        ),
        (r"\*Not\* so, *see [it](x.md) and `y`*.", "*Not* so, see it and y."),
        ("*a_b c* and _a*b c_, S_A and T_A.", "a_b c and a*b c, S_A and T_A."),
        ("[the plan](decisions/x.md) ![chart](y.svg)", "the plan chart"),
        (
            "@[[Ann Bee|Person]] has [[rope]], [[storm-report|the report]] and ![[chart]].",
            "Ann Bee has rope, the report and chart.",
        ),
        ("Done:\n```python\nx = 1\n```\nAnd so on.", "Done: … And so on."),
        ("```python\nx = 1\n```\nDone.", "Done."),
        ("== Counts ==\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAll are there.", "All are there."),
        ("a | b\n---|---\n1 | 2\n\n# Next\n\nAll are there.", "All are there."),
        ("Five steps.\n\n| Step | By |\n|---|:--|\n| Survey | May |", "Five steps. …"),
        ("| Step | By |\n|---|:--|\n| Survey | May |", "Step · By · Survey · May"),
        ("from 7 to 18 | |\n---|---:\nlamps lit | 3 |", "from 7 to 18 · lamps lit · 3"),
        ("Either a | b. No table.", "Either a | b. No table."),
        ("```\nnever closed", "never closed"),
        ("Title\n=====\n\nText", "Text"),
        ("a\x1b[31m\tb\x07", "a [31m b"),
        ("", ""),
    ]:
        assert texts.summarize(text) == summary
    for head in (
        "Status: edits applied; for information",
        "- **Status:** open\n- Date: 2026-05-01",
        "__From:__ pilot\nTo: all",
        "Superseded by: decisions/x.md",
    ):
        assert texts.summarize(f"# Buoy 7\n\n{head}\n\n## Seen\n\nIt is out.") == "It is out.", head
        assert texts.summarize(f"{head}\nIt is out.") == "It is out.", head
    assert texts.summarize("Status: it is out") == "Status: it is out", "there is nothing else"
    assert texts.summarize("Note: it is out.\n\nStatus: lost.") == "Note: it is out. Status: lost.", "no head"
    assert texts.summarize(f"{'word ' * 30}here it ends. {'More ' * 40}").endswith("More…")
    ends = texts.summarize(f"{'word ' * 44}and it ends. {'M' * 40}")
    assert ends.endswith("it ends. …") and len(ends) <= texts.SUMMARY
    assert texts.summarize(f"# {' ' * 5_000}x" * 2) == "x#", "in quadratic time this would take long"
    assert texts.summarize("```\n" * 2_000 + "|a|\n" * 2_000 + "# x\n" * 2_000) == ""


def test_a_citation_quotes_how_a_text_begins_with_every_word() -> None:
    """A summary leaves out words, and a quote may not; where both are the same, one is kept."""
    known, _ = texts.describe_text("# Buoy 7\n\nStatus: out\n\nIt is *out*.", RECORD_IDS)
    assert (known.summary, known.opening) == ("It is out.", "Buoy 7 Status: out It is out.")
    known, _ = texts.describe_text("It is *out*.", RECORD_IDS)
    assert (known.summary, known.opening) == ("It is out.", "")


@pytest.mark.parametrize(
    ("block", "sought", "line", "marked"),
    [
        ("As @[[Ann Bee|Person]] says, see x.md.", "x.md", "As Ann Bee says, see x.md.", "x.md"),
        ("It is *in* [[x.md]] for sure.", "x.md", "It is in x.md for sure.", "x.md"),
        ("It is in [[x.md|the file]].", "x.md", "It is in [[x.md|the file]].", "x.md"),
    ],
)
def test_the_sentence_around_a_mention_is_plain_and_has_its_words(
    block: str, sought: str, line: str, marked: str
) -> None:
    """Wiki links are their names, unless that would leave out what is sought."""
    found = texts.sentence_around(block, block.index(sought), block.index(sought) + len(sought))
    assert (found.line, found.marked) == (line, marked)


def test_lengths_and_lists_of_a_text_are_bounded() -> None:
    """What is read off one text has a limit, whatever it holds."""
    for text, shown in [("a <!-- b --> c<!-- d\n-->e <!--f", "a  ce <!--f"), ("a <!--> b -->", "a  b -->")]:
        assert texts.without_comments(text) == shown
    assert texts.without_comments("<!--" * 100_000) == "<!--" * 100_000  # in quadratic time this would not end
    summary = texts.summarize("word " * 400)
    assert summary.endswith("word…")
    assert len(summary) <= texts.SUMMARY
    mentions = texts.find_mentions(" ".join(f"a{number}.md" for number in range(texts.MENTIONS + 5)), RECORD_IDS)
    assert len(mentions) == texts.MENTIONS
    assert mentions[0] == "a0.md"
    destinations = texts.find_destinations(" ".join(f"[x](a{number}.md)" for number in range(texts.MENTIONS + 5)))
    assert len(destinations) == texts.MENTIONS


@given(st.text(max_size=300), st.integers(2, 60))
def test_a_cut_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    """A line that was cut says so; one that was not is the text itself."""
    line = texts.cut_line(text, limit)
    assert len(line) <= limit
    assert line == " ".join(line.split())
    assert line.endswith("…") or line == " ".join(line.split())


HOSTILE = (
    *(".md", "a.md/", " ", "\n", "](", "[a]:\n", "[", "2026-05-01-1430--", "/a", "a:/", "`", "__a", "-", "memos/"),
    *("memos/a", "http://", "http://a/blob/b "),
)


def test_half_a_megabyte_of_spite_comes_to_an_end() -> None:
    """No pattern tries every way to read a text: what is found is bounded by the text and by `MENTIONS`."""
    spite = (piece * (500_000 // len(piece)) for piece in HOSTILE)
    for text in (*spite, "](a" + "(b" * 250_000, "a" * 500_000 + ".md"):
        known, data = texts.describe_text(text, RECORD_IDS)
        assert len(known.mentions) <= texts.MENTIONS
        assert sum(map(len, (*known.mentions, *known.destinations))) <= len(data)
        assert len(known.summary) <= texts.SUMMARY


ASK = "2026-05-01-1430--engineer--director--gate-is-green"
MORE = "2026-05-02-0900--director--engineer--thanks"

CASES: list[tuple[str, list[tuple[str, str]]]] = [
    # One name, however it is written
    (ASK, [("stamped", ASK)]),
    (f"{ASK}.openthing", [("stamped", ASK)]),
    (f"{ASK}.OPENTHING", [("stamped", ASK)]),
    (f"{ASK}.body.md", [("stamped", ASK)]),
    (f"memos/inbox/{ASK}.openthing", [("stamped", ASK)]),
    (f"memos/inbox/{ASK}/", [("stamped", ASK)]),
    (f"S:\\projects\\gate\\memos\\read\\{ASK}.openthing", [("stamped", ASK)]),
    (f"https://git.example.org/gate/blob/main/memos/{ASK}.openthing?plain=1#L3", [("stamped", ASK)]),
    (f"`{ASK}.openthing`", [("stamped", ASK)]),
    (f"**{ASK}**", [("stamped", ASK)]),
    (f"_{ASK}_", [("stamped", ASK)]),
    (f"In reply to {ASK}.", [("stamped", ASK)]),
    (f"{ASK}: the part about the gate", [("stamped", ASK)]),
    ("2026-05-01--a--b--by-day", [("stamped", "2026-05-01--a--b--by-day")]),
    ("2026-05-01-1430--a--b--re:-gate-7 (again)", [("stamped", "2026-05-01-1430--a--b--re:-gate-7")]),
    ("2026-05-01-1430--engineer--director--cafe\u0301", [("stamped", "2026-05-01-1430--engineer--director--café")]),
    ("welcome.openthing", [("file", "welcome")]),
    ("../read/welcome.openthing", [("file", "welcome")]),
    ("see _draft.openthing.", [("file", "_draft")]),
    ("welcome.body.md and more", [("file", "welcome")]),
    ("re-#7.openthing", [("file", "re-#7")]),
    ("https://git.example.org/gate/blob/main/memos/a%20b.openthing", [("file", "a b")]),
    # Documents, and other files at URLs
    ("decisions/0007-gate.md", [("document", "0007-gate")]),
    ("decisions/0007-gate.md#why", [("document", "0007-gate")]),
    (f"proposals/{ASK}.md", [("document", ASK)]),
    ("see https://git.example.org/gate/issues/7", [("document", "7")]),
    ("https://git.example.org/gate/blob/main/decisions/0007-gate.md?plain=1", [("document", "0007-gate")]),
    # Bare stamps
    ("2026-05-01-1430", [("stamp", "2026-05-01-1430")]),
    ("memos/2026-05-01-1430", [("stamp", "2026-05-01-1430")]),
    ("the director's 2026-05-01-1430's second half", [("stamp", "2026-05-01-1430")]),
    ("2026-05-01-1430 -- the gate", [("stamp", "2026-05-01-1430")]),
    ("2026-05-01", [("file", "2026-05-01")]),
    ("on 2026-05-01, by phone", []),
    ("2026-05-01-14301 or 12026-05-01-1430", []),
    ("2026-05-01-1430-gate and more", []),
    # Several
    (f"2026-04-30-0800 AND memos/{ASK} (bundled response)", [("stamp", "2026-04-30-0800"), ("stamped", ASK)]),
    (f"{ASK}.openthing; and {MORE}.openthing", [("stamped", ASK), ("stamped", MORE)]),
    (f"{ASK},{MORE}", [("stamped", ASK), ("stamped", MORE)]),
    (f"{ASK}+{MORE}", [("stamped", ASK), ("stamped", MORE)]),
    (f"{ASK} (see {MORE})", [("stamped", ASK), ("(stamped)", MORE)]),
    (f"{ASK} (see x.openthing (not 2026-04-30-0800)), {MORE}",
     [("stamped", ASK), ("(file)", "x"), ("(stamp)", "2026-04-30-0800"), ("stamped", MORE)]),
    (f"{ASK}（{MORE}）", [("stamped", ASK), ("(stamped)", MORE)]),
    (f"1) {ASK} 2) {MORE}", [("stamped", ASK), ("stamped", MORE)]),
    (f"{ASK} (and {MORE}", [("stamped", ASK), ("(stamped)", MORE)]),
    (f"[the ask](memos/{ASK}.openthing)", [("stamped", ASK)]),
    (f"({ASK})", [("(stamped)", ASK)]),
    (f"decisions/0007-gate.md, then {ASK}", [("document", "0007-gate"), ("stamped", ASK)]),
    # The only word
    ("gate-is-green", [("file", "gate-is-green")]),
    ("memos/gate-is-green", [("file", "gate-is-green")]),
    ('"gate"', [("file", "gate")]),
    ("gate(2).openthing", [("file", "gate(2)")]),
    ("read/welcome/", [("file", "welcome")]),
    ("the gate (draft).openthing", [("file", "the gate (draft)")]),
    # None
    ("", []), ("  ", []), ("..", []), ("/", []), (".openthing", []), ("—", []),
    ("none", []), ("None", []), ("n/a", []), ("N/A", []), ("tbd", []), ("TBD", []), ("-", []),
    ("the gate memo", []),
    (f"Not in-reply-to {ASK}.openthing", []),
    (f'"Not in-reply-to": {ASK}', []),
]  # fmt: skip


def test_the_names_in_a_value_are_read_as_they_are_written() -> None:
    """Their forms, in parentheses where they stand in some, and their stems."""
    for value, names in CASES:
        assert [(f"({one.form})" if one.is_aside else one.form, one.stem) for one in read_names(value)] == names
    written = [one.written for one in read_names("See decisions/0007-gate.md#why, *memos/read/x.openthing*!")]
    assert written == ["decisions/0007-gate.md#why", "memos/read/x.openthing"]
    assert first_stem(("decisions/0007-gate.md", f"see {ASK}.openthing and {MORE}")) == ASK
    assert first_stem(("decisions/0007-gate.md", "none")) is None
    assert read_names("x" * 1_000_000) == read_names(f"a {'x' * 1_000_000}.openthing") == ()
    assert [one.stem for one in read_names(f"{ASK}{'x' * 1_000_000} {MORE}")] == [MORE]
    assert whole_name(f"{ASK} {'x' * 1_000_000}.openthing") == ""
    assert len(read_names(", ".join(f"{ASK}-{number}" for number in range(1_000)))) == NAMES
    for value, stem in [
        ("a b.openthing", "a b"), ("The gate, again", "The gate, again"), ("s:/memos/a b.openthing", "a b"),
        (f"{ASK} AND memos/{MORE}", ""), ("a/b c/d", ""), ("Not in-reply-to a b", ""), ("none", ""),
    ]:  # fmt: skip
        assert whole_name(value) == stem


STEMS = st.sampled_from([ASK, MORE, "2026-05-03--a--b--day", "gate", "Gate-2", "0007-gate"])
PIECES = st.one_of(
    st.builds("{}{}{}{}".format, st.sampled_from(["", "memos/", "../a/b/"]), STEMS,
              st.sampled_from(["", ".openthing", ".body.md", ".md"]), st.sampled_from(["", ".", ":"])),
    st.sampled_from(["2026-05-01-1430", "2026-05-01-143", "2026-05-01", "memos/2026-04-30-0800"]),
    st.sampled_from(["AND", "see", "(", ")", "(bundled response)", ",", ";", "none", "n/a", "-", "Not in-reply-to"]),
)  # fmt: skip


@given(st.lists(PIECES, max_size=6), st.sampled_from([" ", "\n", "  ", ""]))
@example(["2026-05-01-1430", "AND", f"memos/{ASK}", "(bundled response)"], " ")
def test_names_are_found_as_by_the_second_reading(pieces: list[str], between: str) -> None:
    """Names, stamps, prose and parentheses in any order, joined by white space; or one piece alone."""
    value = between.join(pieces) if between else "".join(pieces[:1])
    assert [(one.form, one.stem, one.is_aside) for one in read_names(value)] == naive_names(value)


@given(st.text() | st.text(alphabet="20-5/\\.()[]md openthig:#?%—a "))
@example("](" * 50 + "x.md")
@example(")" * 9 + "x.md")
def test_whatever_is_written_gives_names_that_can_be_looked_up(value: str) -> None:
    """Nothing raises, no stem is empty or holds a folder, but for a slash that a URL escapes."""
    for one in read_names(value):
        assert one.stem.strip(". ")
        assert "://" in one.written or not re.search(r"[/\\]", one.stem)
    assert not re.search(r"[/\\]", whole_name(value))
