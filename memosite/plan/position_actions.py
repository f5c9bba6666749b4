"""Plans the page of each position with all its actions: to do, waiting on others, and those that are not open."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from memosite.archive.mailboxes import open_for
from memosite.archive.model import Memo, Position
from memosite.archive.urls import position_actions, position_page, relative
from memosite.facts.parsed import BROADCAST
from memosite.facts.phrases import phrase
from memosite.pages.actions import ActionGroup, ActionListPage
from memosite.pages.models import ListPage
from memosite.pages.parts import Reference
from memosite.plan.action_rows import RowMaker, rows_each
from memosite.plan.ages import as_of, newest_day
from memosite.plan.asked import Asked, sort_asked
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.dates import by_arrival
from memosite.plan.head import page_head
from memosite.plan.pagination import part_count, part_links, plan_parts
from memosite.plan.units import Unit

_HEADINGS = (
    (phrase("To do"), "to-do", phrase("Nothing to do.")),
    (phrase("Waiting on others"), "waiting", phrase("Not waiting on anybody.")),
    (phrase("Answered, superseded and closed"), "done", ""),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPosition:
    """The actions of a position: `groups` as `_HEADINGS` has them, and `every` that it was asked or asked for."""

    groups: tuple[Sequence[Memo], ...]
    every: Sequence[Memo]


def position_action_units(context: Context) -> Iterator[Unit]:
    """A unit for each position, which is made again when one of its actions changes, or the newest date."""
    asked, day = sort_asked(context.memos), newest_day(context)
    sent: dict[str, list[Memo]] = defaultdict(list)
    received: dict[str, list[Memo]] = defaultdict(list)
    for memo in asked.every:
        if memo.sender_position is not None:
            sent[memo.sender_position].append(memo)
        for state in memo.recipients:
            received[state.position].append(memo)
    for position in context.archive.positions.values():
        mine = _of_position(asked, position, sent, received)
        make = partial(_plan, position=position, day=day, mine=mine)
        given = (position, day, *mine.groups, tuple(mine.every))
        yield Unit(name=f"actions of {position.id}", make=make, given=given, weight=1 + len(mine.every) // 50)


def _of_position(
    asked: Asked, position: Position, sent: Mapping[str, Sequence[Memo]], received: Mapping[str, Sequence[Memo]]
) -> OfPosition:
    members = (position.id, *position.union_of)
    nameless = [memo for memo in asked.asked_of([BROADCAST]) if BROADCAST in memo.owed_by]
    todo = {memo.ref: memo for memo in (*asked.asked_of(members), *nameless) if open_for(memo, members)}
    every = {memo.ref: memo for some in (sent, received) for id_ in members for memo in some.get(id_, ())}
    return OfPosition(
        groups=(sorted(todo.values(), key=lambda memo: memo.sort_key), asked.asked_by(members), _done(asked, members)),
        every=sorted(every.values(), key=by_arrival),
    )


def _done(asked: Asked, positions: Iterable[str]) -> tuple[Memo, ...]:
    """What positions do not have to do any more, the newest first."""
    ids = tuple(positions)
    todo = {memo.ref for memo in asked.asked_of(ids)}
    done = (memo for state in asked.of if state != "open" for memo in asked.asked_of(ids, state))
    found = {memo.ref: memo for memo in done if memo.ref not in todo}
    return tuple(sorted(found.values(), key=lambda memo: memo.sort_key, reverse=True))


def of_everybody(asked: Asked) -> OfPosition:
    """What everybody is asked."""
    every = [memo for memo in asked.every if any(state.position == BROADCAST for state in memo.recipients)]
    return OfPosition(groups=(asked.asked_of([BROADCAST]), (), _done(asked, [BROADCAST])), every=every)


def _plan(
    context: Context, *, position: Position, day: dt.date | None, mine: OfPosition
) -> Iterator[ActionListPage | ListPage]:
    return plan_position_actions(context, here=position_actions(position.id), position=position, day=day, mine=mine)


def plan_position_actions(
    context: Context, *, here: str, position: Position | None, day: dt.date | None, mine: OfPosition
) -> Iterator[ActionListPage | ListPage]:
    """The page of a position, or of everybody, and its parts if there is more than one page may have."""
    viewer = position.id if position else None
    label = context.label(position.id) if position else phrase("everybody")
    title = phrase("Actions of {label}", label=label)
    yield ActionListPage(
        **page_head(context, here, title=title, section="actions"),
        parts=part_links(here, here, part_count(mine.every), None),
        intro="",
        newest=as_of(day),
        states=(),
        position=Reference(label=label, href=relative(here, position_page(position.id))) if position else None,
        groups=tuple(_groups(RowMaker(context=context, start=here, day=day), mine, viewer)),
    )
    yield from plan_parts(context, here, title, mine.every, section_name="actions", viewer=viewer)


def _groups(make: RowMaker, mine: OfPosition, viewer: str | None) -> Iterator[ActionGroup]:
    limit = rows_each([len(memos) for memos in mine.groups if memos]) if part_count(mine.every) else LIST_LIMIT
    for (heading, anchor, empty), memos in zip(_HEADINGS, mine.groups, strict=True):
        if memos or (empty and viewer):
            group = make.group(
                heading,
                anchor,
                memos,
                limit=limit,
                viewer=viewer,
                is_waiting=anchor == "waiting",
                state=None if anchor == "done" else "open",
                empty=empty,
            )
            yield replace(group, former=("everybody",)) if anchor == "to-do" else group
