"""Writes the numbers of search blocks: five bits a digit, the lowest first; ascending ones as gaps or as bits."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import sub

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""Digits of numbers: five bits each, the lowest first; the sixth bit says that more follow."""


def encode(numbers: Sequence[int]) -> str:
    """Ascending numbers as their gaps."""
    return gaps(numbers).decode()


def gaps(numbers: Sequence[int]) -> bytes:
    """The same as bytes."""
    return b"".join(map(_GAPS.__getitem__, map(sub, numbers, chain((-1,), numbers))))


def pack(numbers: Sequence[int]) -> str:
    """Ascending numbers in the shorter of two forms: their gaps, or `!` and a bit for each number, six a digit."""
    if len(numbers) == 1:
        return digits(numbers[0])
    count = numbers[-1] // 6 + 1 if numbers else 0
    written = encode(numbers) if len(numbers) <= count + 1 else ""
    if 0 < len(written) <= count + 1 or not numbers:
        return written
    bits = bytearray(b"0") * (numbers[-1] + 1)
    for number in numbers:
        bits[number] = _ONE
    whole = int(bits[::-1], 2).to_bytes(-(-count // 4) * 3, "big")
    return "!" + urlsafe_b64encode(whole)[::-1][:count].decode()  # whose digits are `DIGITS`, the highest first


def with_places(words: Mapping[str, Sequence[int]]) -> dict[str, bytes]:
    """Words with the positions of each: how many, then their gaps."""
    return {
        word: _SINGLE[places[0]] if len(places) == 1 else _COUNTS[len(places)] + gaps(places)
        for word, places in words.items()
    }


def digits(number: int) -> str:
    """A number from 0 on."""
    if number < 32:
        return DIGITS[number]
    found = ""
    while number >= 32:
        found += DIGITS[32 + number % 32]
        number //= 32
    return found + DIGITS[number]


class _Codes(dict[int, bytes]):
    """Memoizes the digits of small numbers; nearly all of the millions written are small."""

    def __init__(self, written: Callable[[int], str]) -> None:
        super().__init__()
        self._written = written

    def __missing__(self, number: int) -> bytes:
        found = self._written(number).encode()
        if number < _FEW:
            self[number] = found
        return found


_FEW = 10_000
_ONE = ord("1")
_GAPS = _Codes(lambda difference: digits(difference - 1))
_COUNTS = _Codes(digits)
_SINGLE = _Codes(lambda place: digits(1) + digits(place))
