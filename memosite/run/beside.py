"""[I/O] Runs a function in a forked process beside the rest of the work; it ends with its parent."""

import multiprocessing
import os
from collections.abc import Callable

from memosite.run.workers import begin_as_child


class Beside:
    """A function that runs in a process of its own. What it raises only makes it fail."""

    def __init__(self, function: Callable[[], None]) -> None:
        """Start it. Raises `OSError` if no process can be started."""
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=_run, args=(function,), daemon=True)
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
