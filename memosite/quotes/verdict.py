"""What is said of a quote and a text: the tier, where the words are, what differs (SPEC 7, verifying)."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, TypeAlias

Span: TypeAlias = tuple[int, int]
"""From which character of a text to which."""

Change: TypeAlias = tuple[Literal["same", "source", "quote"], str]
"""Words that both have, that only the source has, or that only the quote has."""


class Tier(IntEnum):
    """How a quote agrees with a text, from the best."""

    EXACT = 1
    SPACE = 2
    MARKS = 3
    EDITORIAL = 4
    CHANGED = 5
    NOT_FOUND = 6

    @property
    def label(self) -> str:
        """The tier in words."""
        return _LABELS[self]

    @property
    def holds(self) -> bool:
        """Whether the text has these words."""
        return self <= Tier.EDITORIAL


_LABELS = {
    Tier.EXACT: "exact",
    Tier.SPACE: "exact except for white space",
    Tier.MARKS: "exact except for Markdown marks",
    Tier.EDITORIAL: "exact except for marked editorial changes",
    Tier.CHANGED: "changed",
    Tier.NOT_FOUND: "not found",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is said of one quote and one text.

    `spans` are where its words are in the text: one, or one for each fragment between omissions; of a changed quote
    the nearest passage. `details` say more than the tier: typographic signs, what was put in, an omission that holds
    a negation. `changes` is the word diff of a changed quote; `is_cut` says that it goes on.
    """

    tier: Tier
    spans: tuple[Span, ...] = ()
    details: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    is_cut: bool = False

    @property
    def changed_words(self) -> int:
        """How many words differ."""
        return sum(len(words.split()) for kind, words in self.changes if kind != "same")
