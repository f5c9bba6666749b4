"""Makes each artifact from the facts of its files and the results of the other steps."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, get_args

from memosite.archive import model
from memosite.archive.ledger import Ledger
from memosite.archive.mailboxes import is_unread, mailbox_at
from memosite.facts.file import NAMED
from memosite.facts.findings import Finding
from memosite.facts.layout import place_of
from memosite.facts.names import short_subject, spoken
from memosite.facts.parsed import (
    BROADCAST,
    NOTHING_SAID,
    Discharge,
    DocumentHead,
    Envelope,
    FileFacts,
    RecordCard,
    Ref,
    Text,
)
from memosite.facts.patterns import regex
from memosite.facts.texts import SUMMARY
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.formats.sessions.model import is_put_there
from memosite.formats.status import sort_of
from memosite.formats.systems import system_of
from memosite.formats.turns import last_turn_at
from memosite.resolve.identity import Collected, CopyGroup, Filed, file_documents, file_libraries, without_digests
from memosite.resolve.links import TextOrigin, origin_of
from memosite.resolve.lives import Lives
from memosite.resolve.positions import NameUse, Naming, recipients_of
from memosite.resolve.records import Bound, Kept, Succession
from memosite.resolve.threads import Forest, NameIndex, Replies, ThreadBuilder, inverse, pairs_of
from memosite.run.recall import Recall, Same

# Actions and mailboxes: the state of a memo's action for each recipient, and who has not read it yet (SPEC 3).


_DEGREE: Mapping[model.Action, int] = {state: degree for degree, state in enumerate(get_args(model.Action))}


class Answered(Value):
    """Who of those asked has answered a memo; of a broadcast how many positions did, and the `rest` of those asked."""

    by: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    count: int = 0


class Answering:
    """Finds who answered a memo: who replied anywhere below it, in logarithmic time, or answered it too."""

    def __init__(
        self,
        forest: Forest,
        sender_of: Mapping[Ref, str | None],
        union_of: Mapping[str, str],
        also: Mapping[Ref, Iterable[str | None]],
    ) -> None:
        """Index the walk through the trees by sender. `sender_of` gives positions; ghosts have none.

        `union_of` maps the position of one organization to the position that joins all of its id: any of them
        answers for the union, but not the other way round. `also` are the senders of memos elsewhere that answered
        a memo, too.
        """
        self._also = {ref: {one for one in senders if one is not None} for ref, senders in also.items()}
        self._forest = forest
        self._union_of = union_of
        self._senders_below = _count_senders_below(forest, sender_of)
        self._sent: dict[str, list[int]] = defaultdict(list)
        self._members: dict[str, set[str]] = defaultdict(set)
        for place, ref in enumerate(forest.order):
            sender = sender_of.get(ref)
            if sender is not None:
                self._sent[sender].append(place)
                if sender in union_of:
                    self._members[union_of[sender]].add(sender)

    def has_answer(self, ref: Ref, *, by: str) -> bool:
        """Whether this position, or one that answers for it, answered the memo."""
        return any(self._has_answered(position, ref) for position in (by, *self._members.get(by, ())))

    def _has_answered(self, position: str, ref: Ref) -> bool:
        return self._has_sent(position, ref) or position in self._also.get(ref, ())

    def _has_sent(self, position: str, ref: Ref) -> bool:
        places = self._sent.get(position)
        if not places:
            return False
        after = bisect_right(places, self._forest.first[ref])
        return after < len(places) and places[after] <= self._forest.last[ref]

    def answered(
        self, ref: Ref, *, sender: str | None, recipients: Iterable[str], everybody: Iterable[str], is_action: bool
    ) -> Answered:
        """Which recipients have answered an action, and which of `everybody`, if it is asked of them, have not."""
        named = tuple(recipients)
        is_broadcast = BROADCAST in named
        asked = tuple(one for one in named if one != BROADCAST) if is_action else ()
        rest = everybody if is_action and is_broadcast else ()
        return Answered(
            by=tuple(one for one in asked if self.has_answer(ref, by=one)),
            rest=tuple(one for one in rest if not self._has_answered_or_sent(one, ref, sender)),
            count=self.count_answering(ref, but=sender) if is_broadcast else 0,
        )

    def _has_answered_or_sent(self, position: str, ref: Ref, sender: str | None) -> bool:
        """Whether a position did; by a name that several have it cannot be told which, so none is waited for."""
        names = {position, self._union_of.get(position, position)}
        return sender in names or any(self._has_answered(one, ref) for one in names)

    def count_answering(self, ref: Ref, *, but: str | None) -> int:
        """How many positions other than this one answered the memo."""
        elsewhere = sum(not self._has_sent(one, ref) for one in self._also.get(ref, ()) if one != but)
        return self._senders_below[ref] - (but is not None and self._has_sent(but, ref)) + elsewhere


def _count_senders_below(forest: Forest, sender_of: Mapping[Ref, str | None]) -> dict[Ref, int]:
    """How many positions sent anything below each memo; the smaller set is always merged into the larger one."""
    below: dict[Ref, set[str]] = {}
    counts: dict[Ref, int] = {}
    for ref in reversed(forest.order):
        found = below.pop(ref, set())
        counts[ref] = len(found)
        parent = forest.parent.get(ref)
        if parent is None:
            continue
        sender = sender_of.get(ref)
        if sender is not None:
            found.add(sender)
        smaller, larger = sorted((found, below.get(parent, set())), key=len)
        larger |= smaller
        below[parent] = larger
    return counts


def recipient_states(
    recipients: Iterable[str],
    *,
    is_action: bool,
    is_discharged: bool,
    is_superseded: bool,
    copies: tuple[model.Copy, ...],
    repo_of: Mapping[str, str | None],
    answered: Answered,
) -> tuple[model.RecipientState, ...]:
    """The state of each recipient (positions, or `all`)."""
    states = []
    for recipient in recipients:
        action: model.Action | None = None
        if is_action:
            has_answered = answered.count > 0 if recipient == BROADCAST else recipient in answered.by
            undone: model.Action = "superseded" if is_superseded else "open"
            action = "discharged" if is_discharged else "answered" if has_answered else undone
        unread = None if recipient == BROADCAST else is_unread(copies, repo_of.get(recipient))
        states.append(model.RecipientState(position=recipient, action=action, unread=unread))
    return tuple(states)


def owed_by(states: Iterable[model.RecipientState], answered: Answered, *, is_superseded: bool) -> tuple[str, ...]:
    """Who has not done what a memo asks; of a broadcast by name, `all` if nobody can be named and nobody has answered.

    That the state of a broadcast is answered once anybody has (SPEC 3) is no answer of the others.
    """
    owing: dict[str, None] = {}
    for state in states:
        if state.position != BROADCAST:
            owing |= {state.position: None} if state.action == "open" else {}
        elif state.action in {"open", "answered"} and not is_superseded:
            owing |= dict.fromkeys(answered.rest or ([BROADCAST] if state.action == "open" else []))
    return tuple(owing)


_CLOSES = regex(
    r"^(?:(?:re|fwd?|aw|wg)\s*:\s*)*(?:clos(?:ing|ed)|withdraw(?:n|ing)|cancell?(?:ed|ing)|no longer needed|never mind"
    r"|erledigt|zurückgezogen)\b"
    r"|[\s:(–—-](?:closed|withdrawn|cancell?ed|no longer needed|erledigt|zurückgezogen)\W*$",
    re.IGNORECASE,
)
"""What the subject of a memo begins or ends with that closes what its sender asked for."""


_ABOVE = 50
"""How far above a memo that closes something what it closes may stand in its thread."""


def closed_by_memos(groups: Iterable[CopyGroup], forest: Forest, naming: Naming) -> dict[str, Discharge]:
    """By id what its own sender closed in a reply that asks for nothing: the nearest memo above (SPEC 3, actions)."""
    found: dict[str, Discharge] = {}
    by_ref = {group.ref: group for group in groups if group.kind == "memo"}
    for ref, group in by_ref.items():
        if group.envelope.action_required or not _CLOSES.search(group.envelope.subject):
            continue
        sender, above = _sender(group, naming), forest.parent.get(ref)
        for _ in range(_ABOVE):
            asked = by_ref.get(above) if above else None
            if asked and asked.envelope.action_required and _sender(asked, naming) == sender:
                sent = group.envelope.sent
                found.setdefault(
                    asked.id, Discharge(on=sent.day if sent else None, by=group.envelope.sender, via=group.id)
                )
                break
            above = forest.parent.get(above) if above else None
    return found


def _sender(group: CopyGroup, naming: Naming) -> str:
    return naming.position_of.get(group.envelope.sender, group.envelope.sender)


def least_done(states: Iterable[model.RecipientState]) -> model.Action | None:
    """The memo's own state: the least done of its recipients'."""
    return min((one.action for one in states if one.action is not None), key=_DEGREE.__getitem__, default=None)


# Makes the artifacts.


class ResolvedLinks(Value):
    """Results of the other steps, by ref: threads, positions of names, links and findings."""

    naming: Naming
    conversation: ThreadBuilder
    replies: Replies
    links: Mapping[Ref, tuple[model.Link, ...]]
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
    former: tuple[str, ...]
    date: Moment | None
    arrival: int
    lives: tuple[model.Life | None, ...]
    links: tuple[model.Link, ...]
    backlinks: tuple[Ref, ...]
    findings: tuple[Finding, ...]


class Talk(NamedTuple):
    """What the conversation says of a memo or note: the fields of its place, who answered it, whether it is closed."""

    place: Mapping[str, Any]
    answered: Answered
    closed: Discharge | None


class ArtifactMaker:
    """Makes one artifact at a time."""

    def __init__(
        self, held: "Assembler", joined: ResolvedLinks, dates: Mapping[Ref, Moment | None], numbers: Mapping[Ref, int]
    ) -> None:
        """Make what is held, with these dates and numbers of arrival."""
        self._joined = joined
        self._lives = held.lives
        self._begins = _begins(held.filed.values())
        self._dates = dates
        self._numbers = numbers
        self._memo_folders = held.memo_folders
        self._naming = joined.naming
        self._named = Same(joined.naming)
        self._memo = held.recall.calls(_memo)
        self._paths = held.recall.calls(_paths)
        positions = joined.naming.position_of
        sender_of = {ref: positions.get(group.envelope.sender) for ref, group in held.groups.items()}
        self._also_by = inverse(pairs_of(joined.replies.also))
        self._superseded_by = inverse(pairs_of(joined.replies.supersedes))
        also_sent = {ref: [sender_of.get(one) for one in by] for ref, by in self._also_by.items()}
        self._answering = Answering(joined.conversation.forest, sender_of, joined.naming.union_of, also_sent)
        self._findings: dict[tuple[str, str], list[Finding]] = defaultdict(list)
        for finding in joined.findings:
            self._findings[finding.location.place].append(finding)

    def group(self, group: CopyGroup) -> model.Artifact:
        """A memo, a note or a transcript."""
        ref = group.ref
        lives = tuple(self._lives.of(*copy.files) for copy in group.copies)
        around = self._around(group, self._paths(ref, group), lives)
        if group.kind != "transcript":
            ids = (group.id, *group.former) if group.kind == "memo" else ()
            closed = (self._joined.closed[id_] for id_ in ids if id_ in self._joined.closed)
            talk = Talk(self._place(ref), self._answered(group), next(closed, None))
            return self._memo(ref, group, around, talk, self._named, self._memo_folders)
        source, index = group.envelope.file.source, self._joined.index
        related = {name: index.find(name, source=source, but=ref) for name in group.envelope.related}
        return _transcript(group, around, related, self._naming, self._memo_folders)

    def _place(self, ref: Ref) -> dict[str, Any]:
        talk, named = self._joined.conversation, self._joined.replies
        ghost = talk.ghost_parents.get(ref)
        return {
            "thread": talk.thread_of[ref],
            "parent": talk.parents.get(ref),
            "ghost_parent": ghost[1] if ghost else None,
            "replies": talk.forest.children.get(ref, ()),
            "also_answers": named.also.get(ref, ()),
            "also_answered_by": self._also_by.get(ref, ()),
            "supersedes": named.supersedes.get(ref, ()),
            "superseded_by": self._superseded_by.get(ref, ()),
        }

    def _answered(self, group: CopyGroup) -> Answered:
        ref, envelope = group.ref, group.envelope
        if not (envelope.action_required or ref in self._also_by or self._joined.conversation.forest.children.get(ref)):
            return _BY_NOBODY
        return self._answering.answered(
            ref,
            sender=self._naming.position_of.get(envelope.sender),
            recipients=recipients_of(envelope, self._naming),
            everybody=self._naming.everybody,
            is_action=group.kind == "memo" and envelope.action_required,
        )

    def filed(self, filed: Filed) -> model.Artifact:
        """A document, a library or a record."""
        fact, copies = filed.fact, filed.copies
        if filed.lives is None:
            copies = tuple(replace(copy, life=self._lives.of(copy.file)) for copy in copies)
        paths = {(copy.file.source, path) for copy in copies for path in (copy.file.path, copy.body_path) if path}
        around = self._around(filed, paths, tuple(copy.life for copy in copies))
        if isinstance(fact, RecordCard):
            return self._record(filed, fact, around, copies)
        if isinstance(fact, DocumentHead):
            return model.Document(
                head=fact,
                decides=self._joined.succession.decides.get(filed.ref, ()),
                decided_in=self._joined.succession.decided_in.get(filed.ref, ()),
                **self._joined.succession.of(filed.ref),
                **_common(
                    around, fact.title, fact.file.name, fact.text, system="markdown", copies=copies, tags=fact.tags
                ),
            )
        return model.Library(
            card=fact,
            **_common(around, fact.name, fact.id, None, system="memodef", copies=copies, tags=())
            | {"summary": fact.description[:SUMMARY], "chars": len(fact.description)},
        )

    def _record(
        self, filed: Filed, card: RecordCard, around: ArtifactContext, copies: tuple[model.Copy, ...]
    ) -> model.Record:
        bound = self._joined.records[filed.ref]
        if card.line is not None:
            concerned = tuple(finding for finding in around.findings if self._concerns(finding, card))
            around = around._replace(findings=concerned)
        return model.Record(
            **_common(
                around, spoken(card.title), card.key, card.text, system=card.system, copies=copies, tags=card.tags
            ),
            card=card,
            relations=bound.relations,
            **self._joined.succession.of(filed.ref),
            history=self._joined.kept.history.get(card.file.place, ()),
            sessions=bound.sessions,
            said_status=system_of(card).status(card),
        )

    def _concerns(self, finding: Finding, card: RecordCard) -> bool:
        """Whether a finding on a file of many records is about this one: it is before the next record's line."""
        line, begins = finding.location.line, self._begins[card.file.place]
        if line is None or finding.rule.of_whole_file:
            return False
        at = bisect_right(begins, line)
        return at > 0 and begins[at - 1] == card.line

    def _around(
        self, one: CopyGroup | Filed, paths: Iterable[tuple[str, str]], lives: tuple[model.Life | None, ...]
    ) -> ArtifactContext:
        ref = one.ref
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
            former=one.former,
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
    return frozenset(file.place for copy in group.copies for file in copy.files if file)


