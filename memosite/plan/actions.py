"""Plans the actions board: who owes whom an answer, what each position has to do and waits for, and each state."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from memosite.archive.model import Action, Memo
from memosite.archive.urls import ACTIONS, page_of, position_actions, relative
from memosite.facts.parsed import BROADCAST
from memosite.facts.phrases import phrase
from memosite.pages.actions import ActionGroup, ActionListPage, ActionsPage, Owed, PositionActions
from memosite.pages.models import ListPage
from memosite.pages.parts import Reference
from memosite.plan.action_rows import STATES, RowMaker, rows_each, state_feed, state_links, state_page
from memosite.plan.ages import age, as_of, newest_day
from memosite.plan.asked import Asked, by_number, owed, sort_asked
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.files import Written
from memosite.plan.head import page_head, twin_links
from memosite.plan.pagination import in_parts, part_count, part_links, plan_part
from memosite.plan.position_actions import of_everybody, plan_position_actions
from memosite.plan.twins import list_twins
from memosite.plan.units import Unit

TITLE = phrase("Actions")
_TITLES: Mapping[Action, str] = {
    "open": phrase("Open actions"),
    "superseded": phrase("Superseded actions"),
    "answered": phrase("Answered actions"),
    "discharged": phrase("Closed actions"),
}

_PAIRS = 30
"""The most pairs of positions that the board names."""
_POSITIONS = 100
"""The most positions that have a section on one page of actions."""
_ROWS = 2 * _POSITIONS
"""The most rows on such a page: a list on a position's page has more."""
_EMPTY: Mapping[Action, str] = {
    "open": phrase("No open actions."),
    "superseded": phrase("No superseded actions left to close."),
    "answered": phrase("No answered actions left to close."),
    "discharged": phrase("No closed actions yet."),
}


def plan_actions(context: Context) -> Iterator[ActionsPage | ActionListPage | ListPage | Written]:
    """The board, the pages of what is asked of everybody and of all states, and the board's twins."""
    asked, day = sort_asked(context.memos), newest_day(context)
    yield _board(RowMaker(context=context, start=ACTIONS, day=day), asked)
    yield from plan_position_actions(
        context, here=actions_of(BROADCAST), position=None, day=day, mine=of_everybody(asked)
    )
    for state, _ in STATES:
        yield _state(RowMaker(context=context, start=state_page(state), day=day), asked, state)
    yield from list_twins(context, ACTIONS, TITLE, asked.every, facts={})


def action_part_units(context: Context) -> Iterator[Unit]:
    """The parts of the list of actions, each by itself: another memo changes few of them."""
    asked = tuple(memo for memo in context.memos if memo.action is not None)
    for number, chunk in enumerate(in_parts(asked) if part_count(asked) else (), 1):
        make = partial(_plan_action_part, number=number, asked=chunk)
        yield Unit(
            name=f"actions/{number}",
            make=make,
            given=(number, chunk),
            given_as="the actions on this part of the list",
            weight=10,
        )


def _plan_action_part(context: Context, *, number: int, asked: Sequence[Memo]) -> Iterator[ListPage]:
    yield plan_part(context, ACTIONS, TITLE, number, asked, section_name="actions")


