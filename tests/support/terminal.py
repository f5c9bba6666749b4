"""A terminal for tests: runs a program on a pseudo-terminal and shows its screen as lines of text.

It speaks VT52, which has a dozen commands and is described in every terminfo; no display, no tty and no other program
is needed. Waiting is for what the screen shows, up to a deadline.
"""

import codecs
import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.waiting import DEADLINE

ROWS, COLUMNS = 40, 90  # VT52 addresses at most 95 columns

_TOKEN = re.compile(r"\x1b(?:Y(?P<row>.)(?P<column>.)|(?P<command>[^Y]))|(?P<char>[^\x1b])", re.DOTALL)


class Screen:
    """What a VT52 shows after what was sent to it."""

    def __init__(self) -> None:
        """Show nothing."""
        self._cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self._row = self._column = 0
        self._pending = ""

    @property
    def lines(self) -> list[str]:
        """The rows from the top, without the blanks at their ends."""
        return ["".join(row).rstrip() for row in self._cells]

    def send(self, text: str) -> None:
        """Take what a program wrote; an unfinished command waits for its rest."""
        text = self._pending + text
        end = 0
        while match := _TOKEN.match(text, end):
            end = match.end()
            if match["char"]:
                self._write(match["char"])
            elif match["row"]:
                self._move(ord(match["row"]) - 32, ord(match["column"]) - 32)
            else:
                self._obey(match["command"])
        self._pending = text[end:]

    def _move(self, row: int, column: int) -> None:
        self._row = min(max(row, 0), ROWS - 1)
        self._column = min(max(column, 0), COLUMNS - 1)

    def _write(self, char: str) -> None:
        match char:
            case "\r":
                self._column = 0
            case "\n" if self._row == ROWS - 1:
                self._cells = [*self._cells[1:], [" "] * COLUMNS]
            case "\n":
                self._row += 1
            case "\b":
                self._move(self._row, self._column - 1)
            case "\t":
                self._move(self._row, self._column // 8 * 8 + 8)
            case _ if char >= " ":
                self._cells[self._row][self._column] = char
                self._move(self._row, self._column + 1)

    def _obey(self, command: str) -> None:
        match command:
            case "A" | "B" | "C" | "D":
                rows, columns = {"A": (-1, 0), "B": (1, 0), "C": (0, 1), "D": (0, -1)}[command]
                self._move(self._row + rows, self._column + columns)
            case "H":
                self._move(0, 0)
            case "I" if self._row == 0:
                self._cells = [[" "] * COLUMNS, *self._cells[:-1]]
            case "I":
                self._row -= 1
            case "J" | "K":
                self._cells[self._row][self._column :] = [" "] * (COLUMNS - self._column)
                for row in self._cells[self._row + 1 :] if command == "J" else ():
                    row[:] = [" "] * COLUMNS


class Terminal:
    """A program on a terminal of its own. It is ended with the context, whatever happened."""

    def __init__(self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> None:
        """Start the program in a folder, with nothing of this process's environment but its PATH."""
        self.screen = Screen()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        try:
            self._process = subprocess.Popen(
                command, cwd=folder, env={"PATH": os.environ["PATH"], "TERM": "vt52", **environment}, stdin=theirs,
                stdout=theirs, stderr=theirs, start_new_session=True,
            )  # fmt: skip
        except OSError:
            os.close(self._ours)
            raise
        finally:
            os.close(theirs)

    def wait_for(self, is_shown: Callable[[list[str]], bool]) -> list[str]:
        """Read until the screen shows this; its lines."""
        deadline = time.monotonic() + DEADLINE
        while not is_shown(self.screen.lines):
            if not self._read(deadline):
                raise AssertionError("the screen never showed it:\n" + "\n".join(self.screen.lines))
        return self.screen.lines

    def press(self, keys: str) -> None:
        """Send key strokes."""
        os.write(self._ours, keys.encode())

    def finish(self) -> int:
        """Read until the program ends by itself; its exit status."""
        deadline = time.monotonic() + DEADLINE
        while self._read(deadline):
            pass
        return self._process.wait(timeout=max(0.1, deadline - time.monotonic()))

    def _read(self, deadline: float) -> bool:
        """Take what the program writes next; whether there was anything before the deadline."""
        ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._ours, 65_536)
        except OSError:  # the program has closed its end
            return False
        self.screen.send(self._decoder.decode(data))
        return bool(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._ours)
