"""Decides what is announced and when a feed is fetched again; walks through its archives (FEEDS, watch 3).

Whenever the feed holds an unknown guid, archives are read until one whose guids are all known, or the last. An
unread memo of long ago stays in the window, so a known guid there does not mean that all older ones are known. The
walk succeeds as a whole or gives nothing: then the feed is fetched again.
"""

import datetime as dt
import json
from collections.abc import Callable, Iterable
from typing import Literal
from urllib.parse import urldefrag, urljoin, urlsplit

from memosite.facts.characters import printable
from memosite.facts.values import Value
from memosite.feeds.document import FeedDocument, ReceivedItem, Rejected, read_document, refusal
from memosite.fetch import Failed, Fetched, FetchOutcome

# Decides what is announced, when a feed is fetched again, and how many memos may be delivered now.


Since = Literal["inbox", "all", "now"]


Fate = Literal["pending", "skipped", "refused"]


UNCONDITIONAL_EACH = 11
"""Of so many questions in a row that gave nothing new, one is asked without validators: they may be the trouble."""


LONGEST_WAIT = 3600.0
"""The longest pause between two polls of a feed that fails, in seconds, unless the interval is longer."""


LONGEST_RETRY_AFTER = 86_400.0
"""A server that asks for more is asked again after a day: clocks and configurations are wrong sometimes."""


class Limit(Value):
    """At most `count` memos in `seconds`. `text` is how the user wrote it."""

    count: int
    seconds: float
    text: str


def fate(item: ReceivedItem, *, since: Since, is_first: bool, only_asked: bool) -> Fate:
    """The fate of an item that is seen for the first time; `is_first` is the first run of its feed."""
    if refusal(item):
        return "refused"
    if only_asked and not item.is_asked:
        return "skipped"
    if is_first and (since == "now" or (since == "inbox" and item.field("state") != "inbox")):
        return "skipped"
    return "pending"


def pause(interval: float, failures: int, wait: float | None) -> float:
    """Seconds until a feed is fetched again, after so many failures in a row."""
    if not failures:
        return interval
    longest = max(interval, LONGEST_WAIT)
    return max(min(interval * 2.0 ** min(failures, 20), longest), min(wait or 0.0, LONGEST_RETRY_AFTER))


def time_alone(not_before: float | None, now: float) -> float:
    """Seconds left of a server's Retry-After; one too far in the future means that the clock was changed."""
    left = (not_before or now) - now
    return left if 0 < left <= LONGEST_RETRY_AFTER else 0.0


def publisher_problem(data: bytes, now: dt.datetime, max_age: float) -> str | None:
    """A publisher's problem by its `status.json`: too old, from the future, not readable; None without one."""
    try:
        built = dt.datetime.fromisoformat(json.loads(data)["built"])
        age = (now - built).total_seconds()
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return "status.json cannot be read: found no time in `built`"
    if age < -300:
        return f"status.json was built in the future, at {built.isoformat()}: one of the two clocks is wrong"
    if age > max_age:
        return f"the site is {duration(age)} old (built {built.isoformat()}), expected at most {duration(max_age)}"
    return None


def duration(seconds: float) -> str:
    """A time span in a readable unit."""
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f}{unit}"
    return f"{seconds:.0f}s" if seconds >= 10 else f"{seconds:.3g}s"


# Walks from a feed through its archives, to find items older than its window (RFC 5005; FEEDS, watch 3).


class Bounds(Value):
    """The most archives of one walk, and the most bytes of them together."""

    archives: int = 10_000
    bytes: int = 512 << 20


