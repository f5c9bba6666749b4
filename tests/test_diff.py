"""What differs between two times of an archive: dates, refs, ledgers; as text, Markdown and JSON."""

import datetime as dt
import json
import os
import random
import shutil
from pathlib import Path

import pytest

from memosite.agents import estimate
from memosite.archive.model import Archive
from memosite.archive.snapshots import Difference, compare, days_of, may_differ, snapshot_at, snapshot_of
from memosite.cli import main
from memosite.commands.diff import diff, to_json, to_markdown, to_text
from memosite.config.loading import load_config
from memosite.facts.parsed import Ref
from memosite.reading.archive import open_archive
from tests.support.lives import NAME, commit_memo, put
from tests.support.random_organizations import REPOS, RandomOrganization
from tests.support.repos import BEGIN, Repo
from tests.support.sites import build_site

PAST = int(os.environ.get("MEMOSITE_PAST", "3"))
"""Of how many organizations what may differ is compared with what differs."""
REPLY = "2026-05-03-0900--director--engineer--gate-answered"
GONE = "2026-05-01-0200--engineer--director--removed"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A memo that asks, received on 1 May and read on the 2nd; an answer on the 3rd; a memo removed on the 4th."""
    repo = Repo(tmp_path / "site/engine")
    put(repo, action_required=True)
    commit_memo(repo, name=GONE, at=0)
    repo.git("tag", "first")
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    repo.commit(at=24)
    fields = {"from": "director", "to": "engineer", "sent": "2026-05-03T09:00:00Z", "in_reply_to": f"{NAME}.openthing"}
    commit_memo(repo, "memos", name=REPLY, subject="It *is* green [now]", **fields, at=48)
    repo.git("rm", "--quiet", f"memos/inbox/{GONE}.openthing")
    repo.commit(at=72)
    return repo


def told(found: Difference) -> dict[str, list[str]]:
    """A difference in a few words."""
    return {
        "new": [state.key[1] for state in found.new],
        "gone": [state.key[1] for state in found.gone],
        "moved": [f"{step.before} {step.after} {step.source} {step.state.key[1]}" for step in found.moved],
        "actions": [f"{step.before} {step.after} {step.state.key[1]}" for step in found.actions],
    }


def test_between_two_days_or_refs(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """From the beginning of the one to the end of the other; refs as the source was at each, whatever is in its tree.

    An open end is the beginning, before which is nothing, or now: the work tree as it is.
    """
    site = repo.root.parent
    moved = [f"inbox read engine {NAME}"]
    whole = {"new": [REPLY], "gone": [GONE], "moved": moved, "actions": [f"open answered {NAME}"]}
    assert told(diff("2026-05-02..2026-05-04", site=site)) == whole
    assert told(diff("2026-05-02..2026-05-02", site=site)) == {"new": [], "gone": [], "moved": moved, "actions": []}
    assert told(diff("first..main", site=site, source="engine")) == whole
    assert told(diff("first..", site=site)) == whole
    assert told(diff("..2026-05-01", site=site))["new"] == [NAME, GONE]
    (repo.root / "memos/archive").mkdir()
    (repo.root / f"memos/read/{NAME}.openthing").rename(repo.root / f"memos/archive/{NAME}.openthing")
    assert told(diff("2026-05-05..", site=site))["moved"] == [f"read archive engine {NAME}"]
    put(Repo(site / "office"))
    for words, said in (
        (["2026-05-04..2026-05-02"], "the second day before the first; expected 2026-05-02..2026-05-04"),
        (["first..main"], "name it with --source, one of engine, office"),
        (["first..main", "--source", "desk"], "found no such source, expected one of engine, office"),
        *(([one], "expected A..B") for one in ("", "..", "2026-05-01", "2026-05-01..main", "a..b..c")),
    ):
        assert main(["diff", *words, "--site", str(site)]) == 2
        assert said in capsys.readouterr().err
    assert main(["diff", "first..main", "--site", str(site), "--source", "engine"]) == 0
    assert capsys.readouterr().out.startswith("1 new")


def test_between_two_published_sites_and_in_each_form(repo: Repo, tmp_path: Path) -> None:
    """What others wrote is escaped; that a new memo was read and answered between the two times is no move."""
    repo.git("checkout", "--quiet", "first")
    old = build_site(repo.root.parent, output=tmp_path / "old")
    repo.git("checkout", "--quiet", "main")
    new = build_site(repo.root.parent, output=tmp_path / "new")
    found = told(diff(f"{old}..{new}", site=tmp_path))
    assert (found["new"], found["moved"]) == ([REPLY], [f"inbox read engine {NAME}"])
    assert found["actions"] == [f"open answered {NAME}"]
    ledgers = f"{old / 'archive/ledger.jsonl'}..{new / 'archive/ledger.jsonl'}"
    assert told(diff(ledgers, site=tmp_path)) == found
    site = repo.root.parent
    shown = diff("2026-05-02..2026-05-04", site=site)
    expected = ["1 new", f"  2026-05-03  director to engineer: It *is* green [now]  (memo/{REPLY})"]
    assert to_text(shown).splitlines()[:2] == expected
    assert "\n\n1 action\n" in to_text(shown)
    link = f"[It \\*is\\* green \\[now\\]](<memos/{REPLY}/>)"
    assert f"- 2026-05-03 director to engineer: {link}" in to_markdown(shown).splitlines()
    value = json.loads(to_json(shown))
    assert (value["v"], value["new"][0]["id"], value["moved"][0]["after"]) == (1, REPLY, "read")
    nothing = diff("2026-05-20..2026-05-21", site=site)
    assert (to_text(nothing), to_markdown(nothing), bool(nothing)) == ("no difference", "No difference.", False)
    shown = diff("2026-05-01..2026-05-03", site=site)
    (line,) = (line for line in to_text(shown).splitlines() if NAME in line)
    assert line.endswith(f"(memo/{NAME}; read in engine; action answered)")
    assert f"(<memos/{NAME}/>); read in engine; action answered\n" in to_markdown(shown)
    (new,) = (one for one in json.loads(to_json(shown))["new"] if one["id"] == NAME)
    assert (new["mailboxes"], new["action"]) == ({"engine": "read"}, "answered")
    assert not shown.moved
    assert not shown.actions
    evil = "\x1b]0;owned\x07\x9b31m\u202e"
    commit_memo(repo, name="2026-05-01-0300--a--b--evil", subject=evil, **{"from": f"a{evil}", "to": f"b{evil}"}, at=96)
    shown = diff("2026-05-02..", site=site)
    for text in (to_text(shown), to_markdown(shown), to_json(shown)):
        assert "owned" in text
        assert all(char.isprintable() or char == "\n" for char in text)


def test_a_budget_shows_the_newest_of_each_list(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not shown is counted, with the command for all of it; too little room for that is an error."""
    for number in range(40):
        name = f"2026-05-05-{1000 + number}--director--engineer--n{number}"
        put(repo, "memos", name=name, subject=f"Number {number}")
    repo.commit(at=96)
    words = ["diff", "2026-05-02..", "--site", str(repo.root.parent)]
    assert main(words) == 0
    whole = capsys.readouterr().out.rstrip("\n")
    for budget in (90, 200, 500, 1_000):
        assert main([*words, "--budget", str(budget)]) == 0
        text = capsys.readouterr().out
        assert estimate(text) <= budget
        shown = [line for line in text.partition("\n\n")[0].splitlines()[1:] if "earlier" not in line]
        assert shown == whole.partition("\n\n")[0].splitlines()[1:][41 - len(shown) :]
        assert f"41 new\n  [{41 - len(shown)} earlier not shown]" in text
        assert "1 removed" in text
        assert "all of it: memosite diff 2026-05-02.. --budget 0" in text
    words[1] = "2026-05-05.."
    assert main([*words, "--budget", "50"]) == 0
    told = capsys.readouterr().out
    assert "40 new\n  [40 earlier not shown]" in told
    least = told.partition("some of each from --budget ")[2].split()[0]
    assert main([*words, "--budget", least]) == 0
    assert "40 new\n  [39 earlier not shown]" in capsys.readouterr().out
    words[1] = "2026-05-02.."
    assert main([*words, "--budget", "9000"]) == 0
    assert capsys.readouterr().out.startswith(whole)
    for wrong, said in (("9", "the shortest answer has"), ("-1", "--budget must be 0 (for everything) or more")):
        assert main([*words, "--budget", wrong]) == 2
        assert said in capsys.readouterr().err
    assert main([*words, "--budget", "900", "--format", "json"]) == 2
    assert "expected text" in capsys.readouterr().err


