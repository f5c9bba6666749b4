"""Delivering: lines, commands, what they are told, what becomes of those that fail, hang or are killed."""

import json
import os
import re
import shlex
import subprocess
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from memosite.commands.arguments import parser
from memosite.feeds.document import ReceivedItem
from memosite.watch.deliver import AnnouncedMemo, Outcome, Runner, Signals, environment, locate
from memosite.watch.policy import Limit
from memosite.watch.state import Delivery, WatchState
from tests.support.commands import command_line, run_command
from tests.support.feeds.publisher import Publisher, guid, publishing
from tests.support.files import ROOT, write_text
from tests.support.servers import Handler, serve_folder, trusted
from tests.support.waiting import DEADLINE
from tests.support.watches import clean_environment, no_proxy, watch, watch_of

__all__ = ["no_proxy"]

SUBJECT = "Memo <0> “ä”"
PATH = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
GUIDE = (ROOT / "docs/guide/feeds-and-watch.md").read_text()


def hook(folder: Path, text: str) -> str:
    """A shell script as a command."""
    return f"/bin/sh {write_text(folder / 'hook.sh', text)}"


def test_a_command_finds_the_memo_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every field, the path on standard input too; no shell looks at any of it; the token is not passed on."""
    publisher = Publisher(states=["inbox"])
    script = hook(tmp_path, f'env >> {tmp_path}/env; cat >> {tmp_path}/in; echo "$1" >> {tmp_path}/args')
    tls, trust = trusted(tmp_path, monkeypatch), str(tmp_path / "certificate.pem")
    with publishing(publisher, tls=tls) as published:
        words = ("--once", "--exec", f"{script} '$HOME;`id`'", published.feed)
        done = watch(*words, folder=tmp_path, MEMOSITE_TOKEN="t", MEMO_X="1", SSL_CERT_FILE=trust)
    assert (done.returncode, done.stderr) == (0, "")
    found = dict(line.partition("=")[::2] for line in (tmp_path / "env").read_text().splitlines())
    path = "memos/inbox/2026-05-01-0900--engineer--director--0.openthing"
    expected = {"ACTION_REQUIRED": "true", "COUNT": "1", "FEED": published.feed, "FROM": "engineer", "GUID": guid(0)}
    expected |= {"PATH": path, "REPO": "repo", "SHA256": "0" * 64, "STATE": "inbox", "SUBJECT": SUBJECT}
    expected |= {"TITLE": "Memo 0", "TO": "director"}
    expected |= dict.fromkeys(("BODY_REF", "FILE", "FORMER", "IN_REPLY_TO", "LINK", "SENT", "THREAD_ID"), "")
    assert {name[5:]: found[name] for name in found if name.startswith("MEMO")} == expected
    assert (tmp_path / "in").read_text() == f"{path}\n" and (tmp_path / "args").read_text() == "$HOME;`id`\n"


def test_an_environment_never_outgrows_what_a_command_can_be_given(tmp_path: Path) -> None:
    """A subject of a megabyte is cut; the path never is. That a command is not there costs no try: it may come back."""
    item = ReceivedItem(guid="g", path="p", title="t" * 10**6, memo=(("subject", "s" * 10**6), ("to", "t" * 10**6)))
    memos = [AnnouncedMemo(feed="f", item=item, path="p")]
    made = environment(memos, {})
    assert sum(map(len, made.values())) < 100_000 and made[b"MEMO_PATH"] == b"p"
    runner = Runner([str(tmp_path / "gone")], timeout=5, is_json=False, folder=None, signals=Signals())
    said = f"{tmp_path}/gone: cannot be run (No such file or directory)"
    assert runner.deliver(memos) == Outcome(reason=said, is_try=False)


def test_a_batch_is_one_run_with_all_paths_and_given_up_only_as_far_as_it_was_tried(tmp_path: Path) -> None:
    """Oldest first, a path a line, as JSON if asked for; what came later waits for its own tries."""
    publisher = Publisher(states=["inbox"] * 12)
    with publishing(publisher) as published:
        script = hook(tmp_path, f'echo "$MEMO_COUNT $MEMO_PATH" >> {tmp_path}/runs; cat >> {tmp_path}/in')
        assert watch("--once", "--batch", "--json", "--exec", script, published.feed, folder=tmp_path).returncode == 0
    assert (tmp_path / "runs").read_text() == "12 \n"
    lines = [json.loads(line) for line in (tmp_path / "in").read_text().splitlines()]
    assert [line["guid"] for line in lines] == publisher.guids()
    assert lines[0]["action_required"] is True and lines[1]["thread_id"] is None
    tmp_path = tmp_path / "failing"
    publisher = Publisher(states=["inbox"])
    with (
        publishing(publisher) as published,
        watch_of(published.feed, tmp_path, is_batch=True, retries=2) as (watching, notebook),
    ):
        notebook.outcome = lambda: Outcome(reason="no")
        watching.cycle()
        publisher.arrive(2)
        watching.cycle()
        said = [text.removeprefix(f"{published.feed}: ") for text in notebook.said[1:]]
        name = "memos/inbox/2026-05-01-0900--engineer--director--0.openthing"
        assert said == [f"failed after 2 tries: {name}: no (--retry-failed)", "not delivered, try 1 of 2: 2 memos: no"]


def test_a_command_that_fails_is_tried_again_and_then_given_up(tmp_path: Path) -> None:
    """Nothing overtakes it meanwhile; given up, it is named in --status, and --retry-failed tries it again."""
    publisher = Publisher(states=["inbox"] * 3)
    script = hook(
        tmp_path, f'case $MEMO_PATH in *--1.*) [ -e {tmp_path}/ok ];; esac && echo "$MEMO_PATH" >> {tmp_path}/log'
    )
    with publishing(publisher) as published:
        arguments = ("--once", "--retries", "3", "--exec", script, published.feed)
        runs = [watch(*arguments, folder=tmp_path) for _ in range(3)]
        assert [run.returncode for run in runs] == [1, 1, 1]
        assert "not delivered, try 1 of 3: memos/inbox/2026-05-01-0900--engineer--director--1" in runs[0].stderr
        assert "/bin/sh: exit status 1" in runs[0].stderr and "failed after 3 tries" in runs[2].stderr
        status = watch("--status", folder=tmp_path)
        assert status.returncode == 1 and "0 pending, 2 done, 1 failed, 0 skipped" in status.stdout
        assert "not delivered: 'memos/inbox/2026-05-01-0900--engineer--director--1.openthing'" in status.stdout
        (tmp_path / "ok").touch()
        assert watch(*arguments, folder=tmp_path).returncode == 0
        assert watch(*arguments, "--retry-failed", folder=tmp_path).returncode == 0
    numbers = [line.rpartition("--")[2][0] for line in (tmp_path / "log").read_text().splitlines()]
    assert numbers == ["0", "2", "1"]


def test_what_waits_is_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that waits, read for each delivery, took a minute for 4,000 memos; a batch is read at once."""
    asked: list[int] = []
    pending = WatchState.pending

    def counted(state: WatchState, address: str, count: int) -> tuple[Delivery, ...]:
        asked.append(count)
        return pending(state, address, count)

    monkeypatch.setattr(WatchState, "pending", counted)
    for is_batch in (False, True):
        publisher = Publisher(states=["inbox"] * 5)
        with (
            publishing(publisher) as published,
            watch_of(published.feed, tmp_path / str(is_batch), is_batch=is_batch) as (watching, notebook),
        ):
            watching.cycle()
        assert notebook.guids == publisher.guids()
    assert asked == [1] * 6 + [10_000] * 2


