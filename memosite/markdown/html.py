"""Turns the Markdown of a body, which is untrusted, into safe HTML, and what a person typed, character for character.

The HTML holds only the elements and attributes that this module writes itself: raw HTML is shown as text, nothing is
loaded from elsewhere, and a link leads to where the caller says, to http, https or mailto, or nowhere (SPEC 4).
A body beyond the bounds of `memosite.markdown.tokens` is shown as it is, in `<pre class="verbatim">`, and has no
headings.

Of what a person typed, code between fences and links are recognised, nothing else: the words of the HTML are the text
itself. It is for a `<pre>`, and must keep its line ends there. The same text read as Markdown has passages with
anchors. Earlier versions published those, so they stay as targets: `passage_anchors` says on which line each begins.

Pygments reads the code in both, of the languages listed here alone and no more than `MAX_CHARS` of it: most of its
lexers take quadratic time on some text, and the one for C takes 14 s for 10,000 slashes. The listed ones were measured
on sixty kinds of repeated text, and took less than 0.8 s. Of its eighty classes of tokens seven are kept, so that pages
stay small and a theme has few colours to choose.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from html import escape, unescape
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import unquote

from markdown_it.token import Token
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from memosite.facts.patterns import regex
from memosite.facts.texts import URL, WORD, without_punctuation
from memosite.markdown.naming import inline_text, joined_words
from memosite.markdown.quick import QuickToken, parts_written
from memosite.markdown.tokens import LANGUAGE, BodyTokens, printable_text, read_body, said_of_code

# Defines images that a text may show.


class Image(NamedTuple):
    """An image that may be shown: a trusted `src` and its size in pixels; or why it is not."""

    src: str
    width: int
    height: int
    why_not: str = ""

    def tag(self, words: str, title: str) -> str:
        """Its HTML. The size keeps its place on the page until it is loaded."""
        said = f' title="{escape(title)}"' if title else ""
        size = f'width="{self.width}" height="{self.height}"'
        return f'<img src="{escape(self.src)}" alt="{escape(words)}" {size} loading="lazy"{said}>'


NO_IMAGES: Mapping[str, Image] = MappingProxyType({})


# Highlights the syntax of code, for a style sheet to colour: keywords, names, strings, numbers, comments.


_Kind = Any  # of a token, such as `Name.Function`: Pygments has no public class for them


MAX_CHARS: Final = 5_000
"""The longest code that is marked, in characters."""


_NAMES: Final = """
bash sh shell zsh · css · go · html · javascript js · json jsonc jsonl openthing · python py python3 · ruby rb ·
rust rs · sql · toml · typescript ts · xml svg · yaml yml
"""


_LEXERS: Final = MappingProxyType({name: names.split()[0] for names in _NAMES.split("·") for name in names.split()})
"""Language names as written after a fence, and the lexer of each. Mermaid and the rest are not highlighted."""


_CLASSES: Final = (
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "n"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Tag, "f"),
    (Name.Attribute, "n"),
)


_DIFFS: Final = frozenset({"diff", "patch"})


_SIGNS: Final = (("+++", ""), ("---", ""), ("+", "ins"), ("-", "del"), ("@@", "c"))


@lru_cache(maxsize=256)  # tools repeat themselves, and a thread shows what its memos show
def highlight(code: str, language: str) -> str | None:
    """The code as HTML with `<span class="hl-…">` around what is marked; None if its language is not known.

    Never raises, and never changes a character of the code: where the lexer would, the answer is None, too.
    """
    language = language.lower()
    if language in _DIFFS and len(code) <= MAX_CHARS:
        return "".join(map(_line_of_diff, code.splitlines(keepends=True)))
    name = _LEXERS.get(language)
    if name is None or len(code) > MAX_CHARS:
        return None
    try:
        tokens = list(_lexer(name).get_tokens(code))
    except Exception:  # third-party code on untrusted text: one block must not stop a build
        return None
    if "".join(text for _, text in tokens) != code:
        return None
    return _written(tokens)


def _line_of_diff(line: str) -> str:
    """A line of a difference; Pygments takes quadratic time on long ones."""
    return _span(line, next((class_ for sign, class_ in _SIGNS if line.startswith(sign)), ""))


def _written(tokens: Iterable[tuple[_Kind, str]]) -> str:
    out: list[str] = []
    pending, waiting = "", ""  # neighbours of one class share a span
    for kind, text in tokens:
        class_ = _class_of(kind) if text.strip() else waiting
        if class_ != waiting:
            out.append(_span(pending, waiting))
            pending, waiting = "", class_
        pending += text
    return "".join([*out, _span(pending, waiting)])


def _span(text: str, class_: str) -> str:
    shown = escape(text, quote=False)
    return f'<span class="hl-{class_}">{shown}</span>' if class_ and text else shown


@cache
def _class_of(kind: _Kind) -> str:
    return next((class_ for known, class_ in _CLASSES if kind in known), "")


@cache
def _lexer(name: str) -> Lexer:
    lexer: Lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    return lexer


MAX_MARKED: Final = 40_000
"""The most characters of code in one body that are highlighted: it takes longer than all the rest."""


_MAX_SHOWN = 300  # characters of a destination in a tooltip; `data:` URLs may hold a megabyte


_FEW = 64  # keys that are found faster one by one than by splitting the text into names


_SPACE = regex(r"\s")


_WRITTEN_LINK = regex(r'\[[^\[\]\n]{0,300}\]\((?P<to>[^()\s<>]{1,1000})(?: "[^"\n]{0,300}")?\)')


_LONGEST_URL, _LONGEST_TITLE = 2_000, 500  # what all browsers follow, and what fits a tooltip


_EXTERNAL = regex(r"https?://[^\s/?#\\]|mailto:\S", re.IGNORECASE)


# A key that holds a character that is in no word is searched for as it is.
_RUN = rf"(?:[{WORD}.-]|:(?=[/\\]))+"


_BARE_URL = regex(URL)


_MENTION = regex(rf"{URL}|{_RUN}")


_CALLOUT = regex(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*", re.IGNORECASE)


_FOLDING = regex(r"<summary>(?P<said>[^<>]*)</summary>|</?(?:details|summary)(?: open)?>")


_TAGS: Final = {"p", "blockquote", "ul", "ol", "li", "hr", "table", "thead", "tbody", "tr", "th", "td"}


_NO_NEWLINE: Final = {"paragraph_open", "list_item_open", "th_open", "th_close", "td_open", "td_close"}


_INLINE_TAGS: Final = {"em", "strong", "s"}


_TABLE: Final = '<div class="scroll" tabindex="0" role="group" aria-label="Table">\n'


class _Highlighter:
    """Writes the code of one body, and marks what is in it up to `MAX_MARKED` characters."""

    def __init__(self) -> None:
        self._marked = 0  # characters that were highlighted

    def html(self, code: str, language: str) -> str:
        found = highlight(code, language) if language and self._marked < MAX_MARKED else None
        self._marked += len(code) if found else 0
        return found or escape(code, quote=False)


def to_html(
    text: str,
    *,
    links: Mapping[str, str],
    images: Mapping[str, Image] = NO_IMAGES,
    prefix: str = "",
    base_level: int = 2,
    with_passages: bool = False,
) -> str:
    """Return the HTML of a body, well-formed and safe to put into a page as it is; never raises on any text.

    `links` maps what is written to an href that is trusted. A key is either the destination of a Markdown link
    as written, or what is mentioned in running text and code spans: a file name, an id, a path. Give the links of
    this body, not of the whole archive: the work is linear in both.
    `images` are the images by the destinations that are written; of others only the words are shown.
    `prefix` is put before every id; a page that holds several bodies, or ids of its own, needs one.
    Headings are `base_level` (1 to 6) and deeper, down to h6; no level is skipped, whatever is written.
    `with_passages` gives paragraphs, items of lists and code their anchors (SPEC 7), as headings always have.
    """
    body = read_body(text)
    if body.tokens is None:
        return f'<pre class="verbatim" tabindex="0">{escape(body.source, quote=False)}</pre>\n'
    writer = _Writer(body, links, prefix, base_level, images=images, with_passages=with_passages)
    for token in body.tokens:
        writer.block(token)
    return "".join(writer.out)


class Linker:
    """Links what a text mentions that is no Markdown, with nothing of it left out; `links` is as for `to_html`."""

    def __init__(self, links: Mapping[str, str]) -> None:
        self._writer = _Writer(BodyTokens(source="", tokens=()), links, "", 1, with_passages=False)

    def linked(self, text: str) -> str:
        """The HTML of a text: mentions, bare URLs, and `[label](destination)` as it is written."""
        self._writer.out.clear()
        end = 0
        for match in _WRITTEN_LINK.finditer(text):
            if opening := self._writer.opening(match["to"]):
                self._writer.text(text[end : match.start()])
                self._writer.out += (opening, escape(match[0], quote=False), "</a>")
                end = match.end()
        self._writer.text(text[end:])
        return "".join(self._writer.out)


class _Writer:
    """Writes the tokens of one body as HTML into `out`."""

    def __init__(
        self,
        body: BodyTokens,
        links: Mapping[str, str],
        prefix: str,
        base_level: int,
        *,
        images: Mapping[str, Image] = NO_IMAGES,
        with_passages: bool,
    ) -> None:
        self.with_passages = with_passages
        self.highlighter = _Highlighter()
        self.referred: set[int] = set()  # footnotes with a reference to link back to
        self.out: list[str] = []
        self.links = links
        self.images = images
        self.mention = _mention_pattern(links) if links else None
        self.prefix, self.escaped = prefix, escape(prefix)  # anchors need no escaping
        self.base_level = min(max(base_level, 1), 6)
        self.above: list[int] = []  # the levels as written of the last heading and of those that it is below
        # People write fragments by the rules of other sites; compared by letters and digits alone, most agree.
        self.anchors = {joined_words(found.text, ""): found.anchor for found in reversed(body.headings)}
        self.anchors |= {found.anchor: found.anchor for found in body.headings}
        self.anchor = ""
        self.closing: list[str] = []
        self.in_link = False
        self.is_callout = False  # whether what comes next may say that its quotation is a callout

    def block(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._spans(token)
        elif kind == "block" and token.tag != "p":
            self._begin_heading(token)
            self._spans(token)
            self._end_heading()
        elif kind == "block" and not token.hidden:
            self.out.append(f"<p{self._attributes(token)}>")
            self._spans(token)
            self.out.append("</p>\n")
        elif token.hidden:  # a comment; a paragraph of a tight list, named where it follows a heading or a quote
            if "anchor" in token.meta and (self.with_passages or kind == "heading_open"):
                self.out.append(f'<span id="{self.escaped}{token.meta["anchor"]}"></span>')
            if kind == "block":
                self._spans(token)
        elif token.tag in _TAGS:
            self.is_callout = kind == "blockquote_open" or (kind == "paragraph_open" and self.is_callout)
            before = _TABLE if kind == "table_open" else ""
            after = "\n</div>\n" if kind == "table_close" else "" if kind in _NO_NEWLINE else "\n"
            slash = "/" if token.nesting < 0 else ""
            attributes = self._attributes(token) if token.nesting > 0 else ""
            self.out.append(f"{before}<{slash}{token.tag}{attributes}>{after}")
        elif kind == "heading_open":
            self._begin_heading(token)
        elif kind == "heading_close":
            self._end_heading()
        elif kind in ("fence", "code_block"):
            self._code(token)
        elif kind.startswith("footnote"):
            self._footnote(token)

    def _begin_heading(self, token: Token) -> None:
        self.anchor = f"{self.escaped}{token.meta['anchor']}"
        self._enter(int(token.tag[1]))
        self.out.append(f'<h{self._level} id="{self.anchor}">')

    def _end_heading(self) -> None:
        link = f'<a class="anchor" href="#{self.anchor}" aria-label="Link to this section">#</a>'
        self.out.append(f" {link}</h{self._level}>\n")

    def _spans(self, token: Token) -> None:
        """Write what a block holds."""
        if token.info:
            self.is_callout = False
            self._written(token.info)
        else:
            for child in self._without_callout(token.children or []):
                self.inline(child)

    def _without_callout(self, children: list[Token]) -> list[Token]:
        """What is in a paragraph; that it begins a callout, as forges know it, is written here as its name."""
        is_first, self.is_callout = self.is_callout, False
        name = _CALLOUT.fullmatch(children[0].content) if is_first and children and children[0].type == "text" else None
        if name is None or any(child.type not in ("softbreak", "hardbreak") for child in children[1:2]):
            return children
        self.out.append(f'<strong class="callout">{name[1]}</strong>' + ("<br>\n" if children[1:] else ""))
        return children[2:]

    def _code(self, token: Token) -> None:
        language = LANGUAGE.match(token.info)
        name = language[1] if language else ""
        code = f'<code class="language-{name}">' if name else "<code>"
        text = self.highlighter.html(token.content, name)
        if said := said_of_code(token):
            self.out.append(f'<p class="fence">{escape(said, quote=False)}</p>\n')
        self.out.append(f'<pre{self._attributes(token)} tabindex="0">{code}{text}</code></pre>\n')

    def _footnote(self, token: Token) -> None:
        """Write the border of a footnote's text, or of all of them; the way back leads to the first reference."""
        number = token.meta.get("number", 0)
        prefix = self.escaped
        if token.type == "footnotes_open":
            self.out.append('<div class="footnotes">\n<ol>\n')
        elif token.type == "footnotes_close":
            self.out.append("</ol>\n</div>\n")
        elif token.type == "footnote_text_open":
            self.out.append(f'<span id="{prefix}fn.{number}"></span>\n')
        elif token.type == "footnote_open":
            self.out.append(f'<li id="{prefix}fn.{number}" value="{number}">\n')
        elif token.type == "footnote_close" and number in self.referred:
            back = f'<a class="anchor" href="#{prefix}fnref.{number}" aria-label="Back to the text">↩</a>'
            self.out.append(f"{back}</li>\n")
        elif token.type == "footnote_close":
            self.out.append("</li>\n")

    def _enter(self, level: int) -> None:
        """Go on below the last heading of a lower level."""
        while self.above and self.above[-1] >= level:
            self.above.pop()
        self.above.append(level)

    @property
    def _level(self) -> int:
        return min(self.base_level + len(self.above) - 1, 6)

    def _attributes(self, token: Token) -> str:
        is_named = self.with_passages and "anchor" in token.meta
        written = f' id="{self.escaped}{token.meta["anchor"]}"' if is_named else ""
        if "start" in token.attrs:
            written += f' start="{int(token.attrs["start"])}"'
        if "style" in token.attrs:  # of a table's cell: the parser knows left, center and right
            written += f' class="align-{escape(str(token.attrs["style"]).removeprefix("text-align:"))}"'
        return written

    def inline(self, token: Token) -> None:
        kind = token.type
        if kind == "text":
            self._foldable(token.content)
        elif token.tag in _INLINE_TAGS:
            self.out.append(f"</{token.tag}>" if token.nesting < 0 else f"<{token.tag}>")
        elif kind in ("softbreak", "hardbreak"):
            self.out.append("\n" if kind == "softbreak" else "<br>\n")
        elif kind == "code_inline":
            self.out.append("<code>")
            self.text(token.content, urls=False)
            self.out.append("</code>")
        elif kind == "link_open":
            self._begin_link(token)
        elif kind == "link_close":
            self._end_link()
        elif kind == "image":
            self._image(token)
        elif kind == "footnote_ref":
            self._reference(token)
        else:
            self.out.append(escape(token.content, quote=False))

    def _begin_link(self, token: Token) -> None:
        opening, closing = self._link(token, "href")
        self.out.append(opening)
        self.closing.append(closing)
        self.in_link = "</a>" in self.closing

    def _end_link(self) -> None:
        self.out.append(self.closing.pop())
        self.in_link = "</a>" in self.closing

    def _written(self, html: str) -> None:
        """Write spans whose HTML is known, with its links, bare URLs and what is mentioned as links of this page."""
        if "<a" not in html and "://" not in html and not self._may_mention(unescape(html)):
            self.out.append(html)
            return
        is_code = False
        for part in parts_written(html):
            if part["text"]:
                self.text(unescape(part["text"]), urls=not is_code)
            elif part["to"] is not None:
                self._begin_link(QuickToken("link_open", attrs={"href": part["to"]}))
            elif part["tag"] == "/a":
                self._end_link()
            else:
                is_code = part["tag"] == "code"
                self.out.append(part[0])

    def _may_mention(self, text: str) -> bool:
        return self.mention is not None and (len(self.links) > _FEW or any(map(text.__contains__, self.links)))

    def _foldable(self, text: str) -> None:
        """Write running text; tags of HTML that folds a text are quiet, and what they call it stands out."""
        end = 0
        for match in _FOLDING.finditer(text) if "<" in text else ():
            self.text(text[end : match.start()])
            said = match["said"]
            tags = [match[0]] if said is None else ["<summary>", "</summary>"]
            opening, *closing = (f'<span class="tag">{escape(tag, quote=False)}</span>' for tag in tags)
            self.out.append(opening)
            if said is not None:
                self.out.append("<strong>")
                self.text(said)
                self.out += ("</strong>", *closing)
            end = match.end()
        self.text(text[end:])

    def _reference(self, token: Token) -> None:
        """Write a reference to a footnote; the first one of each is the target of the link back."""
        number = token.meta["number"]
        prefix = self.escaped
        written = "" if number in self.referred else f' id="{prefix}fnref.{number}"'
        self.referred.add(number)
        label = escape(token.content, quote=False)
        link = label if self.in_link else f'<a href="#{prefix}fn.{number}">{label}</a>'
        self.out.append(f'<sup class="footnote-ref"{written}>{link}</sup>')

    def _image(self, token: Token) -> None:
        """Write an image of the text's own repo; of another its words, and why it is not shown."""
        written, words = str(token.attrs["src"]), inline_text(token)
        image = self.images.get(written)
        if image is None or image.why_not:
            opening, closing = self._link(token, "src")
            label = escape(words or _shown(written), quote=False)
            why = f' <span class="why">({escape(image.why_not, quote=False)})</span>' if image else ""
            self.out += (opening, "image: ", label, closing, why)
            return
        self.out.append(image.tag(words, str(token.attrs.get("title", ""))[:_LONGEST_TITLE]))

    def _link(self, token: Token, attribute: str) -> tuple[str, str]:
        """Return the tags around a label: of a link, or of text with a tooltip if it leads nowhere."""
        title = f' title="{escape(str(token.attrs["title"])[:_LONGEST_TITLE])}"' if "title" in token.attrs else ""
        if self.in_link:  # an image or a URL within the label of a link
            return (f"<span{title}>", "</span>") if title else ("", "")
        written = str(token.attrs[attribute])
        # Many links may share one destination: a text would grow by their product.
        if len(written) <= _LONGEST_URL and (opening := self.opening(written, title)):
            return opening, "</a>"
        title = f"{_shown(written)} {str(token.attrs.get('title', ''))[:_LONGEST_TITLE]}".rstrip()
        return f'<span class="path" title="{escape(title)}">', "</span>"

    def opening(self, written: str, title: str = "") -> str | None:
        """The tag that opens a link to a destination; None if that leads nowhere."""
        href = self._href(written)
        if href is not None:
            return f'<a href="{escape(href)}"{title}>'
        return _external_tag(written, title) if _EXTERNAL.match(written) else None

    def _href(self, written: str) -> str | None:
        for name in (written, unquote(written)):
            href = self._target(name)
            if href is not None:
                return href
            path, _, fragment = name.partition("#")
            if fragment and not path:
                anchor = self.anchors.get(fragment) or self.anchors.get(joined_words(fragment, ""))
                if anchor:
                    return f"#{self.prefix}{anchor}"
        return None

    def _target(self, name: str) -> str | None:
        """The trusted href of a name, with the name's fragment if it has none of its own."""
        if name in self.links:
            return self.links[name]
        path, _, fragment = name.partition("#")
        if not fragment or path not in self.links:
            return None
        href = self.links[path]
        return href if "#" in href else f"{href}#{_SPACE.sub('%20', fragment)}"

    def text(self, text: str, *, urls: bool = True) -> None:
        """Write `text` escaped, with what it mentions, and bare URLs if wanted, as links."""
        end = 0
        pattern = _BARE_URL if "://" in text else None
        if self._may_mention(text):
            pattern = self.mention
        if pattern and not self.in_link:
            for match in pattern.finditer(text):
                for name in _names(match[0]):
                    href = self._target(name)
                    if href is not None:
                        tag = f'<a class="mention" href="{escape(href)}">'
                    elif urls and match[0][0] in "hH" and _EXTERNAL.match(name):
                        tag = _external_tag(name)
                    else:
                        continue
                    start = match.start() + match[0].index(name)
                    self.out += (escape(text[end:start], quote=False), tag, escape(name, quote=False), "</a>")
                    end = start + len(name)
                    break
        self.out.append(escape(text[end:], quote=False))


