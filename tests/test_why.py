"""Why a line is there: its commit, the session that made it, and who names it (SPEC 8), on planted chains."""

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memosite.cli import main
from memosite.store.shelf import Shelf
from tests.support.memos import send, write_memo, write_org, write_transcript
from tests.support.planted_chains import Plan, PlantedChains
from tests.support.repos import Repo

Capture = pytest.CaptureFixture[str]
CHAINS = int(os.environ.get("MEMOSITE_CHAINS", "8"))
"""How many chains are planted."""


def ask(capsys: Capture, site: Path, *words: str, code: int = 0) -> str:
    """What `why` prints; if it fails, what it says on standard error."""
    ended = main(["why", *words, "--site", str(site)])
    told = capsys.readouterr()
    assert ended == code, told.err
    return told.err if code else told.out


def chain_of(capsys: Capture, site: Path, place: str) -> dict[str, Any]:
    """The only chain of a line."""
    [chain] = json.loads(ask(capsys, site, place, "--json"))["chains"]
    return dict(chain)


def certain(listed: list[dict[str, Any]]) -> set[str]:
    """The ids of what is not in doubt."""
    return {one["id"] for one in listed if not one["uncertain"]}


def test_planted_chains_are_found_and_none_is_wrong(tmp_path: Path, capsys: Capture) -> None:
    """95 % of them at least; what cannot be told is not told for certain."""
    planted = PlantedChains(tmp_path / "site", CHAINS)
    (planted.folder / ".memosite").mkdir()
    found: Counter[str] = Counter()
    wrong: list[tuple[Plan, object]] = []
    missed: list[tuple[Plan, object]] = []
    for plan in planted.plans:
        chain = chain_of(capsys, planted.folder, f"{plan.source}/{plan.path}:{line_number(planted.folder, plan)}")
        sessions, named = certain(chain["sessions"]), certain(chain["named_in"])
        told = (chain["commit"]["id"], sessions, named)
        if told[0] != plan.commit or sessions - {plan.session} or named - set(plan.memos):
            wrong.append((plan, told))
        elif plan.session and sessions == {plan.session} and named == set(plan.memos):
            found[plan.way] += 1
        elif plan.session:
            missed.append((plan, told))
    print(f"{sum(found.values())} of {CHAINS} found, {len(wrong)} wrong: {dict(found)}")
    assert not wrong
    assert len(missed) <= 0.05 * CHAINS, missed


def line_number(site: Path, plan: Plan) -> int:
    """Where the line is now."""
    lines = (site / plan.source / plan.path).read_text().splitlines()
    return 1 + next(at for at, line in enumerate(lines) if plan.text in line)


