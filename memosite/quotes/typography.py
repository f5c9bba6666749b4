"""Reads typographic signs as their plain forms: quotation marks, dashes, the ellipsis, ligatures.

Word processors and renderers of Markdown set these by themselves, so they are no change of the words. What could be
one is kept apart: a hyphen from a dash, `-` from `--`, and the marks of feet and inches after a number.
"""

import re
from collections import Counter
from collections.abc import Iterator

from memosite.quotes.layers import Edit

_DOUBLE = '"“”„‟«»″'
_SINGLE = "'‘’‚‛‹›′"
_SIGN = re.compile(
    rf"(?P<quote>[{_DOUBLE}{_SINGLE}])|(?P<hyphen>[‐‑‒−])|(?P<long>[—―])|(?P<en>–)|(?P<typed>-{{1,3}})|…|[ﬀ-ﬄ]"
)
_PLAIN = {"…": "...", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"}
_TYPED = re.compile(r"(?<=\s)-{1,3}(?=\s)")
_AROUND_DASH = re.compile(" ?— ?")


def plain_signs(text: str) -> Iterator[Edit]:
    """The typographic signs of a text, and what they are read as."""
    for match in _SIGN.finditer(text):
        new = _plain(match, text[match.start() - 1 : match.start()] if match.start() else "", text)
        if new != match[0]:
            yield match.start(), match.end(), new


def close_dashes(text: str) -> Iterator[Edit]:
    """Dashes without the spaces around them, which are a matter of style."""
    for match in _AROUND_DASH.finditer(text):
        if match[0] != "—":
            yield match.start(), match.end(), "—"


def same_typed_dashes(one: str, other: str) -> bool:
    """Whether two texts whose signs agree agree in what was typed: `git checkout -` is not `git checkout --`."""
    typed, typed2 = Counter(_TYPED.findall(one)), Counter(_TYPED.findall(other))
    return not (typed - typed2 and typed2 - typed)


def _plain(match: re.Match[str], before: str, text: str) -> str:
    sign, after = match[0], text[match.end() : match.end() + 1]
    if match["quote"]:
        return '"' if before.isdigit() and sign in _DOUBLE else "'"
    if match["hyphen"]:
        return "-"
    is_apart = (before.isspace() and after.isspace()) or (len(sign) > 1 and before.isalpha() and after.isalpha())
    if match["long"] or ((match["en"] or match["typed"]) and is_apart):
        return "—"
    return "-" if match["en"] else _PLAIN.get(sign, sign)
