"""Exports an archive as JSON Lines, CSV, mbox or maildir: one module for each, listed in `EXPORTERS`.

Artifacts are written in order of arrival and one at a time; memory holds one text, however large the archive.
Equal archives give equal bytes. To add a format: one file with a `write(job, target)`, one line in `EXPORTERS`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from memosite.archive.model import Archive
from memosite.exporters import csv_table, jsonl, maildir, mbox
from memosite.exporters.job import Export
from memosite.exporters.target import Target
from memosite.facts.errors import ConfigError
from memosite.store.shelf import Shelf

__all__ = ["EXPORTERS", "Export", "export"]

Exporter = Callable[[Export, Target], None]

EXPORTERS: Mapping[str, Exporter] = MappingProxyType(
    {"jsonl": jsonl.write, "mbox": mbox.write, "maildir": maildir.write, "csv": csv_table.write}
)
"""The exporters by the names that `--format` takes."""


def export(
    archive: Archive,
    shelf: Shelf,
    *,
    format: str,  # noqa: A002 - the option's name
    with_body: bool,
    base_url: str | None,
    archive_id: str,
    authority: str,
    target: Target,
) -> None:
    """Write the archive to a file, a folder (maildir) or a stream in one of the formats of `EXPORTERS`.

    `with_body` adds the text to JSON Lines and CSV; a mail always has its text. A file appears only once it is
    complete. Raises `ConfigError` for an unknown format or a maildir without a folder, `OutputError` for a target
    that cannot be written or is not memosite's; errors of a stream, such as a closed pipe, are the caller's.
    """
    exporter = EXPORTERS.get(format)
    if exporter is None:
        raise ConfigError(f"--format: found {format!r}, expected {', '.join(EXPORTERS)}")
    job = Export(
        archive=archive, shelf=shelf, with_body=with_body, base_url=base_url, archive_id=archive_id, authority=authority
    )
    exporter(job, target)
