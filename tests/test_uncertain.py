"""What is not certain of memos: not received, not known to be read, perhaps answered by a missing one (SPEC 3)."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.archive.mailboxes import possible_replies
from memosite.cli import main
from memosite.facts.parsed import Envelope
from tests.support.facts import archive_of, envelope
from tests.support.memos import send, write_memo, write_org
from tests.support.pages import found
from tests.support.repos import Repo
from tests.support.sites import build_site

NAME = "2026-05-02-1000--director--engineer--pumps"
Capture = pytest.CaptureFixture[str]
CLAIM = "delivered, not committed yet"
ASKED: dict[str, Any] = {"sender": "director", "sent": "2026-05-02T10:00:00Z", "action_required": True}


def delivered(folder: Path, *seats: str) -> list[Repo]:
    """An organization, and the repos of these seats with a memo that the director put there; commits have begun."""
    office = Repo(folder / "site/office")
    write_org(office.root, positions=[_seat("director", "../office"), *(_seat(seat, f"../{seat}") for seat in seats)])
    office.commit()
    repos = [Repo(folder / "site" / seat) for seat in seats]
    for repo in repos:
        repo.write("README", "engineer\n")
        repo.commit()
        deliver(repo)
    return repos


def _seat(name: str, folder: str) -> dict[str, str]:
    place = {"x.position.working_directory": folder, "incumbent": f"someone, as {name}"}
    return {"id": name, "name": name.title()} | place


def name_in(repo: Repo) -> str:
    """The name of the memo in a repo, which has that of its seat."""
    return f"2026-05-02-1000--director--{repo.root.name}--pumps"


def deliver(repo: Repo, folder: str = "memos/inbox") -> Path:
    """Write the memo into a folder of a repo."""
    return write_memo(repo.root / folder, name_in(repo), to=repo.root.name, **ASKED)


def claims(site: Path, capsys: Capture, *seats: str) -> list[tuple[bool, ...]]:
    """For each seat, whether the actions board, the position's page, `inbox` and its JSON say so."""
    output = build_site(site)
    found = []
    for seat in seats:
        pages = [(output / name / "index.html").read_text() for name in ("actions", f"positions/{seat}")]
        answers = []
        for more in ([], ["--json"]):
            assert main(["inbox", seat, "--site", str(site), *more]) == 0
            answers.append(capsys.readouterr().out)
        states = [unread["states"] for unread in json.loads(answers[1])["unread"]]
        found.append((*(CLAIM in text for text in (*pages, answers[0])), any(CLAIM in state for state in states)))
    return found


def move(repo: Repo) -> None:
    """Read, and not committed yet."""
    (repo.root / "memos/read").mkdir()
    for file in (repo.root / "memos/inbox").iterdir():
        file.rename(repo.root / "memos/read" / file.name)


def receive_and_restore(repo: Repo) -> None:
    """Received and removed; then somebody laid it there again."""
    repo.commit("received")
    repo.git("rm", "-q", "-r", "memos")
    repo.commit("done with it")
    deliver(repo)


def move_back(repo: Repo) -> None:
    """Received, read, and moved back to the inbox."""
    inbox, read = (f"memos/{box}/{name_in(repo)}.openthing" for box in ("inbox", "read"))
    repo.commit("received")
    repo.move(inbox, read)
    repo.commit("read")
    (repo.root / "memos/inbox").mkdir(exist_ok=True)
    (repo.root / read).rename(repo.root / inbox)


def without_commit(repo: Repo) -> None:
    """Git knows nothing of this repo yet."""
    shutil.rmtree(repo.root / ".git")
    repo.git("init", "--quiet")


def shallow(repo: Repo) -> None:
    """The commits that could have it are missing."""
    repo.commit("received")
    repo.git("rm", "-q", "-r", "memos")
    (repo.root / ".git/shallow").write_text(f"{repo.commit('done with it')}\n")
    deliver(repo)


ACTS: tuple[Callable[[Repo], object], ...] = (
    lambda repo: repo.commit("received"),  # and not read yet
    lambda repo: deliver(repo, "memos/read"),  # a copy is in read/, too
    *(move, receive_and_restore, move_back, without_commit, shallow),
)


