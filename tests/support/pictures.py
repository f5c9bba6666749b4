"""Reads the pictures of a page: the numbers of the drawing by its shapes, and those of the table beside it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import html as lxml_html

_BAR = re.compile(r"M(\d+) 0h(\d+)v1h-(\d+)z")
_SHAPES = {
    "spans": _BAR,
    "bars": _BAR,
    "grid": re.compile(r"M(\d+) (\d+)h\.9v\.86h-\.9z"),
    "sparks": re.compile(r"M(\d+) (\d+)v-(\d+)h\.8v(\d+)z"),
}


@dataclass(frozen=True, kw_only=True)
class ReadPicture:
    """A picture as it is on a page: the numbers of its table (None = an empty cell), and those that are drawn.

    `drawn` has them by row and column, 0 where nothing is drawn. `links` and `table_links` are where the cells of the
    drawing and of the table lead, in order.
    """

    anchor: str
    form: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    table: tuple[tuple[int | None, ...], ...]
    drawn: tuple[tuple[int, ...], ...]
    links: tuple[str, ...]
    table_links: tuple[str, ...]


def check_pictures(page: Path) -> list[ReadPicture]:
    """The pictures of a page, each of which draws just what its table says."""
    found = list(read_pictures(page))
    for one in found:
        expected = tuple(tuple(number or 0 for number in row) for row in one.table)
        assert one.drawn == expected, (page, one.anchor)
        if one.links:
            assert one.links == one.table_links, (page, one.anchor)
    return found


def read_pictures(page: Path) -> Iterator[ReadPicture]:
    """All pictures of a page, in order."""
    for figure in lxml_html.parse(page).iterfind(".//figure[@class='picture']"):
        (table,) = figure.iterfind(".//table")
        columns = tuple(cell.text_content() for cell in table.findall("./thead/tr/th")[1:])
        rows = table.findall("./tbody/tr")
        form = next(name for name in _SHAPES if figure.find_class(name))
        yield ReadPicture(
            anchor=figure.get("id"),
            form=form,
            columns=columns,
            labels=tuple(row.find("./th").text_content().strip() for row in rows),
            table=tuple(tuple(_number(cell.text_content()) for cell in row.findall("./td")) for row in rows),
            drawn=tuple(_drawn(figure, form, len(columns), len(rows))),
            links=tuple(figure.xpath(".//svg//a[path]/@href")),
            table_links=tuple(link.get("href") for link in table.iterfind("./tbody/tr/td/a")),
        )


def _number(text: str) -> int | None:
    return int(text.replace(",", "")) if text.strip() else None


def _drawn(figure: Any, form: str, width: int, height: int) -> Iterator[tuple[int, ...]]:
    """The numbers of each row by the shapes of the drawing."""
    if form == "grid":
        yield from _cells(figure, width, height)
        return
    items = figure.find_class(form)[0].findall("./li")
    assert len(items) == height
    for item in items:
        (svg,) = item.iterfind(".//svg")
        assert svg.get("aria-hidden") == "true"
        box = [int(number) for number in svg.get("viewbox").split()]
        if form == "spans":
            (path, *_) = svg.iterfind(".//path")
            begin = int(_BAR.fullmatch(path.get("d"))[1])  # type: ignore[index]
            yield begin, *_stacked(svg, box[2], figure, end=begin)
        else:
            yield _stacked(svg, box[2], figure) if form == "bars" else _upward(svg, box, width)


def _stacked(svg: Any, longest: int, figure: Any, *, end: int = 0) -> tuple[int, ...]:
    """The lengths of the pieces of a bar, which follow each other, by the column whose shade they have."""
    shades = [rect.get("class") for rect in figure.iterfind(".//ul[@class='legend']//rect")]
    numbers = dict.fromkeys(shades, 0)
    for path in svg.iterfind(".//path"):
        start, there, back = (int(one) for one in _SHAPES["bars"].fullmatch(path.get("d")).groups())  # type: ignore[union-attr]
        assert start == end and there == back > 0
        numbers[path.get("class")] = there
        end += there
    assert end <= longest
    return tuple(numbers.values())


def _upward(svg: Any, box: list[int], width: int) -> tuple[int, ...]:
    """The heights of the bars by their columns."""
    assert box[2] == width
    numbers = [0] * width
    for path in svg.iterfind(".//path"):
        shapes = _SHAPES["sparks"].findall(path.get("d"))
        assert _SHAPES["sparks"].sub("", path.get("d")) == ""
        for at, bottom, up, down in shapes:
            assert int(bottom) == box[3] >= int(up) == int(down) > 0
            numbers[int(at)] = int(up)
    return tuple(numbers)


def _cells(figure: Any, width: int, height: int) -> Iterator[tuple[int, ...]]:
    """The numbers that the cells of a grid say in words, by their places; of more never in a paler shade."""
    numbers, shades = [[0] * width for _ in range(height)], []
    for path in figure.xpath(".//svg[@class='grid']/svg[last()]//path[starts-with(@class, 'shade')]"):
        at, row = (int(one) for one in _SHAPES["grid"].fullmatch(path.get("d")).groups())  # type: ignore[union-attr]
        number = int(path.findtext("./title").rpartition(" ")[2].replace(",", ""))
        numbers[row][at] = number
        shades.append((number, path.get("class")))
    shades.sort()
    assert [shade for _, shade in shades] == sorted(shade for _, shade in shades)
    yield from map(tuple, numbers)
