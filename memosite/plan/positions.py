"""Plans the page of each position: who holds it, what waits for it, how to follow it, and its stream by month.

    everything that involves it, by arrival ─┬─► the newest 200: on its page
                                             └─► parts of 500, which never change once they are full

Each month and each week has an anchor. Of those that are not on the page (any more), the page keeps the anchors beside
links to the parts, so that an address of a week stays valid.
"""

import datetime as dt
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, ClassVar
from urllib.parse import quote

from memosite import pages
from memosite.archive import urls
from memosite.archive.mailboxes import open_for, received_line, unknown_line
from memosite.archive.model import Artifact, Memo, Position, Transcript, other_name
from memosite.facts.names import make_id
from memosite.facts.parsed import BROADCAST, Organization, Relationship
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.feeds import OutlineFeed, OutlineGroup, to_opml
from memosite.plan.actions import ActionGroup, RowMaker
from memosite.plan.artifact_page import SUBJECT_CHARS, shown_extra
from memosite.plan.context import LIST_LIMIT, Context, Unit, Written, as_of, newest_day, traced_unit
from memosite.plan.dates import (
    by_arrival,
    monday,
    month_name,
    newest,
    newest_first,
    week_columns,
    week_row,
    weeks_between,
)
from memosite.plan.page import head_of, in_parts, list_twins, part_count, part_links, plan_part, section, twin_links
from memosite.plan.removed import RedirectPage, redirect

HOLDER_CHARS = 300
"""The most characters that a page shows of a holder's name."""


class SeatFacts(Value):
    """A position as one orgdef lists it; `other_name` is its name if that is more than its id in other letters.

    `incumbent` is who holds it, as written; `holder` is the same without addresses of mail.
    """

    organization: str
    name: str
    other_name: str = ""
    status: str
    incumbent: str
    holder: str
    description: str
    role: str
    extra: str = ""
    relationships: tuple[pages.RelationshipRow, ...]
    relationships_total: int = 0


class Following(Value):
    """How to follow a position, ready to copy: commands, and a subscription list."""

    watch_once: str
    watch: str
    run: str
    mail: str
    opml: str


class EarlierMonth(Value):
    """A month that is not on the page, or not whole: `total` artifacts, where the newest part of it is, and the others.

    `targets` are the anchors of the month and of its weeks.
    """

    month: pages.Reference
    total: int
    also: tuple[pages.Reference, ...]
    targets: tuple[str, ...]


class Stream(Value):
    """What a position sent, received and filed: `shown` rows of it by month, and the `earlier` months.

    `heading` is a section without rows, that of all months.
    """

    heading: pages.ListSection
    months: tuple[pages.ListSection, ...]
    shown: int
    earlier: tuple[EarlierMonth, ...]
    drawn: pages.Sparks | None


class PositionPage(pages.Page):
    """A position: who holds it, what waits for it, its stream, and its notes by session (`arcs`).

    The inbox counts all unread memos, and lists those that are not to do: `unread_to_do` are the others.
    """

    template: ClassVar[str] = "position.html"

    id: str
    names: tuple[str, ...]
    seats: tuple[SeatFacts, ...]
    repo: str
    union_of: tuple[pages.Reference, ...]
    to_do: ActionGroup
    inbox: pages.ListSection
    unread_to_do: int
    waiting: ActionGroup | None
    missing: tuple[pages.ListSection, ...]
    stream: Stream
    arcs: tuple[pages.ListSection, ...]
    digests: pages.Reference
    following: Following
    longest: pages.Row | None = None  # what waits longest for it
    longest_since: Moment | None = None
    newest: str = ""  # the day to which ages are counted, if there are any


# Finds what a position received, what involves it, and what is open for it.


def sessions_of(context: Context, position: Position) -> list[Transcript]:
    """The sessions of a position that are in logs, in order of arrival, without subagents: its feed of sessions."""
    every = context.by_position.get(position.id, ())
    found = (one for one in every if isinstance(one, Transcript) and one.role in position.members)
    return [one for one in found if one.log and one.is_listed]


def received(context: Context, position: Position) -> list[Memo]:
    """Memos to a position and to `all`, in order of arrival; for a former position those to `all`."""
    found = context.received.get(position.id)
    return list(context.broadcasts) if found is None else found


