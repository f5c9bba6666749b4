"""Plans the actions board: who owes whom an answer, what each position has to do and waits for, and each state."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice
from operator import attrgetter
from typing import ClassVar, TypeVar

from memosite.archive.mailboxes import open_for, states_by_position, states_of
from memosite.archive.model import UNDATED, Action, Artifact, Memo, Position
from memosite.archive.urls import ACTIONS, DECISIONS, page_of, position_actions, position_page, relative
from memosite.facts.parsed import BROADCAST, SOMEBODY, Ref
from memosite.facts.phrases import joined, phrase, phrases
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.pages import Grid, ListPage, ListSection, Page, Reference, Row, View
from memosite.plan import page
from memosite.plan.context import LIST_LIMIT, Context, Unit, Written, age, as_of, excerpt, few, newest_day, traced_unit
from memosite.plan.dates import by_arrival, monday, week_columns, week_row, weeks_between
from memosite.plan.indexes import ends_of, first_replies
from memosite.plan.memos import discharge_text
from memosite.plan.removed import RedirectPage, redirect
from memosite.plan.threads import perhaps_answered_by

# Page models of actions: the board of all positions, and the lists of one position or of one state.


class Answer(Value):
    """The memo that answered or superseded what was asked; `who` sent it, unless the row says so."""

    memo: Reference
    day: Moment | None
    who: Reference | None = None


class ActionRow(Row):
    """A memo that asks for something, or what has to be decided. `age` is counted to the newest date of the archive.

    `asked_by` and `waits_for` are given where the place of the row does not say them. With `of_all` everybody is asked.
    `same_matter` are the proposal and the records of what has to be decided. `ended` is what answered or superseded it,
    `closed` how it was closed, and `partly` how many answered it, of how many, if not all did.
    """

    action: Action
    asked_by: Reference | None = None
    perhaps_answered_by: tuple[Reference, ...] = ()
    of_all: bool = False
    same_matter: tuple[Reference, ...] = ()
    ended: Answer | None = None
    closed: str = ""
    partly: tuple[int, int] | None = None


class ActionGroup(ListSection):
    """Actions of one kind, oldest first: the first of `total`. `more` leads to the rest."""

    rows: tuple[ActionRow, ...]
    more: str = ""
    is_waiting: bool = False
    """Whether it is for others to do something."""
    is_of_state: bool = False
    """Whether all are in one state, which the page says."""


class OnOthers(Value):
    """How much a position waits for, `since` when, and on whom, of many the first; `href` leads to all of it."""

    total: int
    anchor: str
    href: str
    who: tuple[Reference, ...]
    since: Moment | None


class PositionActions(Value):
    """What a position has to do, and how much it waits for; `href` leads to all. `former` are anchors it once had.

    What it waits for is to do for others, and listed there.
    """

    position: Reference
    href: str
    anchor: str
    former: tuple[str, ...]
    to_do: ActionGroup
    waiting: OnOthers | None


class Owed(Value):
    """How many answers one position owes another, and since when; `href` leads to the oldest memo."""

    href: str
    who: Reference
    whom: Reference
    total: int
    oldest: Moment | None
    age: str


class StateLink(View):
    """One of the states: a link to its page, with its stable name, and how many are in it."""

    state: Action
    total: int


class ActionsPage(Page):
    """The actions board: who owes whom an answer, and what each position has to do and waits for.

    Its `parts` list all actions in order of arrival; they are of `ListPage`.
    """

    template: ClassVar[str] = "actions.html"

    newest: str
    states: tuple[StateLink, ...]
    memos_open: int
    replies_owed: int
    asks_everybody: bool
    decisions_pending: int
    over_time: Grid | None
    owed: tuple[Owed, ...]
    owed_total: int
    positions: tuple[PositionActions, ...]
    positions_total: int


class ActionListPage(Page):
    """All actions of one position, or all in one state by position.

    Of a position there are no `states`, and its parts list everything in order of arrival; they are of `ListPage`.
    """

    template: ClassVar[str] = "action_list.html"

    intro: str
    newest: str
    """To which day the ages are counted, "" where nothing has one."""
    states: tuple[StateLink, ...]
    position: Reference | None
    groups: tuple[ActionGroup, ...]
    positions_total: int = 0
    """How many positions have actions in this state: of many, the page has those with the most."""
    meaning: str = ""
    """What the state is, and why the list is longer than its number."""


# Sorts actions: what each position has to do, what it waits for, and what is done, each oldest first.


_oldest_first = attrgetter("sort_key")


_NONE: Mapping[str, Sequence[Artifact]] = {}


A = TypeVar("A", bound=Artifact)


class Asked(Value):
    """Memos that ask for something, and what has to be decided: `every` in order of arrival, all others oldest first.

    `of` holds them by state and by the position that they ask, which may be all or `SOMEBODY`; a memo to several has a
    state for each. What is asked of all is open for all, and for each who has not answered. `waiting` holds what
    anybody has not done by the position that asks.
    """

    every: Sequence[Artifact]
    of: Mapping[Action, Mapping[str, Sequence[Artifact]]]
    waiting: Mapping[str, Sequence[Memo]]

    def asked_of(self, positions: Iterable[str], state: Action = "open") -> tuple[Artifact, ...]:
        """What is asked of these positions, in one state."""
        return _together(self.of.get(state, _NONE), positions)

    def asked_by(self, positions: Iterable[str]) -> tuple[Memo, ...]:
        """What these positions ask for and nobody has answered."""
        return _together(self.waiting, positions)


def _together(found: Mapping[str, Sequence[A]], positions: Iterable[str]) -> tuple[A, ...]:
    lists = [found[one] for one in positions if one in found]
    if len(lists) < 2:
        return tuple(lists[0]) if lists else ()
    return tuple(sorted({memo.ref: memo for one in lists for memo in one}.values(), key=_oldest_first))


def asking(artifacts: Iterable[Artifact]) -> list[Artifact]:
    """What asks for something, done or not."""
    return [one for one in artifacts if one.owed_by or (isinstance(one, Memo) and one.action is not None)]


def sort_asked(artifacts: Iterable[Artifact]) -> Asked:
    """Look at all artifacts once."""
    every = asking(artifacts)
    of: dict[Action, dict[str, list[Artifact]]] = {}
    waiting: dict[str, list[Memo]] = defaultdict(list)
    for one in sorted(every, key=_oldest_first):
        for state, position in states_by_position(one):
            of.setdefault(state, {}).setdefault(position, []).append(one)
        if isinstance(one, Memo) and one.owed_by and one.sender_position is not None:
            waiting[one.sender_position].append(one)
    return Asked(every=tuple(every), of=of, waiting=waiting)


def owed(asked: Asked) -> list[tuple[str, str, Sequence[Memo]]]:
    """Who owes whom an answer to which memos, the pair that waits longest first. Nobody owes one to himself."""
    pairs: dict[tuple[str, str], list[Memo]] = defaultdict(list)
    for position, memos in asked.of.get("open", _NONE).items():
        for memo in memos:
            if isinstance(memo, Memo) and memo.sender_position not in {None, position} and position in memo.owed_by:
                pairs[position, memo.sender_position].append(memo)
    found = [(who, whom, memos) for (who, whom), memos in pairs.items()]
    return sorted(found, key=lambda one: (one[2][0].sort_key, one[0], one[1]))


STATES: tuple[tuple[Action, str], ...] = (
    ("open", phrase("Open")),
    ("superseded", phrase("Superseded")),
    ("answered", phrase("Answered")),
    ("discharged", phrase("Closed")),
)
"""The states of actions with their names on pages."""


def state_page(state: Action) -> str:
    """The page of a state: its address has the word that people read."""
    return f"{ACTIONS}{'closed' if state == 'discharged' else state}/"


def state_feed(state: Action) -> str:
    """The feed of a state, by the name that data have. That of open actions is older than the pages of states."""
    return f"{ACTIONS if state == 'open' else f'{ACTIONS}{state}/'}feed.xml"


def state_links(start: str, asked: Asked, current: Action | None = None) -> tuple[StateLink, ...]:
    """Links to the pages of all states; the one that is shown is no link."""
    totals = Counter(state for one in asked.every for state in states_of(one))
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


class RowMaker(Value):
    """Makes the rows and groups of the page `start`; ages are counted to `day`."""

    context: Context
    start: str
    day: dt.date | None

    def group(
        self,
        heading: str,
        anchor: str,
        items: Sequence[Artifact],
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
        rows = (self._row(one, viewer=viewer, is_waiting=is_waiting, state=state) for one in items[:limit])
        return ActionGroup(
            heading=heading,
            anchor=anchor,
            rows=tuple(rows),
            total=len(items),
            is_waiting=is_waiting,
            is_of_state=state is not None,
            empty=empty,
            more=relative(self.start, more) if more and len(items) > limit else "",
        )

    def _row(self, item: Artifact, *, viewer: str | None, is_waiting: bool, state: Action | None) -> ActionRow:
        row = ActionRow(
            kind=item.kind,
            href=relative(self.start, page_of(item)),
            short_subject=item.short_subject,
            date=item.date,
            age=age(item.date, self.day),
            action="open",
            status=item.short_status,
            source=item.copies[0].file.source,
            same_matter=few(item.same_matter, partial(self.context.artifact, self.start)),
            excerpt=excerpt(item),
        )
        if not isinstance(item, Memo):
            return row
        is_of_all = item.is_broadcast and viewer is None and state == "open"
        action = state or self.context.action(item, viewer) or "open"
        return replace(
            row,
            action=action,
            ended=self._ended(item, viewer, action),
            closed=discharge_text(item.discharge) if action == "discharged" else "",
            partly=_partly(item),
            status="",
            source=self.context.where(item, viewer)[1],
            asked_by=None if is_waiting else self.context.position(self.start, item.sender_position, item.sender),
            waits_for=few(item.owed_by, self.person) if is_waiting or is_of_all else (),
            perhaps_answered_by=perhaps_answered_by(self.context, self.start, item),
            of_all=item.is_broadcast and viewer is not None and not is_waiting,
            unread="" if is_waiting else self.context.unread(item, viewer),
        )

    def _ended(self, memo: Memo, viewer: str | None, action: Action) -> Answer | None:
        """The first reply of the position that was asked, of anybody if that is everybody; or what superseded it."""
        archive, times = self.context.archive, self.context.arrival_times
        if action == "superseded" and memo.superseded_by:
            by = archive.artifacts.get(memo.superseded_by[0])
            return self._answer(by) if by else None
        if action != "answered" or memo.ref not in times:
            return None
        replies = first_replies(archive.artifacts, times, memo)
        asked = archive.positions.get(viewer) if viewer else None
        members = (asked.members if asked else (viewer,)) if viewer else {*replies} - {memo.sender_position}
        first = min((replies[one] for one in members if one in replies), default=None)
        by = archive.artifacts.get(first[1]) if first else None
        if not isinstance(by, Memo):
            return None
        return replace(self._answer(by), who=self.context.position(self.start, by.sender_position, by.sender))

    def _answer(self, by: Artifact) -> Answer:
        return Answer(memo=self.context.artifact(self.start, by.ref), day=by.date)

    def person(self, id_: str) -> Reference:
        """A link to a position, or the word for everybody or for nobody in particular."""
        if id_ in {BROADCAST, SOMEBODY}:
            return Reference(label=phrase("everybody") if id_ else phrase("nobody in particular"))
        return self.context.position(self.start, id_)


def _partly(memo: Memo) -> tuple[int, int] | None:
    """How many answered a memo that asks several, and of how many; None if nobody or everybody has."""
    states = [state.action for state in memo.recipients if state.action is not None]
    answered, total = states.count("answered"), len(states)
    if memo.is_broadcast:
        answered, total = memo.answers, memo.answers + len(memo.owed_by)
    return (answered, total) if memo.owed_by and answered else None


# Plans the page of each position with all its actions: to do, waiting on others, and those that are not open.


_HEADINGS = (
    (phrase("To do"), "to-do", phrase("Nothing to do.")),
    (phrase("Waiting on others"), "waiting", phrase("Not waiting on anybody.")),
    (phrase("Answered, superseded and closed"), "done", ""),
)


class OfPosition(Value):
    """The actions of a position: `groups` as `_HEADINGS` has them, and `every` that it was asked or asked for."""

    groups: tuple[Sequence[Artifact], ...]
    every: Sequence[Artifact]


def position_action_units(context: Context) -> Iterator[Unit]:
    """A unit for each position, which is made again when one of its actions changes, or the newest date."""
    asked, day = sort_asked(context.archive.artifacts.values()), newest_day(context)
    sent: dict[str, list[Artifact]] = defaultdict(list)
    received: dict[str, list[Artifact]] = defaultdict(list)
    for one in asked.every:
        if isinstance(one, Memo) and one.sender_position is not None:
            sent[one.sender_position].append(one)
        for position_id in {position_id for _, position_id in states_by_position(one)}:
            received[position_id].append(one)
    for position in context.archive.positions.values():
        mine = _page_of_position(asked, position, sent, received)
        here = position_actions(position.id)
        make = partial(plan_position_actions, here=here, position=position, day=day, mine=mine)
        given = (position, day, *mine.groups, tuple(mine.every))
        yield Unit(name=f"actions of {position.id}", make=make, given=given, weight=1 + len(mine.every) // 50)


def _page_of_position(
    asked: Asked, position: Position, sent: Mapping[str, Sequence[Artifact]], received: Mapping[str, Sequence[Artifact]]
) -> OfPosition:
    members = position.members
    nameless = [memo for memo in asked.asked_of([BROADCAST]) if BROADCAST in memo.owed_by]
    todo = {memo.ref: memo for memo in (*asked.asked_of(members), *nameless) if open_for(memo, members)}
    every = {memo.ref: memo for some in (sent, received) for id_ in members for memo in some.get(id_, ())}
    return OfPosition(
        groups=(sorted(todo.values(), key=lambda memo: memo.sort_key), asked.asked_by(members), _done(asked, members)),
        every=sorted(every.values(), key=by_arrival),
    )


def _done(asked: Asked, positions: Iterable[str]) -> tuple[Artifact, ...]:
    """What positions do not have to do any more, the newest first."""
    ids = tuple(positions)
    todo = {memo.ref for memo in asked.asked_of(ids)}
    done = (memo for state in asked.of if state != "open" for memo in asked.asked_of(ids, state))
    found = {memo.ref: memo for memo in done if memo.ref not in todo}
    return tuple(sorted(found.values(), key=lambda memo: memo.sort_key, reverse=True))


def plan_position_actions(
    context: Context, *, here: str, position: Position | None, day: dt.date | None, mine: OfPosition
) -> Iterator[ActionListPage | ListPage]:
    """The page of a position, or of everybody, and its parts if there is more than one page may have."""
    viewer = position.id if position else None
    label = context.label(position.id) if position else phrase("everybody")
    title = phrase("Actions of {label}", label=label)
    yield ActionListPage(
        **page.head_of(context, here, title=title, section="actions"),
        parts=page.part_links(here, here, page.part_count(mine.every), None),
        intro="",
        newest=as_of(day) if any(mine.groups[:2]) else "",
        states=(),
        position=Reference(label=label, href=relative(here, position_page(position.id))) if position else None,
        groups=tuple(_groups(RowMaker(context=context, start=here, day=day), mine, viewer)),
    )
    yield from page.plan_parts(context, here, title, mine.every, section_name="actions", viewer=viewer)


def _groups(make: RowMaker, mine: OfPosition, viewer: str | None) -> Iterator[ActionGroup]:
    limit = rows_each([len(memos) for memos in mine.groups if memos]) if page.part_count(mine.every) else LIST_LIMIT
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
            yield replace(group, targets=("everybody",)) if anchor == "to-do" else group


TITLE = phrase("Actions")


_TITLES: Mapping[Action, str] = {
    "open": phrase("Open actions"),
    "superseded": phrase("Superseded actions"),
    "answered": phrase("Answered actions"),
    "discharged": phrase("Closed actions"),
}


_PAIRS = 10
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


_MEANING: Mapping[Action, str] = {
    "superseded": phrase("Superseded: its sender replaced it by a later memo before it was answered."),
    "answered": phrase("Answered: the position that was asked has replied; to a memo to everybody, somebody has."),
    "discharged": phrase("Closed: its sender, or a note in the memo, says that nothing is left to do."),
}
"""What a state means that is not plain."""


def plan_actions(context: Context) -> Iterator[ActionsPage | ActionListPage | ListPage | RedirectPage | Written]:
    """The board, the pages of what is asked of everybody and of all states, and the board's twins."""
    asked, day = sort_asked(context.archive.artifacts.values()), newest_day(context)
    yield _board(RowMaker(context=context, start=ACTIONS, day=day), asked)
    every = [one for one in asked.every if any(id_ == BROADCAST for _, id_ in states_by_position(one))]
    mine = OfPosition(groups=(asked.asked_of([BROADCAST]), (), _done(asked, [BROADCAST])), every=every)
    yield from plan_position_actions(context, here=actions_of(BROADCAST), position=None, day=day, mine=mine)
    for state, _ in STATES:
        yield _state(RowMaker(context=context, start=state_page(state), day=day), asked, state)
    yield redirect(context, f"{ACTIONS}discharged/", state_page("discharged"))  # its address before
    yield from page.list_twins(context, ACTIONS, TITLE, asked.every, facts={})


