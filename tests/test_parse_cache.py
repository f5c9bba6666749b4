"""What was parsed is remembered for files that did not change, and for no others."""

import os
import pickle
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from memosite.facts.errors import SourceError
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.names import blob_id
from memosite.facts.parsed import Parsed
from memosite.facts.values import field
from memosite.reading.parse_cache import ParseCache
from memosite.reading.reader import SourceReader
from memosite.reading.scans import KnownScans
from memosite.run import workers
from memosite.sources.folder import FolderSource
from memosite.store.cache import KEY_BYTES, own_key, state_home
from memosite.store.shelf import Shelf
from memosite.store.state import FILE, HOLDERS, LINES, PARSED, SCANS, TREE, Row, Rows, State
from tests.support.archives import folder_source
from tests.support.facts import digest
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import build_site


class Counting(FolderSource, apart=("reads",)):
    """A source that counts what is read of it."""

    reads: list[str] = field(default_factory=list)

    def read_file(self, path: str) -> File | Finding:
        """Read, and remember which."""
        self.reads.append(path)
        return super().read_file(path)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two memos."""
    for name in ("one", "two"):
        write_memo(tmp_path / "repo/memos", name, body=f"The body of {name}.")
    return tmp_path / "repo"


@pytest.fixture(autouse=True)
def _later(monkeypatch: pytest.MonkeyPatch) -> None:
    """All files were written long ago: when an inode changed cannot be set, so the clock is."""
    monkeypatch.setattr("memosite.reading.reader.time.time_ns", lambda: 4_000_000_000_000_000_000)


def read(repo: Path, cache: Path, shelf: Shelf | None = None) -> tuple[list[Parsed], list[str]]:
    """What is parsed, and what was read for it."""
    source = Counting(name="repo", root=repo)
    with Shelf() as own:
        cache.mkdir(exist_ok=True)
        with State(cache) as state:
            known = ParseCache(state, "repo")
            reader = SourceReader(source, shelf or own, cache=known)
            parsed = reader.candidates(source.list_files())
            reader.close()
            known.write()
    return parsed, list(source.reads)


def test_what_did_not_change_is_not_even_read(repo: Path, tmp_path: Path) -> None:
    """Texts are there when asked for, or a command says so; an edit that keeps size and time is seen by its inode."""
    first, read_first = read(repo, tmp_path / "cache")
    with Shelf() as shelf:
        again, read_again = read(repo, tmp_path / "cache", shelf)
        assert shelf.text(digest("The body of one.")) == "The body of one."
        next(repo.rglob("*two*.openthing")).write_text("{}")
        with pytest.raises(SourceError, match="run the command again"):
            shelf.text(digest("The body of two."))
    assert (len(read_first), read_again) == (2, [])
    assert again == first
    read(repo, tmp_path / "later")
    memo = next(repo.rglob("*one*.openthing"))
    times = memo.stat()
    memo.write_text(memo.read_text().replace("The body", "THE BODY"))
    os.utime(memo, ns=(times.st_atime_ns, times.st_mtime_ns))
    _, seen = read(repo, tmp_path / "later")
    assert [Path(path).name for path in seen] == [memo.name]


def test_what_was_written_just_now_is_read_again(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be written once more within the same tick of the clock."""
    memo = next(repo.rglob("*one*.openthing"))
    now = memo.stat().st_ctime_ns
    monkeypatch.setattr("memosite.reading.reader.time.time_ns", lambda: now + 1_000_000_000)
    read(repo, tmp_path / "cache")
    assert len(read(repo, tmp_path / "cache")[1]) == 2
    monkeypatch.setattr("memosite.reading.reader.time.time_ns", lambda: now + 60_000_000_000)
    read(repo, tmp_path / "cache")
    assert read(repo, tmp_path / "cache")[1] == []


class Planted:
    """What runs when it is loaded."""

    def __init__(self, file: Path) -> None:
        """Tell that it ran by making this file."""
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        """Run `open(file, "w")`."""
        return open, (str(self.file), "w")


