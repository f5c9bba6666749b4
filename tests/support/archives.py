"""Reads folders into archives as the commands do, and looks into archives."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Memo, SourceInfo, Transcript
from memosite.facts.findings import Finding
from memosite.facts.parsed import Kind, Ref
from memosite.reading.reader import read_archive
from memosite.resolve import Rules
from memosite.sources.folder import FolderSource
from memosite.store.shelf import Shelf

DOCUMENTS = ("decisions/**/*.md", "proposals/**/*.md", "docs/adr/**/*.md")
EMPTY = Ledger()


# Archives read from folders


def folder_source(root: Path, **settings: Any) -> FolderSource:
    """A source that is named like its folder and has the default documents."""
    return FolderSource(**{"name": root.name, "root": root, "documents": DOCUMENTS, **settings})


def read_sources(
    *sources: FolderSource | Path, ledger: Ledger = EMPTY, web: Mapping[str, str] | None = None, **rules: Any
) -> tuple[Archive, Ledger]:
    """Read folders as `memosite build` does; `rules` are fields of `Rules`."""
    read = [source if isinstance(source, FolderSource) else folder_source(source) for source in sources]
    known = tuple(
        SourceInfo(name=source.name, include=source.include, web=(web or {}).get(source.name)) for source in read
    )
    with Shelf() as shelf:
        return read_archive(read, Rules(sources=known, **rules), ledger, shelf)


def read_folders(*sources: FolderSource | Path, **settings: Any) -> Archive:
    """The archive of some folders."""
    return read_sources(*sources, **settings)[0]


# Looking at archives


def memo(archive: Archive, id_: str, kind: Kind = "memo") -> Memo:
    """A memo or note by its id."""
    found = archive.artifacts[(kind, id_)]
    assert isinstance(found, Memo)
    return found


def transcript_of(archive: Archive, id_: str) -> Transcript:
    """A transcript by its id."""
    found = archive.artifacts[("transcript", id_)]
    assert isinstance(found, Transcript)
    return found


def findings(archive: Archive, *rules: str) -> list[Finding]:
    """The findings of these rules, or all of them."""
    return [finding for finding in archive.findings if not rules or finding.rule.id in rules]


def rules_found(archive: Archive) -> set[str]:
    """The rules that have findings."""
    return {finding.rule.id for finding in archive.findings}


def links(archive: Archive, ref: Ref) -> dict[str, Ref | str | None]:
    """Where the mentions of an artifact lead, by what is written."""
    return {link.written: link.to or link.url for link in archive.artifacts[ref].links}
