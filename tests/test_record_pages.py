"""The pages of records: planned from archives made by hand, and whole builds of stores on disk."""

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.archive.ledger import Ledger, parse_ledger
from memosite.archive.lines import artifact_line
from memosite.archive.model import Copy, Library, Link, RecordLink
from memosite.facts.errors import OutputError
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import Entity, FileFacts, LibraryCard, RecordCitation, RecordEvent
from memosite.facts.values import replace
from memosite.formats import memory_store as store_rules
from memosite.pages import ListPage, Page
from memosite.plan.records import EntityPage, RecordPage, SystemsPage
from memosite.plan.removed import GonePage, RedirectPage
from tests.support.page_samples import renderer_of
from tests.support.pages import bad_links
from tests.support.record_pages import (
    TEXTS,
    THEME,
    context_of,
    document,
    everything,
    planned,
    record,
    shelve,
    write_planned,
)
from tests.support.sites import EXAMPLE, built_files

HOSTILE = "\"'><script>alert(1)</script><b onclick=alert(2)> javascript:alert(3)"


def headings(page: ListPage | EntityPage) -> list[str]:
    """The headings of a page's sections."""
    return [section.heading for section in page.sections]


def test_every_record_has_the_address_of_its_system_and_each_copy_of_a_library_one(tmp_path: Path) -> None:
    """Page, original, twins, lines and links; without records there are no pages for them."""
    artifacts = everything()
    found = planned(*artifacts)
    write_planned(tmp_path, found.values())
    assert list(bad_links(tmp_path)) == []
    page = "records/memory-store/quay.decision.old/"
    assert {page + name for name in ("index.html", "index.json", "index.md", "original.json", "original.body.md")} <= {
        *found
    }
    assert artifact_line(artifacts[0], context_of(*artifacts).archive, base_url=None)["url"] == page
    twin = json.loads(found[page + "index.json"].data)
    assert twin["links"] == {"decisions/a.md": "../../../documents/quay.decisions.a.md/index.html"}
    assert twin["record"]["superseded_by"] == "record/quay.decision.new"
    assert b"Superseded-By: record/quay.decision.new" in found[page + "index.md"].data
    paths = planned(document("a.md"))
    assert not [path for path in paths if path.startswith(("systems/", "entities/", "records/"))]
    (tmp_path := tmp_path / "two").mkdir()
    file = FileFacts(source="quay", path="a.opencatalog", sha256=shelve("{}"), bytes=2)
    card = LibraryCard(file=file, id="a", name="A", version="", description="", items=())
    common: dict[str, Any] = {
        "subject": "A", "short_subject": "A", "summary": "", "chars": 0, "date": None, "arrival": 1,
    }  # fmt: skip
    copies = (Copy(file=file, mailbox=None), Copy(file=replace(file, source="yard"), mailbox=None))
    library = Library(kind="library", id="a", system="memodef", copies=copies, card=card, **common)
    write_planned(tmp_path, planned(library).values())
    assert list(bad_links(tmp_path)) == []


def test_a_ledger_keeps_records_and_entities_and_what_is_gone_leaves_a_page() -> None:
    """Each after its kind, with the system, a part of the address; an id of another system now leads on."""
    artifacts = everything()
    ledger_text = planned(*artifacts)["archive/ledger.jsonl"].data.decode()
    ledger = parse_ledger(ledger_text, name="ledger")
    later = planned(artifacts[-1], ledger=ledger)
    for path in ("records/wyren/quay.rejected-paths.0a/index.html", "entities/koha/index.html"):
        assert isinstance(later[path], GonePage)
    overview = planned(*artifacts)["systems/index.html"]
    assert isinstance(overview, SystemsPage) and all(row.intro and row.newest for row in overview.systems)
    assert all(len(row.newest) == min(row.total, 5) for row in overview.systems)
    overview = later["systems/index.html"]
    assert isinstance(overview, SystemsPage) and [row.total for row in overview.systems] == [0, 0, 0, 0]
    assert later["archive/ledger.jsonl"].data.decode() == ledger_text
    first = record("a", system="mif")
    text = planned(first)["archive/ledger.jsonl"].data.decode()
    now = record("a", system="wyren")
    page = planned(now, ledger=parse_ledger(text, name="ledger"))["records/mif/quay.a/index.html"]
    assert isinstance(page, RedirectPage) and page.target.href == "../../wyren/quay.a/index.html"
    ledger = Ledger().with_arrivals([("record", "quay.a", "1")]).with_pages([], ["p"], [("ghost", "memo/x")])
    ledger = ledger.with_records({("record", "quay.a"): "wyren"}, ["rust"])
    text = ledger.to_jsonl()
    known = parse_ledger(text, name="ledger")
    assert known.to_jsonl() == text
    assert (known.others, known.entities, known.arrivals[0].system) == ((("ghost", "memo/x"),), ("rust",), "wyren")
    more = known.with_pages([], [], [("name", "q")]).with_records({}, ["zig"]).to_jsonl()
    assert more.startswith(text)
    assert [json.loads(line)["kind"] for line in more.splitlines()[-2:]] == ["name", "entity"]
    line = '{"v": 1, "n": 1, "kind": "record", "id": "a", "key": "k", "system": "../.."}\n'
    with pytest.raises(OutputError):
        parse_ledger(line, name="ledger")


def test_a_superseded_record_leads_to_its_successor_a_glob_to_each_file_and_the_rest_is_text() -> None:
    """On its page and in lists; relations, anchors, names, citations: only an address of the web is a link."""
    artifacts = everything()
    page = planned(*artifacts)["records/memory-store/quay.decision.old/index.html"]
    assert isinstance(page, RecordPage) and page.is_superseded
    assert page.successor is not None and page.successor.href == "../quay.decision.new/index.html"
    row = context_of(*artifacts).row("", artifacts[0])
    assert (row.is_superseded, row.status, row.type) == (True, "", "memory-store decision")
    lost = record("decision.b", status="active")
    lost = replace(lost, card=replace(lost.card, superseded_by="decision.gone"))
    successor = context_of(lost).row("", lost).successor
    assert successor is not None and (successor.label, successor.href) == ("decision.gone", None)
    assert [(row.predicate, row.target.label, row.target.href) for row in page.relations] == [
        ("superseded by", "Title of decision.new", "../quay.decision.new/index.html"),
        ("affects", "feature.lost", None),
    ]
    there = "../../../documents/quay.decisions.a.md/index.html"
    assert [(row.anchor.label, row.anchor.href) for row in page.anchors] == [
        ("src/**/*.py", None),
        ("decisions/a.md", there),
    ]
    assert [(name.label, name.href) for name in page.mentions] == [("nobody", None)]
    assert [source.href for source, _ in page.citations] == ["https://manual.example.org/", None]
    files = [document(name) for name in ("a.md", "b.md")]
    fits = tuple(Link(written="decisions/*.md", to=one.ref) for one in files)
    named = Link(written="decisions/a.md#why", to=files[0].ref)
    old = record("decision.a", anchors=("decisions/*.md", "decisions/a.md#why"), links=(*fits, named))
    page = planned(old, *files)["records/memory-store/quay.decision.a/index.html"]
    glob, plain = page.anchors
    assert (glob.anchor.href, [one.label for one in glob.files]) == (None, ["On a.md", "On b.md"])
    assert plain.anchor.href == "../../../documents/quay.decisions.a.md/index.html"
    said = RecordLink(predicate="affects", written="a", label="since 2026-05-01; evidence task: H-1")
    page = planned(record("decision.a", relations=(said, replace(said, label="a"))))
    rows = page["records/memory-store/quay.decision.a/index.html"].relations
    assert [row.label for row in rows] == ["since 2026-05-01; evidence task: H-1", ""]


def test_what_a_store_says_happened_and_what_a_record_is_about_are_plain_words() -> None:
    """The twin has the words of the log."""
    said = ("memory.created", "memory.updated", "relation.created", "relation.was_moved", "index.rebuilt")
    events = tuple(RecordEvent(record="a", event=one, at=None) for one in said)
    paths = planned(record("decision.a", history=events, anchors=("docs/tides.md",)))
    whole = renderer_of(THEME, TEXTS.__getitem__).render(paths["records/memory-store/quay.decision.a/index.html"])
    page = html.fromstring(whole)
    assert page.xpath("//table[@class='history']//tbody/tr/td[2]/text()") == [
        *("created", "updated", "relation added", "relation was moved", "index rebuilt")
    ]
    assert page.xpath("boolean(//div[@class='rest']//h2[.='Files it is about'])")
    twin = json.loads(paths["records/memory-store/quay.decision.a/index.json"].data)
    assert [one["event"] for one in twin["record"]["history"]] == [*said]


