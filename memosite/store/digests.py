"""Serializes values canonically and digests them: equal values have equal bytes in any process.

A value is a frozen dataclass, tuple, text, number or date, as pure modules pass them. The bytes are a pickle without
its memo, so that identical objects and equal objects give the same bytes. They are made to be compared, never to be
loaded.
"""

import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from io import BytesIO
from operator import attrgetter
from typing import Any, Final, cast

DIGEST_BYTES: Final = 12
"""Enough for all pages of all archives: among 10 million values two digests agree once in 10^15 tries."""

Reduce = Callable[[Any], tuple[Any, ...]]


class Reducers(dict[type, Reduce]):
    """How to reduce each dataclass to its fields, found once for each class. `pickle` calls this for a new one."""

    def __missing__(self, class_: type) -> Reduce:
        if issubclass(class_, type):
            raise KeyError(class_)  # a class is pickled by its name
        if not is_dataclass(class_):
            # The same as `pickle` does; listed here, it is faster.
            reduce_other = self[class_] = lambda one: cast(
                "tuple[Any, ...]", one.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
            )
            return reduce_other
        names = tuple(field.name for field in fields(class_))
        values = attrgetter(*names, "__class__")  # with another name it gives a tuple for a class of one field, too

        def reduce(one: object) -> tuple[Any, ...]:
            return class_, values(one)

        self[class_] = reduce
        return reduce


_REDUCERS: Final = Reducers()


def digest_of(value: object, reducers: Reducers = _REDUCERS) -> str:
    """The digest of a value, in hex. Raises what `pickle` raises for anything else."""
    buffer = BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True  # without it the bytes depend on which equal strings are one object
    pickler.dispatch_table = reducers
    pickler.dump(value)
    return blake2b(buffer.getbuffer(), digest_size=DIGEST_BYTES).hexdigest()