def _common(around: ArtifactContext, subject: str, stem: str, text: Text | None, **said: Any) -> dict[str, Any]:
    """The fields that all artifacts have. What has no subject has one made of `stem`; it is as long as its text."""
    kind, id_ = around.ref
    return {
        **said,
        "kind": kind,
        "id": id_,
        "subject": subject,
        "short_subject": short_subject(subject, stem=stem),
        "summary": text.summary if text else "",
        "chars": text.chars if text else 0,
        "former": around.former,
        "date": around.date,
        "arrival": around.arrival,
        "links": around.links,
        "backlinks": around.backlinks,
        "findings": around.findings,
    }


def _spoken(group: CopyGroup, around: ArtifactContext, memo_folders: tuple[str, ...]) -> dict[str, Any]:
    """The fields that memos, notes and transcripts have."""
    envelope, text = group.envelope, group.variants[0].text
    summary = (envelope.body or text or NOTHING_SAID).summary
    is_titled = group.kind != "transcript" or not (summary and is_put_there(envelope.subject))
    fields = _common(
        around,
        envelope.subject if is_titled else summary,
        group.stem,
        text,
        system=envelope.log.system if envelope.log else "memodef",
        copies=tuple(_copy(group, index, life, memo_folders) for index, life in enumerate(around.lives)),
        tags=envelope.tags,
        variants=tuple(group.variants),
        broken=envelope.shape == "broken",
    )
    return fields | {"summary": summary}


