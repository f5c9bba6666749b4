"""[I/O] Measures transcripts beside claude-code-log, as a part of `benchmarks.build` (see README.md)."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.as_capture import body_text
from benchmarks.as_memodef import write_site
from benchmarks.as_sessions import write_sessions
from benchmarks.measure import Measured, median
from benchmarks.organization import transcripts
from benchmarks.table import MEGABYTE, OURS, align, verdict
from benchmarks.tools import build_site, run_claude_code_log

THEIRS = "claude-code-log"


def measure_transcripts(work: Path, size: int, *, seed: int, rounds: int) -> Mapping[str, list[Measured]]:
    """Build the same conversations with both, each time from nothing; print seconds per MB, and give the rounds."""
    conversations = list(transcripts(size, seed=seed))
    megabytes = sum(len(body_text(one).encode()) for one in conversations) / MEGABYTE

    def ours(folder: Path) -> Measured:
        write_site(folder / "site", conversations, with_git=False)
        return build_site(folder / "site")

    def theirs(folder: Path) -> Measured:
        write_sessions(folder / "sessions", conversations)
        return run_claude_code_log(folder / "sessions")

    taken = _rounds(work, {OURS: ours, THEIRS: theirs}, rounds)
    took = {name: median(each) for name, each in taken.items()}
    print(_table(f"{size} transcripts, {megabytes:.1f} MB", took, megabytes) + "\n", flush=True)
    return taken


def _rounds(work: Path, tools: Mapping[str, Callable[[Path], Measured]], rounds: int) -> dict[str, list[Measured]]:
    """Both in turn, each time in a new folder."""
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
        said = verdict(each[OURS], each[THEIRS], "below theirs") if name == OURS else ""
        numbers = (measured.seconds, each[name], measured.processor / megabytes)
        lines.append([name, *(f"{one:.2f}" for one in numbers), f"{measured.memory / MEGABYTE:,.0f}", said])
    return align(lines)
