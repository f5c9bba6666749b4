"""Reads folders into archives as the commands do, and looks into archives."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Memo, SourceInfo, Transcript
from memosite.facts.findings import Finding
from memosite.facts.parsed import Kind, Ref
from memosite.reading.reader import read_archive
from memosite.resolve import ResolveRules
from memosite.sources.folder import FolderSource
from memosite.store.shelf import Shelf

DOCUMENTS = ("decisions/**/*.md", "proposals/**/*.md", "docs/adr/**/*.md")
EMPTY = Ledger()


def folder_source(root: Path, **settings: Any) -> FolderSource:
    """A source that is named like its folder and has the default documents."""
    return FolderSource(**{"name": root.name, "root": root, "documents": DOCUMENTS, **settings})


def read_sources(
    *sources: FolderSource | Path, ledger: Ledger = EMPTY, web: Mapping[str, str] | None = None, **rules: Any
) -> tuple[Archive, Ledger]:
    """Read folders as `memosite build` does, and give the archive and the ledger that follows from it.

    `web` has addresses by the names of sources; `rules` are fields of `ResolveRules`.
    """
    with Shelf() as shelf:
        return _read(sources, shelf, ledger=ledger, web=web or {}, rules=rules)


def read_folders(*sources: FolderSource | Path, **settings: Any) -> Archive:
    """The archive of some folders; settings are those of `read_sources`."""
    return read_sources(*sources, **settings)[0]


@contextmanager
def open_folders(*sources: FolderSource | Path, **rules: Any) -> Iterator[tuple[Archive, Shelf]]:
    """The archive of some folders, and the shelf of its texts, which is open until the block ends."""
    with Shelf() as shelf:
        yield _read(sources, shelf, ledger=EMPTY, web={}, rules=rules)[0], shelf


def _read(
    sources: Iterable[FolderSource | Path], shelf: Shelf, *, ledger: Ledger, web: Mapping[str, str], rules: Any
) -> tuple[Archive, Ledger]:
    read = [source if isinstance(source, FolderSource) else folder_source(source) for source in sources]
    known = tuple(SourceInfo(name=source.name, include=source.include, web=web.get(source.name)) for source in read)
    return read_archive(read, ResolveRules(sources=known, **rules), ledger, shelf)


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
