"""Reads the cases of formats: an input in `tests/cases`, and beside it what is expected of it.

A case is an input, such as `cases/memodef/lone-surrogate.openthing`, and `lone-surrogate.expected.json`: where the
file is said to lie (`at`), what comes out of it reduced to what matters, and the findings as `rule:line`. To write the
expectations anew (`at` is kept) run `MEMOSITE_REFRESH=1 pytest tests/test_formats.py`, then read the diff.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memosite.facts.file import File
from memosite.facts.parsed import FileFacts, Parsed, RecordCard, RecordFile, Text
from memosite.facts.times import Moment
from memosite.facts.values import Value
from memosite.formats import adapters
from memosite.formats.fields import FINDINGS
from memosite.formats.systems import ALL_RULES
from tests.support.facts import texts_in
from tests.support.files import ROOT
from tests.support.sites import EXAMPLE

CASES = ROOT / "tests/cases"
EXPECTED = ".expected.json"
FOLDERS = {"memodef": "memos/inbox", "orgdef": "org", "library": "", "document": "decisions", "foreign": "memos/inbox"}
"""The folders of cases that are no records, and where their inputs are said to lie as long as nothing else is said."""


def inputs_of(folder: str) -> list[Path]:
    """The inputs of a folder of cases, by name."""
    return sorted(path for path in (CASES / folder).iterdir() if path.is_file() and not path.name.endswith(EXPECTED))


def all_cases() -> list[Path]:
    """The inputs of all folders of cases."""
    return [path for folder in sorted(CASES.iterdir()) if folder.is_dir() for path in inputs_of(folder.name)]


_LINE_END = re.compile(rb"\r\n?|\n")
"""What ends a line of a file: texts are read with all three as LF."""

LARGEST = 20_000
"""Of larger files nothing is made: what they show, smaller ones show sooner."""


def all_inputs() -> dict[str, bytes]:
    """Every case, and every file of the example, by where it is said to lie; for fuzzing."""
    found: dict[str, bytes] = {}
    for path in all_cases():
        at = _place_of(path)
        found[f"{path.parent.name}/{at}" if at in found else at] = path.read_bytes()
    for path in sorted(EXAMPLE.glob("*/**/*")):
        if path.is_file() and not {"_site", ".memosite"} & set(path.parts):
            found.setdefault(path.relative_to(EXAMPLE).as_posix(), path.read_bytes())
    return {at: data for at, data in found.items() if len(data) <= LARGEST}


def expectation_of(path: Path) -> Path:
    """The expectation beside an input."""
    return path.with_name(path.name.split(".", 1)[0] + EXPECTED)


def read_case(path: Path) -> tuple[Parsed, str]:
    """What comes out of an input, and where it is said to lie."""
    at = _place_of(path)
    return adapters.parse(File(source="harbour", path=at, data=path.read_bytes())), at


def _place_of(path: Path) -> str:
    expectation = expectation_of(path)
    known = json.loads(expectation.read_text("utf-8")) if expectation.exists() else {}
    return str(known.get("at") or f"{FOLDERS.get(path.parent.name, '')}/{path.name}".lstrip("/"))


def check_expectation(path: Path, outcome: Mapping[str, Any]) -> None:
    """Hold what came out of an input to its expectation, or write that anew if MEMOSITE_REFRESH is set."""
    found = json.loads(json.dumps(outcome))
    if os.environ.get("MEMOSITE_REFRESH"):
        text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
        expectation_of(path).write_text(text, "utf-8")
    assert found == json.loads(expectation_of(path).read_text("utf-8"))


def reduce(value: Any) -> Any:
    """A fact as plain JSON, without what is absent, digests and their bytes, and what the case's name says already."""
    if isinstance(value, Moment):
        return f"{value.utc} {value.zone or 'no zone'}" + (" (from the name)" if value.origin == "name" else "")
    if isinstance(value, Text):
        kept = {"summary": value.summary, "mentions": value.mentions, "destinations": value.destinations}
        return {
            name: reduce(entry) for name, entry in {**kept, "turns": value.turns}.items() if entry not in (None, ())
        }
    if isinstance(value, Value):
        dropped = {"source", "path", "content_sha256"}
        pairs = ((one, getattr(value, one)) for one in value.__struct_fields__ if one not in dropped)
        others = ((name, entry) for name, entry in pairs if not isinstance(entry, FileFacts) and name != "hashed")
        return {name: reduce(entry) for name, entry in others if entry not in (None, "", (), False)}
    if isinstance(value, tuple):
        return [reduce(entry) for entry in value]
    return value


