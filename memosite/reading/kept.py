"""[I/O] The archive as it was read last, as rows: what shows little loads little, what changes little writes little.

It is what the gate let through. It counts once it is sealed: with a digest of what it was read from, and the published
ledger that it continues. Who reads sees one moment of it, whatever others write meanwhile.
"""

import json
import marshal
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import cache, cached_property
from itertools import chain, islice
from pathlib import Path
from types import GenericAlias
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

from memosite.archive.model import Archive, Document, Library, Memo, Record, Transcript
from memosite.archive.snapshots import Days, days_of
from memosite.facts.errors import MemositeError
from memosite.facts.parsed import Ref
from memosite.facts.values import Value, replace
from memosite.reading.text_rows import ITEMS, prune_rows
from memosite.store.state import KEPT, TEXTS, Key, Row, State
from memosite.store.values import read_value, value_bytes

K = TypeVar("K")
V = TypeVar("V")

_SEAL: Final = ("seal", "", "")
_ALONE, _KEYS = "alone", "keys"
_DAYS: Final = ("days", "")
_AT_ONCE: Final = 500
"""So many keys are in one row of their order, and so many rows are written at once: others may write between."""

_FIELDS: Final = Archive.__struct_fields__


class Seal(Value):
    """What the rows were read from: `inputs` is a digest of it (`reading/inputs.py`), `ledger` the SHA-256 of the file.

    The `token` tells one writing of them from others. Without `inputs` they are not all there, and do not count; nor do
    they if there are not so many `rows` of the archive any more.
    """

    token: str
    inputs: str = ""
    ledger: str = ""
    rows: int = 0


def write_kept(state: State, archive: Archive, *, token: str) -> bool:
    """Write what differs from the last archive; it counts once it is sealed. Whether nobody else began meanwhile."""
    rows = state[KEPT]
    with state.writing():
        rows.put([(_SEAL, _written(Seal(token=token)))])
        prune_rows(state, {text.sha256 for one in archive.artifacts.values() for text in one.texts})
    known = rows.signatures()
    known.pop(_SEAL, None)
    for some in chain(_batches(rows.differing(_values(archive), known)), [()]):
        with state.writing():
            if read_seal(state) != Seal(token=token):
                return False
            rows.put(some)
            if not some:
                rows.remove(known)
    return state.is_kept


def _values(archive: Archive) -> Iterator[Row]:
    """All values as rows."""
    for name in _FIELDS:
        value = getattr(archive, name)
        if not isinstance(value, Mapping):
            yield (_ALONE, name, ""), value_bytes(value)
            continue
        for number, some in enumerate(_batches(value)):
            yield (_KEYS, name, number), value_bytes(some)
        yield from ((_key(name, key), value_bytes(one)) for key, one in value.items())


def _batches(values: Iterable[V]) -> Iterator[tuple[V, ...]]:
    left = iter(values)
    return iter(lambda: tuple(islice(left, _AT_ONCE)), ())


def _key(field: str, key: Any) -> Key:
    """The key of a row of a mapping, whose keys are ids, some with a kind."""
    return (field, *key) if isinstance(key, tuple) else (field, "", key)


def _written(seal: Seal) -> bytes:
    return json.dumps([seal.token, seal.inputs, seal.ledger, seal.rows]).encode()


def _count(state: State) -> int:
    """How many rows are of the archive itself."""
    rows = state[KEPT]
    return rows.count() - sum(rows.count(field) for field in (_SEAL[0], _DAYS[0], ITEMS))


def read_seal(state: State) -> Seal | None:
    """What the rows were read from; None if there are none."""
    found = state[KEPT].get(*_SEAL)
    token, inputs, ledger, rows = json.loads(found) if found else ("", "", "", 0)
    return Seal(token=token, inputs=inputs, ledger=ledger, rows=rows) if found else None


def seal_kept(state: State, seal: Seal) -> None:
    """Note what the rows of this token were read from: from now on they count."""
    with state.writing():
        if is_kept(state, seal.token, sealed=False):
            state[KEPT].put([(_SEAL, _written(replace(seal, rows=_count(state))))])


def is_kept(state: State, token: str, *, sealed: bool = True) -> bool:
    """Whether the rows of this token are those that are there, and count."""
    seal = read_seal(state)
    return seal is not None and seal.token == token and bool(seal.inputs or not sealed)


