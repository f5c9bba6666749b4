"""Whatever bytes lie under whatever name: every adapter gives a result, the same each time, and never an exception."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memosite.facts import json_text
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.json_text import find_key_line
from memosite.facts.parsed import Envelope, Parsed
from memosite.formats import adapters, document, memodef, orgdef
from memosite.formats.fields import FINDINGS
from memosite.formats.systems import ALL_RULES
from memosite.formats.yaml_text import read_frontmatter
from tests.support.facts import texts_in

ADAPTERS = (memodef.MEMODEF, memodef.LEGACY, orgdef.ADAPTER, memodef.LIBRARY, memodef.BODY, document.ADAPTER)

FOLDERS = st.sampled_from(
    ["", "memos/inbox/", "memos/", "notes/pilot/", "transcripts/pilot/", "a/memos/read/", "docs/adr/"]
)
SUFFIXES = st.sampled_from([".openthing", ".OPENTHING", ".opencatalog", ".body.md", ".md", ".json", ""])
STEMS = st.one_of(
    st.just("2026-05-01-1430--pilot--harbour-master--x"),
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), max_size=20),
)
PATHS = st.builds(lambda folder, stem, suffix: f"{folder}{stem or 'x'}{suffix}", FOLDERS, STEMS, SUFFIXES)

TYPES = st.sampled_from(
    [
        memodef.MEMO_TYPE,
        memodef.TRANSCRIPT_TYPE,
        memodef.LIBRARY_TYPE,
        orgdef.ORGANIZATION_TYPE,
        "thing",
        "memodef:memo",
    ]
)
WORDS = """
catdef memodef orgdef type from to subject sent body body_ref in_reply_to thread_id action_required metadata
participants started ended transport capture_tool capture_format related_memos thing fields Title discharged on by
tags redaction_status position session_arc identity x.memo.from x.memo.to x.memo.subject x.memo.sent
x.memo.in_reply_to x.memo.action_required x.memodef.y id name version mission values positions items data
relationships status incumbent kind role_definition description file x.org.memo_location
x.position.working_directory
"""
KEYS = st.sampled_from(WORDS.split())
TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["pilot", "all", "file", "pilot, cook", "2026-05-01T14:30:00-04:00", "Not in-reply-to", "a/b\\c.openthing"]
    ),
    st.sampled_from(["\ud800", "\0", "\r\n", "\u2028", "\x1b[31m"]),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=4), max_leaves=12
)
OBJECTS = st.fixed_dictionaries({}, optional={"type": TYPES | VALUES, "memodef": TEXTS}).flatmap(
    lambda known: st.dictionaries(KEYS | TEXTS, VALUES, max_size=14).map(lambda others: {**others, **known})
)
JSON_PIECES = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            '"',
            "\\",
            '"from"',
            '"a":1',
            "\\ud800",
            "\\u0000",
            "NaN",
            "1e999",
            "\n",
            "\t",
            " ",
            "\ufeff",
            "é",
        ]
    ),
    max_size=40,
).map("".join)
CALM = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check(path: str, data: bytes) -> Parsed:
    """Read the file with every adapter and with all; hold each result to what is promised of any."""
    outcome = adapters.parse(File(source="s", path=path, data=data))
    again = adapters.parse(File(source="s", path=path, data=data))
    assert outcome == again
    results = [outcome]
    for adapter in ADAPTERS:
        file = File(source="s", path=path, data=data)
        adapter.matches(file)
        results.append(adapter.parse(file))
    for parsed in results:
        assert (parsed.source, parsed.path) == ("s", path)
        assert len(parsed.findings) <= FINDINGS + 10
        for finding in parsed.findings:
            check_finding(finding, path, data)
        for text in texts_in(parsed.fact):
            text.encode("utf-8")
    return outcome


def check_finding(finding: Finding, path: str, data: bytes) -> None:
    """A finding has a rule, a place in its own file, and a message that a terminal may show."""
    assert finding.rule in ALL_RULES
    assert finding.location.path == path
    assert 1 <= (finding.location.line or 1) <= data.count(b"\n") + 1
    assert finding.message.isprintable()


@CALM
@given(PATHS, st.binary(max_size=200))
@example("memos/inbox/x.openthing", b"\xef\xbb\xbf\xef\xbb\xbf{}")
@example("memos/inbox/x.openthing", b"\xff\xfe{\x00}\x00")
@example("catalog.opencatalog", b"PK\x03\x04")
def test_any_bytes_give_a_result(path: str, data: bytes) -> None:
    """Under any name, to any adapter."""
    check(path, data)


@CALM
@given(PATHS, JSON_PIECES)
@example("memos/inbox/x.openthing", '{"a": "\\ud83d\\ud83d\\ude00"}')
@example("memos/inbox/x.openthing", '{"a": 1,\n\n}')
@example("memos/inbox/x.openthing", '"')
def test_almost_json_gives_a_result(path: str, text: str) -> None:
    """Broken in any way."""
    check(path, text.encode())


@CALM
@given(PATHS, OBJECTS)
@example("memos/inbox/x.openthing", {"type": ["memodef:Memo"], "memodef": {}, "from": [], "to": {}, "subject": 1})
@example("org/x.openthing", {"type": "orgdef:Organization", "positions": [{"id": {}}, {"id": [1]}], "items": "x"})
@example("notes/x.openthing", {"type": "memodef:Memo", "to": ["file", 1, None], "metadata": {"discharged": [[]]}})
def test_any_object_of_known_keys_gives_a_result(path: str, values: dict[str, Any]) -> None:
    """With values of any type where another was expected."""
    check(path, json.dumps(values).encode())


@CALM
@given(OBJECTS)
def test_a_typed_memo_is_never_lost(values: dict[str, Any]) -> None:
    """Whatever its fields hold, an envelope of memodef becomes an envelope."""
    values["type"] = memodef.MEMO_TYPE
    outcome = check("memos/inbox/x.openthing", json.dumps(values).encode())
    assert isinstance(outcome.fact, Envelope)
    assert outcome.fact.shape == "typed"


@CALM
@given(st.dictionaries(KEYS | TEXTS, VALUES, max_size=8))
def test_unknown_fields_are_kept_to_be_shown(others: dict[str, Any]) -> None:
    """Every field that memosite has no use for stands in `extra`."""
    others = {f"x.harbour.{name}": value for name, value in others.items()}
    values = {"type": memodef.MEMO_TYPE, "from": "pilot", **others}
    outcome = check("memos/inbox/x.openthing", json.dumps(values).encode())
    assert isinstance(outcome.fact, Envelope)
    kept = json.loads(outcome.fact.extra or "{}")
    cleaned, _ = json_text.read_json_text(json.dumps(others))
    assert set(kept) == set(cleaned)


@CALM
@given(st.text(alphabet="-#=*_:|~`>[]{}&!? \nabcdetusS.0123456789\"'\\", max_size=200))
@example('---\na: "\\ud800"\n---\n')
@example('---\na: "\\UFFFFFFFF"\n---\n')
@example("---\n? [a]\n: b\n---\n")
def test_any_document_gives_a_result(text: str) -> None:
    """Frontmatter, headings and fields in any disorder."""
    outcome = check("decisions/x.md", text.encode())
    assert outcome.fact is not None


@CALM
@given(st.text(alphabet="-. :abc\n[]{}#&*!\"'", max_size=80))
def test_a_documents_text_is_never_dropped_without_a_word(inner: str) -> None:
    """What stands between two rules is either read as frontmatter, reported, or still there."""
    text = f"---\n{inner}\n---\nrest"
    matter = read_frontmatter(text)
    assert matter.body.endswith("rest")
    assert matter.body == text or matter.fields or matter.problem or not text[3 : -len(matter.body)].strip("-. {}\n")


@given(VALUES)
def test_json_that_python_writes_is_read_as_it_was_meant(value: Any) -> None:
    """Up to lone surrogates and numbers that JSON has not."""
    text = json.dumps(value)
    read, problems = json_text.read_json_text(text)
    if not problems:
        assert read == value


@given(st.lists(st.sampled_from("ab"), max_size=4), st.integers(0, 3))
def test_the_line_of_a_key_is_found_at_any_depth(keys: list[str], index: int) -> None:
    """Through objects and arrays, past strings that look like keys."""
    decoy: dict[str, Any] = {"s": '"a": {"b": 1}', "l": ["a", "b"]}
    value: Any = {"z": 1}
    for key in reversed(keys):
        value = {**decoy, key: [0] * index + [value]}
    path: list[str | int] = []
    for key in keys:
        path += [key, index]
    text = json.dumps(value, indent=1)
    line = find_key_line(text, (*path, "z"))
    assert line is not None
    assert text.split("\n")[line - 1].strip() == '"z": 1'
    assert find_key_line(text, (*path, "y")) is None


@pytest.mark.parametrize("depth", [json_text.JSON_DEPTH + 1, 5_000, 200_000])
def test_nesting_beyond_the_bound_is_a_finding_whatever_its_depth(depth: int) -> None:
    """Python's own limit is never asked, so that the outcome does not hang on who calls."""
    for text in ("[" * depth + "]" * depth, '{"a":' * depth, "{" * depth):
        value, problems = json_text.read_json_text(text)
        assert value is None
        assert [problem.rule.id for problem in problems] == ["json-invalid"]
    shallow = "[" * json_text.JSON_DEPTH + "]" * json_text.JSON_DEPTH
    assert json_text.read_json_text(shallow)[1] == ()


