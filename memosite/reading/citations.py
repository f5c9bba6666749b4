"""[I/O] Gives an archive the citations that are made of it: its own, and those of the configured manuscripts (SPEC 7).

Manuscripts pass the screen as files of sources do. On a public site they are nobody's publication: what they cite is
not listed there, and findings on them are for its operator.
"""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from memosite.archive.model import Archive
from memosite.citing.census import citations_of, finding_on, with_citations
from memosite.config.schema import Audience, Config
from memosite.facts.citation_rules import MANUSCRIPT_UNREADABLE
from memosite.facts.errors import SourceError
from memosite.facts.file import File
from memosite.facts.findings import Finding, Location
from memosite.facts.written import Written
from memosite.quotes.citations import MOST, READERS
from memosite.quotes.manuscript import docx_text
from memosite.reading.finders import LineFinder
from memosite.reading.scans import KnownScans
from memosite.reading.screen import Screen
from memosite.sources.manuscripts import list_manuscripts
from memosite.store.safe_files import read_file
from memosite.store.shelf import Shelf


def read_citations(config: Config, audience: Audience, archive: Archive, shelf: Shelf, scans: KnownScans) -> Archive:
    """The archive with the citations of it, and with a finding on each that does not hold."""
    roots = {source.name: source.root for source in config.sources if source.root is not None}
    artifacts = archive.artifacts.values()
    files = {roots[copy.file.source] / copy.file.path for one in artifacts if one.kind == "document"
             for copy in one.copies if copy.file.source in roots} if config.citations else set()  # fmt: skip
    screen = Screen(scans, config.secrets.fingerprints)
    manuscripts: dict[str, tuple[Written, ...]] = {}
    unread: list[Finding] = []
    for path in list_manuscripts(config.site, config.citations, holes=config.written):
        name = path.relative_to(config.site).as_posix()
        try:
            manuscripts[name] = _citations(path, screen) if path not in files else ()
        except SourceError as error:
            unread.append(_unreadable(name, str(error).removeprefix(f"{path}: ")))
    found = citations_of(archive, manuscripts, shelf.text, LineFinder(shelf), base_url=config.address)
    if audience == "internal":
        return with_citations(archive, found, unread)
    apart = (finding_on(one) for one in found if one.by is None and one.state == "broken")
    shown = with_citations(archive, tuple(one for one in found if one.by is not None), ())
    return replace(shown, for_operator=(*archive.for_operator, *unread, *apart))


def _unreadable(name: str, why: str) -> Finding:
    message = f"{why}; expected a manuscript that can be read"
    return Finding(rule=MANUSCRIPT_UNREADABLE, location=Location(source="", path=name), message=message)


def _citations(path: Path, screen: Screen) -> tuple[Written, ...]:
    """The citations of a manuscript; none of one that is of another kind of file. Raises `SourceError`."""
    suffix = path.suffix.lower()
    reader = READERS.get(suffix)
    if reader is None:
        return ()
    try:
        data = read_file(path)
    except OSError as error:
        raise SourceError(f"{path}: it cannot be read ({error.strerror})") from error
    if suffix == ".docx":
        data = _from_docx(path, data).encode()
    if b"sha256:" not in data:
        return ()
    screened = screen.file(File(source="", path=path.name, data=data)).file.data
    text = screened.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return tuple(one for one in reader(text) if one.ref or one.url)[:MOST]


_from_docx = lru_cache(maxsize=8)(docx_text)  # a server reads it again after every change of anything
