"""Judges one quote by one text, in time linear in both (SPEC 7, verifying).

    quote ─► as it is ─► but for white space ─► but for Markdown marks ─► but for an editor's marks ─► nearest passage

Each step looks for whole words only (`source.edge`). Typographic signs count with Markdown marks, as renderers set
both; the verdict names them. Nothing that changes a word, a number or a negation is better than *changed*.

An editor's marks part a quote into fragments, which the source may write in several ways:

    "[T]he load […] is too [sic] heavy [for the crane]"
        ──► "The load" or "the load", and "is too heavy", to be found in this order in one passage

If nothing of this is found, the nearest passage is, and what differs:

    pairs of neighbouring words of the quote ─► where the text has them ─► the densest stretch ─► word diff

This is linear, too, as nothing is compared with everything: the diff keeps to common words that are unique on both
sides, and compares what is between these only if that is short.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import groupby, islice, pairwise
from operator import itemgetter
from typing import Final, TypeAlias

from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line
from memosite.facts.values import Value, replace
from memosite.quotes.source import (
    LEVELS,
    UNSEEN,
    Change,
    Level,
    Needle,
    Prepared,
    Reading,
    Source,
    Span,
    Tier,
    Verdict,
    bare_matches,
    bare_words,
    beside,
    edited,
    plain_signs,
    same_typed_dashes,
    with_images,
    word_count,
)

# Reads the marks that editors make in a quote: omissions, `[sic]`, a changed first letter, words put in.


_MARK = regex(
    r"\[(?P<gap>[ \t]*(?:…|\.[ ]?\.[ ]?\.)[ \t]*)\]|\[(?P<words>[^\[\]\n]{1,2000})\]"
    r"|(?P<bare>(?<=\s)(?:…|\.{3,4}|\.(?:[ \xa0]\.){2,3})(?=\s)|(?<=\w)(?:…|\.{3,4})(?=\s))"
)


_MOST_INSERTED: Final = 5
"""Words that an editor puts in at one place: more may say anything."""


_ELLIPSES = ("…", "...")


_LEAST_WORDS: Final = 2.5  # of a fragment, on average: with fewer, words could be picked until a text says anything


_MOST_MARKS: Final = 100  # that an editor makes in one quote


_MOST_WAYS: Final = 16  # of writing a fragment


_NEGATIVE = """
no not none nobody nothing nor neither never nowhere cannot without hardly scarcely barely non t nt
nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne ni pas jamais rien aucun aucune sans
dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt hasnt havent hadnt mustnt aint
refuse refuses refused decline declines declined deny denies denied fail fails failed unable unwilling impossible
nunca nada sin mai niente nessuno senza niet geen nooit inte ikke aldrig
"""


_COUNTING = """
zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty
ninety hundred thousand million billion half twice dozen dozens hundreds thousands millions billions
zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend
"""


_NEGATIONS = frozenset(_NEGATIVE.split())


_NUMBERS = frozenset(_COUNTING.split())


_UNSEEN = regex(f"[{UNSEEN}]+")


_MIXED = regex(r"[a-z][^\W\da-z_\u00c0-\u024f]|[^\W\da-z_\u00c0-\u024f][a-z]")
"""A Latin letter beside one of another script: it may only look like what it is read as."""


Fragment: TypeAlias = tuple[str, ...]
"""A stretch of a quote without omission, in each way in which the source may write it."""


class Edited(Value):
    """A quote as its editor changed it."""

    fragments: tuple[Fragment, ...]
    inserted: tuple[str, ...] = ()


def read_editing(quote: str, source: str) -> Edited | None:
    """What is left of a quote without its editor's marks; None if it has none, or any that may change what it says.

    Brackets that the source has as well are no marks. What is put in holds no number and no negation.
    """
    trimmed = _without_ends(quote)
    if sum(1 for _ in islice(_MARK.finditer(trimmed), _MOST_MARKS + 1)) > _MOST_MARKS:
        return None
    writer = _Writer()
    done = 0
    for match in _MARK.finditer(trimmed):
        if match["words"] and match[0] in source:
            continue
        writer.add(trimmed[done : match.start()])
        done = match.end()
        if not match["words"]:
            writer.end_fragment()
        elif match["words"].strip().casefold().rstrip("!") == "sic" and not trimmed[match.end() :][:1].isalpha():
            writer.join()
        elif _touches_word(trimmed, match):
            writer.add_letters(match["words"])
        elif changes_meaning(match["words"]):
            return None
        else:
            writer.insert(match["words"])
    if not done and trimmed == quote:
        return None
    writer.add(trimmed[done:])
    return writer.finish()


class _Writer:
    """Writes the fragments of a quote from the left to the right."""

    def __init__(self) -> None:
        self.fragments: list[Fragment] = []
        self.inserted: list[str] = []
        self.ways = [""]

    def add(self, text: str) -> None:
        self.ways = [way + text for way in self.ways]

    def add_letters(self, letters: str) -> None:
        """Letters whose case the editor changed."""
        if len(self.ways) > _MOST_WAYS:
            return
        cases = dict.fromkeys((letters, letters.lower(), letters.upper(), letters.capitalize()))
        self.ways = [way + case for way in self.ways for case in cases][: _MOST_WAYS + 1]

    def join(self) -> None:
        """Go on as if nothing had been between."""
        self.ways = [way.rstrip() for way in self.ways]

    def insert(self, words: str) -> None:
        self.inserted.append(words)
        self.join()

    def end_fragment(self) -> None:
        self.fragments.append(tuple(way.strip() for way in self.ways))
        self.ways = [""]

    def finish(self) -> Edited | None:
        self.end_fragment()
        kept = tuple(ways for ways in self.fragments if word_count(ways[0]))
        words = sum(word_count(ways[0]) for ways in kept)
        too_many = any(len(ways) > _MOST_WAYS for ways in kept)
        if not kept or too_many or (len(kept) > 1 and words < _LEAST_WORDS * len(kept)):
            return None
        return Edited(fragments=kept, inserted=tuple(self.inserted))


def _without_ends(quote: str) -> str:
    """A quote without an ellipsis at its ends, which only says that the source goes on there."""
    for ellipsis in _ELLIPSES:
        quote = quote.strip().removeprefix(ellipsis).removesuffix(ellipsis)
    return quote.strip()


def changes_meaning(text: str) -> bool:
    """Whether words that are put in hold a number or a negation, or letters that only look like others."""
    read = _read(text)
    words = bare_words(read)
    counts = any(map(str.isnumeric, text + read)) or not _NUMBERS.isdisjoint(words)
    return counts or not _NEGATIONS.isdisjoint(words) or _MIXED.search(read) is not None


def negates(text: str) -> bool:
    """Whether a text holds a negation."""
    return not _NEGATIONS.isdisjoint(bare_words(_read(text)))


def _read(text: str) -> str:
    """A text as it is read: without what is not seen, in plain letters, in lower case."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).lower()
    return plain.replace("\u02bc", "'")


