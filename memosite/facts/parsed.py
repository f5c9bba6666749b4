"""The results of parsing single files, as values; they refer to no other file.

Texts are on the `Shelf`, by their SHA-256, so that an archive of 100,000 artifacts fits into memory. The wire name of
`sender` is `from`, a keyword of Python. A fact with `withheld` has no content (see `contents`).
"""

import datetime as dt
from collections.abc import Callable
from typing import Literal, Self

from memosite.facts.findings import Finding
from memosite.facts.patterns import regex
from memosite.facts.rules import SecretHit
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace

# A citation as a document holds it, before anybody asks whether it holds (SPEC 7).


class Written(Value):
    """A citation as a document holds it; what it does not say is "". `line` is where its digest is.

    `quote` is what stands above it or in it, `others` are the further words that its paragraph quotes. `unread` says
    why nobody knows what readers of the page see of them, `doubt` what else may be quoted. `sha256` may be cut short.
    `around` is what stands right around `quote` and around each of the others, which may say who spoke.
    """

    line: int
    ref: str
    url: str
    quote: str
    sha256: str
    speaker: str = ""
    time: str = ""
    commit: str = ""
    note: str = ""
    others: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    unread: str = ""
    doubt: str = ""

    @property
    def names_passage(self) -> bool:
        """Whether it says what it cites, and has a whole digest: the archive lists such ones alone."""
        return bool(self.ref or self.url) and len(self.sha256) == 64


# Why an artifact is published without its content, as a value that its facts and the artifact itself carry.


Reason = Literal["secret", "erased"]


class Withheld(Value):
    """What is published in the place of a content: why it is not there, since when, and how that can be changed.

    `why` and `on` (a day, ISO 8601) are as the configuration says. `rules` name the kinds of secrets that were found,
    never a secret. `hashes` are the SHA-256 of files that may still be published, since they were before.
    `is_for_secret` is whether something was erased since it holds a secret.
    """

    reason: Reason
    why: str = ""
    on: str = ""
    rules: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    is_for_secret: bool = False

    @property
    def hides_hashes(self) -> bool:
        """Whether no hash may stay: by one a secret could be guessed."""
        return self.reason == "secret" or self.is_for_secret

    @property
    def is_place_hidden(self) -> bool:
        """Whether readers are not to be led to the secret: not told which kind it is, nor in which commits."""
        return self.reason == "secret" and not self.rules

    @property
    def word(self) -> str:
        """The word for it in lists."""
        return "erased" if self.reason == "erased" else "withheld"


# What single files say.


Kind = Literal["memo", "note", "transcript", "library", "record", "document"]
Mailbox = Literal["inbox", "read", "archive", "flat"]
Ref = tuple[Kind, str]
"""Names one artifact in the archive: its kind and its id."""

BROADCAST, FILE, SOMEBODY = "all", "file", ""


Order = Literal["month", "day", "year"]
"""What a date has first."""


class TurnForm(Value):
    """One way to read the headings of a transcript's body (SPEC 4), by the order of dates in its stamps, if it has any.

    `turns` and `span` are as in `Text`. `is_american`: the first stamp is as computers write it that put the month
    first. `passed` counts the headings that start no turn because of their stamps, the first on `passed_line`.
    """

    order: Order | None = None
    turns: int
    span: tuple[dt.datetime, dt.datetime] | None = None
    is_american: bool = False
    passed: int = 0
    passed_line: int | None = None
    summary: str = ""


