"""The environment of templates: where they are found, their filters, and what a template of a site did wrong."""

import html
import re
import traceback
from collections.abc import Iterable
from typing import Final

import jinja2
from markupsafe import Markup

from memosite.markdown.html import to_html
from memosite.pages.parts import PAGE_CHARS
from memosite.render.theme import Theme
from memosite.render.translating import Translating
from memosite.render.turns import LEVEL
from memosite.render.words import word_filters

__all__ = ["environment_of", "fault_of", "safe"]

_MEDIA_TYPES: Final = (
    ("feed.json", "application/feed+json"),
    (".json", "application/json"),
    (".jsonl", "application/jsonl"),
    (".md", "text/markdown"),
    (".xml", "application/rss+xml"),
    (".zip", "application/zip"),
)
_DATE: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")


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
        "whole_dates": _whole_dates,
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
    return safe(to_html(text[:PAGE_CHARS], links=dict(links), prefix=prefix, base_level=base_level))


def _whole_dates(text: str) -> Markup:
    """A text whose dates are not broken at the end of a line."""
    return safe(_DATE.sub(r"<time>\g<0></time>", html.escape(text)))


def _media_type(href: str) -> str:
    file = href.partition("#")[0]
    return next((kind for ending, kind in _MEDIA_TYPES if file.endswith(ending)), "text/html")
