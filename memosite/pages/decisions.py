"""Page models of decisions: their lists, and what an artifact's page says of decisions."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.facts.statuses import Standing
from memosite.pages.models import Page
from memosite.pages.parts import ListSection, Reference, Stamp
from memosite.pages.views import View


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """A decision, a proposal or another document in a list. `status` is as written.

    `by` is who decided, as it says, "" if a decision does not say; else `repo_of` is the only position whose repo it is
    in. `age` is given of what is pending, counted to the newest date.
    """

    href: str
    subject: str
    type: str
    date: Stamp | None
    standing: Standing | None
    status: str
    source: str
    by: str | None = None
    repo_of: Reference | None = None
    age: str = ""
    successor: Reference | None = None
    proposals: tuple[Reference, ...] = ()
    decided_in: tuple[Reference, ...] = ()
    recorded_in: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionGroup:
    """Decisions of a month, a position or a source, or all that are pending: the first of `total`."""

    heading: str
    anchor: str
    rows: tuple[DecisionRow, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsPage(Page):
    """Decisions by date, the pending ones first; or those that a filter leaves. `former` are anchors it once had.

    If there are none, `said` are artifacts whose subject speaks of one; `offers_search` if any may speak of one.
    """

    template: ClassVar[str] = "decisions.html"

    intro: str
    newest: Stamp | None
    views: tuple[View, ...]
    groups: tuple[DecisionGroup, ...]
    former: tuple[str, ...] = ()
    said: tuple[ListSection, ...] = ()
    offers_search: bool = False