class Text(Value):
    """A text on the shelf: its digest, and what was derived from it once.

    `sha256` names the text's UTF-8 bytes as kept (LF, no BOM). `summary` is a line of what it says, `opening` its first
    words as citations quote them, "" if they are the same. `mentions` are file names, ids and paths written in it;
    `destinations` the targets of its Markdown links, `images` those of its images, `sessions` words that may name
    sessions. `turns` counts the turns of a transcript (0 = no known form), None for other texts; `span` are the local
    times of its first turn and its last; `forms` are the ways to read it, of which `started` tells the true one.
    `citations` are those that a memo or document makes. Of a session log the text is what its turns say, `log` is the
    digest of its turns as data (`formats/sessions/kept.py`), `thoughts` that of its thoughts, `outputs` that of what
    its tools put out; "" for others.
    """

    sha256: str
    chars: int
    summary: str
    mentions: tuple[str, ...] = ()
    destinations: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    turns: int | None = None
    span: tuple[dt.datetime, dt.datetime] | None = None
    forms: tuple[TurnForm, ...] = ()
    citations: tuple[Written, ...] = ()
    log: str = ""
    thoughts: str = ""
    outputs: str = ""
    opening: str = ""

    @property
    def conversation(self) -> str:
        """The digest of what `read_conversation` reads: of a session log its turns, else the text."""
        return self.log or self.sha256


NOTHING_SAID = Text(sha256="", chars=0, summary="")
"""The text of what has none; it is not on the shelf."""


class FileFacts(Value):
    """A file of a source: its path (relative to the source), and the digest and number of its bytes.

    `blob` is the id that git gives to the bytes (SHA-1), by which history detects edits; "" if not computed. Where
    secrets were redacted, digest and number are those of the redacted bytes, and `blob` still that of the file in its
    source: it is compared, never published.
    """

    source: str
    path: str
    sha256: str
    bytes: int
    blob: str = ""
    is_redacted: bool = False

    @property
    def name(self) -> str:
        """The bare file name."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder that it is in, "" for the source's own."""
        return self.path.rpartition("/")[0]

    @property
    def place(self) -> tuple[str, str]:
        """The source and the path in it."""
        return self.source, self.path


class Discharge(Value):
    """Marks an action as done, and by whom: `metadata.discharged`, or an entry of `actions.closed`."""

    on: str | None = None
    by: str | None = None
    via: str | None = None
    disposition: str | None = None


class Participant(Value):
    """One participant of a transcript: a position, and the session or person who held it; `extra` as in `Envelope`."""

    position: str
    session_arc: str | None = None
    identity: str | None = None
    extra: str = ""


class SessionLog(Value):
    """What a session log says of its session, but for its turns (SPEC 2.2, sessions).

    `system` and `key` identify the session; `stem` of its envelope is made of them and of its start. `agent` and
    `models` are who answered; `parent` is the key of the session that started it, `forked_from` of the one that it
    began as. `prints` are the first 8 hex digits of the digests of its turns in order, `-` for one without a text;
    `origins` likewise of what identifies the records of its turns wherever they are copied to. Each of `commits`,
    `checkpoints`, `wrote`, `agents` and `pulls` is of the turn whose ordinal it begins with: hashes of commits made,
    ids of Entire's checkpoints, paths written, keys of sessions started, addresses of pull requests. `tasks` are what
    these sessions were started for, by their keys, as the calls say. `people` and `tools` count turns of people and
    tool calls, `withheld` turns that hold a secret. `position` is whose session it is, and `person` who typed, as
    memosite.yml says. `unshown` counts records of types that are not shown. `line` is where it begins in a file of
    several sessions, None in its own. `is_alone`: the file has another session that is not published, so its digests
    are not either.
    """

    system: str
    key: str
    agent: str
    models: tuple[str, ...] = ()
    parent: str = ""
    forked_from: str = ""
    folder: str = ""
    branch: str = ""
    version: str = ""
    attribution: str = ""
    prints: str = ""
    people: int = 0
    tools: int = 0
    withheld: int = 0
    position: str = ""
    person: str = ""
    commits: tuple[tuple[int, str], ...] = ()
    checkpoints: tuple[tuple[int, str], ...] = ()
    wrote: tuple[tuple[int, str], ...] = ()
    agents: tuple[tuple[int, str], ...] = ()
    tasks: tuple[tuple[str, str], ...] = ()
    pulls: tuple[tuple[int, str], ...] = ()
    origins: str = ""
    unshown: tuple[tuple[str, int], ...] = ()
    line: int | None = None
    is_alone: bool = False

    def without_content(self) -> "SessionLog":
        """What it is and whose, and nothing of what was said or done in it."""
        return SessionLog(
            system=self.system,
            key=self.key,
            agent=self.agent,
            parent=self.parent,
            forked_from=self.forked_from,
            position=self.position,
            line=self.line,
        )

    def below(self, path: str) -> str:
        """A path that a tool names, as it is below the folder of the session."""
        path, folder = path.replace("\\", "/"), self.folder.replace("\\", "/").rstrip("/")
        return path.removeprefix(f"{folder}/") if folder else path


