"""Indexes the entities that records name, over all sources; upper and lower case are the same entity."""

from collections.abc import Iterable
from dataclasses import dataclass

from memosite.archive.model import Artifact, Record
from memosite.facts.names import make_id


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityFacts:
    """An entity: its name as first written, its types, and the records that name it, in order of arrival."""

    id: str
    name: str
    types: tuple[str, ...]
    records: tuple[Record, ...]


def entity_id(name: str) -> str | None:
    """The id of an entity, the same for upper and lower case; None for an empty name."""
    words = " ".join(name.split())
    return make_id(words.casefold()) if words else None


def collect_entities(artifacts: Iterable[Artifact]) -> dict[str, EntityFacts]:
    """All entities by id, in the order in which they are first named."""
    names: dict[str, str] = {}
    types: dict[str, set[str]] = {}
    records: dict[str, dict[str, Record]] = {}
    for record in artifacts:
        for entity in record.card.entities if isinstance(record, Record) else ():
            id_ = entity_id(entity.name)
            if id_ is None or not isinstance(record, Record):
                continue
            names.setdefault(id_, " ".join(entity.name.split()))
            types.setdefault(id_, set()).update({entity.type} if entity.type else ())
            records.setdefault(id_, {})[record.id] = record
    return {
        id_: EntityFacts(id=id_, name=names[id_], types=tuple(sorted(types[id_])), records=tuple(found.values()))
        for id_, found in records.items()
    }
