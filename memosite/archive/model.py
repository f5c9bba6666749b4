"""The archive model: the frozen values that resolving gives and that every page is made from.

Artifacts with their copies, threads, positions, links and actions. They are made from the facts of files (`facts`).
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from memosite.archive.history import LifeEvent
from memosite.facts.file import LABEL_CHARS
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import (
    BROADCAST,
    SOMEBODY,
    BodyFile,
    Discharge,
    DocumentHead,
    Envelope,
    FileFacts,
    Kind,
    LibraryCard,
    Mailbox,
    Organization,
    RecordCard,
    RecordEvent,
    Ref,
    Seat,
    SessionLog,
    Text,
    Withheld,
)
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, is_visible, listed
from memosite.facts.times import Moment
from memosite.facts.values import Value, field

SHORT_STATUS = 60
"""The most characters of a status in lists."""

_BETWEEN = " ·.…:;,!?-–—)\"'”’»"

# Says what positions are called on pages, in feeds and in search (SPEC 3, positions).


def name_of(id_: str, names: Iterable[str], seats: Iterable[tuple[str, Seat]]) -> str:
    """The one name of a position for people: its id.

    Of one of several positions of that id, it is what memos call it alone, the first of `names`, else
    `ORGANIZATION/ID`.
    """
    if "~" not in id_:
        return id_
    qualified = (f"{organization}/{seat.id}" for organization, seat in seats)
    return cut_line(next((name for some in (names, qualified) for name in some), id_), LABEL_CHARS)


def other_name(name: str, id_: str) -> str:
    """What an orgdef calls a position, if that is more than its id in other letters ("Front desk"); else ""."""
    is_same = name.casefold().replace(" ", "-") == id_.rpartition("~")[2].casefold()
    return "" if is_same else name


# The images of an artifact's text, as values.


class TextImage(Value):
    """An image that a text shows where it is `written`: the digest, format and size of the published file.

    `why_not` is why there is none, "" if there is.
    """

    written: str
    sha256: str = ""
    form: str = ""
    width: int = 0
    height: int = 0
    why_not: str = ""


# Citations that are made of an archive, with what was found of each (SPEC 7, citations).


CitationState = Literal["broken", "not judged", "holds"]


class MadeCitation(Value):
    """A citation that a text of the archive, or a manuscript, makes of the archive.

    `by` is the artifact that makes it, at the anchor `by_anchor` of its page; None for a manuscript. `to` is what is
    cited, None if that is not in the archive; `anchor` is where on its page. `written` is the reference as written.
    `said` is the verdict in words, `changes` are the words of a changed quote: `same`, of the `source` or the `quote`.
    """

    location: Location
    by: Ref | None
    by_anchor: str
    to: Ref | None
    anchor: str
    written: str
    quote: str
    state: CitationState
    said: str
    changes: tuple[tuple[Literal["same", "source", "quote"], str], ...] = ()


def by_cited(citations: Iterable[MadeCitation]) -> dict[Ref, tuple[MadeCitation, ...]]:
    """The citations of each artifact that has any, in order of arrival of what makes them."""
    found: dict[Ref, list[MadeCitation]] = defaultdict(list)
    for one in citations:
        if one.to is not None:
            found[one.to].append(one)
    return {ref: tuple(some) for ref, some in found.items()}


# Artifacts, and the archive that holds them.


NAMED, NAME_CHARS = 4, 60
"""The most names that a line lists, and the most characters of each."""


Action = Literal["open", "superseded", "answered", "discharged"]
"""The state of an action, from least to most done."""


WorkState = Literal["committed", "edited", "moved", "delivered"]


class Life(Value):
    """The git history of one file: its events, oldest first, and its state compared with the last commit.

    `state` is None if that is not known; `delivered` means never committed, `moved` and `edited` changed since.
    `commit` gave the text its content: the body file, if there is one; "" if none did, or that is not known.
    `why_not` is the reason why there are no events, "" if they are complete.
    """

    events: tuple[LifeEvent, ...] = ()
    state: WorkState | None = None
    commit: str = ""
    why_not: str = ""

    @property
    def received(self) -> Moment | None:
        """When it was first committed."""
        return self.events[0].at if self.events else None


class Copy(Value):
    """One file of an artifact. `mailbox` is None for kinds that have none (notes, transcripts, documents)."""

    file: FileFacts
    mailbox: Mailbox | None
    variant: int = 0
    body_path: str | None = None
    life: Life | None = None

    @property
    def received(self) -> Moment | None:
        """When it was first committed, as far as git knows."""
        return self.life.received if self.life else None


class Removal(Value):
    """What may be published of a memo, note, transcript or entry of a list that was removed and has no other copy.

    `stem` is "" if its last content was confidential. `is_former`: it had another name when it was removed.
    """

    kind: Kind
    stem: str
    source: str
    events: tuple[LifeEvent, ...]
    is_former: bool = False


class Variant(Value):
    """One version of an artifact: its envelope and the body file beside it. Equal copies share a variant."""

    envelope: Envelope
    body: BodyFile | None = None

    @property
    def text(self) -> Text | None:
        """The text people read: the body file if there is one, else the text inside the envelope."""
        return self.body.text if self.body else self.envelope.body

    @property
    def started(self) -> dt.datetime | None:
        """When the conversation that it holds began, as it says itself: by that its stamps are read."""
        return self.envelope.sent.instant if self.envelope.sent else None


class Link(Value):
    """A resolved mention in a text: what is written, and an artifact of the archive or an address outside."""

    written: str
    to: Ref | None = None
    url: str | None = None


class RecipientState(Value):
    """One recipient of a memo, by position id, and how far the action asked of it is."""

    position: str
    action: Action | None
    unread: bool | None = None


class Who(NamedTuple):
    """Who wrote an artifact, and to whom: names as written, of many the first. `to` is "" of what is sent to nobody.

    This is what every page, command, feed and export says of it.
    """

    sender: str
    to: str = ""

    def line(self, between: str = " to ") -> str:
        """Both as one line."""
        return between.join(filter(None, self))


def who_wrote(sender: str, to: Sequence[str]) -> Who:
    """That of a memo from one to many."""
    return Who(cut_line(author_of(sender), NAME_CHARS), listed(to, NAMED, chars=NAME_CHARS) or "nobody")


def author_of(sender: str) -> str:
    """Who wrote a memo, as people read it: what shows nothing is nobody that is known."""
    return sender if is_visible(sender) else "unknown"


class Artifact(Value):
    """The fields that all artifacts share. One with `withheld` is published without its content.

    `former` are ids that it has had before, under other names of its file, or of an entry of a list.

    `owed_by` are those for whom it waits, each once: who has not done what a memo asks, or who has to decide, as a
    status says. Of these `all` is everybody, and `SOMEBODY` is somebody who is not named. `same_matter` of a decision
    that waits are its proposal and the records of it in other systems; these have no `owed_by`. `written_by` are the
    sessions of logs whose tools wrote its file, the oldest first, each with the ordinal of the turn.
    """

    kind: Kind
    id: str
    system: str
    subject: str
    short_subject: str
    summary: str
    chars: int
    date: Moment | None
    arrival: int
    copies: tuple[Copy, ...]
    positions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    images: tuple[TextImage, ...] = ()
    backlinks: tuple[Ref, ...] = ()
    findings: tuple[Finding, ...] = ()
    former: tuple[str, ...] = ()
    withheld: Withheld | None = None
    owed_by: tuple[str, ...] = ()
    same_matter: tuple[Ref, ...] = ()
    written_by: tuple[tuple[Ref, int], ...] = ()

    @property
    def ref(self) -> Ref:
        """The artifact's name in the archive."""
        return (self.kind, self.id)

    @property
    def own_files(self) -> set[tuple[str, str]]:
        """Its files by source and path, without bodies that are files of their own."""
        return {copy.file.place for copy in self.copies}

    @property
    def files(self) -> set[tuple[str, str]]:
        """Its files, and the bodies that belong to them."""
        bodies = {(copy.file.source, copy.body_path) for copy in self.copies if copy.body_path is not None}
        return self.own_files | bodies

    @property
    def sort_key(self) -> tuple[dt.datetime, str, str]:
        """By instant, then id; artifacts without a date sort last (SPEC 3, dates)."""
        return (self.date.instant if self.date else UNDATED, self.id, self.kind)

    @property
    def who(self) -> Who:
        """Who wrote it, and to whom; of what has no author, the source."""
        return Who(self.copies[0].file.source)

    @property
    def shown_file(self) -> FileFacts:
        """The file that is published as its original: the first of several variants."""
        return self.copies[0].file

    @property
    def is_broken(self) -> bool:
        """Whether its file could not be parsed; for a record, whether its JSON is invalid."""
        return False

    @property
    def texts(self) -> tuple[Text, ...]:
        """Its texts: that inside the envelope, then that of the body file; equal ones once. None if withheld."""
        texts = () if self.withheld else self._texts()
        return tuple({text.sha256: text for text in texts if text is not None}.values())

    @property
    def is_listed(self) -> bool:
        """Whether it has a row of its own in the lists of pages; else only what it belongs to leads to it."""
        return True

    @property
    def is_announced(self) -> bool:
        """Whether the feeds of the whole archive announce it, and digests list it."""
        return True

    @property
    def waits_for(self) -> tuple[str, ...]:
        """For whom it waits by name."""
        return tuple(position for position in self.owed_by if position != SOMEBODY)

    def beside(self, most: int) -> Iterator[Ref]:
        """What it mentions, and what mentions it; of many each way the first."""
        yield from (link.to for link in self.links[:most] if link.to)
        yield from self.backlinks[:most]

    @property
    def status(self) -> str:
        """The status that a record, document or library has, "" if it has none; why it has no content."""
        return self.withheld.word if self.withheld else self._status()

    @property
    def short_status(self) -> str:
        """Its status, shortened for lists."""
        return cut_line(self.status, SHORT_STATUS)

    @property
    def excerpt(self) -> str:
        """A line of its text, as lists show it: the summary, without the beginning that its short subject says."""
        said, summary = self.short_subject.rstrip("…. "), "" if self.withheld else self.summary
        if _letters(said) == _letters(summary):
            return ""
        if not said or summary[: len(said)].casefold() != said.casefold():
            return summary
        rest = summary[len(said) :]
        if rest[:1].isalnum():  # it ends within a word: that of a subject that was cut is said whole
            if said == self.short_subject:
                return summary
            rest = said.rpartition(" ")[2] + rest
        rest = rest.lstrip(_BETWEEN)
        return f"… {rest}" if is_visible(rest) else ""

    @property
    def is_superseded(self) -> bool:
        """Whether a record or document says that something else took its place."""
        return self.status.casefold().startswith("superseded")

    @property
    def is_redacted(self) -> bool:
        """Whether secrets were redacted in any of its files: its digests are those of the redacted bytes."""
        return self.withheld is None and any(file.is_redacted for file in self._files())

    @property
    def file_facts(self) -> tuple[FileFacts, ...]:
        """Its files, each once: bodies first, then what is shown."""
        return tuple({file.place: file for file in self._files()}.values())

    def _texts(self) -> tuple[Text | None, ...]:
        return ()

    def _status(self) -> str:
        return ""

    def _files(self) -> list[FileFacts]:
        return [copy.file for copy in self.copies]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


