"""Parses memory-layer files: session memory of a coding agent, one JSON envelope a file, by category.

The envelope is `{"meta": {created, category, summary, session_id}, "content": any JSON}`, the rules are those of the
memory-layer format as SPEC 2.2 gives them: required fields are errors. Other tools keep JSON in folders of the same
names, so the shape decides; the folder says which file that cannot be read was meant to be one of these.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.json_text import clean_text, shown
from memosite.facts.names import NO_SUBJECT, stem_of
from memosite.facts.parsed import Parsed, RecordCard, RecordFile, Relation
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, describe_text, is_visible, of_which_is_said, one_line
from memosite.facts.times import read_moment
from memosite.facts.values import replace
from memosite.formats import memory_layer as layer_rules
from memosite.formats.fields import Fields, show_json
from memosite.formats.memory_layer import ARCHIVE, CATEGORIES, LayerPlace, key_at, layer_place
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS

_CLAUSE = "memory-layer format, Memory File Envelope and Required Meta Fields; SPEC 2.2"

_META = ("created", "category", "summary", "session_id")
_LOOKS_MEANT = tuple(regex(rf"""\b(?:{names})["']?\s{{0,20}}:""") for names in ("meta", "category|content"))
_SECONDLAYER_ARCHIVE = regex(r"(?P<id>.+)_(?P<day>\d{8})(?P<clock>\d{6})", re.DOTALL | re.ASCII)

_ORDER = (
    *("task", "module", "decision", "status", "progress", "rationale", "alternatives_considered", "constraints"),
    *("notes", "decisions", "interfaces", "types", "functions", "events"),
    *("completed", "pending", "blockers", "next_steps", "context_references"),
)
_STATES = ("status", "progress")
_KEYS_SHOWN = 200
_ITEMS_SHOWN = 1_000
_INDENTED_CHARS = 100_000
_INDENTED_DEPTH = 8
_NOTHING = "(none)"
_WORDS = regex(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_TICKS = regex("`+")
_FENCE = regex(r" {0,3}(?P<mark>`{3,}+(?=[^`]*$)|~{3,})(?P<info>.*)")


def matches(file: File) -> bool:
    """Whether the file is an envelope of a memory layer, or is in one and clearly meant to be an envelope.

    A category of the four and a content tell one anywhere. In its folders one of the two is enough, beside another
    field of `meta`; and so is JSON that is broken and names these fields.
    """
    if not file.name.lower().endswith(".json"):
        return False
    is_placed = layer_place(file.path) is not None
    fields = file.json.fields
    if fields is None:
        is_broken = any(finding.rule == rules.JSON_INVALID for finding in file.json.findings)
        return is_placed and is_broken and all(mark.search(file.text) for mark in _LOOKS_MEANT)
    meta = fields.get("meta")
    if not isinstance(meta, dict):
        return False
    has_category, has_content = meta.get("category") in CATEGORIES, "content" in fields
    if has_category and has_content:
        return True
    return is_placed and (has_category or has_content) and sum(name in meta for name in _META) > 1


def parse(file: File) -> Parsed:
    """Read one envelope as one record, whose text is the content as Markdown."""
    if file.json.fields is None:
        return _parse_broken(file)
    fields = Fields.of_file(file, clause=_CLAUSE)
    meta = fields.object("meta")
    created, _ = meta.moment("created", required=True)
    category = meta.text("category", required=True).strip()
    title = cut_line(meta.text("summary", required=True), 300)
    session = meta.optional_text("session_id")
    place = layer_place(file.path)
    _check_category(meta, category, place)
    _, content = fields.value("content")
    if "content" not in fields.names_written:
        fields.note(rules.FIELD_MISSING, '"content" is missing; it may be any JSON')
    text, said = _content_text(content)
    known, data = describe_text(text, RECORD_IDS)
    bare = _bare_card(file, place, place.category if place else category)
    left = ({"meta": rest} if (rest := meta.left()) else {}) | fields.left()
    card = replace(
        bare,
        type=category if category in CATEGORIES else bare.type,
        title=title if is_visible(title) else bare.title,
        text=of_which_is_said(known, said) if text else None,
        status=_status(content),
        created=created,
        sessions=(session,) if session else (),
        mentions=_references(content),
        extra=show_json(left) if left else "",
    )
    fact = RecordFile(system="memory-layer", file=file.facts, records=(card,))
    return fields.parsed(fact, file.data, *((data,) if text else ()))


def _parse_broken(file: File) -> Parsed:
    """A file that cannot be read: kept under its name and shown raw, with the findings that say why."""
    place = layer_place(file.path)
    known, data = describe_text(_fenced(clean_text(file.text).strip("\n"), "json"), RECORD_IDS)
    card = replace(_bare_card(file, place, place.category if place else "context"), text=of_which_is_said(known, ""))
    fact = RecordFile(system="memory-layer", file=file.facts, records=(card,))
    return file.parsed(fact, file.json.findings, file.data, data)


def _bare_card(file: File, place: LayerPlace | None, folder: str) -> RecordCard:
    """What a record is by its name and its place alone, given the category of its folder."""
    stem = stem_of(file.name)
    archived, relations = _archived(stem, place)
    title = cut_line(stem, 300)
    return RecordCard(
        system="memory-layer",
        key=key_at(file.path) or f"{folder}.{stem}",
        file=file.facts,
        type=folder,
        title=title if is_visible(title) else NO_SUBJECT,
        fields=archived,
        relations=relations,
    )


def _check_category(meta: Fields, category: str, place: LayerPlace | None) -> None:
    if category and category not in CATEGORIES:
        message = f'"category" is "{shown(category)}", expected one of {", ".join(CATEGORIES)}'
        meta.note(layer_rules.CATEGORY, message, "category")
    elif category and place and category != place.category:
        message = f'"category" is "{category}", but the file is in {place.category}/'
        meta.note(layer_rules.FOLDER, message, "category")


def _archived(stem: str, place: LayerPlace | None) -> tuple[tuple[tuple[str, str], ...], tuple[Relation, ...]]:
    """The archive's data on a record. An id archived a second time has the time of archiving in its name."""
    if place is None or not place.is_archived:
        return (), ()
    again = _SECONDLAYER_ARCHIVE.fullmatch(stem)
    moment = read_moment(f"{again['day']}T{again['clock']}") if again else None
    if again is None or moment is None:
        return (("Archived", "yes"),), ()
    said = f"again, at {moment.local.isoformat(' ')}"
    before = Relation(
        predicate="archive_of", target=f"{ARCHIVE}.{place.category}.{again['id']}", label=one_line(again["id"])
    )
    return (("Archived", said), ("Archive of", one_line(again["id"]))), (before,)


def _status(content: Any) -> str | None:
    """The status of a decision, else the progress of a handoff."""
    for name in _STATES if isinstance(content, dict) else ():
        value = content.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            said = cut_line(clean_text(str(value)), 60)
            if said:
                return said
    return None


def _references(content: Any) -> tuple[str, ...]:
    """The stems that `context_references` names, whether written as such, as file names or as paths."""
    value = content.get("context_references") if isinstance(content, dict) else None
    written = value if isinstance(value, list) else [value]
    names = (clean_text(name).strip().rpartition("/")[2] for name in written if isinstance(name, str))
    return tuple(dict.fromkeys(stem for name in names if (stem := name.removesuffix(".json"))))


def _content_text(content: Any) -> tuple[str, str]:
    """Content as Markdown to read, and what of it is said first; "" for nothing.

    The keys of an object are headings, the known ones first; strings are paragraphs, arrays are lists, and what is
    nested deeper is JSON. Content with too many parts is JSON, too.
    """
    if content in (None, "", [], {}):
        return "", ""
    if not isinstance(content, dict):
        text = _shown_value(content)
        return text, text
    sections = tuple(_sections(content))
    text = "\n\n".join(f"## {_heading(key)}\n\n{body}" for key, body in sections)
    said = (_prose(content[key]) for key, _ in sections if key in content and key not in _STATES)
    return text, next(filter(None, said), "")


def _prose(value: Any) -> str:
    """A string or a list of strings in a line or two."""
    words = [clean_text(entry) for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, str)]
    return "; ".join(words[:10])


