"""Decisions: what is one, how it stands, what took its place, and who says so (SPEC 2.2, 4)."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from lxml import html

from memosite.archive.model import Document
from memosite.cli import main
from memosite.facts.parsed import DocumentHead
from memosite.formats.status import read_status, sort_of
from memosite.plan.indexes import find_same_decisions
from tests.support import naive_decisions
from tests.support.archives import findings, folder_source, read_folders
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo, write_org
from tests.support.pages import bad_links, found
from tests.support.pictures import check_pictures
from tests.support.sites import build_site, built_files


def documents_of(output: Path) -> set[str]:
    """The ids of the documents that a site has pages of."""
    return {path.parent.name for path in (output / "documents").glob("*/index.html")}


STATUSES: dict[str | None, tuple[str, ...]] = {
    "accepted": (
        *("Accepted", "Accept option B", "✅ Ratified 2026-05-01", "Accepted — supersedes 0003", "active"),
        *("~~Proposed~~ Accepted", "partly superseded by 0007", "Accepted, pending implementation"),
        *("Accepted as recommended", "Accept (council-ratified 2026-05-03; merging seals it)", "angenommen"),
        *(
            "Accepted (was awaiting the director until May)",
            "Accepted, subject to change",
            "Decided; no longer pending",
        ),
        *(
            "Accept (recommended, awaiting ratification); director-ratified same day",
            "Decided (plan), pending (rollout)",
        ),
    ),
    "pending": (
        *("Proposed", "draft", "awaiting Director ratification", "Accepted, awaiting Director ratification"),
        *("accepted with modifications; awaiting director", "not yet accepted", "Filed", "not ratified", "Entwurf"),
        f"Accept the long {'and thorough ' * 20}plan; hold its last part (recommended; awaiting ratification)",
        *("Accepted, subject to a spike", "Accept (recommended)", "Accepted; the board ratifies on merge"),
        *("Accepted, no longer a draft, pending ratification by the board", "To be approved by the board"),
        "Accept (recommended; awaiting the board); accepted by the clerk",
    ),
    "rejected": (
        "Rejected; awaiting a new proposal",
        "Rejected",
        "not accepted",
        "withdrawn",
        "Withdrawn pending 0014",
    ),
    "superseded": (
        *("superseded", "Superceded by ADR 12", "Accepted (2026-05-01), superseded by 0009-x.md", "stale"),
        "deprecated",
    ),
    "unclear": ("Informational", "Version 1.0", "non-binding note"),
    None: ("",),
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


RULED: tuple[tuple[str, str, str], ...] = (
    ("**Decided:** 2026-05-01 by clerk", "clerk", "2026-05-01"),
    (
        "**Decided:** 2026-05-01 by yard-clerk under the director's direction. The rest follows.",
        "yard-clerk",
        "2026-05-01",
    ),
    ("- **Ratified:** 2026-05-02 (the council)", "the council", "2026-05-02"),
    ("> **Decided:** 2026-05-03, by Ada: two steps", "Ada", "2026-05-03"),
    ("Decided: director, 2026-05-01", "director", "2026-05-01"),
    ("**Decided:** 2026-05-01 (third session)", "", "2026-05-01"),
    ("**Decided:** 2026-05-01 (#29)", "", "2026-05-01"),
    ("**Decided:** Drafted 2026-05-01 by clerk; the director ratifies on merge.", "", ""),
    ("**Decided:** Drafted 2026-05-01 by clerk; Director ratified on merge.", "Director", ""),
    ("**Decided by:** Ada, 2026-05-04", "Ada", "2026-05-04"),
    ("**Decided by:** human (Ada, 2026-05-04). Drafted by a clerk.", "human (Ada)", "2026-05-04"),
    ("Approved-by: Ada Byron\nApproved-date: 2026-05-05", "Ada Byron", "2026-05-05"),
    ("**Approved by:** ____ (pending review)", "", ""),
    ("Decision-makers: <names>", "", ""),
    ("Status: accepted · **Decided:** 2026-05-01 · **Deciders:** Ada + Ben", "Ada + Ben", "2026-05-01"),
    ("Status: Accept (Director-ratified 2026-05-06)", "Director", "2026-05-06"),
    ("Status: approved 2026-05-06 by the council", "the council", "2026-05-06"),
    ("Status: accepted, supersedes 2025-01-01-old.md", "", ""),
    ("Status: accepted, pre-approved", "", ""),
    ("| **Status** | Accepted |\n|---|---|\n| **Decided by** | Ada |\n| Decided | 2026-05-07 |", "Ada", "2026-05-07"),
    ("| Date | Status | Deciders |\n|---|---|---|\n| 2026-05-08 | accepted | Ada |", "Ada", ""),
    ("| Decision | Decided by | On |\n|---|---|---|\n| oak | Ada | May |\n| elm | Ben | June |", "", ""),
    ("---\ndecision-makers: [Ada, Ben]\ndecided-on: 2026-05-09\n---", "Ada, Ben", "2026-05-09"),
    ("---\napproved_by: clerk\napproved_date: 2026-05-09\n---", "clerk", "2026-05-09"),
)
"""Heads in the forms of docs/decisions/0026-decisions.md, with who decided and the day."""


def heads(folder: Path, texts: Iterable[str]) -> list[DocumentHead]:
    """What decisions with these heads say, in this order."""
    for number, text in enumerate(texts):
        title = f"{text}\n\n# D\n" if text.startswith("---") else f"# D\n\n{text}\n\nText.\n"
        write_text(folder / f"desk/decisions/{number:04}.md", title)
    read = read_folders(folder / "desk").artifacts.values()
    return sorted((one.head for one in read if isinstance(one, Document)), key=lambda head: head.file.path)


def test_who_decided_and_when_is_read_from_the_forms_that_real_heads_have(tmp_path: Path) -> None:
    """Fields, their relatives, tables and frontmatter; a draft, a place to fill in and a list of others name nobody."""
    read = heads(tmp_path, (text for text, _, _ in RULED))
    assert [(text, head.decided_by, head.decided_on) for (text, *_), head in zip(RULED, read, strict=True)] == list(
        RULED
    )


def test_a_status_goes_on_over_lines_and_what_is_no_field_of_a_head_stays_in_the_text(tmp_path: Path) -> None:
    """Until an empty line, another field, a list, a table or a heading."""
    [one, two, three] = heads(
        tmp_path,
        [
            "**Status:** Accept the plan;\nhold the rest (recommended;\nawaiting ratification)\n**Author:** clerk",
            "Status: accepted\n- awaiting nothing\n\nThe rest is pending.",
            "Status: accepted\n\nDecision: we take oak.",
        ],
    )
    assert one.status == "Accept the plan; hold the rest (recommended; awaiting ratification)"
    assert [two.status, three.status, three.text.summary] == ["accepted", "accepted", "Decision: we take oak. Text."]


def test_who_decided_is_read_as_a_naive_second_reader_reads_it(tmp_path: Path) -> None:
    """Over heads put together at random of what real ones have."""
    random = Random(37)
    verdicts = [
        "Accept",
        "Accepted with changes",
        "Reject",
        "Proposed",
        "Withdrawn",
        "Superseded",
        "Mumble",
        "Ratified",
    ]
    tails = ["", "; awaiting ratification", " (as recommended)", ", subject to a spike", " (no longer pending review)"]
    names = ["clerk", "yard-clerk", "the council", "Ada"]
    texts = []
    for _ in range(300):
        status = random.choice(verdicts) + random.choice(["", " the long plan of oak" * 5]) + random.choice(tails)
        day, name = f"2026-05-{random.randint(10, 28)}", random.choice(names)
        ruled = random.choice([
            f"Decided: {day} by {name}", f"Ratified: {day} ({name})", f"Decided by: {name}", f"Decided: {day}",
            f"Approved: {day} by {name}", f"Decided: Drafted {day} by {name}", f"Decided: {day} during a session",
        ])  # fmt: skip
        mark = random.choice(["{}", "- {}", "> {}"])
        label = random.choice(["Status", "Disposition"])
        fields = [f"{label}: {status}", ruled]
        random.shuffle(fields)
        table = "".join("\n| {} | {} |".format(*one.split(": ", 1)) for one in fields)
        lines = "\n".join(mark.format(one) for one in fields)
        texts.append(random.choice([lines, f"| | |\n|---|---|{table}"]))
    for text, head in zip(texts, heads(tmp_path, texts), strict=True):
        said = next(value for label, value in naive_decisions.fields(text) if label in naive_decisions.STATUS)
        by, day = naive_decisions.decided(text)
        assert (text, read_status(head.status or ""), head.decided_by, head.decided_on) == (
            text, naive_decisions.standing(said), ", ".join(by), day
        )  # fmt: skip


def decided(tmp_path: Path, decision: str, proposal: str, *, name: str = "0007.md", origin: str = "oak.md") -> bool:
    """Whether a decision of this text and name decides on a proposal of this text and name."""
    write_text(tmp_path / "desk/decisions" / name, decision)
    write_text(tmp_path / "desk/proposals" / origin, proposal)
    read = [one for one in read_folders(tmp_path / "desk").artifacts.values() if isinstance(one, Document)]
    [of] = [one for one in read if one.head.file.path.startswith("proposals/")]
    assert all(one.decides == ((of.ref,) if of.decided_in else ()) for one in read if one is not of)
    shutil.rmtree(tmp_path / "desk")
    return bool(of.decided_in)


def test_a_proposal_is_decided_by_a_decision_that_names_it_not_by_a_mention(tmp_path: Path) -> None:
    """As its origin, by its own name, or as the proposal's own status names it, unless that status still waits."""
    proposal, decision = "# Oak?\n\nStatus: open\nDate: 2026-05-01\n", "# Oak\n\nStatus: accepted\nDate: 2026-05-02\n"
    link = "[proposals/oak.md](../proposals/oak.md)"
    for head in (
        f"**Origin:** {link}, after a memo",
        "- Proposal: `proposals/oak.md`",
        "| Origin | proposals/oak.md |",
    ):
        assert decided(tmp_path, f"{decision}{head}\n", proposal)
    assert decided(tmp_path, "---\nstatus: accepted\nproposal: oak\n---\n# Oak\n", proposal)
    for name in ("proposal-oak.md", "oak.md", "2026-05-02-oak.md"):
        assert decided(tmp_path, decision, proposal, name=name)
    assert decided(tmp_path, decision, proposal, name="proposal-oak.md", origin="2026-05-01-oak.md")
    for status in ("Accepted, see decisions/0007.md", "Decided in [seven](../decisions/0007.md)"):
        assert decided(tmp_path, decision, f"# Oak?\n\nStatus: {status}\n")
    assert decided(tmp_path, decision, "# Oak?\n\nDecision: decisions/0007.md\n")
    for text in (f"The sibling {link} stays open.", "See also: proposals/oak.md", "Origin: the talk of May"):
        assert not decided(tmp_path, f"{decision}\n{text}\n", proposal)
    for status in ("Filed (awaiting a decision like decisions/0007.md)", "Open; follows decisions/0007.md"):
        assert not decided(tmp_path, decision, f"# Oak?\n\nStatus: {status}\n")
    assert not decided(tmp_path, decision, f"{proposal}\nAs decisions/0007.md has it.\n")
    assert not decided(tmp_path, decision, proposal, name="proposal-oak-2.md")
    younger = proposal.replace("05-01", "05-03")
    assert not decided(tmp_path, decision, younger, name="proposal-oak.md")


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
        ("Pending", "Elm", "11 days"), ("Pending proposals", "Shall it be yew?", "8 days"),
        ("May 2026", "Fir", "rejected"), ("May 2026", "Oak", "accepted"), ("April 2026", "Ash", "superseded"),
    ]  # fmt: skip
    marks = html.parse(output / "decisions/index.html").xpath("//*[starts-with(@class, 'since ')]")
    assert len(marks) > 4
    for mark in marks:
        words = mark.text_content().split()
        assert mark.get("class") == f"since state {'pending' if 'days' in words else words[0]}"
    style = (output / "static/memosite.css").read_text()
    assert all(f".state.{one}::before" in style for one in ("accepted", "rejected"))
    lists = {view: [row[1] for row in rows(output / f"decisions/{view}/index.html")] for view in (
        "pending", "accepted", "in-force", "rejected", "superseded", "no-status", "proposals", "documents"
    )}  # fmt: skip
    assert lists == {
        "pending": ["Elm", "Shall it be yew?"], "accepted": ["Oak"], "in-force": ["Oak"],
        "rejected": ["Fir"], "superseded": ["Ash"], "no-status": [],
        "proposals": ["Shall it be yew?", "Shall it be oak?"], "documents": ["All decisions"],
    }  # fmt: skip
    by_position = {(heading, subject) for heading, subject, _ in rows(output / "decisions/by-position/index.html")}
    assert {("yard", "Ash"), ("desk", "Oak")} <= by_position
    by_source = {(heading, subject) for heading, subject, _ in rows(output / "decisions/by-source/index.html")}
    assert {("desk", "Oak"), ("yard", "Oak, as decided")} <= by_source, "there, each system has its own"
    (oak,) = html.parse(output / "decisions/index.html").xpath("//li[contains(@class, 'row')][a='Oak']")
    assert "recorded in memory-layer" in oak.text_content()
    names = found(html.parse(output / "decisions/index.html"), "//nav[@aria-label='Filters']//li//a/text()")
    assert "In force" in names and "Accepted" not in names, "the same ones: nobody could tell them apart"
    [total] = found(html.parse(output / "decisions/index.html"), "//nav[@aria-label='Filters']/ul/li[1]/span/text()")
    assert int(total) == len(rows(output / "decisions/index.html"))
    links = found(html.parse(output / "decisions/index.html"), "//nav[@aria-label='Filters']//a/@href")
    assert [(output / "decisions" / link).is_file() for link in links] == [True] * len(links)
    assert list(bad_links(output)) == []
    ids = found(html.parse(output / "decisions/index.html"), "//@id")
    assert {"desk-decisions", "desk-proposals", "yard-memory-layer"} <= set(ids)


