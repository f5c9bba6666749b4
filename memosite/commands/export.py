"""[I/O] `memosite export`: writes an archive, or what a query finds in it, in another format."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from memosite.archive.lines import exported
from memosite.archive.model import Archive
from memosite.commands.nouns import plural
from memosite.commands.report import fails
from memosite.commands.withheld import check_command, named_audience, withheld_note
from memosite.config.loading import Config, load_config
from memosite.exporters import export
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.secret_rules import withheld_for_secrets
from memosite.facts.source_rules import failures
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.run.streams import without_reader
from memosite.run.workers import default_jobs

if TYPE_CHECKING:
    from memosite.search_language.syntax import QueryNode


def run(options: argparse.Namespace, *, say: Callable[[str], None]) -> bool:
    """Write the export, to standard output unless a file is named.

    Returns whether all sources could be read, nothing was withheld for a secret, and the findings are below what fails.
    """
    if options.output is None and options.format == "maildir":
        raise ConfigError("export --format maildir: a maildir is a folder; name it with -o")
    config = load_config(
        options.site_option or Path(),
        base_url=options.base_url,
        cache=options.cache,
        secrets=options.secrets,
        audience=options.audience,
    )
    query = _read_query(options.query)
    index_much = _nothing
    with open_archive(replace(config, base_url=None)) as handle:  # as `search` does, whose index is asked
        if query is None:
            archive = handle.recall()
        else:
            archive, index_much = _find(query, handle, options, config)
        with without_reader():
            export(
                archive,
                handle.shelf,
                format=options.format,
                with_body=options.with_body,
                base_url=config.base_url,
                archive_id=config.archive_id,
                authority=config.authority,
                target=options.output or sys.stdout.buffer,
            )
        unreadable = _unreadable(archive)
    index_much()
    if unreadable:
        say(f"memosite: {unreadable}")
    failed = failures(archive.all_findings)
    for one in failed:
        say(f"memosite: failed: {printable(one)}")
    withheld = withheld_for_secrets(archive.all_findings)
    if withheld:
        say(f"memosite: {withheld_note(withheld, check_command(options, named_audience(options, config)))}")
    return not failed and not withheld and not fails((one.severity for one in archive.all_findings), options.fail_on)


def _nothing() -> None:
    """There is nothing to index."""


def _read_query(text: str | None) -> "QueryNode | None":
    """The query as parsed; None if there is none. Raises `ConfigError` for one that cannot be read."""
    if text is None:
        return None
    from memosite.search.answer import read_query  # noqa: PLC0415 - few exports have a query

    return read_query(text).node


def _find(
    query: "QueryNode", handle: ArchiveHandle, options: argparse.Namespace, config: Config
) -> tuple[Archive, Callable[[], None]]:
    """The archive with only what matches a query, and what begins to index what had to be looked into.

    Threads and positions are kept, for context. An index of the same sources tells what matches; only that is loaded.
    """
    refs = _ask_index(query, handle, config)
    archive = handle.recall()
    index_much = _nothing
    if refs is None:
        from memosite.commands.indexing import keep_index  # noqa: PLC0415 - needed if the index lacks something
        from memosite.search.command import searchable  # noqa: PLC0415 - as above

        searched = searchable(archive, handle.shelf, config, jobs=default_jobs())
        index_much = keep_index(searched, options, config)
        with searched.search() as found:
            (refs,) = found.refs([query])
    kept = {ref: archive.artifacts[ref] for ref in archive.artifacts if ref in refs}
    return replace(archive, artifacts=MappingProxyType(kept)), index_much


def _ask_index(query: "QueryNode", handle: ArchiveHandle, config: Config) -> frozenset[tuple[str, str]] | None:
    """What matches a query, if nothing has changed since the index was made; what is fetched may be newer than it."""
    if any(source.root is None for source in config.sources):
        return None
    from memosite.search.whoosh.index import open_index  # noqa: PLC0415 - few exports need Whoosh
    from memosite.search.whoosh.reader import IndexReader  # noqa: PLC0415 - as above

    with open_index(config.cache / config.audience) as index:
        if index is None or not handle.inputs(index.seal.inputs).is_same:
            return None
        return IndexReader(index=index, newest_date=index.seal.newest).refs(query)


def _unreadable(archive: Archive) -> str:
    """How many files have no line because they cannot be parsed (SPEC 8); "" if there are none."""
    left_out = len(archive.artifacts) - sum(1 for _ in exported(archive))
    return f"{left_out} invalid {plural('file', left_out)} skipped; run memosite check" if left_out else ""
