"""What could be known at a former time: `--as-of`, against the same command on a checkout of then (SPEC 8)."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memosite.archive.model import Transcript
from memosite.cli import main
from memosite.config.loading import load_config
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.reading.past_cache import MOST
from memosite.search.answer import Place, Scan
from memosite.search_language import QueryNode
from tests.support.files import ROOT, write_json
from tests.support.memos import write_memo, write_org
from tests.support.random_organizations import POSITIONS, WORDS, RandomOrganization, write_site
from tests.support.repos import Repo, run_git

COMMITS = int(os.environ.get("MEMOSITE_PAST", "1"))
"""At how many random commits the past is compared with checkouts."""

PER_ORGANIZATION = 10
Capture = pytest.CaptureFixture[str]


def ask(capsys: Capture, site: Path, *words: str, code: int | None = 0) -> str:
    """What a command prints; of one that fails, what it says on standard error."""
    ended = main([*words, "--site", str(site)])
    told = capsys.readouterr()
    assert code is None or ended == code, told.err
    return told.out if ended == 0 else told.out + told.err


@pytest.mark.parametrize("seed", range(-(-COMMITS // PER_ORGANIZATION)))
def test_the_past_is_what_a_checkout_shows(tmp_path: Path, seed: int, capsys: Capture) -> None:
    """At random commits of repos with merges, with the other repos as they were then: read, and as it was kept.

    The first search looks into what the index of now has of then, the second into an index of then.
    """
    organization = RandomOrganization(tmp_path / "acme", seed)
    (organization.folder / ".memosite").mkdir()
    assert main(["search", "--index", "--quiet", "--site", str(organization.folder)]) == 0
    chance = random.Random(seed)
    for number in range(min(PER_ORGANIZATION, COMMITS - seed * PER_ORGANIZATION)):
        name, repo = chance.choice(sorted(organization.repos.items()))
        commit = chance.choice(repo.git("rev-list", "--all").split())
        checkout = tmp_path / f"then-{number}"
        check_out(organization, name, commit, checkout)
        for words in questions(chance, organization, repo, commit):
            past, again = (
                plain(ask(capsys, organization.folder, *words, "--as-of", commit, code=None)) for _ in range(2)
            )
            then = plain(ask(capsys, checkout, *words, code=None))
            if "was not known as of" in past:  # only the present knows what came later
                assert "found no item of that name" in then
                past, again, then = (one.split(": ")[:2] for one in (past, again, then))
            assert past == again == then, (name, commit, words)


def check_out(organization: RandomOrganization, name: str, commit: str, folder: Path) -> None:
    """Check out a commit of one repo, and the others as they were at its date: the naive way."""
    at = int(organization.repos[name].git("show", "-s", "--format=%ct", commit))
    write_site(folder)
    for other, repo in organization.repos.items():
        chosen = commit if other == name else main_line_at(repo, at)
        run_git(folder, "clone", "--quiet", "--no-checkout", str(repo.root), other)
        if chosen:
            run_git(folder / other, "checkout", "--quiet", "--detach", chosen)
        else:
            run_git(folder / other, "symbolic-ref", "HEAD", "refs/heads/none")


def main_line_at(repo: Repo, at: int) -> str:
    """The commit that main was at, following first parents one by one; "" before the first one."""
    known = {}
    for line in repo.git("log", "--all", "--format=%H %ct %P").splitlines():
        id_, date, *parents = line.split()
        known[id_] = int(date), parents
    commit = repo.head
    while commit and known[commit][0] > at:
        commit = known[commit][1][0] if known[commit][1] else ""
    return commit


def questions(
    chance: random.Random, organization: RandomOrganization, repo: Repo, commit: str
) -> list[tuple[str, ...]]:
    """Each command, about a memo that was there, if there was one, and about another one."""
    whole = ("--json", "--budget", "0")
    files = repo.git("ls-tree", "-r", "--name-only", commit, "memos/", "notes/").split()
    memos = [Path(chance.choice(files or organization.memos)).stem, chance.choice(organization.memos)]
    return [
        ("brief", chance.choice(POSITIONS), *whole),
        ("inbox", chance.choice(POSITIONS), *whole),
        *(("show", one, *whole) for one in memos),
        ("thread", memos[0], *whole),
        ("search", chance.choice(WORDS), "--json", "--limit", "1000"),
    ]


def plain(printed: str) -> Any:
    """An answer without what tells how it was asked."""
    if not printed.startswith("{"):
        return printed
    answer = json.loads(printed)
    for field in ("as_of", "options", "tokens"):
        answer.pop(field, None)
    return answer


@dataclass(frozen=True)
class Past:
    """A site about whose past is asked."""

    folder: Path
    capsys: Capture

    @property
    def yard(self) -> Repo:
        """The repo of the yard."""
        return Repo(self.folder / "yard", is_new=False)

    def ask(self, *words: str, code: int | None = 0) -> str:
        """What a command prints."""
        return ask(self.capsys, self.folder, *words, code=code)

    def unread(self, when: str) -> list[str]:
        """What was unread for the engineer, by the last words of its ids."""
        told = json.loads(self.ask("inbox", "engineer", "--json", "--as-of", when))
        return sorted(memo["id"].rpartition("--")[2] for memo in told["unread"])

    def configure(self, **settings: object) -> None:
        """Write the configuration."""
        settings = {"sources": [{"path": "office"}, {"path": "yard"}], **settings}
        write_json(self.folder / "memosite.yml", settings)

    def kept(self) -> list[Path]:
        """The archives that are kept of former times."""
        return sorted(self.folder.glob(".memosite/past/*/internal/state.sqlite"))

    def holds(self, word: str) -> bool:
        """Whether a word is in what is kept of former times."""
        kept = (one for one in self.folder.glob(".memosite/past/**/*") if one.is_file())
        return any(word.encode() in one.read_bytes() for one in kept)


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An office with an orgdef, and a yard whose memos come on main, and by a branch that is merged late."""
    folder = tmp_path_factory.mktemp("past") / "site"
    office, yard = Repo(folder / "office"), Repo(folder / "yard")
    write_org(office.root / "org", positions=["director", "engineer"])
    office.commit("org", at="2026-05-01T00:00:00Z")
    put(yard, "2026-05-02-0900--director--engineer--first", at="2026-05-02T12:00:00Z")
    yard.git("checkout", "--quiet", "-b", "side")
    put(yard, "2026-05-03-0900--director--engineer--side", at="2026-05-03T12:00:00Z")
    yard.git("checkout", "--quiet", "main")
    put(yard, "2026-05-05-0900--director--engineer--second", at="2026-05-05T12:00:00Z")
    yard.git("merge", "--quiet", "--no-ff", "--no-edit", "side", at="2026-05-06T12:00:00Z")
    first = "2026-05-02-0900--director--engineer--first.openthing"
    yard.move(f"memos/inbox/{first}", f"memos/read/{first}")
    yard.commit("read", at="2026-05-07T12:00:00Z")
    return folder


