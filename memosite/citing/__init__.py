"""An artifact as citations see it: its bodies, the places in them that can be named, and whose words they are.

Item ─► place("t12"), place("t12-t15"), place("p-1a2b3c4d") ─► Place ─► Citation
     ─► voices: who speaks where; tool output, asides and block quotes are carried, nobody's own words
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, chain, groupby, islice

from memosite.archive import cite
from memosite.archive.cite import Citation, Named, called, participants
from memosite.archive.lines import notice_of
from memosite.archive.model import UNDATED, Archive, Artifact, Memo, Transcript
from memosite.archive.urls import absolute, page_of
from memosite.facts.parsed import Participant
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line
from memosite.facts.values import Value, field, replace
from memosite.formats.turns import REDACTED, Turn, TurnBlock, TurnList, TurnPlace, blocks
from memosite.passages import MADE, OUTPUT, Passage, SourceBody, bodies_of, find_in, passages_in, texts_of
from memosite.quotes.index import QuoteIndex, letters_of, words_of
from memosite.quotes.judge import judge
from memosite.quotes.quotations import Names, Origin, Voice, folded_name
from memosite.quotes.source import Span

_RANGE = regex(r"(t[1-9]\d{0,8})-(t[1-9]\d{0,8})", re.ASCII)


_TURN = regex(r"t[1-9]\d{0,8}|t-[0-9a-f]{8}(?:-\d+)?", re.ASCII)


_IN_TURN = regex(r"(t[1-9]\d{0,8})(?=[.-]|\Z)|(t-[0-9a-f]{8}(?:-\d+)?)\Z", re.ASCII)
"""The turn that an anchor begins with: by its ordinal, or by its hash."""


_BLOCK = regex(r"t[1-9]\d{0,8}(?:\.([1-9]\d{0,5}))?-", re.ASCII)


_NOT_IN_NOTE = regex(r"[()]")


CARRIED = "quoted in"
"""What is said of words that a passage holds, but that are not the speaker's own."""


MISREAD = "memosite told its turns apart otherwise then"
"""What is said of a citation of turns that former versions of memosite took for such."""


_SAYING = ("memo/", "note/", "transcript/")
"""What is written or said by somebody: who wrote a document is not known."""


_SPEAKERS = regex(r"[^(),]+(?:\([^()]*\))?")


class Place(Value):
    """A place in a body that a citation can name: `start` and `end` count the body's characters.

    `sha256` is "" of what cannot be cited. `carrier` names whose turn it is in, if the words are not that speaker's.
    `turns` are those of a range that say something, by their anchors.
    """

    anchor: str
    body: int
    start: int
    end: int
    text: str
    sha256: str
    speaker: str
    time: str
    carrier: str = ""
    turns: tuple[tuple[str, str], ...] = ()

    @property
    def hashed(self) -> str:
        """What `sha256` is the digest of."""
        digests = (sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for _, text in self.turns)
        return cite.range_source(digests) if self.turns else self.text


