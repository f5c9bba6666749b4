"""Reads a transcript's body text into the turns of its speakers, their stamps, and a turn's text into its blocks.

    body text → lines → marks (headings, code fences) → headings outside of quoted examples → turns

Two forms are known (SPEC 4). *Stamped*: `---`, a blank line and a heading that ends in a local time, in the notation
of the computer that captured; bodies hold pasted transcripts, so turns are the longest chain of stamps that do not go
back. *Plain*: `## User` and `## Assistant`. The first heading that fits decides which form a body has, so that appended
text cannot change it. A body of neither form, or with stamps that may be read in two ways, is *verbatim*. Any text
gives a result, in time O(n log n) of its size.
"""

import datetime as dt
import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count, pairwise
from typing import Literal, NamedTuple, TypeAlias, cast

from memosite.facts.file import most_turns
from memosite.facts.parsed import Order, Text, TurnForm
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line
from memosite.facts.values import Value, replace

# Reads the stamps of turns, which are local times without a zone, and tells what they are in UTC (SPEC 4).


_YEAR, _SHORT = "([12][0-9]{3})", "([0-9]{1,2})"
_DATE = regex(rf"(?<![0-9])(?:{_YEAR}([./-]) ?{_SHORT}\2 ?{_SHORT}|{_SHORT}([./-]) ?{_SHORT}\6 ?{_YEAR})(?![0-9])")
_CLOCK = regex(r"(?<![0-9])([0-9]{1,2})(?:[:.]| h )([0-9]{2})(?:(?:[:.]| min )([0-9]{2})(?: s)?)?(?![0-9])")
_HALVES = {
    **dict.fromkeys(("am", "午前", "上午", "오전", "πμ", "ص", "pg", "pd"), 0),
    **dict.fromkeys(("pm", "午後", "下午", "오후", "μμ", "م", "ptg", "md"), 12),
    **dict.fromkeys(("", "t", "klo", "г", "гч", "u"), None),  # words that say nothing
}
_PLAIN = str.maketrans("年月日\u00a0\u2009\u202f", "--    ", "\u200e\u200f")  # some locales have marks around AM and PM
_AMERICAN = regex(r"[1-9][0-9]?/[1-9][0-9]?/[0-9]{4}, [0-9:]+ [AP]M")  # what puts the day first writes 05/06, or pm
_FORMER_STAMP = regex(
    r"(?:(?P<month>[0-9]{1,2}/[0-9]{1,2}/[12][0-9]{3})|(?P<day>[0-9]{1,2}\.[0-9]{1,2}\.[12][0-9]{3})"
    r"|(?P<year>[12][0-9]{3}-[0-9]{1,2}-[0-9]{1,2}))"
    r"(?:, *| +|T)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: *[AaPp]\.?[Mm]\.?)?"
)
_LONGEST_STAMP = 60
_FURTHEST_OFFSET = dt.timedelta(hours=14, minutes=30)


class _Stamp(NamedTuple):
    times: dict[Order, dt.datetime]  # what it can mean; 5/6/2026 is two days
    has_seconds: bool


def times_of(written: str) -> dict[Order, dt.datetime]:
    """The local times that a stamp can mean, by the order of its date: 5/6/2026 is two days."""
    return dict(_stamp(written).times)


@lru_cache(maxsize=4096)  # a page asks several times for that of each turn
def _stamp(written: str) -> _Stamp:
    text = written.translate(_PLAIN) if len(written) <= _LONGEST_STAMP else ""
    date = _DATE.search(text)
    rest = f"{text[: date.start()]} {text[date.end() :]}" if date else ""
    clock = _CLOCK.search(rest)
    words = re.sub(r"[\s.,،()]", "", rest[: clock.start()] + rest[clock.end() :]).lower() if clock else ""
    if not date or not clock or words not in _HALVES:
        return _Stamp({}, has_seconds=False)
    hour, minute, second = (int(part or 0) for part in clock.groups())
    half = _HALVES[words]
    if half is not None:
        hour = hour % 12 + half if 1 <= hour <= 12 else 24
    first, _, second_, third, one, sign, two, last = date.groups()
    dates: dict[Order, tuple[str, str, str]] = {}
    if sign == "/":
        dates["month"] = last, one, two
    dates |= {"year": (first, second_, third)} if first else {"day": (last, two, one)}
    times = {}
    for order, parts in dates.items():
        year, month, day = parts
        with suppress(ValueError):  # 2/30/2026
            times[order] = dt.datetime(int(year), int(month), int(day), hour, minute, second)
    return _Stamp(times, has_seconds=clock[3] is not None)