def describe(parsed: Parsed, at: str) -> dict[str, Any]:
    """The whole outcome of a case as plain JSON."""
    fact = reduce(parsed.fact) if parsed.fact is not None else None
    if fact and fact.get("extra"):
        fact["extra"] = json.loads(fact["extra"])
    return {"at": at, "is": type(parsed.fact).__name__ if parsed.fact else None, "fact": fact} | _findings(parsed)


def card_of(parsed: Parsed) -> RecordCard:
    """The one record of a file."""
    assert isinstance(parsed.fact, RecordFile)
    (card,) = parsed.fact.records
    return card


def describe_records(parsed: Parsed, at: str) -> dict[str, Any]:
    """The whole outcome of a case as plain JSON, each record with its text."""
    shelf = {hashlib.sha256(data).hexdigest(): data for data in parsed.shelve}
    records = []
    for card in parsed.fact.records if isinstance(parsed.fact, RecordFile) else ():
        shown = {name: value for name, value in reduce(card).items() if name != "system"}
        if card.text is not None:
            shown["text"] = {"markdown": shelf[card.text.sha256].decode().split("\n"), **shown.get("text", {})}
        if card.extra:
            shown["extra"] = json.loads(card.extra)
        records.append(shown)
    return {"at": at, "is": type(parsed.fact).__name__ if parsed.fact else None, "records": records} | _findings(parsed)


def check_case(path: Path) -> None:
    """Hold an input to its expectation, and to what is promised of every outcome."""
    parsed, at = read_case(path)
    has_records = path.parent.name not in {*FOLDERS, "memory-store"}
    check_expectation(path, describe_records(parsed, at) if has_records else describe(parsed, at))
    check_promises(parsed, at, path.read_bytes())


def check_promises(parsed: Parsed, at: str, data: bytes) -> None:
    """What a finding points at exists; every text and the file itself are put on the shelf; texts can be written."""
    lines = len(_LINE_END.findall(data)) + 1
    assert (parsed.source, parsed.path) == ("harbour", at)
    assert len(parsed.findings) <= FINDINGS + 30
    for finding in parsed.findings:
        assert finding.rule in ALL_RULES
        assert (finding.location.source, finding.location.path) == ("harbour", at)
        assert 1 <= (finding.location.line or 1) <= lines
        assert finding.message.isprintable()
    for text in texts_in(parsed.fact):
        text.encode("utf-8")
    shelved = {hashlib.sha256(entry).hexdigest() for entry in parsed.shelve}
    known = [getattr(parsed.fact, name, None) for name in ("body", "text")]
    assert {text.sha256 for text in known if isinstance(text, Text)} <= shelved
    file = getattr(parsed.fact, "file", None)
    if isinstance(file, FileFacts):
        assert file.sha256 in shelved and file.bytes == len(data)
    if isinstance(parsed.fact, RecordFile):
        _check_records(parsed.fact, shelved, lines)


def _check_records(file: RecordFile, shelved: set[str], lines: int) -> None:
    """Keys are unique, titles and rows are single lines, and texts are on the shelf."""
    keys = [card.key for card in file.records]
    assert all(keys) and len(set(keys)) == len(keys)
    assert {card.text.sha256 for card in file.records if isinstance(card.text, Text)} <= shelved
    for card in file.records:
        assert card.title.strip()
        assert card.file == file.file
        assert 1 <= (card.line or 1) <= lines
        assert not any("\n" in word for word in (card.title, *(part for pair in card.fields for part in pair)))


def _findings(parsed: Parsed) -> dict[str, list[str]]:
    found = [f"{one.rule.id}:{one.location.line}" if one.location.line else one.rule.id for one in parsed.findings]
    return {"findings": found}
