"""The life of files: what the history of real repos, made on the fly, tells of memos (SPEC 2.3)."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memosite.archive.history import file_key
from memosite.archive.model import Archive, Life, Memo
from memosite.cli import main
from memosite.facts.file import File
from memosite.facts.parsed import FileFacts
from memosite.facts.values import replace
from memosite.reading.screen import Screen
from memosite.resolve.lives import Lives
from memosite.run import processes
from memosite.sources.folder import holding_repo, repo_at
from memosite.sources.git import Repo as FoundRepo
from memosite.sources.history import KnownHistory, read_history
from memosite.sources.objects import find_commits
from memosite.store.state import COMMITS, EVENTS, FILE, LINES, TREE, State, Table
from tests.support.lives import KEY, NAME, archive_of, commit_memo, history_of, life, put, rewrite, words
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import build_site, built_from_nothing, tree_bytes

INBOX, READ, ARCHIVE = (f"memos/{mailbox}/{NAME}.openthing" for mailbox in ("inbox", "read", "archive"))


def memo(archive: Archive, name: str = NAME) -> Memo:
    """A memo of the archive."""
    found = archive.artifacts["memo", name]
    assert isinstance(found, Memo)
    return found


def life_in(archive: Archive) -> Life:
    """The life of the one copy of the memo."""
    (copy,) = memo(archive).copies
    assert copy.life is not None
    return copy.life


@pytest.fixture
def engine(tmp_path: Path) -> Repo:
    """An empty repo."""
    return Repo(tmp_path / "engine")


@pytest.fixture
def received(engine: Repo) -> Repo:
    """A repo into whose inbox Ann has committed the memo."""
    commit_memo(engine, who="Ann")
    return engine


def by(who: str) -> Callable[[Any], Any]:
    """Let kept events be somebody else's."""
    return lambda events: tuple(replace(event, who=who) for event in events)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where a build keeps what it has read."""
    return tmp_path / "cache"


def test_a_memo_is_received_read_and_archived(received: Repo) -> None:
    """Each commit that adds or moves it is a step; that it was not edited is told without reading it."""

    def never(_file: FileFacts) -> bytes:
        raise AssertionError

    file = File(source="engine", path=INBOX, data=(received.root / INBOX).read_bytes()).facts
    found = Lives({"engine": history_of(received)}, never).of(file)
    assert found is not None
    assert found.state == "committed"
    received.move(INBOX, READ)
    received.commit("read", who="Bo")
    received.move(READ, ARCHIVE)
    last = received.commit("archive", who="Cy")
    assert life(received) == ["received inbox by Ann", "moved read by Bo", "moved archive by Cy"]
    event = history_of(received).events[KEY][-1]
    assert event.commit == last
    assert event.at is not None and event.at.utc == "2026-05-01T04:46:40Z"


def test_what_is_taken_back_is_a_step_like_any_other(received: Repo) -> None:
    """Marking as read is reverted; a removed file that comes back is restored, and counts as received once."""
    received.move(INBOX, READ)
    received.commit()
    received.git("revert", "--no-edit", "HEAD", who="Bo", at=9)
    received.git("rm", "--quiet", INBOX)
    received.commit()
    commit_memo(received)
    assert life(received)[1:3] == ["moved read by Ann Other", "moved inbox by Bo"]
    assert [one.split()[0] for one in life(received)] == ["received", "moved", "moved", "removed", "restored"]


def test_a_repo_that_is_tidied_up_keeps_its_lives(received: Repo) -> None:
    """A store that moves into another folder takes the life of its memos along, and so does one that moves back.

    Received and removed there, then received elsewhere and moved back: all four steps are told.
    """
    (received.root / "office").mkdir()
    received.git("mv", "memos", "office/memos")
    received.commit(who="Bo")
    assert life(received, f"office/{KEY}") == ["received inbox by Ann", "moved inbox by Bo"]
    assert life(received) == []
    received.git("rm", "--quiet", f"office/{INBOX}")
    received.commit(who="Bo")
    commit_memo(received, "docs/memos/inbox", who="Cy")
    received.move(f"docs/{INBOX}", f"office/{INBOX}")
    received.commit(who="Di")
    steps = ["removed inbox by Bo", "received inbox by Cy", "moved inbox by Di"]
    assert life(received, f"office/{KEY}")[2:] == steps


def test_an_untracked_memo_is_delivered_and_not_yet_received(engine: Repo) -> None:
    """Nobody has committed it; git add alone is no receipt. A repo without a commit has no history yet."""
    put(engine, "memos")
    history = history_of(engine)
    assert (history.why_not, history.tree) == ("the repo has no commit yet", {})
    assert life_in(archive_of(engine)).state == "delivered"
    (engine.root / f"memos/{NAME}.openthing").rename(engine.root.parent / "aside")
    engine.commit()
    put(engine, "memos")
    for _ in range(2):
        archive = archive_of(engine)
        assert (life_in(archive).state, life_in(archive).events) == ("delivered", ())
        assert memo(archive).recipients[0].unread is True
        engine.git("add", "--all")
    engine.commit()
    assert memo(archive_of(engine)).recipients[0].unread is False


def test_what_is_not_committed_counts_and_is_said(received: Repo) -> None:
    """A memo moved or edited in the work tree alone is where it lies, and its life says what is pending.

    Other line ends, as a checkout may write them, are no edit.
    """
    put(received, name=f"{NAME}-too")
    file = received.root / put(received, name=f"{NAME}-crlf")
    received.commit()
    received.move(INBOX, READ)
    put(received, name=f"{NAME}-too", body="Edited.")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    archive = archive_of(received)
    names = (NAME, f"{NAME}-too", f"{NAME}-crlf")
    states = [one.life.state for name in names for one in memo(archive, name).copies if one.life]
    assert states == ["moved", "edited", "committed"]
    assert memo(archive).mailbox == "read"


def test_two_repos_with_one_memo_tell_two_lives(tmp_path: Path) -> None:
    """A broadcast was read in one repo, and in the other it is still in the inbox.

    Of two wordings the one committed last is shown first, whichever source comes first.
    """
    engine, office = Repo(tmp_path / "engine"), Repo(tmp_path / "office")
    for repo, who in ((engine, "Ann"), (office, "Bo")):
        commit_memo(repo, to="all", who=who)
    engine.move(INBOX, READ)
    engine.commit(who="Ann")
    lives = {copy.file.source: copy.life for copy in memo(archive_of(engine, office)).copies}
    told = {source: [words(event) for event in life.events] for source, life in lives.items() if life}
    assert told == {"engine": ["received inbox by Ann", "moved read by Ann"], "office": ["received inbox by Bo"]}
    commit_memo(office, body="New.", to="all", at=5)
    for repos in ((engine, office), (office, engine)):
        assert memo(archive_of(*repos)).variants[0].envelope.file.source == "office"


def test_what_was_read_once_is_not_read_again(received: Repo, cache: Path) -> None:
    """The second time only new commits are read, and the outcome is that of reading all."""
    assert history_of(received, cache=cache) == history_of(received)
    rewrite(cache, EVENTS, by("From the cache"))
    received.move(INBOX, READ)
    received.commit(who="Bo")
    assert life(received, cache=cache) == ["received inbox by From the cache", "moved read by Bo"]


def test_what_was_rewritten_or_came_along_with_a_clone_is_read_again(received: Repo, cache: Path) -> None:
    """A rebase between two builds is noticed; a cache counts only for the folder it was made for."""
    received.move(INBOX, READ)
    received.commit(who="Ann")
    assert len(life(received, cache=cache)) == 2
    received.git("commit", "--quiet", "--amend", "--no-edit", "--author=Cy <cy@example.org>", who="Cy", at=7)
    assert life(received, cache=cache) == ["received inbox by Ann", "moved read by Cy"] == life(received)
    received.git("reset", "--quiet", "--hard", "HEAD~1")
    assert life(received, cache=cache) == ["received inbox by Ann"]
    history_of(received, cache=cache)
    rewrite(cache, EVENTS, by("Eve"))
    theirs = received.root.rename(received.root.with_name("theirs"))
    shutil.copytree(theirs, received.root)
    assert life(received, cache=cache) == ["received inbox by Ann"]


def test_a_branch_that_takes_over_another_line_is_read_again(engine: Repo, cache: Path) -> None:
    """The old head may be a merge's second parent; what a merge put back by itself is its own work, cache or not."""
    engine.write("memos/inbox/README.md", "here")
    engine.commit()
    engine.git("branch", "other")
    commit_memo(engine, who="Ann")
    assert history_of(engine, cache=cache).events[KEY][0].merge == ""
    engine.git("checkout", "--quiet", "other")
    engine.write("README.md", "other")
    engine.commit()
    engine.git("merge", "--quiet", "--no-edit", "main", at=9)
    engine.git("branch", "--force", "main", "other")
    engine.git("checkout", "--quiet", "main")
    assert history_of(engine, cache=cache) == history_of(engine)
    assert history_of(engine).events[KEY][0].merge != ""
    engine, cache = Repo(cache.parent / "other"), cache.with_name("other")
    engine.write("README.md", "here")
    engine.commit()
    engine.git("checkout", "--quiet", "-b", "one")
    path = put(engine)
    engine.commit(who="Cass")
    engine.git("checkout", "--quiet", "main")
    engine.git("merge", "--quiet", "--no-ff", "--no-edit", "one", at=5)
    engine.git("rm", "--quiet", path)
    engine.commit(who="Bo", at=6)
    history_of(engine, cache=cache)
    engine.git("checkout", "--quiet", "-b", "two")
    engine.write("README.md", "there")
    engine.commit(at=7)
    engine.git("checkout", "--quiet", "main")
    engine.git("merge", "--quiet", "--no-ff", "--no-commit", "two")
    commit_memo(engine, who="Eve", at=8)
    assert life(engine)[-1] == "restored inbox by Eve"
    assert history_of(engine, cache=cache) == history_of(engine)