def local_time(written: str | None, order: Order | None) -> dt.datetime | None:
    """Return the time of a stamp in a transcript whose dates have this order; None for what is no such stamp."""
    return _stamp(written or "").times.get(order) if order else None


def clock_of(written: str | None, order: Order | None, day: str = "") -> str:
    """A stamp in the notation of all pages, with seconds if it has them: without its day if that is `day`."""
    local = local_time(written, order)
    return notation(written, local, day) if local else written or ""


def notation(written: str | None, moment: dt.datetime, day: str = "") -> str:
    """A time in the notation of all pages, with seconds if the stamp has them: without its day if that is `day`."""
    clock = f"{moment:%H:%M:%S}" if _stamp(written or "").has_seconds else f"{moment:%H:%M}"
    return clock if f"{moment.date()}" == day else f"{moment.date()} {clock}"


def settle(forms: Sequence[TurnForm], started: dt.datetime | None) -> int | None:
    """Return which form a body has, as an index; None if there is none, or nothing tells which of two.

    Of two it is the one whose first stamp may be the moment of `started` in some zone; of two such, or without
    `started`, the one in which more stamps do not go back; of two such, or none, the one that AM and PM tell.
    """
    fitting = [number for number, form in enumerate(forms) if fits(form, started)]
    if len(forms) == 1 or len(fitting) == 1:
        return fitting[0] if fitting else 0
    most = max((forms[number].turns for number in fitting), default=0)
    best = [number for number in fitting if forms[number].turns == most] or list(range(len(forms)))
    if len(best) > 1:
        best = [number for number in best if forms[number].is_american]
    return best[0] if best else None


def settled(text: Text, started: dt.datetime | None) -> Text:
    """The facts of a body, by the form that it has in a transcript that `started` then."""
    if not text.forms:
        return text
    chosen = settle(text.forms, started)
    if chosen is None:
        return replace(text, turns=0, span=None)
    form = text.forms[chosen]
    return replace(text, turns=form.turns, span=form.span, summary=form.summary, forms=(form,))


def fits(form: TurnForm, started: dt.datetime | None) -> bool:
    """Whether the first stamp may be the moment of `started`, in some time zone."""
    if started is None or form.span is None:
        return True
    return abs(form.span[0].replace(tzinfo=dt.UTC) - _instant(started)) <= _FURTHEST_OFFSET


def _instant(started: dt.datetime) -> dt.datetime:
    return started if started.utcoffset() is not None else started.replace(tzinfo=dt.UTC)


def utc_offset(started: dt.datetime | None, first: dt.datetime | None) -> dt.timedelta | None:
    """Return local time less UTC, from the same moment given in both; None where no time zone has that offset."""
    if started is None or first is None:
        return None
    minute = dt.timedelta(minutes=1)
    offset = round((first.replace(tzinfo=dt.UTC) - _instant(started)) / minute) * minute
    return offset if abs(offset) <= _FURTHEST_OFFSET and not offset % (15 * minute) else None


def last_turn_at(span: tuple[dt.datetime, dt.datetime] | None, *, started: dt.datetime | None) -> dt.datetime | None:
    """The UTC time of the last turn, by the `span` of a conversation; None where it cannot be told."""
    offset = utc_offset(started, span[0]) if span else None
    return (span[1] - offset).replace(tzinfo=dt.UTC) if span and offset is not None else None


_PLAIN_SPEAKERS = frozenset({"User", "Assistant", "Human"})
_HEADING = regex(r"## +(?:([🧑🤖]\S*) +)?(.*)")
_FENCE = regex(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)")
_TOOL = regex(r"> ?\*\*🔧\ufe0f? *([^*\s][^*]*)\*\*(?: *<sub>([^<]*)</sub>)? *")
REDACTED = regex(r"\[REDACTED:[\w.-]+\]", re.ASCII)
_TAG_NAME = r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+"  # HTML's own elements have neither - nor _ in their names
_OPENING = regex(rf"[ \t]*<({_TAG_NAME})>")
_CLOSING = regex(rf"</({_TAG_NAME})>")
_NIGHT = frozenset({23, 0, 1, 2})  # hours of local time in which clocks go back, worldwide
_HOUR = dt.timedelta(hours=1)
_MOST_EXAMPLES = 32  # headings in fenced code in a row: the bound on the work, and on what can be swallowed
Fence: TypeAlias = tuple[str, int, bool]  # ` or ~, how many, and whether the line is bare, so that it can close
Mark: TypeAlias = tuple[int, Fence | None]  # index of a line; None: it counts only outside of fenced code


