"""[I/O] Opens what citations are made of and verified by, for `cite` and `verify`."""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from memosite.citing.repos import RepoSources
from memosite.citing.sources import Sources
from memosite.config.loading import load_config
from memosite.facts.errors import SourceError
from memosite.facts.source_rules import failures
from memosite.reading.archive import open_archive
from memosite.reading.past_contents import PastContents


@contextmanager
def opened_sources(options: argparse.Namespace) -> Iterator[Sources]:
    """The items of the site folder that the command line names; remotes are used as last fetched.

    Raises `SourceError` if a source cannot be read: what is not there cannot be told from what was not read.
    """
    config = load_config(
        options.site_option or Path(),
        base_url=getattr(options, "base_url", None),
        cache=options.cache,
        secrets=options.secrets,
        audience=options.audience,
    )
    with ExitStack() as stack:
        handle = stack.enter_context(open_archive(config, use_network=False))
        sources = {source.name: source for source in handle.opened.sources}
        archive, _ = handle.read()
        for one in failures(archive.all_findings):
            raise SourceError(f"{one}; what could not be read can be neither cited nor verified")
        past = PastContents(config, sources, stack)
        yield RepoSources(archive, handle.shelf, past, base_url=config.base_url)