def test_a_record_with_very_much_fits_its_page_which_says_what_came_of_its_hash() -> None:
    """What is left out is counted, and stands in the twin."""
    for fits, state in [(True, "verified"), (False, "does not match"), (None, "not verified")]:
        hashed = record("decision.a", hash_written="sha256:0", hash_fits=fits)
        paths = planned(hashed)
        page = paths["records/memory-store/quay.decision.a/index.html"]
        assert f"Content hash, {state}" in renderer_of(THEME, TEXTS.__getitem__).render(page).decode(), fits
        twin = json.loads(paths["records/memory-store/quay.decision.a/index.json"].data)
        assert twin["record"]["content_hash_fits"] is fits
    many = record(
        "decision.a",
        relations=tuple(RecordLink(predicate="affects", written="x" * 9_000) for _ in range(3_000)),
        history=tuple(RecordEvent(record="a", event="e", at=None, detail="d" * 9_000) for _ in range(3_000)),
        fields=tuple((f"f{number}", "v" * 9_000) for number in range(900)),
        extra="&" * 2_000_000,
        mentions=tuple(f"m{number}" for number in range(400)),
        anchors=tuple(f"a{number}" for number in range(500)),
        tags=tuple(f"t{number}" for number in range(150)),
        findings=tuple(
            Finding(rule=store_rules.EVENT, location=Location(source="quay", path="a"), message=f"{number}")
            for number in range(3_000)
        ),
    )
    paths = planned(many)
    whole = paths["records/memory-store/quay.decision.a/index.html"]
    data = renderer_of(THEME, TEXTS.__getitem__).render(whole)
    assert len(data) < 1_000_000
    said = " ".join(str(html.fromstring(data).xpath("string()")).split())
    for count in ("first 300 of 3000", "last 300 of 3000", "first 300 of 900", "first 300 of 400", "first 300 of 500"):
        assert f"Showing the {count}. All of them: JSON." in said
    assert "Showing the first 100 of 3000. All of them: Health." in said
    assert "1940000 more characters not shown. Original file: original.json." in said
    assert "and 50 more (see JSON)" in said
    twin = json.loads(paths["records/memory-store/quay.decision.a/index.json"].data)["record"]
    assert [len(twin[name]) for name in ("relations", "history", "fields", "mentions", "anchors")] == [
        *(3_000, 3_000, 900, 400, 500)
    ]
    assert len(twin["extra"]) == 2_000_000


def test_hostile_words_in_any_field_stay_words(tmp_path: Path) -> None:
    """Whatever a store says, nothing of it becomes markup, nor breaks a link."""
    words = ("type", "title", "status", "stage", "namespace", "section", "extra", "hash_written")
    bad = record(
        "0a",
        system="mif",
        **dict.fromkeys(words, HOSTILE),
        **dict.fromkeys(("sessions", "anchors", "tags"), (HOSTILE,)),
        fields=((HOSTILE, HOSTILE),),
        mentions=(HOSTILE + "2",),
        citations=(RecordCitation(title=HOSTILE, url=f"https://x.example/{HOSTILE}", note=HOSTILE),),
        entities=(Entity(name=HOSTILE, type=HOSTILE, relation=HOSTILE),),
        relations=(RecordLink(predicate=HOSTILE, written=HOSTILE, status=HOSTILE, confidence=HOSTILE),),
        history=(RecordEvent(record="0a", event=HOSTILE, at=None, actor=HOSTILE, detail=HOSTILE),),
    )
    bad = replace(bad, card=replace(bad.card, superseded_by=HOSTILE))
    write_planned(tmp_path, planned(bad).values())
    assert list(bad_links(tmp_path)) == []
    for page in tmp_path.rglob("*.html"):
        tree = html.parse(page)
        assert tree.xpath("//script[not(@src) or text()] | //b[@onclick]") == []


