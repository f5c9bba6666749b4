"""Digests of values: equal for equal values, whatever objects they are made of, and different for all others."""

import datetime as dt
from typing import Any

import pytest

from memosite.facts.json_text import NumberText
from memosite.facts.phrases import phrase
from memosite.facts.values import Value, replace
from memosite.store.values import digest_of


class Leaf(Value):
    """All of its fields are plain."""

    name: str
    count: int | None = None
    words: tuple[str, ...] = ()


class Branch(Value):
    """It has values of its own in fields of several kinds."""

    leaf: Leaf
    leaves: tuple[Leaf, ...] = ()
    at: dt.datetime | None = None
    title: str = ""


LEAF = Leaf(name="a", words=("b", "c"))
NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
BRANCH = Branch(leaf=LEAF, leaves=(LEAF, LEAF), at=NOON, title="t")


def again(text: str) -> str:
    """An equal text that is another object."""
    return "".join(list(text))


def test_equal_values_have_equal_digests_others_have_others_and_what_has_no_value_has_none() -> None:
    """Of other objects, one twice or two that are equal; Python calls some equal that are of other classes."""
    leaf = Leaf(name=again("a"), words=(again("b"), again("c")))
    one = replace(BRANCH, leaf=leaf, leaves=(leaf, LEAF), at=NOON.replace(), title=again("t"))
    assert one == BRANCH
    others: list[Any] = [
        LEAF, replace(LEAF, count=0), replace(LEAF, words=()), replace(LEAF, name=phrase("a")),
        replace(LEAF, name=phrase("a", context="of a page")), replace(LEAF, name=NumberText("a")), BRANCH,
        replace(BRANCH, title=phrase("t")), replace(BRANCH, leaves=()), replace(BRANCH, at=None),
        *("1", 1, 1.0, True, b"1", None, (), {}, ("1",), {"1": 1}, {"1": True}, Leaf, Branch),
        *(NOON.date(), NOON.time(), NOON, NOON.replace(tzinfo=None)),
        *(phrase("1"), "a\ud800", "a\ud801", 1 << 100, -1 << 100),
    ]  # fmt: skip
    assert digest_of(one) == digest_of(BRANCH)
    assert len({digest_of(other) for other in others}) == len(others)
    for wrong in (lambda: None, iter([lambda: None])):
        with pytest.raises((TypeError, ValueError)):
            digest_of((wrong,))