def action_part_units(context: Context) -> Iterator[Unit]:
    """The parts of the list of actions, each by itself: another memo changes few of them."""
    asked = asking(context.archive.artifacts.values())
    for number, chunk in enumerate(page.in_parts(asked) if page.part_count(asked) else (), 1):
        given_as = "the actions on this part of the list"
        yield traced_unit(
            f"actions/{number}", _plan_action_part, number=number, asked=chunk, given_as=given_as, weight=10
        )


def _plan_action_part(context: Context, *, number: int, asked: Sequence[Artifact]) -> Iterator[ListPage]:
    yield page.plan_part(context, ACTIONS, TITLE, number, asked, section_name="actions")


def _board(make: RowMaker, asked: Asked) -> ActionsPage:
    context, todo = make.context, asked.of.get("open", {})
    numbers = {id_: (*todo.get(id_, ()), *asked.waiting.get(id_, ())) for id_ in {*todo, *asked.waiting}}
    positions = sorted(
        numbers, key=lambda id_: (id_ in {BROADCAST, SOMEBODY}, -len(todo.get(id_, ())), -len(numbers[id_]), id_)
    )
    shown = positions[:_POSITIONS]
    limit = rows_each([len(todo[id_]) for id_ in shown if id_ in todo], _ROWS)
    pairs, undone = owed(asked), [one for one in asked.every if one.owed_by]
    memos = [one for one in undone if isinstance(one, Memo)]
    former: dict[str, str] = {}
    for id_ in shown:  # the anchor of its section, as it was published when it was made of the heading
        former.setdefault(f"open for {context.label(id_)}".lower().replace(" ", "-"), id_)
    return ActionsPage(
        **page.head_of(context, ACTIONS, title=TITLE, section="actions"),
        feeds=(Reference(label=phrase("Open actions"), href="feed.xml"),),
        twins=page.twin_links(ACTIONS, ACTIONS),
        parts=page.part_links(ACTIONS, ACTIONS, page.part_count(asked.every), None),
        newest=as_of(make.day),
        states=state_links(ACTIONS, asked),
        memos_open=len(memos),
        replies_owed=sum(len(memo.owed_by) for memo in memos),
        asks_everybody=any(memo.is_broadcast for memo in memos),
        decisions_pending=len(undone) - len(memos),
        over_time=_over_time(make, asked),
        owed=tuple(_owed(make, who, whom, memos) for who, whom, memos in pairs[:_PAIRS]),
        owed_total=len(pairs),
        positions=tuple(
            _of_position(make, asked, id_, limit, tuple(anchor for anchor, one in former.items() if one == id_))
            for id_ in shown
        ),
        positions_total=len(positions),
    )


