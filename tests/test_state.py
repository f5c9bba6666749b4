"""The one file that remembers: rows that this user wrote are there, and all others are as good as none."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.errors import OutputError
from memosite.store import state
from memosite.store.cache import open_part
from memosite.store.state import OWNER, State, Table
from tests.support.files import write_text

MEMO = Table(name="memo", keys=("source", "path"))
KEPT = Table(name="kept", keys=("key",), is_of_program=False)


@pytest.fixture(autouse=True)
def own_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two tables, and a key that is no other test's."""
    monkeypatch.setattr(state, "TABLES", (OWNER, MEMO, KEPT))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A part of the cache, in which a memo is remembered."""
    folder = tmp_path / "part"
    folder.mkdir()
    put(folder, ("engine", "a.json"), b"the tide tables")
    return folder


def put(folder: Path, key: tuple[str, str], value: bytes) -> None:
    """Remember a memo."""
    with State(folder) as remembered, remembered.writing():
        remembered[MEMO].put([(key, value)])


def found(folder: Path) -> tuple[dict[tuple[str | int, ...], bytes], str]:
    """What is remembered, and why nothing is kept."""
    with State(folder) as remembered:
        return dict(remembered[MEMO].items()), remembered.why_not


TIDE = {("engine", "a.json"): b"the tide tables"}


def test_rows_are_there_the_next_time_and_nobody_else_may_read_them(folder: Path) -> None:
    """Rows are there the next time and nobody else may read them."""
    assert found(folder) == (TIDE, "")
    assert [path.stat().st_mode & 0o077 for path in folder.iterdir()] == [0]  # its log is gone with the last who had it
    with State(folder) as remembered, remembered.writing():
        remembered[MEMO].put([(("engine", "b.json"), b"x")])
        assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_nobody_else_may_put_a_key_in_the_place_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever rights new files have by default: its folder is closed, as the cache is."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    before = os.umask(0)
    try:
        part = open_part(tmp_path / "cache", "internal")
        put(part or tmp_path, ("engine", "a.json"), b"the tide tables")
    finally:
        os.umask(before)
    closed = (tmp_path / "state/memosite", tmp_path / "cache", tmp_path / "cache/internal")
    assert [folder.stat().st_mode & 0o077 for folder in closed] == [0, 0, 0]


texts = st.text(st.characters(), max_size=8)


@given(
    st.dictionaries(st.tuples(texts, texts), st.binary(max_size=40)),
    st.dictionaries(st.tuples(texts, texts), st.binary()),
)
def test_rows_are_what_was_put_last_whatever_names_they_have(
    first: dict[tuple[str, str], bytes], then: dict[tuple[str, str], bytes]
) -> None:
    """Rows are what was put last whatever names they have."""
    folder = Path(os.environ["XDG_STATE_HOME"])
    shutil.rmtree(folder / "part", ignore_errors=True)
    (folder / "part").mkdir(parents=True)
    with State(folder / "part") as remembered, remembered.writing():
        remembered[MEMO].put(first.items())
        remembered[MEMO].replace(then.items())
    with State(folder / "part") as remembered:
        assert dict(remembered[MEMO].items()) == then
        assert set(remembered[MEMO].keys()) == set(then) and remembered[MEMO].count() == len(then)
        for (source, path), value in then.items():
            assert dict(remembered[MEMO].items(source)) == {key: one for key, one in then.items() if key[0] == source}
            assert remembered[MEMO].get(source, path) == value


def test_only_what_differs_is_written(folder: Path) -> None:
    """Only what differs is written."""
    rows = {("engine", f"{number}.json"): bytes(2_000) for number in range(500)}
    with State(folder) as remembered, remembered.writing():
        remembered[MEMO].replace(rows.items(), "engine")
    with State(folder) as remembered:
        with remembered.writing():
            remembered[MEMO].replace((rows | {("engine", "7.json"): b"other"}).items(), "engine")
        assert (folder / "state.sqlite-wal").stat().st_size < 20_000
    with State(folder) as remembered:
        assert remembered[MEMO].get("engine", "7.json") == b"other" and remembered[MEMO].count("engine") == 500


def test_a_block_that_fails_changes_nothing(folder: Path) -> None:
    """A block that fails changes nothing."""
    with State(folder) as remembered:
        with pytest.raises(KeyError), remembered.writing():
            remembered[MEMO].remove([("engine",)])
            raise KeyError
        assert dict(remembered[MEMO].items()) == TIDE
        with pytest.raises(ValueError, match="within"):
            remembered[MEMO].put([(("a", "b"), b"")])


def test_who_reads_sees_one_moment_and_waits_for_nobody(folder: Path) -> None:
    """Who reads sees one moment and waits for nobody."""
    with State(folder) as reader, State(folder) as writer, reader.reading():
        assert reader[MEMO].count() == 1
        with writer.writing():
            writer[MEMO].put([(("engine", "b.json"), b"")])
            assert reader[MEMO].count() == 1
        assert reader[MEMO].count() == 1
    assert len(found(folder)[0]) == 2


@pytest.mark.parametrize("is_read_only", [True, False])
def test_what_is_removed_while_somebody_reads_goes_with_the_last_reader(folder: Path, *, is_read_only: bool) -> None:
    """It is in the log of changes only as long as somebody reads it."""
    with State(folder, is_read_only=is_read_only) as reader, reader.reading():
        assert dict(reader[MEMO].items()) == TIDE
        with State(folder) as writer, writer.writing():
            writer[MEMO].remove([()])
        assert dict(reader[MEMO].items()) == TIDE
    assert b"tide" not in b"".join(file.read_bytes() for file in folder.iterdir())


@pytest.mark.parametrize("is_read_only", [True, False])
def test_what_was_removed_before_a_kill_goes_with_the_next_opening(folder: Path, *, is_read_only: bool) -> None:
    """Also where nothing is written then."""
    if not (child := os.fork()):
        try:
            writer = State(folder)
            with writer.writing():
                writer[MEMO].remove([()])
        finally:
            os._exit(0)  # as one that is killed, it closes nothing
    os.waitpid(child, 0)
    assert b"tide" in (folder / "state.sqlite").read_bytes()
    with State(folder, is_read_only=is_read_only) as remembered:
        assert not remembered[MEMO].count()
    assert b"tide" not in b"".join(file.read_bytes() for file in folder.iterdir())


def test_rows_of_another_program_are_none_and_others_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of another program are none and others stay."""
    with State(folder) as remembered, remembered.writing():
        remembered[KEPT].put([(("a",), b"history")])
    monkeypatch.setattr(state, "program_digest", lambda: "another")
    with State(folder) as remembered:
        assert remembered[MEMO].get("engine", "a.json") is None and remembered[MEMO].keys() == []
        assert remembered[KEPT].get("a") == b"history" and not remembered.why_not
        with remembered.writing():
            remembered[MEMO].put([(("engine", "new.json"), b"")])
    assert list(found(folder)[0]) == [("engine", "new.json")]


