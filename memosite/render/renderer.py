"""Renders a page model to the bytes of its HTML file: pure, so that any process may do it.

    Page ──► template named by its class ──► UTF-8 bytes
                  │ filters
                  ├─ body       text by digest → Markdown, verbatim, or turns (`turns.html`)
                  ├─ markdown   a short text of the model itself
                  ├─ diff       two texts by digest → lines marked as added or removed
                  └─ turn_diff  two transcripts by digest → turns that are the same, changed, or only in one

A template gets `page` and nothing else that varies, and computes nothing. Everything is escaped except what
`markdown/html.to_html` has written. A site's own template that fails is a ConfigError naming template and line.
"""

import re
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import count
from typing import Final, TypeAlias

import jinja2
from markupsafe import Markup

from memosite.facts.errors import ConfigError
from memosite.facts.times import read_moment
from memosite.feeds.content import item_html
from memosite.feeds.json_feed import to_json_feed
from memosite.feeds.rss import ITEM_BYTES, FeedFile, FeedItem, to_rss
from memosite.formats.turns import TurnList, parse_conversation, without_hashes
from memosite.markdown.html import to_html
from memosite.markdown.images import Image
from memosite.markdown.places import FRONT_MATTER
from memosite.pages.images import ShownImage
from memosite.pages.models import Page
from memosite.pages.parts import PAGE_CHARS, Body
from memosite.pages.words import action_word, cite_words, kind_word, kinds, severities, severity_word
from memosite.passages.anchors import PREAMBLE
from memosite.render.catalogue import Catalogue
from memosite.render.contents import LONG, ContentsRow, contents_of
from memosite.render.difference import Diff, compare, cut_to, html_bytes
from memosite.render.outline import outline
from memosite.render.strip import strip_of
from memosite.render.theme import Theme
from memosite.render.translating import Translating
from memosite.render.turn_difference import TurnDiff, compare_turns
from memosite.render.turns import LEVEL, shown_turns
from memosite.search.blocks import Analyses, SearchBlock, render_block

__all__ = ["Renderer", "noun_forms"]


_CACHE_BYTES: Final = 16 * 2**20
_PREFIX: Final = "\x1a"  # stands for a page's prefix in cached HTML; a control character, which no text may hold
_LINK: Final = re.compile(f"{_PREFIX}{_PREFIX}([0-9]+)#?{_PREFIX}")  # the number of a link, for where it leads
_LINK_BYTES: Final = 150  # what a link takes in a key besides its text
_SPARE: Final = 1_000  # bytes for the notice that a text is cut
_TOO_LONG: Final = '<p class="notice">This text is too long for this page: see its own page, or the original.</p>'
_CUT: Final = '<p class="notice">Only the beginning of this text is shown.</p>\n'

_CONTROLS: Final = bytes([*range(9), 11, 12, *range(14, 32), 127])
_WITHOUT_CONTROLS: Final = bytes.maketrans(_CONTROLS, b"?" * len(_CONTROLS))
_PLURALS: Final = {"library": "libraries", "reply": "replies"}
_MEDIA_TYPES: Final = (
    ("feed.json", "application/feed+json"),
    (".json", "application/json"),
    (".jsonl", "application/jsonl"),
    (".md", "text/markdown"),
    (".xml", "application/rss+xml"),
    (".zip", "application/zip"),
)


PAGE_BYTES: Final = 900_000
"""The most bytes that the texts of one page may take as HTML, so that no page is over 1 MB (SPEC 4)."""

_Slots: TypeAlias = tuple[tuple[str, bool], ...]
"""What is written for each link of a text, and whether where it leads has a fragment."""


