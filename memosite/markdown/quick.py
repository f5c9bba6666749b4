"""Reads common Markdown in a fraction of the time that markdown-it takes: blocks by their lines, spans in native code.

Nobody can tell which parser read a text. The tokens are those that markdown-it gives, but that a paragraph or a heading
is one, `block`, and that the spans of most blocks and cells are none: their HTML is `info`, which native code writes.
Blocks are those whose every line says what it is: paragraphs, headings, lists and quotes, each further line with its
marks, fenced code, plain tables. Where a line may be something else, the whole text is refused, and markdown-it reads
it. Where the two parsers may differ about the spans of a block, these alone are left to markdown-it. What is doubted is
on the safe side: much of it both read alike. A fuzz test compares the two (docs/decisions/0016-quick-markdown.md).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import unescape
from typing import Any, Final, TypeAlias

from markdown_it.token import Token
from pyromark import Markdown

from memosite.facts.patterns import regex

_REFUSED: Final = ("[^", "]:", "\t", "~~~", "<!--")
"""Footnotes, definitions of links, tabs, fences not of backticks, comments: only markdown-it reads them as we do."""


_is_doubtful = regex(
    r"\\|~~|!\[|\[!|&[A-Za-z#]|<[^\s<>]*[:@]|</?(?:details|summary)|\]\((?![A-Za-z0-9./#:?=~%+,;@!$-]+\))|#\Z"
).search
"""Backslashes, strikethrough, images, callouts, characters by name, addresses in angle brackets, HTML that folds, links
whose destination needs a closer look; and what may close a heading."""


# Next to `*` and `_` it matters what is punctuation, and the parsers know different versions of Unicode. At the ends
# of a block it matters what is white space: markdown-it asks Python, which knows more than CommonMark. Characters
# that are known here are neither.
_KNOWN = (
    r"\x00-\x7f\xa1-\u024f\u0391-\u03a1\u03b1-\u03c9\u0410-\u044f\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f"
    r"\u2600-\u26ff\u2701-\u27bf\u3001-\u3003\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3\uff01-\uff5e"
)


_unknown = regex(rf"[^{_KNOWN}]").search


_odd_neighbour = regex(rf"[*_][^{_KNOWN}]|[^{_KNOWN}][*_]").search


_has_odd_space = regex(r"(?<!\w)[^\S \n]|[^\S \n](?!\w)").search


_goes_on_in_code = regex(r"<code>[^<]*\n").search


_LINK: Final = regex(r'<a href="([^"]*)">(.*?)</a>')


_MARKUP: Final = regex(r"<code>[^<]*</code>|<[^>]*>")


_odd_label = regex(r"[*\[\]]|(?<!\w)_|_(?!\w)").search  # spans that reach out of it, brackets within brackets


# What a line is by its beginning. Of what may be two things, and of what is in no group, the text is refused.
_line = regex(
    r"(?P<blank> *\Z)|(?P<heading>#{1,6}) +(?=[^ ])|(?P<fence>`{3,})[A-Za-z0-9_+#.-]* *\Z|(?P<rule>-{3,} *\Z)"
    r"|(?P<quote>>)|(?P<item> {0,3}(?![-\s]+\Z|[*\s]+\Z)(?:[-*+]|[0-9]{1,9}[.)]) {1,4}(?=[^ ]))"
    r"|(?P<section>={2,6} .*= *\Z)|(?P<row>\|)"
    r"|(?P<text> {0,3}(?!(?:[-+*]|\d{1,9}[.)]|#{1,6})(?:\s|\Z)"
    r"|[-|: ]+\Z|[*\s]{3,}\Z|[_\s]{3,}\Z|=+\s*\Z|={2,6} |[>|]|```)\S)"
).match


_FIRST_IN_ITEM: Final = ("text", "heading", "fence", "quote")


_WHOLE_SECTION = regex(r"(={2,6}) ([^\n]*) \1")


_table = regex(r"\|[^\n\\]*\| *\n\|(?: *:?-+:? *\|)+ *\n(?:\|[^\n\\]*\| *(?:\n|\Z))*").fullmatch


_MOST_BARS: Final = 10_000  # in one table


_DEEPEST: Final = 8  # containers within containers; markdown-it's own bound is higher


# Tokens of the quick parser: markdown-it's, with what is read of them alone.


_NONE: Final[dict[str, Any]] = {}  # shared by tokens, and never written to


class QuickToken(Token):
    """A token that is made in a third of the time; `level`, `markup` and `block`, which nobody reads, are not set."""

    __slots__ = ()

    def __init__(
        self,
        type: str,  # noqa: A002 - markdown-it's name
        tag: str = "",
        nesting: int = 0,
        content: str = "",
        *,
        attrs: dict[str, Any] = _NONE,
        line: int | None = None,
    ) -> None:
        self.type = type
        self.tag = tag
        self.nesting = nesting  # type: ignore[assignment]
        self.content = content
        self.attrs = attrs
        self.children: list[Token] | None = None
        self.info = ""
        self.hidden = False
        # What has a line may be given an anchor.
        self.map = None if line is None else [line, line + 1]
        self.meta = _NONE if line is None else {}


# Tokens that are all alike are made once.
_RULE: Final = QuickToken("hr", "hr")


_NAMES: Final = {
    "ul": "bullet_list",
    "ol": "ordered_list",
    "li": "list_item",
    **{name: name for name in ("blockquote", "table", "thead", "tbody", "tr", "th", "td")},
}


_OPEN: Final = {
    tag: QuickToken(f"{_NAMES[tag]}_open", tag, 1) for tag in ("blockquote", "ul", "ol", "thead", "tbody", "tr")
}


_CLOSE: Final = {tag: QuickToken(f"{name}_close", tag, -1) for tag, name in _NAMES.items()}


_Spans: TypeAlias = Callable[[str], list[Token]]


_native: Callable[[str], str] = Markdown().html


_TAG: Final = regex(r"<[^>]*>")


def words_written(html: str) -> str:
    """The words of spans, given their HTML, on one line."""
    return unescape(_TAG.sub("", html) if "<" in html else html).replace("\n", " ").strip()


# In the HTML of spans, a tag with the destination of a link, text within one line, or the end of one.
parts_written = regex(r'<(?P<tag>/?[a-z]+)(?: href="(?P<to>[^"]*)")?>|(?P<text>[^<\n]+)|\n').finditer


class _RefusedError(Exception):
    """To markdown-it, the text may mean something else."""


def read_quickly(source: str, spans: _Spans) -> list[Token] | None:
    """The tokens of a text with LF and without control characters; None if markdown-it has to read it.

    `spans` is markdown-it's way from the content of one block to the tokens within.
    """
    if any(mark in source for mark in _REFUSED):
        return None
    has_unknown = not source.isascii() and _unknown(source) is not None
    if has_unknown and _has_odd_space(source):
        return None
    tokens: list[Token] = []
    try:
        _Container(source.split("\n"), 0, 0, tokens).read()
        _read_spans([token for token in tokens if token.content and token.type != "fence"], spans, has_unknown)
    except _RefusedError:
        return None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # native code that gave up; no `Exception`, and has no public name
            raise
        return None
    return tokens


def _may_differ(content: str, html: str) -> bool:
    """Whether not all that looks like a link is one, or any has a label that another parser may read differently."""
    labels = [link[2] for link in _LINK.finditer(html)]
    return len(labels) != content.count("](") or any(_odd_label(_MARKUP.sub("", label)) for label in labels)


def _read_spans(blocks: Iterable[Token], spans: _Spans, has_unknown: bool) -> None:  # noqa: FBT001
    """Give each block the HTML of its spans as `info`, else their tokens as `children`."""
    asked: list[Token] = []
    for token in blocks:
        if _is_doubtful(token.content) or (has_unknown and _odd_neighbour(token.content)):
            token.children = spans(token.content)
        else:
            asked.append(token)
    # As a heading, a line is nothing else, whatever it begins with; several lines are a paragraph already.
    pieces = (token.content if "\n" in token.content else f"# {token.content}" for token in asked)
    source = "\n\n".join(pieces)
    # Of HTML, `<` is a character as any other: not to the native parser, but as a reference, which in code is none.
    written = _native(source.replace("<", "&lt;")).replace("&amp;lt;", "&lt;").replace("<br />", "<br>")
    found = written.replace("</h1>\n", "</p>\n").split("</p>\n")
    if len(found) != len(asked) + 1:
        raise _RefusedError
    for token, html in zip(asked, found, strict=False):
        if ("\n" in html and _goes_on_in_code(html)) or ("](" in token.content and _may_differ(token.content, html)):
            token.children = spans(token.content)
        else:
            token.info = html[html.index(">") + 1 :]


class _Container:
    """Reads the lines of a text, of an item or a quote, the first with this number, and adds their tokens."""

    def __init__(self, lines: Sequence[str], first: int, depth: int, tokens: list[Token]) -> None:
        if depth > _DEEPEST:
            raise _RefusedError
        self.paragraphs: list[Token] = []  # its own
        self.has_gap = False  # an empty line between any two of its blocks
        self._lines = lines
        self._first = first
        self._depth = depth
        self._tokens = tokens
        self._before = "blank"  # what the line before was

    def read(self) -> None:
        """Read all lines, or raise `_RefusedError`."""
        at, begun = 0, len(self._tokens)
        while at < len(self._lines):
            found = _line(self._lines[at])
            kind = (found and found.lastgroup) or ""
            if kind == "blank":
                at += 1
            elif found is None:
                raise _RefusedError
            else:
                self.has_gap = self.has_gap or (self._before == "blank" and len(self._tokens) > begun)
                at = _READERS[kind](self, at, found.end(kind))
            self._before = kind

    def _refuse_text(self, at: int) -> None:
        """Refuse what continues a paragraph without the marks of what contains it."""
        if at < len(self._lines) and ((found := _line(self._lines[at])) is None or found.lastgroup == "text"):
            raise _RefusedError

    # Each reads a block from a line on, whose mark ends there, and gives the line behind it.

    def _text(self, at: int, _: int) -> int:
        after = at + 1
        while after < len(self._lines) and (found := _line(self._lines[after])) and found.lastgroup == "text":
            after += 1
        content = "\n".join(self._lines[at:after]) if after > at + 1 else self._lines[at]
        self.paragraphs.append(QuickToken("block", "p", content=content.strip(), line=self._first + at))
        self._tokens.append(self.paragraphs[-1])
        return after

    def _heading(self, at: int, level: int) -> int:
        content = self._lines[at][level:].strip(" ")
        if content.endswith("#"):
            raise _RefusedError
        self._tokens.append(QuickToken("block", f"h{level}", content=content, line=self._first + at))
        return at + 1

    def _rule(self, at: int, _: int) -> int:
        if self._before == "text" or (
            at and "|" in self._lines[at - 1]
        ):  # the line below a heading, or that of a table
            raise _RefusedError
        self._tokens.append(_RULE)
        return at + 1

    def _quote(self, at: int, _: int) -> int:
        after = at + 1
        while after < len(self._lines) and self._lines[after].startswith(">"):
            after += 1
        lines = [line[2 if line[1:2] == " " else 1 :] for line in self._lines[at:after]]
        self._tokens.append(_OPEN["blockquote"])
        _Container(lines, self._first + at, self._depth + 1, self._tokens).read()
        self._tokens.append(_CLOSE["blockquote"])
        self._refuse_text(after)
        return after

    def _list(self, at: int, _: int) -> int:
        marker = self._lines[at].split(maxsplit=1)[0]
        indent = self._lines[at].index(marker)
        tag, number = ("ol", int(marker[:-1])) if len(marker) > 1 else ("ul", 1)
        if self._before == "text" and number != 1:
            raise _RefusedError
        start = QuickToken("ordered_list_open", "ol", 1, attrs={"start": number})
        self._tokens.append(_OPEN[tag] if number == 1 else start)
        paragraphs: list[Token] = []
        is_loose = False
        while True:
            end, after = self._ends_of_item(at)
            item = self._item(at, end)
            paragraphs += item.paragraphs
            is_loose = is_loose or item.has_gap
            found = _line(self._lines[after]) if after < len(self._lines) else None
            if found is None or found.lastgroup != "item":
                break
            next_marker = found[0].strip(" ")
            if found[0].index(next_marker) != indent:
                raise _RefusedError
            if next_marker[-1] != marker[-1]:
                break
            is_loose = is_loose or after > end
            at = after
        if after == end:
            self._refuse_text(after)
        for paragraph in paragraphs:
            paragraph.hidden = not is_loose
        self._tokens.append(_CLOSE[tag])
        return end

    def _ends_of_item(self, at: int) -> tuple[int, int]:
        """The lines behind an item that begins here, and behind the empty lines after it."""
        found = _line(self._lines[at])
        margin = " " * found.end() if found else ""
        end = after = at + 1
        while after < len(self._lines) and (
            (is_empty := not self._lines[after].strip(" ")) or self._lines[after].startswith(margin)
        ):
            after += 1
            end = end if is_empty else after
        return end, after

    def _item(self, at: int, end: int) -> "_Container":
        found = _line(self._lines[at])
        lines = [line[found.end() if found else 0 :] for line in self._lines[at:end]]
        if (first := _line(lines[0])) is None or first.lastgroup not in _FIRST_IN_ITEM:
            raise _RefusedError
        self._tokens.append(QuickToken("list_item_open", "li", 1, line=self._first + at))
        item = _Container(lines, self._first + at, self._depth + 2, self._tokens)
        item.read()
        self._tokens.append(_CLOSE["li"])
        return item

    def _code(self, at: int, end: int) -> int:
        fence = self._lines[at][:end]
        for after in range(at + 1, len(self._lines)):
            line = self._lines[after].strip(" ")
            if line.startswith(fence) and not line.strip("`") and not self._lines[after].startswith("    "):
                token = QuickToken("fence", "code", line=self._first + at)
                token.content = "".join([f"{line}\n" for line in self._lines[at + 1 : after]])
                token.info = self._lines[at][end:].strip(" ")
                self._tokens.append(token)
                return after + 1
        raise _RefusedError  # it is never closed

    def _be_alone(self, after: int) -> None:
        """Refuse a block in a container, or beside other lines: a section, a table."""
        if self._depth or self._before != "blank" or any(self._lines[after : after + 1]):
            raise _RefusedError

    def _section(self, at: int, _: int) -> int:
        self._be_alone(at + 1)
        found = _WHOLE_SECTION.fullmatch(self._lines[at].rstrip(" "))
        if found is None or not (title := found[2].strip(" ")).strip("="):
            raise _RefusedError
        self._tokens.append(QuickToken("block", f"h{len(found[1])}", content=title, line=self._first + at))
        return at + 1

    def _table(self, at: int, _: int) -> int:
        """All rows begin and end with a bar and have as many cells, without a backslash in any."""
        after = at
        while after < len(self._lines) and self._lines[after].startswith("|"):
            after += 1
        self._be_alone(after)
        rows = [line.rstrip(" ") for line in self._lines[at:after]]
        bars = rows[0].count("|")
        if bars * len(rows) > _MOST_BARS or any(row.count("|") != bars for row in rows) or not _table("\n".join(rows)):
            raise _RefusedError
        head, between, *body = ([cell.strip(" ") for cell in row[1:-1].split("|")] for row in rows)
        sides = [_SIDES[cell[0] == ":", cell[-1] == ":"] for cell in between]
        self._tokens += (QuickToken("table_open", "table", 1, line=self._first + at), _OPEN["thead"])
        self._row(head, "th", sides)
        self._tokens.append(_CLOSE["thead"])
        if body:
            self._tokens.append(_OPEN["tbody"])
            for row in body:
                self._row(row, "td", sides)
            self._tokens.append(_CLOSE["tbody"])
        self._tokens.append(_CLOSE["table"])
        return after

    def _row(self, cells: Sequence[str], tag: str, sides: Sequence[dict[str, str]]) -> None:
        self._tokens.append(_OPEN["tr"])
        for cell, side in zip(cells, sides, strict=True):
            opening = QuickToken(f"{tag}_open", tag, 1, attrs=side)
            self._tokens += (opening, QuickToken("inline", content=cell), _CLOSE[tag])
        self._tokens.append(_CLOSE["tr"])


_READERS: Final[Mapping[str, Callable[[_Container, int, int], int]]] = {
    "text": _Container._text,
    "heading": _Container._heading,
    "rule": _Container._rule,
    "quote": _Container._quote,
    "item": _Container._list,
    "fence": _Container._code,
    "section": _Container._section,
    "row": _Container._table,
}


_SIDES: Final[Mapping[tuple[bool, bool], dict[str, str]]] = {
    (False, False): {},
    (True, False): {"style": "text-align:left"},
    (False, True): {"style": "text-align:right"},
    (True, True): {"style": "text-align:center"},
}
"""How cells are aligned, by whether a colon begins and ends the cell below the header."""
