"""[I/O] The state of a watch: its feeds, every guid it ever saw with its fate, and memos until they are received.

A state that cannot be read is an error, never a first run: that would announce everything again, or miss new items.
So the file is created under another name and moved into place; an empty file in its place is damaged.

What is known of receipts is in two tables beside that. A memo has a row there from when it is pending: `announced`
counts its announcements, `at` is the time of the last one on a clock that only goes forward. An older memosite ignores
both tables, and announces each memo once.
"""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from memosite.facts.errors import StateError
from memosite.facts.values import Value
from memosite.feeds.document import ReceivedItem, refusal
from memosite.store.locks import Lock
from memosite.watch.policy import Fate

# The state of a watch: its feeds, and every guid it ever saw with its fate. SQLite, one writer.


_APPLICATION = 0x6D656D6F  # "memo"


_VERSION = 1


_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
CREATE TABLE feeds (
  id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE, etag TEXT, last_modified TEXT,
  unchanged INTEGER NOT NULL DEFAULT 0, not_before REAL, read_at REAL, error TEXT, ledger TEXT,
  is_known INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE items (
  id INTEGER PRIMARY KEY AUTOINCREMENT, feed INTEGER NOT NULL REFERENCES feeds, guid TEXT NOT NULL,
  fate TEXT NOT NULL CHECK (fate IN ('pending', 'done', 'failed', 'skipped', 'refused')),
  path TEXT NOT NULL, item TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, tried_at REAL,
  is_running INTEGER NOT NULL DEFAULT 0, UNIQUE (feed, guid)
);
CREATE INDEX items_by_fate ON items (feed, fate, id);
"""


_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; the second if its message quotes damaged text."""


_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH}


class UnwritableError(StateError):
    """The state cannot be written now: locked, a full disk, or the like. The transaction was rolled back."""


class FeedState(Value, kw_only=False):
    """The state of a feed. `unchanged` counts answers in a row without new items; times are seconds since 1970."""

    address: str
    is_known: bool = False
    etag: str | None = None
    last_modified: str | None = None
    unchanged: int = 0
    not_before: float | None = None
    read_at: float | None = None
    error: str | None = None
    ledger: str | None = None


class Delivery(Value):
    """An item to deliver. `number` is its place in this state's order of arrival, `tries` how often it has failed."""

    number: int
    item: ReceivedItem
    tries: int = 0


