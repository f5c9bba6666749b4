"""Records of the other memory systems, from files in folders to artifacts that are joined to everything else."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memosite.archive.ledger import Ledger, parse_ledger
from memosite.archive.lines import artifact_line, body_texts, exported
from memosite.archive.model import Archive, Record, SourceInfo
from memosite.commands.check import check
from memosite.config.loading import discover
from memosite.facts.parsed import Ref
from memosite.facts.texts import find_mentions
from memosite.formats.systems import RECORD_IDS, owner_of, root_of_record
from memosite.reading.archive import read_source
from memosite.reading.reader import LineFinder
from memosite.resolve import ResolveRules, resolve
from memosite.sources.folder import FolderSource
from memosite.store.shelf import Shelf
from tests.support.archives import DOCUMENTS, links, open_folders, read_folders, read_sources
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.stores import Stores

UUID = "3eaf4c81-5d77-4f4c-8061-8293a4b5c6d7"
OTHER_UUID = "9b1c7a52-0c11-4b7e-9a55-1f2e3d4c5b6a"
WEB = "https://git.example.org/quay/{ref}/{path}"


def write_mif(repo: Path, path: str, *, id_: str = UUID, title: str = "Rope", head: str = "", body: str = "") -> Path:
    """Write a record of MIF 0.1; `head` are further lines of its frontmatter."""
    text = f"---\nid: {id_}\ntype: semantic\nnamespace: decisions/project\ntitle: {title}\n"
    return write_text(repo / path, f"{text}created: 2026-05-02T08:00:00Z\n{head}---\n\n{body}\n")


def write_layer(repo: Path, path: str, *, summary: str = "Rope", **content: object) -> Path:
    """Write a memory-layer's file; its category is that of its folder."""
    meta = {"created": "2026-05-04T08:12:30Z", "category": path.split("/")[-2], "summary": summary, "session_id": "s"}
    return write_text(repo / f".claude/memory/{path}.json", json.dumps({"meta": meta, "content": content}))


def empty(folder: Path) -> Path:
    """A repo in a folder, with a memory-store that has no nodes."""
    Stores(folder / "quay").config()
    return folder / "quay"


@pytest.fixture
def quay(tmp_path: Path) -> Path:
    """A repo with a memory-store in it."""
    return empty(tmp_path)


def archive_of(*roots: Path, web: str | None = None) -> Archive:
    """The archive of some folders."""
    return read_folders(*roots, web=dict.fromkeys((root.name for root in roots), web) if web else None)


def record(archive: Archive, id_: str) -> Record:
    """A record by its id."""
    found = archive.artifacts["record", id_]
    assert isinstance(found, Record)
    return found


def ids(archive: Archive) -> list[str]:
    """The ids of all records, by name."""
    return sorted(id_ for kind, id_ in archive.artifacts if kind == "record")


def rules_of(archive: Archive) -> list[str]:
    """Every finding as its rule and the path it is about."""
    return [f"{finding.rule.id} {finding.location.path}" for finding in archive.findings]


def relations(archive: Archive, id_: str) -> list[tuple[str, str | None, bool]]:
    """The relations of a record: predicate, id of the other, whether it is an inverse."""
    return [(one.predicate, one.to and one.to[1], one.is_inverse) for one in record(archive, id_).relations]


def test_markdown_of_mif_is_found_by_its_head_and_documents_stay_documents(quay: Path, tmp_path: Path) -> None:
    """Only what begins like a record is a candidate; links at the places of records are not followed."""
    head = f"---\nid: {UUID}\ntype: semantic\ncreated: 2026-05-01\n---\n\n"
    write_text(quay / "docs/rope.md", head + "# Rope\n")
    write_text(quay / "docs/guide.md", "# Guide\n")
    write_text(quay / "decisions/paint.md", "# Paint\n\nStatus: accepted\n")
    write_text(quay / "examples/rope.md", head)
    listing = FolderSource(name="quay", root=quay, documents=DOCUMENTS).list_files()
    assert "docs/guide.md" not in listing.candidates
    assert "examples/rope.md" not in listing.candidates
    assert listing.records == {".memory/config.json", "docs/rope.md"}
    archive = archive_of(quay)
    assert sorted(archive.artifacts) == [("document", "quay.decisions.paint.md"), ("record", f"quay.{UUID}")]
    quay = empty(tmp_path / "named")
    write_text(quay / "decisions/paint.memory.md", "# Paint\n")
    archive = archive_of(quay)
    assert list(archive.artifacts) == [("document", "quay.decisions.paint.memory.md")]
    assert rules_of(archive) == []
    write_mif(tmp_path, "elsewhere/rope.memory.md")
    (quay / "rope.memory.md").symlink_to(tmp_path / "elsewhere/rope.memory.md")
    (quay / "desk").mkdir()
    (quay / "desk/.wyren").symlink_to(tmp_path / "elsewhere")
    archive = archive_of(quay)
    assert ids(archive) == []
    assert rules_of(archive) == ["link-not-followed desk/.wyren", "link-not-followed rope.memory.md"]


