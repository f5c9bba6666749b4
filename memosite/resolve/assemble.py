"""Assembles the artifacts of the archive from what the other steps found out."""

import datetime as dt
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memosite.facts import (
    BROADCAST,
    FILE,
    Discharge,
    DocumentHead,
    Envelope,
    FileFacts,
    RecordCard,
    RecordEvent,
    Ref,
    Text,
)
from memosite.findings import Finding
from memosite.layout import place_of
from memosite.ledger import Ledger
from memosite.model import UNDATED, Artifact, Copy, Document, Library, Link, Memo, Record, Transcript
from memosite.names import read_stamped_name, short_subject
from memosite.resolve.actions import Replies, least_done, mailbox_at, recipient_states
from memosite.resolve.collect import Collected
from memosite.resolve.filed import Filed, file_documents, file_libraries
from memosite.resolve.identity import Group
from memosite.resolve.links import Origin
from memosite.resolve.lives import Lives
from memosite.resolve.positions import NameUse, Naming
from memosite.resolve.record_links import Bound
from memosite.resolve.references import NameIndex
from memosite.resolve.threads import Forest
from memosite.texts import SUMMARY
from memosite.times import Moment


@dataclass(frozen=True, kw_only=True)
class Joined:
    """What the steps found out, by ref: how memos hang together, who is meant by names, what is linked and wrong."""

    naming: Naming
    forest: Forest
    thread_of: Mapping[Ref, str]
    parents: Mapping[Ref, Ref]
    ghost_parents: Mapping[Ref, Ref]
    links: Mapping[Ref, tuple[Link, ...]]
    backlinks: Mapping[Ref, tuple[Ref, ...]]
    records: Mapping[Ref, Bound]
    history: Mapping[tuple[str, str], tuple[RecordEvent, ...]]
    beside: Mapping[tuple[str, str], tuple[tuple[str, str], ...]]
    closed: Mapping[str, Discharge]
    index: NameIndex
    findings: tuple[Finding, ...]


class Assembler:
    """Holds the groups, documents, libraries and records under their refs, and makes artifacts of them at the end."""

    def __init__(
        self, collected: Collected, groups: list[Group], records: tuple[Filed, ...], ledger: Ledger, lives: Lives
    ) -> None:
        """Give documents and libraries their ids; groups and records have theirs."""
        self._lives = lives
        self._memo_folders = collected.memo_folders
        self._groups = {group.ref: group for group in groups}
        self._ledger = ledger
        filed = (*file_documents(collected.documents, ledger), *file_libraries(collected.libraries, ledger))
        self._filed = {one.ref: one for one in (*filed, *records)}

    def files_by_path(self) -> Iterator[tuple[Ref, FileFacts]]:
        """What can be mentioned by its path, records apart."""
        for ref, filed in self._filed.items():
            for file in filed.files if ref[0] != "record" else ():
                yield ref, file

    def texts(self) -> Iterator[tuple[Ref, Text, Origin]]:
        """Each artifact's text with the place it stands in, for links. An envelope's and its body's are one."""
        for ref, group in self._groups.items():
            body = group.variants[0].body
            known = [text for text in (group.envelope.body, body.text if body else None) if text]
            if known:
                yield ref, _join_texts(known), _origin(group.envelope.file)
        for ref, filed in self._filed.items():
            yield ref, filed.text, _origin(filed.files[0])

    def name_uses(self) -> Iterator[NameUse]:
        """Every name of a position in memos, notes and transcripts, and the folders named for roles."""
        for group in self._groups.values():
            for copy in group.copies:
                envelope, file = copy.envelope, copy.envelope.file
                is_guess = envelope.shape in {"broken", "bare"}
                is_memo = envelope.kind == "memo"
                yield NameUse(name=envelope.sender, file=file, is_guess=is_guess)
                for name in envelope.to:
                    delivered_to = file.source if is_memo else None
                    yield NameUse(name=name, file=file, delivered_to=delivered_to, is_guess=is_guess)
                for participant in envelope.participants:
                    yield NameUse(name=participant.position, file=file)
                role = role_folder(envelope, self._memo_folders)
                if role:
                    yield NameUse(name=role, file=file, delivered_to=file.source)

    def artifacts(self, joined: Joined) -> tuple[dict[Ref, Artifact], Ledger]:
        """All artifacts in order of arrival, and the ledger with the new ones."""
        received = {ref: self._received(ref) for ref in (*self._groups, *self._filed)}
        dates = {ref: _date(group) or received[ref] for ref, group in self._groups.items()}
        dates |= {ref: filed.date or received[ref] for ref, filed in self._filed.items()}
        ledger = self._ledger.with_arrivals(
            (*ref, self._key(ref))
            for ref in sorted(dates, key=lambda ref: _arrival_key(ref, received[ref] or dates[ref]))
        )
        numbers = ledger.numbers()
        maker = _Maker(joined, dates, numbers, self._memo_folders, self._groups, filed=self._filed, lives=self._lives)
        made: dict[Ref, Artifact] = {}
        for ref in sorted(dates, key=numbers.__getitem__):
            group = self._groups.get(ref)
            made[ref] = maker.filed(self._filed[ref]) if group is None else maker.group(group)
        return made, ledger

    def _received(self, ref: Ref) -> Moment | None:
        """When the first of its copies was committed first."""
        group = self._groups.get(ref)
        files = [copy.envelope.file for copy in group.copies] if group else list(self._filed[ref].files)
        lives = (self._lives.of(file) for file in files)
        found = [life.received for life in lives if life is not None and life.received is not None]
        return min(found, key=lambda moment: moment.instant, default=None)

    def _key(self, ref: Ref) -> str:
        return self._groups[ref].key if ref in self._groups else self._filed[ref].key


