"""Finds where in a text its passages are: the characters of their source, which is what is cited (docs/citations.md).

The parser tells the line on which a block begins and what it holds, without the marks of what contains it. What a
block holds is the end of each of its lines, so its first line tells where on that line it begins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from memosite.markdown.naming import Kind, Named
from memosite.markdown.tokens import read_body

__all__ = ["Span", "read_spans"]

_OPENING = re.compile(r"(?:#{1,6}|={2,6})[ \t]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A passage of a text: its anchor, without prefix, and its characters from `begin` on and before `end`."""

    anchor: str
    kind: Kind
    begin: int
    end: int


def read_spans(text: str) -> tuple[Span, ...]:
    """The passages of a body (with LF), in order; none of one that is shown verbatim. Takes linear time."""
    body = read_body(text)
    return tuple(_Finder(body.source, int(text.startswith("\ufeff"))).spans(body.passages))


class _Finder:
    """Finds passages on the lines of a text, which are `before` characters into it."""

    def __init__(self, source: str, before: int) -> None:
        self._lines = source.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=before))

    def spans(self, passages: tuple[Named, ...]) -> Iterator[Span]:
        for one in passages:
            begin, end = self._code(one) if one.shape in {"fence", "indented"} else self._text(one)
            yield Span(anchor=one.anchor, kind=one.kind, begin=begin, end=end)

    def _text(self, one: Named) -> tuple[int, int]:
        """The place of lines that were read without the white space around them."""
        first, *others = one.content.split("\n")
        for number in range(one.line, max(one.end, one.line + 1)):
            column = _column(self._lines[number], first, one.shape == "heading" and not others, goes_on=bool(others))
            if column is not None:
                last = self._lines[number + len(others)] if others else self._lines[number][: column + len(first)]
                return self._starts[number] + column, self._starts[number + len(others)] + len(last.rstrip())
        return self._nothing(one.line)

    def _code(self, one: Named) -> tuple[int, int]:
        """The place of lines of code, from the first character that belongs to it to the last line's end."""
        if not one.content:
            return self._nothing(one.line)
        lines = one.content.removesuffix("\n").split("\n")
        number = one.line + (one.shape == "fence")
        column = _code_column(self._lines[number], lines[0])
        last = number + len(lines) - 1
        return self._starts[number] + column, self._starts[last] + len(self._lines[last])

    def _nothing(self, number: int) -> tuple[int, int]:
        """An empty place, at the end of a line."""
        end = self._starts[number] + len(self._lines[number])
        return end, end


def _column(line: str, content: str, is_behind_sign: bool, *, goes_on: bool) -> int | None:  # noqa: FBT001
    """Where on a line the content of a block begins; None if that is another line."""
    if not content:
        return None
    if is_behind_sign:
        opening = _OPENING.search(line)
        if opening and line.startswith(content, opening.end()):
            return opening.end()
    shown = line if goes_on else line.rstrip()
    return len(shown) - len(content) if shown.endswith(content) else None


def _code_column(line: str, content: str) -> int:
    """Where on a line code begins. Of a tab, a part may belong to it, which is read as spaces; the tab does not."""
    while not line.endswith(content):
        content = content[1:]
    return len(line) - len(content)
