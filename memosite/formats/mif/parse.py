"""Parses MIF records: `*.memory.md` of MIF 0.1, plain Markdown of MIF 1.0, one record a file (SPEC 2.2, mif).

A `*.memory.md` is a record by an `id`, or a `type` of MIF, beside another of its required fields; other Markdown by
`id`, `created` and a `type` of MIF together. What 0.1 demands and 1.0 does not is asked of 0.1 only.
"""

import re
from dataclasses import dataclass, replace

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.json_text import shown
from memosite.facts.names import BODY_SUFFIX
from memosite.facts.parsed import Parsed, RecordCard, RecordFile, Relation
from memosite.facts.texts import cut_line, describe_text, one_line, summarize
from memosite.facts.times import Moment, read_moment
from memosite.formats.mif import rules as mif_rules
from memosite.formats.mif.fields import MifFields
from memosite.formats.mif.links import BodyLinks, read_body
from memosite.formats.mif.places import SUFFIX
from memosite.formats.mif.sources import (
    read_citations,
    read_code,
    read_entities,
    read_ontology,
    read_provenance,
    read_relations,
)
from memosite.formats.mif.times import FieldRow, read_times, show_moment
from memosite.formats.yaml_text import YAML_CHARS, Head, read_yaml, split_head

NAME = "mif"

TYPES = ("semantic", "episodic", "procedural")
URN = "urn:mif:"

_MARKDOWN = ".md"
_BEGINNINGS = (b"---", b"\xef\xbb\xbf---")
_LONGEST_KEY = 500
_SHAPE = re.compile(
    r"""^(?P<quote>["']?)(?P<name>id|type|namespace|created|title)(?P=quote)[ \t]*:[ \t]+(?P<value>\S[^\n]*)$""",
    re.MULTILINE,
)
_V1_NAMES = frozenset(
    {
        *("@type", "entityType", "citationType", "citationRole", "compressedAt"),
        *("validFrom", "validUntil", "recordedAt", "accessCount", "lastAccessed"),
        *("sourceType", "sourceRef", "trustLevel", "agentVersion"),
    }
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_UUID_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_UUID_IN_NAME = re.compile(rf"{_UUID.pattern}[-_. ]*", re.IGNORECASE)
_NAMESPACE = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)+")


def matches(file: File) -> bool:
    """Whether the file is a record, by the fields at its head."""
    return _record_head(file) is not None


def parse(file: File) -> Parsed:
    """Read one record. The text on the shelf is without its frontmatter."""
    head = _record_head(file)
    if head is None:
        return Parsed(source=file.source, path=file.path)
    yaml = read_yaml(head.source, line=head.line)
    broken = [Finding(rule=one.rule, location=file.at(one.line), message=one.message) for one in yaml.problems]
    if not head.is_closed:
        message = "the frontmatter is not closed; expected a line --- after its fields"
        broken.append(Finding(rule=rules.FRONTMATTER_INVALID, location=file.at(head.line - 1), message=message))
    has_later_names = any(name in _V1_NAMES for path in yaml.lines for name in path)
    is_early = file.name.lower().endswith(SUFFIX) and not has_later_names
    fields = MifFields(file, yaml, yaml.fields)
    card, data = _read_card(file, fields, head.body, is_early=is_early)
    return Parsed(
        source=file.source,
        path=file.path,
        fact=RecordFile(system="mif", file=file.facts, records=(card,)),
        findings=(*file.text_findings, *broken, *fields.findings),
        shelve=(file.data, data),
    )


def _record_head(file: File) -> Head | None:
    """The frontmatter of a record; None if the file is none. It goes by lines, so that broken YAML counts too."""
    name = file.name.lower()
    if not name.endswith(_MARKDOWN) or name.endswith(BODY_SUFFIX) or not file.data.startswith(_BEGINNINGS):
        return None
    head = split_head(file.markdown)
    if head is None:
        return None
    written = {match["name"]: _bare(match["value"]) for match in _SHAPE.finditer(head.source[:YAML_CHARS])}
    has_type = written.get("type") in TYPES
    if not name.endswith(SUFFIX):
        return head if has_type and head.is_closed and "id" in written and "created" in written else None
    if has_type or "id" in written:
        return head if written.keys() - {"title", "id" if "id" in written else "type"} else None
    return None


def _bare(value: str) -> str:
    """A value without quotes and comment."""
    return re.sub(r"\s#.*", "", value).strip().strip("\"'")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Identity:
    """The fields that every record has."""

    key: str
    type: str
    namespace: str
    title: str
    created: Moment | None
    modified: Moment | None