UNDATED = dt.datetime.max.replace(tzinfo=dt.UTC)


class Envelopes(Artifact):
    """What memos, notes and transcripts share: the versions of an envelope and its body, the shown one first."""

    variants: tuple[Variant, ...]
    broken: bool = False

    @property
    def envelope(self) -> Envelope:
        """That of the version that is shown."""
        return self.variants[0].envelope

    @property
    def shown_file(self) -> FileFacts:
        """The file of that envelope."""
        return self.envelope.file

    @property
    def is_broken(self) -> bool:
        """Whether the envelope could not be parsed."""
        return self.broken

    def _texts(self) -> tuple[Text | None, ...]:
        body = self.variants[0].body
        return self.envelope.body, body.text if body else None

    def _files(self) -> list[FileFacts]:
        bodies = [variant.body.file for variant in self.variants if variant.body]
        return [*bodies, *(variant.envelope.file for variant in self.variants), *(copy.file for copy in self.copies)]


class Memo(Envelopes):
    """A memo, or a note to file, by `kind`.

    `parent` is the memo it answers, `ghost_parent` the id of one that is not in the archive. `also_answers` are further
    memos to its sender that it answers, `supersedes` earlier memos of its sender that it replaces. `sender`, `to` are
    as written, their positions as resolved; `role` is whom a note is filed for.
    """

    sender: str
    to: tuple[str, ...]
    sender_position: str | None
    recipients: tuple[RecipientState, ...]
    mailbox: Mailbox | None
    thread: str
    role: str | None = None
    parent: Ref | None = None
    ghost_parent: str | None = None
    replies: tuple[Ref, ...] = ()
    also_answers: tuple[Ref, ...] = ()
    also_answered_by: tuple[Ref, ...] = ()
    supersedes: tuple[Ref, ...] = ()
    superseded_by: tuple[Ref, ...] = ()
    action: Action | None = None
    answers: int = 0
    discharge: Discharge | None = None

    @property
    def is_broadcast(self) -> bool:
        """Whether it is addressed to everybody."""
        return BROADCAST in self.to

    @property
    def author(self) -> str:
        """Who wrote it, as people read it."""
        return author_of(self.sender)

    @property
    def who(self) -> Who:
        """Who wrote it, and to whom; a note is for the role that it is filed for."""
        if self.kind == "memo":
            return who_wrote(self.sender, self.to)
        return Who(cut_line(author_of(self.sender if is_visible(self.sender) else self.role or ""), NAME_CHARS))


