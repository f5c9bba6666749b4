"""Dask schedulers and workers as processes of their own, as somebody starts them on several machines."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import DEADLINE, wait_until


@dataclass(frozen=True, kw_only=True)
class Machines:
    """A scheduler at an address, and its workers by name."""

    folder: Path
    address: str
    scheduler: subprocess.Popen[str]
    workers: Mapping[str, subprocess.Popen[str]]

    def address_of(self, worker: str) -> str:
        """The address of a worker, by its name."""
        [found] = re.findall(r"Start worker at: +(\S+)", (self.folder / f"{worker}.log").read_text())
        return str(found)

    @contextmanager
    def one_more(self, name: str, **more: str) -> Iterator[subprocess.Popen[str]]:
        """A worker more, with the environment that is changed so for it; the scheduler has forgotten it afterwards."""
        with ExitStack() as stack:
            process = _worker(stack, self.folder, self.address, name, more)
            wait_until(lambda: _is_registered(self.folder, name))
            yield process
            process.terminate()
            process.wait(DEADLINE)

    def ask(self, program: str) -> str:
        """What a program prints that has a `client` of the scheduler, in a process of its own: Dask leaves threads."""
        code = f"from distributed import Client\nwith Client({self.address!r}) as client:\n {program}\n"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=DEADLINE)
        return ran.stdout.strip()


@contextmanager
def machines(
    folder: Path, *, scheduler: Mapping[str, str] | None = None, workers: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[Machines]:
    """A scheduler and workers, each with the environment that is changed so for it."""
    file = folder / "scheduler.json"
    with ExitStack() as stack:
        first = _start(
            stack, folder, "scheduler", "scheduler", "--port", "0", "--scheduler-file", str(file), more=scheduler or {}
        )
        wait_until(lambda: file.exists() and file.read_text().endswith("}"))
        address = json.loads(file.read_text())["address"]
        running = {name: _worker(stack, folder, address, name, more) for name, more in (workers or {}).items()}
        wait_until(lambda: all(_is_registered(folder, name) for name in running))
        yield Machines(folder=folder, address=address, scheduler=first, workers=running)


def _is_registered(folder: Path, worker: str) -> bool:
    return "Registered to" in (folder / f"{worker}.log").read_text()


def _worker(stack: ExitStack, folder: Path, address: str, name: str, more: Mapping[str, str]) -> subprocess.Popen[str]:
    options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
    return _start(stack, folder, name, "worker", address, "--name", name, *options, more=more)


def _start(stack: ExitStack, folder: Path, name: str, *command: str, more: Mapping[str, str]) -> subprocess.Popen[str]:
    log = stack.enter_context((folder / f"{name}.log").open("w"))
    words = [sys.executable, "-m", "dask", *command, "--host", "127.0.0.1", "--no-dashboard"]
    given = {**os.environ, "DASK_CONFIG": str(folder), **more}
    process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, text=True, env=given)
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def double(number: int) -> int:
    """A pure function."""
    return number * 2


def divide(number: int) -> int:
    """A function that fails for one item."""
    return 1 // (number - 50)


def end_worker(_number: int) -> None:
    """A function that no worker survives."""
    os.kill(os.getpid(), signal.SIGKILL)
