"""Joins the parts of each memory-store: nodes with their bodies, relations, events and configuration (SPEC 2.2).

A store counts if its `config.json` holds a project's id and a version. Any other is ignored, with a single note, unless
its nodes are lost to a `config.json` that cannot be read; what was left alone at the places of stores is noted, too.
Nodes are told apart by store, so that two stores of one source may have nodes of one id.
"""

import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memosite.facts import rules
from memosite.facts.findings import Finding, Rule, finding_in
from memosite.facts.json_text import shown
from memosite.facts.parsed import FileFacts, LineOf, Parsed, RecordCard, RecordEvent, RecordFile, RecordPart, Relation
from memosite.facts.values import Struct, field, replace
from memosite.formats import memory_store as store_rules
from memosite.formats.memory_store import FOREIGN, part_of, store_of
from memosite.formats.memory_store.parse import (
    StoreBody,
    StoreConfig,
    StoreEvents,
    StoreRelation,
    card_of_key,
    key_of_path,
    matches,
    parse,
    relation_sentence,
)
from memosite.formats.system import Adapter, DataOf, FilePlace, JoinedRecords, and_others

_BOM = b"\xef\xbb\xbf"
_NO_TIME = dt.datetime.max.replace(tzinfo=dt.UTC)
_SUPERSEDES, _SUPERSEDED = "supersedes", "superseded"

_OF_THE_WHOLE = frozenset(
    {store_rules.BODY_MISSING, store_rules.BODY_ORPHAN, store_rules.RELATION_END, store_rules.SUPERSEDED}
)


class JoinedStores(JoinedRecords):
    """The stores that count, by their configurations, each with its marker; their records, and every finding."""

    stores: tuple[StoreConfig, ...] = ()


class _Store(Struct):
    """The parts of one store; `unusable` is what is wrong with a configuration that cannot be read."""

    config: StoreConfig | None = None
    marker: str | None = None
    nodes: list[RecordCard] = field(default_factory=list)
    bodies: dict[str, StoreBody] = field(default_factory=dict)
    relations: list[StoreRelation] = field(default_factory=list)
    events: list[RecordEvent] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    of_the_whole: list[FilePlace] = field(default_factory=list)
    unusable: tuple[Finding, ...] = ()
    first: FileFacts | None = None


def is_store_part(parsed: Parsed) -> bool:
    """Whether the result of a file belongs to a store; its findings count only if the store does."""
    fact = parsed.fact
    if isinstance(fact, RecordFile):
        return fact.system == "memory-store"
    return isinstance(fact, RecordPart)


def join_stores(parsed: Iterable[Parsed], line_of: LineOf, data_of: DataOf, *, is_loose: bool = False) -> JoinedStores:
    """Join the parts of stores in `parsed`; the order does not matter, the rest is ignored.

    With `is_loose`, for checking single files, every store counts, and rules that need a whole one are not
    reported (SPEC 8).
    """
    stores: list[StoreConfig] = []
    records: list[RecordCard] = []
    history: dict[FilePlace, tuple[RecordEvent, ...]] = {}
    beside: dict[FilePlace, tuple[FilePlace, ...]] = {}
    findings: list[Finding] = []
    for (_, folder), store in sorted(_group(parsed).items()):
        if store.config is None and not is_loose:
            findings += _left_alone_in(store, folder)
            continue
        joined = _Joiner(store, folder, line_of, data_of).join()
        stores += joined.stores
        records += joined.records
        history.update(joined.history)
        beside.update(joined.beside)
        findings += (one for one in joined.findings if not (is_loose and one.rule in _OF_THE_WHOLE))
    return JoinedStores(
        stores=tuple(stores), records=tuple(records), history=history, beside=beside, findings=tuple(findings)
    )


