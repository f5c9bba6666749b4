"""Replaces control characters and lone surrogates, so that any text is safe to print and to encode.

"Printable" is Python's `str.isprintable`; line ends are not printable, so that a text for a terminal stays one line.
What "steers" is less: what changes a terminal, or the order in which it shows letters. No stream gets any of it
(`run/progress.py`), while what only joins letters or spaces them is content. Lone surrogates come from file names that
are not UTF-8.
"""

import json
from collections.abc import Callable

from memosite.facts.patterns import regex

_SURROGATE = regex("[\ud800-\udfff]")


_STEERING = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff\ufff9-\ufffb]")
"""Control characters but tab and line feed, marks of direction, what ends a line elsewhere, lone surrogates."""


def printable(text: str) -> str:
    r"""A text with an escape for each character that is not printable: `\x1b`, `\n`, `\ud800`."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def harmless(text: str, escape: Callable[[str], str] = printable) -> str:
    """Lines in which each character that steers is escaped, as a function of it says; other texts stay as they are."""
    return _STEERING.sub(lambda match: escape(match[0]), text)


def harmless_json(text: str) -> str:
    r"""A text that is JSON already, with an escape of JSON for each character that steers: `\u001b`."""
    return harmless(without_surrogates(text), lambda char: json.dumps(char)[1:-1])


def quote(text: str, *, longest: int = 60) -> str:
    """A text in quotes for an error's line, cut if it is long."""
    return f'"{printable(text if len(text) <= longest else text[: longest - 1] + "…")}"'


def printable_json(value: object, *, indent: int | None = None) -> str:
    r"""JSON whose strings hold printable characters only; the others are escaped (`\u009b`), lone surrogates replaced.

    Only the line ends of `indent` are left as they are.
    """
    text = without_surrogates(json.dumps(value, ensure_ascii=False, indent=indent))
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def masked(text: str) -> str:
    """A text with U+FFFD for each character that is not printable; every other character keeps its place."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in text)


def without_surrogates(text: str) -> str:
    """A text with U+FFFD for each lone surrogate, so that it can be encoded and any reader takes it (RFC 7493, 2.1)."""
    return _SURROGATE.sub("\ufffd", text)


def expect_text(value: object) -> str:
    """A value of JSON that has to be a text. Raises `TypeError` for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"found {value!r}, expected a string")
    return value
