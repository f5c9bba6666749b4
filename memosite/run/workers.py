"""[I/O] Runs pure functions over many items, serially or in forked processes; results keep the order."""

import gc
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from memosite.run.processes import leave_to_parent

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

BATCH = 48
"""Items sent to a process at once: measured on pages, where smaller batches cost time and larger ones memory."""

WAITING = 3
"""Batches under way per process; what is planned beyond that waits, so that memory stays bounded. Items that weigh more
than a batch count as several: one of them waits, besides those that are worked on."""

LIGHT = 6
"""So few batches are not worth a process, which knows nothing yet of templates and texts."""

COPIED = 128 * 2**20
"""Bytes of its own memory with which processes are forked anew: whatever a process looks at becomes its own copy, since
Python counts references in it, until each has the whole archive. A full build of 10,000 artifacts renews them three
times."""

ROUND = 128
"""Batches of one process after which all are forked anew where the system does not tell how much they copied."""

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
    processes, so it may hold anything; items and results are pickled in batches of the weight `BATCH`.
    With renewal, processes are forked anew when one has copied `COPIED` bytes.
    """
    batches, is_light = in_batches(items, weight)
    if jobs == 1 or is_light:
        yield from map(function, chain.from_iterable(batches))
        return
    for first_of_round in batches:
        this_round = chain([first_of_round], batches)
        yield from _run_round(function, this_round, jobs=jobs, weight=weight, is_renewed=is_renewed)


def _run_round(
    function: Callable[[Item], Result],
    batches: Iterable[list[Item]],
    *,
    jobs: int,
    weight: Callable[[Item], int],
    is_renewed: bool,
) -> Iterator[Result]:
    """Yield results until one of the processes is to be renewed; unsent items stay in `batches`."""
    import multiprocessing  # noqa: PLC0415 - little work is done here
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    context = multiprocessing.get_context("fork")
    gc.freeze()  # garbage collection in a child would copy every page of memory that it shares with this process
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(function,)) as pool:
        under_way: deque[tuple[Future[tuple[list[Result], bool]], int]] = deque()  # with the weight of each
        try:
            for several in batches:
                under_way.append((pool.submit(_apply, several), sum(map(weight, several))))
                if len(under_way) > jobs and sum(heavy for _, heavy in under_way) > jobs * WAITING * BATCH:
                    results, has_copied = under_way.popleft()[0].result()
                    yield from results
                    if has_copied and is_renewed:
                        break
            while under_way:
                yield from under_way.popleft()[0].result()[0]
        except BaseException:
            pool.shutdown(cancel_futures=True)  # and wait: a pool still ending when Python exits prints a warning
            raise
        finally:
            gc.unfreeze()


def in_batches(items: Iterable[Item], weight: Callable[[Item], int]) -> tuple[Iterator[list[Item]], bool]:
    """The items in batches that weigh `BATCH` or little more, and whether all together are light."""
    batches = _batches(items, weight)
    few = list(islice(batches, LIGHT + 1))
    return chain(few, batches), len(few) <= LIGHT


def _batches(items: Iterable[Item], weight: Callable[[Item], int]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    total = 0
    for item in items:
        batch.append(item)
        total += weight(item)
        if total >= BATCH:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


class _Worker:
    """The state of a worker process: its function, the batches done, and when it measures its memory again."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._batches = 0
        self._next_look = 0.0

    def apply(self, batch: list[Any]) -> tuple[list[Any], bool]:
        """The results of a batch, and whether this process is to be renewed."""
        results = [self._function(item) for item in batch]
        self._batches += 1
        now = time.monotonic()
        if now < self._next_look:
            return results, False
        self._next_look = now + _PAUSE
        own = _own_bytes()
        return results, self._batches >= ROUND if own is None else own > COPIED


_inherited: list[_Worker] = []
"""In a worker process: itself. Empty everywhere else."""

_OWN = re.compile(rb"Private_Dirty:\s+([0-9]+) kB")


def _start(function: Callable[..., object]) -> None:
    """Start a worker: it leaves interrupts to its parent process, and ends when the parent ends, however that happens.

    An orphan would keep what it inherited, such as the lock of the output folder.
    """
    leave_to_parent()
    _inherited.append(_Worker(function))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process  # noqa: PLC0415

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _apply(batch: list[Item]) -> tuple[list[Any], bool]:
    return _inherited[0].apply(batch)


def _own_bytes() -> int | None:
    """The memory that this process shares with no other; None if the system does not report it."""
    try:
        with open("/proc/self/smaps_rollup", "rb") as stream:  # noqa: PTH123 - it is no file of anybody's
            found = _OWN.search(stream.read())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
