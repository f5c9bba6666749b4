"""Plans the pages of records: one entry of another memory system each, with all that is known of it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from memosite.archive.model import Link, Record, RecordLink
from memosite.archive.urls import entity_page, page_of, relative, system_page
from memosite.facts.parsed import RecordCitation
from memosite.facts.phrases import phrase
from memosite.facts.texts import cut_line
from memosite.formats.status import is_superseded, status_of
from memosite.pages.models import RecordPage
from memosite.pages.parts import PAGE_CHARS, AnchorRow, CitationRow, EntityRow, EventRow, Reference, RelationRow
from memosite.plan.artifact_page import artifact_fields, body_of
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.decisions import shown_decider
from memosite.plan.entity_index import entity_id
from memosite.plan.pagination import in_verbatim_parts
from memosite.resolve.anchors import MATCHES

_ROWS = 300
"""The most relations, events, fields or names of one sort on a record's page, which counts them; its twin has all."""

_VALUE_CHARS = 600
_EXTRA_CHARS = 60_000
_HASH_STATES: Mapping[bool | None, str] = MappingProxyType(
    {True: phrase("verified"), False: phrase("does not match"), None: phrase("not verified")}
)


def plan_record(context: Context, record: Record) -> Iterator[RecordPage]:
    """The page of a record; several for the rest of a file, which is shown as it is."""
    rest = record.card.text if record.card.is_rest else None
    yield from in_verbatim_parts(context, page_of(record), rest, partial(_record_page, context, record))


def _record_page(context: Context, record: Record, start: str) -> RecordPage:
    card = record.card
    links = _links_by_name(record)
    related = {one.written for one in record.relations}
    mentions = [name for name in dict.fromkeys(card.mentions) if name not in {*card.anchors, *related}]
    anchors = list(dict.fromkeys(card.anchors))
    entities = list(_entities(start, record))
    transcripts = [ref for ref in record.sessions if ref in context.archive.artifacts]
    return RecordPage(
        **artifact_fields(context, record, start, section="systems"),
        date_written="",
        body=body_of(context, start, record, card.text),
        is_cut=card.text is not None and card.text.chars > PAGE_CHARS,
        extra=card.extra[:_EXTRA_CHARS],
        extra_left_out=max(0, len(card.extra) - _EXTRA_CHARS),
        system=Reference(label=record.system, href=relative(start, system_page(record.system))),
        type=card.type,
        status=status_of(record),
        decided_by=shown_decider(record),
        stage=card.stage or "",
        namespace=card.namespace or "",
        record_section=card.section or "",
        source=card.file.source,
        place=card.file.path if card.line is None else f"{card.file.path}:{card.line}",
        modified=stamp(card.modified),
        is_superseded=is_superseded(record),
        successor=context.successor(start, record),
        fields=tuple((cut_line(label, 100), cut_line(value, _VALUE_CHARS)) for label, value in card.fields[:_ROWS]),
        relations=tuple(relation_row(context, start, record, one) for one in record.relations[:_ROWS]),
        mentions=tuple(_named(context, start, links, name) for name in mentions[:_ROWS]),
        anchors=tuple(_anchor(context, start, links, name) for name in anchors[:_ROWS]),
        citations=tuple(map(_citation, card.citations[:_ROWS])),
        entities=tuple(entities[:_ROWS]),
        sessions=card.sessions[:_ROWS],
        session_rows=context.rows(start, transcripts[:_ROWS]),
        history=tuple(
            EventRow(event=one.event, at=stamp(one.at), actor=one.actor, detail=cut_line(one.detail, _VALUE_CHARS))
            for one in record.history[-_ROWS:]
        ),
        content_hash=cut_line(card.hash_written or "", 100),
        hash_state=_HASH_STATES[card.hash_fits],
        totals=_totals(
            fields=card.fields,
            relations=record.relations,
            mentions=mentions,
            anchors=anchors,
            citations=card.citations,
            entities=entities,
            sessions=card.sessions,
            session_rows=transcripts,
            history=record.history,
        ),
    )


def _totals(**lists: Sequence[object]) -> tuple[tuple[str, int], ...]:
    """The lengths of those lists that a page cannot hold, by their names."""
    return tuple((name, len(entries)) for name, entries in lists.items() if len(entries) > _ROWS)


def relation_row(context: Context, start: str, record: Record, link: RecordLink) -> RelationRow:
    """A relation as the page `start` shows it."""
    written = cut_line(link.written, 200)
    is_there = link.to is not None and link.to in context.archive.artifacts
    target = context.artifact(start, link.to) if link.to is not None and is_there else Reference(label=written)
    return RelationRow(
        predicate=link.predicate.replace("_", " ").replace("-", " "),
        target=target,
        status=link.status or "",
        confidence=link.confidence or "",
        label="" if link.label in {target.label, link.written, record.subject} else cut_line(link.label, _VALUE_CHARS),
        is_inverse=link.is_inverse,
    )


def _links_by_name(record: Record) -> Mapping[str, list[Link]]:
    found: dict[str, list[Link]] = defaultdict(list)
    for link in record.links:
        found[link.written].append(link)
    return found


def _href(context: Context, start: str, link: Link) -> str | None:
    return link.url if link.to is None else relative(start, context.page(link.to))


def _named(context: Context, start: str, links: Mapping[str, list[Link]], name: str) -> Reference:
    """A name as written, with where it leads if it could be resolved."""
    found = links.get(name)
    return Reference(label=cut_line(name, _VALUE_CHARS), href=_href(context, start, found[0]) if found else None)


def _anchor(context: Context, start: str, links: Mapping[str, list[Link]], name: str) -> AnchorRow:
    """An anchor; a glob that fits several files with a link to each."""
    files = [link.to for link in links.get(name, ()) if link.to is not None]
    if len(files) < 2:
        return AnchorRow(anchor=_named(context, start, links, name))
    return AnchorRow(
        anchor=Reference(label=cut_line(name, _VALUE_CHARS)),
        files=tuple(context.artifact(start, ref) for ref in files),
        is_cut=len(files) >= MATCHES,
    )


def _citation(citation: RecordCitation) -> CitationRow:
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
