"""Joins the facts of single files into the archive: copies, bodies, threads, positions, actions, links (SPEC 3).

    parsed ─► collect ─► bodies ─► identity ─► positions, links ─► references ─► threads ─┐
                                        └────► records ───────────────────────────────────┼─► actions
                                                          Archive ◄─ artifacts, assemble ◄┘

Each step is a pure module of its own and never raises for content.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from functools import partial
from types import MappingProxyType
from unicodedata import normalize

from memosite.archive.history import History
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Artifact, Link, SourceInfo
from memosite.facts import rules
from memosite.facts.findings import Finding, Severity
from memosite.facts.layout import CONFIG_NAME
from memosite.facts.names import make_id
from memosite.facts.parsed import Discharge, LineOf, Parsed, Ref
from memosite.facts.values import Value, field, replace
from memosite.formats.system import DataOf
from memosite.resolve import identity, records, threads
from memosite.resolve.artifacts import Assembler, ResolvedLinks, closed_by_memos, group_artifacts
from memosite.resolve.links import DocumentIds, HasFile, LinkResolver, backlinks, text_images
from memosite.resolve.lives import EntryLives, Lives, removals, removed_entries
from memosite.resolve.positions import resolve_positions
from memosite.resolve.sessions import tied_sessions
from memosite.resolve.waits import Matter, find_waits
from memosite.run.recall import FORGETFUL, Recall


class ResolveRules(Value):
    """The settings for resolving, from the configuration.

    `sources` are in their order of precedence. `people` are the names of positions held by people; if it is None, a
    director is one. With `is_loose` envelopes count wherever they are, and findings that
    need a whole archive (ghosts, unlisted positions) are not reported: for checking single files (SPEC 8).
    `session_positions` are globs of session logs, each with the position whose sessions they are; `session_person` is
    who typed in them.
    """

    sources: tuple[SourceInfo, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    people: tuple[str, ...] | None = None
    closed: Mapping[str, Discharge] = field(default_factory=dict)
    is_loose: bool = False
    session_positions: tuple[tuple[str, str], ...] = ()
    session_person: str = ""

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
    data_of: DataOf = lambda _file: None,
    histories: Mapping[str, History] = MappingProxyType({}),
    recall: Recall = FORGETFUL,
) -> tuple[Archive, Ledger]:
    """Make the archive, and the ledger with everything new in it. The order of `parsed` does not matter.

    `has_file` checks whether a source has a file at a path, for links to unpublished files; without it every such
    link within its source counts as valid. `data_of` gives the bytes of files to verify their content hashes; where
    it gives none, these are not verified. `histories` are the git histories, by source. A caller that resolves
    repeatedly gives a `recall`, which memoizes: unchanged results are then the same objects as before.
    """
    facts = tuple(parsed)
    lives = Lives(histories, data_of, facts, has_file, recall=recall)
    entries = EntryLives(histories, facts, data_of, recall=recall)

    # Facts sorted by kind, copies grouped under their ids
    kept = records.collect_records(facts, rules.sources, line_of, data_of, is_loose=rules.is_loose)
    filed = identity.file_records(kept.cards, ledger, entries, lives.former_paths)
    collected = identity.within_bounds(identity.collect(facts, rules.sources, is_loose=rules.is_loose), ledger)
    if rules.session_positions or rules.session_person:
        placed = partial(identity.with_position, globs=rules.session_positions, person=rules.session_person)
        collected = replace(collected, envelopes=tuple(map(placed, collected.envelopes)))
    joined, findings = identity.join_bodies(
        collected.envelopes, collected.bodies, line_of, memo_folders=collected.memo_folders, recall=recall
    )
    groups = identity.group_copies(joined, lambda copy: lives.last_change(*copy.files), recall=recall)
    findings += (*identity.assign_ids(groups, ledger), *identity.variant_findings(groups))
    identity.note_former(groups, ledger, lives.former_paths)
    collected, index = _without_quotes(collected, groups), threads.NameIndex(groups)
    assembler = Assembler(collected, groups, filed, ledger, lives, recall=recall)

    # What names and references stand for
    naming = resolve_positions(
        collected.organizations,
        assembler.name_uses(),
        aliases=rules.aliases,
        people=rules.people,
        source_names=tuple(source.name for source in rules.sources),
        published=ledger.positions,
    )
    names = records.RecordNames(filed)
    sessions = records.SessionIndex(groups)
    resolver = LinkResolver(
        index,
        assembler.files_by_path(),
        collected.organizations,
        rules.sources,
        has_file,
        record_files=records.record_files(filed),
        find_record=names.find,
        commits={name: history.commits for name, history in histories.items()},
        find_session=sessions.named,
    )
    messages = {group.ref: group for group in groups if group.kind in threads.MESSAGES}
    ghosts = frozenset(threads.plain_ghost_id(id_) for _, id_ in ledger.ghosts)
    replies = threads.ReplyResolver(messages, index, naming, resolver.written_in, line_of).resolve(ghosts)
    conversation = threads.ThreadBuilder(messages, replies, ledger, line_of, recall=recall)
    findings += (*replies.findings, *conversation.findings, *naming.findings)
    naming = recall.same("naming", replace(naming, findings=()))
    findings += (*_unknown_closed(rules.closed, groups), *identity.record_collisions(filed))
    findings += tuple(threads.delivery_findings(groups, naming, histories, lives, recall=recall))
    if rules.is_loose:
        findings = tuple(finding for finding in findings if finding.severity != Severity.NOTE)

    # The links of texts and of records; findings on those that are broken
    anchors = records.AnchorIndex((*assembler.files_by_path(), *records.record_files(filed)) if filed else (), resolver)
    documents = tuple(assembler.documents())
    bound = records.RecordBinder(names, DocumentIds(documents), resolver, anchors, sessions).bind(filed)
    links = _links(assembler, replies, resolver, bound)
    succession = records.join_decisions(documents, links, bound)
    if not rules.is_loose:
        findings += (*records.unresolved_references(filed, bound, line_of), *anchors.findings)
        findings += tuple(records.outdated_citations(assembler.citing(), links, documents, filed, succession))
    findings = collected.findings + kept.findings + findings
    beside = (*((ref, session) for ref in bound for session in bound[ref].sessions), *_related(groups, index))
    artifacts, ledger = assembler.artifacts(
        ResolvedLinks(
            naming=naming,
            conversation=conversation,
            replies=replies,
            links=links,
            backlinks=backlinks(links, beside),
            records=bound,
            kept=kept,
            succession=succession,
            closed=closed_by_memos(groups, conversation.forest, naming) | dict(rules.closed),
            index=index,
            findings=findings,
        ),
        text_images(assembler.texts, facts),
    )
    with_matter = recall.calls(_with_matter)
    artifacts |= tied_sessions(artifacts, {name: history.cards for name, history in histories.items()})
    waits = find_waits(artifacts, naming.positions, collected.organizations)
    artifacts |= {ref: with_matter(ref, artifacts[ref], matter) for ref, matter in waits.items()}
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
        findings=tuple(sorted(set(findings), key=lambda finding: finding.sort_key)),
    )
    recall.next_round()
    ledger = ledger.with_aliases(_aliases(ledger, archive, replies, conversation, index))
    return archive, _with_pages(ledger, archive)


def _with_matter(artifact: Artifact, matter: Matter) -> Artifact:
    return replace(artifact, **matter._asdict())


def _without_quotes(collected: identity.Collected, groups: Iterable[identity.CopyGroup]) -> identity.Collected:
    """Without the findings on copies that lost their content because another copy has none: they may quote it."""
    copies = (copy for group in groups if group.envelope.withheld for copy in group.copies)
    places = {file.place for copy in copies for file in copy.files if file}
    places -= {envelope.file.place for envelope in collected.envelopes if envelope.withheld}
    places -= {place for place, body in collected.bodies.items() if body.withheld}
    if not places:
        return collected
    kept = (finding for finding in collected.findings if finding.location.place not in places)
    return replace(collected, findings=tuple(kept))


def _related(groups: Iterable[identity.CopyGroup], index: threads.NameIndex) -> Iterator[tuple[Ref, Ref]]:
    """Transcripts with the memos that they name as related."""
    for group in groups:
        for name in group.envelope.related if group.kind == "transcript" else ():
            found = index.find(name, source=group.envelope.file.source, but=group.ref)
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
    removed = (ref for ref, one in archive.removed.items() if one.stem)
    ghosts = ((ghost.kind, ghost.id) for ghost in archive.ghosts.values())
    gone = (ref for ref in (*removed, *archive.renamed) if ref[0] in threads.MESSAGES)
    others += [("ghost", f"{kind}/{id_}") for kind, id_ in (*ghosts, *gone)]
    return ledger.with_pages(paged, archive.positions, others)


def _links(
    assembler: Assembler, replies: threads.Replies, resolver: LinkResolver, bound: Mapping[Ref, records.Bound]
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
    ledger: Ledger,
    archive: Archive,
    replies: threads.Replies,
    conversation: threads.ThreadBuilder,
    index: threads.NameIndex,
) -> Iterable[tuple[str, Ref]]:
    """What the addresses of former ghosts and of former names lead to.

    That of a ghost leads to what the references that made it mean now, or its name.
    """
    missing = {(ghost.kind, ghost.id) for ghost in archive.ghosts.values()}
    renamed = ((was, now) for was, now in archive.renamed.items() if was[0] != "record" and was not in missing)
    found = {"/".join(was): now for was, now in renamed}
    for former in ledger.ghosts:
        if former in archive.artifacts or former in missing:
            continue
        id_ = threads.plain_ghost_id(former[1])
        now = replies.former.get(id_) or index.find(id_, source="")
        if now is not None:
            to = conversation.ghost_refs[now] if isinstance(now, str) else now
            found.setdefault("/".join(former), to)
    return found.items()


def _unknown_closed(closed: Mapping[str, Discharge], groups: Iterable[identity.CopyGroup]) -> Iterable[Finding]:
    known = {id_ for group in groups if group.kind == "memo" for id_ in (group.id, *group.former)}
    for id_ in sorted(set(closed) - known):
        yield rules.CLOSED_UNKNOWN.finding(f'actions.closed names "{id_}"', path=CONFIG_NAME)