def unknown_reading(context: Context, position: Position) -> str:
    """What is said of memos to a position of which nobody can know whether it has read them; "" if there are none."""
    return unknown_line(received(context, position), position.members, context.repos_of(position))


def none_unread(unknown: str) -> str:
    """What is said of a position without unread memos, as far as anybody can know."""
    if not unknown:
        return phrase("No unread memos.")
    return joined(" ", (phrase("No memos are known to be unread."), unknown))


def involving(context: Context, position: Position) -> list[Artifact]:
    """Everything that involves a position, broadcasts included, in order of arrival."""
    everything: list[Artifact] = list(context.broadcasts)
    broadcasts = frozenset(map(id, everything))
    everything += [one for one in context.by_position.get(position.id, ()) if id(one) not in broadcasts]
    everything.sort(key=by_arrival)
    return everything


# Plans the rows of relationships, as the pages of the organization and of positions show them.


_EDGE_CHARS = 300


def relationship_row(
    context: Context, start: str, organization: Organization, edge: Relationship
) -> pages.RelationshipRow:
    """One relationship of an organization, with links to both ends."""

    def end(name: str) -> pages.Reference:
        """Ends are seats of the organization, `external:<id>`, or the organization's own id."""
        if name == organization.id:
            return pages.Reference(label=organization.name, href=urls.relative(start, urls.ORGANIZATION))
        outside = name.removeprefix("external:")
        if outside != name:
            return replace(context.named(start, outside), title=phrase("outside this organization"))
        id_ = context.seat_positions.get((organization.id, name))
        return context.position(start, id_) if id_ else pages.Reference(label=name)

    return pages.RelationshipRow(
        type=edge.type.replace("_", " "),
        sender=end(edge.sender),
        to=end(edge.to),
        description=cut_line(edge.description, _EDGE_CHARS),
        extra=shown_extra(edge.extra, limit=_EDGE_CHARS),
    )


# Plans how to follow a position: its feeds, commands that watch them, and a subscription list for feed readers.


def plan_following(context: Context, position: Position) -> Following:
    """The commands and the list are ready to copy: words for a shell are quoted, addresses absolute."""
    base = context.site.base_url or urls.ADDRESS
    page = urls.position_page(position.id)
    feed = shlex.quote(urls.absolute(base, f"{page}feed.xml"))
    full = shlex.quote(urls.absolute(base, f"{page}feed-full.xml")) if context.feeds.full_content else feed
    return Following(
        watch_once=f"memosite watch --once {feed}",
        watch=f"memosite watch {feed}",
        run=f"memosite watch --exec 'printenv MEMO_PATH' {feed}",
        mail=f"r2e add {feed_name(position.id)} {full}",
        opml=_outline(context, position, base).decode(),
    )


def feed_name(id_: str) -> str:
    """A name for the feed of a position that rss2email takes and a shell leaves alone."""
    return quote(make_id(id_), safe="").replace("%", "-").replace("~", "-").lstrip("-")


def _outline(context: Context, position: Position, base: str) -> bytes:
    page, label = urls.position_page(position.id), context.label(position.id)
    named = (("feed", f"memos to {label}"), ("notes", f"notes of {label}"), ("transcripts", f"transcripts of {label}"))
    feeds = tuple(
        OutlineFeed(
            title=f"{context.site.title}: {title}",
            address=urls.absolute(base, f"{page}{name}.xml"),
            page=urls.absolute(base, page),
        )
        for name, title in named
    )
    return to_opml(f"{context.site.title}: {label}", (OutlineGroup(title=label, feeds=feeds),))


# Plans the stream of a position: what it sent, received and filed, newest first, by month, with its weeks.


SHOWN = 100
"""The most rows of the stream on the page of a position."""


IN_PARTS = 100
"""A position with more than so many artifacts has parts."""


_WEEKS, _MONTHS = 26, 24


_TARGETS = ("received", "sent", "notes", "transcripts")
"""Anchors that the page had for parts of the stream."""