class Item(Value, dict=True):
    """An artifact, or a former version of one. `digests` are those by which all of it is cited.

    `people` and `models` are the participants of a conversation. `why_not` says why nothing of it can be cited or
    verified; `position` is who speaks in it, if that is one position. Of a former version, `commit` is where it was,
    and `since` says what became of it.
    """

    whole: Citation
    order: tuple[str, str]
    bodies: tuple[SourceBody, ...] = ()
    digests: frozenset[str] = frozenset()
    people: tuple[Participant, ...] = ()
    models: tuple[Participant, ...] = ()
    position: str = ""
    why_not: str = ""
    commit: str = ""
    since: str = "changed since"
    own_names: dict[str, str] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """Its name: `<kind>/<id>`."""
        return self.whole.ref

    def misread(self) -> "Iterator[Item]":
        """A transcript with the turns that former versions of memosite told apart, if those were others."""
        if any(body.turns or body.known for body in self.bodies):  # of a session log, whose turns are data
            return
        bodies = tuple(replace(body, is_misread=body.is_conversation) for body in self.bodies)
        found = replace(self, bodies=bodies, since=MISREAD)
        if [turn.digest for turn in found.turns.values()] != [turn.digest for turn in self.turns.values()]:
            yield found

    # Places

    def place(self, anchor: str) -> Place | None:
        """The place with an anchor, or of a range of turns such as `t12-t15`."""
        if found := _RANGE.fullmatch(anchor):
            return self._range(found[1], found[2])
        passage = find_in(self.bodies, anchor)
        return self._place_of(passage) if passage else None

    def places(self) -> Iterator[Place]:
        """All places, in order; ranges apart."""
        return map(self._place_of, passages_in(self.bodies))

    def with_digest(self, digest: str, like: str) -> Place | None:
        """The place whose source text has this digest; a range has as many turns as the one that is asked for."""
        if found := _RANGE.fullmatch(like):
            return self._range_with(digest, int(found[2][1:]) - int(found[1][1:]))
        for anchor, turn in self.turns.items() if _TURN.fullmatch(like) else ():
            if turn.digest == digest:
                return self.place(anchor)
        return next((self._place_of(passage) for passage in self._passages if passage.sha256 == digest), None)

    def around(self, start: int, end: int, body: int) -> Place | None:
        """The smallest place that holds a span of a body; of a conversation the turn."""
        if self.bodies[body].is_conversation:
            held = (anchor for anchor, first, last in self.turn_spans if first <= start and end <= last)
            return next(map(self.place, held), None)
        kept = [place for place in self.places() if place.body == body and place.start <= start and end <= place.end]
        return min(kept, key=lambda one: one.end - one.start, default=None)

    @cached_property
    def _passages(self) -> tuple[Passage, ...]:
        return tuple(passages_in(self.bodies))

    def _place_of(self, passage: Passage) -> Place:
        number = next(
            (at for at, body in enumerate(self.bodies) if passage.anchor.startswith(body.prefix)
             and (body.path, body.part) == (passage.path, passage.part)), 0
        )  # fmt: skip
        body = self.bodies[number]
        start = _chars(body.text, passage.begin - body.before)
        turn = self.turn_at(passage.anchor) if self.turns else None
        in_block = _BLOCK.match(passage.anchor)
        held = blocks(turn.text)[int(in_block[1] or 1) - 1 :] if in_block and turn else ()
        is_carried = bool(held) and held[0].kind != "speech"
        if turn and turn.place and passage.kind != "turn":
            is_carried = body.part == OUTPUT or self.is_read_in(number, [(start, start + len(passage.text))])
        speaker = self.called(turn)
        return Place(
            anchor=passage.anchor,
            body=number,
            start=start,
            end=start + len(passage.text),
            text=passage.text,
            sha256=passage.sha256,
            speaker="" if is_carried else speaker,
            time=self._time(turn),
            carrier=speaker if is_carried else "",
        )

    def _range(self, first: str, last: str) -> Place | None:
        begins, ends = self.place(first), self.place(last)
        if begins is None or ends is None or begins.end > ends.end:
            return None
        within = self._conversation.turns[int(first[1:]) - 1 : int(last[1:])]
        turns = [turn for turn in within if turn.text]
        if not turns:
            return None
        is_incomplete = any(one.is_withheld or (one.place and one.text and not one.digest) for one in within)
        text = self.bodies[begins.body].text[begins.start : ends.end]
        is_redacted = self.bodies[begins.body].is_redacted and any(REDACTED.search(turn.text) for turn in turns)
        return replace(
            begins,
            anchor=f"{first}-{last}",
            end=ends.end,
            text=text,
            sha256="" if is_redacted or is_incomplete else cite.range_digest(turn.digest for turn in turns),
            turns=tuple((turn.anchor, turn.text) for turn in turns),
            speaker=cut_line(", ".join(filter(None, dict.fromkeys(map(self.called, turns)))), 200),
        )

    def _range_with(self, digest: str, more: int) -> Place | None:
        digests = [turn.digest if turn.text else "" for turn in self._conversation.turns]
        for first in range(1, len(digests) + 1 - more):
            if cite.range_digest(filter(None, digests[first - 1 : first + more])) == digest:
                return self._range(f"t{first}", f"t{first + more}")
        return None

    def where(self, place: Place | None) -> dict[str, object]:
        """Where the source text is, for who checks it by hand: file, part of it (see `Passage`), lines and bytes."""
        if not self.bodies:
            return {}
        body = self.bodies[place.body if place else -1]
        turn = self.turn_at(place.anchor) if place else None
        if turn and turn.place:
            file = f"{body.source}/{turn.place.file or body.path}"
            return {"file": file} | self._where_in_log(turn.place, place)
        if place is None and any(turn.place for turn in self.turns.values()):
            return {"file": f"{body.source}/{body.path}", "part": MADE}  # the words of all turns, one after the other
        start, end = (place.start, place.end) if place else (0, len(body.text))
        begin = body.before + len(body.text[:start].encode("utf-8", "surrogatepass"))
        size = len(body.text[start:end].encode("utf-8", "surrogatepass"))
        line = body.lines_before + body.text.count("\n", 0, start) + 1
        return {
            "file": f"{body.source}/{body.path}",
            "part": body.part,
            "lines": [line, line + body.text.count("\n", start, max(end - 1, start))],
            "bytes": [begin, begin + size],
        }

    def _where_in_log(self, begin: TurnPlace, place: Place | None) -> dict[str, object]:
        """The lines of a turn, of a range, or of what a tool put out, and the id of the record."""
        output = self._output_at(place.anchor) if place else None
        if output:
            is_markdown = self.bodies[0].path.endswith(".md")
            return {"lines": [output.line, output.line + output.output.count("\n") * is_markdown]}
        last = self.turns[place.turns[-1][0]].place if place and place.turns else None
        lines: dict[str, object] = {"lines": [begin.line, (last or begin).last_line]}
        return lines if last or not begin.record else {**lines, "record": begin.record}

    # Who speaks

    def turns_of(self, place: Place) -> Sequence[Turn]:
        """The turns that a place is in, or is."""
        if found := _RANGE.fullmatch(place.anchor):
            return self._conversation.turns[int(found[1][1:]) - 1 : int(found[2][1:])]
        turn = self.turn_at(place.anchor)
        return (turn,) if turn else ()

    def _output_at(self, anchor: str) -> TurnBlock | None:
        """What a tool put out, by its anchor."""
        turn = self.turn_at(anchor)
        return (
            next((part for name, part in turn.parts if name == anchor and (part.output or part.digest)), None)
            if turn
            else None
        )

    @cached_property
    def _conversation(self) -> TurnList:
        bodies = (body for body in self.bodies if body.is_conversation)
        return next((body.conversation for body in bodies), TurnList(form="verbatim", preamble="", turns=()))

    @cached_property
    def turns(self) -> dict[str, Turn]:
        """The turns of a conversation by their anchors."""
        return {turn.anchor: turn for turn in self._conversation.turns}

    @cached_property
    def turn_spans(self) -> list[tuple[str, int, int]]:
        """Of each turn the anchor, where it begins in its body and where it ends."""
        starts = next((_line_starts(body.text) for body in self.bodies if body.is_conversation), [0])
        return [(one.anchor, starts[one.line], starts[one.line] + len(one.text)) for one in self.turns.values()]

    def turn_at(self, anchor: str) -> Turn | None:
        """The turn that an anchor is in; None if it is in none."""
        found = _IN_TURN.match(anchor)
        if found and found[2]:
            return next((turn for turn in self.turns.values() if turn.hash_anchor == found[0]), None)
        return self.turns.get(found[1]) if found else None

    def _time(self, turn: Turn | None) -> str:
        if turn and turn.at:
            return turn.at.isoformat(timespec="seconds").replace("+00:00", "Z")
        return (turn and turn.stamp) or self.whole.time

    def called(self, turn: Turn | None) -> str:
        """Who speaks in a turn, or in all of it: as the pages call it."""
        if turn is None:
            return self.whole.speaker
        if turn.place:
            return turn.speaker_in(self.whole.speaker, self.people[0].position if self.people else "")
        known = self.people if turn.is_person else self.models
        return cut_line(called(known[0]), 200) if len(known) == 1 else turn.speaker

    def _position_of(self, turn: Turn) -> str:
        if turn.place:
            return self.called(turn)
        known = self.people if turn.is_person else self.models
        name = known[0].position if len(known) == 1 else turn.speaker
        return self.own_names.get(name, name)

    def voices(self, body: int) -> tuple[Voice, ...]:
        """Who speaks where in a body, in order."""
        text = self.bodies[body].text
        if self.bodies[body].part == OUTPUT:
            ends = accumulate(len(passage.text) + 2 for passage in passages_in((self.bodies[body],)))
            sizes = (len(passage.text) for passage in passages_in((self.bodies[body],)))
            starts_of = ((end - size - 1, end - 1) for end, size in zip(ends, sizes, strict=True))
            return tuple(Voice(start=start, end=end, speaker="", is_carried=True) for start, end in starts_of)
        if not self.bodies[body].is_conversation:
            return tuple(_voices(text, 0, self.position))
        starts = _line_starts(text)
        found = (self._turn_voices(one, min(starts[one.line], len(text))) for one in self._conversation.turns)
        return tuple(chain.from_iterable(found))

    def _turn_voices(self, turn: Turn, begin: int) -> Iterator[Voice]:
        if turn.place:
            done, speaker = 0, self._position_of(turn)
            for start, end in _read_in_spans(turn):
                yield from _voices(turn.text[done:start], begin + done, speaker) if done < start else ()
                yield Voice(start=begin + start, end=begin + end, speaker="", is_carried=True)
                done = end
            yield from _voices(turn.text[done:], begin + done, speaker) if done < len(turn.text) else ()
            return
        lines = [begin + one for one in _line_starts(turn.text)]
        for block in blocks(turn.text):
            start, end = lines[block.start], lines[block.end] - 1
            if block.kind == "speech":
                yield from _voices(block.text, start, self._position_of(turn))
            else:
                yield Voice(start=start, end=end, speaker="", is_carried=True)

    def is_all_carried(self, place: Place) -> bool:
        """Whether a passage is only carried, such as a paragraph of a block quote; turns are their speakers'."""
        is_turn = place.turns or _TURN.fullmatch(place.anchor)
        return not is_turn and self.is_carried(place.body, [(place.start, place.end)])

    def is_carried(self, body: int, spans: Sequence[Span]) -> bool:
        """Whether words at these places of a body are only carried there."""
        return bool(spans) and any(voice.is_carried for voice in self.origins[body].voices_at(spans))

    def is_read_in(self, body: int, spans: Sequence[Span]) -> bool:
        """Whether words there are what a turn read in: the output of a tool, or injected text."""
        voices = self.origins[body].voices_at(spans) if spans else ()
        return any(voice.is_carried and (body, voice.start) in self._read_in for voice in voices)

    @cached_property
    def _read_in(self) -> frozenset[tuple[int, int]]:
        """Where what was read in begins, by bodies."""
        found: set[tuple[int, int]] = set()
        for number, body in enumerate(self.bodies):
            starts = _line_starts(body.text)
            if body.part == OUTPUT:
                found |= {(number, voice.start) for voice in self.voices(number)}
            for turn in self._conversation.turns if body.is_conversation else ():
                lines = _line_starts(turn.text)
                if turn.place:
                    found |= {(number, starts[turn.line] + start) for start, _ in _read_in_spans(turn)}
                    continue
                kept = (block for block in blocks(turn.text) if block.kind != "speech")
                found |= {(number, starts[turn.line] + lines[block.start]) for block in kept}
        return frozenset(found)

    @cached_property
    def own_words(self) -> tuple[str, ...]:
        """The texts of its bodies; what they only carry is there as characters that nothing quotes."""
        return tuple(_without(origin.source.text, origin.voices) for origin in self.origins)

    @cached_property
    def origins(self) -> "tuple[Origin[tuple[str, int]], ...]":
        """Its bodies as quotations are judged by them."""
        return tuple(
            Origin((self.ref, number), body.text, self.voices(number)) for number, body in enumerate(self.bodies)
        )

    def other_teller(self, around: str, speakers: Sequence[str]) -> str:
        """Whom what is around a quote says to speak, if that is known and is none of these speakers; else "".

        Without speakers, nobody said it.
        """
        if not (around and self.ref.startswith(_SAYING)):
            return ""
        told = [folded_name(name) for name in self._names.tellers(around)]
        right = {who for speaker in speakers for name in _names_in(speaker)[:1] for who in self._known_as.get(name, ())}
        wrong = told and (right or not speakers) and all(right.isdisjoint(self._known_as[name]) for name in told)
        return told[0] if wrong else ""

    @cached_property
    def _known_as(self) -> dict[str, set[str]]:
        """From the names that somebody may have here to who may be meant: of a session log, not to positions."""
        spoken = map(self.called, self.turns.values()) if any(turn.place for turn in self.turns.values()) else ()
        found: dict[str, set[str]] = {}
        for speaker in dict.fromkeys((*_SPEAKERS.findall(self.whole.speaker), *spoken)):
            first, *others = _names_in(speaker) or [""]
            for name in (first, *others):
                found.setdefault(name, set()).add(self._positions_by.get(first, first))
        for name, id_ in () if spoken else self._positions_by.items():
            found.setdefault(name, set()).add(id_)
        return {name: who for name, who in found.items() if name not in ("", "all")}

    @cached_property
    def _positions_by(self) -> dict[str, str]:
        return {folded_name(name): folded_name(id_) for name, id_ in self.own_names.items()}

    @cached_property
    def _names(self) -> Names:
        return Names(self._known_as)

    # Citations

    def cite(self, place: Place | None, quote: str = "", *, commit: str = "", is_carried: bool = False) -> Citation:
        """The citation of a place, or of all of it; without a quote, that of its first words, if these hold."""
        if place is None:
            words = quote or _first_words(self.whole.quote, "\n\n".join(body.text for body in self.bodies))
            return replace(self.whole, quote=words, commit=commit)
        carrier = place.carrier or (place.speaker if is_carried else "")
        fragment = _RANGE.sub(r"\1", place.anchor)
        what = "output of a tool, " if self.bodies[place.body].part == OUTPUT else ""
        carried = f"{what}{CARRIED} a turn of {_NOT_IN_NOTE.sub('', carrier)}" if carrier else ""
        notes = [self.whole.note, carried]
        return replace(
            self.whole,
            ref=f"{self.ref}#{place.anchor}",
            url=f"{self.whole.url}#{fragment}",
            speaker="" if carrier else place.speaker,
            time=place.time,
            quote=quote or self._words_of(place),
            sha256=place.sha256,
            note=", ".join(filter(None, notes)),
            commit=commit,
        )

    def _words_of(self, place: Place) -> str:
        """What is quoted of a place, if it has the words so: its first ones; of a range also its last ones."""
        said = [text for anchor, _ in place.turns for text in self._spoken(anchor) if text]
        whole = _first_words(cite.quote_of_range(said), place.text) if said else ""
        first = self._spoken(_RANGE.sub(r"\1", place.anchor)) or [place.text]
        return whole or _first_words(cite.quote_of(first[0]), place.text)

    def _spoken(self, anchor: str) -> list[str]:
        """What is said in a turn, before and after output of tools."""
        if anchor not in self.turns:
            return []
        turn = self.turns[anchor]
        if turn.place:
            return [turn.text[voice.start : voice.end].strip() for voice in self._turn_voices(turn, 0)
                    if not voice.is_carried] or [""]  # fmt: skip
        return [one.text.strip() for one in blocks(turn.text) if one.kind == "speech"] or [""]