class WatchState:
    """An open state file."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: Lock | None) -> None:
        """Take over an open connection and the lock that goes with it; see `open_state`."""
        self.path = path
        self._connection = connection
        self._lock = lock

    def close(self) -> None:
        """Close the file and release the lock."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def addresses(self) -> list[str]:
        """The feeds in this state, in the order of adding."""
        return [address for (address,) in self.rows("SELECT address FROM feeds ORDER BY id")]

    def feed(self, address: str) -> FeedState:
        """The state of a feed; an empty one for a new feed."""
        found = self.rows(
            "SELECT is_known, etag, last_modified, unchanged, not_before, read_at, error, ledger "
            "FROM feeds WHERE address = ?",
            (address,),
        )
        return FeedState(address, *(found[0] if found else ()))

    def unknown(self, address: str, guids: Iterable[str]) -> frozenset[str]:
        """Those of the given guids that are new in this feed."""
        return frozenset(guid for guid in guids if not self._items("1", address, "AND guid = ?", guid))

    def commit(
        self, feed: FeedState, fates: Sequence[tuple[ReceivedItem, Fate]], now: float
    ) -> list[tuple[ReceivedItem, Fate]]:
        """Save a feed that was read, its validators and its new items, in one transaction; return the new items.

        Known items get their present path and mailbox, and one whose file got another name its new guid: it is not
        announced again. One that was refused for its path and now has a good one becomes pending.
        """
        new: list[tuple[ReceivedItem, Fate]] = []
        with self.writing() as write:
            number = self._number(write, feed.address)
            write.execute(
                "UPDATE feeds SET is_known = 1, etag = ?, last_modified = ?, unchanged = 0, not_before = NULL, "
                "read_at = ?, error = NULL, ledger = ? WHERE id = ?",
                (feed.etag, feed.last_modified, now, feed.ledger, number),
            )
            for item, fate in fates:
                fields = (item.path, item.title, item.link, item.is_asked, item.memo)  # as `load_item` reads them
                text = json.dumps(fields, ensure_ascii=False)
                if refusal(item) is None:
                    self._rename(write, number, item, text)
                row = (number, item.guid, fate, item.path, text)
                done = write.execute(
                    "INSERT OR IGNORE INTO items (feed, guid, fate, path, item) VALUES (?, ?, ?, ?, ?)", row
                )
                if done.rowcount:
                    new.append((item, fate))
                elif refusal(item) is None:
                    write.execute(
                        "UPDATE items SET path = ?, item = ?, "
                        "fate = CASE fate WHEN 'refused' THEN 'pending' ELSE fate END "
                        "WHERE feed = ? AND guid = ? AND item <> ?",
                        (item.path, text, number, item.guid, text),
                    )
        return new

    @staticmethod
    def _rename(write: sqlite3.Cursor, number: int, item: ReceivedItem, text: str) -> None:
        """Let a new item go on from the one that its feed says it was before. The former guid stays known."""
        former = item.field("former").split()
        of_feed = "WHERE feed = ? AND guid = ?"
        if not former or write.execute(f"SELECT 1 FROM items {of_feed}", (number, item.guid)).fetchall():  # noqa: S608
            return
        for guid in reversed(former):
            if write.execute(f"UPDATE items SET guid = ? {of_feed}", (item.guid, number, guid)).rowcount:  # noqa: S608
                row = (number, guid, item.path, text)
                write.execute("INSERT INTO items (feed, guid, fate, path, item) VALUES (?, ?, 'skipped', ?, ?)", row)
                return

    def note(self, address: str, *, error: str | None, unchanged: int, not_before: float | None, now: float) -> None:
        """Save the result of a fetch that gave nothing new."""
        with self.writing() as write:
            write.execute(
                "UPDATE feeds SET error = ?, unchanged = ?, not_before = ?, "
                "read_at = CASE WHEN ? IS NULL THEN ? ELSE read_at END WHERE id = ?",
                (error, unchanged, not_before, error, now, self._number(write, address)),
            )

    def pending(self, address: str, count: int) -> tuple[Delivery, ...]:
        """The oldest pending items, at most `count`."""
        oldest = "AND fate = 'pending' ORDER BY items.id LIMIT ?"
        found = self._items("items.id, guid, item, tries", address, oldest, count)
        try:
            return tuple(
                Delivery(number=number, item=load_item(guid, text), tries=tries) for number, guid, text, tries in found
            )
        except (ValueError, TypeError, RecursionError) as error:
            raise _damaged(self.path, "an item that cannot be read") from error

    def counts(self, address: str) -> dict[str, int]:
        """How many items of a feed have which fate."""
        return dict(self._items("fate, count(*)", address, "GROUP BY fate"))

    def failed(self, address: str) -> list[str]:
        """The paths of items that could not be delivered or were refused."""
        found = self._items("path", address, "AND fate IN ('failed', 'refused') ORDER BY items.id")
        return [path for (path,) in found]

    def tried(self, address: str, since: float, until: float) -> int:
        """How many items were delivered, or tried, in a span of time; not those dated after it by a wrong clock."""
        ((count,),) = self._items("count(*)", address, "AND tried_at > ? AND tried_at <= ?", since, until)
        return int(count)

    def interrupted(self, address: str) -> list[str]:
        """The paths of items in delivery when a watch was killed."""
        return [path for (path,) in self._items("path", address, "AND is_running ORDER BY items.id")]

    def begin(self, numbers: Sequence[int], now: float) -> None:
        """Record that delivery of items begins; a full disk fails here, not afterwards."""
        with self.writing() as write:
            write.executemany("UPDATE items SET is_running = 1, tried_at = ? WHERE id = ?", [(now, n) for n in numbers])

    def finish(self, numbers: Sequence[int]) -> None:
        """Record that items are delivered."""
        with self.writing() as write:
            write.executemany("UPDATE items SET fate = 'done', is_running = 0 WHERE id = ?", [(n,) for n in numbers])

    def give_back(self, numbers: Sequence[int], *, tries: int, retries: int) -> None:
        """Record that delivery failed: add `tries` to each, and give up those that reach `retries`."""
        with self.writing() as write:
            write.executemany(
                "UPDATE items SET is_running = 0, tries = tries + ?, "
                "fate = CASE WHEN tries + ? >= ? THEN 'failed' ELSE fate END WHERE id = ?",
                [(tries, tries, retries, number) for number in numbers],
            )

    def retry_failed(self, address: str) -> int:
        """Make items pending again that were given up; return how many."""
        with self.writing() as write:
            done = write.execute(
                "UPDATE items SET fate = 'pending', tries = 0 WHERE fate = 'failed' AND feed = ?",
                (self._number(write, address),),
            )
            return done.rowcount

    @staticmethod
    def _number(write: sqlite3.Cursor, address: str) -> int:
        write.execute("INSERT OR IGNORE INTO feeds (address) VALUES (?)", (address,))
        ((number,),) = write.execute("SELECT id FROM feeds WHERE address = ?", (address,)).fetchall()
        return int(number)

    def _items(self, columns: str, address: str, rest: str, *values: object) -> list[Any]:
        """What is asked of the items of a feed. Raises `StateError`."""
        query = f"SELECT {columns} FROM items JOIN feeds ON feeds.id = items.feed WHERE address = ? {rest}"  # noqa: S608
        return self.rows(query, (address, *values))

    def rows(self, query: str, values: tuple[object, ...] = ()) -> list[Any]:
        """What a query finds. Raises `StateError`."""
        try:
            return self._connection.execute(query, values).fetchall()
        except _ERRORS as error:
            raise _sorted(error, self.path) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Cursor]:
        """A transaction."""
        cursor = self._connection.cursor()
        try:
            cursor.execute("BEGIN IMMEDIATE")
            yield cursor
            cursor.execute("COMMIT")
        except BaseException as error:
            with contextlib.suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            if isinstance(error, _ERRORS):
                raise _sorted(error, self.path) from error
            raise


