"""Turns the Markdown of a body into plain text, line by line, with the anchor of the passage that each line is in."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from markdown_it.token import Token

from memosite.markdown.naming import inline_text
from memosite.markdown.tokens import read_body

__all__ = ["PlainLine", "plain_lines"]

_BLOCKS = {"heading_open", "paragraph_open", "table_open", "fence", "code_block"}


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
            yield from _shown(line + rows, anchor, "".join(f"{cell} | " for cell in row or ()))
            row = None
            rows += 1 if rows else 2  # below the first row is that of the lines
        elif token.type == "inline" and row is not None:
            row.append(inline_text(token))
        elif token.type == "inline":
            yield from chain.from_iterable(_shown(line, anchor, one) for one in inline_text(token).split("\n"))
        elif token.type in ("fence", "code_block"):
            first = line + (token.type == "fence")
            for number, one in enumerate(token.content.rstrip("\n").split("\n"), first):
                yield from _shown(number, anchor, one)


def _shown(line: int, anchor: str, text: str) -> Iterator[PlainLine]:
    if text := text.rstrip():
        yield PlainLine(line, anchor, text)
