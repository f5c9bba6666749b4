"""SECURITY.md names tests for what it promises, and people find it."""

import re
from pathlib import Path

import pytest

from tests.support.files import ROOT

SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
MODULES = {path.stem for path in (ROOT / "tests").glob("test_*.py")}


def named_tests(text: str) -> list[str]:
    """The test modules that a text names."""
    return re.findall(r"`(test_\w+)(?:\.py)?`", text)


def promises(text: str) -> list[tuple[str, list[str]]]:
    """The promises of the table, each with its tests."""
    table = text.partition("| promise | tests |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = (line.strip("| ").rpartition(" | ") for line in table.splitlines())
    return [(promise, named_tests(tests)) for promise, _, tests in rows]


@pytest.mark.parametrize("document", ["SECURITY.md", "docs/reliability.md", "ARCHITECTURE.md"])
def test_the_tests_that_documents_name_are_there(document: str) -> None:
    """A test that was renamed is renamed there, too."""
    found = named_tests((ROOT / document).read_text(encoding="utf-8").replace("tests/test_", "test_"))
    assert found
    assert set(found) - MODULES == set()


def test_each_promise_has_a_test() -> None:
    """In the table, and in each section on what may be published."""
    assert len(promises(SECURITY)) >= 10
    assert [promise for promise, tests in promises(SECURITY) if not tests] == []
    below = SECURITY.partition("## What is promised")[2].partition("\n## ")[0]
    sections = re.split(r"^### ", below, flags=re.MULTILINE)[1:]
    assert [section.splitlines()[0] for section in sections] == ["Secrets", "Audience", "Erasure", "Supply chain"]
    assert [section for section in sections if not re.search(r"^Tests: `test_", section, re.MULTILINE)] == []


def test_a_promise_without_a_test_is_found() -> None:
    """The check itself."""
    text = "| promise | tests |\n|---|---|\n| Safe | `test_a`, `test_b.py` |\n| Fast | none |\n\n`test_c`"
    assert promises(text) == [("Safe", ["test_a", "test_b"]), ("Fast", [])]


@pytest.mark.parametrize("document", ["README.md", "docs/guide/README.md"])
def test_people_find_it(document: str) -> None:
    """From where they begin to read."""
    place = ROOT / document
    links = re.findall(r"\]\(([^)#]*SECURITY\.md)", place.read_text(encoding="utf-8"))
    assert {(place.parent / Path(link)).resolve() for link in links} == {ROOT / "SECURITY.md"}
