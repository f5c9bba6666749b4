"""[I/O] Measures commands on a site that was built: `python -m benchmarks.commands` (see README.md)."""

import datetime as dt
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.arguments import parser
from benchmarks.as_memodef import add_to_site, files_of, write_site
from benchmarks.interpreter import describe, environment
from benchmarks.measure import Measured, median
from benchmarks.organization import BEGIN, POSITIONS, SPAN, Artifact, artifacts
from benchmarks.queries import make_queries
from benchmarks.table import MEGABYTE, Bar, align
from benchmarks.tools import ROOT, build_site, run_module
from memosite.facts.values import as_dict

FIRST_BAR, BAR, AGENT_BAR = Bar(6, "s"), Bar(0.3, "s"), Bar(0.5, "s")
"""Of the first search, of each command after it, and of the commands for AI sessions."""

FIRST, INDEXED = "search, the first", "search --sort score, which waits for the index"
WARM = (
    *("show", "thread", "inbox", "brief", "reply", "cite", "verify", "why", "diff --budget"),
    *("inbox --as-of", "search --as-of"),
)
READING = (
    *("why, the first", "inbox --as-of, the first", "search --as-of, the first", INDEXED),
    "search --as-of --sort score, which waits for the index",
)
"""What reads everything, or makes an index."""
CACHE, WATCHED = ".memosite", "watched.json"


def main(arguments: Sequence[str]) -> None:
    """Measure the commands at each size, and print a table each."""
    options = parser("commands", __doc__, parts=("commands",)).parse_args(arguments)
    said: dict[str, object] = {"python": describe()}
    print(f"{said['python']}\n", flush=True)
    for memos in sorted(options.memos):
        with tempfile.TemporaryDirectory(prefix="memosite-benchmark-", dir=options.work) as work:
            said[str(memos)] = measure_commands(Path(work), memos, seed=options.seed, rounds=options.rounds)
    if options.json:
        options.json.write_text(json.dumps(said, indent=1) + "\n")


def measure_commands(work: Path, memos: int, *, seed: int, rounds: int) -> dict[str, object]:
    """Build a site, and run each command in each round, with the cache as the build left it; print and give all."""
    stream = artifacts(memos, seed=seed)
    site = work / "asked"
    known = list(islice(stream, memos))
    write_site(site, known, with_git=True)
    build_site(site)
    memo = [one for one in known if one.kind == "memo"][memos // 3]
    shutil.copytree(site / CACHE, work / "built")
    (query, *_) = make_queries(memos, seed=seed)["two words"]
    taken: dict[str, list[Measured]] = {}
    for _ in range(rounds):
        shutil.rmtree(site / CACHE)
        shutil.copytree(work / "built", site / CACHE)
        (work / WATCHED).unlink(missing_ok=True)
        for name, run in {**_commands(site, query), **_agents(site, memo), **_past(site, query)}.items():
            taken.setdefault(name, []).append(run())
        add_to_site(site, next(stream))
        taken.setdefault("search, a memo more", []).append(_search(site, query))
        add_to_site(site, next(stream))
        taken.setdefault("search, while a build writes", []).append(_while_building(site, query))
    print(command_table(memos, {name: median(each) for name, each in taken.items()}) + "\n", flush=True)
    shutil.rmtree(site)
    shutil.rmtree(work / "built")
    return {name: [as_dict(one) for one in each] for name, each in taken.items()}


def _commands(site: Path, query: str) -> Mapping[str, Callable[[], Measured]]:
    """The commands that read the archive, in the order in which they are run."""
    middle = BEGIN + SPAN / 2
    month = f"{middle:%Y-%m-01}..{middle:%Y-%m-28}"
    position, state = POSITIONS[5], site.parent / WATCHED
    return {
        FIRST: lambda: _search(site, query),
        "search, at once again": lambda: _search(site, query),
        INDEXED: lambda: _search(site, query, "--sort", "score"),
        "search, with the index": lambda: _search(site, query),
        "export QUERY": lambda: _run(site, "export", f"from:{position}"),
        "diff, a month": lambda: _run(site, "diff", month),
        "watch --position, the first": lambda: _run(site, *_watch(position, state)),
        "watch --position, again": lambda: _run(site, *_watch(position, state)),
    }


def _agents(site: Path, memo: Artifact) -> Mapping[str, Callable[[], Measured]]:
    """The commands for AI sessions, about a memo in the middle; `why` makes its index first."""
    manuscript = site.parent / "manuscript.md"
    words = [sys.executable, "-m", "memosite", "cite", memo.name, "--format", "markdown", "--site", str(site)]
    done = subprocess.run(
        words, capture_output=True, cwd=site.parent, env=environment(PYTHONPATH=str(ROOT)), check=True
    )
    manuscript.write_bytes(done.stdout)
    path, _ = next(iter(files_of(memo)))
    place, position = f"{memo.repos[0]}/{path}", POSITIONS[5]
    week = f"{memo.sent:%Y-%m-%d}..{memo.sent + dt.timedelta(days=7):%Y-%m-%d}"
    asked = {
        "show": (memo.name,),
        "thread": (memo.name,),
        "inbox": (position,),
        "brief": (position,),
        "reply": (memo.name, "--from", position),
        "cite": (memo.name,),
        "verify": (str(manuscript),),
        "why": (place,),
        "diff": (week, "--budget", "1000"),
    }
    runs = {name: partial(_run, site, name, *words) for name, words in asked.items()}
    runs["diff --budget"] = runs.pop("diff")
    return {"why, the first": runs["why"]} | runs


def _past(site: Path, query: str) -> Mapping[str, Callable[[], Measured]]:
    """Questions about a former day: the first reads everything; a search is asked again when its index is made."""
    day = f"{BEGIN + SPAN / 2:%Y-%m-%d}"
    inbox = partial(_run, site, "inbox", POSITIONS[5], "--as-of", day)
    found = partial(_search, site, query, "--as-of", day)
    return {
        "inbox --as-of, the first": inbox,
        "inbox --as-of": inbox,
        "search --as-of, the first": found,
        READING[-1]: partial(found, "--sort", "score"),
        "search --as-of": found,
    }


def _watch(position: str, state: Path) -> tuple[str, ...]:
    return ("watch", "--position", position, "--once", "--state", str(state))


def _search(site: Path, query: str, *more: str) -> Measured:
    return _run(site, "search", *query.split(), *more)


def _run(site: Path, command: str, *arguments: str) -> Measured:
    return run_module("memosite", command, *arguments, "--site", site, folder=site.parent)


def _while_building(site: Path, query: str) -> Measured:
    """A search while another process builds the site with a memo more."""
    command = [sys.executable, "-m", "memosite", "build", str(site), "--quiet"]
    with subprocess.Popen(command, cwd=site.parent, env=environment(PYTHONPATH=str(ROOT))) as builder:
        measured = _search(site, query)
    if builder.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {builder.returncode}")
    return measured


def _bar(name: str) -> Bar | None:
    if name == FIRST:
        return FIRST_BAR
    if name in WARM:
        return AGENT_BAR
    return None if name in READING else BAR


def command_table(memos: int, took: Mapping[str, Measured]) -> str:
    """What each command took, start-up included."""
    lines = [[f"memosite, {memos:,} artifacts", "s", "processor s", "memory MB", "bar"]]
    for name, one in took.items():
        bar = _bar(name)
        said = bar.judge(one.seconds, memos) if bar else ""
        lines.append([name, f"{one.seconds:.2f}", f"{one.processor:.2f}", f"{one.memory / MEGABYTE:,.0f}", said])
    return align(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
