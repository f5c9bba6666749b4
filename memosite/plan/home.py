"""Plans the home page: what waits for people, activity, what arrived and moved last, positions, sources.

Ages are counted as on all pages, to the newest date of the archive.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import ClassVar

from memosite.archive.history import LifeEvent
from memosite.archive.mailboxes import open_for
from memosite.archive.model import Artifact, Memo, Position, SourceInfo
from memosite.archive.urls import DIGESTS, HOME, UNDATED_MONTH, artifact_page, page_of, relative
from memosite.facts.findings import Severity
from memosite.facts.parsed import BROADCAST, SOMEBODY, Ref
from memosite.facts.phrases import joined, kinds, phrase
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.pages import Bars, Cell, Grid, Page, PictureColumn, PictureRow, Reference, Row, View
from memosite.plan.context import KINDS, Context, age, as_of, days_old, few, newest_day
from memosite.plan.dates import newest
from memosite.plan.health import severity_counts
from memosite.plan.history import STEPS, MovementRow, event_label
from memosite.plan.months import month_link
from memosite.plan.organization import PositionsAtAGlance, at_a_glance
from memosite.plan.page import head_of
from memosite.plan.positions import draw_activity, find_activity, unknown_reading
from memosite.plan.sessions import unread_logs
from memosite.plan.threads import thread_views
from memosite.plan.weeks import ListedWeek, Week, listed_weeks, undated_link
from memosite.sources.forges import commit_url


class SourceRow(Value):
    """A source the archive was read from; its `commit` in short, and with its page on the forge."""

    source: SourceInfo
    artifacts: int
    commit: Reference | None = None


class Waiting(Value):
    """What waits for the `people` of an archive: `oldest` are the first of `total`, with ages counted to `newest`.

    `unknown` are those for whom more may wait, with what nobody can know. `since` is the day of the oldest. `others` is
    how much else is open, for others alone.
    """

    people: tuple[Reference, ...]
    bars: Bars | None
    oldest: tuple[Row, ...]
    total: int
    newest: str = ""
    since: str = ""
    others: int = 0
    unknown: tuple[tuple[Reference, str], ...] = ()
    unknown_more: int = 0


class HomePage(Page):
    """What waits for people, activity, the newest by day, the positions, the sources."""

    template: ClassVar[str] = "home.html"

    waiting: Waiting
    activity: Grid | None
    positions: PositionsAtAGlance
    digests: Reference
    weeks: tuple[ListedWeek, ...]
    newest: tuple[Row, ...]
    listed: int
    undated: Reference | None
    months: tuple[Reference, ...]
    sources: tuple[SourceRow, ...]
    counts: tuple[tuple[str, int], ...]
    sessions: int  # of the transcripts, as the list of sessions has them
    subagents: int  # of the transcripts
    findings: tuple[tuple[Severity, int], ...]
    movements: tuple[MovementRow, ...] = ()
    threads: tuple[View, ...] = ()
    unread_logs: tuple[str, ...] = ()  # what is said of session logs that are there and not read


# Plans what moved in the last days, which the home page shows: received, read, archived, removed.


MOVEMENTS = 30


_AT_ONCE = 2 * MOVEMENTS  # memos that are searched before those that cannot be shown are dropped


MOVEMENT_DAYS = 7
"""The home page shows what moved in the days before the last movement: the clock is not read."""


_MOVED = 5
"""The most items that the home page says moved."""


_Movement = tuple[Moment, str, LifeEvent, Artifact | Ref]


def movements(context: Context, start: str, listed: Collection[Ref] = ()) -> tuple[MovementRow, ...]:
    """What was received, read, archived or removed in the last days, newest first, each item once.

    That something arrived is not said again of what is `listed` as new.
    """
    every = last_movements(context)
    last: dict[Ref, _Movement] = {}
    for one in every:
        ref = one[3].ref if isinstance(one[3], Artifact) else one[3]
        if one[2].kind != "received" or ref not in listed:
            last.setdefault(ref, one)
    found = list(last.values())[:_MOVED]
    return tuple(
        MovementRow(
            date=at,
            label=event_label(what, event) if isinstance(what, Artifact) else event.kind,
            item=Reference(label=what.short_subject, href=relative(start, page_of(what)))
            if isinstance(what, Artifact)
            else Reference(label=context.archive.removed[what].stem, href=relative(start, artifact_page(what))),
            source=source,
            who=event.who,
        )
        for at, source, event, what in found
        if (every[0][0].instant - at.instant).days < MOVEMENT_DAYS
    )


def last_movements(context: Context) -> list[_Movement]:
    """The last movements, newest first: what arrived last is looked at first, and most others are then too old."""
    found: list[_Movement] = []
    for ref, removal in context.archive.removed.items():
        event = removal.events[-1]
        if event.at is not None and removal.stem and not removal.is_former and removal.kind != "record":
            found.append((event.at, removal.source, event, ref))
    oldest: dt.datetime | None = None  # of those that may be shown so far
    of_memos: list[list[_Movement]] = []
    for memo in reversed(context.memos):
        if memo.kind == "memo" and (moved := _movements_since(oldest, memo)):
            of_memos.append(moved)
            if len(of_memos) >= _AT_ONCE:
                found, of_memos = _last(of_memos, found), []
                oldest = found[-1][0].instant
    return _last(of_memos, found)


def _movements_since(oldest: dt.datetime | None, memo: Memo) -> list[_Movement]:
    return [
        (event.at, copy.file.source, event, memo)
        for copy in memo.copies
        if copy.life
        for event in copy.life.events[-STEPS:]
        if event.at is not None and (oldest is None or event.at.instant >= oldest)
    ]


def _last(of_memos: Sequence[list[_Movement]], found: list[_Movement]) -> list[_Movement]:
    """The movements that may be shown, newest first; at equal times the memo that arrived first comes first."""
    every = [*chain.from_iterable(reversed(of_memos)), *found]
    return sorted(every, key=lambda one: (one[0].instant, one[1], one[2].path), reverse=True)[:MOVEMENTS]


# Plans what waits for people, by age: what is open for them, and unread memos that ask for nothing.


_SHOWN, _ROWS, _UNKNOWN = 4, 5, 2
"""The most of what waits that is listed, the most positions with a bar, and of whom it is said that more may wait."""


_LEAST = (7, 30)  # days


_AGES = (phrase("under 7 days"), phrase("7 to 29 days"), phrase("30 days or more"), phrase("no date"))


_UNDATED = 3


class Wait(Value):
    """Something that waits for a position (`SOMEBODY` if it is not said for which), and since when."""

    artifact: Artifact
    position: str
    since: Moment | None


def plan_waiting(context: Context) -> Waiting:
    """What waits for people on the home page: a bar for each position, and what waits longest."""
    people = {id_: one for id_, one in context.archive.positions.items() if one.has_person}
    waits = list(_waits(context, people))
    day = newest_day(context)
    waits.sort(key=lambda one: (one.since is None, one.since.instant if one.since else None, one.artifact.id))
    by_artifact: dict[Ref, list[Wait]] = defaultdict(list)
    for one in waits:
        by_artifact[one.artifact.ref].append(one)
    is_alone = len({one.position for one in waits}) < 2
    unknown = [(id_, said) for id_ in _named(people) if (said := unknown_reading(context, people[id_]))]
    return Waiting(
        people=tuple(context.position(HOME, id_) for id_ in _named(people)),
        bars=_bars(context, waits, day),
        oldest=tuple(
            _waiting_row(context, some, day, is_alone=is_alone)
            for some in list(by_artifact.values())[: _most(_SHOWN, len(by_artifact))]
        ),
        total=len(by_artifact),
        newest=as_of(day) if waits else "",
        since=waits[0].since.day if waits and waits[0].since else "",
        others=sum(bool(one.owed_by) and one.ref not in by_artifact for one in context.archive.artifacts.values()),
        unknown=tuple((context.position(HOME, id_), said) for id_, said in unknown[:_UNKNOWN]),
        unknown_more=max(0, len(unknown) - _UNKNOWN),
    )


def _most(most: int, total: int) -> int:
    """How much of a list is shown: one item that is left over takes the line that would say so."""
    return total if total == most + 1 else most


def _waiting_row(context: Context, waits: Sequence[Wait], day: dt.date | None, *, is_alone: bool) -> Row:
    """What waits, since when, and unless all waits for the same position, for whom, the people first."""
    only = waits[0].position if len(waits) == 1 else ""  # of several, no state is that of all
    row = context.row(HOME, waits[0].artifact, viewer=only or None)
    owing = (id_ for id_ in waits[0].artifact.owed_by if id_ != BROADCAST)
    names = [*filter(None, dict.fromkeys((*(one.position for one in waits), *owing)))]
    waits_for = () if is_alone and len(names) < 2 else few(names, partial(context.position, HOME))
    return replace(row, waits_for=waits_for, age=age(waits[0].since, day))


def _named(people: dict[str, Position]) -> list[str]:
    """The people without the seats that one of them stands for, those that memos name first."""
    members = {member for one in people.values() for member in one.union_of}
    return sorted(people.keys() - members, key=lambda id_: (not people[id_].names, id_))


def _waits(context: Context, people: dict[str, Position]) -> Iterator[Wait]:
    """What is open for people or for nobody in particular, and unread memos that ask for nothing.

    What waits for a position of one organization is not said of the one that stands for those of several.
    """
    everybody = _named(people)
    for one in context.archive.artifacts.values():
        sent = one.recipients if isinstance(one, Memo) and one.action is None else ()
        unread = {state.position for state in sent if state.unread}
        asked = [id_ for id_ in everybody if open_for(one, people[id_].members)] if BROADCAST in one.owed_by else []
        for id_ in dict.fromkeys((*asked, *one.owed_by, *sorted(unread))):
            if id_ in people:
                yield Wait(artifact=one, position=id_, since=one.date)
        if SOMEBODY in one.owed_by:
            yield Wait(artifact=one, position=SOMEBODY, since=one.date)


def _bars(context: Context, waits: Iterable[Wait], day: dt.date | None) -> Bars | None:
    """A bar for each position that anything waits for, the longest first."""
    by_position: dict[str, dict[Ref, Wait]] = defaultdict(dict)
    for wait in waits:
        by_position[wait.position].setdefault(wait.artifact.ref, wait)
    if not by_position or day is None:
        return None
    ordered = sorted(by_position.items(), key=lambda one: (-len(one[1]), one[0]))[:_ROWS]
    words = phrase("By age.")
    if len(by_position) > len(ordered):
        words = phrase("By age: the {shown} of {total} positions with the most.", shown=_ROWS, total=len(by_position))
    counts = [Counter(_age(one, day) for one in found.values()) for _, found in ordered]
    ages = range(len(_AGES) if any(count[_UNDATED] for count in counts) else _UNDATED)
    return Bars(
        anchor="waiting-by-age",
        caption=words,
        corner=phrase("Position"),
        columns=tuple(PictureColumn(label=_AGES[age]) for age in ages),
        rows=tuple(
            PictureRow(
                label=context.position(HOME, id_) if id_ else Reference(label=phrase("Nobody in particular")),
                cells=tuple(Cell(number=count[age], words=joined(": ", (_AGES[age], count[age]))) for age in ages),
                note=_note(list(found.values())),
                days=_days(found.values(), day),
            )
            for (id_, found), count in zip(ordered, counts, strict=True)
        ),
    )


def _age(wait: Wait, day: dt.date) -> int:
    """Which of `_AGES` it has."""
    days = days_old(wait.since, day)
    if days is None:
        return _UNDATED
    return sum(days >= least for least in _LEAST)


def _days(waits: Iterable[Wait], day: dt.date) -> tuple[int, ...]:
    """How many are 0, 1, 2 … days old, up to the last that counts as old tomorrow."""
    count = Counter(days_old(one.since, day) for one in waits)
    numbers = [count[days] for days in range(max(_LEAST))]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _note(waits: Sequence[Wait]) -> str:
    """How much waits, what of it is no memo, and since when."""
    others = sum(one.artifact.kind != "memo" for one in waits)
    parts = [phrase("{n:,}", n=len(waits))]
    if others:
        parts.append(kinds("document", others))
    oldest = waits[0].since  # they are in order of age
    return joined(" · ", [*parts, phrase("oldest {day}", day=oldest.day)] if oldest else parts)


_NEWEST, _ALONE, _SEATS = 5, 20, 6
"""The most that is listed as new, the same where there are no positions, so little else, and the most positions."""


def plan_home(context: Context, months: Mapping[str, Sequence[Artifact]], weeks: Sequence[Week]) -> HomePage:
    """What waits for people, activity, the newest, positions, sources (SPEC 4)."""
    artifacts = context.archive.artifacts.values()
    activity = find_activity(context, months)
    listed = [artifact for artifact in artifacts if artifact.is_listed]
    kinds = Counter(artifact.kind for artifact in artifacts)
    shown = newest(listed, _most(_NEWEST if context.archive.positions else _ALONE, len(listed)))
    per_source = Counter(source for one in artifacts for source in {copy.file.source for copy in one.copies})
    return HomePage(
        **head_of(context, HOME, title=context.site.title, section="home"),
        feeds=(
            Reference(label=phrase("Everything"), href="feed.xml"),
            Reference(label=phrase("Everything, as JSON"), href="feed.json"),
        ),
        waiting=plan_waiting(context),
        activity=draw_activity(context, activity),
        positions=at_a_glance(context, HOME, activity, most=_SEATS),
        newest=context.rows(HOME, (artifact.ref for artifact in shown)),
        listed=len(listed),
        undated=undated_link(HOME, sum(one.is_listed for one in months.get(UNDATED_MONTH, ()))),
        digests=Reference(label=phrase("Digests"), href=relative(HOME, DIGESTS)),
        weeks=listed_weeks(HOME, weeks[-2:]),
        months=tuple(
            month_link(HOME, month) for month in [month for month in months if month != UNDATED_MONTH][:-13:-1]
        ),
        sources=tuple(_source_row(source, per_source[source.name]) for source in context.archive.sources),
        counts=tuple((kind, kinds[kind]) for kind in KINDS if kinds[kind]),
        sessions=len({one.ref for some in context.sessions.values() for one in some}),
        subagents=sum(one.kind == "transcript" and not one.is_listed for one in artifacts),
        findings=severity_counts(context.archive.findings),
        movements=movements(context, HOME, [artifact.ref for artifact in shown]),
        threads=thread_views(context, HOME),
        unread_logs=unread_logs(context),
    )


def _source_row(source: SourceInfo, artifacts: int) -> SourceRow:
    id_ = source.commit
    commit = Reference(label=id_[:12], href=commit_url(source.web or "", id_)) if id_ else None
    return SourceRow(source=source, artifacts=artifacts, commit=commit)
