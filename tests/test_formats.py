"""Each file of `cases/` is read as the expectation beside it says.

A case is an input, such as `cases/memodef/lone-surrogate.openthing`, and `lone-surrogate.expected.json`: what the
file is said to lie `at`, the fact reduced to what matters, and the findings as `rule:line`. To write the
expectations anew (`at` is kept) run `MEMOSITE_REFRESH=1 pytest tests/test_formats.py`, then read the diff.
"""

import json
import os
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from memosite.facts.file import File
from memosite.facts.findings import Severity
from memosite.facts.parsed import FileFacts, Parsed, Text
from memosite.facts.times import Moment
from memosite.formats import adapters
from memosite.formats.systems import ALL_RULES

CASES = Path(__file__).parent / "cases"
FOLDERS = {"memodef": "memos/inbox", "orgdef": "org", "library": "", "document": "decisions", "foreign": "memos/inbox"}
EXPECTED = ".expected.json"

INPUTS = sorted(
    path
    for folder in FOLDERS
    for path in (CASES / folder).iterdir()
    if path.is_file() and not path.name.endswith(EXPECTED)
)


def expectation_of(path: Path) -> Path:
    """The expectation beside an input."""
    return path.with_name(path.name.split(".", 1)[0] + EXPECTED)


def read_case(path: Path) -> tuple[Parsed, str]:
    """What comes out of an input, and where it is said to lie."""
    expectation = expectation_of(path)
    known = json.loads(expectation.read_text("utf-8")) if expectation.exists() else {}
    at = known.get("at") or f"{FOLDERS[path.parent.name]}/{path.name}".lstrip("/")
    return adapters.parse(File(source="harbour", path=at, data=path.read_bytes())), at


def reduce(value: Any) -> Any:
    """A fact as plain JSON, without what is absent, digests, and what the case's name says already."""
    if isinstance(value, Moment):
        return f"{value.utc} {value.zone or 'no zone'}" + (" (from the name)" if value.origin == "name" else "")
    if isinstance(value, Text):
        kept = {"summary": value.summary, "mentions": value.mentions, "destinations": value.destinations}
        return {
            name: reduce(entry) for name, entry in {**kept, "turns": value.turns}.items() if entry not in (None, ())
        }
    if is_dataclass(value):
        dropped = {"source", "path", "content_sha256"}
        pairs = ((one.name, getattr(value, one.name)) for one in fields(value) if one.name not in dropped)
        others = ((name, entry) for name, entry in pairs if not isinstance(entry, FileFacts))
        return {name: reduce(entry) for name, entry in others if entry not in (None, "", (), False)}
    if isinstance(value, tuple):
        return [reduce(entry) for entry in value]
    return value


def describe(parsed: Parsed, at: str) -> dict[str, Any]:
    """The whole outcome of a case as plain JSON."""
    fact = reduce(parsed.fact) if parsed.fact is not None else None
    if fact and fact.get("extra"):
        fact["extra"] = json.loads(fact["extra"])
    findings = [f"{one.rule.id}:{one.location.line}" if one.location.line else one.rule.id for one in parsed.findings]
    return {"at": at, "is": type(parsed.fact).__name__ if parsed.fact else None, "fact": fact, "findings": findings}


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_is_read_as_its_expectation_says(path: Path) -> None:
    """The fact and the findings of each input are those written beside it."""
    parsed, at = read_case(path)
    outcome = json.loads(json.dumps(describe(parsed, at)))
    if os.environ.get("MEMOSITE_REFRESH"):
        text = json.dumps(outcome, indent=2, ensure_ascii=False) + "\n"
        expectation_of(path).write_text(text, "utf-8")
    assert outcome == json.loads(expectation_of(path).read_text("utf-8"))


def test_every_expectation_has_its_input() -> None:
    """An expectation whose input was renamed is not forgotten, and no two inputs share one."""
    expected = [expectation_of(path) for path in INPUTS]
    assert len(set(expected)) == len(expected)
    assert set(expected) == {path for folder in FOLDERS for path in (CASES / folder).glob(f"*{EXPECTED}")}


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_finding_names_a_known_rule_a_real_line_and_its_own_file(path: Path) -> None:
    """What a finding points at exists, and its message is one printable line."""
    parsed, at = read_case(path)
    lines = path.read_bytes().count(b"\n") + 1
    for finding in parsed.findings:
        assert finding.rule in ALL_RULES
        assert (finding.location.source, finding.location.path) == ("harbour", at)
        assert 1 <= (finding.location.line or 1) <= lines
        assert finding.message.isprintable()


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fact_holds_the_digest_of_what_is_put_on_the_shelf(path: Path) -> None:
    """Every text that a fact names is among the bytes to be shelved."""
    import hashlib

    parsed, _ = read_case(path)
    shelved = {hashlib.sha256(data).hexdigest() for data in parsed.shelve}
    texts = [getattr(parsed.fact, name, None) for name in ("body", "text")]
    assert {text.sha256 for text in texts if isinstance(text, Text)} <= shelved
    file = getattr(parsed.fact, "file", None)
    if isinstance(file, FileFacts):
        assert file.sha256 in shelved
        assert file.bytes == path.stat().st_size


MUST_BROKEN = (
    "body-empty-beside-body-ref",
    "body-missing-beside-body-ref",
    "broken-json-missing-comma",
    "fields-of-wrong-types",
    "reserved-namespace",
    "required-fields-empty",
    "sent-placeholder",
    "transcript-without-body-ref",
    "transcript-participant-unnamed",
    "versions-missing",
)
SHOULD_BROKEN = (
    "body-ref-in-a-subfolder",
    "body-ref-leads-out",
    "duplicate-keys",
    "note-in-a-mailbox",
    "note-with-action",
    "reply-windows-path",
    "sent-without-zone",
    "transcript-with-a-body",
    "transcript-with-memo-fields",
    "transcript-silent-about-itself",
)


@pytest.mark.parametrize("name", MUST_BROKEN)
def test_a_broken_must_is_an_error(name: str) -> None:
    """What memodef demands and a file lacks is an error, and nothing less."""
    parsed, _ = read_case(CASES / "memodef" / f"{name}.openthing")
    assert {finding.severity for finding in parsed.findings} == {Severity.ERROR}


@pytest.mark.parametrize("name", SHOULD_BROKEN)
def test_a_broken_should_is_a_warning(name: str) -> None:
    """What memodef advises and a file does otherwise is a warning: it passes, with notes."""
    parsed, _ = read_case(CASES / "memodef" / f"{name}.openthing")
    assert {finding.severity for finding in parsed.findings} == {Severity.WARNING}


@pytest.mark.parametrize("path", [path for path in INPUTS if path.parent.name == "foreign"], ids=lambda path: path.name)
def test_what_belongs_to_others_gives_no_fact_and_at_most_a_note(path: Path) -> None:
    """Files of other tools in the same folders are left alone."""
    parsed, _ = read_case(path)
    assert parsed.fact is None
    assert {finding.severity for finding in parsed.findings} <= {Severity.NOTE}
