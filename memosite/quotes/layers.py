"""A text and readings of it in which some characters are replaced; each place of a reading leads back to the text.

    text ──edits──► reading ──edits──► reading …        place in a reading ──► place in the text

A reading ignores what a comparison is to ignore: one without Markdown marks, one with single spaces for white space.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias

Edit: TypeAlias = tuple[int, int, str]
"""From where, to where, and what is read there. Edits are in order and do not overlap."""

_INVISIBLE = "\u00ad\u180e\u200b\u200e\u200f\u2060-\u2064\ufeff"
"""Of a character class: soft hyphen, zero-width space, marks of direction, word joiner, mark of the byte order …"""

UNSEEN = rf"{_INVISIBLE}\u061c\u200c\u200d\u202a-\u202e\u2066-\u206f"
"""Of a character class: all that is not seen; what joins letters or turns their direction is compared."""

_ALL_INVISIBLE = re.compile(f"[{_INVISIBLE}]+")
_SPACED = re.compile(rf"[\s{_INVISIBLE}]{{2,}}|[^\S ]|[{_INVISIBLE}]")

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""The letters of scripts that write no space between words (Thai, Lao, Burmese, Khmer, Chinese, Japanese)."""

_ANY_CJK = re.compile("[\u3005-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_BETWEEN_CJK = re.compile(rf"(?<={_ANY_CJK.pattern}) (?={_ANY_CJK.pattern})")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is read after some edits. `starts` are where its edits begin in it, `edits` what they replaced."""

    text: str
    below: "Reading | None" = None
    starts: tuple[int, ...] = ()
    edits: tuple[Edit, ...] = ()

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the first text that a span of this reading is read from."""
        if self.below is None:
            return start, end
        return self.below.source_span(self._from(start), self._to(end))

    def _from(self, place: int) -> int:
        """Where a span begins that begins here: after what was dropped before it."""
        number = bisect_right(self.starts, place)
        if not number:
            return place
        begun, (start, end, new) = self.starts[number - 1], self.edits[number - 1]
        return start if place < begun + len(new) else end + place - begun - len(new)

    def _to(self, place: int) -> int:
        """Where a span ends that ends here: before what was dropped behind it."""
        number = bisect_left(self.starts, place)
        if not number:
            return place
        begun, (_, end, new) = self.starts[number - 1], self.edits[number - 1]
        return end + max(place - begun - len(new), 0)

    def place_of(self, place: int) -> int:
        """Where a place of the first text is in this reading."""
        if self.below is None:
            return place
        place = self.below.place_of(place)
        number = bisect_right(self.edits, place, key=itemgetter(0))
        if not number:
            return place
        begun, (_, end, new) = self.starts[number - 1], self.edits[number - 1]
        return begun if place < end else begun + len(new) + place - end


def edited(below: Reading, edits: Iterable[Edit]) -> Reading:
    """A reading with these replacements; the reading itself if there are none."""
    kept = tuple(edits)
    if not kept:
        return below
    pieces: list[str] = []
    starts: list[int] = []
    done = length = 0
    for start, end, new in kept:
        length += start - done
        starts.append(length)
        pieces += (below.text[done:start], new)
        length += len(new)
        done = end
    pieces.append(below.text[done:])
    return Reading("".join(pieces), below, tuple(starts), kept)


def spaced(reading: Reading) -> Reading:
    """With one space for each run of white space, without what is not seen, in Unicode's composed form (NFC).

    Between Chinese and Japanese characters white space is nothing: lines are wrapped there.
    """
    reading = edited(reading, _composed(reading.text))
    text = reading.text
    found = edited(reading, ((*match.span(), _space(match[0])) for match in _SPACED.finditer(text)))
    if _ANY_CJK.search(found.text):
        found = edited(found, ((*match.span(), "") for match in _BETWEEN_CJK.finditer(found.text)))
    return found


def _space(run: str) -> str:
    return "" if _ALL_INVISIBLE.fullmatch(run) else " "


def _composed(text: str) -> Iterator[Edit]:
    """Each letter with its marks that is not in composed form."""
    if unicodedata.is_normalized("NFC", text):
        return
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _continues(text[end]):
            continue
        letter = text[start:end]
        composed = unicodedata.normalize("NFC", letter) if not letter.isascii() else letter
        if composed != letter:
            yield start, end, composed
        start = end


def _continues(char: str) -> bool:
    """Whether a character composes with the one before it: marks, and the later letters of a Korean syllable."""
    return char > "\u02ff" and (unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff")
