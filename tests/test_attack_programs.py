"""Attacks: programs that a repo plants run in no command, neither when memos are marked as read nor in a build."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.lives import NAME, put
from tests.support.repos import ENVIRONMENT, Repo, run_git
from tests.support.sites import build_site

INBOX, READ = f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing"
SETTINGS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand", "core.gitProxy"),
    *("core.alternateRefsCommand", "pager.log", "pager.config", "pager.diff", "sequence.editor", "diff.external"),
    *("diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "filter.evil.clean", "filter.evil.smudge"),
    *("gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand", "trailer.x.command"),
    *("credential.helper", "uploadpack.packObjectsHook", "remote.origin.uploadpack", "interactive.diffFilter"),
    *("browser.evil.cmd", "man.evil.cmd", "difftool.evil.cmd", "mergetool.evil.cmd", "sendemail.smtpServer"),
)
"""Keys of a repo's configuration that name a program."""

COMMANDS = ("log", "config", "ls-files", "ls-tree", "update-index", "cat-file", "rev-parse", "read-tree", "write-tree")
"""Commands of git that an alias could replace."""

HOOKS = (
    *("pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-index-change", "post-checkout"),
    *("reference-transaction", "fsmonitor-watchman", "query-watchman", "pre-auto-gc", "post-merge", "post-rewrite"),
)

PLACES = (".gitattributes", ".git/info/attributes")
"""Where a repo says which files its programs are for; all are there at once."""


class Trap:
    """A program that writes down that it ran, and copies its input, as a filter would."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "ran"
        self.program = folder / "trap"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.log}\ncat\n')
        self.program.chmod(0o755)

    @property
    def ran(self) -> str:
        """What ran since the last look."""
        found = self.log.read_text() if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return found


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """A trap beside the repo."""
    return Trap(tmp_path)


def planted(root: Path, trap: Trap, *, filters: tuple[str, ...] = ("clean", "smudge")) -> Repo:
    """A repo with two memos, in whose configuration, hooks, aliases and attributes the trap is everywhere."""
    repo = Repo(root)
    put(repo, body_ref=f"{NAME}.body.md")
    repo.write(f"memos/inbox/{NAME}.body.md", "The text.\n")
    put(repo, name=f"{NAME}-too", body="Another one.")
    repo.commit()
    values = dict.fromkeys(SETTINGS, str(trap.program))
    for key in {"clean", "smudge"} - set(filters):
        del values[f"filter.evil.{key}"]
    if "process" in filters:
        values["filter.evil.process"] = str(trap.program)
    values |= {f"alias.{command}": f"!{trap.program}" for command in COMMANDS}
    values |= dict.fromkeys(("commit.gpgSign", "log.showSignature", "filter.evil.required"), "true")
    with (repo.root / ".git/config").open("a") as config:
        for name, value in values.items():
            *section, key = name.split(".")
            config.write(f"[{' '.join(section[:1] + [json.dumps(of) for of in section[1:]])}]\n\t{key} = {value}\n")
    for hook in HOOKS:
        (repo.root / ".git/hooks" / hook).symlink_to(trap.program)
    trap.log.unlink(missing_ok=True)
    return repo


def touch(file: Path, seconds: float) -> None:
    """Date a file."""
    os.utime(file, (seconds, seconds))


def make_racy(repo: Repo) -> None:
    """Date the files of the work tree and the index so that git cannot tell whether the files were written since."""
    moment = time.time() + 3600
    for file in repo.root.glob("memos/*/*"):
        touch(file, moment)
    run_git(repo.root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "update-index", "--refresh")
    touch(repo.root / ".git/index", moment)


@pytest.fixture
def mark_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Marks the first memo of a repo as read, which has to succeed."""
    for name, value in (ENVIRONMENT | {"GIT_AUTHOR_NAME": "Ann Other"}).items():
        monkeypatch.setenv(name, value)

    def mark(repo: Repo, *options: str) -> None:
        code, printed = main(["mark-read", *options, str(repo.root / INBOX)]), capsys.readouterr()
        assert (code, printed.err) == (0, ""), printed.out
        assert (repo.root / READ).is_file() and not (repo.root / INBOX).exists()

    return mark


