"""Plans which feeds exist, with their members, and the documents and items of each (FEEDS).

    members, by arrival ─┬─► blocks of 50: archive documents, full ones as the ledger holds them
                         └─► window: unread, newest, recent, and what is in no full block

Every item is in a block, also while it is in the window. A feed links to its last full block, and full blocks link
to those before them: full blocks never change, since clients may keep them for ever (RFC 5005, 4), and what is in no
full block is always in the window, so that a client that follows `prev-archive` finds everything.
"""

import datetime as dt
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, Literal

from memosite.archive import urls
from memosite.archive.ledger import FeedBlock, Ledger
from memosite.archive.lines import notice_of, original_sha256
from memosite.archive.mailboxes import action_for, copies_at, states_of
from memosite.archive.model import Action, Artifact, Copy, Memo, Position, Transcript
from memosite.facts.names import ENVELOPE_SUFFIX, first_stem
from memosite.facts.parsed import Ref
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line, is_visible
from memosite.facts.values import Value, replace
from memosite.feeds import CONTROLS, ITEM_BYTES, Enclosure, Feed, FeedFile, FeedItem, tag_uri
from memosite.pages import Body
from memosite.plan.actions import state_feed, state_page
from memosite.plan.artifact_page import SUBJECT_CHARS, memo_bodies, originals
from memosite.plan.context import Context, Unit
from memosite.plan.dates import by_arrival
from memosite.plan.positions import received, sessions_of
from memosite.plan.records import published_systems
from memosite.plan.removed import former_positions, former_threads
from memosite.plan.search import SavedSearch, former_searches
from memosite.plan.sessions import published_sessions

# Plans which feeds exist, and the members of each, in order of arrival (FEEDS, which feeds).


ChannelGroup = Literal["Everything", "Positions", "Records", "Sessions", "Searches", "Threads", "Former"]


class Channel(Value):
    """A feed: its path, and its members in order of arrival.

    `stem` is its path without extension. `page` is what it is the feed of. `also` are other folders in which the same
    feed is found, as they were published once.
    """

    group: ChannelGroup
    folder: str
    name: str = "feed"
    title: str
    description: str
    page: str
    members: Sequence[Artifact] = ()
    position: Position | None = None
    has_json: bool = False
    has_full: bool = False
    also: tuple[str, ...] = ()
    label: str = ""
    """What it is called where the site is known; "" if that follows from its title."""

    @property
    def stem(self) -> str:
        """The path of its RSS document, without extension."""
        return self.folder + self.name


def all_channels(context: Context, ledger: Ledger, searches: Sequence[SavedSearch]) -> Iterator[Channel]:
    """Every feed of artifacts, those of former positions and threads included."""
    title = context.site.title
    everything = tuple(artifact for artifact in context.archive.artifacts.values() if artifact.is_announced)
    text = phrase("Everything that arrives in this archive.")
    yield replace(_channel("Everything", urls.HOME, title, text, everything), has_json=True)
    yield from _action_channels(context, title)
    for system in published_systems(context, ledger):
        text = phrase("Records of {system}.", system=system)
        yield _channel("Records", urls.system_page(system), f"{title}: {system}", text, context.records.get(system, ()))
    for page, (source, sessions) in published_sessions(context, ledger).items():
        text = phrase("Sessions whose logs are in {source}.", source=source)
        label = phrase("sessions in {source}", source=source)
        yield replace(_channel("Sessions", page, joined(": ", (title, label)), text, sessions), label=source)
    for saved in searches:
        found = (artifact for ref, artifact in context.archive.artifacts.items() if ref in saved.found)
        text = phrase("Results of: {query}", query=saved.query)
        yield _channel("Searches", urls.saved_page(saved.name), f"{title}: {saved.name}", text, found)
    for name in former_searches(ledger, searches):
        yield _channel("Former", urls.saved_page(name), f"{title}: {name}", phrase("A search that is no longer saved."))
    yield from _position_channels(context, ledger)
    yield from _thread_channels(context, ledger)


_ACTIONS: Mapping[Action, tuple[str, str]] = {
    "open": (
        phrase("open actions"),
        phrase("Memos that ask for something which somebody has not done, and decisions that are pending."),
    ),
    "superseded": (
        phrase("superseded actions"),
        phrase("Memos that ask for something, and that a later memo took the place of."),
    ),
    "answered": (
        phrase("answered actions"),
        phrase("Memos that ask for something and are answered, until they are closed."),
    ),
    "discharged": (phrase("closed actions"), phrase("Memos that ask for something which is closed.")),
}
"""The title and the description of the feed of each state."""