def _read_card(file: File, fields: MifFields, body: str, *, is_early: bool) -> tuple[RecordCard, bytes]:
    links = read_body(body)
    one = _read_identity(file, fields, links, is_early=is_early)
    times = read_times(fields, created=one.created, modified=one.modified, is_early=is_early)
    origin, code = read_provenance(fields), read_code(fields)
    citations, cited = read_citations(fields, is_early=is_early)
    relations, strengths = read_relations(fields, links.relations)
    ontology, summary, related = read_ontology(fields), fields.text("summary"), fields.texts("related")
    rows = (
        ("Summary", summary),
        *times,
        *origin.rows,
        *(("Code", told) for _, told in code),
        *cited,
        *strengths,
        *ontology,
        ("Also known as", ", ".join(fields.texts("aliases"))),
        ("Related", ", ".join(related)),
        _compressed(fields),
    )
    known, data = describe_text(body)
    head_line = {links.title_line} if links.title_line is not None else set()
    said = summary or "\n".join(line for number, line in enumerate(body.split("\n")) if number not in head_line)
    card = RecordCard(
        system="mif",
        key=one.key,
        file=file.facts,
        type=one.type,
        title=one.title,
        text=replace(known, summary=summarize(said)),
        status=fields.text("status") or None,
        namespace=one.namespace or None,
        created=one.created,
        modified=one.modified,
        sessions=origin.sessions,
        fields=tuple(row for row in rows if row[1]),
        relations=relations,
        superseded_by=_superseded_by(fields, relations),
        mentions=tuple(dict.fromkeys((*related, *links.mentions))),
        anchors=tuple(place for place, _ in code),
        citations=citations,
        entities=read_entities(fields, links.entities),
        tags=_read_tags(fields, is_early=is_early),
        extra=fields.rest(),
    )
    return card, data


def _read_identity(file: File, fields: MifFields, links: BodyLinks, *, is_early: bool) -> _Identity:
    id_, type_ = fields.text("id"), fields.text("type")
    namespace, title = fields.text("namespace"), fields.text("title")
    created = _read_created(fields)
    modified, _ = fields.moment("modified")
    _check_id(fields, id_, is_early=is_early)
    if type_ not in TYPES and not fields.is_unread("type"):
        fields.note(
            mif_rules.TYPE,
            f'"type" {_was(fields, "type", type_)}, expected {", ".join(TYPES[:-1])} or {TYPES[-1]}',
            "type",
        )
    if is_early:
        if not _NAMESPACE.fullmatch(namespace) and not fields.is_unread("namespace"):
            fields.note(
                mif_rules.NAMESPACE,
                f'"namespace" {_was(fields, "namespace", namespace)}, expected namespace/scope',
                "namespace",
            )
        if not title and not fields.is_unread("title"):
            fields.note(mif_rules.TITLE, '"title" is missing or empty; it must be a text for people', "title")
    stem = file.name[: -len(SUFFIX if file.name.lower().endswith(SUFFIX) else _MARKDOWN)]
    named = (
        title
        or summarize(links.title).replace("*", "")
        or one_line(re.sub(r"[-_]+", " ", _UUID_IN_NAME.sub("", stem, count=1)))
    )
    return _Identity(
        key=id_.removeprefix(URN)[:_LONGEST_KEY] or one_line(stem) or file.name,
        type=type_ or "untyped",
        namespace=namespace,
        title=cut_line(named or file.name, 300),
        created=created,
        modified=modified,
    )


def _was(fields: MifFields, name: str, value: str) -> str:
    return f'is "{shown(value)}"' if value else "is no text" if fields.has(name) else "is missing"


def _check_id(fields: MifFields, id_: str, *, is_early: bool) -> None:
    if fields.is_unread("id"):
        return
    if not id_:
        fields.note(mif_rules.ID, '"id" is missing; the name of the file is taken for it', "id")
    elif is_early and not _UUID_4.fullmatch(id_):
        fields.note(mif_rules.ID, f'"id" is "{shown(id_)}", expected a lowercase UUID of version 4', "id")
    elif not is_early and not _UUID.fullmatch(id_.removeprefix(URN)):
        fields.note(mif_rules.ID_FORM, f'"id" is "{shown(id_)}", expected a UUID', "id")


def _read_created(fields: MifFields) -> Moment | None:
    text = fields.text("created")
    created = read_moment(text)
    if created is None:
        if not fields.is_unread("created"):
            fields.note(mif_rules.CREATED, f'"created" {_was(fields, "created", text)}, expected ISO 8601', "created")
    elif created.offset is None:
        fields.note(rules.DATE_WITHOUT_ZONE, f'"created" is "{shown(text)}", which names no zone', "created")
    return created


def _read_tags(fields: MifFields, *, is_early: bool) -> tuple[str, ...]:
    tags = fields.numbered_texts("tags")
    for number, tag in tags if is_early else ():
        if tag != tag.lower() or not all(char == "-" or char.isalnum() for char in tag):
            fields.note(mif_rules.TAG, f'the tag "{shown(tag)}" is not in lower case with hyphens', "tags", number)
    return tuple(dict.fromkeys(tag for _, tag in tags))


def _superseded_by(fields: MifFields, relations: tuple[Relation, ...]) -> str | None:
    named = fields.target("superseded_by", "supersededBy")
    return named or next((one.target for one in relations if one.predicate == "superseded-by"), None)


def _compressed(fields: MifFields) -> FieldRow:
    moment, text = fields.moment("compressed_at", "compressedAt")
    return "Compressed", show_moment(moment) if moment else text
