"""The analyzer and the language of queries: one table of cases, and what holds for any text."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.search_language import DEEPEST, FIELDS, Analyzer, QueryError, fold_character, parse_query, prepare
from tests.support.queries import as_lists

CASES = json.loads((Path(__file__).parent / "search_cases.json").read_text())
DOCUMENTATION = (Path(__file__).parent.parent / "docs/search.md").read_text()
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize("case", CASES["words"], ids=lambda case: case["text"][:40])
def test_a_text_has_these_words(case: dict[str, object]) -> None:
    """As the table says, with positions and parts."""
    words = Analyzer().words(prepare(str(case["text"])))
    assert [[word.term, word.position] + ["part"] * word.part for word in words] == case["words"]


@pytest.mark.parametrize("case", CASES["keywords"], ids=lambda case: case["text"])
def test_a_name_is_one_term(case: dict[str, str]) -> None:
    """As the table says."""
    assert Analyzer().keyword(case["text"]) == case["keyword"]


@pytest.mark.parametrize("case", CASES["queries"], ids=lambda case: case["query"][:40])
def test_a_query_is_understood_or_refused_as_the_table_says(case: dict[str, object]) -> None:
    """The tree, or the error with its place and an example."""
    try:
        found: dict[str, object] = {"tree": as_lists(parse_query(str(case["query"]), Analyzer()))}
    except QueryError as error:
        found = {"error": [error.message, error.position, error.example]}
    assert found == {name: value for name, value in case.items() if name != "query"}


def test_a_deep_query_is_refused_before_it_is_too_deep() -> None:
    """No query can exhaust the stack."""
    parse_query("(" * DEEPEST + "x" + ")" * DEEPEST, Analyzer())
    with pytest.raises(QueryError, match="too many parentheses"):
        parse_query("(" * 900 + "x" + ")" * 900, Analyzer())


@given(TEXTS)
def test_case_and_composition_make_no_difference_and_folding_is_done_once(text: str) -> None:
    """NFC or NFD: the same words; what is folded already stays as it is."""
    analyzer = Analyzer()
    assert analyzer.phrase(unicodedata.normalize("NFD", text)) == analyzer.phrase(unicodedata.normalize("NFC", text))
    for char in prepare(text):
        folded = fold_character(char)
        assert "".join(map(fold_character, unicodedata.normalize("NFC", folded))) == folded


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_documented(name: str) -> None:
    """docs/search.md has a line for each."""
    assert f"`{name}:" in DOCUMENTATION
