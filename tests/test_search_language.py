"""The analyzer and the language of queries: one table of cases, and what holds for any text."""

import json
import subprocess
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite import search_language as language
from memosite.search_language import (
    DEEPEST,
    FIELDS,
    LONGEST,
    Analyzer,
    QueryError,
    fold_character,
    leaves,
    parse_query,
    prepare,
    read_date,
)
from tests.support.files import ROOT
from tests.support.fuzzing import fuzz
from tests.support.mutations import mutated_lines

CASES = json.loads((Path(__file__).parent / "search_cases.json").read_text())
DOCUMENTATION = (Path(__file__).parent.parent / "docs/search.md").read_text()
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS)
def test_case_and_composition_make_no_difference_and_folding_is_done_once(text: str) -> None:
    """NFC or NFD: the same words; what is folded already stays as it is."""
    analyzer = Analyzer()
    assert analyzer.phrase(unicodedata.normalize("NFD", text)) == analyzer.phrase(unicodedata.normalize("NFC", text))
    for char in prepare(text):
        folded = fold_character(char)
        assert "".join(map(fold_character, unicodedata.normalize("NFC", folded))) == folded


def as_lists(node: language.QueryNode) -> list[object]:
    """The tree of a query."""
    match node:
        case language.Words(field=field, terms=terms, prefix=prefix, exact=exact):
            return ["words", field, list(terms), prefix, *[True] * exact]
        case language.KeyTerm(field=field, value=value, prefix=prefix):
            return ["key", field, value, prefix]
        case language.Dates(start=start, end=end):
            return ["dates", start, end]
        case language.Ago(days=days, newer=newer):
            return ["ago", days, newer]
        case language.And(parts=parts):
            return ["and", *map(as_lists, parts)]
        case language.Or(parts=parts):
            return ["or", *map(as_lists, parts)]
        case language.Not(part=part):
            return ["not", as_lists(part)]


def test_words_names_and_queries_are_read_as_the_table_says() -> None:
    """As the table says, with positions and parts."""
    for case in CASES["words"]:
        words = Analyzer().words(prepare(str(case["text"])))
        assert [[word.term, word.position] + ["part"] * word.part for word in words] == case["words"]
    for case in CASES["keywords"]:
        assert Analyzer().keyword(case["text"]) == case["keyword"]
    for case in CASES["forms"]:
        assert list(language.forms_of(case["term"])) == case["forms"]
    for case in CASES["queries"]:
        try:
            found: dict[str, object] = {"tree": as_lists(parse_query(str(case["query"]), Analyzer()))}
        except QueryError as error:
            found = {"error": [error.message, error.position, error.example]}
        assert found == {name: value for name, value in case.items() if name != "query"}
    parse_query("(" * DEEPEST + "x" + ")" * DEEPEST, Analyzer())
    with pytest.raises(QueryError, match="too many parentheses"):
        parse_query("(" * 900 + "x" + ")" * 900, Analyzer())
    for name in FIELDS:
        assert f"`{name}:" in DOCUMENTATION


SEEDS = [case["query"] for case in CASES["queries"]] + [case["text"] for case in (*CASES["words"], *CASES["keywords"])]
WORDS = (
    *(f"{name}:" for name in (*FIELDS, "author", "form", "re")),
    *(" AND ", " OR ", " NOT ", " TO ", "(", ")", '"', "[", "]", "*", "2w", "2026-05", "0000", "9999-12-31T23:59Z"),
    *("1a2b3c4", "readArchiveHTTP2Text", "is:open", "in:tools", "\u3000", "\xa0"),
    *("ﬁ", "ǅ", "İ", "ς", "ｶﾞ", "鐘楼", "한글"),
)


def _is_shared(char: str) -> bool:
    return unicodedata.ucd_3_2_0.category(char) not in {"Cn", "Cs", "Co"}


ANY = st.characters(max_codepoint=0x2FA1D, exclude_categories=["Cs"]).filter(_is_shared)
QUERIES = st.one_of(
    mutated_lines(SEEDS, WORDS).map(lambda text: "".join(filter(_is_shared, text))),
    st.lists(st.sampled_from(WORDS) | st.text(ANY, max_size=8), max_size=12).map("".join),
)


def here(text: str) -> dict[str, Any]:
    """What a text is, by Python."""
    analyzer = Analyzer()
    try:
        query: dict[str, Any] = {"tree": as_lists(parse_query(text, analyzer))}
    except QueryError as error:
        query = {"error": [error.message, error.position, error.example]}
    words = [[one.term, one.position, one.start, one.end, one.part] for one in analyzer.words(prepare(text))]
    return {"query": query, "words": words, "keyword": analyzer.keyword(text)}


@fuzz(st.lists(QUERIES, min_size=20, max_size=200), examples=6)
def test_the_browser_understands_the_same(texts: list[str]) -> None:
    """The same tree or the same error at the same place, the same words and names."""
    command = ["node", str(ROOT / "tests/search_parse.js")]
    done = subprocess.run(command, input=json.dumps(texts).encode(), capture_output=True, timeout=600, check=True)
    for text, there in zip(texts, json.loads(done.stdout), strict=True):
        assert {"text": text, **here(text)} == {"text": text, **there}


@fuzz(QUERIES | st.text(), examples=200, known=["\xadÆ"])
def test_any_text_is_a_query_or_a_query_error_and_words_are_in_it(text: str) -> None:
    """Also with lone surrogates; each word has a place, in order, and the quick ways know the same words."""
    prepared = prepare(text)
    analyzer = Analyzer()
    words = analyzer.words(prepared)
    assert all(0 <= one.start <= one.end <= len(prepared) for one in words)
    assert all(one.term and " " not in one.term for one in words)
    assert list(analyzer.find(prepared, bool)) == words
    sought = {one.term for one in words[::3]}
    assert list(analyzer.find(prepared, sought.__contains__)) == [one for one in words if one.term in sought]
    whole, parts = analyzer.terms(prepared)
    assert list(enumerate(whole)) == [(one.position, one.term) for one in words if not one.part]
    assert sorted(parts) == sorted((one.term, one.position) for one in words if one.part)
    span = read_date(text)
    assert span is None or span[0] < span[1]
    try:
        tree = parse_query(text, analyzer)
    except QueryError as error:
        assert 0 <= error.position <= max(len(text), LONGEST)
        for example in error.example.split(" or "):
            parse_query(example, analyzer)
        return
    assert parse_query(text, analyzer) == tree
    assert list(leaves(tree))
    json.dumps(as_lists(tree))
