"""Plans the page of each month, and the timeline, which lists all months."""

import calendar
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from memosite.archive.model import Artifact
from memosite.archive.urls import DIGESTS, THREADS, TIMELINE, UNDATED_MONTH, month_page, part_page, relative
from memosite.facts.phrases import phrase
from memosite.pages.models import ListPage, TimelinePage
from memosite.pages.overviews import TimelineYear
from memosite.pages.parts import Reference
from memosite.pages.pictures import Cell, PictureColumn, PictureRow, Sparks
from memosite.plan.context import Context
from memosite.plan.dates import day_of, month_alone, month_name
from memosite.plan.files import Written
from memosite.plan.head import page_head, twin_links
from memosite.plan.machine_archive import month_lines
from memosite.plan.pagination import in_parts, part_links, with_neighbours
from memosite.plan.robots import month_sitemap
from memosite.plan.sections import section
from memosite.plan.twins import list_twins
from memosite.plan.units import Unit

_Around = tuple[str | None, str | None]
_DRAWN_YEARS = 30


def month_units(months: Mapping[str, Sequence[Artifact]]) -> Iterator[Unit]:
    """A unit for each month, with its page and the other files that are made by month."""
    for month, around in with_neighbours(tuple(months)):
        artifacts = months[month]
        yield Unit(
            name=f"month/{month}",
            make=partial(_plan_month, month=month, artifacts=artifacts, around=around),
            given=(month, artifacts, around),
            given_as="the items of the month or the months beside it",
            weight=1 + len(artifacts) // 10,
        )


def _plan_month(
    context: Context, *, month: str, artifacts: Sequence[Artifact], around: _Around
) -> Iterator[ListPage | Written]:
    """A month's pages, its twins, the machine's lines of it, and with a base_url its part of the sitemap."""
    yield from _month_pages(context, month, artifacts, around)
    yield from list_twins(context, month_page(month), month_name(month), artifacts, facts={})
    yield month_lines(context, month, artifacts)
    yield from month_sitemap(context, month, artifacts)


def _month_pages(context: Context, month: str, artifacts: Sequence[Artifact], around: _Around) -> Iterator[ListPage]:
    """The page of a month, showing its newest part, so that a new memo touches one list page (SPEC 4).

    `around` are the months before and after it that have a page.
    """
    here = month_page(month)
    chunks = in_parts(artifacts)
    yield _month_page(context, month, here, chunks[-1], around=around, part=(len(chunks), len(chunks)))
    for number, chunk in enumerate(chunks, 1) if len(chunks) > 1 else ():
        start = part_page(here, number)
        # A part names only what was there before it, so that it never changes once it is full.
        yield _month_page(context, month, start, chunk, around=(month, None), part=(number, number))


def _month_page(
    context: Context, month: str, start: str, artifacts: Sequence[Artifact], *, around: _Around, part: tuple[int, int]
) -> ListPage:
    here = month_page(month)
    number, count = part
    previous, following = (month_link(start, other) if other else None for other in around)
    days: dict[str, list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        days[day_of(artifact) or ""].append(artifact)
    return ListPage(
        **page_head(context, start, title=month_name(month), section="timeline"),
        twins=twin_links(start, here),
        parts=part_links(start, here, count, number) if start != here or count > 1 else (),
        intro="",
        sections=tuple(
            section(context, start, day or phrase("No date"), days[day], anchor=day or "no-date")
            for day in sorted(days, reverse=True)
        ),
        previous=previous,
        next=following,
    )


def month_link(start: str, month: str) -> Reference:
    """A link to the page of a month."""
    return Reference(label=month_name(month), href=relative(start, month_page(month)))


def plan_timeline(context: Context, months: Mapping[str, Sequence[Artifact]]) -> TimelinePage:
    """All months by year, newest first, the newest years with a bar for each day."""
    years: dict[str, list[str]] = defaultdict(list)
    for month in months:
        years["Undated" if month == UNDATED_MONTH else month.partition("/")[0]].append(month)
    newest = sorted(years, key=lambda year: (year != "Undated", year), reverse=True)
    return TimelinePage(
        **page_head(context, TIMELINE, title=phrase("Timeline"), section="timeline"),
        threads=Reference(label=phrase("Threads"), href=relative(TIMELINE, THREADS)),
        digests=Reference(label=phrase("Digests"), href=relative(TIMELINE, DIGESTS)),
        years=tuple(
            TimelineYear(
                year=phrase("Undated") if year == "Undated" else year,
                months=tuple((_short_link(month), len(months[month])) for month in years[year]),
                days=_days(year, {month: months[month] for month in years[year]})
                if year != "Undated" and place < _DRAWN_YEARS
                else None,
            )
            for place, year in enumerate(newest)
        ),
    )


def _short_link(month: str) -> Reference:
    label = month_name(month) if month == UNDATED_MONTH else month_alone(month)
    return Reference(label=label, href=relative(TIMELINE, month_page(month)))


def _days(year: str, months: Mapping[str, Sequence[Artifact]]) -> Sparks:
    """A bar for each day of these months, by their dates in UTC, as months are."""
    rows = []
    for month, artifacts in months.items():
        counts = Counter(artifact.date.instant.day for artifact in artifacts if artifact.date)
        _, length = calendar.monthrange(int(year), int(month.partition("/")[2]))
        cells = tuple(Cell(number=counts[day]) if day <= length else None for day in range(1, 32))
        rows.append(PictureRow(label=_short_link(month), cells=cells, note=f"{len(artifacts):,}"))
    picture = Sparks(
        anchor=f"days-{year}",
        caption="",
        corner=year,
        columns=tuple(PictureColumn(label=str(day)) for day in range(1, 32)),
        rows=tuple(rows),
    )
    return replace(picture, caption=phrase("A bar for each day, in UTC; the highest is {most:,}.", most=picture.most))
