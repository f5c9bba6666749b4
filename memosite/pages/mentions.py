"""The rows of mentions: what mentions an artifact, in which sentence."""

from dataclasses import dataclass

from memosite.facts.sentences import Sentence
from memosite.pages.parts import Reference, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRow:
    """An artifact with the sentence of a mention, None if there is none: it may be named in a field alone.

    `places` lead to the mention, or to further ones; `more` counts those that are not named.
    """

    row: Row
    sentence: Sentence | None = None
    places: tuple[Reference, ...] = ()
    more: int = 0
