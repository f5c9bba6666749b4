"""Looks up the git history of files, of removed ones, and of the entries of list files (SPEC 2.2, 2.3).

Git knows files; what became of an entry follows from the versions of its list. Each version is compared with the one
that its commit changed. So work on a branch takes nothing away from the trunk, and what a merge repeats of a branch is
no second event.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count
from math import inf
from typing import NamedTuple

from memosite.archive.history import EventKind, History, LifeEvent, file_key, paths_of, resettled
from memosite.archive.ledger import Ledger
from memosite.archive.model import Artifact, Life, Record, Removal, WorkState
from memosite.facts.file import File
from memosite.facts.layout import place_of
from memosite.facts.names import ENVELOPE_SUFFIX, RecordEntry, blob_id, make_id, stem_of
from memosite.facts.parsed import FileFacts, Parsed, RecordCard, RecordFile, Ref
from memosite.facts.times import Moment
from memosite.facts.values import Struct, Value, field, replace
from memosite.formats.system import DataOf, FilePlace, RecordSystem
from memosite.formats.systems import find_system, owner_of, split_file
from memosite.run.recall import FORGETFUL, Recall, Same

# Looks up the git history of artifacts' files, and of removed ones (SPEC 2.3).


class Lives:
    """The histories of files by source and path. `data_of` gives the bytes of a file as it is in its folder."""

    def __init__(
        self,
        histories: Mapping[str, History],
        data_of: DataOf,
        parsed: Iterable[Parsed] = (),
        has_file: Callable[[str, str], bool] | None = None,
        *,
        recall: Recall = FORGETFUL,
    ) -> None:
        """Use these histories, by the name of the source. `parsed` are the files that were read.

        `has_file` checks whether a source has another file; without it, no name is corrected before it is committed.
        """
        self._histories = {name: Same(history) for name, history in histories.items()}
        self._data_of = data_of
        self._read = recall.calls(_read)
        self._here: dict[str, dict[str, str]] = defaultdict(dict)
        for one in parsed:
            file = getattr(one.fact, "file", None)
            self._here[one.source][one.path] = file.blob if isinstance(file, FileFacts) else ""
        self._renamed = {
            name: _renamed_since(one, self._here.get(name, {}), partial(has_file, name))
            for name, one in histories.items()
            if has_file is not None
        }

    def of(self, file: FileFacts, body: FileFacts | None = None) -> Life | None:
        """The history of an envelope and its body: its own events, and the edits of both. None if git was not asked."""
        history = self._histories.get(file.source)
        if history is None:
            return None
        if file.path not in (history.value.tree or {}) and self._is_beside(history.value, file):  # a further copy
            return Life(state="delivered", why_not=history.value.why_not)
        keys = (self._key(file), self._key(body) if body else "")
        place = (file.source, file.path, body.path if body else None)
        return self._read(place, history, file, body, keys, self._data_of)

    def received(self, file: FileFacts) -> Moment | None:
        """When a file was first committed."""
        events = self._events(file)
        return events[0].at if events else None

    def former_paths(self, file: FileFacts) -> tuple[str, ...]:
        """Where a file was before, as far as commits tell, the oldest first."""
        paths = dict.fromkeys(event.path for event in self._events(file) if event.path)
        key = self._key(file)
        if key != file_key(file.path) and (history := self._histories.get(file.source)):
            paths |= dict.fromkeys(path for path in paths_of(key) if path in (history.value.tree or {}))
        return tuple(path for path in paths if path != file.path)

    def is_delivered(self, file: FileFacts) -> bool:
        """Whether a file is newly delivered: never committed, and in no other mailbox before."""
        history = self._histories.get(file.source)
        if history is None or history.value.tree is None or file.path in history.value.tree:
            return False
        if _places(history.value, self._key(file)):
            return False
        life = self.of(file)
        return life is not None and life.state == "delivered"

    def last_change(self, file: FileFacts, body: FileFacts | None) -> float:
        """When a file was last committed, in seconds; minus infinity if git does not know."""
        events = [self._events(one) for one in (file, body) if one is not None]
        return max((_seconds(steps[-1].at) for steps in events if steps), default=-inf)

    def _key(self, file: FileFacts) -> str:
        """By which git knows a file: of one that got another name and is not committed since, by the former one."""
        key = file_key(file.path)
        return self._renamed.get(file.source, {}).get(key, key)

    def _events(self, file: FileFacts) -> tuple[LifeEvent, ...]:
        history = self._histories.get(file.source)
        return _events(history.value, file.path, self._key(file)) if history is not None else ()

    def _is_beside(self, history: History, file: FileFacts) -> bool:
        """Whether the last commit has a file in another mailbox, where it still is: then this is a further copy."""
        here = self._here.get(file.source, {})
        return any(path in here for path in _places(history, file_key(file.path)))


def _renamed_since(history: History, here: Mapping[str, str], is_there: Callable[[str], bool]) -> dict[str, str]:
    """Files that got another name and are not committed since: keys now and before.

    `here` are those that were read, with blob ids; of others, `is_there` checks whether they are.
    """
    tree = history.tree or {}
    new = {path: blob for path, blob in here.items() if path not in tree} if tree else {}
    if not new:
        return {}
    known, kept = set(map(file_key, tree)), {file_key(path) for path in here if path in tree}
    come = {key: blob for path, blob in new.items() if (key := file_key(path)) not in known}
    gone = {key: blob for path, blob in tree.items() if path not in here and (key := file_key(path)) not in kept}
    for path in new:
        gone.pop(file_key(path), None)
    return {now: was for now, was in resettled(gone, come).items() if not any(map(is_there, paths_of(was)))}


def _places(history: History, key: str) -> list[str]:
    """Where the last commit has a file."""
    return [path for path in paths_of(key) if path in (history.tree or {})]


def _read(of: Same[History], file: FileFacts, body: FileFacts | None, keys: tuple[str, str], data_of: DataOf) -> Life:
    """The history of a file and of its body, which git knows by these keys."""
    history = of.value
    if _is_foreign(history, file.path):
        return Life(why_not="it is in a repo inside the source's repo")
    events = _events(history, file.path, keys[0])
    of_body = _events(history, body.path, keys[1]) if body else events
    commit = _commit(of_body, (body or file).blob)
    if body is not None and body.path != file.path:  # a body without an envelope is its own file
        events = _with_edits(events, of_body)
    return Life(
        events=events, state=_state(history, file, body, keys[0], data_of), commit=commit, why_not=history.why_not
    )


def _commit(events: Sequence[LifeEvent], blob: str) -> str:
    """The commit that gave a file its content: moves since then are passed over."""
    came = ""
    for event in reversed(events):
        if event.after == blob:
            came = event.commit
        elif came:
            break
    return came


def _events(history: History, path: str, key: str) -> tuple[LifeEvent, ...]:
    return () if _is_foreign(history, path) else history.at(path, key)


def _is_foreign(history: History, path: str) -> bool:
    return bool(history.foreign) and any(path.startswith(f"{folder}/") for folder in history.foreign)


def _state(history: History, file: FileFacts, body: FileFacts | None, key: str, data_of: DataOf) -> WorkState | None:
    if history.tree is None:
        return None
    committed = history.tree.get(file.path)
    if committed is None:
        return "moved" if _places(history, key) else "delivered"
    is_edited = _is_edited(committed, file, data_of) or (
        body is not None and _is_edited(history.tree.get(body.path), body, data_of)
    )
    return "edited" if is_edited else "committed"


def _is_edited(committed: str | None, file: FileFacts, data_of: DataOf) -> bool:
    if committed == file.blob:
        return False
    data = data_of(file)
    if committed is None or data is None:
        return False
    # A checkout may have other line ends than the commit; that is no edit.
    return committed not in {blob_id(one, like=committed) for one in (data, data.replace(b"\r\n", b"\n"))}


def _with_edits(events: tuple[LifeEvent, ...], of_body: Sequence[LifeEvent]) -> tuple[LifeEvent, ...]:
    """The events of an envelope merged with the edits of its body, one for each commit.

    Not with what a draft was before it came along with the envelope.
    """
    first = events[0].commit if events else ""
    came = max((number for number, event in enumerate(of_body) if event.commit == first), default=0)
    edits = [event for event in of_body[came:] if event.kind == "edited" and event.commit != first]
    if not edits or not events:
        return events
    joined: list[LifeEvent] = []
    rest = iter(edits)
    edit = next(rest, None)
    for event in events:
        while edit is not None and edit.at and event.at and edit.at.instant < event.at.instant:
            joined.append(edit)
            edit = next(rest, None)
        joined.append(event)
    return (*joined, *([edit, *rest] if edit is not None else ()))


def removals(histories: Mapping[str, History], present: Iterable[Ref], stems: Iterable[str]) -> dict[Ref, Removal]:
    """Artifacts removed from the repos that are in none of them any more, by the id from their name.

    `present` are the artifacts of the archive, `stems` their names. Of one name in several repos the last removed one
    counts. One that is confidential in any of them keeps only its dates, under the id it may have been published by.
    Names that differ only by case count as one: many file systems and hosts do not distinguish them. What had other
    names before is found by them, too.
    """
    found: dict[Ref, tuple[Ref, Removal]] = {}
    gone = [
        (source, key, name, events, place)
        for source, history in histories.items()
        for key, events in history.events.items()
        if events[-1].kind == "removed" and key.endswith(ENVELOPE_SUFFIX) and (place := place_of(key)) is not None
        for name in dict.fromkeys((key.rpartition("/")[2], *former_names(event.path for event in events)))
    ]
    if not gone:
        return {}
    taken, named = {_folded(ref) for ref in present}, {stem.casefold() for stem in stems}
    for source, key, name, events, place in gone:
        stem = unicodedata.normalize("NFC", stem_of(name))
        ref: Ref = (place.kind, make_id(stem))
        if _folded(ref) in taken or stem.casefold() in named:
            continue
        is_secret = key in histories[source].confidential
        removal = Removal(
            kind=place.kind,
            stem="" if is_secret else stem,
            source=source,
            events=events,
            is_former=name != key.rpartition("/")[2],
        )
        known = found.get(_folded(ref), (ref, removal))
        last = max(known, (ref, removal), key=lambda pair: _seconds(pair[1].events[-1].at))
        if not (known[1].stem and removal.stem):
            last = (last[0], replace(last[1], stem=""))
        found[_folded(ref)] = last
    return dict(sorted(found.values(), key=lambda pair: pair[0]))


def former_names(paths: Iterable[str]) -> Iterator[str]:
    """The names of envelopes at these paths."""
    return (path.rpartition("/")[2] for path in paths if path.endswith(ENVELOPE_SUFFIX))


def _folded(ref: Ref) -> Ref:
    return ref[0], ref[1].casefold()


def _seconds(at: Moment | None, unknown: float = -inf) -> float:
    return at.instant.timestamp() if at else unknown


# Follows the entries of list files through git: when each came, what it was before, when it went (SPEC 2.2 and 3).


Version = tuple[RecordEntry, ...]
"""The entries of a version of a file, in its order."""


class EntryLife(Value):
    """The history of one entry of a list.

    `keys` are those that it may be known by, the oldest first: those it has had in the section that it is in. `former`
    are all others it has had. `state` compares it with the last commit; None if it is not in the file any more.
    """

    keys: tuple[str, ...]
    former: tuple[str, ...] = ()
    events: tuple[LifeEvent, ...] = ()
    state: WorkState | None = None


class ListHistory(NamedTuple):
    """The histories of the entries of a list file: by the key of each that is there, and of those that were removed."""

    there: Mapping[str, EntryLife]
    gone: tuple[EntryLife, ...]


def follow_entries(
    events: Sequence[LifeEvent], version_of: Callable[[str], Version], now: Version | None, *, is_moved: bool
) -> ListHistory:
    """The histories of the entries of a list, from the events of its file.

    `version_of` gives a version by its blob id. `now` is the version in the folder, None if the file is removed;
    `is_moved` is whether it is where no commit has it.
    """
    replay = _Replay()
    for event in events:
        replay.apply(event, version_of(event.before), version_of(event.after))
    last = events[-1].after if events else ""
    replay.settle(version_of(last))
    there = dict(replay.compare_with(version_of(last), now, is_moved=is_moved)) if now is not None else {}
    gone = (life for life in replay.lives if not life.is_there and life.events and life.events[-1].kind == "removed")
    return ListHistory(there=there, gone=tuple(_finished(life, life.key) for life in gone))


class _Life(Struct, kw_only=True):
    """The history of an entry as it grows: its keys with their sections, and what was last written."""

    keys: list[tuple[str, str]]
    written: str
    is_there: bool = True
    events: list[LifeEvent] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Its last key."""
        return self.keys[-1][1]

    def tell(self, kind: EventKind, event: LifeEvent) -> None:
        """Add what a commit did to it."""
        self.events.append(replace(event, kind=kind))

    def write(self, entry: RecordEntry) -> None:
        """Take on what a version has of it."""
        self.written, self.is_there = entry.written, True
        if self.keys[-1] != (entry.section, entry.key):
            self.keys.append((entry.section, entry.key))


