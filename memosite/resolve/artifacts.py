"""Makes each artifact from the facts of its files and the results of the other steps."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from memosite.archive.mailboxes import mailbox_at
from memosite.archive.model import Artifact, Copy, Document, Library, Life, Link, Memo, Record, Transcript, Variant
from memosite.facts.findings import Finding
from memosite.facts.layout import place_of
from memosite.facts.names import short_subject
from memosite.facts.parsed import BROADCAST, Discharge, DocumentHead, Envelope, RecordCard, Ref
from memosite.facts.texts import SUMMARY
from memosite.facts.times import Moment
from memosite.formats.stamps import last_turn_at
from memosite.resolve.actions import Answered, Answering, least_done, owed_by, recipient_states
from memosite.resolve.conversation import ThreadBuilder
from memosite.resolve.decisions import Succession
from memosite.resolve.filed import Filed
from memosite.resolve.identity import CopyGroup
from memosite.resolve.lives import Lives
from memosite.resolve.positions import Naming, recipients_of
from memosite.resolve.record_links import Bound
from memosite.resolve.records import Kept
from memosite.resolve.references import NameIndex
from memosite.resolve.replies import Replies, inverse
from memosite.run.recall import Recall, Same


@dataclass(frozen=True, kw_only=True)
class ResolvedLinks:
    """Results of the other steps, by ref: threads, positions of names, links and findings."""

    naming: Naming
    conversation: ThreadBuilder
    replies: Replies
    links: Mapping[Ref, tuple[Link, ...]]
    backlinks: Mapping[Ref, tuple[Ref, ...]]
    records: Mapping[Ref, Bound]
    kept: Kept
    succession: Succession
    closed: Mapping[str, Discharge]
    index: NameIndex
    findings: tuple[Finding, ...]


class ArtifactContext(NamedTuple):
    """Everything about one artifact that is not in its own files; `lives` are the histories of its copies."""

    ref: Ref
    date: Moment | None
    arrival: int
    lives: tuple[Life | None, ...]
    links: tuple[Link, ...]
    backlinks: tuple[Ref, ...]
    findings: tuple[Finding, ...]


class ThreadPosition(NamedTuple):
    """The place of a memo or note in the conversation, and the state of its action."""

    thread: str
    parent: Ref | None
    ghost_parent: Ref | None
    replies: tuple[Ref, ...]
    also_answers: tuple[Ref, ...]
    also_answered_by: tuple[Ref, ...]
    supersedes: tuple[Ref, ...]
    superseded_by: tuple[Ref, ...]
    answered: Answered
    closed: Discharge | None


class ArtifactMaker:
    """Makes one artifact at a time."""

    def __init__(
        self,
        joined: ResolvedLinks,
        dates: Mapping[Ref, Moment | None],
        numbers: Mapping[Ref, int],
        memo_folders: tuple[str, ...],
        groups: Mapping[Ref, CopyGroup],
        *,
        filed: Mapping[Ref, Filed],
        lives: Lives,
        recall: Recall,
    ) -> None:
        """Make artifacts with these dates and numbers of arrival."""
        self._joined = joined
        self._lives = lives
        self._begins = _begins(filed.values())
        self._dates = dates
        self._numbers = numbers
        self._memo_folders = memo_folders
        self._naming = joined.naming
        self._named = Same(joined.naming)
        self._recall = recall
        self._memo = recall.calls(_memo)
        self._paths = recall.calls(_paths)
        positions = joined.naming.position_of
        sender_of = {ref: positions.get(group.envelope.sender) for ref, group in groups.items()}
        self._also_by = inverse(joined.replies.also)
        self._superseded_by = inverse(joined.replies.supersedes)
        also_sent = {ref: [sender_of.get(one) for one in by] for ref, by in self._also_by.items()}
        self._answering = Answering(joined.conversation.forest, sender_of, joined.naming.union_of, also_sent)
        self._findings: dict[tuple[str, str], list[Finding]] = defaultdict(list)
        for finding in joined.findings:
            self._findings[(finding.location.source, finding.location.path)].append(finding)

    def group(self, group: CopyGroup) -> Artifact:
        """A memo, a note or a transcript."""
        ref, lives = group.ref, self._lives
        around = self._around(
            ref,
            self._paths(ref, group),
            tuple(lives.of(copy.envelope.file, copy.body.file if copy.body else None) for copy in group.copies),
        )
        if group.kind != "transcript":
            return self._memo(ref, group, around, self._talk(group), self._named, self._memo_folders)
        source, index = group.envelope.file.source, self._joined.index
        related = {name: index.find(name, source=source, but=ref) for name in group.envelope.related}
        return _transcript(group, around, related, self._naming, self._memo_folders)

    def _talk(self, group: CopyGroup) -> ThreadPosition:
        talk, named, ref = self._joined.conversation, self._joined.replies, group.ref
        replies, asks = talk.forest.children.get(ref, ()), group.envelope.action_required
        return ThreadPosition(
            thread=talk.thread_of[ref],
            parent=talk.parents.get(ref),
            ghost_parent=talk.ghost_parents.get(ref),
            replies=replies,
            also_answers=named.also.get(ref, ()),
            also_answered_by=self._also_by.get(ref, ()),
            supersedes=named.supersedes.get(ref, ()),
            superseded_by=self._superseded_by.get(ref, ()),
            answered=self._answered(group) if replies or ref in self._also_by or asks else _BY_NOBODY,
            closed=self._joined.closed.get(group.id) if group.kind == "memo" else None,
        )

    def _answered(self, group: CopyGroup) -> Answered:
        return self._answering.answered(
            group.ref,
            sender=self._naming.position_of.get(group.envelope.sender),
            recipients=recipients_of(group.envelope, self._naming),
            everybody=self._naming.everybody,
            is_action=group.kind == "memo" and group.envelope.action_required,
        )

    def filed(self, filed: Filed) -> Artifact:
        """A document, a library or a record."""
        fact = filed.fact
        copies = self._filed_copies(filed)
        paths = {(copy.file.source, path) for copy in copies for path in (copy.file.path, copy.body_path) if path}
        around = self._around(filed.ref, paths, tuple(copy.life for copy in copies))
        if isinstance(fact, RecordCard):
            return self._record(filed, fact, around, copies)
        if isinstance(fact, DocumentHead):
            return Document(
                head=fact,
                **self._joined.succession.of(filed.ref),
                **_common(
                    around,
                    system="markdown",
                    subject=fact.title,
                    short_subject=short_subject(fact.title, stem=fact.file.name),
                    summary=fact.text.summary,
                    chars=fact.text.chars,
                    copies=copies,
                    tags=fact.tags,
                ),
            )
        return Library(
            card=fact,
            **_common(
                around,
                system="memodef",
                subject=fact.name,
                short_subject=short_subject(fact.name, stem=fact.id),
                summary=fact.description[:SUMMARY],
                chars=len(fact.description),
                copies=copies,
                tags=(),
            ),
        )

    def _filed_copies(self, filed: Filed) -> tuple[Copy, ...]:
        """The copies of a document, library or record, with their histories."""
        if filed.lives is not None:
            return filed.copies
        return tuple(replace(copy, life=self._lives.of(copy.file)) for copy in filed.copies)

    def _record(self, filed: Filed, card: RecordCard, around: ArtifactContext, copies: tuple[Copy, ...]) -> Record:
        bound = self._joined.records[filed.ref]
        if card.line is not None:
            concerned = tuple(finding for finding in around.findings if self._concerns(finding, card))
            around = around._replace(findings=concerned)
        return Record(
            **_common(
                around,
                system=card.system,
                subject=card.title,
                short_subject=short_subject(card.title, stem=card.key),
                summary=card.text.summary if card.text else "",
                chars=card.text.chars if card.text else 0,
                copies=copies,
                tags=card.tags,
            ),
            card=card,
            relations=bound.relations,
            **self._joined.succession.of(filed.ref),
            history=self._joined.kept.history.get((card.file.source, card.file.path), ()),
            sessions=bound.sessions,
            former=filed.former,
        )

    def _concerns(self, finding: Finding, card: RecordCard) -> bool:
        """Whether a finding on a file of many records is about this one: it is before the next record's line."""
        line, begins = finding.location.line, self._begins[card.file.source, card.file.path]
        if line is None or finding.rule.of_whole_file:
            return False
        at = bisect_right(begins, line)
        return at > 0 and begins[at - 1] == card.line

    def _around(self, ref: Ref, paths: Iterable[tuple[str, str]], lives: tuple[Life | None, ...]) -> ArtifactContext:
        beside, findings = self._joined.kept.beside, self._findings
        odd = {
            finding
            for path in paths
            for place in (path, *beside.get(path, ()))
            if place in findings
            for finding in findings[place]
        }
        return ArtifactContext(
            ref=ref,
            date=self._dates[ref],
            arrival=self._numbers[ref],
            lives=lives,
            links=self._joined.links.get(ref, ()),
            backlinks=self._joined.backlinks.get(ref, ()),
            findings=tuple(sorted(odd, key=lambda finding: finding.sort_key)) if odd else (),
        )


