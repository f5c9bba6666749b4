"""Nothing is left off a page silently: what has no date, what is too much, what memosite has no use for (SPEC 2.2)."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import html

from memosite.archive.ledger import Ledger
from memosite.archive.lines import artifact_line, exported
from memosite.archive.model import Archive
from memosite.config.loading import load_contract
from memosite.facts.file import RECORDS
from memosite.facts.parsed import Entity, Ref
from memosite.facts.values import replace
from memosite.formats.yaml_text import read_yaml
from memosite.plan import plan
from memosite.plan.context import Context, Stored
from memosite.render.renderer import Renderer
from memosite.search.blocks import SearchBlock, StateBlock
from memosite.store.shelf import Shelf
from tests.support.archives import open_folders
from tests.support.files import write_json, write_text
from tests.support.memos import write_org, write_transcript
from tests.support.pages import bad_links
from tests.support.record_pages import SITE, TEXTS, THEME, everything, planned, record, write_planned
from tests.support.sites import build_site


def words(page: Any, text_of: Callable[[str], str] = TEXTS.__getitem__) -> str:
    """All the words of a rendered page, on one line."""
    tree = html.fromstring(Renderer(THEME, text_of).render(page).decode())
    return " ".join(" ".join(map(str, tree.itertext())).split())


def mentioned(*by: tuple[str, str | None]) -> Any:
    """The page of a record that these mention; each is a key, and whether it has a date."""
    others = [replace(record(key, system="wyren"), **({} if date else {"date": None})) for key, date in by]
    refs: tuple[Ref, ...] = tuple(one.ref for one in others)
    return planned(record("0a", system="mif", backlinks=refs), *others)["records/mif/quay.0a/index.html"]


def test_mentions_without_a_date_are_listed_and_mentions_types_and_faulty_fields_counted() -> None:
    """The newest 200, the most common types, twenty faults in frontmatter: the rest is counted, never silent."""
    page = mentioned(("decisions.1", "2026-05-01"), ("decisions.2", None))
    assert [one.row.short_subject for one in page.backlinks] == ["Title of decisions.1", "Title of decisions.2"]
    page = mentioned(*((f"decisions.{number}", "2026-05-01") for number in range(201)))
    assert (len(page.backlinks), page.backlinks_total) == (200, 201)
    assert "Showing the newest 200 of 201. All of them: JSON ." in words(page)
    found = planned(*(record(f"{number}", system="mif", type=f"type {number}") for number in range(23)))
    assert ", and 3 more" in words(found["systems/index.html"])
    broken = "".join(f'k{number}: "a "quoted" b"\n' for number in range(30))
    yaml = read_yaml(broken + "title: last\n")
    assert "title" not in yaml.fields and "the rest is skipped" in yaml.problems[-1].message
    assert len(yaml.problems) == 20


def test_what_records_say_of_relations_and_fields_without_a_use_stand_on_their_pages(tmp_path: Path) -> None:
    """At both ends, but for what the target's title repeats; fields of all kinds of items are folded."""
    write_text(tmp_path / "quay/a.memory.md", _memory("a1", "The gate", _RELATIONS))
    write_text(tmp_path / "quay/b.memory.md", _memory("b2", "The mole"))
    with open_folders(tmp_path / "quay") as (archive, shelf):
        found = _pages(archive, shelf)
    a, b = (found[f"records/mif/quay.{key}/index.html"] for key in ("a1", "b2"))
    assert [(one.predicate, one.label) for one in a.relations] == [
        ("derived from", "copied in 2026"), ("conflicts with", "resolved 2026-01-23"), ("uses", ""),
    ]  # fmt: skip
    assert [one.label for one in b.relations] == ["resolved 2026-01-23", "copied in 2026", ""]
    twin = json.loads(found["records/mif/quay.a1/index.json"].data)
    labels = [one["label"] for one in twin["record"]["relations"]]
    assert labels == ["copied in 2026", "resolved 2026-01-23", "The mole"]
    quay = tmp_path / "quay"
    write_text(quay / "decisions/gate.md", _DECISION)
    write_text(quay / ".wyren/broadcast/charter.md", "---\ntitle: Charter\nname: odd\nowner: Ada\n---\nBe kind.\n")
    write_json(quay / "org/quay.openthing", _ORGANIZATION)
    library = {"type": "memodef:Library", "id": "kit", "items": [{"id": "report", "license": "CC0"}]}
    write_json(quay / "kit.opencatalog", library)
    who = {"position": "pilot", "session_arc": "s1", "shift": "night"}
    write_transcript(quay / "transcripts/pilot", "2026-05-01-0900--pilot--talk", participants=[who])
    with open_folders(quay) as (archive, shelf):
        found = _pages(archive, shelf)
        shown = {path: words(found[f"{path}/index.html"], shelf.text) for path in _TOLD}
    assert [path for path, told in _TOLD.items() if told not in shown[path]] == []
    assert "accepted" not in found["documents/quay.decisions.gate.md/index.html"].extra


