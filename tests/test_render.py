"""Rendering: every page class made by hand, as a good page, with hostile content, and with faulty themes."""

import dataclasses
import hashlib
import types
from html.parser import HTMLParser
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import pytest
from lxml import html as lxml_html

from memosite import pages as page_models
from memosite.archive.cite import Citation
from memosite.archive.lines import Notice
from memosite.archive.model import SourceInfo
from memosite.facts.errors import ConfigError
from memosite.facts.findings import Finding, Location, Rule, Severity
from memosite.facts.parsed import Entity, LibraryItem, RecordCitation, RecordEvent
from memosite.facts.texts import Sentence
from memosite.facts.times import read_moment
from memosite.formats.turns import parse_conversation
from memosite.pages import (
    PAGE_CHARS,
    ArtifactPage,
    Bars,
    Body,
    Cell,
    CitedRow,
    CopyRow,
    FindingRow,
    Grid,
    ListPage,
    ListSection,
    MentionRow,
    Page,
    PagePart,
    Picture,
    PictureColumn,
    PictureRow,
    Reference,
    RelationshipRow,
    Row,
    Seal,
    Site,
    TurnRange,
    VariantRow,
)
from memosite.plan.actions import ActionListPage, ActionsPage
from memosite.plan.contract import ContractPage, ContractSection
from memosite.plan.decisions import DecisionsPage, DocumentPage, LibraryPage
from memosite.plan.feed_page import FeedGroup, FeedsPage, Subscribing
from memosite.plan.health import HealthPage
from memosite.plan.history import ChangesPage, EditRow
from memosite.plan.home import HomePage, SourceRow, Waiting
from memosite.plan.memos import GhostPage, MemoPage, RecipientRow
from memosite.plan.mentions import CitationsPage
from memosite.plan.months import CalendarDay, CalendarMonth, DigestsPage, TimelinePage, TimelineYear
from memosite.plan.organization import (
    Chart,
    ChartBox,
    ChartLine,
    Exchange,
    ExchangeCell,
    OrganizationPage,
    OrganizationSection,
    PositionsAtAGlance,
    SeatRow,
)
from memosite.plan.positions import EarlierMonth, Following, PositionPage, SeatFacts, Stream
from memosite.plan.records import AnchorRow, EntitiesPage, EntityPage, RecordPage, RelationRow, SystemRow, SystemsPage
from memosite.plan.removed import GonePage, NotFoundPage, RedirectPage, WithheldPage
from memosite.plan.search import SearchPage
from memosite.plan.threads import ThreadMember, ThreadPage, ThreadSlice, ThreadsPage
from memosite.plan.transcripts import CaptureSide, CapturesPage, ParticipantRow, SessionTimes, TranscriptPage
from memosite.render.difference import compare
from memosite.render.renderer import Renderer
from memosite.render.theme import Theme, load_theme
from tests.support.board_pages import (
    action_groups,
    action_list,
    actions_board,
    decisions_list,
    no_decisions,
    thread_list,
)

MEMO_TEXT = """\
# Two loads, the second one clean

We go. See [the plan](plan.md) and `2026-04-20-1655--catalogue--strategist--trial.openthing`.

| when | what |
|---|---|
| Fri 24, 19:00 | last loan on the old system |
| Sat 25, 09:00 | last export, checksums by telephone |

## What no-go means

The old system is switched on again on Monday and we lose a weekend, nothing more.

```sh
load --file export.mrc --dry-run
```

> Count before the load and not after it.
"""

TALK = """\
# A session

---

## 🧑 User <sub>4/14/2026, 9:22:47 AM</sub>

Please water the plants.

> **🔧 Bash** <sub>4/14/2026, 9:22:50 AM</sub>
> ```
> water --all
> ```

> **🔧 Glob** <sub>4/14/2026, 9:22:51 AM</sub>

<ide_selection>The ficus is selected.</ide_selection>

---

## 🤖 Assistant *(sonnet-9)* <sub>4/14/2026, 9:23:01 AM</sub>

## Done

The cactus was left out.

---

## 🧑 User <sub>4/14/2026, 9:24:00 AM</sub>

Good.
"""

TEXTS: dict[str, str] = {}

SITE = Site(title="Fernhill Library", language="en", base_url=None, generator="memosite 0.1.0", has_records=True)
STAMP = read_moment("2026-04-21T09:00:00-04:00")
TIMES = SessionTimes(began=STAMP, ended=STAMP, utc="11:30 – 12:30 UTC", day="2026-04-21")
UNDATED = SessionTimes(began=None, ended=None, utc="", day="")
CITATION = Citation(
    ref="memo/plan",
    url="https://archive.example.org/memos/plan/",
    title="Plan for [the] weekend",
    speaker="strategist (session-3)",
    time="2026-04-21T13:00:00Z",
    quote="Two *loads* […]",
    sha256="ab" * 32,
    note="raw",
)


