"""Pure functions over many items, in one process or several, with the same results in the same order."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from memosite.workers import BATCH, LIGHT, ROUND, WAITING, default_jobs, run


def double(number: int) -> int:
    """A pure function."""
    return number * 2


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH * LIGHT, BATCH * LIGHT + 7])
def test_results_come_in_the_order_of_the_items(jobs: int, count: int) -> None:
    """Whatever the number of processes."""
    assert list(run(double, range(count), jobs=jobs)) == [number * 2 for number in range(count)]


def test_items_are_not_taken_much_before_they_are_needed() -> None:
    """What waits is bounded, so memory is."""
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(BATCH * 100):
            taken += 1
            yield number

    results = run(double, items(), jobs=2)
    assert next(results) == 0
    assert taken <= BATCH * max(LIGHT + 2, 2 * WAITING + 2)
    results.close()


def test_processes_are_renewed_from_time_to_time() -> None:
    """What they looked at is a copy of their own by then; the results stay in order."""
    found = list(run(lambda item: (item, os.getpid()), range(2 * ROUND + 1), jobs=2, weight=lambda _: BATCH))
    assert [item for item, _ in found] == list(range(2 * ROUND + 1))
    assert len({process for _, process in found}) > 2
    kept = run(lambda _: os.getpid(), range(2 * ROUND + 1), jobs=2, weight=lambda _: BATCH, renewed_after=sys.maxsize)
    assert len(set(kept)) <= 2  # as is needed where threads have begun meanwhile


def test_an_error_in_a_worker_is_raised_here() -> None:
    """It is not swallowed, and the others stop."""
    with pytest.raises(ZeroDivisionError):
        list(run(lambda number: 1 // (number - 50), range(BATCH * 2 * LIGHT), jobs=2))


def test_there_is_always_somebody_to_do_the_work() -> None:
    """At least one process."""
    assert default_jobs() >= 1


def test_processes_end_with_the_one_that_started_them() -> None:
    """However it ends: one that went on waiting would hold the lock of the output folder for ever."""
    program = (
        "import os, signal, sys\n"
        "from memosite.workers import run\n"
        "results = run(lambda _: os.getpid(), range(10_000), jobs=2)\n"
        "print(*sorted({next(results) for _ in range(200)}), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        began, _ = process.communicate(timeout=60)  # it ends when nobody is left who could write there
        assert began.split()
        assert process.returncode == -signal.SIGKILL
