"""Plans the rows of relationships, as the pages of the organization and of positions show them."""

from dataclasses import replace

from memosite.archive.urls import ORGANIZATION, relative
from memosite.facts.parsed import Organization, Relationship
from memosite.facts.phrases import phrase
from memosite.facts.texts import cut_line
from memosite.pages.organization import RelationshipRow
from memosite.pages.parts import Reference
from memosite.plan.artifact_page import shown_extra
from memosite.plan.context import Context

_EDGE_CHARS = 300


def relationship_row(context: Context, start: str, organization: Organization, edge: Relationship) -> RelationshipRow:
    """One relationship of an organization, with links to both ends."""

    def end(name: str) -> Reference:
        """Ends are seats of the organization, `external:<id>`, or the organization's own id."""
        if name == organization.id:
            return Reference(label=organization.name, href=relative(start, ORGANIZATION))
        outside = name.removeprefix("external:")
        if outside != name:
            return replace(context.named(start, outside), title=phrase("outside this organization"))
        id_ = context.seat_positions.get((organization.id, name))
        return context.position(start, id_) if id_ else Reference(label=name)

    return RelationshipRow(
        type=edge.type.replace("_", " "),
        sender=end(edge.sender),
        to=end(edge.to),
        description=cut_line(edge.description, _EDGE_CHARS),
        extra=shown_extra(edge.extra, limit=_EDGE_CHARS),
    )
