"""Reads the setting `erase`: what is published without its content (SPEC 9)."""

import unicodedata
from collections.abc import Mapping
from typing import get_args

from memosite.config.policy import Erasure
from memosite.config.schema import ConfigEntry, quote
from memosite.facts.names import make_id
from memosite.facts.parsed import Kind

_KINDS: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}
_ID = f"an id as in the address of a page, or <kind>/<id> with one of {', '.join(_KINDS)}"


def read_erase(entry: ConfigEntry) -> tuple[Erasure, ...]:
    """What is erased, each artifact once."""
    found: dict[str, Erasure] = {}
    for item in entry.items("a list of {id, why, on}"):
        erasure = _erasure(item)
        if erasure.name in found:
            raise item.error(f"{quote(erasure.name)} twice", "it once", "remove one of the two")
        found[erasure.name] = erasure
    return tuple(found.values())


def _erasure(entry: ConfigEntry) -> Erasure:
    fields = entry.fields(("id", "why", "on", "secret"))
    for name in ("id", "why", "on"):
        if name not in fields:
            raise entry.error(f"no {name}", "{id, why, on}, such as {id: …, why: asked for, on: 2026-05-20}")
    text = fields["id"].text(_ID)
    kind, slash, id_ = unicodedata.normalize("NFC", text).rpartition("/")
    if (slash and kind not in _KINDS) or any(make_id(part) != part for part in id_.split("~")):
        raise fields["id"].error(quote(text), _ID)
    return Erasure(
        id=id_,
        kind=_KINDS.get(kind),
        why=fields["why"].prose(),
        on=fields["on"].date()[:10],
        is_secret="secret" in fields and fields["secret"].flag(),
        line=entry.line,
    )
