"""Attacks on the machine: git that hangs, and what it would use of time, memory and room; nothing outlives memosite."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from memosite.facts.errors import MemositeError
from memosite.run.processes import Child, EndedError, Limits, SlowError, WordyError, ended_by_signals
from memosite.sources import git as git_module
from memosite.sources.git import GitLimitError, TooMuchError, git, git_tokens
from memosite.sources.git import Repo as FoundRepo
from memosite.sources.objects import Objects
from tests.support.commands import command_line, running
from tests.support.lives import NAME, put
from tests.support.repos import Repo
from tests.support.servers import free_port
from tests.support.soaking import most
from tests.support.waiting import DEADLINE, wait_until

GIT = shutil.which("git")


class HangingGit:
    """A git that hangs, with a child of its own, as soon as a file says so; until then it is git."""

    def __init__(self, folder: Path) -> None:
        self.pids = folder / "pids"
        self.flag = folder / "hang"
        (folder / "bin").mkdir()
        program = folder / "bin/git"
        program.write_text(
            f'#!/bin/sh\nif [ ! -e {self.flag} ]; then exec {GIT} "$@"; fi\n'
            f"sleep 1000 & echo $! >> {self.pids}\necho $$ >> {self.pids}\ntrap '' TERM INT HUP\nwait\nsleep 1000\n"
        )
        program.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}

    def hang(self) -> None:
        """From now on."""
        self.flag.touch()

    def started(self) -> list[int]:
        """The processes that hang, once all of one call are there."""
        written = self.pids.read_text().split() if self.pids.exists() else []
        return [int(one) for one in written] if len(written) >= 2 else []

    def running(self) -> list[int]:
        """Those of them that still run."""
        return [one for one in self.started() if _runs(one)]


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[HangingGit]:
    """A git that hangs; what is left of it is ended after the test."""
    made = HangingGit(tmp_path)
    yield made
    for pid in made.running():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of one repo with a memo."""
    repo = Repo(tmp_path / "site/engine")
    put(repo)
    repo.commit()
    return tmp_path / "site"


def start(hanging: HangingGit, *arguments: object) -> "AbstractContextManager[subprocess.Popen[str]]":
    """Start memosite with that git."""
    pipe = subprocess.PIPE
    return running(command_line(*arguments), env=hanging.environment, stdout=pipe, stderr=pipe, text=True)


def commands(site: Path) -> dict[str, tuple[object, ...]]:
    """The commands that run git."""
    memo = site / f"engine/memos/inbox/{NAME}.openthing"
    return {
        "build": ("build", site, "--jobs", "2"), "check": ("check", site), "export": ("export", "--site", site),
        "search": ("search", "--site", site, "gate"), "mark-read": ("mark-read", memo),
        "serve": ("serve", site, "--port", str(free_port())),
    }  # fmt: skip


SIGNALS = (
    ("build", signal.SIGTERM), ("build", signal.SIGHUP), ("serve", signal.SIGINT), ("check", signal.SIGINT),
    ("export", signal.SIGHUP), ("search", signal.SIGTERM), ("mark-read", signal.SIGINT),
)  # fmt: skip
"""Every command, and each signal twice or more: all commands heed signals in one place."""
MORE_SIGNALS = (("build", signal.SIGINT), ("serve", signal.SIGTERM), ("serve", signal.SIGHUP))


@pytest.mark.parametrize(("name", "number"), most(SIGNALS, in_soak=SIGNALS + MORE_SIGNALS))
def test_git_ends_with_the_command(site: Path, hanging: HangingGit, name: str, number: signal.Signals) -> None:
    """With all that it started, though it ignores the signal; the exit code says which one it was."""
    hanging.hang()
    with start(hanging, *commands(site)[name]) as process:
        started = wait_until(hanging.started)
        assert len(hanging.running()) == len(started)
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 128 + number, out + err
    assert "Traceback" not in err
    wait_until(lambda: not hanging.running())


def test_git_ends_with_a_preview_that_builds_again(site: Path, hanging: HangingGit) -> None:
    """The thread that builds waits for git when the signal comes."""
    with start(hanging, "serve", site, "--port", str(free_port())) as process:
        assert process.stdout is not None
        wait_until(lambda: "serving" in (process.stdout.readline() if process.stdout else ""))
        hanging.hang()
        engine = Repo(site / "engine", is_new=False)
        put(engine, name=f"{NAME}-too")
        engine.commit()
        wait_until(hanging.started)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in err
    wait_until(lambda: not hanging.running())
    assert "received" in (site / f"_site/memos/{NAME}/index.html").read_text()


def child(folder: Path, *command: str, output: int = 1 << 24) -> Child:
    """A program that runs in a folder, with limits."""
    limits = Limits(seconds=DEADLINE, memory=1 << 30, output=output)
    return Child(command, limits=limits, environment=os.environ, folder=folder)