def test_a_new_commit_writes_the_rows_of_its_files_alone(received: Repo, cache: Path) -> None:
    """Whatever another process saved of the branch meanwhile: then all is written anew."""
    for number in range(3):
        commit_memo(received, name=f"{NAME}-{number}")
    found = repo_at(received.root)
    assert isinstance(found, FoundRepo)
    history_of(received, cache=cache)
    with State(cache) as state:
        known = KnownHistory(state, "engine")
        read_history(found, Screen().names, known=known)
        received.move(INBOX, READ)
        received.commit(who="Bo")
        written: list[str] = []
        state._sql.set_trace_callback(written.append)  # type: ignore[union-attr] # it is open
        read_history(found, Screen().names, known=known)
        known.write()
        changes = [line.partition(" VALUES ")[0] for line in written if line.startswith(("INSERT", "DELETE"))]
        assert [change.split()[2] for change in changes] == ["events", "tree", "tree", "lines"]
        received.git("commit", "--quiet", "--amend", "--no-edit", who="Cy", at=7)
        history_of(received, cache=cache)
        received.git("reset", "--quiet", "--hard", "HEAD@{1}")
        commit_memo(received, name=f"{NAME}-4")
        read_history(found, Screen().names, known=known)
        known.write()
    assert history_of(received, cache=cache) == history_of(received)
    rewrite(cache, EVENTS, lambda events: events)
    assert list(history_of(received, cache=cache).events) == list(history_of(received).events)


