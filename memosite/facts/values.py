"""What everything is made of: values, whose fields are set once, by name, and never change.

`msgspec` makes their classes: a value takes a fifth of the time that a dataclass takes, written to bytes or read from
them a tenth (docs/decisions/0028-values.md).
"""

from abc import ABCMeta
from collections.abc import Iterable
from typing import Any, dataclass_transform

from msgspec import Struct, StructMeta, field
from msgspec.structs import replace

__all__ = ["AbstractValues", "Struct", "Value", "as_dict", "field", "replace"]


class _Values(StructMeta):
    """The class of classes of values. As bytes they are the name of the class and the fields in their order.

    What has a `dict`, for properties that are computed once, may be part of a cycle; other values are none, so the
    garbage collector need not look at them. Fields named in `apart` do not count: equal values may differ in them, and
    no message shows them.
    """

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, apart: Iterable[str] = (), **options: Any
    ) -> Any:
        given: Any = {"frozen": True, "kw_only": True, "array_like": True, "tag": True, "tag_field": "$", "gc": False}
        if options.get("dict") or any(base.__dictoffset__ for base in bases):
            given |= {"weakref": True, "gc": True}
        made: Any = super().__new__(cls, name, bases, namespace | (_COUNTED if apart else {}), **(given | options))
        if apart:
            made.counted = tuple(one for one in made.__struct_fields__ if one not in frozenset(apart))
        return made


def _is_equal(self: Any, other: object) -> bool:
    return type(self) is type(other) and _counted(self) == _counted(other)


def _hash(self: Any) -> int:
    return hash(_counted(self))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.counted)
    return f"{type(self).__name__}({shown})"


def _counted(one: Any) -> tuple[object, ...]:
    return tuple(getattr(one, name) for name in one.counted)


_COUNTED = {"__eq__": _is_equal, "__hash__": _hash, "__repr__": _repr}


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Value(Struct, metaclass=_Values, frozen=True):
    """The base of all values: equal fields, equal values. A class says `dict=True` if it has cached properties."""


class AbstractValues(_Values, ABCMeta):
    """The class of classes of values that have abstract methods."""


def as_dict(value: Any) -> Any:
    """A value as a dictionary of its fields, and so are the values in it and in its tuples."""
    if isinstance(value, Struct):
        return {name: as_dict(getattr(value, name)) for name in value.__struct_fields__}
    return tuple(map(as_dict, value)) if isinstance(value, tuple) else value
