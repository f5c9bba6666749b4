"""Dataclasses of which some fields are kept apart: they are loaded when they are first asked for.

A list of 10,000 artifacts needs their subjects, not the files and events of each. So a kept artifact
(`reading/kept.py`) is without the fields named in `APART`, and these are kept beside it.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

Load = Callable[[], tuple[Any, ...]]


class Apart:
    """The base of such a dataclass. One that was made as usual has all its fields."""

    __slots__ = ("_load",)
    APART: ClassVar[frozenset[str]] = frozenset()

    if not TYPE_CHECKING:  # else every name would be one of its attributes

        def __getattr__(self, name: str) -> Any:
            """Load the fields that are kept apart; called for what is not there yet."""
            if name not in type(self).APART:
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            for field, value in zip(names_apart(type(self)), self._load(), strict=True):
                object.__setattr__(self, field, value)
            return getattr(self, name)


@cache
def names_apart(class_: Any) -> tuple[str, ...]:
    """The fields of such a dataclass that are kept apart, in their order."""
    return tuple(field.name for field in fields(class_) if field.name in class_.APART)


def values_apart(one: Apart) -> tuple[Any, ...]:
    """The values of the fields that are kept apart."""
    class_: Any = type(one)
    return tuple(getattr(one, name) for name in names_apart(class_))


def load_later(one: Apart, load: Load) -> None:
    """Let the fields that are missing be loaded by this function, which gives their values in their order."""
    object.__setattr__(one, "_load", load)
