"""[I/O] Prints on the standard streams, and shows the progress of a long command; profiles its stages.

The reader of a pipe may be gone (`| head -1`), a disk full, a terminal closed. A command is there for its work, and its
exit code tells how that went; only what was asked for and cannot be printed is an error. No stream gets a character
that steers a terminal, whatever file or argument it comes from (SPEC 9).

The working code calls a `Progress` at each step; it may raise, to stop the work between two steps.
"""

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from memosite.facts.characters import harmless

# Prints on the standard streams: what they do not take stops no work.


def show(text: str) -> None:
    """Print what was asked for on standard output. Raises `OSError` if it cannot be, other than for want of a reader.

    Without a reader the command goes on, so that its exit code says what it found.
    """
    with without_reader():
        _print(text, sys.stdout)


def show_styled(text: str) -> None:
    """Print on a terminal what holds escapes of our own, and whose content is printable."""
    with without_reader():
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


@contextmanager
def without_reader() -> Iterator[None]:
    """A block that writes to standard output, and ends where nobody reads it any more."""
    try:
        yield
    except BrokenPipeError:
        forget(sys.stdout)


def show_if_possible(text: str) -> None:
    """Print on standard output, for a command that goes on whether anybody reads it or not."""
    print_if_possible(text, sys.stdout)


def say(text: str) -> None:
    """Print a message on standard error, beside the output."""
    print_if_possible(text, sys.stderr)


def _print(text: str, stream: TextIO) -> None:
    stream.write(f"{harmless(text)}\n")
    stream.flush()


def print_if_possible(text: str, stream: TextIO) -> None:
    """Print on a stream, for a command that goes on whether anybody reads it or not."""
    try:
        _print(text, stream)
    except OSError:
        forget(stream)


def forget(stream: TextIO) -> None:
    """Discard what Python still buffers for a stream, and all that follows: it must not raise again, nor at exit."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


# Shows the progress of a long command: bars on a terminal, lines elsewhere; and profiles its stages.


Progress = Callable[[str, int, int], None]
"""Called with a stage, what is done of it, and how much it is; a stage begins with nothing done."""


_COUNTED = {"make": " pages"}
"""What is counted in stages whose name does not say it."""


_LINES_EVERY = 5.0  # seconds between two lines where no bar can be shown


def silent(_stage: str, _done: int, _total: int) -> None:
    """Show nothing."""


@contextmanager
def shown(stream: TextIO | None = None) -> Iterator[Progress]:
    """Show progress on a stream (default: standard error): bars on a terminal, else a line now and then."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield _Lines(stream)
        return
    from rich import console, progress  # noqa: PLC0415 - slow to load, and only a terminal needs it

    columns = (
        progress.TextColumn("{task.description:<9}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=console.Console(file=stream), transient=True) as bars:
        yield _Bars(bars.add_task, bars.update)


class _Bars:
    """One bar per stage."""

    def __init__(self, add: Callable[..., int], update: Callable[..., None]) -> None:
        self._add, self._update = add, update
        self._stage = ""
        self._task = 0
        self._began = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self._stage, self._began = stage, time.monotonic()
            self._task = self._add(stage, total=total or None, rate="")
        seconds = time.monotonic() - self._began
        rate = f"{done / seconds:,.0f}/s" if done and seconds > 1 else ""
        self._update(self._task, completed=done, total=total or None, rate=rate)


class _Lines:
    """A line for a stage that takes longer than some seconds: `render    2,000 of 12,000`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last = time.monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= _LINES_EVERY and total:
            self._last = now
            print_if_possible(f"{stage:<9} {done:,} of {total:,}{_COUNTED.get(stage, '')}", self._stream)


class Profile:
    """Measures seconds and memory of each stage; passes each step on."""

    def __init__(self, further: Progress) -> None:
        """Measure from now, and call `further` as well."""
        self._further = further
        self._stage = "start"
        self._began = time.monotonic()
        self._cpu = _cpu_seconds()
        self._rows: list[tuple[str, float, float, int]] = []

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note when a stage begins."""
        if stage != self._stage:
            self._end()
            self._stage = stage
        self._further(stage, done, total)

    def lines(self) -> list[str]:
        """The table: stage, seconds, seconds of all processors, and the highest memory of one process so far."""
        self._end()
        rows = [*self._rows, ("all", sum(row[1] for row in self._rows), sum(row[2] for row in self._rows), _peak())]
        head = f"{'stage':<9} {'seconds':>8} {'cpu':>8} {'MB':>6}"
        return [head, *(f"{name:<9} {wall:8.2f} {cpu:8.2f} {peak:6d}" for name, wall, cpu, peak in rows)]

    def _end(self) -> None:
        now, cpu = time.monotonic(), _cpu_seconds()
        self._rows.append((self._stage, now - self._began, cpu - self._cpu, _peak()))
        self._began, self._cpu = now, cpu


def _cpu_seconds() -> float:
    """CPU seconds of this process and of its ended children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _peak() -> int:
    """The highest memory of this process, or of one that it started, in MB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, kilobytes elsewhere
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // unit
