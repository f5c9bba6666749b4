"""Plans the page of each position: who holds it, what waits for it, and what it sent, received and filed."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from memosite.archive.called import other_name
from memosite.archive.mailboxes import open_for
from memosite.archive.model import Artifact, Memo, Position
from memosite.archive.urls import DIGESTS, position_actions, position_page, relative
from memosite.facts.phrases import phrase
from memosite.facts.texts import cut_line
from memosite.pages.actions import ActionGroup
from memosite.pages.models import ListPage, RedirectPage
from memosite.pages.organization import SeatFacts
from memosite.pages.parts import ListSection, Reference
from memosite.pages.streams import PositionPage
from memosite.plan.action_rows import RowMaker
from memosite.plan.ages import as_of, newest_day
from memosite.plan.artifact_page import SUBJECT_CHARS, shown_extra
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.dates import newest_first, stamp
from memosite.plan.files import Written
from memosite.plan.following import plan_following
from memosite.plan.head import page_head, twin_links
from memosite.plan.pagination import part_count, part_links
from memosite.plan.position_items import involving, none_unread, received, unknown_reading
from memosite.plan.position_table import HOLDER_CHARS
from memosite.plan.relationships import relationship_row
from memosite.plan.removed import redirect
from memosite.plan.sections import section
from memosite.plan.stream import IN_PARTS, plan_stream, stream_parts
from memosite.plan.twins import list_twins
from memosite.plan.units import Unit

_SHOWN = 50
_ARCS, _ARC_CHARS = 30, 80


def position_units(context: Context) -> Iterator[Unit]:
    """Two units for each position: its page, made again also when the newest day changes, and all that has no ages."""
    day = newest_day(context)
    for position in context.archive.positions.values():
        name, weight = f"position/{position.id}", 1 + len(context.by_position.get(position.id, ())) // 100
        page, rest = partial(_plan_position, position=position, day=day), partial(_plan_rest, position=position)
        yield Unit(name=name, make=page, given=(position, day), given_as="the position", weight=weight)
        yield Unit(name=f"{name}/stream", make=rest, given=position, given_as="the position", weight=weight)


def _plan_position(context: Context, *, position: Position, day: dt.date | None) -> Iterator[PositionPage]:
    yield _page(context, position_page(position.id), position, involving(context, position), day)


def _plan_rest(context: Context, *, position: Position) -> Iterator[ListPage | Written | RedirectPage]:
    """The parts of a position's stream, its twins, and redirects from its other names (SPEC 3)."""
    here = position_page(position.id)
    everything = involving(context, position)
    yield from stream_parts(context, position, context.label(position.id), everything)
    yield from _twins(context, here, position, everything)
    for id_ in context.other_names(position):
        yield redirect(context, position_page(id_), here)


