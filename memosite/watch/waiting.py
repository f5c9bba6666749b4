"""[I/O] What a watch remembers of memos until they are received (FEEDS, receipts), beside the items of its state.

A memo has a row from when it is pending: `announced` counts its announcements, `at` is the time of the last one on
a clock that only goes forward. An older memosite ignores both tables, and announces each memo once.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memosite.feeds.document import ReceivedItem
from memosite.watch.state import WatchState, load_item

Stage = Literal["waiting", "received", "unknown", "escalated", "failed"]

_SCHEMA = (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """The two clocks of a machine: the one that people set, and the one that only goes forward until it restarts."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = steady_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An announced memo that is not received. `tries` counts failures of its next announcement."""

    number: int
    item: ReceivedItem
    announced: int
    at: float
    tries: int


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
            for statement in _SCHEMA:
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

    def begin(self, numbers: Sequence[int], now: float) -> None:
        """Record that another announcement or an escalation begins."""
        with self._state.writing() as write:
            write.executemany("UPDATE items SET is_running = 1, tried_at = ? WHERE id = ?", [(now, n) for n in numbers])

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