def _group(parsed: Iterable[Parsed]) -> dict[FilePlace, _Store]:
    """The parts by store, each in the order of their paths."""
    stores: dict[FilePlace, _Store] = defaultdict(_Store)
    for one in sorted(filter(is_store_part, parsed), key=lambda one: (one.source, one.path)):
        place = store_of(one.path)
        if place is None:
            continue
        store, fact = stores[one.source, place[0]], one.fact
        store.findings += one.findings
        if isinstance(fact, StoreConfig | StoreEvents):
            store.of_the_whole.append((one.source, one.path))
        match fact:
            case StoreConfig(project=""):
                store.marker = fact.marker or store.marker
                store.unusable += one.findings
            case StoreConfig():
                store.config = fact
            case RecordFile():
                store.nodes += fact.records
            case StoreRelation():
                store.relations.append(fact)
            case StoreEvents():
                store.events += fact.events
            case StoreBody():
                store.bodies[place[1]] = fact
        is_marker = isinstance(fact, StoreConfig) and fact.marker is not None
        if isinstance(fact, StoreConfig | RecordFile | StoreRelation) and not is_marker and store.first is None:
            store.first = fact.file
    return stores


def _left_alone_in(store: _Store, folder: str) -> Iterator[Finding]:
    if store.first is None:
        return  # nothing but Markdown, or a log: it may belong to another tool
    count = len(store.nodes)
    message = (
        f"{folder}/ has no config.json with project.id and a numeric version; "
        f"{count} {'node is' if count == 1 else 'nodes are'} left alone"
    )
    yield _finding(store_rules.LEFT_ALONE, store.first, message)
    if store.nodes:
        yield from store.unusable


def _finding(rule: Rule, file: FileFacts, message: str, line: int | None = None) -> Finding:
    return finding_in(file, rule, shown(message, 500), line)


