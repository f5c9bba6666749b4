"""[I/O] Reads sources into an archive, the first half of every command: list, read, parse, shelve, resolve."""

from collections.abc import Sequence
from dataclasses import replace

from memosite.archive.history import History, HistoryProblem
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, SourceInfo
from memosite.config.schema import Config
from memosite.facts import source_rules
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import Organization, Parsed
from memosite.reading import gate
from memosite.reading.content import ALL, Change, Content, Policy
from memosite.reading.finders import DataFinder, LineFinder
from memosite.reading.inputs import compare_repo
from memosite.reading.modes import decided, with_mode, without_hidden_names
from memosite.reading.operator import for_everybody
from memosite.reading.own_texts import refuse_secrets
from memosite.reading.parse_cache import Former, SourceCaches
from memosite.reading.screen import Screen
from memosite.reading.source_reader import ReadStep, SourceReader
from memosite.resolve import ResolveRules, resolve
from memosite.resolve.collect import memo_folders
from memosite.run.progress import Progress, silent
from memosite.run.recall import FORGETFUL, Recall
from memosite.sources.folder import FolderSource
from memosite.sources.git import Holding
from memosite.sources.listing import Listing, Source
from memosite.sources.look import Look
from memosite.sources.repos import folders_of, repos_inside
from memosite.store.shelf import Shelf


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
    known = SourceCaches(None) if parsed is None else parsed
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
            is_left = (source, path) not in content.absent and not policy.hides(source, path)
            return is_left and source in by_name and by_name[source].has_file(path)

        return resolve(
            content.facts, rules.without(content.unnamed), content.ledger, LineFinder(shelf), has_file=is_there,
            data_of=DataFinder(shelf), histories=content.histories, recall=recall,
        )  # fmt: skip

    content = Content(*with_mode(facts, histories, policy.secrets), ledger)
    archive, continued = resolved(content, FORGETFUL if policy.revises else recall)
    readers = {part.source.name: part.reader for part in parts}

    def reread(former: Parsed, change: Change) -> Parsed | None:
        parsed = readers[former.source].read_again(former, change)
        return decided(parsed, policy.secrets) if parsed is not None else None

    left = gate.revise(content, archive, policy, shelf, reread)
    if left is not None:
        archive, continued = resolved(left, recall)
        archive = replace(archive, erased=left.erased)
        known.leave_out(left.unstored)
    return archive if policy.audience == "internal" else for_everybody(archive), continued


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


def _on(history: History, source: str) -> tuple[Finding, ...]:
    """The finding on a history that could not be read; one that there is not, or not all of, is none."""
    if not history.problem:
        return ()
    rule = source_rules.SOURCE_FAILED if history.problem == "failed" else source_rules.HISTORY_UNREADABLE
    return (Finding(rule=rule, location=Location(source=source, path=""), message=f"its history: {history.why_not}"),)


def rules_of(config: Config, sources: tuple[SourceInfo, ...]) -> ResolveRules:
    """The settings for resolving these sources."""
    return ResolveRules(sources=sources, aliases=config.aliases, people=config.people, closed=config.closed)