class SessionCommit(Value):
    """A commit that a session made, in the turn with this ordinal, 0 if that is not known.

    It is in the repo of a source. `how` it is known: its hash was `printed` when it was made, its message has a
    `trailer` with the session's id, or one with a `checkpoint` of it. `subject` is the first line of its message.
    """

    ordinal: int
    id: str
    subject: str
    source: str
    how: Literal["printed", "trailer", "checkpoint"]


class Transcript(Envelopes):
    """A recorded conversation. `last_turn` is when its last turn began, if its stamps tell.

    Of a session log `parent` is the session that started it, `children` those that it started, and `wrote` the items
    whose files it wrote, each with the ordinal of the turn. `continued_from` is the older session that has its first
    `copied` turns, too, from `copied_at` on. `commits` are those that it made, if a repo of the archive has them.
    """

    role: str | None
    ended: Moment | None
    last_turn: Moment | None = None
    parent: Ref | None = None
    continued_from: Ref | None = None
    copied: int = 0
    copied_at: int = 0
    children: tuple[tuple[int, Ref], ...] = ()
    wrote: tuple[tuple[int, Ref], ...] = ()
    commits: tuple[SessionCommit, ...] = ()
    related: tuple[Ref, ...] = ()
    unresolved: tuple[str, ...] = ()

    @property
    def named_commits(self) -> tuple[SessionCommit, ...]:
        """Its commits, and the hashes that were printed in it of commits that no repo of the archive has."""
        known = [one.id for one in self.commits]
        printed = self.log.commits if self.log and not self.withheld else ()
        lost = (
            SessionCommit(ordinal=at, id=word, subject="", source="", how="printed")
            for at, word in printed
            if at > self.copied and not any(id_.startswith(word) for id_ in known)
        )
        return tuple(sorted((*self.commits, *lost), key=lambda one: one.ordinal))

    @property
    def started(self) -> dt.datetime | None:
        """When it began, as it says itself."""
        return self.variants[0].started

    @property
    def turns(self) -> int:
        """How many turns it has; 0 if its text is of no known form."""
        text = self.variants[0].text
        return (text.turns or 0) if text else 0

    @property
    def is_listed(self) -> bool:
        """A session that another one started is on the page of that one."""
        return self.parent is None

    @property
    def is_announced(self) -> bool:
        """Sessions of logs have feeds of their own."""
        return self.log is None

    @property
    def log(self) -> SessionLog | None:
        """What a session log says of it; None for a transcript that is no log."""
        return self.envelope.log

    @property
    def who(self) -> Who:
        """Its participants."""
        if self.log:
            return Who(self.log.agent)
        return Who(listed([one.position for one in self.envelope.participants], NAMED, chars=NAME_CHARS))


