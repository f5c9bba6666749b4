"""The rows of shared passages, as the pages of artifacts show them."""

from dataclasses import dataclass

from memosite.pages.parts import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRow:
    """A passage that a text shares with another: what the one is to the other, where it is here, and where there.

    `begins` are its first words.
    """

    relation: str
    here: str
    there: Reference
    words: int
    begins: str