@pytest.mark.parametrize("table", [EVENTS, TREE, COMMITS, LINES])
@pytest.mark.parametrize("damage", ["DELETE FROM {}", "UPDATE {} SET value = substr(value, 2)", "DROP TABLE {}"])
def test_what_is_lost_or_damaged_costs_only_time(engine: Repo, cache: Path, table: Table, damage: str) -> None:
    """Of a history of which not all is there nothing is used, nor of its commits."""
    commit_memo(engine, who="Ann")
    engine.git("checkout", "--quiet", "-b", "side")
    engine.move(INBOX, READ)
    engine.commit(who="Bo")
    engine.git("checkout", "--quiet", "main")
    engine.write("README.md", "here")
    engine.commit()
    engine.git("merge", "--quiet", "--no-edit", "side", at=5)
    history_of(engine, cache=cache)
    with closing(sqlite3.connect(cache / FILE, isolation_level=None)) as sql:
        sql.execute(damage.format(table.name))
    commit_memo(engine, name=f"{NAME}-2", at=6)
    engine.git("merge", "--quiet", "--no-ff", "--no-edit", "side", at=7)
    for _ in range(2):
        assert history_of(engine, cache=cache) == history_of(engine)


def test_settings_that_bend_what_git_tells_do_not_count(received: Repo) -> None:
    """Grafts, encodings, a damaged configuration; a text that writes `abcdef1` means a commit, not a branch."""
    received.git("branch", "abcdef1")
    found, commit = repo_at(received.root), received.head
    assert isinstance(found, FoundRepo)
    assert find_commits(found, ["abcdef1", commit[:9]]) == {commit[:9]: commit}
    received.move(INBOX, READ)
    grafted = received.commit()
    commit_memo(received, name=f"{NAME}-too")
    plain = history_of(received)
    assert len(plain.events[KEY]) == 2
    (received.root / ".git/info/grafts").write_text(f"{grafted}\n")
    assert history_of(received) == plain
    received.git("config", "i18n.logOutputEncoding", "UTF-16")
    assert history_of(received) == plain
    (received.root / ".git/config").write_text("no configuration [[[\n")
    assert history_of(received) == plain


