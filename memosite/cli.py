"""The command line: arguments, printing, exit codes (SPEC 8).

Exit codes: 0 success, 1 findings or no result, 2 usage or configuration error, 130 interrupted, 128 and the number of
another signal that ended it.
"""

import argparse
import gc
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from memosite.commands.arguments import parser
from memosite.facts.errors import ConfigError, MemositeError, SecretsError
from memosite.run.processes import EndedError, ended_by_signals
from memosite.run.progress import forget, say, show, show_if_possible, without_reader

EXIT_FINE, EXIT_NOT_SO, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_SIGNAL = 0, 1, 2, 130, 128


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    gc.set_threshold(200_000, 20, 100)  # most values of an archive are kept to the end: collecting them took 7 %
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that knows fewer characters than our findings
            stream.reconfigure(errors="backslashreplace")
    try:
        options = _options(arguments)
        with ended_by_signals():
            code = _COMMANDS[options.run](options)
        with without_reader():
            sys.stdout.flush()
    except SecretsError as error:
        _say_secrets(options, error)
        return EXIT_NOT_SO
    except MemositeError as error:
        from memosite.facts.characters import printable

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
        say(f"memosite: {error.filename or 'standard output'}: {error.strerror}")
        forget(sys.stdout)
        return EXIT_USAGE
    return code


def _say_secrets(options: argparse.Namespace, error: SecretsError) -> None:
    from memosite.commands.report import check_command, withheld_lines

    check = check_command(options, options.audience or error.audience)
    for line in withheld_lines(error.places, check, head=error.said):
        say(f"memosite: {line}")


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of the command line, with the site of a path in an output.

    Help that cannot be printed is an `OSError`.
    """
    try:
        options = parser().parse_args(arguments)
    finally:
        sys.stdout.flush()
    if any("/" in one for one in arguments):
        from memosite.commands.places import find_site

        find_site(options)
    if options.run in _OF_A_SITE and not isinstance(options.site_option, str) and not options.quiet:
        _say_what_is_read(options.site_option)
    return options


def _say_what_is_read(named: Path | None) -> None:
    """A session is often in the repo of its position, or names it, which shows little of what the site has."""
    from memosite.commands.places import site_above
    from memosite.facts.characters import printable

    site = site_above(named or Path())
    if site is not None:
        what, add = (printable(str(named)), "name it with") if named else ("this folder", "add")
        say(f"memosite: only {what} is read, which is part of a site; for all of that, {add} --site {site}")


# What the commands do. Imports are inside, so that each command imports no more than it needs.


def _nothing(_text: str) -> None:
    """Print nothing (`--quiet`)."""


def _build(options: argparse.Namespace) -> int:
    from memosite.commands.build import run_build as run

    return EXIT_FINE if run(options, show=show, say=say) else EXIT_NOT_SO


def _serve(options: argparse.Namespace) -> int:
    from memosite.commands.build import run_serve as run

    run(options, show=_nothing if options.quiet else show_if_possible, say=say)
    return EXIT_FINE


def _explain(options: argparse.Namespace) -> int:
    from memosite.commands.build import run_explain as run

    run(options, show=show)
    return EXIT_FINE


def _check(options: argparse.Namespace) -> int:
    from memosite.commands.check import run

    return EXIT_FINE if run(options, show=show, say=_nothing if options.quiet else say) else EXIT_NOT_SO


def _export(options: argparse.Namespace) -> int:
    from memosite.commands.search import run_export as run

    return EXIT_FINE if run(options, say=_nothing if options.quiet else say) else EXIT_NOT_SO


def _search(options: argparse.Namespace) -> int:
    from memosite.commands.search import run_search as run

    return EXIT_FINE if run(options, show=show, say=_nothing if options.quiet else say) else EXIT_NOT_SO


def _watch(options: argparse.Namespace) -> int:
    from memosite.watch.command import watch

    return watch(options, say=lambda text: say(f"memosite watch: {text}"), show=show)


def _init(options: argparse.Namespace) -> int:
    from memosite.commands.init import run

    run(options, show=show)
    return EXIT_FINE


def _mark_read(options: argparse.Namespace) -> int:
    from memosite.commands.mark_read import run

    run(options, show=show)
    return EXIT_FINE


def _diff(options: argparse.Namespace) -> int:
    from memosite.commands.diff import run

    run(options, show=show, say=_nothing if options.quiet else say)
    return EXIT_FINE


def _cite(options: argparse.Namespace) -> int:
    from memosite.commands.cite import run_cite as run

    return EXIT_FINE if run(options, show=show, say=say) else EXIT_NOT_SO


def _verify(options: argparse.Namespace) -> int:
    from memosite.commands.cite import run_verify as run

    return EXIT_FINE if run(options, show=show, say=say) else EXIT_NOT_SO


def _agents(options: argparse.Namespace) -> int:
    from memosite.commands.agents import run_answer as run

    return EXIT_FINE if run(options, show=show, say=_nothing if options.quiet else say) else EXIT_NOT_SO


def _why(options: argparse.Namespace) -> int:
    from memosite.commands.agents import run_why as run

    return EXIT_FINE if run(options, show=_nothing if options.quiet else show, say=say) else EXIT_NOT_SO


def _drafts(options: argparse.Namespace) -> int:
    from memosite.commands.agents import run_draft as run

    return EXIT_FINE if run(options, show=show, say=say) else EXIT_NOT_SO


def _mcp(options: argparse.Namespace) -> int:
    try:
        from memosite.mcp.server import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"anyio", "mcp", "mcp_types"}:
            raise
        raise ConfigError("mcp: found no package mcp; install it with: pip install 'memosite[mcp]'") from error
    run(options)
    return EXIT_FINE


def _completion(options: argparse.Namespace) -> int:
    from memosite.commands.arguments import run

    run(options, show=show)
    return EXIT_FINE


_OF_A_SITE = frozenset(
    ("brief", "inbox", "show", "thread", "search", "export", "why", "reply", "new", "diff", "cite", "verify", "mcp")
)
"""Commands that answer from the site that is named, else from this folder."""

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
    "cite": _cite,
    "verify": _verify,
    "brief": _agents,
    "inbox": _agents,
    "show": _agents,
    "thread": _agents,
    "why": _why,
    "reply": _drafts,
    "new": _drafts,
    "mcp": _mcp,
    "mark_read": _mark_read,
    "completion": _completion,
}