_BY_NOBODY = Answered()


# From here on nothing is looked up: equal arguments give equal results (see `Recall`).


def _paths(group: CopyGroup) -> frozenset[tuple[str, str]]:
    """The source and path of every file of a group."""
    files = (file for copy in group.copies for file in (copy.envelope.file, copy.body.file if copy.body else None))
    return frozenset((file.source, file.path) for file in files if file)


def _common(around: ArtifactContext, **said: Any) -> dict[str, Any]:
    """The fields that all artifacts have."""
    return said | {
        "kind": around.ref[0],
        "id": around.ref[1],
        "date": around.date,
        "arrival": around.arrival,
        "links": around.links,
        "backlinks": around.backlinks,
        "findings": around.findings,
    }


def _spoken(group: CopyGroup, around: ArtifactContext, memo_folders: tuple[str, ...]) -> dict[str, Any]:
    """The fields that memos, notes and transcripts have."""
    envelope, text = group.envelope, group.variants[0].text
    said = envelope.body or text
    return _common(
        around,
        system="memodef",
        subject=envelope.subject,
        short_subject=short_subject(envelope.subject, stem=group.stem),
        summary=said.summary if said else "",
        chars=text.chars if text else 0,
        copies=tuple(_copy(group, index, life, memo_folders) for index, life in enumerate(around.lives)),
        tags=envelope.tags,
        variants=tuple(group.variants),
        broken=envelope.shape == "broken",
    )


