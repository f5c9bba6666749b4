"""What merges bring is told by its own commits: repos of each shape, against a naive reader (SPEC 2.3, Merges)."""

import os
import random
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import pytest
from lxml import html

from memosite.archive.history import HistoryCommit, LifeEvent
from memosite.facts.values import replace
from memosite.reading.screen import Screen
from memosite.sources.folder import repo_at
from memosite.sources.git import Repo as FoundRepo
from memosite.sources.history import KnownHistory, read_history
from memosite.store.state import COMMITS, EVENTS, LINES, OWNER, TREE, State
from tests.support.lives import KEY, NAME, archive_of, commit_memo, history_of, life, put, rewrite
from tests.support.naive_history import NaiveReader
from tests.support.pages import found
from tests.support.random_histories import random_repo
from tests.support.repos import Repo, run_git
from tests.support.sites import build_site, tree_bytes

FILE = f"memos/inbox/{NAME}.openthing"
READ = f"memos/read/{NAME}.openthing"
LONG = "\n".join(f"Line {number} of the gate's long story." for number in range(40))

HISTORIES = int(os.environ.get("MEMOSITE_HISTORIES", "12"))
"""How many random histories two readers have to agree on."""

Told = dict[str, list[tuple[str, ...]]]


def begun(folder: Path, *, with_memo: bool = False, on: str = "main") -> Repo:
    """A repo with a first commit on main, and the memo in it if it is asked for; or on a branch that begins there."""
    repo = Repo(folder)
    repo.write("README.md", "engine")
    repo.write("memos/inbox/README.md", "put memos here")
    if with_memo:
        put(repo, body=LONG)
    repo.commit("begin", who="Ann")
    if on != "main":
        branch(repo, on)
    return repo


def branch(repo: Repo, name: str, start: str = "HEAD") -> None:
    """Begin a branch, and go to it."""
    repo.git("checkout", "--quiet", "-b", name, start)


def merge(repo: Repo, *others: str, into: str = "main", options: tuple[str, ...] = ("--no-ff",)) -> str:
    """Merge branches into one, as Mia, and give the merge's id."""
    if repo.git("branch", "--show-current") != into:
        repo.git("checkout", "--quiet", into)
    repo.hours += 1
    repo.git("merge", "--quiet", "--no-edit", *options, *others, who="Mia")
    return repo.head


def settle(repo: Repo, *others: str, write: Callable[[], object]) -> str:
    """Merge branches that clash, as Mia, with what is written as the outcome."""
    repo.git("checkout", "--quiet", "main")
    repo.git("read-tree", "-m", "HEAD")
    write()
    repo.git("add", "--all")
    repo.hours += 1
    parents = [part for other in ("HEAD", *others) for part in ("-p", other)]
    made = repo.git("commit-tree", repo.git("write-tree"), *parents, "-m", "merge", who="Mia")
    repo.git("reset", "--quiet", "--hard", made)
    return made


def move(repo: Repo, who: str) -> str:
    """Mark the memo as read."""
    repo.move(FILE, READ)
    return repo.commit("read", who=who)


def told(events: Mapping[str, tuple[LifeEvent, ...]]) -> Told:
    """Events in the naive reader's form. What a file holds is no part of a move."""
    return {key: [_told(event) for event in life] for key, life in events.items() if not key.endswith("/")}


def _told(event: LifeEvent) -> tuple[str, ...]:
    blobs = _blobs(event.kind, event.before, event.after)
    return (event.kind, event.who, event.commit, event.path, *blobs, event.merge)


def naively(repo: Repo) -> Told:
    """What the naive reader tells."""
    return {
        key: [(kind, who, commit, path, *_blobs(kind, old, new), by) for kind, who, commit, path, old, new, by in life]
        for key, life in NaiveReader(repo).lives().items()
    }


def _blobs(kind: str, before: str, after: str) -> tuple[str, str]:
    return ("", "") if kind == "moved" else (before, after)


def contents(events: Iterable[LifeEvent]) -> list[LifeEvent]:
    """The steps of a history that gave the file a content: neither moves nor removals."""
    return [event for event in events if event.kind in {"received", "edited", "restored"}]


