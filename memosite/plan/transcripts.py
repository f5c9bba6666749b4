"""Plans the pages of transcripts, split between turns, and the comparison of captures of one session (SPEC 4)."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from memosite import pages
from memosite.archive.model import Transcript
from memosite.archive.urls import artifact_page, captures_page, part_page, relative, turn_lines
from memosite.facts.file import most_citations
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.formats.sessions.kept import read_conversation
from memosite.formats.turns import utc_offset
from memosite.plan.artifact_page import PART_CHARS, artifact_fields, link_targets, shown_extra, variant_rows
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.mentions import citation_of, mentioned_turns, related_rows, shared_at_turns, speakers
from memosite.plan.page import file_address, head_of, part_links
from memosite.plan.sessions import SessionHead, commit_link, session_head


class Stamp(NamedTuple):
    """A moment as a session's clock shows it; `utc` is for machines."""

    utc: str
    shown: str


class ParticipantRow(Value):
    """A participant of a conversation."""

    position: pages.Reference
    who: str
    extra: str = ""


class SessionTimes(Value):
    """When a session began and ended, by its own clock; `utc` is the same in UTC, "" if it is that or not known.

    `day` is that of the beginning: what the page shows no day for was on this one.
    """

    began: Moment | Stamp | None
    ended: Moment | Stamp | None
    utc: str
    day: str


class TranscriptPage(pages.ArtifactPage):
    """A recorded conversation."""

    template: ClassVar[str] = "transcript.html"

    participants: tuple[ParticipantRow, ...]
    times: SessionTimes
    transport: str
    capture_tool: str
    redaction_status: str
    captures: tuple[pages.Row, ...] = ()
    comparisons: tuple[pages.Reference, ...] = ()
    variants: tuple[pages.VariantRow, ...] = ()
    related: tuple[pages.MentionRow, ...]
    unresolved: tuple[str, ...]
    written_during: tuple[pages.Row, ...]
    written_during_total: int = 0
    is_broken: bool
    session: SessionHead | None = None  # of a session log
    search: str = ""  # the condition by which a search finds this transcript alone


class CaptureSide(Value):
    """One capture of a session in a comparison; `body` is the digest of its text, "" if that is not there."""

    transcript: pages.Reference
    times: SessionTimes
    tool: str
    source: str
    turns: int
    body: str
    started: str = ""


class CapturesPage(pages.Page):
    """A capture of a session beside earlier ones, turn by turn; each of these has the id of its section."""

    template: ClassVar[str] = "captures.html"

    capture: CaptureSide
    pairs: tuple[tuple[str, CaptureSide], ...]


# Formats when a transcript began and ended: by the clock of its turns, and in UTC (SPEC 4).


def session_times(transcript: Transcript) -> SessionTimes:
    """The times at the head of its page."""
    began, ended = transcript.date, transcript.ended
    offset = _offset(transcript, began) if began else None
    if began is None or offset is None:
        return SessionTimes(began=began, ended=ended, utc="", day=began.day if began else "")
    moments = [began, ended] if ended else [began]
    local = [replace(one, offset=offset).local for one in moments]
    shown = [_shown(local[0]), *(_shown(one, local[0]) for one in local[1:])]
    utc = " – ".join(_shown(one.instant.replace(tzinfo=None), there) for one, there in zip(moments, local, strict=True))
    if not offset:
        shown[-1] += " UTC"
    return SessionTimes(
        began=Stamp(began.utc, shown[0]),
        ended=Stamp(ended.utc, shown[1]) if ended else None,
        utc=f"{utc} UTC" if offset else "",
        day=f"{local[0].date()}",
    )


def _offset(transcript: Transcript, began: Moment) -> int | None:
    """How many minutes the clock of a session is before UTC: by its turns, else as its start was written."""
    text = transcript.variants[0].text
    offset = utc_offset(began.instant, text.span[0]) if text and text.span and began.origin == "field" else None
    return began.offset if offset is None else offset // dt.timedelta(minutes=1)


def _shown(one: dt.datetime, other: dt.datetime | None = None) -> str:
    """A time, without its day if that of the other one is the same."""
    is_said = other is not None and one.date() == other.date()
    return f"{one:%H:%M}" if is_said else one.isoformat(" ", "minutes")


