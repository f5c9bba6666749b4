"""A real browser for tests: headless Chromium, driven by the DevTools protocol over two pipes."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.waiting import wait_until

_START = """
import fcntl, os, sys
high = [fcntl.fcntl(int(pipe), fcntl.F_DUPFD, 50) for pipe in sys.argv[1:3]]
for pipe, number in zip(high, (3, 4)):
    os.dup2(pipe, number)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Starts the browser with the two pipes where it looks for them."""


class Browser:
    """One page of a running browser. Messages of its console, and requests that it made, are kept."""

    def __init__(self, process: "subprocess.Popen[bytes]", to_browser: int, from_browser: int) -> None:
        self.process = process
        self._to, self._from = to_browser, from_browser
        self._numbers = itertools.count(1)
        self._waiting = b""
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        number = next(self._numbers)
        message: dict[str, object] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            data = os.read(self._from, 1 << 20)
            assert data, "the browser has gone"
            self._waiting += data
        message, _, self._waiting = self._waiting.partition(b"\0")
        value: dict[str, Any] = json.loads(message)
        return value

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(parameters["exceptionDetails"]))
            case "Log.entryAdded":
                self.complaints.append(parameters["entry"]["text"])

    def open(self, address: str) -> None:
        """Go to an address and wait until its page is there."""
        self.send("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript is worth on the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def go(self, steps: int) -> None:
        """Go back (-1) or forward (1). The answer must come before the page that gives it is left."""
        self.value(f"void setTimeout(() => history.go({steps}))")

    def wait_for(self, expression: str) -> Any:
        """Wait until an expression is true on the page, and give its value."""
        try:
            return wait_until(lambda: self._value_if_any(expression))
        except AssertionError as error:
            shown = self.value("document.body.innerText")
            raise AssertionError(f"never came: {expression}; {shown}; {self.complaints}") from error

    def _value_if_any(self, expression: str) -> Any:
        with contextlib.suppress(AssertionError):  # while a page is left for another, nothing can be asked
            return self.value(expression)
        return None

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.send("Input.insertText", text=text)

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        codes = {"Enter": 13, "ArrowDown": 40, "ArrowUp": 38}
        common: dict[str, object] = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Run Chromium with a profile in a folder; it may reach this machine alone."""
    program = shutil.which("chromium")
    assert program, "chromium is missing: run scripts/set-up dev"
    child_reads, to_browser = os.pipe()
    from_browser, child_writes = os.pipe()
    options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe")
    command = [program, *options, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    starter = [sys.executable, "-c", _START, str(child_reads), str(child_writes), *command]
    process = subprocess.Popen(
        starter, pass_fds=(child_reads, child_writes), start_new_session=True, stderr=subprocess.DEVNULL
    )
    os.close(child_reads)
    os.close(child_writes)
    try:
        yield Browser(process, to_browser, from_browser)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(to_browser)
        os.close(from_browser)