def shelve(text: str) -> str:
    """Keep a text where the renderers of these tests read it, and give its digest."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    TEXTS[digest] = text
    return digest


def body(text: str, **changes: Any) -> Body:
    """A body of this text, Markdown unless said otherwise."""
    fields: dict[str, Any] = {"sha256": shelve(text), "form": "markdown", "chars": len(text)} | changes
    return Body(**fields)


def ref(label: str, href: str | None = "../x/index.html") -> Reference:
    """A reference with a tooltip."""
    return Reference(label=label, href=href, title=f"about {label}")


def row(subject: str = "Plan for the weekend", **changes: Any) -> Row:
    """A memo in a list."""
    fields: dict[str, Any] = {
        "kind": "memo",
        "href": "../../memos/plan/index.html",
        "subject": subject,
        "sender": ref("strategist"),
        "to": (ref("catalogue-engineer"), ref("director")),
        "date": STAMP,
        "mailbox": "inbox",
        "action": "open",
        "unread": "unread",
        "source": "governance",
    }
    return Row(**fields | changes)


def rows() -> tuple[Row, ...]:
    """Rows of every sort."""
    return (
        row(),
        row("Duplicates next", action="answered", unread="", mailbox="read"),
        row("Trial load", kind="note", to=(), action=None, mailbox=None, unread=""),
        row("The first count", kind="transcript", status="ongoing", action=None, mailbox=None, unread=""),
        row("0001 One record", kind="document", sender=None, to=(), date=None, mailbox=None, action=None),
        row("Lost memo", is_ghost=True, unread="", mailbox=None, action=None),
        row(
            "One card for each book",
            kind="record",
            type="memory-store decision",
            is_superseded=True,
            successor=ref("One record for each album"),
            sender=None,
            to=(),
            mailbox=None,
            action=None,
            unread="",
        ),
    )


def tree() -> tuple[Row, ...]:
    """A thread of some depth, with a ghost and ways to other threads."""
    return (
        row("Lost memo", is_ghost=True, action=None),
        row("Plan", depth=1, continued_from=ref("trial loads")),
        row("Re: plan", depth=2, is_current=True, action="discharged"),
        row("Re: re: plan", depth=40, date=None, continues=(ref("the next thread"), ref("another"))),
    )


def findings() -> tuple[FindingRow, ...]:
    """One finding of each severity."""
    return tuple(
        FindingRow(
            finding=Finding(
                rule=Rule(
                    id="copies-differ",
                    severity=severity,
                    meaning="Copies differ.",
                    clause="SPEC 3, copies",
                    remedy="Compare them on the page, and make them equal.",
                ),
                location=Location(source="governance", path="memos/read/a.openthing", line=3),
                message="The copies in governance and website differ.",
            ),
            clause=(ref("SPEC 3", "../spec/index.html#3"), Reference(label=", copies")),
            page=ref("Plan"),
        )
        for severity in Severity
    )


def page_fields(path: str = "memos/plan/index.html", **changes: Any) -> dict[str, Any]:
    """The fields that every page has."""
    return {
        "site": SITE,
        "path": path,
        "root": "../" * path.count("/"),
        "title": "Plan for the changeover weekend",
        "canonical": "https://archive.example.org/memos/plan/",
        "description": "Two loads, the second one clean.",
        "feeds": (Reference(label="Memos to strategist", href="feed.xml"),),
        "twins": (Reference(label="json", href="index.json"), Reference(label="md", href="index.md")),
        "parts": (
            PagePart(label="1", href="index.html", is_current=True),
            PagePart(label="2", href="2/index.html", is_current=False),
        ),
    } | changes


def mentions() -> tuple[MentionRow, ...]:
    """Rows with a sentence that has the mention marked, with one that has it not, and with none."""
    sentences = (Sentence(before="See ", marked="the plan", after=" of <May>."), Sentence(before="A table"), None)
    places = ((ref("turn 4", "index.html#t4"),), (), ())
    return tuple(
        MentionRow(row=row, sentence=sentence, places=place, more=len(place))
        for row, sentence, place in zip(rows(), sentences, places, strict=False)
    )


def artifact_fields(**changes: Any) -> dict[str, Any]:
    """The fields that the pages of all artifacts have."""
    return (
        page_fields()
        | {
            "kind": "memo",
            "id": "2026-04-21-0900--strategist--catalogue-engineer--plan",
            "subject": "Plan for the changeover weekend, in which we load twice and count before each load",
            "date": STAMP,
            "date_written": "2026-04-21T09:00:00-04:00",
            "body": body(MEMO_TEXT, links=(("plan.md", "../../documents/plan/index.html"),)),
            "copies": (
                CopyRow(
                    source="governance",
                    path="memos/read/2026-04-21-0900--plan.openthing",
                    mailbox="read",
                    variant=0,
                    original="copies/governance.openthing",
                    web="https://git.example.org/blob/HEAD/plan.openthing",
                    body="copies/governance.body.md",
                ),
                CopyRow(
                    source="website",
                    path="memos/a.openthing",
                    mailbox=None,
                    variant=1,
                    original=None,
                    web=None,
                    body=None,
                ),
            ),
            "originals": (ref("original.openthing", "original.openthing"), ref("original.body.md", "original.body.md")),
            "extra": '{"x.example": {"mood": "calm"}}',
            "tags": ("cutover", "weekend"),
            "findings": findings(),
            "citation": CITATION,
            "backlinks": mentions(),
            "backlinks_total": 7,
        }
        | changes
    )


def memo(**changes: Any) -> MemoPage:
    """A memo that has everything a memo can have."""
    fields = artifact_fields() | {
        "sender": ref("strategist"),
        "to": (ref("catalogue-engineer"), ref("web-engineer", None)),
        "role": ref("strategist"),
        "session": "session-7",
        "mailbox": "inbox",
        "unread": "unread by 1 of 2",
        "action": "open",
        "recipients": (
            RecipientRow(position=ref("catalogue-engineer"), action="open", unread="unread"),
            RecipientRow(position=ref("web-engineer"), action="answered", unread=""),
        ),
        "answers": 1,
        "waits_for": (ref("catalogue-engineer"),),
        "perhaps_answered_by": (ref("Lost reply"),),
        "relations": (("Also answers", (ref("Trial load one"), ref("Holds"))), ("Superseded by", (ref("Plan two"),))),
        "discharge": "on 2026-04-28 by director: done",
        "summary": body("Two loads, the second one **clean**. We go.", prefix="summary-"),
        "in_thread": ThreadSlice(
            thread=ref("Trial loads"), total=7, rows=tree(), previous=ref("Trial load two"), next=ref("Holds need ids")
        ),
        "variants": (
            VariantRow(
                label="website/memos/a.openthing",
                shown_envelope=shelve('{"subject": "Plan",\n"body": "One.\\nTwo.\\nThree."}'),
                other_envelope=shelve('{"subject": "Plan",\n"body": "One.\\n2.\\nThree."}'),
                shown_body=shelve(MEMO_TEXT),
                other_body="",
            ),
        ),
        "is_legacy": True,
        "is_broken": False,
    }
    return MemoPage(**fields | changes)


def transcript(**changes: Any) -> TranscriptPage:
    """A conversation of three turns."""
    fields = artifact_fields(
        kind="transcript",
        title="Albums",
        subject="Albums",
        body=body(
            TALK,
            form="transcript",
            started="2026-04-14T13:22:47Z",
            citation=CITATION,
            people=("director",),
            models=("local-history-archivist (session-3)",),
        ),
    ) | {
        "captures": rows()[3:4],
        "comparisons": (ref("Albums, again"),),
        "variants": (
            VariantRow(
                label="website/transcripts/a.openthing",
                shown_envelope=shelve("{}"),
                other_envelope=shelve('{"subject": "Albums"}'),
                shown_body=shelve(TALK),
                other_body=shelve(TALK.replace("cactus", "ficus")),
            ),
        ),
        "participants": (
            ParticipantRow(position=ref("local-history-archivist"), who="session-3"),
            ParticipantRow(position=ref("director"), who=""),
        ),
        "times": TIMES,
        "transport": "terminal",
        "capture_tool": "example-capture 1.0",
        "redaction_status": "redacted",
        "related": mentions(),
        "unresolved": ("2026-04-01--lost.openthing",),
        "written_during": rows(),
        "is_broken": False,
    }
    return TranscriptPage(**fields | changes)


def thread(**changes: Any) -> ThreadPage:
    """A thread of which one memo is not in the archive."""
    ghost, first, second, third = tree()
    fields = page_fields("threads/cutover/index.html") | {
        "id": "cutover",
        "name": "cutover-2026-04",
        "tree": tree(),
        "members": (
            ThreadMember(row=ghost, anchor="memo-lost", summary=None, body=None),
            ThreadMember(row=first, anchor="memo-plan", summary=None, body=body(MEMO_TEXT, prefix="m1-")),
            ThreadMember(
                row=second,
                anchor="memo-re",
                summary=body("In short: yes.", prefix="m2-summary-"),
                body=body(MEMO_TEXT, prefix="m2-"),
            ),
            ThreadMember(row=third, anchor="memo-re-re", summary=None, body=None),
        ),
        "total": 3,
    }
    return ThreadPage(**fields | changes)


def seat() -> SeatRow:
    """A seat that has something to do."""
    return SeatRow(
        position=ref("strategist"),
        status="staffed",
        incumbent="session-7",
        last_sent=STAMP,
        unread=3,
        is_unread_known=True,
        oldest_unread=STAMP,
        open_to=2,
        open_from=1,
    )


def edge() -> RelationshipRow:
    """A relationship with a word on it."""
    return RelationshipRow(type="reports to", sender=ref("strategist"), to=ref("director"), description="weekly")


def sections() -> tuple[ListSection, ...]:
    """A section of a day, one that is cut, and an empty one."""
    return (
        ListSection(heading="2026-04-21", anchor="2026-04-21", rows=rows(), total=6),
        ListSection(heading="Sent", anchor="sent", rows=rows(), total=240),
        ListSection(heading="Notes", anchor="notes", rows=(), total=0, empty="Nothing yet."),
    )


P = TypeVar("P", bound=Picture)


def picture(form: type[P]) -> P:
    """A picture of two rows."""
    return form(
        anchor=form.__name__.lower(),
        caption="What is shown.",
        corner="Position",
        columns=(PictureColumn(label="2026-04-20", mark="Apr"), PictureColumn(label="2026-04-27")),
        rows=(
            PictureRow(
                label=ref("strategist"),
                cells=(Cell(number=3, href="timeline/index.html", words="three: 3"), Cell(number=1)),
                note="4 in all",
            ),
            PictureRow(label=Reference(label="Nobody"), cells=(Cell(number=0), None)),
        ),
    )


def home(**changes: Any) -> HomePage:
    """A home page with something of everything."""
    fields = page_fields("index.html", title=SITE.title, section="home") | {
        "open_actions": 3,
        "waiting": Waiting(people=(ref("director"),), bars=picture(Bars), oldest=rows()[:1], total=4),
        "activity": picture(Grid),
        "positions": PositionsAtAGlance(
            active=(
                seat(),
                dataclasses.replace(
                    seat(), position=ref("director"), unread=0, is_unread_known=False, oldest_unread=None
                ),
            ),
            quiet=(ref("keeper"),),
            total=4,
            since="2026-02-02",
        ),
        "digests": ref("digests/"),
        "newest": rows(),
        "dated": 1210,
        "months": (ref("April 2026", "timeline/2026/04/index.html"),),
        "sources": (
            SourceRow(source=SourceInfo(name="governance"), artifacts=1200),
            SourceRow(
                source=SourceInfo(name="spec", committed=STAMP, ref="main", last_fetched=STAMP),
                artifacts=3,
                commit=Reference(label="1a2b3c4d5e6f", href="https://git.example.org/spec/commit/1a2b3c4d5e6f"),
            ),
        ),
        "counts": (("memo", 1200), ("library", 2)),
        "findings": ((Severity.ERROR, 1), (Severity.NOTE, 2)),
    }
    return HomePage(**fields | changes)


def position() -> PositionPage:
    """A seat's page."""
    fields = page_fields("positions/strategist/index.html", title="strategist", section="org") | {
        "id": "fernhill~strategist",
        "names": ("planner",),
        "seats": (
            SeatFacts(
                organization="Fernhill Library",
                name="Strategist",
                status="staffed",
                incumbent="session-7",
                description="Plans and hands out work.",
                role="planner",
                relationships=(edge(),),
            ),
        ),
        "repo": "governance",
        "union_of": (ref("fernhill~strategist"),),
        "inbox": sections()[2],
        "actions": action_groups(),
        "missing": sections()[:1],
        "stream": Stream(
            heading=ListSection(
                heading="Sent, received and filed", anchor="stream", rows=(), total=240, targets=("received",)
            ),
            months=(ListSection(heading="May 2026", anchor="2026-05", rows=rows(), total=240),),
            shown=200,
            earlier=(EarlierMonth(month=ref("April 2026"), total=40, also=(ref("page 1"),), targets=("2026-04",)),),
            drawn=None,
        ),
        "arcs": (),
        "digests": ref("Digests"),
        "following": Following(
            watch_once="memosite watch --once feed.xml",
            watch="memosite watch feed.xml",
            run="memosite watch --exec ./on-memo feed.xml",
            mail="r2e add strategist feed.xml",
            opml="<opml/>",
            is_local=True,
        ),
    }
    return PositionPage(**fields)


