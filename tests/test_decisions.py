"""Decisions: what is one, how it stands, what took its place, and who says so (SPEC 2.2, 4)."""

import json
from pathlib import Path

import pytest
from lxml import html

from memosite.archive.model import Document
from memosite.formats.status import read_status, sort_of
from tests.support.archives import findings, folder_source, read_folders
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo, write_org
from tests.support.pages import bad_links, found
from tests.support.sites import build_site, built_files


def documents_of(output: Path) -> set[str]:
    """The ids of the documents that a site has pages of."""
    return {path.parent.name for path in (output / "documents").glob("*/index.html")}


STATUSES: dict[str | None, tuple[str, ...]] = {
    "accepted": (
        *("Accepted", "Accept option B", "✅ Ratified 2026-05-01", "Accepted — supersedes 0003", "active"),
        *("~~Proposed~~ Accepted", "partly superseded by 0007", "Accepted, pending implementation"),
    ),
    "pending": (
        *("Proposed", "draft", "awaiting Director ratification", "Accepted, awaiting Director ratification"),
        *("accepted with modifications; awaiting director", "not yet accepted"),
    ),
    "rejected": ("Rejected; awaiting a new proposal", "Rejected", "not accepted", "withdrawn"),
    "superseded": (
        *("superseded", "Superceded by ADR 12", "Accepted (2026-05-01), superseded by 0009-x.md", "stale"),
        "deprecated",
    ),
    None: ("Informational", ""),
}


def test_statuses_are_read_as_people_word_them_and_decisions_told_from_proposals_and_indexes(tmp_path: Path) -> None:
    """By the first word that tells; by the nearest folder that says so, else by fields that only a decision has."""
    for standing, statuses in STATUSES.items():
        assert [read_status(status) for status in statuses] == [standing] * len(statuses)
    cases = [
        ("decisions/oak.md", "# Oak\n", "decision"),
        ("docs/adr/0001-oak.md", "# Oak\n", "decision"),
        ("proposals/oak.md", "# Oak\n", "proposal"),
        ("decisions/README.md", "# Decisions\n\nStatus: accepted\n", "other"),
        ("decisions/index.md", "# Decisions\n", "other"),
        ("docs/adr/0000-template.md", "# Title\n\nStatus: proposed\n", "other"),
        ("rulings/oak.md", "# Oak\n\n**Disposition:** Accept\n", "decision"),
        ("rulings/essay.md", "# On oak\n\nStatus: draft\n", "other"),
        ("rulings/decisions/proposals/oak.md", "# Oak\n", "proposal"),
    ]
    for path, text, _ in cases:
        write_text(tmp_path / "desk" / path, text)
    documents = ("decisions/**/*.md", "proposals/**/*.md", "docs/adr/**/*.md", "rulings/**/*.md")
    read = read_folders(folder_source(tmp_path / "desk", documents=documents)).artifacts.values()
    sorts = {document.head.file.path: sort_of(document) for document in read if isinstance(document, Document)}
    assert sorts == {path: sort for path, _, sort in cases}


def successor(tmp_path: Path, one: str, two: str, third: str = "# Elm\n") -> str | None:
    """The name of the document that took the place of `0001-one.md`."""
    for name, text in (("0001-one.md", one), ("0002-two.md", two), ("0003-elm.md", third)):
        write_text(tmp_path / "desk/docs/adr" / name, text)
    artifacts = read_folders(tmp_path / "desk").artifacts
    documents = {one.head.file.name: one for one in artifacts.values() if isinstance(one, Document)}
    ref = documents["0001-one.md"].superseded_by
    newer = artifacts[ref] if ref else None
    assert newer is None or documents["0001-one.md"].ref in (newer.supersedes if isinstance(newer, Document) else ())
    return newer.head.file.name if isinstance(newer, Document) else None


