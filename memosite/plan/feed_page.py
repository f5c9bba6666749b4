"""Plans the page that lists every feed and explains how to subscribe, and the OPML lists for feed readers."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from memosite.archive.urls import ADDRESS, DIGESTS, FEEDS, WEEKS, absolute, relative
from memosite.facts.phrases import phrase
from memosite.facts.values import Value
from memosite.feeds import OutlineFeed, OutlineGroup, to_opml
from memosite.pages import Page, Reference
from memosite.plan.context import Context, Unit, Written, traced_unit
from memosite.plan.feeds import Channel
from memosite.plan.page import head_of
from memosite.plan.positions import feed_name


class Subscribing(Value):
    """Arguments of the commands for subscribing, quoted for a shell: the feed of a position, that with texts, its name.

    `page` has the commands of that position, "" if it is none. `choices` are all positions, each with the path of its
    feed and its name. `outline` and `thread_outline` are the lists of feeds.
    """

    outline: Reference
    thread_outline: Reference
    example: str
    example_full: str
    name: str
    page: str
    choices: tuple[tuple[Reference, str, str], ...]


class FeedGroup(Value):
    """Feeds under a heading: the subject of each, and its documents; `total` counts those that are not listed, too."""

    heading: str
    rows: tuple[tuple[Reference, tuple[Reference, ...]], ...]
    total: int
    note: str = ""


class FeedsPage(Page):
    """Every feed, and how to subscribe."""

    template: ClassVar[str] = "feeds.html"

    groups: tuple[FeedGroup, ...]
    threads: int
    subscribing: Subscribing


OPML = "feeds.opml"


THREADS_OPML = f"{FEEDS}threads.opml"


Listed = tuple[str, str, str]
"""A feed in a list of feeds: its title, its path without extension, and the page that it is the feed of."""


_LISTED = 300


_HEADINGS = (
    ("Positions", phrase("Positions")),
    ("Everything", phrase("The whole archive")),
    ("Records", phrase("Records")),
    ("Sessions", phrase("Sessions")),
    ("Searches", phrase("Saved searches")),
)


_ONLY_SESSIONS = phrase("Empty: the archive has session logs alone, which have feeds of their own below.")


def plan_feed_page(context: Context, channels: Sequence[Channel]) -> Iterator[FeedsPage | Written]:
    """`/feeds/` and `/feeds.opml`."""
    groups: dict[str, list[Channel]] = defaultdict(list)
    for channel in channels:
        groups[channel.group].append(channel)
    memo_feeds = [one for one in groups["Positions"] if one.name == "feed"]
    base = context.site.base_url or ADDRESS
    # What was never announced but in lists of sessions is in their feeds alone.
    has_only_sessions = not channels[0].members and any(one.members for one in groups["Sessions"])
    example = next(iter(groups["Positions"]), groups["Sessions"][0] if has_only_sessions else channels[0])
    folder = absolute(base, example.folder)
    yield FeedsPage(
        **head_of(
            context,
            FEEDS,
            title=phrase("Feeds"),
            description=phrase("Every feed of this archive, and how to subscribe"),
        ),
        feeds=(Reference(label=phrase("Everything"), href=relative(FEEDS, "feed.xml")),),
        groups=tuple(
            _group(context, heading, groups[group], has_only_sessions=has_only_sessions)
            for group, heading in _HEADINGS
            if groups[group]
        ),
        threads=len(groups["Threads"]),
        subscribing=Subscribing(
            outline=Reference(
                label="feeds.opml", href=relative(FEEDS, OPML), title=phrase("all feeds but those of threads")
            ),
            thread_outline=Reference(
                label="threads.opml", href=relative(FEEDS, THREADS_OPML), title=phrase("the feeds of threads")
            ),
            example=shlex.quote(f"{folder}{example.name}.xml"),
            example_full=shlex.quote(f"{folder}{example.name}{'-full' if example.has_full else ''}.xml"),
            name=feed_name(example.position.id if example.position else example.label or "everything"),
            page=_following(context, example).href or "",
            choices=tuple(
                (
                    _following(context, one),
                    absolute("", f"{one.stem}.xml"),
                    feed_name(one.position.id if one.position else "everything"),
                )
                for one in memo_feeds[:_LISTED]
            ),
        ),
    )
    title = context.site.title
    digests = Channel(group="Everything", folder=DIGESTS, title=f"{title}: digests", description="", page=DIGESTS)
    weeks = Channel(group="Everything", folder=WEEKS, title=f"{title}: weeks", description="", page=WEEKS)
    outlines = (
        OutlineGroup(title="The whole archive", feeds=_outlines(context, [*groups["Everything"], digests, weeks])),
        OutlineGroup(title="Positions", feeds=_outlines(context, groups["Positions"])),
        OutlineGroup(title="Positions, full text", feeds=_full_outlines(context, groups["Positions"])),
        OutlineGroup(title="Records", feeds=_outlines(context, groups["Records"])),
        OutlineGroup(title="Sessions", feeds=_outlines(context, groups["Sessions"])),
        OutlineGroup(title="Saved searches", feeds=_outlines(context, groups["Searches"])),
        OutlineGroup(title="Threads", include=_address(context, THREADS_OPML)),
    )
    yield Written(path=OPML, data=to_opml(title, tuple(one for one in outlines if one.feeds or one.include)))


def thread_feeds_unit(channels: Iterable[Channel]) -> Unit:
    """The list of the threads' feeds, which `/feeds.opml` includes: a unit by itself, as it may be long."""
    threads = tuple((one.title, one.stem, one.page) for one in channels if one.group == "Threads")
    return traced_unit("feeds/threads", _plan_thread_feeds, threads=threads, given_as="the list of threads")