def _copy(group: CopyGroup, index: int, life: Life | None, memo_folders: tuple[str, ...]) -> Copy:
    joined = group.copies[index]
    file = joined.envelope.file
    in_mailbox = group.kind == "memo" and joined.envelope.kind == "memo"
    place = place_of(file.path, memo_folders=memo_folders) if in_mailbox else None
    return Copy(
        file=file,
        mailbox=((place.mailbox if place else None) or "flat") if in_mailbox else None,
        variant=group.variant_of[index],
        body_path=joined.body.file.path if joined.body else None,
        life=life,
    )


def _memo(
    group: CopyGroup, around: ArtifactContext, talk: ThreadPosition, named: Same[Naming], memo_folders: tuple[str, ...]
) -> Memo:
    envelope, naming = group.envelope, named.value
    spoken = _spoken(group, around, memo_folders)
    is_memo = group.kind == "memo"
    sender = naming.position_of.get(envelope.sender)
    role = _role(envelope, naming, memo_folders) or (None if is_memo else sender)
    discharge = _discharge(group) or talk.closed
    states = recipient_states(
        recipients_of(envelope, naming),
        is_action=envelope.action_required and is_memo,
        is_discharged=discharge is not None,
        is_superseded=bool(talk.superseded_by),
        copies=spoken["copies"],
        repo_of=naming.repo_of,
        answered=talk.answered,
    )
    seats = [state.position for state in states if state.position != BROADCAST]
    home = naming.repo_of.get(seats[0]) if seats else None
    return Memo(
        **spoken,
        positions=tuple(sorted({one for one in (sender, role, *seats) if one})),
        sender=envelope.sender,
        to=envelope.to,
        sender_position=sender,
        recipients=states,
        mailbox=mailbox_at(spoken["copies"], home) if is_memo else None,
        thread=talk.thread,
        role=role,
        parent=talk.parent,
        ghost_parent=talk.ghost_parent[1] if talk.ghost_parent else None,
        replies=talk.replies,
        also_answers=talk.also_answers,
        also_answered_by=talk.also_answered_by,
        supersedes=talk.supersedes,
        superseded_by=talk.superseded_by,
        action=least_done(states),
        owed_by=owed_by(states, talk.answered, is_superseded=bool(talk.superseded_by)),
        answers=talk.answered.count,
        discharge=discharge,
    )


def _transcript(
    group: CopyGroup,
    around: ArtifactContext,
    related: Mapping[str, Ref | None],
    naming: Naming,
    memo_folders: tuple[str, ...],
) -> Transcript:
    envelope = group.envelope
    role = _role(envelope, naming, memo_folders)
    seats = [naming.position_of.get(participant.position) for participant in envelope.participants]
    return Transcript(
        **_spoken(group, around, memo_folders),
        positions=tuple(sorted({one for one in (role, *seats) if one})),
        role=role or next((position for position in seats if position), None),
        ended=envelope.ended,
        last_turn=_last_turn(group.variants[0]),
        related=tuple(dict.fromkeys(found for found in related.values() if found not in {None, around.ref})),
        unresolved=tuple(name for name, found in related.items() if found is None),
    )


def _last_turn(variant: Variant) -> Moment | None:
    """When the last turn of a transcript began, with the offset of its start."""
    started, span = variant.envelope.sent, variant.text.span if variant.text else None
    at = last_turn_at(span, started=started.instant) if started else None
    return Moment(instant=at, offset=started.offset) if at and started else None


def _role(envelope: Envelope, naming: Naming, memo_folders: tuple[str, ...]) -> str | None:
    folder = role_folder(envelope, memo_folders)
    return naming.position_of.get(folder) if folder else None


def _begins(filed: Iterable[Filed]) -> dict[tuple[str, str], list[int]]:
    """The lines at which the records of each file of many begin, in order."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in filed:
        if isinstance(one.fact, RecordCard) and one.fact.line is not None:
            found[one.fact.file.source, one.fact.file.path].append(one.fact.line)
    return {place: sorted(lines) for place, lines in found.items()}


def role_folder(envelope: Envelope, memo_folders: tuple[str, ...]) -> str | None:
    """The folder of a role in which a note or a transcript is filed."""
    if envelope.kind == "memo":
        return None
    place = place_of(envelope.file.path, memo_folders=memo_folders)
    return place.role if place is not None else None


def _discharge(group: CopyGroup) -> Discharge | None:
    return next((copy.envelope.discharge for copy in group.copies if copy.envelope.discharge is not None), None)
