"""The parts of a memory-store (which cases fix) are joined into records that are held to their hashes."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memosite.facts.file import File
from memosite.facts.findings import Severity
from memosite.facts.json_text import find_key_line
from memosite.facts.parsed import RecordCard
from memosite.formats import adapters
from memosite.formats.memory_store import parse as memory_store
from memosite.formats.memory_store import part_of, store_of
from memosite.formats.memory_store.join import JoinedStores, join_stores
from memosite.formats.memory_store.parse import StoreConfig, key_of_path
from memosite.formats.systems import ALL_RULES
from tests.support.mutations import mutated_json
from tests.support.stores import Entry, Stores, seal

FOREIGN = {
    ".memory/config.json": '{"version": "2.1", "project": {"id": "p"}}',
    "a/.memory/config.json": '{"version": true, "project": {"id": "p"}}',
    "b/.memory/config.json": '{"version": 5, "project": "p"}',
    "c/.memory/config.json": "// settings of an editor\n{}",
    "d/.memory/config.json": '{"version": 5, "project": {"id": " "}}',
    "config.json": '{"version": 5, "project": {"id": "project.p"}}', ".memory/sync-state.json": '{"cursor": 5}',
    ".memory/events.jsonl": '{"ts": 1, "kind": "start"}\n{bad\n',
    ".memory/memory/index.json": '{"title": "Index", "entries": []}', ".memory/memory/list.json": "[1, 2]",
    ".memory/memory/broken.json": "{", ".memory/relations/graph.json": '{"nodes": [], "from": "a"}',
    ".memory/schema/object.schema.json": '{"id": "a", "type": "b", "title": "c", "body_path": "d"}',
    ".memory/recovery/1/memory/a.json": '{"id": "fact.a", "type": "fact", "title": "c", "body_path": "memory/a.md"}',
    ".memory/.backup/1/.memory/config.json": '{"version": 5, "project": {"id": "project.p"}}',
    ".memory/memory/tides.memory.md": "---\nid: x\ntype: semantic\n---\nTides",
    ".memory/memory/tides.md": "---\nid: x\ntype: semantic\ncreated: 2026-05-01\n---\nTides",
    ".memory/notes/tides.md": "# Tides", "memory/tides.md": "# Tides",
    "memory/tides.json": '{"id": "fact.a", "type": "fact", "title": "c", "body_path": "memory/a.md"}',
}  # fmt: skip


def test_what_belongs_to_others_is_no_part_of_a_store() -> None:
    """The same names in the same folders, but not the shape; or the shape where no store is, as copies within one."""
    for path, text in FOREIGN.items():
        assert not memory_store.matches(File(source="harbour", path=path, data=text.encode())), path
    assert store_of("a/.memory/.backup/.memory/config.json") == ("a/.memory", ".backup/.memory/config.json")
    assert store_of("a/memory/config.json") is None
    assert store_of("a/.memory") is None
    assert part_of("a/.memory/memory/deep/down/x.md") == "body"
    assert part_of("a/.memory/memory/deep/down/x.txt") is None
    for path, key in [
        (".memory/memory/gotchas/tides.json", "gotcha.tides"),
        (".memory/memory/syntheses/the-bay.json", "synthesis.the-bay"),
        (".memory/memory/rumours/whale.json", "whale"),
        (".memory/memory/project.json", "project"),
    ]:
        assert key_of_path(path) == key


def harbour(root: Path) -> Stores:
    """A repo with the configuration of a store, and the node of its project."""
    repo = Stores(root)
    repo.config()
    repo.node("project.harbour", "# The harbour\n\nWhere ships lie.\n", at="project")
    return repo


@pytest.fixture
def repo(tmp_path: Path) -> Stores:
    """The repo `harbour`."""
    return harbour(tmp_path / "harbour")


def told(joined: JoinedStores) -> list[str]:
    """The findings as `rule path:line` within the store."""
    return [
        f"{one.rule.id} {one.location.path.removeprefix('.memory/')}:{one.location.line or ''}".removesuffix(":")
        for one in joined.findings
    ]


def record(joined: JoinedStores, key: str) -> RecordCard:
    """The one record of a key."""
    (found,) = [one for one in joined.records if one.key == key]
    return found


def event(what: str, at: str | int, **others: Any) -> str:
    """A line of the log, at a time or on a day of May."""
    return json.dumps({"event": what, "timestamp": f"2026-05-0{at}T09:00:00Z" if isinstance(at, int) else at, **others})


def test_a_node_is_joined_with_its_body_and_its_hash_is_made_as_the_specification_says(repo: Stores) -> None:
    """Flat, and below a folder of its kind; against a digest that `sha256sum` made over the text written out."""
    repo.node("decision.light", "# The light\n\nShips see it.\n")
    joined = repo.join()
    assert told(joined) == []
    assert [one.key for one in joined.records] == ["decision.light", "project.harbour"]
    texts = [one.text.summary if one.text else None for one in joined.records]
    assert texts == ["Ships see it.", "Where ships lie."]
    assert {one.hashed for one in joined.records} == {()}
    repo = harbour(repo.root / "hash")
    # printf '%s\n%s\n' '{"a":["é",1],"body_path":"memory/facts/x.md","id":"fact.x","title":"T"}' 'Körper' | sha256sum
    written = "sha256:b3b43e6a3f360ee4de9ffefe52feb4dde5db5aa0a06cd4d11b925b2231ba99bb"
    sidecar = {"title": "T", "id": "fact.x", "body_path": "memory/facts/x.md", "content_hash": written, "a": ["é", 1]}
    repo.put(".memory/memory/facts/x.json", sidecar)
    repo.put(".memory/memory/facts/x.md", "Körper\n")
    assert "store-hash" not in {one.rule.id for one in repo.join().findings}
    repo.put(".memory/memory/facts/x.md", "Korper\n")
    assert told(repo.join())[-1] == "store-hash memory/facts/x.json:5"
    repo = harbour(repo.root / "known")
    repo.node("fact.changed")
    repo.put(".memory/memory/facts/changed.md", "It is not so.\n")
    repo.node("fact.lost")
    (repo.root / ".memory/memory/facts/lost.md").unlink()
    joined = repo.join()
    fits = {one.key: one.hash_fits for one in joined.records}
    assert fits == {"project.harbour": True, "fact.changed": False, "fact.lost": None}
    sidecar = json.loads((repo.root / ".memory/memory/facts/changed.json").read_text())
    expected = seal(sidecar, "It is not so.\n")["content_hash"]
    (message,) = [one.message for one in joined.findings if one.rule.id == "store-hash"]
    assert message.endswith(f'"{expected}"')


NUMBERS = {
    "1.0": "1",
    "-0": "0",
    "-0.0": "0",
    "0e9": "0",
    "-12.50": "-12.5",
    "0.1": "0.1",
    "123e-2": "1.23",
    "0.000001": "0.000001",
    "0.0000001": "1e-7",
    "-1.5e-9": "-1.5e-9",
    "5e-324": "5e-324",
    "1e20": "100000000000000000000",
    "1e21": "1e+21",
    "123456789012345678901": "123456789012345680000",
    "9007199254740993": "9007199254740992",
    "1.7976931348623157e308": "1.7976931348623157e+308",
    "1e400": "null",
    "1" * 60: "1.1111111111111112e+59",
    "0." + "3" * 60: "0.3333333333333333",
    "true": "true",
    "null": "null",
}
"""Numbers as somebody may write them, and as JavaScript writes them again (node tells the same)."""


def test_a_hash_is_that_of_a_program_in_javascript(repo: Stores) -> None:
    """Otherwise an honest file is told to be tampered with: by its numbers, its keys, or half of a character."""
    halves = '"\\uD83D", "\\ud83d\\ude00", "\\ude00\\ud83d", "\x7f\u2028"'
    halved = '"\\ud83d","😀","\\ude00\\ud83d","\x7f\u2028"'
    by_units = '{"A":[],"a":{},"\\ud800":3,"😀":2,"ﬁ":1}'
    by_points = '{"A":[],"a":{},"\\ud800":3,"ﬁ":1,"😀":2}'
    for keys in (by_units, by_points):
        values = ",".join((*NUMBERS.values(), halved))
        said = f'{{"body_path":"memory/facts/x.md","facets":{keys},"id":"fact.x","n":[{values}],"title":"T"}}\nSo.\n'
        digest = hashlib.sha256(said.encode()).hexdigest()
        values = ", ".join((*NUMBERS, halves))
        keyed = '{"ﬁ": 1, "😀": 2, "\\ud800": 3, "a": {}, "A": []}'
        written = (
            f'{{"title": "T", "id": "fact.x", "n": [{values}], "facets": {keyed}, "body_path": "memory/facts/x.md",'
        )
        repo.put(".memory/memory/facts/x.json", f'{written} "content_hash": "sha256:{digest}"}}')
        repo.put(".memory/memory/facts/x.md", "So.\n")
        joined = repo.join()
        assert record(joined, "fact.x").hash_fits
        assert "store-hash" not in {one.rule.id for one in joined.findings}
    repo.put(".memory/memory/facts/x.json", f'{written} "more": 1e-7, "content_hash": "sha256:{digest}"}}')
    assert not record(repo.join(), "fact.x").hash_fits


def test_a_configuration_makes_a_store_of_any_version_unless_it_has_another_shape(repo: Stores) -> None:
    """Nodes that are lost to it are told of; mere Markdown is not: nothing tells that it was meant to be a store."""
    # The store's tool migrates the configuration before the nodes; an unknown version is a warning.
    repo.put(".memory/config.json", {"version": "5", "project": {"id": "project.harbour"}})
    joined = repo.join()
    assert joined.records == ()
    assert told(joined) == ["store-left-alone memory/project.json"]
    repo.put(
        ".memory/config.json", '{\n<<<<<<< HEAD\n"version": 5,\n=======\n>>>>>>> x\n"project": {"id": "project.x"}}'
    )
    joined = repo.join()
    assert joined.records == ()
    assert told(joined) == ["store-left-alone config.json", "store-conflict config.json:2"]
    (repo.root / ".memory/memory/project.json").unlink()
    assert told(repo.join()) == ["store-left-alone config.json"]
    repo = Stores(repo.root / "mere")
    repo.put(".memory/memory/tides.md", "# Tides\n")
    repo.put(".memory/events.jsonl", "")
    repo.put(".memory/sync-state.json", {"last_sync_commit": "49d4640"})
    assert told(repo.join()) == []
    repo = harbour(repo.root / "versions")
    scope = {"kind": "project", "project": "project.harbour", "branch": None, "task": None}
    for kind in ("architecture", "constraint", "fact", "source", "synthesis", "workflow"):
        repo.node(f"{kind}.x", scope=scope, facets={"category": "concept"})
    repo.relation("synthesis.x", "derived_from", "source.x")
    for version in (4, 5):
        repo.config(version=version)
        joined = repo.join()
        assert told(joined) == []
        assert len(joined.records) == 7
        assert ("Scope", "project: project.harbour") in record(joined, "fact.x").fields
    repo = harbour(repo.root / "unknown")
    repo.config(version=6)
    joined = repo.join()
    assert told(joined) == ["store-version config.json:2"]
    assert joined.findings[0].severity == Severity.WARNING
    assert [one.key for one in joined.records] == ["project.harbour"]


def test_the_node_of_the_project_shows_the_configuration_and_the_marker(repo: Stores) -> None:
    """There is no page of the store itself; unknown settings are shown, too; an invalid marker is no fault."""
    repo.put(".memory/sync-state.json", {"version": 1, "last_sync_commit": "49d4640"})
    repo.node("fact.x")
    joined = repo.join()
    rows = (("Project", "The harbour"), ("Storage version", "5"), ("Last sync", "49d4640"))
    assert record(joined, "project.harbour").fields == rows
    assert record(joined, "fact.x").fields == ()
    assert [(one.project, one.version, one.marker) for one in joined.stores] == [("project.harbour", 5, "49d4640")]
    project = {"id": "project.harbour", "name": "The harbour", "owner": "pilot"}
    repo.put(".memory/config.json", {"version": 5, "project": project, "memory": {"autoIndex": True}, "colour": "red"})
    last = record(repo.join(), "project.harbour").fields[-3:]
    assert last == (("Project owner", "pilot"), ("Memory", '{"autoIndex":true}'), ("Colour", "red"))
    repo = harbour(repo.root / "marker")
    for marker in ["{", "[]", '{"last_sync_commit": 5}', "{}"]:
        repo.put(".memory/sync-state.json", marker)
        joined = repo.join()
        assert told(joined) == []
        assert joined.stores[0].marker is None


def test_a_missing_body_and_conflict_marks_are_errors_and_what_there_is_is_kept(repo: Stores) -> None:
    """The node is kept without text; not through folders above, and not from another store; an orphan is no node."""
    repo.node("decision.light")
    (repo.root / ".memory/memory/decisions/light.md").unlink()
    joined = repo.join()
    assert told(joined) == ["store-body-missing memory/decisions/light.json:6"]
    assert joined.findings[0].severity == Severity.ERROR
    assert record(joined, "decision.light").text is None
    repo.put(".memory/memory/facts/lost.md", "# Lost\n\nAt sea.\n")
    joined = repo.join()
    assert told(joined)[1:] == ["store-body-orphan memory/facts/lost.md"]
    lost = record(joined, "fact.lost.md")
    assert (lost.type, lost.title, lost.text and lost.text.summary) == ("fact", "lost", "At sea.")
    repo = harbour(repo.root / "outside")
    repo.put("secret.md", "The key lies under the mat.")
    repo.put(".memory/secret.md", "So does this one.")
    repo.put("other/.memory/memory/x.md", "And this.")
    for number, path in enumerate(
        ("../secret.md", "memory/../../secret.md", "secret.md", "../other/.memory/memory/x.md")
    ):
        repo.node(f"decision.way-{number}", body_path=path)
        (repo.root / f".memory/memory/decisions/way-{number}.md").unlink()
    joined = repo.join()
    assert [one.rule.id for one in joined.findings] == ["store-body-path"] * 4
    assert [one.text for one in joined.records if one.type == "decision"] == [None] * 4
    repo = harbour(repo.root / "conflict")
    repo.node("decision.light")
    repo.relation("decision.light", "affects", "project.harbour")
    sidecar = repo.root / ".memory/memory/decisions/light.json"
    sidecar.write_text(
        sidecar.read_text().replace('  "status"', '<<<<<<< HEAD\n"status"\n=======\n"state"\n>>>>>>> storage\n', 1)
    )
    joined = repo.join()
    assert told(joined) == ["store-conflict memory/decisions/light.json:4"]
    kept = record(joined, "decision.light")
    assert kept.text is not None
    assert len(kept.relations) == 1
    assert "<<<<<<< HEAD" in kept.extra
    repo = harbour(repo.root / "marks")
    repo.node("decision.light", "# The light\n\n<<<<<<< HEAD\nLit.\n=======\nUnlit.\n>>>>>>> storage\n")
    repo.node("decision.lamp", "The lamp\n=======\n\nIs new.\n")
    joined = repo.join()
    assert told(joined) == ["store-conflict memory/decisions/light.md:3"]
    assert joined.findings[0].severity == Severity.ERROR


def test_a_relation_stands_with_the_node_it_begins_at_and_each_end_must_be_there(repo: Stores) -> None:
    """With all it says; of one id or of one sense they are duplicates, and shown once."""
    repo.node("decision.light")
    repo.node("gotcha.tides")
    repo.relation(
        "decision.light", "depends_on", "gotcha.tides", name="deep", confidence="low",
        evidence=[{"kind": "task", "id": "H-1"}], updated_at="2026-05-03T10:00:00Z", weight=[1],
    )  # fmt: skip
    repo.relation("decision.light", "affects", "project.harbour", name="a", status="stale")
    joined = repo.join()
    assert told(joined) == []
    assert [
        (one.predicate, one.target, one.status, one.confidence, one.label)
        for one in record(joined, "decision.light").relations
    ] == [
        ("affects", "project.harbour", "stale", None, "since 2026-05-01"),
        (
            *("depends_on", "gotcha.tides", "active", "low"),
            "since 2026-05-01; changed 2026-05-03; evidence task: H-1; weight: [1]",
        ),
    ]
    assert record(joined, "gotcha.tides").relations == ()
    repo = harbour(repo.root / "ends")
    repo.relation("decision.gone", "affects", "gotcha.gone", name="x")
    joined = repo.join()
    assert told(joined) == ["store-relation-end relations/x.json:3", "store-relation-end relations/x.json:5"]
    assert {one.severity for one in joined.findings} == {Severity.ERROR}
    repo = harbour(repo.root / "twice")
    repo.node("fact.a")
    repo.relation("fact.a", "affects", "project.harbour", name="a")
    repo.relation("fact.a", "affects", "project.harbour", name="b")
    repo.relation("fact.a", "related_to", "project.harbour", name="c", id="rel.a")
    joined = repo.join()
    assert told(joined) == ["store-duplicate relations/b.json:4", "store-duplicate relations/c.json:2"]
    assert [one.predicate for one in record(joined, "fact.a").relations] == ["affects", "related_to"]


def test_nodes_of_one_id_are_both_kept_and_stores_of_one_source_do_not_mix(repo: Stores) -> None:
    """The later path is told so, relations and events are of the first; a relation ends in its own store."""
    repo.node("decision.light", at="decisions/light")
    repo.node("decision.light", "Another.\n", at="decisions/zz-light")
    repo.relation("decision.light", "affects", "project.harbour")
    joined = repo.join()
    assert told(joined) == ["store-duplicate memory/decisions/zz-light.json:2"]
    lights = [one for one in joined.records if one.key == "decision.light"]
    assert [(one.file.name, len(one.relations)) for one in lights] == [("light.json", 1), ("zz-light.json", 0)]
    repo = harbour(repo.root / "apart")
    repo.config("docks/.memory")
    repo.node("fact.tides", "High.\n")
    repo.node("fact.tides", "Low.\n", store="docks/.memory")
    repo.node("fact.ropes", store="docks/.memory")
    repo.relation("fact.tides", "affects", "fact.ropes", name="x")
    repo.put("docks/.memory/events.jsonl", event("memory.created", 1, id="fact.tides", actor="cli"))
    joined = repo.join()
    assert told(joined) == ["store-relation-end relations/x.json:5"]
    assert len(joined.stores) == 2
    assert list(joined.history) == [("harbour", "docks/.memory/memory/facts/tides.json")]


def test_what_supersedes_a_node_must_be_there_and_be_said_and_not_itself_be_superseded_by_it(repo: Stores) -> None:
    """In the sidecar, or by an active relation; no circle, but what only leads into one is as it should be."""
    repo.node("decision.a", status="superseded", superseded_by="decision.gone")
    repo.node("decision.b", status="superseded", superseded_by=None)
    repo.node("decision.c", status="superseded")
    repo.node("decision.d", status="superseded", superseded_by="decision.c")
    repo.relation("decision.d", "supersedes", "decision.c")
    joined = repo.join()
    assert told(joined) == ["store-superseded memory/decisions/a.json:9", "store-superseded memory/decisions/b.json:4"]
    assert record(joined, "decision.d").superseded_by == "decision.c"
    repo = harbour(repo.root / "circle")
    repo.node("decision.a", status="superseded", superseded_by="decision.b")
    repo.node("decision.b", status="superseded", superseded_by="decision.a")
    repo.node("decision.c", status="superseded", superseded_by="decision.a")
    repo.node("decision.d", status="superseded", superseded_by="decision.d")
    repo.node("decision.e", status="active", superseded_by="project.harbour")
    joined = repo.join()
    assert told(joined) == [f"store-superseded memory/decisions/{name}.json:9" for name in "abde"]
    ends = [one.message.rpartition(", ")[2] for one in joined.findings]
    assert ends == [*["which leads back to this node"] * 3, "expected superseded"]
    repo = harbour(repo.root / "thousands")
    node: Entry = {"type": "fact", "title": "A", "status": "superseded"}
    for number in range(2_000):
        successor = f"fact.n{(number + 1) % 2_000}"
        repo.put(f".memory/memory/n{number}.json", {**node, "id": f"fact.n{number}", "superseded_by": successor})
    assert sum(one.rule.id == "store-superseded" for one in repo.join().findings) == 2_000


def test_a_history_is_in_the_order_of_time_and_events_are_of_nodes_relations_or_the_project(repo: Stores) -> None:
    """By instant; doubled lines count once, undated ones come last; bad lines are named, blank ones told once."""
    repo.node("decision.light")

    known = {"id": "decision.light", "actor": "agent"}
    updated = event("memory.updated", "2026-05-01T10:00:00+02:00", **known, reason="the lamp")
    lines = [
        event("memory.marked_stale", "at dawn", **known),
        updated,
        event("memory.superseded", "2026-05-01T09:00:00Z", **known),
        event("memory.created", "2026-05-01T07:59:00Z", **known, payload={"title": "Light"}),
        updated,
        event("memory.deleted", 2, id="decision.gone"),
    ]
    repo.put(".memory/events.jsonl", "\n".join(lines) + "\n")
    joined = repo.join()
    assert told(joined) == ["store-event events.jsonl:1"]
    history = joined.history["harbour", ".memory/memory/decisions/light.json"]
    assert [(one.event, one.detail) for one in history] == [
        ("memory.created", "title: Light"),
        ("memory.updated", "the lamp"),
        ("memory.superseded", ""),
        ("memory.marked_stale", ""),
    ]
    repo = harbour(repo.root / "bad")
    good = event("memory.created", 1, id="project.harbour", actor="cli")
    repo.put(".memory/events.jsonl", f"{{bad\n\n\n{good}\n5\n")
    joined = repo.join()
    assert told(joined) == ["store-event events.jsonl:1", "store-event events.jsonl:5", "store-event events.jsonl:2"]
    assert len(joined.history["harbour", ".memory/memory/project.json"]) == 1
    repo = harbour(repo.root / "deleted")
    change = {"from": "fact.a", "predicate": "affects", "to": "project.harbour", "why": "old"}
    lines = [
        event("memory.deleted", 1, id="gotcha.gone", actor="user", reason="answered"),
        event("index.rebuilt", 2, actor="system", payload={"rows": 3}, host="quay"),
        event("relation.deleted", 3, relation_id="rel.a", payload=change),
    ]
    repo.put(".memory/events.jsonl", "\n".join(lines) + "\n")
    joined = repo.join()
    assert told(joined) == []
    assert [(one.event, one.detail) for one in joined.history["harbour", ".memory/memory/project.json"]] == [
        ("memory.deleted", "gotcha.gone; answered"),
        ("index.rebuilt", "rows: 3; host: quay"),
        ("relation.deleted", "fact.a affects project.harbour; why: old"),
    ]
    repo = harbour(repo.root / "ends")
    repo.node("decision.light")
    repo.relation("decision.light", "affects", "project.harbour", name="x")
    ends = {"from": "decision.light", "predicate": "depends_on", "to": "decision.light"}
    lines = [
        event("relation.created", 1, relation_id="rel.x", actor="cli"),
        event("relation.deleted", 2, relation_id="rel.gone", actor="cli", reason="it was wrong", payload=ends),
    ]
    repo.put(".memory/events.jsonl", "\n".join(lines) + "\n")
    joined = repo.join()
    assert told(joined) == []
    told_of = {path: [(one.event, one.detail) for one in events] for (_, path), events in joined.history.items()}
    created = ("relation.created", "decision.light affects project.harbour")
    deleted = ("relation.deleted", "decision.light depends on decision.light; it was wrong")
    expected = {".memory/memory/decisions/light.json": [created, deleted], ".memory/memory/project.json": [created]}
    assert told_of == expected


def test_single_files_are_checked_by_themselves(repo: Stores) -> None:
    """What they say is checked, what they name is not looked for, nor a body that is not at hand."""
    repo.node("decision.light", status="bright", superseded_by="decision.gone")
    repo.relation("decision.light", "affects", "gotcha.gone")
    assert told(repo.join(is_loose=True, only="light.json")) == ["store-value memory/decisions/light.json:4"]
    assert told(repo.join(is_loose=True, only="light.md")) == []
    repo.put(".memory/memory/decisions/light.md", "Changed.\n")
    assert told(repo.join(is_loose=True, only="decisions/light"))[-1] == "store-hash memory/decisions/light.json:10"
    repo = harbour(repo.root / "facts")
    file = File(source="s", path=".memory/config.json", data=b'{"version": 5, "project": {"id": "project.x"}}')
    sidecar = (repo.root / ".memory/memory/project.json").read_bytes()
    node = File(source="s", path=".memory/memory/project.json", data=sidecar)
    body = File(source="s", path=".memory/memory/project.md", data=b"Something else")
    joined = join_stores(map(adapters.parse, (file, node, body)), lambda *_: None, lambda _: None)
    assert joined.findings == ()
    for path, values, clause in [
        ("memory/a.json", {"id": "fact.a", "type": "fact", "title": 7}, "Sidecar fields"),
        ("relations/a.json", {"id": "rel.a", "from": "fact.a", "to": "fact.b"}, "Relations"),
        ("config.json", {"version": 5, "project": {"id": "project.a", "name": 7}}, "Config"),
    ]:
        data = json.dumps(values).encode()
        findings = adapters.parse(File(source="harbour", path=f".memory/{path}", data=data)).findings
        assert {one.clause for one in findings if one.rule.id in {"field-missing", "field-type"}} == {
            f"memory-store reference, {clause}; SPEC 2.2"
        }


PLACES = st.sampled_from(
    [
        *(".memory/config.json", ".memory/sync-state.json", ".memory/events.jsonl", ".memory/relations/a.json"),
        *(".memory/relations/b.json", ".memory/memory/project.json", ".memory/memory/project.md"),
        *(".memory/memory/gotchas/tides.json", ".memory/memory/gotchas/tides.md", "docks/.memory/memory/tides.json"),
    ]
)
IDS = st.sampled_from(["gotcha.tides", "project.harbour", "rel.a", "x", "", "gotcha.\u0000"])
WORDS = st.sampled_from(
    ["gotcha", "question", "feature", "active", "open", "superseded", "shipped", "supersedes", "file"]
)
BODIES = st.sampled_from(["memory/gotchas/tides.md", "memory/../..", "../x.md", "memory/", "\ud800.md", "memory/\0.md"])
MOMENTS = st.sampled_from(["2026-05-01T10:00:00Z", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-01:00", "soon"])
VALUES = mutated_json([{"a": ["b", {"kind": "file", "id": "gotcha.tides"}]}]) | IDS | WORDS | MOMENTS
SIDECARS = st.fixed_dictionaries(
    {"id": IDS, "type": WORDS, "body_path": BODIES},
    optional={"status": WORDS, "stage": WORDS, "superseded_by": IDS, "created_at": MOMENTS}
    | dict.fromkeys(
        ["title", "evidence", "source", "origin", "scope", "facets", "anchors", "tags", "content_hash"], VALUES
    ),
)
RELATIONS = st.fixed_dictionaries({"from": IDS | VALUES, "to": IDS | VALUES}, optional={"id": IDS, "predicate": WORDS})
EVENTS = st.fixed_dictionaries(
    {"event": st.sampled_from(["memory.created", "relation.created", "index.rebuilt", "x"]) | VALUES},
    optional={"id": IDS, "relation_id": IDS, "timestamp": MOMENTS | VALUES, "payload": RELATIONS | VALUES},
)
CONTENTS = st.one_of(
    st.binary(max_size=80),
    st.one_of(SIDECARS, RELATIONS, EVENTS, VALUES).map(lambda value: json.dumps(value).encode()),
    st.lists(EVENTS | VALUES, max_size=4).map(lambda lines: "\n".join(map(json.dumps, lines)).encode()),
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(PLACES, CONTENTS, max_size=9), st.booleans(), st.booleans())
def test_any_files_can_be_joined(files: dict[str, bytes], has_config: bool, is_loose: bool) -> None:
    """No node and no body is lost where there is a store, none comes up where there is none."""
    config = b'{"version": 5, "project": {"id": "project.harbour"}}'
    files = {**files, ".memory/config.json": config} if has_config else files
    read = [File(source="harbour", path=path, data=data) for path, data in files.items()]
    parsed = [memory_store.parse(file) for file in read if memory_store.matches(file)]
    joined = join_stores(
        parsed,
        lambda file, key: find_key_line(files[file.path].decode("utf-8", "replace"), (key,)),
        lambda file: files[file.path],
        is_loose=is_loose,
    )
    configs = [one.fact for one in parsed if isinstance(one.fact, StoreConfig)]
    counting = {one.file.path.rpartition("/")[0] for one in configs if one.project}
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
        assert finding.rule in ALL_RULES and finding.message.isprintable()
        assert 1 <= (finding.location.line or 1) <= files[finding.location.path].count(b"\n") + 1
    for events in joined.history.values():
        dated = [one.at.instant for one in events if one.at]
        assert dated == sorted(dated)
