"""[I/O] Opens what citations are made of and verified by, for `cite` and `verify`."""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from memosite.citing.sources import Sources
from memosite.config.loading import load_config
from memosite.facts.errors import SourceError
from memosite.facts.layout import SITE_MARKER
from memosite.facts.source_rules import failures
from memosite.origins.repos import RepoSources
from memosite.reading.archive import open_archive
from memosite.reading.past_contents import PastContents
from memosite.reading.published import FolderSite, PublishedSite, WebSite
from memosite.reading.text_rows import QUOTES


def published_site(named: "str | Path | None") -> PublishedSite | None:
    """The published site that `--site` names, by its address or its folder; None if it names a site folder."""
    if isinstance(named, str):
        return WebSite(named)
    if named is not None and (named / SITE_MARKER).is_file():
        return FolderSite(named)
    return None


@contextmanager
def opened_sources(options: argparse.Namespace) -> Iterator[Sources]:
    """The items of the site folder, or of the published site, that the command line names.

    Remotes are used as last fetched. Raises `SourceError` if a source cannot be read: what is not there cannot be told
    from what was not read.
    """
    if site := published_site(options.site_option):
        from memosite.origins.site import SiteSources  # noqa: PLC0415 - it parses originals

        is_address = isinstance(site, WebSite)
        yield SiteSources(site, base_url=site.name.rstrip("/") + "/" if is_address else "")
        return
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
        archive = handle.recall()
        for one in failures(archive.all_findings):
            raise SourceError(f"{one}; what could not be read can be neither cited nor verified")
        past = PastContents(config, sources, stack)
        built = FolderSite(config.output)
        index = handle.text_rows(QUOTES)
        rows = index if index.token else None
        yield RepoSources(archive, handle.shelf, past, base_url=config.base_url, built=built, rows=rows)
