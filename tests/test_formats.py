"""Each file of `cases/` is read as the expectation beside it says; `tests/support/cases.py` tells what a case is."""

from pathlib import Path

import pytest

from memosite.facts.findings import Severity
from memosite.facts.parsed import FileFacts, Text
from memosite.formats.systems import ALL_RULES
from tests.support.cases import (
    CASES,
    EXPECTED,
    FOLDERS,
    check_expectation,
    describe,
    expectation_of,
    inputs_of,
    read_case,
)

INPUTS = sorted(path for folder in FOLDERS for path in inputs_of(folder))


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_is_read_as_its_expectation_says(path: Path) -> None:
    """The fact and the findings of each input are those written beside it."""
    parsed, at = read_case(path)
    check_expectation(path, describe(parsed, at))


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
