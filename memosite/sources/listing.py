"""Selects the files of a source that may belong to the archive, and reports why others do not.

A folder on disk or a commit's tree supplies the entries of each folder and the first bytes of Markdown files. All
decisions are here (SPEC 2.2, 9), so that a checkout and its repo's objects give the same listing.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from memosite.facts import rules
from memosite.facts.errors import MovedError, SourceError
from memosite.facts.findings import Finding, Rule
from memosite.facts.layout import SITE_MARKER, SKIPPED_FOLDERS, UNREAD_FOLDERS, join_path, matches_any, place_of
from memosite.facts.names import BODY_SUFFIX, CATALOG_SUFFIX, ENVELOPE_SUFFIX
from memosite.facts.texts import IMAGE_SUFFIXES
from memosite.facts.values import AbstractValues, Struct, Value, field
from memosite.formats.sessions.places import (
    NO_LOGS,
    LogsOf,
    begins_as_log,
    home_of,
    is_asked_for,
    is_home,
    is_of_checkpoint,
    place_of_log,
    private_folders,
)
from memosite.formats.systems import begins_as_record, owner_of
from memosite.sources.git import Holding

if TYPE_CHECKING:
    from memosite.facts.file import File  # discovering sources should not wait for all formats


class FileStamp(Value):
    """The state of a file: equal tokens mean equal bytes.

    `changed` is when it was last written, in nanoseconds since 1970; 0 for files that never change.
    """

    token: tuple[int, ...]
    changed: int = 0


_AGAIN = "nothing was written, run the command again"

RECENT = 2_000_000_000
"""Nanoseconds: no disk keeps times more coarsely (FAT keeps every other second)."""

FILE_LIMIT = 32 * 1024 * 1024
"""The largest file that is read, in bytes (SPEC 9)."""

LOG_LIMIT = 64 * 1024 * 1024
"""The largest session log that is read, in bytes (SPEC 9)."""

FILES_LIMIT = 2_000_000
"""The largest number of files and folders that are looked at in one source."""

SNIFFED = 2048
"""How many bytes of a Markdown file are looked at, to tell whether it may be a record."""


FOREIGN_MARKERS = frozenset({SITE_MARKER, "pyvenv.cfg"})
"""Files that mark a folder as somebody else's: a site that was written, the packages of a Python."""

EntryKind = Literal["file", "folder", "link", "submodule", "other"]


class FolderEntry(NamedTuple):
    """One name in a folder. A submodule is a folder of which a commit knows only that another repo belongs there."""

    name: str
    kind: EntryKind


ListFolder = Callable[[str], Sequence[FolderEntry]]
"""What lies in a folder, by name; the source's own root is "". Raises `OSError` if it cannot be listed."""

HeadOf = Callable[[str], bytes]
"""The first bytes of a file, `SNIFFED` at most; none if it cannot be read."""


class Source(Value, metaclass=AbstractValues):
    """A source to read: a folder or a commit, with globs for files outside the conventions (SPEC 2.1).

    Its `name` is unique in an archive. Files that match `include` are read besides those found by convention, others
    that match `exclude` are skipped; `documents` count below the root and each working root. `logs` says which session
    logs are read.
    """

    name: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    logs: LogsOf = NO_LOGS

    @property
    @abstractmethod
    def holding(self) -> Holding | None:
        """The repo its history is read from; None if nobody asks for it."""

    @abstractmethod
    def list_files(self) -> "Listing":
        """The files to read. Raises `SourceError` if it cannot be listed, or if there are too many files."""

    @abstractmethod
    def read_file(self, path: str) -> "File | Finding":
        """The bytes of one file that was listed, or the finding that says why it was left out."""

    @abstractmethod
    def stamp(self, path: str) -> FileStamp | None:
        """The state of a file that was listed, without reading it; None if it is not known."""

    @abstractmethod
    def has_file(self, path: str) -> bool:
        """Whether a normal relative path leads to a file or folder of the source; no link is followed on the way."""


class Listing(Value):
    """The files found in a source, as paths relative to it: regular files only, never links.

    `candidates` are to be read; `others` may be bodies that an envelope names in its `body_ref`: they are in a store,
    beside an envelope, or have a body's name. `records` are candidates that only a record's adapter may read: they
    are where another memory system keeps files, or begin as a record does, and are no documents. `images` are read
    where a text shows them. `sessions` are candidates that only readers of session logs may read; `checkpoints` are
    files of checkpoints of sessions, which are read together.
    """

    source: Source
    candidates: tuple[str, ...]
    others: frozenset[str]
    findings: tuple[Finding, ...]
    records: frozenset[str] = frozenset()
    images: tuple[str, ...] = ()
    sessions: frozenset[str] = frozenset()
    checkpoints: tuple[str, ...] = ()


