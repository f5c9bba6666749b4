"""[I/O] Measures search: `python -m benchmarks.search --memos 1000 10000` (see README.md)."""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.arguments import parser
from benchmarks.as_hugo import write_bare_pages
from benchmarks.as_memodef import write_site
from benchmarks.measure import CommandFailed, Measured, snapshot
from benchmarks.organization import artifacts
from benchmarks.queries import make_queries
from benchmarks.table import MEGABYTE, align, verdict
from benchmarks.tools import ROOT, run_module, run_pagefind
from memosite.facts.values import Value, as_dict, replace

PARTS = ("memosite", "pagefind")
HITS = 20
"""Hits that are shown, with their excerpts."""

AGAIN_BAR = 200
MOVED_BARS = {10_000: 300, 100_000: 1_000}
"""kB that a two-word query may move, by the number of artifacts; the other bar is milliseconds."""

Answer = Mapping[str, float]
Answers = Mapping[str, Sequence[Answer]]
"""By kind of query: hits in all, bytes moved and requests, milliseconds the first time and again."""


class Found(Value):
    """What was measured of one search: making it, what is published of it, its program's bytes, and its answers."""

    tool: str
    memos: int
    making: Measured
    files: int
    bytes: int
    program: int
    answers: Answers


def main(arguments: Sequence[str]) -> None:
    """Measure what was asked for, and print a table each size."""
    options = parser("search", __doc__, parts=PARTS).parse_args(arguments)
    parts = options.only or PARTS
    found: list[Found] = []
    for memos in sorted(options.memos):
        with tempfile.TemporaryDirectory(prefix="memosite-benchmark-", dir=options.work) as work:
            queries = make_queries(memos, seed=options.seed)
            here: list[Found] = []
            for part, measure in (("memosite", measure_blocks), ("pagefind", measure_pagefind)):
                try:
                    here += [measure(Path(work), memos, queries, seed=options.seed)] if part in parts else []
                except CommandFailed as error:
                    print(failure(part, memos, error), flush=True)
            if here:
                print(search_table(memos, here) + "\n", flush=True)
            found += here
    if options.json:
        said = {"browser": [as_dict(one) for one in found]}
        options.json.write_text(json.dumps(said, indent=1) + "\n")


def failure(tool: str, memos: int, error: CommandFailed) -> str:
    """A line on a program that did not come to its end."""
    took = error.measured
    reached = f"after {took.seconds:,.0f} s and with {took.memory / MEGABYTE:,.0f} MB"
    return f"{tool} at {memos:,} artifacts: no index, it ended with exit code {error.code_of_command} {reached}"


def measure_blocks(work: Path, memos: int, queries: Mapping[str, list[str]], *, seed: int) -> Found:
    """Make memosite's search blocks, and ask them."""
    write_site(work / "site", islice(artifacts(memos, seed=seed), memos), with_git=False)
    folder = work / "blocks"
    making = run_module("benchmarks.blocks", work / "site", folder, folder=work)
    client = ROOT / "static" / "search.js"
    asked = _asked("memosite", memos, making, folder / "search", queries, client=client)
    whole = {f"{kind}, whole files": _ask("memosite", folder / "search", client, several, whole=True)
             for kind, several in queries.items()}  # fmt: skip
    return replace(asked, answers={**asked.answers, **whole})


def measure_pagefind(work: Path, memos: int, queries: Mapping[str, list[str]], *, seed: int) -> Found:
    """Make Pagefind's index of bare pages with the same texts, and ask it."""
    pages = work / "pages"
    write_bare_pages(pages, islice(artifacts(memos, seed=seed), memos))
    making = run_pagefind(pages)
    client = Path(shutil.copy(pages / "pagefind" / "pagefind.js", work / "client.mjs"))
    for path in (pages / "pagefind").glob("pagefind-*.*s"):  # its widgets, which no query needs
        path.unlink()
    return _asked("pagefind", memos, making, pages / "pagefind", queries, client=client)


def _asked(
    tool: str, memos: int, making: Measured, folder: Path, queries: Mapping[str, list[str]], *, client: Path
) -> Found:
    published = snapshot(folder)
    program = client.stat().st_size + sum(path.stat().st_size for path in folder.glob("wasm.en.*"))
    answers = {kind: _ask(tool, folder, client, several) for kind, several in queries.items()}
    size = sum(size for _, _, size, _ in published.values())
    return Found(
        tool=tool, memos=memos, making=making, files=len(published), bytes=size, program=program, answers=answers
    )


def _ask(tool: str, folder: Path, client: Path, queries: list[str], *, whole: bool = False) -> list[Answer]:
    asked = {"tool": tool, "folder": str(folder), "client": str(client), "limit": HITS, "queries": queries}
    asked["whole"] = whole
    command = ["node", str(Path(__file__).with_name("ask.js"))]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    answers: list[Answer] = json.loads(done.stdout)
    return answers


def search_table(memos: int, found: Sequence[Found]) -> str:
    """What was measured at one size: a column each search, and the bars of SPEC 10 and 5 for memosite's."""
    heads = [f"{memos:,} artifacts", *(one.tool for one in found), "bar"]
    lines = [
        ["index, s", *(f"{one.making.seconds:.2f}" for one in found), ""],
        ["index, processor s", *(f"{one.making.processor:.2f}" for one in found), ""],
        ["index, memory MB", *(f"{one.making.memory / MEGABYTE:,.0f}" for one in found), ""],
        ["published, MB", *(f"{one.bytes / MEGABYTE:.1f}" for one in found), ""],
        ["published, files", *(f"{one.files:,}" for one in found), ""],
        ["program, kB", *(f"{one.program / 1000:.0f}" for one in found), ""],
    ]
    for kind in next(iter(found)).answers:
        lines += _answer_lines(kind, memos, found)
    return align([heads, *lines])


def _answer_lines(kind: str, memos: int, found: Sequence[Found]) -> Iterator[list[str]]:
    """Median and worst of the queries of a kind."""
    ours = found[0].answers[kind] if found[0].tool == "memosite" else ()
    for label, name, per, bar in (
        ("moved, kB", "bytes", 1000, MOVED_BARS.get(memos) if kind == "two words" else None),
        ("requests", "requests", 1, None),
        ("first answer, ms", "first", 1, None),
        ("again, ms", "again", 1, AGAIN_BAR),
        ("hits", "total", 1, None),
    ):
        values = [[answer[name] / per for answer in one.answers.get(kind, ())] for one in found]
        said = verdict(max(values[0]), bar, f"{bar:,}") if bar and ours else ""
        form = ".0f" if name != "again" else ".1f"
        told = (f"{statistics.median(each):{form}} ≤ {max(each):{form}}" if each else "" for each in values)
        yield [f"{kind}: {label}", *told, said]


if __name__ == "__main__":
    main(sys.argv[1:])
