"""Collects the records of all systems and resolves their links; what took the place of which decision (SPEC 2.2, 3).

A record names others by their ids, files or titles. Such a name is looked for in the store or source it is written in;
an id also elsewhere, if one record alone has it. Files of its repo it names by paths and globs. These come from
content, so the work of matching them is bounded in all.
"""

import posixpath
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from memosite.archive.model import Link, RecordLink, SourceInfo
from memosite.facts import rules
from memosite.facts.findings import Finding, finding_in
from memosite.facts.json_text import shown
from memosite.facts.layout import matches_glob
from memosite.facts.names import make_id, stem_of
from memosite.facts.parsed import DocumentHead, FileFacts, LineOf, Parsed, RecordCard, RecordEvent, RecordFile, Ref
from memosite.facts.patterns import regex
from memosite.facts.texts import listed, one_line
from memosite.facts.values import Value, field, replace
from memosite.formats import systems
from memosite.formats.status import read_status, sort_of_document
from memosite.formats.system import DataOf, FilePlace, and_others
from memosite.resolve.identity import CopyGroup, Filed, body_path, source_order
from memosite.resolve.links import FILE_ENDINGS, DocumentIds, LinkResolver, TextOrigin
from memosite.resolve.threads import inverse

# Anchors: the paths and globs by which a record names files of its repo (SPEC 3, links).


MATCHES = 50
"""The most files that one anchor is linked to."""


STEPS = 2_000_000_000
"""The most steps of comparing globs with paths in one archive: some seconds. Comparing takes at most as many as the
length of the glob times that of the path; each takes up to 4 ns."""


_COMPILING = 5_000
"""Steps for each character of a glob, before it is compared at all."""


_LONGEST = 1_000


_LINE = regex(r":[0-9]{1,9}(?:[-:][0-9]{1,9})?$")


_WILD = regex(r"[*?]")


class AnchorIndex:
    """An index of artifacts' files by source and path, for paths and globs."""

    def __init__(self, files: Iterable[tuple[Ref, FileFacts]], resolver: LinkResolver) -> None:
        """Index these files; `resolver` knows what else a path may lead to."""
        self._resolver = resolver
        self._left = STEPS
        self._cut: FileFacts | None = None
        found: dict[str, dict[str, Ref]] = defaultdict(dict)
        for ref, file in files:
            found[file.source].setdefault(file.path, ref)
        self._files = {source: sorted(paths.items()) for source, paths in found.items()}
        self._paths = {source: [path for path, _ in files] for source, files in self._files.items()}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A note on the record at which the limit on matching steps was reached."""
        if self._cut is None:
            return ()
        message = "comparing globs with files takes too long; this and later globs are ignored"
        return (finding_in(self._cut, rules.ANCHORS_CUT, message),)

    def links(self, anchor: str, file: FileFacts) -> tuple[Link, ...]:
        """The targets of an anchor, relative to the folder that contains its store: artifacts, else the web."""
        if len(anchor) > _LONGEST:
            return ()
        path = posixpath.normpath(_LINE.sub("", anchor.split("#", 1)[0].strip().replace("\\", "/")))
        if path in {"", "."} or path.startswith(("/", "../")) or "\0" in path:
            return ()
        origin = TextOrigin(source=file.source, folder=systems.root_of_record(file.path))
        wild = _WILD.search(path)
        if wild is not None:
            literal = path[: path.rfind("/", 0, wild.start()) + 1]
            found = islice(self._matching(path, literal, file), MATCHES)
            links = tuple(Link(written=anchor, to=ref) for ref in dict.fromkeys(found))
            if links or not literal:
                return links
            path = literal.rstrip("/")
        link = self._resolver.follow(path, origin, written=anchor)
        return (link,) if link else ()

    def _matching(self, glob: str, literal: str, file: FileFacts) -> Iterator[Ref]:
        """The artifacts whose files match; only those below the glob's literal folders are compared."""
        root = systems.root_of_record(file.path)
        base = f"{root}/" if root else ""
        pattern = glob.replace("[", "[[]")  # only `*` and `?` mean something here
        self._left -= len(glob) * _COMPILING
        files = self._files.get(file.source, [])
        for at in range(bisect_left(self._paths.get(file.source, []), base + literal), len(files)):
            path, ref = files[at]
            if not path.startswith(base + literal):
                return
            if self._left <= 0:
                self._cut = self._cut or file
                return
            self._left -= len(glob) * len(path)
            if matches_glob(path[len(base) :], pattern):
                yield ref


