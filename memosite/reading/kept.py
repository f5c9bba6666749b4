"""[I/O] The archive as it was read last, by key: what shows little of it loads little.

    <folder>/archive.sqlite   rows by mapping and key; the fields of artifacts that are kept apart are rows of their own
                              and what happened on each day
    <folder>/archive.seal     the state of that file, a digest of what it was read from, the ledger's SHA-256; signed

It is what the gate let through. A new file takes the place of the former one: nothing of that stays, and who reads it
goes on reading it. Rows are unpickled, and the cache may have come with a cloned repo: a file that is not in the state
that this user signed is not read. Losing it costs only time.
"""

import json
import marshal
import os
import sqlite3
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from contextlib import closing, suppress
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from memosite.archive.model import Archive, load_later, values_apart
from memosite.archive.snapshots import Days, days_of
from memosite.facts.errors import MemositeError
from memosite.reading.text_rows import forget_rows, prune_rows
from memosite.store.cache import read_signed, refuse_link, write_signed
from memosite.store.values import read_value, value_bytes

K = TypeVar("K")
V = TypeVar("V")

FILE, SEAL = "archive.sqlite", "archive.seal"
_NEW: Final = "archive.new-"
_APART, _DAYS, _HOLDERS, _TOKEN = "apart", "days", "holders", "token"
_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE row (field TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL);
"""
_ONE: Final = "SELECT value FROM row WHERE field = ? AND key = ?"
_FIELDS: Final = tuple(field.name for field in fields(Archive))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """What a file was read from: `inputs` is a digest of it (`reading/inputs.py`), `ledger` the SHA-256 of the file."""

    state: tuple[int, ...]
    inputs: str
    ledger: str


def write_kept(folder: Path, archive: Archive, holders: Iterable[tuple[str, tuple[str, str]]], *, token: str) -> None:
    """Write an archive in the place of the last one; it counts once it is sealed. Raises `OSError` if that fails.

    `holders` are digests of texts and originals, each with the source and the path of a file with it. The `token` tells
    the file from others.
    """
    _remove(folder)
    prune_rows(folder, lambda: (text.sha256 for one in archive.artifacts.values() for text in one.texts))
    new = folder / f"{_NEW}{token}"
    try:
        with closing(sqlite3.connect(new, isolation_level=None)) as sql:
            sql.executescript(_SCHEMA)
            sql.execute("BEGIN")
            sql.execute("INSERT INTO row VALUES (?, ?, ?)", (_TOKEN, marshal.dumps(None, 2), token.encode()))
            sql.executemany("INSERT INTO row VALUES (?, ?, ?)", _rows(archive, holders))
            sql.execute("CREATE UNIQUE INDEX row_key ON row (field, key)")
            sql.execute("COMMIT")
        new.replace(folder / FILE)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _rows(archive: Archive, holders: Iterable[tuple[str, tuple[str, str]]]) -> Iterator[tuple[str, bytes, bytes]]:
    for name in _FIELDS:
        value = getattr(archive, name)
        if isinstance(value, Mapping):
            yield from ((name, marshal.dumps(key, 2), value_bytes(one)) for key, one in value.items())
        else:
            yield name, b"", value_bytes(value)
    for ref, artifact in archive.artifacts.items():
        yield _APART, marshal.dumps(ref, 2), value_bytes(values_apart(artifact))
    for day, refs in days_of(archive).items():
        yield _DAYS, marshal.dumps(day, 2), value_bytes(refs)
    for digest, place in dict(holders).items():
        yield _HOLDERS, marshal.dumps(digest, 2), value_bytes(place)


def seal_kept(folder: Path, *, token: str, inputs: str, ledger: str) -> None:
    """Note what the file with this token was read from: from now on it counts."""
    with suppress(OSError, MemositeError):
        seal = Seal(state=_state(folder), inputs=inputs, ledger=ledger)
        if _token_of(folder, seal) == token:
            write_signed(folder / SEAL, json.dumps([seal.state, inputs, ledger]).encode())


def is_kept(folder: Path, token: str) -> bool:
    """Whether the file with this token is the one that counts."""
    with suppress(OSError, MemositeError):
        seal = read_seal(folder)
        return seal is not None and _token_of(folder, seal) == token
    return False


def _token_of(folder: Path, seal: Seal) -> str:
    kept = open_kept(folder, seal)
    if kept is None:
        return ""
    with closing(kept):
        return kept.token


def read_seal(folder: Path) -> Seal | None:
    """What the file in a folder was read from; None if there is none that this user sealed.

    Raises `OutputError` if the file is a link.
    """
    refuse_link(folder / FILE)
    with suppress(OSError, ValueError, TypeError, RecursionError):
        state, inputs, ledger = json.loads(read_signed(folder / SEAL) or b"null")
        if state and tuple(state) == _state(folder):
            return Seal(state=tuple(state), inputs=str(inputs), ledger=str(ledger))
    return None


def forget_kept(folder: Path) -> None:
    """Remove the file, what killed processes left of others, and rows: they may tell what nothing may any more."""
    _remove(folder)
    forget_rows(folder)


def _remove(folder: Path) -> None:
    for path in (folder / SEAL, folder / FILE, *folder.glob(f"{_NEW}*")):
        path.unlink(missing_ok=True)


def open_kept(folder: Path, seal: Seal) -> "Kept | None":
    """What is in the file of this seal; None if another one has taken its place."""
    with suppress(OSError, sqlite3.Error):
        refuse_link(folder / FILE)
        uri = f"{(folder / FILE).absolute().as_uri()}?mode=ro&immutable=1"
        sql = sqlite3.connect(uri, uri=True, isolation_level=None)
        sql.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # opens it
        if _state(folder) == seal.state:
            return Kept(sql)
        sql.close()
    return None


def _state(folder: Path) -> tuple[int, ...]:
    try:
        found = os.lstat(folder / FILE)
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


class Kept:
    """An archive of which values are loaded when they are asked for, until it is closed."""

    def __init__(self, sql: sqlite3.Connection) -> None:
        """Read through this connection."""
        self._sql = sql

    def close(self) -> None:
        """Close the file; what was not loaded is then lost."""
        self._sql.close()

    @property
    def token(self) -> str:
        """What tells the file from others."""
        return (self.value(_TOKEN, None) or b"").decode()

    def archive(self) -> Archive:
        """The archive."""
        found = {name: self._all(_ONE, name, b"") for name in _FIELDS}
        alone = {name: read_value(rows[0][0]) for name, rows in found.items() if rows}
        mappings: dict[str, Any] = {name: _Rows(self, name) for name in _FIELDS if name not in alone}
        mappings["artifacts"] = _Artifacts(self, "artifacts")
        return Archive(**alone, **mappings)

    def days(self) -> Days:
        """What happened on each day."""
        return _Rows(self, _DAYS)

    def holder(self, digest: str) -> tuple[str, str] | None:
        """The source and the path of a file with the text or original of this digest."""
        found = self.value(_HOLDERS, digest)
        return read_value(found) if found is not None else None

    def value(self, field: str, key: Any) -> bytes | None:
        """A row of a mapping; None if there is none."""
        try:
            written = marshal.dumps(key, 2)
        except ValueError:
            return None
        found = self._all(_ONE, field, written)
        return found[0][0] if found else None

    def values(self, field: str) -> list[tuple[Any, bytes]]:
        """The rows of a mapping, in their order."""
        found = self._all("SELECT key, value FROM row WHERE field = ? ORDER BY rowid", field)
        return [(marshal.loads(key), value) for key, value in found]  # noqa: S302 - signed by this user

    def keys(self, field: str) -> list[Any]:
        """The keys of a mapping, in their order."""
        found = self._all("SELECT key FROM row WHERE field = ? ORDER BY rowid", field)
        return [marshal.loads(key) for (key,) in found]  # noqa: S302 - signed by this user

    def count(self, field: str) -> int:
        """How many rows a mapping has."""
        return int(self._all("SELECT count(*) FROM row WHERE field = ?", field)[0][0])

    def _all(self, statement: str, *values: object) -> list[Any]:
        try:
            return self._sql.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise MemositeError(f"the cache cannot be read any more ({error}); run the command again") from error


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
            data = self._kept.value(self._field, key)
            self._known[key] = self._read(key, data) if data is not None else None
        found: V | None = self._known[key]
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[K]:
        return iter(self._kept.keys(self._field) if self._all is None else self._all)

    def values(self) -> ValuesView[V]:
        """All values, loaded at once."""
        return self._loaded().values()

    def items(self) -> ItemsView[K, V]:
        """All keys with their values, loaded at once."""
        return self._loaded().items()

    def _loaded(self) -> dict[K, Any]:
        if self._all is None:
            known, rows = self._known, self._kept.values(self._field)
            self._all = {key: known[key] if key in known else self._read(key, data) for key, data in rows}
        return self._all

    def __len__(self) -> int:
        return self._kept.count(self._field) if self._all is None else len(self._all)

    def _read(self, _key: K, data: bytes) -> V:
        value: V = read_value(data)
        return value


class _Artifacts(_Rows[Any, Any]):
    """Artifacts: the fields that are kept apart are loaded later still."""

    def _read(self, key: Any, data: bytes) -> Any:
        artifact = super()._read(key, data)
        load_later(artifact, partial(self._load, key))
        return artifact

    def _load(self, ref: object) -> tuple[Any, ...]:
        data = self._kept.value(_APART, ref)
        if data is None:
            raise MemositeError(f"the cache has no row {_APART} of {ref}; remove the cache and run the command again")
        found: tuple[Any, ...] = read_value(data)
        return found
