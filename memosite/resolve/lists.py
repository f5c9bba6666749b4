"""Finds the list files of a source in its git history, and looks up the histories of their entries."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from math import inf

from memosite.archive.history import History, LifeEvent, file_key
from memosite.archive.ledger import Ledger
from memosite.archive.model import Artifact, Life, Record, Removal
from memosite.facts.file import File
from memosite.facts.names import make_id
from memosite.facts.parsed import FileFacts, Parsed, RecordCard, RecordFile, Ref
from memosite.formats.system import DataOf, FilePlace, RecordSystem
from memosite.formats.systems import find_system, owner_of, split_file
from memosite.resolve.entries import EntryLife, ListHistory, Version, follow_entries
from memosite.run.recall import Recall, Same

RENAMES = 10
"""How many times a list file is followed to another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFile:
    """A list file with the events of all paths it has had; `file` is None if it was removed."""

    path: str
    system: RecordSystem
    file: FileFacts | None
    events: tuple[LifeEvent, ...]

    @property
    def blobs(self) -> tuple[str, ...]:
        """The ids of its versions, oldest first."""
        ids = (id_ for event in self.events for id_ in (event.before, event.after))
        return tuple(dict.fromkeys(filter(None, ids)))


def list_files(history: History, parsed: Iterable[Parsed]) -> Iterator[ListFile]:
    """The list files of a source that are there, and those that were removed."""
    followed: set[str] = set()
    for one in parsed:
        fact = one.fact
        system = find_system(fact.system) if isinstance(fact, RecordFile) and fact.is_list else None
        if isinstance(fact, RecordFile) and system is not None and system.join is None:
            found = ListFile(
                path=one.path, system=system, file=fact.file, events=_events(history, one.path, system, followed)
            )
            yield found
    for key in history.events:
        owner = owner_of(key) if key not in followed else None
        if owner is not None and owner.is_list(key) and history.events[key][-1].kind == "removed":
            yield ListFile(path=key, system=owner, file=None, events=_events(history, key, owner, followed))


def _events(history: History, path: str, system: RecordSystem, followed: set[str]) -> tuple[LifeEvent, ...]:
    """The events of a file, and before them those at the paths it was renamed from; all are noted as followed."""
    key = file_key(path)
    events = history.events.get(key, ())
    keys = [key]
    for _ in range(RENAMES):
        former = _former_key(history, path, events, system)
        before = _until(history.events[former], events) if former is not None and former not in keys else ()
        if former is None or not before:
            break
        keys.append(former)
        events, path = _joined(before, events), former
    followed.update(keys)
    return events


def _former_key(history: History, path: str, events: Sequence[LifeEvent], system: RecordSystem) -> str | None:
    """Where a file was before it came to a path: an older place of its system, or another name of equal content."""
    first = events[0] if events else None
    for older in system.older(path):
        if file_key(older) in history.events:
            return file_key(older)
    if first is None or first.kind != "received":
        return None
    for key, others in history.events.items():
        if any((one.commit, one.kind, one.before) == (first.commit, "removed", first.after) for one in others):
            return key
    return None


def _until(events: Sequence[LifeEvent], later: Sequence[LifeEvent]) -> tuple[LifeEvent, ...]:
    """The events before the first of the later ones, that of the same commit included."""
    first = later[0].at if later else None
    if first is None:
        return tuple(events)
    return tuple(one for one in events if one.at is None or one.at.instant <= first.instant)


def _joined(before: tuple[LifeEvent, ...], events: tuple[LifeEvent, ...]) -> tuple[LifeEvent, ...]:
    """The events at two paths as one history: what the first commit of the second did to the content of the first."""
    if not events:
        return before
    first, last = events[0], before[-1]
    if last.kind == "removed" and last.commit != first.commit:
        return before + events
    kept = before[:-1] if last.kind == "removed" else before
    begun = replace(first, kind="edited", before=last.after or last.before)
    return (*kept, replace(begun, kind="moved"), begun, *events[1:])