# Finds records by their names in texts: an id, a file's stem or a title (SPEC 2.2 and 3, identity).


_Named = tuple[Ref, RecordCard]


class RecordNames:
    """Records by their ids and keys; where their system says so, also by their files' stems and by their titles."""

    def __init__(self, filed: Iterable[Filed]) -> None:
        """Index records that have their ids."""
        self._by_name: dict[str, list[_Named]] = defaultdict(list)
        self._by_stem: dict[tuple[str, str], list[_Named]] = defaultdict(list)
        self._by_title: dict[tuple[str, str], list[_Named]] = defaultdict(list)
        for one in filed:
            card = one.fact
            if not isinstance(card, RecordCard):
                continue
            entry = (one.ref, card)
            for name in dict.fromkeys((_plain(card.key), one.ref[1])):
                self._by_name[name].append(entry)
            system = systems.system_of(card)
            if not system.has_stems:
                continue
            for stem in {_plain(_stem(file.path)) for file in one.files}:
                self._by_stem[card.file.source, stem].append(entry)
            if system.has_titles:
                self._by_title[card.file.source, card.title.casefold()].append(entry)

    def find(self, name: str, source: str) -> Ref | None:
        """The record of this id or key: one of the source's own, else the only one that there is."""
        return self._by_id(name, source, "")

    def in_store(self, name: str, card: RecordCard) -> Ref | None:
        """The node of this id in the same store as another record."""
        home = _home(card)
        found = [entry for entry in self._by_name.get(_plain(name), ()) if entry[1].file.source == card.file.source]
        return _first([entry for entry in found if _home(entry[1]) == home], card)

    def near(self, name: str, card: RecordCard) -> Ref | None:
        """The record that another means by this name: by its id, else its file's stem, else its title."""
        source = card.file.source
        found = self._by_id(name, source, _home(card))
        if found is not None:
            return found
        stems = self._by_stem.get((source, _stem(_plain(name))), []) or self._by_stem.get((source, _plain(name)), [])
        of_its_kind = [entry for entry in stems if entry[1].system == card.system and entry[1] is not card]
        if of_its_kind:
            return _first(of_its_kind, card)
        if len(stems) == 1 and stems[0][1] is not card:
            return stems[0][0]
        titled = self._by_title.get((source, one_line(name).casefold()), ())
        return titled[0][0] if len(titled) == 1 else None

    def _by_id(self, name: str, source: str, home: str) -> Ref | None:
        if not self._by_name:
            return None
        name = _plain(name)
        found = self._by_name.get(name) or self._by_name.get(name.lower(), [])
        own = [entry for entry in found if entry[1].file.source == source]
        if own:
            return min(own, key=lambda entry: (_home(entry[1]) != home, _is_second(entry), entry[0]))[0]
        return found[0][0] if len(found) == 1 else None


def _plain(name: str) -> str:
    return systems.without_prefix(unicodedata.normalize("NFC", name.strip()))


def _stem(path: str) -> str:
    """A file's name without its suffix, which may have several parts."""
    name = path.rpartition("/")[2]
    lowered = name.lower()
    return next((name[: -len(suffix)] for suffix in systems.record_suffixes() if lowered.endswith(suffix)), name)


def _home(card: RecordCard) -> str:
    """The folder of the store that a record is in; "" for systems without one."""
    return systems.home_of(card.file.path)


def _is_second(entry: _Named) -> bool:
    """Whether an earlier record has its name, so that this one has another id."""
    ref, card = entry
    return ref[1] != make_id(f"{card.file.source}.{card.key}")


