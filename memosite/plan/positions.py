"""Plans the pages of positions and of the organization."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from memosite.archive.model import Artifact, Library, Memo, Position, Transcript
from memosite.archive.urls import ORGANIZATION, index_file, part_page, position_page, relative
from memosite.facts.parsed import BROADCAST, Organization, Relationship
from memosite.facts.texts import cut_line
from memosite.pages.chart import Edge, Seated, draw
from memosite.pages.models import ListPage, OrganizationPage, PositionPage
from memosite.pages.organization import Chart, OrganizationSection, RelationshipRow, SeatFacts, SeatRow
from memosite.pages.parts import PAGE_CHARS, ListSection, Reference
from memosite.plan.common import SUBJECT_CHARS, shown_extra
from memosite.plan.context import LABEL_CHARS, LIST_LIMIT, Context
from memosite.plan.dates import by_arrival, newest_first, stamp
from memosite.plan.lists import part_count, plan_parts, section
from memosite.plan.lives import waiting_since
from memosite.plan.parts import part_links

_SHOWN = 100
_EDGE_CHARS = 300
_HOLDER_CHARS = 300
_ARCS, _ARC_CHARS = 30, 80
_DRAWN, _EDGES = 300, 2_000  # positions and relationships of one drawing

SEATS = 300
"""The most positions in a table of seats that is not alone on its page."""


def plan_position(
    context: Context, position: Position, everything: Sequence[Artifact]
) -> Iterable[PositionPage | ListPage]:
    """The page of a seat, and the parts of everything that involves it, its `record`, where that is long."""
    start = position_page(position.id)
    label = context.label(position.id)
    inbox = [memo for memo in received(context, position) if context.is_unread(memo, position.id)]
    longest = _longest_waiting(position, everything, inbox)
    since = waiting_since(longest, position.repo) if longest else None
    yield PositionPage(
        longest=context.row(start, longest, viewer=position.id) if longest else None,
        longest_since=stamp(since),
        site=context.site,
        path=index_file(start),
        root="../" * start.count("/"),
        title=label,
        section="org",
        canonical=context.canonical(start),
        description=f"Memos to and from {label}",
        feeds=tuple(_feeds(context, label)),
        twins=(Reference(label="json", href="index.json"), Reference(label="md", href="index.md")),
        parts=part_links(start, start, part_count(everything, shown=_SHOWN), None),
        id=position.id,
        names=tuple(name for name in position.names if name != label),
        seats=tuple(_seat_facts(context, start, organization_id, position) for organization_id, _ in position.seats),
        repo=position.repo or "",
        union_of=tuple(context.position(start, id_) for id_ in position.union_of),
        sections=_sections(context, start, position, everything, inbox),
    )
    yield from plan_parts(context, start, label, everything, section_name="org", viewer=position.id, shown=_SHOWN)


def _feeds(context: Context, label: str) -> Iterable[Reference]:
    yield Reference(label=f"Memos to {label}", href="feed.xml")
    if context.feeds.full_content:
        yield Reference(label=f"Memos to {label}, with texts", href="feed-full.xml")
    yield Reference(label=f"Memos to {label}, as JSON", href="feed.json")
    yield Reference(label=f"Notes of {label}", href="notes.xml")
    yield Reference(label=f"Transcripts of {label}", href="transcripts.xml")


def _longest_waiting(position: Position, everything: Sequence[Artifact], inbox: Sequence[Memo]) -> Memo | None:
    """The memo that waits longest for a seat: unread, or with an action that is open."""
    members = {position.id, *position.union_of}
    unread = {memo.ref: memo for memo in inbox}
    asked = {one.ref: one for one in everything if isinstance(one, Memo) and open_for(one, members)}
    waiting = [(waiting_since(memo, position.repo), memo) for memo in (unread | asked).values()]
    dated = [(since.instant, memo.id, memo) for since, memo in waiting if since is not None]
    return min(dated, key=lambda one: one[:2])[2] if dated else None


def received(context: Context, position: Position) -> list[Memo]:
    """Memos to a position and to `all`, in order of arrival; for a former position those to `all`."""
    found = context.received.get(position.id)
    return list(context.broadcasts) if found is None else found


def record(context: Context, position: Position) -> list[Artifact]:
    """Everything that involves a position, broadcasts included, in order of arrival."""
    everything: list[Artifact] = list(context.broadcasts)
    broadcasts = frozenset(map(id, everything))
    everything += [one for one in context.by_position.get(position.id, ()) if id(one) not in broadcasts]
    everything.sort(key=by_arrival)
    return everything


def open_for(memo: Memo, members: set[str]) -> bool:
    """Whether a memo asks something of one of these positions that is not done."""
    if memo.action != "open":  # it is that of the recipient who has done least
        return False
    asked = members if memo.sender_position in members else {*members, BROADCAST}
    return any(state.action == "open" and state.position in asked for state in memo.recipients)


def _sections(
    context: Context, start: str, position: Position, everything: Sequence[Artifact], inbox: Sequence[Memo]
) -> tuple[ListSection, ...]:
    members = {position.id, *position.union_of}
    memos = [one for one in everything if isinstance(one, Memo) and one.kind == "memo"]
    asked = [memo for memo in memos if open_for(memo, members)]
    to_it = [memo for memo in asked if memo.sender_position not in members]
    to_it += [memo for memo in asked if memo.sender_position in members]
    sent = [memo for memo in memos if memo.sender_position in members]
    from_it = [memo for memo in sent if memo.action == "open"]
    unread = {memo.ref for memo in inbox}
    read = [memo for memo in received(context, position) if memo.ref not in unread]
    notes = [one for one in everything if isinstance(one, Memo) and one.kind == "note"]
    transcripts = [one for one in everything if isinstance(one, Transcript)]
    listed = (
        ("Inbox", "inbox", inbox, "Nothing is unread."),
        ("Open actions", "open-actions", to_it, "Nothing is asked of this seat."),
        ("Open actions it asked for", "open-actions-it-asked-for", from_it, ""),
        ("Received", "received", read, "Nothing yet."),
        ("Sent", "sent", sent, "Nothing yet."),
        *((heading, anchor, arc, "") for heading, anchor, arc in _by_arc(notes)),
        ("Transcripts", "transcripts", transcripts, ""),
    )
    return tuple(
        section(context, start, heading, artifacts, empty=empty, limit=_SHOWN, viewer=position.id, anchor=anchor)
        for heading, anchor, artifacts, empty in listed
        if artifacts or empty
    )


def _by_arc(notes: Sequence[Memo]) -> Iterable[tuple[str, str, Sequence[Memo]]]:
    """Notes by the session that wrote them, the newest first; together where there is one, or no end of them."""
    arcs: dict[str, list[Memo]] = defaultdict(list)
    for note in newest_first(notes):
        if isinstance(note, Memo):
            arcs[cut_line(note.variants[0].envelope.session or "", _ARC_CHARS)].append(note)
    if not 1 < len(arcs) <= _ARCS:
        yield "Notes", "notes", notes
        return
    for number, arc in enumerate(sorted(arcs, key=lambda arc: not arc)):
        # Numbered from the oldest, so that links stay when another session begins.
        yield f"Notes of {arc}" if arc else "Other notes", f"notes-{len(arcs) - number}", arcs[arc]


def _organization(context: Context, id_: str) -> Organization:
    return next(one for one in context.archive.organizations if one.id == id_)


def _seat_facts(context: Context, start: str, organization_id: str, position: Position) -> SeatFacts:
    organization = _organization(context, organization_id)
    seat = next(seat for id_, seat in position.seats if id_ == organization_id)
    edges = [edge for edge in organization.relationships if seat.id in {edge.sender, edge.to}]
    return SeatFacts(
        organization=organization.name,
        name=seat.name,
        status=seat.status or "",
        incumbent=cut_line(seat.incumbent or "", _HOLDER_CHARS),
        description=cut_line(seat.description, SUBJECT_CHARS),
        role=seat.role_id or "",
        extra=shown_extra(seat.extra),
        relationships=tuple(_edge_row(context, start, organization, edge) for edge in edges[:LIST_LIMIT]),
        relationships_total=len(edges),
    )


def _edge_row(context: Context, start: str, organization: Organization, edge: Relationship) -> RelationshipRow:
    def end(name: str) -> Reference:
        """Ends are seats of the organization, `external:<id>`, or the organization's own id."""
        if name == organization.id:
            return Reference(label=organization.name, href=relative(start, ORGANIZATION))
        outside = name.removeprefix("external:")
        if outside != name:
            return replace(context.named(start, outside), title="outside this organization")
        id_ = context.seat_positions.get((organization.id, name))
        return context.position(start, id_, name) if id_ else Reference(label=name)

    return RelationshipRow(
        type=edge.type.replace("_", " "),
        sender=end(edge.sender),
        to=end(edge.to),
        description=cut_line(edge.description, _EDGE_CHARS),
        extra=shown_extra(edge.extra, limit=_EDGE_CHARS),
    )