def chart_box(y: int, label: str, **changes: Any) -> ChartBox:
    """A box of a chart."""
    fields: dict[str, Any] = {"x": 8, "y": y, "link": ref(label), "label": label, "note": "", "words": label} | changes
    return ChartBox(**fields)


def day_of_digest() -> CalendarDay:
    """A day of a calendar."""
    return CalendarDay(day=21, number=1200, shade=4, href="2026-04-21/index.html")


def exchange() -> Exchange:
    """Two positions, one of which writes to the other."""
    cell = ExchangeCell(number=1200, shade=4, answered=7, median="3 days")
    return Exchange(
        positions=(ref("strategist"), ref("director")),
        rows=((None, cell), (None, None)),
        shown=12,
        total=20,
        left_out=3,
    )


def organization() -> OrganizationPage:
    """An organization with a charter."""
    fields = page_fields("org/index.html", title="Organization", section="org") | {
        "exchange": exchange(),
        "organizations": (
            OrganizationSection(
                id="fernhill",
                anchor="org-fernhill",
                name="Fernhill Library",
                version="1.2.0",
                mission="Lend what the town needs to read.",
                relationships=(edge(),),
                charter=(("Values", "- **plain words**: what the desk says"), ("Scope", "# All\n\nThe catalogue.")),
                chart=Chart(
                    width=300,
                    height=150,
                    boxes=(
                        chart_box(8, "Director", status="staffed"),
                        chart_box(80, "Desk", link=ref("Desk", None), status="vacant", words="Desk, vacant"),
                    ),
                    lines=(
                        ChartLine(path="M8 8V80", kind="rank"),
                        ChartLine(path="M8 8Q9 9 8 80", kind="other", words="Desk helps Director"),
                    ),
                ),
                place="governance/org/fernhill.opencatalog",
            ),
        ),
        "seats": (seat(),),
    }
    return OrganizationPage(**fields)


def document() -> DocumentPage:
    """A decision with front matter."""
    text = "---\ntitle: One record\nstatus: accepted\n---\n\n# One record\n\nWe keep one record per album.\n"
    fields = artifact_fields(kind="document", title="One record", subject="One record", body=body(text))
    return DocumentPage(**fields, status="accepted", decided_by="director", source="catalogue", file="docs/adr/0001.md")


def library() -> LibraryPage:
    """A catalog with two entries."""
    entry = LibraryItem(id="report", name="Report", version="1", description="A weekly report.", file="")
    fields = artifact_fields(kind="library", body=None) | {
        "version": "2",
        "summary": "Templates of this library.",
        "items": ((entry, ref("templates/report.md")), (entry, ref("templates/lost.md", None))),
    }
    return LibraryPage(**fields)


def withheld() -> WithheldPage:
    """A memo that was erased."""
    notice = Notice(title="The content of this memo was erased.", facts=(("Why", "On request"),), advice="Ask us.")
    fields = artifact_fields(body=None, originals=(), extra="")
    beside = ThreadSlice(thread=ref("Plan"), total=0, rows=rows(), previous=None, next=None)
    return WithheldPage(**fields, row=rows()[0], sha256="", notice=notice, in_thread=beside)


def record(**changes: Any) -> RecordPage:
    """A record that has everything a record can have."""
    fields = artifact_fields(kind="record", id="catalogue.decision.cards", body=body(MEMO_TEXT), section="systems") | {
        "system": ref("memory-store"),
        "type": "decision",
        "status": "superseded",
        "stage": "shipped",
        "namespace": "decisions/cards",
        "record_section": "Decisions",
        "source": "catalogue",
        "place": ".memory/memory/decisions/cards.json:3",
        "modified": STAMP,
        "is_superseded": True,
        "successor": ref("One record for each album"),
        "fields": (("Evidence", "file: loads/counts.csv"), ("Scope", "project")),
        "relations": (
            RelationRow(
                predicate="affects",
                target=ref("The catalogue"),
                status="active",
                confidence="0.9",
                label="rel.a; evidence task: H-1",
                is_inverse=False,
            ),
            RelationRow(
                predicate="depends on",
                target=ref("feature.lost", None),
                status="",
                confidence="",
                label="",
                is_inverse=True,
            ),
        ),
        "mentions": (ref("context.albums"), ref("nowhere", None)),
        "anchors": (
            AnchorRow(anchor=ref("tools/*.py", None), files=(ref("One"), ref("Two")), is_cut=True),
            AnchorRow(anchor=ref("tools/a.py")),
        ),
        "citations": (
            (
                ref("A manual", "https://manual.example.org/x"),
                RecordCitation(
                    title="", url="", type="website", author="A. Smith", date="2026-01-01", note="Chapter 3."
                ),
            ),
        ),
        "entities": ((ref("Koha"), Entity(name="Koha", type="technology")),),
        "sessions": ("7a2e",),
        "session_rows": rows()[3:4],
        "history": (
            RecordEvent(record="cards", event="created", at=STAMP, actor="engineer", detail="by hand"),
            RecordEvent(record="cards", event="updated", at=None),
        ),
        "content_hash": "sha256:00ff",
        "hash_state": "verified",
        "totals": (("relations", 400), ("history", 700)),
    }
    return RecordPage(**fields | changes)


def systems() -> SystemsPage:
    """Two systems, of which one has nothing any more."""
    fields = page_fields("systems/index.html", title="Records", section="systems")
    rows = (
        SystemRow(
            system=ref("memory-store"), total=1200, types=(("decision", 2), ("", 1)), sources=("catalogue", "website")
        ),
        SystemRow(system=ref("wyren"), total=0, types=(), sources=()),
    )
    return SystemsPage(**fields, systems=rows, entities=2)


