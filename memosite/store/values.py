"""Values as bytes: canonically and digested, equal values have equal bytes in any process; and read again.

A value is a `Value`, tuple, text, number or date, as pure modules pass them. `msgspec` writes it as arrays, each class
by its name, and reads it by its type. What that cannot hold (half of a surrogate pair, a number of more than 64 bits, a
phrase) is pickled. `pickle` runs what it is told to, so only what this user signed is read.
"""

import pickle
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

DIGEST_BYTES: Final = 12
"""Enough for all pages of all archives: among 10 million values two digests agree once in 10^15 tries."""


def digest_of(value: object) -> str:
    """The digest of a value, in hex. Raises `TypeError` or `ValueError` for what is none."""
    try:
        data = _DIGESTED.encode(value)
    except (UnicodeEncodeError, OverflowError):  # equal values fail alike
        data = _DIGESTED.encode(_plain(value))
    return blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def _reduced(one: Any) -> object:
    """A value of another class as plain ones: a phrase as what it is made of, a class or function by its name."""
    if isinstance(one, type | FunctionType | BuiltinFunctionType):
        if "<" in one.__qualname__:
            raise TypeError(f"{one.__qualname__} has no name")
        return one.__module__, one.__qualname__
    return dict(one) if isinstance(one, Mapping) else one.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


def _plain(value: Any) -> object:
    """A value with texts as bytes, and numbers as texts. Values are nested only a few levels deep."""
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass")
    if type(value) is int:
        return ("int", str(value))
    if isinstance(value, Struct):
        return (type(value).__qualname__, *(_plain(getattr(value, name)) for name in value.__struct_fields__))
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    if isinstance(value, Mapping):
        return {_plain(key): _plain(one) for key, one in value.items()}
    return _plain(_reduced(value)) if isinstance(value, str) else value


_DIGESTED: Final = Encoder(enc_hook=_reduced)


# Writes values as bytes that are read again.


_AS_MSGPACK, _AS_PICKLE = b"m", b"p"


def value_bytes(value: object) -> bytes:
    """A value as bytes."""
    try:
        return _AS_MSGPACK + _WRITTEN.encode(value)
    except (TypeError, UnicodeEncodeError, OverflowError):
        return pickled(value)


def pickled(value: object) -> bytes:
    """A value as bytes whatever is in it: what is of a class that its type does not name."""
    return _AS_PICKLE + pickle.dumps(value, protocol=5)


def read_value(data: bytes, kind: Any) -> Any:
    """The value of this type of bytes that `value_bytes` wrote."""
    rest = memoryview(data)[1:]
    return _decoder(kind).decode(rest) if data[:1] == _AS_MSGPACK else pickle.loads(rest)  # noqa: S301 - as above


def _mapped(one: object) -> object:
    if isinstance(one, Mapping):
        return dict(one)
    raise TypeError(f"{type(one).__qualname__} is pickled")


_WRITTEN: Final = Encoder(enc_hook=_mapped)


@cache
def _decoder(kind: Any) -> Decoder[Any]:
    return Decoder(kind)
