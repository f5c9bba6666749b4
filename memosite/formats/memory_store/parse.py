"""Parses single files of a memory-store (`.memory/`): configuration, node, body, relation, event log.

The shapes are those of SPEC 2.2 and of the store's own schemas, versions 5 and 4, whose words are understood in any
store. `join.py` joins the parts, and says of which stores they count.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from memosite.facts.file import File, shown
from memosite.facts.json_text import NumberText
from memosite.facts.parsed import Parsed, Relation
from memosite.facts.texts import describe_text, one_line, summarize
from memosite.formats.fields import Fields
from memosite.formats.frontmatter import read_frontmatter
from memosite.formats.memory_store import rules as store_rules
from memosite.formats.memory_store.events import is_events, parse_events
from memosite.formats.memory_store.facts import StoreBody, StoreConfig, StoreRelation
from memosite.formats.memory_store.nodes import is_node, label_of, parse_node, read_evidence, value_text
from memosite.formats.memory_store.parts import StorePart, file_findings, hashed_bytes, is_relation_id, part_of
from memosite.formats.mif.places import SUFFIX

NAME = "memory-store"

VERSIONS = (4, 5)
"""The versions of the storage whose words are known."""

PREDICATES = (
    *("affects", "depends_on", "supersedes", "related_to"),
    *("requires", "conflicts_with", "supports", "challenges", "derived_from", "summarizes"),
    *("documents", "mentions", "implements"),
)
"""Predicates of relations: the four of version 5, then those of version 4 alone."""

RELATION_STATUSES = ("active", "stale", "rejected")
CONFIDENCES = ("low", "medium", "high")

_CONFIG_CLAUSE = "memory-store reference, Config; SPEC 2.2"
_RELATION_CLAUSE = "memory-store reference, Relations; SPEC 2.2"
_RELATION_TELLS = ("from", "predicate", "to")
_MIF_TYPES = ("semantic", "episodic", "procedural")


def matches(file: File) -> bool:
    """Whether the file is a part of a store, by its place below `.memory/` and its shape."""
    part = part_of(file.path)
    return part is not None and _PARTS[part][0](file)


def parse(file: File) -> Parsed:
    """Read one part of a store. What was meant to be one and cannot be read is kept, with its findings."""
    part = part_of(file.path)
    if part is None:
        return Parsed(source=file.source, path=file.path)
    return _PARTS[part][1](file)


def _is_config(file: File) -> bool:
    values = file.json.fields
    if values is None:
        return all(f'"{name}"' in file.text for name in ("project", "version"))
    return _makes_a_store(values)


def _makes_a_store(values: dict[str, Any]) -> bool:
    project, version = values.get("project"), values.get("version")
    id_ = project.get("id") if isinstance(project, dict) else None
    is_number = isinstance(version, int | float) and not isinstance(version, bool)
    return isinstance(id_, str) and not isinstance(id_, NumberText) and bool(id_.strip()) and is_number


def _parse_config(file: File) -> Parsed:
    """Read `config.json`. One that cannot be read names no project, so that its store is left alone."""
    values = file.json.fields or {}
    fields = Fields(file, values, clause=_CONFIG_CLAUSE)
    fields.findings.extend(file_findings(file))
    if not _makes_a_store(values):
        config = StoreConfig(file=file.facts, project="", name="", version=0)
        return _parsed(fields, config)
    version = values["version"]
    if version not in VERSIONS:
        message = f'"version" is {shown(str(version))}, expected 4 or 5; the store is read anyway'
        fields.note(store_rules.VERSION, message, "version")
    project = fields.object("project")
    id_ = project.text("id").strip()
    name = one_line(project.text("name")) or id_
    fields.value("version")
    left = [(f"Project {label_of(key).lower()}", value) for key, value in project.left().items()]
    left += [(label_of(key), value) for key, value in fields.left().items()]
    others = tuple((label, text) for label, value in left if (text := value_text(value)))
    return _parsed(fields, StoreConfig(file=file.facts, project=id_, name=name, version=int(version), others=others))


def _is_marker(file: File) -> bool:
    return isinstance((file.json.fields or {}).get("last_sync_commit"), str)


def _parse_marker(file: File) -> Parsed:
    """Read `sync-state.json`. One that is missing or invalid is no fault: the store's own tool does without."""
    fields = Fields(file, file.json.fields or {})
    commit = one_line(fields.quiet().text("last_sync_commit"))
    return _parsed(fields, StoreConfig(file=file.facts, project="", name="", version=0, marker=commit or None))