def test_only_a_memo_in_no_commit_of_its_recipient_is_said_to_be_not_received(tmp_path: Path, capsys: Capture) -> None:
    """On the board, on the page of the position, and in the command, as text and as JSON.

    Nothing false is claimed where it was received at some time, or where git does not know.
    """
    seats = [f"seat-{number}" for number in range(len(ACTS))]
    for act, repo in zip(ACTS, delivered(tmp_path, *seats), strict=True):
        act(repo)
    assert dict(zip(ACTS, claims(tmp_path / "site", capsys, *seats), strict=True)) == dict.fromkeys(ACTS, (False,) * 4)
    [other] = delivered(tmp_path / "other", "engineer")
    assert claims(other.root.parent, capsys, "engineer") == [(True,) * 4]
    site, name = other.root.parent, name_in(other)
    pages = ["", "actions", "positions/engineer", "timeline/2026/05", f"memos/{name}"]  # each said something else once
    assert {page: said(site, page, name) - {""} for page in pages} == {page: {f"unread ({CLAIM})"} for page in pages}


def said(site: Path, page: str, name: str) -> set[str]:
    """What the rows of a memo on a page say in bold, or the head of its own page; "" if nothing."""
    tree = html.parse(site / "_site" / page / "index.html")
    rows = tree.xpath(f"//li[contains(concat(' ', @class, ' '), ' row ')][a[contains(@href, '{name}')]]")
    heads = tree.xpath("//header//p[@class='envelope']") if f"memos/{name}" in page else rows
    return {"".join(one.xpath(".//strong//text()")) for one in heads}


@pytest.mark.parametrize(
    ("to", "expected"), [(["engineer", "clerk"], "unread by 1 of 2"), ("all", "unread in 1 of 2 repos")]
)
def test_one_state_is_not_said_of_several(to: str | list[str], expected: str, tmp_path: Path) -> None:
    """The head of a memo said "read", as one of its copies was, although another recipient had not read it."""
    seats = [("director", "../office"), ("engineer", "../yard"), ("clerk", "../desk")]
    write_org(tmp_path / "desk/memos", positions=[_seat(*one) for one in seats])
    for repo, folder in (("desk", "memos/read"), ("yard", "memos/inbox")):
        write_memo(Repo(tmp_path / repo).root / folder, NAME, to=to, **ASKED)
    build_site(tmp_path)
    assert said(tmp_path, "", NAME) == said(tmp_path, f"memos/{NAME}", NAME) == {expected}
    head = html.parse(tmp_path / f"_site/memos/{NAME}/index.html").xpath("string(//header//p[@class='envelope'])")
    assert " · read" not in head and " · inbox" not in head


FLAT = "It is not known whether 1 memo was read: 1 in a folder without inbox/ and read/, and not in git."


def told(capsys: Capture, site: Path, command: str) -> tuple[str, str]:
    """What a command says of the director's unread memos: as text, and of what is unknown as JSON."""
    assert main([command, "director", "--site", str(site)]) == 0
    text = capsys.readouterr().out
    assert main([command, "director", "--site", str(site), "--json"]) == 0
    return text, str(json.loads(capsys.readouterr().out)["unknown"])


def words_of(site: Path, path: str) -> str:
    """The text of a page."""
    return " ".join("".join(html.parse(site / "_site" / path).getroot().itertext()).split())


