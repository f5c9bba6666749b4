"""Page models of the lists of threads."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.pages.models import Page
from memosite.pages.parts import Reference, Stamp
from memosite.pages.views import View


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """A thread in a list, which is sorted by `date`: from when to when, of whom, and who has not answered.

    `missing` memos have replies, and are in no repo. `since` is the date of its oldest open action, `age` that action's
    age, if ages are counted on the page.
    """

    href: str
    subject: str
    date: Stamp | None
    memos: int
    missing: int
    first: Stamp | None
    last: Stamp | None
    senders: tuple[Reference, ...]
    waits_for: tuple[Reference, ...]
    since: Stamp | None
    age: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsPage(Page):
    """The first of `total` threads of a list, or a part of all; ages are counted to `newest`."""

    template: ClassVar[str] = "threads.html"

    intro: str
    newest: Stamp | None
    views: tuple[View, ...]
    rows: tuple[ThreadRow, ...]
    total: int
    is_waiting: bool = False
