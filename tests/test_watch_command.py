"""`memosite watch` as people and services use it: options, exit codes, signals, the repos without a site."""

import datetime as dt
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.config.loading import load_config
from memosite.fetch import Fetched, Unchanged
from memosite.reading.archive import ArchiveHandle
from memosite.watch.sources import PositionFeed
from memosite.watch.state import FeedState
from tests.support.commands import command_line, running
from tests.support.feeds.misdeeds import RSS, error
from tests.support.feeds.publisher import Publisher, publishing
from tests.support.files import write_text
from tests.support.memos import write_memo, write_org
from tests.support.sites import build_site
from tests.support.waiting import DEADLINE, wait_until
from tests.support.watches import clean_environment, no_proxy, watch, watch_of

__all__ = ["no_proxy"]


def test_a_session_reads_its_mail_once(tmp_path: Path) -> None:
    """N lines, then none; one more memo, one more line; nothing else is printed."""
    publisher = Publisher(states=["inbox", "read", "inbox"])
    with publishing(publisher) as published:
        first = watch("--once", published.feed, folder=tmp_path)
        second = watch("--once", published.feed, folder=tmp_path)
        publisher.arrive()
        third = watch("--once", published.feed, folder=tmp_path)
    name = "memos/inbox/2026-05-01-0900--engineer--director--"
    assert first.stdout == f"new memo: {name}0.openthing\nnew memo: {name}2.openthing\n"
    assert (second.stdout, third.stdout) == ("", f"new memo: {name}3.openthing\n")
    assert {one.stderr for one in (first, second, third)} == {""}