def test_a_command_is_found_from_here_and_run_in_the_repo(tmp_path: Path) -> None:
    """As it was typed: a relative path would mean another file there."""
    (tmp_path / "repo").mkdir()
    wake = write_text(tmp_path / "wake", "#!/bin/sh\npwd\n")
    wake.chmod(0o755)
    with publishing(Publisher(states=["inbox"])) as published:
        words = ("watch", "--once", "--exec", "./wake", "--repo", "repo", published.feed)
        done = run_command(*words, folder=tmp_path, environment=clean_environment(tmp_path))
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "repo")), done.stderr


def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that does not want to end."""
    child = tmp_path / "child"
    script = hook(
        tmp_path, f'trap "" TERM; sleep 600 & echo $! > {child}.new; mv {child}.new {child}; wait; wait; sleep 600'
    )
    seconds = count(1)  # its time is over when it has come so far, however long that takes
    clock = SimpleNamespace(monotonic=lambda: float(next(seconds)) if child.exists() else 0.0)
    monkeypatch.setattr("memosite.watch.deliver.time", clock)
    with publishing(Publisher(states=["inbox"])) as published:
        done = watch("--once", "--timeout", "0.3s", "--exec", script, published.feed, folder=tmp_path)
    assert done.returncode == 1 and "try 1 of 5" in done.stderr
    assert "not done within 0.3 s" in done.stderr
    stat = Path("/proc", child.read_text().strip(), "stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


def test_a_limit_lets_the_rest_wait_and_says_so(tmp_path: Path) -> None:
    """Over several runs; what a wrong clock noted down in the future does not count."""
    publisher = Publisher(states=["inbox"] * 7)
    limit = Limit(count=3, seconds=3600, text="3/h")
    with publishing(publisher) as published, watch_of(published.feed, tmp_path, limit=limit) as (watching, notebook):
        for _ in range(3):
            watching.cycle()
        assert notebook.guids == publisher.guids()[:3]
        assert notebook.said == [f"{published.feed}: 4 more wait: the limit is 3/h"]
        for shift in (-4000, 90_000):
            connection = watching.state._connection
            connection.execute("UPDATE items SET tried_at = tried_at + ?", (shift,))
            watching.cycle()
    assert len(notebook.guids) == 7


def test_what_is_announced_is_what_asks_for_an_action_and_is_not_refused(tmp_path: Path) -> None:
    """The others count as seen; a refused path stops none, and should it get a good name, it is delivered."""
    publisher = Publisher(states=["inbox"] * 7)
    with publishing(publisher) as published:
        done = watch("--once", "--only", "action", published.feed, folder=tmp_path)
        again = watch("--once", published.feed, folder=tmp_path)
    assert [line.rpartition("--")[2][0] for line in done.stdout.splitlines()] == ["0", "3", "6"]
    assert again.stdout == ""
    tmp_path = tmp_path / "refused"
    publisher = Publisher(states=["inbox", "../../etc", "inbox"])
    with publishing(publisher) as published, watch_of(published.feed, tmp_path) as (watching, notebook):
        watching.cycle()
        assert notebook.guids == [guid(0), guid(2)]
        assert "refused: its path holds ..: memos/../../etc/2026" in notebook.said[0]
        publisher.states[1] = "inbox"
        watching.cycle()
        watching.cycle()
        assert notebook.guids == [guid(0), guid(2), guid(1)]


def test_a_memo_that_moved_is_found_in_the_mailbox_beside_but_not_by_a_link(tmp_path: Path) -> None:
    """The line says where it is now; by links out of a repo."""
    publisher = Publisher(states=["inbox", "inbox", "inbox"])
    repo = tmp_path / "repo"
    write_text(repo / "memos/read/2026-05-01-0900--engineer--director--0.openthing", "{}")
    write_text(repo / "memos/inbox/2026-05-01-0900--engineer--director--1.openthing", "{}")
    with publishing(publisher) as published:
        done = watch("--once", "--json", "--repo", repo, published.feed, folder=tmp_path)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["path"].split("/")[1] for line in lines] == ["read", "inbox", "inbox"]
    assert [line["file"] and Path(line["file"]).exists() for line in lines] == [True, True, None]
    assert "--0.openthing is now memos/read/" in done.stderr
    assert f"not found in {repo}: memos/inbox/2026-05-01-0900--engineer--director--2" in done.stderr
    tmp_path = tmp_path / "linked"
    write_text(tmp_path / "secret.openthing", "{}")
    (tmp_path / "repo/memos/inbox").mkdir(parents=True)
    (tmp_path / "repo/memos/inbox/m.openthing").symlink_to(tmp_path / "secret.openthing")
    (tmp_path / "repo/memos/inbox/loop.openthing").symlink_to("loop.openthing")
    for name in ("m", "loop", "x" * 300):
        assert locate(tmp_path / "repo", f"memos/inbox/{name}.openthing").file is None


def test_lines_are_bytes_in_utf_8_whatever_the_terminal_takes(tmp_path: Path) -> None:
    """A path with an escape in it would be another path."""
    item = "<item><guid>g</guid><description>new memo: memos/inbox/ä.openthing</description></item>"
    feed = write_text(tmp_path / "feed.xml", f"<rss><channel>{item}</channel></rss>")
    given = clean_environment(tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    done = run_command("watch", "--once", "--since", "all", feed, environment=given)
    assert done.stdout == "new memo: memos/inbox/ä.openthing\n"


@pytest.mark.parametrize("target", ["full", "closed"])
def test_what_nobody_could_read_is_announced_again(target: str, tmp_path: Path) -> None:
    """A full disk behind standard output, a reader that has gone."""
    environment = clean_environment(tmp_path)
    with publishing(Publisher(states=["inbox"] * 3)) as published:
        command = command_line("watch", "--once", published.feed)
        reading, writing = (
            os.pipe() if target == "closed" else (os.open("/dev/null", 0), os.open("/dev/full", os.O_WRONLY))
        )
        os.close(reading)
        done = subprocess.run(command, stdout=writing, stderr=-1, env=environment, check=False, timeout=5 * DEADLINE)
        os.close(writing)
        assert done.returncode == (0 if target == "closed" else 2)
        again = watch("--once", published.feed, folder=tmp_path)
    assert len(again.stdout.splitlines()) == 3


def adapter(name: str, folder: Path) -> Path:
    """A script of the guide, as a file."""
    found = re.search(rf"^`{name}`,[^\n]*\n\n```sh\n(.*?)```", GUIDE, re.DOTALL | re.MULTILINE)
    assert found
    return executable(folder / name, found[1])


def executable(file: Path, text: str) -> Path:
    """A program."""
    write_text(file, text).chmod(0o755)
    return file


def wake(script: Path, folder: Path, **more: str) -> None:
    """Let a watch run a script for one memo."""
    more = {"PATH": f"{folder / 'bin'}:{PATH}"} | more
    with publishing(Publisher(states=["inbox"])) as published:
        done = watch("--once", "--until-received", "--exec", script, published.feed, folder=folder, room=None, **more)
    assert (done.returncode, done.stderr) == (0, "")


class Chat(Handler):
    """A webhook that keeps what is posted."""

    posted: list[bytes]

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
        """Take it."""
        self.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()


def test_a_desktop_notification_a_mail_and_a_webhook(tmp_path: Path) -> None:
    """Each text is one argument; in a mail it is never in a header, and any subject leaves JSON whole."""
    executable(tmp_path / "bin/notify-send", f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n')
    wake(adapter("notify", tmp_path), tmp_path)
    assert (tmp_path / "told").read_text().splitlines() == ["--", "Memo from engineer", SUBJECT]
    executable(tmp_path / "bin/sendmail", f'#!/bin/sh\necho "$@" > {tmp_path}/to\ncat > {tmp_path}/mail\n')
    wake(adapter("mail-me", tmp_path), tmp_path / "mails", PATH=f"{tmp_path / 'bin'}:{PATH}")
    assert (tmp_path / "to").read_text() == "-oi you@example.org\n"
    head, _, body = (tmp_path / "mail").read_text().partition("\n\n")
    assert head.splitlines()[:2] == ["To: you@example.org", "Subject: new memo"]
    assert body.splitlines()[0] == f"engineer: {SUBJECT}"
    Chat.posted = []
    with serve_folder(tmp_path, Chat) as address:
        wake(adapter("post", tmp_path), tmp_path / "posts", WEBHOOK=f"{address}hook")
    assert [json.loads(one) for one in Chat.posted] == [{"text": f"engineer: {SUBJECT}"}]


def test_the_commands_of_the_session_and_the_daemon_are_those_of_the_program() -> None:
    """Every option is there, with values that it takes."""
    start = re.search(r"^ExecStart=(.*)$", GUIDE, re.MULTILINE)
    session = re.search(r"start of a session, print what waits:\n\n```sh\n(.*?)\n", GUIDE)
    assert start and session
    for line in (start[1], session[1]):
        options = parser().parse_args(shlex.split(line)[1:])
        assert options.until_received and options.repo and len(options.feeds) == 1
