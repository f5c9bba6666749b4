"""Words that memosite itself writes on pages and in feeds, and words for kinds of artifacts.

    phrase("since {date}", date=…) ─► a `str` in English ─► Markdown, JSON, command line: as it is
                                            │
                                            └─► page, feed ─► `render.catalogue` says it in the site's language

What people wrote is never a phrase, so it is never translated, even if it has the same words.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

_NOTHING: Final[Mapping[str, object]] = {}


class Phrase(str):
    """A text in English with the pattern and the values that it was made of; `number` chooses between two patterns."""

    __slots__ = ("key", "many", "number", "one", "parts")

    key: str
    one: str
    many: str
    number: int
    parts: Mapping[str, object]

    def __reduce__(self) -> tuple[Any, ...]:
        """As its values, so that equal phrases have equal bytes in any process."""
        return _made, (self.key, self.one, self.many, self.number, tuple(self.parts.items()))


def phrase(pattern: str, /, *, context: str = "", **parts: object) -> str:
    """A text of memosite with `{name}` for values, which may be phrases, too; without values, braces are not special.

    `pattern` must be a literal: `scripts/messages` collects these for the catalogue. `context` tells apart texts that
    are the same in English only.
    """
    return _phrase(key_of(pattern, context), pattern, "", 1, parts or _NOTHING)


def phrases(one: str, many: str, number: int, /, *, context: str = "", **parts: object) -> str:
    """The same for a number of things: `one` if it is 1, else `many`; `{n}` is the number."""
    return _phrase(key_of(one, context), one, many, number, {"n": number, **parts})


def joined(separator: str, parts: Iterable[object]) -> str:
    """Texts with a separator between them, as one."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    pattern = separator.join(f"{{{name}}}" for name in values)
    return _phrase(pattern, pattern, "", 1, values or _NOTHING)


def key_of(english: str, context: str) -> str:
    """What a catalogue has a text under, as gettext does it."""
    return f"{context}\x04{english}" if context else english


def _phrase(key: str, one: str, many: str, number: int, parts: Mapping[str, object]) -> Phrase:
    pattern = many if many and number != 1 else one
    made = Phrase(pattern.format_map(parts) if parts else pattern)
    made.key, made.one, made.many, made.number, made.parts = key, one, many, number, parts
    return made


def _made(key: str, one: str, many: str, number: int, parts: tuple[tuple[str, object], ...]) -> Phrase:
    return _phrase(key, one, many, number, dict(parts) or _NOTHING)


# Words for kinds of artifacts.


_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "memo": phrase("memo"),
        "note": phrase("note"),
        "transcript": phrase("transcript"),
        "library": phrase("library"),
        "record": phrase("record"),
        "document": phrase("document"),
    }
)


def kind_word(kind: str) -> str:
    """The word for a kind of artifact."""
    return _KINDS.get(kind, kind)


def kinds(kind: str, number: int) -> str:
    """So many artifacts of a kind."""
    match kind:
        case "memo":
            return phrases("{n:,} memo", "{n:,} memos", number)
        case "note":
            return phrases("{n:,} note", "{n:,} notes", number)
        case "transcript":
            return phrases("{n:,} transcript", "{n:,} transcripts", number)
        case "library":
            return phrases("{n:,} library", "{n:,} libraries", number)
        case "record":
            return phrases("{n:,} record", "{n:,} records", number)
        case _:
            return phrases("{n:,} document", "{n:,} documents", number)
