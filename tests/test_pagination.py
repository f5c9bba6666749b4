"""Long lists in parts, and what comes before and after something in a list."""

import pytest

from memosite.plan.pagination import in_parts, part_count, part_links, part_title, with_neighbours


@pytest.mark.parametrize(
    ("items", "expected"),
    [("", []), ("a", [("a", (None, None))]), ("abc", [("a", (None, "b")), ("b", ("a", "c")), ("c", ("b", None))])],
)
def test_each_item_has_the_one_before_it_and_the_one_after_it(items: str, expected: object) -> None:
    """At the ends there is none."""
    assert list(with_neighbours(tuple(items))) == expected


def test_full_parts_stay_as_they_are_when_a_list_grows() -> None:
    """They are cut from the oldest on; an empty list has one part, which is empty."""
    before, after = in_parts(range(7), 3), in_parts(range(8), 3)
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
