"""Parses the sections of a wyren memory line by line into bullets, other text and code; finds what is no entry.

The layout is SPEC 2.2 (wyren): sections in any order, the whole perhaps wrapped in a code fence. A bullet is what
Markdown takes for a list item at the outer level, with all that belongs to it. Comments and placeholders are no
entries, but count in the keys of records as they always did, so that what was published stays (`parse._Keys`). Tags and
records are not known here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from memosite.facts.json_text import clean_text
from memosite.facts.patterns import regex
from memosite.facts.texts import one_line
from memosite.facts.values import Struct, Value, field
from memosite.formats.document import without_closing
from memosite.formats.wyren import SECTIONS

# Finds what of a wyren memory is no entry: HTML comments, and placeholders such as `(none yet)` and `<fact>`.


_MARK = regex(r"`+|<!--|-->")
_BEGIN, _END = "<!--", "-->"
_TAG = regex(r"\[(?:session|raised|updated)\b[^\[\]]*\]", re.IGNORECASE)
_BOX = regex(r"\A\s*\[[ xX]?\]")
_BLANK = regex(r"<[^<>:@/\n]+>")
_WORD = regex(r"[^\W_]+")
_DASHES = regex(r"[\s\-–—….*_()]+")
_LONGEST = 200
_NOTHING = ("none", "nothing", "empty", "tbd", "tba", "todo", "placeholder")
_NO_ENTRIES = frozenset({"entry", "entries", "item", "items", "content"})

_FILLERS = frozenset(
    {"yet", "so", "far", "here", "now", "currently", "at", "this", "time", "the", "moment", "to", "report", "recorded"}
    | {"noted", "known"}
)


def without_comments(lines: Sequence[str], longest: Mapping[str, Sequence[int]]) -> Sequence[str | None]:
    """The lines without comments, which may span lines; None for one that held nothing else.

    What looks like a comment in code is text, and so is one without an end. `longest` is, for each sign of fences,
    the longest end of a fence from each line on.
    """
    last_end = max((index for index, line in enumerate(lines) if _END in line), default=-1)
    if not any(_BEGIN in line for line in lines[: last_end + 1]):
        return lines
    shown: list[str | None] = []
    fence, is_inside = "", False
    for index, line in enumerate(lines):
        mark = _fence_of(line)
        if fence or (mark and not is_inside and longest[mark[0]][index + 1] >= len(mark)):
            ends = bool(fence) and mark.startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if ends else fence or mark
            shown.append(line)
            continue
        text, is_inside = _outside(line, is_inside=is_inside, has_end=last_end > index)
        shown.append(line if text == line else text if text.strip() else None)
    return shown


def _fence_of(line: str) -> str:
    """The marks of a fence that a line begins with, "" for none."""
    text = line.strip()
    marks = text[: len(text) - len(text.lstrip(text[0]))] if text.startswith(("```", "~~~")) else ""
    return "" if marks.startswith("`") and "`" in text[len(marks) :] else marks


def _outside(line: str, *, is_inside: bool, has_end: bool) -> tuple[str, bool]:
    """The parts of a line outside of comments, and whether one goes on; `has_end` if a later line may end it."""
    marks = list(_MARK.finditer(line))
    last = {mark[0]: mark.start() for mark in marks}
    kept: list[str] = []
    at, code = 0, ""
    for mark in marks:
        if is_inside:
            is_inside, at = mark[0] != _END, mark.end()
        elif code:
            code = "" if mark[0] == code else code
        elif mark[0] == _BEGIN and (has_end or last.get(_END, -1) > mark.start()):
            kept.append(line[at : mark.start()])
            is_inside = True
        elif mark[0].startswith("`") and last[mark[0]] > mark.start():
            code = mark[0]
    return "".join(kept) + ("" if is_inside else line[at:]), is_inside


def is_placeholder(text: str, section: str) -> bool:
    """Whether an entry only says that a section has none, or is a form to fill in: `(none)`, `<fact>`, `—`."""
    return len(text) <= 2 * _LONGEST and _is_placeholder(text, section)


@lru_cache(maxsize=5_000)  # most entries are in thousands of versions of a memory
def _is_placeholder(text: str, section: str) -> bool:
    bare = _BOX.sub("", _TAG.sub("", text)).strip()
    if not bare or len(bare) > _LONGEST or "`" in bare or "\n" in bare:
        return False
    left = _BLANK.sub("", bare)
    words = [word.casefold() for word in _WORD.findall(left)]
    if not words:
        return left != bare or _DASHES.fullmatch(bare) is not None
    return left == bare and (words == ["n", "a"] or _says_none(words, section))


def _says_none(words: list[str], section: str) -> bool:
    """Whether words say that there is none: `none yet`, `no open questions`."""
    if words[0] != "no":
        return words[0] in _NOTHING and _FILLERS.issuperset(words[1:])
    nouns = _NO_ENTRIES.union(_spellings(section))
    return bool(nouns.intersection(words)) and all(word in nouns or word in _FILLERS for word in words[1:])


def _spellings(section: str) -> Iterator[str]:
    """The words of a section's name, in plural and singular."""
    for word in _WORD.findall(section.casefold()):
        yield from (word, word.removesuffix("s"))


