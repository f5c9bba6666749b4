"""What a watch remembers: one writer, damage is an error, a full disk loses and repeats nothing."""

import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memosite.facts.errors import StateError
from memosite.feeds.document import ReceivedItem
from memosite.watch.state import FeedState, open_state, read_state
from tests.support.commands import command_line
from tests.support.feeds.publisher import Publisher, guid, publishing
from tests.support.waiting import DEADLINE
from tests.support.watches import clean_environment, no_proxy, watch, watch_of

__all__ = ["no_proxy"]

FEED_STATE = FeedState(address="feed")


def fill(path: Path, count: int = 200) -> None:
    """A state with some pending items."""
    state = open_state(path)
    items = (ReceivedItem(guid=guid(number), path=f"memos/{number}") for number in range(count))
    state.commit(FEED_STATE, [(item, "pending") for item in items], 0)
    state.close()


def test_a_state_keeps_what_it_was_told_and_leaves_other_databases_alone(tmp_path: Path) -> None:
    """Items with their fields, in their order; durable settings; nor is a newer version of the state touched."""
    path = tmp_path / "deep/er/state.sqlite"
    item = ReceivedItem(guid="g", path="p ä", title="t", link="l", is_asked=True, memo=(("from", "a"),))
    state = open_state(path)
    assert state.commit(FEED_STATE, [(item, "pending")], 1.0) == [(item, "pending")]
    assert state.commit(FEED_STATE, [(item, "pending")], 2.0) == []
    settings = [state._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    state.close()
    assert settings == ["wal", 2]
    state = open_state(path)
    assert [one.item for one in state.pending("feed", 10)] == [item] and state.feed("feed").is_known
    assert state.unknown("feed", ["g", "h"]) == {"h"} and state.unknown("other feed", ["g"]) == {"g"}
    state.close()
    fill(tmp_path / "newer.sqlite")
    for name, word, said in (
        ("state", "CREATE TABLE mine (a)", "another program"),
        ("newer", "PRAGMA user_version = 2", "version 2"),
    ):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite")) as connection:
            connection.execute(word)
        with pytest.raises(StateError, match=said):
            open_state(tmp_path / f"{name}.sqlite")


DAMAGES: dict[str, Callable[[Path, bytes], object]] = {
    "empty": lambda path, _: path.write_bytes(b""),
    "other bytes": lambda path, _: path.write_bytes(b"not a database, but as long as one" * 300),
    "cut short": lambda path, data: path.write_bytes(data[: len(data) // 2]),
    "overwritten": lambda path, data: path.write_bytes(data[:8192] + b"\xff" * 4096 + data[12288:]),
    "lost": lambda path, _: path.rename(path.with_name(f"{path.name}-wal")),  # its journal is there
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_is_an_error_and_not_a_first_run(damage: str, tmp_path: Path) -> None:
    """It says which file, and what to do; the file stays as it is."""
    path = tmp_path / "state.sqlite"
    fill(path)
    DAMAGES[damage](path, path.read_bytes())
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(StateError, match=r"state\.sqlite: the state is damaged .* restore it from a backup"):
        open_state(path)
    assert (path.read_bytes() if path.exists() else None) == before


def test_two_watches_on_one_state_do_not_work_at_the_same_time(tmp_path: Path) -> None:
    """The second says so and ends; looking is allowed. What came is announced once."""
    publisher = Publisher()
    publisher.arrive(3)
    with publishing(publisher) as published:
        with watch_of(published.feed, tmp_path, since="all") as (watching, notebook):
            path = tmp_path / "state.sqlite"
            (tmp_path / "link.sqlite").symlink_to("state.sqlite")
            for name in (path, tmp_path / "link.sqlite"):  # under two names, everything would be delivered twice
                done = watch("--once", "--state", name, published.feed, folder=tmp_path)
                said = f"memosite: {path}: another watch is at work with this state; end it, or name another\n"
                assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
            watching.cycle()
            looked = watch("--status", "--state", path, folder=tmp_path)
            assert "0 pending, 3 done, 0 failed, 0 skipped" in looked.stdout
        done = watch("--once", "--state", path, published.feed, folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, "")
    assert notebook.guids == publisher.guids()


def test_watches_of_many_that_start_at_once_announce_each_memo_once(tmp_path: Path) -> None:
    """Whoever comes first does the work; the others end with 2, or find nothing new."""
    publisher = Publisher()
    publisher.arrive(30)
    with publishing(publisher) as published:
        command = command_line("watch", "--once", "--since", "all", published.feed)
        environment = clean_environment(tmp_path)
        running = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=environment) for _ in range(4)]
        lines = [line for process in running for line in process.communicate(timeout=5 * DEADLINE)[0].splitlines()]
        assert {process.returncode for process in running} <= {0, 2}
    assert len(lines) == len(set(lines)) == 30


def test_a_full_disk_stops_deliveries_before_they_happen(tmp_path: Path) -> None:
    """Nothing of a poll is half in the state, nothing is delivered that could not be noted down, nothing is lost."""
    publisher = Publisher()
    publisher.arrive(5)
    with publishing(publisher) as published, watch_of(published.feed, tmp_path) as (watching, notebook):
        watching.cycle()
        connection = watching.state._connection
        ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        publisher.arrive(400)
        for _ in range(2):
            watching.cycle()
        assert len(notebook.guids) == 5
        assert ["the state cannot be written" in said for said in notebook.said] == [True]
        connection.execute("PRAGMA max_page_count = 100000")
        watching.cycle()
        assert notebook.guids == publisher.guids()
        watching.cycle()
        assert len(notebook.guids) == 405


@pytest.mark.parametrize("room", [0, 4096, 20_000, 50_000, 120_000])
def test_a_disk_that_fills_up_anywhere_loses_and_repeats_nothing(room: int, tmp_path: Path) -> None:
    """The command under a limit for files; when there is room again, exactly the rest is announced."""
    publisher = Publisher()
    publisher.arrive(2)
    with publishing(publisher) as published:
        words = ("--once", "--since", "all", "--state", tmp_path / "state.sqlite", published.feed)
        first = watch(*words, folder=tmp_path)
        publisher.arrive(60)
        limited = watch(*words, folder=tmp_path, room=room)
        assert limited.returncode in {1, 2} and "cannot be" in limited.stderr
        assert limited.stderr.count("Traceback") == 0
        last = watch(*words, folder=tmp_path)
        assert last.returncode == 0
    lines = (first.stdout + limited.stdout + last.stdout).splitlines()
    assert len(set(lines)) == 62
    # A delivery that could not be noted down may come twice when the process ends then, as after kill -9.
    assert len(lines) <= 63


@pytest.mark.parametrize("option", ["--status", "--retry-failed"])
def test_a_state_that_another_program_holds_is_said_in_one_line(option: str, tmp_path: Path) -> None:
    """Exit 2; and nothing is lost."""
    path = tmp_path / "state.sqlite"
    fill(path, 2)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE" if option == "--status" else "PRAGMA journal_mode")
    connection.execute("BEGIN IMMEDIATE")
    done = watch("--once", option, "--state", path, "feed.xml", folder=tmp_path)
    connection.close()
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "database is locked" in done.stderr


def test_a_state_that_cannot_be_opened_says_what_to_do(tmp_path: Path) -> None:
    """One line with the file, once, and exit code 2; looking at one that is not there makes none."""
    with pytest.raises(StateError, match="no such state"):
        read_state(tmp_path / "state.sqlite")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    path = tmp_path / "file/state.sqlite"
    done = watch("--once", "--state", path, "feed.xml", folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n"), done.stderr.count(str(path))) == (2, 1, 1), done.stderr
    assert "name another file with --state" in done.stderr