_WEEKS, _DRAWN = 26, 8
"""The most weeks and positions of the picture of what waited."""


def _over_time(make: RowMaker, asked: Asked) -> Grid | None:
    """How many memos waited for each position at the end of each week; None if that was always the same.

    What waits now has no end, whatever replied. What was closed on a day that is not known is not counted.
    """
    context, moves = make.context, defaultdict[str, Counter[dt.date]](Counter)
    times, unknown = context.arrival_times, 0
    for memo in asked.every:
        if isinstance(memo, Memo) and memo.ref in times:
            closed, replied = ends_of(context.archive.artifacts, times, memo)
            begin = monday(times[memo.ref].date())
            everybody = replied if memo.is_broadcast else ()
            done = {*everybody, *(one.position for one in memo.recipients)} - {BROADCAST, memo.sender_position, None}
            for id_ in done.difference(memo.owed_by):
                if ends := [time for time in (closed, replied.get(id_)) if time]:
                    moves[id_].update({begin: 1})
                    moves[id_].subtract({max(begin, monday(min(ends).date())): 1})
                else:
                    unknown += 1
            for id_ in memo.owed_by:
                moves[id_].update({begin: 1})
    last = monday(max(times.values(), default=UNDATED).date())
    first = max(
        min((day for move in moves.values() for day in move), default=last), last - dt.timedelta(weeks=_WEEKS - 1)
    )
    weeks = list(weeks_between(first, last))
    levels = {id_: dict(zip(weeks, _levels(move, weeks), strict=True)) for id_, move in moves.items()}
    if all(len(set(level.values())) < 2 for level in levels.values()):
        return None
    shown = sorted(levels, key=lambda id_: (-max(levels[id_].values()), id_))[:_DRAWN]
    shown = [id_ for id_ in shown if any(levels[id_].values())]
    picture = Grid(
        anchor="waiting-by-week",
        caption="",
        corner=phrase("Position"),
        columns=week_columns(weeks),
        rows=tuple(week_row(_heading(make, id_), levels[id_], weeks, {}) for id_ in shown),
    )
    said = [
        phrase(
            "How many memos waited for each position at the end of each week (UTC); the most is {most:,}.",
            most=picture.most,
        )
    ]
    if unknown:
        said.append(
            phrases("Not counted: 1 closed on an unknown day.", "Not counted: {n:,} closed on unknown days.", unknown)
        )
    return replace(picture, caption=joined(" ", said))


