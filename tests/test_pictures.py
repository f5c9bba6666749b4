"""Pictures: each draws the numbers of its table, and the table those of the archive."""

import datetime as dt
import random
from pathlib import Path

import pytest

from memosite.pages import Bars, Cell, Grid, PictureColumn, PictureRow, Reference, Sparks
from tests.support.memos import write_memo
from tests.support.pages import bad_links
from tests.support.pictures import check_pictures
from tests.support.sites import build_site


def write_day(repo: Path, day: str, name: str, time: str = "09:00", **fields: object) -> Path:
    """A memo of a day."""
    stem = f"{day}-{time.replace(':', '')}--engineer--director--{name}"
    return write_memo(repo / "memos/read", stem, sent=f"{day}T{time}:00Z", **fields)  # type: ignore[arg-type] # as written there


def columns(*labels: str) -> tuple[PictureColumn, ...]:
    """Columns of a table."""
    return tuple(PictureColumn(label=label) for label in labels)


def row(label: str, *numbers: int | None) -> PictureRow:
    """A row of a table."""
    cells = tuple(None if number is None else Cell(number=number) for number in numbers)
    return PictureRow(label=Reference(label=label), cells=cells)


def test_the_timeline_has_a_bar_for_each_day(tmp_path: Path) -> None:
    """As many as the archive has, by the day in UTC, on one scale for a year; and each month leads to its page."""
    chance, expected = random.Random(21), dict[tuple[str, int], int]()
    for number in range(120):
        day = dt.date(2025, 11, 1) + dt.timedelta(days=chance.randrange(150))
        write_day(tmp_path / "repo", day.isoformat(), f"m-{number}")
        key = f"{day:%Y-%m}", day.day
        expected[key] = expected.get(key, 0) + 1
    site = build_site(tmp_path / "repo", output=tmp_path / "out")
    found = {one.anchor: one for one in check_pictures(site / "timeline/index.html")}
    assert sorted(found) == ["days-2025", "days-2026"]
    months = {"November": 11, "December": 12, "January": 1, "February": 2, "March": 3}
    drawn = {
        (f"{anchor[5:]}-{months[label]:02d}", day): number
        for anchor, one in found.items()
        for label, numbers in zip(one.labels, one.drawn, strict=True)
        for day, number in enumerate(numbers, 1)
        if number
    }
    assert drawn == expected
    assert found["days-2026"].table[1][28:] == (None, None, None), "February 2026 has 28 days"
    assert list(bad_links(site)) == []


def test_every_picture_of_the_example_draws_its_table(example_site: Path) -> None:
    """On every page."""
    found = [one for page in sorted(example_site.rglob("*.html")) for one in check_pictures(page)]
    assert {one.form for one in found} >= {"sparks"}


def test_bars_grids_and_sparks_have_one_scale_and_a_cell_for_each_column() -> None:
    """Pieces one behind the other, four shades; nothing is drawn for 0; a row of another length is refused."""
    picture = Bars(
        anchor="a", caption="", corner="", columns=columns("new", "old", "older"),
        rows=(row("one", 1, 0, 4), row("two", 0, 3, 0), row("none", 0, None, 0)),
    )  # fmt: skip
    assert picture.longest == 5
    assert [shade for _, shade in picture.keys] == [2, 3, 4]
    drawn = [[(mark.at, mark.size, mark.shade) for mark in marks] for _, marks in picture.drawn]
    assert drawn == [[(0, 1, 2), (1, 4, 4)], [(0, 3, 3)], []]
    grid = Grid(anchor="a", caption="", corner="", columns=columns(*"abcde"), rows=(row("one", 1, 25, 26, 0, 100),))
    assert [[(mark.at, mark.shade) for mark in marks] for _, marks in grid.drawn] == [[(0, 1), (1, 1), (2, 2), (4, 4)]]
    assert Sparks(anchor="a", caption="", corner="", columns=columns("a", "b"), rows=(row("one", 1, 7),)).most == 7
    assert Sparks(anchor="a", caption="", corner="", columns=columns("a"), rows=(row("one", 0),)).most == 1
    with pytest.raises(ValueError, match="a row of the picture a"):
        Bars(anchor="a", caption="", corner="", columns=columns("new", "old"), rows=(row("one", 1),))
