"""Reads HTML into the blocks that quotations are looked for in; never raises on any text.

Styles of classes are not known: what may hide words or show others is noted. So is all that browsers read by rules of
their own: the text is split into tags and text by a grammar that leaves nothing open, and tags have to nest.

    text ─► comments, tags, text; what is none of these is text, and makes the page one that is not read (`_lexed`)
         ─► blocks, by `html.parser`; elements have to be where browsers leave them (`_Nesting`)
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html.parser import HTMLParser
from typing import Final

from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.quotes.blocks import CLOSE, NOT_READ, NOTED, OPEN, Block, block_of, unread_if

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
    {"id", "name", "lang", "xml:lang", "xmlns", "href", "rel", "cite", "datetime", "title", "start", "colspan"}
    | {"scope", "xmlns:epub", "epub:type", "alt", "data-number"}
)
"""What changes nothing of what is seen."""


_CLASSED: Final = frozenset({"class", "role"})
"""What changes something if a style sheet or a program says so: within a quote, nobody has to look."""


_ON_LINKS: Final = frozenset({"uri", "email", "footnote-ref", "footnote-back", "footnoteRef"})
"""The classes of links that Pandoc writes."""


_STYLES: Final = regex(r"\s*(?:text-align:\s*(?:left|right|center)|list-style-type:\s*decimal|width:\s*\d\d?%)\s*;?\s*")
"""The styles that Pandoc writes of lists and tables: they move no words."""


_AS_PANDOC: Final = frozenset(
    {("type", "ol", "1"), *(("align", tag, side) for tag in _CELLS for side in ("left", "right", "center"))}
)
"""What it writes besides."""


_PARENTS: Final[dict[str, tuple[str, ...]]] = {
    "li": ("ol", "ul"),
    "dt": ("dl",),
    "dd": ("dl",),
    "td": ("tr",),
    "th": ("tr",),
    "tr": ("thead", "tbody", "tfoot", "table"),
    **dict.fromkeys(("caption", "colgroup", "thead", "tbody", "tfoot"), ("table",)),
    "col": ("colgroup",),
}
"""Where elements stay where they are written: of others, browsers move or drop the tags."""


_HOLDS_ONLY: Final = frozenset({"table", "thead", "tbody", "tfoot", "tr", "colgroup"})
"""The elements of a table that have no text of their own."""


_ORDER: Final = {"caption": 0, "colgroup": 1, "thead": 2, "tbody": 3, "tr": 3, "tfoot": 4}
"""How the parts of a table follow one another when it is shown."""


_ENDED_BY: Final[dict[str, frozenset[str]]] = {
    "p": _BLOCKS - {"html", "body", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr"},
    "li": frozenset({"li"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
    **dict.fromkeys(("td", "th"), frozenset({"td", "th", "tr", "tbody", "tfoot"})),
    "tr": frozenset({"tr", "tbody", "tfoot"}),
    **dict.fromkeys(("thead", "tbody"), frozenset({"tbody", "tfoot"})),
    "colgroup": frozenset({"thead", "tbody", "tr"}),
    "head": frozenset({"body"}),
}
"""The elements that need no end tag: what begins ends them."""


_META: Final = frozenset({"content-type", "x-ua-compatible", ""})


_UTF8: Final = regex(r"(?:.*charset\s*=\s*)?[\"']?utf-?8[\"']?\s*", re.IGNORECASE | re.DOTALL)


_RELATIONS: Final = frozenset(
    {"alternate", "author", "bookmark", "canonical", "help", "icon", "license", "next", "prev", "search", "self", "up"}
)
"""The links of a head that load nothing that changes the page."""


_TOKEN: Final = regex(
    r"<!--(?!-?>)(?:[^-]|-(?!-))*-->|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)"
    r"(?P<attributes>(?:[ \t\n\f]+[A-Za-z][\w:.-]*"
    r"(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[^ \t\n\f\"'=<>`]*[^ \t\n\f\"'=<>`/]))?)*)[ \t\n\f]*(?P<closed>/?)>|<",
    re.ASCII,
)


_HEAD_OF_PAGE: Final = regex(
    r"\s*(?:<\?xml(?: (?:version|encoding|standalone)=(?P<mark>[\"'])(?:1\.0|utf-8|yes|no)(?P=mark))*\s*\?>\s*)?"
    r"(?:<!doctype html(?:\s[^\[\]<>]*)?>)?",
    re.IGNORECASE,
)


_PLAIN: Final = _TEXT | _HEAD | {"bdo", "bdi", "font", "img", "details", "summary"}
"""The elements within which browsers read tags as everywhere."""


_ONCE: Final = frozenset({"html", "head", "body"})


_LOST: Final = "it is a footnote, and its sign in the text is not known"


_STRANGE: Final = regex(r"<[A-Za-z/!?][\w:-]{0,30}")
"""What begins as a tag, a comment or an instruction."""


_NAMES: Final = 5
"""The most elements around a paragraph that may be the footnote it is of."""


_SIGN: Final = regex(r"\s*\^?[\[(]?(?:\d{1,4}|[a-z]|[*†‡§¶‖#]{1,3})[\])]?\s*")


_BACK: Final = regex(r"[↩↑^\ufe0e\s]{1,9}")


_VOID: Final = frozenset({"br", "hr", "wbr", "img", "col", "meta", "link", "base", "input", "embed", "source", "area"})


def _hides(tag: str, attrs: Sequence[tuple[str, str | None]], *, in_quote: bool) -> str:
    """What of an element may hide words from readers or show them others, as a tag; "" if nothing does."""
    if tag in _HEAD and not in_quote and not attrs:
        return ""
    if tag not in _TEXT and not (tag in ("meta", "link", "base") and not in_quote):
        return f"<{tag}>"
    for name, value in attrs if tag not in ("meta", "link", "base") else ():
        is_known = name in _ATTRIBUTES or (name, tag, value) in _AS_PANDOC
        if name == "style" and tag in ("td", "th", "col", "ol"):
            is_known = _STYLES.fullmatch(value or "") is not None
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
    clean, strange = _lexed(text)
    reader.feed(clean)
    reader.close()
    reader.end_block()
    strange = strange or reader.strange
    for block in unread_if(reader.page, reader.all_blocks()):
        if strange:
            why = block.unread or f"a browser may read {strange} in the page in its own way"
            block = replace(block, unread=why, is_strange=True)  # noqa: PLW2901 - the same one
        yield block


def _lexed(text: str) -> tuple[str, str]:
    """HTML of which each `<` begins a tag, on the same lines; and what of it was read as text but may be none."""
    begun = _HEAD_OF_PAGE.match(text)
    at = begun.end() if begun else 0
    strange = "NUL" if "\0" in text else ""
    pieces, comments = ["\n" * text.count("\n", 0, at)], []
    while match := _TOKEN.search(text, at):
        pieces.append(text[at : match.start()])
        at = match.end()
        name = (match["name"] or "").lower()
        if not name and match[0] != "<":
            comments.append(len(pieces))
            pieces.append(match[0])
            continue
        if not name:
            pieces.append("&lt;")
            if odd := _STRANGE.match(text, match.start()):
                strange = strange or f"{odd[0]} on line {text.count(chr(10), 0, match.start()) + 1}"
            continue
        is_open = match["closed"] and name not in _VOID
        if is_open or name not in _PLAIN:
            strange = strange or f"<{name}> on line {text.count(chr(10), 0, match.start()) + 1}"
        pieces.append(f"<{name}{match['attributes']}>" if is_open else match[0])
        if name in _SILENT and strange:
            pieces[-1] = match[0].replace("<", "&lt;")  # it may be text, and what follows as well
        elif name in _SILENT and not match["end"]:
            end = _ends(name).search(text, at)
            pieces.append("\n" * text.count("\n", at, end.start() if end else len(text)) + f"</{name}>")
            at = end.end() if end else len(text)
            if end and not end[0].endswith(">"):
                strange = strange or end[0]
    pieces.append(text[at:])
    for number in comments:
        shown = pieces[number].replace("<", "&lt;")
        pieces[number] = shown if strange else "\n" * shown.count("\n")
    return "".join(pieces), strange


@cache
def _ends(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?:[ \t\n\f]*>|(?=[ \t\n\f/]))", re.IGNORECASE)


class _Element(Value, kw_only=False):
    """An element that is open, and where it begins; `odd` may hide words, `is_notes` is whether footnotes are in it."""

    tag: str
    odd: str
    name: str
    is_notes: bool
    line: int


class _Reader(HTMLParser):
    """Collects text until an element begins or ends that is no part of a line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.names: list[tuple[str, ...]] = []  # that each block may have as a footnote, the nearest first
        self.is_note: list[bool] = []  # whether each block is one
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
        self.lists: list[int] = []  # the next number of each list that is open, 0 if it has none
        self.tables: list[int] = []  # the last part of each table that is open
        self.odd = ""  # what in the block may hide or show words
        self.around: Counter[str] = Counter()  # the same of elements that are open
        self.open: list[_Element] = []
        self.count: Counter[str] = Counter()  # of open elements, and of those of which a page has one
        self.page = ""  # a style sheet or a program
        self.strange = ""  # what browsers read by other rules
        self.odd_of_tag = ""  # what of the tag that begins may hide or show words
        self.in_sup = False
        self.inside: list[str] = []  # the names of elements in the block
        self.sign: tuple[str, int, int] | None = None  # where a link within the page begins, and what it leads to
        self.is_raised = False  # that link
        self.has_back = False  # whether the block leads back to where its sign is

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: PLR0912 - one kind each
        """A block ends where another one begins."""
        given = dict(attrs)
        if tag in ("figure", "blockquote"):
            self.end_block()
            self.figures += not self.depth
            self.depth += 1
        if tag in _SILENT:
            self.silent += 1
        elif tag == "q":
            self._text("‘" if self.count["q"] else OPEN)
        elif tag == "br":
            self._text("\n")
        elif tag in _CELLS or tag == "dd":
            self._text(" ")
        elif tag in _BLOCKS or (tag == "cite" and self.quotes):
            self.end_block()
        self._look(tag, attrs)
        self._begin(tag, given)
        if tag == "li":
            if self.lists and self.lists[-1]:
                self._text(f"{self.lists[-1]}. ")
                self.lists[-1] += 1
        elif tag in ("ol", "ul"):
            start = given.get("start") or "1"
            if not re.fullmatch(r"[0-9]{1,9}", start):
                self._note_strange(f"<{tag} start>")
                start = "1"
            self.lists.append(int(start) if tag == "ol" else 0)
        self.in_sup = self.in_sup or tag == "sup"
        self.has_back = self.has_back or (tag == "sup" and not any(row.strip() for _, row in self.rows[:2]))
        self.is_raised = self.is_raised or tag == "sup"
        if tag in _EMPHASIS:
            self.begun[tag] = self.size
        if tag in _STRUCK:
            self._text("~~")
        self.raised = _RAISED.get(tag, "") if self.rows and self.rows[-1][1][-1:].isdigit() else ""
        if tag == "blockquote":
            self.quotes.append(given.get("cite") or "")
        elif tag in _SOURCES and self.quotes:
            self.sources += 1
        if tag == "a" and (given.get("href") or "").startswith("#"):
            row = self.rows[-1][1] if self.rows else ""
            self.sign, self.is_raised = ((given["href"] or "")[1:], max(len(self.rows) - 1, 0), len(row)), self.in_sup
            self.has_back = self.has_back or given.get("role") == "doc-backlink"
        elif tag == "a" and given.get("href"):
            self.lead = self.lead if self.links else "\n".join(row for _, row in self.rows)
            self.links.append(given["href"] or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Of elements that are empty, the slash says nothing; others have none here."""
        self.handle_starttag(tag, attrs)

    def _begin(self, tag: str, given: Mapping[str, str | None]) -> None:
        """Where an element begins: in what others it is, and whether it stays there."""
        while self.open and tag in _ENDED_BY.get(self.open[-1].tag, ()):
            self._pop()
        parent = self.open[-1].tag if self.open else ""
        places = _PARENTS.get(tag, ())
        is_moved = parent not in places if places or parent in _HOLDS_ONLY else False
        is_moved = is_moved or (tag in _ENDED_BY["p"] and self.count["p"] > 0) or (tag == "a" and self.count["a"] > 0)
        if tag in _ONCE:
            is_moved = is_moved or self.count[tag] > 0 or parent not in ("", "html") or bool(self.blocks or self.rows)
        if parent == "table" and tag in _ORDER and self.tables:
            rank = _ORDER[tag]
            is_moved = is_moved or rank < self.tables[-1] or (rank == self.tables[-1] and tag not in ("tbody", "tr"))
            self.tables[-1] = rank
        if is_moved:
            self._note_strange(f"<{tag}>")
        if tag == "table":
            self.tables.append(-1)
        name = given.get("id") or (tag == "a" and given.get("name")) or ""
        if tag in _INLINE and name:
            self.inside.append(name)
        if tag not in _VOID:
            is_notes = "footnote" in (given.get("class") or "") or (given.get("role") or "").startswith("doc-endnote")
            is_notes = tag != "a" and (is_notes or (bool(self.open) and self.open[-1].is_notes))
            line = self.getpos()[0]
            self.open.append(_Element(tag, self.odd_of_tag, name if tag not in _INLINE else "", is_notes, line))
            self.count[tag] += 1
            if self.odd_of_tag:
                self.around[self.odd_of_tag] += 1

    def _note_strange(self, what: str, line: int = 0) -> None:
        """Note what browsers read by rules of their own; of several the first, with its line."""
        self.strange = self.strange or f"{what} on line {line or self.getpos()[0]}"

    def _pop(self) -> None:
        element = self.open.pop()
        self.count[element.tag] -= element.tag not in _ONCE
        if element.odd:
            self.around -= Counter({element.odd: 1})
        if element.tag == "table" and self.tables:
            self.tables.pop()

    def _look(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what may hide words or show others: in a line, all that is in the element, or anywhere in the page."""
        given = dict(attrs)
        rel = set((given.get("rel") or "").lower().split())
        if tag in ("style", "script") or (tag == "link" and "stylesheet" in rel):
            self.page = self.page or f"<{tag}>"
        elif tag == "link" and not rel <= _RELATIONS:
            self._note_strange("<link rel>")
        in_quote = bool(self.quotes) or tag == "blockquote" or tag in _INLINE or (tag in _HEAD and bool(self.blocks))
        odd = _hides(tag, attrs, in_quote=in_quote)
        self.odd_of_tag = odd
        self.odd = self.odd or odd
        if odd:
            self._text(NOT_READ)
            moves = tag in _ONCE or "rowspan" in given or ("style" in given and f"<{tag} style>" == odd)
            self.page = self.page or (odd if moves else "")
        if len(given) < len(attrs) or any(name.startswith("on") for name in given) or not _is_plain_meta(tag, given):
            self._note_strange(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        """And where it ends."""
        if tag in _SILENT:
            self.silent = max(self.silent - 1, 0)
        elif tag == "q":
            self._text("’" if self.count["q"] > 1 else CLOSE)
        elif tag in _CELLS or tag in ("dt", "dd"):
            self._text(" ")
        elif tag in _BLOCKS or (tag == "cite" and self.quotes):
            self.end_block()
        if tag == "sup":
            self.in_sup = False
        if tag in self.begun:
            self.marked.append((self.begun.pop(tag), self.size, tag in _BOLD))
        if tag == "a":
            self._end_sign()
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
        self._end(tag)

    def _end(self, tag: str) -> None:
        is_block = tag in _BLOCKS or tag in _CELLS
        while self.open and is_block and self.open[-1].tag != tag and self.open[-1].tag in _ENDED_BY:
            self._pop()
        if not self.open or self.open[-1].tag != tag:
            left = self.open[-1] if self.open and self.count[tag] > 0 else None
            self._note_strange(f"<{left.tag}>" if left else f"</{tag}>", left.line if left else 0)
        if self.count[tag] > 0:
            while self.open and self.open[-1].tag != tag:
                self._pop()
            if self.open:
                self._pop()

    def _end_sign(self) -> None:
        """A link within the page that is the sign of a footnote is read as one, and none that leads back to it."""
        if self.sign is None:
            return
        name, row, place = self.sign
        self.sign = None
        if row != max(len(self.rows) - 1, 0) or not self.rows:
            return
        line, text = self.rows[-1]
        said = text[place:]
        is_back = _BACK.fullmatch(said) is not None
        self.has_back = self.has_back or is_back
        is_sign = _SIGN.fullmatch(said) and (self.is_raised or not said.strip()[:1].isalnum())
        sign = f"[^{name}]"
        if is_back or (is_sign and NOTED.fullmatch(sign)):
            self.rows[-1] = (line, text[:place] + ("" if is_back else sign))
            self.size += len(self.rows[-1][1]) - len(text)

    def handle_data(self, data: str) -> None:
        """Text, by lines."""
        if data.strip(" \t\n\f") and self.open and self.open[-1].tag in _HOLDS_ONLY:
            self._note_strange(f"<{self.open[-1].tag}>")
        if not self.silent:
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
                    marked=tuple(self.marked),
                    unread=f"{odd} may hide words or show others" if odd else "",
                )
            )
            around = (element.name for element in self.open[: -_NAMES - 1 : -1])
            self.names.append((*self.inside[:_NAMES], *filter(None, around)))
            self.is_note.append(self.has_back or bool(self.open and self.open[-1].is_notes))
        self.rows = []
        self.odd = ""
        self.size = 0
        self.marked = []
        self.begun = {}
        self.links = []
        self.lead = ""
        self.inside = []
        self.has_back = False
        self.sign = None

    def all_blocks(self) -> Iterator[Block]:
        """The blocks, each of a footnote with the name that leads to it; without one, nobody knows what it is for."""
        signs = {match[1] for block in self.blocks for match in NOTED.finditer(block.text)}
        for block, names, is_note in zip(self.blocks, self.names, self.is_note, strict=True):
            note = next((name for name in names if name in signs), "")
            if is_note and not note:
                yield replace(block, unread=_LOST, is_strange=True)
            else:
                yield replace(block, note=note)


def _is_plain_meta(tag: str, given: Mapping[str, str | None]) -> bool:
    """Whether a `<meta>` of a page loads nothing else, and does not say that its bytes mean other letters."""
    content = given.get("content") or ""
    kind = (given.get("http-equiv") or "").lower()
    is_utf8 = "charset" not in content.lower() or not kind or _UTF8.fullmatch(content) is not None
    return tag != "meta" or (kind in _META and is_utf8 and _UTF8.fullmatch(given.get("charset") or "utf-8") is not None)