OUTLINE_CHARS = 200_000
"""How much of a memory is read, in characters; by wyren's own rules 60 lines are enough."""

_KNOWN = {name.casefold(): name for name in SECTIONS}
_WRAPPERS = ("", "md", "markdown")
_HEADING = regex(r" {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<title>\S.*)|[ \t]*)")
_EDGES = regex(r"^\W+|\W+$")
_FENCE = regex(r"(?P<mark>`{3,}+(?=[^`]*$)|~{3,})(?P<info>.*)")
_BULLET = regex(r"(?P<mark>[-*+]|(?P<number>\d{1,9})[.)])(?:(?P<space>[ \t]+)(?P<text>\S.*))?")
_CONFLICT = regex(r"(?:<{7}|[|]{7}|>{7})(?: .*)?")
_CONFLICT_MIDDLE = "=" * 7
_RULE = regex(r"([-*_])(?:[ \t]*\1){2,}")
_Line = tuple[int, str]


class OutlineBlock(Value):
    """A bullet, or text that is none: the line it begins at, its Markdown without bullet and indentation.

    `bullet` is its mark, such as `-` or `1.`, "" for other text; `under` the heading within the section that it
    stands below, "" for none.
    """

    line: int
    text: str
    bullet: str = ""
    under: str = ""


class Section(Value):
    """A section: its name, as wyren writes it if wyren knows it; "" for what stands before the first one.

    `line` is that of its heading, `lines` counts what follows up to its last line with something in it.
    """

    name: str
    line: int
    lines: int
    blocks: tuple[OutlineBlock, ...]


class Outline(Value):
    """A parsed memory. `fence` is the line of the code fence around all of it, `code` the lines where code begins.

    `conflicts` are the lines that git wrote where it could not merge; they belong to no block.
    `places` are the numbers of its lines, up to the last one with something in it and without the fence's own.
    """

    sections: tuple[Section, ...]
    places: tuple[int, ...]
    code: tuple[int, ...]
    conflicts: tuple[int, ...] = ()
    fence: int | None = None


def read_outline(text: str, *, with_comments: bool = False) -> Outline:
    """Read a memory (any line ends); never raises. What goes beyond `OUTLINE_CHARS` is left out, at a line's end.

    Comments belong to no block, unless they are asked for.
    """
    if len(text) > OUTLINE_CHARS:
        text = text[: max(text.rfind("\n", 0, OUTLINE_CHARS), 0) or OUTLINE_CHARS]
    lines = [
        (number, clean_text(part))
        for number, line in enumerate(text.split("\n"), 1)
        for part in line.removesuffix("\r").split("\r")
    ]
    while lines and not lines[-1][1].strip():
        lines.pop()
    lines, fence = _unwrap(lines)
    longest = _longest_marks(lines)
    texts = [line for _, line in lines]
    reader = _Reader(longest)
    for (number, _), shown in zip(lines, texts if with_comments else without_comments(texts, longest), strict=True):
        if shown is None:
            reader.skip()
        else:
            reader.read(number, shown)
    reader.end_section()
    places = tuple(number for number, _ in lines)
    return Outline(
        sections=tuple(reader.sections),
        places=places,
        code=tuple(reader.code),
        conflicts=tuple(reader.conflicts),
        fence=fence,
    )


