"""[I/O] Runs pure functions over many items, serially or in forked processes, and one function beside the rest."""

import gc
import os
import pickle
import selectors
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from memosite.facts.errors import MemositeError
from memosite.facts.patterns import regex
from memosite.facts.values import Struct
from memosite.run.processes import leave_to_parent

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext

Item = TypeVar("Item")


Result = TypeVar("Result")


BATCH = 48
"""Items sent to a process at once: measured on pages, where smaller batches cost time and larger ones memory."""


FIRST = 3
"""The weight of the first batch; each that follows may weigh twice as much, up to `BATCH`. So the first results come
soon: in `serve`, the pages that somebody looks at."""


WAITING = 3
"""Batches under way per process; what is planned beyond that waits, so that memory stays bounded. Items that weigh more
than a batch count as several: one of them waits, besides those that are worked on."""


LIGHT = 6
"""So few batches are not worth a process, which knows nothing yet of templates and texts."""


COPIED = 128 * 2**20
"""Bytes of its own memory with which a process is forked anew: whatever a process looks at becomes its own copy, since
Python counts references in it, until each has the whole archive. A full build of 10,000 artifacts renews each three
times."""


ROUND = 128
"""Batches after which a process is forked anew where the system does not tell how much it copied."""


_AHEAD = 3 * BATCH  # what a process is given at most before it has finished: one batch waits there, unless it is heavy


_SMALL = 16 * 2**10  # bytes that a pipe takes although nobody reads them yet


_PAUSE = 1.0  # seconds after which a process measures its memory again: that takes 25 ms per gigabyte


class Run(Protocol):
    """Applies a pure function to each item, wherever; the results come in the order of the items.

    Items are sent in batches of the weight `BATCH`.
    """

    def __call__(
        self, function: Callable[[Item], Result], items: Iterable[Item], *, weight: Callable[[Item], int]
    ) -> Generator[Result, None, None]:
        """Yield the results; closing this before its end stops all work."""
        ...


