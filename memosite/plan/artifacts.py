"""Plans the files of each artifact: pages, twins, originals; the memos of a thread with the thread."""

from collections.abc import Iterator
from functools import partial

from memosite.archive.model import Archive, Artifact, Document, Library, Memo, Record, Thread, Transcript
from memosite.archive.urls import page_of
from memosite.facts.withheld import Withheld
from memosite.plan.artifact_page import originals
from memosite.plan.artifact_twins import artifact_twin
from memosite.plan.changes import plan_changes
from memosite.plan.comparison import plan_comparison
from memosite.plan.context import Context
from memosite.plan.documents import plan_document
from memosite.plan.files import Stored
from memosite.plan.libraries import plan_library
from memosite.plan.memos import plan_memo
from memosite.plan.missing_memos import plan_missing_memo
from memosite.plan.records import plan_record
from memosite.plan.threads import plan_thread
from memosite.plan.transcripts import plan_transcript
from memosite.plan.twins import twin_files
from memosite.plan.units import Planned, Unit
from memosite.plan.withheld import plan_withheld


def artifact_units(archive: Archive) -> Iterator[Unit]:
    """A unit for each thread with its memos, then one for each other artifact.

    A text that was rendered for a memo's page is then cached for its thread's page.
    """
    for thread in archive.threads.values():
        make = partial(_plan_thread, thread=thread)
        yield Unit(
            name=f"thread/{thread.id}", make=make, given=thread, given_as="the thread", weight=len(thread.entries)
        )
    for ref, artifact in archive.artifacts.items():
        if not isinstance(artifact, Memo):
            make = partial(_plan_artifact, artifact=artifact)
            yield Unit(name="/".join(ref), make=make, given=artifact, given_as="the item itself")


def _plan_thread(context: Context, *, thread: Thread) -> Iterator[Planned]:
    yield from plan_thread(context, thread)
    for entry in thread.entries:
        if entry.is_ghost:
            yield plan_missing_memo(context, context.archive.ghosts[entry.ref[1]])
        else:
            yield from _plan_artifact(context, artifact=context.archive.artifacts[entry.ref])


def _plan_artifact(context: Context, *, artifact: Artifact) -> Iterator[Planned]:
    match artifact:
        case Artifact(withheld=Withheld()):
            yield from plan_withheld(context, artifact)
        case Memo():
            yield plan_memo(context, artifact)
        case Transcript():
            yield from plan_transcript(context, artifact)
            yield from plan_comparison(context, artifact)
        case Document():
            yield plan_document(context, artifact)
        case Library():
            yield from plan_library(context, artifact)
        case Record():
            yield from plan_record(context, artifact)
    yield from plan_changes(context, artifact)
    if context.site.is_lean:
        return  # `bundles` has the rest
    yield from twin_files(page_of(artifact), artifact_twin(context, artifact))
    for _, path, sha256 in originals(artifact):
        yield Stored(path=path, sha256=sha256)