def _touches_word(text: str, match: re.Match[str]) -> bool:
    before, after = beside(text, *match.span())
    return (before.isalpha() or after.isalnum() or after in tuple("'’")) and match["words"].isalpha()


# Finds the passage of a text that is most like a quote that is not in it, and what differs, word by word.


_ENOUGH: Final = 0.6  # of a quote's words in the same order: less is another text, not a changed one


_MOST_WORDS: Final = 2_000  # of a quote and of a passage that are compared


_SHORT: Final = 40_000  # the most pairs of words that are compared one by one


_STRETCHES: Final = 4  # of a text that are compared with a quote


_TRIED: Final = 16  # that are looked at for each of these: most overlap


_LONGEST: Final = 40  # characters around a word that are shown with it


_BEFORE = regex(r"\S*\Z")


_AFTER = regex(r"\S*")


_Pairs: TypeAlias = list[tuple[int, int]]


def find_nearest(quote: Source, source: Source, editing: Edited | None, passages: Sequence[Span] = ()) -> Verdict:
    """*Changed*, with the nearest words, or *not found*.

    They reach no further than the passages that they begin and end in.
    """
    said = " ".join(ways[0] for ways in editing.fragments) if editing else quote.at("marks").reading.text
    asked = bare_words(said)
    words = bare_words(source.text)
    kept, window = max(
        ((align(asked[:_MOST_WORDS], words[slice(*stretch)]), stretch) for stretch in _densest(asked, words)),
        key=lambda pair: len(pair[0]),
        default=([], (0, 0)),
    )
    if len(kept) < max(2, _ENOUGH * min(len(asked), _MOST_WORDS)):
        return Verdict(tier=Tier.NOT_FOUND)
    near = list(islice(bare_matches(source.text), *window))
    first, last = _fitting(kept, len(asked), len(near))
    span = _within(
        _whole_words(source.text, near[first].start(), near[last - 1].end()),
        (near[kept[0][1]].start(), near[kept[-1][1]].end()),
        passages,
    )
    found, others = Source(source.text[slice(*span)]).at("marks").reading.text.split(), said.split()
    found = _without_marks_around(found, others)
    changes = tuple(word_diff(found[:_MOST_WORDS], others[:_MOST_WORDS]))
    return Verdict(tier=Tier.CHANGED, spans=(span,), changes=changes, is_cut=max(len(found), len(others)) > _MOST_WORDS)