def _unwrap(lines: list[_Line]) -> tuple[list[_Line], int | None]:
    """The lines without the fence around them, and the line of that fence; what an agent said before it stays."""
    opening = next((index for index, (_, line) in enumerate(lines) if _begins(line)), None)
    mark = _FENCE.fullmatch(lines[opening][1].strip()) if opening is not None else None
    if opening is None or mark is None or mark["info"].strip().lower() not in _WRAPPERS:
        return lines, None
    inner = next((line for _, line in lines[opening + 1 :] if line.strip()), "")
    if not mark["info"].strip() and not _HEADING.fullmatch(inner):
        return lines, None
    kept = lines[:opening]
    rest = lines[opening + 1 :]
    for index in range(len(rest) - 1, -1, -1):
        end = rest[index][1].strip()
        if end.startswith(mark["mark"]) and not end.strip(mark["mark"][0]):
            del rest[index]
            break
    return kept + rest, lines[opening][0]


def _longest_marks(lines: list[_Line]) -> dict[str, list[int]]:
    """For each sign of fences and each line, how long the longest end of a fence is from that line on."""
    longest = {sign: [0] * (len(lines) + 1) for sign in "`~"}
    for index in range(len(lines) - 1, -1, -1):
        mark = lines[index][1].strip()
        for sign, lengths in longest.items():
            lengths[index] = max(lengths[index + 1], 0 if mark.strip(sign) else len(mark))
    return longest


def _begins(line: str) -> bool:
    """Whether a line is more than an opening remark: a heading, a bullet, or a fence."""
    text = line.strip()
    return any(pattern.fullmatch(text) for pattern in (_HEADING, _BULLET, _FENCE))


def section_name(title: str) -> str:
    """The name of a section from its heading: wyren's own spelling if it knows the section."""
    name = one_line(title[:200])
    return _KNOWN.get(_EDGES.sub("", name).casefold(), name)


class _Open(Struct):
    """A block that is being read. `offset` is the column at which a bullet's text begins, 0 for other text."""

    line: int
    offset: int = 0
    bullet: str = ""
    lines: list[str] = field(default_factory=list)


