"""Makes records and documents in memory, and plans the pages of a site that has them alone."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Artifact, Copy, Document, Link, Record, RecordLink, SourceInfo
from memosite.config.loading import load_contract
from memosite.facts.parsed import DocumentHead, Entity, FileFacts, RecordCard, RecordCitation, RecordEvent, Ref, Text
from memosite.facts.times import read_moment
from memosite.facts.values import replace
from memosite.feeds import FeedFile
from memosite.formats.systems import system_of
from memosite.pages import Page, Site
from memosite.plan import plan
from memosite.plan.context import Context, Stored, Written
from memosite.render.theme import load_theme
from memosite.search.blocks import SearchBlock, StateBlock
from tests.support.page_samples import renderer_of

TEXTS: dict[str, str] = {}
"""The texts of all artifacts that were made here, by digest."""
THEME = load_theme(None)
SITE = Site(title="Quay", language="en", base_url=None, generator="memosite")
OF_RECORD = {"relations", "history", "superseded_by", "links", "backlinks"}
"""Fields of a record that its card has not, or has otherwise."""
SUPERSEDED_BY: Ref = ("record", "quay.decision.new")


def shelve(text: str) -> str:
    """Keep a text for the renderer, and give its digest."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    TEXTS[digest] = text
    return digest


def record(key: str, system: str = "memory-store", **changes: Any) -> Record:
    """A record of the source `quay`; `changes` are fields of the card or of the record."""
    file = FileFacts(source="quay", path=f"store/{key}.json", sha256=shelve(f"file {key}"), bytes=9)
    text = Text(sha256=shelve(f"Text of {key}."), chars=20, summary="Text.")
    type_ = key.partition(".")[0]
    card = RecordCard(system=system, key=key, file=file, type=type_, title=f"Title of {key}", text=text)
    of_card = {name: value for name, value in changes.items() if hasattr(card, name) and name not in OF_RECORD}
    of_record = {name: value for name, value in changes.items() if name not in of_card}
    card = replace(card, **of_card)
    made = Record(
        kind="record", id=f"quay.{key}", system=system, subject=card.title, short_subject=card.title[:100],
        summary="Text.", chars=20, date=read_moment("2026-05-01T09:00:00Z"), arrival=0,
        copies=(Copy(file=file, mailbox=None),), card=card, tags=card.tags, said_status=system_of(card).status(card),
    )  # fmt: skip
    return replace(made, **of_record)


def document(name: str, **changes: Any) -> Document:
    """A document with a status."""
    file = FileFacts(source="quay", path=f"decisions/{name}", sha256=shelve(f"file {name}"), bytes=9)
    text = Text(sha256=shelve(f"Text of {name}."), chars=20, summary="Text.")
    head = DocumentHead(file=file, title=f"On {name}", status=changes.pop("status", None), date=None, text=text)
    made = Document(
        kind="document", id=f"quay.decisions.{name}", system="markdown", subject=head.title, short_subject=head.title,
        summary="Text.", chars=20, date=None, arrival=0, copies=(Copy(file=file, mailbox=None),), head=head,
    )  # fmt: skip
    return replace(made, **changes)


def context_of(*artifacts: Artifact) -> Context:
    """What these artifacts alone are planned with."""
    numbered = [replace(artifact, arrival=number) for number, artifact in enumerate(artifacts, 1)]
    archive = Archive(
        sources=(SourceInfo(name="quay"),), organizations=(),
        artifacts={artifact.ref: artifact for artifact in numbered}, ghosts={}, threads={}, positions={},
    )  # fmt: skip
    site = replace(SITE, has_records=any(artifact.kind == "record" for artifact in artifacts))
    return Context(archive=archive, site=site, text_of=TEXTS.__getitem__)


def ledger_of(*artifacts: Artifact) -> Ledger:
    """The ledger that holds these artifacts."""
    return Ledger().with_arrivals((*artifact.ref, artifact.id) for artifact in artifacts)


def planned(*artifacts: Artifact, ledger: Ledger | None = None) -> dict[str, Any]:
    """Everything that is planned, by its path; paths are unique."""
    context = context_of(*artifacts)
    units = plan(context, ledger or ledger_of(*artifacts), contract=load_contract())
    found = [one for unit in units for one in unit.make(context) if not isinstance(one, SearchBlock | StateBlock)]
    by_path = {one.path: one for one in found}
    assert len(by_path) == len(found)
    return by_path


def write_planned(folder: Path, found: Iterable[object]) -> None:
    """Write what is planned, so that its links can be followed."""
    renderer = renderer_of(THEME, TEXTS.__getitem__)
    (folder / "status.json").write_text("{}")  # the one file that is not planned
    for one in found:
        match one:
            case Page():
                data = renderer.render(one)
            case Written():
                data = one.data
            case Stored():
                data = TEXTS[one.sha256].encode()
            case FeedFile():
                data = renderer.render_feed(one)
            case _:
                raise TypeError(one)
        path = folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "static").mkdir(exist_ok=True)
    for name, data in THEME.static.items():
        (folder / "static" / name).write_bytes(data)


def everything() -> tuple[Artifact, ...]:
    """Records of all systems with something of everything, and a document."""
    old = record(
        "decision.old",
        status="superseded",
        superseded_by=SUPERSEDED_BY,
        stage=None,
        fields=(("Evidence", "file: a.csv"),),
        relations=(
            RecordLink(predicate="superseded_by", written="decision.new", to=SUPERSEDED_BY, is_inverse=True),
            RecordLink(predicate="affects", written="feature.lost"),
        ),
        anchors=("src/**/*.py", "decisions/a.md"),
        mentions=("decisions/a.md", "nobody"),
        links=(Link(written="decisions/a.md", to=("document", "quay.decisions.a.md")),),
        citations=(
            RecordCitation(title="A manual", url="https://manual.example.org/"),
            RecordCitation(title="Bad", url="file:///"),
        ),
        entities=(Entity(name="Koha", type="technology"), Entity(name="Ada Lovelace")),
        history=(RecordEvent(record="decision.old", event="created", at=read_moment("2026-05-01"), actor="engineer"),),
        body_path="memory/decisions/old.md",
        hash_written="sha256:00",
        sessions=("7a2e",),
    )
    new = record("decision.new", status="active", backlinks=(old.ref,))
    return (
        old,
        new,
        record("feature.gate", stage="building", status="active"),
        record("question.why", status="open"),
        record("context.pilot", system="memory-layer"),
        record("decisions.tide", system="memory-layer"),
        record("archive.handoffs.shift", system="memory-layer", type="handoffs"),
        record("rejected-paths.0a", system="wyren", type="Rejected paths", section="Rejected paths", line=7),
        record(
            "open-questions.0b", system="wyren", type="Open questions", section="Open questions", sessions=("7a2e",)
        ),
        record("0c", system="mif", type="semantic", namespace="decisions/quay", entities=(Entity(name="KOHA"),)),
        document("a.md"),
    )