class Entries(Value):
    """What is in a stream: `shown` on its page, the newest first; `parts` hold everything, in order of arrival."""

    page: str
    shown: Sequence[Artifact]
    parts: Sequence[Sequence[Artifact]]

    def places(self, key: Callable[[Artifact], str]) -> dict[str, str]:
        """The page that has the newest artifact of each week or month; what has no key is left out."""
        found = {key(one): self.page for one in self.shown}
        last: dict[str, tuple[dt.datetime, str]] = {}
        for number, chunk in enumerate(self.parts, 1):
            for one in chunk:
                name = key(one)
                if name not in found and one.date is not None:
                    place = one.date.instant, urls.part_page(self.page, number)
                    last[name] = max(last.get(name, place), place)
        places = found | {name: page for name, (_, page) in last.items()}
        return {name: page for name, page in places.items() if name}


def find_entries(position: Position, everything: Sequence[Artifact]) -> Entries:
    """The stream of a position, from everything that involves it."""
    parts = in_parts(everything) if part_count(everything, shown=IN_PARTS) else ()
    return Entries(page=urls.position_page(position.id), shown=newest(everything, SHOWN), parts=parts)


def week_links(context: Context, start: str, position: Position) -> Mapping[str, str]:
    """Where each week of a position's stream is, by its Monday (ISO 8601)."""
    places = find_entries(position, involving(context, position)).places(week_of)
    return {week: f"{urls.relative(start, page)}#{_week_anchor(week)}" for week, page in places.items()}


def week_of(artifact: Artifact) -> str:
    """The Monday of an artifact's week, by its date in UTC; "" without a date."""
    return monday(artifact.date.instant.date()).isoformat() if artifact.date else ""


def _week_anchor(week: str) -> str:
    return f"week-{week}"


def _month_anchor(month: str) -> str:
    return month.replace("/", "-")


def plan_stream(context: Context, start: str, position: Position, everything: Sequence[Artifact]) -> Stream:
    """The newest of a stream by month, what leads to the rest, and a picture of it."""
    entries = find_entries(position, everything)
    months = entries.places(urls.month_of)
    weeks = entries.places(week_of)
    return Stream(
        heading=pages.ListSection(
            heading=phrase("Sent, received and filed"),
            anchor="stream",
            rows=(),
            total=len(everything),
            targets=_TARGETS,
        ),
        months=_by_month(context, start, entries.shown, position),
        shown=len(entries.shown),
        earlier=tuple(_earlier(start, entries, months, weeks)),
        drawn=_draw(start, position, everything, months=months, weeks=weeks),
    )


def _by_month(
    context: Context, start: str, artifacts: Iterable[Artifact], position: Position
) -> tuple[pages.ListSection, ...]:
    """Months, newest first; the first row of each week has the anchor of the week."""
    months: dict[str, list[pages.Row]] = defaultdict(list)
    weeks = {""}
    for one in newest_first(artifacts):
        week = week_of(one)
        anchor = "" if week in weeks else _week_anchor(week)
        months[urls.month_of(one)].append(_row(context, start, one, position, anchor=anchor))
        weeks.add(week)
    return tuple(
        pages.ListSection(heading=month_name(month), anchor=_month_anchor(month), rows=tuple(rows), total=len(rows))
        for month, rows in months.items()
    )


def _row(context: Context, start: str, artifact: Artifact, position: Position, *, anchor: str) -> pages.Row:
    """A row that says what it is to the position, which is not named again."""
    row, way = context.row(start, artifact, viewer=position.id), way_of(artifact, position.members)
    alone = isinstance(artifact, Memo) and len(artifact.recipients) == 1 == len(row.to) and not artifact.is_broadcast
    return replace(
        row,
        way=way,
        anchor=anchor,
        sender=None if way == "sent" else row.sender,
        to=() if way == "received" and alone else row.to,
    )


def way_of(artifact: Artifact, members: Collection[str]) -> str:
    """What an artifact is to these positions: sent, received, or else its kind."""
    if isinstance(artifact, Memo) and artifact.kind == "memo":
        if artifact.sender_position in members:
            return "sent"
        if any(state.position in members or state.position == BROADCAST for state in artifact.recipients):
            return "received"
    return artifact.kind


