"""The benchmarks run: what they invent is sound, and their tables have the form that they are read by."""

import asyncio
import contextlib
import io
import json
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from benchmarks import __main__ as everything
from benchmarks import build, commands, interpreter, search, serve, tools
from benchmarks import transcripts as transcript_benchmark
from benchmarks.as_capture import body_text
from benchmarks.as_hugo import write_hugo
from benchmarks.as_memodef import add_to_site, write_site
from benchmarks.as_sessions import write_sessions
from benchmarks.measure import Changes, Measured, changes, median, memory_of, run, snapshot
from benchmarks.organization import Artifact, artifacts, transcripts
from benchmarks.queries import EACH
from benchmarks.table import ADDED, AGAIN, FULL, GROWTH, ROWS, WORKS, Bar, Result, growth_table
from benchmarks.tools import Tool
from memosite.cli import main
from memosite.commands.check import check
from memosite.facts.findings import Severity
from memosite.formats.turns import blocks, parse_conversation
from tests.support.commands import running
from tests.support.repos import run_git
from tests.support.waiting import DEADLINE

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """How fast this Python is, is told by a loop that need not be long here."""
    monkeypatch.setattr(interpreter, "STEPS", 1_000)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured of memosite runs in this process: what a process takes is measured in a test of its own."""

    def run_here(module: str, *arguments: str | Path, folder: Path) -> Measured:
        assert module == "memosite"
        began = time.perf_counter()
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            assert main([*map(str, arguments)]) == 0
        return Measured(seconds=time.perf_counter() - began, processor=1, memory=1)

    for module in (tools, commands):
        monkeypatch.setattr(module, "run_module", run_here)


def test_an_organization_is_the_same_each_time_and_its_transcripts_have_the_calls_of_a_real_one() -> None:
    """Both tools get equal texts only if a seed gives them; memosite finds each turn and each call again."""
    first, again, other = (list(islice(artifacts(300, seed=seed), 300)) for seed in (1, 1, 2))
    assert first == again != other
    assert {one.kind for one in first} == {"memo", "note", "transcript"}
    assert any(one.to == "all" for one in first)
    assert any(one.is_legacy for one in first)
    assert any(one.thread for one in first)
    assert any(one.is_action for one in first)
    assert len({one.name for one in first}) == 300
    conversations = list(transcripts(10, seed=1))
    found = [parse_conversation(body_text(one), started=one.sent) for one in conversations]
    assert [len(one.turns) for one in found] == [len(one.turns) for one in conversations]
    read = [block for one in found for turn in one.turns for block in blocks(turn.text) if block.kind == "tool"]
    calls = [call for one in conversations for turn in one.turns for call in turn.calls]
    assert [block.name for block in read] == [call.name for call in calls]
    assert 1.2 < len(calls) / sum(len(one.turns) for one in conversations) < 2.3
    assert 0.3 < sum(not block.text for block in read) / len(read) < 0.6
    assert {"Bash", "Read", "TodoWrite"} <= {call.name for call in calls}


REAL = {
    r"^[A-Za-z]": 25, r"^#{1,6} ": 11, r"^==+ .*==$": 1.6, r"^ *[*-] ": 13, r"^\d+\. ": 6, r"^\|": 2, r"^---$": 2.4,
    r"^>": 20, r"`[^`\n]+`": 24, r"\*\*[^*\n]+\*\*": 20, r"\]\(": 1.7, r"https://": 3, r"</?[a-z-]+>": 15,
    r"[\w.-]/[\w./-]+\.[a-z]{2,9}\b": 6, r"[🧑🤖🔧]": 5, r",": 50, r"\(": 30, r"—": 19,
}  # fmt: skip
"""What real memos, notes and transcripts have in 10,000 characters: 198 of them where these were counted, else 47."""


def test_texts_have_the_markup_of_real_ones() -> None:
    """Within a third: texts with less cost less to parse and render, and reward shortcuts that no archive has.

    Code in fences is mostly JSON or without a language, in 85 of 100; few are Python, and a coloured fence costs much.
    """
    several = list(islice(artifacts(2_000, seed=1), 2_000))
    texts = [text for one in several for text in (one.summary, body_text(one)) if text]
    whole = "\n".join(texts)
    parts = {
        pattern: len(re.findall(pattern, whole, re.MULTILINE)) / (len(whole) / 10_000) / real
        for pattern, real in REAL.items()
    }
    assert {pattern: round(part, 2) for pattern, part in parts.items() if not 2 / 3 < part < 4 / 3} == {}
    lengths = sorted(map(len, texts))
    assert 2_400 < lengths[len(lengths) // 2] < 4_400
    assert 20_000 < max(len(one.text) for one in several) <= 33_000
    written = "\n".join(one.text for one in several)
    languages = re.findall(r"^```(\w*)$", written, re.MULTILINE)[::2]  # every other one ends a fence
    assert 0.3 < len(languages) / (len(written) / 10_000) < 1
    assert 0.75 < sum(language in {"", "json"} for language in languages) / len(languages) < 0.95


def test_an_invented_organization_has_no_findings_and_a_history_and_peers_get_its_texts(tmp_path: Path) -> None:
    """What is measured is no making of findings; with a history memos were moved to where they lie without one."""
    files = []
    for name, with_git in (("plain", False), ("git", True)):
        site, stream = tmp_path / name, artifacts(60, seed=1)
        write_site(site, islice(stream, 60), with_git=with_git)
        files.append({
            path.relative_to(site): path.read_bytes() for path in site.rglob("*.*")
            if path.is_file() and ".git" not in path.parts
        })  # fmt: skip
        add_to_site(site, next(stream))
        assert [one for one in check([site]).findings if one.severity is not Severity.NOTE] == []
    assert files[0] == files[1]
    repo = tmp_path / "git" / "ledger"
    log = run_git(repo, "log", "--format=%s", "--name-status", "-M")
    assert "receive " in log
    assert "R100\tmemos/inbox/" in log
    several = list(islice(artifacts(20, seed=1), 20))
    write_hugo(tmp_path / "hugo", several)
    texts = [path.read_text() for path in (tmp_path / "hugo" / "content").rglob("*.md")]
    assert len(texts) == 20
    assert all(any(one.text in text for text in texts) for one in several)
    (conversation,) = transcripts(1, seed=1)
    write_sessions(tmp_path / "sessions", [conversation])
    (session,) = (tmp_path / "sessions").iterdir()
    entries = [json.loads(line) for line in session.read_text().splitlines()]
    parts = [entry["message"]["content"][0] for entry in entries]
    assert [part["text"] for part in parts if part["type"] == "text"] == [turn.text for turn in conversation.turns]
    calls = [call for turn in conversation.turns for call in turn.calls]
    assert [part["name"] for part in parts if part["type"] == "tool_use"] == [call.name for call in calls]
    asked, answered = ([part[name] for part in parts if name in part] for name in ("id", "tool_use_id"))
    assert len(set(asked)) == len(calls)
    assert asked == answered


def test_what_was_written_and_what_changed_are_told_apart(tmp_path: Path) -> None:
    """A file written again with the same bytes counts as written, one left alone as neither."""
    names = ("alone", "again", "other")
    for name in names:
        (tmp_path / name).write_text("as it was")
    before = snapshot(tmp_path)
    (tmp_path / "again").unlink()
    (tmp_path / "again").write_text("as it was")
    (tmp_path / "other").write_text("as it is")
    (tmp_path / "new").write_text("!")
    found = changes(before, snapshot(tmp_path))
    assert (found.files, found.written, found.changed) == (4, 3, 2)


def test_memory_is_that_of_all_processes_and_a_command_that_fails_is_not_measured(tmp_path: Path) -> None:
    """A child's memory counts; what a command said is told, not how fast it failed; of rounds the median counts."""
    child = "held = bytearray(50_000_000); print('held', flush=True); input()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    command = [sys.executable, "-c", parent]
    with running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        found = memory_of(process.pid)
        process.communicate(b"\n")
    assert 50_000_000 < found < 150_000_000
    assert memory_of(process.pid) == 0
    with pytest.raises(SystemExit, match="exit 3\nno such thing"):
        run([sys.executable, "-c", "print('no such thing'); raise SystemExit(3)"], folder=tmp_path)
    measured = tools.run_module("memosite", "--version", folder=tmp_path)
    assert min(measured.seconds, measured.processor) > 0.01  # its memory may be there between two looks
    rounds = [Measured(seconds=s, processor=p, memory=m) for s, p, m in ((1, 9, 5), (50, 2, 6), (2, 3, 70))]
    assert median(rounds) == Measured(seconds=2, processor=3, memory=6)


