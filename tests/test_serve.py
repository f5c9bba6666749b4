"""The server: the real command, a real socket, a memo that arrives while it runs."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from tests.build_org import write_memo

DEADLINE = 60


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(site: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """`memosite serve` of a site, until the block ends; its address and its process."""
    port = free_port()
    command = [sys.executable, "-m", "memosite", "serve", str(site), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "serving" in line:
                break
        wait_for(lambda: fetch(f"http://127.0.0.1:{port}/") != "")
        yield f"127.0.0.1:{port}", process
    finally:
        process.kill()
        process.communicate()


def fetch(url: str) -> str:
    """A page, or "" if there is none yet."""
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            text: str = response.read().decode()
            return text
    except OSError:
        return ""


def wait_for(condition: object) -> None:
    """Ask again and again until it holds; fail when it takes far too long."""
    assert callable(condition)
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_memo_that_arrives_is_on_the_page_and_reloads_the_browser(tmp_path: Path) -> None:
    """Build, serve, change, rebuild, reload; Ctrl-C ends it."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--first", subject="The first memo")
    with serving(tmp_path) as (host, process):
        home = fetch(f"http://{host}/")
        assert "The first memo" in home
        assert '<script src="/livereload.js"' in home
        assert "LiveReload" in fetch(f"http://{host}/livereload.js")
        asyncio.run(see_reload(host, tmp_path))
        wait_for(lambda: "The second memo" in fetch(f"http://{host}/"))
        (tmp_path / "memos/inbox/2026-05-02-1430--a--b--second.openthing").write_text("{broken")
        wait_for(lambda: "json-invalid" in fetch(f"http://{host}/health/index.html"))
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) in {0, 130}


async def see_reload(host: str, site: Path) -> None:
    """Connect as the page's script does, add a memo, and wait to be told to reload."""
    browser = await websocket_connect(HTTPRequest(f"ws://{host}/livereload", headers={"Origin": f"http://{host}"}))
    await browser.write_message(json.dumps({"command": "hello", "protocols": []}))
    await browser.write_message(json.dumps({"command": "info", "url": f"http://{host}/"}))
    assert json.loads(str(await browser.read_message()))["command"] == "hello"
    write_memo(site / "memos/inbox", "2026-05-02-1430--a--b--second", subject="The second memo")
    message = await asyncio.wait_for(browser.read_message(), DEADLINE)
    assert json.loads(str(message))["command"] == "reload"
    browser.close()
    assert await browser.read_message() is None  # closed by both: a socket left open is told of in some later test


def test_a_page_of_another_site_is_told_nothing(tmp_path: Path) -> None:
    """Only pages that came from this server may listen."""

    async def connect_from_elsewhere(host: str) -> int:
        request = HTTPRequest(f"ws://{host}/livereload", headers={"Origin": "http://evil.example"})
        try:
            await websocket_connect(request)
        except HTTPClientError as error:
            return error.code
        return 0

    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--first")
    with serving(tmp_path) as (host, _):
        assert asyncio.run(connect_from_elsewhere(host)) == 403


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    """Exit 2, with what to do."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--first")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "memosite", "serve", str(tmp_path), "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 2
    assert f"--port {port}" in done.stderr
    assert done.stderr.count("\n") == 1