@pytest.fixture
def past(_made: Path, tmp_path: Path, capsys: Capture) -> Past:
    """A copy of that site."""
    return Past(shutil.copytree(_made, tmp_path / "site"), capsys)


def put(repo: Repo, name: str, *, at: str, **fields: Any) -> str:
    """Commit a memo to the engineer at a time."""
    sent = f"{name[:10]}T{name[11:13]}:{name[13:15]}:00Z"
    write_memo(repo.root / "memos/inbox", name, sender="director", to="engineer", sent=sent, **fields)
    return repo.commit(name, at=at)


KNOWN = {
    "2026-05-01": [], "2026-05-04": ["first"], "2026-05-05T11:59:59Z": ["first"],
    "2026-05-05T13:00:00+02:00": ["first"], "2026-05-05T12:00:00Z": ["first", "second"],
    "2026-05-05": ["first", "second"], "2026-05-06": ["first", "second", "side"], "2026-05-08": ["second", "side"],
}  # fmt: skip
"""What was unread for the engineer: a day counts to its end, a time is that very second.

What a branch had from the third on came with its merge, on the sixth; what was read on the seventh is not unread then.
"""


def test_what_was_known_at_a_time_or_commit_is_unread_then(past: Past) -> None:
    """Nothing of a source before its first commit, nor of a branch before its merge; which clone, the caller knows."""
    assert {when: past.unread(when) for when in KNOWN} == KNOWN
    side = past.yard.git("rev-parse", "side")
    assert past.unread(side) == past.unread(side[:9]) == ["first", "side"]
    assert past.unread("yard:side") == ["first", "side"]
    assert past.unread("yard:main~1") == ["first", "second", "side"]
    told = past.ask("brief", "engineer", "--as-of", side[:9], "--budget", "300")
    assert f"\nAs of 2026-05-03T12:00:00Z; yard at commit {side[:12]}\n" in told
    assert f"--as-of {side[:9]}]" in told
    fields = json.loads(past.ask("inbox", "engineer", "--json", "--as-of", side))["as_of"]
    assert fields == {"date": "2026-05-03T12:00:00Z", "commit": side, "sources": ["yard"]}
    merge = past.yard.git("rev-parse", "main~1")
    run_git(past.folder, "clone", "--quiet", str(past.folder / "yard"), "copy")
    told = past.ask("inbox", "engineer", "--as-of", merge, code=2)
    assert f"found it in copy and yard, expected one repo; write copy:{merge}" in told
    assert past.unread(f"copy:{merge}") == ["first", "second", "side"]


