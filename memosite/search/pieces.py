"""Joins the pieces of a search block into few files: a host counts files, and a query shall load little.

A piece is what a query loads at once: a shard of terms, a few hits, the dates. A file is consecutive pieces of a kind,
each a line that calls a function:

    memositeBlock("f0/t12@5ae1f09c","…")

So a script tag loads all pieces of a file (from disk), and a request for a range of bytes loads one (from a server).
The head of a block lists for each file its key, a digest of all it holds, and the length of each line. As lines name
the key, nobody takes a piece of one build for that of another.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b

from memosite.archive.urls import SEARCH
from memosite.search.numbers import digits

FILE_BYTES: Mapping[str, int] = {"i": 64_000, "t": 64_000, "h": 96_000, "e": 384_000, "p": 256_000}
"""After how many bytes a file of a kind ends: larger where fewer queries ask, as all of it comes from a plain disk."""

Listed = dict[str, list[str]]
"""For each kind the files: key, then the lengths of lines."""

_KEY_BYTES = 4


def file_of(name: str, value: object) -> tuple[str, bytes]:
    """A file that is a single call."""
    return f"{SEARCH}{name}.js", _call(name, _json(value))


def join_pieces(block: str, kinds: Mapping[str, Iterable[object]]) -> tuple[Listed, list[tuple[str, bytes]]]:
    """What the head lists, and the files, of the pieces of all kinds of a block."""
    listed: Listed = {}
    files: list[tuple[str, bytes]] = []
    for kind, pieces in kinds.items():
        number = 0
        listed[kind] = []
        for joined in _cut(map(_json, pieces), FILE_BYTES[kind]):
            key = blake2b(b"\n".join(joined), digest_size=_KEY_BYTES).hexdigest()
            calls = [_call(f"{block}/{kind}{at}@{key}", piece) for at, piece in enumerate(joined, number)]
            files.append((f"{SEARCH}{block}/{kind}{len(listed[kind])}.js", b"".join(calls)))
            listed[kind].append(key + "".join(digits(len(call)) for call in calls))
            number += len(joined)
    return listed, files


def _cut(pieces: Iterable[bytes], most: int) -> Iterator[list[bytes]]:
    joined: list[bytes] = []
    size = 0
    for piece in pieces:
        if joined and size + len(piece) > most:
            yield joined
            joined, size = [], 0
        joined.append(piece)
        size += len(piece)
    if joined:
        yield joined


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _call(name: str, value: bytes) -> bytes:
    return f'memositeBlock("{name}",'.encode() + value + b")\n"