def _earlier(
    start: str, entries: Entries, months: Mapping[str, str], weeks: Mapping[str, str]
) -> Iterator[EarlierMonth]:
    """The months that are not shown whole, newest first, with the parts that have them."""
    shown = frozenset(one.ref for one in entries.shown)
    parts: dict[str, list[int]] = defaultdict(list)
    anchors: dict[str, dict[str, None]] = defaultdict(dict)
    totals: Counter[str] = Counter()
    taken = {""} | {week for week, page in weeks.items() if page == entries.page}
    for number, chunk in enumerate(entries.parts, 1):
        for one in chunk:
            if one.ref in shown:
                continue
            month = urls.month_of(one)
            totals[month] += 1
            if number not in parts[month][-1:]:
                parts[month].append(number)
            week = week_of(one)
            if week not in taken:
                anchors[month][week] = None
                taken.add(week)
    for month in sorted(totals, key=lambda month: (month != urls.UNDATED_MONTH, month), reverse=True):
        links = [
            pages.Reference(
                label=f"page {number}",
                href=f"{urls.relative(start, urls.part_page(entries.page, number))}#{_month_anchor(month)}",
            )
            for number in reversed(parts[month])
        ]
        own = () if months.get(month) == entries.page else (_month_anchor(month),)
        yield EarlierMonth(
            month=replace(links[0], label=month_name(month)),
            total=totals[month],
            also=tuple(links[1:]),
            targets=(*own, *map(_week_anchor, anchors[month])),
        )


def _draw(
    start: str,
    position: Position,
    everything: Iterable[Artifact],
    *,
    months: Mapping[str, str],
    weeks: Mapping[str, str],
) -> pages.Sparks | None:
    """Memos sent and received: by week if they are from half a year at most, else by month, the newest two years."""
    ways = ((way_of(one, position.members), one) for one in everything if one.date)
    memos = [(way, one) for way, one in ways if way in {"sent", "received"}]
    days = [one.date.instant.date() for _, one in memos if one.date]
    if not days:
        return None
    mondays = islice(weeks_between(monday(min(days)), monday(max(days))), _WEEKS + 1)  # more are not drawn
    spans = [week.isoformat() for week in mondays]
    is_weekly = len(spans) <= _WEEKS
    key, places, anchor = (week_of, weeks, _week_anchor) if is_weekly else (urls.month_of, months, _month_anchor)
    names = spans if is_weekly else _months_before(max(days))
    counts = Counter((way, key(one)) for way, one in memos)
    picture = pages.Sparks(
        anchor="sent-and-received",
        caption="",
        corner=phrase("Week from") if is_weekly else phrase("Month"),
        columns=tuple(pages.PictureColumn(label=name.replace("/", "-")) for name in names),
        rows=tuple(
            pages.PictureRow(
                label=pages.Reference(label=label),
                cells=tuple(
                    pages.Cell(
                        number=number,
                        href=f"{urls.relative(start, places[name])}#{anchor(name)}",
                        words=f"{name.replace('/', '-')}: {number:,}",
                    )
                    if (number := counts[way, name])
                    else pages.Cell(number=0)
                    for name in names
                ),
                note=f"{sum(counts[way, name] for name in names):,}",
            )
            for way, label in (("sent", phrase("Sent")), ("received", phrase("Received")))
        ),
    )
    first, last = (name.replace("/", "-") for name in (names[0], names[-1]))
    said: dict[str, Any] = {"first": first, "last": last, "most": picture.most}
    weekly = phrase("Memos, a bar for each week from Monday (UTC), {first} to {last}; the highest is {most:,}.", **said)
    monthly = phrase("Memos, a bar for each month (UTC), {first} to {last}; the highest is {most:,}.", **said)
    return replace(picture, caption=weekly if is_weekly else monthly)


def _months_before(day: dt.date) -> list[str]:
    """The months up to that of a day, oldest first."""
    last = 12 * day.year + day.month - 1
    numbers = range(max(last - _MONTHS + 1, 12), last + 1)
    return [f"{number // 12:04d}/{number % 12 + 1:02d}" for number in numbers]


def stream_parts(
    context: Context, position: Position, title: str, everything: Sequence[Artifact]
) -> Iterator[pages.ListPage]:
    """The parts of a stream: everything in order of arrival, 500 a part, each by month."""
    page = urls.position_page(position.id)
    for number, chunk in enumerate(find_entries(position, everything).parts, 1):
        part = plan_part(context, page, title, number, (), section_name="org", viewer=position.id)
        first, *others = _by_month(context, urls.part_page(page, number), chunk, position)
        yield replace(part, sections=(replace(first, targets=(f"part-{number}",)), *others))