def seat_row(context: Context, start: str, position: Position) -> SeatRow:
    """A position in the table of seats."""
    members = {position.id, *position.union_of}
    index = context.seats
    sent = [index.newest_sent[id_] for id_ in members if id_ in index.newest_sent]
    newest = max(sent, key=lambda memo: memo.sort_key, default=None)
    inbox = _unread(context, position)
    oldest = min((memo for memo in inbox if memo.date), key=lambda memo: memo.sort_key, default=None)
    involving = (memo for id_ in members for memo in index.involved.get(id_, ()))
    asked = {memo.ref: memo for memo in involving}
    seats = [seat for _, seat in position.seats]
    return SeatRow(
        position=context.position(start, position.id),
        name=position.name,
        status=seats[0].status or "" if len(seats) == 1 else "",
        incumbent=cut_line(seats[0].incumbent or "", _HOLDER_CHARS) if len(seats) == 1 else "",
        last_sent=stamp(newest.date) if newest else None,
        unread=len(inbox),
        oldest_unread=stamp(oldest.date) if oldest else None,
        open_to=sum(1 for memo in asked.values() if open_for(memo, members))
        + len(index.asked_of_all - asked.keys()),  # those that the seat sent are among the others
        open_from=sum(index.open_from.get(id_, 0) for id_ in members),
    )