def test_without_git_or_its_first_commits_nothing_is_made_up(received: Repo, tmp_path: Path) -> None:
    """No steps, no dates, and the reason in words: the first commit of a shallow clone adds everything."""
    received.commit()
    received.git("clone", "--quiet", "--depth=1", f"file://{received.root}", str(tmp_path / "clone"))
    found = life_in(archive_of(Repo(tmp_path / "clone", is_new=False)))
    assert (found.why_not, found.events) == ("the clone is shallow: its first commits are missing", ())
    assert found.state == "committed"
    repo = Repo(tmp_path / "plain", is_new=False)
    put(repo, "memos")
    archive = archive_of(repo)
    assert life_in(archive).why_not == "it is not a git repo"
    assert (memo(archive).copies[0].received, memo(archive).recipients[0].unread) == (None, None)


def test_a_repo_around_the_source_counts_if_it_is_of_the_site(tmp_path: Path) -> None:
    """One that merely encloses the site does not, unless the configuration says so; paths are those of the source."""
    outer = Repo(tmp_path / "outer")
    inner = Repo(tmp_path / "outer/site/engine", is_new=False)
    put(inner)
    outer.commit(who="Ann")
    why_not = "it is a folder inside another repo; set history: enclosing to use that one"
    assert life_in(archive_of(inner, site=tmp_path / "outer/site")).why_not == why_not
    holding = holding_repo(inner.root, site=tmp_path / "outer/site", enclosing=True)
    assert holding.repo is not None and holding.prefix == "site/engine/"
    assert list(read_history(holding.repo, Screen().names, prefix=holding.prefix).events) == [KEY]
    assert list(map(words, life_in(archive_of(inner, site=tmp_path / "outer")).events)) == ["received inbox by Ann"]


@pytest.mark.parametrize("is_submodule", [True, False])
def test_a_repo_inside_a_source_has_a_history_of_its_own(received: Repo, tmp_path: Path, *, is_submodule: bool) -> None:
    """The outer repo knows nothing of its files, and says so; they are not taken for delivered ones."""
    outer = Repo(tmp_path / "outer")
    if is_submodule:
        outer.git("submodule", "--quiet", "add", f"file://{received.root}", "teams/part")
    outer.commit()
    if not is_submodule:
        shutil.copytree(received.root, outer.root / "teams/part")
    assert life_in(archive_of(outer)).why_not == "it is in a repo inside the source's repo"
    inside = Repo(outer.root / "teams/part", is_new=False)
    assert [event.kind for event in life_in(archive_of(inside)).events] == ["received"]


def test_a_work_tree_sha_256_and_a_damaged_repo_are_read_for_what_they_are(received: Repo, tmp_path: Path) -> None:
    """The repo knows the work tree; ids of SHA-256 are longer; a damaged repo stops no build."""
    received.git("worktree", "add", "--quiet", "-b", "branch", str(tmp_path / "tree"))
    tree = Repo(tmp_path / "tree", is_new=False)
    tree.hours = 5
    tree.move(INBOX, READ)
    tree.commit(who="Bo")
    assert life(tree) == ["received inbox by Ann", "moved read by Bo"]
    assert life(received) == ["received inbox by Ann"]
    repo = Repo(tmp_path / "sha256", "--object-format=sha256")
    commit_memo(repo, who="Ann")
    found = life_in(archive_of(repo))
    assert (found.state, len(found.events[0].commit)) == ("committed", 64)
    for file in sorted((received.root / ".git/objects").rglob("*")):
        if file.is_file():
            file.chmod(0o644)
            file.write_bytes(b"")
    assert life_in(archive_of(received)).why_not == "its HEAD leads to a missing commit"


KEYS = {
    "memos/inbox/a.openthing": "memos/a.openthing", "memos/a.openthing": "memos/a.openthing",
    "docs/comms/archive/a.body.md": "docs/comms/a.body.md", "a.openthing": "a.openthing",
    "inbox/a.openthing": "a.openthing", "notes/engineer/a.openthing": "notes/engineer/a.openthing",
}  # fmt: skip


def test_no_step_is_made_up_and_odd_names_are_read_as_they_are(engine: Repo) -> None:
    """A file is known by its name, not its likeness, wherever it is moved to; a rename with an edit is both."""
    commit_memo(engine, "memos/read", who="Ann")
    assert life(engine) == ["received read by Ann"]
    (engine.root / READ).unlink()
    commit_memo(engine, "memos/archive", subject="Another thing altogether", body="x" * 5000, to="all", who="Bo")
    assert life(engine) == ["received read by Ann", "moved archive by Bo", "edited archive by Bo"]
    assert {path: file_key(path) for path in KEYS} == KEYS
    name = "2026-05-01-0100--ä\n\x01b--c"
    commit_memo(engine, name=name, who="Zoë \x1f O'Neil\t(desk)")
    assert life(engine, f"memos/{name}.openthing") == ["received inbox by Zoë O'Neil (desk)"]


