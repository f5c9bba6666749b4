"""Memos whose life in git is looked at: puts one into a repo, reads the history, tells it in a few words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memosite.archive.history import History, LifeEvent
from memosite.archive.model import Archive
from memosite.reading.screen import Screen
from memosite.sources.folder import holding_repo, repo_at
from memosite.sources.git import Repo as FoundRepo
from memosite.sources.history import NUMBERED, KnownHistory, read_history
from memosite.store.state import State, Table
from memosite.store.values import read_value, value_bytes
from tests.support.archives import folder_source, read_folders
from tests.support.memos import write_memo
from tests.support.repos import Repo

NAME = "2026-05-01-0100--engineer--director--gate"
"""The memo that is meant where none is named."""
KEY = f"memos/{NAME}.openthing"
"""What its history is found by: its path without the mailbox."""


def put(repo: Repo, folder: str = "memos/inbox", name: str = NAME, **fields: object) -> str:
    """Write a memo into a repo without committing it, and give its path there."""
    known = {"subject": "The gate", "sent": "2026-05-01T01:00:00Z", "body": "It is green."}
    file = write_memo(repo.root / folder, name, extra=known | fields)
    return file.relative_to(repo.root).as_posix()


def commit_memo(
    repo: Repo, folder: str = "memos/inbox", name: str = NAME, *, who: str = "Ann Other", at: int | None = None,
    on: str = "", **fields: object,
) -> str:  # fmt: skip
    """Write a memo as `put` does, and commit all that lies in the repo, `on` another branch; the commit's id."""
    if on:
        repo.git("checkout", "--quiet", on)
    put(repo, folder, name, **fields)
    return repo.commit(who=who, at=at)


def history_of(repo: Repo, *, cache: Path | None = None) -> History:
    """The history of a repo as a build reads it, which keeps it in this folder."""
    found = repo_at(repo.root)
    assert isinstance(found, FoundRepo)
    if cache:
        cache.mkdir(parents=True, exist_ok=True)
    with State(cache) as state:
        known = KnownHistory(state, "engine")
        history = read_history(found, Screen().names, known=known)
        known.write()
    return history


def rewrite(cache: Path, table: Table, change: Callable[[Any], Any]) -> None:
    """Change what is kept of a history: the value of each row of a table."""
    with State(cache) as state, state.writing():
        known = ((key, *read_value(value, NUMBERED[table])) for key, value in state[table].items())
        rows = [(key, value_bytes((number, change(one)))) for key, number, one in known]
        assert rows
        state[table].put(rows)


def life(repo: Repo, key: str = KEY, *, cache: Path | None = None) -> list[str]:
    """The steps of one file in a few words: what happened, the mailbox, who did it."""
    return [words(event) for event in history_of(repo, cache=cache).events.get(key, ())]


def words(event: LifeEvent) -> str:
    """A step in a few words."""
    return f"{event.kind} {event.mailbox} by {event.who}"


def archive_of(*repos: Repo, site: Path | None = None, **settings: Any) -> Archive:
    """The archive of repos, each a source named like its folder, with their histories."""
    return read_folders(
        *(folder_source(repo.root, holding=holding_repo(repo.root, site=site or repo.root.parent)) for repo in repos),
        **settings,
    )