# Plans the page that compares a transcript with earlier captures of its session, side by side (SPEC 4).


_COMPARED = 5
"""The most captures that one is compared with, those that arrived last before it."""


def plan_comparison(context: Context, transcript: Transcript) -> Iterator[CapturesPage]:
    """The page of a transcript beside the captures of its session that arrived before it, if there are any."""
    earlier = earlier_captures(context, transcript)
    if earlier:
        start = captures_page(artifact_page(transcript.ref))
        yield CapturesPage(
            **head_of(context, start, title=transcript.short_subject),
            capture=_side(context, start, transcript),
            pairs=tuple((_anchor(one), _side(context, start, one)) for one in earlier),
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


def comparisons(context: Context, start: str, transcript: Transcript) -> Iterator[pages.Reference]:
    """Links to where a transcript is compared with other captures of its session."""
    for ref in context.captures.get(transcript.ref, ()):
        other = context.archive.artifacts[ref]
        if not isinstance(other, Transcript):
            continue
        earlier, later = sorted((transcript, other), key=lambda one: one.arrival)
        if earlier in earlier_captures(context, later):
            page = captures_page(artifact_page(later.ref))
            yield pages.Reference(label=other.short_subject, href=f"{relative(start, page)}#{_anchor(earlier)}")


def _anchor(capture: Transcript) -> str:
    return f"with-{capture.id}"


def _side(context: Context, start: str, transcript: Transcript) -> CaptureSide:
    variant = transcript.variants[0]
    return CaptureSide(
        transcript=context.artifact(start, transcript.ref),
        times=session_times(transcript),
        tool=variant.envelope.capture_tool or "",
        source=transcript.copies[0].file.source,
        turns=transcript.turns,
        body=variant.text.conversation if variant.text else "",
        started=variant.envelope.sent.utc if variant.envelope.sent else "",
    )


# Plans the page of a transcript, and its parts.


_Characters = tuple[int, int]
"""The first character of a part and the one after its last, counted from 0."""


def plan_transcript(context: Context, transcript: Transcript) -> Iterable[TranscriptPage]:
    """The page of a transcript, or its parts: those of its turns, then those of turns that are too many, verbatim."""
    here = artifact_page(transcript.ref)
    ranges, rest = _ranges(context, transcript)
    parts: list[pages.TurnRange | _Characters] = [*ranges, *rest]
    for number, part in enumerate(parts, 1):
        start = here if number == 1 else part_page(here, number)
        page = _transcript_page(context, transcript, start)
        if len(parts) > 1 and page.body is not None:
            whole = page.body if number == 1 else replace(page.body, cited_turns=(), mentioned_turns=())
            links = tuple(_part_links(start, here, parts, number))
            if isinstance(part, pages.TurnRange):
                files = (relative(here, part_page(here, other)) for other in range(2, len(ranges) + 1))
                others = zip((turns.begins for turns in ranges[1:]), files, strict=True)
                body = replace(whole, turns=part, parts=tuple(others) if number == 1 else ())
            else:
                body = replace(whole, form="verbatim", span=part, links=(), citation=None)
            page = replace(page, body=body, parts=links)
        yield page


def _part_links(
    start: str, here: str, parts: Sequence[pages.TurnRange | _Characters], current: int
) -> Iterable[pages.PagePart]:
    """Links to the parts. Each with turns has its first one, by which people and the script of the page find others."""
    for link, turns in zip(part_links(start, here, len(parts), current, first=here), parts, strict=True):
        if not isinstance(turns, pages.TurnRange):
            yield link
            continue
        within = turns.first + 1 if turns.start else None
        if within:
            label = phrase("{page} (turn {number} goes on)", page=link.label, number=within)
        else:
            label = phrase("{page} (from turn {number})", page=link.label, number=turns.first + 1)
        yield replace(link, label=label, turn=turns.begins + 1, within=within, is_listed=turns.end <= pages.OUTLINE)


def _ranges(context: Context, transcript: Transcript) -> tuple[list[pages.TurnRange], list[_Characters]]:
    """The turns of each part, split so that no page gets too long; then the characters of each part of the rest."""
    text = transcript.variants[0].text
    is_short = text is not None and not text.log and pages.fits_one_page(2 * text.chars, text.turns or 0)
    if text is None or not text.turns or is_short:  # no text weighs more
        return [pages.TurnRange(first=0, end=text.turns or 0 if text else 0)], []
    written = context.text_of(text.conversation)
    conversation = read_conversation(written, started=transcript.started)
    ranges = pages.cut_turns(conversation.turns)
    if not conversation.rest:
        return ranges, []
    before, *_ = written.rsplit("\n", conversation.rest.count("\n") + 1)  # its line ends may be longer than those read
    return ranges, pages.cut_text(written, len(before) + 1)


def _transcript_page(context: Context, transcript: Transcript, start: str) -> TranscriptPage:
    variant = transcript.variants[0]
    envelope = variant.envelope
    text = variant.text
    people, models = speakers(context, transcript)
    written = context.written_during.get(transcript.ref, ())
    citations = context.citations_of.get(transcript.ref, ())
    times = session_times(transcript)
    body: pages.Body | None = None
    if transcript.broken:
        body = pages.Body(sha256=envelope.file.sha256, form="verbatim", chars=envelope.file.bytes)
    elif text is not None:
        citation = citation_of(context, transcript)
        size = 2 * len(citation.markdown + citation.text + citation.url)
        body = pages.Body(
            sha256=text.conversation,
            form="transcript",
            chars=text.chars,
            links=link_targets(context, start, transcript),
            started=transcript.date.utc if transcript.date and transcript.date.origin == "field" else None,
            day=times.day,
            citation=citation,
            is_redacted=transcript.is_redacted,
            cited=most_citations(text.chars, text.turns or 0, size),
            people=people,
            models=models,
            cited_turns=tuple(sorted({one.anchor for one in citations} - {""})),
            mentioned_turns=mentioned_turns(context, transcript),
            shared=shared_at_turns(context, start, transcript),
            **_of_log(context, start, transcript),
        )
    fields = artifact_fields(context, transcript, start)
    if text is not None and text.turns and not transcript.broken:
        href = file_address(context, start, transcript, turn_lines(artifact_page(transcript.ref)))
        fields["twins"] += (pages.Reference(label=phrase("turns"), href=href),)
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
        session=session_head(context, start, transcript),
        search=_condition(transcript) if text is not None and text.turns and not transcript.broken else "",
    )


