"""The pages of records: planned from archives made by hand, and whole builds of stores on disk."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.archive.ledger import Ledger, parse_ledger
from memosite.archive.lines import artifact_line
from memosite.archive.model import Copy, Library, Link, RecordLink
from memosite.archive.urls import page_of
from memosite.facts.errors import OutputError
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import Entity, FileFacts, LibraryCard, RecordCitation, RecordEvent
from memosite.formats import memory_store as store_rules
from memosite.pages import ListPage, Page
from memosite.plan.records import EntityPage, RecordPage, SystemsPage
from memosite.plan.removed import GonePage, RedirectPage
from memosite.render.renderer import Renderer
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo
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
from tests.support.sites import built_files

HOSTILE = "\"'><script>alert(1)</script><b onclick=alert(2)> javascript:alert(3)"


def headings(page: ListPage | EntityPage) -> list[str]:
    """The headings of a page's sections."""
    return [section.heading for section in page.sections]


# Addresses


def test_every_record_has_the_address_of_its_system_everywhere(tmp_path: Path) -> None:
    """Page, original, twins, lines of the archive, and every link of every page."""
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


def test_a_site_without_records_has_no_pages_for_them() -> None:
    """Neither an empty overview nor an empty list of entities."""
    paths = planned(document("a.md"))
    assert not [path for path in paths if path.startswith(("systems/", "entities/", "records/"))]


def test_a_record_that_is_gone_and_its_entity_leave_pages_that_say_so() -> None:
    """The ledger remembers the system, which is a part of the address."""
    artifacts = everything()
    ledger_text = planned(*artifacts)["archive/ledger.jsonl"].data.decode()
    ledger = parse_ledger(ledger_text, name="ledger")
    later = planned(artifacts[-1], ledger=ledger)
    for path in ("records/wyren/quay.rejected-paths.0a/index.html", "entities/koha/index.html"):
        assert isinstance(later[path], GonePage)
    overview = later["systems/index.html"]
    assert isinstance(overview, SystemsPage)
    assert [row.total for row in overview.systems] == [0, 0, 0, 0]
    assert later["archive/ledger.jsonl"].data.decode() == ledger_text


def test_a_record_whose_id_went_to_another_system_leads_on() -> None:
    """The address of old is a redirect to where the id is now."""
    first = record("a", system="mif")
    text = planned(first)["archive/ledger.jsonl"].data.decode()
    now = record("a", system="wyren")
    page = planned(now, ledger=parse_ledger(text, name="ledger"))["records/mif/quay.a/index.html"]
    assert isinstance(page, RedirectPage)
    assert page.target.href == "../../wyren/quay.a/index.html"


def test_copies_of_a_library_are_published_where_its_page_says(tmp_path: Path) -> None:
    """Every artifact with several files publishes each of them."""
    file = FileFacts(source="quay", path="a.opencatalog", sha256=shelve("{}"), bytes=2)
    card = LibraryCard(file=file, id="a", name="A", version="", description="", items=())
    common: dict[str, Any] = {
        "subject": "A",
        "short_subject": "A",
        "summary": "",
        "chars": 0,
        "date": None,
        "arrival": 1,
    }
    copies = (Copy(file=file, mailbox=None), Copy(file=replace(file, source="yard"), mailbox=None))
    library = Library(kind="library", id="a", system="memodef", copies=copies, card=card, **common)
    write_planned(tmp_path, planned(library).values())
    assert list(bad_links(tmp_path)) == []


# A record's page


def test_a_superseded_record_leads_to_its_successor() -> None:
    """On its own page and wherever it is listed; one that is not in the archive is named as written."""
    artifacts = everything()
    page = planned(*artifacts)["records/memory-store/quay.decision.old/index.html"]
    assert isinstance(page, RecordPage)
    assert page.is_superseded
    assert page.successor is not None
    assert page.successor.href == "../quay.decision.new/index.html"
    row = context_of(*artifacts).row("", artifacts[0])
    assert (row.is_superseded, row.status, row.type) == (True, "", "memory-store decision")
    lost = record("decision.b", status="active")
    lost = replace(lost, card=replace(lost.card, superseded_by="decision.gone"))
    successor = context_of(lost).row("", lost).successor
    assert successor is not None
    assert (successor.label, successor.href) == ("decision.gone", None)


def test_relations_that_could_not_be_bound_are_text_and_others_are_links() -> None:
    """As are anchors and other names."""
    page = planned(*everything())["records/memory-store/quay.decision.old/index.html"]
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