@pytest.mark.parametrize("how", ["another key", "another file's", "another version's"])
def test_a_planted_row_is_never_loaded(repo: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site may be a clone of anybody's repo, with a cache in it; and what another version wrote may not load."""
    expected, _ = read(repo, tmp_path / "cache")
    planted = pickle.dumps(Planted(tmp_path / "ran"))
    if how == "another key":
        with monkeypatch.context() as other, State(tmp_path / "cache") as state:
            other.setattr(state, "_key", b"0" * KEY_BYTES)
            with state.writing():
                state[PARSED].put((key, planted) for key, _ in state[PARSED].items())
    elif how == "another file's":
        with closing(sqlite3.connect(tmp_path / "cache" / FILE)) as sql, sql:
            [(one,), (other_one,)] = sql.execute("SELECT value FROM parsed").fetchall()
            sql.execute("UPDATE parsed SET value = CASE value WHEN ? THEN ? ELSE ? END", (one, other_one, one))
    else:
        with monkeypatch.context() as other, State(tmp_path / "cache") as state:
            other.setattr("memosite.store.state.program_digest", lambda: "of another")
            with state.writing():
                state[PARSED].put([(("repo", "memos/one", "any"), planted)])
    found, seen = read(repo, tmp_path / "cache")
    assert not (tmp_path / "ran").exists()
    assert (found, len(seen)) == (expected, 2)
    read(repo, tmp_path / "cache")  # a file with such a row is removed, and the next reading begins a new one
    assert read(repo, tmp_path / "cache") == (expected, [])


def test_only_rows_of_what_changed_are_written(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the digests of its texts, by which its file is found; what a build leaves out is gone from both."""
    read(repo, tmp_path / "cache")
    memo = next(path for path in sorted(repo.rglob("*one*.openthing")))
    memo.write_text(memo.read_text().replace("The body", "Another body"))
    put: list[object] = []

    def noted(rows: Rows, some: Iterable[Row]) -> None:
        listed = list(some)
        put.extend(key for key, _ in listed)
        put_really(rows, listed)

    put_really = Rows.put
    with monkeypatch.context() as patched:
        patched.setattr(Rows, "put", noted)
        read(repo, tmp_path / "cache")
    path = memo.relative_to(repo).as_posix()
    assert ("repo", path, "any") in put and all(path in key for key in put)  # type: ignore[operator] # keys are tuples
    with State(tmp_path / "cache") as state:
        assert [key[1:3] for key in state[HOLDERS].keys(digest("Another body of one."))] == [("repo", path)]
        assert not state[HOLDERS].keys(digest("The body of one."))
        known = ParseCache(state, "repo")
        known.leave_out(frozenset({path}))
        known.write()
        assert path not in {key[-2] for table in (PARSED, HOLDERS) for key, _ in state[table].items()}


def test_of_a_source_that_is_no_part_of_the_site_any_more_nothing_stays(tmp_path: Path) -> None:
    """Nor of its history: no word, no name, no digest, in no free page of the file."""
    for name in ("quay", "yard"):
        repo = Repo(tmp_path / "site" / name)
        write_memo(repo.root / "memos/inbox", f"2026-05-01-0900--engineer--director--zq{name}", body=f"zq{name}word")
        repo.commit(who=f"zq{name}author")
    site = write_text(tmp_path / "site/memosite.yml", "sources: [{path: quay}, {path: yard}]\n").parent
    cache = site / ".memosite/internal"
    for sources, are_there in (("", True), ("sources: [{path: quay}]\n", False)):
        if sources:
            write_text(site / "memosite.yml", sources)
        build_site(site)
        kept = b"".join(file.read_bytes() for file in sorted(cache.glob(f"{FILE}*")))
        assert b"zqquayauthor" in kept
        assert [name in kept for name in (b"zqyardauthor", b"inbox/2026-05-01-0900--engineer--director--zqyard")] == [
            are_there
        ] * 2
        with State(cache) as state:
            assert state[PARSED].firsts() == (["quay", "yard"] if are_there else ["quay"])
            assert len(state[TREE].firsts()) == len(state[LINES].firsts()) == 1 + are_there


def test_scans_are_kept_up_to_a_limit_and_those_asked_for_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A content that nothing asks for any more makes room."""
    monkeypatch.setattr("memosite.reading.scans.SCANS_LIMIT", 3)
    contents = {blob_id(text.encode()): text for text in ("one", "two", "three", "four", "five")}
    former, now = list(contents)[:3], list(contents)[2:]
    for ids in (former, now):
        with State(tmp_path) as state:
            scans = KnownScans(state, "repo")
            assert [scans.spans(id_, contents[id_]) for id_ in ids] == [()] * 3
            scans.write()
    with State(tmp_path) as state:
        assert {key[1] for key in state[SCANS].keys("repo")} == set(now)


def test_the_key_is_for_its_user_and_a_damaged_one_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads it can make a cache that is loaded. A relative state folder would lie in whichever repo is current."""
    for left in (b"", b"half"):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        (tmp_path / "memosite").mkdir(exist_ok=True)
        (tmp_path / "memosite/key").write_bytes(left)
        key = own_key()
        assert key is not None
        assert len(key) == KEY_BYTES
        assert own_key() == key
        assert [path.name for path in (tmp_path / "memosite").iterdir()] == ["key"]
    monkeypatch.undo()
    assert own_key() == own_key()
    assert (state_home() / "key").stat().st_mode & 0o077 == 0
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_home() == tmp_path / ".local/state/memosite"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 5)  # in a container nobody may have that number
    assert own_key() is None


def test_processes_give_what_one_gives(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are parsed by several processes at once, in the order of their paths."""
    monkeypatch.setattr(workers, "LIGHT", 0)
    for number in range(120):
        write_memo(repo / "memos", f"m{number}", body=f"Body {number}.")
    source = folder_source(repo)
    with Shelf() as one, Shelf() as other:
        serial = SourceReader(source, one).candidates(source.list_files())
        assert SourceReader(source, other, jobs=2).candidates(source.list_files()) == serial
        assert len(serial) == 122