def test_a_decision_that_several_systems_have_is_one_if_link_day_and_title_do_not_disagree(tmp_path: Path) -> None:
    """Two of the three agree, and it stands likewise; two of one system are two."""
    pine = "Pine for every new door of the yard"
    for source, title, day, status, is_one in (
        ("alike", "Pine for each new door of the yard", "2026-05-02", "accepted", True),
        ("later", pine, "2026-05-03", "accepted", False),
        ("other", "Elm for the old gate", "2026-05-02", "accepted", False),
        ("rejected", pine, "2026-05-02", "rejected", False),
        ("linked", f"{pine}, see decisions/2026-05-02-pine.md", "2026-06-01", "accepted", True),
        ("background", "Ash for the roof, see decisions/2026-05-02-pine.md", "2026-06-01", "accepted", False),
    ):
        folder = tmp_path / source
        for name in ("pine", "again"):
            text = f"# {pine}\n\nStatus: {status}\nDate: 2026-05-02\n"
            write_text(folder / f"decisions/2026-05-02-{name}.md", text)
        meta = {"created": f"{day}T09:00:00Z", "category": "decisions", "summary": title}
        write_json(folder / ".claude/memory/decisions/wood.json", {"meta": meta, "content": {"why": title}})
        archive = read_folders(folder)
        kinds = [one.kind for one in archive.artifacts.values()]
        assert (kinds.count("document"), kinds.count("record")) == (2, 1), source
        groups = set(find_same_decisions(archive.artifacts.values()).values())
        assert [[ref[0] for ref in some] for some in groups] == [["document", "record"]] * is_one, source


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


