"""Appraises the quotations of a manuscript by the sources that may hold them: the words, and who said them (SPEC 7).

    quotation ─► candidates (`index`), oldest first ─► best tier ─► whose passage it is in ─► the speaker that is named

A quote is not its own witness: words that a passage only carries (tool output, pasted text, block quotes) are
*quoted in* it, and never prove who said them.
"""

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from memosite.quotes.judge import judge
from memosite.quotes.quotations import Quotation
from memosite.quotes.source import Source
from memosite.quotes.verdict import Span, Tier, Verdict
from memosite.quotes.words import word_count

_Key = TypeVar("_Key", bound=Hashable)
_start: Final = attrgetter("start")

SpeakerCheck: TypeAlias = Literal["right", "wrong", "not checked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Who speaks from which character of a text to which, `is_carried` where the words are those of somebody else."""

    start: int
    end: int
    speaker: str
    is_carried: bool = False


class Origin(Generic[_Key]):
    """A text that quotations are judged by, with its voices in order; turns of a transcript, or one of a memo."""

    def __init__(self, key: _Key, text: str, voices: Sequence[Voice]) -> None:
        """Nothing is prepared yet."""
        self.key = key
        self.voices = tuple(voices)
        self._text = text

    @cached_property
    def source(self) -> Source:
        """The text as it is searched, at any level."""
        return Source(self._text)

    def voices_at(self, spans: Sequence[Span]) -> list[Voice]:
        """Whose words are there, in order."""
        found: list[Voice] = []
        for start, end in spans:
            for voice in islice(self.voices, max(bisect_right(self.voices, start, key=_start) - 1, 0), None):
                if voice.start >= end:
                    break
                if word_count(self._text[max(start, voice.start) : min(end, voice.end)]):
                    found.append(voice)
        return found

    def carries(self, spans: Sequence[Span]) -> bool:
        """Whether words there are those of somebody else, or nobody's."""
        found = self.voices_at(spans)
        return not found or any(voice.is_carried for voice in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Appraisal(Generic[_Key]):
    """What is said of one quotation: where its words are, and whether the speaker is right.

    `key` is the source that the verdict is about, None if there is none; `speaker` is who speaks there, `quoted_in`
    says that the words are only carried there.
    """

    quotation: Quotation
    verdict: Verdict
    key: _Key | None = None
    speaker: str = ""
    quoted_in: bool = False
    check: SpeakerCheck = "not checked"

    @property
    def holds(self) -> bool:
        """Whether the words are there, and not those of another than the manuscript names."""
        return self.verdict.tier.holds and self.check != "wrong"


def appraise(quotation: Quotation, origins: Sequence[Origin[_Key]]) -> Appraisal[_Key]:
    """The appraisal by the sources that may hold a quotation, the oldest first.

    The origin is the first source that has the words as somebody's own, else the first that has them at all; a source
    with a better tier does not count for more, since later ones may have been copied from the manuscript.
    """
    found = [_of_source(quotation, origin) for origin in origins]
    held = [one for one in found if one.verdict.tier.holds]
    if held:
        return min(held, key=lambda one: one.quoted_in)
    nearest = min(found, key=lambda one: (one.verdict.tier, one.verdict.changed_words), default=None)
    return nearest or Appraisal(quotation=quotation, verdict=Verdict(tier=Tier.NOT_FOUND))


def _of_source(quotation: Quotation, origin: Origin[_Key]) -> Appraisal[_Key]:
    """By one source: the words of its own voices are looked for before those that it carries."""
    passages = [(voice.start, voice.end) for voice in origin.voices]
    verdict = judge(quotation.text, origin.source, passages)
    if verdict.tier.holds and len(origin.voices) > 1 and origin.carries(verdict.spans):
        verdict = _of_own_voices(quotation, origin) or verdict
    voices = origin.voices_at(verdict.spans)
    return Appraisal(
        quotation=quotation,
        verdict=verdict,
        key=origin.key,
        speaker=next((voice.speaker for voice in voices if not voice.is_carried), ""),
        quoted_in=origin.carries(verdict.spans),
        check=_check(quotation, verdict, voices),
    )


def _of_own_voices(quotation: Quotation, origin: Origin[_Key]) -> Verdict | None:
    text = origin.source.text
    for voice in origin.voices:
        if not voice.is_carried:
            verdict = judge(quotation.text, text[voice.start : voice.end])
            if verdict.tier.holds:
                spans = tuple((start + voice.start, end + voice.start) for start, end in verdict.spans)
                return Verdict(tier=verdict.tier, spans=spans, details=verdict.details)
    return None


def _check(quotation: Quotation, verdict: Verdict, voices: Sequence[Voice]) -> SpeakerCheck:
    """Whether the one position that the sentence names is the one that speaks."""
    speakers = {voice.speaker for voice in voices}
    if any(voice.is_carried for voice in voices):
        speakers.discard("")
    if len(quotation.speakers) != 1 or not verdict.tier.holds or not speakers:
        return "not checked"
    if speakers != set(quotation.speakers):
        return "wrong"
    return "not checked" if any(voice.is_carried for voice in voices) else "right"
