"""Plans weeks: what arrived in each, told as it was then, their list, and the feed of those that have ended.

Weeks are those of arrival, from Monday in UTC, as days of digests are (`months`): no clock decides. The newest one is
running, and ends when something arrives in a later one. What a week tells was known by its end: a memo that it asked
for something, and who had not answered yet; that today all is done, no page of a week says. So an ended week is not
made again when something arrives.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, Literal

from memosite.archive import model, urls
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Artifact, Document, Memo, Record, Transcript
from memosite.facts.parsed import BROADCAST, Ref
from memosite.facts.phrases import joined, kinds, phrase, phrases
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.feeds import Feed, FeedFile, FeedItem, tag_uri
from memosite.formats.status import decided_by, decided_on, sort_of, standing_of
from memosite.pages import Bars, Cell, Page, PictureColumn, PictureRow, Reference, Row
from memosite.plan import page
from memosite.plan.context import ADDRESSEES, Context, Unit, few, traced_unit, type_of
from memosite.plan.dates import monday, span_name
from memosite.plan.indexes import ends_of, find_same_decisions
from memosite.plan.removed import RedirectPage, redirect

# Finds the weeks of an archive, and what each tells.


class Week(Value):
    """A week with news, `2026-W22`: its Monday, and what arrived on each of its days, in order of arrival.

    The newest week is running, as far as is known; all others have ended. `everybody` is whom a memo to all asked by
    its end, each after the one of its id that stands for several.
    """

    id: str
    first: dt.date
    days: tuple[tuple[dt.date, tuple[Ref, ...]], ...]
    is_running: bool
    everybody: tuple[tuple[str, ...], ...] = ()

    @property
    def refs(self) -> Iterator[Ref]:
        """What arrived in it."""
        for _, refs in self.days:
            yield from refs

    @property
    def end(self) -> dt.datetime:
        """When it ended, by its days."""
        return dt.datetime.combine(self.first, dt.time(), tzinfo=dt.UTC) + dt.timedelta(days=7)

    @property
    def last(self) -> dt.date:
        """Its last day, a Sunday."""
        return self.first + dt.timedelta(days=6)

    @property
    def span(self) -> str:
        """Its first and its last day."""
        return f"{self.first.isoformat()} – {self.last.isoformat()}"

    @property
    def rests(self) -> str:
        """Of the running week, the last day on which anything arrived; "" if a later week has begun."""
        return self.days[-1][0].isoformat() if self.is_running else ""


def find_weeks(archive: Archive, times: Mapping[Ref, dt.datetime]) -> tuple[Week, ...]:
    """The weeks in which anything arrived that lists of pages have, the oldest first; of what has no date, none."""
    found: dict[dt.date, dict[dt.date, list[Ref]]] = defaultdict(lambda: defaultdict(list))
    since: dict[str, dt.date] = {}  # of positions, the first week in which an item names one
    for artifact in archive.artifacts.values():
        if artifact.ref in times:
            week = monday(times[artifact.ref].date())
            since |= {id_: min(week, since.get(id_, week)) for id_ in artifact.positions}
        if artifact.ref in times and artifact.date and artifact.is_listed:
            day = times[artifact.ref].date()
            found[monday(day)][day].append(artifact.ref)
    newest = max(found, default=None)
    unions = {member: id_ for id_, one in archive.positions.items() for member in one.union_of}
    everybody = {  # an orgdef lists a seat for all weeks
        (*filter(None, [unions.get(id_)]), id_): dt.date.min if archive.positions[id_].seats else since.get(id_)
        for id_ in model.everybody(archive.positions)
    }
    return tuple(
        Week(
            id=week_id(first),
            first=first,
            days=tuple((day, tuple(found[first][day])) for day in sorted(found[first])),
            is_running=first == newest,
            everybody=tuple(names for names, day in everybody.items() if day is None or day <= first),
        )
        for first in sorted(found)
    )


HEADINGS = {
    "decided": phrase("Decided"),
    "waits": phrase("New and waiting"),
    "asked": phrase("Asked and done"),
    "answers": phrase("Answers"),
    "written": phrase("Other memos"),
    "sessions": phrase("Transcripts and sessions"),
    "others": phrase("Notes, documents and records"),
}
"""What a week tells of, in the order of its page; each item is told once."""


class Told(Value):
    """An item of a week: what happened with it, by `HEADINGS`, and the names that this is about.

    These are those for whom it waited when the week ended, who decided, or the memos that it answered. `also` are what
    other systems have of a decision; `standing` says of one that it did not hold when the week ended, `successor` what
    had taken its place.
    """

    what: str
    artifact: Artifact
    names: tuple[str, ...] = ()
    answers: tuple[Ref, ...] = ()
    also: tuple[Ref, ...] = ()
    standing: Literal["", "rejected", "superseded"] = ""
    successor: Ref | None = None


def told_of(archive: Archive, times: Mapping[Ref, dt.datetime], week: Week) -> Iterator[Told]:
    """What a week tells, in order of arrival; nothing of it depends on what arrived later."""
    same = find_same_decisions(archive.artifacts[ref] for ref in week.refs)
    for ref in week.refs:
        artifact = archive.artifacts[ref]
        first, *others = same.get(ref, (ref,))
        if ref != first:
            continue
        if isinstance(artifact, Memo):
            yield _of_memo(archive, times, week, artifact)
        elif isinstance(artifact, Transcript):
            yield Told(what="sessions", artifact=artifact)
        elif isinstance(artifact, Document | Record) and sort_of(artifact) != "other" and not artifact.withheld:
            yield replace(_of_decision(times, week, artifact), also=tuple(others))
        else:
            yield Told(what="others", artifact=artifact)


def _of_memo(archive: Archive, times: Mapping[Ref, dt.datetime], week: Week, memo: Memo) -> Told:
    if memo.kind == "note":
        return Told(what="others", artifact=memo)
    if memo.action is not None:
        closed, answered = ends_of(archive.artifacts, times, memo)
        done = {memo.sender_position, *(id_ for id_, time in answered.items() if time < week.end)}
        who = dict.fromkeys(one.position for one in memo.recipients if one.position not in done)
        if BROADCAST in who and (week.everybody or done != {memo.sender_position}):
            del who[BROADCAST]
            who |= dict.fromkeys(some[-1] for some in week.everybody if done.isdisjoint(some))
        left = () if closed and closed < week.end else tuple(who)
        return Told(what="waits" if left else "asked", artifact=memo, names=left)
    asked = tuple(
        ref
        for ref in _by_then(times, week, (*filter(None, [memo.parent]), *memo.also_answers))
        if isinstance(one := archive.artifacts[ref], Memo)
        and one.action is not None
        and one.sender_position != memo.sender_position
        and one.arrival < memo.arrival
    )
    return Told(what="answers" if asked else "written", artifact=memo, answers=asked)


def _of_decision(times: Mapping[Ref, dt.datetime], week: Week, one: Document | Record) -> Told:
    """A decision or a proposal: one that was made later, as its head or the decision on it says, waited then.

    That something took its place is told only of what had come by then.
    """
    successor = next(_by_then(times, week, filter(None, [one.superseded_by])), None)
    then = one if successor else replace(one, superseded_by=None)
    standing = standing_of(then)
    is_pending = standing in {"pending", "unclear"} or decided_on(then) >= week.end.date().isoformat()
    decided_in = one.decided_in if isinstance(one, Document) else ()
    if is_pending or (decided_in and not any(_by_then(times, week, decided_in))):
        return Told(what="waits", artifact=one)
    who = decided_by(then)
    told = Told(what="decided", artifact=one, names=(who,) if who else (), successor=successor)
    return replace(told, standing="superseded" if successor else "rejected" if standing == "rejected" else "")


def _by_then(times: Mapping[Ref, dt.datetime], week: Week, refs: Iterable[Ref]) -> Iterator[Ref]:
    """Those that had arrived by the end of a week."""
    return (ref for ref in refs if (time := times.get(ref)) is not None and time < week.end)


# Plans the page of each week.


SHOWN = 100
"""The most items of one kind on the page of a week, and in an item of the feed."""


_PAIRS = 10


_DAYS = (phrase("Mo"), phrase("Tu"), phrase("We"), phrase("Th"), phrase("Fr"), phrase("Sa"), phrase("Su"))


class WeekRow(Value):
    """An item with a line of its text, and what was said of it when the week ended.

    `standing` is of a decision that did not hold any more; `successor` is what had taken its place, and `is_of_week` is
    whether that came in the week, too.
    """

    row: Row
    line: str
    standing: str = ""
    successor: Reference | None = None
    is_of_week: bool = False
    note: str = ""
    about: tuple[Reference, ...] = ()
    recorded_in: tuple[Reference, ...] = ()


class WeekSection(Value):
    """What happened in a week, with the first of its items; `total` counts all.

    Who wrote to whom has a picture in their place, or `pairs` where a picture would show one value throughout.
    """

    anchor: str
    heading: str
    rows: tuple[WeekRow, ...] = ()
    total: int
    picture: Bars | None = None
    pairs: tuple[tuple[Reference, str], ...] = ()
    caption: str = ""


class WeekPage(Page):
    """A week: what happened in it, who wrote to whom, and its days with how much arrived on each."""

    template: ClassVar[str] = "week.html"

    week: str
    rests: str
    end: str
    counts: str
    sections: tuple[WeekSection, ...]
    days: tuple[tuple[Reference, int], ...]
    previous: Reference | None
    next: Reference | None


def week_units(weeks: Sequence[Week]) -> Iterator[Unit]:
    """A unit for each week, which names the ones before and after it."""
    for week, around in page.with_neighbours(weeks):
        beside = tuple(one.first if one else None for one in around)
        yield traced_unit(
            f"week/{week.id}", _plan_week, week=week, around=beside, given_as="what arrived in the week",
            weight=1 + sum(len(refs) for _, refs in week.days) // 10,
        )  # fmt: skip


def _plan_week(context: Context, *, week: Week, around: tuple[dt.date | None, dt.date | None]) -> Iterator[WeekPage]:
    start = urls.week_page(week.id)
    told = _by_what(context, week)
    previous, following = (_link(start, first) if first else None for first in around)
    counts = _counts(told)
    yield WeekPage(
        **page.head_of(context, start, title=_days_of(week.first), section="timeline", description=counts),
        feeds=week_feeds(start),
        week=week.id,
        rests=week.rests,
        end="" if week.is_running else week.last.isoformat(),
        counts=counts,
        sections=tuple(_sections(context, start, week, told)),
        days=tuple(_day(context, start, day, refs) for day, refs in week.days),
        previous=previous or Reference(label=phrase("All weeks"), href=urls.relative(start, urls.WEEKS)),
        next=following,
    )


def _by_what(context: Context, week: Week) -> Mapping[str, Sequence[Told]]:
    told: dict[str, list[Told]] = defaultdict(list)
    for one in told_of(context.archive, context.arrival_times, week):
        told[one.what].append(one)
    return told


def _sections(context: Context, start: str, week: Week, told: Mapping[str, Sequence[Told]]) -> Iterator[WeekSection]:
    """What happened, who wrote to whom, and then what else was kept."""
    for what, heading in HEADINGS.items():
        some = told.get(what, ())
        if what == "sessions":
            yield from _drawn(context, start, week)
        if some:
            rows = tuple(_row(context, start, week, one) for one in some[:SHOWN])
            yield WeekSection(anchor=what, heading=heading, rows=rows, total=len(some))


def week_title(first: dt.date) -> str:
    """What the week from a Monday on is called."""
    return phrase("Week of {days}", days=_days_of(first))


def _days_of(first: dt.date) -> str:
    return span_name(first, first + dt.timedelta(days=6))


def week_id(first: dt.date) -> str:
    """The id of the week from a Monday on."""
    year, week, _ = first.isocalendar()
    return f"{year:04}-W{week:02}"


def _link(start: str, first: dt.date) -> Reference:
    return Reference(label=week_title(first), href=urls.relative(start, urls.week_page(week_id(first))))


def week_link(start: str, day: dt.date) -> Reference:
    """A link to the week of a day on which something arrived."""
    return _link(start, monday(day))


def week_feeds(start: str) -> tuple[Reference, ...]:
    """The feed of weeks."""
    return (Reference(label=phrase("Weeks"), href=urls.relative(start, urls.WEEKS + "feed.xml")),)


def _day(context: Context, start: str, day: dt.date, refs: Sequence[Ref]) -> tuple[Reference, int]:
    """A day, with the digest that has it."""
    first = monday(day) if context.feeds.is_weekly else day
    label = joined(" ", (_DAYS[day.weekday()], day.isoformat()))
    return Reference(label=label, href=urls.relative(start, urls.digest_page(first.isoformat()))), len(refs)


def _counts(told: Mapping[str, Sequence[Told]]) -> str:
    """What a week has, in one line: of what was decided, how much of it did not hold at the end."""
    fell = Counter(one.standing for one in told.get("decided", ()))
    parts = (
        phrases("{n:,} rejected", "{n:,} rejected", fell["rejected"]) if fell["rejected"] else "",
        phrases("{n:,} superseded", "{n:,} superseded", fell["superseded"]) if fell["superseded"] else "",
    )
    talks = [one.artifact for one in told.get("sessions", ())]
    logs = sum(isinstance(one, Transcript) and one.log is not None for one in talks)
    spoken = kinds("transcript", len(talks) - logs) if len(talks) > logs else ""
    sessions = phrases("{n:,} session", "{n:,} sessions", logs) if logs else ""
    decided = phrases("{n:,} decided", "{n:,} decided", len(told.get("decided", ())))
    if any(parts):
        decided = joined(" ", (decided, joined("", ("(", joined(", ", filter(None, parts)), ")"))))
    words = {
        "decided": decided,
        "waits": phrases("{n:,} new and waiting", "{n:,} new and waiting", len(told.get("waits", ()))),
        "asked": phrases("{n:,} asked and done", "{n:,} asked and done", len(told.get("asked", ()))),
        "answers": phrases("{n:,} answer", "{n:,} answers", len(told.get("answers", ()))),
        "written": phrases("{n:,} other memo", "{n:,} other memos", len(told.get("written", ()))),
        "sessions": joined(", ", filter(None, (spoken, sessions))),
    }
    others = Counter(one.artifact.kind for one in told.get("others", ()))
    return joined(", ", [*(words[what] for what in words if told.get(what)), *(kinds(k, others[k]) for k in others)])


def _row(context: Context, start: str, week: Week, one: Told) -> WeekRow:
    """An item as it is for ever: without how far it is by now."""
    artifact, memo = one.artifact, one.artifact if isinstance(one.artifact, Memo) else None
    row = Row(
        kind=artifact.kind,
        href=urls.relative(start, urls.page_of(artifact)),
        short_subject=artifact.short_subject,
        date=artifact.date,
        sender=context.position(start, memo.sender_position, memo.author) if memo else None,
        to=few(memo.to, partial(context.named, start)) if memo and memo.kind == "memo" else (),
        source="" if memo else artifact.copies[0].file.source,
        type=type_of(artifact),
    )
    note, about = "", tuple(Reference(label=name) for name in one.names)
    if one.what == "waits" and isinstance(artifact, Memo):
        note = phrase("not answered yet by") if week.is_running else phrase("not answered by the end of the week:")
        about = few(one.names, lambda id_: context.position(start, id_))
    elif one.what == "waits":
        note = phrase("not decided yet") if week.is_running else phrase("not decided by the end of the week")
    elif one.what == "decided" and one.names:
        note = phrase("decided by")
    elif one.answers:
        note = phrase("answers")
        about = tuple(context.artifact(start, ref) for ref in one.answers[:ADDRESSEES])
    return WeekRow(
        row=row,
        line=artifact.excerpt,
        standing=one.standing,
        successor=context.artifact(start, one.successor) if one.successor else None,
        is_of_week=one.successor is not None and monday(context.arrival_times[one.successor].date()) == week.first,
        note=note,
        about=about,
        recorded_in=tuple(context.record(start, ref) for ref in one.also),
    )


def _drawn(context: Context, start: str, week: Week) -> Iterator[WeekSection]:
    """Who wrote to whom, how much and on which days; those that wrote most."""
    pairs: dict[tuple[str, str], Counter[dt.date]] = defaultdict(Counter)
    for day, refs in week.days:
        for ref in refs:
            memo = context.archive.artifacts[ref]
            if isinstance(memo, Memo) and memo.kind == "memo":
                for to in {one.position for one in memo.recipients}:
                    pairs[memo.sender_position or memo.author, to][day] += 1
    shown = sorted(pairs, key=lambda pair: (-pairs[pair].total(), pair))[:_PAIRS]
    if not shown:
        return
    words = phrase("Memos from one position to another, and the days on which they arrived (UTC).")
    if len(pairs) > len(shown):
        more = phrase("The {shown} most active of {total} pairs.", shown=len(shown), total=len(pairs))
        words = joined(" ", (words, more))
    rows = tuple(_pair(context, start, pair, pairs[pair]) for pair in shown)
    section = WeekSection(anchor="who", heading=phrase("Who wrote to whom"), total=len(pairs), caption=words)
    if len({row.total for row in rows}) == 1:
        yield replace(section, pairs=tuple((row.label, row.note) for row in rows))
        return
    picture = Bars(
        anchor="who-wrote-to-whom",
        caption=words,
        corner=phrase("Who wrote to whom"),
        columns=(PictureColumn(label=phrase("Memos")),),
        rows=rows,
    )
    yield replace(section, picture=picture)


def _pair(context: Context, start: str, pair: tuple[str, str], days: Mapping[dt.date, int]) -> PictureRow:
    sender, to = (context.position(start, id_) for id_ in pair)
    number = sum(days.values())
    label = phrase("{sender} to {to}", sender=sender.label, to=to.label)
    return PictureRow(
        label=Reference(label=label, href=sender.href),
        cells=(Cell(number=number, words=phrases("{n:,} memo", "{n:,} memos", number)),),
        note=joined(" · ", (f"{number:,}", joined(", ", [_DAYS[day.weekday()] for day in sorted(days)]))),
    )


# Plans the list of all weeks, and their feed.


class ListedWeek(Value):
    """A week in a list: its days, its number in the year, how much arrived, and what happened.

    `rests` is, of the newest, the last day on which anything arrived. `said` are the first things that it tells.
    """

    link: Reference
    week: str
    number: int
    rests: str = ""
    counts: str = ""
    said: tuple[tuple[str, Reference], ...] = ()


class WeeksPage(Page):
    """All weeks, the newest first, with how much arrived in each; what has no date is elsewhere."""

    template: ClassVar[str] = "weeks.html"

    weeks: tuple[ListedWeek, ...]
    undated: Reference | None


def listed_weeks(start: str, weeks: Sequence[Week]) -> tuple[ListedWeek, ...]:
    """Weeks as lists have them, the newest first."""
    return tuple(
        ListedWeek(
            link=replace(_link(start, week.first), label=_days_of(week.first)),
            week=week.id,
            number=sum(1 for _ in week.refs),
            rests=week.rests,
        )
        for week in reversed(weeks)
    )


def undated_link(start: str, number: int) -> Reference | None:
    """A link to what is in no week, as it has no date; none if that is nothing."""
    label = phrases("{n:,} item without a date", "{n:,} items without a date", number)
    return Reference(label=label, href=urls.relative(start, urls.month_page(urls.UNDATED_MONTH))) if number else None


def plan_weeks(
    context: Context, ledger: Ledger, weeks: Sequence[Week], undated: Iterable[Artifact]
) -> Iterator[WeeksPage | FeedFile | RedirectPage]:
    """The list, and the feed. What was the page of a week that has nothing any more leads to the list."""
    chunks = page.in_parts(weeks)
    without = sum(one.is_listed for one in undated)
    for number, chunk in [(None, chunks[-1]), *(enumerate(chunks, 1) if len(chunks) > 1 else ())]:
        start = urls.part_page(urls.WEEKS, number) if number else urls.WEEKS
        yield WeeksPage(
            **page.head_of(context, start, title=page.part_title(phrase("Weeks"), number), section="timeline"),
            feeds=week_feeds(start),
            parts=page.part_links(start, urls.WEEKS, number or len(chunks), number) if len(chunks) > 1 else (),
            weeks=tuple(
                _with_told(context, start, week, listed)
                for week, listed in zip(reversed(chunk), listed_weeks(start, chunk), strict=True)
            ),
            undated=undated_link(start, without),
        )
    yield FeedFile(path=urls.WEEKS + "feed.xml", form="rss", feed=_feed(context, weeks))
    now = {week.id for week in weeks}
    for kind, id_ in ledger.others:
        if kind == "week" and id_ not in now:
            yield redirect(context, urls.week_page(id_), urls.WEEKS)


_FIRST = ("decided", "waits", "asked")
"""Of what a list of weeks names the first; of what was decided, the first that held."""


def _with_told(context: Context, start: str, week: Week, listed: ListedWeek) -> ListedWeek:
    told = _by_what(context, week)
    firsts = [min(told[what], key=lambda one: one.standing != "") for what in _FIRST if told.get(what)]
    said = tuple((_word(one), context.artifact(start, one.artifact.ref)) for one in firsts)
    return replace(listed, counts=_counts(told), said=said)


def _feed(context: Context, weeks: Sequence[Week]) -> Feed:
    ended = [week for week in weeks if not week.is_running]
    return Feed(
        title=phrase("{title}: weeks", title=context.site.title),
        description=phrase("What arrived, one item for each week that has ended."),
        language=context.site.language,
        generator=context.site.generator,
        fallback_link=f"urn:memosite:{context.archive_id}",
        items=tuple(_item(context, week) for week in reversed(ended[-context.feeds.window :])),
        link=context.canonical(urls.WEEKS),
        address=context.canonical(urls.WEEKS + "feed.xml"),
        ttl=context.feeds.ttl,
        has_content=True,
    )


def _item(context: Context, week: Week) -> FeedItem:
    """A week as an item: what was decided, asked and answered comes first."""
    here, title = urls.week_page(week.id), week_title(week.first)
    told = _by_what(context, week)
    every = [one for what in HEADINGS for one in told.get(what, ())]
    rows = [
        (context.canonical(urls.page_of(one.artifact)), one.artifact.short_subject, said_of(one))
        for one in every[:SHOWN]
    ]
    if len(every) > SHOWN:
        rows.append((context.canonical(here), phrase("{more} more", more=len(every) - SHOWN), ""))
    counts = _counts(told)
    return FeedItem(
        guid=tag_uri(context.authority, context.archive_id, "week", week.id),
        title=joined(": ", (title, counts)),
        path=urls.index_file(here),
        repo="",
        sender=context.site.title,
        to="",
        subject=title,
        sha256="",
        action_required=False,
        sent=week.end.isoformat().replace("+00:00", "Z"),
        link=context.canonical(here),
        date=Moment(instant=week.end, offset=0),
        notice=phrase("week {week}: {counts}", week=week.id, counts=counts),
        rows=tuple(rows),
    )


def said_of(one: Told) -> str:
    """What happened with an item, and who wrote it to whom, on one line."""
    return joined(": ", (_word(one), one.artifact.who.line()))


def _word(one: Told) -> str:
    """What happened with an item, in a word: of a decision that did not hold, that."""
    words = {"rejected": phrase("Rejected"), "superseded": phrase("Superseded")}
    return words.get(one.standing, HEADINGS[one.what])
