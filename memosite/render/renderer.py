"""Renders a page model to the bytes of its HTML file: pure, so that any process may do it.

    Page ──► template named by its class ──► UTF-8 bytes
                  │ filters
                  ├─ body       text by digest → Markdown, verbatim, or turns (`turns.html`)
                  ├─ markdown   a short text of the model itself
                  ├─ told       an edit, from two texts by digest → in words, and the words that changed
                  ├─ diff       two texts by digest → lines marked as added or removed
                  └─ turn_diff  two transcripts by digest → turns that are the same, changed, or only in one

A template gets `page` and nothing else that varies, and computes nothing. Everything is escaped except what
`markdown/html.to_html` has written. A site's own template that fails is a ConfigError naming template and line.
"""

import html
import marshal
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from html import escape, unescape
from itertools import count
from typing import Any, Final, TypeAlias

import jinja2
from markupsafe import Markup

from memosite import pages
from memosite.archive.mailboxes import action_word
from memosite.archive.urls import ADDRESS
from memosite.facts.errors import ConfigError
from memosite.facts.patterns import regex
from memosite.facts.phrases import kind_word, kinds, phrase
from memosite.facts.texts import cut_line
from memosite.facts.times import read_moment
from memosite.facts.values import Value, replace
from memosite.feeds import ITEM_BYTES, FeedFile, FeedItem, to_json_feed, to_rss
from memosite.feeds.document import item_html
from memosite.formats.sessions.kept import read_conversation, thoughts_of
from memosite.formats.turns import TurnList, without_hashes
from memosite.markdown.html import Image, to_html
from memosite.markdown.plain import front_matter
from memosite.markdown.tokens import read_body
from memosite.passages import PREAMBLE
from memosite.render.catalogue import Catalogue
from memosite.render.difference import Diff, TurnDiff, compare, compare_turns, cut_to, html_bytes
from memosite.render.edits import Told, tell
from memosite.render.kept_analyses import KeptAnalyses
from memosite.render.theme import Theme
from memosite.render.translating import Translating
from memosite.render.turns import LEVEL, lightened, outline, shown_turns, strip_of
from memosite.search.blocks import Analyses, SearchBlock, render_block
from memosite.search.documents import BodyLine, body_lines
from memosite.store.shelf import Handover

# What templates say in the language of the site of values: filters by their names.


_PLURALS: Final = {"library": "libraries", "reply": "replies"}


def word_filters(words: Catalogue) -> Mapping[str, Callable[..., Any]]:
    """The filters of a language."""
    return {
        "counted": lambda number, noun: words.counted(*noun_forms(noun), number).replace("{n:,}", words.number(number)),
        "number": words.number,
        "action_word": lambda action: words.translated(action_word(action)),
        "kind": lambda kind: words.translated(kind_word(kind)),
        "kinds": lambda number, kind: words.translated(kinds(kind, number)),
        "severity": lambda severity: words.translated(pages.severity_word(severity)),
        "severities": lambda number, severity: words.translated(pages.severities(severity, number)),
        "standing": lambda standing: words.translated(pages.standing_word(standing)),
        "cite_words": lambda kind: words.translated(pages.cite_words(kind)),
    }


def noun_forms(noun: str) -> tuple[str, str]:
    """The texts for one and for many, as a catalogue has them."""
    return f"{{n:,}} {noun}", f"{{n:,}} {_PLURALS.get(noun, noun + 's')}"


# Makes the list of contents of a long text, from its headings.


LONG: Final = 4_000
"""A shorter text has no list of contents, in characters."""


FEWEST, MOST = 4, 200
"""How few headings make no list, and the most that it has."""


_LABEL_CHARS: Final = 120


class ContentsRow(Value):
    """A heading: its anchor without the prefix of a page, its words, and whether it is below the topmost ones."""

    anchor: str
    label: str
    is_below: bool