# Plans the page of a position.


_SHOWN = 50


_ARCS, _ARC_CHARS = 30, 80


def position_units(context: Context) -> Iterator[Unit]:
    """Two units for each position: its page, made again also when the newest day changes, and all that has no ages."""
    day = newest_day(context)
    for position in context.archive.positions.values():
        name, weight = f"position/{position.id}", 1 + len(context.by_position.get(position.id, ())) // 100
        made_of = partial(traced_unit, position=position, given_as="the position", weight=weight)
        yield made_of(name, _plan_position, day=day)
        yield made_of(f"{name}/stream", _plan_rest)


def _plan_rest(context: Context, *, position: Position) -> Iterator[pages.ListPage | Written | RedirectPage]:
    """The parts of a position's stream, its twins, and redirects from its other names (SPEC 3)."""
    here = urls.position_page(position.id)
    everything = involving(context, position)
    yield from stream_parts(context, position, context.label(position.id), everything)
    yield from _twins(context, here, position, everything)
    for id_ in context.other_names(position):
        yield redirect(context, urls.position_page(id_), here)


def _plan_position(context: Context, *, position: Position, day: dt.date | None) -> Iterator[PositionPage]:
    start, everything, label = urls.position_page(position.id), involving(context, position), context.label(position.id)
    inbox = [memo for memo in received(context, position) if context.is_unread(memo, position.id)]
    todo = to_do(context, position, everything)
    asked = {one.ref for one in todo}
    others = [memo for memo in inbox if memo.ref not in asked]
    actions = _actions(context, start, position, everything, todo=todo, day=day)
    longest = _longest_waiting(todo, inbox)
    description = phrase("Memos to and from {position}", position=label)
    yield PositionPage(
        **head_of(context, start, title=label, section="org", description=description),
        feeds=tuple(_feeds(context, position, label)),
        twins=twin_links(start, start),
        parts=part_links(start, start, part_count(everything, shown=IN_PARTS), None),
        id=position.id,
        names=tuple(name for name in position.names if name != label),
        seats=tuple(_seat_facts(context, start, organization_id, position) for organization_id, _ in position.seats),
        repo=position.repo or "",
        union_of=tuple(context.position(start, id_) for id_ in position.union_of),
        to_do=actions[0],
        inbox=replace(_inbox(context, start, position, others, everything), total=len(inbox)),
        unread_to_do=len(inbox) - len(others),
        waiting=actions[1],
        newest=as_of(day) if any(group and group.rows for group in actions) else "",
        missing=tuple(_missing(context, start, position)),
        stream=plan_stream(context, start, position, everything),
        arcs=_arcs(context, start, position, everything),
        digests=pages.Reference(label=phrase("Digests"), href=urls.relative(start, urls.DIGESTS)),
        following=plan_following(context, position),
        longest=context.row(start, longest, viewer=position.id) if longest else None,
        longest_since=longest.date if longest else None,
    )


def _twins(context: Context, page: str, position: Position, everything: Sequence[Artifact]) -> Iterable[Written]:
    seats = [seat for _, seat in position.seats]
    facts: dict[str, object] = {
        "position": position.id,
        "names": list(position.names),
        "repo": position.repo or "",
        "status": seats[0].status or "" if seats else "",
        "incumbent": seats[0].incumbent or "" if seats else "",
    }
    return list_twins(context, page, context.label(position.id), everything, facts=facts)


def _feeds(context: Context, position: Position, label: str) -> Iterable[pages.Reference]:
    yield pages.Reference(label=phrase("Memos to {position}", position=label), href="feed.xml")
    if context.feeds.full_content:
        yield pages.Reference(label=phrase("Memos to {position}, full text", position=label), href="feed-full.xml")
    yield pages.Reference(label=phrase("Memos to {position}, as JSON", position=label), href="feed.json")
    yield pages.Reference(label=phrase("Notes of {position}", position=label), href="notes.xml")
    yield pages.Reference(label=phrase("Transcripts of {position}", position=label), href="transcripts.xml")
    if sessions_of(context, position):
        yield pages.Reference(label=phrase("Sessions of {position}", position=label), href="sessions.xml")


