"""[I/O] Measures a server: how soon it answers, and shows a new memo: `python -m benchmarks.serve` (see README.md)."""

import asyncio
import contextlib
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from benchmarks.arguments import parser
from benchmarks.as_memodef import add_to_site, write_site
from benchmarks.interpreter import describe, environment
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
    compiled = environment(PYTHONPATH=str(ROOT))
    process = subprocess.Popen(command, cwd=site.parent, env=compiled, start_new_session=True)
    try:
        yield f"127.0.0.1:{port}", process
    finally:
        process.terminate()  # Ctrl-C is ignored by what a shell starts in the background
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
    browsers = [await connect(host, page) for page in pages.values()]
    add_to_site(site, memo)
    began = time.perf_counter()
    shown = (shown_at(host, page, memo.name, one) for page, one in zip(pages.values(), browsers, strict=True))
    ended = await asyncio.wait_for(asyncio.gather(*shown), PATIENCE)
    return {name: moment - began for name, moment in zip(pages, ended, strict=True)}


async def connect(host: str, page: str) -> WebSocketClientConnection:
    """A browser that has fetched a page, and listens as the page's script does."""
    await _fetch(host, page)
    return await _listen(host, page)


async def shown_at(host: str, page: str, name: str, browser: WebSocketClientConnection) -> float:
    """The moment at which a page has this name in it.

    Whenever it is told to reload, the browser fetches the page and, as its script does, connects anew: only so the
    server knows whether it has to tell it once more.
    """
    while await browser.read_message() is not None:
        browser.close()
        if name in await _fetch(host, page):
            return time.perf_counter()
        browser = await _listen(host, page)
    raise SystemExit(f"memosite serve: closed the connection of {page}")


async def _fetch(host: str, page: str) -> str:
    return (await AsyncHTTPClient().fetch(f"http://{host}{page}")).body.decode()


async def _listen(host: str, page: str) -> WebSocketClientConnection:
    browser = await websocket_connect(HTTPRequest(f"ws://{host}/livereload", headers={"Origin": f"http://{host}"}))
    await browser.write_message(json.dumps({"command": "hello", "protocols": []}))
    await browser.write_message(json.dumps({"command": "info", "url": f"http://{host}{page}"}))
    await browser.read_message()
    return browser


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
