"""Real git repos made on the fly, and a git that no test's machine can disturb."""

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-05-01T12:00:00-04:00",
    "GIT_COMMITTER_DATE": "2026-05-01T12:00:00-04:00",
}


def run_git(folder: Path, *arguments: str, given: bytes = b"", **environment: str) -> str:
    """What git prints, without the line break at its end."""
    done = subprocess.run(
        [
            "git",
            "-c",
            "init.defaultBranch=main",
            "-c",
            "safe.directory=*",
            "-c",
            "protocol.file.allow=always",
            *arguments,
        ],
        cwd=folder,
        env=ENVIRONMENT | environment,
        input=given,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


def make_repo(folder: Path, *options: str) -> Path:
    """An empty repo."""
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "-q", *options)
    return folder


def commit_all(folder: Path, message: str = "Change") -> str:
    """Commit everything in a work tree, and give the commit's hash."""
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(folder, "rev-parse", "HEAD")


def put_tree(folder: Path, *entries: tuple[str, str, bytes]) -> str:
    """Commit a tree made by hand of (mode, name, bytes of the object's hash or of a blob to be made)."""
    raw = b""
    for mode, name, data in entries:
        is_made = mode.startswith(("100", "120"))
        found = run_git(folder, "hash-object", "-w", "--stdin", given=data) if is_made else data.decode()
        raw += f"{mode} ".encode() + os.fsencode(name) + b"\0" + bytes.fromhex(found)
    tree = run_git(folder, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=raw)
    commit = run_git(folder, "commit-tree", tree, "-m", "Made by hand")
    run_git(folder, "update-ref", "refs/heads/main", commit)
    return commit
