"""Reads common Markdown with a parser in native code, in half the time that markdown-it takes.

What is read here has the tokens that markdown-it gives, so that nobody can tell which parser read a text. Both keep to
CommonMark. They differ in the rules of our own dialect, on tables, where white space is odd, on characters that only
one of them calls punctuation, and in a few shapes of lists, of code and of headings. Where the two may differ, a place
in the blocks refuses the whole text, which markdown-it then reads; one in the spans of a paragraph, a heading or a cell
leaves these alone to markdown-it. What is doubted is on the safe side: much of it both read alike. A fuzz test compares
the two (docs/decisions/0016-quick-markdown.md).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from markdown_it.token import Token
from pyromark import Markdown, Options

from memosite.facts.patterns import regex

# Where two parsers may read a text differently: markdown-it, which is the measure, and the native one.


_REFUSED: Final = ("[^", "]:", "\t", "~~~", "<!--")
"""Footnotes, definitions of links, tabs, fences not of backticks, comments: only markdown-it reads them as we do."""


DOUBTFUL: Final = ("~~", "![", "&#", "\\")
"""Strikethrough, images, characters by number, and backslashes: the spans of their block are left to markdown-it."""


_MOST_BARS: Final = 10_000  # in one table


# Next to `*` and `_` it matters what is punctuation, and the parsers know different versions of Unicode. At the ends
# of a block it matters what is white space: markdown-it asks Python, which knows more than CommonMark. Characters
# that are known here are neither.
_KNOWN = (
    r"\x00-\x7f\xa1-\u024f\u0391-\u03a1\u03b1-\u03c9\u0410-\u044f\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f"
    r"\u2600-\u26ff\u2701-\u27bf\u3001-\u3003\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3\uff01-\uff5e"
)


unknown = regex(rf"[^{_KNOWN}]").search


odd_neighbour = regex(rf"[*_][^{_KNOWN}]|[^{_KNOWN}][*_]").search


has_odd_space = regex(r"(?<!\w)[^\S \n]|[^\S \n](?!\w)").search


is_doubtful_label = regex(r"[*\[\]]|(?<!\w)_|_(?!\w)").search
"""Spans that reach out of the label of a link, and brackets within brackets."""


is_plain_destination = regex(r"[^\s<>()\\&\"'`*_\[\]]+").fullmatch


_SECTION = regex(r"^[ >*+\d.)-]*==", re.MULTILINE)  # also what may be the line below a heading


_WHOLE_SECTION = regex(r"(={2,6}) ([^\n]*) \1")


_HEADING = regex(r"#{1,6} ++([^\n]*[^\n# ])[ \n]*")


_MARKER = regex(rb" *(?:[-+*]|\d{1,9}[.)]) {1,4}(?=[^ \n])")


_FENCE = regex(rb"(`{3,})([A-Za-z0-9_+#.-]*) *\n")


_BELOW_HEADER = regex(r"\n[ >]*[|:-][|: -]*$", re.MULTILINE)


_TABLE = regex(r"\|[^\n\\]*\| *\n\|(?: *:?-+:? *\|)+ *\n(?:\|[^\n\\]*\| *(?:\n|\Z))*")


def maybe_sections(source: str) -> int:
    """How many lines may be a section, as `== Section ==`, or make the line above a heading."""
    return len(_SECTION.findall(source)) if "==" in source else 0


def section_of(paragraph: str) -> tuple[int, str] | None:
    """The level and the title of a paragraph that is a section, and nothing else."""
    found = _WHOLE_SECTION.fullmatch(paragraph)
    return (len(found[1]), found[2].strip(" ")) if found and found[2].strip(" =") else None


def maybe_tables(source: str) -> int:
    """How many lines with a bar have one below them of nothing but bars, colons and hyphens."""
    if "|" not in source:
        return 0
    begins = (below.start() for below in _BELOW_HEADER.finditer(source))
    return sum(source.find("|", source.rfind("\n", 0, begin) + 1, begin) >= 0 for begin in begins)


def is_plain_table(text: str) -> bool:
    """Whether all rows begin and end with a bar and have as many cells, without a backslash in any."""
    bars = text.count("|")
    if bars > _MOST_BARS or not _TABLE.fullmatch(text):
        return False
    return len({row.count("|") for row in text.rstrip("\n").split("\n")}) == 1


def heading_content(source: str) -> str | None:
    """What stands behind the signs of a heading; None if it is one by its underline, is empty, or is closed."""
    found = _HEADING.fullmatch(source)
    return found[1] if found else None


def item_column(data: bytes, start: int) -> int | None:
    """The column where the content of an item begins; None if it is empty, or begins behind another mark."""
    begin = data.rfind(b"\n", 0, start) + 1
    marker = _MARKER.match(data, begin)
    return marker.end() - begin if marker and marker.end() > start else None


def language_of_fence(data: bytes, start: int, end: int) -> str | None:
    """The language of code between fences; None if more is said of it, or it is never closed."""
    fence = _FENCE.match(data, start)
    if not fence:
        return None
    last = data[fence.end() - 1 : end].rstrip(b" \n").rpartition(b"\n")[2].lstrip(b" >")
    return fence[2].decode() if last.startswith(fence[1]) and not last.strip(b"`") else None


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
RULE: Final = QuickToken("hr", "hr")


HIDDEN_CLOSE: Final = QuickToken("paragraph_close", "p", -1)
HIDDEN_CLOSE.hidden = True


BREAKS: Final = {"SoftBreak": QuickToken("softbreak", "br"), "HardBreak": QuickToken("hardbreak", "br")}


_NAMES: Final = {
    "p": "paragraph",
    "ul": "bullet_list",
    "ol": "ordered_list",
    "li": "list_item",
    "a": "link",
    **{name: name for name in ("blockquote", "em", "strong", "table", "thead", "tbody", "tr", "th", "td")},
    **{f"h{level}": "heading" for level in range(1, 7)},
}


OPEN: Final = {
    tag: QuickToken(f"{_NAMES[tag]}_open", tag, 1)
    for tag in ("blockquote", "ul", "ol", "em", "strong", "table", "thead", "tbody", "tr")
}


CLOSE: Final = {tag: QuickToken(f"{name}_close", tag, -1) for tag, name in _NAMES.items()}


_Range: TypeAlias = Mapping[str, int]  # in bytes


_Data: TypeAlias = Any  # what pulldown-cmark's enums hold


_Spans: TypeAlias = Callable[[str], list[Token]]


_DEEPEST: Final = 8  # containers within containers; markdown-it's own bound is higher


_QUOTE: Final = -1


_LIST: Final = -2


_BACKSLASH: Final = ord("\\")


# Typed here because its own types are unions of a dozen dictionaries, which are told apart by their only key.
_events: Callable[..., Iterable[tuple[Any, Any]]] = Markdown(options=Options.ENABLE_TABLES).events_with_range


class _RefusedError(Exception):
    """To markdown-it, the text may mean something else."""


def read_quickly(source: str, spans: _Spans) -> list[Token] | None:
    """The tokens of a text with LF and without control characters; None if markdown-it has to read it.

    `spans` is markdown-it's way from the content of one block to the tokens within.
    """
    if any(mark in source for mark in _REFUSED):
        return None
    try:
        return _Reader(source, spans).read()
    except _RefusedError:
        return None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # native code that gave up; no `Exception`, and has no public name
            raise
        return None


class _Reader:
    """Makes tokens of the events of one text."""

    def __init__(self, source: str, spans: _Spans) -> None:
        self._source = source
        self._data = source.encode()  # events tell places in bytes
        self._is_ascii = len(self._data) == len(source)
        self._spans = spans
        self._marks = [mark for mark in DOUBTFUL if mark in source]
        self._has_unknown = not self._is_ascii and unknown(source) is not None
        if self._has_unknown and has_odd_space(source):
            raise _RefusedError
        # What may be one to markdown-it. Each that is read as one is taken off; in the end none may be left.
        self._sections = maybe_sections(source)
        self._tables = maybe_tables(source)
        self._tokens: list[Token] = []
        self._children: list[Token] | None = None  # of the block whose spans are read
        self._is_doubtful = False
        self._is_hidden = False
        self._in_link = False
        self._begin = self._end = 0  # of that block
        self._code: list[str] | None = None
        self._fence = QuickToken("fence", "code", line=0)
        self._containers: list[int] = []  # for an item the column of its content, else `_QUOTE` or `_LIST`
        self._aligned: list[dict[str, str]] = []
        self._cell = 0
        self._cell_tag = "td"
        self._line = self._counted = 0  # lines before so many bytes

    def read(self) -> list[Token]:
        """Read all of the text, or raise `_RefusedError`."""
        for event, where in _events(self._source, merge_text=True):
            if event.__class__ is str:
                _HANDLERS.get(event, _Reader._refuse)(self, where, event)
                continue
            ((name, data),) = event.items()
            if name not in {"Start", "End"}:
                _HANDLERS.get(name, _Reader._refuse)(self, where, data)
                continue
            tag = data
            if data.__class__ is not str:
                ((tag, data),) = data.items()
            start, end = _TAGS.get(tag, (_Reader._refuse, _Reader._refuse))
            (start if name == "Start" else end)(self, where, data)
        if self._sections or self._tables:
            raise _RefusedError
        return self._tokens

    def _refuse(self, _where: _Range, _: _Data) -> None:
        raise _RefusedError

    # Places

    def _text(self, begin: int, end: int) -> str:
        return self._source[begin:end] if self._is_ascii else self._data[begin:end].decode()

    def _line_of(self, begin: int) -> int:
        self._line += self._data.count(b"\n", self._counted, begin)
        self._counted = begin
        return self._line

    def _content(self, begin: int, end: int) -> str:
        """The source of a paragraph, without the marks of what contains it."""
        text = self._text(begin, end).strip()
        if not self._containers or "\n" not in text:
            return text
        column = self._containers[-1]
        if self._containers == [_QUOTE]:
            text, lines = re.subn(r"\n> ?", "\n", text)
        elif column > 0 and _QUOTE not in self._containers:
            text, lines = re.subn(rf"\n {{{column}}}", "\n", text)
        else:
            raise _RefusedError
        if lines != text.count("\n"):  # a line that continues a paragraph without the marks
            raise _RefusedError
        return text

    # Spans

    @property
    def _begun(self) -> list[Token]:
        """The spans of the block that is read."""
        if self._children is None:
            raise _RefusedError
        return self._children

    def _spans_at(self, begin: int) -> list[Token]:
        """The spans of the block that is read; else a paragraph of a tight list begins, for which there is no event."""
        if self._children is not None:
            return self._children
        if not self._containers or self._containers[-1] < 0:
            raise _RefusedError
        is_escaped = begin > 0 and self._data[begin - 1] == _BACKSLASH
        self._begin = begin - is_escaped
        paragraph = QuickToken("paragraph_open", "p", 1, line=self._line_of(self._begin))
        self._is_hidden = paragraph.hidden = True
        self._tokens.append(paragraph)
        self._children = []
        return self._children

    def _leave_hidden(self) -> None:
        if self._is_hidden:
            self._leave_spans(self._content(self._begin, self._end))
            self._tokens.append(HIDDEN_CLOSE)
            self._is_hidden = False

    def _leave_spans(self, content: str) -> None:
        children = self._children
        is_odd = self._has_unknown and odd_neighbour(content)
        if self._is_doubtful or is_odd or (self._marks and any(mark in content for mark in self._marks)):
            children = self._spans(content)
            self._is_doubtful = False
        inline = QuickToken("inline", content=content)
        inline.children = children
        self._tokens.append(inline)
        self._children = None

    def _spoken(self, where: _Range, text: str) -> None:
        if self._code is not None:
            self._code.append(text)
            return
        children = self._spans_at(where["start"])
        if "](" in text or (self._in_link and is_doubtful_label(text)):
            self._is_doubtful = True
        children.append(QuickToken("text", content=text))
        self._end = where["end"]

    def _code_span(self, where: _Range, text: str) -> None:
        children = self._spans_at(where["start"])
        self._end = where["end"]
        if self._data.find(b"\n", where["start"], self._end) >= 0:
            self._is_doubtful = True
        children.append(QuickToken("code_inline", "code", content=text))

    def _break(self, _where: _Range, kind: str) -> None:
        self._begun.append(BREAKS[kind])

    def _open_span(self, where: _Range, kind: str) -> None:
        self._spans_at(where["start"]).append(OPEN["em" if kind == "Emphasis" else "strong"])

    def _close_span(self, where: _Range, kind: str) -> None:
        self._begun.append(CLOSE["em" if kind == "Emphasis" else "strong"])
        self._end = where["end"]

    def _open_link(self, where: _Range, link: _Data) -> None:
        children = self._spans_at(where["start"])
        if link["link_type"] != "Inline" or link["title"] or not is_plain_destination(link["dest_url"]):
            self._is_doubtful = True
        self._in_link = True
        children.append(QuickToken("link_open", "a", 1, attrs={"href": link["dest_url"]}))

    def _close_link(self, where: _Range, _: _Data) -> None:
        self._in_link = False
        self._begun.append(CLOSE["a"])
        self._end = where["end"]

    def _doubt(self, where: _Range, _: _Data) -> None:
        """Leave the spans of this block to markdown-it: raw HTML, an image."""
        self._spans_at(where["start"])
        self._is_doubtful = True
        self._end = where["end"]

    # Blocks

    def _start_block(self, where: _Range, name: str, tag: str) -> None:
        self._leave_hidden()
        self._begin = where["start"]
        self._children = []
        self._tokens.append(QuickToken(name, tag, 1, line=self._line_of(self._begin)))

    def _start_paragraph(self, where: _Range, _: _Data) -> None:
        self._start_block(where, "paragraph_open", "p")

    def _end_paragraph(self, where: _Range, _: _Data) -> None:
        content = self._content(self._begin, where["end"])
        if self._sections and content.startswith("==") and not self._containers:
            self._section(content)
            return
        self._leave_spans(content)
        self._tokens.append(CLOSE["p"])

    def _section(self, content: str) -> None:
        """Make the paragraph a heading."""
        section = section_of(content)
        if not section or self._data[max(0, self._begin - 1) : self._begin] not in (b"", b"\n"):
            raise _RefusedError
        level, title = section
        self._sections -= 1
        opening, tag = self._tokens[-1], f"h{level}"
        opening.type, opening.tag = "heading_open", tag
        self._is_doubtful = True  # its spans are those between the signs
        self._leave_spans(title)
        self._tokens.append(CLOSE[tag])

    def _start_heading(self, where: _Range, heading: _Data) -> None:
        self._start_block(where, "heading_open", heading["level"].lower())

    def _end_heading(self, where: _Range, level: str) -> None:
        content = heading_content(self._text(self._begin, where["end"]))
        if content is None:
            raise _RefusedError
        self._leave_spans(content)
        self._tokens.append(CLOSE[level.lower()])

    def _rule(self, _where: _Range, _: _Data) -> None:
        self._leave_hidden()
        self._tokens.append(RULE)

    def _start_list(self, _where: _Range, first: int | None) -> None:
        self._contain(_LIST)
        if first is None or first == 1:
            self._tokens.append(OPEN["ul" if first is None else "ol"])
        else:
            self._tokens.append(QuickToken("ordered_list_open", "ol", 1, attrs={"start": first}))

    def _end_list(self, _where: _Range, is_ordered: bool) -> None:  # noqa: FBT001
        self._containers.pop()
        self._tokens.append(CLOSE["ol" if is_ordered else "ul"])

    def _start_item(self, where: _Range, _: _Data) -> None:
        column = item_column(self._data, where["start"])
        if column is None:
            raise _RefusedError
        self._contain(column)
        self._tokens.append(QuickToken("list_item_open", "li", 1, line=self._line_of(where["start"])))

    def _end_item(self, _where: _Range, _: _Data) -> None:
        self._leave_hidden()
        self._containers.pop()
        self._tokens.append(CLOSE["li"])

    def _start_quote(self, _where: _Range, _: _Data) -> None:
        self._contain(_QUOTE)
        self._tokens.append(OPEN["blockquote"])

    def _end_quote(self, _where: _Range, _: _Data) -> None:
        self._containers.pop()
        self._tokens.append(CLOSE["blockquote"])

    def _contain(self, container: int) -> None:
        self._leave_hidden()
        self._containers.append(container)
        if len(self._containers) > _DEEPEST:
            raise _RefusedError

    def _start_code(self, where: _Range, kind: _Data) -> None:
        self._leave_hidden()
        language = None if kind == "Indented" else language_of_fence(self._data, where["start"], where["end"])
        if language is None:
            raise _RefusedError
        self._code = []
        self._fence = QuickToken("fence", "code", line=self._line_of(where["start"]))
        self._fence.info = language

    def _end_code(self, _where: _Range, _: _Data) -> None:
        self._fence.content = "".join(self._code or ())
        self._tokens.append(self._fence)
        self._code = None

    # Tables

    def _start_table(self, where: _Range, aligned: _Data) -> None:
        start, end = where["start"], where["end"]
        before, after = self._data[max(0, start - 2) : start], self._data[end : end + 1]
        is_alone = before in (b"", b"\n", b"\n\n") and after in (b"", b"\n")
        if self._containers or not is_alone or not is_plain_table(self._text(start, end)):
            raise _RefusedError
        self._tables -= 1
        self._aligned = [{} if side == "None" else {"style": f"text-align:{side.lower()}"} for side in aligned]
        self._tokens.append(QuickToken("table_open", "table", 1, line=self._line_of(start)))

    def _end_table(self, _where: _Range, _: _Data) -> None:
        if self._cell_tag == "td":
            self._tokens.append(CLOSE["tbody"])
        self._tokens.append(CLOSE["table"])

    def _start_head(self, _where: _Range, _: _Data) -> None:
        self._tokens += (OPEN["thead"], OPEN["tr"])
        self._cell, self._cell_tag = 0, "th"

    def _end_head(self, _where: _Range, _: _Data) -> None:
        self._tokens += (CLOSE["tr"], CLOSE["thead"])

    def _start_row(self, _where: _Range, _: _Data) -> None:
        if self._cell_tag == "th":
            self._tokens.append(OPEN["tbody"])
        self._tokens.append(OPEN["tr"])
        self._cell, self._cell_tag = 0, "td"

    def _end_row(self, _where: _Range, _: _Data) -> None:
        self._tokens.append(CLOSE["tr"])

    def _start_cell(self, where: _Range, _: _Data) -> None:
        self._begin = where["start"]
        self._children = []
        name, tag = f"{self._cell_tag}_open", self._cell_tag
        self._tokens.append(QuickToken(name, tag, 1, attrs=self._aligned[self._cell]))
        self._cell += 1

    def _end_cell(self, where: _Range, _: _Data) -> None:
        self._leave_spans(self._text(self._begin, where["end"]).strip(" "))
        self._tokens.append(CLOSE[self._cell_tag])


_Handler: TypeAlias = Callable[[_Reader, _Range, _Data], None]


_HANDLERS: Final[Mapping[str, _Handler]] = {
    "Text": _Reader._spoken,
    "Code": _Reader._code_span,
    "SoftBreak": _Reader._break,
    "HardBreak": _Reader._break,
    "InlineHtml": _Reader._doubt,
    "Rule": _Reader._rule,
}


_TAGS: Final[Mapping[str, tuple[_Handler, _Handler]]] = {
    "Emphasis": (_Reader._open_span, _Reader._close_span),
    "Strong": (_Reader._open_span, _Reader._close_span),
    "Link": (_Reader._open_link, _Reader._close_link),
    "Image": (_Reader._doubt, _Reader._doubt),
    "Paragraph": (_Reader._start_paragraph, _Reader._end_paragraph),
    "Heading": (_Reader._start_heading, _Reader._end_heading),
    "List": (_Reader._start_list, _Reader._end_list),
    "Item": (_Reader._start_item, _Reader._end_item),
    "BlockQuote": (_Reader._start_quote, _Reader._end_quote),
    "CodeBlock": (_Reader._start_code, _Reader._end_code),
    "Table": (_Reader._start_table, _Reader._end_table),
    "TableHead": (_Reader._start_head, _Reader._end_head),
    "TableRow": (_Reader._start_row, _Reader._end_row),
    "TableCell": (_Reader._start_cell, _Reader._end_cell),
}
"""What the start and the end of each are read by."""
