"""Highlights the syntax of code, for a style sheet to colour: keywords, names, strings, numbers, comments.

Pygments reads the code, of the languages listed here alone and no more than `MAX_CHARS` of it: most of its lexers
take quadratic time on some text, and the one for C takes 14 s for 10,000 slashes. The listed ones were measured on
sixty kinds of repeated text, and took less than 0.8 s. Of its eighty classes of tokens seven are kept, so that pages
stay small and a theme has few colours to choose.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from html import escape
from types import MappingProxyType
from typing import Any, Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String

_Kind = Any  # of a token, such as `Name.Function`: Pygments has no public class for them

MAX_CHARS: Final = 5_000
"""The longest code that is marked, in characters."""

_NAMES: Final = """
bash sh shell zsh · css · go · html · javascript js · json jsonc jsonl openthing · python py python3 · ruby rb ·
rust rs · sql · toml · typescript ts · xml svg · yaml yml
"""
_LEXERS: Final = MappingProxyType({name: names.split()[0] for names in _NAMES.split("·") for name in names.split()})
"""Language names as written after a fence, and the lexer of each. Mermaid and the rest are not highlighted."""

_CLASSES: Final = (
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "n"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Tag, "f"),
    (Name.Attribute, "n"),
)
_DIFFS: Final = frozenset({"diff", "patch"})
_SIGNS: Final = (("+++", ""), ("---", ""), ("+", "ins"), ("-", "del"), ("@@", "c"))


@lru_cache(maxsize=256)  # tools repeat themselves, and a thread shows what its memos show
def highlight(code: str, language: str) -> str | None:
    """The code as HTML with `<span class="hl-…">` around what is marked; None if its language is not known.

    Never raises, and never changes a character of the code: where the lexer would, the answer is None, too.
    """
    language = language.lower()
    if language in _DIFFS and len(code) <= MAX_CHARS:
        return "".join(map(_line_of_diff, code.splitlines(keepends=True)))
    name = _LEXERS.get(language)
    if name is None or len(code) > MAX_CHARS:
        return None
    try:
        tokens = list(_lexer(name).get_tokens(code))
    except Exception:  # third-party code on untrusted text: one block must not stop a build
        return None
    if "".join(text for _, text in tokens) != code:
        return None
    return _written(tokens)


def _line_of_diff(line: str) -> str:
    """A line of a difference; Pygments takes quadratic time on long ones."""
    return _span(line, next((class_ for sign, class_ in _SIGNS if line.startswith(sign)), ""))


def _written(tokens: Iterable[tuple[_Kind, str]]) -> str:
    out: list[str] = []
    pending, waiting = "", ""  # neighbours of one class share a span
    for kind, text in tokens:
        class_ = _class_of(kind) if text.strip() else waiting
        if class_ != waiting:
            out.append(_span(pending, waiting))
            pending, waiting = "", class_
        pending += text
    return "".join([*out, _span(pending, waiting)])


def _span(text: str, class_: str) -> str:
    shown = escape(text, quote=False)
    return f'<span class="hl-{class_}">{shown}</span>' if class_ and text else shown


@cache
def _class_of(kind: _Kind) -> str:
    return next((class_ for known, class_ in _CLASSES if kind in known), "")


@cache
def _lexer(name: str) -> Lexer:
    lexer: Lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    return lexer
