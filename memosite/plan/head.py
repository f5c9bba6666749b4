"""Plans the head of a page: the fields that pages of every kind have."""

from typing import TypedDict

from memosite.archive.urls import index_file, relative
from memosite.pages.parts import Reference, Site
from memosite.plan.addresses import FORMS
from memosite.plan.context import Context


class PageHead(TypedDict):
    """The fields of `pages.Page` that follow from the path and the title of a page.

    A dictionary, because pages take them as fields of their own: `TimelinePage(**page_head(…), years=…)`. Names and
    types of both sides are checked there.
    """

    site: Site
    path: str
    root: str
    title: str
    section: str
    canonical: str | None
    description: str


def page_head(context: Context, start: str, *, title: str, section: str = "", description: str = "") -> PageHead:
    """The head of the page `start`; `section` is the entry of the navigation that it belongs to."""
    return {
        "site": context.site,
        "path": index_file(start),
        "root": "../" * start.count("/"),
        "title": title,
        "section": section,
        "canonical": context.canonical(start),
        "description": description,
    }


def twin_links(start: str, page: str) -> tuple[Reference, ...]:
    """Links to the twins of a page."""
    return tuple(Reference(label=label, href=relative(start, f"{page}index.{form}")) for form, label in FORMS.items())
