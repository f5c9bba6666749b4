"""Plans the pages of records: one entry of another memory system each, with all that is known of it."""

from collections.abc import Iterable, Mapping

from memosite.facts import Citation
from memosite.model import Record, RecordLink
from memosite.page_parts import PAGE_CHARS, CitationRow, EntityRow, EventRow, Reference, RelationRow
from memosite.pages import RecordPage
from memosite.plan.common import body_of, common_fields, link_targets, shown_extra
from memosite.plan.context import Context, is_superseded, stamp, status_of
from memosite.plan.entities import entity_id
from memosite.texts import cut_line
from memosite.urls import entity_page, page_of, relative, system_page

_ROWS = 300
"""The most relations, events, fields or names of one sort on a record's page; its twins hold all."""

_VALUE_CHARS = 600
_EXTRA_CHARS = 60_000


def plan_record(context: Context, record: Record) -> RecordPage:
    """The page of a record."""
    start = page_of(record)
    card = record.card
    links = dict(link_targets(context, start, record))
    related = {one.written for one in record.relations}
    return RecordPage(
        **common_fields(context, record, start),  # type: ignore[arg-type] # the fields are typed by the class
        section="systems",
        date_written="",
        body=body_of(context, start, record, card.text),
        is_cut=card.text is not None and card.text.chars > PAGE_CHARS,
        extra=shown_extra(card.extra, limit=_EXTRA_CHARS),
        system=Reference(label=record.system, href=relative(start, system_page(record.system))),
        type=card.type,
        status=status_of(record),
        stage=card.stage or "",
        namespace=card.namespace or "",
        record_section=card.section or "",
        source=card.file.source,
        place=card.file.path if card.line is None else f"{card.file.path}:{card.line}",
        modified=stamp(card.modified),
        is_superseded=is_superseded(record),
        successor=context.successor(start, record),
        fields=tuple((cut_line(label, 100), cut_line(value, _VALUE_CHARS)) for label, value in card.fields[:_ROWS]),
        relations=tuple(_relation(context, start, record, one) for one in record.relations[:_ROWS]),
        relations_total=len(record.relations),
        mentions=_named(links, (name for name in card.mentions if name not in {*card.anchors, *related})),
        anchors=_named(links, card.anchors),
        citations=tuple(map(_citation, card.citations[:_ROWS])),
        entities=tuple(_entities(start, record))[:_ROWS],
        sessions=card.sessions[:_ROWS],
        session_rows=context.rows(start, [ref for ref in record.sessions if ref in context.archive.artifacts][:_ROWS]),
        history=tuple(
            EventRow(event=one.event, at=stamp(one.at), actor=one.actor, detail=cut_line(one.detail, _VALUE_CHARS))
            for one in record.history[-_ROWS:]
        ),
        history_total=len(record.history),
        left_out=tuple(_left_out(record)),
        content_hash=card.hash_written or "",
    )


def _left_out(record: Record) -> Iterable[tuple[str, int]]:
    """How many of each sort are more than the page shows, relations and events apart, of which the page says so."""
    card = record.card
    counts = (
        ("fields", len(card.fields)),
        ("citations", len(card.citations)),
        ("entities", len(card.entities)),
        ("anchors", len(card.anchors)),
        ("mentions", len(card.mentions)),
        ("sessions", max(len(card.sessions), len(record.sessions))),
    )
    return ((name, number - _ROWS) for name, number in counts if number > _ROWS)


def _relation(context: Context, start: str, record: Record, link: RecordLink) -> RelationRow:
    written = cut_line(link.written, 200)
    is_there = link.to is not None and link.to in context.archive.artifacts
    target = context.artifact(start, link.to) if link.to is not None and is_there else Reference(label=written)
    return RelationRow(
        predicate=link.predicate.replace("_", " ").replace("-", " "),
        target=target,
        label="" if link.label in {target.label, link.written, record.subject} else cut_line(link.label, _VALUE_CHARS),
        status=link.status or "",
        confidence=link.confidence or "",
        is_inverse=link.is_inverse,
    )


def _named(links: Mapping[str, str], names: Iterable[str]) -> tuple[Reference, ...]:
    """Names as written, each with where it leads if it could be resolved."""
    shown = dict.fromkeys(names)
    return tuple(Reference(label=name, href=links.get(name)) for name in shown)[:_ROWS]


def _citation(citation: Citation) -> CitationRow:
    url = citation.url.strip()
    is_web = url.lower().startswith(("https://", "http://"))
    return CitationRow(
        source=Reference(
            label=cut_line(citation.title or url, 300),
            href=url if is_web else None,
            title=url if citation.title and citation.title != url else "",
        ),
        type=citation.type,
        author=citation.author,
        date=citation.date,
        note=cut_line(citation.note, _VALUE_CHARS),
    )


def _entities(start: str, record: Record) -> Iterable[EntityRow]:
    for entity in record.card.entities:
        id_ = entity_id(entity.name)
        if id_ is not None:
            yield EntityRow(
                entity=Reference(label=cut_line(entity.name, 200), href=relative(start, entity_page(id_))),
                type=entity.type or "",
                relation=entity.relation.replace("_", " ").replace("-", " "),
            )
