"""Collects the records of all systems, and notes which files at their places were skipped (SPEC 2.2)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memosite.archive.model import SourceInfo
from memosite.facts import rules
from memosite.facts.contents import bare_record
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import LineOf, Parsed, RecordCard, RecordEvent, RecordFile
from memosite.formats.system import DataOf, FilePlace, and_others
from memosite.formats.systems import SYSTEMS, is_part, owner_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The records in the order of the sources, their paths, and within files; and the facts beside them.

    `history` and `beside` are by the source and the path of a record's file, see `JoinedRecords`.
    """

    cards: tuple[RecordCard, ...]
    history: Mapping[FilePlace, tuple[RecordEvent, ...]]
    beside: Mapping[FilePlace, tuple[FilePlace, ...]]
    findings: tuple[Finding, ...]


def collect_records(
    parsed: Iterable[Parsed], sources: tuple[SourceInfo, ...], line_of: LineOf, data_of: DataOf, *, is_loose: bool
) -> Kept:
    """Every record, with those joined that are kept in several files; `is_loose` as in `formats/system.Join`."""
    position = {source.name: number for number, source in enumerate(sources)}
    ordered = sorted(parsed, key=lambda one: (position.get(one.source, len(position)), one.source, one.path))
    joined = [system.join(ordered, line_of, data_of, is_loose=is_loose) for system in SYSTEMS if system.join]
    cards = [card for one in joined for card in one.records]
    for one in ordered:
        if isinstance(one.fact, RecordFile) and not is_part(one):
            cards += (*one.fact.records, one.fact.rest) if one.fact.rest else one.fact.records
    # Sorting is stable: within a file the order stays.
    cards.sort(key=lambda card: (position.get(card.file.source, len(position)), card.file.source, card.file.path))
    cards = [bare_record(card, card.withheld) if card.withheld else card for card in cards]
    bare = {(card.file.source, card.file.path) for card in cards if card.withheld}
    return Kept(
        cards=tuple(cards),
        history={place: events for one in joined for place, events in one.history.items() if place not in bare},
        beside={place: files for one in joined for place, files in one.beside.items()},
        findings=(*(finding for one in joined for finding in one.findings), *_left_alone(ordered)),
    )


def _left_alone(ordered: Iterable[Parsed]) -> Iterator[Finding]:
    """A note on the files at the place of a system that hold none of its records; joining systems report theirs.

    There is one for each store, and for each folder outside of stores: another tool may keep hundreds of files there.
    """
    folders: dict[tuple[str, str, str], list[tuple[str, str]]] = defaultdict(list)
    for one in ordered:
        owner = owner_of(one.path) if one.fact is None and not one.findings else None
        if owner is not None and owner.join is None:
            home = owner.home(one.path)
            folder = one.path.rpartition("/")[0] if home is None else home
            folders[one.source, owner.name, folder].append((one.path, owner.foreign(one.path)))
    for (source, _, folder), files in folders.items():
        path, what = files[0]
        where = Location(source=source, path=path)
        yield Finding(rule=rules.LEFT_ALONE, location=where, message=what + and_others(len(files) - 1, folder))
