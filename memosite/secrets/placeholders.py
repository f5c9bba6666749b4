"""Tells which matches are no secrets: placeholders, names of variables, documented examples, identifiers, words."""

import re
from typing import cast

from memosite.secrets.engine import GENERIC

_SAYS_SO = re.compile(
    rb"\[REDACTED|EXAMPLE|[xX]{6}|\*{3}|\.{3}|<|\$\{|\$\(|\{\{|(?i:changeme|placeholder|redacted|your[_-])"
)
"""In a key of a vendor's format, these come from whoever wrote it and not from chance."""

_SEEMS_SO = re.compile(
    rb"x{4}|%\(|\.\*|process\.env|environ|getenv|change[_-]me|dummy|your|sample|insert|replace|[_-]here\b|^[a-z]{1,10}://"
    rb"|^[$@&%]\{?[a-z_][a-z0-9_.]{0,60}[}%]?$|0?123456789|abcdefgh|deadbeef|passw(?:or)?d",
    re.IGNORECASE,
)
_WORDS = frozenset(b"secret postgres mysql root admin guest example pass12 passwd".split())

_WORD = rb"(?:[A-Z]{2,}+[a-z]*+|[A-Z]?[a-z]++|[A-Z]){1,4}+"
_NUMBERED = rb"%s(?:[0-9]{1,2}+(?:%s)?+)?+" % (_WORD, _WORD)
_NAME = re.compile(
    # Words and short numbers: an identifier, a path, a date. More than four words in one without a break are chance.
    rb"[/~.-]*+(?:%s|v?[0-9]{1,10}+)(?:[ _./:+-]++(?:%s|v?[0-9]{1,10}+|$))*+" % (_WORD, _WORD)
    # In an identifier of several words, some hold a number: utf8_to_utf16.
    + rb"|(?:%s[_./-]++)++(?:%s)?+" % (_NUMBERED, _NUMBERED)
)
_NO_WORD = re.compile(rb"[b-df-hj-np-tv-xz]{7}", re.IGNORECASE)
_DIGEST = re.compile(rb"(?i:sha[0-9]{1,3}|md5|blake[23][bs]?)[ :=_-]{1,3}\Z")
_HEX = re.compile(rb"[0-9a-fA-F]++")
_HEX_LENGTHS = frozenset((32, 40, 56, 64, 96, 128))
_WEB_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]++={0,2}+")
_BASE64_LENGTHS = frozenset((22, 27, 38, 43, 64, 86))
_KEY_BODY = re.compile(rb"[A-Za-z0-9+/]{20}")
_BASE64_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BASE64_LETTERS = tuple(bytes([byte]) for byte in _BASE64_CHARACTERS if byte != ord("/"))
_DIGITS = re.compile(rb"[0-9]")
_CAPITALS = re.compile(rb"[A-Z]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{0,200}+")


def is_placeholder(data: bytes, start: int, end: int, *, rule: str) -> bool:
    """Whether what is written where a secret would be is none.

    Vendors' documented examples, which say EXAMPLE, are placeholders as well. Of what was found by what is around it
    (the `GENERIC` rules), names and words are none either; in an address, a word is a password.
    """
    value = data[start:end]
    if value.startswith(b"-----BEGIN"):
        return not _KEY_BODY.search(value)
    if _SAYS_SO.search(value) or len(set(value)) <= 3 or _is_digest(data, start, end, rule):
        return True
    if not rule.startswith(GENERIC):
        return _is_within_base64(data, start, end)
    if _SEEMS_SO.search(value) or value.lower() in _WORDS:
        return True
    if rule == "generic-credential-uri":
        return data[max(0, start - len(value) - 2) : start] == b"/" + value + b":"  # the name is the password, too
    return is_name(value)


def _is_digest(data: bytes, start: int, end: int, rule: str) -> bool:
    """Whether it is written as a digest, as in `sha256:`, and has the form of one.

    In base64 it might as well have the form of a vendor's key.
    """
    value = data[start:end]
    has_form = len(value) in _HEX_LENGTHS and _HEX.fullmatch(value)
    if rule.startswith("generic-"):
        has_form = has_form or (len(value.rstrip(b"=")) in _BASE64_LENGTHS and _WEB_BASE64.fullmatch(value))
    return bool(has_form and _DIGEST.search(data[max(0, start - 12) : start]))


def is_name(value: bytes) -> bool:
    """Whether it is made of words and short numbers, as an identifier, a path or a date."""
    return bool(_NAME.fullmatch(value.rstrip(b".:!?"))) and not _NO_WORD.search(value)


def _is_within_base64(data: bytes, start: int, end: int) -> bool:
    """Whether it is a part of a longer run of base64, as of an image, where everything is there by chance.

    A part of a path, from slash to slash, is none: that both are there by chance is one in thousands.
    """
    if data[max(0, start - 1) : start] == b"/" and data[end : end + 1] not in _BASE64_LETTERS:
        return False
    window = data[max(0, start - 200) : start]
    before = window[len(window.rstrip(_BASE64_CHARACTERS)) :]
    after = cast("re.Match[bytes]", _BASE64.match(data, end)).group()
    around = before + after
    is_mixed = len(_DIGITS.findall(around)) >= 3 and len(_CAPITALS.findall(around)) >= 8
    return bool(before) and len(around) >= 40 and is_mixed