def kept_days(state: State, token: str, archive: Archive) -> Days:
    """What happened on each day in an archive: as it was kept with the rows of this token, else found, and kept."""
    rows = state[KEPT]
    with state.reading():
        found = rows.items(*_DAYS) if token and is_kept(state, token) else []
    if found:
        return {str(key[-1]): marshal.loads(refs) for key, refs in found}  # noqa: S302 - signed by this user
    days = days_of(archive)
    with state.writing():
        if token and is_kept(state, token):
            rows.put(((*_DAYS, day), marshal.dumps(refs, 2)) for day, refs in days.items())
    return days


def forget_kept(state: State) -> None:
    """Remove all of it, and what is kept of texts: it may tell what nothing may any more."""
    with state.writing():
        state[KEPT].remove([()])
        state[TEXTS].remove([()])


def open_kept(part: Path) -> "Kept | None":
    """What is in a part of the cache, open until it is closed; None if nothing there counts.

    Raises `OutputError` if the file is a link.
    """
    kept = Kept(State(part, is_read_only=True))
    if kept.seal.inputs and kept.seal.rows == _count(kept.state):
        return kept
    kept.close()
    return None


class Kept:
    """An archive of which values are loaded when they are asked for, until it is closed: all are of one moment."""

    def __init__(self, state: State) -> None:
        """Read what is there now; the state is closed with it."""
        self.state = state
        self._moment = state.reading()
        self._moment.__enter__()
        self.seal = read_seal(state) or Seal(token="")

    def close(self) -> None:
        """Close the file; what was not loaded is then lost."""
        self._moment.__exit__(None, None, None)
        self.state.close()

    def archive(self) -> Archive:
        """The archive."""
        alone = {str(key[1]): read_value(value, _types()[str(key[1])][0]) for key, value in self._items(_ALONE)}
        later: dict[str, Any] = {name: _Rows(self, name) for name in _FIELDS if name not in alone}
        return Archive(**later, **alone)

    def value(self, field: str, key: Any) -> Any:
        """A value of a mapping; None if there is none."""
        found = self.state[KEPT].get(*_key(field, key))
        self._check()
        return read_value(found, _types()[field][1]) if found is not None else None

    def values(self, field: str) -> dict[Any, Any]:
        """The values of a mapping, by what their keys have after its name, in any order."""
        kind = _types()[field][1]
        return {key[1:]: read_value(value, kind) for key, value in self._items(field)}

    def keys(self, field: str) -> list[Any]:
        """The keys of a mapping, in their order."""
        kind = GenericAlias(tuple, (_types()[field][0], ...))
        return list(chain.from_iterable(read_value(some, kind) for _, some in self._items(_KEYS, field)))

    def _items(self, *key: str) -> Sequence[Row]:
        found = self.state[KEPT].items(*key)
        self._check()
        return found

    def _check(self) -> None:
        if not self.state.is_kept:
            raise MemositeError(f"the cache cannot be read any more: {self.state.why_not}; run the command again")


@cache
def _types() -> dict[str, tuple[Any, ...]]:
    """The types of the fields of an archive; of a mapping, those of its keys and its values."""
    hints = get_type_hints(Archive)
    found = {name: get_args(hint) if get_origin(hint) is Mapping else (hint,) for name, hint in hints.items()}
    return found | {"artifacts": (Ref, Memo | Transcript | Document | Library | Record)}


class _Rows(Mapping[K, V]):
    """A mapping of an archive, loaded as far as it is asked for."""

    def __init__(self, kept: Kept, field: str) -> None:
        self._kept = kept
        self._field = field
        self._known: dict[Any, V | None] = {}
        self._all: dict[K, Any] | None = None

    def __getitem__(self, key: K) -> V:
        if self._all is not None:
            one: V = self._all[key]
            return one
        if key not in self._known:
            self._known[key] = self._kept.value(self._field, key)
        found: V | None = self._known[key]
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[K]:
        return iter(self._keys if self._all is None else self._all)

    def __len__(self) -> int:
        return len(self._keys if self._all is None else self._all)

    def values(self) -> ValuesView[V]:
        """All values, loaded at once."""
        return self._loaded().values()

    def items(self) -> ItemsView[K, V]:
        """All keys with their values, loaded at once."""
        return self._loaded().items()

    @cached_property
    def _keys(self) -> list[K]:
        return self._kept.keys(self._field)

    def _loaded(self) -> dict[K, Any]:
        if self._all is None:
            known, values = self._known, self._kept.values(self._field)
            self._all = {key: known[key] if key in known else values[_key(self._field, key)[1:]] for key in self._keys}
        return self._all
