"""[I/O] Reads sources into an archive, the first half of every command: list, read, parse, shelve, resolve."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from memosite.archive.confidential import is_confidential
from memosite.archive.history import History, HistoryProblem
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, SourceInfo
from memosite.config.schema import Config
from memosite.facts import source_rules
from memosite.facts.file import File
from memosite.facts.findings import Finding, Location
from memosite.facts.layout import Place
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX
from memosite.facts.parsed import Envelope, Organization, Parsed
from memosite.formats import adapters, body
from memosite.formats.memodef import parse_broken
from memosite.reading import gate
from memosite.reading.content import ALL, Content, Policy
from memosite.reading.finders import DataFinder, LineFinder
from memosite.reading.inputs import compare_repo
from memosite.reading.modes import with_mode, without_hidden_names
from memosite.reading.own_texts import refuse_secrets
from memosite.reading.parse_cache import Former, ParseCache, ParseKey, Remembered, SourceCaches
from memosite.reading.scans import Scanned
from memosite.reading.screen import Screen, Screened
from memosite.resolve import ResolveRules, body_candidates, resolve
from memosite.resolve.collect import memo_folders, operational_place
from memosite.run.progress import Progress, silent
from memosite.run.recall import FORGETFUL, Recall
from memosite.run.workers import run
from memosite.sources.folder import FolderSource
from memosite.sources.git import Holding
from memosite.sources.listing import FileStamp, Listing, Source, shown_path
from memosite.sources.look import FileLook, Look, changed
from memosite.sources.repos import folders_of, repos_inside
from memosite.store.shelf import Shelf

ReadStep = Callable[[int], None]
"""Told of a number of files that were read."""


def read_archive(
    sources: Sequence[Source],
    rules: ResolveRules,
    ledger: Ledger,
    shelf: Shelf,
    *,
    cache: Path | None = None,
    parsed: SourceCaches | None = None,
    policy: Policy = ALL,
    recall: Recall = FORGETFUL,
    looks: dict[str, Look] | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> tuple[Archive, Ledger]:
    """Read every source and resolve what they say. Texts and published bytes are on the shelf afterwards.

    Results are cached below the folder `cache`, if one is given; unchanged files are not read. A caller that reads
    repeatedly gives `parsed`, which it saves itself, and a `recall`, which memoizes resolving. `looks` are fresh
    snapshots of sources; they are taken out. Files are read and parsed by `jobs`
    processes. What the `policy` does not leave is in neither archive, ledger nor cache.
    """
    progress("list", 0, 0)
    known = SourceCaches(cache) if parsed is None else parsed
    seen = looks if looks is not None else {}
    allowed = policy.secrets.fingerprints
    refuse_secrets(policy.texts, Screen(known.scans(""), allowed))
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
    progress("resolve", 0, 0)
    by_name = {source.name: source for source in sources}

    def resolved(content: Content, recall: Recall) -> tuple[Archive, Ledger]:
        def is_there(source: str, path: str) -> bool:
            return source in by_name and (source, path) not in content.absent and by_name[source].has_file(path)

        return resolve(
            content.facts, rules, content.ledger, LineFinder(shelf), has_file=is_there, data_of=DataFinder(shelf),
            histories=content.histories, recall=recall,
        )  # fmt: skip

    content = Content(*with_mode(facts, histories, policy.secrets), ledger)
    archive, continued = resolved(content, FORGETFUL if policy.revises else recall)
    left = gate.revise(content, archive, policy, shelf)
    if left is not None:
        archive, continued = resolved(left, recall)
        archive = replace(archive, erased=left.erased)
        known.leave_out(left.unstored)
    if parsed is None:
        known.write()
    return archive, continued


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

    `parsed` is its result so far, `repos` the folders in it that are repos of their own on disk.
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
        self._reader = SourceReader(source, shelf, self.screen, cache=known.of(source.name), look=look, jobs=jobs)
        self._former = known.former(source, look, allowed)
        self._listing: Listing | None = None
        if self._former is None:
            self._list()
        else:
            self.parsed, self.repos = self._former.parsed, self._former.repos

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
        self._reader.step = step
        if self._listing is not None:
            self.parsed = self._reader.candidates(self._listing)
        else:
            step(len(self.parsed))

    def read_named(self, folders: tuple[str, ...]) -> None:
        """Read the files that are found only through organizations; then `parsed` is complete."""
        if self._former is not None and self._former.memo_folders != folders:
            self._list()
            self.read(self._reader.step)
        if self._listing is not None:
            self.parsed = self._reader.with_named_files(self._listing, self.parsed, memo_folders=folders)
            self._reader.close()
        else:
            self._reader.promise()
        if self._look is not None and self._reader.is_whole:
            former = Former(
                source=self.source, moment=self._look.moment, digest=self._digest, memo_folders=folders,
                parsed=self.parsed, repos=self.repos, allowed=self.screen.allowed,
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


def _on(history: History, source: str) -> tuple[Finding, ...]:
    """The finding on a history that could not be read; one that there is not, or not all of, is none."""
    if not history.problem:
        return ()
    rule = source_rules.SOURCE_FAILED if history.problem == "failed" else source_rules.HISTORY_UNREADABLE
    return (Finding(rule=rule, location=Location(source=source, path=""), message=f"its history: {history.why_not}"),)


def rules_of(config: Config, sources: tuple[SourceInfo, ...]) -> ResolveRules:
    """The settings for resolving these sources."""
    return ResolveRules(sources=sources, aliases=config.aliases, people=config.people, closed=config.closed)


def read_source(listing: Listing, shelf: Shelf, allowed: frozenset[str] = frozenset()) -> list[Parsed]:
    """Read and parse the candidates of one source by itself, and the bodies that its envelopes name."""
    reader = SourceReader(listing.source, shelf, Screen(allowed=allowed))
    parsed = reader.candidates(listing)
    folders = memo_folders(one.fact for one in parsed if isinstance(one.fact, Organization))
    return reader.with_named_files(listing, parsed, memo_folders=folders)


_PARSERS: Mapping[str, Callable[[File], Parsed]] = {
    "any": adapters.parse,
    "record": adapters.parse_record,
    "body": body.parse,
}


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

        `step` is called with the number of files that were read; `is_whole` is whether all could be read.
        """
        self.step: ReadStep = lambda _: None
        self.is_whole = True
        self._source = source
        self._shelf = shelf
        self._screen = screen if screen is not None else Screen()
        self._cache = cache if cache is not None else ParseCache(None, source.name)
        self._look = look
        self._states: Mapping[str, FileLook] | None = None
        self._jobs = jobs if isinstance(source, FolderSource) else 1  # a commit's objects come through one pipe

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
        read = run(lambda place: self._read(wanted[place]), missing, jobs=self._jobs)
        parsed = []
        for key, stamp, one in zip(wanted, stamps, known, strict=True):
            if one is not None:
                parsed.append(one.parsed)
                continue
            fresh, scanned, is_whole = next(read)
            self._screen.scans.note(scanned)
            self.step(1)
            self.is_whole = self.is_whole and is_whole
            digests = tuple(map(self._shelf.put, fresh.shelve))
            parsed.append(replace(fresh, shelve=()))
            if stamp is not None and is_whole:
                self._cache.put(key, stamp, parsed[-1], digests, moment=moment)
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
        found = self._screened(path)
        if isinstance(found, Finding):
            return Parsed(source=self._source.name, path=found.location.path, findings=(found,)), {}, False
        parsed = _PARSERS[how](found.file)
        is_marked = is_confidential(found.file)
        if found.hits or is_marked:
            parsed = replace(parsed, secrets=found.hits, is_confidential=is_marked)
        return parsed, found.scanned, True

    def _screened(self, path: str) -> Screened | Finding:
        """A file that passed the gate, or the finding why it was left out; unscreened bytes are never used."""
        file = self._source.read_file(path)
        return file if isinstance(file, Finding) else self._screen.file(file)

    def _bytes_of(self, digest: str) -> Iterable[bytes]:
        return self._read(self._cache.holder(digest))[0].shelve

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
