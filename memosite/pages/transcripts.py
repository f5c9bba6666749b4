"""Page models of transcripts (see `pages`)."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.pages.mentions import MentionRow
from memosite.pages.models import ArtifactPage, Page
from memosite.pages.parts import ParticipantRow, Reference, Row, Stamp, VariantRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTimes:
    """When a session began and ended, by its own clock; `utc` is the same in UTC, "" if it is that or not known.

    `day` is that of the beginning: what the page shows no day for was on this one.
    """

    began: Stamp | None
    ended: Stamp | None
    utc: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPage(ArtifactPage):
    """A recorded conversation."""

    template: ClassVar[str] = "transcript.html"

    participants: tuple[ParticipantRow, ...]
    times: SessionTimes
    transport: str
    capture_tool: str
    redaction_status: str
    captures: tuple[Row, ...] = ()
    comparisons: tuple[Reference, ...] = ()
    variants: tuple[VariantRow, ...] = ()
    related: tuple[MentionRow, ...]
    unresolved: tuple[str, ...]
    written_during: tuple[Row, ...]
    written_during_total: int = 0
    is_broken: bool
    search: str = ""  # the condition by which a search finds this transcript alone


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSide:
    """One capture of a session in a comparison; `body` is the digest of its text, "" if that is not there."""

    transcript: Reference
    times: SessionTimes
    tool: str
    source: str
    turns: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePair:
    """An earlier capture of the session that the page is about; `anchor` is the id of its section."""

    anchor: str
    earlier: CaptureSide


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturesPage(Page):
    """A capture of a session beside earlier ones, turn by turn."""

    template: ClassVar[str] = "captures.html"

    capture: CaptureSide
    pairs: tuple[CapturePair, ...]
