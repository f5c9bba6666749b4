"""Sorts the facts of single files by kind, and leaves out envelopes in other places (SPEC 2.2).

An envelope counts below a `memos/`, `notes/` or `transcripts/` folder, where an orgdef's `x.org.memo_location`
says, or where the configuration includes it; elsewhere it is named in a note and left out.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace

from memosite.archive.ledger import Ledger
from memosite.archive.model import SourceInfo
from memosite.facts import rules
from memosite.facts.bounds import NAMED
from memosite.facts.findings import Finding, Location
from memosite.facts.layout import Place, matches_any, memo_folder, place_of
from memosite.facts.names import make_id
from memosite.facts.parsed import BodyFile, DocumentHead, Envelope, LibraryCard, Organization, Parsed, Seat
from memosite.formats.systems import is_part


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """Facts by kind, each in the order of the sources, then by path; and the folders that orgdefs name for memos."""

    envelopes: tuple[Envelope, ...]
    bodies: Mapping[tuple[str, str], BodyFile]
    organizations: tuple[Organization, ...]
    libraries: tuple[LibraryCard, ...]
    documents: tuple[DocumentHead, ...]
    memo_folders: tuple[str, ...]
    findings: tuple[Finding, ...]


def memo_folders(organizations: Iterable[Organization]) -> tuple[str, ...]:
    """The folders that `x.org.memo_location` of these organizations names, beside `memos`."""
    named = (memo_folder(said) for organization in organizations for said in organization.memo_locations)
    return tuple(sorted({folder for folder in named if folder}))


def operational_place(path: str, *, memo_folders: tuple[str, ...], include: Iterable[str]) -> Place | None:
    """The place of an envelope if it counts: in a store, or in an included folder, which is read as flat memos."""
    place = place_of(path, memo_folders=memo_folders)
    if place is None and matches_any(path, include):
        folder = path.rpartition("/")[0]
        return Place(store="memos", root=folder, folder=folder, mailbox="flat")
    return place


def collect(parsed: Iterable[Parsed], sources: tuple[SourceInfo, ...], *, is_loose: bool) -> Collected:
    """Sort the facts, records apart; with `is_loose`, envelopes count wherever they are."""
    position = {source.name: number for number, source in enumerate(sources)}
    include = {source.name: source.include for source in sources}
    ordered = sorted(parsed, key=lambda one: (position.get(one.source, len(position)), one.source, one.path))
    listed = tuple(one.fact for one in ordered if isinstance(one.fact, Organization))
    folders = memo_folders(listed)
    findings: list[Finding] = []
    envelopes = []
    for one in ordered:
        if isinstance(one.fact, Envelope):
            counts = is_loose or operational_place(one.path, memo_folders=folders, include=include.get(one.source, ()))
            if not counts:
                where = Location(source=one.source, path=one.path)
                message = f"a {one.fact.kind} outside memos/, notes/ and transcripts/"
                findings.append(Finding(rule=rules.OUTSIDE_CONVENTION, location=where, message=message))
                continue
            envelopes.append(one.fact)
        if not is_part(one):
            findings.extend(one.findings)
    organizations, differing = _distinct(listed)
    bodies = (one.fact for one in ordered if isinstance(one.fact, BodyFile))
    return Collected(
        envelopes=tuple(envelopes),
        bodies={(body.file.source, body.file.path): body for body in bodies},
        organizations=organizations,
        libraries=tuple(one.fact for one in ordered if isinstance(one.fact, LibraryCard)),
        documents=tuple(one.fact for one in ordered if isinstance(one.fact, DocumentHead)),
        memo_folders=folders,
        findings=(*findings, *differing),
    )


def _distinct(listed: Iterable[Organization]) -> tuple[tuple[Organization, ...], tuple[Finding, ...]]:
    """Each organization once: of copies, as forks have them, the first counts; a finding if they differ."""
    first: dict[tuple[str, ...], Organization] = {}
    findings = []
    for organization in listed:
        key = (organization.id,) if organization.id else (organization.source, organization.path)
        counted = first.setdefault(key, organization)
        if replace(organization, source=counted.source, path=counted.path, rest=counted.rest) != counted:
            where = Location(source=organization.source, path=organization.path)
            message = f'"{organization.id[:60]}" is also in {counted.source}/{counted.path}, which counts'
            findings.append(Finding(rule=rules.COPIES_DIFFER, location=where, message=message))
    return tuple(first.values()), tuple(findings)


def within_bounds(collected: Collected, ledger: Ledger) -> Collected:
    """With those positions of orgdefs that get pages (SPEC 9).

    They are the first of each file, those that had a page before, and those that an envelope names, which would get a
    page as unlisted ones. What is left of a file is shown as a library.
    """
    organizations, libraries = [], list(collected.libraries)
    paged = ledger.position_ids
    if any(one.more_seats for one in collected.organizations):
        paged |= {make_id(name) for one in collected.envelopes for name in _names(one)}
    for one in collected.organizations:
        known = tuple(seat for seat in one.more_seats if _has_page(one, seat, paged))
        if one.rest and len(known) < len(one.more_seats):
            libraries.append(one.rest)
        organizations.append(replace(one, seats=one.seats + known, more_seats=(), rest=None) if one.rest else one)
    return replace(collected, organizations=tuple(organizations), libraries=tuple(libraries))


def _names(envelope: Envelope) -> Iterable[str]:
    """The names of positions in an envelope that may make pages."""
    if envelope.shape not in {"broken", "bare"}:
        participants = (participant.position for participant in envelope.participants[:NAMED])
        yield from (envelope.sender, *envelope.to[:NAMED], *participants)


def _has_page(organization: Organization, seat: Seat, paged: Set[str]) -> bool:
    id_ = make_id(seat.id)
    return not paged.isdisjoint((id_, f"{make_id(organization.id)}~{id_}"))