class Envelope(Value):
    """One copy of an artifact as read from an `.openthing` (or from a body without one).

    `shape` is how it was written: a typed memodef object, the legacy `x.memo.*` form, a body whose
    envelope is missing (`bare`), a file that cannot be read (`broken`), of which only the name is used, or a
    `session` of a log: then `log` says what it is.
    `in_reply_to` and `supersedes` are references as written: `names.read_names` finds the names in them.
    `extra` is the JSON text of every field memosite has no use for, kept to be shown; "" if there is none.
    """

    kind: Kind
    shape: Literal["typed", "legacy", "bare", "broken", "session"]
    file: FileFacts
    stem: str
    content_sha256: str
    sender: str = ""
    to: tuple[str, ...] = ()
    subject: str = ""
    sent: Moment | None = None
    sent_text: str = ""
    ended: Moment | None = None
    in_reply_to: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    thread_id: str | None = None
    action_required: bool = False
    body: Text | None = None
    body_ref: str | None = None
    discharge: Discharge | None = None
    session: str | None = None
    participants: tuple[Participant, ...] = ()
    related: tuple[str, ...] = ()
    transport: str | None = None
    capture_tool: str | None = None
    redaction_status: str | None = None
    tags: tuple[str, ...] = ()
    extra: str = ""
    log: SessionLog | None = None
    withheld: Withheld | None = None

    @property
    def is_speechless(self) -> bool:
        """Whether it says nothing itself, so that of an envelope only the file's name is known."""
        return self.shape in {"broken", "bare"}


class SessionFile(Value):
    """A session log, with an envelope for each of its sessions.

    Where the file holds secrets, these have the turns with them redacted, and `guarded` has the same sessions without
    those turns; else it is empty.
    """

    file: FileFacts
    sessions: tuple[Envelope, ...]
    guarded: tuple[Envelope, ...] = ()

    def without_secrets(self) -> Self:
        """The file without the turns that hold a secret."""
        return replace(self, sessions=self.guarded, guarded=()) if self.guarded else self


class LibraryItem(Value):
    """One entry of a library: its name and the path of its file as written; `extra` as in `Envelope`."""

    id: str
    name: str
    version: str
    description: str
    file: str
    extra: str = ""


class LibraryCard(Value):
    """A `memodef:Library` catalog as written; or, if `broken`, a catalog or an orgdef that is no JSON.

    `rest` is the text of an orgdef from its first position that is one too many.
    """

    file: FileFacts
    id: str
    name: str
    version: str = ""
    description: str = ""
    items: tuple[LibraryItem, ...] = ()
    extra: str = ""
    broken: Literal["library", "orgdef"] | None = None
    rest: Text | None = None
    withheld: Withheld | None = None

    def without_content(self, withheld: Withheld) -> "LibraryCard":
        """A library without its name and its entries."""
        return LibraryCard(file=self.file, id=self.id, name="", withheld=withheld)


_MAIL = regex(r"\s*<[^<>@\s]+@[^<>@\s]+>")


class Seat(Value):
    """A position as an orgdef lists it; `extra` as in `Envelope`."""

    id: str
    name: str
    status: str | None = None
    incumbent: str | None = None
    incumbent_kind: str | None = None
    description: str = ""
    role_id: str | None = None
    working_directory: str | None = None
    extra: str = ""

    @property
    def holder(self) -> str:
        """Who holds it, without an address of mail behind a name."""
        held = self.incumbent or ""
        return _MAIL.sub("", held).strip() or held

    @property
    def bare(self) -> "Seat":
        """The position by what makes its page and finds its repo."""
        return Seat(id=self.id, name=self.id, role_id=self.role_id, working_directory=self.working_directory)


