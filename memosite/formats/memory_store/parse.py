"""Parses single files of a memory-store (`.memory/`): configuration, node, body, relation, event log (SPEC 2.2).

The shapes are those of SPEC 2.2 and of the store's own schemas, versions 5 and 4, whose words are understood in any
store. What the schemas demand of a sidecar and it lacks is an error; whatever it holds is shown. What the store's tool
generates (`index/`, `schema/`, `recovery/`, `.backup/`) is no part of it. `join` joins the parts, and says of which
stores they count.
"""

import json
import math
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, repeat
from types import MappingProxyType
from typing import Any, Self

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.json_text import HALF_PAIR, NumberText, clean_text, read_json_text, shown, type_name
from memosite.facts.parsed import (
    NOTHING_SAID,
    FileFacts,
    Parsed,
    RecordCard,
    RecordCitation,
    RecordEvent,
    RecordFile,
    RecordPart,
    Relation,
    Text,
    Withheld,
)
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, describe_text, of_which_is_said, one_line
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import replace
from memosite.formats import memory_store as store_rules
from memosite.formats.fields import FINDINGS, Fields, canonical_json
from memosite.formats.memory_store import INVERSE, KINDS, STAGES, StorePart, part_of, store_of
from memosite.formats.mif import SUFFIX, TYPES
from memosite.formats.systems import RECORD_IDS
from memosite.formats.yaml_text import read_frontmatter

# Recognizes the parts of a memory-store, and reads what they share: ids, conflict markers, hashed bytes.


_KIND_OF_FOLDER = {"syntheses": "synthesis", **{f"{kind}s": kind for kind in KINDS if kind != "synthesis"}}
_MARKER = regex(r"(?:<{7}|>{7}|\|{7}) \S.*")
_BETWEEN = "======="
_NODE_ID = regex(r"[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9-]*")
_HASH = "content_hash"
_WRITTEN_OTHERWISE = regex(r"[\U00010000-\U0010ffff]|\\u[dD][89a-fA-F]|[:,\[]\s*-?[0-9]+(?:[.eE]|[0-9]{15})")
"""What Python may write otherwise than JavaScript: characters beyond the first 65,536, fractions, large numbers."""
_HALF = regex("[\ud800-\udfff]")
_RELATION_ID = regex(r"rel\.[a-z0-9][a-z0-9-]*")


def is_node_id(text: str) -> bool:
    """Whether a text is an id of the form `kind.slug`."""
    return _NODE_ID.fullmatch(text) is not None


def is_relation_id(text: str) -> bool:
    """Whether a text is an id of the form `rel.slug`."""
    return _RELATION_ID.fullmatch(text) is not None