def test_a_note_on_what_is_no_record_says_nothing_untrue(tmp_path: Path) -> None:
    """Each file lacks what its note says; one that is not UTF-8 is told of for that."""
    layer = '{"meta": {"category": "news"}, "content": 1}'
    for path, data, rule, said in (
        ("quay.memory.md", b"---\nid: x\ntitle: Quay\n---\n", "left-alone", "without two of the fields"),
        ("quay.memory.md", b"---\ntype: tide\ncreated: 2026-05-01\n---\n", "left-alone", "a type of MIF"),
        (
            ".claude/memory/decisions/a.json",
            layer.encode(),
            "left-alone",
            "meta.category is not context, decisions, interfaces or han",
        ),
        (".claude/memory/decisions/a.json", layer.encode("utf-16"), "utf8-invalid", "byte 0xff at offset 0"),
        (
            ".claude/memory/decisions/a.json",
            b"{'meta': {'category': 'decisions'}, 'content': 1}",
            "json-invalid",
            "expecting property",
        ),
        (".wyren/older.md", b"## Decisions\n- Rope\n", "left-alone", "no memory.md with one of its sections"),
        (".memory/memory/a.json", '{"id": "fact.a"}'.encode("utf-16"), "utf8-invalid", "byte 0xff at offset 0"),
    ):
        at = tmp_path / rule / str(len(data)) / path
        at.parent.mkdir(parents=True)
        at.write_bytes(data)
        archive = archive_of(tmp_path / rule / str(len(data)))
        (found,) = (one for one in archive.findings if one.rule.id == rule)
        assert said in found.message, path


def test_what_other_tools_keep_makes_no_record_and_one_note_a_folder(tmp_path: Path) -> None:
    """However much lies in it; nodes without a configuration are told of once, a stray file of a store is named."""
    root = tmp_path / "quay"
    write_text(root / ".claude/memory/README.md", "# My memory\n")
    write_text(root / ".claude/memory/decisions/state.json", '{"cursor": 5}')
    write_text(root / ".memory/config.json", '{"editor": "blue"}')
    write_text(root / ".memory/memory/tides.md", "# Tides\n")
    write_text(root / ".memory/state.json", "[1, 2]")
    write_text(root / ".wyren/README.md", "# How to use this\n")
    write_text(root / "notes.memory.md", "# Notes\n")
    archive = archive_of(root)
    assert archive.artifacts == {}
    assert rules_of(archive) == [
        *("left-alone .claude/memory/README.md", "left-alone .memory/config.json", "left-alone .wyren/README.md"),
        "left-alone notes.memory.md",
    ]
    assert archive.findings[0].message.endswith("; so is another file in .claude/memory/")
    assert "with 2 others in .memory/" in archive.findings[1].message
    root = tmp_path / "many/quay"
    for number in range(200):
        write_text(root / f".claude/memory/{'daily/' * (number % 3)}{number:03}.md", "# Today\n")
        write_text(root / f"logs/{number:03}.memory.md", "# Log\n")
    write_text(root / "logs/old/1.memory.md", "# Log\n")
    archive = archive_of(root)
    assert rules_of(archive) == [
        *("left-alone .claude/memory/000.md", "left-alone logs/000.memory.md", "left-alone logs/old/1.memory.md")
    ]
    told = [finding.message.partition("; ")[2] for finding in archive.findings]
    assert told == ["so are 199 other files in .claude/memory/", "so are 199 other files in logs/", ""]
    root = tmp_path / "nodes/quay"
    Stores(root).node("fact.tides")
    write_text(root / ".memory/readme.md", "# Mine\n")
    archive = archive_of(root)
    assert archive.artifacts == {}
    assert rules_of(archive) == ["store-left-alone .memory/memory/facts/tides.json"]
    quay = empty(tmp_path / "stray")
    write_text(quay / ".memory/memory/facts/list.json", "[1, 2]")
    write_text(quay / ".memory/memory/notes.txt", "mine")
    write_text(quay / ".memory/patch.json", "{}")
    assert rules_of(archive_of(quay)) == ["left-alone .memory/memory/facts/list.json"]
    for number in range(50):
        write_text(quay / f".memory/memory/facts/list-{number:02}.json", "[1, 2]")
    (finding,) = archive_of(quay).findings
    assert finding.message.endswith("so are 50 other files in .memory/")


