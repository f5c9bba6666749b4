"""[I/O] Delivers items: finds the memo, prints a line or runs a command without a shell; no signal cuts this short."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, Protocol

from memosite.facts.characters import harmless, printable_json
from memosite.facts.layout import MAILBOXES
from memosite.facts.values import Value
from memosite.feeds.document import MEMO_FIELDS, ReceivedItem
from memosite.run.processes import heeded_signals

# Ends a watch on a signal, but never between a delivery and its record.


class StoppedError(BaseException):
    """A signal from the user or the system ended the watch."""


class Signals:
    """Notes SIGINT, SIGTERM and SIGHUP; they interrupt only `interruptible` blocks, or on the second signal.

    `number` is the first signal, None before; `times` counts signals.
    """

    def __init__(self) -> None:
        """Note nothing yet."""
        self.number: int | None = None
        self.times = 0
        self._is_interruptible = False
        self._former: list[tuple[signal.Signals, Any]] = []

    def __enter__(self) -> "Signals":
        self._former = [(number, signal.signal(number, self._take)) for number in heeded_signals()]
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former:
            signal.signal(number, handler)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.number = self.number or number
        self.times += 1
        if self._is_interruptible or self.times > 1:
            raise StoppedError

    def check(self) -> None:
        """Raise `StoppedError` if a signal came."""
        if self.number is not None:
            raise StoppedError

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A block that a signal may interrupt anywhere: waiting, and fetching."""
        self._is_interruptible = True
        try:
            self.check()
            yield
        finally:
            self._is_interruptible = False

    def sleep(self, seconds: float) -> None:
        """Wait for a time, or until a signal comes."""
        with self.interruptible():
            time.sleep(max(0.0, seconds))


# Finds an announced memo in a repo: at the feed's path, else in a sibling mailbox.


class Located(Value):
    """Where a memo is: `path` in the repo, `file` on disk (None if it is nowhere), and whether it `has_moved`."""

    path: str
    file: Path | None = None
    has_moved: bool = False


def locate(repo: Path, path: str) -> Located:
    """Find a memo by its path in a repo; a link that leads out of the repo is not followed."""
    try:
        root = repo.resolve()
        for candidate in places(path):
            file = (root / candidate).resolve()
            if file.is_file() and file.is_relative_to(root):
                return Located(path=candidate, file=root / candidate, has_moved=candidate != path)
    except (OSError, RuntimeError, ValueError):  # a name too long, a loop of links
        pass
    return Located(path=path)


def places(path: str) -> tuple[str, ...]:
    """The path of a memo, and those it may have moved to: the other mailboxes of its store."""
    folder, _, name = path.rpartition("/")
    above, _, mailbox = folder.rpartition("/")
    store = above if mailbox in MAILBOXES else folder
    others = (*(f"{store}/{other}/{name}" for other in MAILBOXES), f"{store}/{name}")
    return tuple(dict.fromkeys((path, *(place.removeprefix("/") for place in others))))


# Delivers items: prints a line for each, or runs a command, without a shell (FEEDS, watch 5).


_GRACE = 10.0
"""Seconds that a command has to end after it is told to."""


_LONGEST_VALUE = 8000
"""The most characters of one variable: a subject of a megabyte must not keep the command from being run."""


class AnnouncedMemo(Value):
    """An item to deliver, with its feed and the present path of its file; `file` if it is known.

    `announced` is how often it was announced before, None if that is not counted.
    """

    feed: str
    item: ReceivedItem
    path: str
    file: Path | None = None
    announced: int | None = None


class Outcome(Value):
    """The result of a delivery. With `is_try` a failure counts as one of the tries."""

    reason: str | None = None
    is_try: bool = True


DONE = Outcome()


class Deliverer(Protocol):
    """Delivers memos."""

    def deliver(self, memos: Sequence[AnnouncedMemo]) -> Outcome:
        """Deliver memos and return the outcome."""


def as_json(memo: AnnouncedMemo) -> str:
    """A memo as one line of JSON."""
    item = memo.item
    line: dict[str, object] = {"feed": memo.feed, "guid": item.guid, "path": memo.path}
    line |= {"file": str(memo.file) if memo.file else None, "title": item.title, "link": item.link or None}
    line |= {name: item.field(name) or None for name in MEMO_FIELDS}
    if memo.announced is not None:
        line["announced"] = memo.announced
    return printable_json(line | {"action_required": item.field("action_required") == "true"})


