"""Finds what `resolve` asks of the bytes on a shelf: the lines of keys, and the bytes of files."""

from dataclasses import dataclass

from memosite.facts.file import find_key_line
from memosite.facts.parsed import FileFacts
from memosite.store.shelf import Shelf

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
