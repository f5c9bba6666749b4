"""Each file of `cases/` is read as the expectation beside it says; `tests/support/cases.py` tells what a case is."""

import json
import os
from pathlib import Path

import pytest

from memosite.formats.systems import ALL_RULES
from tests.support.cases import CASES, EXPECTED, all_cases, check_case, expectation_of

INPUTS = all_cases()
SEVERITIES = CASES / "severities.json"


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_is_read_as_its_expectation_says(path: Path) -> None:
    """The facts, records and findings of each input are those written beside it; its findings and texts exist."""
    check_case(path)


def test_every_expectation_has_its_input() -> None:
    """An expectation whose input was renamed is not forgotten, and no two inputs share one."""
    expected = [expectation_of(path) for path in INPUTS]
    assert len(set(expected)) == len(expected)
    assert set(expected) == set(CASES.glob(f"*/*{EXPECTED}"))


def test_every_rule_has_its_severity() -> None:
    """What a format demands is an error, what it advises a warning, and what belongs to others a note at most."""
    found = {rule.id: rule.severity.value for rule in ALL_RULES}
    if os.environ.get("MEMOSITE_REFRESH"):
        SEVERITIES.write_text(json.dumps(dict(sorted(found.items())), indent=2) + "\n", "utf-8")
    assert found == json.loads(SEVERITIES.read_text("utf-8"))
