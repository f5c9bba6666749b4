"""Parses a file with the first adapter that matches it, in the order of `FORMATS`, within bounds (SPEC 9).

An adapter (`formats/system.py`) sees exactly one file and never raises for content; whatever spans files is joined in
`resolve`. To add a format: an adapter in the module that it belongs to, its name in `FORMATS`, a folder of cases. A
record system has a folder and a line of its own (`formats/systems.py`).

What is read from one file is bounded, so that whatever shows it need not be. Of many records in a file the first get
pages; the text of the rest is kept as one more record. A name, an id, a tag or a status is shown in many places: on
every page that lists the artifact, in its feeds, in its address. A long one is cut here to its beginning and a hash, so
that different names stay different. What is shown once, and cut where it is shown, stays whole: `TEXTS`.
"""

from functools import cache
from typing import Any

from memosite.facts import rules
from memosite.facts.file import RECORDS, File
from memosite.facts.json_text import shown, type_name
from memosite.facts.layout import place_of
from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX, short_hash
from memosite.facts.parsed import FileFacts, Parsed, RecordCard, RecordFile, Text
from memosite.facts.texts import cut_line, describe_text
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.formats import document, memodef, orgdef
from memosite.formats.fields import FINDINGS
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS, SYSTEMS, owner_of

NAME_CHARS = 1_000
"""The longest name, in characters."""

SUBJECT_CHARS = 5_000
"""The longest subject or title: a page shows as much."""

TEXTS = frozenset({"stem", "key", "extra", "description", "mission", "charter", "fields", "detail", "note"})
"""Fields that are texts for people, or that identify a file or a record and get an id of bounded length."""

_LIMITS = {"subject": SUBJECT_CHARS, "title": SUBJECT_CHARS}
_WRITTEN = {"sender": "from", "sent_text": "sent", "related": "related_memos"}
_WHOLE = (FileFacts, Text, Moment)
_Long = dict[str, int]
"""The fields that hold a string over the limit, with the length of the longest."""


def bounded(parsed: Parsed, file: File) -> Parsed:
    """The result of parsing a file within the bounds of one file, with findings where it was beyond them.

    The text of the records that are too many is one more record.
    """
    parsed = _with_short_names(parsed, file)
    fact = parsed.fact
    if not isinstance(fact, RecordFile) or len(fact.records) <= RECORDS:
        return parsed
    line = fact.records[RECORDS].line or 1
    text = "\n".join(file.markdown.split("\n")[line - 1 :])
    known, data = describe_text(text, RECORD_IDS)
    rest = RecordCard(
        system=fact.system,
        key=f"rest.{short_hash(file.path)}",
        file=fact.file,
        type="Rest of a file",
        title=cut_line(f"The rest of {file.name}", 300),
        text=replace(known, mentions=(), destinations=()),
        is_rest=True,
    )
    message = f"it holds {len(fact.records):,} records; those after the first {RECORDS} are shown unchanged"
    finding = file.finding_at(line, rules.FILE_BOUNDED, message)
    return replace(
        parsed, fact=replace(fact, rest=rest), findings=(*parsed.findings, finding), shelve=(*parsed.shelve, data)
    )


def _with_short_names(parsed: Parsed, file: File) -> Parsed:
    """With its names cut, and a finding for each field that held a longer one."""
    long: _Long = {}
    fact = _bounded(parsed.fact, "", long)
    if not long:
        return parsed
    findings = tuple(
        file.finding(rules.NAME_LONG, f'"{name}" has {chars:,} characters, expected at most {_limit(name):,}', name)
        for name, chars in ((_WRITTEN.get(name, name), chars) for name, chars in sorted(long.items()))
    )
    return replace(parsed, fact=fact, findings=(*parsed.findings, *findings[:FINDINGS]))


def _limit(name: str) -> int:
    return _LIMITS.get(name, NAME_CHARS)


def _bounded(value: Any, name: str, long: _Long) -> Any:
    """A value of the field `name`, itself if nothing in it is too long. Facts are nested only a few levels deep."""
    if isinstance(value, str):
        if len(value) <= _limit(name):
            return value
        long[name] = max(long.get(name, 0), len(value))
        return f"{value[: _limit(name) - 9]}…{short_hash(value)}"
    if isinstance(value, tuple):
        found = tuple(_bounded(item, name, long) for item in value)
        return found if any(new is not old for new, old in zip(found, value, strict=True)) else value
    if not isinstance(value, Value) or isinstance(value, _WHOLE):
        return value
    changed = {}
    for field in _names(value.__class__):
        old = getattr(value, field)
        new = _bounded(old, field, long)
        if new is not old:
            changed[field] = new
    return replace(value, **changed) if changed else value


@cache
def _names(fact: type[Any]) -> tuple[str, ...]:
    """The fields of a fact that hold names."""
    return tuple(name for name in fact.__struct_fields__ if name not in TEXTS)


_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
RECORD_FORMATS: tuple[Adapter, ...] = tuple(system.adapter for system in SYSTEMS)

FORMATS: tuple[Adapter, ...] = (
    *(memodef.MEMODEF, memodef.LEGACY, orgdef.ADAPTER, memodef.LIBRARY),
    *RECORD_FORMATS,
    *(memodef.BODY, document.ADAPTER),
)


def parse(file: File) -> Parsed:
    """Parse a file with the first adapter that matches it. Any bytes give a result, never an exception.

    Its names are of bounded length.
    """
    return bounded(_parse(file), file)


def _parse(file: File) -> Parsed:
    """Parse a file with the first adapter that matches it.

    A file that should be an envelope by its name and place, but cannot be read, becomes a broken envelope; one that
    was meant for a catalog or an orgdef becomes a broken library. A file of no known format gives no fact, and no
    finding unless it is a catalog or cannot be read.
    """
    for adapter in FORMATS:
        if adapter.matches(file):
            return adapter.parse(file)
    name = file.name.lower()
    if file.json.fields is None and name.endswith((ENVELOPE_SUFFIX, CATALOG_SUFFIX)):
        place = place_of(file.path)
        if name.endswith(ENVELOPE_SUFFIX) and place is not None:
            return memodef.parse_broken(file, place)
        kind = memodef.broken_kind(file)
        if kind is not None:
            return memodef.parse_broken_catalog(file, kind)
    if name.endswith(ENVELOPE_SUFFIX) and file.json.fields is None:
        return file.parsed(None, file.json.findings)
    if name.endswith(CATALOG_SUFFIX):
        return file.parsed(None, [file.finding(rules.CATALOG_FOREIGN, _what_catalog(file))])  # of another tool
    if name.endswith(ENVELOPE_SUFFIX) and memodef.is_envelope_like(file):
        return memodef.parse_envelope(file)
    return _unknown(file)


def _unknown(file: File) -> Parsed:
    """No fact: nothing tells what the file is. At the place of a record system, it may be so for its bytes."""
    return file.parsed(None, file.text_findings if owner_of(file.path) else ())


def parse_record(file: File) -> Parsed:
    """Parse a file with the record adapters only; without a match, there is no fact."""
    for adapter in RECORD_FORMATS:
        if adapter.matches(file):
            return bounded(adapter.parse(file), file)
    return _unknown(file)


def _what_catalog(file: File) -> str:
    if file.data.startswith(_ZIP):
        return "it is a ZIP file"
    if file.json.fields is None:
        return "it is not a JSON object"
    kind = file.json.fields.get("type")
    if isinstance(kind, str):
        return f'its type is "{shown(kind)}"'
    return "it has no type" if kind is None else f"its type is {type_name(kind)}"
