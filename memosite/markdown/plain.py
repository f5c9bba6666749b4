"""Turns the Markdown of a body into plain text, and finds passages in its source and places on its page (SPEC 7).

The parser tells the line on which a block begins and what it holds, without the marks of what contains it. That is all
that plain text and places need. Where a passage is in the source is found from it: what a block holds is the end of
each of its lines, so its first line tells where on that line it begins.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain
from typing import NamedTuple

from markdown_it.token import Token

from memosite.facts.patterns import regex
from memosite.facts.values import Value, field
from memosite.markdown.naming import Kind, Named, inline_text, joined_words
from memosite.markdown.quick import words_written
from memosite.markdown.tokens import read_body, said_of_code

_BLOCKS = {"block", "heading_open", "paragraph_open", "table_open", "fence", "code_block"}


class PlainLine(NamedTuple):
    """The words of a block, of a row of a table, or of a line of code.

    `line` is the source's line on which it begins, counted from 0; `anchor` that of the passage that holds it, else of
    the last one before it: tables have none. It is "" where nothing comes before.
    """

    line: int
    anchor: str
    text: str


def plain_lines(text: str) -> list[PlainLine]:
    """The words of a body without markup, for excerpts, in the order of its page, which has footnotes at its end.

    Cells of tables end in a bar. Of a body that is shown verbatim, its lines as they are.
    """
    body = read_body(text)
    if body.tokens is None:
        return [PlainLine(number, "", line) for number, line in enumerate(body.source.split("\n"))]
    return list(_lines(body.tokens))


def _lines(tokens: tuple[Token, ...]) -> Iterator[PlainLine]:
    anchor, line, rows = "", 0, 0
    row: list[str] | None = None
    for token in tokens:
        anchor = token.meta.get("anchor", anchor)
        if token.map and token.type in _BLOCKS:
            line, rows = token.map[0], 0
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            yield from _shown(line + rows, anchor, "".join(f"{cell} | " for cell in row or () if not token.hidden))
            row = None
            rows += 1 if rows else 2  # below the first row is that of the lines
        elif token.type == "inline" and row is not None:
            row.append(inline_text(token))
        elif token.info and token.type == "block":
            if words := words_written(token.info):
                yield PlainLine(line, anchor, words)
        elif token.type in ("block", "inline"):
            yield from chain.from_iterable(_shown(line, anchor, words) for words in inline_text(token).split("\n"))
        elif token.type in ("fence", "code_block") and not token.hidden:
            yield from _shown(line, anchor, said_of_code(token))
            first = line + (token.type == "fence")
            for number, code in enumerate(token.content.rstrip("\n").split("\n"), first):
                if code := code.rstrip():
                    yield PlainLine(number, anchor, code)


def _shown(line: int, anchor: str, text: str) -> Iterator[PlainLine]:
    if text := text.rstrip():
        yield PlainLine(line, anchor, text)


# Finds places in a body that a page shows as Markdown: the anchor of a heading or passage, and that of a line.


_FRONT_MATTER = regex(r"---\n[A-Za-z_][\w -]*:.*\n(?:[A-Za-z_][\w -]*:.*\n|[ \t#-].*\n|\n)*?---\n")


def front_matter(text: str) -> str:
    """The front matter at the beginning of a body, which pages show apart from it, with its marks; "" if none."""
    found = _FRONT_MATTER.match(text)
    return found[0] if found else ""


class Places(Value):
    """The anchors of a text; `headings` has them by the words of headings, `lines` by where their passages begin.

    Lines are counted from 1. `end` is the last one of the text.
    """

    anchors: frozenset[str] = frozenset()
    headings: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[tuple[int, str], ...] = ()
    end: int = 0

    def named(self, fragment: str) -> str | None:
        """The anchor that a fragment means; people write those of headings by the rules of other sites."""
        return fragment if fragment in self.anchors else self.headings.get(joined_words(fragment, ""))

    def at_line(self, line: int) -> str | None:
        """The anchor of the passage with this line, else of the last before it: tables have none."""
        after = bisect_right(self.lines, line, key=lambda entry: entry[0])
        return self.lines[after - 1][1] if after and line <= self.end else None


def read_places(text: str) -> Places:
    """The places of a body as pages show it."""
    front = front_matter(text)
    body = read_body(text[len(front) :])
    first = front.count("\n") + 1
    begun = [
        (first + token.map[0], token.meta["anchor"])
        for token in body.tokens or ()
        if "anchor" in token.meta and token.map is not None
    ]
    return Places(
        anchors=frozenset(anchor for _, anchor in begun),
        headings={joined_words(heading.text, ""): heading.anchor for heading in reversed(body.headings)},
        lines=tuple(sorted(begun, key=lambda entry: entry[0])),
        end=text.count("\n") + 1,
    )


# Finds where in a text its passages are: the characters of their source, which is what is cited (docs/citations.md).


_OPENING = regex(r"(?:#{1,6}|={2,6})[ \t]+")


class Span(Value):
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
        for passage in passages:
            begin, end = self._code(passage) if passage.shape in {"fence", "indented"} else self._text(passage)
            yield Span(anchor=passage.anchor, kind=passage.kind, begin=begin, end=end)

    def _text(self, passage: Named) -> tuple[int, int]:
        """The place of lines that were read without the white space around them."""
        first, *others = passage.content.split("\n")
        is_behind_sign = passage.shape == "heading" and not others
        for number in range(passage.line, max(passage.end, passage.line + 1)):
            column = _column(self._lines[number], first, is_behind_sign, goes_on=bool(others))
            if column is not None:
                last = self._lines[number + len(others)] if others else self._lines[number][: column + len(first)]
                return self._starts[number] + column, self._starts[number + len(others)] + len(last.rstrip())
        return self._nothing(passage.line)

    def _code(self, passage: Named) -> tuple[int, int]:
        """The place of lines of code, from the first character that belongs to it to the last line's end."""
        if not passage.content:
            return self._nothing(passage.line)
        lines = passage.content.removesuffix("\n").split("\n")
        number = passage.line + (passage.shape == "fence")
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