TurnKind: TypeAlias = Literal["person", "assistant", "system", "summary"]
"""Who speaks: somebody who typed, the agent, what a machine put in somebody's place, what a compaction wrote."""


class TurnPlace(Value):
    """Where the text of a turn is in a session log: lines, 1 = first, both included, and the id of its record, if any.

    `file` is the path of the file if the log is in several. `state` says what is odd: a person took its branch back, it
    is of an inline sidechain, or a secret is in it, so that it is empty. What is before the character `words_from`
    of its text was put there by an editor.
    """

    line: int
    last_line: int
    file: str = ""
    record: str = ""
    state: Literal["", "rewound", "sidechain", "withheld"] = ""
    words_from: int = 0


class Turn(Value):
    """One speaker's turn. `text` and `digest` are those of SPEC 7, see `parse_conversation`."""

    ordinal: int  # 1 = first
    speaker: str  # as written, without the face before it
    model: str | None
    stamp: str | None  # local time as written
    order: Order | None  # of its date; None without a stamp
    at: dt.datetime | None  # UTC, where it can be told
    line: int  # of the heading in the body, 1 = first
    text: str
    digest: str  # SHA-256 of the text's UTF-8, 64 hex digits
    anchor: str  # "t12"
    hash_anchor: str | None  # "t-1a2b3c4d", then "t-1a2b3c4d-2"; None for an empty turn
    kind: TurnKind = "assistant"
    before: tuple["TurnBlock", ...] = ()  # of a session log: what is folded before the text, such as thinking
    after: tuple["TurnBlock", ...] = ()  # what is folded behind it: tool calls with their results
    place: "TurnPlace | None" = None  # of a session log: where the text is in that

    @property
    def is_withheld(self) -> bool:
        """Whether a secret is in it, so that it is empty."""
        return self.place is not None and self.place.state == "withheld"

    def speaker_in(self, agent: str, person: str = "") -> str:
        """Who is cited for a turn of a session of this agent: nobody for what a machine put there.

        `person` is who typed, if memosite.yml says so.
        """
        if self.kind == "person":
            return cut_line(f"{person or self.speaker}, in a session of {agent}", 200)
        if self.kind != "assistant":
            return ""
        return cut_line(f"{self.speaker} ({self.model})" if self.model else self.speaker, 200)

    @property
    def parts(self) -> Iterator[tuple[str, "TurnBlock"]]:
        """The parts that are not in its text, with their anchors: their numbers go on behind those of its blocks."""
        numbers = count(len(blocks(self.text)) + 1)
        return ((part.anchor or f"{self.anchor}.{next(numbers)}", part) for part in (*self.after, *self.before))

    @property
    def folded_chars(self) -> int:
        """How long the parts are that are not in its text."""
        return sum(len(block.text) for block in (*self.before, *self.after))

    @property
    def is_person(self) -> bool:
        """Whether a person speaks."""
        return self.kind == "person"


class TurnList(Value):
    """A body as turns. `preamble` is the text before the first one, all of it when there is none.

    `span` are the local times of the first turn and of the last, by the clock of the first; None without stamps.
    `rest` is the text of turns that are too many to be read as such (SPEC 9), as it is.
    """

    form: Literal["stamped", "plain", "verbatim", "session"]
    preamble: str
    turns: tuple[Turn, ...]
    span: tuple[dt.datetime, dt.datetime] | None = None
    rest: str = ""


class TurnBlock(Value):
    """A part of a turn. `text` is Markdown: of a tool without the `> `, of an aside without its two tags.

    `start` is the line of the turn's text on which the block begins, and `end` the line after its last; of a part of a
    session log, which is not in the turn's text, both are 0. `note` says what of it is not shown. Of a tool of a log
    `output` is what it put out, on this `line` of the file; `is_cut` if that is not all of it. Where all that is
    known is its `anchor` and the `digest` of the output, these are given. `does` is what a call does in one line,
    `agent` the key of the session that it started.
    """

    kind: Literal["speech", "tool", "aside", "thinking", "image", "mark"]
    name: str | None  # of the tool or the tag
    stamp: str | None  # of the tool, as written
    text: str
    start: int
    end: int
    note: str = ""
    output: str = ""
    line: int = 0
    is_cut: bool = False
    anchor: str = ""
    does: str = ""
    agent: str = ""
    digest: str = ""


