"""Plans the pages of records, the lists of their systems, and the pages of the entities that they name."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from memosite.archive.ledger import Ledger
from memosite.archive.model import Link, Record, RecordLink
from memosite.archive.urls import ENTITIES, SYSTEMS, entity_page, page_of, part_page, relative, system_page
from memosite.facts.parsed import Entity, RecordCitation, RecordEvent
from memosite.facts.phrases import phrase
from memosite.facts.texts import cut_line
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.formats.status import sort_of, standing_of
from memosite.formats.system import GroupOrder
from memosite.formats.systems import find_system, system_of
from memosite.pages import PAGE_CHARS, ArtifactPage, ListPage, ListSection, Page, Reference, Row
from memosite.plan import page
from memosite.plan.artifact_page import artifact_fields, body_of
from memosite.plan.context import Context, Written
from memosite.plan.decisions import shown_decider
from memosite.plan.indexes import EntityFacts, entity_id
from memosite.resolve.records import MATCHES


class RelationRow(Value):
    """A relation of a record, with what else is said of it; `is_inverse` if it is written in the other record."""

    predicate: str
    target: Reference
    status: str
    confidence: str
    label: str
    is_inverse: bool


class AnchorRow(Value):
    """An anchor of a record, with a link where it leads to one place; `files` are the artifacts that a glob fits.

    `is_cut` if there may be more of them.
    """

    anchor: Reference
    files: tuple[Reference, ...] = ()
    is_cut: bool = False


class SystemRow(Value):
    """One of the other memory systems: what it is, its records by type, their sources, how many more there are.

    `newest` are its newest records.
    """

    system: Reference
    anchor: str
    intro: str
    newest: tuple[Row, ...]
    total: int
    types: tuple[tuple[str, int], ...]
    sources: tuple[str, ...]
    more_types: int = 0
    more_sources: int = 0


class RecordPage(ArtifactPage):
    """One entry of another memory system; `place` is its file, with the line in a file of many."""

    template: ClassVar[str] = "record.html"

    system: Reference
    type: str
    status: str
    standing: str  # of a decision without a status: lists say it, too
    decided_by: str | None = None  # as of a document
    stage: str
    namespace: str
    record_section: str
    source: str
    place: str
    modified: Moment | None
    is_superseded: bool
    successor: Reference | None  # what took its place: a link, or a name as written
    fields: tuple[tuple[str, str], ...]
    relations: tuple[RelationRow, ...]
    mentions: tuple[Reference, ...]
    anchors: tuple[AnchorRow, ...]
    citations: tuple[tuple[Reference, RecordCitation], ...]  # each with its source
    entities: tuple[tuple[Reference, Entity], ...]
    sessions: tuple[str, ...]
    session_rows: tuple[Row, ...]
    history: tuple[RecordEvent, ...]
    content_hash: str
    hash_state: str  # the result of verifying the content hash
    totals: tuple[tuple[str, int], ...]  # the lengths of lists that are cut


class SystemsPage(Page):
    """The other memory systems, and a link to the entities that their records name."""

    template: ClassVar[str] = "systems.html"

    systems: tuple[SystemRow, ...]
    entities: int


class EntityPage(Page):
    """An entity that records name, and those records."""

    template: ClassVar[str] = "entity.html"

    id: str
    types: tuple[str, ...]
    sections: tuple[ListSection, ...]


class EntitiesPage(Page):
    """All entities that records name, by type, with the number of records."""

    template: ClassVar[str] = "entities.html"

    groups: tuple[tuple[str, tuple[tuple[Reference, int], ...]], ...]


_ROWS = 300
"""The most relations, events, fields or names of one sort on a record's page, which counts them; its twin has all."""


_VALUE_CHARS = 600


_EXTRA_CHARS = 60_000


_HASH_STATES: Mapping[bool | None, str] = {
    True: phrase("verified"),
    False: phrase("does not match"),
    None: phrase("not verified"),
}


def plan_record(context: Context, record: Record) -> Iterator[RecordPage]:
    """The page of a record; several for the rest of a file, which is shown as it is."""
    rest = record.card.text if record.card.is_rest else None
    yield from page.in_verbatim_parts(context, page_of(record), rest, partial(_record_page, context, record))


