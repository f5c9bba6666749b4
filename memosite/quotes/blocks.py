"""Reads plain text, and LaTeX as text, into the blocks that quotations are looked for in: paragraphs, and block quotes.

A block knows on which line each of its characters is. `<q>` is read as a pair of quotation marks of its own, so that
one search finds all kinds. A quote must not hold by words that readers do not see, or see otherwise: struck out words
keep their `~~`, and what is hidden or shown by other means than letters has a character beside it that no text has.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.quotes.source import beside, word_count

OTHER: Final = "\ue002"
"""Stands for the citation of something else, which has its own words."""


WORDS, CITED = "\ue003", "\ue004"
"""Stand for the quoted words, and for what names their source, in what is around them."""


OPEN, CLOSE = "\ue000", "\ue001"
"""Stand for `<q>` and `</q>` in the text of a block."""


_QUOTED_LINE = regex(r" {0,3}(?:> ?)+")


_ALERT = regex(r"\[!\w+\]\s*\Z")


_NOTE = regex(r" {0,3}(?:\[\^([^\[\]\s]{1,100})\]:|\[(\d{1,4})\](?=:?\s)|([⁰¹²³⁴-⁹]{1,4})(?=\s))")
"""The beginning of a footnote; its name may stand anywhere else as `NOTED`."""


_SIGNS = (
    r"\[\^([^\[\]\s]{1,100})\]|\[(\d{1,4}|[a-z*†‡§¶])\]|([⁰¹²³⁴-⁹]{1,4})|\^(\w{1,3})\^"
    r"|%s\\?([*†‡§¶‖]{1,3})(?![\w*])|%s\((\d{1,3}|[a-z])\)"
)


_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def note_name(match: re.Match[str]) -> str:
    """The name of a footnote, by a match of its sign: `¹` is called 1."""
    return str(match[match.lastindex or 0]).translate(_RAISED)


NOTED = regex(_SIGNS % (r"(?<=[^\s\\(*])", r"(?<=[^\s(])"))
"""The sign of a footnote in a text; its name is the last group."""


NOTING = regex(rf"\s*(?:{_SIGNS % ('', '')})[:.]?(?=\s)")
"""The beginning of a paragraph that is a footnote, if its sign is in the text."""


_ITEM = regex(r"[ \t]*(?:[*+-]|\d{1,9}[.)])[ \t]+|#{1,6}[ \t]+")


NUMBER = regex(r"[ \t]*(\d{1,3})[.)][ \t]+")
"""The number of an item of a list."""


_TAG = regex(r"<(/?)(q|blockquote)\b[^<>]{0,500}>", re.IGNORECASE)


_LINK = regex(
    r"\]\(<([^<>\n]{1,2000})>\)|(https?://[^()\s<>\"]{1,2000}(?:\([^()\s<>\"]{0,200}\)[^()\s<>\"]{0,200}){0,5})"
)


class Block(Value):
    """A paragraph, or what a block quote quotes. `starts` are where its lines begin in `text`, `lines` their numbers.

    `links` are the addresses that HTML links to from it, or gives as the source of the quote, `lead` is the text before
    the first of these links. `figure` is the number of the element of HTML that holds all of a quote, 0 if none does.
    `note` is the name of the footnote that it is of, `item` the number of the item of a list that it begins. `marked`
    is where HTML has emphasis, code or a title, and whether that is bold. If it `is_apart`, all of it is indented.
    `title` is that of a callout. `unread` says why nobody knows what readers see of it; if it `is_strange`, nor is it
    known what of it is a quotation.
    """

    is_quote: bool
    text: str
    starts: tuple[int, ...]
    lines: tuple[int, ...]
    links: tuple[str, ...] = ()
    lead: str = ""
    figure: int = 0
    note: str = ""
    item: str = ""
    is_apart: bool = False
    title: str = ""
    marked: tuple[tuple[int, int, bool], ...] = ()
    unread: str = ""
    is_strange: bool = False

    def line_of(self, place: int) -> int:
        """The line of the manuscript that a character is on."""
        return self.lines[max(bisect_right(self.starts, place) - 1, 0)]


def block_of(rows: Sequence[tuple[int, str]], *, is_quote: bool) -> Block:
    """A block of lines with their numbers."""
    return Block(
        is_quote=is_quote,
        text="\n".join(row for _, row in rows),
        starts=tuple(accumulate((len(row) + 1 for _, row in rows[:-1]), initial=0)),
        lines=tuple(line for line, _ in rows) or (1,),
    )


def links_in(text: str) -> list[str]:
    """The addresses in a text or a Markdown document, in their order."""
    return [match[1] or match[2].rstrip(".,;:!?'”’»]") for match in _LINK.finditer(text)]


def plain_blocks(text: str) -> Iterator[Block]:
    """The blocks of a plain text; lines that begin with `>` are a block quote, as in mail."""
    yield from TextBlocks(is_markdown=False).read(text)


class TextBlocks:
    """Collects lines until a block ends."""

    def __init__(self, *, is_markdown: bool) -> None:
        self.is_markdown = is_markdown
        self.rows: list[tuple[int, str]] = []
        self.is_quote = False
        self.in_tag = False  # within <blockquote>
        self.note = self.item = ""

    def read(self, text: str) -> Iterator[Block]:
        """The blocks of a text, in order."""
        for number, line in enumerate(text.split("\n"), 1):
            yield from self._line(number, line)
        yield from self._end()

    def _line(self, number: int, line: str) -> Iterator[Block]:
        if not line.strip() and not (self.in_tag and self.rows):
            yield from self._end()
            return
        quoted = _QUOTED_LINE.match(line)
        row = line[quoted.end() :] if quoted else line
        if self.is_markdown and "<" in row:
            row, begins, ends = _tags(row)
            if begins:
                yield from self._end()
                self.in_tag = True
            if ends and self.in_tag:
                yield from self._add(number, row, is_quote=True)
                yield from self._end()
                self.in_tag = False
                return
        yield from self._add(number, row, is_quote=self.in_tag or quoted is not None)

    def _add(self, number: int, row: str, *, is_quote: bool) -> Iterator[Block]:
        item = _ITEM.match(row)
        noted = None if is_quote else _NOTE.match(row)
        starts = not is_quote and (item or noted or row.startswith("|"))
        if self.rows and (is_quote != self.is_quote or starts):
            yield from self._end()
        if noted:
            self.note, row = note_name(noted), row[noted.end() :].removeprefix(":")
        elif not self.rows and not row.startswith((" ", "\t")):
            self.note = ""
        if _ALERT.match(row) and is_quote:
            row = ""
        if not self.rows:
            numbered = NUMBER.match(row)
            self.item = numbered[1] if numbered and not is_quote else ""
        self.is_quote = is_quote
        is_mark = item and not is_quote and (self.is_markdown or "*" not in item[0])  # it may be the sign of a footnote
        self.rows.append((number, row[item.end() :] if item and is_mark else row))

    def _end(self) -> Iterator[Block]:
        if any(row.strip() for _, row in self.rows):
            is_apart = not self.is_markdown and all(row.startswith(("  ", "\t")) for _, row in self.rows)
            block = block_of(self.rows, is_quote=self.is_quote)
            yield replace(block, note=self.note, item=self.item, is_apart=is_apart)
        self.rows = []


def _tags(row: str) -> tuple[str, bool, bool]:
    """A line without its tags of quotes, and whether a block quote begins and ends on it."""
    found = [(match[2].lower(), match[1]) for match in _TAG.finditer(row)]
    return _TAG.sub(_mark, row), ("blockquote", "") in found, ("blockquote", "/") in found


def _mark(match: re.Match[str]) -> str:
    odd = NOT_READ if re.search(r"\s(?!cite=|>|/)\S", match[0]) else ""
    return odd + (" " if match[2].lower() == "blockquote" else CLOSE if match[1] else OPEN)


NOT_READ: Final = "\ufffc"
"""Stands beside what is hidden, and for what is no text."""


def unread_if(page: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks of a page that shows them by other rules than those of plain text, if it does."""
    for block in blocks:
        yield replace(block, unread=f"{page} in the page may hide words or show others") if page else block


