"""Page models of actions: the board of all positions, and the lists of one position or of one state."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.archive.model import Action
from memosite.facts.parsed import Kind
from memosite.pages.models import Page
from memosite.pages.parts import Reference, Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow:
    """A memo that asks for something. `age` is counted to the newest date of the archive.

    `asked_by` and `waits_for` are given where the place of the row does not say them. With `of_all` everybody is asked.
    """

    kind: Kind
    href: str
    subject: str
    date: Stamp | None
    age: str
    action: Action
    asked_by: Reference | None = None
    waits_for: tuple[Reference, ...] = ()
    perhaps_answered_by: tuple[Reference, ...] = ()
    of_all: bool = False
    source: str = ""
    unread: str = ""
    """What is said of a memo that is unread for the position of the list; without one, for any recipient."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionGroup:
    """Actions of one kind, oldest first: the first of `total`. `more` leads to the rest, `former` are more anchors."""

    heading: str
    anchor: str
    rows: tuple[ActionRow, ...]
    total: int
    empty: str = ""
    more: str = ""
    is_waiting: bool = False
    """Whether it is for others to do something."""
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionActions:
    """What a position has to do and waits for; `href` leads to all of it. `former` are anchors it once had."""

    position: Reference
    href: str
    anchor: str
    former: tuple[str, ...]
    groups: tuple[ActionGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """How many answers one position owes another, and since when; `href` leads to the oldest memo."""

    href: str
    who: Reference
    whom: Reference
    total: int
    oldest: Stamp | None
    age: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLink:
    """One of the states: a link to its page, with its stable name, and how many are in it."""

    state: Action
    page: Reference
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionsPage(Page):
    """The actions board: who owes whom an answer, and what each position has to do and waits for.

    Its `parts` list all actions in order of arrival; they are of `ListPage`.
    """

    template: ClassVar[str] = "actions.html"

    newest: Stamp | None
    states: tuple[StateLink, ...]
    memos_open: int
    replies_owed: int
    asks_everybody: bool
    owed: tuple[Owed, ...]
    owed_total: int
    positions: tuple[PositionActions, ...]
    positions_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionListPage(Page):
    """All actions of one position, or all in one state by position.

    Of a position there are no `states`, and its parts list everything in order of arrival; they are of `ListPage`.
    """

    template: ClassVar[str] = "action_list.html"

    intro: str
    newest: Stamp | None
    states: tuple[StateLink, ...]
    position: Reference | None
    groups: tuple[ActionGroup, ...]
    positions_total: int = 0
    """How many positions have actions in this state: of many, the page has those with the most."""