def test_each_store_is_discovered(tmp_path: Path) -> None:
    """By names, else by the head of a file; in a repo that is the source; beside another store MIF makes none."""
    for number, path in enumerate((
        *("desk/.memory/config.json", "desk/.claude/memory/decisions/a.json", "desk/.wyren/memory.md", "a.memory.md"),
        *("desk/.plan/memory/archive/handoffs/a.json", "desk/.relay/memory.md", "desk/notes/a.memory.md"),
    )):  # fmt: skip
        site = tmp_path / str(number)
        write_text(site / path, "{}")
        roots = [one.root or Path() for one in discover(site, ignore=())]
        assert roots == [site.resolve() / path.partition("/")[0] if "/" in path else site.resolve()], path
    site = tmp_path / "heads"
    write_text(site / "vault/.git/HEAD", "")
    write_text(site / "vault/docs/deep/a.md", f"---\nid: {UUID}\ntype: semantic\ncreated: 2026-05-01\n---\n")
    write_text(site / "site/docs/a.md", "---\ntitle: A page\n---\n")
    assert [one.name for one in discover(site, ignore=())] == ["vault"]
    write_memo(site / "desk/memos", "a")
    write_mif(site / "desk", "knowledge/rope.memory.md")
    assert [one.name for one in discover(site, ignore=())] == ["desk", "vault"]


def test_of_two_records_of_one_id_the_first_keeps_it_and_equal_files_are_copies(quay: Path) -> None:
    """The ledger remembers it, whatever appears earlier later; two nodes of one id in a store are told of once."""
    write_mif(quay, "m/rope.memory.md", title="First")
    archive, ledger = read_sources(quay)
    assert rules_of(archive) == []
    write_mif(quay, "a/rope.memory.md", title="Second")
    archive, _ = read_sources(quay, ledger=parse_ledger(ledger.to_jsonl(), name="ledger"))
    assert record(archive, f"quay.{UUID}").subject == "First"
    assert len(ids(archive)) == 2
    assert rules_of(archive) == ["id-collision a/rope.memory.md"]
    quay = empty(quay.parent / "equal")
    write_mif(quay, "a/rope.memory.md")
    write_mif(quay, "b/rope.memory.md")
    archive = archive_of(quay)
    paths = [copy.file.path for copy in record(archive, f"quay.{UUID}").copies]
    assert paths == ["a/rope.memory.md", "b/rope.memory.md"]
    assert rules_of(archive) == []
    Stores(quay).node("fact.tides", "One.\n")
    Stores(quay).node("fact.tides", "Two.\n", at="other/tides")
    archive = archive_of(quay)
    assert len(ids(archive)) == 3
    assert rules_of(archive) == ["store-duplicate .memory/memory/other/tides.json"]


def test_records_are_called_by_their_source_and_key_and_nodes_have_bodies_and_history(quay: Path) -> None:
    """Wherever their files lie (SPEC 3, identity); a date is created, else the name's stamp, else nothing."""
    Stores(quay).node("decision.retries")
    write_mif(quay, "docs/rope.memory.md")
    write_layer(quay, "archive/handoffs/設計")
    write_text(quay / ".wyren/memory.md", "## Decisions\n\n- Rope is blue [session 7a2e, turn 12]\n")
    archive = archive_of(quay)
    assert ids(archive)[:3] == [f"quay.{UUID}", "quay.archive.handoffs.設計", "quay.decision.retries"]
    assert re.fullmatch(r"quay\.decisions\.[0-9a-f]{8}", ids(archive)[3])
    assert {one.system for one in archive.artifacts.values()} == {"memory-store", "mif", "memory-layer", "wyren"}
    meta = {"category": "context", "summary": "x", "session_id": "s"}
    write_text(quay / ".claude/memory/context/2026-03-01-rope.json", json.dumps({"meta": meta, "content": 1}))
    date = record(archive_of(quay), "quay.context.2026-03-01-rope").date
    assert date is not None
    assert date.utc.startswith("2026-03-01")
    quay = empty(quay.parent / "node")
    repo = Stores(quay)
    repo.node("decision.retries", "# Retries\n\nThe worker retries.\n")
    event = {"event": "memory.created", "id": "decision.retries", "actor": "ada", "timestamp": "2026-05-01T08:00:00Z"}
    repo.put(".memory/events.jsonl", json.dumps(event) + "\n")
    archive = archive_of(quay)
    found = record(archive, "quay.decision.retries")
    assert rules_of(archive) == []
    assert found.summary == "The worker retries."
    assert [(one.event, one.actor) for one in found.history] == [("memory.created", "ada")]
    assert found.copies[0].body_path == ".memory/memory/decisions/retries.md"
    write_text(quay / ".memory/memory/decisions/retries.md", "# Retries\n\nThe worker gives up.\n")
    archive = archive_of(quay)
    assert rules_of(archive) == ["store-hash .memory/memory/decisions/retries.json"]
    assert [finding.rule.id for finding in record(archive, "quay.decision.retries").findings] == ["store-hash"]


