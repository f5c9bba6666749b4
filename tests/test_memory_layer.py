"""memory-layer: each case is read as expected, and whatever lies in its folders gives a result."""

import json
from typing import Any

import pytest

from memosite.facts.file import File
from memosite.facts.findings import Severity
from memosite.facts.parsed import Parsed
from memosite.formats import adapters
from memosite.formats.memory_layer import LayerPlace, layer_place
from memosite.markdown.tokens import read_body
from tests.support.cases import card_of

FOLDER = ".claude/memory/decisions/"
META = {"created": "2026-05-04T08:12:30Z", "category": "decisions", "summary": "rope"}


def read(values: Any, path: str = FOLDER + "rope.json") -> Parsed:
    """Read an object as a file."""
    return adapters.parse(File(source="harbour", path=path, data=json.dumps(values).encode()))


def text_of(parsed: Parsed) -> str:
    """The text of the one record of a file."""
    return parsed.shelve[1].decode()


def test_a_category_that_is_not_the_folders_is_a_warning_and_the_folder_makes_the_key() -> None:
    """Two files never get one key; a broken field names the clause of its own format."""
    parsed = read({"meta": META, "content": 1}, ".claude/memory/handoffs/rope.json")
    assert [(finding.rule.id, finding.severity) for finding in parsed.findings] == [
        ("memory-layer-folder", Severity.WARNING)
    ]
    assert (card_of(parsed).key, card_of(parsed).type) == ("handoffs.rope", "decisions")
    data = b'{"meta": {"category": "context", "summary": 7, "created": "soon"}, "content": {}}'
    parsed = adapters.parse(File(source="harbour", path=".claude/memory/context/a.json", data=data))
    assert {one.rule.id for one in parsed.findings} == {"field-type", "date-invalid"}
    assert {one.clause.partition(",")[0] for one in parsed.findings} == {"memory-layer format"}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (".claude/memory/context/x.json", LayerPlace(category="context", is_archived=False)),
        ("a/b/.plan/memory/archive/handoffs/x.json", LayerPlace(category="handoffs", is_archived=True)),
        (".cui/memory/interfaces/x.json", LayerPlace(category="interfaces", is_archived=False)),
        # The root, `memory` and the category must all be there
        *((path, None) for path in ("x.json", "memory/context/x.json", ".claude/context/x.json")),
        *((f".claude/memory/{path}", None) for path in ("x.json", "lessons/x.json", "context/deeper/x.json")),
        *((path, None) for path in (".claude/memory/archive/x.json", ".other/memory/context/x.json")),
    ],
)
def test_the_place_of_a_file_is_told_by_its_folders(path: str, place: LayerPlace | None) -> None:
    """Below any of the three roots, at any depth of the source."""
    assert layer_place(path) == place


@pytest.mark.parametrize("name", ["x", "archive/x"])
def test_an_open_fence_in_a_value_does_not_swallow_the_next_section(name: str) -> None:
    """Each value is closed before the next heading."""
    text = text_of(read({"meta": META, "content": {"decision": f"{name}\n~~~\ncode", "rationale": "because"}}))
    assert [heading.text for heading in read_body(text).headings] == ["Decision", "Rationale"]


def test_long_content_is_shown_within_bounds() -> None:
    """Nobody reads a thousand headings; code that holds backticks stays one block, and known keys come first."""
    content = {f"k{number}": number for number in range(5_000)}
    text = text_of(read({"meta": META, "content": content}))
    assert text.count("\n## ") < 250
    assert '"k4999": 4999' in text
    text = text_of(read({"meta": META, "content": list(range(5_000))}))
    assert "4999" in text
    assert "- 4999" not in text
    value: Any = list(range(2_000))
    for _ in range(90):
        value = [value]
    text = text_of(read({"meta": META, "content": {"tree": value}}))
    assert len(text) < 2 * len(json.dumps(value))
    text = text_of(read({"meta": META, "content": {"types": {"a": "`" * 50}, "events": ["b"]}}))
    assert [heading.text for heading in read_body(text).headings] == ["Types", "Events"]
    keys = ["zebra", "constraints", "rationale", "decision"]
    text = text_of(read({"meta": META, "content": dict.fromkeys(keys, "x")}))
    assert [heading.text for heading in read_body(text).headings] == ["Decision", "Rationale", "Constraints", "Zebra"]
