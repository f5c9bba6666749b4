"""Defines the parts of the pages of threads (see `pages`)."""

from dataclasses import dataclass

from memosite.archive.cite import Citation
from memosite.archive.notices import Notice
from memosite.pages.parts import Body, Reference, Row, Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadMember:
    """A memo of a thread with its texts; a ghost has none, and of one without content a `notice` says why.

    `after` is how long it took to reply to `answers`, which is None if that is the memo above it. `waits_for` are those
    who have not done what it asks. Of one that `is_folded`, the page shows `preview` first.
    """

    row: Row
    anchor: str
    summary: Body | None
    body: Body | None
    notice: Notice | None = None
    answers: Reference | None = None
    after: str = ""
    waits_for: tuple[Reference, ...] = ()
    perhaps_answered_by: tuple[Reference, ...] = ()
    is_folded: bool = False
    preview: str = ""
    citation: Citation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadPosition:
    """Who took part in a thread, from when to when, how long its replies took, and how many actions wait for it."""

    position: Reference
    repo: str
    sent: int
    first: Stamp | None
    last: Stamp | None
    median: str
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingFor:
    """A memo of a thread whose action is open, since when, and for whom."""

    memo: Reference
    since: Stamp | None
    positions: tuple[Reference, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSummary:
    """What the first page of a thread says of all of it; totals count what is not listed, too."""

    first: Stamp | None
    last: Stamp | None
    senders: int
    positions: tuple[ThreadPosition, ...]
    positions_total: int
    waiting: tuple[WaitingFor, ...]
    waiting_total: int