def _first(entries: list[_Named], card: RecordCard) -> Ref | None:
    """The nearest of several: in the same store, in the order that their system gives them, in the same folder."""

    def rank(entry: _Named) -> tuple[bool, tuple[bool, ...], bool, bool, Ref]:
        its = entry[1]
        is_away = its.file.folder != card.file.folder
        return (
            _home(its) != _home(card),
            systems.system_of(its).rank(its.file.path),
            is_away,
            _is_second(entry),
            entry[0],
        )

    return min(entries, key=rank)[0] if entries else None


# Collects the records of all systems, and notes which files at their places were skipped (SPEC 2.2).


class Kept(Value):
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
    order = source_order(sources)
    ordered = sorted(parsed, key=order)
    joined = [system.join(ordered, line_of, data_of, is_loose=is_loose) for system in systems.SYSTEMS if system.join]
    cards = [card for found in joined for card in found.records]
    for file in ordered:
        if isinstance(file.fact, RecordFile) and not systems.is_part(file):
            cards += (*file.fact.records, file.fact.rest) if file.fact.rest else file.fact.records
    cards.sort(key=lambda card: order(card.file))  # sorting is stable: within a file the order stays
    cards = [card.without_content(card.withheld) if card.withheld else card for card in cards]
    bare = {card.file.place for card in cards if card.withheld}
    return Kept(
        cards=tuple(cards),
        history={place: events for found in joined for place, events in found.history.items() if place not in bare},
        beside={place: files for found in joined for place, files in found.beside.items()},
        findings=(*(finding for found in joined for finding in found.findings), *_left_alone(ordered)),
    )


def _left_alone(ordered: Iterable[Parsed]) -> Iterator[Finding]:
    """A note on the files at the place of a system that hold none of its records; joining systems report theirs.

    There is one for each store, and for each folder outside of stores: another tool may keep hundreds of files there.
    """
    folders: dict[tuple[str, str, str], list[tuple[Parsed, str]]] = defaultdict(list)
    for file in ordered:
        owner = systems.owner_of(file.path) if file.fact is None and not file.findings else None
        if owner is not None and owner.join is None:
            home = owner.home(file.path)
            folder = file.path.rpartition("/")[0] if home is None else home
            folders[file.source, owner.name, folder].append((file, owner.foreign(file.path)))
    for (_, _, folder), files in folders.items():
        first, what = files[0]
        yield finding_in(first, rules.LEFT_ALONE, what + and_others(len(files) - 1, folder))


# Resolves the links of records: relations with their inverses, successors, mentions, anchors, sessions (SPEC 3).


_WITHDRAWN = frozenset({"stale", "rejected"})


_MENTIONS = 1_000


_NAMED = 5


_SESSION = regex(r"[0-9a-f][0-9a-f-]{7,}")


_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


_SHORT = regex(r"[0-9a-f]{4,7}")


_CLOCK = 8
"""The fewest hex digits by which a session is known; in a UUID of version 7 so many are a clock of 65 seconds."""


