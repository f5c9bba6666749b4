"""Nothing is left off a page silently: what has no date, what is too much, what memosite has no use for (SPEC 2.2)."""

from dataclasses import replace
from typing import Any

from lxml import html

from memosite.facts import Ref
from memosite.pages import Page
from memosite.render import Renderer
from tests.test_record_pages import TEXTS, THEME, planned, record


def words(page: Page | Any) -> str:
    """All the words of a rendered page, on one line."""
    tree = html.fromstring(Renderer(THEME, TEXTS.__getitem__).render(page).decode())
    return " ".join(tree.text_content().split())


def mentioned(*by: tuple[str, str | None]) -> Any:
    """The page of a record that these mention; each is a key, and whether it has a date."""
    others = [
        replace(record(key, system="wyren"), **({} if date else {"date": None}))  # type: ignore[arg-type]
        for key, date in by
    ]
    refs: tuple[Ref, ...] = tuple(one.ref for one in others)
    return planned(record("0a", system="mif", backlinks=refs), *others)["records/mif/quay.0a/index.html"]


def test_what_mentions_an_artifact_is_listed_without_a_date_too() -> None:
    """The bullets of a memory seldom have one."""
    page = mentioned(("decisions.1", "2026-05-01"), ("decisions.2", None))
    assert [row.subject for row in page.backlinks] == ["Title of decisions.1", "Title of decisions.2"]


def test_of_many_that_mention_an_artifact_the_rest_is_counted_and_linked() -> None:
    """The twin has all of them."""
    page = mentioned(*((f"decisions.{number}", "2026-05-01") for number in range(201)))
    assert (len(page.backlinks), page.backlinks_total) == (200, 201)
    assert "The newest 200 of 201. All of them: json, md." in words(page)
