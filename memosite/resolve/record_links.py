"""Resolves the links of records: relations with their inverses, successors, mentions, anchors, sessions (SPEC 3)."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from memosite.archive.model import Link, RecordLink
from memosite.facts.findings import Finding, Location
from memosite.facts.json_text import shown
from memosite.facts.names import stem_of
from memosite.facts.parsed import FileFacts, LineOf, RecordCard, Ref, Relation
from memosite.formats.systems import record_suffixes, root_of_record, system_of
from memosite.resolve.anchors import AnchorIndex
from memosite.resolve.document_ids import DocumentIds
from memosite.resolve.filed import Filed, body_path
from memosite.resolve.identity import CopyGroup
from memosite.resolve.links import LinkResolver, TextOrigin
from memosite.resolve.record_names import RecordNames

_MARKDOWN = (".md", *(suffix for suffix in record_suffixes() if suffix.count(".") > 1))
_WITHDRAWN = frozenset({"stale", "rejected"})
_MENTIONS = 1_000
_NAMED = 5
_SESSION = re.compile(r"[0-9a-f][0-9a-f-]{7,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The resolved links of a record.

    `links` are those beside its text: its mentions and anchors, as written. `unresolved` are the mentions without
    a target, if the record's system has a rule for them.
    """

    relations: tuple[RecordLink, ...] = ()
    superseded_by: Ref | None = None
    sessions: tuple[Ref, ...] = ()
    links: tuple[Link, ...] = ()
    unresolved: tuple[str, ...] = ()


class SessionIndex:
    """Transcripts by the sessions that their participants held."""

    def __init__(self, groups: Iterable[CopyGroup]) -> None:
        """Index the transcripts among these."""
        self._by_arc: dict[str, set[Ref]] = defaultdict(set)
        parts: set[tuple[str, Ref]] = set()
        for group in groups:
            if group.kind != "transcript":
                continue
            for participant in chain.from_iterable(copy.envelope.participants for copy in group.copies):
                arc = (participant.session_arc or "").strip().casefold()
                if arc:
                    self._by_arc[arc].add(group.ref)
                    parts.update((part, group.ref) for part in _SESSION.findall(arc))
        self._parts = sorted(parts)

    def find(self, session: str) -> tuple[Ref, ...]:
        """The transcripts whose session has this id, or holds it: at least 8 hex digits that a session begins with."""
        name = session.strip().casefold()
        found = set(self._by_arc.get(name, ()))
        if _SESSION.fullmatch(name):
            at = bisect_left(self._parts, (name,))
            while at < len(self._parts) and self._parts[at][0].startswith(name):
                found.add(self._parts[at][1])
                at += 1
        return tuple(sorted(found))


