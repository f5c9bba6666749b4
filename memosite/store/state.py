"""[I/O] The one file that remembers: `state.sqlite` in the cache of each audience. What is stored in it stands here.

    <cache>/<audience>/state.sqlite    rows of bytes by keys, in the tables of `TABLES`

Losing it costs only time. It may have come with a clone of an untrusted repo, and its rows are unpickled: so each row
is signed, with its table, its key and the version of what made it, by a key that is in the user's state folder and in
no repo. A row that this user's memosite did not write, a file of other tables, a damaged one: all of it is discarded,
and the next build begins from nothing.

One process writes at a time, and readers never wait (WAL, where the disk can do that). What is removed is overwritten
(`secure_delete`), and nothing of it stays in the log of changes once the file is closed. Where a file cannot be kept,
nothing is remembered, and `why_not` says why in one line.
"""
# ruff: noqa: S608 - the names in statements are those of `TABLES`

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from hmac import compare_digest
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Self
from zlib import crc32

from memosite.facts.values import Value
from memosite.store.cache import own_key, program_digest, refuse_link
from memosite.store.safe_files import open_new

FILE: Final = "state.sqlite"
WAIT: Final = 20.0
"""Seconds to wait while another process writes; then nothing of this one is remembered."""

HISTORY_VERSION: Final = 9
"""Of what is made of git histories: it is raised when the same commits give other events, or another form of them."""

Key = tuple[str | int, ...]
Row = tuple[Key, bytes]


class Table(Value):
    """Rows of bytes by their keys: texts, or numbers.

    `version` is raised when the bytes of the same key come to mean something else. Rows that depend on the program
    count for that program only.
    """

    name: str
    keys: tuple[str, ...]
    version: int = 1
    is_of_program: bool = True
    is_small: bool = False
    """Whether its values are small, and so stand with their keys, which are then written once."""

    @property
    def made_by(self) -> str:
        """The version of what makes its rows: others are as good as none."""
        return f"{self.version} {program_digest() if self.is_of_program else ''}"

    @property
    def schema(self) -> str:
        """The table as it is created."""
        keys, kind = ", ".join(self.keys), " WITHOUT ROWID" if self.is_small else ""
        return f"CREATE TABLE {self.name} ({keys}, value BLOB, PRIMARY KEY ({keys})){kind}"


OWNER: Final = Table(name="owner", keys=("of",), is_of_program=False)
"""For each table the version of what made its rows, under its name; signed, as each row is."""

PARSED: Final = Table(name="parsed", keys=("source", "path", "how"))
"""Of each file the state in which it was parsed, the result, and the digests of what it put on the shelf."""

HOLDERS: Final = Table(name="holders", keys=("digest", "source", "path", "how"), is_small=True)
"""The files of `PARSED` by the digests of what they put on the shelf."""

SCANS: Final = Table(name="scans", keys=("source", "id"), is_small=True)
"""Where secrets are in a content, by its blob id; none of what the public may not know exists."""

VERSIONS: Final = Table(name="versions", keys=("source", "system", "blob"))
"""Of a version of a list file, by its record system and blob id: size, secrets in it, the ids of its `ENTRIES`."""

ENTRIES: Final = Table(name="entries", keys=("source", "id"), is_small=True)
"""The entries that are in any of these versions, by their digests."""

LINES: Final = Table(name="lines", keys=("line", "part"), version=HISTORY_VERSION, is_of_program=False)
"""Up to which commit the git history of a source is known, and which commits texts mean.

A line is a repo, a folder in it and a branch.

`files` goes with `EVENTS` and `TREE`, `commits` with `COMMITS`.
"""

EVENTS: Final = Table(name="events", keys=("line", "path"), version=HISTORY_VERSION, is_of_program=False, is_small=True)
"""What happened to each file, by its key (`archive/history.py`), with a number for the order of the files."""

TREE: Final = Table(name="tree", keys=("line", "path"), version=HISTORY_VERSION, is_of_program=False, is_small=True)
"""The blob ids of the files of that commit."""

COMMITS: Final = Table(name="commits", keys=("line", "id"), version=HISTORY_VERSION, is_of_program=False, is_small=True)
"""The commits of a line with merges, with a number: each comes after its parents."""

KEPT: Final = Table(name="kept", keys=("field", "kind", "id"))
"""The archive that commands show (`reading/kept.py`): by field of `Archive`, kind of item, "" if it has none, and id.

Also the fields of items that are loaded later (`apart`), what happened on each day (`days`), and items as indexes of
texts list them (`items`). `keys` are the keys of a field in their order, `alone` what is no mapping, and `seal` is what
all of it was read from.
"""

