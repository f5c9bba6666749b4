"""[I/O] The search index in the cache: a Whoosh index that is brought up to date before each answer.

    cards ──► compare digests with those indexed ──► only what changed is indexed ──► Reader

The index is used only if every file of it is the very one that the last update left: name, size, inode and time of
change stand in its seal. So an update that was killed, a damaged disk and a folder that somebody else put there (a
cache may come with a cloned repo, and Whoosh reads its own files by unpickling) are all told, and made anew.
"""

import contextlib
import fcntl
import json
import os
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memosite.errors import OutputError
from memosite.search.analyzer import Analyzer
from memosite.search.documents import Card, ReadText, SearchDocument, documents, positions_of
from memosite.search.whoosh_fields import Keys, Positions

with warnings.catch_warnings():
    # Compiled for the first time, a module of Whoosh may warn of its own spelling; nothing of it concerns us.
    warnings.simplefilter("ignore", SyntaxWarning)
    from whoosh import columns, fields, index
    from whoosh.reading import IndexReader

VERSION = 1
"""Of the schema and of what the analyzer finds: an index of another version is made anew."""

SEAL = "seal.json"
STATE = "state.json"
LOCK = "lock"
FOLDER = "search"
OFTEN = 1_000
"""After so many artifacts it is said how far indexing is."""

UNDATED = -(2**63)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the index holds: the digest of each artifact by its key (`memo/<id>`), and the newest date of all."""

    digests: dict[str, str]
    newest: int | None


def open_index(cache: Path, cards: Sequence[Card], read_text: ReadText, analyzer: Analyzer, say: Say) -> "OpenIndex":
    """Bring the index in the cache up to date with the cards and open it.

    `say` is told when the index is made anew, and how far a long update is. Raises `OutputError` if the cache cannot
    be written.
    """
    folder = cache / FOLDER
    try:
        _prepare(cache, folder)
        with _locked(cache):
            state, why = _read_state(folder)
            if why:
                say(f"search index: {why}, so it is made anew")
            state = _update(folder, state, _Job(cards=cards, read_text=read_text, analyzer=analyzer, say=say))
            with contextlib.ExitStack() as stack:
                reader = stack.enter_context(contextlib.closing(index.open_dir(str(folder)).reader()))
                stack.pop_all()
    except OSError as error:
        message = f"{error.filename or cache}: the search index cannot be written ({error.strerror or error})"
        raise OutputError(f"{message}; name another folder with --cache") from error
    return OpenIndex(reader=reader, newest=state.newest)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIndex:
    """An index that is up to date, to be read by `reader.Reader`."""

    reader: IndexReader
    newest: int | None


def _prepare(cache: Path, folder: Path) -> None:
    """Make the cache's folders. A link in their place could lead writing and removing somewhere else (SPEC 9)."""
    cache.mkdir(parents=True, exist_ok=True)
    ignore = cache / ".gitignore"
    for path in (folder, ignore, cache / LOCK):
        if path.is_symlink():
            raise OutputError(f"{path}: a symbolic link; memosite writes to a folder itself, remove the link")
    if not ignore.exists():
        ignore.write_text("*\n")


@contextlib.contextmanager
def _locked(cache: Path) -> Iterator[None]:
    """One update at a time; who comes second finds the index up to date."""
    handle = os.open(cache / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


# Seal and state


def _read_state(folder: Path) -> tuple[State | None, str]:
    """What the index holds; None if it has to be made, with the reason if there is one there."""
    if not folder.exists():
        return None, ""
    try:
        seal = json.loads((folder / SEAL).read_text())
        if seal != _seal_of(folder):
            return None, "it is damaged, or was not made here"
        value = json.loads((folder / STATE).read_text())
        if value["version"] != VERSION:
            return None, "it was made by another version of memosite"
        return State(digests=dict(value["digests"]), newest=value["newest"]), ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None, "it is damaged, or was not finished"


def _seal_of(folder: Path) -> list[list[object]]:
    """Every file of the index with its size, inode and time of change; the last two cannot be made to order."""
    found: list[list[object]] = []
    for path in sorted(folder.iterdir()):
        if path.name != SEAL:
            status = path.lstat()
            found.append([path.name, status.st_size, status.st_ino, status.st_ctime_ns])
    return found


def _write_state(folder: Path, state: State) -> None:
    value = {"version": VERSION, "newest": state.newest, "digests": state.digests}
    _write(folder / STATE, json.dumps(value))
    _write(folder / SEAL, json.dumps(_seal_of(folder)))


def _write(path: Path, text: str) -> None:
    with path.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


# Updates


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What an update is made with."""

    cards: Sequence[Card]
    read_text: ReadText
    analyzer: Analyzer
    say: Say


def _update(folder: Path, state: State | None, job: _Job) -> State:
    cards = job.cards
    now = {f"{card.kind}/{card.id}": card.digest for card in cards}
    known = state.digests if state else {}
    changed = [card for card in cards if known.get(key := f"{card.kind}/{card.id}") != now[key]]
    former = [key for key in known if known[key] != now.get(key)]
    if state is not None and not changed and not former:
        return state
    if state is None:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        found = index.create_in(str(folder), _schema())
    else:
        # Until the update is done, there is no seal: should it be killed, the index counts as damaged.
        (folder / SEAL).unlink()
        found = index.open_dir(str(folder))
    state = State(digests=now, newest=max((card.date for card in cards if card.date is not None), default=None))
    _write_documents(found.writer(limitmb=128), former, changed, job)
    _write_state(folder, state)
    return state


def _write_documents(writer: Any, former: Iterable[str], changed: Sequence[Card], job: _Job) -> None:
    for key in former:
        writer.delete_by_term("key", key)
    for number, card in enumerate(changed):
        if number % OFTEN == 0 and len(changed) >= OFTEN:
            job.say(f"search index: {number:,} of {len(changed):,} artifacts")
        for document in documents(card, job.read_text):
            writer.add_document(**_fields_of(document, job.analyzer))
    writer.commit()


def _schema() -> Any:
    return fields.Schema(
        key=Keys(),
        text=Positions(),
        subject=Positions(),
        name=Positions(),
        keys=Keys(),
        date=fields.COLUMN(columns.NumericColumn("q", default=UNDATED)),
        order=fields.COLUMN(columns.VarBytesColumn()),
        facts=fields.STORED(),
    )


def _fields_of(document: SearchDocument, analyzer: Analyzer) -> dict[str, object]:
    card = document.card
    facts = {
        "kind": card.kind,
        "id": card.id,
        "turn": document.turn,
        "system": card.system,
        "subject": card.short_subject,
        "label": document.label,
        "who": card.who,
        "file": document.file,
        "path": card.path,
    }
    return {
        "key": [f"{card.kind}/{card.id}"],
        "text": positions_of(document.texts, analyzer),
        "subject": positions_of((document.subject,), analyzer) if document.subject else {},
        "name": positions_of(document.names, analyzer),
        "keys": [f"{field}:{value}" for field, value in document.keys],
        "date": UNDATED if card.date is None else card.date,
        "order": _order_of(document),
        "facts": (json.dumps(facts), zlib.compress(document.body.encode("utf-8", "replace"), 1)),
    }


def _order_of(document: SearchDocument) -> bytes:
    """`SearchDocument.order` as bytes that sort alike: no id holds a NUL, and UTF-8 sorts as its characters do."""
    undated, date, id_, kind, turn, is_tools = document.order
    head = bytes([undated]) + (date + 2**63).to_bytes(8, "big")
    return head + f"{id_}\0{kind}\0".encode() + turn.to_bytes(4, "big") + bytes([is_tools])
