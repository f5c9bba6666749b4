"""memory-layer: each case is read as expected, and whatever lies in its folders gives a result."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memosite.facts.file import File
from memosite.facts.findings import Severity
from memosite.facts.parsed import Parsed
from memosite.formats import adapters
from memosite.formats.memory_layer import CATEGORIES, LayerPlace, layer_place
from memosite.formats.memory_layer import parse as memory_layer
from memosite.markdown.tokens import read_body
from tests.support.cases import CASES, card_of, check_case, check_promises, inputs_of, read_case

INPUTS = inputs_of("memory-layer")
FOLDER = ".claude/memory/decisions/"
META = {"created": "2026-05-04T08:12:30Z", "category": "decisions", "summary": "rope"}
CALM = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(values: Any, path: str = FOLDER + "rope.json") -> Parsed:
    """Read an object as a file."""
    return adapters.parse(File(source="harbour", path=path, data=json.dumps(values).encode()))


def text_of(parsed: Parsed) -> str:
    """The text of the one record of a file."""
    return parsed.shelve[1].decode()


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_a_case_is_read_as_its_expectation_says(path: Path) -> None:
    """The records and the findings of each input are those written beside it."""
    check_case(path)


@pytest.mark.parametrize(
    "path", [path for path in INPUTS if path.name.startswith("foreign")], ids=lambda path: path.name
)
def test_what_other_tools_keep_in_the_same_folders_is_left_alone(path: Path) -> None:
    """No fact, and no finding either."""
    parsed, _ = read_case(path)
    assert parsed.fact is None
    assert parsed.findings == ()


@pytest.mark.parametrize("name", ["category-missing", "content-missing", "required-fields-missing", "category-unknown"])
def test_a_missing_required_field_is_an_error_and_the_record_is_kept(name: str) -> None:
    """What the format demands, and nothing else is wrong."""
    parsed, _ = read_case(CASES / "memory-layer" / f"{name}.json")
    assert {finding.severity for finding in parsed.findings} == {Severity.ERROR}
    assert card_of(parsed).title


def test_a_category_that_is_not_the_folders_is_a_warning_and_the_folder_makes_the_key() -> None:
    """Two files never get one key by what they say of themselves; the page is listed where the record belongs."""
    parsed = read({"meta": META, "content": 1}, ".claude/memory/handoffs/rope.json")
    assert [(finding.rule.id, finding.severity) for finding in parsed.findings] == [
        ("memory-layer-folder", Severity.WARNING)
    ]
    assert (card_of(parsed).key, card_of(parsed).type) == ("handoffs.rope", "decisions")


@pytest.mark.parametrize(
    ("path", "category", "is_archived"),
    [
        (".claude/memory/context/x.json", "context", False),
        ("a/b/.plan/memory/archive/handoffs/x.json", "handoffs", True),
        (".cui/memory/interfaces/x.json", "interfaces", False),
    ],
)
def test_the_place_of_a_file_is_told_by_its_folders(path: str, category: str, is_archived: bool) -> None:
    """Below any of the three roots, at any depth of the source."""
    place = layer_place(path)
    assert place == LayerPlace(category=category, is_archived=is_archived)


@pytest.mark.parametrize(
    "path",
    [
        "x.json",
        "memory/context/x.json",
        ".claude/context/x.json",
        ".claude/memory/x.json",
        ".claude/memory/lessons/x.json",
        ".claude/memory/context/deeper/x.json",
        ".claude/memory/archive/x.json",
        ".other/memory/context/x.json",
    ],
)
def test_other_folders_are_no_place_of_a_memory_layer(path: str) -> None:
    """The root, `memory` and the category must all be there."""
    assert layer_place(path) is None


@pytest.mark.parametrize("name", ["x", "archive/x"])
def test_an_open_fence_in_a_value_does_not_swallow_the_next_section(name: str) -> None:
    """Each value is closed before the next heading."""
    text = text_of(read({"meta": META, "content": {"decision": f"{name}\n~~~\ncode", "rationale": "because"}}))
    assert [heading.text for heading in read_body(text).headings] == ["Decision", "Rationale"]


def test_code_that_holds_backticks_stays_one_block() -> None:
    """The fence around JSON is longer than any run in it."""
    text = text_of(read({"meta": META, "content": {"types": {"a": "`" * 50}, "events": ["b"]}}))
    assert [heading.text for heading in read_body(text).headings] == ["Types", "Events"]


def test_deep_or_long_values_are_not_indented() -> None:
    """Indentation of what is deep takes far more room than the value itself."""
    value: Any = list(range(2_000))
    for _ in range(90):
        value = [value]
    text = text_of(read({"meta": META, "content": {"tree": value}}))
    assert len(text) < 2 * len(json.dumps(value))


def test_content_with_thousands_of_keys_or_items_is_shown_within_bounds() -> None:
    """Nobody reads a thousand headings; the rest is there all the same."""
    content = {f"k{number}": number for number in range(5_000)}
    text = text_of(read({"meta": META, "content": content}))
    assert text.count("\n## ") < 250
    assert '"k4999": 4999' in text
    text = text_of(read({"meta": META, "content": list(range(5_000))}))
    assert "4999" in text
    assert "- 4999" not in text


def test_known_keys_come_first_whatever_their_order() -> None:
    """A decision reads as a decision."""
    keys = ["zebra", "constraints", "rationale", "decision"]
    text = text_of(read({"meta": META, "content": dict.fromkeys(keys, "x")}))
    assert [heading.text for heading in read_body(text).headings] == ["Decision", "Rationale", "Constraints", "Zebra"]


PATHS = st.builds(
    lambda folder, stem: f"{folder}{stem or 'x'}.json",
    st.sampled_from([FOLDER, ".plan/memory/archive/handoffs/", "memos/", ""]),
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), max_size=20),
)
KEYS = st.sampled_from([*memory_layer._ORDER, "meta", "content", *memory_layer._META]) | st.text(max_size=10)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([*CATEGORIES, "\ud800", "```", "- ", "\r\n", "2026-05-04T08:12:30Z", "\0"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def check(path: str, data: bytes) -> Parsed:
    """Read a file twice, with this adapter and with all, and hold the outcome to what is promised."""
    outcome = adapters.parse(File(source="s", path=path, data=data))
    assert outcome == adapters.parse(File(source="s", path=path, data=data))
    check_promises(outcome, path, data)
    file = File(source="s", path=path, data=data)
    memory_layer.matches(file)
    check_promises(memory_layer.parse(file), path, data)
    return outcome


@CALM
@given(PATHS, st.binary(max_size=200))
@example(FOLDER + "x.json", b'{"meta": {"category": "decisions"}, "content": \xff')
@example(FOLDER + "x.json", b"\xef\xbb\xbf\xef\xbb\xbf{}")
def test_any_bytes_never_raise(path: str, data: bytes) -> None:
    """Under any name."""
    check(path, data)


@CALM
@given(PATHS, st.dictionaries(KEYS, VALUES, max_size=4), VALUES, VALUES)
def test_any_envelope_never_raises(path: str, others: dict[str, Any], meta: Any, content: Any) -> None:
    """With values of any type where another was expected."""
    check(path, json.dumps({**others, "meta": meta, "content": content}).encode())


@CALM
@given(st.dictionaries(KEYS, VALUES, max_size=6), VALUES)
def test_an_envelope_is_never_lost(others: dict[str, Any], content: Any) -> None:
    """A category and a content make a record, whatever else there is; its other fields are kept to be shown."""
    values = {**others, "meta": {"category": "context"}, "content": content}
    parsed = check("memory.json", json.dumps(values).encode())
    card = card_of(parsed)
    assert card.type == "context"
    assert bool(card.extra) == bool({name for name in others if name not in {"meta", "content"}})


@pytest.mark.parametrize("depth", [150, 100_000])
def test_nesting_beyond_the_bound_is_a_finding(depth: int) -> None:
    """A file that cannot be read is still shown."""
    text = json.dumps({"meta": META})[:-1] + ', "content": ' + "[" * depth + "]" * depth + "}"
    parsed = adapters.parse(File(source="s", path=FOLDER + "x.json", data=text.encode()))
    assert [finding.rule.id for finding in parsed.findings] == ["json-invalid"]
    assert card_of(parsed).title == "x"


def test_a_broken_field_names_the_clause_of_its_own_format() -> None:
    """Not that of memodef, whose fields have the same rules."""
    data = b'{"meta": {"category": "context", "summary": 7, "created": "soon"}, "content": {}}'
    parsed = adapters.parse(File(source="harbour", path=".claude/memory/context/a.json", data=data))
    assert {one.rule.id for one in parsed.findings} == {"field-type", "date-invalid"}
    assert {one.clause.partition(",")[0] for one in parsed.findings} == {"memory-layer format"}