CLOSING: Final = {
    "“": "”", "„": "“”\"", "‟": "”", "«": "»", "»": "«»", '"': '"', "”": "”", OPEN: CLOSE, "「": "」", "『": "』",
    "‘": "’'", "‚": "‘’", "‹": "›", "›": "‹›", "'": "'", "＂": "＂", "❝": "❞", "〝": "〞〟", "《": "》", "‛": "’",
    "’": "’", "｢": "｣", "﹁": "﹂", "﹃": "﹄", "❛": "❜",
}  # fmt: skip


_ALWAYS: Final = frozenset("“„‟«「『＂❝〝《｢﹁﹃❛" + OPEN)  # what opens wherever it is


_APOSTROPHES: Final = frozenset("’'‘")


_BEFORE: Final = frozenset("([{—–-/:>*_,;.!?=|~…" + "".join(_ALWAYS))  # what may stand right before a mark


MARK = regex("[" + "".join(CLOSING) + "]")


_TICKS = regex(r"(?<!`)(`+)(?!`)[^`]+(?:(?<!`)\1(?!`))")


_ELISION = regex(r"['’‘](?:\d\ds(?!\w)|(?:tis|twas|twere|em|til|cause|n|bout|round)(?!\w))", re.IGNORECASE)
"""What an apostrophe begins: `’90s`, `’tis`."""