def health() -> HealthPage:
    """Findings of each severity."""
    fields = page_fields("health/index.html", title="Health", section="health") | {
        "counts": tuple((severity, 1) for severity in Severity),
        "by_rule": ((Severity.ERROR, "json-invalid", "The file is not JSON.", 1),),
        "rows": findings(),
        "seal": Seal(log=ref("seals.jsonl"), root="0f" * 32, month="2026-04", sealed=1200, waiting=3),
    }
    return HealthPage(**fields)


def pages() -> tuple[Page, ...]:
    """One page of each class."""
    return (
        home(),
        organization(),
        position(),
        memo(),
        transcript(),
        document(),
        library(),
        GhostPage(
            **page_fields("memos/lost/index.html"),
            id="lost",
            stem="2026-04-01-1015--a--b--lost",
            date=STAMP,
            sender=ref("strategist"),
            to=ref("director"),
            replies=rows(),
            thread=ref("Plan"),
        ),
        thread(),
        ListPage(
            **page_fields("timeline/2026/04/index.html", title="April 2026", section="timeline"),
            intro="What was written in April.",
            sections=sections(),
            previous=ref("March 2026"),
            next=ref("May 2026"),
            views=(ref("Overview", None), ref("By status")),
        ),
        TimelinePage(
            **page_fields("timeline/index.html", title="Timeline", section="timeline"),
            years=(TimelineYear(year="2026", months=((ref("April"), 1200), (ref("March"), 3))),),
            threads=ref("Threads"),
            digests=ref("Digests"),
        ),
        health(),
        RedirectPage(**page_fields("threads/old/index.html", title="Moved"), target=ref("threads/new/")),
        GonePage(**page_fields("memos/gone/index.html", title="Removed"), id="2026-04-01--gone"),
        ChangesPage(
            **page_fields("memos/gate/changes/index.html", title="The gate"),
            artifact=Reference(label="The gate", href="../index.html"),
            edits=(
                EditRow(
                    anchor="e1",
                    date=None,
                    who="A <b>",
                    source="engine",
                    file="memos/inbox/gate.openthing",
                    commit=Reference(label="0123abcd"),
                    before="",
                    after="",
                ),
            ),
        ),
        NotFoundPage(**page_fields("404.html", root="/prefix/", title="Not found"), base_path="/prefix/"),
        record(),
        systems(),
        EntityPage(
            **page_fields("entities/koha/index.html", title="Koha", section="systems"),
            id="koha",
            types=("technology", "product"),
            sections=sections(),
        ),
        DigestsPage(
            **page_fields("digests/index.html", title="Digests", section="timeline"),
            span="day",
            months=(CalendarMonth(label="April 2026", weeks=((None, CalendarDay(day=1)), (day_of_digest(), None))),),
        ),
        DigestsPage(
            **page_fields("digests/1/index.html", title="Digests", section="timeline"),
            span="week",
            digests=((ref("2026-04-21"), 12), (ref("2026-04-20"), 1)),
        ),
        FeedsPage(
            **page_fields("feeds/index.html", title="Feeds"),
            groups=(FeedGroup(heading="Positions", rows=((ref("strategist"), (ref("memos"), ref("JSON"))),), total=2),),
            threads=1200,
            subscribing=Subscribing(
                outline=ref("feeds.opml"),
                thread_outline=ref("threads.opml"),
                example="https://archive.example.org/positions/strategist/feed.xml",
                example_full="https://archive.example.org/positions/strategist/feed-full.xml",
                name="strategist",
                subject="strategist",
                choices=((ref("strategist"), "memosite watch feed.xml", "strategist"),),
                is_local=True,
            ),
        ),
        EntitiesPage(
            **page_fields("entities/index.html", title="Entities", section="systems"),
            groups=(("Technology", ((ref("Koha"), 3),)), ("No type", ((ref("The Gazette"), 1),))),
        ),
        SearchPage(
            **page_fields("search/index.html", title="Search", section="search"),
            saved=(Reference(label="tides", href="../saved/tides/index.html", title="tide*"),),
        ),
        actions_board(page_fields("actions/index.html", title="Actions", section="actions")),
        action_list(page_fields("actions/open/index.html", title="Open actions", section="actions")),
        decisions_list(page_fields("decisions/index.html", title="Decisions", section="decisions")),
        no_decisions(page_fields("decisions/index.html", title="Decisions", section="decisions")),
        thread_list(page_fields("timeline/threads/index.html", title="Threads", section="timeline")),
        contract(),
        captures(),
        withheld(),
        CitationsPage(
            **page_fields("citations/index.html"),
            counts=(("broken", 1), ("holds", 2)),
            rows=(
                CitedRow(by=ref("book/one.md:4", None), to=ref("A plan"), quote="We <wait>.", state="broken", said="x"),
                CitedRow(by=ref("A memo"), to=ref("A plan"), quote="", state="holds", said="exact"),
            ),
        ),
    )


def captures() -> CapturesPage:
    """A capture beside two earlier ones, of which one has no text."""
    side = CaptureSide(
        transcript=ref("Albums"), times=TIMES, tool="example-capture 1.0", source="website", turns=3, body=shelve(TALK)
    )
    other = dataclasses.replace(side, body=shelve(f"Before.\n\n{TALK.replace('cactus', 'ficus')}"))
    return CapturesPage(
        **page_fields("transcripts/albums/captures/index.html", title="Albums"),
        capture=side,
        pairs=(("with-albums-1", other), ("with-albums-0", dataclasses.replace(side, body="", times=UNDATED))),
    )


def contract() -> ContractPage:
    """A beginning, a section, and one below it."""
    fields = page_fields("spec/index.html", title="What it does")
    links = (("feeds.md", "feeds/index.html"),)
    return ContractPage(
        **fields,
        sections=(
            ContractSection(heading="", anchor="", text="It builds. See [feeds](feeds.md)."),
            ContractSection(heading="2 Inputs", anchor="2", text="### Of a kind\n\nFiles.", links=links),
            ContractSection(
                heading="2.1 The site", anchor="2-1", text="See [feeds](feeds.md).", links=links, is_below=True
            ),
        ),
        others=(ref("Feeds", "feeds/index.html"),),
    )


THEME = load_theme(None)
RENDERER = Renderer(THEME, TEXTS.__getitem__)
HOSTILE = "\"'><script>alert(1)</script><b onclick=alert(2)>&amp; javascript:alert(3)"
NEEDED = {"href", "root", "base_path", "path", "anchor", "links", "title", "language", "sha256"}
VOID = {"br", "hr", "img", "input", "link", "meta"}
NOT_IN_A_PARAGRAPH = {"p", "div", "ul", "ol", "dl", "pre", "table", "section", "h1", "h2", "h3", "h4", "details", "nav"}


class Structure(HTMLParser):
    """Holds a page to what browsers need not mend: each tag closed in order, no block within a paragraph."""

    def __init__(self) -> None:
        """Start outside of every element."""
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a block within a paragraph, and an attribute given twice."""
        if "p" in self.open and tag in NOT_IN_A_PARAGRAPH:
            self.faults.append(f"<{tag}> within <p> at {self.getpos()}")
        if len({name for name, _ in attrs}) < len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice at {self.getpos()}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note an end tag that closes something else."""
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")


def rendered(page: Page, renderer: Renderer = RENDERER) -> lxml_html.HtmlElement:
    """A page's HTML, held to what every page must be, as a tree."""
    data = renderer.render(page)
    text = data.decode()
    assert text.startswith("<!doctype html>\n")
    assert text.endswith("</html>\n")
    structure = Structure()
    structure.feed(text)
    assert (structure.faults, structure.open) == ([], [])
    tree = lxml_html.document_fromstring(text)
    top = page.base_path if isinstance(page, NotFoundPage) else page.root
    assert tree.xpath("//style | //iframe | //img | //base | //form[not(@role='search')]") == []
    actions = [action for form in tree.iter("form") if (action := form.get("action")) is not None]
    assert all(action.endswith("search/index.html") and "//" not in action for action in actions)
    first, *others = [(dict(script.attrib), script.text) for script in tree.iter("script")]
    assert first == ({"async": "", "fetchpriority": "high", "src": f"{top}static/memosite.js"}, None)
    assert all("defer" in attributes and not text for attributes, text in others)
    scripted = (
        SearchPage,
        ArtifactPage,
        ActionsPage,
        ActionListPage,
        PositionPage,
        DecisionsPage,
        ThreadsPage,
        ListPage,
        NotFoundPage,
    )
    assert not others or isinstance(page, scripted)
    assert tree.xpath("//*[@style or @*[starts-with(name(), 'on')]]") == []
    assert tree.xpath("count(//h1)") == 1
    return tree


