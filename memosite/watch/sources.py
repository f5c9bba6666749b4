"""[I/O] Reads the feeds of a published site for a watch, or makes a position's feed from the repos themselves."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memosite.archive.ledger import Ledger, parse_ledger, read_ledger
from memosite.config.schema import Config
from memosite.facts.errors import ConfigError, MemositeError
from memosite.facts.rules import failures
from memosite.fetch import Failed, Fetched, FetchOutcome, Unchanged
from memosite.reading.archive import open_archive
from memosite.watch.policy import publisher_problem
from memosite.watch.state import FeedState

if TYPE_CHECKING:
    from memosite.archive.model import Archive
    from memosite.fetch.client import Fetcher
    from memosite.plan.context import Context
    from memosite.store.shelf import Shelf

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


# Makes a position's feed from the repos of a site folder, for a watch without a published site.


class PositionFeed:
    """The memos to a position, read from the repos: the items and guids that the published feed would have."""

    def __init__(self, position: str, load: Callable[[], Config], repo: Path | None, guard: Callable[[], None]) -> None:
        """Read a position's memos; `load` gives the configuration as of now, `guard` raises to stop."""
        self._position = position
        self._load = load
        self._repo = repo
        self._guard = guard
        self._roots: dict[str, Path] = {}
        config = load()
        seen_by = "" if config.audience == "internal" else f"?{config.audience}"
        self.address = f"site:{config.site}{seen_by}#{position}"

    def read(self, known: FeedState, *, is_conditional: bool) -> FetchOutcome:
        """All memos to the position, not only the feed's window. The validator is a digest of all that is read."""
        self._guard()
        try:
            config = self._load()
            self._roots = {source.name: source.root for source in config.sources if source.root is not None}
            with open_archive(config) as handle:
                fetched = handle.opened.state if any(source.root is None for source in config.sources) else ()
                inputs = handle.inputs(known.etag or "", opened=fetched)
                if is_conditional and inputs.is_same:
                    return Unchanged()
                archive, ledger = handle.read(ledger=_ledger(known.ledger, read_ledger(config.output)))
                data = _feed(config, archive, handle.shelf, self._position)
                problems = failures(archive.findings)
        except (MemositeError, OSError) as error:
            return Failed(reason=str(error))
        etag = None if problems else inputs.digest  # the next round tries again
        said = ledger.to_jsonl()
        return Fetched(address=self.address, data=data, etag=etag, is_whole=True, ledger=said, problems=problems)

    def get(self, address: str) -> FetchOutcome:
        """Always fails: repos have no feed archives."""
        return Failed(reason=f"{address}: not an archive")

    def repo_of(self, name: str) -> Path | None:
        """The source that contains the memo."""
        return self._repo or self._roots.get(name)

    def problem(self, max_age: float, now: dt.datetime) -> str | None:  # noqa: ARG002
        """None: there is no publisher."""
        return None


def _feed(config: Config, archive: "Archive", shelf: "Shelf", name: str) -> bytes:
    """All memos to a position as RSS."""
    from memosite.feeds import to_rss  # noqa: PLC0415 - a round in which nothing has changed plans nothing
    from memosite.plan import context_of  # noqa: PLC0415 - as above
    from memosite.plan.feeds import plan_whole_feed  # noqa: PLC0415 - as above

    context = context_of(config, archive, shelf)
    return to_rss(plan_whole_feed(context, archive.positions[_position(archive, context, name)]))


def _position(archive: "Archive", context: "Context", name: str) -> str:
    """The id of a position by any name that it has a feed under."""
    if name in archive.positions:
        return name
    if archive.position_of.get(name) in archive.positions:
        return str(archive.position_of[name])
    for id_, position in archive.positions.items():
        if name in context.other_names(position):
            return id_
    known = ", ".join(sorted(archive.positions)[:20])
    raise ConfigError(f"--position {name}: found no such position, expected one of {known}")


def _ledger(saved: str | None, published: Ledger) -> Ledger:
    """The ledger to read with: the published one, unless this watch has given ids that it lacks.

    Without it, the ids of two memos of one name could change places when a third one arrives.
    """
    if saved is None:
        return published
    known = parse_ledger(saved, name="the state's ledger")
    is_newer = known.ids_by_key.items() <= published.ids_by_key.items()
    return published if is_newer else known