def _within(span: Span, known: Span, passages: Sequence[Span]) -> Span:
    """A span without what is beyond the passages that its first and its last known word are in."""
    starts = (max(span[0], start) for start, end in passages if start <= known[0] < end)
    ends = (min(span[1], end) for start, end in passages if start < known[1] <= end)
    return next(starts, span[0]), next(ends, span[1])


def _without_marks_around(found: Sequence[str], quote: Sequence[str]) -> list[str]:
    """The words of a source without the marks before the first and after the last, if the quote has left them out."""
    bare = [*found]
    if bare[0].endswith(quote[0]) and not bare_words(bare[0].removesuffix(quote[0])):
        bare[0] = quote[0]
    if bare[-1].startswith(quote[-1]) and not bare_words(bare[-1].removeprefix(quote[-1])):
        bare[-1] = quote[-1]
    return bare


def word_diff(source: Sequence[str], quote: Sequence[str]) -> Iterator[Change]:
    """Which words both have, and which only one; runs of words as one."""
    rows: list[Change] = []
    done = (0, 0)
    pairs = align(list(map(_plain, source)), list(map(_plain, quote)))
    for pair in (*pairs, (len(source), len(quote))):
        rows += (("source", word) for word in source[done[0] : pair[0]])
        rows += (("quote", word) for word in quote[done[1] : pair[1]])
        if pair[0] < len(source):
            rows.append(("same", source[pair[0]]))
        done = pair[0] + 1, pair[1] + 1
    for kind, run in groupby(rows, key=lambda row: row[0]):
        yield kind, " ".join(words for _, words in run)


def _plain(word: str) -> str:
    """A word as it is compared: with typographic signs as plain ones."""
    return word if word.isalnum() else edited(Reading(word), plain_signs(word)).text


def _whole_words(text: str, start: int, end: int) -> Span:
    """A span that reaches to the white space around it, as far as a word is long."""
    before, after = _BEFORE.search(text, max(start - _LONGEST, 0), start), _AFTER.match(text, end, end + _LONGEST)
    return before.start() if before else start, after.end() if after else end


def align(one: Sequence[Hashable], other: Sequence[Hashable]) -> _Pairs:
    """Pairs of places with equal words, in order on both sides."""
    pairs: _Pairs = []
    todo = [((0, len(one)), (0, len(other)))]
    while todo:
        (start, end), (start2, end2) = todo.pop()
        while start < end and start2 < end2 and one[start] == other[start2]:
            pairs.append((start, start2))
            start, start2 = start + 1, start2 + 1
        while start < end and start2 < end2 and one[end - 1] == other[end2 - 1]:
            end, end2 = end - 1, end2 - 1
            pairs.append((end, end2))
        anchors = _anchors(one[start:end], other[start2:end2])
        if not anchors:
            pairs += ((start + i, start2 + j) for i, j in _compare(one[start:end], other[start2:end2]))
            continue
        done = (start, start2)
        for i, j in anchors:
            pairs.append((start + i, start2 + j))
            todo.append(((done[0], start + i), (done[1], start2 + j)))
            done = start + i + 1, start2 + j + 1
        todo.append(((done[0], end), (done[1], end2)))
    return sorted(pairs)


