"""Plans how artifacts are cited: the citation of the whole, from which those of its turns are made (SPEC 7)."""

from dataclasses import replace

from memosite.archive.cite import Citation
from memosite.archive.cited import called, cite_whole, participants
from memosite.archive.lines import shown_file
from memosite.archive.model import Artifact, Transcript
from memosite.archive.urls import page_of
from memosite.facts.texts import cut_line
from memosite.plan.context import Context

__all__ = ["called", "citation_of", "speakers"]


def citation_of(context: Context, artifact: Artifact) -> Citation:
    """How a whole artifact is cited, with the address of its page, and the commit if it is known."""
    page = page_of(artifact)
    return replace(cite_whole(artifact, context.canonical(page) or page), commit=_commit(artifact))


def _commit(artifact: Artifact) -> str:
    """The commit that gave the text that is shown its content, "" if it is not known."""
    file = shown_file(artifact)
    copies = (copy for copy in artifact.copies if (copy.file.source, copy.file.path) == (file.source, file.path))
    return next((copy.life.commit for copy in copies if copy.life), "")


def speakers(context: Context, transcript: Transcript) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which participants of a conversation are people, and which are models, as pages call them."""
    people, models = participants(context.archive, transcript)
    return tuple(cut_line(called(one), 200) for one in people), tuple(cut_line(called(one), 200) for one in models)
