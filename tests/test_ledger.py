"""The ledger: what must never change is written down once, and lines once written stay as they are (SPEC 10)."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.ledger import LEDGER_PATH, NUMBERS, Arrival, Ledger, identity_key, parse_ledger, read_ledger
from memosite.facts.errors import OutputError
from memosite.facts.parsed import Kind
from tests.support.facts import envelope, resolve_facts
from tests.support.files import write_text

NAMES = st.text(alphabet="abé~.-_", min_size=1, max_size=6).filter(lambda name: not name.startswith("."))
KINDS: st.SearchStrategy[Kind] = st.sampled_from(["memo", "note", "transcript", "library", "document"])
FOUND = st.lists(st.tuples(KINDS, NAMES, st.sampled_from(["k1", "k2"])), max_size=6)
PAGES = st.tuples(st.lists(st.tuples(NAMES, st.tuples(KINDS, NAMES)), max_size=4), st.lists(NAMES, max_size=4))


def parse(text: str) -> Ledger:
    """Read a ledger's text."""
    return parse_ledger(text, name="ledger.jsonl")


@given(st.lists(st.tuples(FOUND, PAGES), max_size=4))
def test_what_is_written_is_read_and_stays_a_prefix(builds: list[tuple[object, tuple[object, object]]]) -> None:
    """Build after build, the file only grows at its end, and reads back as it was."""
    ledger = Ledger()
    before = ""
    for found, (threads, positions) in builds:
        ledger = ledger.with_arrivals(found).with_pages(dict(threads).items(), set(positions))  # type: ignore[arg-type,call-overload]
        text = ledger.to_jsonl()
        assert text.startswith(before) and parse(text) == ledger
        assert parse(text).to_jsonl() == text
        ledger, before = parse(text), text


def test_arrivals_are_numbered_in_the_order_given_and_a_new_key_is_none() -> None:
    """Each artifact once; both keys of a known one lead to its id, and the last one is what it is known by."""
    ledger = Ledger().with_arrivals([("memo", "b", "1"), ("memo", "a", "2")])
    ledger = ledger.with_arrivals([("note", "a", "3"), ("memo", "b", "1")])
    arrived = [(1, "memo", "b"), (2, "memo", "a"), (3, "note", "a")]
    assert [(one.number, one.kind, one.id) for one in ledger.arrivals] == arrived
    assert ledger.numbers[("note", "a")] == 3
    ledger = Ledger().with_arrivals([("memo", "m", "old")]).with_arrivals([("memo", "m", "new")])
    assert len(ledger.arrivals) == 1 and ledger.renewals == (Arrival(number=1, kind="memo", id="m", key="new"),)
    assert ledger.ids_by_key == {("memo", "old"): "m", ("memo", "new"): "m"}
    assert ledger.keys_by_ref == {("memo", "m"): "new"}
    assert ledger.with_arrivals([("memo", "m", "new")]) == ledger


def test_artifacts_arrive_by_date_then_by_id_and_threads_and_positions_once_in_order_of_id() -> None:
    """What has no date comes last; those of before keep their place. A thread of one is its memo's page."""
    known = Ledger().with_pages([("t", ("memo", "m"))], ["p"])
    known = known.with_pages([("t", ("memo", "x")), ("s", ("note", "n"))], ["q", "p", "o"])
    assert known.threads == (("t", ("memo", "m")), ("s", ("note", "n")))
    assert known.positions == ("p", "o", "q")
    found = envelope("a"), envelope("b", in_reply_to="gone"), envelope("c"), envelope("d", in_reply_to="c")
    assert resolve_facts(*found)[1].threads == (("c", ("memo", "c")),)
    archive, ledger = resolve_facts(
        envelope("z", sent="2026-05-01"),
        envelope("x", sent="soon"),
        envelope("2026-04-01-0900--a--b--c", sent=""),
        envelope("b", sent="2026-05-02"),
        envelope("a", sent="2026-05-02T02:00:00+02:00"),
    )
    order = ["2026-04-01-0900--a--b--c", "z", "a", "b", "x"]
    assert [one.id for one in ledger.arrivals] == order
    assert [id_ for _, id_ in archive.artifacts] == order
    archive, _ = resolve_facts(envelope("new", sent="2020-01-01"), envelope("b", sent="2026-05-02"), ledger=ledger)
    assert [(one.id, one.arrival) for one in archive.artifacts.values()] == [("b", 4), ("new", 6)]


