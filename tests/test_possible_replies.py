"""Missing memos: on the pages of who sent and got them, and as answers that nobody can be sure of (SPEC 3, actions)."""

import json
from pathlib import Path

import pytest
from lxml import html

from memosite.archive.mailboxes import possible_replies
from memosite.cli import main
from memosite.facts.parsed import Envelope
from tests.support.facts import archive_of, envelope
from tests.support.memos import send, write_memo
from tests.support.pages import found
from tests.support.sites import build_site

LOST = "2026-05-09-1000--director--engineer--re-pumps"


def asked(stem: str, day: int, **fields: object) -> Envelope:
    """A memo of the engineer that asks the director for something."""
    said = {"to": "director", "sent": f"2026-05-{day:02d}T10:00:00Z", "action_required": True, **fields}
    return envelope(stem, **said)  # type: ignore[arg-type]


def quoting(name: str, **fields: object) -> Envelope:
    """A reply to a memo that is in no repo."""
    return envelope("late", sent="2026-05-20T10:00:00Z", in_reply_to=f"{name}.openthing", **fields)  # type: ignore[arg-type]


def perhaps(*memos: Envelope) -> dict[str, list[str]]:
    """Which missing memos may have answered which memos."""
    archive = archive_of(*memos)
    refs = possible_replies(archive, archive.memos())
    return {ref[1]: [ghost.id for ghost in ghosts] for ref, ghosts in refs.items()}


def test_a_missing_memo_may_have_answered_the_newest_before_it() -> None:
    """From who is asked to who asks; one of the thread comes first, and what is answered needs no guess."""
    memos = (asked("old", 1), asked("new", 5), asked("young", 12), asked("other", 6, to="keeper"))
    assert perhaps(*memos, quoting(LOST)) == {"new": [LOST]}
    assert perhaps(*memos, quoting("2026-05-09-1000--keeper--engineer--re-pumps")) == {
        "other": ["2026-05-09-1000--keeper--engineer--re-pumps"]
    }
    both = (asked("old", 1, thread_id="pumps"), asked("new", 5))
    assert perhaps(*both, quoting(LOST, thread_id="pumps")) == {"old": [LOST]}
    answer = envelope("a", sender="director", to="engineer", in_reply_to="m", sent="2026-05-06T10:00:00Z")
    assert perhaps(asked("m", 5), answer, quoting(LOST)) == {}
    assert perhaps(asked("m", 5), quoting("lost")) == {}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engineer asks, a reply of the director is missing, and the engineer replies to that."""
    folder = tmp_path_factory.mktemp("missing") / "yard/memos/inbox"
    send(folder, "2026-05-05-1000--engineer--director--pumps", action_required=True)
    send(folder, "2026-05-20-1000--engineer--director--thanks", in_reply_to=LOST)
    build_site(folder.parents[2])
    return folder.parents[2]


def page(site: Path, path: str) -> "html.HtmlElement":
    """A page of the site."""
    return html.parse(site / "_site" / path / "index.html").getroot()


def test_pages_say_what_may_have_answered(site: Path) -> None:
    """The memo's, its thread's, the board, where it is open still, and those of both positions."""
    for path in ("memos/2026-05-05-1000--engineer--director--pumps", "actions", "positions/director/actions"):
        said = " ".join("".join(page(site, path).itertext()).split())
        assert "erhaps answered by the missing memo Re pumps" in said
    assert "1 to do" in " ".join("".join(page(site, "actions").itertext()).split())
    for position in ("director", "engineer"):
        links = found(page(site, f"positions/{position}"), "//section[@id='missing']//a[@class='subject']/@href")
        assert [href.split("/")[-2] for href in links] == [LOST]


def test_pages_say_that_one_of_several_may_have_answered(tmp_path: Path) -> None:
    """In the plural."""
    folder = tmp_path / "yard/memos/inbox"
    send(folder, "2026-05-05-1000--engineer--director--pumps", action_required=True)
    for day, lost in (("20", LOST), ("21", LOST.replace("re-pumps", "pumps-again"))):
        name = f"2026-05-{day}-1000--engineer--director--thanks"
        write_memo(folder, name, sent=f"2026-05-{day}T10:00:00Z", in_reply_to=lost)
    build_site(tmp_path)
    for path in ("memos/2026-05-05-1000--engineer--director--pumps", "actions"):
        said = " ".join("".join(page(tmp_path, path).itertext()).split())
        assert "erhaps answered by the missing memos Pumps again, Re pumps" in said


def test_commands_say_what_may_have_answered(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the state, which is open."""
    states = ["unread", "action open", f"perhaps answered by missing memo/{LOST}"]
    assert main(["brief", "director", "--site", str(site), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert states in [one["states"] for one in told["unread"]]
    for command in ("show", "thread"):
        assert main([command, "2026-05-05-1000", "--site", str(site)]) == 0
        assert f"perhaps answered by missing memo/{LOST}" in capsys.readouterr().out
    assert main(["brief", "engineer", "--site", str(site)]) == 0
    assert f"perhaps answered by missing memo/{LOST}" in capsys.readouterr().out
