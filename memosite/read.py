"""[I/O] Reads sources into an archive, the first half of every command: list, read, parse, shelve, resolve."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from memosite import formats
from memosite.facts import Envelope, FileFacts, Organization, Parsed
from memosite.findings import Finding
from memosite.formats import body
from memosite.formats.document import File, find_key_line
from memosite.formats.memodef import parse_broken
from memosite.history import History
from memosite.layout import Place
from memosite.ledger import Ledger
from memosite.model import Archive
from memosite.names import BODY_SUFFIX, ENVELOPE_SUFFIX
from memosite.resolve import Rules, body_candidates, resolve
from memosite.resolve.collect import memo_folders, operational_place
from memosite.shelf import Shelf
from memosite.sources.folder import FolderSource
from memosite.sources.git import Holding, repos_inside
from memosite.sources.listing import Listing, Source, shown_path
from memosite.sources.past import read_past


def read_archive(
    sources: Sequence[Source], rules: Rules, ledger: Ledger, shelf: Shelf, *, cache: Path | None = None
) -> tuple[Archive, Ledger]:
    """Read every source and resolve what they say. Texts and published bytes are on the shelf afterwards.

    What was read of histories is kept below the folder `cache`, if one is given.
    """
    listings = [source.list_files() for source in sources]
    read = [read_candidates(listing, shelf) for listing in listings]
    organizations = (one.fact for parsed in read for one in parsed if isinstance(one.fact, Organization))
    folders = memo_folders(organizations)
    parsed: list[Parsed] = []
    histories: dict[str, History] = {}
    for listing, candidates in zip(listings, read, strict=True):
        found = with_named_files(listing, candidates, shelf, memo_folders=folders)
        parsed += found
        holding = listing.source.holding
        if holding is not None:
            histories[listing.source.name] = _history(holding, listing, found, shelf, cache)
    by_name = {source.name: source for source in sources}

    def is_there(source: str, path: str) -> bool:
        return source in by_name and by_name[source].has_file(path)

    return resolve(
        parsed, rules, ledger, LineFinder(shelf), has_file=is_there, data_of=DataFinder(shelf), histories=histories
    )


def _history(holding: Holding, listing: Listing, parsed: Iterable[Parsed], shelf: Shelf, cache: Path | None) -> History:
    source = listing.source
    foreign = repos_inside(source.root, listing.candidates) if isinstance(source, FolderSource) else ()
    if holding.repo is None:
        return History(why_not=holding.why_not, foreign=foreign)
    history = read_past(
        holding.repo, parsed, shelf, prefix=holding.prefix, commit=holding.commit, line=holding.line, cache=cache
    )
    return replace(history, foreign=tuple(sorted({*history.foreign, *foreign})))


def read_source(listing: Listing, shelf: Shelf) -> list[Parsed]:
    """Read and parse the candidates of one source by itself, and whatever its envelopes name as bodies."""
    parsed = read_candidates(listing, shelf)
    folders = memo_folders(one.fact for one in parsed if isinstance(one.fact, Organization))
    return with_named_files(listing, parsed, shelf, memo_folders=folders)


def read_candidates(listing: Listing, shelf: Shelf) -> list[Parsed]:
    """Read and parse the candidates of one source, in the order of their paths."""
    source, records = listing.source, listing.records
    return [
        _parse_one(source, path, shelf, parse=formats.parse_record if path in records else formats.parse)
        for path in listing.candidates
    ]


def with_named_files(
    listing: Listing, parsed: Iterable[Parsed], shelf: Shelf, *, memo_folders: tuple[str, ...]
) -> list[Parsed]:
    """The candidates of one source, with the bodies they name and with what only all organizations tell.

    `memo_folders` are the folders that any orgdef names for memos: below them a file that cannot be read is a
    broken envelope, and a body may lie without one, as below `memos/`.
    """
    source = listing.source
    others = {shown_path(path): path for path in sorted(listing.others)}
    found: list[Parsed] = []
    named: set[str] = set()
    for one in parsed:
        place = operational_place(one.path, memo_folders=memo_folders, include=source.include)
        if one.fact is None and place is not None and one.path.endswith(ENVELOPE_SUFFIX) and one.findings:
            one = _parse_broken(source, one, place, shelf)  # noqa: PLW2901 - it takes the other's place
        found.append(one)
        if isinstance(one.fact, Envelope):
            named.update(path for path in body_candidates(one.fact, memo_folders=memo_folders) if path in others)
    if memo_folders:
        named |= {
            path
            for path in others
            if path.lower().endswith(BODY_SUFFIX)
            and operational_place(path, memo_folders=memo_folders, include=()) is not None
        }
    found += [_parse_one(source, others[path], shelf, parse=body.parse) for path in sorted(named)]
    if listing.findings:
        found.append(Parsed(source=source.name, path="", findings=listing.findings))
    return found


def _parse_one(source: Source, path: str, shelf: Shelf, *, parse: Callable[[File], Parsed]) -> Parsed:
    file = source.read_file(path)
    if isinstance(file, Finding):
        return Parsed(source=source.name, path=file.location.path, findings=(file,))
    return _shelve(parse(file), shelf)


def _parse_broken(source: Source, parsed: Parsed, place: Place, shelf: Shelf) -> Parsed:
    """A file that no format knows and that is not JSON, read again as the envelope it should have been."""
    file = source.read_file(parsed.path)
    if isinstance(file, Finding) or file.json.fields is not None:
        return parsed
    return _shelve(parse_broken(file, place), shelf)


def _shelve(parsed: Parsed, shelf: Shelf) -> Parsed:
    for data in parsed.shelve:
        shelf.put(data)
    return replace(parsed, shelve=())


_OWNERS = frozenset({"metadata", "content"})


class LineFinder:
    """Finds lines in the envelopes on a shelf."""

    def __init__(self, shelf: Shelf) -> None:
        """Look things up on this shelf."""
        self._shelf = shelf

    def __call__(self, file: FileFacts, key: str) -> int | None:
        """The line of a key in an envelope, of one below `metadata` or `content` if it begins so; None without it."""
        try:
            text = self._shelf.text(file.sha256)
        except KeyError:
            return None
        owner, dot, name = key.partition(".")
        return find_key_line(text, (owner, name) if dot and owner in _OWNERS else (key,))


class DataFinder:
    """Finds the bytes of files on a shelf."""

    def __init__(self, shelf: Shelf) -> None:
        """Look things up on this shelf."""
        self._shelf = shelf

    def __call__(self, file: FileFacts) -> bytes | None:
        """The bytes of a file as they were read; None if they are not kept."""
        try:
            return self._shelf.get(file.sha256)
        except KeyError:
            return None