def test_a_signal_while_a_thread_starts_git_ends_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The main thread heeds it, and what has been started meanwhile is ended: a preview went on for ever."""
    real, ended = subprocess.Popen, threading.Event()

    def start_slowly(*words: Any, **options: Any) -> "subprocess.Popen[bytes]":
        os.kill(os.getpid(), signal.SIGTERM)
        ended.wait(DEADLINE)
        return real(*words, **options)

    def follow() -> None:
        with pytest.raises(MemositeError, match="interrupted"):
            child(tmp_path, "sleep", "1000")

    monkeypatch.setattr(subprocess, "Popen", start_slowly)
    follower = threading.Thread(target=follow)
    with pytest.raises(EndedError), ended_by_signals():
        try:
            follower.start()
            time.sleep(DEADLINE)
        finally:
            ended.set()
            follower.join()


def opened(repo: Repo) -> FoundRepo:
    """A repo as it is found."""
    return FoundRepo(git_dir=repo.root / ".git", top=repo.root)


def test_git_gets_no_more_memory_and_prints_no_more_than_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call fails by that, and says so in our words; output counts in bytes, in pieces, and in the length of one."""
    repo = Repo(tmp_path / "heavy")
    (repo.root / "zeros").write_bytes(bytes(100 << 20))  # which is stored as a hundred kilobytes
    repo.commit()
    blob = repo.git("rev-parse", "HEAD:zeros")
    raw = repo.git("cat-file", "commit", "HEAD").encode() + b"\n\n" + b"x" * (100 << 20)
    commit = repo.git("hash-object", "-w", "-t", "commit", "--stdin", given=raw)
    with monkeypatch.context() as limited, pytest.raises(GitLimitError, match="git log needs more than 32 MB of memo"):
        limited.setattr(git_module, "MEMORY_BYTES", 32 << 20)
        git(opened(repo), "log", "-1", "--format=%H", commit)
    monkeypatch.setattr(git_module, "OUTPUT_BYTES", 1 << 20)
    with pytest.raises(TooMuchError, match="git cat-file prints more than 1,048,576 bytes"):
        git(opened(repo), "cat-file", "blob", blob)
    with monkeypatch.context() as limited, pytest.raises(TooMuchError, match="more than 10 entries"):
        limited.setattr(git_module, "TOKENS_LIMIT", 10)
        list(git_tokens(opened(repo), "cat-file", "blob", blob))
    (repo.root / "long").write_bytes(b"x" * (git_module.TOKEN_BYTES * 3))
    repo.commit()
    with pytest.raises(TooMuchError, match="an entry of more than"):
        list(git_tokens(opened(repo), "cat-file", "blob", "HEAD:long"))


def test_git_that_computes_for_ever_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whether it prints without end, or nothing; also while its output is taken piece by piece."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(git_module, "LIMIT_SECONDS", 0.6)
    repo = Repo(tmp_path / "repo", is_new=False)
    (repo.root / ".git/objects").mkdir(parents=True)
    (repo.root / ".git/refs").mkdir()
    (repo.root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    for script in ("while :; do :; done", "while :; do printf 'x\\0'; sleep 0.01; done", "sleep 1000"):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        with pytest.raises(GitLimitError, match="took more than 1 s"):
            list(git_tokens(opened(repo), "log"))
        with pytest.raises(GitLimitError, match="took more than 1 s"):
            git(opened(repo), "log")


def test_a_child_that_says_much_goes_on_and_one_that_reads_nothing_is_not_waited_for(tmp_path: Path) -> None:
    """Standard error is read along, its beginning kept; what is given is more than a pipe holds, or goes on."""
    script = "import sys\nfor _ in range(20_000): print('x' * 100, file=sys.stderr)\nprint('done')"
    started = child(tmp_path, sys.executable, "-c", script, output=100)
    assert (b"".join(started.pieces()), len(started.said), started.returncode) == (b"done\n", 1 << 16, 0)
    started.close()
    for program, expected in (("true", 0), ("cat", 1 << 22)):
        started = child(tmp_path, program)
        assert len(b"".join(started.pieces(bytes(1 << 22)))) == expected
        started.close()
    started = child(tmp_path, "cat", output=10)
    with pytest.raises(WordyError):
        list(started.pieces(bytes(1 << 22)))
    started.close()
    started = child(tmp_path, "sleep", "1000")
    with pytest.raises(SlowError):
        started.more(0.1)
    started.close()
    assert started.returncode == -signal.SIGKILL


def test_objects_that_git_complains_about_do_not_stop_the_next(tmp_path: Path) -> None:
    """Thousands of damaged objects are said on standard error, which nobody may leave unread."""
    repo = Repo(tmp_path / "repo")
    for number in range(300):
        repo.write(f"memos/{number}", f"{number}")
    repo.commit()
    blobs = [line.split()[2] for line in repo.git("ls-tree", "-r", "HEAD").splitlines()]
    for blob in blobs[:-1]:
        file = repo.root / ".git/objects" / blob[:2] / blob[2:]
        file.chmod(0o644)
        file.write_bytes(b"damaged")
    with Objects(opened(repo)) as objects:
        for _ in range(5):
            assert all(objects.blob(blob, limit=10) is None for blob in blobs[:-1])
        assert objects.blob(blobs[-1], limit=10) is not None
