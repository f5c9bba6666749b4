"""[I/O] Finds the site of a file in an output, for commands that are told that file and no site (SPEC 8)."""

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from memosite.config.outputs import AUDIENCES, OUTPUT_NAME
from memosite.facts.layout import CONFIG_NAME, SITE_MARKER
from memosite.store.output import audience_of

_NAMED = ("path", "reference", "references", "where")
"""The arguments that may be a file of an output."""


def find_site(options: argparse.Namespace) -> None:
    """If no site is named, take that in whose output a named file is, with its output folder and its audience."""
    if getattr(options, "site", None) is not None or getattr(options, "site_option", "") is not None:
        return
    if getattr(options, "seal", None) is not None:  # `verify --seal` is told the output itself
        return
    output = next(filter(None, map(output_around, _named(options))), None)
    if output is None:
        return
    site = _site_around(output)
    options.site_option = site or output
    if site is not None:
        options.audience = options.audience or AUDIENCES.get(audience_of(output))
        if getattr(options, "output", "") is None:
            options.output = output


def _named(options: argparse.Namespace) -> Iterator[str]:
    for name in _NAMED:
        value = getattr(options, name, None) or ()
        yield from (value,) if isinstance(value, str) else value


def output_around(written: str) -> Path | None:
    """The output folder that a path is in, by its marker; None if there is none, or if this is no path."""
    if "/" not in written or "://" in written:
        return None
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        path = Path(written.partition("#")[0]).resolve()
        return next((folder for folder in (path, *path.parents) if (folder / SITE_MARKER).is_file()), None)
    return None


def _site_around(output: Path) -> Path | None:
    """The site folder of an output: the nearest one above it; None if it is elsewhere, as that of a copied site."""
    if output.name == OUTPUT_NAME:
        return output.parent
    return next((folder for folder in output.parents if (folder / CONFIG_NAME).is_file()), None)
