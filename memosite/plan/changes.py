"""Plans the page of changes: the edits of a memo or a note after its receipt (SPEC 2.3)."""

from collections.abc import Iterator, Mapping

from memosite.archive.history import LifeEvent
from memosite.archive.model import Artifact
from memosite.archive.urls import changes_page, page_of, relative
from memosite.pages.lives import EditRow
from memosite.pages.models import ChangesPage
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.head import page_head

EDITS = 50
"""The most edits that a page of changes shows, the last ones."""


def plan_changes(context: Context, artifact: Artifact) -> Iterator[ChangesPage]:
    """The page of edits after receipt, if there are any."""
    edits = _edits(artifact)
    if not edits:
        return
    start = changes_page(artifact)
    blobs = context.archive.blobs
    yield ChangesPage(
        **page_head(context, start, title=artifact.short_subject),
        artifact=Reference(label=artifact.short_subject, href=relative(start, page_of(artifact))),
        edits=tuple(
            EditRow(
                anchor=_anchor(number),
                date=stamp(event.at),
                who=event.who,
                source=source,
                file=event.path,
                commit=context.commit(source, event.commit),
                before=blobs.get(event.before, ""),
                after=blobs.get(event.after, ""),
            )
            for number, (source, event) in enumerate(edits[-EDITS:], 1)
        ),
        left_out=max(len(edits) - EDITS, 0),
    )


def has_changes(artifact: Artifact) -> bool:
    """Whether an artifact has a page of changes."""
    if artifact.kind not in {"memo", "note"} or artifact.withheld:
        return False
    for copy in artifact.copies:
        for event in copy.life.events if copy.life else ():
            if event.kind == "edited":
                return True
    return False


def edit_anchors(artifact: Artifact) -> Mapping[tuple[str, str], str]:
    """Where on the page of changes each edit is shown, by source and commit."""
    shown = enumerate(_edits(artifact)[-EDITS:], 1)
    return {(source, event.commit): _anchor(number) for number, (source, event) in shown}


def _anchor(number: int) -> str:
    return f"e{number}"


def _edits(artifact: Artifact) -> list[tuple[str, LifeEvent]]:
    """The edits of a memo or a note after its receipt, with their sources, oldest first."""
    if artifact.kind not in {"memo", "note"} or artifact.withheld:
        return []
    found = ((copy.file.source, event) for copy in artifact.copies if copy.life for event in copy.life.events)
    edits = [(source, event) for source, event in found if event.kind == "edited"]
    return sorted(edits, key=lambda edit: (edit[1].at.instant.timestamp() if edit[1].at else 0.0, edit[0]))
