"""[I/O] Reads and parses the files of one source: from the parse cache, or through the first step of the gate."""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memosite.archive.confidential import is_confidential
from memosite.facts.errors import SourceError
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.images import image_place
from memosite.facts.layout import Place
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX
from memosite.facts.parsed import BodyFile, DocumentHead, Envelope, Fact, FileFacts, Parsed, RecordFile, Text
from memosite.formats import adapters, body, image
from memosite.formats.memodef import parse_broken
from memosite.reading.content import Change
from memosite.reading.parse_cache import ParseCache, ParseKey, Remembered
from memosite.reading.scans import Scanned
from memosite.reading.screen import Screen, Screened
from memosite.resolve import body_candidates
from memosite.resolve.collect import operational_place
from memosite.run.workers import run
from memosite.secrets import find_secrets
from memosite.sources.listing import FileStamp, Listing, Source, shown_path
from memosite.sources.look import FileLook, Look, changed
from memosite.store.shelf import CHANGED, Shelf

ReadStep = Callable[[int], None]
"""Told of a number of files that were read."""


_PARSERS: Mapping[str, Callable[[File], Parsed]] = {
    "any": adapters.parse,
    "record": adapters.parse_record,
    "body": body.parse,
    "image": image.parse,
}


def _parsed(how: str, found: Screened) -> Parsed:
    """The parse result of a file that passed the gate."""
    return replace(_PARSERS[how](found.file), secrets=found.hits, is_confidential=is_confidential(found.file))


def _texts_written_in(file: File) -> Iterator[bytes]:
    """The texts of a JSON object."""
    if file.data.startswith(b"{"):
        texts = (value for value in (file.json.fields or {}).values() if isinstance(value, str))
        yield from (text.encode("utf-8", "replace") for text in texts)


def _shown_images(parsed: Iterable[Parsed], listing: Listing) -> list[str]:
    """The images of a listing that texts of memos, notes, documents and records show."""
    by_name = {shown_path(path): path for path in listing.images}
    shown: set[str] = set()
    for fact in (one.fact for one in parsed) if by_name else ():
        for file, text in _texts_of(fact):
            folder = file.path.rpartition("/")[0]
            shown.update(by_name[place] for one in text.images if (place := image_place(one, folder)) in by_name)
    return sorted(shown)


def _texts_of(fact: Fact | None) -> Iterator[tuple[FileFacts, Text]]:
    """The texts of a fact that may show images, each with the file whose folder counts."""
    match fact:
        case Envelope(body=text) | DocumentHead(text=text) | BodyFile(text=text):
            if text is not None:
                yield fact.file, text
        case RecordFile():
            yield from ((one.file, one.text) for one in fact.records if one.text is not None)


