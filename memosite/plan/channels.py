"""Plans which feeds exist, and the members of each, in order of arrival (FEEDS, which feeds)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memosite.archive.ledger import Ledger
from memosite.archive.model import Action, Artifact, Memo, Position, Transcript
from memosite.archive.urls import ACTIONS, HOME, position_page, saved_page, system_page, thread_page
from memosite.facts.phrases import joined, phrase
from memosite.plan.action_rows import state_feed
from memosite.plan.asked import states_of
from memosite.plan.context import Context
from memosite.plan.dates import by_arrival
from memosite.plan.position_items import received
from memosite.plan.removed import former_positions, former_threads
from memosite.plan.saved_searches import SavedSearch, former_searches
from memosite.plan.systems import published_systems

ChannelGroup = Literal["Everything", "Positions", "Records", "Searches", "Threads", "Former"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A feed: its path, and its members in order of arrival.

    `stem` is its path without extension. `page` is what it is the feed of. `also` are other folders in which the same
    feed is found, as they were published once.
    """

    group: ChannelGroup
    folder: str
    name: str
    title: str
    description: str
    page: str
    members: Sequence[Artifact]
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
    everything = tuple(context.archive.artifacts.values())
    yield _channel(
        "Everything",
        HOME,
        title,
        phrase("Everything that arrives in this archive."),
        everything,
        page=HOME,
        has_json=True,
    )
    yield from _action_channels(context, title)
    for system in published_systems(context, ledger):
        page = system_page(system)
        records = context.records.get(system, [])
        yield _channel(
            "Records", page, f"{title}: {system}", phrase("Records of {system}.", system=system), records, page=page
        )
    for saved in searches:
        page = saved_page(saved.name)
        found = (artifact for artifact in everything if artifact.ref in saved.found)
        yield _channel(
            "Searches",
            page,
            f"{title}: {saved.name}",
            phrase("Results of: {query}", query=saved.query),
            found,
            page=page,
        )
    for name in former_searches(ledger, searches):
        page = saved_page(name)
        yield _channel("Former", page, f"{title}: {name}", phrase("A search that is no longer saved."), (), page=page)
    yield from _position_channels(context, ledger)
    yield from _thread_channels(context, ledger)


_ACTIONS: Mapping[Action, tuple[str, str]] = {
    "open": (phrase("open actions"), phrase("Memos that ask for something which somebody has not done.")),
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
    asked: dict[Action, list[Memo]] = {state: [] for state in _ACTIONS}
    for memo in context.memos:
        if memo.kind == "memo" and memo.action is not None:
            for state in states_of(memo):
                asked[state].append(memo)
    for state, (name, text) in _ACTIONS.items():
        folder = state_feed(state).removesuffix("feed.xml")
        page = ACTIONS if state == "open" else folder
        channel = _channel("Everything", folder, joined(": ", (title, name)), text, asked[state], page=page)
        yield replace(channel, label=name)


def closed_channel(stem: str) -> Channel:
    """The channel of a feed that continues under another name and has published archive documents."""
    folder, slash, name = stem.rpartition("/")
    text = phrase("Older items of a feed that continues at another address.")
    return _channel("Former", folder + slash, folder, text, (), page=folder + slash, name=name)


def _channel(
    group: ChannelGroup,
    folder: str,
    title: str,
    description: str,
    members: Iterable[Artifact],
    *,
    page: str,
    name: str = "feed",
    position: Position | None = None,
    has_json: bool = False,
    has_full: bool = False,
    also: Iterable[str] = (),
) -> Channel:
    return Channel(
        group=group,
        folder=folder,
        name=name,
        title=title,
        description=description,
        page=page,
        members=tuple(members),
        position=position,
        has_json=has_json,
        has_full=has_full,
        also=tuple(also),
    )


def _position_channels(context: Context, ledger: Ledger) -> Iterator[Channel]:
    """Three feeds a position, under every other name it goes by, too (SPEC 3)."""
    former = _by_present(former_positions(context, ledger))
    for position in context.archive.positions.values():
        names = (*context.other_names(position), *former.get(position.id, ()))
        yield from _of_position(context, position, "Positions", tuple(map(position_page, names)))
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
    page = position_page(position.id)
    label = context.label(position.id)
    return _channel(
        group,
        page,
        phrase("{title}: memos to {position}", title=context.site.title, position=label),
        phrase("Memos to {position} and to all. The description of each item is the memo's path.", position=label),
        received(context, position),
        page=page,
        position=position,
        has_json=True,
        has_full=context.feeds.full_content,
        also=also,
    )


def _of_position(context: Context, position: Position, group: ChannelGroup, also: tuple[str, ...]) -> Iterator[Channel]:
    page = position_page(position.id)
    label = context.label(position.id)
    members = {position.id, *position.union_of}
    filed = [
        one
        for one in context.by_position.get(position.id, ())
        if one.kind != "memo" and isinstance(one, Memo | Transcript) and one.role in members
    ]
    yield position_channel(context, position, group, also)
    for name, kind in (("notes", "note"), ("transcripts", "transcript")):
        found = (one for one in filed if one.kind == kind)
        if name == "notes":
            title = phrase("{title}: notes of {position}", title=context.site.title, position=label)
            text = phrase("Notes filed for {position}.", position=label)
        else:
            title = phrase("{title}: transcripts of {position}", title=context.site.title, position=label)
            text = phrase("Transcripts filed for {position}.", position=label)
        yield _channel(group, page, title, text, found, page=page, name=name, position=position, also=also)


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
        page, title = thread_page(id_), f"{context.site.title}: {id_}"
        yield _channel("Former", page, title, phrase("A removed thread."), (), page=page)


def _thread_channel(context: Context, id_: str, thread_id: str, group: ChannelGroup, former: Iterable[str]) -> Channel:
    memos = [context.archive.artifacts[ref] for ref in context.archive.threads[thread_id].memos]
    memos.sort(key=by_arrival)
    return _channel(
        group,
        thread_page(id_),
        f"{context.site.title}: {context.thread_label(thread_id)}",
        phrase("The memos of a thread."),
        memos,
        page=context.thread_target(thread_id),
        also=map(thread_page, former),
    )