_POSSESSIVE = regex(r"(?<=[sxzSXZ])['’](?=\s+[^\W\d_])")


def quoted_spans(text: str) -> Iterator[tuple[int, int, int]]:
    """Of what stands in quotation marks: where its mark is, where it begins and where it ends."""
    place = 0
    unclosed: set[str] = set()
    while match := MARK.search(text, place):
        place = match.end()
        if match[0] in unclosed or not _opens(text, match.start()):
            continue
        end = _end_of(text, place, CLOSING[match[0]])
        if end == len(text) and match[0] in _APOSTROPHES:
            unclosed.add(match[0])  # an apostrophe; nor will those that follow be closed
            continue
        yield match.start(), place, end
        place = end + 1


def _opens(text: str, place: int) -> bool:
    """Whether a mark begins a quotation: it is before a word, and not behind one."""
    mark, (before, after) = text[place], beside(text, place, place + 1)
    if mark in (before, after):  # a doubled mark: of what, nobody knows
        return False
    if not after or after.isspace():
        return bool(after) and (mark == OPEN or (mark in "“„«‹" and not before.isalnum()))
    if mark in _ALWAYS:
        return mark != "“" or not before.isalnum() or (before.isalpha() and after.isalnum())
    if mark in _APOSTROPHES and _ELISION.match(text, place):
        return False
    if mark == '"' and before.isalpha():
        return after.isalnum()
    return not before or before.isspace() or before in _BEFORE


def _end_of(text: str, start: int, closing: str) -> int:
    """Where a quotation ends.

    An apostrophe may look like its end: the first that is none counts, else the last one before the next opening.
    """
    last = -1
    place = start
    while place < len(text):
        char = text[place]
        if char in closing and (char not in _APOSTROPHES or not text[place + 1 : place + 2].isalnum()):
            if char in _APOSTROPHES:
                if not _POSSESSIVE.match(text, place):
                    return place
                last = place
            elif char != '"' or not (_is_inch(text, place) or (len(closing) > 1 and _opens(text, place))):
                return place
        elif last >= 0 and char in "‘‚'" and _opens(text, place):
            return last
        place += 1
    return last if last >= 0 else len(text)