class SourceReader:
    """Reads and parses the files of one source; texts and bytes go to the shelf."""

    def __init__(
        self,
        source: Source,
        shelf: Shelf,
        screen: Screen | None = None,
        *,
        cache: ParseCache | None = None,
        look: Look | None = None,
        jobs: int = 1,
    ) -> None:
        """Read this source; without `cache` every file of it, without a snapshot `look` with a stat of each file.

        `step` is called with the number of files that were read; `is_whole` is whether all could be read. `keys`
        tell of each parsed path how it was read.
        """
        self.step: ReadStep = lambda _: None
        self.is_whole = True
        self.keys: dict[str, ParseKey] = {}
        self._source = source
        self._shelf = shelf
        self._screen = screen if screen is not None else Screen()
        self._cache = cache if cache is not None else ParseCache(None, source.name)
        self._look = look
        self._states: Mapping[str, FileLook] | None = None
        self._jobs = jobs

    def candidates(self, listing: Listing) -> list[Parsed]:
        """The candidates of a listing, in the order of their paths."""
        return self._parse([(path, "record" if path in listing.records else "any") for path in listing.candidates])

    def with_named_files(
        self, listing: Listing, parsed: Iterable[Parsed], *, memo_folders: tuple[str, ...]
    ) -> list[Parsed]:
        """The candidates, with the bodies they name and with the files found through organizations.

        `memo_folders` are the folders that any orgdef names for memos: below them a file that cannot be read is a
        broken envelope, and a body may be without one, as below `memos/`.
        """
        source = self._source
        others = {path: path for path in listing.others if path.isascii()}
        others |= {shown_path(path): path for path in sorted(listing.others) if not path.isascii()}
        found: list[Parsed] = []
        named: set[str] = set()
        for one in parsed:
            if one.fact is None and one.path.endswith(ENVELOPE_SUFFIX) and one.findings:
                place = operational_place(one.path, memo_folders=memo_folders, include=source.include)
                one = one if place is None else self._as_broken(one, place)  # noqa: PLW2901 - it takes the other's place
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
        found += self._parse([(path, "image") for path in _shown_images(found, listing)])
        if listing.findings:
            found.append(Parsed(source=source.name, path="", findings=listing.findings))
        return found

    def close(self) -> None:
        """Cache the results of this round, and nothing else."""
        self._cache.close()
        self.promise()

    def promise(self) -> None:
        """Promise to the shelf the bytes of files whose parse results are cached."""
        self._states = self._look = None  # the shelf keeps this reader alive
        self._shelf.promise(self._cache.shelved(), self._bytes_of)

    def _parse(self, wanted: Sequence[ParseKey]) -> list[Parsed]:
        """The parse results of these files: cached, or read now."""
        moment = time.time_ns()
        stamps = [self._stamp(path) for path, _ in wanted]
        known = [self._known(key, stamp) for key, stamp in zip(wanted, stamps, strict=True)]
        missing = [place for place, one in enumerate(known) if one is None]
        self.step(len(wanted) - len(missing))
        if missing:
            find_secrets("")  # loads the rules once, before processes are forked
        read = run(lambda place: self._read(wanted[place]), missing, jobs=self._jobs)
        parsed = []
        for key, stamp, one in zip(wanted, stamps, known, strict=True):
            if one is not None:
                parsed.append(one.parsed)
                self.keys[one.parsed.path] = key
                continue
            fresh, scanned, is_whole = next(read)
            self._screen.scans.note(scanned)
            self.keys[fresh.path] = key
            self.step(1)
            self.is_whole = self.is_whole and is_whole
            digests = tuple(map(self._shelf.put, fresh.shelve))
            parsed.append(replace(fresh, shelve=()))
            if stamp is not None and is_whole:
                self._cache.put(key, stamp, parsed[-1], digests, moment=moment)
            elif is_whole:
                self._cache.note(parsed[-1].path, digests)
        return parsed

    def _known(self, key: ParseKey, stamp: FileStamp | None) -> Remembered | None:
        """The cached parse result of a file, if file and exceptions are as they were."""
        known = self._cache.get(key, stamp)
        return known if known is not None and self._screen.agrees(known.parsed.secrets) else None

    def _stamp(self, path: str) -> FileStamp | None:
        """The state of a file, from the snapshot if there is one."""
        if self._look is not None and self._states is None:
            self._states = self._look.states()
        state = self._states.get(path) if self._states is not None else None
        return FileStamp(token=state, changed=changed(state)) if state is not None else self._source.stamp(path)

    def _read(self, key: ParseKey) -> tuple[Parsed, Scanned, bool]:
        """The parse result of a file, where secrets are in it, and whether it could be read."""
        path, how = key
        found = self._screened(path, is_image=how == "image")
        if isinstance(found, Finding):
            return Parsed(source=self._source.name, path=found.location.path, findings=(found,)), {}, False
        return _parsed(how, found), found.scanned, True

    def read_again(self, former: Parsed, change: Change) -> Parsed | None:
        """The parse result of a file of which `change` gives other bytes; None if it gives none.

        Raises `SourceError` if it is not the file any more that was parsed before.
        """
        key = self.keys[former.path]
        found, facts = self._screened(key[0]), getattr(former.fact, "file", None)
        if isinstance(found, Finding) or (isinstance(facts, FileFacts) and facts.sha256 != found.file.facts.sha256):
            raise SourceError(CHANGED)
        is_image = key[1] == "image"
        data = change(image.words_in(found.file.data) if is_image else found.file.data, found.file.name)
        if data is None:
            return None
        parsed = _parsed(key[1], replace(found, file=replace(found.file, data=data)))
        for one in parsed.shelve:
            self._shelf.put(one)
        return replace(parsed, shelve=())

    def _screened(self, path: str, *, is_image: bool = False) -> Screened | Finding:
        """A file that passed the gate, or the finding why it was left out; unscreened bytes are never used."""
        file = self._source.read_file(path)
        if is_image and not isinstance(file, Finding) and image.refusal(file):  # too large: only its name is used
            return Screened(file=file, hits=(), scanned={})
        return file if isinstance(file, Finding) else self._screen.file(file)

    def _bytes_of(self, digest: str) -> Iterable[bytes]:
        """Bytes of the file that has those of a digest: the file and its texts as they are written, if that is enough.

        They did not pass the gate now; the shelf takes only what it was promised, which did when it was parsed.
        """
        key = self._cache.holder(digest)
        file = self._source.read_file(key[0])
        if not isinstance(file, Finding):
            written = [file.data, *_texts_written_in(file)]
            if any(hashlib.sha256(one).hexdigest() == digest for one in written):
                return written
        return self._read(key)[0].shelve

    def _as_broken(self, parsed: Parsed, place: Place) -> Parsed:
        """A file that no format knows and that is not JSON, read again as the envelope it should have been."""
        found = self._screened(parsed.path)
        if isinstance(found, Finding) or found.file.json.fields is not None:
            self.is_whole = self.is_whole and not isinstance(found, Finding)
            return parsed
        broken = parse_broken(found.file, place)
        for data in broken.shelve:
            self._shelf.put(data)
        return replace(broken, shelve=(), secrets=found.hits, is_confidential=is_confidential(found.file))
