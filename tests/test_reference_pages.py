"""References on the site: what is answered too and what is superseded, on pages, boards, twins and in search."""

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.cli import main
from memosite.commands.diff import diff
from tests.support.memos import write_memo
from tests.support.pages import found
from tests.support.sites import build_site

ASK = "2026-05-01-1430--engineer--director--gate"
TOO = "2026-05-01-1500--engineer--director--crane"
MOOT = "2026-05-01-1600--engineer--director--buoy"
AGAIN = "2026-05-02-0900--engineer--director--buoy-again"
REPLY = "2026-05-09-0900--director--engineer--re"
STATES = ("open", "superseded", "answered", "discharged")


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four requests, of which one answer answers two, and the last supersedes the third."""
    site = tmp_path_factory.mktemp("references") / "site"
    memos = site / "quay/memos"
    for number, name in enumerate((ASK, TOO, MOOT)):
        write_memo(memos, name, sent=f"2026-05-01T{14 + number}:30:00Z", action_required=True)
    write_memo(
        memos, AGAIN, sent="2026-05-02T09:00:00Z", action_required=True, metadata={"supersedes": f"{MOOT}.openthing"}
    )
    write_memo(
        memos, REPLY, sender="director", to="engineer", sent="2026-05-09T09:00:00Z",
        in_reply_to=f"2026-05-01-1430 AND memos/{TOO} (bundled response)",
    )  # fmt: skip
    return build_site(site)


def facts(output: Path, id_: str) -> list[str]:
    """The lines on a memo's page that tell of other memos."""
    page = html.parse(output / f"memos/{id_}/index.html")
    return [" ".join(text.split()) for text in found(page, "//header//p[@class='facts']/descendant-or-self::*/text()")]


def twin(output: Path, id_: str) -> dict[str, Any]:
    """The JSON of a memo's page."""
    text = (output / f"memos/{id_}/index.json").read_text()
    return dict(json.loads(text))


def test_pages_twins_lines_search_and_differences_know_what_is_answered_too_and_superseded(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At both ends, of the memo and of each recipient; each state has a page; none of it, no field for it."""
    assert facts(output, REPLY) == ["Also answers", f"About {TOO}"]
    assert facts(output, TOO) == ["Also answered by", f"About {REPLY}"]
    assert facts(output, AGAIN) == ["Supersedes", f"About {MOOT}"]
    assert facts(output, MOOT) == ["Superseded by", f"About {AGAIN}"]
    assert facts(output, ASK) == []
    assert twin(output, REPLY)["also_answers"] == [f"memo/{TOO}"]
    assert twin(output, TOO)["also_answered_by"] == [f"memo/{REPLY}"]
    assert twin(output, MOOT)["superseded_by"] == [f"memo/{AGAIN}"]
    assert twin(output, AGAIN)["supersedes"] == [f"memo/{MOOT}"]
    assert "supersedes" not in twin(output, ASK)
    assert f"Superseded-By: memo/{AGAIN}\n" in (output / f"memos/{MOOT}/index.md").read_text()
    pages = {state: html.parse(output / f"actions/{state}/index.html") for state in STATES}
    rows = {state: len(found(page, "//ol[@class='rows']/li/@class")) for state, page in pages.items()}
    assert rows == {"open": 1, "superseded": 1, "answered": 2, "discharged": 0}
    board = html.parse(output / "actions/index.html")
    assert len(found(board, "//ol[@class='rows']/li/@class")) == 2  # for whom it is to do, and for whom to wait
    assert "buoy-again" in (output / "actions/feed.xml").read_text()
    assert MOOT not in (output / "actions/feed.xml").read_text()
    lines = [json.loads(line) for line in (output / "archive/2026/05.jsonl").read_text().splitlines()]
    states = {line["id"]: (line["action"], [one["action"] for one in line["recipients"]]) for line in lines}
    assert states == {
        ASK: ("answered", ["answered"]),
        TOO: ("answered", ["answered"]),
        MOOT: ("superseded", ["superseded"]),
        AGAIN: ("open", ["open"]),
        REPLY: (None, [None]),
    }
    assert main(["search", "is:superseded", "--json", "--site", str(output.parent)]) == 0
    assert [hit["id"] for hit in json.loads(capsys.readouterr().out)["hits"]] == [MOOT]
    found_then = diff("2026-05-02..2026-05-02", site=output.parent)
    assert [(step.before, step.after, step.state.key[1]) for step in found_then.actions] == [
        ("open", "superseded", MOOT)
    ]
    later = diff("2026-05-03..2026-05-09", site=output.parent)
    assert [(step.before, step.after, step.state.key[1]) for step in later.actions] == [
        ("open", "answered", ASK),
        ("open", "answered", TOO),
    ]