class _Joiner:
    """Joins one store, which counts."""

    def __init__(self, store: _Store, folder: str, line_of: LineOf, data_of: DataOf) -> None:
        self._store = store
        self._folder = folder
        self._line_of = line_of
        self._data_of = data_of
        self._findings: list[Finding] = list(store.findings)
        self._nodes: dict[str, RecordCard] = {}
        for node in store.nodes:
            self._nodes.setdefault(node.key, node)

    def join(self) -> JoinedStores:
        self._note_duplicates()
        self._note_superseded()
        relations = self._relations_by_sender()
        records = [self._complete(node, relations) for node in self._store.nodes]
        records += self._orphans()
        config = self._store.config
        return JoinedStores(
            stores=(replace(config, marker=self._store.marker),) if config else (),
            records=tuple(records),
            history=self._history(),
            beside=self._beside(),
            findings=tuple(self._findings),
        )

    def _note(self, rule: Rule, file: FileFacts, message: str, key: str) -> None:
        self._findings.append(_finding(rule, file, message, self._line_of(file, key)))

    def _complete(self, node: RecordCard, relations: Mapping[str, list[Relation]]) -> RecordCard:
        """A node with its text and its relations; the project's node also has the configuration."""
        is_first = self._nodes[node.key] is node
        body = self._store.bodies.get(node.body_path) if node.body_path is not None else None
        withheld = node.withheld or (body.withheld if body is not None else None)
        fits = None
        if body is not None and withheld is None:
            fits = self._verify(node.file, node.hash_written, node.hashed, body)
        elif body is None and node.body_path is not None:
            message = f'"body_path" is "{node.body_path[:120]}"; no such file in {self._folder}/'
            self._note(store_rules.BODY_MISSING, node.file, message, "body_path")
        return replace(
            node,
            text=body.text if body else None,
            relations=tuple(relations.get(node.key, ())) if is_first else (),
            fields=(*node.fields, *self._config_rows(node)),
            hashed=(),
            hash_fits=fits,
            withheld=withheld,
        )

    def _config_rows(self, node: RecordCard) -> Iterator[tuple[str, str]]:
        """The configuration as rows, shown with the node of the project."""
        config = self._store.config
        if config is None or node is not self._nodes.get(config.project):
            return
        yield "Project", config.name
        yield "Storage version", str(config.version)
        if self._store.marker:
            yield "Last sync", self._store.marker
        yield from config.others

    def _verify(
        self, file: FileFacts, written: str | None, hashed: tuple[bytes, ...], body: StoreBody | None
    ) -> bool | None:
        """Compare a content hash: over the sidecar, a newline and the body; over a relation alone (SPEC 2.2)."""
        if written is None:
            return None
        rest = b""
        if body is not None:
            data = self._data_of(body.file)
            if data is None:
                return None
            text = data.removeprefix(_BOM).decode("utf-8", "replace")  # as JavaScript reads it
            rest = b"\n" + text.replace("\r\n", "\n").replace("\r", "\n").encode()
        digests = [f"sha256:{hashlib.sha256(form + rest).hexdigest()}" for form in hashed]
        fits = written in digests
        if not fits:
            over = "the sidecar with its body has" if body else "the relation has"
            message = f'"content_hash" is "{shown(written, 80)}", {over} "{digests[0]}"'
            self._note(store_rules.HASH, file, message, "content_hash")
        return fits

    def _note_duplicates(self) -> None:
        for node in self._store.nodes:
            first = self._nodes[node.key]
            if first is not node:
                message = f'"id" is "{node.key[:120]}", as in {first.file.path}'
                self._note(store_rules.DUPLICATE, node.file, message, "id")
        by_id: dict[str, StoreRelation] = {}
        by_sense: dict[tuple[str, str, str], StoreRelation] = {}
        for relation in self._store.relations:
            sense = (relation.sender, relation.relation.predicate, relation.relation.target)
            same_id = by_id.setdefault(relation.id, relation) if relation.id else relation
            same_sense = by_sense.setdefault(sense, relation) if all(sense) else relation
            if same_id is not relation:
                message = f'"id" is "{relation.id[:120]}", as in {same_id.file.path}'
                self._note(store_rules.DUPLICATE, relation.file, message, "id")
            elif same_sense is not relation:
                message = f"{relation_sentence(*sense)[:300]}: so does {same_sense.file.path}"
                self._note(store_rules.DUPLICATE, relation.file, message, "predicate")

    def _relations_by_sender(self) -> dict[str, list[Relation]]:
        """The relations by the node they begin at, without duplicates."""
        found: dict[str, list[Relation]] = defaultdict(list)
        told: set[tuple[str, str, str]] = set()
        for relation in self._store.relations:
            self._verify(relation.file, relation.hash_written, relation.hashed, None)
            for key, end in (("from", relation.sender), ("to", relation.relation.target)):
                if end and end not in self._nodes:
                    message = f'"{key}" is "{end[:120]}"; expected a node in {self._folder}/'
                    self._note(store_rules.RELATION_END, relation.file, message, key)
            sense = (relation.sender, relation.relation.predicate, relation.relation.target)
            if relation.relation.target and sense not in told:
                told.add(sense)
                found[relation.sender].append(relation.relation)
        return found

    def _note_superseded(self) -> None:
        replaced = {
            one.relation.target
            for one in self._store.relations
            if one.relation.predicate == _SUPERSEDES and one.relation.status == "active"
        }
        circles = self._circles()
        for node in self._store.nodes:
            if node.superseded_by is not None:
                said = f'"superseded_by" is "{node.superseded_by[:120]}"'
                if node.superseded_by not in self._nodes:
                    message = f"{said}; expected a node in {self._folder}/"
                elif node.key in circles:
                    message = f"{said}, which leads back to this node"
                elif node.status != _SUPERSEDED:
                    message = f'{said}, but "status" is "{(node.status or "")[:60]}", expected superseded'
                else:
                    continue
                self._note(store_rules.SUPERSEDED, node.file, message, "superseded_by")
            elif node.status == _SUPERSEDED and node.key not in replaced:
                message = '"status" is "superseded", but neither "superseded_by" nor a relation says by what'
                self._note(store_rules.SUPERSEDED, node.file, message, "status")

    def _circles(self) -> frozenset[str]:
        """The ids of nodes that supersede themselves, directly or through others."""
        found: set[str] = set()
        seen: set[str] = set()
        for start in self._nodes:
            path: dict[str, None] = {}
            key: str | None = start
            while key in self._nodes and key not in seen and key not in path:
                path[key] = None
                key = self._nodes[key].superseded_by
            if key in path:
                names = list(path)
                found.update(names[names.index(key) :])
            seen.update(path)
        return frozenset(found)

    def _orphans(self) -> Iterator[RecordCard]:
        """Make a record of each body that no sidecar names, from its text and place."""
        named = {node.body_path for node in self._store.nodes}
        for path in sorted(self._store.bodies.keys() - named):
            body = self._store.bodies[path]
            self._findings.append(_finding(store_rules.BODY_ORPHAN, body.file, f"no sidecar names {body.file.name}"))
            card = card_of_key(key_of_path(body.file.path), body.file)
            sidecar = (("Sidecar", "none"),)
            yield replace(card, key=f"{card.key}.md", text=body.text, fields=sidecar, withheld=body.withheld)

    def _beside(self) -> dict[FilePlace, tuple[FilePlace, ...]]:
        """For each node the files of the relations that it is an end of; for the project's those of the whole store."""
        found: dict[str, list[FilePlace]] = defaultdict(list)
        for relation in self._store.relations:
            for end in dict.fromkeys((relation.sender, relation.relation.target)):
                found[end].append(relation.file.place)
        found[self._project] += self._store.of_the_whole
        return {node.file.place: tuple(found[key]) for key, node in self._nodes.items() if key in found}

    @property
    def _project(self) -> str:
        """The id of the project's node."""
        return self._store.config.project if self._store.config else ""

    def _history(self) -> dict[FilePlace, tuple[RecordEvent, ...]]:
        """The events of each node; one of a relation is of both its ends, one of no node here is the project's."""
        relations = {relation.id: relation for relation in reversed(self._store.relations)}
        found: dict[str, list[RecordEvent]] = defaultdict(list)
        for event in self._store.events:
            relation = relations.get(event.record)
            if relation is None:
                self._tell(event, event.record, found)
                continue
            sentence = relation_sentence(relation.sender, relation.relation.predicate, relation.relation.target)
            detail = f"{sentence}; {event.detail}" if event.detail else sentence
            for end in dict.fromkeys((relation.sender, relation.relation.target)):
                self._tell(replace(event, record=end, detail=detail), end, found)
        return {
            node.file.place: tuple(dict.fromkeys(sorted(found[key], key=_when)))
            for key, node in self._nodes.items()
            if key in found
        }

    def _tell(self, event: RecordEvent, key: str, found: Mapping[str, list[RecordEvent]]) -> None:
        """Add an event to those of a node; to the project's, if there is no such node, or none is named."""
        if key in self._nodes:
            found[key].append(event)
            return
        is_named = key in event.detail.replace(";", " ").split()
        detail = event.detail if is_named else "; ".join(part for part in (key, event.detail) if part)
        found[self._project].append(replace(event, record=self._project, detail=detail))