def test_relations_are_bound_both_ways_and_tell_of_successors(quay: Path) -> None:
    """The other end has them with the inverse word; two stores of one repo may have nodes of one id."""
    repo = Stores(quay)
    for id_ in ("decision.retries", "feature.queue", "gotcha.clock"):
        repo.node(id_)
    repo.relation("decision.retries", "affects", "feature.queue")
    repo.relation("feature.queue", "depends_on", "gotcha.clock")
    repo.relation("gotcha.clock", "related_to", "decision.retries")
    archive = archive_of(quay)
    known = relations(archive, "quay.decision.retries")
    assert known == [("affects", "quay.feature.queue", False), ("related to", "quay.gotcha.clock", True)]
    others = relations(archive, "quay.feature.queue")
    assert others == [("depends_on", "quay.gotcha.clock", False), ("affected by", "quay.decision.retries", True)]
    assert ("required by", "quay.feature.queue", True) in relations(archive, "quay.gotcha.clock")
    write_text(quay / "decisions/paint.md", "# Paint\n")
    write_mif(quay, "docs/rope.memory.md", body="## Relationships\n\n- implements [Paint](/decisions/paint.md)\n")
    archive = archive_of(quay)
    document: Ref = ("document", "quay.decisions.paint.md")
    assert record(archive, f"quay.{UUID}").relations[0].to == document
    assert archive.artifacts[document].backlinks == (("record", f"quay.{UUID}"),)
    quay = empty(quay.parent / "two")
    here, there = Stores(quay), Stores(quay / "desk")
    there.config()
    here.node("decision.retries", "Here.\n")
    there.node("decision.retries", "There.\n")
    there.node("fact.tides")
    there.relation("fact.tides", "supports", "decision.retries")
    here.node("fact.wind")
    here.relation("fact.wind", "supports", "fact.tides")
    archive = archive_of(quay)
    (supported,) = record(archive, "quay.fact.tides").relations
    assert supported.to is not None
    assert record(archive, supported.to[1]).card.file.path == "desk/.memory/memory/decisions/retries.json"
    assert relations(archive, "quay.fact.wind") == [("supports", None, False)]
    quay = empty(quay.parent / "successors")
    repo = Stores(quay)
    repo.node("decision.old", status="superseded", superseded_by="decision.new")
    repo.node("decision.older", status="superseded")
    repo.node("decision.new")
    repo.relation("decision.new", "supersedes", "decision.older")
    archive = archive_of(quay)
    new: Ref = ("record", "quay.decision.new")
    assert [record(archive, f"quay.decision.{name}").superseded_by for name in ("old", "older")] == [new, new]
    found = relations(archive, "quay.decision.new")
    assert found == [("supersedes", "quay.decision.older", False), ("supersedes", "quay.decision.old", True)]
    assert relations(archive, "quay.decision.older") == [("superseded by", "quay.decision.new", True)]
    write_layer(quay, "archive/handoffs/task-42")
    write_layer(quay, "archive/handoffs/task-42_20261121203553")
    archive = archive_of(quay)
    first, second = "quay.archive.handoffs.task-42", "quay.archive.handoffs.task-42_20261121203553"
    assert relations(archive, second) == [("archive_of", first, False)]
    assert relations(archive, first) == [("archived again as", second, True)]