TEXTS: Final = Table(name="texts", keys=("kind", "digest"), version=3, is_of_program=False)
"""What finds quotes, or names, in a text: by the kind of index, and the digest of the text (`reading/text_rows.py`)."""

TEMPLATES: Final = Table(name="templates", keys=("words", "name"))
"""The bytecode of each template, by the first digit of the digest of its words, after this digest and Python's number.

Those of the site are in its own file, bundled ones in that of the user's state folder.
"""

ANALYSES: Final = Table(name="analyses", keys=("block", "card"))
"""What was analyzed of each artifact of the last search blocks, by the digest of its card."""

RUNS: Final = Table(name="runs", keys=("text", "item"))
"""Of each text the runs of words by which shared passages are found, and those of them that other texts have, too.

A text is known by its SHA-256; an item by its name with the number of the text.
"""

PASSAGES: Final = Table(name="passages", keys=("one", "other"))
"""The passages that two texts share, by their items; first all that these depend on."""

UNITS: Final = Table(name="units", keys=("output", "unit"))
"""Of each unit of the last build of an output folder: the digest of what it was given, and its reads by number."""

FILES: Final = Table(name="files", keys=("output", "unit"))
"""The files that each of these units made: path, fingerprint, and the state in which it was left."""

READS: Final = Table(name="reads", keys=("output", "number"))
"""What these units read, each with its number and the digest of what was found; so many are a row as fit a page."""

BUILDS: Final = Table(name="builds", keys=("output", "what"))
"""Of the last build of an output folder: what all its units are made of, its seal, the state of `status.json`."""

TABLES: Final = (
    *(OWNER, PARSED, HOLDERS, SCANS, VERSIONS, ENTRIES, LINES, EVENTS, TREE, COMMITS, KEPT, TEXTS),
    *(TEMPLATES, ANALYSES, RUNS, PASSAGES, UNITS, FILES, READS, BUILDS),
)


def _digest_of_tables() -> int:
    return crc32("\n".join(table.schema for table in TABLES).encode()) & 0x7FFFFFFF