def test_only_git_a_mailbox_or_the_repo_of_a_position_tells_what_is_read(tmp_path: Path, capsys: Capture) -> None:
    """Of a flat folder, or a broadcast without a copy there, nothing claims that nothing is unread: it says why."""
    write_memo(tmp_path / "office/memos", "one")
    for command in ("inbox", "brief"):
        text, unknown = told(capsys, tmp_path, command)
        assert "Nothing is known to be unread." in text and FLAT in text and unknown == FLAT
    build_site(tmp_path)
    assert f"No memos are known to be unread. {FLAT}" in words_of(tmp_path, "positions/director/index.html")
    rows = html.parse(tmp_path / "_site/org/index.html").xpath("//table[@class='seats glance']/tbody/tr[th='director']")
    assert [row.xpath("string(td[2])") for row in rows] == ["?"]
    assert "? means that for some memos it is not known" in words_of(tmp_path, "org/index.html")
    assert "Inbox ?" in words_of(tmp_path, "positions/director/index.html")
    home = words_of(tmp_path, "index.html")
    assert "Nothing is known to be waiting for director." in home and f"director: {FLAT}" in home
    known = tmp_path / "known"
    write_memo(known / "plain/memos/read", "two")
    repo = Repo(known / "office")
    write_memo(repo.root / "memos/read", "one")
    repo.commit()
    text, unknown = told(capsys, known, "inbox")
    assert "Nothing is unread." in text and unknown == "None"
    build_site(known)
    assert "No unread memos." in words_of(known, "positions/director/index.html")
    write_memo(repo.root / "memos", "flat")
    repo.commit()
    received = "It is not known whether 1 memo was read: its folder has no inbox/ and read/."
    for command in ("inbox", "brief"):
        text, unknown = told(capsys, known, command)
        assert "Nothing is known to be unread." in text and received in text and unknown == received
    build_site(known)
    assert f"No memos are known to be unread. {received}" in words_of(known, "positions/director/index.html")
    assert "Nothing is waiting for director." in words_of(known, "index.html")
    write_memo(repo.root / "memos", "re", sender="director", to="engineer", in_reply_to="flat.openthing")
    assert "Nothing is unread." in told(capsys, known, "inbox")[0]
    others = tmp_path / "others"
    write_org(others / "yard", positions=["director", "engineer", {"id": "smith", "working_directory": "forge"}])
    write_memo(others / "yard/memos/inbox", "one", to="all")
    text, unknown = told(capsys, others, "inbox")
    assert unknown == "It is not known whether 1 memo was read: 1 sent to all, and it has no repo."
    assert "Nothing is known to be unread." in text and unknown in text
    write_memo(others / "forge/memos/read", "two", to="smith", sender="director")
    assert main(["inbox", "smith", "--site", str(others)]) == 0
    assert "1 sent to all, with no copy in its repo." in capsys.readouterr().out
    assert main(["inbox", "engineer", "--site", str(others)]) == 0
    assert "Nothing is unread." in capsys.readouterr().out


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


def test_pages_and_commands_say_what_may_have_answered(tmp_path: Path, capsys: Capture) -> None:
    """A reply of the director is missing, and the engineer replies to it: beside the state, which is open."""
    folder, asking = tmp_path / "yard/memos/inbox", "2026-05-05-1000--engineer--director--pumps"
    send(folder, asking, action_required=True)
    send(folder, "2026-05-20-1000--engineer--director--thanks", in_reply_to=LOST)
    build_site(tmp_path)
    for path in (f"memos/{asking}", "actions", "positions/director/actions"):
        assert "erhaps answered by the missing memo Re pumps" in words_of(tmp_path, f"{path}/index.html")
    assert "1 to do" in words_of(tmp_path, "actions/index.html")
    for position in ("director", "engineer"):
        tree = html.parse(tmp_path / f"_site/positions/{position}/index.html")
        links = found(tree, "//section[@id='missing']//a[@class='subject']/@href")
        assert [href.split("/")[-2] for href in links] == [LOST]
    assert main(["brief", "director", "--site", str(tmp_path), "--json"]) == 0
    unread = json.loads(capsys.readouterr().out)["unread"]
    states = ["unread", "action open", "no reply since", f"perhaps answered by missing memo/{LOST}"]
    assert states in [one["states"] for one in unread]
    for words in (["show", "2026-05-05-1000"], ["thread", "2026-05-05-1000"], ["brief", "engineer"]):
        assert main([*words, "--site", str(tmp_path)]) == 0
        assert f"perhaps answered by missing memo/{LOST}" in capsys.readouterr().out
    lost = LOST.replace("re-pumps", "pumps-again")
    send(folder, "2026-05-21-1000--engineer--director--thanks", in_reply_to=lost)
    build_site(tmp_path)
    for path in (f"memos/{asking}", "actions"):
        assert "erhaps answered by the missing memos Pumps again, Re pumps" in words_of(tmp_path, f"{path}/index.html")
