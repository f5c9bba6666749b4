"""Exports JSON Lines, the stable machine interface: one line for each artifact (SPEC 8)."""

from memosite.archive.lines import dump_line
from memosite.exporters.job import Export
from memosite.exporters.target import Target, write_chunks


def write(job: Export, target: Target) -> None:
    """Write one line for each artifact, in UTF-8, each with a line feed."""
    write_chunks(target, (f"{dump_line(line)}\n".encode() for line in job.lines()))