class Renderer:
    """Renders pages with one theme. `text_of` gives the text of a SHA-256 and may raise any exception.

    Texts that several pages show are rendered once (memoized), as long as they fit into `cache_bytes`. Templates that
    are in `compiled` are not compiled again.
    """

    def __init__(
        self,
        theme: Theme,
        text_of: Callable[[str], str],
        *,
        compiled: jinja2.BytecodeCache | None = None,
        cache_bytes: int = _CACHE_BYTES,
    ) -> None:
        self.theme = theme
        self._words = theme.words
        self._bytes_left = PAGE_BYTES
        self._text_of = text_of
        self._fragments = _Fragments(cache_bytes)
        self._analyses = Analyses()
        self._last_read: tuple[tuple[str, str | None, bool], TurnList] | None = None
        self._environment = _environment(theme, compiled)
        self._environment.filters |= {
            "body": self._body,
            "contents": self._contents,
            "diff": self._diff,
            "turn_diff": self._turn_diff,
        }

    def warm(self) -> None:
        """Compile all templates, so that processes that are forked need not."""
        for name in self.theme.templates:
            with suppress(jinja2.TemplateError):  # rendering with it reports the error
                self._environment.get_template(name)

    def render(self, page: Page) -> bytes:
        """The page's HTML in UTF-8; equal models give equal bytes. Raises ConfigError for a fault of the theme."""
        self._bytes_left = PAGE_BYTES
        try:
            html = self._environment.get_template(page.template).render(page=self._words.translated(page))
        except Exception as error:
            fault = _fault(error, self.theme.own)
            if fault is None:
                raise
            raise ConfigError(f"theme: {fault}") from error
        # Texts come here clean; should one not be, its page is HTML all the same.
        return html.encode(errors="replace").translate(_WITHOUT_CONTROLS) + b"\n"

    def render_feed(self, file: FeedFile) -> bytes:
        """A feed in its form; the texts of its items, if it has any, are rendered like those of pages."""
        file = self._words.translated(file)
        if file.form == "json":
            return to_json_feed(file.feed)
        items = file.feed.items if file.feed.has_content else ()
        return to_rss(file.feed, {item.guid: self._item_html(item) for item in items})

    def _item_html(self, item: FeedItem) -> str:
        """The content of an item, memoized: a feed that is made again still has most of its items."""
        key = item.line, item.link, item.reason, item.contents, item.rows, item.most_bytes
        html = self._fragments.get(key)
        if html is None:
            html = item_html(item, map(self._feed_text, item.contents))
            links = (link for body in item.contents for link in body.links)
            self._fragments.put(key, html, of_key=len(html) + sum(2 * _LINK_BYTES + len(a) + len(b) for a, b in links))
        return html

    def render_block(self, block: SearchBlock) -> list[tuple[str, bytes]]:
        """The files of a search block, as paths and bytes."""
        return render_block(block, self._text_of, self._analyses)

    def _feed_text(self, body: Body) -> str | None:
        return str(self._shown(body)) if body.chars <= ITEM_BYTES else None

    def _body(self, body: Body) -> Markup:
        """A text, as long as all texts of the page together stay under `PAGE_BYTES` (SPEC 4)."""
        shown = self._shown(body)
        size = _size(shown)
        if size > self._bytes_left:
            return _safe(_TOO_LONG)
        self._bytes_left -= size
        return shown

    def _contents(self, body: Body | None) -> tuple[ContentsRow, ...]:
        """The list of contents of a text that is shown whole, if it is long."""
        if body is None or body.form != "markdown" or not LONG <= body.chars <= PAGE_CHARS:
            return ()
        source = self._text_of(body.sha256)
        front = FRONT_MATTER.match(source)
        return contents_of(source[front.end() :] if front else source, body.prefix)

    def _shown(self, body: Body) -> Markup:
        if body.form == "transcript":
            return self._transcript(body)
        if body.form == "verbatim":
            return _safe(_verbatim(self._text_of(body.sha256), body.span))
        return _safe(self._markdown(body).replace(_PREFIX, escape(body.prefix)))

    def _markdown(self, body: Body) -> str:
        """The HTML of a Markdown text with `_PREFIX` for its prefix, cut where it is too long for a page."""
        links = dict(body.links)
        slots = tuple((written, "#" in href) for written, href in links.items())
        images = body.images
        hrefs = [escape(href) for href in (*links.values(), *(one.href for one in images))]
        sizes = tuple(one._replace(href="") for one in images)
        for halvings in count():
            key = body.sha256, slots, sizes, halvings
            fragment = self._fragments.get(key)
            if fragment is None:
                fragment = _fragment(self._text_of(body.sha256), slots, sizes, halvings)
                names = (*links, *(one.written for one in images))
                self._fragments.put(key, fragment, of_key=sum(_LINK_BYTES + len(written) for written in names))
            html = _LINK.sub(lambda match: hrefs[int(match[1])], fragment) if hrefs else fragment
            if _size(html) <= PAGE_BYTES - _SPARE:
                break
        is_cut = halvings > 0 or body.chars > PAGE_CHARS
        return html + (_CUT if is_cut else "")

    def _transcript(self, body: Body) -> Markup:
        key = (body.sha256, body.started, body.is_redacted)
        if self._last_read is None or self._last_read[0] != key:  # the parts of a transcript follow one another
            started = read_moment(body.started or "")
            text = self._text_of(body.sha256)
            found = parse_conversation(text, started=started.instant if started else None)
            if body.is_redacted:
                found = replace(found, turns=without_hashes(found.turns))
            self._last_read = key, found
        conversation = self._last_read[1]
        if conversation.form == "verbatim":
            return _safe(_verbatim(conversation.preamble))
        links = dict(body.links)
        is_first = body.turns is None or not (body.turns.first or body.turns.start)
        preamble = conversation.preamble[:PAGE_CHARS] if is_first else ""
        prefix = f"{body.prefix}{PREAMBLE}"
        html = self._environment.get_template("turns.html").render(
            prefix=body.prefix,
            preamble=_safe(to_html(preamble, links=links, prefix=prefix, base_level=LEVEL, with_passages=True)),
            outline=outline(conversation, body),
            strip=strip_of(conversation, body),
            total=len(conversation.turns),
            turns=tuple(shown_turns(conversation, body)),
        )
        return _safe(html)

    def _diff(self, shown: str, other: str) -> Diff:
        """Compare two texts by digest, as far as the page has room; "" stands for no text."""
        found = cut_to(compare(*map(self._text, (shown, other))), self._bytes_left)
        self._bytes_left -= html_bytes(found)
        return found

    def _turn_diff(self, shown: str, other: str, one: str, another: str, *, is_beside: bool = False) -> TurnDiff:
        """Compare two transcripts by digest, called `one` and `another`; side by side, lines stand there twice."""
        turns, others = (parse_conversation(self._text(digest), started=None) for digest in (shown, other))
        limit = self._bytes_left // 2 if is_beside else self._bytes_left
        found = compare_turns(turns, others, names=(one, another), limit=limit)
        self._bytes_left -= found.bytes * (2 if is_beside else 1)
        return found

    def _text(self, digest: str) -> str:
        return self._text_of(digest) if digest else ""