def test_several_feeds_are_announced_each_for_itself(tmp_path: Path) -> None:
    """One of them being broken does not silence the other; exit 1 says that something is wrong."""
    feed = write_text(tmp_path / "feed.xml", (Publisher(states=["inbox"]).document("/feed.xml") or b"").decode())
    broken = write_text(tmp_path / "broken.xml", "<rss><channel>")
    done = watch("--once", "--state", tmp_path / "one.sqlite", broken, feed, folder=tmp_path)
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 1)
    assert done.stderr.startswith(f"memosite watch: file://{broken}: not well-formed XML: ")
    assert done.stderr.count("\n") == 1
    found = watch("--status", "--json", "--state", tmp_path / "one.sqlite", folder=tmp_path).stdout.splitlines()
    assert [json.loads(line)["done"] for line in found] == [0, 1]
    done = watch("--once", write_text(tmp_path / "empty.xml", RSS.decode()), folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_cannot_be_done_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, what was found and what was expected."""
    cases: tuple[tuple[list[str], str], ...] = (
        ([], "found no feed"), (["ftp://example.org/feed.xml"], "expected http, https or a file"),
        (["https://a:b@example.org/feed.xml"], "netrc"), (["https:///feed.xml"], "no host"),
        (["http://[/"], "no address"), (["feed.xml", "--batch"], "--exec"),
        (["feed.xml", "--exec", "no-such-command-here"], "no-such-command-here"),
        (["feed.xml", "--repo", "/no/such/folder"], "--repo"),
        (["feed.xml", "--position", "director"], "one or the other"), (["feed.xml", "--site", "."], "--position"),
        (["feed.xml", "--status", "--state", "/no/such/state"], "no such state"),
        (["feed.xml", "--limit", "20"], "20/h"), (["feed.xml", "--interval", "0"], "90s"),
        (["feed.xml", "--exec", "'"], "quot"), (["feed.xml", "--retries", "0"], "from 1"),
        (["feed.xml", "--again", "15m"], "--again: expected --until-received with it"),
        (["feed.xml", "--escalate", "true"], "--escalate: expected --until-received with it"),
        (["feed.xml", "--until-received", "--again", "15m,,1h"], 'found "15m,,1h", expected times such as 15m,1h,1d'),
        (["feed.xml", "--until-received", "--escalate", "no-such"], "--escalate: found no command no-such"),
    )  # fmt: skip
    for arguments, word in cases:
        try:
            code = main(["watch", *arguments])
        except SystemExit as ended:
            code = int(str(ended.code))
        assert code == 2, arguments
        assert word in capsys.readouterr().err, arguments


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_a_signal_ends_a_watch_that_waits(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """Ctrl-C with 130, SIGTERM with 0, what arrives is announced first; under nohup it outlives its terminal."""
    publisher = Publisher(states=["inbox"])
    under = ["nohup"] if number is signal.SIGHUP else []
    with publishing(publisher) as published:
        command = command_line("watch", "--interval", 0.05, published.feed)
        with running(
            [*under, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=clean_environment(tmp_path),
        ) as process:  # fmt: skip
            assert process.stdout and process.stdout.readline().endswith("--0.openthing\n")
            if under:
                process.send_signal(number)
            publisher.arrive()
            assert process.stdout.readline().endswith("--1.openthing\n")
            process.send_signal(signal.SIGTERM if under else number)
            out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out, err) == (code, "", "")


@pytest.mark.parametrize(("end", "repeated"), [("exit 0", False), ("exit 1", True)])
def test_a_command_may_finish_when_the_watch_is_ended(end: str, repeated: object, tmp_path: Path) -> None:
    """It is told, and what it finished is done; else the memo waits, and no try is counted."""
    publisher = Publisher(states=["inbox", "inbox"])
    script = write_text(
        tmp_path / "hook.sh",
        f'echo "$MEMO_PATH" >> {tmp_path}/log; [ -e {tmp_path}/free ] && exit; trap "{end}" TERM; '
        f"touch {tmp_path}/ready; while :; do sleep 0.05; done",
    )
    with publishing(publisher) as published:
        command = ["watch", "--once", "--exec", f"/bin/sh {script}", published.feed]
        process = subprocess.Popen(command_line(*command), stderr=subprocess.DEVNULL, env=clean_environment(tmp_path))
        wait_until((tmp_path / "ready").exists)
        process.terminate()
        assert process.wait(60) == 0
        (tmp_path / "free").touch()
        assert watch(*command[1:], folder=tmp_path).returncode == 0
        assert "0 pending, 2 done" in watch("--status", folder=tmp_path).stdout
    numbers = [line.rpartition("--")[2][0] for line in (tmp_path / "log").read_text().splitlines()]
    assert numbers == (["0", "0", "1"] if repeated else ["0", "1"])


def test_a_signal_that_comes_twice_ends_a_watch_that_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a traceback, as later on."""

    def open_slowly(path: Path) -> object:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError(path)

    monkeypatch.setattr("memosite.watch.command.open_state", open_slowly)
    assert main(["watch", "--once", "--state", str(tmp_path / "state.sqlite"), "feed.xml"]) == 0


def test_a_trouble_is_said_once_and_its_end_too(tmp_path: Path) -> None:
    """Not at every poll."""
    with publishing(Publisher()) as published, watch_of(published.feed, tmp_path) as (watching, notebook):
        for misdeed in (error(503), error(503), error(404), None, None):
            published.misdeed = misdeed
            watching.cycle()
    said = [text.removeprefix(f"{published.feed}: ").partition(";")[0] for text in notebook.said]
    assert said == ["503 Service Unavailable", "404 Not Found", "feed: works again"]
    [missing] = [text for text in notebook.said if "404" in text]
    assert missing.startswith(f"{published.feed}: 404 Not Found; no feed is at this address; compare it with those")


def test_a_server_that_asks_for_time_gets_it(tmp_path: Path) -> None:
    """Also from the next run; a date that a wrong clock made is not believed."""

    def busy(request: object, _: bytes | None) -> None:
        request.give(429, Retry_After="3000")  # type: ignore[attr-defined]

    with publishing(Publisher(states=["inbox"])) as published:
        published.misdeed = busy
        asked = watch("--once", published.feed, folder=tmp_path)
        assert asked.returncode == 1
        assert asked.stderr.endswith("429 Too Many Requests; nothing is lost, run it again\n")
        published.misdeed = None
        done = watch("--once", published.feed, folder=tmp_path)
        assert (done.returncode, len(published.requests)) == (1, 1)
        assert "asks to wait 50m (Retry-After)" in done.stderr
        state = next((tmp_path / "states").rglob("*.sqlite"))
        with closing(sqlite3.connect(state, isolation_level=None)) as connection:
            connection.execute("UPDATE feeds SET not_before = not_before + 100000")
        assert watch("--once", published.feed, folder=tmp_path).returncode == 0


def test_a_publisher_that_stands_still_is_reported(tmp_path: Path) -> None:
    """By the site's status.json, wherever above the feed it lies; clocks that differ are told apart."""
    now = dt.datetime.now(dt.UTC)
    cases = {
        "one minute": (now - dt.timedelta(minutes=1), 0, ""),
        "three hours": (now - dt.timedelta(hours=3), 1, "the site is 3h old"),
        "future": (now + dt.timedelta(hours=3), 1, "one of the two clocks is wrong"),
        "none": (None, 1, "status.json was not found"),
    }
    for name, (built, code, word) in cases.items():
        with publishing() as published:
            if built:
                published.extra["/status.json"] = json.dumps({"v": 1, "built": built.isoformat()}).encode()
            done = watch("--once", "--max-age", "2h", published.feed, folder=tmp_path / name)
            assert (done.returncode, word in done.stderr) == (code, True), done.stderr


def organization(folder: Path) -> Path:
    """Two seats in two repos, each with a memo."""
    write_org(folder / "one/org", positions=("engineer", "director"))
    for repo, sender, to in (("one", "engineer", "director"), ("two", "director", "engineer")):
        write_memo(folder / repo / "memos/inbox", f"2026-05-01-0900--{sender}--{to}--hello", sender=sender, to=to)
    return folder


def test_a_position_is_watched_in_the_repos_as_in_its_feed(tmp_path: Path) -> None:
    """The same guids and paths, without any site; the file is found without --repo."""
    site = organization(tmp_path / "site")
    write_memo(site / "one/memos/read", "2026-05-02-0900--a--director--read", to="director")
    direct = watch("--once", "--json", "--since", "all", "--position", "director", "--site", site, folder=tmp_path)
    feed = build_site(site, output=tmp_path / "out") / "positions/director/feed.xml"
    published = watch("--once", "--json", "--since", "all", feed, folder=tmp_path)
    lines = [[json.loads(line) for line in done.stdout.splitlines()] for done in (direct, published)]
    assert len(lines[0]) == 2
    known = [[(line["guid"], line["path"], line["sha256"], line["from"]) for line in some] for some in lines]
    assert known[0] == known[1]
    assert all(Path(line["file"]).is_file() for line in lines[0])
    write_memo(site / "one/memos/inbox", "2026-05-03-0900--a--director--more", to="director")
    again = watch("--once", "--position", "director", "--site", site, folder=tmp_path)
    assert again.stdout == "new memo: memos/inbox/2026-05-03-0900--a--director--more.openthing\n"
    nobody = watch("--once", "--position", "nobody", "--site", site, folder=tmp_path)
    assert nobody.returncode == 1 and "found no such position, expected one of" in nobody.stderr


def test_a_feed_names_no_file_of_a_repo_but_memos(tmp_path: Path) -> None:
    """A command would get what a publisher chose, in the folder of the repo; without --repo no file is looked up."""
    memo = "memos/inbox/2026-05-01-0900--a--b--c.openthing"
    for path in (memo, "README.md", ".git/config"):
        write_text(tmp_path / "repo" / path, "{}")
    item = "<item><guid>{0}</guid><description>new memo: {0}</description></item>"
    items = "".join(
        map(item.format, ("README.md", ".git/config", "--help", "/etc/hosts", f"./{memo}", f"file:///{memo}", memo))
    )
    feed = write_text(tmp_path / "feed.xml", f"<rss><channel>{items}</channel></rss>")
    words = ("--once", "--since", "all", feed)
    done = watch(*words, "--repo", tmp_path / "repo", folder=tmp_path)
    assert (done.stdout, done.returncode, done.stderr.count("refused: ")) == (f"new memo: {memo}\n", 1, 6)
    done = watch(*words, folder=tmp_path / "other")
    assert "new memo: README.md\n" in done.stdout and done.stderr.count("refused: ") == 3


def test_repos_are_read_again_only_if_anything_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state keeps what they were like, as a server's validator; nor is what makes a feed loaded."""
    site = organization(tmp_path / "site")
    feed = PositionFeed("director", lambda: load_config(site), None, lambda: None)
    first = feed.read(FeedState(address="x"), is_conditional=False)
    assert isinstance(first, Fetched)
    known = FeedState(address="x", is_known=True, etag=first.etag, ledger=first.ledger)
    with monkeypatch.context() as patched:
        patched.setattr(ArchiveHandle, "read", lambda *_, **__: pytest.fail("the repos are read"))
        patched.setattr("memosite.watch.sources.read_ledger", lambda _: pytest.fail("the ledger is read"))
        assert isinstance(feed.read(known, is_conditional=True), Unchanged)
    assert isinstance(feed.read(known, is_conditional=False), Fetched)
    told = "import sys; from memosite.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    words = ["watch", "--once", "--position", "director", "--site", str(site)]
    command = [sys.executable, "-c", told, *words, "--state", str(tmp_path / "state")]
    once, again = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert ("new memo: " in once, "new memo: " in again) == (True, False)
    making = {"memosite.plan", "memosite.resolve", "memosite.reading.reader"}
    assert making <= {*once.split()} and (making | {"urllib.request"}) & {*again.split()} == set()
    write_memo(site / "one/memos/inbox", "2026-05-03-0900--a--director--more", to="director")
    changed = feed.read(known, is_conditional=True)
    assert isinstance(changed, Fetched) and b"2026-05-03-0900--a--director--more" in changed.data


def test_a_second_memo_of_one_name_does_not_take_the_guid_of_the_first(tmp_path: Path) -> None:
    """The order of arrival is remembered, though no site is ever built."""
    site = organization(tmp_path / "site")
    arguments = ("--once", "--json", "--position", "director", "--site", site)
    first = watch(*arguments, folder=tmp_path)
    name = "2026-05-01-0900--engineer--director--hello"
    write_memo(site / "two/memos/inbox", name, sender="engineer", to="director", sent="2020-01-01T00:00:00Z")
    second = watch(*arguments, folder=tmp_path)
    third = watch(*arguments, folder=tmp_path)
    guids = [json.loads(line)["guid"] for done in (first, second) for line in done.stdout.splitlines()]
    assert len(set(guids)) == 2
    assert third.stdout == ""


def test_two_seats_whose_commands_answer_each_other_are_bounded(tmp_path: Path) -> None:
    """A limit stops the spiral; what waits is kept, and comes when it is lifted."""
    site = organization(tmp_path / "site")
    script = write_text(
        tmp_path / "answer.py",
        "import json, os, pathlib, sys, uuid\n"
        "seat, other, folder = sys.argv[1:]\n"
        "open(sys.argv[0] + '.' + seat, 'a').write(os.environ['MEMO_GUID'] + '\\n')\n"
        "for n in range(2):\n"
        "    name = f'2026-05-02-0900--{seat}--{other}--{uuid.uuid4()}'\n"
        "    memo = {'type': 'memodef:Memo', 'memodef': '0.4', 'from': seat, 'to': other,\n"
        "            'subject': 'Re', 'body': 'Re', 'sent': '2026-05-02T09:00:00Z'}\n"
        "    pathlib.Path(folder, name + '.openthing').write_text(json.dumps(memo))\n",
    )
    seats = {"director": ("engineer", site / "two/memos/inbox"), "engineer": ("director", site / "one/memos/inbox")}

    def run(limit: str) -> list[str]:
        """Let each seat answer once; what was said."""
        said = []
        for seat, (other, folder) in seats.items():
            command = f"{sys.executable} {script} {seat} {other} {folder}"
            words = ("--once", "--position", seat, "--site", site, "--exec", command, "--limit", limit)
            said.append(watch(*words, folder=tmp_path).stderr)
        return said

    for _ in range(4):
        said = run("3/h")
    assert ["more wait: the limit is 3/h" in text for text in said] == [True, True]
    answered = {seat: (tmp_path / f"answer.py.{seat}").read_text().splitlines() for seat in seats}
    assert {seat: len(guids) for seat, guids in answered.items()} == {"director": 3, "engineer": 3}
    written = {seat: len(list(folder.glob("*"))) for seat, (_, folder) in seats.items()}
    assert written == {"director": 7, "engineer": 7}
    status = watch("--status", folder=tmp_path).stdout
    assert status.count("4 pending, 3 done, 0 failed, 0 skipped") == 2
