"""[I/O] Reads sources into an archive, the first half of every command: list, read, parse, shelve, resolve.

    files, former contents ─► screen ─► parse ─► facts, texts on the shelf ─► resolve ─► revise ─► resolve again
                                                                                                        │
    manuscripts ─► screen ─► citations ─────────────────────────────────────────────────────────────► Archive

What is known of an unchanged file is not read again. Manuscripts pass the screen as files of sources do. On a public
site they are nobody's publication: what they cite is not listed there, and findings on them are for its operator.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from memosite.archive.history import History, HistoryProblem
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, SourceInfo
from memosite.citing.verifying import citations_of, finding_on, with_citations
from memosite.config.schema import Config
from memosite.facts import rules
from memosite.facts.contents import is_confidential
from memosite.facts.errors import ConfigError, SourceError
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.json_text import find_key_line
from memosite.facts.layout import CONFIG_NAME, Place
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX
from memosite.facts.parsed import (
    BodyFile,
    DocumentHead,
    Envelope,
    Fact,
    FileFacts,
    ImageFile,
    Organization,
    Parsed,
    RecordFile,
    SessionFile,
    Text,
    Written,
)
from memosite.facts.texts import image_place
from memosite.facts.values import Value, replace
from memosite.formats import adapters, image
from memosite.formats.memodef import parse_body, parse_broken
from memosite.formats.sessions import entire
from memosite.formats.sessions import parsing as sessions
from memosite.formats.system import FilePlace
from memosite.quotes.citations import CONVERTED_ENDINGS, MOST, READERS
from memosite.quotes.manuscript import converted_text
from memosite.reading import gate
from memosite.reading.inputs import compare_repo
from memosite.reading.parse_cache import Former, ParseCache, ParseKey, Remembered, SourceCaches
from memosite.reading.scans import KnownScans, Scanned
from memosite.reading.screen import Screen, Screened, decided, for_everybody, with_mode, without_hidden_names
from memosite.reading.withholding import Change, Content, Policy
from memosite.resolve import ResolveRules, resolve
from memosite.resolve.identity import body_candidates, memo_folders, operational_place
from memosite.run.progress import Progress, silent
from memosite.run.recall import FORGETFUL, Recall
from memosite.run.workers import BATCH, run
from memosite.secrets import find_secrets, kind_of
from memosite.sources.folder import FolderSource, folders_of, list_manuscripts, repos_inside
from memosite.sources.git import Holding
from memosite.sources.listing import FileStamp, Listing, Source, shown_path
from memosite.sources.look import FileLook, Look, changed
from memosite.store.safe_files import read_file
from memosite.store.shelf import CHANGED, Shelf
from memosite.store.state import State

# Reads and parses the files of one source: from the parse cache, or through the first step of the gate.


ReadStep = Callable[[int], None]
"""Told of a number of files that were read."""


CHECKPOINTS = "checkpoints"
"""How files are read that are joined to the log of a session."""


_PARSERS: Mapping[str, Callable[[File], Parsed]] = {
    "any": adapters.parse,
    "record": adapters.parse_record,
    "body": parse_body,
    "image": image.parse,
    "session": sessions.parse,
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
    places = _image_places(parsed) if by_name else ()
    return sorted({by_name[path] for _, path in places if path in by_name})


def _image_places(parsed: Iterable[Parsed]) -> Iterator[FilePlace]:
    """The places in which texts show images, whether there are any or not."""
    for fact in (result.fact for result in parsed):
        for file, text in _texts_of(fact):
            folder = file.path.rpartition("/")[0]
            yield from ((file.source, place) for one in text.images if (place := image_place(one, folder)))


def _texts_of(fact: Fact | None) -> Iterator[tuple[FileFacts, Text]]:
    """The texts of a fact that may show images, each with the file whose folder counts."""
    match fact:
        case Envelope(body=text) | DocumentHead(text=text) | BodyFile(text=text):
            if text is not None:
                yield fact.file, text
        case RecordFile():
            yield from ((record.file, record.text) for record in fact.records if record.text is not None)


class _Checkpoints(Mapping[str, bytes]):
    """The files of a checkpoint branch, read one by one when they are asked for; `hits` are the secrets in them."""

    def __init__(
        self, paths: Sequence[str], screened: Callable[[str], Screened | Finding], change: Change | None
    ) -> None:
        self.hits: dict[str, tuple[rules.SecretHit, ...]] = {}
        self.problems: list[Finding] = []
        self._paths = dict.fromkeys(paths)
        self._screened = screened
        self._change = change

    def __getitem__(self, path: str) -> bytes:
        if path not in self._paths:
            raise KeyError(path)
        found = self._screened(path)
        if isinstance(found, Finding):
            self.problems.append(found)
            return b""
        self.hits[path] = found.hits
        data = found.file.data
        return (self._change(data, found.file.name) or data) if self._change else data

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


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
        self._cache = cache if cache is not None else ParseCache(State(None), source.name)
        self._look = look
        self._states: Mapping[str, FileLook] | None = None
        self._jobs = jobs
        self._checkpoints: tuple[str, ...] = ()

    def candidates(self, listing: Listing) -> list[Parsed]:
        """The candidates of a listing, in the order of their paths."""
        hows = {**dict.fromkeys(listing.records, "record"), **dict.fromkeys(listing.sessions, "session")}
        found = self._parse([(path, hows.get(path, "any")) for path in listing.candidates])
        self._checkpoints = listing.checkpoints
        return [*found, *self._of_checkpoints()] if self._checkpoints else found

    def _of_checkpoints(self, change: Change | None = None) -> Iterator[Parsed]:
        """The sessions of a checkpoint branch: each is joined from its checkpoints (SPEC 2.2), which are read once."""
        files = _Checkpoints(self._checkpoints, self._screened, change)
        for log in entire.join(files):
            paths = {piece.path for piece in log.pieces}
            hits = tuple(hit for path in sorted(paths) for hit in files.hits.get(path, ()))
            is_redacted = any(not hit.is_allowed for hit in hits)
            path = log.pieces[-1].path
            file = File(source=self._source.name, path=shown_path(path), data=log.data, is_redacted=is_redacted)
            parsed = sessions.parse_checkpoints(file, log)
            self.keys[parsed.path] = (path, CHECKPOINTS)
            for data in parsed.shelve:
                self._shelf.put(data)
            yield replace(parsed, shelve=(), secrets=hits, is_confidential=is_confidential(file))
        self.is_whole = self.is_whole and not files.problems
        for problem in files.problems:
            yield Parsed(source=self._source.name, path=problem.location.path, findings=(problem,))

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
        if len(missing) > BATCH:  # fewer are read by this process
            self._screen.scans.load()
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
                self._cache.note(key, parsed[-1], digests)
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
        if key[1] == CHECKPOINTS:
            return next((one for one in self._of_checkpoints(change) if one.path == former.path), None)
        found, facts = self._screened(key[0]), getattr(former.fact, "file", None)
        if isinstance(found, Finding) or (isinstance(facts, FileFacts) and facts.sha256 != found.file.facts.sha256):
            raise SourceError(CHANGED)
        data = change(image.words_in(found.file.data) if key[1] == "image" else found.file.data, found.file.name)
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


# What `resolve` asks of the bytes on a shelf: the lines of keys, and the bytes of files.


_OWNERS = frozenset({"metadata", "content"})


class LineFinder(Value, kw_only=False):
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


class DataFinder(Value, kw_only=False):
    """Finds the bytes of files on a shelf."""

    shelf: Shelf

    def __call__(self, file: FileFacts) -> bytes | None:
        """The bytes of a file as they were read; None if they are not kept."""
        try:
            return self.shelf.get(file.sha256)
        except KeyError:
            return None


# Refuses a configuration that holds a secret: its texts are on every page, and errors quote them (SPEC 9).


def refuse_secrets(config: Config, screen: Screen) -> None:
    """Raise `ConfigError` if there is a secret in memosite.yml that it does not allow, or in the name of a folder."""
    data = b""
    if config.file is not None:
        with suppress(OSError):  # it was there when the configuration was read
            data = read_file(config.file.resolve())
    for hit in screen.file(File(source="", path=CONFIG_NAME, data=data)).hits:
        if not hit.is_allowed:
            advice = f"rotate it and remove it, or allow its fingerprint {hit.fingerprint} in secrets.allow"
            raise ConfigError(
                f"{config.file}:{hit.line}: found a secret ({kind_of(hit.rule)}), expected none; {advice}"
            )
    named = (config.title, *(source.name for source in config.sources))  # they may be names of folders
    hidden = screen.names(name for name in named if name.encode("utf-8", "surrogateescape") not in data)
    if hidden:
        shown = ", ".join(sorted(hidden.values()))
        raise ConfigError(f"{shown}: found a secret in this name, expected none; rotate it and rename the folder")


# Reads all sources into an archive.


ALL = Policy(config=Config(site=Path(), title="", sources=(), output=Path(), cache=Path()))
"""The policy of an archive that holds everything."""


def read_archive(
    sources: Sequence[Source],
    rules: ResolveRules,
    ledger: Ledger,
    shelf: Shelf,
    *,
    parsed: SourceCaches | None = None,
    policy: Policy = ALL,
    recall: Recall = FORGETFUL,
    looks: dict[str, Look] | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> tuple[Archive, Ledger]:
    """Read every source and resolve what they say. Texts and published bytes are on the shelf afterwards.

    `parsed` has what is known of unchanged files, which are not read; it is brought up to date, and the caller writes
    it. `recall` memoizes resolving. `looks` are fresh snapshots of sources; they are taken out. Files are read and
    parsed by `jobs` processes. What the `policy` does not leave is in neither archive, ledger nor `parsed`.
    """
    progress("list", 0, 0)
    known = SourceCaches() if parsed is None else parsed
    seen = looks if looks is not None else {}
    allowed = policy.config.secrets.fingerprints
    refuse_secrets(policy.config, Screen(known.scans(""), allowed))
    parts = [_Part(source, shelf, known, allowed, look=seen.pop(source.name, None), jobs=jobs) for source in sources]
    step = _counted(progress, sum(part.count for part in parts))
    for part in parts:
        part.read(step)
    folders = memo_folders(one.fact for part in parts for one in part.parsed if isinstance(one.fact, Organization))
    facts: list[Parsed] = []
    histories: dict[str, History] = {}
    for part in parts:
        part.read_named(folders)
        facts += part.parsed
        holding = part.source.holding
        if holding is not None:
            histories[part.source.name] = history = _past(holding, part, shelf, known)
            found = _on(history, part.source.name)
            facts += [Parsed(source=part.source.name, path="", findings=found)] if found else []
    histories |= _with_cards(parts, histories, known)
    known.note_all(source.name for source in sources)
    progress("resolve", 0, 0)
    by_name = {source.name: source for source in sources}

    def resolved(content: Content, recall: Recall) -> tuple[Archive, Ledger]:
        def is_there(source: str, path: str) -> bool:
            is_left = (source, path) not in content.absent and not policy.hides(source, path)
            return is_left and source in by_name and by_name[source].has_file(path)

        return resolve(
            content.facts, rules.without(content.unnamed), content.ledger, LineFinder(shelf), has_file=is_there,
            data_of=DataFinder(shelf), histories=content.histories, recall=recall,
        )  # fmt: skip

    content = Content(*with_mode(facts, histories, policy.config.secrets), ledger)
    archive, continued = resolved(content, FORGETFUL if policy.revises else recall)
    readers = {part.source.name: part.reader for part in parts}

    def reread(former: Parsed, change: Change) -> Parsed | None:
        parsed = readers[former.source].read_again(former, change)
        return decided(parsed, policy.config.secrets) if parsed is not None else None

    left = gate.revise(content, archive, policy, shelf, reread)
    if left is not None:
        archive, continued = resolved(left, recall)
        archive = replace(archive, erased=left.erased)
        images = {one.place for one in facts if isinstance(one.fact, ImageFile)}
        known.leave_out(left.unstored | images.difference(_image_places(left.facts)))
    return archive if policy.config.audience == "internal" else for_everybody(archive), continued


def _counted(progress: Progress, total: int) -> ReadStep:
    """Counts files that were read, for progress; bodies that envelopes name are only known later."""
    done = 0

    def step(number: int) -> None:
        nonlocal done
        done += number
        progress("read", done, max(total, done))

    return step


class _Part:
    """One source while an archive is read: its former result if that is up to date, else read anew.

    `parsed` is its result so far, made by its `reader`, `repos` the folders in it that are repos of their own on disk.
    """

    def __init__(
        self,
        source: Source,
        shelf: Shelf,
        known: SourceCaches,
        allowed: frozenset[str],
        *,
        look: Look | None,
        jobs: int,
    ) -> None:
        """List the source, unless a snapshot shows that it is unchanged."""
        self.screen = Screen(known.scans(source.name), allowed)
        self.source = source
        self.parsed: list[Parsed] = []
        self.repos: tuple[str, ...] = ()
        self._known = known
        self._look = look
        self._digest = look.digest(look.moment) if look else ""  # before anything is read: files may change meanwhile
        self.reader = SourceReader(source, shelf, self.screen, cache=known.of(source.name), look=look, jobs=jobs)
        self._former = known.former(source, look, allowed)
        self._listing: Listing | None = None
        if self._former is None:
            self._list()
        else:
            self.parsed, self.repos, self.reader.keys = self._former.parsed, self._former.repos, self._former.keys

    @property
    def count(self) -> int:
        """How many files are to be read."""
        return len(self._listing.candidates) if self._listing else len(self.parsed)

    def _list(self) -> None:
        source, look = self.source, self._look
        self._known.forget(source.name)
        self._known.of(source.name).begin()
        if not isinstance(source, FolderSource):
            self._listing = without_hidden_names(source.list_files(), self.screen)
            return
        self._listing = without_hidden_names(source.list_files(look), self.screen)
        paths = self._listing.candidates
        self.repos = tuple(sorted(look.repos & folders_of(paths))) if look else repos_inside(source.root, paths)

    def read(self, step: ReadStep) -> None:
        """Read the candidates."""
        self.reader.step = step
        if self._listing is not None:
            self.parsed = self.reader.candidates(self._listing)
        else:
            step(len(self.parsed))

    def read_named(self, folders: tuple[str, ...]) -> None:
        """Read the files that are found only through organizations; then `parsed` is complete."""
        if self._former is not None and self._former.memo_folders != folders:
            self._list()
            self.read(self.reader.step)
        if self._listing is not None:
            self.parsed = self.reader.with_named_files(self._listing, self.parsed, memo_folders=folders)
            self.reader.close()
        else:
            self.reader.promise()
        if self._look is not None and self.reader.is_whole:
            former = Former(
                source=self.source, moment=self._look.moment, digest=self._digest, memo_folders=folders,
                parsed=self.parsed, repos=self.repos, allowed=self.screen.allowed, keys=self.reader.keys,
            )  # fmt: skip
            self._known.keep(former)
        self._look = self._listing = None


def _past(holding: Holding, part: _Part, shelf: Shelf, known: SourceCaches) -> History:
    """The git history of a source; it is read again if the repo or a file changed since."""
    repo, parsed, inside = holding.repo, part.parsed, part.repos
    past = known.past(part.source.name, holding)
    state = compare_repo(repo, past.state) if repo else ""

    def read() -> History:
        if repo is None:
            problem: HistoryProblem = "unreadable" if holding.is_odd else ""
            return History(why_not=holding.why_not, foreign=inside, problem=problem)
        history = past.read(repo, parsed, shelf, state=state, screen=part.screen)
        entries = known.versions(part.source.name).read(repo, history, parsed, part.source.name, part.screen)
        return replace(history, foreign=tuple(sorted({*history.foreign, *inside})), entries=entries)

    return known.history(part.source.name, (holding, state, inside, parsed, part.screen.allowed), read)


MOST_COMMITS = 20_000
"""The most hashes of commits of session logs that are looked for."""


def _with_cards(
    parts: Sequence[_Part], histories: Mapping[str, History], known: SourceCaches
) -> Iterator[tuple[str, History]]:
    """The histories with the commits that the session logs of all sources name, or that name a session."""
    read = [one.fact for part in parts for one in part.parsed if isinstance(one.fact, SessionFile)]
    logs = [one.log for fact in read for one in (*fact.sessions, *fact.guarded) if one.log]
    written = tuple(dict.fromkeys(word for log in logs for _, word in log.commits))[:MOST_COMMITS]
    for part in parts if logs else ():
        name, holding = part.source.name, part.source.holding
        if holding is not None and holding.repo is not None and name in histories:
            cards = known.past(name, holding).cards(holding.repo, written, part.screen)
            yield name, replace(histories[name], cards=cards) if cards else histories[name]


def _on(history: History, source: str) -> tuple[Finding, ...]:
    """The finding on a history that could not be read; one that there is not, or not all of, is none."""
    if not history.problem:
        return ()
    rule = rules.SOURCE_FAILED if history.problem == "failed" else rules.HISTORY_UNREADABLE
    return (rule.finding(f"its history: {history.why_not}", source=source),)


def rules_of(config: Config, sources: tuple[SourceInfo, ...]) -> ResolveRules:
    """The settings for resolving these sources."""
    return ResolveRules(
        sources=sources,
        aliases=config.aliases,
        people=config.people,
        closed=config.closed,
        session_positions=config.sessions.positions,
        session_person=config.sessions.person,
    )


# Gives an archive the citations that are made of it: its own, and those of the configured manuscripts (SPEC 7).


def read_citations(config: Config, archive: Archive, shelf: Shelf, scans: KnownScans) -> Archive:
    """The archive with the citations of it, and with a finding on each that does not hold."""
    roots = {source.name: source.root for source in config.sources if source.root is not None}
    artifacts = archive.artifacts.values()
    files = {roots[copy.file.source] / copy.file.path for artifact in artifacts if artifact.kind == "document"
             for copy in artifact.copies if copy.file.source in roots} if config.citations else set()  # fmt: skip
    screen = Screen(scans, config.secrets.fingerprints)
    manuscripts: dict[str, tuple[Written, ...]] = {}
    unread: list[Finding] = []
    for path in list_manuscripts(config.site, config.citations, holes=config.written):
        name = path.relative_to(config.site).as_posix()
        try:
            manuscripts[name] = _citations(path, screen) if path not in files else ()
        except SourceError as error:
            message = f"{str(error).removeprefix(f'{path}: ')}; expected a manuscript that can be read"
            unread.append(rules.MANUSCRIPT_UNREADABLE.finding(message, path=name))
    found = citations_of(archive, manuscripts, shelf.text, LineFinder(shelf), base_url=config.address)
    if config.audience == "internal":
        return with_citations(archive, found, unread)
    apart = (finding_on(one) for one in found if one.by is None and one.state == "broken")
    shown = with_citations(archive, tuple(one for one in found if one.by is not None), ())
    return replace(shown, for_operator=(*archive.for_operator, *unread, *apart))


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
    if suffix in CONVERTED_ENDINGS:
        data = _converted(path, data).encode()
    if b"sha256:" not in data:
        return ()
    screened = screen.file(File(source="", path=path.name, data=data)).file.data
    text = screened.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return tuple(one for one in reader(text) if one.names_passage)[:MOST]


_converted = lru_cache(maxsize=8)(converted_text)  # a server reads it again after every change of anything