def _action_channels(context: Context, title: str) -> Iterator[Channel]:
    asked: dict[Action, list[Artifact]] = {state: [] for state in _ACTIONS}
    for artifact in context.archive.artifacts.values():
        for state in states_of(artifact):
            asked[state].append(artifact)
    for state, (name, text) in _ACTIONS.items():
        folder = state_feed(state).removesuffix("feed.xml")
        channel = _channel("Everything", folder, joined(": ", (title, name)), text, asked[state])
        yield replace(channel, label=name, page=urls.ACTIONS if state == "open" else state_page(state))


def closed_channel(stem: str) -> Channel:
    """The channel of a feed that continues under another name and has published archive documents."""
    folder, slash, name = stem.rpartition("/")
    text = phrase("Older items of a feed that continues at another address.")
    return replace(_channel("Former", folder + slash, folder, text), name=name)


def _channel(group: ChannelGroup, page: str, title: str, description: str, members: Iterable[Artifact] = ()) -> Channel:
    """The feed of a page, which is beside it."""
    return Channel(group=group, folder=page, title=title, description=description, page=page, members=tuple(members))


def _position_channels(context: Context, ledger: Ledger) -> Iterator[Channel]:
    """Three feeds a position, under every other name it goes by, too (SPEC 3)."""
    former = _by_present(former_positions(context, ledger))
    for position in context.archive.positions.values():
        names = (*context.other_names(position), *former.get(position.id, ()))
        yield from _of_position(context, position, "Positions", tuple(map(urls.position_page, names)))
    for id_ in former.get(None, ()):
        yield from _of_position(context, Position(id=id_, name=id_), "Former", ())


def _by_present(former: Iterable[tuple[str, str | None]]) -> Mapping[str | None, Sequence[str]]:
    """Former ids by the position they stand for now, if any."""
    found: dict[str | None, list[str]] = defaultdict(list)
    for id_, now in former:
        found[now].append(id_)
    return found


def position_channel(
    context: Context, position: Position, group: ChannelGroup = "Positions", also: tuple[str, ...] = ()
) -> Channel:
    """The feed of a position: memos to it and to all."""
    label = context.label(position.id)
    title = phrase("{title}: memos to {position}", title=context.site.title, position=label)
    text = phrase("Memos to {position} and to all. The description of each item is the memo's path.", position=label)
    channel = _channel(group, urls.position_page(position.id), title, text, received(context, position))
    return replace(channel, position=position, has_json=True, has_full=context.feeds.full_content, also=also)


def _of_position(context: Context, position: Position, group: ChannelGroup, also: tuple[str, ...]) -> Iterator[Channel]:
    page, label = urls.position_page(position.id), context.label(position.id)
    every = context.by_position.get(position.id, ())
    filed = [one for one in every if isinstance(one, Memo | Transcript) and one.role in position.members]
    filed = [one for one in filed if one.is_announced]
    yield position_channel(context, position, group, also)
    notes = phrase("{title}: notes of {position}", title=context.site.title, position=label)
    transcripts = phrase("{title}: transcripts of {position}", title=context.site.title, position=label)
    for name, title, text in (
        ("notes", notes, phrase("Notes filed for {position}.", position=label)),
        ("transcripts", transcripts, phrase("Transcripts filed for {position}.", position=label)),
    ):
        found = (one for one in filed if f"{one.kind}s" == name)
        yield replace(_channel(group, page, title, text, found), name=name, position=position, also=also)
    if sessions := sessions_of(context, position):
        title = phrase("{title}: sessions of {position}", title=context.site.title, position=label)
        text = phrase("Sessions of {position}, as agents logged them.", position=label)
        yield replace(_channel(group, page, title, text, sessions), name="sessions", position=position, also=also)


def _thread_channels(context: Context, ledger: Ledger) -> Iterator[Channel]:
    """A feed for each thread of two or more, and where such a one was published once."""
    former = _by_present(former_threads(context, ledger))
    for thread in context.archive.threads.values():
        if context.thread_sizes[thread.id] > 1:
            yield _thread_channel(context, thread.id, thread.id, "Threads", former.get(thread.id, ()))
        else:
            for id_ in former.get(thread.id, ()):
                yield _thread_channel(context, id_, thread.id, "Former", ())
    for id_ in former.get(None, ()):
        yield _channel("Former", urls.thread_page(id_), f"{context.site.title}: {id_}", phrase("A removed thread."))


def _thread_channel(context: Context, id_: str, thread_id: str, group: ChannelGroup, former: Iterable[str]) -> Channel:
    memos = [context.archive.artifacts[ref] for ref in context.archive.threads[thread_id].memos]
    memos.sort(key=by_arrival)
    title = f"{context.site.title}: {context.thread_label(thread_id)}"
    channel = _channel(group, urls.thread_page(id_), title, phrase("The memos of a thread."), memos)
    return replace(channel, page=context.thread_target(thread_id), also=tuple(map(urls.thread_page, former)))


