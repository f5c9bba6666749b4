"""What is known of a repo's history: git is asked about new commits only, and about an unchanged repo nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.run import processes
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import build_site, built_from_nothing, tree_bytes

NAME = "2026-05-01-1430--ann--bo--first"
PAGE = f"_site/memos/{NAME}/index.html"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with two repos, built."""
    for name in ("one", "two"):
        repo = Repo(tmp_path / "site" / name)
        write_memo(repo.root / "memos/inbox", NAME if name == "one" else f"{NAME}-too")
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

    Without a change there is none: as in a container without git that got the cache.
    """
    repo = Repo(site / "one", is_new=False)
    write_memo(repo.root / "memos/inbox", "2026-05-03-1430--ann--bo--second")
    repo.commit(at=20)
    folders = asked(monkeypatch)
    build_site(site)
    assert set(folders) == {site / "one"}
    assert len(folders) <= 5
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
    write_memo(repo.root / "memos/inbox", NAME, body="Another text.")
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
    """Each twice, since the second build knows what the first has found; git is asked again about damaged files."""
    files = sorted((site / ".memosite/internal/history").glob("*.head.json"))
    assert len(files) == 2
    for number, damage in enumerate((b"", b"{", b"[]", b'{"name": 1}')):
        for file in files:
            file.write_bytes(damage)
        build_site(site)
        write_memo(site / "two/memos/inbox", f"2026-05-04-143{number}--ann--bo--not-committed")
        build_site(site)
        assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")
        assert all(json.loads(file.read_bytes())["ref"] == "HEAD" for file in files)
    repo = Repo(site / "one", is_new=False)
    for change in CHANGES:
        for number in range(1 if change is CHANGES[-1] else 2):
            change(repo)
            if change in {_commit_on_a_branch, _merge}:
                repo.git("checkout", "--quiet", "-B", "main")
                repo.git("branch", "-D", "side")
            build_site(site)
            assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean"), (change, number)