class EntryLives:
    """The histories of the entries of all list files."""

    def __init__(
        self, histories: Mapping[str, History], parsed: Iterable[Parsed], data_of: DataOf, *, recall: Recall
    ) -> None:
        """Follow the entries of these files through the histories of their sources."""
        by_source: dict[str, list[Parsed]] = {}
        for one in parsed:
            if isinstance(one.fact, RecordFile) and one.fact.is_list:
                by_source.setdefault(one.source, []).append(one)
        follow = recall.calls(_follow)
        self._histories = histories
        self._found: dict[FilePlace, ListHistory | None] = {}
        for source, history in histories.items():
            for file in list_files(history, by_source.get(source, ())):
                self._found[source, file.path] = follow((source, file.path), Same(history), file, data_of)

    def of(self, card: RecordCard) -> EntryLife | None:
        """What git knows of a record that is an entry of a list; None if that is nothing."""
        found = self._found.get((card.file.source, card.file.path))
        return found.there.get(card.key) if found is not None else None

    def life(self, card: RecordCard) -> Life | None:
        """The history of such a record; None if git was not asked."""
        history = self._histories.get(card.file.source)
        if history is None:
            return None
        found = self.of(card)
        if history.why_not or found is None:
            return Life(why_not=history.why_not or "git does not have all versions of its file")
        return Life(events=found.events, state=found.state)

    def gone(self) -> Iterator[tuple[str, EntryLife]]:
        """The entries that were removed, with their sources."""
        for (source, _), found in self._found.items():
            for life in found.gone if found is not None else ():
                yield source, life


def entry_keys(cards: Sequence[RecordCard], ledger: Ledger, entries: EntryLives) -> list[str]:
    """The key that each record is filed under: of an entry the first of those it has had, if possible a published one.

    Where two entries of a file had the same, it stays that of the older one.
    """
    keys = [card.key for card in cards]
    places: dict[FilePlace, list[tuple[float, int, EntryLife]]] = defaultdict(list)
    for index, card in enumerate(cards):
        life = entries.of(card) if card.line is not None else None
        if life is not None:
            begun = life.events[0].at if life.events else None
            places[card.file.source, card.file.path].append((begun.instant.timestamp() if begun else inf, index, life))
    for (source, _), found in places.items():
        used: set[str] = set()
        for _, index, life in sorted(found, key=lambda one: one[:2]):
            published = [key for key in life.keys if ("record", make_id(f"{source}.{key}")) in ledger.numbers]
            free = (key for key in chain(published, life.keys, _numbered(keys[index])) if key not in used)
            keys[index] = next(free)
            used.add(keys[index])
    return keys


def removed_entries(entries: EntryLives, artifacts: Mapping[Ref, Artifact], ledger: Ledger) -> dict[Ref, Removal]:
    """Entries that were removed from their lists, by the ids they were published by, else by the first one.

    Those that go on as another artifact are not among them.
    """
    records = [one for one in artifacts.values() if isinstance(one, Record)]
    taken = {id_.casefold() for one in records for id_ in (one.id, *one.former)}
    found: dict[Ref, Removal] = {}
    for source, life in entries.gone():
        ids = [make_id(f"{source}.{key}") for key in (*life.keys, *life.former)]
        for id_ in [id_ for id_ in ids if ("record", id_) in ledger.numbers] or ids[:1]:
            if id_.casefold() not in taken:
                found["record", id_] = Removal(kind="record", stem=id_, source=source, events=life.events)
    return dict(sorted(found.items()))


def _numbered(key: str) -> Iterator[str]:
    return (f"{key}-{number}" for number in count(2))


def _follow(of: Same[History], one: ListFile, data_of: DataOf) -> ListHistory | None:
    history, system = of.value, one.system
    known = history.entries
    if history.tree is None or any((system.name, blob) not in known for blob in one.blobs):
        return None

    def version_of(blob: str) -> Version:
        return known.get((system.name, blob), ())

    now = _version_now(history, one, data_of)
    if one.file is not None and now is None:
        return None
    return follow_entries(one.events, version_of, now, is_moved=one.path not in history.tree and bool(one.events))


def _version_now(history: History, one: ListFile, data_of: DataOf) -> Version | None:
    """The entries of a file as it is in its folder; None if it is removed."""
    if one.file is None:
        return None
    known = history.entries.get((one.system.name, one.file.blob))
    if known is not None:
        return known
    data = data_of(one.file)
    return None if data is None else split_file(File(source=one.file.source, path=one.path, data=data), one.system)
