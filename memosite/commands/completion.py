"""`memosite completion`: a script that completes the command line in a shell, made from the parser."""

import argparse
from collections.abc import Callable
from pathlib import Path

import shtab

from memosite.commands.arguments import command_parsers, parser


def run(options: argparse.Namespace, *, show: Callable[[str], None]) -> None:
    """Print the script for the shell that the command line names."""
    whole = parser()
    for command in command_parsers(whole).values():
        for action in command._actions:  # argparse has no public way to them
            if action.type is Path:
                complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE
                action.complete = complete  # type: ignore[attr-defined] # what shtab reads
    show(str(shtab.complete(whole, shell=options.shell)).rstrip("\n"))