class _Fragments:
    """HTML by what it was made from; what was not used for longest goes first.

    It is kept as UTF-8: as a text it takes twice as much where it holds a dash or a quotation mark.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._html: OrderedDict[Hashable, tuple[bytes, int]] = OrderedDict()

    def get(self, key: Hashable) -> str | None:
        found = self._html.get(key)
        if found is None:
            return None
        self._html.move_to_end(key)
        return found[0].decode("utf-8", "surrogatepass")

    def put(self, key: Hashable, html: str, *, of_key: int) -> None:
        """Keep what was made; `of_key` is what its key takes. Sizes are bytes of memory, roughly."""
        data = html.encode("utf-8", "surrogatepass")
        size = 500 + sys.getsizeof(data) + of_key
        self._html[key] = data, size
        self._size += size
        while self._size > self._limit:
            self._size -= self._html.popitem(last=False)[1][1]


def _environment(theme: Theme, compiled: jinja2.BytecodeCache | None) -> jinja2.Environment:
    def source(name: str) -> tuple[str, str, None] | None:
        return (theme.templates[name], name, None) if name in theme.templates else None

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(source),  # as DictLoader, with a file name for tracebacks
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
        bytecode_cache=compiled,
        extensions=[Translating],
    )
    environment.words = theme.words  # type: ignore[attr-defined]
    environment.globals["plural_form"] = theme.words.form
    environment.filters |= {
        "markdown": _markdown,
        "media_type": _media_type,
        "counted": lambda number, noun: _counted(theme.words, number, noun),
        "action_word": lambda action: theme.words.translated(action_word(action)),
        "kind": lambda kind: theme.words.translated(kind_word(kind)),
        "kinds": lambda number, kind: theme.words.translated(kinds(kind, number)),
        "severity": lambda severity: theme.words.translated(severity_word(severity)),
        "severities": lambda number, severity: theme.words.translated(severities(severity, number)),
        "cite_words": lambda kind: theme.words.translated(cite_words(kind)),
        "number": theme.words.number,
    }
    return environment


def _fault(error: Exception, own: frozenset[str]) -> str | None:
    """Where a site's own template failed, and how; None if none of them is involved."""
    if not own:
        return None
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"templates/{error.name}, line {error.lineno}: {error.message}"
    if isinstance(error, jinja2.TemplatesNotFound | jinja2.TemplateNotFound):
        return f"there is no template {error.message}"
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"templates/{frame.filename}, line {frame.lineno}" for frame in frames if frame.filename in own]
    if places:
        return f"{places[-1]}: {type(error).__name__}: {error}"
    if isinstance(error, jinja2.TemplateError):  # a bundled template lacks what a site's own one should have given
        return f"{', '.join(sorted(own))}: {error}"
    return None