class _Reader:
    """Parses the lines of a memory one after the other."""

    def __init__(self, longest: dict[str, list[int]]) -> None:
        """Begin; `longest` is what `_longest_marks` makes of the lines that will come."""
        self._longest, self._index = longest, 0
        self.sections: list[Section] = []
        self.code: list[int] = []
        self.conflicts: list[int] = []
        self._name, self._line, self._length, self._lines = "", 1, 0, 0
        self._blocks: list[OutlineBlock] = []
        self._under = ""
        self._open: _Open | None = None
        self._offsets: list[int] = []
        self._fence, self._fence_offset, self._is_closed = "", 0, True
        self._after_blank = True
        self._in_code = False

    def read(self, number: int, line: str) -> None:
        """Take one line."""
        rest = line.strip()
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        self._length += 1
        self._index += 1
        if _CONFLICT.fullmatch(line) or (self.conflicts and line == _CONFLICT_MIDDLE):
            self.conflicts.append(number)
            self._close()
            self._fence = ""
        elif self._fence and not self._leaves_fence(rest, indent):
            if rest.startswith(self._fence) and not rest.strip(self._fence[0]):
                self._fence = ""
            self._continue(line)
        elif not rest:
            self._continue("")
            self._after_blank = True
        else:
            self._read_text(number, line, rest, indent)
            self._after_blank = False
        if rest:
            self._lines = self._length

    def skip(self) -> None:
        """Pass over a line that is only comment: it counts as a line, and separates nothing."""
        self._length += 1
        self._index += 1
        self._lines = self._length

    def _leaves_fence(self, rest: str, indent: int) -> bool:
        """Whether a fence that nobody closed ends here: with its bullet, or at a section wyren knows."""
        heading = _HEADING.fullmatch(rest) if indent < 4 and not self._is_closed else None
        is_section = heading is not None and section_name(heading["title"] or "") in SECTIONS
        if is_section or (rest and indent < self._fence_offset):
            self._fence, self._after_blank = "", True
        return not self._fence

    def _read_text(self, number: int, line: str, rest: str, indent: int) -> None:
        bullet = self._open if self._open is not None and self._open.bullet else None
        is_inside = bullet is not None and indent >= bullet.offset
        heading = _HEADING.fullmatch(rest) if indent < 4 and not is_inside else None
        if heading is not None:
            self._read_heading(number, len(heading["level"]), heading["title"] or "")
            return
        if bullet is not None and not is_inside and self._after_blank:
            self._close()
        if self._is_code(indent):
            if not self._in_code:
                self.code.append(number)
            self._in_code = True
            self._add(number, line)
            return
        self._in_code = False
        fence = _FENCE.fullmatch(rest)
        if fence is not None:
            self.code.append(number)
            self._add(number, line)
            self._fence = fence["mark"]
            self._is_closed = self._longest[self._fence[0]][self._index] >= len(self._fence)
            self._fence_offset = bullet.offset if bullet is not None and is_inside else 0
            return
        mark = None if _RULE.fullmatch(rest) else _BULLET.fullmatch(rest)
        if mark is not None and self._starts_bullet(mark, is_inside=is_inside):
            self._read_bullet(number, line, indent, mark, is_inside=is_inside)
        elif mark is None and _RULE.fullmatch(rest) and not is_inside:
            self._close()
        else:
            self._add(number, line)

    def _is_code(self, indent: int) -> bool:
        """Whether a line is indented code: four columns in, and no paragraph goes on."""
        if self._open is not None and not self._after_blank and not self._in_code:
            return False
        while self._offsets and self._offsets[-1] > indent:
            self._offsets.pop()
        return indent >= (self._offsets[-1] if self._offsets else 0) + 4

    def _starts_bullet(self, mark: re.Match[str], *, is_inside: bool) -> bool:
        """Whether this is a bullet; a number at a line's beginning may just belong to a sentence."""
        if mark["number"] in (None, "1") or self._after_blank or is_inside or self._open is None:
            return True
        return self._open.bullet[:-1].isdigit()

    def _read_bullet(self, number: int, line: str, indent: int, mark: re.Match[str], *, is_inside: bool) -> None:
        spaces = len(mark["space"] or " ")
        offset = indent + len(mark["mark"]) + (spaces if spaces < 5 else 1)
        while self._offsets and self._offsets[-1] > indent:
            self._offsets.pop()
        if is_inside:
            self._add(number, line)
        else:
            self._close()
            text = " " * offset + (mark["text"] or "")
            self._open = _Open(line=number, offset=offset, bullet=mark["mark"], lines=[text])
        self._offsets.append(offset)

    def _read_heading(self, number: int, level: int, title: str) -> None:
        name = section_name(without_closing(title))
        if name in SECTIONS or (level < 3 and (level == 2 or self._name)):
            self.end_section()
            self._name, self._line = name, number
        else:
            self._close()
            self._under = name if level > 2 else ""

    def _add(self, number: int, line: str) -> None:
        if self._open is None:
            self._open = _Open(line=number)
        self._open.lines.append(line)

    def _continue(self, line: str) -> None:
        if self._open is not None:
            self._open.lines.append(line)

    def _close(self) -> None:
        """End the block that is open, if there is one."""
        block, self._open = self._open, None
        self._offsets.clear()
        self._in_code = False
        if block is not None:
            text = "\n".join(_dedented(block.lines, block.offset)).strip("\n")
            if text.strip():
                self._blocks.append(
                    OutlineBlock(line=block.line, text=text.rstrip(), bullet=block.bullet, under=self._under)
                )

    def end_section(self) -> None:
        """End the section that is being read; one without a name is kept if there is anything in it."""
        self._close()
        if self._name or self._blocks:
            self.sections.append(
                Section(name=self._name, line=self._line, lines=self._lines, blocks=tuple(self._blocks))
            )
        self._blocks, self._under = [], ""
        self._length = self._lines = 0
        self._after_blank = True


def _dedented(lines: list[str], offset: int) -> Iterator[str]:
    for line in lines:
        text = line.lstrip(" \t")
        indent = len(line[: len(line) - len(text)].expandtabs(4))
        yield (" " * max(0, indent - offset) + text).rstrip()
