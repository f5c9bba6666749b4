"""Git is called safely: what a repo's own configuration, hooks, filters and attributes would run is not run."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from memosite.sources import git as git_module
from memosite.sources.folder import holding_repo, repo_at
from memosite.sources.git import GitError, Holding, git, git_tokens
from memosite.sources.git import Repo as FoundRepo
from memosite.sources.objects import Objects, commit_at
from memosite.sources.tree import read_tree
from tests.support.repos import ENVIRONMENT, Repo, run_git


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repo with a commit."""
    made = Repo(tmp_path / "repo")
    made.write("memos/a.openthing", "{}")
    made.commit()
    return made


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark when it is run: beside it, `ran` exists then."""
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    return program


def opened(folder: Path) -> FoundRepo:
    """The repo of a folder."""
    found = repo_at(folder)
    assert isinstance(found, FoundRepo)
    return found


def has_run(trap: Path) -> bool:
    """Whether the trap was run, which is forgotten then."""
    mark = trap.parent / "ran"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


Plant = Callable[[Repo, Path], None]


def plant(*settings: str, attributes: str = "") -> Plant:
    """Put settings into a repo's own configuration, `TRAP` in them being the program, and attributes."""

    def planted(repo: Repo, trap: Path) -> None:
        for setting in settings:
            key, _, value = setting.partition("=")
            repo.git("config", key, value.replace("TRAP", str(trap)))
        (repo.root / ".git/info/attributes").write_text(attributes)

    return planted


def plant_hooks(repo: Repo, trap: Path) -> None:
    """Every hook that git knows, in its own folder."""
    for name in ("reference-transaction", "post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout"):
        shutil.copy(trap, repo.root / ".git/hooks" / name)


def plant_signature(repo: Repo, trap: Path) -> None:
    """A commit that claims to be signed, a program to verify it, and the wish to see that."""
    plant("log.showSignature=true", "gpg.program=TRAP")(repo, trap)
    raw = repo.git("cat-file", "commit", "HEAD") + "\n"
    head, _, message = raw.partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}"
    found = repo.git("hash-object", "-w", "-t", "commit", "--literally", "--stdin", given=signed.encode())
    repo.git("update-ref", "HEAD", found)


