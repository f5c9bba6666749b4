"""Puts the words of a language into scripts, when a theme is loaded.

    script     _("Copy")   _(`Last built ${day}`)   _n(n, `${n} turn`, `${n} turns`)

In the catalogue these have `{name}` for values.
"""

import json
import re
from typing import Final

from memosite.render.catalogue import PLACEHOLDER, Catalogue

__all__ = ["translate_script"]

_LITERAL: Final = r'("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)'
_CALL: Final = re.compile(rf"(?<![\w$.])(?:_\({_LITERAL}\)|_n\((\w+), {_LITERAL}, {_LITERAL}\))")


def translate_script(source: str, words: Catalogue) -> str:
    """A script with its texts in a language."""

    def text(match: re.Match[str]) -> str:
        if match[1]:
            english = _read(match[1])
            return _written(match[1], english, words.text(english))
        one, many = _read(match[3]), _read(match[4])
        forms = words.forms(one, many)
        if forms == (one, many):
            return f"({match[2]} === 1 ? {match[3]} : {match[4]})"
        rule = re.sub(r"\bn\b", match[2], words.rule)
        return f"[{', '.join(_written(match[4], '', form) for form in forms)}][Number({rule})]"

    return _CALL.sub(text, source)


def _read(literal: str) -> str:
    """The text of a literal, with `{name}` for values."""
    if literal.startswith("`"):
        return re.sub(r"\$\{(\w+)\}", r"{\1}", literal[1:-1]).replace("\\`", "`")
    text: str = json.loads(literal)
    return text


def _written(literal: str, english: str, text: str) -> str:
    """A text as a literal of the same kind; the literal itself if the text is the English one."""
    if text == english:
        return literal
    if literal.startswith("`"):
        plain = text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
        return f"`{PLACEHOLDER.sub(lambda match: '${' + match[1] + '}', plain)}`"
    return json.dumps(text, ensure_ascii=False)
