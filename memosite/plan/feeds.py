"""Plans the documents of each feed: its window, its archive documents, its other forms (FEEDS, window).

    members, by arrival ─┬─► blocks of 50: archive documents, full ones as the ledger holds them
                         └─► window: unread, newest, recent, and what is in no full block

Every item is in a block, also while it is in the window. A feed links to its last full block, and full blocks link
to those before them: full blocks never change, since clients may keep them for ever (RFC 5005, 4), and what is in no
full block is always in the window, so that a client that follows `prev-archive` finds everything.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from operator import attrgetter

from memosite.archive.ledger import FeedBlock, Ledger
from memosite.archive.model import Artifact, Memo, Position
from memosite.archive.urls import absolute, relative
from memosite.facts.parsed import Ref
from memosite.feeds.rss import Feed, FeedFile, FeedItem
from memosite.plan.channels import Channel, closed_channel, position_channel
from memosite.plan.context import Context
from memosite.plan.feed_items import erased_item, plan_item
from memosite.plan.units import Unit

BLOCK = 50
"""How many items a full archive document holds (FEEDS, window)."""

FULL_CONTENT = 50
"""How many items a feed with texts holds (FEEDS, which feeds)."""

FEED_ITEMS = 5_000
"""The most items of a window, so that no feed outgrows what readers take; all others are in archive documents."""


_about = attrgetter(*(field.name for field in fields(Channel) if field.name != "members"))
"""The description of a feed, without its members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """A channel's members by arrival: full blocks, which may name removed artifacts, and the rest.

    `held` are the numbers of full blocks, from 1, that still hold something: nothing links to the others, since an
    empty archive document ends a walk. `is_closed` says that only the archive documents are left, since the feed goes
    on elsewhere.
    """

    channel: Channel
    full: tuple[tuple[Ref, ...], ...]
    held: tuple[int, ...]
    rest: tuple[Artifact, ...]
    is_closed: bool = False


def arrange(
    channels: Iterable[Channel], ledger: Ledger, present: Container[Ref]
) -> tuple[list[Arranged], list[FeedBlock]]:
    """Each channel with its blocks, and the blocks that have become full since the ledger was written.

    What joins a feed later, though it arrived earlier (a position got another name), comes after what is in a full
    block already. `present` are those that archive documents hold.
    """
    refs = {arrival.number: arrival.ref for arrival in ledger.arrivals}
    numbers = {ref: number for number, ref in refs.items()}
    known: dict[str, list[FeedBlock]] = defaultdict(list)
    for block in ledger.blocks:
        known[block.feed].append(block)
    arranged, new = [], []
    for channel in channels:
        full = [_refs_of(block, refs) for block in known.get(channel.stem, ())]
        held = frozenset(chain.from_iterable(full))
        rest = [one for one in channel.members if one.ref not in held] if held else channel.members
        while len(rest) >= BLOCK:
            block_refs = tuple(one.ref for one in rest[:BLOCK])
            full.append(block_refs)
            new.append(FeedBlock(feed=channel.stem, number=len(full), items=tuple(numbers[ref] for ref in block_refs)))
            rest = rest[BLOCK:]
        arranged.append(Arranged(channel=channel, full=tuple(full), held=_held(full, present), rest=tuple(rest)))
    for stem in sorted(known.keys() - {one.channel.stem for one in arranged}):
        full = [_refs_of(block, refs) for block in known[stem]]
        held_numbers = _held(full, present)
        closed = closed_channel(stem)
        arranged.append(Arranged(channel=closed, full=tuple(full), held=held_numbers, rest=(), is_closed=True))
    return arranged, new


def _refs_of(block: FeedBlock, refs: Mapping[int, Ref]) -> tuple[Ref, ...]:
    return tuple(refs[number] for number in block.items if number in refs)


def _held(full: Iterable[Iterable[Ref]], present: Container[Ref]) -> tuple[int, ...]:
    return tuple(number for number, block in enumerate(full, 1) if any(ref in present for ref in block))


_GIVEN_AS = "the name of the feed or its items"


def feed_units(arranged: Iterable[Arranged]) -> Iterator[Unit]:
    """The documents of every feed; archive documents come before the feed that links to them.

    Full ones are units by themselves: later arrivals do not change them.
    """
    for one in arranged:
        channel = one.channel
        about = _about(channel)
        previous, held = None, frozenset(one.held)
        for number, block in enumerate(one.full, 1):
            yield Unit(
                name=f"feed/{one.channel.stem}-{number}",
                make=partial(_plan_archive, channel=channel, number=number, previous=previous, block=block),
                given=(about, number, previous, block),
                given_as=_GIVEN_AS,
                weight=5,
            )
            previous = number if number in held else previous
        if not one.is_closed:
            given = (about, one.full, one.held, channel.members)  # the rest is what is in no block
            make = partial(_plan_feed, arranged=one)
            yield Unit(name=f"feed/{channel.stem}", make=make, given=given, given_as=_GIVEN_AS, weight=5)


def plan_whole_feed(context: Context, position: Position) -> Feed:
    """All memos to a position in one feed, for readers of the repos themselves; the guids are those of its feed."""
    channel = position_channel(context, position)
    return _feed(context, channel, f"{channel.stem}.xml", _newest_first(channel.members))


