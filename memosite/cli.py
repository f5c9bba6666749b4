"""The command line: arguments, printing, exit codes (SPEC 8).

Exit codes: 0 success, 1 findings or no result, 2 usage or configuration error, 130 interrupted, 128 and the number of
another signal that ended it.
"""

import argparse
import contextlib
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence

from memosite.commands.arguments import parser
from memosite.facts.errors import MemositeError
from memosite.run.processes import EndedError, ended_by_signals

EXIT_FINE, EXIT_NOT_SO, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_SIGNAL = 0, 1, 2, 130, 128


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    gc.set_threshold(50_000, 20, 100)  # most values of an archive are kept to the end: garbage collection took 7 %
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that knows fewer characters than our findings
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parser().parse_args(arguments)
        with ended_by_signals():
            code = _COMMANDS[options.run](options)
        sys.stdout.flush()
    except MemositeError as error:
        print(f"memosite: {error}", file=sys.stderr)
        return EXIT_USAGE
    except EndedError as ended:
        return EXIT_SIGNAL + ended.number
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe; flushing what Python still buffers must not raise again.
        _forget_output()
        return EXIT_FINE
    except OSError as error:
        print(f"memosite: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        _forget_output()
        return EXIT_USAGE
    return code


def _forget_output() -> None:
    """Discard what Python still buffers for standard output, so that it does not raise at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# What the commands do. Imports are inside, so that each command imports no more than it needs.


def _show(text: str) -> None:
    """Print what was asked for."""
    print(text, flush=True)


def _say(text: str) -> None:
    """Print a message on standard error, beside the output."""
    print(text, file=sys.stderr, flush=True)


def _nothing(_text: str) -> None:
    """Print nothing (`--quiet`)."""


def _build(options: argparse.Namespace) -> int:
    from memosite.commands.build import run

    return EXIT_FINE if run(options, show=_show) else EXIT_NOT_SO


def _serve(options: argparse.Namespace) -> int:
    from memosite.commands.serve import run

    run(options, show=_nothing if options.quiet else _show, say=_say)
    return EXIT_FINE


def _explain(options: argparse.Namespace) -> int:
    from memosite.commands.explain import run

    run(options, show=_show)
    return EXIT_FINE


def _check(options: argparse.Namespace) -> int:
    from memosite.commands.check import run

    return EXIT_FINE if run(options, show=_show) else EXIT_NOT_SO


def _export(options: argparse.Namespace) -> int:
    from memosite.commands.export import run

    return EXIT_FINE if run(options, say=_nothing if options.quiet else _say) else EXIT_NOT_SO


def _search(options: argparse.Namespace) -> int:
    from memosite.commands.search import run

    return EXIT_FINE if run(options, show=_show, say=_nothing if options.quiet else _say) else EXIT_NOT_SO


def _watch(options: argparse.Namespace) -> int:
    from memosite.watch.command import watch

    return watch(options, say=lambda text: _say(f"memosite watch: {text}"), show=_show)


def _init(options: argparse.Namespace) -> int:
    from memosite.commands.init import run

    run(options, show=_show)
    return EXIT_FINE


def _mark_read(options: argparse.Namespace) -> int:
    from memosite.commands.mark_read import run

    run(options, show=_show)
    return EXIT_FINE


def _diff(options: argparse.Namespace) -> int:
    from memosite.commands.diff import run

    run(options, show=_show)
    return EXIT_FINE


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "build": _build,
    "serve": _serve,
    "explain": _explain,
    "check": _check,
    "search": _search,
    "export": _export,
    "watch": _watch,
    "init": _init,
    "diff": _diff,
    "mark_read": _mark_read,
}
