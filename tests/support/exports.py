"""Exports archives as mail, and has subjects that would break it."""

from pathlib import Path

from memosite.commands.export import export
from memosite.commands.export_forms import Export
from tests.support.archives import open_folders

HOSTILE = {
    "newlines": "one\r\nBcc: everybody@example.org\r\n\r\nand a body",
    "separators": "one\u2028two\u2029three\u0085four\x1b[31mred\x07",
    "long": "A subject that goes on and on. " * 160,
    "one long word": "x" * 4_900,
    "right to left": "\u202eשלום עולם, gate\u202c",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈 " * 60,
    "an encoded word": "=?utf-8?q?not?= encoded =?utf-8?b?YQ==?=",
    "spaces": "  two  spaces   and\ttabs  ",
    "punctuation": "a, b; (c) <d@e> \"f\" \\g [h]: 'i'",
    "combining": "e\u0301" * 200,
}
"""Subjects that would break a header, a screen or a table."""


def export_mail(*roots: Path, target: Path, format_: str = "mbox", **naming: str) -> None:
    """Read repos and export them as mail, by default as the archive `test` of example.org without an address."""
    with open_folders(*roots) as (archive, shelf):
        job = Export(
            archive=archive,
            shelf=shelf,
            with_body=True,
            base_url=naming.get("base_url"),
            archive_id=naming.get("archive_id", "test"),
            authority=naming.get("authority", "example.org,2026"),
        )
        export(job, format_, target)