def _record_page(context: Context, record: Record, start: str) -> RecordPage:
    card = record.card
    links = _links_by_name(record)
    related = {one.written for one in record.relations}
    mentions = [name for name in dict.fromkeys(card.mentions) if name not in {*card.anchors, *related}]
    anchors = list(dict.fromkeys(card.anchors))
    entities = list(_entities(start, record))
    transcripts = [ref for ref in record.sessions if ref in context.archive.artifacts]
    said = {value for _, value in card.fields}
    sessions = tuple(name for name in card.sessions if name not in said)
    is_bare = sort_of(record) == "decision" and not (record.status or record.is_superseded or record.owed_by)
    return RecordPage(
        **artifact_fields(context, record, start, section="systems"),
        body=body_of(context, start, record, card.text),
        is_cut=card.text is not None and card.text.chars > PAGE_CHARS,
        extra=card.extra[:_EXTRA_CHARS],
        extra_left_out=max(0, len(card.extra) - _EXTRA_CHARS),
        system=Reference(label=record.system, href=relative(start, system_page(record.system))),
        type=card.type,
        status=record.status,
        standing=(standing_of(record) or "") if is_bare else "",
        decided_by=shown_decider(record),
        stage=card.stage or "",
        namespace=card.namespace or "",
        record_section=card.section or "",
        source=card.file.source,
        place=card.file.path if card.line is None else f"{card.file.path}:{card.line}",
        modified=card.modified if card.modified != record.date else None,
        is_superseded=record.is_superseded,
        successor=context.successor(start, record),
        fields=tuple((cut_line(label, 100), cut_line(value, _VALUE_CHARS)) for label, value in card.fields[:_ROWS]),
        relations=tuple(relation_row(context, start, record, one) for one in record.relations[:_ROWS]),
        mentions=tuple(_named(context, start, links, name) for name in mentions[:_ROWS]),
        anchors=tuple(_anchor(context, start, links, name) for name in anchors[:_ROWS]),
        citations=tuple(map(_citation, card.citations[:_ROWS])),
        entities=tuple(entities[:_ROWS]),
        sessions=sessions[:_ROWS],
        session_rows=context.rows(start, transcripts[:_ROWS]),
        history=tuple(map(_event, record.history[-_ROWS:])),
        content_hash=cut_line(card.hash_written or "", 100),
        hash_state=_HASH_STATES[card.hash_fits],
        totals=_totals(
            fields=card.fields,
            relations=record.relations,
            mentions=mentions,
            anchors=anchors,
            citations=card.citations,
            entities=entities,
            sessions=sessions,
            session_rows=transcripts,
            history=record.history,
        ),
    )


_EVENTS: Mapping[str, str] = {
    "memory.created": phrase("created", context="event"),
    "memory.updated": phrase("updated"),
    "memory.superseded": phrase("superseded"),
    "relation.created": phrase("relation added"),
}
"""Words for what a store says happened; others are shown without the marks between their words."""


def _event(event: RecordEvent) -> RecordEvent:
    words = " ".join(re.split(r"[._]+", event.event.removeprefix("memory.")))
    return replace(event, event=_EVENTS.get(event.event, words), detail=cut_line(event.detail, _VALUE_CHARS))


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


def _named(context: Context, start: str, links: Mapping[str, list[Link]], name: str) -> Reference:
    """A name as written, with where it leads if it could be resolved."""
    link = next(iter(links.get(name, ())), None)
    href = relative(start, context.page(link.to)) if link and link.to else link.url if link else None
    return Reference(label=cut_line(name, _VALUE_CHARS), href=href)


def _anchor(context: Context, start: str, links: Mapping[str, list[Link]], name: str) -> AnchorRow:
    """An anchor; a glob that fits several files with a link to each."""
    files = [link.to for link in links.get(name, ()) if link.to is not None]
    if len(files) < 2:
        return AnchorRow(anchor=_named(context, start, links, name))
    shown = tuple(context.artifact(start, ref) for ref in files)
    return AnchorRow(anchor=Reference(label=cut_line(name, _VALUE_CHARS)), files=shown, is_cut=len(files) >= MATCHES)


def _citation(citation: RecordCitation) -> tuple[Reference, RecordCitation]:
    """A citation with its source outside; only an address of the web is a link."""
    url = citation.url.strip()
    source = Reference(
        label=cut_line(citation.title or url, 300),
        href=url if url.lower().startswith(("https://", "http://")) else None,
        title=url if citation.title and citation.title != url else "",
    )
    return source, replace(citation, note=cut_line(citation.note, _VALUE_CHARS))


