"""Plans the pages of entities, the things that records name, and the page that lists them all."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from memosite.archive.ledger import Ledger
from memosite.archive.model import Record
from memosite.archive.urls import ENTITIES, entity_page, part_page, relative
from memosite.facts.phrases import phrase
from memosite.pages.models import EntitiesPage, EntityPage, ListPage
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.entity_index import EntityFacts
from memosite.plan.files import Written
from memosite.plan.head import page_head, twin_links
from memosite.plan.pagination import in_parts, part_count, part_links, part_title, plan_parts
from memosite.plan.sections import grouped_sections
from memosite.plan.twins import name_twins

_NO_TYPE = phrase("No type")


def plan_entities(context: Context, ledger: Ledger) -> Iterator[EntitiesPage | EntityPage | ListPage | Written]:
    """A page each, and one of all of them, in parts where they are many, in the order of the ledger."""
    if not ledger.entities:
        return
    known = [context.entities[id_] for id_ in ledger.entities if id_ in context.entities]
    chunks = in_parts(known)
    for number in range(len(chunks) + 1 if len(chunks) > 1 else 1):
        start = part_page(ENTITIES, number) if number else ENTITIES
        yield EntitiesPage(
            **page_head(context, start, title=part_title(phrase("Entities"), number), section="systems"),
            twins=() if number else twin_links(start, ENTITIES),
            parts=part_links(start, ENTITIES, number or len(chunks), number or len(chunks)) if len(chunks) > 1 else (),
            groups=_entity_groups(start, chunks[number - 1]),
        )
    for entity in known:
        yield from _plan_entity(context, entity)
    names = [(one.name, entity_page(one.id), len(one.records)) for one in known]
    yield from name_twins(ENTITIES, "Entities", names, facts={}, onward=ENTITIES)


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
        **page_head(context, here, title=entity.name, section="systems"),
        parts=part_links(here, here, part_count(entity.records), None),
        id=entity.id,
        types=entity.types,
        sections=grouped_sections(context, here, groups, names=names),
    )
    yield from plan_parts(context, here, entity.name, entity.records, section_name="systems")
