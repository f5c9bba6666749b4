"""Plans the pages and twins of artifacts that are published without their content (SPEC 9)."""

from collections.abc import Iterator
from dataclasses import replace

from memosite.archive.lines import dump_line, shown_file, withheld_fields
from memosite.archive.model import Artifact, Memo, Transcript
from memosite.archive.notices import notice_of
from memosite.archive.urls import page_of, turn_lines
from memosite.facts.parsed import Kind
from memosite.pages.withheld import WithheldPage
from memosite.plan.artifact_page import artifact_fields
from memosite.plan.context import Context
from memosite.plan.files import Written
from memosite.plan.thread_rows import neighbours, thread_slice

_SECTIONS: dict[Kind, str] = {"record": "systems", "document": "decisions"}


def plan_withheld(context: Context, artifact: Artifact) -> Iterator[WithheldPage]:
    """The page of an artifact without its content, whatever its kind; none for one that has it."""
    notice, start = notice_of(artifact), page_of(artifact)
    if notice is None:
        return
    page = WithheldPage(
        **artifact_fields(context, artifact, start, section=_SECTIONS.get(artifact.kind, "")),
        date_written="",
        body=None,
        extra="",
        row=context.row(start, artifact),
        sha256=shown_file(artifact).sha256,
        notice=notice,
    )
    yield _in_thread(context, page, artifact) if isinstance(artifact, Memo) else page


def _in_thread(context: Context, page: WithheldPage, memo: Memo) -> WithheldPage:
    """The page of a memo with its slice of its thread, where that has others."""
    start = page_of(memo)
    thread, place = context.placed[memo.ref]
    if len(thread.entries) < 2:
        return page
    previous, following = neighbours(context, start, thread, place)
    return replace(
        page,
        thread=context.thread(start, memo.thread) if context.thread_sizes[thread.id] > 1 else None,
        thread_rows=thread_slice(context, start, thread, place),
        thread_total=len(thread.memos),
        previous=previous,
        next=following,
    )


def withheld_turns(artifact: Artifact) -> Iterator[Written]:
    """What the file of a transcript's turns says when it is published without them."""
    if isinstance(artifact, Transcript) and artifact.withheld:
        line = {"v": 1, "withheld": withheld_fields(artifact.withheld)}
        yield Written(path=turn_lines(page_of(artifact)), data=f"{dump_line(line)}\n".encode())