def test_only_an_address_of_the_web_is_a_link() -> None:
    """A citation may name anything."""
    page = planned(*everything())["records/memory-store/quay.decision.old/index.html"]
    assert [source.href for source, _ in page.citations] == ["https://manual.example.org/", None]


def test_a_record_with_very_much_of_everything_fits_its_page() -> None:
    """What is left out is counted, and stands in the twin."""
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
    page = paths["records/memory-store/quay.decision.a/index.html"]
    data = Renderer(THEME, TEXTS.__getitem__).render(page)
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


def test_a_glob_that_fits_several_files_leads_to_each() -> None:
    """And an anchor with a fragment to its file."""
    files = [document(name) for name in ("a.md", "b.md")]
    fits = tuple(Link(written="decisions/*.md", to=one.ref) for one in files)
    named = Link(written="decisions/a.md#why", to=files[0].ref)
    old = record("decision.a", anchors=("decisions/*.md", "decisions/a.md#why"), links=(*fits, named))
    page = planned(old, *files)["records/memory-store/quay.decision.a/index.html"]
    glob, plain = page.anchors
    assert (glob.anchor.href, [one.label for one in glob.files]) == (None, ["On a.md", "On b.md"])
    assert plain.anchor.href == "../../../documents/quay.decisions.a.md/index.html"


@pytest.mark.parametrize(("fits", "state"), [(True, "verified"), (False, "does not match"), (None, "not verified")])
def test_a_page_says_what_came_of_its_hash(fits: bool | None, state: str) -> None:
    """And its twin does."""
    hashed = record("decision.a", hash_written="sha256:0", hash_fits=fits)
    paths = planned(hashed)
    page = paths["records/memory-store/quay.decision.a/index.html"]
    assert f"Content hash, {state}" in Renderer(THEME, TEXTS.__getitem__).render(page).decode()
    twin = json.loads(paths["records/memory-store/quay.decision.a/index.json"].data)
    assert twin["record"]["content_hash_fits"] is fits


def test_what_else_a_relation_says_stands_beside_it() -> None:
    """Its evidence and its day; not what its target is called anyhow."""
    said = RecordLink(predicate="affects", written="a", label="since 2026-05-01; evidence task: H-1")
    page = planned(record("decision.a", relations=(said, replace(said, label="a"))))
    rows = page["records/memory-store/quay.decision.a/index.html"].relations
    assert [row.label for row in rows] == ["since 2026-05-01; evidence task: H-1", ""]


def test_hostile_words_in_any_field_stay_words(tmp_path: Path) -> None:
    """Whatever a store says, nothing of it becomes markup, nor breaks a link."""
    bad = replace(
        record(
            "0a",
            system="mif",
            type=HOSTILE,
            title=HOSTILE,
            status=HOSTILE,
            stage=HOSTILE,
            namespace=HOSTILE,
            section=HOSTILE,
            sessions=(HOSTILE,),
            fields=((HOSTILE, HOSTILE),),
            anchors=(HOSTILE,),
            mentions=(HOSTILE + "2",),
            tags=(HOSTILE,),
            citations=(RecordCitation(title=HOSTILE, url=f"https://x.example/{HOSTILE}", note=HOSTILE),),
            entities=(Entity(name=HOSTILE, type=HOSTILE, relation=HOSTILE),),
            relations=(RecordLink(predicate=HOSTILE, written=HOSTILE, status=HOSTILE, confidence=HOSTILE),),
            history=(RecordEvent(record="0a", event=HOSTILE, at=None, actor=HOSTILE, detail=HOSTILE),),
            extra=HOSTILE,
            hash_written=HOSTILE,
        )
    )
    bad = replace(bad, card=replace(bad.card, superseded_by=HOSTILE))
    write_planned(tmp_path, planned(bad).values())
    assert list(bad_links(tmp_path)) == []
    for page in tmp_path.rglob("*.html"):
        tree = html.parse(page)
        assert tree.xpath("//script[not(@src) or text()] | //b[@onclick]") == []


# Lists


def test_each_system_is_grouped_in_its_own_way() -> None:
    """The product map by stage, sections, categories, types and namespaces."""
    found = planned(*everything())
    assert headings(found["systems/memory-store/index.html"]) == ["Product map: building", "Decision", "Question: open"]
    assert headings(found["systems/memory-layer/index.html"]) == ["Context", "Decisions", "Handoffs, archived"]
    assert headings(found["systems/wyren/index.html"]) == ["Rejected paths", "Open questions"]
    assert headings(found["systems/mif/index.html"]) == ["Semantic: decisions/quay"]


def test_a_system_can_be_seen_by_whatever_its_records_have() -> None:
    """Only groupings that tell something are linked; what has no value comes last."""
    found = planned(*everything())
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


