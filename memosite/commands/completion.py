"""`memosite completion`: a script that completes the command line in a shell, made from the parser."""

import argparse
from collections.abc import Callable

import shtab

from memosite.commands.arguments import command_parsers, parser

_PLACES = {
    **dict.fromkeys(("DIR", "SITE", "DIR|URL"), shtab.DIRECTORY),
    **dict.fromkeys(("FILE", "FEED", "PATH", "FILE|SITE"), shtab.FILE),
}
"""What an argument of this name is completed with."""


def run(options: argparse.Namespace, *, show: Callable[[str], None]) -> None:
    """Print the script for the shell that the command line names."""
    whole = parser()
    for command in command_parsers(whole).values():
        for action in command._actions:  # argparse has no public way to them
            if isinstance(action.metavar, str) and action.metavar in _PLACES:
                action.complete = _PLACES[action.metavar]  # type: ignore[attr-defined] # what shtab reads
    show(str(shtab.complete(whole, shell=options.shell)).rstrip("\n"))
