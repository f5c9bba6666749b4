"""Finds again, in the same text, the values of secrets that were found by what is around them.

A password has no format: it is known where it is assigned. Where a tool prints it alone, its value tells.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memosite.secrets.placeholders import is_name

SHORTEST = 8
"""Characters of a value that is looked for; shorter ones may stand anywhere by chance."""

LONGEST = 1_000
"""Beyond, only private keys are that long, and those are known by themselves."""

_WORDS = re.compile(
    r"(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,20}[mK]|\\(?:u[0-9a-fA-F]{4}|[nrtbf])|%[0-9A-F]{2}"
    r"|(?P<word>[A-Za-z0-9]++)"
)
"""Words, apart from the letters of an escape or of a colour before them."""

_SENTENCE = ".,:;!?*_~"
"""What may follow a value, and not be a part of it."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that is secret, its part from the first letter or digit on, and the rule that found it."""

    whole: str
    core: str
    rule: str


def find_repeats(text: str, found: Iterable[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Where else the values of what was found stand, as rule, start and end.

    One pass over the words of the text: most begin like no value. A value ends where its last word ends.
    """
    known: dict[str, list[Value]] = {}
    for value in sorted(_values(text, found), key=lambda value: -len(value.whole)):
        known.setdefault(value.core[:SHORTEST], []).append(value)
    if not known:
        return
    for word in _WORDS.finditer(text):
        at = word.start()
        if word["word"]:
            for value in known.get(text[at : at + SHORTEST], ()):
                if _is_whole(text, value.core, at):
                    before = len(value.whole) - len(value.core)
                    start = at - before if text.startswith(value.whole, max(0, at - before)) else at
                    yield value.rule, start, at + len(value.core)
                    break


def _values(text: str, found: Iterable[tuple[str, int, int]]) -> set[Value]:
    """What to look for: also without the full stop of the sentence, and no names and words."""
    values = set()
    for rule, start, end in found:
        if SHORTEST <= end - start <= LONGEST:
            written = text[start:end]
            for whole in {written, written.rstrip(_SENTENCE)}:
                first = re.search(r"[A-Za-z0-9]", whole)
                core = whole[first.start() :] if first else ""
                if len(core) >= SHORTEST and not is_name(core.encode("ascii", "replace")):
                    values.add(Value(whole, core, rule))
    return values


def _is_whole(text: str, core: str, at: int) -> bool:
    after = text[at + len(core) : at + len(core) + 1]
    return text.startswith(core, at) and not (core[-1].isalnum() and after.isascii() and after.isalnum())
