"""Plans digests: what arrived on each closed day, or in each closed week, as a page and as an item of a feed.

Days are those of arrival, in UTC, by the archive's own dates and never by the clock (`arrivals`): the last day with
news is closed when something arrives on a later one. So what a digest holds never changes once it is published: a
memo that comes late, with an old date, is in the digest of the day on which it came.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypedDict

from memosite.archive.ledger import Ledger
from memosite.archive.model import Artifact, Memo
from memosite.archive.urls import DIGESTS, absolute, digest_page, index_file, page_of, part_page, relative
from memosite.facts.parsed import Kind
from memosite.facts.phrases import joined, phrase
from memosite.facts.times import Moment
from memosite.facts.words import kind_word, kinds
from memosite.feeds.rss import Feed, FeedFile, FeedItem, tag_uri
from memosite.pages.models import DigestsPage, ListPage, RedirectPage
from memosite.pages.overviews import CalendarMonth
from memosite.pages.parts import Reference
from memosite.pages.words import action_word
from memosite.plan.calendars import calendar_months
from memosite.plan.context import Context
from memosite.plan.dates import newest
from memosite.plan.head import page_head
from memosite.plan.pagination import in_parts, part_links, part_title, with_neighbours
from memosite.plan.removed import redirect
from memosite.plan.sections import grouped_sections
from memosite.plan.units import Unit

LISTED = 100
"""How many artifacts an item of the feed lists; its page lists all."""

_KINDS: tuple[tuple[Kind, str], ...] = (
    ("memo", phrase("Memos")),
    ("note", phrase("Notes")),
    ("transcript", phrase("Transcripts")),
    ("record", phrase("Records")),
    ("document", phrase("Documents")),
    ("library", phrase("Libraries")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """A closed day or week: its first day (ISO 8601), its end, and what arrived in it."""

    day: str
    end: dt.datetime
    artifacts: tuple[Artifact, ...]


def closed_digests(context: Context) -> tuple[Digest, ...]:
    """The closed days or weeks with any news, oldest first."""
    days: dict[int, list[Artifact]] = defaultdict(list)
    times, is_weekly = context.arrival_times, context.feeds.is_weekly
    for ref, artifact in context.archive.artifacts.items():
        if ref in times:
            day = times[ref].toordinal()
            days[_monday(day) if is_weekly else day].append(artifact)
    length = dt.timedelta(days=7 if is_weekly else 1)
    return tuple(
        Digest(
            day=day.isoformat(),
            end=dt.datetime.combine(day, dt.time(), tzinfo=dt.UTC) + length,
            artifacts=tuple(days[day.toordinal()]),
        )
        for day in map(dt.date.fromordinal, sorted(days)[:-1])
    )


def _monday(day: int) -> int:
    """The Monday of a day's week (ISO 8601), both by their numbers; day 1, of the year 1, is one."""
    return day - (day - 1) % 7


def digest_units(digests: Sequence[Digest]) -> Iterator[Unit]:
    """A unit for each digest, which names the ones before and after it."""
    for digest, around in with_neighbours(digests):
        days = [one.day for one in around if one]
        make = partial(_plan_digest, digest=digest, around=around)
        given_as = "the items of the week or the digests beside it"
        yield Unit(name=f"digest/{digest.day}", make=make, given=(digest, days), given_as=given_as)


def plan_digest_lists(
    context: Context, ledger: Ledger, digests: Sequence[Digest]
) -> Iterator[DigestsPage | FeedFile | RedirectPage]:
    """The list of all digests, and their feed.

    Digests that are not made any more, as when days became weeks, redirect to the list.
    """
    yield from _lists(context, digests)
    yield FeedFile(path=DIGESTS + "feed.xml", form="rss", feed=_feed(context, digests))
    now = {digest.day for digest in digests}
    for kind, day in ledger.others:
        if kind == "digest" and day not in now:
            yield redirect(context, digest_page(day), DIGESTS)


def _title(context: Context, digest: Digest) -> str:
    return phrase("Week from {day}", day=digest.day) if context.feeds.is_weekly else digest.day


def _link(context: Context, start: str, digest: Digest) -> Reference:
    return Reference(label=_title(context, digest), href=relative(start, digest_page(digest.day)))


def _feeds(start: str) -> tuple[Reference, ...]:
    return (Reference(label=phrase("Digests"), href=relative(start, DIGESTS + "feed.xml")),)


