"""Makes real git repos: commits at fixed times by given people, with nobody's configuration."""

import os
import subprocess
from pathlib import Path

from tests.support.files import write_text

BEGIN = 1_777_600_000
"""2026-05-01T01:46:40Z: hours are counted from here."""

ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_EMAIL": "somebody@example.org",
    "GIT_COMMITTER_EMAIL": "somebody@example.org",
}  # fmt: skip
"""What git is told of this machine and its user: nothing."""
_OPTIONS = ("-c", "init.defaultBranch=main", "-c", "safe.directory=*", "-c", "protocol.file.allow=always")


def run_git(folder: Path, *arguments: str, at: int | str = 0, who: str = "Ann Other", given: bytes | str = b"") -> str:
    """Run git in a folder, which has to succeed, and give what it prints without the line breaks around it.

    What it commits is committed by `who`, `at` so many hours after the beginning or at a date in git's own form.
    `given` is its standard input.
    """
    date = at if isinstance(at, str) else f"{BEGIN + 3600 * at} +0000"
    said = {"GIT_AUTHOR_NAME": who, "GIT_COMMITTER_NAME": who, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    done = subprocess.run(
        ["git", *_OPTIONS, *arguments],
        cwd=folder,
        env=ENVIRONMENT | said,
        input=given.encode() if isinstance(given, str) else given,
        capture_output=True,
        timeout=600,
        check=False,
    )
    printed = done.stdout.decode("utf-8", "surrogateescape")
    assert done.returncode == 0, f"git {arguments}: {printed}{done.stderr.decode(errors='replace')}"
    return printed.strip()


class Repo:
    """A repo on disk in which each commit comes an hour after the one before, unless a time is given."""

    def __init__(self, root: Path, *options: str, is_new: bool = True) -> None:
        """Make the folder a repo, with options of `git init`.

        One that is not new is left as it is: a repo already, a folder of another repo, or no repo at all.
        """
        self.root = root
        self.hours = 0
        root.mkdir(parents=True, exist_ok=True)
        if is_new:
            self.git("init", "--quiet", *options)

    def git(
        self, *arguments: str, at: int | str | None = None, who: str = "Ann Other", given: bytes | str = b""
    ) -> str:
        """Run git in the repo; see `run_git`."""
        return run_git(self.root, *arguments, at=self.hours if at is None else at, who=who, given=given)

    def write(self, path: str, text: str) -> Path:
        """Write a file of the work tree."""
        return write_text(self.root / path, text)

    def commit(self, what: str = "work", *, who: str = "Ann Other", at: int | str | None = None) -> str:
        """Commit everything as it lies there, and give the commit's id."""
        self.hours += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", what, who=who, at=at)
        return self.head

    @property
    def head(self) -> str:
        """The id of the commit that the repo is at: git is asked only where its own files do not say it at once."""
        head = self.root / ".git/HEAD"
        said = head.read_text().strip() if head.is_file() else ""
        branch = self.root / ".git" / said.removeprefix("ref: ")
        return branch.read_text().strip() if said and branch.is_file() else self.git("rev-parse", "HEAD")

    def move(self, old: str, new: str) -> None:
        """`git mv`, with the folder it goes to."""
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)

    def put_tree(self, *entries: tuple[str, str, bytes]) -> str:
        """Commit a tree of (mode, name, content), which may be one that no folder could hold, and give the commit's id.

        The content of a file or link is its bytes, that of a folder or submodule the id of an object.
        """
        raw = b""
        for mode, name, data in entries:
            is_made = mode.startswith(("100", "120"))
            found = self.git("hash-object", "-w", "--stdin", given=data) if is_made else data.decode()
            raw += f"{mode} ".encode() + os.fsencode(name) + b"\0" + bytes.fromhex(found)
        tree = self.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=raw)
        commit = self.git("commit-tree", tree, "-m", "Made by hand")
        self.git("update-ref", "refs/heads/main", commit)
        return commit
