"""Finds what is asked of bytes: the lines of keys, the bytes of files, texts by their digests.

What has the digest is what was let through, so it need not pass the gate again; what has another one never counts.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from memosite.facts.file import File
from memosite.facts.json_text import clean_text, find_key_line
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import FileFacts
from memosite.store.shelf import Shelf

# Finds what `resolve` asks of the bytes on a shelf: the lines of keys, and the bytes of files.


_OWNERS = frozenset({"metadata", "content"})


@dataclass(frozen=True, slots=True)
class LineFinder:
    """Finds lines in the envelopes on a shelf."""

    shelf: Shelf

    def __call__(self, file: FileFacts, key: str) -> int | None:
        """The line of a key in an envelope, of one below `metadata` or `content` if it begins so; None without it."""
        try:
            text = self.shelf.text(file.sha256)
        except KeyError:
            return None
        owner, dot, name = key.partition(".")
        return find_key_line(text, (owner, name) if dot and owner in _OWNERS else (key,))


@dataclass(frozen=True, slots=True)
class DataFinder:
    """Finds the bytes of files on a shelf."""

    shelf: Shelf

    def __call__(self, file: FileFacts) -> bytes | None:
        """The bytes of a file as they were read; None if they are not kept."""
        try:
            return self.shelf.get(file.sha256)
        except KeyError:
            return None


# Finds a text again in its file, by the digest that it had when the gate let it through.


_JSON = (ENVELOPE_SUFFIX, ".json")


def known_text(file: File, digest: str) -> bytes | None:
    """The file, its text, or a string of its JSON: whichever has this digest; None if none of them has."""
    return next((data for data in _texts(file) if hashlib.sha256(data).hexdigest() == digest), None)


def _texts(file: File) -> Iterator[bytes]:
    yield file.data
    yield file.markdown.encode("utf-8", "replace")
    if file.name.lower().endswith(_JSON):
        strings = (value for value in (file.json.fields or {}).values() if isinstance(value, str))
        yield from (clean_text(one).encode("utf-8", "replace") for one in strings)
