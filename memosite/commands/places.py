"""[I/O] Finds the site that the command line names, also by a file in its output, and loads its configuration."""

import argparse
import contextlib
import os
import shlex
from pathlib import Path

from memosite.config.loading import AUDIENCES, OUTPUT_NAME, load_config
from memosite.config.schema import Audience, Config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, MemositeError
from memosite.facts.layout import CONFIG_NAME, SITE_MARKER
from memosite.store.output import audience_of


def configured(options: argparse.Namespace, *, output: Path | None = None, audience: Audience | None = None) -> Config:
    """The configuration of the site that a command line names; for an audience, if that is given.

    Raises `ConfigError`, also if the site is named twice.
    """
    if options.site is not None and options.site_option is not None:
        raise ConfigError(f"found both {options.site} and --site {options.site_option}; name the site once")
    return load_config(
        site_of(options),
        output=output,
        base_url=options.base_url,
        cache=options.cache,
        secrets=options.secrets,
        audience=audience or options.audience,
    )


def site_of(options: argparse.Namespace) -> Path:
    """The site folder, named as an argument or with `--site`; this folder if neither is given."""
    site: Path | None = options.site or options.site_option
    return site or Path()


def site_above(folder: Path) -> str | None:
    """The site of the nearest memosite.yml above a folder without one, if the folder is in one of its sources.

    It is named as seen from the current folder.
    """
    folder = folder.resolve()
    above = next((one for one in (folder, *folder.parents) if (one / CONFIG_NAME).is_file()), folder)
    if above == folder or (folder / SITE_MARKER).is_file():
        return None
    with contextlib.suppress(MemositeError):
        roots = [source.root for source in load_config(above).sources if source.root is not None]
        if any(folder.is_relative_to(root) for root in roots):
            return shlex.quote(printable(os.path.relpath(above)))
    return None


def shown_path(path: Path) -> str:
    """A path as short as possible from the current folder."""
    with contextlib.suppress(ValueError):
        return path.resolve().relative_to(Path.cwd()).as_posix()
    return str(path)


def site_words(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The options of a command line that lead to the same site, each with its value."""
    known = {
        "--site": options.site_option,
        "--cache": options.cache,
        "--secrets": options.secrets,
        "--audience": options.audience,
    }
    return [(name, str(value)) for name, value in known.items() if value]


# Finds the site of a file in an output, for commands that are told that file and no site (SPEC 8).


_NAMED = ("path", "reference", "references", "where")
"""The arguments that may be a file of an output."""


def find_site(options: argparse.Namespace) -> None:
    """If no site is named, take that in whose output a named file is, with its output folder and its audience."""
    if options.site is not None or getattr(options, "site_option", "") is not None:
        return
    if getattr(options, "seal", None) is not None:  # `verify --seal` is told the output itself
        return
    values = [getattr(options, name, None) or () for name in _NAMED]
    named = [path for value in values for path in ([value] if isinstance(value, str) else value)]
    output = next(filter(None, map(output_around, named)), None)
    if output is None:
        return
    site = _site_around(output)
    options.site_option = site or output
    if site is not None:
        options.audience = options.audience or AUDIENCES.get(audience_of(output))
        if getattr(options, "output", "") is None:
            options.output = output


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
