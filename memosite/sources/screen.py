"""What reading git's history needs of the gate: what git has is screened before anything of it is kept (SPEC 9)."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from memosite.facts.file import File
from memosite.facts.secret_rules import SecretHit


class ScreenedFile(Protocol):
    """A file without secrets, and what was found in it."""

    @property
    def file(self) -> File:
        """The file."""

    @property
    def hits(self) -> tuple[SecretHit, ...]:
        """The secrets that were found."""


class Screen(Protocol):
    """Removes secrets (`reading/gate.py`)."""

    @property
    def allowed(self) -> frozenset[str]:
        """The fingerprints of secrets that are not removed."""

    def file(self, file: File) -> ScreenedFile:
        """A former content of a file, without secrets."""

    def names(self, names: Iterable[str]) -> Mapping[str, str]:
        """Those of these names that hold a secret, each with the name as it may be shown."""
