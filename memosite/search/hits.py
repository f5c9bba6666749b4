"""Hits: what is shown of a document that a query finds, and the order in which hits stand."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memosite.search.excerpt import ExcerptPiece, make_excerpt
from memosite.search.lines import read_lines
from memosite.search_language.analyzer import Analyzer
from memosite.search_language.syntax import Words

if TYPE_CHECKING:
    from memosite.search.documents import SearchDocument

_WAITED_FOR = 20
_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing found. `file` is its page's file below the site, with the anchor of the passage that `excerpt` shows.

    `date` is ISO 8601 in UTC, `day` the writer's day, as pages show it; both are "" for none. `status` is the state of
    a memo's action or the status of another item. `waits_for` are the ids, with spaces, of the first of those `waiting`
    who owe an answer, `owing` says so in words.
    """

    kind: str
    id: str
    turn: int
    system: str
    subject: str
    label: str
    who: str
    day: str
    date: str
    file: str
    path: str
    excerpt: tuple[ExcerptPiece, ...]
    status: str = ""
    waits_for: str = ""
    waiting: int = 0
    owing: str = ""


def facts_of(document: "SearchDocument") -> dict[str, str | int]:
    """What a hit shows of a document, without its date and excerpt; an index keeps it."""
    card = document.card
    return {
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
        "status": card.status,
        "waits_for": " ".join(card.waits_for[:_WAITED_FOR]),
        "waiting": len(card.waits_for),
        "owing": card.owing,
    }


def make_hit(
    facts: Mapping[str, str | int], date: int | None, shown: str, wanted: Collection[Words], analyzer: Analyzer
) -> Hit:
    """A hit of `facts_of` a document, its date in milliseconds since 1970 and its `written_lines`."""
    excerpt = make_excerpt(read_lines(shown), wanted, analyzer)
    file = f"{facts['file']}#{excerpt.anchor}" if excerpt.anchor else facts["file"]
    known = {**facts, "file": file}
    return Hit(**known, date=_written(date), excerpt=excerpt.pieces)  # type: ignore[arg-type] # as `facts_of` made them


def _written(date: int | None) -> str:
    if date is None:
        return ""
    moment = _EPOCH + dt.timedelta(milliseconds=date)
    return moment.isoformat(timespec="milliseconds" if date % 1000 else "seconds") + "Z"


def order_of(document: "SearchDocument") -> bytes:
    """`SearchDocument.order` as bytes that sort alike: no id holds a NUL, and UTF-8 sorts as its characters do."""
    undated, date, id_, kind, turn, is_tools = document.order
    head = bytes([undated]) + (date + 2**63).to_bytes(8, "big")
    return head + f"{id_}\0{kind}\0".encode() + turn.to_bytes(4, "big") + bytes([is_tools])
