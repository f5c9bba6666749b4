"""Plans the pages that list artifacts: months, the timeline, actions, and the parts of long lists."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from memosite.archive.model import Action, Artifact, Memo, Record
from memosite.archive.urls import (
    ACTIONS,
    TIMELINE,
    UNDATED_MONTH,
    index_file,
    month_of,
    month_page,
    part_page,
    relative,
)
from memosite.pages.models import ListPage, TimelinePage
from memosite.pages.parts import ListSection, Reference
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.dates import day_of, newest
from memosite.plan.parts import in_parts, part_links

_GROUPS = 99
"""The most groups of a list that have a section of their own."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def month_name(month: str) -> str:
    """`2026/05` as "May 2026"."""
    if month == UNDATED_MONTH:
        return "Undated"
    year, number = month.split("/")
    return f"{_MONTHS[int(number) - 1]} {year}"


def by_month(artifacts: Iterable[Artifact]) -> dict[str, list[Artifact]]:
    """Artifacts of each month, in order of arrival; months in order of time, the undated last."""
    together: dict[tuple[int, int] | None, list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        instant = artifact.date.instant if artifact.date else None
        together[(instant.year, instant.month) if instant else None].append(artifact)
    found = {month_of(some[0]): some for some in together.values()}
    return {month: found[month] for month in sorted(found, key=lambda month: (month == UNDATED_MONTH, month))}


def section(
    context: Context,
    start: str,
    heading: str,
    artifacts: Iterable[Artifact],
    *,
    empty: str = "",
    limit: int = LIST_LIMIT,
    viewer: str | None = None,
    anchor: str | None = None,
) -> ListSection:
    """A heading with its artifacts, newest first, at most `limit` of them; whole lists of bullets as in their files."""
    every = tuple(artifacts)
    ordered = newest(every, limit)
    if len(every) <= limit and all(isinstance(one, Record) and one.card.line is not None for one in ordered):
        ordered.sort(key=_place_in_file)
    return ListSection(
        heading=heading,
        anchor=heading.lower().replace(" ", "-") if anchor is None else anchor,
        rows=tuple(context.row(start, artifact, viewer=viewer) for artifact in ordered),
        total=len(every),
        empty=empty,
    )


def _place_in_file(artifact: Artifact) -> tuple[str, str, int]:
    line = artifact.card.line if isinstance(artifact, Record) else None
    return artifact.copies[0].file.source, artifact.copies[0].file.path, line or 0


def grouped_sections(
    context: Context, start: str, groups: Mapping[str, Sequence[Artifact]], *, empty: str = ""
) -> tuple[ListSection, ...]:
    """A section for each group, in the order given, all together no longer than one list may be.

    Of many groups the largest have a section of their own, the rest share one. Headings may be foreign text, so their
    anchors are made of what letters and digits they hold.
    """
    largest = set(sorted(groups, key=lambda heading: (-len(groups[heading]), heading))[:_GROUPS])
    shown = {heading: groups[heading] for heading in groups if heading in largest}
    others = [artifact for heading in groups if heading not in largest for artifact in groups[heading]]
    if others:
        shown["Others"] = (*shown.get("Others", ()), *others)
    total = sum(map(len, shown.values()))
    limit = LIST_LIMIT if total <= LIST_LIMIT else max(1, LIST_LIMIT // len(shown))
    taken: set[str] = set()
    sections = []
    for heading, artifacts in shown.items():
        stem = anchor = re.sub(r"[^\w.-]+", "-", heading.lower()).strip("-") or "group"
        number = 1
        while anchor in taken:
            number += 1
            anchor = f"{stem}-{number}"
        taken.add(anchor)
        sections.append(section(context, start, heading, artifacts, limit=limit, anchor=anchor, empty=empty))
    return tuple(sections)


def plan_part(
    context: Context,
    page: str,
    title: str,
    number: int,
    chunk: Sequence[Artifact],
    *,
    section_name: str,
    viewer: str | None = None,
) -> ListPage:
    """One of the parts of `plan_parts`, counted from 1. It names only what was there before it."""
    start = part_page(page, number)
    return ListPage(
        site=context.site,
        path=index_file(start),
        root="../" * start.count("/"),
        title=f"{title}, part {number}",
        section=section_name,
        canonical=context.canonical(start),
        intro="",
        parts=part_links(start, page, number, number),
        sections=(section(context, start, f"Part {number}", chunk, viewer=viewer),),
        previous=Reference(label=title, href=relative(start, page)),
    )


def plan_parts(
    context: Context,
    page: str,
    title: str,
    artifacts: Sequence[Artifact],
    *,
    section_name: str,
    viewer: str | None = None,
    shown: int = LIST_LIMIT,
) -> Iterable[ListPage]:
    """The parts of a list that is too long for its page: everything in order of arrival, 500 a part."""
    if not part_count(artifacts, shown=shown):
        return
    for number, chunk in enumerate(in_parts(artifacts), 1):
        yield plan_part(context, page, title, number, chunk, section_name=section_name, viewer=viewer)


def part_count(artifacts: Sequence[Artifact], *, shown: int = LIST_LIMIT) -> int:
    """How many parts a list has of which its page shows at most this many entries; 0 if it fits there."""
    return len(in_parts(artifacts)) if len(artifacts) > shown else 0


def plan_month(
    context: Context, month: str, artifacts: Sequence[Artifact], *, around: tuple[list[str], list[str]]
) -> Iterable[ListPage]:
    """The page of a month, showing its newest part, so that a new memo touches one list page (SPEC 4).

    `around` are the months before and after it that have a page: none or one each.
    """
    here = month_page(month)
    chunks = in_parts(artifacts)
    yield _month_page(context, month, here, chunks[-1], around=around, part=(len(chunks), len(chunks)))
    for number, chunk in enumerate(chunks, 1) if len(chunks) > 1 else ():
        start = part_page(here, number)
        # A part names only what was there before it, so that it never changes once it is full.
        yield _month_page(context, month, start, chunk, around=([month], []), part=(number, number))


def _month_page(
    context: Context,
    month: str,
    start: str,
    artifacts: Sequence[Artifact],
    *,
    around: tuple[list[str], list[str]],
    part: tuple[int, int],
) -> ListPage:
    here = month_page(month)
    number, count = part
    previous, following = (
        next((Reference(label=month_name(other), href=relative(start, month_page(other))) for other in others), None)
        for others in around
    )
    days: dict[str, list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        days[day_of(artifact) or "No date"].append(artifact)
    return ListPage(
        site=context.site,
        path=index_file(start),
        root="../" * start.count("/"),
        title=month_name(month),
        section="timeline",
        canonical=context.canonical(start),
        twins=twin_links(start, here),
        parts=part_links(start, here, count, number) if start != here or count > 1 else (),
        intro="",
        sections=tuple(section(context, start, day, days[day]) for day in sorted(days, reverse=True)),
        previous=previous,
        next=following,
    )


def twin_links(start: str, page: str) -> tuple[Reference, ...]:
    """Links to the twins of a page."""
    return tuple(Reference(label=kind, href=relative(start, f"{page}index.{kind}")) for kind in ("json", "md"))


def plan_timeline(context: Context, months: Mapping[str, Sequence[Artifact]]) -> TimelinePage:
    """All months by year, newest first."""
    years: dict[str, list[tuple[Reference, int]]] = defaultdict(list)
    for month, artifacts in months.items():
        year, _, _ = month.partition("/")
        label = month_name(month).removesuffix(f" {year}")
        reference = Reference(label=label, href=relative(TIMELINE, month_page(month)))
        years["Undated" if month == UNDATED_MONTH else year].append((reference, len(artifacts)))
    newest = sorted(years, key=lambda year: (year != "Undated", year), reverse=True)
    return TimelinePage(
        site=context.site,
        path=index_file(TIMELINE),
        root="../",
        title="Timeline",
        section="timeline",
        canonical=context.canonical(TIMELINE),
        years=tuple((year, tuple(years[year])) for year in newest),
    )


_ACTIONS = "Actions"

_STATES: tuple[tuple[Action, str, str], ...] = (
    ("open", "Open", "Nothing is open."),
    ("answered", "Answered", "Nothing is answered and not yet discharged."),
    ("discharged", "Discharged", "Nothing has been discharged."),
)


def asked_for(context: Context) -> list[Memo]:
    """All memos that ask for something, in order of arrival."""
    return [memo for memo in context.memos if memo.action is not None]


def plan_action_part(context: Context, number: int, asked: Sequence[Memo]) -> Iterable[ListPage]:
    """A part of the list of all actions, where it is long."""
    yield plan_part(context, ACTIONS, _ACTIONS, number, asked, section_name="actions")


def plan_actions(context: Context) -> Iterable[ListPage]:
    """The action board: open, answered until discharged, discharged."""
    asked = asked_for(context)
    sections: list[ListSection] = []
    for state, heading, empty in _STATES:
        memos = [memo for memo in asked if memo.action == state]
        by_seat = tuple(_open_by_position(context, memos)) if state == "open" else ()
        sections.extend(by_seat or [section(context, ACTIONS, heading, memos, empty=empty)])
    yield ListPage(
        site=context.site,
        path=index_file(ACTIONS),
        root="../",
        title=_ACTIONS,
        section="actions",
        canonical=context.canonical(ACTIONS),
        feeds=(Reference(label="Open actions", href="feed.xml"),),
        twins=twin_links(ACTIONS, ACTIONS),
        parts=part_links(ACTIONS, ACTIONS, part_count(asked), None),
        intro="What memos ask for, until it is discharged. Lying in read/ does not make it done.",
        sections=tuple(sections),
    )


def _open_by_position(context: Context, memos: Sequence[Memo]) -> Iterable[ListSection]:
    waiting: dict[str, list[Memo]] = defaultdict(list)
    for memo in memos:
        for state in memo.recipients:
            if state.action == "open":
                waiting[state.position].append(memo)
    if sum(map(len, waiting.values())) > LIST_LIMIT:
        return
    for position in sorted(waiting, key=lambda id_: (-len(waiting[id_]), id_)):
        yield section(context, ACTIONS, f"Open for {context.label(position)}", waiting[position])