def _copy(group: CopyGroup, index: int, life: model.Life | None, memo_folders: tuple[str, ...]) -> model.Copy:
    joined = group.copies[index]
    file = joined.envelope.file
    in_mailbox = group.kind == "memo" and joined.envelope.kind == "memo"
    place = place_of(file.path, memo_folders=memo_folders) if in_mailbox else None
    return model.Copy(
        file=file,
        mailbox=((place.mailbox if place else None) or "flat") if in_mailbox else None,
        variant=group.variant_of[index],
        body_path=joined.body.file.path if joined.body else None,
        life=life,
    )


def _memo(
    group: CopyGroup, around: ArtifactContext, talk: Talk, named: Same[Naming], memo_folders: tuple[str, ...]
) -> model.Memo:
    envelope, naming, answered = group.envelope, named.value, talk.answered
    spoken = _spoken(group, around, memo_folders)
    is_memo, is_superseded = group.kind == "memo", bool(talk.place["superseded_by"])
    sender = naming.position_of.get(envelope.sender)
    role = _role(envelope, naming, memo_folders) or (None if is_memo else sender)
    discharges = (copy.envelope.discharge for copy in group.copies if copy.envelope.discharge is not None)
    discharge = next(discharges, talk.closed)
    states = recipient_states(
        recipients_of(envelope, naming),
        is_action=envelope.action_required and is_memo,
        is_discharged=discharge is not None,
        is_superseded=is_superseded,
        copies=spoken["copies"],
        repo_of=naming.repo_of,
        answered=answered,
    )
    seats = [state.position for state in states if state.position != BROADCAST]
    home = naming.repo_of.get(seats[0]) if seats else None
    return model.Memo(
        **spoken,
        positions=tuple(sorted({one for one in (sender, role, *seats) if one})),
        sender=envelope.sender,
        to=envelope.to,
        sender_position=sender,
        recipients=states,
        mailbox=mailbox_at(spoken["copies"], home) if is_memo else None,
        **talk.place,
        role=role,
        action=least_done(states),
        owed_by=owed_by(states, answered, is_superseded=is_superseded),
        answers=answered.count,
        discharge=discharge,
    )


