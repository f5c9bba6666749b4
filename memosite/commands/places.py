"""[I/O] Finds the site folder that the command line names, and shortens paths for printing."""

import argparse
import contextlib
import os
import shlex
from pathlib import Path

from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, MemositeError
from memosite.facts.layout import CONFIG_NAME, SITE_MARKER


def site_folder(options: argparse.Namespace) -> Path:
    """The site folder, named as an argument or with `--site`; this folder if neither is given."""
    if options.site is not None and options.site_option is not None:
        raise ConfigError(f"found both {options.site} and --site {options.site_option}; name the site once")
    return site_of(options)


def site_of(options: argparse.Namespace) -> Path:
    """The same, of a command line of which that was checked, or that takes only `--site`."""
    site: Path | None = getattr(options, "site", None) or options.site_option
    return site or Path()


def site_above(folder: Path) -> str | None:
    """The site of the nearest memosite.yml above a folder without one, if the folder is in one of its sources.

    It is named as seen from the current folder.
    """
    folder = folder.resolve()
    above = next((one for one in (folder, *folder.parents) if (one / CONFIG_NAME).is_file()), folder)
    if above == folder or (folder / SITE_MARKER).is_file():
        return None
    from memosite.config.loading import load_config  # noqa: PLC0415 - most commands are run in a site, or name it

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
