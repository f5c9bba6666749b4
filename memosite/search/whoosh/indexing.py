"""[I/O] Makes the search index from the former one: only what changed is indexed again.

cards ──► compare digests with those indexed ──► documents of what changed ──► Whoosh, in a copy ──► put in place
"""

import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whoosh import index

from memosite.search.documents import Card, SearchDocument, TextOf, documents, positions_of
from memosite.search.hits import facts_of, order_of
from memosite.search.lines import lines_of, written_lines
from memosite.search.whoosh.fields import UNDATED, schema
from memosite.search.whoosh.index import (
    IndexSeal,
    plan_index,
    put_in_place,
    read_digests,
    read_seal,
    write_digests,
    write_seal,
)
from memosite.search_language.analyzer import Analyzer
from memosite.store.cache import INDEX_FOLDER

OFTEN = 1_000
"""After so many artifacts it is said how far indexing is."""

Say = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
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
    plan_index(partial, made_of)
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
    write_digests(partial, now)
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
        "order": order_of(document),
        "facts": (json.dumps(facts_of(document)), zlib.compress(shown, 1)),
    }