def assert_agrees(repo: Repo) -> None:
    """Both readers tell the same, and what is told leads to what is there."""
    history = history_of(repo)
    assert told(history.events) == naively(repo)
    for key, events in history.events.items():
        here = {path: blob for path, blob in (history.tree or {}).items() if path == events[-1].path}
        assert bool(here) == (events[-1].kind != "removed"), key
        if here:
            assert contents(events)[-1].after == here[events[-1].path], key


def test_what_a_branch_did_is_told_by_its_commits(tmp_path: Path) -> None:
    """Received on one day, edited on another, merged on a third; what was removed again had a life, and it ended."""
    repo = begun(tmp_path / "engine", on="side")
    received = commit_memo(repo, who="Bo")
    edited = commit_memo(repo, body="It is red.", who="Cy")
    move(repo, "Di")
    brought = merge(repo, "side")
    assert life(repo) == ["received inbox by Bo", "edited inbox by Cy", "moved read by Di"]
    events = history_of(repo).events[KEY]
    assert [one.commit for one in events[:2]] == [received, edited]
    assert {one.merge for one in events} == {brought}
    assert [one.at.utc[11:16] for one in events if one.at] == ["03:46", "04:46", "05:46"]
    assert_agrees(repo)
    repo = begun(tmp_path / "back", on="side")
    commit_memo(repo, who="Bo")
    repo.git("rm", "--quiet", FILE)
    repo.commit(who="Cy")
    merge(repo, "side")
    assert life(repo) == ["received inbox by Bo", "removed inbox by Cy"]
    assert_agrees(repo)


@pytest.mark.parametrize("seed", range(4))
def test_a_merge_without_need_tells_what_a_fast_forward_tells(tmp_path: Path, seed: int) -> None:
    """The same work, even what it took back itself; only the merge is named beside it."""
    repo = begun(tmp_path / "engine", with_memo=True, on="side")
    chance = random.Random(seed)
    for _ in range(6):
        step = chance.choice(("edit", "move", "remove"))
        lying = next((path for path in (FILE, READ) if (repo.root / path).exists()), None)
        if step == "remove" and lying:
            repo.git("rm", "--quiet", lying)
        elif step == "move" and lying == FILE:
            repo.move(FILE, READ)
        else:
            put(repo, f"memos/{'read' if lying == READ else 'inbox'}", body=f"{chance.random()}")
        repo.commit(who=chance.choice(("Ann", "Bo")))
    repo.git("checkout", "--quiet", "main")
    repo.git("branch", "straight", "side")
    merge(repo, "side")
    merged = told(history_of(repo).events)
    repo.git("checkout", "--quiet", "straight")
    straight = told(history_of(repo).events)
    assert {key: [one[:-1] for one in events] for key, events in merged.items()} == {
        key: [one[:-1] for one in events] for key, events in straight.items()
    }
    assert {event[-1] for events in straight.values() for event in events} == {""}


def test_a_squash_is_one_commit_and_a_rebase_tells_of_the_new_ones_only(tmp_path: Path) -> None:
    """What is squashed and comes later adds nothing but what is new; a rebase counts also when merged with --no-ff."""
    repo = begun(tmp_path / "engine", on="side")
    commit_memo(repo, who="Bo")
    commit_memo(repo, body="It is red.", who="Bo")
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--squash", "side")
    repo.commit(who="Mia")
    assert life(repo) == ["received inbox by Mia"]
    repo.git("checkout", "--quiet", "side")
    move(repo, "Cy")
    merge(repo, "side")
    assert life(repo) == ["received inbox by Mia", "moved read by Cy"]
    assert_agrees(repo)
    repo = begun(tmp_path / "rebased", on="side")
    commit_memo(repo, who="Bo")
    commit_memo(repo, body="It is red.", who="Bo")
    repo.git("checkout", "--quiet", "main")
    repo.write("README.md", "engine, again")
    repo.commit(who="Ann")
    repo.git("checkout", "--quiet", "side")
    repo.git("rebase", "--quiet", "main")
    merge(repo, "side")
    assert life(repo) == ["received inbox by Bo", "edited inbox by Bo"]
    assert_agrees(repo)