def test_relations_of_mif_name_others_by_id_path_stem_or_title(quay: Path) -> None:
    """And the other has MIF's own inverse; one that both state stands once at each; a title of several means none."""
    for target in [f"[[{OTHER_UUID}]]", "[Knots](/docs/knots.memory.md)", "[[knots]]", "[[How to tie knots]]"]:
        write_mif(quay, "docs/rope.memory.md", body=f"## Relationships\n\n- derived-from {target}\n")
        write_mif(quay, "docs/knots.memory.md", id_=OTHER_UUID, title="How to tie knots")
        archive = archive_of(quay)
        assert relations(archive, f"quay.{UUID}") == [("derived-from", f"quay.{OTHER_UUID}", False)]
        assert relations(archive, f"quay.{OTHER_UUID}") == [("derives", f"quay.{UUID}", True)]
    quay = empty(quay.parent / "both")
    write_mif(quay, "a.memory.md", body=f"- relates-to [[{OTHER_UUID}]]")
    write_mif(quay, "b.memory.md", id_=OTHER_UUID, body=f"- relates-to [[{UUID}]]")
    archive = archive_of(quay)
    assert relations(archive, f"quay.{UUID}") == [("relates-to", f"quay.{OTHER_UUID}", False)]
    assert relations(archive, f"quay.{OTHER_UUID}") == [("relates-to", f"quay.{UUID}", False)]
    third = "11111111-2222-4333-8444-555555555555"
    write_mif(quay, "a.memory.md", body="- relates-to [[Knots]]")
    write_mif(quay, "b.memory.md", id_=OTHER_UUID, title="Knots")
    write_mif(quay, "c.memory.md", id_=third, title="Knots")
    assert relations(archive_of(quay), f"quay.{UUID}") == [("relates-to", None, False)]


@pytest.mark.parametrize("written", ["[Session](/session.md)", "[Session](session.md)", "[[session]]"])
@pytest.mark.parametrize("suffix", [".md", ".memory.md"])
def test_a_relation_of_mif_means_the_file_beside_first(quay: Path, written: str, suffix: str) -> None:
    """A slash stands for the folder that a set of memories is in, as it is in each of several sets."""
    ids = {
        folder: f"{number * 11111111}-2222-4333-8444-555555555555" for number, folder in enumerate(("", "a/", "b/"), 1)
    }
    for folder, id_ in ids.items():
        title = f"Session of {folder or 'all'}"
        write_mif(quay, f"notes-of/{folder}session{suffix}", id_=id_, title=title)
    body = f"## Relationships\n\n- relates-to {written.replace('.md', suffix)}\n"
    write_mif(quay, "notes-of/b/rope.memory.md", body=body)
    archive = archive_of(quay)
    assert relations(archive, f"quay.{UUID}") == [("relates-to", f"quay.{ids['b/']}", False)]
    assert set(links(archive, ("record", f"quay.{UUID}")).values()) <= {("record", f"quay.{ids['b/']}")}


@pytest.mark.parametrize("id_", ["adr-0007", "urn:mif:adr-0007"])
@pytest.mark.parametrize("written", ["[[urn:mif:adr-0007]]", "[[adr-0007]]"])
def test_a_relation_of_mif_means_a_document_by_the_id_that_it_has(quay: Path, id_: str, written: str) -> None:
    """With or without the prefix; of its own source first, and never one of several."""
    write_text(quay / "decisions/paint.md", f"---\nid: {id_}\ntitle: Paint\n---\n\n# Paint\n")
    write_mif(quay, "docs/rope.memory.md", body=f"## Relationships\n\n- implements {written}\n")
    far = write_text(quay.parent / "pier/decisions/hull.md", f"---\nid: {id_}\n---\n\n# Hull\n").parents[1]
    document: Ref = ("document", "quay.decisions.paint.md")
    archive = archive_of(quay, far)
    assert record(archive, f"quay.{UUID}").relations[0].to == document
    assert archive.artifacts[document].backlinks == (("record", f"quay.{UUID}"),)
    (quay / "decisions/paint.md").unlink()
    assert record(archive_of(quay, far), f"quay.{UUID}").relations[0].to == ("document", "pier.decisions.hull.md")
    write_text(far / "decisions/keel.md", f"---\nid: {id_}\n---\n\n# Keel\n")
    assert record(archive_of(quay, far), f"quay.{UUID}").relations[0].to is None


