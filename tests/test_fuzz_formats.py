"""Fuzzes what reads single files: damaged cases of every format, and of the example, under any name.

A file gives a result, the same each time, whose findings are on lines it has; never an exception.
"""

import json
from typing import Any

from hypothesis import strategies as st

from memosite.facts.file import File
from memosite.facts.layout import place_of
from memosite.facts.parsed import Parsed
from memosite.formats import adapters, memodef
from memosite.formats.systems import SYSTEMS, split_file
from tests.support.cases import all_inputs, check_promises
from tests.support.facts import texts_in
from tests.support.fuzzing import fuzz
from tests.support.mutations import as_bytes, mutated, mutated_json, mutated_lines, one_of

SEEDS = all_inputs()
PATHS = one_of(sorted(SEEDS))
TEXTS = sorted({data.decode("utf-8", "replace") for data in SEEDS.values()})
WORDS = sorted({line.encode() for text in TEXTS for line in text.split("\n") if 2 < len(line) < 60})[::7]
OBJECTS: dict[str, Any] = {}
for _at, _data in SEEDS.items():
    try:
        OBJECTS[_at] = json.loads(_data)
    except ValueError:
        continue


def check(path: str, data: bytes) -> None:
    """Parse a file in each way; hold the results to what is promised of any."""
    results = [
        _twice(adapters.parse, path, data),
        _twice(adapters.parse_record, path, data),
        memodef.parse_body(_file(path, data)),
    ]
    place = place_of(path)
    if place is not None:
        results.append(memodef.parse_broken(_file(path, data), place))
    for parsed in results:
        check_promises(parsed, path, data)
        for text in texts_in(parsed.fact):
            text.encode("utf-8")
    for system in SYSTEMS:
        split_file(_file(path, data), system)


def _file(path: str, data: bytes) -> File:
    return File(source="harbour", path=path, data=data)


def _twice(parse: Any, path: str, data: bytes) -> Parsed:
    first: Parsed = parse(_file(path, data))
    assert parse(_file(path, data)) == first
    return first


@fuzz(PATHS.flatmap(lambda at: st.tuples(st.just(at), mutated([SEEDS[at]], WORDS))), examples=100)
def test_a_damaged_file_gives_a_result(case: tuple[str, bytes]) -> None:
    """Where it was."""
    check(*case)


@fuzz(st.tuples(PATHS, mutated(sorted(SEEDS.values()), WORDS)), examples=100)
def test_a_damaged_file_under_another_name_gives_a_result(case: tuple[str, bytes]) -> None:
    """As if one format had been copied over another."""
    check(*case)


@fuzz(st.tuples(PATHS, mutated_lines(TEXTS, [word.decode() for word in WORDS])), examples=100)
def test_a_text_of_mixed_lines_gives_a_result(case: tuple[str, str]) -> None:
    """Markdown, YAML and lists with their lines in disorder."""
    check(case[0], case[1].encode("utf-8", "replace"))


@fuzz(st.tuples(one_of(sorted(OBJECTS)), mutated_json(list(OBJECTS.values()))), examples=150)
def test_json_of_another_shape_gives_a_result(case: tuple[str, Any]) -> None:
    """With values, keys and parts where they do not belong."""
    check(case[0], as_bytes(case[1]))
