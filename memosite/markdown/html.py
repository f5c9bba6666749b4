"""Turns the Markdown of a body, which is untrusted, into safe HTML.

The HTML holds only the elements and attributes that this module writes itself: raw HTML is shown as text, nothing is
loaded from elsewhere, and a link leads to where the caller says, to http, https or mailto, or nowhere (SPEC 4).
A body beyond the bounds of `memosite.markdown.tokens` is shown as it is, in `<pre class="verbatim">`, and has no
headings.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Final
from urllib.parse import unquote

from markdown_it.token import Token

from memosite.facts.bare_paths import WORD
from memosite.facts.urls import URL, without_punctuation
from memosite.markdown.highlight import highlight
from memosite.markdown.images import NO_IMAGES, Image
from memosite.markdown.naming import inline_text, joined_words
from memosite.markdown.tokens import BodyTokens, read_body

__all__ = ["MAX_MARKED", "Linker", "to_html"]

MAX_MARKED: Final = 40_000
"""The most characters of code in one body that are highlighted: it takes longer than all the rest."""

_MAX_SHOWN = 300  # characters of a destination in a tooltip; `data:` URLs may hold a megabyte
_FEW = 64  # keys that are found faster one by one than by splitting the text into names

_SPACE = re.compile(r"\s")
_LANGUAGE = re.compile(r"\s*([A-Za-z0-9_+#.-]{0,40})")
_WRITTEN_LINK = re.compile(r'\[[^\[\]\n]{0,300}\]\((?P<to>[^()\s<>]{1,1000})(?: "[^"\n]{0,300}")?\)')
_LONGEST_URL, _LONGEST_TITLE = 2_000, 500  # what all browsers follow, and what fits a tooltip
_EXTERNAL = re.compile(r"https?://[^\s/?#\\]|mailto:\S", re.IGNORECASE)

# A key that holds a character that is in no word is searched for as it is.
_RUN = rf"(?:[{WORD}.-]|:(?=[/\\]))+"
_BARE_URL = re.compile(URL)
_MENTION = re.compile(rf"{URL}|{_RUN}")

_CALLOUT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*", re.IGNORECASE)
_FOLDING = re.compile(r"<summary>(?P<said>[^<>]*)</summary>|</?(?:details|summary)(?: open)?>")

_TAGS: Final = {"p", "blockquote", "ul", "ol", "li", "hr", "table", "thead", "tbody", "tr", "th", "td"}
_NO_NEWLINE: Final = {"paragraph_open", "list_item_open", "th_open", "th_close", "td_open", "td_close"}
_INLINE_TAGS: Final = {"em", "strong", "s"}
_TABLE: Final = '<div class="scroll" tabindex="0" role="group" aria-label="Table">\n'


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

    __slots__ = (
        *(
            "above",
            "anchor",
            "anchors",
            "base_level",
            "closing",
            "images",
            "in_link",
            "is_callout",
            "links",
            "marked",
            "mention",
            "out",
            "prefix",
            "referred",
        ),
        "with_passages",
    )

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
        self.marked = 0  # characters of code that were highlighted
        self.referred: set[int] = set()  # footnotes with a reference to link back to
        self.out: list[str] = []
        self.links = links
        self.images = images
        self.mention = _mention_pattern(links) if links else None
        self.prefix = prefix
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
            for child in self._without_callout(token.children or []):
                self.inline(child)
        elif token.hidden:  # a paragraph of a tight list: it has an anchor where it follows a heading or a quote
            if attributes := self._attributes(token):
                self.out.append(f"<span{attributes}></span>")
        elif token.tag in _TAGS:
            self.is_callout = kind == "blockquote_open" or (kind == "paragraph_open" and self.is_callout)
            before = _TABLE if kind == "table_open" else ""
            after = "\n</div>\n" if kind == "table_close" else "" if kind in _NO_NEWLINE else "\n"
            slash = "/" if token.nesting < 0 else ""
            self.out.append(f"{before}<{slash}{token.tag}{self._attributes(token)}>{after}")
        elif kind == "heading_open":
            self.anchor = escape(self.prefix + token.meta["anchor"])
            self._enter(int(token.tag[1]))
            self.out.append(f'<h{self._level} id="{self.anchor}">')
        elif kind == "heading_close":
            link = f'<a class="anchor" href="#{self.anchor}" aria-label="Link to this section">#</a>'
            self.out.append(f" {link}</h{self._level}>\n")
        elif kind in ("fence", "code_block"):
            self._code(token)
        elif kind.startswith("footnote"):
            self._footnote(token)

    def _without_callout(self, children: list[Token]) -> list[Token]:
        """What is in a paragraph; that it begins a callout, as forges know it, is written here as its name."""
        is_first, self.is_callout = self.is_callout, False
        name = _CALLOUT.fullmatch(children[0].content) if is_first and children and children[0].type == "text" else None
        if name is None or any(one.type not in ("softbreak", "hardbreak") for one in children[1:2]):
            return children
        self.out.append(f'<strong class="callout">{name[1]}</strong>' + ("<br>\n" if children[1:] else ""))
        return children[2:]

    def _code(self, token: Token) -> None:
        language = _LANGUAGE.match(token.info)
        name = language[1] if language else ""
        text = None
        if name and self.marked < MAX_MARKED:
            text = highlight(token.content, name)
            self.marked += len(token.content) if text else 0
        code = f'<code class="language-{name}">' if name else "<code>"
        text = escape(token.content, quote=False) if text is None else text
        self.out.append(f'<pre{self._attributes(token)} tabindex="0">{code}{text}</code></pre>\n')

    def _footnote(self, token: Token) -> None:
        """Write the border of a footnote's text, or of all of them; the way back leads to the first reference."""
        number = token.meta.get("number", 0)
        prefix = escape(self.prefix)
        if token.type == "footnotes_open":
            self.out.append('<div class="footnotes">\n<ol>\n')
        elif token.type == "footnotes_close":
            self.out.append("</ol>\n</div>\n")
        elif token.type == "footnote_open":
            self.out.append(f'<li id="{prefix}fn.{number}" value="{number}">\n')
        elif number in self.referred:
            back = f'<a class="anchor" href="#{prefix}fnref.{number}" aria-label="Back to the text">↩</a>'
            self.out.append(f"{back}</li>\n")
        else:
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
        is_named = self.with_passages and token.nesting >= 0 and "anchor" in token.meta
        written = f' id="{escape(self.prefix + token.meta["anchor"])}"' if is_named else ""
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
            opening, closing = self._link(token, "href")
            self.out.append(opening)
            self.closing.append(closing)
            self.in_link = "</a>" in self.closing
        elif kind == "link_close":
            self.out.append(self.closing.pop())
            self.in_link = "</a>" in self.closing
        elif kind == "image":
            self._image(token)
        elif kind == "footnote_ref":
            self._reference(token)
        else:
            self.out.append(escape(token.content, quote=False))

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
        prefix = escape(self.prefix)
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
        title = str(token.attrs.get("title", ""))[:_LONGEST_TITLE]
        self.out.append(image.tag(words, title))

    def _link(self, token: Token, attribute: str) -> tuple[str, str]:
        """Return the tags around a label: of a link, or of text with a tooltip if it leads nowhere."""
        if self.in_link:  # an image or a URL within the label of a link
            return "", ""
        written = str(token.attrs[attribute])
        title = f' title="{escape(str(token.attrs["title"])[:_LONGEST_TITLE])}"' if "title" in token.attrs else ""
        # Many links may share one destination: a text would grow by their product.
        if len(written) <= _LONGEST_URL and (opening := self.opening(written, title)):
            return opening, "</a>"
        return f'<span class="path" title="{escape(_shown(written))}">', "</span>"

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
        if self.mention and (len(self.links) > _FEW or any(map(text.__contains__, self.links))):
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
