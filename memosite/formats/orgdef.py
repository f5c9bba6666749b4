"""Parses orgdefs: the organization, in the `.openthing` shape (`positions[]`) and the `.opencatalog` shape (`items[]`).

Unknown types of relationships are shown and never a finding (SPEC 2.2); roles and jobs among the items are listed
as they are, for the tools they are made for.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from memosite.facts import rules
from memosite.facts.file import File, most_positions
from memosite.facts.json_text import clean_text, key_places, shown
from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX, read_reference, stem_of
from memosite.facts.parsed import LibraryCard, Organization, Parsed, Relationship, Seat
from memosite.facts.texts import cut_line, describe_text, one_line
from memosite.facts.values import replace
from memosite.formats.fields import Fields
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS

ORGANIZATION_TYPE = "orgdef:Organization"
POSITION_TYPE = "orgdef:Position"

_STATUSES = ("staffed", "vacant", "shared", "informal")
_HOLDER_NAMES = ("name", "identifier", "identity", "id", "session_arc", "session", "email")
_MEMO_LOCATION = "x.org.memo_location"
_NOT_CHARTER = ("catdef", "orgdef", "type", "data")


def matches(file: File) -> bool:
    """Whether the file describes an organization, by its type or by what an orgdef without one holds."""
    fields = file.json.fields
    if fields is None or not file.name.lower().endswith((ENVELOPE_SUFFIX, CATALOG_SUFFIX)):
        return False
    type_ = fields.get("type")
    if type_ == ORGANIZATION_TYPE:
        return True
    is_listing = isinstance(fields.get("positions"), list) or isinstance(fields.get("items"), list)
    return type_ is None and "orgdef" in fields and is_listing


def parse(file: File) -> Parsed:
    """Read one organization."""
    fields = Fields.of_file(file)
    _, type_ = fields.value("type")
    if type_ is None:
        fields.note(rules.FIELD_MISSING, f'"type" is missing; it must be "{ORGANIZATION_TYPE}"')
    entries = fields.objects("positions")
    items = fields.objects("items") or fields.object("data").objects("items")
    entries += tuple(item for item in items if item.peek("type") == POSITION_TYPE)
    id_ = fields.text("id", required=True).strip() or stem_of(file.name)
    seats = _seats(entries)
    most = most_positions(len(file.text), ((seat.id, seat.name) for seat in seats))
    rest, data = _rest(file, entries, seats[most].id) if len(seats) > most else (None, b"")
    if rest is not None:
        message = f"it holds {len(seats):,} positions; those after the first {most} are shown unchanged"
        fields.findings.append(file.finding(rules.FILE_BOUNDED, message))
    organization = Organization(
        id=id_,
        name=fields.text("name").strip() or id_,
        source=file.source,
        path=file.path,
        version=fields.text("version"),
        mission=fields.text("mission"),
        seats=seats[:most],
        more_seats=seats[most:],
        rest=rest,
        relationships=tuple(
            relationship for child in fields.objects("relationships") if (relationship := _relationship(child))
        ),
        memo_locations=_memo_locations(fields),
        charter=(*_charter(fields), *_others(items)),
    )
    return fields.parsed(organization, *((file.data, data) if rest else ()))


def _rest(file: File, entries: tuple[Fields, ...], id_: str) -> tuple[LibraryCard, bytes]:
    """The file from the position of this id on, as it is, and the bytes of this text."""
    place = next(entry.place for entry in entries if entry.text("id").strip() == id_)
    start = next((offset for keys, offset in key_places(file.text) if keys == place), 0)
    known, data = describe_text(clean_text(file.text[start:]), RECORD_IDS)
    card = LibraryCard(
        file=file.facts,
        id=f"rest.{stem_of(file.name)}",
        name=cut_line(f"The rest of {file.name}", 300),
        rest=replace(known, mentions=(), destinations=()),
    )
    return card, data


def _memo_locations(fields: Fields) -> tuple[str, ...]:
    """Where memos are: the string itself, or what an object says as its convention and its path (SPEC 2.2, orgdef)."""
    _, value = fields.value(_MEMO_LOCATION)
    if not isinstance(value, dict):
        said = [fields.optional_text(_MEMO_LOCATION)]
    else:
        said = [text for name in ("convention", "path") if isinstance(text := value.get(name), str)]
        if not said:
            fields.wrong_type(_MEMO_LOCATION, value, "a string, or an object with a convention or a path")
    return tuple(text for one in said if one and (text := clean_text(one).strip()))


def _seats(entries: tuple[Fields, ...]) -> tuple[Seat, ...]:
    seats: dict[str, Seat] = {}
    for entry in entries:
        id_ = entry.text("id").strip()
        if not id_:
            if isinstance(entry.peek("id"), str | None):
                entry.note(rules.ORG_FIELD, f'position "{shown(entry.text("name"))}" has no id')
        elif id_ in seats:
            entry.note(rules.ORG_DUPLICATE, f'the position id "{shown(id_)}" occurs twice; the first one counts', "id")
        else:
            seats[id_] = _seat(entry, id_)
    return tuple(seats.values())


def _seat(fields: Fields, id_: str) -> Seat:
    status = fields.optional_text("status")
    if status is not None and status not in _STATUSES:
        expected = ", ".join(_STATUSES)
        message = f'position "{shown(id_)}" has status "{shown(status)}", expected {expected}'
        fields.note(rules.ORG_FIELD, message, "status")
    incumbent, kind = _incumbent(fields)
    return Seat(
        id=id_,
        name=fields.text("name").strip() or id_,
        status=status,
        incumbent=incumbent,
        incumbent_kind=kind,
        description=fields.text("description"),
        role_id=_role_id(fields),
        working_directory=fields.optional_text("x.position.working_directory"),
        extra=fields.rest(ignore=("type",), keep=tuple(_told_in_part(fields))),
    )


def _told_in_part(fields: Fields) -> Iterator[str]:
    """The fields of a position that pages show only in part."""
    yield "x.position.working_directory"
    incumbent, role = fields.peek("incumbent"), fields.peek("role_definition")
    if isinstance(incumbent, list) or (isinstance(incumbent, dict) and len(incumbent.keys() - {"kind", "type"}) > 1):
        yield "incumbent"
    if (len(role) > 1) if isinstance(role, dict) else isinstance(role, str) and role != _role_id(fields.quiet()):
        yield "role_definition"


def _incumbent(fields: Fields) -> tuple[str | None, str | None]:
    """Who holds the position, and the kind of holder; any shape of object is understood (SPEC 2.2).

    Several in an array are joined, with a finding; their kind is kept if they share one, else `shared` if one is human.
    """
    _, value = fields.value("incumbent")
    if not isinstance(value, list):
        if value is not None and not isinstance(value, str | dict):
            fields.wrong_type("incumbent", value, "a string or an object")
        return _holder(value)
    fields.wrong_type("incumbent", value, "a string or an object")
    holders = [_holder(item) for item in value]
    kinds = {kind for _, kind in holders}
    shared = "shared" if any((kind or "").casefold() == "human" for kind in kinds) else None
    return ", ".join(name for name, _ in holders if name) or None, kinds.pop() if len(kinds) == 1 else shared


def _holder(value: Any) -> tuple[str | None, str | None]:
    if isinstance(value, str):
        return clean_text(value).strip() or None, None
    if not isinstance(value, dict):
        return None, None
    kind = next((said for said in (_said(value, "kind"), _said(value, "type")) if said), None)
    name = next((said for key in _HOLDER_NAMES if (said := _said(value, key))), None)
    if name is None:
        others = {key: entry for key, entry in value.items() if key not in {"kind", "type"} and entry is not None}
        name = ", ".join(f"{key}: {_inline(entry)}" for key, entry in others.items()) or kind
    return name, kind


def _said(value: dict[str, Any], key: str) -> str:
    text = value.get(key)
    return clean_text(text).strip() if isinstance(text, str) else ""


def _role_id(fields: Fields) -> str | None:
    """The id of the role's definition; one given as an address or a path is named by its file."""
    _, value = fields.value("role_definition")
    if isinstance(value, str):
        return read_reference(value)
    return fields.object("role_definition").optional_text("id") if value is not None else None


