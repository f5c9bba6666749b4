"""Looks for words in all that is kept, also where it is compressed, and has all files written long ago."""

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress

import pytest

LATER = 4_000_000_000_000_000_000
"""A time from which all files were written long ago, so that all are remembered."""


@pytest.fixture(autouse=True)
def written_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is read is remembered at once."""
    monkeypatch.setattr("memosite.reading.reader.time.time_ns", lambda: LATER)


def inflated(data: bytes) -> Iterator[bytes]:
    """What is compressed in the bytes of a file."""
    for place in re.finditer(rb"x[\x01\x5e\x9c\xda]", data):
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(data[place.start() :])