def texts(tree: lxml_html.HtmlElement, path: str) -> list[str]:
    """The words of the elements at a path, each on one line."""
    return [" ".join(element.text_content().split()) for element in tree.xpath(path)]


def changed(value: Any, hint: Any, name: str, change: Any) -> Any:
    """A model with `change(name, hint, value)` applied to everything in it that is not a model or a tuple."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value))
        return dataclasses.replace(
            value,
            **{
                field.name: changed(getattr(value, field.name), hints[field.name], field.name, change)
                for field in dataclasses.fields(value)
            },
        )
    if isinstance(value, tuple):
        return tuple(changed(item, None, name, change) for item in value)
    return change(name, hint, value)


def is_a_word(hint: Any) -> bool:
    """Whether a field holds one of a few words, such as a mailbox."""
    kinds = get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)
    return any(get_origin(kind) is Literal for kind in kinds)


def made_hostile(name: str, hint: Any, value: Any) -> Any:
    """Hostile text in place of every text that is not one of a few words."""
    if isinstance(value, Severity) or not isinstance(value, str) or not value or is_a_word(hint) or name == "started":
        return value
    if value in TEXTS:
        return shelve(f"{TEXTS[value]}\n\n{HOSTILE}\n\n[x](javascript:alert(4))\n\n![x](https://evil.example/x.png)")
    return HOSTILE


def made_bare(name: str, hint: Any, value: Any) -> Any:
    """Nothing in place of everything that may be absent."""
    if isinstance(value, str) and not is_a_word(hint) and name not in NEEDED:
        return "" if value not in TEXTS else value
    if type(None) in get_args(hint):
        return None
    return {bool: False, int: 0}.get(type(value), value)


def without_lists(page: Page) -> Page:
    """A page all of whose tuples are empty and whose optional parts are absent."""
    hints = get_type_hints(type(page))
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(page):
        if type(None) in get_args(hints[field.name]):
            changes[field.name] = None
        elif isinstance(getattr(page, field.name), tuple):
            changes[field.name] = ()
    return dataclasses.replace(page, **changes)


def named(page: Page) -> str:
    """The name of a page's class, for the names of tests."""
    return type(page).__name__


every_page = pytest.mark.parametrize("page", pages(), ids=named)


def test_one_page_of_each_class_is_tested() -> None:
    """A page class that is added without a sample here is noticed."""
    modules = [import_module(f"{page_models.__name__}.{one.name}") for one in iter_modules(page_models.__path__)]
    concrete = {
        model for module in modules for model in vars(module).values()
        if isinstance(model, type) and issubclass(model, Page) and "template" in vars(model)
    }  # fmt: skip
    assert {type(page) for page in pages()} == concrete


@every_page
def test_a_page_is_complete_and_within_its_policy(page: Page) -> None:
    """Landmarks, title, language, policy and style sheet stand on every page, and nothing is inline."""
    tree = rendered(page)
    assert tree.get("lang") == "en"
    assert texts(tree, "//h1") == [page.title]
    assert (
        len(tree.xpath("//body/header//nav")) == len(tree.xpath("//body/main")) == len(tree.xpath("//body/footer")) == 1
    )
    assert tree.xpath("//body/a[1]/@href") == ["#_main"]
    assert "default-src 'none'" in tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert tree.xpath("//meta[@name='viewport' or @name='color-scheme']/@name") == ["viewport", "color-scheme"]
    assert tree.xpath("//link[@rel='stylesheet']/@href")[0] == f"{page.root}static/memosite.css"
    assert tree.xpath("//link[@rel='canonical']/@href") == [page.canonical]
    alternates = {link.get("href"): link.get("type") for link in tree.xpath("//link[@rel='alternate']")}
    assert alternates == {
        "feed.xml": "application/rss+xml", "index.json": "application/json", "index.md": "text/markdown"
    }  # fmt: skip


