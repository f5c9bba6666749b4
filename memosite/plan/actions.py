"""Plans the actions board: what memos ask for, by state."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from memosite.archive.model import Action, Memo
from memosite.archive.urls import ACTIONS
from memosite.pages.models import ActionsPage, ListPage
from memosite.pages.parts import ListSection, Reference
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.files import Written
from memosite.plan.head import page_head, twin_links
from memosite.plan.pagination import in_parts, part_count, part_links, plan_part
from memosite.plan.sections import section
from memosite.plan.twins import list_twins
from memosite.plan.units import Unit

_TITLE = "Actions"

_STATES: tuple[tuple[Action, str, str], ...] = (
    ("open", "Open", "No open actions."),
    ("superseded", "Superseded", "No superseded actions left to close."),
    ("answered", "Answered", "No answered actions left to close."),
    ("discharged", "Closed", "No closed actions yet."),
)


def plan_actions(context: Context) -> Iterator[ActionsPage | Written]:
    """The board: open by position, superseded and answered until discharged, discharged; and its twins."""
    asked = _asked_for(context)
    sections: list[ListSection] = []
    for state, heading, empty in _STATES:
        memos = [memo for memo in asked if memo.action == state]
        by_position = tuple(_open_by_position(context, memos)) if state == "open" else ()
        sections.extend(by_position or [section(context, ACTIONS, heading, memos, anchor=state, empty=empty)])
    yield ActionsPage(
        **page_head(context, ACTIONS, title=_TITLE, section="actions"),
        feeds=(Reference(label="Open actions", href="feed.xml"),),
        twins=twin_links(ACTIONS, ACTIONS),
        parts=part_links(ACTIONS, ACTIONS, part_count(asked), None),
        sections=tuple(sections),
    )
    yield from list_twins(context, ACTIONS, _TITLE, asked, facts={})


def action_part_units(context: Context) -> Iterator[Unit]:
    """The parts of the list of actions, each by itself: another memo changes few of them."""
    asked = _asked_for(context)
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
    yield plan_part(context, ACTIONS, _TITLE, number, asked, section_name="actions")


def _asked_for(context: Context) -> list[Memo]:
    """All memos that ask for something, in order of arrival."""
    return [memo for memo in context.memos if memo.action is not None]


def _open_by_position(context: Context, memos: Sequence[Memo]) -> Iterable[ListSection]:
    waiting: dict[str, list[Memo]] = defaultdict(list)
    for memo in memos:
        for state in memo.recipients:
            if state.action == "open":
                waiting[state.position].append(memo)
    if sum(map(len, waiting.values())) > LIST_LIMIT:
        return
    for position in sorted(waiting, key=lambda id_: (-len(waiting[id_]), id_)):
        label = context.label(position)
        former = f"open-for-{label}".lower().replace(" ", "-")
        yield section(
            context, ACTIONS, f"To do: {label}", waiting[position], anchor=f"to-{position}", former_anchor=former
        )