def _levels(moves: Mapping[dt.date, int], weeks: Sequence[dt.date]) -> Iterator[int]:
    """What is there at the end of each week, of what came and went."""
    before = sum(number for day, number in moves.items() if day < weeks[0])
    return islice(accumulate((moves.get(week, 0) for week in weeks), initial=before), 1, None)


def _owed(make: RowMaker, who: str, whom: str, memos: Sequence[Artifact]) -> Owed:
    since = memos[0].date  # the oldest; what has no date is last
    return Owed(
        href=relative(ACTIONS, page_of(memos[0])),
        who=make.person(who),
        whom=make.person(whom),
        total=len(memos),
        oldest=since,
        age=age(since, make.day),
    )


def _of_position(make: RowMaker, asked: Asked, id_: str, limit: int, former: tuple[str, ...]) -> PositionActions:
    board, todo, waiting = actions_of(id_), asked.asked_of([id_]), asked.asked_by([id_])
    group = make.group(
        phrase("To do"), _anchor(id_, "to-do"), todo, limit=limit, state="open", more=board, viewer=viewer(id_)
    )
    rows = tuple(replace(row, excerpt="") if row.of_all else row for row in group.rows)  # it is under Everybody, too
    return PositionActions(
        position=_heading(make, id_),
        href=relative(make.start, board),
        anchor=_anchor(id_),
        former=former,
        to_do=replace(group, rows=rows),
        waiting=_on_others(make, id_, waiting) if waiting else None,
    )


