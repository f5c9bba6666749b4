"""[I/O] Measures builds: `python -m benchmarks.build --memos 10000` (see README.md)."""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.arguments import parser
from benchmarks.interpreter import describe
from benchmarks.measure import Measured, Snapshot, changes, median, snapshot
from benchmarks.organization import artifacts
from benchmarks.table import ADDED, WORKS, Result, growth_table, size_table
from benchmarks.tools import Tool, hugo, memosite
from benchmarks.transcripts import measure_transcripts
from memosite.facts.values import as_dict

PARTS = ("memosite", "hugo", "transcripts")


def main(arguments: Sequence[str]) -> None:
    """Measure what was asked for, and print the tables."""
    options = _options(arguments)
    parts = options.only or PARTS
    tools = [tool for part, tool in (("memosite", memosite(with_git=options.git)), ("hugo", hugo())) if part in parts]
    said: dict[str, object] = {"python": describe()}
    print(f"{said['python']}\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="memosite-benchmark-", dir=options.work) as work:
        found = measure_sizes(tools, Path(work), sorted(options.memos) if tools else (), options)
        if "transcripts" in parts:
            taken = measure_transcripts(Path(work), options.transcripts, seed=options.seed, rounds=options.rounds)
            said["transcripts"] = {name: [as_dict(one) for one in each] for name, each in taken.items()}
    if options.json:
        said["builds"] = [as_dict(result) for result in found]
        options.json.write_text(json.dumps(said, indent=1) + "\n")


def measure_sizes(tools: Sequence[Tool], work: Path, sizes: Sequence[int], options: argparse.Namespace) -> list[Result]:
    """Measure all tools at each size, and print a table each, then how they grow."""
    found: dict[tuple[str, int, str], Result] = {}
    for memos in sizes:
        for result in measure(tools, work, memos=memos, seed=options.seed, rounds=options.rounds):
            found[result.tool, memos, result.work] = result
        print(size_table(found, memos, [tool.name for tool in tools]) + "\n", flush=True)
    for tool in tools if len(sizes) > 1 else ():
        print(growth_table(found, sizes, tool.name) + "\n", flush=True)
    return list(found.values())


def measure(tools: Sequence[Tool], work: Path, *, memos: int, seed: int, rounds: int) -> Iterator[Result]:
    """Rounds of all tools in turn: each builds a site from nothing, builds it again, and once more with a memo added.

    The files of the first round are compared; looking at them takes longer than some builds.
    """
    streams = {tool.name: artifacts(memos, seed=seed) for tool in tools}
    taken: dict[tuple[str, str], list[Measured]] = {(tool.name, what): [] for tool in tools for what in WORKS}
    seen: dict[str, list[Snapshot]] = {tool.name: [{}] for tool in tools}
    for tool in tools:
        tool.prepare(work / tool.folder, islice(streams[tool.name], memos))
    for number in range(rounds):
        for tool in tools:
            site = work / tool.folder
            for folder in tool.made:
                shutil.rmtree(site / folder, ignore_errors=True)
            for what in WORKS:
                if what == ADDED:
                    tool.add(site, next(streams[tool.name]))
                os.sync()  # what others wrote before is not written meanwhile
                taken[tool.name, what].append(tool.build(site))
                if number == 0:
                    seen[tool.name].append(_looked_at(tool, site, memos))
    for tool in tools:
        shutil.rmtree(work / tool.folder)
        for place, what in enumerate(WORKS):
            yield _result(tool, memos, what, taken[tool.name, what], seen[tool.name][place : place + 2])


def _looked_at(tool: Tool, site: Path, memos: int) -> Snapshot:
    """What the tool built. Raises `SystemExit` if that cannot be all."""
    found = snapshot(site / tool.output)
    if len(found) < memos:
        raise SystemExit(f"{tool.name}: found {len(found)} files in {site / tool.output}, expected {memos} or more")
    return {str(Path(path).relative_to(site / tool.output)): state for path, state in found.items()}


def _result(tool: Tool, memos: int, what: str, rounds: Sequence[Measured], seen: Sequence[Snapshot]) -> Result:
    before, after = seen
    return Result(
        tool=tool.name,
        memos=memos,
        work=what,
        measured=median(rounds),
        rounds=tuple(rounds),
        changes=changes(before, after),
        search_files=sum(path.startswith(f"{tool.search}/") for path in after),
    )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    taken = parser("build", __doc__, parts=PARTS)
    taken.add_argument("--git", action="store_true", help="give the repos a history")
    taken.add_argument("--transcripts", type=int, default=100, metavar="N", help="conversations of the transcripts")
    return taken.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
