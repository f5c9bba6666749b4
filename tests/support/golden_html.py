"""Writes HTML so that it can be read as the specification of a page: an element a line, indented by what it is in.

Text and inline elements stay on the lines on which the template wrote them, all on one if they fit, and are broken at
spaces if they do not. So a line ends only where the page has white space. What is in `<pre>` stays as it is.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import groupby

WIDTH = 120
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})
"""Elements of HTML without an end."""
_INLINE = frozenset(
    {
        *("a", "b", "br", "button", "circle", "code", "dt", "em", "i", "input", "kbd", "label", "mark", "path", "rect"),
        *("s", "small", "span", "strong", "sub", "summary", "svg", "text", "time", "title", "wbr"),
    }
)
"""What may be on one line with what is around it; `title` and `text` are those of SVG, too."""
_CELLS = frozenset({"td", "th"})
"""What may besides be on one line with its like."""
_WIDE = 10
"""A row of more cells than this is that of a wide table."""
_SPACE = "\x1f"
"""Stands for a space within a tag, where no line is broken."""


@dataclass(slots=True, kw_only=True)
class _Element:
    """An element: its tags as they are written, and what is between them."""

    name: str
    start: str
    end: str = ""
    content: list["_Element | str"] = field(default_factory=list)


class _Reader(HTMLParser):
    """Makes a tree of HTML that closes what it opens. Tags and text stay as they are written."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.root = _Element(name="", start="")
        self._open = [self.root]

    def _tag(self) -> str:
        written = (self.get_starttag_text() or "").replace("&#39;", "'")
        return written.replace("\n", _SPACE).replace(" ", _SPACE)

    def handle_decl(self, decl: str) -> None:
        """Keep the type of the document."""
        self._open[-1].content.append(_Element(name="!", start=f"<!{decl}>"))

    def handle_comment(self, data: str) -> None:
        """Keep a comment."""
        self._open[-1].content.append(_Element(name="!", start=f"<!--{data}-->"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element; one without an end is done."""
        del attrs
        is_void = tag in _VOID
        element = _Element(name=tag, start=self._tag(), end="" if is_void else f"</{tag}>")
        self._open[-1].content.append(element)
        if not is_void:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An empty element of SVG."""
        del attrs
        self._open[-1].content.append(_Element(name=tag, start=self._tag()))

    def handle_endtag(self, tag: str) -> None:
        """End the element that was begun last."""
        assert tag == self._open[-1].name, f"</{tag}> is where {self._open[-1].end or 'nothing'} is expected"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self._open[-1].content.append(data)

    def handle_entityref(self, name: str) -> None:
        """Keep a character that has a name."""
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        """Keep a character that has a number; quotation marks in a text need none."""
        self.handle_data({"34": '"', "39": "'"}.get(name, f"&#{name};"))

    def close(self) -> None:
        """End the document."""
        super().close()
        assert self._open == [self.root], f"<{self._open[-1].name}> is not closed"


def readable(html: str) -> str:
    """HTML for reading. Fails if its elements are not closed in the order in which they are opened."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = "".join(f"{line}\n" for line in _lines(reader.root.content, ""))
    return lines.replace(_SPACE, " ").replace("\xa0", "&nbsp;")


def _lines(content: Sequence[_Element | str], indent: str) -> Iterator[str]:
    """The lines of what is in an element: runs of text and inline elements, and the other elements one by one.

    The cells of a wide table fill their lines.
    """
    if sum(isinstance(node, _Element) and node.name in _CELLS for node in content) > _WIDE:
        yield from _run_lines(" ".join("".join(map(_flat, content)).replace("><t", "> <t").split()), indent)
        return
    for is_run, nodes in groupby(content, _is_inline):
        if is_run:
            yield from _run_lines("".join(map(_flat, nodes)), indent)
        else:
            for element in nodes:
                yield from _element_lines(element, indent) if isinstance(element, _Element) else ()


def _run_lines(run: str, indent: str) -> Iterator[str]:
    """The lines of a run as they were written, each broken if it is too long."""
    for line in run.split("\n"):
        yield from textwrap.wrap(
            line, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )


def _element_lines(element: _Element, indent: str) -> Iterator[str]:
    """The lines of an element that is not inline."""
    if element.name == "pre":
        yield from f"{indent}{_flat(element)}".split("\n")
        return
    parts = [node for node in element.content if not _is_inline(node)]
    cells = [node for node in parts if isinstance(node, _Element) and node.name in _CELLS]
    if len(parts) == len([cell for cell in cells if all(map(_is_inline, cell.content))]):
        line = f"{indent}{element.start}{' '.join(''.join(map(_flat, element.content)).split())}{element.end}"
        if not element.content or len(line) <= WIDTH:
            yield line
            return
    yield f"{indent}{element.start}"
    yield from _lines(element.content, f"{indent}  ")
    yield f"{indent}{element.end}"


def _is_inline(node: _Element | str) -> bool:
    """Whether something is text, or an inline element with nothing but inline elements in it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, _Element):
            if one.name not in _INLINE:
                return False
            waiting += one.content
    return True


def _flat(node: _Element | str) -> str:
    """Something as it is written."""
    written: list[str] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, _Element):
            written.append(one.start)
            waiting += [one.end, *reversed(one.content)]
        else:
            written.append(one)
    return "".join(written)
