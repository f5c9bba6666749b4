"""Finds where an artifact mentions another one: the passage, and the sentence (SPEC 3, links).

links of the artifact ─► where its bodies have these words ─► the passage around each, and its sentence
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from memosite.archive.model import Artifact
from memosite.facts.parsed import Ref
from memosite.facts.sentences import Sentence, sentence_around
from memosite.facts.texts import destination_spans, mention_spans
from memosite.passages.bodies import bodies_of
from memosite.passages.passage import Around, around_in

PLACES = 20
"""The most places in which one artifact mentions another that are looked up."""

_MENTIONS = 2_000  # of one body
_KEPT = 20_000  # places that are kept at once: 10 MB
_TURN = re.compile(r"t[1-9]\d*(?=[.-]|\Z)", re.ASCII)
_LABEL_CHARS = 400
_LABEL = re.compile(r"\[([^\[\]]{1,300})\]\([ \t\n]{0,41}<?\Z")

TextOf = Callable[[str], str]
_Places = Mapping[Ref, tuple["MentionPlace", ...]]
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionPlace:
    """A place in which an artifact mentions another one. `anchor` is on the page of the first; "" is all of it."""

    anchor: str
    sentence: Sentence

    @property
    def turn(self) -> str:
        """The anchor of the turn that it is in, "" if it is in none."""
        found = _TURN.match(self.anchor)
        return found[0] if found else ""


@dataclass(frozen=True, slots=True)
class MentionFinder:
    """Finds the places of mentions in the artifacts of one archive; each of these is read once."""

    _known: dict[Ref, _Places] = field(default_factory=dict)
    _sizes: list[int] = field(default_factory=lambda: [0])

    def places(self, artifact: Artifact, to: Ref, text_of: TextOf) -> tuple[MentionPlace, ...]:
        """Where an artifact mentions another one, in order, a turn or passage once; none outside of its bodies."""
        found = self._known.get(artifact.ref)
        if found is None:
            found = _find(artifact, text_of)
            if self._sizes[0] > _KEPT:
                self._known.clear()
                self._sizes[0] = 0
            self._known[artifact.ref] = found
            self._sizes[0] += sum(map(len, found.values()))
        return found.get(to, ())


def _find(artifact: Artifact, text_of: TextOf) -> _Places:
    targets: dict[str, Ref] = {}
    for link in artifact.links:
        if link.to is not None:
            targets.setdefault(link.written, link.to)
    found: dict[Ref, dict[str, MentionPlace]] = defaultdict(dict)
    for body in bodies_of(artifact, text_of) if targets else ():
        spans = list(islice(_spans(body.text, targets), _MENTIONS))
        for span, around in zip(spans, around_in(body, [start for start, _ in spans]), strict=True):
            place = _place(body.text, span, around)
            places = found[targets[body.text[span[0] : span[1]]]]
            if len(places) < PLACES:
                places.setdefault(place.turn or place.anchor, place)
    return {to: _led_to(places) for to, places in found.items()}


def _spans(text: str, targets: Mapping[str, Ref]) -> Iterator[_Span]:
    """Where a text mentions any of these names; the target of a link is one mention."""
    last = 0
    for start, end in sorted({*mention_spans(text), *destination_spans(text)}, key=lambda span: (span[0], -span[1])):
        if start >= last and text[start:end] in targets:
            last = end
            yield start, end


def _place(text: str, span: _Span, around: Around | None) -> MentionPlace:
    """The place of a mention; of a link, its label is marked."""
    start, end = span
    begin, stop = (around.begin, around.end) if around else (start, end)
    label = _LABEL.search(text, max(begin, start - _LABEL_CHARS), start)
    if label:
        start, end = label.span(1)
    return MentionPlace(
        anchor=around.anchor if around else "", sentence=sentence_around(text[begin:stop], start - begin, end - begin)
    )


def _led_to(places: Mapping[str, MentionPlace]) -> tuple[MentionPlace, ...]:
    """The places that an anchor leads to, if there are any."""
    return tuple(one for one in places.values() if one.anchor) or tuple(places.values())
