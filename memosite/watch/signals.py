"""[I/O] Ends a watch on a signal, but never between a delivery and its record."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StoppedError(BaseException):
    """A signal from the user or the system ended the watch."""


class Signals:
    """Notes SIGINT, SIGTERM and SIGHUP; they interrupt only `interruptible` blocks, or on the second signal.

    `number` is the first signal, None before; `times` counts signals.
    """

    def __init__(self) -> None:
        """Note nothing yet."""
        self.number: int | None = None
        self.times = 0
        self._is_interruptible = False
        self._former: list[tuple[signal.Signals, Any]] = []

    def __enter__(self) -> "Signals":
        heeded = [one for one in _SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]  # nohup ignores SIGHUP
        self._former = [(one, signal.signal(one, self._take)) for one in heeded]
        return self

    def __exit__(self, *_: object) -> None:
        for one, handler in self._former:
            signal.signal(one, handler)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.number = self.number or number
        self.times += 1
        if self._is_interruptible or self.times > 1:
            raise StoppedError

    def check(self) -> None:
        """Raise `StoppedError` if a signal came."""
        if self.number is not None:
            raise StoppedError

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A block that a signal may interrupt anywhere: waiting, and fetching."""
        self._is_interruptible = True
        try:
            self.check()
            yield
        finally:
            self._is_interruptible = False

    def sleep(self, seconds: float) -> None:
        """Wait for a time, or until a signal comes."""
        with self.interruptible():
            time.sleep(max(0.0, seconds))