class Library(Artifact):
    """A catalog of templates and memos."""

    card: LibraryCard

    @property
    def shown_file(self) -> FileFacts:
        """Its file."""
        return self.card.file

    @property
    def is_broken(self) -> bool:
        """Whether its file could not be parsed."""
        return self.card.broken is not None

    def _texts(self) -> tuple[Text | None, ...]:
        return (self.card.rest,)

    def _status(self) -> str:
        return "unreadable" if self.is_broken else ""


class Document(Artifact):
    """A Markdown document that memos cite. `supersedes` are decisions whose place it took.

    Of a decision, `decides` are the proposals that it decided on; of a proposal, `decided_in` are those decisions.
    """

    head: DocumentHead
    superseded_by: Ref | None = None
    supersedes: tuple[Ref, ...] = ()
    decides: tuple[Ref, ...] = ()
    decided_in: tuple[Ref, ...] = ()

    @property
    def shown_file(self) -> FileFacts:
        """Its file."""
        return self.head.file

    @property
    def is_superseded(self) -> bool:
        """Whether a decision took its place, or its status says so."""
        return self.superseded_by is not None or self.status.casefold().startswith("superseded")

    def _texts(self) -> tuple[Text | None, ...]:
        return (self.head.text,)

    def _status(self) -> str:
        return self.head.status or ""