def _plan_digest(
    context: Context, *, digest: Digest, around: tuple[Digest | None, Digest | None]
) -> Iterator[ListPage]:
    """The page of a digest."""
    start = digest_page(digest.day)
    previous, following = (_link(context, start, one) if one else None for one in around)
    groups = {
        heading.lower(): found
        for kind, heading in _KINDS
        if (found := [artifact for artifact in digest.artifacts if artifact.kind == kind])
    }
    yield ListPage(
        **page_head(
            context,
            start,
            title=phrase("Digest: {title}", title=_title(context, digest)),
            section="timeline",
            description=_counts(digest),
        ),
        feeds=_feeds(start),
        intro=phrase("What arrived in the week from {day}. What arrived late has an earlier date.", day=digest.day)
        if context.feeds.is_weekly
        else phrase("What arrived on this day. What arrived late has an earlier date."),
        sections=grouped_sections(context, start, groups, names={heading.lower(): heading for _, heading in _KINDS}),
        previous=previous or Reference(label=phrase("All digests"), href=relative(start, DIGESTS)),
        next=following,
    )


def _counts(digest: Digest) -> str:
    """The number of artifacts of each kind: `3 memos, 1 note`."""
    counts = Counter(artifact.kind for artifact in digest.artifacts)
    return joined(", ", [kinds(kind, counts[kind]) for kind, _ in _KINDS if counts[kind]])


def _lists(context: Context, digests: Sequence[Digest]) -> Iterator[DigestsPage]:
    chunks = in_parts(digests)
    for number, chunk in [(None, chunks[-1]), *(enumerate(chunks, 1) if len(chunks) > 1 else ())]:
        start = part_page(DIGESTS, number) if number else DIGESTS
        yield DigestsPage(
            **page_head(context, start, title=part_title(phrase("Digests"), number), section="timeline"),
            feeds=_feeds(start),
            parts=part_links(start, DIGESTS, number or len(chunks), number) if len(chunks) > 1 else (),
            **_shown(context, start, chunk),
        )


class _Shown(TypedDict):
    span: str
    digests: tuple[tuple[Reference, int], ...]
    months: tuple[CalendarMonth, ...]


def _shown(context: Context, start: str, digests: Sequence[Digest]) -> _Shown:
    """Weeks as a list, days as a calendar."""
    if context.feeds.is_weekly:
        weeks = tuple((_link(context, start, digest), len(digest.artifacts)) for digest in reversed(digests))
        return {"span": "week", "digests": weeks, "months": ()}
    days = {digest.day: (len(digest.artifacts), relative(start, digest_page(digest.day))) for digest in digests}
    return {"span": "day", "digests": (), "months": calendar_months(days)}


def _feed(context: Context, digests: Sequence[Digest]) -> Feed:
    base = context.site.base_url
    return Feed(
        title=phrase("{title}: digests", title=context.site.title),
        description=phrase("What arrived, one item for each complete week.")
        if context.feeds.is_weekly
        else phrase("What arrived, one item for each complete day."),
        language=context.site.language,
        generator=context.site.generator,
        fallback_link=f"urn:memosite:{context.archive_id}",
        items=tuple(_item(context, digest) for digest in reversed(digests[-context.feeds.window :])),
        link=absolute(base, DIGESTS) if base else None,
        address=absolute(base, DIGESTS + "feed.xml") if base else None,
        ttl=context.feeds.ttl,
        has_content=True,
    )


def _item(context: Context, digest: Digest) -> FeedItem:
    """A digest as an item; its id differs for a week and for its first day. `path` is that of its page in the site."""
    base = context.site.base_url
    page = digest_page(digest.day)
    title = _title(context, digest)
    shown = newest(digest.artifacts, LISTED)
    more = len(digest.artifacts) - len(shown)
    rows = [(absolute(base, page_of(one)) if base else None, one.short_subject, _who(one)) for one in shown]
    if more:
        rows.append((absolute(base, page) if base else None, phrase("{more} more", more=more), ""))
    return FeedItem(
        guid=tag_uri(
            context.authority,
            context.archive_id,
            "digest",
            f"week-{digest.day}" if context.feeds.is_weekly else digest.day,
        ),
        title=joined(": ", (title, _counts(digest))),
        path=index_file(page),
        repo="",
        sender=context.site.title,
        to="",
        subject=title,
        sha256="",
        action_required=False,
        sent=digest.end.isoformat().replace("+00:00", "Z"),
        link=absolute(base, page) if base else None,
        date=Moment(instant=digest.end, offset=0),
        notice=phrase("digest of week from {day}: {counts}", day=digest.day, counts=_counts(digest))
        if context.feeds.is_weekly
        else phrase("digest of {day}: {counts}", day=digest.day, counts=_counts(digest)),
        rows=tuple(rows),
    )


def _who(artifact: Artifact) -> str:
    if not isinstance(artifact, Memo) or artifact.kind != "memo":
        return kind_word(artifact.kind)
    sender, to = artifact.sender, ", ".join(artifact.to[:3])
    if len(artifact.to) > 3:
        who = phrase("{sender} to {to} and others", sender=sender, to=to)
    else:
        who = phrase("{sender} to {to}", sender=sender, to=to)
    return phrase("{who}; action {state}", who=who, state=action_word(artifact.action)) if artifact.action else who
