"""The records of all memory-stores, and notes on what was left alone at their places (SPEC 2.2, memory-store)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from memosite.facts import rules
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import LineOf, Parsed
from memosite.formats.memory_store.join import JoinedStores, is_store_part, join_stores
from memosite.formats.memory_store.parts import part_of
from memosite.formats.memory_store.places import FOREIGN, store_of
from memosite.formats.system import DataOf, FilePlace, JoinedRecords, and_others


def join_records(parsed: Sequence[Parsed], line_of: LineOf, data_of: DataOf, *, is_loose: bool) -> JoinedRecords:
    """See `formats/system.Join`."""
    joined = join_stores(parsed, line_of, data_of, is_loose=is_loose)
    return JoinedRecords(
        records=joined.records,
        history=joined.history,
        beside=joined.beside,
        findings=(*joined.findings, *_left_alone(parsed, joined, is_loose=is_loose)),
    )


def _left_alone(parsed: Iterable[Parsed], joined: JoinedStores, *, is_loose: bool) -> Iterator[Finding]:
    """A note for each store on the files in it that are none of its parts, and for each folder that is no store."""
    folders: dict[FilePlace, list[Parsed]] = defaultdict(list)
    for one in parsed:
        is_foreign = one.fact is None and not one.findings
        store = store_of(one.path)
        if store is not None and (is_foreign or (is_store_part(one) and not is_loose)):
            folders[one.source, store[0]].append(one)
    told = _folders_told_of(joined)
    for place, files in folders.items():
        if place not in told:
            others = len(files) - 1
            count = f" with {others} others" if others > 1 else " with another" if others else ""
            message = f"a file{count} in {place[1]}/, which has no config.json with project.id and a numeric version"
            yield _note(files[0], message)
            continue
        strays = [one for one in files if one.fact is None and part_of(one.path) in {"node", "relation"}]
        if strays:
            yield _note(strays[0], FOREIGN + and_others(len(strays) - 1, place[1]))


def _folders_told_of(joined: JoinedStores) -> set[FilePlace]:
    """The folders that are stores, or of which a finding already says that they are none."""
    files = (*(store.file for store in joined.stores), *(card.file for card in joined.records))
    places = {(file.source, file.path) for file in files}
    places |= {(finding.location.source, finding.location.path) for finding in joined.findings}
    return {(source, store[0]) for source, path in places if (store := store_of(path)) is not None}


def _note(parsed: Parsed, message: str) -> Finding:
    return Finding(rule=rules.LEFT_ALONE, location=Location(source=parsed.source, path=parsed.path), message=message)