def _when(event: RecordEvent) -> tuple[bool, dt.datetime]:
    """The key for sorting by time: undated events last, those of one moment in the order written."""
    return event.at is None, event.at.instant if event.at else _NO_TIME


# The records of all memory-stores, and notes on what was left alone at their places (SPEC 2.2, memory-store).


def join_records(parsed: Sequence[Parsed], line_of: LineOf, data_of: DataOf, *, is_loose: bool) -> JoinedRecords:
    """See `formats/system.Join`."""
    joined = join_stores(parsed, line_of, data_of, is_loose=is_loose)
    return replace(joined, findings=(*joined.findings, *_left_alone(parsed, joined, is_loose=is_loose)))


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
            yield finding_in(files[0], rules.LEFT_ALONE, message)
            continue
        strays = [one for one in files if one.fact is None and part_of(one.path) in {"node", "relation"}]
        if strays:
            yield finding_in(strays[0], rules.LEFT_ALONE, FOREIGN + and_others(len(strays) - 1, place[1]))


def _folders_told_of(joined: JoinedStores) -> set[FilePlace]:
    """The folders that are stores, or of which a finding already says that they are none."""
    places = {store.file.place for store in joined.stores} | {card.file.place for card in joined.records}
    places |= {finding.location.place for finding in joined.findings}
    return {(source, store[0]) for source, path in places if (store := store_of(path)) is not None}


ADAPTER = Adapter(matches, parse, join=join_records)