def contents_of(source: str) -> tuple[ContentsRow, ...]:
    """The headings of the two topmost levels of a text without its front matter; of long texts alone.

    A title above all others is no level: the page has it.
    """
    found = [one for one in read_body(source).headings if one.text.strip()] if len(source) >= LONG else []
    levels = sorted({one.level for one in found})
    if found and [one.level for one in found].count(levels[0]) == 1 and found[0].level == levels[0]:
        found, levels = found[1:], levels[1:]
    shown = [one for one in found if one.level in levels[:2]]
    if len(shown) < FEWEST:
        return ()
    return tuple(
        ContentsRow(anchor=one.anchor, label=cut_line(one.text, _LABEL_CHARS), is_below=one.level != levels[0])
        for one in shown[:MOST]
    )


# The environment of templates: where they are found, their filters, and what a template of a site did wrong.


_MEDIA_TYPES: Final = (
    ("feed.json", "application/feed+json"),
    (".json", "application/json"),
    (".jsonl", "application/jsonl"),
    (".md", "text/markdown"),
    (".xml", "application/rss+xml"),
    (".zip", "application/zip"),
)


_DATE: Final = regex(r"\b\d{4}-\d\d-\d\d\b")


def environment_of(theme: Theme, compiled: jinja2.BytecodeCache | None) -> jinja2.Environment:
    """Templates with their filters, in the language of the theme; those in `compiled` are not compiled again."""

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
        "addressed": _addressed,
        "sentence": _sentence,
        "markdown": _markdown,
        "media_type": _media_type,
        # dates are not broken at the end of a line
        "whole_dates": lambda text: safe(_DATE.sub(r"<time>\g<0></time>", html.escape(text))),
        # a path is broken behind a slash
        "path": lambda path: safe(html.escape(path).replace("/", "/<wbr>")),
        **word_filters(theme.words),
    }
    return environment


def fault_of(error: Exception, own: frozenset[str]) -> str | None:
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


def safe(html: str) -> Markup:
    """The one place where text becomes HTML: what `markdown/html.to_html`, a template or `html.escape` has written."""
    return Markup(html)  # noqa: S704


def _markdown(text: str, prefix: str, base_level: int = LEVEL, links: Iterable[tuple[str, str]] = ()) -> Markup:
    return safe(to_html(text[: pages.PAGE_CHARS], links=dict(links), prefix=prefix, base_level=base_level))


_BEGINNING: Final = regex(r"[a-z]+(?=[ ,:;]|$)")


def _addressed(text: str, base_url: str | None) -> Markup:
    """Words with the address of the site in elements: the address at which they are read takes its place."""
    address = str(Markup.escape(base_url or ADDRESS))
    return safe(str(Markup.escape(text)).replace(address, f"<span data-address>{address}</span>"))


def _sentence(text: str) -> str:
    """A text that begins with a capital letter, unless it begins with a name: only a word is letters alone."""
    return text[:1].upper() + text[1:] if _BEGINNING.match(text) else text


def _media_type(href: str) -> str:
    file = href.partition("#")[0]
    return next((kind for ending, kind in _MEDIA_TYPES if file.endswith(ending)), "text/html")


# Prepares the HTML of a text that is shown below its title: a heading that says the same is not seen again.


_HEADING: Final = regex(
    r'<h(?P<level>[1-6]) id="(?P<anchor>[^"]*)">(?P<words>[^\n]*?) <a class="anchor"[^>]*>#</a></h(?P=level)>\n'
)


_ALONE: Final = regex(r'<p id="[^"]*">(?P<words>(?:(?!<p)[^\n]|\n(?!\n))*)</p>\s*')


_FIELD: Final = r"(?:<strong>)?[^\W\d_][\w -]{0,30}:[^\n]*"


_FIELDS: Final = regex(rf"<p[^>]*>{_FIELD}(?:\n{_FIELD})+</p>\n")


_TAG: Final = regex(r"<[^>]*>")


