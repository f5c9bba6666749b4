"""Writes a Markdown document as HTML of the same lines, to be read by the rules of HTML (`quotes.markdown`).

    blocks, as markdown-it reads them ─► elements of HTML, each on its lines
    text within blocks ─► as it is written, but for entities, comments and raw HTML, which is passed on

A block quote is one element with all that readers see of it: numbers of lists, cells, code. Other code is left out.
Takes linear time; documents that would take too long, or nest deeper than the parser reads, are not read.
"""

import re
from functools import cache
from html import escape, unescape
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memosite.facts.patterns import regex
from memosite.facts.values import Struct, Value, field
from memosite.markdown.tokens import MAX_COST, MAX_NESTING, block_rules, worst_cost

_FRONT: Final = regex(r"---[ \t]*\n(?=\S)(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


_INCLUDES: Final = regex(
    r"(header-includes|include-in-header|include-(?:before|after)[\w-]*|css|stylesheets?)[\"']?\s*:|<(style|script|link)\b"
)
"""What in the front matter of a manuscript puts styles or words of its own into the page."""


_RAW_FENCE: Final = regex(r"\{\s*=\s*([\w-]{1,20})")


_RAW_TEXT: Final = frozenset(
    {"style", "script", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext", "noscript"}
    | {"template", "link", "meta", "base", "frameset", "head", "body", "html"}
)
"""Elements that concern more of a page than the block they stand in."""


_NAMES = """
a abbr article aside audio b bdi bdo blockquote br button canvas caption center cite code col colgroup data datalist dd
del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hr i img
input ins kbd label legend li main map mark math menu meter nav object ol optgroup option output p picture pre progress
q rp rt ruby s samp section select slot small source span strike strong sub summary sup svg table tbody td tfoot th
thead time tr track tt u ul var video wbr
"""


_KNOWN: Final = frozenset(_NAMES.split())


_ATTRIBUTE = r"(?:\s+[A-Za-z_:][\w:.-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^'<>]*'|\"[^\"<>]*\"))?)"


_TAG = rf"<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9-]*){_ATTRIBUTE}{{0,50}}\s*/?>"


_SPAN: Final = regex(
    r"\\(?P<escape>[!-/:-@\[-`{-~])|(?P<ticks>`+)|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{2,31});)"
    r"|(?P<auto>(?<=\]\()<|<(?:[A-Za-z][A-Za-z0-9.+-]{1,31}:[^\s<>]{0,2000}|[^\s<>@:]{1,100}@[^\s<>@]{1,100})>)"
    rf"|(?P<open><!--)|{_TAG}|(?P<odd><(?=[A-Za-z/!?]))",
    re.ASCII,
)


_IN_HTML: Final = regex(rf"(?P<open><!--)|{_TAG}|(?P<odd><(?=[A-Za-z/!?]))|<|\]\(|`", re.ASCII)


_MARKS: Final = frozenset("*_`~[]<>\\#|!&-+.")
"""What an entity writes as text and Markdown would read as a mark."""


_LONGEST: Final = 20_000
"""Of a comment: without a bound, its end is looked for again from each beginning."""


_ALERT: Final = regex(r"\[!\w+\][ \t]*(?:\n|\Z)")


_QUOTED: Final = regex(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)


_ENDED: Final = regex(r"[:：][\s*_`~)\]”’\"'»>]*\Z")


_BEFORE_TORN: Final = frozenset({"paragraph_close", "ordered_list_close", "bullet_list_close"})
"""What ends right above the rest of a block quote whose first line lost its mark; that may begin with a number."""


_RAISED: Final = regex(r"^[ \t]{0,3}(?:<sup>([^<>\n]{1,3})</sup>|(\d{1,3})[.)] [^\n]{0,500}sha256:)", re.MULTILINE)


class Lines(Value):
    """HTML of the same lines; `page` is what in the document may hide words anywhere in it.

    `torn` are the lines, from 1, on which block quotes begin that may have begun before: of one that begins an item of
    a list, Pandoc writes the first line without its mark.
    """

    html: str
    page: str
    torn: frozenset[int]


def lines_as_html(text: str) -> Lines | None:
    """A document as HTML; None if it cannot be read."""
    if worst_cost(text) > MAX_COST:
        return None
    text = text.replace("\r\n", "\n").replace("\r", " ")
    writer = _Writer(
        frozenset(match[1] or match[2] for match in _RAISED.finditer(text)) if "<sup>" in text else frozenset()
    )
    front = _FRONT.match(text)
    try:
        tokens = _parser().parse("\n" * front[0].count("\n") + text[front.end() :] if front else text)
    except Exception:  # third-party code on untrusted text: one bad document must not stop a build (SPEC 9)
        return None
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return None
    if front:
        writer.front(front[0])
    for before, token in pairwise([None, *tokens]):
        if before and token and before.type in _BEFORE_TORN and token.type == "blockquote_open":
            writer.note_torn(token)
        if token:
            writer.take(token)
    return Lines(html="".join(writer.pieces), page=writer.page, torn=frozenset(writer.torn))


@cache
def _parser() -> MarkdownIt:
    """Reads blocks alone, raw HTML among them."""
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING}).enable("table")
    parser.core.ruler.disable("inline")
    block_rules(parser)
    return parser