def test_the_lives_of_decisions_are_on_one_scale_from_proposal_to_what_took_their_place(tmp_path: Path) -> None:
    """A rejected one is never in force, one in force is so until the newest day; one of a single day is not drawn."""
    texts = {
        "proposals/oak.md": "# Oak for the pier\n\nStatus: accepted\nDate: 2026-05-04\n",
        "decisions/0001-oak.md": "# Oak\n\nStatus: superseded by 0003-elm.md\nDate: 2026-05-10\nOrigin: oak.md\n",
        "decisions/0002-ash.md": "# Ash\n\nStatus: accepted\nDate: 2026-05-11\n",
        "decisions/0003-elm.md": "# Elm\n\nStatus: accepted\nDate: 2026-05-20\nOrigin: proposals/elm.md\n",
        "proposals/elm.md": "# Elm for the pier\n\nStatus: accepted\nDate: 2026-05-18\n",
        "proposals/tin.md": "# Tin for the pier\n\nStatus: rejected\nDate: 2026-05-06\n",
        "decisions/0004-tin.md": "# No tin\n\nStatus: rejected\nDate: 2026-05-09\nOrigin: proposals/tin.md\n",
        "decisions/0005-end.md": "# The last\n\nStatus: accepted\nDate: 2026-05-30\n",
    }
    for path, text in texts.items():
        write_text(tmp_path / "site/repo" / path, text)
    page = build_site(tmp_path / "site", output=tmp_path / "out") / "decisions/index.html"
    (lives,) = check_pictures(page)
    assert lives.columns == ("days after 2026-05-04", "pending, in days", "in force, in days")
    assert dict(zip(lives.labels, lives.table, strict=True)) == {
        "Elm": (14, 2, 10), "Oak": (0, 6, 10), "No tin": (2, 3, 0)
    }  # fmt: skip
    assert "proposed 2026-05-04 · decided 2026-05-10 · superseded 2026-05-20" in html.parse(page).xpath("string()")


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
    assert "decided by the council" in said["Oak"] and "the repo of" not in said["Oak"]
    unsaid = [name for name, text in said.items() if "decider not stated" in text]
    assert sorted(unsaid) == ["Ash", "Elm"]
    assert all("not stated\N{NO-BREAK SPACE}· yard, the repo of mason" in said[name] for name in unsaid)
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