def _plan_feed(context: Context, *, arranged: Arranged) -> Iterator[FeedFile]:
    channel = arranged.channel
    previous = arranged.held[-1] if arranged.held else None
    if arranged.full and arranged.rest:
        rest = [one.ref for one in arranged.rest]
        number = len(arranged.full) + 1
        yield from _plan_archive(context, channel=channel, number=number, previous=previous, block=rest)
    found = _by_arrival(arranged)
    shown = window(context, arranged, found)
    feed = _feed(context, channel, f"{channel.stem}.xml", _newest_first(shown))
    if previous is not None:
        feed = replace(feed, previous=_block_address(context, channel, previous))
    forms = [(f"{channel.name}.xml", FeedFile(path="", form="rss", feed=feed))]
    if channel.has_json:
        address = _address(context, f"{channel.stem}.json")
        forms.append((f"{channel.name}.json", FeedFile(path="", form="json", feed=replace(feed, address=address))))
    if channel.has_full:
        name = f"{channel.name}-full.xml"
        newest = _newest_first(found[-FULL_CONTENT:])
        full = _feed(context, channel, channel.folder + name, newest, has_content=True)
        forms.append((name, FeedFile(path="", form="rss", feed=replace(full, previous=feed.previous))))
    for name, file in forms:
        for folder in (channel.folder, *channel.also):
            yield replace(file, path=folder + name)


def _plan_archive(
    context: Context, *, channel: Channel, number: int, previous: int | None, block: Sequence[Ref]
) -> Iterator[FeedFile]:
    """A block as a document, with the last arrived first, an order that no edit changes.

    What was removed is not in it any more, but what was erased keeps its place (SPEC 9).
    """
    path = f"{channel.stem}-{number}.xml"
    items = (_archived(context, channel, ref) for ref in reversed(block))
    feed = replace(
        _feed(context, channel, path, ()),
        items=tuple(item for item in items if item is not None),
        is_archive=True,
        archive_of=_address(context, f"{channel.stem}.xml"),
        previous=_block_address(context, channel, previous) if previous is not None else None,
    )
    yield FeedFile(path=path, form="rss", feed=feed)


def _archived(context: Context, channel: Channel, ref: Ref) -> FeedItem | None:
    artifact = context.archive.artifacts.get(ref)
    if artifact is not None:
        return plan_item(context, artifact, channel.position, has_content=False)
    return erased_item(context, ref) if ref in context.archive.erased else None


def _by_arrival(arranged: Arranged) -> list[Artifact]:
    """All items that a feed may announce, by arrival: those in full blocks, then the rest."""
    if not arranged.full:
        return list(arranged.rest)
    members = {one.ref: one for one in arranged.channel.members}
    return [*(members[ref] for ref in chain.from_iterable(arranged.full) if ref in members), *arranged.rest]


def window(context: Context, arranged: Arranged, found: Sequence[Artifact]) -> list[Artifact]:
    """All unread memos, the newest 50, and those of 30 days before the newest, by arrival (FEEDS, window).

    What is in no full block belongs to it in any case, and as many as a block holds: what joins a feed late may become
    the first of a block that is full at once. Unread memos exist only for the feed of a position. `found` is all
    that the feed may announce.
    """
    position = arranged.channel.position
    newest = chain(arranged.rest, found[-max(context.feeds.window, BLOCK) :], _recent(context, arranged.channel))
    chosen = {one.ref for one in newest}
    if position is not None and position.id in context.archive.positions:
        chosen |= {one.ref for one in found if isinstance(one, Memo) and context.is_unread(one, position.id)}
    return [one for one in found if one.ref in chosen][-FEED_ITEMS:]


def _recent(context: Context, channel: Channel) -> Iterator[Artifact]:
    """The artifacts that arrived in the days before the last arrival, the last first.

    What arrived earlier has no later time (`arrivals`): so older ones are not looked at.
    """
    times = context.arrival_times
    since: dt.datetime | None = None
    for one in reversed(channel.members):
        time = times.get(one.ref)
        if time is None:  # it came before the first that has a date
            return
        since = since or _before(time, context.feeds.days)
        if time < since:
            return
        yield one


def _before(moment: dt.datetime, days: int) -> dt.datetime:
    try:
        return moment - dt.timedelta(days=days)
    except OverflowError:
        return dt.datetime.min.replace(tzinfo=dt.UTC)


def _newest_first(artifacts: Iterable[Artifact]) -> list[Artifact]:
    """Newest first by (sent, id); what has no date comes last (FEEDS, item)."""
    oldest = dt.datetime.min.replace(tzinfo=dt.UTC)
    return sorted(artifacts, key=lambda one: (one.date.instant if one.date else oldest, one.id, one.kind), reverse=True)


def _feed(
    context: Context, channel: Channel, path: str, artifacts: Sequence[Artifact], *, has_content: bool = False
) -> Feed:
    base = context.site.base_url
    return Feed(
        title=channel.title,
        description=channel.description,
        language=context.site.language,
        generator=context.site.generator,
        position=channel.position.id if channel.position else None,
        fallback_link=f"urn:memosite:{context.archive_id}",
        items=tuple(plan_item(context, one, channel.position, has_content=has_content) for one in artifacts),
        link=absolute(base, channel.page) if base else None,
        address=_address(context, path),
        ttl=context.feeds.ttl,
        has_content=has_content,
    )


def _address(context: Context, path: str) -> str | None:
    return absolute(context.site.base_url, path) if context.site.base_url else None


def _block_address(context: Context, channel: Channel, number: int) -> str:
    """Where an archive document is: without a base_url relative, in a form that also works under other names."""
    path = f"{channel.stem}-{number}.xml"
    if context.site.base_url:
        return absolute(context.site.base_url, path)
    beside = f"{channel.folder.removesuffix('/').rpartition('/')[0]}/-/".lstrip("/") if channel.folder else ""
    return relative(beside, path)