class RecordLink(Value):
    """A relation of a record: `to` names the other record, None if that is not in the archive.

    `is_inverse` marks a relation that the other record states; `predicate` is then the inverse word. `label` is
    its further text.
    """

    predicate: str
    written: str
    to: Ref | None = None
    status: str | None = None
    confidence: str | None = None
    label: str = ""
    is_inverse: bool = False


class Record(Artifact):
    """One entry of another memory system.

    `sessions` are transcripts of a session that the record names; `said_status` is its status by the rules of its
    system.
    """

    card: RecordCard
    relations: tuple[RecordLink, ...] = ()
    superseded_by: Ref | None = None
    supersedes: tuple[Ref, ...] = ()
    history: tuple[RecordEvent, ...] = ()
    sessions: tuple[Ref, ...] = ()
    said_status: str = ""

    @property
    def shown_file(self) -> FileFacts:
        """Its file, or the one that it is an entry of."""
        return self.card.file

    @property
    def is_broken(self) -> bool:
        """Whether the JSON of its file is invalid."""
        file = self.card.file
        hidden = (finding for finding in self.findings if finding.rule.hides_content)
        return file.name.lower().endswith(".json") and any(finding.location.path == file.path for finding in hidden)

    @property
    def is_superseded(self) -> bool:
        """Whether another record took its place, or it or its status says so."""
        return bool(self.superseded_by or self.card.superseded_by) or self.status.casefold().startswith("superseded")

    def _texts(self) -> tuple[Text | None, ...]:
        return (self.card.text,)

    def _status(self) -> str:
        return self.card.status or "unreadable" if self.is_broken else self.said_status