class _Replay:
    """Replays the events of a list's file, oldest first."""

    def __init__(self) -> None:
        self.lives: list[_Life] = []
        self._by_key: dict[str, _Life] = {}

    def apply(self, event: LifeEvent, before: Version, after: Version) -> None:
        """Take the versions before and after an event."""
        if event.kind in {"moved", "renamed"}:
            for life in self.lives:
                if life.is_there:
                    life.tell("moved", event)
            return
        changes = compare(before, after)
        for was, entry in changes.kept:
            self._keep(was, entry, event)
        for entry in changes.gone:
            known = self._by_key.get(entry.key)
            if known is not None and known.is_there and known.key == entry.key:
                known.tell("removed", event)
                known.is_there = False
        for entry in changes.come:
            self._come(entry, event)

    def _keep(self, was: RecordEntry, entry: RecordEntry, event: LifeEvent) -> None:
        if was == entry:
            return
        life = self._by_key.get(was.key)
        if life is None:
            self._come(entry, event)
            return
        self._by_key[entry.key] = life
        if life.written != entry.written or life.key != entry.key:
            life.tell("moved" if was.section != entry.section else "edited", event)
            life.write(entry)

    def _come(self, entry: RecordEntry, event: LifeEvent) -> None:
        life = self._by_key.get(entry.key)
        if life is not None and not life.is_there:
            life.tell("restored", event)
            life.write(entry)
        elif life is not None and life.key == entry.key:
            if _seconds(event.at, inf) < _seconds(life.events[0].at):  # on a branch, before it came on the trunk
                life.events[0] = replace(event, kind="received")
        else:
            life = _Life(keys=[(entry.section, entry.key)], written=entry.written)
            life.tell("received", event)
            self.lives.append(life)
        self._by_key[entry.key] = life

    def settle(self, last: Version) -> None:
        """Hold the histories to the last version: what a merge did not take of a branch did not happen."""
        present: list[_Life] = []
        for entry in last:
            life = self._by_key.get(entry.key)
            if life is None:
                continue
            while not life.is_there and len(life.events) > 1 and life.events[-1].kind == "removed":
                life.events.pop()
            life.write(entry)
            present.append(life)
        there = {id(life) for life in present}
        for life in self.lives:
            life.is_there = id(life) in there

    def compare_with(self, last: Version, now: Version, *, is_moved: bool) -> Iterator[tuple[str, EntryLife]]:
        """The history of each entry that is in the folder's version, by its key there."""
        changes = compare(last, now)
        for was, entry in changes.kept:
            life = self._by_key.get(was.key)
            if life is not None:
                state: WorkState = "moved" if is_moved else "committed" if was.written == entry.written else "edited"
                yield entry.key, _finished(life, entry.key, section=entry.section, state=state)
        for entry in changes.come:
            life = self._by_key.get(entry.key)
            if life is not None and life.is_there:
                continue
            known = life or _Life(keys=[(entry.section, entry.key)], written=entry.written)
            yield entry.key, _finished(known, entry.key, section=entry.section, state="delivered")