def _transcript(
    group: CopyGroup,
    around: ArtifactContext,
    related: Mapping[str, Ref | None],
    naming: Naming,
    memo_folders: tuple[str, ...],
) -> model.Transcript:
    envelope = group.envelope
    role = _role(envelope, naming, memo_folders)
    seats = [naming.position_of.get(participant.position) for participant in envelope.participants]
    if log := envelope.log:
        theirs: list[str | None] = [id_ for id_, repo in naming.repo_of.items() if repo == envelope.file.source]
        seats = [naming.position_of.get(log.position)] if log.position else theirs if len(theirs) == 1 else []
    return model.Transcript(
        **_spoken(group, around, memo_folders),
        positions=tuple(sorted({one for one in (role, *seats) if one})),
        role=role or next((position for position in seats if position), None),
        ended=envelope.ended,
        last_turn=_last_turn(group.variants[0]),
        related=tuple(dict.fromkeys(found for found in related.values() if found not in {None, around.ref})),
        unresolved=tuple(name for name, found in related.items() if found is None),
    )


def _last_turn(variant: model.Variant) -> Moment | None:
    """When the last turn of a transcript began, with the offset of its start."""
    started, span = variant.envelope.sent, variant.text.span if variant.text else None
    at = last_turn_at(span, started=variant.started)
    return Moment(instant=at, offset=started.offset) if at and started else None


