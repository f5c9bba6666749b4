"""Words that memosite itself writes on pages and in feeds: English texts that remember how they were made.

    phrase("since {date}", date=…) ─► a `str` in English ─► Markdown, JSON, command line: as it is
                                            │
                                            └─► page, feed ─► `render.catalogue` says it in the site's language

What people wrote is never a phrase, so it is never translated, even if it has the same words.
"""

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["Phrase", "phrase", "phrases"]

_NOTHING: Final[Mapping[str, object]] = {}


class Phrase(str):
    """A text in English with the pattern and the values that it was made of; `number` chooses between two patterns."""

    __slots__ = ("many", "number", "one", "parts")

    one: str
    many: str
    number: int
    parts: Mapping[str, object]

    def __reduce__(self) -> tuple[Any, ...]:
        """As its values, so that equal phrases have equal bytes in any process."""
        return _made, (self.one, self.many, self.number, tuple(self.parts.items()))


def phrase(pattern: str, /, **parts: object) -> str:
    """A text of memosite with `{name}` for values, which may be phrases, too; without values, braces are not special.

    `pattern` must be a literal: `scripts/messages` collects these for the catalogue.
    """
    return _phrase(pattern, "", 1, parts or _NOTHING)


def phrases(one: str, many: str, number: int, /, **parts: object) -> str:
    """The same for a number of things: `one` if it is 1, else `many`; `{n}` is the number."""
    return _phrase(one, many, number, {"n": number, **parts})


def _phrase(one: str, many: str, number: int, parts: Mapping[str, object]) -> Phrase:
    pattern = many if many and number != 1 else one
    made = Phrase(pattern.format_map(parts) if parts else pattern)
    made.one, made.many, made.number, made.parts = one, many, number, parts
    return made


def _made(one: str, many: str, number: int, parts: tuple[tuple[str, object], ...]) -> Phrase:
    return _phrase(one, many, number, dict(parts) or _NOTHING)
