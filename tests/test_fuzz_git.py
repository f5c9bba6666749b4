"""Fuzzes the readers of git: a repo with one damaged file, and objects that only a program would write.

A repo is read, or there is a `GitError` and in the history a reason; never another exception, and nothing is written.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from hypothesis import strategies as st

from memosite.archive.history import FileChange, HistoryCommit, replay
from memosite.facts.errors import SourceError
from memosite.reading.screen import Screen
from memosite.sources.folder import repo_at
from memosite.sources.git import Repo as GitRepo
from memosite.sources.git import staged
from memosite.sources.history import KnownHistory, read_history
from memosite.sources.objects import Objects, commit_at, find_commits, list_commit, read_contents
from tests.support.fuzzing import fuzz, scratch
from tests.support.mutations import mutated
from tests.support.repos import Repo

Files = dict[str, bytes]
MEMO = "memos/inbox/2026-05-01-1430--a--b--c.openthing"
WORDS = (
    *(b"ref: refs/heads/main\n", b"refs/heads/", b"0" * 40, b"a" * 40, b"tree ", b"parent ", b"author ", b"committer "),
    *(b"40000 ", b"100644 x\0", b"120000 ", b"160000 ", b"..\0", b"> 99999999999 +9999", b"> -1 -0000", b"gitdir: "),
    *(b"[core]\n\trepositoryformatversion = 1\n", b"[extensions]\n\tobjectformat = sha256\n"),
    *(b"DIRC", b"PACK", b"\xfftOc", b"\n"),
)
FOLDERS = ("memos", "memos/inbox", "memos/read", "x/memos/archive")


def _make(folder: Path) -> Repo:
    """A small repo: a memo that is moved, edited and removed, a merge, a tag, a further work tree."""
    repo = Repo(folder)
    repo.write(MEMO, '{"type": "memodef:Memo", "from": "a", "to": "b", "subject": "s"}')
    repo.write("notes/x.md", "# X\n")
    repo.commit()
    repo.git("branch", "side")
    repo.move(MEMO, MEMO.replace("inbox", "read"))
    repo.commit(who="Bo \u00e9")
    repo.git("checkout", "--quiet", "side")
    repo.write("notes/x.md", "# Y\n")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "side", "-m", "merge", at=9)
    repo.git("tag", "v1")
    repo.git("worktree", "add", "--quiet", str(folder.parent / "beside"), "side")
    return repo


def _files_of(folder: Path) -> Files:
    skipped = (".sample", "description", "COMMIT_EDITMSG", "ORIG_HEAD")
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(skipped))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if "logs" not in path.parts}


@cache
def made() -> tuple[Path, dict[str, Files]]:
    """A folder with the repo twice, once with loose objects and once packed; and what git keeps in each."""
    top = Path(tempfile.mkdtemp(prefix="memosite-tests-"))
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    for name in ("loose", "packed"):
        repo = _make(top / name / "repo")
        if name == "packed":
            repo.git("gc", "--quiet", "--aggressive", "--prune=now")
            repo.git("commit-graph", "write", "--reachable")
    return top, {name: _files_of(top / name) for name in ("loose", "packed")}


def damaged() -> st.SearchStrategy[tuple[str, str, bytes]]:
    """One of the repos, a file that git keeps in it, and other bytes for that."""
    _, files = made()
    places = [
        (name, path) for name, found in files.items() for path in found if "/.git" in path or "beside/.git" in path
    ]
    return st.sampled_from(places).flatmap(
        lambda place: st.tuples(st.just(place[0]), st.just(place[1]), mutated([files[place[0]][place[1]]], WORDS))
    )


def check_repo(folder: Path) -> None:
    """Read all that memosite reads of a folder's repo."""
    found = repo_at(folder)
    if not isinstance(found, GitRepo):
        assert found is None or found.isprintable()
        return
    history = read_history(found, Screen().names, known=KnownHistory())
    assert history.why_not or history.commit
    assert history.why_not.isprintable() and str(folder) not in history.why_not
    events = [event for life in history.events.values() for event in life]
    for read in _reads(found, {event.after for event in events if event.after}):
        try:
            read()
        except SourceError as error:
            assert "\n" not in str(error)