def files(site: Path) -> list[Path]:
    """All that there is, but what is kept of former times."""
    return sorted(one for one in site.rglob("*") if not one.is_relative_to(site / ".memosite/past"))


NO_TIMES = {
    "yesterday": "found no such commit in office, yard, expected a date",
    "2026-13-01": "found an invalid date, expected a date (2026-05-01",
    "2026-02-30T10:00Z": "found an invalid date",
    "abcdef012345": "found no such commit in office, yard",
    "yard:nothing": 'found no such commit or branch "nothing" in yard (see: git log)',
    "yard:--all": 'found no such commit or branch "--all" in yard',
    "hall:main": 'found no such source "hall" with a git history, but office, yard, expected',
    "main": "found no such commit in office, yard",
    "2026-04-30": "found no commit by then in office, yard: the first is of 2026-05-01T00:00:00Z, in office",
}


def test_the_past_is_of_commits_and_what_came_later_is_said_to_or_was_open(past: Past) -> None:
    """What is not committed does not count, nor what was published; of a branch the merge does."""
    for command in ("show", "thread"):
        told = past.ask(command, "2026-05-05", "--as-of", "2026-05-04", code=2)
        assert "--second was not known as of 2026-05-04; it came on 2026-05-05T12:00:00Z; ask about a later" in told
    told = past.ask("show", "2026-05-03", "--as-of", "2026-05-04", code=2)
    assert "--side was not known as of 2026-05-04; ask about a later time" in told
    assert "found no item of that name" in past.ask("show", "no-such", "--as-of", "2026-05-04", code=2)
    for when, said in NO_TIMES.items():
        assert said in past.ask("inbox", "engineer", f"--as-of={when}", code=2)
    told = past.ask("inbox", "engineer", "--as-of", "2026-05-05", "--audience", "public", code=2)
    assert "found the audience public, expected internal" in told
    assert main(["build", str(past.folder), "--quiet"]) == 0
    before = files(past.folder)
    write_memo(past.folder / "yard/memos/inbox", "2026-05-03-0900--director--engineer--laid", to="engineer")
    assert past.unread("2026-05-08") == ["second", "side"]
    (past.folder / "yard/memos/inbox/2026-05-03-0900--director--engineer--laid.openthing").unlink()
    assert files(past.folder) == before
    assert past.kept()
    name = "2026-05-08-0900--director--engineer--ask"
    put(past.yard, name, at="2026-05-08T12:00:00Z", action_required=True)
    closed = {"closed": {name: {"on": "2026-05-10", "by": "director"}}}
    past.configure(actions=closed)
    states = {
        day: json.loads(past.ask("show", name, "--json", "--as-of", day))["states"]
        for day in ("2026-05-09", "2026-05-10")
    }
    assert states["2026-05-09"] == ["action open", "no reply since"]
    assert states["2026-05-10"] == ["action closed"]


