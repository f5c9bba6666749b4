"""The command line: arguments, printing, exit codes (SPEC 8).

Exit codes: 0 success, 1 findings or no result, 2 usage or configuration error, 130 interrupted, 128 and the number of
another signal that ended it.
"""

import argparse
import gc
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from memosite.commands.arguments import COMMANDS, Command, Run, hushed, parser
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, MemositeError, SecretsError
from memosite.run.processes import EndedError, ended_by_signals
from memosite.run.progress import forget, say, show, without_reader

EXIT_FINE, EXIT_NOT_SO, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_SIGNAL = 0, 1, 2, 130, 128


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    gc.set_threshold(200_000, 20, 100)  # most values of an archive are kept to the end: collecting them took 7 %
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that knows fewer characters than our findings
            stream.reconfigure(errors="backslashreplace")
    try:
        options = _options(arguments)
        command = COMMANDS[options.run]
        with ended_by_signals():
            is_fine = _load(command)(options, show, hushed if options.quiet and command.is_silent else say)
        with without_reader():
            sys.stdout.flush()
    except SecretsError as error:
        from memosite.commands.report import secrets_lines

        for line in secrets_lines(options, error):
            say(line)
        return EXIT_NOT_SO
    except MemositeError as error:
        said = "\n".join(map(printable, str(error).split("\n")))
        say(f"memosite: {said}")
        return EXIT_USAGE
    except EndedError as ended:
        return EXIT_SIGNAL + ended.number
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # `watch` has nobody to announce to any more
        forget(sys.stdout)
        return EXIT_FINE
    except OSError as error:
        say(f"memosite: {printable(str(error.filename or 'standard output'))}: {error.strerror}")
        forget(sys.stdout)
        return EXIT_USAGE
    return EXIT_NOT_SO if is_fine is False else EXIT_FINE


def _load(command: Command) -> Run:
    try:
        return command.load()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"anyio", "mcp", "mcp_types"}:
            raise
        raise ConfigError("mcp: found no package mcp; install it with: pip install 'memosite[mcp]'") from error


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of the command line, with the site of a path in an output.

    Help that cannot be printed is an `OSError`.
    """
    try:
        options = parser(arguments).parse_args(arguments)
    finally:
        sys.stdout.flush()
    if any("/" in word for word in arguments):
        from memosite.commands.places import find_site

        find_site(options)
    if COMMANDS[options.run].is_question and not isinstance(options.site_option, str) and not options.quiet:
        _say_what_is_read(options.site_option)
    return options


def _say_what_is_read(named: Path | None) -> None:
    """A session is often in the repo of its position, or names it, which shows little of what the site has."""
    from memosite.commands.places import site_above

    site = site_above(named or Path())
    if site is not None:
        what, add = (printable(str(named)), "name it with") if named else ("this folder", "add")
        say(f"memosite: only {what} is read, which is part of a site; for all of that, {add} --site {site}")
