"""[I/O] Reads sources into an archive, the first half of every command: list, read, parse, shelve, resolve."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from memosite import formats
from memosite.facts import Envelope, FileFacts, Organization, Parsed
from memosite.findings import Finding
from memosite.formats import body
from memosite.formats.document import File, find_key_line
from memosite.formats.memodef import parse_broken
from memosite.history import History
from memosite.inputs import state_of_repo
from memosite.layout import Place
from memosite.ledger import Ledger
from memosite.model import Archive
from memosite.names import BODY_SUFFIX, ENVELOPE_SUFFIX
from memosite.parse_cache import Key, ParseCache, SourceCaches
from memosite.progress import Progress, silent
from memosite.resolve import Rules, body_candidates, resolve
from memosite.resolve.collect import memo_folders, operational_place
from memosite.resolve.recall import FORGETFUL, Recall
from memosite.shelf import Shelf
from memosite.sources.folder import FolderSource
from memosite.sources.git import Holding, repos_inside
from memosite.sources.listing import Listing, Source, shown_path
from memosite.sources.past import read_past
from memosite.workers import run


def read_archive(
    sources: Sequence[Source],
    rules: Rules,
    ledger: Ledger,
    shelf: Shelf,
    *,
    cache: Path | None = None,
    parsed: SourceCaches | None = None,
    recall: Recall = FORGETFUL,
    jobs: int = 1,
    progress: Progress = silent,
) -> tuple[Archive, Ledger]:
    """Read every source and resolve what they say. Texts and published bytes are on the shelf afterwards.

    What was read of files and histories is kept below the folder `cache`, if one is given; what did not change since
    is not read. Who reads again and again gives what was `parsed`, and writes it down himself, and a `recall` of what
    was made of it. Files are read and parsed by `jobs` processes.
    """
    progress("list", 0, 0)
    listings = [source.list_files() for source in sources]
    step = _counted(progress, sum(len(listing.candidates) for listing in listings))
    known = SourceCaches(cache) if parsed is None else parsed
    readers = [Reader(source, shelf, cache=known.of(source.name), jobs=jobs, step=step) for source in sources]
    read = [reader.candidates(listing) for reader, listing in zip(readers, listings, strict=True)]
    organizations = (one.fact for parsed in read for one in parsed if isinstance(one.fact, Organization))
    folders = memo_folders(organizations)
    facts: list[Parsed] = []
    histories: dict[str, History] = {}
    for reader, listing, candidates in zip(readers, listings, read, strict=True):
        found = reader.with_named_files(listing, candidates, memo_folders=folders)
        reader.close()
        facts += found
        holding = listing.source.holding
        if holding is not None:
            past = _past(holding, listing.source.name, found, shelf, cache=cache, known=known)
            histories[listing.source.name] = replace(past, foreign=_foreign(listing, past))
    if parsed is None:
        known.write()
    progress("resolve", 0, 0)
    by_name = {source.name: source for source in sources}

    def is_there(source: str, path: str) -> bool:
        return source in by_name and by_name[source].has_file(path)

    return resolve(
        facts, rules, ledger, LineFinder(shelf), has_file=is_there, data_of=DataFinder(shelf), histories=histories,
        recall=recall,
    )  # fmt: skip


def _counted(progress: Progress, total: int) -> Callable[[], None]:
    """Tells of each file that was read; bodies that envelopes name are only known by then."""
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress("read", done, max(total, done))

    return step


def _past(
    holding: Holding, name: str, parsed: list[Parsed], shelf: Shelf, *, cache: Path | None, known: SourceCaches
) -> History:
    """What git tells of a source; it is asked again if the repo or a file changed since."""
    repo = holding.repo
    if repo is None:
        return History(why_not=holding.why_not)

    def read() -> History:
        return read_past(
            repo, parsed, shelf, prefix=holding.prefix, commit=holding.commit, line=holding.line, cache=cache
        )

    return known.history(name, (holding, state_of_repo(repo), parsed), read)


def _foreign(listing: Listing, past: History) -> tuple[str, ...]:
    """The folders of a source that are repos of their own, by its commit or as they lie there."""
    source = listing.source
    inside = repos_inside(source.root, listing.candidates) if isinstance(source, FolderSource) else ()
    return tuple(sorted({*past.foreign, *inside}))


def read_source(listing: Listing, shelf: Shelf) -> list[Parsed]:
    """Read and parse the candidates of one source by itself, and whatever its envelopes name as bodies."""
    reader = Reader(listing.source, shelf)
    parsed = reader.candidates(listing)
    folders = memo_folders(one.fact for one in parsed if isinstance(one.fact, Organization))
    return reader.with_named_files(listing, parsed, memo_folders=folders)


_PARSERS: Mapping[str, Callable[[File], Parsed]] = {
    "any": formats.parse,
    "record": formats.parse_record,
    "body": body.parse,
}


class Reader:
    """Reads and parses the files of one source; what they give goes to the shelf."""

    def __init__(
        self,
        source: Source,
        shelf: Shelf,
        *,
        cache: ParseCache | None = None,
        jobs: int = 1,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        """Read this source; without `cache` every file of it. `step` is called after each."""
        self._source = source
        self._shelf = shelf
        self._cache = cache if cache is not None else ParseCache(None, source.name)
        self._step = step
        self._jobs = jobs if isinstance(source, FolderSource) else 1  # a commit's objects come through one pipe

    def candidates(self, listing: Listing) -> list[Parsed]:
        """The candidates of a listing, in the order of their paths."""
        return self._parse([(path, "record" if path in listing.records else "any") for path in listing.candidates])

    def with_named_files(
        self, listing: Listing, parsed: Iterable[Parsed], *, memo_folders: tuple[str, ...]
    ) -> list[Parsed]:
        """The candidates, with the bodies they name and with what only all organizations tell.

        `memo_folders` are the folders that any orgdef names for memos: below them a file that cannot be read is a
        broken envelope, and a body may lie without one, as below `memos/`.
        """
        source = self._source
        others = {shown_path(path): path for path in sorted(listing.others)}
        found: list[Parsed] = []
        named: set[str] = set()
        for one in parsed:
            place = operational_place(one.path, memo_folders=memo_folders, include=source.include)
            if one.fact is None and place is not None and one.path.endswith(ENVELOPE_SUFFIX) and one.findings:
                one = self._as_broken(one, place)  # noqa: PLW2901 - it takes the other's place
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
        found += self._parse([(others[path], "body") for path in sorted(named)])
        if listing.findings:
            found.append(Parsed(source=source.name, path="", findings=listing.findings))
        return found

    def close(self) -> None:
        """Remember what was parsed, and nothing else."""
        self._cache.close()

    def _parse(self, wanted: Sequence[Key]) -> list[Parsed]:
        """What these files say: as it is remembered, or read now."""
        stamps = [self._source.stamp(path) for path, _ in wanted]
        known = [self._cache.get(key, stamp) for key, stamp in zip(wanted, stamps, strict=True)]
        missing = [place for place, one in enumerate(known) if one is None]
        read = run(lambda place: self._read(wanted[place]), missing, jobs=self._jobs)
        parsed = []
        for key, stamp, one in zip(wanted, stamps, known, strict=True):
            self._step()
            if one is not None:
                self._shelf.promise(one.shelved, partial(self._bytes_of, key))
                parsed.append(one.parsed)
                continue
            fresh, is_whole = next(read)
            digests = tuple(map(self._shelf.put, fresh.shelve))
            parsed.append(replace(fresh, shelve=()))
            if stamp is not None and is_whole:
                self._cache.put(key, stamp, parsed[-1], digests)
        return parsed

    def _read(self, key: Key) -> tuple[Parsed, bool]:
        """What a file says, and whether it could be read."""
        path, how = key
        file = self._source.read_file(path)
        if isinstance(file, Finding):
            return Parsed(source=self._source.name, path=file.location.path, findings=(file,)), False
        return _PARSERS[how](file), True

    def _bytes_of(self, key: Key) -> Iterable[bytes]:
        return self._read(key)[0].shelve

    def _as_broken(self, parsed: Parsed, place: Place) -> Parsed:
        """A file that no format knows and that is not JSON, read again as the envelope it should have been."""
        file = self._source.read_file(parsed.path)
        if isinstance(file, Finding) or file.json.fields is not None:
            return parsed
        broken = parse_broken(file, place)
        for data in broken.shelve:
            self._shelf.put(data)
        return replace(broken, shelve=())


_OWNERS = frozenset({"metadata", "content"})


@dataclass(frozen=True, slots=True)
class LineFinder:
    """Finds lines in the envelopes on a shelf."""

    shelf: Shelf

    def __call__(self, file: FileFacts, key: str) -> int | None:
        """The line of a key in an envelope, of one below `metadata` or `content` if it begins so; None without it."""
        try:
            text = self.shelf.text(file.sha256)
        except KeyError:
            return None
        owner, dot, name = key.partition(".")
        return find_key_line(text, (owner, name) if dot and owner in _OWNERS else (key,))


@dataclass(frozen=True, slots=True)
class DataFinder:
    """Finds the bytes of files on a shelf."""

    shelf: Shelf

    def __call__(self, file: FileFacts) -> bytes | None:
        """The bytes of a file as they were read; None if they are not kept."""
        try:
            return self.shelf.get(file.sha256)
        except KeyError:
            return None
