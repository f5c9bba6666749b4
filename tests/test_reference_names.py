"""The names in a reference (SPEC 3, references): a table of values, and a second reading written from the rules."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memosite.facts.names import NAMES, first_stem, read_names, whole_name
from tests.support.references import naive_names

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


@pytest.mark.parametrize(("value", "names"), CASES)
def test_the_names_in_a_value(value: str, names: list[tuple[str, str]]) -> None:
    """Their forms, in parentheses where they stand in some, and their stems."""
    assert [(f"({one.form})" if one.is_aside else one.form, one.stem) for one in read_names(value)] == names


def test_what_is_written_is_kept_with_its_path() -> None:
    """It tells which document is meant; what is longer than any path, or comes after a hundred, is no name."""
    written = [one.written for one in read_names("See decisions/0007-gate.md#why, *memos/read/x.openthing*!")]
    assert written == ["decisions/0007-gate.md#why", "memos/read/x.openthing"]
    assert first_stem(("decisions/0007-gate.md", f"see {ASK}.openthing and {MORE}")) == ASK
    assert first_stem(("decisions/0007-gate.md", "none")) is None
    assert read_names("x" * 1_000_000) == read_names(f"a {'x' * 1_000_000}.openthing") == ()
    assert [one.stem for one in read_names(f"{ASK}{'x' * 1_000_000} {MORE}")] == [MORE]
    assert whole_name(f"{ASK} {'x' * 1_000_000}.openthing") == ""
    assert len(read_names(", ".join(f"{ASK}-{number}" for number in range(1_000)))) == NAMES


@pytest.mark.parametrize(
    ("value", "stem"),
    [
        ("a b.openthing", "a b"),
        ("The gate, again", "The gate, again"),
        ("s:/memos/a b.openthing", "a b"),
        (f"{ASK} AND memos/{MORE}", ""),
        ("a/b c/d", ""),
        ("Not in-reply-to a b", ""),
        ("none", ""),
    ],
)
def test_a_value_may_be_one_name_with_white_space(value: str, stem: str) -> None:
    """It counts only if there is such a file."""
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