def _safe(html: str) -> Markup:
    """The one place where text becomes HTML: what `markdown/html.to_html`, a template or `html.escape` has written."""
    return Markup(html)  # noqa: S704


def _size(html: str) -> int:
    return len(html.encode("utf-8", "replace"))


def _verbatim(text: str, span: tuple[int, int] | None = None) -> str:
    """A text as it is, or a part of it; cut where it is too long for a page."""
    text = text[slice(*span)] if span else text
    html = escape(text[:PAGE_CHARS], quote=False)
    is_cut = len(text) > PAGE_CHARS
    if _size(html) > PAGE_BYTES:
        html, is_cut = escape(text[: PAGE_BYTES // 6], quote=False), True  # "&" becomes five characters
    return f'<pre class="verbatim" tabindex="0">\n{html}</pre>\n' + (_CUT if is_cut else "")


def _fragment(text: str, slots: _Slots, sizes: tuple[ShownImage, ...], halvings: int) -> str:
    """The HTML of a Markdown text, halved so many times, with `_PREFIX` for its prefix and a slot for each href."""
    source = text[:PAGE_CHARS].replace(_PREFIX, "\ufffd")
    front = FRONT_MATTER.match(source)
    head = ""
    if front:
        source = source[front.end() :]
        shown = escape(front[1], quote=False)
        if _size(shown) > PAGE_BYTES - 2 * _SPARE:  # no cutting of the text below would make room
            shown = escape(front[1][: PAGE_BYTES // 12], quote=False) + "…"
        head = f'<details class="front-matter"><summary>Front matter</summary><pre>\n{shown}</pre></details>\n'
    links = {
        written: f"{_PREFIX}{_PREFIX}{number}{'#' if has_fragment else ''}{_PREFIX}"
        for number, (written, has_fragment) in enumerate(slots)
    }
    images = {
        one.written: Image(f"{_PREFIX}{_PREFIX}{number}{_PREFIX}", one.width, one.height, one.why_not)
        for number, one in enumerate(sizes, len(slots))
    }
    for _ in range(halvings):
        source = source[: len(source) // 2]
    return head + to_html(source, links=links, images=images, prefix=_PREFIX, base_level=LEVEL, with_passages=True)


def _markdown(text: str, prefix: str, base_level: int = LEVEL, links: Iterable[tuple[str, str]] = ()) -> Markup:
    return _safe(to_html(text[:PAGE_CHARS], links=dict(links), prefix=prefix, base_level=base_level))


def noun_forms(noun: str) -> tuple[str, str]:
    """The texts for one and for many, as a catalogue has them."""
    return f"{{n:,}} {noun}", f"{{n:,}} {_PLURALS.get(noun, noun + 's')}"


def _counted(words: Catalogue, number: int, noun: str) -> str:
    """A number with its noun: "1 memo", "1,200 memos"."""
    pattern = words.counted(*noun_forms(noun), number)
    return pattern.replace("{n:,}", words.number(number))


def _media_type(href: str) -> str:
    file = href.partition("#")[0]
    return next((kind for ending, kind in _MEDIA_TYPES if file.endswith(ending)), "text/html")
