"""What is remembered from one resolve to the next: calls of functions, and that remembering makes no difference."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memosite.archive.ledger import Ledger
from memosite.facts.parsed import Fact
from memosite.resolve import resolve
from memosite.run.recall import FORGETFUL, Recall, Same
from tests.support.facts import envelope, no_line, organization, parsed_of
from tests.support.random_facts import RULES, any_facts, distinct


def test_a_call_of_the_last_round_is_not_made_again_and_what_comes_out_equal_is_the_object_of_before() -> None:
    """As long as its arguments are equal, and it is asked for; what is too large to be compared is equal to itself."""
    made: list[tuple[int, ...]] = []

    def make(*of: int) -> list[int]:
        made.append(of)
        return list(of)

    recall = Recall()
    first = recall.calls(make)("a", 1, 2)
    recall.next_round()
    assert recall.calls(make)("a", 1, 2) is first
    assert recall.calls(make)("b", 1, 2) == first
    recall.next_round()
    assert recall.calls(make)("a", 2) == [2]
    recall.next_round()
    recall.next_round()
    assert recall.calls(make)("a", 2) == [2]
    assert made == [(1, 2), (1, 2), (2,), (2,)]
    recall = Recall()
    before = recall.same("key", ["a", "value"])
    recall.next_round()
    assert recall.same("key", ["a", "value"]) is before
    recall.next_round()
    assert recall.same("key", ["another"]) == ["another"]
    value = FORGETFUL.same("key", [1])
    assert FORGETFUL.same("key", [1]) is not value
    FORGETFUL.next_round()
    assert Same(value) == Same(value)
    assert Same(value) != Same([1])


@given(st.lists(any_facts(), max_size=9), st.lists(st.sets(st.integers(0, 8)), min_size=2, max_size=4))
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_what_is_remembered_makes_no_difference(found: list[Fact], rounds: list[set[int]]) -> None:
    """Whatever comes and goes between one resolve and the next, and whatever the ledger has learned."""
    recall, ledger = Recall(), Ledger()
    for chosen in rounds:
        some = [fact for number, fact in enumerate(found) if number in chosen]
        parsed = distinct([*some, organization("acme", "engineer", "director", "tester")])
        expected = resolve(parsed, RULES, ledger, no_line)
        assert resolve(parsed, RULES, ledger, no_line, recall=recall) == expected
        ledger = expected[1]


def test_a_memo_that_comes_leaves_the_others_as_they_are() -> None:
    """Those that it does not answer are not only equal: they are the same objects."""
    names = [f"2026-05-0{day}-0900--engineer--director--{word}" for day, word in enumerate(("one", "two", "three"), 1)]
    one, two = (envelope(name, sender="engineer", to="director") for name in names[:2])
    reply = envelope(names[2], sender="engineer", to="director", in_reply_to=names[1])
    recall = Recall()
    before, ledger = resolve([parsed_of(fact) for fact in (one, two)], RULES, Ledger(), no_line, recall=recall)
    after, _ = resolve([parsed_of(fact) for fact in (one, two, reply)], RULES, ledger, no_line, recall=recall)
    assert after.artifacts["memo", names[0]] is before.artifacts["memo", names[0]]
    assert after.artifacts["memo", names[1]] != before.artifacts["memo", names[1]]
