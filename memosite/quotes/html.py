"""Reads HTML into the blocks that quotations are looked for in; never raises on any text.

Styles of classes are not known: what may hide words or show others is noted.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Final

from memosite.quotes.blocks import CLOSE, NOT_READ, OPEN, Block, block_of, unread_if

_SILENT: Final = frozenset({"script", "style", "template", "title"})


_INLINE: Final = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q", "s"}
    | {"samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "img", "br"}
)


_STRUCK: Final = frozenset({"s", "del", "strike"})


_HEAD: Final = frozenset({"head", "title", "meta", "link", "base", "style", "script"})


_CELLS: Final = frozenset({"td", "th"})
"""Those of one row are read together."""


_BLOCKS: Final = frozenset(
    {
        "html",
        "body",
        "main",
        "article",
        "section",
        "header",
        "footer",
        "nav",
        "aside",
        "div",
        "p",
        "blockquote",
        "figure",
    }
    | {"figcaption", "pre", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "table"}
    | {"caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr"}
)


_TEXT: Final = _BLOCKS | _CELLS | (_INLINE - {"bdo", "bdi", "font", "img"})
"""The elements whose words are read as they are seen, where no style says otherwise."""


_ATTRIBUTES: Final = frozenset(
    {
        "id",
        "name",
        "lang",
        "xml:lang",
        "xmlns",
        "href",
        "rel",
        "cite",
        "datetime",
        "title",
        "start",
        "colspan",
        "rowspan",
    }
    | {"scope", "xmlns:epub", "epub:type", "alt"}
)
"""What changes nothing of what is seen."""


_CLASSED: Final = frozenset({"class", "role"})
"""What changes something if a style sheet or a program says so: within a quote, nobody has to look."""


_ON_LINKS: Final = frozenset({"uri", "email", "footnote-ref", "footnote-back", "footnoteRef"})
"""The classes of links that Pandoc writes."""


_VOID: Final = frozenset({"br", "hr", "wbr", "img", "col", "meta", "link", "base", "input", "embed", "source", "area"})


def _hides(tag: str, attrs: Sequence[tuple[str, str | None]], *, in_quote: bool) -> str:
    """What of an element may hide words from readers or show them others, as a tag; "" if nothing does."""
    if tag in _HEAD and not in_quote and not attrs:
        return ""
    if tag not in _TEXT and not (tag in ("meta", "link", "base") and not in_quote):
        return f"<{tag}>"
    for name, value in attrs if tag not in ("meta", "link", "base") else ():
        is_known = name in _ATTRIBUTES or (name == "type" and value == "1" and tag == "ol")
        is_quiet = name in _CLASSED and (not in_quote or (tag == "a" and (name == "role" or value in _ON_LINKS)))
        if not (is_known or is_quiet):
            return f"<{tag} {name}>"
    return ""


_RAISED: Final = {"sup": "^", "sub": "_"}


_SOURCES: Final = frozenset({"footer", "figcaption", "cite"})


_BOLD: Final = frozenset({"strong", "b"})


_EMPHASIS: Final = frozenset({"em", "i", "cite", "code"}) | _BOLD


def html_blocks(text: str) -> Iterator[Block]:
    """The blocks of an HTML document, with the lines of its source."""
    reader = _Reader()
    end = text.rfind(">") + 1  # what is behind the last tag holds none: the parser would look for its end each time
    reader.feed(text[:end] + text[end:].replace("<", "&lt;"))
    reader.close()
    reader.end_block()
    yield from unread_if(reader.page, reader.blocks)


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
        self.size = 0  # of the text of the block
        self.marked: list[tuple[int, int, bool]] = []
        self.begun: dict[str, int] = {}  # where emphasis begins that is open
        self.notes: list[str] = []  # the footnotes that are open
        self.lists: list[int] = []  # the next number of each list that is open, 0 if it has none
        self.odd = ""  # what in the block may hide or show words
        self.around: Counter[str] = Counter()  # the same of elements that are open
        self.opened: defaultdict[str, list[str]] = defaultdict(list)
        self.page = ""  # a style sheet or a program
        self.in_sup = False
        self.in_mark = False  # in the sign that leads to a footnote, or back from it

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: PLR0912 - one kind each
        """A block ends where another one begins."""
        given = dict(attrs)
        if tag in ("style", "script") or (tag == "link" and "stylesheet" in (given.get("rel") or "").lower()):
            self.page = self.page or f"<{tag}>"
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
        elif tag in _CELLS:
            self._text(" ")
        elif tag in _BLOCKS or (tag == "cite" and self.quotes):
            self.end_block()
        if tag == "li":
            self.notes.append(given.get("id") or "")
            if self.lists and self.lists[-1]:
                self._text(f"{self.lists[-1]}. ")
                self.lists[-1] += 1
        elif tag in ("ol", "ul"):
            start = given.get("start") or "1"
            self.lists.append(int(start) if tag == "ol" and re.fullmatch(r"[0-9]{1,9}", start) else 0)
        self.in_sup = self.in_sup or tag == "sup"
        if tag in _EMPHASIS:
            self.begun[tag] = self.size
        if tag in _STRUCK:
            self._text("~~")
        self._look(tag, attrs)
        self.raised = _RAISED.get(tag, "") if self.rows and self.rows[-1][1][-1:].isdigit() else ""
        if tag == "blockquote":
            self.quotes.append(given.get("cite") or "")
        elif tag in _SOURCES and self.quotes:
            self.sources += 1
        if tag == "a" and given.get("role") in ("doc-noteref", "doc-backlink"):
            self.in_mark = True
            if given["role"] == "doc-noteref":
                self._text(f"[^{(given.get('href') or '').removeprefix('#')}]")
        elif tag == "a" and given.get("href"):
            self.lead = self.lead if self.links else "\n".join(row for _, row in self.rows)
            self.links.append(given["href"] or "")

    def handle_pi(self, data: str) -> None:
        """A style sheet may be named in the head of XML."""
        if data.startswith("xml-stylesheet"):
            self.page = self.page or "<?xml-stylesheet>"

    def _look(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what may hide words or show others: in a line, and all that is in the element."""
        in_quote = bool(self.quotes) or tag == "blockquote" or tag in _INLINE or (tag in _HEAD and bool(self.blocks))
        odd = _hides(tag, attrs, in_quote=in_quote)
        self.odd = self.odd or odd
        if odd:
            self._text(NOT_READ)
        if tag not in _VOID:
            self.opened[tag].append(odd)
            if odd:
                self.around[odd] += 1

    def handle_endtag(self, tag: str) -> None:  # noqa: PLR0912 - one kind each
        """And where it ends."""
        if tag in _SILENT:
            self.silent = max(self.silent - 1, 0)
        elif tag == "q":
            self._text(CLOSE)
        elif tag in _CELLS:
            self._text(" ")
        elif tag in _BLOCKS or (tag == "cite" and self.quotes):
            self.end_block()
        if self.opened[tag] and (odd := self.opened[tag].pop()):
            self.around -= Counter({odd: 1})
        if tag == "sup":
            self.in_sup = False
        if tag in self.begun:
            self.marked.append((self.begun.pop(tag), self.size, tag in _BOLD))
        if tag == "a":
            self.in_mark = False
        elif tag == "li" and self.notes:
            self.notes.pop()
        elif tag in ("ol", "ul") and self.lists:
            self.lists.pop()
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
        if not self.silent and not (self.in_mark and ((self.in_sup and data.isdigit()) or data.strip("\ufe0e") == "↩")):
            self._text(f"{self.raised}{data}" if data[:1].isdigit() else data)
            self.raised = ""

    def _text(self, data: str) -> None:
        line = self.getpos()[0]
        for number, row in enumerate(data.split("\n")):
            self.size += len(row) + bool(number)
            if number or not self.rows:
                self.rows.append((line + number, row))
            else:
                self.rows[-1] = (self.rows[-1][0], self.rows[-1][1] + row)

    def end_block(self) -> None:
        """End the block: what says where a quote is from is a paragraph behind it."""
        is_quote = bool(self.quotes) and not self.sources
        if any(row.strip() if is_quote else row.strip().strip(NOT_READ) for _, row in self.rows):
            links = tuple(dict.fromkeys((*self.links, *filter(None, self.quotes[-1:]))))
            figure = self.figures if self.depth else 0
            odd = self.odd or next(iter(self.around), "")
            block = block_of(self.rows, is_quote=is_quote)
            self.blocks.append(
                replace(
                    block,
                    links=links,
                    lead=self.lead,
                    figure=figure,
                    note=next(filter(None, reversed(self.notes)), ""),
                    marked=tuple(self.marked),
                    unread=f"{odd} may hide words or show others" if odd else "",
                )
            )
        self.rows = []
        self.odd = ""
        self.size = 0
        self.marked = []
        self.begun = {}
        self.links = []
        self.lead = ""