def _on_others(make: RowMaker, id_: str, waiting: Sequence[Memo]) -> OnOthers:
    who = dict.fromkeys(one for memo in waiting for one in memo.owed_by)
    return OnOthers(
        total=len(waiting),
        anchor=f"waiting-{id_}",
        href=f"{relative(make.start, actions_of(id_))}#waiting",
        who=few([*who], make.person),
        since=waiting[0].date,  # the oldest; what has no date is last
    )


def _heading(make: RowMaker, id_: str) -> Reference:
    if id_ in {BROADCAST, SOMEBODY}:
        return Reference(label=phrase("Everybody") if id_ else phrase("Nobody in particular"))
    return make.context.position(make.start, id_)


def _anchor(id_: str, of: str = "position") -> str:
    """The anchor of what a position has to do. No position has the id `~nobody`: names get a hash behind a tilde."""
    return f"{of}-{id_ or '~nobody'}"


def viewer(id_: str) -> str | None:
    """The position for which a memo is unread or not; none is all of them."""
    return None if id_ in {BROADCAST, SOMEBODY} else id_


def actions_of(id_: str) -> str:
    """The page with all actions of a position, or of everybody; of nobody in particular, what has to be decided."""
    if id_ == SOMEBODY:
        return f"{DECISIONS}pending/"
    return f"{ACTIONS}{BROADCAST}/" if id_ == BROADCAST else position_actions(id_)