def _sections(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    keys = [name for name in _ORDER if name in content]
    keys += [name for name in content if name not in _ORDER]
    for key in keys[:_KEYS_SHOWN]:
        yield key, _shown_value(content[key])
    if len(keys) > _KEYS_SHOWN:
        yield "others", _json_block({key: content[key] for key in keys[_KEYS_SHOWN:]})


def _heading(key: str) -> str:
    line = cut_line(clean_text(key), 100)
    words = line.replace("_", " ").replace("-", " ").capitalize() if _WORDS.fullmatch(line) else line
    return words or "(no name)"


def _shown_value(value: Any) -> str:
    if isinstance(value, list) and value and len(value) <= _ITEMS_SHOWN:
        return "\n".join("- " + _shown_part(entry).replace("\n", "\n  ") for entry in value)
    return _shown_part(value)


def _shown_part(value: Any) -> str:
    """A value that is no list of its own."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return _closed(clean_text(value).strip("\n")) or _NOTHING
    return _json_block(value) if value else _NOTHING


def _closed(text: str) -> str:
    """A text whose last code fence is closed, so that it does not swallow what comes after it."""
    fence = ""
    for line in text.split("\n") if "```" in text or "~~~" in text else ():
        mark = _FENCE.fullmatch(line)
        if mark is None:
            continue
        if not fence:
            fence = mark["mark"]
        elif mark["mark"].startswith(fence) and not mark["info"].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text if text.strip() else ""


def _json_block(value: Any) -> str:
    """A value as code: indented, unless indentation would take more room than the value."""
    compact = clean_text(json.dumps(value, ensure_ascii=False))
    if len(compact) > _INDENTED_CHARS or _depth(value) > _INDENTED_DEPTH:
        return _fenced(compact, "json")
    return _fenced(clean_text(show_json(value)), "json")


def _fenced(code: str, language: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    return f"{fence}{language}\n{code}\n{fence}"


def _depth(value: Any) -> int:
    """The depth of nested objects and arrays."""
    level, depth = [value], 0
    while level := [node for node in level if isinstance(node, dict | list)]:
        depth += 1
        level = [child for node in level for child in (node.values() if isinstance(node, dict) else node)]
    return depth


ADAPTER = Adapter(matches, parse)