FIRST = "2026-05-01-1430--ann--bo--first"
PAGE = f"_site/memos/{FIRST}/index.html"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with two repos, built."""
    for name in ("one", "two"):
        repo = Repo(tmp_path / "site" / name)
        write_memo(repo.root / "memos/inbox", FIRST if name == "one" else f"{FIRST}-too")
        repo.commit(who="Somebody Committing")
        repo.write("memos/inbox/2026-05-02-1430--ann--bo--x.openthing", "{}")
        repo.commit()
    build_site(tmp_path / "site")
    return tmp_path / "site"


def asked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that git is run in from now on."""
    folders: list[Path] = []
    start = processes.Child.__init__

    def noting(child: processes.Child, command: list[str], **options: object) -> None:
        folders.append(Path(str(options["folder"])))
        start(child, command, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(processes.Child, "__init__", noting)
    return folders


def test_only_a_repo_that_has_changed_is_asked_about(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a process for each question, several repos would cost more than all the rest of a small build.

    Without a change there is none: as in a container without git that got the cache. Nor is it asked again which
    commits texts mean.
    """
    for name in ("one", "two"):
        write_memo(site / name / "memos/inbox", "2026-05-03-1430--ann--bo--commits", body="It is `1a2b3c4`.")
        Repo(site / name, is_new=False).commit(at=19)
    build_site(site)
    repo = Repo(site / "one", is_new=False)
    write_memo(repo.root / "memos/inbox", "2026-05-03-1430--ann--bo--second")
    repo.commit(at=20)
    folders = asked(monkeypatch)
    build_site(site)
    assert set(folders) == {site / "one"}
    assert len(folders) <= 6
    folders.clear()
    for name in ("one", "two"):
        write_memo(site / name / "memos/inbox", f"2026-05-04-1430--ann--bo--not-committed-{name}")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert main(["build", str(site)]) == 0
    assert folders == []
    assert "git cannot be run" not in capsys.readouterr().out
    assert "Somebody Committing" in (site / PAGE).read_text()


def _commit_on_a_branch(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    repo.commit("aside", at=30)


def _merge(repo: Repo) -> None:
    _commit_on_a_branch(repo)
    repo.git("merge", "--quiet", "--no-edit", "main", at=31)


def _edit(repo: Repo) -> None:
    write_memo(repo.root / "memos/inbox", FIRST, body="Another text.")
    repo.commit(at=32)


CHANGES: tuple[Callable[[Repo], object], ...] = (
    _edit, lambda repo: repo.commit(at=33),
    lambda repo: repo.git("commit", "--quiet", "--amend", "--allow-empty", "-m", "x", who="Cy", at=34),
    lambda repo: repo.git("reset", "--quiet", "--hard", "HEAD~1"), _commit_on_a_branch, _merge,
    lambda repo: repo.git("branch", "-m", f"branch-{repo.head}"),
    lambda repo: repo.git("gc", "--quiet", "--prune=now"), lambda repo: repo.write(".git/shallow", f"{repo.head}\n"),
)  # fmt: skip
"""A commit that edits, or without a change, or that was written anew or taken back; another branch, a merge, a rename
of the branch; packed refs and objects, a graft that makes it shallow."""


def test_after_any_change_of_a_repo_or_of_what_is_known_history_is_what_git_says(site: Path, tmp_path: Path) -> None:
    """Each twice, since the second build knows what the first has found; git is asked again about what is lost."""
    cache = site / ".memosite/internal"

    def lose(table: Table) -> None:
        with State(cache) as state, state.writing():
            state[table].remove([()])

    losses: tuple[Callable[[], object], ...] = (
        partial(lose, LINES),
        (cache / FILE).unlink,
        partial((cache / FILE).write_bytes, b"SQLite"),
    )
    for number, damage in enumerate(losses):
        damage()
        build_site(site)
        write_memo(site / "two/memos/inbox", f"2026-05-04-143{number}--ann--bo--not-committed")
        build_site(site)
        assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")
        with State(cache) as state:
            assert [b"HEAD" in value for _, value in state[LINES].items()] == [True, True]
    repo = Repo(site / "one", is_new=False)
    for change in CHANGES:
        for number in range(1 if change is CHANGES[-1] else 2):
            change(repo)
            if change in {_commit_on_a_branch, _merge}:
                repo.git("checkout", "--quiet", "-B", "main")
                repo.git("branch", "-D", "side")
            build_site(site)
            assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean"), (change, number)