class Bound(Value):
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
    """Transcripts by the sessions that their participants held, or whose logs they are."""

    def __init__(self, groups: Iterable[CopyGroup]) -> None:
        """Index the transcripts among these."""
        self._by_id: dict[str, set[Ref]] = defaultdict(set)
        self._by_end: dict[str, set[str]] = defaultdict(set)
        self._logs: dict[Ref, bool] = {}
        for group in groups:
            if group.kind != "transcript":
                continue
            participants = chain.from_iterable(copy.envelope.participants for copy in group.copies)
            for arc in (participant.session_arc or "" for participant in participants):
                for id_ in (arc.strip().casefold(), *_SESSION.findall(arc.casefold())):
                    self._by_id[id_].add(group.ref)
            for envelope in (copy.envelope for copy in group.copies):
                if envelope.log:
                    self._by_id[envelope.log.key.casefold()].add(group.ref)
                    self._logs[group.ref] = bool(envelope.capture_tool)
        self._by_id.pop("", None)
        self._ids = sorted(filter(_SESSION.fullmatch, self._by_id))
        for id_ in filter(_UUID.fullmatch, self._ids):
            groups_of_digits = id_.split("-")
            for number in range(1, len(groups_of_digits)):
                self._by_end["-".join(groups_of_digits[number:])].add(id_)

    def named(self, written: str) -> Ref | None:
        """The only session that a word in a text names by its id, or by a unique part of that.

        Of several captures of it this is the log of the agent itself, else any log.
        """
        found = self.find(written) if _SESSION.match(written.casefold()) else ()
        return min(found, key=lambda ref: (ref not in self._logs, self._logs.get(ref), ref), default=None)

    def find(self, session: str, *, is_short: bool = False) -> tuple[Ref, ...]:
        """The captures of the only session with this id, or whose id begins with it, or is a UUID that ends in it.

        It has 8 hex digits or more; if it `is_short`, 4 are enough for a log. The first 8 of a UUID of version 7 are
        a clock, by which nothing is known. What ends a UUID is one or more of its groups between hyphens.
        """
        name = session.strip().rstrip("….").casefold()
        if name in self._by_id:
            return tuple(sorted(self._by_id[name]))
        found = set[str]()
        if _SESSION.fullmatch(name) or (is_short and _SHORT.fullmatch(name)):
            at = bisect_left(self._ids, name)
            while len(found) <= 1 and at < len(self._ids) and self._ids[at].startswith(name):
                found |= {self._ids[at]} if self._tells(name, self._ids[at]) else set()
                at += 1
            found = found or set(self._by_end.get(name, ()))
        return tuple(sorted(self._by_id[found.pop()])) if len(found) == 1 else ()

    def _tells(self, name: str, id_: str) -> bool:
        """Whether the beginning of an id is enough of it."""
        is_clock = len(name) <= _CLOCK and id_[14:15] == "7" and _UUID.fullmatch(id_)
        return not is_clock and (len(name) >= _CLOCK or not self._logs.keys().isdisjoint(self._by_id[id_]))


