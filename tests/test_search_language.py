"""The analyzer and the language of queries: one table of cases, and what holds for any text."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.search_language import (
    DEEPEST,
    FIELDS,
    LONGEST,
    Analyzer,
    QueryError,
    fold_character,
    parse_query,
    prepare,
)
from tests.support.queries import as_lists

CASES = json.loads((Path(__file__).parent / "search_cases.json").read_text())
DOCUMENTATION = (Path(__file__).parent.parent / "docs/search.md").read_text()
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
PIECES = st.lists(
    st.sampled_from(
        [*(f"{name}:" for name in FIELDS), *'()"[]*:-/ ', " AND ", " OR ", " NOT ", " TO ", "a", "é", "鐘楼"]
    )
    | TEXTS
).map("".join)


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


@given(PIECES)
def test_any_text_is_a_query_or_a_query_error(text: str) -> None:
    """Nothing else is ever raised, and the error stands within the query."""
    try:
        parse_query(text, Analyzer())
    except QueryError as error:
        assert 0 <= error.position <= max(len(text), LONGEST)


@given(PIECES)
def test_the_example_of_an_error_is_a_query_that_works(text: str) -> None:
    """Examples joined by "or" work one by one."""
    try:
        parse_query(text, Analyzer())
    except QueryError as error:
        for example in error.example.split(" or "):
            parse_query(example, Analyzer())


def test_a_deep_query_is_refused_before_it_is_too_deep() -> None:
    """No query can exhaust the stack."""
    parse_query("(" * DEEPEST + "x" + ")" * DEEPEST, Analyzer())
    with pytest.raises(QueryError, match="too many parentheses"):
        parse_query("(" * 900 + "x" + ")" * 900, Analyzer())


@given(TEXTS)
def test_words_stand_in_the_text_in_order(text: str) -> None:
    """Each word names a place of the text, and positions never go back."""
    prepared = prepare(text)
    words = Analyzer().words(prepared)
    assert all(0 <= word.start <= word.end <= len(prepared) for word in words)
    whole = [word for word in words if not word.part]
    assert [word.position for word in whole] == list(range(len(whole)))
    assert all(word.term and " " not in word.term for word in words)


@given(TEXTS)
def test_terms_are_the_words(text: str) -> None:
    """The quick way through a text gives the same as the thorough one."""
    prepared = prepare(text)
    analyzer = Analyzer()
    words, parts = analyzer.terms(prepared)
    found = analyzer.words(prepared)
    assert list(enumerate(words)) == [(word.position, word.term) for word in found if not word.part]
    assert sorted(parts) == sorted((word.term, word.position) for word in found if word.part)


@given(TEXTS)
def test_case_and_composition_make_no_difference(text: str) -> None:
    """NFC or NFD, and lower case twice: the same words."""
    analyzer = Analyzer()
    assert analyzer.phrase(unicodedata.normalize("NFD", text)) == analyzer.phrase(unicodedata.normalize("NFC", text))


@given(TEXTS)
def test_folding_is_done_once(text: str) -> None:
    """What is folded already stays as it is."""
    for char in prepare(text):
        folded = fold_character(char)
        assert "".join(map(fold_character, unicodedata.normalize("NFC", folded))) == folded


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_documented(name: str) -> None:
    """docs/search.md has a line for each."""
    assert f"`{name}:" in DOCUMENTATION


@given(
    st.text(alphabet="abAB12 -_éß鐘楼ー\u0301\u200d", max_size=60),
    st.sets(st.sampled_from(["a", "ab", "b", "e", "鐘", "1"])),
)
def test_words_that_are_sought_are_those_among_all(text: str, sought: set[str]) -> None:
    """The fast way gives what the slow one does, places included."""
    analyzer, prepared = Analyzer(), prepare(text)
    assert list(analyzer.find(prepared, sought.__contains__)) == [
        word for word in analyzer.words(prepared) if word.term in sought
    ]
