"""Whatever lies in a `.memory/` folder: each part gives a result, any of them can be joined, and nothing raises."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.json_text import find_key_line
from memosite.formats.fields import FINDINGS
from memosite.formats.memory_store import parse as memory_store
from memosite.formats.memory_store.join import join_stores
from memosite.formats.memory_store.parse import StoreBody, StoreConfig, part_of
from memosite.formats.systems import ALL_RULES

PLACES = st.sampled_from(
    [
        ".memory/config.json",
        ".memory/sync-state.json",
        ".memory/events.jsonl",
        ".memory/relations/a.json",
        ".memory/relations/b.json",
        ".memory/memory/project.json",
        ".memory/memory/project.md",
        ".memory/memory/gotchas/tides.json",
        ".memory/memory/gotchas/tides.md",
        "docks/.memory/memory/tides.json",
    ]
)
IDS = st.sampled_from(["gotcha.tides", "project.harbour", "rel.a", "x", "", "gotcha.\u0000"])
WORDS = st.sampled_from(
    ["gotcha", "question", "feature", "active", "open", "superseded", "shipped", "supersedes", "file"]
)
PATHS = st.sampled_from(["memory/gotchas/tides.md", "memory/../..", "../x.md", "memory/", "\ud800.md", "memory/\0.md"])
MOMENTS = st.sampled_from(["2026-05-01T10:00:00Z", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-01:00", "soon"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), IDS, WORDS, PATHS, MOMENTS
)
NAMES = """
id type status title body_path stage anchors tags evidence source origin scope facets superseded_by content_hash
created_at updated_at kind task commit locator applies_to from to predicate confidence version project name
event relation_id actor timestamp reason payload last_sync_commit
"""
KEYS = st.sampled_from(NAMES.split())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=8
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=14)
SIDECARS = st.fixed_dictionaries(
    {"id": IDS, "type": WORDS, "body_path": PATHS},
    optional={
        "status": WORDS,
        "stage": WORDS,
        "title": SCALARS,
        "superseded_by": IDS,
        "evidence": st.lists(st.fixed_dictionaries({"kind": WORDS | VALUES, "id": IDS | VALUES}), max_size=3),
        "source": OBJECTS | VALUES,
        "origin": OBJECTS | VALUES,
        "scope": OBJECTS | VALUES,
        "facets": OBJECTS | VALUES,
        "anchors": VALUES,
        "tags": VALUES,
        "created_at": MOMENTS | SCALARS,
        "content_hash": SCALARS,
    },
)
RELATIONS = st.fixed_dictionaries({"from": IDS | VALUES, "to": IDS | VALUES}, optional={"id": IDS, "predicate": WORDS})
EVENTS = st.fixed_dictionaries(
    {"event": st.sampled_from(["memory.created", "relation.created", "index.rebuilt", "x"]) | VALUES},
    optional={"id": IDS, "relation_id": IDS, "timestamp": MOMENTS | VALUES, "payload": RELATIONS | OBJECTS | VALUES},
)
CONTENTS = st.one_of(
    st.binary(max_size=80),
    st.text(alphabet='<>=| \n\r{}[]":,bodypathcntersi_\0\ufeff', max_size=60).map(str.encode),
    st.one_of(OBJECTS, SIDECARS, RELATIONS, EVENTS).map(lambda value: json.dumps(value).encode()),
    st.lists(EVENTS | VALUES, max_size=4).map(lambda lines: "\n".join(map(json.dumps, lines)).encode()),
)
CONFIG = b'{"version": 5, "project": {"id": "project.harbour"}}'
CALM = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def strings_in(value: Any) -> Iterator[str]:
    """Every string of a value, through tuples and dataclasses."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for entry in value:
            yield from strings_in(entry)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from strings_in(getattr(value, name))


def check_finding(finding: Finding, data: dict[str, bytes]) -> None:
    """A finding has a rule, a file that is there, a line in it, and a message that a terminal may show."""
    assert finding.rule in ALL_RULES
    assert 1 <= (finding.location.line or 1) <= data[finding.location.path].count(b"\n") + 1
    assert finding.message.isprintable()


@CALM
@given(PLACES, CONTENTS)
@example(".memory/config.json", b'{"version": 1e308, "project": {"id": "x"}}')
@example(".memory/config.json", b'{"version": ' + b"9" * 5000 + b', "project": {"id": "x"}}')
@example(".memory/events.jsonl", b"\xff\r\r\n<<<<<<< x\r\n=======\r\n")
@example(".memory/memory/project.json", b'"body_path"' * 50)
def test_any_bytes_in_any_part_give_a_result(path: str, data: bytes) -> None:
    """The same one each time, and never an exception."""
    file = File(source="s", path=path, data=data)
    is_ours = memory_store.matches(file)
    parsed = memory_store.parse(file)
    assert parsed == memory_store.parse(File(source="s", path=path, data=data))
    assert parsed.fact is not None or not is_ours
    assert len(parsed.findings) <= FINDINGS + 10
    for finding in parsed.findings:
        check_finding(finding, {path: data})
    for text in strings_in(parsed.fact):
        text.encode("utf-8")
    shelved = {hashlib.sha256(one).hexdigest() for one in parsed.shelve}
    assert hashlib.sha256(data).hexdigest() in shelved
    if isinstance(parsed.fact, StoreBody):
        assert parsed.fact.text.sha256 in shelved


@CALM
@given(st.dictionaries(PLACES, CONTENTS, max_size=9), st.booleans(), st.booleans())
def test_any_files_can_be_joined(files: dict[str, bytes], has_config: bool, is_loose: bool) -> None:
    """No node and no body is lost where there is a store, none comes up where there is none."""
    files = {**files, ".memory/config.json": CONFIG} if has_config else files
    parsed = [
        memory_store.parse(file)
        for file in (File(source="s", path=path, data=one) for path, one in files.items())
        if memory_store.matches(file)
    ]
    joined = join_stores(
        parsed,
        lambda file, key: find_key_line(files[file.path].decode("utf-8", "replace"), (key,)),
        lambda file: files[file.path],
        is_loose=is_loose,
    )
    counting = {
        config.file.path.rpartition("/")[0]
        for one in parsed
        if isinstance(config := one.fact, StoreConfig) and config.project
    }
    kept = [one for one in parsed if is_loose or one.path.partition("/memory/")[0] in counting]
    nodes = sorted(one.path for one in kept if part_of(one.path) == "node")
    bodies = {one.path for one in kept if part_of(one.path) == "body"}
    assert sorted(one.file.path for one in joined.records if part_of(one.file.path) == "node") == nodes
    alone = [one.file.path for one in joined.records if part_of(one.file.path) == "body"]
    folders = {one.file.path.partition("/memory/")[0] for one in joined.records}
    named = {f"{folder}/{one.body_path}" for one in joined.records for folder in folders}
    assert len(set(alone)) == len(alone)
    assert set(alone) <= bodies <= {*alone, *named}
    for finding in joined.findings:
        check_finding(finding, files)
    for events in joined.history.values():
        dated = [one.at.instant for one in events if one.at]
        assert dated == sorted(dated)
