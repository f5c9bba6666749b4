"""What asking for a document gives: its bytes, the word that nothing changed, or why there is nothing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A document as it was served. `address` is where it was found at last, after redirects.

    `is_whole` says that it holds everything and has no archives to walk. `ledger` is what the next reading of the
    repos has to know, None unless it was they that were read.
    """

    address: str
    data: bytes
    etag: str | None = None
    last_modified: str | None = None
    is_whole: bool = False
    ledger: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The server says that the document is the one we know (304)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Nothing that can be used. `wait` is how many seconds the server asked to be left alone (Retry-After)."""

    reason: str
    wait: float | None = None


FetchOutcome = Fetched | Unchanged | Failed
