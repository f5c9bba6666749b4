"""[I/O] Finds the site folder that the command line names, and shortens paths for printing."""

import argparse
import contextlib
from pathlib import Path

from memosite.facts.errors import ConfigError


def site_folder(options: argparse.Namespace) -> Path:
    """The site folder, named as an argument or with `--site`; this folder if neither is given."""
    if options.site is not None and options.site_option is not None:
        raise ConfigError(f"found both {options.site} and --site {options.site_option}; name the site once")
    return options.site or options.site_option or Path()


def shown_path(path: Path) -> str:
    """A path as short as possible from the current folder."""
    with contextlib.suppress(ValueError):
        return path.resolve().relative_to(Path.cwd()).as_posix()
    return str(path)
