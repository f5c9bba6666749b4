"""The addresses of ghosts that turned out to be something else lead on to what it is (SPEC 3, references)."""

import json
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from memosite.archive.ledger import LEDGER_PATH
from memosite.facts.names import make_id
from tests.support.files import write_text
from tests.support.memos import write_memo, write_note, write_transcript
from tests.support.pages import bad_links
from tests.support.sites import build_site, tree_bytes

ASK = "2026-05-01-1430--engineer--director--gate"
TOO = "2026-05-01-1500--engineer--director--crane"
TALK = "2026-04-30-0900--engineer--talk"
GONE = "2026-04-01-0900--engineer--director--lost"
GATE = "documents/quay.decisions.0007-gate.md/index.html"

FORMER = [
    # What a reply says, the id of the ghost that this once made, and where its address leads to now.
    ("decisions/0007-gate.md", "0007-gate.md", GATE),
    ("decisions/0007-gate", "0007-gate", GATE),
    ("2026-05-01-1430", "2026-05-01-1430", f"memos/{ASK}/index.html"),
    ("the 2026-05-01-1430 memo", "the-2026-05-01-1430-memo-a9a6f493", f"memos/{ASK}/index.html"),
    ("2026-05-01-1430", "2026-05-01-1430~ghost", f"memos/{ASK}/index.html"),
    (f'"{GONE}x.openthing"', f"{GONE}x", None),
    ("none", "none", None),
    ("the gate memo", "the-gate-memo-0948f99b", None),
]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with two memos, a transcript and a decision."""
    quay = tmp_path / "site/quay"
    write_memo(quay / "memos", ASK)
    write_memo(quay / "memos", TOO, sent="2026-05-01T15:00:00Z")
    write_transcript(quay / "transcripts/engineer", TALK)
    write_text(quay / "decisions/0007-gate.md", "# Gate\n\nStatus: accepted\n")
    return tmp_path / "site"


def reply(site: Path, value: object, name: str = "2026-05-09-0900--director--engineer--re") -> Path:
    """Write the director's reply."""
    sent = "2026-05-09T09:00:00Z"
    return write_memo(site / "quay/memos", name, sender="director", to="engineer", sent=sent, in_reply_to=value)


def publish(site: Path, *lines: Mapping[str, object]) -> Path:
    """Build a site over one that an earlier version published, with these lines in its ledger."""
    output = build_site(site)
    ledger = output / LEDGER_PATH
    ledger.write_text(ledger.read_text() + "".join(json.dumps({"v": 1, **line}) + "\n" for line in lines))
    return build_site(site)


def target(output: Path, page: str) -> str | None:
    """Where the page of a folder leads on to; None if it does not."""
    text = (output / page / "index.html").read_text()
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', text)
    return posixpath.normpath(posixpath.join(page, found[1])) if found else None


def test_the_address_of_a_former_ghost_leads_to_what_it_is(site: Path) -> None:
    """By what the reference means now, as its thread does; what means nothing has a page that says so."""
    for number, (value, _, _) in enumerate(FORMER):
        reply(site, value, f"2026-05-09-0900--director--engineer--re-{number}")
    member = "memo/2026-05-09-0900--director--engineer--re-2"
    thread = {"kind": "thread", "id": "2026-05-01-1430", "member": member}
    output = publish(site, *({"kind": "ghost", "id": f"memo/{ghost}"} for _, ghost, _ in FORMER), thread)
    assert [target(output, f"memos/{ghost}") for _, ghost, _ in FORMER] == [leads_to for _, _, leads_to in FORMER]
    assert target(output, "threads/2026-05-01-1430") == f"threads/{ASK}/index.html"
    assert not list(bad_links(output))


def test_a_ghost_that_is_found_as_something_else_leads_there_and_a_memo_takes_its_address(site: Path) -> None:
    """As a transcript, a note that its name did not tell of, or another missing memo; a memo has no redirect."""
    reply(site, f"{GONE}.openthing")
    output = build_site(site)
    assert "missing memo" in (output / f"memos/{GONE}/index.html").read_text()
    write_memo(site / "quay/memos", GONE, sent="2026-04-01T09:00:00Z")
    assert f"The text of {GONE}" in (build_site(site) / f"memos/{GONE}/index.html").read_text()
    assert '"alias"' not in (output / LEDGER_PATH).read_text()
    note = "2026-04-01-0900--engineer--director--as-note"
    write_note(site / "quay/notes/engineer", note)
    output = publish(site, {"kind": "ghost", "id": f"memo/{note}"}, {"kind": "ghost", "id": f"memo/{TALK}"})
    assert target(output, f"memos/{note}") == f"notes/{note}/index.html"
    assert target(output, f"memos/{TALK}") == f"transcripts/{TALK}/index.html"
    reply(site, '"gate-is-lost"')
    former = make_id('"gate-is-lost"')
    output = publish(site, {"kind": "ghost", "id": f"memo/{former}"})
    assert target(output, f"memos/{former}") == "memos/gate-is-lost/index.html"


def test_what_a_former_ghost_leads_to_is_kept_when_nothing_refers_to_it_any_more(site: Path) -> None:
    """The ledger remembers it, once; a document that is gone leaves a page that says so."""
    path = reply(site, "decisions/0007-gate.md")
    output = publish(site, {"kind": "ghost", "id": "memo/0007-gate.md"})
    before = tree_bytes(build_site(site))
    assert before == tree_bytes(output) and before[LEDGER_PATH].count(b'"alias"') == 1
    path.unlink()
    assert target(build_site(site), "memos/0007-gate.md") == GATE
    (site / "quay/decisions/0007-gate.md").unlink()
    assert target(build_site(site), "memos/0007-gate.md") is None


def test_a_ghost_whose_reference_means_another_memo_later_leads_there(site: Path) -> None:
    """The last alias of a ghost counts."""
    reply(site, "2026-05-01-1430")
    publish(site, {"kind": "ghost", "id": "memo/2026-05-01-1430"})
    (site / f"quay/memos/{ASK}.openthing").unlink()
    other = "2026-05-01-1430--engineer--director--other"
    write_memo(site / "quay/memos", other)
    output = build_site(site)
    assert target(output, "memos/2026-05-01-1430") == f"memos/{other}/index.html"
    assert (output / LEDGER_PATH).read_text().count('"alias"') == 2
    assert tree_bytes(output) == tree_bytes(build_site(site))
