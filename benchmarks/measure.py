"""[I/O] Measures commands: seconds, memory of all their processes, and the files that they write."""

import contextlib
import hashlib
import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memosite.facts.values import Value

PAUSE = 0.05
"""Seconds between two looks at the memory."""

REST = 10
"""The kernel walks all pages to tell a process's share; a look may take a tenth of the time at most."""


class Measured(Value):
    """What commands took, one after the other: wall and processor seconds, the most memory at once in bytes."""

    seconds: float
    processor: float
    memory: int

    def then(self, other: "Measured") -> "Measured":
        """Both, one after the other."""
        return Measured(
            seconds=self.seconds + other.seconds,
            processor=self.processor + other.processor,
            memory=max(self.memory, other.memory),
        )


def median(rounds: Sequence[Measured]) -> Measured:
    """The middle of several rounds, of each value by itself: a disturbed round does not count."""
    return Measured(
        seconds=statistics.median(one.seconds for one in rounds),
        processor=statistics.median(one.processor for one in rounds),
        memory=int(statistics.median(one.memory for one in rounds)),
    )


class CommandFailed(SystemExit):
    """A command that did not come to its end. Whoever compares programs may go on and tell it."""

    def __init__(self, command: str, code: int, said: str, measured: Measured) -> None:
        """What was run, its exit code, the end of what it said, and what it took until then."""
        super().__init__(f"{command}: exit {code}\n{said}")
        self.code_of_command = code
        self.measured = measured


class Changes(Value):
    """What became of a folder: files in it and their bytes; files written, and those whose bytes are others now."""

    files: int
    bytes: int
    written: int
    changed: int


Snapshot = Mapping[str, tuple[int, int, int, bytes]]
"""By path: inode, time of the last write in nanoseconds, size, digest."""


def run(command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str] | None = None) -> Measured:
    """Run a command to its end. Raises `CommandFailed` with what it said if it fails."""
    with tempfile.TemporaryFile("w+") as said:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        memory = _Memory(process.pid)
        memory.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        memory.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        measured = Measured(seconds=seconds, processor=usage.ru_utime + usage.ru_stime, memory=memory.most)
        if process.returncode:
            said.seek(0)
            raise CommandFailed(" ".join(map(str, command)), process.returncode, said.read()[-2000:], measured)
    return measured


class _Memory(threading.Thread):
    """Looks again and again at the memory of a session's processes: the sum of their proportional shares (PSS)."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._session = session
        self._stopped = threading.Event()

    def run(self) -> None:
        took = 0.0
        while not self._stopped.wait(max(PAUSE, REST * took)):
            started = time.perf_counter()
            self.most = max(self.most, memory_of(self._session))
            took = time.perf_counter() - started

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def memory_of(session: int) -> int:
    """Bytes that all processes of a session hold now, what they share counted once."""
    return sum(_share(process) for process, _ in _processes(session))


def processor_of(session: int) -> int:
    """Ticks of the processor that the processes of a session have taken so far."""
    return sum(ticks for _, ticks in _processes(session))


def _processes(session: int) -> Iterator[tuple[int, int]]:
    """The processes of a session, and their ticks: a command begun in one of its own, its children, and theirs."""
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session:
                    yield int(entry.name), int(fields[11]) + int(fields[12])


def _share(process: int) -> int:
    """Bytes of a process, what it shares with others by its share of it; 0 once it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def snapshot(folder: Path) -> Snapshot:
    """The files below a folder, which may not be there yet."""
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = Path(top, name)
            info = path.stat()
            digest = hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
            found[str(path)] = (info.st_ino, info.st_mtime_ns, info.st_size, digest)
    return found


def changes(before: Snapshot, after: Snapshot) -> Changes:
    """What differs between two looks at a folder."""
    return Changes(
        files=len(after),
        bytes=sum(size for _, _, size, _ in after.values()),
        written=sum(before.get(path) != found for path, found in after.items()),
        changed=sum(path not in before or before[path][3] != found[3] for path, found in after.items()),
    )
