"""Defines files of the site that need no rendering."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file of the site whose bytes are known."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A file of the site whose bytes are on the shelf: an original."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A ZIP of the site with these files in it."""

    path: str
    files: tuple[Written | Stored, ...]