def _unread(context: Context, position: Position) -> Collection[Memo]:
    """What of `received` is unread for a position, in no order."""
    members = {position.id, *position.union_of}
    repos = {context.archive.positions[member].repo for member in members} - {None}
    if len(repos) > 1:  # a memo to all is unread there if it is so in all of them together
        return [memo for memo in received(context, position) if context.is_unread(memo, position.id)]
    index = context.seats
    found = {memo.ref: memo for id_ in members for memo in index.unread.get(id_, ())}
    for repo in repos:
        for memo in index.unread_broadcasts.get(repo or "", ()):
            if memo.sender_position not in members:
                found[memo.ref] = memo
    return found.values()


def listed_positions(context: Context) -> list[Position]:
    """Positions that are listed or have anything to show, the listed first, then by id; unions if memos name them."""
    positions = [position for position in context.archive.positions.values() if not position.union_of or position.names]
    return sorted(positions, key=lambda position: (not position.seats, context.label(position.id)))


def seat_rows(context: Context, start: str, positions: Iterable[Position]) -> tuple[SeatRow, ...]:
    """The rows of these positions in a table of seats."""
    return tuple(seat_row(context, start, position) for position in positions)


def _chart(context: Context, organization: Organization) -> Chart | None:
    """The drawing of an organization; of one too large for a drawing, its first positions."""
    seated = tuple(
        Seated(
            id=seat.id,
            link=context.position(ORGANIZATION, context.seat_positions.get((organization.id, seat.id)), seat.name),
            note=cut_line(seat.incumbent or seat.status or "", LABEL_CHARS),
            status=seat.status or "",
        )
        for seat in organization.seats[:_DRAWN]
    )
    edges = (_edge(edge) for edge in organization.relationships[:_EDGES])
    return draw(seated, tuple(edges))


def _edge(edge: Relationship) -> Edge:
    """A relationship as a line; `directs` is `reports_to` seen from above."""
    ends = (edge.to, edge.sender) if edge.type == "directs" else (edge.sender, edge.to)
    words = f"{edge.sender} {edge.type.replace('_', ' ')} {edge.to}"
    return Edge(sender=ends[0], to=ends[1], words=cut_line(words, 200), is_rank=edge.type in {"directs", "reports_to"})


def plan_organization(context: Context) -> Iterable[OrganizationPage]:
    """All positions, and each orgdef with its relationships and charter; in parts where there is too much of them."""
    positions = listed_positions(context)
    edges = max((len(organization.relationships) for organization in context.archive.organizations), default=0)
    is_long = len(positions) > SEATS or edges > LIST_LIMIT
    count = -(-max(len(positions), edges) // LIST_LIMIT) if is_long else 0
    for number in range(count + 1):
        start = part_page(ORGANIZATION, number) if number else ORGANIZATION
        chunk = slice((number - 1) * LIST_LIMIT, number * LIST_LIMIT) if number else slice(0, LIST_LIMIT)
        shown = positions[chunk] if number else positions[:SEATS]
        yield OrganizationPage(
            site=context.site,
            path=index_file(start),
            root="../" * start.count("/"),
            title=f"Organization, part {number}" if number else "Organization",
            section="org",
            canonical=context.canonical(start),
            parts=part_links(start, ORGANIZATION, count, number or None),
            organizations=tuple(_organization_sections(context, start, chunk, is_part=number > 0)),
            seats=seat_rows(context, start, shown),
            seats_total=len(positions),
            unreadable=() if number else tuple(_unreadable(context, start)),
        )


def _organization_sections(
    context: Context, start: str, chunk: slice, *, is_part: bool
) -> Iterable[OrganizationSection]:
    """The orgdefs with these of their relationships; in a part those that have any there, without the charter."""
    for organization in context.archive.organizations:
        edges = organization.relationships[chunk]
        if edges or not is_part:
            yield OrganizationSection(
                id=organization.id,
                name=organization.name,
                version=organization.version,
                mission="" if is_part else cut_line(organization.mission, SUBJECT_CHARS),
                relationships=tuple(_edge_row(context, start, organization, edge) for edge in edges),
                relationships_total=len(organization.relationships),
                charter=() if is_part else tuple(_charter(organization)),
                place=f"{organization.source}/{organization.path}",
                chart=None if is_part else _chart(context, organization),
            )


def _charter(organization: Organization) -> Iterable[tuple[str, str]]:
    """The texts of a charter, together no longer than half a page may be: seats and relationships stand there, too."""
    left = PAGE_CHARS // 2
    for heading, text in organization.charter:
        yield cut_line(heading, LABEL_CHARS), shown_extra(text, limit=max(left, 0))
        left -= len(text)


def _unreadable(context: Context, start: str) -> Iterable[Reference]:
    for one in context.archive.artifacts.values():
        if isinstance(one, Library) and one.card.broken == "orgdef":
            yield context.artifact(start, one.ref)
