"""What counts as a receipt, by git and by the feed; `--until-received` as a command, with its state."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.feeds.publisher import Publisher, publishing
from tests.support.files import write_text
from tests.support.repos import Repo
from tests.support.watches import no_proxy, watch

__all__ = ["no_proxy"]

NAME = "2026-05-01-0900--engineer--director--0.openthing"
INBOX = f"memos/inbox/{NAME}"
AGAIN = ("--once", "--until-received", "--again", "0.001s,0.001s")
"""Whatever is announced is due again in the next run."""


def repo_of(folder: Path) -> Repo:
    """A repo of a position, with a memo delivered to it."""
    repo = Repo(folder / "repo")
    repo.write("README", "director\n")
    repo.commit()
    repo.write(INBOX, "{}")
    return repo


def lines(done: object) -> list[str]:
    """What a watch printed."""
    return str(getattr(done, "stdout", "")).splitlines()


def commit_elsewhere(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "work")
    repo.commit("received")
    repo.git("checkout", "-q", "main")
    repo.write(INBOX, "{}")


def commit_detached(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    repo.commit("received")


def commit_and_remove(repo: Repo) -> None:
    repo.commit("received")
    repo.git("rm", "-q", INBOX)
    repo.commit("done with it")
    repo.write(INBOX, "{}")


def commit_in_read(repo: Repo) -> None:
    repo.write(f"memos/read/{NAME}", "{}")
    (repo.root / INBOX).unlink()
    repo.commit("received")
    repo.write(INBOX, "{}")
    (repo.root / f"memos/read/{NAME}").unlink()


def move_only(repo: Repo) -> None:
    (repo.root / "memos/archive").mkdir()
    (repo.root / INBOX).rename(repo.root / f"memos/archive/{NAME}")


RECEIPTS: dict[str, Callable[[Repo], object]] = {
    "committed": lambda repo: repo.commit("received"),
    "committed on another branch, which is not checked out": commit_elsewhere,
    "committed on no branch": commit_detached,
    "committed, removed by another commit, and laid there again": commit_and_remove,
    "committed in read/, and laid into the inbox again": commit_in_read,
    "moved, and not committed": move_only,
}


@pytest.mark.parametrize("how", RECEIPTS)
def test_a_receipt_in_the_repo_ends_it(how: str, tmp_path: Path) -> None:
    """The feed does not know it yet. Announced again before it, and never after it."""
    repo = repo_of(tmp_path)
    with publishing(Publisher(states=["inbox"])) as published:
        arguments = (*AGAIN, "--repo", repo.root, published.feed)
        others = (*arguments, "--state", tmp_path / "other")
        assert [lines(watch(*arguments, folder=tmp_path)) for _ in range(2)] == [[f"new memo: {INBOX}"]] * 2
        RECEIPTS[how](repo)
        runs = [watch(*arguments, folder=tmp_path) for _ in range(2)]
        assert [(run.returncode, run.stdout, run.stderr) for run in runs] == [(0, "", "")] * 2
        assert "receipts: 0 waited for, 1 received" in watch("--status", folder=tmp_path).stdout
        done = watch(*others, folder=tmp_path)  # somebody was faster than this one
    assert (done.returncode, done.stdout) == (0, "")
    assert f"received before it was announced: {INBOX}" in done.stderr


def stage_only(repo: Repo) -> None:
    """In the index: that can be undone without a trace."""
    repo.git("add", "--all")


def stash(repo: Repo) -> None:
    """In a stash, and there again."""
    repo.git("stash", "--include-untracked", "-q")
    repo.write(INBOX, "{}")


def commit_another(repo: Repo) -> None:
    """Another memo is committed, with an odd name that git would take for a pattern."""
    repo.git("mv", "README", "memos/inbox/2026-05-01-0900--engineer--director--*.openthing")
    repo.git("commit", "-q", "-m", "another")


@pytest.mark.parametrize("act", [stage_only, stash, commit_another])
def test_what_is_no_receipt(act: Callable[[Repo], None], tmp_path: Path) -> None:
    """It is announced again, and in the end escalated, once."""
    repo = repo_of(tmp_path)
    act(repo)
    script = write_text(tmp_path / "tell.sh", f'echo "$MEMO_ANNOUNCED $MEMO_PATH" >> {tmp_path}/told\n')
    with publishing(Publisher(states=["inbox"])) as published:
        arguments = (*AGAIN, "--repo", repo.root, "--escalate", f"/bin/sh {script}", published.feed)
        runs = [watch(*arguments, folder=tmp_path) for _ in range(6)]
    assert [len(lines(run)) for run in runs] == [1, 1, 1, 0, 0, 0] and [run.returncode for run in runs] == [0] * 6
    assert (tmp_path / "told").read_text() == f"3 {INBOX}\n"
    assert f"not received after 3 announcements, escalated: {INBOX}" in runs[3].stderr
    assert "0 waited for, 0 received, 0 unknown, 1 escalated" in watch("--status", folder=tmp_path).stdout


def test_without_a_repo_the_feed_tells_and_who_does_not_ask_is_told_once(tmp_path: Path) -> None:
    """Also of a memo that left the window; nothing is announced again that was announced before."""
    publisher = Publisher(states=["inbox"], block=2, window=2)
    with publishing(publisher) as published:
        told = [json.loads(watch(*AGAIN, "--json", published.feed, folder=tmp_path).stdout) for _ in range(2)]
        assert [(one["path"], one["announced"]) for one in told] == [(INBOX, 0), (INBOX, 1)]
        publisher.read(0)
        publisher.arrive(6, state="read")
        assert f"new memo: {INBOX}" not in lines(watch(*AGAIN, published.feed, folder=tmp_path))
    state = json.loads(watch("--status", "--json", folder=tmp_path).stdout)
    assert state["receipts"] == {"waiting": 0, "received": 7, "unknown": 0, "escalated": 0, "failed": 0}
    tmp_path = tmp_path / "asked"
    publisher = Publisher(states=["inbox"])
    with publishing(publisher) as published:
        assert len(lines(watch("--once", published.feed, folder=tmp_path))) == 1
        assert "receipts" not in watch("--status", folder=tmp_path).stdout
        assert lines(watch(*AGAIN, published.feed, folder=tmp_path)) == []
        publisher.arrive()
        assert [len(lines(watch(*AGAIN, published.feed, folder=tmp_path))) for _ in range(2)] == [1, 1]
        assert lines(watch("--once", published.feed, folder=tmp_path)) == []


def test_the_first_memo_of_a_repo_without_commits_waits(tmp_path: Path) -> None:
    """Nothing can be committed there; without git, nothing could tell whether a memo is received: it is told once."""
    repo = Repo(tmp_path / "repo")
    repo.write(f"teams/director/{INBOX}", "{}")
    with publishing(Publisher(states=["inbox"])) as published:
        arguments = (*AGAIN, "--repo", repo.root / "teams/director", published.feed)
        assert [len(lines(watch(*arguments, folder=tmp_path))) for _ in range(2)] == [1, 1]
        repo.commit("received")
        assert lines(watch(*arguments, folder=tmp_path)) == []
    flat = tmp_path / "flat"
    with publishing(Publisher(states=["flat"])) as published:
        runs = [watch(*AGAIN, "--since", "all", published.feed, folder=flat) for _ in range(3)]
    assert [len(lines(run)) for run in runs] == [1, 0, 0]
    assert "1 unknown" in watch("--status", folder=flat).stdout


def test_what_cannot_be_looked_at_waits_and_is_not_lost(tmp_path: Path) -> None:
    """The feed is down and no repo is there; a repo that git cannot read."""
    repo = repo_of(tmp_path)
    publisher = Publisher(states=["inbox"])
    with publishing(publisher) as published:
        with_repo = (*AGAIN, "--repo", repo.root, "--state", tmp_path / "other", published.feed)
        assert len(lines(watch(*AGAIN, published.feed, folder=tmp_path))) == 1
        assert len(lines(watch(*with_repo, folder=tmp_path))) == 1
        head = repo.root / ".git/refs/heads/main"
        known = head.read_text()
        head.write_text("0123456789" * 4 + "\n")
        published.misdeed = lambda request, _: request.give(500)
        runs = [watch(*one, folder=tmp_path) for one in ((*AGAIN, published.feed), with_repo)]
        assert [(run.returncode, lines(run)) for run in runs] == [(1, []), (1, [])]
        assert "cannot be seen whether it is received" in runs[1].stderr
        head.write_text(known)
        assert len(lines(watch(*with_repo, folder=tmp_path))) == 1
        published.misdeed = None
        assert len(lines(watch(*AGAIN, published.feed, folder=tmp_path))) == 1


def test_a_command_that_hangs_does_not_keep_a_memo_from_being_escalated(tmp_path: Path) -> None:
    """Each of its tries is bounded; an escalation that fails is tried as often, then --status names it."""
    fail = write_text(tmp_path / "fail.sh", f"[ -e {tmp_path}/ok ] && echo told >> {tmp_path}/told\n")
    with publishing(Publisher(states=["inbox"])) as published:
        arguments = ("--once", "--until-received", "--again", "0.001s", "--timeout", "0.2s", "--retries", "2")
        commands = ("--exec", "sleep 600", "--escalate", f"/bin/sh {fail}", published.feed)
        runs = [watch(*arguments, *commands, folder=tmp_path) for _ in range(7)]
        assert [run.returncode for run in runs] == [1] * 6 + [0]
        assert ["sleep: not done within 0.2 s" in run.stderr for run in runs] == [True] * 4 + [False] * 3
        assert ["failed after 2 tries" in run.stderr for run in runs] == [False, True] * 3 + [False]
        status = watch("--status", folder=tmp_path)
        assert (status.returncode, "1 failed to escalate" in status.stdout) == (1, True)
        (tmp_path / "ok").touch()
        watch(*arguments, *commands, "--retry-failed", folder=tmp_path)
    assert (tmp_path / "told").read_text() == "told\n"


def test_a_batch_is_announced_again_as_far_as_it_is_not_received(tmp_path: Path) -> None:
    """One run for all that are due; a limit counts these, too, and says so."""
    publisher = Publisher(states=["inbox"] * 4)
    script = write_text(tmp_path / "wake.sh", f"wc -l >> {tmp_path}/runs\n")
    with publishing(publisher) as published:
        arguments = (*AGAIN, "--batch", "--exec", f"/bin/sh {script}", published.feed)
        watch(*arguments, folder=tmp_path)
        publisher.read(1)
        watch(*arguments, folder=tmp_path)
        limited = watch(*arguments, "--limit", "5/d", folder=tmp_path)
    assert (tmp_path / "runs").read_text().split() == ["4", "3", "1"]
    assert "2 more wait to be announced again: the limit is 5/d" in limited.stderr