def test_sources_that_are_not_in_git_are_left_out(past: Past, tmp_path: Path, capsys: Capture) -> None:
    """Nor are shallow clones known: that is said, and exit code 1. Where there is no other, the error names each."""
    write_memo(past.folder / "desk/memos/inbox", "2026-05-01-0900--director--engineer--plain", to="engineer")
    run_git(past.folder, "clone", "--quiet", "--depth", "1", (past.folder / "yard").as_uri(), "short")
    assert main(["inbox", "engineer", "--site", str(past.folder), "--json", "--as-of", "2026-05-06"]) == 1
    told = past.capsys.readouterr()
    assert sorted(memo["id"][-5:] for memo in json.loads(told.out)["unread"]) == ["-side", "econd", "first"]
    assert "memosite: failed: desk: not read as of then: it is not a git repo" in told.err
    assert "memosite: failed: short: not read as of then: the clone is shallow" in told.err
    plain = tmp_path / "plain"
    for source in ("desk", "hall"):
        write_memo(plain / source / "memos/inbox", f"2026-05-01-0900--director--engineer--{source}", to="engineer")
    for when in ("2026-05-01", "abcdef0", "nonsense"):
        for command in (["inbox", "engineer"], ["show", "2026"], ["search", "text"]):
            said = ask(capsys, plain, *command, "--as-of", when, code=2)
            assert said.count("\n") == 1
            assert "found no source with a git history (desk: it is not a git repo; hall: it is not a git repo)" in said
            assert f'--as-of "{when}"' in said and "leave --as-of out" in said


def test_two_sources_in_one_repo_and_a_remote_are_read_then(tmp_path: Path, capsys: Capture, past: Past) -> None:
    """Neither is part of the other; what was not there yet is empty; of a remote, what was fetched is read."""
    repo = Repo(tmp_path / "all")
    write_org(repo.root / "org", positions=["director", "engineer"])
    (tmp_path / "all/memosite.yml").write_text(json.dumps({"sources": [{"path": "."}, {"path": "yard"}]}))
    first = repo.commit("org", at="2026-05-01T00:00:00Z")
    name = "2026-05-02-0900--director--engineer--first"
    write_memo(repo.root / "yard/memos/inbox", name, sender="director", to="engineer")
    second = repo.commit("memo", at="2026-05-02T12:00:00Z")
    assert Past(repo.root, capsys).unread(first) == []
    assert Past(repo.root, capsys).unread(second) == ["first"]
    told = json.loads(ask(capsys, repo.root, "show", name, "--json", "--as-of", second))
    assert told["files"] == [f"yard/memos/inbox/{name}.openthing"]
    sources = [{"path": "office"}, {"git": (past.folder / "yard").as_uri(), "name": "yard"}]
    past.configure(sources=sources)
    assert main(["build", str(past.folder), "--quiet"]) == 0
    merge = past.yard.git("rev-parse", "main~1")
    (past.folder / "yard").rename(tmp_path / "away")
    assert past.unread("2026-05-04") == ["first"]
    assert past.unread(merge) == ["first", "second", "side"]


