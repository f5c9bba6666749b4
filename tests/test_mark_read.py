"""Marking memos as read in real repos: what moves, what is committed, what is refused, and that nothing runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memosite.cli import main
from memosite.commands.mark_read import MarkError, mark
from memosite.sources.git import GitError, change_index, git
from tests.support.lives import NAME, life, put
from tests.support.repos import Repo

MODULE = "memosite.commands.mark_read"
INBOX, READ = f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing"


@pytest.fixture(autouse=True)
def _somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits are made by somebody, whoever runs the tests."""
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann Other")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "ann@example.org")


def repo_with_memo(tmp_path: Path, folder: str = "memos/inbox") -> Repo:
    """A repo with one memo and its body, committed."""
    repo = Repo(tmp_path / "engine")
    put(repo, folder, body_ref=f"{NAME}.body.md")
    repo.write(f"{folder}/{NAME}.body.md", "The text.\n")
    repo.commit()
    return repo


def status(repo: Repo) -> list[str]:
    """What git says of the work tree."""
    return repo.git("status", "--short", "--untracked-files=all").splitlines()


def test_envelope_and_body_move_together(tmp_path: Path) -> None:
    """Naming either moves both, as renames that git sees; a body of another name, if the envelope can be read."""
    for number, suffix in enumerate((".openthing", ".body.md")):
        repo = repo_with_memo(tmp_path / str(number))
        mark([repo.root / f"memos/inbox/{NAME}{suffix}"])
        assert status(repo) == [f"R  memos/inbox/{NAME}.body.md -> memos/read/{NAME}.body.md", f"R  {INBOX} -> {READ}"]
    for field in ("body_ref", "x.memo.body_ref"):
        repo = Repo(tmp_path / f"{field}/engine")
        put(repo, "memos/inbox", **{field: "the-text.body.md"})
        repo.write("memos/inbox/the-text.body.md", "The text.\n")
        repo.commit()
        mark([repo.root / INBOX])
        assert "R  memos/inbox/the-text.body.md -> memos/read/the-text.body.md" in status(repo)
    nested = '{"type": "memodef:Memo", "x": ' + "[" * 100_000
    for number, envelope in enumerate((nested, json.dumps({"body_ref": "x" * 300}), json.dumps({"body_ref": "\0"}))):
        repo = repo_with_memo(tmp_path / f"bad-{number}")
        repo.write(INBOX, envelope)
        repo.commit()
        mark([repo.root / INBOX])
        assert f"R  {INBOX} -> {READ}" in status(repo)


def test_memos_move_from_any_mailbox(tmp_path: Path) -> None:
    """From memos/ to read/, from read/ to archive/, and no further; a pair that was split is one again."""
    repo = repo_with_memo(tmp_path / "flat", "memos")
    mark([repo.root / f"memos/{NAME}.openthing"])
    assert (repo.root / READ).is_file() and not (repo.root / f"memos/{NAME}.body.md").exists()
    repo = repo_with_memo(tmp_path / "split")
    repo.move(INBOX, READ)
    (done,) = mark([repo.root / READ])
    assert ([move.new for move in done.moves], done.already) == ([f"memos/read/{NAME}.body.md"], (READ,))
    repo = repo_with_memo(tmp_path / "archived")
    mark([repo.root / INBOX], commit=True)
    mark([repo.root / READ], box="archive", commit=True)
    (done,) = mark([repo.root / f"memos/archive/{NAME}.openthing"])
    assert done.moves == ()
    assert [step.split(" by ")[0] for step in life(repo)] == ["received inbox", "moved read", "moved archive"]


def test_a_commit_holds_the_move_and_nothing_else(tmp_path: Path) -> None:
    """Other work, staged or not, stays as it is; without --commit changes move along, as git mv does it."""
    repo = repo_with_memo(tmp_path)
    repo.write("staged.md", "staged")
    repo.git("add", "staged.md")
    repo.write("loose.md", "loose")
    (done,) = mark([repo.root / INBOX], commit=True)
    assert repo.git("rev-parse", "HEAD") == done.commit
    assert repo.git("show", "--name-status", "--format=%an: %s", "HEAD").splitlines() == [
        f"Ann Other: Read {NAME}", "", f"R100\tmemos/inbox/{NAME}.body.md\tmemos/read/{NAME}.body.md",
        f"R100\t{INBOX}\t{READ}",
    ]  # fmt: skip
    assert status(repo) == ["A  staged.md", "?? loose.md"]
    repo = repo_with_memo(tmp_path / "edited")
    put(repo, body="Edited.", body_ref=f"{NAME}.body.md")
    assert "uncommitted changes" in refused(repo, repo.root / INBOX, commit=True)
    mark([repo.root / INBOX])
    assert "Edited." in (repo.root / READ).read_text()


