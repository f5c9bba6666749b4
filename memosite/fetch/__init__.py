"""Fetches documents over HTTP and from disk; the results of a fetch."""

from memosite.facts.values import Value


class Fetched(Value):
    """A document as it was served. `address` is the final one, after redirects.

    `is_whole`: it holds everything, so no archive documents follow. `ledger` is what the next reading of the
    repos has to know, None unless it was they that were read; `problems` says what of them could not be read.
    """

    address: str
    data: bytes
    etag: str | None = None
    last_modified: str | None = None
    is_whole: bool = False
    ledger: str | None = None
    problems: tuple[str, ...] = ()


class Unchanged(Value):
    """The document did not change since the last fetch (304)."""


class Failed(Value):
    """No usable document. `wait` is the delay in seconds that the server asked for (Retry-After).

    `is_missing`: there is nothing at that address, as the server says.
    """

    reason: str
    wait: float | None = None
    is_missing: bool = False


FetchOutcome = Fetched | Unchanged | Failed