def test_the_ledger_is_read_from_the_published_site_and_goes_on_while_there_are_numbers(tmp_path: Path) -> None:
    """Where SPEC 4 says; a last line without its end is ended, and one that stands twice counts once."""
    assert LEDGER_PATH == "archive/ledger.jsonl" and read_ledger(tmp_path) == Ledger()
    write_text(tmp_path / LEDGER_PATH, Ledger().with_pages([], ["p"]).to_jsonl())
    assert read_ledger(tmp_path).positions == ("p",)
    (tmp_path / LEDGER_PATH).write_bytes(b"\xff\xfe\n")
    with pytest.raises(OutputError, match=r"ledger\.jsonl: the ledger cannot be read"):
        read_ledger(tmp_path)
    line = '{"v": 1, "kind": "position", "id": "p"}'
    assert parse(parse(line).with_pages([], ["q"]).to_jsonl()).positions == ("p", "q")
    assert parse(f"{line}\n{line}\n").positions == ("p",)
    line = json.dumps({"v": 1, "n": NUMBERS - 1, "kind": "memo", "id": "last", "key": "k"})
    ledger = parse_ledger(line, name="made up")
    assert ledger.with_arrivals([("memo", "last", "k")]) == ledger
    with pytest.raises(OutputError, match="go on from another --previous"):
        ledger.with_arrivals([("memo", "new", "k")])


DAMAGED = [
    "{", "[]", "7", "[" * 100_000, "<<<<<<< ours",
    '{"v": 1, "kind": "memo", "id": "m", "key": "k"}',
    '{"v": 1, "n": 0, "kind": "memo", "id": "m", "key": "k"}',
    '{"v": 1, "n": "x", "kind": "memo", "id": "m", "key": "k"}',
    '{"v": 1, "n": 1, "kind": "letter", "id": "m", "key": "k"}',
    '{"v": 1, "n": 1, "kind": "memo", "id": 7, "key": "k"}',
    '{"v": 1, "kind": "thread", "id": "t", "member": "letter/m"}',
    '{"v": 1, "kind": ["position"], "id": "p"}',
]  # fmt: skip
OUTSIDE = [
    '{"v": 1, "n": 1, "kind": "memo", "id": "../../escaped", "key": "k"}',
    '{"v": 1, "n": 1, "kind": "memo", "id": "a\\u0000b", "key": "k"}',
    '{"v": 1, "n": 1, "kind": "memo", "id": "\\ud800", "key": "k"}',
    '{"v": 1, "n": 1e999, "kind": "memo", "id": "a", "key": "k"}',
    '{"v": 1, "kind": "position", "id": "/etc"}',
    '{"v": 1, "kind": "position", "id": ""}',
    '{"v": 1, "kind": "ghost", "id": "memo/.."}',
    '{"v": 1, "kind": "thread", "id": "%s", "member": "memo/a"}' % ("x" * 300),
]
"""Ids that would lead out of the site: the ledger lies in the output, where anybody may have written to it."""


@pytest.mark.parametrize("line", [*DAMAGED, *OUTSIDE])
def test_a_damaged_line_stops_the_build_and_is_named(line: str) -> None:
    """Going on without it would give URLs a new meaning."""
    with pytest.raises(OutputError, match=r"^ledger\.jsonl:2: the ledger is damaged here") as error:
        parse('{"v": 1, "kind": "position", "id": "p"}\n' + line + "\n")
    assert "\n" not in str(error.value)


def test_the_key_tells_each_of_its_parts_apart() -> None:
    """16 hex of SHA-256(stem NUL from NUL to NUL sent); never an error, whatever the name."""
    parts = ("abcd", ("ab", "", "c", "d"), ("a", "b", "", "cd"), ("\udcff", "", "", ""), ("\udcfe", "", "", ""))
    keys = {identity_key(*some) for some in parts}
    assert len(keys) == 5 and all(len(key) == 16 for key in keys)


def test_only_what_was_added_to_a_known_ledger_is_read() -> None:
    """As if all had been read; of another one nothing is known. A damaged line is counted from the first."""
    first = Ledger().with_arrivals([("memo", "a", "1"), ("memo", "b", "2")]).with_pages([("t", ("memo", "a"))], ["p"])
    known = parse(first.to_jsonl())
    text = known.with_arrivals([("memo", "a", "new"), ("memo", "c", "3")]).with_pages([], ["q"]).to_jsonl()
    again = parse_ledger(text, name="ledger", known=known)
    assert again == parse(text)
    assert again.to_jsonl() == text
    assert (again.published, again.counts) == (parse(text).published, parse(text).counts)
    other = Ledger().with_arrivals([("note", "z", "9")]).to_jsonl()
    assert parse_ledger(other, name="ledger", known=known) == parse(other)
    known = parse(Ledger().with_arrivals([("memo", "a", "1"), ("memo", "b", "2")]).to_jsonl())
    with pytest.raises(OutputError, match=r"^ledger:3: "):
        parse_ledger(known.published + "{\n", name="ledger", known=known)