def plant_include(repo: Repo, trap: Path) -> None:
    """A file of further settings."""
    (repo.root / "more").write_text(f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n")
    plant("include.path=../more")(repo, trap)


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("log", "-p", "--raw", "-z", "--format=%H", "--all", "--"), ("ls-files", "-z", "--stage"),
    ("ls-files", "-z", "--others", "--exclude-standard"), ("diff-index", "--cached", "--raw", "HEAD"),
    ("cat-file", "-p", "HEAD:memos/a.openthing"), ("ls-tree", "-r", "-l", "-z", "HEAD"),
    ("config", "--get", "core.repositoryFormatVersion"), ("update-ref", "refs/heads/mark", "HEAD"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("planted", "provoked"),
    [
        (plant("core.fsmonitor=TRAP"), ("status",)),
        (plant_hooks, ("update-ref", "refs/heads/x", "HEAD")),
        (plant("core.hooksPath=.git/mine"), ()),
        (plant("diff.evil.textconv=TRAP", attributes="* diff=evil\n"), ("log", "-p", "HEAD")),
        (plant("diff.evil.command=TRAP", attributes="* diff=evil\n"), ("log", "-p", "--ext-diff", "HEAD")),
        (plant("diff.external=TRAP"), ("log", "-p", "--ext-diff", "HEAD")),
        (plant("filter.evil.clean=TRAP", "filter.evil.required=true", attributes="* filter=evil\n"), ("add", "memos")),
        (plant("filter.evil.process=TRAP", attributes="* filter=evil\n"), ()),
        (plant_signature, ("log", "-1")),
        (plant_include, ("status",)),
        (plant("core.pager=TRAP", "pager.log=TRAP", "core.editor=TRAP"), ("-p", "log")),
        (plant("core.alternateRefsCommand=TRAP", "credential.helper=!TRAP", "core.askPass=TRAP"), ()),
        (plant("uploadpack.packObjectsHook=TRAP", "core.gitProxy=TRAP", "core.sshCommand=TRAP"), ()),
    ],
)
def test_what_a_repo_would_run_is_not_run(repo: Repo, trap: Path, planted: Plant, provoked: tuple[str, ...]) -> None:
    """Everything that a build asks of git, in a repo that is set as a trap; a plain git falls into it."""
    if planted is not plant_signature:
        (repo.root / "memos/a.openthing").write_text("{ }")
    if provoked:
        copy = shutil.copytree(repo.root, repo.root.parent / "copy")
        planted(Repo(copy, is_new=False), trap)
        (copy / "memos/a.openthing").write_text("{  }")
        subprocess.run(["git", *provoked], cwd=copy, env=ENVIRONMENT, capture_output=True, check=False, timeout=600)
        if provoked != ("-p", "log"):  # without a terminal nobody pages
            assert has_run(trap)
    planted(repo, trap)
    has_run(trap)
    for command in COMMANDS:
        options = ("--no-ext-diff", "--no-textconv") if command[0] in {"log", "diff-index"} else ()
        for is_writing in (False, True):
            git(opened(repo.root), command[0], *options, *command[1:], is_writing=is_writing)
    tree = read_tree(opened(repo.root), "HEAD")
    with Objects(opened(repo.root)) as objects:
        assert objects.blob(tree.blobs["memos/a.openthing"], limit=100) == b"{}"
    assert not has_run(trap)


def test_each_switch_is_needed(repo: Repo, trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the options before the command, the same calls run what was planted."""
    monkeypatch.setattr(git_module, "_SAFE", ())
    plant_hooks(repo, trap)
    git(opened(repo.root), "update-ref", "refs/heads/mark", "HEAD", is_writing=True)
    assert has_run(trap)
    plant_signature(repo, trap)
    git(opened(repo.root), "log", "-1", is_writing=True)
    assert has_run(trap)
    plant("core.fsmonitor=TRAP")(repo, trap)
    git(opened(repo.root), "ls-files", "--others", "--modified", is_writing=True)
    assert has_run(trap)


def test_the_promise_of_a_partial_clone_is_kept_without_the_switches(
    repo: Repo, trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lazy fetches, and no protocol that one could use: without all of it, the trap is run."""
    missing = repo.git("rev-parse", "HEAD:memos/a.openthing")
    (repo.root / ".git/objects" / missing[:2] / missing[2:]).unlink()
    plant(
        *("core.repositoryFormatVersion=1", "extensions.partialClone=origin", "remote.origin.promisor=true"),
        *("remote.origin.url=ext::sh -c TRAP", "protocol.ext.allow=always"),
    )(repo, trap)
    kept = {name: value for name, value in git_module._SET.items() if name != "GIT_NO_LAZY_FETCH"}
    monkeypatch.setattr(git_module, "_SET", kept)
    for taken in (set(), {"GIT_ALLOW_PROTOCOL"}):
        monkeypatch.setattr(git_module, "_SET", {name: kept[name] for name in kept if name not in taken})
        with pytest.raises(GitError):
            git(opened(repo.root), "cat-file", "blob", missing, is_writing=True)
        assert has_run(trap) == bool(taken)


def test_the_users_own_configuration_and_environment_do_not_count(
    repo: Repo, trap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a build reads is the same for everybody, whatever they have set."""
    (tmp_path / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {trap}\n[log]\n\tdate = raw\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "log.date")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "raw")
    assert git(opened(repo.root), "log", "-1", "--format=%cd", "--no-ext-diff", "-p").startswith(b"Fri May 1")
    assert not has_run(trap)


@pytest.mark.parametrize("address", ["ext::TRAP", "file:///nowhere", "ssh://git@localhost/x", "https://localhost/x"])
def test_missing_objects_are_not_fetched(repo: Repo, trap: Path, address: str) -> None:
    """A partial clone's promise is not kept: no program of its configuration runs, no host is asked."""
    (repo.root / "second").write_text("more")
    repo.commit()
    missing = repo.git("rev-parse", "HEAD:second")
    (repo.root / ".git/objects" / missing[:2] / missing[2:]).unlink()
    plant(
        *("core.repositoryFormatVersion=1", "extensions.partialClone=origin", "remote.origin.promisor=true"),
        *(f"remote.origin.url={address.replace('TRAP', 'sh -c ' + str(trap))}", "protocol.ext.allow=always"),
        *("protocol.allow=always", "core.sshCommand=TRAP", "remote.origin.uploadpack=TRAP"),
    )(repo, trap)
    tree = read_tree(opened(repo.root), "HEAD")
    assert set(tree.blobs) == {"second", "memos/a.openthing"}
    with Objects(opened(repo.root)) as objects:
        assert objects.blob(missing, limit=100) is None
    with pytest.raises(GitError):
        git(opened(repo.root), "cat-file", "blob", missing)
    assert not has_run(trap)
    if address.startswith("ext"):  # a plain git runs it
        command = ["git", "cat-file", "blob", missing]
        subprocess.run(command, cwd=repo.root, env=ENVIRONMENT, capture_output=True, check=False, timeout=600)
        assert has_run(trap)


def test_the_work_tree_is_the_folder_itself_and_no_git_file_or_link_leads_elsewhere(repo: Repo, tmp_path: Path) -> None:
    """No other folder that the configuration names; only the repo that knows a folder as its own counts."""
    lured = tmp_path / "lured"
    lured.mkdir()
    for written in (f"gitdir: {repo.root}/.git", "gitdir: ../repo/.git", "", "gitdir: /etc"):
        (lured / ".git").write_text(written)
        assert isinstance(repo_at(lured), str)
    (lured / ".git").unlink()
    (lured / ".git").symlink_to(repo.root / ".git")
    assert repo_at(lured) == "its .git is a symbolic link, which is not followed"
    (tmp_path / "private").mkdir()
    (tmp_path / "private/secret").write_text("x")
    repo.git("config", "core.worktree", str(tmp_path / "private"))
    assert b"secret" not in git(opened(repo.root), "ls-files", "-z", "--others")
    assert git(opened(repo.root), "rev-parse", "--show-toplevel").decode().strip() == str(repo.root)


@pytest.mark.parametrize("form", ["checkout", "bare", "work tree"])
def test_a_repo_that_borrows_from_a_foreign_one_is_not_read(repo: Repo, tmp_path: Path, form: str) -> None:
    """Its refs and objects could be those of any other repo on the machine, which nobody named as a source."""
    foreign = repo.root / ".git"
    lured = Repo(tmp_path / "lured", *(["--bare"] if form == "bare" else []))
    git_dir = lured.root if form == "bare" else lured.root / ".git"
    folder = lured.root
    if form == "work tree":
        lured.commit()
        folder = tmp_path / "side"
        lured.git("worktree", "add", "-q", str(folder))
        assert isinstance(repo_at(folder), FoundRepo)
        shared = git_dir / "worktrees/side/commondir"
        shared.write_text(str(foreign))
        assert repo_at(folder) == "its .git shares the folder of a repo that does not know it"
        shared.write_text("../..\n")
    else:
        (git_dir / "commondir").write_text(str(foreign))
        assert repo_at(folder) == "its .git shares the folder of another repo"
        (git_dir / "commondir").unlink()
    assert isinstance(repo_at(folder), FoundRepo)
    alternates = git_dir / "objects/info/alternates"
    alternates.write_text(str(foreign / "objects"))
    assert "borrows objects" in str(repo_at(folder))
    alternates.unlink()
    for name in ("refs", "objects", "config", "objects/pack", "packed-refs", "objects/ab", "objects/pack/x.pack"):
        place, kept = git_dir / name, git_dir / "kept"
        if place.exists():
            place.rename(kept)
        place.symlink_to(foreign / name)
        assert "symbolic links" in str(repo_at(folder)), name
        place.unlink()
        if kept.exists():
            kept.rename(place)
    assert isinstance(repo_at(folder), FoundRepo)


def test_a_further_work_tree_and_a_submodule_are_read(repo: Repo, tmp_path: Path) -> None:
    """The one has a branch of its own, and its repo knows it; that of the other lies in the outer one, and names it."""
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side", is_new=False)
    side.write("new", "x")
    commit = side.commit()
    found = commit_at(opened(tmp_path / "side"), "HEAD")
    assert found is not None and found.hash == commit != repo.head
    shutil.copytree(tmp_path / "side", tmp_path / "copy")
    assert repo_at(tmp_path / "copy") == "its .git file leads to a repo that does not know it"
    outer = Repo(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", str(repo.root), "inner")
    outer.commit()
    found = commit_at(opened(outer.root / "inner"), "HEAD")
    assert found is not None and found.hash == repo.head


@pytest.mark.parametrize("form", ["sha1", "sha256"])
@pytest.mark.parametrize("options", [(), ("--bare",)])
def test_commits_are_found_in_repos_of_each_kind(tmp_path: Path, form: str, options: tuple[str, ...]) -> None:
    """With a work tree and without, with hashes of 40 digits and of 64."""
    source = Repo(tmp_path / "source", f"--object-format={form}")
    source.write("a", "x")
    commit = source.commit(at="2026-05-01T12:00:00-04:00")
    source.git("tag", "-a", "v1", "-m", "First")
    folder = source.root
    if options:
        folder = tmp_path / "bare.git"
        run_git(tmp_path, "clone", "-q", "--bare", str(source.root), str(folder))
    found_repo = opened(folder)
    assert (found_repo.top is None) == bool(options)
    for ref in ("HEAD", "main", "v1", "refs/heads/main", commit, commit[:10]):
        found = commit_at(found_repo, ref)
        assert found is not None and found.hash == commit
        assert found.committed is not None and found.committed.utc == "2026-05-01T16:00:00Z"
        assert found.committed.zone == "-04:00"
    assert [commit_at(found_repo, ref) for ref in ("nothing", "HEAD:a", "HEAD^{tree}", "main commit 1")] == [None] * 4
    assert list(read_tree(found_repo, commit).blobs) == ["a"]


def test_a_repo_of_another_user_is_read(repo: Repo, trap: Path, tmp_path: Path) -> None:
    """Git refuses by itself what others own; here it is read, since nothing of it runs.

    The repo around a folder is the nearest one, with the way to the folder from its top; a broken one in between is not
    passed over.
    """
    plant("core.fsmonitor=TRAP")(repo, trap)
    for path in (repo.root, *repo.root.rglob("*")):
        os.chown(path, 12_345, 12_345)
    plain = subprocess.run(
        ["git", "log"], cwd=repo.root, env=ENVIRONMENT, capture_output=True, check=False, timeout=600
    )
    assert b"dubious ownership" in plain.stderr
    assert commit_at(opened(repo.root), "HEAD") is not None
    assert not has_run(trap)
    assert holding_repo(repo.root / "memos", site=tmp_path) == Holding(repo=opened(repo.root), prefix="memos/")
    (repo.root / "memos/.git").mkdir()
    assert holding_repo(repo.root / "memos", site=tmp_path).why_not == "its .git folder holds no repo"


def test_a_call_that_takes_too_long_is_ended_with_all_it_started(repo: Repo, tmp_path: Path) -> None:
    """The limit counts for what git waits for, too."""
    os.mkfifo(tmp_path / "pipe")
    repo.git("config", "include.path", str(tmp_path / "pipe"))
    with pytest.raises(GitError, match="git rev-parse took more than 1 s"):
        git(opened(repo.root), "rev-parse", "HEAD", seconds=1, is_writing=True)


def test_git_that_fails_is_started_again_and_told_of_in_one_line_without_passwords(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The line that counts; without git, one for people. After a kill one question fails, the next is answered."""
    tree = read_tree(opened(repo.root), "HEAD")
    name = tree.blobs["memos/a.openthing"]
    with Objects(opened(repo.root)) as objects:
        assert objects.blob(name, limit=10) == b"{}"
        assert objects._child is not None
        os.kill(objects._child._process.pid, signal.SIGKILL)
        objects._child._process.wait()
        with pytest.raises(GitError):
            objects.blob(name, limit=10)
        assert objects.blob(name, limit=10) == b"{}"
        assert objects.blob(name, limit=1) == 2
        assert objects.blob(repo.git("rev-parse", "HEAD^{tree}"), limit=100) is None
        assert objects.blob(name, limit=10) == b"{}"
        child = objects._child
    assert child.returncode is not None
    found = opened(repo.root)
    with pytest.raises(GitError) as error:
        git(found, "fetch", "https://ada:se/cret@example.invalid/x\a", "main")
    assert "se/cret" not in str(error.value) and "\n" not in str(error.value) and "\a" not in str(error.value)
    with pytest.raises(GitError, match=r"^Not a valid object name nothing$"):
        list(git_tokens(found, "ls-tree", "-z", "nothing"))
    tokens = git_tokens(found, "ls-tree", "-z", "-r", "HEAD")
    assert next(tokens) and isinstance(tokens, Generator)
    tokens.close()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git cannot be run"):
        git(found, "log")


def test_files_of_git_that_come_in_pieces_are_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a network drive, where one read of an unbuffered file may give less than all: no branch is lost."""

    class InPieces(FileIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 7, 7) if size != -1 else 7)

        def readinto(self, buffer: Any, /) -> int:
            return super().readinto(memoryview(buffer)[:7])

    repo = Repo(tmp_path / "repo")
    repo.write("a.md", "A\n")
    commit = repo.commit()
    repo.git("branch", "other")
    repo.git("pack-refs", "--all")
    monkeypatch.setattr(git_module, "open_file", lambda path: InPieces(os.open(path, os.O_RDONLY)))
    head = commit_at(opened(repo.root), "other")
    assert head is not None and head.hash == commit