def _mention_pattern(keys: Iterable[str]) -> re.Pattern[str]:
    """Return what finds URLs, runs of path characters and, longest first, the keys that are neither."""
    odd = sorted((key for key in keys if key and not _MENTION.fullmatch(key)), key=lambda key: (-len(key), key))
    if not odd:
        return _MENTION
    keys_as_they_are = "|".join(map(re.escape, odd))
    return re.compile(rf"(?<![{WORD}.-])(?:{keys_as_they_are})(?![.-]*[{WORD}])|{_MENTION.pattern}")


def _names(found: str) -> Iterator[str]:
    """Yield what of a match may be a mention or a URL: without what ends a sentence, without `@` of a chat."""
    if _BARE_URL.match(found):
        yield without_punctuation(found)
    else:
        yield found
        yield found.lstrip("@").rstrip(".-")


def _external_tag(url: str, title: str = "") -> str:
    return f'<a href="{escape(_SPACE.sub("%20", url))}" rel="noopener noreferrer nofollow"{title}>'


def _shown(destination: str) -> str:
    return destination if len(destination) <= _MAX_SHOWN else destination[:_MAX_SHOWN] + "…"


# Writes what a person typed as HTML, character for character (SPEC 4).


MAX_HTML: Final = 800_000
"""The most HTML of one text with links, anchors and code; what takes more, such as short URLs, has none of them."""