class Printer:
    """Announces memos on a stream, a line each, and flushes it before they count as delivered."""

    def __init__(self, stream: BinaryIO, *, is_json: bool) -> None:
        """Write to this stream, as JSON or as `new memo: <path>`."""
        self._stream = stream
        self._is_json = is_json

    def deliver(self, memos: Sequence[AnnouncedMemo]) -> Outcome:
        """Write the lines. An error of the stream is raised: the next line would fail, too."""
        lines = (as_json(memo) if self._is_json else f"new memo: {memo.path}" for memo in memos)
        self._stream.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        self._stream.flush()
        return DONE


class Runner:
    """Runs a command for memos: their fields are in its environment, all paths on its standard input."""

    def __init__(self, argv: Sequence[str], *, timeout: float, is_json: bool, folder: Path | None, signals: Signals):
        """Run `argv` in a folder (None: this one), for at most `timeout` seconds."""
        self._argv = tuple(argv)
        self._timeout = timeout
        self._is_json = is_json
        self._folder = folder
        self._signals = signals

    def deliver(self, memos: Sequence[AnnouncedMemo]) -> Outcome:
        """Run the command once, for one memo or for several. It has to end with status 0."""
        try:
            with tempfile.TemporaryFile() as paths:
                lines = (as_json(memo) if self._is_json else memo.path for memo in memos)
                paths.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
                paths.seek(0)
                process = subprocess.Popen(  # noqa: S603 - what the user asked for, without a shell
                    self._argv,
                    stdin=paths,
                    env=environment(memos, os.environb),
                    cwd=self._folder,
                    start_new_session=True,  # so that it can be ended with all its children
                )
        except OSError as error:  # nothing ran: no memory, no disk, or the command is missing
            return Outcome(reason=f"{self._argv[0]}: cannot be run ({error.strerror})", is_try=False)
        return self._wait(process)

    def _wait(self, process: "subprocess.Popen[bytes]") -> Outcome:
        end = time.monotonic() + self._timeout
        told = 0
        reason = None
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return self._outcome(process.wait(0.1), reason)
                if self._signals.times > told:  # we are stopping: the command gets the signal, and may finish its work
                    told = self._signals.times
                    _tell(process, self._signals.number or signal.SIGTERM)
                    end = min(end, time.monotonic() + _GRACE) if told == 1 else 0.0
                if time.monotonic() > end:
                    reason = reason or f"not done within {self._timeout:g} s"
                    _end(process)
        finally:
            if process.poll() is None:
                _tell(process, signal.SIGKILL)
                process.wait()

    def _outcome(self, status: int, reason: str | None) -> Outcome:
        if status == 0 and reason is None:
            return DONE
        if self._signals.number is not None:
            return Outcome(reason="ended with the watch", is_try=False)
        said = f"ended by signal {-status}" if status < 0 else f"exit status {status}"
        return Outcome(reason=f"{self._argv[0]}: {reason or said}")


def _tell(process: "subprocess.Popen[bytes]", number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a command and all its children: first by a request, then by force."""
    _tell(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2.0)
    _tell(process, signal.SIGKILL)


def environment(memos: Sequence[AnnouncedMemo], inherited: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The environment of a command: MEMO_COUNT and MEMO_FEED, and for a single memo all its fields.

    The access token of a feed is not passed on, nor variables of an outer watch.
    """
    known = {
        name: value for name, value in inherited.items() if not name.startswith(b"MEMO_") and name != b"MEMOSITE_TOKEN"
    }
    values = {"MEMO_COUNT": str(len(memos)), "MEMO_FEED": memos[0].feed}
    if len(memos) == 1:
        memo = memos[0]
        values |= {f"MEMO_{name.upper()}": cut(memo.item.field(name)) for name in MEMO_FIELDS}
        values |= {"MEMO_PATH": memo.path, "MEMO_GUID": memo.item.guid, "MEMO_FILE": str(memo.file or "")}
        values |= {"MEMO_ANNOUNCED": str(memo.announced)} if memo.announced is not None else {}
        values |= {"MEMO_TITLE": cut(memo.item.title), "MEMO_LINK": cut(memo.item.link)}
    return known | {
        name.encode(): os.fsencode(value) if name == "MEMO_FILE" else value.encode("utf-8", "replace")
        for name, value in values.items()
    }


def cut(value: str) -> str:
    """A value that is short enough for an environment, and steers no terminal on which a command prints it."""
    return harmless(value if len(value) <= _LONGEST_VALUE else value[: _LONGEST_VALUE - 1] + "…")
