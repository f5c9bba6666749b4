"""[I/O] Brings the search index up to date: only what changed is indexed again.

cards ──► compare digests with those indexed ──► documents of what changed ──► Whoosh, sealed anew
"""

import contextlib
import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whoosh import index

from memosite.search.documents import Card, SearchDocument, TextOf, documents, positions_of
from memosite.search.whoosh.fields import UNDATED, schema
from memosite.search.whoosh.index import (
    UNKNOWN,
    IndexSeal,
    OpenIndex,
    break_seal,
    locked,
    open_reader,
    read_seal,
    write_file,
    write_seal,
)
from memosite.search_language.analyzer import Analyzer

DIGESTS = "state.json"
"""The file that holds the digest of each artifact by its key, `memo/<id>`."""

OFTEN = 1_000
"""After so many artifacts it is said how far indexing is."""

Say = Callable[[str], object]


def open_index(
    cache: Path,
    cards: Sequence[Card],
    text_of: TextOf,
    analyzer: Analyzer,
    say: Say,
    *,
    made_of: IndexSeal = UNKNOWN,
    keeps_former: bool = True,
) -> OpenIndex:
    """Bring the index in the cache up to date with the cards and open it.

    `made_of` is what the cards are as of, without the newest date: with its `inputs` the index is next opened without
    them, if nothing has changed, and says what was `withheld`. Whoosh keeps documents that were deleted in its files
    for a while: an index by other `rules`, or with other things `withheld`, is made anew, and so is, unless it
    `keeps_former`, one with deleted documents. `say` is told when the index is made anew, and how far a long update is.
    Raises `OutputError` if the cache cannot be written.
    """
    with locked(cache) as folder:
        seal, why = read_seal(folder)
        if seal is not None and not seal.holds_as_much(made_of):
            seal, why = None, "what is left out of it has changed"
        if why:
            say(f"search index: {why}, so it is made anew")
        job = _Job(cards=cards, text_of=text_of, analyzer=analyzer, say=say, keeps_former=keeps_former)
        seal = _update(folder, seal, job, made_of)
        return open_reader(folder, seal)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What an update is made with."""

    cards: Sequence[Card]
    text_of: TextOf
    analyzer: Analyzer
    say: Say
    keeps_former: bool


def _update(folder: Path, seal: IndexSeal | None, job: _Job, new: IndexSeal) -> IndexSeal:
    """Bring an index up to date, made anew without a seal; the new seal lacks the newest date."""
    cards = job.cards
    now = {f"{card.kind}/{card.id}": card.digest for card in cards}
    known = _read_digests(folder) if seal else None
    changed = [card for card in cards if (known or {}).get(key := f"{card.kind}/{card.id}") != now[key]]
    former = [key for key in known or () if (known or {})[key] != now.get(key)]
    if seal is not None and known is not None and not changed and not former:
        new = replace(new, newest=seal.newest)
        if new.inputs and seal != new:
            seal = new
            write_seal(folder, seal)
        return seal
    if former and not job.keeps_former:
        known, former, changed = None, [], list(cards)
    if known is None:
        if folder.is_dir():
            shutil.rmtree(folder)
        folder.unlink(missing_ok=True)
        folder.mkdir()
        found = index.create_in(str(folder), schema())
    else:
        break_seal(folder)
        found = index.open_dir(str(folder), schema=schema())
    # As files of their own: what lies in a compound file Whoosh copies into memory whenever it is opened.
    _write_documents(found.writer(limitmb=128, compound=False), former, changed, job)
    write_file(folder / DIGESTS, json.dumps(now))
    newest = max((card.date for card in cards if card.date is not None), default=None)
    seal = replace(new, newest=newest)
    write_seal(folder, seal)
    return seal


def _read_digests(folder: Path) -> dict[str, str] | None:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        value = json.loads((folder / DIGESTS).read_text())
        return value if isinstance(value, dict) else None
    return None


def _write_documents(writer: Any, former: Iterable[str], changed: Sequence[Card], job: _Job) -> None:
    for key in former:
        writer.delete_by_term("key", key)
    for number, card in enumerate(changed):
        if number % OFTEN == 0 and len(changed) >= OFTEN:
            job.say(f"search index: {number:,} of {len(changed):,} artifacts")
        for document in documents(card, job.text_of):
            writer.add_document(**_fields_of(document, job.analyzer))
    writer.commit()


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
        "day": card.day,
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
        "facts": (json.dumps(facts), zlib.compress(document.shown().encode("utf-8", "replace"), 1)),
    }


def _order_of(document: SearchDocument) -> bytes:
    """`SearchDocument.order` as bytes that sort alike: no id holds a NUL, and UTF-8 sorts as its characters do."""
    undated, date, id_, kind, turn, is_tools = document.order
    head = bytes([undated]) + (date + 2**63).to_bytes(8, "big")
    return head + f"{id_}\0{kind}\0".encode() + turn.to_bytes(4, "big") + bytes([is_tools])