# Plans the items of feeds: how each artifact is announced (FEEDS, item).


ALL_ITEMS_BYTES = 1_000_000
"""The most bytes that the text of one memo takes in all feeds together."""


_ADDRESSEE_CHARS = 2_000


_FORMER = 10
"""How many former ids an item names, the last ones."""


_FURTHEST = ("archive", "read", "inbox", "flat", None)


_TYPES = ((".md", "text/markdown"), (".jsonl", "application/jsonl"), (".txt", "text/plain"))


def plan_item(context: Context, artifact: Artifact, position: Position | None, *, has_content: bool) -> FeedItem:
    """An artifact as a feed announces it; of a memo, the copy in the repo of the position the feed is for.

    `has_content` adds the texts of memos, and of what was erased the reason.
    """
    base = context.site.base_url
    copy = _copy_for(context, artifact, position)
    sent = artifact.date if artifact.date and artifact.date.origin == "field" else None
    known: dict[str, Any] = {"sender": copy.file.source, "to": "", "action_required": False}
    known["title"] = artifact.short_subject if is_visible(artifact.short_subject) else artifact.id
    known["subject"] = cut_line(artifact.subject, SUBJECT_CHARS)
    if isinstance(artifact, Memo):
        known |= _of_memo(context, artifact, copy, position)
        known["contents"] = tuple(_contents(context, artifact)) if has_content else ()
        known["most_bytes"] = _most_bytes(context, artifact)
    elif isinstance(artifact, Transcript):
        envelope = artifact.envelope
        speakers = [artifact.log.agent] if artifact.log else [one.position for one in envelope.participants]
        known["sender"] = context.label(artifact.role) if artifact.role else next(iter(speakers), copy.file.source)
        known["to"] = "" if artifact.log else cut_line(", ".join(speakers), _ADDRESSEE_CHARS)
        known["body_ref"] = envelope.body_ref
    path, original = _without_controls(copy.file.path), artifact.shown_file
    if artifact.withheld:  # the item has the path alone (SPEC 9)
        known |= {"title": path, "subject": path, "body_ref": None}
        notice = notice_of(artifact) if has_content and artifact.withheld.reason == "erased" else None
        known["reason"] = notice.reason if notice else ""
    former = () if artifact.withheld else artifact.former[-_FORMER:]
    return FeedItem(
        guid=tag_uri(context.authority, context.archive_id, artifact.kind, artifact.id),
        former=tuple(tag_uri(context.authority, context.archive_id, artifact.kind, id_) for id_ in former),
        path=path,
        repo=copy.file.source,
        sha256="" if original.is_redacted else original_sha256(artifact, original),
        link=context.canonical(urls.page_of(artifact)),
        date=sent,
        sent=sent.utc if sent else "",
        enclosure=_enclosure(context, base, artifact) if base and not artifact.withheld else None,
        **known,
    )


def erased_item(context: Context, ref: Ref) -> FeedItem:
    """What was erased and is in no source any more, in an archive document: its guid, and where git had it last.

    It is in no mailbox in which it would wait for anybody.
    """
    removal = context.archive.removed.get(ref)
    path = _without_controls(removal.events[-1].path) if removal and removal.stem else f"{ref[1]}{ENVELOPE_SUFFIX}"
    return FeedItem(
        guid=tag_uri(context.authority, context.archive_id, *ref),
        title=path,
        path=path,
        repo=removal.source if removal else "",
        sender="unknown",
        to="",
        subject=path,
        sha256="",
        action_required=False,
        link=context.canonical(urls.artifact_page(ref)) if ref[0] != "record" else None,
        state="archive",
    )


def _without_controls(path: str) -> str:
    """A path as it may be announced: on one line, in the order in which it is read."""
    if path.isprintable():  # most are, and a path is announced in several feeds
        return path
    return "".join("\ufffd" if unicodedata.category(char) in CONTROLS else char for char in path)


def _of_memo(context: Context, memo: Memo, copy: Copy, position: Position | None) -> dict[str, Any]:
    """The fields of a memo's item besides those of any artifact's item."""
    envelope = memo.variants[copy.variant].envelope
    members = position.members if position and position.id in context.archive.positions else ()
    return {
        "sender": memo.author,
        "to": cut_line(", ".join(memo.to), _ADDRESSEE_CHARS),
        "action_required": envelope.action_required,
        "is_open": action_for(memo, members) == "open" if members else bool(memo.owed_by),
        "thread_id": envelope.thread_id,
        "in_reply_to": first_stem(envelope.in_reply_to),
        "parent_guid": tag_uri(context.authority, context.archive_id, *memo.parent) if memo.parent else None,
        "body_ref": envelope.body_ref,
        "state": copy.mailbox,
    }


