"""Nothing missed, nothing repeated, woken until a receipt, whatever servers, hooks, clocks and power cuts do (FEEDS).

MEMOSITE_SOAK=SECONDS lets the simulation run with ever new seeds for so long; `make soak` does.
"""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from memosite.facts.errors import StateError
from memosite.fetch import Failed, Fetched, FetchOutcome, Unchanged
from memosite.watch.deliver import DONE, AnnouncedMemo, Outcome, Signals
from memosite.watch.loop import ReceiptRules, Watcher, WatchRules
from memosite.watch.state import Clocks, FeedState, WatchState, counts, open_state
from tests.support.feeds.misdeeds import any_misdeed
from tests.support.feeds.publisher import FEED, Publisher, publishing
from tests.support.files import ROOT
from tests.support.naive_wakes import AGAIN, RETRIES, Killed, Kind, Receiver, World, any_world, live_naively
from tests.support.watches import SOON, Notebook, clean_environment, no_proxy, watcher

__all__ = ["no_proxy"]

SOAK = float(os.environ.get("MEMOSITE_SOAK", "0"))
ROUNDS = 100 if SOAK else 60


def simulate(seed: int, folder: Path) -> int:
    """Publish, misbehave, deliver, fail and restart at random; then settle, and compare. How many memos that were."""
    chance = random.Random(seed)
    publisher = Publisher(block=chance.choice([7, 20, 50]), window=chance.choice([20, 50]))
    publisher.window = max(publisher.window, publisher.block)
    notebook = Notebook()
    notebook.outcome = lambda: Outcome(reason="no") if chance.random() < 0.04 else DONE
    since = chance.choice(["all", "inbox"])
    rules = {"since": since, "retries": 10**6, "is_batch": chance.random() < 0.3}
    with publishing(publisher) as published:
        state = open_state(folder / "state.sqlite")
        watching = watcher(published.feed, state, notebook, **rules)
        for _ in range(ROUNDS):
            publisher.arrive(chance.choice([1, 1, 2, 5, 30, 70]) if chance.random() < 0.25 else 0)
            for done in set(notebook.guids[-200:]):
                if chance.random() < 0.9:
                    publisher.read(int(done.rpartition("/")[2]))
            published.misdeed = any_misdeed(chance) if chance.random() < 0.4 else None
            watching.cycle()
            if chance.random() < 0.05:
                state.close()
                state = open_state(folder / "state.sqlite")
                watching = watcher(published.feed, state, notebook, **rules)
        published.misdeed, notebook.outcome = None, lambda: DONE
        for _ in range(15):
            watching.cycle()
        state.close()
    expected = Counter(publisher.guids())
    found = Counter(notebook.guids)
    assert found - expected == Counter(), f"seed {seed}: repeated"
    assert expected - found == Counter(), f"seed {seed}: missed"
    return len(publisher.states)


def test_nothing_is_missed_and_nothing_repeated(tmp_path: Path) -> None:
    """40 of 100 answers are abnormal, one hook in ten fails, the watch starts again; in `make soak` with any seeds."""
    end = time.monotonic() + SOAK
    seeds = count(random.SystemRandom().randrange(2**32)) if SOAK else iter(range(2))
    memos = simulations = 0
    for seed in seeds:
        memos += simulate(seed, tmp_path / str(seed))
        simulations += 1
        if SOAK and time.monotonic() > end:
            break
    assert memos > 100 * simulations
    print(f"{simulations} simulations, {memos} memos: 0 missed, 0 repeated")


