"""Plans the page of each month, the timeline, and digests of what arrived each day or week.

The days of a digest are those of arrival, in UTC, by the archive's own dates and never by the clock (`indexes`): the
last day with news is closed when something arrives on a later one. So what a digest holds never changes once it is
published: a memo that comes late, with an old date, is in the digest of the day on which it came.
"""

import calendar
import datetime as dt
from calendar import Calendar
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import ClassVar

from memosite.archive import urls
from memosite.archive.ledger import Ledger
from memosite.archive.mailboxes import action_word
from memosite.archive.model import Artifact, Memo, Transcript
from memosite.facts.phrases import joined, kind_word, phrase
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.feeds import Feed, FeedFile, FeedItem, tag_uri
from memosite.pages import (
    Cell,
    Grid,
    ListPage,
    ListSection,
    Page,
    PictureColumn,
    PictureRow,
    Reference,
    Sparks,
    shade_of,
)
from memosite.plan import page
from memosite.plan.context import Context, Unit, Written, kinds_line, traced_unit
from memosite.plan.dates import day_name, month_alone, month_name, newest, weeks_between
from memosite.plan.machine_archive import month_lines, month_sitemap
from memosite.plan.positions import count_weeks, draw_weeks
from memosite.plan.removed import RedirectPage, redirect
from memosite.plan.weeks import Week, undated_link, week_link


class TimelineYear(Value):
    """The months of a year, drawn day by day in `days`, and who did how much in `weeks`, unless it is long ago."""

    year: str
    total: int
    months: tuple[tuple[Reference, int], ...]
    days: Sparks | None = None
    weeks: Grid | None = None


class TimelinePage(Page):
    """All months, by year, with the number of artifacts in each, and how many have no date."""

    template: ClassVar[str] = "timeline.html"

    years: tuple[TimelineYear, ...]
    undated: Reference | None
    threads: Reference
    weeks: Reference
    digests: Reference


class CalendarDay(Value):
    """A day of a month; if there is anything on it, how much, in which shade, and where it leads."""

    day: int
    number: int = 0
    shade: int = 0
    href: str = ""


class CalendarMonth(Value):
    """A month as weeks from Monday to Sunday; None before its first and after its last day."""

    label: str
    weeks: tuple[tuple[CalendarDay | None, ...], ...]


class DigestsPage(Page):
    """Days or weeks with the number of artifacts that arrived in each, newest first; days as a calendar.

    `newest` is the newest, if it is here; what has no date is in none.
    """

    template: ClassVar[str] = "digests.html"

    span: str
    newest: Reference | None
    undated: Reference | None
    digests: tuple[tuple[Reference, int], ...] = ()
    months: tuple[CalendarMonth, ...] = ()


# Plans calendars: months in which anything happened, a line for each week.


def calendar_months(days: Mapping[str, tuple[int, str]]) -> tuple[CalendarMonth, ...]:
    """The months of these days (ISO 8601), newest first; of each day a number above 0, and where it leads."""
    most = max((number for number, _ in days.values()), default=1)
    weeks = Calendar()
    return tuple(
        CalendarMonth(
            label=month_name(month.replace("-", "/")),
            weeks=tuple(
                tuple(_day(days, f"{month}-{day:02d}", most) if day else None for day in week)
                for week in weeks.monthdayscalendar(*map(int, month.split("-")))
            ),
        )
        for month in sorted({day[:7] for day in days}, reverse=True)
    )


def _day(days: Mapping[str, tuple[int, str]], day: str, most: int) -> CalendarDay:
    if day not in days:
        return CalendarDay(day=int(day[8:]))
    number, href = days[day]
    return CalendarDay(day=int(day[8:]), number=number, shade=shade_of(number, most), href=href)


# Plans the page of each month, and the timeline, which lists all months.


_Around = tuple[str | None, str | None]


_DRAWN_YEARS, _DRAWN_WEEKS = 30, 3
"""The most years that are drawn day by day, and by week."""


