"""Makes real git repos for tests: commits at given times by given people, as fast as git goes."""

import os
import subprocess
from pathlib import Path

from tests.support.files import write_text

_BEGIN = 1_777_600_000
"""2026-05-01T01:46:40Z; each commit comes an hour after the one before."""


class Repo:
    """A repo on disk in which each commit comes an hour after the one before, unless a time is given."""

    def __init__(self, root: Path, *options: str, top: Path | None = None) -> None:
        """Make the folder a repo; one below another's `top` belongs to that."""
        self.root = root
        self.hours = 0
        root.mkdir(parents=True, exist_ok=True)
        if top is None:
            self.git("init", "--quiet", "--initial-branch=main", *options)

    def git(self, *arguments: str, at: int | None = None, who: str = "Ann Other", given: str = "") -> str:
        """Run git in the repo, with nobody's configuration, and give what it prints."""
        time = f"{_BEGIN + 3600 * (self.hours if at is None else at)} +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": who,
            "GIT_AUTHOR_EMAIL": "somebody@example.org",
            "GIT_AUTHOR_DATE": time,
            "GIT_COMMITTER_NAME": who,
            "GIT_COMMITTER_EMAIL": "somebody@example.org",
            "GIT_COMMITTER_DATE": time,
        }
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        done = subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            input=given,
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def write(self, path: str, text: str) -> Path:
        """Write a file of the work tree."""
        return write_text(self.root / path, text)

    def commit(self, what: str = "work", *, who: str = "Ann Other", at: int | None = None) -> str:
        """Commit everything as it lies there, and give the commit's id."""
        self.hours += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", what, who=who, at=at)
        return self.git("rev-parse", "HEAD")

    def move(self, old: str, new: str) -> None:
        """`git mv`, with the folder it goes to."""
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)