@pytest.mark.parametrize("filters", [("clean", "smudge"), ("process",)])
@pytest.mark.parametrize("options", [(), ("--commit",)])
def test_marking_runs_no_filter_however_the_files_are_dated(
    tmp_path: Path, trap: Trap, mark_read: Callable[..., None], filters: tuple[str, ...], options: tuple[str, ...]
) -> None:
    """Git compares files that are as new as its index by their contents, and runs filters on the way."""
    repo = planted(tmp_path / "engine", trap, filters=filters)
    make_racy(repo)
    for place in (*PLACES, "memos/inbox/.gitattributes"):
        touch(repo.write(place, "* filter=evil diff=evil merge=evil\n"), time.time() + 7200)
    mark_read(repo, *options)
    assert trap.ran == ""


@pytest.mark.parametrize("options", [(), ("--commit",)])
def test_a_change_that_git_could_not_date_is_still_seen(
    tmp_path: Path, mark_read: Callable[..., None], options: tuple[str, ...]
) -> None:
    """Other files that were written in the moment of the index are compared by the next `git status`, as before."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    other = repo.write("other.md", "one")
    repo.commit()
    moment = time.time() - 100
    touch(other, moment)
    repo.git("update-index", "--refresh")
    other.write_text("two")
    touch(other, moment)
    touch(repo.root / ".git/index", moment)
    mark_read(repo, *options)
    assert [line for line in repo.git("status", "--short").splitlines() if line.endswith("M other.md")]


@pytest.mark.parametrize("form", ["split", "fsmonitor", "untracked", "sparse", "version 4", "none"])
def test_an_index_of_any_form_is_changed(tmp_path: Path, mark_read: Callable[..., None], form: str) -> None:
    """What git keeps in its index besides the entries is kept, or made again by git."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.write("other.md", "one")
    repo.commit()
    if form == "split":
        repo.git("update-index", "--split-index")
    elif form == "untracked":
        repo.git("update-index", "--untracked-cache")
        repo.git("status")
    elif form == "sparse":
        repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "memos")
    elif form == "version 4":
        repo.git("update-index", "--index-version=4")
    elif form == "none":
        (repo.root / ".git/index").unlink()
    mark_read(repo)
    expected = f"R  {INBOX} -> {READ}"
    assert form == "none" or repo.git("status", "--short") == expected
    assert READ in repo.git("ls-files")


@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_an_index_that_is_no_file_is_refused(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe would be waited for, and a link lead to another repo's index."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit()
    index = repo.root / ".git/index"
    index.rename(tmp_path / "index")
    if kind == "fifo":
        os.mkfifo(index)
    elif kind == "link":
        index.symlink_to(tmp_path / "index")
    else:
        index.mkdir()
    assert main(["mark-read", str(repo.root / INBOX)]) == 2
    said = capsys.readouterr().err
    assert "index" in said and said.count("\n") == 1
    assert (repo.root / INBOX).is_file() and not (repo.root / ".git/index.lock").exists()


def test_a_build_runs_nothing_and_the_trap_works(tmp_path: Path, trap: Trap) -> None:
    """Of a work tree, a bare clone, a ref, nor after a change; a plain git that changes its index falls into it."""
    repo = planted(tmp_path / "site/engine", trap)
    make_racy(repo)
    for place in PLACES:
        touch(repo.write(place, "* filter=evil diff=evil merge=evil\n"), time.time() + 7200)
    bare = tmp_path / "site/bare.git"
    run_git(tmp_path, "clone", "-q", "--bare", str(repo.root), str(bare))
    (bare / "config").write_text((repo.root / ".git/config").read_text())
    text = "sources: [{path: engine}, {path: bare.git}, {path: engine, ref: main, name: other}]\n"
    (tmp_path / "site/memosite.yml").write_text(text)
    trap.log.unlink(missing_ok=True)
    for _ in range(2):
        build_site(tmp_path / "site")
        put(repo, name=f"{NAME}-again", body="Once more.")
    assert trap.ran == ""
    repo = planted(tmp_path / "engine", trap)
    make_racy(repo)
    repo.write(".gitattributes", "* filter=evil\n")
    safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    run_git(repo.root, *safe, "update-index", "--force-remove", INBOX)
    assert "trap" in trap.ran
