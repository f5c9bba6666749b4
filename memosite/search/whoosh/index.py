"""[I/O] The search index in the cache: where it lies, whether it can be trusted, how it is made and replaced.

    seal ──► every file as it was when the index was put in place? ──► open
    cards ──► compare digests with those indexed ──► documents of what changed ──► Whoosh, in a copy ──► put in place

The index is used only if every file of it is the very one that was put there: name, size, inode and time of change
stand in its seal. So a damaged disk and a folder that somebody else put there (a cache may come with a cloned repo, and
Whoosh reads its own files by unpickling) are told, and the index is made anew.

Nobody waits for a new index but who wants to: it is made in a folder of its own, by one process at a time, sealed, and
put in place in a moment. Readers share a lock with each other; they hold off whoever puts an index in place, or removes
it. A second lock is held by who makes one, a third by a process that was started to make one, from before it runs. A
process that is killed holds no lock any more, and what it left is removed by the next one.
"""

import contextlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from whoosh import index

from memosite.facts.errors import OutputError
from memosite.facts.values import Value, as_dict, replace
from memosite.search.documents import Card, SearchDocument, TextOf, documents, lines_of, positions_of, written_lines
from memosite.search.match import facts_of
from memosite.search.whoosh import UNDATED, schema
from memosite.search_language import Analyzer
from memosite.store.cache import INDEX_FOLDER, PARTIAL_INDEX_FOLDER, open_own, refuse_link
from memosite.store.locks import FOR_EVER, Lock, locked
from memosite.store.safe_files import beginning_of, read_file

INDEX_VERSION = 9
"""Of the schema, of what the analyzer finds and of what is shown: an index of another version is made anew."""


_SEAL = "seal.json"


_SEAL_BYTES = 1 << 20


_PLANNED = ".planned.json"


_DIGESTS = "state.json"


_PLACE_LOCK = "lock"


_MAKING_LOCK = "making.lock"


_STARTED_LOCK = "started.lock"


class IndexSeal(Value):
    """What the index is as of: the digest of what the archive was read from ("" if nobody knows), the newest date.

    `rules` says by which settings content was left out when it was made, `withheld` what was withheld for a secret.
    With others the index is made anew: its files keep words of documents that were deleted, until they are merged.
    """

    inputs: str = ""
    newest: int | None = None
    rules: str = ""
    withheld: tuple[str, ...] = ()

    def holds_as_much(self, other: "IndexSeal") -> bool:
        """Whether what an index with this seal holds may be in one with the other."""
        return (self.rules, self.withheld) == (other.rules, other.withheld)


class OpenIndex(Value):
    """An index to be read by `reader.IndexReader`; `reader` is Whoosh's."""

    folder: Path
    seal: IndexSeal
    reader: Any

    def renew(self, inputs: str) -> None:
        """Note a digest of the same inputs that is faster to compare; where nothing can be written, it is not noted."""
        if self.seal.inputs != inputs:
            with contextlib.suppress(OSError):
                write_seal(self.folder, replace(self.seal, inputs=inputs))


@contextlib.contextmanager
def open_index(cache: Path) -> Iterator[OpenIndex | None]:
    """The index in the cache, kept there within the block; None if there is none that can be trusted.

    Raises `OutputError` if a link lies in its place.
    """
    folder = cache / INDEX_FOLDER
    refuse_link(folder)
    with locked(cache / _PLACE_LOCK, is_shared=True) as lock:
        seal = read_seal(folder)[0] if lock else None
        if seal is None:
            yield None
            return
        reader = index.open_dir(str(folder), schema=schema()).reader()
        with contextlib.closing(reader):
            yield OpenIndex(folder=folder, seal=seal, reader=reader)


@contextlib.contextmanager
def making_index(cache: Path, *, waits: bool = True) -> Iterator[Path | None]:
    """An empty folder to make an index in, for one process at a time; None if another one makes one, unless it waits.

    What nothing may hold any more is removed from it, too (`remove_outdated`): enter before anything is read. Raises
    `OutputError` if the cache cannot be written, or if a link lies in it.
    """
    with _writing(cache), locked(cache / _MAKING_LOCK, seconds=FOR_EVER if waits else 0) as lock:
        if lock is None:
            yield None
            return
        partial = cache / PARTIAL_INDEX_FOLDER
        _remove(partial)
        partial.mkdir()
        try:
            yield partial
        except FileNotFoundError as error:
            if partial.exists():
                raise
            message = "what it omits changed while it was made; run the command again"
            raise OutputError(f"{cache}: the search index was removed: {message}") from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def is_being_made(cache: Path) -> bool:
    """Whether any process makes an index."""
    with locked(cache / _MAKING_LOCK, is_shared=True, seconds=0) as lock:
        return lock is None and (cache / _MAKING_LOCK).exists()


