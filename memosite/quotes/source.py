r"""A text that quotes are looked for in, at each level of exactness; what is said of a quote and a text.

At each level the text is read without what the comparison is to ignore: with one space for each run of white space,
then without Markdown marks, then with typographic signs as plain ones.

    text ──edits──► reading ──edits──► reading …        place in a reading ──► place in the text

Markdown marks are told apart from what is meant as it is written:

    lines ──► marks of blocks (#, >, -, 1., |, ```)          paragraph ──► marks within it (*, _, `, links, [^1], \)

A mark counts only where Markdown reads it as one, and never where leaving it out would change a number: a line
that begins with `1984.` or `- 5` in the middle of a paragraph keeps it. Code keeps every character, and struck out
words their `~~`: without it they would be said.

Typographic signs are set by word processors and renderers of Markdown, so they are no change of the words. What could
be one is kept apart: a hyphen from a dash, `-` from `--`, and the marks of feet and inches after a number.

At every level only whole words are found: `able` is no quote of "unable", `5 percent` none of "2.5 percent", `can` none
of "can't", `existent` none of "non-existent". Numbers have their signs, units and separators with them. What a page
does not show between two letters (a soft hyphen, `&shy;`, the marks of a link) does not part them.
"""

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cached_property
from heapq import merge
from operator import itemgetter
from typing import Final, Literal, TypeAlias, get_args

from memosite.facts.patterns import regex
from memosite.facts.values import Struct, Value, field, replace

# What is said of a quote and a text: the tier, where the words are, what differs (SPEC 7, verifying).


Span: TypeAlias = tuple[int, int]
"""From which character of a text to which."""


Change: TypeAlias = tuple[Literal["same", "source", "quote"], str]
"""Words that both have, that only the source has, or that only the quote has."""


class Tier(IntEnum):
    """How a quote agrees with a text, from the best."""

    EXACT = 1
    SPACE = 2
    MARKS = 3
    EDITORIAL = 4
    UNQUOTED = 5
    UNREAD = 6
    ELSEWHERE = 7
    CHANGED = 8
    NOT_FOUND = 9

    @property
    def label(self) -> str:
        """The tier in words."""
        return _LABELS[self]

    @property
    def holds(self) -> bool:
        """Whether the text has these words, if any are quoted."""
        return self <= Tier.UNQUOTED


_LABELS = {
    Tier.EXACT: "exact",
    Tier.SPACE: "exact except for white space",
    Tier.MARKS: "exact except for Markdown marks",
    Tier.EDITORIAL: "exact except for marked editorial changes",
    Tier.UNQUOTED: "the passage exists; no words were checked",
    Tier.UNREAD: "not checked",
    Tier.ELSEWHERE: "found elsewhere",
    Tier.CHANGED: "changed",
    Tier.NOT_FOUND: "not found",
}


class Verdict(Value):
    """What is said of one quote and one text.

    `spans` are where its words are in the text: one, or one for each fragment between omissions; of a changed quote
    the nearest passage. `details` say more than the tier: typographic signs, what was put in, an omission that holds
    a negation. `changes` is the word diff of a changed quote; `is_cut` says that it goes on.
    """

    tier: Tier
    spans: tuple[Span, ...] = ()
    details: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    is_cut: bool = False

    @property
    def changed_words(self) -> int:
        """How many words differ."""
        return sum(len(words.split()) for kind, words in self.changes if kind != "same")

    def moved(self, start: int) -> "Verdict":
        """The same on a text of which this one is the part from `start` on."""
        return replace(self, spans=tuple((first + start, end + start) for first, end in self.spans))


# A text and readings of it in which some characters are replaced; each place of a reading leads back to the text.


Edit: TypeAlias = tuple[int, int, str]
"""From where, to where, and what is read there. Edits are in order and do not overlap."""


_INVISIBLE = "\u00ad\u180e\u200b\u200e\u200f\u2060-\u2064\ufeff"
"""Of a character class: soft hyphen, zero-width space, marks of direction, word joiner, mark of the byte order …"""


UNSEEN = rf"{_INVISIBLE}\u061c\u200c\u200d\u202a-\u202e\u2066-\u206f"
"""Of a character class: all that is not seen; what joins letters or turns their direction is compared."""


_ALL_INVISIBLE = regex(f"[{_INVISIBLE}]+")