def month_units(months: Mapping[str, Sequence[Artifact]]) -> Iterator[Unit]:
    """A unit for each month, with its page and the other files that are made by month."""
    for month, around in page.with_neighbours(tuple(months)):
        found, given_as = months[month], "the items of the month or the months beside it"
        make, weight = _plan_month, 1 + len(found) // 10
        yield traced_unit(
            f"month/{month}", make, month=month, artifacts=found, around=around, given_as=given_as, weight=weight
        )


def _plan_month(
    context: Context, *, month: str, artifacts: Sequence[Artifact], around: _Around
) -> Iterator[ListPage | Written]:
    """A month's pages, its twins, the machine's lines of it, and with a base_url its part of the sitemap."""
    listed = [artifact for artifact in artifacts if artifact.is_listed]
    yield from _month_pages(context, month, listed, around)
    yield from page.list_twins(context, urls.month_page(month), month_name(month), listed, facts={})
    yield month_lines(context, month, artifacts)
    yield from month_sitemap(context, month, artifacts)


def _month_pages(context: Context, month: str, artifacts: Sequence[Artifact], around: _Around) -> Iterator[ListPage]:
    """The page of a month, showing its newest part, so that a new memo touches one list page (SPEC 4).

    `around` are the months before and after it that have a page.
    """
    here = urls.month_page(month)
    chunks = page.in_parts(artifacts)
    yield _month_page(context, month, here, chunks[-1], around=around, part=(len(chunks), len(chunks)))
    for number, chunk in enumerate(chunks, 1) if len(chunks) > 1 else ():
        start = urls.part_page(here, number)
        # A part names only what was there before it, so that it never changes once it is full.
        yield _month_page(context, month, start, chunk, around=(month, None), part=(number, number))


