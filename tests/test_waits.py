"""What waits for whom is one list: every page, command, feed and twin shows its entries (SPEC 3, waiting)."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lxml import html

from memosite.cli import main
from memosite.facts.parsed import Ref
from tests.support.archives import memo, read_folders
from tests.support.feeds.documents import read_feed
from tests.support.files import write_json, write_text
from tests.support.memos import send, write_memo, write_org
from tests.support.pages import found
from tests.support.sites import build_site
from tests.support.soaking import most

SEATS = ("baker", "carter", "director", "dyer")

WAITS = most(4, in_soak=60)
"""How many random archives are told by every place and by a naive reader."""

STATUSES: dict[str, set[str] | None] = {
    "Accepted": None, "Proposed": set(), "awaiting Director ratification": {"director"}, "": None,
    "Accept (recommended by the dyer; awaiting the director)": {"director"}, "Rejected": None,
    "Accept; hold the rest (awaiting the baker and the carter)": {"baker", "carter"}, "superseded": None,
    "Accepted (was awaiting the director); director-ratified same day": None, "Filed by dyer": set(),
}  # fmt: skip
"""Statuses of decisions, with whom they wait for: nobody in particular if the set is empty, nobody at all if None."""

Waiting = dict[str, set[str]]
"""For each ref for whom it waits; nobody in particular if the set is empty."""


def write_matters(chance: Random, mill: Path) -> Waiting:
    """Write decisions and proposals, and tell for whom each waits: a proposal never if there is a decision on it."""
    waits: Waiting = {}
    for number in range(chance.randint(2, 5)):
        statuses = {}
        for kind in chance.choice([("decision",), ("proposal",), ("decision", "proposal")]):
            status = chance.choice(list(STATUSES))
            statuses[kind] = STATUSES[status] if status or kind == "decision" else set()
            head = f"**Status:** {status}\n" if status else ""
            write_text(mill / f"{kind}s/2026-05-{number + 2:02d}-matter-{number}.md", f"# {kind} {number}\n\n{head}")
        kind, named = next(iter(statuses.items()))
        if named is not None:
            waits[f"document/mill.{kind}s.2026-05-{number + 2:02d}-matter-{number}.md"] = named
    return waits


def write_memos(chance: Random, mill: Path) -> Waiting:
    """Write memos that ask and answer, and tell for whom each waits by looking at all of them."""
    asked: dict[str, tuple[str, set[str]]] = {}
    above: dict[str, str] = {}
    sender_of: dict[str, str] = {}
    closed: set[str] = set()
    for number in range(chance.randint(4, 9)):
        sender, *others = chance.sample(SEATS, 4)
        to = chance.choice([others[:1], others[:1], others[:2], ["all"]])
        name = f"2026-05-{number + 2:02d}-0900--{sender}--{to[0]}--m{number}"
        parent = chance.choice(["", "", *sender_of])
        asks = chance.random() < 0.6
        subject = f"{'Closing: ' if not asks and chance.random() < 0.4 else ''}Matter {number}"
        box = mill / "memos" / chance.choice(["inbox", "read"])
        write_memo(box, name, sender=sender, to=to, action_required=asks, subject=subject,
                   sent=f"2026-05-{number + 2:02d}T09:00:00Z", in_reply_to=parent or None)  # fmt: skip
        if asks:
            asked[name] = sender, {*SEATS} - {sender} if to == ["all"] else set(to)
        sender_of[name] = sender
        at = above[name] = parent
        while at:
            if subject.startswith("Closing") and at in asked and asked[at][0] == sender:
                closed.add(at)
                break
            at = above[at]

    def has_answered(seat: str, name: str) -> bool:
        return any(sender_of[other] == seat and is_below(other, name) for other in sender_of)

    def is_below(other: str, name: str) -> bool:
        return bool(above[other]) and (above[other] == name or is_below(above[other], name))

    owed = {
        f"memo/{name}": {seat for seat in seats if not has_answered(seat, name)}
        for name, (_, seats) in asked.items()
        if name not in closed
    }
    return {ref: seats for ref, seats in owed.items() if seats}


def rows_below(page: Path, above: str) -> set[str]:
    """The refs of the rows of a list of a page, from the heading `above` (an XPath) to the next."""
    tree = html.parse(page).getroot()
    rows = tree.xpath(f"{above}/following-sibling::*[1][self::ol]/li/a[contains(@class, 'subject')]/@href")
    return {ref_of(href) for href in rows}


def ref_of(href: str) -> str:
    """The ref of the page that a link leads to."""
    kind, id_ = href.removesuffix("index.html").rstrip("/").split("/")[-2:]
    return f"{kind.removesuffix('s')}/{id_}"


def tellings(output: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[tuple[str, dict[str, set[str]]]]:
    """What each place says waits for each position that it tells of, by the place's name."""

    def told(*words: str) -> Any:
        assert main([*words, "--site", str(output.parent), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    def refs(entries: list[dict[str, Any]], seat: str) -> set[str]:
        is_open = [one for one in entries if "action open" in one["states"] or seat in one.get("waits_for", ())]
        return {f"{one['kind']}/{one['id']}" for one in is_open}

    board = output / "actions/index.html"
    yield "board", {seat: rows_below(board, f"//h3[@id='to-do-{seat}']") for seat in SEATS}
    state = output / "actions/open/index.html"
    yield "open", {seat: rows_below(state, f"//h2[@id='position-{seat}']") for seat in SEATS}
    for name, page, above in (
        ("position", "index.html", "//h2[@id='open-actions']"),
        ("its actions", "actions/index.html", "//h2[@id='to-do']"),
    ):
        yield name, {seat: rows_below(output / "positions" / seat / page, above) for seat in SEATS}
    briefs = {seat: told("brief", seat, "--budget", "100000") for seat in SEATS}
    listed = {seat: [*one["unread"], *one["to-do"], *one["handoff"]] for seat, one in briefs.items()}
    yield "brief", {seat: refs(entries, seat) for seat, entries in listed.items()}
    inboxes = {seat: told("inbox", seat, "--budget", "100000") for seat in SEATS}
    listed = {seat: [*one["unread"], *one.get("to-do", ())] for seat, one in inboxes.items()}
    yield "inbox", {seat: refs(entries, seat) for seat, entries in listed.items()}
    hits = told("search", "is:open", "--limit", "100")["hits"]
    yield "search", {seat: {f"{hit['kind']}/{hit['id']}" for hit in hits if seat in hit["waits_for"]} for seat in SEATS}
    twins = [json.loads(file.read_text()) for file in output.glob("*s/*/index.json") if file.parts[-3] in KINDS]
    waits = {f"{one['kind']}/{one['id']}": one["waits"]["for"] for one in twins if one["waits"]}
    yield "twins", {seat: {ref for ref, seats in waits.items() if seat in seats} for seat in SEATS}
    home = html.parse(output / "index.html").xpath("//section[@id='waiting']//li/a[contains(@class, 'subject')]/@href")
    nobody = rows_below(board, "//h3[@id='to-do-~nobody']")
    unread = inboxes["director"]["unread"]
    to_read = {f"{one['kind']}/{one['id']}" for one in unread} - refs(unread, "director")
    yield "home", {"director": {*map(ref_of, home)} - nobody - to_read}


KINDS = ("memos", "documents")


@pytest.mark.parametrize("seed", range(20261127, 20261127 + WAITS))
def test_every_place_tells_what_waits_for_whom(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a naive reader of the files does: memos that ask, and decisions that are pending, each matter once."""
    chance, mill = Random(seed), tmp_path / "mill"
    write_org(mill, "mill", positions=list(SEATS))
    waits = write_matters(chance, mill) | write_memos(chance, mill)
    output = build_site(tmp_path)
    expected = {seat: {ref for ref, seats in waits.items() if seat in seats} for seat in SEATS}
    for place, told in tellings(output, capsys):
        assert told == {seat: expected[seat] for seat in told}, place
    everything = {ref.partition("/")[2] for ref in waits}
    assert {
        guid.rpartition("/")[2] for guid in found(read_feed(output / "actions/feed.xml"), "//guid/text()")
    } == everything
    documents = {ref for ref in waits if ref.startswith("document/")}
    pending = output / "decisions/pending/index.html"
    headings = ("//section[@id='pending']/h2", "//section[@id='pending-proposals']/h2")
    assert set[str]().union(*(rows_below(pending, heading) for heading in headings)) == documents


def test_one_matter_is_one_entry_that_names_its_proposal_and_its_records(tmp_path: Path) -> None:
    """A record that is pending and mentions it, or has its name; not one of something else, or of what is done."""
    desk = tmp_path / "desk"

    def note(name: str, decision: str, status: str = "pending") -> Ref:
        meta = {"created": "2026-05-03T10:00:00Z", "category": "decisions", "summary": name.title()}
        content = {"decision": decision, "status": status}
        write_json(desk / f".claude/memory/decisions/{name}.json", {"meta": meta, "content": content})
        return ("record", f"desk.decisions.{name}")

    write_text(desk / "decisions/2026-05-09-elm.md", "# Elm\n\nStatus: awaiting Director ratification\n")
    write_text(desk / "decisions/2026-05-10-fir.md", "# Fir\n\nStatus: accepted\n")
    write_text(desk / "proposals/elm.md", "# Shall it be elm?\n")
    write_text(desk / "proposals/fir.md", "# Shall it be fir?\n")
    mentions, called = note("tree", "As in decisions/2026-05-09-elm.md"), note("elm", "No oak.")
    other, late = note("yew", "See decisions/2026-05-10-fir.md"), note("oak", "Oak.", "accepted")
    send(desk / "memos", "2026-05-01-0900--desk--director--wood")
    artifacts = read_folders(desk).artifacts
    elm: Ref = ("document", "desk.decisions.2026-05-09-elm.md")
    proposal: Ref = ("document", "desk.proposals.elm.md")
    assert artifacts[elm].owed_by == ("director",)
    assert set(artifacts[elm].same_matter) == {proposal, mentions, called}
    assert {ref for ref, one in artifacts.items() if one.owed_by} == {elm, other}
    assert artifacts[other].owed_by == ("",) and not artifacts[late].owed_by
    output = build_site(tmp_path)

    def said(page: str, xpath: str) -> str:
        [found] = html.parse(output / page / "index.html").xpath(xpath)
        return " ".join(found.text_content().split())

    pending = said("decisions/pending", "//li[a/text()='Elm']")
    assert "waiting for director" in pending and "recorded in memory-layer, memory-layer" in pending
    proposed = said("decisions/proposals", "//li[a/text()='Shall it be elm?']")
    assert "pending decision: Elm" in proposed and "decided in" not in proposed
    assert "decided in Fir" in said("decisions/proposals", "//li[a/text()='Shall it be fir?']")
    assert "pending, waiting for director" in said(
        "documents/desk.decisions.2026-05-09-elm.md", "//p[@class='envelope']"
    )


def test_a_name_that_organizations_share_is_the_one_whose_repo_it_is_in(tmp_path: Path) -> None:
    """Elsewhere it stands for all of them: the page of each counts what waits for it alone."""
    for name in ("mill", "quay"):
        write_org(tmp_path / name / "org", name, positions=["director", f"{name}-clerk"])
    for name in ("mill", "quay", "yard"):
        write_text(tmp_path / name / "decisions/0001-oak.md", "# Oak\n\nStatus: awaiting the director\n")
    archive = read_folders(*(tmp_path / name for name in ("mill", "quay", "yard")))
    told = {id_.partition(".")[0]: one.owed_by for (_, id_), one in archive.artifacts.items() if one.kind == "document"}
    assert told == {"mill": ("mill~director",), "quay": ("quay~director",), "yard": ("director",)}
    write_text(tmp_path / "mill/decisions/0002-ash.md", "# Ash\n\nStatus: accepted\nDecided by: director\n")
    write_text(tmp_path / "yard/decisions/0002-elm.md", "# Elm\n\nStatus: accepted\nDecided by: director\n")
    send(tmp_path / "yard/memos", "2026-05-01-0900--x--y--wood")
    by_position = html.parse(build_site(tmp_path) / "decisions/by-position/index.html")
    for subject, position in (("Ash", "mill~director"), ("Elm", "director")):
        assert by_position.xpath(f"//section[.//a/text()='{subject}']/@id") == [f"position-{position}"]
    mine = {id_: len(archive.waiting_besides_memos(archive.positions[id_].members)) for id_ in archive.positions}
    assert (mine["mill~director"], mine["quay~director"], mine["director"]) == (1, 1, 3)


@pytest.mark.parametrize(
    ("subject", "closes"),
    [
        *((subject, True) for subject in ("Closing: the gate", "Re: RE: Closed", "The gate — withdrawn", "Never mind")),
        *(
            ("Cancelled", True),
            ("The gate (no longer needed)", True),
            ("Erledigt", True),
            ("Re: The gate: closed.", True),
        ),
        *((subject, False) for subject in ("The gate is closed on Sundays", "Enclosed", "Re: The gate", "Disclosed")),
    ],
)
def test_who_asked_may_close_it_in_a_reply(subject: str, closes: bool, tmp_path: Path) -> None:
    """Not by a memo that asks again, nor can anybody else: to who is asked a reply is an answer."""
    box = tmp_path / "mill/memos/read"
    asks = "2026-05-01-0900--baker--carter--gate"
    send(box, asks, action_required=True)
    reply: dict[str, Any] = {"in_reply_to": asks, "subject": subject}
    send(box, "2026-05-02-0900--dyer--baker--gate", **reply)
    assert memo(read_folders(tmp_path / "mill"), asks).owed_by == ("carter",)
    send(box, "2026-05-03-0900--baker--carter--again", action_required=True, **reply)
    assert memo(read_folders(tmp_path / "mill"), asks).owed_by == ("carter",)
    name = "2026-05-04-0900--baker--carter--gate"
    send(box, name, **reply)
    closed = memo(read_folders(tmp_path / "mill"), asks)
    assert (closed.action, closed.owed_by) == (("discharged", ()) if closes else ("open", ("carter",)))
    if closes and closed.discharge:
        assert (closed.discharge.on, closed.discharge.by, closed.discharge.via) == ("2026-05-04", "baker", name)


def test_what_joins_positions_says_whose_each_entry_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It waits for who is asked, not for who asks; what one of them sends to another is no hand-off to itself."""
    for name in ("mill", "quay"):
        write_org(tmp_path / name / "org", name, positions=["director", f"{name}-clerk"])
    toll = "2026-05-01-0900--quay-director--mill-director--toll"
    write_memo(tmp_path / "mill/memos/read", toll, sender="quay/director", to="mill/director", action_required=True)
    send(tmp_path / "mill/memos/read", "2026-05-02-0900--x--director--pump", sender="quay/director")
    assert main(["brief", "director", "--site", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert not told["has_handoff"]
    assert [(one["id"], one["position"]) for one in told["to-do"]] == [(toll, "mill~director")]