def default_jobs() -> int:
    """The number of cores that this process may use."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def run(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    jobs: int,
    weight: Callable[[Item], int] = lambda _: 1,
    is_renewed: bool = True,
) -> Generator[Result, None, None]:
    """Apply a pure function to each item; the results come in the order of the items.

    With one job, or if all items together are light, it is applied here. Otherwise `function` is inherited by forked
    processes, so it may hold anything; items and results are pickled in batches, small ones first.
    With renewal, a process that has copied `COPIED` bytes gives way to a new one.
    """
    lists, is_light = in_batches(items, weight)
    if jobs == 1 or is_light:
        yield from map(function, chain.from_iterable(lists))
        return
    batches = (_Batch(several, sum(map(weight, several))) for several in lists)
    with closing(_Pool(function, jobs, is_renewed=is_renewed)) as pool:
        under_way: deque[_Batch] = deque()
        following = next(batches, None)
        while following is not None or under_way:
            while following is not None and _has_room(under_way, jobs) and pool.start(following):
                under_way.append(following)
                following = next(batches, None)
            found = under_way[0].results
            if found is None:
                pool.receive(waits=True)
                continue
            under_way.popleft()
            for result in found:
                yield result
                pool.receive()  # a process waits until its results are taken


def _has_room(under_way: Sequence["_Batch"], jobs: int) -> bool:
    return len(under_way) <= jobs or sum(batch.weight for batch in under_way) <= jobs * WAITING * BATCH


def in_batches(items: Iterable[Item], weight: Callable[[Item], int]) -> tuple[Iterator[list[Item]], bool]:
    """The items in batches that weigh `BATCH` or little more, and whether all together are light.

    Light are at most `LIGHT` batches: few items, whatever they weigh. Of more, the first batches weigh less.
    """
    items = iter(items)
    few = list(islice(_batches(items, weight, first=BATCH), LIGHT + 1))
    if len(few) <= LIGHT:
        return iter(few), True
    return _batches(chain(chain.from_iterable(few), items), weight, first=FIRST), False


def _batches(items: Iterable[Item], weight: Callable[[Item], int], *, first: int) -> Iterator[list[Item]]:
    batch: list[Item] = []
    total, most = 0, first
    for item in items:
        batch.append(item)
        total += weight(item)
        if total >= most:
            yield batch
            batch, total, most = [], 0, min(2 * most, BATCH)
    if batch:
        yield batch


class _Batch(Struct):
    """Some items, what they weigh, and their results; None until these have come."""

    items: list[Any]
    weight: int
    results: list[Any] | None = None


class _Pool:
    """Forked processes that apply a function to batches. Each is renewed on its own, while the others work."""

    def __init__(self, function: Callable[[Any], Any], jobs: int, *, is_renewed: bool) -> None:
        """Fork no process before there is work for it."""
        self._function = function
        self._jobs = jobs
        self._is_renewed = is_renewed
        self._workers: list[_Worker] = []
        self._waiting = selectors.DefaultSelector()

    def start(self, batch: _Batch) -> bool:
        """Give a batch to a process; whether one could take it."""
        able = (one for one in self._workers if not one.is_last)
        worker = min(able, key=lambda one: one.load, default=None)
        if (worker is None or worker.load) and len(self._workers) < self._jobs:
            worker = self._fork()
        return worker is not None and worker.give(batch)

    def receive(self, *, waits: bool = False) -> None:
        """Take the results that are there, or wait for some. Raises what the function raised."""
        for key, _ in self._waiting.select(None if waits else 0):
            worker: _Worker = key.data
            if worker.take() and self._is_renewed:
                worker.is_last = True
            if worker.is_last and not worker.given:
                self._waiting.unregister(worker.pipe)
                self._workers.remove(worker)
                worker.kill()

    def close(self) -> None:
        """End all processes, whatever they do."""
        for worker in self._workers:
            worker.kill()
        self._waiting.close()
        gc.unfreeze()

    def _fork(self) -> "_Worker":
        gc.freeze()  # garbage collection in a child would copy every page of memory that it shares with this process
        worker = _Worker(self._function)
        self._workers.append(worker)
        self._waiting.register(worker.pipe, selectors.EVENT_READ, worker)
        return worker


def _forking() -> "ForkContext":
    import multiprocessing  # noqa: PLC0415 - where little is to be done, nothing is forked

    return multiprocessing.get_context("fork")


class _Worker:
    """A forked process as its parent sees it: what it was given and has not finished. `is_last`: it gets no more."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        context = _forking()
        self.pipe, its_end = context.Pipe()
        self.given: deque[_Batch] = deque()
        self.is_last = False
        self._process = context.Process(target=_work, args=(its_end, function), daemon=True)
        self._process.start()
        its_end.close()

    @property
    def load(self) -> int:
        """The weight of what it has not finished."""
        return sum(one.weight for one in self.given)

    def give(self, batch: _Batch) -> bool:
        """Send it a batch, unless it has enough; whether it was sent."""
        if len(self.given) > 1 or (self.given and self.load + batch.weight > _AHEAD):
            return False
        data = pickle.dumps(batch.items)
        if self.given and len(data) > _SMALL:  # it may be about to send results, and neither would read
            return False
        try:
            self.pipe.send_bytes(data)
        except OSError as error:
            raise self._ended() from error
        self.given.append(batch)
        return True

    def take(self) -> bool:
        """Take the results of a batch; whether it has copied so much that it is to be renewed."""
        try:
            answer = self.pipe.recv_bytes()
        except (EOFError, OSError) as error:
            raise self._ended() from error
        results, raised, has_copied = pickle.loads(answer)  # noqa: S301 - from this very program
        if raised is not None:
            raise raised
        self.given.popleft().results = results
        return bool(has_copied)

    def kill(self) -> None:
        """End it: it holds nothing that has to be closed."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()

    def _ended(self) -> MemositeError:
        self._process.join()
        code = self._process.exitcode or 0
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return MemositeError(
            f"a process that worked on this was ended {how}, as when memory runs out; free memory, or use --jobs 1, "
            "and run the command again"
        )


def _work(pipe: "Connection", function: Callable[[Any], Any]) -> None:
    """In a forked process: apply the function to batch after batch.

    It leaves interrupts to its parent process, and ends when the parent ends, however that happens: an orphan would
    keep what it inherited, such as the lock of the output folder.
    """
    begin_as_child()
    copies = _Copies()
    with suppress(EOFError, OSError):  # the parent is gone
        while True:
            pipe.send_bytes(_answer(function, pickle.loads(pipe.recv_bytes()), copies))  # noqa: S301 - as above


def begin_as_child() -> None:
    """In a process that was just forked: leave interrupts to its parent, and end when that ends."""
    leave_to_parent()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _answer(function: Callable[[Any], Any], items: list[Any], copies: "_Copies") -> bytes:
    """Results, the error that was raised instead, and whether this process is to be renewed; pickled."""
    try:
        return pickle.dumps(([function(item) for item in items], None, copies.are_many()), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:  # the parent raises it
        return _as_error(error)


def _as_error(error: BaseException) -> bytes:
    """An answer that has an error with its traceback as a note; in words, if it cannot be pickled."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(answer := pickle.dumps((None, error, False)))  # noqa: S301 - as above
    except Exception:  # whatever its own methods raise
        return pickle.dumps((None, RuntimeError(repr(error)), False))
    return answer


def _end_with_parent() -> None:
    from multiprocessing import parent_process  # noqa: PLC0415

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Copies:
    """In a worker process: whether it has copied so much memory that it is to be renewed."""

    def __init__(self) -> None:
        self._batches = 0
        self._next_look = 0.0

    def are_many(self) -> bool:
        """To be called after each batch."""
        self._batches += 1
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + _PAUSE
        own = _own_bytes()
        return self._batches >= ROUND if own is None else own > COPIED


_OWN: Final = regex(rb"Private_Dirty:\s+([0-9]+) kB")


def _own_bytes() -> int | None:
    """The memory that this process shares with no other; None if the system does not report it."""
    try:
        with open("/proc/self/smaps_rollup", "rb") as stream:  # noqa: PTH123 - it is no file of anybody's
            found = _OWN.search(stream.read())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


# Runs a function in a forked process beside the rest of the work; it ends with its parent.


class Beside:
    """A function that runs in a process of its own. What it raises only makes it fail."""

    def __init__(self, function: Callable[[], None]) -> None:
        """Start it. Raises `OSError` if no process can be started."""
        self._process = _forking().Process(target=_run, args=(function,), daemon=True)
        self._process.start()

    def wait(self) -> bool:
        """Wait until it has ended, and tell whether it succeeded."""
        self._process.join()
        return self._process.exitcode == 0

    def end(self) -> None:
        """End it, if it still runs: it has the locks of its parent."""
        self._process.kill()
        self._process.join()


def _run(function: Callable[[], None]) -> None:
    """In the forked process: what it inherited is the parent's to close."""
    begin_as_child()
    code = 1
    try:
        function()
        code = 0
    finally:
        os._exit(code)