def _finished(life: _Life, key: str, *, section: str = "", state: WorkState | None = None) -> EntryLife:
    section = section or life.keys[-1][0]
    keys = tuple(dict.fromkeys((*(one for part, one in life.keys if part == section), key)))
    former = dict.fromkeys(one for _, one in life.keys if one not in keys)
    return EntryLife(keys=keys, former=tuple(former), events=tuple(life.events), state=state)


# Comparing two versions


class Changes(NamedTuple):
    """What became of the entries of a version: which are the same or updated, which came, and which went."""

    kept: tuple[tuple[RecordEntry, RecordEntry], ...]
    come: tuple[RecordEntry, ...]
    gone: tuple[RecordEntry, ...]


def compare(before: Version, after: Version) -> Changes:
    """Compare two versions of a list.

    An entry is the same by its key, else by its section and what it says. It is an update of one that went from the
    same place (section, session and turn), of several the one after the same entry. What says the same in
    another section was moved there.
    """
    if before is after or before == after:
        return Changes(kept=tuple((one, one) for one in after), come=(), gone=())
    pairs = _Pairs(before, after)
    pairs.match(lambda entry: entry.key)
    pairs.match(lambda entry: (entry.section, entry.said))
    behind = pairs.behind()
    pairs.match(lambda entry: (entry.place, behind[entry.key]) if entry.place else None)
    pairs.match(lambda entry: entry.place or None)
    pairs.match(lambda entry: entry.said)
    return Changes(kept=tuple(pairs.kept), come=tuple(pairs.come.values()), gone=tuple(pairs.gone.values()))


