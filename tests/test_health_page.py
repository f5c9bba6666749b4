"""The page of findings: rules lead to their findings, sentences begin with a capital, a script filters."""

from pathlib import Path

import pytest
from lxml import html
from playwright.sync_api import Browser

from memosite.plan.context import LIST_LIMIT
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.pages import bad_links
from tests.support.sites import build_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sources: one with more dates that are none than a part may have, the other with a file that is no JSON."""
    folder = tmp_path_factory.mktemp("health")
    for number in range(LIST_LIMIT + 5):
        name = f"2026-05-01-{number // 60:02}{number % 60:02}--engineer--director--m-{number}"
        write_memo(folder / "harbour/memos/inbox", name, sent="2026-05-XX")
    write_text(folder / "yard/memos/inbox/2026-05-02-0900--engineer--director--torn.openthing", '{"type": "memo",}')
    write_text(folder / "memosite.yml", "sources:\n  - path: harbour\n  - path: yard\n")
    return build_site(folder)


def test_rules_lead_to_their_first_finding_also_on_another_part(site: Path) -> None:
    """And each sentence begins with a capital, unless it begins with a name."""
    page = html.parse(site / "health/index.html")
    links = {str(link.text_content()): str(link.get("href")) for link in page.xpath("//table[@class='rules']//a")}
    assert links["date-invalid"] == "#rule-date-invalid-error"
    assert links["json-invalid"] == "2/index.html#rule-json-invalid-error"
    assert list(bad_links(site)) == []
    said = page.xpath("//ul[@class='findings']/li/p[1]/text()")
    said += html.parse(site / "health/2/index.html").xpath("//ul[@class='findings']/li/p[1]/text()")
    remedies = {" ".join(one.split()) for one in page.xpath("//ul[@class='findings']/li/p[3]/text()[1]")}
    assert remedies == {"Fix: write it like 2026-05-01T14:30:00Z. Based on:"}, "what is done, and by which rule"
    assert len(said) > LIST_LIMIT and any(one.strip().startswith("A comma") for one in said)


def test_findings_are_filtered_by_severity_rule_and_source(browser: Browser, site: Path) -> None:
    """Those that are chosen together; how many are shown is said."""
    page = browser.new_page()
    page.goto((site / "health/2/index.html").as_uri())
    every = page.locator(".findings > li")
    number = every.count()
    page.get_by_label("Source").select_option("yard")
    shown = page.locator(".findings > li:visible")
    assert 0 < shown.count() < number
    assert all("yard/" in one for one in shown.locator(".facts >> nth=0").all_inner_texts())
    assert page.get_by_text(f"{shown.count()} shown").is_visible()
    page.get_by_label("Rule", exact=True).select_option("date-invalid")
    assert shown.count() == 0
    page.get_by_label("Source").select_option("")
    assert all("date-invalid" in one for one in shown.all_inner_texts()) and shown.count() > 0
    page.get_by_label("Severity").select_option("error")
    page.goto((site / "health/2/index.html").as_uri() + "#rule-json-invalid-error")
    assert page.locator("#rule-json-invalid-error").is_visible()
    page.close()