_SPACED = regex(rf"[\s{_INVISIBLE}]{{2,}}|[^\S ]|[{_INVISIBLE}]")


UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""The letters of scripts that write no space between words (Thai, Lao, Burmese, Khmer, Chinese, Japanese)."""


_ANY_CJK = regex("[\u3005-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


_UNIT_APART = regex(r"(?<=\d) (?=[%‰°€])")


_BETWEEN_CJK = regex(rf"(?<={_ANY_CJK.pattern}) (?={_ANY_CJK.pattern})")


class Reading(Value, kw_only=False):
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
    if _UNIT_APART.search(found.text):
        found = edited(found, ((*match.span(), "") for match in _UNIT_APART.finditer(found.text)))
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


# Reads typographic signs as their plain forms: quotation marks, dashes, the ellipsis, ligatures.


_DOUBLE = '"“”„‟«»″'


_SINGLE = "'‘’‚‛‹›′"


_SIGN = regex(
    rf"(?P<quote>[{_DOUBLE}{_SINGLE}])|(?P<hyphen>[‐‑‒−])|(?P<long>[—―])|(?P<en>–)|(?P<typed>-{{1,3}})|…|[ﬀ-ﬄ]|⁄"
    r"|(?P<fraction>[¼-¾⅐-⅞])"
)


_PLAIN = {"…": "...", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "⁄": "/"}


_TYPED = regex(r"(?<=\s)-{1,3}(?=\s)")


_SPACED_DASH = regex(" — ?|— ")


def plain_signs(text: str) -> Iterator[Edit]:
    """The typographic signs of a text, and what they are read as."""
    for match in _SIGN.finditer(text):
        new = _plain(match, *beside(text, *match.span()))
        if new != match[0]:
            yield match.start(), match.end(), new


def same_typed_dashes(one: str, other: str) -> bool:
    """Whether two texts whose signs agree agree in what was typed: `git checkout -` is not `git checkout --`."""
    typed, typed2 = Counter(_TYPED.findall(one)), Counter(_TYPED.findall(other))
    return not (typed - typed2 and typed2 - typed)


def _plain(match: re.Match[str], before: str, after: str) -> str:
    sign = match[0]
    if match["fraction"]:
        return " " * before.isdigit() + unicodedata.normalize("NFKC", sign).replace("⁄", "/")
    if match["quote"]:
        return '"' if before.isdigit() and sign in _DOUBLE else "'"
    if match["hyphen"]:
        return "-"
    is_apart = (before.isspace() and after.isspace()) or (len(sign) > 1 and before.isalpha() and after.isalpha())
    if match["long"] or ((match["en"] or match["typed"]) and is_apart):
        return "—"
    return "-" if match["en"] else _PLAIN.get(sign, sign)


# Finds where words begin and end, so that no quote begins or ends within one.


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


_WORD = regex(rf"[{UNSPACED}]|{_BEFORE_NUMBER}{_SPACED_LETTER}+(?:{_JOINT}{_SPACED_LETTER}+)*{_UNIT}")


_BARE = regex(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


_STRANGE = regex(rf"[^\x00-\x7f\w{UNSPACED}]+")  # dashes, arrows and quotation marks: often all that is not ASCII


_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}


_FOLDED = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)


def beside(text: str, start: int, end: int) -> tuple[str, str]:
    """The characters before and behind a span; "" at the ends of the text."""
    return text[max(start - 1, 0) : start], text[end : end + 1]


def edge(text: str) -> str:
    """A text with `EDGE` at both ends of each word. It must not hold that character itself."""
    return _WORD.sub(lambda match: f"{EDGE}{match[0]}{EDGE}", text)


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


# Finds the marks of Markdown in a text: what readers of a page do not see, and so leave out of a quote.


_LINE = regex(r"[^\n]*\n|[^\n]+\Z")


_FENCE = regex(r"(?:[ \t]*>)*[ \t]*(`{3,}|~{3,})([^\n]*)")


_QUOTED = regex(r"[ \t]{0,3}>[ \t]?")


_ITEM = regex(r"[ \t]*([*+-]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|(?=\n|\Z))")


_HEADING = regex(r"[ \t]{0,3}#{1,6}(?:[ \t]+|(?=\n|\Z))")


_SECTION = regex(r"[ ]{0,3}(={2,6})[ \t]+(?=\S)([^\n]{1,500})(?<=\S)[ \t]+\1[ \t]*\n?\Z")
"""`== Section ==`, alone on its line."""


_HEADING_END = regex(r"[ \t]+#+[ \t]*\n?\Z")


_RULE = regex(r"[ \t]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)\n?\Z")


_TABLE_RULE = regex(r"[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?\n?\Z")


_DEFINITION = regex(r"^ {0,3}\[([^\[\]\n]{1,200})\]:", re.MULTILINE)


_NUMBER = regex(r"[-+]?[.$€£]?\d")


_TARGET = r"(?:<[^<>\n]{0,1000}>|[^()\s<>]{0,1000}(?:\([^()\s<>]{0,200}\)[^()\s<>]{0,200}){0,5})"


_TITLE = r"(?:[ \t\n]{1,9}(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\([^()\n]{0,300}\)))?"


_TITLED = regex(
    r" {0,3}\[[^\[\]\n]{1,200}\]:[ \t]*\S{1,1000}[ \t]+(?P<title>\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\))[ \t]*\n?\Z"
)
"""The definition of a link that has a title."""


_SEEN_BY_NOBODY = regex(r"\]\(|\]\[|!\[|<[A-Za-z]|\]:")
"""What there is beside each alternative text of an image, title and attribute."""


_INLINE = regex(
    r"(?P<ticks>`+)|(?P<escape>\\[!-/:-@\[-`{-~])|(?P<runs>\*+|_+)"
    rf"|(?P<link>\](?:\({_TARGET}{_TITLE}\)|\[(?P<label>[^\[\]\n]{{0,200}})\]))|(?P<note>\[\^(?P<name>[^\[\]\s]{{1,200}})\](?!:))|(?P<image>!\[)|(?P<open>\[)"
    r"|(?P<auto><(?:https?://|mailto:)[^<>\s]{1,1000}>)|(?P<tag><[A-Za-z][A-Za-z0-9-]{0,30}\s[^<>\n]{1,1000}>)"
    r"|(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|\w{2,31});)|(?P<bar>\|+)|(?P<hard>\\\n)|(?P<shut>\])"
)


def find_marks(text: str, *, keeps_numbers: bool = False) -> tuple[Edit, ...]:
    """The marks of a text as edits that drop them, in time linear in its length; if wanted, not numbers of lists."""
    return tuple(_apart(sorted(_lines_of(text, keeps_numbers=keeps_numbers).edits)))


def _lines_of(text: str, *, keeps_numbers: bool = False) -> "_Lines":
    definitions = frozenset(match[1].casefold() for match in _DEFINITION.finditer(text))
    lines = _Lines(definitions, keeps_numbers=keeps_numbers)
    for match in _LINE.finditer(text):
        lines.take(match[0], match.start())
    lines.end_paragraph()
    return lines


def with_images(quote: str) -> str:
    """A quote with a character that no text has in the place of each image: it may show anything, also words."""
    return quote.replace("![", "\ufffc[") if "](" in quote or "][" in quote else quote


def _apart(edits: Sequence[Edit]) -> Iterator[Edit]:
    """Edits without those that overlap an earlier one."""
    done = 0
    for edit in edits:
        if edit[0] >= done:
            yield edit
            done = edit[1]


class _Lines(Struct):
    """Reads a text line by line: the marks of blocks, and the paragraphs between them."""

    definitions: frozenset[str]
    keeps_numbers: bool = False
    edits: list[Edit] = field(default_factory=list)
    unseen: list[Span] = field(default_factory=list)  # what no reader of a page reads
    fence: str = ""
    is_quoted: bool = False  # the fence is in a block quote
    listed: set[str] = field(default_factory=set)  # the kinds of marks since the last blank line
    is_new: bool = True  # no line of the paragraph was read yet
    parts: list[tuple[str, int]] = field(default_factory=list)  # the lines of the paragraph without marks, and where

    def drop(self, start: int, end: int) -> None:
        """Note that readers of a page do not see these characters."""
        self.edits.append((start, end, ""))

    def take(self, line: str, start: int) -> None:
        end = start + len(line.rstrip("\n"))
        fence = _FENCE.match(line)
        if self.fence:
            if fence and fence[1].startswith(self.fence) and not fence[2].strip():
                self.fence = ""
                self.drop(start, end)
            elif self.is_quoted:
                self._quote_marks(line, start, 0)
        elif fence and ("`" not in fence[2] or fence[1][0] == "~"):
            self.end_paragraph()
            self.fence = fence[1]
            self.is_quoted = line.lstrip(" ").startswith(">")
            self.drop(start, end)
        elif not line.strip():
            self.end_paragraph()
        elif _RULE.match(line) or ("|" in line and _TABLE_RULE.match(line)):
            self.end_paragraph()
            self.drop(start, end)
        else:
            self._paragraph(line, start, end)

    def _paragraph(self, line: str, start: int, end: int) -> None:
        place = self._quote_marks(line, start, 0)
        if titled := _TITLED.match(line, place):
            self.unseen.append((start + titled.start("title"), start + titled.end("title")))
        if section := _SECTION.match(line, place):
            self.end_paragraph()
            place = section.start(2)
            self.drop(start + section.start(), start + place)
            self.drop(start + section.end(2), end)
            line = line[: section.end(2)]
        elif heading := _HEADING.match(line, place):
            self.end_paragraph()
            self.drop(start + place, start + heading.end())
            place = heading.end()
            if closing := _HEADING_END.search(line[-200:]):
                begin = max(len(line) - 200, 0) + closing.start()
                if begin > place:
                    self.drop(start + begin, end)
        else:
            place = self._item_marks(line, start, place)
        self.parts.append((line[place:], start + place))
        self.is_new = False

    def _quote_marks(self, line: str, start: int, place: int) -> int:
        """Take off `> > `; where it was; a number after it in the middle of a paragraph may be compared with."""
        end = place
        while quoted := _QUOTED.match(line, end):
            end = quoted.end()
        if end == place or (_NUMBER.match(line, end) and not self.is_new and ">" not in self.listed):
            return place
        self.listed.add(">")
        self.drop(start + place, start + end)
        return end

    def _item_marks(self, line: str, start: int, place: int) -> int:
        """Take off `- `, `1. `, `- [x] `, also several."""
        item = _ITEM.match(line, place)
        while item:
            kind = item[1] if len(item[1]) == 1 else item[1][-1]
            counts = kind in ".)" or _NUMBER.match(line, item.end())
            if counts and (self.keeps_numbers or (not self.is_new and kind not in self.listed)):
                break
            self.listed.add(kind)
            self.drop(start + place, start + item.end())
            place = item.end()
            self.is_new = True
            item = _ITEM.match(line, place)
        return place

    def end_paragraph(self) -> None:
        """Read the marks within the paragraph that ends here."""
        if self.parts:
            _Inline(self).read(self.parts)
            self.parts.clear()
        self.is_new = True
        self.listed.clear()


class _Run(Struct):
    """What is left of a run of `*` or `_`, and where."""

    start: int
    count: int


class _Inline:
    """Reads the marks within one paragraph."""

    def __init__(self, lines: _Lines) -> None:
        self.lines, self._drop = lines, lines.drop
        self.stacks: dict[str, list[_Run]] = {"*": [], "_": []}
        self.brackets: list[tuple[int, int]] = []  # where a label begins, and where its text does

    def read(self, parts: Sequence[tuple[str, int]]) -> None:
        found = [(match, start, part) for part, start in parts for match in _INLINE.finditer(part)]
        closing = _closing_ticks(found)
        skip = -1
        for number, (match, start, part) in enumerate(found):
            if number <= skip:
                continue
            where = start + match.start()
            if match["ticks"]:
                skip = self._code(found, number, closing[number], where)
            elif match["runs"]:
                self._run(match, part, where)
            else:
                self._other(match, part, where)

    def _code(self, found: Sequence[tuple[re.Match[str], int, str]], number: int, close: int, where: int) -> int:
        """A span of code, if it is closed: its ticks go. The number of what closes it."""
        if close < 0:
            return number
        match, start, _ = found[close]
        length = len(match[0])
        self._drop(where, where + length)
        self._drop(start + match.start(), start + match.end())
        return close

    def _other(self, match: re.Match[str], part: str, where: int) -> None:
        end = where + len(match[0])
        kind = {"label": "link", "name": "note"}.get(match.lastgroup or "", match.lastgroup)
        if kind in ("escape", "hard"):
            self._drop(where, where + 1)
        elif kind in ("image", "open"):
            self.brackets.append((where, end))
        elif kind == "tag":
            self.lines.unseen.append((where, end))
        elif kind == "link":
            self._link(match, where, end)
        elif kind == "note" and f"^{match['name']}".casefold() in self.lines.definitions:
            self._drop(where, end)
        elif kind == "shut" and self.brackets:
            begin, words = self.brackets.pop()
            place = where - match.start()  # of the line
            if part[max(words - place, 0) : match.start()].casefold() in self.lines.definitions:
                self._drop(begin, words)
                self._drop(where, end)
                self.lines.unseen += [(words - 1, end)] * (words - begin > 1)
        elif kind == "auto":
            self._drop(where, where + 1)
            self._drop(end - 1, end)
        elif kind == "entity":
            seen = html.unescape(match[0])
            if seen != match[0] and "&" not in seen[1:]:
                self.lines.edits.append((where, end, seen))
        elif kind == "bar" and part.startswith("|"):
            self.lines.edits.append((where, end, " "))

    def _link(self, match: re.Match[str], where: int, end: int) -> None:
        if not self.brackets:
            return
        begin, words = self.brackets.pop()
        label = match["label"]
        if label is None or label.casefold() in self.lines.definitions:
            self._drop(begin, words)
            self._drop(where, end)
            self.lines.unseen.append((words - 1 if words - begin > 1 else where, end))  # of an image also its text

    def _run(self, match: re.Match[str], part: str, where: int) -> None:
        """A run opens emphasis before a word, and closes it behind one, as CommonMark says."""
        before, after = beside(part, *match.span())
        char, count = match[0][0], len(match[0])
        is_inside = _is_word(before) and _is_word(after)
        if is_inside and (char == "_" or count == 1 or (before.isdigit() and after.isdigit())):
            return
        left = bool(after.strip()) and (_is_word(after) or not _is_word(before))
        right = bool(before.strip()) and (_is_word(before) or not _is_word(after))
        stack = self.stacks[char]
        while right and count and stack:
            run = stack[-1]
            paired = min(count, run.count)
            run.count -= paired
            self._drop(run.start + run.count, run.start + run.count + paired)
            self._drop(where, where + paired)
            where, count = where + paired, count - paired
            if not run.count:
                stack.pop()
        if left and count:
            stack.append(_Run(where, count))


def _closing_ticks(found: Sequence[tuple[re.Match[str], int, str]]) -> dict[int, int]:
    """For each run of backticks the number of the next one of the same length; -1 if there is none."""
    later: dict[int, int] = {}
    closing: dict[int, int] = {}
    for number in range(len(found) - 1, -1, -1):
        ticks = found[number][0]["ticks"]
        if ticks:
            closing[number] = later.get(len(ticks), -1)
            later[len(ticks)] = number
    return closing


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


Level: TypeAlias = Literal["exact", "space", "marks", "signs"]
"""What two texts may differ in: nothing; white space; also Markdown marks; also typographic signs."""


LEVELS: tuple[Level, ...] = get_args(Level)


_EDGES = regex(EDGE)


_DEEP: Final = 10  # images within links within images, at most


_FEW = 8  # places at which words are looked for as they are, before anything is prepared


class Needle(Value, kw_only=False, dict=True):
    """Words to look for, as they are and, once they may be there, with the edges of words."""

    plain: str

    @cached_property
    def edged(self) -> str:
        """The words with their edges."""
        return edge(self.plain)


class Prepared:
    """A text at one level, ready for searching: its reading, and, once words of it may be there, that with edges."""

    def __init__(self, reading: Reading) -> None:
        """Nothing is prepared yet."""
        self.reading = reading

    @cached_property
    def edged(self) -> str:
        """The reading with the edges of words."""
        return edge(self.reading.text)

    @cached_property
    def needle(self) -> Needle:
        """All of it as words to look for."""
        return Needle(self.reading.text.strip())

    def may_have(self, needle: Needle) -> bool:
        """Whether the words are there, maybe within others; much faster than to prepare for `find`."""
        return needle.plain in self.reading.text

    def find(self, needle: str, start: int = 0, end: int | None = None) -> int:
        """Where a needle with edges is from a place on; -1 if it is not there."""
        return self.edged.find(needle, start, len(self.edged) if end is None else end)

    def find_all(self, needle: str) -> Iterator[int]:
        """All places of a needle, the first one first."""
        place = self.find(needle)
        while place >= 0:
            yield place
            place = self.find(needle, place + 1)

    def source_span(self, start: int, end: int) -> Span:
        """The span of the text itself that a span of `edged` is read from."""
        first = start - self.edged.count(EDGE, 0, start)
        return self.reading.source_span(first, first + len(self.edged[start:end].replace(EDGE, "")))

    def places_of(self, spans: Sequence[Span]) -> list[Span]:
        """Spans of the text itself as spans of `edged`."""
        edges = [match.start() - number for number, match in enumerate(_EDGES.finditer(self.edged))]
        places = ((self.reading.place_of(start), self.reading.place_of(end)) for start, end in spans)
        return [(start + bisect_left(edges, start), end + bisect_right(edges, end)) for start, end in places]


class Source:
    """One text with its levels. Keep it as long as several quotes are judged by it."""

    def __init__(self, text: str, *, keeps_numbers: bool = False) -> None:
        """Nothing is prepared yet."""
        self.text = text
        self._keeps_numbers = keeps_numbers

    @cached_property
    def numbered(self) -> "Source":
        """The same text with the numbers of its lists, which readers see before the words."""
        return Source(self.text, keeps_numbers=True)

    def at(self, level: Level) -> Prepared:
        """The text at a level."""
        prepared: Prepared = getattr(self, f"_{level}")
        return prepared

    @cached_property
    def _unseen(self) -> list[Span]:
        return sorted(_lines_of(self.text).unseen)

    def hides(self, start: int, end: int) -> bool:
        """Whether words are in what no reader reads: the text or address of an image, a title, an attribute."""
        line = self.text.rfind("\n", 0, start) + 1
        if not _SEEN_BY_NOBODY.search(self.text, line, max(self.text.find("\n", end), end)):
            return False
        number = bisect_right(self._unseen, (start, len(self.text)))
        return any(start >= one and end <= other for one, other in self._unseen[max(number - _DEEP, 0) : number])

    def exact_spans(self, quote: str) -> Iterator[Span]:
        """Where the very words are between white space or the ends of the text: found without preparing anything.

        Not of a quote with a number at an end: the number may go on behind the space, as `12 500` does.
        """
        place = -1 if quote[:1].isdigit() or quote[-1:].isdigit() else self.text.find(quote)
        for _ in range(_FEW):
            if place < 0:
                return
            end = place + len(quote)
            before, after = beside(self.text, place, end)
            is_whole = (not before or before.isspace()) and (not after or after.isspace())
            if quote and is_whole and not self.hides(place, end):
                yield place, end
            place = self.text.find(quote, place + 1)

    @cached_property
    def _exact(self) -> Prepared:
        return Prepared(Reading(self.text.replace(EDGE, "\ufffd")))

    @cached_property
    def _space(self) -> Prepared:
        return Prepared(spaced(self._exact.reading))

    @cached_property
    def _found_marks(self) -> tuple[Edit, ...]:
        return find_marks(self._exact.reading.text, keeps_numbers=self._keeps_numbers)

    @cached_property
    def _marks(self) -> Prepared:
        return Prepared(spaced(edited(self._exact.reading, self._found_marks)))

    @cached_property
    def _signs(self) -> Prepared:
        clean = self._exact.reading
        apart = _apart_from(self._found_marks, plain_signs(clean.text))
        return _with_signs(edited(clean, merge(self._found_marks, apart)))

    @cached_property
    def unmarked_signs(self) -> Prepared:
        """The typographic signs read as plain, with all marks as they are: for a quote that holds `__init__`."""
        clean = self._exact.reading
        return _with_signs(edited(clean, plain_signs(clean.text)))


def _with_signs(reading: Reading) -> Prepared:
    reading = spaced(reading)
    found = _SPACED_DASH.finditer(reading.text)  # the spaces around a dash are a matter of style
    return Prepared(edited(reading, ((*match.span(), "—") for match in found)))


def _apart_from(edits: tuple[Edit, ...], others: Iterator[Edit]) -> Iterator[Edit]:
    """The others that overlap none of `edits`."""
    for other in others:
        number = bisect_left(edits, other[1], key=itemgetter(0))
        if not number or edits[number - 1][1] <= other[0]:
            yield other
