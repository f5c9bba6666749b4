"""[I/O] Keeps the search index for whoever searches: little is indexed at once, much by a process of its own."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from memosite.config.loading import Config
from memosite.run.detached import start_detached
from memosite.search.command import Searchable
from memosite.search.whoosh.index import is_being_made


def keep_index(found: Searchable, options: argparse.Namespace, config: Config) -> Callable[[], None]:
    """Index what is little before an answer; what is returned begins to index much, to be called after the answer.

    The configuration is that of now, also where the archive is of a former time.

    With `--no-index` nothing is indexed, but what nothing may hold any more is removed.
    """
    found.remove_outdated()
    if options.index is False or found.index_little():
        return lambda: None
    return lambda: _index_meanwhile(found.part, options, config)


def _index_meanwhile(part: Path, options: argparse.Namespace, config: Config) -> None:
    """Start `memosite search --index` for the same archive, unless it runs already or could write nothing."""
    if is_being_made(part) or not os.access(_existing(part), os.W_OK):
        return
    words = ["search", "--index", "--quiet", "--site", str((options.site_option or Path()).absolute())]
    words += ["--cache", str(config.cache.absolute()), "--audience", config.audience]
    words += ["--secrets", options.secrets] if options.secrets else []
    words += ["--as-of", options.as_of] if options.as_of else []
    start_detached(words)


def _existing(folder: Path) -> Path:
    """The folder, or the one in which it would be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder
