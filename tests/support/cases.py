"""Reads the cases of record systems: an input, and what is expected of it in the `.expected.json` beside it.

As in `test_formats.py`, of which this is the part for files with many records. To write the expectations anew (`at`
is kept) run `MEMOSITE_REFRESH=1 pytest` on the test of the system, then read the diff.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from memosite.facts.file import File
from memosite.facts.parsed import Parsed, RecordFile, Text
from memosite.formats import adapters
from memosite.formats.systems import ALL_RULES
from tests.test_formats import CASES, EXPECTED, expectation_of, reduce


def inputs_of(system: str) -> list[Path]:
    """The inputs of a system's cases, by name."""
    return sorted(path for path in (CASES / system).iterdir() if not path.name.endswith(EXPECTED))


def read_case(path: Path) -> tuple[Parsed, str]:
    """What comes out of an input, and where it is said to lie."""
    at: str = json.loads(expectation_of(path).read_text("utf-8"))["at"]
    return adapters.parse(File(source="harbour", path=at, data=path.read_bytes())), at


def describe(parsed: Parsed, at: str) -> dict[str, Any]:
    """The whole outcome of a case as plain JSON, each record with its text."""
    shelf = {hashlib.sha256(data).hexdigest(): data for data in parsed.shelve}
    records = []
    for card in parsed.fact.records if isinstance(parsed.fact, RecordFile) else ():
        shown = {name: value for name, value in reduce(card).items() if name not in {"system", "hashed"}}
        if card.text is not None:
            shown["text"] = {"markdown": shelf[card.text.sha256].decode().split("\n"), **shown.get("text", {})}
        if card.extra:
            shown["extra"] = json.loads(card.extra)
        records.append(shown)
    findings = [f"{one.rule.id}:{one.location.line}" if one.location.line else one.rule.id for one in parsed.findings]
    return {"at": at, "is": type(parsed.fact).__name__ if parsed.fact else None, "records": records} | {
        "findings": findings
    }


def check_case(path: Path) -> None:
    """Hold an input to its expectation, and to what is promised of every outcome."""
    parsed, at = read_case(path)
    outcome = json.loads(json.dumps(describe(parsed, at)))
    if os.environ.get("MEMOSITE_REFRESH"):
        text = json.dumps(outcome, indent=2, ensure_ascii=False) + "\n"
        expectation_of(path).write_text(text, "utf-8")
    assert outcome == json.loads(expectation_of(path).read_text("utf-8"))
    check_promises(parsed, at, path.read_bytes())


def check_promises(parsed: Parsed, at: str, data: bytes) -> None:
    """What a finding points at exists; keys are unique; every text and the file itself are put on the shelf."""
    for finding in parsed.findings:
        assert finding.rule in ALL_RULES
        assert finding.location.path == at
        assert 1 <= (finding.location.line or 1) <= data.count(b"\n") + 1
        assert finding.message.isprintable()
    if not isinstance(parsed.fact, RecordFile):
        return
    shelved = {hashlib.sha256(entry).hexdigest() for entry in parsed.shelve}
    texts = {card.text.sha256 for card in parsed.fact.records if isinstance(card.text, Text)}
    assert texts | {parsed.fact.file.sha256} <= shelved
    keys = [card.key for card in parsed.fact.records]
    assert len(set(keys)) == len(keys)
    for card in parsed.fact.records:
        assert card.key
        assert card.title.strip()
        assert card.file == parsed.fact.file
        assert 1 <= (card.line or 1) <= data.count(b"\n") + 1
        card.key.encode("utf-8")
        for word in (card.title, *(part for pair in card.fields for part in pair)):
            assert "\n" not in word
            word.encode("utf-8")