@pytest.mark.usefixtures("in_this_process")
def test_the_table_of_builds_has_a_row_for_each_bar(tmp_path: Path, capsys: Capture) -> None:
    """Two sizes of memosite alone: which Python ran, a table each, one of growth; and all rounds as JSON."""
    said = tmp_path / "said.json"
    given = ["--memos", "30", "10", "--only", "memosite", "--rounds", "1", "--json", str(said), "--work", str(tmp_path)]
    build.main(given)
    python, *printed = capsys.readouterr().out.strip().split("\n\n")
    tables = [table.splitlines() for table in printed]
    assert python.startswith(f"Python {platform.python_version()}, ")
    assert [table[0].split("  ")[0] for table in tables] == ["10 artifacts", "30 artifacts", "memosite"]
    assert [line.split("  ")[0] for line in tables[1][2:]] == [row.label for row in ROWS]
    assert [line.split("  ")[0] for line in tables[2][2:]] == [row.label for row in GROWTH]
    builds = json.loads(said.read_text())["builds"]
    assert [(one["memos"], one["work"]) for one in builds] == [(memos, work) for memos in (10, 30) for work in WORKS]
    assert all(measured["seconds"] > 0 and measured["memory"] > 0 for one in builds for measured in one["rounds"])
    full, again, added = (one["changes"] for one in builds[:3])
    assert full["written"] == full["changed"] == full["files"] >= 10
    assert again["changed"] <= 1  # status.json, which tells the second in which it was built
    assert added["files"] > full["files"] > builds[0]["search_files"] > 0
    assert list(tmp_path.iterdir()) == [said]