_RELATIONS = """\
relationships:
  - {type: derived-from, target: b2, label: copied in 2026}
conflicts:
  - {memory_id: b2, resolution: merged, resolved_at: 2026-01-23}
"""


def _memory(id_: str, title: str, fields: str = "") -> str:
    head = f"id: {id_}\ntype: semantic\ncreated: 2026-01-24T10:30:00Z\nnamespace: gates/project\ntitle: {title}\n"
    return f"---\n{head}{fields}---\n\n# {title}\n" + ("\n- uses [[b2|The mole]]\n" if fields else "")


def _pages(archive: Archive, shelf: Shelf) -> dict[str, Any]:
    """Everything that is planned of an archive, by its path."""
    context = Context(archive=archive, site=SITE, text_of=shelf.text)
    arrived = Ledger().with_arrivals((*ref, ref[1]) for ref in archive.artifacts)
    units = plan(context, arrived, contract=load_contract())
    made = (one for unit in units for one in unit.make(context))
    return {one.path: one for one in made if not isinstance(one, SearchBlock | StateBlock)}


def test_bullets_of_a_memory_stand_in_order_and_their_long_file_is_not_published_with_each(tmp_path: Path) -> None:
    """Without dates nothing else says what belongs together; each, and the rest, has its text for original."""
    bullets = [f"Rule {number} of the reading room" for number in range(9)]
    text = "## Decisions\n" + "".join(f"- {bullet} [session 7a2e, turn 1]\n" for bullet in bullets)
    write_text(tmp_path / "quay/.wyren/memory.md", text)
    with open_folders(tmp_path / "quay") as (archive, shelf):
        found = _pages(archive, shelf)
    for rows in (found["systems/wyren/index.html"].sections[0].rows, found["decisions/index.html"].groups[0].rows):
        assert [row.short_subject for row in rows] == bullets
    text = "## Decisions\n" + "".join(f"- Rule {number} [session 7a2e, turn 1]\n" for number in range(700))
    write_text(tmp_path / "quay/.wyren/memory.md", text)
    with open_folders(tmp_path / "quay") as (archive, shelf):
        found = _pages(archive, shelf)
        stored = [shelf.get(one.sha256) for one in found.values() if isinstance(one, Stored)]
    assert len(stored) == RECORDS + 1 and sum(map(len, stored)) < 10 * len(text)
    line = artifact_line(next(exported(archive)), archive, base_url=None)
    assert line["sha256"] in {one.sha256 for one in found.values() if isinstance(one, Stored)}


_DECISION = "---\ntitle: Gate\nstatus: accepted\ndeciders: [Ada]\nmood: calm\n---\nOpen.\n"
_TOLD = {
    "documents/quay.decisions.gate.md": '"deciders": [ "Ada" ], "mood": "calm"',
    "records/wyren/quay.broadcast.charter": "Name odd Owner Ada", "positions/pilot": '"tenure": "two years"',
    "org": '"since": "2020"', "libraries/kit": '"license": "CC0"',
    "transcripts/2026-05-01-0900--pilot--talk": 'Other fields of pilot { "shift": "night" }',
}  # fmt: skip
_ORGANIZATION = {
    "orgdef": "0.1", "type": "orgdef:Organization", "id": "quay",
    "positions": [{"id": "pilot", "name": "Pilot", "tenure": "two years"}],
    "relationships": [{"type": "reports_to", "from": "pilot", "to": "quay", "since": "2020"}],
}  # fmt: skip