def _sorted(error: Exception, path: Path) -> Exception:
    """Classify an error of SQLite: damage, which a person has to repair, or a state that cannot be written now."""
    if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _DAMAGE:
        return _damaged(path, str(error))
    return UnwritableError(f"{path}: {error}")


def _damaged(path: Path, found: str) -> StateError:
    return StateError(
        f"{path}: the state is damaged ({found}); restore it from a backup, or remove it with its -wal file and "
        "watch with --since inbox, which announces what is unread once more"
    )


def open_state(path: Path) -> WatchState:
    """Open a state to write, and create it if missing. Raises `StateError`, also if another watch has it."""
    lock: Lock | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = Lock(path.with_name(path.name + ".lock"))
        if not lock.take():
            raise StateError(f"{path}: another watch is at work with this state; end it, or name another")
        if not path.exists():
            _make(path)
        return WatchState(path, _connect(path, mode="rw"), lock)
    except BaseException as error:
        if lock is not None:
            lock.release()
        if isinstance(error, (OSError, UnwritableError)):
            reason = error.strerror if isinstance(error, OSError) else str(error).removeprefix(f"{path}: ")
            advice = "see that its folder can be written and has room, or name another file with --state"
            raise StateError(f"{path}: the state cannot be opened ({reason}); {advice}") from error
        raise


def read_state(path: Path) -> WatchState:
    """Open a state to read, while a watch may be writing it. Raises `StateError`."""
    if not path.exists():
        raise StateError(f"{path}: found no such state; nothing has been watched with it")
    try:
        return WatchState(path, _connect(path, mode="ro"), None)
    except UnwritableError as error:
        raise StateError(f"{path}: the state cannot be read ({error})") from error


