"""Plans the rows and groups of pages of actions."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memosite.archive.model import Action, Memo
from memosite.archive.urls import ACTIONS, page_of, relative
from memosite.facts.parsed import BROADCAST
from memosite.facts.phrases import phrase
from memosite.pages.actions import ActionGroup, ActionRow, StateLink
from memosite.pages.parts import Reference
from memosite.plan.ages import age
from memosite.plan.asked import Asked, states_of
from memosite.plan.context import ADDRESSEES, LIST_LIMIT, Context
from memosite.plan.dates import stamp
from memosite.plan.thread_facts import perhaps_answered_by

STATES: tuple[tuple[Action, str], ...] = (
    ("open", phrase("Open")),
    ("superseded", phrase("Superseded")),
    ("answered", phrase("Answered")),
    ("discharged", phrase("Closed")),
)
"""The states of actions with their names on pages."""


def state_page(state: Action) -> str:
    """The page of a state: its address has the name that data have."""
    return f"{ACTIONS}{state}/"


def state_feed(state: Action) -> str:
    """The feed of a state. That of open actions is older than the pages of states."""
    return f"{ACTIONS if state == 'open' else state_page(state)}feed.xml"


def state_links(start: str, asked: Asked, current: Action | None = None) -> tuple[StateLink, ...]:
    """Links to the pages of all states; the one that is shown is no link."""
    totals = Counter(state for memo in asked.every for state in states_of(memo))
    return tuple(
        StateLink(
            state=state,
            page=Reference(label=name, href=None if state == current else relative(start, state_page(state))),
            total=totals[state],
        )
        for state, name in STATES
    )


def rows_each(lengths: Sequence[int], limit: int = LIST_LIMIT) -> int:
    """How many rows each of some lists may have, so that a page has no more than `limit` (SPEC 4)."""
    if sum(lengths) <= limit:
        return limit
    most = limit // len(lengths)
    while sum(min(length, most + 1) for length in lengths) <= limit:  # short lists leave room for the long ones
        most += 1
    return most


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMaker:
    """Makes the rows and groups of the page `start`; ages are counted to `day`."""

    context: Context
    start: str
    day: dt.date | None

    def group(
        self,
        heading: str,
        anchor: str,
        memos: Sequence[Memo],
        *,
        limit: int,
        viewer: str | None = None,
        is_waiting: bool = False,
        state: Action | None = None,
        empty: str = "",
        more: str = "",
    ) -> ActionGroup:
        """The first actions of a list. Who asks is known where the viewer `is_waiting`, and whom it waits for is not.

        `more` is a page that has all.
        """
        rows = (self._row(memo, viewer=viewer, is_waiting=is_waiting, state=state) for memo in memos[:limit])
        return ActionGroup(
            heading=heading,
            anchor=anchor,
            rows=tuple(rows),
            total=len(memos),
            is_waiting=is_waiting,
            empty=empty,
            more=relative(self.start, more) if more and len(memos) > limit else "",
        )

    def _row(self, memo: Memo, *, viewer: str | None, is_waiting: bool, state: Action | None) -> ActionRow:
        _, source = self.context.where(memo, viewer)
        is_of_all = memo.is_broadcast and viewer is None and state == "open"
        return ActionRow(
            kind=memo.kind,
            href=relative(self.start, page_of(memo)),
            subject=memo.short_subject,
            date=stamp(memo.date),
            age=age(memo.date, self.day),
            action=state or self.context.action(memo, viewer) or "open",
            asked_by=None if is_waiting else self.context.position(self.start, memo.sender_position, memo.sender),
            waits_for=self.people(memo.owed_by) if is_waiting or is_of_all else (),
            perhaps_answered_by=perhaps_answered_by(self.context, self.start, memo),
            of_all=memo.is_broadcast and viewer is not None and not is_waiting,
            source=source,
            unread="" if is_waiting else self.context.unread(memo, viewer),
        )

    def people(self, positions: Iterable[str]) -> tuple[Reference, ...]:
        """Links to positions; of many, to the first."""
        ids = tuple(positions)
        shown = tuple(self.person(id_) for id_ in ids[:ADDRESSEES])
        return (
            (*shown, Reference(label=phrase("{more} more", more=len(ids) - ADDRESSEES)))
            if len(ids) > ADDRESSEES
            else shown
        )

    def person(self, id_: str) -> Reference:
        """A link to a position, or the word for everybody."""
        return Reference(label=phrase("everybody")) if id_ == BROADCAST else self.context.position(self.start, id_)
