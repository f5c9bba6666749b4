"""Long lists in parts, and what comes before and after something in a list."""

from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.plan.page import in_parts, part_count, part_links, part_title, with_neighbours
from tests.support.memos import write_memo
from tests.support.sites import build_site


@pytest.mark.parametrize(
    ("items", "expected"),
    [("", []), ("a", [("a", (None, None))]), ("abc", [("a", (None, "b")), ("b", ("a", "c")), ("c", ("b", None))])],
)
def test_each_item_has_the_one_before_it_and_the_one_after_it(items: str, expected: object) -> None:
    """At the ends there is none."""
    assert list(with_neighbours(tuple(items))) == expected


def test_full_parts_stay_as_they_are_when_a_list_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are cut from the oldest on; an empty list has one part, which is empty."""
    monkeypatch.setattr("memosite.plan.page.LIST_LIMIT", 3)
    before, after = in_parts(range(7)), in_parts(range(8))
    assert [list(part) for part in before] == [[0, 1, 2], [3, 4, 5], [6]]
    assert before[:2] == after[:2]
    assert in_parts([]) == [()]


def test_parts_are_called_and_linked_by_their_number() -> None:
    """The first may be the page itself, which has no number in its title."""
    assert (part_title("Health", None), part_title("Health", 0), part_title("Health", 2)) == (
        "Health",
        "Health",
        "Health, page 2",
    )
    links = part_links("health/2/", "health/", 2, 2, first="health/")
    assert [(one.label, one.href, one.is_current) for one in links] == [
        ("1", "../index.html", False),
        ("2", "index.html", True),
    ]


def test_a_list_that_fits_its_page_has_no_parts() -> None:
    """One that does not has all of it in parts."""
    assert (part_count(range(500)), part_count(range(501)), part_count(range(101), shown=100)) == (0, 2, 1)


def test_anchors_are_made_of_keys_and_stay_when_a_heading_has_another_word(tmp_path: Path) -> None:
    """Those of part pages, of a position and of digests were published when headings had other words."""
    repo = tmp_path / "repo"
    for number in range(501):
        day = f"2026-05-{number % 28 + 1:02}"
        write_memo(
            repo / "memos/inbox", f"m{number}", sender="a", to="b", action_required=True, sent=f"{day}T10:00:00Z"
        )
    (tmp_path / "memosite.yml").write_text("sources: [{path: repo}]\nfeeds: {digest: daily}\n")
    site = build_site(tmp_path)

    def headings(page: str) -> dict[str, str]:
        tree: Any = html.fromstring((site / page).read_bytes())
        return {str(one.get("id")): one.xpath("string(h2)").split(" ")[0] for one in tree.xpath("//section[@id]")}

    assert headings("positions/b/1/index.html") == {"2026-05": "May"}
    assert '<span id="part-1"></span>' in (site / "positions/b/1/index.html").read_text()
    anchors = {str(one.get("id")) for one in html.parse(site / "positions/b/index.html").iter() if one.get("id")}
    assert {"inbox", "open-actions", "sent"} <= anchors
    assert headings("digests/2026-05-01/index.html") == {"memos": "Memos"}