@pytest.mark.parametrize("way", ["print", "exec", "batch"])
def test_kill_9_at_each_step_loses_nothing(way: str, tmp_path: Path) -> None:
    """After every second or fourth thing that it does to the world; the one memo in delivery may come twice."""
    publisher = Publisher(block=2, window=2)
    publisher.arrive(3)
    with publishing(publisher) as published:
        driver = ROOT / "tests/support/watch_killer.py"
        first, step = {"print": (1, 2), "exec": (2, 4), "batch": (4, 4)}[way]
        done = subprocess.run(
            [sys.executable, driver, published.feed, tmp_path, way, str(first), str(0 if SOAK else step), str(SOAK)],
            env=clean_environment(tmp_path), capture_output=True, text=True, timeout=300 + SOAK, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 missed" in done.stdout
    print(way, done.stdout)


class Published:
    """What a publisher has now, without a server; or nothing, if the network is down."""

    address = f"https://memos.example.org{FEED}"

    def __init__(self, publisher: Publisher) -> None:
        """Read this publisher."""
        self.publisher = publisher
        self.is_up = True

    def read(self, known: FeedState, *, is_conditional: bool) -> FetchOutcome:
        """The feed."""
        found = self.get(self.address)
        if isinstance(found, Fetched) and is_conditional and known.etag == found.etag:
            return Unchanged()
        return found

    def get(self, address: str) -> FetchOutcome:
        """The feed or one of its archives."""
        if not self.is_up:
            return Failed(reason="down")
        data = self.publisher.document(address.removeprefix("https://memos.example.org"))
        if data is None:
            return Failed(reason="404")
        return Fetched(address=address, data=data, etag=str(hash(data)))

    def repo_of(self, name: str) -> Path | None:
        """None: the feed tells."""

    def problem(self, max_age: float, now: object) -> str | None:
        """None."""


class Command:
    """A command of a watcher, as the receiver hears of it."""

    def __init__(self, receiver: Receiver, watcher: int, kind: Kind) -> None:
        """Run this kind of command."""
        self._receiver, self._watcher, self._kind = receiver, watcher, kind

    def deliver(self, memos: Sequence[AnnouncedMemo]) -> Outcome:
        """Run it for one memo."""
        (memo,) = memos
        number = int(memo.item.guid.rpartition("/")[2])
        is_done = self._receiver.run(self._watcher, self._kind, number)
        return DONE if is_done else Outcome(reason="no")


class Machine:
    """Two clocks: one is never set, the other steps."""

    def __init__(self) -> None:
        """Some time after 1970."""
        self.wall, self.steady = 1_800_000_000.0, 5000.0


def _opened(path: Path) -> WatchState:
    """A state that does not wait for the disk: that others do is held in test_watch_state.py."""
    state = open_state(path)
    state.rows("PRAGMA synchronous = OFF")
    return state


class Watching:
    """A watcher that can be started anew."""

    def __init__(self, number: int, source: Published, receiver: Receiver, machine: Machine, folder: Path) -> None:
        """Start it."""
        self.number, self.is_killed = number, False
        self.state = _opened(folder / f"{number}.sqlite")
        self._folder = folder
        clocks = Clocks(wall=lambda: machine.wall, steady=lambda: machine.steady)
        receipts = ReceiptRules(again=AGAIN, escalate=Command(receiver, number, "escalate"), clocks=clocks)
        self._rules = WatchRules(since="all", interval=SOON, retries=RETRIES, receipts=receipts)
        self._parts = source, Command(receiver, number, "wake")
        self._start()

    def _start(self) -> None:
        source, command = self._parts
        self._watcher = Watcher(
            source, self.state, command, self._rules, Signals(), say=lambda _: None, note=lambda _: None
        )
        self._watcher.start(is_retrying=False)

    def restart(self) -> None:
        """Start it anew; while it runs, no other can take its state."""
        with pytest.raises(StateError, match="another watch"):
            open_state(self.state.path)
        self.state.close()
        self.state, self.is_killed = _opened(self.state.path), False
        self._start()

    def cycle(self) -> None:
        """One round, unless it is killed in it."""
        self.is_killed = True
        with suppress(Killed):
            self._watcher.cycle()
            self.is_killed = False


def live(world: World, watchers: int, folder: Path) -> tuple[Receiver, list[Watching]]:
    """Live through a world with real watchers and their states."""
    receiver, machine, publisher = Receiver(world), Machine(), Publisher()
    source = Published(publisher)
    watching = [Watching(number, source, receiver, machine, folder) for number in range(watchers)]
    for round_ in world.rounds:
        passed = round_.pause + receiver.hung
        receiver.now, receiver.hung = receiver.now + passed, 0.0
        machine.wall, machine.steady = machine.wall + passed + round_.step, machine.steady + passed
        for memo in range(count := len(publisher.states), count + round_.arrivals):
            publisher.arrive()
            receiver.arrived(memo)
        source.is_up = round_.is_read
        for watch in watching:
            publisher.read(*(memo for memo in receiver.due if receiver.has_received(memo)))
            if round_.restarts or watch.is_killed:
                watch.restart()
            watch.cycle()
    return receiver, watching


WORLDS = [(3, 1, 150), (4, 2, 100)]
"""Seed, watchers and memos; every announcement of the hundredth memo hangs. `make soak` has larger ones, too."""
if SOAK:
    WORLDS += [(1, 1, 1000), (2, 2, 300)]


@pytest.mark.parametrize(("seed", "watchers", "memos"), WORLDS)
def test_each_memo_is_received_or_escalated(seed: int, watchers: int, memos: int, tmp_path: Path) -> None:
    """30 of 100 announcements are swallowed, commands hang, watches are killed and started anew, clocks step."""
    world = any_world(seed, memos)
    receiver, watching = live(world, watchers, tmp_path)
    naive = live_naively(world, watchers)
    assert receiver.log == naive.log, "announced and escalated are not what the rules say"
    late = [run for run in receiver.log if receiver.due.get(run[3], float("inf")) < run[0]]
    assert late == [], "announced after its receipt"
    escalated = {(watcher, memo) for _, watcher, kind, memo in receiver.log if kind == "escalate"}
    for number in range(watchers):
        lost = [m for m in range(memos) if (number, m) not in escalated and not receiver.has_received(m)]
        assert lost == [], "neither received nor escalated"
    assert escalated, "the world was too kind"
    stages = Counter[str]()
    for watch in watching:
        stages.update(counts(watch.state, Published.address))
        watch.state.close()
    assert stages["waiting"] == 0
    kinds = Counter(kind for _, _, kind, _ in receiver.log)
    print(f"{memos} memos: {kinds['wake']} announcements, {len(escalated)} escalated, {stages['received']} received")