def _entities(start: str, record: Record) -> Iterable[tuple[Reference, Entity]]:
    for entity in record.card.entities:
        id_ = entity_id(entity.name)
        if id_ is not None:
            link = Reference(label=cut_line(entity.name, 200), href=relative(start, entity_page(id_)))
            yield link, replace(entity, relation=entity.relation.replace("_", " ").replace("-", " "))


# Plans the lists of records: the systems, and each system in the ways it can be grouped.


class _Grouping(NamedTuple):
    """A way to group records: what it is called, the heading of those without a value, and the values of a record."""

    label: str
    none: str
    values: Callable[[Record], Iterable[str | None]]


VIEWS: Mapping[str, _Grouping] = {
    "kind": _Grouping(phrase("By kind"), phrase("No kind"), lambda record: (record.card.type,)),
    "status": _Grouping(phrase("By status"), phrase("No status"), lambda record: (record.status,)),
    "stage": _Grouping(phrase("By stage"), phrase("No stage"), lambda record: (record.card.stage,)),
    "namespace": _Grouping(phrase("By namespace"), phrase("No namespace"), lambda record: (record.card.namespace,)),
    "session": _Grouping(phrase("By session"), phrase("No session"), lambda record: record.card.sessions or ("",)),
}
"""By what the records of a system can be grouped besides its own way; each is a page below the system's."""


_NEWEST = 5
"""How many records of each system the page of all systems lists."""


_NAMED = 20
"""The most types and sources that are named of a system among the others."""


def published_systems(context: Context, ledger: Ledger) -> tuple[str, ...]:
    """The systems that have a page: those with records, and those that had any when the site was built before."""
    return tuple(sorted({*context.records, *(one.system for one in ledger.arrivals if one.system)}))


def plan_systems(context: Context, ledger: Ledger) -> Iterator[SystemsPage | ListPage | Written]:
    """The overview of all systems, the pages of each, and their twins; nothing if there never was a record."""
    systems = published_systems(context, ledger)
    if not systems:
        return
    yield SystemsPage(
        **page.head_of(context, SYSTEMS, title=phrase("Records"), section="systems"),
        twins=page.twin_links(SYSTEMS, SYSTEMS),
        systems=tuple(_system_row(context, system) for system in systems),
        entities=len(context.entities),
    )
    totals = [(system, system_page(system), len(context.records.get(system, []))) for system in systems]
    yield from page.name_twins(SYSTEMS, "Records", totals, facts={}, onward=SYSTEMS)
    for system in systems:
        here, records = system_page(system), context.records.get(system, [])
        yield _list_page(context, system, here, records, _own_groups(records))
        yield from page.plan_parts(context, here, system, records, section_name="systems")
        for view in VIEWS:
            yield _list_page(context, system, f"{here}{view}/", records, _groups_by(view, records))
        yield from page.list_twins(context, here, system, records, facts={"system": system})


def _system_row(context: Context, system: str) -> SystemRow:
    records: Sequence[Record] = context.records.get(system, ())
    known = find_system(system)
    types = Counter(record.card.type for record in records)
    ordered = sorted(types, key=lambda type_: (-types[type_], type_))
    sources = sorted({record.card.file.source for record in records})
    return SystemRow(
        system=Reference(label=system, href=relative(SYSTEMS, system_page(system))),
        anchor=system,
        intro=known.intro if known else "",
        newest=page.section(
            context,
            SYSTEMS,
            system,
            records,
            anchor=system,
            limit=_NEWEST,
            title=sources[0] if len(sources) == 1 else "",
        ).rows,
        total=len(records),
        types=tuple((type_, types[type_]) for type_ in ordered[:_NAMED]),
        more_types=max(0, len(ordered) - _NAMED),
        sources=tuple(sources[:_NAMED]),
        more_sources=max(0, len(sources) - _NAMED),
    )


def _list_page(
    context: Context, system: str, start: str, records: Sequence[Record], groups: Mapping[str, Sequence[Record]]
) -> ListPage:
    """A system in one of the ways to group it; all of them lead to the same parts, which hold everything."""
    here = system_page(system)
    view = start.removeprefix(here).strip("/")
    # Anchors were made of the keys of groups, which are the headings in English.
    names = {str(view.none): view.none for view in VIEWS.values()}
    return ListPage(
        **page.head_of(context, start, title=_title(system, view), section="systems"),
        feeds=(Reference(label=phrase("Records of {system}", system=system), href=relative(start, here + "feed.xml")),),
        twins=() if view else page.twin_links(start, here),
        parts=page.part_links(start, here, page.part_count(records), None),
        intro=known.intro if (known := find_system(system)) else "",
        sections=page.grouped_sections(context, start, groups, names=names, title=_title(system, view)),
        views=tuple(_views(system, start, records)),
    )