def _longest_waiting(todo: Iterable[Artifact], inbox: Sequence[Memo]) -> Artifact | None:
    """What waits longest for a seat: what it has to do, or an unread memo that asks for nothing."""
    dated = [one for one in (*todo, *(memo for memo in inbox if memo.action is None)) if one.date]
    return min(dated, key=lambda one: one.sort_key, default=None)


def to_do(context: Context, position: Position, everything: Iterable[Artifact]) -> list[Artifact]:
    """What is open for a position, oldest first: of memos, and of documents and records."""
    memos = (one for one in everything if isinstance(one, Memo) and open_for(one, position.members))
    return sorted((*memos, *context.archive.waiting_besides_memos(position.members)), key=lambda one: one.sort_key)


def _inbox(
    context: Context, start: str, position: Position, inbox: Sequence[Memo], everything: Sequence[Artifact]
) -> pages.ListSection:
    unknown = unknown_reading(context, position)
    memos = [one for one in everything if isinstance(one, Memo)] if not inbox else []
    received_flat = received_line(memos, position.members, context.repos_of(position))
    empty, heading = none_unread(joined(" ", filter(None, (unknown, received_flat)))), phrase("Inbox")
    found = section(
        context, start, heading, inbox, empty=empty, limit=_SHOWN, viewer=position.id, anchor="inbox",
        title=context.label(position.id),
    )  # fmt: skip
    return replace(found, is_known=not unknown)


def _actions(
    context: Context,
    start: str,
    position: Position,
    everything: Sequence[Artifact],
    *,
    todo: Sequence[Artifact],
    day: dt.date | None,
) -> tuple[ActionGroup, ActionGroup | None]:
    """What it has to do and what it waits for, if anything, oldest first."""
    memos = sorted((one for one in everything if isinstance(one, Memo)), key=lambda memo: memo.sort_key)
    waiting = [memo for memo in memos if memo.owed_by and memo.sender_position in position.members]
    group = partial(
        RowMaker(context=context, start=start, day=day).group,
        limit=_SHOWN,
        viewer=position.id,
        state="open",
        more=urls.position_actions(position.id),
    )
    anchor = "open-actions-it-asked-for"
    return (
        group(phrase("To do"), "open-actions", todo, empty=phrase("Nothing to do.")),
        group(phrase("Waiting on others"), anchor, waiting, is_waiting=True) if waiting else None,
    )


def _missing(context: Context, start: str, position: Position) -> Iterable[pages.ListSection]:
    """Memos from and to a position that others reply to, and that are in no repo; the newest first."""
    ghosts = context.missing_of.get(position.id, ())
    if ghosts:
        rows = tuple(context.ghost_row(start, ghost) for ghost in ghosts[:_SHOWN])
        yield pages.ListSection(heading=phrase("Missing memos"), anchor="missing", rows=rows, total=len(ghosts))


def _arcs(
    context: Context, start: str, position: Position, everything: Sequence[Artifact]
) -> tuple[pages.ListSection, ...]:
    """Notes by the session that wrote them, the newest first; none where there is one session, or too many."""
    arcs: dict[str, list[Memo]] = defaultdict(list)
    for note in newest_first(one for one in everything if one.kind == "note"):
        if isinstance(note, Memo):
            arcs[cut_line(note.envelope.session or "", _ARC_CHARS)].append(note)
    found = []
    for number, arc in enumerate(sorted(arcs, key=lambda arc: not arc) if 1 < len(arcs) <= _ARCS else ()):
        heading = phrase("Notes of {position}", position=arc) if arc else phrase("Other notes")
        anchor = f"notes-{len(arcs) - number}"  # from the oldest, so that links stay valid when another session begins
        found.append(section(context, start, heading, arcs[arc], limit=_SHOWN, viewer=position.id, anchor=anchor))
    return tuple(found)