def test_an_octopus_and_a_criss_cross_tell_each_commit_once(tmp_path: Path) -> None:
    """Three branches, each with a memo, one of which moves that of main; two that merge each other, go on, and meet."""
    repo = begun(tmp_path / "engine", with_memo=True)
    for who in ("Bo", "Cy"):
        branch(repo, who, "main")
        commit_memo(repo, name=f"{NAME}-{who}", who=who)
        commit_memo(repo, name=f"{NAME}-{who}", body="Edited.", who=who)
    branch(repo, "Di", "main")
    move(repo, "Di")
    brought = merge(repo, "Bo", "Cy", "Di")
    assert len(repo.git("rev-list", "--parents", "-1", brought).split()) == 5
    assert life(repo) == ["received inbox by Ann", "moved read by Di"]
    for who in ("Bo", "Cy"):
        key = f"memos/{NAME}-{who}.openthing"
        assert life(repo, key) == [f"received inbox by {who}", f"edited inbox by {who}"]
    assert_agrees(repo)
    repo = begun(tmp_path / "crossed", with_memo=True, on="side")
    commit_memo(repo, name=f"{NAME}-two", who="Bo")
    one = repo.head
    commit_memo(repo, on="main", body=LONG.replace("Line 3 ", "Row 3 "), who="Ann")
    two = repo.head
    merge(repo, one)
    merge(repo, two, into="side")
    commit_memo(repo, name=f"{NAME}-two", body="Edited.", who="Cy")
    repo.git("checkout", "--quiet", "main")
    move(repo, "Di")
    merge(repo, "side")
    assert life(repo) == ["received inbox by Ann", "edited inbox by Ann", "moved read by Di"]
    assert life(repo, f"memos/{NAME}-two.openthing") == ["received inbox by Bo", "edited inbox by Cy"]
    assert_agrees(repo)


def test_branches_that_are_brought_up_to_date_or_merged_into_branches_are_told_once(tmp_path: Path) -> None:
    """By who made each commit; of a branch that was merged into a branch, the merge into main is named."""
    repo = begun(tmp_path / "engine", on="side")
    commit_memo(repo, name=f"{NAME}-two", who="Bo")
    commit_memo(repo, on="main", who="Ann")
    move(repo, "Cy")
    merge(repo, "main", into="side")
    merge(repo, "side")
    assert life(repo) == ["received inbox by Ann", "moved read by Cy"]
    assert life(repo, f"memos/{NAME}-two.openthing") == ["received inbox by Bo"]
    assert {event.merge for event in history_of(repo).events[KEY]} == {""}
    assert_agrees(repo)
    repo = begun(tmp_path / "nested")
    branch(repo, "outer")
    commit_memo(repo, who="Bo")
    branch(repo, "inner")
    commit_memo(repo, body="It is red.", who="Cy")
    merge(repo, "inner", into="outer")
    brought = merge(repo, "outer")
    events = history_of(repo).events[KEY]
    expected = [("received", "Bo", brought), ("edited", "Cy", brought)]
    assert [(one.kind, one.who, one.merge) for one in events] == expected
    assert_agrees(repo)


def test_what_a_merge_changed_itself_is_its_own_and_so_are_reverts(tmp_path: Path) -> None:
    """It edited what the branch brought, added a memo, lost one of main; what a branch brought goes, and comes back."""
    repo = begun(tmp_path / "engine", with_memo=True, on="side")
    commit_memo(repo, name=f"{NAME}-two", who="Bo")
    theirs = repo.git("rev-parse", f"HEAD:memos/inbox/{NAME}-two.openthing")

    def meddle() -> None:
        put(repo, name=f"{NAME}-two", body="Slipped in.")
        put(repo, name=f"{NAME}-three")
        (repo.root / FILE).unlink()

    made = settle(repo, "side", write=meddle)
    two = history_of(repo).events[f"memos/{NAME}-two.openthing"]
    assert [(one.kind, one.who, one.merge) for one in two] == [("received", "Bo", made), ("edited", "Mia", "")]
    assert two[1].before == theirs
    assert life(repo, f"memos/{NAME}-three.openthing") == ["received inbox by Mia"]
    assert life(repo) == ["received inbox by Ann", "removed inbox by Mia"]
    assert_agrees(repo)
    repo = begun(tmp_path / "reverted", on="side")
    commit_memo(repo, who="Bo")
    commit_memo(repo, body="It is red.", who="Bo")
    merge(repo, "side")
    repo.git("revert", "--no-edit", "-m", "1", "HEAD", who="Cy", at=9)
    assert life(repo) == ["received inbox by Bo", "edited inbox by Bo", "removed inbox by Cy"]
    repo.git("revert", "--no-edit", "HEAD", who="Di", at=10)
    assert life(repo)[2:] == ["removed inbox by Cy", "restored inbox by Di"]
    assert_agrees(repo)


