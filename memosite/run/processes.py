"""[I/O] Child processes that end: each has limits of time, memory and output, and none outlives this process.

A child has a session of its own, so that it ends with all that it started. The system enforces the limit of memory,
and one of processor time, where it has `prlimit` (Linux); the limit of time is kept here, for what a child waits for.
Only `start_detached` starts one that goes on alone: memosite once more.
"""

import os
import resource
import selectors
import signal
import subprocess
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn

import memosite
from memosite.facts.errors import MemositeError
from memosite.facts.values import Value

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_PIECE = 1 << 18


_SAID = 1 << 16
"""The most that is kept of what a child says on standard error, in bytes."""


_HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


_AGAIN: Final = 0.05
"""Seconds after which a signal is sent again whose exception Python dropped."""


_KILLED_BY_LIMIT = (-signal.SIGXCPU, -signal.SIGKILL)


class Limits(Value):
    """What one child process may use: seconds that it is waited for, bytes of memory, bytes that it prints."""

    seconds: float
    memory: int
    output: int


class SlowError(Exception):
    """A child took longer than it may."""


class WordyError(Exception):
    """A child printed more than it may: it depends on what it reads alone, not on the machine."""


class EndedError(KeyboardInterrupt):
    """A signal asked this process to end; all its children have ended."""

    def __init__(self, number: int) -> None:
        """Keep the number of the signal."""
        super().__init__()
        self.number = number


class _Running:
    """All children of this process."""

    def __init__(self) -> None:
        self.children: set[subprocess.Popen[bytes]] = set()
        self.starting = 0
        self.ending = 0
        """The signal that asked this process to end."""

    def end_all(self, number: int) -> None:
        self.ending = self.ending or number
        for child in tuple(self.children):
            _kill(child)


_running = _Running()