def headed(html: Markup, title: str) -> Markup:
    """The HTML of a text below a title: a first heading of the same words is unseen, and keeps its anchor.

    So is a text that is no more than these words.

    After a first heading, or without one at the top, lines that are all fields (`Status: accepted`) stay lines.
    """
    text, named = str(html), " ".join(title.split())
    if (alone := _ALONE.fullmatch(text)) and _plain(alone["words"]) == named:
        return safe(f'<p class="unseen"{text[len("<p") :]}')
    found = _HEADING.match(text)
    head, rest = (found[0], text[found.end() :]) if found else ("", text)
    if found and _plain(found["words"]) == named:
        head = f'<h{found["level"]} class="unseen" id="{found["anchor"]}">{found["words"]}</h{found["level"]}>\n'
    if fields := _FIELDS.match(rest):
        rest = fields[0].rstrip().replace("\n", "<br>\n") + "\n" + rest[fields.end() :]
    return safe(head + rest)


def _plain(html: str) -> str:
    return " ".join(unescape(_TAG.sub("", html)).split())


# What one process made of texts for their pages, for the others: feeds and search blocks need it again.


Slots: TypeAlias = tuple[tuple[tuple[str, bool], ...], tuple[pages.ShownImage, ...]]
"""What is written for each link of a text and whether where it leads has a fragment; its images without addresses."""


Fragment: TypeAlias = tuple[str, tuple[ContentsRow, ...]]
"""The HTML of a text, and its list of contents if it is long."""


FragmentKey: TypeAlias = tuple[str, Slots, int]
"""What a fragment is made of: the text by its digest, its slots, how often it was halved."""