@every_page
def test_headings_descend_one_level_at_a_time(page: Page) -> None:
    """No heading stands more than one level below the one before it."""
    levels = [int(str(heading.tag)[1]) for heading in rendered(page).xpath("//h1|//h2|//h3|//h4|//h5|//h6")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@every_page
def test_links_lead_to_files_or_to_anchors_that_are_there(page: Page) -> None:
    """Every href ends in a file name, every fragment of the page itself exists, every id exists once."""
    tree = rendered(page)
    ids = [str(id_) for id_ in tree.xpath("//@id")]
    assert len(ids) == len(set(ids))
    for href in map(str, tree.xpath("//a/@href")):
        if href.startswith("#"):
            assert href[1:] in ids
        else:
            assert href.rpartition("/")[2], href


@every_page
def test_the_section_of_a_page_is_marked_in_the_navigation(page: Page) -> None:
    """The entry of the page's section, and no other, says so to screen readers."""
    marked = rendered(page).xpath("//body/header//a[@aria-current='page']/@href")
    places = {"home": "", "org": "org/", "actions": "actions/", "timeline": "timeline/", "health": "health/"}
    places |= {"systems": "systems/", "search": "search/", "decisions": "decisions/"}
    assert marked == ([f"{page.root}{places[page.section]}index.html"] if page.section else [])


@every_page
def test_hostile_text_in_any_field_stays_text(page: Page) -> None:
    """Whatever stands in a model's fields and in the texts they name comes out escaped."""
    tree = rendered(changed(page, None, "", made_hostile))
    assert tree.xpath("//b[@onclick]") == []
    assert "<script>alert(1)</script>" in tree.text_content()
    for href in map(str, tree.xpath("//a/@href | //link[@rel!='icon']/@href")):
        assert not href.strip().lower().startswith(("javascript:", "data:", "vbscript:")), href


@every_page
def test_a_page_is_made_of_what_little_is_known(page: Page) -> None:
    """Empty fields, and models in which everything optional is absent, give a page all the same."""
    for poor in (changed(page, None, "", made_bare), without_lists(page)):
        tree = rendered(poor)
        assert "None" not in tree.text_content()
        assert tree.xpath("//a[@href='' or @href='#' or @href='None'] | //time[@datetime='None']") == []


@every_page
def test_equal_models_give_equal_bytes(page: Page) -> None:
    """Another renderer, without anything in its cache, writes the same bytes."""
    assert Renderer(load_theme(None), TEXTS.__getitem__, cache_bytes=0).render(page) == RENDERER.render(page)


def test_what_is_no_character_does_not_reach_the_page() -> None:
    """Control characters and lone surrogates in a field neither stop the build nor stand in the file."""
    data = RENDERER.render(dataclasses.replace(memo(), title="a\x00b\x1bc\ud800d"))
    assert b'<h1 dir="auto">a?b?c?d</h1>' in data


def test_a_subject_longer_than_the_title_stands_whole_below_it() -> None:
    """The title is short; the whole subject follows only where it says more."""
    assert len(rendered(memo()).xpath("//header/p[@class='subject']")) == 1
    assert rendered(memo(subject=memo().title)).xpath("//header/p[@class='subject']") == []


def test_the_envelope_of_a_memo_says_who_when_and_how_far() -> None:
    """From, to, the date for people and for machines, the mailbox, and the state of each recipient."""
    tree = rendered(memo())
    expected = "From strategist to catalogue-engineer, web-engineer · inbox · unread by 1 of 2 · open"
    assert texts(tree, "//header/p[@class='envelope']") == [f"{expected} · 1 reply 2026-04-21 09:00 −04:00"]
    assert tree.xpath("//p[@class='envelope']/time/@datetime") == ["2026-04-21T13:00:00Z"]
    assert texts(tree, "//ul[@class='recipients']/li") == ["catalogue-engineer open unread", "web-engineer answered"]


def test_a_note_names_its_writer_and_the_seat_it_is_filed_for() -> None:
    """A note has no recipient."""
    note = memo(kind="note", mailbox=None, unread="", action=None, answers=0)
    envelope = texts(rendered(note), "//p[@class='envelope']")
    assert envelope == ["By strategist, filed for strategist 2026-04-21 09:00 −04:00"]


def test_the_summary_of_a_memo_is_set_apart_from_its_text() -> None:
    """Beside a body file, the inline body is the summary; alone, it is the text."""
    both = rendered(memo())
    assert texts(both, "//section[@class='summary']//strong") == ["clean"]
    assert texts(both, "//h2[@class='label']")[:2] == ["Summary", "Full text"]
    alone = rendered(memo(summary=None, variants=()))
    assert alone.xpath("//section[@class='summary'] | //h2[@class='label']") == []


def test_links_of_a_body_lead_from_the_page() -> None:
    """What a text mentions leads where the model says."""
    assert "../../documents/plan/index.html" in rendered(memo()).xpath("//div[@class='prose']//a/@href")


def test_other_wordings_are_compared_line_by_line() -> None:
    """Texts and envelopes are compared with what is shown; an escaped line end in JSON ends a line."""
    tree = rendered(memo())
    text, envelope = tree.xpath("//pre[@class='diff']")
    assert [line.text_content() for line in envelope if line.get("class") in {"ins", "del"}] == ["-Two.\\n", "+2.\\n"]
    assert {line.get("class") for line in text} == {"place", "same", "del"}


def test_words_that_changed_within_a_line_are_marked() -> None:
    """Of two lines in the same place, what they share is not marked; lines that share nothing are left alone."""
    found = compare("Two loads, on Friday.\nSame.\nGone", "Two trial loads, on Friday.\nSame.\nNew words")
    assert found.lines[1:] == (
        ("del", (("-Two ", False), ("loads, on Friday.", False))),
        ("ins", (("+Two ", False), ("trial ", True), ("loads, on Friday.", False))),
        ("same", ((" Same.", False),)),
        ("del", (("-Gone", False),)),
        ("ins", (("+New words", False),)),
    )


def test_wordings_that_are_too_long_are_compared_at_their_beginning() -> None:
    """A diff of huge texts is bounded, and says so."""
    variant = dataclasses.replace(
        memo().variants[0],
        shown_body=shelve("".join(f"{number}\n" for number in range(9_000))),
        other_body=shelve("".join(f"{number % 7}\n" for number in range(9_000))),
        other_envelope=memo().variants[0].shown_envelope,
    )
    tree = rendered(memo(variants=(variant,)))
    assert len(tree.xpath("//pre[@class='diff']/span")) < 4_100
    assert "Only the beginning of the two texts is compared." in tree.text_content()


def test_a_text_longer_than_a_page_is_cut_and_its_original_named() -> None:
    """The page says that only the beginning is shown, and where the whole is."""
    long = "&" * (PAGE_CHARS + 1)
    page = memo(body=body(long, form="verbatim"), is_cut=True, variants=())
    tree = rendered(page)
    assert texts(tree, "//p[@class='notice']")[0].endswith("Original file: original.openthing, original.body.md.")
    assert "Only the beginning of this text is shown." in tree.text_content()
    assert len(RENDERER.render(page)) < 1_000_000


def test_markdown_whose_html_would_not_fit_a_page_is_cut() -> None:
    """HTML may be many times as long as its source."""
    page = memo(body=body("&" * 590_000), variants=())
    assert len(RENDERER.render(page)) < 1_000_000
    assert "Only the beginning of this text is shown." in rendered(page).text_content()


def test_front_matter_is_folded_and_not_taken_for_a_heading() -> None:
    """YAML at the head of a document would otherwise be an underlined heading."""
    tree = rendered(page_of(DocumentPage))
    folded = tree.xpath("//details[@class='front-matter']/pre")[0].text_content()
    assert folded == "\ntitle: One record\nstatus: accepted\n"
    assert "status: accepted" not in " ".join(texts(tree, "//h2 | //h3"))


def test_front_matter_that_would_not_fit_a_page_is_cut() -> None:
    """However long it is as HTML, the page ends, and what follows it is shown."""
    text = f"---\nkey: {'&' * 200_000}\n---\nThe text itself."
    page = rendered(memo(body=body(text), summary=None, variants=()))
    assert texts(page, "//details[@class='front-matter']/pre")[0].endswith("&…")
    assert "The text itself." in texts(page, "//p")


def test_turns_have_speaker_time_and_two_anchors() -> None:
    """One section a turn, with the time as written and in UTC, and the anchors of SPEC 7."""
    tree = rendered(transcript())
    turns = tree.xpath("//section[contains(@class, 'turn')]")
    assert [turn.get("id") for turn in turns] == ["t1", "t2", "t3"]
    assert [turn.get("class") for turn in turns] == ["turn person", "turn", "turn person"]
    assert all(turn.xpath(".//span[starts-with(@id, 't-') and string-length(@id) = 10]") for turn in turns)
    assert turns[1].xpath(".//time/@datetime") == ["2026-04-14T13:23:01Z"]
    assert texts(turns[1], "./header") == ["Assistant sonnet-9 2026-04-14 09:23:01 (13:23:01 UTC) t2"]
    assert turns[1].xpath(".//h3/@id") == ["t2-done"]


def test_tool_calls_are_folded_and_asides_are_quiet() -> None:
    """A tool call shows its name and first line; what has no output needs no folding."""
    tree = rendered(transcript())
    assert texts(tree, "//details[@class='tool']/summary") == ["Bash water --all 09:22:50"]
    assert texts(tree, "//p[@class='tool']") == ["Glob 09:22:51"]
    aside = "<ide_selection>The ficus is selected.</ide_selection>"
    tree = rendered(transcript(body=body(f"## User\n\nA?\n\n## Assistant\n\n{aside}\n", form="transcript")))
    assert texts(tree, "//aside") == ["ide_selection The ficus is selected."]


def test_what_a_person_typed_is_shown_as_typed() -> None:
    """An aside, too; only the calls of tools, which the capture put there, are not part of it."""
    tree = rendered(transcript())
    typed = tree.xpath("//section[@id='t1']/div/pre[@class='typed']")
    assert "<ide_selection>The ficus is selected.</ide_selection>" in "".join(pre.text_content() for pre in typed)
    assert tree.xpath("//section[@id='t2']//pre[@class='typed']") == []


def test_a_turn_is_cited_in_plain_text() -> None:
    """Who said it, when, the words, the address and the hash of the turn's own source; readable without a script."""
    tree = rendered(transcript())
    [text] = texts(tree, "//section[@id='t2']/details[@class='cite']/p")
    assert tree.xpath("//section[@id='t2']/details[@class='cite']//a/@href") == ["#t2"]
    digest = parse_conversation(TALK, started=None).turns[1].digest
    assert text.startswith("local-history-archivist (session-3): “")
    assert text.endswith(
        "”. Plan for [the] weekend (memo/plan#t2). 2026-04-14T13:23:01Z. "
        f"https://archive.example.org/memos/plan/#t2. sha256:{digest} (raw)"
    )
    assert texts(tree, "//section[@id='t3']/details[@class='cite']/p")[0].startswith("director: “")


def test_the_outline_has_the_turns_of_people() -> None:
    """It leads to what was asked; a short talk needs none."""
    talk = "".join(f"## User\n\nQuestion **{n}**?\n\n## Assistant\n\nYes.\n\n" for n in range(3))
    tree = rendered(transcript(body=body(talk, form="transcript", prefix="x-")))
    assert texts(tree, "//nav[@class='outline']//summary") == ["Outline 6 turns"]
    assert texts(tree, "//nav[@class='outline']//li/a/span[2]") == [f"Question {n}?" for n in range(3)]
    assert tree.xpath("//nav[@class='outline']//li/@value") == ["1", "3", "5"]
    assert tree.xpath("//nav[@class='outline']//a/@href") == ["#x-t1", "#x-t3", "#x-t5"]
    short = rendered(transcript(body=body("## User\n\nA?\n\n## Assistant\n\nB.\n", form="transcript")))
    assert short.xpath("//nav[@class='outline']") == []


def test_turns_of_other_parts_are_found_from_the_first() -> None:
    """Each of their anchors stands in the outline, on the row that leads to its part."""
    talk = "".join(f"## User\n\nQuestion {n}?\n\n## Assistant\n\nYes.\n\n" for n in range(3))
    first = body(
        talk, form="transcript", turns=TurnRange(first=0, end=2), parts=((2, "2/index.html"), (4, "3/index.html"))
    )
    tree = rendered(transcript(body=first))
    rows_ = tree.xpath("//nav[@class='outline']//li")
    assert [row.xpath("./a/@href")[0] for row in rows_] == ["#t1", "2/index.html#t3", "3/index.html#t5"]
    turns = parse_conversation(talk, started=None).turns
    assert rows_[0].xpath(".//@id") == []
    assert rows_[1].xpath(".//@id") == ["t3", turns[2].hash_anchor, "t4", turns[3].hash_anchor]


def test_passages_of_turns_have_anchors() -> None:
    """A paragraph is named by its turn and its own words."""
    digest = hashlib.sha256(b"Yes, *all*.").hexdigest()[:8]
    tree = rendered(transcript(body=body("## User\n\nAll?\n\n## Assistant\n\nYes, *all*.\n", form="transcript")))
    assert tree.xpath("//section[@id='t2']//p/@id") == [f"t2-p-{digest}"]


def test_hostile_speakers_models_and_tools_stay_text() -> None:
    """What a body says of its turns is as foreign as what is said in them."""
    bad = "<script>alert(1)</script>"
    text = (
        f"---\n\n## 🧑 {bad} *({bad})* <sub>4/14/2026, 9:22:47 AM</sub>\n\n> **🔧 {bad}** <sub>{bad}</sub>\n> {bad}\n"
    )
    text += f"\n> **🔧 {bad}**\n> ```\n> {bad}\n> ```\n\n{bad}\n"
    tree = rendered(transcript(body=body(text, form="transcript")))
    assert texts(tree, "//section[@id='t1']//h2") == [bad]
    assert texts(tree, "//section[@id='t1']/details/summary") == [f"{bad} {bad}"]


def test_a_part_of_a_transcript_holds_its_turns_under_their_own_anchors() -> None:
    """Parts count turns from the beginning, and only the first has what stands before the turns."""
    page = transcript(body=body(TALK, form="transcript", turns=TurnRange(first=1, end=3), prefix="x-"))
    tree = rendered(page)
    assert tree.xpath("//section[contains(@class, 'turn')]/@id") == ["x-t2", "x-t3"]
    assert tree.xpath("//section[@class='preamble']") == []


def test_a_conversation_of_no_known_form_is_shown_as_it_is() -> None:
    """Without turns the text is one block."""
    tree = rendered(transcript(body=body("A: hello\n<b>B</b>: hi\n", form="transcript")))
    assert tree.xpath("//pre[@class='verbatim']")[0].text_content() == "\nA: hello\n<b>B</b>: hi\n"


def test_a_text_shown_on_two_pages_is_read_once_and_has_ids_of_its_own_on_each() -> None:
    """A memo's page and its thread's page share the rendered text, but not its prefix."""
    read: list[str] = []

    def text_of(digest: str) -> str:
        read.append(digest)
        return TEXTS[digest]

    renderer = Renderer(THEME, text_of)
    text = body("# Plan \x1a\n\nSee [above](#plan).", prefix="")
    first = rendered(memo(body=text, summary=None, variants=()), renderer)
    other = dataclasses.replace(text, prefix='m1"-')
    member = dataclasses.replace(thread().members[1], body=other)
    second = rendered(thread(members=(member,)), renderer)
    assert read == [text.sha256]
    assert first.xpath("//h3/@id") == ["plan"]
    assert second.xpath("//h3/@id") == ['m1"-plan']
    assert "Plan \ufffd" in texts(first, "//h3")[0]


def test_a_text_whose_links_lead_elsewhere_from_each_page_is_read_once() -> None:
    """What differs between the pages that show a text, where its links lead, is put into the rendered text."""
    read: list[str] = []

    def text_of(digest: str) -> str:
        read.append(digest)
        return TEXTS[digest]

    renderer = Renderer(THEME, text_of)
    text = body("# 1 one\n\nSee a.md, [part](<b.md#s t>) and [below](#1-one).", prefix="1")
    for href, kept in (("../a/?x=1&y=2", "#s%20t"), ("https://b.example/'a'", "#s%20t"), ("../a/index.html", "#at")):
        links = (("a.md", href), ("b.md", href + ("#at" if kept == "#at" else "")))
        page = rendered(memo(body=dataclasses.replace(text, links=links), summary=None, variants=()), renderer)
        assert page.xpath("//a[.='a.md']/@href") == [href]
        assert page.xpath("//a[.='part']/@href") == [href + kept]
        assert page.xpath("//a[.='below']/@href") == ["#11-one"]
    assert read == [text.sha256, text.sha256]  # anew only where a link begins to name a place of its own


@pytest.mark.parametrize("last", [".", "\u2014"])
def test_texts_that_were_not_used_for_longest_make_room(last: str) -> None:
    """What the cache may hold is bounded; what does not fit is rendered again. One dash does not double a text."""
    read: list[str] = []

    def text_of(digest: str) -> str:
        read.append(digest)
        return TEXTS[digest]

    renderer = Renderer(THEME, text_of, cache_bytes=6_000)
    one, two, three = (body(f"{name} " * 800 + last) for name in ("a", "b", "c"))
    for text in (one, two, one, three, one, two):
        renderer.render(memo(body=text, summary=None, variants=()))
    assert read == [text.sha256 for text in (one, two, three, two)]


def test_a_thread_shows_its_tree_and_every_memo_in_order() -> None:
    """Depth is drawn to twelve levels; ghosts and other threads are named."""
    tree = rendered(thread())
    assert tree.xpath("//ol[@class='tree']/li/@class") == ["depth-0 ghost", "depth-1", "depth-2", "depth-12"]
    assert tree.xpath("//section[contains(@class, 'member')]/@id") == [
        "memo-lost",
        "memo-plan",
        "memo-re",
        "memo-re-re",
    ]
    assert "Missing memo." in texts(tree, "//section[@id='memo-lost']")[0]
    assert "Continues in the next thread, another" in texts(tree, "//section[@id='memo-re-re']")[0]
    assert "Continues from trial loads" in texts(tree, "//section[@id='memo-plan']")[0]


def test_a_chart_links_its_positions_and_says_what_it_is() -> None:
    """Its title, its description, every box in words; sizes are attributes, colours are left to the style sheet."""
    svg = rendered(next(page for page in pages() if isinstance(page, OrganizationPage))).xpath("//svg[@role='group']")[
        0
    ]
    by_id = {element.get("id"): element.text_content() for element in svg.xpath("./title | ./desc")}
    assert by_id[svg.get("aria-labelledby")].startswith("Chart: ")
    assert by_id[svg.get("aria-describedby")]
    assert svg.xpath(".//a/@class") == ["box staffed"]
    assert svg.xpath(".//g/title/text()") == ["Desk, vacant"]
    assert svg.xpath("./path[@class='other']/title/text()") == ["Desk helps Director"]
    assert svg.xpath(".//@style | .//@fill[. != 'none']") == []


def test_the_texts_of_a_thread_can_be_folded_and_are_open() -> None:
    """A reader without a script sees all of it; a ghost has nothing to fold."""
    page = rendered(thread())
    folded = page.xpath("//section[contains(@class, 'member')]/details")
    assert folded
    assert all(one.get("open") is not None for one in folded)
    assert page.xpath("//section[contains(@class, 'ghost')]/details") == []


def test_the_table_of_seats_can_be_sorted_by_what_it_means() -> None:
    """Each cell has a key: dates in UTC, numbers in full, words; empty where there is nothing."""
    home = next(page for page in pages() if isinstance(page, HomePage))
    table = rendered(home).xpath("//table[@class='seats glance']")[0]
    types = table.xpath("./thead//th/@data-sort-type")
    assert types == ["text", "number", "number", "date", "number", "date", "text"]
    seat = home.positions.active[0]
    assert table.xpath("./tbody/tr[1]/*/@data-sort") == [
        seat.position.label,
        str(seat.open_to),
        str(seat.unread),
        seat.oldest_unread.utc if seat.oldest_unread else "",
        str(seat.open_from),
        seat.last_sent.utc if seat.last_sent else "",
    ]


def test_home_says_as_of_which_commits() -> None:
    """A source that git knows names its last commit and its day."""
    home = next(page for page in pages() if isinstance(page, HomePage))
    sources = (
        SourceRow(source=SourceInfo(name="engine", committed=STAMP), artifacts=3, commit=Reference(label="0a1b2c3d4e")),
    )
    (line,) = rendered(dataclasses.replace(home, sources=sources)).xpath("//section[h2='Sources']//li/p")
    assert " ".join(line.text_content().split()).startswith("commit 0a1b2c3d4e, 2026-04-21")


def test_a_list_does_not_repeat_the_day_its_heading_names() -> None:
    """Rows show their date unless they stand below it."""
    month = rendered(page_of(ListPage))
    assert month.xpath("//section[@id='2026-04-21']//time") == []
    assert len(month.xpath("//section[@id='sent']//time")) == 6
    assert texts(month, "//section[@id='sent']/p") == ["Showing the newest 7 of 240."]
    assert texts(month, "//section[@id='notes']/p") == ["Nothing yet."]


def test_a_row_of_actions_is_the_same_on_all_pages_that_have_one() -> None:
    """It has a template of its own, for the board, the lists and the pages of positions."""
    column = """<span class="facts">{% if row.asked_by and row.of_all %}"""
    board = THEME.templates["board.html"]
    assert column in board
    renderer = Renderer(own_theme(board=board.replace(column, f"<em>soon</em>{column}")), TEXTS.__getitem__)
    changed = [named(page) for page in pages() if renderer.render(page) != RENDERER.render(page)]
    assert changed == ["PositionPage", "ActionsPage", "ActionListPage"]


def test_what_is_superseded_is_struck_and_names_its_successor() -> None:
    """In lists and on its own page."""
    month = rendered(page_of(ListPage))
    struck = month.xpath("//section[@id='sent']//li[contains(@class, 'superseded')]")
    assert [texts(row, ".//a[@class='subject']/s[@title='superseded']") for row in struck] == [
        ["One card for each book"]
    ]
    assert texts(struck[0], ".//span[@class='facts']") == [
        "memory-store decision · superseded by One record for each album · governance"
    ]
    page = rendered(record())
    assert texts(page, "//h1/s") == [record().title]
    assert "Superseded by One record for each album." in texts(page, "//p[@class='notice']")
    assert rendered(record(is_superseded=False)).xpath("//s[ancestor::h1] | //p[@class='notice']") == []


def test_a_record_shows_what_its_system_knows_of_it() -> None:
    """Relations both ways, what could not be resolved as text, history, and what was left out."""
    page = rendered(record())
    relations = page.xpath("//ul[@class='relationships'][1]")[0]
    assert texts(relations, "./li") == [
        "affects The catalogue active, 0.9rel.a; evidence task: H-1",
        "depends on feature.lost stated in that record",
    ]
    assert len(relations.xpath(".//a")) == 1
    assert "Showing the first 2 of 400. All of them:" in page.text_content()
    assert "Showing the last 2 of 700. All of them:" in page.text_content()
    assert texts(page, "//table[@class='fields']//tr")[0] == "Evidencefile: loads/counts.csv"
    assert texts(page, "//table[@class='history']/tbody/tr")[1] == "no dateupdated"
    assert page.xpath("//ul[@class='citations']//a/@href") == ["https://manual.example.org/x"]


def test_the_navigation_leads_to_records_only_where_there_are_any() -> None:
    """A site without other memory systems has no empty page in its navigation."""
    without = dataclasses.replace(memo(), site=dataclasses.replace(SITE, has_records=False))
    path = "//body/header//a[contains(@href, 'systems/')]"
    assert (texts(rendered(memo()), path), texts(rendered(without), path)) == (["Records"], [])


def test_a_redirect_leads_on_by_itself_and_by_a_link() -> None:
    """A page that moved works without a script."""
    tree = rendered(page_of(RedirectPage))
    assert tree.xpath("//meta[@http-equiv='refresh']/@content") == ["0; url=../x/index.html"]
    assert "../x/index.html" in tree.xpath("//main//a/@href")


def test_the_page_for_missing_addresses_links_from_the_top_of_the_server() -> None:
    """It is shown for any address, so nothing in it may be relative, but style and script that are found from disk."""
    not_found = next(page for page in pages() if isinstance(page, NotFoundPage))
    tree = rendered(dataclasses.replace(not_found, root="", feeds=(), twins=(), parts=()))
    links = list(map(str, tree.xpath("//a/@href | //link[@rel='stylesheet']/@href | //script/@src")))
    links = [link for link in links if link != "#_main"]
    for from_disk in ("static/memosite.css", "static/not-found.js"):
        assert links.count(from_disk) == 1
        links.remove(from_disk)
    assert all(link.startswith("/prefix/") for link in links)


def page_of(kind: type[Page]) -> Page:
    """The first of the pages that is one of a kind."""
    return next(page for page in pages() if isinstance(page, kind))


def own_theme(**templates: str) -> Theme:
    """The bundled theme with templates of a site before it."""
    own = {f"{name}.html": source for name, source in templates.items()}
    return dataclasses.replace(THEME, templates={**THEME.templates, **own}, own=frozenset(own))


def test_a_field_that_no_model_has_is_a_fault_of_the_template() -> None:
    """StrictUndefined catches what would otherwise be silence, and the error names template and line."""
    renderer = Renderer(own_theme(gone="<p>\n{{ page.colour }}</p>"), TEXTS.__getitem__)
    with pytest.raises(ConfigError, match=r"templates/gone\.html, line 2: .*colour"):
        renderer.render(page_of(GonePage))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\n\n{{ page.id | shout }}", r"templates/gone\.html, line 3: No filter named 'shout'"),
        ("{% extends 'nowhere.html' %}", r"there is no template .*nowhere\.html"),
        ("\n{{ page.id / 2 }}", r"templates/gone\.html, line 2: TypeError"),
        ("{{ page.id | body }}", r"templates/gone\.html, line 1: AttributeError"),
        ("{% from 'macros.html' import nothing %}{{ nothing() }}", r"templates/gone\.html, line 1: UndefinedError"),
    ],
)
def test_faults_of_a_sites_own_template_name_it(source: str, message: str) -> None:
    """Whatever goes wrong in an own template is a matter of configuration."""
    with pytest.raises(ConfigError, match=message):
        Renderer(own_theme(gone=source), TEXTS.__getitem__).render(page_of(GonePage))


def test_a_bundled_template_that_misses_an_own_macro_names_the_own_templates() -> None:
    """An own macros file without a macro breaks templates that are not the site's."""
    with pytest.raises(ConfigError, match=r"theme: macros\.html: "):
        Renderer(own_theme(macros=""), TEXTS.__getitem__).render(memo())


def test_a_text_that_is_not_there_is_not_blamed_on_the_theme() -> None:
    """What reading a text raises comes out as it is."""
    lost = dataclasses.replace(body("gone"), sha256="0" * 64)
    with pytest.raises(KeyError):
        RENDERER.render(memo(body=lost))


def test_static_style_sheet_asks_for_nothing_from_elsewhere() -> None:
    """The style sheet names no address, so that nothing is loaded but itself."""
    sheet = THEME.static["memosite.css"].decode()
    for text in (file.decode() for name, file in THEME.static.items() if name.endswith(".css")):
        assert "url(" not in text
        assert "@import" not in text
    assert "color-scheme: light dark" in sheet
    assert "@media print" in sheet