def _is_relation(file: File) -> bool:
    values = file.json.fields
    if values is None:
        return '"predicate"' in file.text
    return sum(name in values for name in _RELATION_TELLS) >= 2


def _parse_relation(file: File) -> Parsed:
    """Read one relation. One that cannot be read has no ends."""
    values = file.json.fields
    fields = Fields(file, values or {}, clause=_RELATION_CLAUSE)
    fields.findings.extend(file_findings(file))
    if values is None:
        relation = Relation(predicate="", target="")
        return _parsed(fields, StoreRelation(file=file.facts, id="", sender="", relation=relation))
    id_ = fields.text("id", required=True).strip()
    hash_written = fields.optional_text("content_hash")
    if id_ and not is_relation_id(id_):
        fields.note(store_rules.ID, f'"id" is "{shown(id_)}", expected the form rel.slug', "id")
    sender, target = (fields.text(name, required=True).strip() for name in ("from", "to"))
    relation = Relation(
        predicate=_word(fields, "predicate", PREDICATES, required=True) or "",
        target=target,
        status=_word(fields, "status", RELATION_STATUSES, required=True),
        confidence=_word(fields, "confidence", CONFIDENCES, required=False),
    )
    created, since = fields.moment("created_at", required=True)
    _, changed = fields.moment("updated_at", required=True)
    relation = replace(relation, label=_words_beside(fields, id_, since, changed))
    fact = StoreRelation(
        file=file.facts,
        id=id_,
        sender=sender,
        relation=relation,
        created=created,
        hash_written=hash_written,
        hashed=hashed_bytes(values),
    )
    return _parsed(fields, fact)


def _word(fields: Fields, name: str, allowed: tuple[str, ...], *, required: bool) -> str | None:
    """A field that holds one of a few words; any other is kept, with a finding."""
    word = fields.text(name, required=required).strip()
    if word and word not in allowed:
        fields.note(store_rules.VALUE, f'"{name}" is "{shown(word)}", expected {", ".join(allowed)}', name)
    return word or None


def _words_beside(fields: Fields, id_: str, since: str, changed: str) -> str:
    """What a relation says beside its ends, status and confidence: its id, days and evidence, and unknown fields."""
    parts = [one_line(id_), f"since {one_line(since)}" if since else ""]
    parts.append(f"changed {one_line(changed)}" if changed not in {"", since} else "")
    founded = ", ".join(f"{kind}: {name}{others}" for kind, name, others in read_evidence(fields))
    parts.append(f"evidence {founded}" if founded else "")
    parts += (f"{label_of(name).lower()}: {value_text(value)}" for name, value in fields.left().items() if value)
    return "; ".join(part for part in parts if part)


def _is_body(file: File) -> bool:
    """Whether a Markdown file may be a body: one that mif has made is a record of its own."""
    if file.name.lower().endswith(SUFFIX):
        return False
    matter = read_frontmatter(file.markdown)
    return not (matter.text("id") and matter.text("type").lower() in _MIF_TYPES)


def _parse_body(file: File) -> Parsed:
    """Read one body. Its summary is without the heading, which repeats the node's title."""
    text = file.markdown
    known, data = describe_text(text)
    known = replace(known, summary=summarize(_without_heading(text)) or known.summary)
    fact = StoreBody(file=file.facts, text=known)
    findings = tuple(file_findings(file))
    return Parsed(source=file.source, path=file.path, fact=fact, findings=findings, shelve=(file.data, data))


def _without_heading(text: str) -> str:
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") else text


def _parsed(fields: Fields, fact: StoreConfig | StoreRelation) -> Parsed:
    file = fields.file
    return Parsed(source=file.source, path=file.path, fact=fact, findings=tuple(fields.findings), shelve=(file.data,))


_PARTS: Mapping[StorePart, tuple[Callable[[File], bool], Callable[[File], Parsed]]] = MappingProxyType(
    {
        "config": (_is_config, _parse_config),
        "marker": (_is_marker, _parse_marker),
        "events": (is_events, parse_events),
        "relation": (_is_relation, _parse_relation),
        "node": (is_node, parse_node),
        "body": (_is_body, _parse_body),
    }
)
"""For each part, how it is known and how it is read."""
