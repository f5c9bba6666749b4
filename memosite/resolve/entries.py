"""Follows the entries of list files through git: when each came, what it was before, when it went (SPEC 2.2 and 3).

A version of a file is compared with the one that its commit changed. So work on a branch takes nothing away from the
trunk, and what a merge repeats of a branch is no second event.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from memosite.archive.history import EventKind, LifeEvent
from memosite.archive.model import WorkState
from memosite.facts.entries import RecordEntry

Version = tuple[RecordEntry, ...]
"""The entries of a version of a file, in its order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLife:
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


@dataclass(slots=True, kw_only=True)
class _Life:
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
        if event.kind == "moved":
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
            if _is_earlier(event, life.events[0]):  # on a branch, before it came on the trunk
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


def _is_earlier(event: LifeEvent, known: LifeEvent) -> bool:
    return event.at is not None and known.at is not None and event.at.instant < known.at.instant


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