class KnownTexts:
    """The fragments of texts, and their lines for search. To be made before processes are forked."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._handover = Handover()

    def fragment(self, key: FragmentKey) -> Fragment | None:
        """The fragment of a text, if it is known."""
        data = self._handover.find(repr(key))
        if data is None:
            return None
        html, rows = marshal.loads(data)  # noqa: S302 - from this very program
        return html, tuple(ContentsRow(anchor=anchor, label=label, is_below=below) for anchor, label, below in rows)

    def note(self, key: FragmentKey, fragment: Fragment, source: str) -> None:
        """Leave a fragment for all processes, and the lines of its source, which was just parsed."""
        html, rows = fragment
        data = marshal.dumps((html, [(row.anchor, row.label, row.is_below) for row in rows]))
        self._handover.hand_over(repr(key), data)
        if not self._handover.has(source):
            self._handover.hand_over(source, marshal.dumps(body_lines(source)))

    def lines(self, body: str) -> list[BodyLine]:
        """The `body_lines` of a text."""
        data = self._handover.find(body)
        return body_lines(body) if data is None else marshal.loads(data)  # noqa: S302 - as above


_CACHE_BYTES: Final = 16 * 2**20


_PREFIX: Final = "\x1a"  # stands for a page's prefix in cached HTML; a control character, which no text may hold


_LINK: Final = regex(f"{_PREFIX}{_PREFIX}([0-9]+)#?{_PREFIX}")  # the number of a link, for where it leads


_LINK_BYTES: Final = 150  # what a link takes in a key besides its text


_ROW_BYTES: Final = 250  # what a row of a list of contents takes


_SPARE: Final = 1_000  # bytes for the notice that a text is cut


_TOO_LONG: Final = phrase("This text is too long for this page: see its own page, or the original.")


_TOO_LONG_FOR_FEED: Final = phrase("This text is too long for a feed: see its page.")


_CUT: Final = phrase("Only the beginning of this text is shown.")


_LABELS: Final = (phrase("Link to this section"), phrase("Back to the text"), phrase("Table"))
"""Labels that `markdown/html.py` writes, in the quotes of attributes, which no text can hold."""


_CONTROLS: Final = bytes([*range(9), 11, 12, *range(14, 32), 127])


_WITHOUT_CONTROLS: Final = bytes.maketrans(_CONTROLS, b"?" * len(_CONTROLS))


PAGE_BYTES: Final = 900_000
"""The most bytes that the texts of one page may take as HTML, so that no page is over 1 MB (SPEC 4)."""


class Renderer:
    """Renders pages with one theme. `text_of` gives the text of a SHA-256 and may raise any exception.

    Texts that several pages show are rendered once (memoized), as long as they fit into `cache_bytes`. Templates that
    are in `compiled` are not compiled again, and artifacts of a search block that are in `kept` not analyzed again.
    """

    def __init__(
        self,
        theme: Theme,
        text_of: Callable[[str], str],
        *,
        compiled: jinja2.BytecodeCache | None = None,
        kept: KeptAnalyses | None = None,
        cache_bytes: int = _CACHE_BYTES,
    ) -> None:
        self.theme = theme
        self._words = theme.words
        self._bytes_left = PAGE_BYTES
        self._text_of = text_of
        self._fragments = _Fragments(cache_bytes)
        self._analyses = Analyses()
        self._kept = kept or KeptAnalyses(None)
        self._known_texts: KnownTexts | None = None
        self._last_read: tuple[tuple[str, str | None, bool], TurnList] | None = None
        self._environment = environment_of(theme, compiled)
        self._environment.filters |= {
            "body": self._body,
            "contents": self._contents,
            "headed": headed,
            "diff": self._diff,
            "told": self._told,
            "turn_diff": self._turn_diff,
        }

    def warm(self) -> None:
        """Compile all templates, so that processes that are forked need not."""
        for name in self.theme.templates:
            with suppress(jinja2.TemplateError):  # rendering with it reports the error
                self._environment.get_template(name)

    def share_texts(self) -> None:
        """Leave what is made of texts for all processes that are forked from now on, and for what is rendered later."""
        self._known_texts = KnownTexts()

    def render(self, page: pages.Page) -> bytes:
        """The page's HTML in UTF-8; equal models give equal bytes. Raises ConfigError for a fault of the theme."""
        self._bytes_left = PAGE_BYTES
        try:
            html = self._environment.get_template(page.template).render(page=self._words.translated(page))
        except Exception as error:
            fault = fault_of(error, self.theme.own)
            if fault is None:
                raise
            raise ConfigError(f"theme: {fault}") from error
        for label in _LABELS if self._words.texts else ():
            html = html.replace(f'aria-label="{label}"', f'aria-label="{escape(self._words.translated(label))}"')
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
        found = self._fragments.get(key)
        if found is not None:
            return found[0]
        too_long = self._words.translated(_TOO_LONG_FOR_FEED)
        texts = (str(self._shown(body)) if body.chars <= ITEM_BYTES else None for body in item.contents)
        html = item_html(item, texts, too_long=too_long)
        links = (link for body in item.contents for link in body.links)
        self._fragments.put(key, html, of_key=len(html) + sum(2 * _LINK_BYTES + len(a) + len(b) for a, b in links))
        return html

    def render_block(self, block: SearchBlock) -> list[tuple[str, bytes]]:
        """The files of a search block, as paths and bytes."""
        find_lines = self._known_texts.lines if self._known_texts is not None else body_lines
        self._kept.load(block, self._analyses)
        files = render_block(block, self._text_of, self._analyses, find_lines)
        self._kept.save(block, self._analyses)
        return files

    def _body(self, body: pages.Body) -> Markup:
        """A text, as long as all texts of the page together stay under `PAGE_BYTES` (SPEC 4)."""
        shown = self._shown(body)
        size = _size(shown)
        if size > self._bytes_left:
            return safe(_notice(self._words, _TOO_LONG))
        self._bytes_left -= size
        return shown

    def _contents(self, body: pages.Body | None) -> tuple[ContentsRow, ...]:
        """The list of contents of a text that is shown whole, if it is long."""
        if body is None or body.form != "markdown" or not LONG <= body.chars <= pages.PAGE_CHARS:
            return ()
        rows = self._fragment(body.sha256, _slots(body), 0)[1]
        return tuple(replace(row, anchor=body.prefix + row.anchor) for row in rows)

    def _shown(self, body: pages.Body) -> Markup:
        if body.form == "transcript":
            return self._transcript(body)
        if body.form == "verbatim":
            return safe(_verbatim(self._words, self._text_of(body.sha256), body.span))
        return safe(self._markdown(body).replace(_PREFIX, escape(body.prefix)))

    def _markdown(self, body: pages.Body) -> str:
        """The HTML of a Markdown text with `_PREFIX` for its prefix, cut where it is too long for a page."""
        slots = _slots(body)
        hrefs = [escape(href) for href in (*dict(body.links).values(), *(one.href for one in body.images))]
        for halvings in count():
            fragment, _ = self._fragment(body.sha256, slots, halvings)
            html = _LINK.sub(lambda match: hrefs[int(match[1])], fragment) if hrefs else fragment
            if _size(html) <= PAGE_BYTES - _SPARE:
                break
        is_cut = halvings > 0 or body.chars > pages.PAGE_CHARS
        return html + (f"{_notice(self._words, _CUT)}\n" if is_cut else "")

    def _fragment(self, sha256: str, slots: Slots, halvings: int) -> Fragment:
        """The HTML of a Markdown text as `_fragment` makes it and its list of contents, memoized."""
        key = sha256, slots, halvings
        found = self._fragments.get(key)
        if found is None:
            found = self._known_texts.fragment(key) if self._known_texts is not None else None
            if found is None:
                found, source = _fragment(self._words, self._text_of(sha256), slots, halvings)
                if self._known_texts is not None:
                    self._known_texts.note(key, found, source)
            names = (*(written for written, _ in slots[0]), *(one.written for one in slots[1]))
            self._fragments.put(key, *found, of_key=sum(_LINK_BYTES + len(written) for written in names))
        return found

    def _transcript(self, body: pages.Body) -> Markup:
        key = (body.sha256, body.started, body.is_redacted)
        if self._last_read is None or self._last_read[0] != key:  # the parts of a transcript follow one another
            found = self._conversation(body.sha256, body.started or "")
            if body.is_redacted:
                found = replace(found, turns=without_hashes(found.turns))
            self._last_read = key, found
        conversation = self._last_read[1]
        if conversation.form == "verbatim":
            return safe(_verbatim(self._words, conversation.preamble))
        links = dict(body.links)
        is_first = body.turns is None or not (body.turns.first or body.turns.start)
        preamble = conversation.preamble[: pages.PAGE_CHARS] if is_first else ""
        prefix = f"{body.prefix}{PREAMBLE}"
        template = self._environment.get_template("turns.html")
        around = {
            "prefix": body.prefix,
            "preamble": safe(to_html(preamble, links=links, prefix=prefix, base_level=LEVEL, with_passages=True)),
            "outline": self._words.translated(outline(conversation, body)),
            "strip": self._words.translated(strip_of(conversation, body)),
            "total": len(conversation.turns),
        }
        thoughts = thoughts_of(self._text(body.thoughts)) if body.thoughts else {}
        turns = self._words.translated(tuple(shown_turns(conversation, body, thoughts)))
        html = template.render(turns=turns, **around)
        over = _size(html) - PAGE_BYTES
        return safe(html if over <= 0 else template.render(turns=lightened(turns, over), **around))

    def _diff(self, shown: str, other: str) -> Diff:
        """Compare two texts by digest, as far as the page has room; "" stands for no text."""
        found = cut_to(compare(*map(self._text, (shown, other))), self._bytes_left)
        self._bytes_left -= html_bytes(found)
        return found

    def _told(self, before: str, after: str, path: str, *, of_copies: bool = False) -> Told:
        """Tell in words what an edit of a file changed, or how two copies differ, as far as the page has room.

        Both contents are given by digest.
        """
        found = tell(path, self._text(before), self._text(after), limit=self._bytes_left, of_copies=of_copies)
        self._bytes_left -= found.bytes
        return self._words.translated(found)

    def _conversation(self, digest: str, started: str) -> TurnList:
        """The turns of a transcript, by digest; `started` is "" if that is not known."""
        moment = read_moment(started)
        return read_conversation(self._text(digest), started=moment.instant if moment else None)

    def _turn_diff(
        self,
        shown: str,
        other: str,
        one: str,
        another: str,
        *,
        started: tuple[str, str] = ("", ""),
        is_beside: bool = False,
    ) -> TurnDiff:
        """Compare two transcripts by digest, called `one` and `another`; side by side, lines stand there twice."""
        turns, others = map(self._conversation, (shown, other), started)
        limit = self._bytes_left // 2 if is_beside else self._bytes_left
        found = compare_turns(turns, others, names=(one, another), limit=limit)
        self._bytes_left -= found.bytes * (2 if is_beside else 1)
        return self._words.translated(found)

    def _text(self, digest: str) -> str:
        return self._text_of(digest) if digest else ""


