"""[I/O] Says which Python runs memosite: how it was built makes a difference of a fifth and more."""

import os
import platform
import sys
import sysconfig
import time
from pathlib import Path

STEPS = 2_000_000
OPTIMIZED = "--enable-optimizations"


def describe() -> str:
    """The version and the program, how it was configured, and how long it takes for a loop that is always the same."""
    named = "with" if OPTIMIZED in str(sysconfig.get_config_var("CONFIG_ARGS")) else "without"
    program = Path(sys.executable).resolve()
    return (
        f"Python {platform.python_version()}, {program}, {platform.python_compiler()}, configured {named} {OPTIMIZED}; "
        f"a fixed loop takes it {_loop():.2f} s"
    )


def environment(**more: str) -> dict[str, str]:
    """The environment of a measured program: Python keeps compiled modules, as it does of an installed program.

    Where it may not, each command compiles all that it imports: 0.5 s of a small build.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | more


def _loop() -> float:
    """Processor seconds of the best of three runs of calls, numbers, strings and a dictionary."""
    return min(map(_one_loop, range(3)))


def _one_loop(_round: int) -> float:
    began = time.process_time()
    counts: dict[int, int] = {}
    for step in range(STEPS):
        counts[step % 1000] = counts.get(step % 1000, 0) + len(str(step))
    return time.process_time() - began