def test_a_number_of_a_million_digits_is_kept_as_written() -> None:
    """Python refuses to read more than 4,300 digits; an envelope may hold them all the same."""
    digits = "1" * 1_000_000
    value, problems = json_text.read_json_text(f'{{"n": {digits}, "f": {digits}.5, "e": 1e999}}')
    assert (value, problems) == ({"n": digits, "f": f"{digits}.5", "e": "1e999"}, ())
    assert isinstance(value["n"], json_text.NumberText)
    assert json_text.type_name(value["n"]) == "a number"


def test_a_file_with_one_fault_many_times_has_a_bounded_list_of_findings() -> None:
    """Twenty thousand bad entries are one fault, and their lines are found in one pass."""
    values = {
        "type": orgdef.ORGANIZATION_TYPE,
        "id": "x",
        "relationships": [{"type": 1}] * 20_000,
        "positions": [3] * 20_000,
    }
    outcome = adapters.parse(File(source="s", path="org/x.openthing", data=json.dumps(values).encode()))
    assert len(outcome.findings) == FINDINGS


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 1_000_000,
        '{"a": "' + "\\\\" * 1_000_000,
        '{"' * 90 + "x" * 1_000_000,
        "[" * 90 + "1," * 500_000,
        '{"a":1,' * 90 + " " * 1_000_000,
    ],
    ids=["quotes", "backslashes", "one key", "an array", "white space"],
)
def test_megabytes_of_broken_json_come_to_an_end(text: str) -> None:
    """Each pass is linear, also where the text breaks off."""
    outcome = adapters.parse(File(source="s", path="memos/inbox/x.openthing", data=text.encode()))
    assert isinstance(outcome.fact, Envelope)
    assert outcome.fact.shape == "broken"
    assert find_key_line(text, ("nowhere",)) is None


@pytest.mark.parametrize(
    "text",
    [
        "---\n" + "a: b\n" * 300_000 + "---\n",
        "---\n" * 500_000,
        "# " + " " * 1_000_000 + "x",
        "#" * 1_000_000,
        "| a " * 500_000,
        "**" * 900_000,
    ],
    ids=["endless head", "rules", "a heading of blanks", "number signs", "cells", "stars"],
)
def test_megabytes_of_a_strange_document_come_to_an_end(text: str) -> None:
    """Heads are read line by line, within bounds."""
    outcome = adapters.parse(File(source="s", path="decisions/x.md", data=text.encode()))
    assert outcome.fact is not None