def _title(system: str, view: str) -> str:
    titles = {
        "kind": phrase("{system} by kind", system=system),
        "status": phrase("{system} by status", system=system),
        "stage": phrase("{system} by stage", system=system),
        "namespace": phrase("{system} by namespace", system=system),
        "session": phrase("{system} by session", system=system),
    }
    return titles.get(view, system)


def _views(system: str, start: str, records: Sequence[Record]) -> Iterable[Reference]:
    """Links to the ways of grouping that are useful here; the one that is shown is no link."""
    here = system_page(system)
    useful = [view for view, by in VIEWS.items() if any(value for record in records for value in by.values(record))]
    for view in ("", *useful):
        target = f"{here}{view}/" if view else here
        label = VIEWS[view].label if view else phrase("Overview")
        yield Reference(label=label, href=None if target == start else relative(start, target))


def _groups_by(view: str, records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by each value they have, in the order of the values; what has none comes last."""
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        for value in dict.fromkeys(VIEWS[view].values(record)):
            found[value or ""].append(record)
    ordered = sorted(found, key=lambda value: (not value, value.casefold(), value))
    return {value or f"No {view}": found[value] for value in ordered}


def _own_groups(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by their system's own grouping, in its own order."""
    found: dict[tuple[GroupOrder, str], list[Record]] = defaultdict(list)
    for record in records:
        found[system_of(record.card).group(record.card)].append(record)
    groups: dict[str, list[Record]] = {}
    for place, heading in sorted(found):
        groups.setdefault(heading, []).extend(found[place, heading])
    return groups


# Plans the pages of entities, the things that records name, and the page that lists them all.


_NO_TYPE = phrase("No type")


def plan_entities(context: Context, ledger: Ledger) -> Iterator[EntitiesPage | EntityPage | ListPage | Written]:
    """A page each, and one of all of them, in parts where they are many, in the order of the ledger."""
    if not ledger.entities:
        return
    known = [context.entities[id_] for id_ in ledger.entities if id_ in context.entities]
    chunks = page.in_parts(known)
    for number in range(len(chunks) + 1 if len(chunks) > 1 else 1):
        start = part_page(ENTITIES, number) if number else ENTITIES
        yield EntitiesPage(
            **page.head_of(context, start, title=page.part_title(phrase("Entities"), number), section="systems"),
            twins=() if number else page.twin_links(start, ENTITIES),
            parts=page.part_links(start, ENTITIES, number or len(chunks), number or len(chunks))
            if len(chunks) > 1
            else (),
            groups=_entity_groups(start, chunks[number - 1]),
        )
    for entity in known:
        yield from _plan_entity(context, entity)
    names = [(one.name, entity_page(one.id), len(one.records)) for one in known]
    yield from page.name_twins(ENTITIES, "Entities", names, facts={}, onward=ENTITIES)


def _entity_groups(
    start: str, entities: Iterable[EntityFacts]
) -> tuple[tuple[str, tuple[tuple[Reference, int], ...]], ...]:
    groups: dict[str, list[EntityFacts]] = defaultdict(list)
    for entity in entities:
        types = ", ".join(entity.types)
        groups[types[:1].upper() + types[1:] if types.strip() else _NO_TYPE].append(entity)
    return tuple(
        (
            type_,
            tuple(
                (Reference(label=one.name, href=relative(start, entity_page(one.id))), len(one.records))
                for one in sorted(groups[type_], key=lambda one: (one.name.casefold(), one.id))
            ),
        )
        for type_ in sorted(groups, key=lambda type_: (type_ == _NO_TYPE, type_))
    )


def _plan_entity(context: Context, entity: EntityFacts) -> Iterator[EntityPage | ListPage]:
    here = entity_page(entity.id)
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in entity.records:
        groups[f"records of {record.system}"].append(record)
    names = {key: phrase("Records of {system}", system=some[0].system) for key, some in groups.items()}
    yield EntityPage(
        **page.head_of(context, here, title=entity.name, section="systems"),
        parts=page.part_links(here, here, page.part_count(entity.records), None),
        id=entity.id,
        types=entity.types,
        sections=page.grouped_sections(context, here, groups, names=names, title=entity.name),
    )
    yield from page.plan_parts(context, here, entity.name, entity.records, section_name="systems")