class Ghost(Value):
    """A memo that others reply to but that is not in the archive; its fields are read from its name."""

    id: str
    kind: Kind
    stem: str
    short_subject: str
    date: Moment | None
    sender: str | None
    to: str | None
    replies: tuple[Ref, ...]
    thread: str

    @property
    def who(self) -> Who:
        """Who wrote it, and to whom, as its name says."""
        return Who(self.sender or "unknown", self.to or "unknown")


class ThreadEntry(Value):
    """One line of a thread in reading order: a memo or a ghost, and its depth.

    `indent` is the depth at which it is drawn: it grows only where there are several replies to one memo, so that a
    chain of single replies is flat.
    """

    depth: int
    ref: Ref
    indent: int = 0
    is_ghost: bool = False
    continues: tuple[str, ...] = ()
    """Ids of other threads in which replies to this memo go on."""
    continued_from: str | None = None
    """Id of the thread in which its parent lies, if that is another one."""


class Thread(Value):
    """Memos joined by replies and thread ids, in reading order: a tree as a flat list with depths."""

    id: str
    name: str
    entries: tuple[ThreadEntry, ...]

    @property
    def memos(self) -> tuple[Ref, ...]:
        """Its members that are in the archive, in reading order."""
        return tuple(entry.ref for entry in self.entries if not entry.is_ghost)


class Position(Value):
    """A position of the organization, listed in an orgdef or only mentioned.

    `organizations` are the ids of the orgdefs that list it, with each one's entry. `names` are the
    ways in which memos write it. `repo` is the source its memos are in. `union_of` names the positions of
    several organizations that share this plain id (SPEC 3, positions). `is_person` if a person holds it, `is_shared` if
    one shares it with others, as with a session.
    """

    id: str
    name: str
    seats: tuple[tuple[str, Seat], ...] = ()
    names: tuple[str, ...] = ()
    repo: str | None = None
    union_of: tuple[str, ...] = ()
    is_person: bool = False
    is_shared: bool = False

    @property
    def has_person(self) -> bool:
        """Whether what waits for it waits for a person: also for one who shares it with a session."""
        return self.is_person or self.is_shared

    @property
    def is_vacant(self) -> bool:
        """Whether nobody holds it, as every orgdef that lists it says."""
        return bool(self.seats) and all((seat.status or "").casefold() == "vacant" for _, seat in self.seats)

    @property
    def members(self) -> tuple[str, ...]:
        """Its id, and those of the positions that it stands for."""
        return (self.id, *self.union_of)


EVERYBODY = 500
"""The most positions that a memo to all asks by name (SPEC 9)."""


def everybody(positions: Mapping[str, Position]) -> tuple[str, ...]:
    """Whom a memo to `all` asks: each position that is not vacant; nobody by name if they are too many (SPEC 9)."""
    asked = tuple(id_ for id_, one in positions.items() if not (one.union_of or one.is_vacant))
    return asked if len(asked) <= EVERYBODY else ()


def nearest_member(
    positions: Mapping[str, Position], organizations: Iterable[Organization], id_: str, source: str
) -> str:
    """Of what stands for several positions, the only one that has this source, or whose organization is in it."""
    inside = {organization.id for organization in organizations if organization.source == source}
    members = [positions[member] for member in positions[id_].union_of]
    near = [one.id for one in members if one.repo == source or any(name in inside for name, _ in one.seats)]
    return near[0] if len(near) == 1 else id_


class SourceInfo(Value):
    """A source as pages show it: its name, where its files can be seen on the web, and what it includes.

    `web_ref` replaces `{ref}` in `web`: the commit if exactly that was read. `commit` is the one that the
    source is at, and `ref` the configured ref, "" if the files were read from a folder. `last_fetched` is given if
    a remote could not be fetched now: when its commit was.
    """

    name: str
    web: str | None = None
    web_ref: str = "HEAD"
    include: tuple[str, ...] = ()
    ref: str = ""
    last_fetched: Moment | None = None
    commit: str = ""
    committed: Moment | None = None


