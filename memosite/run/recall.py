"""Memoizes pure functions across rebuilds (`serve`).

    calls = recall.calls(function)
    calls(key, *arguments) ─► arguments equal to those of last time? ─► the last result
                                      └ no: function(*arguments) ─► equal to it? ─► the last result

An equal result is therefore the same object as before, so that later steps find by identity that it did not change.
Functions must be pure, and their results must not be changed.
"""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Recall:
    """Memoized calls of the last round, by function. One that forgets calls every function anew and keeps nothing."""

    def __init__(self, *, forgets: bool = False) -> None:
        """Begin without any."""
        self._forgets = forgets
        self._calls: dict[Callable[..., Any], Calls[Any]] = {}

    def calls(self, function: Callable[..., T]) -> "Calls[T]":
        """The memoized calls of this function."""
        if self._forgets:
            return Calls(function, forgets=True)
        if function not in self._calls:
            self._calls[function] = Calls(function)
        return self._calls[function]

    def same(self, key: Hashable, value: T) -> T:
        """The value that had this key in the last round, if it is equal to this one; else this one."""
        known: T = self.calls(_as_it_is)(key, value)
        return known

    def next_round(self) -> None:
        """Drop entries that were not used since this was called last."""
        for calls in self._calls.values():
            calls.next_round()


class Calls(Generic[T]):
    """The calls of one function, each under a key."""

    __slots__ = ("_forgets", "_former", "_function", "_now")

    def __init__(self, function: Callable[..., T], *, forgets: bool = False) -> None:
        """Begin without any."""
        self._function = function
        self._forgets = forgets
        self._former: dict[Hashable, tuple[tuple[Any, ...], T]] = {}
        self._now: dict[Hashable, tuple[tuple[Any, ...], T]] = {}

    def __call__(self, key: Hashable, *arguments: Any) -> T:
        """The function's result for these arguments, memoized."""
        if self._forgets:
            return self._function(*arguments)
        known = self._former.get(key)
        if known is None or known[0] != arguments:
            value = self._function(*arguments)
            known = arguments, known[1] if known is not None and known[1] == value else value
        self._now[key] = known
        return known[1]

    def next_round(self) -> None:
        """Drop entries that were not used in this round."""
        self._former, self._now = self._now, {}


class Same(Generic[T]):
    """An argument that is compared by identity: for values that are too large to be compared each time."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        """Hold this value."""
        self.value = value

    def __eq__(self, other: object) -> bool:
        """Whether it is the very same object."""
        return isinstance(other, Same) and self.value is other.value

    __hash__ = None  # type: ignore[assignment] # it is compared, not looked up


def _as_it_is(value: T) -> T:
    return value


FORGETFUL = Recall(forgets=True)
"""For who resolves once."""