class RecordBinder(Value, kw_only=False):
    """Resolves links from the records of one archive to each other and to other artifacts, with these indexes."""

    names: RecordNames
    documents: DocumentIds
    resolver: LinkResolver
    anchors: AnchorIndex
    sessions: SessionIndex

    def bind(self, filed: Iterable[Filed]) -> dict[Ref, Bound]:
        """The links of each record, by its ref. A relation that cannot be resolved is kept as it is written."""
        cards = {entry.ref: entry.fact for entry in filed if isinstance(entry.fact, RecordCard)}
        stated = {ref: tuple(self._relations(ref, card)) for ref, card in cards.items()}
        named = (
            (ref, self._meant(card.superseded_by, card))
            for ref, card in cards.items()
            if card.superseded_by is not None
        )
        successors = {ref: to for ref, to in named if to is not None and to != ref}
        inverses: dict[Ref, list[RecordLink]] = defaultdict(list)
        for ref, links in stated.items():
            for link in links:
                if link.to in cards and link.to is not None:
                    predicate = systems.system_of(cards[ref]).inverse_of(link.predicate)
                    seen = replace(link, predicate=predicate, written=cards[ref].key, to=ref, is_inverse=True)
                    inverses[link.to].append(seen)
                    is_successor = _words(link.predicate) == "supersedes" and link.status not in _WITHDRAWN
                    if is_successor and cards[link.to].superseded_by is None:
                        successors.setdefault(link.to, ref)
        for ref, to in successors.items():
            if to in cards:
                predicate = systems.system_of(cards[to]).spell("supersedes")
                inverses[to].append(RecordLink(predicate=predicate, written=cards[ref].key, to=ref, is_inverse=True))
        bound = {}
        for ref, card in cards.items():
            written = tuple(dict.fromkeys(self._links(card, stated[ref])))
            known = {stem_of(card.file.name), *(mention.written for mention in written)}
            references = card.mentions[:_MENTIONS] if systems.system_of(card).lost_reference else ()
            is_short = systems.system_of(card).has_short_sessions
            held = (self.sessions.find(session, is_short=is_short) for session in card.sessions)
            bound[ref] = Bound(
                relations=(*stated[ref], *_others(stated[ref], inverses[ref])),
                superseded_by=successors.get(ref),
                sessions=tuple(dict.fromkeys(chain.from_iterable(held))),
                links=tuple(mention for mention in written if mention.to != ref),
                unresolved=tuple(name for name in references if name not in known),
            )
        return bound

    def _relations(self, ref: Ref, card: RecordCard) -> Iterator[RecordLink]:
        for relation in card.relations:
            to = self._meant(relation.target, card)
            yield RecordLink(
                predicate=relation.predicate,
                written=relation.target,
                to=None if to == ref else to,
                status=relation.status,
                confidence=relation.confidence,
                label=relation.label,
            )

    def _meant(self, name: str, card: RecordCard) -> Ref | None:
        """The target of a relation: a record of the same store if the system says so, else as `_mentioned`."""
        if systems.system_of(card).is_bound_in_store:
            return self.names.in_store(name, card)
        return self._mentioned(name, card)

    def _mentioned(self, name: str, card: RecordCard) -> Ref | None:
        """A record or a document by its id; else an artifact by its path; else either by its stem or title."""
        source = card.file.source
        origin = TextOrigin(source=source, folder=card.file.folder, is_near=True)
        found = self.names.find(name, source) or self.documents.find(name, source)
        found = found or self.resolver.artifact(name, origin) or self.names.near(name, card)
        if found is None and "." not in name.rpartition("/")[2]:
            tried = (self.resolver.artifact(name + suffix, origin) for suffix in FILE_ENDINGS)
            found = next(filter(None, tried), None)
        return found

    def _links(self, card: RecordCard, relations: Iterable[RecordLink]) -> Iterator[Link]:
        """The links of a record outside its text, with relations to artifacts that are no records."""
        for anchor in card.anchors[:_MENTIONS]:
            yield from self.anchors.links(anchor, card.file)
        at_root = TextOrigin(source=card.file.source, folder=systems.root_of_record(card.file.path))
        for name in card.mentions[:_MENTIONS]:
            if name in card.anchors:
                continue
            to = self._mentioned(name, card)
            link = Link(written=name, to=to) if to else self.resolver.follow(name, at_root, written=name)
            if link is not None:
                yield link
        for relation in relations:
            if relation.to is not None and relation.to[0] != "record":
                yield Link(written=relation.written, to=relation.to)


def unresolved_references(filed: Iterable[Filed], bound: Mapping[Ref, Bound], line_of: LineOf) -> Iterator[Finding]:
    """A finding on each record with mentions without a target, if its system has a rule for these."""
    for entry in filed:
        lost, card = bound[entry.ref].unresolved, entry.fact
        if not lost or not isinstance(card, RecordCard):
            continue
        system, file = systems.system_of(card), entry.files[0]
        names = listed([f'"{shown(name)}"' for name in lost], _NAMED)
        message = f'"{system.reference_key.rpartition(".")[2]}" names {names}; expected known records'
        if system.lost_reference:
            yield finding_in(file, system.lost_reference, message, line_of(file, system.reference_key))


def _words(predicate: str) -> str:
    return predicate.replace("_", " ").replace("-", " ").casefold()


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
    for entry in filed:
        card = entry.fact
        if not isinstance(card, RecordCard) or card.line is not None:
            continue
        for file in entry.files:
            yield entry.ref, file
        body = body_path(card)
        if body is not None:
            yield entry.ref, replace(card.file, path=body)


# Finds what took the place of which decision, across systems and repos (SPEC 2.2, documents).


_NUMBER = regex(r"(?:adr-?)?(\d{1,6})(?!\d|-\d\d-\d\d)")


_FILE = regex(r"[\w./-]{1,300}\.(?:md|markdown)\b", re.IGNORECASE)


_STAMP = regex(r"\d{4}-\d\d-\d\d(?:-\d{4})?[-_]+")


_DATE = regex(r"\b\d{4}-\d\d-\d\d\b(?![-\w])")


