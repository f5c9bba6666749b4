"""[I/O] `memosite search`: reads the archive of a site, asks it, and shows the answer as text or JSON."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from memosite.build import load_archive
from memosite.config import load_config
from memosite.errors import ConfigError
from memosite.search.command import open_search, read_query
from memosite.search.shown import as_json, as_text
from memosite.shelf import Shelf


def search(options: argparse.Namespace, *, say: Callable[[str], None], show: Callable[[str], None]) -> bool:
    """Answer the query of the command line; whether anything was found. The query is read before anything else."""
    if options.limit < 1:
        raise ConfigError(f"--limit {options.limit}: found {options.limit}, expected 1 or more")
    query = read_query(" ".join(options.query))
    config = load_config(options.site_option or Path(), base_url=options.base_url, cache=options.cache)
    with Shelf() as shelf:
        archive, _ = load_archive(config, shelf)
        with open_search(archive, shelf, config, say=say) as opened:
            answer = opened.find(query, sort=options.sort, limit=options.limit)
    if options.json:
        show(as_json(answer, query, base_url=config.base_url))
    elif not options.quiet:
        show(as_text(answer, base_url=config.base_url, color=sys.stdout.isatty()))
    return answer.total > 0