_OF_A_WHOLE_FILE = frozenset({"wyren-long", "wyren-section-long", "wyren-fenced"})


class _Maker:
    """Makes one artifact at a time."""

    def __init__(
        self,
        joined: Joined,
        dates: Mapping[Ref, Moment | None],
        numbers: Mapping[Ref, int],
        memo_folders: tuple[str, ...],
        groups: Mapping[Ref, Group],
        *,
        filed: Mapping[Ref, Filed],
        lives: Lives,
    ) -> None:
        self._joined = joined
        self._lives = lives
        self._begins = _begins(filed.values())
        self._dates = dates
        self._numbers = numbers
        self._memo_folders = memo_folders
        self._positions = joined.naming.position_of
        self._repo_of = {id_: position.repo for id_, position in joined.naming.positions.items()}
        sender_of = {ref: self._positions.get(group.envelope.sender) for ref, group in groups.items()}
        self._replies = Replies(joined.forest, sender_of, joined.naming.union_of)
        self._findings: dict[tuple[str, str], list[Finding]] = defaultdict(list)
        for finding in joined.findings:
            self._findings[(finding.location.source, finding.location.path)].append(finding)

    def group(self, group: Group) -> Artifact:
        """A memo, a note or a transcript."""
        copies = tuple(self._copy(group, index) for index in range(len(group.copies)))
        envelope, text = group.envelope, group.variants[0].text
        said = envelope.body or text
        common = self._common(
            group.ref,
            system="memodef",
            subject=envelope.subject,
            short_subject=short_subject(envelope.subject, stem=group.stem),
            summary=said.summary if said else "",
            chars=text.chars if text else 0,
            copies=copies,
            tags=envelope.tags,
        )
        folder = role_folder(envelope, self._memo_folders)
        role = self._positions.get(folder) if folder else None
        return self._transcript(group, role, common) if group.kind == "transcript" else self._memo(group, role, common)

    def filed(self, filed: Filed) -> Artifact:
        """A document, a library or a record."""
        fact = filed.fact
        if isinstance(fact, RecordCard):
            return self._record(filed, fact)
        if isinstance(fact, DocumentHead):
            return Document(
                head=fact,
                **self._common(
                    filed.ref,
                    system="markdown",
                    subject=fact.title,
                    short_subject=short_subject(fact.title, stem=fact.file.name),
                    summary=fact.text.summary,
                    chars=fact.text.chars,
                    copies=self._filed_copies(filed),
                    tags=fact.tags,
                ),
            )
        return Library(
            card=fact,
            **self._common(
                filed.ref,
                system="memodef",
                subject=fact.name,
                short_subject=short_subject(fact.name, stem=fact.id),
                summary=fact.description[:SUMMARY],
                chars=len(fact.description),
                copies=self._filed_copies(filed),
                tags=(),
            ),
        )

    def _filed_copies(self, filed: Filed) -> tuple[Copy, ...]:
        """The copies of a document, library or record; in a file of many records none has a life of its own."""
        if isinstance(filed.fact, RecordCard) and filed.fact.line is not None:
            return filed.copies
        return tuple(replace(copy, life=self._lives.of(copy.file)) for copy in filed.copies)

    def _record(self, filed: Filed, card: RecordCard) -> Record:
        bound = self._joined.records[filed.ref]
        common = self._common(
            filed.ref,
            system=card.system,
            subject=card.title,
            short_subject=short_subject(card.title, stem=card.key),
            summary=card.text.summary if card.text else "",
            chars=card.text.chars if card.text else 0,
            copies=self._filed_copies(filed),
            tags=card.tags,
        )
        if card.line is not None:
            common["findings"] = tuple(finding for finding in common["findings"] if self._concerns(finding, card))
        return Record(
            **common,
            card=card,
            relations=bound.relations,
            superseded_by=bound.superseded_by,
            history=self._joined.history.get((card.file.source, card.file.path), ()),
            sessions=bound.sessions,
        )

    def _concerns(self, finding: Finding, card: RecordCard) -> bool:
        """Whether a finding on a file of many records is about this one: it stands between its line and the next's."""
        line, begins = finding.location.line, self._begins[card.file.source, card.file.path]
        if line is None or finding.rule in _OF_A_WHOLE_FILE:
            return False
        at = bisect_right(begins, line)
        return at > 0 and begins[at - 1] == card.line

    def _common(self, ref: Ref, *, copies: tuple[Copy, ...], **said: Any) -> dict[str, Any]:
        """The fields that all artifacts have."""
        paths = {(copy.file.source, path) for copy in copies for path in (copy.file.path, copy.body_path) if path}
        paths |= {place for path in paths for place in self._joined.beside.get(path, ())}
        findings = {finding for path in paths for finding in self._findings.get(path, ())}
        return said | {
            "kind": ref[0],
            "id": ref[1],
            "date": self._dates[ref],
            "arrival": self._numbers[ref],
            "copies": copies,
            "links": self._joined.links.get(ref, ()),
            "backlinks": self._joined.backlinks.get(ref, ()),
            "findings": tuple(sorted(findings, key=lambda finding: finding.sort_key)),
        }

    def _copy(self, group: Group, index: int) -> Copy:
        joined = group.copies[index]
        file = joined.envelope.file
        in_mailbox = group.kind == "memo" and joined.envelope.kind == "memo"
        place = place_of(file.path, memo_folders=self._memo_folders) if in_mailbox else None
        return Copy(
            file=file,
            mailbox=((place.mailbox if place else None) or "flat") if in_mailbox else None,
            variant=group.variant_of[index],
            body_path=joined.body.file.path if joined.body else None,
            life=self._lives.of(file, joined.body.file if joined.body else None),
        )

    def _memo(self, group: Group, role: str | None, common: Mapping[str, Any]) -> Memo:
        envelope, ref, joined = group.envelope, group.ref, self._joined
        sender = self._positions.get(envelope.sender)
        if group.kind == "note":
            role = role or sender
        discharge = _discharge(group) or (joined.closed.get(group.id) if group.kind == "memo" else None)
        recipients = _recipients(envelope, joined.naming)
        states, answers = recipient_states(
            ref,
            sender=sender,
            recipients=recipients,
            is_action=envelope.action_required and group.kind == "memo",
            is_discharged=discharge is not None,
            copies=common["copies"],
            repo_of=self._repo_of,
            replies=self._replies,
        )
        named = [state.position for state in states if state.position != BROADCAST]
        home = self._repo_of.get(named[0]) if named else None
        return Memo(
            **common,
            positions=tuple(sorted({one for one in (sender, role, *named) if one})),
            sender=envelope.sender,
            to=envelope.to,
            sender_position=sender,
            recipients=states,
            mailbox=mailbox_at(common["copies"], home) if group.kind == "memo" else None,
            variants=tuple(group.variants),
            thread=joined.thread_of[ref],
            role=role,
            parent=joined.parents.get(ref),
            ghost_parent=joined.ghost_parents[ref][1] if ref in joined.ghost_parents else None,
            replies=joined.forest.children.get(ref, ()),
            action=least_done(states),
            answers=answers,
            discharge=discharge,
            broken=envelope.shape == "broken",
        )

    def _transcript(self, group: Group, role: str | None, common: Mapping[str, Any]) -> Transcript:
        envelope = group.envelope
        named = [self._positions.get(participant.position) for participant in envelope.participants]
        source, index = envelope.file.source, self._joined.index
        found = {name: index.find(name, source=source, but=group.ref) for name in envelope.related}
        return Transcript(
            **common,
            positions=tuple(sorted({one for one in (role, *named) if one})),
            variants=tuple(group.variants),
            role=role or next((position for position in named if position), None),
            ended=envelope.ended,
            related=tuple(dict.fromkeys(ref for ref in found.values() if ref not in {None, group.ref})),
            unresolved=tuple(name for name, ref in found.items() if ref is None),
            broken=envelope.shape == "broken",
        )


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