def test_other_tables_begin_anew_without_a_word(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tables begin anew without a word."""
    monkeypatch.setattr(state, "TABLES", (OWNER, MEMO))
    assert found(folder) == ({}, "")


# What was removed is gone


def test_what_was_removed_is_in_no_byte_of_the_cache(folder: Path) -> None:
    """What was removed is in no byte of the cache."""
    words = [f"word-{number}-of-a-secret".encode() for number in range(300)]
    with State(folder) as watching:  # a server has the file open all the time
        assert watching[MEMO].count() == 1
        with State(folder) as remembered, remembered.writing():
            remembered[MEMO].put((("engine", f"{number}"), word * 50) for number, word in enumerate(words))
        with State(folder) as remembered, remembered.writing():
            remembered[MEMO].remove([("engine", str(number)) for number in range(300)])
        left = b"".join(path.read_bytes() for path in folder.iterdir())
        assert b"the tide tables" in left and not [word for word in words if word in left]


# What is not ours


def planted(folder: Path, statement: str, *values: object) -> None:
    """Change the file as somebody does who has no key."""
    with sqlite3.connect(folder / "state.sqlite") as sql:
        sql.execute(statement, values)
    sql.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memo SET value = x'00'",
        "UPDATE memo SET value = 'the tide tables'",
        "UPDATE memo SET value = NULL",
        "UPDATE memo SET path = 'b.json'",
        "UPDATE owner SET value = x'00'",
        "DELETE FROM owner",
        "CREATE TABLE more (a)",
        "CREATE TRIGGER t AFTER INSERT ON memo BEGIN DELETE FROM memo; END",
        "DROP TABLE memo",
        "INSERT INTO memo VALUES ('engine', 'b.json', x'00112233')",
        "INSERT INTO memo VALUES (x'ff', 'b.json', x'00112233')",
    ],
)
def test_a_file_that_somebody_else_changed_is_removed(folder: Path, statement: str) -> None:
    """A file that somebody else changed is removed."""
    planted(folder, statement)
    rows, why = found(folder)
    assert rows == {}
    assert "everything is read and made anew" in why and "\n" not in why
    put(folder, ("engine", "a.json"), b"the tide tables")
    assert found(folder) == (TIDE, "")


def test_a_file_of_another_user_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file of another user is removed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    rows, why = found(folder)
    assert rows == {} and "written by somebody else" in why


def test_rows_are_those_of_their_table_and_key(folder: Path) -> None:
    """Rows are those of their table and key."""
    planted(folder, "INSERT INTO kept SELECT 'a.json', value FROM memo")
    with State(folder) as remembered:
        assert remembered[KEPT].get("a.json") is None


def test_a_log_of_changes_that_came_with_a_clone_is_never_believed(folder: Path, tmp_path: Path) -> None:
    """A log of changes that came with a clone is never believed."""
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    sql = sqlite3.connect(other / "state.sqlite", isolation_level=None)
    sql.execute("PRAGMA journal_mode = WAL")
    sql.execute("UPDATE memo SET value = x'00'")
    shutil.copy(other / "state.sqlite-wal", folder / "state.sqlite-wal")
    sql.close()
    rows, why = found(folder)
    assert rows in ({}, TIDE) and (rows or why)


@pytest.mark.parametrize("name", ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "state.sqlite-journal"])
def test_a_link_in_its_place_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    """A link in its place is refused."""
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="symbolic link"):
        State(folder)
    assert (tmp_path / "elsewhere").read_bytes() == b"precious"


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_file_never_gives_wrong_rows(folder: Path, seed: int) -> None:
    """A damaged file never gives wrong rows."""
    rows = {("engine", f"{number}"): f"row {number}".encode() * 300 for number in range(60)}
    with State(folder) as remembered, remembered.writing():
        remembered[MEMO].replace(rows.items())
    rng, file = random.Random(seed), folder / "state.sqlite"
    data = bytearray(file.read_bytes())
    if seed % 3 == 0:
        del data[rng.randrange(len(data)) :]
    else:
        for _ in range(rng.choice([1, 20, 400])):
            data[rng.randrange(len(data))] = rng.randrange(256)
    file.write_bytes(data)
    with State(folder) as remembered:
        known = dict(remembered[MEMO].items())
        assert known.items() <= rows.items()
        with remembered.writing():
            remembered[MEMO].replace(rows.items())
    for _ in range(2):  # found when it is written at the latest, and then begun anew
        with State(folder) as remembered, remembered.writing():
            remembered[MEMO].replace(rows.items())
    assert found(folder) == (rows, "")


# Where nothing can be kept


def test_while_another_process_writes_nothing_is_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process writes nothing is remembered."""
    monkeypatch.setattr(state, "WAIT", 0.1)
    with State(folder) as writer, writer.writing(), State(folder) as other:
        assert dict(other[MEMO].items()) == TIDE  # who reads does not wait
        with other.writing():
            other[MEMO].put([(("engine", "b.json"), b"")])
        assert "nothing is remembered this time" in other.why_not and not other.is_kept
    assert found(folder) == (TIDE, "")


def test_a_folder_that_cannot_be_written_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be written is read."""
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    with State(folder) as remembered:
        assert dict(remembered[MEMO].items()) == TIDE
        with remembered.writing():
            remembered[MEMO].put([(("engine", "b.json"), b"")])
        assert dict(remembered[MEMO].items()) == TIDE
    assert [path.name for path in folder.iterdir()] == ["state.sqlite"]


def test_a_full_disk_costs_only_what_was_to_be_remembered(folder: Path) -> None:
    """A full disk costs only what was to be remembered."""
    with State(folder) as remembered:
        assert remembered.rows("PRAGMA max_page_count = 20")
        with remembered.writing():
            remembered[MEMO].put((("engine", str(number)), bytes(4_000)) for number in range(100))
        assert "full" in remembered.why_not
        assert remembered[MEMO].items() == []
    assert found(folder) == (TIDE, "")


def test_a_disk_without_shared_memory_has_no_log_of_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk without shared memory has no log of changes."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda file, **more: connect(f"{file}&vfs=unix-dotfile", **more))
    put(tmp_path, ("engine", "a.json"), b"the tide tables")
    assert found(tmp_path) == (TIDE, "")
    with State(tmp_path) as remembered:
        assert remembered.rows("PRAGMA journal_mode") == [("delete",)]


def test_without_a_folder_or_a_key_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder or a key nothing is kept."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    for remembered in (State(None), State(tmp_path)):
        with remembered, remembered.writing():
            remembered[MEMO].put([(("a", "b"), b"")])
            assert remembered[MEMO].items() == [] and not remembered.is_kept
    assert not (tmp_path / "state.sqlite").exists()


# Processes that write at once, and are killed

WRITE = """
import sys
from pathlib import Path
from memosite.store import state
from memosite.store.cache import open_part
from memosite.store.state import OWNER, State, Table
from tests.support.files import write_text
MEMO = Table(name="memo", keys=("source", "path"))
state.TABLES = (OWNER, MEMO, Table(name="kept", keys=("key",), is_of_program=False))
for number in range(10_000):
    with State(Path(sys.argv[1])) as remembered, remembered.writing():
        rows = ((sys.argv[2], str(row)) for row in range(40))
        remembered[MEMO].replace(((row, str(number).encode() * 200) for row in rows), sys.argv[2])
    print(number, flush=True)
"""


def killed_writers(folder: Path, times: int) -> Iterator[None]:
    """Two processes that write at once, killed at random moments, again and again."""
    rng = random.Random(times)
    for _ in range(times):
        command = [sys.executable, "-c", WRITE, str(folder)]
        writers = [subprocess.Popen([*command, name], stdout=subprocess.PIPE) for name in ("one", "two")]
        for writer in writers:
            assert writer.stdout and writer.stdout.readline()
        time.sleep(rng.random() / 20)
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
        yield


def test_killed_writers_leave_what_was_written_before_or_after(folder: Path) -> None:
    """Killed writers leave what was written before or after."""
    for _ in killed_writers(folder, 6):
        with State(folder) as remembered:
            for name in ("one", "two"):
                assert len({value for _, value in remembered[MEMO].items(name)}) == 1
                assert remembered[MEMO].count(name) == 40
            assert not remembered.why_not and remembered[MEMO].get("engine", "a.json") == b"the tide tables"


FORMER = (
    *("parsed/3171d89ad00530ffa19a244f.cache", "history/48ccf3af238ebb730683b862.json"),
    *("history/48ccf3af238ebb730683b862.head.json", "history/48ccf3af238ebb730683b862.commits.json"),
    *("scans/3171d89ad00530ffa19a244f.cache", "scans/commits.cache", "versions/3171d89ad00530ffa19a244f.cache"),
    *("manifests/c47bb770439d4814.jsonl", "manifests/c47bb770439d4814.seal", "manifests/c47bb770439d4814.states"),
    *("templates/48ccf3af238ebb730683b862-3.compiled", "analyses/t39.cache", "archive.sqlite", "archive.seal"),
    *("archive.new-0a1b2c3d4e5f6071", "quotes.index", "names.index", "shared.cache"),
)
"""What earlier versions left in a part of the cache, each as it was called."""


def test_what_earlier_versions_remembered_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """It has texts that may be withheld now."""
    others = ("search/seal.json", "parsed/README", "archive.sqlite.bak", "past/x/commits")
    for name in (*FORMER, *others):
        write_text(tmp_path / "cache/internal" / name, "text")
    part = open_part(tmp_path / "cache", "internal")
    assert part is not None
    left = {path.relative_to(part).as_posix() for path in part.rglob("*") if path.is_file()}
    assert left == {".gitignore", *others}