class _Writer(Struct):
    """Writes block after block, each on its lines. `signs` are those of footnotes that are raised numbers."""

    signs: frozenset[str]
    pieces: list[str] = field(default_factory=list)
    line: int = 0
    quotes: int = 0  # that are open
    page: str = ""  # what may hide words anywhere in it
    end: int = 0  # of the paragraph before, and how it ends
    last: str = ""
    torn: list[int] = field(default_factory=list)

    def note_torn(self, token: Token) -> None:
        """Note a block quote right below a paragraph of an item that does not lead to it."""
        begin = token.map[0] if token.map else 0
        if token.level > 1 and begin == self.end and not _ENDED.search(self.last):
            self.torn.append(begin + 1)

    def write(self, text: str, line: int = 0) -> None:
        """Write on a line, or on the one that was reached."""
        if line > self.line:
            self.pieces.append("\n" * (line - self.line))
            self.line = line
        self.pieces.append(text)
        self.line += text.count("\n")

    def front(self, text: str) -> None:
        """The front matter, in which an abstract may cite, as text."""
        if found := _INCLUDES.search(text):
            self.page = found[1] or f"<{found[2]}>"
        for number, row in enumerate(text.split("\n")[1:-1], 1):
            self.write(f"<p>{escape(row)}</p>", number)

    def take(self, token: Token) -> None:
        """One token of a block: what it opens, holds or closes."""
        line = token.map[0] if token.map else 0
        kind, _, edge = token.type.rpartition("_")
        if token.type == "inline":
            self.end, self.last = token.map[1] if token.map else 0, token.content[-20:]
            alert = _ALERT.match(token.content) if self.quotes else None
            self.write(self._text(token.content[alert.end() :] if alert else token.content), line + bool(alert))
        elif token.type == "html_block":
            self.write(self._raw(token.content.rstrip("\n")), line)
        elif token.type in ("fence", "code_block"):
            self._code(token, line)
        elif kind == "blockquote":
            self.quotes += token.nesting
            if self.quotes == (edge == "open"):
                self.write("<blockquote>" if edge == "open" else "</blockquote>", line)
        elif self.quotes:
            self._in_quote(token, kind, line)
        elif kind == "footnote_reference":
            name = escape(token.meta.get("label", ""))
            self.write(f'<ul><li id="{name}">' if edge == "open" else "</li></ul>", line)
        elif edge in ("open", "close") and token.tag:
            tag = {"ol": "ul"}.get(token.tag, token.tag)  # readers of a paragraph quote no number
            self.write(f"<{'/' * (edge == 'close')}{tag}>", line)

    def _in_quote(self, token: Token, kind: str, line: int) -> None:
        """Of what a block quote holds, the text alone, with what readers see beside it."""
        if token.type == "list_item_open":
            self.write(f"{token.info}{token.markup} ", line)
        elif token.type in ("tr_open", "td_close", "th_close"):
            self.write("| " if token.nesting > 0 else " | ", line)
        elif kind in ("paragraph", "heading") and token.nesting > 0:
            self.write("", line)

    def _code(self, token: Token, line: int) -> None:
        """Code in a block quote, with its fences; what is indented elsewhere, which few mean as code."""
        if raw := _RAW_FENCE.match(token.info.strip()):
            self.page = self.page or f"{{={raw[1]}}}"
        code = escape(token.content.rstrip("\n"))
        if self.quotes and token.type == "fence":
            self.write(f"{token.markup}\n{code}\n{token.markup}", line)
        elif self.quotes:
            self.write(code, line)
        elif token.type == "code_block":
            tag = "blockquote" if _QUOTED.match(token.content) else "p"
            self.write(f"<{tag}>{escape(_QUOTED.sub('', token.content.rstrip(chr(10))))}</{tag}>", line)

    def _text(self, content: str) -> str:
        """The text of a block as it is written, but for entities, comments and tags."""
        pieces: list[str] = []
        done = 0
        ticks = _closing_ticks(content) if "`" in content else {}
        while match := _SPAN.search(content, done):
            pieces.append(escape(content[done : match.start()], quote=False))
            done = match.end()
            if match["ticks"] and match.start() in ticks:
                done = ticks[match.start()]
                pieces.append(escape(content[match.start() : done], quote=False))
            elif match["escape"] in ("'", '"'):
                pieces.append(match["escape"])
            elif match["entity"]:
                char = unescape(match[0])
                pieces.append(escape(match[0] if char in _MARKS or char.isspace() else char, quote=False))
            elif match["open"]:
                done = self._comment(content, match.end(), pieces, is_block=False)
            elif match["tag"]:
                done = self._tag(match, content, pieces)
            else:
                pieces.append(escape(match[0], quote=False))
        pieces.append(escape(content[done:], quote=False))
        return "".join(pieces)

    def _raw(self, content: str) -> str:
        """A block of HTML. What Markdown would read as a mark is none in it."""
        pieces: list[str] = []
        done = 0
        while match := _IN_HTML.search(content, done):
            pieces.append(content[done : match.start()])
            done = match.end()
            if match["open"]:
                done = self._comment(content, match.end(), pieces, is_block=True)
            elif match["tag"]:
                done = self._tag(match, content, pieces)
            elif match["odd"]:
                self.page = self.page or content[match.start() : match.start() + 12].split("\n", maxsplit=1)[0]
                pieces.append("&lt;")
            else:
                pieces.append("&lt;" if match[0] == "<" else f"<span data-markdown></span>{match[0]}")
        pieces.append(content[done:])
        return "".join(pieces)

    def _comment(self, content: str, begin: int, pieces: list[str], *, is_block: bool) -> int:
        """What readers do not see, but for the citation that an author hides from them; where it ends."""
        end = content.find("-->", begin, begin + _LONGEST)
        inner = content[begin : max(end, begin)]
        if end < 0 or content.startswith((">", "->"), begin) or "--!>" in inner:
            if is_block or end >= 0:
                self.page = self.page or "<!--"
            pieces.append("&lt;!--")
            return begin
        pieces.append(escape(inner, quote=False) if "sha256:" in inner.lower() else "\n" * inner.count("\n"))
        return end + 3

    def _tag(self, match: re.Match[str], content: str, pieces: list[str]) -> int:
        """A tag is passed on; one that no page knows is noted where it stands. Where it ends."""
        name = match["tag"].lower()
        if name == "sup" and match.end() < len(content):
            sign = content[match.end() : content.find("<", match.end())]
            if sign in self.signs and content.startswith("</sup>", match.end() + len(sign)):
                pieces.append(f"[^{escape(sign)}]")
                return match.end() + len(sign) + 6
        if name in _RAW_TEXT:
            self.page = self.page or f"<{name}>"
        shown = escape(match[0], quote=False)
        pieces.append(
            shown if name in _RAW_TEXT else match[0] if name in _KNOWN else f"<span data-{name}></span>{shown}"
        )
        return match.end()


def _closing_ticks(content: str) -> dict[int, int]:
    """Where each span of code ends, by where it begins."""
    ends: dict[int, int] = {}
    later: dict[int, int] = {}
    for match in reversed(list(re.finditer("`+", content))):
        length = match.end() - match.start()
        if length in later:
            ends[match.start()] = later[length]
        later[length] = match.end()
    return ends
