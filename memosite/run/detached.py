"""[I/O] Starts memosite once more, at low priority and on its own: it goes on when this process has ended."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import memosite

_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from memosite.__main__ import run; run()"
"""It is found where it was found by this process; the folder in which a user is may hold anything."""

_LOWEST = 19


def start_detached(arguments: Sequence[str]) -> None:
    """Run a command in a session of its own, with which nobody speaks; where it cannot be started, nothing happens."""
    place = str(Path(memosite.__file__).parent.parent)
    with suppress(OSError):
        process = subprocess.Popen(  # noqa: S603 - no shell
            [sys.executable, "-P", "-c", _PROGRAM, place, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        process.returncode = 0  # nobody waits for it
        os.setpriority(os.PRIO_PROCESS, process.pid, _LOWEST)