def _make(path: Path) -> None:
    """Create an empty state under another name, sync it to disk, and move it into place."""
    if path.with_name(path.name + "-wal").exists():
        raise _damaged(path, "there is a -wal file, and nothing that it belongs to")
    unfinished = path.with_name(path.name + ".unfinished")
    for name in (unfinished.name, unfinished.name + "-wal", unfinished.name + "-shm", unfinished.name + "-journal"):
        path.with_name(name).unlink(missing_ok=True)
    connection = sqlite3.connect(unfinished, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
    except sqlite3.Error as error:
        raise _sorted(error, path) from error
    finally:
        connection.close()
    for place in (unfinished, path.parent):
        descriptor = os.open(place, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        if place == unfinished:
            unfinished.rename(path)


def _connect(path: Path, *, mode: str) -> sqlite3.Connection:
    try:
        if path.stat().st_size == 0:
            raise _damaged(path, "an empty file")
        connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode={mode}", uri=True, isolation_level=None, timeout=5.0
        )
    except _ERRORS as error:
        raise _sorted(error, path) from error
    try:
        _check(connection, path)
        if mode == "rw":
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
    except _ERRORS as error:
        connection.close()
        raise _sorted(error, path) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if application != _APPLICATION:
        raise StateError(f"{path}: found a database of another program, expected the state of a watch")
    if version != _VERSION:
        raise StateError(f"{path}: found version {version} of the state, expected {_VERSION}; use a newer memosite")
    found = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if found != [("ok",)]:
        raise _damaged(path, str(found[0][0]).replace("\n", " "))


def load_item(guid: str, text: str) -> ReceivedItem:
    """An item as the state keeps it."""
    path, title, link, is_asked, memo = json.loads(text)
    return ReceivedItem(
        guid=guid,
        path=path,
        title=title,
        link=link,
        is_asked=is_asked,
        memo=tuple((name, value) for name, value in memo),
    )


# What a watch remembers of memos until they are received (FEEDS, receipts), beside the items of its state.


Stage = Literal["waiting", "received", "unknown", "escalated", "failed"]


_RECEIPTS_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS receipts (
  item INTEGER PRIMARY KEY REFERENCES items,
  stage TEXT NOT NULL DEFAULT 'waiting'
    CHECK (stage IN ('waiting', 'received', 'unknown', 'escalated', 'failed')),
  announced INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0
)""",
    "CREATE INDEX IF NOT EXISTS receipts_by_stage ON receipts (stage, item)",
    "CREATE TABLE IF NOT EXISTS receipt_clocks (feed TEXT PRIMARY KEY, elapsed REAL NOT NULL, wall REAL NOT NULL)",
)


def steady_time() -> float:
    """Seconds since the machine started, while it slept too; nobody can set this clock."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Clocks(Value):
    """The two clocks of a machine: the one that people set, and the one that only goes forward until it restarts."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = steady_time


class Waiting(Delivery):
    """An announced memo that is not received. `tries` counts failures of its next announcement."""

    announced: int
    at: float


class ReceiptState:
    """The receipts of one feed in an open state, with a clock that only goes forward, also across restarts.

    While a watch runs, this clock follows the steady one, so that setting the wall clock changes nothing. Between
    two runs only the wall clock can tell: a step back counts as no time.
    """

    def __init__(self, state: WatchState, address: str, clocks: Clocks) -> None:
        """Make the tables if they are missing, and set the clock going."""
        self._state = state
        self._address = address
        self._clocks = clocks
        with state.writing() as write:
            for statement in _RECEIPTS_SCHEMA:
                write.execute(statement)
        found = state.rows("SELECT elapsed, wall FROM receipt_clocks WHERE feed = ?", (address,))
        elapsed, wall = found[0] if found else (0.0, clocks.wall())
        self._start = elapsed + max(0.0, clocks.wall() - wall) - clocks.steady()

    def now(self) -> float:
        """The time on this clock."""
        return self._start + self._clocks.steady()

    def begin_round(self) -> None:
        """Save the time, and take up every pending memo."""
        with self._state.writing() as write:
            write.execute(
                "INSERT OR REPLACE INTO receipt_clocks VALUES (?, ?, ?)",
                (self._address, self.now(), self._clocks.wall()),
            )
            write.execute(
                "INSERT OR IGNORE INTO receipts (item) SELECT items.id FROM items JOIN feeds ON feeds.id = items.feed "
                "WHERE address = ? AND fate = 'pending'",
                (self._address,),
            )

    def count_first(self) -> None:
        """Count first announcements, made or failed for good: from now on their delays run."""
        with self._state.writing() as write:
            write.execute(
                "UPDATE receipts SET announced = 1, at = ? WHERE stage = 'waiting' AND announced = 0 AND item IN "
                "(SELECT items.id FROM items JOIN feeds ON feeds.id = items.feed "
                "WHERE fate IN ('done', 'failed') AND address = ?)",
                (self.now(), self._address),
            )

    def waiting(self) -> tuple[Waiting, ...]:
        """Memos that are not received, the oldest first; those to be announced for the first time have 0 so far."""
        found = self._state.rows(
            "SELECT items.id, guid, items.item, announced, at, receipts.tries FROM receipts "
            "JOIN items ON items.id = receipts.item JOIN feeds ON feeds.id = items.feed "
            "WHERE stage = 'waiting' AND address = ? ORDER BY items.id",
            (self._address,),
        )
        return tuple(
            Waiting(number=number, item=load_item(guid, text), announced=announced, at=at, tries=tries)
            for number, guid, text, announced, at, tries in found
        )

    def settle(self, numbers: Iterable[int], stage: Stage) -> None:
        """Record how waiting ended. What is received is not announced for the first time, either."""
        rows = [(number,) for number in numbers]
        with self._state.writing() as write:
            write.executemany("UPDATE items SET is_running = 0 WHERE id = ?", rows)
            write.executemany(
                "UPDATE receipts SET stage = ?, tries = 0 WHERE item = ?", [(stage, *row) for row in rows]
            )
            if stage == "received":
                write.executemany("UPDATE items SET fate = 'skipped' WHERE fate = 'pending' AND id = ?", rows)

    def announced(self, numbers: Sequence[int], at: float) -> None:
        """Record that memos were announced again."""
        with self._state.writing() as write:
            write.executemany("UPDATE items SET is_running = 0 WHERE id = ?", [(n,) for n in numbers])
            write.executemany(
                "UPDATE receipts SET announced = announced + 1, at = ?, tries = 0 WHERE item = ?",
                [(at, n) for n in numbers],
            )

    def give_back(self, numbers: Sequence[int], *, tries: int) -> None:
        """Record that a run failed; add `tries` to each."""
        with self._state.writing() as write:
            write.executemany("UPDATE items SET is_running = 0 WHERE id = ?", [(n,) for n in numbers])
            write.executemany("UPDATE receipts SET tries = tries + ? WHERE item = ?", [(tries, n) for n in numbers])

    def retry_failed(self) -> int:
        """Let failed escalations be tried again; return how many."""
        with self._state.writing() as write:
            done = write.execute(
                "UPDATE receipts SET stage = 'waiting', tries = 0 WHERE stage = 'failed' AND item IN "
                "(SELECT items.id FROM items JOIN feeds ON feeds.id = items.feed WHERE address = ?)",
                (self._address,),
            )
            return done.rowcount


def counts(state: WatchState, address: str) -> dict[Stage, int]:
    """How many memos of a feed are at which stage; empty if receipts were never watched."""
    if not state.rows("SELECT 1 FROM sqlite_master WHERE name = 'receipts'"):
        return {}
    query = (
        "SELECT stage, count(*) FROM receipts JOIN items ON items.id = receipts.item "
        "JOIN feeds ON feeds.id = items.feed WHERE address = ? GROUP BY stage"
    )
    return dict(state.rows(query, (address,)))
