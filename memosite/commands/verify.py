"""Verifies documents by the archive, or what is published by a root that was kept elsewhere (SPEC 7)."""

import argparse
from collections.abc import Callable

from memosite.facts.errors import ConfigError

Say = Callable[[str], None]


def run(options: argparse.Namespace, *, show: Say, say: Say) -> bool:
    """Verify what the command line names, and show what was found; whether it holds."""
    if options.seal is not None:
        from memosite.commands.verify_seal import verify_seal  # noqa: PLC0415 - the one or the other

        if len(options.where) > 1:
            raise ConfigError(f"--seal: found {len(options.where)} sites, expected one at most")
        return verify_seal(options, next(iter(options.where), None), show=show)
    if not options.where:
        raise ConfigError("verify: found no FILE, expected documents, a folder, - for standard input, or --seal ROOT")
    from memosite.commands.verify_citations import verify_documents  # noqa: PLC0415 - as above

    return verify_documents(options, show=show, say=say)