def _seat_facts(context: Context, start: str, organization_id: str, position: Position) -> SeatFacts:
    organization = context.organizations[organization_id]
    seat = next(seat for id_, seat in position.seats if id_ == organization_id)
    edges = [edge for edge in organization.relationships if seat.id in {edge.sender, edge.to}]
    return SeatFacts(
        organization=organization.name,
        name=seat.name,
        other_name=other_name(seat.name, seat.id),
        status=seat.status or "",
        incumbent=cut_line(seat.incumbent or "", HOLDER_CHARS),
        holder=cut_line(seat.holder, HOLDER_CHARS),
        description=cut_line(seat.description, SUBJECT_CHARS),
        role=seat.role_id or "",
        extra=shown_extra(seat.extra),
        relationships=tuple(relationship_row(context, start, organization, edge) for edge in edges[:LIST_LIMIT]),
        relationships_total=len(edges),
    )


# Plans the activity of the last weeks: what each position sent, wrote or recorded, week by week.


WEEKS = 13


_DRAWN_WEEKS, _DRAWN_ROWS = 9, 8


_WEEK = dt.timedelta(days=7)


class Activity(Value):
    """The last weeks, by their Mondays, and how much each position did in each."""

    weeks: tuple[dt.date, ...]
    counts: Mapping[str, Counter[dt.date]]


def find_activity(context: Context, months: Mapping[str, Sequence[Artifact]]) -> Activity:
    """What happened in the last weeks, by dates in UTC; of all `months` only the last ones are looked at."""
    newest = max(context.arrival_times.values(), default=None)
    if newest is None:
        return Activity(weeks=(), counts={})
    last = monday(newest.date())
    weeks = tuple(last - _WEEK * back for back in reversed(range(WEEKS)) if (last - dt.date.min) >= _WEEK * back)
    shown = (month for month in months if month != urls.UNDATED_MONTH and month >= _month(weeks[0]))
    found = count_weeks(chain.from_iterable(months[month] for month in shown))
    every = {
        id_: Counter({week: count[week] for week in count if weeks[0] <= week <= last}) for id_, count in found.items()
    }
    return Activity(weeks=weeks, counts={id_: count for id_, count in every.items() if count})


def count_weeks(artifacts: Iterable[Artifact]) -> dict[str, Counter[dt.date]]:
    """How much each position did in each week, by its Monday; by dates in UTC."""
    counts: dict[str, Counter[dt.date]] = defaultdict(Counter)
    for artifact in artifacts:
        position, date = _who(artifact), artifact.date
        if position is not None and date is not None and artifact.is_listed:
            counts[position][monday(date.instant.date())] += 1
    return counts


def _who(artifact: Artifact) -> str | None:
    """Whose doing an artifact is."""
    if isinstance(artifact, Memo):
        return artifact.sender_position
    return artifact.role if isinstance(artifact, Transcript) else None


def _month(day: dt.date) -> str:
    return f"{day.year:04d}/{day.month:02d}"


def draw_activity(context: Context, found: Activity) -> pages.Grid | None:
    """The last weeks on home; a cell leads to the week on the position's page."""
    return draw_weeks(context, urls.HOME, "activity", found.counts, found.weeks[-_DRAWN_WEEKS:], links=week_links)


def draw_weeks(
    context: Context,
    start: str,
    anchor: str,
    counts: Mapping[str, Counter[dt.date]],
    weeks: Sequence[dt.date],
    *,
    links: Callable[[Context, str, Position], Mapping[str, str]] | None = None,
) -> pages.Grid | None:
    """Weeks × positions, those that did most; cells lead where `links` says, if anywhere."""
    sums = {id_: sum(count[week] for week in weeks) for id_, count in counts.items()}
    totals = {id_: number for id_, number in sums.items() if number}
    shown = sorted(totals, key=lambda id_: (-totals[id_], id_))[:_DRAWN_ROWS]
    if not shown:
        return None
    rows = []
    for id_ in shown:
        position = context.archive.positions.get(id_)
        places = links(context, start, position) if links and position else {}
        rows.append(week_row(context.position(start, id_), counts[id_], weeks, places))
    columns = week_columns(weeks)
    picture = pages.Grid(anchor=anchor, caption="", corner=phrase("Position"), columns=columns, rows=tuple(rows))
    words = phrase(
        "Memos, notes and transcripts by position, in weeks from Monday (UTC); the most is {most:,}.", most=picture.most
    )
    if len(totals) > len(shown):
        more = phrase("The {shown} most active of {total} positions.", shown=len(shown), total=len(totals))
        words = joined(" ", (words, more))
    return replace(picture, caption=words)
