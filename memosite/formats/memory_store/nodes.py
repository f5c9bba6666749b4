"""Parses nodes of a memory-store: JSON sidecars, with Markdown bodies in separate files.

What the store's schemas demand of a sidecar and it lacks is an error; whatever it holds is shown (SPEC 2.2).
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from memosite.facts.file import File, clean_text, shown
from memosite.facts.parsed import Parsed, RecordCard, RecordCitation, RecordFile
from memosite.facts.texts import one_line
from memosite.formats.fields import Fields, canonical_json
from memosite.formats.memory_store import rules as store_rules
from memosite.formats.memory_store.parts import KINDS, file_findings, hashed_bytes, is_node_id, key_of_path
from memosite.formats.memory_store.places import store_of

STATUSES = ("active", "open", "closed", "stale", "superseded")
"""Statuses of nodes. Questions are open or closed, everything else is active; both become stale or superseded."""

STAGES = ("idea", "building", "shipped", "paused", "dead")
"""Stages of features; no other kind has one."""

_CLAUSE = "memory-store reference, Sidecar fields; SPEC 2.2"
_TELLS = ("id", "type", "status", "title", "body_path", "content_hash")
_QUESTION, _FEATURE = "question", "feature"
_LINKED_EVIDENCE = ("memory", "relation", "file", "source")
_WRITTEN_ID = re.compile(r'"id"\s*:\s*"([^"\\]{1,200})"')


def is_node(file: File) -> bool:
    """Whether a file is a sidecar, or was meant to be one and cannot be read."""
    values = file.json.fields
    if values is None:
        return '"body_path"' in file.text or '"content_hash"' in file.text
    return sum(name in values for name in _TELLS) >= 3


def parse_node(file: File) -> Parsed:
    """Read a sidecar. One that cannot be read is a record all the same, known by its place, shown as it is."""
    if file.json.fields is None:
        return _parsed(file, _broken_card(file), file_findings(file))
    fields = Fields(file, file.json.fields, clause=_CLAUSE)
    fields.findings.extend(file_findings(file))
    card = _read_card(fields, file.json.fields)
    return _parsed(file, card, fields.findings)


def _parsed(file: File, card: RecordCard, findings: list[Any]) -> Parsed:
    fact = RecordFile(system="memory-store", file=file.facts, records=(card,))
    return Parsed(source=file.source, path=file.path, fact=fact, findings=tuple(findings), shelve=(file.data,))


def _broken_card(file: File) -> RecordCard:
    """The card of a sidecar that is not JSON: its id, if it can be found, and the body beside it."""
    written = next((id_ for id_ in _WRITTEN_ID.findall(file.text) if is_node_id(id_)), None)
    key = written or key_of_path(file.path)
    _, below = store_of(file.path) or ("", file.path)
    kind = key.partition(".")[0]
    return RecordCard(
        system="memory-store",
        key=key,
        file=file.facts,
        type=kind if kind in KINDS else "",
        title=title_of_key(key),
        extra=file.markdown,
        body_path=f"{posixpath.splitext(below)[0]}.md",
    )


def title_of_key(key: str) -> str:
    """The title of a node without one: its id without the kind, as words."""
    return key.partition(".")[2].replace("-", " ") or key


def _read_card(fields: Fields, values: dict[str, Any]) -> RecordCard:
    id_, type_ = fields.text("id", required=True).strip(), fields.text("type", required=True).strip()
    title, status = one_line(fields.text("title", required=True)), fields.text("status", required=True).strip()
    stage = fields.optional_text("stage")
    _check_id(fields, id_, type_)
    _check_values(fields, type_, status, stage)
    key = id_ or key_of_path(fields.file.path)
    evidence = tuple(read_evidence(fields))
    origin, facets = fields.object("origin"), fields.object("facets")
    rows = (
        *_rows("Source", fields.object("source"), "task"),
        *(("Evidence", f"{kind}: {name}{others}") for kind, name, others in evidence),
        *_rows("Origin", origin, "locator"),
        *_scope_rows(fields.object("scope")),
        *((label_of(name), value_text(facets.peek(name))) for name in facets.names_written if facets.has(name)),
    )
    anchors = fields.strings("anchors")
    named = (name for kind, name, _ in evidence if kind in _LINKED_EVIDENCE)
    located = (origin.text("locator"),) if origin.peek("kind") == "file" else ()
    mentions = (*named, *located, *facets.quiet().strings("applies_to"), *anchors)
    created, _ = fields.moment("created_at", required=True)
    modified, _ = fields.moment("updated_at", required=True)
    return RecordCard(
        system="memory-store",
        key=key,
        file=fields.file.facts,
        type=type_,
        title=title or title_of_key(key),
        status=status or None,
        stage=stage,
        created=created,
        modified=modified,
        fields=rows,
        superseded_by=fields.optional_text("superseded_by"),
        mentions=tuple(dict.fromkeys(name for name in mentions if name.strip())),
        anchors=anchors,
        citations=_citations(origin),
        tags=tuple(dict.fromkeys(tag for written in fields.strings("tags") if (tag := one_line(written)))),
        body_path=_body_path(fields),
        hash_written=fields.text("content_hash", required=True).strip() or None,
        hashed=hashed_bytes(values),
        extra=fields.rest(),
    )


def _check_id(fields: Fields, id_: str, type_: str) -> None:
    if id_ and not is_node_id(id_):
        fields.note(store_rules.ID, f'"id" is "{shown(id_)}", expected the form kind.slug', "id")
    elif id_ and type_ and id_.partition(".")[0] != type_:
        fields.note(store_rules.ID, f'"id" is "{shown(id_)}", but "type" is "{shown(type_)}"', "id")


def _check_values(fields: Fields, type_: str, status: str, stage: str | None) -> None:
    if type_ and type_ not in KINDS:
        fields.note(store_rules.VALUE, f'"type" is "{shown(type_)}", which is not a kind of node', "type")
    unfit = () if type_ not in KINDS else ("active",) if type_ == _QUESTION else ("open", "closed")
    allowed = tuple(one for one in STATUSES if one not in unfit)
    if status and status not in allowed:
        whose = f"of a {type_}" if type_ in KINDS else "of a node"
        fields.note(
            store_rules.VALUE, f'"status" {whose} is "{shown(status)}", expected {", ".join(allowed)}', "status"
        )
    if stage is None:
        return
    if type_ in KINDS and type_ != _FEATURE:
        fields.note(store_rules.VALUE, f'"stage" is in a {type_}; only features have one', "stage")
    elif stage not in STAGES:
        fields.note(store_rules.VALUE, f'"stage" is "{shown(stage)}", expected {", ".join(STAGES)}', "stage")


def _body_path(fields: Fields) -> str | None:
    """The path of the body below the store, None with a finding if it leads anywhere else."""
    written = fields.text("body_path", required=True).strip()
    if not written:
        return None
    path = posixpath.normpath(written)
    if not (path.startswith("memory/") and path.endswith(".md")):
        message = f'"body_path" is "{shown(written, 120)}", expected memory/….md below the store'
        fields.note(store_rules.BODY_PATH, message, "body_path")
        return None
    own, its = (posixpath.splitext(posixpath.basename(one))[0] for one in (fields.file.path, path))
    if own != its:
        message = f'"body_path" is "{shown(written, 120)}", expected the sidecar\'s own name'
        fields.note(store_rules.BODY_PATH, message, "body_path")
    return path


def read_evidence(fields: Fields) -> Iterator[tuple[str, str, str]]:
    """Each piece of evidence: its kind, its id, and in words whatever else it says."""
    for child in fields.objects("evidence"):
        kind, id_ = one_line(child.text("kind", required=True)), one_line(child.text("id", required=True))
        yield (
            kind,
            id_,
            "".join(f", {label_of(name).lower()}: {value_text(value)}" for name, value in child.left().items()),
        )


def _rows(label: str, child: Fields, main: str) -> Iterator[tuple[str, str]]:
    """An object of the sidecar as rows: its kind with what matters most, then the others, each by its name."""
    if not child.names_written:
        return
    child.text("kind", required=True)
    first = ": ".join(filter(None, (value_text(child.peek("kind")), value_text(child.peek(main)))))
    if first:
        yield label, first
    for name in child.names_written:
        if name not in {"kind", main} and child.has(name):
            yield f"{label} {label_of(name).lower()}", value_text(child.peek(name))


def _scope_rows(scope: Fields) -> Iterator[tuple[str, str]]:
    kind = scope.peek("kind")
    return _rows("Scope", scope, kind if isinstance(kind, str) else "project")


def label_of(name: str) -> str:
    """A field's name as the label of a row."""
    return one_line(clean_text(name)).replace("_", " ").capitalize()


def value_text(value: Any) -> str:
    """A value of the JSON on one line; texts and lists of texts as they are, everything else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return one_line(clean_text(value))
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return ", ".join(one_line(clean_text(entry)) for entry in value)
    return one_line(clean_text(canonical_json(value).decode("utf-8")))


def _citations(origin: Fields) -> tuple[RecordCitation, ...]:
    """The address that a record was made from, if it came from one."""
    url = origin.quiet().text("locator").strip()
    if origin.peek("kind") != "url" or not url:
        return ()
    date, note = (value_text(origin.peek(name)) for name in ("captured_at", "media_type"))
    return (RecordCitation(title=url, url=url, type="origin", date=date, note=note),)