class Archive(Value, gc=True):
    """Everything read in one build. Mappings iterate in a fixed order: by arrival, or by id."""

    sources: tuple[SourceInfo, ...]
    organizations: tuple[Organization, ...]
    artifacts: Mapping[Ref, Artifact]
    ghosts: Mapping[str, Ghost]
    threads: Mapping[str, Thread]
    positions: Mapping[str, Position]
    findings: tuple[Finding, ...] = ()
    removed: Mapping[Ref, Removal] = field(default_factory=dict)
    """What git says was removed, by the id it had or would have."""
    blobs: Mapping[str, str] = field(default_factory=dict)
    """From the ids of former contents to their SHA-256 on the shelf."""
    erased: Mapping[Ref, Withheld] = field(default_factory=dict)
    """What was erased and is in no source any more."""
    position_of: Mapping[str, str] = field(default_factory=dict)
    """From a name as written to the id of the position it stands for."""
    groups: Mapping[str, tuple[Ref, ...]] = field(default_factory=dict)
    """Artifacts in order of arrival: by `position/<id>` those that involve it, by `waiting/<id>` those besides
    memos that wait for it; `broadcasts`, `decisions`, `handoffs`.

    So a command that shows one position loads little of an archive that is kept.
    """
    citations: tuple[MadeCitation, ...] = ()
    """Those that memos, documents and manuscripts make of it."""
    for_operator: tuple[Finding, ...] = ()
    """Findings that are for the operator alone: commands report them, and nothing that is published has them."""

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """The findings that a command reports and fails for."""
        return (*self.findings, *self.for_operator)

    @property
    def renamed(self) -> dict[Ref, Ref]:
        """From what artifacts were called before to what they are called now; of several the first that arrived."""
        found: dict[Ref, Ref] = {}
        for ref, artifact in self.artifacts.items():
            for id_ in artifact.former:
                found.setdefault((artifact.kind, id_), ref)
        return found

    def label(self, position: str) -> str:
        """The name of a position for people, by its id: pages, feeds and search use the same."""
        known = self.positions.get(position)
        if known is None:
            return position
        return name_of(position, (name for name in known.names if name not in self.positions), known.seats)

    def short_subject(self, ref: Ref) -> str:
        """The short subject of an artifact or ghost."""
        artifact = self.artifacts.get(ref)
        return artifact.short_subject if artifact else self.ghosts[ref[1]].short_subject

    def thread_label(self, thread: str) -> str:
        """The name of a thread for people: the short subject of its first memo."""
        return self.short_subject(self.threads[thread].entries[0].ref)

    def shown_first(self, entries: Sequence[ThreadEntry]) -> list[int]:
        """The places of a thread's entries where not all has room: the first, then the newest; those undated last."""

        def key(place: int) -> tuple[bool, float]:
            artifact = self.artifacts.get(entries[place].ref)
            return place > 0, -artifact.date.instant.timestamp() if artifact and artifact.date else 0

        return sorted(range(len(entries)), key=key)

    def waiting_besides_memos(self, members: Iterable[str]) -> list[Artifact]:
        """Documents and records that wait for one of these positions, in order of arrival."""
        refs = {ref for member in members for ref in self.groups.get(f"waiting/{member}", ())}
        return sorted((self.artifacts[ref] for ref in refs), key=lambda one: one.arrival)

    def memos(self) -> tuple[Memo, ...]:
        """Memos and notes, in order of arrival."""
        return tuple(artifact for artifact in self.artifacts.values() if isinstance(artifact, Memo))


# Names the sessions that a transcript is a capture of: the UUIDs that its participants name, nothing less (SPEC 4).


_UUID = regex(r"(?<![0-9A-Za-z-])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z-])")


def sessions_of(transcript: Transcript) -> list[str]:
    """The UUIDs, in lower case and in order."""
    envelope = transcript.variants[0].envelope
    said = " ".join(one.session_arc or "" for one in envelope.participants)
    if envelope.log and not envelope.log.parent:
        said = envelope.log.key
    return sorted({found.lower() for found in _UUID.findall(said)})
