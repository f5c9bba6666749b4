"""Reads documents into blocks, and memosite's own citations out of them; writes citations in other forms (SPEC 7).

    Markdown, plain text, HTML ─► blocks ─► citations with the quotes above or in them
    BibTeX, CSL-JSON ─► entries ─► citations

A block knows on which line each of its characters is. `<q>` is read as a pair of quotation marks of its own, so that
one search finds all kinds. A quote must not hold by words that readers do not see, or see otherwise: struck out words
keep their `~~`, and what is hidden or shown by other means than letters has a character beside it that no text has.
Styles of classes are not known.

What makes words a citation is `sha256:` with 64 hex digits; beside it are the reference and the address, and the quote
is the block quote above it, the words in “ ”, or the abstract. Nothing raises on any text.

A citation is written with all of its fields, so that `verify` can read it back, in places that other programs keep:
what BibTeX and CSL have no field for is in `note` and in `abstract`, which holds the quote.
"""

import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from html.parser import HTMLParser
from itertools import accumulate, chain
from operator import attrgetter
from typing import Final

from memosite.archive.cite import Citation
from memosite.facts.parsed import Written
from memosite.quotes.source import Reading, Span, beside, edited, find_marks, with_images, word_count

# Reads Markdown and plain text into the blocks that quotations are looked for in: paragraphs, and block quotes.


_OTHER: Final = "\ue002"
"""Stands for the citation of something else, which has its own words."""


OPEN, CLOSE = "\ue000", "\ue001"
"""Stand for `<q>` and `</q>` in the text of a block."""


_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


_QUOTED_LINE = re.compile(r" {0,3}(?:> ?)+")


_ALERT = re.compile(r"\[!\w+\]\s*\Z")


_NOTE = re.compile(r" {0,3}(?:\[\^([^\[\]\s]{1,100})\]:|\[(\d{1,4})\](?=:?\s)|([⁰¹²³⁴-⁹]{1,4})(?=\s))")
"""The beginning of a footnote; its name may stand anywhere else as `NOTED`."""


NOTED = re.compile(r"\[\^([^\[\]\s]{1,100})\]|\[(\d{1,4})\]|([⁰¹²³⁴-⁹]{1,4})")


_ITEM = re.compile(r"[ \t]*(?:[*+-]|\d{1,9}[.)])[ \t]+|#{1,6}[ \t]+")


_STYLED = re.compile(r" {0,3}<(style|script|link)\b", re.IGNORECASE)


_TAG = re.compile(r"<(/?)(q|blockquote)\b[^<>]{0,500}>", re.IGNORECASE)