def test_a_handoff_and_a_memo_lead_to_the_records_that_they_name(quay: Path) -> None:
    """By the stems of files, a node's id, a UUID, a whole id, a path; what leads nowhere is told at its line."""
    for path in ("context/rope", "decisions/rope", "archive/decisions/paint", "decisions/paint"):
        write_layer(quay, path)
    write_layer(quay, "handoffs/h", context_references=["rope", "paint", "nothing"])
    archive = archive_of(quay)
    handoff: Ref = ("record", "quay.handoffs.h")
    known = links(archive, handoff)
    assert known == {"rope": ("record", "quay.context.rope"), "paint": ("record", "quay.decisions.paint")}
    assert record(archive, "quay.decisions.paint").backlinks == (handoff,)
    (finding,) = record(archive, "quay.handoffs.h").findings
    assert (finding.rule.id, finding.severity, finding.location.line) == ("memory-layer-reference", "note", 1)
    assert finding.message == '"context_references" names "nothing"; expected known records'
    names = ["h", *(f"gone-{number}" for number in range(7))]
    file = write_layer(quay, "handoffs/h", context_references=names)
    file.write_text(json.dumps(json.loads(file.read_text()), indent=1))
    (finding,) = record(archive_of(quay), "quay.handoffs.h").findings
    assert '"context_references"' in file.read_text().splitlines()[(finding.location.line or 0) - 1]
    assert finding.message.endswith('"gone-4" and 2 more; expected known records')
    quay = empty(quay.parent / "memo")
    Stores(quay).node("decision.retries-run-in-worker")
    write_mif(quay, "docs/rope.memory.md")
    write_layer(quay, "handoffs/task-42")
    body = (
        f"See decision.retries-run-in-worker, {UUID} and `quay.handoffs.task-42`; "
        "the file .memory/memory/decisions/retries-run-in-worker.md; not decision.none or project.id."
    )
    memo: Ref = ("memo", write_memo(quay / "memos/inbox", "2026-05-01-0900--engineer--director--rope", body=body).stem)
    archive = archive_of(quay)
    decision: Ref = ("record", "quay.decision.retries-run-in-worker")
    assert links(archive, memo) == {
        "decision.retries-run-in-worker": decision,
        UUID: ("record", f"quay.{UUID}"),
        "quay.handoffs.task-42": ("record", "quay.handoffs.task-42"),
        ".memory/memory/decisions/retries-run-in-worker.md": decision,
    }
    assert record(archive, decision[1]).backlinks == (memo,)


def test_a_name_means_the_record_of_its_own_source_else_the_only_one(tmp_path: Path, quay: Path) -> None:
    """Of several elsewhere none; a tail of a path that fits a document means that."""
    for name in ("quay", "pier"):
        Stores(tmp_path / name).config()
        Stores(tmp_path / name).node("decision.both")
    Stores(tmp_path / "pier").node("decision.one")
    body = "decision.both and decision.one"
    here: Ref = ("memo", write_memo(tmp_path / "quay/memos/inbox", "here", body=body).stem)
    there: Ref = ("memo", write_memo(tmp_path / "yard/memos/inbox", "there", body=body).stem)
    archive = archive_of(*(tmp_path / name for name in ("quay", "pier", "yard")))
    expected = {"decision.both": ("record", "quay.decision.both"), "decision.one": ("record", "pier.decision.one")}
    assert links(archive, here) == expected
    assert links(archive, there) == {"decision.one": ("record", "pier.decision.one")}
    quay = empty(tmp_path / "document")
    write_text(quay / "docs/adr/decisions/paint.md", "# Paint\n")
    Stores(quay).node("decision.paint")
    memo: Ref = ("memo", write_memo(quay / "memos/inbox", "m", body="As decisions/paint.md says.").stem)
    assert links(archive_of(quay), memo) == {"decisions/paint.md": ("document", "quay.docs.adr.decisions.paint.md")}


def test_places_tell_the_system_of_a_file_and_ids_of_records_are_read_off_texts() -> None:
    """What a tool generates beside its own is nobody's; paths are seen from the folder that holds their store."""
    for path, system in [
        *((".memory/memory/decisions/a.json", "memory-store"), ("desk/.memory/events.jsonl", "memory-store")),
        *((".memory/schema/object.schema.json", None), (".memory/.backup/1/.memory/config.json", None)),
        *((".memory/memory/a.txt", None), (".claude/memory/handoffs/a.json", "memory-layer")),
        *((".plan/memory/README.md", "memory-layer"), (".claude/settings.json", None)),
        *(("memory/decisions/a.json", None), (".wyren/memory.md", "wyren")),
        *((".relay/broadcast/skills/knots/SKILL.md", "wyren"), ("notes/a.memory.md", "mif"), ("memory.md", None)),
    ]:
        owner = owner_of(path)
        assert (owner.name if owner else None) == system
    paths = ("a/.memory/memory/x.json", "a/.claude/memory/context/x.json", ".wyren/memory.md", "docs/x.memory.md")
    assert [root_of_record(path) for path in paths] == ["a", "a", "", "docs"]
    nested = (".wyren/.claude/memory/context/a.json", "x/.wyren/y/.plan/memory/archive/context/q.json")
    assert [root_of_record(path) for path in nested] == [".wyren", "x/.wyren/y"]
    assert root_of_record(".claude/memory/.wyren/memory.md") == ".claude/memory"
    for text, found in [
        ("(harbour.decision.tide), then fact.a.", ("harbour.decision.tide", "fact.a")),
        ("harbour.rejected-paths.1a2b3c4d-2 ok", ("harbour.rejected-paths.1a2b3c4d-2",)),
        (f"urn:mif:{UUID}.", (UUID,)),
        ("a/decision.x os.path.decision decision.run() decisions.rope", ()),
        ("decision.x.md", ("decision.x.md",)),
    ]:
        assert find_mentions(text, RECORD_IDS) == found