def _plan_thread_feeds(context: Context, *, threads: Sequence[Listed]) -> Iterator[Written]:
    group = OutlineGroup(title="Threads", feeds=tuple(_outline(context, *thread) for thread in threads))
    yield Written(path=THREADS_OPML, data=to_opml(f"{context.site.title}: threads", (group,)))


def _address(context: Context, path: str) -> str:
    """An absolute address; without a base_url the path in the site."""
    return absolute(context.site.base_url or "", path)


def _outlines(context: Context, channels: Sequence[Channel]) -> tuple[OutlineFeed, ...]:
    return tuple(_outline(context, channel.title, channel.stem, channel.page) for channel in channels)


def _full_outlines(context: Context, channels: Sequence[Channel]) -> tuple[OutlineFeed, ...]:
    """The feeds with texts, apart: subscribers of both get each memo twice."""
    return tuple(
        _outline(context, f"{channel.title}, full text", f"{channel.stem}-full", channel.page)
        for channel in channels
        if channel.has_full
    )


def _outline(context: Context, title: str, stem: str, page: str) -> OutlineFeed:
    address = _address(context, page) if context.site.base_url else ""
    return OutlineFeed(title=title, address=_address(context, f"{stem}.xml"), page=address)


def _group(context: Context, heading: str, channels: Sequence[Channel], *, has_only_sessions: bool) -> FeedGroup:
    """The feeds of a group, those of one page in one row."""
    rows: dict[str, list[Reference]] = {}
    is_of_all = heading == _HEADINGS[1][1]
    for channel in channels:
        rows.setdefault(channel.page, []).extend(_documents(channel))
    if is_of_all:
        rows[DIGESTS] = [Reference(label=phrase("feed"), href=relative(FEEDS, DIGESTS + "feed.xml"))]
        rows[WEEKS] = [Reference(label=phrase("feed"), href=relative(FEEDS, WEEKS + "feed.xml"))]
    named = {channel.page: _label(context, channel) for channel in channels}
    named |= {DIGESTS: phrase("Digests"), WEEKS: phrase("Weeks")}
    shown = list(rows)[:_LISTED]
    return FeedGroup(
        heading=heading,
        rows=tuple((Reference(label=named[page], href=relative(FEEDS, page)), tuple(rows[page])) for page in shown),
        total=len(rows),
        note=_ONLY_SESSIONS if is_of_all and has_only_sessions else "",
    )


def _following(context: Context, channel: Channel) -> Reference:
    """What a feed is of, with the page that has the commands for it."""
    return Reference(label=_label(context, channel), href=f"{relative(FEEDS, channel.page)}#follow")


def _label(context: Context, channel: Channel) -> str:
    if channel.position is not None:
        return context.label(channel.position.id)
    if channel.label:
        return channel.label
    return channel.title.removeprefix(f"{context.site.title}: ") if channel.folder else phrase("Everything")


def _documents(channel: Channel) -> Iterator[Reference]:
    feed = phrase("memos") if channel.position else phrase("feed")
    label = {
        "feed": feed,
        "notes": phrase("notes"),
        "transcripts": phrase("transcripts"),
        "sessions": phrase("sessions"),
    }.get(channel.name, channel.name)
    yield Reference(label=label, href=relative(FEEDS, f"{channel.stem}.xml"))
    if channel.has_full:
        yield Reference(label=phrase("full text"), href=relative(FEEDS, f"{channel.stem}-full.xml"))
    if channel.has_json:
        yield Reference(label="JSON", href=relative(FEEDS, f"{channel.stem}.json"))