def test_what_took_the_place_of_a_decision_is_found_as_it_is_written(tmp_path: Path) -> None:
    """Once the newer is accepted, also if the older does not say so; a number of a date names no document."""
    for status in [
        *("Status: superseded by ADR-2", "Status: Superseded by 0002-two (2026-05-03)"),
        *("Status: superseded by Oak it is", "## Status\n\nSuperceded by [2. Oak](0002-two.md)"),
        "- **Status:** ~~Accepted~~ Superseded by [oak](0002-two.md)",
        "Status: superseded\nSuperseded by: `docs/adr/0002-two.md`",
        "| Status | Superseded |\n|---|---|\n| Superseded by | [oak](0002-two.md) |",
        "**Status:** superseded | **Replaced by:** 0002-two.md",
    ]:
        assert successor(tmp_path, f"# Ash it is\n\n{status}\n", "# Oak it is\n\nStatus: accepted\n") == "0002-two.md"
    for status in ["Status: superseded", "Status: superseded by 0009", "Status: superseded 2026-03-02"]:
        assert successor(tmp_path, f"# Ash\n\nStatus: {status}\n", "# Oak\n") is None
    for status, newer in [("accepted", "0002-two.md"), ("proposed", None), ("rejected", None)]:
        two = f"# Oak\n\nStatus: {status}\n\nSupersedes [1. Ash](0001-one.md)\n"
        assert successor(tmp_path, "# Ash\n\nStatus: accepted\n", two) == newer


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Decisions of documents and of a record system in two repos, with proposals, and memos that cite them."""
    site = tmp_path_factory.mktemp("decided") / "site"
    desk, yard = site / "desk", site / "yard"
    seats = [{"id": seat, "name": seat, "working_directory": f"/home/{seat}"} for seat in ("desk", "yard")]
    write_org(desk / "org", positions=seats)
    write_text(desk / "decisions/README.md", "# All decisions\n\n- [ash](2026-04-01-ash.md)\n")
    write_text(desk / "decisions/2026-04-01-ash.md", "# Ash\n\nStatus: accepted\n**Decided by:** yard\n")
    oak = "# Oak\n\nStatus: accepted\nSupersedes: `decisions/2026-04-01-ash.md`\n\nAs `proposals/2026-04-20-oak.md`.\n"
    write_text(desk / "decisions/2026-05-02-oak.md", oak)
    write_text(desk / "decisions/2026-05-09-elm.md", "# Elm\n\nStatus: awaiting Director ratification\n")
    write_text(desk / "decisions/2026-05-10-fir.md", "# Fir\n\nDisposition: Reject\n")
    write_text(desk / "proposals/2026-04-20-oak.md", "# Shall it be oak?\n")
    write_text(desk / "proposals/2026-05-12-yew.md", "# Shall it be yew?\n\nSee `decisions/2026-05-02-oak.md`.\n")
    meta = {"created": "2026-05-03T10:00:00Z", "category": "decisions", "summary": "Oak, as decided"}
    record = {"meta": meta, "content": {"decision": "As in desk/decisions/2026-05-02-oak.md", "status": "accepted"}}
    write_json(yard / ".claude/memory/decisions/oak.json", record)
    write_memo(yard / "memos", "2026-05-03-0900--desk--yard--oak", sender="desk", to="yard", body="Oak it is.")
    body = "As `decisions/2026-04-01-ash.md` has it."
    for day in ("2026-04-03", "2026-05-20"):
        name = f"{day}-0900--yard--desk--wood"
        write_memo(desk / "memos/inbox", name, sender="yard", to="desk", sent=f"{day}T09:00:00Z", body=body)
    return build_site(site)


def rows(file: Path) -> list[tuple[str, str, str]]:
    """Heading, subject and standing of each row of a list of decisions."""
    page = html.parse(file).getroot()
    shown = []
    for row in page.iter("li"):
        if (row.get("class") or "").split()[:1] == ["row"]:
            heading = found(row, "./ancestor::section/h2/text()")[0].strip()
            subject = "".join(found(row, "./a[@class='subject']//text()"))
            shown.append(
                (heading, subject, " ".join("".join(found(row, "./*[starts-with(@class, 'since ')]//text()")).split()))
            )
    return shown


def test_decisions_are_one_list_by_date_and_each_filter_is_a_page(output: Path) -> None:
    """Pending first, with how long; filters need no script; the sections that the page once had are places on it."""
    assert rows(output / "decisions/index.html") == [
        ("Pending", "Elm", "pending 11 days"), ("Pending proposals", "Shall it be yew?", "pending 8 days"),
        ("May 2026", "Fir", "rejected"), ("May 2026", "Oak, as decided", "accepted"),
        ("May 2026", "Oak", "accepted"), ("April 2026", "Ash", "superseded"),
    ]  # fmt: skip
    marks = html.parse(output / "decisions/index.html").xpath("//*[starts-with(@class, 'since ')]")
    assert len(marks) > 5
    for mark in marks:
        assert mark.get("class") == f"since state {mark.text_content().split()[0]}"
    style = (output / "static/memosite.css").read_text()
    assert all(f".state.{one}::before" in style for one in ("accepted", "rejected"))
    lists = {view: [row[1] for row in rows(output / f"decisions/{view}/index.html")] for view in (
        "pending", "accepted", "in-force", "rejected", "superseded", "no-status", "proposals", "documents"
    )}  # fmt: skip
    assert lists == {
        "pending": ["Elm", "Shall it be yew?"], "accepted": ["Oak, as decided", "Oak"],
        "in-force": ["Oak, as decided", "Oak"], "rejected": ["Fir"], "superseded": ["Ash"], "no-status": [],
        "proposals": ["Shall it be yew?", "Shall it be oak?"], "documents": ["All decisions"],
    }  # fmt: skip
    by_position = {(heading, subject) for heading, subject, _ in rows(output / "decisions/by-position/index.html")}
    assert {("yard", "Ash"), ("desk", "Oak"), ("yard", "Oak, as decided")} <= by_position
    assert {row[0] for row in rows(output / "decisions/by-source/index.html")} == {"desk", "yard"}
    [total] = found(html.parse(output / "decisions/index.html"), "//nav[@aria-label='Filters']/ul/li[1]/span/text()")
    assert int(total) == len(rows(output / "decisions/index.html"))
    links = found(html.parse(output / "decisions/index.html"), "//nav[@aria-label='Filters']//a/@href")
    assert [(output / "decisions" / link).is_file() for link in links] == [True] * len(links)
    assert list(bad_links(output)) == []
    ids = found(html.parse(output / "decisions/index.html"), "//@id")
    assert {"desk-decisions", "desk-proposals", "yard-memory-layer"} <= set(ids)


def track(file: Path) -> list[tuple[str, str]]:
    """The roles and names of a track, with the one that is shown marked."""
    steps = html.parse(file).getroot().xpath("//section[@class='track']//li")
    assert isinstance(steps, list)
    return [
        (found(step, "./span/text()")[0].split(",")[0], "".join(found(step, "./a/text() | ./strong/text()")))
        for step in steps
    ]


def test_a_track_leads_to_what_superseded_the_decision_and_who_cites_it_says_so(output: Path, tmp_path: Path) -> None:
    """Across systems and repos, not to a younger proposal; a circle ends. What superseded a decision may name it."""
    for day in ("2026-04-03", "2026-05-20"):
        page = html.parse(output / f"memos/{day}-0900--yard--desk--wood/index.html")
        (notice,) = ["".join(found(one, ".//text()")) for one in page.getroot().xpath("//p[@class='notice']")]
        assert notice == "Cites a decision that is not in force any more: Ash, superseded by Oak on 2026-05-02."
    archive = read_folders(output.parent / "desk", output.parent / "yard")
    noted = findings(archive, "decision-superseded")
    assert [one.location.path.rpartition("/")[2][:10] for one in noted] == ["2026-04-03", "2026-05-20"]
    assert "desk: decisions/2026-04-01-ash.md" in noted[0].message
    assert json.loads((output / "memos/2026-04-03-0900--yard--desk--wood/index.json").read_text())["id"]
    expected = [
        ("Decision", "Ash"),
        ("Proposal", "Shall it be oak?"),
        ("Decision", "Oak"),
        ("Recorded in", "Oak, as decided"),
    ]
    assert track(output / "documents/desk.decisions.2026-05-02-oak.md/index.html") == expected
    assert track(output / "documents/desk.decisions.2026-04-01-ash.md/index.html") == expected
    assert track(output / "documents/desk.proposals.2026-05-12-yew.md/index.html") == []
    for one, other in (("ash", "oak"), ("oak", "ash")):
        write_text(tmp_path / f"desk/decisions/{one}.md", f"# {one}\n\nStatus: superseded by {other}.md\n")
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    output = build_site(tmp_path)
    assert len(track(output / "documents/desk.decisions.ash.md/index.html")) == 2


def test_many_decisions_are_bounded_and_documents_that_join_take_no_address(tmp_path: Path) -> None:
    """The parts have all; what was published keeps its address when others of its name are read, too."""
    write_text(tmp_path / "desk/proposals/oak.md", "# Shall it be oak?\n")
    decision = write_text(tmp_path / "desk/rulings/oak.md", "# Oak it is\n\nStatus: accepted\n")
    config = 'sources: [{path: desk, exclude: ["proposals/**"]}]\ndocuments: ["rulings/**/*.md"]\n'
    write_text(tmp_path / "memosite.yml", config)
    (before,) = documents_of(output := build_site(tmp_path))
    write_text(tmp_path / "memosite.yml", config.replace(', exclude: ["proposals/**"]', ""))
    build_site(tmp_path)
    assert len(documents_of(output)) == 2
    page = (output / "documents" / before / "index.html").read_text(encoding="utf-8")
    assert "Oak it is" in page
    assert decision.name in page
    many = tmp_path / "many"
    for number in range(510):
        write_text(many / f"desk/decisions/2026-05-01-d{number}.md", f"# D {number}\n\nStatus: accepted\n")
    write_text(many / "memosite.yml", "sources: [{path: desk}]\n")
    output = build_site(many)
    assert len(rows(output / "decisions/index.html")) == len(rows(output / "decisions/by-source/index.html")) == 500
    assert "Showing 500 of 510." in (output / "decisions/index.html").read_text()
    assert (output / "decisions/2/index.html").is_file()


def test_a_site_without_decisions_says_where_they_would_be_found(tmp_path: Path) -> None:
    """On the list and its filters; the list has the subjects that speak of a decision, newest first."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-0900--a--b--x")
    files = built_files(tmp_path, output=tmp_path / "out")
    for page in ("decisions/index.html", "decisions/pending/index.html"):
        text = files[page].decode()
        assert "This archive has no documents and no records of decisions." in text
        assert "Decisions are read from Markdown files in" in text
        assert "Decisions by date" not in text
        assert "search/index.html?q=decided+OR+decision" not in text  # no memo says it
        assert 'aria-label="Filters"' not in text
        assert "Ages are counted" not in text
    tmp_path /= "spoken"
    for number, subject in enumerate(("Oak decided", "Undecided", "Two decisions", "Entscheidung: Ulme"), 1):
        write_memo(
            tmp_path / "memos/inbox", f"m{number}", subject=subject, sent=f"2026-05-0{number}T09:00:00Z", to="director"
        )
    output = build_site(tmp_path)
    page = html.parse(output / "decisions/index.html")
    said = [one.text_content() for one in page.xpath("//section[@id='said']//a[@class='subject']")]
    assert said == ["Entscheidung: Ulme", "Two decisions", "Oak decided"]
    assert 'id="said"' not in (output / "decisions/pending/index.html").read_text()
    tmp_path = tmp_path / "offered"
    site, page = tmp_path / "site", "decisions/index.html"
    write_memo(site / "memos/inbox", "2026-05-01-0900--a--b--x", body="Undecided, and no decisions.")
    offered = []
    for change in (
        lambda: None,
        lambda: write_memo(site / "memos/inbox", "2026-05-02-0900--a--b--y", body="It is Decided: oak."),
        lambda: write_memo(site / "memos/inbox", "2026-05-02-0900--a--b--y", body="It is oak."),
        lambda: write_memo(site / "memos/inbox", "2026-05-03-0900--a--b--z", subject="A decision"),
        lambda: write_text(site / "decisions/oak.md", "# Oak\n"),
    ):
        change()
        output = build_site(site)
        offered.append("?q=decided+OR+decision" in (output / page).read_text(encoding="utf-8"))
    assert offered == [False, True, False, True, False]