_OPENING = regex(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*([A-Za-z0-9_+#.-]{0,40})")


_CLOSING = regex(r" {0,3}(`{3,}|~{3,})[ \t]*")


_Range: TypeAlias = tuple[int, int]


def fences(lines: Sequence[str]) -> list[_Range]:
    """The lines of fenced code, with those of the fences, as half-open ranges; a fence never closed is none."""
    ends = _ends_of_fences(lines)
    found: list[_Range] = []
    for start in sorted(ends):
        if not found or start >= found[-1][1]:
            found.append((start, ends[start]))
    return found


def to_typed_html(
    lines: Sequence[str], *, links: Mapping[str, str], targets: Mapping[int, Sequence[str]], is_end: bool = True
) -> str:
    """Return the HTML of some lines, safe to put into a `<pre>` as it is; never raises on any text.

    `links` is as for `to_html`; `targets` are ids by the number of the line that they lead to. If it is not the end
    of the text, the last line has its line end, too.
    """
    clean = [printable_text(line) for line in lines]
    ends = ["\n"] * (len(clean) - 1) + ["" if is_end else "\n"]
    writer = _TypedWriter(Linker(links), targets)
    position = 0
    for start, end in [*fences(clean), (len(clean), len(clean))]:
        for number in range(position, start):
            writer.line(number, clean[number], ends[number])
        if start < end:
            writer.code(start, [line + after for line, after in zip(clean[start:end], ends[start:end], strict=True)])
        position = end
    html = "".join(writer.out)
    if len(html) > MAX_HTML:  # all characters matter more than links and anchors
        return escape("".join(map("".join, zip(clean, ends, strict=True))), quote=False)
    return html


def passage_anchors(text: str) -> Iterator[tuple[int, str]]:
    """The anchors that this text has as Markdown, each with the line that it is on, counted from 0."""
    line = 0
    referred: set[int] = set()
    tokens = read_body(text).tokens or ()
    for index, token in enumerate(tokens):
        line = token.map[0] if token.map else line
        if "anchor" in token.meta:
            yield line, token.meta["anchor"]
        elif token.type in {"footnote_open", "footnote_text_open"}:
            text_of_note = next((behind.map[0] for behind in tokens[index + 1 :] if behind.map), line)
            yield text_of_note, f"fn.{token.meta['number']}"
        for child in token.children or ():
            if child.type == "footnote_ref" and child.meta["number"] not in referred:
                referred.add(child.meta["number"])
                yield line, f"fnref.{child.meta['number']}"


class _TypedWriter:
    """Writes lines and code into `out`."""

    def __init__(self, linker: Linker, targets: Mapping[int, Sequence[str]]) -> None:
        self.out: list[str] = []
        self._linker = linker
        self._targets = targets
        self._highlighter = _Highlighter()

    def line(self, number: int, line: str, end: str) -> None:
        """Write a line of text and its line end; a target is the line itself, so that a browser can mark it."""
        *others, last = ("", *self._targets.get(number, ()))
        self.out += (f'<span id="{escape(id_)}"></span>' for id_ in others if id_)
        written = self._linker.linked(line)
        self.out += (f'<span id="{escape(last)}">{written}</span>' if last else written, end)

    def code(self, number: int, lines: Sequence[str]) -> None:
        """Write fenced code, in quiet the two fences."""
        ids = chain.from_iterable(self._targets.get(at, ()) for at in range(number, number + len(lines)))
        self.out += (f'<span id="{escape(id_)}"></span>' for id_ in ids)
        opening = _OPENING.match(lines[0])
        language = opening[2] if opening else ""
        code = self._highlighter.html("".join(lines[1:-1]), language)
        name = f' class="language-{language}"' if language else ""
        first, last = (f'<span class="fence">{escape(line, quote=False)}</span>' for line in (lines[0], lines[-1]))
        self.out += (f"<code{name}>", first, code, last, "</code>")


def _ends_of_fences(lines: Sequence[str]) -> dict[int, int]:
    """For each line that opens a fence, if nothing before does, the line after the one that closes it."""
    ends: dict[int, int] = {}
    # How much less long, and the line; the nearest last, without longer ones behind.
    closings: dict[str, list[_Range]] = {"`": [], "~": []}
    for number in range(len(lines) - 1, -1, -1):
        if opening := _OPENING.match(lines[number]):
            below = closings[opening[1][0]]
            nearest = bisect_right(below, (-len(opening[1]), len(lines)))
            if nearest:
                ends[number] = below[nearest - 1][1] + 1
        if closing := _CLOSING.fullmatch(lines[number]):
            below = closings[closing[1][0]]
            while below and below[-1][0] >= -len(closing[1]):
                below.pop()
            below.append((-len(closing[1]), number))
    return ends
