"""Each file of `cases/` is read as the expectation beside it says; `tests/support/cases.py` tells what a case is.

Whatever else lies there gives a result, too: damaged files, JSON of another shape, megabytes.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.facts import json_text
from memosite.facts.file import File
from memosite.facts.json_text import find_key_line
from memosite.facts.layout import place_of
from memosite.facts.parsed import Envelope, Parsed, RecordFile
from memosite.formats import adapters, memodef, orgdef
from memosite.formats.fields import FINDINGS
from memosite.formats.memory_store.join import ADAPTER as MEMORY_STORE
from memosite.formats.mif.parse import ADAPTER as MIF_ADAPTER
from memosite.formats.systems import ALL_RULES, SYSTEMS, split_file
from memosite.formats.yaml_text import read_frontmatter, read_yaml, split_head
from tests.support.cases import (
    CASES,
    EXPECTED,
    all_cases,
    all_inputs,
    card_of,
    check_case,
    check_promises,
    expectation_of,
)
from tests.support.fuzzing import fuzz
from tests.support.mutations import as_bytes, mutated, mutated_json, mutated_lines, one_of

INPUTS = all_cases()
SEVERITIES = CASES / "severities.json"


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_is_read_as_its_expectation_says(path: Path) -> None:
    """The facts, records and findings of each input are those written beside it; its findings and texts exist."""
    check_case(path)


def test_every_expectation_has_its_input_and_every_rule_its_severity() -> None:
    """An expectation whose input was renamed is not forgotten, and no two inputs share one."""
    # What a format demands is an error, what it advises a warning, and what belongs to others a note at most.
    expected = [expectation_of(path) for path in INPUTS]
    assert len(set(expected)) == len(expected)
    assert set(expected) == set(CASES.glob(f"*/*{EXPECTED}"))
    found = {rule.id: rule.severity.value for rule in ALL_RULES}
    if os.environ.get("MEMOSITE_REFRESH"):
        SEVERITIES.write_text(json.dumps(dict(sorted(found.items())), indent=2) + "\n", "utf-8")
    assert found == json.loads(SEVERITIES.read_text("utf-8"))


SEEDS = all_inputs()
PATHS = one_of(sorted(SEEDS))
TEXTS = sorted({data.decode("utf-8", "replace") for data in SEEDS.values()})
WORDS = sorted({line.encode() for text in TEXTS for line in text.split("\n") if 2 < len(line) < 60})[::7]
OBJECTS: dict[str, Any] = {}
for _at, _data in SEEDS.items():
    try:
        OBJECTS[_at] = json.loads(_data)
    except ValueError:
        continue
MEMO = "memos/inbox/x.openthing"
MEMOS = [one for one in OBJECTS.values() if isinstance(one, dict) and one.get("type") == memodef.MEMO_TYPE]
LAYERS = [one for at, one in OBJECTS.items() if "/memory/" in at and isinstance(one, dict) and "meta" in one]
MIF = [read_yaml(head.source).fields for text in TEXTS if (head := split_head(text)) and "\ntype: semantic" in text]


def check(path: str, data: bytes) -> Parsed:
    """Parse a file in each way; hold the results to what is promised of any, and give that of all adapters."""
    outcome = _twice(adapters.parse, path, data)
    results = [outcome, _twice(adapters.parse_record, path, data)]
    for adapter in adapters.FORMATS:
        file = _file(path, data)
        is_ours = adapter.matches(file)
        parsed = adapter.parse(file)
        results.append(parsed)
        if adapter is MEMORY_STORE:
            assert parsed.fact is not None or not is_ours
        if adapter is MIF_ADAPTER:
            assert isinstance(parsed.fact, RecordFile) == is_ours
    place = place_of(path)
    if place is not None:
        results.append(memodef.parse_broken(_file(path, data), place))
    for parsed in results:
        check_promises(parsed, path, data)
    for system in SYSTEMS:
        split_file(_file(path, data), system)
    return outcome


def _file(path: str, data: bytes) -> File:
    return File(source="harbour", path=path, data=data)


def _twice(parse: Any, path: str, data: bytes) -> Parsed:
    first: Parsed = parse(_file(path, data))
    assert parse(_file(path, data)) == first
    return first


ODD_FILES = [
    (MEMO, b"\xef\xbb\xbf\xef\xbb\xbf{}"), (MEMO, b"\xff\xfe{\x00}\x00"), (MEMO, b'{"a": "\\ud83d\\ud83d\\ude00"}'),
    (MEMO, b'{"a": 1,\n\n}'), (MEMO, b'"'),
    (MEMO, b'{"type": ["memodef:Memo"], "memodef": {}, "from": [], "to": {}, "subject": 1}'),
    ("org/x.openthing", b'{"type": "orgdef:Organization", "positions": [{"id": {}}, {"id": [1]}], "items": "x"}'),
    ("notes/x.openthing", b'{"type": "memodef:Memo", "to": ["file", 1, null], "metadata": {"discharged": [[]]}}'),
    ("catalog.opencatalog", b"PK\x03\x04"),
    (".claude/memory/decisions/x.json", b'{"meta": {"category": "decisions"}, "content": \xff'),
    (".memory/config.json", b'{"version": 1e308, "project": {"id": "x"}}'),
    (".memory/config.json", b'{"version": ' + b"9" * 5000 + b', "project": {"id": "x"}}'),
    (".memory/events.jsonl", b"\xff\r\r\n<<<<<<< x\r\n=======\r\n"),
    (".memory/memory/project.json", b'"body_path"' * 50),
    ("x.memory.md", b"---\nid: \xff\ntype: semantic\n---\n\xff"), ("x.memory.md", b"---\nid: x\ntype: semantic"),
    ("x.md", b"\xef\xbb\xbf---\nid: x\ntype: semantic\ncreated: x\n---"),
    (".wyren/memory.md", b"\xef\xbb\xbf## Decisions\r- a"), (".wyren/memory.md", b"```\n## Decisions\n```\n```"),
    (".wyren/memory.md", b"## Decisions\n- a\n  ```\nb\n- c"), (".wyren/broadcast/a.md", b"---\na: \xff\n---\n"),
]  # fmt: skip
ODD_TEXTS = [
    ("decisions/x.md", '---\na: "\\ud800"\n---\n'),
    ("decisions/x.md", '---\na: "\\UFFFFFFFF"\n---\n'),
    ("decisions/x.md", "---\n? [a]\n: b\n---\n"),
    ("x.md", "---\nid: x\ntype: semantic\ncreated: x\ntitle: *a\n---\n- [\n- uses @[[\n## Relations\n- a [](<>)\n"),
]


@fuzz(
    PATHS.flatmap(lambda at: st.tuples(st.just(at), mutated([SEEDS[at]], WORDS)))
    | st.tuples(PATHS, mutated(sorted(SEEDS.values()), WORDS)),
    examples=250,
    known=ODD_FILES,
)
def test_a_damaged_file_gives_a_result(case: tuple[str, bytes]) -> None:
    """Where it was, or as if one format had been copied over another."""
    check(*case)


@fuzz(st.tuples(PATHS, mutated_lines(TEXTS, [word.decode() for word in WORDS])), examples=100, known=ODD_TEXTS)
def test_a_text_of_mixed_lines_gives_a_result(case: tuple[str, str]) -> None:
    """Markdown, YAML and lists with their lines in disorder; where documents are, it is one."""
    data = case[1].encode("utf-8", "replace")
    check(case[0], data)
    assert check("decisions/x.md", data).fact is not None


@fuzz(st.tuples(one_of(sorted(OBJECTS)), mutated_json(list(OBJECTS.values()))), examples=200)
def test_json_of_another_shape_gives_a_result(case: tuple[str, Any]) -> None:
    """With values, keys and parts where they do not belong."""
    check(case[0], as_bytes(case[1]))


@fuzz(
    mutated_json(MIF),
    examples=150,
    known=[
        {"temporal": {"ttl": "P1D", "recorded_at": "9999-12-31"}},
        {"relationships": [{"target": [[["a"]]]}, {"target": [["a", "b"]]}, {"target": {"@id": []}}]},
        {"entities": [{"entity": {"@id": "urn:mif:entity:"}}, "@[[|]]", {"name": []}]},
    ],
)
def test_a_head_of_another_shape_gives_a_result(values: Any) -> None:
    """A record stays one, whatever its other fields are: YAML that a machine wrote is never broken."""
    said = values if isinstance(values, dict) else {"tags": values}
    fields = {name: value for name, value in said.items() if name not in {"id", "type", "created"}}
    head = "".join(f"{json.dumps(name)}: {json.dumps(value)}\n" for name, value in fields.items())
    parsed = check("docs/x.md", f"---\nid: a\ntype: semantic\ncreated: 2026-02-03\n{head}---\n".encode())
    assert card_of(parsed).type == "semantic"


@fuzz(mutated_json(MEMOS), examples=80)
def test_a_typed_memo_is_never_lost(values: Any) -> None:
    """Whatever its fields hold, an envelope of memodef becomes an envelope."""
    said = {**(values if isinstance(values, dict) else {"to": values}), "type": memodef.MEMO_TYPE}
    fact = check(MEMO, json.dumps(said).encode()).fact
    assert isinstance(fact, Envelope) and fact.shape == "typed"


KEYS = st.text(max_size=20) | st.sampled_from(["from", "to", "\ud800", "\0", "\x1b[31m"])
VALUES = mutated_json(MEMOS)


@fuzz(st.dictionaries(KEYS, VALUES, max_size=6), examples=80)
def test_unknown_fields_are_kept_to_be_shown(others: dict[str, Any]) -> None:
    """Every field of a memo that memosite has no use for stands in `extra`."""
    others = {f"x.harbour.{name}": value for name, value in others.items()}
    fact = check(MEMO, json.dumps({"type": memodef.MEMO_TYPE, "from": "pilot", **others}).encode()).fact
    assert isinstance(fact, Envelope)
    cleaned, _ = json_text.read_json_text(json.dumps(others))
    assert set(json.loads(fact.extra or "{}")) == set(cleaned)


@fuzz(st.tuples(st.dictionaries(KEYS, VALUES, max_size=4), mutated_json(LAYERS)), examples=80)
def test_a_record_of_a_memory_layer_is_never_lost(case: tuple[dict[str, Any], Any]) -> None:
    """A category and a content make a record, whatever else there is; its other fields are kept to be shown."""
    others, content = case
    values = {**others, "meta": {"category": "context"}, "content": content}
    card = card_of(check("memory.json", json.dumps(values).encode()))
    assert card.type == "context"
    assert bool(card.extra) == bool(set(others) - {"meta", "content"})


@fuzz(st.text(alphabet="-. :abc\n[]{}#&*!\"'", max_size=80), examples=80)
def test_a_documents_text_is_never_dropped_without_a_word(inner: str) -> None:
    """What stands between two rules is either read as frontmatter, reported, or still there."""
    text = f"---\n{inner}\n---\nrest"
    matter = read_frontmatter(text)
    assert matter.body.endswith("rest")
    assert matter.body == text or matter.fields or matter.problem or not text[3 : -len(matter.body)].strip("-. {}\n")


@given(st.lists(st.sampled_from("ab"), max_size=4), st.integers(0, 3))
def test_the_line_of_a_key_is_found_at_any_depth(keys: list[str], index: int) -> None:
    """Through objects and arrays, past strings that look like keys."""
    decoy: dict[str, Any] = {"s": '"a": {"b": 1}', "l": ["a", "b"]}
    value: Any = {"z": 1}
    for key in reversed(keys):
        value = {**decoy, key: [0] * index + [value]}
    path = [step for key in keys for step in (key, index)]
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
    layer = '{"meta": {"category": "decisions", "summary": "x"}, "content": ' + "[" * depth + "]" * depth + "}"
    parsed = adapters.parse(_file(".claude/memory/decisions/x.json", layer.encode()))
    assert [finding.rule.id for finding in parsed.findings] == ["json-invalid"]
    assert card_of(parsed).title == "x"


BROKEN_JSON = {
    "quotes": '"' + '\\"' * 1_000_000,
    "backslashes": '{"a": "' + "\\\\" * 1_000_000,
    "one key": '{"' * 90 + "x" * 1_000_000,
    "an array": "[" * 90 + "1," * 500_000,
    "white space": '{"a":1,' * 90 + " " * 1_000_000,
}
STRANGE_DOCUMENTS = {
    "endless head": "---\n" + "a: b\n" * 300_000 + "---\n", "rules": "---\n" * 500_000,
    "a heading of blanks": "# " + " " * 1_000_000 + "x", "number signs": "#" * 1_000_000, "cells": "| a " * 500_000,
    "stars": "**" * 900_000,
}  # fmt: skip


def test_megabytes_of_spite_come_to_an_end_and_one_fault_many_times_is_told_within_bounds() -> None:
    """Python refuses to read more than 4,300 digits; an envelope may hold them all the same."""
    digits = "1" * 1_000_000
    value, problems = json_text.read_json_text(f'{{"n": {digits}, "f": {digits}.5, "e": 1e999}}')
    assert (value, problems) == ({"n": digits, "f": f"{digits}.5", "e": "1e999"}, ())
    assert isinstance(value["n"], json_text.NumberText)
    assert json_text.type_name(value["n"]) == "a number"
    bad: dict[str, Any] = {"relationships": [{"type": 1}] * 20_000, "positions": [3] * 20_000}
    data = json.dumps({"type": orgdef.ORGANIZATION_TYPE, "id": "x", **bad}).encode()
    assert len(adapters.parse(_file("org/x.openthing", data)).findings) == FINDINGS
    for text in BROKEN_JSON.values():
        fact = adapters.parse(_file(MEMO, text.encode())).fact
        assert isinstance(fact, Envelope) and fact.shape == "broken"
        assert find_key_line(text, ("nowhere",)) is None
    for text in STRANGE_DOCUMENTS.values():
        assert adapters.parse(_file("decisions/x.md", text.encode())).fact is not None