def test_tools_are_measured_in_turn(tmp_path: Path) -> None:
    """In each round from nothing, and with the same new memo: a slow hour of the machine hits both."""
    done: list[str] = []

    def tool(name: str) -> Tool:
        def prepare(site: Path, given: Iterable[Artifact]) -> None:
            (site / "in").mkdir(parents=True)
            for one in given:
                (site / "in" / one.name).touch()

        def add(site: Path, one: Artifact) -> None:
            done.append(f"{name} adds {one.name}")
            (site / "in" / one.name).touch()

        def make(site: Path) -> Measured:
            done.append(f"{name} {'again' if (site / 'out').exists() else 'full'}")
            (site / "out" / "search").mkdir(parents=True, exist_ok=True)
            for path in (site / "in").iterdir():
                (site / "out" / "search" / path.name).touch()
            return Measured(seconds=len(done), processor=1, memory=1)

        return Tool(
            name=name, folder=name, prepare=prepare, add=add, build=make, output="out", search="search", made=("out",)
        )

    found = list(build.measure([tool("one"), tool("two")], tmp_path, memos=5, seed=1, rounds=3))
    first, second, third = (one.name for one in islice(artifacts(5, seed=1), 5, 8))
    assert done == [
        f"{name} {what}"
        for new in (first, second, third)
        for name in ("one", "two")
        for what in ("full", "again", f"adds {new}", "again")
    ]
    assert [(one.tool, one.work) for one in found] == [(name, work) for name in ("one", "two") for work in WORKS]
    assert [one.measured.seconds for one in found[:3]] == [9, 10, 12]
    assert [(one.search_files, one.changes.files) for one in found[:3]] == [(5, 5), (5, 5), (6, 6)]


def test_bars_and_growth_are_judged_at_their_sizes_only() -> None:
    """At a smaller size a bar is met too easily; time per artifact at 100,000 is compared with that of 10,000."""
    share = Bar(0.75, "×")
    assert [share.judge(*measured) for measured in ((0.75, 10_000), (0.76, 10_000), (0.1, 2_000))] == [
        "0.75 ×: met", "0.75 ×: missed", "0.75 × at 10,000",
    ]  # fmt: skip
    assert Bar(1_500, "MB", 100_000).judge(2_000, 100_000) == "1,500 MB: missed"
    assert Bar(54_000).judge(59_429, 10_000) == "54,000: missed"

    def result(memos: int, work: str, seconds: float) -> Result:
        measured = Measured(seconds=seconds, processor=seconds, memory=1_400_000_000)
        files = Changes(files=1, bytes=1, written=1, changed=1)
        return Result(
            tool="memosite", memos=memos, work=work, measured=measured, rounds=(), changes=files, search_files=1
        )

    took = {(10_000, FULL): 40.0, (10_000, AGAIN): 1.0, (10_000, ADDED): 2.0}
    took |= {(100_000, FULL): 460.0, (100_000, AGAIN): 9.0, (100_000, ADDED): 4.2}
    found = {("memosite", *which): result(*which, seconds) for which, seconds in took.items()}
    lines = {line.split("  ")[0]: line for line in growth_table(found, (10_000, 100_000), "memosite").splitlines()}
    assert lines["full build, an artifact, ms"].endswith("1.15 of 1.15 × of 10,000: met")
    assert lines["one memo added, s"].endswith("2.10 of 2.0 × of 10,000: missed")
    assert lines["full build, memory MB"].endswith("1,500 MB: met")
    alone = growth_table(found, (10_000,), "memosite")
    assert "1.15 × of 10,000 at 100,000" in alone


