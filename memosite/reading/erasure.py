"""Erasure: takes the content of what `erase` names out of what an archive is resolved from (SPEC 9).

It is decided by artifact, so all copies in all sources lose it. Their facts stay, without content, and so do address,
thread, feed item and place. Of a list file only the entry loses it; the file that its entries share is not published.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from memosite.archive.history import History, file_key
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Artifact, Record
from memosite.config.policy import Erasure
from memosite.facts import rules
from memosite.facts.contents import bare_record, without_content
from memosite.facts.findings import Finding, Location, Rule
from memosite.facts.layout import CONFIG_NAME
from memosite.facts.parsed import Parsed, RecordCard, RecordFile, RecordPart, Ref
from memosite.facts.withheld import Withheld
from memosite.formats.system import FilePlace
from memosite.formats.systems import home_of
from memosite.reading.content import Content, Policy, Reread
from memosite.store.shelf import Shelf

_Entries = Mapping[FilePlace, Mapping[int, Withheld]]
"""Erased entries of list files, by the lines at which they begin."""


def erase(content: Content, archive: Archive, policy: Policy, _shelf: Shelf, _reread: Reread) -> Content:
    """The content without that of erased artifacts."""
    if not policy.erase:
        return content
    erased, findings = _erased(policy, content.ledger, archive)
    there = {ref: withheld for ref, withheld in erased.items() if ref in archive.artifacts}
    whole: dict[FilePlace, Withheld] = {}
    entries: dict[FilePlace, dict[int, Withheld]] = defaultdict(dict)
    for ref, withheld in there.items():
        artifact = archive.artifacts[ref]
        for place in _places(artifact):
            if isinstance(artifact, Record) and artifact.card.line is not None:
                entries[place][artifact.card.line] = withheld
            else:
                whole[place] = withheld
    facts = tuple(_without(one, whole, entries) for one in content.facts)
    if findings:
        facts += (Parsed(source="", path="", findings=findings),)
    return replace(
        content,
        facts=facts,
        histories={source: _forget(history, source, whole) for source, history in content.histories.items()},
        unstored=content.unstored | whole.keys() | entries.keys() | _beside(content.facts, whole),
        erased={ref: withheld for ref, withheld in erased.items() if ref not in there},
    )


# What is named


def _erased(policy: Policy, ledger: Ledger, archive: Archive) -> tuple[dict[Ref, Withheld], tuple[Finding, ...]]:
    """The artifacts that entries name, and findings on entries that name none, or several.

    Those of an audience that does not see everything name no artifact: a log may be public.
    """
    known = _known(ledger, archive)
    erased: dict[Ref, Withheld] = {}
    findings = []
    for entry in policy.erase:
        refs = [ref for ref in known.get(entry.id, ()) if entry.kind in {None, ref[0]}]
        if not refs:
            findings.append(_finding(rules.ERASE_UNKNOWN, entry, "nothing of this id is known"))
        if len({kind for kind, _ in refs}) > 1:
            is_whole = policy.audience == "internal"
            names = ", ".join(sorted("/".join(ref) for ref in refs)) if is_whole else "items of several kinds"
            findings.append(_finding(rules.ERASE_AMBIGUOUS, entry, f"it means {names}"))
        for ref in refs:
            now = _present(ref, ledger, archive)
            erased[now] = entry.withheld(policy.published.get("/".join(now), ()))
    return erased, tuple(findings)


def _finding(rule: Rule, entry: Erasure, what: str) -> Finding:
    where = Location(source="", path=CONFIG_NAME, line=entry.line or None)
    return Finding(rule=rule, location=where, message=f'erase names "{entry.name}": {what}')


def _known(ledger: Ledger, archive: Archive) -> dict[str, list[Ref]]:
    """Everything by its id: what is there, what was published, what git says was removed, what is missing."""
    records = (one for one in archive.artifacts.values() if isinstance(one, Record))
    former: Iterator[Ref] = (("record", id_) for one in records for id_ in one.former)
    missing = ((ghost.kind, ghost.id) for ghost in archive.ghosts.values())
    refs = dict.fromkeys((*archive.artifacts, *ledger.numbers, *archive.removed, *ledger.ghosts, *missing, *former))
    known: dict[str, list[Ref]] = defaultdict(list)
    for kind, id_ in refs:
        known[id_].append((kind, id_))
    return known


def _present(ref: Ref, ledger: Ledger, archive: Archive) -> Ref:
    """The artifact that a former id leads to now; the id itself if it leads nowhere."""
    if ref in archive.artifacts:
        return ref
    for one in archive.artifacts.values():
        if isinstance(one, Record) and one.kind == ref[0] and ref[1] in one.former:
            return one.ref
    key = ledger.keys_by_ref.get(ref)
    now = {ledger.keys_by_ref.get(one): one for one in archive.artifacts} if key else {}
    return now.get(key, ref)


def _places(artifact: Artifact) -> Iterator[FilePlace]:
    """The files of an artifact, by source and path."""
    for copy in artifact.copies:
        yield copy.file.source, copy.file.path
        if copy.body_path:
            yield copy.file.source, copy.body_path


# What loses its content


def _without(parsed: Parsed, whole: Mapping[FilePlace, Withheld], entries: _Entries) -> Parsed:
    place = (parsed.source, parsed.path)
    if place in whole:
        return without_content(parsed, whole[place])
    if place in entries and isinstance(parsed.fact, RecordFile):
        return _without_entries(parsed, parsed.fact, entries[place])
    return parsed


def _without_entries(parsed: Parsed, file: RecordFile, erased: Mapping[int, Withheld]) -> Parsed:
    """The result of a list file without what these entries say, and without the findings on them."""
    records = tuple(_entry(card, erased) for card in file.records)
    rest = _rest(file.rest, erased) if file.rest else None
    begins = sorted(card.line for card in file.records if card.line is not None)
    findings = tuple(one for one in parsed.findings if _entry_line(one, begins) not in erased)
    return replace(parsed, fact=replace(file, records=records, rest=rest), findings=findings)


def _entry(card: RecordCard, erased: Mapping[int, Withheld]) -> RecordCard:
    withheld = erased.get(card.line or 0)
    return bare_record(card, withheld) if withheld else replace(card, is_alone=True)


def _rest(rest: RecordCard, erased: Mapping[int, Withheld]) -> RecordCard:
    """The rest of a list, which is one text: it has none if an erased entry is in it."""
    inside = [withheld for line, withheld in erased.items() if line >= (rest.line or 0)]
    return bare_record(rest, inside[0]) if inside else replace(rest, is_alone=True)


def _entry_line(finding: Finding, begins: list[int]) -> int:
    """The line of the entry that a finding is about, 0 if it is about none."""
    at = bisect_right(begins, finding.location.line or 0)
    return begins[at - 1] if at else 0


def _beside(facts: Iterable[Parsed], places: Collection[FilePlace]) -> frozenset[FilePlace]:
    """The files that tell of erased records besides their own: those of the same store."""
    stores = {(source, home) for source, path in places if (home := home_of(path))}
    parts = ((one.source, one.path) for one in facts if stores and isinstance(one.fact, RecordPart))
    return frozenset(place for place in parts if (place[0], home_of(place[1])) in stores)


def _forget(history: History, source: str, places: Collection[FilePlace]) -> History:
    """A history without the former contents of these files, unless other files have had them, too."""
    keys = {file_key(path) for of, path in places if of == source}
    if not keys:
        return history
    others = {
        blob
        for key, events in history.events.items()
        if key not in keys
        for event in events
        for blob in (event.before, event.after)
    }
    own = {blob for key in keys for event in history.events.get(key, ()) for blob in (event.before, event.after)}
    return replace(history, blobs={blob: digest for blob, digest in history.blobs.items() if blob not in own - others})
