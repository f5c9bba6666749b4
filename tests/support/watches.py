"""Watches for tests, in this process: with deliveries that are only noted down, or as the command."""

import fcntl
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from memosite.cli import main
from memosite.fetch.client import Fetcher
from memosite.watch.deliver import DONE, AnnouncedMemo, Outcome, Signals
from memosite.watch.loop import Watcher, WatchRules
from memosite.watch.sources import PublishedFeed
from memosite.watch.state import WatchState, open_state

SOON = 1e-9
"""An interval so short that nothing waits, not even after failures."""


class Notebook:
    """Takes deliveries and notes them down; `outcome` says how each goes."""

    def __init__(self) -> None:
        """Take everything."""
        self.memos: list[AnnouncedMemo] = []
        self.said: list[str] = []
        self.outcome: Callable[[], Outcome] = lambda: DONE

    @property
    def guids(self) -> list[str]:
        """The guids that were delivered, in order."""
        return [memo.item.guid for memo in self.memos]

    def deliver(self, memos: Sequence[AnnouncedMemo]) -> Outcome:
        """Note down what is taken."""
        outcome = self.outcome()
        if outcome.reason is None:
            self.memos += memos
        return outcome


def watcher(address: str, state: WatchState, notebook: Notebook, **rules: Any) -> Watcher:
    """A watcher of a feed that never pauses."""
    fetcher = Fetcher(timeout=60.0)
    known: dict[str, Any] = {"since": "all", "interval": SOON} | rules
    source = PublishedFeed(address, fetcher, None)
    say = notebook.said.append
    return Watcher(source, state, notebook, WatchRules(**known), Signals(), say=say, note=say)


@contextmanager
def watch_of(address: str, folder: Path, **rules: Any) -> Iterator[tuple[Watcher, Notebook]]:
    """A watcher with a state in a folder."""
    state, notebook = open_state(folder / "state.sqlite"), Notebook()
    try:
        yield watcher(address, state, notebook, **rules), notebook
    finally:
        state.close()


def watch(
    *arguments: object, folder: Path, room: int | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end in this process, its states below a folder, no file with more than `room` bytes."""
    words = ["watch", *map(str, arguments)]
    wanted = clean_environment(folder, **environment)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in os.environ.keys() - wanted.keys():
            patch.delenv(name)
        for name, value in wanted.items():
            patch.setenv(name, value)
        streams = [stack.enter_context(_printed_to(patch, name, number)) for name, number in (("out", 1), ("err", 2))]
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits[0] if room is None else room, limits[1]))
        try:
            code = main(words)
        except SystemExit as ended:
            code = int(str(ended.code))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = ((stream.read() or b"").decode() for stream in streams)
    return subprocess.CompletedProcess(words, code, out, err)


@contextmanager
def _printed_to(patch: pytest.MonkeyPatch, name: str, number: int) -> Iterator[BinaryIO]:
    """A pipe that takes what this process and those that it starts print on a stream, up to a megabyte."""
    kept = os.dup(number)
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.set_blocking(reading, False)  # a command that is left behind may still have its other end
    with os.fdopen(reading, "rb") as read, os.fdopen(writing, "w", encoding="utf-8") as text:
        patch.setattr(sys, f"std{name}", text)
        os.dup2(writing, number)
        try:
            yield read
        finally:
            os.dup2(kept, number)
            os.close(kept)


def clean_environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment without proxies, tokens and states of the user who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return kept | {"XDG_STATE_HOME": str(folder / "states"), "NETRC": str(folder / "netrc"), **more}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of this machine are asked directly."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
