"""Plans the page of the organization: all positions, and each orgdef with its chart, relationships and charter."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memosite.archive.called import other_name
from memosite.archive.model import Library
from memosite.archive.urls import ORGANIZATION, part_page
from memosite.facts.bounds import LABEL_CHARS
from memosite.facts.names import make_id
from memosite.facts.parsed import Organization, Relationship, Seat
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line
from memosite.pages.chart import Edge, Seated, draw
from memosite.pages.models import OrganizationPage
from memosite.pages.organization import Chart, OrganizationSection
from memosite.pages.parts import PAGE_CHARS, Reference
from memosite.plan.artifact_page import SUBJECT_CHARS, shown_extra
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.exchange import plan_exchange
from memosite.plan.head import page_head
from memosite.plan.pagination import part_links, part_title
from memosite.plan.position_table import SEATS, listed_positions, seat_row, seat_rows
from memosite.plan.relationships import relationship_row

_DRAWN, _EDGES = 300, 2_000  # positions and relationships of one drawing


def plan_organization(context: Context) -> Iterator[OrganizationPage]:
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
            **page_head(context, start, title=part_title(phrase("Organization"), number), section="org"),
            parts=part_links(start, ORGANIZATION, count, number or None),
            organizations=tuple(_organization_sections(context, start, chunk, is_part=number > 0)),
            seats=seat_rows(context, start, shown),
            seats_total=len(positions),
            exchange=None if number else plan_exchange(context),
            unreadable=() if number else tuple(_unreadable(context, start)),
            rests=() if number else tuple(_rests(context, start)),
        )


def _organization_sections(
    context: Context, start: str, chunk: slice, *, is_part: bool
) -> Iterable[OrganizationSection]:
    """The orgdefs with these of their relationships; in a part those that have any there, without the charter."""
    for organization, anchor in zip(
        context.archive.organizations, _anchors(context.archive.organizations), strict=True
    ):
        edges = organization.relationships[chunk]
        if edges or not is_part:
            yield OrganizationSection(
                id=organization.id,
                anchor=anchor,
                name=organization.name,
                version=organization.version,
                mission="" if is_part else cut_line(organization.mission, SUBJECT_CHARS),
                relationships=tuple(relationship_row(context, start, organization, edge) for edge in edges),
                relationships_total=len(organization.relationships),
                charter=() if is_part else tuple(_charter(organization)),
                place=f"{organization.source}/{organization.path}",
                chart=None if is_part else _chart(context, organization),
            )


def _charter(organization: Organization) -> Iterable[tuple[str, str]]:
    """The texts of a charter, together no longer than half a page may be: seats and relationships are there, too."""
    left = PAGE_CHARS // 2
    for heading, text in organization.charter:
        yield cut_line(heading, LABEL_CHARS), shown_extra(text, limit=max(left, 0))
        left -= len(text)


def _unreadable(context: Context, start: str) -> Iterable[Reference]:
    for one in context.archive.artifacts.values():
        if isinstance(one, Library) and one.card.broken == "orgdef":
            yield context.artifact(start, one.ref)


def _rests(context: Context, start: str) -> Iterable[Reference]:
    for one in context.archive.artifacts.values():
        if isinstance(one, Library) and one.card.rest:
            yield context.artifact(start, one.ref)


def _chart(context: Context, organization: Organization) -> Chart | None:
    """The drawing of an organization; of one too large for a drawing, its first positions."""
    seated = tuple(_seated(context, organization, seat) for seat in organization.seats[:_DRAWN])
    edges = (_edge(edge) for edge in organization.relationships[:_EDGES])
    return draw(seated, tuple(edges))


def _seated(context: Context, organization: Organization, seat: Seat) -> Seated:
    """A position by the id that it has in this organization, with what else the orgdef calls it, and its holder."""
    id_ = context.seat_positions.get((organization.id, seat.id))
    name = other_name(seat.name, seat.id)
    return Seated(
        id=seat.id,
        link=replace(context.position(ORGANIZATION, id_), label=cut_line(seat.id, LABEL_CHARS)),
        note=cut_line(joined(" · ", [one for one in (name, seat.incumbent or seat.status) if one]), LABEL_CHARS),
        status=seat.status or "",
        counts=_counts(context, id_),
    )


def _counts(context: Context, position: str | None) -> str:
    """What waits in a position's mailbox: "3 unread, 2 to do"."""
    if position is None:
        return ""
    row = seat_row(context, ORGANIZATION, context.archive.positions[position])
    unread = [phrase("{n:,} unread", n=row.unread)] if row.unread else []
    to_do = [phrase("{n:,} to do", n=row.open_to)] if row.open_to else []
    return joined(", ", (*unread, *to_do))


def _anchors(organizations: Iterable[Organization]) -> Iterator[str]:
    """An anchor for each organization, made of its id; of equal ones the later have a number."""
    seen: Counter[str] = Counter()
    for organization in organizations:
        anchor = f"org-{make_id(organization.id)}"
        seen[anchor] += 1
        yield anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor]}"


def _edge(edge: Relationship) -> Edge:
    """A relationship as a line; `directs` is `reports_to` seen from above."""
    ends = (edge.to, edge.sender) if edge.type == "directs" else (edge.sender, edge.to)
    words = f"{edge.sender} {edge.type.replace('_', ' ')} {edge.to}"
    return Edge(sender=ends[0], to=ends[1], words=cut_line(words, 200), is_rank=edge.type in {"directs", "reports_to"})
