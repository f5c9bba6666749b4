"""YAML is read as texts, within bounds, and a fault in one field costs none of the others."""

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memosite.facts.findings import Rule
from memosite.formats.yaml_text import INVALID, NODES, REPEATED, YAML_CHARS, YAML_DEPTH, read_yaml, split_head

CALM = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def places(source: str) -> list[tuple[Rule, int | None]]:
    """What is wrong with a source, by rule and line."""
    return [(problem.rule, problem.line) for problem in read_yaml(source).problems]


def test_scalars_stay_as_they_were_written() -> None:
    """Types would turn a version into a number; only a plain null is nothing, and stray characters are replaced."""
    written = {"a": "1.10", "b": "on", "c": "2026-02-03T08:15:00+01:00", "d": "'null'", "1": "0x1f", "null": "y"}
    read = read_yaml("".join(f"{key}: {value}\n" for key, value in written.items()))
    assert read.fields == {**written, "d": "null"}
    assert read_yaml("a: null\nb: ~\nc:\nd: ''\n").fields == {"a": None, "b": None, "c": None, "d": ""}
    read = read_yaml('a: 1\nb: x\x07y\nc: "\\ud800"\n')
    assert read.fields == {"a": "1", "b": "x\ufffdy", "c": "\ufffd"}
    assert places('a: 1\nb: x\x07y\nc: "\\ud800"\n') == [(INVALID, 2)]
    assert places("a: 1\nb: {c: 1, c: 2}\na: 3\n") == [(REPEATED, 2), (REPEATED, 3)]
    assert read_yaml("a: 1\na: 3\nb: *x\n").fields == {"a": "3"}
    assert places("a: 1\na: 3\nb: *x\n") == [(REPEATED, 2), (INVALID, 3)]


def test_every_key_and_entry_has_its_line() -> None:
    """Counted in the file, by line feeds, at any depth; a text is cut at its frontmatter."""
    read = read_yaml('a: "x\u2028y"\nb:\n- c: 1\n  d: [e,\n    {f: g}]\n', line=2)
    lines = [(("a",), 2), (("b",), 3), (("b", 0), 4), (("b", 0, "c"), 4), (("b", 0, "d"), 5)]
    lines += [(("b", 0, "d", 0), 5), (("b", 0, "d", 1), 6), (("b", 0, "d", 1, "f"), 6)]
    assert list(read.lines.items()) == lines
    closed = split_head("---\na: 1\n---\n# Text\n")
    assert closed is not None
    assert (closed.source, closed.line, closed.body, closed.is_closed) == ("a: 1\n", 2, "# Text\n", True)
    for rest in ("\nText\n", "# Text\n"):
        open_ = split_head(f"---\na: 1\n{rest}")
        assert open_ is not None
        assert (open_.source, open_.body, open_.is_closed) == ("a: 1\n", rest, False)
    assert split_head("a: 1\n---\n") is None
    assert split_head("----\na: 1\n---\n") is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"a "quoted" b"', 'a "quoted" b'),
        ("'it's'", "it's"),
        ('"never closed', "never closed"),
        ("what: it is", "what: it is"),
        ("@somebody", "@somebody"),
        ("`code` first", "`code` first"),
        ('"one" and "two"', 'one" and "two'),
    ],
)
def test_a_value_that_lacks_quotes_is_taken_as_it_was_meant(written: str, meant: str) -> None:
    """At the top, below a key and in a list; with a finding at its line."""
    read = read_yaml(f"a: 1\nb: {written}\nc:\n  d:\n  - e: {written}\n    f: 2\n  g:\n    - {written}\nh: 3\n")
    assert read.fields["b"] == meant
    assert read.fields["c"]["d"] == [{"e": meant, "f": "2"}]
    assert read.fields["h"] == "3"
    assert {(problem.rule, problem.line) for problem in read.problems} >= {(INVALID, 2), (INVALID, 5)}


@pytest.mark.parametrize(
    "field", ["a: &x [1]", "a: *x", "a: !!python/object:os.system x", "a: !x y", "a: [1, 2", "a: {b", "a: {[1]: 2}"]
)
def test_what_is_refused_or_cannot_be_mended_is_left_out(field: str) -> None:
    """One finding at its line; the other fields are read, and the name of the one left out is known."""
    read = read_yaml(f"first: 1\n{field}\nlast: 2\n")
    assert read.fields == {"first": "1", "last": "2"}
    assert read.unread == {"a"}
    assert [(problem.rule, problem.line) for problem in read.problems] == [(INVALID, 2)]


@pytest.mark.parametrize("source", ["- a\n- b\n", "just words\n", "[1, 2]\n"])
def test_what_is_not_made_of_fields_has_none(source: str) -> None:
    """A list or a text is no frontmatter."""
    read = read_yaml(source)
    assert read.fields == {}
    assert [problem.rule for problem in read.problems] == [INVALID]


def test_depth_number_and_length_have_bounds() -> None:
    """What goes beyond them is left out with a finding, and what comes before is read."""
    assert "a" in read_yaml("a: " + "[" * (YAML_DEPTH - 1) + "]" * (YAML_DEPTH - 1)).fields
    assert places("a: 1\nb: " + "[" * YAML_DEPTH + "]" * YAML_DEPTH) == [(INVALID, 2)]
    many = "b:\n" + "- x\n" * NODES
    assert read_yaml(f"a: 1\n{many}c: 2\n").fields == {"a": "1", "c": "2"}
    assert [rule for rule, _ in places(f"a: 1\n{many}c: 2\n")] == [INVALID]
    read = read_yaml("a: 1\n" + "b: 2 # comment\n" * YAML_CHARS)
    assert read.fields == {"a": "1", "b": "2"}
    assert len(read.problems) <= 20


@pytest.mark.parametrize(
    "source",
    [
        "[" * YAML_CHARS,
        "a: {" * (YAML_CHARS // 4),
        "- " * (YAML_CHARS // 2),
        '"' * (YAML_CHARS - 9) + ": a: b",
        "".join(f"k{number}: *x\n" for number in range(6_000)),
        "".join(f"k{number}: x\n" for number in range(6_000)) + "z: *x\n",
        "k:\n" + "  - a: b: c\n" * 5_000,
        "k: *" + " " * (YAML_CHARS - 9),
    ],
    ids=["brackets", "braces", "dashes", "quotes", "aliases", "many fields", "one field", "spaces"],
)
def test_a_hostile_source_has_few_problems(source: str) -> None:
    """Each way to read it again has a bound of its own."""
    assert 1 <= len(read_yaml(source).problems) <= 20


class PlainDumper(yaml.SafeDumper):
    """Writes YAML without aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - whatever it is
        """Always."""
        return True


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
VALUES = st.recursive(
    st.none() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@CALM
@given(st.dictionaries(TEXTS, VALUES, max_size=6))
def test_yaml_that_a_machine_wrote_is_read_as_it_was_meant(values: dict[str, Any]) -> None:
    """Whatever the texts hold, and nothing is found wrong with it."""
    read = read_yaml(yaml.dump(values, Dumper=PlainDumper, allow_unicode=True, sort_keys=False))
    assert read.fields == values
    assert read.problems == ()
