"""Page models: everything a template needs to know, one frozen class per template, and nothing else.

A model is closed: the template sees `page` alone. It names texts by their SHA-256 (see `parts.Body`), so a
model is small and its fingerprint says whether the page is stale. All links are relative to the page itself.
"""

from dataclasses import dataclass
from typing import ClassVar

from memosite.archive.cite import Citation
from memosite.archive.notices import Notice
from memosite.facts.findings import Severity
from memosite.facts.parsed import Kind, Mailbox
from memosite.pages.cited import CitedRow
from memosite.pages.feeds import FeedGroup, Subscribing
from memosite.pages.lanes import Lanes
from memosite.pages.lives import EditRow, LifeLine, MovementRow
from memosite.pages.mentions import MentionRow
from memosite.pages.neighbours import Neighbours
from memosite.pages.organization import OrganizationSection, SeatRow
from memosite.pages.overviews import CalendarMonth, Exchange, PositionsAtAGlance, TimelineYear, Waiting
from memosite.pages.parts import (
    AnchorRow,
    Body,
    CitationRow,
    CopyRow,
    EntityRow,
    EventRow,
    FindingRow,
    LibraryEntry,
    ListSection,
    PagePart,
    RecipientRow,
    Reference,
    RelationRow,
    Row,
    Site,
    SourceRow,
    Stamp,
    SystemRow,
    VariantRow,
)
from memosite.pages.pictures import Grid
from memosite.pages.seals import Seal
from memosite.pages.shared import SharedRow
from memosite.pages.threads import ThreadMember, ThreadSummary
from memosite.pages.tracks import OutdatedCitation, TrackStep
from memosite.pages.views import View
from memosite.pages.words import ShownAction


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What every page has. `path` is its file, `root` leads from it to the top of the site."""

    template: ClassVar[str]

    site: Site
    path: str
    root: str
    title: str
    section: str = ""
    canonical: str | None = None
    description: str = ""
    feeds: tuple[Reference, ...] = ()
    twins: tuple[Reference, ...] = ()
    parts: tuple[PagePart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage(Page):
    """What waits for people, activity, the newest by day, the positions, the sources."""

    template: ClassVar[str] = "home.html"

    waiting: Waiting
    open_actions: int
    activity: Grid | None
    positions: PositionsAtAGlance
    digests: Reference
    newest: tuple[Row, ...]
    dated: int
    months: tuple[Reference, ...]
    sources: tuple[SourceRow, ...]
    counts: tuple[tuple[str, int], ...]
    findings: tuple[tuple[Severity, int], ...]
    movements: tuple[MovementRow, ...] = ()
    threads: tuple[View, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationPage(Page):
    """All positions, and each orgdef; `unreadable` are those that cannot be read, `rests` what is shown as it is."""

    template: ClassVar[str] = "organization.html"

    organizations: tuple[OrganizationSection, ...]
    seats: tuple[SeatRow, ...]
    seats_total: int = 0
    exchange: Exchange | None = None
    unreadable: tuple[Reference, ...] = ()
    rests: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactPage(Page):
    """What the pages of all artifacts have in common."""

    kind: Kind
    id: str
    subject: str
    date: Stamp | None
    date_written: str
    body: Body | None
    copies: tuple[CopyRow, ...]
    originals: tuple[Reference, ...]
    extra: str
    tags: tuple[str, ...]
    findings: tuple[FindingRow, ...]
    backlinks: tuple[MentionRow, ...]
    lives: tuple[LifeLine, ...] = ()
    lives_summary: str = ""  # of many copies, whose histories are collapsed
    citation: Citation | None = None
    is_cut: bool = False  # whether the body is longer than a page may be, so that only its beginning is shown
    extra_left_out: int = 0  # how many characters of `extra` a page cannot hold
    findings_total: int = 0  # how many of these there are in all, where a page cannot hold them
    backlinks_total: int = 0
    track: tuple[TrackStep, ...] = ()  # of a decision or a proposal
    outdated: tuple[OutdatedCitation, ...] = ()  # of a memo or a record: what it cites and is not in force
    cited_by: tuple[CitedRow, ...] = ()
    cited_by_total: int = 0
    shared: tuple[SharedRow, ...] = ()
    shared_total: int = 0
    around: Neighbours | None = None  # in the list that readers page through


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoPage(ArtifactPage):
    """A memo or a note."""

    template: ClassVar[str] = "memo.html"

    sender: Reference | None
    to: tuple[Reference, ...]
    role: Reference | None
    session: str
    mailbox: Mailbox | None
    unread: str
    action: ShownAction | None
    recipients: tuple[RecipientRow, ...]
    waits_for: tuple[Reference, ...]
    perhaps_answered_by: tuple[Reference, ...]
    answers: int
    relations: tuple[tuple[str, tuple[Reference, ...]], ...]
    discharge: str
    summary: Body | None
    thread: Reference | None
    thread_rows: tuple[Row, ...]
    thread_total: int
    previous: Reference | None
    next: Reference | None
    variants: tuple[VariantRow, ...]
    is_legacy: bool
    is_broken: bool
    edited: Reference | None = None  # to the newest edit after receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage(ArtifactPage):
    """A Markdown document that memos cite."""

    template: ClassVar[str] = "document.html"

    status: str
    decided_by: str | None  # "" if a decision does not say, None for what nobody has decided
    source: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryPage(ArtifactPage):
    """A catalog of templates; a broken one, or a broken orgdef, is shown as it is."""

    template: ClassVar[str] = "library.html"

    version: str
    summary: str
    items: tuple[LibraryEntry, ...]
    is_broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage(ArtifactPage):
    """One entry of another memory system; `place` is its file, with the line in a file of many."""

    template: ClassVar[str] = "record.html"

    system: Reference
    type: str
    status: str
    decided_by: str | None = None  # as of a document
    stage: str
    namespace: str
    record_section: str
    source: str
    place: str
    modified: Stamp | None
    is_superseded: bool
    successor: Reference | None  # what took its place: a link, or a name as written
    fields: tuple[tuple[str, str], ...]
    relations: tuple[RelationRow, ...]
    mentions: tuple[Reference, ...]
    anchors: tuple[AnchorRow, ...]
    citations: tuple[CitationRow, ...]
    entities: tuple[EntityRow, ...]
    sessions: tuple[str, ...]
    session_rows: tuple[Row, ...]
    history: tuple[EventRow, ...]
    content_hash: str
    hash_state: str  # the result of verifying the content hash
    totals: tuple[tuple[str, int], ...]  # the lengths of lists that are cut


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsPage(Page):
    """The other memory systems, and a link to the entities that their records name."""

    template: ClassVar[str] = "systems.html"

    systems: tuple[SystemRow, ...]
    entities: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPage(Page):
    """An entity that records name, and those records."""

    template: ClassVar[str] = "entity.html"

    id: str
    types: tuple[str, ...]
    sections: tuple[ListSection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitiesPage(Page):
    """All entities that records name, by type, with the number of records."""

    template: ClassVar[str] = "entities.html"

    groups: tuple[tuple[str, tuple[tuple[Reference, int], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GhostPage(Page):
    """A memo that is replied to and not in the archive: what its name says, and who replies."""

    template: ClassVar[str] = "ghost.html"

    id: str
    stem: str
    date: Stamp | None
    sender: Reference | None
    to: Reference | None
    replies: tuple[Row, ...]
    thread: Reference | None
    life: LifeLine | None = None  # its removal in git, if it was removed
    notice: Notice | None = None  # why it was erased, if it was


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadPage(Page):
    """A whole conversation: the tree, and every memo of it in reading order; on its first page what sums it up."""

    template: ClassVar[str] = "thread.html"

    id: str
    name: str
    tree: tuple[Row, ...]
    members: tuple[ThreadMember, ...]
    total: int
    whole: ThreadSummary | None = None
    lanes: Lanes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage(Page):
    """Sections of rows: a month, decisions, a system, part of a long list; `views` are other ways to group the same."""

    template: ClassVar[str] = "list.html"

    intro: str
    sections: tuple[ListSection, ...]
    views: tuple[Reference, ...] = ()
    previous: Reference | None = None
    next: Reference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelinePage(Page):
    """All months, by year, with the number of artifacts in each."""

    template: ClassVar[str] = "timeline.html"

    years: tuple[TimelineYear, ...]
    threads: Reference
    digests: Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestsPage(Page):
    """Closed days or weeks with the number of artifacts that arrived in each, newest first; days as a calendar."""

    template: ClassVar[str] = "digests.html"

    span: str
    digests: tuple[tuple[Reference, int], ...] = ()
    months: tuple[CalendarMonth, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedsPage(Page):
    """Every feed, and how to subscribe."""

    template: ClassVar[str] = "feeds.html"

    groups: tuple[FeedGroup, ...]
    threads: int
    subscribing: Subscribing


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage(Page):
    """The search box, for what `static/search-page.js` shows."""

    template: ClassVar[str] = "search.html"

    saved: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthPage(Page):
    """Findings by rule and source."""

    template: ClassVar[str] = "health.html"

    counts: tuple[tuple[Severity, int], ...]
    by_rule: tuple[tuple[Severity, str, str, int], ...]
    rows: tuple[FindingRow, ...]
    seal: Seal | None
    """On the first part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectPage(Page):
    """A page that moved, because its id had to change."""

    template: ClassVar[str] = "redirect.html"

    target: Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class GonePage(Page):
    """A page that was published and whose artifact is gone; `id` is "" if it must not be shown."""

    template: ClassVar[str] = "gone.html"

    id: str
    life: LifeLine | None = None  # its removal in git
    notice: Notice | None = None  # why it was erased, if it was


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesPage(Page):
    """The edits of a memo after its receipt; `left_out` is how many edits before those are not shown."""

    template: ClassVar[str] = "changes.html"

    artifact: Reference
    edits: tuple[EditRow, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFoundPage(Page):
    """What a server shows for an address that does not exist: the one page with absolute paths."""

    template: ClassVar[str] = "404.html"

    base_path: str