def _relationship(fields: Fields) -> Relationship | None:
    type_, sender, to = (fields.text(name).strip() for name in ("type", "from", "to"))
    if type_ and sender and to:
        description = fields.text("description")
        return Relationship(type=type_, sender=sender, to=to, description=description, extra=fields.rest())
    missing = [name for name, text in (("type", type_), ("from", sender), ("to", to)) if not text]
    if all(isinstance(fields.peek(name), str | None) for name in missing):
        fields.note(rules.ORG_FIELD, f"a relationship lacks {', '.join(missing)}; it needs type, from and to")
    return None


def _charter(fields: Fields) -> tuple[tuple[str, str], ...]:
    """The fields not read so far, as Markdown by heading, in the order written; call it last."""
    left = fields.left(ignore=_NOT_CHARTER, keep=(_MEMO_LOCATION,))
    texts = ((name, _markdown(value)) for name, value in left.items())
    return tuple((clean_text(name).replace("_", " "), text) for name, text in texts if text)


def _others(items: tuple[Fields, ...]) -> Iterator[tuple[str, str]]:
    """The items that are no positions, such as roles and jobs, as a list for each type."""
    found: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        type_ = item.peek("type")
        if type_ != POSITION_TYPE:
            name = one_line(clean_text(type_)) if isinstance(type_, str) else ""
            found[name or "Other items"].append(item.left(ignore=("type",)))
    return ((name, _markdown(values)) for name, values in found.items())


def _markdown(value: Any) -> str:
    """A text as it is; a list or an object as a list of what is in it, nested one level deeper."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return "\n".join(f"- {_item(item)}" for item in value)
    if not isinstance(value, dict):
        return _inline(value)
    lines = []
    for name, entry in value.items():
        if isinstance(entry, list):
            lines += [f"- **{_inline(name)}**", *(f"  - {_item(item)}" for item in entry)]
        else:
            lines.append(f"- **{_inline(name)}** {_item(entry)}".rstrip())
    return "\n".join(lines)


def _item(value: Any) -> str:
    """One entry of a charter's list on one line: what it is called in bold, then what it says."""
    if not isinstance(value, dict):
        return _inline(value)
    head = next((said for key in ("name", "rule", "pattern", "role", "id") if (said := _said(value, key))), "")
    rest = " ".join(_inline(entry) for entry in value.values() if entry is not None and _inline(entry) != _inline(head))
    return f"**{_inline(head)}** {rest}".rstrip() if head else rest


def _inline(value: Any) -> str:
    """Any value on one line: a text as it is, anything deeper as JSON."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(clean_text(text).split())


ADAPTER = Adapter(matches, parse)
