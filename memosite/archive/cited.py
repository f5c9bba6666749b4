"""Makes the citation of a whole artifact, from which those of its passages are made (SPEC 7)."""

from collections.abc import Iterable

from memosite.archive.cite import Citation
from memosite.archive.lines import all_texts, shown_file
from memosite.archive.model import Archive, Artifact, Memo, Transcript
from memosite.facts.parsed import Envelope, Participant
from memosite.facts.texts import TABLE_RULE, cut_line

__all__ = ["called", "cite_whole", "participants"]

_WARNINGS = ("confidential", "private", "ephemeral")


def cite_whole(artifact: Artifact, url: str) -> Citation:
    """How a whole artifact is cited; the hash is that of the text people read, else of the file."""
    texts = all_texts(artifact)
    return Citation(
        ref=f"{artifact.kind}/{artifact.id}",
        url=url,
        title=artifact.short_subject,
        speaker=cut_line(", ".join(_speakers(artifact)), 200),
        time=artifact.date.utc if artifact.date else "",
        quote="" if isinstance(artifact, Transcript) else _quote(artifact.summary),
        sha256=texts[-1].sha256 if texts else shown_file(artifact).sha256,
        note=_note(artifact.variants[0].envelope) if isinstance(artifact, Memo | Transcript) else "",
    )


def _quote(summary: str) -> str:
    """A summary as a quote; none of a table, which a summary has without its lines: that would not verify."""
    return "" if TABLE_RULE.search(summary) else summary.replace("…", " […]")


def _speakers(artifact: Artifact) -> Iterable[str]:
    if isinstance(artifact, Memo):
        session = artifact.variants[0].envelope.session
        yield f"{artifact.sender} ({session})" if session and artifact.sender else artifact.sender or "unknown"
    elif isinstance(artifact, Transcript):
        yield from map(called, artifact.variants[0].envelope.participants)
    else:
        yield artifact.copies[0].file.source


def called(participant: Participant) -> str:
    """A participant of a conversation: the position, and the session or person who held it."""
    who = ", ".join(part for part in (participant.session_arc, participant.identity) if part)
    return f"{participant.position} ({who})" if who else participant.position


def participants(archive: Archive, transcript: Transcript) -> tuple[tuple[Participant, ...], tuple[Participant, ...]]:
    """Which participants of a conversation are people, and which are models, as far as orgdef or envelope say."""
    people: list[Participant] = []
    models: list[Participant] = []
    for participant in transcript.variants[0].envelope.participants:
        position = archive.positions.get(archive.position_of.get(participant.position, ""))
        is_person = (position is not None and position.is_person) or not participant.session_arc
        (people if is_person else models).append(participant)
    return tuple(people), tuple(models)


def _note(envelope: Envelope) -> str:
    """What must be known of a source before it is quoted: that it is raw, or not for everybody."""
    kept = envelope.extra[:4_000].casefold()
    words = [word for word in _WARNINGS if f'"{word}"' in kept]
    return ", ".join(["raw"] * (envelope.redaction_status == "raw") + words)
