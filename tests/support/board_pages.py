"""Samples of the pages of actions, of decisions and of threads, with every part that such a page may have."""

from typing import Any

from memosite.facts.times import read_moment
from memosite.pages import ListSection, Reference, View
from memosite.plan.actions import ActionGroup, ActionListPage, ActionRow, ActionsPage, Owed, PositionActions, StateLink
from memosite.plan.decisions import DecisionGroup, DecisionRow, DecisionsPage
from memosite.plan.threads import ThreadRow, ThreadsPage

_STAMP = read_moment("2026-04-21T09:00:00-04:00")
_STRATEGIST = Reference(label="strategist", href="../positions/strategist/index.html", title="Strategist")
_DIRECTOR = Reference(label="director", href="../positions/director/index.html")


def _row(subject: str, **changes: Any) -> ActionRow:
    fields: dict[str, Any] = {
        "kind": "memo",
        "href": "../memos/plan/index.html",
        "subject": subject,
        "date": _STAMP,
        "age": "31 days",
        "action": "open",
        "source": "governance",
    }
    return ActionRow(**fields | changes)


def action_groups(ending: str = "") -> tuple[ActionGroup, ...]:
    """Actions of a position in three states, the first cut; and none that are asked of everybody."""
    to_do = (_row("Plan", asked_by=_DIRECTOR, unread="unread"), _row("The older one", date=None, age="", kind="note"))
    done = (_row("A count", action="discharged", asked_by=_DIRECTOR),)
    return (
        ActionGroup(heading="To do", anchor=f"to-do{ending}", rows=to_do, total=501, more="all/index.html"),
        ActionGroup(
            heading="Waiting on others",
            anchor=f"waiting{ending}",
            rows=(_row("Oak", waits_for=(_DIRECTOR, _STRATEGIST)),),
            total=1,
        ),
        ActionGroup(heading="Closed", anchor=f"done{ending}", rows=done, total=1),
        ActionGroup(heading="Asked of everybody", anchor=f"all{ending}", rows=(), total=0, empty="Nothing."),
    )


def _states() -> tuple[StateLink, ...]:
    return (
        StateLink(state="open", page=Reference(label="Open"), total=3),
        StateLink(state="discharged", page=Reference(label="Closed", href="discharged/index.html"), total=0),
    )


def actions_board(fields: dict[str, Any]) -> ActionsPage:
    """What one position and everybody have to do, more than is listed, and who waits for whom."""
    owed: dict[str, Any] = {"who": _STRATEGIST, "whom": _DIRECTOR, "total": 3, "href": "../memos/plan/index.html"}
    return ActionsPage(
        **fields,
        newest="2026-04-21",
        states=_states(),
        memos_open=3,
        replies_owed=5,
        asks_everybody=True,
        owed=(Owed(**owed, oldest=_STAMP, age="31 days"), Owed(**owed, oldest=None, age="")),
        owed_total=7,
        positions=(
            PositionActions(
                position=_STRATEGIST,
                href="../positions/strategist/actions/index.html",
                anchor="position-strategist",
                former=("open-for-strategist",),
                groups=action_groups("-strategist"),
            ),
            PositionActions(
                position=Reference(label="Everybody"),
                href="all/index.html",
                anchor="position-all",
                former=(),
                groups=action_groups("-all")[:1],
            ),
        ),
        positions_total=9,
    )


def action_list(fields: dict[str, Any]) -> ActionListPage:
    """All actions of a position."""
    return ActionListPage(
        **fields,
        intro="",
        newest="2026-04-21",
        states=_states(),
        position=_STRATEGIST,
        groups=action_groups(),
        positions_total=5,
    )


def decisions_list(fields: dict[str, Any]) -> DecisionsPage:
    """What is pending, and a month of decisions."""
    said: dict[str, Any] = {"kind": "document", "href": "../documents/oak/index.html"}
    said |= {"source": "governance", "type": "decision"}
    pending = DecisionRow(
        **said, subject="Oak", date=_STAMP, standing="pending", status="awaiting a vote", age="31 days", by="director"
    )
    old = DecisionRow(
        **said,
        subject="Ash",
        date=None,
        standing="superseded",
        status="superseded",
        successor=_DIRECTOR,
        proposals=(_DIRECTOR, _STRATEGIST),
        decided_in=(_DIRECTOR,),
        recorded_in=(_DIRECTOR,),
    )
    return DecisionsPage(
        **fields,
        intro="By date.",
        newest="2026-04-21",
        views=(
            View(page=Reference(label="All"), total=3),
            View(page=Reference(label="By source", href="by-source/index.html"), total=None),
        ),
        groups=(
            DecisionGroup(heading="Pending", anchor="pending", rows=(pending,), total=1),
            DecisionGroup(heading="April 2026", anchor="2026-04", rows=(old,), total=2),
        ),
        former=("governance-decisions",),
    )


def no_decisions(fields: dict[str, Any]) -> DecisionsPage:
    """None, but a subject that speaks of one."""
    said = ListSection(heading="Subjects that speak of a decision", anchor="said", rows=(), total=0)
    return DecisionsPage(**fields, intro="", newest="2026-04-21", views=(), groups=(), said=(said,), offers_search=True)


def thread_list(fields: dict[str, Any]) -> ThreadsPage:
    """One that waits, one that has ended, and one that is not shown."""
    row: dict[str, Any] = {
        "href": "../../threads/plan/index.html",
        "subject": "Plan",
        "memos": 2,
        "missing": 1,
        "senders": (_DIRECTOR, _STRATEGIST),
    }
    waits: dict[str, Any] = {"waits_for": (_DIRECTOR,), "since": _STAMP, "age": "31 days"}
    ended: dict[str, Any] = {"waits_for": (), "since": None}
    return ThreadsPage(
        **fields,
        intro="The last active first.",
        newest="2026-04-21",
        views=(
            View(page=Reference(label="Last active"), total=3),
            View(page=Reference(label="Waiting longest", href="waiting/index.html"), total=None),
        ),
        rows=(
            ThreadRow(date=_STAMP, first=_STAMP, last=_STAMP, **row, **waits),
            ThreadRow(date=None, first=None, last=None, **row, **ended),
        ),
        total=3,
    )