def test_each_system_is_grouped_in_its_own_way_and_an_entity_has_one_page() -> None:
    """By stage, section, category, type, namespace; decisions of all systems stand beside documents."""
    found = planned(*everything())
    assert headings(found["systems/memory-store/index.html"]) == ["Product map: building", "Decision", "Question: open"]
    assert headings(found["systems/memory-layer/index.html"]) == ["Context", "Decisions", "Handoffs, archived"]
    assert headings(found["systems/wyren/index.html"]) == ["Rejected paths", "Open questions"]
    assert headings(found["systems/mif/index.html"]) == ["Semantic: decisions/quay"]
    store = found["systems/memory-store/index.html"]
    assert [(view.label, view.href) for view in store.views] == [
        ("Overview", None),
        ("By kind", "kind/index.html"),
        ("By status", "status/index.html"),
        ("By stage", "stage/index.html"),
        ("By session", "session/index.html"),
    ]
    assert headings(found["systems/memory-store/status/index.html"]) == ["active", "open", "superseded"]
    assert headings(found["systems/wyren/session/index.html"]) == ["7a2e", "No session"]
    page = found["decisions/by-source/index.html"]
    assert {row.short_subject for group in page.groups for row in group.rows} == {
        "On a.md", "Title of decisions.tide", "Title of decision.old", "Title of decision.new", "Title of 0c",
        "Title of rejected-paths.0a",
    }  # fmt: skip
    ((rejected,),) = (group.rows for group in found["decisions/rejected/index.html"].groups)
    assert (rejected.type, rejected.standing) == ("wyren Rejected paths", "rejected")
    page = found["entities/koha/index.html"]
    assert isinstance(page, EntityPage) and (page.title, page.types) == ("Koha", ("technology",))
    assert headings(page) == ["Records of memory-store", "Records of mif"]
    groups = found["entities/index.html"].groups
    assert [(type_, [(one.label, count) for one, count in rows]) for type_, rows in groups] == [
        ("Technology", [("Koha", 2)]),
        ("No type", [("Ada Lovelace", 1)]),
    ]


def test_a_system_of_many_records_is_split() -> None:
    """Its page and every grouping stay below a megabyte; the parts hold everything once, the oldest first."""
    for spread in [1, 7, 300]:
        records = [
            record(f"{number:04}", system="mif", type="semantic", namespace=f"n/{number % spread}")
            for number in range(1200)
        ]
        found = planned(*records)
        shown = found["systems/mif/index.html"]
        assert sum(len(section.rows) for section in shown.sections) <= 500, spread
        assert sum(section.total for section in shown.sections) == 1200, spread
        assert len(shown.sections) <= 100, spread
        parts = [found[f"systems/mif/{number}/index.html"] for number in (1, 2, 3)]
        assert [sum(len(section.rows) for section in part.sections) for part in parts] == [500, 500, 200], spread
        assert [part.label for part in shown.parts] == ["1", "2", "3"], spread
        renderer = renderer_of(THEME, TEXTS.__getitem__)
        lists = [page for path, page in found.items() if path.startswith("systems/mif/") and isinstance(page, Page)]
        assert all(len(renderer.render(page)) < 1_000_000 for page in lists), spread


def test_many_entities_are_split_in_the_order_in_which_they_became_known(tmp_path: Path) -> None:
    """A full part gets no new entity; anchors of groups are different however alike their headings are."""
    first = record("a", system="mif", entities=tuple(Entity(name=f"m{number}") for number in range(600)))
    before = planned(first)
    ledger = parse_ledger(before["archive/ledger.jsonl"].data.decode(), name="ledger")
    second = record("b", system="mif", entities=(Entity(name="a new one"),))
    after = planned(first, second, ledger=ledger.with_arrivals([(*second.ref, "b")]))
    assert after["entities/1/index.html"] == before["entities/1/index.html"]
    assert after["entities/2/index.html"] != before["entities/2/index.html"]
    write_planned(tmp_path, after.values())
    assert list(bad_links(tmp_path)) == []
    names = ("a b", "a-b", "A\u00a0b", "%41", "!!", "??")
    records = [record(f"{number}", system="mif", namespace=name) for number, name in enumerate(names)]
    found = planned(*records)
    anchors = [section.anchor for section in found["systems/mif/namespace/index.html"].sections]
    assert len(set(anchors)) == len(names) and not any(anchor.split() != [anchor] for anchor in anchors)
    write_planned(tmp_path, found.values())
    assert list(bad_links(tmp_path)) == []


def test_the_example_has_pages_of_records_of_all_systems(tmp_path: Path) -> None:
    """Each with the file as it lies in its source, one of many records included."""
    files = built_files(EXAMPLE, "--cache", tmp_path / "cache", output=tmp_path / "out")
    for system in ("memory-store", "memory-layer", "wyren", "mif"):
        assert [path for path in files if path.startswith(f"records/{system}/")]
        assert f"systems/{system}/index.html" in files
    memory = (EXAMPLE / "reading-room/.wyren/memory.md").read_bytes()
    wyren = [path for path in files if path.startswith("records/wyren/") and path.endswith("/original.md")]
    assert len(wyren) == memory.count(b"\n- ") - 1  # both handoff notes are one record
    assert {files[path] for path in wyren} == {memory}
    assert b"Records" in files["index.html"] and files["llms.txt"].count(b"Records of ") == 4
    assert b'<s title="superseded">' in files["decisions/index.html"]
    assert "entities/margaret-osei" in " ".join(files)