def _role(envelope: Envelope, naming: Naming, memo_folders: tuple[str, ...]) -> str | None:
    folder = role_folder(envelope, memo_folders)
    return naming.position_of.get(folder) if folder else None


def _begins(filed: Iterable[Filed]) -> dict[tuple[str, str], list[int]]:
    """The lines at which the records of each file of many begin, in order."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for entry in filed:
        if isinstance(entry.fact, RecordCard) and entry.fact.line is not None:
            found[entry.fact.file.place].append(entry.fact.line)
    return {place: sorted(lines) for place, lines in found.items()}


def role_folder(envelope: Envelope, memo_folders: tuple[str, ...]) -> str | None:
    """The folder of a role in which a note or a transcript is filed."""
    if envelope.kind == "memo" or envelope.log:
        return None
    place = place_of(envelope.file.path, memo_folders=memo_folders)
    return place.role if place is not None else None


# Assembles the artifacts of the archive from the results of the other steps.


class Assembler:
    """Holds the groups, documents, libraries and records under their refs, and makes artifacts of them at the end."""

    def __init__(
        self,
        collected: Collected,
        groups: list[CopyGroup],
        records: tuple[Filed, ...],
        ledger: Ledger,
        lives: Lives,
        *,
        recall: Recall,
    ) -> None:
        """Give documents and libraries their ids; groups and records have theirs."""
        self.lives = lives
        self.recall = recall
        self.memo_folders = collected.memo_folders
        self.groups = {group.ref: group for group in groups}
        self._ledger = ledger
        filed = (
            *file_documents(collected.documents, ledger, lives.former_paths),
            *file_libraries(collected.libraries, ledger),
        )
        self.filed = {one.ref: one for one in (*filed, *records)}

    def files_by_path(self) -> Iterator[tuple[Ref, FileFacts]]:
        """What can be mentioned by its path, records apart."""
        for ref, filed in self.filed.items():
            for file in filed.files if ref[0] != "record" else ():
                yield ref, file

    def documents(self) -> Iterator[Filed]:
        """Documents, with their refs."""
        return (filed for ref, filed in self.filed.items() if ref[0] == "document")

    def citing(self) -> Iterator[tuple[Ref, FileFacts, int | None]]:
        """Memos, notes and records with the file, and the line of a list, that they are in."""
        for ref, group in self.groups.items():
            if group.kind != "transcript":
                yield ref, group.envelope.file, None
        for ref, filed in self.filed.items():
            if isinstance(filed.fact, RecordCard):
                yield ref, filed.files[0], filed.fact.line

    @cached_property
    def texts(self) -> tuple[tuple[Ref, Text, TextOrigin], ...]:
        """Each artifact's text with its file's place, for links. An envelope's and its body's are joined."""
        texts_of = self.recall.calls(_texts_of)
        spoken = ((ref, *texts_of(ref, group)) for ref, group in self.groups.items())
        filed = (
            (ref, filed.text, replace(origin_of(filed.files[0]), is_near=ref[0] == "record"))
            for ref, filed in self.filed.items()
        )
        return (*((ref, text, origin) for ref, text, origin in spoken if text is not None), *filed)

    def name_uses(self) -> Iterator[NameUse]:
        """Every name of a position in memos, notes and transcripts, and the folders named after roles."""
        uses = self.recall.calls(_uses)
        for ref, group in self.groups.items():
            yield from uses(ref, group, self.memo_folders)

    def artifacts(
        self, joined: ResolvedLinks, images: Mapping[Ref, tuple[model.TextImage, ...]]
    ) -> tuple[dict[Ref, model.Artifact], Ledger]:
        """All artifacts in order of arrival, and the ledger with the new ones."""
        named: Iterable[tuple[Ref, CopyGroup | Filed]] = (*self.groups.items(), *self.filed.items())
        dates = {ref: one.date or self._received(ref) for ref, one in named}
        known = self._ledger.keys_by_ref
        new = [ref for ref in dates if known.get(ref) != self._key(ref)]
        instants = {ref: at.instant if (at := self._received(ref) or dates[ref]) else model.UNDATED for ref in new}
        new.sort(key=lambda ref: (instants[ref], ref[1], ref[0]))
        ledger = self._ledger.with_arrivals((*ref, self._key(ref)) for ref in new)
        numbers = ledger.numbers
        maker = ArtifactMaker(self, joined, dates, numbers)
        made: dict[Ref, model.Artifact] = {}
        as_published, with_images = self.recall.calls(without_digests), self.recall.calls(_with_images)
        for ref in sorted(dates, key=numbers.__getitem__):
            group = self.groups.get(ref)
            one = as_published(ref, maker.filed(self.filed[ref]) if group is None else maker.group(group))
            made[ref] = with_images(ref, one, images[ref]) if ref in images else one
        return made, ledger

    def _received(self, ref: Ref) -> Moment | None:
        """When the earliest of its copies was first committed."""
        group = self.groups.get(ref)
        if group is None and self.filed[ref].lives is not None:
            found = [copy.received for copy in self.filed[ref].copies]
        else:
            files = [copy.envelope.file for copy in group.copies] if group else self.filed[ref].files
            found = list(map(self.lives.received, files))
        return min(filter(None, found), key=lambda moment: moment.instant, default=None)

    def _key(self, ref: Ref) -> str:
        return self.groups[ref].key if ref in self.groups else self.filed[ref].key


def _with_images(artifact: model.Artifact, images: tuple[model.TextImage, ...]) -> model.Artifact:
    return artifact if artifact.withheld else replace(artifact, images=images)


def _texts_of(group: CopyGroup) -> tuple[Text | None, TextOrigin]:
    """The texts of an artifact, of its envelope and its body, with their places."""
    body = group.variants[0].body
    texts = [text for text in (group.envelope.body, body.text if body else None) if text]
    first, origin = next(iter(texts), None), origin_of(group.envelope.file)
    if first is None or len(texts) == 1:
        return first, origin
    joined = replace(
        first,
        mentions=tuple(dict.fromkeys(mention for text in texts for mention in text.mentions)),
        destinations=tuple(dict.fromkeys(target for text in texts for target in text.destinations)),
        images=tuple(dict.fromkeys(image for text in texts for image in text.images)),
    )
    return joined, origin


def _uses(group: CopyGroup, memo_folders: tuple[str, ...]) -> tuple[NameUse, ...]:
    """The names of positions in the copies of an artifact."""
    found, at = [], group.sent_at
    for copy in group.copies:
        envelope, file = copy.envelope, copy.envelope.file
        is_guess = envelope.is_speechless
        found.append(NameUse(name=envelope.sender, file=file, at=at, is_guess=is_guess))
        delivered_to = file.source if envelope.kind == "memo" else None
        found += (
            NameUse(
                name=name, file=file, at=at, delivered_to=delivered_to, is_guess=is_guess, is_further=number >= NAMED
            )
            for number, name in enumerate(envelope.to)
        )
        found += (
            NameUse(name=participant.position, file=file, at=at, is_further=number >= NAMED)
            for number, participant in enumerate(envelope.participants)
        )
        if envelope.log and envelope.log.position:
            found.append(NameUse(name=envelope.log.position, file=file, at=at))
        role = role_folder(envelope, memo_folders)
        if role:
            found.append(NameUse(name=role, file=file, at=at, delivered_to=file.source))
    return tuple(found)


# Groups artifacts, so that commands which show few of them need not look at all of them.


_HANDOFF = regex(r"hand-?(?:off|over)", re.IGNORECASE)


def group_artifacts(artifacts: Iterable[model.Artifact]) -> dict[str, tuple[Ref, ...]]:
    """The groups of `Archive.groups`, by name; `artifacts` are in order of arrival."""
    found: dict[str, list[Ref]] = defaultdict(list)
    for artifact in artifacts:
        for position in artifact.positions:
            found[f"position/{position}"].append(artifact.ref)
        if isinstance(artifact, model.Memo):
            if artifact.kind == "memo" and artifact.is_broadcast:
                found["broadcasts"].append(artifact.ref)
            continue
        for position in artifact.owed_by:
            found[f"waiting/{position}"].append(artifact.ref)
        if sort_of(artifact) == "decision":
            found["decisions"].append(artifact.ref)
        elif isinstance(artifact, model.Record) and _HANDOFF.search(f"{artifact.card.type} {artifact.card.section}"):
            found["handoffs"].append(artifact.ref)
    return {name: tuple(found[name]) for name in sorted(found)}