def _of_log(context: Context, start: str, transcript: Transcript) -> dict[str, Any]:
    """The fields of the body of a session log: its thoughts, if they are published, and what its turns are tied to."""
    log, text = transcript.log, transcript.variants[0].text
    if log is None or text is None:
        return {}
    tied = [(f"t{at}", phrase("wrote"), context.artifact(start, ref)) for at, ref in transcript.wrote]
    made = (one for one in transcript.commits if one.ordinal)
    tied += [(f"t{one.ordinal}", phrase("committed"), commit_link(context, one)) for one in made]
    tied += [(f"t{at}", phrase("opened"), pages.Reference(label=url, href=url)) for at, url in log.pulls if at]
    copied = None
    if transcript.continued_from and transcript.copied:
        there = context.artifact(start, transcript.continued_from)
        copied = (transcript.copied, transcript.copied_at, there)
    return {
        "thoughts": text.thoughts if context.site.has_thinking else "",
        "tied": tuple(tied),
        "agents": tuple(_agents(context, start, transcript)),
        "copied": copied,
    }


def _agents(context: Context, start: str, transcript: Transcript) -> Iterator[tuple[str, pages.Reference]]:
    """The sessions that one started, by their keys."""
    for ref in dict.fromkeys(ref for _, ref in transcript.children):
        child = context.archive.artifacts.get(ref)
        if isinstance(child, Transcript) and child.log:
            yield child.log.key, context.artifact(start, ref)


def _condition(transcript: Transcript) -> str:
    """The condition of a query that finds this transcript alone; signs between words make no difference in it."""
    is_plain = re.fullmatch(r"[\w.-]+", transcript.id)
    return f"transcript:{transcript.id}" if is_plain else 'transcript:"{}"'.format(transcript.id.replace('"', "-"))
