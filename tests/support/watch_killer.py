"""Kills a watch with SIGKILL after each thing it does to the world, and lets another one finish its work.

watch_killer.py FEED FOLDER print|exec|batch FIRST STEP SECONDS: with STEP 2 after every other step from the first,
with 0 at any call that its modules make at all, for so many seconds. For each, a forked process runs
`memosite watch --once` and kills itself after step number N; then one runs to its end. What came is compared.
"""

import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from memosite.cli import main
from memosite.watch import command  # noqa: F401 - so that no fork has to import it again
from memosite.watch.state import read_state

WATCHED = ("state.py", "deliver.py", "loop.py", "walk.py", "command.py")
DELIVERED = 3

STEPS = {"execute", "executemany", "executescript", "connect", "close", "write", "flush", "open", "flock", "fsync"}
STEPS |= {"rename", "mkdir", "_execute_child", "wait", "get", "seek"}
"""What changes anything outside the process, or waits for it to change."""


def kill_at(number: int, *, is_everywhere: bool) -> None:
    """Kill this process after its watch did its step number so much."""
    left = number

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        caller = frame if event.startswith("c_") else frame.f_back
        code = caller.f_code.co_filename if caller else ""
        name = getattr(argument, "__name__", "") if event.startswith("c_") else frame.f_code.co_name
        is_step = event in {"return", "c_return"} and name in STEPS
        if (is_step or is_everywhere) and "/memosite/watch/" in code and code.endswith(WATCHED):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(profile)


def run(arguments: list[str], log: Path, kill: int = 0, *, is_everywhere: bool = False) -> int:
    """Run a watch in a process of its own, with its output added to a log; its wait status."""
    child = os.fork()
    if not child:
        with log.open("ab", buffering=0) as stream:
            os.dup2(stream.fileno(), 1)
        if kill:
            kill_at(kill, is_everywhere=is_everywhere)
        code = main(arguments)
        sys.setprofile(None)
        os._exit(code)
    return os.waitpid(child, 0)[1]


def interrupted(path: Path, feed: str) -> set[str]:
    """The lines of what was in delivery when a watch was killed, as the state knows it: a hook may still be running."""
    if not path.exists():
        return set()
    state = read_state(path)
    try:
        return {f"new memo: {one}" for one in state.interrupted(feed)}
    finally:
        state.close()


def attempt(feed: str, folder: Path, way: str, number: int, *, is_everywhere: bool) -> bool:
    """Kill a watch at one call, finish, and compare; whether the watch lived that long."""
    log = folder / "log"
    log.write_bytes(b"")
    for path in folder.glob("state*"):
        path.unlink()
    arguments = ["watch", "--once", "--quiet", "--since", "all", "--state", str(folder / "state.sqlite"), feed]
    if way != "print":
        hook = folder / "hook"
        hook.write_text('while read -r path; do echo "new memo: $path"; done')
        arguments += ["--exec", f"/bin/sh {hook}"] + (["--batch"] if way == "batch" else [])
    status = run(arguments, log, kill=number, is_everywhere=is_everywhere)
    was_killed = os.WIFSIGNALED(status)
    in_delivery = interrupted(folder / "state.sqlite", feed)
    if not was_killed and os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"call {number}: the watch ended with {status}")
    again = run(arguments, log)
    if again:
        sys.exit(f"call {number}: the watch after it ended with {again}")
    found = Counter(log.read_text().splitlines())
    missed = DELIVERED - len(found)
    repeated = found.total() - len(found)
    most = 0 if not was_killed else DELIVERED if way == "batch" else 1
    if missed or repeated > most:
        sys.exit(f"call {number}: {missed} missed, {repeated} repeated: {found}")
    if any(count > 1 and line not in in_delivery for line, count in found.items()):
        sys.exit(f"call {number}: a memo was repeated that was not in delivery: {found}")
    return was_killed


def kill_everywhere(feed: str, folder: Path, way: str, steps: tuple[int, int], seconds: float) -> None:
    """Kill after each step until a watch outlives them all; with a time, at any call, until it is over."""
    first, step = steps
    end = time.monotonic() + seconds
    number, killed = first, 0
    while True:
        was_killed = attempt(feed, folder, way, number, is_everywhere=not step)
        killed += was_killed
        number = number + (step or random.randint(1, 25)) if was_killed else first
        if time.monotonic() > end if seconds else not was_killed:
            break
    assert killed * (step or 4) > 40, killed
    print(f"killed {killed} times: 0 missed")


if __name__ == "__main__":
    kill_everywhere(
        sys.argv[1], Path(sys.argv[2]), sys.argv[3], (int(sys.argv[4]), int(sys.argv[5])), float(sys.argv[6])
    )
