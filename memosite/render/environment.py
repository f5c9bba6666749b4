"""The environment of templates: where they are found, their filters, and what a template of a site did wrong."""

import traceback
from collections.abc import Iterable
from typing import Final

import jinja2
from markupsafe import Markup

from memosite.facts.words import kind_word, kinds
from memosite.markdown.html import to_html
from memosite.pages.parts import PAGE_CHARS
from memosite.pages.words import action_word, cite_words, severities, severity_word, standing_word
from memosite.render.catalogue import Catalogue
from memosite.render.theme import Theme
from memosite.render.translating import Translating
from memosite.render.turns import LEVEL

__all__ = ["environment_of", "fault_of", "noun_forms", "safe"]

_PLURALS: Final = {"library": "libraries", "reply": "replies"}
_MEDIA_TYPES: Final = (
    ("feed.json", "application/feed+json"),
    (".json", "application/json"),
    (".jsonl", "application/jsonl"),
    (".md", "text/markdown"),
    (".xml", "application/rss+xml"),
    (".zip", "application/zip"),
)


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
        "markdown": _markdown,
        "media_type": _media_type,
        "counted": lambda number, noun: _counted(theme.words, number, noun),
        "action_word": lambda action: theme.words.translated(action_word(action)),
        "kind": lambda kind: theme.words.translated(kind_word(kind)),
        "kinds": lambda number, kind: theme.words.translated(kinds(kind, number)),
        "severity": lambda severity: theme.words.translated(severity_word(severity)),
        "severities": lambda number, severity: theme.words.translated(severities(severity, number)),
        "standing": lambda standing: theme.words.translated(standing_word(standing)),
        "cite_words": lambda kind: theme.words.translated(cite_words(kind)),
        "number": theme.words.number,
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
    return safe(to_html(text[:PAGE_CHARS], links=dict(links), prefix=prefix, base_level=base_level))


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
