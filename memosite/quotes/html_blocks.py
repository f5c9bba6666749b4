"""Reads HTML into the blocks that quotations are looked for in (see `blocks`); never raises on any text.

A quote must not hold by words that readers do not see, or see otherwise: struck out words keep their `~~`, and what is
hidden or shown by other means than letters has a character beside it that no text has. Styles of classes are not known.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

from memosite.quotes.blocks import CLOSE, OPEN, Block, block_of

_SILENT: Final = frozenset({"script", "style", "template", "title"})
_INLINE: Final = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q", "s"}
    | {"samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "img", "br"}
)
_STRUCK: Final = frozenset({"s", "del", "strike"})
_SHOWN: Final = frozenset(
    {"img", "svg", "math", "object", "embed", "iframe", "canvas", "picture", "video", "audio", "bdo", "input", "button"}
    | {"select", "textarea", "datalist", "meter", "progress", "noscript", "noframes", "rp", "dialog", "details"}
)
_HIDING: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|line-through|(?:font-size|opacity)\s*:\s*0(?!\.)|direction\s*:\s*rtl",
    re.IGNORECASE,
)
_STYLE: Final = 2_000  # characters of it that are looked at
_NOT_READ: Final = "\ufffc"
"""Stands beside what is hidden, and for what is no text."""
_RAISED: Final = {"sup": "^", "sub": "_"}
_SOURCES: Final = frozenset({"footer", "figcaption", "cite"})


def html_blocks(text: str) -> Iterator[Block]:
    """The blocks of an HTML document, with the lines of its source."""
    reader = _Reader()
    end = text.rfind(">") + 1  # what is behind the last tag holds none: the parser would look for its end each time
    reader.feed(text[:end] + text[end:].replace("<", "&lt;"))
    reader.close()
    reader.end_block()
    yield from reader.blocks


class _Reader(HTMLParser):
    """Collects text until an element begins or ends that is no part of a line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.rows: list[tuple[int, str]] = []
        self.links: list[str] = []  # of the block
        self.lead = ""  # what is before the first of them
        self.silent = 0
        self.quotes: list[str] = []  # addresses of the block quotes that are open
        self.sources = 0  # elements that are open within a block quote and say where it is from
        self.figures = 0  # so many were begun
        self.depth = 0  # of open figures and block quotes
        self.raised = ""  # what tells a number that begins here from the one before it

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A block ends where another one begins."""
        given = dict(attrs)
        if tag in ("figure", "blockquote"):
            self.end_block()
            self.figures += not self.depth
            self.depth += 1
        if tag in _SILENT:
            self.silent += 1
        elif tag == "q":
            self._text(OPEN)
        elif tag == "br":
            self._text("\n")
        elif tag not in _INLINE or (tag == "cite" and self.quotes):
            self.end_block()
        if tag in _STRUCK:
            self._text("~~")
        elif tag in _SHOWN or "hidden" in given or _HIDING.search((given.get("style") or "")[:_STYLE]):
            self._text(_NOT_READ)
        self.raised = _RAISED.get(tag, "") if self.rows and self.rows[-1][1][-1:].isdigit() else ""
        if tag == "blockquote":
            self.quotes.append(given.get("cite") or "")
        elif tag in _SOURCES and self.quotes:
            self.sources += 1
        if tag == "a" and given.get("href"):
            self.lead = self.lead if self.links else "\n".join(row for _, row in self.rows)
            self.links.append(given["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        """And where it ends."""
        if tag in _SILENT:
            self.silent = max(self.silent - 1, 0)
        elif tag == "q":
            self._text(CLOSE)
        elif tag not in _INLINE or (tag == "cite" and self.quotes):
            self.end_block()
        if tag in _STRUCK:
            self._text("~~")
        if tag in ("figure", "blockquote"):
            self.depth = max(self.depth - 1, 0)
        if tag == "blockquote" and self.quotes:
            self.quotes.pop()
            self.sources = 0
        elif tag in _SOURCES:
            self.sources = max(self.sources - 1, 0)

    def handle_data(self, data: str) -> None:
        """Text, by lines."""
        if not self.silent:
            self._text(f"{self.raised}{data}" if data[:1].isdigit() else data)
            self.raised = ""

    def _text(self, data: str) -> None:
        line = self.getpos()[0]
        for number, row in enumerate(data.split("\n")):
            if number or not self.rows:
                self.rows.append((line + number, row))
            else:
                self.rows[-1] = (self.rows[-1][0], self.rows[-1][1] + row)

    def end_block(self) -> None:
        """End the block: what says where a quote is from is a paragraph behind it."""
        is_quote = bool(self.quotes) and not self.sources
        if any(row.strip() if is_quote else row.strip().strip(_NOT_READ) for _, row in self.rows):
            links = tuple(dict.fromkeys((*self.links, *filter(None, self.quotes[-1:]))))
            figure = self.figures if self.depth else 0
            self.blocks.append(block_of(self.rows, is_quote=is_quote, links=links, lead=self.lead, figure=figure))
        self.rows = []
        self.links = []
        self.lead = ""