def _is_inch(text: str, place: int) -> bool:
    """Whether a straight mark after a number goes on in a sentence: `a 5" pipe and more"`."""
    if text[place] != '"' or not text[place - 1].isdigit() or text[place + 1 : place + 2] != " ":
        return False
    following = text.find('"', place + 1, place + 400)
    return following > 0 and not _opens(text, following)


def without_marks_in_code(text: str) -> str:
    """A text of the same length in which code between backticks has no quotation marks."""
    return _TICKS.sub(lambda match: MARK.sub("_", match[0]), text) if "`" in text else text


def bare(text: str) -> str:
    """A block quote without quotation marks around all of it."""
    closing = CLOSING.get(text[:1], "")
    if closing and text[-1:] in closing and not MARK.search(text, 1, len(text) - 1):
        return text[1:-1].strip()
    return text


# Finds what may be a quotation mark and was not read as one: nobody knows whether words are quoted there.


_LIKE_MARKS: Final = regex(
    r"<<|>>|,,|["
    r"\"'`´«»‘’‚‛“”„‟‹›＂＇「」『』｢｣〝〞〟《》〈〉⟨⟩⟪⟫⦅⦆❛❜❝❞❟❠❮❯🙶🙷🙸‵′‶″‷‴⁗ʹʺʻʼʽˊˋ˝״׳՚⹂﹁﹂﹃﹄≪≫⸢⸣"
    r"⸂⸃⸄⸅⸉⸊⸌⸍⸜⸝⸠⸡"
    f"{OPEN}{CLOSE}]"
)


_WITHIN_WORD: Final = frozenset("'’‘ʼʻʽʹ＇՚׳״´′`")


_MEASURE = regex(
    r"(?<=\d)(?:''|[\"'’”′″ʹʺ´])(?=[\s.,;:!?)\]*_|/×–—…-]|\Z|\d|x[\d\s])|(?<=\b[A-Za-z])['′″‴]{1,3}(?=[\s(),.=+]|\Z)"
)
"""Inches and feet, minutes and seconds, and primes behind a letter."""


_BESIDE_ELISION: Final = _ALWAYS | frozenset("*_[")  # `l’« Europe »`


_GLUED = regex(r"(?<=[^\W\d_]{3}).(?!(?:s|t|d|m|re|ve|ll)(?!\w))")
"""A mark within a word that may be two words, with a mark between."""


_ENDS_WORD = regex(r"(?<=[nosxzNOSXZ])['’](?!\w)")


_GOES_ON = regex(r"\s+[^\W\d_]")


def doubtful_marks(text: str, spans: Iterable[tuple[int, int, int]]) -> Iterator[int]:
    """Where characters are that may be quotation marks, and neither belong to `spans` nor are anything else.

    `spans` are those of `quoted_spans`; one without words was none.
    """
    read = [(mark, end + 1) for mark, start, end in spans if word_count(text[start:end])]
    read = sorted([*read, *(match.span() for match in _TICKS.finditer(text))])
    number = done = 0
    is_open = is_single = False  # an apostrophe may have begun a quotation; one that was read has single marks
    for match in _LIKE_MARKS.finditer(text):
        place = match.start()
        while number < len(read) and read[number][0] <= place:
            done = max(done, read[number][1])
            is_single = is_single or text[read[number][0]] in "'‘’‚"
            number += 1
        if place < done:
            continue
        before, after = beside(text, *match.span())
        if measure := _MEASURE.match(text, place):
            done = measure.end()
        elif match[0] in _WITHIN_WORD and before.isalnum() and after.isalnum():
            is_open = is_open or _GLUED.match(text, place) is not None
        elif _ELISION.match(text, place):
            is_open = True
        elif before.isalpha() and (match[0] == "׳" or (match[0] in _APOSTROPHES and after in _BESIDE_ELISION)):
            continue
        elif is_open or not _ENDS_WORD.match(text, place) or (is_single and not _GOES_ON.match(text, match.end())):
            is_open = True
            yield place
