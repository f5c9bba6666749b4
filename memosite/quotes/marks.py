r"""Finds the marks of Markdown in a text: what readers of a page do not see, and so leave out of a quote.

    lines ──► marks of blocks (#, >, -, 1., |, ```)          paragraph ──► marks within it (*, _, `, links, [^1], \)

A mark counts only where Markdown reads it as one, and never where leaving it out would change a number: a line
that begins with `1984.` or `- 5` in the middle of a paragraph keeps it. Code keeps every character, and struck out
words their `~~`: without it they would be said.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memosite.quotes.layers import Edit

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r"(?:[ \t]*>)*[ \t]*(`{3,}|~{3,})([^\n]*)")
_QUOTED = re.compile(r"[ \t]{0,3}>[ \t]?")
_ITEM = re.compile(r"[ \t]*([*+-]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|(?=\n|\Z))")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]+|(?=\n|\Z))")
_SECTION = re.compile(r"[ ]{0,3}(={2,6})[ \t]+(?=\S)([^\n]{1,500})(?<=\S)[ \t]+\1[ \t]*\n?\Z")
"""`== Section ==`, alone on its line."""
_HEADING_END = re.compile(r"[ \t]+#+[ \t]*\n?\Z")
_RULE = re.compile(r"[ \t]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)\n?\Z")
_TABLE_RULE = re.compile(r"[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?\n?\Z")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]\n]{1,200})\]:", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?[.$€£]?\d")

_TARGET = r"(?:<[^<>\n]{0,1000}>|[^()\s<>]{0,1000}(?:\([^()\s<>]{0,200}\)[^()\s<>]{0,200}){0,5})"
_TITLE = r"(?:[ \n]\"[^\"\n]{0,300}\")?"
_INLINE = re.compile(
    r"(?P<ticks>`+)|(?P<escape>\\[!-/:-@\[-`{-~])|(?P<runs>\*+|_+)"
    rf"|(?P<link>\](?:\({_TARGET}{_TITLE}\)|\[(?P<label>[^\[\]\n]{{0,200}})\]))|(?P<note>\[\^(?P<name>[^\[\]\s]{{1,200}})\](?!:))|(?P<image>!\[)|(?P<open>\[)"
    r"|(?P<auto><(?:https?://|mailto:)[^<>\s]{1,1000}>)"
    r"|(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|\w{2,31});)|(?P<bar>\|+)|(?P<hard>\\\n)|(?P<shut>\])"
)


def find_marks(text: str) -> tuple[Edit, ...]:
    """The marks of a text as edits that drop them, in time linear in its length."""
    lines = _Lines(frozenset(match[1].casefold() for match in _DEFINITION.finditer(text)))
    for match in _LINE.finditer(text):
        lines.take(match[0], match.start())
    lines.end_paragraph()
    return tuple(_apart(sorted(lines.edits)))


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


@dataclass(slots=True)
class _Lines:
    """Reads a text line by line: the marks of blocks, and the paragraphs between them."""

    definitions: frozenset[str]
    edits: list[Edit] = field(default_factory=list)
    fence: str = ""
    is_quoted: bool = False  # the fence is in a block quote
    listed: set[str] = field(default_factory=set)  # the kinds of marks since the last blank line
    is_new: bool = True  # no line of the paragraph was read yet
    parts: list[tuple[str, int]] = field(default_factory=list)  # the lines of the paragraph without marks, and where

    def take(self, line: str, start: int) -> None:
        fence = _FENCE.match(line)
        if self.fence:
            closes = fence and fence[1].startswith(self.fence) and not fence[2].strip()
            if closes:
                self.fence = ""
                self.edits.append((start, start + len(line.rstrip("\n")), ""))
            elif self.is_quoted:
                self._quote_marks(line, start, 0)
        elif fence and ("`" not in fence[2] or fence[1][0] == "~"):
            self.end_paragraph()
            self.fence = fence[1]
            self.is_quoted = line.lstrip(" ").startswith(">")
            self.edits.append((start, start + len(line.rstrip("\n")), ""))
        elif not line.strip():
            self.end_paragraph()
        elif _RULE.match(line) or ("|" in line and _TABLE_RULE.match(line)):
            self.end_paragraph()
            self.edits.append((start, start + len(line.rstrip("\n")), ""))
        else:
            self._paragraph(line, start)

    def _paragraph(self, line: str, start: int) -> None:
        place = self._quote_marks(line, start, 0)
        if section := _SECTION.match(line, place):
            self.end_paragraph()
            place = section.start(2)
            self.edits += [(start + section.start(), start + place, ""),
                           (start + section.end(2), start + len(line.rstrip("\n")), "")]  # fmt: skip
            line = line[: section.end(2)]
        elif heading := _HEADING.match(line, place):
            self.end_paragraph()
            self.edits.append((start + place, start + heading.end(), ""))
            place = heading.end()
            if closing := _HEADING_END.search(line[-200:]):
                begin = max(len(line) - 200, 0) + closing.start()
                if begin > place:
                    self.edits.append((start + begin, start + len(line.rstrip("\n")), ""))
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
        self.edits.append((start + place, start + end, ""))
        return end

    def _item_marks(self, line: str, start: int, place: int) -> int:
        """Take off `- `, `1. `, `- [x] `, also several."""
        item = _ITEM.match(line, place)
        while item:
            kind = item[1] if len(item[1]) == 1 else item[1][-1]
            counts = kind in ".)" or _NUMBER.match(line, item.end())
            if counts and not self.is_new and kind not in self.listed:
                break
            self.listed.add(kind)
            self.edits.append((start + place, start + item.end(), ""))
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


@dataclass(slots=True)
class _Run:
    """What is left of a run of `*` or `_`, and where."""

    start: int
    count: int


class _Inline:
    """Reads the marks within one paragraph."""

    def __init__(self, lines: _Lines) -> None:
        self.lines = lines
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

    def _run(self, match: re.Match[str], part: str, where: int) -> None:
        """A run opens emphasis before a word, and closes it behind one, as CommonMark says."""
        before, after = part[match.start() - 1 : match.start()], part[match.end() : match.end() + 1]
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

    def _drop(self, start: int, end: int) -> None:
        self.lines.edits.append((start, end, ""))


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
