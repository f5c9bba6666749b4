"""[I/O] Folders as they are named on the command line: which one a site is, and how a path is printed."""

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
    """A path as short as it can be said from here."""
    with contextlib.suppress(ValueError):
        return path.resolve().relative_to(Path.cwd()).as_posix()
    return str(path)
