"""Bounds what is read from one file, so that whatever shows it need not (SPEC 9).

Of many records in a file the first get pages; the text of the rest is kept as one more record.

A name, an id, a tag or a status is shown in many places: on every page that lists the artifact, in its feeds, in its
address. A long one is cut here to its beginning and a hash, so that different names stay different. What is shown
once, and cut where it is shown, stays whole: `TEXTS`.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from memosite.facts import rules
from memosite.facts.bounds import RECORDS
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.names import short_hash
from memosite.facts.parsed import FileFacts, Parsed, RecordCard, RecordFile, Text
from memosite.facts.texts import cut_line, describe_text
from memosite.facts.times import Moment
from memosite.formats.fields import FINDINGS

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
    """The result of parsing a file within the bounds of one file, with findings where it was beyond them."""
    return _with_rest(_with_short_names(parsed, file), file)


def _with_rest(parsed: Parsed, file: File) -> Parsed:
    """With the text of the records that are too many, as one more record."""
    fact = parsed.fact
    if not isinstance(fact, RecordFile) or len(fact.records) <= RECORDS:
        return parsed
    line = fact.records[RECORDS].line or 1
    text = "\n".join(file.markdown.split("\n")[line - 1 :])
    known, data = describe_text(text)
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
    finding = Finding(rule=rules.FILE_BOUNDED, location=file.at(line), message=message)
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
        for name, chars in _written(long)
    )
    return replace(parsed, fact=fact, findings=(*parsed.findings, *findings[:FINDINGS]))


def _written(long: _Long) -> Iterator[tuple[str, int]]:
    return ((_WRITTEN.get(name, name), chars) for name, chars in sorted(long.items()))


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
    if not is_dataclass(value) or isinstance(value, _WHOLE):
        return value
    changed = {}
    for field in _names(value.__class__):
        old = getattr(value, field)
        new = _bounded(old, field, long)
        if new is not old:
            changed[field] = new
    return replace(value, **changed) if changed else value  # type: ignore[type-var] # an instance, not a class


@cache
def _names(fact: type[Any]) -> tuple[str, ...]:
    """The fields of a fact that hold names."""
    return tuple(field.name for field in fields(fact) if field.name not in TEXTS)
