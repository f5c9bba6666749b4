"""Replaces control characters and lone surrogates, so that any text is safe to print and to encode.

"Printable" is Python's `str.isprintable`; line ends are not printable, so that a text for a terminal stays one line.
Lone surrogates come from file names that are not UTF-8.
"""

import json
import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    r"""A text with an escape for each character that is not printable: `\x1b`, `\n`, `\ud800`."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


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
