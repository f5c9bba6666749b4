"""Traces what a unit reads: a context that records every key that the unit looks up, as its dependencies.

    context ─► traced(context, reads) ─► unit.make(…) ─► reads: (mapping, key) …
                                                            │ Digests
                                                            ▼
                                        equal digests in the next build: nothing to plan

So no dependency has to be declared, and none can be forgotten. Each value of the context is read through a mapping
that records it (`broadcasts`, which is none, through a property), or is the same for all pages of a build
(`common_values`), or cannot be read. Two functions are passed as they are: `text_of` gives a text by its digest, and
`mentions` finds places in the texts of an artifact. Whoever calls them has the digest from a recorded read.
"""

import datetime as dt
from collections.abc import Hashable, Iterable, Iterator, Mapping, MutableSet
from typing import Any, Final, NoReturn, TypeVar

from memosite.archive.model import Archive, Artifact, SourceInfo, Thread
from memosite.facts.values import replace
from memosite.plan.context import Context
from memosite.store.values import digest_of

K = TypeVar("K")
V_co = TypeVar("V_co", covariant=True)

ReadKey = Hashable
TracedRead = tuple[str, ReadKey]

KEYS: Final = None
"""Recorded as a key: which keys a mapping has, and in which order."""

_OF_ARCHIVE: Final = (
    "artifacts",
    "ghosts",
    "threads",
    "positions",
    "removed",
    "erased",
    "blobs",
    "position_of",
    "groups",
)
_OF_CONTEXT: Final = (
    "by_position", "arrival_times", "webs", "records", "entities", "captures", "placed", "received", "seat_positions",
    "position_ids", "organizations", "thread_sizes", "possible_replies", "missing_of", "written_during", "bundles",
    "citations_of", "shared", "list_places", "sessions", "continued_by", "same_decisions",
)  # fmt: skip
_UNREADABLE: Final = "a traced unit reads all findings, citations or organizations: it must not be traced"
_BROADCASTS: Final = "broadcasts"
_ABSENT: Final = "absent"
_MOST_KNOWN: Final = 200_000  # digests that are memoized at once: 50 MB


def traced(context: Context, reads: MutableSet[TracedRead]) -> Context:
    """The same context, with every read recorded in `reads`."""
    mappings: dict[str, Any] = {name: _Traced(name, getattr(context.archive, name), reads) for name in _OF_ARCHIVE}
    archive = replace(
        context.archive,
        **mappings,
        sources=_sources(context.archive),
        findings=_Unreadable(),
        citations=_Unreadable(),
        organizations=_Unreadable(),
    )
    recorded: dict[str, Any] = {name: _Traced(name, getattr(context, name), reads) for name in _OF_CONTEXT}
    fields = {name: recorded.pop(name) for name in Context.__struct_fields__ if name in recorded}
    same = _TracedContext(
        archive=archive,
        site=context.site,
        text_of=context.text_of,
        archive_id=context.archive_id,
        authority=context.authority,
        feeds=context.feeds,
        mentions=context.mentions,
        **fields,
    )
    same.__dict__.update({**recorded, "_reads": reads, "_whole": context})
    return same


def common_values(context: Context) -> tuple[object, ...]:
    """Values that every traced unit may read without a record: when they change, all units are made again."""
    return _sources(context.archive), context.site, context.archive_id, context.authority, context.feeds


def _sources(archive: Archive) -> tuple[SourceInfo, ...]:
    """Sources without what every commit changes."""
    return tuple(replace(one, commit="", committed=None, last_fetched=None) for one in archive.sources)


class _TracedContext(Context):
    """A context whose broadcasts are recorded, too: they are no mapping."""

    @property
    def broadcasts(self) -> Any:
        self.__dict__["_reads"].add((_BROADCASTS, KEYS))
        return self.__dict__["_whole"].broadcasts


class _Traced(Mapping[K, V_co]):
    """A mapping that records which of its keys are looked up."""

    __slots__ = ("_name", "_reads", "_values")

    def __init__(self, name: str, values: Mapping[K, V_co], reads: MutableSet[TracedRead]) -> None:
        self._name = name
        self._values = values
        self._reads = reads

    def __getitem__(self, key: K) -> V_co:
        self._reads.add((self._name, key))
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        self._reads.add((self._name, key))
        return key in self._values

    def get(self, key: K, default: Any = None) -> Any:
        self._reads.add((self._name, key))
        return self._values.get(key, default)

    def __iter__(self) -> Iterator[K]:
        self._reads.add((self._name, KEYS))
        return iter(self._values)

    def __len__(self) -> int:
        self._reads.add((self._name, KEYS))
        return len(self._values)