def key_of_path(path: str) -> str:
    """The id that a sidecar's place suggests: `memory/gotchas/tides.json` is `gotcha.tides`, a flat one its stem."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    kind = _KIND_OF_FOLDER.get(folder.rpartition("/")[2])
    return f"{kind}.{stem}" if kind else stem


def hashed_forms(file: File) -> tuple[bytes, ...]:
    """The canonical JSON that a content hash may be made over (SPEC 2.2): all fields but the hash itself.

    The store's tool is written in JavaScript, so numbers and strings are as that writes them. Versions of the tool sort
    keys by UTF-16 or by code points; where these differ, there are two forms.
    """
    if not _WRITTEN_OTHERWISE.search(file.text):
        return (canonical_json({name: value for name, value in (file.json.fields or {}).items() if name != _HASH}),)
    halves = any(finding.message == HALF_PAIR for finding in file.json.findings)
    values = read_json_text(file.text, mends=False)[0] if halves else file.json.fields
    hashed = {name: value for name, value in (values or {}).items() if name != _HASH}
    return tuple({json_of_javascript(hashed, order): None for order in (_utf_16, str)})


def _utf_16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def json_of_javascript(value: Any, order: Callable[[str], Any]) -> bytes:
    """A value of JSON as `JSON.stringify` writes it, without spaces, the keys of objects in an order."""
    written: list[str] = []
    pending: list[Iterator[tuple[str, Any]]] = [iter([("", value)])]  # what is left of each array or object, and before
    ends = [""]
    while pending:
        before, one = next(pending[-1], (None, None))
        if before is None:
            pending.pop()
            written.append(ends.pop())
            continue
        written.append(before)
        if isinstance(one, dict):
            keys = sorted(one, key=order)
            names = (f"{',' if at else ''}{_quoted(key)}:" for at, key in enumerate(keys))
            pending.append(zip(names, map(one.__getitem__, keys), strict=True))
        elif isinstance(one, list):
            pending.append(zip(chain([""], repeat(",")), one, strict=False))
        else:
            written.append(_scalar(one))
            continue
        written.append("{" if isinstance(one, dict) else "[")
        ends.append("}" if isinstance(one, dict) else "]")
    return "".join(written).encode()


def _scalar(value: Any) -> str:
    if isinstance(value, NumberText) or (isinstance(value, int | float) and not isinstance(value, bool)):
        return _number(float(value))
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    """A string of JSON; half of a surrogate pair stays the escape that it has to be."""
    return _HALF.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _number(number: float) -> str:
    """A number as JavaScript writes it (ECMA-262, Number::toString); what is infinite is null."""
    if not math.isfinite(number):
        return "null"
    sign, figures, power = Decimal(repr(number)).normalize().as_tuple()
    digits, point = "".join(map(str, figures)), len(figures) + int(power)
    if number == 0:
        return "0"
    if -6 < point <= 21:
        digits = digits.ljust(point, "0") if point > 0 else "0" * (1 - point) + digits
        whole = max(point, 1)
        said = ".".join(filter(None, (digits[:whole], digits[whole:])))
    else:
        said = f"{'.'.join(filter(None, (digits[0], digits[1:])))}e{point - 1:+d}"
    return f"-{said}" if sign else said


def lines_of(file: File) -> list[str]:
    """The lines of a file as findings count them, each without its end."""
    return [line.removesuffix("\r") for line in file.text.split("\n")]


def conflict_lines(lines: list[str]) -> tuple[int, ...]:
    """The lines (1 = first) that git has left in an unresolved merge.

    A line of `=======` alone may underline a heading; it counts only in the company of the other marks.
    """
    marks = [number for number, line in enumerate(lines, 1) if _MARKER.fullmatch(line)]
    if not marks:
        return ()
    between = (number for number, line in enumerate(lines, 1) if line == _BETWEEN)
    return tuple(sorted((*marks, *between)))


def _of_lines(lines: Sequence[int], what: str) -> str:
    """What the first of these lines is, and how many more are."""
    return f"line {lines[0]} is {what}" + (f", as are {len(lines) - 1} more" if len(lines) > 1 else "")


def file_findings(file: File) -> list[Finding]:
    """What is wrong with a file before its fields are read. A merge conflict is the cause of JSON that is broken.

    Half of a surrogate pair is not: `JSON.stringify`, with which stores are written, gives such escapes.
    """
    marks = conflict_lines(lines_of(file))
    said = file.text_findings if file.path.endswith((".md", ".jsonl")) else file.json.findings
    found = [finding for finding in said if finding.message != HALF_PAIR]
    if not marks:
        return found
    conflict = file.finding_at(marks[0], store_rules.CONFLICT, _of_lines(marks, "a marker of an unresolved merge"))
    return [conflict, *(one for one in found if one.rule not in {rules.JSON_INVALID, rules.JSON_NOT_OBJECT})]


# Values read from a memory-store's files other than nodes: configuration, relations, events, bodies.


class StoreConfig(RecordPart):
    """`config.json` of a memory-store: what makes its folder a store. `marker` is the commit of sync-state.json.

    `others` are the remaining settings as labels and values to be shown.
    """

    project: str
    name: str
    version: int
    marker: str | None = None
    others: tuple[tuple[str, str], ...] = ()

    def without_content(self, withheld: Withheld) -> Self:
        """What makes its folder a store."""
        return replace(self, name="", marker=None, others=(), withheld=withheld)


class StoreRelation(RecordPart):
    """A relation of a memory-store, with a content hash of its own."""

    id: str
    sender: str
    relation: Relation
    created: Moment | None = None
    hash_written: str | None = None
    hashed: tuple[bytes, ...] = ()

    def without_content(self, withheld: Withheld) -> Self:
        """The two nodes, and how they are related."""
        relation = Relation(predicate=self.relation.predicate, target=self.relation.target)
        return replace(self, relation=relation, created=None, hash_written=None, hashed=(), withheld=withheld)


class StoreEvents(RecordPart):
    """`events.jsonl` of a memory-store."""

    events: tuple[RecordEvent, ...]

    def without_content(self, withheld: Withheld) -> Self:
        """No event."""
        return replace(self, events=(), withheld=withheld)


class StoreBody(RecordPart):
    """A Markdown file below a memory-store; its text (LF, no byte-order mark) is what content hashes are made over."""

    text: Text

    def without_content(self, withheld: Withheld) -> Self:
        """The file alone."""
        return replace(self, text=NOTHING_SAID, withheld=withheld)


# Parses the event log of a memory-store: one JSON object a line, in any order; lines may be bad (SPEC 2.2).


DETAIL = 2_000
"""The longest detail of an event, in characters."""

_FIELDS = frozenset({"event", "id", "relation_id", "actor", "timestamp", "reason", "payload"})


def is_events(file: File) -> bool:
    """Whether a log is one of events: its first object has an `event`, or nothing in it can be read."""
    for line in lines_of(file):
        value = read_json_text(line)[0] if line.strip() else None
        if isinstance(value, dict):
            return "event" in value
    return True


def parse_events(file: File) -> Parsed:
    """Read the log. Each line that cannot be used is an error that names it; the others count."""
    lines = lines_of(file)
    if lines[-1] == "":
        lines.pop()
    findings = file_findings(file)
    conflicts = frozenset(conflict_lines(lines))
    events: list[RecordEvent] = []
    blank: list[int] = []
    for number, line in enumerate(lines, 1):
        if number in conflicts:
            continue
        if not line.strip():
            blank.append(number)
            continue
        found, fault = _read_line(line)
        events += found
        if fault and len(findings) < FINDINGS:
            findings.append(_finding(file, number, f"line {number}: {fault}"))
    if blank:
        findings.append(_finding(file, blank[0], _of_lines(blank, "blank")))
    return file.parsed(StoreEvents(file=file.facts, events=tuple(events)), findings, file.data)


def _finding(file: File, line: int, message: str) -> Finding:
    return file.finding_at(line, store_rules.EVENT, shown(message, 300))


def _read_line(line: str) -> tuple[tuple[RecordEvent, ...], str]:
    """The events of a line, none if it is bad, and what is wrong with it, "" if nothing is.

    An event of a relation belongs to both its ends if the payload names them, else to the relation. One of the
    whole store belongs to no record: its `record` is "".
    """
    value, problems = read_json_text(line)
    invalid = next((problem.message for problem in problems if problem.rule == rules.JSON_INVALID), "")
    if invalid:
        return (), invalid
    if not isinstance(value, dict):
        return (), f"found {type_name(value)}, expected an object"
    event, timestamp = _text(value, "event"), _text(value, "timestamp")
    about = "relation_id" if event.startswith("relation.") else "id"
    needed = ("event", "timestamp", about) if event.startswith(("relation.", "memory.")) else ("event", "timestamp")
    missing = [f'"{name}"' for name in needed if not _text(value, name)]
    at = read_moment(timestamp)
    fault = f"{' and '.join(missing)} missing; each must be a string" if missing else ""
    if timestamp and at is None:
        fault = fault or f'"timestamp" is "{shown(timestamp)}", expected ISO 8601'
    ends, detail = _ends(value), _detail(value)
    records = ends if about == "relation_id" and ends else (_text(value, about),)
    actor = _text(value, "actor")
    if not event:
        return (), fault
    is_of_store = about not in needed
    return tuple(
        RecordEvent(record=record, event=event, at=at, actor=actor, detail=detail)
        for record in records
        if record or is_of_store
    ), fault


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return one_line(clean_text(value)) if isinstance(value, str) and not isinstance(value, NumberText) else ""


def _ends(value: dict[str, Any]) -> tuple[str, ...]:
    payload = value.get("payload")
    if not isinstance(payload, dict):
        return ()
    ends = (_text(payload, "from"), _text(payload, "to"))
    return tuple(dict.fromkeys(ends)) if all(ends) else ()


def _detail(value: dict[str, Any]) -> str:
    """The reason, what the payload says (a relation as a sentence, other fields by their names), unknown fields."""
    payload = value.get("payload")
    said = payload if isinstance(payload, dict) else {}
    parts = [_text(value, "reason")]
    others = {name: entry for name, entry in value.items() if name not in _FIELDS}
    if payload is not None and not isinstance(payload, dict):
        others["payload"] = payload
    if _ends(value):
        parts.insert(0, relation_sentence(_text(said, "from"), _text(said, "predicate"), _text(said, "to")))
        said = {name: entry for name, entry in said.items() if name not in {"from", "predicate", "to"}}
    for named in (said, others):
        parts += [f"{name}: {_text(named, name) or canonical_json(entry).decode()}" for name, entry in named.items()]
    return cut_line(clean_text("; ".join(part for part in parts if part)), DETAIL)


def relation_sentence(sender: str, predicate: str, to: str) -> str:
    """A relation in words: `decision.x depends on gotcha.y`."""
    return " ".join(part for part in (sender, predicate.replace("_", " "), to) if part)


# Parses nodes of a memory-store: JSON sidecars, with Markdown bodies in separate files.


STATUSES = ("active", "open", "closed", "stale", "superseded")
"""Statuses of nodes. Questions are open or closed, everything else is active; both become stale or superseded."""

_CLAUSE = "memory-store reference, Sidecar fields; SPEC 2.2"
_TELLS = ("id", "type", "status", "title", "body_path", "content_hash")
_QUESTION, _FEATURE = "question", "feature"
_LINKED_EVIDENCE = ("memory", "relation", "file", "source")
_WRITTEN_ID = regex(r'"id"\s*:\s*"([^"\\]{1,200})"')


def is_node(file: File) -> bool:
    """Whether a file is a sidecar, or was meant to be one and cannot be read."""
    values = file.json.fields
    if values is None:
        return '"body_path"' in file.text or '"content_hash"' in file.text
    return sum(name in values for name in _TELLS) >= 3


def parse_node(file: File) -> Parsed:
    """Read a sidecar. One that cannot be read is a record all the same, known by its place, shown as it is."""
    if file.json.fields is None:
        fact = RecordFile(system="memory-store", file=file.facts, records=(_broken_card(file),))
        return file.parsed(fact, file_findings(file), file.data)
    fields = Fields.of_file(file, findings=file_findings(file), clause=_CLAUSE)
    card = _read_card(fields)
    return fields.parsed(RecordFile(system="memory-store", file=file.facts, records=(card,)), file.data)


def _broken_card(file: File) -> RecordCard:
    """The card of a sidecar that is not JSON: its id, if it can be found, and the body beside it."""
    written = next((id_ for id_ in _WRITTEN_ID.findall(file.text) if is_node_id(id_)), None)
    _, below = store_of(file.path) or ("", file.path)
    card = card_of_key(written or key_of_path(file.path), file.facts)
    return replace(card, extra=file.markdown, body_path=f"{posixpath.splitext(below)[0]}.md")


def card_of_key(key: str, file: FileFacts) -> RecordCard:
    """What a node is by its id alone."""
    kind = key.partition(".")[0]
    return RecordCard(
        system="memory-store", key=key, file=file, type=kind if kind in KINDS else "", title=title_of_key(key)
    )


def title_of_key(key: str) -> str:
    """The title of a node without one: its id without the kind, as words."""
    return key.partition(".")[2].replace("-", " ") or key


def _read_card(fields: Fields) -> RecordCard:
    id_, type_ = fields.text("id", required=True).strip(), fields.text("type", required=True).strip()
    title, status = one_line(fields.text("title", required=True)), fields.text("status", required=True).strip()
    stage = fields.optional_text("stage")
    _check_id(fields, id_, type_)
    _check_values(fields, type_, status, stage)
    key = id_ or key_of_path(fields.file.path)
    evidence = tuple(read_evidence(fields))
    origin, facets, scope = fields.object("origin"), fields.object("facets"), fields.object("scope")
    scope_kind = scope.peek("kind")
    rows = (
        *_rows("Source", fields.object("source"), "task"),
        *(("Evidence", f"{kind}: {name}{others}") for kind, name, others in evidence),
        *_rows("Origin", origin, "locator"),
        *_rows("Scope", scope, scope_kind if isinstance(scope_kind, str) else "project"),
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
        hashed=hashed_forms(fields.file),
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
        others = (f", {label_of(name).lower()}: {value_text(value)}" for name, value in child.left().items())
        yield kind, id_, "".join(others)


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


VERSIONS = (4, 5)
"""The versions of the storage whose words are known."""

PREDICATES = tuple(name.replace(" ", "_") for name in INVERSE)
RELATION_STATUSES = ("active", "stale", "rejected")
CONFIDENCES = ("low", "medium", "high")
_CONFIG_CLAUSE = "memory-store reference, Config; SPEC 2.2"
_RELATION_CLAUSE = "memory-store reference, Relations; SPEC 2.2"
_RELATION_TELLS = ("from", "predicate", "to")


def matches(file: File) -> bool:
    """Whether the file is a part of a store, by its place below `.memory/` and its shape."""
    part = part_of(file.path)
    return part is not None and _PARTS[part][0](file)


def parse(file: File) -> Parsed:
    """Read one part of a store. What was meant to be one and cannot be read is kept, with its findings."""
    part = part_of(file.path)
    if part is None:
        return file.parsed()
    return _PARTS[part][1](file)


def _is_config(file: File) -> bool:
    values = file.json.fields
    is_meant = all(f'"{name}"' in file.text for name in ("project", "version"))
    return is_meant if values is None else _makes_a_store(values)


def _makes_a_store(values: dict[str, Any]) -> bool:
    project, version = values.get("project"), values.get("version")
    id_ = project.get("id") if isinstance(project, dict) else None
    is_number = isinstance(version, int | float) and not isinstance(version, bool)
    return isinstance(id_, str) and not isinstance(id_, NumberText) and bool(id_.strip()) and is_number


def _parse_config(file: File) -> Parsed:
    """Read `config.json`. One that cannot be read names no project, so that its store is left alone."""
    values = file.json.fields or {}
    fields = Fields.of_file(file, findings=file_findings(file), clause=_CONFIG_CLAUSE)
    if not _makes_a_store(values):
        return fields.parsed(StoreConfig(file=file.facts, project="", name="", version=0), file.data)
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
    config = StoreConfig(file=file.facts, project=id_, name=name, version=int(version), others=others)
    return fields.parsed(config, file.data)


def _parse_marker(file: File) -> Parsed:
    """Read `sync-state.json`. One that is missing or invalid is no fault: the store's own tool does without."""
    fields = Fields.of_file(file, findings=())
    commit = one_line(fields.quiet().text("last_sync_commit"))
    config = StoreConfig(file=file.facts, project="", name="", version=0, marker=commit or None)
    return fields.parsed(config, file.data)