class _Fragments:
    """HTML by what it was made from; what was not used for longest goes first.

    It is kept as UTF-8: as a text it takes twice as much where it holds a dash or a quotation mark.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._html: OrderedDict[Hashable, tuple[bytes, tuple[ContentsRow, ...], int]] = OrderedDict()

    def get(self, key: Hashable) -> Fragment | None:
        found = self._html.get(key)
        if found is None:
            return None
        self._html.move_to_end(key)
        data, contents, _ = found
        return data.decode("utf-8", "surrogatepass"), contents

    def put(self, key: Hashable, html: str, contents: tuple[ContentsRow, ...] = (), *, of_key: int) -> None:
        """Keep what was made; `of_key` is what its key takes. Sizes are bytes of memory, roughly."""
        data = html.encode("utf-8", "surrogatepass")
        size = 500 + sys.getsizeof(data) + len(contents) * _ROW_BYTES + of_key
        self._html[key] = data, contents, size
        self._size += size
        while self._size > self._limit:
            self._size -= self._html.popitem(last=False)[1][2]


def _size(html: str) -> int:
    return len(html.encode("utf-8", "replace"))


def _notice(words: Catalogue, text: str) -> str:
    return f'<p class="notice">{escape(words.translated(text), quote=False)}</p>'


def _verbatim(words: Catalogue, text: str, span: tuple[int, int] | None = None) -> str:
    """A text as it is, or a part of it; cut where it is too long for a page."""
    text = text[slice(*span)] if span else text
    html = escape(text[: pages.PAGE_CHARS], quote=False)
    is_cut = len(text) > pages.PAGE_CHARS
    if _size(html) > PAGE_BYTES:
        html, is_cut = escape(text[: PAGE_BYTES // 6], quote=False), True  # "&" becomes five characters
    return f'<pre class="verbatim" tabindex="0">\n{html}</pre>\n' + (f"{_notice(words, _CUT)}\n" if is_cut else "")


def _slots(body: pages.Body) -> Slots:
    links = tuple((written, "#" in href) for written, href in dict(body.links).items())
    return links, tuple(one._replace(href="") for one in body.images)


def _fragment(words: Catalogue, text: str, slots: Slots, halvings: int) -> tuple[Fragment, str]:
    """A Markdown text as HTML, halved so many times, with `_PREFIX` for its prefix and a slot for each href.

    Its list of contents has no prefix. It is made at once, while the text is parsed; what was parsed comes second.
    """
    source = text[: pages.PAGE_CHARS].replace(_PREFIX, "\ufffd")
    front = front_matter(source)
    head = ""
    if front:
        source = source[len(front) :]
        said = front[4:-4]  # without the lines of hyphens
        shown = escape(said, quote=False)
        if _size(shown) > PAGE_BYTES - 2 * _SPARE:  # no cutting of the text below would make room
            shown = escape(said[: PAGE_BYTES // 12], quote=False) + "…"
        label = escape(words.translated(phrase("Front matter")))
        head = f'<details class="front-matter"><summary>{label}</summary><pre>\n{shown}</pre></details>\n'
    links = {
        written: f"{_PREFIX}{_PREFIX}{number}{'#' if has_fragment else ''}{_PREFIX}"
        for number, (written, has_fragment) in enumerate(slots[0])
    }
    images = {
        one.written: Image(f"{_PREFIX}{_PREFIX}{number}{_PREFIX}", one.width, one.height, one.why_not)
        for number, one in enumerate(slots[1], len(slots[0]))
    }
    for _ in range(halvings):
        source = source[: len(source) // 2]
    html = to_html(source, links=links, images=images, prefix=_PREFIX, base_level=LEVEL, with_passages=True)
    return (head + html, contents_of(source)), source