def test_what_two_sides_did_to_one_memo_is_told_as_the_merge_settled_it(tmp_path: Path) -> None:
    """It has a step of its own only if it made a content that neither side has; what it refused is not told."""
    theirs, own = "edited inbox by Bo", "edited inbox by Mia"
    for body, steps in (("It is blue.", []), ("It is red.", [theirs]), ("It is red and blue.", [theirs, own])):
        repo = begun(tmp_path / "edited" / body, with_memo=True, on="side")
        commit_memo(repo, body="It is red.", who="Bo")
        commit_memo(repo, on="main", body="It is blue.", who="Cy")
        settle(repo, "side", write=partial(put, repo, body=body))
        assert life(repo) == ["received inbox by Ann", "edited inbox by Cy", *steps]
        assert_agrees(repo)
    for body, steps in (("Yes.", []), ("No.", [theirs])):
        repo = begun(tmp_path / "received" / body, on="side")
        commit_memo(repo, body=body, who="Bo")
        commit_memo(repo, on="main", body="Yes.", who="Cy")
        settle(repo, "side", write=partial(put, repo, body=body))
        assert life(repo) == ["received inbox by Cy", *steps]
        assert_agrees(repo)
    for is_kept in (True, False):
        repo = begun(tmp_path / "removed" / str(is_kept), with_memo=True, on="side")
        commit_memo(repo, body="It is red.", who="Bo")
        repo.git("checkout", "--quiet", "main")
        repo.git("rm", "--quiet", FILE)
        repo.commit(who="Cy")
        settle(repo, "side", write=partial(put, repo, body="It is red.") if is_kept else lambda: None)
        ends = ["edited inbox by Bo", "restored inbox by Mia"] if is_kept else []
        assert life(repo) == ["received inbox by Ann", "removed inbox by Cy", *ends]
        assert_agrees(repo)


def test_edits_and_moves_that_git_joins_are_told_on_both_sides(tmp_path: Path) -> None:
    """With what each changed, and the merge with the content that only it has; of a move and an edit it did nothing."""
    repo = Repo(tmp_path / "engine")
    repo.write("memory/list.md", LONG)
    repo.commit(who="Ann")
    branch(repo, "side")
    repo.write("memory/list.md", LONG.replace("Line 2 ", "Row 2 "))
    repo.commit(who="Bo")
    repo.git("checkout", "--quiet", "main")
    repo.write("memory/list.md", LONG.replace("Line 30 ", "Row 30 "))
    repo.commit(who="Cy")
    merge(repo, "side")
    versions = contents(history_of(repo).events["memory/list.md"])
    assert [one.who for one in versions] == ["Ann", "Cy", "Bo", "Mia"]
    texts = [repo.git("cat-file", "blob", one.after) for one in versions]
    is_in = [(False, False), (False, True), (True, False), (True, True)]
    assert [("Row 2 " in text, "Row 30 " in text) for text in texts] == is_in
    assert_agrees(repo)
    repo = begun(tmp_path / "moved", with_memo=True, on="side")
    commit_memo(repo, body=LONG.replace("Line 2 ", "Row 2 "), who="Bo")
    repo.git("checkout", "--quiet", "main")
    move(repo, "Cy")
    merge(repo, "side")
    assert life(repo) == ["received inbox by Ann", "moved read by Cy", "edited read by Bo"]
    repo.git("checkout", "--quiet", "-B", "other", "main~1")
    merge(repo, "side", into="other")
    assert_agrees(repo)


