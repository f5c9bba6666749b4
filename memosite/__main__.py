"""[I/O] `python -m memosite`, and the `memosite` command."""

import os
import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until a command heeds it itself, Ctrl-C ends the process at once, without a traceback through what is imported.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from memosite.cli import main


def run() -> None:
    """Run the command line and exit with its code.

    Nothing is freed one by one at the end: that takes some 0.3 s of a build of 10,000 items.
    """
    _read_names_as_utf8()
    _open_closed_streams()
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # which says what could not be written
    os._exit(code)


def _read_names_as_utf8() -> None:
    """Begin again in Python's UTF-8 mode, unless names of files are UTF-8 already.

    In another locale the same names would be read as other texts, and give other ids and addresses. What is
    printed stays in the characters of the terminal.
    """
    if sys.getfilesystemencoding() != "utf-8" and sys.executable:
        printed = {"PYTHONIOENCODING": sys.stdout.encoding} if sys.stdout else {}
        words = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        os.execve(sys.executable, words, {**printed, **os.environ})  # noqa: S606 - without a shell


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
