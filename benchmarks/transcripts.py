"""[I/O] Measures session logs beside claude-code-log, as a part of `benchmarks.build` (see README.md)."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.as_sessions import write_sessions
from benchmarks.measure import Measured, median
from benchmarks.organization import transcripts
from benchmarks.table import MEGABYTE, OURS, align, verdict
from benchmarks.tools import build_site, run_claude_code_log

THEIRS = "claude-code-log"
AGAIN = "one turn more"
BAR = 0.7
"""Of their seconds per MB, and of their memory."""

AGAIN_BAR = 5
"""Seconds for the next build, at 200 sessions of 100 MB."""


def measure_transcripts(work: Path, size: int, *, seed: int, rounds: int) -> Mapping[str, list[Measured]]:
    """Build the same logs with both, each time from nothing; print seconds per MB, and give the rounds.

    Then one of the sessions says one turn more, and memosite builds again.
    """
    conversations = list(transcripts(size, seed=seed))
    sizes: list[int] = []

    def ours(folder: Path) -> Measured:
        write_sessions(folder / "site" / "sessions", conversations)
        sizes.append(sum(path.stat().st_size for path in (folder / "site" / "sessions").iterdir()))
        return build_site(folder / "site")

    def again(folder: Path) -> Measured:
        ours(folder)
        _go_on(min((folder / "site" / "sessions").iterdir()))
        return build_site(folder / "site")

    def theirs(folder: Path) -> Measured:
        write_sessions(folder / "sessions", conversations)
        return run_claude_code_log(folder / "sessions")

    taken = _rounds(work, {OURS: ours, THEIRS: theirs, AGAIN: again}, rounds)
    took = {name: median(each) for name, each in taken.items()}
    megabytes = sizes[0] / MEGABYTE
    print(_table(f"{size} session logs, {megabytes:.1f} MB", took, megabytes) + "\n", flush=True)
    return taken


def _go_on(log: Path) -> None:
    """A session in which somebody says one thing more."""
    last = json.loads(log.read_text().splitlines()[-1])
    said = {"role": "user", "content": "And then?"}
    more = last | {"uuid": f"{last['uuid'][:-4]}ffff", "parentUuid": last["uuid"], "type": "user", "message": said}
    with log.open("a") as stream:
        stream.write(json.dumps(more) + "\n")


def _rounds(work: Path, tools: Mapping[str, Callable[[Path], Measured]], rounds: int) -> dict[str, list[Measured]]:
    """All in turn, each time in a new folder."""
    taken: dict[str, list[Measured]] = {name: [] for name in tools}
    for _ in range(rounds):
        for name, build in tools.items():
            folder = work / "conversations"
            folder.mkdir()
            taken[name].append(build(folder))
            shutil.rmtree(folder)
    return taken


def _table(title: str, took: Mapping[str, Measured], megabytes: float) -> str:
    each = {name: measured.seconds / megabytes for name, measured in took.items()}
    lines = [[title, "s", "s per MB", "processor s per MB", "memory MB", "bar"]]
    for name, measured in took.items():
        bars = {OURS: verdict(each[OURS], BAR * each[THEIRS], f"{BAR} of theirs")}
        bars[AGAIN] = verdict(measured.seconds, AGAIN_BAR, f"{AGAIN_BAR} s at 100 MB")
        said = bars.get(name, "")
        numbers = (measured.seconds, each[name], measured.processor / megabytes)
        lines.append([name, *(f"{one:.2f}" for one in numbers), f"{measured.memory / MEGABYTE:,.0f}", said])
    return align(lines)
