"""Lays out the chart of an organization: the positions of boxes and lines, in whole pixels.

    positions, edges ─► who is under whom ─► sizes, from the leaves up ─► places, from the top down

A position is under its first manager; further managers, cycles and all other relationships are lighter lines
behind the boxes. Positions that manage nobody are stacked below their manager, branches are side by side, in as
many rows as it takes to stay within `MAX_WIDTH`, so that 200 positions are as readable as 5. Without recursion.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from memosite.facts.phrases import joined
from memosite.pages.organization import Chart, ChartBox, ChartLine
from memosite.pages.parts import Reference

_Status: TypeAlias = Literal["staffed", "vacant", "shared", "informal"]

BOX: Final = (216, 68)
"""Width and height of a position's box."""

MAX_WIDTH: Final = 860
"""The width that branches side by side may take."""

MAX_LINES: Final = 150
"""The most lighter lines that are drawn; the table of relationships has all."""

_INDENT, _GAP, _LEVEL = 26, 12, 34  # of what is stacked; between neighbours; between levels
_COLUMN = 8  # positions that are stacked
_MARGIN = 8
_BULGE = 16  # how far a bent line leaves the row or column that it runs along
_STATUSES: Final[tuple[Literal["staffed", "vacant", "shared", "informal"], ...]] = (
    "staffed",
    "vacant",
    "shared",
    "informal",
)
_INSIDE = BOX[0] - 24  # pixels for text
_LABEL, _NOTE = 16, 13  # font sizes with some room: fonts differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    """A position to be drawn; `note` is who holds it, or its status, `counts` what waits there."""

    id: str
    link: Reference
    note: str
    status: str
    counts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A line from one position to another, by their ids; `is_rank` if `to` manages `sender`."""

    sender: str
    to: str
    words: str
    is_rank: bool


@dataclass(slots=True)
class _Node:
    """A position while it is placed.

    `rows` are what is below it: branches, and columns of leaves; `is_column` if that is one column of leaves. `own` is
    how far its own box is from the left of its branch.
    """

    below: list[str] = field(default_factory=list)
    rows: list[list[tuple[str, ...]]] = field(default_factory=list)
    is_column: bool = False
    own: int = 0
    width: int = BOX[0]
    height: int = BOX[1]
    x: int = 0
    y: int = 0


def draw(seated: Sequence[Seated], edges: Sequence[Edge]) -> Chart | None:
    """The chart of an organization; None if there are no positions. Equal input gives an equal chart."""
    if not seated:
        return None
    known = {one.id for one in seated}
    within = [edge for edge in edges if edge.sender in known and edge.to in known and edge.sender != edge.to]
    managers = _managers(within)
    nodes = {one.id: _Node() for one in seated}
    for id_ in nodes:
        if id_ in managers:
            nodes[managers[id_]].below.append(id_)
    roots = sorted((id_ for id_ in nodes if id_ not in managers), key=lambda id_: not nodes[id_].below)
    order = _from_the_top(nodes, roots)
    for id_ in reversed(order):
        _measure(nodes, nodes[id_])
    width, height = _place_roots(nodes, roots)
    lines: list[ChartLine] = []
    for id_ in order:
        lines += _place_below(nodes, nodes[id_])
    others = [edge for edge in within if not (edge.is_rank and managers.get(edge.sender) == edge.to)]
    return Chart(
        width=width + 2 * _MARGIN + _BULGE * bool(others),
        height=height + 2 * _MARGIN + _BULGE * bool(others),
        boxes=tuple(_box(nodes[one.id], one) for one in seated),
        lines=(*_lighter(nodes, others), *lines),
    )


def _managers(edges: Iterable[Edge]) -> dict[str, str]:
    """The manager of each position in the chart: the first one named that makes no cycle."""
    found: dict[str, str] = {}
    for edge in edges:
        if not edge.is_rank or edge.sender in found:
            continue
        above: str | None = edge.to
        while above is not None and above != edge.sender:
            above = found.get(above)
        if above is None:
            found[edge.sender] = edge.to
    return found


def _from_the_top(nodes: dict[str, _Node], roots: Iterable[str]) -> list[str]:
    order = list(roots)
    for id_ in order:  # it grows while it is read
        order += nodes[id_].below
    return order


def _measure(nodes: dict[str, _Node], node: _Node) -> None:
    """The size of a branch, those below it being measured already: leaves in columns first, then branches."""
    if not node.below:
        return
    leaves = [id_ for id_ in node.below if not nodes[id_].below]
    units = [tuple(leaves[start : start + _COLUMN]) for start in range(0, len(leaves), _COLUMN)]
    units += [(id_,) for id_ in node.below if nodes[id_].below]
    rows: list[list[tuple[str, ...]]] = []
    left = MAX_WIDTH
    for unit in units:
        width = _size(nodes, unit)[0]
        if not rows or left + width > MAX_WIDTH:
            rows.append([])
            left = 0
        rows[-1].append(unit)
        left += width + 2 * _GAP
    sizes = [[_size(nodes, unit) for unit in row] for row in rows]
    widest = max(sum(width for width, _ in row) + 2 * _GAP * (len(row) - 1) for row in sizes)
    node.rows = rows
    node.is_column = len(units) == 1 and not nodes[units[0][0]].below
    node.width = max(BOX[0], widest + _INDENT * (len(rows) > 1))
    node.height = BOX[1] + sum(_LEVEL + max(height for _, height in row) for row in sizes)
    if len(rows) == 1 and not node.is_column:
        node.own = _above(nodes, rows[0], (node.width - BOX[0]) // 2)


def _above(nodes: dict[str, _Node], row: Iterable[tuple[str, ...]], middle: int) -> int:
    """Where the box above a single row of branches begins: in the middle, but straight above a branch near that."""
    left, found = 0, []
    for unit in row:
        if nodes[unit[0]].below:
            found.append(left + nodes[unit[0]].own)
        left += _size(nodes, unit)[0] + 2 * _GAP
    nearest = min(found, key=lambda own: abs(own - middle), default=middle)
    return nearest if abs(nearest - middle) < BOX[0] // 4 else middle


def _size(nodes: dict[str, _Node], unit: tuple[str, ...]) -> tuple[int, int]:
    """Width and height of a branch, or of a column of leaves with the line beside it."""
    if nodes[unit[0]].below:
        return nodes[unit[0]].width, nodes[unit[0]].height
    return BOX[0] + _INDENT, len(unit) * (BOX[1] + _GAP) - _GAP


def _place_roots(nodes: dict[str, _Node], roots: Iterable[str]) -> tuple[int, int]:
    """Put those without a manager side by side, in as many rows as it takes; return the size of all."""
    x = y = row = width = 0
    for id_ in roots:
        node = nodes[id_]
        if x and x + node.width > MAX_WIDTH:
            x, y, row = 0, y + row + _LEVEL, 0
        _put(node, x, y)
        width, row = max(width, x + node.width), max(row, node.height)
        x += node.width + 2 * _GAP
    return width, y + row


def _put(node: _Node, left: int, top: int) -> None:
    node.x, node.y = left + node.own, top


def _place_below(nodes: dict[str, _Node], node: _Node) -> Iterable[ChartLine]:
    """Put what is below a position, row by row, and draw the lines to it."""
    bottom = node.y + BOX[1]
    if node.is_column:
        yield from _stack([nodes[id_] for id_ in node.rows[0][0]], node.x, bottom + _LEVEL, start=bottom)
        return
    is_single = len(node.rows) == 1
    trunk = node.x + (BOX[0] if is_single else _INDENT) // 2
    begin = node.x - node.own if is_single else node.x + _INDENT
    top = bottom + _LEVEL
    for row in node.rows:
        left, fork = begin, top - _LEVEL // 2
        stem = f"M{trunk + _MARGIN} {bottom + _MARGIN}V{fork + _MARGIN}"
        for unit in row:
            first = nodes[unit[0]]
            if first.below:
                _put(first, left, top)
                yield ChartLine(path=f"{stem}H{first.x + BOX[0] // 2 + _MARGIN}V{top + _MARGIN}", kind="rank")
            else:
                yield ChartLine(path=f"{stem}H{left + _INDENT // 2 + _MARGIN}", kind="rank")
                yield from _stack([nodes[id_] for id_ in unit], left, top, start=fork)
            left += _size(nodes, unit)[0] + 2 * _GAP
        top += max(_size(nodes, unit)[1] for unit in row) + _LEVEL


def _stack(nodes: Iterable[_Node], left: int, top: int, *, start: int) -> Iterable[ChartLine]:
    """Put branches one below the other beside a line that begins at `start`."""
    for node in nodes:
        _put(node, left + _INDENT, top)
        x, y = left + _INDENT // 2 + _MARGIN, node.y + BOX[1] // 2 + _MARGIN
        yield ChartLine(path=f"M{x} {start + _MARGIN}V{y}H{node.x + _MARGIN}", kind="rank")
        top += node.height + _GAP


def _lighter(nodes: dict[str, _Node], edges: Sequence[Edge]) -> Iterable[ChartLine]:
    """Bent lines from box to box, one for each pair; their meaning is given in words."""
    words: dict[tuple[str, str], list[str]] = defaultdict(list)
    for edge in edges:
        words[min(edge.sender, edge.to), max(edge.sender, edge.to)].append(edge.words)
    for (one, other), said in list(words.items())[:MAX_LINES]:
        (ax, ay), (bx, by) = (
            (node.x + BOX[0] // 2 + _MARGIN, node.y + BOX[1] // 2 + _MARGIN) for node in (nodes[one], nodes[other])
        )
        # Along a row or a column a straight line would be hidden by the boxes between.
        aside = BOX[0] + 2 * _BULGE if abs(ax - bx) < BOX[0] // 2 else 0
        below = BOX[1] + 2 * _BULGE if abs(ay - by) < BOX[1] // 2 else 0
        path = f"M{ax} {ay}Q{(ax + bx) // 2 + aside} {(ay + by) // 2 + below} {bx} {by}"
        yield ChartLine(path=path, kind="other", words="; ".join(dict.fromkeys(said)))


def _box(node: _Node, seated: Seated) -> ChartBox:
    return ChartBox(
        x=node.x + _MARGIN,
        y=node.y + _MARGIN,
        link=seated.link,
        label=fitted(seated.link.label, _LABEL),
        note=fitted(seated.note, _NOTE),
        counts=fitted(seated.counts, _NOTE),
        status=next((known for known in _STATUSES if known == seated.status), ""),
        words=joined(
            ", ", dict.fromkeys(part for part in (seated.link.label, seated.note, seated.status, seated.counts) if part)
        ),
    )


def fitted(text: str, size: int) -> str:
    """As much of a text as fits into a box at this font size, with an ellipsis where it is cut."""
    left = _INSIDE - size
    for index, char in enumerate(text):
        left -= _char_width(char) * size // 100
        if left < -size // 2 and index < len(text) - 1:
            return text[:index].rstrip() + "…"
    return text


def _char_width(char: str) -> int:
    """A generous width in hundredths of the font size: fonts differ, and what is too wide is clipped."""
    if unicodedata.east_asian_width(char) in "WF":
        return 105
    if char in "iljtfrI.,:;'|!()[] ":
        return 40
    return 90 if char in "mwMW@%—…" else 72 if char.isupper() else 60