def _is_relation(file: File) -> bool:
    values = file.json.fields
    if values is None:
        return '"predicate"' in file.text
    return sum(name in values for name in _RELATION_TELLS) >= 2


def _parse_relation(file: File) -> Parsed:
    """Read one relation. One that cannot be read has no ends."""
    values = file.json.fields
    fields = Fields.of_file(file, findings=file_findings(file), clause=_RELATION_CLAUSE)
    if values is None:
        relation = Relation(predicate="", target="")
        return fields.parsed(StoreRelation(file=file.facts, id="", sender="", relation=relation), file.data)
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
    relation = replace(relation, label=_words_beside(fields, since, changed))
    fact = StoreRelation(
        file=file.facts,
        id=id_,
        sender=sender,
        relation=relation,
        created=created,
        hash_written=hash_written,
        hashed=hashed_forms(file),
    )
    return fields.parsed(fact, file.data)


def _word(fields: Fields, name: str, allowed: tuple[str, ...], *, required: bool) -> str | None:
    """A field that holds one of a few words; any other is kept, with a finding."""
    word = fields.text(name, required=required).strip()
    if word and word not in allowed:
        fields.note(store_rules.VALUE, f'"{name}" is "{shown(word)}", expected {", ".join(allowed)}', name)
    return word or None