def test_a_search_of_the_past_scans_what_the_index_of_now_lacks(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memo that is as it was then is found in the index; one of now alone is not found."""
    assert main(["search", "--index", "--quiet", "--site", str(past.folder)]) == 0
    scanned: list[str] = []
    find = Scan.find

    def noted(scan: Scan, queries: Sequence[QueryNode]) -> list[list[Place]]:
        scanned.extend(card.id.rpartition("--")[2] for card in scan.cards)
        return find(scan, queries)

    monkeypatch.setattr(Scan, "find", noted)
    put(past.yard, "2026-05-08-0900--director--engineer--last", at="2026-05-08T12:00:00Z")
    assert "3 results" in past.ask("search", "text", "--as-of", "2026-05-07", "--no-index")
    assert scanned == []
    repo = past.yard
    put(repo, "2026-05-05-0900--director--engineer--second", at="2026-05-09T12:00:00Z", body="another text")
    assert main(["search", "--index", "--quiet", "--site", str(past.folder)]) == 0
    assert "3 results" in past.ask("search", "text", "--as-of", "2026-05-07", "--no-index")
    assert scanned == ["second"]


def test_an_index_of_then_answers_alone(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search makes it where the archive of then is kept; it ranks results, too."""
    words = ("search", "text", "--as-of", "2026-05-04")
    assert "--as-of: no build has made a cache" in past.ask(*words, "--sort", "score", code=2)
    (past.folder / ".memosite").mkdir()
    shown = past.ask(*words)
    assert "1 result" in shown
    with monkeypatch.context() as patched:
        patched.setattr(ArchiveHandle, "recall", fail)
        assert past.ask(*words) == shown
        assert "1 result" in past.ask(*words, "--sort", "score")
    erase = [{"id": "2026-05-05-0900--director--engineer--second", "why": "asked", "on": "2026-05-20"}]
    past.configure(erase=erase)
    assert past.ask(*words) == shown
    assert "--as-of: something is erased" in past.ask(*words, "--index", code=2)
    assert not (past.folder / ".memosite/past/none").exists()


def test_much_is_indexed_after_the_answer(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a process of its own, of the same time and in the same cache."""
    (past.folder / ".memosite").mkdir()
    started: list[list[str]] = []
    monkeypatch.setattr("memosite.search.command.LITTLE", 0)
    monkeypatch.setattr("memosite.commands.search.start_detached", lambda words, **_: started.append(words))
    words = ("search", "text", "--as-of", "2026-05-04")
    shown = past.ask(*words)
    (detached,) = started
    assert main(detached) == 0
    past.capsys.readouterr()
    monkeypatch.setattr(ArchiveHandle, "recall", fail)
    assert past.ask(*words) == shown
    assert len(started) == 1


def fail(*_: object, **__: object) -> None:
    """What may not be called."""
    raise AssertionError


def test_the_past_of_the_example_has_its_decisions_of_then(tmp_path: Path, capsys: Capture) -> None:
    """By commits as by days; nothing is committed before it was written, a transcript before its last turn."""
    example = tmp_path / "example"
    subprocess.run([sys.executable, ROOT / "scripts/example-repos", example], check=True, timeout=600)
    june, april = "2026-03-06-cutover-in-june.md", "2026-03-27-cutover-last-weekend-of-april.md"
    for day, expected, other in (("2026-03-12", june, april), ("2026-03-27", april, june)):
        told = ask(capsys, example, "brief", "director", "--only", "decisions", "--json", "--as-of", day)
        found = [one["id"] for one in json.loads(told)["decisions"]]
        assert f"governance.decisions.{expected}" in found
        assert f"governance.decisions.{other}" not in found
        assert [id_ for id_ in found if any(day < written for written in re.findall(r"\d{4}-\d\d-\d\d", id_))] == []
    day_before, day = "2026-04-19", "2026-04-20"
    told = json.loads(ask(capsys, example, "show", "2026-04-08-0915", "--head", "--json", "--as-of", day_before))
    assert told["states"] == ["action answered"]
    steps = json.loads(ask(capsys, example, "diff", f"{day}..{day}", "--format", "json"))["actions"]
    assert [(one["before"], one["after"]) for one in steps if one["id"] == told["id"]] == [("answered", "discharged")]
    with open_archive(load_config(example)) as opened:
        artifacts = opened.read()[0].artifacts.values()
    early = []
    for artifact in artifacts:
        ends = (artifact.ended, artifact.last_turn) if isinstance(artifact, Transcript) else ()
        written = [one.instant for one in (artifact.date, *ends) if one]
        lives = [copy.life for copy in artifact.copies if copy.life]
        begun = [event.at.instant for life in lives for event in life.events[:1] if event.at]
        early += [artifact.ref] * (bool(written and begun) and min(begun) < max(written))
    assert len(artifacts) > 50 and early == []


def test_the_same_time_is_read_once(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked of it, texts among that; but for a commit that came since, nothing is read again.

    The three times that were asked for last are kept.
    """
    (past.folder / ".memosite").mkdir()
    for day in range(2, 7):
        past.unread(f"2026-05-0{day}")
    before = past.kept()
    assert len(before) == MOST == 3
    show = ("show", "2026-05-05-0900--director--engineer--second", "--as-of", "2026-05-06")
    shown = past.ask(*show)
    with monkeypatch.context() as patched:
        patched.setattr(ArchiveHandle, "read", fail)
        assert past.unread("2026-05-06") == ["first", "second", "side"]
        assert past.ask(*show) == shown
        write_memo(past.folder / "yard/memos/inbox", "2026-05-06-0900--director--engineer--laid", to="engineer")
        assert "3 results" in past.ask("search", "text", "--as-of", "2026-05-06")
    assert past.kept() == before
    put(past.yard, "2026-05-08-0900--director--engineer--last", at="2026-05-08T12:00:00Z")
    assert past.unread("2026-05-06") == ["first", "second", "side"]


def test_what_other_rules_let_through_or_no_history_has_is_removed(past: Past) -> None:
    """By the next command that reads what is there now; under the same rules it stays.

    Who rewrites a history takes something back.
    """
    (past.folder / ".memosite").mkdir()
    yard = past.yard
    secret = put(yard, "2026-05-08-0900--director--engineer--zqword", at="2026-05-08T12:00:00Z")
    assert "zqword" in past.unread(secret)
    for rules, is_kept in (({}, True), ({"secrets": {"mode": "redact"}}, False)):
        past.configure(**rules)
        past.ask("inbox", "engineer")
        assert bool(past.kept()) is past.holds("zqword") is is_kept
    assert "zqword" in past.unread(secret)
    assert past.holds("zqword")
    yard.git("reset", "--quiet", "--hard", "HEAD~1")
    past.ask("inbox", "engineer")
    assert not past.holds("zqword")


def test_nothing_is_kept_that_the_gate_does_not_let_through(past: Past) -> None:
    """A secret of then, and what is erased: a build removes what was kept before."""
    (past.folder / ".memosite").mkdir()
    key = "AKIA" + "Z7QH3XWMK2TPLV5D"
    name = "2026-05-07-0900--director--engineer--key"
    put(past.yard, name, at="2026-05-07T13:00:00Z", body=f"zqword {key}")
    assert "key" in past.unread("2026-05-08")
    assert past.kept() and not past.holds(key)
    erase = [{"id": "2026-05-05-0900--director--engineer--second", "why": "asked", "on": "2026-05-20"}]
    past.configure(erase=erase)
    assert past.holds("--second")
    main(["build", str(past.folder), "--quiet"])
    past.unread("2026-05-08")
    assert not past.holds("--second") and not past.kept()