class RecordBinder:
    """Resolves links from the records of one archive to each other and to other artifacts."""

    def __init__(
        self,
        names: RecordNames,
        documents: DocumentIds,
        resolver: LinkResolver,
        anchors: AnchorIndex,
        sessions: SessionIndex,
    ) -> None:
        """Resolve with these indexes of names, ids of documents, paths, anchors and sessions."""
        self._names = names
        self._documents = documents
        self._resolver = resolver
        self._anchors = anchors
        self._sessions = sessions

    def bind(self, filed: Iterable[Filed]) -> dict[Ref, Bound]:
        """The links of each record, by its ref. A relation that cannot be resolved is kept as it is written."""
        cards = {one.ref: one.fact for one in filed if isinstance(one.fact, RecordCard)}
        stated = {ref: tuple(self._relations(ref, card)) for ref, card in cards.items()}
        successors = {ref: to for ref, card in cards.items() if (to := self._successor(ref, card)) is not None}
        inverses: dict[Ref, list[RecordLink]] = defaultdict(list)
        for ref, links in stated.items():
            for link in links:
                if link.to in cards and link.to is not None:
                    inverses[link.to].append(_inverse(link, cards[ref], ref))
                    is_successor = _words(link.predicate) == "supersedes" and link.status not in _WITHDRAWN
                    if is_successor and cards[link.to].superseded_by is None:
                        successors.setdefault(link.to, ref)
        for ref, to in successors.items():
            if to in cards:
                link = RecordLink(predicate=system_of(cards[to]).spell("supersedes"), written=cards[ref].key, to=ref)
                inverses[to].append(replace(link, is_inverse=True))
        return {
            ref: self._bound(ref, card, stated[ref], _others(stated[ref], inverses[ref]), successors.get(ref))
            for ref, card in cards.items()
        }

    def _bound(
        self,
        ref: Ref,
        card: RecordCard,
        stated: tuple[RecordLink, ...],
        others: tuple[RecordLink, ...],
        successor: Ref | None,
    ) -> Bound:
        links = tuple(dict.fromkeys(self._links(card, stated)))
        known = {stem_of(card.file.name), *(link.written for link in links)}
        references = card.mentions[:_MENTIONS] if system_of(card).lost_reference else ()
        return Bound(
            relations=(*stated, *others),
            superseded_by=successor,
            sessions=tuple(dict.fromkeys(one for session in card.sessions for one in self._sessions.find(session))),
            links=tuple(link for link in links if link.to != ref),
            unresolved=tuple(name for name in references if name not in known),
        )

    def _relations(self, ref: Ref, card: RecordCard) -> Iterator[RecordLink]:
        for relation in card.relations:
            to = self._target(relation, card)
            yield RecordLink(
                predicate=relation.predicate,
                written=relation.target,
                to=None if to == ref else to,
                status=relation.status,
                confidence=relation.confidence,
                label=relation.label,
            )

    def _target(self, relation: Relation, card: RecordCard) -> Ref | None:
        """The target of a relation: a record of the same store if the system says so, else as `_meant`."""
        return self._bound_name(relation.target, card)

    def _bound_name(self, name: str, card: RecordCard) -> Ref | None:
        if system_of(card).is_bound_in_store:
            return self._names.in_store(name, card)
        return self._meant(name, card)

    def _meant(self, name: str, card: RecordCard) -> Ref | None:
        """A record or a document by its id; else an artifact by its path; else either by its stem or title."""
        source = card.file.source
        origin = TextOrigin(source=source, folder=card.file.path.rpartition("/")[0], is_near=True)
        found = self._names.find(name, source) or self._documents.find(name, source)
        found = found or self._resolver.artifact(name, origin) or self._names.near(name, card)
        if found is None and "." not in name.rpartition("/")[2]:
            tried = (self._resolver.artifact(name + suffix, origin) for suffix in _MARKDOWN)
            found = next(filter(None, tried), None)
        return found

    def _successor(self, ref: Ref, card: RecordCard) -> Ref | None:
        if card.superseded_by is None:
            return None
        to = self._bound_name(card.superseded_by, card)
        return None if to == ref else to

    def _links(self, card: RecordCard, relations: Iterable[RecordLink]) -> Iterator[Link]:
        """The links of a record outside its text, with relations to artifacts that are no records."""
        root = root_of_record(card.file.path)
        for anchor in card.anchors[:_MENTIONS]:
            yield from self._anchors.links(anchor, card.file)
        at_root = TextOrigin(source=card.file.source, folder=root)
        for name in card.mentions[:_MENTIONS]:
            if name in card.anchors:
                continue
            to = self._meant(name, card)
            link = Link(written=name, to=to) if to else self._resolver.follow(name, at_root, written=name)
            if link is not None:
                yield link
        for relation in relations:
            if relation.to is not None and relation.to[0] != "record":
                yield Link(written=relation.written, to=relation.to)


def unresolved_references(filed: Iterable[Filed], bound: Mapping[Ref, Bound], line_of: LineOf) -> Iterator[Finding]:
    """A finding on each record with mentions without a target, if its system has a rule for these."""
    for one in filed:
        lost, card = bound[one.ref].unresolved, one.fact
        if not lost or not isinstance(card, RecordCard):
            continue
        system, file = system_of(card), one.files[0]
        where = Location(source=file.source, path=file.path, line=line_of(file, system.reference_key))
        names = ", ".join(f'"{shown(name)}"' for name in lost[:_NAMED])
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        message = f'"{system.reference_key.rpartition(".")[2]}" names {names}{more}; expected known records'
        if system.lost_reference:
            yield Finding(rule=system.lost_reference, location=where, message=message)


def _words(predicate: str) -> str:
    return predicate.replace("_", " ").replace("-", " ").casefold()


def _inverse(link: RecordLink, card: RecordCard, ref: Ref) -> RecordLink:
    """A relation as seen from its other end."""
    inverse = system_of(card).inverse_of(link.predicate)
    return replace(link, predicate=inverse, written=card.key, to=ref, is_inverse=True)


def _others(stated: Iterable[RecordLink], inverses: Iterable[RecordLink]) -> tuple[RecordLink, ...]:
    """The inverse relations by word and record, each once, without those that the record states itself."""
    told = {(_words(link.predicate), link.to) for link in stated}
    found: dict[tuple[str, Ref | None], RecordLink] = {}
    for link in sorted(inverses, key=lambda link: (_words(link.predicate), link.to or ("record", ""))):
        key = (_words(link.predicate), link.to)
        if key not in told:
            found.setdefault(key, link)
    return tuple(found.values())


def record_files(filed: Iterable[Filed]) -> Iterator[tuple[Ref, FileFacts]]:
    """The files by whose paths records can be mentioned, sidecars and their bodies; not files with many records."""
    for one in filed:
        card = one.fact
        if not isinstance(card, RecordCard) or card.line is not None:
            continue
        for file in one.files:
            yield one.ref, file
        body = body_path(card)
        if body is not None:
            yield one.ref, replace(card.file, path=body)
