"""Tells what stands where a secret would stand, but is none: placeholders, references, documented examples."""

import re

_SAYS_SO = re.compile(
    rb"\[REDACTED|EXAMPLE|x{4}|\*{3}|\.{3}|<|\$\{|\$\(|\{\{|%\(|process\.env|environ|getenv|changeme|change[_-]me"
    rb"|placeholder|redacted|dummy|your[_-]?|\bmy[_-]?(?:secret|token|password|api|key)|insert[_-]|replace[_-]|[_-]here\b",
    re.IGNORECASE,
)
_NAME = re.compile(rb"[$%@&]?[A-Za-z]+(?:[ _./:+-]+(?:[A-Za-z]+|v?[0-9]{1,4}))*")
_COUNTED = re.compile(rb"(?:0?123456789|abcdefgh|deadbeef)", re.IGNORECASE)
_WORDS = frozenset(b"password passwd pass secret hunter2 postgres mysql root admin guest test user example".split())


def is_placeholder(value: bytes, *, is_generic: bool) -> bool:
    """Whether a value is written where a secret would be, but is none.

    Vendors' documented examples, which say EXAMPLE, are placeholders as well. What was found by its surroundings alone
    (`is_generic`) is also none if it is a name, a path or a word.
    """
    if b"-----BEGIN" in value:
        return False
    if _SAYS_SO.search(value) or len(set(value)) <= 3:
        return True
    return is_generic and bool(_NAME.fullmatch(value) or _COUNTED.search(value) or value.lower() in _WORDS)