def test_a_branch_that_is_older_than_what_main_did_since(tmp_path: Path) -> None:
    """Its edit stands before that of main in time, and after it in the history of main; each has its own date."""
    repo = begun(tmp_path / "engine", with_memo=True, on="side")
    commit_memo(repo, name=f"{NAME}-two", who="Bo", at=1)
    repo.git("checkout", "--quiet", "main")
    for number in range(3):
        commit_memo(repo, body=f"{number}", who="Cy", at=10 + number)
    repo.hours = 20
    merge(repo, "side")
    assert life(repo) == ["received inbox by Ann", *["edited inbox by Cy"] * 3]
    (event,) = history_of(repo).events[f"memos/{NAME}-two.openthing"]
    assert event.at is not None and event.at.utc == "2026-05-01T02:46:40Z"
    assert_agrees(repo)


def test_a_store_that_was_a_repo_or_that_a_branch_moved_takes_its_history_along(tmp_path: Path) -> None:
    """Unrelated histories are joined; a store that was edited where the branch had moved it is told as on one line."""
    repo = begun(tmp_path / "engine")
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.git("rm", "--quiet", "-r", "--force", ".")
    commit_memo(repo, who="Bo")
    move(repo, "Cy")
    brought = merge(repo, "other", options=("--allow-unrelated-histories",))
    assert life(repo) == ["received inbox by Bo", "moved read by Cy"]
    assert {event.merge for event in history_of(repo).events[KEY]} == {brought}
    assert_agrees(repo)
    repo = begun(tmp_path / "moved", with_memo=True, on="side")
    (repo.root / "office").mkdir()
    repo.git("mv", "memos", "office/memos")
    repo.commit(who="Bo")
    commit_memo(repo, "office/memos/inbox", body="It is red.", who="Cy")
    merge(repo, "side")
    assert life(repo, f"office/{KEY}") == ["received inbox by Ann", "moved inbox by Bo", "edited inbox by Cy"]
    assert life(repo) == []
    assert_agrees(repo)