def test_what_is_confidential_at_one_end_is_at_neither_for_the_public(tmp_path: Path) -> None:
    """Whoever is not inside is not told that a memo was marked or unmarked, nor its id and subject."""
    for is_first in (True, False):
        repo = Repo(tmp_path / str(is_first) / "engine")
        marks = [{"x.legal.confidentiality": "privileged"}, {}]
        put(repo, name=REPLY)
        commit_memo(repo, **marks[not is_first], at=0)
        repo.git("tag", "first")
        commit_memo(repo, **marks[is_first], at=24)
        site = repo.root.parent
        told_public = [told(diff(between, site=site, audience="public")) for between in ("first..main", "first..")]
        assert told_public == [{"new": [], "gone": [], "moved": [], "actions": []}] * 2
        assert not diff("first..main", site=site, audience="internal")


@pytest.mark.parametrize("seed", range(PAST))
def test_what_may_differ_is_all_that_differs(tmp_path: Path, seed: int) -> None:
    """The same as of the whole archive: uncommitted moves, a repo without history, no dates, any order."""
    chance = random.Random(seed)
    organization = RandomOrganization(tmp_path / "site", seed)
    for name in REPOS:
        memos = sorted((organization.folder / name / "memos").glob("*/*.openthing"))
        for memo in chance.sample(memos, min(3, len(memos))):
            box = memo.parent.parent / chance.choice(("inbox", "read", "archive"))
            box.mkdir(exist_ok=True)
            memo.rename(box / memo.name)
        for memo in chance.sample(memos, min(4, len(memos))):
            if memo.is_file():
                on = chance.choice(("2026-05-03", "soon", ""))
                fields = json.loads(memo.read_text()) | {"metadata": {"discharged": {"on": on}}}
                memo.write_text(json.dumps(fields | {"action_required": True}))
        (organization.folder / name / "decisions").mkdir(exist_ok=True)
        (organization.folder / name / "decisions/0009-undated.md").write_text("# Undated\n\nStatus: accepted\n")
    if seed % 2:
        shutil.rmtree(organization.folder / "desk/.git")
    with open_archive(load_config(organization.folder)) as handle:
        archive = handle.recall()
        days = handle.days()
        assert days == days_of(archive)
        ends = [None, *(dt.datetime.fromtimestamp(BEGIN + 3600 * hours, dt.UTC) for hours in range(-24, 200, 13))]
        sizes = []
        for one in ends:
            for other in ends:
                found = may_differ(archive, days, one, other)
                assert _between(archive, one, other, found) == _between(archive, one, other)
                sizes.append(len(found))
        assert min(sizes) < len(archive.artifacts) / 3


def _between(
    archive: Archive, one: dt.datetime | None, other: dt.datetime | None, refs: set[Ref] | None = None
) -> Difference:
    before = snapshot_at(archive, one, refs) if one else {}
    return compare(before, snapshot_at(archive, other, refs) if other else snapshot_of(archive, refs))
