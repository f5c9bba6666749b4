"""Finds the memos and notes that participants of a conversation sent during it (SPEC 4)."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter

from memosite.archive.model import Artifact, Memo, Transcript
from memosite.facts.parsed import Ref


def find_written(artifacts: Iterable[Artifact]) -> dict[Ref, tuple[Ref, ...]]:
    """For each transcript whose end is known, the memos and notes that a participant sent between start and end.

    The end is that of the envelope, else its last turn. They are in the order of their dates; where nothing was sent,
    the transcript has no entry. A date counts only if the memo itself states it.
    """
    sent: dict[str, list[Memo]] = defaultdict(list)
    transcripts: list[Transcript] = []
    for one in artifacts:
        if isinstance(one, Transcript):
            transcripts.append(one)
        elif isinstance(one, Memo) and one.sender_position and one.date is not None and one.date.origin == "field":
            sent[one.sender_position].append(one)
    for memos in sent.values():
        memos.sort(key=_instant)
    found: dict[Ref, tuple[Ref, ...]] = {}
    for transcript in transcripts:
        end = transcript.ended or transcript.last_turn
        if transcript.date is None or end is None:
            continue
        meanwhile: list[Memo] = []
        for seat in transcript.positions:
            memos = sent.get(seat, [])
            first = bisect_left(memos, transcript.date.instant, key=_instant)
            meanwhile += memos[first : bisect_right(memos, end.instant, lo=first, key=_instant)]
        if meanwhile:
            found[transcript.ref] = tuple(memo.ref for memo in sorted(meanwhile, key=attrgetter("sort_key")))
    return found


_instant = attrgetter("date.instant")
