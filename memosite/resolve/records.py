"""Gathers the records of the other memory systems, and says which files at their places were left alone (SPEC 2.2)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memosite.archive.model import SourceInfo
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import Parsed, RecordCard, RecordEvent, RecordFile, System
from memosite.formats.memory_store.join import DataOf, JoinedStores, Place, is_store_part, join_stores
from memosite.formats.memory_store.parts import part_of
from memosite.formats.record_places import record_system, store_of
from memosite.resolve.bodies import LineOf

_FOREIGN: Mapping[System, str] = {
    "memory-layer": "a JSON file in a memory-layer's folder without meta.category and content",
    "wyren": "Markdown in wyren's folder, with none of its sections",
    "mif": "named like a record of MIF, but without the id, type and further fields that make one",
    "memory-store": "a file in a memory-store's folder that is none of its parts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The records in the order of the sources, their paths, and within files; and what is known beside them.

    `history` is by the source and the path of a record's file; `beside` likewise, see `JoinedStores`.
    """

    cards: tuple[RecordCard, ...]
    history: Mapping[Place, tuple[RecordEvent, ...]]
    beside: Mapping[Place, tuple[Place, ...]]
    findings: tuple[Finding, ...]


def collect_records(
    parsed: Iterable[Parsed], sources: tuple[SourceInfo, ...], line_of: LineOf, data_of: DataOf, *, is_loose: bool
) -> Kept:
    """Every record, those of memory-stores joined from their parts; `is_loose` as in `join_stores`."""
    position = {source.name: number for number, source in enumerate(sources)}
    ordered = sorted(parsed, key=lambda one: (position.get(one.source, len(position)), one.source, one.path))
    joined = join_stores(ordered, line_of, data_of, is_loose=is_loose)
    cards = list(joined.records)
    for one in ordered:
        if isinstance(one.fact, RecordFile) and not is_store_part(one):
            cards += one.fact.records
    # Sorting is stable: within a file the order stays.
    cards.sort(key=lambda card: (position.get(card.file.source, len(position)), card.file.source, card.file.path))
    return Kept(
        cards=tuple(cards),
        history=joined.history,
        beside=joined.beside,
        findings=(*joined.findings, *_left_alone(ordered, joined, is_loose=is_loose)),
    )


def _left_alone(ordered: list[Parsed], joined: JoinedStores, *, is_loose: bool) -> Iterator[Finding]:
    """A note for each file at a place of records that holds none; for a folder that is no memory-store a single one."""
    folders: dict[Place, list[Parsed]] = defaultdict(list)
    for one in ordered:
        is_foreign = one.fact is None and not one.findings
        if not is_foreign and (is_loose or not is_store_part(one)):
            continue
        store = store_of(one.path)
        if store is not None:
            folders[one.source, store[0]].append(one)
        elif is_foreign and (system := record_system(one.path)) is not None:
            yield _note(one, _what(one.path, system))
    told = _folders_told_of(joined)
    for place, files in folders.items():
        if place not in told:
            others = len(files) - 1
            count = f" with {others} others" if others > 1 else " with another" if others else ""
            message = f"a file{count} in {place[1]}/, which has no config.json with project.id and a numeric version"
            yield _note(files[0], message)
            continue
        for one in files:
            if one.fact is None and part_of(one.path) in {"node", "relation"}:
                yield _note(one, _FOREIGN["memory-store"])


def _what(path: str, system: System) -> str:
    if system == "memory-layer" and path.lower().endswith(".md"):
        return "Markdown in a memory-layer's folder, which keeps JSON"
    return _FOREIGN[system]


def _folders_told_of(joined: JoinedStores) -> set[Place]:
    """The folders that are stores, or of which a finding already says that they are none."""
    files = (*(store.file for store in joined.stores), *(card.file for card in joined.records))
    places = {(file.source, file.path) for file in files}
    places |= {(finding.location.source, finding.location.path) for finding in joined.findings}
    return {(source, store[0]) for source, path in places if (store := store_of(path)) is not None}


def _note(parsed: Parsed, message: str) -> Finding:
    return Finding(rule="left-alone", location=Location(source=parsed.source, path=parsed.path), message=message)