_LINK = re.compile(
    r"\]\(<([^<>\n]{1,2000})>\)|(https?://[^()\s<>\"]{1,2000}(?:\([^()\s<>\"]{0,200}\)[^()\s<>\"]{0,200}){0,5})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A paragraph, or what a block quote quotes. `starts` are where its lines begin in `text`, `lines` their numbers.

    `links` are the addresses that HTML links to from it, or gives as the source of the quote, `lead` is the text before
    the first of these links. `figure` is the number of the element of HTML that holds all of a quote, 0 if none does.
    `note` is the name of the footnote that it is of, `marked` is where HTML has emphasis, code
    or a title, and whether that is bold. `unread` says why nobody knows what readers see of it.
    """

    is_quote: bool
    text: str
    starts: tuple[int, ...]
    lines: tuple[int, ...]
    links: tuple[str, ...] = ()
    lead: str = ""
    figure: int = 0
    note: str = ""
    marked: tuple[tuple[int, int, bool], ...] = ()
    unread: str = ""

    def line_of(self, place: int) -> int:
        """The line of the manuscript that a character is on."""
        return self.lines[max(bisect_right(self.starts, place) - 1, 0)]


def block_of(rows: Sequence[tuple[int, str]], *, is_quote: bool) -> Block:
    """A block of lines with their numbers."""
    return Block(
        is_quote=is_quote,
        text="\n".join(row for _, row in rows),
        starts=tuple(accumulate((len(row) + 1 for _, row in rows[:-1]), initial=0)),
        lines=tuple(line for line, _ in rows) or (1,),
    )


def links_in(text: str) -> list[str]:
    """The addresses in a text or a Markdown document, in their order."""
    return [match[1] or match[2].rstrip(".,;:!?'”’»]") for match in _LINK.finditer(text)]


def markdown_blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown document; code is none."""
    reader = _Blocks(is_markdown=True)
    blocks = list(reader.read(text))
    yield from _unread_if(reader.page, blocks)


def plain_blocks(text: str) -> Iterator[Block]:
    """The blocks of a plain text; lines that begin with `>` are a block quote, as in mail."""
    yield from _Blocks(is_markdown=False).read(text)


class _Blocks:
    """Collects lines until a block ends."""

    def __init__(self, *, is_markdown: bool) -> None:
        self.is_markdown = is_markdown
        self.rows: list[tuple[int, str]] = []
        self.is_quote = False
        self.in_tag = False  # within <blockquote>
        self.fence = ""
        self.note = ""
        self.page = ""  # a style sheet or a program in the text

    def read(self, text: str) -> Iterator[Block]:
        for number, line in enumerate(text.split("\n"), 1):
            yield from self._line(number, line)
        yield from self._end()

    def _line(self, number: int, line: str) -> Iterator[Block]:
        fence = _FENCE.match(line) if self.is_markdown else None
        if self.fence or fence:
            yield from self._end()
            begun = fence[1] if fence else ""
            is_end = self.fence and begun.startswith(self.fence) and not line.strip().strip("`~")
            self.fence = "" if is_end else self.fence or begun
            return
        if not line.strip() and not (self.in_tag and self.rows):
            yield from self._end()
            return
        if self.is_markdown and (styled := _STYLED.match(line)):
            self.page = f"<{styled[1].lower()}>"
        quoted = _QUOTED_LINE.match(line)
        row = line[quoted.end() :] if quoted else line
        if self.is_markdown and "<" in row:
            row, begins, ends = _tags(row)
            if begins:
                yield from self._end()
                self.in_tag = True
            if ends and self.in_tag:
                yield from self._add(number, row, is_quote=True)
                yield from self._end()
                self.in_tag = False
                return
        yield from self._add(number, row, is_quote=self.in_tag or quoted is not None)

    def _add(self, number: int, row: str, *, is_quote: bool) -> Iterator[Block]:
        item = _ITEM.match(row)
        noted = None if is_quote else _NOTE.match(row)
        starts = not is_quote and (item or noted or row.startswith("|"))
        if self.rows and (is_quote != self.is_quote or starts):
            yield from self._end()
        if noted:
            self.note, row = noted[noted.lastindex or 0], row[noted.end() :].removeprefix(":")
        elif not self.rows and not row.startswith((" ", "\t")):
            self.note = ""
        if _ALERT.match(row) and is_quote:
            row = ""
        self.is_quote = is_quote
        self.rows.append((number, row[item.end() :] if item and not is_quote else row))

    def _end(self) -> Iterator[Block]:
        if any(row.strip() for _, row in self.rows):
            yield replace(block_of(self.rows, is_quote=self.is_quote), note=self.note)
        self.rows = []


def _tags(row: str) -> tuple[str, bool, bool]:
    """A line without its tags of quotes, and whether a block quote begins and ends on it."""
    found = [(match[2].lower(), match[1]) for match in _TAG.finditer(row)]
    return _TAG.sub(_mark, row), ("blockquote", "") in found, ("blockquote", "/") in found


def _mark(match: re.Match[str]) -> str:
    odd = _NOT_READ if re.search(r"\s(?!cite=|>|/)\S", match[0]) else ""
    return odd + (" " if match[2].lower() == "blockquote" else CLOSE if match[1] else OPEN)


# Reads LaTeX as Markdown of the same lines, and that into blocks.


_TEX_TOKEN: Final = re.compile(
    r"(?P<comment>%[^\n]*)|(?P<env>\\(?P<edge>begin|end)\s*\{(?P<named>[\w*]{1,40})\})"
    r"|\\(?:[a-z]*cite[a-z]*)\*?\s*(?:\[[^\[\]]{0,300}\]\s*){0,2}\{(?P<keys>[^{}\\]{1,2000})\}"
    r"|\\href\s*\{(?P<href>[^{}]{1,2000})\}\s*\{|\\url\s*\{(?P<url>[^{}]{1,2000})\}"
    r"|\\(?P<accent>[\"'`^~=.])\{?(?P<letter>[A-Za-z])\}?|(?P<symbol>\\text[a-z]{3,20}\{\})"
    r"|\\(?P<command>[A-Za-z@]+)\*?(?:\[[^\[\]\n]{0,300}\])?(?P<group>\s?\{)?[ \t]?|\\(?P<escape>.)"
    r"|(?P<open>``)|(?P<close>'')|(?P<single>`)|(?P<begin>\{)|(?P<stop>\})|(?P<tie>~)"
)


_TEX_AROUND: Final = {
    "emph": "*", "textit": "*", "textsl": "*", "texttt": "`", "textbf": "**", "textsc": "", "textrm": "", "textup": "",
    "text": "", "mbox": "", "section": "", "subsection": "", "subsubsection": "", "paragraph": "", "chapter": "",
    "part": "", "title": "", "author": "", "date": "", "caption": "", "item": "",
    "par": "", "noindent": "", "tightlist": "",
    "maketitle": "", "centering": "", "toprule": "", "midrule": "", "bottomrule": "", "endhead": "", "hline": "",
    "bigskip": "", "medskip": "", "smallskip": "", "newpage": "", "usepackage": "", "documentclass": "", "label": "",
    "bibliography": "", "bibliographystyle": "", "addbibresource": "", "printbibliography": "", "hypertarget": "",
}  # fmt: skip
"""What stands around the words of a command in Markdown; other commands may hide words or show others."""


_TEX_CHARS: Final = {
    "ldots": "…", "dots": "…", "textellipsis": "…", "ss": "ß", "ae": "æ", "oe": "œ", "o": "ø", "aa": "å", "l": "ł",
    "quad": " ", "textemdash": "—", "textendash": "–", "textquoteright": "’", "textquoteleft": "‘",
    "textquotedblleft": "“", "textquotedblright": "”",
}  # fmt: skip


_TEX_ACCENTS: Final = dict(zip("\"'`^~=.", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307", strict=True))


_TEX_QUOTES: Final = frozenset({"quote", "quotation", "displayquote", "verse"})


_TEX_CODE: Final = re.compile(
    r"\\begin\{(verbatim|lstlisting|comment|minted)\}.*?(?:\\end\{\1\}|\Z)|\\iffalse\b.*?(?:\\fi\b|\Z)", re.DOTALL
)


_TEX_KEY: Final = re.compile(
    r"((?:memo|note|transcript|library|record|document)/.+?)(?:-(t[1-9]\d*(?:-t[1-9]\d*)?|(?:[pct]-)[0-9a-f]{8}(?:-\d+)?))?"
    r":([0-9a-f]{8})"
)


_BIBLIOGRAPHY: Final = re.compile(r"\\(?:bibliography|addbibresource)\s*(?:\[[^\[\]]{0,200}\])?\{([^{}]{1,1000})\}")


def bibliographies(text: str) -> list[str]:
    """The files of entries that a LaTeX document names."""
    names = [name.strip() for match in _BIBLIOGRAPHY.finditer(text) for name in match[1].split(",")]
    return [name if name.endswith(".bib") else f"{name}.bib" for name in names if name]


def tex_blocks(text: str, entries: Mapping[str, Written] | None = None) -> Iterator[Block]:
    """The blocks of a LaTeX document; `entries` of BibTeX stand for what it cites."""
    for block in _Blocks(is_markdown=True).read(_from_tex(text, entries or {})):
        why = "a command of LaTeX in it may hide words or show others" if _NOT_READ in block.text else ""
        yield replace(block, unread=why)


def _from_tex(text: str, entries: Mapping[str, Written]) -> str:
    """LaTeX as Markdown, line by line."""
    text = _TEX_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    pieces: list[str] = []
    closing: list[str] = []  # what is written where a group ends
    done = 0
    for match in _TEX_TOKEN.finditer(text):
        pieces.append(text[done : match.start()])
        done = match.end()
        pieces.append(_of_token(match, closing, entries) + "\n" * match[0].count("\n"))
    return "".join((*pieces, text[done:]))


def _of_token(match: re.Match[str], closing: list[str], entries: Mapping[str, Written]) -> str:
    kind = match.lastgroup
    if match["env"]:
        tag = "blockquote" if match["named"] in _TEX_QUOTES else ""
        return f"<{'/' * (match['edge'] == 'end')}{tag}>" if tag else ""
    if match["keys"]:
        return "".join(f" ({_of_key(key.strip(), entries)})" for key in match["keys"].split(","))
    if match["href"]:
        closing.append(f"](<{_untex(match['href'])}>)")
        return "["
    if match["url"]:
        return f"<{_untex(match['url'])}>"
    if match["accent"]:
        return match["letter"] + _TEX_ACCENTS[match["accent"]]
    if match["command"]:
        return _of_command(match, closing)
    if match["symbol"] or match["escape"]:
        known = _LETTERS.get(match[0], match["escape"] or "")
        return "" if match["escape"] == "/" else " " if match["escape"] in tuple("\\,;: \n") else known
    if kind == "begin":
        closing.append("")
    if kind == "stop":
        return closing.pop() if closing else ""
    return {"open": "“", "close": "”", "single": "‘", "tie": " "}.get(kind or "", "")


def _of_command(match: re.Match[str], closing: list[str]) -> str:
    name, opens = match["command"], bool(match["group"])
    if name in _TEX_CHARS:
        if opens:
            closing.append("")
        return _TEX_CHARS[name]
    around, end = (_TEX_AROUND.get(name, _NOT_READ),) * 2
    if name in ("enquote", "textquote"):
        around, end = OPEN, CLOSE
    elif name == "footnote":
        around, end = " (", ")"
    if opens:
        closing.append(end)
    return around


def _of_key(key: str, entries: Mapping[str, Written]) -> str:
    """What an entry cites, as it stands in a text; without the entry, what its name says."""
    if entry := entries.get(key):
        commit = f", commit {entry.commit}" if entry.commit else ""
        return f"{entry.ref}, sha256:{entry.sha256}{commit}"
    if named := _TEX_KEY.fullmatch(key):
        return f"{named[1]}{'#' if named[2] else ''}{named[2] or ''}, sha256:{named[3]}"
    return _OTHER


# Finds what stands in quotation marks of any kind.


CLOSING: Final = {
    "“": "”", "„": "“”", "‟": "”", "«": "»", "»": "«", '"': '"', "”": "”", OPEN: CLOSE, "「": "」", "『": "』",
    "‘": "’'", "‚": "‘’", "‹": "›", "›": "‹", "'": "'", "＂": "＂", "❝": "❞", "〝": "〞〟", "《": "》", "‛": "’",
}  # fmt: skip


_ALWAYS: Final = frozenset("“„‟«「『＂❝〝《" + OPEN)  # what opens wherever it is


_APOSTROPHES: Final = frozenset("’'‘")


_BEFORE: Final = frozenset("([{—–-/:>*_,;.!?=|~…" + "".join(_ALWAYS))  # what may stand right before a mark


MARK = re.compile("[" + "".join(CLOSING) + "]")


def quoted_spans(text: str) -> Iterator[tuple[int, int, int]]:
    """Of what stands in quotation marks: where its mark is, where it begins and where it ends."""
    place = 0
    unclosed: set[str] = set()
    while match := MARK.search(text, place):
        place = match.end()
        if match[0] in unclosed or not _opens(text, match.start()):
            continue
        end = _end_of(text, place, CLOSING[match[0]])
        if end == len(text) and match[0] in _APOSTROPHES:
            unclosed.add(match[0])  # an apostrophe; nor will those that follow be closed
            continue
        yield match.start(), place, end
        place = end + 1


def _opens(text: str, place: int) -> bool:
    """Whether a mark begins a quotation: it is before a word, and not behind one."""
    mark, (before, after) = text[place], beside(text, place, place + 1)
    if not after or after.isspace():
        return bool(after) and mark in "«‹" and not before.isalnum()
    if mark in _ALWAYS:
        return mark != "“" or not before.isalnum() or (before.isalpha() and after.isalnum())
    if mark == '"' and before.isalpha():
        return after.isalnum()
    return not before or before.isspace() or before in _BEFORE


def _end_of(text: str, start: int, closing: str) -> int:
    """Where a quotation ends: an apostrophe may look like its end, so the last one before the next opening counts."""
    last = -1
    place = start
    while place < len(text):
        char = text[place]
        if char in closing and (char not in _APOSTROPHES or not text[place + 1 : place + 2].isalnum()):
            if char not in _APOSTROPHES and not (char == '"' and _is_inch(text, place)):
                return place
            last = place
        elif last >= 0 and char in "‘‚'" and _opens(text, place):
            return last
        place += 1
    return last if last >= 0 else len(text)


def _is_inch(text: str, place: int) -> bool:
    """Whether a straight mark after a number goes on in a sentence: `a 5" pipe and more"`."""
    return text[place - 1].isdigit() and text[place + 1 : place + 2] == " " and '"' in text[place + 1 : place + 400]


# Reads HTML into the blocks that quotations are looked for in; never raises on any text.


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


_NOT_READ: Final = "\ufffc"
"""Stands beside what is hidden, and for what is no text."""


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
    yield from _unread_if(reader.page, reader.blocks)


def _unread_if(page: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks of a page that shows them by other rules than those of plain text, if it does."""
    for block in blocks:
        yield replace(block, unread=f"{page} in the page may hide words or show others") if page else block


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
            self._text(_NOT_READ)
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
        if any(row.strip() if is_quote else row.strip().strip(_NOT_READ) for _, row in self.rows):
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


# Writes citations as HTML, BibTeX and CSL-JSON (SPEC 7, citations); as a line and as Markdown see `archive.cite`.


TEX: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "-": r"{-}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
"""How TeX writes characters that mean something to it, or that it sets as others (two hyphens as a dash)."""


_NOT_IN_KEY = re.compile(r"[^A-Za-z0-9:/.+-]+")


_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"


def to_html(citation: Citation) -> str:
    """The citation as HTML: a block quote with its source below it, in a figure."""
    quote = f'<blockquote cite="{escape(citation.url)}"><p>{_html(citation.quote)}</p></blockquote>\n'
    link = f'<a href="{escape(citation.url)}">{_html(citation.title)}</a>'
    when = f'<time datetime="{escape(citation.time)}">{_html(citation.time)}</time>' if citation.time else ""
    check = f"<code>{_html(citation.check)}</code>"
    parts = [_html(citation.speaker), link, f"<code>{_html(citation.ref)}</code>", when, check]
    line = f"<figcaption>— {', '.join(filter(None, parts))}</figcaption>"
    return f'<figure class="citation">\n{quote if citation.quote else ""}{line}\n</figure>\n'


def to_bibtex(citation: Citation) -> str:
    """The citation as an entry of BibTeX, for BibTeX, biber and Pandoc."""
    date = _DATE.match(citation.time)
    fields = {
        "author": f"{{{_tex(citation.speaker)}}}" if citation.speaker else "",
        "title": f"{{{_tex(citation.title)}}}",
        "year": date[1] if date else "",
        "month": _MONTHS.split()[int(date[2]) - 1] if date and 1 <= int(date[2]) <= 12 else "",
        "url": citation.url.replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D"),
        "note": _tex(_note(citation)),
        "abstract": _tex(citation.quote),
    }
    rows = [f"  {name} = {{{value}}}" for name, value in fields.items() if value and name != "month"]
    rows += [f"  month = {fields['month']}"] if fields["month"] else []
    return f"@misc{{{_key(citation)},\n" + ",\n".join(rows) + "\n}\n"


def to_csl_json(citation: Citation) -> str:
    """The citation as CSL-JSON, a list of one item, for Pandoc, Zotero and citeproc."""
    date = _DATE.match(citation.time)
    item: dict[str, object] = {"id": _key(citation), "type": "document", "title": _line(citation.title)}
    if citation.speaker:
        item["author"] = [{"literal": _line(citation.speaker)}]
    if date:
        item["issued"] = {"date-parts": [[int(part) for part in date.groups()]]}
    item["URL"] = citation.url
    item["note"] = _note(citation)
    if citation.quote:
        item["abstract"] = _line(citation.quote)
    return json.dumps([item], ensure_ascii=False, indent=2) + "\n"


def _note(citation: Citation) -> str:
    """What has no field elsewhere, in the form that `read_bibtex` and `read_csl_json` read."""
    return ", ".join(filter(None, (citation.ref, citation.time, citation.check)))


def _key(citation: Citation) -> str:
    return f"{_NOT_IN_KEY.sub('-', citation.ref).strip('-')}:{citation.sha256[:8]}"


def _tex(text: str) -> str:
    return "".join(TEX.get(char, char) for char in _line(text))


def _html(text: str) -> str:
    return escape(_line(text), quote=False)


def _line(text: str) -> str:
    return " ".join(text.split())


# Reads memosite's own citations back out of documents (SPEC 7, citations): Markdown, HTML, BibTeX, CSL-JSON, text.


MOST: Final = 1_000
"""The most citations that are read off one text."""


_MOST_WORDS: Final = 200
"""The most quotations that are judged by one citation."""


_MANY: Final = "more words are quoted beside it than are looked at"


_SHARED: Final = 4_000
"""The most characters of a block quote that several citations below it share."""


_SHA = re.compile(
    r"sha256:(?P<sha>[0-9a-f]{6,64})(?![0-9a-f])(?:,\s+commit\s+(?P<commit>[0-9a-f]{7,64}))?"
    r"(?:\s+\((?P<note>[^()]{1,200})\))?",
    re.IGNORECASE,
)


_REF = re.compile(r"(?<![\w/.-])(?:memo|note|transcript|library|record|document)/[^\s`,()<>\"]{1,400}", re.IGNORECASE)


_IN_TEXT = re.compile(rf"\({_REF.pattern}\)", re.IGNORECASE)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)")


_QUOTED = re.compile(r"“(.*)”\.\s", re.DOTALL)


_DASHED = re.compile(r"\s*(?:—|-{2,3}|–|―)\s+")
"""What is before who said it: converters write the dash in several ways."""


_PLACED = re.compile(
    r"(?<![\w/.#-])(?:memo|note|transcript|library|record|document)/\d{4}-\d\d-\d\d-\d{4}(?:--|–)[^\s`,()<>\"]{1,400}",
    re.IGNORECASE,
)
"""A reference that is told from a path of files: it may be all that a citation has."""


_STRESSED = re.compile(
    r"(?P<stars>\*{1,3})([^*]{1,4000})\*|(?<!\w)(?P<lines>_{1,3})([^_]{1,4000})_{1,3}(?!\w)|`([^`]{1,4000})`"
)


_SET = re.compile(r"-\d{4}–")


_STRESSED_WORDS: Final = 4
"""Emphasis and code of fewer words are no quotation."""


_ENTRY = re.compile(r"@\w+\s*\{\s*(?:([^,{}\s]+)\s*)?,")


_FIELD = re.compile(r"(?<![\w-])([\w-]+)\s*=\s*(?:(\{)|(\")|(\w+))")


_LETTERS: Final = {command: char for char, command in TEX.items()}


_COMMAND = re.compile("|".join(re.escape(command) for command in sorted(_LETTERS, key=len, reverse=True)) + r"|[{}]")


def read_markdown(text: str) -> tuple[Written, ...]:
    """The citations of a Markdown document, also those that are lines of plain text."""
    return tuple(_of_blocks(list(markdown_blocks(text)), is_markdown=True))


def read_plain(text: str) -> tuple[Written, ...]:
    """The citations of a plain text."""
    return tuple(_of_blocks(list(plain_blocks(text)), is_markdown=False))


def read_tex(text: str, entries: Mapping[str, Written] | None = None) -> tuple[Written, ...]:
    """The citations of a LaTeX document, those that it names by the entries of BibTeX among them."""
    return tuple(_of_blocks(list(tex_blocks(text, entries)), is_markdown=True))


def read_html(text: str) -> tuple[Written, ...]:
    """The citations of an HTML page."""
    return tuple(_of_blocks(list(html_blocks(text)), is_markdown=False))


def read_csl_json(text: str) -> tuple[Written, ...]:
    """The citations of a CSL-JSON file, a list of items or an object that holds one."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    items = data.get("items", [data]) if isinstance(data, dict) else data
    found: list[Written] = []
    lines = _Lines(text)
    for item in items if isinstance(items, list) else ():
        said = {key: value for key, value in item.items() if isinstance(value, str)} if isinstance(item, dict) else {}
        citation = next(_of_line(said.get("note", ""), 1), None)
        if citation:
            authors = item.get("author")
            author = authors[0] if isinstance(authors, list) and authors else {}
            speaker = author.get("literal", "") if isinstance(author, dict) else ""
            line, url, quote = lines.of(citation.sha256), said.get("URL", citation.url), said.get("abstract", "")
            found.append(replace(citation, line=line, url=url, quote=quote, speaker=str(speaker)))
    return tuple(found)


def read_bibtex(text: str) -> tuple[Written, ...]:
    """The citations of a BibTeX file."""
    return tuple(citation for _, citation in bibtex_entries(text))


def bibtex_entries(text: str) -> Iterator[tuple[str, Written]]:
    """The citations of a BibTeX file, each with the name of its entry."""
    entries = list(_ENTRY.finditer(text))
    lines = _Lines(text)
    for number, entry in enumerate(entries):
        end = entries[number + 1].start() if number + 1 < len(entries) else len(text)
        fields = _fields(text, entry.end(), end)
        citation = next(_of_line(_untex(fields.get("note", "")), 1), None)
        if citation:
            line, url = lines.of(citation.sha256, entry.end()), fields.get("url", citation.url)
            quote, speaker = _untex(fields.get("abstract", "")), _untex(fields.get("author", ""))
            yield entry[1] or "", replace(citation, line=line, url=url, quote=quote, speaker=speaker)


class _Lines:
    """Counts the lines of a text up to digests that are asked for in their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place, self._line = 0, 1

    def of(self, digest: str, start: int = 0) -> int:
        """The line of a digest behind the last one, and behind a place; where the last one was, if it is not there."""
        place = self._text.find(digest, max(start, self._place))
        if place >= 0:
            self._line += self._text.count("\n", self._place, place)
            self._place = place + 1
        return self._line


MARKDOWN_ENDINGS: Final = (".md", ".markdown", ".mkd", ".qmd", ".rmd")


HTML_ENDINGS: Final = (".html", ".htm", ".xhtml")


READERS: Final[Mapping[str, Callable[[str], tuple[Written, ...]]]] = {
    **dict.fromkeys(MARKDOWN_ENDINGS, read_markdown),
    **dict.fromkeys(HTML_ENDINGS, read_html),
    ".bib": read_bibtex,
    ".tex": read_tex,
    ".json": read_csl_json,
    ".txt": read_plain,
    ".docx": read_markdown,
}
"""How documents are read, by the ending of their names; `.docx` as Pandoc writes it."""


def named_in(text: str) -> list[str]:
    """The addresses and references in a text."""
    return [*links_in(text), *(_as_typed(match[0].rstrip(".;:!?]*_’”")) for match in _REF.finditer(text))]


def is_source(block: Block) -> bool:
    """Whether a paragraph of a block quote says where it is from, as converters write it."""
    return block.is_quote and _DASHED.match(block.text) is not None and bool(block.links or named_in(block.text))


def cited_in(text: str) -> tuple[Written, ...]:
    """The citations of a Markdown text, which few have; a digest without a reference or an address is none."""
    if not _SHA.search(text):
        return ()
    return tuple(citation for citation in read_markdown(text) if citation.names_passage)[:MOST]


@dataclass(slots=True)
class _Locator:
    """What names a passage in a block: from where to where, and the words that its paragraph quotes for it.

    `citation` is None of the name of a footnote, which has the citation.
    """

    start: int
    end: int
    citation: Written | None
    note: str = ""
    words: list[str] = field(default_factory=list)
    unread: str = ""


def _of_blocks(blocks: list[Block], *, is_markdown: bool) -> Iterator[Written]:
    cited = {block.note for block in blocks if block.note and (_SHA.search(block.text) or _PLACED.search(block.text))}
    by_block = [_locators(blocks, number, cited, is_markdown=is_markdown) for number in range(len(blocks))]
    noted: dict[str, list[str]] = {}
    unread: dict[str, str] = {}
    for locator in chain.from_iterable(by_block):
        if locator.citation is None:
            noted.setdefault(locator.note, []).extend(locator.words[:_MOST_WORDS])
            unread[locator.note] = unread.get(locator.note) or locator.unread
    for block, locators in zip(blocks, by_block, strict=True):
        for locator in locators:
            if locator.citation is None:
                continue
            words = [*locator.words, *noted.pop(block.note, ())] if block.note else locator.words
            words = list(dict.fromkeys(filter(word_count, words)))
            quote = locator.citation.quote or next(iter(words), "")
            if locator.citation.sha256 or quote or "#" in locator.citation.ref:
                others = tuple(one for one in words[:_MOST_WORDS] if one != quote)
                why = (
                    _MANY
                    if len(words) > _MOST_WORDS
                    else locator.unread or (unread.get(block.note, "") if block.note else "")
                )
                yield replace(locator.citation, quote=quote, others=others, unread=why if quote else "")


def _locators(blocks: list[Block], number: int, cited: Collection[str], *, is_markdown: bool) -> list[_Locator]:
    """The citations of a block in their order, and the footnotes with citations that it names."""
    block, text = blocks[number], blocks[number].text
    if not (_SHA.search(text) or _PLACED.search(text) or (cited and NOTED.search(text))):
        return []
    quoted = _quote_above(blocks, number)
    above = _one_line("\n\n".join(one.text for one in quoted), is_markdown=is_markdown)
    found, claimed, told = _with_digests(block, above, is_markdown=is_markdown)
    known = {locator.citation.ref for locator in found if locator.citation}
    quote = "" if found else above
    for match in _PLACED.finditer(text):
        ref = named_in(match[0])[0]
        is_below = _DASHED.match(text, block.starts[bisect_right(block.starts, match.start()) - 1]) is not None
        before = text[max(match.start() - 4, 0) : match.start()].rstrip("`*_")
        if not (is_below or (not block.is_quote and ("#" in ref or before.endswith(("(", "["))))):
            continue  # it is only named
        if ref not in known and not any(start <= match.start() < end for start, end in told[:_MOST_WORDS]):
            known.add(ref)
            words = quote if is_below else ""
            citation = Written(line=block.line_of(match.start()), ref=ref, url="", quote=words, sha256="")
            found.append(_Locator(match.start(), match.end(), citation))
    for match in NOTED.finditer(text) if cited else ():
        name = match[match.lastindex or 0]
        if name in cited and name != block.note:
            found.append(_Locator(match.start(), match.end(), None, name))
    if not found:
        return []
    found += (_Locator(at, at + 1, None) for at, char in enumerate(text) if char == _OTHER)
    found.sort(key=attrgetter("start"))
    _share_words(block, found, claimed, is_markdown=is_markdown)
    for locator in found:
        if locator.citation is None and not locator.words:
            locator.words.append(above)
    below = list(_rest_of_figure(blocks, number)) if block.is_quote else blocks[number + 1 : number + 2]
    if block.is_quote or (not above and text.rstrip().endswith(":") and below and below[0].is_quote):
        found[-1].words.extend(_one_line(one.text, is_markdown=is_markdown) for one in below)
    why = next(filter(None, (one.unread for one in (block, *quoted, *below))), "")
    return [replace(locator, unread=why) for locator in found]


def _with_digests(block: Block, quote: str, *, is_markdown: bool) -> tuple[list[_Locator], list[Span], list[Span]]:
    """The citations of a block that have a digest, with the quote above it or in it.

    With them, what was read as their words, and what says where these are from: a title may look like a reference.
    """
    text, rows = block.text, block.text.split("\n")
    found: list[_Locator] = []
    claimed: list[Span] = []
    told: list[Span] = []
    done = last = 0  # the rows that are read, and where the citation before ends
    for match in _SHA.finditer(text):
        row = bisect_right(block.starts, match.start()) - 1
        begin = max(block.starts[_first_row(rows, row, min(done, row))], last)
        before = text[begin : match.start()]
        if block.is_quote and text[last:begin].strip():
            quote = _one_line(text[last:begin], is_markdown=is_markdown)
            claimed.append((last, begin))
        citation = _citation_of(before, match, block.lines[row])
        speaker = citation.speaker or _speaker_before_link(block)
        citation = replace(citation, url=citation.url or next(iter(block.links), ""), speaker=speaker, quote=quote)
        if not quote and (inside := _QUOTED.search(before)):
            said = " ".join(before[: inside.start()].split())
            said = said.removesuffix(":") if said.endswith(":") and _IN_TEXT.search(before, inside.end()) else ""
            citation = replace(citation, quote=" ".join(inside[1].split()), speaker=said)
            claimed.append((begin + inside.start(), begin + inside.end()))
            told.append((begin + inside.end(), match.end()))
        elif _DASHED.match(before):
            told.append((begin, match.end()))
        refs = list(_REF.finditer(before))
        found.append(_Locator(begin + refs[-1].start() if refs else match.start(), match.end(), citation))
        quote = quote if len(quote) <= _SHARED else ""
        done, last = row + 1, match.end()
    return found, claimed, told


def _rest_of_figure(blocks: list[Block], number: int) -> Iterator[Block]:
    """What a block quote of HTML holds behind its last citation."""
    end = number + 1
    while end < len(blocks) and blocks[end].is_quote and blocks[end].figure == blocks[number].figure > 0:
        if _SHA.search(blocks[end].text) or _PLACED.search(blocks[end].text):
            return
        end += 1
    yield from blocks[number + 1 : end]


def _share_words(block: Block, found: list[_Locator], claimed: Sequence[Span], *, is_markdown: bool) -> None:
    """Give the words that a block quotes to its citations, in order.

    Words are before their citation; if the first citation has none before it, they are behind.
    """
    rows = _quoted_in(block, claimed, found)
    is_behind = not rows or rows[0][0] > found[0].start
    ends = [locator.end for locator in found]
    for start, end in rows:
        at = bisect_right(ends, start) - is_behind
        locator = found[min(max(at, 0), len(found) - 1)]
        after = bisect_right(ends, start)
        stop = found[after].start if after < len(found) else end  # an open quotation ends there
        words = NOTED.sub("", block.text[start : min(end, stop) if stop > start else end])
        words = words.replace(OPEN, "“").replace(CLOSE, "”").strip().rstrip(",;.:([` ")
        locator.words.append(_one_line(words, is_markdown=is_markdown))


def _quoted_in(block: Block, claimed: Sequence[Span], found: Sequence[_Locator]) -> list[Span]:
    """The words that a block quotes, in order; of a block quote, what stands behind its last citation, too."""
    pieces: list[str] = []
    done = 0
    for start, end in claimed:
        pieces += (block.text[done:start], " " * (end - start))
        done = end
    text = "".join((*pieces, block.text[done:]))
    spans = [(start, end) for _, start, end in quoted_spans(text)]
    begins = [start for start, _ in spans]
    written = ((*match.span(match.lastindex or 0), match["stars"] == "**" or match["lines"] == "__")
               for match in _STRESSED.finditer(text))  # fmt: skip
    strong: list[Span] = []
    for start, end, is_strong in sorted((*block.marked, *written)):
        at = bisect_right(begins, start) - 1
        is_within = at >= 0 and start < spans[at][1]
        said = text[start:end]
        if not is_within and word_count(said) >= _STRESSED_WORDS and not (_SHA.search(said) or _REF.search(said)):
            (strong if is_strong else spans).append((start, end))
    spans = spans or strong  # what is bold may be a heading
    if block.is_quote:
        if all(locator.citation is None for locator in found):
            return [(0, found[-1].start)]
        rest = text.find("\n", found[-1].end)
        if rest >= 0 and word_count(text[rest:]):
            spans = [span for span in spans if span[0] < rest] + [(rest, len(text))]
    return sorted(spans)


def _quote_above(blocks: list[Block], number: int) -> list[Block]:
    """The block quote above a citation, all of its paragraphs, unless it has its own citation."""
    first = number
    figure = blocks[number].figure if blocks[number].is_quote else 0
    least = 0 if _SHA.search(blocks[number].text) else number - _MOST_WORDS  # others do not end the quote of the next
    while first > max(least, 0) and blocks[first - 1].is_quote and not _SHA.search(blocks[first - 1].text):
        is_same = blocks[first - 1].figure == blocks[first].figure > 0
        if not is_same and (first < number or (figure and not _DASHED.match(blocks[number].text))):
            break
        first -= 1
    return blocks[first:number]


def _first_row(rows: Sequence[str], last: int, done: int) -> int:
    """The row on which the citation begins that has its digest on `last`: editors wrap lines. Others are `done`."""
    begins = [number for number in range(done, last + 1) if _DASHED.match(rows[number])]
    after_blank = [number for number in begins if number == done or not rows[number - 1].strip()]
    if begins:
        return (after_blank or begins)[-1]
    row = _SHA.split(rows[last], maxsplit=1)[0]
    near = " ".join((*rows[max(done, last - 3) : last], row))
    is_text = "”" in row or _IN_TEXT.search(near)  # as plain text, in which the words come first
    is_whole = "“" in row or not is_text
    return last if is_whole and (_REF.search(row) or links_in(row)) else done


def _speaker_before_link(block: Block) -> str:
    """Whom HTML names below a quote: `— engineer, <a href=…>`."""
    lead = " ".join(block.lead.split()).replace("\ufffc", "").strip()
    dash = _DASHED.match(lead)
    return lead[dash.end() :].removesuffix(",") if dash and len(block.links) == 1 else ""


def _one_line(quote: str, *, is_markdown: bool) -> str:
    """A block quote as it is read."""
    return " ".join((_unmarked(with_images(quote)) if is_markdown else quote).split())


def _citation_of(before: str, match: re.Match[str], line: int) -> Written:
    """The citation that has a digest; `before` is what stands before it."""
    before = " ".join(before.split())
    refs, times, urls = list(_REF.finditer(before)), _TIME.findall(before), links_in(before)
    dash = _DASHED.match(before)
    return Written(
        line=line,
        ref=_as_typed(refs[-1][0]) if refs else "",
        url=urls[-1] if urls else "",
        quote="",
        sha256=match["sha"].lower(),
        speaker=_unmarked(before[dash.end() :].partition(", [")[0]) if dash and ", [" in before else "",
        time=times[-1] if times else "",
        commit=match["commit"] or "",
        note=" ".join((match["note"] or "").split()),
    )


def _as_typed(ref: str) -> str:
    """A reference with two hyphens after its time where a converter set a dash."""
    return ref.replace("–", "--") if _SET.search(ref) else ref


def _of_line(row: str, line: int) -> Iterator[Written]:
    """The citations of a line that quotes nothing, by their digests."""
    done = 0
    for match in _SHA.finditer(row):
        yield _citation_of(row[done : match.start()], match, line)
        done = match.end()


def _unmarked(text: str) -> str:
    return edited(Reading(text), find_marks(text, keeps_numbers=True)).text


def _fields(text: str, start: int, end: int) -> dict[str, str]:
    """The fields of an entry of BibTeX, their values as written."""
    found: dict[str, str] = {}
    place = start
    while match := _FIELD.search(text, place, end):
        if match[4]:
            value, place = match[4], match.end()
        else:
            stop = _value_end(text, match.end(), end, '"' if match[3] else "}")
            value, place = text[match.end() : stop], stop + 1
        found.setdefault(match[1].lower(), value)
    return found


def _value_end(text: str, place: int, end: int, closing: str) -> int:
    """Where a value in braces or quotation marks ends."""
    depth = 0
    while place < end:
        char = text[place]
        if char == "\\":
            place += 1
        elif char == closing and not depth:
            return place
        elif char in "{}":
            depth += 1 if char == "{" else -1
        place += 1
    return end


def _untex(text: str) -> str:
    return " ".join(_COMMAND.sub(lambda match: _LETTERS.get(match[0], ""), text).split())