def test_a_chain_as_long_as_the_history_is_read_and_a_circle_is_none(tmp_path: Path) -> None:
    """Nothing recurses, and git believes its commit-graph, in which ids, that forbid circles, may be anybody's."""
    last, lines = 1200, []  # more than Python recurses
    for number in range(1, 2 * last):
        is_merge = number > last
        parents = [2 * last - number, number - 1] if is_merge else [number - 1] * (number > 1)
        who = "Mia" if is_merge else "Bo"
        lines += ["commit refs/heads/main", f"mark :{number}", f"committer {who} <m@example.org> 1777600000 +0000"]
        lines += ["data 0", *(f"{word} :{one}" for word, one in zip(("from", "merge"), parents, strict=False))]
        lines += [f"M 100644 inline memos/inbox/{last if is_merge else number}.openthing", "data 2", "{}", ""]
    repo = Repo(tmp_path / "engine")
    repo.git("fast-import", "--quiet", "--done", given="\n".join([*lines, "done", ""]))
    events = history_of(repo).events
    expected = {"memos/1.openthing": ["Bo"], f"memos/{last}.openthing": ["Bo"]}
    assert {key: [one.who for one in found] for key, found in events.items()} == expected
    repo = begun(tmp_path / "circle", with_memo=True)
    first = repo.head
    move(repo, "Bo")
    repo.git("commit-graph", "write", "--reachable")
    graph = repo.root / ".git/objects/info/commit-graph"
    data = bytearray(graph.read_bytes())
    chunks = {bytes(data[at : at + 4]): int.from_bytes(data[at + 4 : at + 12]) for at in range(8, 8 + 12 * data[6], 12)}
    ids = sorted((first, repo.head))
    parent = chunks[b"CDAT"] + 36 * ids.index(first) + 20
    data[parent : parent + 4] = ids.index(repo.head).to_bytes(4)
    graph.chmod(0o644)
    graph.write_bytes(data)
    history = history_of(repo)
    assert (history.events, history.why_not) == ({}, "git cannot read it: its commits do not lead back to a first one")


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_two_readers_agree_on_random_histories(tmp_path: Path, seed: int) -> None:
    """Branches of branches, octopuses, criss-crosses, clashes, unrelated histories and meddling merges; or no merge."""
    assert_agrees(random_repo(tmp_path / "repo", seed, commits=18))
    if seed % 3 == 0:
        repo = random_repo(tmp_path / "straight", seed // 3, commits=12, merges=0)
        assert not repo.git("rev-list", "--merges", "HEAD")
        assert_agrees(repo)


@pytest.mark.parametrize("seed", range(100, 100 + HISTORIES // 3))
def test_what_was_read_before_changes_nothing(tmp_path: Path, seed: int) -> None:
    """However HEAD went through the commits: with a cache on disk, and in a process that stays."""
    repo = random_repo(tmp_path / "repo", seed, commits=16)
    commits = repo.git("rev-list", "--reverse", "--topo-order", "--all").split()
    random.Random(seed).shuffle(commits)
    on_disk, staying = tmp_path / "cache", KnownHistory()
    for commit in [*sorted(commits[:6], key=lambda one: repo.git("rev-list", "--count", one)), *commits[6:9]]:
        repo.git("update-ref", "--no-deref", "HEAD", commit)
        fresh = history_of(repo)
        assert history_of(repo, cache=on_disk) == fresh
        opened = repo_at(repo.root)
        assert isinstance(opened, FoundRepo)
        assert read_history(opened, Screen().names, known=staying) == fresh


def test_of_a_repo_with_merges_only_new_commits_are_read_again(tmp_path: Path) -> None:
    """A merge may bring what is older; without merges no commits are kept: what happened to files is enough."""
    repo, cache = begun(tmp_path / "engine", with_memo=True), tmp_path / "cache"
    history_of(repo, cache=cache)
    with State(cache) as state:
        assert state[EVENTS].count() and not state[COMMITS].count()
    branch(repo, "side")
    move(repo, "Bo")
    merge(repo, "side")
    assert history_of(repo, cache=cache) == history_of(repo)
    with State(cache) as state:
        assert state[COMMITS].count() == int(repo.git("rev-list", "--count", "HEAD"))
    repo, cache = begun(tmp_path / "merged", with_memo=True), tmp_path / "merged-cache"
    branch(repo, "one")
    commit_memo(repo, name=f"{NAME}-one", who="Bo")
    branch(repo, "two", "main")
    commit_memo(repo, body="It is red.", who="Cy")
    merge(repo, "one")
    history_of(repo, cache=cache)
    rewrite(cache, COMMITS, of_the_cache)
    merge(repo, "two")
    assert life(repo, cache=cache) == ["received inbox by Ann of the cache", "edited inbox by Cy"]


def of_the_cache(commit: HistoryCommit) -> HistoryCommit:
    """A kept commit by somebody else."""
    return replace(commit, author=f"{commit.author} of the cache")


def test_what_another_version_made_of_the_commits_is_not_used(tmp_path: Path) -> None:
    """It may have told what merges brought in another way."""
    repo, cache = begun(tmp_path / "engine", with_memo=True), tmp_path / "cache"
    branch(repo, "side")
    move(repo, "Bo")
    merge(repo, "side")
    fresh = history_of(repo, cache=cache)
    rewrite(cache, COMMITS, of_the_cache)
    rewrite(cache, EVENTS, lambda _: ())
    with State(cache) as state, state.writing():
        other = replace(COMMITS, version=COMMITS.version - 1)
        for table in (LINES, EVENTS, TREE, COMMITS):
            made_by = state.signed(OWNER, (table.name,), replace(table, version=other.version).made_by.encode())
            state.change("UPDATE owner SET value = ? WHERE of = ?", [(made_by, table.name)])
    assert history_of(repo, cache=cache) == fresh


def test_pages_show_the_edits_of_a_branch_and_of_an_evil_merge(tmp_path: Path) -> None:
    """The history of the memo, and its page of changes with the former contents."""
    repo = begun(tmp_path / "engine", on="side")
    commit_memo(repo, who="Bo")
    commit_memo(repo, body="It is red.", who="Cy")
    move(repo, "Di")
    settle(repo, "side", write=lambda: put(repo, "memos/read", body="It is black."))
    page = html.parse(build_site(tmp_path) / f"memos/{NAME}/index.html")
    steps = [" ".join(step.split()) for step in found(page, "//ol[@class='life']/li/span[@class='step']/text()")]
    assert steps == ["sent", "received", "edited after receipt", "read", "edited after receipt"]
    people = ["".join(one.itertext()).split(" by ")[-1].split()[0] for one in page.iterfind(".//ol[@class='life']/li")]
    assert people == ["engineer", "Bo", "Cy", "Di", "Mia"]
    changes = (tmp_path / f"_site/memos/{NAME}/changes/index.html").read_text()
    assert [f">{word}<" in changes for word in ("green", "red", "black")] == [True] * 3


def test_a_build_after_a_merge_makes_the_pages_that_a_first_build_makes(tmp_path: Path) -> None:
    """What was received, and what was removed again, on a branch that left main before the last build."""
    site = tmp_path / "site"
    repo = begun(site / "engine", with_memo=True)
    gone = put(repo, name=f"{NAME}-gone")
    repo.commit(who="Ann")
    branch(repo, "side")
    commit_memo(repo, name=f"{NAME}-two", who="Bo")
    put(repo, name=f"{NAME}-two", body="It is red.")
    repo.git("rm", "--quiet", gone)
    repo.commit(who="Cy")
    repo.git("checkout", "--quiet", "main")
    move(repo, "Di")
    again = build_site(site, "--cache", tmp_path / "cache", output=tmp_path / "again")
    merge(repo, "side")
    build_site(site, "--cache", tmp_path / "cache", output=again)
    anew = build_site(site, "--cache", tmp_path / "other", output=tmp_path / "anew")
    pages = tree_bytes(again / "memos")
    twins = {f"{NAME}-gone/index.json", f"{NAME}-gone/index.md"}  # of what was published before it was removed
    assert twins <= pages.keys()
    assert {path: data for path, data in pages.items() if path not in twins} == tree_bytes(anew / "memos")
    assert {f"{NAME}-two/changes/index.html", f"{NAME}-gone/index.html"} <= pages.keys()
    assert b"by Cy" in pages[f"{NAME}-gone/index.html"]


def test_bare_repos_and_refs_have_the_same_history(tmp_path: Path) -> None:
    """Of a ref, that of what it leads to."""
    repo = begun(tmp_path / "engine", on="side")
    commit_memo(repo, who="Bo")
    merge(repo, "side")
    repo.git("checkout", "--quiet", "-b", "later")
    move(repo, "Cy")
    repo.git("checkout", "--quiet", "main")
    run_git(tmp_path, "clone", "--quiet", "--bare", str(repo.root), str(tmp_path / "bare.git"))
    bare = Repo(tmp_path / "bare.git", is_new=False)
    assert history_of(bare) == history_of(repo)
    opened = repo_at(bare.root)
    assert isinstance(opened, FoundRepo)
    events = read_history(opened, Screen().names, commit="later").events[KEY]
    steps = [("received", "Bo", True), ("moved", "Cy", False)]
    assert [(one.kind, one.who, bool(one.merge)) for one in events] == steps


def test_the_address_on_a_forge_is_one_where_the_file_is(tmp_path: Path) -> None:
    """A branch edited the memo where it was before main moved it: only the merge has it as it is."""
    repo = begun(tmp_path / "engine", with_memo=True)
    repo.git("remote", "add", "origin", "https://github.com/example/engine.git")
    branch(repo, "side")
    commit_memo(repo, body=LONG.replace("Line 2 ", "Row 2 "), who="Bo")
    repo.git("checkout", "--quiet", "main")
    move(repo, "Cy")
    brought = merge(repo, "side")
    memo = archive_of(repo).artifacts["memo", NAME]
    (copy,) = memo.copies
    assert copy.life is not None and copy.life.events[-1].arrival == brought
    page = (build_site(tmp_path) / f"memos/{NAME}/index.html").read_text()
    assert f"/blob/{brought}/{READ}" in page
