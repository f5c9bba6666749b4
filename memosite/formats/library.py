"""Parses memodef libraries: `.opencatalog` files that list templates and memos."""

import re
from typing import Literal

from memosite.facts.file import File
from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX, stem_of
from memosite.facts.parsed import LibraryCard, LibraryItem, Parsed
from memosite.formats.fields import Fields

NAME = "library"

LIBRARY_TYPE = "memodef:Library"

_ORG_FOLDER = "org"
_ORGDEF = re.compile(r'"(?:orgdef"\s*:|orgdef:)')
_LOOKED_AT = 100_000


def matches(file: File) -> bool:
    """Whether the file is a catalog of memodef templates or memos."""
    if not file.name.lower().endswith((CATALOG_SUFFIX, ENVELOPE_SUFFIX)):
        return False
    fields = file.json.fields
    return fields is not None and fields.get("type") == LIBRARY_TYPE


def parse(file: File) -> Parsed:
    """Read one library; its items are at the top or under `data`."""
    fields = Fields(file, file.json.fields or {})
    fields.findings.extend(file.json.findings)
    entries = fields.objects("items") or fields.object("data").objects("items")
    id_ = fields.text("id").strip() or stem_of(file.name)
    card = LibraryCard(
        file=file.facts,
        id=id_,
        name=fields.text("name").strip() or id_,
        version=fields.text("version"),
        description=fields.text("description"),
        items=tuple(_item(entry) for entry in entries),
        extra=fields.rest(ignore=("catdef", "memodef", "type")),
    )
    return Parsed(source=file.source, path=file.path, fact=card, findings=tuple(fields.findings), shelve=(file.data,))


def broken_kind(file: File) -> Literal["library", "orgdef"] | None:
    """The intended kind of a file that is not a JSON object, by its name, place and content; None if unknown."""
    name = file.name.lower()
    if not name.endswith((CATALOG_SUFFIX, ENVELOPE_SUFFIX)) or not file.text.lstrip().startswith("{"):
        return None
    said = file.text[:_LOOKED_AT]
    if _ORGDEF.search(said) or (_ORG_FOLDER in file.path.split("/")[:-1] and LIBRARY_TYPE not in said):
        return "orgdef"
    return "library" if LIBRARY_TYPE in said or name.endswith(CATALOG_SUFFIX) else None


def parse_broken(file: File, kind: Literal["library", "orgdef"]) -> Parsed:
    """Keep a catalog or an orgdef that cannot be read, to be shown raw with its findings (SPEC 2.2)."""
    id_ = stem_of(file.name) or kind
    card = LibraryCard(file=file.facts, id=id_, name=id_, version="", description="", items=(), broken=kind)
    return Parsed(source=file.source, path=file.path, fact=card, findings=file.json.findings, shelve=(file.data,))


def _item(fields: Fields) -> LibraryItem:
    id_ = fields.text("id").strip()
    return LibraryItem(
        id=id_,
        name=fields.text("name").strip() or id_,
        version=fields.text("version"),
        description=fields.text("description"),
        file=fields.text("file").strip(),
        extra=fields.rest(),
    )