def walk(
    document: FeedDocument,
    address: str,
    *,
    unknown: Callable[[Iterable[str]], frozenset[str]],
    get: Callable[[str], FetchOutcome],
    bounds: Bounds,
    wanted: frozenset[str] = frozenset(),
) -> tuple[ReceivedItem, ...] | Failed:
    """All items that may be new, oldest first, each guid once; or why they cannot be read.

    `unknown` filters guids for new ones, `get` gives the archive at an address. Items that are `wanted` are looked
    for, too: archives are read until they are found.
    """
    found = [document]
    wanted -= {item.guid for item in document.items}
    seen, archived, total = {address}, set[str](), 0
    feed = address
    while (wanted or unknown(item.guid for item in found[-1].items)) and found[-1].previous is not None:
        target = archive_address(found[-1], address)
        if isinstance(target, Failed):
            return target
        shown = printable(target)
        if target in seen:
            return Failed(reason=f"archive {shown}: found a second time, expected an older one")
        if len(found) > bounds.archives:
            return Failed(reason=f"archive {shown}: found more than {bounds.archives} archives")
        answer = get(target)
        if not isinstance(answer, Fetched):
            reason = answer.reason if isinstance(answer, Failed) else "304 to an unconditional request"
            wait = answer.wait if isinstance(answer, Failed) else None
            return Failed(reason=f"archive {shown}: {reason}", wait=wait)
        if not is_beside(answer.address, feed):
            return Failed(reason=f"archive {shown}: led to another place, {printable(answer.address)}")
        total += len(answer.data)
        if total > bounds.bytes:
            return Failed(reason=f"archive {shown}: found more than {bounds.bytes} bytes of archives")
        archive = _read_archive(answer.data)
        if isinstance(archive, Rejected):
            return Failed(reason=f"archive {shown}: {archive.reason}")
        guids = {item.guid for item in archive.items}
        if guids & archived:  # full blocks never share an item: the same archive under another address
            return Failed(reason=f"archive {shown}: found items of a newer archive, expected older ones")
        archived |= guids
        wanted -= guids
        seen |= {target, answer.address}
        address = answer.address
        found.append(archive)
    return _oldest_first(found)


def _read_archive(data: bytes) -> FeedDocument | Rejected:
    archive = read_document(data)
    if isinstance(archive, Rejected):
        return archive
    missing = "fh:archive" if not archive.is_archive else "items" if not archive.items else ""
    return Rejected(reason=f"found no {missing}, expected an archive document (RFC 5005)") if missing else archive


def _oldest_first(documents: list[FeedDocument]) -> tuple[ReceivedItem, ...]:
    """Items in the order of the oldest document that has each, with the fields of the newest one."""
    newest: dict[str, ReceivedItem] = {}
    for document in documents:
        for item in document.items:
            newest.setdefault(item.guid, item)
    order = dict.fromkeys(item.guid for document in reversed(documents) for item in reversed(document.items))
    return tuple(newest[guid] for guid in order)


def archive_address(document: FeedDocument, address: str) -> str | Failed:
    """The address of a document's previous archive, which must have the document's own origin.

    A site built for one address is read at another, too: from disk, through a tunnel, from a mirror. A link beside
    the document's own stated address is then taken as relative. Any other place is refused.
    """
    href = document.previous or ""
    try:
        target = urldefrag(urljoin(address, href)).url
        for base in document.bases:
            if not is_beside(target, address):
                target = _rebased(target, base, address)
        is_here = is_beside(target, address)
    except ValueError:
        return Failed(reason=f"archive {printable(href)[:200]}: not an address")
    if not is_here:
        return Failed(reason=f"archive {printable(target)[:200]}: lies elsewhere than {printable(address)}")
    return target


def _rebased(target: str, base: str, address: str) -> str:
    """A link of a document that calls itself `base`, for one that was found at `address`.

    The feed of a position is in the folder of each of its names, its archives in one of them.
    """
    folder, here = base.rpartition("/")[0], address.rpartition("/")[0]
    outer, outside = folder.rpartition("/")[0], here.rpartition("/")[0]
    if outer.rpartition("/")[2] == outside.rpartition("/")[2] and target.startswith(f"{outer}/"):
        return f"{outside}/{target[len(outer) + 1 :]}"
    return f"{here}/{target[len(folder) + 1 :]}" if target.startswith(f"{folder}/") else target


def is_beside(target: str, address: str) -> bool:
    """Whether two addresses have one origin (RFC 6454); of files, whether both are in one site."""
    if urlsplit(address).scheme == "file":
        outside = address.rpartition("/")[0].rpartition("/")[0] + "/"
        return target.startswith(outside) and ".." not in target.lower().replace("%2e", ".")
    from memosite.fetch.client import origin  # noqa: PLC0415 - a watch of repos needs no network

    return origin(target) == origin(address)