def test_marking_a_delivered_memo_is_its_receipt_and_several_repos_get_one_commit_each(tmp_path: Path) -> None:
    """It was never committed: it is moved and taken in."""
    repo = Repo(tmp_path / "engine")
    repo.commit()
    put(repo)
    mark([repo.root / INBOX], commit=True)
    assert life(repo) == ["received read by Ann Other"] and status(repo) == []
    first, second = repo_with_memo(tmp_path / "a"), repo_with_memo(tmp_path / "b")
    put(first, name=f"{NAME}-too")
    first.commit()
    too = first.root / f"memos/inbox/{NAME}-too.openthing"
    done = mark([first.root / INBOX, too, second.root / INBOX], commit=True)
    assert [len(one.moves) for one in done] == [3, 2]
    assert first.git("log", "-1", "--format=%s") == "Read 2 memos"


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize(("step", "call"), [("change_index", 1), ("rename", 1), ("rename", 2), ("git", 1), ("end", 1)])
def test_what_a_killed_run_left_is_finished_by_the_same_command(
    step: str, call: int, *, is_committed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed after the index is changed, after each file, before and after the commit; the body has another name."""
    repo = Repo(tmp_path / "engine")
    repo.commit()
    put(repo, "memos/inbox", body_ref="the-text.body.md")
    repo.write("memos/inbox/the-text.body.md", "The text.\n")
    repo.write("loose.md", "loose")
    if is_committed:
        repo.git("add", "memos")
        repo.git("commit", "--quiet", "-m", "Receive")
    words = ["mark-read", "--commit", str(repo.root / INBOX)]
    with pytest.MonkeyPatch.context() as patch:
        killing(patch, step, call)
        with pytest.raises(ZeroDivisionError):
            main(words)
    assert main(words) == 0, capsys.readouterr()
    assert sorted(repo.git("ls-tree", "-r", "--name-only", "HEAD", "memos").splitlines()) == [
        READ, "memos/read/the-text.body.md"
    ]  # fmt: skip
    assert status(repo) == ["?? loose.md"] and len(repo.git("log", "--format=%h").splitlines()) == 2 + is_committed
    capsys.readouterr()
    assert main(words) == 0 and "is there already" in capsys.readouterr().out


def killing(patch: pytest.MonkeyPatch, step: str, call: int) -> None:
    """Have a run end after the nth call of a step: of all steps, or of what makes the commit."""
    calls = []

    def after(do: Callable[..., object], is_step: Callable[..., bool]) -> Callable[..., object]:
        def done(*given: Any, **options: Any) -> object:
            result = do(*given, **options)
            calls.extend([1] * is_step(*given))
            if len(calls) == call and is_step(*given):
                raise ZeroDivisionError
            return result

        return done

    if step == "rename":
        patch.setattr(Path, "rename", after(Path.rename, lambda old, _new: "memos" in old.parts))
    elif step == "change_index":
        patch.setattr(f"{MODULE}.change_index", after(change_index, lambda *_: True))
    else:
        word = "commit-tree" if step == "git" else "update-ref"
        patch.setattr(f"{MODULE}.git", after(git, lambda _repo, *words: words[0] == word))


def test_what_was_staged_otherwise_is_not_committed_as_a_move(tmp_path: Path) -> None:
    """Only what was moved is: a memo that is staged in read/ stays so, and one with other content is refused."""
    repo = Repo(tmp_path / "engine")
    repo.commit()
    put(repo, "memos/read")
    repo.git("add", "memos")
    assert mark([repo.root / READ], commit=True)[0].commit == "" and status(repo) == [f"A  {READ}"]
    repo = repo_with_memo(tmp_path / "edited")
    mark([repo.root / INBOX])
    put(repo, "memos/read", body="Edited.", body_ref=f"{NAME}.body.md")
    assert "uncommitted changes" in refused(repo, repo.root / INBOX, commit=True)
    repo.git("add", "memos")
    assert "staged changes" in refused(repo, repo.root / INBOX, commit=True)


def refused(repo: Repo, *files: Path, commit: bool = False) -> str:
    """Why marking is refused; nothing may have changed."""
    before = status(repo)
    with pytest.raises(MarkError) as error:
        mark(files, commit=commit)
    assert status(repo) == before
    return str(error.value)


def test_a_target_that_is_taken_is_refused(tmp_path: Path) -> None:
    """In the work tree, or only in the last commit, or by another memo of its name; no other file is moved either."""
    repo = repo_with_memo(tmp_path)
    put(repo, name=f"{NAME}-too")
    repo.write(READ, "somebody else's")
    too = repo.root / f"memos/inbox/{NAME}-too.openthing"
    assert "found a file there already" in refused(repo, too, repo.root / INBOX)
    repo.commit()
    (repo.root / READ).unlink()
    assert "in the index or the last commit" in refused(repo, too, repo.root / INBOX)
    other = Repo(tmp_path / "other")
    for folder, body in (("memos", "One."), ("memos/inbox", "Two.")):
        put(other, folder, body=body)
    other.commit()
    assert "would go to the same place" in refused(other, other.root / INBOX, other.root / f"memos/{NAME}.openthing")


def test_a_file_in_a_merge_conflict_is_refused(tmp_path: Path) -> None:
    """Moving it would resolve the conflict by taking one side unseen. While another git writes, nothing moves."""
    repo = repo_with_memo(tmp_path)
    (repo.root / ".git/index.lock").touch()
    with pytest.raises(GitError, match=r"index\.lock"):
        mark([repo.root / INBOX])
    assert (repo.root / INBOX).is_file()
    (repo.root / ".git/index.lock").unlink()
    repo.git("checkout", "--quiet", "-b", "other")
    for branch, body in (("other", "Theirs."), ("main", "Ours.")):
        repo.git("checkout", "--quiet", branch)
        put(repo, body=body, body_ref=f"{NAME}.body.md")
        repo.commit()
    with pytest.raises(AssertionError, match="CONFLICT"):
        repo.git("merge", "other")
    assert "merge conflict" in refused(repo, repo.root / INBOX)


def test_what_is_no_memo_is_refused(tmp_path: Path) -> None:
    """Notes have no mailboxes, other files are none of ours, a link leads anywhere; outside of a repo is no history."""
    repo = repo_with_memo(tmp_path)
    for path in ("README.md", f"notes/engineer/{NAME}.openthing", "memos/inbox/photo.png"):
        repo.write(path, "{}")
    repo.commit()
    for path in ("README.md", f"notes/engineer/{NAME}.openthing", "memos/inbox/photo.png"):
        assert "found no memo" in refused(repo, repo.root / path)
    link = repo.root / "memos/inbox/2026-05-02-0100--a--b--link.openthing"
    link.symlink_to(repo.root / INBOX)
    assert "a symbolic link" in refused(repo, link) and "a folder" in refused(repo, repo.root / "memos")
    (repo.root / "memos/read").symlink_to(tmp_path)
    assert "follows no links" in refused(repo, repo.root / INBOX)
    folder = Repo(tmp_path / "folder", is_new=False)
    put(folder)
    with pytest.raises(MarkError, match="not in a git repo"):
        mark([folder.root / INBOX])


def test_nothing_of_the_repo_runs_and_nothing_is_written_elsewhere(tmp_path: Path) -> None:
    """Hooks, a file system monitor, filters, and a work tree that its configuration puts elsewhere."""
    repo = repo_with_memo(tmp_path)
    proof = tmp_path / "proof"
    script = repo.write(".git/hooks/evil", f"#!/bin/sh\necho $0 >> {proof}\ncat\n")
    script.chmod(0o755)
    for hook in ("pre-commit", "post-commit", "commit-msg", "post-index-change", "reference-transaction"):
        (repo.root / ".git/hooks" / hook).symlink_to(script)
    repo.write(".git/info/attributes", "* filter=evil\n")
    for key, value in (("core.fsmonitor", script), ("filter.evil.clean", script), ("filter.evil.smudge", script)):
        repo.git("config", key, str(value))
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "memos/inbox").mkdir(parents=True)
    repo.git("config", "core.worktree", str(elsewhere))
    repo.git("config", "commit.gpgSign", "true")
    proof.unlink(missing_ok=True)
    mark([repo.root / INBOX], commit=True)
    assert not proof.exists()
    assert (repo.root / READ).is_file()
    assert list(elsewhere.rglob("*.openthing")) == []


def test_the_command_says_what_it_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line a file, then the commit; an error is one line and exit code 2, also where a commit has no name."""
    repo = repo_with_memo(tmp_path)
    monkeypatch.chdir(repo.root)
    said = "memosite: README.md: found nothing, expected a memo's .openthing file or its body\n"
    assert main(["mark-read", "README.md"]) == 2
    assert capsys.readouterr().err == said
    with monkeypatch.context() as patched:
        patched.delenv("GIT_AUTHOR_NAME")
        patched.setenv("HOME", str(tmp_path))
        patched.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
        assert "git config --global user.name" in refused(repo, repo.root / INBOX, commit=True)
    assert main(["mark-read", "--commit", INBOX]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{INBOX} -> {READ}" and lines[2].startswith("committed ")