def list_source(
    source: Source, list_folder: ListFolder, head_of: HeadOf, *, called: str, holes: Collection[str] = ()
) -> Listing:
    """Walk a source and sort its files. `holes` are paths of folders in it that are not part of it.

    Raises `SourceError`, naming the source as `called`, if its root cannot be listed or there are too many files.
    """
    found = _Found(source=source, called=called)
    for folder, entries in _walk(found, list_folder, holes):
        found.add(folder, entries)
    markdown = list(filter(found.is_open, found.markdown))
    documents = {path for path in markdown if _is_document(path, source.documents, found.roots)}
    begun = (path for path in markdown if path not in documents and begins_as_record(head_of(path)))
    records = frozenset({*filter(found.is_open, found.records), *begun} - documents)
    sniffed = (path for path in found.perhaps_logs if begins_as_log(head_of(path)))
    candidates = list(filter(found.is_open, found.candidates))
    sessions = frozenset({*found.logs_to_read(), *sniffed}).difference(candidates)
    return Listing(
        source=source,
        candidates=tuple(sorted({*candidates, *documents, *records, *sessions})),
        others=frozenset(filter(found.is_open, found.others)).difference(documents),
        findings=tuple(found.findings),
        records=records - sessions,
        sessions=sessions,
        checkpoints=tuple(sorted(found.checkpoints)),
        images=tuple(sorted(filter(found.is_open, found.images))),
    )


class _Found(Struct, kw_only=True):
    """The files of a walk by what they may be, and the working roots that the stores among them imply."""

    source: Source
    called: str
    candidates: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    markdown: list[str] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    roots: set[str] = field(default_factory=lambda: {""})
    logs: dict[str, str] = field(default_factory=dict)  # by path: whose folder it is in, "" if that makes no difference
    perhaps_logs: list[str] = field(default_factory=list)
    checkpoints: list[str] = field(default_factory=list)
    private: set[str] = field(default_factory=set)  # folders that hold credentials

    def add(self, folder: str, entries: Sequence[FolderEntry]) -> None:
        """Sort the entries of one folder, not its subfolders."""
        place = place_of(join_path(folder, "-"))
        if place is not None:
            self.roots.add(place.root)
        holds_bodies = place is not None or any(entry.name.lower().endswith(ENVELOPE_SUFFIX) for entry in entries)
        for name, kind in entries:
            path = join_path(folder, name)
            is_body = name.lower().endswith(BODY_SUFFIX)
            is_wanted = name.lower().endswith((ENVELOPE_SUFFIX, CATALOG_SUFFIX))
            is_wanted = is_wanted or matches_any(path, self.source.include)
            is_record = not is_body and owner_of(path) is not None
            if kind != "file":
                if kind == "submodule" or is_wanted or is_record or _would_hold_artifacts(path):
                    self.findings.append(_not_a_file(self.source, path, kind))
                continue
            if is_wanted or (is_body and place is not None):
                self.candidates.append(path)
                continue
            if is_body or holds_bodies:
                self.others.append(path)
            if name.lower().endswith(IMAGE_SUFFIXES):
                self.images.append(path)
            if is_record:
                self.records.append(path)
            elif not is_body:
                self._add_log(path)
            if place is None and not is_body and name.lower().endswith((".md", ".markdown")):
                self.markdown.append(path)

    def _add_log(self, path: str) -> None:
        if is_of_checkpoint(path):
            self.checkpoints.append(path)
            return
        log = place_of_log(path)
        if is_asked_for(path, self.source.logs.include):
            self.logs[path] = ""
        elif log and log.is_sniffed:
            self.perhaps_logs.append(path)
        elif log:
            self.logs[path] = log.tool

    def is_open(self, path: str) -> bool:
        """Whether a file is read if it is one to be read: nothing is of the tools' folders in somebody's home.

        What a glob names is.
        """
        home = home_of(path) if self.private else None
        is_at_home = home is not None and not self.private.isdisjoint(private_folders(home))
        return not is_at_home or is_asked_for(path, self.source.logs.include) or matches_any(path, self.source.include)

    def logs_to_read(self) -> Iterator[str]:
        """The logs that are read; what is left is counted among the findings."""
        left: Counter[tuple[Rule, str]] = Counter()
        for path, tool in sorted(self.logs.items()):
            if not self.is_open(path):
                left[rules.SESSION_HOME, tool] += 1
            elif tool and not self.source.logs.is_all:
                left[rules.SESSION_NOT_READ, tool] += 1
            else:
                yield path
        for (rule, tool), number in sorted(left.items(), key=lambda item: (item[0][0].id, item[0][1])):
            logs = "1 session log" if number == 1 else f"{number:,} session logs"
            way = ": sessions: true in memosite.yml reads them" if rule == rules.SESSION_NOT_READ else ""
            self.findings.append(finding_on(rule, self.source, "", f"{logs} of {tool} not read{way}"))