def test_the_server_is_measured(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """How soon its first page is there, and when three open pages show a new memo."""
    monkeypatch.setattr(serve, "MEMOS", 1)
    monkeypatch.setattr(serve, "REST", 0.1)
    said = tmp_path / "said.json"
    serve.main(["--memos", "30", "--rounds", "1", "--json", str(said), "--work", str(tmp_path)])
    found = json.loads(said.read_text())["30"]
    pages = ("home", "the recipient", "the memo it answers")
    assert {name: len(values) for name, values in found.items()} == dict.fromkeys(("first page", *pages, "memory"), 1)
    printed = capsys.readouterr().out
    assert "first page, s" in printed
    assert "a new memo on the recipient, s" in printed


class _Page(RequestHandler):
    """A page that shows a memo from its third request on."""

    asked = 0

    def get(self) -> None:
        _Page.asked += 1
        self.write("the memo" if _Page.asked > 2 else "not yet")


class _Reloads(WebSocketHandler):
    """Tells each browser that connects to reload, once."""

    def on_message(self, message: str | bytes) -> None:
        self.write_message("hello" if "hello" in str(message) else "reload")


def test_a_browser_that_reloaded_too_early_connects_anew() -> None:
    """The server tells a browser again only if it connects after reloading; one that just listens waits for ever."""

    async def look() -> None:
        opened, port = bind_unused_port()
        server = HTTPServer(Application([("/livereload", _Reloads), ("/", _Page)]))
        server.add_socket(opened)
        host = f"127.0.0.1:{port}"
        browser = await serve.connect(host, "/")
        await asyncio.wait_for(serve.shown_at(host, "/", "the memo", browser), DEADLINE)
        server.stop()

    asyncio.run(look())
    assert _Page.asked == 3


@pytest.mark.usefixtures("in_this_process")
def test_commands_and_talks_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture) -> None:
    """Beside what reads session files, which a program stands in for; each command in each round, from no index."""
    seen: list[int] = []

    def read(sessions: Path) -> Measured:
        seen.append(len(list(sessions.glob("*.jsonl"))))
        return Measured(seconds=1_000, processor=1, memory=1)

    monkeypatch.setattr(transcript_benchmark, "run_claude_code_log", read)
    found = transcript_benchmark.measure_transcripts(tmp_path, 3, seed=1, rounds=2)
    assert seen == [3, 3]
    assert "0.7 of theirs: met" in capsys.readouterr().out
    assert {name: len(rounds) for name, rounds in found.items()} == dict.fromkeys(
        ("memosite", "claude-code-log", "one turn more"), 2
    )
    assert list(tmp_path.iterdir()) == []
    said = tmp_path / "said.json"
    given = ["--memos", "20", "--only", "commands", "--rounds", "1", "--json", str(said), "--work", str(tmp_path)]
    everything.main(given)
    rounds_of = json.loads(said.read_text())["commands"]["20"]
    assert {commands.FIRST, commands.INDEXED, "export QUERY", "search, while a build writes"} <= set(rounds_of)
    assert {*commands.WARM, *commands.READING} <= set(rounds_of)
    assert {len(rounds) for rounds in rounds_of.values()} == {1}
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(commands.FIRST) and line.endswith("6 s at 10,000") for line in lines)


def test_the_table_tells_what_queries_move(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query finds the text that it was cut from; what needs too much memory says so, and the other is measured."""
    said = tmp_path / "said.json"
    search.main(["--memos", "30", "--only", "memosite", "--json", str(said)])
    assert "two words: moved, kB" in capsys.readouterr().out
    (found,) = json.loads(said.read_text())["browser"]
    kinds = ("one word", "two words", "phrase")
    assert set(found["answers"]) == {*kinds, *(f"{kind}, whole files" for kind in kinds)}
    for answers in found["answers"].values():
        assert len(answers) == EACH
        assert all(answer["total"] > 0 and answer["bytes"] > 0 for answer in answers)

    def fail(*_: object, **__: object) -> None:
        run([sys.executable, "-c", "raise SystemExit(3)"], folder=Path())

    monkeypatch.setattr(search, "measure_pagefind", fail)
    search.main(["--memos", "40", "--only", "pagefind"])
    assert "pagefind at 40 artifacts: no index, it ended with exit code 3 after 0 s" in capsys.readouterr().out
