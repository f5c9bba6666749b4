"""[I/O] `memosite export`: writes an archive, or what a query finds in it, in another format."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from memosite.archive.lines import exported
from memosite.archive.model import Archive
from memosite.commands.nouns import plural
from memosite.commands.report import fails
from memosite.commands.withheld import check_command, named_audience, withheld_note
from memosite.config.loading import load_config
from memosite.exporters import export
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.secret_rules import withheld_for_secrets
from memosite.facts.source_rules import failures
from memosite.reading.archive import open_archive
from memosite.run.streams import without_reader
from memosite.run.workers import default_jobs


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
    index_much = _nothing
    with open_archive(config) as handle:
        archive = handle.recall()
        if options.query is not None:
            from memosite.commands.indexing import keep_index  # noqa: PLC0415 - few exports need Whoosh
            from memosite.search.command import restrict, searchable  # noqa: PLC0415

            found = searchable(archive, handle.shelf, config, jobs=default_jobs())
            index_much = keep_index(found, options, config)
            archive = restrict(archive, found, options.query)
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


def _unreadable(archive: Archive) -> str:
    """How many files have no line because they cannot be parsed (SPEC 8); "" if there are none."""
    left_out = len(archive.artifacts) - sum(1 for _ in exported(archive))
    return f"{left_out} invalid {plural('file', left_out)} skipped; run memosite check" if left_out else ""
