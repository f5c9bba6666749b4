"""[I/O] Reads the feeds of a published site for a watch; `repos` reads the repos themselves instead."""

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memosite.fetch.answers import Fetched, FetchOutcome
from memosite.watch.policy import publisher_problem
from memosite.watch.state import FeedState

if TYPE_CHECKING:
    from memosite.fetch.client import Fetcher

_STATUS_LEVELS = 4
"""How many folders above a feed its site's status.json may lie."""


class FeedSource(Protocol):
    """A source of a feed. `address` names it in the state and in messages."""

    address: str

    def read(self, known: FeedState, *, is_conditional: bool) -> FetchOutcome:
        """The feed as it is now."""

    def get(self, address: str) -> FetchOutcome:
        """One of its archives."""

    def repo_of(self, name: str) -> Path | None:
        """The folder of the repo that an item names, if it is known."""

    def problem(self, max_age: float, now: dt.datetime) -> str | None:
        """The problem of its publisher; None without a problem or a publisher."""


class PublishedFeed:
    """A feed of a published site."""

    def __init__(self, address: str, fetcher: "Fetcher", repo: Path | None) -> None:
        """Read the feed at an http, https or file address; its memos are in `repo`."""
        self.address = address
        self._fetcher = fetcher
        self._repo = repo
        self._status: str | None = None

    def read(self, known: FeedState, *, is_conditional: bool) -> FetchOutcome:
        """The feed, or the answer that it is unchanged."""
        if not is_conditional:
            return self._fetcher.get(self.address)
        return self._fetcher.get(self.address, etag=known.etag, last_modified=known.last_modified)

    def get(self, address: str) -> FetchOutcome:
        """One of its archives."""
        return self._fetcher.get(address)

    def repo_of(self, name: str) -> Path | None:  # noqa: ARG002 - there is one
        """The repo that the user gave."""
        return self._repo

    def problem(self, max_age: float, now: dt.datetime) -> str | None:
        """The problem according to the site's status.json, which is in the feed's folder or in one above it."""
        for address in [self._status] if self._status else _status_addresses(self.address):
            answer = self._fetcher.get(address)
            if isinstance(answer, Fetched):
                self._status = address
                return publisher_problem(answer.data, now, max_age)
        return "the site's status.json was not found in the folder of the feed, nor above it"


def _status_addresses(address: str) -> list[str]:
    head, _, rest = address.partition("://")
    host, _, path = rest.partition("/")
    folders = path.partition("?")[0].split("/")[:-1]
    levels = range(len(folders), max(-1, len(folders) - _STATUS_LEVELS), -1)
    return [f"{head}://{'/'.join((host, *folders[:level], 'status.json'))}" for level in levels]
