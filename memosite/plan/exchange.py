"""Plans who writes to whom on the page of the organization: how many memos, and how long answers take."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from statistics import median_low

from memosite.archive.model import Memo
from memosite.archive.urls import ORGANIZATION
from memosite.facts.parsed import BROADCAST
from memosite.pages.overviews import Exchange, ExchangeCell
from memosite.pages.pictures import shade_of
from memosite.plan.context import Context
from memosite.plan.dates import duration, seconds_between

POSITIONS = 12
"""The most positions in the matrix."""

_Pair = tuple[str, str]


def plan_exchange(context: Context) -> Exchange | None:
    """A matrix of the positions that exchange most; None if nobody writes to anybody."""
    counts, times = _exchanged(context)
    if not counts:
        return None
    traffic: Counter[str] = Counter()
    for (sender, to), number in counts.items():
        traffic[sender] += number
        traffic[to] += number
    shown = sorted(sorted(traffic, key=lambda id_: (-traffic[id_], id_))[:POSITIONS])
    pairs = {(one, other): counts[one, other] for one in shown for other in shown if counts[one, other]}
    most = max(pairs.values(), default=1)
    return Exchange(
        positions=tuple(context.position(ORGANIZATION, id_) for id_ in shown),
        rows=tuple(
            tuple(_cell((one, other), pairs, times, most) if (one, other) in pairs else None for other in shown)
            for one in shown
        ),
        shown=sum(pairs.values()),
        total=counts.total(),
        left_out=len(traffic) - len(shown),
    )


def _exchanged(context: Context) -> tuple[Counter[_Pair], dict[_Pair, list[float]]]:
    """For each sender and recipient the number of memos, and the seconds that the answered ones waited.

    Memos to all and to oneself are left out.
    """
    counts: Counter[_Pair] = Counter()
    times: dict[_Pair, list[float]] = defaultdict(list)
    for memo in context.memos:
        if memo.kind != "memo" or memo.sender_position is None:
            continue
        for to in {state.position for state in memo.recipients} - {BROADCAST, memo.sender_position}:
            counts[memo.sender_position, to] += 1
            waited = _waited(context, memo, to)
            if waited is not None:
                times[memo.sender_position, to].append(waited)
    return counts, times


def _waited(context: Context, memo: Memo, to: str) -> float | None:
    """The seconds until a recipient first answered; None if it did not, or if a date is only in a file name."""
    position = context.archive.positions.get(to)
    members = {to, *(position.union_of if position else ())}
    replies = (context.archive.artifacts.get(ref) for ref in (*memo.replies, *memo.also_answered_by))
    dates = [one.date for one in replies if isinstance(one, Memo) and one.sender_position in members and one.date]
    return seconds_between(memo.date, min(dates, key=lambda date: date.instant, default=None))


def _cell(pair: _Pair, counts: Mapping[_Pair, int], times: Mapping[_Pair, list[float]], most: int) -> ExchangeCell:
    waits = times.get(pair, [])
    return ExchangeCell(
        number=counts[pair],
        shade=shade_of(counts[pair], most),
        answered=len(waits),
        median=duration(median_low(waits)) if waits else "",
    )
