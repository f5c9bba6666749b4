"""Finds where words begin and end, so that no quote begins or ends within one.

`able` is no quote of "unable", `5 percent` none of "2.5 percent", `can` none of "can't", `existent` none of
"non-existent". Numbers have their signs, units and separators with them. What a page does not show between two letters
(a soft hyphen, `&shy;`, the marks of a link) does not part them.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from memosite.quotes.layers import UNSEEN, UNSPACED

EDGE: Final = "\0"
"""Stands at both ends of each word of a prepared text, so that only whole words are found in it."""


def _combining() -> str:
    """Marks that belong to the letter before them, as part of a character class."""
    codes = (*range(0x300, 0x1E00), *range(0x20D0, 0x2100), *range(0xA66F, 0xAC00), *range(0xFE20, 0xFE30))
    return "".join(char for char in map(chr, codes) if unicodedata.category(char)[0] == "M")


_LETTER = rf"[\w{UNSEEN}{_combining()}]"
_SPACED_LETTER = rf"(?![{UNSPACED}]){_LETTER}"
_ENTITY = r"&\#?\w{1,31};"
_MARKS = rf"(?:[*~`]|{_ENTITY}|\[(?=[^\[\]\n]{{1,300}}\]\()|\]\([^()\s]{{0,1000}}\))"
_ALONE = r"(?<![\w.,:/-])"
_SPACE = r"[ \xa0\u2007\u2009\u202f]"
_GROUPS = rf"(?:(?<={_ALONE}\d)|(?<={_ALONE}\d\d)|(?<={_ALONE}\d{{3}})){_SPACE}(?=\d{{3}}(?!\d))"
"""What is between the thousands of a number: `12 500`, but not in `2019 500`."""
_FRACTION = rf"(?:(?<={_ALONE}\d)|(?<={_ALONE}\d\d)){_SPACE}(?=\d{{1,2}}[/⁄]\d|[¼-¾⅐-⅞])"
"""What is before the fraction of a number: `1 1/2`."""
_PUT_AROUND = r"(?<=[^\W\d_])[)\]](?=[^\W\d_])"
"""The end of a bracket around the beginning of a word: `(dis)agree`."""
_IN_NUMBER = r"(?<=\d)[.,:/⁄٫٬–−—^·×](?=\d)"
_IN_WORD = rf"{_MARKS}{{0,6}}['’‘´′＇\-‐‑]{_MARKS}{{0,6}}|{_MARKS}{{1,6}}|{_PUT_AROUND}"
_JOINT = rf"(?:{_IN_WORD}|{_IN_NUMBER}|{_GROUPS}|{_FRACTION})"
_BEFORE_NUMBER = rf"(?:(?<![^\W\d_])(?:[-−–－﹣+±~≈<>≤≥$€£¥.]{{1,3}}|{_ENTITY})(?=\d))?"
_UNIT = rf"(?:(?<=\d)(?:{_SPACE}?[%‰°€]|[£¥]))?"
_WORD = re.compile(rf"[{UNSPACED}]|{_BEFORE_NUMBER}{_SPACED_LETTER}+(?:{_JOINT}{_SPACED_LETTER}+)*{_UNIT}")
_BARE = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")

_STRANGE = re.compile(rf"[^\x00-\x7f\w{UNSPACED}]+")  # dashes, arrows and quotation marks: often all that is not ASCII

_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_FOLDED = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)


def edge(text: str) -> str:
    """A text with `EDGE` at both ends of each word. It must not hold that character itself."""
    return _WORD.sub(rf"{EDGE}\g<0>{EDGE}", text)


def bare_words(text: str) -> list[str]:
    """The words of a text for comparison: without punctuation, in lower case."""
    return list(map(str.lower, _BARE.findall(text)))


def folded_words(text: str) -> list[str]:
    """The words of a text for its index: as `bare_words` for letters that have a lower case of one letter."""
    lowered = text.lower()
    return lowered.translate(_SPACES).split() if lowered.isascii() else _BARE.findall(lowered)


def bare_bytes(text: str) -> list[bytes]:
    """The words of `bare_words` in UTF-8; many at once."""
    if not text.isascii():
        text = _STRANGE.sub(" ", text)
        if not text.isascii():
            return " ".join(_BARE.findall(text)).lower().encode().split()
    return text.encode().translate(_FOLDED).split()


def bare_matches(text: str) -> Iterator[re.Match[str]]:
    """The same words where they are, as written."""
    return _BARE.finditer(text)


def word_count(text: str) -> int:
    """How many words a text has; each character of a script without spaces is one."""
    return sum(1 for _ in _BARE.finditer(text))
