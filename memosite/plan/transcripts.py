"""Plans the pages of transcripts, split between turns where one page would be too long."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memosite.archive.model import Transcript
from memosite.archive.urls import artifact_page, part_page, relative, turn_lines
from memosite.formats.turns import parse_conversation
from memosite.pages.parts import OUTLINE, Body, PagePart, ParticipantRow, Reference, TurnRange, cut_turns, fits_one_page
from memosite.pages.transcripts import TranscriptPage
from memosite.plan.artifact_page import PART_CHARS, artifact_fields, link_targets, shown_extra
from memosite.plan.citations import citation_of, speakers
from memosite.plan.comparison import comparisons
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.dates import stamp
from memosite.plan.pagination import part_links
from memosite.plan.variants import variant_rows


def plan_transcript(context: Context, transcript: Transcript) -> Iterable[TranscriptPage]:
    """The page of a transcript, or its parts."""
    here = artifact_page(transcript.ref)
    ranges = _turn_ranges(context, transcript)
    for number, turns in enumerate(ranges, 1):
        start = here if number == 1 else part_page(here, number)
        page = _transcript_page(context, transcript, start)
        if len(ranges) > 1 and page.body is not None:
            page = replace(
                page,
                body=replace(page.body, turns=turns, parts=_other_parts(here, ranges) if number == 1 else ()),
                parts=tuple(_part_links(start, here, ranges, number)),
            )
        yield page


def _part_links(start: str, here: str, ranges: Sequence[TurnRange], current: int) -> Iterable[PagePart]:
    """Links to the parts, each with its first turn, by which people and the script of the page find the others."""
    links = part_links(start, here, len(ranges), current, first=here)
    for link, turns in zip(links, ranges, strict=True):
        within = turns.first + 1 if turns.start else None
        label = f"{link.label} (turn {within} goes on)" if within else f"{link.label} (from turn {turns.first + 1})"
        yield replace(link, label=label, turn=turns.begins + 1, within=within, is_listed=turns.end <= OUTLINE)


def _other_parts(here: str, ranges: Sequence[TurnRange]) -> tuple[tuple[int, str], ...]:
    """The parts of the turns that are not on the first part, for links to them (SPEC 4)."""
    return tuple(
        (turns.begins, relative(here, part_page(here, number))) for number, turns in enumerate(ranges[1:], start=2)
    )


def _turn_ranges(context: Context, transcript: Transcript) -> list[TurnRange]:
    """The turns of each part, split so that no page gets too long."""
    text = transcript.variants[0].text
    if text is None or not text.turns or fits_one_page(2 * text.chars, text.turns):  # no text weighs more
        return [TurnRange(first=0, end=text.turns or 0 if text else 0)]
    conversation = parse_conversation(context.text_of(text.sha256), started=None)
    return cut_turns([turn.text for turn in conversation.turns])


def _transcript_page(context: Context, transcript: Transcript, start: str) -> TranscriptPage:
    variant = transcript.variants[0]
    envelope = variant.envelope
    text = variant.text
    people, models = speakers(context, transcript)
    written = context.written_during.get(transcript.ref, ())
    body: Body | None = None
    if transcript.broken:
        body = Body(sha256=envelope.file.sha256, form="verbatim", chars=envelope.file.bytes)
    elif text is not None:
        body = Body(
            sha256=text.sha256,
            form="transcript",
            chars=text.chars,
            links=link_targets(context, start, transcript),
            started=transcript.date.utc if transcript.date and transcript.date.origin == "field" else None,
            citation=citation_of(context, transcript),
            people=people,
            models=models,
        )
    fields = artifact_fields(context, transcript, start)
    if text is not None and text.turns and not transcript.broken:
        href = relative(start, turn_lines(artifact_page(transcript.ref)))
        fields["twins"] += (Reference(label="turns", href=href),)
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
        ended=stamp(transcript.ended),
        transport=envelope.transport or "",
        capture_tool=envelope.capture_tool or "",
        redaction_status=envelope.redaction_status or "",
        captures=context.rows(start, context.captures.get(transcript.ref, ())),
        comparisons=tuple(comparisons(context, start, transcript)),
        variants=variant_rows(transcript) if start == artifact_page(transcript.ref) else (),
        related=context.rows(start, transcript.related),
        unresolved=transcript.unresolved,
        written_during=context.rows(start, written[:LIST_LIMIT]),
        written_during_total=len(written),
        is_broken=transcript.broken,
    )