def test_anchors_lead_to_documents_that_fit_and_files_on_the_web(quay: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen from the folder that holds the store; globs that are slow to match are given up: their steps are counted."""
    Stores(quay / "desk").config()
    anchors = ["decisions/*.md", "src/worker.py", "src/**", "none.py", "../secret", "/etc/passwd"]
    Stores(quay / "desk").node("fact.tides", anchors=anchors)
    write_memo(quay / "desk/memos", "m")
    write_text(quay / "desk/decisions/paint.md", "# Paint\n")
    write_text(quay / "desk/decisions/deep/rope.md", "# Rope\n")
    write_text(quay / "desk/src/worker.py", "pass\n")
    archive = archive_of(quay, web=WEB)
    assert links(archive, ("record", "quay.fact.tides")) == {
        "decisions/*.md": ("document", "quay.desk.decisions.paint.md"),
        "src/worker.py": "https://git.example.org/quay/HEAD/desk/src/worker.py",
        "src/**": "https://git.example.org/quay/HEAD/desk/src",
    }
    assert archive.artifacts["document", "quay.desk.decisions.paint.md"].backlinks == (("record", "quay.fact.tides"),)
    write_text(quay / "src/worker.py", "pass\n")
    write_mif(quay, "rope.memory.md", head="code_refs:\n  - file: src/worker.py\n    line: 3\n")
    found = links(archive_of(quay, web=WEB), ("record", f"quay.{UUID}"))
    assert found == {"src/worker.py:3": "https://git.example.org/quay/HEAD/src/worker.py"}
    quay = empty(quay.parent / "slow")
    monkeypatch.setattr("memosite.resolve.records.STEPS", 5_000)
    Stores(quay).node("fact.a" + "a" * 100, anchors=["**/*" + "a" * 50 + f"b{number}" for number in range(5)])
    Stores(quay).node("fact.b", anchors=[".memory/**/b.md"])
    archive = archive_of(quay)
    assert rules_of(archive) == [f"anchors-cut .memory/memory/facts/a{'a' * 100}.json"]
    assert links(archive, ("record", "quay.fact.b")) == {}


def test_a_session_leads_to_the_transcripts_of_it(tmp_path: Path) -> None:
    """If it is the same, or eight hex digits or more that the session's id begins with; and back."""
    for tag, arc, is_bound in [
        ("7a2e", "7a2e", True),
        ("7a2e", "7a2e91bc-0001-4000-8000-000000000000", False),
        ("7a2e91bc", "desk session 7a2e91bc-0001-4000-8000-000000000000", True),
        ("7a2e91bc-0001-4000-8000-000000000000", "session 7A2E91BC-0001-4000-8000-000000000000", True),
        ("91bc0001", "7a2e91bc0001", False),
    ]:
        quay, who = empty(tmp_path / arc), [{"position": "engineer", "session_arc": arc}]
        transcript: Ref = ("transcript", "2026-05-01-0900--engineer--rope")
        write_transcript(quay / "transcripts/engineer", transcript[1], participants=who)
        write_text(quay / ".wyren/memory.md", f"## Decisions\n\n- Rope is blue [session {tag}, turn 12]\n")
        archive = archive_of(quay)
        (id_,) = ids(archive)
        assert record(archive, id_).sessions == ((transcript,) if is_bound else ()), arc
        assert archive.artifacts[transcript].backlinks == ((("record", id_),) if is_bound else ()), arc


def test_a_record_has_a_line_like_every_artifact_whatever_the_order_of_files(quay: Path) -> None:
    """Its system, its text, nobody's thread; what cannot be parsed has none, but is in the archive (SPEC 8)."""
    write_text(quay / ".memory/memory/facts/tides.json", '{"id": "fact.tides", "body_path": "memory/facts/tides.md",')
    write_text(quay / ".memory/memory/facts/tides.md", "High at noon.\n")
    archive = archive_of(quay)
    assert [finding.rule.id for finding in record(archive, "quay.fact.tides").findings] == ["json-invalid"]
    assert list(exported(archive)) == []
    Stores(quay).node("decision.retries", "# Retries\n\nThe worker retries.\n", tags=["queue"])
    with open_folders(quay) as (archive, shelf):
        found = record(archive, "quay.decision.retries")
        line = artifact_line(found, archive, base_url=None)
        texts = [shelf.text(text.sha256) for text in body_texts(found)]
    assert texts == ["# Retries\n\nThe worker retries.\n"]
    assert line["kind"], line["system"] == ("record", "memory-store")
    assert {line[name] for name in ("from", "thread", "parent", "ghost_parent", "mailbox", "action")} == {None}
    assert (line["date"], line["offset"], line["tags"]) == ("2026-05-01T08:00:00Z", "+02:00", ["queue"])
    assert line["sha256"] == found.card.file.sha256
    quay = empty(quay.parent / "order")
    store = Stores(quay)
    store.node("decision.retries", superseded_by="decision.other")
    store.node("decision.other", status="bright")
    store.node("decision.other", at="decisions/zz")
    store.relation("decision.other", "affects", "fact.gone")
    write_mif(quay, "docs/rope.memory.md", body="- relates-to [[decision.retries]]")
    write_mif(quay, "docs/again.memory.md", title="Again")
    rules = ResolveRules(sources=(SourceInfo(name="quay"),))
    with Shelf() as shelf:
        parsed = read_source(FolderSource(name="quay", root=quay).list_files(), shelf)
        forward, backward = (resolve(files, rules, Ledger(), LineFinder(shelf)) for files in (parsed, parsed[::-1]))
    assert forward == backward
    assert {"store-value", "store-duplicate", "store-relation-end"} <= {one.rule.id for one in forward[0].findings}


def test_a_single_file_is_checked_as_when_its_folder_is(quay: Path, tmp_path: Path) -> None:
    """The hash of a node is verified; what only the whole store can tell is not said; another tool's is a note."""
    repo = Stores(quay)
    repo.node("decision.retries", status="superseded", superseded_by="decision.none")
    file = quay / ".memory/memory/decisions/retries.json"
    assert check([file]).findings == ()
    write_text(quay / ".memory/memory/decisions/retries.md", "Changed.\n")
    assert [finding.rule.id for finding in check([file]).findings] == ["store-hash"]
    file = write_text(tmp_path / "other/.claude/memory/README.md", "# Mine\n")
    for path in (file, tmp_path / "other"):
        (finding,) = check([path]).findings
        assert (finding.rule.id, finding.location.path) == ("left-alone", ".claude/memory/README.md")


NAMES = st.text(st.sampled_from("a./*?[]#:\\%\0 ~-|\n") | st.characters(), max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, max_size=6))
def test_names_in_records_may_be_anything(quay: Path, names: list[str]) -> None:
    """They lead somewhere or nowhere, and never out of the source."""
    written = [name.encode("utf-8", "replace").decode() for name in names]
    facets = {"applies_to": written}
    Stores(quay).node("fact.tides", anchors=written, facets=facets, superseded_by="".join(written) or None)
    write_layer(quay, "handoffs/h", context_references=written)
    archive = archive_of(quay, web=WEB)
    for artifact in archive.artifacts.values():
        for link in artifact.links:
            assert link.to in archive.artifacts or "/../" not in (link.url or "/../")


