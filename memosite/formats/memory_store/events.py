"""Parses the event log of a memory-store: one JSON object a line, in any order; lines may be bad (SPEC 2.2)."""

from typing import Any

from memosite.facts import rules
from memosite.facts.file import File, clean_text, shown, type_name
from memosite.facts.findings import Finding
from memosite.facts.json_text import NumberText, read_json_text
from memosite.facts.parsed import Parsed, RecordEvent
from memosite.facts.texts import cut_line, one_line
from memosite.facts.times import read_moment
from memosite.formats.fields import FINDINGS, canonical_json
from memosite.formats.memory_store import rules as store_rules
from memosite.formats.memory_store.facts import StoreEvents
from memosite.formats.memory_store.parts import conflict_lines, file_findings, lines_of

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
        others = f", as are {len(blank) - 1} more" if len(blank) > 1 else ""
        findings.append(_finding(file, blank[0], f"line {blank[0]} is blank{others}"))
    fact = StoreEvents(file=file.facts, events=tuple(events))
    return Parsed(source=file.source, path=file.path, fact=fact, findings=tuple(findings), shelve=(file.data,))


def _finding(file: File, line: int, message: str) -> Finding:
    return Finding(rule=store_rules.EVENT, location=file.at(line), message=shown(message, 300))


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
