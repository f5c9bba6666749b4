"""Who is woken when until a receipt, in a second and naive way: plain dicts, no feed, no database.

A world is a list of rounds and a fate for each memo. Both ways, `memosite watch` and this one, live through it with
the same receipts and the same broken commands; what they announce and escalate has to be equal.
"""

import random
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["wake", "escalate"]
Run = Literal["woken", "swallowed", "hangs", "fails", "killed"]
"""How a command ends: 30 of 100 that say they are done woke nobody."""

AGAIN = (900.0, 3600.0, 21_600.0)
RETRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round begins `pause` seconds after the former one, with `arrivals` new memos.

    `is_read`: the feed could be read. `restarts`: the watch was started anew, and the wall clock stepped by `step`
    seconds before this round, while it was down or while it ran.
    """

    pause: float
    arrivals: int
    is_read: bool
    restarts: bool
    step: float


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Rounds, and what chance has in store, by the memo and the number of a run."""

    seed: int
    rounds: tuple[Round, ...]

    def run(self, kind: Kind, memo: int, number: int) -> Run:
        """How the command ends when it is run for this memo for the `number`th time."""
        chance = random.Random(f"{self.seed} {kind} {memo} {number}")
        if memo % 100 == 99 and kind == "wake":
            return "hangs"  # always: its receiver would never hear of it
        ends: list[Run] = ["woken", "swallowed", "hangs", "fails", "killed"]
        return chance.choices(ends, [64, 30, 3, 2, 1])[0]

    def answers_after(self, memo: int, number: int) -> float | None:
        """Seconds from waking the receiver to its receipt; None if it does not care."""
        chance = random.Random(f"{self.seed} answer {memo} {number}")
        return None if memo % 10 == 7 else chance.choice([0.0, 60.0, 1200.0, 9000.0])

    def somebody_after(self, memo: int) -> float | None:
        """Seconds from its arrival to a receipt by somebody else; None if nobody else cares."""
        chance = random.Random(f"{self.seed} somebody {memo}")
        return chance.uniform(0, 40_000) if chance.random() < 0.15 else None


def any_world(seed: int, memos: int) -> World:
    """A world in which this many memos arrive, with time to settle in the end."""
    chance = random.Random(seed)
    rounds: list[Round] = []
    left = memos
    while left or len(rounds) < 3:
        arrivals = min(left, chance.choice([0, 0, 1, 5, 40, 90]))
        left -= arrivals
        rounds.append(_round(chance, arrivals))
    rounds += [_round(chance, 0) for _ in range(90 + memos // 12)]  # a command that fails keeps newer memos waiting
    return World(seed=seed, rounds=tuple(rounds))


def _round(chance: random.Random, arrivals: int) -> Round:
    return Round(
        pause=chance.choice([60.0, 300.0, 1500.0, 3600.0]), arrivals=arrivals, is_read=chance.random() > 0.15,
        restarts=chance.random() < 0.08,
        step=chance.choice([-400_000.0, -50.0, 50.0, 400_000.0]) if chance.random() < 0.1 else 0.0,
    )  # fmt: skip


class Killed(BaseException):
    """The watch was killed right after a command was done, before it could note that down."""


@dataclass
class Receiver:
    """Receives memos when it is woken, or when somebody else does it. Times are true ones."""

    world: World
    now: float = 0.0
    due: dict[int, float] = field(default_factory=dict)
    runs: dict[tuple[int, Kind, int], int] = field(default_factory=dict)
    log: list[tuple[float, int, Kind, int]] = field(default_factory=list)
    hung: float = 0.0

    def arrived(self, memo: int) -> None:
        """A memo is there; somebody may receive it without being woken."""
        if (after := self.world.somebody_after(memo)) is not None:
            self.due[memo] = self.now + after

    def has_received(self, memo: int) -> bool:
        """Whether a memo is received by now."""
        return memo in self.due and self.due[memo] <= self.now

    def run(self, watcher: int, kind: Kind, memo: int) -> bool:
        """Run a watcher's command for a memo, and note it down; whether it says that it is done."""
        number = self.runs[watcher, kind, memo] = self.runs.get((watcher, kind, memo), 0) + 1
        end = self.world.run(kind, memo, number)
        self.log.append((self.now, watcher, kind, memo))
        if kind == "wake" and end == "woken" and (after := self.world.answers_after(memo, number)) is not None:
            self.due[memo] = min(self.due.get(memo, float("inf")), self.now + after)
        self.hung += 600.0 if end == "hangs" else 0.0
        if end == "killed":
            raise Killed
        return end in {"woken", "swallowed"}


@dataclass
class NaiveWatcher:
    """Looks at every memo in every round. `time` is what it can know of the time that passed."""

    number: int
    receiver: Receiver
    time: float = 0.0
    announced: dict[int, int] = field(default_factory=dict)
    last: dict[int, float] = field(default_factory=dict)
    tries: dict[tuple[Kind, int], int] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)

    def round(self) -> None:
        """Announce what is new, the oldest first and none before an older one; then again what is due."""
        self.over |= {memo for memo in self.announced if self.receiver.has_received(memo)}
        for memo in [memo for memo, count in self.announced.items() if not count and memo not in self.over]:
            if not self._run("wake", memo):
                break
        for memo, count in self.announced.items():
            if count and memo not in self.over and self.time - self.last[memo] >= AGAIN[min(count, len(AGAIN)) - 1]:
                self._run("wake" if count <= len(AGAIN) else "escalate", memo)

    def _run(self, kind: Kind, memo: int) -> bool:
        """Run the command; whether that is settled, since it is done or was tried often enough."""
        is_done = self.receiver.run(self.number, kind, memo)
        self.tries[kind, memo] = self.tries.get((kind, memo), 0) + 1
        if not is_done and self.tries[kind, memo] < RETRIES:
            return False
        self.tries[kind, memo] = 0
        if kind == "wake":
            self.announced[memo] += 1
            self.last[memo] = self.time
        else:
            self.over.add(memo)
        return True


def live_naively(world: World, watchers: int) -> Receiver:
    """Live through a world."""
    receiver = Receiver(world)
    watching = [NaiveWatcher(number, receiver) for number in range(watchers)]
    killed: set[int] = set()
    for one in world.rounds:
        passed = one.pause + receiver.hung
        receiver.now, receiver.hung = receiver.now + passed, 0.0
        for memo in range(count := len(watching[0].announced), count + one.arrivals):
            receiver.arrived(memo)
            for watcher in watching:
                watcher.announced[memo] = 0
        for watcher in watching:
            is_new = one.restarts or watcher.number in killed
            watcher.time += max(0.0, passed + one.step) if is_new else passed
            killed.discard(watcher.number)
            if not one.is_read:
                continue
            try:
                watcher.round()
            except Killed:
                killed.add(watcher.number)
    return receiver
