"""Reads the HTML of bodies strictly: known elements, attributes and classes, closed in order, each id once."""

import re
from html.parser import HTMLParser

from memosite.markdown.html import to_html

ALLOWED = {
    **{tag: {"id"} for tag in ("blockquote", "ul", "hr", "br", "h1", "h2", "h3", "h4", "h5", "h6")},
    **{tag: {"id"} for tag in ("table", "thead", "tbody", "tr", "em", "strong", "s")}, "ol": {"id", "start"},
    "p": {"id", "class"}, "li": {"id", "value"}, "sup": {"id", "class"}, "pre": {"id", "tabindex", "class"},
    "code": {"class"}, "th": {"class"}, "td": {"class"}, "div": {"class", "tabindex", "role", "aria-label"},
    "a": {"href", "rel", "title", "class", "aria-label"}, "span": {"id", "class", "title"},
}  # fmt: skip
VOID = {"br", "hr"}
PHRASING = {"a", "span", "em", "strong", "s", "code", "br", "sup"}
CLASSES = re.compile(
    r"scroll|anchor|mention|path|verbatim|align-(left|center|right)|language-[A-Za-z0-9_+#.-]{1,40}"
    r"|footnotes|footnote-ref|fence|hl-(c|k|s|n|f|ins|del)"
)


class Reader(HTMLParser):
    """Reads HTML strictly: what it cannot accept fails the test. Gathers text, ids and hrefs."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.hrefs: list[str] = []
        self.words: list[str] = []
        self.in_anchor = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check an element against the allow-list and against what it stands in."""
        assert tag in ALLOWED and {name for name, _ in attrs} <= ALLOWED[tag]
        assert len({name for name, _ in attrs}) == len(attrs)
        if tag == "a":
            assert "a" not in self.open
        if tag not in PHRASING:
            assert not {"p", *PHRASING} & set(self.open)
        values = {name: value or "" for name, value in attrs}
        if "class" in values:
            assert CLASSES.fullmatch(values["class"])
        if "href" in values:
            self.hrefs.append(values["href"])
        if "id" in values:
            self.ids.append(values["id"])
        self.in_anchor = values.get("class") == "anchor"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that the innermost element is closed."""
        assert self.open.pop() == tag
        self.in_anchor = False

    def handle_data(self, data: str) -> None:
        """Keep what a reader sees, but for the signs that link to headings."""
        if not self.in_anchor:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        """Refuse comments."""
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        """Refuse what stands between `<!` and `>`."""
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        """Refuse document types."""
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        """Refuse processing instructions."""
        raise AssertionError(data)


def read(html: str) -> Reader:
    """Read HTML strictly, up to its end."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == [] and len(set(reader.ids)) == len(reader.ids)
    return reader


def passage_ids(text: str) -> set[str]:
    """The ids of headings and passages of a text; those of footnotes are numbered, and cite nothing."""
    html = to_html(text, links={}, with_passages=True)
    return {id_ for id_ in read(html).ids if not id_.startswith(("fn.", "fnref."))}
