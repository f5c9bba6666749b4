"""Runs memosite as a command in a process of its own; in this process tests call `memosite.cli.main`."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.waiting import DEADLINE


def command_line(*arguments: object) -> list[str]:
    """The words that start memosite, for tests that talk to the process while it runs."""
    return [sys.executable, "-m", "memosite", *map(str, arguments)]


def run_command(
    *arguments: object,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = 2 * DEADLINE,
) -> "subprocess.CompletedProcess[str]":
    """Run memosite in a folder, by default this one, until it ends; any exit code will do.

    `environment` takes the place of this process's environment.
    """
    return subprocess.run(
        command_line(*arguments), capture_output=True, text=True, cwd=folder, env=environment, check=False,
        timeout=seconds,
    )  # fmt: skip


@contextmanager
def running(words: Sequence[str], **options: Any) -> "Iterator[subprocess.Popen[Any]]":
    """A process, by the options of `subprocess.Popen`; its end is awaited, and it is killed if the block fails.

    `with subprocess.Popen(...)` alone waits for ever for a server that a failed test has not ended.
    """
    with subprocess.Popen(words, **options) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise
