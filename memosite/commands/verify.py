"""Verifies what is published against what was kept elsewhere (SPEC 7)."""

import argparse
from collections.abc import Callable

from memosite.commands.verify_seal import verify_seal


def run(options: argparse.Namespace, *, show: Callable[[str], None]) -> bool:
    """Verify what the command line names, and show what was found; whether it holds."""
    return verify_seal(options, show=show)