@pytest.mark.parametrize("spread", [1, 7, 300])
def test_a_system_of_many_records_is_split(spread: int) -> None:
    """Its page and every grouping stay below a megabyte; the parts hold everything once, the oldest first."""
    records = [
        record(f"{number:04}", system="mif", type="semantic", namespace=f"n/{number % spread}")
        for number in range(1200)
    ]
    found = planned(*records)
    shown = found["systems/mif/index.html"]
    assert sum(len(section.rows) for section in shown.sections) <= 500
    assert sum(section.total for section in shown.sections) == 1200
    assert len(shown.sections) <= 100
    parts = [found[f"systems/mif/{number}/index.html"] for number in (1, 2, 3)]
    assert [sum(len(section.rows) for section in part.sections) for part in parts] == [500, 500, 200]
    assert [part.label for part in shown.parts] == ["1", "2", "3"]
    renderer = Renderer(THEME, TEXTS.__getitem__)
    lists = [page for path, page in found.items() if path.startswith("systems/mif/") and isinstance(page, Page)]
    assert all(len(renderer.render(page)) < 1_000_000 for page in lists)


def test_decisions_of_all_systems_stand_beside_documents() -> None:
    """Each system calls them otherwise; rejected paths are decisions, too."""
    found = planned(*everything())
    page = found["decisions/by-source/index.html"]
    assert {row.subject for group in page.groups for row in group.rows} == {
        "On a.md", "Title of decisions.tide", "Title of decision.old", "Title of decision.new", "Title of 0c",
        "Title of rejected-paths.0a",
    }  # fmt: skip
    ((rejected,),) = (group.rows for group in found["decisions/rejected/index.html"].groups)
    assert (rejected.type, rejected.standing) == ("wyren Rejected paths", "rejected")


def test_an_entity_has_one_page_however_it_is_spelled() -> None:
    """With all its types, and the records of each system that speak of it."""
    found = planned(*everything())
    page = found["entities/koha/index.html"]
    assert isinstance(page, EntityPage)
    assert (page.title, page.types) == ("Koha", ("technology",))
    assert headings(page) == ["Records of memory-store", "Records of mif"]
    groups = found["entities/index.html"].groups
    assert [(type_, [(one.label, count) for one, count in rows]) for type_, rows in groups] == [
        ("Technology", [("Koha", 2)]),
        ("No type", [("Ada Lovelace", 1)]),
    ]


def test_many_entities_are_split_in_the_order_in_which_they_became_known(tmp_path: Path) -> None:
    """A full part gets no new entity."""
    first = record("a", system="mif", entities=tuple(Entity(name=f"m{number}") for number in range(600)))
    before = planned(first)
    ledger = parse_ledger(before["archive/ledger.jsonl"].data.decode(), name="ledger")
    second = record("b", system="mif", entities=(Entity(name="a new one"),))
    after = planned(first, second, ledger=ledger.with_arrivals([(*second.ref, "b")]))
    assert after["entities/1/index.html"] == before["entities/1/index.html"]
    assert after["entities/2/index.html"] != before["entities/2/index.html"]
    write_planned(tmp_path, after.values())
    assert list(bad_links(tmp_path)) == []


def test_anchors_of_groups_are_different_however_alike_their_headings_are(tmp_path: Path) -> None:
    """Headings may be any text; an id holds no space and stands once."""
    names = ("a b", "a-b", "A\u00a0b", "%41", "!!", "??")
    records = [record(f"{number}", system="mif", namespace=name) for number, name in enumerate(names)]
    found = planned(*records)
    anchors = [section.anchor for section in found["systems/mif/namespace/index.html"].sections]
    assert len(set(anchors)) == len(names)
    assert not any(anchor.split() != [anchor] for anchor in anchors)
    write_planned(tmp_path, found.values())
    assert list(bad_links(tmp_path)) == []


def test_months_and_home_tell_of_records_as_of_everything() -> None:
    """They are artifacts."""
    found = planned(*everything())
    month = found["timeline/2026/05/index.html"]
    assert sum(section.total for section in month.sections) == 10
    assert ("record", 10) in found["index.html"].counts
    assert found["llms.txt"].data.count(b"Records of ") == 4


# Whole builds