class _Heading(Value):
    line: int  # index of its line
    cut: int  # index of the line before which the previous turn ends
    speaker: str
    is_person: bool
    model: str | None
    stamp: str | None
    times: dict[Order, dt.datetime]  # what the stamp can mean
    time: dt.datetime | None = None  # local, without zone; None in the plain form
    set_back: dt.timedelta = dt.timedelta()  # by how much the clocks were, since the first turn


def without_hashes(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Turns of a transcript with redactions: those that hold one have neither digest nor hash anchor.

    A hash is always that of the true source (SPEC 7), and that of a text with a short secret would let it be guessed.
    """
    return tuple(replace(turn, digest="", hash_anchor=None) if REDACTED.search(turn.text) else turn for turn in turns)


def parse_conversation(text: str, *, started: dt.datetime | None) -> TurnList:
    """Split a body into turns; never raises.

    A turn's text (SPEC 7): LF line ends, from the line after its heading (the blank line there included) to
    before the next turn's separator (stamped: its `---`; plain: its heading), less trailing blank lines, less
    one final `---`, less the blank lines before that; without a final line end. A byte order mark is dropped.

    `started` is the envelope's (without zone: UTC). It less the first stamp, rounded to the minute, is the
    offset, if at most 14:30 h and a multiple of 15 minutes; else no turn has a UTC time. Once a stamp shows
    that the clocks went back, one hour is added from there on. A change of the clocks that no stamp
    shows (forward, or back during a pause of more than an hour) cannot be told: times after it are an hour off.
    """
    source, lines = _lines(text)
    readings = _readings(lines, most_turns(len(source)))
    chosen = settle([reading.form for reading in readings], started)
    if chosen is None:
        return TurnList(form="verbatim", preamble=source, turns=())
    return _cut(lines, readings[chosen], started)


def all_readings(text: str) -> list[tuple[TurnForm, TurnList]]:
    """The forms that a body may have, each with the turns that it then has, for who does not know when it `started`."""
    source, lines = _lines(text)
    return [(reading.form, _cut(lines, reading, None)) for reading in _readings(lines, most_turns(len(source)))]


class _Reading(NamedTuple):
    """The headings that start a turn in one form, in order."""

    form: TurnForm
    headings: Sequence[_Heading]


def _lines(text: str) -> tuple[str, list[str]]:
    source = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return source, source.split("\n")


def _cut(lines: list[str], reading: _Reading, started: dt.datetime | None) -> TurnList:
    form, headings = reading
    first, rest = headings[0], ""
    if len(headings) > form.turns:
        end = headings[form.turns].cut
        rest, lines, headings = "\n".join(lines[end:]), lines[:end], headings[: form.turns]
    offset = utc_offset(started, first.time)
    ends = [heading.cut for heading in headings[1:]] + [len(lines)]
    seen: Counter[str] = Counter()
    turns = []
    for ordinal, (heading, end) in enumerate(zip(headings, ends, strict=True), start=1):
        turn_text = trimmed(lines[heading.line + 1 : end])
        # Lone surrogates come from files that are not UTF-8; they are hashed rather than refused.
        digest = hashlib.sha256(turn_text.encode("utf-8", "surrogatepass")).hexdigest()
        short = f"t-{digest[:8]}"
        seen[short] += 1
        at = None
        if heading.time is not None and offset is not None:
            at = (heading.time - offset + heading.set_back).replace(tzinfo=dt.UTC)
        turns.append(
            Turn(
                ordinal=ordinal,
                speaker=heading.speaker,
                kind="person" if heading.is_person else "assistant",
                model=heading.model,
                stamp=heading.stamp,
                order=form.order,
                at=at,
                line=heading.line + 1,
                text=turn_text,
                digest=digest,
                anchor=f"t{ordinal}",
                hash_anchor=(short if seen[short] == 1 else f"{short}-{seen[short]}") if turn_text else None,
            )
        )
    preamble = trimmed(lines[: first.cut])
    kind: Literal["stamped", "plain"] = "stamped" if form.span else "plain"
    return TurnList(form=kind, preamble=preamble, turns=tuple(turns), span=form.span, rest=rest)


@lru_cache(maxsize=256)  # outline, picture, page and twin of a transcript ask for those of each turn
def blocks(text: str) -> tuple[TurnBlock, ...]:
    """Split a turn's text into speech, tool calls and asides, in order; only blank lines between them are dropped.

    A tool call is a quote whose first line is `> **🔧 Name** <sub>stamp</sub>` (the stamp may be missing). An
    aside is the text between `<tag-name>` at the start of a paragraph and `</tag-name>` at the end of a line,
    the name with a `-` or `_` in it. Both count only outside of fenced code; a tag never closed is speech.
    """
    lines = text.split("\n")
    asides = _asides(lines)
    marks: list[Mark] = []
    for number, line in enumerate(lines):
        starts_quote = line.startswith(">") and not (number and lines[number - 1].startswith(">"))
        if number in asides or (starts_quote and _TOOL.fullmatch(line)):
            marks.append((number, None))
        elif fence := fence_of(line):
            marks.append((number, fence))
    found: list[TurnBlock] = []
    position = 0
    for start in outside_fences(marks):
        if start < position:  # it is inside the aside before it
            continue
        found += _speech(lines, position, start)
        found.append(_aside(lines, start, asides[start] + 1) if start in asides else _tool(lines, start))
        position = found[-1].end
    found += _speech(lines, position, len(lines))
    return tuple(found)


def _headings(lines: Sequence[str]) -> list[_Heading]:
    """Return the headings that can start a turn, by how they are written, and are no examples."""
    candidates: dict[int, _Heading] = {}
    marks: list[Mark] = []
    cut: int | None = 0  # where a stamped turn would be cut off, were there one on this line; start of the body
    after_blank = True
    for number, line in enumerate(lines):
        if is_blank(line):
            after_blank = True
            continue
        if heading := _heading(line, number, cut if after_blank else None):
            candidates[number] = heading
            marks.append((number, None))
        elif fence := fence_of(line):
            marks.append((number, fence))
        cut = number if is_rule(line) else None
        after_blank = False
    return [candidates[number] for number in outside_fences(marks)]


def _readings(lines: Sequence[str], most: int) -> list[_Reading]:
    """Return the forms that the first heading can have, with the headings of that form that start a turn."""
    outside = _headings(lines)
    if not outside:
        return []
    if outside[0].stamp is None:
        plain = [heading for heading in outside if heading.stamp is None]
        return [_Reading(TurnForm(turns=min(len(plain), most)), plain)]
    stamped = [heading for heading in outside if heading.stamp is not None]
    readings: list[_Reading] = []
    for order in stamped[0].times:
        dated = [(heading, heading.times[order]) for heading in stamped if order in heading.times]
        backs = _chain([time for _, time in dated])
        chain = [replace(dated[at][0], time=dated[at][1], set_back=set_back) for at, set_back in backs]
        if any(chain == reading.headings for reading in readings):  # 5/5/2026 is one day
            continue
        own = {heading.line for heading in chain}
        passed = [heading.line + 1 for heading in stamped if heading.line not in own]
        form = TurnForm(
            order=order,
            span=(_time(chain[0]), _time(chain[-1])),
            turns=min(len(chain), most),
            is_american=order == "month" and bool(_AMERICAN.fullmatch((chain[0].stamp or "").translate(_PLAIN))),
            passed=len(passed),
            passed_line=passed[0] if passed else None,
        )
        readings.append(_Reading(form, chain))
    return readings


def _time(heading: _Heading) -> dt.datetime:
    """The local time of a stamped heading, by the clock of the first."""
    return (heading.time or dt.datetime.min) + heading.set_back


def _heading(line: str, number: int, cut: int | None) -> _Heading | None:
    """Return the turn heading that this line can be; `cut` is None where no stamped one can be."""
    match = _HEADING.fullmatch(line)
    if match is None:
        return None
    face, rest = match[1] or "", match[2].rstrip()
    stamp, times = None, {}
    if rest.endswith("</sub>"):
        rest, _, stamp = rest.removesuffix("</sub>").rpartition("<sub>")
        stamp = stamp.strip()
        times = _stamp(stamp).times
        if cut is None or not times:
            return None
    speaker, model = rest.strip(), None
    if speaker.endswith(")*") and "*(" in speaker:
        speaker, _, model = speaker.removesuffix(")*").rpartition("*(")
        speaker = speaker.rstrip()
    if not speaker or (stamp is None and speaker not in _PLAIN_SPEAKERS):
        return None
    return _Heading(
        line=number,
        cut=number if stamp is None or cut is None else cut,
        speaker=speaker,
        is_person=face.startswith("🧑") or (not face and speaker in {"User", "Human"}),
        model=model,
        stamp=stamp,
        times=times,
    )


def _chain(times: Sequence[dt.datetime]) -> list[tuple[int, dt.timedelta]]:
    """Return the most of these times, from the first on, that do not go back; of several such chains the earliest.

    So what is pasted starts no turn, be it earlier or later, unless it has more turns than what it is pasted into.
    Times may go back once, with the clocks: by an hour at most, and at night. By day, a stamp slightly earlier comes
    from a piece of the same conversation pasted into it. Each is an index, with how far the clocks were set back
    until then. Takes O(n log n).
    """
    none = dt.timedelta()
    if all(one <= other for one, other in pairwise(times)):
        return [(number, none) for number in range(len(times))]
    ranks = sorted(set(times))
    straight, bent = _Most(len(ranks)), _Most(len(ranks))  # chains in which the clocks may still go back, and not
    lengths = []  # of the longest chain of either kind that begins with each time, from the last one
    for time in reversed(times):
        rank = bisect_left(ranks, time)
        before, after = straight.most(rank) + 1, bent.most(rank) + 1
        if time.hour in _NIGHT:
            before = max(before, bent.most(bisect_left(ranks, _set_back(time))) + 1)
        straight.put(rank, before)
        bent.put(rank, after)
        lengths.append((before, after))
    chain: list[tuple[int, dt.timedelta]] = []
    set_back, last, missing = none, dt.datetime.min, lengths[-1][0]
    for number, (time, (before, after)) in enumerate(zip(times, reversed(lengths), strict=True)):
        goes_back = time < last
        if goes_back and (set_back or last.hour not in _NIGHT or time < _set_back(last)):
            continue
        if (after if goes_back or set_back else before) == missing:
            set_back, last, missing = _HOUR if goes_back else set_back, time, missing - 1
            chain.append((number, set_back))
    return chain


def _set_back(time: dt.datetime) -> dt.datetime:
    """The earliest that clocks show which go back at this time of the night."""
    back = time - _HOUR
    return back if back.hour in _NIGHT else back.replace(hour=23, minute=0, second=0)


def parse_formerly(text: str) -> TurnList:
    """Return the turns as they were told apart before `started` counted, for citations made then; without UTC times.

    Dates with `/` had the month first, and each stamp counted that was not earlier than the last one.
    """
    source, lines = _lines(text)
    headings = _headings(lines)
    if headings and headings[0].stamp is None:
        return parse_conversation(text, started=None)
    chain: list[_Heading] = []
    set_back, last = dt.timedelta(), dt.datetime.min
    for heading in headings:
        match = _FORMER_STAMP.fullmatch((heading.stamp or "").translate(_PLAIN))
        time = heading.times.get(cast(Order, match.lastgroup)) if match else None
        if time is None:
            continue
        if time < last:
            if set_back or last.hour not in _NIGHT or time.hour not in _NIGHT or time < last - _HOUR:
                continue
            set_back = _HOUR
        last = time
        chain.append(replace(heading, time=time, set_back=set_back))
    if not chain:
        return TurnList(form="verbatim", preamble=source, turns=())
    form = TurnForm(turns=min(len(chain), most_turns(len(source))), span=(_time(chain[0]), _time(chain[-1])))
    return _cut(lines, _Reading(form, chain), None)


class _Most:
    """The largest of the numbers put at some place or a later one (a Fenwick tree)."""

    def __init__(self, places: int) -> None:
        self._tree = [0] * (places + 1)

    def put(self, place: int, number: int) -> None:
        at = len(self._tree) - 1 - place
        while at < len(self._tree):
            self._tree[at] = max(self._tree[at], number)
            at += at & -at

    def most(self, place: int) -> int:
        at, found = len(self._tree) - 1 - place, 0
        while at > 0:
            found = max(found, self._tree[at])
            at -= at & -at
        return found


def outside_fences(marks: Sequence[Mark]) -> Iterator[int]:
    """Yield the lines of the marks that are not fences and not in fenced code.

    Fences are counted afresh from each mark that is given, and an open one may be an error: models forget to
    close them, or nest them, and one such turn must not swallow those after it. See `_is_example`.
    """
    fence: Fence | None = None
    for position, (line, border) in enumerate(marks):
        if border is not None:
            fence = fence_after(fence, border)
        elif fence is None or not _is_example(marks, position, fence):
            fence = None
            yield line


def _is_example(marks: Sequence[Mark], position: int, fence: Fence) -> bool:
    """Say whether the mark at `position`, where this fence is open, is part of an example in fenced code.

    There are two ways to read on from it: within the open fence, or with no fence open. At the next mark outside
    of fenced code in the first way (or at the end), it is an example if only that way has left no fence open.
    """
    kept: Fence | None = fence
    fresh: Fence | None = None
    headings = 1
    for number in range(position + 1, len(marks)):
        border = marks[number][1]
        if border is not None:
            kept, fresh = fence_after(kept, border), fence_after(fresh, border)
        elif kept is None or headings == _MOST_EXAMPLES:
            break
        else:
            headings += 1
    return kept is None and fresh is not None


def fence_after(fence: Fence | None, border: Fence) -> Fence | None:
    """Return the fence that is open after this line, where `fence` was open before it."""
    if fence is None:
        return border
    sign, length, is_bare = border
    return None if is_bare and sign == fence[0] and length >= fence[1] else fence


def fence_of(line: str) -> Fence | None:
    """The border of fenced code that this line is, None if it is none."""
    match = _FENCE.fullmatch(line)
    return (match[1][0], len(match[1]), is_blank(match[2])) if match else None


def _asides(lines: Sequence[str]) -> dict[int, int]:
    """Map the first line of each element that can be an aside to its last line."""
    found: dict[int, int] = {}
    closings: dict[str, int] = {}  # the nearest one below, as the lines are read from the last to the first
    for number in range(len(lines) - 1, -1, -1):
        if name := _closing_tag(lines[number]):
            closings[name] = number
        opening = _OPENING.match(lines[number])
        before = lines[number - 1] if number else ""
        starts_paragraph = is_blank(before) or before.startswith(">") or _closing_tag(before)
        if opening and opening[1] in closings and starts_paragraph:
            found[number] = closings[opening[1]]
    return found


def _closing_tag(line: str) -> str | None:
    """Return the name of the tag that is closed at the end of this line."""
    end = line.rstrip()
    match = _CLOSING.fullmatch(end, max(end.rfind("</"), 0))
    return match[1] if match else None


def _aside(lines: Sequence[str], start: int, end: int) -> TurnBlock:
    """Return the aside of these lines."""
    whole = "\n".join(lines[start:end])
    tag, _, inner = whole[: whole.rindex("</")].partition(">")
    return TurnBlock(kind="aside", name=tag.strip(" \t<"), stamp=None, text=inner, start=start, end=end)


def _tool(lines: Sequence[str], start: int) -> TurnBlock:
    """Return the tool call that starts here."""
    end = start + 1
    while end < len(lines) and lines[end].startswith(">"):
        end += 1
    heading = _TOOL.fullmatch(lines[start])
    name, stamp = heading.groups() if heading else ("", None)
    text = "\n".join(line[1:].removeprefix(" ") for line in lines[start + 1 : end])
    return TurnBlock(kind="tool", name=name.rstrip(), stamp=stamp, text=text, start=start, end=end)


def _speech(lines: Sequence[str], start: int, end: int) -> list[TurnBlock]:
    """Return the speech of these lines, less blank ones around it; none if all are blank."""
    while start < end and is_blank(lines[start]):
        start += 1
    end = start + _filled_end(lines[start:end], end - start)
    if start == end:
        return []
    text = "\n".join(lines[start:end])
    return [TurnBlock(kind="speech", name=None, stamp=None, text=text, start=start, end=end)]


def trimmed(lines: Sequence[str]) -> str:
    """Join lines less trailing blank ones, one final `---`, and the blank ones before that."""
    end = _filled_end(lines, len(lines))
    if end and is_rule(lines[end - 1]):
        end = _filled_end(lines, end - 1)
    return "\n".join(lines[:end])


def _filled_end(lines: Sequence[str], end: int) -> int:
    """Return where the lines before `end` end, less trailing blank ones."""
    while end and is_blank(lines[end - 1]):
        end -= 1
    return end


def is_blank(line: str) -> bool:
    """Whether a line has nothing but blanks."""
    return not line.strip(" \t\r")


def is_rule(line: str) -> bool:
    """Whether a line is `---`."""
    return line.rstrip(" \t\r") == "---"
