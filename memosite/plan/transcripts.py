"""Plans the pages of transcripts, split between turns where one page would be too long."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memosite.archive.lines import is_redacted
from memosite.archive.model import Transcript
from memosite.archive.urls import artifact_page, part_page, relative, turn_lines
from memosite.facts.bounds import most_citations
from memosite.facts.phrases import phrase
from memosite.formats.turns import parse_conversation
from memosite.pages.parts import (
    OUTLINE,
    Body,
    PagePart,
    ParticipantRow,
    Reference,
    TurnRange,
    cut_text,
    cut_turns,
    fits_one_page,
)
from memosite.pages.transcripts import TranscriptPage
from memosite.plan.addresses import file_address
from memosite.plan.artifact_page import PART_CHARS, artifact_fields, link_targets, shown_extra
from memosite.plan.citations import citation_of, speakers
from memosite.plan.comparison import comparisons
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.mention_rows import mentioned_turns, related_rows
from memosite.plan.pagination import part_links
from memosite.plan.session_times import session_times
from memosite.plan.shared_rows import shared_at_turns
from memosite.plan.variants import variant_rows

_Characters = tuple[int, int]
"""The first character of a part and the one after its last, counted from 0."""


def plan_transcript(context: Context, transcript: Transcript) -> Iterable[TranscriptPage]:
    """The page of a transcript, or its parts: those of its turns, then those of turns that are too many, verbatim."""
    here = artifact_page(transcript.ref)
    ranges, rest = _ranges(context, transcript)
    parts: list[TurnRange | _Characters] = [*ranges, *rest]
    for number, part in enumerate(parts, 1):
        start = here if number == 1 else part_page(here, number)
        page = _transcript_page(context, transcript, start)
        if len(parts) > 1 and page.body is not None:
            whole = page.body if number == 1 else replace(page.body, cited_turns=(), mentioned_turns=())
            links = tuple(_part_links(start, here, parts, number))
            if isinstance(part, TurnRange):
                body = replace(whole, turns=part, parts=_other_parts(here, ranges) if number == 1 else ())
            else:
                body = replace(whole, form="verbatim", span=part, links=(), citation=None)
            page = replace(page, body=body, parts=links)
        yield page


def _part_links(start: str, here: str, parts: Sequence[TurnRange | _Characters], current: int) -> Iterable[PagePart]:
    """Links to the parts. Each with turns has its first one, by which people and the script of the page find others."""
    for link, turns in zip(part_links(start, here, len(parts), current, first=here), parts, strict=True):
        if not isinstance(turns, TurnRange):
            yield link
            continue
        within = turns.first + 1 if turns.start else None
        if within:
            label = phrase("{page} (turn {number} goes on)", page=link.label, number=within)
        else:
            label = phrase("{page} (from turn {number})", page=link.label, number=turns.first + 1)
        yield replace(link, label=label, turn=turns.begins + 1, within=within, is_listed=turns.end <= OUTLINE)


def _other_parts(here: str, ranges: Sequence[TurnRange]) -> tuple[tuple[int, str], ...]:
    """The parts of the turns that are not on the first part, for links to them (SPEC 4)."""
    return tuple(
        (turns.begins, relative(here, part_page(here, number))) for number, turns in enumerate(ranges[1:], start=2)
    )


def _ranges(context: Context, transcript: Transcript) -> tuple[list[TurnRange], list[_Characters]]:
    """The turns of each part, split so that no page gets too long; then the characters of each part of the rest."""
    text = transcript.variants[0].text
    if text is None or not text.turns or fits_one_page(2 * text.chars, text.turns):  # no text weighs more
        return [TurnRange(first=0, end=text.turns or 0 if text else 0)], []
    written = context.text_of(text.sha256)
    conversation = parse_conversation(written, started=None)
    ranges = cut_turns([turn.text for turn in conversation.turns])
    if not conversation.rest:
        return ranges, []
    before, *_ = written.rsplit("\n", conversation.rest.count("\n") + 1)  # its line ends may be longer than those read
    return ranges, cut_text(written, len(before) + 1)


def _transcript_page(context: Context, transcript: Transcript, start: str) -> TranscriptPage:
    variant = transcript.variants[0]
    envelope = variant.envelope
    text = variant.text
    people, models = speakers(context, transcript)
    written = context.written_during.get(transcript.ref, ())
    citations = context.citations_of.get(transcript.ref, ())
    times = session_times(transcript)
    body: Body | None = None
    if transcript.broken:
        body = Body(sha256=envelope.file.sha256, form="verbatim", chars=envelope.file.bytes)
    elif text is not None:
        citation = citation_of(context, transcript)
        size = 2 * len(citation.markdown + citation.text + citation.url)
        body = Body(
            sha256=text.sha256,
            form="transcript",
            chars=text.chars,
            links=link_targets(context, start, transcript),
            started=transcript.date.utc if transcript.date and transcript.date.origin == "field" else None,
            day=times.day,
            citation=citation,
            is_redacted=is_redacted(transcript),
            cited=most_citations(text.chars, text.turns or 0, size),
            people=people,
            models=models,
            cited_turns=tuple(sorted({one.anchor for one in citations} - {""})),
            mentioned_turns=mentioned_turns(context, transcript),
            shared=shared_at_turns(context, start, transcript),
        )
    fields = artifact_fields(context, transcript, start)
    if text is not None and text.turns and not transcript.broken:
        href = file_address(context, start, transcript, turn_lines(artifact_page(transcript.ref)))
        fields["twins"] += (Reference(label=phrase("turns"), href=href),)
    return TranscriptPage(
        **fields,
        date_written=envelope.sent_text,
        body=body,
        extra=shown_extra(envelope.extra),
        participants=tuple(
            ParticipantRow(
                position=context.named(start, participant.position),
                who=", ".join(part for part in (participant.session_arc, participant.identity) if part),
                extra=shown_extra(participant.extra, limit=PART_CHARS),
            )
            for participant in envelope.participants
        ),
        times=times,
        transport=envelope.transport or "",
        capture_tool=envelope.capture_tool or "",
        redaction_status=envelope.redaction_status or "",
        captures=context.rows(start, context.captures.get(transcript.ref, ())),
        comparisons=tuple(comparisons(context, start, transcript)),
        variants=variant_rows(transcript) if start == artifact_page(transcript.ref) else (),
        related=related_rows(context, start, transcript),
        unresolved=transcript.unresolved,
        written_during=context.rows(start, written[:LIST_LIMIT]),
        written_during_total=len(written),
        is_broken=transcript.broken,
        search=_condition(transcript) if text is not None and text.turns and not transcript.broken else "",
    )


def _condition(transcript: Transcript) -> str:
    """The condition of a query that finds this transcript alone; signs between words make no difference in it."""
    is_plain = re.fullmatch(r"[\w.-]+", transcript.id)
    return f"transcript:{transcript.id}" if is_plain else 'transcript:"{}"'.format(transcript.id.replace('"', "-"))