def _names_in(speaker: str) -> list[str]:
    """The names of one speaker: the position, and the session and the person in parentheses."""
    said, _, more = speaker.partition(", in a session of ")[0].partition(" (")
    return [name for name in map(folded_name, (said, *more.rstrip(")").split(","))) if name]


def _read_in_spans(turn: Turn) -> list[Span]:
    """Where a turn of a log has what its speaker did not say: what a machine put there, or a tool put out."""
    size, lines = len(turn.text), _line_starts(turn.text)
    if turn.kind not in ("person", "assistant"):
        return [(0, size)] if size else []
    found = [(0, turn.place.words_from)] if turn.place and turn.place.words_from else []
    within = (one for one in (*blocks(turn.text), *turn.before, *turn.after) if one.kind != "speech" and one.end)
    found += ((lines[min(one.start, len(lines) - 1)], lines[min(one.end, len(lines) - 1)] - 1) for one in within)
    merged: list[Span] = []
    for start, end in sorted((start, min(end, size)) for start, end in found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def _first_words(quote: str, text: str) -> str:
    """A quote that is cut by program, if the text has these words as they are quoted."""
    return quote if quote and judge(quote, text).tier.holds else ""


def _without(text: str, voices: Iterable[Voice]) -> str:
    pieces: list[str] = []
    done = 0
    for voice in voices:
        if voice.is_carried:
            pieces += (text[done : voice.start], "\ufffc" * (voice.end - voice.start))
            done = voice.end
    return "".join((*pieces, text[done:]))


def _chars(text: str, size: int) -> int:
    """How many characters so many bytes at the beginning of a text are."""
    return size if text.isascii() else len(text.encode()[:size].decode("utf-8", "replace"))


def _line_starts(text: str) -> list[int]:
    return list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))


