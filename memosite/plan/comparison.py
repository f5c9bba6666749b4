"""Plans the page that compares a transcript with earlier captures of its session, side by side (SPEC 4)."""

from collections.abc import Iterator

from memosite.archive.model import Transcript
from memosite.archive.urls import artifact_page, captures_page, relative
from memosite.facts.parsed import Ref
from memosite.pages.parts import Reference
from memosite.pages.transcripts import CapturePair, CaptureSide, CapturesPage
from memosite.plan.context import Context
from memosite.plan.head import page_head
from memosite.plan.session_times import session_times

_COMPARED = 5
"""The most captures that one is compared with, those that arrived last before it."""


def plan_comparison(context: Context, transcript: Transcript) -> Iterator[CapturesPage]:
    """The page of a transcript beside the captures of its session that arrived before it, if there are any."""
    earlier = earlier_captures(context, transcript)
    if earlier:
        start = captures_page(artifact_page(transcript.ref))
        yield CapturesPage(
            **page_head(context, start, title=transcript.short_subject),
            capture=_side(context, start, transcript),
            pairs=tuple(CapturePair(anchor=_anchor(one), earlier=_side(context, start, one)) for one in earlier),
        )


def has_comparison(context: Context, ref: Ref) -> bool:
    """Whether an artifact has a page that compares captures."""
    artifact = context.archive.artifacts.get(ref)
    return isinstance(artifact, Transcript) and bool(earlier_captures(context, artifact))


def earlier_captures(context: Context, transcript: Transcript) -> list[Transcript]:
    """The captures of the same session that a transcript is compared with, the last one first."""
    found = (context.archive.artifacts[ref] for ref in context.captures.get(transcript.ref, ()))
    earlier = [one for one in found if isinstance(one, Transcript) and one.arrival < transcript.arrival]
    return sorted(earlier, key=lambda one: -one.arrival)[:_COMPARED]


def comparisons(context: Context, start: str, transcript: Transcript) -> Iterator[Reference]:
    """Links to where a transcript is compared with other captures of its session."""
    for ref in context.captures.get(transcript.ref, ()):
        other = context.archive.artifacts[ref]
        if not isinstance(other, Transcript):
            continue
        earlier, later = sorted((transcript, other), key=lambda one: one.arrival)
        if earlier in earlier_captures(context, later):
            page = captures_page(artifact_page(later.ref))
            yield Reference(label=other.short_subject, href=f"{relative(start, page)}#{_anchor(earlier)}")


def _anchor(capture: Transcript) -> str:
    return f"with-{capture.id}"


def _side(context: Context, start: str, transcript: Transcript) -> CaptureSide:
    variant = transcript.variants[0]
    return CaptureSide(
        transcript=context.artifact(start, transcript.ref),
        times=session_times(transcript),
        tool=variant.envelope.capture_tool or "",
        source=transcript.copies[0].file.source,
        turns=(variant.text.turns or 0) if variant.text else 0,
        body=variant.text.sha256 if variant.text else "",
    )