@contextlib.contextmanager
def starting_maker(cache: Path) -> Iterator[Lock | None]:
    """The lock that a process which is started to make an index has to inherit; None if one runs, or anybody makes one.

    Raises `OutputError` if the cache cannot be written.
    """
    with _writing(cache), locked(cache / _STARTED_LOCK, seconds=0) as lock:
        yield None if is_being_made(cache) else lock


def put_in_place(cache: Path, partial: Path, seal: IndexSeal) -> None:
    """Seal an index that was made in the partial folder, and put it in the place of the former one."""
    write_seal(partial, seal)
    with locked(cache / _PLACE_LOCK):
        partial.stat()  # what was removed meanwhile may not be in an index
        _remove(cache / INDEX_FOLDER)
        partial.rename(cache / INDEX_FOLDER)


@contextlib.contextmanager
def _writing(cache: Path) -> Iterator[None]:
    """Raise `OutputError` if the cache cannot be written, or if a link lies in it."""
    try:
        if open_own(cache) is None:
            raise OutputError(f"{cache}: the search index cannot be written; name another folder with --cache")
        yield
    except OSError as error:
        message = f"{error.filename or cache}: the search index cannot be written ({error.strerror or error})"
        raise OutputError(f"{message}; name another folder with --cache") from error


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def read_seal(folder: Path) -> tuple[IndexSeal | None, str]:
    """The seal of an index; None if it has to be made anew, with the reason if there is one there."""
    if not folder.exists():
        return None, ""
    try:
        value = json.loads(beginning_of(folder / _SEAL, _SEAL_BYTES) or b"")
        if value["version"] != INDEX_VERSION:
            return None, "it was made by another version of memosite"
        if value["files"] != _files_of(folder):
            return None, "it is damaged, or was not made here"
        return _as_seal(value), ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None, "it is damaged, or was not finished"


def _as_seal(value: Any) -> IndexSeal:
    inputs, rules = str(value["inputs"]), str(value["rules"])
    return IndexSeal(inputs=inputs, newest=value["newest"], rules=rules, withheld=tuple(value["withheld"]))


def remove_outdated(cache: Path, made_of: IndexSeal, *, keeps_former: bool) -> None:
    """Remove indexes that may hold words that nothing may hold any more, also one that is being made.

    Who makes it cannot put it in place then.
    """

    def found() -> list[Path]:
        folder, partial = cache / INDEX_FOLDER, cache / PARTIAL_INDEX_FOLDER
        held = [(folder, read_seal(folder)[0]), (partial, _planned(partial))]
        outdated = [path for path, seal in held if not (keeps_former and seal and seal.holds_as_much(made_of))]
        return [path for path in outdated if path.exists()]

    if found():
        with _writing(cache), locked(cache / _PLACE_LOCK):
            for folder in found():
                shutil.rmtree(folder, ignore_errors=True)


def _planned(partial: Path) -> IndexSeal | None:
    try:
        return _as_seal(json.loads(beginning_of(partial / _PLANNED, _SEAL_BYTES) or b""))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def write_seal(folder: Path, seal: IndexSeal) -> None:
    """Seal an index as it now is."""
    write_file(folder / _SEAL, json.dumps({"version": INDEX_VERSION, "files": _files_of(folder), **as_dict(seal)}))


def read_digests(folder: Path) -> dict[str, str]:
    """The digests of the artifacts in an index by their keys."""
    value: dict[str, str] = json.loads(read_file(folder / _DIGESTS))
    return value


