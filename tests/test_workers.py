"""Pure functions over many items, in one process or several, with the same results in the same order."""

import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from memosite.facts.errors import MemositeError
from memosite.run.workers import BATCH, FIRST, LIGHT, ROUND, WAITING, _own_bytes, default_jobs, in_batches, run
from tests.support.commands import running
from tests.support.machines import double


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(jobs: int) -> None:
    """Whatever the number of processes, of which there is always one."""
    for count in (0, 1, BATCH, BATCH * LIGHT, BATCH * LIGHT + 7):
        assert list(run(double, range(count), jobs=jobs)) == [number * 2 for number in range(count)]
    assert default_jobs() >= 1


def test_the_first_batches_are_small_and_few_items_are_light() -> None:
    """The first results do not wait for many others; of few items a process would forget what it rendered."""
    batches, is_light = in_batches(range(BATCH * 2 * LIGHT), lambda _: 1)
    sizes = [len(batch) for batch in batches]
    assert not is_light
    assert sizes[:6] == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST, BATCH, BATCH]
    assert sum(sizes) == BATCH * 2 * LIGHT and max(sizes) == BATCH
    for count, expected in ((1, True), (LIGHT, True), (LIGHT + 1, False)):
        batches, is_light = in_batches(range(count), lambda _: BATCH * LIGHT * 2)
        assert (list(batches), is_light) == ([[number] for number in range(count)], expected)


def test_items_are_not_taken_much_before_they_are_needed_and_may_be_large() -> None:
    """What waits is bounded, so memory is; neither side waits for the other to read what does not fit into a pipe."""
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
    large = [bytes([number]) * 1_000_000 for number in range(40)]
    assert list(run(lambda item: item + item, iter(large), jobs=2, weight=lambda _: BATCH)) == [
        item + item for item in large
    ]


def processes(count: int, **settings: bool) -> set[int]:
    """By which processes so many batches are done; their results are in order."""
    items = range(count)
    found = list(run(lambda item: (item, os.getpid()), items, jobs=2, weight=lambda _: BATCH, **settings))
    assert [item for item, _ in found] == list(items)
    return {process for _, process in found}


def test_processes_are_renewed_when_they_have_copied_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they looked at is their own copy by then; where nobody knows how much that is, from time to time."""
    with monkeypatch.context() as patched:
        patched.setattr("memosite.run.workers._own_bytes", lambda: None)
        patched.setattr("memosite.run.workers._PAUSE", 0)
        assert len(processes(ROUND)) <= 2
        assert len(processes(4 * ROUND)) > 2
    assert len(processes(100)) <= 2
    monkeypatch.setattr("memosite.run.workers.COPIED", 0)
    monkeypatch.setattr("memosite.run.workers._PAUSE", 0)
    assert len(processes(100)) > 4
    assert len(processes(100, is_renewed=False)) <= 2  # as is needed where threads have begun meanwhile


def test_the_memory_of_a_process_is_its_own() -> None:
    """What it has taken is part of it."""
    before = _own_bytes()
    with mmap.mmap(-1, 50_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as taken:
        taken.write(b"x" * 50_000_000)
        after = _own_bytes()
    assert before is not None
    assert after is not None
    assert after - before > 30_000_000


class OddError(Exception):
    """One that cannot be unpickled."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def test_an_error_or_the_end_of_a_worker_is_told_here() -> None:
    """With the place in the worker; in words, if its class is odd; nobody waits for one that memory ran out for."""
    with pytest.raises(ZeroDivisionError) as caught:
        list(run(lambda number: 1 // (number - 50), range(BATCH * 2 * LIGHT), jobs=2))
    assert "in <lambda>" in caught.value.__notes__[0]

    def fail(_: int) -> None:
        raise OddError("this", "that")

    with pytest.raises(RuntimeError, match="OddError\\('this and that'\\)"):
        list(run(fail, range(BATCH * 2 * LIGHT), jobs=2))

    def end(number: int) -> int:
        if number == BATCH * 9:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(MemositeError, match=r"ended by signal 9.*--jobs 1"):
        list(run(end, range(BATCH * 20), jobs=2))


def test_processes_end_with_the_one_that_started_them() -> None:
    """However it ends: one that went on waiting would hold the lock of the output folder for ever."""
    program = (
        "import os, signal, sys\n"
        "from memosite.run.workers import run\n"
        "results = run(lambda _: os.getpid(), range(10_000), jobs=2)\n"
        "print(*sorted({next(results) for _ in range(200)}), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with running([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        began, _ = process.communicate(timeout=600)  # it ends when nobody is left who could write there
        assert began.split()
        assert process.returncode == -signal.SIGKILL
