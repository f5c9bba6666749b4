"""Page models of transcripts."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.pages.models import ArtifactPage
from memosite.pages.parts import ParticipantRow, Row, Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPage(ArtifactPage):
    """A recorded conversation."""

    template: ClassVar[str] = "transcript.html"

    participants: tuple[ParticipantRow, ...]
    ended: Stamp | None
    transport: str
    capture_tool: str
    redaction_status: str
    captures: tuple[Row, ...] = ()
    related: tuple[Row, ...]
    unresolved: tuple[str, ...]
    written_during: tuple[Row, ...]
    written_during_total: int = 0
    is_broken: bool