_NUMBERS = regex(r"(?<!\d)\d{1,6}(?!\d)")


class Succession(Value):
    """What took the place of which decision, and which proposals a decision was made on, both ways."""

    superseded_by: Mapping[Ref, Ref] = field(default_factory=dict)
    supersedes: Mapping[Ref, tuple[Ref, ...]] = field(default_factory=dict)
    decides: Mapping[Ref, tuple[Ref, ...]] = field(default_factory=dict)
    decided_in: Mapping[Ref, tuple[Ref, ...]] = field(default_factory=dict)

    def of(self, ref: Ref) -> dict[str, Any]:
        """The fields of a document or a record on what took whose place."""
        return {"superseded_by": self.superseded_by.get(ref), "supersedes": self.supersedes.get(ref, ())}


def join_decisions(
    documents: Iterable[Filed], links: Mapping[Ref, Sequence[Link]], records: Mapping[Ref, Bound]
) -> Succession:
    """Read of documents what they supersede and what they are superseded by, and what records say of records.

    What a document says of itself counts first. One that is not accepted supersedes nothing yet.
    """
    heads = {entry.ref: entry.fact for entry in documents if isinstance(entry.fact, DocumentHead)}
    beside: dict[tuple[str, str], list[tuple[Ref, DocumentHead]]] = defaultdict(list)
    for ref, head in heads.items():
        beside[_folder(head.file)].append((ref, head))
    found: dict[Ref, Ref] = {}
    for ref, head in heads.items():
        said = head.superseded_by or ((head.status,) if _is_superseded(head) and head.status else ())
        successor = next(_named(said, ref, links.get(ref, ()), beside[_folder(head.file)]), None)
        if successor is not None:
            found[ref] = successor
    for ref, head in heads.items():
        if head.supersedes and read_status(head.status or "") in {"accepted", "superseded", None}:
            for older in _named(head.supersedes, ref, links.get(ref, ()), beside[_folder(head.file)]):
                if older[0] in {"document", "record"} and found.get(ref) != older:
                    found.setdefault(older, ref)
    for ref, bound in records.items():
        if bound.superseded_by is not None:
            found[ref] = bound.superseded_by
    decided = list(_decided(heads, links))
    return Succession(
        superseded_by=found,
        supersedes=inverse(found.items()),
        decides=inverse((proposal, decision) for decision, proposal in decided),
        decided_in=inverse(decided),
    )


def _decided(heads: Mapping[Ref, DocumentHead], links: Mapping[Ref, Sequence[Link]]) -> Iterator[tuple[Ref, Ref]]:
    """Each decision with a proposal that it decided on: its origin, its name, or what the proposal's own head names.

    A mention decides nothing, and what a proposal names while its status is pending is none.
    """
    sorts = {ref: sort_of_document(head) for ref, head in heads.items()}
    proposals: dict[tuple[str, str, str], list[Ref]] = defaultdict(list)
    decisions: dict[tuple[str, str, str], list[Ref]] = defaultdict(list)
    for ref, head in heads.items():
        if sorts[ref] != "other":
            (proposals if sorts[ref] == "proposal" else decisions)[_matter(head)].append(ref)
    for ref, head in heads.items():
        if sorts[ref] == "decision":
            found = _cited(head, head.origins, links.get(ref, ()), proposals)
            origins = [to for to in found if sorts.get(to) == "proposal"]
            same = proposals.get(_matter(head), [])
            yield from ((ref, to) for to in origins)
            if not origins and len(same) == 1 and not _is_younger(heads[same[0]], head):
                yield ref, same[0]
        if sorts[ref] == "proposal" and read_status(head.status or "") != "pending":
            found = _cited(head, head.outcomes, links.get(ref, ()), decisions)
            yield from ((to, ref) for to in found if sorts.get(to) == "decision")