class _Pairs:
    """Entries of two versions, matched by one likeness after the other; `gone` and `come` are those not matched."""

    def __init__(self, before: Version, after: Version) -> None:
        self._before, self._after = before, after
        self.gone = {entry.key: entry for entry in before}
        self.come = {entry.key: entry for entry in after}
        self.kept: list[tuple[RecordEntry, RecordEntry]] = []

    def match(self, name: Callable[[RecordEntry], Hashable]) -> None:
        """Pair entries that have the same name, in the order of the file; None is no name."""
        if not self.gone or not self.come:
            return
        waiting: dict[Hashable, list[RecordEntry]] = {}
        for entry in reversed(self.come.values()):
            waiting.setdefault(name(entry), []).append(entry)
        waiting.pop(None, None)
        for was in tuple(self.gone.values()):
            if found := waiting.get(name(was)):
                entry = found.pop()
                self.kept.append((was, entry))
                del self.gone[was.key], self.come[entry.key]

    def behind(self) -> Mapping[str, str]:
        """For each entry that is not matched, the new key of the matched one that it follows in its version."""
        names = {was.key: entry.key for was, entry in self.kept}
        old = _following(self._before, names)
        new = _following(self._after, {key: key for key in names.values()})
        return {key: last for key, last in (*old, *new) if key in self.gone or key in self.come}


