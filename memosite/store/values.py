"""Values as bytes: canonically and digested, equal values have equal bytes in any process; and read again.

A value is a frozen dataclass, tuple, text, number or date, as pure modules pass them. To be compared, it is first
reduced to tuples of plain values, which `marshal` then writes. Its version 2 looks at no identities, so identical
objects and equal objects give the same bytes; these are never loaded.

To be read again, it is pickled as its class and its fields. `pickle` runs what it is told to, so only what this user
signed is read.
"""

import datetime as dt
import marshal
import pickle
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from hashlib import blake2b
from io import BytesIO
from operator import attrgetter
from types import BuiltinFunctionType, FunctionType, MappingProxyType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

# Serializes values canonically and digests them: equal values have equal bytes in any process.


DIGEST_BYTES: Final = 12
"""Enough for all pages of all archives: among 10 million values two digests agree once in 10^15 tries."""


Reduce = Callable[[Any], Any]


_PLAIN: Final = frozenset({str, int, bool, float, bytes, type(None)})


_EASY: Final = frozenset({str, type(None)})


_VERSION: Final = 2


_DATES: Final = (dt.datetime, dt.date, dt.time)


class Reducers(dict[type, Reduce]):
    """How to reduce values of each class to plain ones, found once for each class; some may be `given`.

    Fields that have plain values by their types are taken as they are, all at once. A text may be of a class of its own
    (`Phrase`), which counts: with `has_phrases` each text is looked at.
    """

    def __init__(self, given: Mapping[type, Reduce] = MappingProxyType({}), *, has_phrases: bool = False) -> None:
        """Begin with these."""
        super().__init__(given)
        self._given = given
        self._plain = _PLAIN - {str} if has_phrases else _PLAIN

    @cached_property
    def careful(self) -> "Reducers":
        """The same for values that have texts of other classes."""
        return Reducers(self._given, has_phrases=True)

    def __missing__(self, class_: type) -> Reduce:
        self[class_] = reduce = self._find(class_)
        return reduce

    def _find(self, class_: type) -> Reduce:
        if class_ in _PLAIN:
            return _same
        if class_ is tuple:
            return lambda one: tuple([self[type(each)](each) for each in one])
        if class_ is list:
            return lambda one: [self[type(each)](each) for each in one]
        if class_ is dict:
            return lambda one: ("dict", *[(self[type(key)](key), self[type(each)](each)) for key, each in one.items()])
        if class_ in _DATES:  # in a time that the clock shows twice, `fold` says which is meant
            return lambda one: (class_.__name__, one.isoformat(), getattr(one, "fold", 0))
        if issubclass(class_, (type, FunctionType, BuiltinFunctionType)):
            return _named
        if is_dataclass(class_):
            return self._of_dataclass(class_)
        return lambda one: self[tuple](one.__reduce_ex__(pickle.HIGHEST_PROTOCOL))  # which raises for what has no value

    def _of_dataclass(self, class_: type) -> Reduce:
        names, tag = {field.name: self._is_plain(field.type) for field in fields(class_)}, class_.__qualname__
        plain, others = ([name for name in names if names[name] is wanted] for wanted in (True, False))
        of_plain = attrgetter("__class__.__qualname__", *plain) if plain else lambda _: (tag,)
        if not others:
            return of_plain
        of_others = attrgetter(*others)
        if len(others) == 1:
            return lambda one: (of_plain(one), self[type(each := of_others(one))](each))
        return lambda one: (
            of_plain(one),
            [each if type(each) in _EASY else self[type(each)](each) for each in of_others(one)],
        )

    def _is_plain(self, said: object) -> bool:
        """Whether all values of a type are plain; a type that is quoted is not known."""
        if get_origin(said) is Literal or said in self._plain or said is Ellipsis:
            return True
        return get_origin(said) in {tuple, Union, UnionType} and all(map(self._is_plain, get_args(said)))


def _same(one: object) -> object:
    return one


def _named(one: Any) -> tuple[str, str]:
    """A class or function. Raises `TypeError` for one that has no name."""
    if "<" in one.__qualname__:
        raise TypeError(f"{one.__qualname__} has no name")
    return one.__module__, one.__qualname__


_DIGEST_REDUCERS: Final = Reducers()


MODELS: Final = _DIGEST_REDUCERS.careful
"""For what is planned: most of it has phrases."""


def digest_of(value: object, reducers: Reducers = _DIGEST_REDUCERS) -> str:
    """The digest of a value, in hex. Raises `TypeError` or `ValueError` for anything else."""
    try:
        data = marshal.dumps(reducers[type(value)](value), _VERSION)
    except ValueError:  # equal values fail alike
        data = marshal.dumps(reducers.careful[type(value)](value), _VERSION)
    return blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


# Writes values as bytes that are read again: frozen dataclasses, tuples, texts, numbers and dates.


@cache
def _names(class_: type) -> tuple[str, ...]:
    apart = getattr(class_, "APART", ())
    return tuple(field.name for field in fields(class_) if field.name not in apart)


@cache
def _setters(class_: type) -> tuple[Callable[[object, object], None], ...]:
    """What sets each field, past the check that keeps instances frozen: they are slots."""
    return tuple(getattr(class_, name).__set__ for name in _names(class_))


def _restore(class_: type, *values: object) -> object:
    """A dataclass with these values; what it was made of was valid, so nothing is checked."""
    one: object = object.__new__(class_)
    for put, value in zip(_setters(class_), values, strict=True):
        put(one, value)
    return one


class _Reducers(dict[type, Callable[[Any], tuple[Any, ...]]]):
    """How to write each dataclass: as its values, in a third of the time that `pickle` takes by itself.

    Fields that it keeps apart (`APART`, a set of names) are left out.
    """

    def __missing__(self, class_: type) -> Callable[[Any], tuple[Any, ...]]:
        if not is_dataclass(class_) or issubclass(class_, type):
            raise KeyError(class_)
        values = attrgetter("__class__", *_names(class_))

        def reduce(one: object) -> tuple[Any, ...]:
            return _restore, values(one)

        self[class_] = reduce
        return reduce


_REDUCERS: Final = _Reducers()


def value_bytes(value: object) -> bytes:
    """A value as bytes."""
    buffer = BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.dispatch_table = _REDUCERS
    pickler.dump(value)
    return buffer.getvalue()


def read_value(data: bytes | memoryview) -> Any:
    """The value of bytes that `value_bytes` wrote."""
    return pickle.loads(data)  # noqa: S301 - signed by this user