def _cited(
    head: DocumentHead,
    values: Iterable[str],
    links: Sequence[Link],
    known: Mapping[tuple[str, str, str], Sequence[Ref]],
) -> list[Ref]:
    """What values name: a link of the text, else a file that is known in the folders beside its own."""
    found: list[Ref] = []
    for value in values:
        linked = [link.to for link in links if link.to is not None and link.written in value]
        files = _FILE.findall(value) or [value.strip()]
        found += linked or [ref for name in files for ref in known.get((*_matter(head)[:2], _bare_name(name)), ())]
    return list(dict.fromkeys(found))


def _matter(head: DocumentHead) -> tuple[str, str, str]:
    """The source, the folder above `decisions/` or `proposals/`, and the name without what tells the two apart."""
    above = re.split(r"(?:^|/)(?:decisions?|adrs?|proposals?|rfcs?)(?:/|$)", head.file.folder.casefold())[0]
    return head.file.source, above.rstrip("/"), _bare_name(head.file.name)


def _bare_name(name: str) -> str:
    """The name of a file of a decision or a proposal without its ending, its stamp and `proposal-`."""
    stem = re.sub(r"\.(?:md|markdown)$", "", name.casefold().rpartition("/")[2])
    return re.sub(r"^(?:proposal|decision)[-_]+", "", _STAMP.sub("", stem))


def _is_younger(proposal: DocumentHead, decision: DocumentHead) -> bool:
    return bool(proposal.date and decision.date and proposal.date.day > decision.date.day)


def _folder(file: FileFacts) -> tuple[str, str]:
    return file.source, file.folder


def _is_superseded(head: DocumentHead) -> bool:
    return read_status(head.status or "") == "superseded"


def _named(
    values: Iterable[str], ref: Ref, links: Sequence[Link], beside: Sequence[tuple[Ref, DocumentHead]]
) -> Iterator[Ref]:
    """What values such as "`decisions/x.md`" or "ADR 12" name: a link of the text, else a document of the folder."""
    for value in values:
        linked = [link.to for link in links if link.to is not None and link.to != ref and link.written in value]
        fitting = [] if linked else [other for other, head in beside if other != ref and _fits(head, value)]
        yield from linked or (fitting if len(fitting) == 1 else ())


def _fits(head: DocumentHead, value: str) -> bool:
    """Whether a text such as "superseded by ADR 12" names a document: by its name, its title or its number."""
    said = _DATE.sub(" ", value.casefold().rpartition(" by ")[2]).strip(" .")
    stem, title = head.file.name.casefold().rpartition(".")[0], head.title.casefold()
    leading = _NUMBER.match(stem)
    numbers = {int(number) for number in _NUMBERS.findall(said)}
    return stem in said or (bool(title) and title in said) or (leading is not None and int(leading[1]) in numbers)


def outdated_citations(
    places: Iterable[tuple[Ref, FileFacts, int | None]],
    links: Mapping[Ref, Sequence[Link]],
    documents: Iterable[Filed],
    records: Iterable[Filed],
    succession: Succession,
) -> Iterator[Finding]:
    """A note on each memo, note and record for each decision that it cites and that is not in force any more."""
    files = {one.ref: one.files[0] for one in (*documents, *records) if _is_outdated(one, succession)}
    if not files:
        return
    for ref, file, line in places:
        for to in dict.fromkeys(link.to for link in links.get(ref, ()) if link.to in files and link.to != ref):
            if to is None or succession.superseded_by.get(to) == ref:
                continue
            by = succession.superseded_by.get(to)
            name = f" by {'/'.join(by)}" if by else ""
            message = f"cites {files[to].source}: {files[to].path}, which is superseded{name}"
            yield finding_in(file, rules.DECISION_SUPERSEDED, message, line)


def _is_outdated(one: Filed, succession: Succession) -> bool:
    fact = one.fact
    if isinstance(fact, DocumentHead):
        return sort_of_document(fact) == "decision" and (one.ref in succession.superseded_by or _is_superseded(fact))
    if isinstance(fact, RecordCard) and systems.system_of(fact).is_decision(fact):
        is_said = read_status(systems.system_of(fact).status(fact)) == "superseded"
        return one.ref in succession.superseded_by or bool(fact.superseded_by) or is_said
    return False