def _words_beside(fields: Fields, since: str, changed: str) -> str:
    """What a relation says beside its ends, status and confidence: its days and evidence, and unknown fields."""
    since, changed = (one_line(stamp.partition("T")[0]) for stamp in (since, changed))
    parts = [f"since {since}" if since else "", f"changed {changed}" if changed not in {"", since} else ""]
    founded = ", ".join(f"{kind}: {name}{others}" for kind, name, others in read_evidence(fields))
    parts.append(f"evidence {founded}" if founded else "")
    parts += (f"{label_of(name).lower()}: {value_text(value)}" for name, value in fields.left().items() if value)
    return "; ".join(part for part in parts if part)


def _is_body(file: File) -> bool:
    """Whether a Markdown file may be a body: one that mif has made is a record of its own."""
    if file.name.lower().endswith(SUFFIX):
        return False
    matter = read_frontmatter(file.markdown)
    return not (matter.text("id") and matter.text("type").lower() in TYPES)


def _parse_body(file: File) -> Parsed:
    """Read one body. Its summary is without the heading, which repeats the node's title."""
    text = file.markdown
    known, data = describe_text(text, RECORD_IDS)
    first, _, rest = text.lstrip().partition("\n")
    known = of_which_is_said(known, rest) if first.startswith("# ") and rest.strip() else known
    return file.parsed(StoreBody(file=file.facts, text=known), file_findings(file), file.data, data)


_PARTS: Mapping[StorePart, tuple[Callable[[File], bool], Callable[[File], Parsed]]] = MappingProxyType(
    {
        "config": (_is_config, _parse_config),
        "marker": (lambda file: isinstance((file.json.fields or {}).get("last_sync_commit"), str), _parse_marker),
        "events": (is_events, parse_events),
        "relation": (_is_relation, _parse_relation),
        "node": (is_node, parse_node),
        "body": (_is_body, _parse_body),
    }
)
"""For each part, how it is known and how it is read."""
