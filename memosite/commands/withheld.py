"""Says what is not published for a secret, what to do then, and which command names every finding."""

import argparse
import shlex
from collections.abc import Iterator, Sequence

from memosite.commands.nouns import plural
from memosite.commands.places import shown_path, site_of
from memosite.config.schema import Config
from memosite.facts.characters import printable

_MOST = 10
"""How many files are named."""


def check_command(options: argparse.Namespace, audience: str) -> str:
    """The command that finds what this one found, with the options that lead to it; `audience` is "" if it needs none.

    It is to be typed in the current folder.
    """
    words = ["memosite", "check", shown_path(site_of(options))]
    words += ["--audience", audience] if audience else []
    words += ["--secrets", options.secrets] if options.secrets else []
    words += ["--cache", str(options.cache)] if options.cache else []
    return printable(shlex.join(words))


def named_audience(options: argparse.Namespace, config: Config) -> str:
    """The audience, if `check` would choose another one without it, else ""."""
    return config.audience if options.audience or len(config.outputs) > 1 else ""


def withheld_lines(places: Sequence[str], check: str, *, head: str = "") -> Iterator[str]:
    """What is not published for a secret: how much, a line each, and what to do now; `check` names all of it."""
    if not places:
        return
    yield head or withheld_count(places)
    yield from map(printable, places[:_MOST])
    if len(places) > _MOST:
        yield f"and {len(places) - _MOST} more"
    yield f"rotate the keys; then redact the sources or allow them ({check})"


def withheld_note(places: Sequence[str], check: str) -> str:
    """The same as one short line, for a command whose result is another."""
    return f"{withheld_count(places)}; {check} names {'it' if len(places) == 1 else 'them'}"


def withheld_count(places: Sequence[str]) -> str:
    """How much is withheld."""
    return f"{len(places)} {plural('file', len(places))} {'is' if len(places) == 1 else 'are'} withheld for a secret"