class State:
    """The file of one part of the cache, open until it is closed.

    It never raises for what is in the file, nor for a disk that fails: it is then as if it were empty, and what is
    written is lost. Only a link in its place is an `OutputError`.
    """

    def __init__(self, folder: Path | None, *, is_read_only: bool = False) -> None:
        """Open the file in a folder, and make one if there is none; without a folder nothing is kept."""
        self.why_not = ""
        """Why nothing is kept, in one line; "" if all is well, or if there is no folder."""
        self._file = folder / FILE if folder else None
        self._sql: sqlite3.Connection | None = None
        self._depth = 0
        self._is_written = False
        self._signers: dict[str, Any] = {}
        self._current: dict[str, bool] = {}
        self._can_write = False
        self._key = own_key() if folder else None
        if self._file is None or self._key is None:
            return
        for file in _files(self._file):
            refuse_link(file)
        with self._failing():
            self._open(self._file, is_read_only=is_read_only)

    def __enter__(self) -> Self:
        """Keep it open until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    @property
    def is_kept(self) -> bool:
        """Whether what is written will be there the next time."""
        return self._sql is not None

    @property
    def folder(self) -> Path | None:
        """The part of the cache that it is in."""
        return self._file.parent if self._file else None

    def __getitem__(self, table: Table) -> "Rows":
        """The rows of a table."""
        return Rows(self, table)

    def _open(self, file: Path, *, is_read_only: bool) -> None:
        if not file.exists():
            if is_read_only:
                return
            self._create(file)
        try:
            self._connect(file, is_read_only=is_read_only)
        except _NotOursError as error:
            self._discard(str(error))
            if not is_read_only:
                self._create(file)
                self._connect(file, is_read_only=is_read_only)

    def _create(self, file: Path) -> None:
        """An empty file that nobody else may read: SQLite gives its log the same rights."""
        for left in _files(file)[1:]:
            left.unlink(missing_ok=True)  # of another file: it would be taken for what was not yet written of this one
        with suppress(FileExistsError), open_new(file, mode=0o600):
            pass

    def _connect(self, file: Path, *, is_read_only: bool) -> None:
        can_write = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
        if not can_write and any(one.exists() for one in _files(file)[1:]):
            raise OSError(errno.EROFS, "the disk is read-only, and the file was not closed")
        mode = "rw" if can_write else "ro&immutable=1"
        self._can_write = can_write and not is_read_only
        sql = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=WAIT,
            check_same_thread=False,
        )  # fmt: skip
        try:
            sql.executescript("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON;")
            if self._can_write:
                with suppress(sqlite3.OperationalError):  # a disk of another machine: readers wait there
                    sql.execute("PRAGMA journal_mode = WAL").fetchone()
                sql.execute("PRAGMA synchronous = NORMAL")
                if not sql.execute("PRAGMA user_version").fetchone()[0]:
                    self._begin(sql)
            else:
                sql.execute("PRAGMA query_only = ON")
            self._check(sql)
        except BaseException as error:
            sql.close()
            if _is_damage(error):
                raise _NotOursError("is damaged") from error
            raise
        self._sql = sql

    def _begin(self, sql: sqlite3.Connection) -> None:
        """Make the tables, unless another process does so at the same moment."""
        sql.execute("BEGIN IMMEDIATE")
        if not sql.execute("PRAGMA user_version").fetchone()[0] and not sql.execute(_SCHEMA).fetchall():
            for table in TABLES:
                sql.execute(table.schema)
            sql.execute(f"PRAGMA user_version = {_digest_of_tables()}")
            made_by = OWNER.made_by.encode()
            sql.execute("INSERT INTO owner VALUES (?, ?)", (OWNER.name, self.signed(OWNER, (OWNER.name,), made_by)))
        sql.execute("COMMIT")

    def _check(self, sql: sqlite3.Connection) -> None:
        """Raise `_NotOursError` unless it has the tables of this version, and this user's memosite made it."""
        if sql.execute("PRAGMA user_version").fetchone()[0] != _digest_of_tables():
            raise _NotOursError("")  # another version's: nothing that anybody has to know
        found = sql.execute("SELECT value FROM owner WHERE of = ?", (OWNER.name,)).fetchone()
        tables = {sql for (sql,) in sql.execute(_SCHEMA)}
        if tables != {table.schema for table in TABLES}:
            raise _NotOursError("is not as memosite makes it")
        if found is None or self._read_signed(OWNER, (OWNER.name,), found[0]) is None:
            raise _NotOursError("was written by somebody else")

    # Reading and writing, for `Rows`

    def rows(self, statement: str, values: Iterable[object] = ()) -> list[Any]:
        """What a query finds; nothing if there is no file."""
        found: list[Any] = []
        if self._sql is not None:
            with self._failing():
                found = self._sql.execute(statement, tuple(values)).fetchall()
        return found

    def change(self, statement: str, many: Iterable[Sequence[object]]) -> None:
        """Change rows, within `writing`."""
        if self._sql is not None and self._can_write:
            if not self._depth:
                raise ValueError("rows are changed within `writing`")
            with self._failing():
                self._sql.executemany(statement, many)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is changed in the block is there at its end, or nothing of it; the outermost block counts.

        Nothing is changed if the block raises.
        """
        self._depth += 1
        try:
            if self._depth == 1 and self._sql is not None and self._can_write:
                if self._sql.in_transaction:
                    raise ValueError("nothing is written within `reading`")
                with self._failing():
                    self._sql.execute("BEGIN IMMEDIATE")
                    self._current.clear()  # another version of the program may have written meanwhile
            yield
        except BaseException:
            self._depth -= 1
            if not self._depth and self._sql is not None and self._sql.in_transaction:
                with suppress(sqlite3.Error):
                    self._sql.execute("ROLLBACK")
            raise
        self._depth -= 1
        if not self._depth and self._sql is not None and self._can_write:
            with self._failing():
                self._sql.execute("COMMIT")
                self._is_written = True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read in the block is of one moment, whatever others write meanwhile."""
        begun = self._sql is not None and not self._sql.in_transaction
        if begun and self._sql is not None:
            with self._failing():
                self._sql.execute("BEGIN")
        try:
            yield
        finally:
            if begun and self._sql is not None and self._sql.in_transaction:
                with self._failing():
                    self._sql.execute("ROLLBACK")

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What SQLite raises makes the file as good as none; a damaged one is removed."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if _is_damage(error):
                self._refuse("is damaged")
            else:  # locked, full, gone: the file itself may be sound
                self._lose(f"cannot be used ({error})")
        except OSError as error:
            self._lose(f"cannot be used ({error.strerror})")

    def _refuse(self, what: str) -> None:
        """Something was found in the file that memosite never writes: it is removed, and nothing is known."""
        self._lose(what)
        self._discard(what)

    def _lose(self, why: str) -> None:
        sql, self._sql = self._sql, None
        if sql is not None:
            with suppress(sqlite3.Error):
                sql.close()
        self.why_not = f"{self._file}: {why}; nothing is remembered this time"

    def _discard(self, why: str) -> None:
        """Remove the file: its log first, or that would be taken for a part of the next one."""
        if self._file is not None:
            with suppress(OSError):
                for file in reversed(_files(self._file)):
                    file.unlink(missing_ok=True)
            self.why_not = f"{self._file}: {why}; it was removed, and everything is read and made anew" if why else ""

    def close(self) -> None:
        """Close it. Nothing that was removed stays in the log of changes."""
        sql, self._sql = self._sql, None
        if sql is not None:
            with suppress(sqlite3.Error):
                if self._is_written:  # who still reads what was removed removes it with the last one that closes
                    sql.executescript("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
            with suppress(sqlite3.Error):
                sql.close()

    # Versions and signatures, for `Rows`

    def is_current(self, table: Table) -> bool:
        """Whether rows of a table are of the version of now, and may be read."""
        if table.name not in self._current:
            found = self.rows("SELECT value FROM owner WHERE of = ?", (table.name,))
            made_by = self._read_signed(OWNER, (table.name,), found[0][0]) if found else None
            self._current[table.name] = made_by == table.made_by.encode()
        return self._current[table.name]

    def make_current(self, table: Table) -> None:
        """Remove the rows of another version, before the first one is written, within `writing`."""
        if not self.is_current(table):
            made_by = self.signed(OWNER, (table.name,), table.made_by.encode())
            self.change(f"DELETE FROM {table.name}", [()])
            self.change("INSERT OR REPLACE INTO owner VALUES (?, ?)", [(table.name, made_by)])
            self._current[table.name] = True

    def signed(self, table: Table, key: Key, value: bytes) -> bytes:
        """The value of a row as it is written."""
        return self._signature(table, key, value) + value

    def value(self, table: Table, key: Key, written: object) -> bytes | None:
        """The value of a row as it was written. A row of somebody else makes the file as good as none."""
        found = self._read_signed(table, key, written)
        if found is None:
            self._current.pop(table.name, None)
            if self.is_current(table):  # unless another version of the program writes at this moment
                self._refuse("has a row that memosite did not write")
        return found

    def _signature(self, table: Table, key: Key, value: bytes) -> bytes:
        signer = self._signers.get(table.name)
        if signer is None:
            signer = self._signers[table.name] = blake2b(key=self._key or b"", digest_size=SIGNATURE_BYTES)
            signer.update(f"{table.name}\0{table.made_by}\0".encode())
        signed = signer.copy()
        signed.update(b"\0".join((repr(key).encode("utf-8", "surrogatepass"), value)))
        return signed.digest()

    def _read_signed(self, table: Table, key: Key, written: object) -> bytes | None:
        """The value of a row; None unless this user's memosite wrote it under this key, by this version."""
        if not isinstance(written, bytes):
            return None
        value = written[SIGNATURE_BYTES:]
        return value if compare_digest(self._signature(table, key, value), written[:SIGNATURE_BYTES]) else None


def _is_damage(error: BaseException) -> bool:
    """Whether the file is the cause: SQLite says so, or it has text that is none, in its tables or their names."""
    if isinstance(error, sqlite3.OperationalError):
        return not hasattr(error, "sqlite_errorcode") or error.sqlite_errorcode == sqlite3.SQLITE_ERROR
    return isinstance(error, (sqlite3.DatabaseError, UnicodeDecodeError))


class _NotOursError(Exception):
    """Why a file is not used, after its name."""


SIGNATURE_BYTES: Final = 16
_SCHEMA: Final = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"


def _files(file: Path) -> tuple[Path, ...]:
    """The file, and what SQLite keeps beside it."""
    return file, *(file.with_name(file.name + ending) for ending in ("-journal", "-shm", "-wal"))


class Rows:
    """The rows of a table. Keys may be given in part, from the first on: for all rows that have these."""

    def __init__(self, state: State, table: Table) -> None:
        """Read and write those of a `table` through this state."""
        self._state = state
        self.table = table

    def get(self, *key: str | int) -> bytes | None:
        """The row of a key; None if there is none."""
        for found, value in self._select(key):
            return value if len(found) == len(self.table.keys) else None
        return None

    def items(self, *key: str | int) -> list[Row]:
        """The rows of a key that is given in part, each with its whole key, in the order of their keys."""
        rows = list(self._select(key))
        return rows if self._state.is_kept else []

    def keys(self, *key: str | int) -> list[Key]:
        """The keys of these rows in their order. Their values are not read, and so not known to be ours."""
        if not self._state.is_current(self.table):
            return []
        return [_key_of(row) for row in self._state.rows(self._query(self._columns, key), _bound(key))]

    def firsts(self) -> list[str | int]:
        """The first parts of all keys, each once; not known to be ours, as those of `keys`."""
        if not self._state.is_current(self.table):
            return []
        name, first = self.table.name, self.table.keys[0]
        next_one = f"SELECT (SELECT min({first}) FROM {name} WHERE {first} > one) FROM found WHERE one IS NOT NULL"
        found = (
            f"WITH RECURSIVE found(one) AS (SELECT min({first}) FROM {name} UNION ALL {next_one}) SELECT * FROM found"
        )
        return [_read_back(one) for (one,) in self._state.rows(found) if one is not None]

    def count(self, *key: str | int) -> int:
        """How many rows there are of a key that is given in part."""
        if not self._state.is_current(self.table):
            return 0
        found = self._state.rows(f"SELECT count(*) FROM {self.table.name}{self._where(key)}", _bound(key))
        return int(found[0][0]) if found else 0

    def put(self, rows: Iterable[Row]) -> None:
        """Write rows in the place of those that have the same keys, within `writing`."""
        self._state.make_current(self.table)
        marks = ", ".join("?" for _ in self.table.keys)
        self._state.change(
            f"INSERT INTO {self.table.name} VALUES ({marks}, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            ((*_bound(key), self._state.signed(self.table, key, value)) for key, value in rows),
        )

    def replace(self, rows: Iterable[Row], *key: str | int) -> None:
        """Let these be all rows of a key that is given in part: only what differs is written, within `writing`."""
        known = self.signatures(*key)
        self.put(self.differing(rows, known))
        self.remove(known)

    def signatures(self, *key: str | int) -> dict[Key, bytes]:
        """The signatures of these rows by their keys. They are not known to be ours: whole rows are checked."""
        if not self._state.is_current(self.table):
            return {}
        query = self._query(f"{self._columns}, substr(value, 1, {SIGNATURE_BYTES})", key)
        return {_key_of(row[:-1]): row[-1] for row in self._state.rows(query, _bound(key))}

    def differing(self, rows: Iterable[Row], known: dict[Key, bytes]) -> Iterator[Row]:
        """Those rows that are not as the signatures that are `known`, out of which all are taken."""
        for key, value in rows:
            if known.pop(key, None) != self._state.signed(self.table, key, value)[:SIGNATURE_BYTES]:
                yield key, value

    def remove(self, keys: Iterable[Key]) -> None:
        """Remove the rows of keys that are given in part or whole, within `writing`."""
        if self._state.is_current(self.table):
            for length, some in groupby(sorted(map(_bound, keys), key=len), key=len):
                place = self._where(("",) * length)
                self._state.change(f"DELETE FROM {self.table.name}{place}", some)

    def _select(self, key: Key) -> Iterator[Row]:
        if not self._state.is_current(self.table):
            return
        for row in self._state.rows(self._query(f"{self._columns}, value", key), _bound(key)):
            whole = _key_of(row[:-1])
            ours = self._state.value(self.table, whole, row[-1])
            if ours is None:
                return
            yield whole, ours

    @property
    def _columns(self) -> str:
        return ", ".join(self.table.keys)

    def _query(self, columns: str, key: Key) -> str:
        return f"SELECT {columns} FROM {self.table.name}{self._where(key)} ORDER BY {self._columns}"

    def _where(self, key: Key) -> str:
        names = self.table.keys[: len(key)]
        return f" WHERE {' AND '.join(f'{name} = ?' for name in names)}" if names else ""


def _bound(key: Key) -> tuple[str | int | bytes, ...]:
    """A key as SQLite takes it: names of files may have halves of characters, which are no text for it."""
    return tuple([each if type(each) is int or str(each).isascii() else _bytes_of(str(each)) for each in key])


def _bytes_of(text: str) -> str | bytes:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _key_of(row: tuple[Any, ...]) -> Key:
    return tuple(map(_read_back, row)) if bytes in map(type, row) else row


def _read_back(value: Any) -> str | int:
    try:
        read: str | int = value.decode("utf-8", "surrogatepass") if type(value) is bytes else value
    except UnicodeDecodeError:  # which memosite never writes: its row is signed for no such key
        return repr(value)
    return read