def write_stores(repo: Path) -> None:
    """A store of each system in one repo."""
    write_json(repo / ".memory/config.json", {"version": 5, "project": {"id": "project.quay", "name": "Quay"}})
    for key, status, more in (
        ("decision.ferry", "superseded", {"superseded_by": "decision.bridge"}),
        ("decision.bridge", "active", {}),
        ("feature.gate", "active", {"stage": "building"}),
    ):
        kind, _, slug = key.partition(".")
        node = {"id": key, "type": kind, "status": status, "title": f"The {slug}", "tags": []} | more
        node |= {"body_path": f"memory/{kind}s/{slug}.md", "content_hash": "sha256:00"}
        node |= {"created_at": "2026-05-01T09:00:00Z", "updated_at": "2026-05-02T09:00:00Z"}
        write_json(repo / f".memory/memory/{kind}s/{slug}.json", node)
        write_text(repo / f".memory/memory/{kind}s/{slug}.md", f"# The {slug}\n\nSee decision.bridge.\n")
    meta = {"created": "2026-05-01T09:00:00Z", "summary": "Tide tables", "session_id": "s1"}
    for category in ("context", "decisions", "interfaces", "handoffs"):
        value = {"meta": meta | {"category": category}, "content": {"status": "ok", "notes": ["a", "b"]}}
        write_json(repo / f".claude/memory/{category}/tide-{category}.json", value)
    write_text(
        repo / ".wyren/memory.md",
        "# Memory\n\n## Decisions\n- We moor at the north quay [session 7a2e, turn 12]\n\n"
        "## Rejected paths\n- A second ferry [session 7a2e, turn 14]\n",
    )
    write_text(
        repo / "memories/ice.memory.md",
        "---\nid: 50616ea3-7f99-416e-8283-041526374859\ntype: semantic\nnamespace: decisions/project\n"
        'title: "Ice"\ncreated: 2026-05-01T09:00:00Z\n---\n\n# Ice\n\nAsk @[[Ada Lovelace|Person]].\n',
    )


def test_every_link_resolves_in_a_build_of_all_systems(tmp_path: Path) -> None:
    """With memos beside the stores, twice, and the second build writes the same bytes."""
    repo = tmp_path / "quay"
    write_stores(repo)
    body = "As decision.ferry says."
    name = "2026-05-03-0900--a--b--ferry"
    write_memo(repo / "memos/inbox", name, sender="a", to="b", sent="2026-05-03T09:00:00Z", body=body)
    files = built_files(repo, output=tmp_path / "out")
    assert list(bad_links(tmp_path / "out")) == []
    assert built_files(repo, output=tmp_path / "out") == files
    for system in ("memory-store", "memory-layer", "wyren", "mif"):
        assert [path for path in files if path.startswith(f"records/{system}/")]
        assert f"systems/{system}/index.html" in files
    assert b"Records" in files["index.html"]
    assert b'<s title="superseded">The ferry</s>' in files["decisions/index.html"]
    assert "entities/ada-lovelace" in " ".join(files)


def test_every_page_of_a_built_record_is_published_with_its_file(tmp_path: Path) -> None:
    """The original is the file as it lies in its source, one of many records included."""
    repo = tmp_path / "quay"
    write_stores(repo)
    files = built_files(repo, output=tmp_path / "out")
    wyren = [path for path in files if path.startswith("records/wyren/") and path.endswith("/original.md")]
    assert len(wyren) == 2
    assert {files[path] for path in wyren} == {(repo / ".wyren/memory.md").read_bytes()}


def test_page_of_names_the_system_of_a_record_only() -> None:
    """Everything else has a folder of its kind."""
    assert page_of(record("a", system="mif")) == "records/mif/quay.a/"
    assert page_of(document("a.md")) == "documents/quay.decisions.a.md/"


def test_a_ledger_keeps_records_entities_and_other_pages_side_by_side() -> None:
    """Ghosts, other names and entities are appended each after their kind, and stay as they were when read again."""
    ledger = Ledger().with_arrivals([("record", "quay.a", "1")]).with_pages([], ["p"], [("ghost", "memo/x")])
    ledger = ledger.with_records({("record", "quay.a"): "wyren"}, ["rust"])
    text = ledger.to_jsonl()
    known = parse_ledger(text, name="ledger")
    assert known.to_jsonl() == text
    assert (known.others, known.entities, known.arrivals[0].system) == ((("ghost", "memo/x"),), ("rust",), "wyren")
    more = known.with_pages([], [], [("name", "q")]).with_records({}, ["zig"]).to_jsonl()
    assert more.startswith(text)
    assert [json.loads(line)["kind"] for line in more.splitlines()[-2:]] == ["name", "entity"]


def test_a_ledger_with_a_system_that_is_no_folder_is_refused() -> None:
    """Anybody may have written to the output: a system is part of a path."""
    line = '{"v": 1, "n": 1, "kind": "record", "id": "a", "key": "k", "system": "../.."}\n'
    with pytest.raises(OutputError):
        parse_ledger(line, name="ledger")