class Child:
    """A child process; close it. After its end `returncode` and `said` (standard error) are known."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        limits: Limits,
        environment: Mapping[str, str],
        folder: Path,
        held: Sequence[int] = (),
    ) -> None:
        """Start a program, without a shell. `held` are open files that stay open as long as it or its children run.

        Raises `OSError` if it cannot be run.
        """
        self.limits = limits
        self._said = bytearray()
        self._process = _start(command, limits, environment, folder, held)

    @property
    def said(self) -> bytes:
        """What it printed on standard error, without the end of a long text."""
        return bytes(self._said)

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    @property
    def is_killed_by_limit(self) -> bool:
        """Whether the system ended it, for a limit or for want of memory."""
        return self._process.returncode in _KILLED_BY_LIMIT

    def pieces(self, given: bytes = b"") -> Iterator[bytes]:
        """What it prints, in pieces, while it reads what is given. It has ended after the last piece.

        Raises `SlowError` and `WordyError` for its limits.
        """
        left, printed = self.limits.seconds, 0
        with self._waiting(given) as waiting:
            pending = memoryview(given)
            while waiting.get_map():
                began = time.monotonic()
                ready = waiting.select(max(left, 0))
                left -= time.monotonic() - began  # the time of whoever takes the pieces does not count
                if left <= 0:
                    raise SlowError
                for key, _ in ready:
                    if key.data == "in":
                        pending = self._feed(waiting, pending)
                        continue
                    data = os.read(key.fd, _PIECE)
                    if not data:
                        waiting.unregister(key.fileobj)
                    elif key.data == "said":
                        self._hear(data)
                    else:
                        printed += len(data)
                        if printed > self.limits.output:
                            raise WordyError
                        yield data
        self._wait(left)

    def ask(self, question: bytes) -> None:
        """Write to it. Raises `OSError` if it has ended."""
        os.write(_of(self._process.stdin).fileno(), question)

    def more(self, seconds: float) -> bytes:
        """What it prints next, b"" if it has ended. Raises `SlowError` if it is silent for so long."""
        out, said = _of(self._process.stdout), _of(self._process.stderr)
        end_at = time.monotonic() + seconds
        with selectors.DefaultSelector() as waiting:
            waiting.register(out, selectors.EVENT_READ)
            waiting.register(said, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in waiting.select(max(end_at - time.monotonic(), 0))}
                if out in ready:
                    return os.read(out.fileno(), _PIECE)
                if said in ready and not self._hear(os.read(said.fileno(), _PIECE)):
                    waiting.unregister(said)
                if time.monotonic() > end_at:
                    raise SlowError

    def _hear(self, data: bytes) -> bytes:
        """Keep the beginning of what it says: what nobody reads would stop it."""
        self._said += data[: _SAID - len(self._said)]
        return data

    def close(self) -> None:
        """End it, and everything that it started."""
        _kill(self._process)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        _running.children.discard(self._process)
        if _running.ending:
            raise _ended(_running.ending)

    @contextmanager
    def _waiting(self, given: bytes) -> Iterator[selectors.BaseSelector]:
        with selectors.DefaultSelector() as waiting:
            waiting.register(_of(self._process.stdout), selectors.EVENT_READ, "out")
            waiting.register(_of(self._process.stderr), selectors.EVENT_READ, "said")
            stdin = _of(self._process.stdin)
            if given:
                os.set_blocking(stdin.fileno(), False)
                waiting.register(stdin, selectors.EVENT_WRITE, "in")
            else:
                stdin.close()
            yield waiting

    def _feed(self, waiting: selectors.BaseSelector, pending: memoryview) -> memoryview:
        stdin = _of(self._process.stdin)
        try:
            pending = pending[os.write(stdin.fileno(), pending) :]
        except BlockingIOError:
            return pending
        except OSError:  # it reads no more
            pending = pending[:0]
        if not pending:
            waiting.unregister(stdin)
            stdin.close()
        return pending

    def _wait(self, seconds: float) -> None:
        try:
            self._process.wait(timeout=max(seconds, 1))
        except subprocess.TimeoutExpired as error:
            raise SlowError from error


def _start(
    command: Sequence[str], limits: Limits, environment: Mapping[str, str], folder: Path, held: Sequence[int]
) -> subprocess.Popen[bytes]:
    """Start a program. A signal that comes meanwhile counts afterwards: the child must be known to be ended.

    Of another thread than the main one, which heeds signals, nothing is interrupted; it sees itself that all ends.
    """
    is_main = threading.current_thread() is threading.main_thread()
    _running.starting += is_main
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env=environment,
            start_new_session=True,  # its children end with it
            pass_fds=held,
        )
        _running.children.add(process)
    finally:
        _running.starting -= is_main
    if _running.ending:
        with process:
            _kill(process)
        _running.children.discard(process)
        raise _ended(_running.ending)
    _limit(process.pid, limits)
    return process


def _limit(child: int, limits: Limits) -> None:
    """Limit the memory of a process and of what it starts, and how long it may compute. Mapped files do not count."""
    if not hasattr(resource, "prlimit"):
        return
    seconds = int(limits.seconds) + 1
    for kind, most in (
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(OSError, ValueError):  # it has ended; or its limits are even lower
            resource.prlimit(child, kind, (most, most))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a child's session; a child that was waited for is not there any more."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _of(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("a child has all its streams")
    return stream


# The end of this process


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within the block SIGINT, SIGTERM and SIGHUP end all children, in whichever thread, and raise `EndedError`.

    Signals that are ignored, as nohup does it, stay ignored; other threads than the main one cannot heed any.
    Python drops an exception that is raised in `__del__` or in the callback of a weak reference (imports have these):
    a signal that is heeded there is sent again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former: list[tuple[signal.Signals, Any]] = [(one, signal.signal(one, _heed)) for one in heeded_signals()]
    former_hook = sys.unraisablehook
    sys.unraisablehook = _sending_again(former_hook)
    try:
        yield
    finally:
        sys.unraisablehook = former_hook
        for one, handler in former:
            signal.signal(one, handler)
        _running.ending = 0


def _heed(number: int, _frame: FrameType | None) -> None:
    _running.end_all(number)
    if not _running.starting:
        raise EndedError(number)


def _sending_again(report: "Callable[[UnraisableHookArgs], object]") -> "Callable[[UnraisableHookArgs], object]":
    """A hook for dropped exceptions: a signal is sent again in a moment, all others are reported."""

    def hook(dropped: "UnraisableHookArgs") -> None:
        if isinstance(dropped.exc_value, EndedError):
            # takes no lock, which the interrupted code may hold
            start_new_thread(_send_soon, (threading.get_ident(), dropped.exc_value.number))
        else:
            report(dropped)

    return hook


def _send_soon(thread: int, number: int) -> None:
    time.sleep(_AGAIN)
    signal.pthread_kill(thread, number)


def end_now(number: int) -> NoReturn:
    """End all children and this process for a signal, whatever its threads are waiting for."""
    _running.end_all(number)
    os._exit(128 + number)


def heeded_signals() -> tuple[signal.Signals, ...]:
    """The signals that end this process: those that are ignored, as nohup does it, stay ignored."""
    return tuple(one for one in _HEEDED if signal.getsignal(one) is not signal.SIG_IGN)


def _ended(number: int) -> BaseException:
    is_main = threading.current_thread() is threading.main_thread()
    return EndedError(number) if is_main else MemositeError("interrupted")


def leave_to_parent() -> None:
    """In a forked worker: interrupts are the parent's; SIGTERM and SIGHUP end it at once; no child is its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for one in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, signal.SIG_DFL)
    _running.children.clear()


# Starts memosite once more, at low priority and on its own: it goes on when this process has ended.


_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from memosite.__main__ import run; run()"
"""It is found where it was found by this process; the folder in which a user is may hold anything."""


_LOWEST = 19


def start_detached(arguments: Sequence[str], *, holding: Sequence[int] = ()) -> None:
    """Run a command in a session of its own, with which nobody speaks; where it cannot be started, nothing happens.

    It inherits the handles `holding`: locks of which end with it.
    """
    place = str(Path(memosite.__file__).parent.parent)
    with suppress(OSError):
        process = subprocess.Popen(  # noqa: S603 - no shell
            [sys.executable, "-P", "-c", _PROGRAM, place, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=holding,
            cwd="/",
            start_new_session=True,
        )
        process.returncode = 0  # nobody waits for it
        os.setpriority(os.PRIO_PROCESS, process.pid, _LOWEST)