def _enclosure(context: Context, base: str, artifact: Artifact) -> Enclosure | None:
    """The original: of an entry of a long list its own text; none if it is in a bundle, or is not published."""
    if context.site.is_lean:
        return None
    published = next(iter(originals(artifact)), None)
    if published is None:
        return None
    _, path, sha256 = published
    media_type = next((kind for ending, kind in _TYPES if path.endswith(ending)), "application/json")
    file = artifact.shown_file
    length = file.bytes if sha256 == file.sha256 else len(context.text_of(sha256).encode("utf-8", "replace"))
    return Enclosure(url=urls.absolute(base, path), length=length, type=media_type)


def _copy_for(context: Context, artifact: Artifact, position: Position | None) -> Copy:
    """The copy in the position's own repo (of a union, in any of its repos), furthest on its way; else the first.

    If the feed is for no position, the memo's recipients are used.
    """
    if not isinstance(artifact, Memo):
        return artifact.copies[0]
    ids = position.members if position else tuple(one.position for one in artifact.recipients)
    for id_ in ids:
        repo = context.archive.positions[id_].repo if id_ in context.archive.positions else None
        here = copies_at(artifact.copies, repo)
        if here[0].file.source == repo:
            return min(here, key=lambda copy: _FURTHEST.index(copy.mailbox))
    return artifact.copies[0]


def _most_bytes(context: Context, memo: Memo) -> int:
    """How much of a feed a memo's texts may take: less if it is to so many that it is in very many feeds (SPEC 9)."""
    feeds = len(context.position_ids) if memo.is_broadcast else len(memo.recipients)
    return min(ITEM_BYTES, ALL_ITEMS_BYTES // max(feeds, 1))


def _contents(context: Context, memo: Memo) -> Iterable[Body]:
    """The texts of a memo with absolute links; without an address of the site there is nothing to link to."""
    base = context.site.base_url
    for body in memo_bodies(context, "", memo):
        if body is not None:
            links = tuple((written, _absolute(base, href)) for written, href in body.links) if base else ()
            yield replace(body, links=links, images=())


def _absolute(base: str, href: str) -> str:
    """A link from the top of the site, or to elsewhere, as an absolute one; pages are named by their folder."""
    if "://" in href or href.startswith("mailto:"):
        return href
    path, mark, fragment = href.partition("#")
    return base + path.removesuffix("index.html") + mark + fragment


# Plans the documents of each feed: its window, its archive documents, its other forms (FEEDS, window).


BLOCK = 50
"""How many items a full archive document holds (FEEDS, window)."""


FULL_CONTENT = 50
"""How many items a feed with texts holds (FEEDS, which feeds)."""


FEED_ITEMS = 5_000
"""The most items of a window, so that no feed outgrows what readers take; all others are in archive documents."""


_about = attrgetter(*(name for name in Channel.__struct_fields__ if name != "members"))
"""The description of a feed, without its members."""


class Arranged(Value):
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
        closed, numbers_held = closed_channel(stem), _held(full, present)
        arranged.append(Arranged(channel=closed, full=tuple(full), held=numbers_held, rest=(), is_closed=True))
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
    feed = _feed(context, channel, f"{channel.stem}.xml", _newest_first(window(context, arranged, found)))
    if previous is not None:
        feed = replace(feed, previous=_block_address(context, channel, previous))
    forms = [(f"{channel.name}.xml", FeedFile(path="", form="rss", feed=feed))]
    if channel.has_json:
        address = context.canonical(f"{channel.stem}.json")
        forms.append((f"{channel.name}.json", FeedFile(path="", form="json", feed=replace(feed, address=address))))
    if channel.has_full:
        name = f"{channel.name}-full.xml"
        full = _feed(context, channel, channel.folder + name, _newest_first(found[-FULL_CONTENT:]), has_content=True)
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
        archive_of=context.canonical(f"{channel.stem}.xml"),
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
    return Feed(
        title=channel.title,
        description=channel.description,
        language=context.site.language,
        generator=context.site.generator,
        position=channel.position.id if channel.position else None,
        fallback_link=f"urn:memosite:{context.archive_id}",
        items=tuple(plan_item(context, one, channel.position, has_content=has_content) for one in artifacts),
        link=context.canonical(channel.page),
        address=context.canonical(path),
        ttl=context.feeds.ttl,
        has_content=has_content,
    )


def _block_address(context: Context, channel: Channel, number: int) -> str:
    """Where an archive document is: without a base_url relative, in a form that also works under other names."""
    path = f"{channel.stem}-{number}.xml"
    if context.site.base_url:
        return urls.absolute(context.site.base_url, path)
    beside = f"{channel.folder.removesuffix('/').rpartition('/')[0]}/-/".lstrip("/") if channel.folder else ""
    return urls.relative(beside, path)
