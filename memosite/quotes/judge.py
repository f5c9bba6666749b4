"""Judges one quote by one text, in time linear in both (SPEC 7, verifying).

    quote ─► as it is ─► but for white space ─► but for Markdown marks ─► but for an editor's marks ─► nearest passage

Each step looks for whole words only (`words`). Typographic signs count with Markdown marks, as renderers set both;
the verdict names them. Nothing that changes a word, a number or a negation is better than *changed*.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from operator import itemgetter

from memosite.quotes.editorial import Edited, Fragment, negates, read_editing
from memosite.quotes.marks import with_images
from memosite.quotes.nearest import find_nearest
from memosite.quotes.source import LEVELS, Level, Needle, Prepared, Source
from memosite.quotes.typography import same_typed_dashes
from memosite.quotes.verdict import Span, Tier, Verdict
from memosite.quotes.words import word_count

_TIERS: dict[Level, Tier] = {"exact": Tier.EXACT, "space": Tier.SPACE, "marks": Tier.MARKS, "signs": Tier.MARKS}
_BAR = re.compile(r"(?<=\s)\|(?=\s|\Z)")  # between the cells of a table
_MOST_HITS = 20  # places of a quote with typographic signs
_FEW_WORDS = 3  # an omission of no more words, one of them a negation, turns what is said into its opposite


def judge(quote: str, text: "str | Source", passages: Sequence[Span] = ()) -> Verdict:
    """The verdict on a quote that is said to be from a text.

    `passages` are the parts of the text, such as the turns of a transcript, in order: fragments that `[…]` joins
    have to be in one of them. Without any, the text is one passage.
    """
    source = text if isinstance(text, Source) else Source(text)
    quote = quote.strip()
    if not word_count(quote):
        return Verdict(tier=Tier.NOT_FOUND, details=("the quote has no words",))
    for span in source.exact_spans(quote):
        return Verdict(tier=Tier.EXACT, spans=(span,))
    quote = with_images(quote)
    asked = Source(quote)
    if found := _plainly(asked, source):
        return found
    editing = read_editing(quote, source.text)
    if editing and (found := _edited(editing, source, passages)):
        return found
    return find_nearest(asked, source, editing, passages)


def _plainly(asked: Source, source: Source) -> Verdict | None:
    for level in LEVELS:
        prepared = source.at(level)
        for needle in filter(prepared.may_have, _needles(asked, level)):
            for place in islice(prepared.find_all(needle.edged), _MOST_HITS if level == "signs" else 1):
                span = prepared.source_span(place, place + len(needle.edged))
                if level != "signs":
                    return Verdict(tier=_TIERS[level], spans=(span,))
                if same_typed_dashes(asked.text, source.text[slice(*span)]):
                    return Verdict(tier=_TIERS[level], spans=(span,), details=("typographic signs",))
    return None


def _needles(asked: Source, level: Level) -> Iterable[Needle]:
    """A quote at a level; where marks are dropped also with its own: `__init__` was code in the source.

    And without bars: a line is known as a row of a table by the bar at its beginning, which a quote may not have.
    """
    found = [asked.at(level).needle]
    if level == "marks":
        found.append(asked.at("space").needle)
    elif level == "signs":
        found.append(asked.unmarked_signs.needle)
    if level in ("marks", "signs") and _BAR.search(asked.text):
        found.append(Source(_BAR.sub(" ", asked.text)).at(level).needle)
    return dict.fromkeys(needle for needle in found if needle.edged)


def _edited(editing: Edited, source: Source, passages: Sequence[Span]) -> Verdict | None:
    for level in LEVELS:
        prepared = source.at(level)
        spans = _joined(prepared, editing.fragments, level, passages)
        if spans:
            denied = list(filter(negates, _omitted(source, spans)))
            if all(word_count(words) > _FEW_WORDS for words in denied):
                return Verdict(
                    tier=Tier.EDITORIAL, spans=spans, details=tuple(_details(editing, level, denies=bool(denied)))
                )
    return None


def _details(editing: Edited, level: Level, *, denies: bool) -> Iterator[str]:
    if level == "signs":
        yield "typographic signs"
    yield from (f"put in: {words}" for words in editing.inserted)
    if denies:
        yield "the omitted words have a negation"


def _omitted(source: Source, spans: Sequence[Span]) -> Iterator[str]:
    """What is left out, as it is read: without marks, and without what is not seen."""
    reading = source.at("marks").reading
    for (_, end), (start, _) in pairwise(spans):
        yield reading.text[reading.place_of(end) : reading.place_of(start)]


def _joined(
    prepared: Prepared, fragments: Sequence[Fragment], level: Level, passages: Sequence[Span]
) -> tuple[Span, ...]:
    """Where the fragments are, in order and in one passage; () if they are nowhere."""
    searches = [_Search(prepared, fragment, level) for fragment in fragments]
    if not all(search.may_be_there for search in searches):
        return ()
    if len(fragments) == 1 or not passages:
        places = _in_order(searches, 0, len(prepared.edged))
    else:
        places = _in_one(searches, prepared.places_of(passages))
    return tuple(prepared.source_span(*place) for place in places)


class _Search:
    """Looks for one fragment, in each way of writing it."""

    def __init__(self, prepared: Prepared, fragment: Fragment, level: Level) -> None:
        self.prepared = prepared
        self.needles = tuple(dict.fromkeys(Source(way).at(level).needle for way in fragment.ways))

    @property
    def may_be_there(self) -> bool:
        """Whether the text has its words, maybe within others."""
        return any(map(self.prepared.may_have, self.needles))

    def find(self, start: int, end: int) -> Span | None:
        """Where it is first in a part of the text."""
        needles = (needle.edged for needle in self.needles)
        found = ((self.prepared.find(needle, start, end), len(needle)) for needle in needles)
        places = [(place, place + length) for place, length in found if place >= 0]
        return min(places, default=None)


def _in_order(searches: Sequence[_Search], start: int, end: int) -> list[Span]:
    """The first places of all, each after the one before; [] if one is not there."""
    places: list[Span] = []
    for search in searches:
        found = search.find(start, end)
        if found is None:
            return []
        places.append(found)
        start = found[1]
    return places


def _in_one(searches: Sequence[_Search], passages: Sequence[Span]) -> list[Span]:
    """The same in the first passage that has all of them; each passage is looked through once."""
    start = 0
    while first := searches[0].find(start, passages[-1][1]):
        number = bisect_right(passages, first[0], key=itemgetter(0)) - 1
        end = passages[number][1] if number >= 0 else passages[0][0]
        if number >= 0 and first[1] <= end and (places := _in_order(searches, first[0], end)):
            return places
        start = max(end, first[0] + 1)
    return []