def _voices(text: str, start: int, speaker: str) -> Iterator[Voice]:
    """A speech as its own words and the block quotes in it."""
    place = start
    for is_quote, lines in groupby(text.split("\n"), key=lambda line: line.lstrip(" ").startswith(">")):
        end = place + sum(len(line) + 1 for line in lines)
        yield Voice(start=place, end=end - 1, speaker="" if is_quote else speaker, is_carried=is_quote)
        place = end


# What citations are made of and verified by: items by their names, from repos or from a published site.


_CANDIDATES = 50


class Sources(Named):
    """Items by their names, `<kind>/<id>`."""

    base_url: str = ""
    """Where the site is published, "" if that is not known."""

    other_hash: str = "its hash is of no version that is known"
    """What is said of a citation whose words are there, and whose hash is of nothing that is known."""

    knows_former: bool = True
    """Whether former versions are looked into, as far as there are any."""

    @abstractmethod
    def item(self, name: str) -> Item:
        """The item of a name that is in `names`."""

    @abstractmethod
    def former(self, item: Item) -> Iterator[Item]:
        """Former versions of an item, the newest first, each with the commit that made it."""

    def removed(self, name: str) -> Item | None:  # noqa: ARG002 - others know
        """An item without bodies for what is in no source any more, but has former versions; None if there is none."""
        return None

    def commit_of(self, item: Item, place: Place | None) -> str:  # noqa: ARG002 - others know
        """The commit that gave the file of a place its content; "" if that is not known."""
        return ""

    def originals(self, item: Item) -> Iterator[tuple[str, bytes]]:  # noqa: ARG002 - others know
        """The originals of an item: their paths in the published site, and their bytes."""
        return iter(())

    def seals(self) -> str:
        """The sealed log of the published site, "" if there is none."""
        return ""

    @property
    def positions(self) -> Mapping[str, str]:
        """From the names of positions to their ids."""
        return {}

    def holders(self, quotes: Sequence[str]) -> list[list[Item]]:
        """For each quote the items that may hold it, the oldest first."""
        index = self.index_for(quotes)
        order = {name: number for number, (name, _) in enumerate(index.rows)}
        found = index.find(quotes, limit=_CANDIDATES)
        return [
            [self.item(name) for name in sorted({one.key[0] for one in some}, key=order.__getitem__)] for some in found
        ]

    def with_words(self, quote: str) -> list[Item]:
        """The oldest items that may hold a quote of fewer words than an index finds: all texts are read."""
        return list(islice(self.items_with(words_of(quote)), _CANDIDATES))

    def index_for(self, quotes: Sequence[str]) -> "QuoteIndex[tuple[str, int]]":
        """The bodies that may hold these quotes, by the name of their item and their number in it."""
        kept = self.items_with(letters_of(quotes))
        return QuoteIndex.of(((item.ref, at), body.text) for item in kept for at, body in enumerate(item.bodies))

    def items_with(self, may_have: Callable[[str], bool]) -> Iterator[Item]:
        """The items with a body of which this is true, the oldest first."""
        return (item for item in map(self.item, self.names) if any(may_have(body.text) for body in item.bodies))


