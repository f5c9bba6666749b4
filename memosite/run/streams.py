"""[I/O] Prints on the standard streams: what they do not take stops no work.

The reader of a pipe may be gone (`| head -1`), a disk full, a terminal closed. A command is there for its work, and its
exit code tells how that went; only what was asked for and cannot be printed is an error.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


def show(text: str) -> None:
    """Print what was asked for on standard output. Raises `OSError` if it cannot be, other than for want of a reader.

    Without a reader the command goes on, so that its exit code says what it found.
    """
    with without_reader():
        _print(text, sys.stdout)


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
    stream.write(f"{text}\n")
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
