"""Estimates when artifacts arrived, from the archive's own dates: never earlier than anything that came before them.

Feeds and digests go by arrival, because memos arrive late with an old date, and an order by date would miss them
(FEEDS, window). The order of arrival is the ledger's. The time is that of the commit that received an artifact where
it is known; else it is the newest date so far, its own included. A time so found never changes
when more arrives.
"""

import datetime as dt
from collections.abc import Iterable

from memosite.archive.model import Artifact
from memosite.facts.parsed import Ref

LEAP = dt.timedelta(days=400)
"""A date so far ahead of all before it is believed only when the next such date is near it: it may be a slip."""


def arrival_times(artifacts: Iterable[Artifact]) -> dict[Ref, dt.datetime]:
    """The time of arrival of each artifact, given in order of arrival; none for those before the first date."""
    times: dict[Ref, dt.datetime] = {}
    newest: dt.datetime | None = None
    doubtful: dt.datetime | None = None
    for artifact in artifacts:
        date = _received(artifact) or (artifact.date.instant if artifact.date else None)
        if date is not None:
            if newest is not None and date <= newest:
                doubtful = None
            elif newest is None or date - newest <= LEAP or (doubtful is not None and abs(date - doubtful) <= LEAP):
                newest = date
                doubtful = None
            else:
                doubtful = date
        if newest is not None:
            times[artifact.ref] = newest
    return times


def _received(artifact: Artifact) -> dt.datetime | None:
    """When the earliest of its copies was first committed."""
    first: dt.datetime | None = None
    for copy in artifact.copies:
        received = copy.received
        if received is not None and (first is None or received.instant < first):
            first = received.instant
    return first