class _Unreadable(tuple[Any, ...]):
    """Stands in for values that no traced unit may read."""

    __slots__ = ()

    def __iter__(self) -> NoReturn:
        raise TypeError(_UNREADABLE)

    def __len__(self) -> NoReturn:
        raise TypeError(_UNREADABLE)

    def __getitem__(self, _: object) -> NoReturn:
        raise TypeError(_UNREADABLE)

    def __contains__(self, _: object) -> NoReturn:
        raise TypeError(_UNREADABLE)


class Digests:
    """The digests of what units read, each computed once."""

    def __init__(self, context: Context, before: "Digests | None" = None) -> None:
        """Take digests of this context. A value that is equal to the one `before` keeps its digest."""
        archive = context.archive
        self._context = context
        self._mappings: dict[str, Mapping[Any, Any]] = {name: getattr(archive, name) for name in _OF_ARCHIVE}
        self._mappings |= {name: getattr(context, name) for name in _OF_CONTEXT}
        self._known: dict[TracedRead, str] = {}
        self._wholes: dict[int, str] = {}  # by identity: the context keeps what it has
        self._given: dict[str, tuple[object, str]] = {}
        self._before = before

    def forget_before(self) -> None:
        """Release the context before: no more digests are needed."""
        self._before = None

    def changed(self, reads: Iterable[tuple[int, TracedRead, str]]) -> dict[int, TracedRead]:
        """The reads that find something else than before, by number; each comes with its digest from then."""
        before = self._before
        if before is None:
            return {number: read for number, read, digest in reads if self.of_read(read) != digest}
        mappings = {name: (values, before._mappings[name]) for name, values in self._mappings.items()}
        found: dict[int, TracedRead] = {}
        for number, read, _ in reads:
            name, key = read
            if name in mappings and key is not KEYS:
                values, former = mappings[name]
                now, then = values.get(key, _ABSENT), former.get(key, _ABSENT)
                if now is not then and now != then:  # comparing equal values takes long
                    found[number] = read
            elif self._keys_changed(name, before):
                found[number] = read
        return found

    def _keys_changed(self, name: str, before: "Digests") -> bool:
        """Whether a mapping has other keys than before, or whether there are other broadcasts."""
        if name == _BROADCASTS:
            return self._context.broadcasts != before._context.broadcasts
        return list(self._mappings.get(name, ())) != list(before._mappings.get(name, ()))

    def of_given(self, name: str, given: object) -> str:
        """The digest of what the unit of this name was given."""
        known = self._before._given.get(name) if self._before is not None else None
        is_same = known is not None and (known[0] is given or known[0] == given)
        digest = known[1] if known is not None and is_same else self.of_value(given)
        self._given[name] = given, digest
        return digest

    def of_read(self, read: TracedRead) -> str:
        """The digest of what a read finds now."""
        known = self._known.get(read)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[read] = self._find(*read)
        return known

    def of_value(self, value: object) -> str:
        """The digest of a value that may hold artifacts and threads."""
        if type(value) is tuple:
            value = tuple(self._of_artifacts(one) or one for one in value)
        return self._short(value) or digest_of(value)

    def _find(self, name: str, key: ReadKey) -> str:
        if name == _BROADCASTS:
            return self.of_value(self._context.broadcasts)
        mapping = self._mappings.get(name, {})
        if key is KEYS:
            return digest_of(list(mapping))
        return self.of_value(mapping[key]) if key in mapping else _ABSENT

    def _short(self, value: object) -> str | None:
        """The digest of a value that needs no pickling; None for other values. Values of different classes differ."""
        if isinstance(value, (Artifact, Thread)):
            return self._whole(value)
        if (listed := self._of_artifacts(value)) is not None:
            return listed
        if type(value) in {int, bool, type(None), dt.datetime}:
            return repr(value)
        if type(value) is tuple and len(value) == 2 and isinstance(value[0], Thread):  # where a memo is placed
            return f"{self._whole(value[0])} {value[1]!r}"
        return None

    def _of_artifacts(self, value: object) -> str | None:
        """The digest of a list of artifacts, which many units are given; None for other values."""
        if not isinstance(value, (tuple, list)) or not value or not isinstance(value[0], Artifact):
            return None
        if all(isinstance(one, Artifact) for one in value):
            return digest_of([self._whole(one) for one in value])
        return None

    def _whole(self, one: Artifact | Thread) -> str:
        known = self._wholes.get(id(one))
        if known is None:
            former = self._before._known_as(one) if self._before is not None else None
            known = self._wholes[id(one)] = former or digest_of(one)
        return known

    def _known_as(self, one: Artifact | Thread) -> str | None:
        """The digest of an equal artifact or thread; None if it is not known."""
        archive = self._context.archive
        same = archive.threads.get(one.id) if isinstance(one, Thread) else archive.artifacts.get(one.ref)
        return self._wholes.get(id(same)) if same is one or same == one else None