def _page(
    context: Context, start: str, position: Position, everything: Sequence[Artifact], day: dt.date | None
) -> PositionPage:
    actions = tuple(_actions(context, start, position, everything, day))
    label = context.label(position.id)
    inbox = [memo for memo in received(context, position) if context.is_unread(memo, position.id)]
    longest = _longest_waiting(position, everything, inbox)
    return PositionPage(
        **page_head(
            context,
            start,
            title=label,
            section="org",
            description=phrase("Memos to and from {position}", position=label),
        ),
        feeds=tuple(_feeds(context, label)),
        twins=twin_links(start, start),
        parts=part_links(start, start, part_count(everything, shown=IN_PARTS), None),
        id=position.id,
        names=tuple(name for name in position.names if name != label),
        seats=tuple(_seat_facts(context, start, organization_id, position) for organization_id, _ in position.seats),
        repo=position.repo or "",
        union_of=tuple(context.position(start, id_) for id_ in position.union_of),
        inbox=_inbox(context, start, position, inbox),
        actions=actions,
        newest=as_of(day) if any(group.rows for group in actions) else None,
        missing=tuple(_missing(context, start, position)),
        stream=plan_stream(context, start, position, everything),
        arcs=_arcs(context, start, position, everything),
        digests=Reference(label=phrase("Digests"), href=relative(start, DIGESTS)),
        following=plan_following(context, position),
        longest=context.row(start, longest, viewer=position.id) if longest else None,
        longest_since=stamp(longest.date) if longest else None,
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


def _feeds(context: Context, label: str) -> Iterable[Reference]:
    yield Reference(label=phrase("Memos to {position}", position=label), href="feed.xml")
    if context.feeds.full_content:
        yield Reference(label=phrase("Memos to {position}, full text", position=label), href="feed-full.xml")
    yield Reference(label=phrase("Memos to {position}, as JSON", position=label), href="feed.json")
    yield Reference(label=phrase("Notes of {position}", position=label), href="notes.xml")
    yield Reference(label=phrase("Transcripts of {position}", position=label), href="transcripts.xml")


def _longest_waiting(position: Position, everything: Sequence[Artifact], inbox: Sequence[Memo]) -> Memo | None:
    """The memo that waits longest for a seat: with an action that is open, or unread if it asks for none."""
    members = {position.id, *position.union_of}
    unread = {memo.ref: memo for memo in inbox if memo.action is None}
    asked = {one.ref: one for one in everything if isinstance(one, Memo) and open_for(one, members)}
    dated = [memo for memo in (unread | asked).values() if memo.date]
    return min(dated, key=lambda memo: memo.sort_key, default=None)


def _inbox(context: Context, start: str, position: Position, inbox: Sequence[Memo]) -> ListSection:
    unknown = unknown_reading(context, position)
    empty, heading = none_unread(unknown), phrase("Inbox")
    found = section(context, start, heading, inbox, empty=empty, limit=_SHOWN, viewer=position.id, anchor="inbox")
    return replace(found, is_known=not unknown)


def _actions(
    context: Context, start: str, position: Position, everything: Sequence[Artifact], day: dt.date | None
) -> Iterator[ActionGroup]:
    """What it has to do and what it waits for, oldest first."""
    members = {position.id, *position.union_of}
    memos = sorted((one for one in everything if isinstance(one, Memo)), key=lambda memo: memo.sort_key)
    todo = [memo for memo in memos if open_for(memo, members)]
    waiting = [memo for memo in memos if memo.owed_by and memo.sender_position in members]
    group = partial(
        RowMaker(context=context, start=start, day=day).group,
        limit=_SHOWN,
        viewer=position.id,
        state="open",
        more=position_actions(position.id),
    )
    yield group(phrase("To do"), "open-actions", todo, empty=phrase("Nothing to do."))
    if waiting:
        yield group(phrase("Waiting on others"), "open-actions-it-asked-for", waiting, is_waiting=True)


def _missing(context: Context, start: str, position: Position) -> Iterable[ListSection]:
    """Memos from and to a position that others reply to, and that are in no repo; the newest first."""
    ghosts = context.missing_of.get(position.id, ())
    if ghosts:
        rows = tuple(context.ghost_row(start, ghost) for ghost in ghosts[:_SHOWN])
        yield ListSection(heading=phrase("Missing memos"), anchor="missing", rows=rows, total=len(ghosts))


def _arcs(context: Context, start: str, position: Position, everything: Sequence[Artifact]) -> tuple[ListSection, ...]:
    notes = [one for one in everything if isinstance(one, Memo) and one.kind == "note"]
    return tuple(
        section(context, start, heading, arc, limit=_SHOWN, viewer=position.id, anchor=anchor)
        for heading, anchor, arc in _by_arc(notes)
    )


def _by_arc(notes: Sequence[Memo]) -> Iterable[tuple[str, str, Sequence[Memo]]]:
    """Notes by the session that wrote them, the newest first; none where there is one session, or too many."""
    arcs: dict[str, list[Memo]] = defaultdict(list)
    for note in newest_first(notes):
        if isinstance(note, Memo):
            arcs[cut_line(note.variants[0].envelope.session or "", _ARC_CHARS)].append(note)
    if not 1 < len(arcs) <= _ARCS:
        return
    for number, arc in enumerate(sorted(arcs, key=lambda arc: not arc)):
        # Numbered from the oldest, so that links stay valid when another session begins.
        yield (
            phrase("Notes of {position}", position=arc) if arc else phrase("Other notes"),
            f"notes-{len(arcs) - number}",
            arcs[arc],
        )


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
        description=cut_line(seat.description, SUBJECT_CHARS),
        role=seat.role_id or "",
        extra=shown_extra(seat.extra),
        relationships=tuple(relationship_row(context, start, organization, edge) for edge in edges[:LIST_LIMIT]),
        relationships_total=len(edges),
    )
