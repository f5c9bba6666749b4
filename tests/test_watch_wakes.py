"""Woken until a receipt, whatever commands, clocks and watches do: lived through, and compared with a naive way."""

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from memosite.facts.errors import StateError
from memosite.fetch import Failed, Fetched, FetchOutcome, Unchanged
from memosite.watch.deliver import DONE, AnnouncedMemo, Outcome, Signals
from memosite.watch.loop import ReceiptRules, Watcher, WatchRules
from memosite.watch.state import Clocks, FeedState, WatchState, counts, open_state
from tests.support.feeds.publisher import FEED, Publisher
from tests.support.naive_wakes import AGAIN, RETRIES, Killed, Kind, Receiver, World, any_world, live_naively
from tests.support.watches import SOON


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
    """A state that does not wait for the disk: power cuts are tried in test_watch_state.py."""
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
if os.environ.get("MEMOSITE_SOAK"):
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
