"""[I/O] Finds the site folder that the command line names, and shortens paths for printing."""

import argparse
import contextlib
from pathlib import Path

from memosite.facts.errors import ConfigError


def site_folder(options: argparse.Namespace) -> Path:
    """The site folder, named as an argument or with `--site`; this folder if neither is given."""
    if options.site is not None and options.site_option is not None:
        raise ConfigError(f"found both {options.site} and --site {options.site_option}; name the site once")
    return site_of(options)


def site_of(options: argparse.Namespace) -> Path:
    """The same, of a command line of which that was checked, or that takes only `--site`."""
    site: Path | None = getattr(options, "site", None) or options.site_option
    return site or Path()


def shown_path(path: Path) -> str:
    """A path as short as possible from the current folder."""
    with contextlib.suppress(ValueError):
        return path.resolve().relative_to(Path.cwd()).as_posix()
    return str(path)