# What counts


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An engine whose gate one session wrote, and the office with its transcript."""
    folder = tmp_path / "site"
    engine, office = Repo(folder / "engine"), Repo(folder / "office")
    write_org(office.root / "org", positions=["engineer"])
    engine.write("src/gate.py", "def gate():\n    raise_it(at='high tide')\n")
    engine.commit("Raise the gate\n\nSee decisions/oak.md.", at="2026-05-02T10:30:00Z", who="Ann")
    office.write("decisions/oak.md", "# Oak\n\nStatus: accepted\n\nIt lasts.\n")
    talk(office, f"[main {engine.head[:8]}] Raise the gate")
    office.commit("transcript", at="2026-05-02T12:00:00Z")
    sources = [{"path": "engine"}, {"path": "office"}]
    (folder / "memosite.yml").write_text(json.dumps({"sources": sources}), encoding="utf-8")
    return folder


def talk(office: Repo, printed: str, *, name: str = "gate", tool: str = "Bash", **fields: Any) -> str:
    """A transcript with what a tool printed."""
    id_ = f"2026-05-02-1000--engineer--{name}"
    text = f"## User\n\nRaise it.\n\n## Assistant\n\n> **🔧 {tool}**\n> {printed}\n"
    said = {"started": "2026-05-02T10:00:00Z", "ended": "2026-05-02T11:00:00Z"} | fields
    write_transcript(office.root / "transcripts/engineer", id_, text=text, **said)
    return id_


def test_a_chain_is_shown_as_text_and_a_path_that_two_sources_have_is_uncertain(site: Path, capsys: Capture) -> None:
    """Each turn has the command that shows it; unless the memo names the source, or is in it."""
    head = Repo(site / "engine", is_new=False).head[:12]
    told = ask(capsys, site, str(site / "engine/src/gate.py:2"))
    name = "transcript/2026-05-02-1000--engineer--gate"
    assert told == (
        "engine/src/gate.py:2\n"
        "\n"
        f"Commit {head}, 2026-05-02 10:30, Ann: “Raise the gate”\n"
        "  Session\n"
        f"  - 2026-05-02 10:00; engineer; “About 2026-05-02-1000--engineer--gate”; {name}; 80 characters\n"
        f"    #t2 made the commit: memosite show '{name}#t2'\n"
        "  Named in (1)\n"
        "  - the commit's message names it: 2026-05-02 12:00; office; status accepted; “Oak”; "
        "document/office.decisions.oak.md; 35 characters\n"
    )
    office = Repo(site / "office", is_new=False)
    office.write("src/gate.py", "pass\n")
    box = office.root / "memos/inbox"
    said = {"path": "src/gate.py", "source": "engine/src/gate.py:2", "name": "gate.py"}
    for name, text in (said | {"no": "src/gate.pyc, xsrc/gate.py2"}).items():
        send(box, f"2026-05-03-0900--engineer--engineer--{name}", body=f"See {text}.")
    named = chain_of(capsys, site, "engine/src/gate.py:2")["named_in"]
    doubts = {one["id"].rpartition("--")[2]: one["uncertain"] for one in named if one["kind"] == "memo"}
    also = "a file at this path is also in office"
    assert doubts == {"path": also, "source": None, "name": "it names only the file's name"}


def test_a_whole_file_has_a_chain_for_each_commit(site: Path, capsys: Capture) -> None:
    """The newest five; that there are more is said.

    What names the file is behind each of its commits, and is shown once; below the older ones it is counted.
    """
    engine, office = Repo(site / "engine", is_new=False), Repo(site / "office", is_new=False)

    def wait(number: int) -> None:
        engine.write("src/gate.py", (site / "engine/src/gate.py").read_text() + f"wait({number})\n")
        engine.commit(f"Wait {number}", at=f"2026-05-0{3 + number}T10:00:00Z")

    wait(0)
    office.write("decisions/gates.md", "# Gates\n\nStatus: accepted\n\nSee engine/src/gate.py.\n")
    office.commit("gates", at="2026-05-03T11:00:00Z")
    told = ask(capsys, site, "engine/src/gate.py")
    assert told.count("document/office.decisions.gates.md") == 1
    assert told.endswith("35 characters\n    1 is named above\n")
    chains = json.loads(ask(capsys, site, "engine/src/gate.py", "--json"))["chains"]
    assert ["office.decisions.gates.md" in str(one["named_in"]) for one in chains] == [True, True]
    for number in range(1, 6):
        wait(number)
    answer = json.loads(ask(capsys, site, "engine/src/gate.py", "--json"))
    assert [one["commit"]["subject"] for one in answer["chains"]] == [f"Wait {number}" for number in (5, 4, 3, 2, 1)]
    assert answer["chains"][0]["commit"]["lines"] == [8] and answer["commits_not_shown"] == 2
    assert "2 more commits wrote other lines: name a line" in ask(capsys, site, "engine/src/gate.py")


def test_a_wrong_place_is_an_error(site: Path, capsys: Capture) -> None:
    """It says what was found and what was expected. For the public, commits are not published.

    A line is the one that is on disk: what is above it may not be committed yet; of one that is not, no commit tells.
    """
    Repo(site / "engine", is_new=False).write("src/new.py", "")
    for place, said in (
        ("engine/src/gate.py:9", "engine/src/gate.py:9: found 2 lines, expected one of them"),
        ("engine/src/gate.py:3", "engine/src/gate.py:3: found 2 lines, expected one of them"),
        ("engine/src/none.py", "found no such file in engine, office"),
        ("gate.py:2", "expected a file of a source, or SOURCE/path, such as engine/src/gate.py;"),
        ("engine/src/gate.py:1-2", "found several lines, expected one, such as engine/src/gate.py:1\n"),
        ("engine/../office/decisions/oak.md", "found no such file"),
        ("engine/src/new.py", "expected a committed file"),
        ("engine/src", "engine/src: found a folder, expected a file"),
    ):
        assert said in ask(capsys, site, place, code=2)
    assert "expected internal" in ask(capsys, site, "engine/src/gate.py:2", "--audience", "public", code=2)
    file = site / "engine/src/gate.py"
    file.write_text("# new\n\n" + file.read_text())
    assert chain_of(capsys, site, "engine/src/gate.py:4")["commit"]["lines"] == [2]
    assert "not committed yet" in ask(capsys, site, "engine/src/gate.py:1", code=2)


def test_what_is_not_shown_is_uncertain(site: Path, capsys: Capture) -> None:
    """And says why. A session that was continued has the turns of the one before.

    A message that two commits have tells neither: without git's answer, the command may have made the other one.
    """
    engine, office = Repo(site / "engine", is_new=False), Repo(site / "office", is_new=False)
    only_named = "it names the commit, but does not show that it made it"
    made = f"[main {engine.head[:8]}] Raise the gate"
    early = {"ended": "2026-05-02T10:20:00Z"}
    for printed, fields, doubt in (
        (f"git show {engine.head[:8]}", {}, only_named),
        ("[main 0ddba11] Raise the gate", {}, "its commit had another id; it may have been amended or rebased"),
        (made, early, "the commit is not within the times of this session"),
        (made, {"tool": "Read"}, only_named),
    ):
        talk(office, printed, **fields)
        [session] = chain_of(capsys, site, "engine/src/gate.py:2")["sessions"]
        assert session["uncertain"].startswith(doubt)
        assert f"uncertain ({doubt}" in ask(capsys, site, "engine/src/gate.py:2")
    talk(office, 'git commit -m "Raise the gate"')
    [session] = chain_of(capsys, site, "engine/src/gate.py:2")["sessions"]
    assert session["uncertain"] is None and session["turns"] == [{"anchor": "t2", "shows": "ran the commit"}]
    for name in ("gate", "again"):
        talk(office, f"[main {engine.head[:7]}] Raise the gate", name=name)
    sessions = chain_of(capsys, site, "engine/src/gate.py:2")["sessions"]
    assert [one["uncertain"] for one in sessions] == ["2 sessions show it"] * 2
    for name in ("gate", "again"):
        talk(office, 'git commit -m "Raise the gate"', name=name)
    engine.write("src/other.py", "more\n")
    engine.commit("Raise the gate", at="2026-05-02T10:40:00Z")
    assert chain_of(capsys, site, "engine/src/gate.py:2")["sessions"] == []


def test_what_a_repo_configures_is_not_run(site: Path, tmp_path: Path, capsys: Capture) -> None:
    """Neither a filter of contents nor a conversion for comparing. Secrets in messages are not printed."""
    engine = Repo(site / "engine", is_new=False)
    secret = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4"
    engine.write("src/new.py", "token()\n")
    engine.commit(f"Use {secret} now", at="2026-05-03T10:00:00Z")
    for words in ((), ("--json",)):
        told = ask(capsys, site, "engine/src/new.py:1", *words)
        assert secret not in told and "REDACTED" in told
    run = tmp_path / "has-run"
    engine.write(".gitattributes", "*.py diff=trap filter=trap\n")
    for key in ("diff.trap.textconv", "diff.trap.command", "filter.trap.clean", "filter.trap.smudge"):
        engine.git("config", key, f"touch {run}; cat")
    assert chain_of(capsys, site, "engine/src/gate.py:2")["commit"]["lines"] == [2]
    assert not run.exists()


# The index


NAMES = (
    *("gate.py", "Makefile", "my_gate-2.tar.gz", ".hidden", "größe.txt", "日本", "two words.md", "deadbeef01.txt", "a"),
)


def test_the_index_finds_what_reading_all_texts_finds(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and commits, in texts and subjects, after any character and before any, and parts of them."""
    monkeypatch.setattr("memosite.agents.why.MOST_NAMED", 1000)
    chance = random.Random(7)
    engine, office = Repo(tmp_path / "engine"), Repo(tmp_path / "office")
    for name in NAMES:
        engine.write(f"src/{name}", f"{name}\n")
    engine.commit("Files", at="2026-05-02T10:30:00Z")
    write_org(office.root / "org", positions=["engineer"])
    said = [*NAMES, *(f"src/{one}" for one in NAMES), *(f"engine/src/{one}" for one in NAMES)]
    said += [engine.head, engine.head[:7], engine.head[:9], engine.head[1:9]]
    for number in range(240):
        written = chance.choice(said)
        shown = f"{chance.choice(EDGES)}{written[chance.choice((0, 0, 0, 1)) :]}{chance.choice(EDGES)}"
        body = {"body": f"Look at{shown}please.\n\n- once"}
        field: dict[str, Any] = body if number % 5 else {"subject": f"On{shown}it"}
        write_memo(office.root / "memos/inbox", f"2026-05-03-{number:04}--engineer--engineer--m", **field)
    office.commit("memos", at="2026-05-03T12:00:00Z")
    (tmp_path / "memosite.yml").write_text(json.dumps({"sources": [{"path": "engine"}, {"path": "office"}]}))
    (tmp_path / ".memosite").mkdir()
    places = [f"engine/src/{name}" for name in NAMES]
    first = [ask(capsys, tmp_path, place, "--json") for place in places]
    assert [ask(capsys, tmp_path, place, "--json") for place in places[:3]] == first[:3]
    monkeypatch.setattr("memosite.agents.why.Mentions._has", lambda *_: True)
    assert [ask(capsys, tmp_path, place, "--json") for place in places] == first
    assert sum(len(json.loads(one)["chains"][0]["named_in"]) for one in first) > 50


EDGES = (" ", "/", "`", "_", "-", ".", "\\", "é", "x", "7", "./", ".\n", ", ", "(")
"""What stands around a name."""


def test_no_text_is_read_again_that_names_nothing(site: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first question makes the index; the next one reads what the index finds."""
    (site / ".memosite").mkdir()
    first = ask(capsys, site, "engine/src/gate.py:2")
    read: list[str] = []
    text = Shelf.text

    def count(self: Shelf, digest: str) -> str:
        read.append(digest)
        return text(self, digest)

    monkeypatch.setattr(Shelf, "text", count)
    assert ask(capsys, site, "engine/src/gate.py:2") == first
    assert len(read) == 1  # the transcript of its session
