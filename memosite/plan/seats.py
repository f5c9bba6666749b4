"""Indexes what each seat sent, has not read and is asked, in one pass over the memos for all seats."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from memosite.archive.mailboxes import is_unread
from memosite.archive.model import Copy, Memo
from memosite.facts.parsed import BROADCAST, Mailbox, Ref

_DONE: frozenset[Mailbox] = frozenset({"read", "archive"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatIndex:
    """Memos by position, notes left out, each list in order of arrival.

    `newest_sent` is the last memo that a position sent by date, `open_from` how many of its memos ask for something
    not done. `unread` holds what a recipient has not read, `unread_broadcasts` by source the memos to all that nobody
    has read there. `unsure` holds what nobody can know of a recipient, `known_broadcasts` by source the memos to all of
    which it is known there. `owed` holds the memos that ask a position, or all, for something that it has not done.
    """

    newest_sent: Mapping[str, Memo]
    open_from: Mapping[str, int]
    unread: Mapping[str, Sequence[Memo]]
    unread_broadcasts: Mapping[str, Sequence[Memo]]
    unsure: Mapping[str, Sequence[Memo]]
    known_broadcasts: Mapping[str, Set[Ref]]
    owed: Mapping[str, Sequence[Memo]]


def index_seats(memos: Iterable[Memo], broadcasts: Iterable[Memo]) -> SeatIndex:
    """Look at all memos and notes, and once more at the memos to all."""
    newest: dict[str, Memo] = {}
    open_from: dict[str, int] = defaultdict(int)
    unread: dict[str, list[Memo]] = defaultdict(list)
    unsure: dict[str, list[Memo]] = defaultdict(list)
    owed: dict[str, list[Memo]] = defaultdict(list)
    for memo in memos:
        if memo.kind != "memo":
            continue
        sender = memo.sender_position
        if sender is not None:
            open_from[sender] += bool(memo.owed_by)
            if memo.date and (sender not in newest or newest[sender].sort_key < memo.sort_key):
                newest[sender] = memo
        for state in memo.recipients:
            if state.unread:
                unread[state.position].append(memo)
            elif state.unread is None:
                unsure[state.position].append(memo)
        for id_ in memo.owed_by:
            owed[id_].append(memo)
    return SeatIndex(
        newest_sent=newest,
        open_from=open_from,
        unread=unread,
        unread_broadcasts=_unread_by_source(broadcasts),
        unsure=unsure,
        known_broadcasts=_known_by_source(broadcasts),
        owed=owed,
    )


def _known_by_source(broadcasts: Iterable[Memo]) -> dict[str, set[Ref]]:
    found: dict[str, set[Ref]] = defaultdict(set)
    for memo in broadcasts:
        held: dict[str, list[Copy]] = defaultdict(list)
        for copy in memo.copies:
            held[copy.file.source].append(copy)
        for source, copies in held.items():
            if is_unread(tuple(copies), None) is not None:
                found[source].add(memo.ref)
    return found


def _unread_by_source(broadcasts: Iterable[Memo]) -> dict[str, list[Memo]]:
    found: dict[str, list[Memo]] = defaultdict(list)
    for memo in broadcasts:
        if not any(state.position == BROADCAST for state in memo.recipients):
            continue
        left: dict[str, list[Copy]] = {}
        for copy in memo.copies:
            if copy.mailbox not in _DONE:
                left.setdefault(copy.file.source, [])
        for copy in memo.copies if left else ():
            if copy.file.source in left:
                left[copy.file.source].append(copy)
        for source, copies in left.items():
            if is_unread(tuple(copies), None):
                found[source].append(memo)
    return found