def write_file(path: Path, text: str) -> None:
    """Write a file of the index whole, once the disk has it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    with partial.open("x") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(path)


def _files_of(folder: Path) -> list[list[object]]:
    """Every file of the index with its size, inode and time of change; the last two cannot be made to order.

    What begins with a dot is left over from an update that was killed, and read by nobody.
    """
    found: list[list[object]] = []
    for path in sorted(folder.iterdir()):
        if path.name != _SEAL and not path.name.startswith("."):
            status = path.lstat()
            found.append([path.name, status.st_size, status.st_ino, status.st_ctime_ns])
    return found


# Makes the search index from the former one: only what changed is indexed again.


OFTEN = 1_000
"""After so many artifacts it is said how far indexing is."""


Say = Callable[[str], object]


class Difference(Value):
    """Artifacts, by keys: those that changed or are new since an index was made, and those it has otherwise."""

    changed: frozenset[str]
    former: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.changed or self.former)


def compare(known: Mapping[str, str], now: Mapping[str, str]) -> Difference:
    """Compare the digests of artifacts that were indexed with those of now, by their keys."""
    return Difference(
        changed=frozenset(key for key, digest in now.items() if known.get(key) != digest),
        former=frozenset(key for key, digest in known.items() if now.get(key) != digest),
    )


def update_index(
    cache: Path,
    partial: Path,
    cards: Sequence[Card],
    text_of: TextOf,
    analyzer: Analyzer,
    *,
    made_of: IndexSeal,
    keeps_former: bool = True,
    say: Say = str,
) -> None:
    """Bring the index in the cache up to date with the cards; `partial` is from `making_index`.

    `made_of` is what the cards are as of, without the newest date: with its `inputs` the index is next opened without
    them, if nothing has changed, and says what was `withheld`. Whoosh keeps documents that were deleted in its files
    for a while: an index by other `rules`, or with other things `withheld`, is made anew, and so is, unless it
    `keeps_former`, one with deleted documents. `say` is told when the index is made anew, and how far a long update is.
    Raises `OSError` if the cache cannot be written.
    """
    write_file(partial / _PLANNED, json.dumps(as_dict(made_of)))  # for `remove_outdated`
    folder = cache / INDEX_FOLDER
    seal, why = read_seal(folder)
    if seal is not None and not seal.holds_as_much(made_of):
        seal, why = None, "what it omits has changed"
    if why:
        say(f"search index: {why}, so it is made anew")
    now = {card.key: card.digest for card in cards}
    difference = compare(read_digests(folder) if seal else {}, now)
    new = replace(made_of, newest=newest_of(cards))
    if seal is not None and not difference:
        if new.inputs and seal != new:
            write_seal(folder, new)
        return
    if seal is None or (difference.former and not keeps_former):
        found = index.create_in(str(partial), schema())
        difference = compare({}, now)
    else:
        shutil.copytree(folder, partial, dirs_exist_ok=True)
        found = index.open_dir(str(partial), schema=schema())
    # As files of their own: what lies in a compound file Whoosh copies into memory whenever it is opened.
    writer = found.writer(limitmb=128, compound=False)
    for key in sorted(difference.former):
        writer.delete_by_term("key", key)
    _add([card for card in cards if card.key in difference.changed], writer, text_of, analyzer, say)
    writer.commit()
    write_file(partial / _DIGESTS, json.dumps(now))
    put_in_place(cache, partial, new)


def newest_of(cards: Iterable[Card]) -> int | None:
    """The newest date of all."""
    return max((card.date for card in cards if card.date is not None), default=None)


def _add(cards: Sequence[Card], writer: Any, text_of: TextOf, analyzer: Analyzer, say: Say) -> None:
    for number, card in enumerate(cards):
        if number % OFTEN == 0 and len(cards) >= OFTEN:
            say(f"search index: {number:,} of {len(cards):,} artifacts")
        for document in documents(card, text_of):
            writer.add_document(**_fields_of(document, analyzer))


def _fields_of(document: SearchDocument, analyzer: Analyzer) -> dict[str, object]:
    card = document.card
    shown = written_lines(lines_of(document)).encode("utf-8", "replace")
    words: dict[str, object] = {name: positions_of(texts, analyzer) for name, texts in document.fields.items()}
    return words | {
        "key": [card.key],
        "keys": [f"{field}:{value}" for field, value in document.keys],
        "date": UNDATED if card.date is None else card.date,
        "order": document.order,
        "facts": (json.dumps(facts_of(document)), zlib.compress(shown, 1)),
    }
