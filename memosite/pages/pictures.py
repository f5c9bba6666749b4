"""Pictures as frozen values: each holds the table that it draws, and where its marks are.

    rows × columns of numbers ─┬─► marks (`templates/pictures.html` draws them as SVG)
                               └─► the same numbers as a table, folded below

`Bars` draws a row as one bar, its columns stacked; `Grid` a cell for each number, the darker the more; `Sparks` a row
as small bars upward, a column each. The unit of every drawing is the number itself or the cell, and the page stretches
it, so the numbers can be read in the SVG, which a test does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from memosite.pages.parts import Reference

LEVELS = 4
"""The shades of a grid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A number with where it leads; `words` say in a drawing what it counts."""

    number: int
    href: str | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRow:
    """A row: its cells are as many as the picture has columns, None where there is nothing to count.

    `note` is drawn at the end of the row. `days` are, of what is counted by age, how many are 0, 1, 2 … days old, up to
    the last age that may still move to another column: from them a script counts to today.
    """

    label: Reference
    cells: tuple[Cell | None, ...]
    note: str = ""
    days: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """The sum of its numbers."""
        return sum(cell.number for cell in self.cells if cell)


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureColumn:
    """A column of the table; `mark` is what a drawing writes at it, "" where there is no room for words."""

    label: str
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A number that is drawn: from where, how far, and in which shade (from 1)."""

    at: int
    size: int
    shade: int
    cell: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A table that is drawn. `anchor` is its id on the page, `corner` what its rows are, `caption` what it shows."""

    anchor: str
    caption: str
    corner: str
    columns: tuple[PictureColumn, ...]
    rows: tuple[PictureRow, ...]

    def __post_init__(self) -> None:
        if any(len(row.cells) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of the picture {self.anchor} has not one cell for each column")

    @property
    def heads(self) -> tuple[tuple[int, str], ...]:
        """What is written at columns, with their numbers."""
        return tuple((number, column.mark) for number, column in enumerate(self.columns) if column.mark)

    @property
    def most(self) -> int:
        """The largest number, at least 1."""
        return max((cell.number for row in self.rows for cell in row.cells if cell), default=0) or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars(Picture):
    """One bar for each row, as long as its total: one column behind the other, later ones darker."""

    @property
    def keys(self) -> tuple[tuple[str, int], ...]:
        """What each shade stands for."""
        return tuple((column.label, shade_of(place, len(self.columns))) for place, column in enumerate(self.columns, 1))

    @property
    def longest(self) -> int:
        """The largest total, at least 1."""
        return max((row.total for row in self.rows), default=0) or 1

    @property
    def drawn(self) -> Iterator[tuple[PictureRow, tuple[Mark, ...]]]:
        """Each row with the marks of its numbers above 0."""
        shades = tuple(shade for _, shade in self.keys)
        for row in self.rows:
            starts = accumulate(cell.number if cell else 0 for cell in (None, *row.cells))
            yield (
                row,
                tuple(
                    Mark(at=at, size=cell.number, shade=shade, cell=cell)
                    for cell, at, shade in zip(row.cells, starts, shades, strict=False)
                    if cell and cell.number
                ),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(Picture):
    """A cell for each number, on a pale ground."""

    @property
    def drawn(self) -> Iterator[tuple[PictureRow, tuple[Mark, ...]]]:
        """Each row with the marks of its numbers above 0."""
        for row in self.rows:
            yield (
                row,
                tuple(
                    Mark(at=at, size=1, shade=shade_of(cell.number, self.most), cell=cell)
                    for at, cell in enumerate(row.cells)
                    if cell and cell.number
                ),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparks(Picture):
    """Small bars upward, a drawing for each row; all have one scale."""

    @property
    def drawn(self) -> Iterator[tuple[PictureRow, tuple[Mark, ...]]]:
        """Each row with a mark for each number above 0."""
        for row in self.rows:
            yield (
                row,
                tuple(
                    Mark(at=at, size=cell.number, shade=1, cell=cell)
                    for at, cell in enumerate(row.cells)
                    if cell and cell.number
                ),
            )


def shade_of(number: int, most: int) -> int:
    """The shade of a number above 0: equal steps up to the largest."""
    return -(-number * LEVELS // most)