def test_findings_on_a_relation_are_told_of_both_its_ends_and_those_of_an_entry_of_it_alone(quay: Path) -> None:
    """What is said of a whole file of many records is said of none; of log and configuration of the project."""
    store = Stores(quay)
    store.node("project.harbour", at="project")
    store.node("fact.a")
    store.node("fact.b")
    store.node("fact.c")
    store.relation("fact.a", "befriends", "fact.b", name="odd")
    store.put(".memory/events.jsonl", "bad\n")
    archive = archive_of(quay)
    found = {id_: [one.rule.id for one in record(archive, id_).findings] for id_ in ids(archive)}
    assert found == {
        "quay.fact.a": ["store-value"],
        "quay.fact.b": ["store-value"],
        "quay.fact.c": [],
        "quay.project.harbour": ["store-event"],
    }
    quay = empty(quay.parent / "entries")
    text = "## Decisions\n\n- Rope is blue\n- Paint:\n  ```\n  x = 1\n  ```\n- Tar\n"
    write_text(quay / ".wyren/memory.md", text + "".join(f"- Filler {n}\n" for n in range(60)))
    archive = archive_of(quay)
    told = {one.subject: [finding.rule.id for finding in one.findings] for one in archive.artifacts.values()}
    assert {finding.rule.id for finding in archive.findings} == {"wyren-code", "wyren-long", "wyren-section-long"}
    assert {name: rules for name, rules in told.items() if rules} == {"Paint": ["wyren-code"]}
