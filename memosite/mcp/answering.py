"""[I/O] Runs a command as the command line does, and gives what it prints."""

import argparse
import gc
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Final

from memosite.commands import agents, cite, diff, drafts, search, verify
from memosite.commands.arguments import parser
from memosite.commands.withheld import check_command, withheld_lines
from memosite.facts.errors import ConfigError, MemositeError, SecretsError
from memosite.mcp.tools import Request

_RUNS: Final[dict[str, Callable[..., object]]] = {
    "brief": agents.run,
    "inbox": agents.run,
    "show": agents.run,
    "thread": agents.run,
    "search": search.run,
    "cite": cite.run,
    "verify": verify.run,
    "diff": diff.run,
    "reply": drafts.run,
    "new": drafts.run,
}
"""The commands that there are tools for: none of them writes to a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a command printed on standard output, and what it said beside that. `is_error`: it has no answer."""

    text: str
    messages: str
    is_error: bool


def answer(request: Request, site: Sequence[str]) -> Answered:
    """Run a command with the options that lead to the archive. The standard streams are its own for that time."""
    shown: list[str] = []
    said: list[str] = []
    name, *words = request.words
    try:
        options = _options((name, *site, *words))
        with _streams(request.given):
            _RUNS[name](options, show=shown.append, say=said.append)
    except SecretsError as error:
        check = check_command(options, options.audience or error.audience)
        said += [f"memosite: {line}" for line in withheld_lines(error.places, check, head=error.said)]
    except MemositeError as error:
        said.append(f"memosite: {error}")
    except OSError as error:
        said.append(f"memosite: {error.filename or 'file'}: {error.strerror or error}")
    finally:
        gc.collect()  # what was read of the archive is in cycles, and the next request may be hours away
    return Answered(text="\n".join(shown), messages="\n".join(said), is_error=not shown)


def _options(words: Sequence[str]) -> argparse.Namespace:
    """The options of a command. Raises `ConfigError` for words that it does not take."""
    said = io.StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(io.StringIO()):
            options = parser().parse_args(words)
    except SystemExit as error:
        lines = said.getvalue().strip().splitlines()
        raise ConfigError(lines[-1].partition("error: ")[2] if lines else "found what it does not take") from error
    options.is_tool = True  # no answer may name what a tool does not take
    return options


@contextmanager
def _streams(given: str) -> Iterator[None]:
    """The standard streams of one command: what it is given, and nobody's terminal."""
    former = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode("utf-8", "replace")), encoding="utf-8")
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        sys.stdin = former