class Relationship(Value):
    """An edge of the organization; ends are position ids, `external:<id>`, or the organization's own id.

    `extra` as in `Envelope`.
    """

    type: str
    sender: str
    to: str
    description: str = ""
    extra: str = ""


class Organization(Value):
    """An orgdef in either shape. `charter` holds its remaining texts by heading, in the order written.

    `more_seats` are those that are too many: only those of them that had a page before keep it; of the others `rest`
    has the text (SPEC 9).
    """

    id: str
    name: str
    source: str
    path: str
    version: str = ""
    mission: str = ""
    charter: tuple[tuple[str, str], ...] = ()
    seats: tuple[Seat, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    memo_locations: tuple[str, ...] = ()
    more_seats: tuple[Seat, ...] = ()
    rest: LibraryCard | None = None
    withheld: Withheld | None = None

    def without_content(self, withheld: Withheld) -> "Organization":
        """An organization without its texts: positions, their relationships, and where memos are."""
        return Organization(
            id=self.id,
            name=self.id,
            source=self.source,
            path=self.path,
            memo_locations=self.memo_locations,
            seats=tuple(seat.bare for seat in self.seats),
            more_seats=tuple(seat.bare for seat in self.more_seats),
            relationships=tuple(
                Relationship(type=edge.type, sender=edge.sender, to=edge.to) for edge in self.relationships
            ),
            rest=self.rest.without_content(withheld) if self.rest else None,
            withheld=withheld,
        )


class DocumentHead(Value):
    """A Markdown document: the metadata in its head; `extra` as in `Envelope`, of its frontmatter.

    `key` is the id that it gives itself, "" if it has none. `status` is whole. `decided_by` is who decided, as written,
    and `decided_on` the day; "" if it does not say. With the marks of Markdown are what it `supersedes`, what it is
    `superseded_by`, the `origins` that a decision names, and the `outcomes` that a proposal names. `is_ruling` says
    that a field tells of a decision: by whom or when it was made.
    """

    file: FileFacts
    title: str
    status: str | None
    date: Moment | None
    text: Text
    key: str = ""
    tags: tuple[str, ...] = ()
    extra: str = ""
    decided_by: str = ""
    decided_on: str = ""
    origins: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    is_ruling: bool = False
    withheld: Withheld | None = None

    def without_content(self, withheld: Withheld) -> "DocumentHead":
        """A document by its file, its date and its id."""
        return DocumentHead(
            file=self.file, title="", status=None, date=self.date, text=NOTHING_SAID, key=self.key, withheld=withheld
        )


class BodyFile(Value):
    """A file that an envelope may name in `body_ref`, with its text."""

    file: FileFacts
    text: Text
    withheld: Withheld | None = None

    def without_content(self, withheld: Withheld) -> Self:
        """A body without its text."""
        return replace(self, text=NOTHING_SAID, withheld=withheld)


class ImageFile(Value):
    """An image that a text names: the ending of its format, its size in pixels; or why it is not published."""

    file: FileFacts
    form: str = ""
    width: int = 0
    height: int = 0
    why_not: str = ""
    withheld: Withheld | None = None

    def without_content(self, withheld: Withheld) -> Self:
        """An image that is not published."""
        return replace(self, form="", width=0, height=0, why_not="withheld", withheld=withheld)


# The record systems


class Relation(Value):
    """An edge to another record, described by a `label`; `target` is as written: an id, a title, a path, a stem."""

    predicate: str
    target: str
    label: str = ""
    status: str | None = None
    confidence: str | None = None


class RecordCitation(Value):
    """An external source that a record cites."""

    title: str
    url: str
    type: str = ""
    author: str = ""
    date: str = ""
    note: str = ""


class Entity(Value):
    """Something a record mentions: a technology, a person, a place."""

    name: str
    type: str | None = None
    relation: str = "mentions"


class RecordEvent(Value):
    """One line of a record's history: what happened, when, and who did it."""

    record: str
    event: str
    at: Moment | None
    actor: str = ""
    detail: str = ""


class RecordCard(Value):
    """One record as its file has it.

    `key` names it within its source (SPEC 3: `<source>.<key>` is its id). `type` is what the system calls it:
    `decision`, `handoffs`, `semantic`, `Rejected paths`. `line` is where it begins in a file of many. `fields` are
    labels and values to be shown. `mentions` are names of other artifacts outside the text: context references,
    evidence, anchors, files. `text` is Markdown; where it is in a file of its own, the system joins it later from
    `body_path`, which is relative to the store.
    `hash_written` and `hashed` are a content hash as written and the bytes before the body that it is made over;
    `hash_fits` is whether they agree, None if there was nothing to compare.
    `is_rest` marks what stands for the records of a file that get no page: its text is theirs, as it is in the file.
    `is_alone` says that its file must not be published, since another record in it has no content; its own text is.
    """

    system: str
    key: str
    file: FileFacts
    type: str
    title: str
    line: int | None = None
    text: Text | None = None
    status: str | None = None
    stage: str | None = None
    namespace: str | None = None
    section: str | None = None
    created: Moment | None = None
    modified: Moment | None = None
    sessions: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    relations: tuple[Relation, ...] = ()
    superseded_by: str | None = None
    mentions: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    citations: tuple[RecordCitation, ...] = ()
    entities: tuple[Entity, ...] = ()
    tags: tuple[str, ...] = ()
    extra: str = ""
    body_path: str | None = None
    hash_written: str | None = None
    hashed: tuple[bytes, ...] = ()
    hash_fits: bool | None = None
    is_rest: bool = False
    is_alone: bool = False
    withheld: Withheld | None = None

    def without_content(self, withheld: Withheld) -> "RecordCard":
        """A record without its content: its key, its file, its type and section, when it was made."""
        return RecordCard(
            system=self.system,
            key=self.key,
            file=self.file,
            type=self.type,
            title="",
            line=self.line,
            section=self.section,
            created=self.created,
            body_path=self.body_path,
            is_rest=self.is_rest,
            withheld=withheld,
        )


class RecordFile(Value):
    """A file and the records in it: one, or many.

    `rest` stands for those after the first `RECORDS` that get no page of their own.
    """

    system: str
    file: FileFacts
    records: tuple[RecordCard, ...]
    rest: RecordCard | None = None

    def without_content(self, withheld: Withheld) -> Self:
        """A file of records without what any of them says."""
        return replace(
            self,
            records=tuple(card.without_content(withheld) for card in self.records),
            rest=self.rest.without_content(withheld) if self.rest else None,
        )

    @property
    def is_list(self) -> bool:
        """Whether its records are entries of a list: such a file may have none of them left."""
        return not self.records or self.records[0].line is not None


class RecordPart(Value):
    """A file that forms records only together with other files: its system joins them (see `formats/system.py`)."""

    file: FileFacts
    withheld: Withheld | None = None

    def without_content(self, withheld: Withheld) -> Self:
        """The part without its content. A system whose parts say anything overrides this."""
        return replace(self, withheld=withheld)


Fact = (
    Envelope | SessionFile | LibraryCard | Organization | DocumentHead | BodyFile | RecordFile | RecordPart | ImageFile
)


class Parsed(Value):
    """The result of parsing one file: a fact if a format recognized it, and the findings on it either way.

    `shelve` are the bytes to store on the shelf: the file itself where it is published, and its texts. `secrets` are
    those that were found in the file; what is not allowed was redacted before it was parsed. `is_confidential` is
    whether the file is marked as not for everybody (`facts/contents.py`).
    """

    source: str
    path: str
    fact: Fact | None = None
    findings: tuple[Finding, ...] = ()
    shelve: tuple[bytes, ...] = ()
    secrets: tuple[SecretHit, ...] = ()
    is_confidential: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """The file's source and its path in that; the path is "" for what is found on a source as a whole."""
        return self.source, self.path


LineOf = Callable[[FileFacts, str], int | None]
"""The line of a key in an envelope, for findings that only the whole archive shows."""