def _month_page(
    context: Context, month: str, start: str, artifacts: Sequence[Artifact], *, around: _Around, part: tuple[int, int]
) -> ListPage:
    here = urls.month_page(month)
    number, count = part
    previous, following = (month_link(start, other) if other else None for other in around)
    days: dict[str, list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        days[_in_utc(artifact.date).day if artifact.date else ""].append(artifact)
    has_zones = any(artifact.date.offset for artifact in artifacts if artifact.date)
    return ListPage(
        **page.head_of(context, start, title=month_name(month), section="timeline"),
        twins=page.twin_links(start, here),
        parts=page.part_links(start, here, count, number) if start != here or count > 1 else (),
        intro=phrase("Days and times are in UTC.") if has_zones else "",
        sections=tuple(_day_sections(context, start, days)),
        previous=previous,
        next=following,
    )


def _day_sections(context: Context, start: str, days: Mapping[str, Sequence[Artifact]]) -> Iterator[ListSection]:
    """The items of each day in UTC, newest first. Days of writers that no section is of keep their anchors."""
    anchors = set(days)
    for day in sorted(days, reverse=True):
        heading = day_name(day) if day else phrase("No date")
        section = page.section(context, start, heading, days[day], anchor=day or "no-date")
        written = sorted({row.date.day for row in section.rows if row.date} - anchors)
        rows = tuple(replace(row, date=row.date and _in_utc(row.date)) for row in section.rows)
        yield replace(section, rows=rows, targets=tuple(written))
        anchors.update(written)


def _in_utc(date: Moment) -> Moment:
    """A date on the clock of UTC; one that was written without an offset stays as it is."""
    return replace(date, offset=0) if date.offset else date


def month_link(start: str, month: str) -> Reference:
    """A link to the page of a month."""
    return Reference(label=month_name(month), href=urls.relative(start, urls.month_page(month)))


def plan_timeline(context: Context, months: Mapping[str, Sequence[Artifact]]) -> TimelinePage:
    """All months by year, newest first, the newest years with a bar for each day."""
    months = {month: [one for one in some if one.is_listed] for month, some in months.items()}
    undated = months.pop(urls.UNDATED_MONTH, [])
    years: dict[str, list[str]] = defaultdict(list)
    for month in sorted(months, reverse=True):
        years[month.partition("/")[0]].append(month)
    return TimelinePage(
        **page.head_of(context, urls.TIMELINE, title=phrase("Timeline"), section="timeline"),
        threads=Reference(label=phrase("Threads"), href=urls.relative(urls.TIMELINE, urls.THREADS)),
        weeks=Reference(label=phrase("Weeks"), href=urls.relative(urls.TIMELINE, urls.WEEKS)),
        digests=Reference(label=phrase("Digests"), href=urls.relative(urls.TIMELINE, urls.DIGESTS)),
        undated=undated_link(urls.TIMELINE, len(undated)),
        years=tuple(
            _year(context, year, {month: months[month] for month in of_year}, place)
            for place, (year, of_year) in enumerate(years.items())
        ),
    )


def _year(context: Context, year: str, months: Mapping[str, Sequence[Artifact]], place: int) -> TimelineYear:
    """A year, the `place`th from the newest."""
    total = sum(map(len, months.values()))
    return TimelineYear(
        year=year,
        total=total,
        months=tuple((_short_link(month), len(some)) for month, some in months.items()),
        days=_days(year, months) if place < _DRAWN_YEARS and total > 1 else None,
        weeks=_weeks(context, year, chain.from_iterable(months.values())) if place < _DRAWN_WEEKS else None,
    )


def _short_link(month: str) -> Reference:
    return Reference(label=month_alone(month), href=urls.relative(urls.TIMELINE, urls.month_page(month)))


def _days(year: str, months: Mapping[str, Sequence[Artifact]]) -> Sparks:
    """A bar for each day of these months, by their dates in UTC, as months are."""
    rows = []
    for month, artifacts in months.items():
        counts = Counter(artifact.date.instant.day for artifact in artifacts if artifact.date)
        _, length = calendar.monthrange(int(year), int(month.partition("/")[2]))
        cells = tuple(Cell(number=counts[day]) if day <= length else None for day in range(1, 32))
        rows.append(PictureRow(label=_short_link(month), cells=cells, note=kinds_line(artifacts)))
    picture = Sparks(
        anchor=f"days-{year}",
        caption="",
        corner=year,
        columns=tuple(PictureColumn(label=str(day)) for day in range(1, 32)),
        rows=tuple(rows),
    )
    return replace(picture, caption=phrase("A bar for each day, in UTC; the highest is {most:,}.", most=picture.most))


def _weeks(context: Context, year: str, artifacts: Iterable[Artifact]) -> Grid | None:
    """Who wrote how much in each week of a year; None of one week or one position, as the days say that."""
    counts = count_weeks(artifacts)
    days = sorted({day for count in counts.values() for day in count})
    if len(days) < 2 or len(counts) < 2:
        return None
    return draw_weeks(context, urls.TIMELINE, f"weeks-{year}", counts, list(weeks_between(days[0], days[-1])))


# Plans digests: what arrived on each closed day, or in each closed week, as a page and as an item of a feed.


LISTED = 100
"""How many artifacts an item of the feed lists; its page lists all."""


_KINDS = (
    ("memo", phrase("Memos")),
    ("note", phrase("Notes")),
    ("transcript", phrase("Transcripts")),
    ("session", phrase("Sessions")),
    ("record", phrase("Records")),
    ("document", phrase("Documents")),
    ("library", phrase("Libraries")),
)


class Digest(Value):
    """A day or week with news: its first day (ISO 8601), its end, and what arrived in it.

    `rests` is, of the running one, the last day on which anything arrived; "" of all others, which are closed.
    """

    day: str
    end: dt.datetime
    artifacts: tuple[Artifact, ...]
    rests: str = ""

    @property
    def announced(self) -> list[Artifact]:
        """What an item of the feed lists: session logs have feeds of their own."""
        return [artifact for artifact in self.artifacts if artifact.is_announced]


def find_digests(context: Context, weeks: Iterable[Week]) -> tuple[Digest, ...]:
    """The days of weeks, or if digests are weekly the weeks, oldest first: all are closed but the last."""
    days: dict[dt.date, list[Artifact]] = defaultdict(list)
    last = ""
    for week in weeks:
        for day, refs in week.days:
            days[week.first if context.feeds.is_weekly else day] += [context.archive.artifacts[ref] for ref in refs]
        last = week.rests
    length, newest_of_all = dt.timedelta(days=7 if context.feeds.is_weekly else 1), max(days, default=None)
    return tuple(
        Digest(
            day=day.isoformat(),
            end=dt.datetime.combine(day, dt.time(), tzinfo=dt.UTC) + length,
            artifacts=tuple(some),
            rests=last if day == newest_of_all else "",
        )
        for day, some in days.items()
    )


def digest_units(digests: Sequence[Digest]) -> Iterator[Unit]:
    """A unit for each digest, which names the ones before and after it."""
    for digest, around in page.with_neighbours(digests):
        days = [one.day for one in around if one]
        make = partial(_plan_digest, digest=digest, around=around)
        given_as = "the items of the week or the digests beside it"
        yield Unit(name=f"digest/{digest.day}", make=make, given=(digest, days), given_as=given_as)


def plan_digest_lists(
    context: Context, ledger: Ledger, digests: Sequence[Digest], undated: Iterable[Artifact]
) -> Iterator[DigestsPage | FeedFile | RedirectPage]:
    """The list of all digests, and the feed of those that are closed.

    Digests that are not made any more, as when days became weeks, redirect to the list.
    """
    yield from _lists(context, digests, sum(one.is_listed for one in undated))
    closed = [digest for digest in digests if not digest.rests and digest.announced]
    yield FeedFile(path=urls.DIGESTS + "feed.xml", form="rss", feed=_feed(context, closed))
    now = {digest.day for digest in digests}
    for kind, day in ledger.others:
        if kind == "digest" and day not in now:
            yield redirect(context, urls.digest_page(day), urls.DIGESTS)


def _title(context: Context, digest: Digest) -> str:
    return phrase("Week from {day}", day=digest.day) if context.feeds.is_weekly else digest.day


def _link(context: Context, start: str, digest: Digest) -> Reference:
    return Reference(label=_title(context, digest), href=urls.relative(start, urls.digest_page(digest.day)))


def _feeds(start: str) -> tuple[Reference, ...]:
    return (Reference(label=phrase("Digests"), href=urls.relative(start, urls.DIGESTS + "feed.xml")),)


def _plan_digest(
    context: Context, *, digest: Digest, around: tuple[Digest | None, Digest | None]
) -> Iterator[ListPage]:
    """The page of a digest."""
    start = urls.digest_page(digest.day)
    previous, following = (_link(context, start, one) if one else None for one in around)
    groups = {
        heading.lower(): found
        for kind, heading in _KINDS
        if (found := [artifact for artifact in digest.artifacts if _kind(artifact) == kind])
    }
    yield ListPage(
        **page.head_of(
            context,
            start,
            title=phrase("Digest: {title}", title=_title(context, digest)),
            section="timeline",
            description=kinds_line(digest.artifacts),
        ),
        feeds=_feeds(start),
        intro=joined(" ", filter(None, (_intro(context, digest), _rests(digest)))),
        sections=page.grouped_sections(
            context, start, groups, names={heading.lower(): heading for _, heading in _KINDS}
        ),
        views=(week_link(start, dt.date.fromisoformat(digest.day)),),
        previous=previous or Reference(label=phrase("All digests"), href=urls.relative(start, urls.DIGESTS)),
        next=following,
    )


def _kind(artifact: Artifact) -> str:
    return "session" if isinstance(artifact, Transcript) and artifact.log else artifact.kind


def _intro(context: Context, digest: Digest) -> str:
    if context.feeds.is_weekly:
        return phrase("What arrived in the week from {day}. Items that came late have an earlier date.", day=digest.day)
    return phrase("What arrived on this day. Items that came late have an earlier date.")


def _rests(digest: Digest) -> str:
    return phrase("Nothing has arrived since {day}.", day=digest.rests) if digest.rests else ""


def _lists(context: Context, digests: Sequence[Digest], undated: int) -> Iterator[DigestsPage]:
    chunks = page.in_parts(digests)
    for number, chunk in [(None, chunks[-1]), *(enumerate(chunks, 1) if len(chunks) > 1 else ())]:
        start = urls.part_page(urls.DIGESTS, number) if number else urls.DIGESTS
        shown = DigestsPage(
            **page.head_of(context, start, title=page.part_title(phrase("Digests"), number), section="timeline"),
            feeds=_feeds(start),
            parts=page.part_links(start, urls.DIGESTS, number or len(chunks), number) if len(chunks) > 1 else (),
            span="week" if context.feeds.is_weekly else "day",
            newest=next((_link(context, start, digest) for digest in chunk if digest.rests), None),
            undated=undated_link(start, undated),
        )
        if context.feeds.is_weekly:
            weeks = tuple((_link(context, start, digest), len(digest.artifacts)) for digest in reversed(chunk))
            yield replace(shown, digests=weeks)
        else:
            days = {
                digest.day: (len(digest.artifacts), urls.relative(start, urls.digest_page(digest.day)))
                for digest in chunk
            }
            yield replace(shown, months=calendar_months(days))


def _feed(context: Context, digests: Sequence[Digest]) -> Feed:
    return Feed(
        title=phrase("{title}: digests", title=context.site.title),
        description=phrase("What arrived, one item for each complete week.")
        if context.feeds.is_weekly
        else phrase("What arrived, one item for each complete day."),
        language=context.site.language,
        generator=context.site.generator,
        fallback_link=f"urn:memosite:{context.archive_id}",
        items=tuple(_item(context, digest) for digest in reversed(digests[-context.feeds.window :])),
        link=context.canonical(urls.DIGESTS),
        address=context.canonical(urls.DIGESTS + "feed.xml"),
        ttl=context.feeds.ttl,
        has_content=True,
    )


def _item(context: Context, digest: Digest) -> FeedItem:
    """A digest as an item; its id differs for a week and for its first day. `path` is that of its page in the site."""
    here, title, announced = urls.digest_page(digest.day), _title(context, digest), digest.announced
    shown = newest(announced, LISTED)
    more, counts = len(announced) - len(shown), kinds_line(announced)
    rows = [(context.canonical(urls.page_of(one)), one.short_subject, _who(one)) for one in shown]
    if more:
        rows.append((context.canonical(here), phrase("{more} more", more=more), ""))
    return FeedItem(
        guid=tag_uri(
            context.authority,
            context.archive_id,
            "digest",
            f"week-{digest.day}" if context.feeds.is_weekly else digest.day,
        ),
        title=joined(": ", (title, counts)),
        path=urls.index_file(here),
        repo="",
        sender=context.site.title,
        to="",
        subject=title,
        sha256="",
        action_required=False,
        sent=digest.end.isoformat().replace("+00:00", "Z"),
        link=context.canonical(here),
        date=Moment(instant=digest.end, offset=0),
        notice=phrase("digest of week from {day}: {counts}", day=digest.day, counts=counts)
        if context.feeds.is_weekly
        else phrase("digest of {day}: {counts}", day=digest.day, counts=counts),
        rows=tuple(rows),
    )


def _who(artifact: Artifact) -> str:
    if not isinstance(artifact, Memo) or artifact.kind != "memo":
        return kind_word(artifact.kind)
    who = phrase("{sender} to {to}", sender=artifact.who.sender, to=artifact.who.to)
    return phrase("{who}; action {state}", who=who, state=action_word(artifact.action)) if artifact.action else who
