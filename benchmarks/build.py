"""[I/O] Measures builds: `python -m benchmarks.build --memos 10000` (see README.md)."""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from benchmarks.arguments import parser
from benchmarks.as_memodef import write_site
from benchmarks.as_sessions import write_sessions
from benchmarks.measure import changes, snapshot
from benchmarks.organization import artifacts, is_plain_reply, transcripts
from benchmarks.table import ADDED, MEGABYTE, WORKS, Result, align, growth_table, size_table
from benchmarks.tools import Tool, build_site, hugo, memosite, run_claude_code_log

PARTS = ("memosite", "hugo", "transcripts")


def main(arguments: Sequence[str]) -> None:
    """Measure what was asked for, and print the tables."""
    options = _options(arguments)
    parts = options.only or PARTS
    tools = [tool for part, tool in (("memosite", memosite(with_git=options.git)), ("hugo", hugo())) if part in parts]
    sizes = sorted(options.memos)
    found: dict[tuple[str, int, str], Result] = {}
    said: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="memosite-benchmark-", dir=options.work) as work:
        for memos in sizes if tools else ():
            for tool in tools:
                for result in measure(tool, Path(work), memos=memos, seed=options.seed):
                    found[tool.name, memos, result.work] = result
            print(size_table(found, memos, [tool.name for tool in tools]) + "\n", flush=True)
        for tool in tools if len(sizes) > 1 else ():
            print(growth_table(found, sizes, tool.name) + "\n", flush=True)
        if "transcripts" in parts:
            said["transcripts"] = measure_transcripts(Path(work), options.transcripts, seed=options.seed)
    if options.json:
        said["builds"] = [asdict(result) for result in found.values()]
        options.json.write_text(json.dumps(said, indent=1) + "\n")


def measure(tool: Tool, work: Path, *, memos: int, seed: int) -> Iterator[Result]:
    """Build a site of so many artifacts, build it again, add a memo and build once more."""
    stream = artifacts(memos, seed=seed)
    site = work / "site"
    tool.prepare(site, islice(stream, memos))
    before = snapshot(site / tool.output)
    for what in WORKS:
        if what == ADDED:
            tool.add(site, next(filter(is_plain_reply, stream)))
        measured = tool.build(site)
        after = snapshot(site / tool.output)
        if len(after) < memos:
            raise SystemExit(f"{tool.name}: found {len(after)} files in {site / tool.output}, expected {memos} or more")
        yield Result(tool=tool.name, memos=memos, work=what, measured=measured, changes=changes(before, after))
        before = after
    shutil.rmtree(site)


def measure_transcripts(work: Path, size: int, *, seed: int) -> dict[str, float]:
    """Build the same conversations with memosite and with claude-code-log; print and give seconds per MB of text."""
    conversations = list(transcripts(size, seed=seed))
    megabytes = sum(len(turn.text.encode()) for one in conversations for turn in one.turns) / MEGABYTE
    write_site(work / "conversations", conversations, with_git=False)
    write_sessions(work / "sessions", conversations)
    took = {"memosite": build_site(work / "conversations"), "claude-code-log": run_claude_code_log(work / "sessions")}
    heads = [f"{size} transcripts, {megabytes:.1f} MB", "s", "s per MB", "memory MB"]
    each = {name: measured.seconds / megabytes for name, measured in took.items()}
    lines = [
        [name, f"{measured.seconds:.2f}", f"{each[name]:.2f}", f"{measured.memory / MEGABYTE:,.0f}"]
        for name, measured in took.items()
    ]
    print(align([heads, *lines]), flush=True)
    return each


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    taken = parser("build", __doc__, parts=PARTS)
    taken.add_argument("--git", action="store_true", help="give the repos a history")
    taken.add_argument("--transcripts", type=int, default=100, metavar="N", help="conversations of the transcripts")
    return taken.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
