"""Finds the sentence around a place in a piece of Markdown, as plain words."""

import re
from dataclasses import dataclass
from typing import Final

from memosite.facts.texts import cut_line, plain_line

CHARS: Final = 240
"""About the longest sentence that is shown, in characters; the words in the middle are always there."""

_NEAR: Final = 1_500
_WORDS: Final = 160
_FIRST, _LAST = "\ue000", "\ue001"
_OWN: Final = str.maketrans(_FIRST + _LAST, "  ")
_STOP = re.compile(r"(?:(?<!\b[A-Za-z])\.|[!?…])[\"'”’»)]{0,3}(?=\s|\Z)|[。！？]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence with some of its words marked; one that was cut has an ellipsis. `marked` may be ""."""

    before: str = ""
    marked: str = ""
    after: str = ""

    @property
    def line(self) -> str:
        """All of it."""
        return self.before + self.marked + self.after


def sentence_around(block: str, start: int, end: int) -> Sentence:
    """The sentence of a block that has the characters from `start` to before `end`, with these marked."""
    first = max(0, start - _NEAR)
    pieces = (block[first:start], block[start:end], block[end : end + _NEAR])
    before, marked, after = (piece.translate(_OWN) for piece in pieces)
    line = plain_line(f"{before}{_FIRST}{marked}{_LAST}{after}")
    before, found, rest = line.partition(_FIRST)
    marked, ended, after = rest.partition(_LAST)
    if not (found and ended and marked):
        return Sentence(before=cut_line(line.translate(_OWN), CHARS))
    stops = list(_STOP.finditer(before))
    before = before[stops[-1].end() :] if stops else before
    stop = _STOP.search(after)
    after = after[: stop.end()] if stop else after
    marked = cut_line(marked, _WORDS)
    before, after = before.lstrip(), after.rstrip()
    room = CHARS - len(marked)
    return Sentence(
        before=_tail(before, max(room // 2, room - len(after))),
        marked=marked,
        after=_head(after, max(room // 2, room - len(before))),
    )


def _tail(text: str, limit: int) -> str:
    """The end of a text, from a word on."""
    if len(text) <= limit:
        return text
    cut = text.find(" ", len(text) - limit)
    return f"… {text[cut + 1 :]}" if 0 <= cut < len(text) - 1 else f"…{text[-limit:]}"


def _head(text: str, limit: int) -> str:
    """The beginning of a text, up to a word."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", 0, limit)
    return f"{text[:cut]} …" if cut > 0 else f"{text[:limit]}…"