def test_an_orgdef_shows_roles_and_the_place_of_memos_and_a_broken_one_its_text_and_findings(tmp_path: Path) -> None:
    """It is kept like a broken memo: a page, no line in the export. Of other tools it is no artifact."""
    catalog: dict[str, Any] = {
        "type": "orgdef:Organization", "id": "quay", "x.org.memo_location": "{repo}/memos",
        "items": [{"type": "roledef:Role", "id": "mate", "name": "Mate", "rank": 2}],
    }  # fmt: skip
    write_json(tmp_path / "quay/org/quay.opencatalog", catalog)
    with open_folders(tmp_path / "quay") as (archive, _):
        charter = archive.organizations[0].charter
    assert charter == (("x.org.memo location", "{repo}/memos"), ("roledef:Role", "- **Mate** mate 2"))
    catalog |= {"x.org.tide_seal": "A gull.", "vision": "Dry feet.", "metadata": {"made": "2026"}}
    catalog["items"] += [{"type": "jobdef:Job", "id": "rope", "name": "Rope"}]
    write_json(tmp_path / "quay/org/quay.opencatalog", catalog)
    page = (build_site(tmp_path / "quay", output=tmp_path / "site") / "org/index.html").read_text()
    (said,) = re.findall("Charter: ([^<]*)", page)
    assert {*said.split(", ")} == {"where its memos are", "tide seal", "vision", "other facts", "roles", "Job"}
    tmp_path /= "two"
    broken = {
        "org/quay.openthing": '{"id": "quay", "positions": [',
        "governance.openthing": '{"orgdef": "0.1", "positions": [',
        "org/pier.opencatalog": '{"type": "orgdef:Organization", "items": [',
        "kit.opencatalog": '{"type": "memodef:Library", "items": [',
        "things/a.openthing": '{"type": "thing", ',
    }
    for path, text in broken.items():
        write_text(tmp_path / "quay" / path, text)
    *ours, _ = broken
    with open_folders(tmp_path / "quay") as (archive, shelf):
        found = _pages(archive, shelf)
        shown = {path: words(found[f"libraries/{Path(path).stem}/index.html"], shelf.text) for path in ours}
        organization = words(found["org/index.html"], shelf.text)
    assert {key for _, key in archive.artifacts} == {Path(path).stem for path in ours}
    assert [one.rule.id for one in archive.findings] == ["json-invalid"] * len(broken)
    for path in ours:
        assert broken[path] in shown[path] and "json-invalid" in shown[path]
        assert [row.finding.rule.id for row in found[f"libraries/{Path(path).stem}/index.html"].findings] == [
            "json-invalid"
        ]
    assert list(exported(archive)) == []
    assert "Invalid file, not read" in organization and "kit" not in organization


def test_an_organization_too_large_for_its_page_is_in_parts(tmp_path: Path) -> None:
    """Every seat and every relationship stands in one of them; the page and home say how many there are."""
    told = {"name": "Seat", "status": "vacant", "description": "Watches the quay. " * 10}
    positions = [{"id": f"seat-{number:03}", **told} for number in range(500)]
    edges = [{"type": "reports_to", "from": f"seat-{number:03}", "to": "seat-000"} for number in range(501)]
    write_org(tmp_path / "quay/org", "quay", positions=positions, relationships=edges, history="word " * 300_000)
    with open_folders(tmp_path / "quay") as (archive, shelf):
        found = _pages(archive, shelf)
        data = Renderer(THEME, shelf.text).render(found["org/index.html"])
    assert len(data) < 1_000_000 and b"1,375,000 more characters" in data, "the rest of its charter is counted"
    page, *parts = (found[f"org/{part}index.html"] for part in ("", "1/", "2/"))
    assert "Showing 300 of 500. The other pages list the rest." in words(page)
    assert "Showing 500 of 501. The other pages list the rest." in words(page)
    assert [len(part.seats) for part in parts] == [500, 0]
    assert [len(part.organizations[0].relationships) for part in parts] == [500, 1]
    assert "Showing 300 of 500. All of them: organization ." in words(found["index.html"])
    assert "Showing the first 500 of 501." in words(found["positions/seat-000/index.html"])
    said = found["llms.txt"].data.decode()
    assert "[All 500 positions](org/index.html)" in said and "memosite brief POSITION" in said


def test_systems_entities_and_decisions_have_twins(tmp_path: Path) -> None:
    """Like every list: bounded, with links onward; what their links lead to is there."""
    found = planned(*everything(), record("0b", system="mif", entities=tuple(Entity(name=f"e{n}") for n in range(900))))
    systems, mif, entities, decisions = (
        json.loads(found[f"{page}index.json"].data) for page in ("systems/", "systems/mif/", "entities/", "decisions/")
    )
    assert [(one["name"], one["records"]) for one in systems["entries"]][:2] == [
        ("memory-layer", 3),
        ("memory-store", 4),
    ]
    assert [one["id"] for one in mif["entries"]] == ["quay.0c", "quay.0b"]
    assert entities["total"] == 902
    assert entities["more"] == {"left_out": 902 - entities["shown"], "all": "index.html"}
    assert decisions["total"] == 6
    assert all(len(found[path].data) <= 16_000 for path in found if path.endswith(("entities/index.json", "index.md")))
    write_planned(tmp_path, found.values())
    assert list(bad_links(tmp_path)) == []