def _arrival_key(ref: Ref, date: Moment | None) -> tuple[dt.datetime, str, str]:
    return (date.instant if date else UNDATED, ref[1], ref[0])


def _date(group: Group) -> Moment | None:
    """`sent` or `started`, else the name's stamp (SPEC 3, dates)."""
    return group.envelope.sent or read_stamped_name(group.stem).date


def _discharge(group: Group) -> Discharge | None:
    discharges = (copy.envelope.discharge for copy in group.copies)
    return next((found for found in discharges if found is not None), None)


def _origin(file: FileFacts) -> Origin:
    return Origin(source=file.source, folder=file.path.rpartition("/")[0])


def _join_texts(texts: list[Text]) -> Text:
    if len(texts) == 1:
        return texts[0]
    return replace(
        texts[0],
        mentions=tuple(dict.fromkeys(mention for text in texts for mention in text.mentions)),
        destinations=tuple(dict.fromkeys(target for text in texts for target in text.destinations)),
    )


def _recipients(envelope: Envelope, naming: Naming) -> tuple[str, ...]:
    """Recipients as positions, each once; `all` stays itself, `file` is nobody."""
    names = (name if name == BROADCAST else naming.position_of.get(name, "") for name in envelope.to if name != FILE)
    return tuple(dict.fromkeys(name for name in names if name))