def _following(version: Iterable[RecordEntry], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    last = ""
    for entry in version:
        yield entry.key, last
        last = names.get(entry.key, last)


# Finds the list files of a source in its git history, and looks up the histories of their entries.


RENAMES = 10
"""How many times a list file is followed to another name."""


class ListFile(Value):
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
    for file in parsed:
        fact = file.fact
        system = find_system(fact.system) if isinstance(fact, RecordFile) and fact.is_list else None
        if isinstance(fact, RecordFile) and system is not None and system.join is None:
            events = _events_before(history, file.path, system, followed)
            yield ListFile(path=file.path, system=system, file=fact.file, events=events)
    for key in history.events:
        owner = owner_of(key) if key not in followed else None
        if owner is not None and owner.is_list(key) and history.events[key][-1].kind == "removed":
            yield ListFile(path=key, system=owner, file=None, events=_events_before(history, key, owner, followed))


def _events_before(history: History, path: str, system: RecordSystem, followed: set[str]) -> tuple[LifeEvent, ...]:
    """The events of a file, and before them those at the paths it was renamed from; all are noted as followed."""
    key = file_key(path)
    events = history.events.get(key, ())
    keys = [key]
    for _ in range(RENAMES):
        former = _former_key(history, path, system)
        before = _until(history.events[former], events) if former is not None and former not in keys else ()
        if former is None or not before:
            break
        keys.append(former)
        events, path = _joined(before, events), former
    followed.update(keys)
    return events


def _former_key(history: History, path: str, system: RecordSystem) -> str | None:
    """Where a file was before it came to a path: an older place of its system."""
    return next((key for older in system.older(path) if (key := file_key(older)) in history.events), None)


def _until(events: Sequence[LifeEvent], later: Sequence[LifeEvent]) -> tuple[LifeEvent, ...]:
    """The events before the first of the later ones, that of the same commit included."""
    end = _seconds(later[0].at if later else None, inf)
    return tuple(event for event in events if _seconds(event.at) <= end)


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
        found = self._found.get(card.file.place)
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
            begun = _seconds(life.events[0].at if life.events else None, inf)
            places[card.file.place].append((begun, index, life))
    for (source, _), found in places.items():
        used: set[str] = set()
        for _, index, life in sorted(found, key=lambda one: one[:2]):
            published = [key for key in life.keys if ("record", make_id(f"{source}.{key}")) in ledger.numbers]
            numbered = (f"{keys[index]}-{number}" for number in count(2))
            free = (key for key in chain(published, life.keys, numbered) if key not in used)
            keys[index] = next(free)
            used.add(keys[index])
    return keys


def removed_entries(entries: EntryLives, artifacts: Mapping[Ref, Artifact], ledger: Ledger) -> dict[Ref, Removal]:
    """Entries that were removed from their lists, by the ids they were published by, else by the first one.

    Those that go on as another artifact are not among them.
    """
    records = [artifact for artifact in artifacts.values() if isinstance(artifact, Record)]
    taken = {id_.casefold() for one in records for id_ in (one.id, *one.former)}
    found: dict[Ref, Removal] = {}
    for source, life in entries.gone():
        ids = [make_id(f"{source}.{key}") for key in (*life.keys, *life.former)]
        for id_ in [id_ for id_ in ids if ("record", id_) in ledger.numbers] or ids[:1]:
            if id_.casefold() not in taken:
                found["record", id_] = Removal(kind="record", stem=id_, source=source, events=life.events)
    return dict(sorted(found.items()))


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