def _state(make: RowMaker, asked: Asked, state: Action) -> ActionListPage:
    name = _TITLES[state]
    found = asked.of.get(state, {})
    order = sorted(found, key=lambda id_: (id_ in {BROADCAST, SOMEBODY}, -len(found[id_]), id_))[:_POSITIONS]
    limit = rows_each([len(found[id_]) for id_ in order], _ROWS)
    return ActionListPage(
        **page.head_of(make.context, make.start, title=name, section="actions"),
        feeds=(Reference(label=name, href=relative(make.start, state_feed(state))),),
        intro=_EMPTY[state] if not found else "",
        newest=as_of(make.day) if found and state == "open" else "",
        meaning=_meaning(state, [one.ref for some in found.values() for one in some]),
        states=state_links(make.start, asked, state),
        position=None,
        groups=tuple(
            make.group(
                _heading(make, id_).label,
                _anchor(id_),
                found[id_],
                limit=limit,
                viewer=viewer(id_),
                state=state,
                more=actions_of(id_),
            )
            for id_ in order
        ),
        positions_total=len(found),
    )


def _meaning(state: Action, refs: Sequence[Ref]) -> str:
    memos, said = len({*refs}), [_MEANING[state]] if state in _MEANING else []
    if memos < len(refs):
        line = phrase("What asks several is listed for each: {memos:,} in {rows:,} rows.", memos=memos, rows=len(refs))
        said.append(line)
    return joined(" ", said)