def _anchors(one: Sequence[Hashable], other: Sequence[Hashable]) -> _Pairs:
    """Words that each side has once, the longest run of them that is in order on both (patience)."""
    counts, counts2 = Counter(one), Counter(other)
    places = {word: place for place, word in enumerate(other)}
    found = [(place, places[word]) for place, word in enumerate(one) if counts[word] == 1 and counts2.get(word) == 1]
    ends: list[int] = []
    lasts: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(found):
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        lasts[length : length + 1] = [number]
        before.append(lasts[length - 1] if length else -1)
    chain: _Pairs = []
    number = lasts[-1] if lasts else -1
    while number >= 0:
        chain.append(found[number])
        number = before[number]
    return chain[::-1]


def _compare(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """The longest common subsequence of two short runs; of long ones without a common unique word, nothing."""
    if not one or not other or len(one) * len(other) > _SHORT:
        return
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            best[i][j] = best[i + 1][j + 1] + 1 if one[i] == other[j] else max(best[i + 1][j], best[i][j + 1])
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1


def _densest(asked: Sequence[str], words: Sequence[str]) -> Iterator[Span]:
    """The few stretches of a text that have most of a quote's pairs of words, with some words around them."""
    wanted = set(pairwise(asked))
    hits = [(place, pair) for place, pair in enumerate(pairwise(words)) if pair in wanted]
    width = min(len(asked), _MOST_WORDS) * 5 // 4 + 2
    chosen: list[Span] = []
    for _, start, end in nlargest(_TRIED * _STRETCHES, _stretches(hits, width), key=itemgetter(0)):
        if len(chosen) < _STRETCHES and all(end <= other[0] or start >= other[1] for other in chosen):
            chosen.append((start, end))
    for start, end in chosen:
        margin = max(4, width - (end - start))
        yield max(start - margin, 0), min(end + margin, len(words))


def _stretches(hits: Sequence[tuple[int, tuple[str, str]]], width: int) -> Iterator[tuple[int, int, int]]:
    """For each pair of words how many different ones are in the stretch that ends with it, and the stretch."""
    inside: Counter[tuple[str, str]] = Counter()
    first = 0
    for place, pair in hits:
        inside[pair] += 1
        while hits[first][0] < place - width:
            gone = hits[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        yield len(inside), hits[first][0], place + 2


def _fitting(kept: _Pairs, asked: int, near: int) -> Span:
    """The part of a window that stands for the quote: from its first word to its last, as far as they are known."""
    (first_asked, first), (last_asked, last) = kept[0], kept[-1]
    return max(first - first_asked, 0), min(last + asked - last_asked, near)


# The verdict on a quote.


_TIERS: dict[Level, Tier] = {"exact": Tier.EXACT, "space": Tier.SPACE, "marks": Tier.MARKS, "signs": Tier.MARKS}


_LISTED = regex(r"(?<!\w)\d{1,9}[.)]\s|[*+-]\s+[-+]?[.$€£]?\d")
"""What may be the number of an item: part of a quote, since it may be any number."""


_BAR = regex(r"(?<=\s)\|(?=\s|\Z)")  # between the cells of a table


_MOST_HITS = 20  # places of a quote with typographic signs


_AROUND: Final = 400  # characters around a quote in which its sentence is looked for


_SENTENCE_END = regex(r"[.!?…:;][\"”’»)\]*_`]*(?:\s|\Z)|\n\s*\n|\n(?=[ \t>]*(?:[-*+#|]|\d+[.)])[ \t|])|\n(?=---|##)")
"""Where what is around a quote says something of its own: a sentence, a paragraph or an item ends."""


_FEW_WORDS = 3  # an omission of no more words, one of them a negation, turns what is said into its opposite


def judge(quote: str, text: "str | Source", passages: Sequence[Span] = ()) -> Verdict:
    """The verdict on a quote that is said to be from a text.

    `passages` are the parts of the text, such as the turns of a transcript, in order: fragments that `[…]` joins
    have to be in one of them. Without any, the text is one passage.
    """
    source = text if isinstance(text, Source) else Source(text)
    verdict = _judged(quote.strip(), source, passages)
    if not verdict.tier.holds or not verdict.spans:
        return verdict
    return replace(verdict, details=(*verdict.details, *_denied_around(source.text, verdict.spans)))


def _denied_around(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """That a quote begins behind, or ends before, a negation of its sentence."""
    start, end = spans[0][0], spans[-1][1]
    before = text[max(start - _AROUND, 0) : start]
    ends = [match.end() for match in _SENTENCE_END.finditer(before)]
    if negates(before[ends[-1] if ends else 0 :]):
        yield "its sentence has a negation before it"
    after = text[end - 1 : end + _AROUND]
    stop = _SENTENCE_END.search(after)
    if negates(after[1 : stop.start() if stop else len(after)]):
        yield "its sentence has a negation behind it"


def says(text: str, quote: str) -> bool:
    """Whether a text has the words of a quote: what `judge` finds, without what is nearest."""
    source = Source(text)
    return word_count(quote) > 0 and any(_found(Source(with_images(quote), keeps_numbers=True), source, ()))


def _judged(quote: str, source: Source, passages: Sequence[Span]) -> Verdict:
    if not word_count(quote):
        return Verdict(tier=Tier.NOT_FOUND, details=("the quote has no words",))
    for span in source.exact_spans(quote):
        return Verdict(tier=Tier.EXACT, spans=(span,))
    asked = Source(with_images(quote), keeps_numbers=True)
    found = next(_found(asked, source, passages), None)
    return found or find_nearest(asked, source, read_editing(asked.text, source.text), passages)


def _found(asked: Source, source: Source, passages: Sequence[Span]) -> Iterator[Verdict]:
    """Where the words are, at the levels from the best, as they are or but for what an editor marked."""
    editing = read_editing(asked.text, source.text)
    ways = [[Source(way, keeps_numbers=True) for way in fragment] for fragment in editing.fragments] if editing else []
    for one in (source, source.numbered) if _LISTED.search(asked.text) else (source,):
        if found := _plainly(asked, one):
            yield found
        if editing and (found := _edited(editing, ways, one, passages)):
            yield found


def _plainly(asked: Source, source: Source) -> Verdict | None:
    for level in LEVELS:
        prepared = source.at(level)
        for needle in filter(prepared.may_have, _needles(asked, level)):
            for place in islice(prepared.find_all(needle.edged), _MOST_HITS):
                span = prepared.source_span(place, place + len(needle.edged))
                if source.hides(*span):
                    continue
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
        found.append(Source(_BAR.sub(" ", asked.text), keeps_numbers=True).at(level).needle)
    return dict.fromkeys(needle for needle in found if needle.plain)


def _edited(
    editing: Edited, ways: Sequence[Sequence[Source]], source: Source, passages: Sequence[Span]
) -> Verdict | None:
    for level in LEVELS:
        prepared = source.at(level)
        spans = _joined(prepared, ways, level, passages)
        if spans and not any(source.hides(*span) for span in spans):
            denied = list(filter(negates, _omitted(source, spans)))
            if all(word_count(words) > _FEW_WORDS for words in denied):
                if why := _too_much(editing):
                    return Verdict(tier=Tier.UNREAD, details=(why,))
                return Verdict(
                    tier=Tier.EDITORIAL, spans=spans, details=tuple(_details(editing, level, denies=bool(denied)))
                )
    return None


def _too_much(editing: Edited) -> str:
    """That an editor put in so many words that nobody knows what the quote says; "" if not."""
    long = next((words for words in editing.inserted if word_count(words) > _MOST_INSERTED), "")
    if long:
        return f"[{cut_line(long, 60)}] puts in more than {_MOST_INSERTED} words"
    put_in = sum(map(word_count, editing.inserted))
    return (
        "more words are put in than quoted" if put_in > sum(word_count(ways[0]) for ways in editing.fragments) else ""
    )


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
    prepared: Prepared, fragments: Sequence[Sequence[Source]], level: Level, passages: Sequence[Span]
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

    def __init__(self, prepared: Prepared, fragment: Sequence[Source], level: Level) -> None:
        self.prepared = prepared
        self.needles = tuple(dict.fromkeys(way.at(level).needle for way in fragment))

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