def envelope(page: Path) -> str:
    """What the page of a document or a record says below its title."""
    [line] = html.parse(page / "index.html").getroot().xpath("//p[@class='envelope']")
    return " ".join(line.text_content().split())


def test_each_decision_says_who_decided_and_a_document_shows_its_title_once(tmp_path: Path) -> None:
    """As the head or the fields say; else that it is not stated, and the one position that has the repo."""
    write_org(tmp_path / "yard", positions=[{"id": "mason", "name": "Mason", "x.position.working_directory": "yard"}])
    write_text(tmp_path / "yard/decisions/oak.md", "# Oak\n\nStatus: accepted\nDecided by: the council\n")
    write_text(tmp_path / "yard/decisions/elm.md", "# Elm\n\nStatus: accepted\n")
    write_text(tmp_path / "yard/decisions/fir.md", "# Fir\n\nStatus: draft\n")
    write_text(tmp_path / "yard/proposals/yew.md", "# Yew\n")
    meta = {"created": "2026-05-01T10:00:00Z", "category": "decisions", "summary": "Ash", "session_id": "s"}
    write_json(tmp_path / "yard/.claude/memory/decisions/ash.json", {"meta": meta, "content": "Ash it is."})
    site = build_site(tmp_path)
    rows = html.parse(site / "decisions/index.html").getroot().xpath("//li[contains(@class, 'row')]")
    said = {row.xpath(".//a[@class='subject']")[0].text_content(): row.text_content() for row in rows}
    assert "decided by the council" in said["Oak"] and "in the repo of" not in said["Oak"]
    unsaid = [name for name, text in said.items() if "decider not stated" in text]
    assert sorted(unsaid) == ["Ash", "Elm"]
    assert all("not stated\N{NO-BREAK SPACE}· in the repo of mason" in said[name] for name in unsaid)
    of_pages = {name: envelope(site / name) for name in (
        "documents/yard.decisions.oak.md", "documents/yard.decisions.elm.md", "documents/yard.proposals.yew.md",
        "records/memory-layer/yard.decisions.ash",
    )}  # fmt: skip
    assert ["decided by the council" in text for text in of_pages.values()] == [True, False, False, False]
    assert ["decider not stated" in text for text in of_pages.values()] == [False, True, False, True]
    tmp_path = tmp_path / "titles"
    # The heading keeps its anchor, for links and citations; another heading, and prose, stay as they are.
    head = "Status: accepted\n**Decided:** 2026-05-01\nDecided by: the council"
    write_text(tmp_path / "yard/decisions/oak.md", f"# Oak & `elm`\n\n{head}\n\nIt is oak.\nNote: it is.\n")
    write_text(
        tmp_path / "yard/decisions/elm.md", "---\ntitle: Elm\n---\n\n# Elm it is\n\nWe took elm.\nNote: it is.\n"
    )
    write_memo(tmp_path / "yard/memos/inbox", "2026-05-01-0900--a--b--x")
    site = build_site(tmp_path)
    oak, elm = (
        html.parse(site / f"documents/yard.decisions.{name}.md/index.html").getroot() for name in ("oak", "elm")
    )
    [heading] = oak.xpath("//div[@class='prose']/*[@id='oak-elm']")
    assert heading.get("class") == "unseen" and heading.text_content() == "Oak & elm"
    assert heading.xpath("a") == []  # nobody sees where the focus is
    assert [len(one.xpath("br")) for one in oak.xpath("//div[@class='prose']/p")] == [2, 0]
    assert all(one.get("id") for one in oak.xpath("//div[@class='prose']/p"))
    [heading] = elm.xpath("//div[@class='prose']/*[@id='elm-it-is']")
    assert heading.get("class") is None and heading.xpath("a")
    assert elm.xpath("//div[@class='prose']//br") == []