def _reads(repo: GitRepo, blobs: set[str]) -> list[Callable[[], object]]:
    def objects() -> None:
        with Objects(repo) as reader:
            for blob in blobs:
                reader.blob(blob, limit=1_000)
            list(list_commit(reader, "HEAD")[0])

    return [
        *(partial(commit_at, repo, ref) for ref in ("HEAD", "v1")),
        lambda: staged(repo, [MEMO, MEMO.replace("inbox", "read"), "notes"]),
        lambda: find_commits(repo, ["1a2b3c4", "aaaaaaa"]),
        lambda: list(read_contents(repo, blobs)),
        objects,
    ]


@fuzz(st.deferred(damaged), examples=12)
def test_a_damaged_repo_is_read_or_reported(case: tuple[str, str, bytes]) -> None:
    """Whichever of its files is another: HEAD, refs, the index, objects, packs, their indices."""
    name, path, data = case
    top, files = made()
    target = top / name / path
    target.chmod(0o644)
    target.write_bytes(data)
    try:
        for folder in ("repo", "beside"):
            check_repo(top / name / folder)
        now = _files_of(top / name)
        assert now == files[name] | {path: data}
    finally:
        target.write_bytes(files[name][path])


COMMIT = (
    b"tree TREE\nparent PARENT\nauthor Ann <a@example.org> 1777600000 +0200\n"
    b"committer Ann <a@example.org> 1777600000 +0200\nencoding ISO-8859-1\ngpgsig x\n y\n\nA message\n"
)
TREE = b"100644 a.openthing\0" + b"\x11" * 20 + b"40000 memos\0" + b"\x22" * 20 + b"120000 l\0" + b"\x33" * 20


@fuzz(st.tuples(mutated([COMMIT], WORDS), mutated([TREE], WORDS)), examples=20)
def test_objects_that_only_a_program_writes_are_read_or_reported(case: tuple[bytes, bytes]) -> None:
    """Commits without an author, from a year beyond, with paths that no folder has."""
    with scratch() as folder:
        top, _ = made()
        shutil.copytree(top / "loose/repo", folder / "repo")
        repo = Repo(folder / "repo", is_new=False)
        head, inner = repo.head, repo.git("rev-parse", "HEAD:memos")
        blob = repo.git("rev-parse", "HEAD:notes/x.md")
        raw = case[1].replace(b"\x11" * 20, bytes.fromhex(blob)).replace(b"\x22" * 20, bytes.fromhex(inner))
        tree = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=raw)
        commit = case[0].replace(b"TREE", tree.encode()).replace(b"PARENT", head.encode())
        made_commit = repo.git("hash-object", "-w", "-t", "commit", "--literally", "--stdin", given=commit)
        (folder / "repo/.git/refs/heads/main").write_text(f"{made_commit}\n")
        check_repo(folder / "repo")


CHANGES = st.tuples(st.sampled_from(FOLDERS), st.sampled_from("abc\ufffd"), st.sampled_from(["", "11", "22"]))
COMMITS = st.lists(st.tuples(st.lists(st.integers(0, 20), max_size=3), st.lists(CHANGES, max_size=3)), max_size=20)
"""Commits, each with the places of its parents and what it changes: any graph, also one that no git would write."""


@fuzz(COMMITS, examples=150)
def test_any_commits_are_replayed_or_refused(rows: list[tuple[list[int], list[tuple[str, str, str]]]]) -> None:
    """A circle or a missing parent is a `ValueError`; a history begins with the file's arrival."""
    commits = {
        f"{number:02}": HistoryCommit(
            id=f"{number:02}", parents=tuple(f"{one:02}" for one in parents), at=None, author="Ann",
            changes=tuple(FileChange(path=f"{place}/{name}.openthing", after=to) for place, name, to in changes),
        )
        for number, (parents, changes) in enumerate(rows)
    }  # fmt: skip
    head = f"{len(rows) - 1:02}"
    try:
        events, reached = replay(commits, head)
    except ValueError:
        return
    assert (events, reached) == replay(commits, head)
    assert head in reached and reached <= set(commits)
    for life in events.values():
        assert life and life[0].kind == "received"
        assert {event.commit for event in life} <= set(commits)
