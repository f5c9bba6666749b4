"""[I/O] `python -m memosite`, and the `memosite` command."""

import os
import sys

from memosite.cli import main


def run() -> None:
    """Run the command line and exit with its code."""
    _open_closed_streams()
    sys.exit(main(sys.argv[1:]))


def _open_closed_streams() -> None:
    """Connect each closed standard stream (`>&-`) to the null device.

    Otherwise the next file that is opened takes its number, and what is printed goes into that file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            is_input = number == 0
            os.open(os.devnull, os.O_RDONLY if is_input else os.O_WRONLY)  # takes the lowest number that is free
            setattr(sys, name, open(number, "r" if is_input else "w", encoding="utf-8", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    run()