def test_every_place_tells_alike_how_decisions_stand_and_who_made_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of documents at random: the list, its filters, pages, both twins, searches and the brief."""
    random, site = Random(26), tmp_path / "site"
    write_org(site / "yard/org", positions=[{"id": "clerk", "name": "clerk", "x.position.working_directory": "yard"}])
    write_memo(site / "yard/memos/inbox", "2026-05-01-0900--clerk--clerk--x", sender="clerk", to="clerk")
    expected: dict[str, tuple[str, str]] = {}
    statuses = [status for known in STATUSES.values() for status in known if "0" not in status]
    [cut] = [status for status in statuses if len(status) > 200]
    for number, status in enumerate([cut, *random.sample(statuses, 24)]):
        by, day = random.choice(["clerk", ""]), f"2026-04-{number + 1:02}"
        ruled = f"**Decided:** {day} by {by}" if by else f"**Date:** {day}"
        text = f"# Choice {number}\n\n**Status:** {status}\n{ruled}\n\nText.\n"
        write_text(site / f"yard/decisions/choice-{number}.md", text)
        standing = read_status(status) or ""
        expected[f"Choice {number}"] = (standing, "" if standing == "pending" else by)
    output, told = build_site(site), dict[str, dict[str, tuple[str, str]]]()

    def say(place: str, subject: str, standing: str, by: str) -> None:
        told.setdefault(place, {})[subject] = (standing, by)

    for row in html.parse(output / "decisions/index.html").getroot().xpath("//li[contains(@class, 'row')]"):
        marks = row.xpath("./*[starts-with(@class, 'since state ')]/@class")
        by = "clerk" if "decided by clerk" in row.text_content() else ""
        say("list", row.xpath("./a[@class='subject']")[0].text_content(), marks[0].split()[2] if marks else "", by)
    for subject in expected:
        page = output / f"documents/yard.decisions.{subject.lower().replace(' ', '-')}.md"
        twin = json.loads((page / "index.json").read_text())["document"]
        say("twin", subject, twin["standing"] or "", twin["decided_by"] or "")
        lines = dict(
            line.split(": ", 1)
            for line in (page / "index.md").read_text().split("\n---\n")[0].splitlines()
            if ": " in line
        )
        say("Markdown", subject, lines.get("Standing", ""), lines.get("Decided-By", ""))
        say("page", subject, expected[subject][0], "clerk" if "decided by clerk" in envelope(page) else "")
    names = {subject: who for subject, (_, who) in expected.items()}
    for view in ("pending", "accepted", "rejected", "superseded", "unclear", "no-status"):
        for _, subject, _ in rows(output / f"decisions/{view}/index.html"):
            say("filters", subject, view.replace("no-status", ""), names[subject])
        main(["search", "--site", str(site), f"status:{view} kind:document", "--json", "--limit", "99"])
        for hit in json.loads(capsys.readouterr().out)["hits"]:
            say("search", hit["short_subject"], view, names[hit["short_subject"]])
    for place, found_there in told.items():
        there = {subject: one for subject, one in expected.items() if one[0] or place != "search"}
        assert (place, found_there) == (place, there)
    in_force = {subject for subject, (standing, _) in expected.items() if standing in {"accepted", ""}}
    assert {subject for _, subject, _ in rows(output / "decisions/in-force/index.html")} == in_force
    main(["brief", "clerk", "--site", str(site), "--json", "--budget", "20000"])
    brief = json.loads(capsys.readouterr().out)
    assert {one["short_subject"] for part in ("decisions", "new-decisions") for one in brief[part]} == in_force
    waiting = html.parse(output / "index.html").getroot().xpath("//section[@id='waiting']//a[@class='subject']")
    assert "Choice 0" in {one.text_content() for one in waiting}
    assert {one.text_content() for one in waiting} <= {
        s for s, (standing, _) in expected.items() if standing == "pending"
    }


def test_a_week_tells_a_decision_once_that_several_systems_record(output: Path) -> None:
    """With links to the others."""
    told = [
        " ".join(row.text_content().split())
        for file in sorted(output.glob("weeks/2026-W*/index.html"))
        for row in html.parse(file).xpath("//section[@id='decided']//li")
        if "Oak" in row.text_content()
    ]
    assert len(told) == 1 and "recorded in memory-layer" in told[0], told


def test_the_page_of_a_record_has_the_status_of_the_lists_and_repeats_neither_title_nor_session(tmp_path: Path) -> None:
    """A decision of a system that states none was accepted; the anchor of a text that is the title stays."""
    write_text(
        tmp_path / "desk/.wyren/memory.md",
        "## Decisions\n\n- Oak it is [session ab, turn 1]\n- Elm: for the keel [session cd, turn 2]\n"
        "\n## Rejected paths\n\n- Ash [session ab, turn 3]\n",
    )
    output = build_site(tmp_path)
    said = {}
    for path in sorted((output / "records/wyren").glob("*/index.html")):
        page = html.parse(path).getroot()
        said[page.findtext(".//h1")] = (
            page.xpath("normalize-space(//p[@class='envelope'])").startswith("accepted ·"),
            [*map(str.strip, page.xpath("//div[@class='prose']/p[not(@class='unseen')]/text()"))],
            page.xpath("count(//section[h2='Sessions'])"),
        )
        assert page.xpath("//div[@class='prose']/p[starts-with(@id, 'p-')]"), path
    assert said == {"Oak it is": (True, [], 0), "Elm: for the keel": (True, [], 0), "Ash": (False, [], 0)}
    listed = (output / "decisions/index.html").read_text()
    assert listed.count(">accepted") >= 2
