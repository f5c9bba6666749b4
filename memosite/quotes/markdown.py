"""Reads Markdown into the blocks that quotations are looked for in: as CommonMark, raw HTML by the rules of HTML."""

from collections.abc import Iterator
from typing import Final

from memosite.facts.values import replace
from memosite.markdown.manuscript import lines_as_html
from memosite.quotes.blocks import NUMBER, Block, TextBlocks, unread_if
from memosite.quotes.html import html_blocks

_TOO_MUCH: Final = "it is too long, or nests too deep, to be read as Markdown"


_TORN: Final = "a paragraph of the item goes on in it without a blank line, and may be quoted as well"


def markdown_blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown document; code is none, but in block quotes."""
    read = lines_as_html(text)
    if read is None:
        for block in TextBlocks(is_markdown=True).read(text):
            yield replace(block, unread=_TOO_MUCH, is_strange=True)
        return
    rows = text.split("\n")
    for block in unread_if(read.page, html_blocks(read.html)):
        number = None if block.is_quote else NUMBER.match(rows[min(block.lines[0], len(rows)) - 1])
        block = replace(block, item=number[1]) if number else block  # noqa: PLW2901 - the same one
        is_torn = block.is_quote and block.lines[0] in read.torn
        yield replace(block, unread=block.unread or _TORN, is_strange=True) if is_torn else block