def _would_hold_artifacts(path: str) -> bool:
    """Whether a folder of this path would be a store, or be in one."""
    return place_of(f"{path}/-") is not None or owner_of(f"{path}/-.md") is not None


def _walk(found: _Found, list_folder: ListFolder, holes: Collection[str]) -> Iterator[tuple[str, list[FolderEntry]]]:
    """Each folder that is not skipped or foreign, with its entries that are not excluded, without subfolders."""
    source = found.source
    pending = [""]
    seen = 0
    while pending:
        folder = pending.pop()
        try:
            entries = list_folder(folder)
        except OSError as error:
            if not folder:
                raise SourceError(f"{found.called}: the source cannot be read ({error.strerror})") from error
            if isinstance(error, FileNotFoundError):
                raise MovedError(f"{found.called}/{folder}: moved or removed while it was read; {_AGAIN}") from error
            message = f"it cannot be listed ({error.strerror})"
            found.findings.append(finding_on(rules.FILE_UNREADABLE, source, folder, message))
            continue
        seen += len(entries)
        if seen > FILES_LIMIT:
            advice = "exclude in memosite.yml the folders that do not count"
            raise SourceError(f"{found.called}: more than {FILES_LIMIT} files; {advice}")
        names = {entry.name for entry in entries}
        if is_home(names):
            found.private.add(folder)
        if is_foreign(folder, names):
            continue
        here = []
        for entry in entries:
            path = join_path(folder, entry.name)
            if matches_any(path, source.exclude):
                continue
            is_unread = entry.name in UNREAD_FOLDERS or entry.name in SKIPPED_FOLDERS or path in holes
            if entry.kind == "folder":
                if not is_unread:
                    pending.append(path)
            elif entry.kind != "submodule" or not is_unread:
                here.append(entry)
        yield folder, here


def is_foreign(folder: str, names: Collection[str]) -> bool:
    """Whether a folder with these names in it belongs to another project; within a store none does."""
    return folder != "" and not FOREIGN_MARKERS.isdisjoint(names) and place_of(f"{folder}/x") is None


def _is_document(path: str, patterns: tuple[str, ...], roots: Collection[str]) -> bool:
    """Documents are searched at the source's root and at each working root, which may be below it (SPEC 2.2)."""
    parts = path.split("/")
    below = ("/".join(parts[depth:]) for depth in range(len(parts)) if "/".join(parts[:depth]) in roots)
    return any(matches_any(path, patterns) for path in below)


def shown_path(path: str) -> str:
    """A path as valid text: bytes in it that are not UTF-8 become U+FFFD."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def too_large(source: Source, path: str, size: int) -> Finding:
    """The finding on a file over the limit."""
    limit = limit_of(path)
    return finding_on(rules.FILE_TOO_LARGE, source, path, f"it has {size} bytes; files over {limit} are not read")


def limit_of(path: str) -> int:
    """How many bytes a file may have."""
    is_log = path.lower().endswith(".jsonl") or (place_of_log(path) and not path.lower().endswith(BODY_SUFFIX))
    return LOG_LIMIT if is_log else FILE_LIMIT


def finding_on(rule: Rule, source: Source, path: str, message: str) -> Finding:
    """A finding on a file of a source."""
    return rule.finding(message, source=source.name, path=shown_path(path))


def _not_a_file(source: Source, path: str, kind: str) -> Finding:
    if kind == "link":
        return finding_on(rules.LINK_NOT_FOLLOWED, source, path, "a symbolic link; it was not followed")
    if kind == "submodule":
        return finding_on(rules.SUBMODULE_NOT_READ, source, path, "a submodule, which was not read")
    return finding_on(rules.FILE_UNREADABLE, source, path, "it is not a regular file")