def _board(make: RowMaker, asked: Asked) -> ActionsPage:
    context, todo = make.context, asked.of.get("open", {})
    numbers = {id_: (*todo.get(id_, ()), *asked.waiting.get(id_, ())) for id_ in {*todo, *asked.waiting}}
    positions = sorted(numbers, key=lambda id_: (id_ == BROADCAST, -len(todo.get(id_, ())), -len(numbers[id_]), id_))
    shown = positions[:_POSITIONS]
    limit = rows_each([len(some[id_]) for some in (todo, asked.waiting) for id_ in shown if id_ in some], _ROWS)
    pairs, undone = owed(asked), [memo for memo in asked.every if memo.owed_by]
    former: dict[str, str] = {}
    for id_ in shown:
        former.setdefault(former_anchor(context, id_), id_)
    return ActionsPage(
        **page_head(context, ACTIONS, title=TITLE, section="actions"),
        feeds=(Reference(label=phrase("Open actions"), href="feed.xml"),),
        twins=twin_links(ACTIONS, ACTIONS),
        parts=part_links(ACTIONS, ACTIONS, part_count(asked.every), None),
        newest=as_of(make.day),
        states=state_links(ACTIONS, asked),
        memos_open=len(undone),
        replies_owed=sum(len(memo.owed_by) for memo in undone),
        asks_everybody=any(memo.is_broadcast for memo in undone),
        owed=tuple(_owed(make, who, whom, memos) for who, whom, memos in pairs[:_PAIRS]),
        owed_total=len(pairs),
        positions=tuple(
            _of_position(make, asked, id_, limit, [anchor for anchor, one in former.items() if one == id_])
            for id_ in shown
        ),
        positions_total=len(positions),
    )


def _owed(make: RowMaker, who: str, whom: str, memos: Sequence[Memo]) -> Owed:
    since = memos[0].date  # the oldest; what has no date is last
    return Owed(
        href=relative(ACTIONS, page_of(memos[0])),
        who=make.person(who),
        whom=make.person(whom),
        total=len(memos),
        oldest=stamp(since),
        age=age(since, make.day),
    )


def _of_position(make: RowMaker, asked: Asked, id_: str, limit: int, former_anchors: Sequence[str]) -> PositionActions:
    board = actions_of(id_)
    todo, waiting = asked.asked_of([id_]), asked.asked_by([id_])
    own = viewer(id_)
    groups = [make.group(phrase("To do"), f"to-do-{id_}", todo, limit=limit, viewer=own, state="open", more=board)]
    if waiting:
        heading, anchor = phrase("Waiting on others"), f"waiting-{id_}"
        groups.append(make.group(heading, anchor, waiting, limit=limit, is_waiting=True, state="open", more=board))
    return PositionActions(
        position=Reference(label=phrase("Everybody")) if id_ == BROADCAST else make.context.position(make.start, id_),
        href=relative(make.start, board),
        anchor=f"position-{id_}",
        former=tuple(former_anchors),
        groups=tuple(group for group in groups if group.total),
    )


def viewer(id_: str) -> str | None:
    """The position for which a memo is unread or not; none is all of them."""
    return None if id_ == BROADCAST else id_


def actions_of(id_: str) -> str:
    """The page with all actions of a position, or of everybody."""
    return f"{ACTIONS}{BROADCAST}/" if id_ == BROADCAST else position_actions(id_)


def former_anchor(context: Context, id_: str) -> str:
    """The anchor of a position's section, as it was published when it was made of the heading."""
    return f"open for {context.label(id_)}".lower().replace(" ", "-")


def _state(make: RowMaker, asked: Asked, state: Action) -> ActionListPage:
    name = _TITLES[state]
    found = asked.of.get(state, {})
    order = by_number(found)[:_POSITIONS]
    limit = rows_each([len(found[id_]) for id_ in order], _ROWS)
    return ActionListPage(
        **page_head(make.context, make.start, title=name, section="actions"),
        feeds=(Reference(label=name, href=relative(make.start, state_feed(state))),),
        intro=_EMPTY[state] if not found else "",
        newest=as_of(make.day),
        states=state_links(make.start, asked, state),
        position=None,
        groups=tuple(_of_state(make, id_, found[id_], state=state, limit=limit) for id_ in order),
        positions_total=len(found),
    )


def _of_state(make: RowMaker, id_: str, memos: Sequence[Memo], *, state: Action, limit: int) -> ActionGroup:
    heading = phrase("Everybody") if id_ == BROADCAST else make.context.label(id_)
    return make.group(
        heading, f"position-{id_}", memos, limit=limit, viewer=viewer(id_), state=state, more=actions_of(id_)
    )
