"""[I/O] Measures a server: how soon it answers, and shows a new memo: `python -m benchmarks.serve` (see README.md)."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from benchmarks.arguments import parser
from benchmarks.as_memodef import add_to_site, write_site
from benchmarks.interpreter import describe
from benchmarks.measure import memory_of, processor_of
from benchmarks.organization import Artifact, artifacts
from benchmarks.table import MEGABYTE, Bar, align
from benchmarks.tools import ROOT, build_site

FIRST_BAR, MEMO_BAR = Bar(2, "s"), Bar(1, "s")
"""Until the first page when nothing changed, and until an open page shows a new memo."""

MEMOS = 8
"""New memos in a round."""

REST = 0.5
"""Seconds without any work of the server, before the next memo: feeds and its memory come after the pages."""

PATIENCE = 600
"""Seconds after which a server counts as stuck."""

Times = Mapping[str, Sequence[float]]
"""Seconds, and megabytes, by what was waited for."""


def main(arguments: Sequence[str]) -> None:
    """Measure a server at each size, and print a table each."""
    taken = parser("serve", __doc__, parts=("serve",))
    taken.add_argument("--git", action="store_true", help="give the repos a history")
    options = taken.parse_args(arguments)
    said: dict[str, object] = {"python": describe()}
    print(f"{said['python']}\n", flush=True)
    for memos in sorted(options.memos):
        with tempfile.TemporaryDirectory(prefix="memosite-benchmark-", dir=options.work) as work:
            said[str(memos)] = measure_server(
                Path(work), memos, seed=options.seed, rounds=options.rounds, with_git=options.git
            )
    if options.json:
        options.json.write_text(json.dumps(said, indent=1) + "\n")


def measure_server(work: Path, memos: int, *, seed: int, rounds: int, with_git: bool) -> Times:
    """Build a site and serve it, in each round with a new process; print and give what was waited for."""
    stream = artifacts(memos, seed=seed)
    site = work / "served"
    write_site(site, islice(stream, memos), with_git=with_git)
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        build_site(site)
        for name, values in asyncio.run(_round(site, list(islice(stream, MEMOS)))).items():
            found.setdefault(name, []).extend(values)
    print(server_table(memos, found) + "\n", flush=True)
    return found


async def _round(site: Path, new: Sequence[Artifact]) -> dict[str, list[float]]:
    """Start a server, wait for its first page, and then for each memo on three open pages."""
    found: dict[str, list[float]] = {}
    began = time.perf_counter()
    with _serving(site) as (host, process):
        await _first_page(host, process)
        found["first page"] = [time.perf_counter() - began]
        for memo in new:
            await _rest(process.pid)
            for page, took in (await _see(host, site, memo)).items():
                found.setdefault(page, []).append(took)
        found["memory"] = [memory_of(process.pid) / MEGABYTE]
    return found


@contextlib.contextmanager
def _serving(site: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """`memosite serve`, until the block ends; its address and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "memosite", "serve", str(site), "--port", str(port), "--quiet"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=site.parent, env=environment, start_new_session=True)
    try:
        yield f"127.0.0.1:{port}", process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


async def _first_page(host: str, process: "subprocess.Popen[bytes]") -> None:
    """Ask for the home page until it is there. Raises `SystemExit` if the server has ended."""
    while process.poll() is None:
        with contextlib.suppress(OSError):
            if (await AsyncHTTPClient().fetch(f"http://{host}/")).code == 200:
                return
        await asyncio.sleep(0.01)
    raise SystemExit(f"memosite serve: exit {process.returncode}")


async def _rest(session: int) -> None:
    """Wait until the server has nothing to do."""
    before = -1
    while (now := processor_of(session)) != before:
        before = now
        await asyncio.sleep(REST)


async def _see(host: str, site: Path, memo: Artifact) -> dict[str, float]:
    """Open the pages that will show a memo, deliver it, and wait until each was told to reload and shows it."""
    pages = {
        "home": "/",
        "the recipient": f"/positions/{memo.to}/index.html",
        "the memo it answers": f"/memos/{memo.parent}/index.html",
    }
    async with contextlib.AsyncExitStack() as stack:
        open_pages = {
            name: (await stack.enter_async_context(_opened(host, page)), page) for name, page in pages.items()
        }
        add_to_site(site, memo)
        began = time.perf_counter()
        shown = (_shown(host, browser, page, memo.name) for browser, page in open_pages.values())
        ended = await asyncio.wait_for(asyncio.gather(*shown), PATIENCE)
    return {name: moment - began for name, moment in zip(open_pages, ended, strict=True)}


@contextlib.asynccontextmanager
async def _opened(host: str, page: str) -> AsyncIterator[WebSocketClientConnection]:
    """A browser that shows a page: it has fetched it, and listens as the page's script does."""
    await AsyncHTTPClient().fetch(f"http://{host}{page}")
    browser = await websocket_connect(HTTPRequest(f"ws://{host}/livereload", headers={"Origin": f"http://{host}"}))
    await browser.write_message(json.dumps({"command": "hello", "protocols": []}))
    await browser.write_message(json.dumps({"command": "info", "url": f"http://{host}{page}"}))
    await browser.read_message()
    try:
        yield browser
    finally:
        browser.close()


async def _shown(host: str, browser: WebSocketClientConnection, page: str, name: str) -> float:
    """The moment at which the page has the memo's name in it, after the browser was told to reload."""
    while await browser.read_message() is not None:
        if name.encode() in (await AsyncHTTPClient().fetch(f"http://{host}{page}")).body:
            return time.perf_counter()
    raise SystemExit(f"memosite serve: closed the connection of {page}")


def server_table(memos: int, found: Times) -> str:
    """Median and worst of what was waited for, and the bars of the medians."""
    lines = [[f"memosite serve, {memos:,} artifacts", "median", "worst", "bar"]]
    for name, values in found.items():
        middle = statistics.median(values)
        if name == "memory":
            lines.append(["memory, MB", f"{middle:,.0f}", f"{max(values):,.0f}", ""])
            continue
        bar = FIRST_BAR if name == "first page" else MEMO_BAR
        label = f"{name}, s" if name == "first page" else f"a new memo on {name}, s"
        lines.append([label, f"{middle:.2f}", f"{max(values):.2f}", bar.judge(middle, memos)])
    return align(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