# Items of an archive, each made when it is first asked for; none has former versions.


class ArchiveSources(Sources):
    """Items of an archive; `text_of` gives a text by its digest."""

    def __init__(self, archive: Archive, text_of: Callable[[str], str], *, base_url: str | None = None) -> None:
        """Nothing is read yet but the archive."""
        self.base_url = base_url or ""
        self._archive = archive
        self._text_of = text_of
        self._items: dict[str, Item] = {}

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of all artifacts, the oldest first."""
        found = sorted(self._archive.artifacts.values(), key=lambda one: (one.date is None, one.sort_key))
        return ["/".join(one.ref) for one in found]

    @cached_property
    def unordered(self) -> Sequence[str]:
        """The names of all artifacts; none of them is loaded."""
        return ["/".join(ref) for ref in self._archive.artifacts]

    @cached_property
    def renamed(self) -> Mapping[str, str]:
        """From names that artifacts had before to those they have."""
        return cite.names_now(self._archive)

    def has(self, name: str) -> bool:
        """Whether there is an artifact of this name: only that one is loaded."""
        return cite.ref_named(name) in self._archive.artifacts

    def artifact(self, name: str) -> Artifact:
        """The artifact of a name that is in `names`."""
        return self._archive.artifacts[cite.ref_named(name)]

    @cached_property
    def positions(self) -> Mapping[str, str]:
        """From the names of positions to their ids."""
        return cite.position_names(self._archive)

    def missing(self, name: str) -> str:
        """What became of an artifact that was there."""
        return cite.what_became(self._archive, name)

    def item(self, name: str) -> Item:
        """The item of an artifact."""
        if name not in self._items:
            self._items[name] = self._made(self.artifact(name))
        return self._items[name]

    def items_with(self, may_have: Callable[[str], bool]) -> Iterator[Item]:
        """As `Sources` says; of other artifacts no item is made."""
        found = (name for name in self.names if any(map(may_have, texts_of(self.artifact(name), self._text_of))))
        return map(self.item, found)

    def _made(self, artifact: Artifact) -> Item:
        page = page_of(artifact)
        transcript = artifact if isinstance(artifact, Transcript) else None
        people, models = participants(self._archive, transcript) if transcript else ((), ())
        return Item(
            whole=cite.cite_whole(artifact, absolute(self.base_url, page) if self.base_url else page),
            order=((artifact.date.instant if artifact.date else UNDATED).isoformat(), artifact.id),
            bodies=tuple(bodies_of(artifact, self._text_of)),
            digests=frozenset((*(one.sha256 for one in artifact.texts), artifact.shown_file.sha256)) - {""},
            people=people,
            models=models,
            position=(artifact.sender_position or artifact.sender) if isinstance(artifact, Memo) else "",
            why_not=_why_not(artifact),
            own_names=dict(self.positions),
        )

    def former(self, item: Item) -> Iterator[Item]:  # noqa: ARG002 - an archive is as it is now
        """None: git is not asked."""
        return iter(())


def _why_not(artifact: Artifact) -> str:
    """Why an artifact can neither be cited nor verified."""
    if notice := notice_of(artifact):
        return notice.reason
    unread = "its file cannot be parsed (memosite check names the line); there is no text to cite"
    return unread if artifact.is_broken else ""
