"""Small repos for tests, written file by file and read into an archive as every command does."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, SourceInfo
from memosite.exporters import export
from memosite.reading.reader import read_archive
from memosite.resolve import Rules
from memosite.sources.folder import FolderSource
from memosite.store.shelf import Shelf
from tests.support.archives import DOCUMENTS


@contextmanager
def read_repos(*roots: Path, aliases: Mapping[str, str] | None = None) -> Iterator[tuple[Archive, Shelf]]:
    """Read folders as sources named like them; the shelf is open as long as the context is."""
    sources = [FolderSource(name=root.name, root=root, documents=DOCUMENTS) for root in roots]
    rules = Rules(sources=tuple(SourceInfo(name=root.name) for root in roots), aliases=aliases or {})
    with Shelf() as shelf:
        archive, _ = read_archive(sources, rules, Ledger(), shelf)
        yield archive, shelf


def write_memo(repo: Path, name: str, *, folder: str = "memos/inbox", **fields: object) -> str:
    """Write a conformant memo, with these fields changed (`sender` is `from`; None leaves one out); return its id."""
    envelope: dict[str, object] = {
        "catdef": "1.4",
        "memodef": "0.4",
        "type": "memodef:Memo",
        "from": "engineer",
        "to": "director",
        "subject": "The gate is green",
        "sent": "2026-05-01T09:00:00-04:00",
        "body": "All tests pass.",
    }
    if "sender" in fields:
        fields["from"] = fields.pop("sender")
    envelope.update(fields)
    text = json.dumps({key: value for key, value in envelope.items() if value is not None})
    write_file(repo, f"{folder}/{name}.openthing", text)
    return name


def write_file(repo: Path, path: str, text: str) -> Path:
    """Write a file of a repo, with the folders above it."""
    file = repo / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    return file


HOSTILE = {
    "newlines": "one\r\nBcc: everybody@example.org\r\n\r\nand a body",
    "separators": "one\u2028two\u2029three\u0085four\x1b[31mred\x07",
    "long": "A subject that goes on and on. " * 330,
    "one long word": "x" * 10_000,
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
    with read_repos(*roots) as (archive, shelf):
        export(
            archive,
            shelf,
            format=format_,
            with_body=True,
            base_url=naming.get("base_url"),
            archive_id=naming.get("archive_id", "test"),
            authority=naming.get("authority", "example.org,2026"),
            target=target,
        )
