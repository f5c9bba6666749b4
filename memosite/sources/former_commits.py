"""[I/O] Finds the commit that a branch was at at a former time (SPEC 8, reading the past)."""

import datetime as dt

from memosite.sources.git import GitError, GitLimitError, Repo, git


def commit_before(repo: Repo, tip: str, instant: dt.datetime) -> str:
    """The newest commit that was made by an instant, by the line of first parents; "" if there is none.

    A commit of another branch that was merged later is on none of its lines: nobody who read the branch had it.
    Raises `GitError` if git cannot read the repo.
    """
    second = int(instant.timestamp())
    printed = git(repo, "rev-list", "--first-parent", "--max-count=1", f"--min-age={second}", tip, "--")
    return printed.decode("ascii", "replace").strip()


def first_commit(repo: Repo, tip: str) -> str:
    """The first commit on the line of first parents. Raises `GitError` if git cannot read the repo."""
    printed = git(repo, "rev-list", "--first-parent", "--max-parents=0", tip, "--").decode("ascii", "replace").split()
    return printed[-1] if printed else ""


def has_folder(repo: Repo, commit: str, folder: str) -> bool:
    """Whether a commit has a folder."""
    try:
        kind = git(repo, "cat-file", "-t", f"{commit}:{folder}")
    except GitLimitError:
        raise
    except GitError:
        return False
    return kind.strip() == b"tree"


def is_shallow(repo: Repo) -> bool:
    """Whether the first commits of a clone are missing."""
    return git(repo, "rev-parse", "--is-shallow-repository").strip() == b"true"


def is_reachable(repo: Repo, commit: str) -> bool:
    """Whether HEAD, a branch or a tag has a commit among its ancestors. Raises `GitError` if there is none such."""
    return not git(repo, "rev-list", "--max-count=1", commit, "--not", "--all", "--").strip()
