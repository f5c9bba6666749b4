"""Charts of organizations: who stands under whom, and that nothing overlaps."""

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memosite.pages import Reference
from memosite.plan.organization import BOX, MAX_WIDTH, Chart, ChartBox, Edge, Seated, draw, fitted


def seats(ids: Iterable[str]) -> tuple[Seated, ...]:
    """A position for each id."""
    return tuple(Seated(id=id_, link=Reference(label=id_), note="", status="staffed") for id_ in ids)


def under(*pairs: str) -> tuple[Edge, ...]:
    """Each pair "ab": a reports to b."""
    return tuple(Edge(sender=pair[0], to=pair[1], words=pair, is_rank=True) for pair in pairs)


def drawn(ids: str, *edges: Edge) -> Chart:
    """A chart of positions with names of one letter."""
    chart = draw(seats(ids), edges)
    assert chart is not None
    return chart


def place(chart: Chart, label: str) -> ChartBox:
    """The box of a position."""
    return next(box for box in chart.boxes if box.label == label)


def test_nobody_makes_no_chart() -> None:
    """Without positions there is a list, and no drawing."""
    assert draw((), ()) is None


def test_a_manager_stands_above_and_in_the_middle() -> None:
    """Those of one manager stand in one row, if they manage somebody themselves."""
    chart = drawn("abcde", *under("ba", "ca", "db", "ec"))
    a, b, c, d = (place(chart, label) for label in "abcd")
    assert a.y < b.y == c.y < d.y
    assert (b.x + c.x) // 2 in range(a.x - BOX[0] // 2, a.x + BOX[0] // 2)
    assert [line.kind for line in chart.lines] == ["rank"] * 4


def test_the_first_manager_counts_and_others_are_lighter_lines() -> None:
    """Several managers, and relationships of other kinds, are said in words."""
    chart = drawn("abcd", *under("ca", "cb", "dc"), Edge(sender="a", to="b", words="a peers b", is_rank=False))
    assert sorted(line.words for line in chart.lines if line.kind == "other") == ["a peers b", "cb"]
    assert place(chart, "c").y > place(chart, "a").y


def test_cycles_are_cut_and_shown() -> None:
    """Who manages his own manager is drawn once; the line that closes the circle is a lighter one."""
    chart = drawn("abc", *under("ab", "bc", "ca", "aa"))
    assert len(chart.boxes) == 3
    assert [line.words for line in chart.lines if line.kind == "other"] == ["ca"]
    assert place(chart, "c").y < place(chart, "b").y < place(chart, "a").y


def test_one_branch_below_a_position_is_no_column_of_leaves() -> None:
    """Found by chance: who manages one person who manages one person was drawn out of the drawing."""
    chart = drawn("abcdefg", *under("ab", "bf", "de", "gc"))
    assert all(box.x + BOX[0] < chart.width for box in chart.boxes)


def test_the_line_to_one_branch_is_straight() -> None:
    """It was bent where what is below the branch makes it wider than a box: the box above was in its middle."""
    chart = drawn("abcd", *under("ba", "cb", "db"))
    assert place(chart, "a").x == place(chart, "b").x
    x = place(chart, "a").x + BOX[0] // 2
    assert sum(line.path.startswith(f"M{x} ") and line.path.count(f"H{x}V") == 1 for line in chart.lines) == 1


def test_edges_to_outside_are_left_to_the_table() -> None:
    """The drawing knows the positions of one organization."""
    assert drawn("a", *under("ax", "ya")).lines == ()


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 200), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200), st.booleans()), max_size=260))
def test_boxes_never_overlap_and_stand_inside(number: int, pairs: list[tuple[int, int, bool]]) -> None:
    """However an organization is made, each position has its own place within the drawing."""
    edges = [Edge(sender=f"p{one}", to=f"p{two}", words="", is_rank=is_rank) for one, two, is_rank in pairs]
    chart = draw(seats(f"p{index}" for index in range(number)), edges)
    assert chart is not None
    assert len(chart.boxes) == number
    corners = sorted((box.y, box.x) for box in chart.boxes)
    assert all(x > 0 and x + BOX[0] < chart.width and y > 0 and y + BOX[1] < chart.height for y, x in corners)
    for index, (y, x) in enumerate(corners):
        for other_y, other_x in corners[index + 1 :]:
            if other_y >= y + BOX[1]:
                break
            assert abs(other_x - x) >= BOX[0]
    assert chart == draw(seats(f"p{index}" for index in range(number)), edges)


def test_a_wide_organization_is_drawn_in_rows() -> None:
    """Two hundred under one manager stand in columns, and columns in rows."""
    ids = [f"p{index}" for index in range(200)]
    flat = [Edge(sender=one, to="p0", words="", is_rank=True) for one in ids[1:]]
    chart = draw(seats(ids), flat)
    assert chart is not None
    assert chart.width <= MAX_WIDTH + 100
    assert chart.height < 8_000


def test_a_deep_organization_is_drawn() -> None:
    """A chain of command is as long as it likes."""
    ids = [f"p{index}" for index in range(3_000)]
    chain = [Edge(sender=low, to=high, words="", is_rank=True) for high, low in pairwise(ids)]
    chart = draw(seats(ids), chain)
    assert chart is not None
    assert len({box.y for box in chart.boxes}) == 3_000


def test_text_is_cut_to_the_box() -> None:
    """Wide letters take more room than narrow ones."""
    assert fitted("Strategist", 14) == "Strategist"
    assert fitted("W" * 80, 14).endswith("W…")
    assert len(fitted("W" * 80, 14)) < len(fitted("i" * 80, 14)) < 80
    assert len(fitted("决" * 80, 14)) <= 14
    assert fitted("", 14) == ""
