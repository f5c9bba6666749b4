"""The tables that benchmarks print: measured values, their ratios, and the bars they are held to (SPEC 10)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.measure import Changes, Measured

FULL, AGAIN, ADDED = "full build", "again, nothing changed", "one memo added"
WORKS = (FULL, AGAIN, ADDED)
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one build of one tool took and wrote."""

    tool: str
    memos: int
    work: str
    measured: Measured
    changes: Changes


Results = Mapping[tuple[str, int, str], Result]
"""By tool, number of memos, and work."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what is measured of a build, and how large a part of the other tool's it may be."""

    label: str
    work: str
    value: Callable[[Result], float]
    form: str = ".2f"
    bar: float | None = None


ROWS = (
    Row("full build, s", FULL, lambda result: result.measured.seconds, bar=0.7),
    Row("full build, processor s", FULL, lambda result: result.measured.processor),
    Row("full build, memory MB", FULL, lambda result: result.measured.memory / MEGABYTE, ",.0f", bar=0.25),
    Row("again, nothing changed, s", AGAIN, lambda result: result.measured.seconds, bar=0.03),
    Row("one memo added, s", ADDED, lambda result: result.measured.seconds, bar=0.05),
    Row("files", FULL, lambda result: result.changes.files, ",.0f"),
    Row("files, MB", FULL, lambda result: result.changes.bytes / MEGABYTE, ",.0f"),
    Row("files written again", AGAIN, lambda result: result.changes.written, ",.0f"),
    Row("files changed again", AGAIN, lambda result: result.changes.changed, ",.0f"),
    Row("files written, one memo added", ADDED, lambda result: result.changes.written, ",.0f"),
    Row("files changed, one memo added", ADDED, lambda result: result.changes.changed, ",.0f"),
)
FILES_BAR, MEMORY_BAR, EACH_BAR, ADDED_BAR = 60_000, 2_000 * MEGABYTE, 1.2, 0.02


def size_table(results: Results, memos: int, tools: Sequence[str]) -> str:
    """The table of SPEC 10 for one size: a column each tool; with two of them their ratio and its bar."""
    heads = [f"{memos:,} artifacts", *tools, *(("ratio", "bar") if len(tools) > 1 else ())]
    lines = [heads]
    for row in ROWS:
        values = [row.value(results[tool, memos, row.work]) for tool in tools]
        line = [row.label, *(format(value, row.form) for value in values)]
        if len(values) > 1:
            ratio = values[0] / values[1] if values[1] else float("nan")
            line += [f"{ratio:.3g} ×", verdict(ratio, row.bar, f"{row.bar} ×") if row.bar else ""]
        lines.append(line)
    return align(lines)


def growth_table(results: Results, sizes: Sequence[int], tool: str) -> str:
    """How one tool's builds grow from each size to the next, and the bars of the largest."""

    def line(label: str, form: str, value: Callable[[int], float], bar: float, said: str) -> list[str]:
        values = [value(memos) for memos in sizes]
        return [label, *(format(each, form) for each in values), verdict(values[-1], bar, said)]

    def full(memos: int) -> Result:
        return results[tool, memos, FULL]

    def each(memos: int) -> float:
        return full(memos).measured.seconds / memos

    def added(memos: int) -> float:
        return results[tool, memos, ADDED].measured.seconds / full(memos).measured.seconds

    before = sizes[-2] if len(sizes) > 1 else sizes[-1]
    return align(
        [
            [tool, *(f"{memos:,}" for memos in sizes), "bar"],
            line(
                "an artifact, ms", ".2f", lambda memos: 1000 * each(memos), 1200 * each(before), "1.2 × the one before"
            ),
            line("memory, MB", ",.0f", lambda memos: full(memos).measured.memory / MEGABYTE, 2_000, "2 GB at 100,000"),
            line("one memo added / full build", ".4f", added, ADDED_BAR, f"{ADDED_BAR} at 100,000"),
            line("files", ",.0f", lambda memos: full(memos).changes.files, FILES_BAR, "60,000 at 10,000"),
        ]
    )


def verdict(value: float, bar: float, said: str) -> str:
    """A bar and whether a value meets it."""
    return f"{said}: {'met' if value <= bar else 'missed'}"


def align(lines: Iterable[Sequence[str]]) -> str:
    """Lines of cells as columns, the first flush left, the others right; a rule below the first line."""
    cells = [list(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    drawn = [
        "  ".join((line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:]))).rstrip() for line in cells
    ]  # fmt: skip
    return "\n".join((drawn[0], "-" * max(map(len, drawn)), *drawn[1:]))
