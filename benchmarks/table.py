"""The tables that benchmarks print: measured values, their ratios, and the bars they are held to (SPEC 10)."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks.measure import Changes, Measured
from memosite.facts.values import Value

FULL, AGAIN, ADDED = "full build", "again, nothing changed", "one memo added"
WORKS = (FULL, AGAIN, ADDED)
OURS = "memosite"
MEGABYTE = 1_000_000
SMALL, USUAL, LARGE = 2_000, 10_000, 100_000
"""The numbers of artifacts that the bars are set for."""


class Result(Value):
    """What one kind of build took and wrote: `measured` is the median of the rounds, files are those of the first."""

    tool: str
    memos: int
    work: str
    measured: Measured
    rounds: tuple[Measured, ...]
    changes: Changes
    search_files: int


Results = Mapping[tuple[str, int, str], Result]
"""By tool, number of memos, and work."""

Builds = Mapping[str, Result]
"""The three builds of one tool at one size, by work."""


class Bar(Value, kw_only=False):
    """The most that a value may be at `memos` artifacts; the unit `×` is a part of the other tool's value."""

    most: float
    unit: str = ""
    memos: int = USUAL

    def judge(self, value: float, memos: int) -> str:
        """The bar, and at the size that it is set for whether it is met."""
        said = f"{self.most:,} {self.unit}".rstrip()
        return (
            f"{said}: {'met' if value <= self.most else 'missed'}"
            if memos == self.memos
            else f"{said} at {self.memos:,}"
        )


class Row(Value, kw_only=False):
    """A line of the table: what is measured of a tool's builds, and its bar."""

    label: str
    value: Callable[[Builds], float]
    form: str = ".2f"
    bar: Bar | None = None


def seconds(work: str) -> Callable[[Builds], float]:
    """Wall time of a build."""
    return lambda builds: builds[work].measured.seconds


def processor(work: str) -> Callable[[Builds], float]:
    """Processor time of a build, of all its processes."""
    return lambda builds: builds[work].measured.processor


def own_part(builds: Builds) -> float:
    """The time of a build with one memo more, as a part of the full build's."""
    return builds[ADDED].measured.seconds / builds[FULL].measured.seconds


def memory(builds: Builds) -> float:
    """The most memory of a full build."""
    return builds[FULL].measured.memory / MEGABYTE


OWN_PART_BAR = Bar(0.1, memos=SMALL)
FILES_BAR, SEARCH_FILES_BAR = Bar(54_000), Bar(700)
ROWS = (
    Row("full build, s", seconds(FULL), bar=Bar(0.75, "×")),
    Row("full build, processor s", processor(FULL)),
    Row("full build, memory MB", memory, ",.0f", bar=Bar(0.2, "×")),
    Row("again, nothing changed, s", seconds(AGAIN), bar=Bar(0.02, "×")),
    Row("again, nothing changed, processor s", processor(AGAIN)),
    Row("one memo added, s", seconds(ADDED), bar=Bar(0.05, "×")),
    Row("one memo added, processor s", processor(ADDED)),
    Row("one memo added / own full build", own_part, ".3f", bar=OWN_PART_BAR),
    Row("files", lambda builds: builds[FULL].changes.files, ",.0f", bar=FILES_BAR),
    Row("files of search", lambda builds: builds[FULL].search_files, ",.0f", bar=SEARCH_FILES_BAR),
    Row("files, MB", lambda builds: builds[FULL].changes.bytes / MEGABYTE, ",.0f"),
    Row("files written again", lambda builds: builds[AGAIN].changes.written, ",.0f"),
    Row("files changed again", lambda builds: builds[AGAIN].changes.changed, ",.0f"),
    Row("files written, one memo added", lambda builds: builds[ADDED].changes.written, ",.0f"),
    Row("files changed, one memo added", lambda builds: builds[ADDED].changes.changed, ",.0f"),
)


def size_table(results: Results, memos: int, tools: Sequence[str]) -> str:
    """The table of SPEC 10 for one size: a column each tool, the first's bars, with two of them their ratio."""
    lines = [[f"{memos:,} artifacts", *tools, *(("ratio",) if len(tools) > 1 else ()), "bar"]]
    for row in ROWS:
        values = [row.value(_builds(results, tool, memos)) for tool in tools]
        ratio = values[0] / values[1] if len(values) > 1 and values[1] else None
        line = [row.label, *(format(value, row.form) for value in values)]
        if len(tools) > 1:
            line.append("" if ratio is None else f"{ratio:.3g} ×")
        bar = row.bar if tools[0] == OURS else None
        judged = ratio if bar and bar.unit == "×" else values[0]
        lines.append([*line, "" if bar is None or judged is None else bar.judge(judged, memos)])
    return align(lines)


GROWTH = (
    Row("full build, an artifact, ms", lambda builds: 1000 * seconds(FULL)(builds) / builds[FULL].memos, ".2f"),
    Row("full build, an artifact, processor ms", lambda builds: 1000 * processor(FULL)(builds) / builds[FULL].memos),
    Row("full build, memory MB", memory, ",.0f", bar=Bar(1_500, "MB", LARGE)),
    Row("again, nothing changed, s", seconds(AGAIN)),
    Row("one memo added, s", seconds(ADDED)),
    Row("one memo added / own full build", own_part, ".4f", bar=OWN_PART_BAR),
    Row("files", lambda builds: builds[FULL].changes.files, ",.0f", bar=FILES_BAR),
    Row("files of search", lambda builds: builds[FULL].search_files, ",.0f", bar=SEARCH_FILES_BAR),
)
TIMES = {"full build, an artifact, ms": 1.15, "one memo added, s": 2.0}
"""How many times as much as at 10,000 these may be at 100,000."""


def growth_table(results: Results, sizes: Sequence[int], tool: str) -> str:
    """How one tool's builds grow with the number of artifacts."""
    lines = [[tool, *(f"{memos:,}" for memos in sizes), "bar"]]
    for row in GROWTH:
        values = {memos: row.value(_builds(results, tool, memos)) for memos in sizes}
        lines.append([row.label, *(format(value, row.form) for value in values.values()), _growth_bar(row, values)])
    return align(lines)


def _growth_bar(row: Row, values: Mapping[int, float]) -> str:
    """The bar of a line, and whether it is met if the sizes are there that tell it."""
    if row.bar:
        measured = row.bar.memos in values
        return row.bar.judge(values.get(row.bar.memos, 0), row.bar.memos if measured else 0)
    if row.label not in TIMES:
        return ""
    bar = Bar(TIMES[row.label], f"× of {USUAL:,}", LARGE)
    if not {USUAL, LARGE} <= set(values):
        return bar.judge(0, 0)
    times = values[LARGE] / values[USUAL]
    return f"{times:.2f} of {bar.judge(times, LARGE)}"


def _builds(results: Results, tool: str, memos: int) -> Builds:
    return {work: results[tool, memos, work] for work in WORKS}


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
