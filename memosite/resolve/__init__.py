"""Joins the facts of single files into the archive: copies, bodies, threads, positions, actions, links (SPEC 3).

    parsed ─► collect ─► bodies ─► identity ─► positions, links ─► references ─► threads ─┐
                                        └────► records ───────────────────────────────────┼─► actions
                                                          Archive ◄─ artifacts, assemble ◄┘

Each step is a pure module of its own and never raises for content.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from unicodedata import normalize

from memosite.archive.history import History
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Link, SourceInfo
from memosite.facts import rules
from memosite.facts.findings import Finding, Location, Severity
from memosite.facts.layout import CONFIG_NAME
from memosite.facts.names import make_id
from memosite.facts.parsed import Discharge, FileFacts, LineOf, Parsed, Ref
from memosite.formats.system import DataOf
from memosite.resolve.artifacts import Assembler, ResolvedLinks, group_artifacts
from memosite.resolve.identity import (
    Collected,
    CopyGroup,
    Filed,
    assign_ids,
    body_candidates,
    collect,
    file_records,
    group_copies,
    join_bodies,
    record_collisions,
    variant_findings,
    within_bounds,
)
from memosite.resolve.links import DocumentIds, HasFile, LinkResolver, backlinks, origin_of, text_images
from memosite.resolve.lives import EntryLives, Lives, removals, removed_entries
from memosite.resolve.positions import Naming, resolve_positions
from memosite.resolve.records import (
    AnchorIndex,
    Bound,
    Kept,
    RecordBinder,
    RecordNames,
    SessionIndex,
    collect_records,
    join_decisions,
    outdated_citations,
    record_files,
    unresolved_references,
)
from memosite.resolve.threads import (
    NameIndex,
    Replies,
    ThreadBuilder,
    delivery_findings,
    plain_ghost_id,
    resolve_replies,
)
from memosite.run.recall import FORGETFUL, Recall

__all__ = ["ResolveRules", "body_candidates", "resolve"]


def _no_data(_file: FileFacts) -> None:
    """The `data_of` of a caller that keeps no bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRules:
    """The settings for resolving, from the configuration.

    `sources` are in their order of precedence. `people` are the names of positions held by people; if it is None, a
    director is one. With `is_loose` envelopes count wherever they are, and findings that
    need a whole archive (ghosts, unlisted positions) are not reported: for checking single files (SPEC 8).
    """

    sources: tuple[SourceInfo, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    people: tuple[str, ...] | None = None
    closed: Mapping[str, Discharge] = field(default_factory=dict)
    is_loose: bool = False

    def without(self, names: Set[str]) -> "ResolveRules":
        """The settings without what is said of these ids, in NFC and case-folded."""
        if not names:
            return self
        closed = {id_: one for id_, one in self.closed.items() if normalize("NFC", id_).casefold() not in names}
        return replace(self, closed=closed)


def resolve(
    parsed: Iterable[Parsed],
    rules: ResolveRules,
    ledger: Ledger,
    line_of: LineOf,
    *,
    has_file: HasFile | None = None,
    data_of: DataOf = _no_data,
    histories: Mapping[str, History] = MappingProxyType({}),
    recall: Recall = FORGETFUL,
) -> tuple[Archive, Ledger]:
    """Make the archive, and the ledger with everything new in it. The order of `parsed` does not matter.

    `has_file` checks whether a source has a file at a path, for links to unpublished files; without it every such
    link within its source counts as valid. `data_of` gives the bytes of files to verify their content hashes; where
    it gives none, these are not verified. `histories` are the git histories, by source. A caller that resolves
    repeatedly gives a `recall`, which memoizes: unchanged results are then the same objects as before.
    """
    lives = Lives(histories, data_of, recall=recall)
    facts = tuple(parsed)
    entries = EntryLives(histories, facts, data_of, recall=recall)
    gathered = _gather(facts, rules, ledger, line_of, data_of=data_of, lives=lives, entries=entries, recall=recall)
    collected, kept, groups = gathered.collected, gathered.kept, gathered.groups
    assembler = Assembler(collected, groups, gathered.records, ledger, lives, recall=recall)
    naming = _name_positions(assembler, collected, rules, ledger)
    resolver = _link_resolver(gathered, assembler, rules.sources, has_file=has_file, histories=histories)
    replies = resolve_replies(
        groups,
        gathered.index,
        naming,
        lambda written, file: resolver.artifact(written, origin_of(file)),
        line_of,
        ghosts={plain_ghost_id(id_) for _, id_ in ledger.ghosts},
    )
    conversation = ThreadBuilder(groups, replies, ledger, line_of, recall=recall)
    findings = gathered.findings + tuple(replies.findings) + conversation.findings + naming.findings
    naming = recall.same("naming", replace(naming, findings=()))
    findings += (*_unknown_closed(rules.closed, groups), *record_collisions(gathered.records))
    findings += tuple(delivery_findings(groups, naming, histories, lives, recall=recall))
    if rules.is_loose:
        findings = tuple(finding for finding in findings if finding.severity != Severity.NOTE)
    links, bound, odd = _mentions(gathered, assembler, replies, resolver, line_of)
    succession = join_decisions(assembler.documents(), links, bound)
    odd += tuple(outdated_citations(assembler.citing(), links, assembler.documents(), gathered.records, succession))
    all_findings = collected.findings + kept.findings + findings + (() if rules.is_loose else odd)
    artifacts, ledger = assembler.artifacts(
        ResolvedLinks(
            naming=naming,
            conversation=conversation,
            replies=replies,
            links=links,
            backlinks=backlinks(
                links, (*((ref, one) for ref in bound for one in bound[ref].sessions), *_related(gathered))
            ),
            records=bound,
            kept=kept,
            succession=succession,
            closed=rules.closed,
            index=gathered.index,
            findings=all_findings,
        ),
        text_images(assembler.texts, facts),
    )
    archive = Archive(
        sources=tuple(_as_of(source, histories.get(source.name)) for source in rules.sources),
        organizations=collected.organizations,
        artifacts=artifacts,
        ghosts=conversation.ghosts(),
        threads=conversation.threads(),
        positions=naming.positions,
        position_of=naming.position_of,
        groups=group_artifacts(artifacts.values()),
        removed=removals(histories, artifacts, (group.stem for group in groups))
        | removed_entries(entries, artifacts, ledger),
        blobs={blob: digest for history in histories.values() for blob, digest in history.blobs.items()},
        findings=tuple(sorted(set(all_findings), key=lambda finding: finding.sort_key)),
    )
    recall.next_round()
    ledger = ledger.with_aliases(_aliases(ledger, archive, replies, conversation, gathered.index))
    return archive, _with_pages(ledger, archive)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gathered:
    """Facts sorted by kind, copies grouped under their ids; `findings` are those of grouping."""

    collected: Collected
    kept: Kept
    records: tuple[Filed, ...]
    names: RecordNames
    groups: list[CopyGroup]
    index: NameIndex
    findings: tuple[Finding, ...]


def _gather(
    parsed: tuple[Parsed, ...],
    rules: ResolveRules,
    ledger: Ledger,
    line_of: LineOf,
    *,
    data_of: DataOf,
    lives: Lives,
    entries: EntryLives,
    recall: Recall,
) -> _Gathered:
    kept = collect_records(parsed, rules.sources, line_of, data_of, is_loose=rules.is_loose)
    records = file_records(kept.cards, ledger, entries)
    collected = within_bounds(collect(parsed, rules.sources, is_loose=rules.is_loose), ledger)
    joined, findings = join_bodies(
        collected.envelopes, collected.bodies, line_of, memo_folders=collected.memo_folders, recall=recall
    )
    groups = group_copies(
        joined, lambda copy: lives.last_change(copy.envelope.file, copy.body.file if copy.body else None), recall=recall
    )
    findings += (*assign_ids(groups, ledger), *variant_findings(groups))
    return _Gathered(
        collected=_without_quotes(collected, groups),
        kept=kept,
        records=records,
        names=RecordNames(records),
        groups=groups,
        index=NameIndex(groups),
        findings=findings,
    )


def _without_quotes(collected: Collected, groups: Iterable[CopyGroup]) -> Collected:
    """Without the findings on copies that lost their content because another copy has none: they may quote it."""
    copies = (copy for group in groups if group.envelope.withheld for copy in group.copies)
    files = (file for copy in copies for file in (copy.envelope.file, copy.body.file if copy.body else None) if file)
    places = {(file.source, file.path) for file in files}
    places -= {(one.file.source, one.file.path) for one in collected.envelopes if one.withheld}
    places -= {place for place, body in collected.bodies.items() if body.withheld}
    if not places:
        return collected
    quoting = (one for one in collected.findings if (one.location.source, one.location.path) not in places)
    return replace(collected, findings=tuple(quoting))


def _name_positions(assembler: Assembler, collected: Collected, rules: ResolveRules, ledger: Ledger) -> Naming:
    return resolve_positions(
        collected.organizations,
        assembler.name_uses(),
        aliases=rules.aliases,
        people=rules.people,
        source_names=tuple(source.name for source in rules.sources),
        published=ledger.positions,
    )


def _link_resolver(
    gathered: _Gathered,
    assembler: Assembler,
    sources: Iterable[SourceInfo],
    *,
    has_file: HasFile | None,
    histories: Mapping[str, History],
) -> LinkResolver:
    return LinkResolver(
        gathered.index,
        assembler.files_by_path(),
        gathered.collected.organizations,
        sources,
        has_file,
        record_files=record_files(gathered.records),
        find_record=gathered.names.find,
        commits={name: history.commits for name, history in histories.items()},
    )


def _mentions(
    gathered: _Gathered, assembler: Assembler, replies: Replies, resolver: LinkResolver, line_of: LineOf
) -> tuple[dict[Ref, tuple[Link, ...]], Mapping[Ref, Bound], tuple[Finding, ...]]:
    """The mentions of each artifact, the further links of each record, and the findings on broken ones."""
    records = gathered.records
    anchors = AnchorIndex((*assembler.files_by_path(), *record_files(records)) if records else (), resolver)
    documents = DocumentIds(assembler.documents())
    bound = RecordBinder(gathered.names, documents, resolver, anchors, SessionIndex(gathered.groups)).bind(records)
    links = _links(assembler, replies, resolver, bound)
    return links, bound, (*unresolved_references(records, bound, line_of), *anchors.findings)


def _related(gathered: _Gathered) -> Iterator[tuple[Ref, Ref]]:
    """Transcripts with the memos that they name as related."""
    for group in gathered.groups:
        for name in group.envelope.related if group.kind == "transcript" else ():
            found = gathered.index.find(name, source=group.envelope.file.source, but=group.ref)
            if found not in {None, group.ref}:
                yield group.ref, found


def _as_of(source: SourceInfo, history: History | None) -> SourceInfo:
    if history is None:
        return source
    return replace(source, commit=history.commit or source.commit, committed=history.committed or source.committed)


def _with_pages(ledger: Ledger, archive: Archive) -> Ledger:
    """The ledger with every page of this archive that is no artifact's: threads, positions, other names, ghosts."""
    paged = ((thread.id, thread.memos[0]) for thread in archive.threads.values() if len(thread.memos) > 1)
    named = {make_id(name) for position in archive.positions.values() for name in position.names}
    others = [("name", id_) for id_ in named - set(archive.positions)]
    others += [("ghost", f"{ghost.kind}/{ghost.id}") for ghost in archive.ghosts.values()]
    removed = (
        (kind, id_) for (kind, id_), one in archive.removed.items() if one.stem and kind not in {"transcript", "record"}
    )
    others += [("ghost", f"{kind}/{id_}") for kind, id_ in removed]
    return ledger.with_pages(paged, archive.positions, others)


def _links(
    assembler: Assembler, replies: Replies, resolver: LinkResolver, bound: Mapping[Ref, Bound]
) -> dict[Ref, tuple[Link, ...]]:
    """The mentions of other artifacts in each artifact; what a reference names beside the parent counts as one."""
    found: dict[Ref, tuple[Link, ...]] = {}
    for ref, text, origin in assembler.texts:
        found[ref] = tuple(link for link in resolver.resolve(text, origin) if link.to != ref)
    for ref, record in bound.items():
        found[ref] = tuple(dict.fromkeys((*found[ref], *record.links)))
    for ref, named in replies.linked.items():
        links = found.get(ref, ())
        known = {link.to for link in links}
        found[ref] = (*links, *(Link(written=to[1], to=to) for to in named if to not in known))
    return found


def _aliases(
    ledger: Ledger, archive: Archive, replies: Replies, conversation: ThreadBuilder, index: NameIndex
) -> Iterator[tuple[str, Ref]]:
    """What the addresses of former ghosts lead to: what the references that made them mean now, or their name."""
    missing = {(ghost.kind, ghost.id) for ghost in archive.ghosts.values()}
    for former in ledger.ghosts:
        if former in archive.artifacts or former in missing:
            continue
        id_ = plain_ghost_id(former[1])
        now = replies.former.get(id_) or index.find(id_, source="")
        if now is not None:
            yield f"{former[0]}/{former[1]}", conversation.ghost_refs[now] if isinstance(now, str) else now


def _unknown_closed(closed: Mapping[str, Discharge], groups: Iterable[CopyGroup]) -> Iterable[Finding]:
    known = {group.id for group in groups if group.kind == "memo"}
    for id_ in sorted(set(closed) - known):
        where = Location(source="", path=CONFIG_NAME)
        yield Finding(rule=rules.CLOSED_UNKNOWN, location=where, message=f'actions.closed names "{id_}"')
